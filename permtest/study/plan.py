"""How many items a study takes, and what it finds with so many, by formulas: before it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import asin, ceil, inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import (
    check_above_zero,
    check_count,
    check_finite,
    check_level,
    check_option,
    check_share,
)
from permtest.alternatives.result import rejects
from permtest.alternatives.tails import mcnemar_pvalue
from permtest.statistics import check_alternative

NORMAL = NormalDist()

#: More items than this nobody has; and the most whose number is searched for among exact tests.
MOST, MOST_EXACT = 10**15, 10**6

#: Numbers of items that are looked at together.
AT_ONCE = 128

#: Probability of numbers of discordant items that `exact_power` leaves out on either side.
OUTSIDE = 5e-16

#: The methods of McNemar's test that have an exact power; for 0/1 scores the first three are one.
MCNEMAR = {"mcnemar": "exact", "exact": "exact", "sign": "exact", "mcnemar_midp": "midp"}
MCNEMAR |= {"mcnemar_chi2": "chi2", "mcnemar_chi2_corrected": "chi2-corrected"}


def power_t(
    n: int, delta: float, sigma: float, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the paired t test: how often it finds a difference that is there.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    delta, sigma : float
        The true mean difference, and the true standard deviation of the differences.
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Two-sided: both tails are counted, the one on the wrong side too.

    Returns
    -------
    float

    Notes
    -----
    Assumes normal differences. For those the exact permutation test of the mean needs about as
    many pairs, at usual levels.

    Examples
    --------
    >>> from permtest.study import power_t
    >>> round(power_t(199, 0.1, 0.5), 4)
    0.8017
    """
    check_alternative(alternative)
    size = check_count(n, "n", 2, why="a single pair has no standard deviation")
    effect = check_finite(delta, "delta") / check_above_zero(sigma, "sigma")
    return _power_t(size, effect, check_level(alpha), alternative)


def _power_t(n: int, effect: float, alpha: float, alternative: str) -> float:
    from scipy.stats import nct, t

    df, shift = n - 1, effect * sqrt(n)
    critical = float(t.isf(alpha / 2 if alternative == "two-sided" else alpha, df))
    above = nct.sf(critical, df, shift) if alternative != "less" else 0.0
    below = nct.cdf(-critical, df, shift) if alternative != "greater" else 0.0
    # Far out SciPy has no number, but the tail is as good as nothing, or as everything.
    above, below = (
        float(shift * side > 0) if np.isnan(x) else float(x)
        for x, side in ((above, 1), (below, -1))
    )
    return min(above + below, 1.0)


