"""The explorer of sampled p-values: what is drawn is what was found, and every control moves it."""

import re
from base64 import b64decode
from io import BytesIO
from itertools import product

import numpy as np
import pytest
from matplotlib import image
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import permtest as pt
from permtest.widgets import SamplingExplorer, sampling
from permtest.widgets.sampling import RUNS, describe, plot_estimates

RNG = np.random.default_rng(4)
U, V = RNG.integers(0, 9, (2, 500)) + np.array([[1], [0]]) * (RNG.random((1, 500)) < 0.42)
EXACT = pt.exact_perm_test(U, V).pvalue


def sampled(K, runs=RUNS):
    return [pt.monte_carlo(U, V, K=K, rng=seed) for seed in range(runs)]


def lines_of(ax):
    return [line for line in ax.lines if line.get_gid() in ("hit", "miss")]


def pixels(e):
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


# ---- the picture -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_each_line_is_an_interval_with_its_estimate(level):
    results = sampled(200)
    ax = plot_estimates(results, EXACT, confidence_level=level, ax=Figure().subplots())
    lines = lines_of(ax)
    assert len(lines) == len(results)
    for row, (line, result) in enumerate(zip(lines, results, strict=True)):
        low, high = result.pvalue_interval(level)
        assert line.get_xdata().tolist() == [low, result.pvalue, high]
        assert set(line.get_ydata()) == {row}
        assert line.get_gid() == ("hit" if low <= EXACT <= high else "miss")
    assert ax.get_ylim()[0] > len(results) - 1 > 0 > ax.get_ylim()[1]
    if level == 0.5:
        assert {line.get_gid() for line in lines} == {"hit", "miss"}
        looks = {(line.get_gid(), line.get_marker(), line.get_linewidth()) for line in lines}
        assert len(looks) == 2


@pytest.mark.parametrize(("alpha", "marks"), [(0.01, 2), (None, 1)])
def test_the_exact_p_and_the_level_are_marked(alpha, marks):
    ax = plot_estimates(sampled(100, 2), EXACT, alpha=alpha, ax=Figure().subplots())
    verticals = [line.get_xdata()[0] for line in ax.lines if line.get_gid() is None]
    assert verticals == [EXACT, alpha][:marks]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"exact p = {EXACT:.3g}" in labels
    assert ("level 0.01" in labels) == (marks == 2)


def test_a_figure_of_its_own_in_the_style_of_the_project():
    from matplotlib import pyplot as plt

    ax = plot_estimates(sampled(100, 3), EXACT)
    assert not ax.spines["top"].get_visible()
    plt.close(ax.figure)


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="results is empty"):
        plot_estimates([], 0.5)


# ---- the explorer ------------------------------------------------------------------------------


def test_it_shows_what_monte_carlo_finds():
    e = SamplingExplorer(U, V)
    assert e.exact.pvalue == EXACT
    assert e.results == sampled(200)
    e.K.value, e.seed.value = 1000, 17
    assert e.results == [pt.monte_carlo(U, V, K=1000, rng=17 + i) for i in range(RUNS)]
    assert [line.get_xdata()[1] for line in lines_of(e._axes[0])] == [r.pvalue for r in e.results]
    assert pixels(e).shape[:2] == (440, 800)


@pytest.mark.parametrize(("control", "value"), [("K", 500), ("seed", 40)])
def test_every_control_changes_what_is_shown(control, value):
    e = SamplingExplorer(U, V)
    before = getattr(e, control).value
    first = e.picture.value, e.sentence.value
    getattr(e, control).value = value
    assert e.picture.value != first[0]
    assert e.sentence.value != first[1]
    getattr(e, control).value = before
    assert (e.picture.value, e.sentence.value) == first


@pytest.mark.usefixtures("unseen")
def test_the_axes_stand_still():
    e = SamplingExplorer(U, V)
    limits = set()
    for K, seed in product((50, 2000, 50_000), (0, 40)):
        e.K.value, e.seed.value = K, seed
        limits.add((e._axes[0].get_xlim(), e._axes[0].get_ylim()))
    assert len(limits) == 1
    ((left, right), _), *_ = limits
    assert left < 0 < EXACT < 0.05 < right


@pytest.mark.parametrize(("u", "v"), [([1, 2], [1, 2]), ([1] * 40, [0] * 40), ([2, 1], [1, 2])])
def test_extreme_p(u, v):
    e = SamplingExplorer(u, v)
    assert "role='status'" in e.sentence.value
    left, right = e._axes[0].get_xlim()
    assert left < 0 <= e.exact.pvalue < right < 1.1


def test_the_sentence_counts_what_is_in_the_picture():
    e = SamplingExplorer(U, V, K=50)
    text = describe(e.results, EXACT)
    assert text in e.sentence.value
    misses = sum(line.get_gid() == "miss" for line in lines_of(e._axes[0]))
    wrong = sum((r.pvalue < 0.05) != (EXACT < 0.05) for r in e.results)
    assert f"{wrong} {'is' if wrong == 1 else 'are'} on the wrong side of 0.05" in text
    assert f", and {misses} of the 95% intervals miss" in text
    low, high = min(r.pvalue for r in e.results), max(r.pvalue for r in e.results)
    assert f"between {low:.3g} and {high:.3g}; the exact one is {EXACT:.3g}" in text
    assert f"{100 * ((1 - EXACT) / (50 * EXACT)) ** 0.5:.3g} %" in text


def test_an_error_is_shown_where_one_looks(monkeypatch):
    e = SamplingExplorer(U, V)

    def fail(*_, **__):
        raise ValueError("<no> luck")

    monkeypatch.setattr(sampling, "monte_carlo", fail)
    e.seed.value = 5
    assert "role='alert'" in e.sentence.value
    assert "&lt;no&gt; luck" in e.sentence.value
    assert e.picture.value == ""
    monkeypatch.undo()
    e.seed.value = 6
    assert "role='status'" in e.sentence.value


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="K=300 is not on the slider"):
        SamplingExplorer(U, V, K=300)
    with pytest.raises(ValueError, match="v"):
        SamplingExplorer([1, 2], [1])


def test_a_picture_of_its_own_keeps_the_colours_of_the_project():
    ax = plot_estimates(sampled(100, 3), EXACT)
    with pt.plots.style():
        expected = {to_rgba("C0"), to_rgba("C1"), to_rgba("black")}
    assert {to_rgba(line.get_color()) for line in ax.lines} <= expected
    plt.close(ax.figure)
