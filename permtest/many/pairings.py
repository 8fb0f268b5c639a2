"""Which tests are made: all pairs on all data sets, in parts that can be taken up again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest._progress import progress
from permtest.many.pairwise import Ints, Outcome, blocks, solve_blocks
from permtest.many.store import Store, fingerprint, pair_names
from permtest.many.table import ScoreTable

#: Pairs of systems, times data sets, at most; each takes some hundred bytes.
MOST_TESTS = 10**7

#: The number of a data set, and the numbers of some pairs.
Part: TypeAlias = "tuple[int, range]"


class Pairings(NamedTuple):
    """What is compared, on every data set.

    Parameters
    ----------
    tables : mapping of str to ScoreTable
        By the names of the data sets.
    first, second : ndarray of shape (P,)
        Numbers of the systems of each pair.
    alternative : str
    seed : int
        What random labellings start from.
    numbers : tuple of int
        Those of the data sets, for the seeds: a part of a board keeps them.
    """

    tables: Mapping[str, ScoreTable]
    first: Ints
    second: Ints
    alternative: str
    seed: int
    numbers: tuple[int, ...]

    @classmethod
    def of(
        cls, tables: Mapping[str, ScoreTable], baseline: str | None, alternative: str, seed: int
    ) -> Pairings:
        """All pairs, or all against one; MemoryError if they are too many."""
        systems = next(iter(tables.values())).systems
        size = len(systems)
        number = (size - 1 if baseline is not None else size * (size - 1) // 2) * len(tables)
        if number > MOST_TESTS:
            raise MemoryError(
                f"{number:,} tests are more than {MOST_TESTS:,}; compare all systems with a "
                "baseline, or the best ones with each other: systems=[...]"
            )
        if baseline is None:
            first, second = np.triu_indices(size, 1)
            first, second = first.astype(np.int64), second.astype(np.int64)
            return cls(tables, first, second, alternative, seed, tuple(range(len(tables))))
        if baseline not in systems:
            raise ValueError(f"baseline={baseline!r} is no system; there are {', '.join(systems)}")
        where = systems.index(baseline)
        others = np.array([i for i in range(size) if i != where], dtype=np.int64)
        same = np.full(size - 1, where, dtype=np.int64)
        return cls(tables, others, same, alternative, seed, tuple(range(len(tables))))

    @property
    def parts(self) -> list[Part]:
        """All tests, in the blocks in which they are made."""
        tables = enumerate(self.tables.values())
        return [(k, block) for k, table in tables for block in blocks(table, self.first.size)]

    def opened(self, path: Any, seeded: bool) -> Store:
        """The folder that keeps what is found; see `Store.open`."""
        tables, parts = list(self.tables.values()), self.parts
        about = {
            "systems": list(tables[0].systems),
            "data_sets": list(self.tables),
            "metric": tables[0].statistic.name,
            "alternative": self.alternative,
            "files": len(parts),
        }
        pairs = [self.first.tolist(), self.second.tolist()]
        digest = fingerprint(tables, parts, pairs=pairs, entry=repr(tables[0].statistic), **about)
        return Store.open(path, about | {"fingerprint": digest}, self.seed, seeded)

    def outcomes(self, store: Store | None = None) -> list[Outcome]:
        """What is found on each data set; what a store has already is not computed again."""
        every = progress(self._each(store), total=len(self.parts), what="exact tests")
        found: list[list[Outcome]] = [[] for _ in self.tables]
        for k, outcome in every:
            found[k].append(outcome)
        return [Outcome.joined(some) for some in found]

    def _each(self, store: Store | None) -> Iterator[tuple[int, Outcome]]:
        """The number of the data set, and what is found about each block of pairs."""
        for k, table in enumerate(self.tables.values()):
            every = blocks(table, self.first.size)
            todo = [block for block in every if store is None or not store.has((k, block))]
            missing = set(todo)
            with closing(self._solved(k, table, todo)) as fresh:
                for block in every:
                    if store is not None and block not in missing:
                        yield k, store.load((k, block))
                        continue
                    outcome = next(fresh)
                    if store is not None:
                        store.save((k, block), outcome, self._labels(k, block))
                    yield k, outcome

    def _solved(self, k: int, table: ScoreTable, todo: list[range]) -> Generator[Outcome]:
        how: dict[str, Any] = {
            "alternative": self.alternative,
            "seed": (self.seed, 1, self.numbers[k]),
        }
        return solve_blocks(table, self.first, self.second, todo, **how)

    def _labels(self, k: int, block: range) -> dict[str, list[Any]]:
        """Columns that say which tests these are."""
        where = slice(block.start, block.stop)
        names = list(self.tables)
        systems = self.tables[names[k]].systems
        pairs = pair_names(systems, self.first[where], self.second[where])
        return {"data_set": [names[k]] * len(block)} | pairs
