"""What a cell of a table holds, and the number in it, read exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

MAX_DIGITS = 1000

#: Digits that programs print of a float so that no other prints like it, though fewer may do.
ALL_DIGITS = (16, 17)

#: What terminals obey, what ends a line or turns its direction, and what UTF-8 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_KIND = re.compile(
    r"(?P<missing>|[+-]?nan|na|n/a|<na>|null|none|-+|\?|\.)"
    r"|(?P<integer>[+-]?\d+(?:\.0*)?|true|false)"
    r"|(?P<decimal>[+-]?\d*\.\d+)"
    r"|(?P<scientific>[+-]?(?:\d+(?:\.\d*)?|\.\d+)e[+-]?\d+)",
    re.ASCII | re.IGNORECASE,
)

_PROBLEMS = {
    "missing": "{} is a missing score; score the item for both systems, or remove its line",
    "long": f"{{}} has more than {MAX_DIGITS} digits; use a coarser unit",
    "scientific": "{} is in scientific notation, which may have been rounded; write all its digits",
    "text": "{} is not a number; write digits (and a point) only, without units, percent signs, "
    "or commas",
}


class Digits(str):
    """A number in JSON that is too long or too large to be made one, as it is written."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Twice:
    """The values of a name that one object of JSON has several times; refused where it is read."""

    name: str
    values: list[Any]


def twice(name: str) -> str:
    """What is wrong with a name that is twice in one object, and what to do."""
    return f"{shown(name)} is twice in one object; remove one"


def for_json(value: Any) -> Any:
    """What JSON can show of a value that it has no word for: all values, or a float."""
    return value.values if isinstance(value, Twice) else float(value)


# ---- what a cell holds -------------------------------------------------------------------------


def text_of(cell: Any) -> str:
    """A cell as text: numbers with all their digits, "" where it is missing, lists as JSON."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | Twice | list | tuple | dict):
        return json.dumps(cell, ensure_ascii=False, default=for_json)
    if isinstance(cell, float):
        cell = Decimal(repr(cell))
    plain = isinstance(cell, Decimal) and cell.is_finite() and abs(cell.adjusted()) < MAX_DIGITS
    return f"{cell:f}" if plain else str(cell)


def kind_of(cell: Any) -> str:
    """What a cell holds: "integer", "missing", "long", "decimal", "scientific" or "text".

    Booleans are integers; "long" is a number of more than `MAX_DIGITS` digits. A number with an
    exponent is "scientific" unless its digits reach the units, as those of 1e-05 and 1.25e+01 do,
    but not those of 1e3.
    """
    if isinstance(cell, Fraction):
        return "decimal"
    text = text_of(cell.values[0] if isinstance(cell, Twice) else cell).strip()
    match = _KIND.fullmatch(text)
    kind = (match and match.lastgroup) or "text"
    if kind == "scientific" and len(text) <= 100 and len(_exponent(text)) <= 4:
        return "decimal" if int(Decimal(text).as_tuple().exponent) <= 0 else kind
    if kind in ("integer", "decimal") and len(text) > MAX_DIGITS:
        return "long" if sum(map(str.isdigit, text)) > MAX_DIGITS else kind
    return kind


def is_number(cell: Any) -> bool:
    """Whether `cell` holds a number of whatever kind."""
    return kind_of(cell) not in ("missing", "text")


def _exponent(number: str) -> str:
    """What is written behind the e of a number; what has many digits there must not be expanded."""
    return number.lower().partition("e")[2]


# ---- numbers -----------------------------------------------------------------------------------


def bounded(text: str) -> Decimal | None:
    """The number that is written; None if it is beyond all floats, or has over `MAX_DIGITS`."""
    if len(text) > MAX_DIGITS or len(_exponent(text)) > 6 or not isfinite(float(text)):
        return None
    number = Decimal(text)
    return number if abs(number.adjusted()) < MAX_DIGITS else None


def as_score(cell: Any) -> int | Decimal | Fraction:
    """The number in a cell, exactly, or ValueError; a float is the decimal that it prints as."""
    if isinstance(cell, Twice):
        raise ValueError(twice(cell.name))
    return cell if isinstance(cell, Fraction) else _number_in(text_of(cell))


@lru_cache(maxsize=4096)  # the same few scores come again and again
def _number_in(cell: str) -> int | Decimal:
    """The number in a text."""
    kind, text = kind_of(cell), cell.strip()
    if kind == "decimal":
        return Decimal(text)
    if kind != "integer":
        raise ValueError(_PROBLEMS[kind].format(shown(text)))
    word = text.lower()
    return int(word == "true") if word in ("true", "false") else int(word.partition(".")[0])


def as_printed(column: Sequence[Any]) -> list[Any]:
    """Numbers, those that print all digits of a float as floats, which may stand for fractions.

    Programs print the same double as 0.1 and as 0.10000000000000001, and it must tie with itself.
    """
    return [float(x) if isinstance(x, Decimal) and _has_all_digits(x) else x for x in column]


def _has_all_digits(number: Decimal) -> bool:
    digits = len(number.as_tuple().digits)
    return ALL_DIGITS[0] - 1 <= digits <= ALL_DIGITS[1] and number != number.to_integral_value()


# ---- cells that people see ----------------------------------------------------------------------


def printable(text: str) -> str:
    """`text` with the characters escaped that a terminal or a file could not bear."""
    if text.isprintable():  # which is quick, and says so of none of those characters
        return text
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def brief(text: str, width: int = 100) -> str:
    """`text` as a table for people shows it: printable, and cut if it is long."""
    return printable(text if len(text) <= width else f"{text[: width - 3]}...")


def shown(text: str, width: int = 40) -> str:
    """`text` in quotes, on one line, cut if it is long."""
    return repr(text if len(text) <= width else text[: width - 3] + "...")
