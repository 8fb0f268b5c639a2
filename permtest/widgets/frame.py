"""What all explorers share: controls, a picture and a sentence in a box, and how they fail."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO
from typing import Any

import ipywidgets as controls
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from permtest.plots.sheet import SIZE, Place, style

TAILS = [("two tails: do A and B differ?", "two-sided"), ("one tail: is A better?", "greater")]
DPI = 100  # pixels per inch


class Explorer:
    """What all explorers share.

    A subclass calls `_make_picture`, makes its controls, stacks them with `_stack` and ends with
    `_follow`. What the controls say becomes a result in `_update`, which calls `_show`; `_paint`
    draws the result on `_axes`.
    """

    picture: controls.HTML
    sentence: controls.HTML
    box: controls.VBox
    _figure: Figure
    _axes: list[Axes]
    _quiet = False

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _make_picture(self, *places: Place) -> None:
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._axes = [self._figure.add_axes(place) for place in places]

    def _stack(self, *rows: controls.Widget) -> None:
        """The box: these rows of controls, the picture, the sentence."""
        # Not an Image widget: that has no alternative text, and fails if it is given a tooltip.
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        layout = {"width": "100%", "max_width": "820px"}
        self.box = controls.VBox([*rows, self.picture, self.sentence], layout=layout)

    def _follow(self, *watched: controls.Widget) -> None:
        """Show what the controls say now, and whenever one of these moves."""
        self._update()
        for control in watched:
            control.observe(self._on_change, names="value")

    def _on_change(self, _: Any) -> None:
        """Update; an error is shown where the person looks, not in a log."""
        if self._quiet:
            return
        try:
            self._update()
        except Exception as error:
            self.picture.value = ""
            self.sentence.value = alert(error)

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Controls may be moved without an update for each of them."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _update(self) -> None:
        raise NotImplementedError

    def _show(self, alt: str, text: str) -> None:
        """The picture, with an alternative text, and the sentence below it."""
        self.picture.value = picture(self._draw(), f"{alt}; described below")
        self.sentence.value = spoken(text)

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        with style():
            for ax in self._axes:
                ax.clear()
            self._paint()
            return png(self._figure)

    def _paint(self) -> None:
        raise NotImplementedError


def wide(label: str) -> dict[str, Any]:
    """Options of a slider as wide as the box, with so much room for its label."""
    return {"style": {"description_width": label}, "layout": {"width": "98%"}}


def beside(*parts: controls.Widget, gap: str = "0") -> controls.HBox:
    """Controls beside each other, or below where there is no room."""
    return controls.HBox(parts, layout={"flex_flow": "row wrap", "grid_gap": gap})


def png(figure: Figure) -> bytes:
    """The picture as a PNG file: quickly, not as small as can be."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=DPI, pil_kwargs={"compress_level": 1})
    return file.getvalue()


def picture(file: bytes, alt: str) -> str:
    """A PNG file as HTML that needs no second request and keeps its place while it changes."""
    width, height = (round(DPI * side) for side in SIZE)
    return (
        f"<img alt='{escape(alt, quote=True)}' width='{width}' height='{height}' decoding='sync' "
        "style='max-width:100%;height:auto' "
        f"src='data:image/png;base64,{b64encode(file).decode()}'>"
    )


def spoken(text: str) -> str:
    """Text that a screen reader reads out when it changes."""
    style = "font-size:1.15em;line-height:1.45"
    return f"<div role='status' aria-live='polite' style='{style}'>{escape(text)}</div>"


def alert(error: Exception) -> str:
    """An error, where the person looks who moved a control."""
    text = escape(f"No picture: {type(error).__name__}: {error}")
    return f"<div role='alert' style='font-size:1.15em;border-left:4px solid'>{text}</div>"
