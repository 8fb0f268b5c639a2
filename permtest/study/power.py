"""How many items a study takes, and how often tests reject: by formulas, and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, gcd, inf, isinf, log, log2, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

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
from permtest._parallel import RNG, as_generator, in_parallel, progress, seeds, stream
from permtest._text import Shown, interval, number
from permtest.alternatives import registry
from permtest.alternatives.counts import wilson
from permtest.alternatives.means import t_pvalue
from permtest.integers import exact_sum, roomy
from permtest.null.rows import Laws, compile_kernels
from permtest.statistics import check_alternative, lookup
from permtest.study.describe import deviation

if TYPE_CHECKING:
    from permtest.many.board import Leaderboard

#: More items than this nobody has; the most whose number is searched for among exact tests; and
#: up to how many items that is done where a formula is as good.
MOST, MOST_EXACT, FEW_ITEMS = 10**15, 10**6, 10_000

#: Numbers of items that are looked at together; and how far from the mean numbers of discordant
#: items matter to `exact_power`: so many standard deviations, and so many more.
AT_ONCE, REACH = 128, (9.0, 40.0)

#: Tests that can be made of many data sets at a time; and those of the mean, for which a true mean
#: difference of 0 is the null hypothesis.
SIMULATED = tuple(test for test, row in registry.TESTS.items() if row.many)
OF_MEANS = tuple(test for test in SIMULATED if registry.TESTS[test].estimate_name == registry.MEAN)

#: Scores that are drawn at a time (16 MB for each system), data sets that share the resamples of a
#: bootstrap, and those whose exact tests a processor makes in one go.
DRAWN, PART, SHARE = 2**21, 1000, 50

#: Differences that are no small multiples of a unit go on a lattice for the exact test: so many
#: cells to a standard deviation, but no more to the largest.
SMALL, PER_DEVIATION, FINEST = 100, 8, 1000

Floats: TypeAlias = NDArray[np.float64]
Test: TypeAlias = "str | Callable[[Any, Any], Any]"
Draw: TypeAlias = Callable[[np.random.Generator, int, int], tuple[Any, Any]]


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

    how: dict[str, Any] = {"alpha": alpha, "alternative": alternative}

    def enough(n: int) -> bool:
        return power_t(n, effect, 1, **how) >= power

    quantile = NormalDist().inv_cdf
    z = quantile(power) - quantile(alpha / 2 if alternative == "two-sided" else alpha)
    near = max(int(min((z / effect) ** 2, MOST)), 2)  # of a normal law
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


def sample_size_binary(
    p_b: float,
    p_c: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """How many items of scores 0 and 1 the exact test needs to reach a power; at most a million.

    One item more can lower the power of an exact test, which rises in a saw-tooth: this is the
    number from which on it is never again too low.

    Parameters
    ----------
    p_b, p_c, power, alpha, alternative
        As in `exact_power` and `sample_size`.

    Examples
    --------
    >>> from permtest.study import sample_size_binary
    >>> sample_size_binary(0.6, 0.4)
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
) -> Floats:
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


# ---- of either kind: effects are shares p_b and p_c, or delta and sigma --------------------------


def observed_effect(differences: Floats) -> dict[str, float]:
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


def fewest_units(alpha: float, alternative: str = "two-sided") -> int:
    """The smallest n for which p of the exact test can reach alpha: it is at least 2^-n a side."""
    return max(ceil(log2((2 if alternative == "two-sided" else 1) / alpha) - 1e-9), 1)


def units_needed(of: Mapping[str, float], *, power: float, alpha: float, alternative: str) -> int:
    """The fewest units with this power, and a p that can reject; by the formula of t if many."""
    how: dict[str, Any] = {"power": power, "alpha": alpha, "alternative": alternative}
    least, gap, sigma = fewest_units(alpha, alternative), of.get("delta", 0.0), of.get("sigma", 0.0)
    if "p_b" in of:
        gap = of["p_b"] - of["p_c"]
        sigma = sqrt(max(of["p_b"] + of["p_c"] - gap * gap, 0.0))
    size = sample_size(gap, sigma, **how) if sigma else least
    if "p_b" in of and size <= FEW_ITEMS:
        size = sample_size_binary(of["p_b"], of["p_c"], **how)
    return max(size, least)


