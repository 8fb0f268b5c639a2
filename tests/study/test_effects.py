"""Effect sizes against known answers, definitions and, for intervals, against simulation."""

import json
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from math import sqrt
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from permtest import Pairs
from permtest.alternatives import mcnemar
from permtest.alternatives.answer import TITLES
from permtest.interval import ConfidenceInterval
from permtest.study import (
    cohen_d,
    cohen_h,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    odds_ratio,
    phi,
    risk_difference,
    wilcoxon_r,
    win_loss,
)
from permtest.study.effects import BELONGS_TO
from tests.study.known import (
    COHEN_D,
    HEDGES_G,
    HODGES_LEHMANN,
    PROPORTIONS,
    SAMPLES,
    WILCOXON_R,
)

KINDS = list(SAMPLES)
CLOSE = {"rel": 1e-9, "abs": 1e-12}

scores = st.integers(-6, 6)
columns = st.lists(st.tuples(scores, scores), min_size=2, max_size=12)


def split(rows):
    return [x for x, _ in rows], [y for _, y in rows]


# ---- Cohen and Hedges --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_cohen_d_is_known(kind):
    d_z, interval, d_s = COHEN_D[kind]
    found = cohen_d(*SAMPLES[kind])
    assert found.value == pytest.approx(d_z, **CLOSE)
    assert tuple(found.confidence_interval()) == pytest.approx(interval, **CLOSE)
    assert found.details["d_s"] == found.details["d_av"] == pytest.approx(d_s, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_hedges_g_is_known(kind):
    near, exact, g, exact_g, other = HEDGES_G[kind]
    found = hedges_g(*SAMPLES[kind])
    assert found.value == pytest.approx(g, **CLOSE)
    shown = [found.details[x] for x in ("J_approximate", "J_exact", "g_exact", "g_df_n_minus_2")]
    assert shown == pytest.approx([near, exact, exact_g, other], **CLOSE)
    d = cohen_d(*SAMPLES[kind]).confidence_interval(0.8)
    assert found.confidence_interval(0.8) == pytest.approx([near * end for end in d], **CLOSE)


def test_the_interval_of_d_inverts_the_noncentral_t():
    for n, d in ((3, -2.0), (40, 0.3), (5000, 1.5)):
        found = cohen_d(d + stats.norm.ppf((np.arange(n) + 0.5) / n).round(4), np.zeros(n))
        for end, share in zip(found.confidence_interval(0.9), (0.95, 0.05), strict=True):
            t = found.details["t"]
            assert stats.nct.cdf(t, n - 1, end * sqrt(n)) == pytest.approx(share, abs=1e-8)


# ---- ranks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_wilcoxon_r_is_known(kind):
    z, *by_size, biserial = WILCOXON_R[kind]
    found = wilcoxon_r(*SAMPLES[kind])
    shown = [found.value, *(found.details[f"r_{per}"] for per in ("pairs", "observations"))]
    assert shown == pytest.approx(by_size, **CLOSE)
    assert found.details["z"] == pytest.approx(z, **CLOSE)
    assert found.details["rank_biserial"] == pytest.approx(biserial, **CLOSE)


@settings(max_examples=50)
@given(columns)
def test_rank_effects_by_their_definition(rows):
    a, b = split(rows)
    d = [x - y for x, y in rows if x != y]
    if not d:
        with pytest.raises(ValueError, match="equal in every pair"):
            wilcoxon_r(a, b)
        return
    # W+ counts the sums of two that are above 0, zeros by half.
    sums = [x + y for x, y in combinations_with_replacement(d, 2)]
    share = sum((s > 0) + (s == 0) / 2 for s in sums) / len(sums)
    ranks = stats.rankdata(np.abs(d))
    w_plus = sum(r for r, x in zip(ranks, d, strict=True) if x > 0)
    assert w_plus == pytest.approx(share * len(sums))
    r = wilcoxon_r(a, b)
    biserial = r.details["rank_biserial"]
    assert biserial == pytest.approx(2 * share - 1, abs=1e-12)
    with np.errstate(all="ignore"):
        z = stats.wilcoxon(d, method="approx", correction=False).zstatistic
    assert abs(r.value) == pytest.approx(abs(z) / sqrt(len(d)), abs=1e-9)
    unit = abs(r.value / biserial) if biserial else 1
    low, high = r.confidence_interval()
    assert -unit - 1e-9 <= low <= r.value + 1e-12
    assert r.value - 1e-12 <= high
    swapped = wilcoxon_r(b, a).confidence_interval()
    assert swapped == pytest.approx([-high, -low], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_hodges_lehmann_is_known(kind):
    usual, other, interval, k, level = HODGES_LEHMANN[kind]
    found = hodges_lehmann(*SAMPLES[kind])
    assert (found.value, tuple(found.confidence_interval())) == (usual, interval)
    level = pytest.approx(level, rel=1e-13)
    assert found.details == {"i_lt_j": other, "k": k, "achieved_level": level}


@given(columns)
def test_hodges_lehmann_by_its_definition(rows):
    a, b = split(rows)
    d = [x - y for x, y in rows]
    found = hodges_lehmann(a, b)
    assert found.value == median(x + y for x, y in combinations_with_replacement(d, 2)) / 2
    assert found.details["i_lt_j"] == median(x + y for x, y in combinations(d, 2)) / 2
    low, high = found.confidence_interval(0.6)
    assert low <= found.value <= high


# ---- right and wrong answers of systems on the same items ---------------------------------------


def answers(both, b, c, neither):
    """Scores of 0 and 1 with these counts."""
    counts = [both, b, c, neither]
    return np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)


def newcombe(a, b):
    """The risk difference with its other interval."""
    found = risk_difference(a, b)
    ends = [found.details[f"newcombe_{end}"] for end in ("low", "high")]
    return replace(found, _interval=lambda level: ends)


@pytest.mark.parametrize("counts", PROPORTIONS)
def test_cohen_h_is_known(counts):
    """Of as many items for both systems, some of which have more in all of the vectors."""
    x1, n1, x2, n2 = counts
    a, b = np.arange(n1 * n2) < x1 * n2, np.arange(n1 * n2) < x2 * n1
    assert cohen_h(a, b).value == pytest.approx(PROPORTIONS[counts], **CLOSE)
    assert cohen_h(*counts).value == pytest.approx(PROPORTIONS[counts], **CLOSE)


def test_phi_is_the_root_of_chi_squared_and_its_interval_holds_it():
    for table in ([[85, 15], [75, 25]], [[3, 5], [8, 0]], [[10, 0], [0, 10]]):
        found, plain = phi(table), stats.chi2_contingency(table, correction=False)[0]
        assert found.value**2 == pytest.approx(plain / np.sum(table))
        low, high = found.confidence_interval()
        assert -1 <= low <= found.value <= high <= 1
    with pytest.raises(ValueError, match="empty row or column"):
        phi([[0, 5], [0, 3]])


def test_the_interval_of_newcombe_is_the_published_one():
    """Newcombe (1998), table II, method 10: 36, 12, 2, 0."""
    found = newcombe(*answers(36, 12, 2, 0)).confidence_interval()
    assert found == pytest.approx((0.0569, 0.3404), abs=5e-5)


@given(st.integers(0, 25), st.integers(0, 25), st.integers(0, 25))
def test_odds_and_shares_agree_with_mcnemar(b, c, rest):
    if b + c == 0:
        with pytest.raises(ValueError, match="there is no odds ratio"):
            odds_ratio([1], [1])
        return
    u, v = answers(rest, b, c, 3)
    odds, share = odds_ratio(u, v), risk_difference(u, v)
    assert odds.value == (b / c if c else np.inf)
    low, high = odds.confidence_interval()
    assert (low <= 1 <= high) == (mcnemar(b, c).pvalue > 0.05)
    low, high = stats.binomtest(b, b + c).proportion_ci()
    expected = [low / (1 - low), high / (1 - high) if c else np.inf]
    assert odds.confidence_interval() == pytest.approx(expected, rel=1e-9)
    assert share.value == win_loss(u, v).value == (b - c) / len(u)
    assert share.confidence_interval() == win_loss(u, v).confidence_interval()
    low, high = share.confidence_interval()
    assert -1 <= low <= share.value <= high <= 1
    p = mcnemar(b, c, method="chi2").pvalue
    if abs(p - 0.05) > 1e-6:
        assert (low <= 0 <= high) == (p > 0.05)


def test_scores_suit_their_effects():
    a, b = SAMPLES["tied"]
    graded = ["cohen_d", "hedges_g", "hodges_lehmann", "wilcoxon_r", "win_loss"]
    assert [effect.name for effect in effect_sizes(Pairs.of(a, b))] == graded
    binary = ["risk_difference", "odds_ratio", "cohen_h"]
    assert [effect.name for effect in effect_sizes(Pairs.of([1, 0], [0, 0]))] == binary
    equal = [effect.name for effect in effect_sizes(Pairs.of([2, 3], [2, 3]))]
    assert equal == ["hodges_lehmann", "win_loss"], "what is not defined is left out"
    assert set(BELONGS_TO) == set(TITLES)
    with pytest.raises(ValueError, match="must be 0 or 1"):
        risk_difference([1, 2], [0, 1])


# ---- the result --------------------------------------------------------------------------------


def test_what_an_effect_says():
    a, b = SAMPLES["plain"]
    found = cohen_d(a, b, names=("crf", "<hmm>"))
    assert str(found) == (
        "Cohen's d of crf over <hmm> 0.3021, 95% interval -0.2837 to 0.8751 (small; n = 12)."
    )
    assert found.interpretation.startswith("small in Cohen's words")
    assert isinstance(found.confidence_interval(), ConfidenceInterval)
    assert "&lt;hmm&gt;" in found._repr_html_()
    shown = json.loads(found.to_json())
    assert shown == found.to_dict()
    assert shown["details"]["df"] == 11
    with pytest.raises(ValueError, match="confidence_level"):
        found.confidence_interval(1.0)
    assert hodges_lehmann(a, b).label == ""
    assert hodges_lehmann(a, b).interpretation == "in units of the scores"
    with pytest.raises(AttributeError):
        found.value = 3
