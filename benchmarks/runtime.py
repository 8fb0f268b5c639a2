"""Runtime of the exact test and of Monte Carlo sampling against N (Fig. 1 of the paper).

    python -m benchmarks.runtime            sizes 500 to 10 000, table, picture, ratios
    python -m benchmarks.runtime --check    also fail if a method is slower than the record

Absolute times depend on the machine and on its mood. So every time is also given as a ratio to
Alg. 3 written plainly in NumPy, measured in the same run on the same data, and the record in
``record.json`` holds ratios only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.paper_data import table_1

SIZES = (500, 1000, 2000, 4000, 6000, 8000, 10_000)
SAMPLES = (5000, 10_000, 20_000, 40_000)
SEED = 20220710
RECORD = Path(__file__).with_name("record.json")
OUTPUT = Path(__file__).parents[1] / "build" / "benchmarks"
TOLERANCE = 1.5  # what noise on a shared machine has been seen to do to a ratio

Scores = NDArray[np.int64]
Test = Callable[[Scores, Scores], Any]


def plain_dp(u: Scores, v: Scores) -> float:
    """Alg. 2 and 3 as one would first write them: the yardstick, and a check of p."""
    d = u - v
    law, centre = np.zeros(2 * int(np.abs(d).sum()) + 1), int(np.abs(d).sum())
    law[centre] = 1.0
    for step in d[d != 0]:
        law = (np.roll(law, step) + np.roll(law, -step)) / 2
    observed = abs(int(d.sum()))
    return float(law[: centre - observed + 1].sum() + law[centre + max(observed, 1) :].sum())


def methods() -> dict[str, Test]:
    """What is timed, by the name in the table."""
    exact = {name: partial(pt.exact_perm_test, method=name) for name in ("dp", "fft")}
    sampled = {f"mc {k}": partial(pt.monte_carlo, K=k, rng=0) for k in SAMPLES}
    return {**exact, **sampled}


def seconds(function: Test, u: Scores, v: Scores) -> float:
    """Median of several calls, after one that warms up."""
    function(u, v)
    times = []
    while len(times) < 5 or (sum(times) < 0.2 and len(times) < 25):
        start = time.perf_counter()
        function(u, v)
        times.append(time.perf_counter() - start)
    return median(times)


def measure(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """One row for each size: seconds by method, the yardstick, p."""
    rng = np.random.default_rng(SEED)
    rows = []
    for n in sizes:
        u, v = table_1(n, rng)
        start = time.perf_counter()
        p = plain_dp(u, v)
        yardstick = time.perf_counter() - start
        times = {name: seconds(function, u, v) for name, function in methods().items()}
        ours = pt.exact_perm_test(u, v)
        if abs(ours.pvalue / p - 1) > 1e-9:
            raise SystemExit(f"N = {n}: p = {ours.pvalue}, but plain NumPy says {p}")
        rows.append({"n": n, "p": p, "plain": yardstick, **times})
        print(_line(rows[-1]), flush=True)
    return rows


def cold(code: str, repeats: int = 3, **variables: str) -> float:
    """Seconds that a fresh process needs for `code`, the start of Python not counted."""
    script = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
    command, env = [sys.executable, "-c", script], os.environ | variables
    return min(float(subprocess.check_output(command, text=True, env=env)) for _ in range(repeats))


def startup() -> dict[str, float]:
    """What a fresh process pays before its first result."""
    first = "import permtest; permtest.exact_perm_test([3, 2, 4], [1, 2, 3])"
    with tempfile.TemporaryDirectory() as folder:
        compiling = cold(first, repeats=1, NUMBA_CACHE_DIR=folder)
    return {
        "import permtest": cold("import permtest"),
        "import and first p-value": cold(first),
        "the same, nothing compiled yet": compiling,
    }


def scipy_seconds(n: int) -> float:
    """What SciPy's test takes with its default 9999 resamples, in batches that suit it best."""
    from scipy.stats import permutation_test

    data = table_1(n, np.random.default_rng(SEED))
    start = time.perf_counter()
    permutation_test(
        data, _difference, permutation_type="samples", vectorized=True, batch=1000, rng=0
    )
    return time.perf_counter() - start


def _difference(u: Scores, v: Scores, axis: int) -> Any:
    return np.sum(u - v, axis=axis)


def ratios(row: dict[str, Any]) -> dict[str, float]:
    """Times of one row in units of the yardstick."""
    return {name: row[name] / row["plain"] for name in methods()}


def compare(found: dict[str, float], record: dict[str, float]) -> list[str]:
    """Methods that are slower than the record by more than the tolerance."""
    return [
        f"{name}: {found[name]:.4f} of the yardstick, {record[name]:.4f} on record"
        for name in record
        if found[name] > TOLERANCE * record[name]
    ]


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Fig. 1: seconds against N, one line for each method, told apart by dashes and marks."""
    from matplotlib import pyplot as plt

    from permtest.plots import STYLE

    dashes, marks = ["-", "-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))], "osv^Dx"
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
        for i, name in enumerate(methods()):
            label = f"Monte Carlo, K = {name[3:]}" if name.startswith("mc") else name.upper()
            times = [1000 * row[name] for row in rows]
            axes.plot([r["n"] for r in rows], times, ls=dashes[i], marker=marks[i], label=label)
        axes.set(
            xlabel="N, sentences",
            ylabel="time, ms",
            yscale="log",
            title="Exact test and Monte Carlo",
        )
        axes.legend(ncols=2, fontsize=11)
        figure.savefig(path)
        plt.close(figure)


def _line(row: dict[str, Any]) -> str:
    cells = [f"{row['n']:>7}", f"{1000 * row['plain']:>9.1f}"]
    return " ".join(cells + [f"{1000 * row[name]:>9.2f}" for name in methods()])


def main() -> int:
    """Measure, print, draw; return how many methods are slower than the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if slower than the record")
    parser.add_argument("--record", action="store_true", help="make this run the record")
    arguments = parser.parse_args()
    print("milliseconds, median of repeated calls, warm; plain = Alg. 3 in plain NumPy")
    print(" ".join([f"{'N':>7}", f"{'plain':>9}"] + [f"{name:>9}" for name in methods()]))
    rows = measure()
    found = ratios(rows[-1])
    print(f"{'ratio':>7} {1:>9}", " ".join(f"{ratio:>9.4f}" for ratio in found.values()))
    print(f"scipy.stats.permutation_test, N = {SIZES[-1]}: {scipy_seconds(SIZES[-1]):.1f} s")
    fresh = startup()
    for what, value in fresh.items():
        print(f"fresh process, {what}: {value:.2f} s")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    draw(rows, OUTPUT / "figure-1.png")
    (OUTPUT / "runtime.json").write_text(json.dumps({"rows": rows, "startup": fresh}, indent=1))
    print(f"picture and numbers are in {OUTPUT}")
    if arguments.record:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
    if not arguments.check:
        return 0
    slower = compare(found, json.loads(RECORD.read_text()))
    print("\n".join(slower) or "no method is slower than the record")
    return len(slower)


if __name__ == "__main__":
    sys.exit(main())
