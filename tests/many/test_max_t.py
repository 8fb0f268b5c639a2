"""Step-down max-T: held against its definition, the exact test of each pair, and itself."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import compare_many, exact_perm_test
from permtest.many import corrections
from permtest.many.corrections import max_t
from tests.many import naive_max_t as naive
from tests.strategies import SCORES


def every_pair(scores):
    return np.triu_indices(len(scores), 1)


def corrected(scores, K=10_000, rng=None):
    array = np.array(scores, dtype=object)
    if all(-(2**60) < x < 2**60 for x in array.ravel()):
        array = array.astype(np.int64)
    return max_t(array, *every_pair(scores), K=K, rng=np.random.default_rng(rng))


def of(fractions):
    return np.array([float(x) for x in fractions])


@st.composite
def boards(draw, score, most=7):
    """Some systems, and their scores on few items."""
    systems, n = draw(st.integers(2, 4)), draw(st.integers(1, most))
    return [[draw(score) for _ in range(n)] for _ in range(systems)]


def numbers(*kinds):
    """Boards of scores of one kind."""
    return st.sampled_from(kinds).flatmap(lambda kind: boards(SCORES[kind]))


# ---- where all labellings are listed -----------------------------------------------------------


@given(numbers("binary", "small", "signed"))
@settings(max_examples=90)
def test_listed_is_the_definition(scores):
    adjusted, listed = corrected(scores, K=200)
    pairs = list(combinations(range(len(scores)), 2))
    assert listed
    np.testing.assert_array_equal(adjusted, of(naive.adjusted(naive.differences(scores, pairs))))


@settings(max_examples=60)
@given(numbers("binary", "small", "huge"))
def test_no_pair_gains_by_the_others(scores):
    found = corrected(scores, K=128)[0]
    for (i, j), p in zip(combinations(range(len(scores)), 2), found.tolist(), strict=True):
        alone = exact_perm_test(scores[i], scores[j]).fraction()
        assert p >= alone * (1 - Fraction(1, 10**15))


def test_nothing_differs():
    assert corrected([[1, 2, 3]] * 3)[0].tolist() == [1, 1, 1]
    assert corrected([[], []])[0].tolist() == [1]


# ---- where labellings are drawn ----------------------------------------------------------------


def items_of(groups):
    """Scores of three systems: `plus` items with a row, and `minus` with its negative."""
    columns = [row for row, plus, _ in groups for _ in range(plus)]
    columns += [tuple(-x for x in row) for row, _, minus in groups for _ in range(minus)]
    return np.transpose(columns).tolist()


def law_of(groups, pairs):
    """Differences under each number of items that keep their sign, how often, and the observed."""
    rows, weights, seen = [], [], None
    for heads in product(*(range(p + m + 1) for _, p, m in groups)):
        signs = [2 * h - p - m for h, (_, p, m) in zip(heads, groups, strict=True)]
        total = [sum(s * x[i] for s, (x, *_) in zip(signs, groups, strict=True)) for i in range(3)]
        if list(heads) == [p for _, p, _ in groups]:
            seen = len(rows)
        rows.append([total[i] - total[j] for i, j in pairs])
        weights.append(1)
        for h, (_, p, m) in zip(heads, groups, strict=True):
            weights[-1] *= comb(p + m, h)
    return rows, weights, seen


GROUPS = {
    "coins": [((2, 1, 0), 12, 6), ((0, 3, 1), 9, 5), ((1, 0, 1), 3, 8)],
    "numbers": [((1, 0, 0), 75, 50), ((0, 0, 1), 8, 4), ((0, 1, 0), 3, 1)],
    "both": [((10**9 + 7, 0, 3), 66, 43), ((5, 10**9, 0), 7, 3), ((0, 10**8, 3), 1, 4)],
    "digits": [((10**17 + 1, 0, 3), 9, 2), ((5, 10**18, 0), 4, 8), ((0, 10**17, 10**9), 1, 6)],
}


@pytest.mark.parametrize("kind", GROUPS)
def test_sampled_is_near_the_exact_p(kind):
    K = 20_000
    rows, weights, seen = law_of(GROUPS[kind], [(0, 1), (0, 2), (1, 2)])
    exact = of(naive.adjusted(rows, weights, seen))
    found, listed = corrected(items_of(GROUPS[kind]), K=K, rng=5)
    assert not listed
    # Each p is a share of labellings, its own or that of a hypothesis before it.
    slack = 4.5 * np.sqrt(exact * (1 - exact) / K) + 2 / K
    assert (np.abs(found - exact) <= slack).all()
    assert exact.min() < 0.5


def test_p_is_never_0_and_one_labelling_is_enough():
    scores = [[9] * 40, [0] * 40, [1] * 40]
    assert corrected(scores, K=1000, rng=0)[0].tolist() == [1 / 1001] * 3
    assert corrected(scores, K=1, rng=0)[0].tolist() == [0.5] * 3


# ---- what makes no difference ------------------------------------------------------------------


@pytest.mark.parametrize("K", [64, 2000])
def test_only_differences_count(K):
    rng = np.random.default_rng(9)
    scores = rng.integers(0, 7, (4, 6 if K == 64 else 200))
    plain = corrected(scores, K=K, rng=0)[0]
    easier = corrected(scores + rng.integers(-99, 99, scores.shape[1]), K=K, rng=0)[0]
    assert np.array_equal(plain, easier)
    assert np.array_equal(plain, corrected(3 * scores, K=K, rng=0)[0])
    assert np.array_equal(plain, corrected(-scores, K=K, rng=0)[0])


def test_clusters_are_turned_as_a_whole():
    scores, labels = np.random.default_rng(3).integers(0, 7, (3, 12)), np.repeat(range(4), 3)
    table = dict(zip("abc", scores, strict=True))
    found = compare_many(table, clusters=labels, correction="max_t", K=100)
    assert not found.sampled
    folded = corrected(scores.reshape(3, 4, 3).sum(axis=2), K=16)
    assert np.array_equal(found.adjusted, folded[0])


def test_kernels_and_numpy_find_the_same():
    rng = np.random.default_rng(6)
    rows, bits = rng.integers(-9, 9, (40, 150)), rng.integers(0, 256, (5, 37), dtype=np.uint8)
    sums = np.zeros((2, 37, 150), dtype=np.int64)
    corrections.add_heads(rows, bits, sums[0])
    corrections._add_heads(rows, bits, sums[1])
    assert np.array_equal(*sums)
    values, pairs = sums[0].T.astype(float), np.triu_indices(150, 1)
    weights, least = rng.random((2, pairs[0].size))
    how = values, *pairs, weights, 300 * least
    for found, wanted in zip(corrections.maxima(*how), corrections._maxima(*how), strict=True):
        assert np.array_equal(found, wanted)
