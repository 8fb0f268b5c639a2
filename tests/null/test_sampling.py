"""Sampled sums: the right law, the right bits, the same samples from the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from permtest.null import sampling
from permtest.null.dp import dp_cells
from permtest.null.grouping import group
from permtest.null.kernels import weighted_popcounts


def law_of(widths):
    widths = np.asarray(widths)
    return group(widths, np.zeros_like(widths), 0)


def naive_sums(words, masks, weights):
    return [
        sum(int(w) * int(x & m).bit_count() for x, m, w in zip(row, masks, weights, strict=True))
        for row in words.tolist()
    ]


@settings(max_examples=100)
@given(st.integers(0, 40), st.integers(0, 5), st.integers(0, 2**32))
def test_kernel_counts_bits(rows, columns, seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64 - 1, (rows, columns), dtype=np.uint64, endpoint=True)
    masks = rng.integers(0, 2**64 - 1, columns, dtype=np.uint64, endpoint=True)
    weights = rng.integers(0, 10**6, columns)
    sums = np.empty(rows, dtype=np.int64)
    weighted_popcounts(words, masks, weights, sums)
    assert sums.tolist() == naive_sums(words, masks.tolist(), weights.tolist())


@pytest.mark.parametrize("widths", [[1] * 63, [1] * 64, [1] * 65, [1] * 5 + [3] * 130, [2, 3, 7]])
def test_samples_follow_the_null_law(widths):
    law = law_of(widths)
    size = 40_000
    seen = np.bincount(
        sampling.sample_steps(law, size, np.random.default_rng(8)), None, law.top + 1
    )
    expected = dp_cells(law) * size
    assert seen[expected == 0].sum() == 0
    often = expected > 5
    observed = np.append(seen[often], seen[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    observed, wanted = observed[wanted > 0], wanted[wanted > 0]
    assert chisquare(observed, wanted).pvalue > 1e-4


def test_samples_do_not_depend_on_the_chunks(monkeypatch):
    law = law_of([1] * 100 + [4] * 70)
    whole = sampling.sample_steps(law, 1000, np.random.default_rng(3))
    monkeypatch.setattr(sampling, "WORDS_AT_ONCE", 17)
    np.testing.assert_array_equal(sampling.sample_steps(law, 1000, np.random.default_rng(3)), whole)


def test_sums_beyond_int64():
    """Widths in base 2^31: the same bits, with small and with huge widths of the same pattern."""
    small = sampling.sample_steps(law_of([1, 2, 2, 5]), 500, np.random.default_rng(1))
    scale = 10**40
    huge = law_of(np.array([scale + 1, 2 * scale, 2 * scale, 5 * scale], dtype=object))
    sums = sampling.sample_steps(huge, 500, np.random.default_rng(1))
    assert [(s + 1) // scale for s in sums] == small.tolist()
    assert {s % scale for s in sums} == {0, 1}


def test_nothing_to_sample():
    assert sampling.sample_steps(law_of([0, 0]), 7, np.random.default_rng(0)).tolist() == [0] * 7
