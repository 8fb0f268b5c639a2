"""How many items a comparison takes: power, the interval to expect, and what can be found."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

import ipywidgets as controls
import numpy as np

from permtest.alternatives.result import PairedSample
from permtest.plots.plan import FEWEST, LEADS, MOST, POWER, WIDEST, Plan, plot_plan, steps
from permtest.plots.words import digits, span
from permtest.study import PowerCurve, power_curve, power_curve_normal
from permtest.widgets.frame import Explorer, beside, wide

LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1)
EXPERIMENTS = 200  # samples that the exact test is made of at each step
SIDES = ("two-sided", "one-sided")


def stops(n: int | None = None) -> list[tuple[str, int]]:
    """Labels and numbers of pairs that the slider has, `n` among them.

    Parameters
    ----------
    n : int, optional

    Returns
    -------
    list of (str, int)
    """
    return [(f"{value:,}", value) for value in steps(n)]


class PowerExplorer(Explorer):
    """Choose a mean difference and a number of pairs; power and interval follow at once.

    Parameters
    ----------
    a, b : array_like of shape (N,), optional
        Two systems' scores on the same items, from which the sliders start: at their mean
        difference, at N (5 or 5000, if it is beyond), and for good at the standard deviation of
        their differences. The exact test is simulated with samples of these differences, shifted to
        the chosen mean. `a` may be `Pairs`.
    lead : float, optional
        The mean difference at first; needed where there are no scores. Not 0.
    sd : float, optional
        The standard deviation of the differences; needed where there are no scores, which are then
        taken for normal.
    n : int, optional
        Number of pairs at first, 5 to 5000. Default: N, or 100 without scores.
    alpha : float, default 0.05
        Level at first: 0.001, 0.005, 0.01, 0.05 or 0.1.
    rng : int, default 0
        Seed of the simulation.

    Attributes
    ----------
    lead : ipywidgets.FloatSlider
        From 0 to the standard deviation, or to twice the first mean difference, on its side.
    n : ipywidgets.SelectionSlider
    alpha, alternative : ipywidgets.Dropdown
        "one-sided" looks for a lead of the sign that the first one has.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    plan : Plan
        What is shown.
    exact : PowerCurve
        The exact test at n, of 200 samples.

    Notes
    -----
    The axes stay as they are. The curve is that of the paired t-test, from the noncentral t
    distribution; the exact test is simulated at n alone, so that both follow while a slider is
    dragged.

    Examples
    --------
    >>> from permtest.widgets import PowerExplorer
    >>> explorer = PowerExplorer(lead=0.1, sd=0.5, n=50)
    >>> explorer.plan.needed, explorer.plan.power < 0.8
    (199, True)
    """

    plan: Plan
    exact: PowerCurve

    def __init__(
        self,
        a: Any = None,
        b: Any = None,
        *,
        lead: float | None = None,
        sd: float | None = None,
        n: int | None = None,
        alpha: float = 0.05,
        rng: int = 0,
    ) -> None:
        self._rng = rng
        self._sample = None if a is None else _with_spread(PairedSample.of(a, b, least=2))
        lead, self._sd = self._moments(lead, sd)
        if alpha not in LEVELS:
            raise ValueError(f"alpha={alpha} is not to be chosen; take one of {LEVELS}")
        first = n if n is not None else min(max(self._size(), FEWEST), MOST)
        if not FEWEST <= first <= MOST:
            raise ValueError(f"n={n} is not on the slider, from {FEWEST} to {MOST}")
        self._make_picture(POWER, LEADS)
        self._make_controls(lead, first, alpha)
        self._follow(self.lead, self.n, self.alpha, self.alternative)

    def _moments(self, lead: float | None, sd: float | None) -> tuple[float, float]:
        """Mean and standard deviation of the differences, given or of the scores."""
        if self._sample is None:
            if lead is None or sd is None:
                raise ValueError("give scores of two systems, a and b, or lead and sd")
        elif sd is not None:
            raise ValueError("sd is that of the scores where there are scores; leave it out")
        else:
            lead = self._sample.mean if lead is None else lead
            sd = float(self._sample.differences.std(ddof=1))
        for name, value in (("lead", lead), ("sd", sd)):
            if not isfinite(value) or (name == "sd" and value <= 0):
                raise ValueError(f"{name}={value} must be finite{', and above 0' * (name == 'sd')}")
        return float(lead), float(sd)

    def _size(self) -> int:
        return 100 if self._sample is None else self._sample.n

    def _make_controls(self, lead: float, n: int, alpha: float) -> None:
        label = wide("9em")
        self._side, reach = (-1 if lead < 0 else 1), max(self._sd, 2 * abs(lead))
        low, high = sorted((0.0, self._side * reach))
        text: dict[str, Any] = {"description": "Mean difference", "readout_format": ".3g"}
        self.lead = controls.FloatSlider(
            value=lead, min=low, max=high, step=reach / 500, **text, **label
        )
        self.n = controls.SelectionSlider(options=stops(n), value=n, description="Pairs", **label)
        short: dict[str, Any] = {"style": {"description_width": "4em"}}
        levels = [(f"{level:g}", level) for level in LEVELS]
        self.alpha = controls.Dropdown(options=levels, value=alpha, description="Level", **short)
        self.alternative = controls.Dropdown(options=SIDES, description="Test", **short)
        self._stack(self.lead, self.n, beside(self.alpha, self.alternative))

    def _update(self) -> None:
        two = self.alternative.value == "two-sided"
        side = "two-sided" if two else ("greater" if self._side > 0 else "less")
        level: dict[str, Any] = {"alpha": self.alpha.value, "alternative": side}
        lead, n = self.lead.value, self.n.value
        self.plan = Plan.of(lead, self._sd, n, **level)
        simulation: dict[str, Any] = {"sizes": (n,), "experiments": EXPERIMENTS, "rng": self._rng}
        if self._sample is None:
            self.exact = power_curve_normal(lead, self._sd, **simulation, **level)
        else:
            # All its binary digits: such samples are put on a lattice that is quick to test.
            delta = None if lead == self._sample.mean else Fraction(lead)
            self.exact = power_curve(self._sample.pairs, delta=delta, **simulation, **level)
        alt = f"Power against the number of pairs, and the interval to expect of {n}"
        self._show(alt, describe(self.plan, self.exact))

    def _paint(self) -> None:
        reach = self._side * max(WIDEST * self._sd, 1.2 * abs(self.lead.max - self.lead.min))
        self._axes[1].set_xlim(*sorted((-reach / 2, reach)))
        plot_plan(self.plan, self.exact, axes=self._axes)


def _with_spread(sample: PairedSample) -> PairedSample:
    if np.ptp(sample.differences) == 0:
        raise ValueError(
            f"all {sample.n} differences are {sample.differences[0]:g}; power needs some spread"
        )
    return sample


def describe(plan: Plan, exact: PowerCurve | None = None) -> str:
    """A plan in words.

    Parameters
    ----------
    plan : Plan
    exact : PowerCurve, optional
        The simulated power of the exact test.

    Returns
    -------
    str
    """
    simulated = ""
    if exact is not None:
        bottom, top = (f"{100 * end:.0f}" for end in exact.intervals[0])
        simulated = f" (the exact test, simulated: {bottom} to {top}%)"
    aim = f"{100 * plan.target:.3g}%"
    takes = f"{aim} takes {plan.needed:,} pairs" if plan.needed else "there is nothing to find"
    return (
        f"With {plan.n:,} pairs, a mean difference of {digits(plan.lead)} and a standard "
        f"deviation of {plan.sd:.3g}, the paired t-test ({plan.alternative}, level "
        f"{plan.alpha:g}) has a power of {100 * plan.power:.1f}%{simulated}; {takes}. A "
        f"{100 * (1 - plan.alpha):.4g}% interval to expect is {span(*plan.expected)}. The smallest "
        f"mean difference that {plan.n:,} pairs find with a power of {aim} is "
        f"{digits(plan.detectable)}."
    )
