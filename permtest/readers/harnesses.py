"""The formats of evaluation harnesses, each with what it is known for to mislead; and folders.

Nothing here trusts a file: what cannot be used is a `ReadError` that names place and remedy.
"""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from permtest._checks import optional
from permtest.integers import DENOMINATORS
from permtest.readers.files import (
    DEEP,
    File,
    ReadError,
    StrPath,
    as_score,
    check_json,
    check_memory,
    kind_of,
    listed,
    parsed_json,
    printable,
    reading,
    shown,
    text_of,
)
from permtest.readers.systems import ORDER, PER_RECORD, Format, SystemScores, told_apart
from permtest.readers.tables import Table

#: Characters of a text that both systems must have.
AGREED = 1000

REMEDY = "leave files as the tool writes them"
WANTED = {
    str: "text or a whole number",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


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
            raise ReadError.at(file.path, problem, place)
        return cls(file, place, value)

    def error(self, problem: str) -> ReadError:
        """The error of this place."""
        return ReadError.at(self.file.path, problem, self.place)

    def get(self, path: str, kind: type | None = None) -> Any:
        """The value at a path of keys, of "one|other" the first that is there; None if none is."""
        value: Any = None
        for keys in path.split("|"):
            value = self.values
            for key in keys.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            if value not in (None, "", {}):
                break
        if value is None:
            return kind() if kind in (dict, list) else None
        if kind is str and type(value) in (str, int):
            return printable(str(value))
        if kind in (None, type(value)):
            return value
        said = f"{shown(keys)} is {shown(text_of(value))}, but must be {WANTED[kind]}"
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


Rows: TypeAlias = "Iterable[Row]"


@dataclass
class Item:
    """What a record says about an item; values may be any JSON."""

    place: str
    ids: Mapping[str, str | None]  # the best first, which the others tell apart; none: the order
    scores: Iterable[tuple[str, Any]]
    system: str | tuple[str, ...] = ""  # the others tell the first apart; default: the folder
    repeat: str = ""  # what tells repeats of an item apart, behind its id
    agree: Mapping[str, Any] = field(default_factory=dict)  # must be the same for both systems
    group: str = ""  # what it is swapped with; default: what has its id
    text: str = ""  # what is asked, for people
    note: str = ""  # what the user should know
    #: What is known of the item by all of its records.
    values: dict[str, Any] = field(default_factory=dict, init=False)
    notes: dict[str, None] = field(default_factory=dict, init=False)


@dataclass(frozen=True, kw_only=True)
class Harness(Format):
    """A format: how it begins, where its records are, and where they say what of an item.

    Places are paths of keys, as those of `Row.get`; several have blanks between them.
    """

    #: What a file begins with: all of these, or all behind a "|"; "*" is every value in a place.
    first: str = ""
    records: str = ""  # the lists of records, where they are neither lines nor a list
    ids: str = ""  # the best first, which the others tell apart
    no_id: str | None = None  # "": items without any are known by their order
    scores: Callable[[Row], Iterable[tuple[str, Any]]] = lambda _: ()
    system: str = ""  # in the record, or in what stands beside all of them
    repeat: Callable[[Row], str] = lambda _: ""
    agree: str = ""
    text: str = ""
    note: Callable[[Row], str] = lambda _: ""  # of what stands beside all records
    grouped: str = ""  # the grouping that is swapped together; by id, where items do not say it
    runs: bool = False  # whether the records of a group are runs of one item, alike but for luck
    merge: bool = False  # whether records of an item may repeat its scores
    #: The items, where that does not say it: of what stands beside records, of them, and of gold.
    items: Callable[[Row, Rows, File | None], Iterator[Item]] | None = None
    #: What stands beside records, and they, of a file that is no JSON; None of others.
    unpack: Callable[[File], Callable[[], tuple[Any, Iterable[Any]]] | None] = lambda _: None

    def recognises(self, file: File) -> bool:
        """Whether the file begins as the format does."""
        ways = [paths.split() for paths in self.first.split("|") if paths]
        begins = (all(_has(file.start[0], path.split(".")) for path in paths) for paths in ways)
        return any(begins) or self.unpack(file) is not None

    def load(self, file: File, gold: File | None = None) -> list[SystemScores]:
        """The scores of each system in a file; some formats need the gold file beside it."""
        (start, lines), unpacked, log = file.start, self.unpack(file), Row(file, "", {})
        numbered: Iterable[tuple[int, Any]] = ()
        name = "record {}".format
        try:
            if unpacked is not None:
                head, values = unpacked()
                log, numbered = Row.of(file, "", head), enumerate(values, 1)
            elif self.records and not _has(start, ["testIdx"]):  # promptfoo writes lines, too
                log = Row.of(file, "", start or file.document)
                return self.systems_of(log, chain(*map(log.rows, self.records.split())), gold)
            elif lines:
                name, numbered = "line {}".format, _bounded(file, file.records())
            else:
                whole = file.document if isinstance(file.document, list) else [file.document]
                numbered = enumerate(whole, 1)
            return self.systems_of(log, (Row.of(file, name(i), one) for i, one in numbered), gold)
        except RecursionError:
            raise ReadError.at(file.path, DEEP) from None

    def systems_of(self, log: Row, rows: Rows, gold: File | None = None) -> list[SystemScores]:
        """The scores of each system in some records; `log` is what stands beside them."""
        found: dict[Any, dict[Any, Item]] = {}
        path = log.file.path
        every = self.items(log, rows, gold) if self.items else self._items(log, rows)
        for item in _bounded(log.file, every):
            ids, items = list(item.ids.values()), found.setdefault(item.system, {})
            if ids and all(one is None for one in ids):
                problem = f"{shown(list(item.ids)[-1])} is missing; {REMEDY}"
                raise ReadError.at(path, problem, item.place)
            first = items.setdefault((*ids, item.repeat) if any(ids) else len(items), item)
            first.notes |= {item.note: None}
            for metric, value in item.scores:
                name, cell = printable(metric), None if value != value else value
                if name in first.values and not (self.merge and first.values[name] == cell):
                    problem = f"the score {shown(name)} repeats {first.place}; keep one record of "
                    raise ReadError.at(path, f"{problem}each, those of one run", item.place)
                first.values[name] = cell
            item.scores = ()
        if not found:
            raise log.error("holds no record with a score; check that scores were logged")
        names = told_apart(*zip(*((x,) if isinstance(x, str) else x for x in found), strict=True))
        return [
            self._scores_of(log.file, name or _folder(log.file), list(items.values()))
            for name, items in zip(names, found.values(), strict=True)
        ]

    def _items(self, log: Row, rows: Rows) -> Iterator[Item]:
        """What records say of items, if each says all of one."""

        def last(path: str) -> str:
            return path.partition("|")[0].rpartition(".")[2]

        for row in rows:
            system = ""
            if self.system:
                system = log.get(self.system, str) or "" if log.values else row.need(self.system)
            yield Item(
                row.place,
                {last(path): row.get(path, str) or self.no_id for path in self.ids.split()},
                self.scores(row),
                system,
                self.repeat(row),
                agree={last(path): row.get(path) for path in self.agree.split()},
                text=short(row.get(self.text)) if self.text else "",
                note=self.note(log),
            )

    def _scores_of(self, file: File, system: str, items: list[Item]) -> SystemScores:
        bases, by = _bases(items, file)
        groups = [item.group or base for item, base in zip(items, bases, strict=True)]
        repeats = any(item.repeat for item in items)
        scores, left_out = _numbers(items, file)
        agree = {name: [item.agree.get(name) for item in items] for name in items[0].agree}
        notes = dict.fromkeys(chain(left_out, *(item.notes for item in items)))
        return SystemScores(
            system,
            file,
            scores,
            by,
            [x + item.repeat for x, item in zip(bases, items, strict=True)]
            if by != ORDER
            else None,
            clusters={self.grouped: groups} if self.grouped else {},
            swapped=self.grouped if self.grouped and len(set(groups)) < len(items) else None,
            items=bases if self.runs and repeats else None,
            items_by=by,
            agree={
                name: [printable(text_of(value))[:AGREED] for value in column]
                for name, column in agree.items()
                if not any(value is None for value in column)
            },
            texts=[item.text for item in items] if any(item.text for item in items) else None,
            notes=tuple(filter(None, notes)),
            at=[item.place for item in items].__getitem__,
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


def _bounded(file: File, records: Iterable[Any]) -> Iterator[Any]:
    for number, record in enumerate(records, 1):
        check_memory(file.path, PER_RECORD * number)
        yield record


def short(value: Any, width: int = 300) -> str:
    """A value as text on one line, without its middle if it is long; of messages the last."""
    last = value[-1] if isinstance(value, list) and value else value
    last = last.get("content", value) if isinstance(last, dict) else last
    text = printable(" ".join(text_of(last).split()))
    return text if len(text) <= width else f"{text[: width // 2]} ... {text[-width // 3 :]}"


def later(key: str, row: Row, path: str = "") -> str:
    """What is added to an id for each repeat but the one that is numbered 1, or not at all."""
    number = row.get(path or key, str)
    return "" if number in (None, "1") else f" ({key} {number})"


def _folder(file: File) -> str:
    """What a system is called after its folder, be it above one that is called by a date."""
    folders = [x for x in PurePath(file.path).parts[:-1] if x.strip("./\\")]
    folders = [x for x in folders if not re.match(r"\d{4}-\d\d-\d\dT|results$", x)]
    name = folders[-1] if folders else file.stem
    model = re.search(r"\bmodel=([^,]+)", name)
    return printable(model[1] if model else name)


def _bases(items: Sequence[Item], file: File) -> tuple[list[str], str]:
    """What items are called, without their repeats, and what that is."""
    if not any(any(item.ids.values()) for item in items):
        return [""] * len(items), ORDER
    known = [tuple(item.ids.values()) for item in items]
    distinct = list(dict.fromkeys(known))
    columns: list[Any] = list(zip(*distinct, strict=True))
    for i, name in enumerate(items[0].ids):
        if None not in columns[i]:
            called = told_apart(columns[i], *columns[i + 1 :])
            return list(map(dict(zip(distinct, called, strict=True)).__getitem__, known)), name
    lacking = next(item for item in items if None in item.ids.values())
    problem = f"not every record has {' or '.join(items[0].ids)}; add one of them"
    raise ReadError.at(file.path, problem, lacking.place)


def _numbers(items: Sequence[Item], file: File) -> tuple[dict[str, list[Any]], list[str]]:
    """The cells of each score that is a number, and a note of the others."""
    scores, bad = dict[str, list[Any]](), list[str]()
    names = dict.fromkeys(chain(*(item.values for item in items)))
    check_memory(file.path, 8 * len(names) * len(items))
    for name in names:
        cells = [item.values.get(name) for item in items]
        kinds = list(map(kind_of, cells))
        if "text" in kinds:
            at = kinds.index("text")
            bad.append(f"{name} ({shown(text_of(cells[at]))}, {items[at].place})")
        elif set(kinds) == {"missing"}:
            bad.append(f"{name} (no item has it)")
        else:
            both = zip(kinds, cells, strict=True)
            scores[name] = [None if kind == "missing" else cell for kind, cell in both]
    said = listed(bad, 5) or "there is none"
    if not scores:
        problem = f"holds no score that is one number for each item ({said}); log such a score"
        raise ReadError.at(file.path, problem)
    return scores, [f"left out, for they are not one number for each item: {said}"] * bool(bad)


# ---- lm-evaluation-harness -----------------------------------------------------------------------
# A task with two filters has every document twice; corpus metrics (f1, bleu) are lists; `doc_id`
# counts within a task, `doc_hash` is of the document; NumPy's numbers come as text ("True"). Early
# versions say neither `filter` nor `metrics`, and write a list.

_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_hash", "scores_per_repeat"),
}


def _metrics(row: Row) -> Iterator[tuple[str, Any]]:
    names = [name for name in row.values if name not in _NO_METRICS]
    if "metrics" in row.values:
        names = [text_of(name) for name in row.get("metrics", list)]
    end = f",{row.need('filter')}" if "filter" in row.values else ""
    return ((name + end, row.values.get(name)) for name in names)


ASKED = "doc.question|doc.query|doc.problem|doc.context|doc.ctx|doc.input|doc.text"

LM_EVAL = Harness(
    name="lm_eval",
    title="lm-evaluation-harness samples",
    first="doc_id doc|doc_id doc_hash|doc_id resps|doc_id filtered_resps",
    ids="doc_hash doc_id",
    scores=_metrics,
    agree=f"target_hash target {ASKED}",
    text=f"{ASKED}|doc",
)

# ---- Inspect -------------------------------------------------------------------------------------
# `.json` is sorted by id as a string, `.eval` is not; 1 and "1" are the same id. NaN is not scored.
# A scorer may give several values. `.eval` is an archive, whose summaries only cut texts; it is
# unpacked within bounds.

_VALUES: dict[Any, Any] = {"C": 1, "I": 0, "P": Fraction(1, 2), "N": 0}
_VALUES |= dict.fromkeys(("yes", "Yes", "YES"), 1) | dict.fromkeys(("no", "No", "NO"), 0)

#: Bytes that a member of an archive needs; how many times what it holds is in memory, at least.
PER_MEMBER, COPIES = 5000, 3

#: How members may be compressed; other methods need memory that nothing bounds.
ZSTANDARD = 93
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD)

