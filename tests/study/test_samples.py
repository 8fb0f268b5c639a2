"""Samples have the properties that their specifications claim, and the pipeline finds them."""

import numpy as np
import pytest

from permtest import exact_perm_test
from permtest.study import SAMPLES, sample_data

NAMES = list(SAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_means_and_medians_are_as_told(name):
    spec, n = SAMPLES[name], 200_000
    a, b = sample_data(name, n, rng=1)
    d = a - b
    assert abs(d.mean() - spec.mean_difference) < 5 * d.std() / np.sqrt(n)
    above, below = np.mean(d > spec.median_difference), np.mean(d < spec.median_difference)
    assert max(above, below) < 0.5 + 5 / np.sqrt(n) / 2 or "binary" in name
    assert np.median(d) == pytest.approx(spec.median_difference, abs=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_exact_tests_take_the_scores_as_they_are(name):
    a, b = sample_data(name, 100)
    assert np.array_equal(a, a.round(4))
    assert exact_perm_test(a, b).method != "bracket"
    assert (set(a) | set(b) <= {0, 1}) == ("binary" in name)


def test_seeds():
    first, again = sample_data("data-h0-heavy", 5, rng=4), sample_data("data-h0-heavy", 5, rng=4)
    assert np.array_equal(first, again)
    generator = np.random.default_rng(4)
    assert np.array_equal(first, sample_data("data-h0-heavy", 5, rng=generator))
    assert not np.array_equal(first, sample_data("data-h0-heavy", 5, rng=generator))


@pytest.mark.parametrize(
    ("name", "n", "error", "message"),
    [
        ("data", 5, ValueError, "name='data' is not known; choose one of 'data-h0-equal-beta', "),
        (NAMES[0], 0, ValueError, "n=0 must be at least 1"),
        (NAMES[0], 10**10, ValueError, "n=10000000000 is more than 10,000,000"),
        (NAMES[0], 1.5, TypeError, "n = 1.5 must be a whole number"),
    ],
)
def test_what_is_no_sample(name, n, error, message):
    with pytest.raises(error, match=message):
        sample_data(name, n)
