"""Tail probabilities against integer arithmetic, from 1 down to where no float64 reaches."""

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from permtest.null.convolution import dp_log_cells, tiled
from permtest.null.enumeration import count_labellings
from permtest.null.grouping import group
from permtest.null.tail import TooHard, tail_cf, tail_dp, tail_fft, tail_tilted

TAILS = [tail_tilted, tail_dp, tail_fft, tail_cf]
EACH_TAIL = pytest.mark.parametrize("tail", TAILS)


def law_of(widths):
    widths = np.asarray(widths, dtype=np.int64)
    return group(widths, np.zeros_like(widths), 0)


def relative_error(found, exact: Fraction) -> float:
    """Of p where a float64 holds it, of log p below."""
    if exact > Fraction(1, 10**300):
        return abs(float(Fraction(found.value) / exact - 1))
    truth = log(exact.numerator) - log(exact.denominator)
    return abs(found.log / truth - 1)


@settings(max_examples=60)
@given(
    groups=st.lists(st.tuples(st.integers(1, 60), st.integers(1, 150)), min_size=1, max_size=6),
    where=st.floats(0, 1),
)
def test_relative_error_is_within_the_contract_and_within_the_bound(groups, where):
    law = law_of(np.repeat([w for w, _ in groups], [c for _, c in groups]))
    counts = count_labellings(law)
    t0 = round(where * law.top)
    exact = Fraction(sum(counts[t0:]), 2**law.n_informative)
    for tail in TAILS:
        found = tail(law, t0)
        assert relative_error(found, exact) <= min(1e-12, found.error_bound + 2**-52), tail


@EACH_TAIL
@pytest.mark.parametrize("n", [1, 2, 3, 40, 1000, 3000])
def test_ends_of_the_support(tail, n):
    law = law_of(np.ones(n))
    assert tail(law, 0).value == 1.0
    assert tail(law, -5).value == 1.0
    assert tail(law, n).log == pytest.approx(-n * log(2), rel=1e-14)
    almost = tail(law, n - 1)
    assert almost.log == pytest.approx(log(n + 1) - n * log(2), rel=1e-12, abs=1e-15)
    assert almost.value > 0


@pytest.mark.parametrize("n", [500, 1000, 2500, 4000])
@pytest.mark.parametrize("share", [0.5, 0.501, 0.52, 0.6, 0.75, 0.9, 0.99])
def test_binomial_tails(n, share):
    """One width: the tail is a sum of binomial coefficients, here down to 1e-1100."""
    t0 = round(share * n)
    exact = Fraction(sum(comb(n, k) for k in range(t0, n + 1)), 2**n)
    for tail in TAILS:
        assert relative_error(tail(law_of(np.ones(n)), t0), exact) <= 1e-12, tail


@EACH_TAIL
def test_nearly_even_widths(tail):
    """All widths even but two: the law has a comb of period 2 that must not be smoothed over."""
    law = law_of([2] * 300 + [3, 5])
    counts = count_labellings(law)
    for t0 in (300, 305, 400, 401, 500, law.top - 1):
        exact = Fraction(sum(counts[t0:]), 2**law.n_informative)
        assert relative_error(tail(law, t0), exact) <= 1e-12


@EACH_TAIL
def test_one_giant_among_many_small(tail):
    law = law_of([1] * 200 + [100_000])
    counts = count_labellings(law)
    for t0 in (100, 150, 199, 200, 201, 50_000, 100_000, 100_051, 100_100, 100_150, law.top):
        exact = Fraction(sum(counts[t0:]), 2**law.n_informative)
        found = tail(law, t0)
        error = relative_error(found, exact)
        assert error <= min(1e-12, found.error_bound + 2**-52)


@EACH_TAIL
def test_the_last_steps_before_the_end(tail):
    """Where the tilt is extreme, and scale and distance from the mean nearly cancel."""
    law = law_of([1] * 46 + [10] * 852)
    counts = count_labellings(law)
    for t0 in (law.top - 1, law.top - 2, law.top - 10, law.top - 47, law.top - 400):
        exact = Fraction(sum(counts[t0:]), 2**law.n_informative)
        found = tail(law, t0)
        assert relative_error(found, exact) <= min(1e-12, found.error_bound + 2**-52)


def binomial_tail(n, t0):
    """Sum of binomial coefficients from t0 on, over 2^n, to 40 digits by the ratio of terms."""
    with localcontext(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN):
        term = Decimal(comb(n, t0)) / Decimal(2) ** n
        total, k = Decimal(0), t0
        while term > total * Decimal("1e-25"):
            total, term, k = total + term, term * (n - k) / (k + 1), k + 1
        return Fraction(total)