#: What is said of a whole log: when it has ended, and when it began.
HEADERS, SUMMARIES = ("header.json", "_journal/start.json"), "summaries.json"


def _values(row: Row) -> Iterator[tuple[str, Any]]:
    for scorer, score in row.get("scores", dict).items():
        value = score.get("value") if isinstance(score, dict) else score
        for key, part in (value if isinstance(value, dict) else {"": value}).items():
            number = _VALUES.get(part, part) if isinstance(part, str) else part
            yield (f"{scorer}.{key}" if key else scorer), number


def _unfinished(log: Row) -> str:
    status = log.get("status", str) or "started"
    note = f"{log.file.name} comes from a run that did not finish ({status}), so samples may be"
    return "" if status == "success" else f"{note} missing"


def _log_in(file: File) -> Callable[[], tuple[Any, Iterable[Any]]] | None:
    """What unpacks an archive with the parts of a log; None of another file."""
    ends = file.data[:4096] + file.data[-(2**16) :]
    known = any(name.encode() in ends for name in HEADERS) and b"samples/" in ends
    return partial(_unpacked, file) if known and file.data.startswith(b"PK\x03\x04") else None


def _unpacked(file: File) -> tuple[Any, Iterable[Any]]:
    """What is said of a log, and its samples: their summaries, where all are there."""
    check_memory(file.path, PER_MEMBER * file.data.count(b"PK\x01\x02"))
    with reading(file.path, "is a damaged archive", "copy or download it again"):
        archive = zipfile.ZipFile(BytesIO(file.data))
        members = {member.filename: member for member in archive.infolist()}
        if any(member.compress_type == ZSTANDARD for member in members.values()):
            module = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"
            log = f"{printable(file.path)}, a log compressed with Zstandard,"
            archive = optional(module, needed_by=log, extra="inspect").ZipFile(BytesIO(file.data))

    def parsed(name: str) -> Any:
        """The JSON document in a member, which must be no larger than it says."""
        member, place = members[name], f"{file.path}, {name}"
        check_memory(place, COPIES * member.file_size)
        with reading(place, "is damaged", "copy the log again"), archive.open(name) as stream:
            if member.compress_type not in METHODS:
                raise ValueError(f"it is compressed with method {member.compress_type}")
            content = BytesIO()
            shutil.copyfileobj(stream, content, 4096)  # more of a bomb at a time is gigabytes
            check_json(place, content.getvalue())
            return parsed_json(content.getvalue().decode())

    header = next((name for name in HEADERS if name in members), None)
    if header is None:
        problem = f"is an archive without {HEADERS[0]}, so it is not a log of Inspect"
        raise ReadError.at(file.path, f"{problem}; check which file it is")
    names = [x for x in members if x.startswith("samples/") and x.endswith(".json")]
    found = parsed(SUMMARIES) if SUMMARIES in members else None
    if isinstance(found, list) and len(found) >= len(names):
        return parsed(header), found
    check_memory(file.path, sum(members[name].file_size for name in names))
    return parsed(header), map(parsed, names)


