"""What each explorer shows is what the functions of the package find."""

import re
from fractions import Fraction
from html import unescape
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest import alternatives as alt
from permtest.null.dp import Step
from permtest.study import minimum_detectable_effect, power_curve, power_t, sample_size
from permtest.widgets import (
    AssumptionsExplorer,
    ConvolutionExplorer,
    LeaderboardExplorer,
    PosteriorExplorer,
    PowerExplorer,
    SamplingExplorer,
    StaircaseExplorer,
    TailExplorer,
    TwoSystemsExplorer,
    frame,
    two_systems,
    with_variant,
)
from permtest.widgets.null import RUNS, STOPS
from permtest.widgets.systems import MEASURES
from tests import naive, strategies
from tests.widgets.test_explorers import COUNTS, LAWS, RIGHT, SCORES, A, B

TABLE = pt.ScoreTable.of(RIGHT)


@pytest.fixture(autouse=True)
def unseen(monkeypatch):
    """Explorers paint as ever, but make no PNG file of it, which takes most of their time."""
    monkeypatch.setattr(frame, "png", lambda figure: b"")


def part(e, gid, which=0):
    return e._parts[gid][which]


# ---- one null distribution -----------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(strategies.effects(max_size=7, bound=6), st.data())
def test_a_step_is_what_the_slow_twin_says_and_what_is_drawn_adds_up(effects, data):
    effects = effects or [(1, -1)]
    n = data.draw(st.integers(0, len(effects)))
    laws = [pt.pmf(stay=x, swap=y) for x, y in effects]
    e = ConvolutionExplorer(laws, n=n)
    expected = naive.convolve([naive.local_law(x, y) for x, y in effects[:n]])
    assert e.step.n_values == len(expected)
    assert [copy.effect for copy in e.step.copies] == sorted(set(effects[n - 1] if n else ()))
    heights, edges, _ = part(e, "law").get_data()
    found = dict(zip((edges[1:] + edges[:-1]) / 2, heights, strict=True))
    for value, p in expected.items():
        assert e.step.law(value) == pytest.approx(float(p), rel=1e-13)
        assert found.pop(value) == pytest.approx(float(p), rel=1e-13)
    assert not any(found.values())
    if n:
        top, where, _ = part(e, "stacked", -1).get_data()
        np.testing.assert_array_equal(where, edges)
        np.testing.assert_allclose(top, heights, rtol=1e-13)
        alone = [np.nan_to_num(x.get_data()[0]) for x in e._parts["copy"]]
        np.testing.assert_allclose(np.sum(alone, axis=0), heights, rtol=1e-13)


def test_the_sentence_does_the_sum_of_line_8():
    e = ConvolutionExplorer(LAWS, n=6)
    differences = [-1, -3, -1, -1, 3, -2]
    counts, before = (
        naive.convolve([naive.local_law(d, -d) for d in differences[:k]]) for k in (6, 5)
    )
    low, high = (float(before[-3 - z]) for z in (-2, 2))
    assert "Entry 6 of 12 adds −2 or +2, with probability 1/2 each." in e.sentence.value
    assert f"{len(counts)} values, from −11 to +11" in e.sentence.value
    terms = f"0.5 × {low:.4g} + 0.5 × {high:.4g} = {float(counts[-3]):.4g}"
    assert f"The most likely one is −3, with probability {terms}." in e.sentence.value
    e.n.value = 7
    assert "Entry 7 of 12 adds 0." in e.sentence.value
    e.n.value = 0
    assert "No entry is in yet" in e.sentence.value


def test_the_order_does_not_matter_in_the_end_and_axes_do_not_jump():
    laws = [pt.pmf(int(d), -int(d)) for d in np.random.default_rng(3).integers(1, 5, 200)]
    e, seen = ConvolutionExplorer(laws, n=0), []
    for n in [*range(20), *range(20, 201, 9)]:
        e.n.value = n
        seen.append((*e._axes[0].get_xlim(), *e._axes[1].get_ylim()))
        assert e.step.law.pmf.max() < seen[-1][3] < 2.2 * e.step.law.pmf.max()
        outside = (e.step.law.support < seen[-1][0]) | (e.step.law.support > seen[-1][1])
        assert e.step.law.pmf[outside].sum() < 1e-3
    assert len({x[:2] for x in seen}) == 1
    assert sum(a != b for a, b in pairwise(seen)) <= 7
    law = Step.of(laws, 200).law
    e.n.value, e.order.value = 200, "shortest"
    np.testing.assert_array_equal(e.step.law.pmf, law.pmf)
    assert (e._link.source, e._link.target) == ((e.play, "value"), (e.n, "value"))


