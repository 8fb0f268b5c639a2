"""Adjusted p-values against the definitions of the corrections, and statsmodels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from permtest.many.corrections import CORRECTIONS, adjusted_pvalues, check_correction
from tests.many import naive

SMALLEST = 5e-324
MADE = [*naive.LEVELS, "none"]

pvalues = st.lists(
    st.builds(Fraction, st.integers(1, 32), st.just(32))
    | st.builds(lambda k: Fraction(1, 2**k), st.integers(0, 60)),
    min_size=1,
    max_size=7,
)
floats = st.lists(st.floats(SMALLEST, 1, allow_subnormal=True), max_size=30)


def test_each_correction_says_what_it_is():
    assert list(CORRECTIONS) == ["holm", "hochberg", "bh", "by", "max_t", "none"]
    assert len({correction.title for correction in CORRECTIONS.values()}) == len(CORRECTIONS)
    controls = {name: correction.controls for name, correction in CORRECTIONS.items()}
    assert controls["holm"] == controls["hochberg"] == controls["max_t"] == "familywise error"
    assert controls["bh"] == controls["by"] == "false discovery rate"


@pytest.mark.parametrize("correction", naive.LEVELS)
@given(pvalues)
def test_adjusted_pvalues_are_the_smallest_levels_of_rejection(correction, p):
    found = adjusted_pvalues([float(x) for x in p], correction)
    wanted = [float(x) for x in naive.adjusted(p, correction)]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("correction", MADE)
@given(floats)
def test_nothing_gets_smaller_or_changes_its_order(correction, p):
    found = adjusted_pvalues(p, correction)
    assert found.dtype == np.float64
    assert np.all(found >= p)
    assert np.all(found <= 1)
    assert np.all(np.diff(found[np.argsort(p)]) >= 0)
    assert len(set(zip(p, found, strict=True))) == len(set(p)), "equal ones stay equal"


@pytest.mark.parametrize(
    ("correction", "peer"),
    [("holm", "holm"), ("hochberg", "simes-hochberg"), ("bh", "fdr_bh"), ("by", "fdr_by")],
)
def test_statsmodels_finds_the_same(correction, peer):
    p = np.random.default_rng(0).random(5000) ** 4
    p[:100] = SMALLEST
    wanted = multipletests(p, method=peer)[1]
    np.testing.assert_allclose(adjusted_pvalues(p, correction), wanted, rtol=1e-13, atol=2e-323)


@pytest.mark.parametrize("correction", MADE)
def test_shapes_stay_and_all_is_one_family(correction):
    p = np.random.default_rng(0).random((2, 3, 4))
    found = adjusted_pvalues(p, correction)
    assert found.shape == p.shape
    np.testing.assert_array_equal(found.ravel(), adjusted_pvalues(p.ravel(), correction))
    assert adjusted_pvalues(np.empty((2, 0)), correction).shape == (2, 0)
    assert adjusted_pvalues([0.25], correction).tolist() == [0.25]
    assert adjusted_pvalues([1], correction).tolist() == [1.0]


@pytest.mark.parametrize("name", ["Holm", "bonferroni", None, ["holm"]])
def test_unknown_corrections_are_refused(name):
    with pytest.raises(ValueError, match=r"correction=.* is not known; choose one of 'holm', 'ho"):
        check_correction(name)
    with pytest.raises(ValueError, match="is not known"):
        adjusted_pvalues([0.5], name)


def test_max_t_needs_the_scores():
    check_correction("max_t")
    with pytest.raises(ValueError, match="samples swaps of the scores"):
        adjusted_pvalues([0.5], "max_t")


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.5, np.nan, np.inf])
@pytest.mark.parametrize("correction", MADE)
def test_what_is_no_pvalue_is_named(bad, correction):
    with pytest.raises(ValueError, match=rf"^pvalue\[1, 0\] = {bad} must lie in \(0, 1\]"):
        adjusted_pvalues([[0.5, 0.1], [bad, bad]], correction)
