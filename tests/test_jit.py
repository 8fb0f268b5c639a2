"""Kernels are compiled, or run as NumPy while that is short; both find the same."""

import os
import signal
import time
from threading import main_thread

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import permtest as pt
from permtest import _jit
from permtest._jit import compiled_or, jit
from tests.robustness.processes import check, run

#: Surroundings in which properties are tried with few examples.
FEW = os.environ | {"HYPOTHESIS_PROFILE": "few"}

machine_code = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled while lines are counted"
)


def test_without_a_folder_to_keep_machine_code_in():
    """As where package and home are read-only; here because the source has no file."""
    namespace: dict = {}
    exec("def successor(x):\n    return x + 1", namespace)
    assert jit(namespace["successor"])(4) == 5


@machine_code
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are POSIX's")
def test_a_signal_does_not_stop_the_compiler_halfway(monkeypatch, request):
    """LLVM calls Python back, and the process would die of an error there."""
    ended, compile_one = [], Dispatcher.compile
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest's workers ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, usual))

    def interrupted(*args):
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
        ended.append(compile_one(*args))
        return ended[0]

    monkeypatch.setattr(Dispatcher, "compile", interrupted)
    successor = jit(lambda x: x + 1)
    with pytest.raises(KeyboardInterrupt):
        successor(4)
    deadline = time.monotonic() + 60
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(ended) == 1
    assert successor(4) == 5


@machine_code
def test_short_work_is_numpy_until_compiled_code_is_loaded(monkeypatch):
    monkeypatch.setattr(_jit, "patience", _jit.LONG)
    called = []

    def plain(n: int) -> int:
        called.append(n)
        return n + 1

    @compiled_or(plain, lambda n: float(n))
    def successor(n: int) -> int:
        return n + 1

    assert successor(7) == 8
    assert (called, _jit.patience) == ([7], _jit.LONG)
    assert successor(10**9) == 10**9 + 1
    assert (successor(7), called, _jit.patience) == (8, [7], 0.0)


CASES = {
    "counts": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 2, (2, n))),
    "decimals": lambda rng, n: pt.exact_perm_test(*rng.random((2, n)).round(1)),
    "long decimals": lambda rng, n: pt.exact_perm_test(*rng.random((2, n)).round(3)),
    "large": lambda rng, n: pt.exact_perm_test(*rng.integers(-(10**6), 10**6, (2, n))),
    "floats": lambda rng, n: pt.exact_perm_test(*rng.random((2, n // 4 + 1))),
    "f1": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 4, (2, n, 3)), statistic="f1"),
    "dp": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 99, (2, n)), method="dp"),
    "bracket": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 999, (2, n)), method="bracket"),
    "sampled": lambda rng, n: pt.monte_carlo(*rng.integers(0, 9, (2, n)), K=5000, rng=0),
}


@machine_code
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [12, 90])
def test_a_test_has_one_answer_however_kernels_run(name, n, monkeypatch):
    found = []
    for patience in (_jit.LONG, 0.0):
        monkeypatch.setattr(_jit, "patience", patience)
        result = CASES[name](np.random.default_rng(n), n)
        ends = result.confidence_interval() if name not in ("f1", "sampled") else ()
        numbers = (result.pvalue, result.log10_pvalue, result.error_bound or 0.0, *ends)
        assert {type(x) for x in numbers} == {float}
        found.append((result, ends))
    (first, ends), (second, others) = found
    assert ends == others
    bound = 1e-9 if first.method == "bracket" else first.error_bound or 0.0
    assert first.pvalue == pytest.approx(second.pvalue, rel=bound + 1e-12)


def test_a_small_test_needs_no_numba_and_no_threads():
    check("""
import sys, permtest as pt, permtest._random
for u in ([0, 1] * 3000, [0.25, 0.5, 0.75] * 100, [[1, 0, 2], [2, 1, 0], [0, 3, 1]] * 3000):
    v = u[7:] + u[1:3] + u[:5]
    pt.exact_perm_test(u, v, statistic="f1" if isinstance(u[0], list) else "sum")
assert not {"numba", "scipy", "pandas"} & set(sys.modules)
pt._random.WORTHWHILE = 300  # seconds, as the first chunk may load Numba on a busy machine
pt.exact_perm_test([[3, 5, 4]] * 400, [2, 3, 1], axis=1)
pt.monte_carlo([1, 2, 3] * 30, [0, 1, 5] * 30, K=10_000, rng=0)
assert "joblib" not in sys.modules
""")


NULL = ("convolvers", "distribution", "multinomial_sum", "labellings")
CORE = ("tests/test_exact.py", *(f"tests/null/test_{name}.py" for name in NULL))


def test_the_core_passes_its_tests_without_numba():
    """A few examples of each property, in a process of its own."""
    code = "import pytest, sys; sys.modules['numba'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    # NumPy needs no dynamic programming where differences are uneven, and loops take seconds; so
    # do large integers, which are Python's in any case.
    slow = "auto_takes or cf or (known_answers_at_size and integer)"
    chosen = ("-k", f"not ({slow})", *CORE)
    done = run("-c", code, "-q", "-n0", "-p", "no:cacheprovider", *chosen, env=FEW)
    assert done.returncode == 0, done.stdout[-3000:]
