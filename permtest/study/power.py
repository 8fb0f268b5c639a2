"""How many items a study takes, and how often tests reject: by formulas, and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, gcd, inf, log2, sqrt
from typing import Any, TypeAlias

import numpy as np

from permtest._errors import check_above_zero, check_count, check_finite, check_level, check_option
from permtest._jit import Floats, Ints
from permtest._random import RNG, as_generator, in_parallel, seeds, stream
from permtest._text import Shown, interval, number
from permtest.alternatives import registry
from permtest.alternatives.counts import wilson
from permtest.alternatives.means import t_pvalue
from permtest.alternatives.ranks import exact_pvalues
from permtest.integers import exact_sum
from permtest.null.distribution import count_values
from permtest.null.tail import Laws, compile_kernels
from permtest.scores import Scores
from permtest.statistics import check_alternative

#: More items than this nobody has; the most whose number is searched for among exact tests, so many
#: at a time; and how many items that differ make a formula as good.
MOST, MOST_EXACT, AT_ONCE, MANY = 10**15, 10**6, 128, 10_000
#: Scores that are drawn at a time (16 MB a system), samples that share resamples of a bootstrap,
#: and those whose exact tests a processor makes in one go.
DRAWN, PART, SHARE = 2**21, 1000, 50
#: Cells of a lattice up to which differences are on one as they are; else for a standard deviation,
#: and at most for the largest.
SMALL, PER_DEVIATION, FINEST = 100, 8, 1000
#: Pairs to draw with replacement, a and b; and of their differences integers, each with its share.
Population: TypeAlias = tuple[Floats, Floats, Ints, Floats]


def power_t(
    n: int, delta: float, sigma: float, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the paired t-test, about that of the exact test of the mean of normal differences.

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
    tail = check_level(alpha) / (1 + (alternative == "two-sided"))
    size = check_count(n, "n", 2, why="a single pair has no standard deviation")
    shift = check_finite(delta, "delta") / check_above_zero(sigma, "sigma") * sqrt(size)
    shifts = {"greater": [shift], "less": [-shift]}.get(alternative, [shift, -shift])
    tails = ((x, nct.sf(t.isf(tail, size - 1), size - 1, x)) for x in shifts)
    # Far out SciPy has no number, but the tail is as good as nothing, or as everything.
    return min(sum(float(x > 0) if np.isnan(p) else float(p) for x, p in tails), 1.0)


def sample_size(
    delta: float,
    sigma: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """The smallest number of pairs with this power of the paired t-test (NLPStatTest, F.1).

    Parameters
    ----------
    delta, sigma : float
        The mean difference that is to be found, not 0, and the deviation of the differences.
    power : float, default 0.8
        How often it is to be found, in (alpha, 1).
    alpha, alternative : as in `power_t`

    Examples
    --------
    >>> from permtest.study import sample_size
    >>> sample_size(0.1, 0.5), sample_size(2, 1), sample_size(0.1, 0.1, power=0.9)
    (199, 5, 13)
    """
    effect = check_finite(delta, "delta") / check_above_zero(sigma, "sigma")
    of = partial(power_t, delta=effect, sigma=1, alpha=alpha, alternative=alternative)
    return _smallest(of, _checked(power, alpha), 2, MOST)


def minimum_detectable_effect(
    n: int, sigma: float, *, power: float = 0.8, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """The smallest difference that n pairs find with this power of the t-test; negative for "less".

    Parameters
    ----------
    n, sigma, power, alpha, alternative : as in `power_t` and `sample_size`

    Examples
    --------
    >>> from permtest.study import minimum_detectable_effect
    >>> round(minimum_detectable_effect(199, 0.5), 4)
    0.0998
    """
    from scipy.optimize import brentq

    wanted = _checked(power, alpha)
    of = partial(power_t, n, sigma=1, alpha=alpha, alternative=alternative)
    far = -MOST if alternative == "less" else MOST
    effect = brentq(lambda x: of(x) - wanted, 0.0, far, xtol=1e-15, maxiter=999)
    return check_above_zero(sigma, "sigma") * float(effect)


def exact_power(
    p_b: float, p_c: float, n: int, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Power of the exact test of scores that are 0 or 1, without simulation: to 1e-12.

    Parameters
    ----------
    p_b, p_c : float
        Shares of all items that the first system alone, and the second alone, gets right.
    n : int
        Number of items, up to 10^9. The cost is O(sqrt(n) log n).
    alpha, alternative : as in `power_t`

    Examples
    --------
    >>> from permtest.study import exact_power
    >>> round(exact_power(0.15, 0.1, 1000), 4)
    0.8763
    """
    check_count(n, "n", most=10**9, why="power_t is as good there")
    return float(_exact_powers(n, p_b, p_c, alpha, alternative))


