"""Exact tests of repeated runs: the same items, each asked several times of both systems.

What may be exchanged decides whom the answer is about: runs within items, items with all their
runs, or whole runs, each over all items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import comb, lcm, log, sqrt
from operator import add, neg, pos
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import (
    TooHard,
    check_above_zero,
    check_count,
    check_finite,
    check_level,
    check_option,
)
from permtest._forms import AsFields, AsSentence, p_text
from permtest._parallel import RNG, as_generator, progress
from permtest.exact import SAMPLES, exact_perm_test
from permtest.integers import (
    IntArray,
    as_integers,
    exact_sum,
    in_common_units,
    plain_array,
    unscaled,
    with_room,
)
from permtest.null.distribution import (
    CERTAIN,
    EPS,
    SMALLEST,
    UNDERFLOW,
    LatticeDistribution,
    Probability,
)
from permtest.null.many_point import ManyPointSum
from permtest.pairs import Pairs, Runs, check_names, cluster_numbers
from permtest.result import PermutationTestResult, clopper_pearson
from permtest.score import counted
from permtest.statistics import Alternative, check_alternative

#: What may be exchanged under the null hypothesis.
Null: TypeAlias = Literal["runs", "items", "systems"]
NULLS: dict[Null, str] = {
    "runs": "the runs of an item are exchangeable between the systems",
    "items": "the systems can be exchanged on each item, with all their runs",
    "systems": "whole runs are exchangeable between the systems",
}
#: Whom the answer is about under each of them.
ABOUT: dict[Null, str] = {
    "runs": "other runs of these systems on these items",
    "items": "these runs on new items",
    "systems": "newly trained systems on these items",
}
#: The smallest possible p is said where it is above this.
USUAL_LEVEL = 0.05

#: Draws of all items together, about, where p is sampled; how many numbers of runs a plan chooses
#: from; and additions that the table of one item, or of whole runs, may take to be made.
DRAWS, PLANS, MOST_WAYS, MOST_DEALS = 10**8, 5_000, 10**7, 3 * 10**6

#: What rises as the sum becomes more extreme.
EXTREMITY: dict[str, Callable[[int], int]] = {"greater": pos, "less": neg, "two-sided": abs}

#: What either test finds.
SHARED = ("pvalue", "log10_pvalue", "n_informative", "method", "method_reason", "error_bound")


@dataclass(frozen=True, eq=False)
class _Question:
    """Both systems' runs, what is made of those of an item, and what would be extreme."""

    a: Runs
    b: Runs
    scale: int
    measure: str
    k: int
    alternative: Alternative
    ids: tuple[str, ...] | None  # of the items

    @cached_property
    def common(self) -> int:
        """By what to divide the integers that items are worth."""
        return lcm(*map(self._parts, {*self.a.sizes.tolist(), *self.b.sizes.tolist()}))

    def _parts(self, n: int) -> int:
        """By what to divide the integers that items of n runs are worth."""
        return n * self.scale if self.measure == "mean" else comb(n, self.k)

    def value(self, total: int, n: int) -> int:
        """What an item with such a sum of n runs is worth; pass@k and pass^k are without bias."""
        one = self.common // self._parts(n)
        if self.measure == "pass@":
            return self.common - comb(n - total, self.k) * one
        return (total if self.measure == "mean" else comb(total, self.k)) * one

    @cached_property
    def worth(self) -> tuple[IntArray, IntArray]:
        """What each item is worth to either system, times `common`."""
        value = cache(self.value)
        first, second = (
            as_integers([*map(value, one.totals.tolist(), one.sizes.tolist())], name)
            for one, name in ((self.a, "a"), (self.b, "b"))
        )
        return first, second

    @property
    def observed(self) -> int:
        """The sum over items of the difference, times `common`."""
        return exact_sum(self.worth[0]) - exact_sum(self.worth[1])

    @cached_property
    def law(self) -> ManyPointSum:
        """The law of that sum where runs are exchangeable within items."""
        tables: Counter[tuple[tuple[int, int], ...]] = Counter()
        for (pooled, n_a, n_b), number in self._kinds().items():
            added: Counter[int] = Counter()
            total = sum(value * times for value, times in pooled)
            for x, ways in _ways(pooled, n_a).items():
                added[self.value(x, n_a) - self.value(total - x, n_b)] += ways
            tables[tuple(sorted(added.items()))] += number
        return ManyPointSum.of(
            [([x for x, _ in t], [w for _, w in t], n) for t, n in tables.items()]
        )

    def _kinds(self) -> Counter[tuple[tuple[tuple[int, int], ...], int, int]]:
        """How many items have each score as often in all their runs, and as many runs of either."""
        found: Counter[Any] = Counter()
        sizes = self.a.sizes.tolist(), self.b.sizes.tolist()
        if not any((one.scores >> 1).any() for one in (self.a, self.b)):  # all are 0 or 1
            ones = (self.a.totals + self.b.totals).tolist()
            for (m, n_a, n_b), number in Counter(zip(ones, *sizes, strict=True)).items():
                found[((0, n_a + n_b - m), (1, m)), n_a, n_b] = number
            return found
        rows = (np.split(one.scores, np.cumsum(one.sizes)[:-1]) for one in (self.a, self.b))
        for x, y in zip(*rows, strict=True):
            pooled = Counter(sorted([*x.tolist(), *y.tolist()]))
            found[tuple(pooled.items()), x.size, y.size] += 1
        return found

    def thresholds(self, observed: int) -> tuple[int, int]:
        """(lower, upper): extreme is T <= lower or T >= upper, out of reach on an open side."""
        law, two_sided = self.law, self.alternative == "two-sided"
        high = abs(observed) if two_sided else observed
        low = -high if two_sided else high
        return (
            -1 if self.alternative == "greater" else (low - law.offset) // law.unit,
            law.top + 1 if self.alternative == "less" else -((law.offset - high) // law.unit),
        )

    def probability(
        self, tail: Callable[[ManyPointSum, int], Any], one: Any, plus: Any, observed: int
    ) -> Any:
        """The probability of what is as extreme, from a function of upper tails."""
        lower, upper = self.thresholds(observed)
        if upper <= lower + 1:
            return one
        sides = (self.law, upper), (self.law.mirrored(), self.law.top - lower)
        found = [tail(law, t0) for law, t0 in sides if t0 <= law.top]
        return plus(*found) if len(found) == 2 else found[0]

    @property
    def most_extreme(self) -> int:
        """The sum that no other way to deal the runs of items is more extreme than."""
        ends = self.law.offset, self.law.offset + self.law.unit * self.law.top
        return max(ends, key=EXTREMITY[self.alternative])

    def whole(self, names: tuple[str, str], *, paired: bool) -> _WholeRuns:
        """The total of each run over all items; an error where they are not all on all items."""
        if self.measure != "mean":
            raise ValueError(
                f"{self.measure}k is of the runs of one item, but null='systems' exchanges whole "
                "runs; use statistic='mean' (--metric mean), or null='items' or 'runs'"
            )
        totals, labels = zip(
            *(
                _run_totals(one, name, self.ids)
                for one, name in zip((self.a, self.b), names, strict=True)
            ),
            strict=True,
        )
        if paired:
            _check_paired(totals, labels, names)
        return _WholeRuns(totals[0], totals[1], self)


@dataclass(frozen=True, eq=False)
class _WholeRuns:
    """The total of each run over all items, times the scale of the question."""

    a: IntArray
    b: IntArray
    question: _Question

    @property
    def pooled(self) -> list[int]:
        return [*self.a.tolist(), *self.b.tolist()]

    @cached_property
    def deals(self) -> int:
        """In how many ways the runs can be dealt."""
        return comb(len(self.pooled), self.a.size)

    def value(self, first: int) -> int:
        """T, the sum over items of the difference of means, if a's runs have that total."""
        q, rest = self.question, sum(self.pooled) - first
        return q.value(first, self.a.size) - q.value(rest, self.b.size)

    @cached_property
    def law(self) -> dict[int, int]:
        """In how many ways T has each value; TooHard where these are too many."""
        counts = tuple(sorted(Counter(self.pooled).items()))
        try:
            ways = _ways(counts, self.a.size, MOST_DEALS)
        except TooHard:
            raise TooHard(f"there are {float(self.deals):.2g} ways to deal the runs") from None
        return {self.value(total): number for total, number in ways.items()}

    def fraction(self) -> Fraction:
        """The exact p."""
        return self._share(self.question.observed)

    def _share(self, observed: int) -> Fraction:
        side = EXTREMITY[self.question.alternative]
        least = side(observed)
        return Fraction(sum(n for t, n in self.law.items() if side(t) >= least), self.deals)

    @cached_property
    def smallest(self) -> Fraction:
        """The p of the most extreme way to deal the runs, which needs no law."""
        ends: Counter[int] = Counter()
        for runs in (sorted(self.pooled), sorted(self.pooled, reverse=True)):
            taken = runs[: self.a.size]
            last = taken[-1]  # of the runs with this total, any may be taken
            ends[self.value(sum(taken))] = comb(runs.count(last), taken.count(last))
        side = EXTREMITY[self.question.alternative]
        most = max(map(side, ends))
        return Fraction(sum(n for t, n in ends.items() if side(t) == most), self.deals)

    def sampled(self, rng: np.random.Generator) -> tuple[int, int]:
        """How many of how many random ways to deal the runs are extreme."""
        side, runs = EXTREMITY[self.question.alternative], np.array(self.pooled, dtype=object)
        if max(map(abs, self.pooled)) * runs.size < 2**62:
            runs = runs.astype(np.int64)
        least, extreme = side(self.question.observed), 0
        for _ in progress(range(SAMPLES), total=SAMPLES, what="samples"):
            first = int(rng.permutation(runs)[: self.a.size].sum())
            extreme += side(self.value(first)) >= least
        return extreme, SAMPLES


def _run_totals(
    one: Runs, name: str, ids: tuple[str, ...] | None
) -> tuple[IntArray, tuple[str, ...] | None]:
    """The total of each run over all items, and what the runs are called, if they have names."""
    if not one.sizes.size:
        raise ValueError("null='systems' exchanges whole runs, and there are no items")
    k = int(one.sizes[0])
    for i in np.flatnonzero(one.sizes != k)[:1].tolist():
        raise _not_whole(i, ids, f"has {counted(one.sizes[i], 'runs')} of {name}, not {k} as")
    scores = with_room(one.scores, one.sizes.size).reshape(-1, k)
    if one.labels is None:
        return scores.sum(axis=0), None
    called = np.array(one.labels, dtype=object).reshape(-1, k)
    first, *_ = names = np.sort(called, axis=1)
    if len({*first}) < k:
        raise ValueError(
            f"null='systems' exchanges whole runs, but nothing tells which runs of {name} on "
            "different items belong together; name the column that does (--repeat, repeat=), or "
            "pass arrays of shape (items, runs)"
        )
    for i in np.flatnonzero((names != first).any(axis=1))[:1].tolist():
        other = next(x for x in names[i] if x not in first)
        raise _not_whole(i, ids, f"has a run {other.strip(' ()')!r} of {name}, unlike")
    order = np.argsort(called, axis=1)
    return np.take_along_axis(scores, order, axis=1).sum(axis=0), tuple(first)


def _not_whole(i: int, ids: tuple[str, ...] | None, problem: str) -> ValueError:
    """The error of an item that has other runs than the first one."""
    item, head = _called(i, ids, f"item {i + 1}"), _called(0, ids, "item 1")
    return ValueError(
        f"null='systems' exchanges whole runs, but {item} {problem} {head}; keep the items and the "
        "runs that are complete, or test null='items' or 'runs'"
    )


def _check_paired(
    totals: Sequence[IntArray],
    labels: Sequence[tuple[str, ...] | None],
    names: tuple[str, str],
) -> None:
    """Refuse runs that do not come in pairs."""
    (k, m), (first, second) = map(len, totals), labels
    if k != m:
        raise ValueError(
            f"paired_runs=True pairs each run of {names[0]} with one of {names[1]}, but there are "
            f"{k} and {m}; leave it out (--paired-runs), and all runs are dealt"
        )
    if first is not None and second is not None and first != second:
        alone = next(x for x in first if x not in second).strip(" ()")
        raise ValueError(
            f"paired_runs=True pairs runs of one name, but {names[1]} has no run {alone!r}; leave "
            "it out (--paired-runs), and all runs are dealt"
        )


def _ways(pooled: tuple[tuple[int, int], ...], n: int, most: int = MOST_WAYS) -> dict[int, int]:
    """In how many ways n of some runs have each sum; `pooled` has scores and how often each is."""
    left, work = sum(times for _, times in pooled), 0
    chosen = Counter({(0, 0): 1})  # how many runs of the scores so far, and their sum
    for value, times in pooled:
        left -= times
        more: Counter[tuple[int, int]] = Counter()
        for (size, total), ways in chosen.items():
            some = range(max(0, n - size - left), min(times, n - size) + 1)
            work += len(some)
            if work > most:
                raise TooHard(
                    "an item has runs of too many different scores; round to fewer digits"
                )
            for taken in some:
                more[size + taken, total + taken * value] += ways * comb(times, taken)
        chosen = more
    return {total: ways for (_, total), ways in chosen.items()}


@dataclass(frozen=True)
class NoiseSplit(AsFields):
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

    def __str__(self) -> str:
        if self.total == self.prediction == 0:
            return "The difference is the same on every item, and runs of an item do not differ."
        low, high = self.prediction_interval
        runs = f"{self.prediction:.4g} ({100 * self.confidence_level:g}% interval {low:.4g} to "
        runs += f"{high:.4g})"
        if self.data > 0:  # the estimate may be negative
            return (
                f"Of the variance of an item's difference, {self.total:.4g}, runs account for "
                f"{runs}, {self.prediction / self.total:.0%}, and items for {self.data:.4g}."
            )
        return (
            f"The variance of an item's difference is {self.total:.4g}, and {runs} is expected "
            "from runs alone: no variance between items can be seen."
        )


class RunsPlan(NamedTuple):
    """How many items and runs another study should have. Made by `RunsTestResult.plan`.

    Parameters
    ----------
    items, runs : int
        How many items, and runs of each item by each of the two systems.
    standard_error : float
        Of the mean difference, at most about: the variance of items is the upper end of its
        interval.
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
    7 items with 3 runs by each system cost 98
    """

    items: int
    runs: int
    standard_error: float
    cost: float

    def __str__(self) -> str:
        runs = "one run" if self.runs == 1 else f"{self.runs} runs"
        return (
            f"{self.items:,} items with {runs} by each system cost {self.cost:,.6g}; the standard "
            f"error of the mean difference is then at most about {self.standard_error:.3g}."
        )


@dataclass(frozen=True)
class RunsTestResult(AsSentence):
    """What an exact test of repeated runs found. Made by `exact_runs_test`.

    Parameters
    ----------
    statistic : int or float
        The sum over items of the difference of what both systems score on the item: of their mean
        runs, or of their pass@k or pass^k.
    pvalue, log10_pvalue : float
        As in `PermutationTestResult`: never 0, the logarithm accurate at any size.
    null : {"items", "runs", "systems"}
        What is exchangeable under the null hypothesis.
    alternative : {"two-sided", "greater", "less"}
    n, n_informative : int
        Number of items, and of those that can change the sum at all; for "systems", of whole runs
        that can, or of pairs of them.
    n_runs : tuple of two int
        How many runs there are of either system, over all items.
    method, method_reason : str
        "tilted" for "runs", "enumeration" for "systems", "monte_carlo" where p is out of reach, or
        as in `PermutationTestResult` for what is swapped; and why.
    error_bound : float or None
        Bound on the relative error of p; None where p was sampled.
    metric : str
        "mean", "pass@3", "pass^3" and so on.
    names : tuple of two str
    scores : tuple of two float
        The means over items of what both systems score.
    paired_runs : bool
        Whether run r of the first system and run r of the second change places as a pair.
    n_samples, n_extreme : int or None
        K and C where p was sampled.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> a = [[1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> b = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]
    >>> result = exact_runs_test(a, b)
    >>> result.statistic, result.fraction(), result.about
    (1.3333333333333333, Fraction(1, 4), 'these runs on new items')
    >>> result.under("runs").fraction(), result.under("systems").fraction()
    (Fraction(22, 125), Fraction(1, 10))
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
    paired_runs: bool = False
    n_samples: int | None = None
    n_extreme: int | None = None
    _question: _Question = field(kw_only=True, repr=False, compare=False)
    _swapped: PermutationTestResult | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )
    _whole: _WholeRuns | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def difference(self) -> float:
        """By how much the first system scores more, per item."""
        return float(self.statistic) / max(self.n, 1)

    @property
    def about(self) -> str:
        """Whom the answer is about: which items, and which runs or systems."""
        return ABOUT[self.null]

    @property
    def hypothesis(self) -> str:
        """What the null hypothesis says."""
        return NULLS[self.null] + ", within each pair" * self.paired_runs

    @cached_property
    def smallest_pvalue(self) -> float:
        """The p of the most extreme labelling: no data with these scores could have a smaller one.

        Exact, but for "runs", where it has a relative error below 1e-12; 5e-324 stands for what is
        smaller.
        """
        if self._whole is not None:
            return max(float(self._whole.smallest), SMALLEST)
        if self._swapped is not None:
            return float(self._swapped.smallest_pvalue or 0)  # which a sum has
        q = self._question
        tail = q.probability(ManyPointSum.tail, CERTAIN, Probability.plus, q.most_extreme)
        return float(tail.value)

    def under(
        self, null: Null, *, paired_runs: bool | None = None, rng: RNG = None
    ) -> RunsTestResult:
        """The same comparison under another null hypothesis, or under the same one.

        Parameters
        ----------
        null : {"items", "runs", "systems"}
        paired_runs : bool, optional
            As in `exact_runs_test`. Default: as here for "systems" again, otherwise False.
        rng : numpy.random.Generator, int or None

        Returns
        -------
        RunsTestResult

        Raises
        ------
        ValueError
            As `exact_runs_test` does.
        """
        check_option("null", null, NULLS)
        paired = self.paired_runs and null == "systems" if paired_runs is None else paired_runs
        if (null, paired) == (self.null, self.paired_runs):
            return self
        return _tested(self._question, null, self.names, rng, paired=paired)

    @cached_property
    def null_distribution(self) -> LatticeDistribution:
        """The law of the sum under the null hypothesis; MemoryError where it would not fit."""
        if self._swapped is not None:
            return self._swapped.null_distribution
        if self._whole is not None:
            tables = [([*self._whole.law], [*self._whole.law.values()], 1)]
            return ManyPointSum.of(tables).distribution(self._question.common)
        return self._question.law.distribution(self._question.common)

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction; MemoryError if its integers would not fit.

        ArithmeticError for "systems" if there are too many ways to deal the runs.
        """
        if self._swapped is not None:
            return self._swapped.fraction()
        if self._whole is not None:
            return self._whole.fraction()
        q = self._question
        return Fraction(q.probability(ManyPointSum.tail_fraction, 1, add, q.observed))

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
        squares, within = self._squares_and_noise()
        data = squares * self.n / (self.n - 1) - within
        data[np.abs(data) <= 1e-12 * within] = 0.0  # which is what roundings leave
        total, prediction = float(squares.sum() / (self.n - 1)), float(within.mean())
        left = total - prediction if abs(total - prediction) > 1e-12 * total else 0.0
        z = NormalDist().inv_cdf((1 + level) / 2) / sqrt(self.n)
        ends = (x.mean() + np.array([-1, 1]) * z * x.std(ddof=1) for x in (data, within))
        first, second = ((float(low), float(high)) for low, high in np.maximum([*ends], 0.0))
        return NoiseSplit(total, left, prediction, first, second, level)

    def _squares_and_noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Squares of each item's difference less the mean, and its variance that is due to runs.

        Made of whole numbers, so that what does not vary has the variance 0.
        """
        q = self._question
        if q.measure != "mean":
            raise ValueError(f"the variance is split for the mean of runs, not for {self.metric}")
        if self.n < 2:
            raise ValueError(f"the variance over items needs two of them, and there are {self.n}")
        gaps = q.worth[0].astype(object) - q.worth[1].astype(object)
        centred = (self.n * gaps - gaps.sum()) / (self.n * q.common)
        noise = np.zeros(self.n)
        for one, name in ((q.a, self.names[0]), (q.b, self.names[1])):
            for i in np.flatnonzero(one.sizes < 2)[:1]:
                raise ValueError(
                    f"{_called(i, q.ids, f'item {i + 1}')} has only one run of {name}, so we "
                    "cannot tell how runs differ; supply two or more runs of each item"
                )
            scores, k = one.scores.astype(object), one.sizes.astype(object)
            squares = k * one.sums(scores * scores) - one.sums(scores) ** 2
            noise += (squares / (k * k * (k - 1) * q.scale**2)).astype(np.float64)
        return centred.astype(np.float64) ** 2, noise

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
            the mean difference, at most about, and what it would ``cost``.

        Raises
        ------
        ValueError
            As for `noise`, or where the budget is too small for an item.

        Notes
        -----
        The variance of the mean difference over N items with K runs each is
        ``(data + runs / K) / N``. The part of the runs is as it is here, that of the items the
        upper end of its interval, so that few items are not advised because they happen to look
        alike; for that, the standard error is rather a limit than what is to be expected. Where
        items cost nothing and are without end, one run of each is best; runs pay where
        items are dear, or few.
        """
        money, each = check_above_zero(budget, "budget"), check_above_zero(run_cost, "run_cost")
        once = check_finite(item_cost, "item_cost")
        if once < 0:
            raise ValueError(f"item_cost={item_cost} must be 0 or more")
        most = money if most_items is None else check_count(most_items, "most_items")
        if money < once + 2 * each:
            raise ValueError(
                f"budget={budget} is too small for one item, which costs {once + 2 * each:g} with "
                "a run of each system"
            )
        q, within = self._question, self._squares_and_noise()[1]
        # Of one run of each system; with unequal numbers, the mean over items of the sum of both.
        per_run = float(np.mean(within * 2 / (1 / q.a.sizes + 1 / q.b.sizes)))
        runs = np.unique(np.geomspace(1, (money - once) / (2 * each), PLANS).astype(np.int64))
        items = np.minimum(money // (once + 2 * each * runs), most)
        errors = np.sqrt((self.noise().data_interval[1] + per_run / runs) / items)
        best = int(np.argmax(errors <= errors.min() * (1 + 1e-12)))  # with the fewest runs
        number, k = int(items[best]), int(runs[best])
        return RunsPlan(number, k, float(errors[best]), number * (once + 2 * each * k))

    def __str__(self) -> str:
        (a, b), (x, y) = self.names, self.scores
        over = counted(self.n, "items")
        what = f"The mean over {over}" if self.metric == "mean" else f"Over {over}, {self.metric}"
        each = self.n if self.null == "systems" else 1
        runs = " and ".join(counted(number // each, "runs") for number in self.n_runs)
        runs += " over all items" * (self.null == "systems")
        two_sided = self.alternative == "two-sided"
        sides = "two-sided" if two_sided else f"one-sided ({self.alternative})"
        p = p_text(self.pvalue, self.log10_pvalue)
        if self.n_samples is not None:
            low, high = self.pvalue_interval()
            p += f" by {self.n_samples} samples (95% interval {low:.3g} to {high:.3g})"
        test = f"the {'exact ' * (self.n_samples is None)}{sides} test"
        return (
            f"{what} is {x:.4g} for {a} and {y:.4g} for {b} "
            f"(difference {self.difference:+.4g}; {runs}): p = {p}, by {test} of whether "
            f"{self.hypothesis}. {self._limit()}The answer is about {self.about}."
        )

    def _limit(self) -> str:
        """That p cannot be small, where no data of this size could have a usual one."""
        least = self.smallest_pvalue
        if least <= USUAL_LEVEL or not self.n_informative:
            return ""
        if self.null != "systems":
            differ = "differs" if self.n_informative == 1 else "differ"
            few = f"{counted(self.n_informative, 'items')} that {differ}"
        elif self.paired_runs:
            few = f"{counted(self.n_informative, 'pairs')} of runs"
        else:
            few = " and ".join(counted(number // self.n, "runs") for number in self.n_runs)
        return f"With {few}, p cannot be below {least:.3g}. "

    def to_dict(self) -> dict[str, Any]:
        """All fields, `about`, the `difference` and more properties, as plain values."""
        return super().to_dict() | {
            "about": self.about,
            "difference": self.difference,
            "pvalue_interval": list(self.pvalue_interval()),
            "smallest_pvalue": self.smallest_pvalue,
        }


def exact_runs_test(
    a: Any,
    b: Any = None,
    *,
    null: Null = "items",
    paired_runs: bool = False,
    statistic: str = "mean",
    k: int | None = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    rng: RNG = None,
) -> RunsTestResult:
    """Exact test of two systems that ran several times on the same items.

    Three null hypotheses can be tested; which one decides whom the answer is about.

    "items": the systems are exchangeable on every item, so that all runs of an item change places
    together. This leaves room for systems that are good at different items: the answer is about
    these runs on new items.

    "runs": on every item all runs of both systems are exchangeable, as if the two systems were one.
    The answer is about other runs of these systems on these items.

    "systems": a run is a whole system, trained with a seed of its own, whose luck moves all items
    at once, and all of these are exchangeable. The answer is about newly trained systems on these
    items. Both other tests reject far too often if seeds differ like that and the claim is about
    new seeds. No exact test covers new items and new seeds together.

    Parameters
    ----------
    a, b : array_like of shape (items, runs), or list of sequences
        Scores of the runs of both systems on the same items in the same order. A list has a
        sequence of runs for each item, which may be of different lengths. The systems may have
        different numbers of runs. Numbers are read as `Pairs.of` says. Or `a` is `Pairs` as `read`
        makes of epochs, samples and seeds, whose clusters are the items, or which hold all runs
        where their numbers differ; and `b` is left out.
    null : {"items", "runs", "systems"}, default "items"
        What is exchangeable under the null hypothesis. For "systems" all items must have the same
        runs, in the same order: column r of the table is run r, on each item. In `Pairs`, ids tell
        them apart.
    paired_runs : bool, default False
        For "systems": run r of `a` and run r of `b` share a seed or the like, and change places as
        a pair. Otherwise all runs are dealt anew, also between unequal numbers of them.
    statistic : str, default "mean"
        What an item is worth: "mean" of its runs; "pass@3", the probability that one of three runs
        drawn from them succeeds; or "pass^3", that all three do; with any number, or "pass@k" and
        "pass^k" with `k`. The latter two need scores of 0 and 1, and are not for "systems".
    k : int, optional
        Of "pass@k" and "pass^k".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `a` scores higher. "two-sided": the sum of the differences is at least as far
        from 0, its expectation under each null hypothesis.
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
        If scores are no numbers, items or runs are missing, an option is unknown, or, for
        "systems", some items have other runs than others.

    Notes
    -----
    For "runs", the sum of K_a of the K_a + K_b scores of an item is that of a draw without
    replacement; of 0 and 1 it is hypergeometric, and the test of the mean is the exact
    Cochran-Mantel-Haenszel test with the items as strata. The law of the sum over items is
    inverted at its tail after tilting: relative errors of p stay below 1e-12 at any size. Some
    milliseconds for 10 000 items of 0 and 1. "items" is `exact_perm_test` of the items' values;
    where an item has more runs of one system than of the other, these vary differently, and the
    test is exact as far as their difference is symmetric about 0.

    "systems" adds up each run over all items and counts the ways to deal the K_a + K_b totals: p is
    at least 1 / C(K_a + K_b, K_a), and two-sided twice that if K_a = K_b. With 3 + 3 runs this is
    0.1, and with 4 + 4 it is 0.029. Pairs of runs are swapped by `exact_perm_test`, where six pairs
    reach 0.031. Where there are too many ways to count, they are sampled.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> a, b = [[1, 1], [0, 1, 1]], [[0, 1, 0], [0, 0]]
    >>> round(exact_runs_test(a, b, null="runs").pvalue, 6)
    0.1

    Three trained systems against three others cannot have a smaller p than this, two-sided:

    >>> a, b = [[5, 6, 4], [8, 7, 8]], [[3, 4, 4], [7, 6, 7]]
    >>> exact_runs_test(a, b, null="systems").smallest_pvalue
    0.1
    """
    check_option("null", null, NULLS)
    check_alternative(alternative)
    (measure, number), ids = _measure(statistic, k), None
    if isinstance(a, Pairs):
        if b is not None:
            raise TypeError("a is Pairs, which hold both systems; leave b out")
        names, exact = names or a.names, a.rounding is None
        first, second, scale = _of_pairs(a)
        ids = a.ids if a.runs or a.clusters is None else tuple(dict.fromkeys(a.clusters))
    else:
        if b is None:
            raise TypeError("b is missing: pass the runs of both systems, a and b")
        first, second = _runs(a, "a"), _runs(b, "b")
        if (n := first.sizes.size) != (m := second.sizes.size):
            raise ValueError(
                f"a has {n} item{'s' * (n != 1)} and b has {m}; both systems must have run on the "
                "same items, in the same order"
            )
        both = in_common_units([first.scores, second.scores], "ab")
        scale, exact = both.scale, both.rounding is None
        first, second = map(Runs, both.columns, (first.sizes, second.sizes))
    if not exact:
        raise ValueError(
            "scores are floating-point numbers whose rounding can decide ties; round them to some "
            "decimals first"
        )
    if measure != "mean":
        first, second = (
            _successes(one, scale, measure, number, name, ids)
            for one, name in ((first, "a"), (second, "b"))
        )
        scale = 1
    question = _Question(first, second, scale, measure, number, alternative, ids)
    called = check_names(names or ("a", "b"))
    return _tested(question, null, called, rng, paired=paired_runs)


def _tested(
    question: _Question, null: Null, names: tuple[str, str], rng: RNG, *, paired: bool
) -> RunsTestResult:
    """The test of one null hypothesis."""
    scale, n = question.common, question.a.sizes.size
    (first, second), items = map(exact_sum, question.worth), scale * max(n, 1)
    if paired and null != "systems":
        raise ValueError(f"paired_runs=True is for null='systems', not for null={null!r}")
    whole = question.whole(names, paired=paired) if null == "systems" else None
    if null == "runs":
        found = _of_runs(question, rng)
    elif whole is not None and not paired:
        found = _of_whole_runs(whole, rng)
    else:
        u, v = question.worth if whole is None else (whole.a, whole.b)
        one = scale if whole is None else question.scale * len(whole.a)
        pairs, side = Pairs(u, v, names, scale=one), question.alternative
        swapped = exact_perm_test(pairs, alternative=side, rng=rng)
        found = {name: getattr(swapped, name) for name in SHARED} | {"_swapped": swapped}
    return RunsTestResult(
        statistic=unscaled(question.observed, scale),
        null=null,
        alternative=question.alternative,
        n=n,
        n_runs=(int(question.a.sizes.sum()), int(question.b.sizes.sum())),
        metric="mean" if question.measure == "mean" else f"{question.measure}{question.k}",
        names=names,
        scores=(float(Fraction(first, items)), float(Fraction(second, items))),
        paired_runs=paired,
        _question=question,
        **found,
    )


def _of_runs(question: _Question, rng: RNG) -> dict[str, Any]:
    """What is found where runs are exchangeable within items; sampled where p is out of reach."""
    law, samples = question.law, {}
    try:
        p = question.probability(ManyPointSum.tail, CERTAIN, Probability.plus, question.observed)
        bound, method = p.error_bound, "tilted"
        reason = "only the tail was computed, by tilting the law of the runs of each item"
    except TooHard as error:
        bound, method, reason = None, "monte_carlo", f"an exact p is out of reach: {error}"
        extreme, size = _sampled(question, as_generator(rng))
        p = Probability.of((extreme + 1) / (size + 1), 0.0)
        samples = {"n_samples": size, "n_extreme": extreme}
    found = (p.value, p.log10, int(law.counts.sum()), method, reason, bound)
    return dict(zip(SHARED, found, strict=True)) | samples


def _of_whole_runs(whole: _WholeRuns, rng: RNG) -> dict[str, Any]:
    """What is found where whole runs are dealt; sampled where the ways to do so are too many."""
    samples: dict[str, int] = {}
    try:
        exact, bound, method = whole.fraction(), EPS / 2, "enumeration"
        reason = f"each of the {whole.deals:,} ways to deal the runs was counted"
    except TooHard as error:
        bound, method, reason = None, "monte_carlo", f"an exact p is out of reach: {error}"
        extreme, size = whole.sampled(as_generator(rng))
        exact, samples = Fraction(extreme + 1, size + 1), {"n_samples": size, "n_extreme": extreme}
    p = Probability.of(float(exact), 0.0)
    if exact < UNDERFLOW:
        p = Probability.of_log(log(exact.numerator) - log(exact.denominator), 0.0)
    informative = len(whole.pooled) if len({*whole.pooled}) > 1 else 0
    found = (p.value, p.log10, informative, method, reason, bound)
    return dict(zip(SHARED, found, strict=True)) | {"_whole": whole} | samples


def _sampled(question: _Question, rng: np.random.Generator) -> tuple[int, int]:
    """How many of how many random draws of the runs of every item are extreme."""
    law, (lower, upper) = question.law, question.thresholds(question.observed)
    size = int(min(SAMPLES, max(DRAWS // max(law.counts.size, 1), 10_000)))
    totals = np.zeros(size, dtype=np.int64)
    tables = zip(law.parts, law.counts.tolist(), strict=True)
    for (start, end), n in progress(tables, total=law.counts.size, what="items"):
        whole = sum(law.weights[start:end])
        shares = [w / whole for w in law.weights[start:end]]
        for _ in range(n):
            totals += rng.choice(law.steps[start:end], size, p=shares)
    return int(np.count_nonzero((totals >= upper) | (totals <= lower))), size


# ---- arguments -----------------------------------------------------------------------------------


def _measure(statistic: str, k: int | None) -> tuple[str, int]:
    """What is measured ("mean", "pass@" or "pass^"), and k."""
    found = re.fullmatch(r"(mean)|(pass[@^])(k|[1-9]\d*)", str(statistic))
    if found is None:
        raise ValueError(
            f"statistic={statistic!r} is not known; choose 'mean', or 'pass@k' or 'pass^k' with a "
            "number for k, such as 'pass@5'"
        )
    mean, measure, number = found.groups()
    if number == "k" and k is None:
        raise ValueError(f"statistic={statistic!r} needs k, the number of runs that are drawn")
    if number != "k" and k is not None and (mean or k != int(number)):
        raise ValueError(f"statistic={statistic!r} takes no other number; leave k={k} out")
    return ("mean", 0) if mean else (measure, check_count(int(number) if k is None else k, "k"))


def _called(i: int, ids: tuple[str, ...] | None, otherwise: str) -> str:
    """What an item is called, by its id if it has one."""
    return otherwise if ids is None else f"item {ids[i]!r}"


def _successes(
    runs: Runs, scale: int, measure: str, k: int, name: str, ids: tuple[str, ...] | None
) -> Runs:
    """The same runs as 0 and 1; an error if they score anything else, or are too few."""
    for run in np.flatnonzero((runs.scores != 0) & (runs.scores != scale))[:1].tolist():
        i = runs.place(run)[0]
        raise ValueError(
            f"{_called(i, ids, f'{name}[{i}]')} has a run of {name} that scores "
            f"{unscaled(int(runs.scores[run]), scale)}, but {measure}k needs scores of 0 and 1; "
            "use statistic='mean' (--metric mean)"
        )
    for i in np.flatnonzero(runs.sizes < k)[:1]:
        raise ValueError(
            f"{_called(i, ids, f'{name}[{i}]')} has {counted(runs.sizes[i], 'runs')}, fewer than "
            f"the k = {k} that {measure}k draws; choose a smaller k"
        )
    return Runs(runs.scores // scale, runs.sizes, runs.labels)


def _of_pairs(pairs: Pairs) -> tuple[Runs, Runs, int]:
    """The runs of each cluster, or those that a file has of each item, and their scale."""
    if pairs.runs is not None:
        return pairs.runs
    if pairs.columns:
        raise ValueError(f"runs have one score each, but these pairs have {len(pairs.columns)}")
    if pairs.clusters is None:
        raise ValueError(
            "these pairs have no clusters, which are the items here; name the column that tells "
            "runs of an item apart (--repeat, repeat=), or set clusters"
        )
    items = cluster_numbers(pairs.clusters, len(pairs))
    order, sizes = np.argsort(items, kind="stable"), np.bincount(items)
    ids = pairs.ids or pairs.clusters  # without ids nothing tells runs of an item apart
    labels = [x.removeprefix(item) for x, item in zip(ids, pairs.clusters, strict=True)]
    called = tuple(labels[i] for i in order)
    return Runs(pairs.u[order], sizes, called), Runs(pairs.v[order], sizes, called), pairs.scale


def _runs(values: Any, name: str) -> Runs:
    """The runs of one system, with their scores as they are given."""
    scores: Any = []
    if getattr(values, "ndim", None) == 2 or hasattr(values, "columns"):
        table = plain_array(values, name, "a table of runs")
        scores, sizes = table.ravel(), [table.shape[1]] * len(table)
    elif isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        kind = type(values).__name__
        raise TypeError(f"{name} must be an array of (items, runs), or a list of runs, not {kind}")
    else:
        for i, row in enumerate(values):
            if isinstance(row, str) or not hasattr(row, "__len__"):
                raise TypeError(
                    f"{name}[{i}] = {row!r} must be a sequence of runs; an array of one run an "
                    "item has shape (items, 1)"
                )
            scores += plain_array(row, f"{name}[{i}]").tolist()
        sizes = list(map(len, values))
    if 0 in sizes:
        raise ValueError(f"{name}[{sizes.index(0)}] has no runs; leave the item out of both")
    runs = Runs(scores, np.array(sizes, dtype=np.intp))
    whole = not isinstance(scores, list) and scores.dtype.kind in "biu"
    for i, x in enumerate(() if whole else scores):
        if x is None or x != x or x in (np.inf, -np.inf):
            item, run = runs.place(i)
            raise ValueError(f"{name}[{item}][{run}] = {x} is no score; leave the run out")
    return runs
