"""Errors of p for F1 and its relatives against integer arithmetic, from p = 1 to below 1e-100.

The integers owe nothing to the package: counts of labellings are coefficients of a polynomial in
two variables, one for each sum, and every difference of two measures is a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import gcd, log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.accuracy import (
    DIGITS,
    PROMISE,
    TRUTH,
    Case,
    Found,
    bin_name,
    bin_of,
    error_text,
    magnified,
    part_of_bound,
    used_text,
)
from benchmarks.f1_data import ENTRIES, Counts, data_sets
from benchmarks.tables import Section, table
from permtest.null.distribution import UNDERFLOW
from permtest.statistics import Alternative

#: Weights of tp, fp and fn in both sums of a measure a / (a + i).
FORMULAS = {
    "f1": ((2, 0, 0), (0, 1, 1)),
    "precision": ((1, 0, 0), (0, 1, 0)),
    "jaccard": ((1, 0, 0), (0, 1, 1)),
    "f2": ((5, 0, 0), (0, 1, 4)),
}
Formula: TypeAlias = tuple[tuple[int, ...], ...]

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
BY_DP = "f1, dp"
TARGETS = 15  # values of p for each data set and measure
SEED = 20220710
MAX_CELLS = 3 * 10**5  # of the integers; what is larger takes a minute and is left out
NEAR = 1e-10  # floats that are closer are compared as fractions


class Sums(NamedTuple):
    """Hits and misses of the first system."""

    a: int
    i: int


class Oracle:
    """How many labellings give each pair of sums, and how extreme those are.

    Parameters
    ----------
    u, v : ndarray of shape (N, 3)
    formula : tuple of two tuples of three int
        One of `FORMULAS`.
    """

    def __init__(self, u: Counts, v: Counts, formula: Formula) -> None:
        stay, swap = _addends(u, v, formula)
        self.n = len(stay)
        self.total = Sums(*np.sum(stay + swap, axis=0).tolist())
        points = list(_joint(stay, swap))
        gaps = self._float_gaps(np.array([sums for sums, _ in points], dtype=np.float64))
        order = np.argsort(gaps)
        self.gaps = gaps[order]
        self.points = [points[k] for k in order.tolist()]
        self.tails = list(accumulate(ways for _, ways in reversed(self.points)))[::-1]

    def pvalue(self, observed: Sums, alternative: str) -> Fraction:
        """The share of labellings that are at least as extreme as these sums."""
        gap = self.gap(observed)
        if alternative == "two-sided":
            hits = 2 * self._at_least(abs(gap)) if gap else 2**self.n
        else:  # the null law is symmetric
            hits = self._at_least(gap if alternative == "greater" else -gap)
        return Fraction(hits, 2**self.n)

    def gap(self, sums: Sums) -> Fraction:
        """The first system's measure less the second one's; 0/0 is 0."""
        rest = Sums(self.total.a - sums.a, self.total.i - sums.i)
        first, second = (Fraction(x.a, x.a + x.i) if x.a else Fraction(0) for x in (sums, rest))
        return first - second

    def _at_least(self, least: Fraction) -> int:
        """Floats sort the sums, and fractions decide about those that are near."""
        ends = np.searchsorted(self.gaps, (float(least) - NEAR, float(least) + NEAR))
        low, high = ends.tolist()
        hits = self.tails[high] if high < len(self.tails) else 0
        near = self.points[low:high]
        return hits + sum(ways for sums, ways in near if self.gap(sums) >= least)

    def _float_gaps(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = (
            x[:, 0] / np.where(x[:, 0] > 0, x.sum(axis=1), 1.0)
            for x in (sums, np.array(self.total) - sums)
        )
        return np.asarray(first - second)


def box_cells(u: Counts, v: Counts, formula: Formula) -> int:
    """How many digits the integer of `Oracle` has."""
    stay, swap = map(np.array, _addends(u, v, formula))
    rows, columns = np.abs(stay - swap).sum(axis=0).tolist()
    return int((rows + 1) * (columns + 1))


def _addends(u: Counts, v: Counts, formula: Formula) -> tuple[list[list[int]], list[list[int]]]:
    weights = np.array(formula).T
    return (u @ weights).tolist(), (v @ weights).tolist()


def _joint(stay: list[list[int]], swap: list[list[int]]) -> Iterator[tuple[Sums, int]]:
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
            yield Sums(start[0] + units[0] * a, start[1] + units[1] * i), count


def cases(rng: np.random.Generator, entries: tuple[int, ...] = ENTRIES) -> Iterator[Case]:
    """Every measure at several p of every data set."""
    for kind, u, v in data_sets(rng, entries):
        print(f"accuracy of F1: {kind}, N = {len(u)}", flush=True)
        for measure, formula in FORMULAS.items():
            if box_cells(u, v, formula) <= MAX_CELLS:
                yield from _cases_of(kind, measure, u, v, rng)


def _cases_of(
    kind: str, measure: str, u: Counts, v: Counts, rng: np.random.Generator
) -> Iterator[Case]:
    """The default method, and for F1 dynamic programming too, at several sums."""
    oracle = Oracle(u, v, FORMULAS[measure])
    results = [pt.exact_perm_test(u, v, statistic=measure, alternative=x) for x in ALTERNATIVES]
    for k, sums in enumerate(thresholds(oracle, rng)):
        side = k % len(ALTERNATIVES)
        exact = oracle.pvalue(sums, ALTERNATIVES[side])
        found = {measure: _found(results[side], sums, "auto", exact)}
        if measure == "f1":
            found[BY_DP] = _found(results[side], sums, "dp", exact)
        yield Case(kind, len(u), log_of(exact) / log(10), found)


def thresholds(oracle: Oracle, rng: np.random.Generator, number: int = TARGETS) -> list[Sums]:
    """Sums whose p cover every decade, two thirds of them evenly in log p, the others anywhere."""
    logs = oracle.n * log(2) - np.array([log(tail) for tail in oracle.tails])  # ascending
    most = 2 * number // 3
    wanted = (np.arange(most) + rng.random(most)) * logs[-1] / most
    even = np.minimum(np.searchsorted(logs, wanted), len(logs) - 1)
    chosen = np.concatenate((even, rng.integers(0, len(logs), number - most)))
    return [oracle.points[k][0] for k in rng.permutation(chosen).tolist()]


def log_of(p: Fraction) -> float:
    """Of a fraction that may be smaller than any float."""
    return log(p.numerator) - log(p.denominator)


def _found(result: Any, sums: Sums, method: str, exact: Fraction) -> Found:
    """What a method says had the first system had these sums."""
    got, terms = result.at(sums, method=method), map(Decimal, exact.as_integer_ratio())
    return Found(error_of(got, *terms), got.error_bound)


def error_of(got: Any, above: Decimal, below: Decimal = Decimal(1)) -> float:
    """Relative error of p, or where that is no normal float of the logarithm's power."""
    with localcontext(DIGITS):
        exact = above / below
        p = Decimal(got.pvalue)
        if exact < Decimal(UNDERFLOW):
            p = (Decimal(got.log10_pvalue) * Decimal(10).ln()).exp()
        return float(abs(p / exact - 1))


