"""The HTML form of results: small tables and an inline picture, no script, nothing to load.

Text has the colour of the page, and nothing has a background, so that results can be read in any
notebook, by day and by night. What comes from data is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._json import AsFields

WIDTH, HEIGHT, BARS = 320, 90, 80
FEWEST = 15  # as many bars have room at least, so that a single one is no block
BODY = "#5B8FBC"  # as in the style sheet; it stands out from white and from black
REJECTED = "currentColor"
TABLE = "margin:0 0 0.5em;border-collapse:collapse;font-variant-numeric:tabular-nums"
CELL = "vertical-align:top;padding:0.2em 0.8em 0.2em 0.3em;text-align"

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


class Sketch(NamedTuple):
    """Shares of the mass in bars of equal width, and where marks stand, all from 0 to 1."""

    body: NDArray[np.float64]
    rejected: NDArray[np.float64]
    left: float
    observed: float
    mirrored: float | None


def drawn(sketch: Sketch, text: str) -> str:
    """The bars, their extreme part dark, and the observed value as a dashed line."""
    label = escape(f"Null distribution; {text}")
    marks = _line(sketch.observed, "1.5", "4 2")
    if sketch.mirrored is not None:
        marks += _line(sketch.mirrored, "1", "1 3")
    return (
        f"<svg role='img' aria-label='{label}' width='{WIDTH}' height='{HEIGHT + 4}' "
        f"style='max-width:100%' viewBox='0 0 {WIDTH} {HEIGHT + 4}'><title>{label}</title>"
        f"{_rectangles(sketch)}"
        f"<line x1='0' x2='{WIDTH}' y1='{HEIGHT}' y2='{HEIGHT}' stroke='currentColor' "
        f"stroke-opacity='0.6'/>{marks}</svg>"
    )


def _line(place: float, width: str, dashes: str) -> str:
    x = f"{place * WIDTH:.1f}"
    return (
        f"<line x1='{x}' x2='{x}' y1='2' y2='{HEIGHT}' stroke='currentColor' "
        f"stroke-width='{width}' stroke-dasharray='{dashes}'/>"
    )


def _rectangles(sketch: Sketch) -> str:
    """In each bar the extreme part stands below the other one."""
    step = WIDTH * (1 - 2 * sketch.left) / sketch.body.size
    scale = (HEIGHT - 8) / (sketch.body + sketch.rejected).max()
    rejected, body = scale * sketch.rejected, scale * sketch.body
    return "".join(
        f"<rect x='{sketch.left * WIDTH + i * step:.1f}' y='{HEIGHT - base - height:.1f}' "
        f"width='{max(step - 0.5, 0.5):.1f}' height='{height:.1f}' fill='{colour}'/>"
        for bases, heights, colour in ((0 * body, rejected, REJECTED), (rejected, body, BODY))
        for i, (base, height) in enumerate(zip(bases, heights, strict=True))
        if height > 0.05
    )


def bars_of_cells(
    pmf: NDArray[np.float64], extreme: NDArray[np.bool_], cell: int, two_sided: bool
) -> Sketch:
    """All mass of a lattice that can be seen, and marks; symmetric if both tails count."""
    top = pmf.size - 1
    seen = np.flatnonzero(pmf > pmf.max() * 1e-4)
    first, last = min(int(seen[0]), cell), max(int(seen[-1]), cell)
    mirrored = top - cell if two_sided and 2 * cell != top else None
    if two_sided:
        first, last = min(first, top - last), max(last, top - first)
    per_bar = -(-(last - first + 1) // BARS)
    starts = np.arange(first, last + 1, per_bar)
    cells, extreme = pmf[: last + 1], extreme[: last + 1]
    left = max(0.0, (1 - starts.size / FEWEST) / 2)

    def place(position: int) -> float:
        return left + (position - first + 0.5) / (per_bar * starts.size) * (1 - 2 * left)

    return Sketch(
        np.add.reduceat(np.where(extreme, 0.0, cells), starts),
        np.add.reduceat(np.where(extreme, cells, 0.0), starts),
        left,
        place(cell),
        None if mirrored is None else place(mirrored),
    )


def bars_of_values(
    values: NDArray[np.float64],
    pmf: NDArray[np.float64],
    extreme: NDArray[np.bool_],
    mark: float,
    two_sided: bool,
    on_a_line: bool,
) -> Sketch:
    """The same of values that may lie anywhere, `on_a_line` if with the same steps."""
    mean = float(pmf @ values)
    far = 4.5 * float(np.sqrt(pmf @ (values - mean) ** 2))
    low = min(mark, max(float(values.min()), mean - far))
    high = max(mark, min(float(values.max()), mean + far))
    if two_sided:
        low, high = min(low, -high), max(high, -low)
    if high <= low:
        ends = (extreme, ~extreme)
        rejected, body = (np.array([float(pmf[end].sum())]) for end in ends)
        return Sketch(body, rejected, (1 - 1 / FEWEST) / 2, 0.5, None)
    width = _bar_width(values, low, high, on_a_line)
    size = round((high - low) / width) + 1
    start = (low + high - size * width) / 2
    bars = np.floor((values - start) / width + 1e-6).astype(np.intp)
    inside = (bars >= 0) & (bars < size)
    rejected, body = (
        np.asarray(np.bincount(bars[kind], pmf[kind], size), dtype=np.float64)
        for kind in (inside & extreme, inside & ~extreme)
    )
    left = max(0.0, (1 - size / FEWEST) / 2)

    def place(value: float) -> float:
        return left + (value - start) / (size * width) * (1 - 2 * left)

    return Sketch(body, rejected, left, place(mark), place(-mark) if two_sided and mark else None)


def _bar_width(values: NDArray[np.float64], low: float, high: float, on_a_line: bool) -> float:
    """Of BARS bars at most; a multiple of the distance of values that all lie on one line."""
    width = (high - low) / (BARS - 2)
    if not on_a_line:
        return width
    gaps = np.diff(np.unique(values[(values >= low) & (values <= high)]))
    gaps = gaps[gaps > 1e-9 * (high - low)]
    step = float(np.median(gaps)) if gaps.size else width
    return step * ceil(width / step) if step < high - low else high - low
