"""The far tail: drag the observed sum, however small p becomes."""

from __future__ import annotations

from math import ceil
from typing import Any

import ipywidgets as controls
import numpy as np

from permtest.null.grouping import attainable
from permtest.plots.null import FarTail, FarTails, plot_tail
from permtest.plots.sheet import number, signed
from permtest.result import counted
from permtest.widgets.frame import Explorer, wide

UPPER, LOWER = (0.125, 0.47, 0.855, 0.35), (0.125, 0.16, 0.855, 0.26)  # axes in the picture
STOPS = 1000  # of the slider, at most


class TailExplorer(Explorer):
    """Drag the observed sum: log p and the tilted law follow at once, however small p is.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, as in `exact_perm_test`; `u` may be `Pairs`.
    observed : int or float, optional
        Where the slider stands at first. Default: at what was observed.
    statistic : str, default "sum"
        As in `exact_perm_test`.
    names : tuple of two str, optional
        What the systems are called.

    Attributes
    ----------
    lead : ipywidgets.SelectionSlider
        The observed sum, from the middle of the null law to its end. It counts for either system,
        as the test has two sides.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    tail : FarTail
        What is shown.

    Notes
    -----
    The axes stay as they are. With more than 1000 sums to choose from, the slider has some of
    them, evenly spaced, and the observed one.

    Examples
    --------
    >>> from permtest.widgets import TailExplorer
    >>> explorer = TailExplorer([1] * 90, [0] * 90, observed=10)
    >>> explorer.lead.value = 90
    >>> explorer.tail.result.pvalue_text()
    '1.62e-27'
    """

    tail: FarTail

    def __init__(
        self,
        u: Any,
        v: Any = None,
        *,
        observed: Any = None,
        statistic: str = "sum",
        names: tuple[str, str] | None = None,
    ) -> None:
        self._tails = FarTails.of(u, v, statistic, names)
        self._make_picture(UPPER, LOWER)
        self._make_controls(self._tails.tail(observed).lead)
        self._follow(self.lead)

    def _make_controls(self, first: float) -> None:
        options = [(number(value, 1.0), value) for value in _stops(self._tails, first)]
        self.lead = controls.SelectionSlider(
            options=options, value=first, description="Lead", **wide("initial")
        )
        self._stack(self.lead)

    def _update(self) -> None:
        self.tail = self._tails.tail(self.lead.value)
        a, b = self.tail.result.names
        alt = f"Null law of {a} minus {b} and the law tilted to its tail"
        self._show(alt, describe(self.tail))

    def _paint(self) -> None:
        plot_tail(self.tail, axes=self._axes)


def describe(tail: FarTail) -> str:
    """A far tail in words: p, and what the tilt does for it.

    Parameters
    ----------
    tail : FarTail

    Returns
    -------
    str
    """
    result, null, tilted = tail.result, tail.null, tail.tilted
    lead = counted(tail.lead, result.unit)
    start = f"A lead of {lead}, for either system, has p = {result.pvalue_text()}"
    if not null.std():
        return f"{start}: no swap changes anything."
    off = (
        "exact" if not result.error_bound else f"off by at most {result.error_bound:.0e} of itself"
    )
    far = abs(result.observed_sum - null.mean()) / null.std()
    seen = null.pmf[result.observed_cell] > tail.noise
    sight = "can still make out the cells" if seen else "sees nothing but its own noise"
    factor = f"a factor of {np.exp(tail.tau):.3g} per {result.unit.removesuffix('s')}"
    return (
        f"{start} (log10 p = {result.log10_pvalue:.4f}; p is {off}). It is {far:.3g} standard "
        f"deviations out, where an FFT without a tilt {sight}. Tilted by "
        f"{factor}, the law has its mean at {signed(tilted.mean())} and a standard deviation of "
        f"{tilted.std():.3g}."
    )


def _stops(tails: FarTails, first: float) -> list[float]:
    """What the slider can be set to: the upper half of what is possible, thinned out."""
    possible = np.flatnonzero(attainable(tails.steps))
    upper = possible[2 * possible >= tails.steps.top]
    thinned = upper[:: ceil(upper.size / STOPS)].tolist()
    return sorted({*map(tails.law.value, [*thinned, int(upper[-1])]), first})
