"""What a picture of a null distribution shows, read back from its artists."""

import re
import subprocess
import sys
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.style import context

import permtest as pt
from permtest.plots import STYLE, plot_null, plot_plane
from permtest.plots.null import COLUMNS
from permtest.plots.sheet import p_text

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
    "a tie": pt.exact_perm_test([1, 2], [2, 1]),
    "p is 1": pt.exact_perm_test([1, 0, 0], [0, 0, 0]),
    "far out": pt.exact_perm_test([1] * 600, [0] * 600),
    "gaps": pt.exact_perm_test([900, 7, 5], [0, 0, 0]),
    "sampled": pt.monte_carlo(*scores(), K=2000, rng=0),
    "with h": pt.exact_perm_test(
        [4, 1, 7, 2], [1, 5, 2, 2], lambda a, b: 2 * a - b, lambda s: s % 5
    ),
    "almost 1": pt.exact_perm_test([0] * 14 + [1], [1] * 14 + [0], alternative="greater"),
    "lonely": pt.exact_perm_test([1_000_000, 1, 2], [0, 0, 0]),
    "long names": pt.exact_perm_test([3, 5], [2, 3], names=("first_name_" * 5, "second " * 8)),
    "huge": pt.exact_perm_test([10**30, 0], [0, 10**29]),
}


def draw(result: pt.PermutationTestResult, scale: str = "linear") -> Axes:
    return plot_null(result, ax=Figure().subplots(), scale=scale)  # type: ignore[arg-type]


def artist(ax: Axes, gid: str) -> StepPatch:
    (found,) = (child for child in ax.get_children() if child.get_gid() == gid)
    return found


def drawn(ax: Axes, gid: str) -> dict[int, float]:
    """Value -> height of the columns of an artist."""
    heights, edges, _ = artist(ax, gid).get_data()
    assert (np.diff(edges) >= 0).all()
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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two-sided", "both tails"),
        ("greater", "right tail"),
        ("less", "left tail"),
        ("p is 1", "every labelling"),
        ("almost 1", "p = 0.99997 (right tail)"),
        ("with h", "the hatched values"),
    ],
)
def test_the_title_says_what_counts_as_extreme(name, words):
    assert words in draw(RESULTS[name]).get_title(loc="left")


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale='cubic' is not known; choose 'linear' or 'log'"):
        draw(RESULTS["a tie"], "cubic")


def test_a_million_cells_are_drawn_as_few_columns():
    wide = pt.exact_perm_test(*np.random.default_rng(2).integers(0, 2100, (2, 1500)))
    assert wide.null_distribution.pmf.size > 10**6
    for scale in SCALES:
        ax = draw(wide, scale)
        ax.figure.savefig(BytesIO())
        columns = artist(ax, "body").get_data().values
        assert columns.size <= COLUMNS + 10
        assert np.nanmax(columns) == wide.null_distribution.pmf.max()


def test_the_style_sheet_is_found_by_its_name_and_is_large():
    sheet = mpl.rc_params_from_file(STYLE, use_default_template=False)
    with context("permtest.permtest"):
        assert {key: mpl.rcParams[key] for key in sheet} == dict(sheet)
    sizes = [value for key, value in sheet.items() if key.endswith(("size", "font.size"))]
    assert min(size for size in sizes if isinstance(size, float)) >= 13


@pytest.mark.parametrize(("module", "extra"), [("plots", "plot"), ("widgets", "lab")])
def test_a_missing_library_is_named_with_its_cure(module, extra):
    missing = "matplotlib" if module == "plots" else "ipywidgets"
    code = f"import sys; sys.modules[{missing!r}] = None; from permtest import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'permtest[{extra}]'" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("ImportError")


