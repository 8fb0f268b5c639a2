"""Time of one p against N, G and the number of spans, beside the paper's algorithms and SciPy."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import permutation_test

import permtest as pt
from benchmarks import paper
from benchmarks.data import (
    RATE,
    Both,
    Generator,
    Scores,
    close_scores,
    differences_up_to,
    spans,
    table_1,
)
from benchmarks.report import FIRST, FIRST_F1, Section, cold, duration, seconds, table

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
GAPS = (1, 3, 10, 30, 100, 300, 1000)
F1_SIZES = (30, 60, 100, 130, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
RATES = (0.03, 0.1, 0.3, 1.0, 3.0)  # spans per token
FLOAT_SIZES = (25, 42, 100, 500, 2000, 10_000)
REFERENCE = 10_000  # the N of the ratios, and of the time against G
SEED = 20220710
SAMPLES = 20_000  # the paper's K
RESAMPLES = 9_999  # SciPy's default
AGREE = 1e-9  # the paper's algorithms have absolute accuracy, and p is not small here
LIMIT = 0.6  # seconds: what took longer is not run at larger sizes
LARGEST_ALG5 = 130  # beyond this N it takes more than 1.5 GB


@dataclass
class Contender:
    """One way to a p-value, and its times at growing sizes until they get long.

    `exact` ones have the same p, which is compared.
    """

    name: str
    run: Callable[[Scores, Scores], Any]
    label: str
    exact: bool = False
    largest: int = 10**9
    limit: float = LIMIT
    times: dict[int, float] = field(default_factory=dict)

    def measure(self, size: int, u: Scores, v: Scores) -> str:
        """One cell of the table."""
        if max(self.times.values(), default=0.0) > self.limit or len(u) > self.largest:
            return "–"
        try:
            self.times[size] = seconds(partial(self.run, u, v))
        except MemoryError:
            self.largest = 0
            return "–"
        return duration(self.times[size])


def of_sums() -> list[Contender]:
    """Ways to p of a difference of sums."""
    names = {"tilted": "permtest (tilted, the default)"}
    names |= {name: f"permtest, method={name!r}" for name in ("dp", "fft")}
    ours = [
        Contender(name, partial(pt.exact_perm_test, method=name), label, exact=True)  # type: ignore[arg-type]
        for name, label in names.items()
    ]
    alg3, alg4 = (
        partial(paper.exact_perm_test, convolve=c) for c in (paper.convolve_dp, paper.convolve_fft)
    )
    sampled = partial(pt.monte_carlo, K=SAMPLES, rng=0)
    return [
        *ours,
        Contender("MC", sampled, f"permtest.monte_carlo, K = {SAMPLES:,}"),
        Contender("Alg. 3", alg3, "the paper's Alg. 3, plain NumPy", exact=True),
        Contender("Alg. 4", alg4, "the paper's Alg. 4, plain NumPy", exact=True),
        Contender("SciPy", scipy_test, f"SciPy, {RESAMPLES:,} resamples", largest=10**4, limit=30),
        # What any exact method must do at least: look at every pair once.
        Contender(
            "bincount",
            lambda u, v: np.bincount(np.abs(u - v)),
            "reading in NumPy: np.bincount(np.abs(u - v))",
        ),
    ]


def of_f1() -> list[Contender]:
    """Ways to p of a difference of two F1; Alg. 5 loses ties, so that its p is not compared."""
    f1: Any = {"statistic": "f1"}
    ours = partial(pt.exact_perm_test, **f1)
    sampled = partial(pt.monte_carlo, K=SAMPLES, rng=0, **f1)
    alg5 = "the paper's Alg. 5, plain NumPy"
    return [
        Contender("F1", ours, "permtest, exact (the default)"),
        Contender("F1, MC", sampled, f"permtest.monte_carlo, K = {SAMPLES:,}"),
        Contender("Alg. 5", paper.perm_test_f1, alg5, largest=LARGEST_ALG5, limit=20),
        Contender("counting", count_moves, "reading in NumPy: np.bincount of the swaps"),
    ]


def scipy_test(u: Scores, v: Scores) -> Any:
    """SciPy's test, in batches that suit it best."""
    return permutation_test(
        (u, v),
        lambda u, v, axis: np.sum(u - v, axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        batch=max(1, 10**7 // u.size),
        rng=0,
    )


def count_moves(u: Scores, v: Scores) -> Any:
    """What any exact test of F1 must do at least: count what a swap would change."""
    tp, incorrect = u[:, 0] - v[:, 0], u[:, 1] + u[:, 2] - v[:, 1] - v[:, 2]
    low = incorrect.min()
    return np.bincount((tp - tp.min()) * (incorrect.max() - low + 1) + incorrect - low)


# ---- sections ------------------------------------------------------------------------------------


def measure(
    title: str,
    head: str,
    contenders: Sequence[Contender],
    sizes: Sequence[Any],
    draw: Callable[[Any, Generator], Both],
) -> Section:
    """A line for each size."""
    rng, rows = np.random.default_rng(SEED), []
    for size in sizes:
        u, v = draw(size, rng)
        rows.append([f"{size:,}", *(c.measure(size, u, v) for c in contenders)])
        results = {c.name: c.run(u, v) for c in contenders if c.exact and size in c.times}
        found = {name: float(getattr(r, "pvalue", r)) for name, r in results.items()}
        if found and max(found.values()) - min(found.values()) > AGREE:
            raise SystemExit(f"exact methods disagree at N = {len(u)}: {found}")
        print(f"{title}: {'  '.join(rows[-1])}", flush=True)
    text = (
        "Medians of repeated calls, warm, input checks included. What took more than "
        f"{LIMIT:g} s (SciPy 30 s, Alg. 5 20 s), or would not fit, is not run at larger sizes."
    )
    return Section(title, f"{table([head, *(c.name for c in contenders)], rows)}\n\n{text}")


def run(
    folder: Path,
    sizes: Sequence[int] = SIZES,
    gaps: Sequence[int] = GAPS,
    f1_sizes: Sequence[int] = F1_SIZES,
    n: int = REFERENCE,
) -> list[Section]:
    """All times, with pictures of those by N, and the ratios for the record."""
    sums, f1 = of_sums(), of_f1()
    by_n = measure("Time by N", "N", sums, sizes, table_1)
    exact = [c for c in of_sums() if c.exact]
    by_g = measure("Time by G", "G", exact, gaps, lambda g, rng: differences_up_to(g, n, rng))
    of_n = measure(f"F1: time by N, {RATE:g} spans per token", "N", f1, f1_sizes, spans)
    title = f"F1: time by number of spans, N = {n:,}"
    by_rate = measure(
        title, "spans per token", of_f1()[:2], RATES, lambda rate, rng: spans(n, rng, rate)
    )
    draw_times(sums, folder / "time.png", "Time for one p-value")
    draw_times(f1, folder / "time-f1.png", "Time for one p-value of a difference in F1")
    of_n.ratios.update(ratios({c.name: c.times for c in (*sums, *f1)}, n))
    peaks = memory(max(x for x in f1_sizes if x <= LARGEST_ALG5))
    return [by_n, by_g, of_n, by_rate, peaks, floats(), related(n), fresh()]


def ratios(times: dict[str, dict[int, float]], n: int) -> dict[str, float]:
    """For the record: times in units of those of Alg. 3, of Alg. 5 or of reading the data."""
    plain, f1 = times["Alg. 3"][n], times["F1"]
    found = {
        f"{name} / Alg. 3, N = {n}": times[name][n] / plain
        for name in ("tilted", "dp", "fft", "MC", "F1", "F1, MC")
    }
    small, most, last = max(times["Alg. 5"]), max(times["tilted"]), max(f1)
    return found | {
        f"tilted / bincount, N = {most}": times["tilted"][most] / times["bincount"][most],
        f"F1 / Alg. 5, N = {small}": f1[small] / times["Alg. 5"][small],
        f"F1 / counting, N = {last}": f1[last] / times["counting"][last],
    }


def memory(n: int) -> Section:
    """Peak memory of F1 beyond the input, here and in the paper's four dimensions."""
    u, v = spans(n, np.random.default_rng(0))
    peaks = []
    for contender in of_f1()[:3:2]:
        contender.run(u[:9], v[:9])
        tracemalloc.start()
        contender.run(u, v)
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
    text = f"N = {n}: {peaks[0]:.1f} MB, and {peaks[1]:.0f} MB by Alg. 5 in four dimensions."
    return Section("F1: memory", text)


def floats() -> Section:
    """Scores with all digits of a float: time, and how narrow the bracket is."""
    rows = []
    for n in FLOAT_SIZES:
        for kind in ("float64", "float32", "four decimals"):
            digits = 4 if kind == "four decimals" else None
            some = [close_scores(n, "float32" if kind == "float32" else "float64", seed, digits)
                    for seed in range(7)]  # fmt: skip
            results = [pt.exact_perm_test(u, v) for u, v in some]
            times = [seconds(partial(pt.exact_perm_test, u, v)) for u, v in some]
            widest = max(result.error_bound for result in results)
            methods = ", ".join(sorted({result.method for result in results}))
            rows.append(
                [f"{n:,}", kind, methods, duration(float(np.median(times))), f"{widest:.0e}"]
            )
    head = ["N", "scores", "method", "time", "largest error bound"]
    return Section("Scores with all digits of a float", table(head, rows))


def related(n: int, runs: int = 8) -> Section:
    """Repeated runs, and e-processes."""
    rng = np.random.default_rng(SEED)
    chance = rng.random((n, 1))
    a, b = (1 * (rng.random((n, runs)) < chance + gain) for gain in (0.01, 0.0))
    scored = table_1(n, rng)
    jobs: dict[str, Callable[[], Any]] = {
        f"exact_runs_test, {n:,} items x {runs} runs": lambda: pt.exact_runs_test(
            a, b, null="runs"
        ),
        "the same, items exchangeable": lambda: pt.exact_runs_test(a, b),
        "the same, whole runs": lambda: pt.exact_runs_test(a, b, null="systems"),
        f"e_process, N = {n:,}": lambda: pt.e_process(*scored),
    }
    rows = [[name, duration(seconds(job))] for name, job in jobs.items()]
    return Section("Repeated runs, and looking early", table(["what", "time"], rows))


def fresh() -> Section:
    """What a fresh process pays before its first result."""
    with tempfile.TemporaryDirectory() as folder:
        times = {
            "import permtest": cold("import permtest"),
            "import and first p-value": cold(FIRST),
            "the same, nothing compiled yet": cold(FIRST, 1, NUMBA_CACHE_DIR=folder),
            "import and first p-value of F1": cold(FIRST_F1),
        }
    rows = [[what, f"{value:.2f}"] for what, value in times.items()]
    return Section("Fresh process", table(["", "seconds"], rows))


#: Colour and dashes of a line by what its label begins with: whose method it is.
LOOKS = {"permtest": ("C0", "-"), "the paper": ("C1", "--"), "reading": ("C3", "-.")}
MARKS = "os^Dv<>*x"


def draw_times(contenders: Sequence[Contender], path: Path, title: str) -> None:
    """Seconds against N, a line for each contender, told apart by colour, dashes and marks."""
    from matplotlib import pyplot as plt

    from permtest.plots import style

    with style():
        figure, axes = plt.subplots(figsize=(12, 6), layout="constrained")
        for mark, c in zip(MARKS, contenders, strict=False):
            looks = (look for whose, look in LOOKS.items() if c.label.startswith(whose))
            color, dashes = next(looks, ("C2", ":"))
            how: dict[str, Any] = {"marker": mark, "color": color, "ls": dashes, "label": c.label}
            width = 4 if c is contenders[0] else 1.8
            axes.plot([*c.times], [*c.times.values()], ms=7, lw=width, **how)
        axes.set(xscale="log", yscale="log", xlabel="N, pairs", ylabel="time, s", title=title)
        figure.legend(loc="outside right upper", fontsize=11, handlelength=3.5)
        figure.savefig(path)
        plt.close(figure)
