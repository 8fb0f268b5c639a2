"""Obvious, slow twins of every fast routine: lists, integers, fractions and 2^N loops only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
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


def count_pvalue(u: Sequence[int], v: Sequence[int], h: Callable[[int], Any] = abs) -> Fraction:
    """Eq. 2 for differences of sums, too many pairs to enumerate but few enough to count."""
    gaps = [abs(a - b) for a, b in zip(u, v, strict=True)]
    table, low, observed = counts(gaps), -sum(gaps), sum(u) - sum(v)
    hits = sum(ways for t, ways in enumerate(table) if ways and h(low + 2 * t) >= h(observed))
    return Fraction(hits, 2 ** len(gaps))


def shifted_pvalue(
    differences: Sequence[Fraction | int], shift: Fraction | int, alternative: str = "greater"
) -> Fraction:
    """The same share for differences less `shift`, whose signs are exchanged one by one."""
    sums = [Fraction(0)]
    for d in differences:
        sums = [s + sign * (d - shift) for sign in (1, -1) for s in sums]
    h = h_of(alternative)
    return Fraction(sum(h(s) >= h(sums[0]) for s in sums), len(sums))


def typical_values(differences: Sequence[Fraction | int]) -> list[Fraction]:
    """Means over all subsets of the differences but the empty one, ascending."""
    subsets = [(Fraction(0), 0)]
    for d in differences:
        subsets += [(total + d, size + 1) for total, size in subsets]
    return sorted(total / size for total, size in subsets if size)


def lower_end(differences: Sequence[Fraction | int], alpha: Fraction) -> Fraction | None:
    """The smallest shift that a one-sided test ("greater") does not reject; None: any."""
    n_labellings = 2 ** len(differences)
    if Fraction(1, n_labellings) > alpha:
        return None
    values = typical_values(differences)
    return next(x for i, x in enumerate(values) if Fraction(2 + i, n_labellings) > alpha)
