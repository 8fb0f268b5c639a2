"""What a leaderboard says: arrays, frames, sentences."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt

RNG = np.random.default_rng(11)
SIZE = 400
EASE = RNG.random(SIZE)
TABLE = {
    name: (RNG.random(SIZE) < EASE * skill).astype(int)
    for name, skill in {"poor": 0.5, "fine": 0.9, "good": 0.95, "weak": 0.55}.items()
}
BOARD = pt.compare_many(TABLE)


def test_it_reads_as_a_sentence():
    assert str(BOARD).splitlines() == [
        "4 systems, mean, by exact two-sided paired-permutation tests. Score: correct answers, "
        "higher taken as better.",
        "good leads; fine is tied with it. 4 of 6 pairs differ at a level of 0.05 (Holm), over "
        "400 items.",
    ]
    against = pt.compare_many(TABLE, baseline="fine", alternative="less")
    assert str(against).endswith(
        "2 of 3 systems score less than fine at a level of 0.05 (Holm), over 400 items."
    )
    alone = pt.compare_many({name: TABLE[name] for name in ("good", "poor")})
    assert alone.sentence() == (
        "good leads alone. 1 of 1 pair differs at a level of 0.05 (Holm), over 400 items."
    )
    many = pt.compare_many({f"s{i}": [1, 2] for i in range(20)}, correction="none")
    assert "20 systems lead together. 0 of 190 pairs differ" in str(many)
    two = pt.compare_many({"a": [1, 1, 2], "b": [2, 1, 1], "c": [0, 0, 1]})
    assert two.sentence().startswith("a and b lead together; c is tied with them. 0 of 3 pairs")


def test_the_order_is_that_of_exact_values():
    large = [10**17] * 3
    board = pt.compare_many({"x": [*large, 0], "y": [*large, 1]}, statistic="sum")
    assert board.values[0, 0] == board.values[0, 1]  # as floats
    assert (board.order(), board.places().tolist()) == (["y", "x"], [2, 1])


def test_ranks_and_groups_have_names():
    assert BOARD.order() == ["good", "fine", "weak", "poor"]
    assert BOARD.places().tolist() == [4, 2, 1, 3]
    assert BOARD.rank_ranges().tolist() == [[3, 4], [1, 2], [1, 2], [3, 4]]
    assert BOARD.tied_with_best() == ("good", "fine")
    assert BOARD.groups() == [("good", "fine"), ("weak", "poor")]


@st.composite
def boards(draw):
    """A board of given values, on which given pairs differ; equal values never do."""
    values = draw(st.lists(st.integers(0, 5), min_size=2, max_size=7))
    pairs = list(combinations(range(len(values)), 2))
    differ = [draw(st.booleans()) and values[i] != values[j] for i, j in pairs]
    board = pt.compare_many({f"s{i}": [x] for i, x in enumerate(values)}, correction="none")
    unequal = {frozenset(pair) for pair, flag in zip(pairs, differ, strict=True) if flag}
    return values, unequal, replace(board, adjusted=np.where([differ], 0.001, 1.0))


@settings(max_examples=60)
@given(boards())
def test_ranks_are_counts_of_better_systems(drawn):
    values, unequal, found = drawn
    assert found.places().tolist() == [1 + sum(x > own for x in values) for own in values]
    for i, own in enumerate(values):
        others = [j for j in range(len(values)) if frozenset((i, j)) in unequal]
        above, below = (sum(sign * values[j] > sign * own for j in others) for sign in (1, -1))
        assert found.rank_ranges()[i].tolist() == [1 + above, len(values) - below]
    best = [i for i, x in enumerate(values) if x == max(values)]
    tied = {f"s{i}" for i in range(len(values)) if not any({i, j} in unequal for j in best)}
    assert set(found.tied_with_best()) == tied
    order = [int(name[1:]) for name in found.order()]
    assert [values[i] for i in order] == sorted(values, reverse=True)


@settings(max_examples=60)
@given(boards())
def test_groups_are_the_longest_runs_without_a_difference(drawn):
    values, unequal, found = drawn
    order, size = [int(name[1:]) for name in found.order()], len(values)
    runs = [
        set(order[a:b])
        for a in range(size)
        for b in range(a + 2, size + 1)
        if not any({i, j} in unequal for i, j in combinations(order[a:b], 2))
    ]
    longest = [run for run in runs if not any(run < other for other in runs)]
    assert [{int(name[1:]) for name in run} for run in found.groups()] == longest


def test_a_baseline_says_nothing_about_ranks():
    against = pt.compare_many(TABLE, baseline="fine")
    for ask in (against.places, against.groups, against.tied_with_best, against.rank_ranges):
        with pytest.raises(ValueError, match="comparisons with 'fine' alone"):
            ask()
    frame = against.ranking().set_index("system")
    assert frame.loc["fine", ["difference", "pvalue", "differs"]].tolist() == [0, 1, False]
    assert frame.loc["poor", "pvalue"] == pytest.approx(against.result("poor", "fine").pvalue)


def test_matrices_have_the_systems_on_both_sides():
    p, gap = BOARD.matrix("pvalue"), BOARD.matrix("statistic")
    assert np.array_equal(p, p.T, equal_nan=True)
    assert np.array_equal(gap, -gap.T, equal_nan=True)
    assert np.isnan(np.diag(p)).all()
    assert gap[2, 0] == BOARD.result("good", "poor").statistic > 0
    with pytest.raises(ValueError, match="what='p' is not known; choose one of 'adjusted'"):
        BOARD.matrix("p")


def test_frames_have_a_row_for_each_test():
    frame = BOARD.to_frame()
    assert len(frame) == len(BOARD) == 6
    row = frame[(frame["first"] == "poor") & (frame["second"] == "good")].iloc[0]
    single = BOARD.result("poor", "good")
    assert (row.difference, row.differs) == (single.statistic, True)
    assert math.isclose(row.pvalue, single.pvalue, rel_tol=1e-12)
    ranking = BOARD.ranking()
    assert ranking.system.tolist() == BOARD.order()
    assert ranking.rank_high.tolist() == [2, 2, 4, 4]
    assert ranking.tied_with_best.tolist() == [True, True, False, False]


def test_it_becomes_plain_json():
    found = json.loads(BOARD.to_json())
    assert found["pvalue"] == BOARD.pvalue.tolist()
    assert found["systems"] == list(TABLE)
    rng = np.random.default_rng(1)
    counts = {name: rng.integers(0, 9, (40, 6, 3)) for name in "ab"}
    sampled = pt.compare_many(counts, statistic="macro_f1", rng=0)
    assert json.loads(sampled.to_json())["error_bound"] == [[None]]
    assert sampled.result("a", "b").n_samples


def test_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        BOARD.pvalue[0, 0] = 0


def test_systems_are_asked_for_by_name():
    with pytest.raises(ValueError, match="there is no system 'best'; there are poor, fine"):
        BOARD.result("best", "good")
    with pytest.raises(ValueError, match="a and b are both 'good'"):
        BOARD.result("good", "good")


def test_long_boards_are_cut_in_notebooks():
    many = pt.compare_many({f"s{i}": [1, 2] for i in range(60)}, correction="none")
    assert "10 more systems are in ranking()" in many._repr_html_()
