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
MEMORY = """
import tracemalloc
import numpy as np
import permtest as pt
from benchmarks import fresh
from benchmarks.paper_data import table_1
u, v = table_1({n}, np.random.default_rng(0))
pt.exact_perm_test(u[:1000], v[:1000])
before = fresh.high_water(reset=True)
pt.exact_perm_test(u, v)
resident = fresh.high_water() - before
tracemalloc.start()
pt.exact_perm_test(u, v)
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
    times = {
        "import permtest": cold("import permtest"),
        "import and first p-value": cold(FIRST),
        "the same, nothing compiled yet": compiling,
    }
    rows = [[what, f"{value:.2f}"] for what, value in times.items()]
    return Section("Fresh process", table(["", "seconds"], rows), times)


def memory(n: int = LARGEST, limit: float = MEMORY_LIMIT) -> Section:
    """Peak memory of the default method beyond its input: the larger of two ways to see it."""
    peak, given = run(MEMORY.format(n=n))
    text = (
        f"N = {n:,}: the scores take {given / MEGABYTE:.0f} MB; exact_perm_test takes "
        f"{peak / MEGABYTE:.1f} MB more at its peak (limit {limit / MEGABYTE:.0f} MB)."
    )
    failures = [text] if peak > limit else []
    return Section("Memory", text, {"n": n, "input": given, "peak": peak}, failures)
