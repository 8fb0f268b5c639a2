"""Sampled sums: the right law, the right bits, the same samples from the same seed."""

from collections import Counter
from functools import cache
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from permtest.null import labellings
from permtest.null.convolution import dp_cells
from permtest.null.labellings import BLOCK, LANES, sample_sums
from tests.null import law_of

WORD = 2**64 - 1


def tally(law, size, seed=8):
    cells, counts = labellings.sample_cells(law, size, np.random.default_rng(seed))
    return dict(zip(cells.tolist(), counts.tolist(), strict=True))


def xoshiro(a, b, c, d):
    """xoshiro256++ on Python integers, as Blackman and Vigna print it."""

    def rotated(x, k):
        return (x << k | x >> (64 - k)) & WORD

    while True:
        yield (rotated((a + d) & WORD, 23) + a) & WORD
        t = b << 17 & WORD
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= t
        d = rotated(d, 45)


def naive_sums(states, widths, counts, size):
    """One bit an entry, the lowest first; each sample begins with a fresh word."""
    streams = cache(lambda block, lane: xoshiro(*states[block, :, lane].tolist()))
    each = [w for w, c in zip(widths.tolist(), counts.tolist(), strict=True) for _ in range(c)]
    sums = []
    for i in range(size):
        stream = streams(i // BLOCK, i % LANES)
        words = list(islice(stream, -(-len(each) // 64)))
        bits = (word >> bit & 1 for word in words for bit in range(64))
        sums.append(sum(w for w, bit in zip(each, bits, strict=False) if bit))
    return sums


def test_the_generator_is_xoshiro256plusplus():
    """Its first outputs from the state 1, 2, 3, 4, which other implementations test too."""
    words = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    assert list(islice(xoshiro(1, 2, 3, 4), 5)) == words
    states = np.tile(np.array([[1], [2], [3], [4]], dtype=np.uint64), LANES)[np.newaxis]
    sums = np.empty(5 * LANES, dtype=np.int64)
    powers = 2 ** np.arange(63)  # so that the sum is the word without its highest bit
    sample_sums(states, powers, np.ones(63, dtype=np.int64), sums)
    assert sums[::LANES].tolist() == [word & (2**63 - 1) for word in words]


groups = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(1, 150)), max_size=5, unique_by=lambda g: g[0]
)


@pytest.mark.parametrize("kernel", [sample_sums, labellings._sample_sums])
@settings(max_examples=12)
@example(groups=[(3, 1), (5, 65), (2, 63), (7, 64), (9, 1)], size=70, seed=1)
@given(groups=groups, size=st.integers(0, 3 * LANES), seed=st.integers(0, 2**32))
def test_every_entry_gets_a_bit_of_its_own(kernel, groups, size, seed):
    widths, counts = np.array(groups, dtype=np.int64).reshape(-1, 2).T
    rng = np.random.default_rng(seed)
    states = rng.integers(0, WORD, (1, 4, LANES), dtype=np.uint64, endpoint=True)
    sums = np.empty(size, dtype=np.int64)
    kernel(states, widths, counts, sums)
    assert sums.tolist() == naive_sums(states, widths, counts, size)


LAWS = [[1] * 63, [1] * 64, [1] * 65, [1] * 5 + [3] * 130, [2, 3, 7], [*range(1, 40), 1, 1, 5]]


@pytest.mark.parametrize("widths", LAWS)
@pytest.mark.parametrize("size", [40_000, 300_001])
def test_samples_follow_the_null_law(widths, size):
    law = law_of(widths)
    seen = np.zeros(law.top + 1)
    for cell, count in tally(law, size).items():
        seen[cell] = count
    expected = dp_cells(law) * size
    assert seen[expected == 0].sum() == 0
    often = expected > 5
    observed = np.append(seen[often], seen[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    observed, wanted = observed[wanted > 0], wanted[wanted > 0]
    assert 1e-4 < chisquare(observed, wanted).pvalue < 1 - 1e-4


@pytest.mark.parametrize("size", [1, 63, 65, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 1000])
def test_any_number_of_samples(size):
    law = law_of([1] * 100 + [4] * 70)
    cells, counts = labellings.sample_cells(law, size, np.random.default_rng(0))
    assert counts.sum() == size
    assert counts.min() > 0
    assert (np.diff(cells) > 0).all()


def test_nothing_to_sample():
    assert tally(law_of([0, 0]), 7) == {0: 7}
    assert tally(law_of([0, 0]), 10**7) == {0: 10**7}


@pytest.mark.parametrize("widths", [[1] * 100 + [4] * 70, list(range(1, 300))])
@pytest.mark.parametrize("processors", [1, 2, 5])
def test_samples_do_not_depend_on_chunks_and_threads(monkeypatch, widths, processors):
    law, size = law_of(widths), 5 * BLOCK + 17
    whole = tally(law, size)
    monkeypatch.setattr("joblib._parallel_backends.cpu_count", lambda: processors)
    monkeypatch.setattr(labellings, "WORDS_AT_ONCE", 1)
    draw, sizes = labellings._draw, []
    monkeypatch.setattr(
        labellings, "_draw", lambda some, law: sizes.append(some[0]) or draw(some, law)
    )
    assert tally(law, size) == whole
    assert sorted(sizes) == [0, 17, *[BLOCK] * 5]


@pytest.mark.parametrize("size", [500, BLOCK + 500])
def test_sums_beyond_int64(size):
    """Widths in base 2^31: the same bits, with small and with huge widths of the same pattern."""
    small = tally(law_of([1, 2, 2, 5]), size, seed=1)
    scale = 10**40
    huge = tally(law_of([scale + 1, 2 * scale, 2 * scale, 5 * scale]), size, seed=1)
    rounded = Counter()
    for s, count in huge.items():
        rounded[(s + 1) // scale] += count
    assert rounded == small
    assert {s % scale for s in huge} == {0, 1}