def sample_size_binary(
    p_b: float,
    p_c: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int:
    """The number of items of scores 0 and 1 from which on the exact test has a power; to a million.

    One item more can lower the power of an exact test, which rises in a saw-tooth: from this number
    on it is never again too low.

    Parameters
    ----------
    p_b, p_c, power, alpha, alternative : as in `exact_power` and `sample_size`

    Examples
    --------
    >>> from permtest.study import sample_size_binary
    >>> sample_size_binary(0.6, 0.4)
    210
    """
    of = partial(exact_power, p_b, p_c, alpha=alpha, alternative=alternative)
    crossing, both = _smallest(of, _checked(power, alpha), 1, MOST_EXACT), p_b + p_c
    # A tooth is about 2 sqrt(m) discordant items wide, of which there are m.
    for last in range(crossing + ceil((20 + 2 * sqrt(crossing * both)) / both), 0, -AT_ONCE):
        numbers = np.arange(max(last - AT_ONCE, 0), last) + 1
        failing = numbers[_exact_powers(numbers, p_b, p_c, alpha, alternative) < power]
        if failing.size:
            return int(failing[-1]) + 1
    return 1


def _exact_powers(numbers: Any, p_b: float, p_c: float, alpha: float, alternative: str) -> Floats:
    # The number m of items that one system alone has right is binomial, and given m the number of
    # those that the first has right. Values of m of less than 1e-15 together are left out.
    from scipy.stats import binom

    check_level(alpha)
    check_alternative(alternative)
    both = p_b + p_c
    if not 0 <= min(p_b, p_c) <= both <= 1 + 1e-12:
        raise ValueError(f"p_b={p_b} and p_c={p_c} must be shares of all items, of 1 together")
    both, lost = min(both, 1.0), p_c / both if both else 0.5
    ends = binom.ppf(2e-16, np.min(numbers), both), binom.isf(2e-16, np.max(numbers), both)
    m = np.arange(max(ends[0], 0), ends[1] + 1)
    # The most losses of m that reject, -1 if none do; roundings do not matter.
    level = alpha / (1 + (alternative == "two-sided")) * (1 + 1e-11)
    few = binom.ppf(level, m, 0.5)
    few = few - (binom.cdf(few, m, 0.5) > level)
    sides = [lost] * (alternative != "less") + [1 - lost] * (alternative != "greater")
    rejected = sum(binom.cdf(few, m, chance) for chance in sides)
    return np.asarray(np.clip(binom.pmf(m, np.expand_dims(numbers, -1), both) @ rejected, 0.0, 1.0))


def _smallest(of: Callable[..., float], power: float, least: int, most: int) -> int:
    if of(n=most) < power:
        why = "the difference is too small, 0, or on the other side"
        raise ValueError(f"{most:,} items are not enough: {why}")
    return registry.first(lambda n: of(n=n) >= power, least, most)


def _checked(power: float, alpha: float) -> float:
    if not check_level(alpha) < check_level(power, "power"):
        raise ValueError(f"power={power} must exceed alpha={alpha}, the power without a difference")
    return power


def fewest_units(alpha: float, alternative: str = "two-sided") -> int:
    """The smallest n for which p of the exact test can reach alpha: it is at least 2^-n a side."""
    return max(ceil(log2((2 if alternative == "two-sided" else 1) / alpha) - 1e-9), 1)


def units_needed(of: Mapping[str, Any], power: float, **how: Any) -> int:
    """For p_b and p_c, or delta and sigma, the fewest units with a power, and a p that rejects."""
    least, (delta, sigma), shares = fewest_units(**how), of.values(), "p_b" in of
    if shares:
        delta, sigma = delta - sigma, sqrt(max(delta + sigma - (delta - sigma) ** 2, 0.0))
    size = sample_size(delta, sigma, power=power, **how) if sigma else least
    # Where more than 10 000 items differ, the formula is within 1% of what exact tests need.
    if shares and size <= MANY:
        size = sample_size_binary(**of, power=power, **how)
    elif shares and size * sum(of.values()) <= MANY:  # so many that its power hardly falls again
        size = _smallest(lambda n: float(_exact_powers(n, **of, **how)), power, 1, 4 * size)
    return max(size, least)


@dataclass(frozen=True)
class PowerCurve(Shown):
    """The power of a test against the number of pairs, as `power_curve` finds it.

    `sizes`, ascending; `power`, the shares of samples that are rejected, and `intervals`, their 95%
    intervals by Wilson.
    """

    sizes: tuple[int, ...]
    power: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    test: str
    alpha: float
    alternative: str
    experiments: int

    def needed(self, power: float = 0.8) -> int | None:
        """The fewest pairs that have this power, by the nearest curve that never falls, or None."""
        from scipy.optimize import isotonic_regression

        check_level(power, "power")
        curve = isotonic_regression(np.array(self.power)).x
        there = int(np.searchsorted(curve, power))
        if there == curve.size:
            return None
        near = slice(max(there - 1, 0), there + 1)
        return ceil(np.interp(power, curve[near], self.sizes[near]) - 1e-9)

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, power: float = 0.8) -> str:
        """What the curve says of its last size, and which size has this power."""
        enough, ends = self.needed(power), interval(*self.intervals[-1], digits=3)
        have = f"{enough} pairs have a power of" if enough else "no size here reaches"
        return (
            f"With {self.sizes[-1]} pairs the power of the {registry.TESTS[self.test].title} is "
            f"{number(self.power[-1], 3)} (95% interval {ends}; alpha = {self.alpha:g}, "
            f"{self.alternative}, {self.experiments} samples); {have} {power:.0%}."
        )


