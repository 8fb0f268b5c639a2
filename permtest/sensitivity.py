"""How much bias would undo a finding: Rosenbaum's bound on p where signs are not quite fair."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np

from permtest._checks import TooHard, check_finite, check_level
from permtest._forms import AsFields
from permtest._jit import NUMBA
from permtest.null.distribution import (
    CERTAIN,
    EPS,
    Probability,
    TwoPointSum,
    add_counts,
    from_widths,
)
from permtest.null.many_point import LONG, LONG_EPS, ManyPointSum, in_two_parts
from permtest.null.tail import shorten, sum_tail
from permtest.null.tail_kernels import LIKELY, OUTSIDE, SMALL, TiltedLaw, Window, find_window
from permtest.question import Question, SumQuestion

#: No test of pairs withstands more; the largest gamma is found to so much of itself.
MOST, DIGITS = 1e6, 1e-4

#: Cells that a lattice may have over so many standard deviations; longer ones are made coarser.
MOST_CELLS, SPAN = 2**20, 20

#: Widths that a tail may look at: some tenths of a second.
WORK = 5 * 10**7


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
        p = f"{self.pvalue:.3g}" if self.pvalue > 1e-300 else f"1e{self.log10_pvalue:.1f}"
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
    if question.tails is None:
        raise ValueError("the bound is for tests of a sum without h; leave h out")
    (lower, upper), law = question.tails, question.law
    if upper - lower <= 1 or law.n_informative == 0:
        return CERTAIN
    if lower < 0:
        return _tail(law, upper, gamma)
    below = _tail(law, law.top - lower, gamma)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else _tail(law, upper, gamma))


def _tail(law: TwoPointSum, t0: int, gamma: Fraction) -> Probability:
    """P(T >= t0) where every difference points upward with odds gamma, or a little more."""
    if _cell(law) > 1:
        law, t0 = shorten(law, t0) or (law, t0)
    if long := _cell(law) > 1:
        law, t0 = _coarser(law, t0)
    ahead = float(gamma / (gamma + 1)) * law.top - t0
    if ahead > 0 and (ahead / law.deviation) ** 2 > 2 * OUTSIDE:  # Hoeffding's bound of 1 - p
        return Probability.of(1.0, EPS)
    if not long and NUMBA and 0 < t0 <= law.top < 2**53:
        q, r = (in_two_parts(x / (gamma + 1)) for x in (gamma, Fraction(1)))
        with suppress(TooHard):
            low = _leaning(law, law.top - t0 + 1, r, q) if ahead > 0 else CERTAIN
            return low.complement() if low.value < 0.9 else _leaning(law, t0, q, r)
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


def _leaning(law: TwoPointSum, t0: int, q: Any, r: Any) -> Probability:
    """P(T >= t0) where entries move with probability q = 1 - r; TooHard if it would take long."""
    # Tilted by tau, an entry of width w moves with the odds exp(tau w) q / r; K(tau) is the sum of
    # log(r + q exp(tau w)). The error is that of K, which is computed in extended precision, and
    # of the floats that probabilities are rounded to afterwards.
    counts, top = law.counts, law.top
    if t0 == top:
        total = np.log(q) * law.n_informative
        rough = 8 * LONG_EPS * float(abs(total)) + 8 * LONG_EPS * law.n_informative
        return Probability.of_product(float(total), float(total - LONG(float(total))), 1.0, rough)
    tau = _tilt_to(law, t0, float(np.log(q) - np.log(r)))
    x = LONG(tau) * law.widths
    z = x + (np.log(q) - np.log(r))
    odds, sign = np.exp(-np.abs(z)), np.sign(z)
    small = odds / (1 + odds)  # the probability of the less likely side
    sure = small < 1 - LIKELY
    base = np.where(sure, sign, 0).astype(np.int64)
    rest = np.where(sure, -2 * sign * small, np.tanh(z / 2)).astype(np.float64)
    tilt = np.stack([base, rest, 4 * small * (1 - small)]).astype(np.float64)
    tilted = TiltedLaw(law.widths, counts, tilt)
    twice = LONG(int(counts @ (law.widths * (1 + base))) - 2 * t0)
    shift = (twice + (counts * law.widths).astype(LONG) @ rest.astype(LONG)) / 2
    m, cells, variance = find_window(top, top - t0, float(shift), tilted)
    if m * float(law.widths[-1]) > 2**62:
        raise TooHard("the lattice of the sums is too long")
    logs = np.where(
        x < 1, np.log1p(q * np.expm1(np.minimum(x, 1))), np.logaddexp(np.log(r), np.log(q) + x)
    )
    exponent, deviation = logs @ counts - LONG(tau) * t0, sqrt(variance)
    moved = float((counts * law.widths) @ small)
    error = 4 * EPS * moved * (tau + 1 / deviation)
    error += 8 * LONG_EPS * (float(logs @ counts) + tau * (2 * t0 + abs(float(shift))))
    high = float(exponent)
    parts = (float(shift), float(shift - LONG(float(shift)))), (high, float(exponent - high), error)
    cut = SMALL + log1p(deviation)
    return sum_tail(law, tilted, Window(tau, *parts, m, cells, cut, deviation), WORK)


def _tilt_to(law: TwoPointSum, t0: int, lean: float) -> float:
    """The tilt whose mean is t0, about, where odds are exp(lean); at least 1 / deviation."""
    from scipy.optimize import brentq

    widths = law.widths.astype(np.float64)

    def beyond(tau: float) -> float:
        return float((law.counts * widths) @ (1 / (1 + np.exp(-(tau * widths + lean))))) - t0

    low, high = 1 / law.deviation, 600 / widths[0]  # there, nearly all of the mass is at the top
    if low >= high or beyond(low) >= 0:
        return low
    return high if beyond(high) <= 0 else float(brentq(beyond, low, high, rtol=1e-6))
