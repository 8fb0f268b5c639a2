"""Evaluation units: scores of several items taken together, and how large a unit should be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_finite, check_option
from permtest._html import said
from permtest._integers import IntArray, with_room
from permtest._rng import RNG, as_generator
from permtest.alternatives.sample import PairedSample, as_floats, near_one, rescaled, within_floats
from permtest.pairs import Pairs

METRICS, REMAINDERS = ("mean", "median"), ("error", "drop", "keep")

#: Sizes that are tried unless others are given, and units that the largest leaves at least.
LARGEST_SIZE, FEWEST_UNITS = 100, 5

#: How many sizes are called stable, at most (NLPStatTest manual, C.1).
STABLE = 10


@dataclass(frozen=True, eq=False)
class EvaluationUnits:
    """Scores of two systems in units of several items.

    Parameters
    ----------
    pairs : Pairs
        One pair for each unit, exact: what tests and `describe` take.
    size : int
        Items in a unit.
    metric : str
        "mean" or "median": what stands for a unit.
    sizes : ndarray of shape (units,)
        Items in each unit; the last may have fewer where the remainder is kept.
    order : ndarray of shape (N,)
        The items in the order in which they were dealt to units, those left out at the end.
    left_out : ndarray
        The items that are in no unit.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0, 1], [0, 0, 1, 1, 0, 0], 2, rng=0)
    >>> units.size, units.sizes.tolist(), units.n_left_out
    (2, [2, 2, 2], 0)
    >>> sorted(units.order.tolist()), len(units.items(0))
    ([0, 1, 2, 3, 4, 5], 2)
    """

    pairs: Pairs
    size: int
    metric: str
    sizes: NDArray[np.int64]
    order: NDArray[np.int64]
    left_out: NDArray[np.int64]

    @property
    def n_left_out(self) -> int:
        """How many items are in no unit."""
        return self.left_out.size

    @cached_property
    def a(self) -> NDArray[Any]:
        """Scores of the first system, one `Fraction` for each unit."""
        return _fractions(self.pairs.u, self.pairs.scale)

    @cached_property
    def b(self) -> NDArray[Any]:
        """Scores of the second system, one `Fraction` for each unit."""
        return _fractions(self.pairs.v, self.pairs.scale)

    def items(self, unit: int) -> NDArray[np.int64]:
        """The items of one unit, counted from 0."""
        first = int(self.sizes[:unit].sum())
        return self.order[first : first + int(self.sizes[unit])]

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        text = f"{len(self)} units of {self.size} items, the {self.metric} of each"
        if len(self) and self.sizes[-1] != self.size:
            text += f"; the last one has {self.sizes[-1]}"
        if self.n_left_out:
            some = ", ".join(map(str, self.left_out[:5]))
            dots = ", .." if self.n_left_out > 5 else ""
            text += f"; {self.n_left_out} items left out: {some}{dots}"
        return text + "."

    def _repr_html_(self) -> str:
        return said(str(self))


def evaluation_units(
    a: Any,
    b: Any,
    size: int,
    *,
    metric: str = "mean",
    rng: RNG = None,
    remainder: str = "error",
    names: tuple[str, str] | None = None,
) -> EvaluationUnits:
    """Put so many items after each other into a unit, and one score in place of theirs.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None.
    size : int
        Items in a unit, from 1 to N.
    metric : {"mean", "median"}, default "mean"
        Of the scores of each system in the unit.
    rng : numpy.random.Generator, int or None
        Shuffles the items first, those of both systems alike. None, the default, leaves them in
        their order.
    remainder : {"error", "drop", "keep"}, default "error"
        What happens where `size` does not divide N: nothing is made, the items left over are in
        no unit (and are named), or they make a smaller unit.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    EvaluationUnits
        Scores are fractions, so that units which tie still do: pass `units.pairs` to a test, or
        `units.a` and `units.b`.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, an option is unknown, or items are left over.

    Notes
    -----
    Source: NLPStatTest manual, 3.1.1. A test of units asks a question about units: their mean
    difference is that of the items only where all have one size and none is left out.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], 2, remainder="drop")
    >>> [str(x) for x in units.a], [str(x) for x in units.b], units.left_out.tolist()
    (['1/2', '1'], ['0', '1/2'], [4])
    """
    sample = PairedSample.of(a, b, names=names, least=1)
    n, size = sample.n, _check_size(size, sample.n, "size", sample.n)
    check_option("metric", metric, METRICS)
    check_option("remainder", remainder, REMAINDERS)
    rest = n % size
    if rest and remainder == "error":
        raise ValueError(
            f"size={size} leaves {rest} of {n} items over; choose a size that divides {n}, "
            "remainder='drop' to leave them out, or 'keep' for a smaller last unit"
        )
    order = _order(n, rng)
    n_used = n if remainder == "keep" else n - rest
    sizes = np.full(-(-n_used // size), size, dtype=np.int64)
    if n_used % size:
        sizes[-1] = rest
    u, v = (scores[order[:n_used]] for scores in (sample.pairs.u, sample.pairs.v))
    common = _common(size, rest if n_used % size else size, metric)
    first, second = (_units(scores, size, metric, common) for scores in (u, v))
    pairs = sample.pairs
    scale = pairs.scale * common
    units = Pairs(first, second, pairs.names, pairs.source, scale, score=pairs.score)
    return EvaluationUnits(units, size, metric, sizes, order, np.sort(order[n_used:]))


def _order(n: int, rng: RNG) -> NDArray[np.int64]:
    return np.arange(n) if rng is None else as_generator(rng).permutation(n)


def _common(size: int, last: int, metric: str) -> int:
    """By what the integers of units have to be divided, beyond the scale of the scores."""
    return 2 if metric == "median" else int(np.lcm(size, last))


def _units(scores: IntArray, size: int, metric: str, common: int) -> IntArray:
    """One integer for each unit of consecutive scores, `common` times too large."""
    whole = len(scores) // size * size
    blocks = [scores[:whole].reshape(-1, size), scores[whole:].reshape(1, -1)]
    found = [_of_blocks(x, metric, common) for x in blocks if x.size]
    return np.concatenate(found) if found else scores[:0]


def _of_blocks(rows: IntArray, metric: str, common: int) -> IntArray:
    size = rows.shape[1]
    if metric == "mean":
        factor = common // size
        return np.asarray(with_room(rows, size * factor).sum(axis=1) * factor)
    ordered = np.sort(with_room(rows, 2), axis=1)
    return np.asarray(ordered[:, (size - 1) // 2] + ordered[:, size // 2])


def _fractions(values: IntArray, scale: int) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = [Fraction(int(x), scale) for x in values]
    return array


# ---- how large ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UnitSizes:
    """How much differences of units vary, for units of several sizes.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        Items in a unit.
    sds : ndarray of shape (k,)
        Standard deviations (with n - 1) of the differences of units.
    n_units : ndarray of shape (k,)
        How many units there were.
    n_left_out : ndarray of shape (k,)
        How many items were left over, and out.
    stable : tuple of int
        The first sizes, ten at most, at which the standard deviation is within `tolerance` of
        that of the size before.
    tolerance : float
    metric : str

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> new = [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1]
    >>> old = [1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0]
    >>> found = unit_sizes(new, old, sizes=[1, 2, 3], rng=0)
    >>> found.sizes, found.n_units, found.sds.round(3)
    (array([1, 2, 3]), array([12,  6,  4]), array([0.622, 0.274, 0.319]))
    """

    sizes: NDArray[np.int64]
    sds: NDArray[np.float64]
    n_units: NDArray[np.int64]
    n_left_out: NDArray[np.int64]
    stable: tuple[int, ...]
    tolerance: float
    metric: str

    def __str__(self) -> str:
        found = ", ".join(map(str, self.stable)) or "none of those tried"
        return (
            f"Standard deviation of units of {self.sizes[0]} to {self.sizes[-1]} items: "
            f"{self.sds[0]:.4g} to {self.sds[-1]:.4g}; first sizes that change it by no more than "
            f"{self.tolerance:.3g}: {found}."
        )

    def _repr_html_(self) -> str:
        return said(str(self))


def unit_sizes(
    a: Any,
    b: Any = None,
    sizes: Sequence[int] | None = None,
    *,
    metric: str = "mean",
    rng: RNG = None,
    tolerance: float | None = None,
) -> UnitSizes:
    """How the standard deviation of the differences of units depends on the size of a unit.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems; or `Pairs`, and None. At least 2.
    sizes : sequence of int, optional
        Sizes to try, ascending, each leaving two units at least. Default: from 1 to 100, as long
        as there are five units.
    metric : {"mean", "median"}, default "mean"
        As in `evaluation_units`.
    rng : numpy.random.Generator, int or None
        As in `evaluation_units`; the items are shuffled once for all sizes.
    tolerance : float, optional
        By how much the standard deviation may change from one size to the next. Default: a
        hundredth of that of the first size.

    Returns
    -------
    UnitSizes
        Items that are left over at a size are left out there, and counted.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, or a size is out of range.

    Notes
    -----
    Source: NLPStatTest manual, C.1, the rule read as one about the standard deviation. Means of m
    independent items vary less by the root of m, for ever: what is stable depends on the
    tolerance, and on no property of the scores. Cost O(N) for each size.

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> found = unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 2, 4])
    >>> found.sds.round(3).tolist()
    [3.882, 2.021, 2.121]
    """
    sample = PairedSample.of(a, b, least=2)
    check_option("metric", metric, METRICS)
    tried = _sizes(sample.n, sizes)
    order = _order(sample.n, rng)
    u, v = sample.pairs.u[order], sample.pairs.v[order]
    sds = np.array([_deviation(u, v, size, metric, sample.pairs.scale) for size in tried])
    if tolerance is None:
        tolerance = 0.01 * float(sds[0])
    if check_finite(tolerance, "tolerance") < 0:
        raise ValueError(f"tolerance={tolerance} must not be negative")
    steady = np.abs(np.diff(sds)) <= tolerance
    stable = tuple(size for size, near in zip(tried[1:], steady, strict=True) if near)[:STABLE]
    numbers = np.array(tried, dtype=np.int64)
    left_out = sample.n % numbers
    return UnitSizes(numbers, sds, sample.n // numbers, left_out, stable, tolerance, metric)


def _deviation(u: IntArray, v: IntArray, size: int, metric: str, scale: int) -> float:
    used, common = len(u) // size * size, _common(size, size, metric)
    first, second = (_units(x[:used], size, metric, common) for x in (u, v))
    d = with_room(first, 2) - with_room(second, 2)
    middle = int(d[0])  # keeps the squares small, and all equal differences without a deviation
    gaps, power = near_one(as_floats(d - middle, scale * common))
    sd = rescaled(float(np.std(gaps, ddof=1)), power)
    return within_floats(sd, "standard deviation of the differences")


def _sizes(n: int, sizes: Sequence[int] | None) -> list[int]:
    if sizes is None:
        return list(range(1, max(min(n // FEWEST_UNITS, LARGEST_SIZE), 1) + 1))
    if not isinstance(sizes, Iterable):
        raise TypeError(f"sizes={sizes!r} must be a sequence of whole numbers")
    tried = [_check_size(x, n // 2, f"sizes[{i}]", n) for i, x in enumerate(sizes)]
    if not tried:
        raise ValueError("sizes is empty; give at least one")
    for i, (x, y) in enumerate(pairwise(tried), start=1):
        if y <= x:
            raise ValueError(f"sizes[{i}] = {y} does not exceed the one before; sort them")
    return tried


def _check_size(size: Any, most: int, name: str, of: int) -> int:
    return check_count(size, name, most=most, why=f"there are {of} items")
