"""Non-inferiority and equivalence: is one system not worse by a margin, are two as good as equal?

Both turn the usual question around. The null hypothesis is that the systems do differ, by a margin
that somebody cares about or by more. Scores of 0 and 1 are tested by Tango's score test of that
difference of shares, which is approximate; other scores by the exact test of differences that are
shifted by the margin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import erfc, exp, inf, log, log1p, pi, sqrt
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from permtest._forms import AsSentence, facts, p_text, said, together
from permtest.integers import unscaled
from permtest.interval import ConfidenceInterval, interval_of, score_statistic, shift_warning
from permtest.null.distribution import SMALLEST
from permtest.pairs import Pairs
from permtest.question import SumQuestion, ask_of_scores
from permtest.result import PermutationTestResult, answer
from permtest.score import counted

#: A margin as people write it; a float stands for the decimal that it is printed as.
Margin: TypeAlias = "int | float | Decimal | Fraction"

#: Beyond this z a normal tail is below what a float64 can hold, and only its logarithm is known.
FAR = 37.0


@dataclass(frozen=True)
class MarginTestResult(AsSentence):
    """What a one-sided test against a margin found.

    Made by `noninferiority_test` and `equivalence_test`.

    Parameters
    ----------
    statistic : float
        The mean difference per pair.
    pvalue, log10_pvalue : float
        One-sided; never 0, the logarithm accurate at any size.
    alternative : str
        "greater": the mean difference exceeds the margin; "less": it falls short of it. Which of
        them says that the first system is not worse depends on whether higher scores are better.
    margin : float
        The mean difference per pair that the alternative exceeds or falls short of.
    n : int
        Number of pairs, or of clusters or items if these are swapped as a whole.
    n_informative : int
        Number of pairs, clusters or items whose difference is not the margin itself; for method
        "score" of those whose scores differ.
    names : tuple of two str
        The names of the two systems.
    method, method_reason : str
        "score" for scores of 0 and 1, else as in `PermutationTestResult`; and why.
    error_bound : float or None
        As in `PermutationTestResult`; None for "score", which is an approximation whose level
        ``python -m benchmarks.calibration`` measures.

    Examples
    --------
    >>> from permtest import noninferiority_test
    >>> result = noninferiority_test([3, 5, 4, 6, 2], [3, 5, 5, 6, 2], margin=1)
    >>> result.alternative, result.margin, result.statistic, result.pvalue
    ('greater', -1.0, -0.2, 0.0625)
    >>> result = noninferiority_test([1] * 50, [1] * 50, margin=0.05)
    >>> result.method, round(result.pvalue, 3)
    ('score', 0.052)
    """

    statistic: float
    pvalue: float
    log10_pvalue: float
    alternative: str
    margin: float
    n: int
    n_informative: int
    names: tuple[str, str]
    method: str
    method_reason: str
    error_bound: float | None
    _question: SumQuestion = field(kw_only=True, repr=False, compare=False)
    _exact: PermutationTestResult | None = field(kw_only=True, repr=False, compare=False)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """The one-sided interval for the mean difference per pair.

        Its finite end lies beyond the margin if and only if the p-value is at most
        ``1 - confidence_level``. See `PermutationTestResult.confidence_interval`.
        """
        return interval_of(self._question, confidence_level)

    @property
    def warning(self) -> str | None:
        """A sentence where the differences look unlike a shift of every pair, which is assumed."""
        if self._exact is None:
            return None
        return shift_warning(self._question.differences, self._question.swapped)

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction; ValueError for method "score", which has none."""
        if self._exact is None:
            raise ValueError("fraction needs an exact p, and that of Tango's score test is not")
        return self._exact.fraction()

    def pvalue_interval(self) -> tuple[float, float]:
        """Bounds of p: as of `PermutationTestResult`, or for method "score" p itself, twice."""
        return (self.pvalue, self.pvalue) if self._exact is None else self._exact.pvalue_interval()

    @property
    def test_text(self) -> str:
        """p, and the test that it is of."""
        sides = f"one-sided ({self.alternative})"
        p = f"p = {p_text(self.pvalue, self.log10_pvalue)}"
        if self._exact is None:
            return f"{p} by Tango's {sides} score test"
        if self.method == "bracket":
            return f"p lies {self._exact.bracket_text()} by the {sides} paired-permutation test"
        return f"{p} by the exact {sides} paired-permutation test"

    @property
    def pairs_text(self) -> str:
        """How many pairs, clusters or items there are."""
        return counted(self.n, "pairs") if self._exact is None else self._exact.size_text()

    def __str__(self) -> str:
        (a, b), score = self.names, self._question.score
        worse = "worse" if (self.alternative == "greater") == score.higher_is_better else "better"
        note = f"; {score.note}" if score.note else ""
        margin = _per_pair(abs(self.margin), score.unit or "points")
        return (
            f"To show that {a} is not {worse} than {b} by {margin} or more: {self.test_text} "
            f"(mean difference {self.statistic:.6g} over {self.pairs_text}{note}). "
            f"{self.warning or ''}".rstrip()
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields and the `warning`, as plain values."""
        return super().to_dict() | self._question.score.to_dict() | {"warning": self.warning}

    def _repr_html_(self) -> str:
        beyond = "less" if self.alternative == "greater" else "more"
        mean = _per_pair(self.statistic, self._question.score.unit or "points")
        rows = {"effect": f"mean difference {mean}, against {self.margin:.6g} or {beyond}"}
        rows |= {"p": self.test_text.removeprefix("p = "), "N": self.pairs_text}
        picture = "" if self._exact is None else self._exact._picture()
        return together(facts(rows), picture, said(self.warning or ""))


@dataclass(frozen=True)
class EquivalenceResult(AsSentence):
    """What two one-sided tests of equivalence found. Made by `equivalence_test`.

    Parameters
    ----------
    statistic : float
        The mean difference per pair.
    pvalue : float
        The greater of the two p-values: both null hypotheses have to be rejected.
    margins : tuple of two float
        Between which mean differences per pair the systems count as equivalent.
    lower, upper : MarginTestResult
        The test against the lower margin (alternative "greater"), and that against the upper one
        (alternative "less").
    n : int
        Number of pairs, or of clusters or items if these are swapped as a whole.
    names : tuple of two str
        The names of the two systems.

    Examples
    --------
    >>> from permtest import equivalence_test
    >>> result = equivalence_test([3, 5, 4, 6, 2, 4], [3, 5, 5, 6, 2, 4], margin=1)
    >>> result.margins, result.lower.pvalue, result.upper.pvalue
    ((-1.0, 1.0), 0.03125, 0.015625)
    >>> result.pvalue == max(result.lower.pvalue, result.upper.pvalue)
    True
    """

    statistic: float
    pvalue: float
    margins: tuple[float, float]
    lower: MarginTestResult
    upper: MarginTestResult
    n: int
    names: tuple[str, str]
    _question: SumQuestion = field(kw_only=True, repr=False, compare=False)

    @property
    def worst(self) -> MarginTestResult:
        """The one of the two tests that has the greater p-value."""
        return max(self.lower, self.upper, key=lambda test: test.log10_pvalue)

    @property
    def log10_pvalue(self) -> float:
        """Decimal logarithm of p, accurate at any size."""
        return self.worst.log10_pvalue

    @property
    def warning(self) -> str | None:
        """A sentence where the differences look unlike a shift of every pair, which is assumed."""
        return self.lower.warning

    def confidence_interval(self, confidence_level: float = 0.90) -> ConfidenceInterval:
        """The two-sided interval for the mean difference per pair.

        Parameters
        ----------
        confidence_level : float, default 0.90
            ``1 - 2 alpha`` for tests of level alpha: the interval lies inside of the margins if
            and only if the p-value is at most alpha.

        Returns
        -------
        ConfidenceInterval
        """
        return interval_of(self._question, confidence_level)

    def __str__(self) -> str:
        (a, b), (low, high), worst = self.names, self.margins, self.worst
        relation = "is at most" if worst.method == "bracket" else "="
        tests = "exact one-sided paired-permutation tests"
        tests = "of Tango's one-sided score tests" if worst.method == "score" else tests
        high_text = _per_pair(high, self._question.score.unit or "points")
        return (
            f"To show that the mean difference of {a} and {b} lies between {low:.6g} and "
            f"{high_text}: p {relation} {p_text(worst.pvalue, worst.log10_pvalue)} by two {tests} "
            f"(it is {self.statistic:.6g} over {worst.pairs_text}). {self.warning or ''}".rstrip()
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, both tests as dictionaries, and the `warning`."""
        return super().to_dict() | {"log10_pvalue": self.log10_pvalue, "warning": self.warning}

    def _repr_html_(self) -> str:
        return together(said(str(self)), *(x._repr_html_() for x in (self.lower, self.upper)))


def noninferiority_test(
    u: Any,
    v: Any = None,
    margin: Margin | None = None,
    *,
    clusters: Any = None,
    names: tuple[str, str] | None = None,
    higher_is_better: bool | None = None,
) -> MarginTestResult:
    """Test that the first system is not worse than the second by a margin or more.

    The null hypothesis is that it is worse by `margin` per pair: that the mean difference is
    ``-margin``, or lower. A small p speaks for "not worse", which an ordinary test that finds no
    difference does not. Where lower scores are better, as the `score` of `Pairs` or
    `higher_is_better` says, it is ``margin``, or higher.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        Scores of the two systems on the same items, as in `exact_perm_test`; or one `Pairs`, and
        `v` left out: the margin may come second then.
    margin : int, float, Decimal or Fraction
        Positive, in scores per pair. A float stands for the decimal that it is printed as.
        Choose it before looking at the scores.
    clusters : array_like of shape (N,), optional
        As in `exact_perm_test`. Default: those that `Pairs` bring, if any.
    names : tuple of two str, optional
        The names of the two systems. Default: names of the columns, if they have any.
    higher_is_better : bool, optional
        Default: what names say, as "loss" in "loss_a" and "loss_b", else True. The result says so.

    Returns
    -------
    MarginTestResult
        With alternative "greater", or "less" where lower scores are better; `statistic` is the
        mean difference.

    Raises
    ------
    TypeError, ValueError
        If the margin is no positive number (for scores of 0 and 1: none between 0 and 1), or the
        scores are not numbers of equal number.

    Notes
    -----
    Scores of 0 and 1, without clusters: Tango's score test (1998) of the difference of shares. It
    is approximate: from 20 items on, and for margins up to 0.2, a test at level 0.05 rejects a true
    null in 7.5% of samples at most, mostly in 3 to 5% (``python -m benchmarks.calibration``). Other
    scores: the exact test, which assumes a shift, that differences are symmetric about a value that
    is the same for all pairs. Then a test at level alpha rejects a true null with probability alpha
    at most. The result has a `warning` where differences look skewed, or are mostly 0. In clusters
    every pair is shifted. Cost: as `exact_perm_test`, times a few where the denominator of `margin`
    is large.

    Examples
    --------
    >>> from permtest.margins import noninferiority_test
    >>> u, v = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]
    >>> r = noninferiority_test(u, v, 0.5, names=("small", "large"))
    >>> r.statistic, r.fraction()
    (0.0, Fraction(3, 32))
    """
    if isinstance(u, Pairs) and margin is None:
        v, margin = None, v
    bound = _as_margin(margin, "margin", "positive: it is how much worse the first system may be")
    question = ask_of_scores(u, v, names=names, clusters=clusters)
    score = question.score.stated(higher_is_better)
    side, bound = ("greater", -bound) if score.higher_is_better else ("less", bound)
    stated = replace(question, higher_is_better=higher_is_better, alternative=side)
    return against(stated, bound)


def equivalence_test(
    u: Any,
    v: Any = None,
    margin: Margin | tuple[Margin, Margin] | None = None,
    *,
    clusters: Any = None,
    names: tuple[str, str] | None = None,
) -> EquivalenceResult:
    """Test that two systems differ by less than a margin: two one-sided tests.

    The null hypothesis is that the mean difference is `margin` or more in either direction. It is
    rejected where both one-sided tests reject, each at the full level, so that p is the greater of
    their two p-values (Schuirmann 1987).

    Parameters
    ----------
    u, v : array_like of shape (N,)
        Scores of the two systems on the same items, as in `exact_perm_test`; or one `Pairs`, and
        `v` left out: the margin may come second then.
    margin : int, float, Decimal or Fraction, or a pair of them
        In scores per pair: a positive number, for differences between ``-margin`` and ``margin``;
        or ``(low, high)``, one below and one above 0. A float stands for the decimal that it is
        printed as. Choose it before looking at the scores.
    clusters : array_like of shape (N,), optional
        As in `exact_perm_test`. Default: those that `Pairs` bring, if any.
    names : tuple of two str, optional
        The names of the two systems. Default: names of the columns, if they have any.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    TypeError, ValueError
        If a margin is no number or has the wrong sign, or the scores are not numbers of equal
        number.

    Notes
    -----
    Tests, assumptions and `warning` are those of `noninferiority_test`.

    Examples
    --------
    >>> from permtest.margins import equivalence_test
    >>> u, v = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]
    >>> r = equivalence_test(u, v, 1)
    >>> r.pvalue, r.lower.pvalue, r.upper.pvalue
    (0.03125, 0.03125, 0.03125)
    >>> tuple(r.confidence_interval())
    (-0.5, 0.5)
    """
    if isinstance(u, Pairs) and margin is None:
        v, margin = None, v
    low, high = _as_margins(margin)
    question = ask_of_scores(u, v, names=names, clusters=clusters)
    lower = against(replace(question, alternative="greater"), low)
    upper = against(replace(question, alternative="less"), high)
    return EquivalenceResult(
        statistic=lower.statistic,
        pvalue=max(lower.pvalue, upper.pvalue),
        margins=(float(low), float(high)),
        lower=lower,
        upper=upper,
        n=lower.n,
        names=question.names,
        _question=question,
    )


def against(question: SumQuestion, margin: Fraction) -> MarginTestResult:
    """Test the mean difference against one margin; `question` has the alternative."""
    size = question.n_entries or question.law.n or 1
    exact, found = None, {}
    if question.wins is not None:
        found = _score_test(*question.wins, margin, question.alternative)
    else:
        exact = answer(question.shifted(margin))
        shared = ("pvalue", "log10_pvalue", "n_informative", "method", "method_reason")
        found = {name: getattr(exact, name) for name in (*shared, "error_bound")}
    return MarginTestResult(
        statistic=float(unscaled(question.observed, question.scale * size)),
        alternative=question.alternative,
        margin=float(margin),
        n=question.law.n,
        names=question.names,
        _question=question,
        _exact=exact,
        **found,
    )


def _score_test(b: int, c: int, n: int, margin: Fraction, alternative: str) -> dict[str, Any]:
    """Tango's test of b wins and c losses among n."""
    if abs(margin) >= 1:
        raise ValueError(
            f"margin = {float(abs(margin)):g} is out of range: shares of right answers differ by "
            "less than 1; give a margin between 0 and 1, such as 0.05"
        )
    z = score_statistic(b, c, n, float(margin))
    z = z if alternative == "greater" else -z
    if z < FAR:
        p = erfc(z / sqrt(2)) / 2
        log_p = log(p)
    else:  # the first terms of Mills' ratio, whose error is below 1e-12 here
        log_p = -z * z / 2 - log(z * sqrt(2 * pi))
        log_p += log1p(-(z**-2) + 3 * z**-4 - 15 * z**-6 + 105 * z**-8)
        p = max(exp(log_p), SMALLEST)
    return {
        "pvalue": p,
        "log10_pvalue": log_p / log(10),
        "n_informative": b + c,
        "method": "score",
        "method_reason": "no shift of every pair turns scores of 0 and 1 into such scores",
        "error_bound": None,
    }


def _per_pair(lead: float, unit: str) -> str:
    return f"{lead:.6g} {unit.removesuffix('s') if lead == 1 else unit} per pair"


def _as_margins(margin: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(margin, tuple | list):
        high = _as_margin(margin, "margin", "positive, or a pair (low, high)")
        return -high, high
    if len(margin) != 2:
        raise ValueError(f"margin has {len(margin)} values; give one number, or two (low, high)")
    why = "0: a pair of margins is (low, high), the differences that do not matter"
    low = _as_margin(margin[0], "margin[0]", f"below {why}", -1)
    return low, _as_margin(margin[1], "margin[1]", f"above {why}")


def _as_margin(margin: Any, name: str, what: str, sign: int = 1) -> Fraction:
    """The number as it is written, if it has this sign."""
    if isinstance(margin, bool | np.bool_) or not isinstance(margin, Real | Decimal):
        raise TypeError(f"{name} = {margin!r} must be a number, not {type(margin).__name__}")
    if margin in (inf, -inf) or margin != margin:
        raise ValueError(f"{name} = {margin} is not finite; give a margin in scores per pair")
    number = Fraction(str(margin))
    if number * sign <= 0:
        raise ValueError(f"{name} = {margin} must be {what}")
    return number
