"""Measures of one system that are functions of several sums: F1 and its relatives, BLEU, ...

A measure says which counts it needs of every entry, which integers are added up over the entries,
and what number their sums make: as floats for many sums at once, and exactly for one. Two systems
are compared by the difference of their measures; since a swap leaves the totals of both systems
together as they are, the sums of the first one say everything (App. B).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import lcm, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_sum, with_room

#: A Fraction, or a Decimal, of which two of a kind can be subtracted and compared.
Exact: TypeAlias = Any

#: Digits of values that are no fractions, and how close two of them count as equal.
DIGITS, CLOSE = Context(prec=60), Decimal("1e-50")


def subtract(a: Exact, b: Exact) -> Exact:
    """a - b: exactly, or to as many digits as decimals have here; 0 if they are that close."""
    if isinstance(a, Fraction):
        return a - b
    with localcontext(DIGITS):
        gap = a - b
        return gap if abs(gap) > CLOSE else Decimal(0)


#: Weights that make a mean of ratios one sum are no larger than this, so that sums fit an int64.
LARGEST_WEIGHT = 2**36


class Measure(ABC):
    """A number that is made of m sums of one system."""

    #: Names of the counts that an entry has, in the order of the columns.
    columns: tuple[str, ...]
    #: 1 for sums in which the measure never falls, -1 for those in which it never rises.
    signs: tuple[int, ...] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the m sums."""
        return self.columns

    def addends(self, counts: IntArray) -> IntArray:
        """The integers that are added up, of shape (N, m), from counts of shape (N, c)."""
        return counts

    @abstractmethod
    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The measure for sums of shape (M, m), to some roundings."""

    @abstractmethod
    def exact(self, sums: list[int]) -> Exact:
        """The measure for m sums."""

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """The first entry of one system that cannot be, next to the other one, and why."""
        del addends, other
        return None


@dataclass(frozen=True, eq=False)
class MeanOfRatios(Measure):
    """The mean over R ratios, hits / (hits + misses) each, or hits / misses; 0 / 0 is 0."""

    columns: tuple[str, ...]
    #: Weights of the columns in the hits, and in the misses, of each ratio.
    hits: tuple[tuple[int, ...], ...]
    misses: tuple[tuple[int, ...], ...]
    #: Whether the hits are part of the denominator.
    whole: bool = True

    @property
    def signs(self) -> tuple[int, ...]:  # type: ignore[override]
        """More hits are never worse, more misses never better."""
        return (1, -1) * len(self.hits)

    @property
    def _rows(self) -> list[tuple[int, ...]]:
        """Weights of hits and misses of every ratio in turn."""
        return [row for pair in zip(self.hits, self.misses, strict=True) for row in pair]

    @property
    def parts(self) -> tuple[str, ...]:
        """What is added up: hits and misses of every ratio in turn."""
        named = (
            [(w, c) for w, c in zip(row, self.columns, strict=True) if w] for row in self._rows
        )
        return tuple(" + ".join(c if w == 1 else f"{w} {c}" for w, c in terms) for terms in named)

    def linear(self, u: IntArray, v: IntArray) -> tuple[Linear, IntArray, IntArray] | None:
        """The same measure as a weighted sum of hits, where no swap changes a denominator.

        Takes the addends of both systems, of shape (N, 2 R), and returns those of one sum; None
        where denominators vary, or weights are too large.
        """
        below = u[:, 0::2] + u[:, 1::2]
        if not self.whole or not np.array_equal(below, v[:, 0::2] + v[:, 1::2]):
            return None
        sizes = [exact_sum(column) for column in below.T]
        common = lcm(*(size for size in sizes if size))
        if common > LARGEST_WEIGHT:
            return None
        weights = np.array([common // size if size else 0 for size in sizes])
        # Hits are at most the size, so that no product exceeds `common`.
        return Linear(common * len(self.hits)), *(x[:, 0::2] @ weights[:, None] for x in (u, v))

    def addends(self, counts: IntArray) -> IntArray:
        """Hits and misses of every ratio in turn, of shape (N, 2 R)."""
        rows = self._rows
        counts = with_room(counts, max(map(sum, rows)))
        added = np.zeros((len(counts), len(rows)), dtype=counts.dtype)
        for part, weights in zip(added.T, rows, strict=True):
            for weight, column in zip(weights, counts.T, strict=True):
                if weight:  # most are 0; there is no quick product of integer matrices
                    part += weight * column
        return added

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of the ratios."""
        hits, rest = sums[:, 0::2], sums[:, 1::2]
        below = hits + rest if self.whole else rest
        ratios = np.where(below == 0, 0.0, hits / np.where(below == 0, 1.0, below))
        return np.asarray(ratios.mean(axis=1))

    def exact(self, sums: list[int]) -> Fraction:
        """The mean of the ratios."""
        total = Fraction(0)
        for hits, rest in zip(sums[0::2], sums[1::2], strict=True):
            below = hits + rest if self.whole else rest
            total += Fraction(hits, below) if below else 0
        return total / len(self.hits)

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """Hits without a denominator, which sums could have too where denominators vary."""
        hits, below = addends[:, 0::2], addends[:, 1::2]
        if self.whole or (below.any() and np.array_equal(below, other[:, 1::2])):
            return None
        for n in np.flatnonzero(((hits != 0) & (below == 0)).any(axis=1))[:1]:
            above, length = self.parts[0], self.parts[1]
            return int(n), (
                f"{above} = {addends[n, 0]} but {length} = 0, and {length} differs between the "
                "systems, so the ratio could become infinite; give both systems the same"
            )
        return None


