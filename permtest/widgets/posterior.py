"""What counts say about two models: drag them, and see who is better, and how surely."""

from __future__ import annotations

from collections.abc import Hashable
from html import escape
from math import floor, log10
from typing import Any, TypeAlias

import ipywidgets
import numpy as np

from permtest.alternatives.bayes import bayes_test
from permtest.alternatives.bayes_result import BayesTestResult
from permtest.alternatives.folds import FoldCounts, block_weight, metric_of, ratios
from permtest.alternatives.result import interval_text
from permtest.plots import plot_difference, plot_posteriors
from permtest.plots.bayes import density, density_of_difference
from permtest.widgets.frame import Explorer, Interval, beside, choice, slider, words

Counts: TypeAlias = tuple[int, int, int]
Ends: TypeAlias = tuple[float, float]

CELLS = {"tp": "right (tp)", "fp": "wrong (fp)", "fn": "missed (fn)"}
METRICS = ("precision", "recall", "f1", "f2", "f0.5")
PRIORS = (0.5, 1.0, 2.0, 10.0)
WIDEST = 0.05  # half of a region of practical equivalence, unless a wider one is asked for
WHOLE: tuple[Ends, Ends] = ((0.0, 1.0), (-1.0, 1.0))  # axes of the metric, and of B less A
LEVEL = 0.95  # of the intervals


