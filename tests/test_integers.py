"""Scores with decimals are exact on their lattice; a float is the decimal that it is printed as."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import permtest as pt
from permtest.integers import in_common_units
from permtest.scores import Scores
from tests import naive
from tests.strategies import alternatives

decimals = st.integers(-300, 300).map(lambda x: x / 100)


@given(rows=st.lists(st.tuples(decimals, decimals), max_size=9), alternative=alternatives)
def test_decimals_are_as_exact_as_integers(rows, alternative):
    u, v = [a for a, _ in rows], [b for _, b in rows]
    whole = [[round(100 * x) for x in column] for column in (u, v)]
    result = pt.exact_perm_test(u, v, alternative=alternative)
    assert result.fraction() == naive.pvalue(*whole, h=naive.h_of(alternative))
    exact = Fraction(sum(whole[0]) - sum(whole[1]), 100)
    assert result.statistic == float(exact)
    assert float(result.null_distribution(result.statistic)) > 0
    assert result.to_json()
    assert result._repr_html_()


@pytest.mark.parametrize(
    ("column", "integers", "scale"),
    [
        ([0.25, 1], [25, 100], 100),
        (np.array([0.5, 0.125]), [500, 125], 1000),
        (np.float32([0.1, 0.7]), [1, 7], 10),
        ([Decimal("0.10"), Decimal(3)], [1, 30], 10),
        ([Fraction(1, 3), 2], [1, 6], 3),
        ([1e-5, 1.0], [1, 10**5], 10**5),
        ([1e30, 0.5], [2 * 10**30, 1], 2),
        ([True, 0.5], [10, 5], 10),
        ([np.float32(0.1), 0.5], [1, 5], 10),
        (["0.25", "1e-3", "12", "true", " 1/2"], [250, 1, 12_000, 1000, 500], 1000),
        (["0.1", "0.10000000000000001"], [1, 1], 10),
        ([str(2**53 + 1), "1e400"], [2**53 + 1, 10**400], 1),
        ([2.0**40, 0.5], [2**41, 1], 2),
    ],
)
def test_what_decimals_are_kept_as(column, integers, scale):
    pairs = Scores.of(column, [0] * len(column))
    assert (pairs.u.tolist(), pairs.scale) == (integers, scale)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_float_means_the_same_in_any_column(dtype):
    """Whole or not, the columns hold the decimals that are printed."""
    large = dtype(2.0 ** (np.finfo(dtype).nmant + 2) + 8)
    whole, halves = np.array([large, 1, 1], dtype), np.array([large, 0.5, 0.5], dtype)
    result = pt.exact_perm_test(whole, halves)
    assert (result.statistic, result.n_informative) == (1.0, 2)


def judges(rng, n):
    counts = rng.integers(300, 1000, (n, 3))
    return (counts / 1000).mean(axis=1), [Fraction(int(row.sum()), 3000) for row in counts]


def weighted(rng, n):
    a, b = rng.integers(0, 1000, (2, n)).tolist()
    exact = [Fraction(3 * x + 7 * y, 10_000) for x, y in zip(a, b, strict=True)]
    return 0.3 * (np.array(a) / 1000) + 0.7 * (np.array(b) / 1000), exact


def reciprocal_ranks(rng, n):
    ranks = rng.integers(1, 40, n)
    return 1 / ranks, [Fraction(1, r) for r in ranks.tolist()]


def f1_of_items(rng, n):
    hits, wrong = rng.integers(0, 30, (2, n))
    below = np.maximum(2 * hits + wrong, 1)
    exact = [Fraction(2 * k, m) for k, m in zip(hits.tolist(), below.tolist(), strict=True)]
    return 2 * hits / below, exact


def narrow_in_wide(rng, n):
    scores, exact = judges(rng, n)
    return scores.astype(np.float32).astype(np.float64), exact


FAMILIES = [judges, weighted, reciprocal_ranks, f1_of_items, narrow_in_wide]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [12, 25, 150])
def test_floats_are_the_fractions_that_they_came_from(family, n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        (u, exact_u), (v, exact_v) = family(rng, n), family(rng, n)
        pairs = Scores.of(u, v)
        assert pairs.tolerance is None
        assert [Fraction(x, pairs.scale) for x in pairs.u.tolist()] == exact_u
        assert [Fraction(x, pairs.scale) for x in pairs.v.tolist()] == exact_v


@given(
    rows=st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=6),
    divisor=st.sampled_from([1, 7, 1000, 3000, 99_991, 10**6]),
)
def test_what_a_program_computed_is_within_what_is_said(rows, divisor):
    """Two products and a quotient, each rounded: read exactly, or as near as it says."""
    u = [a / divisor * b for a, b in rows]
    (column,), scale, tolerance, _ = in_common_units([u], ["u"])
    for i, (a, b) in enumerate(rows):
        off = abs(Fraction(int(column[i]), scale) - Fraction(a * b, divisor))
        assert off <= (0 if tolerance is None else tolerance[0][i])


def test_random_numbers_are_no_fractions():
    x = np.random.default_rng(3).random(100_000)
    (column,), scale, (off,), reading = in_common_units([x], ["u"])
    assert "100000 of 100000 scores are floating-point numbers" in reading
    assert np.all(np.abs(column / scale - x) <= off)
    assert np.median(off) < 1e-15
    assert off.max() < 1e-13  # those that print like 13 digits may be such
    for column in (x, x.astype(np.float32)):
        alone = [in_common_units([column[i : i + 1]], ["u"])[2] for i in range(2000)]
        assert sum(off is None for off in alone) <= 1


@pytest.mark.parametrize("form", [str, "{:.17g}".format, "{:.18e}".format, "{:.15g}".format])
def test_text_is_what_its_numbers_are(form):
    """Python, JSON, NumPy and R print doubles in these forms, and all of them are the thirds."""
    u, v = np.random.default_rng(1).integers(0, 4, (2, 30))
    texts = [list(map(form, (x / 3).tolist())) for x in (u, v)]
    scores = Scores.of(*texts)
    assert (scores.scale, scores.reading) == (3, "scores are multiples of 1/3")
    assert (scores.u.tolist(), scores.v.tolist()) == (u.tolist(), v.tolist())


@pytest.mark.parametrize(
    "text", ["", "nan", "x", "1_0", "٣", "1/0", "--1", "1e99999", "0x1", "1,5", "5%", "1" * 1001]
)
def test_text_that_is_no_number_is_named(text):
    with pytest.raises(ValueError, match=rf"u\[1\] = {re.escape(repr(text))} is not a number"):
        Scores.of(["1", text], [0, 0])
