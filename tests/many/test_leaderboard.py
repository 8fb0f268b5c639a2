"""What a leaderboard says: arrays, frames, sentences."""

import itertools
import math
from dataclasses import replace
from itertools import combinations

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, studentized_range

import permtest as pt
from permtest.many.simultaneous import Simultaneous
from permtest.study import exact_power_n, sample_size

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
    adjusted = np.where(differ, 0.001, 1.0)
    return values, unequal, replace(board, adjusted=adjusted, correction="holm")


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
def test_separating_n_is_what_plans_say_at_both_ends_of_the_interval(correction, times):
    table = {name: [times * x for x in scores] for name, scores in TABLE.items()}
    board = pt.compare_many(table, correction=correction)
    level = 0.05 / (1 if correction == "none" else len(board))
    found = dict(zip(board.systems, board.separating_n(power=0.9).tolist(), strict=True))
    order, aim = board.order(), {"power": 0.9, "alpha": level}
    for above, name in itertools.pairwise(order):
        among = pt.compare_many(table, correction=correction, baseline=above)
        inside = not among.differs[among.first == board.systems.index(name)].item()
        assert np.isnan(found[name]).all() == inside  # on these scores all of them agree
    assert np.isnan(found[order[0]]).all()
    gaps = TABLE["weak"] - TABLE["fine"]
    ends = board._together.interval(*map(board.systems.index, ("weak", "fine")))
    if times == 1:
        apart = np.mean(gaps != 0)
        sizes = [exact_power_n((apart + x) / 2, (apart - x) / 2, **aim) for x in ends]
    else:
        sizes = [sample_size(x, 3 * gaps.std(ddof=1), **aim) for x in ends]
    assert found["weak"] == sizes


def test_no_number_of_items_follows_from_a_difference_of_unknown_sign():
    nearly = {"a": [1] * 51 + [0] * 4949, "b": [0] * 51 + [1] * 50 + [0] * 4899}
    board = pt.compare_many(nearly)
    assert np.isnan(board.separating_n()).all()
    assert board.cells()[1]["items to separate"] == "sign unknown"
    same = pt.compare_many({"a": [1, 0, 1], "b": [1, 0, 1], "c": [0, 0, 0]}, correction="none")
    assert np.isnan(same.separating_n()).all()


def test_a_difference_without_spread_needs_one_number_of_items():
    board = pt.compare_many({"a": [2] * 30, "b": [5] * 30})
    few, many = board.separating_n()[0]
    assert few == many
    assert board.cells()[1]["items to separate"] == f"{few:.0f}"


def test_few_items_never_separate():
    clear = pt.compare_many({"a": [1] * 9, "b": [0] * 9}, correction="none")
    assert clear.separating_n()[1].tolist()[0] == 6  # 2^-5 is the first p below 0.05
    side = pt.compare_many({"a": [1] * 9, "b": [0] * 9}, baseline="a", alternative="greater")
    assert np.isnan(side.separating_n()).all()


@pytest.mark.parametrize(("n", "kind"), [(4, "mean"), (5, "mean"), (5, "f1"), (6, "mean")])
def test_clusters_are_counted_and_intervals_agree_with_p(n, kind):
    """Two items in a cluster: with 5 clusters p is 2/2^5 or more, so no interval excludes 0."""
    scores = {"a": [3, 5, 7, 9, 8, 5, 7, 4, 6, 7, 9, 9], "b": [2, 3, 4, 2, 5, 1, 3, 2, 1, 4, 3, 2]}
    table = {name: np.array(x[: 2 * n]) for name, x in scores.items()}
    if kind == "f1":
        table = {name: np.stack([x, 9 - x, 9 - x], axis=1) for name, x in table.items()}
    labels = np.arange(n).repeat(2)
    board = pt.compare_many(table, statistic=kind, clusters=labels)
    low, high = board.intervals()[1]
    assert (low < 0 < high) == (board.pvalue[0] > 0.05)
    assert (low, high) == (-math.inf, math.inf) or n == 6
    few, many = board.separating_n()[1]
    assert (few, many >= few) == (6, True) if n == 6 else math.isnan(few)
    assert ("any value" in board.cells()[1].values()) == (n < 6)
    assert "clusters to separate" in board.cells()[1]
    if kind == "mean":
        pairs = pt.Pairs(table["b"], table["a"], clusters=tuple(labels.tolist()))
        interval = pt.study.overview(pairs).interval
        assert (interval or (-math.inf, math.inf)) == (low, high)


