"""Kernels are compiled, or run in Python while that is short; both find the same."""

import os

import numpy as np
import pytest

import permtest as pt
from permtest import _jit
from permtest._jit import jit, python_first
from permtest.integers import find_decimals, find_fractions
from permtest.many import corrections
from permtest.null import bracket, sampling, tail
from permtest.null.convolution import add_steps
from permtest.null.distribution import group_differences
from permtest.null.tail import TiltedLaw, tilt_towards
from permtest.null.tail_kernels import tail_sum
from tests.robustness.processes import check, run

#: Surroundings in which properties are tried with few examples.
FEW = os.environ | {"HYPOTHESIS_PROFILE": "few"}

machine_code = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled while lines are counted"
)


@pytest.fixture
def turns(monkeypatch):
    """How many turns are left, which can be set."""
    left = [0]
    monkeypatch.setattr(_jit, "_budget", left)
    return left


def test_a_kernel_is_compiled_at_its_first_call():
    @jit
    def double(x: int) -> int:
        """Twice x."""
        return 2 * x

    assert double(4) == 8
    assert (double.__name__, double.__doc__) == ("double", "Twice x.")


def test_without_a_folder_to_keep_machine_code_in():
    """As where package and home are read-only; here because the source has no file."""
    namespace: dict = {}
    exec("def successor(x):\n    return x + 1", namespace)
    assert jit(namespace["successor"])(4) == 5


def test_an_interrupt_inside_a_call_of_numba_is_one(monkeypatch):
    """It comes wrapped in an error of each call that it went through."""

    def stopped():
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise SystemError("unpickled") from error
        except SystemError as error:
            raise SystemError("called") from error

    monkeypatch.setattr("numba.njit", lambda **_: lambda _: stopped)
    with pytest.raises(KeyboardInterrupt):
        jit(lambda: None)()


def test_a_short_kernel_runs_in_python_and_a_long_one_is_compiled(turns):
    @python_first
    def total(n: int) -> float:
        done = 0.0
        for i in range(n):
            done += np.sqrt(float(i))
        return done

    turns[0] = 10
    first, compiled = total(6), vars(total)["compiled"].cache_info
    assert (turns, compiled().currsize) == ([4], 0)
    assert total(6) == first
    assert (turns, compiled().currsize) == ([0], 1)


