"""Step-down max-T by its definition: every labelling, every pair, fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

#: scores[system][item]
Scores = Sequence[Sequence[int]]


def differences(scores: Scores, pairs: Sequence[tuple[int, int]]) -> list[list[Fraction]]:
    """Under each labelling, what the first system of each pair is ahead of the second.

    A labelling says of each item whether two systems swap their scores; in the first, none does.
    """

    def total(mine: int, other: int, swaps: Sequence[int]) -> Fraction:
        return Fraction(sum(scores[other if s else mine][n] for n, s in enumerate(swaps)))

    every = product([0, 1], repeat=len(scores[0]))
    return [[total(i, j, swaps) - total(j, i, swaps) for i, j in pairs] for swaps in every]


def adjusted(rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Adjusted p-values, given the differences under each labelling; the first was observed.

    Westfall and Young (1993), Alg. 4.1: of the hypotheses, the one with the largest square over its
    variance is held against the maximum of all, the next against the maximum of all but that one,
    and so on. The p of a pair that never differs is 1.
    """
    squares = [[x * x for x in row] for row in rows]
    totals = [sum(column) for column in zip(*squares, strict=True)]
    values = [[x / (t or 1) for x, t in zip(row, totals, strict=True)] for row in squares]
    found = [Fraction(1)] * len(totals)
    left = [h for h, total in enumerate(totals) if total]
    least = Fraction(0)
    while left:
        best = max(left, key=lambda h: values[0][h])
        hits = sum(max(row[h] for h in left) >= values[0][best] for row in values)
        least = found[best] = max(least, Fraction(hits, len(rows)))
        left.remove(best)
    return found
