"""How much bias would undo a finding: Rosenbaum's bound on p where signs are not quite fair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp, log

import numpy as np

from permtest._checks import check_finite, check_level
from permtest._forms import AsFields, p_text
from permtest.null.distribution import EPS, Probability, TwoPointSum, add_counts, from_widths
from permtest.null.many_point import ManyPointSum
from permtest.null.tail import shorten
from permtest.null.tail_kernels import OUTSIDE
from permtest.question import Question, SumQuestion, by_tails

#: No test of pairs withstands more; the largest gamma is found to so much of itself.
MOST, DIGITS = 1e6, 1e-4

#: Cells that a lattice may have over so many standard deviations; longer ones are made coarser.
MOST_CELLS, SPAN = 2**20, 20


@dataclass(frozen=True)
class SensitivityResult(AsFields):
    """How large p could be with a hidden bias. Made by `PermutationTestResult.sensitivity`.

    Parameters
    ----------
    gamma : float
        Under the null hypothesis the odds that a difference favours one system lie between
        1 / gamma and gamma, pair by pair, for whatever reason.
    pvalue, log10_pvalue : float
        Upper bound on p under all such odds, attained for one-sided tests; never 0. With gamma = 1
        it is p, or a little more where scores have so many digits that they have to be rounded.
    error_bound : float
        Bound on the relative error of `pvalue`.
    alternative : str
    names : tuple of two str

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([1] * 20 + [0] * 10, [0] * 18 + [1] * 12, alternative="greater")
    >>> round(result.pvalue, 4), round(result.sensitivity(1.5).pvalue, 4)
    (0.0925, 0.3986)
    """

    gamma: float
    pvalue: float
    log10_pvalue: float
    error_bound: float
    alternative: str
    names: tuple[str, str]

    def __str__(self) -> str:
        a, b = self.names
        p = p_text(self.pvalue, self.log10_pvalue)
        return (
            f"If a bias made it up to {self.gamma:g} times as likely that a pair favours {a} as "
            f"that it favours {b}, or the reverse, p could be as large as {p}."
        )


def sensitivity(question: SumQuestion, gamma: float) -> SensitivityResult:
    """The upper bound on p where the odds of each sign lie within 1 / gamma and gamma."""
    if check_finite(gamma, "gamma") < 1:
        raise ValueError(f"gamma={gamma} must be 1 or more: the odds that favour either system")
    if gamma > MOST:
        raise ValueError(f"gamma={gamma} is more than {MOST:,.0f}, at which p could be anything")
    p = _bound(question, Fraction(str(gamma)))
    return SensitivityResult(
        float(gamma), p.value, p.log10, p.error_bound, question.alternative, question.names
    )


def tipping_gamma(question: SumQuestion, alpha: float) -> float | None:
    """The largest gamma, to four digits, whose bound is at most alpha; None if not even 1 is."""
    from scipy.optimize import brentq

    def excess(x: float) -> float:
        return _bound(question, Fraction(exp(x))).log - log(alpha)

    check_level(alpha)
    low, high = 0.0, log(2)
    if excess(low) > 0:
        return None
    while excess(high) <= 0:
        if high >= log(MOST):
            return MOST
        low, high = high, min(2 * high, log(MOST))
    return exp(max(brentq(excess, low, high, xtol=DIGITS / 2) - DIGITS / 2, 0.0))


def _bound(question: Question, gamma: Fraction) -> Probability:
    """P(T <= lower or T >= upper), each at its most: where all odds are gamma (Rosenbaum 2002)."""
    if question.slack:
        question = question.around()[1]  # every labelling that may tie is extreme
    if question.thresholds is None:
        raise ValueError("the bound is for tests of a sum without h; leave h out")
    return by_tails(question, partial(_tail, gamma=gamma))


def _tail(law: TwoPointSum, t0: int, gamma: Fraction) -> Probability:
    """P(T >= t0) where every difference points upward with odds gamma, or a little more."""
    if _cell(law) > 1:
        law, t0 = shorten(law, t0) or (law, t0)
    if _cell(law) > 1:
        law, t0 = _coarser(law, t0)
    ahead = float(gamma / (gamma + 1)) * law.top - t0
    if ahead > 0 and (ahead / law.deviation) ** 2 > 2 * OUTSIDE:  # Hoeffding's bound of 1 - p
        return Probability.of(1.0, EPS)
    odds = gamma.denominator, gamma.numerator
    return ManyPointSum.of_coins(law.widths, law.counts, *odds).tail(t0)


def _cell(law: TwoPointSum) -> int:
    """How long the cells of a lattice of `MOST_CELLS` have to be."""
    return int(SPAN * law.deviation) // MOST_CELLS


def _coarser(law: TwoPointSum, t0: int) -> tuple[TwoPointSum, int]:
    """Widths rounded to longer cells, and a threshold as much lower as they may have lost."""
    cell, widths = _cell(law), law.widths.astype(object)
    rounded = (2 * widths + cell) // (2 * cell)
    lost = int(np.maximum(widths - rounded * cell, 0) @ law.counts.astype(object))
    new = from_widths(law.n, *add_counts(rounded, law.counts))
    return new, -(-(t0 - lost) // (cell * new.unit))
