"""A leaderboard as rows: of all pairs, and of all systems from the best to the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from permtest.many.leaderboard import Leaderboard


def of_pairs(board: Leaderboard) -> dict[str, NDArray[Any]]:
    """Columns with an element for each pair on each data set."""
    size, number = board.first.size, len(board.data_sets)
    names = np.array(board.systems, dtype=object)
    return {
        "data_set": np.repeat(np.array(board.data_sets, dtype=object), size),
        "first": np.tile(names[board.first], number),
        "second": np.tile(names[board.second], number),
        "difference": board.statistic.ravel(),
        "pvalue": board.pvalue.ravel(),
        "log10_pvalue": board.log10_pvalue.ravel(),
        "adjusted": board.adjusted.ravel(),
        "differs": board.differs.ravel(),
        "undecided": board.undecided.ravel(),
        "n_informative": board.n_informative.ravel(),
        "error_bound": board.error_bound.ravel(),
        "method": board.method.ravel(),
    }


def of_systems(board: Leaderboard, data_set: str) -> list[dict[str, Any]]:
    """What is known about each system on a data set, from the best to the worst."""
    one = board[data_set]
    values = dict(zip(one.systems, one.values[0].tolist(), strict=True))
    head = [{"data_set": data_set, "system": name, "value": values[name]} for name in one.order()]
    return _against(one, head) if one.baseline is not None else _ranked(one, head)


def _ranked(one: Leaderboard, head: list[dict[str, Any]]) -> list[dict[str, Any]]:
    numbers = {name: i for i, name in enumerate(one.systems)}
    places, ranges, tied = one.places(), one.rank_ranges(), set(one.tied_with_best())
    for row in head:
        i = numbers[row["system"]]
        low, high = ranges[i].tolist()
        row |= {"rank": int(places[i]), "rank_low": low, "rank_high": high}
        row["tied_with_best"] = row["system"] in tied
    return head


def _against(one: Leaderboard, head: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The comparisons with the baseline; that of itself finds nothing."""
    numbers = {one.systems[i]: p for p, i in enumerate(one.first.tolist())}
    columns: dict[str, tuple[NDArray[Any], Any]] = {
        "difference": (one.statistic, 0.0),
        "pvalue": (one.pvalue, 1.0),
        "adjusted": (one.adjusted, 1.0),
        "differs": (one.differs, False),
    }
    for row in head:
        p = numbers.get(row["system"])
        row |= {
            name: nothing if p is None else found[0, p].item()
            for name, (found, nothing) in columns.items()
        }
    return head


def plain(values: NDArray[Any]) -> list[Any]:
    """Nested lists of plain numbers and strings; None for what is not a number."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return list(values.tolist())
    objects = values.astype(object)
    objects[np.isnan(values)] = None
    return list(objects.tolist())
