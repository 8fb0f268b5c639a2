"""What is accepted as scores, what is refused, and that no value ever changes on the way in."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import Pairs, alternatives, exact_perm_test
from permtest.integers import as_integers
from permtest.pairs import local_effects


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_],
)
def test_extremes_of_every_dtype_do_not_wrap_around(dtype):
    low, high = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    u, v = np.array([high, low], dtype=dtype), np.array([low, low], dtype=dtype)
    result = exact_perm_test(u, v)
    assert result.statistic == int(high) - int(low)
    assert result.pvalue == 1.0
    assert result.n_informative == 1


NAN = float("nan")


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ([1, 0.5], ValueError, r"u\[1\] = 0.5 is not a whole number.*power of ten"),
        (np.array([1.5, 2]), ValueError, r"u\[0\] = 1.5 is not a whole number"),
        ([1, None], ValueError, r"u\[1\] = None is missing; remove the pair from both"),
        ([0, NAN], ValueError, r"u\[1\] = nan is missing"),
        ([0, float("inf")], ValueError, r"u\[1\] = inf is not finite"),
        (pd.Series([1, None], dtype="Int64"), ValueError, r"u\[1\] = <NA> is missing"),
        (pl.Series([1, None]), ValueError, r"u\[1\] = None is missing"),
        (np.ma.array([1, 2], mask=[False, True]), ValueError, r"u\[1\] is masked"),
        ([1, "2"], ValueError, r"u\[1\] = '2' is not a number; convert it first"),
        (np.array([1, 2], dtype="datetime64[D]"), ValueError, r"u\[0\] = .* is not a number"),
        ([1 + 0j], ValueError, r"u\[0\] = \(1\+0j\) is not a number"),
        ([[1, 2], [3, 4]], ValueError, r"one-dimensional, but has shape \(2, 2\)"),
        ([[1, 2], [3]], ValueError, r"one-dimensional, but its rows differ in length"),
        ("123", TypeError, r"one-dimensional sequence of numbers, not str"),
        (5, TypeError, r"sequence of numbers, not int"),
        ({1, 2}, TypeError, r"sequence of numbers, not set"),
        ({"a": 1}, TypeError, r"sequence of numbers, not dict"),
    ],
)
def test_columns_that_are_refused(column, error, message):
    with pytest.raises(error, match=message):
        as_integers(column, "u")


def test_pairs_must_be_of_one_length_and_g_return_integers():
    with pytest.raises(ValueError, match="u has 2 entries and v has 1"):
        Pairs.of([1, 2], [1])
    with pytest.raises(ValueError, match="u has 2 entries and v has 1"):
        local_effects([1, 2], [1], lambda a, b: a - b)
    with pytest.raises(ValueError, match=r"g\(u, v\)\[1\] = 0.5 is not a whole number"):
        local_effects([2, 1], [0, 0], lambda a, b: (a - b) / 2)


def test_what_is_missing_is_said():
    with pytest.raises(TypeError, match="v is missing"):
        exact_perm_test([1, 2])
    frame = pd.DataFrame({"a": [1, 2], "b": [0, 1]})
    with pytest.raises(ValueError, match=r"shape \(2, 2\); pass one column for each system"):
        exact_perm_test(frame, frame)
    with pytest.raises(ValueError, match=r"u\[1\] = nan is missing"):
        exact_perm_test(np.array([1, np.nan]), [0, 1])


def test_pairs_built_directly_are_validated_too():
    pairs = Pairs(np.array([1], np.uint8), np.array([3], np.uint8))
    assert exact_perm_test(pairs, alternative="less").statistic == -2
    halves = Pairs([0.5], [1])
    assert (halves.u.tolist(), halves.v.tolist(), halves.scale) == ([5], [10], 10)
    with pytest.raises(ValueError, match="two strings"):
        Pairs([1], [1], ("a", 2))


def test_columns_of_different_items_are_not_paired_by_order():
    u = pd.Series([1, 2, 3], index=["s1", "s2", "s3"])
    v = pd.Series([1, 2, 3], index=["s1", "s3", "s2"])
    with pytest.raises(ValueError, match=r"row 1: s2 and s3.*align"):
        Pairs.of(u, v)
    with pytest.raises(ValueError, match="different indexes"):
        exact_perm_test(u, v, lambda a, b: a - b)
    with pytest.raises(
        ValueError, match=r"no label in common \(first: s1 and 0\).*df\.pivot"
    ) as it:
        Pairs.of(u, v.reset_index(drop=True))
    assert "align" not in str(it.value)
    assert Pairs.of(u, v.to_numpy()).u.tolist() == [1, 2, 3]


def test_names_come_from_the_columns_unless_given():
    frame = pd.DataFrame({"new": [1, 2], "old": [0, 1]})
    assert Pairs.of(frame["new"], frame["old"]).names == ("new", "old")
    assert Pairs.of(frame["new"], [0, 1]).names == ("new", "v")
    assert Pairs.of(frame["new"], frame["old"], ("x", "y")).names == ("x", "y")
    assert Pairs.of(frame["new"], frame["new"]).names == ("u", "v")
    assert Pairs.of(pl.Series("a", [1]), pl.Series("b", [2])).names == ("a", "b")


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
def test_pairs_bring_their_clusters(rows):
    u, v, labels = zip(*rows, strict=True)
    pairs = replace(Pairs.of(list(u), list(v)), clusters=labels)
    whole = pairs.by_cluster()
    expected = exact_perm_test(u, v, clusters=labels).fraction()
    assert exact_perm_test(pairs).fraction() == expected
    assert exact_perm_test(whole).fraction() == expected
    assert whole.ids == tuple(dict.fromkeys(labels))
    assert whole.clusters is None
    assert whole.u.tolist() == [sum(x for x, _, c in rows if c == label) for label in whole.ids]


def test_clusters_that_are_given_go_before_those_of_the_pairs():
    pairs = Pairs([3, 1, 2], [1, 2, 0], clusters=("x", "x", "y"))
    assert exact_perm_test(pairs, clusters=[1, 2, 3]).n == 3
    assert exact_perm_test(pairs).n == 2


def test_tests_of_single_items_refuse_clusters():
    pairs = Pairs([3, 1, 2], [1, 2, 0], clusters=("x", "x", "y"))
    for test in (alternatives.paired_t, alternatives.paired_bootstrap):
        with pytest.raises(ValueError, match=r"by_cluster\(\)"):
            test(pairs)
    assert alternatives.paired_t(pairs.by_cluster()).n == 2


def test_ids_and_clusters_are_as_many_as_the_pairs():
    with pytest.raises(ValueError, match="ids has 1 entries for 2 pairs"):
        Pairs([1, 2], [3, 4], ids=("a",))
    with pytest.raises(ValueError, match="no clusters"):
        Pairs([1, 2], [3, 4]).by_cluster()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.12345, 0.5, None])), min_size=1))
def test_equal_floats_are_ties_whatever_else_is_in_their_columns(rows):
    u = [k / 3 for k, _ in rows]
    v = [x if other is None else other for x, (_, other) in zip(u, rows, strict=True)]
    pairs = Pairs.of(u, v)
    for i, (x, y) in enumerate(zip(u, v, strict=True)):
        assert (pairs.u[i] == pairs.v[i]) == (x == y)
