"""What a cell of a text file holds, and the integer in it, read exactly."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_DIGITS = 1000

_KINDS = {
    "integer": rf"[+-]?\d{{1,{MAX_DIGITS}}}(?:\.0*)?|true|false",
    "missing": r"|[+-]?nan|na|n/a|<na>|null|none|-+|\?|\.",
    "long": r"[+-]?\d+(?:\.0*)?",
    "decimal": r"[+-]?\d*\.\d+",
    "scientific": r"[+-]?(?:\d+\.?\d*|\.\d+)e[+-]?\d+",
}
_KIND = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()),
    re.ASCII | re.IGNORECASE,
)

_PROBLEMS = {
    "missing": "{} is a missing score; score the item for both systems, or remove its line",
    "long": f"{{}} has more than {MAX_DIGITS} digits; use a coarser unit",
    "decimal": "{} is not a whole number; multiply both columns by the same power of ten, or count "
    "correct items instead of averaging them",
    "scientific": "{} is in scientific notation, which may have been rounded; write all its digits",
    "text": "{} is not an integer; write digits only, without units, percent signs, or commas",
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
        "long" is an integer of more than `MAX_DIGITS` digits. Booleans are integers.
    """
    match = _KIND.fullmatch(cell.strip())
    return (match and match.lastgroup) or "text"


def is_number(cell: str) -> bool:
    """Whether `cell` holds a number of whatever kind."""
    return kind_of(cell) not in ("missing", "text")


@lru_cache(maxsize=4096)  # the same few scores come again and again
def as_integer(cell: str) -> int:
    """The integer in `cell`.

    Parameters
    ----------
    cell : str
        ``3``, ``-3``, ``+3``, ``3.0``, ``true`` (1) or ``false`` (0).

    Returns
    -------
    int

    Raises
    ------
    ValueError
        That shows the cell, says what is wrong with it, and what to do.

    Examples
    --------
    >>> as_integer(" 3.0"), as_integer("TRUE"), as_integer("9007199254740993")
    (3, 1, 9007199254740993)
    """
    kind, text = kind_of(cell), cell.strip()
    if kind != "integer":
        raise ValueError(_PROBLEMS[kind].format(shown(text)))
    word = text.lower()
    return int(word == "true") if word in ("true", "false") else int(word.partition(".")[0])


def shown(text: str, width: int = 40) -> str:
    """`text` in quotes, on one line, cut if it is long."""
    return repr(text if len(text) <= width else text[: width - 3] + "...")
