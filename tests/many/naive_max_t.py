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


def standardised(
    rows: Sequence[Sequence[Fraction]], weights: Sequence[int]
) -> list[list[Fraction | None]]:
    """t^2 of each difference t over its standard deviation; None where it is always 0."""
    total = sum(weights)
    columns: list[list[Fraction | None]] = []
    for column in zip(*rows, strict=True):
        variance = sum(w * x * x for w, x in zip(weights, column, strict=True)) / total
        if variance == 0:
            columns.append([None] * len(rows))
            continue
        columns.append([x * x / variance for x in column])
    return [list(row) for row in zip(*columns, strict=True)]


def adjusted(
    rows: Sequence[Sequence[Fraction]],
    weights: Sequence[int] | None = None,
    seen: int = 0,
) -> list[Fraction]:
    """Adjusted p-values, given the differences under each labelling; row `seen` was observed.

    Westfall and Young (1993), Alg. 4.1: of the hypotheses, the one with the largest statistic is
    held against the maximum of all, the next against the maximum of all but that one, and so on.
    """
    weights = [1] * len(rows) if weights is None else weights
    values = standardised(rows, weights)
    found = [Fraction(1)] * len(rows[0])
    left = [h for h, value in enumerate(values[seen]) if value is not None]
    least = Fraction(0)
    while left:
        best = max(left, key=lambda h: values[seen][h])
        hits = sum(
            w
            for w, row in zip(weights, values, strict=True)
            if max(row[h] for h in left) >= values[seen][best]
        )
        least = found[best] = max(least, Fraction(hits, sum(weights)))
        left.remove(best)
    return found