def units_at(
    ends: tuple[float, float],
    of: Mapping[str, float],
    *,
    power: float,
    alpha: float,
    alternative: str,
) -> tuple[float, float]:
    """The units needed at the ends of an interval that excludes 0, the fewer first.

    `of` is the observed effect, whose spread stays. Infinite: more than anybody has, or on the
    other side.
    """
    found: list[float] = []
    for end in sorted(ends, key=abs, reverse=True):
        effect = {**of, "delta": end}
        if "p_b" in of:  # on as many items as before, if so few can make that difference
            apart = max(of["p_b"] + of["p_c"], min(abs(end), 1.0))
            effect = {"p_b": (apart + end) / 2, "p_c": (apart - end) / 2}
        if isinf(end):
            found.append(fewest_units(alpha, alternative))
            continue
        try:
            how: dict[str, Any] = {"power": power, "alpha": alpha, "alternative": alternative}
            found.append(units_needed(effect, **how))
        except ValueError:  # more than anybody has, or on the other side
            found.append(inf)
    return found[0], found[1]


def _smallest(enough: Callable[[int], bool], least: int) -> int:
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


# ---- by simulation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerCurve(Shown):
    """The power of a test against the number of pairs, as `power_curve` makes it.

    Parameters
    ----------
    sizes, power : tuple
        Numbers of pairs, ascending, and the share of the samples of that size that were rejected.
    intervals : tuple of (float, float)
        Wilson's 95% intervals of the power, for the error of the simulation.
    test, alpha, alternative, experiments, method
        What `power_curve` was asked for.
    delta : float
        The true mean difference in the samples.
    rounded : float
        Unit of a lattice that differences were rounded to, in scores; 0 if they were not.

    Examples
    --------
    >>> from permtest.study import power_curve
    >>> curve = power_curve([3, 5, 4, 6], [2, 5, 3, 4], sizes=[10, 40], experiments=200, rng=0)
    >>> curve.power[1] > 0.9, len(curve.intervals)
    (True, 2)
    """

    sizes: tuple[int, ...]
    power: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    test: str
    alpha: float
    alternative: str
    experiments: int
    method: str
    delta: float | None = None
    rounded: float = 0.0

    def needed(self, power: float = 0.8) -> int | None:
        """The smallest number of pairs with this power, in (0, 1); None if no size has it.

        Read off the nearest curve that never falls, by linear interpolation.
        """
        from scipy.optimize import isotonic_regression

        check_level(power, "power")
        curve = isotonic_regression(np.array(self.power)).x
        there = int(np.argmax(curve >= power))
        if curve[there] < power:
            return None
        near = slice(max(there - 1, 0), there + 1)
        return ceil(np.interp(power, curve[near], self.sizes[near]) - 1e-9)

    def __str__(self) -> str:
        enough, ends = self.needed(), interval(*self.intervals[-1], digits=3)
        title = registry.TESTS[self.test].title if self.test in registry.TESTS else self.test
        most = "no more than" if enough == self.sizes[0] else "about"
        reach = f"A power of 80% takes {most} {enough} pairs"
        return (
            f"With {self.sizes[-1]} pairs the power of the {title} is {number(self.power[-1], 3)} "
            f"(95% interval {ends}; alpha = {self.alpha:g}, {self.alternative}, "
            f"{self.experiments} samples by {self.method}). "
            f"{reach if enough else 'No size here has a power of 80%'}."
        )


