"""What counts say about two models: drag them, and see who is better, and how surely."""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import Any, TypeAlias

import ipywidgets as controls
import numpy as np
from matplotlib.axes import Axes

from permtest.alternatives.bayes import BayesTestResult, bayes_test
from permtest.alternatives.folds import FoldCounts, block_weight, metric_of, ratios
from permtest.alternatives.result import interval_text
from permtest.plots import plot_difference, plot_posteriors
from permtest.plots.sheet import mark_open
from permtest.widgets.frame import Explorer, beside, wide

Counts: TypeAlias = tuple[int, int, int]
Interval: TypeAlias = tuple[float, float]

CELLS = {"tp": "right (tp)", "fp": "wrong (fp)", "fn": "missed (fn)"}
METRICS = ("precision", "recall", "f1", "f2", "f0.5")
PRIORS = (0.5, 1.0, 2.0, 10.0)
WIDEST = 0.05  # half of a region of practical equivalence, unless a wider one is asked for
WHOLE: tuple[Interval, Interval] = ((0.0, 1.0), (-1.0, 1.0))  # axes of the metric, and of B less A
PLACES = (0.2, 0.7, 0.77, 0.28), (0.2, 0.14, 0.77, 0.24)  # of them, in the picture


def close_up(result: BayesTestResult) -> tuple[Interval, Interval]:
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


