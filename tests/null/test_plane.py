"""The tilted tail of a ratio of two sums, against counts in integers and closed forms."""

from bisect import bisect_left
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.null.lattice import LatticeSum
from permtest.null.plane import OUTSIDE, Staircase
from permtest.null.probability import TooHard
from tests import naive


def event(u, v, whole=True, zero=Fraction(0), least=None, strict=False) -> Staircase:
    """What is observed in two tables of (hits, misses), or any other difference."""
    u, v = np.array(u, dtype=np.int64), np.array(v, dtype=np.int64)
    totals = tuple(int(x) for x in (u + v).sum(axis=0))
    found = Staircase(LatticeSum.of(u, v), totals, whole, zero, Fraction(0), strict)
    if least is None:
        mine, theirs = u.sum(axis=0).tolist(), v.sum(axis=0).tolist()
        least = found._ratio(*mine) - found._ratio(*theirs)
    return Staircase(found.lattice, totals, whole, zero, least, strict)


def counted(staircase: Staircase, u, v) -> Fraction:
    table = naive.joint_counts(list(map(tuple, u)), list(map(tuple, v)))
    hits = sum(ways for sums, ways in table.items() if staircase.reached(*sums))
    return Fraction(hits, 2 ** len(u))


def agrees(found, expected: Fraction) -> bool:
    error = abs(Fraction(found.value) - expected)
    return error <= expected * (Fraction(found.error_bound) + Fraction(2, 2**53))


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


@settings(max_examples=300)
@given(
    law=laws(),
    whole=st.booleans(),
    zero=st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]),
    strict=st.booleans(),
)
def test_tails_equal_counts_in_integers(law, whole, zero, strict):
    u, v = law
    if not whole:  # no hits without a denominator
        u, v = ([(a, i + 1 if a else i) for a, i in x] for x in (u, v))
    staircase = event(u, v, whole, zero, strict=strict)
    if staircase.lattice.rank != 2:
        return
    expected = counted(staircase, u, v)
    try:
        found = staircase.tail()
    except TooHard:
        return  # tiny laws have no bell to be tilted; others have been counted below
    assert agrees(found, expected)


def test_most_laws_are_not_too_hard():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(100):
        u, v = rng.integers(0, 4, (2, 40, 2))
        try:
            found = event(u, v).tail()
        except TooHard:
            refused += 1
            continue
        assert agrees(found, counted(event(u, v), u.tolist(), v.tolist()))
    assert refused <= 2


@pytest.mark.parametrize("entries", [30, 400, 1500])
@pytest.mark.parametrize("share", [0.5, 0.55, 0.7, 1.0])
def test_two_kinds_of_entries_have_a_closed_form(entries, share):
    """Hits that one system has and the other misses, and false alarms that one has alone."""
    n, k = entries, entries // 2
    hits, alarms = round(share * n), round((1 - share) * k)
    u = [(1, 0)] * hits + [(0, 1)] * (n - hits) + [(0, 1)] * alarms + [(0, 0)] * (k - alarms)
    v = [(0, 1)] * hits + [(1, 0)] * (n - hits) + [(0, 0)] * alarms + [(0, 1)] * (k - alarms)
    staircase = event(u, v)
    ways = [comb(n, a) for a in range(n + 1)]
    above = np.cumsum([0, *ways[::-1]], dtype=object)[::-1]
    total = 0
    for j in range(k + 1):
        reached = [staircase.reached(a, n - a + j) for a in (0, n)]
        first = 0 if reached[0] else n + 1
        if reached[1] and not reached[0]:
            key = lambda a, j=j: staircase.reached(a, n - a + j)  # noqa: E731
            first = bisect_left(range(n + 1), True, key=key)
        total += comb(k, j) * above[first]
    found = staircase.tail()
    log_p = log(int(total)) - (n + k) * log(2)
    if found.value > 1e-300:
        assert agrees(found, Fraction(int(total), 2 ** (n + k)))
    else:
        assert found.log == pytest.approx(log_p, rel=1e-12)
    assert found.error_bound <= 1e-12 * max(1.0, -log_p / 690)


def test_a_staircase_that_bends_is_less_accurate_and_says_so():
    """Hits and misses that have nothing to do with each other, and a large effect."""
    n, k, hits, misses = 400, 200, 260, 70
    u = [(1, 0)] * hits + [(0, 0)] * (n - hits) + [(0, 1)] * misses + [(0, 0)] * (k - misses)
    v = [(0, 0)] * hits + [(1, 0)] * (n - hits) + [(0, 0)] * misses + [(0, 1)] * (k - misses)
    staircase = event(u, v)
    with pytest.raises(TooHard, match="not accurate enough"):
        staircase.tail()
    found = staircase.tail(accepted=1e-6)
    table = counted_pairs(staircase, n, k)
    assert agrees(found, table)


def counted_pairs(staircase: Staircase, n: int, k: int) -> Fraction:
    ways = sum(
        comb(n, a) * comb(k, i)
        for a in range(n + 1)
        for i in range(k + 1)
        if staircase.reached(a, i)
    )
    return Fraction(ways, 2 ** (n + k))


def test_beyond_the_best_there_is_nothing():
    u, v = [(1, 0)] * 50 + [(1, 1)] * 20, [(0, 1)] * 50 + [(0, 2)] * 20
    assert event(u, v, strict=True).tail().value == 0
    assert event(v, u).tail().value == 1  # the worst is as good as all others
    u, v = [(1, 0)] * 50 + [(2, 1)] * 20, [(0, 1)] * 50 + [(0, 2)] * 20
    best = event(u, v).tail()
    assert best.log == pytest.approx(-70 * log(2), rel=1e-12)


def test_a_wider_window_is_taken_where_the_first_is_too_narrow(monkeypatch):
    seen = []
    plain = Staircase.tail

    def hits_everywhere(n):
        u, v = np.zeros((n, 2), int), np.zeros((n, 2), int)
        u[: 7 * n // 10, 0], v[: 7 * n // 10, 1], u[7 * n // 10 :, 1] = 2, 1, 1
        return u, v

    from permtest.null import plane

    class Watched(plane._Tilted):
        def __init__(self, event, rows, outside):
            seen.append(outside)
            super().__init__(event, rows, outside)

    monkeypatch.setattr(plane, "_Tilted", Watched)
    found = plain(event(*hits_everywhere(3000)), accepted=1e-6)
    assert seen[:2] == list(OUTSIDE[:2])
    assert found.log < -1000
    expected = -3000 * log(2)  # about: nearly all coins are needed
    assert abs(found.log) < abs(expected)


def test_what_would_take_long_is_refused():
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 1000, (2, 200, 2))
    with pytest.raises(TooHard, match="peaks"):
        event(u, v).tail(work=10**6)
    giants = np.array([[2**41, 0], [0, 2**41], [1, 1]])
    with pytest.raises(TooHard, match="2\\^40"):
        event(giants, giants[::-1] + 1).tail()
