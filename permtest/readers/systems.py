"""What every reader makes of its files: the long table, a block of rows for each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any

from permtest.readers.files import File, ReadError, StrPath, check_memory, printable, shown

#: How items are paired that have no ids: by their order in two files, or by the row of one table.
ORDER, ROW = "order", "row"

#: Bytes that a record needs in memory.
PER_RECORD = 1000


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # in a word
    title: str  # what it is called in sentences
    needs_gold: bool = False  # whether another file has to say what would be right

    def recognises(self, file: File) -> bool:
        """Whether a file is of this format by its content; quick, and never fails."""
        raise NotImplementedError

    def load(self, file: File, gold: File | None = None) -> Sequence[SystemScores]:
        """The scores of each system in a file, held against the gold file where there is one."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One system's part of a file: its rows of the long table, all columns of one length."""

    system: str
    file: File
    #: Name of a score -> its cell for each item: text as written, or a number; None where there is
    #: none. Where `counts` has the name: a tuple of such cells.
    scores: Mapping[str, Sequence[Any]]
    paired_by: str = ORDER  # what `ids` are, such as "doc_hash"; `ORDER` or `ROW` without them
    ids: Sequence[str] | None = None  # all different; None: the items have an order only
    clusters: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what items belong to
    swapped: str | None = None  # the grouping that is swapped as a whole unless the user objects
    #: Where rows are runs of items: which item, and what these are, such as "doc_hash".
    items: Sequence[str] | None = None
    items_by: str = ""
    counts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # such as tp, fp, fn
    #: What must be the same for all systems, such as the text of the question; and other texts: if
    #: all systems have the same ones, they must have them for the same items.
    agree: Mapping[str, Sequence[str]] = field(default_factory=dict)
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Sequence[str] | None = None  # what the items are, for people to read
    notes: tuple[str, ...] = ()  # what the reader did that one should know
    related: tuple[str, ...] = ()  # groupings whose items may be alike, although single ones swap
    at: Callable[[int], str] | None = None  # where an item is in the file, such as "line 3"
    gold: File | None = None  # what said what is right
    #: Name of a score -> how messages call its column in a table, or those of its counts.
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {**self.scores, **self.clusters, **self.agree}
        assert {len(column) for column in columns.values()} == {len(self)}, "columns of one length"
        if len(self) == 0:
            raise ReadError.at(self.file.path, "holds no item; check that the evaluation ran")
        if self.ids is not None and len(set(self.ids)) < len(self.ids):
            by = self.items_by if self.paired_by == ROW else self.paired_by
            raise twice(self.file, self.ids, self.at or "item {}".format, by)

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each id is."""
        return dict(zip(self.ids or (), range(len(self)), strict=False))

    def place(self, i: int) -> str:
        """The name of an item in messages."""
        if self.at is not None:
            return self.at(i)
        return f"item {i + 1}" if self.ids is None else shown(self.ids[i])

    def error(self, i: int, problem: str, score: str = "", part: int = 0) -> ReadError:
        """The error of an item, or of one of its scores, or of one count."""
        column = self.columns[score][part] if score in self.columns else None
        return ReadError.at(self.file.path, problem, self.place(i), column)


def twice(file: File, ids: Sequence[str], place: Callable[[int], str], by: str) -> ReadError:
    """The error that two rows are the same item."""
    item = next(item for item, number in Counter(ids).items() if number > 1)
    places = [place(i) for i, one in enumerate(ids) if one == item]
    key = "".join(f"--id {column} " for column in by.split(" and "))
    problem = f"{shown(item)} occurs twice as {by} ({' and '.join(places[:2])}); remove one, name "
    problem += "the column that tells systems (--system-col) or repeats (--repeat) apart, name one "
    problem += f"more column of the key ({key}--id COL), or swap them together "
    problem += f"(--clusters{f' {by}' * (' ' not in by)})"
    return ReadError.at(file.path, problem)


def told_apart(names: Sequence[str], *others: Sequence[str | None]) -> list[str]:
    """`names`, and beside those that occur more than once what `others` says of them."""
    result = list(names)
    for other in others:
        number = Counter(result)
        result = [
            f"{name} ({more})" if number[name] > 1 and more is not None else name
            for name, more in zip(result, other, strict=True)
        ]
    return result


def names_of(files: Sequence[File]) -> list[str]:
    """What systems are called that have a file each: its name, its folder, or a number."""
    stems = [printable(file.stem) for file in files]
    for names in (stems, [printable(PurePath(file.path).parent.name) for file in files]):
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{stem} ({number})" for number, stem in enumerate(stems, 1)]


def joined(tasks: Mapping[str, SystemScores], folder: StrPath) -> SystemScores:
    """The items of several tasks as those of one evaluation, with the grouping "task".

    A score that a task has not is None there; groupings and what must agree are those of all.
    """
    parts = list(tasks.values())
    check_memory(str(folder), PER_RECORD * sum(map(len, parts)))
    every = [(task, one, i) for task, one in tasks.items() for i in range(len(one))]
    scores = dict.fromkeys(name for one in parts for name in one.scores)
    groups = [x for x in parts[0].clusters if all(x in one.clusters for one in parts)]
    agreed = [x for x in parts[0].agree if all(x in one.agree for one in parts)]
    runs = any(one.items for one in parts) and all(one.ids for one in parts)
    digests = "".join(f"{one.file.sha256}  {one.file.name}\n" for one in parts)
    return SystemScores(
        system=parts[0].system,
        file=File(str(folder), digests.encode()),
        scores={
            x: [one.scores[x][i] if x in one.scores else None for _, one, i in every]
            for x in scores
        },
        paired_by=f"task and {parts[0].paired_by}",
        ids=[f"{task}: {one.ids[i] if one.ids else i + 1}" for task, one, i in every],
        items=[f"{task}: {(one.items or one.ids or ())[i]}" for task, one, i in every]
        if runs
        else None,
        items_by=f"task and {parts[0].items_by or parts[0].paired_by}",
        clusters={x: [f"{task}: {one.clusters[x][i]}" for task, one, i in every] for x in groups}
        | {"task": [task for task, *_ in every]},
        swapped=next((one.swapped for one in parts if one.swapped in groups), None),
        agree={x: [one.agree[x][i] for _, one, i in every] for x in agreed},
        texts=[one.texts[i] if one.texts else "" for _, one, i in every],
        notes=tuple(f"{task}: {note}" for task, one in tasks.items() for note in one.notes),
        at=[f"{one.file.name}, {one.place(i)}" for _, one, i in every].__getitem__,
    )
