"""Two systems, how many items, one tail or two: the null distribution and p."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from typing import Any

import ipywidgets as controls

from permtest._integers import IntArray
from permtest.decimals import as_integers
from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.plots import plot_null
from permtest.plots.null import HEADROOM, heights_in_view, look
from permtest.result import PermutationTestResult
from permtest.widgets.frame import TAILS, Explorer, beside, wide

SCALES = [("linear axis", "linear"), ("logarithmic axis", "log")]
AGAIN = " again"  # a system that is compared with itself needs another name
PLACE = (0.125, 0.2, 0.82, 0.59)  # of the axes in the picture
WIDTHS = (1, 2, 5, 10)  # where the axis of sums may end, times a power of ten
HEIGHTS = (1, 1.5, 2, 3, 5, 7, 10)  # the same for the axis of probabilities


class TwoSystemsExplorer(Explorer):
    """Pick two systems, how many items, and one tail or two; the picture and p follow at once.

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

    Attributes
    ----------
    a, b : ipywidgets.Dropdown
    n : ipywidgets.IntSlider
        How many items, counted from the first one.
    tails, scale : ipywidgets.RadioButtons
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    result : PermutationTestResult
        What is shown.

    Notes
    -----
    So that the picture does not jump while the slider is dragged, the axes change in coarse steps
    only. The horizontal one reaches from -r to r, where r is 1, 2 or 5 times a power of ten: the
    smallest that holds what can be seen of the bell and what was observed. A linear axis of
    probabilities ends at 1, 1.5, 2, 3, 5 or 7 times a power of ten, a logarithmic one begins at
    10^-1, 10^-2, 10^-5, 10^-10, ...

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
        self._scores = _columns(scores)
        self._statistic = statistic
        self._make_picture(PLACE)
        self._make_controls(a, b, items)
        self._follow(self.a, self.b, self.n, self.tails, self.scale)

    def _make_controls(self, a: str | None, b: str | None, items: str) -> None:
        names = list(self._scores)
        a, b, size = a or names[0], b or names[1], len(self._scores[names[0]])
        for role, name in (("a", a), ("b", b)):
            if name not in names:
                raise ValueError(f"{role}={name!r} is not a system; choose one of {names}")
        narrow = {"description_width": "2em"}
        self.a = controls.Dropdown(options=names, value=a, description="A", style=narrow)
        self.b = controls.Dropdown(options=names, value=b, description="B", style=narrow)
        label = f"How many {items}"
        self.n = controls.IntSlider(size, 1, size, description=label, **wide("initial"))
        self.tails = controls.RadioButtons(options=TAILS, layout={"width": "max-content"})
        self.scale = controls.RadioButtons(options=SCALES, layout={"width": "max-content"})
        systems = controls.VBox([self.a, self.b])
        self._stack(beside(systems, self.tails, self.scale, gap="1.5em"), self.n)

    def _update(self) -> None:
        self.result = self._compare(self.a.value, self.b.value, self.n.value, self.tails.value)
        alone = self.a.value == self.b.value
        text = _alone(self.a.value) if alone else describe(self.result)
        self._show("Null distribution of {} minus {}".format(*self.result.names), text)

    def _compare(self, a: str, b: str, n: int, alternative: Any) -> PermutationTestResult:
        """The test, on the first n items."""
        names = (a, b if b != a else a + AGAIN)
        pairs = Pairs(self._scores[a][:n], self._scores[b][:n], names)
        return exact_perm_test(pairs, statistic=self._statistic, alternative=alternative)

    def _paint(self) -> None:
        (ax,), scale = self._axes, self.scale.value
        reach, heights = _limits(self.result, scale)
        ax.set_xlim(-reach, reach)
        ax.set_ylim(*heights)
        plot_null(self.result, ax=ax, scale=scale)


def _limits(result: PermutationTestResult, scale: Any) -> tuple[float, tuple[float, float]]:
    """Half the width of the picture, and its limits of probability, in coarse steps."""
    view = look(result, scale)
    bottom, top = heights_in_view(view, scale)
    reach = _step(view.reach, WIDTHS)
    if scale == "linear":
        return reach, (0.0, _step(top, HEIGHTS))
    lowest = 10.0 ** -min(_step(-log10(bottom), WIDTHS), 300)
    return reach, (lowest, lowest ** (-HEADROOM / (1 - HEADROOM)))


def _step(least: float, steps: tuple[float, ...]) -> float:
    """The smallest of the steps times a power of ten that is not less."""
    power = 10.0 ** floor(log10(least))
    return float(next((s * power for s in steps if s * power >= least), 10 * power))


def _columns(scores: Mapping[str, Any]) -> dict[str, IntArray]:
    """The scores as integer arrays of one length."""
    if not hasattr(scores, "items"):
        kind = type(scores).__name__
        raise TypeError(f"scores must map names of systems to their scores, not be a {kind}")
    columns = {str(name): as_integers(column, str(name)) for name, column in scores.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(columns) < 2 or min(lengths.values()) == 0:
        raise ValueError(f"scores must hold at least two systems and one item, not {lengths}")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"all systems must have been scored on the same items, not {lengths}")
    return columns


def _alone(name: str) -> str:
    return f"{name} is compared with itself: no swap changes anything, so p = 1."


def describe(result: PermutationTestResult) -> str:
    """What the picture shows, in words.

    Parameters
    ----------
    result : PermutationTestResult

    Returns
    -------
    str
    """
    null = result.null_distribution
    mean = round(null.mean(), 6) + 0.0  # no rounding error, no minus zero
    return (
        f"{result} If the labels meant nothing, the difference would be {mean:g} on average with a "
        f"standard deviation of {null.std():.3g}; of all labellings, a share of "
        f"{result.pvalue_text()} {_event(result)}."
    )


def _event(result: PermutationTestResult) -> str:
    """What the labellings do that count as extreme."""
    (a, b), lead = result.names, result.observed_sum
    if result.alternative == "two-sided":
        return f"puts them at least {abs(lead):,} apart, whichever is ahead"
    if lead > 0:
        return f"gives {a} a lead of at least {lead:,}"
    if lead == 0:
        return f"leaves {a} level with {b} or ahead"
    return f"leaves {a} at most {-lead:,} behind {b}, or level or ahead"
