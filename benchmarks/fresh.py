"""What a fresh process pays: seconds before its first result."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.report import Section, table

ROOT = Path(__file__).parents[1]
FIRST = "import permtest; permtest.exact_perm_test([3, 2, 4], [1, 2, 3])"
FIRST_F1 = (
    "import permtest; permtest.exact_perm_test([[2, 0, 1]] * 99, [[1, 1, 2], [3, 1, 0], [2, 0, 1]]"
    " * 33, statistic='f1')"
)
SECONDS = "import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"


def cold(code: str, repeats: int = 3, **variables: str) -> float:
    """Seconds that a fresh process needs for `code`, the start of Python not counted."""
    command = [sys.executable, "-c", SECONDS.format(code=code)]
    env = os.environ | variables
    return min(
        float(subprocess.check_output(command, text=True, env=env, cwd=ROOT))
        for _ in range(repeats)
    )


def run() -> Section:
    """What a fresh process pays before its first result."""
    times = {"import permtest": cold("import permtest")}
    for what, code in (("first p-value", FIRST), ("first p-value of F1", FIRST_F1)):
        times[f"import and {what}"] = cold(code)
        with tempfile.TemporaryDirectory() as folder:
            times[f"the same ({what}), nothing compiled yet"] = cold(
                code, 1, NUMBA_CACHE_DIR=folder
            )
    rows = [[what, f"{value:.2f}"] for what, value in times.items()]
    return Section("Fresh process", table(["", "seconds"], rows))
