"""What a picture of a null distribution shows, read back from its artists."""

import time
from io import BytesIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

import permtest as pt
from permtest.plots import COLUMNS, STYLE, plot_null, style

mpl.use("Agg")

NAMES = ("old", "new")
SCALES = ["linear", "log"]


def scores(n: int = 300, spread: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(0, spread + 1, n), rng.integers(0, spread, n)


RESULTS = {
    "two-sided": pt.exact_perm_test(*scores(), names=NAMES),
    "greater": pt.exact_perm_test(*scores(), alternative="greater"),
    "less": pt.exact_perm_test(*scores(), alternative="less"),
    "few values": pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]),
    "no pairs": pt.exact_perm_test([], []),
    "no differences": pt.exact_perm_test([1, 2, 3], [1, 2, 3]),
    "a tie": pt.exact_perm_test([1, 2], [2, 1]),
    "p is 1": pt.exact_perm_test([1, 0, 0], [0, 0, 0]),
    "far out": pt.exact_perm_test([1] * 600, [0] * 600),
    "underflow": pt.exact_perm_test([1] * 1500, [0] * 1500),
    "gaps": pt.exact_perm_test([900, 7, 5], [0, 0, 0]),
    "sampled": pt.monte_carlo(*scores(), K=2000, rng=0),
    "sampled, far out": pt.monte_carlo([1] * 60, [0] * 60, K=500, rng=0),
    "with h": pt.exact_perm_test(
        [4, 1, 7, 2], [1, 5, 2, 2], lambda a, b: 2 * a - b, lambda s: s % 5
    ),
    "huge": pt.exact_perm_test([10**30, 0], [0, 10**29]),
}


def draw(result: pt.PermutationTestResult, scale: str = "linear", **options: object) -> Axes:
    return plot_null(result, ax=Figure().subplots(), scale=scale, **options)  # type: ignore[arg-type]


def artist(ax: Axes, gid: str) -> StepPatch:
    (found,) = (child for child in ax.get_children() if child.get_gid() == gid)
    return found


def drawn(ax: Axes, gid: str) -> dict[int, float]:
    """Value -> height of the columns of an artist."""
    heights, edges, _ = artist(ax, gid).get_data()
    middle = (edges[:-1] + edges[1:]) / 2
    return {round(x): y for x, y in zip(middle, heights, strict=True) if not np.isnan(y)}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", RESULTS)
def test_every_kind_of_result_can_be_drawn(name, scale):
    ax = draw(RESULTS[name], scale)
    png = BytesIO()
    ax.figure.savefig(png)
    assert png.getvalue().startswith(b"\x89PNG")
    assert all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))
    assert ax.get_xlim()[0] < float(RESULTS[name].observed_sum) < ax.get_xlim()[1]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["two-sided", "greater", "less", "few values", "gaps", "with h"])
def test_what_is_shaded_is_what_is_extreme(name, scale):
    result = RESULTS[name]
    null = result.null_distribution
    ax = draw(result, scale)
    left, right = ax.get_xlim()
    for gid, mask in (("rejected", result.extreme), ("body", ~result.extreme)):
        cells = zip(null.support[mask].tolist(), null.pmf[mask].tolist(), strict=True)
        assert drawn(ax, gid) == {x: y for x, y in cells if y > 0 and left <= x <= right}


def test_the_region_reaches_the_ends_of_the_axis():
    ax = draw(RESULTS["two-sided"])
    heights, edges, _ = artist(ax, "region").get_data()
    assert edges[0] <= ax.get_xlim()[0]
    assert ax.get_xlim()[1] <= edges[-1]
    assert (heights[0], heights[-1]) == (1, 1)
    assert np.isnan(heights).any()


def test_shading_does_not_rely_on_colour():
    ax = draw(RESULTS["two-sided"])
    assert artist(ax, "rejected").get_hatch()
    assert artist(ax, "region").get_hatch()
    assert not artist(ax, "body").get_hatch()
    assert artist(ax, "observed").get_linestyle() != artist(ax, "mirrored").get_linestyle()


@pytest.mark.parametrize("name", RESULTS)
def test_axes_are_labelled(name):
    ax = draw(RESULTS[name])
    assert ax.get_ylabel() == ("share of the samples" if "sampled" in name else "probability")
    assert RESULTS[name].unit in ax.get_xlabel()
    assert RESULTS[name].pvalue_text() in ax.get_title(loc="left")
    assert len(ax.get_legend().get_texts()) == 2


def test_names_of_the_systems_are_shown_as_they_are():
    result = pt.exact_perm_test([1, 2], [0, 0], names=("$a_1$", "a name that is rather long " * 3))
    ax = draw(result)
    ax.figure.canvas.draw()
    assert "$a_1$" in ax.get_xlabel()
    assert "\nminus" in ax.get_xlabel()
    assert not ax.xaxis.label.get_parse_math()


