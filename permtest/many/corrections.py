"""What allows for the number of comparisons: adjusted p-values, and intervals that hold together.

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
lucky. So they are as long as the largest of all standardised differences makes necessary, whose law
is that of normal numbers with the covariance of the scores (Hothorn, Bretz and Westfall 2008). Each
is the interval of a single comparison at a higher level, the same for all: Tango's for items that
are 0 or 1, otherwise Student's for what each unit adds to the difference. Student's counts t^2 / 2
units more, half of them in favour of each system, with t the quantile, because the deviation is too
small where few units differ: the 2 that Agresti and Min (2005) and Bonett and Price (2012) add to
scores of 0 and 1 at 95%. Their size is that of the differences, of all in the table if none differ.
"""

from __future__ import annotations

from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from permtest import _jit
from permtest._jit import Floats, Ints, compile_from_now_on, compiled_or
from permtest._random import in_parallel, seeds, stream
from permtest.integers import IntArray, with_room
from permtest.interval import score_ends
from permtest.question import TIE

#: Corrections for the number of tests, by name.
CORRECTIONS = {
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "max_t": "Westfall-Young max-T",
    "none": "no correction",
}


def adjusted_pvalues(p: Floats, correction: str) -> Floats:
    """P-values that allow for their number, by a correction that sees nothing else."""
    if correction == "none":
        return p
    if correction == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p))
    order, adjusted = np.argsort(p), np.empty(p.size)  # SciPy does not have Holm
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


#: Labellings in a block, items whose coins are tossed at a time, labellings looked at abreast.
BLOCK, ITEMS, ABREAST = 1024, 2**10, 16
#: Whole numbers below these add up without error in float32, and in float64 even when two do.
SHORT, EXACT = 2**24, 2**51


def max_t(
    scores: IntArray, first: Ints, second: Ints, *, K: int = 10_000, rng: np.random.Generator
) -> Floats:
    """Adjusted p-values of one family of hypotheses.

    The scores, of shape (S, N), are whole numbers. For C labellings in which the maximum is at
    least as extreme, p is (C + 1) / (K + 1); C / K where no more than K are possible, so that all
    are listed; 1 for a pair that never differs. Ties are decided with a tolerance that can only
    make p larger: of 1e-12, and of all roundings where sums have more digits than floats.
    """
    items, off = _whole_numbers(scores)
    n = len(items)
    size, more, origin = (2**n, 0, None) if n < 62 and 2**n <= K else (K, 1, seeds(rng))
    rows, sums = items.T.astype(np.float64), items.sum(axis=0)
    gram = np.einsum("in,jn->ij", rows, rows)
    squares = gram[first, first] + gram[second, second] - 2 * gram[first, second]
    spread = np.sqrt(np.maximum(squares, 0.0))
    weights = 1 / np.where(spread > 0, spread, 1.0)
    seen = np.abs(sums[first] - sums[second]) * weights
    order = np.argsort(np.where(spread > 0, -seen, inf), kind="stable")
    order = order[: np.count_nonzero(spread)]  # the hypotheses that differ, the clearest first
    seen, weights = seen[order], weights[order]
    # Roundings of each one, and of those that it is held against.
    rounded = off * (weights + np.maximum.accumulate(weights[::-1])[::-1])
    pairs = first[order], second[order], weights, seen - TIE * np.abs(seen) - rounded
    short = np.abs(items).sum(axis=0).max(initial=0) < SHORT
    items = items.astype(np.float32 if short else np.float64)
    if 10 * size * order.size > _jit.patience:  # for all chunks, each of which is short
        compile_from_now_on()
    chunks = [range(x, min(x + BLOCK, size)) for x in range(0, size, BLOCK)]
    hits = sum(in_parallel(_hits, chunks, origin, items, sums, *pairs, what="random labellings"))
    adjusted = np.ones(spread.size)
    adjusted[order] = np.maximum.accumulate((hits + more) / (size + more))
    return adjusted


