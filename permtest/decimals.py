"""Scores as people write them, as integers over one scale, nothing being rounded.

A float stands for the decimal that it is printed as; fractions, decimals and integers of any size
are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import is_unordered, place, plain_array
from permtest._integers import SAFE, IntArray, largest

#: Up to which D floats are recognised as multiples of 1 / D.
LARGEST_DENOMINATOR = 1000

#: ... and up to which k as multiples k / D.
NUMERATORS = 100_000


def unscaled(number: int, scale: int) -> float:
    """``number / scale``: an integer for scale 1, else the nearest float, if there is one."""
    if scale == 1:
        return number
    try:
        return float(Fraction(number, scale))
    except OverflowError:
        size = len(str(abs(number) // scale)) - 1
        raise ValueError(
            f"a score or mean of some 1e{size} is beyond all floats; take whole numbers and "
            "statistic='sum', or divide all scores by a power of ten"
        ) from None


def as_integers(values: Any, name: str) -> IntArray:
    """Return `values` as an integer array in which nothing was rounded or wrapped around.

    Parameters
    ----------
    values : array_like of shape (N,)
    name : str
        How error messages call `values`.

    Returns
    -------
    ndarray of shape (N,)
        int64 where every magnitude is below 2**60, Python integers (dtype object) otherwise.
    """
    array, scale = as_scaled(values, name)
    if scale != 1:
        for i, value in enumerate(_listed(values)):
            if _as_ratio(value, name, i)[1] != 1:
                raise ValueError(
                    f"{name}[{i}] = {value} is not a whole number; multiply decimals by a power of "
                    "ten, or count correct items instead of averaging them"
                )
    return array if array.dtype == object or largest(array) < SAFE else array.astype(object)


def as_scaled(values: Any, name: str) -> tuple[IntArray, int]:
    """Return integers and the number to divide them by, nothing being rounded.

    Parameters
    ----------
    values : array_like of shape (N,)
        Floats are read as `Pairs.of` says: as the decimals that they are printed as, or as
        multiples of 1 / D.
    name : str
        How error messages call `values`.

    Returns
    -------
    integers : ndarray of shape (N,)
        int64, or Python integers (dtype object) where those are too small.
    scale : int
    """
    if is_unordered(values):
        raise TypeError(
            f"{name} must be a one-dimensional sequence of numbers, not {type(values).__name__}"
        )
    if not hasattr(values, "__len__"):
        values = list(values)
    array = plain_array(values, name, "one-dimensional")
    if array.ndim != 1:
        hint = "; pass one column for each system" if array.ndim == 2 else ""
        raise ValueError(f"{name} must be one-dimensional, but has shape {array.shape}{hint}")
    if array.dtype.kind in "bi" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64, copy=False), 1
    if array.dtype.kind == "u" and largest(array) < SAFE:
        return array.astype(np.int64), 1
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and (found := recognised(array)):
        return found
    ratios = [_as_ratio(value, name, i) for i, value in enumerate(_listed(values))]
    scale = lcm(*{denominator for _, denominator in ratios})
    return _packed([numerator * (scale // denominator) for numerator, denominator in ratios]), scale


def in_common_units(columns: Sequence[Any], labels: Sequence[str]) -> tuple[list[IntArray], int]:
    """Several columns as integers with one number to divide them by, nothing being rounded.

    Parameters
    ----------
    columns : sequence of array_like of shape (N,)
        As in `as_scaled`; equal floats are equal in all of them.
    labels : sequence of str
        How error messages call them.

    Returns
    -------
    columns : list of ndarray of shape (N,)
    scale : int
    """
    found = [as_scaled(x, label) for x, label in zip(columns, labels, strict=True)]
    if len({scale for _, scale in found}) > 1 and (same := _made_equal(columns, found)):
        found = [as_scaled(x, label) for x, label in zip(same, labels, strict=True)]
    common = lcm(*(scale for _, scale in found))
    return [_times(x, common // scale) for x, scale in found], common


def _made_equal(
    columns: Sequence[Any], found: Sequence[tuple[IntArray, int]]
) -> list[list[Any]] | None:
    """Scores in which equal floats are equal, where some columns alone were taken for fractions.

    `found` is what `as_scaled` made of each column. None where nothing has to change. A third in
    one column and 0.3333333333333333 in another would be no tie otherwise.
    """
    if all(_is_decimal(scale) for _, scale in found):
        return None
    floats = [getattr(np.asarray(x), "dtype", np.dtype(object)).kind == "f" for x in columns]
    listed = [_listed(x) if one else [] for x, one in zip(columns, floats, strict=True)]
    meant = [
        {x: Fraction(int(n), scale) for x, n in zip(some, scaled.tolist(), strict=False)}
        for some, (scaled, scale) in zip(listed, found, strict=True)
    ]
    every: dict[Any, Fraction] = {}
    for own in meant:
        for x, value in own.items():
            # The fraction is what has the smaller denominator.
            every[x] = min(every.get(x, value), value, key=lambda f: f.denominator)
    if all(every[x] == value for own in meant for x, value in own.items()):
        return None
    return [
        [every[x] for x in some] if one else column
        for some, one, column in zip(listed, floats, columns, strict=True)
    ]


def _is_decimal(scale: int) -> bool:
    """Whether numbers over `scale` have finitely many decimals."""
    while scale % 2 == 0:
        scale //= 2
    while scale % 5 == 0:
        scale //= 5
    return scale == 1


def recognised(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """Integers and what to divide them by, of floats that are whole, decimals, or k / D.

    Parameters
    ----------
    array : ndarray of shape (N,)

    Returns
    -------
    (ndarray of shape (N,), int), or None
        None where there are too many digits for the quick ways, or a value is not finite.
    """
    # Beyond its mantissa a float is not printed as the whole number that it equals.
    limit = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    if np.all((np.abs(array) < limit) & (np.floor(array) == array)):
        return array.astype(np.int64), 1
    return _few_decimals(array) or _small_fractions(array)


def _few_decimals(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """The quick way for scores of up to four decimals and fifteen digits, which are unambiguous."""
    if array.dtype != np.float64:
        return None
    for scale in (10, 100, 1000, 10_000):
        for some in (array[:8], array):  # most scales fail at once
            with np.errstate(over="ignore"):
                scaled = np.rint(some * scale)
            if not (np.all(np.abs(scaled) < 1e15) and np.array_equal(scaled / scale, some)):
                break
        else:
            return scaled.astype(np.int64), scale
    return None


def _small_fractions(array: NDArray[np.floating[Any]]) -> tuple[IntArray, int] | None:
    """Scores that were computed as k / D, such as means of three, with the rounding taken off.

    They must all be within four units in the last place of multiples of 1 / D: numbers that are
    no such fractions have hardly a chance to be, and ties between them would be lost otherwise.
    """
    if array.dtype.itemsize < 4 or not np.all(np.abs(array) <= NUMERATORS):
        return None
    values, near = array.astype(np.float64), 4 * np.spacing(np.abs(array)).astype(np.float64)

    def fit(some: slice, d: Any) -> tuple[Any, Any]:
        with np.errstate(over="ignore"):
            numerators = np.rint(values[some] * d)
            off = np.abs(values[some] - numerators / d)
        # Next to 0 a unit in the last place is as large as the number.
        alike = (off <= near[some]) & ((numerators != 0) | (values[some] == 0))
        return numerators, np.all(alike & (np.abs(numerators) <= NUMERATORS), axis=-1)

    every = np.arange(2, LARGEST_DENOMINATOR + 1)
    for d in every[fit(slice(0, 8), every[:, np.newaxis])[1]].tolist():  # few denominators are left
        numerators, fits = fit(slice(None), d)
        if fits:
            return numerators.astype(np.int64), d
    return None


def _listed(values: Any) -> list[Any]:
    """The elements as they are written: a float32 has fewer digits than the float it equals."""
    if not hasattr(values, "tolist"):
        return list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8:
        return list(values)
    return list(values.tolist())


def _packed(numbers: list[int]) -> IntArray:
    """int64 where all numbers are below `SAFE`, else Python integers."""
    if all(-SAFE < x < SAFE for x in numbers):
        return np.array(numbers, dtype=np.int64)
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array


def _times(values: IntArray, factor: int) -> IntArray:
    if factor == 1:
        return values
    if values.dtype == object or max(largest(values), 1) * factor >= SAFE:
        return _packed([int(x) * factor for x in values])
    return values * factor


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    try:
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (TypeError, ValueError):  # of a column, or whatever else is in a cell
        return False


def _as_ratio(value: Any, name: str, i: int) -> tuple[int, int]:
    """One score, exactly as it is written, in lowest terms; the usual types without a detour."""
    if type(value) is int:
        return value, 1
    if type(value) is float and isfinite(value):
        value = Decimal(repr(value))
    if type(value) is Decimal and value.is_finite():
        return value.as_integer_ratio()
    number = _as_rational(value, f"{name}[{i}]")
    return number.numerator, number.denominator


def _as_rational(value: Any, where: str) -> int | Fraction:
    """One score, exactly as it is written."""
    ticks = isinstance(value, np.datetime64 | np.timedelta64)  # a timedelta64 is an np.integer
    if isinstance(value, int | np.integer | np.bool_) and not ticks:
        return int(value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        finite = value.is_finite()
    else:
        finite = isinstance(value, float | np.floating) and bool(np.isfinite(value))
    if finite:
        return Fraction(str(value))
    if _is_missing(value):
        problem, remedy = "is missing", "remove the pair from both systems, or score it"
    elif isinstance(value, float | np.floating | Decimal):
        problem, remedy = "is not finite", "remove the pair, or score it"
    else:
        problem, remedy = "is not a number", "convert it first"
    shown = value.item() if isinstance(value, np.generic) and not ticks else value
    raise ValueError(f"{where} = {shown!r} {problem}; {remedy}")


def as_counts(values: IntArray, name: str) -> IntArray:
    """Return `values` as an array of integers, none of them negative or rounded.

    Parameters
    ----------
    values : ndarray of any shape
    name : str
        How error messages call `values`.

    Returns
    -------
    ndarray of the same shape
        int64 where every count is below 2**60, Python integers (dtype object) otherwise.
    """
    if values.dtype.kind in "iub" and values.size and values.min() >= 0 and values.max() < SAFE:
        return values.astype(np.int64)
    listed = [_whole(x, name, i, values.shape) for i, x in enumerate(values.ravel().tolist())]
    array = np.array(listed, dtype=object).reshape(values.shape)
    return array if max(listed, default=0) >= SAFE else array.astype(np.int64)


def _whole(value: Any, name: str, position: int, shape: tuple[int, ...]) -> int:
    if type(value) is float and 0 <= value < SAFE and value.is_integer():
        return int(value)
    where = place(name, np.unravel_index(position, shape))
    number = _as_rational(value, where)
    if number.denominator != 1 or number < 0:
        kind = "below 0" if number < 0 else "not a whole number"
        raise ValueError(f"{where} = {value} is {kind}, but counts are whole numbers from 0 on")
    return int(number)