def test_marks():
    result = RESULTS["two-sided"]
    ax = draw(result)
    observed = result.observed_sum
    assert observed > 0
    assert list(artist(ax, "observed").get_xdata()) == [observed] * 2
    assert list(artist(ax, "mirrored").get_xdata()) == [-observed] * 2
    assert artist(ax, "observed label").get_text() == f"observed +{observed}"
    assert artist(ax, "mirrored label").get_text() == f"mirrored \N{MINUS SIGN}{observed}"


@pytest.mark.parametrize("name", ["greater", "less", "a tie", "with h"])
def test_no_mirror_image_where_it_means_nothing(name):
    assert not [c for c in draw(RESULTS[name]).get_children() if c.get_gid() == "mirrored"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two-sided", "both tails"),
        ("greater", "right tail"),
        ("less", "left tail"),
        ("p is 1", "every labelling"),
        ("with h", "shaded"),
        ("sampled, far out", "both tails"),
    ],
)
def test_the_title_says_what_counts_as_extreme(name, words):
    assert words in draw(RESULTS[name]).get_title(loc="left")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["two-sided", "few values", "far out", "no pairs", "sampled"])
def test_labels_neither_overlap_nor_leave_the_picture(name, scale):
    ax = plot_null(RESULTS[name], scale=scale)
    ax.figure.canvas.draw()
    texts = [c for c in ax.get_children() if str(c.get_gid()).endswith(" label")]
    boxes = [text.get_window_extent() for text in texts]
    assert all(ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    for box in (ax.title, ax.xaxis.label, ax.yaxis.label, ax.get_legend()):
        extent = box.get_window_extent()
        assert ax.figure.bbox.x0 <= extent.x0 and extent.x1 <= ax.figure.bbox.x1  # noqa: PT018
    plt.close(ax.figure)


def test_the_logarithmic_axis_goes_down_to_what_was_observed():
    result = RESULTS["far out"]
    ax = draw(result, "log")
    assert ax.get_yscale() == "log"
    assert 0 < ax.get_ylim()[0] < result.null_distribution(result.observed_sum) < 1e-180
    assert max(ax.get_yticks()) <= 1


def test_limits_that_were_set_beforehand_are_kept():
    ax = Figure().subplots()
    ax.set_xlim(-50, 20)
    ax.set_ylim(0, 0.5)
    plot_null(RESULTS["two-sided"], ax=ax)
    assert (ax.get_xlim(), ax.get_ylim()) == ((-50, 20), (0, 0.5))
    ax = Figure().subplots()
    ax.set_xlim(10_000, 10_001)
    plot_null(RESULTS["few values"], ax=ax)
    assert ax.get_xlim() == (10_000, 10_001)


def test_settings_do_not_leak():
    before = dict(mpl.rcParams)
    with mpl.rc_context():
        outside = dict(mpl.rcParams)
        plt.close(plot_null(RESULTS["few values"]).figure)
        inside = dict(mpl.rcParams)
    assert {key for key in outside if outside[key] != inside[key]} <= {"backend"}
    assert {key for key in before if before[key] != mpl.rcParams[key]} <= {"backend"}


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale='cubic' is not known; choose 'linear' or 'log'"):
        draw(RESULTS["a tie"], "cubic")


@pytest.mark.parametrize("scale", SCALES)
def test_a_million_cells_are_drawn_in_well_under_a_second(scale):
    rng = np.random.default_rng(2)
    result = pt.exact_perm_test(rng.integers(0, 2100, 1500), rng.integers(0, 2100, 1500))
    assert result.null_distribution.pmf.size > 10**6
    _ = result.extreme
    draw(RESULTS["a tie"])  # fonts are found
    start = time.perf_counter()
    ax = draw(result, scale)
    ax.figure.savefig(BytesIO())
    assert time.perf_counter() - start < 0.9
    columns = artist(ax, "body").get_data().values
    assert columns.size <= COLUMNS
    assert np.nanmax(columns) == result.null_distribution.pmf.max()


# ---- the style sheet ---------------------------------------------------------------------------


def lightness(colour: str) -> float:
    """CIE L*, what remains of a colour in a grey print."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(116 * np.cbrt(np.dot([0.2126, 0.7152, 0.0722], linear)) - 16)


def test_colours_differ_in_grey():
    with style():
        colours = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    levels = sorted(map(lightness, colours))
    assert len(levels) >= 4
    assert min(np.diff(levels)) > 15
    assert max(levels) < 85  # on white paper


def test_the_style_sheet_is_found_by_its_name_and_is_large():
    sheet = mpl.rc_params_from_file(STYLE, use_default_template=False)
    with mpl.style.context("permtest.permtest"):
        assert {key: mpl.rcParams[key] for key in sheet} == dict(sheet)
    sizes = [value for key, value in sheet.items() if key.endswith(("size", "font.size"))]
    assert min(size for size in sizes if isinstance(size, float)) >= 13
