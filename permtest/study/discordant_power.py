"""Power of tests of 0/1 scores, added up and not simulated."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_level, check_share
from permtest._progress import progress
from permtest.alternatives.result import rejects
from permtest.alternatives.tails import mcnemar_pvalue
from permtest.statistics import check_alternative
from permtest.study.row_tests import MCNEMAR

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Mass of the number of discordant items that `exact_power` leaves out at most.
OUTSIDE = 1e-15

#: The largest n that `exact_power` takes, some ten seconds, and that `exact_power_n` looks at.
MOST_ITEMS, MOST = 10**10, 10**6

#: Numbers of discordant items that are looked at together (some 20 MB).
AT_ONCE = 2**18


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
        Number of items, up to 10^10.
    alpha : float, default 0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}
    test : str, default "mcnemar"
        "mcnemar", which for such scores is "exact" and "sign" too, "mcnemar_midp",
        "mcnemar_chi2" or "mcnemar_chi2_corrected".

    Returns
    -------
    float
        Probability that p <= alpha, to 1e-12: of the number of discordant items, values that have
        a probability of less than 1e-15 together are left out.

    Raises
    ------
    TypeError, ValueError
        If a probability, `alpha` or `n` is out of range, or an option is unknown.

    Notes
    -----
    The number m of items that one system alone has right is binomial; given m, so is the number b
    of those that the first has right, and the test rejects for b from some bound on. Cost
    O(sqrt(n)): two milliseconds for n = 1 000, some twenty for 100 000.

    Examples
    --------
    >>> from permtest.study import exact_power
    >>> round(exact_power(0.15, 0.1, 1000), 4)
    0.8763
    >>> exact_power(0.5, 0.5, 6)
    0.03125
    """
    chances = _chances(p_b, p_c)
    check_level(alpha)
    check_alternative(alternative)
    why = "sample_size_mcnemar has a normal approximation, as good as exact there"
    size = check_count(n, "n", most=MOST_ITEMS, why=why)
    _check_test(test)
    return _Rejecting(chances, alpha, alternative, test).power(size)


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
    p_b, p_c : float
        As in `exact_power`.
    power : float, default 0.8
        In (0, 1).
    alpha, alternative, test
        As in `exact_power`.
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
        If an option is out of range, no n has that power, as none of the systems is better (in the
        direction of `alternative`), or it takes more than a million.

    Notes
    -----
    A tooth is about 2 sqrt(m) discordant items wide, of which there are m; they are looked for
    within 20 + 2 sqrt(m) of where bisection finds the curve to cross `power`.

    Examples
    --------
    >>> from permtest.study import exact_power_n
    >>> exact_power_n(0.6, 0.4), exact_power_n(0.6, 0.4, first=True)
    (210, 199)
    """
    chances = _chances(p_b, p_c)
    check_level(alpha)
    check_alternative(alternative)
    check_level(power, "power")
    _check_test(test)
    ahead = {"greater": p_b > p_c, "less": p_c > p_b}.get(alternative, p_b != p_c)
    if not ahead:
        raise ValueError(
            f"p_b={p_b} and p_c={p_c} leave nothing to find for alternative={alternative!r}: no "
            "number of items has that power"
        )
    rejecting = _Rejecting(chances, alpha, alternative, test)
    rejecting.margin = 1
    return _crossing(lambda n: rejecting.power(n) >= power, rejecting.both, first)


def _crossing(enough: Callable[[int], bool], both: float, first: bool) -> int:
    """The first n that is enough, or the one after the last that is not, near where that turns."""
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(
                f"it takes more than {MOST:,} items; ask for less power, or sample_size_mcnemar"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    reach = ceil((20 + 2 * sqrt(high * both)) / both)
    if first:
        return _found(range(max(high - reach, 1), high + 1), enough)
    return 1 + _found(range(high + reach, -1, -1), lambda n: n == 0 or not enough(n))


def _found(numbers: range, wanted: Callable[[int], bool]) -> int:
    """The first of the numbers that is wanted."""
    tried = ((n, wanted(n)) for n in numbers)
    return next(n for n, is_it in progress(tried, total=len(numbers), what="sizes") if is_it)


def _check_test(test: str) -> None:
    if test not in MCNEMAR:
        raise ValueError(f"test={test!r} has no exact power; choose one of {', '.join(MCNEMAR)}")


def _chances(p_b: float, p_c: float) -> tuple[float, float]:
    p_b, p_c = check_share(p_b, "p_b"), check_share(p_c, "p_c")
    if p_b + p_c > 1 + 1e-12:
        raise ValueError(f"p_b={p_b} and p_c={p_c} are more than 1 together")
    return p_b, p_c


class _Rejecting:
    """When a test of b among m discordant items rejects, and how probable that is.

    What depends on m alone is kept, for all n that are asked for.

    Parameters
    ----------
    chances : tuple of two float
        p_b and p_c.
    alpha : float
    alternative, test : str
    """

    def __init__(
        self, chances: tuple[float, float], alpha: float, alternative: str, test: str
    ) -> None:
        self.both = min(sum(chances), 1.0)
        self.share = chances[0] / self.both if self.both else 0.5
        self.alpha, self.alternative, self.test = alpha, alternative, test
        self.start, self.known = 0, np.empty(0)
        self.margin = 0  # what is found besides, because more n of that size will be asked for

    def power(self, n: int) -> float:
        """Sum over m of P(m) times the probability that b is extreme."""
        from scipy.stats import binom

        # By Bernstein's inequality no more than OUTSIDE lies beyond.
        enough, mean = log(2 / OUTSIDE), n * self.both
        reach = enough / 3 + sqrt(enough**2 / 9 + 2 * enough * mean * (1 - self.both))
        low, high = max(floor(mean - reach), 0), min(ceil(mean + reach), n)
        starts = range(low, high + 1, AT_ONCE)
        found = 0.0
        for start in progress(starts, total=len(starts), what="power"):
            end = min(start + AT_ONCE, high + 1)
            shares = binom.pmf(np.arange(start, end), n, self.both)
            found += float(shares @ self.extreme(start, end - 1))
        return min(max(found, 0.0), 1.0)

    def extreme(self, low: int, high: int) -> Floats:
        """The probability that the test rejects, for m from `low` to `high`."""
        end = self.start + self.known.size
        if low < self.start or high >= end:
            margin = self.margin * (high - low + 64)
            self.start = max(low - margin, 0)
            self.known = self.conditional(np.arange(self.start, high + margin + 1))
        return self.known[low - self.start : high + 1 - self.start]

    def conditional(self, m: Ints) -> Floats:
        """The same for any m."""
        from scipy.stats import binom

        found = np.zeros(m.size)
        if self.alternative != "less":
            found += binom.sf(self.least(m, 1) - 1, m, self.share)
        if self.alternative != "greater":
            found += binom.cdf(m - self.least(m, -1), m, self.share)
        return found

    def least(self, m: Ints, side: int) -> Ints:
        """The fewest items among m, all of one system's, that reject; m + 1 if none do.

        `side` is 1 for the first system. By bisection, as p falls when one system wins more: from
        where a normal law has the bound, or from the ends where that is not near enough.
        """
        from scipy.special import ndtri

        # Two-sided, those with fewer wins than losses are the other system's.
        none = m // 2 if self.alternative == "two-sided" else np.full_like(m, -1)
        tail = self.alpha / 2 if self.alternative == "two-sided" else self.alpha
        guess = np.rint(m / 2 - float(ndtri(tail)) * np.sqrt(m) / 2).astype(np.int64)
        low, high = (np.clip(guess + off, none, m + 1) for off in (-3, 3))
        low = np.where((low > none) & self.rejects(low, m, side), none, low)
        high = np.where(self.rejects(high, m, side), high, m + 1)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            reject, active = self.rejects(middle, m, side), high - low > 1
            high = np.where(active & reject, middle, high)
            low = np.where(active & ~reject, middle, low)
        return np.asarray(high)

    def rejects(self, wins: Ints, m: Ints, side: int) -> NDArray[np.bool_]:
        """Whether so many wins of one system among m reject; more than m stands for always."""
        most = np.clip(wins, 0, m)
        b, c = (most, m - most) if side > 0 else (m - most, most)
        p = mcnemar_pvalue(b, c, MCNEMAR[self.test], self.alternative)
        return np.asarray((wins > m) | rejects(p, self.alpha))
