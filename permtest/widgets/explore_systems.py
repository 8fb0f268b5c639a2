"""Explorers of two systems: which ones, how many items, and what else might have been observed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from permtest.exact import exact_perm_test
from permtest.plots import plot_null, roles, sheet
from permtest.plots.null import HEADROOM, look, marks
from permtest.result import PermutationTestResult
from permtest.statistics import lookup
from permtest.widgets.frame import TAILS, Explorer, Names, choice, slider

SCALES = {"linear axis": "linear", "logarithmic axis": "log"}
PLACE = (0.125, 0.16, 0.835, 0.66)  # of the axes in either picture


# ---- which systems, on how many items ------------------------------------------------------------

AGAIN = " again"  # a system that is compared with itself needs another name
WIDTHS = (1, 2, 5, 10)  # where the axis of sums may end, times a power of ten
HEIGHTS = (1, 1.5, 2, 3, 5, 7, 10)  # the same for the axis of probabilities


class TwoSystemsExplorer(Explorer):
    """Pick two systems, how many items, and one tail or two; the picture and p follow at once.

    So that the picture does not jump while the slider is dragged, the axes change in coarse steps
    only. The horizontal one reaches from -r to r, where r is 1, 2 or 5 times a power of ten: the
    smallest that holds what can be seen of the bell and what was observed.

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
        if not hasattr(scores, "items"):
            kind = type(scores).__name__
            raise TypeError(f"scores must map names of systems to their scores, not be a {kind}")
        self._scores = {str(name): np.asarray(column) for name, column in scores.items()}
        sizes = {name: len(column) for name, column in self._scores.items()}
        if len(sizes) < 2 or len({*sizes.values()}) > 1 or 0 in sizes.values():
            raise ValueError(f"scores must be of two systems on the same items, not {sizes}")
        self._statistic, (first, second, *_) = statistic, sizes
        controls = {
            "a": choice("A", sizes.keys(), a or first, label="2em"),
            "b": choice("B", sizes.keys(), b or second, label="2em"),
            "tails": choice("", TAILS, None, "RadioButtons", "0"),
            "scale": choice("", SCALES, None, "RadioButtons", "0"),
            "n": slider(f"How many {items}", sizes[first], 1, sizes[first], label="initial"),
        }
        self._open([PLACE], controls, "a b", "tails scale", "n")

    def _compute(self) -> tuple[str, str]:
        a, b, n = self.a.value, self.b.value, self.n.value
        names = (a, b if b != a else a + AGAIN)
        options: dict[str, Any] = {"statistic": self._statistic, "alternative": self.tails.value}
        u, v = (self._scores[name][:n] for name in (a, b))
        self.result = result = exact_perm_test(u, v, names=names, **options)
        alt, null = "Null distribution of {} minus {}".format(*names), result.null_distribution
        if a == b:
            return alt, f"You are comparing {a} with itself: no swap changes anything, so p = 1."
        mean = round(null.mean(), 6) + 0.0  # no rounding error, no minus zero
        return alt, (
            f"{result} If the labels meant nothing, the difference would average {mean:g} with "
            f"a standard deviation of {null.std():.3g}. The share of labellings at least as "
            f"extreme as the observed one is {result.pvalue_text()}."
        )

    def _draw(self) -> None:
        (ax,) = self._axes
        x, y = _coarse_limits(self.result, self.scale.value)
        ax.set(xlim=x, ylim=y)
        plot_null(self.result, ax=ax, scale=self.scale.value)
        ax.set_title("", loc="left")  # p is in the key


def _coarse_limits(result: PermutationTestResult, scale: Any) -> tuple[Any, Any]:
    """Limits of the axes of sums and of probabilities, in coarse steps."""
    view = look(result, scale)
    bottom, top = view.heights(scale)
    reach = _step(max(map(abs, view.limits)), WIDTHS)
    if scale == "linear":
        return (-reach, reach), (0.0, _step(top, HEIGHTS))
    lowest = 10.0 ** -min(_step(-log10(bottom), WIDTHS), 300)
    return (-reach, reach), (lowest, lowest ** (-HEADROOM / (1 - HEADROOM)))


