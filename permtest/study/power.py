"""How often tests reject: power where there is a difference, level where there is none.

All of it is simulated. Data sets are drawn from the scores at hand, from a normal law or by a
function of yours, each is tested, and the share that is rejected is the rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, gcd
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_level, check_option
from permtest._forms import AsSentence
from permtest._parallel import RNG, as_generator, in_parallel, progress, seeds, stream
from permtest.alternatives.counts import wilson
from permtest.alternatives.means import t_pvalue
from permtest.alternatives.ranks import exact_pvalues
from permtest.alternatives.registry import (
    MEAN,
    OF_COUNTS,
    SMALLEST,
    TESTS,
    as_floats,
    as_threshold,
    deviation,
    rejects,
    scores_of,
)
from permtest.integers import IntArray, exact_sum, roomy
from permtest.null.rows import Laws, compile_kernels
from permtest.statistics import check_alternative

#: All tests that can be made of many data sets at a time; and those of the mean, for which a true
#: mean difference of 0 is the null hypothesis.
BATCH = tuple(test for test, row in TESTS.items() if row.many)
OF_MEANS = tuple(test for test in BATCH if TESTS[test].estimate_name == MEAN)

#: Scores that are drawn at a time (16 MB for each system); data sets that share the resamples of a
#: bootstrap, that a user's function tests, and whose exact tests a processor makes in one go.
AT_ONCE, PART, SLOW, SHARE = 2**21, 1000, 100, 50

#: Differences that are no small multiples of a unit go on a lattice for the exact test: so many
#: cells to a standard deviation, but no more to the largest.
SMALL, PER_DEVIATION, FINEST = 100, 8, 1000

#: For `rate_intervals`: resamples of the differences, and whose spread is taken for that of a test,
#: if not that of the t-test.
RESAMPLED, QUICK = 25, {"sign": "sign"}

#: For `measured_rates`: the most pairs with an exact signed-rank test; resamples of a bootstrap.
MOST_RANKED, RESAMPLES = 50, 399

Floats: TypeAlias = NDArray[np.float64]
Test: TypeAlias = "str | Callable[[Any, Any], Any]"
Draw: TypeAlias = Callable[[np.random.Generator, int, int], tuple[Any, Any]]


@dataclass(frozen=True)
class PowerCurve(AsSentence):
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
        enough, (low, high) = self.needed(), self.intervals[-1]
        title = TESTS[self.test].title if self.test in TESTS else self.test
        most = "no more than" if enough == self.sizes[0] else "about"
        reach = f"A power of 80% takes {most} {enough} pairs"
        return (
            f"With {self.sizes[-1]} pairs the power of the {title} is "
            f"{self.power[-1]:.3f} (95% interval {low:.3f} to {high:.3f}; alpha = {self.alpha:g}, "
            f"{self.alternative}, {self.experiments} samples by {self.method}). "
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
        Scores of both systems on the same items; or one `Pairs`, and None.
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
    (scores, _), true = scores_of(a, b), None if delta is None else as_threshold(delta)
    n, gaps = len(scores), scores.differences()
    mean = float(Fraction(exact_sum(gaps), n * scores.scale) if true is None else true)
    draw: Draw
    if method == "normal":
        spread = deviation(scores) if n > 1 else 0.0
        if spread == 0:
            raise ValueError("the differences are all equal; a normal law needs some spread")
        draw = partial(_normal, test == "exact", mean / spread)
        unit = spread / PER_DEVIATION
    else:
        draw = _Resampling.of(scores.u, scores.v, scores.scale, true)
        unit = draw.rounded
    name = test if isinstance(test, str) else getattr(test, "__name__", "test")
    how: dict[str, Any] = {"experiments": experiments, "alpha": alpha, "alternative": alternative}
    chosen, origin = _sizes(sizes, n), seeds(as_generator(rng))
    power: list[float] = []
    for size in reversed(chosen):  # the largest first, of which there may be too much to draw
        generator = stream(origin, size)
        power.insert(0, _rejection_rates({name: test}, draw, n=size, rng=generator, **how)[name])
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
    number = check_count(sizes, "sizes", most=1000, why="list the size that you mean, [n]")
    return sorted({n * k // number for k in range(1, number + 1)} - {0, 1} or {n})


def _normal(
    rounded: bool, lead: float, rng: np.random.Generator, size: int, n: int
) -> tuple[Any, Any]:
    """Normal differences with that mean, in deviations, of which eight are a unit."""
    middle = float(np.clip(PER_DEVIATION * lead, -FINEST, FINEST))
    d = rng.normal(middle, PER_DEVIATION, (size, n))
    return np.rint(d).astype(np.int64) if rounded else d, np.zeros((size, n), np.int64)


def _rejection_rates(
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
    law = draw if isinstance(draw, _Resampling) else None
    alone = law if [*tests.values()] == ["exact"] else None  # so that no rows have to be drawn
    check_count(n, "n", most=10**7, why="power_t and exact_power have formulas")
    for test in tests.values():
        if not callable(test):
            check_option("test", test, BATCH)
    width = alone.values.size if alone else n
    each = max(min(AT_ONCE // width, SLOW if any(map(callable, tests.values())) else PART), 1)
    origin = seeds(as_generator(rng))

    def rejected(start: int) -> list[int]:
        size, generator = min(each, total - start), stream(origin, start)
        rows = () if alone else draw(generator, size, n)
        how: dict[str, Any] = {"alternative": alternative, "rng": generator, "K": K}
        return [
            law.rejected(generator, size, n, alpha, alternative)
            if law and test == "exact"
            else int(rejects(_pvalues(test, *rows, **how), alpha).sum())
            for test in tests.values()
        ]

    if {"exact", "wilcoxon"}.intersection(test for test in tests.values() if not callable(test)):
        compile_kernels()  # once, before several threads do
    starts = range(0, total, each)
    rows = in_parallel(rejected, starts, threads=False)
    found = np.sum([*progress(rows, total=len(starts), what="tests")], axis=0)
    return {test: float(x) / total for test, x in zip(tests, found, strict=True)}


def measured_rates(
    steps: IntArray,
    scale: int,
    tests: Sequence[str],
    *,
    alpha: float = 0.05,
    samples: int = 1000,
    rng: RNG = 0,
) -> dict[str, tuple[float, float]]:
    """Level and power of two-sided tests for differences like these, integers over `scale`."""
    n, binary = steps.size, bool(np.isin(np.abs(steps), (0, scale)).all())
    how: dict[str, Any] = {"alpha": alpha, "n": n, "K": RESAMPLES, "experiments": samples}
    how["rng"] = as_generator(rng)
    # The same test under another name, which sees the samples of its relatives or is quicker.
    other = {"exact": "mcnemar"} if binary else {}
    other |= {"wilcoxon": "wilcoxon_approx"} if n > MOST_RANKED else {}
    named = {test: other.get(test, test) for test in tests}
    # Without an effect differences have lost their mean, or their signs where all are -1, 0 or 1
    # and for the sign test, as a shift would leave no ties.
    swapped = {x: named.pop(x) for x in tests if binary or x == "sign"}
    coins, zero = np.sign(np.concatenate([steps, -steps])), Fraction(0)

    def rates(chosen: dict[str, str], d: Any, unit: int, delta: Any) -> Mapping[str, float]:
        draw = _Resampling.of(np.maximum(d, 0), np.maximum(-d, 0), unit, delta)
        return _rejection_rates(chosen, draw, **how) if chosen else {}

    level = {**rates(swapped, coins, 1, None), **rates(named, steps, scale, zero)}
    power = rates(named | swapped, steps, scale, None)
    return {test: (level[test], power[test]) for test in tests}


def rate_intervals(
    steps: IntArray,
    scale: int,
    rates: Mapping[str, tuple[float, float]],
    *,
    alpha: float = 0.05,
    samples: int = 1000,
) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """95% intervals of level and power, of which `measured_rates` made so many samples.

    About the population that the differences are a sample of. On the normal scale, the variance is
    that of simulation and that between resamples of the differences, of the test in `QUICK`. That
    of the power is about the lead in standard errors, which has a sign: resamples may lead the
    other way.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    binary = bool(np.isin(np.abs(steps), (0, scale)).all())
    quick = {test: "exact" if binary else QUICK.get(test, "paired_t") for test in rates}
    tests, generator = sorted({*quick.values()}), as_generator(0)
    each = max(min(samples // 5, AT_ONCE // steps.size), 20)
    found: list[list[tuple[float, float]]] = []
    ahead: list[list[int]] = []
    while len(found) < RESAMPLED:
        some = generator.choice(steps, steps.size)
        if (some != some[0]).any():
            again = measured_rates(some, scale, tests, alpha=alpha, samples=each, rng=generator)
            found.append([again[test] for test in tests])
            ahead.append([_lead(some, test) * _lead(steps, test) for test in tests])
    critical = -ndtri(alpha / 2)

    def leads(shares: Any, number: int) -> tuple[Any, Any]:
        """Levels and powers as normal scores, those of the power above that of alpha / 2."""
        p = (np.asarray(shares) * number + 0.5) / (number + 1)
        z = ndtri(p)
        noise = p * (1 - p) / number * 2 * np.pi * np.exp(z * z)
        return np.maximum(z + np.array([0.0, critical]), [-np.inf, 0.0]), noise

    z, _ = leads(found, each)
    z[..., 1] *= np.where(np.array(ahead) < 0, -1, 1)
    between = z.var(axis=0, ddof=1)  # the error of its own simulation included, to be safe
    reach, ends = float(stdtrit(RESAMPLED - 1, 0.975)), {}
    for test, both in rates.items():
        middle, noise = leads(both, samples)
        off = reach * np.sqrt(noise + between[tests.index(quick[test])])
        low, high = middle - off, middle + off
        # A test finds a difference of 0 as often as its level, which may be far below alpha.
        least = min(ndtr(low[0]), both[1]) if low[1] < 0 else ndtr(low[1] - critical)
        most = ndtr(max(high[1], -low[1]) - critical)
        ends[test] = (float(ndtr(low[0])), float(ndtr(high[0]))), (float(least), float(most))
    return ends


def _lead(steps: IntArray, test: str) -> int:
    """Which system is ahead, in the eyes of a test."""
    total = exact_sum(np.sign(steps) if test == "sign" else steps)
    return (total > 0) - (total < 0)


# ---- samples, and the p-value of each ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Resampling:
    """Draws pairs with replacement; for the exact test only how often each difference occurs."""

    a: Floats
    b: Floats
    values: NDArray[np.int64]  # the differences, as integers
    shares: Floats  # how probable they are
    rounded: float  # the unit that they were rounded to, in scores; 0 where they were not

    @classmethod
    def of(cls, u: NDArray[Any], v: NDArray[Any], scale: int, delta: Any) -> _Resampling:
        """Of pairs of integers over `scale`, shifted such that their mean difference is `delta`."""
        distinct, counts = np.unique(roomy(u) - roomy(v), return_counts=True)
        total = sum(int(x) * k for x, k in zip(distinct, counts.tolist(), strict=True))
        shift = Fraction(0) if delta is None else delta * scale - Fraction(total, u.size)
        a, b = as_floats(u, scale) + float(shift / scale), as_floats(v, scale)
        whole = [int(x) * shift.denominator + shift.numerator for x in distinct]
        unit, shares = gcd(*whole) or 1, counts / u.size
        if max(map(abs, whole)) <= SMALL * unit:
            return cls(a, b, np.array([x // unit for x in whole]), shares, 0.0)
        x = np.array([number / (scale * shift.denominator) for number in whole])
        deviation = float(np.sqrt(shares @ (x - shares @ x) ** 2))
        rounded = max(deviation / PER_DEVIATION, float(np.abs(x).max()) / FINEST)
        low = np.floor(x / rounded)
        upper = shares * (x / rounded - low)
        values, where = np.unique([*low, *(low + 1)], return_inverse=True)
        mass = np.bincount(where, [*(shares - upper), *upper])
        return cls(a, b, values.astype(np.int64), np.asarray(mass, dtype=np.float64), rounded)

    def __call__(self, rng: np.random.Generator, size: int, n: int, /) -> tuple[Floats, Floats]:
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
        normal = t_pvalue(lead / root, np.inf, alternative)
        off = (1 + two) * 0.56 * (times @ magnitudes**3) / root**3
        most = np.where(ahead, np.minimum(3.18 * normal, normal + off), 1.0)
        least = np.where(ahead, normal - off, 0.5)
        rest = times[(most > alpha) & (least <= alpha)]

        def tested(some: NDArray[np.int64]) -> int:
            found = Laws.of_counts(self.values, some).solve(alternative)
            p = found.values[0]
            for i in found.hard.nonzero()[0]:
                row = np.repeat(self.values, some[i].astype(np.intp))
                p[i] = exact_pvalues(row[None, :], 0, alternative=alternative)[0]
            return int(np.count_nonzero(rejects(p, alpha)))

        parts = [rest[i : i + SHARE] for i in range(0, len(rest), SHARE)]
        return int(np.count_nonzero(most <= alpha)) + sum(in_parallel(tested, parts))


def _pvalues(
    test: Test,
    a: NDArray[Any],
    b: NDArray[Any],
    *,
    alternative: str,
    rng: RNG = None,
    K: int = 1000,
) -> Floats:
    """p of each data set, one a row; for "exact", scores have to be integers.

    5e-324 or 1 for tests that divide by the spread of a row, if it has none. The bootstrap is
    studentised, and all data sets share its K resamples.
    """
    if callable(test):
        p = np.empty(len(a))
        results = progress(map(test, a, b), total=len(a), what="tests")
        for i, found in enumerate(results):
            p[i] = getattr(found, "pvalue", found)
            if not 0 <= p[i] <= 1:
                raise ValueError(f"the test returned {p[i]} for data set {i}, which is no p-value")
        return p
    for name, scores in (("a", a), ("b", b)) if test in OF_COUNTS else ():
        for i, j in np.argwhere((scores != 0) & (scores != 1))[:1]:
            raise ValueError(f"{name}[{i}, {j}] = {scores[i, j]:g}, but {test} needs scores 0 or 1")
    row = TESTS[test]
    drawn = {"K": K, "rng": as_generator(rng)} if row.takes == "resamples" else {}
    assert row.many is not None, f"{test} is made of single data sets only"
    return np.clip(row.many(a, b, axis=1, alternative=alternative, **drawn), SMALLEST, 1.0)
