"""The forms in which results are shown: plain values, JSON, HTML and text.

HTML has small tables and an inline picture, no script, and loads nothing. Text has the colour of
the page and nothing has a background, so that results can be read in light and dark notebooks.
What comes from data is escaped here.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from html import escape
from math import ceil, floor, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, BARS = 320, 90, 80
FEWEST = 15  # as many bars have room at least, so that a single one is no block
BODY = "#5B8FBC"  # as in the style sheet; it stands out from white and from black
REJECTED = "currentColor"
TABLE = "margin:0 0 0.5em;border-collapse:collapse;font-variant-numeric:tabular-nums"
CELL = "vertical-align:top;padding:0.2em 0.8em 0.2em 0.3em;text-align"

#: In text, what stands in a column of numbers: a number, a percentage, a range, or nothing.
NUMBER = re.compile(r"([-+]?\d[\d.,]*(e[-+]?\d+)?%?( (to|or) \S+)?|never)?")

# ---- plain values and text ----------------------------------------------------------------------


class AsJson(ABC):
    """What has a dict of plain values has a JSON object, too."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        import json  # not at once: its regular expressions take milliseconds to compile

        return json.dumps(self.to_dict(), allow_nan=False, **options)


class AsFields(AsJson):
    """A dataclass whose fields are all that there is to say."""

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings; None for no number."""
        names: dict[str, Any] = getattr(self, "__dataclass_fields__")  # noqa: B009
        return {x: plain(getattr(self, x)) for x in names if not x.startswith("_")}


def p_text(p: float, log10_p: float, digits: int = 3) -> str:
    """p with so many significant digits; more where it would look like the 1 that it is not."""
    if p > 1e-300:  # floats lose digits not far below that
        text = f"{p:.{digits}g}"
        return text if text != "1" or p == 1 else p_text(p, log10_p, digits + 1)
    exponent = floor(log10_p)
    mantissa = f"{10 ** (log10_p - exponent):.{digits}g}"
    return f"1e{exponent + 1}" if mantissa == "10" else f"{mantissa}e{exponent}"


def plain(value: Any) -> Any:
    """A value as JSON has it: None for NaN and infinity, a float for a fraction."""
    if isinstance(value, AsJson):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            value = np.where(np.isfinite(value), value.astype(object), np.array(None))
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float | Fraction | Decimal):
        value = float(value)
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks; to the right are those that hold numbers below their head."""
    columns = []
    for head, *cells in zip(*rows, strict=True):
        width = max(map(len, (head, *cells)))
        right = any(cells) and all(map(NUMBER.fullmatch, cells))
        columns.append([f"{cell:{'>' if right else '<'}{width}}" for cell in (head, *cells)])
    return "\n".join("   ".join(line).rstrip() for line in zip(*columns, strict=True))


# ---- tables -------------------------------------------------------------------------------------


def facts(rows: Mapping[str, str], heading: str = "") -> str:
    """A table of names and what is to be said about them."""
    body = "".join(
        f"<tr>{_cell(name, scope='row')}{_cell(text)}</tr>" for name, text in rows.items()
    )
    return _table(f"<tbody>{body}</tbody>", heading)