def draws(rng, kernel):
    """Arguments for a kernel; arrays are copied for each call."""
    n = int(rng.integers(0, 30))
    widths = np.sort(rng.integers(1, 10 ** rng.integers(1, 4), n))
    if kernel is add_steps:
        shares, pad = rng.random(n), int(widths.max(initial=0))
        tables = np.zeros((2, pad + int(rng.integers(1, widths.sum() + 3))))
        tables[0, pad] = 1.0
        return (widths, rng.integers(1, 4, n), shares, 1 - shares), 1, pad, *tables
    scores = (rng.random(n + 1) - 0.5) * 10.0 ** rng.integers(-9, 18, n + 1)
    scores = np.where(rng.random(n + 1) < 0.5, scores, scores.round(int(rng.integers(0, 5))))
    if kernel is find_decimals:
        single = bool(rng.integers(0, 2))
        return np.float64(np.float32(scores)) if single else scores, single, 1e9 if single else 1e15
    if kernel is find_fractions:
        scores = rng.integers(-99, 99, n + 1) / rng.integers(1, 99, n + 1)
        return scores, np.spacing(np.abs(scores)), float(rng.choice([0.0, 1e-3]))
    widths, counts = np.unique(np.append(widths, 1), return_counts=True)
    top = int(widths @ counts)
    law, window = tilt_towards(widths, counts, top, int(rng.integers(top // 2, top)) + 1)
    if kernel is tilt_towards:
        return widths, counts, top, top // 2 + 1
    return TiltedLaw(*law), window, 10**9, np.array([[1, window.m // 2]]), 0.0


def parts(found):
    """The numbers in what a kernel returns, with their types."""
    if isinstance(found, tuple):
        return [x for part in found for x in parts(part)]
    return [found.dtype, found.tolist()] if isinstance(found, np.ndarray) else [type(found), found]


KERNELS = (add_steps, find_decimals, find_fractions, tail_sum, tilt_towards)


@machine_code
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_python_finds_what_machine_code_finds(kernel, turns):
    rng = np.random.default_rng(5)
    for _ in range(50):
        args, found = draws(rng, kernel), []
        for turns[0] in (10_000, 0):
            own = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
            result = kernel(*own)
            if kernel is add_steps:  # the law is in one of its two tables
                result = own[4] if result[0] else own[3], result[1]
            found.append(parts(result))
        assert found[0] == found[1]


def arguments(name, rng):
    """Arguments for a kernel in whose place NumPy works without Numba."""
    n, blocks = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    widths, counts = rng.integers(1, 10**6, n), rng.integers(1, 200, n)
    if name == "sample_sums":
        states = rng.integers(0, 2**64 - 1, (blocks, 4, sampling.LANES), dtype=np.uint64)
        return states, widths, counts, np.zeros(blocks * sampling.BLOCK - 77, dtype=np.int64)
    if name == "add_heads":
        bits = rng.integers(0, 256, (n, 300), dtype=np.uint8)
        return rng.random((8 * n, 150)), bits, np.zeros((300, 150))
    lengths = widths / widths.max()
    if name == "phis":
        return np.sort(rng.integers(1, 10**5, 100)), 40.0, lengths, counts % 12, rng.random(n)
    turn = np.outer(1 + np.arange(blocks), lengths) * rng.random()
    return turn, np.outer(lengths, np.linspace(0, 2, bracket.BLOCK)), rng.random((3, n)) / n


@machine_code
@pytest.mark.parametrize(
    ("module", "name", "off"),
    [
        (sampling, "sample_sums", 0.0),
        (corrections, "add_heads", 0.0),
        (bracket, "phis", 1e-10),
        (bracket, "cosines", 1e-5),
    ],
)
def test_numpy_finds_what_machine_code_finds(module, name, off):
    rng = np.random.default_rng(7)
    for _ in range(20):
        args, found = arguments(name, rng), []
        for kernel in (getattr(module, name), getattr(module, f"_{name}")):
            own = [*args[:-1], args[-1].copy()]
            result = kernel(*own)
            found.append(own[-1] if result is None else np.concatenate(result, axis=None))
        assert np.all(np.abs(found[0] - found[1]) <= off)


@machine_code
def test_tails_are_the_same_without_numba(monkeypatch):
    """Those of sums of many-point variables, of which two-point ones are a case."""
    rng = np.random.default_rng(8)
    for widest, n in ((2, 5000), (13, 300), (13, 10**5), (200, 1000), (1000, 90)):
        law, _ = group_differences(*rng.integers(0, widest, (2, n)))
        for deviations in (-3, 0.2, 2, 9, 25):
            t0 = int(min(law.top / 2 + deviations * law.deviation, law.top - 1))
            found = []
            for numba in (True, False):
                monkeypatch.setattr(tail, "NUMBA", numba)
                found.append(tail.tail_tilted(law, t0))
            bound = sum(p.error_bound for p in found)
            assert abs(found[0].value / found[1].value - 1) <= bound + 3e-16
            assert bound < 1e-12


def test_what_is_missing_is_said_once(monkeypatch):
    monkeypatch.setattr(_jit, "NUMBA", False)
    monkeypatch.setattr(_jit, "_spent", [0.0])
    monkeypatch.setattr(_jit, "LONG", 1e-9)
    kernel = jit(lambda n: sum(range(n)))
    with pytest.warns(RuntimeWarning, match="Numba is not installed") as caught:
        assert [kernel(1000), kernel(1000)] == [499500] * 2
    assert len(caught) == 1


CASES = {
    "counts": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 2, (2, n))),
    "decimals": lambda rng, n: pt.exact_perm_test(*rng.random((2, n)).round(1)),
    "long decimals": lambda rng, n: pt.exact_perm_test(*rng.random((2, n)).round(3)),
    "large": lambda rng, n: pt.exact_perm_test(*rng.integers(-(10**6), 10**6, (2, n))),
    "floats": lambda rng, n: pt.exact_perm_test(*rng.random((2, n // 4 + 1))),
    "f1": lambda rng, n: pt.exact_perm_test(*rng.integers(0, 4, (2, n, 3)), statistic="f1"),
}


@machine_code
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [12, 90])
def test_a_test_has_one_answer_however_kernels_run(name, n, turns):
    found = []
    for turns[0] in (50_000, 0):
        result = CASES[name](np.random.default_rng(n), n)
        ends = result.confidence_interval() if name != "f1" else ()
        numbers = (result.pvalue, result.log10_pvalue, result.error_bound, *ends)
        assert {type(x) for x in numbers} == {float}
        found.append((numbers, result.method))
    assert found[0] == found[1]


def test_a_small_test_needs_no_numba():
    check("""
import sys, permtest as pt
for u in ([0, 1] * 150, [0.25, 0.5, 0.75] * 100, [[1, 0, 2], [2, 1, 0], [0, 3, 1]] * 20):
    v = u[7:] + u[1:3] + u[:5]
    pt.exact_perm_test(u, v, statistic="f1" if isinstance(u[0], list) else "sum")
assert not {"numba", "scipy", "pandas"} & set(sys.modules)
""")


NULL = ("convolvers", "distribution", "many_point", "sampling")
CORE = ("tests/test_exact.py", *(f"tests/null/test_{name}.py" for name in NULL))


def test_the_core_passes_its_tests_without_numba():
    """A few examples of each property, in a process of its own."""
    code = "import pytest, sys; sys.modules['numba'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    # NumPy needs no dynamic programming where differences are uneven, and loops take seconds; so
    # do large integers, which are Python's in any case.
    patient = ("-W", "ignore:Numba is not installed")
    slow = "auto_takes or cf or (known_answers_at_size and integer)"
    chosen = ("-k", f"not ({slow})", *CORE)
    done = run("-c", code, "-q", "-n0", "-p", "no:cacheprovider", *patient, *chosen, env=FEW)
    assert done.returncode == 0, done.stdout[-3000:]
