"""What a test loses that takes two systems for independent, on simulated scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._rng import RNG, as_generator
from permtest.alternatives import (
    AlternativeResult,
    PairedSample,
    independent_t,
    inflation,
    paired_t,
    permutation_mean,
)

try:
    import ipywidgets as controls
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.plots import style
from permtest.widgets import DPI, SIZE, Explorer, picture, png, spoken

MEAN, SD = 50, 10  # of the scores of either system, in points
GRAIN = 0.05  # points that scores are multiples of
CORRELATIONS = (-0.5, 0.95)  # ends of the slider
LEAST, MOST = 10, 200  # items
LARGEST = 6.0  # lead in points
LEVEL = 0.05
LOWEST = -8  # logarithm of the smallest p that is shown as it is
CLOUD = (0.085, 0.175, 0.345, 0.7)  # axes: left, bottom, width and height in shares of the picture
LEADS = (0.615, 0.655, 0.365, 0.2)
PS = (0.615, 0.175, 0.365, 0.24)
ROWS = ("exact", "paired t", "two-sample t")


@dataclass(frozen=True, eq=False)
class Dependence:
    """The same pairs, tested as pairs and as if the two systems were independent.

    Parameters
    ----------
    sample : PairedSample
        The scores.
    exact, paired, independent : AlternativeResult
        Of the exact permutation test of the mean, of the paired t-test and of the two-sample
        t-test.
    """

    sample: PairedSample
    exact: AlternativeResult
    paired: AlternativeResult
    independent: AlternativeResult

    @classmethod
    def of(cls, a: Any, b: Any, names: tuple[str, str] | None = None) -> Dependence:
        """All three tests of scores `a` and `b`, of shape (N,)."""
        sample = PairedSample.of(a, b, names=names, least=2)
        return cls(
            sample=sample,
            exact=permutation_mean(sample.pairs),
            paired=paired_t(sample.pairs),
            independent=independent_t(sample.a, sample.b, names=sample.names),
        )

    @property
    def spread(self) -> float:
        """Standard deviation of the differences, as they are."""
        return float(self.paired.details["standard_error"]) * sqrt(self.sample.n)

    @property
    def believed(self) -> float:
        """What it would be if the two systems did not depend on each other."""
        return float(self.independent.details["standard_error"]) * sqrt(self.sample.n)


def two_systems(
    r12: float, *, n: int = 50, lead: float = 2.0, rng: RNG = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of two systems on the same items, with a given correlation.

    Parameters
    ----------
    r12 : float
        Pearson's correlation of the two columns of scores, in [-1, 1).
    n : int, default 50
        Number of items, 3 to 200.
    lead : float, default 2.0
        By how many points the mean of the first system is higher.
    rng : numpy.random.Generator, int or None, default 0
        The same seed gives the same random numbers for all other arguments.

    Returns
    -------
    a, b : ndarray of shape (n,)
        Points, multiples of 0.05. Means of `b` are 50, standard deviations of both 10, and their
        correlation is `r12`: not about so, but up to that rounding.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    What the systems have in common is ``sqrt((1 + r12) / 2) x``, and where they differ they do so
    by ``2 sqrt((1 - r12) / 2) y``, of two random columns x and y that have been made uncorrelated.
    So with another correlation all differences shrink or grow by the same factor.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.assumptions_explorer import two_systems
    >>> a, b = two_systems(0.8)
    >>> round(float(np.corrcoef(a, b)[0, 1]), 2), round(float(np.mean(a - b)), 2)
    (0.8, 2.0)
    """
    if not -1 <= r12 < 1:
        raise ValueError(f"r12 must lie in [-1, 1), got {r12}")
    if not 3 <= n <= MOST:
        raise ValueError(f"n must be between 3 and {MOST}, got {n}")
    numbers = as_generator(rng).standard_normal((MOST, 2))[:n]
    x, y = (sqrt(n - 1) * np.linalg.qr(numbers - numbers.mean(axis=0))[0]).T
    common, own = sqrt((1 + r12) / 2) * x, sqrt((1 - r12) / 2) * y
    a, b = MEAN + lead + SD * (common + own), MEAN + SD * (common - own)
    # Coarse enough for exact tests to be quick, fine enough not to be seen in the moments.
    return np.round(np.rint(a / GRAIN) * GRAIN, 2), np.round(np.rint(b / GRAIN) * GRAIN, 2)


