"""The tilted tail of a ratio of two sums, against counts in integers and closed forms."""

from contextlib import suppress
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from permtest._errors import TooHard
from permtest.null import ratio_tail
from permtest.null.lattice import LatticeSum
from permtest.null.ratio_tail import Staircase
from tests import naive


def event(u, v, strict=False) -> Staircase:
    """What is observed in two tables of (hits, misses)."""
    u, v = np.array(u, dtype=np.int64), np.array(v, dtype=np.int64)
    both = (x.sum(axis=0).tolist() for x in (u, v))
    mine, theirs = (Fraction(a, a + i) if a + i else Fraction(0) for a, i in both)
    totals = tuple(int(x) for x in (u + v).sum(axis=0))
    return Staircase(LatticeSum.of(u, v), totals, mine - theirs, strict)


def joint_counts(u, v):
    return naive.joint_counts([*map(tuple, u)], [*map(tuple, v)])


def counted(staircase: Staircase, u, v) -> Fraction:
    hits = sum(ways for sums, ways in joint_counts(u, v).items() if staircase.reached(*sums))
    return Fraction(hits, 2 ** len(u))


def agrees(found, expected: Fraction) -> bool:
    return abs(Fraction(found.value) - expected) <= expected * Fraction(found.error_bound)


def assert_between(p: Fraction, low, high) -> None:
    least, most = (Fraction(x.value) for x in (low, high))
    assert least * (1 - Fraction(low.error_bound)) <= p <= most * (1 + Fraction(high.error_bound))


def spans(n: int, seed: int, first: float, second: float, shared: bool = False):
    """Hits and misses of two systems on sentences of 1 to 12 gold spans, by their rates of errors.

    Where they share errors, the second system makes those of the first, and more.
    """
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 13, n)
    hits, alarms = rng.binomial(gold, 1 - first), rng.poisson(first * gold)
    if shared:
        fewer = rng.binomial(hits, (1 - second) / (1 - first))
        more = alarms + rng.poisson((second - first) * gold)
    else:
        fewer, more = rng.binomial(gold, 1 - second), rng.poisson(second * gold)
    return tuple(
        np.stack([2 * x, y + gold - x], axis=1) for x, y in ((hits, alarms), (fewer, more))
    )


@st.composite
def laws(draw):
    """Few kinds of entries, each often enough for a bell; hits and misses of both systems."""
    largest = draw(st.sampled_from([1, 2, 5]))
    count = st.integers(0, largest)
    kinds = draw(st.integers(2, 4))
    u, v = [], []
    for _ in range(kinds):
        times = draw(st.integers(1, 12))
        u += [(draw(count), draw(count))] * times
        v += [(draw(count), draw(count))] * times
    return u, v


#: The one row that matters besides that of the observed labelling has neighbours out of reach.
BETWEEN_ROWS = [(1, 0), *[(1, 1)] * 11, (0, 0)], [*[(0, 0)] * 12, (0, 2)]
#: Beyond the difference is only that one system has all hits and misses, and the other nothing.
ALL = [(5, 0), (9, 0), (0, 0), (2, 0)], [(0, 0), (0, 0), (9, 8), (0, 0)]


@settings(max_examples=80)
@given(law=laws(), strict=st.booleans())
@example(law=BETWEEN_ROWS, strict=False)
@example(law=BETWEEN_ROWS, strict=True)
@example(law=ALL, strict=True)
def test_tails_equal_counts_in_integers(law, strict):
    u, v = law
    staircase = event(u, v, strict=strict)
    if staircase.lattice.rank != 2:
        return
    try:
        found = staircase.tail()
    except TooHard:  # where no tilt puts the mass: dynamic programming finds p of so few entries
        reject()
    expected = counted(staircase, u, v)
    assert agrees(found, expected)
    assert found.error_bound <= 1e-12
    if staircase.least > 0:
        for way in (ratio_tail.by_cells, ratio_tail.by_frequencies):
            with suppress(TooHard):
                found = way(staircase._tilted)
                assert agrees(found, expected) or found.error_bound > 1e-12
    assert_between(expected, *staircase.bracket())


def test_weights_that_were_cut_off_make_no_tail():
    """Rows far from the mean had so much weight that the sum was off by more than its bound."""
    tilted = ratio_tail._Tilted(event([(1, 1)] * 30 + [(7, 0)] * 2, [(0, 0)] * 32))
    with pytest.raises(TooHard, match="far from where a tilt puts the mass"):
        ratio_tail.by_frequencies(tilted)


