"""Non-inferiority and equivalence: is one system not worse by a margin, are two as good as equal?

Both turn the usual question around. The null hypothesis is that the systems do differ, by a margin
that somebody cares about or by more; it is tested by shifting the differences by that margin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from permtest._forms import AsFields, said, together
from permtest.integers import unscaled
from permtest.interval import ConfidenceInterval, shift_interval, symmetry_warning
from permtest.pairs import Pairs
from permtest.question import SumQuestion, ask_of_scores
from permtest.result import PermutationTestResult, answer

#: A margin as people write it; a float stands for the decimal that it is printed as.
Margin: TypeAlias = "int | float | Decimal | Fraction"


@dataclass(frozen=True)
class MarginTestResult(PermutationTestResult):
    """What a one-sided test against a margin found: a `PermutationTestResult` of shifted scores.

    Its null distribution is that of the sum of all differences less the margin. Made by
    `noninferiority_test` and `equivalence_test`.

    Parameters
    ----------
    statistic : float
        The mean difference per pair.
    pvalue, log10_pvalue : float
        One-sided.
    alternative : str
        "greater": the mean difference exceeds the margin; "less": it falls short of it. Which of
        them says that the first system is not worse depends on whether higher scores are better.
    n : int
        Number of pairs, or of clusters or items if these are swapped as a whole.
    n_informative : int
        Number of pairs, clusters or items whose difference is not the margin itself.
    method, method_reason, error_bound, metric, names, totals, n_samples, n_extreme
    n_entries, scores, reading
        As in `PermutationTestResult`; `totals`, `n_samples`, `n_extreme` and `scores` are None.
    margin : float
        The mean difference per pair that the alternative exceeds or falls short of.

    Examples
    --------
    >>> from permtest import noninferiority_test
    >>> result = noninferiority_test([3, 5, 4, 6, 2], [3, 5, 5, 6, 2], margin=1)
    >>> result.alternative, result.margin, result.statistic, result.pvalue
    ('greater', -1.0, -0.2, 0.0625)
    """

    margin: float = field(kw_only=True)
    _unshifted: SumQuestion = field(kw_only=True, repr=False, compare=False)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """The one-sided exact interval for the mean difference per pair.

        Its finite end lies beyond the margin if and only if the p-value is at most
        ``1 - confidence_level``. See `PermutationTestResult.confidence_interval`.
        """
        return shift_interval(self._unshifted, confidence_level)

    @property
    def warning(self) -> str | None:
        """A sentence where few differences look skewed: the test assumes that they are not."""
        return symmetry_warning(*self._unshifted.differences, self.swapped)

    def __str__(self) -> str:
        a, b = self.names
        upward = self.alternative == "greater"
        worse = "worse" if upward == self.score.higher_is_better else "better"
        note = f"; {self.score.note}" if self.score.note else ""
        test = f"{self.sides_text()} paired-permutation test"
        p = f"p = {self.pvalue_text()} by the exact {test}"
        if self.method == "bracket":
            p = f"p lies {self.bracket_text()} by the {test}"
        return (
            f"To show that {a} is not {worse} than {b} by {_per_pair(abs(self.margin), self.unit)} "
            f"or more: {p} (mean difference {self.statistic:.6g} over {self.pairs_text()}{note}). "
            f"{self.warning or ''}".rstrip()
        )

    @property
    def difference(self) -> float:
        """The mean difference per pair."""
        return float(self.statistic)

    def to_dict(self) -> dict[str, Any]:
        """As of `PermutationTestResult`, and the `warning`."""
        return super().to_dict() | {"warning": self.warning}

    def _repr_html_(self) -> str:
        return together(super()._repr_html_(), said(self.warning or ""))

    def effect_text(self, *, direction: bool = True) -> str:
        """The mean difference, and the margin that it is held against."""
        beyond = "less" if self.alternative == "greater" else "more"
        mean = _per_pair(self.statistic, self.unit)
        note = f" ({self.score.note})" if direction and self.score.note else ""
        return f"mean difference {mean}, against {self.margin:.6g} or {beyond}{note}"

    def pairs_text(self) -> str:
        """How many pairs, clusters or items there are."""
        return self.size_text()


@dataclass(frozen=True)
class EquivalenceResult(AsFields):
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
        """A sentence where few differences look skewed: the tests assume that they are not."""
        return self.lower.warning

    def confidence_interval(self, confidence_level: float = 0.90) -> ConfidenceInterval:
        """The two-sided exact interval for the mean difference per pair.

        Parameters
        ----------
        confidence_level : float, default 0.90
            ``1 - 2 alpha`` for tests of level alpha: an exact interval lies inside of the margins
            if and only if the p-value is at most alpha.

        Returns
        -------
        ConfidenceInterval
        """
        return shift_interval(self._question, confidence_level)

    def __str__(self) -> str:
        a, b = self.names
        low, high = self.margins
        relation = "is at most" if self.worst.method == "bracket" else "="
        return (
            f"To show that the mean difference of {a} and {b} lies between {low:.6g} and "
            f"{_per_pair(high, self.lower.unit)}: p {relation} {self.worst.pvalue_text()} by two "
            f"exact one-sided paired-permutation tests (it is {self.statistic:.6g} over "
            f"{self.lower.pairs_text()}). {self.warning or ''}".rstrip()
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, both tests as dictionaries, and the `warning`."""
        return super().to_dict() | {"log10_pvalue": self.log10_pvalue, "warning": self.warning}

    def _repr_html_(self) -> str:
        return together(
            said(str(self)),
            *(PermutationTestResult._repr_html_(x) for x in (self.lower, self.upper)),
        )


