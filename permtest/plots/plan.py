"""Power against the number of pairs, the interval to expect, and what can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from permtest.alternatives.result import one_sided, tail_level
from permtest.plots import roles
from permtest.plots.parts import draw_interval, name_rows
from permtest.plots.sheet import NICE, axes_at, legend_above, style
from permtest.study import PowerCurve, minimum_detectable_effect, power_t, sample_size

FEWEST, MOST = 5, 5000  # pairs, the ends of the axis
STEPS = 14  # numbers of pairs in a decade
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0
POWER, LEADS = (0.1, 0.475, 0.86, 0.405), (0.1, 0.14, 0.86, 0.165)  # axes in the picture


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
    >>> from permtest.plots.plan import Plan
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
        Numbers of pairs that the curve is drawn through. Default: 5 to 5000.

    Returns
    -------
    sequence of two matplotlib.axes.Axes
        Power, with gids "power", "target", "n", "needed" and "exact"; then mean differences, with
        gids "interval", "null" and "detectable". An interval that goes on outside of the axes ends
        in an arrow (gid "open").

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_plan
    >>> from permtest.plots.plan import Plan
    >>> power, leads = plot_plan(Plan.of(0.1, 0.5, 200), axes=Figure().subplots(2))
    >>> [line.get_gid() for line in power.lines]
    ['target', 'n', 'power', 'needed']
    """
    if axes is None:
        with style():
            return plot_plan(plan, exact, axes=axes_at(POWER, LEADS), sizes=sizes)
    upper, lower = axes
    _draw_curve(upper, plan, exact, sizes or steps())
    _draw_leads(lower, plan)
    return axes


def _draw_curve(ax: Axes, plan: Plan, exact: PowerCurve | None, sizes: Sequence[int]) -> None:
    """The axis of pairs has logarithms, which is quicker than a logarithmic axis."""
    aim = f"{100 * plan.target:.3g}%"
    ax.axhline(plan.target, zorder=1, gid="target", **roles.LEVEL.line())
    now = roles.MIRRORED.line(gid="n", label=f"n = {plan.n:,}")
    ax.axvline(log10(plan.n), zorder=1, **now)
    curve = roles.CURVES[0].line(gid="power", label="paired t-test")
    ax.plot(np.log10(sizes), plan.curve(sizes), **curve)
    if exact is not None:
        (low, high), power = exact.intervals[0], exact.power[0]
        where = [log10(exact.sizes[0])] * 3
        look: dict[str, Any] = {"color": roles.CURVES[1].rgba(), "marker": "s", "markersize": 8}
        look |= roles.INTERVAL | {"label": "exact test", "gid": "exact"}
        ax.plot(where, [low, power, high], markevery=[1], **look)
    if plan.needed is not None and plan.needed <= sizes[-1]:
        cross: dict[str, Any] = {"color": roles.ink(), "marker": "X", "markersize": 11}
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
    handles = [line for line in ax.lines if line.get_gid() not in ("target", None)]
    legend_above(ax, handles, columnspacing=1.1, bbox_to_anchor=(-0.02, 1))


def _draw_leads(ax: Axes, plan: Plan) -> None:
    """The interval to expect, 0, and what can be found."""
    side = -1 if plan.lead < 0 else 1
    if ax.get_autoscalex_on():
        ax.set_xlim(*sorted((-WIDEST * side * plan.sd / 2, WIDEST * side * plan.sd)))
    ax.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
    draw_interval(ax, 0, plan.expected, plan.lead, **roles.HOLDS.dot(ax, gid="interval"))
    found = [plan.detectable] if plan.alternative != "two-sided" else [-plan.detectable]
    found += [plan.detectable] * (plan.alternative == "two-sided")
    mark = roles.BROKEN.dot(ax, marker="^", markersize=10, linestyle="none", color=roles.ink())
    ax.plot(found, [1] * len(found), gid="detectable", **mark)
    name_rows(ax, ["interval", "found"], pad=4)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=NICE))
    aim = f"{100 * plan.target:.3g}%"
    ax.set_xlabel(f"mean difference (triangles: found with a power of {aim})")


def steps(n: int | None = None) -> list[int]:
    """Numbers of pairs that the curve is drawn through, `n` among them."""
    decades = log10(MOST / FEWEST)
    numbers = np.geomspace(FEWEST, MOST, round(STEPS * decades) + 1)
    return sorted({*np.rint(numbers).astype(int).tolist(), *([] if n is None else [n])})
