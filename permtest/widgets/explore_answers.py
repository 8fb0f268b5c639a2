"""Explorers of other answers: who knows of the correlation, how many items, how surely better."""

from __future__ import annotations

from html import escape
from math import log10, sqrt
from typing import Any, TypeAlias

import ipywidgets
import numpy as np

from permtest.alternatives import independent_t, paired_t
from permtest.alternatives.bayes import BayesTestResult, bayes_test
from permtest.alternatives.folds import METRICS, block_weight
from permtest.alternatives.means import t_quantile
from permtest.alternatives.registry import as_floats, correlation, scores_of
from permtest.exact import exact_perm_test
from permtest.plots import plot_posteriors, roles, sheet
from permtest.scores import Scores
from permtest.study import minimum_detectable_effect, power_t, sample_size
from permtest.study.describe import deviation
from permtest.widgets.frame import Explorer, beside, choice, slider

MEAN, SD, LARGEST = 50, 10, 6.0  # of the scores of either system, and lead, in points
MOST = 200  # items


class AssumptionsExplorer(Explorer):
    """Drag the correlation of two systems; tests that know of it and one that does not disagree.

    Scores of both systems have the standard deviation 10. Source: Yeh (2000), sec. 2.1.

    Examples
    --------
    >>> from permtest.widgets import AssumptionsExplorer
    >>> explorer = AssumptionsExplorer()
    >>> explorer.exact.pvalue < 0.05 < explorer.independent.pvalue
    True
    """

    def __init__(self) -> None:
        controls = {
            "r12": slider("Correlation r12", 0.8, -0.5, 0.95, 0.01),
            "n": slider("Items", 50, 10, MOST),
            "lead": slider("Lead (points)", 2.0, 0.0, LARGEST, 0.1, readout_format=".1f"),
        }
        places = [(0.09, 0.15, 0.36, 0.75), (0.63, 0.15, 0.35, 0.75)]
        self._open(places, controls, "r12", "n", "lead")

    def _compute(self) -> tuple[str, str]:
        # Normal scores whose moments are those that are asked for, always of the same seed.
        r12, n = self.r12.value, self.n.value
        numbers = np.random.default_rng(0).standard_normal((MOST, 2))[:n]
        x, y = (sqrt(n - 1) * np.linalg.qr(numbers - numbers.mean(axis=0))[0]).T
        common, own = sqrt((1 + r12) / 2) * x, sqrt((1 - r12) / 2) * y
        both = MEAN + self.lead.value + SD * (common + own), MEAN + SD * (common - own)
        first, second = np.round(both, 1)
        self.scores = Scores.of(first, second, ("new", "old"))
        self.exact, self.paired = exact_perm_test(self.scores), paired_t(self.scores)
        self.independent = independent_t(self.scores)
        spread, believed = (
            float(result.details["standard_error"]) * sqrt(n)
            for result in (self.paired, self.independent)
        )
        return f"Scores of two systems on {n} items, and the p-values of three tests", (
            f"The scores have correlation r12 = {correlation(self.scores):.2f}, so their "
            f"difference has a standard deviation of {spread:.1f} points. A test that assumes "
            f"independent systems uses {believed:.1f}, {believed / spread:.2f} times as much. "
            f"new is {self.paired.estimate:.2f} points ahead of old, on {n} items: "
            f"p = {self.exact.pvalue_text()} by the exact permutation test, "
            f"{self.paired.pvalue_text()} by the paired t-test, and "
            f"{self.independent.pvalue_text()} by the two-sample t-test."
        )

    def _draw(self) -> None:
        (cloud, leads), scores = self._axes, self.scores
        ends, at = (MEAN - 4 * SD, MEAN + 4 * SD + LARGEST), [20, 40, 60, 80]
        cloud.set(xlim=ends, ylim=ends, xticks=at, yticks=at)
        dots = roles.CURVE.dot(cloud, markersize=5, linestyle="none", alpha=0.7, gid="items")
        cloud.plot(*(as_floats(x, scores.scale) for x in (scores.v, scores.u)), **dots)
        cloud.plot(ends, ends, gid="equal", **roles.EQUAL.line())
        cloud.set(xlabel="score of old", ylabel="score of new")
        cloud.set_title(f"{len(scores)} items, r12 = {correlation(scores):.2f}", loc="left")
        leads.set(xlim=(-15, 20), xlabel="mean difference")
        leads.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        leads.set_title(f"exact p = {self.exact.pvalue_text()}", loc="left")
        sheet.name_rows(leads, ["paired t", "two-sample t"], pad=4)
        sheet.ticks(leads.xaxis, 4)
        both = (self.paired, roles.HOLDS), (self.independent, roles.BROKEN)
        for row, (result, role) in enumerate(both):
            interval, look = result.confidence_interval()[:2], role.dot(leads, gid="interval")
            sheet.draw_interval(leads, row, interval, result.estimate, **look)
            leads.text(1.5, row + 0.22, f"p = {result.pvalue_text()}", gid="p")


