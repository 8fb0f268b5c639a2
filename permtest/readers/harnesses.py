"""Files of evaluation harnesses: what reads them all, and for each format how it says its items.

Nothing here trusts a file: what cannot be used is a `ReadError` that names the place and what to
do. What a format is known for to mislead stands beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from permtest._optional import optional
from permtest.decimals import DENOMINATORS
from permtest.readers.archives import REMEDY, is_log, parts_of
from permtest.readers.files import (
    BOM,
    DEEP,
    File,
    ReadError,
    StrPath,
    Twice,
    check_memory,
    kind_of,
    printable,
    reading,
    shown,
    text_of,
    twice,
)
from permtest.readers.systems import ORDER, Format, SystemScores, listed, told_apart

#: Bytes that a record needs in memory; characters of a text that both systems must have.
PER_RECORD, AGREED = 1000, 1000

_WANTED = {str: "text or a whole number", int: "a whole number", bool: "true or false"}
_WANTED |= {dict: "an object", list: "a list"}


# ---- records and items ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A JSON object, and where it is, such as "line 3"."""

    file: File
    place: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, file: File, place: str, value: Any) -> Row:
        """The object at a place, or ReadError if it is none."""
        if not isinstance(value, dict):
            problem = f"{shown(text_of(value))} instead of an object; {REMEDY}"
            raise ReadError.at(file.path, problem, column=place or None)
        return cls(file, place, value)

    def error(self, problem: str) -> ReadError:
        """The error of this place."""
        return ReadError.at(self.file.path, problem, column=self.place or None)

    def get(self, path: str, kind: type | None = None) -> Any:
        """The value at a path of keys, of "one|other" the first that is there; None if none is."""
        value: Any = None
        for keys in path.split("|"):
            value = self.values
            for key in keys.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            if value not in (None, "", {}):
                break
        if isinstance(value, Twice):
            raise self.error(twice(value.name))
        if value is None:
            return kind() if kind in (dict, list) else None
        if kind is str and type(value) in (str, int):
            return printable(str(value))
        if kind in (None, type(value)):
            return value
        said = f"{shown(keys)} is {shown(text_of(value))}, but must be {_WANTED[kind]}"
        raise self.error(f"{said}; {REMEDY}")

    def need(self, path: str) -> str:
        """An id or a name that must be there."""
        value = self.get(path, str)
        if value is None:
            raise self.error(f"{shown(path.rpartition('|')[2])} is missing; {REMEDY}")
        return str(value)

    def rows(self, path: str) -> Iterator[Row]:
        """The objects of a list."""
        where = f"{self.place}, {path}, " if self.place else ""
        for number, value in enumerate(self.get(path, list), 1):
            yield Row.of(self.file, f"{where}record {number}", value)


@dataclass
class Item:
    """What a record says of an item; values may be whatever JSON holds."""

    place: str
    ids: Mapping[str, str | None]  # the best first, which the others tell apart; none: the order
    scores: Iterable[tuple[str, Any]]
    system: str = ""  # default: called as the folder
    repeat: str = ""  # what tells repeats of an item apart, behind its id
    agree: Mapping[str, Any] = field(default_factory=dict)  # must be the same for both systems
    clusters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""  # what is asked, for people
    note: str = ""  # what the user should know


Rows: TypeAlias = "Iterable[Row]"
Items: TypeAlias = "Iterator[Item]"


def short(value: Any, width: int = 300) -> str:
    """A value as text on one line, without its middle if it is long; of messages the last."""
    last = value[-1] if isinstance(value, list) and value else value
    last = last.get("content", value) if isinstance(last, dict) else last
    text = printable(" ".join(text_of(last).split()))
    return text if len(text) <= width else f"{text[: width // 2]} ... {text[-width // 3 :]}"


def later(name: str, number: str | None) -> str:
    """What is added to an id for each repeat but the one that is numbered 1."""
    return "" if number in (None, "1") else f" ({name} {number})"


def named(file: File) -> str:
    """What a system is called after its folder, be it above one that is called by a date."""
    folders = [x for x in PurePath(file.path).parts[:-1] if x.strip("./\\")]
    folders = [x for x in folders if not re.match(r"\d{4}-\d\d-\d\dT|results$", x)]
    name = folders[-1] if folders else file.stem
    model = re.search(r"\bmodel=([^,]+)", name)
    return printable(model[1] if model else name)


# ---- what reads them all -------------------------------------------------------------------------

_KNOWN: WeakKeyDictionary[File, tuple[Any, bool]] = WeakKeyDictionary()  # all formats ask for it


