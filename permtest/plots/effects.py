"""Sizes of effects with their intervals, and where they are called small and large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import copysign, isfinite
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from permtest.plots import roles
from permtest.plots.fitting import text_width
from permtest.plots.parts import draw_interval, literal, name_rows
from permtest.plots.sheet import NICE, rows_of, style
from permtest.plots.words import minus

if TYPE_CHECKING:
    from permtest.study.effects import EffectSize

SHARE = 0.8  # of the width of new axes that is left to them at least, once their rows are named


def plot_effects(
    effects: EffectSize | Sequence[EffectSize],
    *,
    ax: Axes | None = None,
    confidence_level: float = 0.95,
) -> Axes:
    """Draw sizes of effects with their intervals, and where Cohen calls them small and large.

    Parameters
    ----------
    effects : EffectSize or sequence of EffectSize
        Of `cohen_d` and its relatives. The first is drawn at the top.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project, as high as the effects need.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    matplotlib.axes.Axes
        Gids: "effect" for the intervals, "none" for the line at 0, "threshold" for the lines where
        an effect is called small, medium and large, "unit" for effects that have a unit.

    Raises
    ------
    ValueError
        If there are no effects, or `confidence_level` is out of range.

    Notes
    -----
    Standardised differences are called small from 0.2 on, medium from 0.5 and large from 0.8,
    correlations from 0.1, 0.3 and 0.5; the lines stand in the rows that they are for, and are
    called S, M and L where there is little room. Effects that have a unit have no place on the
    axis, so that their numbers are written in their rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_effects
    >>> from permtest.study import cohen_d
    >>> ax = plot_effects(cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ["Cohen's d"]
    """
    rows = list(effects) if isinstance(effects, Sequence) else [effects]
    if not rows:
        raise ValueError("effects is empty; pass at least one size of an effect")
    if ax is None:
        with style():
            return plot_effects(rows, ax=rows_of(len(rows)), confidence_level=confidence_level)
    placed = {row: e for row, e in enumerate(rows) if e.thresholds}
    intervals = {row: rows[row].confidence_interval(confidence_level) for row in range(len(rows))}
    _set_effect_limits(ax, placed, intervals)
    names = {effect.names for effect in rows}
    alone = len(names) == 1
    for_all = "" if alone else " ({} over {})"
    name_rows(ax, [e.title + for_all.format(*e.names) for e in rows], pad=2)
    literal(ax.xaxis.label)
    ax.axvline(0, zorder=1, gid="none", **roles.EQUAL.line())
    for row, effect in enumerate(rows):
        if row in placed:
            look = roles.HOLDS.dot(ax, gid="effect")
            draw_interval(ax, row, intervals[row], effect.value, **look)
        else:
            _write_effect(ax, row, effect, intervals[row])
    _draw_thresholds(ax, rows)
    sure = f"{100 * confidence_level:.4g}% intervals"
    whose = " of {} over {}".format(*rows[0].names) if alone else ""
    ax.set_xlabel(f"size of the effect{whose}, with {sure}")
    return ax


def _set_effect_limits(
    ax: Axes, placed: Mapping[int, EffectSize], intervals: Mapping[int, tuple[float, float]]
) -> None:
    """All intervals, 0, and where effects are large, on the side of those that there are."""
    ends = [0.0, *(copysign(e.thresholds[-1], e.value) for e in placed.values())]
    ends += [end for row in placed for end in intervals[row] if isfinite(end)]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=NICE))


def _write_effect(ax: Axes, row: int, effect: EffectSize, interval: tuple[float, float]) -> None:
    low, high = interval
    words = f"{effect.value:.3g} ({low:.3g} to {high:.3g})\n{effect.interpretation}"
    where: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.get_yaxis_transform()}
    where["fontsize"] = 0.75 * mpl.rcParams["font.size"]
    box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5}
    ax.text(0.5, row, minus(words), bbox=box, gid="unit", **where)


def _draw_thresholds(ax: Axes, rows: Sequence[EffectSize]) -> None:
    """Where a word begins, in the rows that it is for; it stands above the first of them."""
    row, (left, right) = 0, ax.get_xlim()
    look: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.6, "zorder": 1}
    size = 0.75 * mpl.rcParams["font.size"]
    text: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": size, "gid": "word"}
    for thresholds, block in groupby(rows, key=lambda effect: effect.thresholds):
        first, row = row, row + len(list(block))
        both = [(side * value, word) for side in (-1, 1) for value, word in _words(thresholds)]
        seen = sorted((place, word) for place, word in both if left < place < right)
        for place, _ in seen:
            ax.plot([place] * 2, [first - 0.3, row - 0.6], gid="threshold", **look)
        for place, word in zip(*_fitting(ax, seen, size), strict=True):
            ax.text(place, first - 0.3, word, **text)


def _words(thresholds: Sequence[float]) -> list[tuple[float, str]]:
    return list(zip(thresholds, ("small", "medium", "large"), strict=False))


def _fitting(
    ax: Axes, seen: Sequence[tuple[float, str]], size: float
) -> tuple[list[float], list[str]]:
    """Where to write which words: whole ones, or their first letters, or none."""
    places = [place for place, _ in seen]
    left, right = ax.get_xlim()
    room = SHARE * ax.bbox.width * np.diff(places) / (right - left)
    for words in ([word for _, word in seen], [word[0].upper() for _, word in seen]):
        widths = np.array([text_width(ax, f" {word} ", size) for word in words])
        if np.all((widths[1:] + widths[:-1]) / 2 <= room):
            return places, words
    return [], []
