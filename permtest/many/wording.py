"""A leaderboard in sentences, and in the tables that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from permtest._html import grid, said, together
from permtest.many.corrections import CORRECTIONS
from permtest.result import counted

if TYPE_CHECKING:
    from permtest.many.leaderboard import Leaderboard

#: Systems that a sentence names at most, and that a table shows.
NAMED, SHOWN = 12, 50
#: Of means below this, four decimals make a lattice that is short enough for exact p-values.
SMALL_SCORES = 2.0


def text(board: Leaderboard) -> str:
    """What was compared, and a sentence for each data set."""
    sides = "two-sided" if board.alternative == "two-sided" else "one-sided"
    head = (
        f"{counted(len(board.systems), 'systems')}, {board.metric}, by exact {sides} "
        f"paired-permutation tests. Score: {board.score.described}.{_inexact(board)}"
    )
    return "\n".join([head, *(sentence(board, name) for name in board.data_sets)])


def _inexact(board: Leaderboard) -> str:
    """How many p-values are samples or bounds, how close these are, and how to get exact ones."""
    methods, found = board.method.ravel(), ""
    for method, one, many in (
        ("monte_carlo", "sampled", "sampled"),
        ("bracket", "an upper bound", "upper bounds"),
    ):
        number = int(np.count_nonzero(methods == method))
        if number == 0:
            continue
        some = f"Of {counted(methods.size, 'p-values')}, {number} {'is' if number == 1 else 'are'}"
        if number == methods.size > 1:
            some = f"All {number} p-values are"
        found += f" {some} {one if number == 1 else many}"
        if method == "bracket":
            most = float(board.error_bound[board.method == method].max())
            found += f", too large by a share of {most:.1g} at most, because the scores have many"
            small = float(np.abs(board.values).max()) < SMALL_SCORES
            rounded = "; scores rounded to four decimals have exact p-values"
            found += " digits" + rounded * (small and board.metric in ("mean", "sum"))
        found += "."
    return found


def sentence(board: Leaderboard, data_set: str) -> str:
    """Who leads on a data set, how many pairs differ, and how many hang on random labellings."""
    one = board[data_set]
    where = f"{data_set}: " if data_set else ""
    lead = "" if one.baseline is not None else f"{_lead(one)}. "
    family = ", all data sets together" if one.family == "all" else ""
    level = f"at a level of {one.alpha:g} ({CORRECTIONS[one.correction].title}{family})"
    items, clusters = counted(one.n[0], "items"), one.n_clusters[0]
    items += "" if clusters is None else f" in {counted(clusters, 'clusters')}"
    number = int(one.undecided.sum())
    are = f"{counted(number, 'pairs')} {'is' if number == 1 else 'are'}"
    close = f" {are} too close to call with K = {one.K}." if number else ""
    return f"{where}{lead}{_share(one)} {level}, over {items}.{close}"


def _share(one: Leaderboard) -> str:
    """How many pairs differ, and from what."""
    number, total = int(one.differs.sum()), one.first.size
    ending = "s" * (1 in (number, total))
    if one.alternative != "two-sided":
        more = "more" if one.alternative == "greater" else "less"
        return f"{number} of {counted(total, 'systems')} score{ending} {more} than {one.baseline}"
    pairs = f"{number} of {counted(total, 'pairs')} differ{ending}"
    return pairs if one.baseline is None else f"{pairs} from {one.baseline}"


def _lead(one: Leaderboard) -> str:
    """Who leads, and who is tied with that."""
    places = dict(zip(one.systems, one.places().tolist(), strict=True))
    best = [name for name in one.tied_with_best() if places[name] == 1]
    rest = [name for name in one.tied_with_best() if places[name] > 1]
    lead, it = f"{_listed(best)} leads", "it"
    if len(best) > 1:
        lead, it = f"{_listed(best)} lead together", "them"
    if not rest:
        return lead if len(best) > 1 else f"{lead} alone"
    return f"{lead}; {_listed(rest)} {'are' if len(rest) > 1 else 'is'} tied with {it}"


def _listed(names: list[str]) -> str:
    """All names; of many, how many they are."""
    if len(names) > NAMED:
        return f"{len(names)} systems"
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]


def html(board: Leaderboard) -> str:
    """A table for each data set."""
    parts = []
    for name in board.data_sets:
        header, cells = ranking(board, name)
        parts.append(grid(header, cells[:SHOWN], sentence(board, name)))
        if len(cells) > SHOWN:
            parts.append(said(f"{len(cells) - SHOWN} more systems are in ranking()."))
    return together(*parts)


def ranking(board: Leaderboard, data_set: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and cells of the ranking on a data set, as people write them."""
    rows = board[data_set].ranking().itertuples()
    if board.baseline is not None:
        header = ("system", board.metric, f"less {board.baseline}", "p", "adjusted p", "differs")
        return header, [
            (
                row.system,
                f"{row.value:.6g}",
                f"{row.difference:+.4g}",
                f"{row.pvalue:.3g}",
                f"{row.adjusted:.3g}",
                "yes" if row.differs else "no",
            )
            for row in rows
        ]
    letters = letters_of(board.groups(data_set))
    cells: list[tuple[str, ...]] = []
    for row in rows:
        low, high = row.rank_low, row.rank_high
        possible = f"{low}" if low == high else f"{low} to {high}"
        tied = "yes" if row.tied_with_best else ""
        alike = letters.get(row.system, "")
        cells.append((f"{row.rank}", row.system, f"{row.value:.6g}", possible, alike, tied))
    header = ("rank", "system", board.metric, "possible ranks", "alike", "tied with the best")
    return header, cells


def letters_of(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """A letter for each group that a system is in; of more than three the first and the last.

    Systems that share a letter do not differ: the compact letter display.

    Examples
    --------
    >>> letters_of([["crf", "svm"], ["svm", "hmm"]])
    {'crf': 'a', 'svm': 'ab', 'hmm': 'b'}
    """

    def letter(number: int) -> str:
        return (letter(number // 26 - 1) if number > 25 else "") + chr(ord("a") + number % 26)

    found: dict[str, list[str]] = {}
    for number, group in enumerate(groups):
        for system in group:
            found.setdefault(system, []).append(letter(number))
    few = {name for name, own in found.items() if len(own) < 4 and len(own[-1]) == 1}
    return {
        name: "".join(own) if name in few else f"{own[0]}-{own[-1]}" for name, own in found.items()
    }
