"""What fits: lengths of text and the room there is for it, on axes of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Text

MOST = 0.65  # of the height of the axes: more is not taken by legend and labels


def text_width(ax: Axes, text: str, size: Any) -> float:
    """Of a line of text, in pixels."""
    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width)


def in_points(ax: Axes, pixels: float) -> float:
    """A length on the page; there are 72 points to the inch."""
    return pixels * 72 / ax.figure.dpi


def fit(text: Text, wordings: Iterable[str], side: str, room: float) -> None:
    """Write the first wording that is not larger than the room, or else the last one."""
    for wording in wordings:
        text.set_text(wording)
        if getattr(text.get_window_extent(), side) <= room:
            return


def narrower(text: str) -> Iterator[str]:
    """The same words in more and more lines."""
    yield text
    lines = text.replace(" minus ", "\nminus ", 1).splitlines()
    limit = max(map(len, lines))
    while limit > 8:
        yield "\n".join(part for line in lines for part in wrap(line, limit))
        limit = limit * 9 // 10


def fits(ax: Axes, legend: Legend) -> bool:
    """Whether a legend is narrower than the axes, and leaves some of their height."""
    box = legend.get_window_extent()
    return bool(box.width <= ax.bbox.width and in_points(ax, box.height) <= MOST * free_height(ax))


def free_height(ax: Axes) -> float:
    """Of the axes in points, less what a layout will take away for names and title."""
    height = in_points(ax, ax.bbox.height)
    if not has_layout(ax):
        return height
    name = ax.xaxis.label
    return max(0.85 * height - 1.2 * size_of(name) * len(name.get_text().splitlines()), 1.0)


def has_layout(ax: Axes) -> bool:
    """Whether something makes room for what stands outside of the axes."""
    return ax.figure.get_layout_engine() is not None


def bottom_of(ax: Axes) -> float:
    """Where the name of the horizontal axis ends, in points above the edge of the figure."""
    box = ax.xaxis.get_tightbbox()
    return in_points(ax, box.y0 - ax.figure.bbox.y0) if box is not None else 0.0


def room_above(ax: Axes) -> float:
    """Points between axes that have the figure to themselves and its upper edge."""
    if len(ax.figure.axes) > 1:
        return 0.0
    return inf if has_layout(ax) else in_points(ax, ax.figure.bbox.y1 - ax.bbox.y1)


def size_of(text: Text) -> float:
    """Of its letters, in points; that of a new text is the caller's setting."""
    return float(text.get_fontsize())