class PosteriorExplorer(Explorer):
    """Drag the counts of two models; their posteriors, and who is better, follow at once.

    Axes of values stand still: they are those of a close-up of the first posteriors, until `axes`
    is changed. What is outside is an arrow at the edge. Heights are relative to the highest point.

    Parameters
    ----------
    a, b : array_like of shape (3,) or (folds, 3), default (80, 20, 30) and (88, 18, 22)
        tp, fp and fn of both models at first, whole numbers; folds are added up.
    **options : object
        As in `bayes_test`, at first: metric, of tp, fp and fn; prior, weight and rope; and for good
        threshold and names. The weight is by default that of the design of the folds.

    Attributes
    ----------
    counts : dict of str to ipywidgets.IntSlider
        "tp_a", "fp_a", "fn_a", "tp_b", "fp_b" and "fn_b". A number can be typed, too.
    linked : ipywidgets.Checkbox
        Whether both have as much to find, tp + fn: one hit more is one miss less, and one miss more
        is one for both. At first, if it is so for the counts given.
    metric, prior, weight, axes, rope : ipywidgets.Widget
    result : BayesTestResult
        What is shown.

    Examples
    --------
    >>> from permtest.widgets import PosteriorExplorer
    >>> explorer = PosteriorExplorer((90, 10, 20), (95, 9, 15))
    >>> explorer.counts["tp_b"].value = 107
    >>> explorer.counts["fn_b"].value, explorer.result.decision
    (3, 'b better')
    """

    result: BayesTestResult

    def __init__(self, a: Any = (80, 20, 30), b: Any = (88, 18, 22), **options: Any) -> None:
        first = bayes_test(a, b, **options)
        if CELLS.keys() not in [set(ratio.columns) for ratio in ratios(metric_of(first.metric))]:
            raise ValueError(f"metric={first.metric!r} takes more than tp, fp, fn; sliders do not")
        self._kept: dict[str, Any] = {"threshold": first.threshold, "names": first.names}
        self._limits = _close_up(first)
        values = dict(zip("ab", (_whole(first.counts_a, "a"), _whole(first.counts_b, "b"))))
        least = max(100, 2 * max(*values["a"], *values["b"]))
        power = 10 ** floor(log10(least))
        self._end = int(next(step * power for step in (1, 2, 5, 10) if step * power >= least))
        self.counts = {
            f"{cell}_{letter}": slider(text, value, 0, self._end, style=NARROW)
            for letter, counts in values.items()
            for (cell, text), value in zip(CELLS.items(), counts, strict=True)
        }
        linked = len({tp + fn for tp, _, fn in values.values()}) == 1
        controls = self.counts | _choices(first)
        controls["linked"] = ipywidgets.Checkbox(linked, indent=False, layout={"width": "98%"})
        sliders = list(self.counts.values())
        columns = [
            ipywidgets.VBox(
                [ipywidgets.HTML(f"<b>{escape(name)}</b>"), *column], layout={"flex": "1 1 300px"}
            )
            for name, column in zip(first.names, (sliders[:3], sliders[3:]), strict=True)
        ]
        rows = [beside(*columns), "linked", "metric prior weight axes", "rope"]
        self._open([(0.2, 0.7, 0.77, 0.28), (0.2, 0.14, 0.77, 0.24)], controls, *rows)

    @classmethod
    def of(cls, result: BayesTestResult) -> PosteriorExplorer:
        """Start at what `bayes_test` found, the folds added up."""
        options = ("metric", "prior", "weight", "rope", "threshold", "names")
        tables = (result.counts_a.table, result.counts_b.table)
        return cls(*tables, **{name: getattr(result, name) for name in options})

    def _settle(self, moved: Any) -> None:
        """Keep the gold standards equal, if they are linked; choose the axes."""
        if moved is self.axes:
            self._limits = _close_up(self.result) if self.axes.value else WHOLE
        elif self.linked.value and moved in (*self.counts.values(), self.linked):
            name = next((x for x, bar in self.counts.items() if bar is moved), "")
            first, second = same_gold(*self._chosen(), name, self._end)
            for bar, value in zip(self.counts.values(), first + second, strict=True):
                bar.value = value

    def _chosen(self) -> tuple[Counts, Counts]:
        a, b, c, d, e, f = (bar.value for bar in self.counts.values())
        return (a, b, c), (d, e, f)

    def _compute(self) -> tuple[str, str]:
        kinds = ("metric", "prior", "weight", "rope")
        options: dict[str, Any] = {kind: getattr(self, kind).value for kind in kinds}
        self.result = result = bayes_test(*self._chosen(), **options, **self._kept)
        quick = result.posterior_a.shifts.size == 1  # F-beta is too slow while a slider moves
        for bar in (*self.counts.values(), self.rope):
            bar.continuous_update = quick
        gold = self.counts["tp_a"].value + self.counts["fn_a"].value
        what = f": {gold:,} to be found" if self.linked.value else ""
        self.linked.description = f"Both judged on the same gold standard{what}"
        (a, b), laws = result.names, (result.posterior_a, result.posterior_b)
        one, other = (interval_text(law.interval()) for law in laws)
        rule = f"H1, {b} is better" if result.accepted == "H1" else f"H0, {b} is not better"
        return f"What is known of {a} and {b}, and of their difference", (
            f"{result} With a probability of 95%, {result.title} is {one} for {a} and {other} for "
            f"{b}. The rule of Wang and Li, which takes what is more probable than not, says "
            f"{rule}."
        )

    def _kind(self) -> Hashable:
        return self.result.metric, bool(self.result.rope), self._limits

    def _draw(self) -> None:
        upper, lower = self._axes
        plot_posteriors(self.result, ax=upper)
        plot_difference(self.result, ax=lower)
        upper.set_xlabel(self.result.title)
        for ax, limits in zip(self._axes, self._limits, strict=True):
            ax.set_xlim(limits)
            ax.tick_params(axis="y", labelsize=11, pad=12)
        rows = ((upper, "interval a"), (upper, "interval b"), (lower, "interval"))
        self._bars = [
            Interval(next(line for line in ax.lines if line.get_gid() == gid)) for ax, gid in rows
        ]
        # Heights are scaled to those that were drawn, so that the axes stay as they are.
        self._tops = [ax.get_ylim()[1] / 1.08 for ax in self._axes]

    def _paint(self) -> None:
        result, parts = self.result, self._parts
        laws = dict(zip("ab", (result.posterior_a, result.posterior_b), strict=True))
        curves = {letter: density(law, LEVEL) for letter, law in laws.items()}
        unit = self._tops[0] / max(curve.top for curve in curves.values())
        for bar, (letter, curve) in zip(self._bars, curves.items(), strict=False):
            parts[letter][0].set_data(curve.values, unit * curve.heights)
            bar.move(curve.interval)
            for mark in parts.get(f"mode {letter}", ()):
                mark.set_xdata([laws[letter].mode()])
        curve, rope = density_of_difference(result, LEVEL), result.rope
        heights = self._tops[1] / curve.top * np.minimum(curve.heights, 2 * curve.top)
        parts["density"][0].set_data(curve.values, heights)
        mean = result.difference.mean()
        self._bars[2].move(curve.interval)
        parts["mean"][0].set_xdata([mean])
        areas = {"a better": (-1.0, -rope), "equivalent": (-rope, rope), "b better": (rope, 1.0)}
        for gid, (low, high) in areas.items():
            inside = (curve.values >= low) & (curve.values <= high)
            x = curve.values[inside]
            ground = np.column_stack((x, np.zeros(x.size)))[::-1]
            for area in parts.get(gid, ()):
                area.set_verts([np.vstack((np.column_stack((x, heights[inside])), ground))])
        for band in parts.get("rope", ()):
            band.set(x=-rope, width=2 * rope)
        chances = result.chances(2)
        for text, who in zip(
            words(self._axes[1]), ("a", "neither", "b") if rope else "ab", strict=True
        ):
            before = text.get_text().rpartition(": ")[0]
            text.set_text(f"{before}: {chances[who]}")


