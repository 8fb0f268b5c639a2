"""Step-down max-T: held against its definition, the exact test of each pair, and itself."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
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


#: Items of three systems, each of which comes several times and turned around.
ITEMS = {
    "numbers": [(2, 1, 0), (0, 3, 1), (1, 0, 1)],
    "large": [(10**9 + 7, 0, 3), (5, 10**9, 0), (0, 10**8, 3)],
    "digits": [(10**17 + 1, 0, 3), (5, 10**18, 0), (0, 10**17, 10**9)],
}


@pytest.mark.parametrize("alike", [2, 100], ids=["binomial numbers", "coins"])
@pytest.mark.parametrize("kind", ITEMS)
def test_drawn_is_near_listed(kind, alike, monkeypatch):
    monkeypatch.setattr(corrections, "ALIKE", alike)
    rng = np.random.default_rng(3)
    items = [np.array(ITEMS[kind][k], dtype=object) for k in rng.integers(0, 3, 120)]
    signs = rng.choice([-1, 1], 120, p=[0.4, 0.6]).tolist()
    scores = np.transpose([x * sign for x, sign in zip(items, signs, strict=True)])
    exact, listed = corrected(scores[:, :14], K=2**14)
    drawn, again = corrected(scores[:, :14], K=2**14 - 1, rng=5)
    assert (listed, again) == (True, False)
    slack = 4.5 * np.sqrt(exact * (1 - exact) / 2**14) + 2 / 2**14
    assert (np.abs(drawn - exact) <= slack).all()
    assert exact.min() < 0.5
    pairs = list(combinations(range(3), 2))
    alone = np.array([exact_perm_test(scores[i], scores[j]).pvalue for i, j in pairs])
    slack = 4.5 * np.sqrt(alone * (1 - alone) / 10**4)
    assert (corrected(scores, K=10**4, rng=1)[0] >= alone - slack).all()


def test_p_is_never_0_and_one_labelling_is_enough():
    scores = [[9] * 40, [0] * 40, [1] * 40]
    assert corrected(scores, K=1000, rng=0)[0].tolist() == [1 / 1001] * 3
    assert corrected(scores, K=1, rng=0)[0].tolist() == [0.5] * 3


def test_kernels_and_numpy_find_the_same():
    rng = np.random.default_rng(6)
    rows, bits = rng.integers(-9, 9, (40, 150)), rng.integers(0, 256, (5, 37), dtype=np.uint8)
    sums = np.zeros((2, 37, 150), dtype=np.int64)
    corrections.add_heads(rows, bits, sums[0])
    corrections._add_heads(rows, bits, sums[1])
    assert np.array_equal(*sums)
    values, pairs = sums[0].T.astype(float), np.triu_indices(150, 1)
    weights, least = rng.random((2, pairs[0].size))
    found = [(np.zeros(pairs[0].size, dtype=np.int64), np.full(37, -np.inf)) for _ in range(2)]
    for kernel, both in zip(
        (corrections.find_maxima, corrections._find_maxima), found, strict=True
    ):
        kernel(values, *pairs, weights, 300 * least, *both)
    for x, y in zip(*found, strict=True):
        assert np.array_equal(x, y)
