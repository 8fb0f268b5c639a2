"""The staircase of F1 and its relatives: any hits and misses that might have been observed."""

from __future__ import annotations

from typing import Any, cast

import ipywidgets as controls
import numpy as np
from numpy.typing import NDArray

from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.plots import plot_plane, plot_values
from permtest.plots.null import heights_in_view, look
from permtest.plots.plane import hits_weight
from permtest.plots.sheet import SUMS, digits, number
from permtest.result import StructuredTestResult
from permtest.statistics import Alternative, CountStatistic, lookup
from permtest.widgets.frame import TAILS, Explorer, beside, wide

MEASURES = ["precision", "recall", "f1", "f0.5", "f2", "jaccard"]
PLACE = (0.125, 0.15, 0.835, 0.64)  # of the axes in the picture
REACH = 1e-9  # of the peak: the sliders go as far as points are so likely
DRAGGED = 50_000  # points of the joint law; with more the picture follows when a slider stops
MARGIN = 0.03  # of what the sliders reach, on all sides of the picture


class StaircaseExplorer(Explorer):
    """Move the observed point through the plane of hits and misses; staircase and p follow.

    Parameters
    ----------
    u, v : array_like of shape (N, 3)
        Both systems' counts of true positives, false positives and false negatives, as in
        `exact_perm_test`; `u` may be `Pairs`.
    statistic : str, default "f1"
        Which measure is shown first: "precision", "recall", "f1", "f0.5", "f2" or "jaccard".
    names : tuple of two str, optional
        What the systems are called.

    Attributes
    ----------
    statistic : ipywidgets.Dropdown
    hits, misses : ipywidgets.IntSlider
        The observed point: what the first system has of both sums. What one of them gains the
        second system loses. If no labelling comes there, the nearest possible misses are taken.
    tails : ipywidgets.RadioButtons
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    result : StructuredTestResult
        What is shown.

    Notes
    -----
    The axes stay as they are while the point is moved. Another measure starts at what was observed.
    Where hits and misses move together, as for recall, the picture is that of `plot_values`.

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

    result: StructuredTestResult

    def __init__(
        self,
        u: Any,
        v: Any = None,
        *,
        statistic: str = "f1",
        names: tuple[str, str] | None = None,
    ) -> None:
        if statistic not in MEASURES:
            raise ValueError(
                f"statistic={statistic!r} is not in the list; choose one of {MEASURES}"
            )
        given = v is None and isinstance(u, Pairs)
        self._pairs = u if given else _entry(statistic).pairs(u, v, names)
        self._names = names
        self._make_picture(PLACE)
        self._make_controls(statistic)
        self._start()
        self._follow(self.statistic, self.hits, self.misses, self.tails)

    def _make_controls(self, statistic: str) -> None:
        options = [(_entry(name).title, name) for name in MEASURES]
        self.statistic = controls.Dropdown(options=options, value=statistic, description="Measure")
        self.tails = controls.RadioButtons(options=TAILS, layout={"width": "max-content"})
        self.hits, self.misses = (controls.IntSlider(**wide("16em")) for _ in range(2))
        self._stack(beside(self.statistic, self.tails, gap="1.5em"), self.hits, self.misses)

    def _on_change(self, change: Any) -> None:
        """Update, unless it was the explorer itself that moved the control."""
        if self._quiet:
            return
        with self._quietly():
            if change["owner"] is self.statistic:
                self._start()
            self._snap(1 if change["owner"] is self.misses else 0)
        super()._on_change(change)

    def _start(self) -> None:
        """Both sliders at what was observed; what stays as it is while the point is moved."""
        self._tests = {side: self._test(cast(Alternative, side)) for _, side in TAILS}
        base = self._tests["two-sided"]
        null, weights = base.null_distribution, (hits_weight(base.parts[0])[0], 1)
        seen = null.support[null.pmf >= REACH * null.pmf.max()]
        both = np.array([base.sums, base.other_sums])
        self._points = np.concatenate((seen, both)).astype(np.int64) // weights
        self._limits = _limits(base, self._points)
        live = len(null.support) <= DRAGGED
        names = (hits_weight(base.parts[0])[1], base.parts[1])
        for k, slider in enumerate((self.hits, self.misses)):
            words = SUMS.get(names[k], names[k])
            slider.description = words[0].upper() + words[1:] if names[k] in SUMS else words
            slider.continuous_update = live
            _set(slider, self._points[:, k], base.sums[k] // weights[k])

    def _test(self, side: Alternative) -> StructuredTestResult:
        result = exact_perm_test(
            self._pairs, statistic=self.statistic.value, alternative=side, names=self._names
        )
        assert isinstance(result, StructuredTestResult)
        return result

    def _snap(self, kept: int) -> None:
        """Move to the nearest possible point; of hits (0) and misses (1) one is kept if it can."""
        away = np.abs(self._points - (self.hits.value, self.misses.value))
        far = away[:, kept] * (1 + int(away.max())) + away[:, 1 - kept]
        self.hits.value, self.misses.value = self._points[int(far.argmin())].tolist()

    def _update(self) -> None:
        base = self._tests[self.tails.value]
        hits = self.hits.value * hits_weight(base.parts[0])[0]
        result = base.at((hits, self.misses.value))
        assert isinstance(result, StructuredTestResult)
        self.result = result
        title = _entry(self.statistic.value).title
        law = "Joint null law of hits and misses" if result.rank == 2 else "Null law"
        text = describe(result, observed=result.sums == base.sums)
        self._show(f"{law} for {title}", text)

    def _paint(self) -> None:
        (ax,) = self._axes
        ax.set_xlim(self._limits[0])
        ax.set_ylim(self._limits[1])
        (plot_plane if self.result.rank == 2 else plot_values)(self.result, ax=ax)


def describe(result: StructuredTestResult, *, observed: bool = False) -> str:
    """The point that is shown in words: both measures, their difference, and p.

    Parameters
    ----------
    result : StructuredTestResult
        Of a measure of two sums.
    observed : bool, default False
        Whether the point is what was really observed.

    Returns
    -------
    str
    """
    (a, b), (x, y) = result.names, result.scores or (0.0, 0.0)
    title = _entry(result.metric).title
    (hits, misses), (other_hits, other_misses) = (
        _terms(result, result.sums),
        _terms(result, result.other_sums or ()),
    )
    what = " This is what was observed." if observed else ""
    gap = digits(x - y, "+.4f")
    return (
        f"With {hits} and {misses}, {a} has {title} {x:.4f}; that leaves {b} with {other_hits} and "
        f"{other_misses}, {title} {y:.4f}. The difference is {gap}: p = {result.pvalue_text()} "
        f"({result.sides_text()}).{what}{_on_a_line(result)}"
    )


def _terms(result: StructuredTestResult, sums: tuple[int, ...]) -> list[str]:
    """Hits and misses with their names."""
    weight, hits = hits_weight(result.parts[0])
    counts = (sums[0] // weight, sums[1])
    return [
        f"{number(count)} {SUMS[part]}" if part in SUMS else f"{part} = {number(count)}"
        for count, part in zip(counts, (hits, result.parts[1]), strict=True)
    ]


def _on_a_line(result: StructuredTestResult) -> str:
    """Why there is no plane, if there is none."""
    if result.rank == 2:
        return ""
    hits, misses = (SUMS.get(part, part) for part in result.parts)
    if result.rank == 0:
        return f" No swap changes {hits} or {misses}: there is a single point."
    total = result.null_distribution.support.sum(axis=1)
    if int(total.min()) == int(total.max()):
        return (
            f" {hits.capitalize()} and {misses} add up to {number(float(total[0]))} in every "
            "labelling, as both systems have the same to find; so they lie on a line, not in a "
            "plane, and the picture shows the difference itself."
        )
    return (
        f" Here {hits} and {misses} move together, on a line and not in a plane; the picture shows "
        "the difference itself."
    )


def _limits(base: StructuredTestResult, points: NDArray[np.int64]) -> list[tuple[float, float]]:
    """Ends of both axes, with room for all that the sliders can reach."""
    if base.rank == 2:
        low, high = points.min(axis=0), points.max(axis=0)
        margin = np.maximum(MARGIN * (high - low), 1.0)
        (bottom, left), (top, right) = low - margin, high + margin
        return [(float(left), float(right)), (float(bottom), float(top))]
    view, null = look(base, "linear"), base.null_distribution
    seen = np.abs(base.null_values[null.pmf >= REACH * null.pmf.max()])
    reach = max(view.reach, (1 + MARGIN) * float(seen.max()))
    return [(-reach, reach), heights_in_view(view, "linear")]


def _set(slider: controls.IntSlider, values: NDArray[np.int64], value: int) -> None:
    """Ends and value of a slider, in an order in which it accepts them."""
    low, high = int(values.min()), int(values.max())
    slider.max = max(high, slider.max)
    slider.min, slider.max, slider.value = low, high, value


def _entry(name: str) -> CountStatistic:
    entry = lookup(name)
    assert isinstance(entry, CountStatistic)
    return entry
