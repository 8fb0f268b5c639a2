"""What all pictures share: the style, where to draw, keys, numbers on axes, rows with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from itertools import zip_longest
from math import ceil, floor, isfinite, log10
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from permtest import _text
from permtest.plots import roles
from permtest.result import PermutationTestResult

#: The style sheet. ``plt.style.use("permtest.permtest")`` applies it to pictures of your own.
STYLE = Path(__file__).parents[1] / "permtest.mplstyle"

#: Where pictures are drawn: in axes, in an empty figure, or in a new one of pyplot.
Where: TypeAlias = Axes | Figure | None

NARROW, WIDE = 8.0, 11.0  # inches: of one picture, and of pictures side by side
SIZE = (NARROW, 4.4)  # inches: of a picture whose axes have places of their own
STACKED = 8.5  # inches: in a narrower figure parts stand below each other
LETTER = 0.56  # the mean width of a letter, in sizes of the font
LINE = 1.6  # the height of a line of a key, in sizes of the font
MINUS = "\N{MINUS SIGN}"


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
    (13.0, 'large')
    """
    return mpl.rc_context(_settings())


_settings = cache(partial(mpl.rc_params_from_file, STYLE, use_default_template=False))


@contextmanager
def canvas(
    ax: Any,
    size: tuple[float, float] = SIZE,
    make: Callable[[Figure], Any] = Figure.subplots,
    stack: Sequence[float] = (),
) -> Iterator[Axes]:
    """The caller's axes, or new ones that `make` puts into the caller's figure or one of pyplot.

    The caller's figure is as high as the picture needs. If it is too narrow for parts side by side,
    these stand below each other, as high as `stack` says, in inches.
    """
    if ax is not None and not isinstance(ax, Figure):
        yield ax
        return
    with style():
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure(figsize=size)
        ax.set_layout_engine("constrained")
        stacked = stack and ax.get_figwidth() < STACKED
        ax.set_figheight(sum(stack) if stacked else size[1])
        yield ax.subplots(len(stack), height_ratios=stack) if stacked else make(ax)


def fit(ax: Axes, values: Iterable[float], share: float = 0.06, least: float = 1.0) -> None:
    """Limits of the horizontal axis round all finite values, with margins of this share."""
    seen = [value for value in values if isfinite(value)]
    margin = share * (max(seen) - min(seen)) or least
    ax.set_xlim(min(seen) - margin, max(seen) + margin)


def font() -> float:
    """The size of letters in force, in points."""
    return float(mpl.rcParams["font.size"])


def letters(ax: Axes) -> int:
    """About how many letters fit beside each other over the width of the axes, beside its names."""
    inside, whole = (72 * x.bbox.width / ax.figure.dpi / (LETTER * font()) for x in (ax, ax.figure))
    names = max((len(label.get_text()) for label in ax.get_yticklabels()), default=0)
    return max(int(min(inside, whole - names - 6)), 12)


def literal(text: Text, words: str, room: Axes | int) -> Text:
    """Write words that may hold a dollar sign, in lines of so many letters or as wide as axes."""
    width = room if isinstance(room, int) else letters(room)
    text.set_parse_math(False)
    text.set_text("\n".join(part for line in words.splitlines() for part in wrap(line, width)))
    return text


def distinct(names: Sequence[str], most: int = 24) -> tuple[str, ...]:
    """Names as one line each, of so many letters; numbered if two would look the same."""
    lines = [" ".join(name.split()) or "(blank)" for name in names]
    short = [x if len(x) <= most else f"{x[: most - 9]}…{x[-8:]}" for x in lines]
    alike = len(set(short)) < len(short)
    return tuple(f"{i}: {x}" if alike else x for i, x in enumerate(short, 1))


