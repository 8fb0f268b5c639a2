"""Run the tests with nothing compiled, and list the lines that none of them reaches.

    python tools/cover.py

Compiled kernels cannot be watched, so that Numba is switched off; then loops are some hundred times
slower, and tests marked `compiled`, whose numbers are large or which are about compiling, are left
out, as are notebooks and the browser. Takes some ten minutes; the pages go to build/coverage.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = "not browser and not notebook and not compiled"
LEAST = 95  # per cent; the command fails below


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pytest with `arguments` added; return its exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-m", LEFT_OUT]
    command += ["--cov=permtest", f"--cov-fail-under={LEAST}", "--cov-report=html:build/coverage"]
    command += ["--cov-report=term-missing:skip-covered", *(arguments or sys.argv[1:])]
    quick = {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "quick"}
    return subprocess.call(command, cwd=ROOT, env=os.environ | quick)


if __name__ == "__main__":
    sys.exit(main())
