"""Time of one p against N, G and the number of spans, beside the paper's algorithms and SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import permutation_test

import permtest as pt
from benchmarks import paper
from benchmarks.data import RATE, Both, Generator, close_scores, differences_up_to, spans, table_1
from benchmarks.report import FIRST, Section, cold, drawn, duration, seconds, table

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
GAPS = (1, 10, 100, 1000)
F1_SIZES = (30, 60, 100, 130, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FLOAT_SIZES = (25, 38, 100, 500, 10_000)
LONG_SIZES = (100, 300, 1000, 3000, 10_000)
SEED = 20220710
SAMPLES = 20_000  # the paper's K
RESAMPLES = 9_999  # SciPy's default

Times = dict[str, dict[int, float]]


class Contender(NamedTuple):
    """A way to p that is not run after more than `limit` seconds, or with more pairs than that."""

    run: Callable[..., Any]
    limit: float = 0.6
    largest: int = 10**9


def scipy_test(u: Any, v: Any) -> Any:
    """SciPy's test, in batches that suit it best."""
    how: dict[str, Any] = {"permutation_type": "samples", "n_resamples": RESAMPLES, "rng": 0}
    how |= {"vectorized": True, "batch": max(1, 10**7 // u.size)}
    return permutation_test((u, v), lambda u, v, axis: np.sum(u - v, axis=axis), **how)


SAMPLED = f"permtest, {SAMPLES:,} samples"
#: Ways to p of a difference of sums, in plain NumPy where the paper's algorithms are named; an
#: exact one must look at every pair once, as bincount does.
SUMS = {
    "permtest": Contender(pt.exact_perm_test),
    "permtest, dp": Contender(partial(pt.exact_perm_test, method="dp")),
    "permtest, fft": Contender(partial(pt.exact_perm_test, method="fft")),
    SAMPLED: Contender(partial(pt.monte_carlo, K=SAMPLES, rng=0)),
    f"Alg. 1, {SAMPLES:,} samples": Contender(partial(paper.coin_flips, samples=SAMPLES)),
    "Alg. 3": Contender(partial(paper.exact_perm_test, convolve=paper.convolve_dp)),
    "Alg. 4": Contender(partial(paper.exact_perm_test, convolve=paper.convolve_fft)),
    f"SciPy, {RESAMPLES:,} samples": Contender(scipy_test, limit=30, largest=10_000),
    "np.bincount(np.abs(u - v))": Contender(lambda u, v: np.bincount(np.abs(u - v))),
}
EXACT = "permtest", "permtest, dp", "permtest, fft", "Alg. 3", "Alg. 4"
#: Ways to p of a difference of two F1; Alg. 5 takes more than 1.5 GB beyond 130 sentences.
F1 = {
    "permtest": Contender(partial(pt.exact_perm_test, statistic="f1")),
    SAMPLED: Contender(partial(pt.monte_carlo, K=SAMPLES, rng=0, statistic="f1")),
    "Alg. 5": Contender(paper.perm_test_f1, limit=20, largest=130),
}


def measure(
    contenders: dict[str, Contender], sizes: Sequence[int], draw: Callable[[int, Generator], Both]
) -> tuple[str, Times]:
    """A line for each size, and the times of each contender until they get long."""
    rng, rows, times = np.random.default_rng(SEED), [], {name: {} for name in contenders}
    for size in sizes:
        (u, v), row = draw(size, rng), [f"{size:,}"]
        for name, one in contenders.items():
            known = times[name]
            if max(known.values(), default=0.0) > one.limit or len(u) > one.largest:
                row.append("–")
            else:
                known[size] = seconds(partial(one.run, u, v))
                row.append(duration(known[size]))
        rows.append(row)
        print(*row, sep="  ", flush=True)
    return table(["", *contenders], rows), times


def floats(sizes: Sequence[int]) -> str:
    """Time of p, and how far its bounds are apart, of scores with all digits of a float."""
    rows = []
    for n in sizes:
        u, v = close_scores(n, SEED)
        row = [f"{n:,}"]
        for a, b in ((u, v), (np.float32(u), np.float32(v)), (u.round(4), v.round(4))):
            bound = pt.exact_perm_test(a, b).error_bound
            took = duration(seconds(partial(pt.exact_perm_test, a, b)), 2)
            row += [took, f"{bound:.0e}" if bound > 1e-9 else "exact"]
        rows.append(row)
    return table(["", "float64", "width", "float32", "width", "four decimals", "width"], rows)


def documents(sizes: Sequence[int]) -> str:
    """Time of p of F1 where each entry has thousands of spans, and how far its bounds are apart."""
    rows = []
    for n in sizes:
        counts = np.random.default_rng([SEED, n]).poisson((9000, 1000, 1000), (2, n, 3))
        test = partial(pt.exact_perm_test, *counts, statistic="f1")
        found = test()
        width = f"{found.error_bound:.0e}" if found.method == "bracket" else "exact"
        rows.append([f"{n:,}", duration(seconds(test), 2), width])
    return table(["", "time", "width"], rows)


def others(n: int) -> str:
    """Time of repeated runs, and of what a fresh process does first."""
    a, b = np.random.default_rng(SEED).integers(0, 2, (2, n, 8))
    times = {}
    for null in ("items", "runs"):
        test = partial(pt.exact_runs_test, a, b, null=null)
        times[f"{n:,} items, 8 + 8 runs, null='{null}'"] = seconds(test)
    for code in ("import numpy", "import permtest", FIRST):
        times[f"`{code}`"] = min(cold(code) for _ in range(5))
    return table(["", "time"], [[what, duration(took, 2)] for what, took in times.items()])


def run(
    folder: Path,
    sizes: Sequence[int] = SIZES,
    gaps: Sequence[int] = GAPS,
    f1_sizes: Sequence[int] = F1_SIZES,
    float_sizes: Sequence[int] = FLOAT_SIZES,
    long_sizes: Sequence[int] = LONG_SIZES,
    n: int = 10_000,
) -> list[Section]:
    """All times, with pictures of those by N."""
    by_n, sums = measure(SUMS, sizes, table_1)
    by_g, _ = measure(
        {x: SUMS[x] for x in EXACT}, gaps, lambda g, rng: differences_up_to(g, n, rng)
    )
    of_n, f1 = measure(F1, f1_sizes, spans)
    draw_times(sums, folder / "time.png", "Time for one p-value")
    draw_times(f1, folder / "time-f1.png", "Time for one p-value of a difference in F1")
    return [
        Section("Time by N", by_n),
        Section(f"Time by G, N = {n:,}", by_g),
        Section(f"F1: time by N, {RATE:g} spans per token", of_n),
        Section(
            "Scores with all digits: time by N, and the width of the bounds", floats(float_sizes)
        ),
        Section("F1 of thousands of spans: time by N, and the width", documents(long_sizes)),
        Section("Runs, and a fresh process", others(n)),
    ]


#: Colour and dashes of a line by what its name begins with: whose method it is.
LOOKS = {"permtest": ("C0", "-"), "Alg.": ("C1", "--"), "np.": ("C3", "-.")}


def draw_times(times: Times, path: Path, title: str) -> None:
    """Seconds against N, a line for each contender, told apart by colour, dashes and marks."""
    with drawn(path, title, "N, pairs", "time, s") as axes:
        for mark, (name, by_n) in zip("os^DvP<>*", times.items(), strict=False):
            looks = (look for whose, look in LOOKS.items() if name.startswith(whose))
            color, dashes = next(looks, ("C2", ":"))
            how: dict[str, Any] = {"marker": mark, "color": color, "ls": dashes, "ms": 7}
            axes.plot([*by_n], [*by_n.values()], label=name, **how)
        axes.set(xscale="log", yscale="log")
