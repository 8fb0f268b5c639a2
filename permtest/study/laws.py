"""The exact test of many rows of differences, or of data known by their counts alone.

As in `permtest.null.batch`, a p-value is a tail of the law of a sum of few distinct widths. Here
the law may come from counts without any rows, the widths may be as large as ranks are, and what
takes the least time is chosen for each row: no digits are promised beyond the eleventh.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import SAFE, largest
from permtest._parallel import in_parallel, is_worker
from permtest._progress import progress
from permtest.exact import exact_perm_test
from permtest.null.batch import WORK, Laws
from permtest.null.dp import add_steps
from permtest.null.tail_kernels import upper_tails

#: Differences that are no decimals are rounded to multiples of their mean magnitude over this ...
LEVELS = 16

#: ... but never finer than to a thousandth of the largest one.
FINEST = 1000

#: Cells that dynamic programming may update for one test before the tilted tail is tried, a third
#: of a millisecond. The tail is up to three times as quick, but gives up, after a hundred times as
#: long, where some hundred ranks are all different but for a few.
UPDATES = 10**6

#: Where a few widths are as large as this, the sums of all but the commonest are listed instead, if
#: there are no more than so many, and no more of the commonest: midranks of scores with many ties.
WIDE, LISTED = 64, 20_000

#: Numbers that are held at a time (8 MB).
AT_ONCE = 2**20

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def lattice(d: Floats) -> Ints:
    """Rows of differences rounded to integers, each in a unit of its own (see `pvalues`)."""
    size = np.abs(d)
    largest_one = size.max(axis=1, keepdims=True)
    unit = np.maximum(size.mean(axis=1, keepdims=True) / LEVELS, largest_one / FINEST)
    return np.rint(d / np.where(unit > 0, unit, 1.0)).astype(np.int64)


def exact_rows(steps: NDArray[Any], alternative: str) -> Floats:
    """p of the exact test of each row of integers."""
    if steps.dtype == object:
        unit = gcd(*steps.ravel().tolist()) or 1
        steps = steps // unit
        if largest(steps) * steps.shape[1] >= SAFE:
            return _one_by_one(steps, alternative)
        steps = steps.astype(np.int64)
    blocks = _blocks(steps, 32)  # none of which Ctrl-C has to wait for long
    _compile()
    found = in_parallel(_exact_block, blocks, alternative)
    return np.concatenate([np.empty(0), *progress(found, total=len(blocks), what="exact tests")])


def _blocks(rows: Ints, number: int) -> list[Ints]:
    """So many blocks of rows, or more where they are large; which row is where changes no p."""
    size, n = rows.shape
    each = max(min(AT_ONCE // max(n, 1), size if is_worker() else -(-size // number)), 1)
    return [rows[i : i + each] for i in range(0, size, each)]


def _one_by_one(steps: NDArray[Any], alternative: str) -> Floats:
    """The same for integers of any size."""
    options: Any = {"axis": 1, "alternative": alternative}
    found: Floats = exact_perm_test(steps, np.zeros_like(steps), **options).pvalue
    return found.copy()


def _exact_block(steps: Ints, alternative: str) -> Floats:
    """Count how often each difference occurs in each row, and look at its law."""
    low, high = int(steps.min()), int(steps.max())
    cells = high - low + 1
    if cells <= 4 * steps.shape[1] + 4096:
        values, codes = np.arange(low, high + 1), steps - low
    else:
        values, codes = np.unique(steps, return_inverse=True)
        codes, cells = codes.reshape(steps.shape), values.size
    p = np.empty(steps.shape[0])
    each = max(AT_ONCE // cells, 1)
    for start in range(0, steps.shape[0], each):
        some = codes[start : start + each]
        flat = (some + cells * np.arange(some.shape[0])[:, None]).ravel()
        counts = np.bincount(flat, minlength=cells * some.shape[0]).reshape(-1, cells)
        p[start : start + each] = _law_block(counts, values, alternative)
    return p


def law_pvalues(values: Ints, counts: Ints, alternative: str = "two-sided") -> Floats:
    """p of the exact test for data sets that are known by how often each difference occurs.

    Parameters
    ----------
    values : ndarray of shape (U,), int64
        Differences, distinct.
    counts : ndarray of shape (experiments, U), int64
        How often each occurs.
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    ndarray of shape (experiments,)

    Notes
    -----
    Few entries are convolved (Alg. 3), others have their tail summed under a tilted law, whatever
    takes less time; the cost does not depend on how many pairs there are. Relative error below
    1e-11.
    """
    _compile()
    found = in_parallel(_law_block, _blocks(counts, 8), values, alternative)
    return np.concatenate([np.empty(0), *found])


def _law_block(counts: Ints, values: Ints, alternative: str) -> Floats:
    widths, where = np.unique(np.abs(values), return_inverse=True)
    folded = np.zeros((counts.shape[0], widths.size), dtype=np.int64)
    for k in range(values.size):  # at most two values fall together
        folded[:, where[k]] += counts[:, k]
    if widths.size and widths[0] == 0:
        widths, folded = widths[1:], folded[:, 1:]
    p = _Laws.of_counts(widths, folded, counts @ values).pvalues(alternative)
    for i in np.flatnonzero(np.isnan(p)):
        row = np.repeat(values, counts[i])
        p[i] = _one_by_one(row[None, :], alternative)[0]
    return p


def _compile() -> None:
    """Call the kernels once before several threads do."""
    none, floats = np.zeros(1, dtype=np.int64), np.zeros(1)
    upper_tails(none, none[1:], none[1:], none[1:], none[1:], WORK, np.zeros((0, 5)))
    add_steps(none[1:], none[1:], floats[1:], floats[1:], 1, floats, floats.copy())


class _Laws(Laws):
    """Laws of which the quickest way to p is taken, known by how often each width occurs."""

    @classmethod
    def of_counts(cls, widths: Ints, counts: Ints, lead: Ints) -> _Laws:
        """From one row of counts for each law; widths ascend."""
        there = counts > 0
        unit = np.maximum(np.gcd.reduce(np.where(there, widths, 0), axis=1), 1)
        rows, columns = np.nonzero(there)
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))])
        own, top = widths[columns] // unit[rows], (counts @ widths) // unit
        facts = lead, np.zeros_like(lead), unit, top, counts.sum(axis=1)
        return cls(starts.astype(np.int64), own, counts[there], *facts)

    def pvalues(self, alternative: str) -> Floats:
        """p of each; NaN where that takes more than it may here."""
        t0 = self._threshold(alternative)
        p = self.tails(t0)
        return np.where(t0 > 0, 2 * p, p) if alternative == "two-sided" else p

    def tails(self, t0: Ints) -> Floats:
        """P(T >= t0)."""
        low, beyond = 2 * t0 <= self.top, self._beyond_centre(t0)
        p = np.zeros(t0.size)
        cells = self.top - beyond + 1  # as many as P(T <= top - beyond) has, which is the same
        quick = cells <= UPDATES // np.maximum(self.n_informative, 1)  # a product could overflow
        for i in np.flatnonzero((cells > 0) & quick):
            p[i] = self.convolved(int(i), int(cells[i]))
        for i in np.flatnonzero((cells > 0) & ~quick & self.few()):
            p[i] = self.listed(int(i), int(beyond[i]))
            quick[i] = True
        self.tilt(np.where(quick, 0, beyond), p)
        return np.where(low, 1.0 - p, p)

    def convolved(self, i: int, cells: int) -> float:
        """P(T < cells) by dynamic programming on these cells alone."""
        some = slice(self.starts[i], self.starts[i + 1])
        table, spare = np.zeros(cells), np.zeros(cells)
        table[0] = 1.0
        halves = np.full(self.starts[i + 1] - self.starts[i], 0.5)
        widths, counts = self.widths[some], self.counts[some]
        flipped, _ = add_steps(widths, counts, halves, halves, 1, table, spare)
        return float((spare if flipped else table).sum())

    def few(self) -> NDArray[np.bool_]:
        """Which laws have so few sums of all but the commonest width that they can be listed."""
        found = np.zeros(self.top.size, dtype=bool)
        for i in np.flatnonzero(np.diff(self.starts) <= 14):
            some = slice(self.starts[i], self.starts[i + 1])
            counts = sorted(self.counts[some].tolist())
            wide = counts and self.widths[some.stop - 1] >= WIDE
            short = wide and counts[-1] <= LISTED
            found[i] = short and prod(c + 1 for c in counts[:-1]) <= LISTED
        return found

    def listed(self, i: int, t0: int) -> float:
        """P(T >= t0) from all sums of the other widths, and the tail of the commonest one."""
        some = slice(self.starts[i], self.starts[i + 1])
        groups = sorted(zip(self.counts[some].tolist(), self.widths[some].tolist(), strict=True))
        sums, shares = np.zeros(1, dtype=np.int64), np.ones(1)
        for count, width in groups[:-1]:
            sums = np.add.outer(sums, width * np.arange(count + 1)).ravel()
            shares = np.multiply.outer(shares, _fair_coins(count)[0]).ravel()
        count, width = groups[-1]
        least = np.clip(-((sums - t0) // width), 0, count + 1)
        return float(shares @ _fair_coins(count)[1][least])

    def tilt(self, t0: Ints, p: Floats) -> None:
        """Set p = P(T >= t0) where t0 > 0; NaN where that is too hard."""
        asked = t0 > 0
        width = np.zeros(t0.size)
        some = self.n_informative > 0
        width[some] = self.widths[self.starts[1:][some] - 1]
        points = np.minimum(self.top + 1.0, 11.0 * width * np.sqrt(self.n_informative))
        fits = (self.top < 2.0**53) & (width * points <= 2.0**62)
        end = t0 >= self.top
        found = np.ones((t0.size, 5))
        where = np.where(asked & fits & ~end, t0, 0)
        upper_tails(self.starts, self.widths, self.counts, self.top, where, WORK, found)
        high, low, factor, _, left = found.T
        with np.errstate(under="ignore"):
            tails = np.exp(high / 2) * (1 + low) * factor * np.exp(high / 2)
            tails = np.where(end, 0.5**self.n_informative, tails)
        p[asked] = np.where((fits & (left > 0)) | end, tails, np.nan)[asked]


@lru_cache(maxsize=512)
def _fair_coins(n: int) -> tuple[Floats, Floats]:
    """P(k heads in n throws) for k = 0, ..., n, and P(at least k) for k = 0, ..., n + 1."""
    from scipy.stats import binom

    shares = np.asarray(binom.pmf(np.arange(n + 1), n, 0.5))
    return shares, np.append(np.cumsum(shares[::-1])[::-1], 0.0)
