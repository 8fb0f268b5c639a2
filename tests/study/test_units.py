"""Evaluation units against sums over lists; samples against what is said of them."""

from fractions import Fraction
from statistics import mean, median, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest.study import SAMPLES, evaluation_units, sample_data, unit_sizes

METRICS = {"mean": mean, "median": median}
scores = st.one_of(st.integers(-9, 9), st.integers(-99, 99).map(lambda x: x / 10))
columns = st.lists(st.tuples(scores, scores), min_size=1, max_size=30)


def naive_units(values, size, metric):
    exact = [Fraction(str(x)) for x in values]
    starts = range(0, len(exact) - size + 1, size)
    return [METRICS[metric](exact[i : i + size]) for i in starts]


def exact(scores, pairs):
    return [Fraction(int(x), pairs.scale) for x in scores]


@given(columns, st.data(), st.sampled_from(list(METRICS)))
def test_units_are_what_they_say(rows, data, metric):
    a, b = [x for x, _ in rows], [y for _, y in rows]
    size = data.draw(st.integers(1, len(rows)))
    found = evaluation_units(a, b, size, metric=metric, remainder="drop")
    assert exact(found.pairs.u, found.pairs) == naive_units(a, size, metric)
    assert exact(found.pairs.v, found.pairs) == naive_units(b, size, metric)
    assert found.left_out.tolist() == list(range(len(found.pairs) * size, len(rows)))


def test_both_systems_are_shuffled_alike():
    a = np.arange(20)
    found = evaluation_units(a, a + 100, 5, rng=3).pairs
    order = np.random.default_rng(3).permutation(20)
    assert (found.u / found.scale).tolist() == a[order].reshape(4, 5).mean(axis=1).tolist()
    assert ((found.v - found.u) / found.scale).tolist() == [100] * 4
    again = evaluation_units(a, a + 100, 5, rng=np.random.default_rng(3)).pairs
    assert found.u.tolist() == again.u.tolist()


@pytest.mark.parametrize(
    ("size", "options", "error", "message"),
    [
        (4, {}, ValueError, "size=4 leaves 2 of 10 items over; .*'drop'"),
        (0, {}, ValueError, "size=0 must be at least 1: there are 10 items"),
        (11, {}, ValueError, "size=11 is more than 10: there are 10 items"),
        (2.5, {}, TypeError, "size = 2.5 must be a whole number"),
        (5, {"metric": "sum"}, ValueError, "metric='sum' is not known"),
        (5, {"remainder": "pad"}, ValueError, "remainder='pad' is not known"),
        (5, {"rng": "x"}, TypeError, "rng must be"),
    ],
)
def test_what_is_no_unit(size, options, error, message):
    with pytest.raises(error, match=message):
        evaluation_units(range(10), range(10), size, **options)


# ---- how large ----------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(scores, scores), min_size=4, max_size=30),
    st.sampled_from(list(METRICS)),
    st.floats(0, 3),
)
def test_deviations_by_lists(rows, metric, tolerance):
    a, b = [x for x, _ in rows], [y for _, y in rows]
    sizes = range(1, len(rows) // 2 + 1)
    found = unit_sizes(a, b, sizes, metric=metric, tolerance=tolerance)
    for i, size in enumerate(sizes):
        u, v = (naive_units(x, size, metric) for x in (a, b))
        gaps = [x - y for x, y in zip(u, v, strict=True)]
        assert found.sds[i] == pytest.approx(float(stdev(gaps)), abs=1e-9)
        assert found.n_units[i] == len(gaps)
    steady = [
        i + 1 for i in range(1, len(sizes)) if abs(found.sds[i] - found.sds[i - 1]) <= tolerance
    ]
    assert list(found.stable) == steady[:10]


def test_the_default_sizes_and_tolerance():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 100, (2, 3000))
    found = unit_sizes(a, b, rng=1)
    assert found.sizes.tolist() == list(range(1, 101))
    assert found.tolerance == 0.01 * found.sds[0]
    assert len(found.stable) == 10
    # Means of m independent items vary less by the root of m, for ever.
    assert found.sds * np.sqrt(found.sizes) == pytest.approx(found.sds[0], rel=0.35)
    assert str(found).startswith("Standard deviation of units of 1 to 100 items: ")
    assert unit_sizes(a[:9], b[:9]).sizes.tolist() == [1]


# ---- samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_means_and_medians_are_as_told(name):
    spec, n = SAMPLES[name], 200_000
    a, b = sample_data(name, n, rng=1)
    d = a - b
    assert abs(d.mean() - spec.mean_difference) < 5 * d.std() / np.sqrt(n)
    above, below = np.mean(d > spec.median_difference), np.mean(d < spec.median_difference)
    assert max(above, below) < 0.5 + 5 / np.sqrt(n) / 2 or "binary" in name
    assert np.median(d) == pytest.approx(spec.median_difference, abs=0.02)
