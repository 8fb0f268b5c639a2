"""What the tests of null laws share: laws of widths, and their tails in integers."""

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np

from permtest.null.distribution import Probability, TwoPointSum, count_values, from_widths
from permtest.null.multinomial_sum import Draw, MultinomialSum


def law_of(widths) -> TwoPointSum:
    """The law of the sum of these widths, each there or not."""
    huge = max(map(int, widths), default=0) >= 2**62
    widths = np.array(widths, dtype=object if huge else np.int64)
    return from_widths(len(widths), *count_values(widths))


def sum_of(tables) -> MultinomialSum:
    """The law of a sum of tables: values, weights, and how many items are like that."""
    draws = []
    for values, weights, n in tables:
        steps, weights = zip(*sorted(zip(values, weights, strict=True)), strict=True)
        draws.append(Draw(steps, 1, n, 0, weights))
    return MultinomialSum.of(draws)


def counted(law: TwoPointSum) -> Callable[[int], Fraction]:
    """P(T >= t0) as a function of t0, from a polynomial packed into one integer."""
    bits, ways = law.n_informative + 2, 1
    for width in np.repeat(law.widths, law.counts).tolist():
        ways += ways << bits * width
    # Modulo 2^bits - 1 the digits add up.
    return lambda t0: Fraction((ways >> bits * max(t0, 0)) % ((1 << bits) - 1), 2 ** (bits - 2))


def relative_error(found: Probability, exact: Fraction) -> float:
    """Of p where a float64 holds it, of log p below."""
    if exact > Fraction(1, 10**300):
        return abs(float(Fraction(found.value) / exact - 1))
    return abs(found.log / (log(exact.numerator) - log(exact.denominator)) - 1)


def holds(errors, bounds, negligible=1e-13):
    """Whether no error exceeds its bound, and the largest bound is not absurd, or negligible."""
    errors, bounds = np.atleast_1d(errors), np.atleast_1d(bounds)
    return np.all(errors <= bounds) and bounds.max() <= max(1e4 * errors.max(), negligible)
