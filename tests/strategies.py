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


def graded_pairs(kinds: tuple[str, ...] = tuple(SCORES), max_size: int = 10):
    """The same, but not all scores are 0 and 1, which have intervals and margins of their own."""
    return pairs(kinds, max_size).filter(lambda columns: not {*columns[0], *columns[1]} <= {0, 1})


def effects(max_size: int = 40, bound: int = 30):
    """Local effects (stay, swap), not antisymmetric."""
    value = st.integers(-bound, bound)
    return st.lists(st.tuples(value, value), max_size=max_size)


alternatives = st.sampled_from(["two-sided", "greater", "less"])


@st.composite
def count_tables(draw, columns: int = 3, max_size: int = 8, largest: int = 4):
    """(u, v): rows of counts of two systems, often for the same gold standard, often equal."""
    count = st.integers(0, draw(st.sampled_from([1, 2, largest])))
    size, same_gold = draw(st.integers(1, max_size)), draw(st.booleans())
    u, v = [], []
    for _ in range(size):
        first = [draw(count) for _ in range(columns)]
        second = first if draw(st.integers(0, 3)) == 0 else [draw(count) for _ in range(columns)]
        if same_gold and columns >= 3 and second is not first:
            found = draw(st.integers(0, first[0] + first[2]))
            second = [found, second[1], first[0] + first[2] - found, *second[3:]]
        u.append(tuple(first))
        v.append(tuple(second))
    return u, v