# ---- what is made of the cases -----------------------------------------------------------------


def broken(found: Sequence[Case]) -> list[str]:
    """Cases in which the error exceeds its bound, or the default method its promise."""
    lines = []
    for case in found:
        where = f"{case.kind}, N = {case.n}, p = 1e{case.log10_p:.2f}"
        for name, (error, bound) in case.found.items():
            if not error <= bound + TRUTH:
                lines.append(f"{name}: error {error:.2g} above its bound {bound:.2g} ({where})")
            if not error <= PROMISE * magnified(case.log10_p):
                lines.append(f"{name}: error {error:.2g} ({where})")
    return lines


def run(entries: tuple[int, ...] = ENTRIES) -> Section:
    """Draw, solve, compare: largest errors by decades of p, and largest part of the bound used."""
    found = list(cases(np.random.default_rng(SEED), entries))
    names = [*FORMULAS, BY_DP]
    rows, data = [], []
    for b in sorted({bin_of(case) for case in found}):
        inside = [case for case in found if bin_of(case) == b]
        worst = {name: _worst(inside, name) for name in names}
        data.append({"p": bin_name(b), "cases": len(inside), "worst": worst})
        rows.append([bin_name(b), str(len(inside)), *map(_error, worst.values())])
    used = {
        name: max(part_of_bound(case.found[name]) for case in found if name in case.found)
        for name in names
    }
    rows.append(["error / bound", str(len(found)), *(used_text(used, name) for name in names)])
    failures = broken(found)
    text = [
        f"Largest relative error of p against integer arithmetic in {len(found):,} cases, "
        f"{len({case.kind for case in found})} kinds of data sets, p down to "
        f"1e{min(case.log10_p for case in found):.0f}, one-sided and two-sided. The last line has "
        "the largest part of its stated bound that an error was.",
        "",
        table(["p", "cases", *names], rows),
        *(f"- **{line}**" for line in failures),
    ]
    data_of = {"bins": data, "of_bound": used}
    return Section("F1: accuracy", "\n".join(text), data_of, failures)


def _worst(inside: Sequence[Case], name: str) -> float | None:
    return max((case.found[name].error for case in inside if name in case.found), default=None)


def _error(worst: float | None) -> str:
    return "–" if worst is None else error_text(worst)
