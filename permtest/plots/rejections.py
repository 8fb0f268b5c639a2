"""How often tests reject in simulated data sets, beside the level that they promise."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from permtest.plots import roles
from permtest.plots.parts import draw_interval, name_rows
from permtest.plots.sheet import NICE, legend_above, rows_of, style
from permtest.plots.words import spoken

if TYPE_CHECKING:
    from permtest.study import RejectionRates

SHAPES = [role.mark for role in roles.CURVES]  # of marks, one for each number of pairs
TWO_SDS = 1.96  # 95% of a normal law lie within so many standard deviations
SPREAD = 0.22  # rows between the marks of neighbouring sizes, in a row of height 1


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
    >>> from permtest.study import rejection_rates
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
            return plot_rejections(groups, ax=rows_of(len(tests), len(groups)))
    _draw_level(ax, groups)
    for place, group in enumerate(groups):
        shift = SPREAD * (place - (len(groups) - 1) / 2)
        for test in group.rates:
            _draw_share(ax, tests.index(test) + shift, group, test, SHAPES[place])
    name_rows(ax, [spoken(test) for test in tests])
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


def _draw_level(ax: Axes, groups: Sequence[RejectionRates]) -> None:
    alpha = groups[0].alpha
    reach = TWO_SDS * sqrt(alpha * (1 - alpha) / min(group.experiments for group in groups))
    ends = (alpha - reach, alpha + reach)
    ax.axvspan(*ends, color=roles.BAND, linewidth=0, zorder=0, gid="chance")
    ax.axvline(alpha, zorder=1, gid="level", **roles.LEVEL.line())


def _draw_share(ax: Axes, row: float, group: RejectionRates, test: str, shape: str) -> None:
    broken = test in group.too_often
    look = _role(broken).dot(ax, marker=shape, gid="too often" if broken else "holds")
    draw_interval(ax, row, group.intervals[test], group.rates[test], **look)


def _role(broken: bool) -> roles.Look:
    return roles.BROKEN if broken else roles.HOLDS


def _key_to_rejections(ax: Axes, groups: Sequence[RejectionRates]) -> None:
    handles: list[Any] = [
        Line2D([], [], label=f"level {groups[0].alpha:g}", **roles.LEVEL.line()),
        Patch(color=roles.BAND, label="95% by chance"),
    ]
    if any(group.too_often for group in groups):
        dot = roles.BROKEN.dot(ax, marker=SHAPES[0], linestyle="none")
        handles.append(Line2D([], [], label="too often", **dot))
    if len(groups) > 1:
        for shape, group in zip(SHAPES, groups, strict=False):
            dot = {"color": roles.ink(), "marker": shape, "markersize": 9, "linestyle": "none"}
            handles.append(Line2D([], [], label=f"n = {group.n:,}", **dot))
    legend_above(ax, handles, min(len(handles), 4), columnspacing=1.0)
