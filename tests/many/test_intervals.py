"""Intervals of a board: right together, and those of a single comparison where there is one."""

import math

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

import permtest as pt
from permtest.many.corrections import joint_tail

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(("n", "kind"), [(4, "mean"), (5, "mean"), (5, "f1"), (6, "mean")])
def test_clusters_are_counted_and_intervals_agree_with_p(n, kind):
    """Two items in a cluster: with 5 clusters p is 2/2^5 or more, so no interval excludes 0."""
    scores = {"a": [3, 5, 7, 9, 8, 5, 7, 4, 6, 7, 9, 9], "b": [2, 3, 4, 2, 5, 1, 3, 2, 1, 4, 3, 2]}
    table = {name: np.array(x[: 2 * n]) for name, x in scores.items()}
    if kind == "f1":
        table = {name: np.stack([x, 9 - x, 9 - x], axis=1) for name, x in table.items()}
    board = pt.compare_many(table, statistic=kind, clusters=np.arange(n).repeat(2))
    low, high = board.interval("a", "b")
    assert (low < 0 < high) == (board.pvalue[0] > 0.05)
    assert ((low, high) == (-math.inf, math.inf)) == (n < 6)
    assert ("any difference" in board._repr_html_()) == (n < 6)


def test_of_one_pair_they_are_those_of_the_single_comparison():
    numbers = {name: RNG.integers(0, 9, 50) for name in "ab"}
    board = pt.compare_many(numbers, baseline="b", alpha=0.1)
    assert board.interval("a", "b") == tuple(board.result("a", "b").confidence_interval(0.9))
    total = pt.compare_many(numbers, statistic="sum").interval("a", "b")
    assert total == pytest.approx([50 * x for x in pt.compare_many(numbers).interval("a", "b")])


def draw(kind, rng):
    """Scores of twelve systems, and how much worse each truly is than the first."""
    ease, own = rng.normal(size=100), rng.normal(size=(12, 100))
    worse, true = rng.random((12, 100)) < 0.03, np.zeros(12)
    if kind == "0/1":
        return 1 * (ease + own > 0), true
    if kind == "3 % wrong":
        return 1 - worse, true
    worse[0], true[1:] = False, -0.09
    return np.rint(ease).astype(np.int64) - 3 * worse, true


@pytest.mark.parametrize("kind", ["0/1", "3 % wrong", "3 % worse than the best"])
def test_all_hold_together_although_the_best_is_chosen(kind):
    """Single ones are all right on 25 to 60 % of such boards."""
    rng, right, boards = np.random.default_rng(40), 0, 60
    for _ in range(boards):
        scores, true = draw(kind, rng)
        table = dict(zip("abcdefghijkl", scores, strict=True))
        board = pt.compare_many(table, correction="none")
        true -= true["abcdefghijkl".index(board.order()[0])]
        ends = {row["system"]: row["interval"] for row in board.rows()[1:]}
        offs = {name: true["abcdefghijkl".index(name)] for name in ends}
        right += all(low <= offs[name] <= high for name, (low, high) in ends.items())
    assert right / boards >= 0.85  # .95 less 3.5 standard errors


def test_from_a_baseline_they_look_at_its_pairs_alone():
    numbers = {name: RNG.integers(0, 9, 80) for name in "abcdefgh"}
    single = pt.compare_many({name: numbers[name] for name in "ah"}, baseline="h")
    found = (single, pt.compare_many(numbers, baseline="h"), pt.compare_many(numbers))
    widths = [high - low for low, high in (board.interval("a", "h") for board in found)]
    assert widths[0] * 1.2 < widths[1] < widths[2] / 1.02


def test_the_largest_difference_is_that_of_tukey_for_systems_that_are_independent():
    values = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 13)))[0]
    values = values[:, 1:] - values[:, 1:].mean(axis=0)
    tail = joint_tail(np.linalg.qr(values)[0].T, *np.triu_indices(12, 1), 0.05)
    assert norm.isf(tail) == pytest.approx(
        studentized_range.ppf(0.95, 12, np.inf) / 2**0.5, abs=0.03
    )


def test_units_add_to_measures_what_is_lost_without_them():
    a, b = RNG.integers(0, 5, (2, 9, 3))

    def gap(kept):
        (tp, fp, fn), (tp2, fp2, fn2) = (x[kept].sum(axis=0) for x in (a, b))
        return 2 * tp2 / (2 * tp2 + fp2 + fn2) - 2 * tp / (2 * tp + fp + fn)

    jackknife = [9 * gap(np.arange(9)) - 8 * gap(np.arange(9) != n) for n in range(9)]
    board = pt.compare_many({"a": a, "b": b}, statistic="f1")
    assert board._unit_values == pytest.approx(np.stack([np.zeros(9), jackknife]))
