"""What is written on a picture, as far as it fits: title, legend, names, labels of marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import floor, inf, log10
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text

from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.statistics import lookup
from permtest.views import HEADROOM, View, hits_weight, marks

MOST = 0.65  # of the height of the axes: more is not taken by legend and labels
LARGE = 10**15  # from here on numbers are written with an exponent
SUMS = {
    "tp": "true positives",
    "tn": "true negatives",
    "fp": "false positives",
    "fn": "false negatives",
    "fp + fn": "false positives and negatives",
    "incorrect": "incorrect answers",
}  # words for the sums of a measure, for axes


def name_axes(ax: Axes, result: PermutationTestResult) -> None:
    """The longest names that fit."""
    sampled = result.n_samples is not None
    names = ["share of the samples", "share"] if sampled else ["probability"]
    _fit(ax.yaxis.label, names, "height", ax.bbox.height)
    ax.xaxis.label.set_parse_math(False)
    for text in _sum_labels(result):
        _fit(ax.xaxis.label, _narrower(text), "width", ax.bbox.width)
        if _has_layout(ax) or _bottom(ax) >= -1:
            return


def add_title_and_legend(ax: Axes, result: PermutationTestResult) -> float:
    """Title, and the key to colours and hatches; how many points of the axes it takes.

    The legend stands between the axes and the title if there is room, else in the axes, else
    nowhere.
    """
    p = f"p {p_text(result)}"
    title = ax.set_title(p)
    _fit(title, [f"{p} ({_tails(result)})", p], "width", ax.bbox.width)
    short = [_body_label(result), "at least as extreme"]
    full = [short[0], f"{short[1]}: {p}"]
    legend = _legend(ax, full, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    height = in_points(ax, legend.get_window_extent().height)
    needed = height + 10 + 1.3 * _size(title)
    if _fits(ax, legend) and _room_above(ax) >= needed:
        ax.set_title(title.get_text(), y=1.0, pad=height + 10)
        return 0.0
    inside = {"loc": "upper left", "frameon": True, "framealpha": 1.0, "edgecolor": "none"}
    for labels, columns in ((full, 2), (short, 1)):
        legend = _legend(ax, labels, ncols=columns, **inside)
        legend.set_in_layout(False)
        if _fits(ax, legend):
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
    with_labels = (below + 1.8 * _size(Text())) / _height(ax)
    if with_labels <= MOST:
        return max(HEADROOM, with_labels), True
    return max(HEADROOM, min(MOST, below / _height(ax))), False


def signed(value: float, reach: float = 0) -> str:
    """A difference with its sign: +91, −91, 0."""
    return "+" * (value > 0) + number(value, reach)


def number(value: float, reach: float = 0) -> str:
    """A number as it is written where numbers up to `reach` are: 2,077, −91, 1e+30."""
    large = value != 0 and max(abs(value), reach) >= LARGE
    return f"{value:{'.4g' if large else ',.0f'}}".replace("-", "\N{MINUS SIGN}")


def written(value: float, view: View) -> str:
    """A number as it is written in this view, with decimals where values are not whole."""
    if view.whole or not view.right > view.left:
        return number(value, view.reach)
    decimals = 2 - floor(log10(view.right - view.left))
    small = decimals <= 15 and view.reach < LARGE
    text = f"{round(value, decimals) + 0.0:,.{max(0, decimals)}f}" if small else f"{value:.4g}"
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return text.replace("-", "\N{MINUS SIGN}")


def name_sums(ax: Axes, result: StructuredTestResult) -> None:
    """Names of both axes of a plane: what the sums of the first system are, as far as it fits."""
    hits, misses = hits_weight(result.parts[0])[1], result.parts[1]
    whose = "" if result.other_sums is None else f" of {result.names[0]}"
    for label, part, side in ((ax.yaxis.label, hits, "height"), (ax.xaxis.label, misses, "width")):
        label.set_parse_math(False)
        words = SUMS.get(part, part)
        _fit(label, [f"{words}{whose}", words, part], side, getattr(ax.bbox, side))


def title_of_plane(ax: Axes, result: StructuredTestResult, regions: str) -> None:
    """p, and what is marked as the event."""
    p = f"p {p_text(result)}"
    _fit(ax.set_title(p), [f"{p} ({regions})", p], "width", ax.bbox.width)


def legend_of_plane(ax: Axes, handles: Sequence[Any]) -> None:
    """The key to a plane: between axes and title if there is room, else in the axes, or nowhere."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    tight: dict[str, Any] = {"columnspacing": 0.9, "handletextpad": 0.5}
    full = [handle.get_label() for handle in handles]
    short = [label.removeprefix("at least ") for label in full]
    for labels, columns in ((full, len(full)), (short, len(full)), (full, 2)):
        legend = ax.legend(handles, labels, ncols=columns, **place, **tight)
        height = in_points(ax, legend.get_window_extent().height)
        needed = height + 10 + 1.3 * _size(ax.title)
        if _fits(ax, legend) and _room_above(ax) >= needed:
            loc = mpl.rcParams["axes.titlelocation"]
            ax.set_title(ax.get_title(loc=loc), y=1.0, pad=height + 8)
            return
    # In this corner there are many hits and many misses, which rarely come together.
    inside: dict[str, Any] = {"loc": "upper right", "frameon": True, "edgecolor": "none"}
    legend = ax.legend(handles, full, **inside, **tight)
    legend.set_in_layout(False)
    if not _fits(ax, legend):
        legend.remove()


