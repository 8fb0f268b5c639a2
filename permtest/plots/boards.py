"""Many systems: a ranking with its ties, how systems differ from a baseline, and all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import ScaledTranslation

from permtest.alternatives.answer import rejects
from permtest.many import CORRECTIONS
from permtest.plots import roles, sheet
from permtest.statistics import lookup

if TYPE_CHECKING:
    from permtest.many.leaderboard import Leaderboard

NAME = 28  # letters of a name
MOST = 30  # systems that are drawn
LANES = 90.0  # points that bars beside each other take at most
LARGE = 10**7  # from here on numbers are written with an exponent
TINY = 1e-300  # smaller p-values may have been rounded to the smallest number there is
FEW, NAMED = 12, 40  # systems whose cells have room for a p-value, and whose rows for a name
BOUNDS = (1e-3, 1e-6)  # of p: the darker shades, below alpha
GREY = 0.4  # how much darker than white the largest difference is
LEGIBLE = 6.0  # points; smaller letters are left out


def _readable(board: Leaderboard) -> Leaderboard:
    """The same with names that can be seen, are not too long, and differ."""
    systems = sheet.distinct(board.systems, NAME)
    baseline = board.baseline and systems[board.systems.index(board.baseline)]
    return replace(board, systems=systems, baseline=baseline)


def _measure(board: Leaderboard) -> str:
    """What the values are, or the differences from a baseline."""
    entry, score = lookup(board.metric), board.score
    words = entry.title if entry.columns else f"sum of {score.unit or 'points'}"
    words = f"mean {score.name or 'score'}" if entry.name == "mean" else words
    words += " (lower is better)" * board.ascending
    if board.baseline is None:
        return words
    return f"{words}, minus {board.baseline}, with p ({CORRECTIONS[board.correction].title})"


def numbers(values: Sequence[float], sign: str = "") -> list[str]:
    """Numbers with as many decimals as tell them apart; with a plus for the `sign` "+"."""
    reach = max(values) - min(values) or max(map(abs, values)) or 1.0
    decimals = max(2 - floor(log10(reach)), 0)
    form = f",.{decimals}f" if decimals <= 6 and max(map(abs, values)) < LARGE else ".4g"
    return [sheet.digits(x + 0.0, sign + form) for x in values]


def p_text(p: float, alpha: float) -> str:
    """p in two digits: 0.43, 0.0036, 1e-74; in more where it would seem to lie beyond alpha."""
    if p < TINY:
        return f"<{TINY:g}"
    texts = (f"{p:.{digits}g}" for digits in range(2, 17))
    text = next(t for t in texts if rejects(float(t), alpha) == rejects(p, alpha))
    return "1" if p == 1 else ">0.99" if text == "1" else text.replace("e-0", "e-")


class Row(NamedTuple):
    """A system, where it stands, whether it is marked (None: the baseline), and a note."""

    name: str
    place: float
    marked: bool | None
    note: str


def plot_ranking(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw each system's score, which systems do not differ, and the ranks that each may have.

    Filled circles and bold names are systems tied with the best (gid "tied"), or that differ from
    the baseline ("differs"); the others are hollow squares ("behind", "same"). Bars beside the axes
    ("group") join systems of which no two differ. Ranks or adjusted p-values are notes ("note"); a
    correction that bounds no ranks leaves the place in the ranking.
    The best 30 systems are drawn; the picture says how many are not.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import permtest as pt
    >>> board = pt.compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> ax = pt.plots.plot_ranking(board)
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "note"]
    ['rank 1', 'rank 2 to 3', 'rank 2 to 3']
    """
    rows = min(len(board.systems), MOST)
    with sheet.canvas(ax, (sheet.WIDE, sheet.height_of_rows(rows) + 0.7)) as ax:
        _draw_ranking(ax, _readable(board))
    return ax


