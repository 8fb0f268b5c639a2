"""Many tests at once: what is counted of their scores, and their p, against integers."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from permtest import _jit
from permtest.null.convolution import ROUNDLESS
from permtest.null.distribution import TABLE, group_differences
from permtest.null.tail import Laws
from tests.null import counted


def tables():
    """Score columns of few and many entries: ties, level systems, units, wide differences."""
    rng = np.random.default_rng(5)
    few = [(1, 2), (3, 1), (7, 5), (ROUNDLESS, 3), (ROUNDLESS + 1, 3)]
    for n, high in (*few, (130, 9), (130, TABLE)):
        for scale in (1, 3):
            u, v = scale * rng.integers(0, high, (2, n)) - 4
            yield u, v
            yield v, v
            yield np.sort(u)[::-1], np.sort(v)
    yield np.minimum(np.arange(1200), 1), np.maximum(1 - np.arange(1200), 0)  # p = 1e-358 or 1


@pytest.mark.parametrize("patience", [0.0, _jit.LONG])
def test_scores_that_no_table_holds(patience, monkeypatch):
    """Differences of TABLE or more, magnitudes whose sums would wrap around, and too long tails."""
    monkeypatch.setattr(_jit, "patience", patience)  # compiled, or in NumPy
    _, *sums = group_differences(np.array([2**70, 1], dtype=object), np.array([0, 2]))
    assert sums == [2**70 + 1, 2]
    for u in ([0, TABLE], [0, TABLE - 1], [2**61, 2**61 - 5], [-(2**62), 1 - 2**62], [2**59] * 9):
        u, v = np.array([u, [0] * len(u)] if max(u) == TABLE else [u, u[::-1]])
        law, *sums = group_differences(u, v)
        first, second = u.tolist(), v.tolist()
        assert sums == [sum(first), sum(second)]
        assert law.offset == -sum(abs(a - b) for a, b in zip(first, second, strict=True))
        fits = bool(Laws.of(np.array([u, v]), *np.array([[0], [1]])).unit[0])
        assert fits == (max(abs(u - v)) < TABLE and max(map(abs, first)) * len(u) < 2**61)
    uneven = np.random.default_rng(0).integers(10**5, 10**6, 60) * (-1) ** np.arange(60)
    *_, hard = Laws.of_counts(uneven, np.ones((1, 60), dtype=np.int64)).solve("greater")
    assert hard


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("patience", [0.0, _jit.LONG])
def test_p_of_many_tests(alternative, patience, monkeypatch):
    monkeypatch.setattr(_jit, "patience", patience)
    for u, v in tables():
        if patience and np.ptp(u) > 1000:  # takes long, and ranks are as wide
            continue
        laws = Laws.of(np.array([u, v]), *np.array([[0], [1]]))
        values, differences = np.unique(u - v, return_counts=True)
        laws.counts[laws.starts[-1] :] = -(2**40)  # memory that nobody has written
        for some in (laws, Laws.of_counts(values, differences[None])):
            (p, log10, bound), few, hard = (x[..., 0] for x in some.solve(alternative))
            if max(abs(u - v)) >= TABLE and some is laws:
                assert hard
                continue
            law = group_differences(u, v)[0]
            exact, t = counted(law), (int((u - v).sum()) - law.offset) // law.unit
            above, below = exact(t), exact(law.top - t)
            one = {"greater": above, "less": below}.get(alternative, 2 * min(above, below))
            one = min(one, Fraction(1))
            assert not hard
            assert few == (law.n_informative <= ROUNDLESS)
            if one > Fraction(1, 10**300):
                assert abs(Fraction(p) - one) <= one * Fraction(bound)
            assert bound <= (1e-12 if one > Fraction(1, 10**300) else 2e-12)
            log_p = log(one.numerator) - log(one.denominator)
            assert log10 == pytest.approx(log_p / log(10), rel=1e-12, abs=1e-12)
