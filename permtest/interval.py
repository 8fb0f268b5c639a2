"""Confidence intervals for the mean difference, non-inferiority and equivalence.

Scores of any kind: shifts of every pair. Section 10 of docs/methods.md has why their p-value rises
in steps, at means of subsets I of pairs. With clusters, which change places as a whole, d_n is the
sum of a cluster, and |I| the number of pairs in the clusters of I. The lower end of an interval is
the step at which p exceeds the level. Cornish and Fisher's expansion says about where that is, and
each p that was had says it better. Where p is had quickly, the simplest fraction near by is tried.
Else bounds of p on either side prove the end. Where these are wide, as for many equal differences
and a giant, all differences are rounded down to coarser steps: the end then moves down by less than
a step, which is reported. The upper end is the lower one for -d.

Scores of 0 and 1: the differences of shares that Tango's score test (1998) does not reject. If b
items go to the first system alone and c to the second, of n, and the true difference is delta,

    z(delta) = (b - c - n delta) / sqrt(n (2 q + delta (1 - delta))),

where q, the likeliest share of items that go to the second alone, is the larger root of
2 n q^2 + ((2 n - b + c) delta - b - c) q - c delta (1 - delta) = 0. A margin is tested at a shift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, copysign, floor, gcd, inf, nextafter, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard, check_above_zero, check_level
from permtest._text import Shown, counted, number, p_value
from permtest.integers import as_integers, exact_dot, unscaled, with_room
from permtest.methods import interval_of_p, solve
from permtest.null.bracket import tail_bracket
from permtest.null.distribution import UNDERFLOW, Probability, TwoPointSum, add_counts, from_widths
from permtest.null.labellings import count_tail
from permtest.null.tail import shorten, tail_dp, tail_tilted
from permtest.question import Differences, Question, ask

#: A margin as people write it; a float stands for the decimal that it is printed as.
Margin: TypeAlias = "int | float | Decimal | Fraction"

#: Labellings of so many pairs are counted, in some milliseconds; of so many ends are always exact.
MAX_COUNTED, MAX_EXACT = 36, 30
#: Else an end is known to a standard error over the first number, or for fewer than so many pairs,
#: of which p has wide bounds, over the second.
SHARP, BLUNT, MANY = 8000, 1000, 60
#: Cells that dynamic programming may update; looks at widths, and fewest pairs, of a tilted tail.
UPDATES, WORK, TILTED = 4 * 10**6, 4 * 10**6, 150
#: Beyond this width of a shifted law p has bounds; beyond the second on coarse lattices.
LONG, LONGEST = 4000, 60_000
#: Bounds are not made narrower than this, relative to p; so many shifts are looked at.
NARROWEST, MOST = 5e-5, 300
#: Where bounds turn out wider than this, a standard error is given so many steps, then fewer.
WIDE, STEPS, FEWEST = 1.02, 1000, 10

#: Ends of score intervals are rounded outward, by the width of the range halved so often.
HALVINGS = 60

#: A mean of skewed differences needs so many pairs times the squared skewness (Cochran's rule of
#: thumb), unless skewness is within so many of its standard errors in normal samples.
PER_SQUARED_SKEWNESS, CHANCE = 25, 2.5
#: So many pairs have to differ where one in so many is equal.
FEW, TIES = 20, 4

NORMAL = NormalDist()

_Bounds: TypeAlias = tuple[Fraction, Fraction]


class ConfidenceInterval(NamedTuple("Ends", [("low", float), ("high", float)])):
    """The pair (low, high), in scores per pair, with how sure it is and how sharp.

    Unpacks, indexes and compares as the pair of its ends: ``low, high = interval``.

    Parameters
    ----------
    low, high : float
        The ends; infinite where there are too few pairs for any shift to be excluded, and on the
        side that a one-sided interval leaves open. Both belong to the interval.
    confidence_level : float, default 0.95
        With what probability at least the interval covers the shift.
    resolution : float, default 0.0
        By how much an end may lie outside of the exact interval, at most, in scores per pair. 0:
        the ends are exact, each the float nearest to a fraction. Otherwise they are rounded
        outward, so that the confidence level holds all the same.
    warning : str, optional
        That differences look skewed or are mostly 0, although the interval assumes that every pair
        is shifted by the same amount. Default: None.
    method : str
        By which test the values inside are not rejected: "shift", the exact one, "score", Tango's
        score test, or another by its name in `alternatives`, such as "paired_bootstrap".

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([3, 5, 4, 6, 2, 7], [2, 3, 4, 3, 1, 3])
    >>> interval = result.confidence_interval(0.9)
    >>> tuple(interval), interval.confidence_level, interval.resolution
    ((0.5, 3.0), 0.9, 0.0)
    """

    confidence_level: float = 0.95
    resolution: float = 0.0
    warning: str | None = None
    method: str = "shift"

    def __new__(
        cls, low: float, high: float, confidence_level: float = 0.95, **others: Any
    ) -> ConfidenceInterval:
        """The pair, to which other properties than the usual ones are fastened."""
        pair = super().__new__(cls, low, high)
        vars(pair).update(others, confidence_level=confidence_level)
        return pair


def interval_of(question: Question, confidence_level: float) -> ConfidenceInterval:
    """The interval for the mean difference per pair that fits the scores."""
    check_level(confidence_level, "confidence_level")
    alpha = 1 - Fraction(str(confidence_level))
    if question.alternative == "two-sided":
        alpha /= 2
    fields: dict[str, Any] = {"confidence_level": confidence_level}
    if question.wins is not None:
        ends = score_ends(*question.wins, float(alpha), question.alternative)
        return ConfidenceInterval(*ends, **fields, method="score")
    d, scale = question.differences, question.scale
    below = above = -inf, 0.0
    if question.alternative != "less":
        below = _lower_end(d, scale, alpha)
    if question.alternative != "greater":
        above = _lower_end(d._replace(values=-d.values), scale, alpha)
    fields |= {"warning": shift_warning(d, question.swapped), "resolution": max(below[1], above[1])}
    return ConfidenceInterval(below[0], 0.0 - above[0], **fields)


# ---- tests against a margin ---------------------------------------------------------------------


@dataclass(frozen=True)
class MarginTestResult(Shown):
    """What a test against a margin found. Made by `noninferiority_test` and `equivalence_test`.

    Parameters
    ----------
    statistic : float
        The mean difference per pair.
    pvalue, log10_pvalue : float
        Never 0, the logarithm accurate at any size. Of equivalence the greater of two one-sided
        p-values: both null hypotheses have to be rejected.
    alternative : {"greater", "less", "two-sided"}
        That the mean difference lies above a margin, below one, or between two: equivalence.
    margins : tuple of two float
        Between which numbers it lies then; one of them is infinite in a test of non-inferiority.
    pvalues : tuple of float
        The p-value of the test against each finite margin.
    n, names, method, error_bound, warning
        As in `PermutationTestResult` and `ConfidenceInterval`; "score" has no error bound.

    Examples
    --------
    >>> from permtest import noninferiority_test
    >>> result = noninferiority_test([1] * 50, [1] * 50, margin=0.05)
    >>> result.margins, result.method, round(result.pvalue, 3)
    ((-0.05, inf), 'score', 0.052)
    """

    statistic: float
    pvalue: float
    log10_pvalue: float
    alternative: str
    margins: tuple[float, float]
    pvalues: tuple[float, ...]
    n: int
    names: tuple[str, str]
    method: str
    error_bound: float | None
    warning: str | None
    _question: Question = field(repr=False, compare=False)

    def confidence_interval(self, confidence_level: float | None = None) -> ConfidenceInterval:
        """The interval for the mean difference per pair: one-sided, or two-sided for equivalence.

        It lies inside of the margins if and only if the p-value is at most alpha. The default
        `confidence_level` is for alpha = 0.05: ``1 - alpha``, and for equivalence ``1 - 2 alpha``.
        """
        usual = 0.9 if self.alternative == "two-sided" else 0.95
        return interval_of(self._question, confidence_level or usual)

    def pvalue_interval(self) -> tuple[float, float]:
        """Bounds of p: as of `PermutationTestResult`, or for method "score" p itself, twice."""
        return interval_of_p(self)

    def __str__(self) -> str:
        (a, b), (low, high), q = self.names, map(number, self.margins), self._question
        where = {"greater": f"above {low}", "less": f"below {high}"}
        nouns = {"score": "Tango score test", "bracket": "paired-permutation test"}
        kind = f"one-sided {nouns.get(self.method, 'exact paired-permutation test')}"
        kind = kind if len(self.pvalues) == 1 else f"two {kind}s"
        p = f"p = {p_value(self.pvalue, self.log10_pvalue)}"
        if self.method == "bracket":
            p = "p lies between {:.6g} and {:.6g}".format(*self.pvalue_interval())
        pairs = f"{counted(q.n_entries, 'pairs')} in " if q.swapped == "clusters" else ""
        return (
            f"To show that {a} minus {b} is {where.get(q.alternative, f'between {low} and {high}')}"
            f" on average: {p} ({kind}); the mean difference is {number(self.statistic)} over "
            f"{pairs}{counted(self.n, q.swapped)}. {self.warning or ''}".rstrip()
        )


def noninferiority_test(
    u: Any,
    v: Any = None,
    margin: Margin | None = None,
    *,
    clusters: Any = None,
    names: tuple[str, str] | None = None,
) -> MarginTestResult:
    """Test that the first system is not worse than the second by a margin or more.

    The null hypothesis is that it is worse by `margin` per pair: that the mean difference is
    ``-margin``, or lower. A small p speaks for "not worse", which an ordinary test that finds no
    difference does not. Where `Scores` say that lower is better it is ``margin``, or higher.

    Parameters
    ----------
    u, v
        As in `exact_perm_test`.
    margin : int, float, Decimal or Fraction
        Positive, in scores per pair; below 1 for scores of 0 and 1. A float stands for the decimal
        that it is printed as. Choose it before looking at the scores.
    clusters, names
        As in `exact_perm_test`.

    Returns
    -------
    MarginTestResult

    Notes
    -----
    Scores of 0 and 1, without clusters: Tango's score test (1998) of the difference of shares. It
    is approximate: from 20 items on, and for margins up to 0.2, a test at level 0.05 rejects a true
    null in 7.5% of samples at most, mostly in 3 to 5% (``python -m benchmarks.calibration``). Other
    scores: the exact test of shifted differences, whose assumptions and `warning` are those of
    `PermutationTestResult.confidence_interval`. It takes as long as `exact_perm_test`, or a few
    times that where the denominator of `margin` is large.

    Examples
    --------
    >>> from permtest import noninferiority_test
    >>> u, v = [4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4]
    >>> r = noninferiority_test(u, v, 0.5, names=("small", "large"))
    >>> r.statistic, r.pvalue
    (0.0, 0.09375)
    """
    bound = _as_margin(margin)
    question = ask(u, v, names=names, clusters=clusters)
    lower = question.higher_is_better is False
    return against(question, *((-inf, bound) if lower else (-bound, inf)))


def equivalence_test(
    u: Any,
    v: Any = None,
    margin: Margin | None = None,
    *,
    clusters: Any = None,
    names: tuple[str, str] | None = None,
) -> MarginTestResult:
    """Test that two systems differ by less than a margin: two one-sided tests (Schuirmann 1987).

    The null hypothesis is that the mean difference is `margin` or more in either direction. It is
    rejected where both one-sided tests reject, each at the full level.

    Parameters
    ----------
    u, v
        As in `noninferiority_test`.
    margin : int, float, Decimal or Fraction
        As there: a positive number, for differences between ``-margin`` and ``margin``.
    clusters, names
        As there.

    Returns
    -------
    MarginTestResult

    Examples
    --------
    >>> from permtest import equivalence_test
    >>> r = equivalence_test([4, 5, 3, 6, 5, 4], [5, 5, 3, 6, 4, 4], 1)
    >>> r.pvalue, r.pvalues, tuple(r.confidence_interval())
    (0.03125, (0.03125, 0.03125), (-0.5, 0.5))
    """
    high = _as_margin(margin)
    return against(ask(u, v, names=names, clusters=clusters), -high, high)


def against(question: Question, low: Fraction | float, high: Fraction | float) -> MarginTestResult:
    """Test that the mean difference lies between two margins, one of which may be infinite."""
    sides = {"greater": low, "less": high}
    margins = {side: x for side, x in sides.items() if isinstance(x, Fraction)}
    alternative = "two-sided" if len(margins) == 2 else min(margins)
    question, wins = replace(question, alternative=alternative), question.wins
    found = [
        (_score_pvalue(*wins, x, side), "score")
        if wins is not None
        else solve(replace(question.shifted(x), alternative=side))[:2]
        for side, x in margins.items()
    ]
    p, method = max(found, key=lambda one: one[0].log)
    exact, size = wins is None, question.scale * (question.n_entries or question.law.n or 1)
    return MarginTestResult(
        statistic=float(unscaled(question.observed_sums[0], size)),
        pvalue=p.value,
        log10_pvalue=p.log10,
        alternative=alternative,
        margins=(float(low), float(high)),
        pvalues=tuple(one.value for one, _ in found),
        n=question.law.n,
        names=question.names,
        method=method,
        error_bound=p.error_bound if exact else None,
        warning=shift_warning(question.differences, question.swapped) if exact else None,
        _question=question,
    )


def _as_margin(margin: Any) -> Fraction:
    """The number as it is written, if it is positive."""
    check_above_zero(float(margin) if isinstance(margin, Decimal | Fraction) else margin, "margin")
    return Fraction(str(margin))


# ---- scores of 0 and 1 --------------------------------------------------------------------------


def score_statistic(b: int, c: int, n: int, delta: float) -> float:
    """z at a difference of shares from -1 to 1; 0 where nothing can be said."""
    if delta < 0:  # nothing cancels in the variance if it is a sum of positive numbers
        return -score_statistic(c, b, n, -delta)
    linear, fixed = (2 * n - b + c) * delta - b - c, delta * (1 - delta)
    product = 8.0 * n * c * fixed
    root = sqrt(linear**2 + product)
    share = root - linear if linear <= 0 else product / (root + linear)
    variance, gap = share / 2 + n * fixed, b - c - n * delta
    if variance > 0:
        return gap / sqrt(variance)
    return copysign(inf, gap) if gap else 0.0


def _score_pvalue(b: int, c: int, n: int, margin: Fraction, alternative: str) -> Probability:
    """p of Tango's test of b wins and c losses among n."""
    if abs(margin) >= 1:
        raise ValueError(
            f"margin = {float(abs(margin)):g} is out of range: shares of right answers differ by "
            "less than 1; give a margin between 0 and 1, such as 0.05"
        )
    from scipy.special import log_ndtr

    z = score_statistic(b, c, n, float(margin)) * (1 if alternative == "greater" else -1)
    return Probability.of_log(float(log_ndtr(-z)), 0.0)


