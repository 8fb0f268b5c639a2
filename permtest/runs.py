"""Exact tests of repeated runs: the same items, each asked several times of both systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb, lcm, sqrt
from operator import index
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array
from permtest._checks import check_above_zero, check_count, check_finite, check_level, check_option
from permtest._integers import SAFE, IntArray, exact_sum, with_room
from permtest._json import AsJson
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.decimals import in_common_units, unscaled
from permtest.exact import SAMPLES, exact_perm_test
from permtest.null.distribution import LatticeDistribution
from permtest.null.many_point import ManyPointSum
from permtest.null.probability import CERTAIN, Probability, TooHard
from permtest.pairs import Pairs, check_names
from permtest.result import PermutationTestResult, clopper_pearson
from permtest.score import counted
from permtest.statistics import Alternative, check_alternative

#: What may be exchanged under the null hypothesis.
Null: TypeAlias = Literal["runs", "items"]
NULLS = {
    "runs": "the runs of an item are exchangeable between the systems",
    "items": "the systems can be exchanged on each item, with all their runs",
}

_HOW = ("method", "method_reason", "error_bound")
_AT_K = re.compile(r"pass(?P<kind>[@^])(?P<k>k|[1-9]\d*)")

#: Draws of all items together, about, where p is sampled.
DRAWS = 10**8

#: Cells that the table of one item may take to be made.
MOST_WAYS = 10**7


class _Runs(NamedTuple):
    """The runs of one system: whole scores one item after the other, and how many each item has."""

    scores: IntArray
    sizes: NDArray[np.int64]

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum(self.sizes) - self.sizes

    def totals(self) -> IntArray:
        """The sum over the runs of each item."""
        wide = with_room(self.scores, int(self.sizes.max(initial=1)))
        return np.add.reduceat(wide, self.starts) if wide.size else wide


@dataclass(frozen=True, eq=False)
class _Question:
    """Both systems' runs, what is made of those of an item, and what would be extreme."""

    a: _Runs
    b: _Runs
    scale: int
    measure: str
    k: int
    alternative: Alternative

    @cached_property
    def worth(self) -> tuple[IntArray, IntArray, int]:
        """What each item is worth to either system, as integers, and by what to divide them."""
        sizes = {*self.a.sizes.tolist(), *self.b.sizes.tolist()}
        if self.measure == "mean":
            common = lcm(*sizes)
            first, second = (
                with_room(one.totals(), common) * (common // one.sizes) for one in (self.a, self.b)
            )
            return first, second, common * self.scale
        common = lcm(*(comb(n, self.k) for n in sizes))
        return self._drawn(self.a, common), self._drawn(self.b, common), common

    def _drawn(self, one: _Runs, common: int) -> IntArray:
        """pass@k or pass^k of each item, times `common`."""
        kinds, place = np.unique(np.stack([one.totals(), one.sizes]), axis=1, return_inverse=True)
        values = [int(self.at_k(x, n) * common) for x, n in kinds.T.tolist()]
        return with_room(np.array(values, dtype=object if common >= SAFE else np.int64), 1)[place]

    def at_k(self, successes: int, n: int) -> Fraction:
        """pass@k or pass^k of n runs, without bias: of k of them drawn at random."""
        if self.measure == "pass@":
            return 1 - Fraction(comb(n - successes, self.k), comb(n, self.k))
        return Fraction(comb(successes, self.k), comb(n, self.k))

    @cached_property
    def observed(self) -> int:
        """The sum over items of the difference, times the scale of `worth`."""
        first, second, _ = self.worth
        return exact_sum(first) - exact_sum(second)

    @cached_property
    def law(self) -> ManyPointSum:
        """The law of that sum where runs are exchangeable within items."""
        common = self.worth[2]
        tables: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
        for (pooled, n_a), number in self._kinds().items():
            ways = _ways(pooled, n_a)
            tables[self._table(ways, sum(pooled), n_a, len(pooled) - n_a, common)] += number
        return ManyPointSum.of([(*table, number) for table, number in tables.items()])

    def _kinds(self) -> Counter[tuple[tuple[int, ...], int]]:
        """How many items have the same scores in all their runs, and as many runs of `a`."""
        found: Counter[tuple[tuple[int, ...], int]] = Counter()
        sizes = set(zip(self.a.sizes.tolist(), self.b.sizes.tolist(), strict=True))
        if len(sizes) == 1:
            n_a, n_b = next(iter(sizes))
            both = [self.a.scores.reshape(-1, n_a), self.b.scores.reshape(-1, n_b)]
            pooled = np.concatenate(both, axis=1)
            if self.measure == "mean":  # a constant that all runs of an item share cancels
                pooled = pooled - pooled.min(axis=1, keepdims=True)
            if pooled.dtype != object and pooled.max(initial=0) <= 1 and pooled.min(initial=0) >= 0:
                ones = np.bincount(pooled.sum(axis=1), minlength=1)
                for m in np.flatnonzero(ones).tolist():
                    found[(0,) * (n_a + n_b - m) + (1,) * m, n_a] = int(ones[m])
                return found
            rows, numbers = np.unique(np.sort(pooled, axis=1), axis=0, return_counts=True)
            for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
                found[tuple(row), n_a] = number
            return found
        first, second = self.a.scores.tolist(), self.b.scores.tolist()
        i = k = 0
        for n_a, n_b in zip(self.a.sizes.tolist(), self.b.sizes.tolist(), strict=True):
            row = sorted(first[i : i + n_a] + second[k : k + n_b])
            low = row[0] if self.measure == "mean" else 0
            found[tuple(x - low for x in row), n_a] += 1
            i, k = i + n_a, k + n_b
        return found

    def _table(
        self, ways: dict[int, int], total: int, n_a: int, n_b: int, common: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What an item may add to the sum, and in how many ways."""
        added: Counter[int] = Counter()
        for x, number in ways.items():
            if self.measure == "mean":
                value = (x * (common // self.scale // n_a)) - (total - x) * (
                    common // self.scale // n_b
                )
            else:
                value = int((self.at_k(x, n_a) - self.at_k(total - x, n_b)) * common)
            added[value] += number
        values = sorted(added)
        return tuple(values), tuple(added[x] for x in values)

    def thresholds(self) -> tuple[int | None, int | None]:
        """(lower, upper): extreme is T <= lower or T >= upper; None for a side that is not."""
        law, seen = self.law, self.observed
        upper = -(
            (law.offset - (abs(seen) if self.alternative == "two-sided" else seen)) // law.unit
        )
        lower = ((-abs(seen) if self.alternative == "two-sided" else seen) - law.offset) // law.unit
        if self.alternative == "two-sided":
            return lower, upper
        return (None, upper) if self.alternative == "greater" else (lower, None)

    def probability(self, tail: Callable[[ManyPointSum, int], Any], one: Any, plus: Any) -> Any:
        """The probability of what is extreme, from a function of upper tails."""
        lower, upper = self.thresholds()
        if lower is not None and upper is not None and upper <= lower + 1:
            return one
        found = None if upper is None else tail(self.law, upper)
        if lower is None:
            return found
        below = tail(self.law.mirrored(), self.law.top - lower)
        return below if found is None else plus(found, below)


def _ways(pooled: Sequence[int], n: int) -> dict[int, int]:
    """In how many ways n of some runs have each sum."""
    values = Counter(pooled)
    if len(values) == 2 and set(values) == {0, 1}:
        ones, zeros = values[1], values[0]
        least, most = max(0, n - zeros), min(n, ones)
        return {x: comb(ones, x) * comb(zeros, n - x) for x in range(least, most + 1)}
    chosen: list[dict[int, int]] = [{0: 1}] + [{} for _ in range(n)]
    cells = 0
    for value, times in values.items():
        for size in range(n, -1, -1):
            sums: dict[int, int] = {}
            for taken in range(max(0, size - n), min(times, size) + 1):
                factor = comb(times, taken)
                for total, number in chosen[size - taken].items():
                    key = total + taken * value
                    sums[key] = sums.get(key, 0) + factor * number
            chosen[size] = sums
            cells += len(sums)
            if cells > MOST_WAYS:
                raise TooHard(
                    f"an item has {len(pooled)} runs of too many different scores; round them to "
                    "fewer digits"
                )
    return chosen[n]


@dataclass(frozen=True)
class NoiseSplit(AsJson):
    """Where the variance of an item's difference comes from: which item it is, or which run.

    Parameters
    ----------
    total : float
        Variance over items of the difference of the two systems' means.
    data, prediction : float
        What of it is due to items, on which the systems differ by more or less, and what to runs,
        which differ on the same item. Both estimates are without bias, so that `data` can be
        negative where it is small.
    data_interval, prediction_interval : tuple of two float
        Intervals of both, at `confidence_level`, by the normal approximation over items.
    confidence_level : float

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> split = exact_runs_test([[1, 1], [0, 1], [1, 0]], [[0, 0], [0, 1], [0, 0]]).noise()
    >>> round(split.total, 4), round(split.data, 4), round(split.prediction, 4)
    (0.25, 0.0, 0.25)
    """

    total: float
    data: float
    prediction: float
    data_interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    confidence_level: float

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers and lists."""
        return {k: list(x) if isinstance(x, tuple) else x for k, x in asdict(self).items()}

    def __str__(self) -> str:
        share = self.prediction / self.total if self.total > 0 else 0.0
        low, high = self.prediction_interval
        return (
            f"Of the variance of an item's difference, {self.total:.4g}, runs account for "
            f"{self.prediction:.4g} ({100 * self.confidence_level:g}% interval {low:.4g} to "
            f"{high:.4g}), {100 * share:.0f}%, and items for {self.data:.4g}."
        )


class RunsPlan(NamedTuple):
    """How many items and runs another study should have. Made by `RunsTestResult.plan`.

    Parameters
    ----------
    items, runs : int
        How many items, and runs of each item by each of the two systems.
    standard_error : float
        Of the mean difference, as it is to be expected.
    cost : float
        What that costs, in the unit of the budget.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> found = exact_runs_test([[1, 1], [0, 1], [1, 0]], [[0, 0], [0, 1], [0, 0]])
    >>> plan = found.plan(100, item_cost=8)
    >>> plan.items, plan.runs
    (7, 3)
    >>> print(str(plan).partition(";")[0])
    7 items with 3 runs of each by either system cost 98
    """

    items: int
    runs: int
    standard_error: float
    cost: float

    def __str__(self) -> str:
        return (
            f"{self.items:,} items with {counted(self.runs, 'runs')} of each by either system cost "
            f"{self.cost:,.6g}; the standard error of the mean difference is then expected to be "
            f"{self.standard_error:.3g}."
        )


@dataclass(frozen=True)
class RunsTestResult(AsJson):
    """What an exact test of repeated runs found. Made by `exact_runs_test`.

    Parameters
    ----------
    statistic : int or float
        The sum over items of the difference of what both systems score on the item: of their mean
        runs, or of their pass@k or pass^k.
    pvalue, log10_pvalue : float
        As in `PermutationTestResult`: never 0, the logarithm accurate at any size.
    null : {"runs", "items"}
        What is exchangeable under the null hypothesis.
    alternative : {"two-sided", "greater", "less"}
    n, n_informative : int
        Number of items, and of those that can change the sum at all.
    n_runs : tuple of two int
        How many runs there are of either system, over all items.
    method, method_reason : str
        "tilted", "monte_carlo" where p is out of reach, or for "items" as in
        `PermutationTestResult`; and why.
    error_bound : float or None
        Bound on the relative error of p; None where p was sampled.
    metric : str
        "mean", "pass@3", "pass^3" and so on.
    names : tuple of two str
    scores : tuple of two float
        The means over items of what both systems score.
    n_samples, n_extreme : int or None
        K and C where p was sampled.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> a = [[1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> b = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]
    >>> result = exact_runs_test(a, b)
    >>> result.statistic, result.fraction(), result.under("items").fraction()
    (1.3333333333333333, Fraction(22, 125), Fraction(1, 4))
    """

    statistic: float
    pvalue: float
    log10_pvalue: float
    null: Null
    alternative: str
    n: int
    n_informative: int
    n_runs: tuple[int, int]
    method: str
    method_reason: str
    error_bound: float | None
    metric: str
    names: tuple[str, str]
    scores: tuple[float, float]
    n_samples: int | None = None
    n_extreme: int | None = None
    _question: _Question = field(kw_only=True, repr=False, compare=False)
    _swapped: PermutationTestResult | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )

    @property
    def difference(self) -> float:
        """By how much the first system scores more, per item."""
        return float(self.statistic) / max(self.n, 1)

    def under(self, null: Null, *, rng: RNG = None) -> RunsTestResult:
        """The same comparison under the other null hypothesis, or under the same one."""
        check_option("null", null, NULLS)
        return self if null == self.null else _tested(self._question, null, self.names, rng)

    @cached_property
    def null_distribution(self) -> LatticeDistribution:
        """The law of the sum under the null hypothesis; MemoryError where it would not fit."""
        if self._swapped is not None:
            return self._swapped.null_distribution
        return self._question.law.distribution(self._question.worth[2])

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction, in integer arithmetic.

        Raises
        ------
        MemoryError
            If the integers would not fit, as for thousands of items.
        """
        if self._swapped is not None:
            return self._swapped.fraction()
        found: Fraction = self._question.probability(
            ManyPointSum.count_at_least, Fraction(1), Fraction.__add__
        )
        return found

    def pvalue_interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """An interval for the exact p: by `error_bound`, or of Clopper and Pearson for samples."""
        check_level(confidence_level, "confidence_level")
        if self._swapped is not None:
            return self._swapped.pvalue_interval(confidence_level)
        if self.n_samples is not None and self.n_extreme is not None:
            return clopper_pearson(self.n_extreme, self.n_samples, confidence_level)
        bound = self.error_bound or 0.0
        return self.pvalue / (1 + bound), min(self.pvalue * (1 + bound), 1.0)

    def noise(self, confidence_level: float = 0.95) -> NoiseSplit:
        """The variance of an item's difference, split into that of items and that of runs.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Of the intervals.

        Returns
        -------
        NoiseSplit

        Raises
        ------
        ValueError
            If the statistic is not the mean, there is one item, or one with a single run.

        Notes
        -----
        With D_n the difference of the two means of item n, and w_n = s_an^2 / K_an + s_bn^2 / K_bn
        from the variances of its runs, the mean of w_n is the part of the runs, and the variance of
        D_n less that the part of the items (Miller 2024, arXiv 2411.00640, sec. 3.1).
        """
        level = check_level(confidence_level, "confidence_level")
        gaps, within = self._gaps_and_noise()
        n = gaps.size
        squares = (gaps - gaps.mean()) ** 2 * n / (n - 1)
        total, prediction = float(squares.mean()), float(within.mean())
        z = NormalDist().inv_cdf((1 + level) / 2) / sqrt(n)

        def interval(values: NDArray[np.float64]) -> tuple[float, float]:
            middle, off = float(values.mean()), z * float(values.std(ddof=1))
            return max(middle - off, 0.0), max(middle + off, 0.0)

        both = interval(squares - within), interval(within)
        return NoiseSplit(total, total - prediction, prediction, *both, level)

    def _gaps_and_noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The difference of each item, and the variance of it that is due to its runs."""
        q = self._question
        if q.measure != "mean":
            raise ValueError(f"the variance is split for the mean of runs, not for {self.metric}")
        if self.n < 2:
            raise ValueError(f"the variance over items needs two of them, and there are {self.n}")
        means, noise = [], np.zeros(self.n)
        for one, name in ((q.a, self.names[0]), (q.b, self.names[1])):
            for i in np.flatnonzero(one.sizes < 2)[:1]:
                raise ValueError(
                    f"item {i + 1} has a single run of {name}, which says nothing of how runs "
                    "differ; give two runs of each item or more"
                )
            scores = one.scores.astype(np.float64) / q.scale
            mean = np.add.reduceat(scores, one.starts) / one.sizes
            squares = (scores - np.repeat(mean, one.sizes)) ** 2
            noise += np.add.reduceat(squares, one.starts) / ((one.sizes - 1) * one.sizes)
            means.append(mean)
        return means[0] - means[1], noise

    def plan(
        self,
        budget: float,
        *,
        item_cost: float = 0.0,
        run_cost: float = 1.0,
        most_items: int | None = None,
    ) -> RunsPlan:
        """How many items, and runs of each by each system, make the difference most certain.

        Parameters
        ----------
        budget : float
            What another study may cost, in any unit; by default in runs.
        item_cost, run_cost : float
            What an item costs once, such as its annotation, and what each run of it costs.
        most_items : int, optional
            How many items there are at most.

        Returns
        -------
        RunsPlan
            ``items``, ``runs`` (of each item, by each of the systems), the ``standard_error`` of
            the mean difference that is to be expected, and what it would ``cost``.

        Raises
        ------
        ValueError
            As for `noise`, or where the budget is too small for an item.

        Notes
        -----
        The variance of the mean difference over N items with K runs each is
        ``(data + runs / K) / N``. The part of the runs is as it is here, that of the items the
        upper end of its interval, so that few items are not advised because they happen to look
        alike. Where items cost nothing and are without end, one run of each is best; runs pay where
        items are dear, or few.
        """
        money, each = check_above_zero(budget, "budget"), check_above_zero(run_cost, "run_cost")
        once = check_finite(item_cost, "item_cost")
        if once < 0:
            raise ValueError(f"item_cost={item_cost} must be 0 or more")
        most = None if most_items is None else check_count(most_items, "most_items")
        q, within = self._question, self._gaps_and_noise()[1]
        # Of one run of each system; with unequal numbers, the mean over items of the sum of both.
        harmonic = 2 / (1 / q.a.sizes + 1 / q.b.sizes)
        per_run = float(np.mean(within * harmonic))
        data = self.noise().data_interval[1]
        best: RunsPlan | None = None
        runs = 1
        while once + 2 * each * runs <= money:
            items = int(money // (once + 2 * each * runs))
            items = items if most is None else min(items, most)
            error = sqrt((data + per_run / runs) / items)
            if best is None or error < best.standard_error * (1 - 1e-12):
                best = RunsPlan(items, runs, error, items * (once + 2 * each * runs))
            runs += max(1, runs // 50)
        if best is None:
            raise ValueError(
                f"budget={budget} is too small for one item, which costs {once + 2 * each:g} with "
                "a run of each system"
            )
        return best

    def __str__(self) -> str:
        (a, b), (x, y) = self.names, self.scores
        what = "mean" if self.metric == "mean" else self.metric
        runs = " and ".join(counted(number, "runs") for number in self.n_runs)
        sides = self.alternative if self.alternative == "two-sided" else "one-sided"
        sides += "" if self.alternative == "two-sided" else f" ({self.alternative})"
        p = f"{self.pvalue:.3g}" if self.pvalue > 1e-300 else f"1e{self.log10_pvalue:.1f}"
        if self.n_samples is not None:
            low, high = self.pvalue_interval()
            p = f"{p} by {self.n_samples} samples (95% interval {low:.3g} to {high:.3g})"
            test = f"the {sides} test"
        else:
            test = f"the exact {sides} test"
        return (
            f"The {what} over {counted(self.n, 'items')} is {x:.4g} for {a} and {y:.4g} for {b} "
            f"(difference {self.difference:+.4g}; {runs}): p = {p}, by {test} of whether "
            f"{NULLS[self.null]}."
        )

    def _repr_html_(self) -> str:
        from permtest._html import said

        return said(str(self))

    def to_dict(self) -> dict[str, Any]:
        """All fields, the `difference` and the 95% `pvalue_interval`, as plain values."""
        shown = (f for f in self.__dataclass_fields__ if not f.startswith("_"))
        fields = {name: getattr(self, name) for name in shown}
        fields = {k: list(x) if isinstance(x, tuple) else x for k, x in fields.items()}
        more = {"difference": self.difference, "pvalue_interval": list(self.pvalue_interval())}
        return fields | more


def exact_runs_test(
    a: Any,
    b: Any = None,
    *,
    null: Null = "runs",
    statistic: str = "mean",
    k: int | None = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    rng: RNG = None,
) -> RunsTestResult:
    """Exact test of two systems that ran several times on the same items.

    Two null hypotheses can be tested. "runs": on every item all runs of both systems are
    exchangeable, as if the two systems were one. "items": the systems as a whole are exchangeable
    on every item, so that all runs of an item change places together; this leaves room for runs of
    a system that are like each other. For a claim about new items, that is the one to report.

    Parameters
    ----------
    a, b : array_like of shape (items, runs), list of sequences, tuple, or frame
        Scores of the runs of both systems on the same items in the same order. A list has a
        sequence of runs for each item, which may be of different lengths. A tuple of two columns,
        or a frame with the columns "successes" and "runs", counts the runs of each item. The
        systems may have different numbers of runs. Numbers are read as `Pairs.of` says. Or `a` is
        `Pairs` whose clusters are the items, as `read` makes of epochs, samples and seeds, and `b`
        is left out.
    null : {"runs", "items"}, default "runs"
        What is exchangeable under the null hypothesis.
    statistic : str, default "mean"
        What an item is worth: "mean" of its runs; "pass@3", the probability that one of three runs
        drawn from them succeeds; or "pass^3", that all three do; with any number, or "pass@k" and
        "pass^k" with `k`. The latter two need scores of 0 and 1.
    k : int, optional
        Of "pass@k" and "pass^k".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `a` scores higher. "two-sided": the sum of the differences is at least as far
        from 0, its expectation under the null hypothesis for means of runs.
    names : tuple of two str, optional
        What the systems are called. Default: "a" and "b", or those of the `Pairs`.
    rng : numpy.random.Generator, int or None
        Only matters where p is sampled because it is out of reach, which `method` says.

    Returns
    -------
    RunsTestResult

    Raises
    ------
    TypeError, ValueError
        If scores are no numbers, items or runs are missing, or an option is unknown.

    Notes
    -----
    For "runs", the sum of K_a of the K_a + K_b scores of an item is that of a draw without
    replacement; of 0 and 1 it is hypergeometric, and the test of the mean is the exact
    Cochran-Mantel-Haenszel test with the items as strata. The law of the sum over items is
    inverted at its tail after tilting: relative errors of p stay below 1e-12 at any size. Some
    milliseconds for 10 000 items of 0 and 1. "items" is `exact_perm_test` of the items' values.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> result = exact_runs_test(([3, 2, 2, 3], [3, 3, 3, 3]), ([1, 1, 1, 3], [3, 3, 3, 3]))
    >>> round(result.pvalue, 6)
    0.176
    >>> round(exact_runs_test([[1, 1], [0, 1, 1]], [[0, 1, 0], [0, 0]]).pvalue, 6)
    0.1
    """
    check_option("null", null, NULLS)
    check_alternative(alternative)
    measure, number = _measure(statistic, k)
    if isinstance(a, Pairs):
        if b is not None:
            raise TypeError("a is Pairs, which hold both systems; leave b out")
        names = a.names if names is None else names
        a, b = _of_pairs(a)
    if b is None:
        raise TypeError("b is missing: pass the runs of both systems, a and b")
    first, second = (_runs(x, name) for x, name in ((a, "a"), (b, "b")))
    if first[1].size != second[1].size:
        raise ValueError(
            f"a has {first[1].size} items and b has {second[1].size}; both systems must have run "
            "on the same items, in the same order"
        )
    found = in_common_units([first[0], second[0]], "ab")
    if found.rounding is not None:
        raise ValueError(
            "scores are floating-point numbers whose rounding can decide ties; round them to some "
            "decimals first"
        )
    mine, theirs = found.columns
    runs = _Runs(mine, first[1]), _Runs(theirs, second[1])
    question = _Question(*runs, found.scale, measure, number, alternative)
    if measure != "mean":
        _check_successes(question)
    return _tested(question, null, check_names(names or ("a", "b")), rng)


def _tested(question: _Question, null: Null, names: tuple[str, str], rng: RNG) -> RunsTestResult:
    """The test of one null hypothesis."""
    first, second, scale = question.worth
    items, more = scale * max(first.size, 1), {}
    if null == "items":
        pairs = Pairs(first, second, names=names, scale=scale)
        side = question.alternative
        swapped = exact_perm_test(pairs, alternative=side, rng=rng, axis=None)
        shared = ("pvalue", "log10_pvalue", "n_informative", *_HOW)
        more = {name: getattr(swapped, name) for name in shared} | {"_swapped": swapped}
    else:
        more = _of_runs(question, rng)
    return RunsTestResult(
        statistic=unscaled(question.observed, scale),
        null=null,
        alternative=question.alternative,
        n=first.size,
        n_runs=(int(question.a.sizes.sum()), int(question.b.sizes.sum())),
        metric="mean" if question.measure == "mean" else f"{question.measure}{question.k}",
        names=names,
        scores=(
            float(Fraction(exact_sum(first), items)),
            float(Fraction(exact_sum(second), items)),
        ),
        _question=question,
        **more,
    )


def _of_runs(question: _Question, rng: RNG) -> dict[str, Any]:
    """What is found where runs are exchangeable within items; sampled where p is out of reach."""
    law, samples = question.law, {}
    try:
        p = question.probability(ManyPointSum.tail, CERTAIN, Probability.plus)
        bound, method = p.error_bound, "tilted"
        reason = "only the tail was computed, by tilting the law of the runs of each item"
    except TooHard as error:
        bound, method, reason = None, "monte_carlo", f"an exact p is out of reach: {error}"
        extreme, size = _sampled(question, as_generator(rng))
        p = Probability.of((extreme + 1) / (size + 1), 0.0)
        samples = {"n_samples": size, "n_extreme": extreme}
    return {
        "pvalue": p.value,
        "log10_pvalue": p.log10,
        "n_informative": int(law.counts.sum()),
        "method": method,
        "method_reason": reason,
        "error_bound": bound,
    } | samples


def _sampled(question: _Question, rng: np.random.Generator) -> tuple[int, int]:
    """How many of how many random draws of the runs of every item are extreme."""
    law = question.law
    size = int(min(SAMPLES, max(DRAWS // max(law.counts.size, 1), 10_000)))
    totals = np.zeros(size, dtype=np.int64)
    tables = zip(law.parts, law.counts.tolist(), strict=True)
    for (start, end), n in progress(tables, total=law.counts.size, what="items"):
        shares = np.cumsum([float(w) for w in law.weights[start:end]])
        for _ in range(n):
            drawn = np.searchsorted(shares, rng.random(size) * shares[-1], side="right")
            totals += law.steps[start:end][np.minimum(drawn, end - start - 1)]
    lower, upper = question.thresholds()
    above = 0 if upper is None else np.count_nonzero(totals >= upper)
    below = 0 if lower is None else np.count_nonzero(totals <= lower)
    return min(int(above) + int(below), size), size


# ---- arguments -----------------------------------------------------------------------------------


def _measure(statistic: str, k: int | None) -> tuple[str, int]:
    """What is measured ("mean", "pass@" or "pass^"), and k."""
    if statistic == "mean":
        if k is not None:
            raise ValueError("k is for 'pass@k' and 'pass^k'; leave it out")
        return "mean", 0
    found = _AT_K.fullmatch(statistic) if isinstance(statistic, str) else None
    if found is None:
        raise ValueError(
            f"statistic={statistic!r} is not known; choose 'mean', or 'pass@k' or 'pass^k' with a "
            "number for k, such as 'pass@5'"
        )
    if found["k"] == "k":
        if k is None:
            raise ValueError(f"statistic={statistic!r} needs k, the number of runs that are drawn")
        number = check_count(k, "k")
    else:
        number = int(found["k"])
        if k is not None and k != number:
            raise ValueError(f"statistic={statistic!r} has a number of its own; leave k={k} out")
    return f"pass{found['kind']}", number


def _check_successes(question: _Question) -> None:
    """Scores of 0 and 1, and as many runs as are drawn."""
    for name, one in (("a", question.a), ("b", question.b)):
        wrong = (one.scores != 0) & (one.scores != question.scale)
        for i in np.flatnonzero(wrong)[:1].tolist():
            item = int(np.searchsorted(one.starts, i, side="right")) - 1
            value = unscaled(int(one.scores[i]), question.scale)
            raise ValueError(
                f"{name}[{item}] has a run that scores {value}, but {question.measure}k needs "
                "scores of 0 and 1; use statistic='mean'"
            )
        for item in np.flatnonzero(one.sizes < question.k)[:1].tolist():
            raise ValueError(
                f"{name}[{item}] has {one.sizes[item]} runs, fewer than the k = {question.k} that "
                f"{question.measure}k draws; choose a smaller k"
            )
    if question.scale != 1:
        for one in (question.a, question.b):
            one.scores[:] //= question.scale


def _of_pairs(pairs: Pairs) -> tuple[list[list[Any]], list[list[Any]]]:
    """The runs of each cluster."""
    if pairs.columns:
        raise ValueError(f"runs have one score each, but these pairs have {len(pairs.columns)}")
    if pairs.clusters is None:
        raise ValueError(
            "these pairs have no clusters, which are the items here; read them with the column "
            "of repeats, or set clusters"
        )
    items: dict[str, tuple[list[Any], list[Any]]] = {}
    scores = ([Fraction(int(x), pairs.scale) for x in column] for column in (pairs.u, pairs.v))
    for label, x, y in zip(pairs.clusters, *scores, strict=True):
        both = items.setdefault(label, ([], []))
        both[0].append(x)
        both[1].append(y)
    return [x for x, _ in items.values()], [y for _, y in items.values()]


def _runs(values: Any, name: str) -> tuple[Any, NDArray[np.int64]]:
    """All runs in a row, and how many each item has."""
    if isinstance(values, tuple):
        return _counted(values, name)
    if {"successes", "runs"} <= set(getattr(values, "columns", ())):
        return _counted((values["successes"], values["runs"]), name)
    if getattr(values, "ndim", None) == 2 or hasattr(values, "columns"):
        return _rectangular(plain_array(values, name, "a table of runs"), name)
    if isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        kind = type(values).__name__
        raise TypeError(f"{name} must be an array of (items, runs), or a list of runs, not {kind}")
    flat: list[Any] = []
    sizes = []
    for i, runs in enumerate(values):
        if isinstance(runs, str) or not hasattr(runs, "__len__"):
            raise TypeError(
                f"{name}[{i}] = {runs!r} must be a sequence of runs; an array of one run an item "
                "has shape (items, 1)"
            )
        own = plain_array(runs, f"{name}[{i}]").tolist()
        if not own:
            raise ValueError(f"{name}[{i}] has no runs; leave the item out of both systems")
        for j, x in enumerate(own):
            if x is None or x != x or x in (np.inf, -np.inf):
                raise ValueError(f"{name}[{i}][{j}] = {x} is no score; leave the run out")
        flat += own
        sizes.append(len(own))
    return flat, np.array(sizes, dtype=np.int64)


def _rectangular(table: NDArray[Any], name: str) -> tuple[Any, NDArray[np.int64]]:
    """The same of an array of shape (items, runs)."""
    if table.shape[1] == 0:
        raise ValueError(f"{name} has no runs; give an array of shape (items, runs)")
    if table.dtype.kind == "f":
        for i, j in np.argwhere(~np.isfinite(table))[:1]:
            raise ValueError(
                f"{name}[{i}, {j}] = {table[i, j]} is not finite; pass a list of runs for each "
                "item, without those that failed, or score them"
            )
    return table.ravel(), np.full(len(table), table.shape[1], dtype=np.int64)


def _counted(values: tuple[Any, ...], name: str) -> tuple[Any, NDArray[np.int64]]:
    """Runs of 1 and 0 from the columns of successes and runs."""
    if len(values) != 2 or len(values[0]) != len(values[1]):
        raise ValueError(
            f"{name} is a tuple, which must hold two columns of the same length, successes and "
            "runs; pass a list of runs for each item instead"
        )
    sizes, flat = [], []
    for i, (won, runs) in enumerate(zip(*values, strict=True)):
        try:
            x, n = index(won), index(runs)
        except TypeError:
            raise TypeError(f"{name}: {won!r} of {runs!r} runs in row {i} are no counts") from None
        if n < 1 or not 0 <= x <= n:
            raise ValueError(
                f"{name} has {x} successes in {n} runs in row {i}; there must be a run, and from "
                "none to all of them succeed"
            )
        sizes.append(n)
        flat.append(x)
    if sum(sizes) > 10**8:
        raise MemoryError(f"{name} has {sum(sizes):,} runs, more than 100,000,000")
    counts = np.array(sizes, dtype=np.int64)
    row = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return (row < np.repeat(np.array(flat), counts)).astype(np.int64), counts
