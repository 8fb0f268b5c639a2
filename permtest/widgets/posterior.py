"""What counts say about two models: drag them, and see who is better, and how surely."""

from __future__ import annotations

from html import escape
from typing import Any, TypeAlias

import ipywidgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from permtest.alternatives.bayes import BayesTestResult, bayes_test
from permtest.alternatives.folds import METRICS, block_weight
from permtest.plots import plot_posteriors, roles, sheet
from permtest.widgets.frame import Explorer, beside, choice, slider

Ends: TypeAlias = tuple[float, float]

COUNTS = {"tp": "right (tp)", "fp": "wrong (fp)", "gold": "to be found"}
PRIORS = (0.5, 1.0, 2.0, 10.0)
WIDEST = 0.05  # half of a region of practical equivalence, unless a wider one is asked for


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
        if first.metric == "accuracy":
            raise ValueError(
                "metric='accuracy' needs right and wrong items, but the sliders have only tp, fp "
                "and fn; choose 'precision', 'recall' or 'f1'"
            )
        self._kept: dict[str, Any] = {"names": first.names}
        self._limits = _close_up(first)
        both = _whole(first.counts_a, "a"), _whole(first.counts_b, "b")
        self._same = both[0][2] == both[1][2]
        end = max(100, 2 * max(*both[0], *both[1]))
        self.counts = {
            f"{count}_{letter}": slider(text, value, 0, end, label="6.5em")
            for letter, values in zip("ab", both, strict=True)
            for (count, text), value in zip(COUNTS.items(), values, strict=True)
        }
        sliders, columns = list(self.counts.values()), []
        for name, column in zip(first.names, (sliders[:3], sliders[3:]), strict=True):
            heading = ipywidgets.HTML(f"<b>{escape(name)}</b>")
            columns.append(ipywidgets.VBox([heading, *column], layout={"flex": "1 1 300px"}))
        metrics = {x.title: name for name, x in METRICS.items() if name != "accuracy"}
        folds = len(first.counts_a)
        m = 3 if folds % 2 else folds // 2
        designs = {first.weight: "as given", 1.0: "a hold-out set"}
        designs |= {block_weight(m): f"{m} x 2 cross-validation", 1 / (2 * m): "the same, cautious"}
        weights = {f"{text} (weight {x:.4g})": x for x, text in designs.items()}
        priors = {f"{x:g}": x for x in sorted({*PRIORS, first.prior})}
        widest, form = max(WIDEST, first.rope), {"readout_format": ".3f"}
        others = {
            "metric": choice("Metric", metrics, first.metric),
            "prior": choice("Prior", priors, first.prior),
            "weight": choice("Weight", weights, first.weight),
            "rope": slider("Equivalent if within", first.rope, 0.0, widest, 0.001, **form),
        }
        rows = [beside(*columns), "metric prior", "weight", "rope"]
        places = [(0.06, 0.66, 0.91, 0.26), (0.06, 0.14, 0.91, 0.26)]
        self._open(places, self.counts | others, *rows)

    @classmethod
    def of(cls, result: BayesTestResult) -> PosteriorExplorer:
        """Start at what `bayes_test` found, the folds added up."""
        options = ("metric", "prior", "weight", "rope", "names")
        both = result.counts_a, result.counts_b
        return cls(*both, **{name: getattr(result, name) for name in options})

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
        counts = np.reshape([bar.value for bar in self.counts.values()], (2, 3)).tolist()
        first, second = ((tp, fp, gold - tp) for tp, fp, gold in counts)
        self.result = result = bayes_test(first, second, **options, **self._kept)
        metric = [*result.posterior_a.interval(), *result.posterior_b.interval()]
        shown = metric, result.difference.interval()
        if any(
            min(x) < low or max(x) > high
            for x, (low, high) in zip(shown, self._limits, strict=True)
        ):
            self._limits = _close_up(result)
        of = METRICS[result.metric]
        for count, *uses in zip(COUNTS, of.hits, of.misses, strict=True):
            for letter in "ab":
                self.counts[f"{count}_{letter}"].disabled = not any(uses)
        alt = "Posteriors of {} and {}, and of their difference".format(*result.names)
        return alt, str(result)

    def _draw(self) -> None:
        upper, lower = self._axes
        plot_posteriors(self.result, ax=upper)
        _draw_difference(lower, self.result)
        for ax, limits in zip(self._axes, self._limits, strict=True):
            ax.set_xlim(limits)
            ax.set_title("", loc="left")
        upper.set_xlabel(self.result.title)


def _draw_difference(ax: Axes, result: BayesTestResult) -> None:
    """The posterior of the difference, B minus A, and its parts with their probabilities."""
    law, (a, b), rope = result.difference, result.names, result.rope
    low, high = law.interval(0.998)
    edges = [edge for edge in (-rope, rope) if low < edge < high]  # of the parts
    values = np.union1d(np.linspace(low, high, 121), edges)
    heights, chances = law.pdf(values), result.chances(2)
    top = float(np.sort(heights[np.isfinite(heights)])[-3])  # a pole is a point or two wide
    first, second = (role.area(ax, facecolor=role.rgba(0.6)) for role in (roles.A, roles.B))
    parts = [(f"{a} better{'' if rope else ' or equal'}: {chances['a']}", -1.0, -rope, first)]
    if rope:
        ax.axvspan(-rope, rope, color=roles.BAND, linewidth=0, zorder=0)
        within: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.5"}
        parts.append((f"within {rope:g}: {chances['neither']}", -rope, rope, within))
    parts.append((f"{b} better: {chances['b']}", rope, 1.0, second))
    for _, left, right, look in parts:
        inside = (values >= left) & (values <= right)
        ax.fill_between(values[inside], np.minimum(heights[inside], 2 * top), linewidth=0, **look)
    ax.plot(values, heights, color=roles.ink(), gid="density")
    ax.axvline(0, **roles.EQUAL.line())
    ax.set(ylim=(-0.2 * top, 1.08 * top), yticks=[], ylabel="density")
    sheet.draw_interval(ax, -0.1 * top, law.interval(), law.mean(), marker="o", gid="interval")
    sheet.ticks(ax.xaxis, 5)
    sheet.literal(ax.xaxis.label, f"difference of {result.title}, {b} minus {a}", ax)
    sheet.key(ax, [Patch(label=words, **look) for words, *_, look in parts])


def _close_up(result: BayesTestResult) -> tuple[Ends, Ends]:
    """Limits with some room around the intervals, of the metric and of the difference."""
    ends = [*result.posterior_a.interval(), *result.posterior_b.interval()]
    room = 0.75 * (max(ends) - min(ends))
    far = min(1.0, 1.8 * max(*map(abs, result.difference.interval()), result.rope))
    return (max(0.0, min(ends) - room), min(1.0, max(ends) + room)), (-far, far)


def _whole(counts: Any, name: str) -> tuple[int, int, int]:
    """Of all folds tp, fp and what there is to be found; sliders hold whole numbers only."""
    tp, fp, fn = (float(x) for x in np.sum(counts, axis=0))
    if any(x != round(x) for x in (tp, fp, fn)):
        raise ValueError(f"{name} has the counts {tp:g}, {fp:g}, {fn:g}; sliders need whole ones")
    return int(tp), int(fp), int(tp + fn)