def score_ends(
    b: int, c: int, n: int, tail: float, alternative: str = "two-sided"
) -> tuple[float, float]:
    """The differences of shares with z within the quantile of `tail`, on either side or on one."""
    z = -_quantile(tail)

    def most(b: int, c: int) -> float:
        """The largest difference with z at least minus the quantile."""
        inside, outside = -1.0, 1.0
        for _ in range(HALVINGS * (score_statistic(b, c, n, outside) < -z)):
            middle = (inside + outside) / 2
            kept = score_statistic(b, c, n, middle) >= -z
            inside, outside = (middle, outside) if kept else (inside, middle)
        return outside

    low = -1.0 if alternative == "less" else -most(c, b)
    return low, 1.0 if alternative == "greater" else most(b, c)


def _quantile(p: Fraction | float) -> float:
    return NORMAL.inv_cdf(min(max(float(p), UNDERFLOW), 1 - 2**-53))


# ---- shifts of every pair ------------------------------------------------------------------------


def _lower_end(differences: Differences, scale: int, alpha: Fraction) -> tuple[float, float]:
    """The smallest shift with p > alpha, or a number below it, and by how much it may be."""
    if not differences.n or Fraction(1, 2**differences.n) > alpha:
        return -inf, 0.0
    lowest = _extreme(differences, min)
    if lowest == _extreme(differences, max):
        return float(lowest / scale), 0.0
    # In whole steps above the lowest mean of a unit.
    a, b = lowest.as_integer_ratio()
    moved = b * differences.values.astype(object) - a * differences.sizes.astype(object)
    step = gcd(*moved.tolist()) or 1
    found = _search(differences._replace(values=as_integers(moved // step, "d")), alpha)
    low, high = ((lowest + Fraction(step, b) * x) / scale for x in found)
    if low == high:
        return float(high), 0.0
    end = nextafter(float(low), -inf)
    return end, nextafter(float(high - Fraction(end)), inf)


def _search(d: Differences, alpha: Fraction, coarse: bool = False) -> tuple[Fraction, Fraction]:
    """Between which shifts p comes to exceed alpha; twice the same one where that is the end."""
    # The end is expected within `reach` of `near`, where p rises by a normal quantile in `error`;
    # `slow` is how often in a row the bracket has not been halved. p is 2^-n below all differences.
    n, size, z = d.n, int(d.sizes @ d.counts), _quantile(alpha)
    near, error = _expected(d, z)
    low, high, reach, slow = Fraction(-1), _extreme(d, max), error / 50, 0
    tolerance = max(error / (BLUNT if MAX_COUNTED < n < MANY else SHARP), Fraction(coarse))
    most = 0 if coarse else LONGEST if tolerance * n < 1 else LONG
    for _ in range(MOST):
        ends, gap, shift = (low, high), high - low, simplest(low, high)
        if shift.denominator > size:
            return high, high
        found = n > MAX_EXACT and gap <= tolerance
        if found and (coarse or shift.denominator * int(d.values.max()) > LONG):
            break
        if not found:
            ends = _window(low, high, near, reach, slow == 2)
            shift = simplest(*ends)
        try:
            p, before = _tails(d, shift, alpha, most)
        except TooHard:
            if found:
                break
            shift, (p, before) = _bounded(d, ends, near, error, z)
        # Before the step ties are not reached; the empty subset always counts.
        if before[1] + Fraction(1, 2 ** min(n, 1000)) <= alpha < p[0]:
            return shift, shift
        low, high = (shift if p[1] <= alpha else low), (shift if p[0] > alpha else high)
        if p[0] <= alpha < p[1]:
            tolerance *= 2
            if p[1] > WIDE * p[0] and error > FEWEST:
                # Differences that are rounded down to multiples of a cell move the end.
                cell = max(ceil(error / STEPS), 2 + 6 * coarse)
                first, last = _search(d._replace(values=d.values // cell), alpha, coarse=True)
                return max(low, cell * first), min(high, cell * (last + 1))
        slow = slow % 2 + 1 if 2 * (high - low) > gap else 0
        expected = shift + Fraction(z - _quantile((before[0] + before[1]) / 2)) * error
        reach, near = max(abs(expected - near), tolerance * 2 / 5), min(max(expected, low), high)
    return low, high


def _window(
    low: Fraction, high: Fraction, near: Fraction, reach: Fraction, slow: bool
) -> tuple[Fraction, Fraction]:
    """Where to look next: a little beyond the expected end, or about the middle of the bracket."""
    below, above = near - reach <= low, high <= near + reach  # what is known already
    if slow or (below and above):
        return low + (high - low) / 4, high - (high - low) / 4
    if below or (high - near > near - low and not above):
        return near + reach / 4, near + reach
    return near - reach, near - reach / 4


def _bounded(
    d: Differences, ends: _Bounds, near: Fraction, error: Fraction, z: float
) -> tuple[Fraction, tuple[_Bounds, _Bounds]]:
    """A shift between two others at which few sums pile up, and bounds of p there and before it."""
    odd = floor(8 / (ends[1] - ends[0])) | 1
    shift = Fraction(floor((ends[0] + ends[1]) / 2 * odd), odd)
    hazard = NORMAL.pdf(z) / NORMAL.cdf(-abs(z))
    width = min(max(1.3 * float(abs(shift - near) / error) * hazard, NARROWEST), 1e-2)
    below, above = tail_bracket(*_law(d, shift), width=width)
    return shift, ((_rounded(below, -1), _rounded(above, 1)),) * 2


def _expected(d: Differences, z: float) -> tuple[Fraction, Fraction]:
    """About where p has this normal quantile, and in what length the quantile rises by one."""
    longest, size = int(max(d.values)) or 1, int(d.sizes @ d.counts)
    shares = np.array([x / longest for x in d.values.tolist()])
    mean = float(shares @ d.counts) / size
    x = shares - mean * d.sizes
    spread = float(x**2 @ d.counts) / d.n
    # Cornish and Fisher's expansion; the normal approximation has the variance at the end.
    moved = z + (3 * z - z**3) / 12 * float(x**4 @ d.counts) / max(d.n * spread, 1e-300) ** 2
    error = sqrt(spread / max(d.n - moved**2, 1.0)) * d.n / size
    near = min(max(Fraction(mean + moved * error) * longest, Fraction(0)), _extreme(d, max))
    return near, Fraction(error) * longest


def _extreme(d: Differences, end: Callable[[Iterable[Any]], Any]) -> Fraction:
    """The lowest or the highest mean of a unit."""
    sizes = np.unique(d.sizes).tolist()
    return Fraction(end(Fraction(end(d.values[d.sizes == s].tolist()), s) for s in sizes))


def _law(d: Differences, shift: Fraction) -> tuple[TwoPointSum, int]:
    """A law and the cell from which on its tail is p; that beyond is p just below the shift."""
    a, b = shift.as_integer_ratio()
    moved = b * with_room(d.values, 2 * b) - a * with_room(d.sizes, 2 * abs(a))
    law, ahead = from_widths(d.n, *add_counts(np.abs(moved), d.counts)), moved > 0
    # Swapped pairs sum to <= 0: as many behind the shift swap, and ahead of it stay, as that.
    return law, exact_dot(moved[ahead], d.counts[ahead]) // law.unit


def _tails(d: Differences, shift: Fraction, alpha: Fraction, most: int) -> tuple[_Bounds, _Bounds]:
    """Bounds of p at a shift, and before it where p is above alpha there; or TooHard."""
    law, t0 = _law(d, shift)
    p = _tail(law, t0, most)
    return p, _tail(law, t0 + 1, most) if p[0] > alpha else p


def _tail(law: TwoPointSum, t0: int, most: int) -> _Bounds:
    """A lower and an upper bound of P(T >= t0); TooHard unless that is quick."""
    if law.n <= MAX_COUNTED:
        share = Fraction(count_tail(law, t0), 2**law.n_informative)
        return share, share
    if not most:
        law, t0 = shorten(law, t0) or (law, t0)
    if law.dp_operations(max(min(law.top - t0 + 1, t0), 1)) <= UPDATES:
        p = tail_dp(law, t0)
    elif law.n >= TILTED and law.widths[-1] <= (most or LONG):
        p = tail_tilted(law, t0, work=WORK)
    else:
        raise TooHard("the lattice of the sums is long")
    return _rounded(p, -1), _rounded(p, 1)


def _rounded(p: Probability, sign: int) -> Fraction:
    """A probability, moved by more than its error."""
    if p.value <= UNDERFLOW:
        return Fraction(UNDERFLOW) if sign > 0 else Fraction(0)
    return Fraction(p.value) * (1 + sign * (2 * Fraction(p.error_bound) + Fraction(1, 10**14)))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator among low < x < high."""
    whole = floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        return whole + Fraction(1, floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


# ---- whether every pair may be shifted alike ----------------------------------------------------


def shift_warning(differences: Differences, swapped: str = "pairs") -> str | None:
    """What is to be said where differences look skewed, or are mostly 0."""
    # ``python -m benchmarks.calibration`` has the coverage on either side of these rules.
    values, _, counts = differences
    n, zeros = differences.n, int(counts[values == 0].sum())
    if TIES * zeros >= n > 0 and n - zeros < FEW:
        return (
            f"Of {n:,} {swapped} only {n - zeros} differ, too few to rely on the interval. It and "
            "tests against a margin assume that every pair is shifted by the same amount, ties "
            f"too; with fewer than {FEW} that differ, a 95% interval may cover the mean in fewer "
            "than 90% of samples."
        )
    g1 = skewness(values, counts)
    needed = PER_SQUARED_SKEWNESS * g1**2
    spread = sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3))) if n > 2 else inf
    if n >= needed or abs(g1) <= CHANCE * spread:  # of g1, in normal samples
        return None
    return (
        f"The differences look skewed, so an interval may not hold: for g1 = {g1:.2g}, the rule of "
        f"thumb 25 g1^2 asks for {needed:,.0f} {swapped}, and there are {n:,}. Intervals and "
        "tests against a margin assume that differences are symmetric about it. If they are not, "
        "errors are more frequent than they should be: with 20 lognormal differences, a 95% "
        "interval covers the mean in 88% of samples. The studentised bootstrap, "
        f"alternatives.bootstrap, does not assume symmetry."
    )


def skewness(values: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """g1 = m3 / m2^(3/2); 0 if all values are equal."""
    low = int(min(values, default=0))
    room = int(max(values, default=0)) - low
    if room == 0:
        return 0.0
    shares, weights = np.array([(int(d) - low) / room for d in values]), counts / counts.sum()
    centred = shares - shares @ weights
    return float(centred**3 @ weights / (centred**2 @ weights) ** 1.5)
