"""Counts of data sets against their definition."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import ScoreTable, compare_many
from permtest.many.corrections import Replicability, named_by_holm

shares = st.integers(1, 64).map(lambda x: Fraction(x, 64))


# ---- the count ---------------------------------------------------------------------------------


def bonferroni(pvalues):
    """p of the hypothesis that there is no effect at all."""
    return min(len(pvalues) * min(pvalues), Fraction(1))


def partial_conjunction(pvalues):
    """For each u: fewer than u effects, so that some D - u + 1 data sets have none at all."""
    sizes = range(len(pvalues), 0, -1)
    worst = [max(map(bonferroni, combinations(pvalues, size))) for size in sizes]
    return [*accumulate(worst, max)]


@given(st.lists(shares, min_size=1, max_size=6), shares.filter(lambda alpha: alpha < 0.5))
def test_the_count_is_the_partial_conjunction(p, alpha):
    """The largest u whose p^{u/D}, the worst of all subsets, is small enough."""
    first = np.array([p], dtype=float).T
    named = named_by_holm(first, np.ones_like(first), 2 * float(alpha))
    assert np.sum(named > 0) == sum(x <= alpha for x in partial_conjunction(p))


# ---- both directions of many pairs -------------------------------------------------------------

SYSTEMS, DATA_SETS = ("new", "old", "<b>base</b>"), ("ewt", "gum", "pud", "tweets")
FIRST, SECOND = [0, 0, 1], [1, 2, 2]
GREATER = [[1e-9, 1, 0.5], [1e-4, 1, 0.6], [0.004, 1e-5, 0.3], [0.3, 1e-12, 0.02]]
LESS = [[1, 1e-4, 0.6], [1, 2e-3, 0.5], [1, 1, 0.8], [0.8, 1, 1]]


@pytest.fixture
def example() -> Replicability:
    better = named_by_holm(np.array(GREATER), np.array(LESS), 0.05)
    return Replicability(SYSTEMS, DATA_SETS, np.array(FIRST), np.array(SECOND), better, 0.05)


def test_an_example(example):
    assert example.first_better.tolist() == [3, 2, 0]
    assert example.second_better.tolist() == [0, 2, 0]
    assert example.better.T.tolist() == [[1, 1, 1, 0], [-1, -1, 1, 1], [0, 0, 0, 0]]
    assert str(example).splitlines() == [
        "The number of the 4 data sets on which one system is better than the other: at least this "
        "many, with an error probability of 0.05 for each pair (Bonferroni, however the data sets "
        "depend on each other), and which ones by Holm's correction.",
        "",
        "first   second        first is better on   second is better on",
        "new     old           3 (ewt, gum, pud)    0",
        "new     <b>base</b>   2 (pud, tweets)      2 (ewt, gum)",
        "old     <b>base</b>   0                    0",
    ]


def test_one_pair_either_way_round(example):
    one = example["new", "<b>base</b>"]
    assert (one.first_better.tolist(), one.second_better.tolist()) == ([2], [2])
    assert example["old", "new"].rows() == [("old", "new", "0", "3 (ewt, gum, pud)")]
    for pair in (("new", "other"), "new", ("new", "new")):
        with pytest.raises(KeyError, match="have not been compared; there are new, old"):
            example[pair]


def test_dict_and_json(example):
    plain = json.loads(example.to_json())
    assert plain == example.to_dict()
    assert plain["better"] == example.better.tolist()
    assert (plain["systems"], plain["data_sets"]) == (list(SYSTEMS), list(DATA_SETS))
    assert (plain["alpha"], plain["first_better"]) == (0.05, [3, 2, 0])


def test_runs_of_all_data_sets_are_runs():
    table = ScoreTable.of({"a": [3, 4, 3, 5], "b": [1, 2, 2, 1]})
    table = replace(table, clusters=("p", "p", "q", "q"), source={"runs": True})
    board = compare_many({"x": table, "y": table})
    assert board.sentence("x").endswith("over 2 items, 2 runs each.")
    assert board.overall().sentence().endswith("over 4 items, 2 runs each.")
    assert board.overall().pvalue[0, 0] == 2 / 2**4
