"""Integer arithmetic on arrays that does not wrap around."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: An integer array: int64, or Python integers (dtype object) where int64 could overflow.
IntArray: TypeAlias = NDArray[Any]

#: Below this magnitude a difference of differences of two scores still fits an int64.
SAFE = 2**60

#: Sums that could overflow are made of two halves, the lower one of so many bits.
HALF = 31


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
