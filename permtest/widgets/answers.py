"""Explorers of two questions about tests: who knows of the correlation, and how many items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log10, sqrt
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter
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
from permtest.alternatives.result import one_sided, tail_level
from permtest.plots import roles, sheet
from permtest.plots.sheet import digits
from permtest.study import (
    PowerCurve,
    minimum_detectable_effect,
    power_curve,
    power_curve_normal,
    power_t,
    sample_size,
)
from permtest.widgets.frame import Explorer, Interval, check_range, choice, slider, stops, words

# ---- assumptions ---------------------------------------------------------------------------------

MEAN, SD, LARGEST = 50, 10, 6.0  # of the scores of either system, and lead, in points
LEVEL = 0.05
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
    >>> from permtest.widgets import Dependence
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

    def __str__(self) -> str:
        sample, times = self.sample, self.believed / self.spread
        (a, b), r = sample.names, sample.correlation
        paired, independent = (x.pvalue <= LEVEL for x in (self.exact, self.independent))
        if paired != independent:
            verdict = "only the tests of pairs see the difference."
            if independent:
                verdict = "the two-sample test alone rejects, and too easily."
        else:
            verdict = "they all reject." if paired else "they all let it pass."
        return (
            f"The scores have correlation r12 = {digits(r, '.2f')}, so their difference has a "
            f"standard deviation of {self.spread:.1f} points. A test that takes the systems for "
            f"independent believes {self.believed:.1f}, {times:.2f} times as much (1 / "
            f"\N{SQUARE ROOT}(1 - r12) = {inflation(r):.2f}). {a} is "
            f"{digits(self.exact.estimate, '.2f')} points ahead of {b}, on {sample.n} items: p = "
            f"{self.exact.pvalue_text()} by the exact permutation test, "
            f"{self.paired.pvalue_text()} by the paired t-test, {self.independent.pvalue_text()} "
            f"by the two-sample t-test. At the level {LEVEL:g}, {verdict}"
        )


class AssumptionsExplorer(Explorer):
    """Drag the correlation of two systems; tests that know of it and one that does not disagree.

    The scores are those of `two_systems`, and the tests those of `permtest.alternatives`. Source:
    Yeh (2000), sec. 2.1.

    Parameters
    ----------
    r12 : float, default 0.8
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
    r12, lead, n : ipywidgets.FloatSlider, ipywidgets.FloatSlider, ipywidgets.IntSlider
    found : Dependence
        What is shown.

    Examples
    --------
    >>> from permtest.widgets import AssumptionsExplorer
    >>> explorer = AssumptionsExplorer(n=40)
    >>> explorer.r12.value = 0.5
    >>> round(explorer.found.believed / explorer.found.spread, 2)
    1.41
    """

    found: Dependence

    def __init__(
        self,
        *,
        r12: float = 0.8,
        n: int = 50,
        lead: float = 2.0,
        rng: int = 0,
        names: tuple[str, str] = ("a", "b"),
    ) -> None:
        check_range(r12=(r12, -0.5, 0.95), n=(n, LEAST, MOST), lead=(lead, 0.0, LARGEST))
        self._rng, self._names = rng, names
        controls = {
            "r12": slider("Correlation r12", r12, -0.5, 0.95, 0.01),
            "n": slider("Items", n, LEAST, MOST),
            "lead": slider("Lead (points)", lead, 0.0, LARGEST, 0.1, readout_format=".1f"),
        }
        places = [(0.09, 0.15, 0.36, 0.75), (0.63, 0.15, 0.35, 0.75)]
        self._open(places, controls, "r12", "n", "lead")

    def _compute(self) -> tuple[str, str]:
        n = self.n.value
        scores = two_systems(self.r12.value, n=n, lead=self.lead.value, rng=self._rng)
        self.found = Dependence.of(*scores, self._names)
        return f"Scores of two systems on {n} items, and what three tests find", str(self.found)

    def _draw(self) -> None:
        cloud, leads = self._axes
        ends, at = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST), [20, 40, 60, 80]
        cloud.set(xlim=ends, ylim=ends, xticks=at, yticks=at)
        dots = roles.CURVES[0].dot(cloud, markersize=5, linestyle="none", alpha=0.7, gid="items")
        cloud.plot([], [], **dots)
        cloud.plot(ends, ends, scalex=False, scaley=False, gid="equal", **roles.EQUAL.line())
        labels = (cloud.xaxis.label, cloud.yaxis.label)
        for label, name in zip(labels, self._names[::-1], strict=True):
            sheet.literal(label, f"score of {name}", 30)
        leads.set(xlim=(-10, 20), xlabel="mean difference")
        leads.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        sheet.name_rows(leads, ["paired t", "two-sample t"], pad=4)
        sheet.ticks(leads.xaxis, 4)
        self._bars, self._texts = [], [ax.set_title(" ", loc="left") for ax in self._axes]
        for row, role in enumerate((roles.HOLDS, roles.BROKEN)):
            look = roles.INTERVAL | role.dot(leads, gid="interval")
            self._bars.append(Interval(*leads.plot([0], [row], **look)))
            self._texts.append(leads.text(5, row + 0.22, "", ha="center", gid="p"))

    def _paint(self) -> None:
        found, sample = self.found, self.found.sample
        self._parts["items"][0].set_data(sample.b, sample.a)
        both = (found.paired, found.independent)
        for bar, result in zip(self._bars, both, strict=True):
            bar.move(result.confidence_interval()[:2], result.estimate)
        texts = [f"{sample.n} items, r12 = {digits(sample.correlation, '.2f')}"]
        texts += [f"exact p = {found.exact.pvalue_text()}"]
        texts += [f"p = {digits(result.pvalue)}" for result in both]
        for artist, text in zip(self._texts, texts, strict=True):
            artist.set_text(text)


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
    >>> from permtest.widgets import two_systems
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


# ---- power ---------------------------------------------------------------------------------------

FEWEST, MANY = 5, 5000  # pairs, the ends of the axis of a plan
SIZES = sorted({round(n) for n in np.geomspace(FEWEST, MANY, 43)})  # that a curve is drawn through
WIDEST = 1.5  # standard deviations of the differences that the axis of differences reaches beyond 0
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1)
TARGET = 0.8  # the power that is wanted
EXPERIMENTS = 200  # samples that the exact test is made of at each step


@dataclass(frozen=True)
class Plan:
    """What so many pairs can show, if differences have this mean and this standard deviation.

    Parameters
    ----------
    lead, sd : float
        The true mean difference, and the standard deviation of the differences; above 0.
    n : int
        Number of pairs, at least 2.
    alpha, alternative
        Level of the test, and "two-sided", "greater" or "less".
    power : float
        Of the paired t-test.
    needed : int or None
        How many pairs have a power of 80%; None where there is nothing to find.
    detectable : float
        The mean difference that n pairs find with a power of 80%.
    expected : tuple of two float
        An interval of the confidence level 1 - alpha, were the observed mean and standard deviation
        the true ones.
    exact : PowerCurve or None
        The exact test at n, simulated.

    Examples
    --------
    >>> from permtest.widgets import Plan
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
    power: float
    needed: int | None
    detectable: float
    expected: tuple[float, float]
    exact: PowerCurve | None = None

    @classmethod
    def of(
        cls,
        lead: float,
        sd: float,
        n: int,
        *,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        exact: PowerCurve | None = None,
    ) -> Plan:
        """Everything there is to know; arguments as they are named above."""
        from scipy.special import stdtrit

        level: dict[str, Any] = {"alpha": alpha, "alternative": alternative}
        power = power_t(n, lead, sd, **level)
        detectable = minimum_detectable_effect(n, sd, power=TARGET, **level)
        needed = sample_size(lead, sd, power=TARGET, **level) if lead else None
        reach = -float(stdtrit(n - 1, tail_level(alternative, 1 - alpha))) * sd / sqrt(n)
        expected = one_sided(alternative, lead - reach, lead + reach)
        return cls(lead, sd, n, alpha, alternative, power, needed, detectable, expected, exact)

    def curve(self, sizes: Sequence[int]) -> list[float]:
        """The power of the paired t-test with other numbers of pairs."""
        level: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        return [power_t(n, self.lead, self.sd, **level) for n in sizes]

    def __str__(self) -> str:
        aim, simulated = f"{100 * TARGET:.3g}%", ""
        if self.exact is not None:
            bottom, top = (f"{100 * end:.0f}" for end in self.exact.intervals[0])
            simulated = f" (the exact test, simulated: {bottom} to {top}%)"
        takes = f"{aim} takes {self.needed:,} pairs" if self.needed else "there is nothing to find"
        return (
            f"With {self.n:,} pairs, a mean difference of {digits(self.lead)} and a standard "
            f"deviation of {self.sd:.3g}, the paired t-test ({self.alternative}, level "
            f"{self.alpha:g}) has a power of {100 * self.power:.1f}%{simulated}; {takes}. A "
            f"{100 * (1 - self.alpha):.4g}% interval to expect is {sheet.span(*self.expected)}. "
            f"The smallest mean difference that {self.n:,} pairs find with a power of {aim} is "
            f"{digits(self.detectable)}."
        )


