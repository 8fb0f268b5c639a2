"""Obvious, slow twins of corrections and counts: fractions, subsets, and definitions only."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Levels = Callable[[int, int], Fraction]


def _harmonic(m: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, m + 1)), Fraction(0))


#: The share of alpha that the k-th smallest of m p-values is compared with.
LEVELS: dict[str, Levels] = {
    "holm": lambda k, m: Fraction(1, m - k + 1),
    "hochberg": lambda k, m: Fraction(1, m - k + 1),
    "bh": lambda k, m: Fraction(k, m),
    "by": lambda k, m: Fraction(k, m) / _harmonic(m),
}


def rejected(pvalues: Sequence[Fraction], correction: str, alpha: Fraction) -> set[int]:
    """What a correction rejects: Holm steps down from the smallest p, the others step up."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    m, level = len(pvalues), LEVELS[correction]
    passed = [pvalues[i] <= alpha * level(k, m) for k, i in enumerate(order, 1)]
    if correction == "holm":
        number = passed.index(False) if False in passed else m
    else:
        number = max((k for k, fine in enumerate(passed, 1) if fine), default=0)
    return set(order[:number])


def adjusted(pvalues: Sequence[Fraction], correction: str) -> list[Fraction]:
    """The smallest alpha at which each one is rejected; 1 if there is none below."""
    m = len(pvalues)
    steps = {p / LEVELS[correction](k, m) for p in pvalues for k in range(1, m + 1)}
    found = [Fraction(1)] * m
    for alpha in sorted((x for x in steps if x < 1), reverse=True):
        for i in rejected(pvalues, correction, alpha):
            found[i] = alpha
    return found


def bonferroni(pvalues: Iterable[Fraction]) -> Fraction:
    """p of the hypothesis that there is no effect at all."""
    some = list(pvalues)
    return min(len(some) * min(some), Fraction(1))


def partial_conjunction(
    pvalues: Sequence[Fraction], combine: Callable[[Iterable[Fraction]], Fraction]
) -> list[Fraction]:
    """For each u: fewer than u effects, so that some D - u + 1 data sets have none at all."""
    size, curve = len(pvalues), []
    for u in range(1, size + 1):
        subsets = combinations(pvalues, size - u + 1)
        curve.append(max(max(map(combine, subsets)), *curve[-1:]) if curve else combine(pvalues))
    return curve
