"""What a leaderboard says: arrays, frames, sentences."""

import json
import math

import numpy as np
import pytest

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
