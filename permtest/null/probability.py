"""A probability that is never 0, with its logarithm and a bound on its error."""

from __future__ import annotations

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

EPS = float(np.finfo(np.float64).eps)

#: Below this a sum of float64 cells may have lost some to underflow, and logarithms take over.
UNDERFLOW = 1e-300


class Probability(NamedTuple):
    """A probability, its natural logarithm, and a bound on the relative error of the former.

    `value` is never 0: what is smaller than any float64 becomes the smallest one. Then `log` still
    has the digits, and `error_bound` speaks of its exponential.
    """

    value: float
    log: float
    error_bound: float

    @classmethod
    def of(cls, value: float, error_bound: float) -> Probability:
        """From a float above `UNDERFLOW`."""
        value = min(value, 1.0)
        return cls(value, log(value), error_bound)

    @classmethod
    def of_log(cls, log_value: float, error_bound: float) -> Probability:
        """From a logarithm with few roundings, which exp magnifies."""
        log_value = min(log_value, 0.0)
        value = max(exp(log_value), float(np.nextafter(0.0, 1.0)))
        return cls(value, log_value, error_bound + EPS * (2 + 2 * abs(log_value)))

    def plus(self, other: Probability) -> Probability:
        """The probability of either of two events that exclude each other."""
        bound = max(self.error_bound, other.error_bound) + EPS
        if max(self.value, other.value) > UNDERFLOW:
            return Probability.of(self.value + other.value, bound)
        high, low = max(self.log, other.log), min(self.log, other.log)
        return Probability.of_log(high + log1p(exp(low - high)), bound)


CERTAIN = Probability(1.0, 0.0, 0.0)
