"""What arguments of studies have to be: counts within limits, levels, shares; errors name them."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any

import numpy as np

from permtest.alternatives.counts import count

#: The most experiments that are simulated: shares are then known to 0.0005, one standard error.
MOST_EXPERIMENTS = 10**6

#: The most pairs of a sample whose items are drawn, some 100 MB each.
MOST_DRAWN = 10**7

#: The most pairs of a sample of which only the number of each difference is drawn.
MOST_COUNTED = 10**9

#: The most sizes of a curve.
MOST_SIZES = 1000


def check_count(
    value: Any, name: str, least: int = 1, most: int | None = None, why: str = ""
) -> int:
    """`value` as an int from `least` to `most`, or an error that names it.

    Parameters
    ----------
    value : int, or float that is whole
    name : str
    least, most : int
    why : str
        What a message about the limit ends with: a reason, or what to do.
    """
    number = count(value, name)
    reason = f": {why}" if why else ""
    if number < least:
        raise ValueError(f"{name}={value} must be at least {least}{reason}")
    if most is not None and number > most:
        raise ValueError(f"{name}={value} is more than {most:,}{reason}")
    return number


def check_experiments(experiments: Any) -> int:
    """A number of simulated data sets."""
    why = "their shares are as good as exact by then; ask for fewer"
    return check_count(experiments, "experiments", most=MOST_EXPERIMENTS, why=why)


def check_level(alpha: Any) -> float:
    """`alpha`, or an error unless it is a level."""
    return check_probability(alpha, "alpha")


def check_probability(value: Any, name: str) -> float:
    """`value`, or an error unless it lies between 0 and 1."""
    if not 0 < check_finite(value, name) < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """`value`, or an error unless it lies between 0 and 1, or is one of them."""
    if not 0 <= check_finite(value, name) <= 1:
        raise ValueError(f"{name}={value} must lie in [0, 1]; give a share, not percent")
    return float(value)


def check_above_zero(value: Any, name: str) -> float:
    """`value`, or an error unless it is above 0."""
    if check_finite(value, name) <= 0:
        raise ValueError(f"{name}={value} must be above 0")
    return float(value)


def check_finite(value: Any, name: str) -> float:
    """`value` as a float, or an error unless it is a finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a float") from None
    if not -inf < number < inf:
        raise ValueError(f"{name}={value} must be finite")
    return number
