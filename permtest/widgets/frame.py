"""What all explorers share: controls, a picture and a sentence, and how these follow or fail."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from permtest.plots import sheet

Names: TypeAlias = tuple[str, str] | None
Place: TypeAlias = tuple[float, float, float, float]  # left, bottom, width, height of axes

DPI, SHOWN = 100, 76  # pixels per inch: of a picture, and in a page, for a sentence to be beside it


class Explorer:
    """Controls, each an attribute, and a `picture` and a `sentence` that follow them, in a `box`.

    A subclass describes its controls and calls `_open`. Then, at each movement, its `_compute`
    makes a result of what the controls say, and returns what the picture shows and the sentence;
    and its `_draw` draws the result on empty axes.
    """

    _figure: Figure
    _axes: list[Axes]
    _quiet = False

    if TYPE_CHECKING:  # controls become attributes, and subclasses have methods of their own

        def __getattr__(self, name: str) -> Any: ...

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _open(
        self,
        places: Sequence[Place],
        controls: Mapping[str, Any],
        *rows: Any,
        size: tuple[float, float] = sheet.SIZE,
    ) -> None:
        """Show everything; a row is a widget, or the names of controls beside each other."""
        for name, control in controls.items():
            setattr(self, name, control)
        with sheet.style():
            self._figure = Figure(figsize=size, dpi=DPI)
            FigureCanvasAgg(self._figure)
            self._axes = [self._figure.add_axes(place) for place in places]
        # Not an Image widget: that has no alternative text, and fails if it is given a tooltip.
        self.picture, self.sentence = ipywidgets.HTML(), ipywidgets.HTML()
        parts = [
            beside(*(controls[name] for name in row.split())) if isinstance(row, str) else row
            for row in rows
        ]
        # On a projector there is room for the sentence beside the picture, not below it.
        self.picture.layout.flex, self.sentence.layout.flex = "0 1 auto", "1 1 15em"
        layout = {"width": "100%", "max_width": "1120px"}
        shown = beside(self.picture, self.sentence)
        self.box = ipywidgets.VBox([*parts, shown], layout=layout)
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
            text = escape(f"No picture: {type(error).__name__}: {error}")
            style = "font-size:1.15em;border-left:4px solid"
            self.picture.value = ""
            self.sentence.value = f"<div role='alert' style='{style}'>{text}</div>"
        finally:
            self._quiet = False

    def _update(self) -> None:
        alt, text = self._compute()
        with sheet.style():
            for ax in self._axes:
                ax.clear()
            self._draw()
            file = png(self._figure)
        width, height = (round(SHOWN * side) for side in self._figure.get_size_inches())
        self.picture.value = (  # without a second request, and in its place while it changes
            f"<img alt='{escape(alt, quote=True)}; described below' width='{width}' "
            f"height='{height}' decoding='sync' style='max-width:100%;height:auto' "
            f"src='data:image/png;base64,{b64encode(file).decode()}'>"
        )
        style = "font-size:1.15em;line-height:1.45"  # read out by a screen reader when it changes
        said = f"<div role='status' aria-live='polite' style='{style}'>{escape(text)}</div>"
        self.sentence.value = said

    def _settle(self, moved: Any) -> None:
        """Move the controls that depend on the one that a person has moved."""


def slider(
    words: str,
    value: float,
    low: float,
    high: float,
    step: float = 1,
    label: str = "11em",
    **more: Any,
) -> Any:
    """A slider of whole numbers, or of others if its step is a float."""
    kind = ipywidgets.IntSlider if isinstance(step, int) else ipywidgets.FloatSlider
    look: dict[str, Any] = {"style": {"description_width": label}, "layout": {"width": "98%"}}
    return kind(value=value, min=low, max=high, step=step, description=words, **look | more)


def choice(
    words: str, options: Any, value: Any = None, kind: str = "Dropdown", label: str = "5.5em"
) -> Any:
    """One of the options, a mapping or a list; the first, or that of a value, is chosen."""
    known = dict(options) if isinstance(options, Mapping) else {str(x): x for x in options}
    value = next(iter(known.values())) if value is None else value
    if value not in known.values():
        some = ", ".join(map(str, list(known.values())[:20]))
        raise ValueError(f"{words}: {value!r} is not an option; choose one of {some}")
    width = "98%" if kind == "SelectionSlider" else "auto"
    look = {"style": {"description_width": label}, "layout": {"width": width}}
    return getattr(ipywidgets, kind)(
        options=list(known.items()), value=value, description=words, **look
    )


def beside(*parts: Any) -> Any:
    """Controls beside each other, or below where there is no room."""
    layout = {"flex_flow": "row wrap", "grid_gap": "0 1em"}
    return ipywidgets.HBox(parts, layout=layout)


def png(figure: Figure) -> bytes:
    """The picture as a PNG file: quickly, not as small as can be."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    file = BytesIO()
    Image.fromarray(pixels).convert("RGB").save(file, format="png", compress_level=1)
    return file.getvalue()
