"""Errors of p against integer arithmetic, from p = 1 to far below the smallest float.

For F1 and its relatives the tests compare tails with counts in integers (tests/null/test_plane.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from itertools import accumulate, pairwise
from math import exp, inf, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import permtest as pt
from benchmarks import paper
from benchmarks.data import Generator, Scores, table_1
from benchmarks.report import Section, table
from permtest.null import tail
from permtest.null.distribution import UNDERFLOW, Probability, TwoPointSum, group
from permtest.null.enumeration import count_labellings

#: Enough digits that the reference is exact for every purpose here.
DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
#: What the truth, a decimal of sixty digits, may be off by; some p are exact, with a bound of 0.
TRUTH = 1e-50

PROMISE = 1e-12  # of p down to 1e-300, of log p below
#: Where the lines of the table begin, in decades of p below 1.
EDGES = (0, 3, 6, *range(10, 301, 10))
SMALLEST_DRAWN = 3e-17  # a smaller error is none
ENTRIES = (7, 60, 350, 1100, 1500)  # the tails of the longest reach below 1e-450
TARGETS = 60  # values of p for each law
SAMPLES, SEED = 20_000, 20220710
OURS = {name: getattr(tail, f"tail_{name}") for name in ("tilted", "dp", "fft")}
ALG4, SAMPLED = "Alg. 4", f"sampled, K = {SAMPLES:,}"


class Found(NamedTuple):
    """What a method said of one p: its relative error, and its bound for that."""

    error: float
    bound: float = inf


class Case(NamedTuple):
    """One p of a kind of data with n entries, by every method."""

    kind: str
    n: int
    log10_p: float
    found: dict[str, Found]


def widths(n: int, rng: Generator) -> dict[str, Scores]:
    """Differences of many kinds: what makes one method or another go wrong.

    Sums stay below some 60 000, so that integers are quick.
    """
    u, v = table_1(3 * n, rng)
    small, two = rng.integers(1, 4, n - 1), rng.choice(np.arange(1, 40), 2, replace=False)
    return {
        "the paper's (Table 1)": np.abs(u - v)[u != v][:n],
        "all equal": np.ones(n, dtype=np.int64),
        "two widths": rng.choice(two, n),
        "few widths": rng.integers(1, 6, n),
        "many widths": rng.integers(1, max(2, min(3000, 60_000 // n)), n),
        # Odd sums come from one entry, and there is a second peak at pi.
        "nearly even": np.append(2 * rng.integers(1, 8, n - 1), 1 + 2 * rng.integers(0, 8)),
        "nearly all thirds": np.append(3 * rng.integers(1, 6, n - 2), rng.integers(1, 9, 2)),
        "one giant": np.append(small, int(small.sum() * rng.uniform(0.3, 3)) + 1),
        "long-tailed": np.ceil(np.exp(rng.exponential(1.2, n).clip(0, 4.6))).astype(np.int64),
        "powers of two": 2 ** np.arange(min(n, 14)),
        "one pair": rng.integers(1, 9, 1),
    }


def law_of(sizes: Scores) -> TwoPointSum:
    """The law of the sum of entries that are 0 or their width."""
    return group(np.zeros_like(sizes), sizes, 0)


class Oracle:
    """All upper tails of a law as numbers of labellings."""

    def __init__(self, law: TwoPointSum) -> None:
        self.n = law.n_informative
        self.tails = list(accumulate(reversed(count_labellings(law))))[::-1]

    def log(self, t0: int) -> float:
        """log P(T >= t0), as a float."""
        return log(self.tails[t0]) - self.n * log(2)

    def error(self, found: Probability, t0: int) -> float:
        """Relative error of P(T >= t0), or of exp(log P) where P is no normal float."""
        with localcontext(DIGITS):
            exact = Decimal(self.tails[t0]) / Decimal(2) ** self.n
            tiny = exact < Decimal(UNDERFLOW)
            p = Decimal(found.log).exp() if tiny else Decimal(found.value)
            return float(abs(p / exact - 1))


def cases(rng: Generator, entries: Sequence[int]) -> Iterator[Case]:
    """Every method at several p of every law; a line of progress for each law."""
    for n in entries:
        for kind, sizes in widths(n, rng).items():
            print(f"accuracy: {kind}, N' = {sizes.size}", flush=True)
            law = law_of(sizes)
            oracle, nothing = Oracle(law), np.zeros_like(sizes)
            laws = [paper.local_pmf([0], [width]) for width in sizes.tolist()]
            plain = np.cumsum(paper.convolve_fft(laws)[1][::-1])[::-1]
            sampled = pt.monte_carlo(sizes, nothing, K=SAMPLES, rng=rng).null_distribution.pmf
            shares = np.rint(SAMPLES * np.cumsum(sampled[::-1])[::-1])
            for t0 in thresholds(oracle, rng):
                ours = {name: solve(law, t0) for name, solve in OURS.items()}
                found = {k: Found(oracle.error(p, t0), p.error_bound) for k, p in ours.items()}
                exact = oracle.log(t0)
                rest = {ALG4: plain[t0], SAMPLED: (shares[t0] + 1) / (SAMPLES + 1)}
                for name, p in rest.items():  # with absolute accuracy only
                    off = inf if exact < log(UNDERFLOW) else abs(float(p) / exp(exact) - 1)
                    found[name] = Found(off)
                yield Case(kind, law.n_informative, exact / log(10), found)


def thresholds(oracle: Oracle, rng: Generator) -> list[int]:
    """Cells whose tails cover every decade of p: half evenly in log p, half over the support."""
    top, half = len(oracle.tails) - 1, TARGETS // 2
    logs = -np.array([oracle.log(t) for t in range(top + 1)])  # ascending
    wanted = (np.arange(half) + rng.random(half)) * logs[-1] / half
    even = np.minimum(np.searchsorted(logs, wanted), top)
    return [int(t) for t in np.concatenate((even, rng.integers(0, top, half, endpoint=True)))]


def broken(found: Sequence[Case]) -> list[str]:
    """Cases in which the error exceeds its bound, or the default method its promise."""
    lines = []
    for case in found:
        # Below the floats the promise is for log p, which is larger as one for p by |log p|.
        small = case.log10_p < log(UNDERFLOW) / log(10)
        promise = PROMISE * (max(1.0, -case.log10_p * log(10)) if small else 1.0)
        where = f"{case.kind}, N = {case.n}, p = 1e{case.log10_p:.2f}"
        for name, (error, bound) in case.found.items():
            if not error <= bound + TRUTH:
                lines.append(f"{name}: error {error:.2g} above its bound {bound:.2g} ({where})")
            if name == "tilted" and not error <= promise:
                lines.append(f"{name}: error {error:.2g} ({where})")
    return lines


def run(path: Path, entries: Sequence[int] = ENTRIES) -> Section:
    """Largest errors by decades of p; a picture."""
    found = list(cases(np.random.default_rng(SEED), entries))
    draw_errors(found, path)
    names = [*OURS, ALG4, SAMPLED]
    rows = []
    for low, high in pairwise((*EDGES, inf)):
        inside = [case for case in found if low <= max(-case.log10_p, 0.0) < high]
        worst = [max((case.found[name].error for case in inside), default=0.0) for name in names]
        shown = [f"{x:.1e}" if x < 0.1 else "no digit" for x in worst]
        rows += [[f"1e-{low} to 1e-{high}", str(len(inside)), *shown]] if inside else []
    text = (
        f"Largest relative error of p against integer arithmetic in {len(found):,} cases (below "
        f"{UNDERFLOW:g}, where floats end, of the exponential of the logarithm that the result "
        "carries).\n\n"
    )
    return Section("Accuracy", text + table(["p", "cases", *names], rows), broken(found))


def draw_errors(found: Sequence[Case], path: Path) -> None:
    """Relative error against p, one kind of mark for each method."""
    from matplotlib import pyplot as plt

    from permtest.plots import style

    looks = {"tilted": "oC0", "dp": "^C3", "fft": "sC2", ALG4: "xC1", SAMPLED: "+0.5"}
    seen = [case for case in found if case.log10_p >= -EDGES[-1]]
    with style():
        figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
        for depth, (name, look) in enumerate(looks.items()):
            errors = np.clip([case.found[name].error for case in seen], SMALLEST_DRAWN, 1.0)
            how: Any = {"marker": look[0], "color": look[1:], "ms": 4, "ls": "none", "label": name}
            axes.plot([case.log10_p for case in seen], errors, zorder=9 - depth, **how)
        axes.axhline(PROMISE, color="black", lw=1, ls="--", zorder=10)
        axes.text(-EDGES[-1], 1.4 * PROMISE, "promised", ha="right", va="bottom")
        axes.set(yscale="log", ylim=(SMALLEST_DRAWN / 2, 5), xlim=(4, -EDGES[-1] - 4))
        axes.xaxis.set_major_formatter(lambda x, _: f"$10^{{{x:.0f}}}$" if x else "1")
        axes.set(xlabel="p", ylabel="relative error of p", title="How wrong is p?")
        figure.legend(loc="outside right upper", fontsize=12, markerscale=2)
        figure.savefig(path)
        plt.close(figure)