class PosteriorExplorer(Explorer):
    """Drag the counts of two models; their posteriors, and who is better, follow at once.

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
        Whether `same_gold` holds; at first, if it does for the counts given.
    metric, prior, weight, axes : ipywidgets.Dropdown
    rope : ipywidgets.FloatSlider
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    result : BayesTestResult
        What is shown.

    Notes
    -----
    Axes of values stand still: they are those of a close-up of the first posteriors, until `axes`
    is changed. What is outside is an arrow at the edge. Heights are relative to the highest point.

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
        self._limits = close_up(first)
        self._make_picture(*PLACES)
        self._make_counts(_whole(first.counts_a, "a"), _whole(first.counts_b, "b"))
        self._make_choices(first)
        self._follow(self.metric, self.prior, self.weight, self.rope)
        self.axes.observe(self._on_axes, names="value")
        for control in (*self.counts.values(), self.linked):
            control.observe(self._on_count, names="value")

    @classmethod
    def of(cls, result: BayesTestResult) -> PosteriorExplorer:
        """Start at what `bayes_test` found, the folds added up."""
        options = ("metric", "prior", "weight", "rope", "threshold", "names")
        tables = (result.counts_a.table, result.counts_b.table)
        return cls(*tables, **{name: getattr(result, name) for name in options})

    def _make_counts(self, a: Counts, b: Counts) -> None:
        self._end, columns = _round_up(2 * max(*a, *b)), []
        self.counts: dict[str, Any] = {}
        for letter, values, name in zip("ab", (a, b), self._kept["names"], strict=True):
            column = [controls.HTML(f"<b>{escape(name)}</b>")]
            for (cell, words), value in zip(CELLS.items(), values, strict=True):
                slider = controls.IntSlider(value, 0, self._end, description=words, **wide("6.5em"))
                self.counts[f"{cell}_{letter}"] = slider
                column.append(slider)
            columns.append(controls.VBox(column, layout={"flex": "1 1 300px"}))
        linked = a[0] + a[2] == b[0] + b[2]
        self.linked = controls.Checkbox(linked, indent=False, layout={"width": "98%"})
        self._sliders = beside(*columns)

    def _make_choices(self, first: BayesTestResult) -> None:
        m = 3 if first.n_folds % 2 else first.n_folds // 2
        designs = {first.weight: "as given", 1.0: "a hold-out set"}
        designs |= {block_weight(m): f"{m} x 2 cross-validation", 1 / (2 * m): "the same, cautious"}
        options: dict[str, Any] = {
            "metric": {metric_of(x).title: x for x in dict.fromkeys((*METRICS, first.metric))},
            "prior": {f"{x:g}": x for x in sorted({*PRIORS, first.prior})},
            "weight": {f"{words} (weight {x:.4g})": x for x, words in designs.items()},
            "axes": {"close-up of what is there now": True, "all there can be": False},
        }
        look: dict[str, Any] = {"style": {"description_width": "4em"}, "layout": {"width": "390px"}}
        values = [first.metric, first.prior, first.weight, True]
        self.metric, self.prior, self.weight, self.axes = choices = [
            controls.Dropdown(options=known, value=x, description=name.title(), **look)
            for (name, known), x in zip(options.items(), values, strict=True)
        ]
        ends: dict[str, Any] = {"min": 0.0, "max": max(WIDEST, first.rope), "step": 0.001}
        words: dict[str, Any] = {"description": "Equivalent if within", "readout_format": ".3f"}
        self.rope = controls.FloatSlider(value=first.rope, **ends, **words, **wide("10em"))
        self._stack(self._sliders, self.linked, beside(*choices), self.rope)

    def _on_count(self, change: Any) -> None:
        """Keep the gold standards equal, if they are linked, and update once."""
        if self._quiet:
            return
        if self.linked.value:
            moved = next((x for x, slider in self.counts.items() if slider is change.owner), "")
            first, second = same_gold(*self._chosen(), moved, self._end)
            with self._quietly():
                for slider, value in zip(self.counts.values(), first + second, strict=True):
                    slider.value = value
        self._on_change(change)

    def _on_axes(self, change: Any) -> None:
        self._limits = close_up(self.result) if self.axes.value else WHOLE
        self._on_change(change)

    def _chosen(self) -> tuple[Counts, Counts]:
        a, b, c, d, e, f = (slider.value for slider in self.counts.values())
        return (a, b, c), (d, e, f)

    def _update(self) -> None:
        kinds = ("metric", "prior", "weight", "rope")
        options: dict[str, Any] = {kind: getattr(self, kind).value for kind in kinds}
        a, b = self._chosen()
        self.result = bayes_test(a, b, **options, **self._kept)
        quick = self.result.posterior_a.shifts.size == 1  # F-beta is too slow while a slider moves
        for slider in (*self.counts.values(), self.rope):
            slider.continuous_update = quick
        gold = self.counts["tp_a"].value + self.counts["fn_a"].value
        what = f": {gold:,} to be found" if self.linked.value else ""
        self.linked.description = f"Both judged on the same gold standard{what}"
        names = " and ".join(self.result.names)
        alt = f"What is known of {names}, and of their difference"
        self._show(alt, describe(self.result))

    def _paint(self) -> None:
        upper, lower = self._axes
        plot_posteriors(self.result, ax=upper)
        plot_difference(self.result, ax=lower)
        upper.set_xlabel(self.result.title)
        for ax, limits in zip(self._axes, self._limits, strict=True):
            ax.set_xlim(limits)
            ax.tick_params(axis="y", labelsize=11, pad=12)
            _show_hidden(ax)


def _show_hidden(ax: Axes) -> None:
    """Arrows (gid "open") where intervals go on outside."""
    low, high = ax.get_xlim()
    for line in [x for x in ax.lines if str(x.get_gid()).startswith("interval")]:
        ends, rows = (np.asarray(data) for data in line.get_data())
        for edge, marker, hidden in ((low, "<", ends[0] < low), (high, ">", ends[1] > high)):
            if hidden:
                mark_open(ax, float(rows[0]), edge, marker, line.get_color())


def _whole(counts: FoldCounts, name: str) -> Counts:
    """tp, fp and fn of all folds; sliders hold whole numbers only."""
    totals = counts.totals[[counts.columns.index(cell) for cell in CELLS]]
    for cell, total in zip(CELLS, totals, strict=True):
        if total != round(total):
            raise ValueError(f"{name} has {cell} = {total:g}; sliders need whole numbers")
    tp, fp, fn = map(int, totals)
    return tp, fp, fn


def _round_up(least: float) -> int:
    """100, or the smallest 1, 2 or 5 times a power of ten that is not less."""
    power = 10 ** floor(log10(max(least, 100)))
    return int(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def describe(result: BayesTestResult) -> str:
    """Probabilities, intervals, the decision and what the paper's rule says, in words."""
    (a, b), title = result.names, result.title
    one, other = (interval_text(law.interval()) for law in (result.posterior_a, result.posterior_b))
    rule = f"H1, {b} is better" if result.accepted == "H1" else f"H0, {b} is not better"
    return (
        f"{result} With a probability of 95%, {title} is {one} for {a} and {other} for {b}. The "
        f"rule of Wang and Li, which takes what is more probable than not, says {rule}."
    )