INSPECT = Harness(
    name="inspect_ai",
    title="Inspect log",
    first="version eval.task|version eval.run_id|version eval.eval_id|version eval.model",
    unpack=_log_in,
    records="samples",
    ids="id",
    scores=_values,
    system="eval.model",
    repeat=partial(later, "epoch"),
    agree="target",
    text="input",
    note=_unfinished,
    grouped="sample",
    runs=True,
)

# ---- HELM ----------------------------------------------------------------------------------------
# Every metric adds entries of its own: an instance occurs again with other stats. A mean is sum /
# count, as a fraction where both are whole; a stat with the count 0 has no value. The model is in
# the name of the run's folder, such as `mmlu:subject=law,model=x_y`. The second trial is number 1.


def _stats(row: Row) -> Iterator[tuple[str, Any]]:
    for stat in row.rows("stats"):
        splits = (stat.get(f"name.{key}", str) for key in ("split", "sub_split"))
        name = ",".join([stat.need("name.name"), *filter(None, splits)])
        count, mean = stat.get("count", int), stat.get("sum|mean")
        if count == 0:
            mean = None
        elif count not in (None, 1):
            whole = isinstance(mean, int | Decimal) and mean == int(mean)
            exact = whole and 0 < count <= DENOMINATORS
            mean = Fraction(int(mean), count) if exact else stat.get("mean")
        yield name, mean


