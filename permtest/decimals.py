"""Scores as the rational numbers that they came from, as integers over one scale.

Ties decide p-values, and floats lose them: the mean of three scores, 100 k / n or .1 + .2 is off by
a few units in the last place. So a float stands for the decimal that it is printed as if that is
short, else for the fraction of small denominator within rounding, if there is one; what is left is
taken at its value, and how far it may be off is kept with it. Integers, decimals and fractions are
taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite, lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import is_unordered, place, plain_array
from permtest._integers import SAFE, IntArray, largest
from permtest._jit import jit

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Of a float with so many bytes: how many digits of any decimal survive in it; up to how many
#: digits a decimal is what was meant, as more may be a printed result; and up to how many it is
#: what was meant even among floats of all digits.
KEPT, PLAIN, SHORT = {8: 15, 4: 6}, {8: 12, 4: 4}, {8: 9, 4: 3}
#: By how many epsilons of the largest score a computed score may be off, but of no more than so
#: many times itself: 1 - 0.95 is off by what 1 is.
ULPS, CANCELLED = 2.0, 1024.0
#: A float64 x stands for p / q, if that is near enough, and p q times what is near, relative to x,
#: up to this: a random number has such a fraction with twice the probability.
SMALL = 2.0**-23
#: The same where all floats of some columns are as near to such fractions, and the bits of
#: evidence that they need together: chance gives as many with probability 2^-22.
SMALL_TOGETHER, EVIDENCE = 2.0**-9, 22.0
#: Denominators that all floats of float32 columns may have in common.
DENOMINATORS = 20_000


class Scores(NamedTuple):
    """Columns of scores as integers over one scale.

    Parameters
    ----------
    columns : list of ndarray of shape (N,)
        int64, or Python integers (dtype object) where those are too small.
    scale : int
        By what the integers have to be divided to be scores.
    rounding : list of ndarray of shape (N,), or None
        By how much each score may be off, in scores; None if none is.
    reading : str
        What floats were taken for, where that is not the decimals that they are printed as.
    """

    columns: list[IntArray]
    scale: int
    rounding: list[Floats] | None = None
    reading: str = ""


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
            if int(array[i]) % scale:
                raise ValueError(
                    f"{name}[{i}] = {value} is not a whole number; multiply decimals by a power of "
                    "ten, or count correct items instead of averaging them"
                )
    return array if array.dtype == object or largest(array) < SAFE else array.astype(object)


def as_scaled(values: Any, name: str) -> tuple[IntArray, int]:
    """One column as integers, and the number to divide them by; see `in_common_units`."""
    scores = in_common_units([values], [name])
    return scores.columns[0], scores.scale


def in_common_units(columns: Sequence[Any], labels: Sequence[str]) -> Scores:
    """Several columns as integers with one number to divide them by.

    Parameters
    ----------
    columns : sequence of array_like of shape (N,)
        Floats are read as `Pairs.of` says.
    labels : sequence of str
        How error messages call them.

    Returns
    -------
    Scores
    """
    arrays = [_column(x, label) for x, label in zip(columns, labels, strict=True)]
    if all(map(_is_whole, arrays)):
        return Scores([array.astype(np.int64, copy=False) for array in arrays], 1)
    if all(array.dtype.kind in "bif" for array in arrays) and (found := _all_short(arrays)):
        return found
    parts = [_Part.of(array, label) for array, label in zip(arrays, labels, strict=True)]
    readings = [_read(parts, size) for size in sorted(KEPT)]
    scale = lcm(*{d for part in parts for d in part.distinct()})
    rounding = [part.off for part in parts] if any(part.off.any() for part in parts) else None
    reading = "; ".join(filter(None, readings)).format(scale=scale)
    return Scores([part.times(scale) for part in parts], scale, rounding, reading)


def _all_short(arrays: list[NDArray[Any]]) -> Scores | None:
    """Columns of whole numbers and short decimals, in one pass; None if there is anything else."""
    found, digits = [], 0
    for array in arrays:
        places, written = np.zeros((2, array.size), dtype=np.int64)
        if array.dtype.kind != "f":
            written = array.astype(np.int64, copy=False)
        else:
            places -= 1
            most = 10.0 ** PLAIN.get(array.dtype.itemsize, 0)
            exact = array.astype(np.float64)
            find_decimals(exact, array.dtype == np.float32, most, places, written)
        if places.min(initial=0) < 0:
            return None
        found.append((places, written))
        digits = max(digits, int(places.max(initial=0)))
    if digits > 6 or max(largest(written) for _, written in found) * 10**digits >= SAFE:
        return None
    return Scores([written * 10 ** (digits - places) for places, written in found], 10**digits)


def _column(values: Any, name: str) -> NDArray[Any]:
    """An array of numbers or objects, if there is one number for each item."""
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
    if array.dtype.kind == "f" and array.dtype.itemsize in KEPT:
        for i in np.flatnonzero(~np.isfinite(array))[:1].tolist():
            _as_rational(_listed(values)[i], f"{name}[{i}]")
        return array
    return array if array.dtype.kind in "biu" else _objects(_listed(values))


def _is_whole(array: NDArray[Any]) -> bool:
    """Whether all are whole numbers that fit an int64, and that floats print as they are."""
    if array.dtype.kind == "f":
        limit = 2.0 ** (np.finfo(array.dtype).nmant + 1)
        return bool(np.all((np.abs(array) < limit) & (np.floor(array) == array)))
    wide = array.dtype.kind == "u" and array.dtype.itemsize == 8
    return (
        array.dtype.kind in "bi"
        or (array.dtype.kind == "u" and not wide)
        or (wide and largest(array) < SAFE)
    )


@dataclass(eq=False)
class _Part:
    """A column as fractions; `floats` are those whose fractions are still to be found."""

    numerators: NDArray[Any]
    denominators: NDArray[Any]
    off: Floats
    floats: dict[int, tuple[NDArray[np.int64], NDArray[Any]]]

    @classmethod
    def of(cls, array: NDArray[Any], name: str) -> _Part:
        """Everything but the floats; ValueError for what is no number."""
        size, off = array.size, np.zeros(array.size)
        if array.dtype.kind == "f":
            some = {array.dtype.itemsize: (np.arange(size), array)}
            return cls(np.zeros(size, np.int64), np.ones(size, np.int64), off, some)
        if array.dtype.kind in "biu":
            wide = array.dtype.kind == "u" and array.dtype.itemsize == 8
            whole = array.astype(object if wide else np.int64)
            return cls(whole, np.ones(size, np.int64), off, {})
        ratios: list[tuple[int, int]] = []
        where: dict[int, list[int]] = {}
        for i, value in enumerate(array.tolist()):
            kind = value.dtype.itemsize if isinstance(value, np.floating) else 8
            if isinstance(value, float | np.floating) and isfinite(value) and kind in KEPT:
                where.setdefault(kind, []).append(i)
                ratios.append((0, 1))
            else:
                ratios.append(_as_rational(value, f"{name}[{i}]").as_integer_ratio())
        floats = {
            kind: (np.array(some), np.array([array[i] for i in some], dtype=f"f{kind}"))
            for kind, some in where.items()
        }
        numerators, denominators = zip(*ratios, strict=True) if ratios else ((), ())
        return cls(_objects(numerators), _objects(denominators), off, floats)

    def put(self, where: NDArray[np.int64], found: _Found) -> None:
        """Fill in what some floats stand for."""
        if found.numerators.dtype == object:
            self.numerators = self.numerators.astype(object)
            self.denominators = self.denominators.astype(object)
        self.numerators[where], self.denominators[where] = found.numerators, found.denominators
        self.off[where] = found.off

    def distinct(self) -> list[int]:
        """All denominators."""
        if self.denominators.dtype == object:
            return list(set(self.denominators))
        return [int(d) for d in np.unique(self.denominators)]

    def times(self, scale: int) -> IntArray:
        """The scores times `scale`, a multiple of every denominator."""
        factors = {d: scale // d for d in self.distinct()}
        most = max(largest(self.numerators), 1) * max(factors.values(), default=1)
        if self.numerators.dtype != object and most < SAFE:
            every = np.searchsorted(list(factors), self.denominators)
            return np.asarray(self.numerators * np.array(list(factors.values()))[every])
        listed = _objects([factors[d] for d in self.denominators.tolist()])
        wide: IntArray = self.numerators.astype(object) * listed
        return wide.astype(np.int64) if largest(wide) < SAFE else wide


class _Found(NamedTuple):
    """What floats stand for, and by how much they may be off."""

    numerators: NDArray[Any]
    denominators: NDArray[Any]
    off: Floats

    def wide(self) -> _Found:
        """The same as Python integers."""
        return _Found(self.numerators.astype(object), self.denominators.astype(object), self.off)


def _read(parts: Sequence[_Part], size: int) -> str:
    """Fill in the fractions of all floats of one size, and say what they were taken for."""
    some = [(part, *part.floats[size]) for part in parts if size in part.floats]
    if not some:
        return ""
    found, reading = _meant(np.concatenate([floats for _, _, floats in some]))
    start = 0
    for part, where, floats in some:
        stop = start + floats.size
        part.put(where, _Found(*(field[start:stop] for field in found)))
        start = stop
    return reading


def _meant(x: NDArray[np.floating[Any]]) -> tuple[_Found, str]:
    """The rational numbers that floats of one kind stand for, and what to say of them."""
    double, eps, exact = x.dtype == np.float64, float(np.finfo(x.dtype).eps), x.astype(np.float64)
    found, digits = _decimals(x, exact)
    with np.errstate(over="ignore", under="ignore"):
        single = x.astype(np.float32)
        largest_one = np.minimum(np.abs(exact).max(initial=0.0), CANCELLED * np.abs(exact))
    plain, short = PLAIN[x.dtype.itemsize], SHORT[x.dtype.itemsize]
    if double and np.array_equal(single, x) and ((digits == 0) | (digits > plain)).any():
        return _meant(single)  # whose digits are noise beyond the seventh
    near = ULPS * eps * largest_one
    digits[(digits > 0) & (found.denominators == 1)] = 1  # whole numbers are what they are
    full = double & (digits == KEPT[8])  # as some programs print any double
    near[full] += 0.5 * 10.0 ** (np.floor(np.log10(np.abs(exact[full]))) + 1 - KEPT[8])
    doubtful = np.flatnonzero((digits == 0) | (digits > plain))
    p, q = _fractions(exact[doubtful], near[doubtful], SMALL if double else 0.0)
    rest = doubtful[q == 0]
    floating = bool((full | (digits == 0))[rest].any())
    if floating and (joint := _together(exact[rest], near[rest], double)):
        p[q == 0], q[q == 0] = joint
        floating = False
    some = doubtful[q > 0]
    found.numerators[some], found.denominators[some] = p[q > 0], q[q > 0]
    said = [f"scores are fractions with denominators up to {int(q.max())}"] if some.size else []
    if some.size and not floating and lcm(*set(found.denominators.tolist())) <= 10**6:
        said = ["scores are multiples of 1/{scale}"]
    if floating:
        rest = np.concatenate([rest, np.flatnonzero((digits > short) & (digits <= plain))])
        share = f"{rest.size} of {x.size} scores" if rest.size < x.size else "scores"
        said += [f"{share} are floating-point numbers, off by up to {near[rest].max():.1e}"]
        found = _put_values(found, x, rest)
        found.off[rest] += near[rest]
    return found, "; ".join(said)


def _decimals(x: NDArray[np.floating[Any]], exact: Floats) -> tuple[_Found, Ints]:
    """The decimals that floats are printed as, and their digits; 0 where no decimal was found."""
    most = KEPT[x.dtype.itemsize]
    places, written = np.full(x.size, -1), np.zeros(x.size, dtype=np.int64)
    find_decimals(exact, x.dtype == np.float32, 10.0**most, places, written)
    digits = np.searchsorted(10 ** np.arange(19), np.maximum(np.abs(written), 1), side="right")
    digits = np.where(places >= 0, digits, 0)
    denominators = 10 ** np.maximum(places, 0)
    shared = np.gcd(written, denominators)
    found = _Found(written // shared, denominators // shared, np.zeros(x.size))
    extreme = (places < 0) & ((np.abs(exact) >= 1e15) | (np.abs(exact) < 1e-6))
    if extreme.any():
        found = found.wide()
    for i in np.flatnonzero(extreme).tolist():
        printed = Decimal(str(x[i]))
        number = len(printed.normalize().as_tuple().digits)
        digits[i] = number if number <= most else 0
        found.numerators[i], found.denominators[i] = printed.as_integer_ratio()
    return found, digits


@jit
def find_decimals(x: Floats, single: bool, most: float, places: Ints, written: Ints) -> None:
    """Decimal places, and the number without its point, of floats that print below `most`.

    Leaves `places` as they are where there are more digits, or the number is large or small.
    """
    for i in range(x.size):
        power = 1.0
        for k in range(19):
            scaled = np.rint(x[i] * power)
            if abs(scaled) >= most:
                break
            back = scaled / power
            if x[i] == (np.float64(np.float32(back)) if single else back):
                places[i], written[i] = k, int(scaled)
                break
            power *= 10.0


def _fractions(x: Floats, near: Floats, bound: float) -> tuple[Ints, Ints]:
    """p and q of the fractions that floats are near to; q = 0 where `bound` allows none."""
    p, q = np.zeros((2, x.size), dtype=np.int64)
    find_fractions(x, near, bound, p, q)
    return p, q


@jit
def find_fractions(x: Floats, near: Floats, bound: float, p: Ints, q: Ints) -> None:
    """The first convergent of each continued fraction that is near enough.

    Every fraction p / q within 1 / (2 q^2) is a convergent, so that none of a smaller denominator
    is overlooked.
    """
    for i in range(x.size):
        size = abs(x[i])
        y = size
        a = np.floor(y)
        p0, q0, p1, q1 = 1.0, 0.0, a, 1.0
        while p1 * q1 * near[i] <= bound * size:
            if abs(size - p1 / q1) <= near[i]:
                p[i], q[i] = int(p1 if x[i] > 0.0 else -p1), int(q1)
                break
            if y == a:
                break
            y = 1.0 / (y - a)
            a = np.floor(y)
            p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0


def _together(x: Floats, near: Floats, double: bool) -> tuple[Any, Any] | None:
    """p and q of all of these floats, if it cannot be chance that they all have such fractions."""
    if double:
        for some in (slice(8), slice(None)):  # random numbers fail at once
            p, q = _fractions(x[some], near[some], SMALL_TOGETHER)
            if not q.all():
                return None
        values, where = np.unique(x, return_index=True)
        chance = 2 * near * np.abs(p).astype(np.float64) * q / np.abs(x)
        return (p, q) if -np.log2(chance[where]).sum() >= EVIDENCE else None
    values, where = np.unique(x, return_index=True)
    every = np.arange(2, DENOMINATORS + 1)
    for some in (slice(8), slice(None)):  # after the first eight few denominators are left
        off = np.abs(values[some] - np.rint(values[some] * every[:, None]) / every[:, None])
        every = every[np.all(off <= near[where][some], axis=1)][:64]
    for d in every.tolist():
        chance = np.minimum(2 * near[where] * d, 1)
        if -np.log2(chance).sum() >= np.log2(d) + EVIDENCE / 2:
            p = np.rint(x * d).astype(np.int64)
            shared = np.gcd(p, d)
            return p // shared, d // shared
    return None


def _put_values(found: _Found, x: NDArray[np.floating[Any]], where: Ints) -> _Found:
    """Put in floats of all digits: doubles at their value, others as they are printed.

    Doubles of very different size are rounded to the last place of the largest, if that is next to
    nothing for each of them, so that their integers are short.
    """
    some = x[where].astype(np.float64)
    if x.dtype == np.float32:
        places, written = np.full(some.size, -1), np.zeros(some.size, dtype=np.int64)
        find_decimals(some, True, 1e9, places, written)
        printed = places >= 0
        found.numerators[where[printed]] = written[printed]
        found.denominators[where[printed]] = 10 ** places[printed]
        where, some = where[~printed], some[~printed]
    if where.size == 0:
        return found
    mantissas, exponents = np.frexp(some)
    whole, twos = np.ldexp(mantissas, 53).astype(np.int64), 53 - exponents.astype(np.int64)
    spare = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    most = max(int((twos - spare).max()), 0)  # 2^most is a denominator of all
    if most + int(exponents.max()) < 60 and most < 60 and not _is_wide(found):
        found.numerators[where], found.denominators[where] = np.ldexp(some, most), 2**most
        return found
    last = 53 - int(exponents.max())  # place of the largest score, in bits
    if 0 <= last <= 62 and exponents.min() + 20 > exponents.max() and not _is_wide(found):
        found.numerators[where] = np.rint(np.ldexp(some, last)).astype(np.int64)
        found.denominators[where] = 2**last
        found.off[where] += 0.5**last
        return found
    shifts = most - (twos - spare)
    powers = _objects([1 << k for k in range(int(shifts.max()) + 1)])
    found = found.wide()
    found.numerators[where] = (whole >> spare).astype(object) * powers[shifts]
    found.denominators[where] = 1 << most
    return found


def _is_wide(found: _Found) -> bool:
    return found.numerators.dtype == object


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """An array of Python objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _listed(values: Any) -> list[Any]:
    """The elements as they are written: a float32 has fewer digits than the float it equals."""
    if not hasattr(values, "tolist"):
        return list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8:
        return list(values)
    return list(values.tolist())


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    try:
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (TypeError, ValueError):  # of a column, or whatever else is in a cell
        return False


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
