"""No home, no locale, no compiler, no output: the numbers are the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.robustness.processes import PATIENCE, ROOT, check, run

#: Each is computed by other kernels: grouped differences, random labellings, tails, a plane.
NUMBERS = """
import permtest as pt
u, v = [3, 5, 4, 6, 2] * 6, [2, 3, 4, 7, 3] * 6
assert pt.exact_perm_test(u, v).pvalue == 3731151 / 8388608
dp, tail = (pt.exact_perm_test(u, v, method=m).pvalue for m in ("dp", "tilted"))
assert abs(dp / tail - 1) < 1e-12
assert pt.monte_carlo(u, v, K=500, rng=0).n_extreme == 221
f1 = pt.exact_perm_test([(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)], statistic="f1")
assert f1.pvalue == 0.5
assert pt.exact_perm_test([u, v], v, axis=1).pvalue[1] == 1.0
"""

ASCII = {
    "LANG": "C",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
}


def test_no_environment_at_all_no_compiler_no_assertions(tmp_path):
    """As `env -i` makes it: neither a home nor a locale."""
    check(NUMBERS, env={}, cwd=tmp_path)
    check(NUMBERS, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, options=("-W", "error"))
    once = """
import permtest as pt
try:
    print(pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 5]).pvalue)
    pt.exact_perm_test([1, float("nan")], [0, 0])
except ValueError as error:
    print(error)
"""
    assert check(once, options=("-O", "-W", "error")).startswith("0.75\nu[1] = nan is missing")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Python as a shell runs it."""
    how = {"capture_output": True, "text": True, "check": False, "timeout": PATIENCE, "cwd": ROOT}
    return subprocess.run(["sh", "-c", f"{sys.executable} {command}"], **how)


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,système,бета\n1,3,2\n2,5,3\n3,4,4\n4,6,3\n", encoding="utf-8")
    return str(path)


def test_names_that_the_terminal_cannot_show(scores, tmp_path):
    for command in ("compare", "leaderboard"):
        told = check("-m", "permtest", command, scores, env=ASCII, cwd=tmp_path)
        assert "syst\\xe8me" in told
        assert "\\u0431\\u0435\\u0442\\u0430" in told
    missing = run("-m", "permtest", "compare", "é.csv", env=ASCII, cwd=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.isascii()
    assert "No such file" in missing.stderr


def test_whoever_reads_the_output_has_enough_or_no_room_or_is_not_there(scores):
    for command, problem in (
        ("| head -1 > /dev/null", ""),
        ("> /dev/full", "permtest compare: [Errno 28] No space left on device\n"),
    ):
        assert shell(f"-m permtest compare {scores} {command}").stderr == problem
    assert "Traceback" not in shell(f"-m permtest compare {scores} >&-").stderr