def grid(
    header: Sequence[str], rows: Iterable[Sequence[str]], heading: str = "", *, align: str = "left"
) -> str:
    """A table with names of columns; the first cell of a row is its name."""
    first, *others = header
    head = _cell(first, scope="col") + "".join(_cell(x, align, "col") for x in others)
    body = "".join(
        f"<tr>{_cell(name, scope='row')}{''.join(_cell(x, align + _room(x)) for x in cells)}</tr>"
        for name, *cells in rows
    )
    return _table(f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>", heading)


def said(text: str) -> str:
    """A paragraph; nothing for no text."""
    return f"<p>{escape(text)}</p>" if text else ""


class AsSentence(AsFields):
    """A result whose `str` is what a notebook shows, too."""

    def _repr_html_(self) -> str:
        return said(str(self))


def together(*parts: str) -> str:
    """Parts below each other; what is too wide for the page can be scrolled."""
    return f"<div style='overflow-x:auto'>{''.join(parts)}</div>"


def _cell(text: str, align: str = "left", scope: str = "") -> str:
    name, which = ("th", f" scope='{scope}'") if scope else ("td", "")
    return f"<{name}{which} style='{CELL}:{align}'>{escape(text)}</{name}>"


def _room(text: str) -> str:
    """Numbers stay in one line, and sentences do not become columns of letters on a phone."""
    return ";min-width:15em" if len(text) > 30 else ";white-space:nowrap"


def _table(inside: str, heading: str) -> str:
    caption = f"<caption style='text-align:left'>{escape(heading)}</caption>" if heading else ""
    return f"<table style='{TABLE}'>{caption}{inside}</table>"


# ---- a distribution in bars ---------------------------------------------------------------------


def bars(
    law: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]],
    marks: Sequence[float],
    on_a_line: bool,
    label: str,
) -> str:
    """A law in bars, of values, probabilities and which are extreme, with lines at the marks."""
    values, pmf, extreme = law
    mean = float(pmf @ values)
    far = 4.5 * float(np.sqrt(pmf @ (values - mean) ** 2))
    low = min(*marks, max(float(values.min()), mean - far), mean)
    high = max(*marks, min(float(values.max()), mean + far), mean)
    width = _bar_width(values, low, high, on_a_line) if high > low else 1.0
    size = round((high - low) / width) + 1
    start = (low + high - size * width) / 2
    places = np.floor((values - start) / width + 1e-6).astype(np.intp)
    inside = (places >= 0) & (places < size)
    rejected, body = (
        np.bincount(places[kind], pmf[kind], size) for kind in (inside & extreme, inside & ~extreme)
    )
    step = WIDTH / max(size, FEWEST)
    left = (WIDTH - size * step) / 2
    scale = (HEIGHT - 8) / (body + rejected).max()
    picture = "".join(
        f"<rect x='{left + i * step:.1f}' y='{HEIGHT - scale * (base + height):.1f}' "
        f"width='{max(step - 0.5, 0.5):.1f}' height='{scale * height:.1f}' fill='{colour}'/>"
        for bases, heights, colour in ((0 * body, rejected, REJECTED), (rejected, body, BODY))
        for i, (base, height) in enumerate(zip(bases, heights, strict=True))
        if scale * height > 0.05
    )
    looks = "1.5' stroke-dasharray='4 2", "1' stroke-dasharray='1 3"
    for mark, look in zip(marks, looks, strict=False):
        x = f"{left + (mark - start) / width * step:.1f}"
        picture += _line(f"x1='{x}' x2='{x}' y1='2' y2='{HEIGHT}' stroke-width='{look}'")
    axis = _line(f"x1='0' x2='{WIDTH}' y1='{HEIGHT}' y2='{HEIGHT}' stroke-opacity='0.6'")
    label = escape(label)
    return (
        f"<svg role='img' aria-label='{label}' width='{WIDTH}' height='{HEIGHT + 4}' "
        f"style='max-width:100%' viewBox='0 0 {WIDTH} {HEIGHT + 4}'><title>{label}</title>"
        f"{picture}{axis}</svg>"
    )


def _line(look: str) -> str:
    return f"<line {look} stroke='currentColor'/>"


def _bar_width(values: NDArray[np.float64], low: float, high: float, on_a_line: bool) -> float:
    """Of BARS bars at most; a multiple of the distance of values that all lie on one line."""
    width = (high - low) / (BARS - 2)
    if not on_a_line:
        return width
    gaps = np.diff(np.unique(values[(values >= low) & (values <= high)]))
    gaps = gaps[gaps > 1e-9 * (high - low)]
    step = float(np.median(gaps)) if gaps.size else width
    return step * ceil(width / step) if step < high - low else high - low
