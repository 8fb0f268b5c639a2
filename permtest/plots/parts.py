"""What pictures of rows are made of: names of rows, intervals in them, words as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text

from permtest.plots import roles


def literal(*texts: Text) -> None:
    """Let dollar signs in names be dollar signs."""
    for text in texts:
        text.set_parse_math(False)


def name_rows(ax: Axes, names: Sequence[str], pad: float = 9.0) -> None:
    """A row for each name, the first at the top, at 0."""
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, pad=pad)
    literal(*ax.get_yticklabels())


def draw_interval(
    ax: Axes, row: float, ends: Sequence[float], estimate: float, **look: Any
) -> None:
    """A line with its estimate; where it goes on outside of limits that are set, an arrow."""
    low, high = ends if ax.get_autoscalex_on() else np.clip(ends, *ax.get_xlim())
    look = roles.INTERVAL | {"color": roles.ink()} | look
    ax.plot([low, estimate, high], [row] * 3, markevery=[1], **look)
    for end, place, marker in zip(ends, (low, high), "<>", strict=True):
        if end != place:
            mark_open(ax, row, place, marker, look["color"])


def mark_open(ax: Axes, row: float, place: float, marker: str, colour: Any) -> None:
    """An arrow (gid "open") at the edge of the axes, beyond which an interval goes on."""
    look: dict[str, Any] = {"color": colour, "markersize": 11, "clip_on": False}
    ax.plot([place], [row], linestyle="none", marker=marker, gid="open", **look)
