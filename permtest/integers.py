"""What people pass, as integers over one scale, and integers that do not wrap around.

Ties decide p-values, and floats lose them: 0.1 + 0.2 is not 0.3. What a float stands for is said in
`Scores.of`, and why in section 7 of docs/methods.md. If some float stands for nothing, all that are
not whole are taken at their value, and it is kept by how much they may be off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import lcm, log2
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import ScoreError
from permtest._jit import Floats

#: An integer array: int64, or Python integers (dtype object) where int64 could overflow.
IntArray: TypeAlias = NDArray[Any]
#: Columns as integers over one scale; the scale; by how much each score may be off, None if none
#: is; and what floats were taken for, if that is not the decimals that they are printed as.
Exact: TypeAlias = tuple[list[IntArray], int, list[Floats] | None, str]
#: Below SAFE a difference of differences of two scores still fits an int64, and below WIDE every
#: integer is a float.
SAFE, WIDE = 2**60, 2**53

#: The largest denominator of a fraction that a float stands for. It is less where its square times
#: the rounding would be more than CHANCE: so often random numbers are near such a fraction.
DENOMINATORS, CHANCE = 20_000, 2.0**-22
#: A computed score may be off by so many epsilons of the largest score, as 1 - 0.95 is off by what
#: 1 is, but of no more than CANCELLED times itself.
EPSILONS, CANCELLED = 2.0, 1024.0
#: So many digits of a float64, and of a float32, are a decimal; more may be a printed result. Some
#: programs print FULL digits of any double, or MOST, which are more than it has.
SHORT, SHORT_SINGLE, FULL, MOST = 12, 4, 15, 19
POWERS = np.array([float(10**k) for k in range(19)])
#: A number as people and programs write it.
WRITTEN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)


# ---- integers that do not wrap around ------------------------------------------------------------


def largest(values: IntArray) -> int:
    """The largest magnitude; 0 if there are no values."""
    return max(-int(values.min()), int(values.max())) if values.size else 0


def with_room(values: IntArray, factor: int = 1) -> IntArray:
    """`values`, as Python integers where sums of `factor` times as much could overflow."""
    fits = values.dtype == object or max(largest(values), 1) * factor < SAFE
    return values if fits else values.astype(object)


def exact_sum(values: IntArray) -> int:
    """The sum as a Python integer, whatever its size."""
    return int(with_room(values, values.size).sum())


def exact_dot(a: IntArray, b: IntArray) -> int:
    """The scalar product as a Python integer, whatever its size."""
    if a.dtype == object or b.dtype == object or abs(a.astype(float)) @ abs(b) >= 2**62:
        return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))
    return int(a @ b)


def unscaled(number: int, scale: int) -> float:
    """``number / scale``: an integer for scale 1, else the nearest float, if there is one."""
    try:
        return number if scale == 1 else float(Fraction(number, scale))
    except OverflowError:
        problem = "a sum or mean of scores is too large for a float"
        raise ValueError(f"{problem}; divide all scores by a power of ten") from None


# ---- what is passed ------------------------------------------------------------------------------


def is_unordered(values: Any) -> bool:
    """Whether these are no entries in an order: a number, a text, a mapping or a set."""
    text_or_set = isinstance(values, str | bytes | bytearray | dict | set | frozenset)
    return text_or_set or not hasattr(values, "__iter__")


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN or the NA of pandas, which is not even equal or unequal to itself."""
    try:
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # of a column, or whatever is in a cell
        return False


def plain_array(values: Any, name: str, what: str = "an array", remedy: str = "") -> NDArray[Any]:
    """What NumPy makes of values, as Python objects where it would change some, or an error."""
    if isinstance(values, np.ma.MaskedArray):
        for where in np.argwhere(np.ma.getmaskarray(values))[:1]:
            raise ScoreError(name, where, "is masked", "remove the pair or fill in its score")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be {what}, but its rows differ in length{remedy}") from None
    kind = "" if hasattr(values, "dtype") else array.dtype.kind
    # Texts may have been numbers, and some floats integers that no float can hold.
    if kind in ("S", "U") or (kind == "f" and np.abs(array).max(initial=0.0) >= WIDE):
        return np.array(values, dtype=object)
    return array


def as_integers(values: Any, name: str) -> IntArray:
    """Integers in which nothing was rounded or wrapped around: int64 below 2**60, else objects."""
    (array,), scale, *_ = in_common_units([values], [name])
    for i in np.flatnonzero(array % scale)[:1] if scale > 1 else ():
        problem = f"= {unscaled(int(array[i]), scale)} is not a whole number"
        remedy = "multiply decimals by a power of ten, or count correct items instead of averaging"
        raise ScoreError(name, (i,), problem, remedy)
    return with_room(array)


