"""Sums of variables with several values: tails as sure as fractions say, and far beyond them."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import comb, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest._errors import TooHard
from permtest.null.multinomial_sum import Draw, MultinomialSum
from tests import naive
from tests.null import relative_error, sum_of


@st.composite
def some_draws(draw):
    """Tables, and numbers some of which are drawn."""
    steps, found = st.lists(st.integers(-9, 9), min_size=2, max_size=7).map(sorted), []
    for _ in range(draw(st.integers(1, 4))):
        some, times, base = draw(steps), draw(st.integers(1, 2)), draw(st.integers(-3, 3))
        found.append(Draw(some, draw(st.integers(1, len(some) - 1)), times, base))
        if draw(st.booleans()):
            some = sorted(set(some))
            weights = draw(st.lists(st.integers(1, 9), min_size=len(some), max_size=len(some)))
            found[-1] = Draw(some, 1, times, 0, weights)
    return found


def law_by_hand(one):
    """All draws, one after the other."""
    weights = one.weights or [1] * len(one.steps)
    ways = Counter()
    for some in combinations(range(len(one.steps)), one.n):
        ways[one.base + sum(one.steps[i] for i in some)] += prod(weights[i] for i in some)
    return {x: Fraction(w, ways.total()) for x, w in ways.items()}


@given(some_draws(), st.data())
def test_tails_are_those_of_fractions(draws, data):
    law = MultinomialSum.of(draws)
    whole = naive.convolve([law_by_hand(one) for one in draws for _ in range(one.times)])
    t0 = data.draw(st.integers(-1, law.top + 2))
    least = law.offset + law.unit * t0
    exact = sum((p for x, p in whole.items() if x >= least), Fraction(0))
    assert law.tail_fraction(t0) == exact
    p = law.tail(t0)
    assert abs(Fraction(p.value) - exact) <= Fraction(p.error_bound + 3e-16) * exact
    assert p.error_bound < 1e-11
    found = law.distribution()
    for x, share in whole.items():
        assert abs(found(x) - float(share)) <= found.absolute_error < 1e-13


def hypergeometric(m, n):
    """The successes of the first n of 2 n runs, m of which succeed."""
    values = range(max(0, m - n), min(n, m) + 1)
    return list(values), [comb(m, x) * comb(2 * n - m, n - x) for x in values]


@pytest.mark.parametrize("deviations", [0.1, 4, 30])
def test_tails_of_many_items_have_twelve_digits(deviations):
    rng = np.random.default_rng(0)
    sizes = np.bincount(rng.binomial(8, rng.random(300)), minlength=9).tolist()
    law = sum_of([(*hypergeometric(m, 4), n) for m, n in enumerate(sizes) if n])
    t0 = int(min(law.flat.mean + deviations * law.flat.variance**0.5, law.top - 3))
    exact, p = law.tail_fraction(t0), law.tail(t0)
    assert relative_error(p, exact) <= min(p.error_bound + 2**-52, 1e-12)


def test_tails_below_the_smallest_float_keep_their_logarithm():
    law = sum_of([([0, 1, 2], [1, 2, 1], 5000)])
    # All of 5000 draws at 2 have the probability 4^-5000, and one less 10000 times that.
    assert law.tail(10_000).log == pytest.approx(-5000 * log(4), rel=1e-14)
    assert law.tail(9_999).log == pytest.approx(-5000 * log(4) + log(10_001), rel=1e-14)
    assert law.tail(9_999).value == 5e-324
    # `error_bound` covers the rounding of the logarithm too.
    with localcontext(prec=60):
        for t0, ways in ((10_000, 1), (9_999, 10_001)):
            p, exact = law.tail(t0), Decimal(ways).ln() - 5000 * Decimal(4).ln()
            assert abs((Decimal(p.log) - exact).exp() - 1) <= p.error_bound


def test_a_giant_step_that_is_next_to_impossible():
    """A tilt of one over the deviation moves nearly all of the mass there."""
    rare = ([0, 1003, 1050, 101_000], [9, 1, 10**25, 10**6], 1)
    law = sum_of([([0, 5], [1, 1], 27), rare])
    for t0 in (1108, 1130):
        exact, p = law.tail_fraction(t0), law.tail(t0)
        assert abs(Fraction(p.value) - exact) <= Fraction(float(p.error_bound)) * exact
        assert p.error_bound < 1e-11


def test_what_is_out_of_reach_is_refused():
    with pytest.raises(TooHard, match="too many to invert"):
        sum_of([([0, 2**53, 1], [1, 1, 1], 4)])
    wide = sum_of([([0, 2**40, 2**39 + 1], [1, 1, 1], 100)])
    with pytest.raises(TooHard, match="fewer digits"):
        wide.tail(int(wide.flat.mean))
    with pytest.raises(MemoryError, match="cells"):
        wide.distribution()
    with pytest.raises(MemoryError, match="bits"):
        wide.tail_fraction(10)
