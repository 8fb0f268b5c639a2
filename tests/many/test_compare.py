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
        assert board.pvalue[0, k] == pytest.approx(float(expected), rel=1e-12)
        assert board.statistic[0, k] == sum(table[a]) - sum(table[b])
        differ = [x != y for x, y in zip(table[a], table[b], strict=True)]
        assert board.n_informative[0, k] == sum(differ)
        assert board.adjusted[0, k] == board.pvalue[0, k]


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
        assert board.pvalue[0, k] == single.pvalue
        assert board.statistic[0, k] == single.statistic
    sums = {name: counts.sum(axis=0) for name, counts in table.items()}
    f1 = [2 * tp / (2 * tp + fp + fn) for tp, fp, fn in sums.values()]
    assert board.values[0] == pytest.approx(f1, rel=1e-15)
    columns = {k: pd.DataFrame(v, columns=["tp", "fp", "fn"]) for k, v in table.items()}
    several = pt.compare_many({"one": columns, "two": columns}, statistic="f1")
    assert np.array_equal(several.pvalue, np.repeat(board.pvalue, 2, axis=0))


def test_whole_clusters_are_swapped():
    labels = np.repeat(np.arange(60), 5)
    board = pt.compare_many(BIG | {"doc": labels}, clusters="doc")
    assert board.systems == tuple("abcde")
    for k, a, b in each_pair(board):
        single = pt.exact_perm_test(BIG[a], BIG[b], statistic="mean", clusters=labels)
        assert board.pvalue[0, k] == pytest.approx(single.pvalue, rel=1e-12)
        assert board.result(a, b).pvalue == single.pvalue
        assert board.result(a, b).n_entries == 300
    assert board.sentence().endswith("over 300 items in 60 clusters.")
    # Epochs of one prompt: all that any of them says is said by their sums.
    sums = {name: np.add.reduceat(x, np.arange(0, 300, 5)) for name, x in BIG.items()}
    assert np.array_equal(board.pvalue, pt.compare_many(sums, statistic="sum").pvalue)


def test_strata_count_alike():
    strata = ["x"] * 2 + ["y"] * 4
    table = {"a": [3, 5, 1, 0, 2, 2], "b": [1, 1, 1, 1, 1, 2], "c": [0, 7, 3, 0, 2, 0]}
    board = pt.compare_many(table, strata=strata, correction="none")
    macro = {k: Fraction(sum(v[:2]), 4) + Fraction(sum(v[2:]), 8) for k, v in table.items()}
    assert board.values[0].tolist() == [float(x) for x in macro.values()]
    weights = [2, 2, 1, 1, 1, 1]
    for k, a, b in each_pair(board):
        weighted = [[w * x for w, x in zip(weights, table[s], strict=True)] for s in (a, b)]
        assert board.pvalue[0, k] == float(naive.count_pvalue(*weighted, abs))
        single = board.result(a, b)
        assert single.statistic == board.statistic[0, k] == float(macro[a] - macro[b])


def test_all_data_sets_together():
    table = {"a": [3, 5, 1, 0, 2, 2], "b": [1, 1, 1, 1, 1, 2]}
    parts = {"x": {k: v[:2] for k, v in table.items()}, "y": {k: v[2:] for k, v in table.items()}}
    macro = pt.compare_many(table, strata=["x"] * 2 + ["y"] * 4)
    board = pt.compare_many(parts).overall()
    assert (board.data_sets, board.n) == (("all data sets",), (6,))
    assert (board.pvalue[0, 0], board.statistic[0, 0]) == (
        macro.pvalue[0, 0],
        macro.statistic[0, 0],
    )
    pooled = pt.compare_many(parts, statistic="sum").overall()
    assert pooled.pvalue[0, 0] == pt.exact_perm_test(table["a"], table["b"]).pvalue
    labels = {"x": {"doc": [1, 1]}, "y": {"doc": [1, 1, 2, 2]}}
    apart = pt.compare_many({k: parts[k] | labels[k] for k in "xy"}, clusters="doc").overall()
    weights = [2, 2, 1, 1, 1, 1]
    a, b = ([w * x for w, x in zip(weights, table[s], strict=True)] for s in "ab")
    sums = [[x[0] + x[1], x[2] + x[3], x[4] + x[5]] for x in (a, b)]
    assert apart.pvalue[0, 0] == float(naive.count_pvalue(*sums, abs))


