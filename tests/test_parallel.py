"""The same numbers from threads, from processes, and from a cluster that loses a worker."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
import psutil
import pytest
from joblib._parallel_backends import ThreadingBackend
from joblib.externals.loky import get_reusable_executor

import permtest as pt
from permtest import _parallel
from permtest import alternatives as alt
from permtest._rng import as_generator, seeds, stream
from permtest.study import power_curve, rejection_rates
from tests.clusters import killing

ROOT = Path(__file__).resolve().parents[1]
RNG = np.random.default_rng(5)


def workers() -> set[psutil.Process]:
    """Processes that this one has started, and that would compute."""
    helpers = set(psutil.Process().children())
    every = {child for helper in helpers for child in helper.children(recursive=True)}
    servers = ("resource_tracker", "forkserver")
    return every | {h for h in helpers if not any(s in "".join(h.cmdline()) for s in servers)}


@pytest.fixture(scope="module", autouse=True)
def nobody_left():
    """All workers are gone when these tests are over."""
    before = workers()
    yield
    get_reusable_executor().shutdown(wait=True)
    assert workers() <= before


def squared(number):
    return number * number


@pytest.fixture
def at_once(monkeypatch):
    """Threads are started however short the work is."""
    monkeypatch.setattr(_parallel, "WORTHWHILE", -1.0)
    monkeypatch.setattr(_parallel, "usable_processors", lambda: 2)


@pytest.mark.parametrize("worthwhile", [-1.0, 1e9])
@pytest.mark.parametrize("processors", [1, 2, 9])
@pytest.mark.parametrize("chunks", [0, 1, 2, 50])
def test_the_order_is_kept(monkeypatch, processors, chunks, worthwhile):
    monkeypatch.setattr(_parallel, "usable_processors", lambda: processors)
    monkeypatch.setattr(_parallel, "WORTHWHILE", worthwhile)
    found = _parallel.in_parallel(squared, range(chunks))
    assert list(found) == [n * n for n in range(chunks)]


@pytest.mark.usefixtures("at_once")
def test_threads_work_side_by_side():
    both = threading.Barrier(2)
    places = list(_parallel.in_parallel(lambda _: both.wait(timeout=30), range(2)))
    assert sorted(places) == [0, 1]


@pytest.mark.parametrize(
    ("chunks", "options"), [([0], {}), (range(3), {"threads": False}), (range(3), {})]
)
def test_short_work_and_functions_of_users_get_no_thread(monkeypatch, chunks, options):
    monkeypatch.setattr(_parallel, "usable_processors", lambda: 2)
    monkeypatch.setattr(_parallel, "WORTHWHILE", -1.0 if options or len(chunks) == 1 else 1e9)
    (place,) = set(_parallel.in_parallel(lambda _: threading.current_thread(), chunks, **options))
    assert place is threading.current_thread()


def test_processors_are_those_that_this_process_may_use():
    assert 1 <= _parallel.usable_processors() <= (os.cpu_count() or 1)


LAZY = """
import sys
import permtest as pt
from permtest import _parallel
_parallel.usable_processors, _parallel.WORTHWHILE = lambda: {}, 1e9
pt.exact_perm_test([[3, 5, 4]] * 400, [2, 3, 1], axis=1)
pt.monte_carlo([1, 2, 3] * 30, [0, 1, 5] * 30, K=10_000, rng=0)
assert "joblib" not in sys.modules
"""


@pytest.mark.parametrize("processors", [1, 2])
def test_short_work_does_not_import_joblib(processors):
    subprocess.run([sys.executable, "-c", LAZY.format(processors)], check=True, cwd=ROOT)


FORK = """
import os, sys
import permtest as pt
from permtest import _parallel
from permtest.null import sampling
sampling.WORDS_AT_ONCE = 1
_parallel.usable_processors, _parallel.WORTHWHILE = lambda: 2, -1.0
first = pt.monte_carlo([1, 2, 3] * 30, [0, 1, 5] * 30, rng=0)
child = os.fork()
same = pt.monte_carlo([1, 2, 3] * 30, [0, 1, 5] * 30, rng=0) == first
if child == 0:
    os._exit(0 if same else 1)
