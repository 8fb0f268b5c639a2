"""Ranks, ties and groups: what pairs that differ say about an order."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from permtest.many.ranks import in_order, verdicts


@st.composite
def boards(draw):
    """Values of some systems, and which pairs differ; equal values never do."""
    values = draw(st.lists(st.integers(0, 5), min_size=2, max_size=7))
    pairs = list(combinations(range(len(values)), 2))
    differ = [draw(st.booleans()) and values[i] != values[j] for i, j in pairs]
    return values, pairs, differ


def found_in(board):
    values, pairs, differ = board
    first, second = np.array(pairs).T
    return verdicts(np.array(values), first, second, np.array(differ))


@given(boards())
def test_ranks_are_counts_of_better_systems(board):
    values, pairs, differ = board
    found = found_in(board)
    assert found.places.tolist() == [1 + sum(x > own for x in values) for own in values]
    unequal = {frozenset(pair) for pair, flag in zip(pairs, differ, strict=True) if flag}
    for i, own in enumerate(values):
        others = [j for j in range(len(values)) if frozenset((i, j)) in unequal]
        above, below = (sum(sign * values[j] > sign * own for j in others) for sign in (1, -1))
        assert found.ranges[i].tolist() == [1 + above, len(values) - below]
        assert found.ranges[i][0] <= found.places[i] <= found.ranges[i][1]
    best = [i for i, x in enumerate(values) if x == max(values)]
    tied = {i for i in range(len(values)) if not any({i, j} in unequal for j in best)}
    assert set(found.tied_with_best) == tied
    assert [values[i] for i in found.order] == sorted(values, reverse=True)


@given(boards())
def test_groups_are_the_longest_runs_without_a_difference(board):
    values, pairs, differ = board
    found = found_in(board)
    unequal = {frozenset(pair) for pair, flag in zip(pairs, differ, strict=True) if flag}
    order, size = found.order, len(values)
    runs = [
        set(order[a:b])
        for a in range(size)
        for b in range(a + 2, size + 1)
        if not any({i, j} in unequal for i, j in combinations(order[a:b], 2))
    ]
    longest = [run for run in runs if not any(run < other for other in runs)]
    assert [set(run) for run in found.groups] == longest


def test_exact_values_keep_an_order_that_floats_lose():
    tiny = Fraction(1, 10**30)
    values = [Fraction(1, 3), Fraction(1, 3) + tiny, Fraction(1, 3), Fraction(-1)]
    assert in_order(values).tolist() == [1, 2, 1, 0]