def power_curve(
    a: Any,
    b: Any = None,
    *,
    test: str = "exact",
    sizes: int | Sequence[int] = 20,
    experiments: int = 2000,
    delta: float | Fraction | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    rng: RNG = None,
) -> PowerCurve:
    """How the power of a test grows with the number of pairs like these, drawn with replacement.

    It says how many pairs another study takes, and nothing new about the data themselves: where p
    is small, the power at their own size is large (NLPStatTest manual, 3.4 and F.2, Alg. 4).

    Differences that are no multiples of a unit up to 100 are rounded at random for the exact test,
    such that the mean is kept, and the variance but for a 256th.

    Parameters
    ----------
    a, b : as in `describe`
    test : str, default "exact"
        A test that can be made of many samples at once: "exact", "paired_t", "normal_z",
        "bootstrap_mean", "sign", "wilcoxon" and others, which the error for an unknown name lists;
        of scores of 0 and 1 also "mcnemar", "mcnemar_midp", "mcnemar_chi2".
    sizes : int or sequence of int, default 20
        How many sizes, evenly spaced up to N: 5 of 100 pairs are 20, 40, 60, 80 and 100. Or the
        sizes themselves, up to ten million.
    experiments : int, default 2000
        Number of samples of each size, up to a million.
    delta : float or Fraction, optional
        The true mean difference in the samples, if not that of the data: 0 makes the curve that of
        the level. For tests of the mean.
    alpha, alternative : as in `power_t`
    rng : numpy.random.Generator, int or None
        A seed makes the curve reproducible, whatever the number of workers.

    Examples
    --------
    >>> from permtest.study import power_curve
    >>> curve = power_curve([1] * 12 + [0] * 8, [1] * 6 + [0] * 14, sizes=[20, 40, 80], rng=0)
    >>> curve.power[0] < 0.8 < curve.power[-1], 20 < curve.needed(0.8) < 40
    (True, True)
    """
    check_option("test", test, [x for x, row in registry.TESTS.items() if row.many])
    check_alternative(alternative)
    check_level(alpha)
    check_count(experiments, "experiments", most=10**6, why="shares of fewer are as good")
    if delta is not None and registry.TESTS[test].estimate_name != registry.MEAN:
        raise ValueError(f"delta sets the mean difference, but {test=} is not about the mean")
    scores = registry.scores_of(a, b)
    if test in registry.OF_COUNTS and not scores.is_binary:
        raise ValueError(f"test={test!r} is for scores of 0 and 1; use test='exact'")
    listed: Any = sizes
    if np.ndim(listed) and len(listed):
        chosen = {check_count(x, f"sizes[{i}]", most=10**7) for i, x in enumerate(listed)}
    else:  # one pair says nothing about spread; where there are more, the curve begins at two
        n, parts = len(scores), check_count(sizes, "sizes", most=1000, why="list the size, [n]")
        chosen = {n * k // parts for k in range(1, parts + 1)} - {0, 1} or {n}
    pairs, origin = population(scores, delta), seeds(as_generator(rng))
    how: dict[str, Any] = {"alpha": alpha, "alternative": alternative, "experiments": experiments}
    ordered = tuple(sorted(chosen))
    power = tuple(rejection_rate(test, pairs, n, rng=stream(origin, n), **how) for n in ordered)
    return PowerCurve(ordered, power, tuple(wilson(x, experiments) for x in power), test, **how)


def population(scores: Scores, delta: Any = None) -> Population:
    """What samples are drawn from: scores, shifted such that the mean difference is `delta`."""
    d, shift, scale = scores.differences(), Fraction(0), scores.scale
    if delta is not None:
        check_finite(delta, "delta")
        shift = Fraction(str(delta)) * scale - Fraction(exact_sum(d), d.size)
    a, b = (registry.as_floats(x, scale) for x in scores.arrays)
    a += float(shift / scale)
    distinct, counts = count_values(d)
    whole = [int(x) * shift.denominator + shift.numerator for x in distinct]
    shares, unit, top = counts / d.size, gcd(*whole) or 1, max(map(abs, whole))
    if top <= SMALL * unit:
        return a, b, np.array([x // unit for x in whole]), shares
    x = np.array([value / top for value in whole])
    x /= max(sqrt(shares @ (x - shares @ x) ** 2) / PER_DEVIATION, 1 / FINEST)
    low = np.floor(x).astype(np.int64)
    upper = shares * (x - low)
    values, where = np.unique([low, low + 1], return_inverse=True)
    return a, b, values, np.bincount(where.ravel(), [*(shares - upper), *upper]).astype(np.float64)


def rejection_rate(
    test: str, pairs: Population, n: int, experiments: int, rng: RNG, K: int = 1000, **how: Any
) -> float:
    """The share of simulated data sets of n pairs that a test rejects; `how` goes to the test."""
    (a, b, values, shares), alpha = pairs, how.pop("alpha")
    row: Any = registry.TESTS[test]
    each = max(min(DRAWN // (values.size if test == "exact" else n), PART), 1)
    origin, starts = seeds(as_generator(rng)), range(0, experiments, each)

    def rejected(start: int) -> int:
        size, generator = min(each, experiments - start), stream(origin, start)
        if test == "exact":
            return _rejected(values, generator.multinomial(n, shares, size), alpha, **how)
        items = generator.integers(a.size, size=(size, n))
        more = {"rng": generator, "K": K} if row.takes == "resamples" else {}
        p = row.many(a[items], b[items], axis=1, **more, **how)
        return int(np.count_nonzero(registry.rejects(p, alpha)))

    if test in ("exact", "wilcoxon"):
        compile_kernels()  # once, before several threads do
    return sum(in_parallel(rejected, starts, threads=False, what="tests")) / experiments


def _rejected(values: Ints, times: Ints, alpha: float, alternative: str) -> int:
    """How many samples the exact test rejects, in which each value occurs so many times."""
    # With z the sum over the root of the sum of squares and Q the tail of a normal law, that of a
    # sum with random signs is at most 3.18 Q(z) (Bentkus and Dzindzalieta 2015), and off Q(z) by at
    # most 0.56 times the sum of cubes over that root cubed (Shevtsova 2013). What these bounds
    # leave open is tested.
    sizes, two = np.abs(values).astype(np.float64), alternative == "two-sided"
    lead, root = times @ values, np.sqrt(np.maximum(times @ sizes**2, 1.0))
    ahead = two | ((lead > 0) if alternative == "greater" else (lead < 0))
    normal = t_pvalue(lead / root, inf, alternative)
    off = (1 + two) * 0.56 * (times @ sizes**3) / root**3
    most = np.where(ahead, np.minimum(3.18 * normal, normal + off), 1.0)
    rest = times[(most > alpha) & (np.where(ahead, normal - off, 0.5) <= alpha)]

    def tested(some: Ints) -> int:
        (p, *_), _, hard = Laws.of_counts(values, some).solve(alternative)
        for i in np.flatnonzero(hard):
            p[i] = exact_pvalues(np.repeat(values, some[i].tolist()), 0, alternative=alternative)
        return int(np.count_nonzero(registry.rejects(p, alpha)))

    parts = [rest[i : i + SHARE] for i in range(0, len(rest), SHARE)]
    return int(np.count_nonzero(most <= alpha)) + sum(in_parallel(tested, parts, what="tests"))
