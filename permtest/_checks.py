"""What arguments have to be, which packages have to be there, and errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from importlib import import_module
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

#: The largest count; beyond, the binomial law is not exact.
LARGEST = 2**53


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


def check_count(
    value: Any, name: str, least: int = 1, most: int | None = None, why: str = ""
) -> int:
    """`value` as an int in this range; a message about the limit ends with `why`, or what to do."""
    number = count(value, name)
    reason = f": {why}" if why else ""
    if number < least:
        raise ValueError(f"{name}={value} must be at least {least}{reason}")
    if most is not None and number > most:
        remedy = reason or "; use a smaller number"
        raise ValueError(f"{name}={value} is more than {most:,}{remedy}")
    return number


def check_finite(value: Any, name: str) -> float:
    """`value` as a float, or an error unless it is a finite number."""
    _check_number(value, name)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a float") from None
    if not isfinite(number):
        raise ValueError(f"{name}={value} must be finite")
    return number


def _check_number(value: Any, name: str) -> None:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number")


def check_level(value: Any, name: str = "alpha") -> float:
    """A level of significance, of confidence, or a power; an error unless 0 < `value` < 1."""
    if getattr(value, "ndim", 1) == 0:
        value = value.item()
    if not isinstance(value, Decimal):
        _check_number(value, name)
    if not 0 < value < 1:
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


def check_option(name: str, value: Any, known: Iterable[str]) -> None:
    """Raise ValueError unless a value is one of those that are known."""
    if value not in known:
        listed = ", ".join(map(repr, known))
        raise ValueError(f"{name}={value!r} is not known; choose one of {listed}")


def optional(module: str, *, needed_by: str, extra: str) -> Any:
    """Import a package of one of the extras; ImportError says what needs it, and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise ImportError(f"{needed_by} needs {top}: pip install 'permtest[{extra}]'") from error


class ScoreError(ValueError):
    """An entry of an argument that cannot be used: where it is, what is wrong, and what to do.

    >>> print(ScoreError("u", (3,), "is missing", "remove the pair, or score it"))
    u[3] is missing; remove the pair, or score it
    """

    def __init__(self, argument: str, index: tuple[int, ...], problem: str, remedy: str) -> None:
        super().__init__(argument, index, problem, remedy)  # all of it, so that it can be pickled
        self.argument, self.index, self.problem, self.remedy = argument, index, problem, remedy

    def __str__(self) -> str:
        where = ", ".join(str(int(i)) for i in self.index)
        return f"{self.argument}[{where}] {self.problem}; {self.remedy}"

    def at(self, index: tuple[int, ...]) -> ScoreError:
        """Return this error with the index by which the caller knows the entry."""
        return ScoreError(self.argument, index, self.problem, self.remedy)


class _WithRemedy:
    """What is wrong, and what to do about it, if anything."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)  # type: ignore[call-arg]
        self.problem, self.remedy = problem, remedy

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.problem, self.remedy)))


class TooHard(_WithRemedy, ArithmeticError):
    """A method cannot compute this p in reasonable time; the remedy, if any, says what can."""


class TooLarge(_WithRemedy, MemoryError):
    """Something would not fit in memory; the remedy, if any, says what to do."""