def _trial(row: Row) -> str:
    said, trial = row.get("perturbation", dict), row.get("train_trial_index", str)
    end = "" if trial in (None, "0") else f" (trial {trial})"
    return (f", {text_of(said)}" if said else "") + end


HELM = Harness(
    name="helm",
    title="HELM per-instance statistics",
    first="instance_id stats",
    ids="instance_id",
    scores=_stats,
    repeat=_trial,
    grouped="instance",
    merge=True,
)

# ---- promptfoo -----------------------------------------------------------------------------------
# All systems are in one file; `promptIdx` numbers combinations of a provider and a prompt. With
# `--repeat` a test has several `testIdx`: those of the same variables are swapped together. A call
# that failed (`failureReason` 2) counts as wrong, and has no named scores.


def _tests(_: Row, rows: Rows, __: File | None) -> Iterator[Item]:
    tests: dict[str, str] = {}  # variables as the first system had them: others may add to them
    systems: dict[str, tuple[str, ...]] = {}  # prompts as of the first test: others may fill them
    for row in rows:
        said = sorted(row.get("testCase.vars|vars", dict).items())
        test, own = row.need("testIdx"), {x: value for x, value in said if not x.startswith("_")}
        text = printable(text_of(own or test))
        if len(text) > AGREED:  # so that a test that begins like another is told from it
            text = f"{text[:100]}... {sha256(text.encode(errors='replace')).hexdigest()}"
        text = tests.setdefault(test, text)
        failed = row.get("failureReason") == 2
        note = "calls that failed count as wrong, as in promptfoo" if failed else ""
        scores = {key: row.get(key) for key in ("score", "success")}
        scores = {key: 0 if failed and x is None else x for key, x in scores.items()}
        for key, value in row.get("namedScores", dict).items():
            scores[f"namedScores.{key}" if key in scores else key] = value
        prompt = short(row.get("prompt.label|prompt.raw|prompt") or "no prompt", 80)
        number, provider = row.need("promptIdx"), row.need("provider.label|provider.id|provider")
        system = systems.setdefault(number, (provider, prompt, number))
        ids, same = {"testIdx": test}, {"variables": text}
        yield Item(row.place, ids, scores.items(), system, "", same, text, short(text), note)


