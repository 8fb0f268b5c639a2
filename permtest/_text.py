"""How results read: the one place that prints numbers, p-values, intervals and tables.

A result has rows of plain values; JSON, tables of text and tables of HTML are made of these here.
HTML has small tables, no script, and loads nothing. Text has the colour of the page and nothing has
a background, so that all notebooks can show results. What comes from data is escaped here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from html import escape
from math import floor, inf, isfinite, log10
from typing import Any

import numpy as np

TABLE = "margin:0 0 0.5em;border-collapse:collapse;font-variant-numeric:tabular-nums"
CELL = "vertical-align:top;padding:0.2em 0.8em 0.2em 0.3em;text-align"
#: In text, what stands in a column of numbers: a number, a percentage, a range, or nothing.
NUMBER = re.compile(r"(-|[-+]?\d[\d.,]*(e[-+]?\d+)?%?( (to|or) \S+)?|never)?")


def number(x: Any, digits: int = 6) -> str:
    """A number in a sentence: whole ones in full, others with so many digits at most."""
    return f"{x:.{digits}g}" if isinstance(x, float | np.floating) else f"{x}"


def counted(amount: Any, plural: str) -> str:
    """A number with its noun: 1 pair, 2 pairs."""
    if amount == 1:
        plural = plural.removesuffix("es" if plural in ("passes", "matches") else "s")
    return f"{number(amount)} {plural}"


def p_value(p: float, log10_p: float | None = None, digits: int = 3) -> str:
    """p with so many significant digits; more where it would look like the 1 that it is not."""
    if p > 1e-300:  # floats lose digits not far below that
        text = f"{p:.{digits}g}"
        return text if text != "1" or p == 1 else p_value(p, log10_p, digits + 1)
    log_p = log10(max(p, 5e-324)) if log10_p is None else log10_p
    exponent = floor(log_p)
    mantissa = f"{10 ** (log_p - exponent):.{digits}g}"
    return f"1e{exponent + 1}" if mantissa == "10" else f"{mantissa}e{exponent}"


def interval(low: float, high: float, digits: int = 4) -> str:
    """An interval as people write it; an open side is said."""
    if low == -inf:
        return "any difference" if high == inf else f"{number(high, digits)} or less"
    return f"{number(low, digits)} {'or more' if high == inf else 'to ' + number(high, digits)}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def plain(value: Any) -> Any:
    """A value as JSON has it: None for NaN and infinity, a float for a fraction."""
    if isinstance(value, Shown):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float | Fraction | Decimal):
        value = float(value)
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value


class Shown:
    """A result: rows of plain values, of which the other forms are made; `str` is a sentence."""

    def rows(self) -> list[dict[str, Any]]:
        """Plain values by name: one row, of all fields of a dataclass."""
        names: dict[str, Any] = getattr(self, "__dataclass_fields__")  # noqa: B009
        return [{x: plain(getattr(self, x)) for x in names if not x.startswith("_")}]

    def to_dict(self) -> dict[str, Any]:
        """The values of the one row; None for what is no finite number."""
        return self.rows()[0]

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        import json  # not at once: its regular expressions take milliseconds to compile

        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def _repr_html_(self) -> str:
        return said(str(self))


def cell(key: str, value: Any) -> str:
    """The text of a value in the column `key` of a table."""
    if value is None or value != value:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        low, high = value
        return interval(low, high)
    if key.startswith(("pvalue", "adjusted")):
        return p_value(float(value))
    return number(value, 4) if isinstance(value, float | np.floating) else str(value)


def text_table(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> str:
    """The columns that have titles, as text; to the right are those that hold numbers."""
    columns = []
    for key, head in titles.items():
        cells = [cell(key, row.get(key)) for row in rows]
        width = max(map(len, (head, *cells)))
        right = any(cells) and all(map(NUMBER.fullmatch, cells))
        columns.append([f"{text:{'>' if right else '<'}{width}}" for text in (head, *cells)])
    return "\n".join("   ".join(line).rstrip() for line in zip(*columns, strict=True))


def html_table(
    rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str], heading: str = ""
) -> str:
    """The same as HTML; the first cell of a row is its name."""
    caption = f"<caption style='text-align:left'>{escape(heading)}</caption>" if heading else ""
    head = "".join(_cell(title, "col") for title in titles.values())
    body = ""
    for row in rows:
        first, *others = (cell(key, row.get(key)) for key in titles)
        body += f"<tr>{_cell(first, 'row')}{''.join(map(_cell, others))}</tr>"
    inside = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<table style='{TABLE}'>{inside}</table>"


def _cell(text: str, scope: str = "") -> str:
    name, which = ("th", f" scope='{scope}'") if scope else ("td", "")
    # Numbers stay in one line, and sentences do not become columns of letters on a phone.
    room = ";min-width:15em" if len(text) > 30 else "" if scope else ";white-space:nowrap"
    return f"<{name}{which} style='{CELL}:left{room}'>{escape(text)}</{name}>"


def said(text: str) -> str:
    """A paragraph; nothing for no text."""
    return f"<p>{escape(text)}</p>" if text else ""


def together(*parts: str) -> str:
    """Parts below each other; what is too wide for the page can be scrolled."""
    return f"<div style='overflow-x:auto'>{''.join(parts)}</div>"