def _step(least: float, steps: Sequence[float]) -> float:
    """The smallest of the steps times a power of ten that is not less."""
    power = 10.0 ** floor(log10(least))
    return float(next((s * power for s in steps if s * power >= least), 10 * power))


# ---- the staircase -------------------------------------------------------------------------------

#: What the sums of a measure are.
SUMS = {
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "fp + fn": "false positives and negatives",
}
CELLS = 640  # rows and columns that are drawn at most
DARK = 0.7  # how dark the extreme cells become: hatches must be seen on them

MEASURES = ("precision", "recall", "f1", "f0.5", "f2", "jaccard")
REACH = 1e-9  # of the peak: the sliders go as far as points are so likely
DRAGGED = 50_000  # points of the joint law; with more the picture follows when a slider stops
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
        entries = {name: lookup(name) for name in MEASURES}
        titles = {entry.title: name for name, entry in entries.items()}
        self.statistic = choice("Measure", titles, "f1")
        self.hits, self.misses = (slider("", 0, 0, 100, label="16em") for _ in range(2))
        self._test = partial(exact_perm_test, u, v, names=names)
        self._start()
        controls = {
            "statistic": self.statistic,
            "tails": choice("", TAILS, None, "RadioButtons", "0"),
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
        self._tests: dict[str, Any] = {
            side: self._test(statistic=self.statistic.value, alternative=side) for side in sides
        }
        base: PermutationTestResult = self._tests["two-sided"]
        null, (self._weight, hits) = base.null_distribution, hits_weight(base.parts[0])
        seen = null.support[null.pmf >= REACH * null.pmf.max()]
        both = np.array([base.sums, base.other_sums])
        self._points = np.concatenate((seen, both)).astype(np.int64) // (self._weight, 1)
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        margin = np.maximum(MARGIN * (high - low), 1.0)
        (bottom, left), (top, right) = (low - margin).tolist(), (high + margin).tolist()
        self._limits = (left, right), (bottom, top)
        for k, (bar, part) in enumerate(((self.hits, hits), (self.misses, base.parts[1]))):
            name = SUMS.get(part, part)
            bar.description = name[0].upper() + name[1:] if part in SUMS else name
            bar.continuous_update = len(null.support) <= DRAGGED
            bar.max = max(high[k], bar.max)  # in an order in which the slider accepts them
            bar.min, bar.max, bar.value = low[k], high[k], both[0, k] // (self._weight, 1)[k]

    def _compute(self) -> tuple[str, str]:
        base = self._tests[self.tails.value]
        found = base.at((self.hits.value * self._weight, self.misses.value))
        self.result = result = found
        parts = (hits_weight(result.parts[0])[1], result.parts[1])
        counts = zip((self.hits.value, self.misses.value), parts, strict=True)
        point = " and ".join(f"{sheet.number(count)} {SUMS.get(x, x)}" for count, x in counts)
        text = f"With {point} of {result.names[0]}, {result}"
        text += " This is the observed value." * (result.sums == base.sums)
        if result.rank == 2:
            return f"Joint null law of hits and misses for {result.unit}", text
        where = "Both move together, on a line" if result.rank else "No swap changes them"
        text += f" {where}; so there is no plane, and the picture shows the difference itself."
        return f"Null law for {result.unit}", text

    def _draw(self) -> None:
        (ax,), plane = self._axes, self.result.rank == 2
        x, y = self._limits if plane else _coarse_limits(self.result, "linear")
        ax.set(xlim=x, ylim=y)
        (_draw_plane if plane else plot_null)(self.result, ax=ax)
        sheet.literal(ax.xaxis.label, ax.get_xlabel().replace("\n", " "), ax)
        ax.set_title("", loc="left")  # p is in the key


def hits_weight(part: str) -> tuple[int, str]:
    """What the hits of a ratio are counted with, and what they are: of "2 tp", 2 and "tp"."""
    match = re.fullmatch(r"(\d+) (\w+)", part)
    return (int(match[1]), match[2]) if match else (1, part)


def _draw_plane(result: PermutationTestResult, ax: Axes) -> None:
    """The joint law of misses and hits, the darker the likelier, and the staircase in it."""
    limits, (weight, hits) = (ax.get_xlim(), ax.get_ylim()), hits_weight(result.parts[0])
    shown = _draw_cells(result, ax, weight)
    ink, white = roles.ink(), ax.get_facecolor()
    looks = [(result.sums or (), "observed", "o", ink, white)]
    looks.append((result.other_sums or (), "mirrored", "D", white, ink))
    for sums, gid, mark, face, edge in looks[: len(marks(result))]:
        dot: dict[str, Any] = {"marker": mark, "mfc": face, "mec": edge, "ms": 10, "mew": 1.6}
        place = sums[1], sums[0] / weight
        shown += ax.plot(*place, linestyle="none", gid=gid, label=gid, zorder=4, **dot)
    ax.set(xlim=limits[0], ylim=limits[1])
    for axis, part in ((ax.xaxis, result.parts[1]), (ax.yaxis, hits)):
        sheet.ticks(axis, 5, whole=True)
        sheet.literal(axis.label, f"{SUMS.get(part, part)} of {result.names[0]}", 36)
    sheet.key(ax, shown)


def _draw_cells(result: PermutationTestResult, ax: Axes, weight: int) -> list[Any]:
    """What is in view of the law, and the region that is extreme; what is in the key."""
    points = (result.null_distribution.support // (weight, 1)).astype(np.int64)
    ends = np.array([ax.get_ylim(), ax.get_xlim()])
    seen = ((points >= ends[:, 0]) & (points <= ends[:, 1])).all(axis=1)
    low = points[seen].min(axis=0)
    size = 1 + int(np.ptp(points[seen], axis=0).max()) // CELLS
    places = tuple(((points[seen] - low) // size).T)
    law, extreme = np.full((2, *(axis.max() + 1 for axis in places)), np.nan)
    np.fmax.at(law, places, result.null_distribution.pmf[seen])
    np.fmax.at(extreme, places, result.extreme[seen].astype(np.float64))
    depth, tail = np.sqrt(law / np.nanmax(law))[..., None], extreme[..., None] == 1
    depth = np.where(tail, 0.12 + (DARK - 0.12) * depth, 0.08 + 0.92 * depth)
    shades = 1 - depth * (1 - np.where(tail, roles.TAIL.rgba()[:3], roles.NULL.rgba()[:3]))
    y, x = (a - size / 2 + size * np.arange(n + 1) for a, n in zip(low, law.shape, strict=True))
    options: dict[str, Any] = {"aspect": "auto", "origin": "lower", "gid": "cells", "zorder": 0}
    ax.imshow(np.nan_to_num(shades, nan=1.0), extent=(x[0], x[-1], y[0], y[-1]), **options)
    corners = [np.repeat(edges, 2)[1:-1] for edges in (x, y)]  # so that edges of cells are steps
    steps = np.ma.masked_invalid(extreme.repeat(2, 0).repeat(2, 1))
    ax.contourf(*corners, steps, [0.5, 1.5], colors="none", hatches=[roles.TAIL.hatch])
    ax.contour(*corners, steps, [0.5], colors=[roles.ink()], linewidths=1.6)
    words = f"at least as extreme: {sheet.p_text(result)}"
    found = [Patch(label="null distribution", **roles.NULL.area(ax))]
    return [*found, Patch(label=words, **roles.TAIL.area(ax, facecolor=roles.TAIL.rgba(0.5)))]