def test_unequal_probabilities_have_their_weights():
    skewed = pt.LatticeDistribution(0, 1, np.array([0.25, 0.75]))
    e = ConvolutionExplorer([skewed, skewed], n=2)
    assert "with probability 1/2 each" not in e.sentence.value
    texts = [text.get_text() for text in e._axes[0].get_legend().get_texts()]
    assert texts == ["0.25 F₁ moved by 0", "0.75 F₁ moved by +1"]


def test_sampled_tests_are_those_of_monte_carlo():
    u, v = SCORES["weak"], SCORES["fair"] - (np.arange(400) % 2)
    e = SamplingExplorer(u, v)
    for K, seed in ((200, 0), (50, 17)):
        e.K.value, e.seed.value = K, seed
        assert e.results == [pt.monte_carlo(u, v, K=K, rng=seed + i) for i in range(RUNS)]
        missed = 0
        for row, result in enumerate(e.results):
            low, high = result.pvalue_interval()
            assert part(e, f"run {row}").get_xdata() == [low, result.pvalue, high]
            hit = low <= e.exact.pvalue <= high
            assert (part(e, f"run {row}").get_marker() == "o") == hit
            missed += not hit
        assert f"{missed} of the 95% intervals miss" in e.sentence.value
    for u, v in (([1, 2], [1, 2]), ([1] * 40, [0] * 40)):
        left, right = SamplingExplorer(u, v)._axes[0].get_xlim()
        assert left < 0 <= pt.exact_perm_test(u, v).pvalue < right < 1.1


def test_the_far_tail_at_every_lead():
    u, v = SCORES["weak"], SCORES["good"]
    e = TailExplorer(u, v)
    result = pt.exact_perm_test(u, v)
    assert e.lead.value == abs(result.statistic)
    assert e.tail.result.pvalue == result.pvalue
    for _, lead in e.lead.options[::60]:
        e.lead.value = lead
        assert e.tail.result.log10_pvalue == result.at(lead).log10_pvalue
        assert f"p = {e.tail.result.pvalue_text()} (log10 p = " in e.sentence.value
        assert set(part(e, "observed").get_xdata()) == {lead}
        logs = e.tail.null.log_pmf[e.tail.result.extreme] / np.log(10)
        heights = part(e, "extreme").get_data()[0]
        np.testing.assert_array_equal(heights[np.isfinite(heights)], logs[np.isfinite(logs)])
        assert part(e, "tilted", 1).get_data()[0].max() == 1
    assert "sees nothing but its own noise" in e.sentence.value


def test_leads_to_choose_from():
    assert dict(TailExplorer([2, 3, 3], [0, 0, 0]).lead.options) == {"2": 2, "4": 4, "8": 8}
    many = [value for _, value in TailExplorer([1] * 9000, [0] * 9000).lead.options]
    assert STOPS / 2 < len(many) <= STOPS + 2
    assert (many[0], many[-1]) == (0, 9000)
    assert "has p = 1: no swap changes anything" in TailExplorer([1, 2], [1, 2]).sentence.value


# ---- two systems ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), list(permutations(SCORES, 2)))
@pytest.mark.parametrize("tails", ["two-sided", "greater"])
def test_every_two_systems_are_tested(a, b, tails):
    e = TwoSystemsExplorer(SCORES, a=a, b=b, statistic="accuracy")
    e.tails.value, e.n.value = tails, 37
    options = {"alternative": tails, "statistic": "accuracy"}
    expected = pt.exact_perm_test(SCORES[a][:37], SCORES[b][:37], names=(a, b), **options)
    assert str(expected) in e.sentence.value
    assert f"share of {expected.pvalue_text()} is" in e.sentence.value
    both = [np.nansum(part(e, gid).get_data()[0]) for gid in ("body", "rejected")]
    assert both[1] == pytest.approx(expected.pvalue)
    assert sum(both) == pytest.approx(1)
    assert part(e, "observed").get_xdata() == [expected.observed_sum] * 2


