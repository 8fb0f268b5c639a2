"""convolve_dp and convolve_fft against integer arithmetic and 2^N enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from permtest import LatticeDistribution, convolve_dp, convolve_fft, enumerate_swaps, pmf
from permtest.null.distribution import MAX_CELLS, attainable
from permtest.null.labellings import count_labellings
from tests import naive
from tests.null import law_of
from tests.strategies import effects

CONVOLVERS = pytest.mark.parametrize("convolve", [convolve_dp, convolve_fft])


@given(effects())
def test_dp_is_relatively_accurate_in_every_cell_and_fft_absolutely(rows):
    laws = [pmf(*row) for row in rows]
    expected = naive.convolve([naive.local_law(*row) for row in rows])
    dp, fft = convolve_dp(laws), convolve_fft(laws)
    assert set(dp.support[dp.pmf > 0].tolist()) == set(expected)
    for z, p in zip(fft.support.tolist(), fft.pmf, strict=True):
        exact = expected.get(z, Fraction(0))
        assert abs(Fraction(dp(z)) - exact) <= exact * Fraction(1, 10**12)
        assert abs(Fraction(p) - exact) <= Fraction(1, 10**14)
        assert p == 0 or z in expected


@given(effects())
def test_integer_counts_and_attainable_cells(rows):
    law = law_of([abs(stay - swap) for stay, swap in rows])
    widths = np.repeat(law.widths, law.counts).tolist()
    expected = naive.counts(widths)
    assert count_labellings(law) == expected
    assert attainable(law).tolist() == [ways > 0 for ways in expected]


@given(effects(max_size=9))
def test_enumeration_lists_every_labelling_in_order(rows):
    stay, swap = [a for a, _ in rows], [b for _, b in rows]
    expected = naive.labellings(stay, swap, g=lambda first, _second: first)
    assert enumerate_swaps(stay, swap).tolist() == expected


@CONVOLVERS
def test_nothing_to_convolve(convolve):
    for pmfs in ([], [pmf(4, 4), pmf(-1, -1)]):
        law = convolve(pmfs)
        assert (law.unit, law.pmf.tolist()) == (1, [1.0])
        assert law(3 if pmfs else 0) == 1.0


@CONVOLVERS
def test_unequal_probabilities(convolve):
    """Any two-point law is accepted, as a tilted null law needs it."""
    f = LatticeDistribution(0, 3, np.array([0.25, 0.75]))
    law = convolve([f, f, pmf(1, 1)])
    np.testing.assert_allclose(law.pmf, [0.0625, 0.375, 0.5625], rtol=1e-14)
    assert law.support.tolist() == [1, 4, 7]


@CONVOLVERS
def test_errors(convolve):
    three = LatticeDistribution(0, 1, np.array([0.25, 0.5, 0.25]))
    with pytest.raises(ValueError, match=r"pmfs\[1\] has 3 values"):
        convolve([pmf(0, 1), three])
    for pmfs, message in (
        ([3], r"pmfs\[0\] = 3 is not the law of an entry"),
        (5, "pmfs must be a list of laws"),
        ((f for f in [pmf(1, -1)]), "pmfs must be a list of laws"),
    ):
        with pytest.raises(TypeError, match=message):
            convolve(pmfs)
    for shares in ([0.5, np.nan], [0.5, -0.5], [1.5, 0.5]):
        wrong = LatticeDistribution(0, 1, np.array(shares))
        with pytest.raises(ValueError, match=r"pmfs\[1\] has 2 values .* of probabilities up to 1"):
            convolve([pmf(1, -1), wrong])
    with pytest.raises(MemoryError, match=r"cells.* more than the limit"):
        convolve([pmf(0, 1), pmf(0, MAX_CELLS)])


def test_counting_is_refused_with_a_number():
    with pytest.raises(MemoryError, match=r"2\^25"):
        enumerate_swaps([1] * 25, [0] * 25)
    with pytest.raises(ValueError, match="alike"):
        enumerate_swaps([1, 2], [1])
    with pytest.raises(MemoryError, match=r"20,000 differing pairs"):
        count_labellings(law_of([1] * 20_000))