SIZES = sorted({round(n) for n in np.geomspace(5, 5000, 43)})  # pairs that have a place on the axis
TICKS = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1)
TARGET = 0.8  # the power that is wanted


class PowerExplorer(Explorer):
    """Choose a mean difference and a number of pairs; power and interval follow at once.

    Power is that of the two-sided paired t-test, from the noncentral t distribution.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Two systems' scores on the same items, from which the sliders start: at their mean
        difference, at N, and for good at the standard deviation of their differences.
    lead : float, optional
        Another mean difference to start from.

    Examples
    --------
    >>> from permtest.widgets import PowerExplorer
    >>> explorer = PowerExplorer([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5])
    >>> explorer.needed, explorer.power < 0.8
    (18, True)
    """

    def __init__(self, a: Any, b: Any = None, *, lead: float | None = None) -> None:
        scores = scores_of(a, b, least=2)
        mean = float(as_floats(scores.differences(), scores.scale).mean())
        lead = mean if lead is None else float(lead)
        self._sd = deviation(scores.differences(), scores.scale)
        if not self._sd:
            raise ValueError(f"all {len(scores)} differences are {lead:g}; power needs some spread")
        n = min(max(len(scores), SIZES[0]), SIZES[-1])
        reach = max(self._sd, 2 * abs(lead))
        low, high = (-reach, 0.0) if lead < 0 else (0.0, reach)
        form, sizes = {"readout_format": ".3g"}, {f"{size:,}": size for size in sorted({*SIZES, n})}
        controls = {
            "lead": slider("Mean difference", lead, low, high, reach / 500, **form),
            "n": choice("Pairs", sizes, n, "SelectionSlider", "11em"),
            "alpha": choice("Level", LEVELS, 0.05),
        }
        places = [(0.1, 0.43, 0.86, 0.45), (0.1, 0.14, 0.86, 0.12)]
        self._open(places, controls, "lead", "n", "alpha")

    def _compute(self) -> tuple[str, str]:
        alpha, lead, sd, n = self.alpha.value, self.lead.value, self._sd, self.n.value
        self.power = power_t(n, lead, sd, alpha=alpha)
        self.needed = sample_size(lead, sd, power=TARGET, alpha=alpha) if lead else None
        self.detectable = minimum_detectable_effect(n, sd, power=TARGET, alpha=alpha)
        reach = t_quantile(alpha / 2, n - 1) * sd / sqrt(n)
        self.expected = lead - reach, lead + reach
        takes = f"80% takes {self.needed:,} pairs" if self.needed else "there is nothing to find"
        return f"Power against the number of pairs, and the interval to expect with {n}", (
            f"With {n:,} pairs, a mean difference of {sheet.number(lead, 3)} and a standard "
            f"deviation of {sd:.3g}, the paired t-test (level {alpha:g}) has a power of "
            f"{100 * self.power:.1f}%; {takes}. Expect a {100 * (1 - alpha):.4g}% interval of "
            f"{sheet.span(*self.expected)}. The smallest mean difference that {n:,} pairs detect "
            f"with a power of 80% is {sheet.number(self.detectable, 3)}."
        )

    def _draw(self) -> None:
        (upper, lower), lead, needed = self._axes, self.lead.value, self.needed
        # The axis of pairs has logarithms, which is quicker than a logarithmic axis.
        upper.axhline(TARGET, zorder=1, gid="target", **roles.LEVEL.line())
        now = roles.MIRRORED.line(gid="n", label=f"n = {self.n.value:,}", zorder=1)
        shown: list[Any] = [upper.axvline(log10(self.n.value), **now)]
        powers = [power_t(n, lead, self._sd, alpha=self.alpha.value) for n in SIZES]
        curve = roles.CURVE.line(gid="power", label="paired t-test")
        shown += upper.plot(np.log10(SIZES), powers, **curve)
        if needed and needed <= SIZES[-1]:
            cross: dict[str, Any] = {"color": roles.ink(), "marker": "X", "markersize": 11}
            cross |= {"linestyle": "none", "zorder": 4, "gid": "needed"}
            shown += upper.plot([log10(needed)], [TARGET], label=f"{needed:,} for 80%", **cross)
        upper.set(xlim=np.log10([4.6, 5400]), ylim=(0, 1.03), yticks=[0, 0.5, TARGET, 1])
        upper.set(ylabel="power", xlabel="pairs")
        upper.set_xticks(np.log10(TICKS), [f"{tick:,}" for tick in TICKS])
        sheet.key(upper, shown)
        sheet.fit(lower, (self.lead.min - self._sd / 2, self.lead.max + self._sd / 2))
        lower.axvline(0, zorder=1, gid="null", **roles.EQUAL.line())
        dot = roles.HOLDS.dot(lower, gid="interval")
        sheet.draw_interval(lower, 0, self.expected, lead, **dot)
        lower.set(ylim=(-1, 1), yticks=[], xlabel="mean difference, and the interval to expect")
        sheet.ticks(lower.xaxis, 7)


