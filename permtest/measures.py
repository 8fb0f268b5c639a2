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
from functools import cached_property
from math import lcm
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
    """A number that is made of m sums of one system.

    Attributes
    ----------
    columns : tuple of str
        Names of the counts that an entry has, in the order of the columns.
    parts : tuple of str
        Names of the m sums.
    rational : bool
        Whether `exact` is a fraction; otherwise a decimal of 60 digits.
    signs : tuple of m int, or None
        1 for sums in which the measure never falls, -1 for those in which it never rises.
    """

    columns: tuple[str, ...]
    parts: tuple[str, ...]
    rational: bool = True
    signs: tuple[int, ...] | None = None

    @abstractmethod
    def addends(self, counts: IntArray) -> IntArray:
        """The integers that are added up, of shape (N, m), from counts of shape (N, c)."""

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
    """The mean over R ratios, hits / (hits + misses) each, or hits / misses.

    Parameters
    ----------
    columns : tuple of c str
    hits, misses : tuple of R tuples of c int
        Weights of the columns in both.
    whole : bool
        Whether the hits are part of the denominator.
    zero_division : Fraction
        What 0 / 0 is, from 0 to 1.
    """

    columns: tuple[str, ...]
    hits: tuple[tuple[int, ...], ...]
    misses: tuple[tuple[int, ...], ...]
    whole: bool = True
    zero_division: Fraction = Fraction(0)

    @property
    def size(self) -> int:
        """R, the number of ratios."""
        return len(self.hits)

    @property
    def signs(self) -> tuple[int, ...]:  # type: ignore[override]
        """More hits are never worse, more misses never better."""
        return (1, -1) * self.size

    def linear(self, u: IntArray, v: IntArray) -> tuple[Linear, IntArray, IntArray] | None:
        """The same measure as a weighted sum of hits, where no swap changes a denominator.

        Parameters
        ----------
        u, v : ndarray of shape (N, 2 R)
            Addends of both systems.

        Returns
        -------
        Linear, ndarray of shape (N, 1), ndarray of shape (N, 1)
            The measure, and its addends; None where denominators vary, or weights are too large.
        """
        below = u[:, 0::2] + u[:, 1::2]
        if not self.whole or not np.array_equal(below, v[:, 0::2] + v[:, 1::2]):
            return None
        sizes = [exact_sum(column) for column in below.T]
        common = lcm(*(size for size in sizes if size))
        if common > LARGEST_WEIGHT:
            return None
        weights = np.array([common // size if size else 0 for size in sizes])
        constant = self.zero_division * sizes.count(0) / self.size
        # Hits are at most `size`, so that no product exceeds `common`.
        return Linear(common * self.size, constant), *(
            x[:, 0::2] @ weights[:, None] for x in (u, v)
        )

    @cached_property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        """What is added up: hits and misses of every ratio in turn."""
        return tuple(self._label(weights) for pair in self._pairs() for weights in pair)

    def addends(self, counts: IntArray) -> IntArray:
        """Hits and misses of every ratio in turn, of shape (N, 2 R)."""
        rows = [weights for pair in self._pairs() for weights in pair]
        counts = with_room(counts, max(sum(weights) for weights in rows))
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
        safe = np.where(below == 0, 1.0, below)
        ratios = np.where(below == 0, float(self.zero_division), hits / safe)
        return np.asarray(ratios.mean(axis=1))

    def exact(self, sums: list[int]) -> Fraction:
        """The mean of the ratios."""
        total = Fraction(0)
        for hits, rest in zip(sums[0::2], sums[1::2], strict=True):
            below = hits + rest if self.whole else rest
            total += Fraction(hits, below) if below else self.zero_division
        return total / self.size

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """Hits without a denominator, which sums could have too where denominators vary."""
        below = addends[:, 1::2]
        if self.whole or (below.any() and np.array_equal(below, other[:, 1::2])):
            return None
        for n in np.flatnonzero(((addends[:, 0::2] != 0) & (addends[:, 1::2] == 0)).any(axis=1))[
            :1
        ]:
            above, length = self.parts[0], self.parts[1]
            return int(n), (
                f"{above} = {addends[n, 0]} but {length} = 0, and {length} differs between the "
                "systems, so the ratio could become infinite; give both systems the same"
            )
        return None

    def _pairs(self) -> Any:
        return zip(self.hits, self.misses, strict=True)

    def _label(self, weights: tuple[int, ...]) -> str:
        named = [(w, c) for w, c in zip(weights, self.columns, strict=True) if w]
        return " + ".join(c if w == 1 else f"{w} {c}" for w, c in named)


@dataclass(frozen=True, eq=False)
class Linear(Measure):
    """One sum, over a constant number, and another constant.

    Parameters
    ----------
    scale : int
    constant : Fraction
    """

    scale: int
    constant: Fraction
    columns: tuple[str, ...] = ("score",)
    parts: tuple[str, ...] = ("score",)
    signs: tuple[int, ...] = (1,)

    def addends(self, counts: IntArray) -> IntArray:
        """The scores themselves."""
        return counts

    def values(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scaled sum."""
        return np.asarray(sums[:, 0] / self.scale + float(self.constant))

    def exact(self, sums: list[int]) -> Fraction:
        """The scaled sum."""
        return Fraction(sums[0], self.scale) + self.constant


@dataclass(frozen=True, eq=False)
class Matthews(Measure):
    """Matthews' correlation coefficient of two classes; 0 where a margin is empty."""

    columns: tuple[str, ...] = ("tp", "fp", "fn", "tn")
    parts: tuple[str, ...] = ("tp", "fp", "fn", "tn")
    rational: bool = False

    def addends(self, counts: IntArray) -> IntArray:
        """The counts themselves."""
        return counts

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

    columns: tuple[str, ...] = (
        *(f"match_{n}" for n in range(1, ORDERS + 1)),
        *(f"total_{n}" for n in range(1, ORDERS + 1)),
        "length",
        "reference_length",
    )
    rational: bool = False

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        """The counts themselves."""
        return self.columns

    def addends(self, counts: IntArray) -> IntArray:
        """The counts themselves."""
        return counts

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
            product = Decimal(1)
            for match, total in zip(matches, totals, strict=True):
                product *= Decimal(match) / Decimal(total)
            penalty = min(Decimal(0), 1 - Decimal(reference) / Decimal(length))
            return product.sqrt().sqrt() * penalty.exp()

    def problem(self, addends: IntArray, other: IntArray) -> tuple[int, str] | None:
        """More matches than n-grams."""
        del other
        bad = addends[:, :ORDERS] > addends[:, ORDERS : 2 * ORDERS]
        for n in np.flatnonzero(bad.any(axis=1))[:1]:
            order = int(np.flatnonzero(bad[n])[0])
            match, total = addends[n, order], addends[n, ORDERS + order]
            problem = f"{match} matches among {total} n-grams of order {order + 1}"
            return int(n), f"{problem}; there cannot be more matches than n-grams"
        return None
