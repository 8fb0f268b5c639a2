"""Obvious, slow twins of every fast routine: lists, integers, fractions and 2^N loops only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import cosh, exp, log, sqrt
from statistics import NormalDist
from typing import Any

Law = dict[int, Fraction]


def difference(a: int, b: int) -> int:
    return a - b


def labellings(
    u: Sequence[Any], v: Sequence[Any], g: Callable[[Any, Any], int] = difference
) -> list[int]:
    """The sum of g under each of the 2^N swaps; bit n of the position swaps entry n."""
    sums = []
    for swaps in product([False, True], repeat=len(u)):
        swapped = reversed(swaps)  # the last factor of product runs fastest
        entries = zip(u, v, swapped, strict=True)
        sums.append(sum(g(b, a) if swap else g(a, b) for a, b, swap in entries))
    return sums


def pvalue(
    u: Sequence[Any],
    v: Sequence[Any],
    g: Callable[[Any, Any], int] = difference,
    h: Callable[[int], Any] = abs,
) -> Fraction:
    """Eq. 2: the share of labellings with h(S) >= observed."""
    sums = labellings(u, v, g)
    return Fraction(sum(h(s) >= h(sums[0]) for s in sums), len(sums))


def h_of(alternative: str, centre: Fraction | int = 0) -> Callable[[int], Any]:
    """The h that an alternative stands for."""
    return {
        "greater": lambda s: s,
        "less": lambda s: -s,
        "two-sided": lambda s: abs(s - centre),
    }[alternative]


def local_law(stay: int, swap: int) -> Law:
    """Eq. 4."""
    return {stay: Fraction(1)} if stay == swap else {stay: Fraction(1, 2), swap: Fraction(1, 2)}


def convolve(laws: Sequence[Law]) -> Law:
    """Alg. 3 on dictionaries of fractions."""
    total: Law = {0: Fraction(1)}
    for law in laws:
        nxt: Counter[int] = Counter()
        for z, p in law.items():
            for s, q in total.items():
                nxt[z + s] += p * q
        total = dict(nxt)
    return total


def counts(widths: Sequence[int]) -> list[int]:
    """How many subsets of the widths have each sum, 0 up to their total."""
    table = [1]
    for width in widths:
        longer = table + [0] * width
        for t, ways in enumerate(table):
            longer[t + width] += ways
        table = longer
    return table


def shifted_pvalue(
    differences: Sequence[Fraction | int],
    shift: Fraction | int,
    alternative: str = "greater",
    sizes: Sequence[int] | None = None,
) -> Fraction:
    """The same share for differences less `shift` a pair, whose signs are exchanged one by one."""
    sums = [Fraction(0)]
    for d, size in zip(differences, sizes or [1] * len(differences), strict=True):
        sums = [s + sign * (d - size * shift) for sign in (1, -1) for s in sums]
    h = h_of(alternative)
    return Fraction(sum(h(s) >= h(sums[0]) for s in sums), len(sums))


def typical_values(
    differences: Sequence[Fraction | int], sizes: Sequence[int] | None = None
) -> list[Fraction]:
    """Means over all subsets of the differences but the empty one, ascending."""
    subsets = [(Fraction(0), 0)]
    for d, size in zip(differences, sizes or [1] * len(differences), strict=True):
        subsets += [(s + d, n + size) for s, n in subsets]
    return sorted(s / n for s, n in subsets if n)


def lower_end(
    differences: Sequence[Fraction | int], alpha: Fraction, sizes: Sequence[int] | None = None
) -> Fraction | None:
    """The smallest shift that a one-sided test ("greater") does not reject; None: any."""
    n_labellings = 2 ** len(differences)
    if Fraction(1, n_labellings) > alpha:
        return None
    values = typical_values(differences, sizes)
    return next(x for i, x in enumerate(values) if Fraction(2 + i, n_labellings) > alpha)


# ---- several sums ------------------------------------------------------------------------------


def ratio(above: int, below: int) -> Fraction:
    return Fraction(above, below) if below else Fraction(0)


def f_score(beta: Fraction) -> Callable[..., Fraction]:
    def score(tp: int, fp: int, fn: int, *_: int) -> Fraction:
        weighted = (1 + beta**2) * tp
        below = weighted + beta**2 * fn + fp
        return weighted / below if below else Fraction(0)

    return score


#: Measures as textbooks write them: of the counts of a whole test set, with a value for 0 / 0.
MEASURES: dict[str, Callable[..., Fraction]] = {
    "precision": lambda tp, fp, fn, *_: ratio(tp, tp + fp),
    "recall": lambda tp, fp, fn, *_: ratio(tp, tp + fn),
    "f1": f_score(Fraction(1)),
    "f2": f_score(Fraction(2)),
    "f0.5": f_score(Fraction(1, 2)),
    "jaccard": lambda tp, fp, fn, *_: ratio(tp, tp + fp + fn),
}

Row = Sequence[int]


def added(rows: Sequence[Row]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def measure_values(
    u: Sequence[Row],
    v: Sequence[Row],
    measure: Callable[..., Any],
    alternative: str = "two-sided",
    **options: Any,
) -> list[Any]:
    """How extreme the difference of measures is under each of the 2^N swaps, none of them first."""
    h = h_of(alternative)
    values = []
    for swaps in product([False, True], repeat=len(u)):
        mine = [b if swap else a for a, b, swap in zip(u, v, swaps, strict=True)]
        theirs = [a if swap else b for a, b, swap in zip(u, v, swaps, strict=True)]
        values.append(h(measure(*added(mine), **options) - measure(*added(theirs), **options)))
    return values


def measure_pvalue(*which: Any, **options: Any) -> Fraction:
    """The share of the 2^N swaps whose difference of measures is at least as extreme."""
    values = measure_values(*which, **options)
    return Fraction(sum(value >= values[0] for value in values), len(values))


def joint_counts(u: Sequence[Row], v: Sequence[Row]) -> dict[tuple[int, ...], int]:
    """How many of the 2^N swaps give the first system each vector of sums; Alg. 5 with integers."""
    table = Counter({(0,) * len(u[0]): 1})
    for a, b in zip(u, v, strict=True):
        longer: Counter[tuple[int, ...]] = Counter()
        for sums, ways in table.items():
            for row in (a, b):
                longer[tuple(s + x for s, x in zip(sums, row, strict=True))] += ways
        table = longer
    return dict(table)


def staircase_pvalue(
    u: Sequence[Row], v: Sequence[Row], reached: Callable[[int, int], bool]
) -> Fraction:
    """P of an event that happens from some first sum on, for two sums of up to a thousand pairs.

    As `joint_counts`; for each second sum the counts of all first sums are digits of one integer.
    """
    differing = [(a, b) for a, b in zip(u, v, strict=True) if a != b]
    bits, n = len(differing) + 2, len(differing)
    first = sum(min(a[0], b[0]) for a, b in differing)
    fixed = added([(0, 0), *(a for a, b in zip(u, v, strict=True) if a == b)])
    table = {fixed[1]: 1}
    for a, b in differing:
        longer: Counter[int] = Counter()
        for second, digits in table.items():
            for row in (a, b):
                longer[second + row[1]] += digits << (row[0] - min(a[0], b[0])) * bits
        table = longer
    hits = 0
    for second, digits in table.items():
        places = range(digits.bit_length() // bits + 1)
        start = bisect_left(places, True, key=lambda x: reached(x + first + fixed[0], second))
        hits += (digits >> start * bits) % (2**bits - 1)  # the sum of the digits from there on
    return Fraction(hits, 2**n)


# ---- posteriors of ratios of counts ----------------------------------------------------------


def better(a: int, b: int, c: int, d: int) -> Fraction:
    """P(X > Y) for X ~ Beta(a, b) and Y ~ Beta(c, d) with whole parameters: a finite sum."""
    term = Fraction(1)
    for j in range(b):
        term *= Fraction(d + j, c + d + j)
    total = Fraction(0)
    for i in range(a):
        total += term
        term *= Fraction((c + i) * (b + i), (c + d + b + i) * (1 + i))
    return total


def hits_and_misses(metric: str, tp: Any, fp: Any, fn: Any, tn: Any = 0) -> tuple[Any, Any]:
    """The parameters of the Beta variable that a metric rises with, where there is one."""
    return {
        "precision": (tp, fp),
        "recall": (tp, fn),
        "f1": (tp, fp + fn),
        "jaccard": (tp, fp + fn),
        "specificity": (tn, fp),
        "accuracy": (tp + tn, fp + fn),
    }[metric]


def fold_weight(m: int) -> Any:
    """The average of 1 / (1 + rho1 + 2 (m - 1) rho2) over both correlations, by mpmath."""
    from mpmath import mpf, quad

    def share(first: Any, second: Any) -> Any:
        return 1 / (1 + first + 2 * (m - 1) * second)

    return 8 * quad(share, [0, mpf(1) / 2], [mpf(1) / 4, mpf(1) / 2])


def subset_sums(widths):
    """The sum of each subset."""
    sums = [0]
    for width in widths:
        sums += [s + width for s in sums]
    return sums


def small_subsets(widths, most):
    """All subsets whose sum is at most `most`, found one element at a time."""
    found = [()]
    for width in widths:
        found += [(*some, width) for some in found if sum(some) + width <= most]
    return found


def mean(runs):
    return sum(map(Fraction, runs)) / Fraction(len(runs))


def runs_law(a, b, worth=mean):
    """The law of the sum over all ways to deal the runs of each item to the systems."""
    law = {Fraction(0): Fraction(1)}
    for first, second in zip(a, b, strict=True):
        pooled = [*first, *second]
        ways = Counter()
        for chosen in combinations(range(len(pooled)), len(first)):
            mine = [pooled[i] for i in chosen]
            ways[worth(mine) - worth([x for i, x in enumerate(pooled) if i not in chosen])] += 1
        law = convolve([law, {x: Fraction(n, ways.total()) for x, n in ways.items()}])
    return law


def runs_pvalue(a, b, alternative="two-sided", worth=mean):
    """The share of all ways to deal the runs of each item to the systems that are extreme."""
    seen = sum((worth(x) - worth(y) for x, y in zip(a, b, strict=True)), Fraction(0))
    h = h_of(alternative)
    return sum((p for x, p in runs_law(a, b, worth).items() if h(x) >= h(seen)), Fraction(0))


def smallest_runs_pvalue(a, b, alternative="two-sided"):
    """The p of the most extreme way to deal the runs of each item."""
    h, law = h_of(alternative), runs_law(a, b)
    return sum(p for x, p in law.items() if h(x) == max(map(h, law)))


def whole_runs_pvalues(a, b, alternative="two-sided"):
    """p of the labelling that was seen and of the most extreme one, whole columns being dealt."""
    first, second = (
        [sum(map(Fraction, run)) for run in zip(*rows, strict=True)] for rows in (a, b)
    )
    pooled, k, values = [*first, *second], len(first), []
    for mine in combinations(range(len(pooled)), k):
        theirs = [x for i, x in enumerate(pooled) if i not in mine]
        values.append(sum(pooled[i] for i in mine) / k - sum(theirs) / len(theirs))
    h = h_of(alternative)
    seen = sum(first) / k - sum(second) / len(second)
    shares = (sum(h(x) >= h(y) for x in values) for y in (seen, max(values, key=h)))
    return tuple(Fraction(n, len(values)) for n in shares)


def e_values(d, bets):
    """E_1 ... E_N, one bet and one item at a time."""
    totals, found = [1.0] * len(bets), []
    for n, x in enumerate(d):
        past = [y for y in d[:n] if y]
        rate = (len(past) / sum(y * y for y in past)) ** 0.5 if past else 0.0
        totals = [
            t * exp(c * rate * x) / cosh(c * rate * x) for t, c in zip(totals, bets, strict=True)
        ]
        found.append(sum(totals) / len(bets))
    return found


def tango_ends(b: int, c: int, n: int, level: float) -> tuple[float, float]:
    """Where Tango's score test begins to reject: the likelihood is maximised by a search."""

    def z(delta: float) -> float:
        def minus_log(q: float) -> float:
            shares = q + delta, q, 1 - 2 * q - delta
            parts = zip((b, c, n - b - c), shares, strict=True)
            return -sum(k * log(max(p, 1e-300)) for k, p in parts if k)

        low, high = max(0.0, -delta), (1 - delta) / 2
        for _ in range(200):
            one, other = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, other) if minus_log(one) <= minus_log(other) else (one, high)
        q = (low + high) / 2
        variance = n * (2 * q + delta - delta**2)
        gap = b - c - n * delta
        return gap / sqrt(variance) if variance > 1e-9 else 1e9 * gap

    limit = NormalDist().inv_cdf((1 + level) / 2)
    ends = []
    for sign in (1, -1):
        inside, outside = (b - c) / n, float(sign)
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if abs(z(middle)) <= limit else (inside, middle)
        ends.append(inside)
    return ends[1], ends[0]
