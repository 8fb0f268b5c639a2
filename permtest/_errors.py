"""What arguments have to be, which packages have to be there, and errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from math import isfinite
from numbers import Real
from typing import Any

#: The largest count; beyond, the binomial law is not exact.
LARGEST = 2**53


def check_count(value: Any, name: str, least: int = 1, most: int = LARGEST, why: str = "") -> int:
    """`value` as an int in this range; a message about the limit ends with `why`, or what to do."""
    whole = isinstance(value, Real) and value % 1 == 0
    if isinstance(value, bool) or not whole:
        raise TypeError(f"{name} = {value!r} must be a whole number")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}{why and f': {why}'}")
    if value > most:
        raise ValueError(f"{name}={value} is more than {most:,}: {why or 'use a smaller number'}")
    return int(value)


def check_finite(value: Any, name: str) -> float:
    """`value` as a float, or an error unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):  # NumPy's booleans are not Real
        raise TypeError(f"{name}={value!r} must be a number")
    try:
        if isfinite(value):
            return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a float") from None
    raise ValueError(f"{name}={value} must be finite")


def check_level(value: Any, name: str = "alpha") -> float:
    """A level of significance, of confidence, or a power; an error unless 0 < `value` < 1."""
    if not 0 < check_finite(value, name) < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """A share; an error unless 0 <= `value` <= 1."""
    if not 0 <= check_finite(value, name) <= 1:
        raise ValueError(f"{name}={value} must lie in [0, 1]; give a share, not percent")
    return float(value)


def check_above_zero(value: Any, name: str) -> float:
    """A size, such as a standard deviation or a margin; an error unless `value` > 0."""
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
    """An entry of an argument that cannot be used: where it is, what is wrong, and what to do."""

    def __init__(self, argument: str, index: Sequence[Any], problem: str, remedy: str) -> None:
        super().__init__(argument, index, problem, remedy)  # all of it, so that it can be pickled
        self.argument, self.index = argument, [int(i) for i in index]

    def __str__(self) -> str:
        _, _, problem, remedy = self.args
        return f"{self.argument}[{', '.join(map(str, self.index))}] {problem}; {remedy}"

    def at(self, index: Sequence[Any]) -> ScoreError:
        """Return this error with the index by which the caller knows the entry."""
        return ScoreError(self.argument, index, *self.args[2:])


class TooHard(ArithmeticError):
    """A method cannot compute this p in reasonable time: why, and what can, if anything."""