def test_the_same_system_twice_and_a_data_frame():
    pandas = pytest.importorskip("pandas")
    e = TwoSystemsExplorer(pandas.DataFrame(SCORES))
    e.b.value = e.a.value
    assert "compared with itself: no swap changes anything, so p = 1" in e.sentence.value


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_axes_change_in_coarse_steps(scale):
    e, seen = TwoSystemsExplorer(SCORES), []
    e.scale.value = scale
    for n in range(1, 401, 7):
        e.n.value = n
        (left, right), (bottom, top) = e._axes[0].get_xlim(), e._axes[0].get_ylim()
        assert left == -right < e.result.observed_sum < right
        assert f"{right:.0e}"[0] in "125"
        assert e.result.null_distribution.pmf.max() < top
        seen.append((right, bottom, top))
    assert sum(a != b for a, b in pairwise(seen)) <= 12


@pytest.mark.parametrize("side", ["two-sided", "greater"])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_staircase_is_the_test_at_the_point_that_is_chosen(measure, side):
    e = StaircaseExplorer(*COUNTS, names=("new", "old"))
    e.statistic.value, e.tails.value = measure, side
    base = pt.exact_perm_test(*COUNTS, statistic=measure, alternative=side, names=("new", "old"))
    assert e.result == base
    assert "This is what was observed." in e.sentence.value
    e.hits.value -= 4
    e.misses.value += 2
    weight = base.sums[0] // int(COUNTS[0][:, 0].sum())
    assert e.result == base.at((weight * e.hits.value, e.misses.value)) != base
    assert str(e.result) in unescape(e.sentence.value)
    assert "observed" not in e.sentence.value
    assert ("move together" in e.sentence.value) == (e.result.rank == 1)
    if e.result.rank == 2:
        at = part(e, "observed").get_data()
        assert [float(x[0]) for x in at] == [e.misses.value, e.hits.value]
    for bar in (e.hits, e.misses):
        for value in (bar.min, bar.max):
            bar.value = value
            assert "role='status'" in e.sentence.value
            (left, right), at = e._axes[0].get_xlim(), part(e, "observed").get_xdata()[0]
            assert left < at < right


def test_few_sentences_and_many():
    for size in (0, 1, 2, 5):
        e = StaircaseExplorer(*(counts[:size] for counts in COUNTS))
        for e.statistic.value in MEASURES:
            e.hits.value, e.misses.value = e.hits.max, e.misses.min
            assert "role='status'" in e.sentence.value
    assert "No swap changes them" in StaircaseExplorer(COUNTS[0], COUNTS[0]).sentence.value
    pairs = pt.Pairs.of_counts(*COUNTS, [("tp", "fp", "fn")], ("new", "old"))
    e = StaircaseExplorer(pairs)
    assert e.result == pt.exact_perm_test(*COUNTS, statistic="f1", names=("new", "old"))
    assert e.hits.continuous_update
    wide = np.random.default_rng(8).integers(0, 9, (2, 300, 3))
    assert not StaircaseExplorer(*wide).hits.continuous_update


# ---- assumptions and power -----------------------------------------------------------------------


@pytest.mark.parametrize(("r12", "factor"), [(0.38, 1.27), (0.5, 1.41), (0.8, 2.24), (-1, None)])
@pytest.mark.parametrize("n", [3, 60, 200])
def test_scores_have_the_moments_that_are_asked_for(r12, factor, n):
    a, b = two_systems(r12, n=n, lead=3)
    assert a.size == b.size == n
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(r12, abs=3e-3)
    assert [x.mean() for x in (a, b)] == pytest.approx([53, 50], abs=0.02)
    assert [x.std(ddof=1) for x in (a, b)] == pytest.approx([10, 10], abs=0.03)
    np.testing.assert_allclose(20 * a, np.rint(20 * a), atol=1e-9)
    if factor and n > 3:
        believed = np.hypot(a.std(), b.std()) / (a - b).std()
        assert believed == pytest.approx(factor, abs=0.01)
        assert factor == round(alt.inflation(r12), 2)
    for wrong in ({"r12": 1}, {"r12": 0, "n": 2}, {"r12": 0, "n": 201}):
        with pytest.raises(ValueError, match="must"):
            two_systems(**wrong)


