"""Drag the correlation of two systems: who knows of it, and who does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import ipywidgets as controls
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
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
from permtest.plots import roles, sheet
from permtest.widgets.frame import Explorer, wide

MEAN, SD, LARGEST = 50, 10, 6.0  # of the scores of either system, and lead, in points
LEVEL = 0.05
CLOUD, LEADS = (0.09, 0.15, 0.36, 0.75), (0.63, 0.15, 0.35, 0.75)  # axes in the picture
CORRELATIONS = (-0.5, 0.95)  # ends of the slider
LEAST, MOST = 10, 200  # items
GRAIN = 0.05  # points that scores are multiples of


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
    >>> from permtest.widgets.assumptions import Dependence
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
        pairs, other = sample.pairs, independent_t(sample.a, sample.b, names=sample.names)
        return cls(sample, permutation_mean(pairs), paired_t(pairs), other)

    @property
    def spread(self) -> float:
        """Standard deviation of the differences, as they are."""
        return float(self.paired.details["standard_error"]) * sqrt(self.sample.n)

    @property
    def believed(self) -> float:
        """What it would be if the two systems did not depend on each other."""
        return float(self.independent.details["standard_error"]) * sqrt(self.sample.n)


def plot_dependence(found: Dependence, *, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """Draw the scores of both systems, and what tests of pairs and of two samples make of them."""
    with sheet.canvas(axes, make=partial(Figure.subplots, ncols=2)) as axes:
        cloud, leads = sheet.check_axes(axes, 2, "parts")
        sample = found.sample
        dots = roles.CURVES[0].dot(cloud, markersize=5, linestyle="none", alpha=0.7, gid="items")
        cloud.plot(sample.b, sample.a, **dots)
        cloud.axline((sample.mean, sample.mean), slope=1, gid="equal", **roles.EQUAL.line())
        for label, name in zip(
            (cloud.xaxis.label, cloud.yaxis.label), sample.names[::-1], strict=True
        ):
            sheet.literal(label, f"score of {name}", 30)
        sheet.key(cloud, [], f"{sample.n} items, r12 = {sheet.digits(sample.correlation, '.2f')}")
        leads.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        rows = {"paired t": found.paired, "two-sample t": found.independent}
        for row, (result, role) in enumerate(
            zip(rows.values(), (roles.HOLDS, roles.BROKEN), strict=True)
        ):
            ends = result.confidence_interval()
            look = role.dot(leads, gid="interval")
            sheet.draw_interval(leads, row, ends, result.estimate, **look)
        names = [f"{name}\np = {sheet.digits(result.pvalue)}" for name, result in rows.items()]
        sheet.name_rows(leads, names, pad=4)
        sheet.ticks(leads.xaxis, 4)
        leads.set_xlabel("mean difference")
        sheet.key(leads, [], f"exact p = {found.exact.pvalue_text()}")
    return axes


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
    >>> from permtest.widgets import AssumptionsExplorer
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
        self._make_picture(CLOUD, LEADS)
        self._make_controls(r12, n, lead)
        self._follow(self.r12, self.n, self.lead)

    def _make_controls(self, r12: float, n: int, lead: float) -> None:
        label = wide("11em")
        low, high = CORRELATIONS
        self.r12 = controls.FloatSlider(
            value=r12, min=low, max=high, step=0.01, description="Correlation r12", **label
        )
        self.n = controls.IntSlider(n, LEAST, MOST, description="Items", **label)
        self.lead = controls.FloatSlider(
            value=lead,
            min=0.0,
            max=LARGEST,
            step=0.1,
            description="Lead (points)",
            readout_format=".1f",
            **label,
        )
        self._stack(self.r12, self.n, self.lead)

    def _update(self) -> None:
        n = self.n.value
        scores = two_systems(self.r12.value, n=n, lead=self.lead.value, rng=self._rng)
        self.found = Dependence.of(*scores, self._names)
        alt = f"Scores of two systems on {n} items, and what three tests find"
        self._show(alt, describe(self.found))

    def _paint(self) -> None:
        ends = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST)
        marks = [20, 40, 60, 80]
        self._axes[0].set(xlim=ends, ylim=ends, xticks=marks, yticks=marks)
        self._axes[1].set_xlim(-10, 20)
        plot_dependence(self.found, axes=self._axes)


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
    >>> from permtest.widgets.assumptions import two_systems
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
    r, lead = (sheet.digits(x, ".2f") for x in (sample.correlation, found.exact.estimate))
    verdict = _verdict(found.exact.pvalue <= LEVEL, found.independent.pvalue <= LEVEL)
    return (
        f"The scores have correlation r12 = {r}, so their difference has a standard deviation of "
        f"{found.spread:.1f} points. A test that takes the systems for independent believes "
        f"{found.believed:.1f}, {times:.2f} times as much (1 / \N{SQUARE ROOT}(1 - r12) = "
        f"{inflation(sample.correlation):.2f}). {a} is {lead} points ahead of {b}, on {sample.n} "
        f"items: p = {found.exact.pvalue_text()} by the exact permutation test, "
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
