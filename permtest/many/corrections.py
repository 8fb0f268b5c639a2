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

from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from permtest._jit import Floats, Ints, compiled_or
from permtest._parallel import in_parallel, progress, seeds, stream
from permtest.integers import IntArray, with_room
from permtest.interval import score_ends
from permtest.question import TIE

#: Corrections for the number of tests by name: the title of each, and what it controls, and when.
CORRECTIONS = {
    "holm": ("Holm", "familywise error, whatever the dependence"),
    "bh": (
        "Benjamini-Hochberg",
        "false discovery rate, if tests are independent or depend positively",
    ),
    "max_t": (
        "Westfall-Young max-T",
        "familywise error, if differences are jointly symmetric, and nearly so if there are many "
        "items",
    ),
    "none": ("no correction", "error of each test by itself, whatever the dependence"),
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


# ---- max-T -------------------------------------------------------------------------------------

#: Labellings that are looked at together, items whose coins are tossed at a time, systems whose
#: sums of eight items fit the cache, and labellings that a processor looks at abreast.
BLOCK, ITEMS, WIDTH, ABREAST = 1024, 2**11, 128, 16
#: From so many alike items on, a binomial number takes less time than a coin for each.
ALIKE = 100
#: Sums below these are whole numbers in int32, and in float64 even when two are added up.
SHORT, EXACT = 2**30, 2**51


def max_t(
    scores: IntArray,
    first: Ints,
    second: Ints,
    *,
    K: int = 10_000,
    rng: np.random.Generator,
) -> tuple[Floats, bool]:
    """Adjusted p-values of one family of hypotheses, and whether all labellings were listed.

    The scores, of shape (S, N), are whole numbers. For C labellings in which the maximum is at
    least as extreme, p is (C + 1) / (K + 1), which is never 0; C / K where no more than K are
    possible, so that all are listed; 1 for a pair that never differs. Ties are decided with a
    tolerance that can only make p larger: of 1e-12, and of all roundings where sums have more
    digits than floats. Time O(K (N S + P)).
    """
    items, off = _whole_numbers(scores)
    n = items.shape[1]
    listed = n < 62 and 2**n <= K
    size, more = (2**n, 0) if listed else (K, 1)  # the observed labelling is one more
    rows, counts = (items[1:].T, np.ones(n, dtype=np.int64)) if listed else _grouped(items[1:])
    many = counts >= ALIKE
    alone = np.repeat(rows[~many], counts[~many].astype(np.intp), axis=0)
    short = np.abs(alone).sum(axis=0).max(initial=0) < SHORT
    alone = np.pad(alone.astype(np.int32 if short else np.int64), ((0, -len(alone) % 8), (0, 0)))
    coins = None if listed else seeds(rng), np.ascontiguousarray(alone), rows[many], counts[many]
    rows, sums = items.astype(np.float64), items.sum(axis=1)
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
    least = seen - TIE * np.abs(seen) - rounded
    chunks = [range(x, min(x + BLOCK, size)) for x in range(0, size, BLOCK)]
    parts = in_parallel(_hits, chunks, coins, first[order], second[order], weights, least)
    hits = sum(progress(parts, total=len(chunks), what="largest differences"))
    adjusted = np.ones(spread.size)
    adjusted[order] = np.maximum.accumulate((hits + more) / (size + more))
    return adjusted, listed


def _whole_numbers(scores: IntArray) -> tuple[Ints, float]:
    """Differences from system 0, where there are any, and by how much their sums may be off.

    They are so small that floats add them up without error, in any order.
    """
    gaps = with_room(scores)
    gaps = gaps - gaps[:1]
    gaps = gaps[:, gaps.any(axis=0)]
    gaps = gaps // max(int(np.gcd.reduce(gaps, axis=None)), 1)  # the unit does not matter
    reach = float(np.abs(gaps.astype(np.float64)).sum(axis=1).max(initial=0.0))
    if reach < EXACT:
        return gaps.astype(np.int64), 0.0
    step = 2 ** ceil(log2(reach / EXACT) + 1)
    return ((gaps.astype(object) + step // 2) // step).astype(np.int64), float(gaps.shape[1])


def _grouped(items: Ints) -> tuple[Ints, Ints]:
    """Items that differ, also in more than the sign, one in a row; and how many there are of each.

    Row by row as they are, if two that differ have the same key.
    """
    signs = np.sign(items[(items != 0).argmax(axis=0), np.arange(items.shape[1])])
    rows = np.ascontiguousarray((items * signs).T)
    key = rows @ np.random.default_rng(0).integers(-(2**63), 2**63 - 1, rows.shape[1])
    _, where, group, counts = np.unique(key, True, True, True)
    alike = bool((rows[where][group] == rows).all())
    return (rows[where], counts) if alike else (rows, np.ones(len(rows), dtype=np.int64))


def _toss(
    chunk: range, origin: np.random.SeedSequence | None, alone: Any, alike: Ints, counts: Ints
) -> Floats:
    """The sums (S, labellings) under some labellings: random ones; without an origin by number.

    A row of `alone`, whose number is a multiple of eight, has a coin, and a row of `alike` as many
    as `counts` says.
    """
    rng = stream(origin or np.random.SeedSequence(0), chunk.start)
    heads = np.zeros((len(chunk), alone.shape[1]), dtype=alone.dtype)
    for start in range(0, len(alone), ITEMS):
        some = alone[start : start + ITEMS]
        bits = rng.integers(0, 256, (len(some) // 8, len(chunk)), dtype=np.uint8)
        if origin is None:
            bits = (np.array(chunk) >> np.arange(0, len(some), 8)[:, None]).astype(np.uint8)
        add_heads(some, bits, heads)
    total = heads.astype(np.float64)
    for row, count in zip(alike, counts.tolist(), strict=True):
        total += rng.binomial(count, 0.5, len(chunk))[:, None] * row
    whole = alone.sum(axis=0, dtype=np.int64) + counts @ alike
    return np.vstack([np.zeros(len(chunk)), (2 * total - whole).T])


def _hits(chunk: range, coins: Any, *pairs: Any) -> Ints:
    return maxima(_toss(chunk, *coins), *pairs)[0]


def _add_heads(rows: Any, bits: Any, sums: Any) -> None:
    """`add_heads` in NumPy."""
    coins = np.unpackbits(bits, axis=0, bitorder="little").T.astype(np.float64)
    sums += (coins @ rows).astype(sums.dtype)


@compiled_or(_add_heads)
def add_heads(rows: Any, bits: Any, sums: Any) -> None:
    """Add to ``sums[b]`` the rows whose coins show heads in column b of `bits`.

    The coin of row ``8 k + i`` is bit i of ``bits[k]``. The 256 sums of eight rows are made once,
    for all columns.
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


def maxima(
    rows: Floats, first: Ints, second: Ints, weights: Floats, least: Floats
) -> tuple[Ints, Floats]:
    """What `find_maxima` counts and finds."""
    hits, highest = np.zeros(first.size, dtype=np.int64), np.full(rows.shape[1], -inf)
    find_maxima(rows, first, second, weights, least, hits, highest)
    return hits, highest


def _find_maxima(
    rows: Any, first: Any, second: Any, weights: Any, least: Any, hits: Any, highest: Any
) -> None:
    """`find_maxima` in NumPy."""
    for h in range(first.size - 1, -1, -1):
        gap = np.abs(rows[first[h]] - rows[second[h]])
        np.maximum(highest, gap * weights[h], out=highest)
        hits[h] = np.count_nonzero(highest >= least[h])


@compiled_or(_find_maxima, lambda rows, first, *_: 10 * rows.shape[1] * first.size)
def find_maxima(
    rows: Any, first: Any, second: Any, weights: Any, least: Any, hits: Any, highest: Any
) -> None:
    """In how many labellings the maximum from pair h on is ``least[h]`` or more; and that of all.

    The value of a pair is the weighted magnitude of the difference of two rows, which have a column
    for each labelling. Some labellings at a time make use of vectors.
    """
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


# ---- intervals that hold together --------------------------------------------------------------

#: Draws of the largest difference at most, and at least, and differences that they take together.
#: The error of intervals is 0.05 give or take 0.002 after 10 000 draws, and 0.007 after 1 000.
MOST, LEAST, QUICK = 10_000, 1_000, 2**28
#: A share of the largest variance that is as good as 0.
NOTHING = 1e-9


def joint_tail(values: Floats, first: Ints, second: Ints, alpha: float) -> float:
    """The error on each side of each interval, if those of all pairs are to hold together.

    The values (S, N) are what units add to each system. The error is never more than that of an
    interval that stands alone, nor less than Bonferroni's.
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
    found = np.sort(np.concatenate([*in_parallel(_largest, chunks, *shared)]))
    place = ceil(round((1 - alpha) * (draws + 1), 6))
    tail = float(ndtr(-found[place - 1])) if place <= draws else 0.0
    return min(max(tail, bonferroni), alone)


def _largest(chunk: range, origin: np.random.SeedSequence, root: Floats, *pairs: Any) -> Floats:
    """The largest standardised difference in each of some draws."""
    draws = stream(origin, chunk.start).standard_normal((len(root), len(chunk)))
    return maxima(root @ draws, *pairs)[1]


def interval_at(
    tail: float, typical: float, gaps: Floats, mean: float, binary: bool
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
        return score_ends(b, c, n, float(ndtr(-reach)))
    if n < 2 or 2.0**-n > tail * (1 + 1e-9):  # no p of so few units reaches the level
        return -inf, inf
    added = reach**2 / 2 * (root_mean_square(gaps) or typical) ** 2
    reach *= sqrt((float(np.var(gaps)) * n + added) / (n * (n - 1)))
    return mean - reach, mean + reach


def root_mean_square(gaps: Floats) -> float:
    """Of those that are not 0; 0 if all are."""
    some = gaps[gaps != 0]
    return sqrt(float(np.mean(some * some))) if some.size else 0.0
