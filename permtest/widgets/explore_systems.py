"""Explorers of two systems: which ones, how many items, and what else might have been observed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from permtest.exact import exact_perm_test
from permtest.plots import plot_null, roles, sheet
from permtest.plots.null import view
from permtest.question import ask
from permtest.result import PermutationTestResult, answer
from permtest.statistics import lookup
from permtest.widgets.frame import Explorer, Names, choice, slider

TAILS = {"two tails: do they differ?": "two-sided", "one tail: is A better?": "greater"}
PLACE = (0.125, 0.2, 0.835, 0.62)  # of the axes in either picture


class TwoSystemsExplorer(Explorer):
    """Pick two systems, how many items, and one tail or two; the picture and p follow at once.

    So that the picture does not jump while the slider is dragged, the axis of sums is the same for
    all numbers of items.

    Parameters
    ----------
    scores : mapping or DataFrame
        Name of a system -> its scores, integers, of shape (N,), on the same items in the same
        order. At least two systems and one item.
    a, b : str, optional
        Which two are shown first. Default: the first two.
    statistic : str, default "sum"
        As in `exact_perm_test`.
    items : str, default "items"
        What one row of the scores is, for the label of the slider.

    Examples
    --------
    >>> from permtest.widgets import TwoSystemsExplorer
    >>> explorer = TwoSystemsExplorer({"old": [1, 4, 2], "new": [2, 4, 5]}, items="sentences")
    >>> explorer.n.value = 2
    >>> explorer.result.n, explorer.result.pvalue
    (2, 1.0)
    """

    result: PermutationTestResult

    def __init__(
        self,
        scores: Mapping[str, Any],
        *,
        a: str | None = None,
        b: str | None = None,
        statistic: str = "sum",
        items: str = "items",
    ) -> None:
        self._scores = {str(name): np.asarray(column) for name, column in scores.items()}
        sizes = {name: len(column) for name, column in self._scores.items()}
        if len(sizes) < 2 or len({*sizes.values()}) > 1 or 0 in sizes.values():
            raise ValueError(f"scores must be of two systems on the same items, not {sizes}")
        self._statistic, (first, second, *_) = statistic, sizes
        controls = {
            "a": choice("A", sizes.keys(), a or first, label="2em"),
            "b": choice("B", sizes.keys(), b or second, label="2em"),
            "tails": choice("Test", TAILS),
            "n": slider(f"How many {items}", sizes[first], 1, sizes[first], label="initial"),
        }
        self._shown: Any = None
        self._open([PLACE], controls, "a b tails", "n")

    def _compute(self) -> tuple[str, str]:
        a, b, n = self.a.value, self.b.value, self.n.value
        names = (a, b if b != a else f"{a} again")
        u, v = self._scores[a], self._scores[b]
        test = partial(exact_perm_test, names=names, statistic=self._statistic)
        self.result = result = test(u[:n], v[:n], alternative=self.tails.value)
        if self._shown != names:
            leads = np.cumsum(np.subtract(u, v, dtype=np.float64))
            reach = 1.06 * max(*np.abs(view(test(u, v))), np.abs(leads).max())
            self._shown, self._limits = names, (-reach, reach)
        return "Null distribution of {} minus {}".format(*names), (
            f"{result} If the labels meant nothing, the difference would average 0 with a standard "
            f"deviation of {result.null_distribution.std():.3g}. The share of labellings at least "
            f"as extreme as the observed one is {result.pvalue_text()}."
        )

    def _draw(self) -> None:
        (ax,) = self._axes
        ax.set_xlim(self._limits)
        plot_null(self.result, ax=ax)
        ax.set_title("", loc="left")  # p is in the key


#: What the sums of a measure are.
SUMS = {
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "fp + fn": "false positives and negatives",
}
MEASURES = ("precision", "recall", "f1", "jaccard")
REACH = 1e-9  # of the peak: the sliders go as far as points are so likely
MARGIN = 0.03  # of what the sliders reach, on all sides of the picture


class StaircaseExplorer(Explorer):
    """Move the observed point through the plane of hits and misses; staircase and p follow.

    The axes stay as they are while the point is moved. Another measure starts at what was observed.
    Where hits and misses move together, as for recall, the picture is that of `plot_null`.

    Parameters
    ----------
    u, v : array_like of shape (N, 3)
        Both systems' counts of true positives, false positives and false negatives, as in
        `exact_perm_test`; `u` may be `Scores`.
    names : tuple of two str, optional
        The names of the two systems.

    Examples
    --------
    >>> from permtest.widgets import StaircaseExplorer
    >>> u, v = [[3, 1, 0], [2, 0, 1]], [[2, 2, 1], [2, 1, 1]]      # tp, fp, fn of two sentences
    >>> explorer = StaircaseExplorer(u, v)
    >>> explorer.result.pvalue
    0.5
    >>> explorer.misses.value = 3
    >>> explorer.result.sums, explorer.result.pvalue
    ((10, 3), 1.0)
    """

    result: PermutationTestResult

    def __init__(self, u: Any, v: Any = None, *, names: Names = None) -> None:
        titles = {lookup(name).title: name for name in MEASURES}
        self.statistic = choice("Measure", titles, "f1")
        self.hits, self.misses = (slider("", 0, 0, 100, label="16em") for _ in range(2))
        self._ask = partial(ask, u, v, names=names)
        self._start()
        controls = {
            "statistic": self.statistic,
            "tails": choice("Test", TAILS),
            "hits": self.hits,
            "misses": self.misses,
        }
        self._open([PLACE], controls, "statistic tails", "hits", "misses")

    def _settle(self, moved: Any) -> None:
        """Go to the nearest possible point; the count that was moved is kept if it can be."""
        if moved is self.statistic:
            self._start()
        kept = int(moved is self.misses)
        away = np.abs(self._points - (self.hits.value, self.misses.value))
        far = away[:, kept] * (1 + int(away.max())) + away[:, 1 - kept]
        self.hits.value, self.misses.value = self._points[int(far.argmin())].tolist()

    def _start(self) -> None:
        """Both sliders at what was observed; what stays as it is while the point is moved."""
        sides: Any = TAILS.values()
        ask_of = partial(self._ask, statistic=self.statistic.value)
        self._questions: dict[str, Any] = {side: ask_of(alternative=side) for side in sides}
        self._base = base = answer(self._questions["two-sided"])
        # Hits are counted with a weight, as in "2 tp".
        weight, hits = re.findall(r"^(\d*) ?(.+)", base.parts[0])[0]
        self._weights, null = (int(weight or 1), 1), base.null_distribution
        self._sums = [SUMS.get(part, part) for part in (hits, base.parts[1])]
        both = np.array([base.sums, base.other_sums]) // self._weights
        self._law = (null.support // self._weights).astype(np.int64), null.pmf
        self._points = np.concatenate((self._law[0][null.pmf >= REACH * null.pmf.max()], both))
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        margin = np.maximum(MARGIN * (high - low), 1.0)
        self._ends = np.stack((low - margin, high + margin), axis=1).tolist()
        for k, bar in enumerate((self.hits, self.misses)):
            bar.description = self._sums[k].capitalize()
            bar.max = max(high[k], bar.max)  # in an order in which the slider accepts them
            bar.min, bar.max, bar.value = low[k], high[k], both[0, k]

    def _compute(self) -> tuple[str, str]:
        base, point = self._base, (self.hits.value, self.misses.value)
        question = self._questions[self.tails.value]
        self.result = result = answer(question.observing(np.multiply(point, self._weights)))
        counts = " and ".join(f"{x:,} {name}" for x, name in zip(point, self._sums, strict=True))
        text = f"With {counts} of {result.names[0]}, {result}"
        text += " This is the observed value." * (result.sums == base.sums)
        if result.rank == 2:
            return f"Joint null law of hits and misses for {result.unit}", text
        text += " Both move together, so there is no plane: the picture shows the difference."
        return f"Null law for {result.unit}", text

    def _draw(self) -> None:
        (ax,) = self._axes
        if self.result.rank == 2:
            self._draw_plane(ax)
        else:
            plot_null(self.result, ax=ax)
            ax.set_title("", loc="left")  # p is in the key

    def _draw_plane(self, ax: Axes) -> None:
        """The joint law of misses and hits, the darker the likelier, and what is extreme in it."""
        result, (points, pmf), low = self.result, self._law, self._points.min(axis=0)
        seen = ((points >= low) & (points <= self._points.max(axis=0))).all(axis=1)
        cells, extreme = np.zeros((2, *np.ptp(self._points, axis=0) + 1))
        cells[tuple((points[seen] - low).T)] = np.sqrt(pmf[seen] / pmf.max())
        extreme[tuple((points[seen] - low).T)] = result.extreme[seen]
        colours = np.array([roles.NULL.rgba(), roles.TAIL.rgba()])[extreme.astype(int)]
        colours[..., 3] = np.where(extreme, 0.12 + 0.58 * cells, cells)  # hatches must be seen
        y, x = (start - 0.5 + np.arange(n + 1) for start, n in zip(low, cells.shape, strict=True))
        more: dict[str, Any] = {"aspect": "auto", "origin": "lower", "gid": "cells"}
        ax.imshow(colours, extent=(x[0], x[-1], y[0], y[-1]), zorder=0, **more)
        hatch: dict[str, Any] = {"colors": "none", "hatches": [roles.TAIL.hatch]}
        ax.contourf(x[:-1] + 0.5, y[:-1] + 0.5, extreme, [0.5, 1.5], **hatch)
        words = f"at least as extreme: {sheet.p_text(result)}"
        shown: list[Any] = [Patch(label="null distribution", **roles.NULL.area(ax))]
        shown.append(Patch(label=words, **roles.TAIL.area(ax, facecolor=roles.TAIL.rgba(0.5))))
        ink, sums = roles.ink(), (result.sums, result.other_sums)
        looks = [("observed", "o", ink), ("mirrored", "D", "w")][: len(result.marks)]
        for place, (gid, mark, face) in zip(sums, looks, strict=False):
            at = np.floor_divide(place, self._weights)
            dot: dict[str, Any] = {"marker": mark, "mfc": face, "mec": ink, "ms": 10, "gid": gid}
            shown += ax.plot(at[1], at[0], linestyle="none", label=gid, zorder=4, **dot)
        ax.set(ylim=self._ends[0], xlim=self._ends[1])
        for axis, name, room in zip((ax.yaxis, ax.xaxis), self._sums, (28, 60), strict=True):
            sheet.ticks(axis, 5, whole=True)
            sheet.literal(axis.label, f"{name} of {result.names[0]}", room)
        sheet.key(ax, shown)
