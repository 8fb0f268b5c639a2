"""E-processes: fair bets whatever the sizes, valid at any time."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import Scores, e_process
from permtest.sequential import BETS
from tests import naive

SIZES = st.lists(st.integers(-6, 6), min_size=1, max_size=7)


@given(SIZES, st.sampled_from([("two-sided", [-1, 1]), ("greater", [1]), ("less", [-1])]))
def test_values_one_bet_at_a_time(d, way):
    alternative, sides = way
    bets = [side * bet for side in sides for bet in BETS.tolist()]
    found = e_process(d, [0] * len(d), alternative=alternative)
    assert found.values == pytest.approx(naive.e_values(d, bets), rel=1e-12)
    assert found.pvalues == pytest.approx(
        [min(1.0, 1 / max(found.values[: n + 1])) for n in range(len(d))], rel=1e-12
    )


@given(SIZES)
def test_bets_are_fair_for_any_sizes(d):
    every = [
        e_process(np.array(d) * signs, np.zeros(len(d), int)).values
        for signs in product([1, -1], repeat=len(d))
    ]
    assert np.mean(every, axis=0) == pytest.approx(np.ones(len(d)), rel=1e-12)


def test_looking_after_every_item_keeps_the_level():
    rng = np.random.default_rng(0)
    rejected = [e_process(rng.standard_t(3, 300), np.zeros(300)).pvalue <= 0.05 for _ in range(600)]
    assert np.mean(rejected) <= 0.05


def test_clusters_words_and_edges():
    found = e_process([1, 2, 3, 4], [0, 0, 0, 1], clusters=["x", "y", "x", "y"])
    assert found.values.tolist() == e_process([4, 6], [0, 1]).values.tolist()
    assert (found.n, found.to_dict()["n"]) == (2, 2)
    assert e_process([], []).pvalue == 1
    assert (e_process([1, 1], [1, 1]).values == 1).all()
    assert np.isfinite(e_process([1] * 5000, [0] * 5000).values).all()
    found = e_process(Scores.of([3, 5, 6], [1, 1, 1], ("new", "old")))
    assert str(found).startswith("Evidence that new and old differ, after 3 items: E = 1.")
    assert "it was never at most 0.05" in str(found)
    up = e_process([1] * 30, [0] * 30, alternative="greater", names=("new", "old"))
    assert "Evidence that new scores higher than old" in str(up)
    assert f"at most 0.05 for the first time after {up.first_below()} items" in str(up)
    with pytest.raises(ValueError, match="one score"):
        e_process(Scores.of_counts({"x": [[1, 2]], "y": [[1, 1]]}))
