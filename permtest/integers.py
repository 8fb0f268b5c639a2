"""What people pass, as integers over one scale, and integers that do not wrap around.

Ties decide p-values, and floats lose them: the mean of three scores, 100 k / n or .1 + .2 is off by
a few units in the last place. So a float stands for the decimal that it is printed as if that is
short, else for the fraction of small denominator within rounding, if there is one; what is left is
taken at its value, and how far it may be off is kept with it. Integers, decimals and fractions are
taken as they are. What NumPy would turn into something else, such as masked entries, dates, or
large integers among floats, is refused, or kept as Python objects.
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

from permtest._checks import ScoreError
from permtest._jit import Floats, Ints

#: An integer array: int64, or Python integers (dtype object) where int64 could overflow.
IntArray: TypeAlias = NDArray[Any]

#: Below this magnitude a difference of differences of two scores still fits an int64.
SAFE = 2**60

#: Sums that could overflow are made of two halves, the lower one of so many bits.
HALF = 31

#: From here on not every integer is a float.
WIDE = 2**53


def plain_array(values: Any, name: str, what: str = "an array", remedy: str = "") -> NDArray[Any]:
    """What NumPy makes of values, as Python objects where it would change some, or an error."""
    listed = isinstance(values, list | tuple)
    kinds = set(map(type, values)) if listed else {type(values)}
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        for i, part in enumerate(values) if listed else [(None, values)]:
            for bad in np.argwhere(np.ma.getmaskarray(part))[:1]:
                where = tuple(bad) if i is None else (i, *bad)
                raise ScoreError(name, where, "is masked", "remove the pair or fill in its score")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be {what}, but its rows differ in length{remedy}") from None
    except Exception as error:  # polars has columns of 128 bits, and says so in errors of its own
        if isinstance(error, MemoryError) or not hasattr(values, "to_list"):
            raise
        array = np.array(values.to_list(), dtype=object)
    if array.dtype.kind in "mM" and array.size:
        index = (0,) * array.ndim
        raise ScoreError(name, index, f"= {array.flat[0]} is not a number", "convert it first")
    kind = "" if hasattr(values, "dtype") else array.dtype.kind
    # Texts may have been numbers, and some floats integers that no float can hold.
    if kind in ("S", "U") or (kind == "f" and np.abs(array).max(initial=0.0) >= WIDE):
        return np.array(values, dtype=object)
    return array


def is_unordered(values: Any) -> bool:
    """Whether these are no entries in an order: a number, a text, a mapping or a set."""
    text_or_set = isinstance(values, str | bytes | bytearray | dict | set | frozenset)
    return text_or_set or not hasattr(values, "__iter__")


def largest(values: IntArray) -> int:
    """The largest magnitude; 0 if there are no values."""
    return max(-int(values.min()), int(values.max())) if values.size else 0


def roomy(values: IntArray) -> IntArray:
    """`values`, as Python integers where they reach `SAFE`."""
    return with_room(values, 1)


def with_room(values: IntArray, factor: int) -> IntArray:
    """`values`, as Python integers where sums of `factor` times as much could overflow."""
    fits = values.dtype == object or max(largest(values), 1) * factor < SAFE
    return values if fits else values.astype(object)


def exact_sum(values: IntArray) -> int:
    """The sum as a Python integer, whatever its size."""
    if values.dtype == object:
        return sum(map(int, values))
    if largest(values) * values.size < 2**63:
        return int(values.sum())
    high, low = values >> HALF, values & (2**HALF - 1)
    return (int(high.sum()) << HALF) + int(low.sum())


def exact_dot(a: IntArray, b: IntArray) -> int:
    """The scalar product as a Python integer, whatever its size."""
    if a.dtype != object and b.dtype != object:
        size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        if size < 2**62:
            return int(a @ b)
        if size < 2.0 ** (60 + HALF) and largest(b) * b.size < 2 ** (62 - HALF):
            return (int((a >> HALF) @ b) << HALF) + int((a & (2**HALF - 1)) @ b)
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def digits_or_size(number: int) -> str:
    """All digits of a number, or its size."""
    return f"{number:,}" if number < 10**15 else f"about 1e{len(str(number)) - 1}"


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


class Exact(NamedTuple):
    """Columns of scores as integers, of int64 or Python's, over one scale."""

    columns: list[IntArray]
    scale: int
    tolerance: list[Floats] | None = None  # by how much each score may be off, in scores
    reading: str = ""  # what floats were taken for, if not the decimals that they are printed as


