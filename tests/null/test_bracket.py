"""Brackets contain the exact probability, whatever the widths; counting labellings gives it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest._checks import TooHard
from permtest.null.bracket import WIDTH, phis, tail_bracket
from permtest.null.enumeration import count_tail, count_tails
from permtest.null.grouping import group
from permtest.null.tail import shorten, tail_tilted
from tests import naive


def law_of(widths):
    widths = np.array(widths, dtype=object)
    return group(widths, 0 * widths, 0)


def contains(bounds, exact):
    low, high = bounds
    rounding = Fraction(1, 2**50)
    return low.value <= exact * (1 + rounding) and exact <= Fraction(high.value) * (1 + rounding)


@settings(max_examples=50)
@given(
    widths=st.lists(
        st.one_of(st.integers(1, 10**4), st.integers(10**17, 10**18)), min_size=1, max_size=22
    ),
    where=st.floats(0, 1),
    slack=st.sampled_from([0, 0, 1, 10**16]),
)
def test_the_exact_probability_lies_between(widths, where, slack):
    law = law_of(widths)
    t0 = round(Fraction(where) * law.top)
    low, high = tail_bracket(law, t0, slack=slack)
    for moved in (-slack, 0, slack):
        exact = Fraction(count_tail(law, t0 + moved), 2**law.n_informative)
        if moved >= 0:
            assert exact <= Fraction(high.value) * (1 + Fraction(1, 2**50))
        if moved <= 0:
            assert Fraction(low.value) <= exact * (1 + Fraction(1, 2**50))


KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "giants": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.1, 1000, 1),
    "dust": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.5, 1e-9, 1),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "lognormal": lambda rng, n: rng.lognormal(0, 2, n),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("n", [30, 40])
def test_real_widths_by_counting_labellings(kind, n):
    rng = np.random.default_rng(n)
    for _ in range(4):
        law = law_of([int(abs(x) * 2**40) + 1 for x in KINDS[kind](rng, n)])
        t0 = law.top // 2 + int(rng.random() * 3 * law.deviation)
        assert contains(tail_bracket(law, t0), Fraction(count_tail(law, t0), 2**n))


@pytest.mark.parametrize("sigma", [-3, 0.1, 3, 12])
@pytest.mark.parametrize("n", [200, 3000])
def test_brackets_are_narrow_and_contain_what_is_known(n, sigma):
    rng = np.random.default_rng(n)
    fine = rng.integers(1, 200, n)
    noise = rng.integers(0, 10**9, n)  # far too little to reach the next cell
    law = law_of((fine * 10**15 + noise).tolist())
    t0 = (int(law.top / 2 + sigma * law.deviation) // 10**15) * 10**15 - 5 * 10**14
    low, high = tail_bracket(law, t0)
    coarse = tail_tilted(law_of(fine.tolist()), -(-t0 // 10**15))
    assert low.value <= coarse.value * (1 + 1e-12)
    assert coarse.value <= high.value * (1 + 1e-12)


@pytest.mark.parametrize("n", [100, 500, 3000])
def test_continuous_widths_are_bracketed_closely(n):
    rng = np.random.default_rng(n)
    for z in (0, 1, 3):
        law = law_of([int(abs(x) * 2**50) for x in rng.normal(size=n)])
        low, high = tail_bracket(law, int(law.top / 2 + z * law.deviation))
        assert 0 <= high.log - low.log <= 1.2 * WIDTH
        wide = tail_bracket(law, int(law.top / 2 + z * law.deviation), width=1e-3)
        assert wide[0].log <= high.log
        assert low.log <= wide[1].log


def test_the_end_of_the_support_is_exact():
    """Integer arithmetic says 2^-499; a forced bracket contains it."""
    result = exact_perm_test([1] * 500, [0] * 500, method="bracket")
    exact = Fraction(1, 2**499)
    low, high = result.pvalue_interval()
    assert low <= exact <= high
    assert abs(Fraction(result.pvalue) / exact - 1) <= result.error_bound


def test_counting_labellings_is_counting():
    rng = np.random.default_rng(0)
    for scale in (1, 10**9, 10**30):
        law = law_of([int(w) * scale + 1 for w in rng.integers(1, 50, 12)])
        sums = naive.subset_sums(np.repeat(law.widths, law.counts).tolist())
        for t0 in (0, 1, law.top // 3, law.top // 2, law.top, law.top + 1):
            assert count_tail(law, t0) == sum(s >= t0 for s in sums)
            for near in (t0, t0 - 1, t0 - law.top // 7):
                found = count_tails(law, t0, near)
                assert found == (sum(s >= t0 for s in sums), sum(s >= near for s in sums))


def test_factors_of_the_characteristic_function_are_complex_numbers():
    rng = np.random.default_rng(2)
    js, widths = np.sort(rng.integers(1, 10**6, 300)), rng.random(20)
    counts, beta = rng.integers(1, 12, 20), rng.random(20)
    values, others = phis(js, 40.0, widths, counts, beta)
    half = np.pi / 40 * np.outer(js, widths)
    factors = np.cos(half) + 1j * beta * np.sin(half)
    truth = np.prod(factors**counts, axis=1)
    assert np.all(np.abs(values - truth) <= 1e-9 * others)
    assert np.all(np.abs(truth) <= others * np.abs(factors).min(axis=1) * (1 + 1e-9))


def test_labellings_near_the_end_are_counted_however_many_there_are_in_all():
    rng = np.random.default_rng(1)
    widths = rng.integers(10**6, 2 * 10**6, 300)
    law = law_of(widths.tolist())
    lacking = 4 * 10**6
    few = [sum(s) for s in naive.small_subsets(widths.tolist(), lacking)]
    assert count_tail(law, law.top - lacking) == len(few)
    with pytest.raises(TooHard, match="too many labellings"):
        count_tail(law, law.top // 2)


UNEVEN = {
    "ones and millions": lambda rng, n: np.where(rng.random(n) < 0.5, 1, 10**8),
    "thirds, printed": lambda rng, n: [round(10**16 * int(k) / 3) for k in rng.integers(1, 7, n)],
    "two giants": lambda rng, n: [10**12, 10**12 + 7, *rng.integers(1, 9, n - 2).tolist()],
    "near multiples": lambda rng, n: rng.integers(1, 5, n) * 10**9 + rng.integers(-3, 4, n),
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
    moved = rng.random(n) < where
    attained = sum(
        w for w, m in zip(np.repeat(law.widths, law.counts).tolist(), moved, strict=True) if m
    )
    for t0 in {1, attained, round(Fraction(where) * law.top), law.top} - {0}:
        found = shorten(law, t0)
        if found is not None:
            assert found[0].top < law.top
            assert count_tail(*found) == count_tail(law, t0)


@pytest.mark.parametrize("kind", sorted(UNEVEN))
def test_uneven_differences_have_an_exact_p(kind):
    rng = np.random.default_rng(3)
    differences = [int(w) * (-1) ** int(rng.integers(2)) for w in UNEVEN[kind](rng, 90)]
    result = exact_perm_test(differences, [0] * 90)
    assert result.method != "bracket"
    assert result.error_bound <= 1e-12
    low, high = exact_perm_test(differences, [0] * 90, method="bracket").pvalue_interval()
    assert low <= result.pvalue <= high