PROMPTFOO = Harness(
    name="promptfoo",
    title="promptfoo results",
    first="testIdx promptIdx|results.results.*|results.*.testIdx results.*.promptIdx",
    records="results.results|results",
    items=_tests,
    grouped="variables",
)

# ---- Every Eval Ever -----------------------------------------------------------------------------
# A sample that was scored in several evaluations has a line for each, and scores of their names.


def _instances(_: Row, rows: Rows, __: File | None) -> Iterator[Item]:
    kept = list(rows)
    several = len({row.get("evaluation_name", str) for row in kept}) > 1
    for row in kept:
        end = f",{row.need('evaluation_name')}" if several else ""
        yield Item(
            row.place,
            {name: row.get(name, str) for name in ("sample_hash", "sample_id")},
            [(name + end, row.get(f"evaluation.{name}")) for name in ("score", "is_correct")],
            row.need("model_id"),
            later("epoch", row, "metadata.epoch"),
            agree={"reference": row.get("input.reference")},
            text=short(row.get("input.raw")),
        )


EVERY_EVAL_EVER = Harness(
    name="every_eval_ever",
    title="Every Eval Ever instances",
    first="model_id sample_id evaluation|model_id sample_id evaluation_name"
    "|model_id sample_id evaluation_id",
    items=_instances,
    grouped="sample",
    runs=True,
)

