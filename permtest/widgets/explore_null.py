"""Explorers of one null distribution: samples of it, and its far tail."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log10, sqrt
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from permtest._text import counted
from permtest.exact import exact_perm_test, monte_carlo
from permtest.null.convolution import fft_cells
from permtest.null.distribution import EPS, attainable
from permtest.null.tail import tilt_to
from permtest.plots import roles, sheet
from permtest.plots.null import draw_columns, draw_law, marks, name_of_sum
from permtest.question import ask_of_scores
from permtest.result import PermutationTestResult, answer
from permtest.scores import Scores
from permtest.widgets.frame import Explorer, Names, choice, slider

LARGEST = 20_000  # cells of a law that is drawn at each step

# ---- sampled p-values ----------------------------------------------------------------------------

ALPHA = 0.05
SAMPLES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)  # choices of K
RUNS, SEEDS = 25, 1000  # sampled tests in one picture, and choices of the first seed
REACH = 4.5  # how far the axis of p goes beyond p, in standard errors for the smallest K


class SamplingExplorer(Explorer):
    """Choose the number of random labellings and the seeds; the estimates scatter round p.

    The axis of p-values is the same for all K, so that the intervals are seen to shrink.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, integers, as in `monte_carlo`.
    names : tuple of two str, optional
        The names of the two systems.

    Examples
    --------
    >>> from permtest.widgets import SamplingExplorer
    >>> explorer = SamplingExplorer([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> explorer.K.value = 1000
    >>> {result.n_samples for result in explorer.results}
    {1000}
    """

    results: list[PermutationTestResult]

    def __init__(self, u: Any, v: Any = None, *, names: Names = None) -> None:
        self._scores = Scores.of(u, v, names)
        self.exact = exact_perm_test(self._scores)
        sizes = {f"{k:,}": k for k in SAMPLES}
        controls = {
            "K": choice("Random labellings K", sizes, 200, "SelectionSlider", "11em"),
            "seed": slider("Seed of the first", 0, 0, SEEDS - 1),
        }
        self._open([(0.075, 0.16, 0.885, 0.68)], controls, "K", "seed")

    def _compute(self) -> tuple[str, str]:
        size, first, p = self.K.value, self.seed.value, self.exact.pvalue
        seeds = range(first, first + RUNS)
        self.results = [monte_carlo(self._scores, K=size, rng=seed) for seed in seeds]
        found = sorted(result.pvalue for result in self.results)
        missed = sum(not self._hits(result) for result in self.results)
        wrong = sum((x < ALPHA) != (p < ALPHA) for x in found)
        return f"{RUNS} p-values from {size} random labellings each", (
            f"{RUNS} sampled tests with K = {size:,} labellings each find p-values between "
            f"{found[0]:.3g} and {found[-1]:.3g}; the exact one is {p:.3g}. Theory expects a "
            f"relative standard error of {100 * sqrt((1 - p) / (p * size)):.3g} %. Of the {RUNS} "
            f"tests, {wrong} {'is' if wrong == 1 else 'are'} on the wrong side of {ALPHA:g}, and "
            f"{missed} of the 95% intervals {'misses' if missed == 1 else 'miss'} the exact p."
        )

    def _hits(self, result: PermutationTestResult) -> bool:
        low, high = result.pvalue_interval()
        return low <= self.exact.pvalue <= high

    def _draw(self) -> None:
        (ax,), p = self._axes, self.exact.pvalue
        right = min(max(p + REACH * sqrt(p * (1 - p) / SAMPLES[0]), 2 * ALPHA), 1.0)
        ax.set(xlim=(-0.03 * right, 1.03 * right), ylim=(RUNS - 0.4, -0.6), yticks=[])
        looks: dict[bool, Any] = {
            True: roles.HOLDS.dot(ax, markersize=6, linewidth=1.5),
            False: roles.BROKEN.dot(ax, markersize=8, linewidth=3.5),
        }
        for row, result in enumerate(self.results):
            look = looks[self._hits(result)] | {"gid": "run"}
            sheet.draw_interval(ax, row, result.pvalue_interval(), result.pvalue, **look)
        rule = roles.EQUAL.line(linewidth=2, zorder=1, gid="exact", label=f"exact p = {p:.3g}")
        level = roles.LEVEL.line(zorder=1, gid="level", label=f"level {ALPHA:g}")
        shown = [ax.axvline(p, **rule), ax.axvline(ALPHA, **level)]
        names = {True: "interval contains p", False: "misses p"}
        shown += [Line2D([], [], label=names[hit], **look) for hit, look in looks.items()]
        ax.set(xlabel="p-value", ylabel="one sampled test each")
        sheet.key(ax, shown)


# ---- the far tail --------------------------------------------------------------------------------

STOPS = 1000  # of the slider, at most
SDS_LEFT = 5.0  # how far the axis reaches to the left, in standard deviations


class TailExplorer(Explorer):
    """Drag the observed sum: log p and the tilted law follow at once, however small p is.

    With more than 1000 sums to choose from, the slider has some of them, evenly spaced, and the
    observed one. Above are decimal logarithms of probabilities, below both laws as shares of
    their peaks; a line says how far down a Fourier transform without a tilt can see.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, as in `exact_perm_test`; `u` may be `Scores`.
    statistic : str, default "sum"
        As in `exact_perm_test`.
    names : tuple of two str, optional
        The names of the two systems.

    Examples
    --------
    >>> from permtest.widgets import TailExplorer
    >>> explorer = TailExplorer([1] * 90, [0] * 89 + [2])
    >>> explorer.lead.value = 90
    >>> explorer.result.pvalue_text()
    '1.62e-27'
    """

    result: PermutationTestResult

    def __init__(
        self, u: Any, v: Any = None, *, statistic: str = "sum", names: Names = None
    ) -> None:
        question = ask_of_scores(u, v, statistic=statistic, names=names)
        self._steps = steps = question.law
        if steps.top >= LARGEST:
            raise ValueError(
                f"the sum has {steps.top + 1:,} cells, too many to draw at each step; use fewer "
                "pairs, or divide all scores by the same number and round them"
            )
        self._first = answer(question)
        self._null = null = self._first.null_distribution
        self._noise = max(fft_cells(steps).noise, EPS)  # where nothing is transformed, it has none
        first, possible = max(marks(self._first)), np.flatnonzero(attainable(steps))
        upper = possible[2 * possible >= steps.top]
        thinned = [*upper[:: ceil(upper.size / STOPS)].tolist(), int(upper[-1])]
        values = sorted({*map(null.value, thinned), first})
        options = {sheet.number(value): value for value in values}
        controls = {"lead": choice("Lead", options, first, "SelectionSlider")}
        self._open([(0.125, 0.47, 0.855, 0.35), (0.125, 0.16, 0.855, 0.26)], controls, "lead")

    def _compute(self) -> tuple[str, str]:
        self.result, null, top = self._first.at(self.lead.value), self._null, self._steps.top
        result = self.result
        observed = int(np.searchsorted(null.support, result.observed_sum))
        cell = max(observed, top - observed)
        tau = tilt_to(self._steps, min(cell, top - 1))  # at the very end it would be infinite
        logs = null.log_pmf + tau * (np.arange(top + 1) - cell)
        logs = logs - np.logaddexp.reduce(logs)
        self.tau = tau / float(null.step)  # for a sum that is larger by one unit
        self.tilted = replace(null, pmf=np.exp(logs), log_cells=logs)
        alt = "Null law of {} minus {} and the law tilted to its tail".format(*result.names)
        lead = counted(self.lead.value, result.unit)
        spread, bound = null.std(), result.error_bound
        start = f"A lead of {lead}, for either system, has p = {result.pvalue_text()}"
        if not spread:
            return alt, f"{start}: no swap changes anything."
        seen = null.pmf[observed] > self._noise
        sight = "can still resolve the cells" if seen else "sees only its own noise"
        return alt, (
            f"{start} (log10 p = {result.log10_pvalue:.4f}; p is "
            f"{f'off by a factor of at most 1 ± {bound:.0e}' if bound else 'exact'}). It is "
            f"{abs(result.observed_sum - null.mean()) / spread:.3g} standard deviations out, "
            f"where an FFT without a tilt {sight}. Tilted by a factor of "
            f"{np.exp(self.tau):.3g} per {result.unit.removesuffix('s')}, the law has its "
            f"mean at {sheet.signed(self.tilted.mean(), 4)} and a standard deviation of "
            f"{self.tilted.std():.3g}."
        )

    def _draw(self) -> None:
        null, tilted, result, (upper, lower) = self._null, self.tilted, self.result, self._axes
        step, (low, high) = float(null.step), (float(x) for x in null.support[[0, -1]])
        edges = low + step * (np.arange(null.pmf.size + 1) - 0.5)
        logs, reached = null.log_pmf / np.log(10), null.log_pmf > -np.inf
        bottom = min(1.06 * float(logs[reached].min()), 1.2 * log10(self._noise))
        kinds = {"null": reached & ~result.extreme, "extreme": reached & result.extreme}
        parts = {gid: np.where(kind, logs, np.nan) for gid, kind in kinds.items()}
        shown = draw_law(upper, result, parts, edges, bottom)
        heights = np.maximum(tilted.log_pmf / np.log(10), 2 * bottom)[reached]
        line = roles.TILTED.line(gid="tilted", label="tilted law")
        shown += upper.plot(null.support[reached], heights, **line)
        line = roles.THEORY.line(gid="noise", label="FFT noise")
        shown.append(upper.axhline(log10(self._noise), **line))
        upper.set(ylim=(bottom, -0.06 * bottom), ylabel="probability")
        sheet.ticks(upper.yaxis, 4, lambda k: f"1e{k:.0f}" if k else "1", whole=True)
        draw_columns(lower, null.pmf / null.pmf.max(), edges, 0.0, roles.NULL, gid="null")
        look = {"fill": False, "edgecolor": roles.TILTED.rgba(), "linewidth": 2, "gid": "tilted"}
        draw_columns(lower, tilted.pmf / tilted.pmf.max(), edges, 0.0, roles.TILTED, **look)
        lower.set(ylim=(0, 1.12), yticks=[0, 0.5, 1], ylabel="share of\nthe peak")
        left, lead = null.mean() - SDS_LEFT * null.std(), self.lead.value
        for ax in self._axes:
            line = roles.OBSERVED.line(gid="observed", label=f"lead {sheet.number(lead)}")
            observed = ax.axvline(lead, **line)
            sheet.fit(ax, [max(low, left) - step / 2, high + step / 2], 0.02)
            sheet.ticks(ax.xaxis, 8, sheet.signed)
        upper.tick_params(labelbottom=False)
        sheet.literal(lower.xaxis.label, name_of_sum(result), lower)
        sheet.key(upper, [*shown, observed])
