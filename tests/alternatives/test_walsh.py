"""Walsh sums against all of them listed, the law of W+ against all labellings."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permtest.alternatives.ranks import (
    _RankLaw,
    hodges_lehmann_sum,
    kth_walsh,
    signed_rank_quantile,
)

SMALL, HUGE = st.integers(-9, 9), st.integers(-(10**30), 10**30)
STEPS = st.one_of(st.lists(x, min_size=1, max_size=12) for x in (SMALL, HUGE))


def naive_sums(steps, diagonal):
    """All of them, ascending."""
    pairs = combinations_with_replacement(steps, 2) if diagonal else combinations(steps, 2)
    return sorted(x + y for x, y in pairs)


def as_array(steps):
    return np.array(steps, dtype=object if max(map(abs, steps)) >= 2**60 else np.int64)


@settings(max_examples=150)
@given(STEPS, st.booleans())
def test_every_sum_is_found_at_its_rank(steps, diagonal):
    sums = naive_sums(steps, diagonal)
    assert kth_walsh(as_array(steps), range(1, len(sums) + 1), diagonal=diagonal) == sums


@given(STEPS, st.booleans())
def test_the_median_of_the_sums(steps, diagonal):
    sums = naive_sums(steps, diagonal)
    if not sums:
        with pytest.raises(ValueError, match="1 differences, but a median needs 2"):
            hodges_lehmann_sum(as_array(steps), diagonal=diagonal)
    else:
        found = hodges_lehmann_sum(as_array(steps), diagonal=diagonal)
        assert found == median(map(Fraction, sums))


def test_machine_integers_at_the_edge_of_their_range():
    steps = np.array([-(2**60) + 1, 2**60 - 1, 0])
    assert kth_walsh(steps, [1, 2, 6]) == [2 - 2**61, 1 - 2**60, 2**61 - 2]


def test_the_five_thousand_million_sums_of_hundred_thousand_differences_are_not_listed():
    steps = np.random.default_rng(0).integers(-(10**9), 10**9, 10**5)
    assert abs(hodges_lehmann_sum(steps)) < 2 * 10**7


@pytest.mark.parametrize("k", [0, 7])
def test_there_is_no_such_sum(k):
    with pytest.raises(ValueError, match=f"k={k} must lie between 1 and 6"):
        kth_walsh(np.array([1, 2, 4]), k)


# ---- the law of W+ ------------------------------------------------------------------------------


def naive_quantile(n, alpha):
    """By all 2^n sets of ranks."""
    sums = [sum(chosen) for chosen in product(*((0, i) for i in range(1, n + 1)))]
    k = max(k for k in range(len(sums)) if sum(s < k for s in sums) <= alpha * 2**n)
    return k, sum(s < k for s in sums) / 2**n


@settings(max_examples=150)
@given(st.integers(0, 9), st.one_of(st.floats(1e-4, 0.5), st.sampled_from([0.5, 0.25, 0.125])))
def test_quantiles_of_few_ranks(n, alpha):
    assert signed_rank_quantile(n, alpha) == naive_quantile(n, alpha)


def counts_of_rank_sums(n):
    """How many sets of ranks have each sum, in Python integers."""
    counts = [1]
    for i in range(1, n + 1):
        shifted = [0] * i + counts
        counts = [x + y for x, y in zip(counts + [0] * i, shifted, strict=True)]
    return counts


@pytest.mark.parametrize("n", [29, 30, 31, 75, 120])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.025, 1e-7])
def test_quantiles_of_many_ranks(n, alpha):
    k, error = signed_rank_quantile(n, alpha)
    counts, whole = counts_of_rank_sums(n), 2**n
    below = sum(counts[:k])
    assert below <= Fraction(alpha) * whole < below + counts[k]
    assert error == pytest.approx(below / whole, rel=1e-12)


@pytest.mark.parametrize("n", [249, 251, 1000, 12345])
def test_the_expansion_agrees_with_the_law(n):
    """What is used beyond the reach of the law gives the same k within it."""
    for alpha in (0.1, 0.025, 0.005):
        assert int(_RankLaw(n).guess(alpha)) + 1 == signed_rank_quantile(n, alpha).k


def test_a_million_ranks():
    k, error = signed_rank_quantile(10**6, 0.025)
    assert 0 < 0.025 - error < 2e-9
    n = 10**6
    sd = (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
    assert abs(k - (n * (n + 1) / 4 - 1.959963984540054 * sd)) < 1e-6 * sd


@pytest.mark.parametrize(("n", "alpha"), [(-1, 0.1), (5, 0.0), (5, 0.6)])
def test_arguments_out_of_range(n, alpha):
    with pytest.raises(ValueError, match="n=-1" if n < 0 else f"alpha={alpha}"):
        signed_rank_quantile(n, alpha)