@pytest.mark.parametrize("n", [30_000, 100_000])
@pytest.mark.parametrize("deviations", [0.5, 3, 10, 30])
def test_many_equal_pairs(n, deviations):
    t0 = round(n / 2 + deviations * n**0.5 / 2)
    for tail in (tail_tilted, tail_fft, tail_cf):
        found = tail(law_of(np.ones(n)), t0)
        error = relative_error(found, binomial_tail(n, t0))
        assert error <= found.error_bound <= 1e-12


@pytest.mark.parametrize("n", [10**6, 10**7])
def test_millions_of_equal_pairs_against_scipy(n):
    """Where integers are out of reach: SciPy's incomplete beta function, good to some digits."""
    from scipy.stats import binom

    law = law_of(np.ones(n))
    for t0 in (n // 2, n // 2 + n // 1000, n // 2 + n // 200):
        found = tail_tilted(law, t0)
        assert found.value == pytest.approx(binom.sf(t0 - 1, n, 0.5), rel=1e-9)
        assert found.error_bound <= 1e-12


@given(
    widths=st.lists(
        st.one_of(st.integers(1, 9), st.integers(1, 4).map(lambda w: 2 * w), st.integers(1, 400)),
        min_size=1,
        max_size=60,
    ),
    data=st.data(),
)
def test_tilted_tail_of_any_small_law(widths, data):
    """Peaks of the characteristic function anywhere, lattices shorter than twenty deviations."""
    law = law_of(widths)
    counts = count_labellings(law)
    t0 = data.draw(st.integers(-1, law.top + 1))
    hits = sum(counts[max(t0, 0) :])
    found = tail_tilted(law, t0)
    if hits == 0:
        assert found.value == 0.0
    else:
        error = relative_error(found, Fraction(hits, 2**law.n_informative))
        assert error <= min(1e-12, found.error_bound + 2**-52)


@pytest.mark.parametrize(
    ("n", "width", "sigma"), [(300, 3000, 8), (500, 1000, 15), (1000, 10**5, 20), (2000, 10**6, 3)]
)
def test_tilted_tail_of_wide_laws(n, width, sigma):
    """All widths different: dynamic programming, or the tail at twice the precision, confirm."""
    law = law_of(np.random.default_rng(n).integers(1, width, n))
    t0 = int(law.top / 2 + sigma * law.deviation)
    found = tail_tilted(law, t0)
    assert found.error_bound < 1e-12
    # Wider by a common factor, and shifted off the multiples: another lattice, the same tail.
    stretched = law_of(np.append(np.repeat(law.widths, law.counts) * 3, 1))
    again = tail_tilted(stretched, 3 * t0)
    assert found.value == pytest.approx(again.value, rel=1e-12)
    if law.top < 10**6:
        assert found.value == pytest.approx(tail_dp(law, t0).value, rel=1e-12)


def test_the_tilted_tail_gives_up_rather_than_take_minutes():
    law = law_of(np.random.default_rng(0).integers(10**5, 10**6, 60))
    with pytest.raises(TooHard, match=r"60 differing pairs .* would take too long; .*'bracket'"):
        tail_tilted(law, law.top // 2 + 10, work=10**6)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 900)), min_size=1, max_size=3))
def test_log_cells_are_accurate_everywhere(groups):
    law = law_of(np.repeat([w for w, _ in groups], [c for _, c in groups]))
    assume(law.top < 9000)
    check_log_cells(law)


@pytest.mark.parametrize("widths", [[1] * 1100 + [3000], [1] * 1500 + [9000], [7] * 900 + [2] * 50])
def test_log_cells_of_laws_with_cells_that_no_tilt_makes_likely(widths):
    check_log_cells(law_of(widths))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 400)), min_size=1, max_size=4),
)
def test_tiles_are_as_accurate_as_dynamic_programming(groups):
    law = law_of(np.repeat([w for w, _ in groups], [c for _, c in groups]))
    found = tiled(law)
    truth = dp_log_cells(law)
    if found is None:  # cells between two humps, which no tilt makes likely
        return
    logs, error = found
    assert error <= 4e-13
    assert np.array_equal(np.isneginf(logs), np.isneginf(truth))
    possible = np.isfinite(truth)
    off = np.abs(logs[possible] - truth[possible])
    assert np.all(off <= error + 5 * 2**-52 * np.abs(truth[possible]) + 1e-13)


def test_tiles_cover_ordinary_laws():
    rng = np.random.default_rng(0)
    for widths in (np.ones(5000), rng.integers(1, 14, 3000), [2] * 400 + [3] * 400):
        assert tiled(law_of(widths)) is not None


def check_log_cells(law):
    logs = dp_log_cells(law)
    for t, ways in enumerate(count_labellings(law)):
        if ways == 0:
            assert logs[t] == -np.inf
        else:
            truth = log(ways) - law.n_informative * log(2)
            assert abs(logs[t] - truth) <= 1e-12 * max(1, -truth)
