"""What pictures of one test and of two systems show, read back from their artists."""

import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.style import context

import permtest as pt
from permtest.plots import STYLE, plot_estimation, plot_null, plot_scores
from permtest.plots.null import COLUMNS

RNG = np.random.default_rng(1)
COUNTS = RNG.integers(0, 3, (2, 40, 3))
U, V = RNG.integers(0, 5, 300), RNG.integers(0, 4, 300)

RESULTS = {
    "two-sided": pt.exact_perm_test(U, V, names=("new", "old")),
    "less": pt.exact_perm_test(U, V, alternative="less"),
    "few values": pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]),
    "far out": pt.exact_perm_test([1] * 600, [0] * 600),
    "sampled": pt.monte_carlo(U, V, K=2000, rng=0),
    "with h": pt.exact_perm_test(
        [4, 1, 7, 2], [1, 5, 2, 2], lambda a, b: 2 * a - b, lambda s: s % 5
    ),
    "almost 1": pt.exact_perm_test([0] * 14 + [1], [1] * 14 + [0], alternative="greater"),
    "lonely": pt.exact_perm_test([1_000_000, 1, 2], [0, 0, 0]),
    "f1": pt.exact_perm_test(*COUNTS, statistic="f1"),
    "f1, greater": pt.exact_perm_test(*COUNTS, statistic="f1", alternative="greater"),
    "precision, less": pt.exact_perm_test(*COUNTS, statistic="precision", alternative="less"),
    "f1, sampled": pt.monte_carlo(*COUNTS, statistic="f1", K=2000, rng=0),
    "f1, same": pt.exact_perm_test(COUNTS[0], COUNTS[0], statistic="f1"),
}


def columns(ax, gid):
    """Edges of the columns of an artist, and how high they are above their base."""
    (found,) = (child for child in ax.get_children() if child.get_gid() == gid)
    heights, edges, base = found.get_data()
    assert (np.diff(edges) > 0).all()
    return edges, heights - base


@pytest.mark.parametrize("name", RESULTS)
def test_all_mass_in_view_is_drawn_and_p_of_it_is_hatched(name):
    result = RESULTS[name]
    ax = plot_null(result, ax=Figure())
    ax.figure.draw_without_rendering()
    (left, right), values = ax.get_xlim(), result.null_values
    assert left < result.marks[0] < right
    mass = [np.nansum(columns(ax, gid)[1]) for gid in ("body", "rejected")]
    seen = (values >= left) & (values <= right)
    for found, which in zip(mass, (~result.extreme, result.extreme), strict=True):
        assert found == pytest.approx(result.null_distribution.pmf[seen & which].sum(), abs=1e-12)
    assert sum(mass) > 0.9999
    sign = "\N{ALMOST EQUAL TO}" if result.n_samples else "="
    assert ax.get_title(loc="left").startswith(f"p {sign} ")


@pytest.mark.parametrize("name", ["two-sided", "less", "few values", "with h", "almost 1"])
def test_every_value_of_a_lattice_has_its_column(name):
    result = RESULTS[name]
    ax = plot_null(result, ax=Figure())
    low, high = ax.get_xlim()
    seen = (result.null_values > low) & (result.null_values < high)
    for gid, which in (("body", ~result.extreme & seen), ("rejected", result.extreme & seen)):
        edges, heights = columns(ax, gid)
        at = np.searchsorted(edges, result.null_values[which]) - 1
        pmf = result.null_distribution.pmf[which]
        assert np.nan_to_num(heights[at]) == pytest.approx(pmf)


@pytest.mark.parametrize("name", ["f1", "f1, greater", "precision, less"])
def test_no_column_holds_both_kinds_of_values(name):
    ax = plot_null(RESULTS[name], ax=Figure())
    both = [columns(ax, gid)[1] > 0 for gid in ("body", "rejected")]
    assert not (both[0] & both[1]).any()


def test_words_say_what_is_extreme_and_what_the_axis_has():
    for name, title, label in [
        ("two-sided", "both tails", "difference of scores, new minus old, summed over 300 pairs"),
        ("with h", "the hatched values", "sum of g over 4 pairs"),
        ("precision, less", "left tail", "difference of precision, u minus v, over 40 pairs"),
    ]:
        ax = plot_null(RESULTS[name], ax=Figure((14, 4)))
        assert title in ax.get_title(loc="left")
        assert label in ax.get_xlabel().replace("\n", " ")