def test_intervals_of_one_pair_are_those_of_the_single_comparison():
    numbers = {name: RNG.integers(0, 9, 50) for name in "ab"}
    for side in ("two-sided", "greater", "less"):
        board = pt.compare_many(numbers, baseline="b", alternative=side, alpha=0.1)
        wanted = board.result("a", "b").confidence_interval(0.9)
        assert tuple(board.intervals()[0]) == tuple(wanted)
    assert np.isnan(board.intervals()[1]).all()
    shares = pt.compare_many({name: TABLE[name] for name in ("poor", "good")})
    b, c = (int((TABLE[x] > TABLE[y]).sum()) for x, y in (("poor", "good"), ("good", "poor")))
    wanted = pt.alternatives.mcnemar(b, c, n=SIZE).confidence_interval(0.95)
    assert tuple(shares.intervals()[0]) == tuple(wanted)


@pytest.mark.parametrize("kind", ["0/1", "3 % wrong", "grades", "3 % worse than the best"])
def test_all_intervals_hold_together_although_the_best_is_chosen(kind):
    """Single ones are all right on 25 to 60 % of such boards."""
    rng, right, boards = np.random.default_rng(40), 0, 60
    for _ in range(boards):
        ease, own = rng.normal(size=100), rng.normal(size=(12, 100))
        worse, true = rng.random((12, 100)) < 0.03, np.zeros(12)
        scores = {"0/1": 1 * (ease + own > 0), "3 % wrong": 1 - worse}.get(kind)
        if kind == "grades":
            scores = np.rint(3 + ease + own).astype(np.int64)
        elif scores is None:
            worse[0] = False
            scores, true[1:] = np.rint(ease).astype(np.int64) - 3 * worse, -0.09
        table = pt.ScoreTable.of(dict(zip("abcdefghijkl", scores, strict=True)))
        together = Simultaneous(table, *np.triu_indices(12, 1), "two-sided", 0.05)
        best = int(scores.sum(axis=1).argmax())
        ends = [(*together.interval(i, best), true[i] - true[best]) for i in range(12) if i != best]
        right += all(low <= off <= high for low, high, off in ends)
    assert right / boards >= 0.85  # .95 less 3.5 standard errors


def test_intervals_from_a_baseline_look_at_its_pairs_alone():
    numbers = {name: RNG.integers(0, 9, 80) for name in "abcdefgh"}
    every, beside = pt.compare_many(numbers), pt.compare_many(numbers, baseline="h")
    single = pt.compare_many({name: numbers[name] for name in "ah"}, baseline="h")
    a, h = 0, 7
    widths = [np.diff(x).item() for x in (single.intervals()[0], beside.intervals()[a])]
    widths.append(np.diff(every._together.interval(a, h)).item())
    assert sorted(widths) == widths
    assert widths[0] * 1.2 < widths[1] < widths[2] / 1.02
    for side, end in (("greater", 1), ("less", 0)):
        board = pt.compare_many(numbers, baseline="h", alternative=side)
        low, high = board.intervals()[a]
        assert (low, high)[end] == (-math.inf, math.inf)[end]
        assert abs((low, high)[1 - end] - board.statistic[a]) < widths[1] / 2


