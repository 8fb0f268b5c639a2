"""Answers, effects, power, histograms and units: what is drawn is what was found."""

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest.alternatives.compare import compare_all
from permtest.plots import (
    plot_answers,
    plot_effects,
    plot_histograms,
    plot_power,
    plot_unit_sizes,
)
from permtest.study import (
    PowerCurve,
    cohen_d,
    describe,
    hodges_lehmann,
    unit_sizes,
    wilcoxon_r,
)

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
    assert lines(ax, "level")[0].get_xdata()[0] == pytest.approx(1 - table.confidence_level)
    exact = [row for row, answer in enumerate(table) if answer.test == "exact"]
    bold = [label.get_fontweight() == "bold" for label in ax.get_yticklabels()]
    assert [row for row, is_bold in enumerate(bold) if is_bold] == exact
    bands = [patch for patch in ax.patches if patch.get_gid() == "exact"]
    assert [band.get_y() + 0.45 for band in bands] == pytest.approx(exact)


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


def test_arguments_of_answers_are_checked():
    with pytest.raises(ValueError, match="table has no answers"):
        plot_answers(replace(TABLES["scores"], answers=()))
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1\), got 1"):
        draw("scores", alpha=1)
    with pytest.raises(ValueError, match="ax has 3 axes"):
        plot_answers(TABLES["scores"], ax=Figure().subplots(3))


NAMES = ("$new_1$", "old")


def curve(test="exact", power=(0.2, 0.5, 0.9), delta=0.5):
    ends = tuple((share - 0.05, share + 0.05) for share in power)
    return PowerCurve((10, 20, 40), power, ends, test, 0.05, "two-sided", 500, "bootstrap", delta)


CURVES = [curve(), curve("sign", (0.1, 0.3, 0.6)), curve("wilcoxon", (0.85, 0.9, 0.95))]
EFFECTS = [
    cohen_d(A, B, names=NAMES),
    wilcoxon_r(A, B, names=NAMES),
    hodges_lehmann(A, B, names=NAMES),
]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_have_bands_and_the_size_that_is_needed():
    ax = plot_power(CURVES, ax=Figure().subplots())
    drawn = lines(ax, "power")
    assert [tuple(line.get_ydata()) for line in drawn] == [c.power for c in CURVES]
    assert [tuple(line.get_xdata()) for line in drawn] == [c.sizes for c in CURVES]
    bands = [band for band in ax.collections if band.get_gid() == "simulation"]
    for band, found in zip(bands, CURVES, strict=True):
        corners = {(x, round(y, 12)) for x, y in band.get_paths()[0].vertices}
        for size, ends in zip(found.sizes, found.intervals, strict=True):
            assert {(size, round(end, 12)) for end in ends} <= corners
    needed = {line.get_xdata()[0] for line in lines(ax, "needed")}
    enough = CURVES[0].needed(0.8)
    assert needed == {enough, CURVES[2].needed(0.8)}
    assert 20 < enough < 40
    assert legend(ax) == [
        f"exact: {enough} pairs for 80%",
        "sign: 80% not reached",
        "wilcoxon: at most 10 pairs for 80%",
    ]
    assert set(lines(ax, "target")[0].get_ydata()) == {0.8}


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "curves has 0 entries; pass 1 to 5"),
        (CURVES * 2, {}, "curves has 6 entries"),
        (CURVES, {"target": 1}, r"target must lie in \(0, 1\), got 1"),
    ],
)
def test_curves_that_cannot_be_drawn(given, options, message):
    with pytest.raises(ValueError, match=message):
        plot_power(given, **options)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_effects_are_drawn_with_intervals_or_written(level):
    ax = plot_effects(EFFECTS, ax=Figure().subplots(), confidence_level=level)
    for row, (line, effect) in enumerate(zip(lines(ax, "effect"), EFFECTS[:2], strict=True)):
        low, high = effect.confidence_interval(level)
        assert line.get_xdata() == pytest.approx([low, effect.value, high])
        assert set(line.get_ydata()) == {row}
    (note,) = (text for text in ax.texts if text.get_gid() == "unit")
    assert note.get_position()[1] == 2
    assert note.get_text().startswith(f"{EFFECTS[2].value:.3g} (")
    start = f"size of the effect of $new_1$ over old ({100 * level:g}% intervals"
    assert ax.get_xlabel().startswith(start)


def test_thresholds_stand_in_their_rows():
    ax = plot_effects(EFFECTS, ax=Figure(figsize=(12, 5)).subplots())
    left, right = ax.get_xlim()
    seen = {(line.get_xdata()[0], round(line.get_ydata()[0])) for line in lines(ax, "threshold")}
    expected = {
        (side * value, row)
        for row, effect in enumerate(EFFECTS)
        for value in effect.thresholds
        for side in (-1, 1)
        if left < side * value < right
    }
    assert seen == expected
    assert {(0.2, 0), (0.5, 0), (0.8, 0), (0.1, 1), (0.3, 1), (0.5, 1)} <= seen
    words = {t.get_text() for t in ax.texts if t.get_gid() == "word"}
    assert words == {"S", "M", "L"}


def test_effects_of_several_pairs_of_systems_say_which():
    ax = plot_effects([EFFECTS[0], cohen_d(B, A, names=("x", "y"))], ax=Figure().subplots())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["Cohen's d ($new_1$ over old)", "Cohen's d (x over y)"]
    with pytest.raises(ValueError, match="effects is empty"):
        plot_effects([])


def test_three_histograms():
    found = describe(A, B, names=NAMES)
    axes = plot_histograms(found)
    for ax, summary in zip(axes, (found.a, found.b, found.difference), strict=True):
        values = (
            summary.values if ax is axes[2] else np.concatenate([found.a.values, found.b.values])
        )
        bars = [patch for patch in ax.patches if patch.get_height() or patch.get_width()]
        assert sum(bar.get_height() for bar in bars) == summary.values.size
        assert bars[0].get_x() <= values.min() < values.max() <= bars[-1].get_x() + 1
        for gid, value in (("mean", summary.mean), ("median", summary.median)):
            (line,) = lines(ax, gid)
            assert set(line.get_xdata()) == {value}
        assert lines(ax, "mean")[0].get_linestyle() != lines(ax, "median")[0].get_linestyle()
    assert axes[0].get_ylim() == axes[1].get_ylim()
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert [ax.get_title(loc="left") for ax in axes] == ["$new_1$", "old", "$new_1$ minus old"]
    assert legend(axes[2]) == ["mean", "median"]
    plt.close(axes[0].figure)


def test_sizes_of_units():
    found = unit_sizes(A, B, [1, 2, 3, 4, 6], tolerance=0.3)
    ax = plot_unit_sizes(found, ax=Figure().subplots())
    (line,) = lines(ax, "deviations")
    assert line.get_xdata().tolist() == found.sizes.tolist()
    assert line.get_ydata().tolist() == found.sds.tolist()
    (marks,) = lines(ax, "stable")
    assert 0 < len(found.stable) < len(found.sizes)
    assert tuple(marks.get_xdata()) == found.stable
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > found.sds.max()
    none = plot_unit_sizes(unit_sizes(A, B, [1, 2], tolerance=0), ax=Figure().subplots())
    assert legend(none) == ["units of the mean"]