@dataclass(frozen=True, kw_only=True)
class Harness(Format):
    """A format: how it begins, where its records are, and what they say of items."""

    items: Callable[[Row, Rows, File | None], Items]  # of what is beside records, them, and gold
    names_scores: bool = True
    #: What a file begins with: all paths of one of these, "*" being every value in a place.
    first: tuple[str, ...] = ()
    records: str = ""  # the list of records, where they are neither lines nor a list
    grouped: str = ""  # the grouping that is swapped together; by id, where items do not say it
    merge: bool = False  # whether records of an item may repeat its scores
    #: Whether a file is one of the format that is no JSON; what is in it beside records, and they.
    packed: Callable[[File], bool] = lambda _: False
    opened: Callable[[File], tuple[Any, Iterable[Any]]] = lambda _: ({}, ())

    def __post_init__(self) -> None:
        object.__setattr__(self, "recognises", partial(_recognises, self))
        object.__setattr__(self, "load", partial(_load, self))


def _start(file: File) -> tuple[Any, bool]:
    """The first record of lines or of a list, else the document; and whether there are lines."""
    if file not in _KNOWN:
        start, lines = None, not file.data[:4096].removeprefix(BOM).lstrip().startswith(b"[")
        if file.is_json and lines:
            with suppress(ReadError):
                start = next(file.records(), (0, None))[1]
        if file.is_json and start is None:
            with suppress(ReadError):
                start, lines = file.document, False
        _KNOWN[file] = start[0] if isinstance(start, list) and start else start, lines
    return _KNOWN[file]


def _recognises(form: Harness, file: File) -> bool:
    """Whether the file begins as the format does."""
    start = _start(file)[0]
    return form.packed(file) or any(
        all(_has(start, path.split(".")) for path in paths.split()) for paths in form.first
    )


def _has(value: Any, keys: Sequence[str]) -> bool:
    """Whether there is something behind some keys; "*" is the first of a list, or each value."""
    if not keys:
        return True
    if keys[0] != "*":
        return isinstance(value, dict) and keys[0] in value and _has(value[keys[0]], keys[1:])
    if isinstance(value, list):
        return not keys[1:] or any(_has(one, keys[1:]) for one in value[:1])
    found = isinstance(value, dict) and len(value) > 0
    return found and all(_has(one, keys[1:]) for one in value.values())


def _load(form: Harness, file: File, gold: File | None = None) -> list[SystemScores]:
    """The scores of each system in a file; some formats need the gold file beside it."""
    try:
        return systems_of(form, *_opened(form, file), gold)
    except RecursionError:
        raise ReadError.at(file.path, DEEP) from None


def _opened(form: Harness, file: File) -> tuple[Row, Rows]:
    """What stands beside the records of a file, and the records."""
    start, lines = _start(file)
    head: Any = {}
    if form.packed(file):
        head, values = form.opened(file)
    elif form.records and not _has(start, ["testIdx"]):  # of which promptfoo writes lines, too
        log = Row.of(file, "", start or file.document)
        return log, log.rows(form.records)
    elif lines:
        found = _bounded(file, file.records())
        return Row(file, "", {}), (Row.of(file, f"line {line}", one) for line, one in found)
    else:
        values = file.document if isinstance(file.document, list) else [file.document]
    rows = (Row.of(file, f"record {number}", one) for number, one in enumerate(values, 1))
    return Row.of(file, "", head), rows


def _bounded(file: File, records: Iterable[Any]) -> Iterator[Any]:
    """As many records as memory can hold."""
    for number, record in enumerate(records, 1):
        check_memory(file.path, PER_RECORD * number)
        yield record


def systems_of(form: Harness, log: Row, rows: Rows, gold: File | None = None) -> list[SystemScores]:
    """The scores of each system in some records; `log` is what stands beside them."""
    systems: dict[str, _System] = {}
    for item in _bounded(log.file, form.items(log, rows, gold)):
        name = item.system or named(log.file)
        systems.setdefault(name, _System(form, log.file)).keep(item)
    if not systems:
        raise log.error("holds no record with a score; check that scores were logged")
    return [one.finished(name) for name, one in systems.items()]


