"""How many items a comparison takes: power, the interval to expect, and what can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log10, sqrt
from typing import Any

import numpy as np

from permtest.alternatives.result import one_sided, tail_level
from permtest.alternatives.sample import PairedSample
from permtest.study.planning import SampleSize, minimum_detectable_effect, power_t, sample_size
from permtest.study.power import PowerCurve, power_curve, power_curve_normal

try:
    import ipywidgets as controls
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.plots import style
from permtest.widgets import DPI, SIZE, Explorer, picture, png, spoken

FEWEST, MOST = 5, 5000  # items, the ends of the slider
STEPS = 14  # of the slider in a decade
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1)
TARGET = 0.8  # the power that is wanted
EXPERIMENTS = 200  # samples that the exact test is made of at each step
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0
POWER, LEADS = (0.1, 0.475, 0.86, 0.405), (0.1, 0.14, 0.86, 0.165)  # axes in the picture
SIDES = ("two-sided", "one-sided")


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
    needed : SampleSize or None
        How many pairs have the power that is wanted; None where there is nothing to find.
    detectable : float
        The mean difference that n pairs find with the power that is wanted.
    expected : tuple of two float
        An interval of the confidence level 1 - alpha, were the observed mean and standard deviation
        the true ones.
    """

    lead: float
    sd: float
    n: int
    alpha: float
    alternative: str
    target: float
    power: float
    needed: SampleSize | None
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
        target: float = TARGET,
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


def plot_plan(
    plan: Plan,
    exact: PowerCurve | None = None,
    *,
    axes: Sequence[Axes] | None = None,
    sizes: Sequence[int] = (),
) -> Sequence[Axes]:
    """Draw power against the number of pairs, and the interval to expect.

    Parameters
    ----------
    plan : Plan
    exact : PowerCurve, optional
        The simulated power of the exact test, to be compared.
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.
    sizes : sequence of int, optional
        Numbers of pairs that the curve is drawn through. Default: those of the slider.

    Returns
    -------
    sequence of two matplotlib.axes.Axes
        Power, with gids "power", "target", "n", "needed" and "exact"; then mean differences, with
        gids "interval", "null" and "detectable". An interval that goes on outside of the axes ends
        in an arrow (gid "open").

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.power_explorer import Plan, plot_plan
    >>> power, leads = plot_plan(Plan.of(0.1, 0.5, 200), axes=Figure().subplots(2))
    >>> [line.get_gid() for line in power.lines]
    ['target', 'n', 'power', 'needed']
    """
    if axes is None:
        with style():
            from matplotlib import pyplot as plt

            figure = plt.figure(figsize=SIZE)
            new = [figure.add_axes(place) for place in (POWER, LEADS)]
            return plot_plan(plan, exact, axes=new, sizes=sizes)
    upper, lower = axes
    _draw_curve(upper, plan, exact, sizes or [n for _, n in stops()])
    _draw_leads(lower, plan)
    return axes


def _draw_curve(ax: Axes, plan: Plan, exact: PowerCurve | None, sizes: Sequence[int]) -> None:
    """The axis of pairs has logarithms, which is quicker than a logarithmic axis."""
    black = mpl.rcParams["text.color"]
    thin: dict[str, Any] = {"color": black, "linewidth": 1.4, "zorder": 1}
    aim = f"{100 * plan.target:.3g}%"
    ax.axhline(plan.target, linestyle="--", gid="target", **thin)
    ax.axvline(log10(plan.n), linestyle=":", gid="n", label=f"n = {plan.n:,}", **thin)
    curve: dict[str, Any] = {"color": to_rgba("C0"), "label": "paired t-test", "gid": "power"}
    ax.plot(np.log10(sizes), plan.curve(sizes), **curve)
    if exact is not None:
        (low, high), power = exact.intervals[0], exact.power[0]
        look: dict[str, Any] = {"color": to_rgba("C1"), "marker": "s", "markersize": 8}
        where = [log10(exact.sizes[0])] * 3
        look |= {"label": "exact test", "gid": "exact", "linewidth": 3}
        ax.plot(where, [low, power, high], markevery=[1], **look)
    if plan.needed is not None and plan.needed <= sizes[-1]:
        cross: dict[str, Any] = {"color": black, "marker": "X", "markersize": 11}
        cross |= {"linestyle": "none", "label": f"{plan.needed:,} for {aim}", "gid": "needed"}
        ax.plot([log10(plan.needed)], [plan.target], zorder=4, **cross)
    ends = log10(sizes[0]), log10(sizes[-1])
    ax.set_xlim(ends[0] - 0.03, ends[1] + 0.03)
    ax.set_ylim(0, 1.03)
    ax.set_yticks([0, 0.5, plan.target, 1])
    marks = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    ax.xaxis.set_major_locator(FixedLocator([log10(mark) for mark in marks]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{round(10**x):,}"))
    ax.set_ylabel("power")
    ax.set_xlabel("pairs")
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.98)}
    handles = [line for line in ax.lines if line.get_gid() not in ("target", None)]
    ax.legend(handles=handles, ncols=4, columnspacing=1.1, handlelength=1.4, **place)


