"""Westfall and Young's step-down max-T: adjusted p-values that know how the pairs hang together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permtest._integers import IntArray, roomy
from permtest._jit import Floats, Ints, jit
from permtest._parallel import in_parallel
from permtest._progress import progress
from permtest._rng import RNG, as_generator, seeds, stream
from permtest.alternatives.resamples import check_resamples
from permtest.many.coins import CELLS, EXACT, Coins, Items, differences, digits_needed
from permtest.many.table import ScoreTable
from permtest.measures import Measure
from permtest.statistics import Statistic, check_alternative
from permtest.structured import NEAR

#: Labellings of one stream of random numbers, and those that the kernel looks at together.
BLOCK, TILE = 1024, 128
#: Statistics that differ by less, relative to what was observed, count as ties.
TIE = 2.0**-48


class MaxT(NamedTuple):
    """Adjusted p-values of all pairs on all data sets.

    Parameters
    ----------
    adjusted : ndarray of shape (D, P)
    exact : bool
        Whether all labellings were listed, so that nothing is left to chance.
    K : int
        How many labellings were listed, or else drawn.
    """

    adjusted: Floats
    exact: bool
    K: int


@dataclass(frozen=True, eq=False)
class _Family:
    """All hypotheses: which rows of the sums of all data sets they compare, and how.

    There are `size` labellings: all, or, where there is an `origin`, so many random ones besides
    the observed one. `totals` are the sums of each system, for a `measure`; `least` is what counts
    as extreme.
    """

    size: int
    origin: np.random.SeedSequence | None
    coins: tuple[Coins, ...]
    digits: int
    first: Ints
    second: Ints
    two_sided: bool
    measure: Measure | None
    totals: Floats
    weights: Floats
    least: Floats

    @property
    def observed(self) -> Floats:
        """The sums of the observed labelling."""
        return np.concatenate([self.shaped(x.observed[:, None]) for x in self.coins], axis=1)

    def chunks(self) -> list[range]:
        """The numbers of the labellings that are looked at together, whoever does it."""
        return [range(x, min(x + BLOCK, self.size)) for x in range(0, self.size, BLOCK)]

    @property
    def seen(self) -> int:
        """How many labellings there are with the observed one."""
        return self.size + (self.origin is not None)

    def sums(self, chunk: range) -> Floats:
        """Those of other labellings, of shape (digits, D S, m, labellings)."""
        parts = []
        if self.origin is None:
            numbers = np.arange(chunk.start, chunk.stop)
            for one in self.coins:
                parts.append(one.listed(numbers))
                numbers >>= one.size
        else:
            rng = stream(self.origin, chunk.start)
            parts = [one.toss(rng, len(chunk)) for one in self.coins]
        return np.concatenate([self.shaped(x) for x in parts], axis=1)

    def shaped(self, sums: Floats) -> Floats:
        """Those of one data set."""
        return sums.reshape(self.digits, -1, self.totals.shape[1], sums.shape[1])

    def gaps(self, sums: Floats) -> Floats:
        """What is compared of each pair under each labelling, before it is standardised."""
        first, second = self.first, self.second
        if self.measure is None:
            gaps = differences(sums[:, :, 0], first, second)
        else:
            x, totals = sums[0].transpose(0, 2, 1), self.totals[:, None]
            mean, half = (totals[first] + totals[second]) / 2, (x[first] - x[second]) / 2
            both = [(mean + side * half).reshape(-1, x.shape[2]) for side in (1, -1)]
            gaps = self.measure.values(both[0]) - self.measure.values(both[1])
            gaps = gaps.reshape(half.shape[:2])
        return np.abs(gaps) if self.two_sided else gaps

    def tiles(self, sums: Floats) -> Iterator[Floats]:
        """Some labellings at a time."""
        step = TILE if self.quick else max(1, CELLS // max(self.first.size * sums.shape[2], 1))
        for start in range(0, sums.shape[3], step):
            yield np.ascontiguousarray(sums[..., start : start + step])

    @property
    def quick(self) -> bool:
        """Whether the kernel can do all of it."""
        return self.measure is None and self.digits == 1

    def hits(self, sums: Floats) -> Ints:
        """Under how many labellings the maximum from each hypothesis on is extreme for it."""
        counts = np.zeros(self.first.size, dtype=np.int64)
        sign = -1.0 if self.two_sided else 1.0
        how = (self.first, self.second, self.weights, sign, self.least, counts)
        for tile in self.tiles(sums):
            if self.quick:
                count_maxima(tile[0, :, 0], *how)
                continue
            gaps = self.gaps(tile)
            if self.measure is not None:
                gaps += NEAR * max(1.0, float(np.abs(gaps).max(initial=0.0)))
            # Values that are there already are differences from a last row of zeros.
            rows = np.append(gaps, np.zeros((1, gaps.shape[1])), axis=0)
            every = np.arange(len(gaps))
            last = np.full_like(every, len(gaps))
            count_maxima(rows, every, last, self.weights, 1.0, self.least, counts)
        return counts

    def ranked(self, spread: Floats) -> tuple[Ints, _Family]:
        """The hypotheses that differ at all, the clearest first, and which ones they are."""
        weights = 1 / np.where(spread > 0, spread, 1.0)
        seen = self.gaps(self.observed)[:, 0] * weights
        order = np.argsort(np.where(spread > 0, -seen, np.inf), kind="stable")
        order = order[: np.count_nonzero(spread)]
        return order, replace(
            self,
            first=self.first[order],
            second=self.second[order],
            weights=weights[order],
            least=seen[order] - TIE * np.abs(seen[order]),
        )


def max_t(
    tables: Sequence[ScoreTable],
    first: Ints,
    second: Ints,
    *,
    alternative: str = "two-sided",
    K: int = 10_000,
    rng: RNG = None,
) -> MaxT:
    """Adjusted p-values of one family of hypotheses: all pairs on all data sets.

    Parameters
    ----------
    tables : sequence of D ScoreTable
        Of the same systems and statistic.
    first, second : ndarray of shape (P,)
        The systems of each pair, by number.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the first one of each pair scores more.
    K : int, default 10_000
        Number of random labellings, from 1 to 10**7. If there are no more than that at all, they
        are listed.
    rng : numpy.random.Generator, int or None
        Makes the labellings reproducible, whatever the number of workers.

    Returns
    -------
    MaxT
        For C labellings in which the maximum is at least as extreme: (C + 1) / (K + 1), which is
        never 0; C / K where all are listed. 1 for a pair that never differs.

    Raises
    ------
    TypeError, ValueError
        If K is out of range, or scores are too large.

    Notes
    -----
    Free step-down (Westfall and Young 1993, Alg. 4.1). The statistic of a pair is its difference
    over the standard deviation of that: for sums the one of the null law, ``sqrt(sum_n d_n**2)``,
    for measures such as F1 the one among all labellings looked at. Ties are decided with a
    tolerance of 4e-15, of measures 1e-12, that can only make p larger. Coins of different data
    sets are independent.

    The familywise error is controlled if the differences between equal systems are jointly
    symmetric about 0. Where those systems are exchangeable and no more, so that each difference
    is symmetric by itself, that is approximate, the closer the more items there are;
    ``python -m benchmarks.familywise`` measures by how much.

    Time O(K (N S / 8 + P)) for N items that differ, or less where many of them differ alike.
    """
    check_alternative(alternative)
    size = check_resamples(K)
    measure, every = _addends(tables)
    if measure is not None:
        _check_counts(every)
    items = [Items.of(x, scaled=measure is None) for x in every]
    digits = digits_needed(items)
    informative = sum(x.size for x in items)
    listed = informative < 62 and 2**informative <= size
    a, b = (second, first) if alternative == "less" else (first, second)
    shift = len(every[0]) * np.arange(len(tables))[:, None]
    family = _Family(
        2**informative if listed else size,
        None if listed else seeds(as_generator(rng)),
        tuple(x.coins(digits, listed=listed) for x in items),
        digits,
        (a + shift).ravel(),
        (b + shift).ravel(),
        alternative == "two-sided",
        measure,
        np.concatenate([x.astype(np.float64).sum(axis=1) for x in every]),
        *(np.ones(first.size * len(tables)),) * 2,
    )
    if measure is None:
        spread = np.concatenate([x.spread(first, second, digits) for x in items])
    else:
        spread = _spread(family)
    order, family = family.ranked(spread)
    adjusted = np.ones(spread.size)
    adjusted[order] = _step_down(family)
    return MaxT(adjusted.reshape(len(tables), -1), listed, family.size)


def _check_counts(every: Sequence[IntArray]) -> None:
    for k, counts in enumerate(every):
        if counts.size and float(np.abs(counts.astype(np.float64)).sum(axis=1).max()) >= EXACT:
            raise ValueError(
                f"tables[{k}] has counts that add up to {EXACT} or more, which correction='max_t' "
                "cannot do; divide them by a power of ten, or choose 'holm'"
            )


def _addends(tables: Sequence[ScoreTable]) -> tuple[Measure | None, list[IntArray]]:
    """The measure, None for sums, and what is added up, of shape (S, N, m) for each data set."""
    measure, every = None, []
    for table in tables:
        folded, entry = table.folded, table.statistic
        if isinstance(entry, Statistic):
            every.append(roomy(folded.scores)[:, :, None])
            continue
        found = [entry.measure(folded.pairs(i, i - 1)) for i in range(len(folded.systems))]
        measure = found[0][0]
        every.append(np.stack([addends for _, addends, _ in found]))
    return measure, every


def _spread(family: _Family) -> Floats:
    """The standard deviation about 0 over all labellings looked at; 0 where none differs."""
    squares = np.zeros(family.first.size)
    if family.origin is not None:
        squares += np.square(family.gaps(family.observed)[:, 0])
    chunks = family.chunks()
    every = in_parallel(_squares, chunks, family)
    for part in progress(every, total=len(chunks), what="spread of all pairs"):
        squares += part
    spread = np.sqrt(squares / family.seen)
    return np.where(spread > NEAR, spread, 0.0)


def _squares(chunk: range, family: _Family) -> Floats:
    squares = np.zeros(family.first.size)
    for tile in family.tiles(family.sums(chunk)):
        squares += np.square(family.gaps(tile)).sum(axis=1)
    return squares


def _step_down(family: _Family) -> Floats:
    """Adjusted p-values in the order of the hypotheses, in which they never fall."""
    counts = family.hits(family.observed)  # compiles the kernel before there are threads
    if family.origin is None:
        counts[:] = 0  # it is in the list
    chunks = family.chunks()
    every = in_parallel(_hits, chunks, family)
    for part in progress(every, total=len(chunks), what="largest differences"):
        counts += part
    return np.maximum.accumulate(counts / family.seen)


def _hits(chunk: range, family: _Family) -> Ints:
    return family.hits(family.sums(chunk))


@jit
def count_maxima(
    sums: Floats,
    first: Ints,
    second: Ints,
    weights: Floats,
    sign: float,
    least: Floats,
    counts: Ints,
) -> None:
    """Add to ``counts[m]`` in how many columns the values from the m-th on have `least[m]` or more.

    They are ``max(v, sign * v)`` with ``v = (sums[first] - sums[second]) * weights``, and never
    held: there are far more pairs than sums. Going up row by row, the maximum so far is written to
    another array than it is read from; in one array it would be stored only where it rises, which
    no compiler makes fast.
    """
    highest = np.full((2, sums.shape[1]), -np.inf)
    for m in range(first.size - 1, -1, -1):
        a, b, weight = sums[first[m]], sums[second[m]], weights[m]
        old, new = highest[m % 2], highest[1 - m % 2]
        bound, hits = least[m], 0
        for x in range(a.size):
            value = (a[x] - b[x]) * weight
            other = sign * value
            value = value if value > other else other
            top = value if value > old[x] else old[x]
            new[x] = top
            hits += top >= bound
        counts[m] += hits