class _System:
    """What the records of a system say."""

    def __init__(self, form: Harness, file: File) -> None:
        self.form, self.file = form, file
        self.items: dict[Any, Item] = {}
        self.columns: dict[str, dict[Any, Any]] = {}
        self.bad: dict[str, str] = {}  # scores that are no numbers, with the first value
        self.notes: dict[str, None] = {}

    def keep(self, item: Item) -> None:
        """Keep what a record says of its item."""
        ids = list(item.ids.values())
        key = (*ids, item.repeat) if any(ids) else len(self.items)
        if ids and all(one is None for one in ids):
            problem = f"{shown(list(item.ids)[-1])} is missing; {REMEDY}"
            raise ReadError.at(self.file.path, problem, column=item.place)
        first = self.items.setdefault(key, item)
        if item.note:
            self.notes[item.note] = None
        for metric, value in item.scores:
            name, kind = printable(metric), kind_of(value)
            if kind == "text":
                self.bad.setdefault(name, f"{shown(text_of(value))}, {item.place}")
            column = self.columns.setdefault(name, {})
            cell = None if kind in ("text", "missing") else value
            if key in column and not (self.form.merge and column[key] == cell):
                problem = f"the score {shown(name)} of {first.place} again"
                remedy = "keep one record of each, those of one run"
                raise ReadError.at(self.file.path, f"{problem}; {remedy}", column=item.place)
            column[key] = cell
        item.scores = ()

    def finished(self, name: str) -> SystemScores:
        """All of a system, its scores as columns."""
        items, group = list(self.items.values()), self.form.grouped
        ids, bases, paired_by = self._ids(items)
        clusters = _shared([item.clusters for item in items])
        clusters |= {group: bases} if group and group not in clusters else {}
        scores, left_out = self._scores()
        return SystemScores(
            system=name,
            file=self.file,
            scores=scores,
            paired_by=paired_by,
            ids=ids,
            clusters=clusters,
            swapped=group if group and len(set(clusters[group])) < len(items) else None,
            agree=_shared([item.agree for item in items]),
            texts=[item.text for item in items] if any(item.text for item in items) else None,
            notes=(*left_out, *self.notes),
            places=[item.place for item in items],
        )

    def _ids(self, items: Sequence[Item]) -> tuple[list[str] | None, list[str], str]:
        """What items are called, with their repeats and without, and what that is."""
        if not any(any(item.ids.values()) for item in items):
            return None, [""] * len(items), ORDER
        known = [tuple(item.ids.values()) for item in items]
        distinct = list(dict.fromkeys(known))
        columns: list[Any] = list(zip(*distinct, strict=True))
        for i, name in enumerate(items[0].ids):
            if None not in columns[i]:
                called = told_apart(columns[i], *columns[i + 1 :])
                bases = list(map(dict(zip(distinct, called, strict=True)).__getitem__, known))
                ids = [base + item.repeat for base, item in zip(bases, items, strict=True)]
                return ids, bases, name
        lacking = next(item for item in items if None in item.ids.values())
        problem = f"not every record has {' or '.join(items[0].ids)}; add one of them"
        raise ReadError.at(self.file.path, problem, column=lacking.place)

    def _scores(self) -> tuple[dict[str, list[Any]], list[str]]:
        """The cells of each score that is a number, and a note of the others."""
        for name, column in self.columns.items():
            if all(cell is None for cell in column.values()):
                self.bad.setdefault(name, "no item has it")
        said = listed([f"{name} ({why})" for name, why in self.bad.items()], 5)
        names = [name for name in self.columns if name not in self.bad]
        if not names:
            problem = f"holds no score that is one number for each item ({said or 'there is none'})"
            remedy = "a paired test needs such a score of both systems"
            raise ReadError.at(self.file.path, f"{problem}; {remedy}")
        check_memory(self.file.path, 8 * len(names) * len(self.items))
        scores = {name: [self.columns[name].get(key) for key in self.items] for name in names}
        return scores, [f"left out, being no number for each item: {said}"] if said else []


def _shared(parts: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """As columns of text what all items say."""
    columns = {name: [part.get(name) for part in parts] for name in parts[0]}
    return {
        name: [printable(text_of(value))[:AGREED] for value in column]
        for name, column in columns.items()
        if not any(value is None for value in column)
    }


# ---- lm-evaluation-harness -----------------------------------------------------------------------
# A task with two filters has every document twice; corpus metrics (f1, bleu) are lists; `doc_id`
# counts within a task, `doc_hash` is of the document; NumPy's numbers come as text ("True"). Early
# versions say neither `filter` nor `metrics`, and write a list.

_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_hash", "scores_per_repeat"),
}
_QUESTION = "doc.question|doc.query|doc.problem|doc.context|doc.ctx|doc.input|doc.text|doc"


def _documents(_: Row, rows: Rows, __: File | None) -> Items:
    for row in rows:
        names = [name for name in row.values if name not in _NO_METRICS]
        if "metrics" in row.values:
            names = [text_of(name) for name in row.get("metrics", list)]
        end = f",{row.need('filter')}" if "filter" in row.values else ""
        yield Item(
            row.place,
            {name: row.get(name, str) for name in ("doc_hash", "doc_id")},
            [(name + end, row.values.get(name)) for name in names],
            agree={name: row.get(name) for name in ("target_hash", "target")},
            text=short(row.get(_QUESTION)),
        )


LM_EVAL = Harness(
    name="lm_eval",
    title="lm-evaluation-harness samples",
    rows="a document's value for each metric and filter",
    pairs_on="doc_hash (else doc_id), for each filter",
    example="permtest compare A/samples_gsm8k_*.jsonl B/samples_gsm8k_*.jsonl "
    "--score exact_match,strict-match",
    first=("doc_id doc", "doc_id doc_hash", "doc_id resps", "doc_id filtered_resps"),
    items=_documents,
)

# ---- Inspect -------------------------------------------------------------------------------------
# `.json` is sorted by id as a string, `.eval` is not; 1 and "1" are the same id. NaN is not scored.
# A scorer may give several values. `.eval` is an archive, whose summaries only cut texts.

_VALUES: dict[Any, Any] = {"C": 1, "I": 0, "P": Fraction(1, 2), "N": 0}
_VALUES |= dict.fromkeys(("yes", "Yes", "YES"), 1) | dict.fromkeys(("no", "No", "NO"), 0)


