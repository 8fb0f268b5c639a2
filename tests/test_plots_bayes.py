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
    "infinite": bayes_test([0, 0, 0], [0, 0, 0], prior=0.5),
    "infinite at both ends": bayes_test([0, 0, 0], [0, 0, 0], "precision", prior=0.5),
    "opposite ends": bayes_test([30, 0, 0], [0, 4, 5], prior=0.5),
    "one far narrower": bayes_test([10**6, 10**5, 10**5], [9, 1, 1]),
    "sure": bayes_test([300, 600, 600], [600, 300, 300]),
    "far from the rope": bayes_test([100, 900, 900], [1900, 100, 100], rope=0.01),
}


def one(ax, gid):
    (found,) = (part for part in (*ax.lines, *ax.collections) if part.get_gid() == gid)
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_both_densities_are_drawn_between_their_quantiles(name):
    result = RESULTS[name]
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
    law = RESULTS[name].difference
    ax = plot_difference(RESULTS[name], ax=Figure().subplots())
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
    result, rope = RESULTS[name], RESULTS[name].rope
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


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="result is empty"):
        plot_posteriors([])
