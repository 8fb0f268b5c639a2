"""What all explorers share: controls, a picture and a sentence, and how these follow or fail."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable, Mapping, Sequence
from html import escape
from io import BytesIO
from math import isnan
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

from permtest.plots import sheet

DPI = 100  # pixels per inch
TAILS = {"two tails: do A and B differ?": "two-sided", "one tail: is A better?": "greater"}


class Explorer:
    """Controls, and a picture and a sentence that follow them.

    A subclass describes its controls and calls `_open`. Then, at each movement, `_compute` makes a
    result of what the controls say and puts it in words; `_draw` makes the artists, but only where
    `_kind` is another one than before; and `_paint` moves them.

    Attributes
    ----------
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    """

    _figure: Figure
    _axes: list[Axes]
    _parts: dict[str, list[Any]]  # the artists of each gid
    _drawn: Hashable = None
    _quiet = False

    if TYPE_CHECKING:  # controls become attributes

        def __getattr__(self, name: str) -> Any: ...

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _open(self, places: Sequence[sheet.Place], controls: Mapping[str, Any], *rows: Any) -> None:
        """Show everything; a row is a widget, or the names of controls beside each other."""
        for name, control in controls.items():
            setattr(self, name, control)
        with sheet.style():
            self._figure = Figure(figsize=sheet.SIZE, dpi=DPI)
            FigureCanvasAgg(self._figure)
            self._axes = [self._figure.add_axes(place) for place in places]
        # Not an Image widget: that has no alternative text, and fails if it is given a tooltip.
        self.picture, self.sentence = ipywidgets.HTML(), ipywidgets.HTML()
        parts = [
            beside(*(controls[name] for name in row.split())) if isinstance(row, str) else row
            for row in rows
        ]
        layout = {"width": "100%", "max_width": "820px"}
        self.box = ipywidgets.VBox([*parts, self.picture, self.sentence], layout=layout)
        self._update()
        for control in controls.values():
            control.observe(self._on_change, names="value")

    def _on_change(self, change: Any) -> None:
        """Update once; an error is shown where the person looks, not in a log."""
        if self._quiet:
            return
        self._quiet = True
        try:
            self._settle(change["owner"])
            self._update()
        except Exception as error:
            self._drawn, self.picture.value, self.sentence.value = None, "", alert(error)
        finally:
            self._quiet = False

    def _update(self) -> None:
        alt, text = self._compute()
        with sheet.style():
            kind = (self._kind(),)
            if self._drawn != kind:
                for ax in self._axes:
                    ax.clear()
                self._draw()
                self._parts = {}
                for artist in [child for ax in self._axes for child in ax.get_children()]:
                    self._parts.setdefault(str(artist.get_gid()), []).append(artist)
                self._drawn = kind
            self._paint()
            file = png(self._figure)
        self.picture.value = picture(file, f"{alt}; described below")
        self.sentence.value = spoken(text)

    def _settle(self, moved: Any) -> None:
        """Move the controls that depend on the one that a person has moved."""

    def _compute(self) -> tuple[str, str]:
        """Keep the result; what the picture shows, and the sentence."""
        raise NotImplementedError

    def _kind(self) -> Hashable:
        """All that the artists cannot follow: if it changes, they are made anew."""
        return None

    def _draw(self) -> None:
        raise NotImplementedError

    def _paint(self) -> None:
        raise NotImplementedError


# ---- controls ------------------------------------------------------------------------------------


def wide(label: str) -> dict[str, Any]:
    """Options of a control as wide as the box, with so much room for its label."""
    return {"style": {"description_width": label}, "layout": {"width": "98%"}}


def slider(words: str, value: float, low: float, high: float, step: float = 1, **more: Any) -> Any:
    """A slider of whole numbers, or of others if its step is a float."""
    kind = ipywidgets.IntSlider if isinstance(step, int) else ipywidgets.FloatSlider
    look = wide("11em") | {"description": words} | more
    return kind(value=value, min=low, max=high, step=step, **look)


def stops(words: str, options: Mapping[str, Any], value: Any, **more: Any) -> Any:
    """A slider that stops at some values."""
    look = wide("11em") | {"description": words} | more
    return ipywidgets.SelectionSlider(options=list(options.items()), value=value, **look)


def choice(words: str, options: Any, value: Any = None, label: str = "5.5em", **more: Any) -> Any:
    """A list that drops down; the first option is chosen, or a value."""
    look = {"description": words, "style": {"description_width": label}} | more
    start = {} if value is None else {"value": value}
    return ipywidgets.Dropdown(options=options, **start, **look)


def radio(options: Mapping[str, Any], words: str = "") -> Any:
    """Buttons of which one is pressed, at first the first."""
    layout = {"width": "max-content"}
    return ipywidgets.RadioButtons(options=options, description=words, layout=layout)


def beside(*parts: Any, gap: str = "0 1em") -> Any:
    """Controls beside each other, or below where there is no room."""
    layout = {"flex_flow": "row wrap", "grid_gap": gap}
    return parts[0] if len(parts) == 1 else ipywidgets.HBox(parts, layout=layout)


def check_range(**arguments: tuple[float, float, float]) -> None:
    """Refuse a first value, given with the ends of its slider, that is not on it."""
    for name, (value, low, high) in arguments.items():
        if not low <= value <= high:
            raise ValueError(f"{name}={value} is not on the slider, from {low} to {high}")


# ---- the picture and the sentence ----------------------------------------------------------------


class Interval:
    """A line with its estimate in a row, and an arrow where it goes on outside of the axes."""

    def __init__(self, line: Line2D) -> None:
        ax = line.axes
        assert ax is not None
        self.line, (self.row, *_) = line, np.asarray(line.get_ydata())
        self.edges = ax.get_xlim()
        look: dict[str, Any] = {"color": line.get_color(), "markersize": 11, "clip_on": False}
        self.arrows = [
            ax.plot([edge], [self.row], linestyle="none", marker=marker, gid="open", **look)[0]
            for edge, marker in zip(self.edges, "<>", strict=True)
        ]

    def move(self, ends: Sequence[float], estimate: float = np.nan) -> None:
        """Show other ends, and an estimate unless it is not a number."""
        low, high = np.clip(ends, *self.edges)
        self.line.set_data([low, low if isnan(estimate) else estimate, high], [self.row] * 3)
        self.line.set_markevery([] if isnan(estimate) else [1])
        for arrow, end, shown in zip(self.arrows, ends, (low, high), strict=True):
            arrow.set_visible(bool(end != shown))


def words(ax: Axes) -> list[Text]:
    """The texts of the key; none if there is no key."""
    legend = ax.get_legend()
    return [] if legend is None else legend.get_texts()


def png(figure: Figure) -> bytes:
    """The picture as a PNG file: quickly, not as small as can be."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()
    pixels, file = Image.fromarray(np.asarray(canvas.buffer_rgba())), BytesIO()
    pixels.convert("RGB").save(file, format="png", compress_level=1)
    return file.getvalue()


def picture(file: bytes, alt: str) -> str:
    """A PNG file as HTML that needs no second request and keeps its place while it changes."""
    width, height = (round(DPI * side) for side in sheet.SIZE)
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
