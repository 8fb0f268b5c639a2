"""One more system on a leaderboard that differs from another by some items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from permtest.many.table import ScoreTable


def with_variant(
    table: ScoreTable, base: str, gains: int, losses: int, *, name: str = "new", rng: int = 0
) -> ScoreTable:
    """Add a system that is another one but for some items, drawn at random.

    Parameters
    ----------
    table : ScoreTable
        Of the statistic "mean", with a score of 0 or 1 for each item.
    base : str
        The system that the new one resembles.
    gains, losses : int
        How many of the items that the base has wrong it has right, and the other way round.
    name : str, default "new"
        What it is called.
    rng : int, default 0
        Seed. With the same one, more gains are the same items and others.

    Returns
    -------
    ScoreTable

    Raises
    ------
    ValueError
        If there is no such base, a system of that name already, or not so many items.

    Examples
    --------
    >>> from permtest import ScoreTable
    >>> from permtest.many.variant import with_variant
    >>> table = ScoreTable.of({"old": [1, 1, 0, 0, 0], "older": [1, 0, 0, 0, 0]})
    >>> more = with_variant(table, "old", 2, 1)
    >>> more.systems, [float(x) for x in more.exact_values]
    (('old', 'older', 'new'), [0.4, 0.2, 0.6])
    """
    if base not in table.systems:
        raise ValueError(f"base={base!r} is no system; there are {', '.join(table.systems)}")
    if name in table.systems:
        raise ValueError(f"name={name!r} is a system already; choose another name")
    scores = table.scores[table.systems.index(base)].copy()
    order = np.random.default_rng(rng).permutation(scores.size)
    right = scores[order] != 0
    for what, number, items, score in (
        ("gains", gains, order[~right], table.scale),
        ("losses", losses, order[right], 0),
    ):
        if not 0 <= number <= items.size:
            raise ValueError(f"{what}={number} must lie between 0 and {items.size}")
        scores[items[:number]] = score
    rows = np.concatenate([table.scores, scores[None]])
    return replace(table, systems=(*table.systems, name), scores=rows, source={})
