"""Arrays made of what people pass, and integers that do not wrap around.

What NumPy would turn into something else, such as masked entries, dates, or large integers among
floats, is refused, or kept as Python objects.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import ScoreError

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
                where = (*([] if i is None else [i]), *bad)
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
    fits = values.dtype == object or largest(values) < SAFE
    return values if fits else values.astype(object)


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


def shown(number: int) -> str:
    """All digits of a number, or its size."""
    return f"{number:,}" if number < 10**15 else f"about 1e{len(str(number)) - 1}"
