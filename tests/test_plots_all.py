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
from permtest.plots import null, plane, roles, sheet
from permtest.study import overview

mpl.use("Agg")

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
    study.power_curve_normal(0.3, 1.0, sizes=[20, 60, 100], experiments=100, rng=0, test=test)
    for test in ("exact", "sign")
]

DRAWN = {
    "null": lambda: plots.plot_null(pt.exact_perm_test(U, V, names=("new", "old"))),
    "null, long names": lambda: plots.plot_null(pt.exact_perm_test(A, B, names=LONG)),
    "null, log": lambda: plots.plot_null(pt.exact_perm_test(U, V), scale="log"),
    "null, one value": lambda: plots.plot_null(pt.exact_perm_test([1, 2], [1, 2])),
    "null, sampled": lambda: plots.plot_null(pt.monte_carlo(U, V, K=300, rng=0)),
    "values": lambda: plots.plot_values(F1["greater"]),
    "plane": lambda: plots.plot_plane(F1["two-sided"]),
    "tail": lambda: plots.plot_tail(plots.FarTail.of([1] * 90, [0] * 90, 60)),
    "estimation": lambda: plots.plot_estimation(pt.Pairs.of(U, V, ("new", "old"))),
    "estimation, few": lambda: plots.plot_estimation(pt.Pairs.of(A, B, ("new $x$", "old"))),
    "estimation, bits": lambda: plots.plot_estimation(pt.Pairs.of(*BITS, ("a_model", "b_model"))),
    "comparison": lambda: plots.plot_comparison(overview(pt.Pairs.of(U, V, ("new", "old")))),
    "test": lambda: plots.plot_test(overview(pt.Pairs.of(U, V, ("new", "old")))),
    "raincloud": lambda: plots.plot_raincloud(pt.Pairs.of(U, V, LONG)),
    "histograms": lambda: plots.plot_histograms(study.describe(A, B, names=("new", "old"))),
    "quantiles": lambda: plots.plot_quantiles(pt.Pairs.of(A, B, LONG)),
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
    "rankings": lambda: plots.plot_rankings([(pt.compare_many(BOARD), "")] * 2),
    "pairs": lambda: plots.plot_pairs(pt.compare_many(BOARD)),
    "pairs, many": lambda: plots.plot_pairs(pt.compare_many(MANY)),
}


@pytest.fixture(params=DRAWN)
def figure(request):
    """The figure of a picture, laid out."""
    before = dict(mpl.rcParams)
    axes = DRAWN[request.param]()
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()
    made = (axes if hasattr(axes, "figure") else axes[0]).figure
    with plots.style():
        made.draw_without_rendering()
        yield made
    plt.close(made)


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


def test_texts_are_inside_of_the_picture_and_apart(figure):
    frame = figure.bbox.padded(2)
    for ax in figure.axes:
        boxes = texts_of(ax)
        for text, box in boxes.items():
            assert frame.x0 <= box.x0 < box.x1 <= frame.x1, text
            assert frame.y0 <= box.y0 < box.y1 <= frame.y1, text
        for (one, box), (other, beside) in combinations(boxes.items(), 2):
            if one not in ax.texts and other not in ax.texts:
                assert not box.padded(-2).overlaps(beside.padded(-2)), (one, other)


def test_pictures_are_labelled_in_one_size_of_letters(figure):
    size = mpl.rcParams["font.size"]
    for ax in figure.axes:
        sizes = {text.get_fontsize() for text in texts_of(ax) if text not in ax.texts}
        assert sizes <= {size}
        legend = ax.get_legend()
        assert legend is None or legend.get_texts()


def test_keys_do_not_depend_on_colour_alone(figure):
    for legend in [ax.get_legend() for ax in figure.axes if ax.get_legend()]:
        looks = []
        for handle in legend.legend_handles:
            if hasattr(handle, "get_hatch"):
                grey = np.dot(handle.get_facecolor()[:3], (0.299, 0.587, 0.114))
                looks.append((handle.get_hatch(), round(float(grey), 1)))
            else:
                looks.append((handle.get_marker(), str(handle.get_linestyle())))
        assert len(set(looks)) == len(looks)


