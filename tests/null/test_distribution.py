"""LatticeDistribution against plain sums."""

import numpy as np
import pytest

from permtest import LatticeDistribution, convolve_dp, convolve_fft, pmf
from permtest.null.distribution import JointDistribution


def test_values_beyond_int64():
    law = LatticeDistribution(10**30, 10**25, np.array([0.5, 0.5]))
    assert law.support.tolist() == [10**30, 10**30 + 10**25]
    assert law(10**30) == 0.5
    assert law(10**30 + 1) == 0.0
    wide = pmf(-6 * 10**18, 6 * 10**18)
    assert wide.support.tolist() == [-6 * 10**18, 6 * 10**18]


def test_pmf_cannot_be_changed_afterwards():
    cells = np.array([0.5, 0.5])
    law = LatticeDistribution(0, 1, cells)
    joint = JointDistribution(np.array([[0, 1], [1, 1]]), cells.copy(), ("hits", "misses"))
    for values in (law.pmf, law.log_pmf, joint.pmf, joint.support):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


def test_values_that_cannot_be():
    law = convolve_dp([pmf(1, -1)] * 3)
    assert law(1.5) == law(0) == law(np.nan) == law(np.inf) == law(99) == 0.0
    assert law(1.0) == law(1) == 0.375


def test_absolute_error_tells_the_convolvers_apart():
    laws = [pmf(1, -1)] * 40 + [pmf(3, 0)]
    assert laws[0].absolute_error == convolve_dp(laws).absolute_error == 0
    assert 0 < convolve_fft(laws).absolute_error < 1e-14


def test_errors():
    for stay in (0.5, "3", None):
        with pytest.raises(TypeError, match="must be an integer"):
            pmf(stay, 1)
    with pytest.raises(ValueError, match="unit >= 1"):
        LatticeDistribution(0, 0, np.ones(1))
    with pytest.raises(ValueError, match="non-empty"):
        LatticeDistribution(0, 1, np.ones(0))
