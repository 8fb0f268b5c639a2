"""A leaderboard in sentences, and in the tables that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest._html import grid, said, together
from permtest.many.multiplicity import CORRECTIONS
from permtest.many.rows import of_systems
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
    """How many p-values are samples or bounds, and how to get exact ones."""
    methods, said_so = board.method.ravel().tolist(), ""
    for method, what in (("monte_carlo", "sampled"), ("bracket", "upper bounds")):
        number = methods.count(method)
        if number:
            verb = "is" if number == 1 else "are"
            kind = "an upper bound" if number == 1 and method == "bracket" else what
            some = f"Of {counted(len(methods), 'p-values')}, {number} {verb}"
            some = f"All {number} p-values are" if number == len(methods) > 1 else some
            said_so += f" {some} {kind}"
            said_so += "." if method == "monte_carlo" else f", {_how_far(board)}."
    return said_so


def _how_far(board: Leaderboard) -> str:
    """How close upper bounds are, and what would make them exact."""
    most = float(board.error_bound[board.method == "bracket"].max())
    text = f"too large by a share of {most:.1g} at most, because the scores have many digits"
    if float(np.abs(board.values).max()) < SMALL_SCORES and board.metric in ("mean", "sum"):
        return f"{text}; scores rounded to four decimals have exact p-values"
    return text


def sentence(board: Leaderboard, data_set: str) -> str:
    """Who leads on a data set, and how many pairs differ."""
    one = board[data_set]
    where = f"{data_set}: " if data_set else ""
    family = ", all data sets together" if one.family == "all" else ""
    level = f"at a level of {one.alpha:g} ({CORRECTIONS[one.correction].title}{family})"
    lead = "" if one.baseline is not None else f"{_lead(one)}. "
    return f"{where}{lead}{_share(one)} {level}, over {_items(one)}.{_open(one)}"


def _items(one: Leaderboard) -> str:
    """How many there are, and how many clusters, if those are swapped."""
    items, clusters = counted(one.n[0], "items"), one.n_clusters[0]
    return items if clusters is None else f"{items} in {counted(clusters, 'clusters')}"


def _open(one: Leaderboard) -> str:
    """How many pairs hang on the random labellings."""
    number = int(one.undecided.sum())
    if number == 0:
        return ""
    are = "is" if number == 1 else "are"
    return f" {counted(number, 'pairs')} {are} too close to call with K = {one.K}."


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
    tied = one.tied_with_best()
    best = [name for name in tied if places[name] == 1]
    rest = [name for name in tied if places[name] > 1]
    if len(best) > 1:
        lead = f"{_listed(best)} lead together"
        return f"{lead}; {_listed(rest)} {_are(rest)} tied with them" if rest else lead
    lead = f"{best[0]} leads"
    return f"{lead}; {_listed(rest)} {_are(rest)} tied with it" if rest else f"{lead} alone"


def _listed(names: list[str]) -> str:
    """All names; of many, how many they are."""
    if len(names) > NAMED:
        return f"{len(names)} systems"
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]


def _are(names: list[str]) -> str:
    return "are" if names[1:] else "is"


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
    """Header and cells of the ranking on a data set, as people write them.

    Parameters
    ----------
    board : Leaderboard
    data_set : str

    Returns
    -------
    header : tuple of str
    cells : list of tuple of str
    """
    rows = of_systems(board, data_set)
    if board.baseline is not None:
        header = ("system", board.metric, f"less {board.baseline}", "p", "adjusted p", "differs")
        return header, [_against(row) for row in rows]
    letters = letters_of(board.groups(data_set))
    header = ("rank", "system", board.metric, "may be", "alike", "tied with the best")
    return header, [_ranked(row, letters.get(row["system"], "")) for row in rows]


def letters_of(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """A letter for each group that a system is in; of more than three the first and the last.

    Systems that share a letter do not differ: the compact letter display.

    Parameters
    ----------
    groups : sequence of sequence of str
        Runs of a ranking.

    Returns
    -------
    dict of str to str

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


def _against(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = f"{row['value']:.6g}", f"{row['difference']:+.4g}", f"{row['pvalue']:.3g}"
    return row["system"], *numbers, f"{row['adjusted']:.3g}", "yes" if row["differs"] else "no"


def _ranked(row: dict[str, Any], alike: str) -> tuple[str, ...]:
    low, high = row["rank_low"], row["rank_high"]
    may_be = f"{low}" if low == high else f"{low} to {high}"
    tied = "yes" if row["tied_with_best"] else ""
    return str(row["rank"]), row["system"], f"{row['value']:.6g}", may_be, alike, tied
