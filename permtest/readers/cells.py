"""What a cell of a text file holds, and the number in it, read exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any

MAX_DIGITS = 1000

#: Digits that programs print of a float so that no other prints like it, though fewer may do.
ALL_DIGITS = (16, 17)

#: What terminals obey, what ends a line or turns its direction, and what UTF-8 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_KINDS = {
    "integer": rf"[+-]?\d{{1,{MAX_DIGITS}}}(?:\.0*)?|true|false",
    "missing": r"|[+-]?nan|na|n/a|<na>|null|none|-+|\?|\.",
    "long": r"[+-]?\d+(?:\.0*)?",
    "decimal": rf"[+-]?\d{{0,{MAX_DIGITS}}}\.\d{{1,{MAX_DIGITS}}}|"
    rf"[+-]?(?:\d{{1,40}}(?:\.\d{{0,40}})?|\.\d{{1,40}})e-\d{{1,3}}",
    "scientific": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)e[+-]?\d+",
}
_KIND = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()),
    re.ASCII | re.IGNORECASE,
)

_PROBLEMS = {
    "missing": "{} is a missing score; score the item for both systems, or remove its line",
    "long": f"{{}} has more than {MAX_DIGITS} digits; use a coarser unit",
    "scientific": "{} is in scientific notation, which may have been rounded; write all its digits",
    "text": "{} is not a number; write digits (and a point) only, without units, percent signs, "
    "or commas",
}


def kind_of(cell: str) -> str:
    """What `cell` holds.

    Parameters
    ----------
    cell : str
        Blanks around it do not count.

    Returns
    -------
    {"integer", "missing", "long", "decimal", "scientific", "text"}
        "long" is an integer of more than `MAX_DIGITS` digits. Booleans are integers. A negative
        exponent makes a decimal, as programs write small ones, and so does a positive one if the
        digits reach the units; others are "scientific".
    """
    text = cell.strip()
    match = _KIND.fullmatch(text)
    kind = (match and match.lastgroup) or "text"
    short = kind == "scientific" and len(text) <= 60 and len(exponent(text)) <= 4
    # All its digits are written if they reach the units: 1.25e+01, but not 1e3.
    return "decimal" if short and int(Decimal(text).as_tuple().exponent) <= 0 else kind


def exponent(number: str) -> str:
    """What is written behind the e of a number; what has many digits there must not be expanded."""
    return number.lower().partition("e")[2]


class Digits(str):
    """A number in JSON, which stays text so that it is not rounded."""

    __slots__ = ()


class TwiceCell(str):
    """The values of a name that is twice in one object of JSON, as a cell that no reader takes.

    Parameters
    ----------
    text : str
        All of the values.
    name : str
    first : str
        The first of the values, which says what the column holds.
    """

    __slots__ = ("first", "name")
    name: str
    first: str

    def __new__(cls, text: str, name: str, first: str) -> TwiceCell:
        """The text with the rest."""
        cell = super().__new__(cls, text)
        cell.name, cell.first = name, first
        return cell


def twice(name: str) -> str:
    """What is wrong with a name that is twice in one object, and what to do."""
    return f"{shown(name)} is twice in one object; remove one"


def as_decimal(text: str) -> Decimal:
    """The number that a text writes; 16 or 17 digits stand for the double that they print.

    Programs print the same double as 0.1 and as 0.10000000000000001, and it must tie with itself.
    Whole numbers with all their digits are taken as they are, and so are more than 17 digits.

    Parameters
    ----------
    text : str
        Whose exponent, if it has one, is short.

    Returns
    -------
    Decimal

    Examples
    --------
    >>> as_decimal("0.10000000000000001"), as_decimal("0.100000000000000012")
    (Decimal('0.1'), Decimal('0.100000000000000012'))
    >>> as_decimal("12345678901234567.0")
    Decimal('12345678901234567.0')
    """
    number = Decimal(text)
    if len(text) < ALL_DIGITS[0] or repr(float(text)) == text:  # as nearly all are
        return number
    _, digits, last = number.as_tuple()
    if len(digits) not in ALL_DIGITS:
        return number
    if isinstance(last, int) and last <= 0 and number == number.to_integral_value():
        return number
    value = float(text)
    return Decimal(repr(value)) if value and isfinite(value) else number


def as_printed(column: Sequence[Any]) -> list[Any]:
    """Numbers, those that print all digits of a float as floats, which may stand for fractions."""
    return [float(x) if isinstance(x, Decimal) and _has_all_digits(x) else x for x in column]


def _has_all_digits(number: Decimal) -> bool:
    digits = len(number.as_tuple().digits)
    return ALL_DIGITS[0] - 1 <= digits <= ALL_DIGITS[1] and number != number.to_integral_value()


def bounded(text: str) -> Decimal | None:
    """`as_decimal`; None where the number is beyond all floats, or has more than `MAX_DIGITS`."""
    if len(text) > MAX_DIGITS or len(exponent(text)) > 6 or not isfinite(float(text)):
        return None
    number = as_decimal(text)
    return number if abs(number.adjusted()) < MAX_DIGITS else None


def is_number(cell: str) -> bool:
    """Whether `cell` holds a number of whatever kind."""
    return kind_of(cell) not in ("missing", "text")


@lru_cache(maxsize=4096)  # the same few scores come again and again
def as_score(cell: str) -> int | Decimal:
    """The number in `cell`, exactly.

    Parameters
    ----------
    cell : str
        ``3``, ``-3``, ``+3``, ``3.0``, ``0.75``, ``1e-05``, ``true`` (1) or ``false`` (0).

    Returns
    -------
    int or Decimal

    Raises
    ------
    ValueError
        That shows the cell, says what is wrong with it, and what to do.

    Examples
    --------
    >>> as_score(" 3.0"), as_score("TRUE"), as_score("0.75"), as_score("9007199254740993")
    (3, 1, Decimal('0.75'), 9007199254740993)
    """
    if isinstance(cell, TwiceCell):
        raise ValueError(twice(cell.name))
    kind, text = kind_of(cell), cell.strip()
    if kind == "decimal":
        return as_decimal(text)
    if kind != "integer":
        raise ValueError(_PROBLEMS[kind].format(shown(text)))
    word = text.lower()
    return int(word == "true") if word in ("true", "false") else int(word.partition(".")[0])


def printable(text: str) -> str:
    r"""`text` with the characters escaped that a terminal or a file could not bear.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb"), printable("naïve 文"))
    a\x1b[2Jb naïve 文
    """
    if text.isprintable():  # which is quick, and says so of none of those characters
        return text
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def brief(text: str, width: int = 100) -> str:
    """`text` as a table for people shows it: printable, and cut if it is long."""
    return printable(text if len(text) <= width else f"{text[: width - 3]}...")


def shown(text: str, width: int = 40) -> str:
    """`text` in quotes, on one line, cut if it is long."""
    return repr(text if len(text) <= width else text[: width - 3] + "...")
