"""Sampled p-values with their intervals round the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from permtest.plots import roles
from permtest.plots.parts import draw_interval
from permtest.plots.sheet import legend_above, new_axes, style
from permtest.result import PermutationTestResult

ALPHA = 0.05
THIN, THICK = 1.5, 3.5  # points: of an interval that holds the exact p, and of one that misses it


def plot_estimates(
    results: Sequence[PermutationTestResult],
    exact: float,
    *,
    alpha: float | None = ALPHA,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw sampled p-values with their intervals, one below the other, and the exact p.

    Parameters
    ----------
    results : sequence of PermutationTestResult
        Of `monte_carlo`, the first one is drawn at the top. At least one.
    exact : float
        The exact p-value.
    alpha : float or None, default 0.05
        A level of significance to mark.
    confidence_level : float, default 0.95
        Of the intervals.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Default: a new figure in the style of the project.

    Returns
    -------
    matplotlib.axes.Axes
        Intervals that miss the exact p are thick and marked by squares. A line for each result
        has the gid "hit" or "miss".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import monte_carlo
    >>> from permtest.plots import plot_estimates
    >>> results = [monte_carlo([1] * 5, [0] * 5, K=200, rng=seed) for seed in range(20)]
    >>> ax = plot_estimates(results, 1 / 16, ax=Figure().subplots())
    >>> len([line for line in ax.lines if line.get_gid() in ("hit", "miss")])
    20
    """
    if not results:
        raise ValueError("results is empty; pass at least one result of monte_carlo")
    if ax is None:
        with style():
            return plot_estimates(
                results,
                exact,
                alpha=alpha,
                confidence_level=confidence_level,
                ax=new_axes(),
            )
    for row, result in enumerate(results):
        ends = result.pvalue_interval(confidence_level)
        hit = ends[0] <= exact <= ends[1]
        gid = "hit" if hit else "miss"
        draw_interval(ax, row, ends, result.pvalue, gid=gid, **_look(ax, hit))
    _add_marks(ax, exact, alpha)
    ax.set_ylim(len(results) - 0.4, -0.6)
    ax.set_yticks([])
    ax.set_xlabel("p-value")
    ax.set_ylabel("one sampled test each")
    return ax


def _look(ax: Axes, hit: bool) -> dict[str, Any]:
    """Thickness tells them apart as well."""
    if hit:
        return roles.HOLDS.dot(ax, markersize=6, linewidth=THIN)
    return roles.BROKEN.dot(ax, markersize=8, linewidth=THICK)


def _add_marks(ax: Axes, exact: float, alpha: float | None) -> None:
    """The exact p and the level as vertical lines, and a legend above the axes."""
    line = {"color": roles.ink(), "linewidth": 2, "zorder": 1}
    handles: list[Any] = [ax.axvline(exact, label=f"exact p = {exact:.3g}", **line)]
    if alpha is not None:
        handles.append(ax.axvline(alpha, zorder=1, label=f"level {alpha:g}", **roles.LEVEL.line()))
    handles.append(Line2D([], [], label="interval holds p", **_look(ax, True)))
    handles.append(Line2D([], [], label="misses p", **_look(ax, False)))
    legend_above(ax, handles)