def test_who_knows_of_the_correlation():
    e = AssumptionsExplorer(names=("x", "y"))
    e.n.value, e.lead.value = 60, 3.0
    blind = []
    for e.r12.value in (0.0, 0.4, 0.8):
        a, b = two_systems(e.r12.value, n=60, lead=3.0)
        tests = (alt.permutation_mean(a, b), alt.paired_t(a, b), alt.independent_t(a, b))
        assert [x.pvalue for x in (e.exact, e.paired, e.independent)] == [x.pvalue for x in tests]
        for test, line in zip(tests[1:], e._parts["interval"], strict=True):
            low, high = test.confidence_interval()[:2]
            assert line.get_xdata() == [low, test.estimate, high]
        blind.append(e.independent.pvalue)
    assert blind == pytest.approx([blind[0]] * 3, rel=0.01)
    assert "only the tests of pairs see the difference" in e.sentence.value
    assert "standard deviation of 6.3 points" in e.sentence.value
    assert "believes 14.1, 2.24 times as much. x is 3.00 points ahead of y" in e.sentence.value
    for r12, lead, words in ((-0.5, 4.2, "too easily"), (0, 0, "let it pass"), (0.8, 6, "all rej")):
        e.r12.value, e.n.value, e.lead.value = r12, 50, lead
        assert words in e.sentence.value
    for e.lead.value in (0, 6):
        e.r12.value, e.n.value = -0.5, 10
        left, right = e._axes[1].get_xlim()
        ends = [x for line in e._parts["interval"] for x in line.get_xdata()]
        assert left < min(ends) < max(ends) < right


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
def test_power_is_that_of_the_functions(swapped, sides):
    u, v = (B, A) if swapped else (A, B)
    e, d = PowerExplorer(u, v, lead=-0.3 if swapped else 0.3), u - v
    e.alternative.value, e.alpha.value, e.n.value = sides, 0.1, 90
    side = sides if sides == "two-sided" else "less" if swapped else "greater"
    lead, sd, level = e.lead.value, d.std(ddof=1), {"alpha": 0.1, "alternative": side}
    assert e.power == power_t(90, lead, sd, **level)
    assert e.needed == sample_size(lead, sd, **level)
    assert e.detectable == minimum_detectable_effect(90, sd, **level)
    options = {"sizes": (90,), "experiments": 200, "rng": 0, "delta": Fraction(lead)}
    assert e.exact == power_curve(u, v, **options, **level)
    interval = alt.paired_t(u, v, alternative=side).confidence_interval(0.9)
    shift = lead - d.mean()
    assert e.expected == pytest.approx((interval[0] + shift, interval[1] + shift))
    assert f"has a power of {100 * e.power:.1f}% (the exact test, simulated: " in e.sentence.value
    assert len(part(e, "detectable").get_xdata()) == 1 + (sides == "two-sided")
    arrows = [arrow.get_visible() for arrow in e._parts["open"]]
    assert arrows == [side == "less", side == "greater"]


def test_where_power_starts_and_ends():
    e = PowerExplorer(A, B)
    assert (e.n.value, e.lead.value) == (90, pytest.approx(float((A - B).mean())))
    e.lead.value = 0
    assert e.needed is None
    assert "there is nothing to find" in e.sentence.value
    assert "needed" not in e._parts
    assert PowerExplorer([1, 2], [0, 0]).n.value == 5


# ---- Bayes ---------------------------------------------------------------------------------------

X, Y, ZERO = (90, 10, 20), (95, 9, 15), (0, 0, 0)
FOLDS = (
    [[10, 2, 3], [9, 3, 2], [8, 4, 1], [10, 2, 2], [9, 3, 3], [11, 1, 4]],
    [[12, 2, 1], [10, 3, 1], [9, 3, 0], [10, 2, 2], [10, 2, 2], [12, 2, 3]],
)


def test_counts_are_dragged_and_what_is_to_be_found_is_the_same_for_both():
    e = PosteriorExplorer(X, Y, rope=0.02, names=("old", "new"))
    assert [bar.value for bar in e.counts.values()] == [90, 10, 110, 95, 9, 110]
    e.counts["tp_a"].value = 40
    wanted = alt.bayes_test((40, 10, 70), Y, rope=0.02, names=("old", "new"))
    assert e.result.p_b_better == wanted.p_b_better
    assert str(wanted) in unescape(e.sentence.value)
    for gid, law in (("a", wanted.posterior_a), ("b", wanted.posterior_b)):
        assert tuple(part(e, f"interval {gid}").get_xdata()) == law.interval()
    for ax, gid in zip(e._axes, ("interval a", "interval"), strict=True):
        assert ax.get_xlim()[0] <= min(part(e, gid).get_xdata())
        assert ax.get_xlim()[1] >= max(part(e, gid).get_xdata())
    e.counts["gold_b"].value = 60
    assert [bar.value for bar in e.counts.values()] == [40, 10, 60, 60, 9, 60]
    e.counts["tp_a"].value = 99
    assert e.counts["tp_a"].value == 60
    other = PosteriorExplorer(X, (95, 9, 5))
    other.counts["gold_a"].value = 120
    assert other.counts["gold_b"].value == 100


