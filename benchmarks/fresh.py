"""What a fresh process pays: seconds before its first result, and memory for a large one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.tables import Section, table

ROOT = Path(__file__).parents[1]
MEGABYTE = 10**6
MEMORY_LIMIT = 200 * MEGABYTE  # beyond the input
LARGEST = 10**7

FIRST = "import permtest; permtest.exact_perm_test([3, 2, 4], [1, 2, 3])"
SECONDS = "import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
FIRST_F1 = (
    "import permtest; permtest.exact_perm_test([[2, 0, 1]] * 99, [[1, 1, 2], [3, 1, 0], [2, 0, 1]]"
    " * 33, statistic='f1')"
)
MEMORY = """
import tracemalloc
import numpy as np
from benchmarks import f1_data, fresh, paper_algorithm_5, paper_data, peers
u, v = {draw}({n}, np.random.default_rng(0))
{test}(u[:{warm}], v[:{warm}])
before = fresh.high_water(reset=True)
{test}(u, v)
resident = fresh.high_water() - before
tracemalloc.start()
{test}(u, v)
print(max(resident, tracemalloc.get_traced_memory()[1]), u.nbytes + v.nbytes)
"""


def run(script: str, **variables: str) -> list[float]:
    """The numbers that a script prints in a process of its own."""
    command, env = [sys.executable, "-c", script], os.environ | variables
    printed = subprocess.check_output(command, text=True, env=env, cwd=ROOT)
    return [float(word) for word in printed.split()]


def high_water(reset: bool = False) -> int:
    """Bytes of memory that this process has held at most, since the last reset; Linux only.

    It includes what compiled loops allocate, which `tracemalloc` does not see. Elsewhere 0.
    """
    status, references = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not references.exists():
        return 0
    if reset:
        references.write_text("5")
    line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def cold(code: str, repeats: int = 3, **variables: str) -> float:
    """Seconds that a fresh process needs for `code`, the start of Python not counted."""
    return min(run(SECONDS.format(code=code), **variables)[0] for _ in range(repeats))


def startup() -> Section:
    """What a fresh process pays before its first result."""
    with tempfile.TemporaryDirectory() as folder:
        compiling = cold(FIRST, repeats=1, NUMBA_CACHE_DIR=folder)
    with tempfile.TemporaryDirectory() as folder:
        compiling_f1 = cold(FIRST_F1, repeats=1, NUMBA_CACHE_DIR=folder)
    times = {
        "import permtest": cold("import permtest"),
        "import and first p-value": cold(FIRST),
        "the same, nothing compiled yet": compiling,
        "import and first p-value of F1": cold(FIRST_F1),
        "the same for F1, nothing compiled yet": compiling_f1,
    }
    rows = [[what, f"{value:.2f}"] for what, value in times.items()]
    return Section("Fresh process", table(["", "seconds"], rows), times)


def peak(n: int, draw: str, test: str, warm: int = 1000) -> tuple[float, float]:
    """Bytes that a call takes beyond its input at most, seen in two ways, and its input.

    `draw` and `test` are how the script of a fresh process calls both; `warm` entries warm it up.
    """
    found, given = run(MEMORY.format(n=n, draw=draw, test=test, warm=warm))
    return found, given


def memory(n: int = LARGEST, limit: float = MEMORY_LIMIT) -> Section:
    """Peak memory of the default method beyond its input: the larger of two ways to see it."""
    most, given = peak(n, "paper_data.table_1", "peers.default_test")
    text = (
        f"N = {n:,}: the scores take {given / MEGABYTE:.0f} MB; exact_perm_test takes "
        f"{most / MEGABYTE:.1f} MB more at its peak (limit {limit / MEGABYTE:.0f} MB)."
    )
    failures = [text] if most > limit else []
    return Section("Memory", text, {"n": n, "input": given, "peak": most}, failures)
