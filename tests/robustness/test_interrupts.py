"""Ctrl-C in the middle of whatever takes long: at once, and the process is as good as before."""

from __future__ import annotations

import sys

import pytest

from tests.robustness.processes import check

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such timers")

#: Seconds until the signal, and of computing after it that are allowed on each of two processors.
AFTER, ALLOWED = 0.3, 4.0

STOPPED = f"""
import signal, sys, threading, time
import numpy as np
import permtest as pt
from permtest import alternatives as alt, study

rng = np.random.default_rng(0)
U, V = rng.integers(0, 40, (2, 20_000))
FEW = U[:2000], V[:2000]
F, G = rng.integers(0, 30, (2, 4000, 3))
W, X = rng.integers(0, 2000, (2, 9000))
FLOATS = rng.normal(size=(2, 20_000))
SOME = FLOATS[:, :2000]
SYSTEMS = {{f"s{{i}}": rng.integers(0, 30, 20_000) for i in range(150)}}

def many_f1():
    for _ in range(100):
        pt.exact_perm_test(F, G, statistic="f1")

JOBS = {{
    "dp": lambda: pt.exact_perm_test(W, X, method="dp"),
    "bracket": lambda: pt.exact_perm_test(*FLOATS),
    "f1": many_f1,
    "axis": lambda: pt.exact_perm_test(np.broadcast_to(U[:500], (10**6, 500)), V[:500], axis=1),
    "monte_carlo": lambda: pt.monte_carlo(U, V, K=10**8, rng=0),
    "bootstrap": lambda: alt.bootstrap(*FEW, K=10**7, rng=0),
    "paired_bootstrap": lambda: alt.paired_bootstrap(*FEW, K=10**7, rng=0),
    "power_curve": lambda: study.power_curve(*FEW, experiments=200_000, rng=0),
    "wilcoxon": lambda: study.power_curve(*SOME, test="wilcoxon", experiments=200_000, rng=0),
    "compare_many": lambda: pt.compare_many(SYSTEMS),
    "max_t": lambda: pt.compare_many(SYSTEMS, baseline="s0", correction="max_t", K=10**6, rng=0),
    "store": lambda: pt.compare_many(SYSTEMS, store=sys.argv[1]),
}}

def usable():
    assert pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue == 0.125
    assert pt.monte_carlo([1, 2, 3] * 9, [0, 1, 5] * 9, K=999, rng=0).n_extreme == expected
    assert threading.active_count() == 1, threading.enumerate()

import pandas, pyarrow.parquet, statsmodels.stats.multitest     # which no signal may cut in two
pt.compare_all([1, 2, 3, 5], [0, 1, 1, 0], K=20)
pt.compare_many({{"a": U[:50], "b": V[:50]}}, correction="max_t", K=20, rng=0)
pt.exact_perm_test(np.array([U[:50], V[:50]] * 20), V[:50], axis=1)
pt.exact_perm_test(F[:50], G[:50], statistic="f1")
for test in ("exact", "wilcoxon"):
    study.power_curve(U[:50], V[:50], test=test, sizes=[20], experiments=20, rng=0)
expected = pt.monte_carlo([1, 2, 3] * 9, [0, 1, 5] * 9, K=999, rng=0).n_extreme
signal.signal(signal.SIGALRM, signal.default_int_handler)

for name, job in JOBS.items():
    signal.setitimer(signal.ITIMER_REAL, {AFTER})
    begun = time.process_time()
    try:
        job()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError(name + " was over too soon")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    took = time.process_time() - begun
    assert took < {ALLOWED}, f"{{name}} went on for {{took:.1f}} s"
    usable()
print("stopped")
"""


def test_it_comes_at_once_and_nothing_is_left(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    store = tmp_path / "store"
    assert check(STOPPED, str(store)) == "stopped\n"
    files = sorted(path.name for path in store.iterdir())
    assert not [name for name in files if name.startswith(".")], "a draft is left"
    for path in store.glob("*.parquet"):
        assert parquet.read_table(path).num_rows > 0