def test_one_data_set_of_several_is_a_board_of_its_own():
    other = {name: scores[:100] for name, scores in BIG.items()}
    board = pt.compare_many({"all": BIG, "some": other})
    assert (board.n, len(board)) == ((300, 100), 20)
    alone = board["some"]
    assert alone.data_sets == ("some",)
    again = pt.compare_many(other)
    assert np.array_equal(alone.adjusted, again.adjusted)
    assert alone.result("a", "b").pvalue == again.result("a", "b").pvalue
    parts = pt.compare_many({"x": BIG, "y": other}, correction="max_t", K=500, rng=0)
    assert np.array_equal(parts["y"].corrected("max_t").adjusted, parts.adjusted[1:])
    with pytest.raises(ValueError, match=r"data_set=None must be one of 'all', 'some'"):
        board.places()
    with pytest.raises(ValueError, match=r"data_set='none'"):
        board["none"]


def test_pairs_that_hang_on_the_random_labellings_are_told():
    rng = np.random.default_rng(3)
    table = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}
    p = pt.compare_many(table).pvalue[0, 0]
    board = pt.compare_many(table, correction="max-t", alpha=p, K=1000, rng=0)
    assert (board.correction, board.sampled) == ("max_t", (True,))
    assert board.undecided.all()
    assert str(board).endswith("1 pair is too close to call with K = 1000.")
    assert board.to_frame().undecided.tolist() == [True]
    for sure in (board.corrected("holm"), pt.compare_many(table, correction="max_t", K=1000)):
        assert not sure.undecided.any()
    few = {"a": [1, 1, 1, 0], "b": [0, 0, 1, 1]}
    assert pt.compare_many(few, correction="max_t", alpha=0.5).sampled == (False,)


def test_replicability_looks_at_both_sides():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, 80)
    up, down = base | (rng.random(80) < 0.3), base & (rng.random(80) < 0.7)
    parts = {name: {"a": a, "b": base} for name, a in (("x", up), ("y", up), ("z", down))}
    board = pt.compare_many(parts, correction="none")
    found = board.replicability()
    assert (found.first_better.tolist(), found.second_better.tolist()) == ([2], [1])
    assert found.better[:, 0].tolist() == [1, 1, -1]
    errors = pt.compare_many(parts, correction="none", ascending=True).replicability()
    assert (errors.first_better.tolist(), errors.second_better.tolist()) == ([1], [2])


def test_what_cannot_be_had_exactly_is_sampled_alike_in_any_order(monkeypatch):
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 9, (25, 4, 3)) for name in "abc"}
    board = pt.compare_many(table, statistic="macro_f1", rng=5)
    assert set(board.method.ravel()) == {"monte_carlo"}
    assert "Of 3 p-values, 3 are sampled." in str(board)
    for k, a, b in each_pair(board):
        assert board.result(a, b).pvalue == board.pvalue[0, k]
    monkeypatch.setattr(leaderboard, "LEAST", 1)
    assert np.array_equal(pt.compare_many(table, statistic="macro_f1", rng=5).pvalue, board.pvalue)


FRAME = pd.DataFrame({"id": [1, 2], "a": [1, 2], "b": [2, 2], "cost": [0.1, 0.2]})
TWO = {"a": [1, 2], "b": [1, 2]}
SPANS = {"a": [[0, 0, 0]], "b": [[1, 0, 0]]}
KINDS = {kind: pt.ScoreTable.of(SPANS, statistic=kind) for kind in ("f1", "f2")}


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
        (TWO, {"strata": [1, None]}, r"strata\[1\] = None is missing"),
        (TWO, {"strata": [1, 2], "statistic": "sum"}, "strata are averaged, but statistic='sum'"),
        ({"x": TWO, "y": {"a": [1], "c": [2]}}, {}, "'y' has the systems a, c"),
        ({"x": TWO, "y": None}, {}, r"table\['y'\] must be a table"),
        ({"x": KINDS["f1"], "y": KINDS["f2"]}, {}, "compared by 'f2', but 'x' by 'f1'"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pt.compare_many(table, **options)


def test_columns_that_look_like_systems_or_are_named_are_compared():
    both = pd.DataFrame({"latency_a": [1, 2], "latency_b": [2, 1]})
    assert pt.compare_many(both).systems == ("latency_a", "latency_b")
    assert pt.compare_many(FRAME, systems=["a", "b"]).systems == ("a", "b")


def test_counts_of_two_layouts_have_no_common_comparison():
    board = pt.compare_many({"x": SPANS, "y": {"a": [[0, 0]], "b": [[1, 1]]}}, statistic="f1")
    with pytest.raises(ValueError, match=r"data set 2 has counts of shape \(2,\)"):
        board.overall()


def test_too_many_pairs_are_refused_but_not_with_a_baseline(monkeypatch):
    monkeypatch.setattr(leaderboard, "MOST_TESTS", 10**4)
    systems = {str(i): [0, 1] for i in range(150)}
    with pytest.raises(MemoryError, match="11,175 tests are more than 10,000; compare all systems"):
        pt.compare_many(systems)
    assert len(pt.compare_many(systems, baseline="0", correction="none")) == 149