@dataclass(frozen=True, eq=False)
class Linear(Measure):
    """One sum over a constant number."""

    scale: int
    columns: tuple[str, ...] = ("score",)
    signs: tuple[int, ...] = (1,)

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scaled sum."""
        return np.asarray(sums[:, 0] / self.scale)

    def exact(self, sums: list[int]) -> Fraction:
        """The scaled sum."""
        return Fraction(sums[0], self.scale)


@dataclass(frozen=True, eq=False)
class Matthews(Measure):
    """Matthews' correlation coefficient of two classes; 0 where a margin is empty."""

    columns = ("tp", "fp", "fn", "tn")

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """(tp tn - fp fn) / sqrt of the product of the margins."""
        tp, fp, fn, tn = sums.T
        root = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
        safe = np.where(root == 0, 1.0, root)
        return np.asarray(np.where(root == 0, 0.0, (tp * tn - fp * fn) / safe))

    def exact(self, sums: list[int]) -> Decimal:
        """The same to 60 digits."""
        tp, fp, fn, tn = sums
        margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        with localcontext(DIGITS):
            return Decimal(tp * tn - fp * fn) / Decimal(margins).sqrt() if margins else Decimal(0)


#: Longest n-grams that BLEU counts.
ORDERS = 4


@dataclass(frozen=True, eq=False)
class Bleu(Measure):
    """Corpus BLEU (Papineni et al. 2002), from 0 to 1, without smoothing."""

    columns = (
        *(f"match_{n}" for n in range(1, ORDERS + 1)),
        *(f"total_{n}" for n in range(1, ORDERS + 1)),
        "length",
        "reference_length",
    )

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Geometric mean of the n-gram precisions, times the brevity penalty."""
        matches, totals = sums[:, :ORDERS], sums[:, ORDERS : 2 * ORDERS]
        length, reference = sums[:, -2], sums[:, -1]
        nothing = (matches <= 0).any(axis=1) | (length <= 0)
        logs = np.log(np.where(matches <= 0, 1.0, matches) / np.where(totals <= 0, 1.0, totals))
        penalty = np.minimum(0.0, 1 - reference / np.where(length <= 0, 1.0, length))
        return np.asarray(np.where(nothing, 0.0, np.exp(logs.mean(axis=1) + penalty)))

    def exact(self, sums: list[int]) -> Decimal:
        """The same to 60 digits."""
        matches, totals = sums[:ORDERS], sums[ORDERS : 2 * ORDERS]
        length, reference = sums[-2:]
        if min(matches) <= 0 or length <= 0:
            return Decimal(0)
        with localcontext(DIGITS):
            product = Decimal(prod(matches)) / Decimal(prod(totals))
            penalty = min(Decimal(0), 1 - Decimal(reference) / Decimal(length))
            return product.sqrt().sqrt() * penalty.exp()

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """More matches than n-grams."""
        del other
        bad = addends[:, :ORDERS] > addends[:, ORDERS : 2 * ORDERS]
        for n, order in np.argwhere(bad)[:1]:
            problem = (
                f"{addends[n, order]} matches among {addends[n, ORDERS + order]} n-grams of order "
                f"{order + 1}"
            )
            return int(n), f"{problem}; there cannot be more matches than n-grams"
        return None