def _draw_ranking(ax: Axes, board: Leaderboard) -> None:
    every, zero = _rows(board), board.baseline is not None
    rows = every[:MOST]
    sheet.name_rows(ax, [row.name for row in rows], [row.marked for row in rows])
    places = [row.place for row in rows]
    sheet.fit(ax, places, 0.2, 0.02 * abs(places[0]) or 1.0)
    sheet.ticks(ax.xaxis, 6)
    words, gids = ("best, or tied with it", "behind the best"), ("tied", "behind")
    if zero:
        ax.axvline(0, zorder=1, gid="zero", **roles.EQUAL.line())
        verb = {"greater": "score more", "less": "score less"}.get(board.alternative, "differ")
        words, gids = (f"shown to {verb}", f"not shown to {verb}"), ("differs", "same")
    away = 14 + (0.0 if zero else _draw_groups(ax, board.groups(), rows))
    looks: dict[bool | None, dict[str, Any]] = {
        True: roles.HOLDS.dot(ax, gid=gids[0]),
        False: roles.BROKEN.dot(ax, gid=gids[1]),
        None: {"marker": "D", "markersize": 8, "color": roles.ink(), "gid": "baseline"},
    }
    for y, (row, text) in enumerate(zip(rows, numbers(places, "+" * zero), strict=True)):
        ax.axhline(y, color="0.88", linewidth=1, zorder=0, gid="row")
        ax.plot([row.place], [y], linestyle="none", **looks[row.marked])
        sheet.write_beside(ax, y, row.note, "note", away)
        if row.marked is not None:
            left = zero and row.place < 0  # not on the line
            at: dict[str, Any] = {"textcoords": "offset points", "path_effects": roles.halo(ax)}
            at |= {"ha": "right" if left else "left", "va": "center", "gid": "value"}
            ax.annotate(text, (row.place, y), (-11 if left else 11, 0), **at)
    left_out = f"; the last {len(every) - MOST} of {len(every)} systems are not drawn"
    sheet.literal(ax.xaxis.label, _measure(board) + left_out * (len(every) > MOST), ax)
    seen = {row.marked for row in rows}
    keys = zip((True, False), words, strict=True)
    handles = [sheet.dot(label, **looks[marked]) for marked, label in keys if marked in seen]
    if away > 14:
        bar: dict[str, Any] = {"marker": "|", "markersize": 16, "markeredgewidth": 5}
        handles.append(sheet.dot("no two of them differ", color=roles.ink(), **bar))
    sheet.key(ax, handles, board.sentence(), fontweight="normal")


def _rows(board: Leaderboard) -> list[Row]:
    """All systems; marked are those tied with the best, or that differ from the baseline."""
    found, beside = [], board.baseline is not None
    tied, ranks = ((), []) if beside else (board.tied_with_best(), board.rank_texts())
    for system in board.order():
        i = board.systems.index(system)
        if not beside:
            found.append(Row(system, float(board.values[i]), system in tied, f"rank {ranks[i]}"))
        elif system == board.baseline:
            found.append(Row(system, 0.0, None, "baseline"))
        else:
            pair = int(np.flatnonzero(board.first == i)[0])
            p = p_text(float(board.adjusted[pair]), board.alpha)
            note = f"p {p}" if p[0] in "<>" else f"p = {p}"
            found.append(Row(system, float(board.statistic[pair]), bool(board.differs[pair]), note))
    return found


def _draw_groups(ax: Axes, groups: Sequence[Sequence[str]], rows: Sequence[Row]) -> float:
    """Bars beside the axes, in as few lanes as they need; how many points they take."""
    where = {row.name: y for y, row in enumerate(rows)}
    lanes: list[int] = []  # where the last bar of each one ends
    bars = []
    for group in groups:
        if inside := [where[name] for name in group if name in where]:
            end = max(inside) + (0.28 if len(inside) == len(group) else 0.6)  # it goes on below
            lane = next((i for i, stop in enumerate(lanes) if stop < min(inside)), len(lanes))
            lanes[lane : lane + 1] = [max(inside)]
            bars.append((lane, [min(inside) - 0.28, end]))
    step = min(14.0, LANES / max(len(lanes), 1))
    look: dict[str, Any] = {"color": roles.ink(), "solid_capstyle": "butt", "clip_on": False}
    for lane, ends in bars:
        move = ScaledTranslation((lane + 0.7) * step / 72, 0, ax.figure.dpi_scale_trans)
        look |= {"transform": ax.get_yaxis_transform() + move, "linewidth": 0.45 * step}
        ax.plot([1, 1], ends, gid="group", **look)
    return step * len(lanes)


