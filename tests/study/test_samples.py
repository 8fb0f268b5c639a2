"""Samples have the properties that their specifications claim, and the pipeline finds them."""

import numpy as np
import pytest
from scipy import stats

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


@pytest.mark.parametrize("name", NAMES)
def test_the_test_of_the_mean_finds_what_is_true(name):
    """With 500 pairs the differences that there are can be found."""
    spec = SAMPLES[name]
    a, b = sample_data(name)
    p = exact_perm_test(a, b).pvalue
    assert p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=0.3, abs=0.02)
    assert (p > 0.1) if spec.mean_difference == 0 else (p < 0.01)


@pytest.mark.parametrize("name", [name for name in NAMES if "binary" not in name])
def test_the_sign_test_finds_what_is_true_of_the_median(name):
    d = np.subtract(*sample_data(name))
    p = stats.binomtest(int(np.sum(d > 0)), int(np.sum(d != 0))).pvalue
    assert (p > 0.05) if SAMPLES[name].median_difference == 0 else (p < 0.05)


def test_the_level_is_kept_where_labels_can_be_swapped():
    rng = np.random.default_rng(0)
    for name in ("data-h0-equal-beta", "data-h0-unequal-normal", "data-h0-heavy"):
        draws = [sample_data(name, 25, rng=rng) for _ in range(400)]
        a, b = (np.array(x).round(1) for x in zip(*draws, strict=True))  # which is quicker
        rejected = np.mean(exact_perm_test(a, b, axis=1).pvalue <= 0.05)
        assert rejected == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 400))


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
