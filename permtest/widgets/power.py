"""How many items a comparison takes: power, the interval to expect, and what can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite, log10, sqrt
from typing import Any

import ipywidgets as controls
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from permtest.alternatives.result import PairedSample, one_sided, tail_level
from permtest.plots import roles, sheet
from permtest.study import (
    PowerCurve,
    minimum_detectable_effect,
    power_curve,
    power_curve_normal,
    power_t,
    sample_size,
)
from permtest.widgets.frame import Explorer, beside, wide

FEWEST, MOST = 5, 5000  # pairs, the ends of the axis of a plan
STEPS = 14  # numbers of pairs in a decade
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0
POWER, LEADS = (0.1, 0.475, 0.86, 0.405), (0.1, 0.14, 0.86, 0.165)  # axes in the picture
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


@dataclass(frozen=True)
class Plan:
    """What so many pairs can show, if differences have this mean and this standard deviation.

    Parameters
    ----------
    lead : float
        The true mean difference, in scores.
    sd : float
        The standard deviation of the differences; above 0.
    n : int
        Number of pairs, at least 2.
    alpha : float
        Level of the test.
    alternative : str
        "two-sided", "greater" or "less".
    target : float
        The power that is wanted.
    power : float
        Of the paired t-test.
    needed : int or None
        How many pairs have the power that is wanted; None where there is nothing to find.
    detectable : float
        The mean difference that n pairs find with the power that is wanted.
    expected : tuple of two float
        An interval of the confidence level 1 - alpha, were the observed mean and standard deviation
        the true ones.

    Examples
    --------
    >>> from permtest.widgets.power import Plan
    >>> plan = Plan.of(0.1, 0.5, 100)
    >>> round(plan.power, 3), round(plan.detectable, 3)
    (0.508, 0.141)
    >>> [round(power, 2) for power in plan.curve([50, 200, 400])]
    [0.28, 0.8, 0.98]
    """

    lead: float
    sd: float
    n: int
    alpha: float
    alternative: str
    target: float
    power: float
    needed: int | None
    detectable: float
    expected: tuple[float, float]

    @classmethod
    def of(
        cls,
        lead: float,
        sd: float,
        n: int,
        *,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        target: float = 0.8,
    ) -> Plan:
        """Everything there is to know; arguments as they are named above."""
        from scipy.special import stdtrit

        level: dict[str, Any] = {"alpha": alpha, "alternative": alternative}
        power = power_t(n, lead, sd, **level)
        detectable = minimum_detectable_effect(n, sd, power=target, **level)
        needed = sample_size(lead, sd, power=target, **level) if lead else None
        reach = -float(stdtrit(n - 1, tail_level(alternative, 1 - alpha))) * sd / sqrt(n)
        expected = one_sided(alternative, lead - reach, lead + reach)
        return cls(lead, sd, n, alpha, alternative, target, power, needed, detectable, expected)

    def curve(self, sizes: Sequence[int]) -> list[float]:
        """The power of the paired t-test with other numbers of pairs."""
        level: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        return [power_t(n, self.lead, self.sd, **level) for n in sizes]


def steps(n: int | None = None) -> list[int]:
    """Numbers of pairs that a curve is drawn through, `n` among them."""
    numbers = np.geomspace(FEWEST, MOST, round(STEPS * log10(MOST / FEWEST)) + 1)
    return sorted({*np.rint(numbers).astype(int).tolist(), *([] if n is None else [n])})


def plot_plan(
    plan: Plan,
    exact: PowerCurve | None = None,
    *,
    axes: Sequence[Axes] | None = None,
    sizes: Sequence[int] = (),
) -> Sequence[Axes]:
    """Draw power against the number of pairs, and the interval to expect."""
    make = partial(Figure.subplots, nrows=2, height_ratios=(5, 2))
    with sheet.canvas(axes, make=make) as axes:
        upper, lower = sheet.check_axes(axes, 2, "parts")
        _draw_curve(upper, plan, exact, sizes or steps())
        side = -1 if plan.lead < 0 else 1
        if lower.get_autoscalex_on():
            lower.set_xlim(*sorted((-WIDEST * side * plan.sd / 2, WIDEST * side * plan.sd)))
        lower.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        dot = roles.HOLDS.dot(lower, gid="interval")
        sheet.draw_interval(lower, 0, plan.expected, plan.lead, **dot)
        two = plan.alternative == "two-sided"
        found = [-plan.detectable, plan.detectable] if two else [plan.detectable]
        mark = roles.BROKEN.dot(lower, marker="^", color=roles.ink(), linestyle="none")
        lower.plot(found, [1] * len(found), gid="detectable", **mark)
        sheet.name_rows(lower, ["interval", "found"], pad=4)
        sheet.ticks(lower.xaxis, 7)
        aim = f"{100 * plan.target:.3g}%"
        lower.set_xlabel(f"mean difference (triangles: found with a power of {aim})")
    return axes


def _draw_curve(ax: Axes, plan: Plan, exact: PowerCurve | None, sizes: Sequence[int]) -> None:
    """The axis of pairs has logarithms, which is quicker than a logarithmic axis."""
    ax.axhline(plan.target, zorder=1, gid="target", **roles.LEVEL.line())
    now = roles.MIRRORED.line(gid="n", label=f"n = {plan.n:,}", zorder=1)
    shown: list[Any] = [ax.axvline(log10(plan.n), **now)]
    curve = roles.CURVES[0].line(gid="power", label="paired t-test")
    shown += ax.plot(np.log10(sizes), plan.curve(sizes), **curve)
    if exact is not None:
        (low, high), power = exact.intervals[0], exact.power[0]
        look: dict[str, Any] = {"color": roles.CURVES[1].rgba(), "marker": "s", "markersize": 8}
        look |= roles.INTERVAL | {"label": "exact test", "gid": "exact", "markevery": [1]}
        shown += ax.plot([log10(exact.sizes[0])] * 3, [low, power, high], **look)
    if plan.needed is not None and plan.needed <= sizes[-1]:
        cross: dict[str, Any] = {"color": roles.ink(), "marker": "X", "markersize": 11}
        cross |= {"linestyle": "none", "zorder": 4, "gid": "needed"}
        label = f"{plan.needed:,} for {100 * plan.target:.3g}%"
        shown += ax.plot([log10(plan.needed)], [plan.target], label=label, **cross)
    ax.set_xlim(log10(sizes[0]) - 0.03, log10(sizes[-1]) + 0.03)
    ax.set(ylim=(0, 1.03), yticks=[0, 0.5, plan.target, 1], ylabel="power", xlabel="pairs")
    marks = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    ax.xaxis.set_major_locator(FixedLocator([log10(mark) for mark in marks]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{round(10**x):,}"))
    sheet.key(ax, shown)


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
        f"With {plan.n:,} pairs, a mean difference of {sheet.digits(plan.lead)} and a standard "
        f"deviation of {plan.sd:.3g}, the paired t-test ({plan.alternative}, level "
        f"{plan.alpha:g}) has a power of {100 * plan.power:.1f}%{simulated}; {takes}. A "
        f"{100 * (1 - plan.alpha):.4g}% interval to expect is {sheet.span(*plan.expected)}. The "
        f"smallest mean difference that {plan.n:,} pairs find with a power of {aim} is "
        f"{sheet.digits(plan.detectable)}."
    )
