"""Pictures of two systems: what is drawn is what was found."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest import Pairs
from permtest.alternatives import bayes_test, compare_all
from permtest.plots import (
    plot_answers,
    plot_difference,
    plot_estimation,
    plot_posteriors,
    plot_power,
)
from permtest.plots.two_systems import _three_axes as estimation_axes
from permtest.study import PowerCurve, overview
from tests.alternatives.known import FOLDS_A, FOLDS_B


def lines(ax, *gids):
    return [line for line in ax.lines if line.get_gid() in gids]


def one(ax, gid):
    (found,) = (part for part in (*ax.lines, *ax.collections) if part.get_gid() == gid)
    return found


# ---- estimates ---------------------------------------------------------------------------------

ITEMS = np.random.default_rng(3)
NAMES = ("$new_1$", "<b>old</b>")
COUNTS = ("tp", "fp", "fn")
SCORES = ITEMS.integers(0, 9, 300)
SHIFTED = np.clip(SCORES + ITEMS.integers(-3, 3, 300), 0, 9)
CASES = {
    "points": (Pairs.of(SCORES, SHIFTED, NAMES), "mean"),
    "bits": (Pairs.of(SCORES > 3, SHIFTED > 3, NAMES), "accuracy"),
    "decimals": (Pairs.of(ITEMS.normal(0, 1, 60).round(1), ITEMS.normal(0, 1, 60).round(1)), "sum"),
    "counts": (
        Pairs.of_counts(
            ITEMS.poisson(0.7, (400, 3)), ITEMS.poisson(0.7, (400, 3)), [COUNTS], NAMES
        ),
        "f1",
    ),
    "one": (Pairs.of([3], [1], NAMES), "mean"),
    "ties": (Pairs.of(SCORES, SCORES, NAMES), "mean"),
}


@pytest.mark.parametrize("name", CASES)
def test_bars_and_legend_are_the_record_and_the_mean_stands_below_its_differences(name):
    pairs, statistic = CASES[name]
    found = overview(pairs, statistic=statistic)
    _, differences, mean = plot_estimation(found, ax=estimation_axes(Figure()))
    counts = {"higher": found.record.wins, "equal": found.record.ties, "lower": found.record.losses}
    for gid, count in counts.items():
        assert sum(bar.get_height() for bar in differences.patches if bar.get_gid() == gid) == count
    numbers = [text.get_text().rpartition(": ")[2] for text in differences.get_legend().get_texts()]
    assert numbers == [f"{n:,}" for n in counts.values()]
    per_item = len(pairs) if statistic in ("sum", "accuracy") else 1
    line = one(mean, "interval")
    assert line.get_xdata()[1] == pytest.approx(found.difference / per_item)
    if found.interval is not None:
        assert line.get_xdata()[[0, 2]] == pytest.approx(np.array(found.interval) / per_item)
    low, high = mean.get_xlim()
    assert low < 0 < high
    ends = differences.get_xlim()
    assert ends[0] < found.difference / per_item < ends[1]
    links = [artist for artist in mean.figure.artists if artist.get_gid() == "link"]
    assert [link.xy1[0] for link in links] == [0, 1]
    assert [link.xy2[0] for link in links] == [
        pytest.approx(np.clip(x, *ends)) for x in mean.get_xlim()
    ]


# ---- posteriors --------------------------------------------------------------------------------

LONG = ("a model of $many_words$, and of even more of them", "bidirectional-encoder-v2-large")
POSTERIORS = {
    "folds": bayes_test(FOLDS_A, FOLDS_B),
    "rope": bayes_test(FOLDS_A, FOLDS_B, rope=0.03),
    "long names": bayes_test(FOLDS_A, FOLDS_B, names=LONG, rope=0.01),
    "infinite": bayes_test([0, 0, 0], [0, 0, 0], prior=0.5),
    "infinite at both ends": bayes_test([0, 0, 0], [0, 0, 0], "precision", prior=0.5),
    "opposite ends": bayes_test([30, 0, 0], [0, 4, 5], prior=0.5),
    "one far narrower": bayes_test([10**6, 10**5, 10**5], [9, 1, 1]),
    "sure": bayes_test([300, 600, 600], [600, 300, 300]),
    "far from the rope": bayes_test([100, 900, 900], [1900, 100, 100], rope=0.01),
}


@pytest.mark.parametrize("name", POSTERIORS)
def test_both_densities_are_drawn_between_their_quantiles(name):
    result = POSTERIORS[name]
    ax = plot_posteriors(result, ax=Figure().subplots())
    for letter, law in (("a", result.posterior_a), ("b", result.posterior_b)):
        x, y = one(ax, letter).get_data()
        assert x[[0, -1]] == pytest.approx(law.interval(0.998), rel=1e-9, abs=1e-14)
        assert y == pytest.approx(law.pdf(x))
        assert np.isfinite(y).all()
        assert ax.get_xlim()[0] < x[0] < x[-1] < ax.get_xlim()[1]
        assert np.diff(law.cdf(x)).max() < 0.05, "a curve is seen, however narrow"
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["rope", "infinite", "opposite ends", "sure"])
def test_the_difference_is_drawn_between_its_quantiles(name):
    law = POSTERIORS[name].difference
    ax = plot_difference(POSTERIORS[name], ax=Figure().subplots())
    x, y = one(ax, "density").get_data()
    assert x[[0, -1]] == pytest.approx(law.interval(0.998))
    assert y == pytest.approx(law.pdf(x))
    bar = one(ax, "interval")
    assert tuple(bar.get_xdata()) == law.interval(0.95)
    assert 0 > bar.get_ydata()[0] > ax.get_ylim()[0]
    assert one(ax, "mean").get_xdata() == [law.mean()]
    low, high = ax.get_xlim()
    assert low < min(0, x[0]) < max(0, x[-1]) < high
    assert np.isfinite(ax.get_ylim()).all()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["folds", "rope"])
def test_areas_are_as_large_as_the_probabilities(name):
    result, rope = POSTERIORS[name], POSTERIORS[name].rope
    ax = plot_difference(result, ax=Figure().subplots())
    sides = {"a better": (result.p_a_better, -1, -rope), "b better": (result.p_b_better, rope, 1)}
    sides |= {"equivalent": (result.p_equivalent, -rope, rope)} if rope else {}
    for gid, (p, low, high) in sides.items():
        (path,) = one(ax, gid).get_paths()
        x, y = path.vertices.T
        assert low <= x.min() < x.max() <= high
        size = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        assert size == pytest.approx(p, abs=2e-3)
    bands = [patch for patch in ax.patches if patch.get_gid() == "rope"]
    assert [(band.get_x(), band.get_width()) for band in bands] == [(-rope, 2 * rope)] * bool(rope)


# ---- answers, power, p ------------------------------------------------------------------------

RNG = np.random.default_rng(1)
A = RNG.integers(0, 9, 40)
B = np.clip(A + RNG.integers(-3, 3, 40), 0, 9)
RIGHT = RNG.integers(0, 2, (2, 60))
TABLES = {
    "scores": compare_all(A, B, names=("$new_1$", "old"), K=200),
    "greater": compare_all(A, B, alternative="greater", tests=["exact", "paired_t", "sign"]),
    "right or wrong": compare_all(*RIGHT, K=200),
    "constant": compare_all(A + 1, A, tests=["paired_t", "exact", "sign"]),
    "far": compare_all([1] * 2000, [0] * 1999 + [1], tests=["exact", "sign"]),
    "delta": compare_all(A, B, delta=0.5, tests=["exact", "paired_t"], confidence_level=0.9),
}


def draw(name, **options):
    return plot_answers(TABLES[name], ax=Figure(figsize=(13, 7)).subplots(1, 2), **options)


@pytest.mark.parametrize("name", TABLES)
def test_every_p_has_its_dot_in_its_row(name):
    table = TABLES[name]
    ax, _ = draw(name)
    drawn = {line.get_ydata()[0]: line for line in lines(ax, "met", "not met")}
    refused = [text.get_position()[1] for text in ax.texts if text.get_gid() == "refused"]
    for row, answer in enumerate(table):
        if answer.result is None:
            assert row in refused
            continue
        assert drawn[row].get_xdata() == [max(answer.result.pvalue, 1e-322)]
        assert drawn[row].get_gid() == ("not met" if answer.held is False else "met")
        assert ax.get_xlim()[0] <= drawn[row].get_xdata()[0] < ax.get_xlim()[1]
    assert len(drawn) + len(refused) == len(table.answers)
    assert [label.get_text() for label in ax.get_yticklabels()] == [x.title for x in table]
    texts = [text.get_text() for text in ax.texts if text.get_gid() == "p"]
    assert texts == [x.result.pvalue_text() for x in table if x.result]
    assert lines(ax, "level")[0].get_xdata()[0] == pytest.approx(1 - table.confidence_level)
    exact = [row for row, answer in enumerate(table) if answer.test == "exact"]
    bold = [label.get_fontweight() == "bold" for label in ax.get_yticklabels()]
    assert [row for row, is_bold in enumerate(bold) if is_bold] == exact


def test_an_interval_that_assumes_too_much_does_not_set_the_scale():
    shared = 1000 * A
    table = compare_all(shared + A, shared + B, tests=["exact", "paired_t", "independent_t"])
    _, ax = plot_answers(table, ax=Figure().subplots(1, 2))
    low, high = ax.get_xlim()
    for answer in table:
        inside = low < answer.interval.low < answer.interval.high < high
        assert inside == (answer.test != "independent_t")


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="result is empty"):
        plot_posteriors([])
    with pytest.raises(ValueError, match="table has no answers"):
        plot_answers(replace(TABLES["scores"], answers=()))
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1\), got 1"):
        draw("scores", alpha=1)


def test_curves_have_bands_and_the_size_that_is_needed():
    powers = {"exact": (0.2, 0.5, 0.9), "sign": (0.1, 0.3, 0.6), "wilcoxon": (0.85, 0.9, 0.95)}
    curves = [
        PowerCurve((10, 20, 40), power, tuple((x - 0.05, x + 0.05) for x in power), test, 0.05,
                   "two-sided", 500, "bootstrap", 0.5)
        for test, power in powers.items()
    ]  # fmt: skip
    ax = plot_power(curves, ax=Figure().subplots())
    drawn = lines(ax, "power")
    assert [tuple(line.get_ydata()) for line in drawn] == [c.power for c in curves]
    assert [tuple(line.get_xdata()) for line in drawn] == [c.sizes for c in curves]
    bands = [band for band in ax.collections if band.get_gid() == "simulation"]
    for band, found in zip(bands, curves, strict=True):
        corners = {(x, round(y, 12)) for x, y in band.get_paths()[0].vertices}
        for size, ends in zip(found.sizes, found.intervals, strict=True):
            assert {(size, round(end, 12)) for end in ends} <= corners
    needed = {line.get_xdata()[0] for line in lines(ax, "needed")}
    enough = curves[0].needed(0.8)
    assert needed == {enough, curves[2].needed(0.8)}
    assert 20 < enough < 40
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"exact: {enough} pairs for 80%",
        "sign: 80% not reached",
        "wilcoxon: at most 10 pairs for 80%",
    ]
    assert set(lines(ax, "target")[0].get_ydata()) == {0.8}
