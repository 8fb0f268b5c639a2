"""Names, numbers and titles that pictures of leaderboards share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor, log10
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.text import Text

from permtest.alternatives.result import rejects
from permtest.many.multiplicity import CORRECTIONS
from permtest.plots.fitting import in_points
from permtest.plots.parts import literal
from permtest.plots.sheet import legend_above, plain
from permtest.plots.words import digits
from permtest.statistics import CountStatistic, lookup
from permtest.study.document import legible

if TYPE_CHECKING:
    from permtest.many.leaderboard import Leaderboard

NAME, FEWEST = 28, 24  # letters of a name, of the shortest line
LARGE = 10**7  # from here on numbers are written with an exponent
TINY = 1e-300  # smaller p-values may have been rounded to the smallest number there is


def readable(board: Leaderboard) -> Leaderboard:
    """The same with names that can be seen, are not too long, and differ."""
    systems = distinct(board.systems)
    data_sets = distinct(board.data_sets) if board.data_sets != ("",) else ("",)
    baseline = board.baseline and systems[board.systems.index(board.baseline)]
    return replace(board, systems=systems, data_sets=data_sets, baseline=baseline)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names from a file as they can be drawn; those that would be the same are numbered."""
    found = [legible(name, NAME) for name in names]
    some = [f"{x} ({i})" if found.count(x) > 1 else x for i, x in enumerate(found, start=1)]
    if len(set(some)) == len(some):
        return tuple(some)
    return tuple(f"{i}: {x}" for i, x in enumerate(found, start=1))


def measure(board: Leaderboard) -> str:
    """What the values are, or the differences from a baseline."""
    entry, score = lookup(board.metric), board.score
    if isinstance(entry, CountStatistic):
        words = entry.title
    elif entry.name == "mean":
        words = f"mean {score.name or 'score'}"
    else:
        words = f"sum of {score.unit or 'points'}"
    words += " (lower is better)" * board.ascending
    if board.baseline is None:
        return words
    return (
        f"{words}, minus that of {board.baseline}, with p ({CORRECTIONS[board.correction].title})"
    )


def numbers(values: Sequence[float], sign: str = "") -> list[str]:
    """Numbers with as many decimals as tell them apart; with a plus for the `sign` "+"."""
    span = max(values) - min(values) or max(map(abs, values)) or 1.0
    decimals = max(2 - floor(log10(span)), 0)
    short = decimals <= 6 and max(map(abs, values)) < LARGE
    form = f"{sign},.{decimals}f" if short else f"{sign}.4g"
    return [digits(x + 0.0, form) for x in values]


def p_text(p: float, alpha: float) -> str:
    """p in two digits: 0.43, 0.0036, 1e-74; in more where it would seem to lie beyond alpha."""
    if p < TINY:
        return f"<{TINY:g}"
    texts = (f"{p:.{digits}g}" for digits in range(2, 17))
    text = next(t for t in texts if rejects(float(t), alpha) == rejects(p, alpha))
    text = "1" if p == 1 else text if text != "1" else ">0.99"
    return text.replace("e-0", "e-")


def entitle(ax: Axes, board: Leaderboard, k: int, handles: Sequence[Any]) -> None:
    """Who leads, above a key to marks and colours."""
    for columns in (len(handles), (len(handles) + 1) // 2, 1):
        legend = legend_above(ax, handles, columns)
        if legend.get_window_extent().width <= ax.bbox.width:
            break
    literal(*legend.get_texts())
    pad = in_points(ax, legend.get_window_extent().height) + 8
    size = mpl.rcParams["axes.labelsize"]
    title = ax.set_title("", loc="left", y=1.0, pad=pad, fontsize=size, fontweight="normal")
    write_across(ax, title, board.sentence(board.data_sets[k]))


def settle(ax: Axes) -> None:
    """Let the layout make room for names, where there is one, so that the width is known."""
    if ax.figure.get_layout_engine() is not None:
        ax.figure.figure.draw_without_rendering()


def write_across(ax: Axes, text: Text, words: str) -> None:
    """Write words that may hold a dollar sign, in lines that are no wider than the axes."""
    letters = max(int(in_points(ax, ax.bbox.width) / (0.45 * float(text.get_fontsize()))), FEWEST)
    plain(text, words, letters)
    while letters > FEWEST and text.get_window_extent().width > ax.bbox.width:
        letters -= 2
        plain(text, words, letters)
