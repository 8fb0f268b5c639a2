"""What allows for the number of comparisons: adjusted p-values, and intervals that hold together.

An adjusted p-value is the smallest level at which the correction rejects the hypothesis: compare
it with alpha, whatever the number of tests. Exact p-values of permutation tests are discrete,
which makes the corrections that see nothing but p more cautious, never less.

Westfall and Young's max-T looks at the scores, too, and learns how the tests hang together. Where
the differences of equally good systems are jointly symmetric about 0, an item may turn all of them
around at once: d_ij becomes -d_ij for all i and j. So one fair coin for each item gives the sum of
every pair as R_i - R_j, with R_i the sum over the items of a random sign times what system i has
there. Joint symmetry is more than that systems are exchangeable on every item, under which the test
of each pair is exact; with that alone max-T keeps its level only nearly, if there are many items,
as ``python -m benchmarks.calibration`` measures. It goes step by step (Westfall and Young 1993,
Alg. 4.1): the clearest pair is held against the maximum of all, the next against that of all but
the first. The statistic of a pair is its difference over the standard deviation of that.

Intervals have to allow for the choice, too: the best of twelve equal systems is the one that was
lucky, and an interval for the difference from it, taken by itself, covers too seldom. So they are
as long as the largest of all standardised differences makes necessary, whose law is that of
normal numbers with the covariance of the scores (Hothorn, Bretz and Westfall 2008). Each is the
interval of a single comparison at a higher level, the same for all: Tango's for items that are 0 or
1, otherwise Student's for what each unit adds to the difference. Where few units differ, the
deviation of their differences is too small, or 0. So Student's counts t^2 / 2 units more, half of
them in favour of each system, with t the quantile: the 2 that Agresti and Min (2005) and Bonett and
Price (2012) add to scores of 0 and 1 at 95%.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, inf, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from permtest._jit import Floats, Ints
from permtest._parallel import in_parallel, progress, seeds, stream
from permtest.integers import IntArray, roomy
from permtest.interval import score_ends
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
    ValueError
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
    p = np.array(pvalue, dtype=np.float64)
    for index in np.argwhere(~((p > 0) & (p <= 1)))[:1]:
        raise ValueError(
            f"pvalue[{', '.join(map(str, index))}] = {p[tuple(index)]} must lie in (0, 1]: a "
            "permutation test never has a p of 0; leave out tests without p"
        )
    if correction == "max_t":
        raise ValueError(
            "correction='max_t' samples swaps of the scores, so it cannot work from p-values; "
            "call compare_many(table, correction='max_t')"
        )
    if correction == "none" or p.size == 0:
        return p
    if correction == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p, axis=None)).reshape(p.shape)
    order, adjusted = np.argsort(p, axis=None), np.empty(p.size)  # SciPy does not have Holm
    steps = np.maximum.accumulate(p.ravel()[order] * np.arange(p.size, 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted.reshape(p.shape)


# ---- max-T -------------------------------------------------------------------------------------

#: Labellings that are looked at together, and items whose coins are tossed at a time.
BLOCK, ITEMS = 2048, 128
#: Products of matrices up to this size take BLAS one thread: chunks run side by side instead.
PRODUCT = 2**18
#: From so many alike items on, a binomial number takes less time than a coin for each.
ALIKE = 30
#: Sums below these are whole numbers in float32 and in float64, even when two are added up.
SINGLE, EXACT = 2**23, 2**51


class MaxT(NamedTuple):
    """Adjusted p-values, whether all labellings were listed, and how many."""

    adjusted: Floats
    exact: bool
    K: int


class _Pairs(NamedTuple):
    """What is compared of each pair; of a `measure`, `totals` (S, m) are the observed sums."""

    first: Ints
    second: Ints
    two_sided: bool
    measure: MeanOfRatios | None = None
    totals: Any = None

    def gap(self, h: int, sums: Floats) -> Floats:
        """The difference of pair h under each labelling, from sums (S, m, labellings)."""
        i, j = self.first[h], self.second[h]
        if self.measure is None:
            gap = sums[i, 0] - sums[j, 0]
        else:
            mean, half = (self.totals[i] + self.totals[j]) / 2, (sums[i] - sums[j]).T / 2
            gap = self.measure.values(mean + half) - self.measure.values(mean - half)
        return np.asarray(np.abs(gap, out=gap) if self.two_sided else gap)

    def squares(self, sums: Floats) -> Floats:
        """The sum of the squares of each difference."""
        return np.array([np.square(self.gap(h, sums)).sum() for h in range(self.first.size)])

    def maxima(self, sums: Floats, weights: Floats) -> Iterator[tuple[int, Floats]]:
        """The largest weighted difference of pairs h, h + 1, ... so far, the last h first."""
        highest = np.full(sums.shape[2], -inf)
        for h in range(self.first.size - 1, -1, -1):
            gap = self.gap(h, sums)
            gap *= weights[h]
            yield h, np.maximum(highest, gap, out=highest)


def max_t(
    addends: IntArray,
    first: Ints,
    second: Ints,
    *,
    measure: MeanOfRatios | None = None,
    alternative: str = "two-sided",
    K: int = 10_000,
    rng: np.random.Generator,
) -> MaxT:
    """Adjusted p-values of one family of hypotheses: all pairs of systems.

    The addends, of shape (S, N), or (S, N, m) for a `measure`, are whole numbers. For C labellings
    in which the maximum is at least as extreme, p is (C + 1) / (K + 1), which is never 0; C / K
    where no more than K are possible, so that all are listed; 1 for a pair that never differs. Ties
    are decided with a tolerance that can only make p larger: of 1e-12, and of all roundings where
    sums have more digits than floats. Time O(K (N S + P)).
    """
    if alternative == "less":
        first, second = second, first
    addends = np.atleast_3d(addends)
    items, off = _whole_numbers(addends, measure)
    n, totals = items.shape[2], addends.astype(np.float64).sum(axis=1)
    listed = n < 62 and 2**n <= K
    size, more = (2**n, 0) if listed else (K, 1)  # the observed labelling is one more
    coins = _Coins.of(items, None if listed else seeds(rng))
    pairs = _Pairs(first, second, alternative == "two-sided", measure, totals)
    observed = items.sum(axis=2, keepdims=True, dtype=np.float64)
    seen = np.array([pairs.gap(h, observed)[0] for h in range(first.size)])
    if measure is None:
        squares = pairs.squares(items.astype(np.float64))
    else:  # the variance among all labellings that are looked at
        found = _add_up(_squares, "spread of all pairs", size, coins, pairs)
        squares = (found + more * seen**2) / (size + more)
    spread = np.sqrt(np.where(squares > NEAR**2, squares, 0.0))
    weights = 1 / np.where(spread > 0, spread, 1.0)
    order = np.argsort(np.where(spread > 0, -seen * weights, inf), kind="stable")
    order = order[: np.count_nonzero(spread)]  # the hypotheses that differ, the clearest first
    seen, weights = (seen * weights)[order], weights[order]
    # Roundings of each one, and of those that it is held against.
    rounded = off * (weights + np.maximum.accumulate(weights[::-1])[::-1])
    least = seen - TIE * np.abs(seen) - rounded
    pairs = pairs._replace(first=first[order], second=second[order])
    hits = _add_up(_hits, "largest differences", size, coins, pairs, weights, least)
    adjusted = np.ones(spread.size)
    adjusted[order] = np.maximum.accumulate((hits + more) / (size + more))
    return MaxT(adjusted, listed, size)


def _whole_numbers(addends: IntArray, measure: MeanOfRatios | None) -> tuple[Any, float]:
    """Differences from system 0, of shape (S, m, N), where there are any; and their roundings.

    They are whole numbers, and so small that floats add them up without error, in any order.
    Rounded is what sums of scores with many digits, or the values of a measure, may be off by.
    """
    gaps = roomy(addends)
    gaps = (gaps - gaps[:1]).transpose(0, 2, 1)
    gaps = gaps[:, :, gaps.any(axis=(0, 1))]
    off = 0.0 if measure is None else NEAR
    if measure is None:  # the unit does not matter
        gaps = gaps // max(int(np.gcd.reduce(gaps, axis=None)), 1)
    reach = float(np.abs(gaps.astype(np.float64)).sum(axis=2).max(initial=0.0))
    if reach >= EXACT:
        if measure is not None:
            raise ValueError(f"counts add up to {EXACT} or more, too many for 'max_t'; try 'holm'")
        step = 2 ** ceil(log2(reach / EXACT) + 1)
        gaps, off = (gaps.astype(object) + step // 2) // step, float(gaps.shape[2])
    short = np.abs(gaps).max(initial=0) * ITEMS < SINGLE
    return gaps.astype(np.float32 if short else np.float64), off


def _add_up(function: Callable[..., Floats], what: str, size: int, *shared: Any) -> Floats:
    """What a function finds about each pair in `size` labellings."""
    chunks = [range(x, min(x + BLOCK, size)) for x in range(0, size, BLOCK)]
    found = progress(in_parallel(function, chunks, *shared), total=len(chunks), what=what)
    return np.asarray(sum(found))


class _Coins(NamedTuple):
    """Items, one in a row (G, S m), how many there are of each, and random streams."""

    rows: Any
    counts: Ints | None  # None: one of each
    origin: np.random.SeedSequence | None  # None: all labellings are listed
    shape: tuple[int, int]

    @classmethod
    def of(cls, items: Any, origin: np.random.SeedSequence | None) -> _Coins:
        """Items that are alike get one binomial number, where that takes less time."""
        systems, m, n = items.shape
        rows = np.ascontiguousarray(items.reshape(systems * m, n).T)
        if origin is not None:
            alike, counts = np.unique(rows, axis=0, return_counts=True)
            if counts.size * ALIKE < n:
                return cls(alike.astype(np.float64), counts, origin, (systems, m))
        return cls(rows, None, origin, (systems, m))

    def toss(self, chunk: range) -> Floats:
        """The sums (S, m, labellings) under some labellings: all by number, or random ones."""
        rng = None if self.origin is None else stream(self.origin, chunk.start)
        step = 2 ** min(max(PRODUCT // (ITEMS * self.rows.shape[1]), 1).bit_length() - 1, 8)
        size = -(-len(chunk) // step) * step
        sums = np.zeros((size, self.rows.shape[1]))
        for start in range(0, len(self.rows), ITEMS):
            coins: Any
            part = self.rows[start : start + ITEMS]
            if rng is None:
                coins = (
                    np.arange(chunk.start, chunk.start + size)[:, None] >> np.arange(len(part)) & 1
                )
            elif self.counts is None:
                bits = rng.integers(0, 256, (size, -(-len(part) // 8)), dtype=np.uint8)
                coins = np.unpackbits(bits, axis=1, count=len(part))
            else:
                coins = rng.binomial(self.counts[start : start + ITEMS], 0.5, (size, len(part)))
            coins = coins.astype(part.dtype).reshape(-1, step, len(part))
            sums += 2 * (coins @ part).reshape(size, -1)
        number = 1 if self.counts is None else self.counts[:, None]
        sums -= (number * self.rows).sum(axis=0, dtype=np.float64)
        return np.ascontiguousarray(sums[: len(chunk)].T).reshape(*self.shape, -1)


def _squares(chunk: range, coins: _Coins, pairs: _Pairs) -> Floats:
    return pairs.squares(coins.toss(chunk))


def _hits(chunk: range, coins: _Coins, pairs: _Pairs, weights: Floats, least: Floats) -> Floats:
    """Under how many labellings the maximum from each pair on is extreme for it."""
    hits = np.zeros(least.size)
    for h, highest in pairs.maxima(coins.toss(chunk), weights):
        hits[h] = np.count_nonzero(highest >= least[h])
    return hits


# ---- intervals that hold together --------------------------------------------------------------

#: Draws of the largest difference at most, and at least, and differences that they take together.
#: The error of intervals is 0.05 give or take 0.002 after 10 000 draws, and 0.007 after 1 000.
MOST, LEAST, QUICK = 10_000, 1_000, 2**28
#: Draws from one stream of random numbers.
STREAM = 1024
#: A share of the largest variance that is as good as 0.
NOTHING = 1e-12


def joint_tail(
    values: Floats, first: Ints, second: Ints, *, alternative: str, alpha: float
) -> float:
    """The error on each side of each interval, if those of all pairs are to hold together.

    The values (S, N) are what units add to each system. The error is never more than that of an
    interval that stands alone, nor less than Bonferroni's.
    """
    from scipy.special import ndtr

    alone = alpha / (2 if alternative == "two-sided" else 1)
    if first.size == 1 or values.shape[1] < 2:
        return alone
    pairs = _Pairs(first, second, alternative == "two-sided")
    return min(max(float(ndtr(-largest_gap(values, pairs, alpha))), alone / first.size), alone)


def largest_gap(values: Floats, pairs: _Pairs, alpha: float) -> float:
    """What the largest standardised difference of some pairs exceeds with probability alpha."""
    centred = values - values.mean(axis=1, keepdims=True)
    covariance = np.einsum("in,jn->ij", centred, centred)  # BLAS depends on its threads
    variances, first, second = np.diag(covariance), pairs.first, pairs.second
    squares = variances[first] + variances[second] - 2 * covariance[first, second]
    there = squares > NOTHING * variances.max()
    if not there.any():
        return 0.0
    pairs = pairs._replace(first=first[there], second=second[there])
    draws = min(max(QUICK // pairs.first.size, LEAST), MOST)
    chunks = [range(x, min(x + BLOCK, draws)) for x in range(0, draws, BLOCK)]
    shared = seeds(np.random.default_rng(0)), _root(covariance), pairs, 1 / np.sqrt(squares[there])
    found = np.sort(np.concatenate([*in_parallel(_largest, chunks, *shared)]))
    place = ceil(round((1 - alpha) * (draws + 1), 6))
    return float(found[place - 1]) if place <= draws else inf


def _root(covariance: Floats) -> Floats:
    """A lower triangle whose product with itself is the covariance, which may be singular."""
    rest, root = covariance.copy(), np.zeros_like(covariance)
    least = NOTHING * float(np.diag(covariance).max())
    for k in range(len(rest)):  # LAPACK wants all variances to be above 0
        if rest[k, k] > least:
            root[k:, k] = rest[k:, k] / sqrt(rest[k, k])
            rest[k:, k:] -= np.outer(root[k:, k], root[k:, k])
    return root


def _largest(
    chunk: range, origin: np.random.SeedSequence, root: Floats, pairs: _Pairs, weights: Floats
) -> Floats:
    """The largest standardised difference in each of some draws."""
    parts = []
    for start in range(chunk.start, chunk.stop, STREAM):
        shape = len(root), min(STREAM, chunk.stop - start)
        parts.append(root @ stream(origin, start).standard_normal(shape))
    *_, (_, highest) = pairs.maxima(np.hstack(parts)[:, None], weights)
    return highest


def interval_at(
    tail: float, gaps: Floats, mean: float, *, alternative: str, binary: bool, typical: float
) -> tuple[float, float]:
    """The interval of one difference of this mean, with so much error on each side.

    `gaps` is what units add to it, `binary` says whether these are items that are 0 or 1, and
    `typical` is the size of differences in the whole table, for gaps that are all 0.
    """
    from scipy.special import ndtr, stdtrit

    n = gaps.size
    reach = -float(stdtrit(n - 1, tail)) if n > 1 else inf
    if binary:
        b, c = int(np.sum(gaps > 0)), int(np.sum(gaps < 0))
        return score_ends(b, c, n, float(ndtr(-reach)), alternative)
    if n < 2 or 2.0**-n > tail * (1 + 1e-9):  # no p of so few units reaches the level
        return -inf, inf
    added = reach**2 / 2 * (root_mean_square(gaps) or typical) ** 2
    reach *= sqrt((float(np.var(gaps)) * n + added) / (n * (n - 1)))
    low, high = mean - reach, mean + reach
    return -inf if alternative == "less" else low, inf if alternative == "greater" else high


def root_mean_square(gaps: Floats) -> float:
    """Of those that are not 0; 0 if all are."""
    some = gaps[gaps != 0]
    return sqrt(float(np.mean(some * some))) if some.size else 0.0