class PowerExplorer(Explorer):
    """Choose a mean difference and a number of pairs; power and interval follow at once.

    The curve is that of the paired t-test, from the noncentral t distribution; the exact test is
    simulated at n alone.

    Parameters
    ----------
    a, b : array_like of shape (N,), optional
        Two systems' scores on the same items, from which the sliders start: at their mean
        difference, at N (5 or 5000, if it is beyond), and for good at the standard deviation of
        their differences. The exact test is simulated with samples of these differences, shifted to
        the chosen mean. `a` may be `Pairs`.
    lead, sd : float, optional
        Mean at first, and standard deviation, of the differences; both are needed where there are
        no scores, and differences are then taken for normal.
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
    n, alpha, alternative : ipywidgets.Widget
        "one-sided" looks for a lead of the sign that the first one has.
    plan : Plan
        What is shown.

    Examples
    --------
    >>> from permtest.widgets import PowerExplorer
    >>> explorer = PowerExplorer(lead=0.1, sd=0.5, n=50)
    >>> explorer.plan.needed, explorer.plan.power < 0.8
    (199, True)
    """

    plan: Plan

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
        self._rng, self._sample, size = rng, None, 100
        if a is not None:
            self._sample = sample = PairedSample.of(a, b, least=2)
            size, lead = sample.n, sample.mean if lead is None else lead
            if sd is not None:
                raise ValueError("sd is that of the scores where there are scores; leave it out")
            if np.ptp(sample.differences) == 0:
                raise ValueError(
                    f"all {size} differences are {sample.differences[0]:g}; power needs some spread"
                )
            sd = float(sample.differences.std(ddof=1))
        if lead is None or sd is None:
            raise ValueError("give scores of two systems, a and b, or lead and sd")
        if not isfinite(lead) or not 0 < sd < np.inf:
            raise ValueError(f"lead={lead} and sd={sd} must be finite, and sd above 0")
        if alpha not in LEVELS:
            raise ValueError(f"alpha={alpha} is not to be chosen; take one of {LEVELS}")
        n = min(max(size, FEWEST), MANY) if n is None else n
        check_range(n=(n, FEWEST, MANY))
        self._sd, self._side, reach = sd, (-1 if lead < 0 else 1), max(sd, 2 * abs(lead))
        low, high = sorted((0.0, self._side * reach))
        look: dict[str, Any] = {"readout_format": ".3g"}
        controls = {
            "lead": slider("Mean difference", float(lead), low, high, reach / 500, **look),
            "n": stops("Pairs", {f"{size:,}": size for size in sorted({*SIZES, n})}, n),
            "alpha": choice("Level", {f"{level:g}": level for level in LEVELS}, alpha),
            "alternative": choice("Test", ("two-sided", "one-sided")),
        }
        places = [(0.1, 0.475, 0.86, 0.405), (0.1, 0.14, 0.86, 0.165)]
        self._open(places, controls, "lead", "n", "alpha alternative")

    def _compute(self) -> tuple[str, str]:
        one = "greater" if self._side > 0 else "less"
        side = one if self.alternative.value == "one-sided" else "two-sided"
        level: dict[str, Any] = {"alpha": self.alpha.value, "alternative": side}
        lead, n = self.lead.value, self.n.value
        how: dict[str, Any] = {"sizes": (n,), "experiments": EXPERIMENTS, "rng": self._rng} | level
        if self._sample is None:
            exact = power_curve_normal(lead, self._sd, **how)
        else:
            # All its binary digits: such samples are put on a lattice that is quick to test.
            delta = None if lead == self._sample.mean else Fraction(lead)
            exact = power_curve(self._sample.pairs, delta=delta, **how)
        self.plan = Plan.of(lead, self._sd, n, exact=exact, **level)
        alt = f"Power against the number of pairs, and the interval to expect of {n}"
        return alt, str(self.plan)

    def _kind(self) -> Hashable:
        return (self.plan.needed or MANY + 1) <= MANY, self.plan.alternative

    def _draw(self) -> None:
        upper, lower = self._axes
        upper.axhline(TARGET, zorder=1, gid="target", **roles.LEVEL.line())
        now = roles.MIRRORED.line(gid="n", label=f"n = {MANY:,}", zorder=1)
        shown: list[Any] = [upper.axvline(0, **now)]
        # The axis of pairs has logarithms, which is quicker than a logarithmic axis.
        curve = roles.CURVES[0].line(gid="power", label="paired t-test")
        shown += upper.plot(np.log10(SIZES), np.zeros(len(SIZES)), **curve)
        look: dict[str, Any] = {"color": roles.CURVES[1].rgba(), "marker": "s", "markersize": 8}
        look |= roles.INTERVAL | {"label": "exact test", "gid": "exact", "markevery": [1]}
        shown += upper.plot([0] * 3, [0] * 3, **look)
        if self._kind()[0]:  # type: ignore[index]
            cross: dict[str, Any] = {"color": roles.ink(), "marker": "X", "markersize": 11}
            cross |= {"linestyle": "none", "zorder": 4, "gid": "needed", "label": "5,000 for 80%"}
            shown += upper.plot([0], [TARGET], **cross)
        upper.set_xlim(log10(FEWEST) - 0.03, log10(MANY) + 0.03)
        upper.set(ylim=(0, 1.03), yticks=[0, 0.5, TARGET, 1], ylabel="power", xlabel="pairs")
        ticks = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
        upper.xaxis.set_major_locator(FixedLocator([log10(tick) for tick in ticks]))
        upper.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{round(10**x):,}"))
        sheet.key(upper, shown)
        reach = self._side * max(WIDEST * self._sd, 1.2 * abs(self.lead.max - self.lead.min))
        lower.set_xlim(*sorted((-reach / 2, reach)))
        lower.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        dot = roles.INTERVAL | roles.HOLDS.dot(lower, gid="interval")
        self._bar = Interval(*lower.plot([0], [0], **dot))
        mark = roles.BROKEN.dot(lower, marker="^", color=roles.ink(), linestyle="none")
        lower.plot([], [], gid="detectable", **mark)
        sheet.name_rows(lower, ["interval", "found"], pad=4)
        sheet.ticks(lower.xaxis, 7)
        lower.set_xlabel("mean difference (triangles: found with a power of 80%)")

    def _paint(self) -> None:
        plan, parts, at = self.plan, self._parts, log10(self.plan.n)
        assert plan.exact is not None
        (low, high), power = plan.exact.intervals[0], plan.exact.power[0]
        parts["n"][0].set_xdata([at, at])
        parts["power"][0].set_ydata(plan.curve(SIZES))
        parts["exact"][0].set_data([at] * 3, [low, power, high])
        texts = words(self._axes[0])
        texts[0].set_text(f"n = {plan.n:,}")
        for cross in parts.get("needed", ()):
            cross.set_xdata([log10(plan.needed or 1)])
            texts[-1].set_text(f"{plan.needed:,} for 80%")
        self._bar.move(plan.expected, plan.lead)
        two = plan.alternative == "two-sided"
        found = [-plan.detectable, plan.detectable] if two else [plan.detectable]
        parts["detectable"][0].set_data(found, [1] * len(found))
