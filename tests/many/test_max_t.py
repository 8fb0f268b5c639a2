"""Corrections: step-down max-T beside its definition and the exact tests, others beside peers."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from permtest import exact_perm_test
from permtest.many import corrections
from permtest.many.corrections import adjusted_pvalues, max_t
from tests.strategies import SCORES


@pytest.mark.parametrize(("correction", "peer"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_statsmodels_finds_the_same(correction, peer):
    p = np.random.default_rng(0).random(5000) ** 4
    p[:100] = 5e-324
    wanted = multipletests(p, method=peer)[1]
    np.testing.assert_allclose(adjusted_pvalues(p, correction), wanted, rtol=1e-13, atol=2e-323)


def differences(scores, pairs):
    """What the first system of each pair is ahead of the second, if an item's scores are swapped.

    Under each labelling, which says of each item whether they are; in the first, none is.
    """
    return [
        [sum(s * (x - y) for s, x, y in zip(signs, scores[i], scores[j], strict=True))
         for i, j in pairs]
        for signs in product([1, -1], repeat=len(scores[0]))
    ]  # fmt: skip


def adjusted(rows):
    """Adjusted p-values, given the differences under each labelling; the first was observed.

    Westfall and Young (1993), Alg. 4.1: of the hypotheses, the one with the largest square over its
    variance is held against the maximum of all, the next against the maximum of all but that one,
    and so on. The p of a pair that never differs is 1.
    """
    squares = [[x * x for x in row] for row in rows]
    totals = [sum(column) for column in zip(*squares, strict=True)]
    values = [[Fraction(x, t or 1) for x, t in zip(row, totals, strict=True)] for row in squares]
    found = [Fraction(1)] * len(totals)
    left = [h for h, total in enumerate(totals) if total]
    least = Fraction(0)
    while left:
        best = max(left, key=lambda h: values[0][h])
        hits = sum(max(row[h] for h in left) >= values[0][best] for row in values)
        least = found[best] = max(least, Fraction(hits, len(rows)))
        left.remove(best)
    return found


def corrected(scores, K=10_000, rng=None):
    array = np.array(scores, dtype=object)
    if all(-(2**60) < x < 2**60 for x in array.ravel()):
        array = array.astype(np.int64)
    return max_t(array, *np.triu_indices(len(scores), 1), K=K, rng=np.random.default_rng(rng))


@st.composite
def boards(draw):
    """Some systems, and their scores on few items."""
    score = SCORES[draw(st.sampled_from(["binary", "small", "signed"]))]
    systems, n = draw(st.integers(2, 4)), draw(st.integers(1, 7))
    return [[draw(score) for _ in range(n)] for _ in range(systems)]


@given(boards())
@settings(max_examples=90)
def test_where_all_labellings_are_listed_it_is_the_definition(scores):
    pairs = list(combinations(range(len(scores)), 2))
    wanted = adjusted(differences(scores, pairs))
    np.testing.assert_array_equal(corrected(scores, K=200), [float(x) for x in wanted])


#: Items of three systems, each of which comes several times and turned around.
ITEMS = {
    "numbers": [(2, 1, 0), (0, 3, 1), (1, 0, 1)],
    "large": [(10**9 + 7, 0, 3), (5, 10**9, 0), (0, 10**8, 3)],
    "digits": [(10**17 + 1, 0, 3), (5, 10**18, 0), (0, 10**17, 10**9)],
}


@pytest.mark.parametrize("kind", ITEMS)
def test_drawn_is_near_listed(kind, monkeypatch):
    monkeypatch.setattr(corrections, "ITEMS", 50)  # tossed in several parts
    rng = np.random.default_rng(3)
    items = [np.array(ITEMS[kind][k], dtype=object) for k in rng.integers(0, 3, 120)]
    signs = rng.choice([-1, 1], 120, p=[0.4, 0.6]).tolist()
    scores = np.transpose([x * sign for x, sign in zip(items, signs, strict=True)])
    exact = corrected(scores[:, :14], K=2**14)
    drawn = corrected(scores[:, :14], K=2**14 - 1, rng=5)
    assert not np.array_equal(drawn, exact)
    slack = 4.5 * np.sqrt(exact * (1 - exact) / 2**14) + 2 / 2**14
    assert (np.abs(drawn - exact) <= slack).all()
    assert exact.min() < 0.5
    pairs = list(combinations(range(3), 2))
    alone = np.array([exact_perm_test(scores[i], scores[j]).pvalue for i, j in pairs])
    slack = 4.5 * np.sqrt(alone * (1 - alone) / 10**4)
    assert (corrected(scores, K=10**4, rng=1) >= alone - slack).all()


def test_p_is_never_0_and_one_labelling_is_enough():
    scores = [[9] * 40, [0] * 40, [1] * 40]
    assert corrected(scores, K=1000, rng=0).tolist() == [1 / 1001] * 3
    assert corrected(scores, K=1, rng=0).tolist() == [0.5] * 3


def test_kernels_and_numpy_find_the_same():
    rng = np.random.default_rng(6)
    values, pairs = rng.integers(-99, 99, (150, 37)).astype(float), np.triu_indices(150, 1)
    weights, least = rng.random((2, pairs[0].size))
    for found, wanted in zip(
        corrections.maxima.compiled()(values, *pairs, weights, 200 * least),
        corrections._maxima(values, *pairs, weights, 200 * least),
        strict=True,
    ):
        assert np.array_equal(found, wanted)
