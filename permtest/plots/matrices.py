"""Matrices of systems: all pairs of a leaderboard, and on how many data sets one is better."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from permtest.alternatives.result import rejects
from permtest.many import CORRECTIONS
from permtest.plots import roles
from permtest.plots.board_texts import (
    LARGE,
    distinct,
    entitle,
    measure,
    numbers,
    p_text,
    readable,
    settle,
    write_across,
)
from permtest.plots.fitting import in_points
from permtest.plots.parts import literal
from permtest.plots.sheet import legend_above, new_figure, style
from permtest.plots.words import digits

if TYPE_CHECKING:
    from permtest.many.data_sets import Replicability
    from permtest.many.leaderboard import Leaderboard

Floats = NDArray[np.float64]

FEW, NAMED = 12, 40  # systems whose cells have room for a p-value, and whose rows for a name
BOUNDS = (1e-3, 1e-6)  # of p: the darker shades, below alpha
GREY = 0.4  # how much darker than white the largest difference is
DARK = 0.5  # lightness below which letters are white
WHOLE, SMALLEST = 8.0, (6.0, 1.4)  # inches: of a matrix without names, of one with two systems
LEGIBLE = 6.0  # points; smaller letters are left out


def plot_pairs(board: Leaderboard, data_set: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the difference and the adjusted p of every two systems, in the order of the ranking.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`, of all pairs.
    data_set : str, optional
        Needed where there are several.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    matplotlib.axes.Axes
        An image with a row and a column for each system, the best at 0, whose ranks are on the
        axes. Below the diagonal are differences, row minus column, the darker the larger; above it
        adjusted p-values, the darker the smaller. Up to 12 systems have numbers as well (gids
        "difference", "p", and "value" on the diagonal), and pairs that do not differ are hatched
        (gid "same"); up to 40 have names.

    Raises
    ------
    ValueError
        If the board is of comparisons with a baseline, or there is no such data set.

    Examples
    --------
    >>> import permtest as pt
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_pairs
    >>> board = pt.compare_many({"old": [2, 3, 4, 3], "new": [3, 5, 4, 6], "copy": [2, 3, 4, 3]})
    >>> ax = plot_pairs(board, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "p"]
    ['0.75', '0.75', '1']
    """
    if board.baseline is not None:
        raise ValueError(
            f"these are comparisons with {board.baseline!r} alone, and not of all pairs; draw them "
            "with plot_ranking"
        )
    places = board.places(data_set)
    if ax is None:
        with style():
            return plot_pairs(board, data_set, ax=_square(board.systems, 0.92))
    k = 0 if data_set is None else board.data_sets.index(data_set)
    board = readable(board)
    name = board.data_sets[k]
    order = [board.systems.index(system) for system in board.order(name)]
    square = np.ix_(order, order)
    p, difference = (board.matrix(what, name)[square] for what in ("adjusted", "statistic"))
    bounds = [board.alpha, *(bound for bound in BOUNDS if bound < board.alpha)]
    colours = _colours_of_pairs(p, difference, bounds)
    if len(order) > FEW:
        np.einsum("iic->ic", colours)[:] = 0.0  # the diagonal
    _draw_cells(ax, colours, [board.systems[i] for i in order], places[order].tolist())
    ax.set_ylabel("rank, system")
    settle(ax)
    size = _letters(ax, len(order), 8) if len(order) <= FEW else 0.0
    if size > 0:
        values = numbers(board.values[k, order].tolist())
        _write_pairs(ax, colours, (p, difference), values, board.alpha, size)
    title = CORRECTIONS[board.correction].title
    words = f"rank. Below the diagonal: row minus column, {measure(board)}; above it: p ({title})"
    write_across(ax, ax.xaxis.label, words)
    largest = float(np.nanmax(np.abs(difference)))
    entitle(ax, board, k, _key_to_pairs(bounds, bool(size), largest))
    return ax