def test_it_opens_a_result_with_its_folds_added_up():
    options = {"rope": 0.06, "threshold": 0.8, "names": ("x", "y")}
    found = alt.bayes_test(*FOLDS, "recall", 0.7, **options)
    e = PosteriorExplorer.of(found)
    assert [bar.value for bar in e.counts.values()] == [57, 15, 72, 63, 14, 72]
    assert (e.metric.value, e.prior.value, e.rope.value) == ("recall", 0.7, 0.06)
    assert e.weight.value == alt.block_weight(3)
    assert e.result.p_b_better == pytest.approx(found.p_b_better, abs=1e-9)
    assert (e.result.threshold, e.result.names) == (0.8, ("x", "y"))


@pytest.mark.parametrize("metric", ["f2", "precision", "recall"])
def test_edges_have_a_picture(metric):
    for a, b in ((ZERO, ZERO), (ZERO, (10**6, 10**5, 10**5)), (ZERO, X)):
        e = PosteriorExplorer(a, b, metric=metric)
        assert "P(B better than A)" in e.sentence.value
        assert all(low < high for low, high in e._limits)


# ---- leaderboards --------------------------------------------------------------------------------


@pytest.mark.parametrize(("gains", "losses"), [(0, 0), (12, 0), (30, 20)])
def test_a_variant_wins_and_loses_as_many_items_as_it_was_told(gains, losses):
    base, new = with_variant(TABLE, "good", gains, losses).scores[[1, -1]]
    assert (int(np.sum(new > base)), int(np.sum(new < base))) == (gains, losses)
    more = with_variant(TABLE, "good", gains + 5, losses).scores[-1]
    assert np.all(more >= new)
    for wrong in (("none", 0, 0), ("good", 200, 0), ("good", 0, -1)):
        with pytest.raises(ValueError, match=r"is no system|must lie between 0 and"):
            with_variant(TABLE, *wrong)


def test_the_board_is_that_of_the_function():
    e = LeaderboardExplorer(RIGHT, base="middle", name="ours")
    for correction in ("holm", "max_t", "none"):
        e.gains.value, e.losses.value, e.correction.value = 20, 6, correction
        table = with_variant(TABLE, "middle", 20, 6, name="ours")
        board = pt.compare_many(table, correction=correction, rng=0)
        assert e.board.to_dict() == board.to_dict()
        assert board.sentence() in unescape(e.sentence.value)
        assert "With 20 more and 6 fewer right than middle, ours has" in e.sentence.value
        notes = [note.get_text() for note in e._parts["note"]]
        assert sum(note.startswith("rank") for note in notes) == 1
        marks = [x for x in e._axes[0].lines if x.get_gid() in ("tied", "behind")]
        assert [x.get_xdata()[0] for x in marks] == sorted(board.values[0], reverse=True)
    (band,) = e._parts["new"]
    assert band.get_y() < e.board.order().index("ours") < band.get_y() + band.get_height()


def test_sliders_end_where_the_base_ends():
    e = LeaderboardExplorer({"all": [1] * 95 + [0] * 5, "few": [0] * 97 + [1] * 3}, base="all")
    assert (e.gains.max, e.losses.max) == (5, 15)
    e.losses.value = 15
    e.base.value = "few"
    assert (e.gains.max, e.losses.max, e.losses.value) == (15, 3, 3)
    assert re.search("fewer right than few, new has [0-9] of 100 right", e.sentence.value)


@pytest.mark.parametrize("systems", [2, 11])
def test_long_names_stay_in_the_picture(systems):
    rng = np.random.default_rng(1)
    table = {
        f"a_name_of_{k:02}_that_is_long": (rng.random(300) < 0.5 + 0.02 * k).astype(int)
        for k in range(systems)
    }
    e = LeaderboardExplorer(table)
    e._figure.canvas.draw()
    (ax,) = e._axes
    parts = [*ax.get_yticklabels(), *ax.texts, ax.xaxis.label, ax.get_legend()]
    for box in [part.get_window_extent() for part in parts]:
        assert e._figure.bbox.x0 <= box.x0 < box.x1 <= e._figure.bbox.x1
        assert e._figure.bbox.y0 <= box.y0 < box.y1 <= e._figure.bbox.y1
    rows = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert not [k for k, (a, b) in enumerate(pairwise(rows)) if a.overlaps(b)]