def key(ax: Axes, handles: Sequence[Any], title: str = "", **options: Any) -> None:
    """A legend between the axes and their title, in as many columns as there is room for."""
    above = 0.0
    if handles:
        widths = [len(str(handle.get_label())) + 5 for handle in handles]
        columns = len(widths)
        while columns > 1 and sum(map(max, np.array_split(widths, columns))) > letters(ax):
            columns -= 1
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False}
        tight: dict[str, Any] = {"columnspacing": 1.3, "handletextpad": 0.5, "borderaxespad": 0.2}
        for text in ax.legend(handles=handles, ncols=columns, **place, **tight).get_texts():
            text.set_parse_math(False)
        above = LINE * font() * ceil(len(widths) / columns)
    head = ax.set_title("", loc="left", y=1.0, pad=above + 10, **options)
    literal(head, title, int(0.85 * letters(ax)))


def number(value: float, digits: int = 6) -> str:
    """A number as texts have it, whole ones in full, with a minus longer than a hyphen."""
    whole = isfinite(value) and value == round(value) and abs(value) < 1e15
    return _text.number(round(value) if whole else float(value), digits).replace("-", MINUS)


def signed(value: float, digits: int = 6) -> str:
    """A difference with its sign: +91, −91, 0."""
    return "+" * (value > 0) + number(value, digits)


def span(low: float, high: float) -> str:
    """An interval as texts have it."""
    return _text.interval(low, high).replace("-", MINUS)


def p_text(result: PermutationTestResult) -> str:
    """p with its relation: "p = 0.0303", "p ≈ 0.03"."""
    return f"p {'=' if result.n_samples is None else '≈'} {result.pvalue_text()}"


def decades(axis: Any, most: int) -> None:
    """Label so many powers of ten; none above 1, which no probability exceeds."""
    bottom, top = axis.get_view_interval()
    first, last = ceil(log10(bottom)), min(0, floor(log10(top)))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200) if (last - first) / step <= most)
    axis.set_major_locator(FixedLocator([10.0**k for k in range(last, first - 1, -step)]))
    axis.set_minor_locator(NullLocator())


def ticks(
    axis: Any, most: int = 6, form: Callable[[float], str] = number, whole: bool = False
) -> None:
    """At most so many ticks at round numbers, which are whole if they count something."""
    steps = [1, 2, 2.5, 5, 10]
    axis.set_major_locator(MaxNLocator(most, steps=steps, min_n_ticks=1, integer=whole))
    axis.set_major_formatter(FuncFormatter(lambda x, _: form(float(x))))


def name_rows(
    ax: Axes, names: Sequence[str], bold: Sequence[bool | None] = (), pad: float = 9.0
) -> None:
    """A row for each name, the first at the top, at 0."""
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, pad=pad)
    for label, heavy in zip_longest(ax.get_yticklabels(), bold):
        label.set(parse_math=False, fontweight="bold" if heavy else "normal")


def draw_interval(
    ax: Axes, row: float, ends: Sequence[float], estimate: float, **look: Any
) -> None:
    """A line with its estimate; where it leaves limits that are set, an arrow (gid "open")."""
    low, high = ends if ax.get_autoscalex_on() else np.clip(ends, *ax.get_xlim())
    # An error bar is a line without caps, and not dashed, so that its ends can be seen.
    bar: dict[str, Any] = {"linewidth": 2.5, "linestyle": "-", "solid_capstyle": "butt"}
    look = bar | {"color": roles.ink()} | look
    ax.plot([low, estimate, high], [row] * 3, markevery=[1], **look)
    for end, place, marker in zip(ends, (low, high), "<>", strict=True):
        if end != place:
            arrow: dict[str, Any] = {"color": look["color"], "markersize": 11, "clip_on": False}
            ax.plot([place], [row], linestyle="none", marker=marker, gid="open", **arrow)


def write_beside(ax: Axes, row: float, words: str, gid: str, away: float = 12) -> None:
    """Words on the right of the axes, so many points away."""
    at: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    ax.annotate(words, (1, row), (away, 0), va="center", gid=gid, **at)


def dot(label: str, **look: Any) -> Line2D:
    """A mark in a key."""
    return Line2D([], [], label=label, **look | {"linestyle": "none"})