SENTENCES = [(100, 0.1, 0), (100, 0.2, 0), (100, 0.9, 0), (250, 0.15, 0)]


@pytest.mark.parametrize(
    ("n", "second", "shared"), [*SENTENCES, (300, 0.2, 1), (1000, 0.11, 1), (1000, 0.13, 1)]
)
def test_sentences_with_any_gap_between_systems(n, second, shared):
    """p from 1/2 to 2^-N', against counts in integers."""
    u, v = spans(n, n, 0.1, second, shared)
    staircase = event(u, v)
    if staircase.least < 0:
        staircase = event(v, u)
    expected = naive.staircase_pvalue(u.tolist(), v.tolist(), staircase.reached)
    found = staircase.tail()
    assert agrees(found, expected)
    assert found.error_bound <= 1e-12
    low, high = staircase.bracket()
    assert_between(expected, low, high)
    assert high.log + high.error_bound - low.log < 0.07


@pytest.mark.parametrize(
    ("n", "first", "second", "shared"),
    [(1000, 0.105, 0.22, 0), (1000, 0.105, 0.29, 0), (3000, 0.11, 0.38, 0), (3000, 0.1, 0.5, 1)],
)
def test_clear_winners_are_exact(n, first, second, shared):
    """F1 of .89 against .78 to .5: two ways that share no law agree; p is 1e-100 to 1e-850."""
    staircase = event(*spans(n, 1, first, second, shared))
    found, tilted = staircase.tail(), ratio_tail._Tilted(staircase)
    assert found.error_bound <= 1e-12 * max(1.0, -found.log / 690)
    other = ratio_tail.by_frequencies(tilted, 1e10)
    assert found.log == pytest.approx(other.log, rel=1e-12, abs=0)
    low, high = staircase.bracket()
    assert low.log <= found.log <= high.log + high.error_bound < low.log + 0.2


def test_far_below_the_smallest_float():
    """All but the last few labellings are out of reach, each with a closed form."""
    n = 3000
    u, v = np.zeros((n, 2), dtype=int), np.zeros((n, 2), dtype=int)
    u[:, 0], v[:, 1] = 2, 1
    u[n // 2 :, 0] = 4
    best = event(u, v).tail()
    assert best.log == pytest.approx(-n * log(2), rel=1e-13)
    v[0], u[0] = u[0], v[0].copy()  # one pair of the lesser kind the other way round
    second = event(u, v).tail()
    assert second.log == pytest.approx(-n * log(2) + log(1 + n // 2), rel=1e-13)


def test_beyond_the_best_there_is_nothing():
    u, v = [(1, 0)] * 50 + [(2, 1)] * 20, [(0, 1)] * 50 + [(0, 2)] * 20
    assert event(u, v, strict=True).tail().value == 0
    assert event(v, u).tail().value == 1  # the worst is as good as all others
    best = event(u, v).tail()
    assert best.log == pytest.approx(-70 * log(2), rel=1e-12)


def test_what_would_take_long_is_refused_and_bounded():
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 3 * 10**4, (2, 60, 2))
    u[:, 0] += 15 * 10**3
    staircase = event(u, v)
    with pytest.raises(TooHard, match="peaks"):
        staircase.tail()
    low, high = staircase.bracket()
    assert -15.5 < low.log < high.log < low.log + 0.9
    giants = np.array([[2**41, 0], [0, 2**41], [1, 1]])
    with pytest.raises(TooHard, match="2\\^40"):
        event(giants, giants[::-1] + 1).tail()


@given(
    terms=st.lists(st.tuples(st.integers(0, 10**6), st.floats(-40, 40)), min_size=1, max_size=20)
)
def test_products_with_whole_numbers_are_added_up_with_one_rounding(terms):
    counts, floats = (np.array(x, dtype=np.float64) for x in zip(*terms, strict=True))
    exact = sum(Fraction(c) * Fraction(x) for c, x in terms)
    off = abs(Fraction(float(ratio_tail._dot(counts, floats))) - exact)
    largest = counts.sum() * np.abs(floats).max()
    assert off <= abs(exact) / 2**52 + Fraction(largest) / 2**70
