"""The HTML form of results: small tables and an inline picture, no script, nothing to load.

Text has the colour of the page, and nothing has a background, so that results can be read in any
notebook, by day and by night. What comes from data is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from permtest.result import PermutationTestResult, StructuredTestResult, ValueDistribution

WIDTH, HEIGHT, BARS = 320, 90, 80
FEWEST = 15  # as many bars have room at least, so that a single one is no block
LONGEST = 4_000_000  # cells; more would take seconds, and nobody asked for them
MOST_POINTS = 200_000  # the same for several sums, where each value of a measure is computed
MOST_CALLS = 25_000  # the same where a user's function makes it slow
TOO_LONG = "<p>The null distribution is too long to draw here.</p>"
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


# ---- the exact test -----------------------------------------------------------------------------


def result_html(result: PermutationTestResult) -> str:
    """Effect, p, N and the null distribution of `result` as one HTML fragment."""
    rows = {
        "effect": result.effect_text(),
        "p": _evidence(result),
        "N": result.pairs_text(),
    }
    if result.reading:
        rows["reading"] = result.reading
    return together(facts(rows), _picture(result))


def _evidence(result: PermutationTestResult) -> str:
    """p, how many tails, and how it was computed; the interval too where p was sampled."""
    if result.method == "bracket":
        return f"{result.bracket_text()} ({result.sides_text()}; exact bounds)"
    if result.n_samples is None:
        return f"{result.pvalue_text()} ({result.sides_text()}; exact, {result.method})"
    low, high = result.pvalue_interval()
    return (
        f"\N{ALMOST EQUAL TO} {result.pvalue_text()}, 95% interval {low:.3g} to {high:.3g} "
        f"({result.sides_text()}; {result.n_samples:,} random labellings)"
    )


class _Sketch(NamedTuple):
    """Shares of the mass in bars of equal width, and where marks stand, all from 0 to 1."""

    body: NDArray[np.float64]
    rejected: NDArray[np.float64]
    left: float
    observed: float
    mirrored: float | None


def _picture(result: PermutationTestResult) -> str:
    """The null distribution in bars, their extreme part dark, the observed sum a dashed line."""
    if _is_structured(result):
        return _picture_of_values(result)
    if result.n_cells > LONGEST:
        return TOO_LONG
    try:
        sketch = _sketch(result)
    except MemoryError:
        return "<p>The null distribution is too long to draw.</p>"
    return _drawn(sketch, f"observed {result.observed_sum}, p = {result.pvalue_text()}")


def _drawn(sketch: _Sketch, text: str) -> str:
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


def _rectangles(sketch: _Sketch) -> str:
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


def _sketch(result: PermutationTestResult) -> _Sketch:
    """All mass that can be seen and the marks; symmetric if both tails count."""
    null = result.null_distribution
    cell, top = result.observed_cell, null.pmf.size - 1
    seen = np.flatnonzero(null.pmf > null.pmf.max() * 1e-4)
    first, last = min(int(seen[0]), cell), max(int(seen[-1]), cell)
    mirrored = top - cell if result.alternative == "two-sided" and 2 * cell != top else None
    if result.alternative == "two-sided":
        first, last = min(first, top - last), max(last, top - first)
    per_bar = -(-(last - first + 1) // BARS)
    starts = np.arange(first, last + 1, per_bar)
    cells, extreme = null.pmf[: last + 1], result.extreme[: last + 1]
    left = max(0.0, (1 - starts.size / FEWEST) / 2)

    def place(position: int) -> float:
        return left + (position - first + 0.5) / (per_bar * starts.size) * (1 - 2 * left)

    return _Sketch(
        np.add.reduceat(np.where(extreme, 0.0, cells), starts),
        np.add.reduceat(np.where(extreme, cells, 0.0), starts),
        left,
        place(cell),
        None if mirrored is None else place(mirrored),
    )


# ---- several sums -------------------------------------------------------------------------------


def _is_structured(result: PermutationTestResult) -> TypeGuard[StructuredTestResult]:
    return hasattr(result, "parts")


def _picture_of_values(result: StructuredTestResult) -> str:
    """The law of the statistic in bars, where that takes a moment only."""
    slow = result.scores is None  # a user's function
    if result.n_points > (MOST_CALLS if slow else MOST_POINTS):
        return TOO_LONG
    try:
        sketch = _sketch_of_values(result.value_distribution, result)
    except (ArithmeticError, MemoryError, TypeError, ValueError):
        # h may not be made for floats, or for sums that are less likely than p is accurate.
        return "<p>The null distribution cannot be drawn here.</p>"
    return _drawn(sketch, f"observed {float(result.statistic):.4g}, p = {result.pvalue_text()}")


def _sketch_of_values(law: ValueDistribution, result: StructuredTestResult) -> _Sketch:
    """All mass that can be seen and the marks; symmetric if both tails count."""
    mark, two = float(result.statistic), result.alternative == "two-sided"
    mean = float(law.pmf @ law.values)
    far = 4.5 * float(np.sqrt(law.pmf @ (law.values - mean) ** 2))
    low = min(mark, max(float(law.values.min()), mean - far))
    high = max(mark, min(float(law.values.max()), mean + far))
    if two:
        low, high = min(low, -high), max(high, -low)
    if high <= low:
        ends = (law.extreme, ~law.extreme)
        rejected, body = (np.array([float(law.pmf[end].sum())]) for end in ends)
        return _Sketch(body, rejected, (1 - 1 / FEWEST) / 2, 0.5, None)
    width = _bar_width(law.values, low, high, result.rank)
    size = round((high - low) / width) + 1
    start = (low + high - size * width) / 2
    bars = np.floor((law.values - start) / width + 1e-6).astype(np.int64)
    inside = (bars >= 0) & (bars < size)
    rejected, body = (
        np.asarray(np.bincount(bars[kind], law.pmf[kind], size), dtype=np.float64)
        for kind in (inside & law.extreme, inside & ~law.extreme)
    )
    left = max(0.0, (1 - size / FEWEST) / 2)

    def place(value: float) -> float:
        return left + (value - start) / (size * width) * (1 - 2 * left)

    return _Sketch(body, rejected, left, place(mark), place(-mark) if two and mark else None)


def _bar_width(values: NDArray[np.float64], low: float, high: float, rank: int) -> float:
    """Of BARS bars at most; a multiple of the distance of values that all lie on one line."""
    width = (high - low) / (BARS - 2)
    if rank != 1:
        return width
    gaps = np.diff(np.unique(values[(values >= low) & (values <= high)]))
    gaps = gaps[gaps > 1e-9 * (high - low)]
    step = float(np.median(gaps)) if gaps.size else width
    return step * ceil(width / step) if step < high - low else high - low
