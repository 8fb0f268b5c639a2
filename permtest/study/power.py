"""How many items a study takes, and how often tests reject: by formulas, and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, inf, log2, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import (
    check_above_zero,
    check_count,
    check_finite,
    check_level,
    check_option,
    check_share,
)
from permtest._random import RNG, as_generator, in_parallel, seeds, stream
from permtest._text import Shown, interval, number
from permtest.alternatives import registry
from permtest.alternatives.counts import wilson
from permtest.alternatives.means import t_pvalue
from permtest.integers import with_room
from permtest.null.tail import Laws, compile_kernels
from permtest.statistics import check_alternative

#: More items than this nobody has; the most whose number is searched for among exact tests; and
#: up to how many items that is done where a formula is as good.
MOST, MOST_EXACT, FEW_ITEMS = 10**15, 10**6, 10_000

#: Numbers of items that are looked at together; and how far from the mean numbers of discordant
#: items matter to `exact_power`: so many standard deviations, and so many more.
AT_ONCE, DEVIATIONS, MORE = 128, 9, 40

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
    _check_aim(power, alpha, alternative, delta=delta)
    how: dict[str, Any] = {"alpha": alpha, "alternative": alternative}
    return _smallest(lambda n: power_t(n, effect, 1, **how) >= power, 2)


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

    _check_aim(power, alpha, alternative)
    side, high = -1 if alternative == "less" else 1, 1.0

    def gap(effect: float) -> float:
        return power_t(n, side * effect, 1, alpha=alpha, alternative=alternative) - power

    while gap(high) < 0:
        high *= 2
    return side * check_above_zero(sigma, "sigma") * float(brentq(gap, 0.0, high, xtol=1e-15))


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
    size = check_count(n, "n", most=10**9, why="power_t is as good there")
    return float(_exact_powers(np.array([size]), p_b, p_c, alpha, alternative)[0])


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
    _check_aim(power, alpha, alternative, **{"p_b - p_c": p_b - p_c})

    def enough(first: int, last: int) -> NDArray[np.bool_]:
        if last > 2 * MOST_EXACT:
            raise ValueError(
                f"it takes more than {MOST_EXACT:,} items; sample_size is as good there"
            )
        return _exact_powers(np.arange(first, last + 1), p_b, p_c, alpha, alternative) >= power

    crossing, both = _smallest(lambda n: bool(enough(n, n)[0]), 1), p_b + p_c
    # A tooth is about 2 sqrt(m) discordant items wide, of which there are m.
    for end in range(crossing + ceil((20 + 2 * sqrt(crossing * both)) / both), 0, -AT_ONCE):
        first = max(end - AT_ONCE, 0) + 1
        if (failing := np.flatnonzero(~enough(first, end))).size:
            return first + int(failing[-1]) + 1
    return 1


def _exact_powers(
    numbers: NDArray[np.int64], p_b: float, p_c: float, alpha: float, alternative: str
) -> Floats:
    """Power with each number of items: over m, P(m) times the probability that b is extreme."""
    from scipy.stats import binom

    check_level(alpha)
    check_alternative(alternative)
    both = check_share(p_b, "p_b") + check_share(p_c, "p_c")
    if both > 1 + 1e-12:
        raise ValueError(f"p_b={p_b} and p_c={p_c}, shares of all items, add up to more than 1")
    both, lost = min(both, 1.0), p_c / both if both else 0.5
    ends = np.array([numbers.min(), numbers.max()])
    reach = DEVIATIONS * np.sqrt(ends * both * (1 - both)) + MORE
    low, high = int(ends[0] * both - reach[0]), int(ends[1] * both + reach[1])
    m = np.arange(max(low, 0), min(high, int(ends[1])) + 1)
    # The most losses of m that reject, -1 if none do; roundings do not matter.
    level = alpha / (1 + (alternative == "two-sided")) * (1 + 1e-11)
    few = binom.ppf(level, m, 0.5)
    few = few - (binom.cdf(few, m, 0.5) > level)
    sides = [lost] * (alternative != "less") + [1 - lost] * (alternative != "greater")
    rejected = sum(binom.cdf(few, m, chance) for chance in sides)
    return np.asarray(np.clip(binom.pmf(m, numbers[:, None], both) @ rejected, 0.0, 1.0))


# ---- of either kind: effects are shares p_b and p_c, or delta and sigma --------------------------


def observed_effect(differences: Floats) -> dict[str, float]:
    """The shares of 1 and -1, if differences are 1, 0 or -1; else the mean and the deviation."""
    d = differences
    if np.isin(d, (-1, 0, 1)).all():  # as those of scores of 0 and 1 are
        return {"p_b": float(np.mean(d > 0)), "p_c": float(np.mean(d < 0))}
    return {"delta": float(d.mean()), "sigma": float(d.std(ddof=1))}


def fewest_units(alpha: float, alternative: str = "two-sided") -> int:
    """The smallest n for which p of the exact test can reach alpha: it is at least 2^-n a side."""
    return max(ceil(log2((2 if alternative == "two-sided" else 1) / alpha) - 1e-9), 1)


def power_with(n: int, of: Mapping[str, float], *, alpha: float, alternative: str) -> float:
    """Power of the exact test with n units and this effect; by the formula of t for means."""
    if n < fewest_units(alpha, alternative):
        return 0.0
    power: Callable[..., float] = exact_power if "p_b" in of else power_t
    return power(n=n, **of, alpha=alpha, alternative=alternative)


def units_needed(of: Mapping[str, float], *, power: float, alpha: float, alternative: str) -> int:
    """The fewest units with this power, and a p that can reject; by the formula of t if many."""
    how: dict[str, Any] = {"power": power, "alpha": alpha, "alternative": alternative}
    least, (delta, sigma) = fewest_units(alpha, alternative), of.values()
    if "p_b" in of:  # these are the shares
        delta, sigma = delta - sigma, sqrt(max(delta + sigma - (delta - sigma) ** 2, 0.0))
    size = sample_size(delta, sigma, **how) if sigma else least
    if "p_b" in of and size <= FEW_ITEMS:
        size = sample_size_binary(of["p_b"], of["p_c"], **how)
    return max(size, least)


def _smallest(enough: Callable[[int], bool], least: int) -> int:
    """The smallest n from `least` on that is enough, as are all that are larger."""
    low, high = least, least
    while not enough(high):
        low, high = high + 1, 2 * high
        if high > MOST:
            raise ValueError(f"you would need more than {MOST:,} items for so small a difference")
    return registry.first(enough, low, high)


def _check_aim(power: float, alpha: float, alternative: str, **difference: float) -> None:
    """Levels in their order, and a difference that lies on the side of the alternative."""
    check_alternative(alternative)
    if not check_level(alpha) < check_level(power, "power"):
        raise ValueError(f"power={power} must exceed alpha={alpha}, the power without a difference")
    for name, value in difference.items():
        if value == 0:
            raise ValueError(f"{name} is 0: no number of items finds a difference of 0")
        if (value < 0) != (alternative == "less") and alternative != "two-sided":
            raise ValueError(f"{name}={value:g} has the wrong sign for {alternative=}")


# ---- by simulation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerCurve(Shown):
    """The power of a test against the number of pairs, as `power_curve` finds it."""

    sizes: tuple[int, ...]
    power: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    test: str
    alpha: float
    alternative: str
    experiments: int
    delta: float

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
        reach = f"{enough} pairs have a power of 80%" if enough else "no size here has one of 80%"
        return (
            f"With {self.sizes[-1]} pairs the power of the {registry.TESTS[self.test].title} is "
            f"{number(self.power[-1], 3)} (95% interval {ends}; alpha = {self.alpha:g}, "
            f"{self.alternative}, {self.experiments} samples); {reach}."
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

    It says how many pairs another study of such systems takes, and nothing new about the data
    themselves: where p is small, the power at their own size is large.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items; or one `Scores`, and None.
    test : str, default "exact"
        One of "exact", "paired_t", "normal_z", "bootstrap_mean" (studentised),
        "sign", "wilcoxon" and "wilcoxon_approx"; for scores that are 0 or 1 also "mcnemar",
        "mcnemar_midp" and "mcnemar_chi2".
    sizes : int or sequence of int, default 20
        How many sizes, evenly spaced up to N: 5 of 100 pairs are 20, 40, 60, 80 and 100. Or the
        sizes themselves, up to ten million.
    experiments : int, default 2000
        Number of samples of each size, up to a million.
    delta : float or Fraction, optional
        The true mean difference in the samples, if not that of the data: 0 makes the curve that of
        the level. For tests of the mean.
    alpha, alternative
        As in `power_t`.
    rng : numpy.random.Generator, int or None
        A seed makes the curve reproducible, whatever the number of workers.

    Returns
    -------
    PowerCurve
        `sizes`, ascending; `power`, the share of the samples of each size that are rejected, and
        `intervals`, Wilson's 95% intervals for the error of the simulation; ``needed(power)``, the
        smallest number of pairs that has a power, or None; `delta`, their mean difference.

    Notes
    -----
    For the exact test only the number of times that each difference occurs is drawn, so that the
    cost, some 40 µs a sample, does not depend on the sizes. Differences that are no multiples of a
    unit up to 100 go to one of two neighbours on a lattice at random, such that the mean is kept.
    Its unit is an eighth of the standard deviation, which adds at most a 256th to the variance, or
    a thousandth of the largest difference, if that is more.

    Source: NLPStatTest manual, sec. 3.4 and F.2 (Alg. 4).

    Examples
    --------
    >>> from permtest.study import power_curve
    >>> curve = power_curve([1] * 12 + [0] * 8, [1] * 6 + [0] * 14, sizes=[20, 40, 80], rng=0)
    >>> curve.power[0] < 0.8 < curve.power[-1], 20 < curve.needed(0.8) < 40
    (True, True)
    """
    check_option("test", test, SIMULATED)
    check_alternative(alternative)
    check_level(alpha)
    check_count(experiments, "experiments", most=10**6, why="shares of fewer are as good")
    if delta is not None and test not in OF_MEANS:
        raise ValueError(f"delta sets the mean difference, but {test=} is not about the mean")
    scores = registry.scores_of(a, b)
    if test in registry.OF_COUNTS and not scores.is_binary:
        raise ValueError(f"test={test!r} is for scores of 0 and 1; use test='exact'")
    if delta is not None:
        check_finite(delta, "delta")
    true = None if delta is None else Fraction(str(delta))
    law = Resampling.of(scores.u, scores.v, scores.scale, true)
    how: dict[str, Any] = {"experiments": experiments, "alpha": alpha, "alternative": alternative}
    chosen, origin = _sizes(sizes, len(scores)), seeds(as_generator(rng))
    power: list[float] = []
    for size in reversed(chosen):  # the largest first, of which there may be too much to draw
        power += rejection_rates([test], law, n=size, rng=stream(origin, size), **how)
    intervals = tuple(wilson(share, experiments) for share in reversed(power))
    return PowerCurve(
        tuple(chosen), tuple(reversed(power)), intervals, test=test, delta=law.mean, **how
    )