NARROW = {"description_width": "6.5em"}


def _choices(first: BayesTestResult) -> dict[str, Any]:
    """The other controls, at what was asked for."""
    m = 3 if first.n_folds % 2 else first.n_folds // 2
    designs = {first.weight: "as given", 1.0: "a hold-out set"}
    designs |= {block_weight(m): f"{m} x 2 cross-validation", 1 / (2 * m): "the same, cautious"}
    options: dict[str, Any] = {
        "metric": {metric_of(x).title: x for x in dict.fromkeys((*METRICS, first.metric))},
        "prior": {f"{x:g}": x for x in sorted({*PRIORS, first.prior})},
        "weight": {f"{text} (weight {x:.4g})": x for x, text in designs.items()},
        "axes": {"close-up of what is there now": True, "all there can be": False},
    }
    values = [first.metric, first.prior, first.weight, True]
    look: dict[str, Any] = {"label": "4em", "layout": {"width": "390px"}}
    found = {
        name: choice(name.title(), known, value, **look)
        for (name, known), value in zip(options.items(), values, strict=True)
    }
    end, form = max(WIDEST, first.rope), {"readout_format": ".3f"}
    return found | {"rope": slider("Equivalent if within", first.rope, 0.0, end, 0.001, **form)}


def _close_up(result: BayesTestResult) -> tuple[Ends, Ends]:
    """Limits with some room around the intervals, of the metric and of the difference."""
    ends = [end for law in (result.posterior_a, result.posterior_b) for end in law.interval()]
    room = 0.75 * (max(ends) - min(ends))
    far = min(1.0, 1.8 * max(*map(abs, result.difference.interval()), result.rope))
    return (max(0.0, min(ends) - room), min(1.0, max(ends) + room)), (-far, far)


def same_gold(a: Counts, b: Counts, moved: str, end: int) -> tuple[Counts, Counts]:
    """Counts, from 0 to `end`, of models judged on the same items: with the same tp + fn.

    Where "tp_a" or "tp_b" has `moved`, that model misses as many fewer; where "fn_a" or "fn_b" has,
    there is more to be found for both; else the larger gold standard is that of both.
    """
    tps, golds = [a[0], b[0]], [a[0] + a[2], b[0] + b[2]]
    gold = max(golds)
    if moved:
        which = "ab".index(moved[-1])
        gold = golds[which if moved.startswith("fn") else 1 - which]
        if moved.startswith("tp"):
            tps[which] = min(max(tps[which], gold - end), gold)
    gold = min(max(gold, *tps), end + min(tps))
    return (tps[0], a[1], gold - tps[0]), (tps[1], b[1], gold - tps[1])


def _whole(counts: FoldCounts, name: str) -> Counts:
    """tp, fp and fn of all folds; sliders hold whole numbers only."""
    totals = counts.totals[[counts.columns.index(cell) for cell in CELLS]]
    for cell, total in zip(CELLS, totals, strict=True):
        if total != round(total):
            raise ValueError(f"{name} has {cell} = {total:g}; sliders need whole numbers")
    tp, fp, fn = map(int, totals)
    return tp, fp, fn
