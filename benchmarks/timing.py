"""Seconds of a call, and whether a larger one is worth waiting for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from statistics import median
from typing import Any

LIMIT = 5.0  # what is expected to take longer is not run
PATIENCE = 0.3  # how long to go on repeating a quick call
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
SINGLE = 1.0  # one call of this length is measurement enough


def seconds(call: Callable[[], Any], patience: float = PATIENCE) -> float:
    """Median of 3 to 25 calls after one that warms up; of the only call where that one is long."""
    times: list[float] = []
    while len(times) < 4 or (sum(times) < patience and len(times) < 26):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if len(times) == 1 and times[0] > SINGLE:
            return seconds_after_long_start(times[0], call)
    return median(times[1:])


def seconds_after_long_start(first: float, call: Callable[[], Any]) -> float:
    """A long first call may have been long for what it loaded; the shorter of two has not."""
    start = time.perf_counter()
    call()
    return min(first, time.perf_counter() - start)


@dataclass
class Curve:
    """Times of one method at growing sizes, until they are expected to pass the limit.

    Parameters
    ----------
    times : dict
        Seconds by size.
    reason : str
        Why there are no more, once there are none.
    """

    times: dict[int, float] = field(default_factory=dict)
    reason: str = ""

    def expected(self, size: int) -> float:
        """Seconds at `size` if the last two sizes show how time grows; at least in proportion."""
        if not self.times:
            return 0.0
        points = list(self.times.items())
        (a, t), (b, s) = points[max(len(points) - 2, 0)], points[-1]
        slope = log(s / t) / log(b / a) if a != b else 1.0
        return s * (size / b) ** max(slope, 1.0)

    def extend(
        self, size: int, call: Callable[[], Any], scale: float = 1.0, limit: float = LIMIT
    ) -> str:
        """Measure at `size` unless it would take too long; return what the table should say."""
        if not self.reason and self.expected(size) / scale > limit:
            self.reason = (
                f"not run at {size:,}, where {duration(self.expected(size), 1)} are expected"
            )
        if self.reason:
            return "–"
        try:
            self.times[size] = scale * seconds(call)
        except MemoryError as error:
            self.reason = f"refused: {error}"
            return "–"
        return duration(self.times[size])


def duration(value: float, digits: int = 3) -> str:
    """Seconds, rounded, in the unit that suits them."""
    unit, size = next((u for u in UNITS if value >= u[1]), UNITS[-1])
    return f"{float(f'{value / size:.{digits}g}'):g} {unit}"


def growth(times: dict[int, float]) -> float:
    """Exponent e of time ~ size^e over the last factor of (about) ten, or less if there is less."""
    sizes = sorted(times)
    last = sizes[-1]
    first = next(n for n in sizes if n >= last / 10)
    return log(times[last] / times[first]) / log(last / first) if first < last else float("nan")
