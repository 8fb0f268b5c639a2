"""What a leaderboard says: arrays, frames, sentences."""

import itertools
import math
import sys
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest.alternatives.plan import outlook

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
        "higher is taken as better.",
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
    assert "0 of 1 pair differs at" in str(pt.compare_many({"a": [1], "b": [2]}))
    tied = pt.compare_many({"a": [1, 0], "b": [0, 1]}).cells()
    assert [row["minus the best"] for row in tied] == ["", "0"]
    many = pt.compare_many({f"s{i}": [1, 2] for i in range(20)}, correction="none")
    assert "20 systems lead together. 0 of 190 pairs differ" in str(many)
    two = pt.compare_many({"a": [1, 1, 2], "b": [2, 1, 1], "c": [0, 0, 1]})
    assert two.sentence().startswith("a and b lead together; c is tied with them. 0 of 3 pairs")


def test_the_order_is_that_of_exact_values():
    large = [10**17] * 3
    board = pt.compare_many({"x": [*large, 0], "y": [*large, 1]}, statistic="sum")
    assert board.values[0] == board.values[1]  # as floats
    assert (board.order(), board.places().tolist()) == (["y", "x"], [2, 1])


@st.composite
def boards(draw):
    """A board of given values, on which given pairs differ; equal values never do."""
    values = draw(st.lists(st.integers(0, 5), min_size=2, max_size=7))
    pairs = list(combinations(range(len(values)), 2))
    differ = [draw(st.booleans()) and values[i] != values[j] for i, j in pairs]
    board = pt.compare_many({f"s{i}": [x] for i, x in enumerate(values)}, correction="none")
    unequal = {frozenset(pair) for pair, flag in zip(pairs, differ, strict=True) if flag}
    return values, unequal, replace(board, adjusted=np.where(differ, 0.001, 1.0))


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
        with pytest.raises(ValueError, match="compares systems only with 'fine'"):
            ask()
    frame = against.ranking().set_index("system")
    assert frame.loc["fine", ["difference", "pvalue", "differs"]].tolist() == [0, 1, False]
    assert frame.loc["poor", "pvalue"] == pytest.approx(against.result("poor", "fine").pvalue)


# ---- how far behind ----------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["none", "holm"])
@pytest.mark.parametrize("times", [1, 3])
def test_separating_n_is_what_a_report_and_a_plan_say(correction, times):
    board = pt.compare_many(
        {name: [times * x for x in scores] for name, scores in TABLE.items()},
        correction=correction,
    )
    level = 0.05 / (1 if correction == "none" else len(board))
    found = dict(zip(board.systems, board.separating_n(power=0.9).tolist(), strict=True))
    for before, name in itertools.pairwise(board.order()):
        gaps = times * (TABLE[before] - TABLE[name])
        assert found[name] == outlook(gaps, alpha=level, target=0.9).needed
    assert math.isnan(found["good"])
    ones = {"a": [1] * 51 + [0] * 4949, "b": [0] * 51 + [1] * 50 + [0] * 4899}
    # Connor's formula for shares of 0.0102 and 0.01 of all items.
    both, gap, (z, power) = 0.0202, 0.0002, map(NormalDist().inv_cdf, (0.975, 0.8))
    rough = ((z * both**0.5 + power * (both - gap**2) ** 0.5) / gap) ** 2
    assert pt.compare_many(ones).separating_n()[1] == math.ceil(rough)


def test_equal_systems_are_never_separated_and_few_items_never_do():
    board = pt.compare_many({"a": [1, 0, 1], "b": [1, 0, 1], "c": [0, 0, 0]}, correction="none")
    assert board.separating_n()[1] == math.inf
    clear = pt.compare_many({"a": [1] * 9, "b": [0] * 9}, correction="none")
    assert clear.separating_n()[1] == 6  # 2^-5 is the first p below 0.05
    side = pt.compare_many({"a": [1] * 9, "b": [0] * 9}, baseline="a", alternative="greater")
    assert side.separating_n()[1] == math.inf


@pytest.mark.parametrize(("n", "kind"), [(4, "mean"), (5, "mean"), (5, "f1"), (6, "mean")])
def test_clusters_are_counted_and_intervals_agree_with_p(n, kind):
    """Two items in a cluster: with 5 clusters p is 2/2^5 or more, so no interval excludes 0."""
    scores = {"a": [3, 5, 7, 9, 8, 5, 7, 4, 6, 7, 9, 9], "b": [2, 3, 4, 2, 5, 1, 3, 2, 1, 4, 3, 2]}
    table = {name: np.array(x[: 2 * n]) for name, x in scores.items()}
    if kind == "f1":
        table = {name: np.stack([x, 9 - x, 9 - x], axis=1) for name, x in table.items()}
    labels = np.arange(n).repeat(2)
    board = pt.compare_many(table, statistic=kind, clusters=labels)
    assert board.separating_n()[1] == 6
    low, high = board.intervals()[1]
    assert (low < 0 < high) == (board.pvalue[0] > 0.05)
    assert (low, high) == (-math.inf, math.inf) or n == 6
    assert ("6" if n == 6 else "any value") in board.cells()[1].values()
    assert "clusters to separate" in board.cells()[1]
    if kind == "mean":
        pairs = pt.Pairs(table["b"], table["a"], clusters=tuple(labels.tolist()))
        interval = pt.study.overview(pairs).interval
        assert (interval or (-math.inf, math.inf)) == (low, high)


