"""Errors of p for F1 of up to a million entries, where integers would be too long.

Where entries come in two kinds, found by one system and missed by the other, or wrong in one
system alone, both sums are binomial, and the tail of their staircase is a sum over one of them,
which can be had to fifty digits in decimals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.accuracy import DIGITS, Case, Found, magnified, part_of_bound
from benchmarks.f1_accuracy import broken, error_of
from benchmarks.f1_data import Counts
from benchmarks.tables import Section, table

SIZES = (1000, 10_000, 100_000, 1_000_000)
SCORES = (0.5, 2.0, 6.0, 12.0, 25.0, 36.0, 60.0, 100.0)  # standard deviations of both sums
FOUND = 0.7  # share of the entries that are found by one system


def two_kinds(n: int) -> tuple[Counts, Counts]:
    """Entries that one system finds and the other does not, and others where only one errs."""
    hits = round(FOUND * n)
    u, v = np.zeros((n, 3), dtype=np.int64), np.zeros((n, 3), dtype=np.int64)
    u[:hits, 0] = v[:hits, 2] = u[hits:, 1] = 1
    return np.where(turned(n), v, u), np.where(turned(n), u, v)


def turned(n: int) -> NDArray[np.bool_]:
    """Which entries are the other way round: every other one, so that no system is ahead."""
    return np.asarray(np.arange(n)[:, None] % 2 == 1)


class Binomials:
    """P(K = k) of one fair binomial sum, and P(L <= l) of the other, in decimals.

    Parameters
    ----------
    n : int
        Entries of both kinds.
    """

    def __init__(self, n: int) -> None:
        self.hits = round(FOUND * n)
        self.errors = n - self.hits
        with localcontext(DIGITS):
            self.pmf = list(_pmf(self.hits))
            self.cdf = list(_sums(_pmf(self.errors)))

    def gap(self, k: int, last: int) -> Fraction:
        """F1 of a system with k hits and `last` errors, less F1 of the other one."""
        below, other = self._below(k, last)
        return Fraction(2 * k, below) - Fraction(2 * (self.hits - k), other)

    def tail(self, k0: int, l0: int) -> Decimal:
        """P(gap(K, L) >= gap(k0, l0)); the more hits, the more errors are allowed."""
        least, total, last = self.gap(k0, l0), Decimal(0), -1
        top, bottom = least.numerator, least.denominator
        with localcontext(DIGITS):
            for k in range(self.hits + 1):
                while last < self.errors and self._reaches(k, last + 1, top, bottom):
                    last += 1
                if last >= 0:
                    total += self.pmf[k] * self.cdf[last]
        return total

    def _below(self, k: int, last: int) -> tuple[int, int]:
        """Denominators of both F1: 2 tp + fp + fn."""
        return self.hits + k + last, 2 * self.hits - k + self.errors - last

    def _reaches(self, k: int, last: int, top: int, bottom: int) -> bool:
        """gap(k, last) >= top / bottom, in integers."""
        below, other = self._below(k, last)
        return bottom * 2 * (k * other - (self.hits - k) * below) >= top * below * other


def _pmf(n: int) -> Iterator[Decimal]:
    value = Decimal(2) ** -n
    for k in range(n + 1):
        yield value
        value = value * (n - k) / (k + 1)


def _sums(values: Iterator[Decimal]) -> Iterator[Decimal]:
    total = Decimal(0)
    for value in values:
        total += value
        yield total


def cases(n: int, scores: Sequence[float] = SCORES, method: str = "auto") -> Iterator[Case]:
    """Tails that begin at so many standard deviations of both sums, or at their ends."""
    law, (u, v) = Binomials(n), two_kinds(n)
    result = pt.exact_perm_test(u, v, statistic="f1", alternative="greater")
    for score in scores:
        k = min(round((law.hits + score * sqrt(law.hits)) / 2), law.hits)
        last = max(round((law.errors - score * sqrt(law.errors)) / 2), 0)
        exact = law.tail(k, last)
        found = _found(result, (2 * k, law.hits - k + last), exact, method)
        yield Case("two kinds", n, float(exact.log10()), found)
        if (k, last) == (law.hits, 0):
            return


def _found(result: Any, sums: tuple[int, int], exact: Decimal, method: str) -> dict[str, Found]:
    """What the package says of these sums; nothing if it can only sample them."""
    try:
        got = result.at(sums, method=method)
    except (ArithmeticError, MemoryError):
        return {}
    return {"f1": Found(error_of(got, exact), got.error_bound)}


def run(sizes: Sequence[int] = SIZES, method: str = "auto") -> Section:
    """The largest error for each N, of p down to 1e-300 and of log p below."""
    rows, data, wrong = [], [], []
    for n in sizes:
        print(f"accuracy of F1: N = {n:,}", flush=True)
        every = list(cases(n, method=method))
        found = [case for case in every if case.found]
        normal = [c.found["f1"].error for c in found if magnified(c.log10_p) == 1]
        tiny = [_of_log(c) for c in found if magnified(c.log10_p) > 1]
        used = max(part_of_bound(c.found["f1"]) for c in found)
        worst, refused = [max(normal), max(tiny, default=0.0)], len(every) - len(found)
        figures = [f"1e{min(c.log10_p for c in found):.0f}", *(f"{x:.1e}" for x in worst)]
        rows.append([f"{n:,}", *figures, f"{used:.2f}", str(refused)])
        data.append({"n": n, "p": worst[0], "log p": worst[1], "of_bound": used, "none": refused})
        wrong += broken(found)
    head = ["N", "p down to", "error of p", "of log p below 1e-300", "error / bound", "no exact p"]
    text = [
        "Largest relative error for F1 by the default method, against sums of binomial "
        "probabilities in decimals, and how many p it could not compute:",
        "",
        table(head, rows),
        *(f"- **{line}**" for line in wrong),
    ]
    return Section("F1: accuracy at large N", "\n".join(text), {"rows": data}, wrong)


def _of_log(case: Case) -> float:
    """Relative error of log p."""
    return case.found["f1"].error / magnified(case.log10_p)
