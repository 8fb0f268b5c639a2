"""Brackets contain the exact probability, whatever the widths; counting labellings gives it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest._errors import TooHard
from permtest.null.bracket import WIDTH, tail_bracket
from permtest.null.distribution import CERTAIN, IMPOSSIBLE
from permtest.null.labellings import count_tail
from permtest.null.tail import tail_tilted
from tests import naive
from tests.null import counted, law_of


def contains(bounds, exact, rounding=Fraction(1, 2**50)):
    low, high = (Fraction(p.value) for p in bounds)
    return low <= exact * (1 + rounding) and exact <= high * (1 + rounding)


@settings(max_examples=40)
@given(
    widths=st.lists(
        st.one_of(st.integers(1, 10**4), st.integers(10**17, 10**18)), min_size=1, max_size=18
    ),
    where=st.floats(0, 1),
    slack=st.sampled_from([0, 1, 300, 10**16]),
)
def test_the_exact_probability_lies_between(widths, where, slack):
    law = law_of(widths)
    t0 = round(Fraction(where) * law.top)
    low, high = tail_bracket(law, t0, slack=slack)
    far, near = (Fraction(count_tail(law, t), 2 ** len(widths)) for t in (t0 + slack, t0 - slack))
    assert contains((low, CERTAIN), far)
    assert contains((IMPOSSIBLE, high), near)


@pytest.mark.parametrize("seed", range(12))
def test_whole_numbers_of_many_shapes_by_their_polynomial(seed):
    """In some a zone of frequencies is cut short, where time runs out; the rest has no bound."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        n, most = int(rng.integers(39, 111)), int(rng.choice([50, 300, 1000]))
        shapes = (
            rng.integers(1, most, n),
            np.maximum(rng.exponential(most / 5, n).astype(int), 1),
            rng.integers(most, most + 20, n),
            2 * rng.integers(1, most, n) + (rng.random(n) < 0.1),
            np.maximum((most * rng.random(n) ** 4).astype(int), 1),
        )
        widths = shapes[int(rng.integers(len(shapes)))].tolist()
        law = law_of(widths)
        t0 = int(rng.binomial(1, rng.choice([0.5, 0.6, 0.75, 0.9]), n) @ widths) // law.unit
        width = float(rng.choice([1e-3, 1e-5, 1e-6]))
        low, high = tail_bracket(law, t0, width=width)
        assert low.log <= high.log
        assert contains((low, high), counted(law)(t0))


@pytest.mark.parametrize("sigma", [-3, 0.1, 3, 8])
@pytest.mark.parametrize("n", [120, 900])
def test_brackets_are_narrow_and_contain_what_is_known(n, sigma):
    """With some slack too, as long as that is no more than the distance to the next cell."""
    rng = np.random.default_rng(n)
    fine = rng.integers(1, 200, n)
    noise = rng.integers(0, 10**9, n)  # far too little to reach the next cell
    law = law_of((fine * 10**15 + noise).tolist())
    t0 = (int(law.top / 2 + sigma * law.deviation) // 10**15) * 10**15 - 5 * 10**14
    exact = Fraction(tail_tilted(law_of(fine), -(-t0 // 10**15)).value)
    for slack in (0, 10**10, 10**14):
        low, high = tail_bracket(law, t0, slack=slack)
        assert contains((low, high), exact, Fraction(1, 10**12))
        # On a grid that is nearly one of few cells |phi| has too many peaks for any less.
        assert 0 < high.log - low.log <= (0.01 if slack > 10**12 else 30 * WIDTH)


@pytest.mark.parametrize("n", [100, 500, 3000])
def test_continuous_widths_are_bracketed_closely(n):
    rng = np.random.default_rng(n)
    for z in (0, 1, 3):
        law = law_of([int(abs(x) * 2**50) for x in rng.normal(size=n)])
        low, high = tail_bracket(law, int(law.top / 2 + z * law.deviation))
        assert 0 <= high.log - low.log <= 1.2 * WIDTH
        slack = int(4e-7 * 2**50)  # of which one in ten millionth of p comes, not more
        far, near = tail_bracket(law, int(law.top / 2 + z * law.deviation), slack=slack)
        assert far.log <= low.log + WIDTH
        assert high.log - WIDTH <= near.log <= far.log + 1.4 * WIDTH
        wide = tail_bracket(law, int(law.top / 2 + z * law.deviation), width=1e-3)
        assert wide[0].log <= high.log
        assert low.log <= wide[1].log


def test_small_entries_alone_may_decide_beside_large_ones():
    """Three are stuck under the tilt; exp(lambda) of a cell of their size is no float."""
    law = law_of([*range(1000, 301_000, 3), *[10**8] * 3])
    low, high = tail_bracket(law, law.top - 10**8)
    assert low.log < high.log < -(10**4)


def test_counting_labellings_is_counting():
    rng = np.random.default_rng(0)
    for scale in (1, 10**9, 10**30):
        law = law_of([int(w) * scale + 1 for w in rng.integers(1, 50, 12)])
        sums = naive.subset_sums(np.repeat(law.widths, law.counts).tolist())
        for t0 in (0, 1, law.top // 3, law.top // 2, law.top, law.top + 1):
            assert count_tail(law, t0) == sum(s >= t0 for s in sums)


def test_labellings_near_the_end_are_counted_however_many_there_are_in_all():
    rng = np.random.default_rng(1)
    widths = rng.integers(10**6, 2 * 10**6, 300)
    law = law_of(widths.tolist())
    lacking = 3 * 10**6
    few = [sum(s) for s in naive.small_subsets(widths.tolist(), lacking)]
    assert count_tail(law, law.top - lacking) == len(few)
    with pytest.raises(TooHard, match="too many labellings"):
        count_tail(law, law.top // 2)
