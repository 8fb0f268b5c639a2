"""Brackets contain the exact probability, whatever the widths."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.null.bracket import NARROW, tail_bracket
from permtest.null.enumeration import count_tail
from permtest.null.grouping import group
from permtest.null.shorten import shorten
from permtest.null.tail import tail_tilted


def law_of(widths):
    widths = np.array(widths, dtype=object)
    return group(widths, 0 * widths, 0)


@settings(max_examples=60, deadline=None)
@given(
    widths=st.lists(
        st.one_of(st.integers(1, 10**4), st.integers(10**17, 10**18)), min_size=1, max_size=22
    ),
    where=st.floats(0, 1),
)
def test_the_exact_probability_lies_between(widths, where):
    law = law_of(widths)
    t0 = round(Fraction(where) * law.top)
    exact = Fraction(count_tail(law, t0), 2**law.n_informative)
    low, high = tail_bracket(law, t0)
    rounding = Fraction(1, 2**45)
    assert Fraction(low.value) <= exact * (1 + rounding)
    assert exact <= Fraction(high.value) * (1 + rounding)


@pytest.mark.parametrize("sigma", [-3, 0.1, 3, 12])
@pytest.mark.parametrize("n", [200, 3000])
def test_brackets_are_narrow_and_contain_what_is_known(n, sigma):
    rng = np.random.default_rng(n)
    fine = rng.integers(1, 200, n)
    law = law_of([*(fine * 10**15).tolist(), 1])  # the last one keeps the common divisor away
    t0 = int(law.top / 2 + sigma * law.deviation)
    low, high = tail_bracket(law, t0)
    assert 0 <= high.log - low.log < (NARROW if sigma < 10 else 0.01)
    # In units of 10^15 the single 1 is below all thresholds that matter.
    coarse = tail_tilted(law_of(fine.tolist()), -(-t0 // 10**15))
    assert low.value <= coarse.value * (1 + 1e-12)
    assert coarse.value <= high.value * (1 + 1e-12)


def test_counting_by_halves_is_counting():
    rng = np.random.default_rng(0)
    for scale in (1, 10**9, 10**30):
        widths = [int(w) * scale + 1 for w in rng.integers(1, 50, 12)]
        law = law_of(widths)
        sums = [0]
        for width in np.repeat(law.widths, law.counts).tolist():
            sums += [s + width for s in sums]
        for t0 in (0, 1, law.top // 3, law.top // 2, law.top, law.top + 1):
            assert count_tail(law, t0) == sum(s >= t0 for s in sums)


UNEVEN = {
    "ones and millions": lambda rng, n: np.where(rng.random(n) < 0.5, 1, 10**8),
    "thirds, printed": lambda rng, n: [round(10**16 * int(k) / 3) for k in rng.integers(1, 7, n)],
    "two giants": lambda rng, n: [10**12, 10**12 + 7, *rng.integers(1, 9, n - 2).tolist()],
    "near multiples": lambda rng, n: rng.integers(1, 5, n) * 10**9 + rng.integers(-3, 4, n),
    "small": lambda rng, n: rng.integers(1, 9, n),
}


@settings(max_examples=150, deadline=None)
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
