"""Errors of p against integer arithmetic, from p = 1 to far below the smallest float."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from itertools import accumulate
from math import exp, inf, log, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks import paper_algorithms as paper
from benchmarks.laws import ENTRIES, random_laws
from benchmarks.tables import Section, table
from permtest.null import tail
from permtest.null.distribution import UNDERFLOW, Probability
from permtest.null.enumeration import count_labellings
from permtest.null.grouping import TwoPointSum

#: Enough digits that the reference is exact for every purpose here.
DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)

PROMISE = 1e-12  # of p down to 1e-300, of log p below
#: Where the lines of the table begin, in decades of p below 1.
EDGES = (0, 3, 6, *range(10, 310, 10))
LAST = EDGES[-1]
SMALLEST_DRAWN = 3e-17  # a smaller error is none
TARGETS = 60  # values of p for each law
SAMPLES = 20_000
SEED = 20220710

OURS: dict[str, Callable[[TwoPointSum, int], Probability]] = {
    name: getattr(tail, f"tail_{name}") for name in ("tilted", "dp", "fft")
}
ALG4, SAMPLED = "Alg. 4", f"sampled, K = {SAMPLES:,}"


class Found(NamedTuple):
    """What a method said of one p: its relative error, and its bound for that."""

    error: float
    bound: float = inf


@dataclass(frozen=True)
class Case:
    """One p by every method.

    Parameters
    ----------
    kind : str
        Of law.
    n : int
        Entries of the law.
    log10_p : float
    found : dict
        By the name of the method.
    """

    kind: str
    n: int
    log10_p: float
    found: dict[str, Found]


class Oracle:
    """All upper tails of a law as numbers of labellings."""

    def __init__(self, law: TwoPointSum) -> None:
        self.n = law.n_informative
        self.tails = list(accumulate(reversed(count_labellings(law))))[::-1]

    def log(self, t0: int) -> float:
        """log P(T >= t0), as a float."""
        return log(self.tails[t0]) - self.n * log(2)

    def error(self, found: Probability, t0: int) -> float:
        """Relative error of `value`, or of exp(`log`) where the value is no normal float."""
        with localcontext(DIGITS):
            exact = Decimal(self.tails[t0]) / Decimal(2) ** self.n
            tiny = exact < Decimal(UNDERFLOW)
            p = Decimal(found.log).exp() if tiny else Decimal(found.value)
            return float(abs(p / exact - 1))


def cases(rng: np.random.Generator, entries: tuple[int, ...] = ENTRIES) -> Iterator[Case]:
    """Every method at several p of every law."""
    for kind, law in random_laws(rng, entries):
        oracle = Oracle(law)
        plain = _upper_tails(paper.convolve_fft(_pmfs(law)).cells)
        hits = _sampled_hits(law, rng)
        for t0 in thresholds(oracle, rng):
            found = {name: _ours(oracle, solve(law, t0), t0) for name, solve in OURS.items()}
            found[ALG4] = Found(_relative(plain[t0], oracle.log(t0)))
            sampled = float(hits[t0] + 1) / (SAMPLES + 1)
            found[SAMPLED] = Found(_relative(sampled, oracle.log(t0)))
            yield Case(kind, law.n_informative, oracle.log(t0) / log(10), found)


def thresholds(oracle: Oracle, rng: np.random.Generator, number: int = TARGETS) -> list[int]:
    """Cells whose tails cover every decade of p: half evenly in log p, half over the support."""
    top = len(oracle.tails) - 1
    logs = -np.array([oracle.log(t) for t in range(top + 1)])  # ascending
    wanted = (np.arange(number // 2) + rng.random(number // 2)) * logs[-1] / (number // 2)
    even = np.minimum(np.searchsorted(logs, wanted), top)
    anywhere = rng.integers(0, top, number - number // 2, endpoint=True)
    return [int(t) for t in np.concatenate((even, anywhere))]


def _ours(oracle: Oracle, found: Probability, t0: int) -> Found:
    return Found(oracle.error(found, t0), found.error_bound)


def _relative(p: float, log_exact: float) -> float:
    """Of what has absolute accuracy only, so that rounding the logarithm does not matter."""
    return inf if log_exact < log(UNDERFLOW) else abs(p / exp(log_exact) - 1)


def _sampled_hits(law: TwoPointSum, rng: np.random.Generator) -> NDArray[np.float64]:
    """How many samples fall on a cell or above it."""
    widths = np.repeat(law.widths, law.counts)
    sampled = pt.monte_carlo(widths, np.zeros_like(widths), K=SAMPLES, rng=rng)
    return np.rint(SAMPLES * _upper_tails(sampled.null_distribution.pmf))


def _pmfs(law: TwoPointSum) -> list[paper.Pmf]:
    widths = np.repeat(law.widths, law.counts)
    return [paper.local_pmf(0, int(width)) for width in widths]


def _upper_tails(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cumsum(cells[::-1])[::-1]


# ---- what is made of the cases -----------------------------------------------------------------


def bin_of(case: Case) -> int:
    """Line of the table; p = 1 is in the first, all below 1e-300 is in the last."""
    return bisect_right(EDGES, max(-case.log10_p, 0.0)) - 1


#: What the truth, a decimal of sixty digits, may be off by; some p are exact, with a bound of 0.
TRUTH = 1e-50


def magnified(log10_p: float) -> float:
    """By how much the promise for log p is larger as one for p: by |log p|, below the floats."""
    return max(1.0, -log10_p * log(10)) if log10_p < log10(UNDERFLOW) else 1.0


def broken(cases: Sequence[Case]) -> list[str]:
    """Cases in which the error exceeds its bound, or the default method its promise."""
    lines = []
    for case in cases:
        size = magnified(case.log10_p)
        where = f"{case.kind}, N' = {case.n}, p = 1e{case.log10_p:.2f}"
        for name, (error, bound) in case.found.items():
            if not error <= bound + TRUTH:
                lines.append(f"{name}: error {error:.2g} above its bound {bound:.2g} ({where})")
        if not case.found["tilted"].error <= PROMISE * size:
            lines.append(f"tilted: error {case.found['tilted'].error:.2g} ({where})")
    return lines


def run(entries: tuple[int, ...] = ENTRIES) -> tuple[list[Case], Section]:
    """Draw, solve, compare; a line of progress for each law."""
    found: list[Case] = []
    for case in cases(np.random.default_rng(SEED), entries):
        if not found or (case.kind, case.n) != (found[-1].kind, found[-1].n):
            print(f"accuracy: {case.kind}, N' = {case.n}", flush=True)
        found.append(case)
    return found, summary(found)


def summary(found: Sequence[Case]) -> Section:
    """Largest errors by decades of p, and largest part of the bound that was used."""
    names = list(found[0].found)
    rows, data = [], []
    for b in sorted({bin_of(case) for case in found}):
        inside = [case for case in found if bin_of(case) == b]
        worst = {name: max(case.found[name].error for case in inside) for name in names}
        rows.append([bin_name(b), str(len(inside)), *(error_text(worst[name]) for name in names)])
        data.append({"p": bin_name(b), "cases": len(inside), "worst": worst})
    used = {name: max(part_of_bound(case.found[name]) for case in found) for name in OURS}
    rows.append(["error / bound", str(len(found)), *(used_text(used, name) for name in names)])
    failures = broken(found)
    text = [
        f"Largest relative error of p against integer arithmetic in {len(found):,} cases, "
        f"{len({case.kind for case in found})} kinds of laws, p from {_power(found, max)} down to "
        f"{_power(found, min)} (below {UNDERFLOW:g}, where floats end, of the exponential of the "
        "logarithm that the result carries). The last line has the largest part of its stated "
        "bound that an error was: above 1 the bound would be wrong.",
        "",
        table(["p", "cases", *names], rows),
        *(f"- **{line}**" for line in failures),
    ]
    return Section("Accuracy", "\n".join(text), {"bins": data, "of_bound": used}, failures)


def _power(found: Sequence[Case], which: Callable[..., float]) -> str:
    power = which(case.log10_p for case in found)
    return "1" if power > -0.5 else f"1e{power:.0f}"


def bin_name(b: int) -> str:
    start = f"1e-{EDGES[b]}" if b else "1"
    return f"{start} to 1e-{EDGES[b + 1]}" if b + 1 < len(EDGES) else f"below {start}"


def error_text(value: float) -> str:
    return f"{value:.1e}" if value < 0.1 else "no digit"


def part_of_bound(found: Found) -> float:
    if found.bound > 0:
        return found.error / found.bound
    return inf if found.error > TRUTH else 0.0


def used_text(used: dict[str, float], name: str) -> str:
    return f"{used[name]:.2f}" if name in used else "–"


def draw_errors(found: Sequence[Case], path: Path) -> None:
    """Relative error against p, one kind of mark for each method."""
    from matplotlib import pyplot as plt

    from permtest.plots import STYLE

    looks = {"tilted": "oC0", "dp": "^C3", "fft": "sC2", ALG4: "xC1", SAMPLED: "+0.5"}
    seen = [case for case in found if case.log10_p >= -LAST]
    powers = [case.log10_p for case in seen]
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
        for depth, (name, look) in enumerate(looks.items()):
            errors = np.clip([case.found[name].error for case in seen], SMALLEST_DRAWN, 1.0)
            mark: dict[str, Any] = {
                "marker": look[0],
                "color": look[1:],
                "ms": 4,
                "ls": "none",
                "label": name,
            }
            axes.plot(powers, errors, zorder=9 - depth, **mark)
        axes.axhline(PROMISE, color="black", lw=1, ls="--", zorder=10)
        axes.text(-LAST, 1.4 * PROMISE, "promised", ha="right", va="bottom")
        axes.set(yscale="log", ylim=(SMALLEST_DRAWN / 2, 5), xlim=(4, -LAST - 4))
        axes.xaxis.set_major_formatter(lambda x, _: f"$10^{{{x:.0f}}}$" if x else "1")
        axes.set(xlabel="p", ylabel="relative error of p", title="How wrong is p?")
        figure.legend(loc="outside right upper", fontsize=12, markerscale=2)
        figure.savefig(path)
        plt.close(figure)
