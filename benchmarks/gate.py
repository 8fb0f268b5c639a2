"""A quick guard of speed: ``python -m benchmarks.gate``, well under a minute, also under load.

    python -m benchmarks.gate             fail if a main job has become much slower
    python -m benchmarks.gate --record    make this run the record

Every job is timed in turn with a yardstick that this package has no part in: plain NumPy, SciPy or
the standard library, at a size that takes about as long. What counts is the ratio of the shortest
times of both, which a busy machine moves by up to two; the record in ``gate.json`` holds it. A job
that seems slow is measured again, for longer, before it is called slow: both shortest times get
closer to what they are on an idle machine. The gate is wide, so that it does not shut by chance:
what it notices is a lost cache, a second pass or a worse algorithm.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_1samp

import permtest as pt
from benchmarks import paper
from benchmarks.data import close_scores, table_1
from benchmarks.report import FIRST, cold, duration, table
from permtest._jit import compile_from_now_on
from permtest.readers import File
from permtest.study import power_curve

RECORD = Path(__file__).with_name("gate.json")
LIMIT = 3.0  # times the record
PATIENCE = 0.4  # seconds for a job and its yardstick together, at the first try
TRIES = 5  # each with twice the patience of the one before
SEED = 20220710


class Job(NamedTuple):
    """What is timed, and what it is timed against; the name is its key in the record."""

    name: str
    run: Callable[[], Any]
    yardstick: Callable[[], Any]


def jobs() -> Iterator[Job]:
    """The main jobs, warm, and what a fresh process pays."""
    yield from _one_p()
    yield from _around()
    for name, ours, its in (
        ("import / import numpy", "import permtest", "import numpy"),
        ("first p-value / import numba", FIRST, "import numba"),
    ):
        yield Job(name, partial(cold, ours), partial(cold, its))


def _one_p() -> Iterator[Job]:
    """Of a difference of sums, on data as in the paper, and of two F1."""
    rng = np.random.default_rng(SEED)
    u, v = table_1(10_000, rng)
    few, many, grid = (u[:2000], v[:2000]), rng.random(300_000), rng.random((512, 512))
    sort = partial(np.sort, many)
    # Before anything is compiled; what follows is warm.
    yield Job("p, in NumPy / sort", lambda: pt.exact_perm_test(u, v), lambda: np.sort(u - v))
    compile_from_now_on()
    yield Job("p, tilted / sort", lambda: pt.exact_perm_test(u, v), lambda: np.sort(u - v))
    close = close_scores(500, SEED)
    yield Job("p of 500 float64 / sort", partial(pt.exact_perm_test, *close), sort)
    for name, convolve in (("dp", paper.convolve_dp), ("fft", paper.convolve_fft)):
        ours = partial(pt.exact_perm_test, *few, method=name)
        yield Job(f"p, {name} / the paper's", ours, partial(paper.exact_perm_test, *few, convolve))
    coins = partial(rng.integers, 0, 2, 2_000_000, dtype=np.int8)
    sampled = partial(pt.monte_carlo, u, v, K=20_000, rng=0)
    yield Job("Monte Carlo / coins", sampled, lambda: coins().sum())
    yield Job("interval / sort", lambda: pt.exact_perm_test(*few).confidence_interval(), sort)
    counts = np.random.default_rng(SEED).poisson((3, 0.4, 0.5), (2, 2077, 3))
    yield Job(
        "F1 / transform of a plane",
        lambda: pt.exact_perm_test(*counts, statistic="f1"),
        lambda: np.fft.irfft2(np.fft.rfft2(grid)),
    )


def _around() -> Iterator[Job]:
    """Many systems, power, files."""
    tokens, skills = np.random.default_rng(8).integers(3, 40, 2000), np.linspace(0.88, 0.95, 30)
    board = np.random.default_rng(SEED).binomial(tokens, skills[:, None])
    scores = {f"system {i}": row for i, row in enumerate(board)}
    first, second = np.triu_indices(len(board), 1)
    yield Job(
        "all pairs / t",
        lambda: pt.compare_many(scores),
        lambda: ttest_1samp((board[first] - board[second]).astype(float), 0, axis=1),
    )
    u, v = table_1(2077, np.random.default_rng(SEED), 0.97)
    sizes, drawn = (500, 1000, 2077), np.random.default_rng(SEED)
    yield Job(
        "power curve / t",
        lambda: power_curve(u, v, sizes=sizes, experiments=400, rng=SEED),
        lambda: [ttest_1samp(drawn.choice(u - v, (400, n)), 0, axis=1) for n in sizes],
    )
    answers = np.random.default_rng(9).integers(0, 2, (20_000, 2)).tolist()
    lines = ["id,new,old", *(f"q{i},{x},{y}" for i, (x, y) in enumerate(answers))]
    wide = "\n".join(lines).encode()
    yield Job(
        "table / csv",
        lambda: pt.read(File("scores.csv", wide)),
        lambda: list(csv.reader(StringIO(wide.decode()))),
    )


def measure(job: Job, limit: float) -> tuple[float, float]:
    """Time and ratio, of the shortest times in all tries; there is one where it is in the limit.

    Job and yardstick take turns.
    """
    best = [np.inf, np.inf]
    for attempt in range(TRIES):
        spent = 0.0
        for call in job[1:]:
            call()
        while spent < PATIENCE * 2**attempt:
            for i, call in enumerate(job[1:]):
                start = time.perf_counter()
                call()
                lap = time.perf_counter() - start
                best[i] = min(best[i], lap)
                spent += lap
        if best[0] <= limit * best[1]:
            break
    return best[0], best[0] / best[1]


def main(arguments: Sequence[str] = sys.argv, record: Path = RECORD) -> int:
    """Measure all jobs; return how many are too slow."""
    recording = "--record" in arguments
    known: dict[str, float] = json.loads(record.read_text(encoding="utf-8"))
    start, rows, ratios, slow = time.perf_counter(), [], {}, []
    for job in jobs():
        # A job without a record is slow by definition: the gate has to be told about it.
        limit = np.inf if recording else LIMIT * known.get(job.name, 0.0)
        seconds, ratios[job.name] = measure(job, limit)
        if ratios[job.name] > limit:
            slow.append(job.name)
        words = f"{known[job.name]:.3g}" if job.name in known else "–"
        rows.append([job.name, duration(seconds), f"{ratios[job.name]:.3g}", words])
    print(table(["job / yardstick", "time", "ratio", "on record"], rows))
    if recording:
        text = {name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}
        record.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    verdict = f"more than {LIMIT:g} times the record: {', '.join(slow)}" if slow else "none is slow"
    print(f"{verdict} ({time.perf_counter() - start:.0f} s)")
    return len(slow)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