def _shades() -> Floats:
    """Of p, the darker the smaller: light, middle and dark also in grey."""
    blue = np.array(roles.NULL.rgba()[:3])
    return np.array([0.6 + 0.4 * blue, blue, 0.45 * blue])


def _colours_of_pairs(p: Floats, difference: Floats, bounds: Sequence[float]) -> Floats:
    """Of all cells, of shape (S, S, 3)."""
    found = np.ones((*p.shape, 3))
    above, below = np.triu_indices(len(p), 1), np.tril_indices(len(p), -1)
    for bound, shade in zip(bounds, _shades(), strict=False):
        at_most = np.zeros(p.shape, dtype=bool)
        at_most[above] = rejects(p[above], bound)
        found[at_most] = shade
    reach = np.abs(difference[below])
    found[below] -= (GREY * reach / max(reach.max(initial=0.0), 5e-324))[:, None]
    return found


def _write_pairs(
    ax: Axes,
    colours: Floats,
    pairs: tuple[Floats, Floats],
    values: Sequence[str],
    alpha: float,
    size: float,
) -> None:
    """Adjusted p and difference of every pair, and what every system scores."""
    p, difference = pairs
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    for i, j in combinations(range(len(p)), 2):
        same = not rejects(p[i, j], alpha)
        if same:
            _hatch(ax, i, j)
        look = {"bbox": box} if same else {}
        _write(ax, i, j, p_text(float(p[i, j]), alpha), colours, fontsize=size, gid="p", **look)
        _write(ax, j, i, _short(difference[j, i]), colours, fontsize=size, gid="difference")
    for i, text in enumerate(values):
        _write(ax, i, i, text, colours, fontsize=size, gid="value", fontweight="bold")


def _short(value: float) -> str:
    form = "+#.3g" if abs(value) < 100 else "+,.0f" if abs(value) < LARGE else "+.3g"
    return digits(value, form) if value else "0"


def _key_to_pairs(bounds: Sequence[float], hatched: bool, largest: float) -> list[Patch]:
    edge: dict[str, Any] = {"edgecolor": "0.5", "linewidth": 0.8}
    found = [Patch(facecolor="w", hatch="///" * hatched, label="does not differ", **edge)]
    for bound, shade in zip(bounds, _shades(), strict=False):
        text = p_text(bound, bound)
        found.append(Patch(facecolor=shade, label=f"p \N{LESS-THAN OR EQUAL TO} {text}", **edge))
    grey = Patch(facecolor=str(1 - GREY), label=f"difference {largest:.3g}", **edge)
    return [*found, grey] if largest else found


# ---- several data sets ---------------------------------------------------------------------------


def plot_replicability(found: Replicability, *, ax: Axes | None = None) -> Axes:
    """Draw on how many data sets, at least, the system of a row is better than that of a column.

    Parameters
    ----------
    found : Replicability
        Of `Leaderboard.replicability`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller. Default: a new figure in the style of the
        project.

    Returns
    -------
    matplotlib.axes.Axes
        An image with a row and a column for each system, the darker the more data sets. Systems
        that are better than others most often come first. Up to 40 have names and numbers (gid
        "count"); pairs that were not compared are crossed (gid "none").

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import permtest as pt
    >>> from permtest.plots import plot_replicability
    >>> scores = {"new": [1] * 10, "old": [0] * 10}
    >>> board = pt.compare_many({"ewt": scores, "gum": scores, "pud": scores})
    >>> ax = plot_replicability(board.replicability(), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "count"]
    ['3', '0']
    """
    size = len(found.systems)
    if ax is None:
        with style():
            return plot_replicability(found, ax=_square(found.systems, 0.6))
    counts = np.full((size, size), np.nan)
    counts[found.first, found.second] = found.first_better
    counts[found.second, found.first] = found.second_better
    known = np.nan_to_num(counts)
    order = np.argsort(known.sum(axis=0) - known.sum(axis=1), kind="stable")
    counts = counts[np.ix_(order, order)]
    colours = _shade(np.nan_to_num(counts)[:, :, None] / len(found.data_sets))
    np.einsum("iic->ic", colours)[:] = 0.9 if size <= NAMED else 0.0  # the diagonal
    names = distinct(found.systems)
    _draw_cells(ax, colours, [names[i] for i in order], range(1, size + 1))
    ax.set_ylabel("better system")
    settle(ax)
    letters = _letters(ax, size, 3) if size <= NAMED else 0.0
    for i, j in product(range(size), repeat=2):
        if i != j and np.isnan(counts[i, j]):
            _hatch(ax, i, j, "none", "xx")
        elif i != j and letters:
            _write(ax, i, j, f"{counts[i, j]:.0f}", colours, fontsize=letters, gid="count")
    sure = f"{100 * (1 - found.alpha):.4g}% confidence for each pair"
    on = f"on how many of {len(found.data_sets)} data sets, at least ({sure})"
    write_across(ax, ax.xaxis.label, f"worse system; {on}")
    if letters == 0:
        legend_above(ax, _key_to_counts(len(found.data_sets)))
    return ax


