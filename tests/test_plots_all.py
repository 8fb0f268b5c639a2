"""What holds of every picture: texts have room, settings stay, nothing depends on colour alone."""

from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import permtest as pt
from permtest import plots, study
from permtest.alternatives import bayes_test

RNG = np.random.default_rng(1)
U, V = RNG.integers(0, 5, 120), RNG.integers(0, 4, 120)
A, B = RNG.normal(0.3, 1, 40).round(1), RNG.normal(0, 1, 40).round(1)
FEW, BITS = pt.Scores.of(A, B, ("new $x$", "old")), pt.Scores.of(*RNG.binomial(1, 0.6, (2, 90)))
COUNTS = [np.column_stack([RNG.poisson(3, 60), *RNG.poisson(1, (2, 60))]) for _ in "uv"]
LONG = ("first_$name$_" * 4, "second " * 6)
BOARD = {f"system_{i}": RNG.binomial(1, 0.4 + 0.05 * i, 80) for i in range(7)}
MANY = {f"the system with number {i}": RNG.binomial(1, 0.4 + 0.01 * i, 60) for i in range(45)}
POSTERIOR = bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
CURVE = study.power_curve(A, B, sizes=[20, 60, 100], experiments=100, rng=0)
ANSWERS = pt.compare_all(A, B, names=("new", "old"), rng=0)
NAMED = pt.exact_perm_test(A, B, names=LONG)
F1 = pt.exact_perm_test(*COUNTS, statistic="f1", alternative="greater")

#: What draws it, of what, and how.
DRAWN = {
    "null": (plots.plot_null, pt.exact_perm_test(U, V, names=("new", "old")), {}),
    "null, long names": (plots.plot_null, NAMED, {}),
    "null, one value": (plots.plot_null, pt.exact_perm_test([1, 2], [1, 2]), {}),
    "null, values": (plots.plot_null, F1, {}),
    "estimation": (plots.plot_estimation, FEW, {"interval": (-0.4, 0.5)}),
    "long names": (plots.plot_estimation, replace(BITS, systems=LONG), {"interval": (-0.1, 0.2)}),
    "scores": (plots.plot_scores, FEW, {}),
    "scores, bits": (plots.plot_scores, BITS, {}),
    "answers": (plots.plot_answers, ANSWERS, {}),
    "power": (plots.plot_power, CURVE, {}),
    "posterior": (plots.plot_posteriors, POSTERIOR, {}),
    "ranking": (plots.plot_ranking, pt.compare_many(BOARD), {}),
    "ranking, baseline": (plots.plot_ranking, pt.compare_many(BOARD, baseline="system_3"), {}),
    "ranking, many": (plots.plot_ranking, pt.compare_many(MANY), {}),
}


def texts_of(ax):
    """Everything that is written in and around axes, as boxes."""
    parts = [ax.xaxis.label, ax.yaxis.label, ax._left_title, *ax.texts]
    for axis, labels in ((0, ax.get_xticklabels()), (1, ax.get_yticklabels())):
        low, high = sorted((ax.get_xlim, ax.get_ylim)[axis]())
        parts += [x for x in labels if low <= x.get_position()[axis] <= high]
    parts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    return {part: part.get_window_extent() for part in parts if part.get_text()}


def look(handle):
    """What tells the entry of a key from others where there is no colour."""
    if hasattr(handle, "get_hatch"):
        grey = np.dot(np.ravel(handle.get_facecolor())[:3], (0.299, 0.587, 0.114))
        return handle.get_hatch(), round(float(grey), 1)
    thickness = round(handle.get_linewidth())
    return handle.get_marker(), str(handle.get_linestyle()), thickness


@pytest.mark.parametrize("width", [None, 6.8], ids=["projected", "report"])
@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_can_be_read(name, width):
    """Texts have room and one size, keys need no colour, and settings stay as they are."""
    before = dict(mpl.rcParams)
    draw, of, how = DRAWN[name]
    axes = draw(of, ax=width and Figure((width, 1)), **how)
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    figure = (axes if hasattr(axes, "figure") else axes[0]).figure
    assert width in (None, figure.get_figwidth())
    with plots.style():
        figure.draw_without_rendering()
        size, frame = mpl.rcParams["font.size"], figure.bbox.padded(2)
        for ax in figure.axes:
            boxes = texts_of(ax)
            labels = [text for text in boxes if text not in ax.texts]
            for text, box in boxes.items():
                assert frame.x0 <= box.x0 < box.x1 <= frame.x1, text
                assert frame.y0 <= box.y0 < box.y1 <= frame.y1, text
                formula = text.get_parse_math() and text.get_text().count("$") > 1
                assert not formula or "mathdefault" in text.get_text(), "dollars are no formulas"
            for one, other in combinations(labels, 2):
                assert not boxes[one].padded(-2).overlaps(boxes[other].padded(-2)), (one, other)
            assert {text.get_fontsize() for text in labels} <= {size}
            if legend := ax.get_legend():
                looks = list(map(look, legend.legend_handles))
                assert legend.get_texts()
                assert len(set(looks)) == len(looks)
    plt.close(figure)