def plot_dependence(found: Dependence, *, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """Draw the scores of both systems, and what the tests make of them.

    Parameters
    ----------
    found : Dependence
    axes : sequence of three matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    sequence of three matplotlib.axes.Axes
        The scores, a dot for each item (gid "items") and the line on which both are equal; the mean
        difference with the 95% intervals of both t-tests (gid "interval"); p-values on a
        logarithmic scale (gid "p") and the level 0.05. What assumes independent systems is a hollow
        square. A p below 1e-8 is an arrow at the edge.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.assumptions_explorer import Dependence, plot_dependence, two_systems
    >>> cloud, leads, ps = plot_dependence(
    ...     Dependence.of(*two_systems(0.5)), axes=Figure().subplots(3)
    ... )
    >>> [label.get_text() for label in ps.get_yticklabels()]
    ['exact', 'paired t', 'two-sample t']
    """
    if axes is None:
        with style():
            figure = _new_figure()
            return plot_dependence(found, axes=[figure.add_axes(x) for x in (CLOUD, LEADS, PS)])
    cloud, leads, ps = axes
    _draw_items(cloud, found.sample)
    _draw_leads(leads, found)
    _draw_pvalues(ps, found)
    return axes


def _new_figure() -> Figure:
    from matplotlib import pyplot as plt

    return plt.figure(figsize=SIZE)


def _draw_items(ax: Axes, sample: PairedSample) -> None:
    ends = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST)
    dark = mpl.rcParams["text.color"]
    ax.plot(ends, ends, color=dark, linewidth=1, linestyle=":", zorder=1, gid="equal")
    dots: dict[str, Any] = {"marker": "o", "markersize": 5, "linestyle": "none", "alpha": 0.7}
    ax.plot(sample.b, sample.a, color=to_rgba("C0"), gid="items", **dots)
    ax.set_xlim(ends)
    ax.set_ylim(ends)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator([20, 40, 60, 80]))
    a, b = sample.names
    ax.set_xlabel(f"score of {b} (points)", parse_math=False)
    ax.set_ylabel(f"score of {a} (points)", parse_math=False)
    ax.set_title(f"{sample.n} items, r12 = {_decimals(sample.correlation)}")


def _draw_leads(ax: Axes, found: Dependence) -> None:
    """The mean difference, between the ends of what each t-test would not reject."""
    black = mpl.rcParams["text.color"]
    ax.axvline(0, color=black, linestyle=":", linewidth=1.6, zorder=1, gid="null")
    for row, result in enumerate((found.paired, found.independent)):
        low, high = result.confidence_interval()
        look = _look(ax, result) | {"linewidth": 2.5, "solid_capstyle": "butt"}
        ax.plot([low, result.estimate, high], [row] * 3, markevery=[1], gid="interval", **look)
    ax.set_xlim(-10, 20)
    ax.xaxis.set_major_locator(FixedLocator([-10, 0, 10, 20]))
    _set_rows(ax, ROWS[1:])
    ax.set_xlabel("mean difference (points)")
    times = found.believed / found.spread
    words = f"sd {found.spread:.1f}; if independent {found.believed:.1f} (\N{MULTIPLICATION SIGN} "
    ax.set_title(f"{words}{times:.2f})", fontsize="medium", x=-0.4)


