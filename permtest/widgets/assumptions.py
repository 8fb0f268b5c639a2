"""Drag the correlation of two systems: who knows of it, and who does not."""

from __future__ import annotations

import ipywidgets as controls

from permtest.alternatives import inflation
from permtest.plots.dependence import CLOUD, LARGEST, LEADS, LEVEL, PS, plot_dependence
from permtest.plots.words import digits
from permtest.study.dependence import MOST, Dependence, two_systems
from permtest.widgets.frame import Explorer, wide

CORRELATIONS = (-0.5, 0.95)  # ends of the slider
LEAST = 10  # items


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
        self._make_picture(CLOUD, LEADS, PS)
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
        plot_dependence(self.found, axes=self._axes)


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
    r, lead = (digits(x, ".2f") for x in (sample.correlation, found.exact.estimate))
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
