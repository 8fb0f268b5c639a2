"""What two systems' scores look like: histograms, and units of several items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from permtest.alternatives.result import PairedSample
from permtest.plots import roles
from permtest.plots.sheet import NICE, legend_above, new_axes, new_figure, plain, style

if TYPE_CHECKING:
    from permtest.pairs import Pairs
    from permtest.study.describe import Description, Summary, UnitSizes

WIDTH, HEIGHT = 13.0, 4.2  # inches: of three histograms side by side
BARS = (5, 50)  # fewest and most
MOST_POINTS = 1000  # of a Q-Q plot; of more differences, so many are drawn, evenly spread


def plot_unit_sizes(found: UnitSizes, *, ax: Axes | None = None) -> Axes:
    """Draw how much the differences of units vary, for units of several sizes.

    Parameters
    ----------
    found : UnitSizes
        Of `unit_sizes`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    matplotlib.axes.Axes
        Gids: "deviations" for the curve, "stable" for the sizes that are called stable.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_unit_sizes
    >>> from permtest.study import unit_sizes
    >>> found = unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 2, 4])
    >>> plot_unit_sizes(found, ax=Figure().subplots()).get_xlabel()
    'items in a unit'
    """
    if ax is None:
        with style():
            return plot_unit_sizes(found, ax=new_axes())
    dots = "." if found.sizes.size > 1 else "o"
    curve = roles.CURVES[0].line(marker=dots, gid="deviations")
    label = f"units of the {found.metric}"
    ax.plot(found.sizes, found.sds, label=label, **curve)
    stable = np.isin(found.sizes, found.stable)
    mark = roles.BROKEN.dot(ax, color=roles.ink(), linestyle="none", gid="stable")
    change = f"changes by {found.tolerance:.2g} or less (first {stable.sum()})"
    ax.plot(found.sizes[stable], found.sds[stable], label=change, **mark)
    margin = 0.04 * max(float(found.sizes[-1] - found.sizes[0]), 1.0)
    ax.set_xlim(float(found.sizes[0]) - margin, float(found.sizes[-1]) + margin)
    ax.set_ylim(0, 1.1 * float(found.sds.max()) or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(8, steps=NICE, integer=True))
    ax.set_xlabel("items in a unit")
    ax.set_ylabel("sd of unit differences")
    legend_above(ax, ax.lines[-2:] if stable.any() else ax.lines[-2:-1])
    return ax


def plot_histograms(
    description: Description, *, ax: Sequence[Axes] | None = None
) -> tuple[Axes, Axes, Axes]:
    """Draw the scores of both systems and their differences as histograms.

    Parameters
    ----------
    description : Description
        Of `describe`.
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: three in a new figure in the style
        of the project.

    Returns
    -------
    tuple of three matplotlib.axes.Axes
        Scores of the first system, of the second one, differences. The first two have the same
        limits. Gids: "bars", "mean", "median", and "zero" for the line where the systems are equal.

    Raises
    ------
    ValueError
        If `ax` has not three axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_histograms
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], names=("new", "old"))
    >>> [ax.get_title() for ax in plot_histograms(found, ax=Figure().subplots(1, 3))]
    ['new', 'old', 'new minus old']
    """
    if ax is None:
        with style():
            return plot_histograms(description, ax=new_figure((WIDTH, HEIGHT)).subplots(1, 3))
    if len(ax) != 3:
        raise ValueError(f"ax has {len(ax)} axes, but there are three histograms")
    first, second, third = ax
    (a, b), found = description.names, description
    both = _edges(np.concatenate((found.a.values, found.b.values)))  # the same, to be compared
    own = _edges(found.difference.values)
    pictures = [
        (first, found.a, a, roles.A, both),
        (second, found.b, b, roles.B, both),
        (third, found.difference, f"{a} minus {b}", roles.NEITHER, own),
    ]
    for place, summary, title, role, edges in pictures:
        _draw_histogram(place, summary, title, role, edges)
        place.set_xlabel("difference of scores" if place is third else "score")
    third.axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
    most = 1.06 * max(np.histogram(x.values, both)[0].max() for x in (found.a, found.b))
    for place in (first, second):
        place.set_ylim(0, most)
    first.set_ylabel("pairs")
    marks = [line for line in first.lines if line.get_gid() in ("mean", "median")]
    legend_above(third, marks, loc="upper right", bbox_to_anchor=(1, 1), columns=1, frameon=True)
    return first, second, third


def plot_quantiles(pairs: Pairs, *, ax: Axes | None = None) -> Axes:
    """Draw the differences against those that a normal law would have (a Q-Q plot).

    Parameters
    ----------
    pairs : Pairs
        Single scores.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    matplotlib.axes.Axes
        Gids: "differences" for the points, of which there are at most a thousand; "normal" for
        the line on which they would lie, with the mean and the standard deviation of the data.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import Pairs
    >>> from permtest.plots import plot_quantiles
    >>> ax = plot_quantiles(Pairs.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]), ax=Figure().subplots())
    >>> [float(y) for y in ax.lines[0].get_ydata()]
    [0.0, 1.0, 1.0, 2.0, 3.0]
    """
    from scipy.special import ndtri

    if ax is None:
        with style():
            return plot_quantiles(pairs, ax=new_axes())
    differences = np.sort(PairedSample(pairs).differences)
    n = differences.size
    chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(np.int64))
    normal = ndtri((chosen + 0.5) / n)
    dots = roles.HOLDS.dot(ax, linestyle="none", markersize=5, gid="differences")
    ax.plot(normal, differences[chosen], **dots)
    mean, sd = float(differences.mean()), float(differences.std())
    ends = np.array(ax.get_xlim())
    ax.plot(ends, mean + sd * ends, zorder=1, gid="normal", **roles.EQUAL.line())
    ax.set_xlim(*ends)
    ax.set_xlabel("standard normal quantile")
    ax.set_ylabel("difference of scores")
    return ax


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bars of Freedman and Diaconis's width, between 5 and 50; one for values all equal."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.array([low - 0.5, low + 0.5])
    width = 2 * float(np.subtract(*np.quantile(values, [0.75, 0.25]))) / values.size ** (1 / 3)
    wanted = (high - low) / width if width > 0 else BARS[1]
    return np.linspace(low, high, int(min(max(wanted, BARS[0]), BARS[1])) + 1)


def _draw_histogram(
    ax: Axes, summary: Summary, title: str, role: roles.Look, edges: NDArray[np.float64]
) -> None:
    """Bars, mean and median."""
    counts = np.histogram(summary.values, edges)[0]
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", gid="bars", **role.area(ax))
    for name, value, line in (("mean", summary.mean, "-"), ("median", summary.median, ":")):
        look: dict[str, Any] = {"color": roles.ink(), "linestyle": line, "linewidth": 2.4}
        look["path_effects"] = roles.halo(ax)
        ax.axvline(value, label=name, gid=name, **look)
    margin = 0.03 * float(edges[-1] - edges[0])
    ax.set_xlim(float(edges[0]) - margin, float(edges[-1]) + margin)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=NICE))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=NICE, integer=True))
    ax.set_title("")
    plain(ax.set_title(title), title, 24)
