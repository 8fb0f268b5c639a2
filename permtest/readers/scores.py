"""What a reader makes of a file: the scores of a system, item by item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from permtest.readers.cells import shown
from permtest.readers.files import File, ReadError

#: Where items are paired by their order, for want of ids.
ORDER = "order"


@dataclass(frozen=True)
class Format:
    """A format of files.

    Parameters
    ----------
    name : str
        In a word.
    title : str
        What it is called in sentences.
    rows : str
        What an item of it holds.
    pairs_on : str
        By what the items of two systems are paired.
    example : str
        A command line that reads it.
    recognises : callable
        Says of a `File` by its content whether it is of this format; quick, and never fails. By
        default no file is.
    load : callable
        Reads a `File`, and the gold `File` where `gold` is "required" or one is given, into a
        sequence of `SystemScores`; raises `ReadError`. Tables have none: see `tables`.
    extra : str or None
        The extra of this package that must be installed.
    gold : {"none", "optional", "required"}
        Whether a file says what would be right.
    items_of : callable or None
        Makes a gold `File` of all files of the systems, where none is given.
    names_scores : bool
        Whether the names of scores are those of the format, so that a statistic such as "las"
        means the score of that name and no other.
    """

    name: str
    title: str
    rows: str
    pairs_on: str
    example: str
    recognises: Callable[[File], bool] = field(default=lambda _: False, repr=False)
    load: Callable[..., Sequence[SystemScores]] = field(default=lambda *_: (), repr=False)
    extra: str | None = None
    gold: str = "none"
    items_of: Callable[[Sequence[File]], File | None] | None = field(default=None, repr=False)
    names_scores: bool = False


@dataclass(frozen=True, eq=False)
class SystemScores:
    """What a file says of one system.

    Parameters
    ----------
    system : str
        What the system is called.
    file : File
        Where it comes from.
    scores : mapping of str to sequence
        Name of a score -> its value for each item: an int, float, bool, Decimal or Fraction; a
        tuple of whole numbers where `counts` has that name; None where the item has none.
    paired_by : str
        What `ids` are, such as "doc_hash"; `ORDER` where there are none.
    ids : sequence of str, or None
        All different. None: the items have an order only.
    clusters : mapping of str to sequence of str
        Name of a grouping -> what each item belongs to.
    swapped : str or None
        The grouping whose groups have to be swapped as a whole unless the user says otherwise,
        such as the sample of several epochs.
    counts : mapping of str to tuple of str
        Name of a score -> names of its counts, such as tp, fp, fn.
    agree : mapping of str to sequence of str
        What must be the same for both systems, such as the words of a sentence or the target.
    texts : sequence of str, or None
        What the items are, shortened, for people to read.
    notes : tuple of str
        What the reader did that one should know, such as a rule of repair.
    places : sequence of str, or None
        Where each item is in the file, such as "line 3", for messages.
    gold : File or None
        What said what is right.
    """

    system: str
    file: File
    scores: Mapping[str, Sequence[Any]]
    paired_by: str = ORDER
    ids: Sequence[str] | None = None
    clusters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    swapped: str | None = None
    counts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    agree: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Sequence[str] | None = None
    notes: tuple[str, ...] = ()
    places: Sequence[str] | None = None
    gold: File | None = None

    def __post_init__(self) -> None:
        columns = {**self.scores, **self.clusters, **self.agree}
        assert {len(column) for column in columns.values()} == {len(self)}, "columns of one length"
        if len(self) == 0:
            raise ReadError.at(self.file.path, "holds no item; check that the evaluation has run")
        for name, i, first in self._repeated():
            places = self.places
            where = f" ({places[first]} and {places[i]})" if places else ""
            raise ReadError.at(
                self.file.path,
                f"{shown(name)} is the {self.paired_by} of two items{where}; an item must occur "
                "once for each system: remove one of them, or give each an id of its own",
            )

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())))

    def _repeated(self) -> list[tuple[str, int, int]]:
        """The first id that occurs twice, with both places."""
        if len(self.positions) == len(self.ids or ()):
            return []
        seen: dict[str, int] = {}
        for i, name in enumerate(self.ids or ()):
            if seen.setdefault(name, i) != i:
                return [(name, i, seen[name])]
        return []

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each id is."""
        return dict(zip(self.ids or (), range(len(self)), strict=False))

    @property
    def keys(self) -> Sequence[Any]:
        """What tells items apart: ids, or their order."""
        return range(len(self)) if self.ids is None else self.ids

    def scored(self, name: str) -> dict[Any, int]:
        """Where the items are that have this score."""
        values = self.scores[name][:]  # at once: a lazy column is slow one by one
        both = zip(self.keys, values, strict=True)
        return {key: i for i, (key, value) in enumerate(both) if value is not None}

    def only(self, name: str, rows: list[int]) -> SystemScores:
        """One score of the items in some rows."""
        if rows == list(range(len(self))):
            return replace(self, scores={name: self.scores[name]})

        def some(column: Sequence[Any]) -> list[Any]:
            values = column[:]
            return [values[i] for i in rows]

        return replace(
            self,
            scores={name: some(self.scores[name])},
            ids=None if self.ids is None else some(self.ids),
            clusters={key: some(labels) for key, labels in self.clusters.items()},
            agree={key: some(labels) for key, labels in self.agree.items()},
            texts=None,
            places=None if self.places is None else some(self.places),
        )

    def place(self, i: int) -> str:
        """How messages call an item."""
        if self.places is not None:
            return self.places[i]
        return f"item {i + 1}" if self.ids is None else shown(self.ids[i])


def renamed(found: Sequence[SystemScores], names: Sequence[str]) -> tuple[SystemScores, ...]:
    """The same with names that all differ: those of the systems, or `names` where they do not."""
    systems = [one.system for one in found]
    if len(set(systems)) == len(systems):
        return tuple(found)
    return tuple(replace(one, system=name) for one, name in zip(found, names, strict=True))