def counts(n: int = 40, top: int = 3, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.integers(0, top, (n, *shape, 3)), rng.integers(0, top, (n, *shape, 3))


ENTRIES = [[tuple(map(int, row)) for row in table] for table in counts(20)]
G = [lambda *pair, k=k: pair[0][k] for k in range(3)]
STRUCTURED = {
    "f1": pt.exact_perm_test(*counts(), statistic="f1", names=NAMES),
    "greater": pt.exact_perm_test(*counts(), statistic="f1", alternative="greater"),
    "less": pt.exact_perm_test(*counts(), statistic="precision", alternative="less"),
    "sheared": pt.exact_perm_test(*counts(), statistic="f0.5"),
    "clusters": pt.exact_perm_test(*counts(), statistic="jaccard", clusters=np.arange(40) // 5),
    "two pairs": pt.exact_perm_test(*counts(2), statistic="f1"),
    "sampled": pt.monte_carlo(*counts(), statistic="f1", K=2000, rng=0),
    "whole": pt.exact_perm_test(*ENTRIES, G[:2], lambda a, b: a * a - b),
}
FLAT = {
    "one sum": pt.exact_perm_test(*ENTRIES, G[:1], abs),
    "three sums": pt.exact_perm_test(*ENTRIES, G, lambda a, b, c: a - b * c),
    "same": pt.exact_perm_test(counts()[0], counts()[0], statistic="f1"),
    "recall": pt.exact_perm_test(
        [[2, 1, 0], [1, 3, 2]] * 9, [[1, 0, 1], [3, 1, 0]] * 9, statistic="recall"
    ),
    "many": pt.exact_perm_test(*counts(60, 3, 5), statistic="macro_f1", rng=0),
}


def plane(result: pt.PermutationTestResult) -> Axes:
    return plot_plane(result, ax=Figure().subplots())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STRUCTURED)
def test_every_cell_of_the_plane_has_its_shade(name):
    result = STRUCTURED[name]
    ax = plane(result)
    shades = artist(ax, "cells").get_array()
    left, right, bottom, top = artist(ax, "cells").get_extent()
    number = result.parts[0].partition(" ")[0]  # of "2 tp"
    x = result.null_distribution.support[:, 1]
    y = result.null_distribution.support[:, 0] / (int(number) if number.isdigit() else 1)
    seen = (np.array(ax.get_xlim())[:, None] - x).prod(0) < 0
    seen &= (np.array(ax.get_ylim())[:, None] - y).prod(0) < 0
    rows = np.floor((y[seen] - bottom) / (top - bottom) * shades.shape[0]).astype(int)
    columns = np.floor((x[seen] - left) / (right - left) * shades.shape[1]).astype(int)
    assert (shades[rows, columns, 3] == 255).all()
    # Darker where more likely, among cells of one kind.
    red = shades[rows, columns, 0].astype(int)
    for kind in (result.extreme[seen], ~result.extreme[seen]):
        order = np.argsort(result.null_distribution.pmf[seen][kind])
        assert (np.diff(red[kind][order]) <= 0).all()
    region = artist(ax, "region").get_path()
    inside = region.contains_points(np.column_stack((x, y))) if len(region.vertices) else [False]
    assert np.array_equal(inside[seen], result.extreme[seen])


def test_marks_and_names_of_the_plane():
    result = STRUCTURED["f1"]
    ax = plane(result)
    (x, y), (a, b) = result.sums[::-1], result.other_sums[::-1]
    assert artist(ax, "observed").get_xydata().tolist() == [[x, y / 2]]
    assert artist(ax, "mirrored").get_xydata().tolist() == [[a, b / 2]]
    assert ax.get_xlabel() == "false positives and negatives of old"
    assert ax.get_ylabel() == "true positives of old"
    assert p_text(result) in ax.get_title(loc="left")
    assert plane(STRUCTURED["sheared"]).get_xlabel() == "4 fp + fn of u"
    assert plane(STRUCTURED["whole"]).get_xlabel() == "g_2"


def test_limits_of_the_plane_that_were_set_beforehand_are_kept():
    ax = Figure().subplots()
    ax.set_xlim(20, 90)
    ax.set_ylim(1000, 1001)
    plot_plane(STRUCTURED["f1"], ax=ax)
    assert (ax.get_xlim(), ax.get_ylim()) == ((20, 90), (1000, 1001))
    ax.figure.savefig(BytesIO())


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (RESULTS["two-sided"], "for a statistic of two sums; call plot_null for one sum"),
        (FLAT["one sum"], "abs has 1; call plot_null"),
        (FLAT["three sums"], "h has 3; call plot_null"),
        (
            FLAT["recall"],
            "recall has no plane, as tp and fn move together on a line; call plot_null",
        ),
        (FLAT["same"], "are the same in all labellings"),
    ],
)
def test_what_is_no_plane_is_refused(result, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        plane(result)


def test_a_plane_that_does_not_fit_is_refused():
    u, v = np.random.default_rng(1).integers(0, 10**6, (2, 60, 3))
    sampled = pt.monte_carlo(u, v, statistic="f1", K=50, rng=0)
    assert 0 < artist(plane(sampled), "cells").get_array().size < 4 * 10**6  # the samples
    wide = pt.exact_perm_test(u[:20], v[:20], statistic="f1")
    with pytest.raises(MemoryError, match=r"cells.*plot_null can draw samples"):
        plane(wide)
    assert plot_null(sampled, ax=Figure().subplots()).get_ylabel() == "share of the samples"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", [*STRUCTURED, *FLAT])
def test_values_are_drawn_with_all_of_their_mass(name, scale):
    result = (STRUCTURED | FLAT)[name]
    ax = plot_null(result, ax=Figure(layout="constrained").subplots(), scale=scale)
    ax.figure.draw_without_rendering()
    mass = [np.nansum(artist(ax, gid).get_data().values) for gid in ("body", "rejected")]
    assert sum(mass) == pytest.approx(1, abs=0.01)
    if result.n_samples is None and result.pvalue > 0.01:
        assert mass[1] == pytest.approx(result.pvalue, abs=0.01)
    left, right = ax.get_xlim()
    assert left < float(result.statistic) < right
    assert p_text(result) in ax.get_title(loc="left")


def test_the_sketch_of_several_sums():
    result = STRUCTURED["f1"]
    sketch = result._repr_html_()
    assert "<td" in sketch
    assert "nan" not in sketch
    assert sketch.count("stroke-dasharray") == 2
    heights = re.findall("<rect [^>]*height='([0-9.]+)' fill='currentColor'", sketch)
    total = re.findall("<rect [^>]*height='([0-9.]+)'", sketch)
    assert sum(map(float, heights)) / sum(map(float, total)) == pytest.approx(
        result.pvalue, abs=0.05
    )
    h = lambda a, b: 10**400 * (a - b)  # noqa: E731
    assert "cannot be drawn here" in pt.exact_perm_test(*ENTRIES, G[:2], h)._repr_html_()
    u, v = np.random.default_rng(1).integers(0, 50, (2, 40, 3))
    assert "too long to draw here" in pt.exact_perm_test(u, v, statistic="f1")._repr_html_()
