"""What is written on a null distribution, as far as it fits: title, legend, names of marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from permtest.plots.fitting import (
    MOST,
    bottom_of,
    fit,
    fits,
    free_height,
    has_layout,
    in_points,
    narrower,
    room_above,
    size_of,
    text_width,
)
from permtest.plots.view import HEADROOM, View, marks
from permtest.plots.words import LARGE, minus, number, p_text
from permtest.result import PermutationTestResult, StructuredTestResult


def name_axes(ax: Axes, result: PermutationTestResult) -> None:
    """The longest names that fit."""
    sampled = result.n_samples is not None
    names = ["share of the samples", "share"] if sampled else ["probability"]
    fit(ax.yaxis.label, names, "height", ax.bbox.height)
    ax.xaxis.label.set_parse_math(False)
    for text in _sum_labels(result):
        fit(ax.xaxis.label, narrower(text), "width", ax.bbox.width)
        if has_layout(ax) or bottom_of(ax) >= -1:
            return


def add_title_and_legend(ax: Axes, result: PermutationTestResult) -> float:
    """Title, and the key to colours and hatches; how many points of the axes it takes.

    The legend stands between the axes and the title if there is room, else in the axes, else
    nowhere.
    """
    p = f"p {p_text(result)}"
    title = ax.set_title(p)
    fit(title, [f"{p} ({_tails(result)})", p], "width", ax.bbox.width)
    short = [_body_label(result), "at least as extreme"]
    full = [short[0], f"{short[1]}: {p}"]
    legend = _legend(ax, full, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    height = in_points(ax, legend.get_window_extent().height)
    needed = height + 10 + 1.3 * size_of(title)
    if fits(ax, legend) and room_above(ax) >= needed:
        ax.set_title(title.get_text(), y=1.0, pad=height + 10)
        return 0.0
    inside = {"loc": "upper left", "frameon": True, "framealpha": 1.0, "edgecolor": "none"}
    for labels, columns in ((full, 2), (short, 1)):
        legend = _legend(ax, labels, ncols=columns, **inside)
        legend.set_in_layout(False)
        if fits(ax, legend):
            return in_points(ax, ax.bbox.y1 - legend.get_window_extent().y0)
    legend.remove()
    return 0.0


def label_marks(ax: Axes, view: View, result: PermutationTestResult, below: float) -> None:
    """Name the lines where there is room, `below` points under the upper edge."""
    values = [float(value) for value in marks(result)]
    labels = [
        _mark_label(ax, value, kind, "+" * (value > 0) + written(value, view), below)
        for kind, value in zip(("observed", "mirrored"), values, strict=False)
    ]
    widths = [_share_of_width(ax, label) for label in labels]
    for label, side in zip(labels, _sides([*map(view.position, values)], widths), strict=True):
        if side == 0:
            label.remove()
        label.set_horizontalalignment("left" if side > 0 else "right")
        label.xyann = (6 * side, -below)


def headroom_for(ax: Axes, below: float) -> tuple[float, bool]:
    """The share of the height kept for legend and labels of the marks; whether these fit."""
    with_labels = (below + 1.8 * size_of(Text())) / free_height(ax)
    if with_labels <= MOST:
        return max(HEADROOM, with_labels), True
    return max(HEADROOM, min(MOST, below / free_height(ax))), False


def written(value: float, view: View) -> str:
    """A number as it is written in this view, with decimals where values are not whole."""
    if view.whole or not view.right > view.left:
        return number(value, view.reach)
    decimals = 2 - floor(log10(view.right - view.left))
    small = decimals <= 15 and view.reach < LARGE
    text = f"{round(value, decimals) + 0.0:,.{max(0, decimals)}f}" if small else f"{value:.4g}"
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return minus(text)


def _legend(ax: Axes, labels: list[str], **options: Any) -> Legend:
    handles = [child for child in ax.patches if child.get_gid() in ("body", "rejected")]
    return ax.legend(handles, labels, **{"ncols": 2, "columnspacing": 1.6} | options)


def _mark_label(ax: Axes, value: float, kind: str, text: str, below: float) -> Annotation:
    label = ax.annotate(
        f"{kind} {text}",
        (value, 0.98),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, -below),
        textcoords="offset points",
        va="top",
        gid=f"{kind} label",
        annotation_clip=True,
    )
    label.set_in_layout(False)
    return label


def _share_of_width(ax: Axes, label: Annotation) -> float:
    """How much of the width of the axes a label takes, with a gap on both sides."""
    points = in_points(ax, text_width(ax, label.get_text(), label.get_fontsize())) + 12
    return points / in_points(ax, ax.bbox.width)


def _sides(places: Sequence[float], widths: Sequence[float]) -> list[int]:
    """For each mark, whether its label stands to the left (-1), to the right (1) or nowhere (0).

    Two labels turn towards each other if there is room between the marks, and else away from each
    other. Where only one fits, it is that of the observed value, which comes first.
    """
    if len(places) == 2:
        side = 1 if places[0] < places[1] else -1
        choices = [[side, -side], [-side, side]]
    else:
        side = 1 if places[0] >= 0.5 else -1
        choices = [[side], [-side]]
    for sides in choices:
        if _apart(places, widths, sides):
            return sides
    return [*_sides(places[:1], widths[:1]), 0] if len(places) == 2 else [0]


def _apart(places: Sequence[float], widths: Sequence[float], sides: Sequence[int]) -> bool:
    """Whether labels on these sides stay inside of the axes and clear of each other."""
    spans = sorted(
        sorted((place, place + side * width))
        for place, width, side in zip(places, widths, sides, strict=True)
    )
    clear = all(first[1] <= second[0] for first, second in pairwise(spans))
    return clear and spans[0][0] >= 0 and spans[-1][1] <= 1


def _is_certain(result: PermutationTestResult) -> bool:
    """Whether every labelling is extreme, so that p is 1 and not only close to it."""
    if result.n_samples is not None and isinstance(result, StructuredTestResult):
        return result.n_extreme == result.n_samples
    return result.pvalue == 1 and not result.null_distribution.pmf[~result.extreme].any()


def _body_label(result: PermutationTestResult) -> str:
    if result.n_samples is None:
        return "null distribution"
    return f"{result.n_samples:,} random labellings"


def _sum_labels(result: PermutationTestResult) -> list[str]:
    """Names of the horizontal axis, the one that says most first."""
    pairs = f"{result.n:,} pair{'s' * (result.n != 1)}"
    if isinstance(result, StructuredTestResult):
        return _value_labels(result, pairs)
    if result.totals is None:
        return [f"sum of g over {pairs} ({result.unit})", f"sum of g ({result.unit})"]
    lead = "{} minus {}".format(*result.names)
    what = f"{result.unit}, over {pairs}"
    return [f"{lead}\n{what}", f"{lead}, {what}", f"{lead}, {result.unit}", lead]


def _value_labels(result: StructuredTestResult, pairs: str) -> list[str]:
    if result.scores is None:
        return [f"{result.metric} of the sums over {pairs}", f"{result.metric} of the sums"]
    title, lead = result.unit, "{} of {} minus {}".format(result.unit, *result.names)
    what = f"over {result.n:,} clusters" if result.n_entries is not None else f"over {pairs}"
    return [f"{lead}\n{what}", f"{lead}, {what}", lead, f"difference in {title}"]


def _tails(result: PermutationTestResult) -> str:
    """Which ends of the distribution count as extreme; "shaded" where h says it otherwise."""
    if _is_certain(result):
        return "every labelling"
    if result.alternative == "two-sided":
        return "both tails"
    if result.alternative == "less":
        return "left tail"
    if isinstance(result, StructuredTestResult):
        return "right tail"  # the axis has the values of h
    null = result.null_distribution
    beyond = null.support >= result.observed_sum
    possible = null.pmf > 0
    return (
        "right tail" if np.array_equal(result.extreme & possible, beyond & possible) else "shaded"
    )