def _draw_leads(ax: Axes, plan: Plan) -> None:
    """The interval to expect, 0, and what can be found."""
    black, side = mpl.rcParams["text.color"], -1 if plan.lead < 0 else 1
    if ax.get_autoscalex_on():
        ax.set_xlim(*sorted((-WIDEST * side * plan.sd / 2, WIDEST * side * plan.sd)))
    ax.axvline(0, color=black, linestyle=":", linewidth=1.6, zorder=1, gid="null")
    shown = np.clip(plan.expected, *ax.get_xlim())
    look: dict[str, Any] = {"color": to_rgba("C0"), "markersize": 10}
    line: dict[str, Any] = {"marker": "o", "markevery": [1], "linewidth": 3, "gid": "interval"}
    ax.plot([shown[0], plan.lead, shown[1]], [0] * 3, **look | line)
    for end, place, marker in zip(plan.expected, shown, "<>", strict=True):
        if end != place:
            ax.plot([place], [0], linestyle="none", marker=marker, gid="open", **look)
    found = [plan.detectable] if plan.alternative != "two-sided" else [-plan.detectable]
    found += [plan.detectable] * (plan.alternative == "two-sided")
    mark: dict[str, Any] = {"marker": "^", "markersize": 10, "linestyle": "none"}
    mark |= {"color": to_rgba("C1"), "markerfacecolor": ax.get_facecolor(), "markeredgewidth": 2}
    ax.plot(found, [1] * len(found), gid="detectable", **mark)
    ax.set_ylim(1.6, -0.6)
    ax.set_yticks([0, 1], ["interval", "found"])
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    aim = f"{100 * plan.target:.3g}%"
    ax.set_xlabel(f"mean difference (triangles: found with a power of {aim})")


def stops(n: int | None = None) -> list[tuple[str, int]]:
    """Labels and numbers of pairs that the slider has, `n` among them.

    Parameters
    ----------
    n : int, optional

    Returns
    -------
    list of (str, int)
    """
    decades = log10(MOST / FEWEST)
    numbers = np.geomspace(FEWEST, MOST, round(STEPS * decades) + 1)
    values = {*np.rint(numbers).astype(int).tolist(), *([] if n is None else [n])}
    return [(f"{value:,}", value) for value in sorted(values)]


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
    >>> from permtest.power_explorer import PowerExplorer
    >>> explorer = PowerExplorer(lead=0.1, sd=0.5, n=50)
    >>> int(explorer.plan.needed), explorer.plan.power < 0.8
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
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._axes = [self._figure.add_axes(place) for place in (POWER, LEADS)]
        self._make_controls(lead, first, alpha)
        self._update()
        for control in (self.lead, self.n, self.alpha, self.alternative):
            control.observe(self._on_change, names="value")

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
        wide: dict[str, Any] = {"style": {"description_width": "9em"}, "layout": {"width": "98%"}}
        self._side, reach = (-1 if lead < 0 else 1), max(self._sd, 2 * abs(lead))
        low, high = sorted((0.0, self._side * reach))
        text: dict[str, Any] = {"description": "Mean difference", "readout_format": ".3g"}
        self.lead = controls.FloatSlider(
            value=lead, min=low, max=high, step=reach / 500, **text, **wide
        )
        self.n = controls.SelectionSlider(options=stops(n), value=n, description="Pairs", **wide)
        short: dict[str, Any] = {"style": {"description_width": "4em"}}
        levels = [(f"{level:g}", level) for level in LEVELS]
        self.alpha = controls.Dropdown(options=levels, value=alpha, description="Level", **short)
        self.alternative = controls.Dropdown(options=SIDES, description="Test", **short)
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        row = controls.HBox([self.alpha, self.alternative], layout={"flex_flow": "row wrap"})
        parts = [self.lead, self.n, row, self.picture, self.sentence]
        self.box = controls.VBox(parts, layout={"width": "100%", "max_width": "820px"})

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
        alt = (
            f"Power against the number of pairs, and the interval to expect of {n}; described below"
        )
        self.picture.value = picture(self._draw(), alt)
        self.sentence.value = spoken(describe(self.plan, self.exact))

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        with style():
            for ax in self._axes:
                ax.clear()
            reach = self._side * max(WIDEST * self._sd, 1.2 * abs(self.lead.max - self.lead.min))
            self._axes[1].set_xlim(*sorted((-reach / 2, reach)))
            plot_plan(self.plan, self.exact, axes=self._axes)
            return png(self._figure)


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
    low, high = plan.expected
    ends = f"{_number(low)} to {_number(high)}"
    if not isfinite(low):
        ends = f"{_number(high)} or less"
    elif not isfinite(high):
        ends = f"{_number(low)} or more"
    simulated = ""
    if exact is not None:
        bottom, top = (f"{100 * end:.0f}" for end in exact.intervals[0])
        simulated = f" (the exact test, simulated: {bottom} to {top}%)"
    aim = f"{100 * plan.target:.3g}%"
    takes = f"{aim} takes {plan.needed:,} pairs" if plan.needed else "there is nothing to find"
    return (
        f"With {plan.n:,} pairs, a mean difference of {_number(plan.lead)} and a standard "
        f"deviation of {plan.sd:.3g}, the paired t-test ({plan.alternative}, level "
        f"{plan.alpha:g}) has a power of {100 * plan.power:.1f}%{simulated}; {takes}. A "
        f"{100 * (1 - plan.alpha):.4g}% interval to expect is {ends}. The smallest mean difference "
        f"that {plan.n:,} pairs find with a power of {aim} is {_number(plan.detectable)}."
    )


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
