"""Errors of the default method for up to ten million pairs, where no polynomial can be written out.

Laws with one width for nearly all pairs have tails that are sums of a few binomial tails, and those
can be had to fifty digits in decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from math import comb, factorial, log

import numpy as np

from benchmarks.accuracy import DIGITS, OURS, PROMISE, Case, Found
from benchmarks.laws import law_of
from benchmarks.tables import Section, table
from permtest.null.distribution import UNDERFLOW, Probability
from permtest.null.grouping import TwoPointSum

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
SCORES = (0.1, 1.0, 3.0, 6.0, 12.0, 25.0, 37.0, 100.0)  # how many standard deviations t0 is out
ODD, ODD_ONES = 37, 10  # the other width, and how many pairs have it
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640629")
#: Bernoulli numbers B_2, B_4, ...: Stirling's series is good to 70 digits from 1000 on.
BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
BERNOULLI += ((43867, 798), (-174611, 330), (854513, 138), (-236364091, 2730))

Tail = Callable[[TwoPointSum, int], Probability]


def log_factorial(n: int) -> Decimal:
    """ln n! in the current decimal context."""
    if n < 1000:
        return Decimal(factorial(n)).ln()
    x = Decimal(n)
    series = sum(
        Decimal(top) / bottom / (2 * k * (2 * k - 1)) / x ** (2 * k - 1)
        for k, (top, bottom) in enumerate(BERNOULLI, 1)
    )
    return x * x.ln() - x + (2 * PI * x).ln() / 2 + series


def binomial_tail(n: int, t: int) -> Decimal:
    """P(Binomial(n, 1/2) >= t), from its first term outwards."""
    if t <= 0 or t > n:
        return Decimal(t <= 0)
    if 2 * t <= n:
        return 1 - binomial_tail(n, n - t + 1)
    logs = log_factorial(n) - log_factorial(t) - log_factorial(n - t) - n * Decimal(2).ln()
    term = total = Decimal(1)
    while t < n and term > total.scaleb(-45):
        term = term * (n - t) / (t + 1)
        total += term
        t += 1
    return total * logs.exp()


def exact_tail(n: int, t0: int) -> Decimal:
    """P(T >= t0) for n - ODD_ONES pairs of width 1 and ODD_ONES of width ODD."""
    ways = ((comb(ODD_ONES, j), t0 - ODD * j) for j in range(ODD_ONES + 1))
    return sum((w * binomial_tail(n - ODD_ONES, t) for w, t in ways), Decimal(0)) / 2**ODD_ONES


def law_with(n: int) -> TwoPointSum:
    """The law of which `exact_tail` is the tail."""
    return law_of(np.repeat([1, ODD], [n - ODD_ONES, ODD_ONES]))


def cases(n: int, tail: Tail, scores: Sequence[float] = SCORES) -> Iterator[Case]:
    """Tails that begin so many standard deviations above the mean."""
    law = law_with(n)
    sd = float(np.sqrt(law.counts @ law.widths.astype(float) ** 2)) / 2
    for score in scores:
        t0 = min(round(law.top / 2 + score * sd), law.top)
        found = tail(law, t0)
        with localcontext(DIGITS):
            exact = exact_tail(n, t0)
            tiny = exact < Decimal(UNDERFLOW)
            error = (Decimal(found.log).exp() if tiny else Decimal(found.value)) / exact - 1
            log10_p = float(exact.log10())
        yield Case("large N", n, log10_p, {"tilted": Found(float(abs(error)), found.error_bound)})


def run(sizes: Sequence[int] = SIZES, tail: Tail = OURS["tilted"]) -> Section:
    """The largest error for each N, of p down to 1e-300 and of log p below."""
    rows, data, wrong = [], [], []
    for n in sizes:
        print(f"accuracy: N = {n:,}", flush=True)
        found = list(cases(n, tail))
        normal = [c.found["tilted"].error for c in found if c.log10_p > -300]
        tiny = [c.found["tilted"].error / -c.log10_p / log(10) for c in found if c.log10_p <= -300]
        used = max(c.found["tilted"].error / c.found["tilted"].bound for c in found)
        worst = [max(normal), max(tiny, default=0.0)]
        rows.append([f"{n:,}", *(f"{x:.1e}" for x in worst), f"{used:.2f}"])
        data.append({"n": n, "p": worst[0], "log p": worst[1], "of_bound": used})
        if not max(*worst, PROMISE) <= PROMISE or not used <= 1:
            wrong.append(f"tilted, N = {n:,}: error {worst[0]:.2g} of p, {used:.2g} of its bound")
    head = ["N", "p down to 1e-300", "log p below", "error / bound"]
    text = (
        "Largest relative error of the default method, against binomial tails in decimals:\n\n"
        + table(head, rows)
    )
    return Section("Accuracy at large N", text, {"rows": data}, wrong)
