"""What every reader makes of its files: the long table, a block of rows for each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from permtest.readers.files import File, ReadError, printable, shown

#: How items are paired that have no ids: by their order in two files, or by the row of one table.
ORDER, ROW = "order", "row"


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # in a word
    title: str  # what it is called in sentences
    rows: str  # what one item of it holds
    pairs_on: str  # what pairs the items of two systems
    example: str  # a command line that reads it
    #: Says of a file by its content whether it is of this format; quick, and never fails.
    recognises: Callable[[File], bool] = field(default=lambda _: False, repr=False)
    #: Reads a file, and the gold file where there is one.
    load: Callable[..., Sequence[SystemScores]] = field(default=lambda *_: (), repr=False)
    extra: str | None = None  # the extra of this package that must be installed
    gold: str = "none"  # or "optional", "required": whether another file says what would be right
    #: Makes a gold file of all files of the systems, where none is given.
    items_of: Callable[[Sequence[File]], File | None] | None = field(default=None, repr=False)
    names_scores: bool = False  # whether a statistic such as "las" means the score of that name


@dataclass(frozen=True, eq=False)
class SystemScores:
    """What a file says of one system: its rows of the long table, all columns of one length."""

    system: str
    file: File
    #: Name of a score -> its cell for each item: text as written, or a number; None where there is
    #: none. Where `counts` has the name: a tuple of such cells.
    scores: Mapping[str, Sequence[Any]]
    paired_by: str = ORDER  # what `ids` are, such as "doc_hash"; `ORDER` or `ROW` without them
    ids: Sequence[str] | None = None  # all different; None: the items have an order only
    clusters: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what items belong to
    swapped: str | None = None  # the grouping that is swapped as a whole unless the user objects
    counts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # such as tp, fp, fn
    #: What must be the same for all systems, such as the text of the question; and other texts: if
    #: all systems have the same ones, they must have them for the same items.
    agree: Mapping[str, Sequence[str]] = field(default_factory=dict)
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Sequence[str] | None = None  # what the items are, for people to read
    notes: tuple[str, ...] = ()  # what the reader did that one should know
    places: Sequence[str] | None = None  # where items are in the file, such as "line 3"
    gold: File | None = None  # what said what is right
    #: Name of a score -> how messages call its column in a table, or those of its counts.
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {**self.scores, **self.clusters, **self.agree}
        assert {len(column) for column in columns.values()} == {len(self)}, "columns of one length"
        if len(self) == 0:
            raise ReadError.at(self.file.path, "holds no item; check that the evaluation has run")
        if self.ids is None or len(set(self.ids)) == len(self.ids):
            return
        again = next(i for i in range(len(self)) if self.positions[self.ids[i]] != i)
        name, last = self.ids[again], self.positions[self.ids[again]]
        where = f" ({self.places[again]} and {self.places[last]})" if self.places else ""
        raise ReadError.at(
            self.file.path,
            f"{shown(name)} occurs twice as {self.paired_by}{where}; remove one, name the "
            "column that tells repeats apart (--repeat), or swap them together (--clusters)",
        )

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each id is."""
        return dict(zip(self.ids or (), range(len(self)), strict=False))

    def place(self, i: int) -> str:
        """How messages call an item."""
        if self.places is not None:
            return self.places[i]
        return f"item {i + 1}" if self.ids is None else shown(self.ids[i])

    def error(self, i: int, problem: str, score: str = "", part: int = 0) -> ReadError:
        """The error of an item, or of one of its scores, or of one count."""
        column = self.columns[score][part] if score in self.columns else None
        place = ", ".join(filter(None, (self.place(i), column)))
        return ReadError.at(self.file.path, problem, column=place)


# ---- names ---------------------------------------------------------------------------------------


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
    for names in (stems, [printable(file.folder) for file in files]):
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{stem} ({number})" for number, stem in enumerate(stems, 1)]


def did_you_mean(wanted: object, names: Sequence[str]) -> str:
    """A phrase with names that are nearly right, or ""."""
    close = get_close_matches(str(wanted), list(names), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def listed(names: Sequence[str], most: int = 30) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
