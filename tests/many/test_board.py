"""All pairs at once: the same numbers as one by one, and what a board says of them."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest.many import board as many
from permtest.statistics import Statistic
from tests import naive
from tests.strategies import SCORES

RNG = np.random.default_rng(11)
SIZE = 400
EASE = RNG.random(SIZE)
TABLE = {
    name: (RNG.random(SIZE) < EASE * skill).astype(int)
    for name, skill in {"poor": 0.5, "fine": 0.9, "good": 0.95, "weak": 0.55}.items()
}
BOARD = pt.compare_many(TABLE)
NUMBERS = {name: RNG.integers(0, 30, 300) for name in "abcde"}
COUNTS = {name: RNG.integers(0, 5, (12, 3)) for name in "abc"}


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


@given(tables(), st.booleans())
@settings(max_examples=60)
def test_every_pair_is_what_enumeration_says(table, beside):
    """Of all systems, or each against a baseline."""
    *others, baseline = table
    pairs = [(name, baseline) for name in others] if beside else [*combinations(table, 2)]
    how = {"baseline": baseline if beside else None}
    board = pt.compare_many(table, statistic="sum", correction="none", **how)
    assert [(a, b) for _, a, b in each_pair(board)] == pairs
    for k, a, b in each_pair(board):
        expected = naive.pvalue(table[a], table[b])
        assert board.pvalue[k] == pytest.approx(float(expected), rel=1e-12)
        assert board.statistic[k] == sum(table[a]) - sum(table[b])
        assert board.n_informative[k] == sum(map(lambda x, y: x != y, table[a], table[b]))
        assert board.adjusted[k] == board.pvalue[k]


def test_counts_are_compared_by_a_measure():
    board = pt.compare_many(COUNTS, statistic="f1")
    for k, a, b in each_pair(board):
        single = pt.exact_perm_test(COUNTS[a], COUNTS[b], statistic="f1")
        assert board.pvalue[k] == single.pvalue == board.result(a, b).pvalue
        assert board.statistic[k] == single.statistic
    sums = [counts.sum(axis=0) for counts in COUNTS.values()]
    f1 = [2 * tp / (2 * tp + fp + fn) for tp, fp, fn in sums]
    assert board.values == pytest.approx(f1, rel=1e-15)


def test_a_measure_knows_its_direction_unless_the_counts_do():
    wrong = Statistic("fdr", hits=(0, 1, 0), misses=(1, 0, 0), higher_is_better=False)
    few, many = [(9, 1, 0), (8, 1, 1)], [(5, 5, 0), (4, 5, 1)]
    assert pt.compare_many({"many": many, "few": few}, statistic=wrong).order() == ["few", "many"]
    assert pt.exact_perm_test(few, many, statistic=wrong).higher_is_better is False
    known = pt.Scores.of_counts({"many": many, "few": few}, higher_is_better=True)
    assert pt.compare_many(known, statistic=wrong).order() == ["many", "few"]
    assert pt.exact_perm_test(known, statistic=wrong).higher_is_better is True


def test_whole_clusters_are_swapped():
    labels = np.repeat(np.arange(60), 5)
    board = pt.compare_many(pl.DataFrame(NUMBERS), clusters=labels)
    assert board.systems == tuple("abcde")
    assert (board.n, len(board.scores.units)) == (300, 60)
    assert "300 items in 60 clusters" in board.sentence()
    for k, a, b in each_pair(board):
        single = pt.exact_perm_test(NUMBERS[a], NUMBERS[b], statistic="mean", clusters=labels)
        assert board.pvalue[k] == pytest.approx(single.pvalue, rel=1e-12)
        assert board.result(a, b).pvalue == single.pvalue


def test_what_cannot_be_had_exactly_is_sampled_alike_in_any_order(monkeypatch):
    table = {name: RNG.integers(0, 9, (25, 4, 3)) for name in "abc"}
    board = pt.compare_many(table, statistic="macro_f1", rng=5)
    assert set(board.method) == {"monte_carlo"}
    assert "Sampled, because exact ones are out of reach: 3 of 3 p-values." in str(board)
    for k, a, b in each_pair(board):
        assert board.result(a, b).pvalue == board.pvalue[k]
    monkeypatch.setattr(many, "FEW", 1)
    assert np.array_equal(pt.compare_many(table, statistic="macro_f1", rng=5).pvalue, board.pvalue)


TWO = {"a": [1, 2], "b": [1, 2]}
FRAME = pd.DataFrame({"item": [1, 2, 3], "a": [1, 2, 1], "b": [2, 2, 0]})


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1, 2], [2, 3]], {}, "table must be a data frame .* not list"),
        (FRAME, {}, "a column 'item' that only counts, .* make it the index"),
        ({"a": FRAME["a"], "b": FRAME["b"].iloc[::-1]}, {}, "different indexes"),
        ({"a": [1, 2]}, {}, "must be two or more different names"),
        ({"a": [], "b": []}, {}, "table has no items; a comparison needs one"),
        (pt.Scores.of_counts(COUNTS), {}, "counts of tp, fp, fn; choose a"),
        (TWO, {"correction": "bonferroni"}, "'bonferroni' is not known; choose one of 'holm'"),
        (COUNTS, {"statistic": "f1", "correction": "max_t"}, "not for f1; choose 'holm'"),
        (TWO, {"baseline": "c"}, "baseline='c' is not known; choose one of 'a'"),
        (FRAME[["a", "b"]], {"clusters": FRAME.a.iloc[::-1]}, "table and clusters have different"),
    ],
)
def test_what_cannot_be_compared_is_refused(table, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pt.compare_many(table, **options)


def test_columns_that_do_not_count_or_are_named_are_compared():
    assert pt.compare_many(dict(FRAME)).systems == ("item", "a", "b")
    assert pt.compare_many(FRAME.set_index("item")).systems == ("a", "b")


def test_the_order_is_that_of_exact_values():
    large = [10**17] * 3
    board = pt.compare_many({"x": [*large, 0], "y": [*large, 1]}, statistic="sum")
    assert board.values[0] == board.values[1]  # as floats
    assert (board.order(), board.places.tolist()) == (["y", "x"], [2, 1])


@st.composite
def boards(draw):
    """A board of given values, on which given pairs differ; equal values never do."""
    values = draw(st.lists(st.integers(0, 5), min_size=2, max_size=7))
    pairs = list(combinations(range(len(values)), 2))
    differ = [draw(st.booleans()) and values[i] != values[j] for i, j in pairs]
    board = pt.compare_many({f"s{i}": [x] for i, x in enumerate(values)}, correction="none")
    unequal = {frozenset(pair) for pair, flag in zip(pairs, differ, strict=True) if flag}
    adjusted = np.where(differ, 0.001, 1.0)
    return values, unequal, replace(board, adjusted=adjusted, correction="holm")


@settings(max_examples=60)
@given(boards())
def test_ranks_count_systems_that_differ_and_groups_are_the_longest_runs_that_do_not(drawn):
    values, unequal, found = drawn
    assert found.places.tolist() == [1 + sum(x > own for x in values) for own in values]
    for i, own in enumerate(values):
        others = [j for j in range(len(values)) if frozenset((i, j)) in unequal]
        above, below = (sum(sign * values[j] > sign * own for j in others) for sign in (1, -1))
        assert found.rank_ranges()[i].tolist() == [1 + above, len(values) - below]
    best = [i for i, x in enumerate(values) if x == max(values)]
    tied = {f"s{i}" for i in range(len(values)) if not any({i, j} in unequal for j in best)}
    assert set(found.tied_with_best()) == tied
    order = [int(name[1:]) for name in found.order()]
    assert [values[i] for i in order] == sorted(values, reverse=True)
    runs = [
        set(order[a:b])
        for a in range(len(values))
        for b in range(a + 2, len(values) + 1)
        if not any({i, j} in unequal for i, j in combinations(order[a:b], 2))
    ]
    longest = [run for run in runs if not any(run < other for other in runs)]
    assert [{int(name[1:]) for name in run} for run in found.groups()] == longest
    for row in found.rows():
        own = [chr(97 + k) for k, run in enumerate(longest) if int(row["system"][1:]) in run]
        assert row["letters"] == (own[0] if len(own) == 1 else "-".join(own[:1] + own[-1:]))


def test_a_baseline_says_nothing_about_ranks():
    against = pt.compare_many(TABLE, baseline="fine")
    for ask in (against.groups, against.tied_with_best, against.rank_ranges):
        with pytest.raises(ValueError, match="compares systems only with 'fine'"):
            ask()
    rows = {row["system"]: row for row in against.rows()}
    assert (rows["fine"]["difference"], rows["fine"]["differs"]) == (None, False)
    assert rows["poor"]["pvalue"] == pytest.approx(against.result("poor", "fine").pvalue)
    assert rows["poor"]["differs"] is True


@pytest.mark.parametrize("correction", ["bh", "none"])
def test_ranks_have_no_range_unless_the_familywise_error_is_kept(correction):
    board = BOARD.corrected(correction)
    with pytest.raises(ValueError, match="does not limit the chance that any range"):
        board.rank_ranges()
    assert "ranks" not in board.rows()[0]
    assert board.corrected("max_t").rank_ranges().tolist() == BOARD.rank_ranges().tolist()


def test_it_reads_as_a_sentence():
    test = "exact two-sided paired-permutation tests over 400 items, level 0.05, Holm"
    shown = f"tied with fine. Shown to differ: 4 of 6 pairs ({test})."
    assert str(BOARD) == f"good has the highest mean, {shown}"
    assert str(pt.compare_many(TABLE, higher_is_better=True)) == f"good leads, {shown}"
    spans = {"bad": [[3, 9], [4, 9]], "fair": [[7, 5], [6, 6]]}
    assert str(pt.compare_many(spans, statistic="f1")).startswith("fair leads, tied with bad.")
    lower = pt.compare_many(TABLE, higher_is_better=False)
    assert lower.sentence().startswith("poor leads, tied with weak. Shown to differ: 4 of 6")
    assert lower.order() == BOARD.order()[::-1]
    named = pt.Scores.of_columns(TABLE, score="loss")
    assert str(pt.compare_many(named)).startswith("good has the highest mean loss, tied")
    same = pt.compare_many({f"s{i}": [1, 2] for i in range(20)}, correction="none")
    assert str(same).startswith("20 systems share the highest mean, tied with no other system.")
    documents = str(pt.compare_many(TABLE, baseline="fine", clusters=np.arange(SIZE) // 4))
    assert "differ from fine: 2 of 3" in documents
    assert "over 400 items in 100 clusters, level" in documents


def test_rows_and_matrices_have_the_same_numbers():
    p, adjusted, gap = (BOARD.matrix(x) for x in ("pvalue", "adjusted", "statistic"))
    assert np.array_equal(p, p.T, equal_nan=True)
    assert np.array_equal(gap, -gap.T, equal_nan=True)
    assert np.isnan(np.diag(p)).all()
    single = BOARD.result("poor", "good")
    assert single.statistic == gap[0, 2]
    assert math.isclose(p[0, 2], single.pvalue, rel_tol=1e-12)
    weak, good = BOARD.systems.index("weak"), BOARD.systems.index("good")
    rows = {row["system"]: row for row in BOARD.rows()}
    assert [*rows] == BOARD.order()
    assert rows["weak"] == {
        "rank": 3,
        "system": "weak",
        "value": TABLE["weak"].mean(),
        "ranks": "3 to 4",
        "letters": "b",
        "tied_with_best": False,
        "difference": gap[weak, good],
        "pvalue": p[weak, good],
        "adjusted": adjusted[weak, good],
        "interval": BOARD.interval("weak", "good"),
    }
    assert rows["good"]["interval"] is None
    assert {*BOARD.titles} == {*rows["good"]}
    assert BOARD.titles["difference"] == "minus the highest"
    assert BOARD.to_dict()["ranking"][0]["system"] == "good"
