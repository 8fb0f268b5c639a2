"""How many items a study takes, and what it finds with so many, by formulas: before it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, inf, isinf, log, log2, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import (
    check_above_zero,
    check_count,
    check_finite,
    check_level,
    check_share,
)
from permtest.score import counted
from permtest.statistics import check_alternative

#: More items than this nobody has; and the most whose number is searched for among exact tests.
MOST, MOST_EXACT = 10**15, 10**6

#: Numbers of items that are looked at together; and how far from the mean numbers of discordant
#: items matter to `exact_power`: so many standard deviations, and so many more.
AT_ONCE, REACH = 128, (9.0, 40.0)


# ---- paired t-tests ------------------------------------------------------------------------------


def power_t(
    n: int, delta: float, sigma: float, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the paired t-test: how often it finds a difference that is there.

    The exact permutation test of the mean has about the same for normal differences.

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

    Examples
    --------
    >>> from permtest.study import power_t
    >>> round(power_t(199, 0.1, 0.5), 4)
    0.8017
    """
    from scipy.stats import nct, t

    check_alternative(alternative)
    check_level(alpha)
    size = check_count(n, "n", 2, why="a single pair has no standard deviation")
    shift = check_finite(delta, "delta") / check_above_zero(sigma, "sigma") * sqrt(size)
    critical = t.isf(alpha / 2 if alternative == "two-sided" else alpha, size - 1)
    signs = {"greater": (1,), "less": (-1,)}.get(alternative, (1, -1))
    tails = ((sign, nct.sf(critical, size - 1, sign * shift)) for sign in signs)
    # Far out SciPy has no number, but the tail is as good as nothing, or as everything.
    return min(sum(float(shift * x > 0) if np.isnan(p) else float(p) for x, p in tails), 1.0)


