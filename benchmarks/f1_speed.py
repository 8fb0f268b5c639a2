"""Time and memory of an exact F1 test against N, and beside the paper's four dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks import fresh, peers, speed
from benchmarks import paper_algorithm_5 as paper
from benchmarks.f1_data import RATE, Counts, spans
from benchmarks.peers import Contender
from benchmarks.speed import SEED, Curves
from benchmarks.tables import Section, table

SIZES = (30, 60, 100, 130, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
RATES = (0.03, 0.1, 0.3, 1.0, 3.0)
REFERENCE = speed.REFERENCE
OURS, SAMPLED, YARDSTICK, COUNTING = "F1", "F1, MC", "Alg. 5", "counting"

LARGEST_FFT, LARGEST_DP = 130, 100  # largest N of Alg. 5: beyond it takes more than 1.5 GB
LIMIT = 20.0  # seconds that Alg. 5 may take
AGREED = 60  # largest N at which the p of Alg. 5 is compared
AGREE = 1e-9  # Alg. 5 has absolute accuracy, and p is not small here


def contenders() -> list[Contender]:
    """The columns of the table, in their order."""
    return [
        Contender(OURS, peers.f1_test, "permtest, exact (the default)", exact=True),
        Contender(SAMPLED, peers.f1_monte_carlo, f"permtest.monte_carlo, K = {peers.SAMPLES:,}"),
        Contender(
            YARDSTICK,
            paper.perm_test_f1,
            "the paper's Alg. 5 by FFT, plain NumPy",
            largest=LARGEST_FFT,
            limit=LIMIT,
        ),
        Contender(
            f"{YARDSTICK} by DP",
            partial(paper.perm_test_f1, convolve=paper.convolve_dp),
            "the paper's Alg. 5 by DP, plain NumPy",
            largest=LARGEST_DP,
            limit=LIMIT,
        ),
        Contender(COUNTING, peers.count_moves, "reading in NumPy: np.bincount of the swaps"),
    ]


def time_by_n(sizes: Sequence[int] = SIZES) -> tuple[Curves, Section]:
    """An F1 test against N."""
    columns = contenders()
    curves, rows = speed.measure(columns, sizes, spans, "F1, N")
    text = [
        table(["N", *(c.name for c in columns)], rows),
        "",
        f"Sentences as long as those of Table 1 with {RATE:g} spans per token, found equally well "
        "by both systems.",
        *speed.notes(columns, curves),
        *agreement([n for n in sizes if n <= AGREED]),
    ]
    data = {name: vars(curve) for name, curve in curves.items()}
    return curves, Section("F1: time by N", "\n".join(text), data)


def agreement(sizes: Sequence[int]) -> list[str]:
    """Stop where Alg. 5 gives another p, lost ties apart; say how many it loses as printed."""
    rng, lines = np.random.default_rng(SEED), []
    for n in sizes:
        u, v = spans(n, rng)
        ours, printed = peers.f1_test(u, v).pvalue, paper.perm_test_f1(u, v)
        tied = paper.perm_test_f1(u, v, h=paper.f1_gap_with_ties)
        if abs(tied - ours) > AGREE:
            raise SystemExit(f"Alg. 5 and the package disagree at N = {n}: {tied} and {ours}")
        lost = tied - printed
        loses = f"loses ties worth {lost:.2g}" if lost > AGREE else "loses no tie"
        lines.append(f"- {YARDSTICK}: p = {tied:.6g} at N = {n}, as here; as printed it {loses}")
    return lines


def time_by_rate(rates: Sequence[float] = RATES, n: int = REFERENCE) -> Section:
    """An F1 test against the number of spans, and with it of distinct moves."""
    columns = contenders()[:2]
    curves, rows = speed.measure(columns, rates, partial(_dense, n), "F1, spans per token")
    u, _ = spans(n, np.random.default_rng(SEED), rate=1.0)
    text = [
        table(["spans per token", *(c.name for c in columns)], rows),
        "",
        f"N = {n:,} sentences of some {u[:, ::2].sum() / n:.0f} tokens.",
    ]
    data = {name: vars(curve) for name, curve in curves.items()}
    return Section("F1: time by number of spans", "\n".join(text), data)


def _dense(n: int, rate: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
    return spans(n, rng, rate=rate)


def memory(sizes: Sequence[int] = SIZES, limit: float = fresh.MEMORY_LIMIT) -> Section:
    """Peak memory beyond the input, of this package at most and where Alg. 5 still runs."""
    n, small = max(sizes), max(n for n in sizes if n <= LARGEST_FFT)
    ours, given = fresh.peak(n, "f1_data.spans", "peers.f1_test")
    here, _ = fresh.peak(small, "f1_data.spans", "peers.f1_test")
    four, _ = fresh.peak(small, "f1_data.spans", "paper_algorithm_5.perm_test_f1", warm=9)
    mb = fresh.MEGABYTE
    text = (
        f"N = {n:,}: the counts take {given / mb:.0f} MB; an exact test of F1 takes "
        f"{ours / mb:.1f} MB more at its peak (limit {limit / mb:.0f} MB). N = {small}: "
        f"{here / mb:.1f} MB, and {four / mb:.0f} MB by Alg. 5 in four dimensions."
    )
    data = {"n": n, "input": given, "peak": ours, "small": small, "here": here, "four": four}
    return Section("F1: memory", text, data, [text] if ours > limit else [])


def ratios(curves: Curves, yardstick: float, size: int = REFERENCE) -> dict[str, float]:
    """For the record: times in units of `yardstick`, Alg. 3 for one sum of as many pairs."""
    ours, four, reading = (curves[name].times for name in (OURS, YARDSTICK, COUNTING))
    shared, last = max(ours.keys() & four.keys()), max(ours)
    return {
        f"{OURS} / {YARDSTICK}, N = {shared}": ours[shared] / four[shared],
        f"{OURS} / Alg. 3, N = {size}": ours[size] / yardstick,
        f"{SAMPLED} / Alg. 3, N = {size}": curves[SAMPLED].times[size] / yardstick,
        f"{OURS} / {COUNTING}, N = {last}": ours[last] / reading[last],
    }
