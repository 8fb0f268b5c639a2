"""Threads, forks and pools: the numbers are the serial ones."""

from __future__ import annotations

import os
import shutil
from importlib.resources import files

import pytest

from tests.robustness.processes import check

#: What several threads, or processes, do: a function of every kind of kernel.
WORK = """
import numpy as np
import permtest as pt
from permtest import alternatives as alt
from permtest._jit import compile_from_now_on

compile_from_now_on()                      # which decides about the last digit
rng = np.random.default_rng(3)
U, V = rng.integers(0, 9, (2, 300))
F, G = rng.integers(0, 5, (2, 40, 3))

def dp(): return pt.exact_perm_test(U, V, method="dp").pvalue
def tail(): return pt.exact_perm_test(U, V, method="tilted").pvalue
def cf(): return pt.exact_perm_test(F, G, statistic="f1", method="cf").pvalue
def f1(): return pt.exact_perm_test(F, G, statistic="f1").pvalue
def sampled(): return pt.monte_carlo(U, V, K=3000, rng=0).n_extreme
def many(): return pt.exact_perm_test([U, V, U], [V, U, U], axis=1).pvalue.tolist()
def board(): return pt.compare_many({"u": U, "v": V, "w": U[::-1]}).pvalue.tolist()
def ranks(): return alt.wilcoxon(U, V).pvalue
def drawn(): return alt.bootstrap(U, V, K=200, rng=0).pvalue

JOBS = [dp, tail, cf, f1, sampled, many, board, ranks, drawn]

def every(_=0):
    return [job() for job in JOBS]
"""

AT_ONCE = """
import threading
from concurrent.futures import ThreadPoolExecutor
from work import *

FEW = [dp, tail, cf, f1, ranks]            # the others take as long again to compile
start = threading.Barrier(8)

def few(_=0):
    start.wait()                           # all begin at the same moment
    return [job() for job in FEW]

with ThreadPoolExecutor(8) as pool:        # nothing has been compiled or imported yet
    first = list(pool.map(few, range(8)))
serial = [job() for job in FEW]
assert first == [serial] * 8, first
print("same")
"""

OTHERS = """
import os, signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from work import *

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:   # before any use
        before = list(pool.map(every, range(2)))
    serial = every()
    assert before == [serial] * 2
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(every, range(4))) == [serial] * 4
    if (child := os.fork()) == 0:                # after threads; a hang or a death fails too
        signal.alarm(600)
        os._exit(0 if every() == serial else 1)
    assert os.waitpid(child, 0)[1] == 0
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(every, range(1))) == [serial]
    print("same")
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threads")
    for name, code in (("work", WORK), ("at_once", AT_ONCE), ("others", OTHERS)):
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def test_eight_threads_compile_the_same_kernels_at_once(scripts, tmp_path):
    """With no machine code on disk: a copy of the package, and a folder for it that is empty."""
    shutil.copytree(files("permtest"), tmp_path / "permtest")
    cache = tmp_path / "cache"
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    told = check("-W", "error", str(scripts / "at_once.py"), env=env, root=tmp_path, cwd=tmp_path)
    assert told == "same\n"
    assert list(cache.rglob("*.nbc")), "nothing was compiled here"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_forks_and_pools(scripts):
    mute = ("-W", "ignore::DeprecationWarning")  # Python 3.12 warns of every fork beside threads
    assert check(str(scripts / "others.py"), cwd=scripts, options=mute) == "same\n"
