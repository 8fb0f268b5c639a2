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
from benchmarks.data import (
    RATE,
    Both,
    Generator,
    Scores,
    differences_up_to,
    spans,
    table_1,
)
from benchmarks.report import Section, drawn, duration, seconds, table

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
GAPS = (1, 10, 100, 1000)
F1_SIZES = (30, 60, 100, 130, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
REFERENCE = 10_000  # the N of other times
SEED = 20220710
SAMPLES = 20_000  # the paper's K
RESAMPLES = 9_999  # SciPy's default
AGREE = 1e-9  # the paper's algorithms have absolute accuracy, and p is not small here

Times = dict[str, dict[int, float]]


class Contender(NamedTuple):
    """One way to a p-value; `exact` ones have the same p, which is compared.

    What took longer than `limit` seconds, or has more than `largest` pairs, is not run.
    """

    label: str
    run: Callable[[Scores, Scores], Any]
    exact: bool = False
    limit: float = 0.6
    largest: int = 10**9


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


def of_paper(convolve: paper.Convolve) -> Callable[[Scores, Scores], Any]:
    """The paper's test."""
    return partial(paper.exact_perm_test, convolve=convolve)


#: Ways to p of a difference of sums; an exact one must look at every pair once, as bincount does.
SUMS = {
    "tilted": Contender("permtest (tilted, the default)", pt.exact_perm_test, True),
    "dp": Contender("permtest, method='dp'", partial(pt.exact_perm_test, method="dp"), True),
    "fft": Contender("permtest, method='fft'", partial(pt.exact_perm_test, method="fft"), True),
    "MC": Contender(
        f"permtest.monte_carlo, K = {SAMPLES:,}", partial(pt.monte_carlo, K=SAMPLES, rng=0)
    ),
    "Alg. 3": Contender("the paper's Alg. 3, plain NumPy", of_paper(paper.convolve_dp), True),
    "Alg. 4": Contender("the paper's Alg. 4, plain NumPy", of_paper(paper.convolve_fft), True),
    "SciPy": Contender(f"SciPy, {RESAMPLES:,} resamples", scipy_test, limit=30, largest=10_000),
    "bincount": Contender(
        "reading in NumPy: np.bincount(np.abs(u - v))", lambda u, v: np.bincount(np.abs(u - v))
    ),
}
#: Ways to p of a difference of two F1; Alg. 5 loses ties, so that its p is not compared, and takes
#: more than 1.5 GB beyond 130 sentences.
F1 = {
    "F1": Contender("permtest, exact (the default)", partial(pt.exact_perm_test, statistic="f1")),
    "F1, MC": Contender(
        f"permtest.monte_carlo, K = {SAMPLES:,}",
        partial(pt.monte_carlo, K=SAMPLES, rng=0, statistic="f1"),
    ),
    "Alg. 5": Contender(
        "the paper's Alg. 5, plain NumPy", paper.perm_test_f1, limit=20, largest=130
    ),
}


def measure(
    contenders: dict[str, Contender], sizes: Sequence[int], draw: Callable[[int, Generator], Both]
) -> tuple[str, Times]:
    """A line for each size, and the times of each contender until they get long."""
    rng, rows, times = np.random.default_rng(SEED), [], {name: {} for name in contenders}
    for size in sizes:
        (u, v), row, p = draw(size, rng), [f"{size:,}"], []
        for name, one in contenders.items():
            known = times[name]
            if max(known.values(), default=0.0) > one.limit or len(u) > one.largest:
                row.append("–")
                continue
            known[size] = seconds(partial(one.run, u, v))
            row.append(duration(known[size]))
            if one.exact:
                found = one.run(u, v)
                p.append(float(getattr(found, "pvalue", found)))
        if p and max(p) - min(p) > AGREE:
            raise SystemExit(f"exact methods disagree at {size}: {p}")
        rows.append(row)
        print(*row, sep="  ", flush=True)
    return table(["", *contenders], rows), times


def run(
    folder: Path,
    sizes: Sequence[int] = SIZES,
    gaps: Sequence[int] = GAPS,
    f1_sizes: Sequence[int] = F1_SIZES,
    n: int = REFERENCE,
) -> list[Section]:
    """All times, with pictures of those by N."""
    exact = {name: one for name, one in SUMS.items() if one.exact}
    by_n, sums = measure(SUMS, sizes, table_1)
    of_n, f1 = measure(F1, f1_sizes, spans)
    draw_times(SUMS, sums, folder / "time.png", "Time for one p-value")
    draw_times(F1, f1, folder / "time-f1.png", "Time for one p-value of a difference in F1")
    return [
        Section("Time by N", by_n),
        Section("Time by G", measure(exact, gaps, lambda g, rng: differences_up_to(g, n, rng))[0]),
        Section(f"F1: time by N, {RATE:g} spans per token", of_n),
    ]


#: Colour and dashes of a line by what its label begins with: whose method it is.
LOOKS = {"permtest": ("C0", "-"), "the paper": ("C1", "--"), "reading": ("C3", "-.")}


def draw_times(contenders: dict[str, Contender], times: Times, path: Path, title: str) -> None:
    """Seconds against N, a line for each contender, told apart by colour, dashes and marks."""
    with drawn(path, title, "N, pairs", "time, s") as axes:
        for mark, (name, one) in zip("os^Dv<>*", contenders.items(), strict=False):
            looks = (look for whose, look in LOOKS.items() if one.label.startswith(whose))
            color, dashes = next(looks, ("C2", ":"))
            how: dict[str, Any] = {"marker": mark, "color": color, "ls": dashes, "ms": 7}
            axes.plot([*times[name]], [*times[name].values()], label=one.label, **how)
        axes.set(xscale="log", yscale="log")