def plot_pairs(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw the difference and the adjusted p of every two systems, in the order of the ranking.

    Below the diagonal are differences, row minus column, the darker the larger; above it adjusted
    p-values, the darker the smaller. Up to 12 systems have numbers as well (gids "difference", "p"
    and "value"), and pairs that do not differ are hatched ("same"); up to 40 have names.

    Parameters
    ----------
    board : Leaderboard
        Of `compare_many`, of all pairs.
    ax : matplotlib.axes.Axes, optional
    """
    if board.baseline is not None:
        raise ValueError(
            f"this board compares systems only with {board.baseline!r}, and not all pairs; draw "
            "it with plot_ranking"
        )
    board = _readable(board)
    places, size = board.places(), len(board.systems)
    order = [board.systems.index(system) for system in board.order()]
    square = np.ix_(order, order)
    p, difference = (board.matrix(what)[square] for what in ("adjusted", "statistic"))
    inches = (min(max(8.0, 3.5 + 0.85 * size), sheet.WIDE), 2.6 + min(0.5 * size, 7.0))
    with sheet.canvas(ax, inches) as ax:
        colours, handles = _colours(p, difference, board.alpha)
        ax.imshow(colours, aspect="auto", interpolation="none", gid="cells")
        step = 1 if size <= NAMED else 10  # of many systems, every tenth has a name
        rows = [f"{places[i]}  {board.systems[i]}" for i in order]
        for axis, labels in ((ax.xaxis, [str(places[i]) for i in order]), (ax.yaxis, rows)):
            axis.set_ticks(range(0, size, step), labels[::step], parse_math=False)
            axis.set_ticks(np.arange(1, size) - 0.5 if step == 1 else [], minor=True)
        ax.grid(which="minor", color="0.8", linewidth=0.8)
        ax.tick_params(which="both", length=0)
        font = min(0.85 / 8 * sheet.letters(ax) * sheet.font() / size, sheet.font())
        if size <= FEW and font >= LEGIBLE:
            values = numbers(board.values[order].tolist())
            _write_pairs(ax, colours, p, difference, values, board.alpha, font)
            handles[0].set_hatch("///")
        title = CORRECTIONS[board.correction].title
        what = f"Below the diagonal: row minus column, {_measure(board)}; above it: p ({title})"
        sheet.literal(ax.xaxis.label, f"rank. {what}", ax)
        ax.set_ylabel("rank, system")
        sheet.key(ax, handles, board.sentence(), 3, fontweight="normal")
    return ax


def _colours(p: Any, difference: Any, alpha: float) -> tuple[Any, list[Patch]]:
    """Of all cells, of shape (S, S, 3), and the key to them."""
    blue = np.array(roles.NULL.rgba()[:3])
    bounds = [alpha, *(bound for bound in BOUNDS if bound < alpha)]
    colours = np.ones((*p.shape, 3))
    if len(p) > FEW:
        np.einsum("iic->ic", colours)[:] = 0.0  # the diagonal
    above, below = np.triu_indices(len(p), 1), np.tril_indices(len(p), -1)
    edge: dict[str, Any] = {"edgecolor": "0.5", "linewidth": 0.8}
    handles = [Patch(facecolor="w", label="does not differ", **edge)]
    for bound, shade in zip(bounds, (0.6 + 0.4 * blue, blue, 0.45 * blue), strict=False):
        found = np.zeros(p.shape, dtype=bool)
        found[above] = rejects(p[above], bound)
        colours[found] = shade
        text = f"p \N{LESS-THAN OR EQUAL TO} {p_text(bound, bound)}"
        handles.append(Patch(facecolor=tuple(shade), label=text, **edge))
    reach = np.abs(difference[below])
    if largest := float(reach.max(initial=0.0)):
        colours[below] -= (GREY * reach / largest)[:, None]
        text = f"difference {largest:.3g}"
        handles.append(Patch(facecolor=str(1 - GREY), label=text, **edge))
    return colours, handles


def _write_pairs(
    ax: Axes, colours: Any, p: Any, difference: Any, values: Any, alpha: float, font: float
) -> None:
    """Adjusted p and difference of every pair, and what every system scores."""
    for i, j in product(range(len(p)), repeat=2):
        x = float(difference[i, j])
        dark = float(colours[i, j] @ (0.299, 0.587, 0.114)) < 0.5
        look: dict[str, Any] = {"ha": "center", "va": "center", "color": "w" if dark else "k"}
        if i == j:
            text, gid, look["fontweight"] = values[i], "value", "bold"
        elif i > j:
            form = "+#.3g" if abs(x) < 100 else "+,.0f" if abs(x) < LARGE else "+.3g"
            text, gid = sheet.digits(x, form) if x else "0", "difference"
        else:
            text, gid = p_text(float(p[i, j]), alpha), "p"
            if not rejects(p[i, j], alpha):
                frame: dict[str, Any] = {"facecolor": "none", "edgecolor": "0.6", "linewidth": 0}
                corner = (j - 0.46, i - 0.46)
                ax.add_patch(Rectangle(corner, 0.92, 0.92, hatch="///", gid="same", **frame))
                look["path_effects"] = roles.halo(ax)
        ax.text(j, i, text, fontsize=font, gid=gid, parse_math=False, **look)