def _key_to_counts(most: int) -> list[Patch]:
    return [
        Patch(facecolor=_shade(n / most), edgecolor="0.5", linewidth=0.8, label=f"{n}")
        for n in dict.fromkeys([0, 1, most // 2, most])
    ]


def _shade(share: Any) -> Any:
    """The darker the larger the share."""
    return 1 - share * (1 - _shades()[2])


# ---- cells ---------------------------------------------------------------------------------------


def _square(systems: Sequence[str], wide: float) -> Axes:
    """Axes of a figure of their own, with cells that are `wide` inches if they are few."""
    size = len(systems)
    width, height = (wide, 0.5) if size <= FEW else (0.3, 0.3)
    if size > NAMED:
        width = height = WHOLE / size
    names = 0.11 * max(map(len, distinct(systems))) if size <= NAMED else 0.0
    inches = (max(width * size, SMALLEST[0]) + names + 0.9, max(height * size, SMALLEST[1]) + 2.4)
    return new_figure(inches).subplots()


def _draw_cells(ax: Axes, colours: Floats, names: Sequence[str], places: Sequence[int]) -> None:
    """An image, with numbered systems on both axes, and lines where cells are few."""
    size = len(names)
    ax.imshow(colours, aspect="auto", interpolation="none", gid="cells")  # as few pixels as cells
    if size <= NAMED:
        ax.set_xticks(range(size), [f"{place}" for place in places])
        ax.set_yticks(range(size), [f"{p}  {name}" for p, name in zip(places, names, strict=True)])
        ax.set_xticks(np.arange(1, size) - 0.5, minor=True)
        ax.set_yticks(np.arange(1, size) - 0.5, minor=True)
        ax.grid(which="minor", color="0.8", linewidth=1.0 if size <= FEW else 0.6)
    else:
        some = [0, *range(9, size, 10)]
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(some, [f"{places[i]}" for i in some])
    ax.tick_params(which="both", length=0)
    literal(*ax.get_yticklabels())


def _letters(ax: Axes, cells: int, letters: int) -> float:
    """The size at which so many letters fit into a cell; 0 if nobody could read them."""
    width, height = (in_points(ax, x) / cells for x in (ax.bbox.width, ax.bbox.height))
    size = min(width / (0.62 * letters), height / 1.6, mpl.rcParams["font.size"])
    return size if size >= LEGIBLE else 0.0


def _write(ax: Axes, i: int, j: int, words: str, colours: Floats, **look: Any) -> None:
    """In the middle of a cell; letters are white where that is dark."""
    dark = float(colours[i, j] @ (0.299, 0.587, 0.114)) < DARK
    where: dict[str, Any] = {"ha": "center", "va": "center", "color": "w" if dark else "k"}
    ax.text(j, i, words, parse_math=False, **where, **look)


def _hatch(ax: Axes, i: int, j: int, gid: str = "same", hatch: str = "///") -> None:
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": "0.6", "linewidth": 0}
    ax.add_patch(Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, hatch=hatch, gid=gid, **look))