def test_limits_and_widths_are_the_callers_and_columns_are_few():
    ax = Figure().subplots()
    ax.set_xlim(-7, 7)
    assert plot_null(RESULTS["less"], ax=ax).get_xlim() == (-7, 7)
    figure = Figure((6, 1))
    assert plot_null(RESULTS["less"], ax=figure).figure is figure
    assert figure.get_size_inches().tolist() == [6, 4.4]
    wide = pt.exact_perm_test(*np.random.default_rng(2).integers(0, 2100, (2, 1500)))
    assert wide.null_distribution.pmf.size > 10**6
    assert columns(plot_null(wide, ax=Figure()), "body")[1].size <= COLUMNS + 10


FLOATS = RNG.normal(0, 1, (2, 30)).round(1)
CASES = {
    "points": pt.Scores.of(U, V, ("$new_1$", "<b>old</b>")),
    "bits": pt.Scores.of(U > 2, V > 1, ("new", "old"), higher_is_better=True),
    "losses": pt.Scores.of(*FLOATS, ("new", "old"), higher_is_better=False, score="loss"),
}


@pytest.mark.parametrize("name", CASES)
def test_bars_and_their_key_count_items_and_the_mean_has_its_interval(name):
    scores = CASES[name]
    found = pt.exact_perm_test(scores, statistic="mean")
    interval = found.confidence_interval() if name != "bits" else None
    differences, mean = plot_estimation(scores, interval, ax=Figure((6.8, 1)))
    apart = (scores.u - scores.v).astype(float) / scores.scale
    sign = np.sign(apart) * (-1 if name == "losses" else 1)
    counts = [int(np.sum(sign == side)) for side in (1, 0, -1)]
    for gid, count in zip(("first", "equal", "second"), counts, strict=True):
        assert sum(bar.get_height() for bar in differences.patches if bar.get_gid() == gid) == count
    said = [text.get_text().removesuffix(" (bar cut)") for text in differences.get_legend().texts]
    word = "higher" if scores.higher_is_better is None else "better"
    (a, b), (first, equal, second) = scores.names, counts
    assert said == [f"{a} {word}: {first}", f"equal: {equal}", f"{b} {word}: {second}"]
    (line,) = (line for line in mean.lines if line.get_gid() == "interval")
    low, at, high = line.get_xdata()
    assert at == pytest.approx(found.statistic)
    assert (low, high) == pytest.approx(interval or (at, at))
    assert mean.get_xlim()[0] < 0 < mean.get_xlim()[1]
    assert ("95% interval" in mean.get_xlabel()) == (interval is not None)


def test_counts_have_no_differences_to_draw():
    scores = pt.Scores.of_counts(dict(zip("ab", COUNTS, strict=True)))
    with pytest.raises(ValueError, match="draw the test with plot_null"):
        plot_estimation(scores, ax=Figure())


@pytest.mark.parametrize("name", ["points", "bits", "losses"])
def test_scores_are_drawn_in_bars_below_their_means(name):
    scores = CASES[name]
    ax = plot_scores(scores, ax=Figure())
    for gid, mean, column in zip(("first", "second"), ax.lines, scores.arrays, strict=True):
        bars = [bar for bar in ax.patches if bar.get_gid() == gid]
        assert sum(bar.get_height() for bar in bars) == len(scores)
        assert mean.get_xdata() == [pytest.approx(np.mean(column) / scores.scale)]


def test_the_style_sheet_is_found_by_its_name_and_is_large():
    sheet = mpl.rc_params_from_file(STYLE, use_default_template=False)
    with context("permtest.permtest"):
        assert {key: mpl.rcParams[key] for key in sheet} == dict(sheet)
    assert sheet["font.size"] >= 13


@pytest.mark.parametrize(
    ("module", "missing"), [("plots", "matplotlib"), ("widgets", "ipywidgets")]
)
def test_a_missing_library_is_named_with_its_cure(module, missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from permtest import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    cure = {"plots": "permtest[plot]", "widgets": "permtest[lab]"}[module]
    assert re.search(rf"\nImportError: .*pip install '{re.escape(cure)}'$", done.stderr.strip())
