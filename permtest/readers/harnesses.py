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
from permtest.readers.systems import PER_RECORD, Format, SystemScores, told_apart

#: Characters of a text that both systems must have.
AGREED = 1000

REMEDY = "leave files as the tool writes them"
WANTED = {str: "text or a whole number", int: "a whole number", dict: "an object", list: "a list"}


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
    ids: Mapping[str, str | None]  # the best first, which the others tell apart
    scores: Iterable[tuple[str, Any]]
    system: str = ""  # default: the folder
    repeat: str = ""  # what tells repeats of an item apart, behind its id
    agree: Mapping[str, Any] = field(default_factory=dict)  # must be the same for both systems
    text: str = ""  # what is asked, for people
    values: dict[str, Any] = field(default_factory=dict, init=False)  # the scores of all records


@dataclass(frozen=True, kw_only=True)
class Harness(Format):
    """A format: how it begins, where its records are, and where they say what of an item.

    Places are paths of keys, as those of `Row.get`; several have blanks between them.
    """

    #: What a file begins with: all of these, or all behind a "|".
    first: str = ""
    records: str = ""  # the list of records, where they are neither lines nor a list
    ids: str = ""  # the best first, which the others tell apart
    scores: Callable[[Row], Iterable[tuple[str, Any]]] = lambda _: ()
    system: str = ""  # in the record, or in what stands beside all of them
    repeat: Callable[[Row], str] = lambda _: ""
    agree: str = ""
    text: str = ""
    note: Callable[[Row], str] = lambda _: ""  # of what stands beside all records
    grouped: str = ""  # what the items of one id are called, which are swapped together
    runs: bool = False  # whether the records of a group are runs of one item, alike but for luck
    merge: bool = False  # whether records of an item may repeat its scores
    #: The items in records, where that does not say it.
    items: Callable[[Rows], Iterator[Item]] | None = None
    #: What stands beside records, and they, of a file that is no JSON; None of others.
    unpack: Callable[[File], Callable[[], tuple[Any, Iterable[Any]]] | None] = lambda _: None

    def recognises(self, file: File) -> bool:
        """Whether the file begins as the format does."""
        ways = [paths.split() for paths in self.first.split("|") if paths]
        begins = (all(_has(file.start[0], path.split(".")) for path in paths) for paths in ways)
        return any(begins) or self.unpack(file) is not None

    def load(self, file: File, _: File | None = None) -> list[SystemScores]:
        """The scores of each system in a file."""
        (start, lines), unpacked, log = file.start, self.unpack(file), Row(file, "", {})
        numbered: Iterable[tuple[int, Any]] = ()
        name = "record {}".format
        try:
            if unpacked is not None:
                head, values = unpacked()
                log, numbered = Row.of(file, "", head), enumerate(values, 1)
            elif self.records:
                log = Row.of(file, "", start or file.document)
                return self._systems_of(log, log.rows(self.records))
            elif lines:
                name, numbered = "line {}".format, _bounded(file, file.records())
            else:
                whole = file.document if isinstance(file.document, list) else [file.document]
                numbered = enumerate(whole, 1)
            return self._systems_of(log, (Row.of(file, name(i), one) for i, one in numbered))
        except RecursionError:
            raise ReadError.at(file.path, DEEP) from None

    def _systems_of(self, log: Row, rows: Rows) -> list[SystemScores]:
        """The scores of each system in some records; `log` is what stands beside them."""
        found: dict[str, dict[Any, Item]] = {}
        path = log.file.path
        every = self.items(rows) if self.items else self._items(log, rows)
        for item in _bounded(log.file, every):
            ids, items = list(item.ids.values()), found.setdefault(item.system, {})
            if all(one is None for one in ids):
                problem = f"{shown(list(item.ids)[-1])} is missing; {REMEDY}"
                raise ReadError.at(path, problem, item.place)
            first = items.setdefault((*ids, item.repeat), item)
            for metric, value in item.scores:
                name, cell = printable(metric), None if value != value else value
                if name in first.values and not (self.merge and first.values[name] == cell):
                    problem = f"the score {shown(name)} repeats {first.place}; keep one record of "
                    raise ReadError.at(path, f"{problem}each, those of one run", item.place)
                first.values[name] = cell
            item.scores = ()
        if not found:
            raise log.error("holds no record with a score; check that scores were logged")
        return [
            self._scores_of(log, name or _folder(log.file), list(items.values()))
            for name, items in found.items()
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
                {last(path): row.get(path, str) for path in self.ids.split()},
                self.scores(row),
                system,
                self.repeat(row),
                agree={last(path): row.get(path) for path in self.agree.split()},
                text=short(row.get(self.text)) if self.text else "",
            )

    def _scores_of(self, log: Row, system: str, items: list[Item]) -> SystemScores:
        file = log.file
        bases, by = _bases(items, file)
        repeats = any(item.repeat for item in items)
        scores, left_out = _numbers(items, file)
        agree = {name: [item.agree.get(name) for item in items] for name in items[0].agree}
        return SystemScores(
            system,
            file,
            scores,
            by,
            [x + item.repeat for x, item in zip(bases, items, strict=True)],
            clusters={self.grouped: bases} if self.grouped else {},
            swapped=self.grouped if self.grouped and len(set(bases)) < len(items) else None,
            items=bases if self.runs and repeats else None,
            items_by=by,
            agree={
                name: [printable(text_of(value))[:AGREED] for value in column]
                for name, column in agree.items()
                if not any(value is None for value in column)
            },
            texts=[item.text for item in items] if any(item.text for item in items) else None,
            notes=tuple(filter(None, (*left_out, self.note(log)))),
            at=[item.place for item in items].__getitem__,
        )


def _has(value: Any, keys: Sequence[str]) -> bool:
    """Whether there is something behind some keys."""
    if not keys:
        return True
    return isinstance(value, dict) and keys[0] in value and _has(value[keys[0]], keys[1:])


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

# ---- Every Eval Ever -----------------------------------------------------------------------------
# A sample that was scored in several evaluations has a line for each, and scores of their names.


def _instances(rows: Rows) -> Iterator[Item]:
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

FORMATS: tuple[Format, ...] = (LM_EVAL, INSPECT, EVERY_EVAL_EVER, HELM)

# ---- folders -------------------------------------------------------------------------------------

#: What harnesses call their files, in the order in which they are looked for.
PATTERNS = ("samples_*.jsonl", "per_instance_stats.json", "*.eval")

#: What a name has beside its task: the kind of file, the date, an id, the model.
_BESIDE_TASK = re.compile(
    r"^samples_|_?\d{4}-\d\d-\d\dT[\d.:+-]+_?|_[A-Za-z0-9]{22}$|[:,]model=[^,]*"
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