assert same and os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_it_works_in_a_forked_process():
    subprocess.run([sys.executable, "-c", FORK], check=True, cwd=ROOT, timeout=100)


@pytest.mark.usefixtures("at_once")
def test_chunks_of_chunks_get_no_workers_of_their_own():
    def inner(_):
        return threading.current_thread()

    def outer(_):
        return {threading.current_thread(), *_parallel.in_parallel(inner, range(3))}

    assert [len(threads) for threads in _parallel.in_parallel(outer, range(3))] == [1, 1, 1]
    found = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(outer)(i) for i in "ab")
    assert [len(threads) for threads in found] == [1, 1]  # in workers of somebody else


# ---- joblib ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"backend": "loky", "n_jobs": 1}])
def test_who_asks_for_one_worker_gets_no_other(options):
    with joblib.parallel_config(**options):
        (place,) = set(_parallel.in_parallel(lambda _: threading.current_thread(), range(3)))
    assert place is threading.current_thread()


class AllAtOnce(ThreadingBackend):
    """Gives its results when it has all of them."""

    supports_return_generator = False


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("backend", [None, "threading", "loky", AllAtOnce()])
def test_workers_keep_the_order_and_raise_what_is_raised(backend):
    def work(n, factor):
        if n * factor == 35:
            raise KeyError("chunk 7")
        return n * factor

    with joblib.parallel_config(**{"backend": backend, "n_jobs": 2} if backend else {}):
        assert list(_parallel.in_parallel(work, range(9), 2)) == list(range(0, 18, 2))
        with pytest.raises(KeyError, match="chunk 7"):
            list(_parallel.in_parallel(work, range(9), 5))


@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize("how", ["closed", "error"])
def test_who_stops_early_leaves_nothing_running(monkeypatch, processors, how):
    monkeypatch.setattr(_parallel, "usable_processors", lambda: processors)
    monkeypatch.setattr(_parallel, "WORTHWHILE", -1.0)
    begun = []

    def work(n):
        begun.append(n)
        if how == "error" and n == 3:
            raise ValueError("chunk 3")
        time.sleep(0.01)
        return n

    found = _parallel.in_parallel(work, range(10_000))
    if how == "closed":
        assert next(found) == 0
        found.close()  # without a warning
    else:
        with pytest.raises(ValueError, match="chunk 3"):
            list(found)
    so_far = len(begun)
    time.sleep(0.1)
    assert len(begun) <= so_far + 2 < 1000


def test_large_arrays_are_shared_with_processes():
    with joblib.parallel_config(backend="loky", n_jobs=2):
        kinds = set(_parallel.in_parallel(lambda _, x: type(x).__name__, range(4), np.ones(2**18)))
    assert kinds == {"memmap"}


def test_many_tests_of_a_few_systems_are_sent_without_repetitions():
    u, v = RNG.integers(0, 9, (60, 1, 40)), RNG.integers(0, 9, (1, 60, 40))
    result = pt.exact_perm_test(u, v, axis=2)
    sent = pickle.dumps(result)
    assert len(sent) < 2 * (u.nbytes + v.nbytes) + 5 * result.pvalue.nbytes + 20_000
    copy = pickle.loads(sent)
    assert copy[7, 9] == result[7, 9]
    assert copy.pvalue.tolist() == result.pvalue.tolist()


# ---- a cluster ---------------------------------------------------------------------------------


def test_an_error_in_a_cluster_is_raised_and_stops_the_rest(cluster):
    def work(n):
        if n == 3:
            raise ValueError("chunk 3")
        time.sleep(0.01)

    with joblib.parallel_config(backend="dask"), pytest.raises(ValueError, match="chunk 3"):
        list(_parallel.in_parallel(work, range(2000)))
    for _ in range(100):
        states = [task.state for task in cluster.scheduler.tasks.values()]
        if not {"processing", "queued", "waiting"}.intersection(states):
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"the cluster goes on: {states}")
    assert len(states) < 200


