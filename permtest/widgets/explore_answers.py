"""Explorers of two questions about tests: who knows of the correlation, and how many items."""

from __future__ import annotations

from fractions import Fraction
from math import log10, sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from permtest.alternatives import independent_t, paired_t
from permtest.alternatives.registry import (
    as_floats,
    correlation,
    deviation,
    one_sided,
    scores_of,
    tail_level,
)
from permtest.exact import exact_perm_test
from permtest.plots import roles, sheet
from permtest.plots.sheet import digits
from permtest.study import minimum_detectable_effect, power_curve, power_t, sample_size
from permtest.widgets.frame import Explorer, choice, slider

# ---- assumptions ---------------------------------------------------------------------------------

MEAN, SD, LARGEST = 50, 10, 6.0  # of the scores of either system, and lead, in points
LEVEL = 0.05
MOST = 200  # items
GRAIN = 0.05  # points that scores are multiples of


class AssumptionsExplorer(Explorer):
    """Drag the correlation of two systems; tests that know of it and one that does not disagree.

    Scores of both systems have the standard deviation 10. Source: Yeh (2000), sec. 2.1.

    Parameters
    ----------
    names : tuple of two str, default ("a", "b")
        The names of the two systems.

    Examples
    --------
    >>> from permtest.widgets import AssumptionsExplorer
    >>> explorer = AssumptionsExplorer()
    >>> explorer.exact.pvalue < 0.05 < explorer.independent.pvalue
    True
    """

    def __init__(self, *, names: tuple[str, str] = ("a", "b")) -> None:
        self._names = names
        controls = {
            "r12": slider("Correlation r12", 0.8, -0.5, 0.95, 0.01),
            "n": slider("Items", 50, 10, MOST),
            "lead": slider("Lead (points)", 2.0, 0.0, LARGEST, 0.1, readout_format=".1f"),
        }
        places = [(0.09, 0.15, 0.36, 0.75), (0.63, 0.15, 0.35, 0.75)]
        self._open(places, controls, "r12", "n", "lead")

    def _scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Normal scores whose moments are those that are asked for, always of the same seed."""
        r12, n = self.r12.value, self.n.value
        numbers = np.random.default_rng(0).standard_normal((MOST, 2))[:n]
        x, y = (sqrt(n - 1) * np.linalg.qr(numbers - numbers.mean(axis=0))[0]).T
        common, own = sqrt((1 + r12) / 2) * x, sqrt((1 - r12) / 2) * y
        a, b = MEAN + self.lead.value + SD * (common + own), MEAN + SD * (common - own)
        # Coarse enough for exact tests to be quick, fine enough not to be seen in the moments.
        return np.round(np.rint(a / GRAIN) * GRAIN, 2), np.round(np.rint(b / GRAIN) * GRAIN, 2)

    def _compute(self) -> tuple[str, str]:
        n, (a, b) = self.n.value, self._names
        self.scores, _ = scores_of(*self._scores(), self._names, least=2)
        self.exact, self.paired = exact_perm_test(self.scores), paired_t(self.scores)
        self.independent = independent_t(self.scores)
        spread, believed = (
            float(result.details["standard_error"]) * sqrt(n)
            for result in (self.paired, self.independent)
        )
        seen, blind = (x.pvalue <= LEVEL for x in (self.exact, self.independent))
        verdict = "they all reject." if seen else "none of them rejects."
        if seen != blind:
            verdict = "only the paired tests see the difference."
        if blind and not seen:
            verdict = "only the two-sample test rejects, and it rejects too easily."
        r12 = digits(correlation(self.scores), ".2f")
        return f"Scores of two systems on {n} items, and the p-values of three tests", (
            f"The scores have correlation r12 = {r12}, so their "
            f"difference has a standard deviation of {spread:.1f} points. A test that assumes "
            f"independent systems uses {believed:.1f}, {believed / spread:.2f} times as much. "
            f"{a} is {digits(self.paired.estimate, '.2f')} points ahead of {b}, on {n} items: p "
            f"= {self.exact.pvalue_text()} by the exact permutation test, "
            f"{self.paired.pvalue_text()} by the paired t-test, "
            f"{self.independent.pvalue_text()} by the two-sample t-test. At the level "
            f"{LEVEL:g}, {verdict}"
        )

    def _draw(self) -> None:
        (cloud, leads), scores = self._axes, self.scores
        ends, at = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST), [20, 40, 60, 80]
        cloud.set(xlim=ends, ylim=ends, xticks=at, yticks=at)
        dots = roles.CURVES[0].dot(cloud, markersize=5, linestyle="none", alpha=0.7, gid="items")
        cloud.plot(*(as_floats(x, scores.scale) for x in (scores.v, scores.u)), **dots)
        cloud.plot(ends, ends, gid="equal", **roles.EQUAL.line())
        sheet.literal(cloud.xaxis.label, f"score of {self._names[1]}", 30)
        sheet.literal(cloud.yaxis.label, f"score of {self._names[0]}", 30)
        r12 = digits(correlation(scores), ".2f")
        cloud.set_title(f"{len(scores)} items, r12 = {r12}", loc="left")
        leads.set(xlim=(-15, 20), xlabel="mean difference")
        leads.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        leads.set_title(f"exact p = {self.exact.pvalue_text()}", loc="left")
        sheet.name_rows(leads, ["paired t", "two-sample t"], pad=4)
        sheet.ticks(leads.xaxis, 4)
        both = (self.paired, roles.HOLDS), (self.independent, roles.BROKEN)
        for row, (result, role) in enumerate(both):
            interval, look = result.confidence_interval()[:2], role.dot(leads, gid="interval")
            sheet.draw_interval(leads, row, interval, result.estimate, **look)
            leads.text(1.5, row + 0.22, f"p = {digits(result.pvalue)}", gid="p")


# ---- power ---------------------------------------------------------------------------------------

SIZES = sorted({round(n) for n in np.geomspace(5, 5000, 43)})  # pairs that have a place on the axis
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1)
TARGET = 0.8  # the power that is wanted
EXPERIMENTS = 200  # samples that the exact test is made of at each step


class PowerExplorer(Explorer):
    """Choose a mean difference and a number of pairs; power and interval follow at once.

    The curve is that of the paired t-test, from the noncentral t distribution; the exact test is
    simulated at n alone.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Two systems' scores on the same items, from which the sliders start: at their mean
        difference, at N, and for good at the standard deviation of their differences. The exact
        test is simulated with samples of these differences, shifted to the chosen mean.
    lead : float, optional
        Another mean difference to start from; "one-sided" looks for a lead of its sign.

    Examples
    --------
    >>> from permtest.widgets import PowerExplorer
    >>> explorer = PowerExplorer([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5])
    >>> explorer.needed, explorer.power < 0.8
    (18, True)
    """

    def __init__(self, a: Any, b: Any = None, *, lead: float | None = None) -> None:
        self._scores, _ = scores_of(a, b, least=2)
        self._mean = float(as_floats(self._scores.differences(), self._scores.scale).mean())
        lead = self._mean if lead is None else float(lead)
        size, self._sd = len(self._scores), deviation(self._scores)
        if not (sd := self._sd):
            raise ValueError(f"all {size} differences are {lead:g}; power needs some spread")
        n = min(max(size, SIZES[0]), SIZES[-1])
        self._side, reach = (-1 if lead < 0 else 1), max(sd, 2 * abs(lead))
        low, high = sorted((0.0, self._side * reach))
        form, sizes = {"readout_format": ".3g"}, {f"{size:,}": size for size in sorted({*SIZES, n})}
        controls = {
            "lead": slider("Mean difference", lead, low, high, reach / 500, **form),
            "n": choice("Pairs", sizes, n, "SelectionSlider", "11em"),
            "alpha": choice("Level", LEVELS, LEVEL),
            "alternative": choice("Test", ("two-sided", "one-sided")),
        }
        places = [(0.1, 0.475, 0.86, 0.405), (0.1, 0.14, 0.86, 0.165)]
        self._open(places, controls, "lead", "n", "alpha alternative")

    def _compute(self) -> tuple[str, str]:
        side = self.alternative.value
        if side == "one-sided":
            side = "greater" if self._side > 0 else "less"
        alpha, lead, sd, n = self.alpha.value, self.lead.value, self._sd, self.n.value
        self._level: dict[str, Any] = {"alpha": alpha, "alternative": side}
        # All its binary digits: such samples are put on a lattice that is quick to test.
        delta = None if lead == self._mean else Fraction(lead)
        how: dict[str, Any] = {"sizes": (n,), "experiments": EXPERIMENTS, "rng": 0, "delta": delta}
        self.exact = power_curve(self._scores, **how, **self._level)
        from scipy.special import stdtrit

        self.power = power_t(n, lead, sd, **self._level)
        self.needed = sample_size(lead, sd, power=TARGET, **self._level) if lead else None
        self.detectable = minimum_detectable_effect(n, sd, power=TARGET, **self._level)
        reach = -float(stdtrit(n - 1, tail_level(side, 1 - alpha))) * sd / sqrt(n)
        self.expected = one_sided(side, lead - reach, lead + reach)
        bottom, top = (f"{100 * end:.0f}" for end in self.exact.intervals[0])
        takes = f"80% takes {self.needed:,} pairs" if self.needed else "there is nothing to find"
        return f"Power against the number of pairs, and the interval to expect with {n}", (
            f"With {n:,} pairs, a mean difference of {digits(lead)} and a standard deviation of "
            f"{sd:.3g}, the paired t-test ({side}, level {alpha:g}) has a power of "
            f"{100 * self.power:.1f}% (the exact test, simulated: {bottom} to {top}%); {takes}. "
            f"Expect a {100 * (1 - alpha):.4g}% interval of {sheet.span(*self.expected)}. The "
            f"smallest mean difference that {n:,} pairs detect with a power of 80% is "
            f"{digits(self.detectable)}."
        )

    def _draw(self) -> None:
        (upper, lower), lead, needed = self._axes, self.lead.value, self.needed
        # The axis of pairs has logarithms, which is quicker than a logarithmic axis.
        at, (low, high), power = log10(self.n.value), self.exact.intervals[0], self.exact.power[0]
        upper.axhline(TARGET, zorder=1, gid="target", **roles.LEVEL.line())
        now = roles.MIRRORED.line(gid="n", label=f"n = {self.n.value:,}", zorder=1)
        shown: list[Any] = [upper.axvline(at, **now)]
        powers = [power_t(n, lead, self._sd, **self._level) for n in SIZES]
        curve = roles.CURVES[0].line(gid="power", label="paired t-test")
        shown += upper.plot(np.log10(SIZES), powers, **curve)
        look: dict[str, Any] = {"color": roles.CURVES[1].rgba(), "marker": "s", "markersize": 8}
        look |= roles.INTERVAL | {"label": "exact test", "gid": "exact", "markevery": [1]}
        shown += upper.plot([at] * 3, [low, power, high], **look)
        if needed and needed <= SIZES[-1]:
            cross: dict[str, Any] = {"color": roles.ink(), "marker": "X", "markersize": 11}
            cross |= {"linestyle": "none", "zorder": 4, "gid": "needed"}
            shown += upper.plot([log10(needed)], [TARGET], label=f"{needed:,} for 80%", **cross)
        ends = (log10(SIZES[0]) - 0.03, log10(SIZES[-1]) + 0.03)
        upper.set(xlim=ends, ylim=(0, 1.03), yticks=[0, 0.5, TARGET, 1])
        upper.set(ylabel="power", xlabel="pairs")
        ticks = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
        upper.set_xticks([log10(tick) for tick in ticks], [f"{tick:,}" for tick in ticks])
        sheet.key(upper, shown)
        self._draw_differences(lower)

    def _draw_differences(self, lower: Axes) -> None:
        """The interval to expect, and the smallest differences that are found."""
        reach = self._side * max(WIDEST * self._sd, 1.2 * abs(self.lead.max - self.lead.min))
        lower.set_xlim(*sorted((-reach / 2, reach)))
        lower.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        dot = roles.HOLDS.dot(lower, gid="interval")
        sheet.draw_interval(lower, 0, self.expected, self.lead.value, **dot)
        signs = (1, -1) if self.alternative.value == "two-sided" else (self._side,)
        mark = roles.BROKEN.dot(lower, marker="^", color=roles.ink(), linestyle="none")
        found = [sign * self.detectable for sign in signs]
        lower.plot(found, [1] * len(found), gid="detectable", **mark)
        sheet.name_rows(lower, ["interval", "found"], pad=4)
        sheet.ticks(lower.xaxis, 7)
        lower.set_xlabel("mean difference (triangles: detected with a power of 80%)")
