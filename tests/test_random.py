"""The same numbers from threads and from processes."""

import sys
import threading

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import permtest as pt
from permtest import _random
from permtest import alternatives as alt
from permtest._jit import compile_from_now_on
from permtest._random import as_generator, seeds, stream
from permtest.many import board
from permtest.null import labellings
from permtest.study import power_curve
from permtest.study.recommend import measured_rates

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module", autouse=True)
def nobody_left():
    """Workers end when these tests are over."""
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.fixture
def at_once(monkeypatch):
    """Threads are started however short the work is."""
    monkeypatch.setattr(_random, "WORTHWHILE", -1.0)
    monkeypatch.setattr("joblib._parallel_backends.cpu_count", lambda: 2)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("chunks", "options", "worthwhile", "asked"),
    [
        ([0], {}, -1.0, {}),
        (range(3), {"threads": False}, -1.0, {}),
        (range(3), {}, 1e9, {}),
        (range(3), {}, -1.0, {"n_jobs": 1}),
    ],
)
def test_who_gets_no_thread(monkeypatch, chunks, options, worthwhile, asked):
    """Short work, functions of users, and who asks for one worker."""
    monkeypatch.setattr(_random, "WORTHWHILE", worthwhile)
    with joblib.parallel_config(**asked):
        place = list(_random.in_parallel(lambda _: threading.get_ident(), chunks, **options))
    assert set(place) == {threading.get_ident()}


@pytest.mark.usefixtures("at_once")
def test_chunks_of_chunks_get_no_workers_of_their_own():
    def inner(_):
        return threading.current_thread()

    def outer(_):
        return {threading.current_thread(), *_random.in_parallel(inner, range(3))}

    assert [len(threads) for threads in _random.in_parallel(outer, range(3))] == [1, 1, 1]
    found = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(outer)(i) for i in "ab")
    assert [len(threads) for threads in found] == [1, 1]  # in workers of somebody else


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("backend", [None, "threading", "loky"])
def test_workers_keep_the_order_and_raise_what_is_raised(backend):
    def work(n, factor):
        if n * factor == 35:
            raise KeyError("chunk 7")
        return n * factor

    if backend is None:  # its threads work side by side
        both = threading.Barrier(2)
        places = list(_random.in_parallel(lambda _: both.wait(timeout=30), range(2)))
        assert sorted(places) == [0, 1]
    with joblib.parallel_config(**{"backend": backend, "n_jobs": 2} if backend else {}):
        assert list(_random.in_parallel(work, range(9), 2)) == list(range(0, 18, 2))
        with pytest.raises(KeyError, match="chunk 7"):
            list(_random.in_parallel(work, range(9), 5))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("processors", [1, 2])
def test_who_stops_early_gets_no_further_chunks(monkeypatch, processors):
    monkeypatch.setattr("joblib._parallel_backends.cpu_count", lambda: processors)
    begun = []
    found = _random.in_parallel(lambda n: begun.append(n) or n, range(10_000))
    assert next(found) == 0
    found.close()  # without a warning
    assert len(begun) < 1000


# ---- the same numbers --------------------------------------------------------------------------

A, B = RNG.integers(0, 12, (2, 300))
REAL = RNG.normal(0.05, 1, 500)
ROWS = RNG.integers(0, 9, (400, 60))
LENGTHS = RNG.integers(3, 40, 500)
SCORES = {f"s{i}": RNG.binomial(LENGTHS, 0.9) for i in range(20)}
COUNTS = {name: RNG.integers(0, 4, (300, 3)) for name in "abcdefgh"}
OF_PAIRS = ["statistic", "pvalue", "log10_pvalue", "error_bound", "n_informative", "adjusted"]


def curve() -> object:
    more = {"test": "wilcoxon_approx", "sizes": [9, 20], "experiments": 1200, "rng": 2}
    return power_curve(A, B, sizes=6, experiments=1500, rng=1), power_curve(A, B, **more)


def rates() -> object:
    tests = ["exact", "bootstrap_mean", "paired_t", "sign"]
    return measured_rates(pt.Scores.of(A, B), tests, samples=2000)


def bootstraps() -> object:
    found = [
        alt.bootstrap(REAL, 0 * REAL, rng=4),
        alt.paired_bootstrap(REAL, 0 * REAL, rng=5),
        alt.bootstrap(REAL, 0 * REAL, statistic="median", K=1000, rng=6),
    ]
    return [(r.pvalue, r.confidence_interval(0.9), r.details) for r in found]


def permutations() -> object:
    many = pt.exact_perm_test(ROWS, ROWS[:1], axis=1).pvalue.tolist()
    return many, pt.monte_carlo(A, B, K=3_000_000, rng=8)


def boards() -> object:
    """All pairs by the mean, corrected by max-T, and by F1."""
    means = pt.compare_many(SCORES, correction="max_t", K=500, rng=0)
    both = means, pt.compare_many(COUNTS, statistic="f1", correction="none", rng=0)
    return [getattr(board, name).tolist() for board in both for name in [*OF_PAIRS, "method"]]


@pytest.mark.parametrize("study", [curve, rates, bootstraps, permutations, boards])
def test_workers_make_no_difference(study, monkeypatch):
    compile_from_now_on()  # which decides about the last digit
    expected = study()
    monkeypatch.setattr(board, "MOST", 16)  # small blocks of pairs, so that there are some to share
    monkeypatch.setattr(board, "FEW", 2)
    for backend, n_jobs in (("threading", 1), ("threading", 3), ("loky", 2)):
        with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
            assert study() == expected, backend


# ---- streams -----------------------------------------------------------------------------------


def test_streams_are_those_of_spawned_generators():
    origin = seeds(as_generator(3))
    spawned = np.random.SeedSequence(origin.entropy).spawn(4)
    for part, own in enumerate(spawned):
        assert stream(origin, part).random() == np.random.default_rng(own).random()
    assert stream(origin, 3, 1).random() == np.random.default_rng(spawned[3].spawn(2)[1]).random()


# ---- progress ----------------------------------------------------------------------------------


@pytest.fixture
def bars(monkeypatch):
    """Everything is slow, and a stand-in for tqdm writes down what it was asked to show."""
    seen = []

    def tqdm(items, what, total, **how):
        seen.append((what, total, *how.values()))
        return items

    monkeypatch.setattr("tqdm.auto.tqdm", tqdm)
    monkeypatch.setattr(_random, "PATIENCE", -1.0)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    return seen


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_bar_takes_over_after_the_first_items_where_somebody_looks(bars, monkeypatch, size, seen):
    monkeypatch.setattr("sys.stderr.isatty", lambda: seen, raising=False)
    assert list(_random.progress(iter(range(size)), size, "work")) == list(range(size))
    assert bars == [("work", size, 1, False, not seen)] * (size > 1)
    bars.clear()
    monkeypatch.setattr(labellings, "WORDS_AT_ONCE", 1)
    pt.monte_carlo([1, 2, 3], [0, 1, 5], K=10**4, rng=0)
    assert [bar[:3] for bar in bars] == [("random labellings", 5, 1)]