def test_what_is_shared_survives_every_worker(cluster):
    """All that hold it are killed in the middle."""
    large = np.arange(2.0**18)

    def work(n, x):
        time.sleep(0.02)
        return n + x[-1]

    with joblib.parallel_config(backend="dask"):
        found = _parallel.in_parallel(work, range(40), large)
        first = [next(found) for _ in range(5)]
        for nanny in list(cluster.workers.values()):
            os.kill(nanny.pid, signal.SIGKILL)
        assert [*first, *found] == [n + large[-1] for n in range(40)]


# ---- the same numbers --------------------------------------------------------------------------

A, B = RNG.integers(0, 12, (2, 300))
REAL = RNG.normal(0.05, 1, 500)


def poisson(rng, experiments, n):
    return rng.poisson(4, (experiments, n)), rng.poisson(4, (experiments, n))


def curve() -> object:
    by_name = power_curve(A, B, sizes=6, experiments=1500, rng=1)
    tests = {"test": lambda u, v: float(abs(u.sum() - v.sum()) < 12)}
    return by_name, power_curve(A, B, sizes=[9, 20], experiments=1200, rng=2, **tests)


def rates() -> object:
    tests = {
        "exact": "exact",
        "bootstrap": "bootstrap_mean",
        "mine": lambda u, v: u.sum() % 20 / 20,
    }
    return rejection_rates(tests, poisson, n=20, experiments=2000, rng=3, K=100)


def bootstraps() -> object:
    found = alt.bootstrap(REAL, 0 * REAL, rng=4), alt.paired_bootstrap(REAL, 0 * REAL, rng=5)
    medians = [
        alt.bootstrap(REAL, 0 * REAL, statistic="median", K=1000, rng=6),
        alt.paired_bootstrap(A, B, K=500, rng=7),
    ]
    return [(r.pvalue, r.confidence_interval(0.9), r.details) for r in (*found, *medians)]


def permutations() -> object:
    many = pt.exact_perm_test(RNG_ROWS, RNG_ROWS[:1], axis=1).pvalue.tolist()
    sampled = pt.monte_carlo(A, B, K=3_000_000, rng=8)
    return many, sampled


RNG_ROWS = RNG.integers(0, 9, (400, 60))
STUDIES: dict[str, Callable[[], object]] = {
    "curve": curve,
    "rates": rates,
    "bootstraps": bootstraps,
    "permutations": permutations,
}


@pytest.fixture(scope="module")
def expected() -> dict[str, object]:
    return {name: study() for name, study in STUDIES.items()}


@pytest.mark.parametrize("study", STUDIES)
def test_one_processor_makes_no_difference(study, expected, monkeypatch):
    monkeypatch.setattr(_parallel, "usable_processors", lambda: 1)
    assert STUDIES[study]() == expected[study]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    "options",
    [{"backend": "loky", "n_jobs": 2}, {"backend": "threading", "n_jobs": 3}],
    ids=["loky", "threading"],
)
def test_joblib_makes_no_difference(options, study, expected):
    with joblib.parallel_config(**options):
        assert STUDIES[study]() == expected[study]


@pytest.mark.usefixtures("cluster")
def test_a_cluster_makes_no_difference(expected):
    with joblib.parallel_config(backend="dask"):
        assert permutations() == expected["permutations"]


@pytest.mark.parametrize("study", ["curve", "rates", "bootstraps"])
def test_a_killed_worker_makes_no_difference(study, cluster, expected):
    with killing(cluster, after=2):
        assert STUDIES[study]() == expected[study]


# ---- streams -----------------------------------------------------------------------------------


def test_streams_are_those_of_spawned_generators():
    origin = seeds(as_generator(3))
    spawned = np.random.SeedSequence(origin.entropy).spawn(4)
    for part, other in enumerate(spawned):
        same = np.random.default_rng(other)
        assert (
            stream(origin, part).integers(2**60, size=9).tolist()
            == same.integers(2**60, size=9).tolist()
        )
    grandchild = np.random.default_rng(
        np.random.SeedSequence(origin.entropy).spawn(4)[3].spawn(2)[1]
    )
    assert stream(origin, 3, 1).random() == grandchild.random()


def test_streams_follow_the_state_of_a_generator():
    rng = np.random.default_rng(3)
    state = rng.bit_generator.state
    first, second = seeds(rng).entropy, seeds(rng).entropy
    rng.bit_generator.state = state
    assert first == seeds(rng).entropy != second
