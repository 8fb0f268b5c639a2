"""How much bias would undo a finding: Rosenbaum's bound on p where signs are not quite fair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from permtest._checks import check_finite, check_level
from permtest._json import AsJson
from permtest.comparison import Comparison
from permtest.null.many_point import ManyPointSum
from permtest.null.probability import CERTAIN, Probability

#: No test of pairs withstands more.
MOST = 1e6


@dataclass(frozen=True)
class SensitivityResult(AsJson):
    """The largest p that a hidden bias could have caused. Made by `PermutationTestResult.sensitivity`.

    Parameters
    ----------
    gamma : float
        Under the null hypothesis the odds that a difference favours one system lie between
        1 / gamma and gamma, pair by pair, for whatever reason.
    pvalue, log10_pvalue : float
        Upper bound on p under all such odds, attained for one-sided tests; never 0. With gamma = 1
        it is p.
    error_bound : float
        Bound on the relative error of `pvalue`.
    alternative : str
    names : tuple of two str

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([1] * 20 + [0] * 10, [0] * 18 + [1] * 12, alternative="greater")
    >>> result.pvalue, result.sensitivity(1.5).pvalue
    (0.06802, 0.2)
    """

    gamma: float
    pvalue: float
    log10_pvalue: float
    error_bound: float
    alternative: str
    names: tuple[str, str]

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, strings and lists."""
        return {**vars(self), "names": list(self.names)}

    def __str__(self) -> str:
        a, b = self.names
        p = f"{self.pvalue:.3g}" if self.pvalue > 1e-300 else f"1e{self.log10_pvalue:.1f}"
        return (
            f"If a bias made it up to {self.gamma:g} times as likely that a pair favours {a} as "
            f"that it favours {b}, or the reverse, p could be as large as {p}."
        )


def sensitivity(comparison: Comparison, gamma: float) -> SensitivityResult:
    """The upper bound on p where the odds of each sign lie within 1 / gamma and gamma.

    The tail of a sum of the sizes of the differences that point one way is largest where all odds
    are gamma (Rosenbaum 2002, sec. 4.3).
    """
    if check_finite(gamma, "gamma") < 1:
        raise ValueError(f"gamma={gamma} must be 1 or more: the odds that favour either system")
    if gamma > MOST:
        raise ValueError(f"gamma={gamma} is more than {MOST:,.0f}, at which p could be anything")
    p = _bound(comparison, Fraction(str(gamma)))
    return SensitivityResult(
        float(gamma), p.value, p.log10, p.error_bound, comparison.alternative, comparison.names
    )


def tipping_gamma(comparison: Comparison, alpha: float) -> float | None:
    """The largest gamma, to four digits, whose bound is at most alpha; None if not even 1 is."""
    check_level(alpha)
    if _bound(comparison, Fraction(1)).value > alpha:
        return None
    low, high = 1.0, 2.0
    while high < MOST and _bound(comparison, Fraction(str(high))).value <= alpha:
        low, high = high, high * high
    high = min(high, MOST)
    while round(high, 4) - round(low, 4) > 1e-4 * low:
        middle = float(f"{sqrt(low * high):.6g}")
        if not low < middle < high:
            break
        within = _bound(comparison, Fraction(str(middle))).value <= alpha
        low, high = (middle, high) if within else (low, middle)
    return low


def _bound(comparison: Comparison, gamma: Fraction) -> Probability:
    """P(T <= lower or T >= upper), each at its most."""
    if comparison.slack:
        comparison = comparison.around()[1]  # every labelling that may tie is extreme
    if comparison.tails is None:
        raise ValueError("the bound is for tests of a sum without h; leave h out")
    (lower, upper), law = comparison.tails, comparison.law
    if upper - lower <= 1 or law.n_informative == 0:
        return CERTAIN
    odds = _with_odds(comparison, gamma)
    if lower < 0:
        return odds.tail(upper)
    below = odds.tail(law.top - lower)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else odds.tail(upper))


def _with_odds(comparison: Comparison, gamma: Fraction) -> ManyPointSum:
    """The law of T where every difference points upward with odds gamma."""
    law = comparison.law
    steps = np.zeros(2 * law.widths.size, dtype=np.int64)
    if law.top >= 2**52:
        raise ValueError(
            "the differences have too many digits for this bound; round scores to fewer of them"
        )
    steps[1::2] = law.widths
    weights = [gamma.denominator, gamma.numerator] * law.widths.size
    starts = np.arange(0, steps.size, 2, dtype=np.int64)
    return ManyPointSum(steps, weights, starts, law.counts)
