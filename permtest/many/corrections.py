"""P-values of many comparisons, adjusted so that their number does not mislead; max-T.

An adjusted p-value is the smallest level at which the correction rejects the hypothesis: compare
it with alpha, whatever the number of tests. Exact p-values of permutation tests are discrete,
which makes the corrections that see nothing but p more cautious, never less.

Westfall and Young's max-T looks at the scores, too, and learns how the tests hang together. Where
the differences of equally good systems are jointly symmetric about 0, an item may turn all of them
around at once: d_ij becomes -d_ij for all i and j. So one fair coin for each item gives the sum of
every pair as R_i - R_j, with R_i the sum over the items of a random sign times what system i has
there. Joint symmetry is more than that systems are exchangeable on every item, under which the test
of each pair is exact; with that alone max-T keeps its level only nearly. Only differences between
systems matter, and items that differ alike, up to the sign, need not be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._jit import Floats, Ints, compiled_or
from permtest._parallel import in_parallel, progress, seeds, stream
from permtest.integers import IntArray, largest, roomy
from permtest.many.table import ScoreTable
from permtest.question import NEAR, TIE
from permtest.statistics import MeanOfRatios


class Correction(NamedTuple):
    """A correction: its title for sentences, what it keeps below alpha, and for which tests."""

    title: str
    controls: str
    holds: str


#: Corrections for the number of tests by name: what each controls, and when.
CORRECTIONS = {
    "holm": Correction("Holm", "familywise error", "whatever the dependence"),
    "bh": Correction(
        "Benjamini-Hochberg",
        "false discovery rate",
        "if tests are independent or depend positively",
    ),
    "max_t": Correction(
        "Westfall-Young max-T",
        "familywise error",
        "if differences are jointly symmetric, and nearly so if there are many items",
    ),
    "none": Correction("no correction", "error of each test by itself", "whatever the dependence"),
}


def check_correction(name: str) -> None:
    """Raise ValueError unless `name` is one of `CORRECTIONS`."""
    if not isinstance(name, str) or name not in CORRECTIONS:
        known = ", ".join(map(repr, CORRECTIONS))
        hint = "; 'holm' controls the same error, and finds more" if name == "bonferroni" else ""
        raise ValueError(f"correction={name!r} is not known; choose one of {known}{hint}")


def adjusted_pvalues(pvalue: Any, correction: str = "holm") -> Floats:
    """Adjust the p-values of one family of tests.

    Parameters
    ----------
    pvalue : array_like of float
        Of any shape, in (0, 1]; all of them are one family.
    correction : {"holm", "bh", "none"}, default "holm"
        As in `CORRECTIONS`; "max_t" needs the scores and is not made here.

    Returns
    -------
    ndarray of float64
        Of the same shape, in (0, 1]; no p-value becomes smaller, and their order stays.

    Raises
    ------
    TypeError, ValueError
        If the correction is unknown, or a p-value is none; the message says which.

    Notes
    -----
    O(m log m) for m tests. Where p stands at the smallest float, 5e-324, for something smaller,
    what is returned is an upper bound.

    References
    ----------
    Holm (1979); Benjamini & Hochberg (1995).

    Examples
    --------
    >>> from permtest.many import adjusted_pvalues
    >>> adjusted_pvalues([0.03125, 0.5, 0.0078125]).tolist()
    [0.0625, 0.5, 0.0234375]
    """
    check_correction(correction)
    p = _as_pvalues(pvalue)
    if correction == "max_t":
        raise ValueError(
            "correction='max_t' samples swaps of the scores, so it cannot work from p-values; "
            "call compare_many(table, correction='max_t')"
        )
    if correction == "none" or p.size == 0:
        return p
    if correction == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p, axis=None, method="bh")).reshape(p.shape)
    order = np.argsort(p, axis=None)
    steps = np.maximum.accumulate(p.ravel()[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted.reshape(p.shape)


def _as_pvalues(pvalue: Any) -> Floats:
    """A copy, or an error that names the first that is no p-value of an exact test."""
    given = np.asarray(pvalue)
    if given.size and given.dtype.kind not in "fiu":
        raise TypeError(f"pvalue holds {given.dtype.name}, but p-values are numbers")
    p = np.array(given, dtype=np.float64)
    bad = np.argwhere(~((p > 0) & (p <= 1)))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"pvalue[{where}] = {p[tuple(bad[0])]} must lie in (0, 1]: a permutation test never "
            "has a p of 0; leave out tests without p"
        )
    return p


# ---- max-T -------------------------------------------------------------------------------------

#: From so many on, a binomial number takes less time than a coin for each item.
MANY = 100
#: Labellings of one stream of random numbers, items whose coins are drawn at a time, values that
#: are held at a time, and columns whose partial sums fit the cache next to the processor.
BLOCK, ITEMS, CELLS, WIDTH = 1024, 2**16, 2**18, 128
#: Labellings that a kernel looks at abreast, and differences that take it some tenths of a second.
ABREAST, QUICK = 16, 2**28
#: Sums below these are exact in int32 and in float64.
SHORT, EXACT = 2**30, 2**50


class MaxT(NamedTuple):
    """Adjusted p-values, whether all labellings were listed, and how many."""

    adjusted: Floats
    exact: bool
    K: int


def max_t(
    table: ScoreTable,
    first: Ints,
    second: Ints,
    *,
    alternative: str = "two-sided",
    K: int = 10_000,
    rng: np.random.Generator,
) -> MaxT:
    """Adjusted p-values of one family of hypotheses: all pairs of systems.

    Free step-down (Westfall and Young 1993, Alg. 4.1). The statistic of a pair is its difference
    over the standard deviation of that: for sums the one that they have if signs are random,
    ``sqrt(sum_n d_n**2)``, for measures such as F1 the one among all labellings looked at. For C
    labellings in which the maximum is at least as extreme, p is (C + 1) / (K + 1), which is never
    0; C / K where no more than K are possible, so that all are listed; 1 for a pair that never
    differs. Ties are decided with a tolerance of 1e-12, that can only make p larger; where sums
    have more digits than floats, with a bound of all roundings.

    The familywise error is controlled if the differences between equal systems are jointly
    symmetric about 0; if these are only exchangeable, nearly so where there are many items, as
    ``python -m benchmarks.calibration`` measures. Time O(K (N S + P)) for N items that differ.
    """
    measure, addends = _addends(table)
    scores = np.concatenate((addends - addends[:1]).transpose(0, 2, 1))  # a row for each sum
    informative = int((scores != 0).any(axis=0).sum())
    listed = informative < 62 and 2**informative <= K
    coins, size = _Coins.of(scores, listed=listed), 2**informative if listed else K
    if alternative == "less":
        first, second = second, first
    totals = addends.astype(np.float64).sum(axis=1)
    gaps = _Gaps(first, second, alternative == "two-sided", measure, totals)
    seen, origin = gaps.under(coins.observed[:, None])[:, 0], None if listed else seeds(rng)
    if measure is None:
        spread = _spread(scores, first, second)
    else:
        squares = np.square(seen) * (not listed)
        _add_up(squares, "spread of all pairs", _squares, size, origin, coins, gaps)
        spread = np.sqrt(squares / (size + (not listed)))
        spread[spread <= NEAR] = 0.0
    weights = 1 / np.where(spread > 0, spread, 1.0)
    seen = seen * weights
    order = np.argsort(np.where(spread > 0, -seen, np.inf), kind="stable")
    order = order[: np.count_nonzero(spread)]  # the hypotheses that differ, the clearest first
    off = weights[order] * (coins.off if measure is None else 0.0)
    off += np.maximum.accumulate(off[::-1])[::-1]  # of those that each one is held against
    least = seen[order] - TIE * np.abs(seen[order]) - off
    how = gaps._replace(first=first[order], second=second[order]), weights[order], least
    hits = np.full(order.size, 0.0 if listed else 1.0)  # the observed labelling is the first
    _add_up(hits, "largest differences", _hits, size, origin, coins, *how)
    adjusted = np.ones(spread.size)
    adjusted[order] = np.maximum.accumulate(hits / (size + (not listed)))
    return MaxT(adjusted, listed, size)


def _addends(table: ScoreTable) -> tuple[MeanOfRatios | None, IntArray]:
    """The measure, None for sums, and what is added up, of shape (S, N, m)."""
    folded, entry = table.folded, table.statistic
    if not entry.columns:
        scores = roomy(folded.scores)
        scores = scores - scores[:1]  # only differences count, in whatever unit
        scores = scores // max(int(np.gcd.reduce(scores, axis=None)), 1)
        short = largest(scores) < EXACT
        return None, (scores.astype(np.int64) if short else scores)[:, :, None]
    found = [entry.measure(folded.pairs(i, i - 1))[:2] for i in range(len(folded.systems))]
    counts = np.stack([addends for _, addends in found])
    if counts.size and float(np.abs(counts.astype(np.float64)).sum(axis=1).max()) >= EXACT:
        raise ValueError(
            f"the table has counts that add up to {EXACT} or more, which correction='max_t' "
            "cannot do; divide them by a power of ten, or choose 'holm'"
        )
    return found[0][0], counts


class _Gaps(NamedTuple):
    """What is compared of each pair; for a `measure`, `totals` are the sums of each system."""

    first: Ints
    second: Ints
    two_sided: bool
    measure: MeanOfRatios | None
    totals: Floats

    def under(self, sums: Floats) -> Floats:
        """The difference of each pair under each labelling, before it is standardised."""
        first, second = self.first, self.second
        if self.measure is None:
            gaps = sums[first] - sums[second]
        else:
            x, totals = sums.reshape(*self.totals.shape, -1), self.totals[:, :, None]
            mean, half = (totals[first] + totals[second]) / 2, (x[first] - x[second]) / 2
            both = np.stack([mean + half, mean - half]).transpose(0, 1, 3, 2)
            values = self.measure.values(both.reshape(-1, x.shape[1])).reshape(both.shape[:3])
            gaps = values[0] - values[1]
        return np.asarray(np.abs(gaps) if self.two_sided else gaps)


def _add_up(
    total: Floats, what: str, function: Callable[..., Any], size: int, *shared: Any
) -> None:
    """Add what a function finds about each pair in `size` labellings."""
    chunks = [range(x, min(x + BLOCK, size)) for x in range(0, size, BLOCK)]
    for part in progress(in_parallel(function, chunks, *shared), total=len(chunks), what=what):
        total += part


def _parts(
    chunk: range, origin: np.random.SeedSequence | None, coins: _Coins, gaps: _Gaps
) -> Iterator[Floats]:
    """The sums under some labellings at a time."""
    if origin is None:
        sums = coins.listed(np.arange(chunk.start, chunk.stop))
    else:
        sums = coins.toss(stream(origin, chunk.start), len(chunk))
    cells = max(gaps.first.size * gaps.totals.shape[1], 1)
    # Sums take so many labellings at a time that Ctrl-C need not wait long. All differences of a
    # measure are held in memory, so it takes as many as fit.
    step = max(CELLS // cells, 1)
    if gaps.measure is None:
        step = max(QUICK // cells, ABREAST)
    return (sums[:, i : i + step] for i in range(0, len(chunk), step))


def _squares(chunk: range, origin: Any, coins: _Coins, gaps: _Gaps) -> Floats:
    parts = _parts(chunk, origin, coins, gaps)
    return np.asarray(sum(np.square(gaps.under(sums)).sum(axis=1) for sums in parts))


def _hits(
    chunk: range,
    origin: np.random.SeedSequence | None,
    coins: _Coins,
    gaps: _Gaps,
    weights: Floats,
    least: Floats,
) -> Ints:
    """Under how many labellings the maximum from each hypothesis on is extreme for it."""
    hits = np.zeros(least.size, dtype=np.int64)
    for sums in _parts(chunk, origin, coins, gaps):
        rows, pairs, two_sided = sums, (gaps.first, gaps.second), gaps.two_sided
        if gaps.measure is not None:  # whose values are rounded, and held against a row of zeros
            values = gaps.under(sums)
            values += NEAR * max(1.0, float(np.abs(values).max(initial=0.0)))
            rows, number = np.vstack([values, np.zeros_like(values[:1])]), np.arange(len(values))
            pairs, two_sided = (number, np.full_like(number, len(values))), False
        count_hits(np.ascontiguousarray(rows), *pairs, weights, least, two_sided, hits)
    return hits


def _count_hits(
    sums: Floats, first: Ints, second: Ints, weights: Floats, least: Floats, two: bool, hits: Ints
) -> None:
    """`count_hits` in NumPy."""
    highest = np.full(sums.shape[1], -np.inf)
    for h in range(first.size - 1, -1, -1):
        gap = sums[first[h]] - sums[second[h]]
        np.fmax(highest, (np.abs(gap) if two else gap) * weights[h], out=highest)
        hits[h] += np.count_nonzero(highest >= least[h])


@compiled_or(_count_hits)
def count_hits(
    sums: Floats, first: Ints, second: Ints, weights: Floats, least: Floats, two: bool, hits: Ints
) -> None:
    """Add to ``hits[h]`` the labellings whose maximum from pair h on is ``least[h]`` or more.

    The value of a pair is the weighted difference of two rows of `sums`, a column a labelling, and
    its magnitude where `two` sides count. Some labellings at a time, which makes use of vectors.
    """
    highest = np.empty(ABREAST)
    for left in range(0, sums.shape[1], ABREAST):
        width = min(ABREAST, sums.shape[1] - left)
        highest[:] = -np.inf
        for h in range(first.size - 1, -1, -1):
            a, b = sums[first[h], left : left + width], sums[second[h], left : left + width]
            count = 0
            for x in range(width):
                value = (abs(a[x] - b[x]) if two else a[x] - b[x]) * weights[h]
                if value > highest[x]:
                    highest[x] = value
                count += highest[x] >= least[h]
            hits[h] += count


def _spread(scores: IntArray, first: Ints, second: Ints) -> Floats:
    """The standard deviation of the sum of each pair; 0 if and only if it never differs."""
    squares, step = np.empty(first.size), max(1, CELLS // max(scores.shape[1], 1))
    for start in range(0, first.size, step):
        part = slice(start, start + step)
        gaps = (scores[first[part]] - scores[second[part]]).astype(np.float64)
        # Not by BLAS, whose sums depend on the number of its threads.
        squares[part] = np.einsum("pn,pn->p", gaps, gaps)
    return np.sqrt(squares)


class _Coins(NamedTuple):
    """How to draw the sums of a data set: rows of differences from system 0, a coin for each item.

    `single` has `size` rows with a coin each, filled up to a multiple of eight, and `grouped` rows
    with as many coins as `counts` says. `observed` are the sums of the observed labelling, `whole`
    those where all coins show heads. `off` is by how much a difference of two sums may be rounded.
    """

    single: NDArray[Any]
    size: int
    grouped: Floats
    counts: Ints
    observed: Floats
    whole: Floats
    off: float

    @classmethod
    def of(cls, scores: IntArray, *, listed: bool) -> _Coins:
        """Those of scores (C, N); to list all labellings, each item needs a coin of its own."""
        columns, n = scores.shape
        rows = scores.T[(scores != 0).any(axis=0)]
        signs = np.where(rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)] > 0, 1, -1)
        rows, counts, net = _distinct(rows * signs[:, None], signs)
        rows = rows.astype(np.float64)
        many = (counts >= MANY) & (not listed)
        reach = float((counts @ np.abs(rows)).max(initial=0.0))
        off = 0.0 if reach < EXACT else 2.0**-49 * (n + 8) * reach
        size, kind = int(counts[~many].sum()), np.int32 if reach < SHORT else np.float64
        single: NDArray[Any] = np.zeros((-(-size // 8) * 8, columns), dtype=kind)
        single[:size] = np.repeat(rows[~many], counts[~many].astype(np.intp), axis=0)
        add_heads(single[:0], np.zeros((0, 0), dtype=np.uint8), single[:0])  # compiles it
        return cls(single, size, rows[many], counts[many], net @ rows, counts @ rows, off)

    def toss(self, rng: np.random.Generator, draws: int) -> Floats:
        """Random sums, of shape (C, draws)."""
        heads = np.zeros((draws, self.whole.size), dtype=self.single.dtype)
        for start in range(0, len(self.single), ITEMS):
            rows = self.single[start : start + ITEMS]
            add_heads(rows, rng.integers(0, 256, (len(rows) // 8, draws), dtype=np.uint8), heads)
        total = heads.astype(np.float64)
        for row, count in zip(self.grouped, self.counts.tolist(), strict=True):
            total += rng.binomial(count, 0.5, draws)[:, None] * row
        return (2 * total - self.whole).T

    def listed(self, numbers: Ints) -> Floats:
        """The sums of labellings by number, whose bits are the coins; none may be grouped."""
        bits = numbers[:, None] >> np.arange(self.size) & 1
        return np.asarray(2.0 * (bits @ self.single[: self.size]) - self.whole).T


def _distinct(rows: IntArray, signs: Ints) -> tuple[IntArray, Ints, Ints]:
    """Rows that differ, how many there are of each, and how many more with the sign 1."""
    if rows.dtype == object:
        return rows, np.ones(len(rows), dtype=np.int64), signs
    rng = np.random.default_rng(0)
    while True:  # until no two rows that differ have the same key
        key = rows @ rng.integers(-(2**63), 2**63 - 1, rows.shape[1])  # modulo 2**64
        found = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        _, where, group, counts = found
        if all(np.array_equal(column[where][group], column) for column in rows.T):
            return rows[where], counts, np.bincount(group, signs, len(where)).astype(np.int64)


def _add_heads(rows: NDArray[Any], bits: NDArray[np.uint8], sums: NDArray[Any]) -> None:
    """`add_heads` in NumPy."""
    for eight, chosen in zip(rows.reshape(-1, 8, rows.shape[1]), bits, strict=True):
        table = np.zeros((1, rows.shape[1]), dtype=rows.dtype)
        for row in eight:
            table = np.concatenate([table, table + row])
        sums += table.take(chosen, axis=0)


@compiled_or(_add_heads)
def add_heads(rows: NDArray[Any], bits: NDArray[np.uint8], sums: NDArray[Any]) -> None:
    """Add to ``sums[b]`` the rows whose coins show heads in column b of `bits`.

    The coin of row ``8 k + i`` is bit i of ``bits[k]``, and the number of rows a multiple of 8. The
    256 sums of eight rows are made once, for all columns.
    """
    table = np.zeros((256, WIDTH), dtype=rows.dtype)
    for left in range(0, rows.shape[1], WIDTH):
        width = min(WIDTH, rows.shape[1] - left)
        for k in range(bits.shape[0]):
            for i in range(8):
                row = rows[8 * k + i, left : left + width]
                for v in range(2**i):
                    without, there = table[v], table[2**i + v]
                    for x in range(width):
                        there[x] = without[x] + row[x]
            for b in range(bits.shape[1]):
                part, total = table[bits[k, b]], sums[b, left : left + width]
                for x in range(width):
                    total[x] += part[x]
