"""Of which differences there is a warning that a shift of every pair does not suit them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest.interval import shift_warning
from permtest.question import Differences


def warning(d):
    values = np.asarray(d, dtype=getattr(d, "dtype", np.int64))
    return shift_warning(Differences.of(values, np.ones(len(values), dtype=np.int64)))


@given(d=st.lists(st.integers(-5, 50), max_size=40), scale=st.sampled_from([-1, 7, 10**30]))
def test_unit_and_direction_change_no_more_than_the_sign(d, scale):
    plain, moved = warning(d), warning(np.array([scale * x for x in d], dtype=object))
    assert (plain is None) == (moved is None)


def test_it_speaks_of_the_pairs_that_the_rule_of_thumb_asks_for():
    """And says nothing of equal, few or enough differences."""
    few = [[], [3], [3] * 5, [3] * 200, [-1, 1], [1, -1] * 10 + [0] * 80, [-1] * 50]
    for d in (*few, ([-1] * 49 + [49]) * 30):
        assert warning(d) is None
    text = warning([-1] * 49 + [49])
    assert text.startswith("The differences look skewed, so an interval may not hold: for g1 =")
    assert "25 g1^2 asks for 1,176 pairs, and there are 50." in text
    assert "alternatives.bootstrap" in text


@pytest.mark.parametrize(("n", "most"), [(10, 0.03), (20, 0.03), (100, 0.01)])
def test_normal_samples_hardly_ever_look_skewed(n, most):
    rng = np.random.default_rng(n)
    d = np.rint(100 * rng.normal(size=(1000, n))).astype(np.int64)
    assert np.mean([warning(row) is not None for row in d]) <= most
