"""Errors of p against integer arithmetic, from p = 1 to far below the smallest float.

For a difference of sums, labellings are counted by the integers of `count_labellings`. For F1 and
its relatives the integers owe nothing to the package: counts of labellings are coefficients of a
polynomial in two variables, one for each sum, and every difference of two measures is a fraction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import exp, gcd, inf, log, log10
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks import paper
from benchmarks.data import Both, Generator, Scores, spans, table_1, tagged
from benchmarks.report import Section, table
from permtest.null import tail
from permtest.null.distribution import UNDERFLOW, Probability
from permtest.null.enumeration import count_labellings
from permtest.null.grouping import TwoPointSum, group

#: Enough digits that the reference is exact for every purpose here.
DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
#: What the truth, a decimal of sixty digits, may be off by; some p are exact, with a bound of 0.
TRUTH = 1e-50

PROMISE = 1e-12  # of p down to 1e-300, of log p below
#: Where the lines of the table begin, in decades of p below 1.
EDGES = (0, 3, 6, *range(10, 310, 10))
SMALLEST_DRAWN = 3e-17  # a smaller error is none
SEED = 20220710


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


def error_of(value: float, log_value: float, exact: Decimal) -> float:
    """Relative error of p, or of the exponential of its logarithm where p is no normal float."""
    with localcontext(DIGITS):
        p = Decimal(log_value).exp() if exact < Decimal(UNDERFLOW) else Decimal(value)
        return float(abs(p / exact - 1))


# ---- a difference of sums ------------------------------------------------------------------------

ENTRIES = (7, 60, 350, 1100, 1500)  # the tails of the longest reach below 1e-450
TARGETS = 60  # values of p for each law
SAMPLES = 20_000
OURS = {name: getattr(tail, f"tail_{name}") for name in ("tilted", "dp", "fft")}
ALG4, SAMPLED = "Alg. 4", f"sampled, K = {SAMPLES:,}"


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
        """Relative error of P(T >= t0)."""
        with localcontext(DIGITS):
            exact = Decimal(self.tails[t0]) / Decimal(2) ** self.n
        return error_of(found.value, found.log, exact)


def cases_of_sums(rng: Generator, entries: Sequence[int] = ENTRIES) -> Iterator[Case]:
    """Every method at several p of every law."""
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


def thresholds(oracle: Oracle, rng: Generator, number: int = TARGETS) -> list[int]:
    """Cells whose tails cover every decade of p: half evenly in log p, half over the support."""
    top = len(oracle.tails) - 1
    logs = -np.array([oracle.log(t) for t in range(top + 1)])  # ascending
    wanted = (np.arange(number // 2) + rng.random(number // 2)) * logs[-1] / (number // 2)
    even = np.minimum(np.searchsorted(logs, wanted), top)
    anywhere = rng.integers(0, top, number - number // 2, endpoint=True)
    return [int(t) for t in np.concatenate((even, anywhere))]


# ---- F1 and its relatives ------------------------------------------------------------------------

F1_ENTRIES = (6, 40, 150, 400)  # the tails of the longest reach below 1e-100
F1_TARGETS = 15  # values of p for each data set and measure
MAX_CELLS = 3 * 10**5  # of the integers; what is larger takes a minute and is left out
NEAR = 1e-10  # floats that are closer are compared as fractions
BY_DP = "f1, dp"
SIDES = ("two-sided", "greater", "less")

#: Weights of tp, fp and fn in both sums of a measure a / (a + i).
FORMULAS = {
    "f1": ((2, 0, 0), (0, 1, 1)),
    "precision": ((1, 0, 0), (0, 1, 0)),
    "jaccard": ((1, 0, 0), (0, 1, 1)),
    "f2": ((5, 0, 0), (0, 1, 4)),
}
Formula: TypeAlias = tuple[tuple[int, ...], ...]
Point: TypeAlias = tuple[int, int]  # hits and misses of the first system


def counts(n: int, rng: Generator) -> dict[str, Both]:
    """Two systems' counts of many kinds, small enough for integer arithmetic."""

    def decided(truth: NDArray[np.bool_]) -> Scores:
        says = truth ^ (rng.random(n) < 0.3)
        return np.stack((truth & says, ~truth & says, truth & ~says), axis=1).astype(np.int64)

    truth, gold, rare = rng.random(n) < 0.5, rng.poisson(2.0, n), 1 * (rng.random(n) < 0.05)
    even = 2 * rng.integers(0, 2, (2, n, 3), endpoint=True)
    even[:, 0] = (3, 1, 0), (0, 0, 3)
    giant = np.array(spans(n, rng))
    giant[:, 0] = (n // 2 + 3, 0, 2), (0, n // 3 + 1, n // 2 + 5)
    same = tagged(gold, 0.8, 0.5, rng)
    other = np.column_stack((same[:, 0], rng.poisson(0.7, n), same[:, 2]))
    large = rng.integers(0, max(1, 400 // n), (2, n, 3), endpoint=True)
    return {
        "spans": spans(n, rng),
        "one decision each": (decided(truth), decided(truth)),
        "large counts": (large[0], large[1]),
        "nearly even": (even[0], even[1]),  # but for one entry
        "one giant": (giant[0], giant[1]),
        # The second system finds more and errs more: both sums move in the same direction.
        "bold against timid": (tagged(gold, 0.3, 0.1, rng), tagged(gold, 0.95, 1.5, rng)),
        "misses only": (same, other),
        "rare": (tagged(rare, 0.5, 0.3, rng), tagged(rare, 0.5, 0.5, rng)),  # 0/0 is not far
    }


class CountOracle:
    """How many labellings give each pair of sums, and how extreme those are."""

    def __init__(self, u: Scores, v: Scores, formula: Formula) -> None:
        stay, swap = ((x @ np.array(formula).T) for x in (u, v))
        self.n, self.total = len(stay), (stay + swap).sum(axis=0)
        points = list(joint(stay.tolist(), swap.tolist()))
        sums = np.array([point for point, _ in points], dtype=np.float64)
        first, second = (
            x[:, 0] / np.where(x[:, 0] > 0, x.sum(axis=1), 1.0) for x in (sums, self.total - sums)
        )
        order = np.argsort(first - second)
        self.gaps = (first - second)[order]
        self.points = [points[k] for k in order.tolist()]
        self.tails = list(accumulate(ways for _, ways in reversed(self.points)))[::-1]

    def gap(self, point: Point) -> Fraction:
        """The first system's measure less the second one's; 0/0 is 0."""
        rest = [int(total) - x for total, x in zip(self.total, point, strict=True)]
        first, second = (Fraction(a, a + i) if a else Fraction(0) for a, i in (point, rest))
        return first - second

    def pvalue(self, observed: Point, alternative: str) -> Fraction:
        """The share of labellings that are at least as extreme as these sums."""
        gap, times = self.gap(observed), 1
        if alternative == "two-sided":
            if gap == 0:
                return Fraction(1)
            gap, times = abs(gap), 2
        least = -gap if alternative == "less" else gap  # the null law is symmetric
        # Floats sort the sums, and fractions decide about those that are near.
        low, high = np.searchsorted(self.gaps, [float(least) - NEAR, float(least) + NEAR]).tolist()
        hits = self.tails[high] if high < len(self.tails) else 0
        hits += sum(ways for point, ways in self.points[low:high] if self.gap(point) >= least)
        return Fraction(times * hits, 2**self.n)


def box_cells(u: Scores, v: Scores, formula: Formula) -> int:
    """How many digits the integer of `joint` has."""
    rows, columns = np.abs((u - v) @ np.array(formula).T).sum(axis=0).tolist()
    return int((rows + 1) * (columns + 1))


def joint(stay: list[list[int]], swap: list[list[int]]) -> Iterator[tuple[Point, int]]:
    """All pairs of sums that occur, with their numbers of labellings.

    Entry n is the factor X^stay_n + X^swap_n of a polynomial that is kept as one integer: the
    coefficients are its digits, wide enough for 2^N, the cells of a box laid out row by row.
    """
    both = list(zip(stay, swap, strict=True))
    lows = [list(map(min, x, y)) for x, y in both]
    start = [sum(column) for column in zip(*lows, strict=True)]
    moves = np.abs(np.array(stay) - np.array(swap)).T.tolist()
    units = [gcd(*column) or 1 for column in moves]
    columns = sum(moves[1]) // units[1] + 1
    size = len(stay) // 8 + 1  # bytes of a digit
    total = 1
    for low, ends in zip(lows, both, strict=True):
        places = [(x - low[0]) // units[0] * columns + (y - low[1]) // units[1] for x, y in ends]
        total = (total << 8 * size * places[0]) + (total << 8 * size * places[1])
    digits = total.to_bytes(-(-total.bit_length() // 8), "little")
    for k in range(0, len(digits), size):
        if count := int.from_bytes(digits[k : k + size], "little"):
            a, i = divmod(k // size, columns)
            yield (start[0] + units[0] * a, start[1] + units[1] * i), count


def cases_of_f1(rng: Generator, entries: Sequence[int] = F1_ENTRIES) -> Iterator[Case]:
    """Every measure at several p of every data set; F1 by dynamic programming too."""
    for n in entries:
        for kind, (u, v) in counts(n, rng).items():
            print(f"accuracy of F1: {kind}, N = {n}", flush=True)
            for measure, formula in FORMULAS.items():
                if box_cells(u, v, formula) > MAX_CELLS:
                    continue
                oracle, how = CountOracle(u, v, formula), {"statistic": measure}
                results = [pt.exact_perm_test(u, v, alternative=x, **how) for x in SIDES]  # type: ignore[arg-type]
                for k, point in enumerate(sums_at(oracle, rng)):
                    result, exact = results[k % 3], oracle.pvalue(point, SIDES[k % 3])
                    found = {measure: _found(result.at(point), exact)}
                    if measure == "f1":
                        found[BY_DP] = _found(result.at(point, method="dp"), exact)
                    yield Case(kind, n, _log10(exact), found)


def sums_at(oracle: CountOracle, rng: Generator, number: int = F1_TARGETS) -> list[Point]:
    """Sums whose p cover every decade, two thirds of them evenly in log p, the others anywhere."""
    logs = oracle.n * log(2) - np.array([log(tail) for tail in oracle.tails])  # ascending
    most = 2 * number // 3
    wanted = (np.arange(most) + rng.random(most)) * logs[-1] / most
    even = np.minimum(np.searchsorted(logs, wanted), len(logs) - 1)
    chosen = np.concatenate((even, rng.integers(0, len(logs), number - most)))
    return [oracle.points[k][0] for k in rng.permutation(chosen).tolist()]


def _found(got: Any, exact: Fraction) -> Found:
    with localcontext(DIGITS):
        truth = Decimal(exact.numerator) / Decimal(exact.denominator)
        log_p = Decimal(got.log10_pvalue) * Decimal(10).ln()
    return Found(error_of(got.pvalue, log_p, truth), got.error_bound)


def _log10(p: Fraction) -> float:
    return (log(p.numerator) - log(p.denominator)) / log(10)


# ---- what is made of the cases -------------------------------------------------------------------


def broken(found: Sequence[Case]) -> list[str]:
    """Cases in which the error exceeds its bound, or a default method its promise."""
    lines = []
    for case in found:
        # Below the floats the promise is for log p, which is larger as one for p by |log p|.
        small = case.log10_p < log10(UNDERFLOW)
        promise = PROMISE * (max(1.0, -case.log10_p * log(10)) if small else 1.0)
        where = f"{case.kind}, N = {case.n}, p = 1e{case.log10_p:.2f}"
        for name, (error, bound) in case.found.items():
            if not error <= bound + TRUTH:
                lines.append(f"{name}: error {error:.2g} above its bound {bound:.2g} ({where})")
            if name in ("tilted", *FORMULAS, BY_DP) and not error <= promise:
                lines.append(f"{name}: error {error:.2g} ({where})")
    return lines


def summary(title: str, found: Sequence[Case]) -> Section:
    """Largest errors by decades of p, and largest part of the bound that was used."""
    names = list(dict.fromkeys(name for case in found for name in case.found))
    bins = [bisect_right(EDGES, max(-case.log10_p, 0.0)) - 1 for case in found]
    rows = []
    for b in sorted(set(bins)):
        inside = [case for case, its in zip(found, bins, strict=True) if its == b]
        start = f"1e-{EDGES[b]}" if b else "1"
        decades = f"{start} to 1e-{EDGES[b + 1]}" if b + 1 < len(EDGES) else f"below {start}"
        rows.append([decades, str(len(inside)), *(worst(inside, name) for name in names)])
    used = [max(part_of_bound(case.found[x]) for case in found if x in case.found) for x in names]
    rows.append(["error / bound", str(len(found)), *(f"{x:.2f}" if x else "–" for x in used)])
    failures = broken(found)
    text = [
        f"Largest relative error of p against integer arithmetic in {len(found):,} cases, "
        f"{len({case.kind for case in found})} kinds of data, p down to "
        f"1e{min(case.log10_p for case in found):.0f} (below {UNDERFLOW:g}, where floats end, of "
        "the exponential of the logarithm that the result carries). The last line has the largest "
        "part of its stated bound that an error was: above 1 the bound would be wrong.",
        "",
        table(["p", "cases", *names], rows),
    ]
    return Section(title, "\n".join(text), failures)


def worst(inside: Sequence[Case], name: str) -> str:
    """The largest error of a method."""
    most = max((case.found[name].error for case in inside if name in case.found), default=None)
    return "–" if most is None else f"{most:.1e}" if most < 0.1 else "no digit"


def part_of_bound(found: Found) -> float:
    """How much of its bound an error was."""
    if found.bound > 0:
        return found.error / found.bound
    return inf if found.error > TRUTH else 0.0


def run(
    path: Path, entries: Sequence[int] = ENTRIES, f1_entries: Sequence[int] = F1_ENTRIES
) -> list[Section]:
    """Draw, solve, compare; a line of progress for each law, and a picture of the sums."""
    found = list(cases_of_sums(np.random.default_rng(SEED), entries))
    draw_errors(found, path)
    of_f1 = list(cases_of_f1(np.random.default_rng(SEED), f1_entries))
    return [summary("Accuracy", found), summary("F1: accuracy", of_f1)]


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