def power_curve(
    a: Any,
    b: Any = None,
    *,
    test: Test = "exact",
    sizes: int | Sequence[int] = 20,
    experiments: int = 2000,
    method: str = "bootstrap",
    delta: float | Fraction | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    rng: RNG = None,
) -> PowerCurve:
    """How the power of a test grows with the number of pairs like these.

    It says how many pairs another study of such systems takes, and nothing new about the data
    themselves: where p is small, the power at their own size is large.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items; or one `Scores`, and None.
    test : str or callable, default "exact"
        One of "exact", "paired_t", "independent_t", "normal_z", "bootstrap_mean" (studentised),
        "sign", "wilcoxon" and "wilcoxon_approx"; for scores that are 0 or 1 also "mcnemar",
        "mcnemar_midp" and "mcnemar_chi2". Or a function of two rows that returns p, or a result
        with `pvalue`: any of `alternatives`.
    sizes : int or sequence of int, default 20
        How many sizes, evenly spaced up to N: 5 of 100 pairs are 20, 40, 60, 80 and 100. Or the
        sizes themselves, up to ten million.
    experiments : int, default 2000
        Number of samples of each size, up to a million.
    method : {"bootstrap", "normal"}
        Draw pairs with replacement, or differences from the normal law with their mean and spread,
        which the exact test rounds to multiples of an eighth of the spread.
    delta : float or Fraction, optional
        The true mean difference in the samples, if not that of the data: 0 makes the curve that of
        the level. For tests of the mean, and functions.
    alpha : float, default 0.05
        Level of the test; p <= alpha rejects.
    alternative : {"two-sided", "greater", "less"}
    rng : numpy.random.Generator, int or None
        A seed makes the curve reproducible, whatever the number of workers.

    Notes
    -----
    For the exact test by bootstrap only the number of times that each difference occurs is drawn,
    so that the cost, some 40 µs a sample, does not depend on the sizes. Differences that are no
    multiples of a unit up to 100 go to one of two neighbours on a lattice at random, such that the
    mean is kept. Its unit, `rounded`, is an eighth of the standard deviation, which adds at most
    a 256th to the variance, or a thousandth of the largest difference, if that is more.

    Source: NLPStatTest manual, sec. 3.4 and F.2 (Alg. 3 and 4).

    Examples
    --------
    >>> from permtest.study import power_curve
    >>> curve = power_curve([1] * 12 + [0] * 8, [1] * 6 + [0] * 14, sizes=[20, 40, 80], rng=0)
    >>> curve.power[0] < 0.8 < curve.power[-1], 20 < curve.needed(0.8) < 40
    (True, True)
    """
    if delta is not None and isinstance(test, str) and test not in OF_MEANS:
        raise ValueError(
            f"delta sets the mean difference, but test={test!r} is not about the mean: it may "
            "reject where that is 0. Leave delta out, or use test='exact'"
        )
    check_option("method", method, ("bootstrap", "normal"))
    scores, true = (
        registry.scores_of(a, b)[0],
        None if delta is None else registry.as_threshold(delta),
    )
    if test in registry.OF_COUNTS and not scores.is_binary:
        raise ValueError(f"test={test!r} is for scores of 0 and 1; use test='exact'")
    d, scale, n = scores.differences(), scores.scale, len(scores)
    mean = float(Fraction(exact_sum(d), scale * n) if true is None else true)
    draw: Draw
    if method == "normal":
        spread = deviation(d, scale)
        if not spread > 0:
            raise ValueError("the differences are all equal; a normal law needs some spread")
        draw, unit = partial(_normal, test == "exact", mean / spread), spread / PER_DEVIATION
    else:
        draw = Resampling.of(scores.u, scores.v, scale, true)
        unit = draw.rounded
    name = test if isinstance(test, str) else getattr(test, "__name__", "test")
    how: dict[str, Any] = {"experiments": experiments, "alpha": alpha, "alternative": alternative}
    chosen, origin = _sizes(sizes, n), seeds(as_generator(rng))
    power: list[float] = []
    for size in reversed(chosen):  # the largest first, of which there may be too much to draw
        generator = stream(origin, size)
        power.insert(0, rejection_rates({name: test}, draw, n=size, rng=generator, **how)[name])
    intervals = tuple(wilson(share, experiments) for share in power)
    asked = {"test": name, "method": method, "delta": mean, **how}
    rounded = unit * (test == "exact")
    return PowerCurve(tuple(chosen), tuple(power), intervals, rounded=rounded, **asked)


