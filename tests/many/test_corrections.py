"""Adjusted p-values against statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from permtest.many.corrections import adjusted_pvalues

SMALLEST = 5e-324

floats = st.lists(st.floats(SMALLEST, 1, allow_subnormal=True), max_size=30)


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@given(floats)
def test_nothing_gets_smaller_or_changes_its_order(correction, p):
    p = np.array(p)
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