def sample_size(
    delta: float,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """The smallest number of pairs with which the paired t test has a given power.

    Parameters
    ----------
    delta : float
        The mean difference that is to be found; not 0.
    sigma : float
        The standard deviation of the differences; above 0.
    power : float, default 0.8
        How often it is to be found, in (alpha, 1).
    alpha, alternative
        As in `power_t`, which says the power that so many pairs have.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If an argument is no number or out of range, `delta` points the other way than
        `alternative`, or more than 10^15 pairs would be needed.

    Notes
    -----
    The power comes from the noncentral t distribution. The usual shortcut, normal quantiles whose
    n is then put into quantiles of t once or twice, gives too few pairs where `delta` exceeds
    about 1.5 `sigma`. Assumes normal differences (NLPStatTest manual, F.1).

    Examples
    --------
    >>> from permtest.study import sample_size
    >>> sample_size(0.1, 0.5), sample_size(2, 1), sample_size(0.1, 0.1, power=0.9)
    (199, 5, 13)
    """
    effect = check_finite(delta, "delta") / check_above_zero(sigma, "sigma")
    _check_levels(power, alpha, alternative)
    _check_direction("delta", delta, alternative)
    what = f"delta={delta} is {abs(effect):.3g} standard deviations"
    return _smallest(lambda n: _power_t(n, effect, alpha, alternative) >= power, 2, what)


def minimum_detectable_effect(
    n: int,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """The smallest mean difference that n pairs find with a given power, by the paired t test.

    Parameters
    ----------
    n, sigma, alpha, alternative
        As in `power_t`.
    power : float, default 0.8
        In (alpha, 1).

    Returns
    -------
    float
        Above 0; below 0 for "less".

    Examples
    --------
    >>> from permtest.study import minimum_detectable_effect
    >>> round(minimum_detectable_effect(199, 0.5), 4)
    0.0998
    """
    from scipy.optimize import brentq

    size = check_count(n, "n", 2, why="a single pair has no standard deviation")
    _check_levels(power, alpha, alternative)
    side, high = "greater" if alternative == "less" else alternative, 1 / sqrt(size)
    while _power_t(size, high, alpha, side) < power:
        high *= 2
    gap = lambda effect: _power_t(size, effect, alpha, side) - power  # noqa: E731
    found = check_above_zero(sigma, "sigma") * float(brentq(gap, 0.0, high, xtol=1e-14 * high))
    return -found if alternative == "less" else found


def sample_size_proportions(
    p1: float,
    p2: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    method: str = "pooled",
) -> int:
    """How many items each of two systems needs, if they are tested on different items.

    Parameters
    ----------
    p1, p2 : float
        The true accuracies, different, in [0, 1].
    power, alpha, alternative
        As in `sample_size`.
    method : {"pooled", "cohen_h"}, default "pooled"
        "pooled": the z test whose variance under the null is that of the pooled proportion.
        "cohen_h": the test of the difference of arcsines.

    Returns
    -------
    int
        Items of one system; both need as many.

    Notes
    -----
    Normal approximations, in which the tail on the wrong side of a two-sided test is left out.
    Systems that are run on the same items need fewer as a rule: `sample_size_mcnemar`.

    Examples
    --------
    >>> from permtest.study import sample_size_proportions
    >>> sample_size_proportions(0.85, 0.8), sample_size_proportions(0.85, 0.8, method="cohen_h")
    (906, 903)
    """
    p1, p2 = check_share(p1, "p1"), check_share(p2, "p2")
    _check_direction("p1 - p2", p1 - p2, alternative)
    check_option("method", method, ("pooled", "cohen_h"))
    gap, mean = p1 - p2, (p1 + p2) / 2
    null, true = sqrt(2 * mean * (1 - mean)), sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    if method == "cohen_h":
        gap, null, true = 2 * asin(sqrt(p1)) - 2 * asin(sqrt(p2)), sqrt(2), sqrt(2)
    what = f"p1={p1} and p2={p2} are nearly equal"
    return _normal_size(gap, null, true, power, alpha, alternative, what)


def sample_size_mcnemar(
    p_b: float,
    p_c: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """How many items McNemar's test needs, if two systems are tested on the same items.

    Parameters
    ----------
    p_b, p_c : float
        Shares of the items that the first system alone, and the second alone, gets right; both at
        least 0, different, and at most 1 together.
    power, alpha, alternative
        As in `sample_size`.

    Returns
    -------
    int
        Number of items, those on which both are right or both are wrong included.

    Notes
    -----
    The normal approximation of Connor (1987), for the test without a correction; the exact test
    needs a few items more: `exact_power_n`.

    Examples
    --------
    >>> from permtest.study import sample_size_mcnemar
    >>> sample_size_mcnemar(0.06, 0.03)
    783
    """
    both, _ = _discordant(p_b, p_c)
    gap = p_b - p_c
    _check_direction("p_b - p_c", gap, alternative)
    what = f"p_b={p_b} and p_c={p_c} are nearly equal"
    true = sqrt(max(both - gap * gap, 0.0))
    return _normal_size(gap, sqrt(both), true, power, alpha, alternative, what)


def _normal_size(
    gap: float,
    null: float,
    true: float,
    power: float,
    alpha: float,
    alternative: str,
    what: str,
) -> int:
    """n where a normal mean `gap` is found; deviations of one item under the null and in truth."""
    _check_levels(power, alpha, alternative)
    z = -NORMAL.inv_cdf(alpha / 2 if alternative == "two-sided" else alpha)
    n = ((z * null + NORMAL.inv_cdf(power) * true) / gap) ** 2
    if n > MOST:
        raise ValueError(f"{what}, which would take more than {MOST:,} items to find")
    return max(ceil(n), 1)


def _smallest(enough: Callable[[int], bool], least: int, what: str) -> int:
    """The smallest n from `least` on that is enough, as are all that are larger."""
    low, high = least - 1, least
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"{what}, which would take more than {MOST:,} items to find")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check_levels(power: float, alpha: float, alternative: str) -> None:
    check_alternative(alternative)
    if not check_level(alpha) < check_level(power, "power"):
        raise ValueError(
            f"power={power} must exceed alpha={alpha}, which a test has where nothing differs"
        )


def _check_direction(name: str, value: float, alternative: str) -> None:
    if value == 0:
        raise ValueError(f"{name} is 0: no number of items finds a difference that is not there")
    if (value < 0) != (alternative == "less") and alternative != "two-sided":
        raise ValueError(
            f"{name}={value:g} has the wrong sign for alternative={alternative!r}; "
            "swap the systems or the alternative"
        )


# ---- scores of 0 and 1 ---------------------------------------------------------------------------


def exact_power(
    p_b: float,
    p_c: float,
    n: int,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    test: str = "mcnemar",
) -> float:
    """Power for scores that are 0 or 1, without simulation.

    Parameters
    ----------
    p_b, p_c : float
        Probability that only the first system, and that only the second has an item right.
    n : int
        Number of items, up to 10^9.
    alpha : float, default 0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}
    test : str, default "mcnemar"
        "mcnemar", which for such scores is "exact" and "sign" too, "mcnemar_midp",
        "mcnemar_chi2" or "mcnemar_chi2_corrected".

    Returns
    -------
    float
        Probability that p <= alpha, to 1e-12.

    Notes
    -----
    The number m of items that one system alone has right is binomial; given m, so is the number b
    of those that the first has right, and the test rejects for b from some bound on. Of m, values
    that have a probability of less than 1e-15 together are left out. Cost O(sqrt(n) log n).

    Examples
    --------
    >>> from permtest.study import exact_power
    >>> round(exact_power(0.15, 0.1, 1000), 4)
    0.8763
    >>> exact_power(0.5, 0.5, 6)
    0.03125
    """
    size = check_count(n, "n", most=10**9, why="sample_size_mcnemar is as good as exact there")
    return float(_powers(np.array([size]), p_b, p_c, alpha, alternative, test)[0])


def exact_power_n(
    p_b: float,
    p_c: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    test: str = "mcnemar",
    first: bool = False,
) -> int:
    """How many items `exact_power` needs to reach a power.

    Parameters
    ----------
    p_b, p_c, alpha, alternative, test
        As in `exact_power`.
    power : float, default 0.8
        In (alpha, 1).
    first : bool, default False
        The power of an exact test rises in a saw-tooth: one more item can lower it. By default
        the answer is the n from which on the power is never again too low; with True, the
        smallest n that has it.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an option is out of range, none of the systems is better (in the direction of
        `alternative`), or it takes more than a million.

    Examples
    --------
    >>> from permtest.study import exact_power_n
    >>> exact_power_n(0.6, 0.4), exact_power_n(0.6, 0.4, first=True)
    (210, 199)
    """
    _check_direction("p_b - p_c", p_b - p_c, alternative)
    _check_levels(power, alpha, alternative)

    both, _ = _discordant(p_b, p_c)

    def enough(numbers: Sequence[int]) -> NDArray[np.bool_]:
        if max(numbers) > 2 * MOST_EXACT:
            raise ValueError(f"it takes more than {MOST_EXACT:,} items; see sample_size_mcnemar")
        return _powers(np.array(numbers), p_b, p_c, alpha, alternative, test) >= power

    crossing = _smallest(lambda n: bool(enough([n])[0]), 1, "")
    # A tooth is about 2 sqrt(m) discordant items wide, of which there are m.
    reach = ceil((20 + 2 * sqrt(crossing * both)) / both)
    if first:
        return next(n for n in range(max(crossing - reach, 1), crossing + 1) if enough([n])[0])
    for end in range(crossing + reach, 0, -AT_ONCE):
        numbers = range(max(end - AT_ONCE, 0) + 1, end + 1)
        failing = np.flatnonzero(~enough(numbers))
        if failing.size:
            return numbers[int(failing[-1])] + 1
    return 1


def _discordant(p_b: float, p_c: float) -> tuple[float, float]:
    """Probability that one system alone has an item right, and that this is the first."""
    both = check_share(p_b, "p_b") + check_share(p_c, "p_c")
    if both > 1 + 1e-12:
        raise ValueError(f"p_b={p_b} and p_c={p_c} are shares of the same items: more than 1")
    return min(both, 1.0), p_b / both if both else 0.5


def _powers(
    numbers: NDArray[np.int64], p_b: float, p_c: float, alpha: float, alternative: str, test: str
) -> NDArray[np.float64]:
    """Power with each number of items: over m, P(m) times the probability that b is extreme."""
    from scipy.stats import binom

    both, share = _discordant(p_b, p_c)
    check_level(alpha)
    check_alternative(alternative)
    check_option("test", test, MCNEMAR)
    low, high = binom.ppf(OUTSIDE, numbers.min(), both), binom.isf(OUTSIDE, numbers.max(), both)
    m = np.arange(max(int(low), 0), int(high) + 1)
    # The fewest wins of m that reject, by bisection; m + 1 if none do. Both sides are alike.
    none = m // 2 if alternative == "two-sided" else np.full_like(m, -1)
    side, least = "two-sided" if alternative == "two-sided" else "greater", m + 1
    while np.any(least - none > 1):
        wins = (none + least) // 2
        p = mcnemar_pvalue(np.maximum(wins, 0), m - np.maximum(wins, 0), MCNEMAR[test], side)
        extreme, open_ = rejects(p, alpha), least - none > 1
        least = np.where(open_ & extreme, wins, least)
        none = np.where(open_ & ~extreme, wins, none)
    found = np.zeros(m.size)
    if alternative != "less":
        found += binom.sf(least - 1, m, share)
    if alternative != "greater":
        found += binom.cdf(m - least, m, share)
    return np.clip(binom.pmf(m, numbers[:, None], both) @ found, 0.0, 1.0)


# ---- the next study ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outlook:
    """What power a test of such systems has, and what another study needs.

    Parameters
    ----------
    n : int
        Number of units.
    power : float
        Probability that n such units show a difference as large as the observed one; 0 where no p
        of n units is small enough.
    detectable : float or None
        The smallest difference that n units show with a power of `target`, if it can be as large.
    needed : int or None
        Units that show the observed difference with a power of `target`.
    target : float
    method : str
        What the numbers rest on.
    problem : str
        Why one is missing.
    """

    n: int
    power: float
    detectable: float | None
    needed: int | None
    target: float
    method: str
    problem: str = ""


def outlook(
    differences: Any,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    limit: float = inf,
    target: float = 0.8,
) -> Outlook:
    """What power a test of such differences has, and what another study needs.

    Parameters
    ----------
    differences : array_like of shape (N,)
        By how much the first system is ahead on each unit, not all equal. Where all are -1, 0 or 1,
        they are taken for those of scores of 0 and 1.
    alpha, alternative
        Of the test.
    limit : float, default inf
        The largest mean difference that there can be.
    target : float, default 0.8
        The power that another study is planned for.

    Returns
    -------
    Outlook

    Examples
    --------
    >>> from permtest.study import outlook
    >>> found = outlook([1] * 12 + [-1] * 6 + [0] * 82)
    >>> round(found.power, 2), found.needed
    (0.2, 453)
    """
    d = np.asarray(differences, dtype=np.float64)
    n, how = d.size, {"alpha": alpha, "alternative": alternative}
    if n < 2 or np.ptp(d) == 0:
        raise ValueError("all differences are equal, so that they say nothing of others")
    lead, sigma, shares = d.mean(), d.std(ddof=1), (np.mean(d > 0), np.mean(d < 0))
    binary = bool(np.isin(d, (-1, 0, 1)).all())
    detectable: float | None = minimum_detectable_effect(n, sigma, power=target, **how)
    power = exact_power(*shares, n, **how) if binary else power_t(n, lead, sigma, **how)
    method = "paired t test of differences that are close to normal on average"
    if binary:
        method = "exact, for scores of 0 and 1; the smallest difference by the paired t test"
    least = 1  # units of which an exact p can be as small as alpha
    while not rejects((2 if alternative == "two-sided" else 1) * 0.5**least, alpha):
        least += 1
    needed, problem = None, ""
    try:
        enough = (
            exact_power_n(*shares, target, **how)
            if binary
            else sample_size(lead, sigma, power=target, **how)
        )
        needed = max(enough, least)
    except ValueError as error:
        problem = str(error)
    if n < least:
        power, detectable = 0.0, None
        problem = f"no p of {n} units is {alpha:g} or less, which takes {least}"
    elif detectable is not None and abs(detectable) > limit:
        detectable = None
        problem = f"no difference is so large that {n} units show it in {target:.0%} of all studies"
    return Outlook(n, power, detectable, needed, target, method, problem)