def _draw_pvalues(ax: Axes, found: Dependence) -> None:
    """Three dots; one that is too small for the axis is an arrow at its end."""
    black = mpl.rcParams["text.color"]
    ax.axvline(log10(LEVEL), color=black, linestyle="--", linewidth=1.6, zorder=1, gid="level")
    for row, result in enumerate((found.exact, found.paired, found.independent)):
        place, look = log10(result.pvalue), _look(ax, result)
        if place < LOWEST:
            place, look = LOWEST - 0.4, look | {"marker": "<"}
        ax.plot([place], [row], gid="p", **{"linestyle": "none"} | look)
    ax.set_xlim(LOWEST - 0.8, 0.4)
    # Not a logarithmic axis, which takes longer to set up.
    ax.xaxis.set_major_locator(FixedLocator([-8, -6, -4, -2, 0]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1e{x:.0f}" if x else "1"))
    _set_rows(ax, ROWS)
    ax.set_xlabel(f"p-value (dashed: level {LEVEL:g})")


def _set_rows(ax: Axes, names: Sequence[str]) -> None:
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)


def _look(ax: Axes, result: AlternativeResult) -> dict[str, Any]:
    """A hollow square is a test that takes the systems for independent."""
    shared: dict[str, Any] = {"markersize": 9, "markeredgewidth": 2}
    if result.test == "independent_t":
        face = {"markerfacecolor": ax.get_facecolor()}
        return shared | face | {"marker": "s", "color": to_rgba("C1")}
    return shared | {"marker": "o", "color": to_rgba("C0")}


class AssumptionsExplorer(Explorer):
    """Drag the correlation of two systems; tests that know of it and one that does not disagree.

    Parameters
    ----------
    r12 : float, default 0.5
        The correlation at first, from -0.5 to 0.95.
    n : int, default 50
        Number of items at first, from 10 to 200.
    lead : float, default 2.0
        By how many points the first system is better at first, from 0 to 6.
    rng : int, default 0
        Seed of the random numbers, which are the same for all positions of the sliders.
    names : tuple of two str, default ("a", "b")
        What the systems are called.

    Attributes
    ----------
    r12, lead : ipywidgets.FloatSlider
    n : ipywidgets.IntSlider
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    found : Dependence
        What is shown.

    Notes
    -----
    The scores are those of `two_systems`, and the tests those of `permtest.alternatives`. The axes
    stay as they are. Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest.assumptions_explorer import AssumptionsExplorer
    >>> explorer = AssumptionsExplorer(n=40)
    >>> explorer.r12.value = 0.8
    >>> round(explorer.found.believed / explorer.found.spread, 2)
    2.24
    """

    found: Dependence

    def __init__(
        self,
        *,
        r12: float = 0.5,
        n: int = 50,
        lead: float = 2.0,
        rng: int = 0,
        names: tuple[str, str] = ("a", "b"),
    ) -> None:
        for name, value, (low, high) in (
            ("r12", r12, CORRELATIONS),
            ("n", n, (LEAST, MOST)),
            ("lead", lead, (0.0, LARGEST)),
        ):
            if not low <= value <= high:
                raise ValueError(f"{name}={value} is not on the slider, from {low} to {high}")
        self._rng, self._names = rng, names
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._axes = [self._figure.add_axes(place) for place in (CLOUD, LEADS, PS)]
        self._make_controls(r12, n, lead)
        self._update()
        for control in (self.r12, self.n, self.lead):
            control.observe(self._on_change, names="value")

    def _make_controls(self, r12: float, n: int, lead: float) -> None:
        wide: dict[str, Any] = {"style": {"description_width": "11em"}, "layout": {"width": "98%"}}
        words = "Correlation r12"
        low, high = CORRELATIONS
        self.r12 = controls.FloatSlider(
            value=r12, min=low, max=high, step=0.01, description=words, **wide
        )
        self.n = controls.IntSlider(n, LEAST, MOST, description="Items", **wide)
        points: dict[str, Any] = {"readout_format": ".1f", "description": "Lead (points)"}
        ends: dict[str, Any] = {"min": 0.0, "max": LARGEST, "step": 0.1}
        self.lead = controls.FloatSlider(value=lead, **ends, **points, **wide)
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        parts = [self.r12, self.n, self.lead, self.picture, self.sentence]
        self.box = controls.VBox(parts, layout={"width": "100%", "max_width": "820px"})

    def _update(self) -> None:
        r12, n, lead = self.r12.value, self.n.value, self.lead.value
        scores = two_systems(r12, n=n, lead=lead, rng=self._rng)
        self.found = Dependence.of(*scores, self._names)
        alt = f"Scores of two systems on {n} items, and what three tests find; described below"
        self.picture.value = picture(self._draw(), alt)
        self.sentence.value = spoken(describe(self.found))

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        with style():
            for ax in self._axes:
                ax.clear()
            plot_dependence(self.found, axes=self._axes)
            return png(self._figure)


def describe(found: Dependence) -> str:
    """The spread of the difference with and without the correlation, and the p-values, in words.

    Parameters
    ----------
    found : Dependence

    Returns
    -------
    str
    """
    sample, times = found.sample, found.believed / found.spread
    a, b = sample.names
    r = sample.correlation
    verdict = _verdict(found.exact.pvalue <= LEVEL, found.independent.pvalue <= LEVEL)
    return (
        f"The scores have correlation r12 = {_decimals(r)}, so their difference has a standard "
        f"deviation of {found.spread:.1f} points. A test that takes the systems for independent "
        f"believes {found.believed:.1f}, {times:.2f} times as much (1 / \N{SQUARE ROOT}(1 - r12) "
        f"= {inflation(r):.2f}). {a} is {_decimals(found.exact.estimate)} points ahead of {b}, on "
        f"{sample.n} items: p = {found.exact.pvalue_text()} by the exact permutation test, "
        f"{found.paired.pvalue_text()} by the paired t-test, {found.independent.pvalue_text()} by "
        f"the two-sample t-test. {verdict}"
    )


def _verdict(paired: bool, independent: bool) -> str:
    """What the difference between the tests means at the level."""
    if paired and not independent:
        return f"At the level {LEVEL:g}, only the tests of pairs see the difference."
    if independent and not paired:
        return f"At the level {LEVEL:g}, the two-sample test alone rejects, and too easily."
    return f"At the level {LEVEL:g}, they all " + ("reject." if paired else "let it pass.")


def _decimals(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