def p_text(result: PermutationTestResult) -> str:
    """p with its relation: "= 0.0303", "≈ 0.03"."""
    return f"{'=' if result.n_samples is None else '≈'} {result.pvalue_text()}"


def text_width(ax: Axes, text: str, size: Any) -> float:
    """Of a line of text, in pixels."""
    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width)


def in_points(ax: Axes, pixels: float) -> float:
    """A length on the page; there are 72 points to the inch."""
    return pixels * 72 / ax.figure.dpi


def _legend(ax: Axes, labels: list[str], **options: Any) -> Legend:
    handles = [child for child in ax.patches if child.get_gid() in ("body", "rejected")]
    return ax.legend(handles, labels, **{"ncols": 2, "columnspacing": 1.6} | options)


def _fits(ax: Axes, legend: Legend) -> bool:
    """Whether a legend is narrower than the axes, and leaves some of their height."""
    box = legend.get_window_extent()
    return bool(box.width <= ax.bbox.width and in_points(ax, box.height) <= MOST * _height(ax))


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


def _height(ax: Axes) -> float:
    """Of the axes in points, less what a layout will take away for names and title."""
    height = in_points(ax, ax.bbox.height)
    if not _has_layout(ax):
        return height
    name = ax.xaxis.label
    return max(0.85 * height - 1.2 * _size(name) * len(name.get_text().splitlines()), 1.0)


def _fit(text: Text, wordings: Iterable[str], side: str, room: float) -> None:
    """Write the first wording that is not larger than the room, or else the last one."""
    for wording in wordings:
        text.set_text(wording)
        if getattr(text.get_window_extent(), side) <= room:
            return


def _narrower(text: str) -> Iterator[str]:
    """The same words in more and more lines."""
    yield text
    lines = text.replace(" minus ", "\nminus ", 1).splitlines()
    limit = max(map(len, lines))
    while limit > 8:
        yield "\n".join(part for line in lines for part in wrap(line, limit))
        limit = limit * 9 // 10


def _has_layout(ax: Axes) -> bool:
    """Whether something makes room for what stands outside of the axes."""
    return ax.figure.get_layout_engine() is not None


def _bottom(ax: Axes) -> float:
    """Where the name of the horizontal axis ends, in points above the edge of the figure."""
    box = ax.xaxis.get_tightbbox()
    return in_points(ax, box.y0 - ax.figure.bbox.y0) if box is not None else 0.0


def _room_above(ax: Axes) -> float:
    """Points between axes that have the figure to themselves and its upper edge."""
    if len(ax.figure.axes) > 1:
        return 0.0
    return inf if _has_layout(ax) else in_points(ax, ax.figure.bbox.y1 - ax.bbox.y1)


def _size(text: Text) -> float:
    """Of its letters, in points; that of a new text is the caller's setting."""
    return float(text.get_fontsize())


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
    if result.other_sums is None:
        return [f"{result.metric} of the sums over {pairs}", f"{result.metric} of the sums"]
    title = getattr(lookup(result.metric), "title", result.metric)
    lead = "{} of {} minus {}".format(title, *result.names)
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
