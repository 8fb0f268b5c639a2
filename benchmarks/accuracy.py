"""Errors of p against integer arithmetic, from p = 1 to 1e-300, on the paper's kind of data.

The tests compare other laws, smaller p, F1 and its relatives in the same way (tests/null).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import permtest as pt
from benchmarks import paper
from benchmarks.data import table_1
from benchmarks.report import Section, drawn, table
from permtest.null import tail
from permtest.null.distribution import count_values, from_widths
from permtest.null.labellings import count_labellings

PROMISE = 1e-12  # of p down to 1e-300
DECADES = 300  # of p below 1
ENTRIES, SAMPLES, SEED = 1500, 20_000, 20220710
OURS = {name: getattr(tail, f"tail_{name}") for name in ("tilted", "dp", "fft")}
ALG4, SAMPLED = "Alg. 4", f"sampled, K = {SAMPLES:,}"
LOOKS = {"tilted": "oC0", "dp": "^C3", "fft": "sC2", ALG4: "xC1", SAMPLED: "+0.5"}


class Case(NamedTuple):
    """One p, the relative error of each method, and what those of ours may be."""

    log10_p: float
    errors: dict[str, float]
    bounds: dict[str, float]


def cases(entries: int) -> list[Case]:
    """Every method at every decade of p."""
    rng = np.random.default_rng(SEED)
    u, v = table_1(3 * entries, rng)
    sizes = np.abs(u - v)[u != v][:entries]
    law = from_widths(len(sizes), *count_values(sizes))
    tails = list(accumulate(reversed(count_labellings(law))))[::-1]
    plain = np.cumsum(
        paper.convolve_fft([paper.local_pmf([0], [w]) for w in sizes.tolist()])[1][::-1]
    )
    sampled = pt.monte_carlo(sizes, 0 * sizes, K=SAMPLES, rng=rng).null_distribution.pmf
    hits = np.rint(SAMPLES * np.cumsum(sampled[::-1]))
    logs = np.array([log10(x) - sizes.size * log10(2) for x in tails])
    found = []
    for wanted in np.append(np.linspace(0, 20, 60), np.linspace(20, DECADES, 140)):
        t0 = int(np.searchsorted(-logs, wanted))
        if t0 == len(tails) or logs[t0] < -DECADES:
            break
        ours = {name: solve(law, t0) for name, solve in OURS.items()}
        p = {name: x.value for name, x in ours.items()}
        p |= {ALG4: plain[::-1][t0], SAMPLED: (hits[::-1][t0] + 1) / (SAMPLES + 1)}
        exact = Fraction(tails[t0], 2**sizes.size)
        errors = {name: float(abs(Fraction(float(x)) / exact - 1)) for name, x in p.items()}
        bounds = {name: x.error_bound for name, x in ours.items()}
        bounds["tilted"] = min(bounds["tilted"], PROMISE)
        found.append(Case(logs[t0], errors, bounds))
    return found


def run(path: Path, entries: int = ENTRIES) -> Section:
    """Largest errors, what is beyond its bound, and a picture of errors by p."""
    found = cases(entries)
    with drawn(path, "How wrong is p?", "p", "relative error of p") as axes:
        for name, look in LOOKS.items():
            errors = np.clip([case.errors[name] for case in found], 3e-17, 1.0)
            how: Any = {"marker": look[0], "color": look[1:], "ms": 4, "ls": "none", "label": name}
            axes.plot([case.log10_p for case in found], errors, **how)
        axes.axhline(PROMISE, color="black", lw=1, ls="--", zorder=10)
        axes.text(-DECADES, 1.4 * PROMISE, "promised", ha="right", va="bottom")
        axes.set(yscale="log", ylim=(1e-17, 5), xlim=(4, -DECADES - 4))
        axes.xaxis.set_major_formatter(lambda x, _: f"$10^{{{x:.0f}}}$" if x else "1")
    text = f"Relative error of p against integer arithmetic, {entries:,} pairs that differ."
    worst = {name: max(case.errors[name] for case in found) for name in LOOKS}
    rows = [[name, f"{x:.1e}" if x < 0.1 else "no digit is right"] for name, x in worst.items()]
    broken = [
        f"{name}: error {case.errors[name]:.2g} above {bound:.2g} (p = 1e{case.log10_p:.2f})"
        for case in found
        for name, bound in case.bounds.items()
        if not case.errors[name] <= bound
    ]
    return Section("Accuracy", f"{text}\n\n{table(['', 'at most'], rows)}", broken)