def _samples(log: Row, rows: Rows, _: File | None) -> Items:
    status = log.get("status", str) or "started"
    note = f"{log.file.name} is of a run that did not finish ({status}): samples may be missing"
    for row in rows:
        scores = []
        for scorer, score in row.get("scores", dict).items():
            value = score.get("value") if isinstance(score, dict) else score
            for key, part in (value if isinstance(value, dict) else {"": value}).items():
                name = f"{scorer}.{key}" if key else scorer
                scores.append((name, _VALUES.get(part, part) if isinstance(part, str) else part))
        yield Item(
            row.place,
            {"id": row.get("id", str)},
            scores,
            system=log.get("eval.model", str) or "",
            repeat=later("epoch", row.get("epoch", str)),
            agree={"target": row.get("target")},
            text=short(row.get("input")),
            note="" if status == "success" else note,
        )


INSPECT = Harness(
    name="inspect_ai",
    title="Inspect log",
    rows="a sample's value for each scorer, in each epoch",
    pairs_on="id and epoch",
    example="permtest compare logs/a.eval logs/b.eval --score match",
    extra="inspect",
    first=tuple(f"version eval.{key}" for key in ("task", "run_id", "eval_id", "model")),
    packed=is_log,
    opened=parts_of,
    records="samples",
    grouped="sample",
    items=_samples,
)

# ---- HELM ----------------------------------------------------------------------------------------
# Every metric adds entries of its own: an instance occurs again with other stats. A mean is sum /
# count, as a fraction where both are whole; a stat with the count 0 has no value. The model is in
# the name of the run's folder, such as `mmlu:subject=law,model=x_y`.


def _entries(_: Row, rows: Rows, __: File | None) -> Items:
    for row in rows:
        scores = []
        for stat in row.rows("stats"):
            splits = (stat.get(f"name.{key}", str) for key in ("split", "sub_split"))
            scores.append((",".join([stat.need("name.name"), *filter(None, splits)]), _mean(stat)))
        said, trial = row.get("perturbation", dict), row.get("train_trial_index", str)
        repeat = f", {text_of(said)}" if said else ""
        repeat += "" if trial in (None, "0") else f" (trial {trial})"  # the second is 1
        yield Item(row.place, {"instance_id": row.get("instance_id", str)}, scores, repeat=repeat)


def _mean(stat: Row) -> Any:
    """The mean of a stat, exact where that is possible."""
    count, total = stat.get("count", int), stat.get("sum|mean")
    if count == 0 or count in (None, 1):
        return None if count == 0 else total
    whole = isinstance(total, int | Decimal) and total == int(total)
    return Fraction(int(total), count) if whole and 0 < count <= DENOMINATORS else stat.get("mean")


HELM = Harness(
    name="helm",
    title="HELM per-instance statistics",
    rows="an instance's value for each statistic, under each perturbation and in each trial",
    pairs_on="instance_id, perturbation and train_trial_index",
    example="permtest compare runs/A/per_instance_stats.json runs/B/per_instance_stats.json "
    "--score exact_match,test",
    first=("instance_id stats",),
    grouped="instance",
    merge=True,
    items=_entries,
)

# ---- promptfoo -----------------------------------------------------------------------------------
# All systems are in one file; `promptIdx` numbers combinations of a provider and a prompt. With
# `--repeat` a test has several `testIdx`: those of the same variables are swapped together. A call
# that failed (`failureReason` 2) counts as wrong, and has no named scores.


def _tests(_: Row, rows: Rows, __: File | None) -> Items:
    tests: dict[str, str] = {}  # variables as the first system had them: others may add to them
    systems: dict[str, tuple[str, str]] = {}
    kept: list[Item] = []
    for row in rows:
        test, system = row.need("testIdx"), row.need("promptIdx")
        said = sorted(row.get("testCase.vars|vars", dict).items())
        text = text_of({key: value for key, value in said if not key.startswith("_")} or test)
        if len(text) > AGREED:  # so that a test that begins like another is told from it
            text = f"{text[:100]}... {sha256(text.encode(errors='replace')).hexdigest()}"
        text = tests.setdefault(test, text)
        prompt = short(row.get("prompt.label|prompt.raw|prompt") or "no prompt", 80)
        systems.setdefault(system, (row.need("provider.label|provider.id|provider"), prompt))
        failed = row.get("failureReason") == 2
        scores = {key: row.get(key) for key in ("score", "success")}
        scores = {key: 0 if failed and x is None else x for key, x in scores.items()}
        for key, value in row.get("namedScores", dict).items():
            scores[f"namedScores.{key}" if key in scores else key] = value
        same = {"variables": text}
        note = "calls that failed count as wrong, as in promptfoo" if failed else ""
        ids = {"testIdx": test}
        found = scores.items()
        kept.append(Item(row.place, ids, found, system, "", same, same, short(text), note))
    names = told_apart(*zip(*systems.values(), strict=True), list(systems)) if systems else []
    called = dict(zip(systems, names, strict=True))
    for item in kept:
        item.system = called[item.system]
        yield item


