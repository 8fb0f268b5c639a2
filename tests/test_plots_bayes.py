"""Posteriors of two models and of their difference: what is drawn is what the result says."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest.alternatives import bayes_test
from permtest.plots import plot_difference, plot_posteriors

mpl.use("Agg")

FOLDS_A = [[10, 2, 3], [9, 3, 2], [8, 4, 1], [10, 2, 2], [9, 3, 3], [11, 1, 4]]
FOLDS_B = [[12, 2, 1], [10, 3, 2], [9, 3, 1], [11, 2, 2], [11, 2, 2], [12, 1, 2]]
NAMES = ("a model of $many_words$, and of even more of them", "bidirectional-encoder-v2-large")
RESULTS = {
    "folds": bayes_test(FOLDS_A, FOLDS_B),
    "rope": bayes_test(FOLDS_A, FOLDS_B, rope=0.03),
    "long names": bayes_test(FOLDS_A, FOLDS_B, names=NAMES, rope=0.01),
    "no counts": bayes_test([0, 0, 0], [0, 0, 0]),
    "infinite": bayes_test([0, 0, 0], [0, 0, 0], prior=0.5),
    "infinite at both ends": bayes_test([0, 0, 0], [0, 0, 0], "precision", prior=0.5),
    "opposite ends": bayes_test([30, 0, 0], [0, 4, 5], prior=0.5),
    "one far narrower": bayes_test([10**6, 10**5, 10**5], [9, 1, 1]),
    "large": bayes_test([10**6, 10**5, 10**5], [10**6 + 500, 10**5, 10**5]),
    "sure": bayes_test([300, 600, 600], [600, 300, 300]),
    "surer": bayes_test([100, 900, 900], [1900, 100, 100]),
    "equivalent": bayes_test([10**6, 10**5, 10**5], [10**6, 10**5, 10**5], rope=0.01),
    "far from the rope": bayes_test([100, 900, 900], [1900, 100, 100], rope=0.01),
}


def lines(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def one(ax, gid):
    (line,) = lines(ax, gid)
    return line


def area(ax, gid):
    (found,) = (part for part in ax.collections if part.get_gid() == gid)
    return found


def posteriors(name, **options):
    return plot_posteriors(RESULTS[name], ax=Figure(figsize=(8, 4.5)).subplots(), **options)


def difference(name, **options):
    return plot_difference(RESULTS[name], ax=Figure(figsize=(8, 4.5)).subplots(), **options)


@pytest.mark.parametrize("name", RESULTS)
def test_both_densities_are_drawn_between_their_quantiles(name):
    ax, result = posteriors(name), RESULTS[name]
    for letter, law in (("a", result.posterior_a), ("b", result.posterior_b)):
        x, y = one(ax, letter).get_data()
        assert x[[0, -1]] == pytest.approx(law.interval(0.998), rel=1e-9, abs=1e-14)
        assert y == pytest.approx(law.pdf(x))
        assert np.isfinite(y).all()
        low, high = ax.get_xlim()
        assert low < x[0] < x[-1] < high
        steps = np.diff(law.cdf(x))
        assert steps.max() < 0.05, "a curve is seen, however narrow"
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["folds", "rope", "infinite", "opposite ends", "sure"])
def test_the_difference_is_drawn_between_its_quantiles(name):
    ax, law = difference(name), RESULTS[name].difference
    x, y = one(ax, "density").get_data()
    assert x[[0, -1]] == pytest.approx(law.interval(0.998))
    assert y == pytest.approx(law.pdf(x))
    bar = one(ax, "interval")
    assert tuple(bar.get_xdata()) == law.interval(0.95)
    assert 0 > bar.get_ydata()[0] > ax.get_ylim()[0]
    assert one(ax, "mean").get_xdata() == [law.mean()]
    assert set(one(ax, "zero").get_xdata()) == {0}
    low, high = ax.get_xlim()
    assert low < min(0, x[0]) < max(0, x[-1]) < high
    assert np.isfinite(ax.get_ylim()).all()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["folds", "rope", "one far narrower"])
def test_areas_are_as_large_as_the_probabilities(name):
    ax, result = difference(name), RESULTS[name]
    rope = result.rope
    sides = {
        "a better": (result.p_a_better, -1, -rope),
        "equivalent": (result.p_equivalent, -rope, rope),
        "b better": (result.p_b_better, rope, 1),
    }
    for gid, (p, low, high) in sides.items():
        if gid == "equivalent" and not rope:
            continue
        (path,) = area(ax, gid).get_paths()
        x, y = path.vertices.T
        assert low <= x.min() < x.max() <= high
        size = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        assert size == pytest.approx(p, abs=2e-3)
    assert area(ax, "b better").get_hatch()
    assert not area(ax, "a better").get_hatch()
    bands = [patch for patch in ax.patches if patch.get_gid() == "rope"]
    assert [(band.get_x(), band.get_width()) for band in bands] == [(-rope, 2 * rope)] * bool(rope)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="result is empty"):
        plot_posteriors([])
    with pytest.raises(ValueError, match="ax has 1 axes, but there are 2 results"):
        plot_posteriors([RESULTS["folds"]] * 2, ax=Figure().subplots())
