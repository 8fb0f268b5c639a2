"""Many tests at once: how often each difference occurs in them, and the tails of those laws.

Each test is a law T = sum_k w_k Binomial(c_k, 1/2) and a threshold, p being P(T >= t0) or twice
that. Of up to 62 entries the labellings beyond t0 are counted, by Alg. 3 in integers; of more the
tail is summed under a tilt, as `tail` does it, in one call of the kernel for all tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import TooHard
from permtest._jit import Floats, Ints, compile_from_now_on, compiled_or, worth_compiling
from permtest.null.convolution import dp_cells, dp_rounding
from permtest.null.distribution import (
    CERTAIN,
    EPS,
    TABLE,
    UNDERFLOW,
    Probability,
    count_rows,
    from_widths,
)
from permtest.null.tail import LOOKS, UPDATES, attempts
from permtest.null.tail_kernels import upper_tails

#: What a tail takes in NumPy, in additions.
STEPS = 10**6

#: Up to so many differing pairs, numbers of labellings are counted: they fit an int64.
BITS = 62


class Tails(NamedTuple):
    """The p-values of many tests.

    `values` has the rows p, its decimal logarithm and its error bound; `counted` says where p was
    counted in integers, `hard` where it has still to be found in another way.
    """

    values: Floats
    counted: NDArray[np.bool_]
    hard: NDArray[np.bool_]


class Laws(NamedTuple):
    """What the kernel counted, with one element for each test, in its own units.

    Law i is ``starts[i] : starts[i + 1]`` of `widths` and `counts`. A `unit` of 0 marks a test
    that the kernel cannot count.
    """

    starts: Ints
    widths: Ints
    counts: Ints
    lead: Ints
    low: Ints
    unit: Ints
    top: Ints
    n_informative: Ints

    @classmethod
    def of(cls, u: Ints, v: Ints, first: Ints, second: Ints) -> Laws:
        """The laws of the tests of ``u[first[i]]`` and ``v[second[i]]``, rows of int64 scores."""
        size = first.size
        facts, starts = np.zeros((size, 6), dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        widths, counts = np.empty((2, size * min(u.shape[1], TABLE - 1)), dtype=np.int64)
        count_rows((u, v, first, second), facts, (starts, widths, counts))
        total_u, total_v, *rest = facts.T.copy()
        return cls(starts, widths, counts, total_u - total_v, *rest)

    @classmethod
    def of_counts(cls, values: Ints, times: Ints) -> Laws:
        """Of tests in which ``values[k]`` occurs ``times[i, k]`` times; values are distinct."""
        sizes, where = np.unique(np.abs(values), return_inverse=True)
        folded = np.zeros((len(times), sizes.size), dtype=np.int64)
        for column, k in zip(times.T, where.ravel().tolist(), strict=True):
            folded[:, k] += column if sizes[k] else 0
        rows, columns = folded.nonzero()
        unit = np.maximum(np.gcd.reduce(np.where(folded > 0, sizes, 0), axis=1, initial=0), 1)
        starts = np.searchsorted(rows, np.arange(len(times) + 1))
        widths, lead, top = sizes[columns] // unit[rows], times @ values, (folded @ sizes) // unit
        facts = (lead, np.zeros_like(lead), unit, top, folded.sum(axis=1))
        return cls(starts, widths, folded[rows, columns], *facts)

    @classmethod
    def unknown(cls, size: int) -> Laws:
        """Of so many tests whose scores no kernel can count."""
        none = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(size + 1, dtype=np.int64), none, none, *np.zeros((5, size), np.int64))

    def solve(self, alternative: str, *, count: bool = True) -> Tails:
        """The p-value of each; labellings of few entries are counted, unless `count` is False."""
        t0, twice = self._threshold(alternative), alternative == "two-sided"
        few = (self.unit > 0) & (self.n_informative <= BITS) & count
        tilted = (self.unit > 0) & ~few
        values, hard = self._tilted(np.where(tilted, t0, 0), twice)
        values[:, few] = self._counted(np.where(few, t0, -1), twice)[:, few]
        return Tails(values, few, hard | (self.unit == 0))

    def _threshold(self, alternative: str) -> Ints:
        """t0 such that p is P(T >= t0), for two-sided tests twice that; 0 where p = 1."""
        t = (self.lead // np.maximum(self.unit, 1) + self.top) // 2
        if alternative == "greater":
            return t
        if alternative == "less":
            return self.top - t
        upper = np.maximum(t, self.top - t)
        return np.where(2 * upper - self.top <= 1, 0, upper)  # tails that meet are everything

    def _beyond_centre(self, t0: Ints) -> Ints:
        """The threshold of the tail to compute: of the complement, where that is shorter."""
        return np.where(2 * t0 <= self.top, self.top - t0 + 1, t0)

    def _counted(self, t0: Ints, twice: bool) -> Floats:
        """p, its decimal logarithm and its error bound where t0 >= 0, from whole labellings."""
        hits, whole = np.zeros_like(t0), 2 ** np.minimum(self.n_informative, BITS)
        beyond = self._beyond_centre(t0)
        count_at_most(*self[:3], np.where(t0 >= 0, self.top - beyond, -1), hits)
        hits = np.where(2 * t0 <= self.top, whole - hits, hits)
        if twice:
            hits = np.where(t0 > 0, 2 * hits, hits)
        p = hits / whole  # an integer, rounded once, over a power of two
        return np.stack([p, [log10(x) for x in p.tolist()], np.full(len(p), EPS / 2)])

    def _tilted(self, t0: Ints, twice: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """The same where t0 > 0, from tilted laws, and 1 elsewhere; and where that is too hard."""
        tails, compiled = np.ones((len(t0), 5)), worth_compiling(STEPS * len(t0))
        if compiled:
            beyond = np.where(t0 > 0, self._beyond_centre(t0), 0)
            upper_tails(*self[:3], self.top, beyond, LOOKS, tails)
        values, hard = np.zeros((3, len(t0))), tails[:, 4] <= 0
        values[0] = 1.0
        which = ((t0 > 0) & ~hard).nonzero()[0].tolist()
        facts = [x[which].tolist() for x in (t0, self.top, self.n_informative, tails[:, :4])]
        found: Iterable[Probability | None]
        found = map(_tail, *facts) if compiled else self._in_numpy(which, t0)
        for i, p in zip(which, found, strict=True):
            if p is None:
                hard[i] = True
                continue
            p = p.plus(p) if twice else p
            values[:, i] = p.value, p.log10, p.error_bound
        return values, hard

    def _in_numpy(self, which: list[int], t0: Ints) -> Iterator[Probability | None]:
        """P(T >= t0) of some tests in NumPy; None where that is too hard."""
        law, cells = from_widths(0, *np.zeros((2, 0), dtype=np.int64)), None
        for i in which:
            part, n = slice(self.starts[i], self.starts[i + 1]), int(self.n_informative[i])
            widths, counts = self.widths[part], self.counts[part]
            if not (np.array_equal(law.widths, widths) and np.array_equal(law.counts, counts)):
                law, cells = from_widths(n, widths, counts), None
            elif cells is None and law.dp_operations() <= UPDATES:
                cells = dp_cells(law)  # neighbours may share a law, as ranks without ties do
            p = 0.0 if cells is None else float(np.sum(cells[t0[i] :]))
            if p > UNDERFLOW:
                yield Probability.of(p, dp_rounding(law))
                continue
            _, tail = next(attempts(law, int(t0[i])))
            try:
                yield tail(law, int(t0[i]))
            except TooHard:
                yield None


def _tail(t0: int, top: int, n_informative: int, found: list[float]) -> Probability:
    """P(T >= t0), as `tail_tilted` has it, from what the kernel found above the centre."""
    if t0 >= top:
        return CERTAIN.halved(n_informative)
    if 2 * t0 <= top:
        return _tail(top - t0 + 1, top, n_informative, found).complement()
    return Probability.of_product(*found)


def compile_kernels(rows: Ints | None = None) -> None:
    """Call the kernels once, before several threads do; `rows` are like the scores, but none."""
    compile_from_now_on()
    rows, none = np.zeros((0, 0), dtype=np.int64) if rows is None else rows, np.zeros(0, np.int64)
    laws = Laws.of(rows, rows, none, none)
    upper_tails(*laws[:3], laws.top, laws.top, LOOKS, np.zeros((0, 5)))
    count_at_most(*laws[:3], laws.top, laws.top)


def _count_at_most(starts: Ints, widths: Ints, counts: Ints, most: Ints, hits: Ints) -> None:
    """`count_at_most` in NumPy."""
    for r in (most >= 0).nonzero()[0].tolist():
        cells = np.zeros(most[r] + 1, dtype=np.int64)
        cells[0] = 1
        for k in range(starts[r], starts[r + 1]):
            for _ in range(counts[k]):
                cells[widths[k] :] += cells[: -widths[k]]
        hits[r] = cells.sum()


def _steps(*law: Ints) -> float:
    """What `_count_at_most` takes: some microseconds an entry, and a nanosecond a cell."""
    starts, _, counts, most, *_ = law
    # What follows in `counts` has never been written.
    return float(counts[: starts[-1]].sum()) * (4_000 + float(most.max(initial=0)))


@compiled_or(_count_at_most, _steps)
def count_at_most(starts: Ints, widths: Ints, counts: Ints, most: Ints, hits: Ints) -> None:
    """How many labellings of law r have T <= most[r], for up to 62 entries; Alg. 3 in integers.

    Entries of greater width must stay; ``hits[r]`` stays as it is where ``most[r]`` is negative.
    """
    longest = -1
    for r in range(most.size):
        longest = max(longest, most[r])
    cells = np.zeros(longest + 1, dtype=np.int64)
    for r in range(most.size):
        if most[r] < 0:
            continue
        cells[: most[r] + 1] = 0
        cells[0] = 1
        reach = 0
        for k in range(starts[r], starts[r + 1]):
            if widths[k] > most[r]:
                break
            for _ in range(counts[k]):
                reach = min(reach + widths[k], most[r])
                for t in range(reach, widths[k] - 1, -1):
                    cells[t] += cells[t - widths[k]]
        hits[r] = cells[: reach + 1].sum()