PROMPTFOO = Harness(
    name="promptfoo",
    title="promptfoo results",
    rows="a test's score, success and named scores for each provider and prompt",
    pairs_on="testIdx",
    example="permtest compare results.json --a openai:gpt-5 --b anthropic:claude --score success",
    first=("testIdx promptIdx", "results.results.*", "results.*.testIdx results.*.promptIdx"),
    records="results.results|results",
    grouped="variables",
    items=_tests,
)

# ---- Every Eval Ever -----------------------------------------------------------------------------
# A sample that was scored in several ways has a line for each; evaluations that have samples of
# their own are a grouping. Some converters count `sample_id` anew in each evaluation.


def _instances(_: Row, rows: Rows, __: File | None) -> Items:
    kept: list[Item] = []
    of: list[list[str]] = []  # the evaluation of each
    for row in rows:
        item = Item(
            row.place,
            {name: row.get(name, str) for name in ("sample_hash", "sample_id")},
            [(name, row.get(f"evaluation.{name}")) for name in ("score", "is_correct")],
            system=row.need("model_id"),
            repeat=later("epoch", row.get("metadata.epoch", str)),
            agree={"reference": row.get("input.reference")},
            text=short(row.get("input.raw")),
        )
        kept.append(item)
        of.append([row.get(x, str) or "" for x in ("evaluation_name", "evaluation_result_id")])
    samples = [(item.system, *item.ids.values(), item.repeat) for item in kept]
    for depth in range(3):  # how much of the evaluation is needed to tell lines apart
        if len({(*x, *y[:depth]) for x, y in zip(samples, of, strict=True)}) == len(kept):
            break
    else:
        depth = 1
    several = len({name for name, _ in of}) > 1
    for item, names in zip(kept, of, strict=True):
        if depth:
            item.scores = [(f"{key},{names[depth - 1]}", x) for key, x in item.scores]
        elif several:
            item.clusters = {"evaluation": names[0]}
        yield item


EVERY_EVAL_EVER = Harness(
    name="every_eval_ever",
    title="Every Eval Ever instances",
    rows="a sample's score, and whether it is correct, in each evaluation",
    pairs_on="sample_hash (else sample_id)",
    example="permtest compare a_samples.jsonl b_samples.jsonl --score is_correct",
    first=tuple(
        f"model_id sample_id {key}" for key in ("evaluation", "evaluation_name", "evaluation_id")
    ),
    grouped="sample",
    items=_instances,
)

# ---- SWE-bench -----------------------------------------------------------------------------------
# What is absent failed. The leaderboard's `results.json` lists what was resolved, and not all that
# was tried: it needs the full list of ids, one a line, a list, or objects with `instance_id`. The
# harness's report names all; `submitted_ids` had predictions, asked for or not. Of
# `per_instance_details.json` each key is an id.

_RESOLVED, _ASKED = ("resolved_ids", "resolved"), ("completed_ids", "generated")
_FAILED = (
    *("unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids"),
    *("no_generation", "no_logs", "no_apply", "install_fail", "reset_failed"),
    *("test_errored", "test_timeout"),
)
_MADE_UP = "the ids that the files name"
_INCOMPLETE = (
    "there is no list of all ids (--gold): items are those that the files name, so that N, shares, "
    "intervals and other tests are of these; the exact p is what it would be with all"
)


def _report(report: Row) -> tuple[set[str], list[str], bool]:
    """What was resolved, all ids that are named, and whether these are all that was tried."""
    known = [name for name in (*_ASKED, *_FAILED, *_RESOLVED) if name in report.values]
    if any(name in known for name in _RESOLVED):
        lists = {name: _ids(report.get(name, list), report) for name in known}
    else:
        each = {name: Row.of(report.file, shown(name), x) for name, x in report.values.items()}
        right = [name for name, one in each.items() if one.get("resolved", bool)]
        lists = {"generated": _ids(each, report), "resolved": _ids(right, report)}
    resolved = {name for key in _RESOLVED for name in lists.get(key, ())}
    for key in _FAILED:
        if both := resolved.intersection(lists.get(key, ())):
            raise report.error(f"{shown(min(both))} is resolved and in {key}; {REMEDY}")
    every = dict.fromkeys(name for ids in lists.values() for name in ids)
    return resolved, list(every), any(name in lists for name in _ASKED)


def _ids(values: Iterable[Any], where: Row) -> list[str]:
    """Ids, each once."""
    found = list(values)
    if wrong := [x for x in found if not isinstance(x, str) or not x]:
        raise where.error(f"{shown(text_of(wrong[0]))} is no id of an issue; {REMEDY}")
    return list(dict.fromkeys(map(printable, found)))


def ids_of(files: Sequence[File]) -> File | None:
    """All ids that reports of SWE-bench name, as `gold`; None where each says all that was tried.

    What no report names, no system resolved, and the exact test of the sum is the same without it.
    """
    reports = [_report(Row.of(file, "the report", file.document)) for file in files]
    if all(complete for _, _, complete in reports):
        return None
    names = dict.fromkeys(name for _, every, _ in reports for name in every)
    return File(_MADE_UP, "\n".join(names).encode())


