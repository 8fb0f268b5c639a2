"""Answers, effects, power, histograms and units: what is drawn is what was found."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest import e_process, exact_perm_test
from permtest.alternatives.compare import compare_all
from permtest.plots import plot_answers, plot_e_process, plot_power, plot_sensitivity
from permtest.study import PowerCurve

mpl.use("Agg")

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


def lines(ax, *gids):
    return [line for line in ax.lines if line.get_gid() in gids]


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


def test_arguments_of_answers_are_checked():
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


def test_an_e_process_is_drawn_beside_the_exact_p_of_each_size():
    process = e_process(A + 1, B)
    ax = plot_e_process(process)
    (anytime,), (exact,) = lines(ax, "anytime"), lines(ax, "exact")
    assert anytime.get_ydata().tolist() == process.pvalues.tolist()
    assert exact.get_xdata().tolist() == list(range(1, 41))
    assert exact.get_ydata()[-1] == exact_perm_test(A + 1, B).pvalue
    ((first,),) = (line.get_xdata() for line in lines(ax, "first"))
    assert first == process.first_below(0.05) < 40
    assert ax.get_ylim()[0] < process.pvalue < ax.get_ylim()[1]
    assert lines(plot_e_process(e_process([1, 0], [0, 1])), "first") == []


def test_p_is_drawn_against_the_bias_that_could_undo_it():
    result = exact_perm_test(A + 1, B)
    ax = plot_sensitivity(result)
    (bound,), (tipping,) = lines(ax, "bound"), lines(ax, "tipping")
    assert bound.get_ydata()[0] == pytest.approx(result.pvalue)
    assert bound.get_xdata()[0] == 1 < tipping.get_xdata()[0] < bound.get_xdata()[-1]
    assert tipping.get_xdata() == [result.tipping_gamma()]
    ax = plot_sensitivity(result, gammas=[1, 2])
    assert lines(ax, "bound")[0].get_ydata()[1] == result.sensitivity(2).pvalue
    assert lines(plot_sensitivity(exact_perm_test([1, 0], [0, 1])), "tipping") == []
