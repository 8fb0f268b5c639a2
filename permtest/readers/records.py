"""Records of an evaluation, each of an item, become the scores of systems.

Nothing here trusts a file: what cannot be used is a `ReadError` that names place and remedy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from permtest.readers.cells import Twice, kind_of, printable, shown, text_of, twice
from permtest.readers.files import BOM, DEEP, File, ReadError, StrPath, check_memory
from permtest.readers.systems import ORDER, Format, SystemScores, listed, told_apart

#: Bytes that a record needs in memory; characters of a text that both systems must have.
PER_RECORD, AGREED = 1000, 1000

REMEDY = "leave files as the tool writes them"

_WANTED = {str: "text or a whole number", int: "a whole number", bool: "true or false"}
_WANTED |= {dict: "an object", list: "a list"}


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
    system: str | tuple[str, ...] = ""  # the others tell the first apart; default: the folder
    repeat: str = ""  # what tells repeats of an item apart, behind its id
    agree: Mapping[str, Any] = field(default_factory=dict)  # must be the same for both systems
    clusters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""  # what is asked, for people
    note: str = ""  # what the user should know
    #: What is known of the item by all of its records.
    values: dict[str, Any] = field(default_factory=dict, init=False)
    notes: dict[str, None] = field(default_factory=dict, init=False)


Rows: TypeAlias = "Iterable[Row]"


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
    merge: bool = False  # whether records of an item may repeat its scores
    #: The items, where that does not say it: of what stands beside records, of them, and of gold.
    items: Callable[[Row, Rows, File | None], Iterator[Item]] | None = None
    #: What stands beside records, and they, of a file that is no JSON; None of others.
    unpack: Callable[[File], Callable[[], tuple[Any, Iterable[Any]]] | None] = lambda _: None
    names_scores: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "recognises", partial(_recognises, self))
        object.__setattr__(self, "load", partial(_load, self))


def _name(path: str) -> str:
    """The last key of a path."""
    return path.partition("|")[0].rpartition(".")[2]


def _items(form: Harness, log: Row, rows: Rows) -> Iterator[Item]:
    """What records say of items, if each says all of one."""
    for row in rows:
        system = ""
        if form.system:
            system = log.get(form.system, str) or "" if log.values else row.need(form.system)
        yield Item(
            row.place,
            {_name(path): row.get(path, str) or form.no_id for path in form.ids.split()},
            form.scores(row),
            system,
            form.repeat(row),
            agree={_name(path): row.get(path) for path in form.agree.split()},
            text=short(row.get(form.text)) if form.text else "",
            note=form.note(log),
        )


def short(value: Any, width: int = 300) -> str:
    """A value as text on one line, without its middle if it is long; of messages the last."""
    last = value[-1] if isinstance(value, list) and value else value
    last = last.get("content", value) if isinstance(last, dict) else last
    text = printable(" ".join(text_of(last).split()))
    return text if len(text) <= width else f"{text[: width // 2]} ... {text[-width // 3 :]}"


def later(path: str) -> Callable[[Row], str]:
    """What is added to an id for each repeat but the one that is numbered 1, or not at all."""

    def added(row: Row) -> str:
        number = row.get(path, str)
        return "" if number in (None, "1") else f" ({_name(path)} {number})"

    return added


# ---- from a file to records ----------------------------------------------------------------------

_KNOWN: WeakKeyDictionary[File, tuple[Any, bool]] = WeakKeyDictionary()  # all formats ask for it


def _start(file: File) -> tuple[Any, bool]:
    """The first record of lines or of a list, else the document; and whether there are lines."""
    if file not in _KNOWN:
        start, lines = None, not file.data[:4096].removeprefix(BOM).lstrip().startswith(b"[")
        with suppress(ReadError):
            start = next(file.records(), (0, None))[1] if file.is_json and lines else None
        with suppress(ReadError):
            if file.is_json and start is None:
                start, lines = file.document, False
        _KNOWN[file] = start[0] if isinstance(start, list) and start else start, lines
    return _KNOWN[file]


def _recognises(form: Harness, file: File) -> bool:
    """Whether the file begins as the format does."""
    start, ways = _start(file)[0], [paths.split() for paths in form.first.split("|") if paths]
    begins = any(all(_has(start, path.split(".")) for path in paths) for paths in ways)
    return begins or form.unpack(file) is not None


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
    (start, lines), unpacked, log = _start(file), form.unpack(file), Row(file, "", {})
    if unpacked is not None:
        head, values = unpacked()
        log = Row.of(file, "", head)
    elif form.records and not _has(start, ["testIdx"]):  # of which promptfoo writes lines, too
        log = Row.of(file, "", start or file.document)
        return log, chain(*map(log.rows, form.records.split()))
    elif lines:
        records = _bounded(file, file.records())
        return log, (Row.of(file, f"line {line}", one) for line, one in records)
    else:
        values = file.document if isinstance(file.document, list) else [file.document]
    return log, (Row.of(file, f"record {number}", one) for number, one in enumerate(values, 1))


def _bounded(file: File, records: Iterable[Any]) -> Iterator[Any]:
    """As many records as memory can hold."""
    for number, record in enumerate(records, 1):
        check_memory(file.path, PER_RECORD * number)
        yield record


# ---- from records to scores ----------------------------------------------------------------------


def systems_of(form: Harness, log: Row, rows: Rows, gold: File | None = None) -> list[SystemScores]:
    """The scores of each system in some records; `log` is what stands beside them."""
    found: dict[Any, dict[Any, Item]] = {}
    every = form.items(log, rows, gold) if form.items else _items(form, log, rows)
    for item in _bounded(log.file, every):
        ids, items = list(item.ids.values()), found.setdefault(item.system or _folder(log.file), {})
        if ids and all(one is None for one in ids):
            problem = f"{shown(list(item.ids)[-1])} is missing; {REMEDY}"
            raise ReadError.at(log.file.path, problem, column=item.place)
        first = items.setdefault((*ids, item.repeat) if any(ids) else len(items), item)
        first.notes |= {item.note: None}
        for metric, value in item.scores:
            name, cell = printable(metric), None if value != value else value
            if name in first.values and not (form.merge and first.values[name] == cell):
                problem = f"the score {shown(name)} of {first.place} again"
                remedy = "keep one record of each, those of one run"
                raise ReadError.at(log.file.path, f"{problem}; {remedy}", column=item.place)
            first.values[name] = cell
        item.scores = ()
    if not found:
        raise log.error("holds no record with a score; check that scores were logged")
    names = told_apart(*zip(*((x,) if isinstance(x, str) else x for x in found), strict=True))
    return [
        _scores_of(form, log.file, name, list(items.values()))
        for name, items in zip(names, found.values(), strict=True)
    ]


def _folder(file: File) -> str:
    """What a system is called after its folder, be it above one that is called by a date."""
    folders = [x for x in PurePath(file.path).parts[:-1] if x.strip("./\\")]
    folders = [x for x in folders if not re.match(r"\d{4}-\d\d-\d\dT|results$", x)]
    name = folders[-1] if folders else file.stem
    model = re.search(r"\bmodel=([^,]+)", name)
    return printable(model[1] if model else name)


def _scores_of(form: Harness, file: File, name: str, items: list[Item]) -> SystemScores:
    """The items of a system as columns."""
    group = form.grouped
    ids, bases, paired_by = _ids(items, file)
    clusters = _shared([item.clusters for item in items])
    clusters |= {group: bases} if group and group not in clusters else {}
    scores, left_out = _columns(items, file)
    notes = dict.fromkeys(chain(left_out, *(item.notes for item in items)))
    return SystemScores(
        system=name,
        file=file,
        scores=scores,
        paired_by=paired_by,
        ids=ids,
        clusters=clusters,
        swapped=group if group and len(set(clusters[group])) < len(items) else None,
        agree=_shared([item.agree for item in items]),
        texts=[item.text for item in items] if any(item.text for item in items) else None,
        notes=tuple(filter(None, notes)),
        places=[item.place for item in items],
    )


def _ids(items: Sequence[Item], file: File) -> tuple[list[str] | None, list[str], str]:
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
            return [x + item.repeat for x, item in zip(bases, items, strict=True)], bases, name
    lacking = next(item for item in items if None in item.ids.values())
    problem = f"not every record has {' or '.join(items[0].ids)}; add one of them"
    raise ReadError.at(file.path, problem, column=lacking.place)


def _columns(items: Sequence[Item], file: File) -> tuple[dict[str, list[Any]], list[str]]:
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
        problem = f"holds no score that is one number for each item ({said})"
        raise ReadError.at(
            file.path, f"{problem}; a paired test needs such a score of both systems"
        )
    return scores, [f"left out, being no number for each item: {said}"] if bad else []


def _shared(parts: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """As columns of text what all items say."""
    columns = {name: [part.get(name) for part in parts] for name in parts[0]}
    return {
        name: [printable(text_of(value))[:AGREED] for value in column]
        for name, column in columns.items()
        if not any(value is None for value in column)
    }


# ---- several tasks -------------------------------------------------------------------------------


def joined(tasks: Mapping[str, SystemScores], folder: StrPath) -> SystemScores:
    """The items of several tasks as those of one evaluation, with the grouping "task".

    A score that a task has not is None there; groupings and what must agree are those of all.
    """
    parts = list(tasks.values())
    check_memory(str(folder), PER_RECORD * sum(map(len, parts)))

    def of_all(columns: Iterable[Iterable[Any]]) -> list[str]:
        """What all tasks have, each behind the name of its task."""
        return [f"{task}: {x}" for task, some in zip(tasks, columns, strict=True) for x in some]

    def in_all(kind: str) -> list[str]:
        return [x for x in getattr(parts[0], kind) if all(x in getattr(one, kind) for one in parts)]

    groups = {"task": [task for task, one in tasks.items() for _ in range(len(one))]}
    groups |= {x: of_all(one.clusters[x] for one in parts) for x in in_all("clusters")}
    digests = "".join(f"{one.file.sha256}  {one.file.name}\n" for one in parts)
    return SystemScores(
        system=parts[0].system,
        file=File(str(folder), digests.encode()),
        scores={
            name: [x for one in parts for x in one.scores.get(name, [None] * len(one))]
            for name in dict.fromkeys(chain(*(one.scores for one in parts)))
        },
        paired_by=f"task and {parts[0].paired_by}",
        ids=of_all(one.ids or range(1, len(one) + 1) for one in parts),
        clusters=groups,
        swapped=next((one.swapped for one in parts if one.swapped in groups), None),
        agree={x: list(chain(*(one.agree[x] for one in parts))) for x in in_all("agree")},
        texts=[text for one in parts for text in one.texts or [""] * len(one)],
        notes=tuple(of_all(one.notes for one in parts)),
        places=[f"{one.file.name}, {one.place(i)}" for one in parts for i in range(len(one))],
    )
