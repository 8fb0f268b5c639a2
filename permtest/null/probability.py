"""A probability that is never 0, with its logarithm and a bound on its error."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, ldexp, log, log1p, log10
from typing import NamedTuple

import numpy as np

EPS = float(np.finfo(np.float64).eps)

#: Below this a sum of float64 cells may have lost some to underflow, and logarithms take over.
UNDERFLOW = 1e-300
SMALLEST = float(np.nextafter(0.0, 1.0))


class TooHard(ArithmeticError):
    """A method cannot compute this p in reasonable time; the message says what can."""


class Probability(NamedTuple):
    """A probability, its natural logarithm, and a bound on the relative error of the former.

    `value` is 0 for nothing but what is impossible: what is smaller than any float64 becomes the
    smallest one. Then `log` still has the digits, and `error_bound` speaks of its exponential.
    """

    value: float
    log: float
    error_bound: float

    @classmethod
    def of(cls, value: float, error_bound: float) -> Probability:
        """From a float above `UNDERFLOW`, or 0 for what is impossible."""
        if value == 0:
            return IMPOSSIBLE
        value = min(value, 1.0)
        return cls(value, log(value), error_bound)

    @classmethod
    def of_log(cls, log_value: float, error_bound: float) -> Probability:
        """From a logarithm with few roundings, which exp magnifies."""
        if log_value == -inf:
            return IMPOSSIBLE
        log_value = min(log_value, 0.0)
        value = max(exp(log_value), SMALLEST)
        return cls(value, log_value, error_bound + EPS * (2 + 2 * abs(log_value)))

    @classmethod
    def of_ratio(cls, count: int, exponent: int) -> Probability:
        """count / 2^exponent, rounded once."""
        if count == 0:
            return IMPOSSIBLE
        p = Fraction(count, 2**exponent)
        if p > UNDERFLOW:
            return cls.of(float(p), EPS / 2)
        return cls.of_log(log(count) - exponent * log(2.0), EPS * exponent)

    @classmethod
    def of_product(cls, high: float, low: float, factor: float, error_bound: float) -> Probability:
        """exp(high + low) * factor, `low` being a rounding of `high`, which is at most 0."""
        log_value = min(high + (low + log(factor)), 0.0)
        if log_value < log(UNDERFLOW):
            return cls(max(exp(log_value), SMALLEST), log_value, error_bound)
        # Half of the exponent at a time: exp(high) alone could underflow.
        value = exp(high / 2) * (1 + low) * factor * exp(high / 2)
        return cls(min(value, 1.0), log_value, error_bound + 4 * EPS)

    @property
    def log10(self) -> float:
        """The decimal logarithm; of `value` as it is printed, where that is a normal float64."""
        return log10(self.value) if self.value > UNDERFLOW else self.log / log(10.0)

    def plus(self, other: Probability) -> Probability:
        """The probability of either of two events that exclude each other."""
        if other.value == 0:
            return self
        doubled = self.value == other.value  # which rounds nothing
        bound = max(self.error_bound, other.error_bound) + (0.0 if doubled else EPS)
        if max(self.value, other.value) > UNDERFLOW:
            return Probability.of(self.value + other.value, bound)
        high, low = max(self.log, other.log), min(self.log, other.log)
        return Probability.of_log(high + log1p(exp(low - high)), bound)

    def halved(self, times: int) -> Probability:
        """p / 2^times, exactly where a normal float64 holds it."""
        value, log_value = ldexp(self.value, -times), self.log - times * log(2.0)
        if times == 0 or value > UNDERFLOW:
            return Probability(value, log_value, self.error_bound)
        return Probability.of_log(log_value, self.error_bound)

    def complement(self) -> Probability:
        """1 - p, for p at most about 1/2, where nothing cancels."""
        value = 1.0 - self.value
        return Probability.of(value, self.error_bound * self.value / value + EPS)


CERTAIN = Probability(1.0, 0.0, 0.0)
#: Not a p-value: of an event beyond the ends of the support.
IMPOSSIBLE = Probability(0.0, -inf, 0.0)
