"""What all tests of counts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from permtest.alternatives.assumptions import (
    Assumption,
)

#: The largest count; beyond, the binomial law is not exact.
LARGEST = 2**53

#: Expected counts from which on a chi-squared law fits well enough, by Cochran's rule.
ENOUGH = 5
LARGE_COUNTS = Assumption("large counts", f"all expected counts are at least {ENOUGH}")


def count(value: Any, name: str) -> int:
    """`value` as an int, or an error that names it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        whole = isinstance(value, float | np.floating) and float(value).is_integer()
        if not whole:
            raise TypeError(f"{name} = {value!r} must be a whole number")
    if value < 0:
        raise ValueError(f"{name} = {value} is below 0, but it is a count")
    if value > LARGEST:
        raise ValueError(f"{name} = {value} is above {LARGEST:,}, the most that is counted exactly")
    return int(value)


def two_sided_level(tail: float) -> float:
    """The level of a two-sided interval that leaves so much on each side."""
    if tail >= 0.5:
        raise ValueError(f"confidence_level={1 - tail:g} is too low for a one-sided interval")
    return 1 - 2 * tail


def check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ValueError unless a value is one of those that are known."""
    if value not in known:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, known))}")