def _sizes(sizes: Any, n: int) -> list[int]:
    """The sizes that are asked for, or so many up to `n`."""
    if np.ndim(sizes):
        if not len(sizes):
            raise ValueError("sizes is empty; name at least one")
        return sorted({check_count(x, f"sizes[{i}]", most=10**7) for i, x in enumerate(sizes)})
    # One pair says nothing about spread; where there are more, the curve begins at two.
    total = check_count(sizes, "sizes", most=1000, why="list the size that you mean, [n]")
    return sorted({n * k // total for k in range(1, total + 1)} - {0, 1} or {n})


def rejection_rates(
    tests: Sequence[str],
    law: Resampling,
    *,
    n: int,
    experiments: int,
    alpha: float,
    alternative: str = "two-sided",
    rng: np.random.Generator,
    K: int = 1000,
) -> list[float]:
    """The share of simulated data sets of n pairs that each test rejects, all in the same ones."""
    alone = [*tests] == ["exact"]  # so that no pairs have to be drawn
    each = max(min(DRAWN // (law.values.size if alone else n), PART), 1)
    origin, starts = seeds(rng), range(0, experiments, each)

    def rejected(start: int) -> list[int]:
        size, generator, found = min(each, experiments - start), stream(origin, start), []
        items = generator.integers(law.a.size, size=(size, 0 if alone else n))
        for test in tests:
            if test == "exact":
                found.append(law.rejected(generator, size, n, alpha, alternative))
                continue
            row, how = registry.TESTS[test], {"axis": 1, "alternative": alternative}
            how |= {"K": K, "rng": generator} if row.takes == "resamples" else {}
            assert row.many is not None, f"{test} is made of single data sets only"
            p = row.many(law.a[items], law.b[items], **how)
            found.append(int(registry.rejects(p, alpha).sum()))
        return found

    if {"exact", "wilcoxon"}.intersection(tests):
        compile_kernels()  # once, before several threads do
    found = np.sum([*in_parallel(rejected, starts, threads=False)], axis=0)
    return [float(x) / experiments for x in found]


@dataclass(frozen=True, eq=False)
class Resampling:
    """Pairs to draw with replacement; of the exact test only how often each difference occurs."""

    a: Floats
    b: Floats
    values: NDArray[np.int64]  # the differences, as integers
    shares: Floats  # how probable they are
    mean: float  # of the differences, in scores

    @classmethod
    def of(cls, u: NDArray[Any], v: NDArray[Any], scale: int, delta: Any) -> Resampling:
        """Of pairs of integers over `scale`, shifted such that their mean difference is `delta`."""
        distinct, counts = np.unique(with_room(u) - with_room(v), return_counts=True)
        total = sum(int(x) * k for x, k in zip(distinct, counts.tolist(), strict=True))
        mean = Fraction(total, scale * u.size)
        shift = Fraction(0) if delta is None else (delta - mean) * scale
        a, b = registry.as_floats(u, scale) + float(shift / scale), registry.as_floats(v, scale)
        whole = [int(x) * shift.denominator + shift.numerator for x in distinct]
        unit, shares = gcd(*whole) or 1, counts / u.size
        lead = float(mean if delta is None else delta)
        if max(map(abs, whole)) <= SMALL * unit:
            return cls(a, b, np.array([x // unit for x in whole]), shares, lead)
        x = np.array([value / (scale * shift.denominator) for value in whole])
        spread = float(np.sqrt(shares @ (x - shares @ x) ** 2))
        rounded = max(spread / PER_DEVIATION, float(np.abs(x).max()) / FINEST)
        low = np.floor(x / rounded)
        upper = shares * (x / rounded - low)
        values, where = np.unique([*low, *(low + 1)], return_inverse=True)
        mass = np.bincount(where, [*(shares - upper), *upper]).astype(np.float64)
        return cls(a, b, values.astype(np.int64), mass, lead)

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
            p, exact = found.values[0], registry.TESTS["exact"].many
            assert exact is not None
            for i in found.hard.nonzero()[0]:
                row = np.repeat(self.values, some[i].astype(np.intp))[None, :]
                p[i] = exact(row, 0 * row, axis=1, alternative=alternative)[0]
            return int(np.count_nonzero(registry.rejects(p, alpha)))

        parts = [rest[i : i + SHARE] for i in range(0, len(rest), SHARE)]
        return int(np.count_nonzero(most <= alpha)) + sum(in_parallel(tested, parts))
