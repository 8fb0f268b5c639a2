"""All answers side by side: what is drawn is what the table says."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest.alternatives.compare import compare_all
from permtest.plots import plot_answers

mpl.use("Agg")

RNG = np.random.default_rng(1)
A = RNG.integers(0, 9, 40)
B = np.clip(A + RNG.integers(-3, 3, 40), 0, 9)
RIGHT = RNG.integers(0, 2, (2, 60))
TABLES = {
    "scores": compare_all(A, B, names=("$new_1$", "old"), K=200),
    "greater": compare_all(A, B, alternative="greater", tests=["exact", "paired_t", "sign"]),
    "less": compare_all(A, B, alternative="less", tests=["exact", "independent_z"]),
    "right or wrong": compare_all(*RIGHT, K=200),
    "constant": compare_all(A + 1, A, tests=["paired_t", "exact", "sign"]),
    "far": compare_all([1] * 2000, [0] * 1999 + [1], tests=["exact", "sign"]),
    "no interval": compare_all(A, B, tests=["wilcoxon"]),
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
    assert ax.get_xscale() == "log"
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
    assert ax.get_ylim()[0] > len(table.answers) - 1 > -0.5 > ax.get_ylim()[1]
    texts = [text.get_text() for text in ax.texts if text.get_gid() == "p"]
    assert texts == [x.result.pvalue_text() for x in table if x.result]


@pytest.mark.parametrize("name", ["scores", "constant", "right or wrong"])
def test_the_exact_test_stands_out(name):
    ax, beside = draw(name)
    (row,) = (i for i, answer in enumerate(TABLES[name]) if answer.test == "exact")
    bold = [label.get_fontweight() == "bold" for label in ax.get_yticklabels()]
    assert [i for i, is_bold in enumerate(bold) if is_bold] == [row]
    for place in (ax, beside):
        (band,) = (patch for patch in place.patches if patch.get_gid() == "exact")
        assert band.get_y() < row < band.get_y() + band.get_height()


@pytest.mark.parametrize(
    ("name", "alpha", "level"),
    [("scores", None, 0.05), ("delta", None, 0.1), ("scores", 0.01, 0.01)],
)
def test_the_level_is_marked(name, alpha, level):
    ax, _ = draw(name, alpha=alpha)
    (line,) = lines(ax, "level")
    assert line.get_xdata()[0] == pytest.approx(level)
    assert f"level {level:g}" in [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("name", ["scores", "delta", "right or wrong"])
def test_intervals_of_the_mean_difference_are_drawn_and_others_written(name):
    table = TABLES[name]
    _, ax = draw(name)
    drawn = {line.get_ydata()[0]: line.get_xdata() for line in lines(ax, "interval")}
    written = {text.get_position()[1]: text.get_text() for text in ax.texts}
    for row, answer in enumerate(table):
        if answer.result.estimate_name == "mean difference":
            low, high = answer.interval
            assert drawn[row] == pytest.approx([low, answer.result.estimate, high])
        elif row not in drawn:
            assert written[row].startswith(f"{answer.result.estimate_name} ")
    assert drawn.keys() | written.keys() == set(range(len(table.answers)))
    assert not drawn.keys() & written.keys()
    (line,) = lines(ax, "null")
    assert set(line.get_xdata()) == {table.delta}
    assert f"({100 * table.confidence_level:g}%" in ax.get_xlabel().replace("\n", " ")


@pytest.mark.parametrize(("name", "marker", "end"), [("greater", ">", 1), ("less", "<", 0)])
def test_an_open_end_is_an_arrow_at_the_edge(name, marker, end):
    _, ax = draw(name)
    arrows = lines(ax, "open")
    assert len(arrows) >= 2
    assert {(line.get_marker(), line.get_xdata()[0]) for line in arrows} == {
        (marker, ax.get_xlim()[end])
    }


def test_the_smallest_p_and_no_interval_can_be_drawn():
    ax, _ = draw("far")
    assert ax.get_xlim()[0] > 0
    assert max(ax.get_xticks()) <= 1
    assert ax.texts[0].get_text() == TABLES["far"]["exact"].result.pvalue_text()
    tiny = replace(TABLES["far"].answers[0].result, pvalue=0.0)
    answer = replace(TABLES["far"].answers[0], result=tiny, interval=None)
    table = replace(TABLES["far"], answers=(answer,))
    ax, beside = plot_answers(table, ax=Figure().subplots(1, 2))
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["< 5e-324"]
    assert not lines(beside, "interval")


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="table has no answers"):
        plot_answers(replace(TABLES["scores"], answers=()))
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1\), got 1"):
        draw("scores", alpha=1)
    with pytest.raises(ValueError, match="ax has 3 axes"):
        plot_answers(TABLES["scores"], ax=Figure().subplots(3))
