"""Scores of two systems on the same items, and what tests make of them that know of it or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, sqrt
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from permtest.alternatives import AlternativeResult, independent_t, paired_t, permutation_mean
from permtest.alternatives.result import PairedSample
from permtest.plots import roles
from permtest.plots.parts import draw_interval, name_rows
from permtest.plots.sheet import axes_at, style
from permtest.plots.words import digits

MEAN, SD, LARGEST = 50, 10, 6.0  # of the scores of either system, and lead, in points
LEVEL = 0.05
LOWEST = -8  # logarithm of the smallest p that is shown as it is
# Axes: left, bottom, width and height in shares of the picture.
CLOUD, LEADS, PS = (
    (0.085, 0.175, 0.345, 0.7),
    (0.615, 0.655, 0.365, 0.2),
    (0.615, 0.175, 0.365, 0.24),
)
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

    Examples
    --------
    >>> from permtest.plots import Dependence
    >>> found = Dependence.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.exact.pvalue, round(found.independent.pvalue, 3)
    (0.125, 0.147)
    >>> round(found.spread, 2), round(found.believed, 2)
    (1.14, 1.95)
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
    >>> from permtest.plots import Dependence, plot_dependence
    >>> found = Dependence.of([53, 65, 44], [52, 61, 45])
    >>> cloud, leads, ps = plot_dependence(found, axes=Figure().subplots(3))
    >>> [label.get_text() for label in ps.get_yticklabels()]
    ['exact', 'paired t', 'two-sample t']
    """
    if axes is None:
        with style():
            return plot_dependence(found, axes=axes_at(CLOUD, LEADS, PS))
    cloud, leads, ps = axes
    _draw_items(cloud, found.sample)
    _draw_leads(leads, found)
    _draw_pvalues(ps, found)
    return axes


def _draw_items(ax: Axes, sample: PairedSample) -> None:
    ends = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST)
    ax.plot(ends, ends, zorder=1, gid="equal", **roles.EQUAL.line())
    dots: dict[str, Any] = {"marker": "o", "markersize": 5, "linestyle": "none", "alpha": 0.7}
    ax.plot(sample.b, sample.a, gid="items", **roles.CURVES[0].line() | dots)
    ax.set_xlim(ends)
    ax.set_ylim(ends)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator([20, 40, 60, 80]))
    a, b = sample.names
    ax.set_xlabel(f"score of {b} (points)", parse_math=False)
    ax.set_ylabel(f"score of {a} (points)", parse_math=False)
    ax.set_title(f"{sample.n} items, r12 = {digits(sample.correlation, '.2f')}")


def _draw_leads(ax: Axes, found: Dependence) -> None:
    """The mean difference, between the ends of what each t-test would not reject."""
    ax.set_xlim(-10, 20)
    ax.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
    for row, result in enumerate((found.paired, found.independent)):
        look = _look(ax, result) | {"gid": "interval"}
        draw_interval(ax, row, result.confidence_interval(), result.estimate, **look)
    ax.xaxis.set_major_locator(FixedLocator([-10, 0, 10, 20]))
    name_rows(ax, ROWS[1:], pad=4)
    ax.set_xlabel("mean difference (points)")
    times = found.believed / found.spread
    words = f"sd {found.spread:.1f}; if independent {found.believed:.1f} (\N{MULTIPLICATION SIGN} "
    ax.set_title(f"{words}{times:.2f})", fontsize="medium", x=-0.4)


def _draw_pvalues(ax: Axes, found: Dependence) -> None:
    """Three dots; one that is too small for the axis is an arrow at its end."""
    ax.axvline(log10(LEVEL), zorder=1, gid="level", **roles.LEVEL.line())
    for row, result in enumerate((found.exact, found.paired, found.independent)):
        place, look = log10(result.pvalue), _look(ax, result)
        if place < LOWEST:
            place, look = LOWEST - 0.4, look | {"marker": "<"}
        ax.plot([place], [row], gid="p", **{"linestyle": "none"} | look)
    ax.set_xlim(LOWEST - 0.8, 0.4)
    # Not a logarithmic axis, which takes longer to set up.
    ax.xaxis.set_major_locator(FixedLocator([-8, -6, -4, -2, 0]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1e{x:.0f}" if x else "1"))
    name_rows(ax, ROWS, pad=4)
    ax.set_xlabel(f"p-value (line: level {LEVEL:g})")


def _look(ax: Axes, result: AlternativeResult) -> dict[str, Any]:
    """A hollow square is a test that takes the systems for independent."""
    return (roles.BROKEN if result.test == "independent_t" else roles.HOLDS).dot(ax)
