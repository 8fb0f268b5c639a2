"""All pairs, past one process: the same numbers, whoever computes them and whoever dies."""

import joblib
import numpy as np
import pytest

import permtest as pt
from permtest.many import leaderboard
from tests.clusters import killing

RNG = np.random.default_rng(12)
LENGTHS = RNG.integers(3, 40, 500)
TABLE = {f"s{i}": RNG.binomial(LENGTHS, 0.9) for i in range(20)}
COUNTS = {name: RNG.integers(0, 4, (300, 3)) for name in "abcdefgh"}
ARRAYS = ("statistic", "pvalue", "log10_pvalue", "error_bound", "n_informative", "adjusted")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(leaderboard, "MOST", 16)
    monkeypatch.setattr(leaderboard, "LEAST", 2)


def boards():
    """All pairs by the mean, and by F1; the first corrected by max-T."""
    first = pt.compare_many(TABLE, correction="max_t", K=500, rng=0)
    return first, pt.compare_many(COUNTS, statistic="f1", correction="none", rng=0)


@pytest.fixture(scope="module")
def expected():
    return boards()


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        for name in ARRAYS:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert one.method.tolist() == other.method.tolist()


@pytest.mark.parametrize("options", [{"backend": "threading"}, {"backend": "loky"}])
def test_workers_make_no_difference(options, expected):
    with joblib.parallel_config(**options, n_jobs=2):
        assert_same(boards(), expected)


def test_a_killed_worker_makes_no_difference(cluster, expected):
    with killing(cluster, after=5):
        assert_same(boards(), expected)