def test_dollar_signs_are_no_formulas(figure):
    for ax in figure.axes:
        for text in texts_of(ax):
            assert not (text.get_parse_math() and text.get_text().count("$") > 1 and "mathdefault"
                        not in text.get_text()), text  # fmt: skip


def test_scores_with_decimals_have_their_own_unit():
    result = pt.exact_perm_test([0.31, 0.55, 0.42], [0.2, 0.3, 0.1], names=("a", "b"))
    ax = plots.plot_null(result, ax=Figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()][2] == "observed +0.68"
    assert abs(ax.get_xlim()[1]) < 1
    assert ax.get_xlabel().startswith("a minus b (points")


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_view_holds_what_the_law_holds(scale):
    result = pt.exact_perm_test(U, V)
    view = null.look(result, scale, (-1e9, 1e9))
    heights = np.where(np.isnan(view.body), view.rejected, view.body)
    law = result.null_distribution.pmf
    np.testing.assert_allclose(heights[~np.isnan(heights)], law[law > 0])
    assert np.nansum(view.rejected) == pytest.approx(result.pvalue)
    empty = null.look(result, scale, (1e9, 2e9))
    assert np.isnan(empty.body).all()


@pytest.mark.parametrize("side", F1)
def test_values_and_plane_hold_all_of_p(side):
    result = F1[side]
    view = null.look(result, "linear", (-1.0, 1.0))
    assert np.nansum(view.rejected) == pytest.approx(result.pvalue)
    assert np.nansum(view.body) == pytest.approx(1 - result.pvalue)
    edges = [low if low > -1 else high for low, high in view.region]
    assert sorted(map(abs, edges)) == pytest.approx([abs(result.statistic)] * len(edges))
    grid = plane.look_at_plane(result, (-1, 10**4), (-1, 10**4))
    assert np.nansum(grid.cells[grid.region]) == pytest.approx(result.pvalue)
    for x, y in plane.staircase(grid).reshape(-1, 2):
        assert x in grid.x
        assert y in grid.y


def test_a_raincloud_has_all_items():
    ax = plots.plot_raincloud(pt.Pairs.of(A, B, ("new", "old")), ax=Figure().subplots())
    gids = [line.get_gid() for line in ax.lines]
    assert sum(gids.count(kind) for kind in ("higher", "lower", "equal")) == len(A)
    drops = [line.get_xdata() for line in ax.lines if line.get_gid() == "rain"]
    np.testing.assert_array_equal(drops, np.sort([A, B]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["new", "old"]
    boxes = [line.get_xdata() for line in ax.lines if line.get_gid() == "quartiles"]
    np.testing.assert_allclose(boxes[0], np.quantile(A, (0.25, 0.75)))


@pytest.mark.parametrize(
    ("value", "reach", "text"),
    [
        (2077, 0, "2,077"),
        (-91, 0, "\N{MINUS SIGN}91"),
        (0.63, 1, "0.63"),
        (0.0267271, 0.1, "0.02673"),
        (1e30, 0, "1e+30"),
        (0.0, 5, "0"),
    ],
)
def test_numbers_are_written_as_people_do(value, reach, text):
    assert sheet.number(value, reach) == text


def test_axes_of_the_caller_are_used_and_their_number_is_checked():
    ax = Figure().subplots()
    ax.set_xlim(-7, 7)
    assert plots.plot_null(pt.exact_perm_test(U, V), ax=ax).get_xlim() == (-7, 7)
    for draw, what in (
        (lambda ax: plots.plot_estimation(pt.Pairs.of(U, V), ax=ax), "3 parts"),
        (lambda ax: plots.plot_histograms(study.describe(A, B), ax=ax), "3 histograms"),
        (lambda ax: plots.plot_posteriors([POSTERIOR] * 3, ax=ax), "3 results"),
        (lambda ax: plots.plot_ranking(pt.compare_many({"d": BOARD, "e": BOARD}), ax=ax), "2 data"),
    ):
        with pytest.raises(ValueError, match=f"ax has 1 axes, but there are {what}"):
            draw([Figure().subplots()])
    assert roles.ink() == mpl.rcParams["text.color"]