# ---- SWE-bench -----------------------------------------------------------------------------------
# What is absent failed. The leaderboard's `results.json` lists what was resolved, and not all that
# was tried: it needs the full list of ids, one a line, a list, or objects with `instance_id`. The
# harness's report names all; `submitted_ids` had predictions, asked for or not.

_RESOLVED, _ASKED = ("resolved_ids", "resolved"), ("completed_ids", "generated")
_FAILED = (
    *("unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids", "no_generation"),
    *("no_logs", "no_apply", "install_fail", "reset_failed", "test_errored", "test_timeout"),
)


def _ids(values: Sequence[Any], where: Row) -> list[str]:
    for value in values:
        if not isinstance(value, str) or not value:
            raise where.error(f"{shown(text_of(value))} is not the id of an issue; {REMEDY}")
    return list(dict.fromkeys(map(printable, values)))


def _listed_in(gold: File) -> list[str]:
    """The ids in a list of all: one a line, a list, or objects that have one each."""
    found = gold.document if gold.is_json else list(map(str.strip, gold.lines))
    found = found if isinstance(found, list) else [found]
    names = [x.get("instance_id") if isinstance(x, dict) else x for x in found]
    return _ids([x for x in names if x not in ("", "instance_id")], Row(gold, "", {}))


def _issues(log: Row, rows: Rows, gold: File | None) -> Iterator[Item]:
    file = log.file
    system = "" if file.stem == "results" else printable(file.stem)
    for row in rows:
        ids = {x: _ids(row.get(x, list), row) for x in (*_ASKED, *_FAILED, *_RESOLVED)}
        resolved = {name for key in _RESOLVED for name in ids[key]}
        every, note = list(dict.fromkeys(chain(*ids.values()))), ""
        for key in _FAILED:
            if both := resolved.intersection(ids[key]):
                raise row.error(f"{shown(min(both))} is resolved and in {key}; {REMEDY}")
        if gold is None and not any(ids[x] for x in _ASKED):
            problem = "lists only the resolved issues; give the full list of ids as gold (--gold)"
            raise log.error(f"{problem}, one a line")
        if gold is not None:
            others, every = set(every), _listed_in(gold)
            others -= set(every)
            if wrong := resolved & others:
                problem = f"resolved {shown(min(wrong))}, which is not in {gold.path}"
                raise log.error(f"{problem}; give the list of the same data set")
            if others:
                note = f"{len(others)} ids of {file.name} are not in the list and are left out"
        for name in every:
            right = [("resolved", int(name in resolved))]
            yield Item(shown(name), {"instance_id": name}, right, system, note=note)


