"""Adjusted p-values against statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from permtest.many.corrections import adjusted_pvalues

SMALLEST = 5e-324
MADE = ["holm", "bh", "none"]

floats = st.lists(st.floats(SMALLEST, 1, allow_subnormal=True), max_size=30)


@pytest.mark.parametrize("correction", MADE)
@given(floats)
def test_nothing_gets_smaller_or_changes_its_order(correction, p):
    found = adjusted_pvalues(p, correction)
    assert found.dtype == np.float64
    assert np.all(found >= p)
    assert np.all(found <= 1)
    assert np.all(np.diff(found[np.argsort(p)]) >= 0)
    assert len(set(zip(p, found, strict=True))) == len(set(p)), "equal ones stay equal"


@pytest.mark.parametrize(("correction", "peer"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_statsmodels_finds_the_same(correction, peer):
    p = np.random.default_rng(0).random(5000) ** 4
    p[:100] = SMALLEST
    wanted = multipletests(p, method=peer)[1]
    np.testing.assert_allclose(adjusted_pvalues(p, correction), wanted, rtol=1e-13, atol=2e-323)


def test_shapes_stay_and_all_is_one_family():
    p = np.random.default_rng(0).random((2, 3, 4))
    for correction in MADE:
        found = adjusted_pvalues(p, correction)
        np.testing.assert_array_equal(found.ravel(), adjusted_pvalues(p.ravel(), correction))
        assert adjusted_pvalues(np.empty((2, 0)), correction).shape == (2, 0)


@pytest.mark.parametrize(
    ("p", "correction", "message"),
    [
        ([0.5], "bonferroni", "correction='bonferroni' is not known; .* 'holm' controls"),
        ([0.5], ["holm"], "is not known"),
        ([0.5], "max_t", "samples swaps of the scores"),
        *(
            ([[0.5, 0.1], [x, x]], "holm", rf"^pvalue\[1, 0\] = {x} must lie in \(0, 1\]")
            for x in (0.0, -0.1, 1.5, np.nan)
        ),
    ],
)
def test_what_cannot_be_adjusted_is_refused(p, correction, message):
    with pytest.raises(ValueError, match=message):
        adjusted_pvalues(p, correction)