def sample_size(
    delta: float,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """The smallest number of pairs with which the paired t-test has a given power.

    By the noncentral t distribution, for normal differences (NLPStatTest manual, F.1).

    Parameters
    ----------
    delta, sigma : float
        The mean difference that is to be found, not 0, and the deviation of the differences.
    power : float, default 0.8
        How often it is to be found, in (alpha, 1).
    alpha, alternative
        As in `power_t`, which says the power that so many pairs have.

    Examples
    --------
    >>> from permtest.study import sample_size
    >>> sample_size(0.1, 0.5), sample_size(2, 1), sample_size(0.1, 0.1, power=0.9)
    (199, 5, 13)
    """
    effect = check_finite(delta, "delta") / check_above_zero(sigma, "sigma")
    check_aim(power, alpha, alternative, delta=delta)

    def enough(n: int) -> bool:
        return power_t(n, effect, 1, alpha=alpha, alternative=alternative) >= power

    near = max(_normal_size(effect, 1, 1, power, alpha, alternative) - 1, 2)
    return _smallest(enough, 2 if enough(near) else near)


def minimum_detectable_effect(
    n: int, sigma: float, *, power: float = 0.8, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """The smallest mean difference that n pairs find with a given power, by the paired t-test.

    It is above 0, or below 0 for "less".

    Parameters
    ----------
    n, sigma, power, alpha, alternative
        As in `power_t` and `sample_size`.

    Examples
    --------
    >>> from permtest.study import minimum_detectable_effect
    >>> round(minimum_detectable_effect(199, 0.5), 4)
    0.0998
    """
    from scipy.optimize import brentq

    check_aim(power, alpha, alternative)
    side = "two-sided" if alternative == "two-sided" else "greater"

    def gap(effect: float) -> float:
        return power_t(n, effect, 1, alpha=alpha, alternative=side) - power

    high = check_above_zero(sigma, "sigma") / sigma
    while gap(high) < 0:
        high *= 2
    found = sigma * float(brentq(gap, 0.0, high, xtol=1e-15))
    return -found if alternative == "less" else found


# ---- scores of 0 and 1 ---------------------------------------------------------------------------


def exact_power(
    p_b: float, p_c: float, n: int, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the exact test of scores that are 0 or 1, without simulation: to 1e-12.

    Parameters
    ----------
    p_b, p_c : float
        Shares of all items that the first system alone, and the second alone, gets right.
    n : int
        Number of items, up to 10^9.
    alpha, alternative
        As in `power_t`.

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
    """
    size = check_count(n, "n", most=10**9, why=f"{_by_t('power_t(n, ', p_b, p_c)} is as good there")
    return float(_powers(np.array([size]), p_b, p_c, alpha, alternative)[0])


def exact_power_n(
    p_b: float,
    p_c: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """How many items `exact_power` needs to reach a power; at most a million.

    One item more can lower the power of an exact test, which rises in a saw-tooth: this is the
    number from which on it is never again too low.

    Parameters
    ----------
    p_b, p_c, power, alpha, alternative
        As in `exact_power` and `sample_size`.

    Examples
    --------
    >>> from permtest.study import exact_power_n
    >>> exact_power_n(0.6, 0.4)
    210
    """
    check_aim(power, alpha, alternative, **{"p_b - p_c": p_b - p_c})
    both, _ = _discordant(p_b, p_c)

    def enough(first: int, last: int) -> NDArray[np.bool_]:
        if last > 2 * MOST_EXACT:
            near = _by_t("sample_size(", p_b, p_c)
            raise ValueError(f"it takes more than {MOST_EXACT:,} items; {near} is as good there")
        return _powers(np.arange(first, last + 1), p_b, p_c, alpha, alternative) >= power

    crossing = _smallest(lambda n: bool(enough(n, n)[0]), 1)
    # A tooth is about 2 sqrt(m) discordant items wide, of which there are m.
    for end in range(crossing + ceil((20 + 2 * sqrt(crossing * both)) / both), 0, -AT_ONCE):
        first = max(end - AT_ONCE, 0) + 1
        if (failing := np.flatnonzero(~enough(first, end))).size:
            return first + int(failing[-1]) + 1
    return 1


def _discordant(p_b: float, p_c: float) -> tuple[float, float]:
    """Probability that one system alone has an item right, and that this is the first."""
    both = check_share(p_b, "p_b") + check_share(p_c, "p_c")
    if both > 1 + 1e-12:
        raise ValueError(f"p_b={p_b} and p_c={p_c}, shares of all items, add up to more than 1")
    return min(both, 1.0), p_b / both if both else 0.5


def _by_t(call: str, p_b: float, p_c: float) -> str:
    """A call with the mean and the deviation of differences of 0 and 1."""
    (both, _), gap = _discordant(p_b, p_c), p_b - p_c
    return f"{call}{gap:.6g}, {sqrt(max(both - gap * gap, 0.0)):.6g})"


def _powers(
    numbers: NDArray[np.int64], p_b: float, p_c: float, alpha: float, alternative: str
) -> NDArray[np.float64]:
    """Power with each number of items: over m, P(m) times the probability that b is extreme."""
    from scipy.special import betainc

    both, share = _discordant(p_b, p_c)
    check_level(alpha)
    check_alternative(alternative)
    fewest, most = int(numbers.min()), int(numbers.max())
    reach = [REACH[0] * sqrt(n * both * (1 - both)) + REACH[1] for n in (fewest, most)]
    low, high = int(fewest * both - reach[0]), int(most * both + reach[1])
    m = np.arange(max(low, 0), min(high, most) + 1)

    def at_most(k: Any, chance: float) -> Any:  # k losses in m games that are won by chance
        return np.where(k < 0, 0.0, betainc(m - k, k + 1, chance))

    # The most losses of m that reject, -1 if none do: near those of a normal law. Both sides are
    # alike, and roundings do not matter.
    level = alpha / (1 + (alternative == "two-sided"))
    few = np.floor((m - 1 + NormalDist().inv_cdf(level) * np.sqrt(m)) / 2).clip(-1, m - 1)
    level, off = level * (1 + 1e-11), np.ones(1)
    while off.any():
        off = np.where(at_most(few, 0.5) > level, -1, at_most(few + 1, 0.5) <= level)
        few = few + off
    sides = [share] * (alternative != "less") + [1 - share] * (alternative != "greater")
    found = sum(at_most(few, x) for x in sides)
    # From each P(m) to the next; their scale does not matter.
    odds = log(max(both, 1e-99)) - log(max(1 - both, 1e-99))
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(numbers[:, None] + 1 - m, 0) / np.maximum(m, 1))
    logs = np.cumsum(steps + odds, axis=1)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(np.clip(shares @ found / shares.sum(axis=1), 0.0, 1.0))


# ---- the next study ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outlook:
    """What power a test of such systems has, and what another study needs."""

    n: int
    power: float  # 0 where no p of n units is small enough
    detectable: float | None  # the smallest difference that n units show with the power `target`
    needed: int | None  # units that show the observed difference with that power
    target: float
    method: str
    problem: str = ""  # why something is None


def outlook(
    differences: Any,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    limit: float = inf,
    target: float = 0.8,
    unit: str = "units",
) -> Outlook:
    """What power a test of such differences has, none beyond `limit`, and what a study needs."""
    d = np.asarray(differences, dtype=np.float64)
    n, how = d.size, dict[str, Any](alpha=alpha, alternative=alternative)
    if n < 2 or np.ptp(d) == 0:
        raise ValueError("all differences are equal, so they say nothing about other differences")
    seen, sigma = observed_effect(d), float(d.std(ddof=1))
    detectable: float | None = minimum_detectable_effect(n, sigma, power=target, **how)
    power, needed, problem = power_with(n, seen, **how), None, ""
    method = "paired t-test of differences that are close to normal on average"
    if "p_b" in seen:
        method = "exact, for scores of 0 and 1; the smallest difference by the paired t-test"
    try:
        gap = seen["p_b"] - seen["p_c"] if "p_b" in seen else seen["delta"]
        if gap == 0:
            raise ValueError(f"the systems tie, and no number of {unit} shows a difference of 0")
        if alternative not in ("two-sided", "greater" if gap > 0 else "less"):
            raise ValueError("the observed difference is not on the side of the alternative")
        needed = units_needed(seen, power=target, **how)
    except ValueError as error:
        problem = str(error)
    if n < (least := fewest_units(**how)):
        detectable = None
        problem = f"{counted(n, unit)} cannot give a p of {alpha:g} or less; you need {least}"
    elif detectable is not None and abs(detectable) > limit:
        detectable = None
        shown = f"{counted(n, unit)} show it in {target:.0%} of all studies"
        problem = f"no difference is large enough that {shown}"
    return Outlook(n, power, detectable, needed, target, method, problem)


def fewest_units(alpha: float, alternative: str = "two-sided") -> int:
    """The smallest n for which p of the exact test can reach alpha: it is at least 2^-n a side."""
    return max(ceil(log2((2 if alternative == "two-sided" else 1) / alpha) - 1e-9), 1)


def observed_effect(differences: NDArray[np.float64]) -> dict[str, float]:
    """The shares of 1 and -1, if differences are 1, 0 or -1; else the mean and the deviation."""
    d = differences
    if np.isin(d, (-1, 0, 1)).all():  # as those of scores of 0 and 1 are
        return {"p_b": float(np.mean(d > 0)), "p_c": float(np.mean(d < 0))}
    return {"delta": float(d.mean()), "sigma": float(d.std(ddof=1))}


def power_with(n: int, of: Mapping[str, float], *, alpha: float, alternative: str) -> float:
    """Power of the exact test with n units and this effect; by the formula of t for means."""
    if n < fewest_units(alpha, alternative):
        return 0.0
    power: Callable[..., float] = exact_power if "p_b" in of else power_t
    return power(n=n, **of, alpha=alpha, alternative=alternative)


def units_needed(
    of: Mapping[str, float], *, power: float, alpha: float, alternative: str, most: float = inf
) -> int:
    """The fewest units with this power, and a p that can reject; approximate above `most`."""
    how = {**of, "power": power, "alpha": alpha, "alternative": alternative}
    size: Callable[..., int] = _mcnemar_size if "p_b" in of else sample_size
    if "p_b" in of and most and (most == inf or size(**how) <= most):
        size = exact_power_n
    return max(size(**how), fewest_units(alpha, alternative))


def units_at(
    interval: tuple[float, float],
    of: Mapping[str, float],
    *,
    power: float,
    alpha: float,
    alternative: str,
    most: float = inf,
) -> tuple[float, float]:
    """The units needed at the ends of an interval that excludes 0, the fewer first.

    `of` is the observed effect, whose spread stays. Infinite: more than anybody has, or on the
    other side.
    """
    near, far = sorted(interval, key=abs)
    found = []
    for end in (far, near):
        if alternative not in ("two-sided", "greater" if end > 0 else "less"):
            found.append(inf)
        elif isinf(end) or not of.get("sigma", 1.0):
            found.append(float(fewest_units(alpha, alternative)))
        else:
            how: dict[str, Any] = {"power": power, "alpha": alpha, "alternative": alternative}
            try:
                found.append(float(units_needed(effect_at(end, of), **how, most=most)))
            except ValueError:
                found.append(inf)
    return found[0], found[1]


def effect_at(delta: float, of: Mapping[str, float]) -> dict[str, float]:
    """An effect of this mean; systems of 0 and 1 differ on as many items as before, if they can."""
    if "p_b" not in of:
        return {"delta": delta, "sigma": of["sigma"]}
    apart = max(of["p_b"] + of["p_c"], abs(delta))
    return {"p_b": (apart + delta) / 2, "p_c": (apart - delta) / 2}


def _mcnemar_size(p_b: float, p_c: float, *, power: float, alpha: float, alternative: str) -> int:
    """How many items McNemar's test without a correction needs: Connor's (1987) approximation."""
    (both, _), gap = _discordant(p_b, p_c), p_b - p_c
    check_aim(power, alpha, alternative, **{"p_b - p_c": gap})
    true = sqrt(max(both - gap * gap, 0.0))
    return _normal_size(gap, sqrt(both), true, power, alpha, alternative)


# ---- what all of them need -----------------------------------------------------------------------


def _normal_size(
    gap: float, null: float, true: float, power: float, alpha: float, alternative: str
) -> int:
    """n where a normal mean is found, whose deviation is `null` without a gap, and `true` with."""
    quantile = NormalDist().inv_cdf
    z = -quantile(alpha / 2 if alternative == "two-sided" else alpha)
    root = (z * null + quantile(power) * true) / gap
    return _smallest(lambda size: size >= root * root, 1)


def _smallest(enough: Any, least: int) -> int:
    """The smallest n from `least` on that is enough, as are all that are larger."""
    low, high, step = least - 1, least, 1
    while not enough(high):
        low, high, step = high, high + step, 2 * step
        if high > MOST:
            raise ValueError(f"you would need more than {MOST:,} items for so small a difference")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def check_aim(power: float, alpha: float, alternative: str, **difference: float) -> None:
    """Levels in their order, and a difference that lies on the side of the alternative."""
    check_alternative(alternative)
    if not check_level(alpha) < check_level(power, "power"):
        raise ValueError(f"power={power} must exceed alpha={alpha}, the power without a difference")
    for name, value in difference.items():
        if value == 0:
            raise ValueError(f"{name} is 0: no number of items finds a difference of 0")
        if (value < 0) != (alternative == "less") and alternative != "two-sided":
            raise ValueError(
                f"{name}={value:g} has the wrong sign for alternative={alternative!r}; "
                "swap the systems or the alternative"
            )
