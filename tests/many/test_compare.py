"""All pairs at once: the same numbers as one by one, whatever the table looks like."""

from fractions import Fraction

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
def tables(draw, kinds=tuple(SCORES), least=1):
    """A mapping of two to four systems to scores of one length."""
    score = SCORES[draw(st.sampled_from(kinds))]
    size, n = draw(st.integers(2, 4)), draw(st.integers(least, 7))
    return {f"s{i}": draw(st.lists(score, min_size=n, max_size=n)) for i in range(size)}


def each_pair(board):
    """Number and names of each pair."""
    for k, (i, j) in enumerate(zip(board.first, board.second, strict=True)):
        yield k, board.systems[i], board.systems[j]


@given(tables())
@settings(max_examples=60)
def test_every_pair_is_what_enumeration_says(table):
    board = pt.compare_many(table, statistic="sum", correction="none")
    assert board.systems == tuple(table)
    assert len(board) == len(table) * (len(table) - 1) // 2
    for k, a, b in each_pair(board):
        expected = naive.pvalue(table[a], table[b])
        assert board.pvalue[0, k] == pytest.approx(float(expected), rel=1e-12)
        assert board.statistic[0, k] == sum(table[a]) - sum(table[b])
        assert board.n_informative[0, k] == sum(
            x != y for x, y in zip(table[a], table[b], strict=True)
        )
        assert board.adjusted[0, k] == board.pvalue[0, k]


@given(tables(kinds=("small", "signed")), st.sampled_from(["greater", "less", "two-sided"]))
@settings(max_examples=30)
def test_a_baseline_is_compared_with_all_others(table, alternative):
    baseline = list(table)[-1]
    board = pt.compare_many(
        table, baseline=baseline, alternative=alternative, statistic="sum", correction="holm"
    )
    assert [(a, b) for _, a, b in each_pair(board)] == [(x, baseline) for x in list(table)[:-1]]
    for k, a, b in each_pair(board):
        expected = naive.pvalue(table[a], table[b], h=naive.h_of(alternative))
        assert board.pvalue[0, k] == pytest.approx(float(expected), rel=1e-12)


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
    parts = {
        "x": {"a": up, "b": base}, "y": {"a": up, "b": base}, "z": {"a": down, "b": base}
    }  # fmt: skip
    board = pt.compare_many(parts, correction="none")
    found = board.replicability()
    assert (found.first_better.tolist(), found.second_better.tolist()) == ([2], [1])
    assert found.better[:, 0].tolist() == [1, 1, -1]
    errors = pt.compare_many(parts, correction="none", ascending=True).replicability()
    assert (errors.first_better.tolist(), errors.second_better.tolist()) == ([1], [2])


def test_what_cannot_be_had_exactly_is_sampled_alike_in_any_order(monkeypatch):
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 9, (60, 6, 3)) for name in "abc"}
    board = pt.compare_many(table, statistic="macro_f1", rng=5)
    assert set(board.method.ravel()) == {"monte_carlo"}
    assert "Of 3 p-values, 3 are sampled." in str(board)
    for k, a, b in each_pair(board):
        assert board.result(a, b).pvalue == board.pvalue[0, k]
    monkeypatch.setattr(leaderboard, "LEAST", 1)
    assert np.array_equal(pt.compare_many(table, statistic="macro_f1", rng=5).pvalue, board.pvalue)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1, 2], [2, 3]], {}, "table must be a data frame .* not list"),
        ({"a": [1, 2]}, {}, r"table has 1 system\(s\)"),
        ({"a": [1, 2], "b": [1]}, {}, r"table\['b'\] has 1 scores and table\['a'\] 2"),
        ({"a": [1, 2], "b": [1, None]}, {}, r"table\['b'\]\[1\] = None is missing"),
        (
            {"a": [1, 2], "b": [1, 2]},
            {"statistic": "f1"},
            r"counts of shape \(N, columns\).* \(u is table\['a'\]",
        ),
        (
            {"a": [1, 2], "b": [1, 2]},
            {"correction": "bonferroni"},
            "'holm' controls the same error",
        ),
        ({"a": [1, 2], "b": [1, -1]}, {"statistic": "accuracy"}, r"table\['b'\]\[1\] = -1 is be"),
        ({"a": [1, 2], "b": [1, 2]}, {"systems": ["a", "c"]}, "no system 'c'; it has a, b"),
        ({"a": [1, 2], "b": [1, 2]}, {"systems": "ab"}, "systems='ab' must be a list"),
        ({"a": [1, 2], "b": [1, 2]}, {"baseline": "c"}, "baseline='c' is not a system"),
        ({"a": [1, 2], "b": [1, 2]}, {"alternative": "greater"}, "name a baseline"),
        ({"a": [1, 2], "b": [1, 2]}, {"alpha": 0}, r"alpha must lie in \(0, 1\), got 0"),
        ({"a": [1, 2], "b": [1, 2]}, {"K": -1}, "K = -1 is below 0"),
        ({"a": [1, 2], "b": [1, 2]}, {"clusters": "doc"}, "clusters='doc' is no column"),
        ({"a": [1, 2], "b": [1, 2]}, {"clusters": [1]}, "clusters has 1 labels for 2 entries"),
        ({"a": [1, 2], "b": [1, 2]}, {"strata": [1, None]}, r"strata\[1\] = None is missing"),
        (
            {"a": [1, 2], "b": [1, 2]},
            {"strata": [1, 2], "statistic": "sum"},
            "strata are averaged, but statistic='sum'",
        ),
        ({"x": {"a": [1], "b": [2]}, "y": {"a": [1], "c": [2]}}, {}, "'y' has the systems a, c"),
        ({"a": [], "b": []}, {}, "table has no items; a comparison needs one"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pt.compare_many(table, **options)


def test_frames_with_other_columns_need_names():
    frame = pd.DataFrame({"id": [1, 2], "a": [1, 2], "b": [2, 2], "cost": [0.1, 0.2]})
    with pytest.raises(ValueError, match="a column 'id', which does not look like a system"):
        pt.compare_many(frame)
    both = pd.DataFrame({"latency_a": [1, 2], "latency_b": [2, 1]})
    assert pt.compare_many(both).systems == ("latency_a", "latency_b")
    assert pt.compare_many(frame, systems=["a", "b"]).systems == ("a", "b")
    with pytest.raises(ValueError, match="different indexes"):
        pt.compare_many({"a": frame["a"], "b": frame["b"].iloc[::-1]})


def test_data_sets_go_together_or_are_refused():
    one = {"a": [1, 2], "b": [2, 2]}
    kinds = ["f1", "f2"]
    counts = {"a": [[0, 0, 0]], "b": [[1, 0, 0]]}
    x, y = (pt.ScoreTable.of(counts, statistic=kind) for kind in kinds)
    for table, options, message in (
        ({"x": one, "y": None}, {}, r"table\['y'\] must be a table"),
        ({"x": x, "y": y}, {}, "compared by 'f2', but 'x' by 'f1'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            pt.compare_many(table, **options)
    layouts = {"x": counts, "y": {"a": [[0, 0]], "b": [[1, 1]]}}
    with pytest.raises(ValueError, match=r"data set 2 has counts of shape \(2,\)"):
        pt.compare_many(layouts, statistic="f1").overall()


def test_too_many_pairs_are_refused_before_anything_is_computed():
    systems = {str(i): [0, 1] for i in range(4500)}
    with pytest.raises(MemoryError, match=r"10,122,750 tests are more than 10,000,000"):
        pt.compare_many(systems)
    assert len(pt.compare_many(systems, baseline="0", correction="none")) == 4499