def _column(values: Any, name: str) -> NDArray[Any]:
    """One number for each item: int64, float32, float64, or objects where those lose something."""
    if is_unordered(values):
        raise TypeError(
            f"{name} must be a one-dimensional sequence of numbers, not {type(values).__name__}"
        )
    array = plain_array(values, name, "one-dimensional")
    if array.ndim != 1:
        hint = "; pass one column for each system" if array.ndim == 2 else ""
        raise ValueError(f"{name} must be one-dimensional, but has shape {array.shape}{hint}")
    if array.dtype.kind in "biu":
        wide = array.dtype.kind == "u" and largest(array) >= SAFE
        return array.astype(object if wide else np.int64, copy=False)
    if array.dtype not in (np.float32, np.float64):
        objects = np.empty(len(array), dtype=object)
        objects[:] = list(array)
        return objects
    for i in np.flatnonzero(~np.isfinite(array))[:1]:
        _number(list(values)[i], name, i)
    whole = np.all((np.abs(array) < WIDE) & (np.floor(array) == array))
    return array.astype(np.int64) if whole else array


def _number(value: Any, name: str, index: int) -> int | Fraction | float:
    """A score as it is written, or the float that stands for it."""
    ticks = isinstance(value, np.datetime64 | np.timedelta64)  # a timedelta64 is an np.integer
    if isinstance(value, int | np.integer) and not ticks:
        return int(value)
    if isinstance(value, Fraction) or (isinstance(value, Decimal) and value.is_finite()):
        return Fraction(value)
    number = None if ticks else _number_of(str(value).strip().lower())
    if number is not None:
        return number
    problem, remedy = "is not a number", "convert it first"
    if isinstance(value, float | np.floating | Decimal):
        problem, remedy = "is not finite", "remove the pair, or score it"
    if is_missing(value):
        problem, remedy = "is missing", "remove the pair from both systems, or score it"
    shown = repr(str(value)) if isinstance(value, str) else value
    raise ScoreError(name, (index,), f"= {shown} {problem}", remedy)


@lru_cache(maxsize=4096)  # the same few scores come again and again
def _number_of(text: str) -> int | Fraction | float | None:
    """The number that a text is, None if it is none; a float if one prints like that."""
    if text in ("true", "false"):
        return int(text == "true")
    if len(text) > 1000 or not WRITTEN.fullmatch(text):
        return None
    number, digits = Fraction(text), sum(map(str.isdigit, text.partition("e")[0].lstrip("+-0.")))
    exact = number.denominator == 1 or "/" in text or digits > MOST
    return number if exact else float(text)


# ---- what floats stand for -----------------------------------------------------------------------


@np.errstate(all="ignore")  # what overflows is no short decimal
def in_common_units(columns: Sequence[Any], labels: Sequence[str]) -> Exact:
    """Columns as integers over one scale: whole, else 6 decimals, else each read by itself."""
    arrays = [_column(x, label) for x, label in zip(columns, labels, strict=True)]
    if all(array.dtype == np.int64 for array in arrays):
        return arrays, 1, None, ""
    for k in range(7 if all(array.dtype != object for array in arrays) else 0):
        if all(_have_places(x[:9], k) and _have_places(x, k) for x in arrays):
            return [np.rint(x * POWERS[k]).astype(np.int64) for x in arrays], 10**k, None, ""
    return _as_fractions(arrays, labels)


def _have_places(x: NDArray[Any], k: int) -> bool:
    """Whether all of these are short decimals of at most k places."""
    scaled, most = np.rint(x * POWERS[k]), POWERS[SHORT_SINGLE if x.dtype == np.float32 else SHORT]
    return bool(np.all((np.abs(scaled) < most) & ((scaled / POWERS[k]).astype(x.dtype) == x)))


