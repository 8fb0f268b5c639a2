"""Adjusted p-values against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from permtest.many.corrections import adjusted_pvalues

SMALLEST = 5e-324


@pytest.mark.parametrize(("correction", "peer"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_statsmodels_finds_the_same(correction, peer):
    p = np.random.default_rng(0).random(5000) ** 4
    p[:100] = SMALLEST
    wanted = multipletests(p, method=peer)[1]
    np.testing.assert_allclose(adjusted_pvalues(p, correction), wanted, rtol=1e-13, atol=2e-323)