def test_intervals_are_those_of_the_single_comparison():
    numbers = {name: RNG.integers(0, 9, 50) for name in "abc"}
    for side in ("two-sided", "greater", "less"):
        board = pt.compare_many(numbers, baseline="b", alternative=side, alpha=0.1)
        for i, name in ((0, "a"), (2, "c")):
            wanted = board.result(name, "b").confidence_interval(0.9)
            assert tuple(board.intervals()[i]) == tuple(wanted)
    assert np.isnan(board.intervals()[1]).all()
    low, high = BOARD.intervals()[0]  # of shares, by Tango
    b, c = (int((TABLE[x] > TABLE[y]).sum()) for x, y in (("poor", "good"), ("good", "poor")))
    wanted = pt.alternatives.mcnemar(b, c, n=SIZE).confidence_interval(0.95)
    assert (low, high) == tuple(wanted)


@pytest.mark.parametrize("statistic", ["sum", "f1"])
def test_approximate_intervals_are_near_the_bootstrap(statistic, monkeypatch):
    monkeypatch.setattr(sys.modules["permtest.many.leaderboard"], "FEW_SYSTEMS", 0)
    counts = [RNG.integers(0, 5, (300, 3)) for _ in range(2)]
    scores = counts if statistic == "f1" else [x[:, 0] for x in counts]

    def value(x):
        total = x.sum(axis=0)
        return 2 * total[0] / (2 * total[0] + total[1] + total[2]) if statistic == "f1" else total

    board = pt.compare_many(dict(zip("ab", scores, strict=True)), statistic=statistic, baseline="b")
    draws = RNG.integers(0, 300, (2000, 300))
    resampled = np.array([value(scores[0][i]) - value(scores[1][i]) for i in draws])
    low, high = board.intervals()[0]
    assert (low + high) / 2 == pytest.approx(value(scores[0]) - value(scores[1]))
    assert (high - low) / (2 * 1.968) == pytest.approx(resampled.std(), rel=0.1)


def test_each_row_says_how_a_system_stands_beside_the_best_and_its_neighbour():
    rows = {row["system"]: row for row in BOARD.standings()}
    p, adjusted, gap = (BOARD.matrix(x) for x in ("pvalue", "adjusted", "statistic"))
    weak, good, fine = (BOARD.systems.index(x) for x in ("weak", "good", "fine"))
    row = rows["weak"]
    assert (row["difference"], row["pvalue"]) == (gap[weak, good], p[weak, good])
    assert (row["pvalue_before"], row["adjusted_before"]) == (p[weak, fine], adjusted[weak, fine])
    assert row["same"] == np.mean(TABLE["weak"] == TABLE["fine"])
    assert row["both_right"] == np.mean(TABLE["weak"] & TABLE["fine"])
    assert rows["good"]["pvalue"] == 1
    assert "both_right" not in pt.compare_many({"a": [2, 1], "b": [1, 0]}).standings()[0]
    cells = {row["system"]: row for row in BOARD.cells()}
    assert cells["good"]["minus the best"] == cells["good"]["items to separate"] == ""
    assert cells["weak"]["possible ranks"] == "3 to 4"


def test_matrices_and_frames_have_all_pairs():
    p, gap = BOARD.matrix("pvalue"), BOARD.matrix("statistic")
    assert np.array_equal(p, p.T, equal_nan=True)
    assert np.array_equal(gap, -gap.T, equal_nan=True)
    assert np.isnan(np.diag(p)).all()
    frame, single = BOARD.to_frame(), BOARD.result("poor", "good")
    row = frame[(frame["first"] == "poor") & (frame["second"] == "good")].iloc[0]
    assert (len(frame), row.differs) == (len(BOARD), True)
    assert row.difference == single.statistic == gap[0, 2]
    assert math.isclose(row.pvalue, single.pvalue, rel_tol=1e-12)
    ranking = BOARD.ranking()
    assert ranking.system.tolist() == BOARD.order()
    assert ranking.rank_high.tolist() == [2, 2, 4, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BOARD.matrix("p"), "what='p' is not known; choose one of 'adjusted'"),
        (lambda: BOARD.result("best", "good"), "there is no system 'best'; there are poor, fine"),
        (lambda: BOARD.result("good", "good"), "a and b are both 'good'"),
        (lambda: BOARD.separating_n(power=80), "power must lie"),
    ],
)
def test_what_is_not_there_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