def noninferiority_test(
    u: Any,
    v: Any = None,
    margin: Margin | None = None,
    *,
    names: tuple[str, str] | None = None,
    higher_is_better: bool | None = None,
) -> MarginTestResult:
    """Exact test that the first system is not worse than the second by a margin or more.

    The null hypothesis is that it is worse by `margin` per pair: that the differences are symmetric
    about ``-margin``, or about something lower. A small p speaks for "not worse", which an ordinary
    test that finds no difference does not. Where lower scores are better, as the `score` of `Pairs`
    or `higher_is_better` says, it is ``margin``, or something higher.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        Scores of the two systems on the same items, as in `exact_perm_test`; or one `Pairs`, and
        `v` left out: the margin may come second then.
    margin : int, float, Decimal or Fraction
        Positive, in scores per pair. A float stands for the decimal that it is printed as.
        Choose it before looking at the scores.
    names : tuple of two str, optional
        The names of the two systems. Default: names of the columns, if they have any.
    higher_is_better : bool, optional
        Default: what names say, as "loss" in "loss_a" and "loss_b", else True. The result says so.

    Returns
    -------
    MarginTestResult
        A `PermutationTestResult` with alternative "greater", or "less" where lower scores are
        better; `statistic` is the mean difference.

    Raises
    ------
    TypeError, ValueError
        If the margin is no positive number, or the scores are not numbers of equal number.

    Notes
    -----
    Assumes a shift: that differences are symmetric about a value that is the same for all pairs.
    Then a test at level alpha rejects a true null with probability alpha at most. Where few
    differences look skewed, the result has a `warning`. Clusters must have one size. Cost: as
    `exact_perm_test`, times a few where the denominator of `margin` is large.

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
    question = ask_of_scores(u, v, names=names)
    score = question.score.stated(higher_is_better)
    side, bound = ("greater", -bound) if score.higher_is_better else ("less", bound)
    stated = replace(question, higher_is_better=higher_is_better, alternative=side)
    return against(stated, bound)


def equivalence_test(
    u: Any,
    v: Any = None,
    margin: Margin | tuple[Margin, Margin] | None = None,
    *,
    names: tuple[str, str] | None = None,
) -> EquivalenceResult:
    """Exact test that two systems differ by less than a margin: two one-sided tests.

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
    Assumes a shift: that differences are symmetric about a value that is the same for all pairs.
    Then a test at level alpha rejects a true null with probability alpha at most. Where few
    differences look skewed, the result has a `warning`. Clusters must have one size.

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
    question = ask_of_scores(u, v, names=names)
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
    mean = unscaled(question.observed, question.scale * size)
    own: dict[str, Any] = {"margin": float(margin), "_unshifted": question}
    own |= {"kind": MarginTestResult, "statistic": float(mean)}
    return answer(question.shifted(margin), **own)  # type: ignore[return-value]


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
