"""Tail probabilities against integer arithmetic, from 1 down to where no float64 reaches."""

from fractions import Fraction
from math import inf, log

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import _jit
from permtest.null.convolution import EPS, log_cells
from permtest.null.distribution import from_widths
from permtest.null.labellings import count_labellings, count_tail
from permtest.null.tail import (
    TooHard,
    attempts,
    shorten,
    tail_dp,
    tail_fft,
    tail_in_numpy,
    tail_tilted,
)
from tests.null import counted, holds, law_of, relative_error


def tail_in_kernels(law, t0):
    """By tilting, as where machine code is loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_jit, "patience", 0.0 if _jit.NUMBA else inf)
        return tail_tilted(law, t0)


TAILS = [tail_in_kernels, tail_in_numpy, tail_dp, tail_fft]
EACH_TAIL = pytest.mark.parametrize("tail", TAILS)
RNG = np.random.default_rng(0)

#: Among them a comb whose law has period 2 but for two entries, and laws with a giant.
LAWS = {
    "one width": [1] * 900,
    "scores": RNG.integers(1, 13, 400),
    "comb": [2] * 300 + [3, 5],
    "giant": [1] * 200 + [5000],
    "uneven": [1] * 46 + [10] * 852,
    "few": [1, 2, 4, 8, 9],
}


@pytest.mark.parametrize("kind", LAWS)
@EACH_TAIL
def test_errors_are_within_the_contract_and_within_bounds_that_are_not_absurd(kind, tail):
    law = law_of(LAWS[kind])
    exact, top = counted(law), law.top
    places = [0.1, 0.45, 0.5, 0.501, 0.52, 0.55, 0.6, 0.75, 0.9, 0.99]
    ends = [1, top // 2, top // 2 + 1, top - 47, top - 10, top - 2, top - 1, top, 5000, 5100, 201]
    errors, bounds = [], []
    for t0 in {t for t in (*ends, *(int(top * x) for x in places)) if 0 < t <= top}:
        found = tail(law, t0)
        errors.append(relative_error(found, exact(t0)))
        bounds.append(found.error_bound)
    assert holds(errors, bounds)
    assert max(errors) <= 1e-12


@settings(max_examples=40)
@given(
    groups=st.lists(
        st.tuples(st.sampled_from([1, 2, 3, 4, 7, 8, 40, 97]), st.integers(1, 90)),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_any_law_and_any_threshold(groups, data):
    """Peaks of the characteristic function anywhere, lattices shorter than twenty deviations."""
    law = law_of(np.repeat([w for w, _ in groups], [c for _, c in groups]))
    t0 = data.draw(st.integers(-1, law.top + 1))
    exact = counted(law)(t0) if 0 < t0 <= law.top else Fraction(t0 <= 0)
    for tail in TAILS:
        found = tail(law, t0)
        if exact in (0, 1):
            assert (found.value, found.error_bound) == (exact, 0)
        else:
            assert relative_error(found, exact) <= min(1e-12, found.error_bound + 2**-52), tail


@EACH_TAIL
@pytest.mark.parametrize("n", [1, 2, 40, 3000])
def test_ends_of_the_support(tail, n):
    law = law_of(np.ones(n))
    assert tail(law, n).log == pytest.approx(-n * log(2), rel=1e-14)
    almost = tail(law, n - 1)
    assert almost.log == pytest.approx(log(n + 1) - n * log(2), rel=1e-12, abs=1e-15)
    assert almost.value > 0


@pytest.mark.parametrize("deviations", [0.5, 3, 10, 30])
@pytest.mark.parametrize("n", [50_000, 10**7])
def test_many_equal_pairs(n, deviations):
    """To 40 digits by the ratio of terms."""
    t0 = k = round(n / 2 + deviations * n**0.5 / 2)
    with mp.workdps(40):
        term, exact = mp.binomial(n, k) / mp.mpf(2) ** n, mp.mpf(0)
        while term > exact * mp.mpf("1e-25"):
            exact, term, k = exact + term, term * (n - k) / (k + 1), k + 1
    for tail in (tail_tilted, tail_fft) if n < 10**6 else (tail_tilted,):
        found = tail(from_widths(n, np.array([1]), np.array([n])), t0)
        assert abs(float(found.value / exact) - 1) <= found.error_bound <= 1e-12


@pytest.mark.parametrize(("n", "width", "sigma"), [(300, 3000, 8), (1000, 10**5, 20)])
def test_all_widths_different(n, width, sigma):
    """The same tail on another lattice, where peaks are found on a grid, or are not."""
    law = law_of(np.random.default_rng(n).integers(1, width, n))
    t0 = int(law.top / 2 + sigma * law.deviation)
    found = tail_tilted(law, t0)
    assert found.error_bound < 1e-12
    # Wider by a common factor, and shifted off the multiples.
    stretched = law_of(np.append(np.repeat(law.widths, law.counts) * 3, 1))
    again = tail_tilted(stretched, 3 * t0)
    assert found.value == pytest.approx(again.value, rel=found.error_bound + again.error_bound)
    if law.top < 10**6:
        assert found.value == pytest.approx(tail_dp(law, t0).value, rel=1e-12)


def test_the_tilted_tail_gives_up_rather_than_take_minutes():
    law = law_of(np.random.default_rng(0).integers(10**5, 10**6, 60))
    with pytest.raises(TooHard, match=r"60 differing pairs .* would take too long; .*'bracket'"):
        tail_tilted(law, law.top // 2 + 10, work=10**6)
    huge = law_of([2**53, 1, 3])
    with pytest.raises(TooHard):
        tail_tilted(huge, huge.top - 2)


# ---- the logarithms of all cells ---------------------------------------------------------------

WHOLE = {
    **{kind: LAWS[kind] for kind in ("few", "comb", "scores")},
    "faint": [1] * 1100 + [3000],
    "one faint cell": [1] * 1964,
    "several tilts": [1] * 2500 + [2] * 700,
    "gaps": [7] * 1900 + [2] * 150,
}


@pytest.mark.parametrize("kind", WHOLE)
def test_logarithms_of_all_cells(kind):
    law = law_of(WHOLE[kind])
    logs, bound = log_cells(law)
    assert bound < 1e-11
    ways = count_labellings(law)
    assert np.array_equal(logs == -np.inf, [w == 0 for w in ways])
    for t in range(0, law.top + 1, 1 + law.top // 999):
        if ways[t]:
            truth = log(ways[t]) - law.n_informative * log(2)
            assert abs(logs[t] - truth) <= bound + 5 * EPS * abs(truth) + 4 * EPS


def test_cells_that_no_tilt_makes_likely_have_no_logarithms():
    with pytest.raises(TooHard, match="method='fft'"):
        log_cells(law_of([1] * 4000 + [9000]))


# ---- which way is tried, and shorter lattices --------------------------------------------------


UNEVEN = {
    "ones and millions": lambda rng, n: np.where(rng.random(n) < 0.5, 1, 10**8),
    "thirds, printed": lambda rng, n: [round(10**16 * int(k) / 3) for k in rng.integers(1, 7, n)],
    "two giants": lambda rng, n: [10**12, 10**12 + 7, *rng.integers(1, 9, n - 2).tolist()],
    "near multiples": lambda rng, n: rng.integers(1, 5, n) * 10**9 + rng.integers(-3, 4, n),
    "near, by threes": lambda rng, n: rng.integers(1, 5, n) * 10**9 + 3 * rng.integers(-3, 4, n),
    "small": lambda rng, n: rng.integers(1, 9, n),
}


@given(
    kind=st.sampled_from(sorted(UNEVEN)),
    n=st.integers(3, 18),
    seed=st.integers(0, 10**6),
    where=st.floats(0, 1),
)
def test_a_shorter_lattice_has_the_same_tails(kind, n, seed, where):
    rng = np.random.default_rng(seed)
    law = law_of([int(w) for w in UNEVEN[kind](rng, n)])
    moved = np.repeat(law.widths, law.counts)[rng.random(n) < where]
    for t in (1, int(moved.sum()), int(moved.sum()) + 1, round(where * law.top), law.top):
        one = shorten(law, t) if t else None
        if one is not None:
            assert one[0].top < law.top
            assert count_tail(*one) == count_tail(law, t)


@pytest.mark.parametrize("kind", sorted(UNEVEN))
def test_uneven_differences_have_a_tail_on_a_lattice_that_is_shorter(kind):
    """Each way that is offered finds the same p."""
    law = law_of([int(w) for w in UNEVEN[kind](np.random.default_rng(3), 38)])
    t0 = int(law.top // 2 + law.deviation)
    assert (shorten(law, t0) is None) == (kind == "small")
    exact, tried = Fraction(count_tail(law, t0), 2**law.n_informative), 0
    for _, tail in attempts(law, t0):
        try:
            found = tail(law, t0)
        except TooHard:
            continue
        assert relative_error(found, exact) <= min(1e-12, found.error_bound + 2**-52)
        tried += 1
    assert tried > 1