SWE_BENCH = Harness(
    name="swe_bench",
    title="SWE-bench report",
    gold="optional",
    first="resolved_ids.*|resolved.*|completed_ids.*",
    items=_issues,
)

# ---- lighteval -----------------------------------------------------------------------------------
# `details_{task}_{date}.parquet` in details/{organisation}/{model}/{date}. Before `doc.id` items
# have an order only, and their text. What the models filled is not read.


def _details(file: File) -> Callable[[], tuple[Any, Iterable[Any]]] | None:
    """What reads a parquet file whose end names the columns of lighteval; None of another file."""
    end = file.data[-(2**16) :] if file.data.startswith(b"PAR1") else b""
    if b"metric" not in end or not (b"model_response" in end or b"full_prompt" in end):
        return None

    def rows() -> Iterator[Any]:
        need = f"{file.path}, a parquet file,"
        arrow = optional("pyarrow.parquet", needed_by=need, extra="frames")
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

    return lambda: ({}, rows())


LIGHTEVAL = Harness(
    name="lighteval",
    title="lighteval details",
    unpack=_details,
    ids="doc.id",
    no_id="",
    scores=lambda row: row.get("metric|metrics", dict).items(),
    agree="doc.query|example",
    text="doc.query|example",
)

# ---- OpenAI evals --------------------------------------------------------------------------------
# The first line is the run, the last its report; an event is of a sample and of a type.


def _events(_: Row, rows: Rows, __: File | None) -> Iterator[Item]:
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
    first="spec.completion_fns|run_id event_id sample_id type",
    items=_events,
)

# ---- deepeval ------------------------------------------------------------------------------------
# Cases of one pytest function have the same name, and an order. Conversations are a list beside.


def _case(row: Row) -> Iterator[tuple[str, Any]]:
    for metric in row.rows("metricsData"):
        yield metric.need("name|metric"), metric.get("score")
    yield "success", row.get("success")


DEEPEVAL = Harness(
    name="deepeval",
    title="deepeval test run",
    first="testRunData.testCases.*.metricsData|testRunData.conversationalTestCases.*.metricsData"
    "|testCases.*.metricsData|conversationalTestCases.*.metricsData",
    records="testRunData.testCases|testCases testRunData.conversationalTestCases"
    "|conversationalTestCases",
    ids="name order",
    scores=_case,
    agree="input|scenario expectedOutput|expectedOutcome",
    text="input|scenario",
)

# ---- sacreBLEU, COMET ----------------------------------------------------------------------------
# sacreBLEU prints objects one below the other; COMET has a list of segments for each system.


def _segments(log: Row, rows: Rows, _: File | None) -> Iterator[Item]:
    found = [(row.place, row.need("name"), row.get("score")) for row in rows]
    names = sorted({name for _, name, _ in found})
    if len(names) > 1 or len(found) == 1:
        problem = f"holds {len(found)} scores of {listed(names)}, and not those of segments; run "
        raise log.error(f"{problem}sacrebleu with --sentence-level for one metric")
    for place, name, score in found:
        yield Item(place, {}, [(name, score)], printable(log.file.stem))


SACREBLEU = Harness(
    name="sacrebleu",
    title="sacreBLEU segments",
    first="name score signature",
    items=_segments,
)


def _translations(_: Row, rows: Rows, __: File | None) -> Iterator[Item]:
    for row in rows:
        for name, found in row.values.items():
            for one in Row(row.file, shown(name), {"segments": found}).rows("segments"):
                agree = {key: one.get(key) for key in ("src", "ref")}
                scores, text = [("COMET", one.get("COMET"))], short(agree["src"])
                yield Item(one.place, {}, scores, printable(name), agree=agree, text=text)


COMET = Harness(
    name="comet",
    title="COMET scores",
    first="*.*.COMET|*.*.src *.*.mt",
    items=_translations,
)

