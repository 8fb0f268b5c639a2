"""Ctrl-C in the middle of a computation ends it, and the process is as good as before."""

from __future__ import annotations

import sys

import pytest

from tests.robustness.processes import check

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such timers")

#: Each job is run once, small, so that everything is compiled and imported; then with much to do,
#: again and again until the signal comes, which is therefore never too late.
STOPPED = """
import signal, sys, threading, time
from contextlib import suppress
import numpy as np
import joblib, pandas               # imports, which no signal may cut
import permtest as pt
from permtest import alternatives as alt
from permtest._jit import compile_from_now_on
from permtest.study import power_curve

compile_from_now_on()               # so that the small jobs load all machine code
rng = np.random.default_rng(0)
U, V = rng.integers(0, 40, (2, 20_000))
F, G = rng.integers(0, 30, (2, 20_000, 3))
W, X = rng.integers(0, 2000, (2, 20_000))
A, B = rng.normal(size=(2, 20_000))
MANY = rng.integers(0, 30, (150, 20_000))

def board(n):
    return {f"s{i}": row[:n] for i, row in enumerate(MANY)}

JOBS = {                                    # n items, K repetitions
    "dp": lambda n, K: pt.exact_perm_test(W[:n], X[:n], method="dp"),
    "bracket": lambda n, K: pt.exact_perm_test(A[:n], B[:n]),
    "f1": lambda n, K: pt.exact_perm_test(F[:n], G[:n], statistic="f1"),
    "axis": lambda n, K: pt.exact_perm_test(np.tile(U[:n], (min(K, 500), 1)), V[:n], axis=1),
    "monte_carlo": lambda n, K: pt.monte_carlo(U[:n], V[:n], K=100 * K, rng=0),
    "bootstrap": lambda n, K: alt.bootstrap(U[:n], V[:n], K=K, rng=0),
    "paired_bootstrap": lambda n, K: alt.paired_bootstrap(U[:n], V[:n], K=K, rng=0),
    "power_curve": lambda n, K: power_curve(U[:n], V[:n], experiments=K, rng=0),
    "wilcoxon": lambda n, K: power_curve(A[:n], B[:n], test="wilcoxon", experiments=K, rng=0),
    "compare_many": lambda n, K: pt.compare_many(board(n)),
    "max_t": lambda n, K: pt.compare_many(board(n), baseline="s0", correction="max_t", K=K, rng=0),
}

def usable():
    assert pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue == 0.125
    assert pt.monte_carlo(U, V, K=999, rng=0).n_extreme == expected
    others = [x for x in threading.enumerate() if x is not threading.current_thread()]
    assert all(thread.daemon for thread in others), others
    for _ in range(300):                      # one may be at the end of its chunk
        before = time.process_time()
        time.sleep(0.1)
        if time.process_time() - before < 0.05:
            return
    raise AssertionError(f"something goes on computing: {others}")

def stopping_at(n):             # where Numba calls Python for the n-th time, to make a result
    calls = iter(range(1, n))

    def profile(frame, event, _):
        if (event, frame.f_code.co_name) == ("call", "_numba_unpickle") and not next(calls, 0):
            raise KeyboardInterrupt

    return profile

expected = pt.monte_carlo(U, V, K=999, rng=0).n_extreme
signal.signal(signal.SIGALRM, signal.default_int_handler)
sys.unraisablehook = lambda _: None  # Python drops one that comes in a destructor; another follows
for name, job in JOBS.items():
    job(500, 20)
    for n in range(1, 10):
        sys.setprofile(stopping_at(n))
        with suppress(KeyboardInterrupt):
            job(500, 20)
        sys.setprofile(None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2, 10)
        while True:
            job(20_000, 10**6)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        usable()
    print(name)
"""


def test_it_is_obeyed_and_leaves_nothing_behind():
    assert check(STOPPED).endswith("max_t\n")
