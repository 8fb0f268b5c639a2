"""Counts of data sets against their definition and their promise; p of several against SciPy."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from permtest import ScoreTable, compare_many
from permtest.many.corrections import Replicability, named_by_holm

CASES = 2000

shares = st.builds(Fraction, st.integers(1, 64), st.just(64))
some = st.lists(shares, min_size=1, max_size=6)


def bonferroni(pvalues):
    """p of the hypothesis that there is no effect at all."""
    some = list(pvalues)
    return min(len(some) * min(some), Fraction(1))


def partial_conjunction(pvalues):
    """For each u: fewer than u effects, so that some D - u + 1 data sets have none at all."""
    sizes = range(len(pvalues), 0, -1)
    worst = [max(map(bonferroni, combinations(pvalues, size))) for size in sizes]
    return [*accumulate(worst, max)]


def count_of(p, alpha=0.05):
    """On how many data sets there is an effect, at least, at level alpha on the first side."""
    p = np.asarray(p, dtype=float).reshape(len(p), -1)
    sides = p, np.ones_like(p)
    return (named_by_holm(*sides, 2 * alpha) > 0).sum(axis=0)


# ---- the count ---------------------------------------------------------------------------------


@given(some, shares)
def test_the_count_is_the_partial_conjunction(p, alpha):
    """The largest u whose p^{u/D}, the worst of all subsets, is small enough."""
    if alpha < Fraction(1, 2):
        assert count_of(p, float(alpha)) == sum(x <= alpha for x in partial_conjunction(p))


def _simulated(k, size, rng, correlation=0.0):
    """p of normal scores on data sets of which k have a clear effect."""
    common = rng.normal(size=CASES)
    z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(size, CASES))
    return np.maximum(ndtr(z - 30 * (np.arange(size) < k)[:, None]), 5e-324)


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_the_count_exceeds_the_truth_in_alpha_of_all_cases_at_most(k):
    """With k clear effects the bound is sharp: some cases have to exceed it."""
    count = count_of(_simulated(k, 6, np.random.default_rng(7 + k)))
    share, error = np.mean(count > k), (0.05 * 0.95 / CASES) ** 0.5
    assert 0.05 - 4 * error <= share <= 0.05 + 3 * error
    assert np.all(count >= k)
    assert np.mean(count_of(_simulated(1, 6, np.random.default_rng(3), 0.9)) > 1) <= 0.05


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