# ---- judgements ----------------------------------------------------------------------------------
# A battle is two scores of its question: 1 for the winner, 1/2 each for a tie. MT-bench has both
# orders of the answers judged: who does not win both has no more than a tie, as FastChat counts.
# Turns and repeated battles are swapped with their question; a grade of -1 is none.

_WINS: dict[str, Any] = {"model_1": 1, "model_a": 1, "model_2": 0, "model_b": 0}
_WINS |= dict.fromkeys(("tie", "tie (bothbad)", "bothbad", "both_bad"), Fraction(1, 2))


def _battles(_: Row, rows: Rows, __: File | None) -> Iterator[Item]:
    seen: Counter[tuple[str, ...]] = Counter()
    kept: list[tuple[str, Item]] = []
    for number, row in enumerate(rows, 1):
        models = [row.need(path) for path in ("model_1|model_a", "model_2|model_b")]
        if models[0] == models[1]:
            raise row.error(f"{shown(models[0])} against itself; remove this battle")
        games = [key for key in ("g1_winner", "g2_winner") if key in row.values] or ["winner"]
        words = [row.get(key, str) for key in games]
        if unknown := [word for word in words if word not in (None, "error", *_WINS)]:
            problem = f"the winner is {shown(unknown[0])}, but must be one of {', '.join(_WINS)}"
            raise row.error(f"{problem}; {REMEDY}")
        wins: list[Any] = [_WINS.get(word or "") for word in words]
        won = Fraction(1, 2) if len(set(wins)) > 1 else wins[0]
        known = (x for x in ("question_id", "id", "prompt") if row.get(x, str))
        by = next(known, "battle")
        question = row.get(by, str) or f"battle {number}"
        pair, turn = " and ".join(sorted(models)), later("turn", row)
        seen[question, pair, turn] += 1
        again = seen[question, pair, turn]
        repeat = turn + (f" (judgement {again})" if again > 1 else "")
        scores = [None, None] if None in wins else [won, 1 - won]
        for model, score in zip(models, scores, strict=True):
            item = Item(row.place, {by: question}, [("win", score)], model, repeat)
            kept.append((pair, item))
    several = len({pair for pair, _ in kept}) > 1
    for pair, item in kept:  # two models share the questions of their own battles alone
        item.ids = {by: f"{x}, {pair}" if several else x for by, x in item.ids.items()}
        yield item


BATTLES = Harness(
    name="battles",
    title="pairwise judgements (MT-bench, arena)",
    first="model_1 model_2 g1_winner|model_a model_b winner",
    items=_battles,
    grouped="question",
)

#: Who won, as LMSYS writes it: a column of 0 and 1 for each.
WINNERS = ("winner_model_a", "winner_model_b", "winner_tie")


def is_battle(names: set[str]) -> bool:
    """Whether a table with these columns is one of pairwise judgements."""
    return names >= {"model_a", "model_b"} and ("winner" in names or names.issuperset(WINNERS))


def battles_in(table: Table) -> list[SystemScores]:
    """The systems in a table of pairwise judgements, read as the records of other such files."""
    rows = []
    for k, cells in enumerate(zip(*(map(text_of, x) for x in table.columns), strict=True)):
        values = dict(zip(table.names or (), cells, strict=True))
        if "winner" not in values:
            won = [name for name in WINNERS if float(as_score(values[name])) == 1]
            values["winner"] = won[0].removeprefix("winner_") if len(won) == 1 else "unknown"
        rows.append(Row(table.file, table.place(k), values))
    return BATTLES.systems_of(Row(table.file, "", {}), rows)


MT_BENCH = Harness(
    name="mt_bench",
    title="MT-bench grades",
    first="question_id model judge score",
    ids="question_id",
    scores=lambda row: [("score", None if row.get("score") == -1 else row.get("score"))],
    system="model",
    repeat=partial(later, "turn"),
    grouped="question",
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
    problem = f"this is a folder without output of an evaluation ({', '.join(PATTERNS)})"
    raise ReadError.at(str(folder), f"{problem}; name one file in it")