def _as_fractions(arrays: list[NDArray[Any]], labels: Sequence[str]) -> Exact:
    """Columns of anything; floats are read together, whatever their columns."""
    sizes, exact = [array.size for array in arrays], {}
    x, single = np.zeros(sum(sizes)), np.repeat([a.dtype == np.float32 for a in arrays], sizes)
    starts = np.cumsum(sizes) - sizes
    for array, label, start in zip(arrays, labels, starts.tolist(), strict=True):
        odd = np.arange(array.size)
        if array.dtype != object:
            x[start : start + array.size] = array
            odd = np.flatnonzero(np.abs(array) >= WIDE)
        for i, value in zip(odd.tolist(), array[odd].tolist(), strict=True):
            number = _number(value, label, i)
            x[start + i] = number if isinstance(number, float) else 0.0
            if not isinstance(number, float):
                exact[start + i] = number.as_integer_ratio()
    numbers, own, off, reading = _read(x, single)
    ratios, found = [*exact.values()], []
    scale = lcm(own, *(lcm(*(q for _, q in ratios[i::100])) for i in range(100)))
    for i in range(0, len(ratios), 4):  # what is long is divided once for four
        share = scale // (some := lcm(*(q for _, q in ratios[i : i + 4])))
        found += [p * (some // q) * share for p, q in ratios[i : i + 4]]
    if exact:
        numbers = numbers.astype(object) * (scale // own)
        numbers[[*exact]] = found
    columns = [
        x.astype(np.int64) if largest(x) < SAFE else x for x in np.split(numbers, starts[1:])
    ]
    tolerance = np.split(off, starts[1:]) if off.any() else None
    return columns, scale, tolerance, reading.format(scale=scale)


def _read(x: Floats, single: NDArray[np.bool_]) -> tuple[IntArray, int, Floats, str]:
    """Integers, what to divide them by, by how much each is off then, and what floats stand for."""
    whole, narrow = np.rint(x) == x, x.astype(np.float32)
    written, power = _rounded(x, np.where(single, SHORT_SINGLE, SHORT))
    printed = written / power
    rest = ~whole & np.where(single, printed.astype(np.float32) != narrow, printed != x)
    normal = (x == 0) | (np.abs(narrow) > 1e-37)
    if rest.any() and not single.all() and np.all((narrow == x) & normal):
        return _read(x, ~np.zeros_like(single))  # the digits beyond the seventh are noise
    p, q = np.where(whole, x, written).astype(np.int64), np.where(whole, 1, power).astype(np.int64)
    top = float(np.abs(x).max(initial=0.0))
    for kind, search in ((True, _shared), (False, _convergents)):
        if np.any(some := rest & (single == kind)):
            values, back = np.unique(x[some], return_inverse=True)
            p[some], q[some] = (z[back] for z in search(values, _rounding(values, kind, top)))
    if not q.all():
        numbers, scale, off = _at_their_value(x)
        off = np.where(whole, 0.0, off + _rounding(x, single, top))
        said = f"{(~whole).sum()} of {x.size} scores are floating-point numbers"
        return numbers, scale, off, f"{said}, off by up to {off.max():.1e}"
    p, q = p // np.gcd(p, q), q // np.gcd(p, q)
    scale, said = lcm(*set(q.tolist())), ""
    if rest.any():
        said = f"scores are fractions with denominators up to {q[rest].max()}"
        said = "scores are multiples of 1/{scale}" if scale <= 10**6 else said
    if scale >= SAFE or np.any(np.abs(p) * (scale / q) >= SAFE):
        p, q = p.astype(object), q.astype(object)
    return p * (scale // q), scale, np.zeros(x.size), said


def _rounded(x: Floats, digits: Any) -> tuple[Floats, Floats]:
    """Decimals of so many digits, times a power of ten, and this power."""
    places = digits - 1 - np.floor(np.log10(np.maximum(np.abs(x), POWERS[-1] ** -1)))
    power = POWERS[np.clip(places, 0, 18).astype(int)]
    return np.rint(x * power), power


def _rounding(x: Floats, single: Any, top: float) -> NDArray[Any]:
    """By how much floats may be off among scores up to `top`."""
    near = np.where(single, 2.0**-23, 2.0**-52) * np.minimum(top, CANCELLED * np.abs(x))
    short, unit = _rounded(x, SHORT)
    last = np.zeros(x.size)  # half a unit of the last digit that was printed
    for digits in range(FULL, SHORT, -1):
        written, power = _rounded(x, digits)
        again = (written / power == x) & ~np.asarray(single)
        again &= (short / unit != x) | (digits == FULL)  # short ones are what they are
        last[again] = 0.5 / power[again]
    return EPSILONS * near + last


def _convergents(x: Floats, near: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """p and q of the first convergent of each that is near enough; q = 0 where some have none."""
    # Every fraction within 1 / (2 q^2) is a convergent: none of a smaller denominator is missed.
    y, p, q = np.abs(x), np.zeros(x.size), np.zeros(x.size)
    p0, q0, p1, q1 = p, q + 1, p + 1, q
    while not q.all():
        a = np.floor(y)
        p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
        small = (q1 <= DENOMINATORS) & (q1 * q1 * near <= CHANCE)
        if np.any((q == 0) & ~small):
            break
        found = (q == 0) & (np.abs(np.abs(x) - p1 / q1) <= near)
        p, q, y = np.where(found, p1, p), np.where(found, q1, q), 1.0 / (y - a)
    return np.copysign(p, x), q


def _shared(x: Floats, near: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """p and q of float32 with one denominator, if that cannot be chance; else q = 0."""
    every = np.arange(2, DENOMINATORS + 1)
    fit = np.abs(x[:8, None] - np.rint(x[:8, None] * every) / every) <= near[:8, None]
    for d in every[fit.all(axis=0)][:64].tolist():
        p = np.rint(x * d)
        chance = np.minimum(2 * near * d, 1.0)
        if np.all(np.abs(x - p / d) <= near) and -np.log2(chance).sum() >= log2(d) + 11:
            return p, np.full(x.size, d)
    return x, np.zeros(x.size)


def _at_their_value(x: Floats) -> tuple[IntArray, int, Any]:
    """Integers, what to divide them by, and by how much each is off then."""
    # They are rounded to the last place of the largest, if that is next to nothing for each.
    last = 53 - int(np.frexp(x)[1].max())
    scaled = np.ldexp(x, last)
    if 0 <= last <= 62 and np.all((x == 0) | (np.abs(scaled) >= 2.0**20)):
        numbers = np.rint(scaled)
        return numbers.astype(np.int64), 2**last, np.ldexp(np.abs(scaled - numbers), -last)
    ratios = [number.as_integer_ratio() for number in x.tolist()]
    scale = max(q for _, q in ratios)  # powers of two
    return np.array([p * (scale // q) for p, q in ratios], dtype=object), scale, 0.0