def test_intervals_are_the_same_again_and_for_any_number_of_workers():
    numbers = {str(i): row for i, row in enumerate(RNG.integers(0, 9, (15, 60)))}
    found = [pt.compare_many(numbers, rng=seed).intervals() for seed in (1, 2)]
    for backend in ("threading", "sequential"):
        with joblib.parallel_config(backend=backend, n_jobs=2 if backend == "threading" else 1):
            found.append(pt.compare_many(numbers).intervals())
    for other in found[1:]:
        assert np.array_equal(found[0], other, equal_nan=True)


def test_the_largest_difference_is_that_of_tukey_for_systems_that_are_independent():
    values = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 13)))[0]
    values = values[:, 1:] - values[:, 1:].mean(axis=0)
    scores = np.rint(1e6 * np.linalg.qr(values)[0].T).astype(np.int64)
    table = pt.ScoreTable.of(dict(zip("abcdefghijkl", scores, strict=True)))
    found = Simultaneous(table, *np.triu_indices(12, 1), "two-sided", 0.05).critical()
    assert found == pytest.approx(studentized_range.ppf(0.95, 12, np.inf) / 2**0.5, abs=0.03)


@pytest.mark.parametrize("statistic", ["sum", "f1"])
def test_approximate_intervals_are_near_the_bootstrap(statistic):
    counts = [RNG.integers(0, 5, (300, 3)) for _ in range(3)]
    scores = counts if statistic == "f1" else [x[:, 0] for x in counts]

    def value(x):
        total = x.sum(axis=0)
        return 2 * total[0] / (2 * total[0] + total[1] + total[2]) if statistic == "f1" else total

    board = pt.compare_many(dict(zip("abc", scores, strict=True)), statistic=statistic)
    draws = RNG.integers(0, 300, (2000, 300))
    resampled = np.array([value(scores[0][i]) - value(scores[1][i]) for i in draws])
    low, high = board._together.interval(0, 1)
    assert (low + high) / 2 == pytest.approx(value(scores[0]) - value(scores[1]))
    # Of three independent systems Tukey's quantile is 2.34; some units more are counted.
    assert (high - low) / (2 * 2.38) == pytest.approx(resampled.std(), rel=0.1)


def test_shares_have_the_interval_of_wilson():
    frame = BOARD.ranking().set_index("system")
    for name, scores in TABLE.items():
        wanted = binomtest(int(scores.sum()), SIZE).proportion_ci(method="wilson")
        found = frame.loc[name, ["value_low", "value_high"]].tolist()
        assert found == pytest.approx([*wanted], rel=1e-12)
    total = pt.compare_many(TABLE, statistic="sum").ranking().set_index("system")
    assert total.loc["good", "value_low"] == pytest.approx(SIZE * frame.loc["good", "value_low"])
    graded = {name: 2 * scores for name, scores in TABLE.items()}
    for others in (pt.compare_many(graded), pt.compare_many(TABLE, clusters=np.arange(SIZE) // 2)):
        assert "value_low" not in others.ranking()


@pytest.mark.parametrize("correction", ["bh", "none"])
def test_ranks_have_no_range_unless_the_familywise_error_is_kept(correction):
    board = BOARD.corrected(correction)
    with pytest.raises(ValueError, match="does not limit the chance that any range"):
        board.rank_ranges()
    assert board.rank_texts() == [str(place) for place in board.places()]
    assert not {"rank_low", "rank_high"} & {*board.ranking()}
    assert "possible ranks" not in board.cells()[0]
    assert board.corrected("max_t").rank_ranges().tolist() == BOARD.rank_ranges().tolist()


def test_a_system_that_always_scores_the_same_is_remarked_upon():
    board = pt.compare_many(TABLE | {"gold": np.ones(SIZE, dtype=int)})
    assert board.remarks() == [str(board).splitlines()[-1]]
    assert board.remarks()[0].startswith("gold scores 1 on every item: check")
    assert board.remarks()[0] in board._repr_html_()
    assert BOARD.remarks() == []


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
