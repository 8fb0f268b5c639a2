"""What Hypothesis draws: pairs of score columns with the shapes that break things."""

from __future__ import annotations

from hypothesis import strategies as st

#: Small scores (many ties and zeros), signed ones, and counts far beyond int64.
SCORES = {
    "binary": st.integers(0, 1),
    "small": st.integers(0, 6),
    "signed": st.integers(-9, 9),
    "even": st.integers(-4, 4).map(lambda x: 2 * x),
    "huge": st.sampled_from([10**30, -(10**30), 10**30 + 3, 2**63, -(2**63), 0]),
}


def pairs(kinds: tuple[str, ...] = tuple(SCORES), max_size: int = 10):
    """(u, v): two lists of one length, from empty to `max_size`."""
    score = st.sampled_from([SCORES[kind] for kind in kinds]).flatmap(
        lambda scores: st.lists(st.tuples(scores, scores), max_size=max_size)
    )
    return score.map(lambda rows: ([a for a, _ in rows], [b for _, b in rows]))


def effects(max_size: int = 40, bound: int = 30):
    """Local effects (stay, swap), not antisymmetric."""
    value = st.integers(-bound, bound)
    return st.lists(st.tuples(value, value), max_size=max_size)


alternatives = st.sampled_from(["two-sided", "greater", "less"])
