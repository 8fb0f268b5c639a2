"""What is accepted as scores, what is refused, and that no value ever changes on the way in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import Scores, exact_perm_test
from permtest.alternatives import paired_t
from permtest.integers import as_integers
from permtest.question import local_effects
from permtest.statistics import score_labels

NAN = float("nan")


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ([1, 0.5], ValueError, r"u\[1\] = 0.5 is not a whole number.*power of ten"),
        ([1, None], ValueError, r"u\[1\] = None is missing; remove the pair from both"),
        ([0, NAN], ValueError, r"u\[1\] = nan is missing"),
        ([0, float("inf")], ValueError, r"u\[1\] = inf is not finite"),
        ([1, "2 m"], ValueError, r"u\[1\] = '2 m' is not a number; convert it first"),
        ([[1, 2], [3, 4]], ValueError, r"one-dimensional, but has shape \(2, 2\)"),
        ([[1, 2], [3]], ValueError, r"one-dimensional, but its rows differ in length"),
        ("123", TypeError, r"one-dimensional sequence of numbers, not str"),
    ],
)
def test_columns_that_are_refused(column, error, message):
    with pytest.raises(error, match=message):
        as_integers(column, "u")


def test_pairs_must_be_of_one_length_and_g_return_integers():
    with pytest.raises(ValueError, match="u has 2 entries and v has 1"):
        Scores.of([1, 2], [1])
    with pytest.raises(ValueError, match=r"u must be one-dimensional.*one column for each system"):
        Scores.of(*np.ones((2, 3, 2), dtype=np.int64))
    with pytest.raises(ValueError, match=r"g\(u, v\)\[1\] = 0.5 is not a whole number"):
        local_effects([2, 1], [0, 0], lambda a, b: (a - b) / 2)


def test_systems_have_different_names():
    with pytest.raises(ValueError, match="two strings that differ"):
        Scores.of([1], [1], ("a", 2))
    with pytest.raises(ValueError, match="two or more different names"):
        Scores.of_columns({"a": [1, 2]})
    with pytest.raises(ValueError, match=r"scores\['b'\]\[1\] = None is missing"):
        Scores.of_columns({"a": [1, 2], "b": [1, None]})


def test_two_of_several_systems():
    several = Scores.of_columns({"a": [1, 2], "b": [0.5, 1], "c": [3, 3]}, score="acc")
    assert (several.values.tolist(), several.scale) == ([[10, 20], [5, 10], [30, 30]], 10)
    assert [float(mean) for mean in several.means] == [1.5, 0.75, 3.0]
    assert [Scores.of(x, x).means for x in ([], [3])] == [(0, 0), (3, 3)]
    two = several.pair(2, 0)
    assert (two.names, two.differences().tolist(), two.score) == (("c", "a"), [20, 10], "acc")
    with pytest.raises(ValueError, match="3 systems; choose two"):
        exact_perm_test(several)


def test_columns_of_different_items_are_not_paired_by_order():
    u = pd.Series([1, 2, 3], index=["s1", "s2", "s3"])
    v = pd.Series([1, 2, 3], index=["s1", "s3", "s2"])
    with pytest.raises(ValueError, match=r"row 1: s2 and s3.*align"):
        Scores.of(u, v)
    with pytest.raises(ValueError, match="different indexes"):
        exact_perm_test(u, v, lambda a, b: a - b)
    assert Scores.of(u, v.to_numpy()).u.tolist() == [1, 2, 3]


def test_names_come_from_the_columns_unless_given():
    frame = pd.DataFrame({"new": [1, 2], "old": [0, 1]})
    assert Scores.of(frame["new"], frame["old"]).names == ("new", "old")
    assert Scores.of(frame["new"], [0, 1]).names == ("new", "v")
    assert Scores.of(frame["new"].rename(3), frame["old"].rename(5)).names == ("u", "v")
    assert Scores.of(frame["new"], frame["old"], ("x", "y")).names == ("x", "y")
    assert Scores.of(frame["new"], frame["new"]).names == ("u", "v")
    assert Scores.of(pl.Series("a", [1]), pl.Series("b", [2])).names == ("a", "b")


def test_g_is_called_with_numbers_that_cannot_wrap_around():
    u, v = np.array([0, 3], dtype=np.uint8), np.array([2, 1], dtype=np.uint8)
    stay, swap = local_effects(u, v, lambda a, b: a - b)
    assert (stay.tolist(), swap.tolist()) == ([-2, 2], [2, -2])
    stay, _ = local_effects(u[:, None], v[:, None], lambda a, b: (a - b)[0])
    assert stay.tolist() == [-2, 2]


# ---- names and clusters of items ---------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("xyz")), min_size=1)
)
def test_scores_bring_their_clusters(rows):
    u, v, labels = zip(*rows, strict=True)
    scores = Scores.of(u, v, clusters=labels)
    whole = scores.units
    expected = exact_perm_test(u, v, clusters=labels).fraction()
    assert exact_perm_test(scores).fraction() == expected
    assert exact_perm_test(whole).fraction() == expected
    assert whole.ids == tuple(dict.fromkeys(labels))
    assert whole.clusters is None
    assert whole.u.tolist() == [sum(x for x, _, c in rows if c == label) for label in whole.ids]


def test_clusters_that_are_given_go_before_those_of_the_scores():
    scores = Scores.of([3, 1, 2], [1, 2, 0], clusters=("x", "x", "y"))
    assert exact_perm_test(scores, clusters=[1, 2, 3]).n == 3
    assert exact_perm_test(scores).n == 2
    with pytest.raises(ValueError, match="ids has 1 entries for 2 items"):
        Scores.of([1, 2], [3, 4], ids=("a",))
    with pytest.raises(ValueError, match=r"test scores.units"):
        paired_t(scores)


# ---- runs and labels ---------------------------------------------------------------------------


def test_scores_of_runs_are_their_means():
    scores = Scores.of_runs({"a": [[1, 0.5], [0, 1, 1]], "b": [[0], [0.5, 0]]})
    means = [[x / scores.scale for x in column.tolist()] for column in scores.arrays]
    assert means == [[0.75, pytest.approx(2 / 3)], [0, 0.25]]
    a, _ = scores.runs
    assert (a.totals.tolist(), a.scale) == ([15, 20], 10)
    assert exact_perm_test(scores).swapped == "items"
    for runs, message in (
        ({"a": [[1], []], "b": [[1], [1]]}, r"a\[1\] is no list of runs, or has none"),
        ({"a": [[1], 1], "b": [[1], [1]]}, r"a\[1\] is no list of runs, or has none"),
        ({"a": [[1, 2], [3, None]], "b": [[1], [1]]}, r"a\[1, 1\] = None is missing"),
        ({"a": [[1]], "b": [[1], [1]]}, "a has 1 entries and b has 2"),
        ({"a": [[0.1234567890123456]], "b": [[1]]}, "round them"),
    ):
        with pytest.raises(ValueError, match=message):
            Scores.of_runs(runs)


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("accuracy", [[1, 0, 1, 1], [0, 1, 1, 0]]),
        ("f1", [[[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]]]),
        ("macro_f1", [[[[0, 0, 0], [1, 0, 0]], [[0, 0, 1], [0, 1, 0]]]]),
    ],
)
def test_labels_are_scored(statistic, expected):
    said = {"a": [1, 1, 0, 1], "b": ["0", "0", "0", "0"]}
    scores = score_labels([1, 0, 0, 1], said, statistic)
    assert scores.higher_is_better
    for found, some in zip(scores.arrays, expected, strict=False):
        assert found[: len(some)].tolist() == some


def test_labels_that_cannot_be_scored():
    both = {"a": ["yes", "no"], "b": ["no", "no"]}
    with pytest.raises(ValueError, match="no label in common"):
        score_labels(["1", "0"], both)
    with pytest.raises(ValueError, match="name it with pos_label"):
        score_labels(["yes", "no"], both, "f1")
    assert score_labels(["yes", "no"], both, "f1", "yes").u.tolist() == [[1, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="pos_label is for measures of one label"):
        score_labels(["yes", "no"], both, "accuracy", "yes")
    with pytest.raises(ValueError, match="gold has 1 entries and a has 2"):
        score_labels(["yes"], both)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.12345, 0.5, None])), min_size=1))
def test_equal_floats_are_ties_whatever_else_is_in_their_columns(rows):
    u = [k / 3 for k, _ in rows]
    v = [x if other is None else other for x, (_, other) in zip(u, rows, strict=True)]
    scores = Scores.of(u, v)
    for i, (x, y) in enumerate(zip(u, v, strict=True)):
        assert (scores.u[i] == scores.v[i]) == (x == y)


def test_scores_that_are_passed_on_take_new_fields():
    scores = Scores.of([1, 2, 3], [0, 1, 5])
    assert Scores.of(scores) is scores
    other = Scores.of(scores, names=("x", "y"), higher_is_better=False)
    assert (other.names, other.higher_is_better) == (("x", "y"), False)
