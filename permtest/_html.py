"""The HTML form of a result: a small table and an inline picture, no script, nothing to load."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from permtest.result import PermutationTestResult

WIDTH, HEIGHT, BARS = 320, 90, 80


def result_html(result: PermutationTestResult) -> str:
    """Effect, p, N and the null distribution of `result` as one HTML fragment."""
    a, b = map(escape, result.names)
    rows = {
        "effect": f"{result.statistic} ({escape(result.metric)}, {a} against {b})",
        "p": f"{result.pvalue_text()} ({result.alternative}, {_how(result)})",
        "N": f"{result.n} pairs, {result.n_informative} differ",
    }
    cells = "".join(
        f"<tr><th style='text-align:left'>{key}</th><td style='text-align:left'>{text}</td></tr>"
        for key, text in rows.items()
    )
    return f"<div><table>{cells}</table>{_picture(result)}</div>"


def _how(result: PermutationTestResult) -> str:
    return f"{result.n_samples} samples" if result.n_samples else f"exact, {result.method}"


def _picture(result: PermutationTestResult) -> str:
    """The null distribution in bars, extreme ones filled, the observed sum as a dashed line."""
    try:
        heights, extreme, marker = _bars(result)
    except MemoryError:
        return "<p>The null distribution is too long to draw.</p>"
    step = WIDTH / heights.size
    bars = "".join(
        f"<rect x='{i * step:.1f}' y='{HEIGHT - y:.1f}' width='{max(step - 0.5, 0.5):.1f}' "
        f"height='{y:.1f}' fill='{'#b34700' if dark else '#b8c4d0'}'/>"
        for i, (y, dark) in enumerate(zip(heights, extreme, strict=True))
        if y > 0.05
    )
    label = escape(f"Null distribution; observed {result.observed_sum}, p = {result.pvalue_text()}")
    return (
        f"<svg role='img' aria-label='{label}' width='{WIDTH}' height='{HEIGHT + 4}' "
        f"viewBox='0 0 {WIDTH} {HEIGHT + 4}'><title>{label}</title>{bars}"
        f"<line x1='0' x2='{WIDTH}' y1='{HEIGHT}' y2='{HEIGHT}' stroke='#555'/>"
        f"<line x1='{marker:.1f}' x2='{marker:.1f}' y1='2' y2='{HEIGHT}' stroke='#000' "
        "stroke-width='1.5' stroke-dasharray='4 2'/></svg>"
    )


def _bars(
    result: PermutationTestResult,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], float]:
    """Bar heights in pixels, which bars are extreme, and the position of the observed sum."""
    null = result.null_distribution
    cell = (result.observed_sum - null.offset) // null.unit
    seen = np.flatnonzero(null.pmf > null.pmf.max() * 1e-4)
    first, last = min(int(seen[0]), cell), max(int(seen[-1]), cell)
    per_bar = -(-(last - first + 1) // BARS)
    starts = np.arange(first, last + 1, per_bar)
    heights = np.add.reduceat(null.pmf[: last + 1], starts)
    extreme = np.logical_or.reduceat(result.extreme[: last + 1], starts)
    marker = (cell - first + 0.5) / (per_bar * starts.size) * WIDTH
    return heights / heights.max() * (HEIGHT - 8), extreme, marker
