"""Sampled p-values scatter round the exact one: how many labellings, which seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import ipywidgets as controls
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from permtest.exact import exact_perm_test
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.plots import roles, sheet
from permtest.result import PermutationTestResult
from permtest.widgets.frame import Explorer, wide

ALPHA = 0.05
SAMPLES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)  # choices of K
RUNS = 25  # sampled tests in one picture
SEEDS = 1000  # choices of the first seed
PLACE = (0.075, 0.16, 0.885, 0.68)  # of the axes in the picture
SDS = 4.5  # how far the horizontal axis reaches, in standard deviations for the smallest K
MARGIN = 0.03  # of the axis, on either side


class SamplingExplorer(Explorer):
    """Choose the number of random labellings and the seeds; the estimates scatter round p.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, integers, as in `monte_carlo`.
    K : int, default 200
        The number of labellings at first, one of 50, 100, 200, 500, ..., 50 000.
    names : tuple of two str, optional
        What the systems are called.

    Attributes
    ----------
    K : ipywidgets.SelectionSlider
        How many labellings every estimate is made of.
    seed : ipywidgets.IntSlider
        The seed of the first estimate; the others have the seeds that follow.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    exact : PermutationTestResult
        Of the exact test.
    results : list of PermutationTestResult
        What is shown.

    Notes
    -----
    The axis of p-values is the same for all K, so that the intervals are seen to shrink.

    Examples
    --------
    >>> from permtest.widgets import SamplingExplorer
    >>> explorer = SamplingExplorer([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> explorer.K.value = 1000
    >>> {result.n_samples for result in explorer.results}
    {1000}
    """

    results: list[PermutationTestResult]

    def __init__(
        self, u: Any, v: Any, *, K: int = 200, names: tuple[str, str] | None = None
    ) -> None:
        if K not in SAMPLES:
            raise ValueError(f"K={K!r} is not on the slider; choose one of {SAMPLES}")
        self._pairs = Pairs.of(u, v, names)
        self.exact = exact_perm_test(self._pairs)
        self._make_picture(PLACE)
        self._make_controls(K)
        self._follow(self.K, self.seed)

    def _make_controls(self, size: int) -> None:
        label = wide("11em")
        self.K = controls.SelectionSlider(
            options=[(f"{k:,}", k) for k in SAMPLES],
            value=size,
            description="Random labellings K",
            **label,
        )
        self.seed = controls.IntSlider(0, 0, SEEDS - 1, description="Seed of the first", **label)
        self._stack(self.K, self.seed)

    def _update(self) -> None:
        size, first = self.K.value, self.seed.value
        seeds = range(first, first + RUNS)
        self.results = [monte_carlo(self._pairs, K=size, rng=seed) for seed in seeds]
        alt = f"{RUNS} p-values from {size} random labellings each"
        self._show(alt, describe(self.results, self.exact.pvalue))

    def _paint(self) -> None:
        (ax,), p = self._axes, self.exact.pvalue
        right = min(max(p + SDS * sqrt(p * (1 - p) / SAMPLES[0]), 2 * ALPHA), 1.0)
        plot_estimates(self.results, p, ax=ax)
        ax.set_xlim(-MARGIN * right, (1 + MARGIN) * right)


def plot_estimates(
    results: Sequence[PermutationTestResult],
    exact: float,
    *,
    alpha: float | None = ALPHA,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw sampled p-values with their intervals, one below the other, and the exact p."""
    if not results:
        raise ValueError("results is empty; pass at least one result of monte_carlo")
    with sheet.canvas(ax) as ax:
        hit = roles.HOLDS.dot(ax, markersize=6, linewidth=1.5, gid="hit")
        miss = roles.BROKEN.dot(ax, markersize=8, linewidth=3.5, gid="miss")
        for row, result in enumerate(results):
            ends = result.pvalue_interval(confidence_level)
            look = hit if ends[0] <= exact <= ends[1] else miss
            sheet.draw_interval(ax, row, ends, result.pvalue, **look)
        solid = roles.EQUAL.line(linewidth=2, zorder=1)
        shown: list[Any] = [ax.axvline(exact, label=f"exact p = {exact:.3g}", **solid)]
        if alpha is not None:
            level = roles.LEVEL.line(label=f"level {alpha:g}")
            shown.append(ax.axvline(alpha, zorder=1, **level))
        shown.append(Line2D([], [], label="interval holds p", **hit))
        shown.append(Line2D([], [], label="misses p", **miss))
        ax.set_ylim(len(results) - 0.4, -0.6)
        ax.set(yticks=[], xlabel="p-value", ylabel="one sampled test each")
        sheet.key(ax, shown)
    return ax


def describe(
    results: Sequence[PermutationTestResult], exact: float, *, alpha: float = ALPHA
) -> str:
    """Sampled p-values in words: how far they scatter, and how often they mislead.

    Parameters
    ----------
    results : sequence of PermutationTestResult
        Of `monte_carlo`, all with the same K.
    exact : float
        The exact p-value.
    alpha : float, default 0.05
        The level of significance.

    Returns
    -------
    str
    """
    runs, size = len(results), results[0].n_samples or 0
    found = sorted(result.pvalue for result in results)
    intervals = [result.pvalue_interval() for result in results]
    missed = sum(not low <= exact <= high for low, high in intervals)
    wrong = sum((p < alpha) != (exact < alpha) for p in found)
    error = sqrt((1 - exact) / (exact * size))
    return (
        f"{runs} sampled tests with K = {size:,} labellings each find p-values between "
        f"{found[0]:.3g} and {found[-1]:.3g}; the exact one is {exact:.3g}. Theory expects a "
        f"relative standard error of {100 * error:.3g} %. Of the {runs} tests, {wrong} "
        f"{'is' if wrong == 1 else 'are'} on the wrong side of {alpha:g}, and {missed} of the 95% "
        f"intervals {'misses' if missed == 1 else 'miss'} the exact p."
    )
