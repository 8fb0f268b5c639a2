"""What the value of an option may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from reprlib import Repr
from typing import Any


@dataclass(frozen=True)
class Rule:
    """What a value may be.

    Parameters
    ----------
    allowed : str
        In words, for messages and comments.
    accepts : callable
        Whether a value is.
    keep : callable, optional
        The form in which it is kept.
    """

    allowed: str
    accepts: Callable[[Any], bool]
    keep: Callable[[Any], Any] = lambda value: value

    def check(self, value: Any, key: str) -> Any:
        """The value as it is kept; ValueError if it is not allowed."""
        if not self.accepts(value):
            raise ValueError(f"{key}: {shown(value)} is not {self.allowed}{_hint(value)}")
        return self.keep(value)

    def or_null(self, meaning: str) -> Rule:
        """Or None, which means something else."""
        return Rule(
            f"{self.allowed}, or null ({meaning})",
            lambda value: value is None or self.accepts(value),
            lambda value: None if value is None else self.keep(value),
        )

    def or_count(self, meaning: str) -> Rule:
        """Or a whole number, which means something else."""

        def accepts(value: Any) -> bool:
            return is_whole(value, 0) or self.accepts(value)

        def keep(value: Any) -> Any:
            return value if isinstance(value, int) else self.keep(value)

        return Rule(f"{self.allowed}, or a whole number ({meaning})", accepts, keep)


def shown(value: Any) -> str:
    """A value in a message, cut short."""
    short = Repr()
    short.maxstring = short.maxother = 60
    return short.repr(value)


def _hint(value: Any) -> str:
    """Numbers such as 1e-3 are text in YAML."""
    if not isinstance(value, str):
        return ""
    try:
        number = float(value)
    except ValueError:
        return ""
    return f"; it is text: without quotes, and with a decimal point, it is the number {number!r}"


def is_whole(value: Any, least: int) -> bool:
    """Whether it is an int, and large enough."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: Any) -> bool:
    """Whether it is a finite int or float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_column(value: Any) -> bool:
    return is_whole(value, 1) or (isinstance(value, str) and value != "")


def _is_list(value: Any, accepts: Callable[[Any], bool], least: int = 1) -> bool:
    """Whether it is a list of different things."""
    if not isinstance(value, list | tuple) or len(value) < least:
        return False
    return all(map(accepts, value)) and len(set(value)) == len(value)


def _is_names(value: Any) -> bool:
    return _is_list(value, lambda name: isinstance(name, str) and name != "", 2) and len(value) == 2


def at_least(least: int) -> Rule:
    """The rule for whole numbers from `least` on."""
    return Rule(f"a whole number of at least {least}", partial(is_whole, least=least))


def one_of(choices: tuple[str, ...]) -> Rule:
    """The rule for one of some words."""
    text = f"one of {', '.join(choices)}"
    return Rule(text, lambda value: isinstance(value, str) and value in choices)


def some_of(choices: tuple[str, ...], *words: str, least: int = 1) -> Rule:
    """One of the words, or a list of choices."""
    text = " or ".join([*words, f"a list without repetition, of {', '.join(choices)}"])
    known = one_of(choices).accepts

    def accepts(value: Any) -> bool:
        if isinstance(value, str):
            return value in words
        return _is_list(value, known, least)

    return Rule(text, accepts, lambda value: value if isinstance(value, str) else tuple(value))


LEVEL = Rule(
    "a number between 0 and 1, both excluded",
    lambda value: is_number(value) and 0 < value < 1,
    float,
)
NUMBER = Rule("a finite number", is_number, float)
NOT_NEGATIVE = Rule("a number of at least 0", lambda value: is_number(value) and value >= 0, float)
POSITIVE = Rule("a number above 0", lambda value: is_number(value) and value > 0, float)
SEED = at_least(0)
COLUMN = Rule("the name of a column, or its number counted from 1", _is_column)
YES_OR_NO = Rule("true or false", lambda value: isinstance(value, bool))
NAMES = Rule("a list of two different names", _is_names, tuple)
SIZES = Rule(
    "a list of different whole numbers of at least 1, in ascending order",
    lambda value: _is_list(value, partial(is_whole, least=1)) and sorted(value) == list(value),
    tuple,
)


def choice(default: Any, rule: Rule, about: str) -> Any:
    """A field of a section."""
    return field(default=default, metadata={"rule": rule, "about": about})