def _issues(log: Row, rows: Rows, gold: File | None) -> Items:
    file = log.file
    system = "" if file.stem in ("results", "per_instance_details") else printable(file.stem)
    for row in rows:
        resolved, ids, complete = _report(row)
        note = ""
        if gold is not None:
            found = gold.document if gold.is_json else list(map(str.strip, gold.lines))
            found = found if isinstance(found, list) else [found]
            names = [x.get("instance_id") if isinstance(x, dict) else x for x in found]
            names = [x for x in names if x not in ("", "instance_id")]
            known = dict.fromkeys(_ids(names, Row(gold, "", {})))
            others = [name for name in ids if name not in known]
            if wrong := resolved.intersection(others):
                problem = f"resolved {shown(min(wrong))}, which is not in {gold.path}"
                raise log.error(f"{problem}; give the list of the same data set")
            ids, note = list(known), _INCOMPLETE if gold.path == _MADE_UP else ""
            if others:
                note = f"{len(others)} ids of {file.name} are not in the list, and left out"
        elif not complete:
            problem = "lists what was resolved, and not all that was tried; give the full list of"
            raise log.error(f"{problem} ids as gold (--gold), one a line")
        for name in ids:
            right = [("resolved", int(name in resolved))]
            yield Item(shown(name), {"instance_id": name}, right, system, note=note)


SWE_BENCH = Harness(
    name="swe_bench",
    title="SWE-bench report",
    rows="whether an issue was resolved",
    pairs_on="instance_id",
    example="permtest compare A/results/results.json B/results/results.json --gold ids.txt",
    gold="optional",
    items_of=ids_of,
    first=("resolved_ids.*", "resolved.*", "completed_ids.*", "*.resolved"),
    items=_issues,
)

# ---- lighteval -----------------------------------------------------------------------------------
# `details_{task}_{date}.parquet` in details/{organisation}/{model}/{date}. Before `doc.id` items
# have an order only, and their text.


def _has_details(file: File) -> bool:
    """Whether the end of a parquet file names the columns of lighteval."""
    end = file.data[-(2**16) :] if file.data.startswith(b"PAR1") else b""
    return b"metric" in end and (b"model_response" in end or b"full_prompt" in end)


def _details(file: File) -> tuple[Any, Iterable[Any]]:
    """The rows of a parquet file, without the columns that the models filled."""
    arrow = optional("pyarrow.parquet", needed_by=f"{file.path}, a parquet file,", extra="frames")

    def rows() -> Iterator[Any]:
        with reading(file.path, "is a damaged parquet file"):
            table = arrow.ParquetFile(BytesIO(file.data))
            known = table.schema_arrow.names
            names = [x for x in ("doc", "metric", "metrics", "example") if x in known]
            groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
            check_memory(file.path, 4 * sum(group.total_byte_size for group in groups))
            for batch in table.iter_batches(64, columns=names):
                check_memory(file.path, 16 * batch.nbytes)
                batch.validate(full=True)  # what is invalid may end the process
                yield from batch.to_pylist()

    return {}, rows()


def _judged(_: Row, rows: Rows, __: File | None) -> Items:
    for row in rows:
        ids, query = {"id": row.get("doc.id", str) or ""}, row.get("doc.query|example")
        scores = row.get("metric|metrics", dict).items()
        yield Item(row.place, ids, scores, agree={"query": query}, text=short(query))


LIGHTEVAL = Harness(
    name="lighteval",
    title="lighteval details",
    rows="a document's value for each metric",
    pairs_on="doc.id (else the order)",
    example="permtest compare A/details_x.parquet B/details_x.parquet --score em",
    extra="frames",
    packed=_has_details,
    opened=_details,
    items=_judged,
)

# ---- OpenAI evals --------------------------------------------------------------------------------
# The first line is the run, the last its report; an event is of a sample and of a type.


def _events(_: Row, rows: Rows, __: File | None) -> Items:
    model = ""
    for row in rows:
        model = next(iter(row.get("spec.completion_fns", list)), model)
        kind, data = row.get("type"), row.get("data", dict)
        if kind in ("match", "metrics"):
            scores = [x for x in data.items() if x[0] == "correct" or kind == "metrics"]
            agree = {"expected": data.get("expected")}
            ids = {"sample_id": row.get("sample_id", str)}
            yield Item(row.place, ids, scores, printable(text_of(model)), agree=agree)


OPENAI_EVALS = Harness(
    name="openai_evals",
    title="OpenAI evals log",
    rows="whether a sample's answer matched, and other metrics of it",
    pairs_on="sample_id",
    example="permtest compare gpt-a.jsonl gpt-b.jsonl --score correct",
    first=("spec.completion_fns", "run_id event_id sample_id type"),
    items=_events,
)

