"""What surrounds a test: how often tests reject, their power, sizes of effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import copysign, isfinite, sqrt
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from permtest.alternatives.names import TITLES
from permtest.captions import text_width
from permtest.plots.sheet import NICE, legend_above, new_axes, style

if TYPE_CHECKING:
    from permtest.study.effect import EffectSize
    from permtest.study.power import PowerCurve
    from permtest.study.simulation import RejectionRates

SHAPES = "o^Dvs"  # of markers, one for each of several curves or sizes
LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), "-.", (0, (8, 2, 1, 2)))  # the same
TWO_SDS = 1.96  # 95% of a normal law lie within so many standard deviations
SHARE = 0.8  # of the width of new axes that is left to them at least, once their rows are named
SPREAD = 0.22  # rows between the marks of neighbouring sizes, in a row of height 1


# ---- how often tests reject ----------------------------------------------------------------------


def plot_rejections(
    rates: RejectionRates | Sequence[RejectionRates], *, ax: Axes | None = None
) -> Axes:
    """Draw how often tests rejected in simulated data sets, with the level that they promise.

    Parameters
    ----------
    rates : RejectionRates or sequence of up to five
        Of `rejection_rates`; several are shown as groups, one for each number of pairs. They must
        have the same level.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project, as high as the tests need.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each test, the first at the top, at 0. Gids: "level" for the line, "chance" for
        the band in which 95% of the shares of a test lie that rejects just as often as the level
        says, "holds" and "too often" for the shares with their 95% intervals.

    Raises
    ------
    ValueError
        If there is nothing to draw, there are too many groups, or levels differ.

    Notes
    -----
    Hollow marks are tests that reject more often than the level, by more than chance explains
    (``rates.too_often``); where the null hypothesis is true in the simulation, those are broken.
    For groups of different numbers of data sets, the band is that of the smallest.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_rejections
    >>> from permtest.study.simulation import rejection_rates
    >>> def equals(rng, experiments, n):
    ...     return rng.poisson(4, (experiments, n)), rng.poisson(4, (experiments, n))
    >>> rates = rejection_rates(["exact", "sign"], equals, n=20, rng=0)
    >>> plot_rejections(rates, ax=Figure().subplots()).get_xlabel()
    'share of 2,000 data sets with p ≤ 0.05'
    """
    groups = _as_groups(rates)
    tests = list(dict.fromkeys(test for group in groups for test in group.rates))
    if ax is None:
        with style():
            return plot_rejections(groups, ax=_rows_of(len(tests), len(groups)))
    _draw_level(ax, groups)
    for place, group in enumerate(groups):
        shift = SPREAD * (place - (len(groups) - 1) / 2)
        for test in group.rates:
            _draw_share(ax, tests.index(test) + shift, group, test, SHAPES[place])
    ax.set_ylim(len(tests) - 0.4, -0.6)
    ax.set_yticks(range(len(tests)), [_spoken(test) for test in tests])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    highest = max(high for group in groups for _, high in group.intervals.values())
    ax.set_xlim(0, min(max(1.06 * highest, 2 * groups[0].alpha), 1.02))
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=NICE))
    sizes = " and ".join(sorted({f"{group.experiments:,}" for group in groups}))
    ax.set_xlabel(
        f"share of {sizes} data sets with p \N{LESS-THAN OR EQUAL TO} {groups[0].alpha:g}"
    )
    _key_to_rejections(ax, groups)
    return ax


def _as_groups(rates: RejectionRates | Sequence[RejectionRates]) -> list[RejectionRates]:
    groups = list(rates) if isinstance(rates, Sequence) else [rates]
    if not any(group.rates for group in groups):
        raise ValueError("rates is empty; pass what rejection_rates returned")
    if len(groups) > len(SHAPES):
        raise ValueError(f"rates has {len(groups)} groups; at most {len(SHAPES)} can be told apart")
    levels = {group.alpha for group in groups}
    if len(levels) > 1:
        raise ValueError(f"rates have different levels: {', '.join(map(str, sorted(levels)))}")
    return groups


def _rows_of(rows: int, groups: int) -> Axes:
    from matplotlib import pyplot as plt

    width = mpl.rcParams["figure.figsize"][0]
    height = rows * (0.28 + 0.17 * groups) + 2.0
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _draw_level(ax: Axes, groups: Sequence[RejectionRates]) -> None:
    alpha = groups[0].alpha
    reach = TWO_SDS * sqrt(alpha * (1 - alpha) / min(group.experiments for group in groups))
    ax.axvspan(alpha - reach, alpha + reach, color="0.88", linewidth=0, zorder=0, gid="chance")
    black = mpl.rcParams["text.color"]
    ax.axvline(alpha, color=black, linestyle="--", linewidth=1.6, zorder=1, gid="level")


def _draw_share(ax: Axes, row: float, group: RejectionRates, test: str, shape: str) -> None:
    low, high = group.intervals[test]
    broken = test in group.too_often
    look: dict[str, Any] = {"marker": shape, "markersize": 9, "markeredgewidth": 1.8}
    look |= _colours(ax, broken) | {"gid": "too often" if broken else "holds", "linewidth": 2}
    xs = [low, group.rates[test], high]
    ax.plot(xs, [row] * 3, markevery=[1], solid_capstyle="butt", **look)


def _colours(ax: Axes, broken: bool) -> dict[str, Any]:
    """Looked up now, while the settings are in force."""
    if broken:
        return {"color": to_rgba("C1"), "markerfacecolor": ax.get_facecolor()}
    return {"color": to_rgba("C0")}


def _key_to_rejections(ax: Axes, groups: Sequence[RejectionRates]) -> None:
    black = mpl.rcParams["text.color"]
    handles: list[Any] = [
        Line2D([], [], color=black, linestyle="--", label=f"level {groups[0].alpha:g}"),
        Patch(color="0.88", label="95% by chance"),
    ]
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 9, "markeredgewidth": 1.8}
    if any(group.too_often for group in groups):
        dot["marker"] = SHAPES[0]
        handles.append(Line2D([], [], label="too often", **dot | _colours(ax, True)))
    if len(groups) > 1:
        for shape, group in zip(SHAPES, groups, strict=False):
            label = f"n = {group.n:,}"
            handles.append(Line2D([], [], color=black, label=label, **dot | {"marker": shape}))
    legend_above(ax, handles, min(len(handles), 4), columnspacing=1.0)


# ---- power ---------------------------------------------------------------------------------------


def plot_power(
    curves: PowerCurve | Sequence[PowerCurve], *, ax: Axes | None = None, target: float = 0.8
) -> Axes:
    """Draw the power of one or more tests against the number of pairs.

    Parameters
    ----------
    curves : PowerCurve or sequence of up to five
        Of `power_curve`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller; a logarithmic axis of sizes stays one.
        Default: a new figure in the style of the project.
    target : float, default 0.8
        The power that is wanted, in (0, 1).

    Returns
    -------
    matplotlib.axes.Axes
        Gids: "power" for the simulated shares, "simulation" for the bands of their 95% intervals,
        "target" for the line at the target, "needed" for the sizes that reach it.

    Raises
    ------
    ValueError
        If there is nothing to draw, there are too many curves, or `target` is out of range.

    Notes
    -----
    Curves differ in marker and line style. The size that is needed is that of
    ``curve.needed(target)``, which smooths the curve; the legend has it. Curves of the same test
    are named by their true difference as well.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_power
    >>> from permtest.study.power import power_curve_normal
    >>> curve = power_curve_normal(0.1, 0.5, sizes=[100, 200, 300], experiments=200, rng=0)
    >>> plot_power(curve, ax=Figure().subplots()).get_ylabel()
    'power'
    """
    several = list(curves) if isinstance(curves, Sequence) else [curves]
    if not 0 < len(several) <= len(SHAPES):
        raise ValueError(f"curves has {len(several)} entries; pass 1 to {len(SHAPES)}")
    if not 0 < target < 1:
        raise ValueError(f"target must lie in (0, 1), got {target}")
    if ax is None:
        with style():
            return plot_power(several, ax=new_axes(), target=target)
    black = mpl.rcParams["text.color"]
    ax.axhline(target, color=black, linestyle="--", linewidth=1.4, zorder=1, gid="target")
    names = _names_of(several)
    handles = [_draw_power(ax, curve, names[i], i, target) for i, curve in enumerate(several)]
    ax.set_ylim(0, 1.02)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    levels = " and ".join(dict.fromkeys(f"{c.alpha:g}, {c.alternative}" for c in several))
    ax.set_xlabel(f"pairs (level {levels})")
    ax.set_ylabel("power")
    legend_above(ax, handles, min(len(handles), 2), handlelength=2.4)
    return ax


def _spoken(test: str) -> str:
    """The name of a test for axes, where titles would leave no room: paired t, wilcoxon, ..."""
    return test.replace("_", " ") if test in TITLES else test


def _names_of(curves: Sequence[PowerCurve]) -> list[str]:
    """Names of the tests; with the true difference where that is not enough."""
    tests = [_spoken(curve.test) for curve in curves]
    if len(set(tests)) == len(tests):
        return tests
    return [
        test if curve.delta is None else f"{test}, difference {curve.delta:.3g}"
        for test, curve in zip(tests, curves, strict=True)
    ]


def _draw_power(ax: Axes, curve: PowerCurve, name: str, which: int, target: float) -> Line2D:
    """A curve in its band, and a line down from where it reaches the target."""
    colour, enough = to_rgba(f"C{which % 4}"), curve.needed(target)
    low, high = zip(*curve.intervals, strict=True)
    band: dict[str, Any] = {"color": colour, "alpha": 0.2, "linewidth": 0, "gid": "simulation"}
    ax.fill_between(curve.sizes, low, high, **band)
    look: dict[str, Any] = {"color": colour, "marker": SHAPES[which], "linestyle": LINES[which]}
    label = f"{name}: {_reached(curve, enough, target)}"
    (line,) = ax.plot(curve.sizes, curve.power, markersize=7, gid="power", label=label, **look)
    if enough is not None:
        down: dict[str, Any] = {"color": colour, "linestyle": LINES[which], "linewidth": 1.2}
        ax.plot([enough] * 2, [0, target], gid="needed", zorder=1, **down)
        cross: dict[str, Any] = {"color": colour, "marker": "X", "markersize": 11}
        ax.plot([enough], [target], gid="needed", zorder=4, markeredgecolor="w", **cross)
    return line


def _reached(curve: PowerCurve, enough: int | None, target: float) -> str:
    if enough is None:
        return f"{target:.0%} not reached"
    most = "at most " if enough == curve.sizes[0] else ""
    return f"{most}{enough:,} pairs for {target:.0%}"


# ---- sizes of effects ----------------------------------------------------------------------------


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
        an effect is called small, medium and large, "unit" for effects in units of the scores.

    Raises
    ------
    ValueError
        If there are no effects, or `confidence_level` is out of range.

    Notes
    -----
    Standardised differences are called small from 0.2 on, medium from 0.5 and large from 0.8,
    correlations from 0.1, 0.3 and 0.5; the lines stand in the rows that they are for, and are
    called S, M and L where there is little room. Effects in units of the scores have no place on
    the axis, so that their numbers are written in their rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_effects
    >>> from permtest.study.effects import cohen_d
    >>> ax = plot_effects(cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ["Cohen's d"]
    """
    rows = list(effects) if isinstance(effects, Sequence) else [effects]
    if not rows:
        raise ValueError("effects is empty; pass at least one size of an effect")
    if ax is None:
        with style():
            return plot_effects(rows, ax=_rows_of(len(rows), 1), confidence_level=confidence_level)
    placed = {row: e for row, e in enumerate(rows) if e.thresholds}
    intervals = {row: rows[row].confidence_interval(confidence_level) for row in range(len(rows))}
    _set_effect_limits(ax, placed, intervals)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    names = {effect.names for effect in rows}
    alone = len(names) == 1
    for_all = "" if alone else " ({} over {})"
    ax.set_yticks(range(len(rows)), [e.title + for_all.format(*e.names) for e in rows])
    for label in [*ax.get_yticklabels(), ax.xaxis.label]:
        label.set_parse_math(False)
    black = mpl.rcParams["text.color"]
    ax.axvline(0, color=black, linewidth=1.2, zorder=1, gid="none")
    for row, effect in enumerate(rows):
        if row in placed:
            _draw_effect(ax, row, effect, intervals[row])
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


def _draw_effect(ax: Axes, row: int, effect: EffectSize, interval: tuple[float, float]) -> None:
    low, high = np.clip(interval, *ax.get_xlim())
    look: dict[str, Any] = {"color": to_rgba("C0"), "marker": "o", "markersize": 10}
    thick: dict[str, Any] = {"linewidth": 3, "solid_capstyle": "butt", "gid": "effect"}
    ax.plot([low, effect.value, high], [row] * 3, markevery=[1], **look, **thick)


def _write_effect(ax: Axes, row: int, effect: EffectSize, interval: tuple[float, float]) -> None:
    words = f"{effect.value:.3g} ({interval[0]:.3g} to {interval[1]:.3g}) in units of the scores"
    where: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.get_yaxis_transform()}
    box = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5}
    ax.text(0.5, row, words.replace("-", "\N{MINUS SIGN}"), bbox=box, gid="unit", **where)


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
