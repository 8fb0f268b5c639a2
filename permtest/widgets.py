"""Explorers for notebooks, with ipywidgets. They call the package and compute no statistics."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from io import BytesIO
from typing import Any

import ipywidgets as widgets
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, StrMethodFormatter

from permtest.exact import exact_perm_test
from permtest.pairs import IntArray, Pairs, as_integers
from permtest.plots import heights_in_view, look, plot_null, signed, style
from permtest.result import PermutationTestResult

TAILS = [("two tails: do A and B differ?", "two-sided"), ("one tail: is A better?", "greater")]
SCALES = [("linear axis", "linear"), ("logarithmic axis", "log")]
SIZE, DPI = (8.0, 4.2), 100  # inches, and pixels per inch


class TwoSystemsExplorer:
    """Pick two systems, how many items, and one tail or two; the picture and p follow at once.

    Parameters
    ----------
    scores : mapping or DataFrame
        Name of a system -> its scores, integers, of shape (N,), on the same items in the same
        order. At least one system and one item.
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
    The axes stand still while the slider is dragged: the limits belong to the pair of systems, and
    a linear axis of probabilities always ends a little above the most likely value.

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
        self._limits = cache(self._find_limits)
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._ax = self._figure.add_axes((0.125, 0.165, 0.855, 0.64))
        self._make_controls(a, b, items)
        self._update()
        for control in (self.a, self.b, self.n, self.tails, self.scale):
            control.observe(self._on_change, names="value")

    def _make_controls(self, a: str | None, b: str | None, items: str) -> None:
        names = list(self._scores)
        a, b, size = a or names[0], b or names[min(1, len(names) - 1)], len(self._scores[names[0]])
        wide = {"description_width": "initial"}
        narrow = {"description_width": "2em"}
        self.a = widgets.Dropdown(options=names, value=a, description="A", style=narrow)
        self.b = widgets.Dropdown(options=names, value=b, description="B", style=narrow)
        self.n = widgets.IntSlider(
            size, 1, size, description=f"How many {items}", style=wide, layout={"width": "98%"}
        )
        self.tails = widgets.RadioButtons(options=TAILS, layout={"width": "max-content"})
        self.scale = widgets.RadioButtons(options=SCALES, layout={"width": "max-content"})
        # Not an Image widget: that has no alternative text, and fails if it is given a tooltip.
        self.picture, self.sentence = widgets.HTML(), widgets.HTML()
        choices = [widgets.VBox([self.a, self.b]), self.tails, self.scale]
        row = widgets.HBox(choices, layout={"flex_flow": "row wrap", "grid_gap": "1.5em"})
        parts = [row, self.n, self.picture, self.sentence]
        self.box = widgets.VBox(parts, layout={"width": "100%", "max_width": "820px"})

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _on_change(self, _: Any) -> None:
        """Update; an error is shown where the person looks, not in a log."""
        try:
            self._update()
        except Exception as error:
            self.picture.value = ""
            self.sentence.value = _alert(error)

    def _update(self) -> None:
        self.result = self._compare(self.a.value, self.b.value, self.n.value, self.tails.value)
        self.picture.value = _image(self._draw(), self.result)
        self.sentence.value = _describe(self.result)

    def _compare(self, a: str, b: str, n: int, alternative: Any) -> PermutationTestResult:
        """The test, on the first n items."""
        pairs = Pairs(self._scores[a][:n], self._scores[b][:n], (a, b))
        return exact_perm_test(pairs, statistic=self._statistic, alternative=alternative)

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        scale = self.scale.value
        reach, bottom, top = self._limits(self.a.value, self.b.value, scale)
        with style():
            ax = self._ax
            ax.clear()
            ax.set_xlim(-reach, reach)
            if scale == "log":
                ax.set_ylim(bottom, top)
            plot_null(self.result, ax=ax, scale=scale)
            if scale == "linear":  # ticks that stay where they are, whatever the height
                peak = float(self.result.null_distribution.pmf.max())
                ax.yaxis.set_major_locator(FixedLocator([0, peak / 2, peak]))
                ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.2g}"))
            return self._png()

    def _png(self) -> bytes:
        file = BytesIO()
        self._figure.savefig(file, format="png", dpi=DPI, pil_kwargs={"compress_level": 1})
        return file.getvalue()

    def _find_limits(self, a: str, b: str, scale: Any) -> tuple[float, float, float]:
        """Half the width, bottom and top of axes that hold the pair whatever the slider says."""
        whole = self._compare(a, b, self.n.max, "two-sided")
        view = look(whole, scale)
        lead = np.abs(np.cumsum(self._scores[a] - self._scores[b])).max()
        bottom, _ = heights_in_view(view, scale)
        return max(view.right, 1.06 * float(lead)), bottom, bottom**-0.25 if bottom else 1.0


def _columns(scores: Mapping[str, Any]) -> dict[str, IntArray]:
    """The scores as integer arrays of one length."""
    columns = {str(name): as_integers(column, str(name)) for name, column in scores.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if not columns or min(lengths.values()) == 0:
        raise ValueError("scores must hold at least one system and one item")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"all systems must have been scored on the same items, not {lengths}")
    return columns


def _image(png: bytes, result: PermutationTestResult) -> str:
    """The picture as HTML that needs no second request and keeps its place while it changes."""
    a, b = result.names
    alt = escape(f"Null distribution of {a} minus {b}; described below", quote=True)
    width, height = (round(DPI * side) for side in SIZE)
    return (
        f"<img alt='{alt}' width='{width}' height='{height}' decoding='sync' "
        "style='max-width:100%;height:auto' "
        f"src='data:image/png;base64,{b64encode(png).decode()}'>"
    )


def _describe(result: PermutationTestResult) -> str:
    """What the picture shows, in words."""
    (a, b), null = result.names, result.null_distribution
    if a == b:
        return _spoken(f"{a} is compared with itself: no swap changes anything, so p = 1.")
    if result.alternative == "two-sided":
        event = f"puts them at least {abs(result.observed_sum):,} apart, whichever is ahead"
    else:
        event = f"gives {a} a lead of at least {signed(result.observed_sum)}"
    mean = round(null.mean(), 6) + 0.0  # no rounding error, no minus zero
    return _spoken(
        f"{result} If the labels meant nothing, the difference would be {mean:g} on average with a "
        f"standard deviation of {null.std():.3g}; of all labellings, a share of "
        f"{result.pvalue_text()} {event}."
    )


def _spoken(text: str) -> str:
    """Text that a screen reader reads out when it changes."""
    style = "font-size:1.15em;line-height:1.45"
    return f"<div role='status' aria-live='polite' style='{style}'>{escape(text)}</div>"


def _alert(error: Exception) -> str:
    text = escape(f"No picture: {type(error).__name__}: {error}")
    return f"<div role='alert' style='font-size:1.15em;border-left:4px solid'>{text}</div>"