# ---- deepeval ------------------------------------------------------------------------------------
# Cases of one pytest function have the same name, and an order. Conversations stand by themselves.


def _cases(log: Row, rows: Rows, _: File | None) -> Items:
    path = "testRunData.conversationalTestCases|conversationalTestCases"
    for row in (*rows, *log.rows(path)):
        metrics = row.rows("metricsData")
        scores = [(metric.need("name|metric"), metric.get("score")) for metric in metrics]
        asked, wanted = "input|scenario", "expectedOutput|expectedOutcome"
        yield Item(
            row.place,
            {name: row.get(name, str) for name in ("name", "order")},
            [*scores, ("success", row.get("success"))],
            agree={"input": row.get(asked), "expected": row.get(wanted)},
            text=short(row.get(asked)),
        )


DEEPEVAL = Harness(
    name="deepeval",
    title="deepeval test run",
    rows="the score of a test case, or of a conversation, for each metric, and its success",
    pairs_on="name and order",
    example="permtest compare old/.latest_test_run.json new/.latest_test_run.json --score success",
    first=tuple(
        f"{place}{cases}.*.metricsData"
        for place in ("testRunData.", "")
        for cases in ("testCases", "conversationalTestCases")
    ),
    records="testRunData.testCases|testCases",
    items=_cases,
)

# ---- sacreBLEU, COMET ----------------------------------------------------------------------------
# sacreBLEU prints objects one below the other; COMET has a list of segments for each system.


def _segments(log: Row, rows: Rows, _: File | None) -> Items:
    found = [(row.place, row.need("name"), row.get("score")) for row in rows]
    names = sorted({name for _, name, _ in found})
    if len(names) > 1 or len(found) == 1:
        problem = f"holds {len(found)} scores of {listed(names)}, but a paired test needs those of"
        raise log.error(f"{problem} segments; run sacrebleu with --sentence-level for one metric")
    for place, name, score in found:
        yield Item(place, {}, [(name, score)], printable(log.file.stem))


SACREBLEU = Harness(
    name="sacrebleu",
    title="sacreBLEU segments",
    rows="a segment's score, as --sentence-level --format json prints it",
    pairs_on="order",
    example="permtest compare a.json b.json",
    first=("name score signature",),
    items=_segments,
)


def _translations(_: Row, rows: Rows, __: File | None) -> Items:
    for row in rows:
        for name, found in row.values.items():
            for one in Row(row.file, shown(name), {"segments": found}).rows("segments"):
                agree = {key: one.get(key) for key in ("src", "ref")}
                scores = [("COMET", one.get("COMET"))]
                text = short(agree["src"])
                yield Item(one.place, {}, scores, printable(name), agree=agree, text=text)


COMET = Harness(
    name="comet",
    title="COMET scores",
    rows="a segment's score for each system, as comet-score --to_json writes it",
    pairs_on="order",
    example="permtest compare comet.json --a new.txt --b old.txt",
    first=("*.*.COMET", "*.*.src *.*.mt"),
    items=_translations,
)

# ---- judgements ----------------------------------------------------------------------------------
# A battle is two scores of its question: 1 for the winner, 1/2 each for a tie. MT-bench has both
# orders of the answers judged: who does not win both has no more than a tie, as FastChat counts.
# Turns and repeated battles are swapped with their question; a grade of -1 is none.

_WINS: dict[str, Any] = {"model_1": 1, "model_a": 1, "model_2": 0, "model_b": 0}
_WINS |= dict.fromkeys(("tie", "tie (bothbad)", "bothbad", "both_bad"), Fraction(1, 2))


def _battles(_: Row, rows: Rows, __: File | None) -> Items:
    seen: Counter[tuple[str, ...]] = Counter()
    kept: list[tuple[str, Item]] = []
    for number, row in enumerate(rows, 1):
        models = [row.need(path) for path in ("model_1|model_a", "model_2|model_b")]
        if models[0] == models[1]:
            raise row.error(f"{shown(models[0])} against itself; remove this battle")
        games = [key for key in ("g1_winner", "g2_winner") if key in row.values] or ["winner"]
        words = [row.get(key, str) for key in games]
        if unknown := [word for word in words if word not in (None, "error", *_WINS)]:
            known = ", ".join(_WINS)
            raise row.error(f"the winner is {shown(unknown[0])}, but must be one of {known}")
        wins: list[Any] = [_WINS.get(word or "") for word in words]
        won = Fraction(1, 2) if len(set(wins)) > 1 else wins[0]
        scores = [None, None] if None in wins else [won, 1 - won]
        question = row.get("question_id|id", str) or f"battle {number}"
        pair, turn = " and ".join(sorted(models)), later("turn", row.get("turn", str))
        seen[question, pair, turn] += 1
        repeat = turn + later("judgement", str(seen[question, pair, turn]))
        for model, score in zip(models, scores, strict=True):
            item = Item(row.place, {"question_id": question}, [("win", score)], model, repeat)
            kept.append((pair, item))
    several = len({pair for pair, _ in kept}) > 1
    for pair, item in kept:
        if several:  # so that two models share the questions of their own battles alone
            item.ids = {name: f"{question}, {pair}" for name, question in item.ids.items()}
        yield item


