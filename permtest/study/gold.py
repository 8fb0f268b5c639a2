"""Whether two systems were judged on the same items, as far as their counts can tell."""

from __future__ import annotations

import numpy as np

from permtest.pairs import Pairs
from permtest.result import counted
from permtest.study.overview_items import legible


def gold_doubt(pairs: Pairs) -> str:
    """What there was to be found, tp + fn, differs between the systems.

    Parameters
    ----------
    pairs : Pairs

    Returns
    -------
    str
        On how many items, and which is the first; empty where it does not differ, or cannot.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.study.gold import gold_doubt
    >>> columns = [("tp", "fp", "fn")]
    >>> gold_doubt(Pairs.of_counts([[2, 0, 1]], [[1, 1, 1]], columns)).partition(",")[0]
    'tp + fn differs between the systems on 1 of 1 item'
    """
    if not {"tp", "fn"} <= set(pairs.columns) or pairs.u.ndim > 2:
        return ""
    found, missed = pairs.columns.index("tp"), pairs.columns.index("fn")
    gold = [x[:, found] + x[:, missed] for x in (pairs.u, pairs.v)]
    other = np.flatnonzero(gold[0] != gold[1])
    if other.size == 0:
        return ""
    i = int(other[0])
    name = f"item {i + 1}" if pairs.ids is None else legible(pairs.ids[i])
    return (
        f"tp + fn differs between the systems on {other.size} of {counted(len(pairs), 'items')}, "
        f"first for {name} ({gold[0][i]} and {gold[1][i]}); are they the same items?"
    )
