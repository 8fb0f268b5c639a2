"""What ``permtest leaderboard`` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from permtest import __version__
from permtest.cli.shared import aligned, direction
from permtest.null.probability import UNDERFLOW

if TYPE_CHECKING:
    from permtest.many import Leaderboard


def as_text(boards: Sequence[Leaderboard], sources: Mapping[str, Any], pairs: bool) -> str:
    """A ranking and a sentence for each data set, and what is known of all of them.

    Parameters
    ----------
    boards : sequence of Leaderboard
        The board; and that of all data sets together, where there are several.
    sources : mapping of str to dict
        Data set -> what the reader said of it.
    pairs : bool
        Whether all pairs are listed.

    Returns
    -------
    str
    """
    parts = []
    for board in boards:
        for name in board.data_sets:
            head = f"{name}\n\n" if name else ""
            parts += [head + _ranking(board, name), board.sentence(name)]
            parts += [_pairs(board, name)] if pairs else []
            parts += [f"data   {sources[name]['read']}"] if name in sources else []
    several = len(sources) > 1
    parts.append(f"score  {direction(boards[0].score)}")
    return "\n\n".join([*parts, *([str(boards[0].replicability())] if several else [])])


def _ranking(board: Leaderboard, name: str) -> str:
    """The systems from the best to the worst."""
    from permtest.many.wording import ranking

    header, cells = ranking(board, name)
    if board.baseline is not None:
        return aligned([header, *cells])
    letters = letters_of(board.groups(name))
    room = max(map(len, letters.values()), default=0)
    rows = [("rank   system", header[2], header[3], "alike", "")]
    for rank, system, value, may_be, tied in cells:
        alike = letters.get(system, "").ljust(room)
        rows.append((f"{rank:>4}   {system}", value, may_be, alike, "*" * bool(tied)))
    key = "* is the best, or does not differ from it"
    more = "; systems that share a letter do not differ" if letters else ""
    return f"{aligned(rows)}\n{key}{more}"


def letters_of(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """The letters of each system, one for each group that it is in.

    Parameters
    ----------
    groups : sequence of sequence of str
        Runs of a ranking.

    Returns
    -------
    dict of str to str
        Of more than three groups the first and the last letter, as groups follow each other.

    Examples
    --------
    >>> letters_of([["crf", "svm"], ["svm", "hmm"]])
    {'crf': 'a', 'svm': 'ab', 'hmm': 'b'}
    """
    found: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for system in group:
            found.setdefault(system, []).append(number)
    return {
        system: "".join(map(_letter, numbers))
        if len(numbers) < 4 and max(numbers) < 26
        else f"{_letter(numbers[0])}-{_letter(numbers[-1])}"
        for system, numbers in found.items()
    }


def _letter(number: int) -> str:
    """a to z, then aa, ab, ..."""
    head, rest = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + rest)


def _pairs(board: Leaderboard, name: str) -> str:
    """All pairs of systems, each with its p."""
    one = board[name]
    columns = (one.statistic, one.log10_pvalue, one.pvalue, one.adjusted, one.differs)
    rows = [
        (
            f"{one.systems[i]} - {one.systems[j]}",
            f"{difference:+.6g}",
            f"{p:.6g}" if p > UNDERFLOW else f"{Context(prec=6).power(10, Decimal(log10)):g}",
            f"{adjusted:.6g}",
            "yes" if differs else "no",
        )
        for i, j, difference, log10, p, adjusted, differs in zip(
            one.first, one.second, *(column[0].tolist() for column in columns), strict=True
        )
    ]
    return aligned([("pair", "difference", "p", "adjusted p", "differs"), *rows])


def as_json(boards: Sequence[Leaderboard], sources: Mapping[str, Any]) -> str:
    """The same, and all numbers, as one JSON object.

    Parameters
    ----------
    boards, sources
        As in `as_text`.

    Returns
    -------
    str
    """
    found = boards[0].to_dict()
    found["rankings"] = [_facts(board, name) for board in boards for name in board.data_sets]
    found["sources"] = sources
    found["overall"] = boards[1].to_dict() if boards[1:] else None
    found["replicability"] = boards[0].replicability().to_dict() if len(sources) > 1 else None
    return json.dumps(found | {"version": __version__}, allow_nan=False)


def _facts(board: Leaderboard, name: str) -> dict[str, Any]:
    """What a ranking says."""
    systems = board[name].ranking().to_dict("records")
    facts = {"data_set": name, "systems": systems, "sentence": board.sentence(name)}
    if board.baseline is not None:
        return facts
    return facts | {"tied_with_best": board.tied_with_best(name), "groups": board.groups(name)}
