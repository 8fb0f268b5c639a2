"""What would not fit in memory is refused before it is made: how much it is, and what to do."""

from __future__ import annotations

import re
import sys

import pytest

from tests.robustness.processes import check

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")

#: With two gigabytes more than a process has that has just begun.
REFUSED = """
import resource, traceback
import numpy as np
import permtest as pt
from permtest import alternatives as alt, study

pt.compare_all([1, 2, 3, 5], [0, 1, 1, 0], K=20)
pt.monte_carlo([1, 2], [0, 1], K=10, rng=0)
big, zeros = [10**9 + 7 * i for i in range(40)], [0] * 40
signed = [-x if i % 3 else x for i, x in enumerate(big)]
rng = np.random.default_rng(0)
few = rng.integers(0, 9, (2, 50))
rows = rng.integers(0, 90, (2, 50, 5, 3))
counts = rng.integers(0, 10**4, (2, 50, 4))
sums = [lambda a, b, i=i: int(a[i] - b[i]) for i in range(4)]
laws = [pt.pmf(0, 2**24 + 1), pt.pmf(0, 2**24 + 3)]

JOBS = {
    "null_distribution": lambda: pt.exact_perm_test(big, zeros).null_distribution,
    "sampled distribution": lambda: pt.monte_carlo(big, zeros, K=10, rng=0).null_distribution,
    "h": lambda: pt.exact_perm_test(big, zeros, h=lambda s: s % 7),
    "dp": lambda: pt.exact_perm_test(signed, zeros, method="dp"),
    "fft": lambda: pt.exact_perm_test(signed, zeros, method="fft"),
    "integer": lambda: pt.exact_perm_test(big * 10, zeros * 10, method="integer"),
    "convolve_dp": lambda: pt.convolve_dp(laws),
    "convolve_fft": lambda: pt.convolve_fft(laws),
    "enumerate_swaps": lambda: pt.enumerate_swaps(big, zeros),
    "g": lambda: pt.exact_perm_test(*counts, sums, lambda *x: sum(x)),
    "macro_f1": lambda: pt.exact_perm_test(*rows, statistic="macro_f1", method="dp"),
    "monte_carlo": lambda: pt.monte_carlo(*few, K=10**12),
    "bootstrap": lambda: alt.bootstrap(*few, K=10**12),
    "paired_bootstrap": lambda: alt.paired_bootstrap(*few, K=10**12),
    "experiments": lambda: study.power_curve(*few, experiments=10**12),
    "sizes": lambda: study.power_curve(*few, sizes=[10**12]),
    "compare_many": lambda: pt.compare_many({str(i): few[0][:2] for i in range(5000)}),
    "max_t": lambda: pt.compare_many({"a": few[0], "b": few[1]}, correction="max_t", K=10**12),
}

with open("/proc/self/statm") as file:
    most = int(file.read().split()[0]) * resource.getpagesize() + 2 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for name, job in JOBS.items():
    try:
        job()
    except (MemoryError, ValueError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        own = where.startswith(pt.__path__[0])
        print(name, type(error).__name__, "own" if own else where, error, sep="|")
    else:
        print(name, "answered", sep="|")
assert len(pt.enumerate_swaps([2**60] * 22, zeros[:22])) == 2**22
assert pt.convolve_fft([pt.pmf(0, 2**22), pt.pmf(0, 2**22 - 1)])(2**23 - 1) > 0.24
print(pt.exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).pvalue)
"""


def test_requests_that_are_too_large():
    *lines, last = check(REFUSED).splitlines()
    assert last == "0.125"
    for line in lines:
        name, kind, where, said = line.split("|", 3)
        assert (kind in ("MemoryError", "ValueError"), where) == (True, "own"), line
        assert re.search(r"\d", said), f"{name} names no number: {said}"
        assert ";" in said or "from 1 to" in said or ": " in said, f"{name} has no remedy: {said}"
