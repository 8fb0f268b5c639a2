"""What holds of every picture: texts have room, settings stay, nothing depends on colour alone."""

from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import permtest as pt
from permtest import plots, study
from permtest.alternatives import bayes_test
from permtest.study import overview

RNG = np.random.default_rng(1)
U, V = RNG.integers(0, 5, 120), RNG.integers(0, 4, 120)
A, B = RNG.normal(0.3, 1, 40).round(1), RNG.normal(0, 1, 40).round(1)
COUNTS = [np.column_stack([RNG.poisson(3, 60), *RNG.poisson(1, (2, 60))]) for _ in "uv"]
F1 = {side: pt.exact_perm_test(*COUNTS, statistic="f1", alternative=side) for side in
      ("two-sided", "greater")}  # fmt: skip
LONG = ("first_$name$_" * 4, "second " * 6)
BOARD = {f"system_{i}": RNG.binomial(1, 0.4 + 0.05 * i, 80) for i in range(7)}
MANY = {f"the system with number {i}": RNG.binomial(1, 0.4 + 0.01 * i, 60) for i in range(45)}
BITS = RNG.binomial(1, 0.6, (2, 90))
POSTERIOR = bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"), rope=0.01)
CURVES = [
    study.power_curve(A, B, sizes=[20, 60, 100], experiments=100, rng=0, test=test)
    for test in ("exact", "sign")
]

DRAWN = {
    "null": lambda: plots.plot_null(pt.exact_perm_test(U, V, names=("new", "old"))),
    "null, long names": lambda: plots.plot_null(pt.exact_perm_test(A, B, names=LONG), scale="log"),
    "null, one value": lambda: plots.plot_null(pt.exact_perm_test([1, 2], [1, 2])),
    "values": lambda: plots.plot_null(F1["greater"]),
    "plane": lambda: plots.plot_plane(F1["two-sided"]),
    "estimation, few": lambda: plots.plot_estimation(
        overview(pt.Pairs.of(A, B, ("new $x$", "old")))
    ),
    "estimation, bits": lambda: plots.plot_estimation(
        overview(pt.Pairs.of(*BITS, ("a_model", "b_model")))
    ),
    "histograms": lambda: plots.plot_histograms(study.describe(A, B, names=("new", "old"))),
    "units": lambda: plots.plot_unit_sizes(study.unit_sizes(U, V)),
    "answers": lambda: plots.plot_answers(pt.compare_all(A, B, names=("new", "old"), rng=0)),
    "effects": lambda: plots.plot_effects(study.effect_sizes(pt.Pairs.of(A, B, ("new", "old")))),
    "power": lambda: plots.plot_power(CURVES),
    "posterior": lambda: plots.plot_posteriors(POSTERIOR, conservative=True),
    "posteriors": lambda: plots.plot_posteriors([POSTERIOR] * 3),
    "difference": lambda: plots.plot_difference(POSTERIOR),
    "ranking": lambda: plots.plot_ranking(pt.compare_many(BOARD)),
    "ranking, baseline": lambda: plots.plot_ranking(pt.compare_many(BOARD, baseline="system_3")),
    "ranking, many": lambda: plots.plot_ranking(pt.compare_many(MANY)),
    "pairs": lambda: plots.plot_pairs(pt.compare_many(BOARD)),
    "pairs, many": lambda: plots.plot_pairs(pt.compare_many(MANY)),
}


def texts_of(ax):
    """Everything that is written in and around axes, as boxes."""
    parts = [ax.xaxis.label, ax.yaxis.label, ax._left_title, *ax.texts]
    parts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    for axis, labels in ((0, ax.get_xticklabels()), (1, ax.get_yticklabels())):
        low, high = sorted((ax.get_xlim, ax.get_ylim)[axis]())
        outside = [x for x in labels if not low <= x.get_position()[axis] <= high]
        parts = [part for part in parts if part not in outside]
    parts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    return {part: part.get_window_extent() for part in parts if part.get_text()}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_can_be_read(name):
    """Texts have room and one size, keys need no colour, and settings stay as they are."""
    before = dict(mpl.rcParams)
    axes = DRAWN[name]()
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    figure = (axes if hasattr(axes, "figure") else axes[0]).figure
    with plots.style():
        figure.draw_without_rendering()
        size, frame = mpl.rcParams["font.size"], figure.bbox.padded(2)
        for ax in figure.axes:
            boxes = texts_of(ax)
            labels = [text for text in boxes if text not in ax.texts]
            for text, box in boxes.items():
                assert frame.x0 <= box.x0 < box.x1 <= frame.x1, text
                assert frame.y0 <= box.y0 < box.y1 <= frame.y1, text
                said = text.get_text()
                formula = text.get_parse_math() and said.count("$") > 1
                assert not formula or "mathdefault" in said, "dollar signs are no formulas"
            for one, other in combinations(labels, 2):
                assert not boxes[one].padded(-2).overlaps(boxes[other].padded(-2)), (one, other)
            assert {text.get_fontsize() for text in labels} <= {size}
            if legend := ax.get_legend():
                looks = list(map(look, legend.legend_handles))
                assert legend.get_texts()
                assert len(set(looks)) == len(looks)
    plt.close(figure)


def look(handle):
    """What tells the entry of a key from others where there is no colour."""
    if hasattr(handle, "get_hatch"):
        grey = np.dot(handle.get_facecolor()[:3], (0.299, 0.587, 0.114))
        return handle.get_hatch(), round(float(grey), 1)
    return handle.get_marker(), str(handle.get_linestyle())


def test_a_raincloud_has_all_items():
    axes = Figure().subplots(3)
    ax = plots.plot_estimation(overview(pt.Pairs.of(A, B, ("new", "old"))), ax=axes)[0]
    gids = [line.get_gid() for line in ax.lines]
    assert sum(gids.count(kind) for kind in ("higher", "lower", "equal")) == len(A)
    drops = [line.get_xdata() for line in ax.lines if line.get_gid() == "rain"]
    np.testing.assert_array_equal(drops, np.sort([A, B]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["new", "old"]
    boxes = [line.get_xdata() for line in ax.lines if line.get_gid() == "quartiles"]
    np.testing.assert_allclose(boxes[0], np.quantile(A, (0.25, 0.75)))


def test_axes_of_the_caller_are_used_and_their_number_is_checked():
    ax = Figure().subplots()
    ax.set_xlim(-7, 7)
    assert plots.plot_null(pt.exact_perm_test(U, V), ax=ax).get_xlim() == (-7, 7)
    for draw, what in (
        (lambda ax: plots.plot_estimation(overview(pt.Pairs.of(U, V)), ax=ax), "3 parts"),
        (lambda ax: plots.plot_posteriors([POSTERIOR] * 3, ax=ax), "3 results"),
    ):
        with pytest.raises(ValueError, match=f"ax has 1 axes, but there are {what}"):
            draw([Figure().subplots()])
