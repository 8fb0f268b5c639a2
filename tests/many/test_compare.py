"""All pairs at once: the same numbers as one by one, whatever the table looks like."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest.many import leaderboard
from tests import naive
from tests.strategies import SCORES

RNG = np.random.default_rng(8)
BIG = {name: RNG.integers(0, 30, 300) for name in "abcde"}


@st.composite
def tables(draw):
    """A mapping of two to four systems to scores of one length."""
    score = SCORES[draw(st.sampled_from(list(SCORES)))]
    size, n = draw(st.integers(2, 4)), draw(st.integers(1, 7))
    return {f"s{i}": draw(st.lists(score, min_size=n, max_size=n)) for i in range(size)}


def each_pair(board):
    """Number and names of each pair."""
    for k, (i, j) in enumerate(zip(board.first, board.second, strict=True)):
        yield k, board.systems[i], board.systems[j]


@given(tables(), st.sampled_from(["all pairs", "greater", "less", "two-sided"]))
@settings(max_examples=90)
def test_every_pair_is_what_enumeration_says(table, kind):
    """Of all systems, or each against a baseline on any side."""
    side, how, pairs = "two-sided", {}, [*combinations(table, 2)]
    if kind != "all pairs":
        *others, baseline = table
        side, how, pairs = kind, {"baseline": baseline}, [(name, baseline) for name in others]
    board = pt.compare_many(table, alternative=side, statistic="sum", correction="none", **how)
    assert board.systems == tuple(table)
    assert [(a, b) for _, a, b in each_pair(board)] == pairs
    for k, a, b in each_pair(board):
        expected = naive.pvalue(table[a], table[b], h=naive.h_of(side))
        assert board.pvalue[k] == pytest.approx(float(expected), rel=1e-12)
        assert board.statistic[k] == sum(table[a]) - sum(table[b])
        differ = [x != y for x, y in zip(table[a], table[b], strict=True)]
        assert board.n_informative[k] == sum(differ)
        assert board.adjusted[k] == board.pvalue[k]


def test_columns_of_any_kind_mean_the_same():
    plain = pt.compare_many({k: v.tolist() for k, v in BIG.items()}).pvalue
    frame = pd.DataFrame(BIG)
    for table in (
        BIG,
        frame,
        frame.astype("Int64"),
        frame.astype(float),
        frame.astype({"a": "int8", "b": "float32"}),
        pl.DataFrame(BIG),
        {k: tuple(v) for k, v in BIG.items()},
        {k: pd.Series(v) for k, v in BIG.items()},
        pt.ScoreTable.of(BIG),
    ):
        assert np.array_equal(pt.compare_many(table).pvalue, plain)


def test_counts_are_compared_by_a_measure():
    rng = np.random.default_rng(2)
    table = {name: rng.integers(0, 5, (12, 3)) for name in "abc"}
    board = pt.compare_many(table, statistic="f1")
    for k, a, b in each_pair(board):
        single = pt.exact_perm_test(table[a], table[b], statistic="f1")
        assert board.pvalue[k] == single.pvalue
        assert board.statistic[k] == single.statistic
    sums = {name: counts.sum(axis=0) for name, counts in table.items()}
    f1 = [2 * tp / (2 * tp + fp + fn) for tp, fp, fn in sums.values()]
    assert board.values == pytest.approx(f1, rel=1e-15)
    columns = {k: pd.DataFrame(v, columns=["tp", "fp", "fn"]) for k, v in table.items()}
    assert np.array_equal(pt.compare_many(columns, statistic="f1").pvalue, board.pvalue)


def test_whole_clusters_are_swapped():
    labels = np.repeat(np.arange(60), 5)
    board = pt.compare_many(BIG | {"doc": labels}, clusters="doc")
    assert board.systems == tuple("abcde")
    for k, a, b in each_pair(board):
        single = pt.exact_perm_test(BIG[a], BIG[b], statistic="mean", clusters=labels)
        assert board.pvalue[k] == pytest.approx(single.pvalue, rel=1e-12)
        assert board.result(a, b).pvalue == single.pvalue
        assert board.result(a, b).n_entries == 300
    assert board.sentence().endswith("over 300 items in 60 clusters.")
    # Epochs of one prompt: all that any of them says is said by their sums.
    sums = {name: np.add.reduceat(x, np.arange(0, 300, 5)) for name, x in BIG.items()}
    assert np.array_equal(board.pvalue, pt.compare_many(sums, statistic="sum").pvalue)


def test_sections_weigh_alike_if_scores_are_divided_by_their_size():
    """The recipe of the guide: means of section means, held against enumeration."""
    table = {"a": [3, 5, 1, 0, 2, 2], "b": [1, 1, 1, 1, 1, 2], "c": [0, 7, 3, 0, 2, 0]}
    sizes, weights = [2, 2, 4, 4, 4, 4], [2, 2, 1, 1, 1, 1]
    shares = {k: [Fraction(x, n) for x, n in zip(v, sizes, strict=True)] for k, v in table.items()}
    board = pt.compare_many(shares, statistic="sum", correction="none")
    means = {k: Fraction(sum(v[:2]), 2) + Fraction(sum(v[2:]), 4) for k, v in table.items()}
    assert board.values.tolist() == [float(x) for x in means.values()]
    for k, a, b in each_pair(board):
        weighted = [[w * x for w, x in zip(weights, table[s], strict=True)] for s in (a, b)]
        assert board.pvalue[k] == float(naive.count_pvalue(*weighted, abs))
        single = pt.exact_perm_test(shares[a], shares[b])
        assert single.pvalue == board.pvalue[k]
        assert single.statistic == board.statistic[k] == float(means[a] - means[b])


def test_pairs_that_hang_on_the_random_labellings_are_told():
    rng = np.random.default_rng(3)
    table = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}
    p = pt.compare_many(table).pvalue[0]
    board = pt.compare_many(table, correction="max-t", alpha=p, K=1000, rng=0)
    assert (board.correction, board.sampled) == ("max_t", True)
    assert board.undecided.all()
    assert str(board).endswith("1 pair is too close to call with K = 1000.")
    assert board.to_frame().undecided.tolist() == [True]
    for sure in (board.corrected("holm"), pt.compare_many(table, correction="max_t", K=1000)):
        assert not sure.undecided.any()
    few = {"a": [1, 1, 1, 0], "b": [0, 0, 1, 1]}
    assert pt.compare_many(few, correction="max_t", alpha=0.5).sampled is False


def test_what_cannot_be_had_exactly_is_sampled_alike_in_any_order(monkeypatch):
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 9, (25, 4, 3)) for name in "abc"}
    board = pt.compare_many(table, statistic="macro_f1", rng=5)
    assert set(board.method) == {"monte_carlo"}
    assert "Of 3 p-values, 3 are sampled." in str(board)
    for k, a, b in each_pair(board):
        assert board.result(a, b).pvalue == board.pvalue[k]
    monkeypatch.setattr(leaderboard, "LEAST", 1)
    assert np.array_equal(pt.compare_many(table, statistic="macro_f1", rng=5).pvalue, board.pvalue)


FRAME = pd.DataFrame({"id": [1, 2], "a": [1, 2], "b": [2, 2], "cost": [0.1, 0.2]})
TWO = {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1, 2], [2, 3]], {}, "table must be a data frame .* not list"),
        (FRAME, {}, "a column 'id', which does not look like a system"),
        ({"a": FRAME["a"], "b": FRAME["b"].iloc[::-1]}, {}, "different indexes"),
        ({"a": [1, 2]}, {}, "table has 1 system, but"),
        ({"a": [1, 2], "b": [1]}, {}, r"table\['b'\] has 1 scores and table\['a'\] 2"),
        ({"a": [1, 2], "b": [1, None]}, {}, r"table\['b'\]\[1\] = None is missing"),
        ({"a": [], "b": []}, {}, "table has no items; a comparison needs one"),
        ({"a": [1, 2], "b": [1, -1]}, {"statistic": "accuracy"}, r"table\['b'\]\[1\] = -1 is be"),
        (TWO, {"statistic": "f1"}, r"counts of shape \(N, columns\).* \(u is table\['a'\]"),
        (TWO, {"correction": "bonferroni"}, "'holm' controls the same error"),
        (TWO, {"systems": ["a", "c"]}, "no system 'c'; it has a, b"),
        (TWO, {"systems": "ab"}, "systems='ab' must be a list"),
        (TWO, {"baseline": "c"}, "baseline='c' is not a system"),
        (TWO, {"alternative": "greater"}, "name a baseline"),
        (TWO, {"alpha": 0}, r"alpha must lie in \(0, 1\), got 0"),
        (TWO, {"K": -1}, "K = -1 is below 0"),
        (TWO, {"clusters": "doc"}, "clusters='doc' is no column"),
        (TWO, {"clusters": [1]}, "clusters has 1 labels for 2 entries"),
        (pt.ScoreTable.of(TWO), {"clusters": [1, 1]}, "which has clusters of its own"),
        (pt.ScoreTable.of(TWO), {"statistic": "sum"}, "which has statistic of its own"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pt.compare_many(table, **options)


def test_columns_that_look_like_systems_or_are_named_are_compared():
    both = pd.DataFrame({"latency_a": [1, 2], "latency_b": [2, 1]})
    assert pt.compare_many(both).systems == ("latency_a", "latency_b")
    assert pt.compare_many(FRAME, systems=["a", "b"]).systems == ("a", "b")


def test_too_many_pairs_are_refused_but_not_with_a_baseline(monkeypatch):
    monkeypatch.setattr(leaderboard, "MOST_TESTS", 10**4)
    systems = {str(i): [0, 1] for i in range(150)}
    with pytest.raises(MemoryError, match="11,175 tests are more than 10,000; compare all systems"):
        pt.compare_many(systems)
    assert len(pt.compare_many(systems, baseline="0", correction="none")) == 149
