"""Effect sizes against known answers and definitions."""

import json
from itertools import combinations_with_replacement
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from permtest import Scores
from permtest.alternatives import mcnemar
from permtest.study import (
    cohen_d,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    risk_difference,
    wilcoxon_r,
)
from tests.alternatives.known import SAMPLES

CLOSE = {"rel": 1e-9, "abs": 1e-12}

scores = st.integers(-6, 6)
columns = st.lists(st.tuples(scores, scores), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("kind", "cohen", "ends", "near", "shift"),
    [
        ("plain", 0.30214906160851884, (-0.2836997627336319, 0.875066892764335),
         0.9302325581395349, (0.007, -0.0095, 0.0285)),
        ("tied", 0.2503024804494121, (-0.15881093323977705, 0.6541705573028526),
         0.967032967032967, (0.5, 0.0, 1.0)),
    ],
)  # fmt: skip
def test_effects_are_those_of_r(kind, cohen, ends, near, shift):
    """Of means, with noncentral t and Hedges' J; and the middle of sums with its interval."""
    d, g, centre, _ = effect_sizes(*SAMPLES[kind])
    assert (d.value, *d.confidence_interval()) == pytest.approx((cohen, *ends), **CLOSE)
    scaled = [near * x for x in (cohen, *d.confidence_interval(0.8))]
    assert [g.value, *g.confidence_interval(0.8)] == pytest.approx(scaled, **CLOSE)
    assert (centre.value, *centre.confidence_interval()) == shift
    assert [x.name for x in effect_sizes([2, 3], [2, 3])] == ["hodges_lehmann"]


@settings(max_examples=50)
@given(columns)
def test_effects_of_ranks_by_their_definition(rows):
    a, b = zip(*rows, strict=True)
    d = [x - y for x, y in rows]
    centre = hodges_lehmann(a, b)
    assert centre.value == median(x + y for x, y in combinations_with_replacement(d, 2)) / 2
    low, high = centre.confidence_interval(0.6)
    assert low <= centre.value <= high
    d = [x for x in d if x]
    if not d:
        with pytest.raises(ValueError, match="equal in every pair"):
            wilcoxon_r(a, b)
        return
    # W+ counts the sums of two that are above 0, zeros by half.
    sums = [x + y for x, y in combinations_with_replacement(d, 2)]
    unit = len(sums) / np.linalg.norm(stats.rankdata(np.abs(d))) / len(d) ** 0.5
    r = wilcoxon_r(a, b)
    assert r.value == pytest.approx(unit * np.sign(sums).mean(), abs=1e-12)
    low, high = r.confidence_interval()
    assert -unit - 1e-9 <= low <= r.value + 1e-12
    assert r.value - 1e-12 <= high <= unit + 1e-9
    assert wilcoxon_r(b, a).confidence_interval() == pytest.approx([-high, -low], abs=1e-9)
    z = abs(r.value) * len(d) ** 0.5
    assert abs(z - 1.959964) < 1e-6 or (low <= 0 <= high) == (z < 1.96)


@given(st.integers(0, 25), st.integers(0, 25), st.integers(0, 25))
def test_shares_agree_with_mcnemar(b, c, rest):
    both = Scores.of(*(np.repeat(x, [rest, b, c, 3]) for x in ([1, 1, 0, 0], [1, 0, 1, 0])))
    assert [effect.name for effect in effect_sizes(both)] == ["risk_difference"]
    share = risk_difference(both.u, both.v, names=("new", "old"))
    assert share.names == ("new", "old")
    assert share.value == (b - c) / len(both)
    low, high = share.confidence_interval()
    assert -1 <= low <= share.value <= high <= 1
    p = mcnemar(b, c, method="chi2").pvalue
    if abs(p - 0.05) > 1e-6:
        assert (low <= 0 <= high) == (p > 0.05)


def test_what_an_effect_says():
    found = cohen_d(*SAMPLES["plain"], names=("crf", "<hmm>"))
    assert str(found) == (
        "Cohen's d of crf over <hmm> 0.3021, 95% interval -0.2837 to 0.8751 (small; n = 12)."
    )
    shown = json.loads(found.to_json())
    assert (shown["label"], shown["interval"]) == ("small", [*found.confidence_interval()])
    assert hodges_lehmann(*SAMPLES["plain"]).label == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_d([2, 3], [1, 2]), "all 2 differences are 1"),
        (lambda: hedges_g([2, 3], [1, 3]), "this needs 3 or more"),
        (lambda: risk_difference([1, 2], [0, 1]), "must be 0 or 1"),
        (lambda: cohen_d([2, 3], [1, 1]).confidence_interval(1.0), "confidence_level must lie"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