Ends: TypeAlias = tuple[float, float]

COUNTS = {"tp": "right (tp)", "fp": "wrong (fp)", "gold": "to be found"}
PRIORS = (0.5, 1.0, 2.0, 10.0)
WIDEST_ROPE = 0.05  # half of a region of practical equivalence, unless a wider one is asked for


class PosteriorExplorer(Explorer):
    """Drag the counts of two models; their posteriors, and who is better, follow at once.

    Axes of values stand still until an interval leaves them. Heights are relative to the highest
    point. What is to be found, tp + fn, stays the same for both if it is so at first. A count that
    the chosen metric does not look at cannot be moved: for recall, what is wrong.

    Parameters
    ----------
    a, b : array_like of shape (3,) or (folds, 3), default (80, 20, 30) and (88, 18, 22)
        tp, fp and fn of both models at first, whole numbers; folds are added up.
    **options : object
        As in `bayes_test`, at first: metric, of tp, fp and fn; prior, weight and rope; and for good
        names. The weight is by default that of the design of the folds.

    Examples
    --------
    >>> from permtest.widgets import PosteriorExplorer
    >>> explorer = PosteriorExplorer((90, 10, 20), (95, 9, 15))
    >>> explorer.counts["tp_b"].value = 107
    >>> round(explorer.result.p_h1, 3)
    0.999
    """

    result: BayesTestResult

    def __init__(self, a: Any = (80, 20, 30), b: Any = (88, 18, 22), **options: Any) -> None:
        first = bayes_test(a, b, **options)
        metrics = {x.title: name for name, x in METRICS.items() if name != "accuracy"}
        metric, self._names = choice("Metric", metrics, first.metric), first.names
        self._limits = _close_up(first)
        both = np.array([np.sum(counts, axis=0) for counts in (first.counts_a, first.counts_b)])
        if np.any(both != np.rint(both)):
            raise ValueError(f"the counts are {both.tolist()}; sliders need whole ones")
        both[:, 2] += both[:, 0]
        self._same = both[0, 2] == both[1, 2]
        end = max(100, int(2 * both.max()))
        self.counts = {
            f"{count}_{letter}": slider(text, int(value), 0, end, label="6.5em")
            for letter, values in zip("ab", both, strict=True)
            for (count, text), value in zip(COUNTS.items(), values, strict=True)
        }
        sliders, columns = list(self.counts.values()), []
        for name, column in zip(first.names, (sliders[:3], sliders[3:]), strict=True):
            heading = ipywidgets.HTML(f"<b>{escape(name)}</b>")
            columns.append(ipywidgets.VBox([heading, *column], layout={"flex": "1 1 300px"}))
        designs = {block_weight(3): "3 x 2 cross-validation", 1.0: "a hold-out set"}
        designs = {first.weight: "as given"} | designs
        weights = {f"{text} (weight {x:.4g})": x for x, text in designs.items()}
        priors = {f"{x:g}": x for x in sorted({*PRIORS, first.prior})}
        widest, form = max(WIDEST_ROPE, first.rope), {"readout_format": ".3f"}
        others = {
            "metric": metric,
            "prior": choice("Prior", priors, first.prior),
            "weight": choice("Weight", weights, first.weight),
            "rope": slider("Equivalent if within", first.rope, 0.0, widest, 0.001, **form),
        }
        places = [(0.05, 0.28, 0.43, 0.51), (0.55, 0.28, 0.43, 0.51)]
        rows = [beside(*columns), "metric prior weight", "rope"]
        self._open(places, self.counts | others, *rows, size=(sheet.NARROW, 3.4))

    def _settle(self, moved: Any) -> None:
        """As much is to be found by both, and no more than that is found."""
        golds = self.counts["gold_a"], self.counts["gold_b"]
        if moved in golds and self._same:
            golds[0].value = golds[1].value = moved.value
        for gold, found in zip(golds, (self.counts["tp_a"], self.counts["tp_b"]), strict=True):
            found.value = min(found.value, gold.value)

    def _compute(self) -> tuple[str, str]:
        kinds = ("metric", "prior", "weight", "rope")
        options: dict[str, Any] = {kind: getattr(self, kind).value for kind in kinds}
        options["names"] = self._names
        counts = np.reshape([bar.value for bar in self.counts.values()], (2, 3)).tolist()
        first, second = ((tp, fp, gold - tp) for tp, fp, gold in counts)
        self.result = result = bayes_test(first, second, **options)
        metric = [*result.posterior_a.interval(), *result.posterior_b.interval()]
        shown = zip((metric, result.difference.interval()), self._limits, strict=True)
        if any(min(x) < low or max(x) > high for x, (low, high) in shown):
            self._limits = _close_up(result)
        of = METRICS[result.metric]
        for count, *uses in zip(COUNTS, of.hits, of.misses, strict=True):
            for letter in "ab":
                self.counts[f"{count}_{letter}"].disabled = not any(uses)
        alt = "Posteriors of {} and {}, and of their difference".format(*result.names)
        return alt, str(result)

    def _draw(self) -> None:
        (upper, lower), result = self._axes, self.result
        plot_posteriors(result, ax=upper)
        upper.set(xlim=self._limits[0], xlabel=result.title)
        law, rope, chances = result.difference, result.rope, result.chances(2)
        values = np.linspace(*law.interval(0.998), 161)
        heights = law.pdf(values)
        top = float(np.sort(heights[np.isfinite(heights)])[-3])  # a pole is a point or two wide
        area = np.minimum(heights, 2 * top)
        lower.axvspan(-rope, rope, color=roles.BAND, linewidth=0, zorder=0)
        sides = ("a", roles.A, values <= -rope), ("b", roles.B, values >= rope)
        shown = []
        for (letter, role, where), name in zip(sides, result.names, strict=True):
            look = role.area(lower, facecolor=role.rgba(0.6), linewidth=0)
            look["label"] = f"{name} better: {chances[letter]}"
            shown.append(lower.fill_between(values, area, where=where, **look))
        lower.plot(values, heights, color=roles.ink(), gid="density")
        lower.axvline(0, **roles.EQUAL.line())
        lower.set(xlim=self._limits[1], ylim=(-0.2 * top, 1.08 * top), yticks=[], ylabel="density")
        look = {"marker": "o", "gid": "interval"}
        sheet.draw_interval(lower, -0.1 * top, law.interval(), law.mean(), **look)
        sheet.ticks(lower.xaxis, 5)
        words = "difference of {}, {} minus {}".format(result.title, *result.names[::-1])
        sheet.literal(lower.xaxis.label, words, lower)
        sheet.key(lower, shown)


def _close_up(result: BayesTestResult) -> tuple[Ends, Ends]:
    """Limits with some room around the intervals, of the metric and of the difference."""
    ends = [*result.posterior_a.interval(), *result.posterior_b.interval()]
    room = 0.75 * (max(ends) - min(ends))
    far = min(1.0, 1.8 * max(*map(abs, result.difference.interval()), result.rope))
    return (max(0.0, min(ends) - room), min(1.0, max(ends) + room)), (-far, far)
