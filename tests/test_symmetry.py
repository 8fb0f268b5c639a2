"""Of which differences there is a warning that they are not symmetric."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skew

from permtest.interval import skewness, symmetry_warning


def warning(d):
    return symmetry_warning(*np.unique(np.asarray(d), return_counts=True))


@given(d=st.lists(st.integers(-50, 50), min_size=2, max_size=30))
def test_skewness_is_that_of_scipy(d):
    found = skewness(*np.unique(d, return_counts=True))
    expected = skew(d) if len(set(d)) > 1 else 0.0
    assert found == pytest.approx(expected, abs=1e-9)


@given(d=st.lists(st.integers(-5, 50), max_size=40), scale=st.sampled_from([-1, 7, 10**30]))
def test_unit_and_direction_change_no_more_than_the_sign(d, scale):
    plain, moved = warning(d), warning(np.array([scale * x for x in d], dtype=object))
    assert (plain is None) == (moved is None)


@pytest.mark.parametrize(
    "d", [[], [3], [3] * 5, [3] * 200, [-1, 1], [-1] * 50, ([-1] * 49 + [49]) * 30]
)
def test_nothing_is_said_of_equal_few_or_many_differences(d):
    assert warning(d) is None


def test_it_speaks_of_the_pairs_that_the_rule_of_thumb_asks_for():
    text = warning([-1] * 49 + [49])
    assert text.startswith("The differences look skewed: for g1 = 6.9, the rule")
    assert "25 g1^2 asks for 1,176 pairs, and there are 50." in text
    assert "alternatives.bootstrap" in text


def test_right_or_wrong_answers_to_hundreds_of_items():
    rng = np.random.default_rng(4)
    for n in (200, 500, 1000):
        d = 1 * (rng.random((200, n)) < 0.9) - 1 * (rng.random((200, n)) < 0.85)
        assert all(warning(row) is None for row in d)


@pytest.mark.parametrize(("n", "most"), [(10, 0.03), (20, 0.03), (100, 0.01)])
def test_normal_samples_hardly_ever_look_skewed(n, most):
    rng = np.random.default_rng(n)
    d = np.rint(100 * rng.normal(size=(1000, n))).astype(np.int64)
    assert np.mean([warning(row) is not None for row in d]) <= most