BATTLES = Harness(
    name="battles",
    title="pairwise judgements (MT-bench, arena)",
    rows="who of two models won on a question: 1, or 1/2 each for a tie",
    pairs_on="question_id, turn and repeat",
    example="permtest compare gpt-4_pair.jsonl --a vicuna-13b --b alpaca-13b",
    first=("model_1 model_2 g1_winner", "model_a model_b winner"),
    grouped="question",
    items=_battles,
)


def _grades(_: Row, rows: Rows, __: File | None) -> Items:
    for row in rows:
        ids, score = {"question_id": row.get("question_id", str)}, row.get("score")
        turn = later("turn", row.get("turn", str))
        scores = [("score", None if score == -1 else score)]
        yield Item(row.place, ids, scores, row.need("model"), turn)


MT_BENCH = Harness(
    name="mt_bench",
    title="MT-bench grades",
    rows="the grade of a model's answer to a question, in each turn",
    pairs_on="question_id and turn",
    example="permtest compare gpt-4_single.jsonl --a vicuna-13b --b alpaca-13b",
    first=("question_id model judge score",),
    grouped="question",
    items=_grades,
)

FORMATS: tuple[Format, ...] = (
    *(LM_EVAL, INSPECT, EVERY_EVAL_EVER, HELM, PROMPTFOO, LIGHTEVAL, OPENAI_EVALS, DEEPEVAL),
    *(SACREBLEU, COMET, BATTLES, MT_BENCH, SWE_BENCH),
)

# ---- folders -------------------------------------------------------------------------------------

#: What harnesses call their files, in the order in which they are looked for.
PATTERNS = (
    *("samples_*.jsonl", "details_*.parquet", "per_instance_stats.json", "*.eval", "results.json"),
)

#: What a name has beside its task: the kind of file, the date, an id, the model.
_BESIDE_TASK = re.compile(
    r"^(samples|details)_|_?\d{4}-\d\d-\d\dT[\d.:+-]+_?|_[A-Za-z0-9]{22}$|[:,]model=[^,]*"
)


def task_of(path: Path) -> str:
    """The task that a file is of, by its name; by its folder's where all files are called alike."""
    return _BESIDE_TASK.sub("", path.parent.name if path.name in PATTERNS else path.stem)


def files_of(folder: StrPath) -> list[Path]:
    """What a harness wrote into a folder: a file for each task of one system, by name."""
    for pattern in PATTERNS:
        found = sorted(Path(folder).glob(pattern)) or sorted(Path(folder).glob(f"*/{pattern}"))
        for task, number in Counter(map(task_of, found)).items():
            if number > 1:
                names = listed([path.name for path in found if task_of(path) == task], 10)
                problem = f"{number} runs of the task {shown(task)} ({names})"
                raise ReadError.at(str(folder), f"{problem}; name one of the files")
        if found:
            return found
    problem = f"this is a folder without what an evaluation wrote ({', '.join(PATTERNS)})"
    raise ReadError.at(str(folder), f"{problem}; name one file in it")


def joined(tasks: Mapping[str, SystemScores], folder: StrPath) -> SystemScores:
    """The items of several tasks as those of one evaluation, with the grouping "task".

    A score that a task has not is None there; groupings and what must agree are those of all.
    """
    parts = list(tasks.values())
    check_memory(str(folder), PER_RECORD * sum(map(len, parts)))

    def of_all(columns: Iterable[Iterable[Any]]) -> list[str]:
        """What all tasks have, each behind the name of its task."""
        return [f"{task}: {x}" for task, some in zip(tasks, columns, strict=True) for x in some]

    def shared(kind: str) -> list[str]:
        return [x for x in getattr(parts[0], kind) if all(x in getattr(one, kind) for one in parts)]

    groups = {"task": [task for task, one in tasks.items() for _ in range(len(one))]}
    for name in shared("clusters"):
        groups[name] = of_all(one.clusters[name] for one in parts)
    digests = "".join(f"{one.file.sha256}  {one.file.name}\n" for one in parts)
    return SystemScores(
        system=parts[0].system,
        file=File(str(folder), digests.encode()),
        scores={
            name: [x for one in parts for x in one.scores.get(name, [None] * len(one))]
            for name in dict.fromkeys(name for one in parts for name in one.scores)
        },
        paired_by=f"task and {parts[0].paired_by}",
        ids=of_all(one.ids or range(1, len(one) + 1) for one in parts),
        clusters=groups,
        swapped=next((one.swapped for one in parts if one.swapped in groups), None),
        agree={name: [x for one in parts for x in one.agree[name]] for name in shared("agree")},
        texts=[text for one in parts for text in one.texts or [""] * len(one)],
        notes=tuple(of_all(one.notes for one in parts)),
        places=[f"{one.file.name}, {one.place(i)}" for one in parts for i in range(len(one))],
    )
