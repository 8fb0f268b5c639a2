"""Pictures of tests, posteriors and boards: what is drawn is what was found."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import permtest as pt
from permtest._text import p_value
from permtest.alternatives import bayes_test
from permtest.plots import plot_answers, plot_posteriors, plot_power, plot_ranking
from permtest.study import power_curve

RNG = np.random.default_rng(1)
A = RNG.integers(0, 9, 40)
B = np.clip(A + RNG.integers(-3, 3, 40), 0, 9)
TESTS = ["exact", "paired_t", "sign", "wilcoxon"]
SHARED = ["exact", "paired_t", "independent_t"]
TABLES = {
    "scores": pt.compare_all(A, B, names=("$new_1$", "old"), rng=0),
    "greater": pt.compare_all(A, B, alternative="greater", tests=TESTS),
    "constant": pt.compare_all(A + 1, A, tests=TESTS, confidence_level=0.9),
    "far": pt.compare_all([1] * 2000, [0] * 1999 + [1], tests=["exact", "sign"]),
    "shared": pt.compare_all(1001 * A, 1000 * A + B, tests=SHARED),
}


def lines(ax, *gids):
    return [line for line in ax.lines if line.get_gid() in gids]


def texts(ax, gid):
    return [text.get_text() for text in ax.texts if text.get_gid() == gid]


@pytest.mark.parametrize("name", TABLES)
def test_every_p_has_its_dot_and_every_interval_its_row(name):
    table = TABLES[name]
    ax, intervals = plot_answers(table, ax=Figure((11, 1)))
    drawn = {line.get_ydata()[0]: line for line in lines(ax, "met", "not met")}
    for row, answer in enumerate(table):
        if answer.result is None:
            assert (row in drawn, texts(ax, "p")[row]) == (False, "does not fit")
            continue
        assert drawn[row].get_xdata() == [max(answer.result.pvalue, 1e-322)]
        assert drawn[row].get_gid() == ("not met" if answer.held is False else "met")
        assert ax.get_xlim()[0] <= drawn[row].get_xdata()[0] < ax.get_xlim()[1]
    assert [x.get_text() for x in ax.get_yticklabels()] == [answer.title for answer in table]
    assert lines(ax, "level")[0].get_xdata()[0] == pytest.approx(1 - table.confidence_level)
    assert lines(intervals, "null")[0].get_xdata()[0] == 0
    for line in lines(intervals, "interval"):
        answer, (low, high) = table.answers[line.get_ydata()[0]], intervals.get_xlim()
        assert line.get_xdata()[1] == answer.estimate
        assert line.get_xdata()[[0, 2]] == pytest.approx(np.clip(answer.interval, low, high))
        finite = [end for end in answer.interval if np.isfinite(end)]
        assert answer.held is False or low < min(finite) <= max(finite) < high


@pytest.mark.parametrize("delta", [1.0, 0.01])
def test_a_curve_has_its_band_and_the_size_that_is_needed(delta):
    curve = power_curve(A, B, sizes=[10, 20, 40], delta=delta, experiments=100, rng=0)
    ax = plot_power(curve, ax=Figure())
    (line,), enough = lines(ax, "power"), curve.needed(0.8)
    assert (*line.get_xdata(), *line.get_ydata()) == (*curve.sizes, *curve.power)
    (band,) = (band for band in ax.collections if band.get_gid() == "simulation")
    corners = {round(y, 12) for _, y in band.get_paths()[0].vertices}
    assert {round(end, 12) for ends in curve.intervals for end in ends} <= corners
    assert {line.get_xdata()[0] for line in lines(ax, "needed")} == ({enough} - {None})
    assert ("not reached" in ax.get_legend().texts[-1].get_text()) == (enough is None)


POSTERIORS = {
    "usual": bayes_test([90, 10, 20], [95, 9, 15]),
    "infinite at both ends": bayes_test([0, 0, 0], [0, 0, 0], "precision", prior=0.5),
    "one far narrower": bayes_test([10**6, 10**5, 10**5], [9, 1, 1]),
}


@pytest.mark.parametrize("name", POSTERIORS)
def test_both_densities_are_drawn_between_their_quantiles(name):
    result = POSTERIORS[name]
    ax = plot_posteriors(result, ax=Figure())
    for letter, law in (("a", result.posterior_a), ("b", result.posterior_b)):
        (curve,), (bar,) = lines(ax, letter), lines(ax, f"interval {letter}")
        x, y = curve.get_data()
        assert x[[0, -1]] == pytest.approx(law.interval(0.998), rel=1e-9, abs=1e-14)
        assert y == pytest.approx(law.pdf(x))
        assert ax.get_xlim()[0] < x[0] < x[-1] < ax.get_xlim()[1]
        assert np.diff(law.cdf(x)).max() < 0.05, "a curve is seen, however narrow"
        low, high = law.interval()
        assert bar.get_xdata() == pytest.approx([low, law.mean(), high])


LENGTHS = RNG.integers(5, 20, 80)
SHARES = np.linspace(0.4, 0.9, 6)[:, None]
SEVERAL = {f"system {i}": x.astype(int) for i, x in enumerate(RNG.random((6, 120)) < SHARES)}
SPANS = {x: np.stack([RNG.binomial(LENGTHS, 0.8), LENGTHS], axis=1) for x in "abcd"}
BOARDS = {"several": pt.compare_many(SEVERAL), "spans": pt.compare_many(SPANS, statistic="f1")}


@pytest.mark.parametrize("name", BOARDS)
def test_every_system_has_a_row_with_its_value_and_ranks(name):
    board = BOARDS[name]
    ax = plot_ranking(board, ax=Figure((11, 1)))
    drawn = {line.get_ydata()[0]: line for line in lines(ax, "tied", "behind")}
    assert [label.get_text() for label in ax.get_yticklabels()] == board.order()
    for y, (system, note) in enumerate(zip(board.order(), texts(ax, "note"), strict=True)):
        i, tied = board.systems.index(system), system in board.tied_with_best()
        low, high = board.rank_ranges()[i]
        assert note.endswith(f"  rank {low}" if low == high else f"  rank {low} to {high}")
        assert drawn[y].get_xdata()[0] == board.values[i]
        assert drawn[y].get_gid() == ("tied" if tied else "behind")
    assert len(lines(ax, "group")) == len(board.groups())
    assert ax.get_title(loc="left").replace("\n", " ") == board.sentence()


def test_beside_a_baseline_differences_are_drawn():
    board = pt.compare_many(SEVERAL, baseline="system 3")
    ax = plot_ranking(board, ax=Figure((11, 1)))
    drawn = {line.get_ydata()[0]: line for line in lines(ax, "differs", "same", "baseline")}
    for y, system in enumerate(board.order()):
        note, line = texts(ax, "note")[y], drawn[y]
        if system == "system 3":
            assert (note, line.get_gid(), *line.get_xdata()) == ("baseline", "baseline", 0)
            continue
        (pair,) = np.flatnonzero(board.first == board.systems.index(system))
        assert line.get_xdata()[0] == board.statistic[pair]
        assert line.get_gid() == ("differs" if board.differs[pair] else "same")
        assert note.endswith(f"  p = {p_value(board.adjusted[pair])}")
    key = [text.get_text() for text in ax.get_legend().get_texts()]
    assert key == ["shown to differ", "not shown to differ"]
