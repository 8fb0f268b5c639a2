"""Run the tests with nothing compiled, and list the lines that none of them reaches.

    python tools/cover.py

Compiled kernels cannot be watched, so that Numba is switched off. Loops are some hundred times
slower then: properties are tried with few examples, and a test that takes too long is cut off,
which the summary counts as skipped; what it had reached by then counts. Notebooks, the browser,
benchmarks and faults, which are about time and other processes, are left out. The pages go to
build/coverage.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 3  # seconds of a processor for a test
LEFT_OUT = ("tests/robustness", "tests/test_benchmarks.py", "tests/test_notebooks.py")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Cut a long test off: pytest takes this file for a plugin."""
    reason, signals = f"cut off after {LONGEST} s", []

    def cut_off(*_: object) -> None:
        signals.append(reason)
        pytest.skip(reason)

    if not hasattr(signal, "SIGPROF"):  # Windows waits
        return (yield)
    signal.signal(signal.SIGPROF, cut_off)
    signal.setitimer(signal.ITIMER_PROF, LONGEST, 0.1)  # again, where something swallows it
    try:
        return (yield)
    except Exception:
        if signals:  # it is a consequence
            pytest.skip(reason)
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "cover", "-r", "fE"]
    command += ["-W", "ignore::pytest.PytestUnraisableExceptionWarning"]  # of those cut off
    command += ["-m", "not browser", *(f"--ignore={name}" for name in LEFT_OUT)]
    command += ["--cov=permtest", "--cov-branch", "--cov-report=html:build/coverage"]
    command += ["--cov-report=term-missing:skip-covered", *sys.argv[1:]]
    path = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    switches = {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "few", "PYTHONPATH": path}
    sys.exit(subprocess.call(command, cwd=ROOT, env=os.environ | switches))