def _whole_numbers(scores: IntArray) -> tuple[Ints, float]:
    """What items add to each system beyond the first, (N, S), and how far off their sums may be."""
    items = with_room(scores).T
    items = items - items[:, :1]
    items = items[items.any(axis=1)]
    items = items // max(int(np.gcd.reduce(items, axis=None)), 1)  # the unit does not matter
    reach = float(np.abs(items.astype(np.float64)).sum(axis=0).max(initial=0.0))
    if reach < EXACT:
        return items.astype(np.int64), 0.0
    step = 2 ** ceil(log2(reach / EXACT) + 1)
    return ((items.astype(object) + step // 2) // step).astype(np.int64), float(len(items))


def _hits(
    chunk: range, origin: np.random.SeedSequence | None, items: Any, sums: Ints, *pairs: Any
) -> Ints:
    """In how many labellings the maximum is as extreme: random ones; without origin by number."""
    rng, numbers = stream(origin or np.random.SeedSequence(0), chunk.start), np.array(chunk)
    heads = np.zeros((len(chunk), len(sums)))
    for start in range(0, len(items), ITEMS):
        some = items[start : start + ITEMS]
        if origin is None:
            coins: Any = numbers[:, None] >> np.arange(len(some)) & 1
        else:
            bits = rng.integers(0, 256, (len(chunk), -(-len(some) // 8)), dtype=np.uint8)
            coins = np.unpackbits(bits, axis=1, count=len(some))
        heads += coins.astype(items.dtype) @ some
    return maxima(np.ascontiguousarray((2 * heads - sums).T), *pairs)[0]


def _maxima(rows: Any, first: Any, second: Any, weights: Any, least: Any) -> tuple[Ints, Floats]:
    """`maxima` in NumPy."""
    hits, highest = np.zeros(first.size, dtype=np.int64), np.full(rows.shape[1], -inf)
    for h in range(first.size - 1, -1, -1):
        gap = np.abs(rows[first[h]] - rows[second[h]])
        np.maximum(highest, gap * weights[h], out=highest)
        hits[h] = np.count_nonzero(highest >= least[h])
    return hits, highest


@compiled_or(_maxima, lambda rows, first, *_: 10 * rows.shape[1] * first.size)
def maxima(rows: Any, first: Any, second: Any, weights: Any, least: Any) -> tuple[Ints, Floats]:
    """In how many labellings the maximum from pair h on is ``least[h]`` or more; and that of all.

    The value of a pair is the weighted magnitude of the difference of two rows, which have a column
    for each labelling.
    """
    hits, highest = np.zeros(first.size, dtype=np.int64), np.empty(rows.shape[1])
    most = np.empty(ABREAST)
    for left in range(0, rows.shape[1], ABREAST):
        width = min(ABREAST, rows.shape[1] - left)
        most[:] = -inf
        for h in range(first.size - 1, -1, -1):
            a, b = rows[first[h], left : left + width], rows[second[h], left : left + width]
            count = 0
            for x in range(width):
                value = abs(a[x] - b[x]) * weights[h]
                if value > most[x]:
                    most[x] = value
                count += most[x] >= least[h]
            hits[h] += count
        highest[left : left + width] = most[:width]
    return hits, highest


#: Draws of the largest difference at most, and at least, and differences that they take together;
#: the error of intervals is 0.05 give or take 0.002, and 0.007.
MOST, LEAST, QUICK = 10_000, 1_000, 2**28
#: A share of the largest variance that is as good as 0.
NOTHING = 1e-9


def joint_tail(values: Floats, first: Ints, second: Ints, alpha: float) -> float:
    """The error on each side of each interval, if those of all pairs are to hold together.

    It is never more than that of an interval that stands alone, nor less than Bonferroni's.
    """
    from scipy.special import ndtr

    alone, bonferroni = alpha / 2, alpha / 2 / first.size
    centred = values - values.mean(axis=1, keepdims=True)
    covariance = np.einsum("in,jn->ij", centred, centred)  # BLAS depends on its threads
    variances = np.diag(covariance)
    nothing = NOTHING * variances.max()
    squares = variances[first] + variances[second] - 2 * covariance[first, second]
    there = squares > nothing
    if first.size == 1 or not there.any():
        return alone
    # LAPACK wants all variances to be above 0.
    root = np.linalg.cholesky(covariance + nothing * np.eye(len(values)))
    first, second, weights = first[there], second[there], 1 / np.sqrt(squares[there] + 2 * nothing)
    draws = min(max(QUICK // first.size, LEAST), MOST)
    chunks = [range(x, min(x + BLOCK, draws)) for x in range(0, draws, BLOCK)]
    shared = seeds(np.random.default_rng(0)), root, first, second, weights, weights
    found = np.sort(np.concatenate([*in_parallel(_largest, chunks, *shared, what="draws")]))
    place = ceil(round((1 - alpha) * (draws + 1), 6))
    tail = float(ndtr(-found[place - 1])) if place <= draws else 0.0
    return min(max(tail, bonferroni), alone)


def _largest(chunk: range, origin: np.random.SeedSequence, root: Floats, *pairs: Any) -> Floats:
    """The largest standardised difference in each of some draws."""
    draws = stream(origin, chunk.start).standard_normal((len(root), len(chunk)))
    return maxima(root @ draws, *pairs)[1]


def interval_at(
    tail: float, values: Floats, pair: tuple[int, int], mean: float, binary: bool
) -> tuple[float, float]:
    """The interval of the mean difference of a pair; `binary`: units are items that are 0 or 1."""
    from scipy.special import ndtr, stdtrit

    gaps, n = values[pair[0]] - values[pair[1]], values.shape[1]
    reach = -float(stdtrit(n - 1, tail)) if n > 1 else inf
    if binary:
        return score_ends(int(np.sum(gaps > 0)), int(np.sum(gaps < 0)), n, float(ndtr(-reach)))
    if n < 2 or 2.0**-n > tail * (1 + 1e-9):  # no p of so few units reaches the level
        return -inf, inf
    some = gaps if gaps.any() else np.diff(values, axis=0)  # the size of differences, if any
    added = reach**2 / 2 * float(np.mean(some[some != 0] ** 2)) if some.any() else 0.0
    reach *= sqrt((float(np.var(gaps)) * n + added) / (n * (n - 1)))
    return mean - reach, mean + reach