def unscaled(number: int, scale: int) -> float:
    """``number / scale``: an integer for scale 1, else the nearest float, if there is one."""
    if scale == 1:
        return number
    try:
        return float(Fraction(number, scale))
    except OverflowError:
        size = len(str(abs(number) // scale)) - 1
        raise ValueError(
            f"a score or mean of about 1e{size} is too large for a float; use whole numbers and "
            "statistic='sum', or divide all scores by a power of ten"
        ) from None


def as_integers(values: Any, name: str) -> IntArray:
    """Integers in which nothing was rounded or wrapped around: int64 below 2**60, else objects."""
    (array,), scale, *_ = in_common_units([values], [name])
    if scale != 1:
        i = int(np.flatnonzero(array.astype(object) % scale)[0])
        raise ScoreError(
            name,
            (i,),
            f"= {_listed(values)[i]} is not a whole number",
            "multiply decimals by a power of ten, or count correct items instead of averaging them",
        )
    return roomy(array)


def in_common_units(columns: Sequence[Any], labels: Sequence[str]) -> Exact:
    """Columns as integers with one number to divide them by; floats are read as `Pairs.of` says."""
    for x in columns:
        if not (type(x) is np.ndarray and x.dtype == np.int64 and x.ndim == 1):
            break
    else:
        return Exact(list(columns), 1)
    arrays = [_column(x, label) for x, label in zip(columns, labels, strict=True)]
    if all(map(_is_whole, arrays)):
        return Exact([array.astype(np.int64, copy=False) for array in arrays], 1)
    return _all_short(arrays) or _all_fractions(arrays, labels)


def _column(values: Any, name: str) -> NDArray[Any]:
    """One number for each item: int64, float32, float64, or objects where those lose something."""
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
    if array.dtype.kind in "biu":
        wide = array.dtype.kind == "u" and largest(array) >= SAFE
        return array.astype(object if wide else np.int64, copy=False)
    # NumPy makes doubles of floats in a list that have fewer digits.
    listed = () if hasattr(values, "dtype") else set(map(type, values)) - {np.float64}
    narrow = any(issubclass(kind, np.floating) for kind in listed)
    if array.dtype.kind != "f" or array.dtype.itemsize not in KEPT or narrow:
        objects = np.empty(len(array), dtype=object)
        objects[:] = _listed(values)
        return objects
    for i in np.flatnonzero(~np.isfinite(array))[:1].tolist():
        _as_rational(_listed(values)[i], name, (i,))
    return array


def _is_whole(array: NDArray[Any]) -> bool:
    """Whether all are integers, or floats that are whole numbers and print as they are."""
    if array.dtype.kind != "f":
        return array.dtype == np.int64
    limit = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    return bool(np.all((np.abs(array) < limit) & (np.floor(array) == array)))


def _all_short(arrays: list[NDArray[Any]]) -> Exact | None:
    """Columns of whole numbers and short decimals, in one pass; None if there is anything else."""
    if any(array.dtype == object for array in arrays):
        return None
    found: list[tuple[Any, Ints]] = []
    for array in arrays:
        most, single = 10.0 ** PLAIN[array.dtype.itemsize], array.dtype == np.float32
        whole = array.dtype == np.int64
        found.append((0, array) if whole else find_decimals(array.astype(float), single, most))
    fewest = min(int(np.min(places, initial=0)) for places, _ in found)
    digits = max(int(np.max(places, initial=0)) for places, _ in found)
    if fewest < 0 or digits > 6 or max(largest(w) for _, w in found) * 10**digits >= SAFE:
        return None
    return Exact([written * 10 ** (digits - places) for places, written in found], 10**digits)


@dataclass(eq=False)
class _Fractions:
    """p / q, each off by at most `off`; int64, or Python integers where those are too small."""

    p: NDArray[Any]
    q: NDArray[Any]
    off: Floats

    def put(self, where: Any, p: NDArray[Any], q: Any, off: Any = 0.0) -> None:
        """Other fractions in some places."""
        if p.dtype == object:
            self.p, self.q = self.p.astype(object), self.q.astype(object)
        self.p[where], self.q[where], self.off[where] = p, q, off


def _all_fractions(arrays: list[NDArray[Any]], labels: Sequence[str]) -> Exact:
    """Columns of anything; floats of one size are read together, whatever their columns."""
    ends = np.cumsum([array.size for array in arrays]).tolist()
    floats, sizes = np.zeros(ends[-1]), np.zeros(ends[-1], dtype=np.int64)
    whole = np.zeros(ends[-1], dtype=np.int64)
    found = _Fractions(whole, np.ones_like(whole), np.zeros(ends[-1]))
    for array, label, end in zip(arrays, labels, ends, strict=True):
        start = end - array.size
        if array.dtype.kind == "f":
            floats[start:end], sizes[start:end] = array, array.dtype.itemsize
        elif array.dtype != object:
            found.p[start:end] = array
        else:
            ratios = [(0, 1)] * array.size
            for i, value in enumerate(array.tolist()):
                size = value.dtype.itemsize if isinstance(value, np.floating) else 8
                if isinstance(value, float | np.floating) and isfinite(value) and size in KEPT:
                    floats[start + i], sizes[start + i] = value, size
                else:
                    ratios[i] = _as_rational(value, label, (i,)).as_integer_ratio()
            found.put(slice(start, end), *_parts(ratios))
    readings = []
    for size in sorted(KEPT):
        where = np.flatnonzero(sizes == size)
        if where.size:
            meant, reading = _meant(floats[where].astype(f"f{size}"))
            found.put(where, meant.p, meant.q, meant.off)
            readings.append(reading)
    scale = lcm(*set(found.q.tolist()))
    p, q = found.p, found.q
    factors = scale // q if scale < SAFE and p.dtype != object else None
    if factors is None or np.any(np.abs(p) * factors.astype(np.float64) >= SAFE):
        p, factors = p.astype(object), scale // q.astype(object)
    return Exact(
        [x.astype(np.int64) if largest(x) < SAFE else x for x in np.split(p * factors, ends[:-1])],
        scale,
        np.split(found.off, ends[:-1]) if found.off.any() else None,
        "; ".join(filter(None, readings)).format(scale=scale),
    )


def _meant(x: NDArray[np.floating[Any]]) -> tuple[_Fractions, str]:
    """The rational numbers that floats of one size stand for, and what to say of them."""
    double, exact = x.dtype == np.float64, x.astype(np.float64)
    plain, short = PLAIN[x.dtype.itemsize], SHORT[x.dtype.itemsize]
    found, digits = _decimals(x, exact)
    doubtful = np.flatnonzero((digits == 0) | (digits > plain))
    if double and doubtful.size and (single := _narrowed(x)) is not None:
        return _meant(single)  # whose digits are noise beyond the seventh
    with np.errstate(over="ignore"):
        size = np.minimum(np.abs(exact).max(initial=0.0), CANCELLED * np.abs(exact))
    near = ULPS * float(np.finfo(x.dtype).eps) * size
    full = double & (digits == KEPT[8])  # as some programs print any double
    near[full] += 0.5 * 10.0 ** (np.floor(np.log10(np.abs(exact[full]))) + 1 - KEPT[8])
    p, q = find_fractions(exact[doubtful], near[doubtful], SMALL if double else 0.0)
    rest, said = doubtful[q == 0], []
    floating = bool((full | (digits == 0))[rest].any())
    if floating and (joint := _together(exact[rest], near[rest], double)):
        p[q == 0], q[q == 0] = joint
        floating = False
    found.put(doubtful[q > 0], p[q > 0], q[q > 0])
    if q.any():
        multiples = not floating and lcm(*set(found.q.tolist())) <= 10**6
        said = [f"scores are fractions with denominators up to {int(q.max())}"]
        said = ["scores are multiples of 1/{scale}"] if multiples else said
    if floating:
        rest = np.concatenate([rest, np.flatnonzero((digits > short) & (digits <= plain))])
        share = f"{rest.size} of {x.size} scores" if rest.size < x.size else "scores"
        said += [f"{share} are floating-point numbers, off by up to {near[rest].max():.1e}"]
        bare = rest[double | (found.q[rest] == 0)]  # float32 are taken as they are printed
        if bare.size:
            found.put(bare, *_at_their_value(exact[bare]))
        found.off[rest] += near[rest]
    return found, "; ".join(said)


def _narrowed(x: NDArray[Any]) -> NDArray[np.float32] | None:
    """The same numbers as normal float32, if they all are."""
    with np.errstate(over="ignore", under="ignore"):
        single = x.astype(np.float32)
    normal = (x == 0) | (np.abs(single) >= np.finfo(np.float32).tiny)
    return single if np.all((single == x) & normal) else None


def _decimals(x: NDArray[np.floating[Any]], exact: Floats) -> tuple[_Fractions, Ints]:
    """The decimals that floats print as (q = 0: none), and their digits; 0 where too many."""
    most, single = KEPT[x.dtype.itemsize], x.dtype == np.float32
    places, written = find_decimals(exact, single, 1e9 if single else 1e15)
    digits = np.searchsorted(
        10 ** np.arange(19, dtype=np.int64), np.maximum(np.abs(written), 1), side="right"
    )
    denominators = 10 ** np.maximum(places, 0)
    shared = np.gcd(written, denominators)
    found = _Fractions(written // shared, denominators // shared, np.zeros(x.size))
    size = np.abs(exact)
    odd = (places < 0) & ((size >= 1e15) | (size < 1e-6))
    if odd.any():
        printed = [Decimal(str(value)) for value in x[odd]]
        found.put(odd, *_parts([number.as_integer_ratio() for number in printed]))
        digits[odd] = [len(number.normalize().as_tuple().digits) for number in printed]
    digits[(digits > most) | (places < 0) & ~odd] = 0
    found.q[(digits == 0) & (places < 0)] = 0
    digits[(digits > 0) & (found.q == 1)] = 1  # whole numbers are what they are
    return found, digits


def find_decimals(x: Floats, single: bool, most: float) -> tuple[Ints, Ints]:
    """Decimal places, and the number without its point; -1 where it has more digits than `most`."""
    places, written = np.full(x.size, -1, dtype=np.int64), np.zeros(x.size, dtype=np.int64)
    left, power = np.arange(x.size), 1.0
    for k in range(19):
        scaled = np.rint(x[left] * power)
        left, scaled = left[np.abs(scaled) < most], scaled[np.abs(scaled) < most]
        same = x[left] == (np.float32(scaled / power) if single else scaled / power)
        places[left[same]], written[left[same]] = k, scaled[same]
        left, power = left[~same], power * 10.0
    return places, written


def find_fractions(x: Floats, near: Floats, bound: float) -> tuple[Ints, Ints]:
    """p and q of the first convergent of each that is near enough; q = 0 if `bound` allows none."""
    p, q = np.zeros(x.size, dtype=np.int64), np.zeros(x.size, dtype=np.int64)
    left, size = np.arange(x.size), np.abs(x)
    y, a = size, np.floor(size)
    p0, q0, p1, q1 = np.ones(x.size), np.zeros(x.size), a, np.ones(x.size)
    while left.size:
        short = p1 * q1 * near[left] <= bound * size[left]
        found = short & (np.abs(size[left] - p1 / q1) <= near[left])
        p[left[found]] = np.copysign(p1, x[left])[found]
        q[left[found]] = q1[found]
        on = short & ~found & (y != a)
        left, y, a, p0, q0, p1, q1 = (z[on] for z in (left, y, a, p0, q0, p1, q1))
        y = 1.0 / (y - a)
        a = np.floor(y)
        p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
    return p, q


def _together(x: Floats, near: Floats, double: bool) -> tuple[Any, Any] | None:
    """p and q of all of these floats, if it cannot be chance that they all have such fractions."""
    if double:
        for some in (slice(8), slice(None)):  # random numbers fail at once
            p, q = find_fractions(x[some], near[some], SMALL_TOGETHER)
            if not q.all():
                return None
        values, where = np.unique(x, return_index=True)
        chance = 2 * near * np.abs(p).astype(np.float64) * q / np.abs(x)
        return (p, q) if -np.log2(chance[where]).sum() >= EVIDENCE else None
    values, where = np.unique(x, return_index=True)
    every = np.arange(2, DENOMINATORS + 1, dtype=np.int64)
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


def _at_their_value(x: Floats) -> tuple[NDArray[Any], Any, float]:
    """p, q, and by how much p / q may be off, of doubles with all digits."""
    # They are rounded to the last place of the largest, if that is next to nothing for each.
    mantissas, exponents = np.frexp(x)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    spare = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    most = max(int((53 - exponents - spare).max()), 0)  # 2^most is a denominator of all
    top = int(exponents.max())
    last = most if max(most, most + top) < 60 else 53 - top
    if 0 <= last <= 62 and (last >= most or exponents.min() + 20 > top):
        off = 0.5**last if last < most else 0.0
        return np.rint(np.ldexp(x, last)).astype(np.int64), 2**last, off
    return *_parts([value.as_integer_ratio() for value in x.tolist()]), 0.0


def _parts(ratios: Sequence[tuple[int, int]]) -> NDArray[np.object_]:
    """Numerators, and denominators, as Python integers."""
    return np.array(ratios, dtype=object).reshape(-1, 2).T


def _listed(values: Any) -> list[Any]:
    """The elements as they are written: a float32 has fewer digits than the float it equals."""
    if not hasattr(values, "tolist"):
        return list(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize < 8:
        return list(values)
    return list(values.tolist())


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN or the NA of pandas, which is not even equal or unequal to itself."""
    try:
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # of a column, or whatever is in a cell
        return False


def _as_rational(value: Any, name: str, index: tuple[int, ...]) -> int | Fraction:
    """One score, exactly as it is written."""
    ticks = isinstance(value, np.datetime64 | np.timedelta64)  # a timedelta64 is an np.integer
    if isinstance(value, int | np.integer | np.bool_) and not ticks:
        return int(value)
    if isinstance(value, Fraction):
        return value
    number = isinstance(value, float | np.floating) and bool(np.isfinite(value))
    if number or (isinstance(value, Decimal) and value.is_finite()):
        return Fraction(str(value))
    if is_missing(value):
        problem, remedy = "is missing", "remove the pair from both systems, or score it"
    elif isinstance(value, float | np.floating | Decimal):
        problem, remedy = "is not finite", "remove the pair, or score it"
    else:
        problem, remedy = "is not a number", "convert it first"
    printed = value.item() if isinstance(value, np.generic) and not ticks else value
    raise ScoreError(name, index, f"= {printed!r} {problem}", remedy)


def as_counts(values: IntArray, name: str) -> IntArray:
    """The same numbers as integers, none of them negative or rounded, as `as_integers` has them."""
    plain = values.dtype.kind in "iub" or values.dtype == np.float64
    if plain and np.all((values >= 0) & (values < SAFE)):
        whole = values.astype(np.int64)
        if np.array_equal(whole, values):
            return whole
    counts = np.empty(values.shape, dtype=object)
    for index, value in np.ndenumerate(values):
        number = _as_rational(value, name, index)
        if number.denominator != 1 or number < 0:
            kind = "below 0" if number < 0 else "not a whole number"
            remedy = "counts are whole numbers from 0 on"
            raise ScoreError(name, index, f"= {value} is {kind}", remedy)
        counts[index] = int(number)
    return counts if largest(counts) >= SAFE else counts.astype(np.int64)
