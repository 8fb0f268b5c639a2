"""Sampled p-values round the exact one: a picture of them, and an explorer."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from permtest.exact import exact_perm_test
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult

try:
    import ipywidgets as controls
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.plots import style
from permtest.widgets import DPI, SIZE, Explorer, picture, png, spoken

SAMPLES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)  # choices of K
RUNS = 25  # sampled tests in one picture
SEEDS = 1000  # choices of the first seed
ALPHA = 0.05
AXES = (0.075, 0.16, 0.885, 0.68)  # left, bottom, width and height in shares of the picture
SDS = 4.5  # how far the horizontal axis reaches, in standard deviations for the smallest K
MARGIN = 0.03  # of the axis, on either side
# Of an estimate whose interval holds the exact p, and of one whose interval misses it; colour,
# shape and thickness tell them apart.
HIT: dict[str, Any] = {"color": "C0", "marker": "o", "linewidth": 1.5, "markersize": 6.0}
MISS: dict[str, Any] = {"color": "C1", "marker": "s", "linewidth": 3.5, "markersize": 8.0}


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
    >>> from permtest.sampling_explorer import plot_estimates
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
                ax=_new_axes(),
            )
    for row, result in enumerate(results):
        low, high = result.pvalue_interval(confidence_level)
        hit = low <= exact <= high
        look, gid = (_look(HIT), "hit") if hit else (_look(MISS), "miss")
        xs = [low, result.pvalue, high]
        ax.plot(xs, [row] * 3, markevery=[1], solid_capstyle="butt", gid=gid, **look)
    _add_marks(ax, exact, alpha)
    ax.set_ylim(len(results) - 0.4, -0.6)
    ax.set_yticks([])
    ax.set_xlabel("p-value")
    ax.set_ylabel("one sampled test each")
    return ax


def _look(marks: dict[str, Any]) -> dict[str, Any]:
    """Marks whose colour is looked up now, while the settings that it is of are in force."""
    return marks | {"color": to_rgba(marks["color"])}


def _new_axes() -> Axes:
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _add_marks(ax: Axes, exact: float, alpha: float | None) -> None:
    """The exact p and the level as vertical lines, and a legend above the axes."""
    line = to_rgba("C3")
    lines = [ax.axvline(exact, color=line, linewidth=2, zorder=1, label=f"exact p = {exact:.3g}")]
    if alpha is not None:
        look: dict[str, Any] = {"color": line, "linewidth": 1.5, "linestyle": ":", "zorder": 1}
        lines.append(ax.axvline(alpha, label=f"level {alpha:g}", **look))
    lines.append(Line2D([], [], label="interval holds p", **_look(HIT)))
    lines.append(Line2D([], [], label="misses p", **_look(MISS)))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(handles=lines, ncols=len(lines), columnspacing=1.4, **place)


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
    >>> from permtest.sampling_explorer import SamplingExplorer
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
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._ax = self._figure.add_axes(AXES)
        self._make_controls(K)
        self._update()
        for control in (self.K, self.seed):
            control.observe(self._on_change, names="value")

    def _make_controls(self, size: int) -> None:
        wide: dict[str, Any] = {
            "style": {"description_width": "11em"},
            "layout": {"width": "98%"},
        }
        choices = [(f"{k:,}", k) for k in SAMPLES]
        label = "Random labellings K"
        self.K = controls.SelectionSlider(options=choices, value=size, description=label, **wide)
        self.seed = controls.IntSlider(0, 0, SEEDS - 1, description="Seed of the first", **wide)
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        parts = [self.K, self.seed, self.picture, self.sentence]
        self.box = controls.VBox(parts, layout={"width": "100%", "max_width": "820px"})

    def _update(self) -> None:
        size, first = self.K.value, self.seed.value
        seeds = range(first, first + RUNS)
        self.results = [monte_carlo(self._pairs, K=size, rng=seed) for seed in seeds]
        alt = f"{RUNS} p-values from {size} random labellings each; described below"
        self.picture.value = picture(self._draw(), alt)
        self.sentence.value = spoken(describe(self.results, self.exact.pvalue))

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        p = self.exact.pvalue
        right = min(max(p + SDS * sqrt(p * (1 - p) / SAMPLES[0]), 2 * ALPHA), 1.0)
        with style():
            self._ax.clear()
            plot_estimates(self.results, p, ax=self._ax)
            self._ax.set_xlim(-MARGIN * right, (1 + MARGIN) * right)
            return png(self._figure)


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
