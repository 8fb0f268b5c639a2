"""The look that all pictures share, and a new figure in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from math import ceil, floor, log10
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

#: The style sheet. ``plt.style.use("permtest.permtest")`` applies it to pictures of your own.
STYLE = Path(__file__).parents[1] / "permtest.mplstyle"

#: Of axes: left, bottom, width and height in shares of the picture.
Place: TypeAlias = tuple[float, float, float, float]

SIZE = (8.0, 4.4)  # inches: of a picture whose axes have places of their own
NICE = [1, 2, 2.5, 5, 10]  # steps between the ticks of an axis


def style() -> AbstractContextManager[None]:
    """The project's style sheet for the time of a ``with`` statement.

    Returns
    -------
    context manager
        Matplotlib's settings are as before after it.

    Examples
    --------
    >>> import matplotlib
    >>> from permtest.plots import style
    >>> with style():
    ...     inside = matplotlib.rcParams["axes.titlesize"]
    >>> inside, matplotlib.rcParams["axes.titlesize"]
    (16.0, 'large')
    """
    return mpl.rc_context(_settings())


@cache
def _settings() -> mpl.RcParams:
    return mpl.rc_params_from_file(STYLE, use_default_template=False)


#: Whether new figures are left to the caller, and shown by no window or notebook.
_HIDDEN = ContextVar("hidden", default=False)


@contextmanager
def without_windows() -> Iterator[None]:
    """New figures are not shown, and pyplot is not needed."""
    token = _HIDDEN.set(True)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def new_figure(size: tuple[float, float] | None = None) -> Figure:
    """A figure of that many inches, or of the caller's settings, that makes room for its texts."""
    if _HIDDEN.get():
        return Figure(figsize=size, layout="constrained")
    from matplotlib import pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def new_axes() -> Axes:
    """Axes of a figure of their own; the settings are those of the caller."""
    return new_figure().subplots()


def axes_at(*places: Place) -> list[Axes]:
    """Axes at these places in a figure of their own."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=SIZE)
    return [figure.add_axes(place) for place in places]


def rows_of(rows: int, marks: int = 1) -> Axes:
    """The same, as high as so many rows need, with so many marks in each."""
    width = mpl.rcParams["figure.figsize"][0]
    return new_figure((width, rows * (0.28 + 0.17 * marks) + 2.0)).subplots()


def decades(bottom: float, top: float, most: int = 7) -> list[float]:
    """Some powers of ten to label, seven or so; none above 1, which no probability exceeds."""
    first, last = ceil(log10(bottom)), min(0, floor(log10(top)))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (last - first) / step <= most)
    return [10.0**k for k in range(last - last % step, first - 1, -step) if k <= last]


def legend_above(ax: Axes, handles: Sequence[Any], columns: int = 0, **options: Any) -> Legend:
    """A legend between the axes and their title, so many columns wide; all side by side if 0."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    tight: dict[str, Any] = {"columnspacing": 1.3, "handletextpad": 0.5, "frameon": False}
    return ax.legend(handles=handles, ncols=columns or len(handles), **place | tight | options)


def plain(text: Text, words: str, width: int = 0) -> None:
    """Write words that may hold a dollar sign, in lines of at most `width` letters."""
    text.set_parse_math(False)
    text.set_text("\n".join(wrap(words, width)) if width else words)