def _sizes(sizes: Any, n: int) -> list[int]:
    """The sizes that are asked for, or so many up to `n`."""
    if np.ndim(sizes):
        if not (chosen := sorted({check_count(x, f"sizes[{i}]") for i, x in enumerate(sizes)})):
            raise ValueError("sizes is empty; name at least one")
        return chosen
    # One pair says nothing about spread; where there are more, the curve begins at two.
    total = check_count(sizes, "sizes", most=1000, why="list the size that you mean, [n]")
    return sorted({n * k // total for k in range(1, total + 1)} - {0, 1} or {n})


def _normal(
    rounded: bool, lead: float, rng: np.random.Generator, size: int, n: int
) -> tuple[Any, Any]:
    """Normal differences with that mean, in deviations, of which eight are a unit."""
    middle = float(np.clip(PER_DEVIATION * lead, -FINEST, FINEST))
    d = rng.normal(middle, PER_DEVIATION, (size, n))
    return np.rint(d).astype(np.int64) if rounded else d, np.zeros((size, n), np.int64)


def rejection_rates(
    tests: Mapping[str, Test],
    draw: Draw,
    *,
    n: int,
    experiments: int,
    alpha: float,
    alternative: str = "two-sided",
    rng: RNG,
    K: int = 1000,
) -> dict[str, float]:
    """The share of simulated data sets of n pairs that each test rejects, all in the same ones.

    ``draw(rng, experiments, n)`` returns scores of both systems, of shape (experiments, n); it is
    asked for up to a thousand data sets at a time, which the workers of joblib share.
    """
    check_level(alpha)
    check_alternative(alternative)
    why = "their shares are as good as exact by then; ask for fewer"
    total = check_count(experiments, "experiments", most=10**6, why=why)
    law = draw if isinstance(draw, Resampling) else None
    alone = law if [*tests.values()] == ["exact"] else None  # so that no rows have to be drawn
    check_count(n, "n", most=10**7, why="power_t and exact_power have formulas")
    for test in tests.values():
        if not callable(test):
            check_option("test", test, SIMULATED)
    width = alone.values.size if alone else n
    each = max(min(DRAWN // width, PART), 1)
    origin = seeds(as_generator(rng))

    def rejected(start: int) -> list[int]:
        size, generator = min(each, total - start), stream(origin, start)
        rows = () if alone else draw(generator, size, n)
        how: dict[str, Any] = {"alternative": alternative, "rng": generator, "K": K}
        return [
            law.rejected(generator, size, n, alpha, alternative)
            if law and test == "exact"
            else int(registry.rejects(pvalues(test, *rows, **how), alpha).sum())
            for test in tests.values()
        ]

    if {"exact", "wilcoxon"}.intersection(test for test in tests.values() if not callable(test)):
        compile_kernels()  # once, before several threads do
    starts = range(0, total, each)
    rows = in_parallel(rejected, starts, threads=False)
    found = np.sum([*progress(rows, total=len(starts), what="tests")], axis=0)
    return {test: float(x) / total for test, x in zip(tests, found, strict=True)}


def pvalues(
    test: Test,
    a: NDArray[Any],
    b: NDArray[Any],
    *,
    alternative: str,
    rng: RNG = None,
    K: int = 1000,
) -> Floats:
    """p of each data set, one a row; for "exact", scores have to be integers.

    0 or 1 for tests that divide by the spread of a row, if it has none. The bootstrap is
    studentised, and all data sets share its K resamples.
    """
    if callable(test):
        p = np.empty(len(a))
        for i, found in enumerate(progress(map(test, a, b), total=len(a), what="tests")):
            p[i] = getattr(found, "pvalue", found)
            if not 0 <= p[i] <= 1:
                raise ValueError(f"the test returned {p[i]} for data set {i}, which is no p-value")
        return p
    row = registry.TESTS[test]
    drawn = {"K": K, "rng": as_generator(rng)} if row.takes == "resamples" else {}
    assert row.many is not None, f"{test} is made of single data sets only"
    return np.asarray(row.many(a, b, axis=1, alternative=alternative, **drawn))


@dataclass(frozen=True, eq=False)
class Resampling:
    """Draws pairs with replacement; for the exact test only how often each difference occurs."""

    a: Floats
    b: Floats
    values: NDArray[np.int64]  # the differences, as integers
    shares: Floats  # how probable they are
    rounded: float  # the unit that they were rounded to, in scores; 0 where they were not

    @classmethod
    def of(cls, u: NDArray[Any], v: NDArray[Any], scale: int, delta: Any) -> Resampling:
        """Of pairs of integers over `scale`, shifted such that their mean difference is `delta`."""
        distinct, counts = np.unique(roomy(u) - roomy(v), return_counts=True)
        total = sum(int(x) * k for x, k in zip(distinct, counts.tolist(), strict=True))
        shift = Fraction(0) if delta is None else delta * scale - Fraction(total, u.size)
        a, b = registry.as_floats(u, scale) + float(shift / scale), registry.as_floats(v, scale)
        whole = [int(x) * shift.denominator + shift.numerator for x in distinct]
        unit, shares = gcd(*whole) or 1, counts / u.size
        if max(map(abs, whole)) <= SMALL * unit:
            return cls(a, b, np.array([x // unit for x in whole]), shares, 0.0)
        x = np.array([value / (scale * shift.denominator) for value in whole])
        spread = float(np.sqrt(shares @ (x - shares @ x) ** 2))
        rounded = max(spread / PER_DEVIATION, float(np.abs(x).max()) / FINEST)
        low = np.floor(x / rounded)
        upper = shares * (x / rounded - low)
        values, where = np.unique([*low, *(low + 1)], return_inverse=True)
        mass = np.bincount(where, [*(shares - upper), *upper])
        return cls(a, b, values.astype(np.int64), np.asarray(mass, dtype=np.float64), rounded)

    def __call__(self, rng: np.random.Generator, size: int, n: int, /) -> tuple[Floats, Floats]:
        """Scores of both systems, so many samples of n pairs."""
        items = rng.integers(self.a.size, size=(size, n))
        return self.a[items], self.b[items]

    def rejected(
        self, rng: np.random.Generator, size: int, n: int, alpha: float, alternative: str
    ) -> int:
        """How many of so many samples of n pairs the exact test rejects."""
        # With z the sum over the root of the sum of squares and Q the tail of a normal law, that of
        # a sum with random signs is at most 3.18 Q(z) (Bentkus and Dzindzalieta 2015), and off Q(z)
        # by at most 0.56 times the sum of cubes over that root cubed (Shevtsova 2013). What these
        # bounds leave open is tested.
        times, two = rng.multinomial(n, self.shares, size=size), alternative == "two-sided"
        magnitudes = np.abs(self.values).astype(np.float64)
        lead, root = times @ self.values, np.sqrt(np.maximum(times @ magnitudes**2, 1.0))
        ahead = two | ((lead > 0) if alternative == "greater" else (lead < 0))
        normal = t_pvalue(lead / root, inf, alternative)
        off = (1 + two) * 0.56 * (times @ magnitudes**3) / root**3
        most = np.where(ahead, np.minimum(3.18 * normal, normal + off), 1.0)
        least = np.where(ahead, normal - off, 0.5)
        rest = times[(most > alpha) & (least <= alpha)]

        def tested(some: NDArray[np.int64]) -> int:
            found = Laws.of_counts(self.values, some).solve(alternative)
            p = found.values[0]
            for i in found.hard.nonzero()[0]:
                row = np.repeat(self.values, some[i].astype(np.intp))
                p[i] = pvalues("exact", row[None, :], 0 * row[None, :], alternative=alternative)[0]
            return int(np.count_nonzero(registry.rejects(p, alpha)))

        parts = [rest[i : i + SHARE] for i in range(0, len(rest), SHARE)]
        return int(np.count_nonzero(most <= alpha)) + sum(in_parallel(tested, parts))


# ---- boards --------------------------------------------------------------------------------------


def separating_n(board: Leaderboard, power: float = 0.8) -> Floats:
    """How many units would separate each system again from the one before it, or the baseline.

    Only where the interval of their difference excludes 0. Where it does not, the scores do not
    tell which of the two is higher, and no number of units follows from them.

    Parameters
    ----------
    board : Leaderboard
        What `compare_many` returns.
    power : float, default 0.8
        The probability of finding the difference: above the level of one pair, below 1.

    Returns
    -------
    ndarray of shape (S, 2)
        Items, or clusters where these are swapped, in the order of `board.systems`: the fewest, if
        the true difference lies at that end of its interval that is further from 0, and the most,
        if it lies at the nearer one; infinite where it is more than anybody has. NaN where the
        interval contains 0, for the first system, and for the baseline.

    Notes
    -----
    The intervals are simultaneous, as in ``board.interval``. The spread is taken as observed, and
    so is the share of items on which systems of 0 and 1 differ. The level is that of one pair:
    `alpha` over the number of tests, as if corrected by Bonferroni, or `alpha` itself without a
    correction. Numbers above 10 000 are by the formula of the t-test.

    Examples
    --------
    >>> from permtest import compare_many
    >>> from permtest.study import separating_n
    >>> small, big = [2, 4, 3, 4, 1, 3, 4], [3, 5, 4, 6, 2, 4, 5]
    >>> board = compare_many({"big": big, "small": small, "copy": small})
    >>> separating_n(board, power=0.9).tolist()
    [[nan, nan], [7.0, 27.0], [nan, nan]]
    """
    level = board.alpha / (1 if board.correction == "none" else len(board))
    how: dict[str, Any] = {"power": power, "alpha": level, "alternative": "two-sided"}
    check_aim(**how)
    found, systems, order = np.full((len(board.systems), 2), np.nan), board.systems, board.order()
    whole = board.metric == "mean" or lookup(board.metric).columns
    times = 1 if whole else board.n
    for before, name in zip([order[0], *order], order, strict=False):
        other = board.baseline or before
        if name != other:
            i, j = systems.index(name), systems.index(other)
            low, high = (end / times for end in board.interval(name, other))
            if low > 0 or high < 0:
                gaps = board.unit_values[i] - board.unit_values[j]
                found[i] = units_at((low, high), observed_effect(gaps), **how)
    return found
