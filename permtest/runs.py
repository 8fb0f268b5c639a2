"""Exact tests of repeated runs: the same items, each asked several times of both systems.

What may be exchanged decides whom the answer is about: runs within items, items with all their
runs, or whole runs, each over all items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from math import comb, lcm, log, sqrt
from operator import neg, pos
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import TooHard, check_above_zero, check_count, check_level, check_option
from permtest._text import Shown, counted, interval, number, p_value, plain
from permtest.exact import exact_perm_test
from permtest.integers import as_integers, exact_sum, unscaled
from permtest.methods import interval_of_p
from permtest.null.distribution import EPS, UNDERFLOW, LatticeDistribution, Probability
from permtest.null.many_point import ManyPointSum
from permtest.result import ALPHA
from permtest.scores import Runs, Scores, add_up, check_names
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

#: How many numbers of runs a plan chooses from; and additions that the table of one item, or of
#: whole runs, may take to be made.
PLANS, MOST_WAYS = 5_000, 10**7

#: What rises as the sum becomes more extreme.
EXTREMITY: dict[str, Callable[[int], int]] = {"greater": pos, "less": neg, "two-sided": abs}

#: What an item is worth whose n runs have this total; and what dealing the runs of an item may make
#: of the sum, in how many ways each, and how many items are like that.
Value: TypeAlias = Callable[[int, int], int]
Table: TypeAlias = tuple[list[int], list[int], int]


# ---- results -------------------------------------------------------------------------------------


class NoiseSplit(NamedTuple):
    """The variance over items of the systems' difference: what items and what runs add to it.

    Made by `RunsTestResult.noise`. `total` is `data`, that of items, on which systems differ by
    more or less, and `prediction`, that of runs, which differ on the same item; both are without
    bias, so that `data` may be negative where it is small. The intervals are normal approximations
    over items, at `confidence_level`.
    """

    total: float
    data: float
    prediction: float
    data_interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    confidence_level: float

    def __str__(self) -> str:
        data, runs = interval(*self.data_interval), interval(*self.prediction_interval)
        return (
            f"The variance of an item's difference is {number(self.total, 4)}. Runs alone would "
            f"give {number(self.prediction, 4)} ({100 * self.confidence_level:g}% interval {runs}),"
            f" which leaves {number(self.data, 4)} for items ({data})."
        )


class RunsPlan(NamedTuple):
    """How many items and runs another study should have. Made by `RunsTestResult.plan`.

    `runs` are those of each item by each of the two systems; `standard_error` is that of the mean
    difference, at most about; `cost` is in runs.
    """

    items: int
    runs: int
    standard_error: float
    cost: float


@dataclass(frozen=True)
class RunsTestResult(Shown):
    """What an exact test of repeated runs found. Made by `exact_runs_test`.

    Parameters
    ----------
    statistic : int or float
        The sum over items of the difference of what both systems score on the item: of their mean
        runs, or of their pass@k or pass^k.
    pvalue, log10_pvalue, alternative, names, method, method_reason, error_bound
        As in `PermutationTestResult`; the method is "tilted" for "runs", and "enumeration" for
        "systems".
    null : {"items", "runs", "systems"}
        What is exchangeable under the null hypothesis.
    n, n_informative : int
        Number of items, and of what can change the sum at all: items, or pairs of whole runs, or
        all of these together.
    n_runs : tuple of two int
        How many runs there are of either system, over all items.
    smallest_pvalue : float
        The p of the most extreme labelling: no data with these scores could have a smaller one.
    metric : str
        "mean", "pass@3", "pass^3" and so on.
    scores : tuple of two float
        The means over items of what both systems score.
    paired_runs : bool
        Whether run r of the first system and run r of the second change places as a pair.

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

    statistic: int | float
    pvalue: float
    log10_pvalue: float
    null: Null
    alternative: Alternative
    n: int
    n_informative: int
    n_runs: tuple[int, int]
    method: str
    method_reason: str
    error_bound: float | None
    smallest_pvalue: float
    metric: str
    names: tuple[str, str]
    scores: tuple[float, float]
    paired_runs: bool = False
    #: The runs, the exact p, and the law of the sum.
    _runs: Scores = field(kw_only=True, repr=False, compare=False)
    _exact: Callable[[], Fraction] = field(kw_only=True, repr=False, compare=False)
    _law: Callable[[], LatticeDistribution] = field(kw_only=True, repr=False, compare=False)

    @property
    def difference(self) -> float:
        """By how much the first system scores more, per item."""
        return float(self.statistic) / max(self.n, 1)

    @property
    def higher(self) -> str | None:
        """The name of the system that scores higher; None on a tie."""
        return self.names[self.statistic < 0] if self.statistic else None

    @property
    def about(self) -> str:
        """Whom the answer is about: which items, and which runs or systems."""
        return ABOUT[self.null]

    def under(self, null: Null, *, paired_runs: bool = False) -> RunsTestResult:
        """The same comparison under another null hypothesis: arguments as in `exact_runs_test`."""
        how: dict[str, Any] = {"statistic": self.metric, "alternative": self.alternative}
        return exact_runs_test(self._runs, null=null, paired_runs=paired_runs, **how)

    @cached_property
    def null_distribution(self) -> LatticeDistribution:
        """The law of the sum under the null hypothesis; MemoryError where it would not fit."""
        return self._law()

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction; MemoryError if its integers would not fit."""
        return self._exact()

    def pvalue_interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """An interval for the exact p: by `error_bound`, or of Clopper and Pearson for samples."""
        return interval_of_p(self, confidence_level)

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

        Examples
        --------
        >>> from permtest import exact_runs_test
        >>> split = exact_runs_test([[1, 1], [0, 1], [1, 0]], [[0, 0], [0, 1], [0, 0]]).noise()
        >>> round(split.total, 4), round(split.data, 4), round(split.prediction, 4)
        (0.25, 0.0, 0.25)
        """
        level = check_level(confidence_level, "confidence_level")
        within = self._noise_of_runs()
        # Of whole numbers, so that what does not vary has the variance 0.
        gaps = self._runs.differences().astype(object)
        centred = (self.n * gaps - gaps.sum()) / (self.n * self._runs.scale)
        squares = centred.astype(np.float64) ** 2
        data = squares * self.n / (self.n - 1) - within
        data[np.abs(data) <= 1e-12 * within] = 0.0  # which is what roundings leave
        total, prediction = float(squares.sum() / (self.n - 1)), float(within.mean())
        left = total - prediction if abs(total - prediction) > 1e-12 * total else 0.0
        z = NormalDist().inv_cdf((1 + level) / 2) / sqrt(self.n)
        ends = (x.mean() + np.array([-1, 1]) * z * x.std(ddof=1) for x in (data, within))
        first, second = ((float(low), float(high)) for low, high in np.maximum([*ends], 0.0))
        return NoiseSplit(total, left, prediction, first, second, level)

    def _noise_of_runs(self) -> NDArray[np.float64]:
        """The variance of each item's difference that is due to runs."""
        if self.metric != "mean" or self.n < 2:
            raise ValueError(
                f"the variance is split for the mean of runs of two items or more, not for "
                f"{self.metric} of {self.n}"
            )
        noise = np.zeros(self.n)
        for one, name in zip(self._runs.runs or (), self.names, strict=True):
            for i in np.flatnonzero(one.sizes < 2)[:1].tolist():
                raise ValueError(
                    f"{_called(self._runs, i)} has only one run of {name}, so we cannot tell how "
                    "runs differ; supply two or more runs of each item"
                )
            scores, k = one.scores.astype(object), one.sizes.astype(object)
            squares = k * one.sums(scores * scores) - one.sums(scores) ** 2
            noise += (squares / (k * k * (k - 1) * one.scale**2)).astype(np.float64)
        return noise

    def plan(
        self, budget: float, *, item_cost: float = 0.0, most_items: int | None = None
    ) -> RunsPlan:
        """How many items, and runs of each by each system, make the difference most certain.

        Parameters
        ----------
        budget : float
            What another study may cost, in runs.
        item_cost : float
            What an item costs once, such as its annotation, in runs.
        most_items : int, optional
            How many items there are at most.

        Returns
        -------
        RunsPlan

        Raises
        ------
        ValueError
            As for `noise`, or where the budget is too small for an item.

        Notes
        -----
        The variance of the mean difference over N items with K runs each is
        ``(data + runs / K) / N``. The part of the runs is as it is here, that of the items the
        upper end of its interval, so that few items are not advised because they happen to look
        alike. Where items cost nothing and are without end, one run of each is best; runs pay
        where items are dear, or few.

        Examples
        --------
        >>> from permtest import exact_runs_test
        >>> found = exact_runs_test([[1, 1], [0, 1], [1, 0]], [[0, 0], [0, 1], [0, 0]])
        >>> plan = found.plan(100, item_cost=8)
        >>> plan.items, plan.runs
        (7, 3)
        """
        money, once = check_above_zero(budget, "budget"), float(item_cost)
        most = money if most_items is None else check_count(most_items, "most_items")
        if not 0 <= once <= money - 2:
            raise ValueError(
                f"item_cost={item_cost} must be 0 or more, and budget={budget} enough for an item "
                f"with a run of each system, which costs {once + 2:g}"
            )
        within, (a, b) = self._noise_of_runs(), self._runs.runs or ()
        # Of one run of each system; with unequal numbers, the mean over items of the sum of both.
        per_run = float(np.mean(within * 2 / (1 / a.sizes + 1 / b.sizes)))
        runs = np.unique(np.geomspace(1, (money - once) / 2, PLANS).astype(np.int64))
        items = np.minimum(money // (once + 2 * runs), most)
        errors = np.sqrt((self.noise().data_interval[1] + per_run / runs) / items)
        best = int(np.argmax(errors <= errors.min() * (1 + 1e-12)))  # with the fewest runs
        size, k = int(items[best]), int(runs[best])
        return RunsPlan(size, k, float(errors[best]), size * (once + 2 * k))

    def __str__(self) -> str:
        (a, b), gap, mean = self.names, number(abs(self.difference), 4), self.metric == "mean"
        more, way = ("more", "higher") if self.statistic > 0 else ("less", "lower")
        found = f"{self.metric} of {a} is {gap} {way} than that of {b}"
        found = f"{a} scores {gap} {more} than {b} on average" if mean else found
        if not self.statistic:
            found = f"{a} and {b} score the same {'on average' if mean else self.metric}"
        x, y = (number(score, 4) for score in self.scores)
        each = self.n if self.null == "systems" else 1
        runs = " and ".join(counted(size // each, "runs") for size in self.n_runs)
        size = f"{counted(self.n, 'items')}, {runs}" + " over all items" * (self.null == "systems")
        p = p_value(self.pvalue, self.log10_pvalue)
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        what = NULLS[self.null] + ", within each pair" * self.paired_runs
        least = f"p cannot be below {p_value(self.smallest_pvalue)} here. "
        least *= self.smallest_pvalue > ALPHA and self.n_informative > 0
        return (
            f"{found} ({x} against {y}) over {size}: p = {p} (exact {sides} test of whether "
            f"{what}). {least}The answer is about {self.about}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """All fields, `about`, the `difference` and more properties, as plain values: one row."""
        more = {name: getattr(self, name) for name in ("about", "difference", "higher")}
        return [super().rows()[0] | more | {"pvalue_interval": plain(self.pvalue_interval())}]


# ---- the test ------------------------------------------------------------------------------------


def exact_runs_test(
    a: Any,
    b: Any = None,
    *,
    null: Null = "items",
    paired_runs: bool = False,
    statistic: str = "mean",
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
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
        different numbers of runs. Or `a` is `Scores` with runs, as `Scores.of_runs` and `read` make
        them, and `b` is left out.
    null : {"items", "runs", "systems"}, default "items"
        What is exchangeable. For "systems" all items must have the same runs: column r of the table
        is run r, on each item, or the labels of runs tell.
    paired_runs : bool, default False
        For "systems": run r of `a` and run r of `b` share a seed or the like, and change places as
        a pair. Otherwise all runs are dealt anew, also between unequal numbers of them.
    statistic : str, default "mean"
        What an item is worth: "mean" of its runs; "pass@3", the probability that one of three runs
        drawn from them succeeds; or "pass^3", that all three do; with any number. The latter two
        need scores of 0 and 1, and are not for "systems".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `a` scores higher. "two-sided": the sum of the differences is at least as far
        from 0, its expectation under each null hypothesis.
    names : tuple of two str, optional
        What the systems are called. Default: "a" and "b", or those of the `Scores`.

    Returns
    -------
    RunsTestResult

    Raises
    ------
    TypeError, ValueError
        If scores are no numbers, items or runs are missing, an option is unknown, or, for
        "systems", some items have other runs than others.
    ArithmeticError
        If there are too many ways to deal the runs, as of scores with many digits.

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
    reach 0.031.

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
    found = re.fullmatch(r"mean|(pass[@^])([1-9]\d{0,8})", str(statistic))
    if not found:
        raise ValueError(
            f"statistic={statistic!r} is not known; choose 'mean', or 'pass@5' or 'pass^5' with "
            "any number"
        )
    if null != "systems" and paired_runs:
        raise ValueError(f"paired_runs=True is for null='systems', not for null={null!r}")
    if null == "systems" and statistic != "mean":
        raise ValueError(
            f"{statistic} is of the runs of one item, but null='systems' exchanges whole runs; use "
            "statistic='mean', or null='items' or 'runs'"
        )
    given = data = _checked(a, b, names)
    value: Value = partial(_mean, data)
    if statistic != "mean":
        data, value = _passed(data, found[1], int(found[2]))
    observed = exact_sum(data.differences())
    first, second = data.runs or ()
    if null == "items" or paired_runs:
        facts = _swapped(data if null == "items" else _paired(data), alternative)
    else:
        runs = _whole(data) if null == "systems" else (first, second)
        facts = _dealt(runs, value, observed, alternative, data.scale)
    return RunsTestResult(
        statistic=unscaled(observed, data.scale),
        null=null,
        alternative=alternative,
        n=len(data),
        n_runs=(int(first.sizes.sum()), int(second.sizes.sum())),
        metric=statistic,
        names=data.names,
        scores=(float(data.means[0]), float(data.means[1])),
        paired_runs=paired_runs,
        _runs=given,
        **facts,
    )


def _checked(a: Any, b: Any, names: tuple[str, str] | None) -> Scores:
    """The runs of two systems as `Scores`."""
    if isinstance(a, Scores) != (b is None):
        raise TypeError("pass the runs of both systems, a and b, or Scores alone, which hold both")
    if not isinstance(a, Scores):
        first, second = check_names(names or ("a", "b"))
        return Scores.of_runs({first: a, second: b})
    if a.runs is None or a.clusters is not None or len(a.systems) != 2:
        raise ValueError(
            "exact_runs_test needs scores of two systems with their runs, and without clusters; "
            "make them with Scores.of_runs, or name the column that tells runs of an item apart "
            "(--run, run=)"
        )
    return a if names is None else replace(a, systems=check_names(names))


def _called(data: Scores, i: int) -> str:
    """What an item is called, by its id if it has one."""
    return f"item {i + 1}" if data.ids is None else f"item {data.ids[i]!r}"


# ---- what an item is worth -----------------------------------------------------------------------


def _mean(data: Scores, total: int, n: int) -> int:
    """The mean of n runs with this total, times the scale of the scores."""
    assert data.runs is not None
    return total * (data.scale // (n * data.runs[0].scale))


def _pass(measure: str, k: int, whole: int, total: int, n: int) -> int:
    """pass@k or pass^k of n runs of which some succeed, without bias, times `whole`."""
    one = whole // comb(n, k)
    return whole - comb(n - total, k) * one if measure == "pass@" else comb(total, k) * one


def _passed(data: Scores, measure: str, k: int) -> tuple[Scores, Value]:
    """Scores of items by pass@k or pass^k, of runs that score 0 and 1; ValueError for others."""
    found = []
    for one, name in zip(data.runs or (), data.names, strict=True):
        if ((one.scores != 0) & (one.scores != one.scale)).any():
            raise ValueError(
                f"{measure}{k} needs scores of 0 and 1, but some runs of {name} score otherwise; "
                "use statistic='mean'"
            )
        for i in np.flatnonzero(one.sizes < k)[:1].tolist():
            raise ValueError(
                f"{_called(data, i)} has {counted(one.sizes[i], 'runs')} of {name}, fewer than the "
                f"k = {k} that {measure}k draws; choose a smaller k"
            )
        found.append(one._replace(scores=one.scores // one.scale, scale=1))
    whole = lcm(*{comb(n, k) for one in found for n in one.sizes.tolist()})
    value = partial(_pass, measure, k, whole)
    arrays = []
    for one in found:
        kinds, which = np.unique(np.stack([one.totals, one.sizes]), axis=1, return_inverse=True)
        arrays.append(as_integers([value(*kind) for kind in kinds.T.tolist()], "a")[which.ravel()])
    return replace(data, arrays=arrays, scale=whole, runs=tuple(found)), value


# ---- items, with all their runs ------------------------------------------------------------------


def _swapped(data: Scores, alternative: Alternative) -> dict[str, Any]:
    """What is found where both systems' scores of a pair change places."""
    result = exact_perm_test(data, alternative=alternative)
    names = ("pvalue", "log10_pvalue", "n_informative", "method", "method_reason", "error_bound")
    found = {name: getattr(result, name) for name in (*names, "smallest_pvalue")}
    found["_law"] = partial(getattr, result, "null_distribution")
    return found | {"_exact": result.fraction}


# ---- runs that are dealt -------------------------------------------------------------------------


def _dealt(
    runs: Sequence[Runs], value: Value, observed: int, alternative: str, scale: int
) -> dict[str, Any]:
    """What is found where the runs of each item are dealt anew."""
    tables = _tables(_kinds(*runs), value)
    ends = (sum(end(values) * n for values, _, n in tables) for end in (min, max))
    least = _probability(tables, alternative, max(ends, key=EXTREMITY[alternative]))
    p, method = _probability(tables, alternative, observed), "tilted"
    reason = "only the tail was computed, by tilting the law of each item's runs"
    if _is_one(tables):
        method = "enumeration"
        reason = f"each of the {sum(tables[0][1]):,} ways to deal the runs was counted"
    return {
        "pvalue": p.value,
        "log10_pvalue": p.log10,
        "error_bound": p.error_bound,
        "method": method,
        "method_reason": reason,
        "n_informative": sum(n for values, _, n in tables if len(values) > 1),
        "smallest_pvalue": least.value,
        "_exact": partial(_fraction, tables, alternative, observed),
        "_law": partial(_distribution, tables, scale),
    }


def _tables(items: Counter[Any], value: Value) -> list[Table]:
    """What the items add to the sum, if their runs are dealt, and in how many ways."""
    tables: Counter[tuple[tuple[int, int], ...]] = Counter()
    for (pooled, n_a, n_b), times in items.items():
        added: Counter[int] = Counter()
        total = sum(score * often for score, often in pooled)
        for x, ways in _ways(pooled, n_a).items():
            added[value(x, n_a) - value(total - x, n_b)] += ways
        tables[tuple(sorted(added.items()))] += times
    return [([x for x, _ in t], [w for _, w in t], n) for t, n in tables.items()]


def _is_one(tables: list[Table]) -> bool:
    """Whether there is one item, all of whose ways were counted."""
    return len(tables) == 1 and tables[0][2] == 1


def _kinds(a: Runs, b: Runs) -> Counter[tuple[tuple[tuple[int, int], ...], int, int]]:
    """How many items have each score as often in all their runs, and as many runs of either."""
    found: Counter[Any] = Counter()
    if not any((one.scores >> 1).any() for one in (a, b)):  # all are 0 or 1
        ones = a.totals + b.totals, a.sizes, b.sizes
        for (m, n_a, n_b), times in Counter(zip(*(x.tolist() for x in ones), strict=True)).items():
            found[((0, n_a + n_b - m), (1, m)), n_a, n_b] = times
        return found
    rows = (np.split(one.scores, np.cumsum(one.sizes)[:-1]) for one in (a, b))
    for x, y in zip(*rows, strict=True):
        pooled = Counter(sorted([*x.tolist(), *y.tolist()]))
        found[tuple(pooled.items()), x.size, y.size] += 1
    return found


def _ways(pooled: tuple[tuple[int, int], ...], n: int) -> dict[int, int]:
    """In how many ways n of some runs have each sum; `pooled` has scores and how often each is."""
    left, work = sum(times for _, times in pooled), 0
    chosen = Counter({(0, 0): 1})  # how many runs of the scores so far, and their sum
    for value, times in pooled:
        left -= times
        more: Counter[tuple[int, int]] = Counter()
        for (size, total), ways in chosen.items():
            some = range(max(0, n - size - left), min(times, n - size) + 1)
            work += len(some)
            if work > MOST_WAYS:
                raise TooHard(
                    "there are too many ways to deal the runs; round scores to fewer digits, or "
                    "test null='items'"
                )
            for taken in some:
                more[size + taken, total + taken * value] += ways * comb(times, taken)
        chosen = more
    return {total: ways for (_, total), ways in chosen.items()}


def _tails(tables: list[Table], alternative: str, observed: int) -> list[tuple[ManyPointSum, int]]:
    """Laws and the cells from which on their upper tails are what is as extreme."""
    law, two_sided = ManyPointSum.of(tables), alternative == "two-sided"
    high = abs(observed) if two_sided else observed
    low = -high if two_sided else high
    above = -((law.offset - high) // law.unit)
    below = law.top - (low - law.offset) // law.unit
    if two_sided and above + below <= law.top + 1:
        return [(law, 0)]
    sides = {"less": (law, above), "greater": (law.mirrored(), below)}
    return [tail for side, tail in sides.items() if side != alternative and tail[1] <= law.top]


def _probability(tables: list[Table], alternative: str, observed: int) -> Probability:
    if not _is_one(tables):
        tails = _tails(tables, alternative, observed)
        return reduce(Probability.plus, (one.tail(t0) for one, t0 in tails))
    share = _fraction(tables, alternative, observed)
    if share < UNDERFLOW:
        return Probability.of_log(log(share.numerator) - log(share.denominator), 0.0)
    return Probability.of(float(share), EPS / 2)


def _fraction(tables: list[Table], alternative: str, observed: int) -> Fraction:
    if not _is_one(tables):
        tails = _tails(tables, alternative, observed)
        return sum((one.tail_fraction(t0) for one, t0 in tails), Fraction(0))
    (values, ways, _), side = tables[0], EXTREMITY[alternative]
    extreme = (w for x, w in zip(values, ways, strict=True) if side(x) >= side(observed))
    return Fraction(sum(extreme), sum(ways))


def _distribution(tables: list[Table], scale: int) -> LatticeDistribution:
    return ManyPointSum.of(tables).distribution(scale)


# ---- whole runs ----------------------------------------------------------------------------------


def _whole(data: Scores) -> list[Runs]:
    """Each run added up over all items: the runs of one item."""
    totals = (as_integers([*one.values()], "runs") for one in _run_totals(data))
    return [Runs(x, np.array([x.size])) for x in totals]


def _run_totals(data: Scores) -> list[dict[Any, int]]:
    """The total over all items of each run of each system; ValueError where some are not of all."""
    if not len(data):
        raise ValueError("null='systems' exchanges whole runs, and there are no items")
    found = []
    for one, name in zip(data.runs or (), data.names, strict=True):
        names: NDArray[Any] = np.arange(1, one.sizes.max() + 1)
        runs = np.arange(one.scores.size) - np.repeat(np.cumsum(one.sizes) - one.sizes, one.sizes)
        if one.labels is not None:
            names, runs = np.unique(one.labels, return_inverse=True)
        cells = np.repeat(np.arange(len(data)), one.sizes) * names.size + runs
        often = np.bincount(cells, minlength=len(data) * names.size).reshape(-1, names.size)
        for i, j in np.argwhere(often != 1)[:1].tolist():
            raise ValueError(
                f"null='systems' exchanges whole runs, but {_called(data, i)} has {often[i, j]} "
                f"runs {str(names[j])!r} of {name}, not one; name the column that tells runs apart "
                "(--run, run=), keep the items and the runs that are complete, or test "
                "null='items' or 'runs'"
            )
        totals = add_up(one.scores, runs)
        found.append(dict(zip(names.tolist(), totals.tolist(), strict=True)))
    return found


def _paired(data: Scores) -> Scores:
    """The totals of runs that come in pairs, a pair for each run; ValueError if they do not."""
    (a, b), runs = _run_totals(data), data.runs or ()
    for alone in sorted(a.keys() ^ b.keys(), key=str)[:1]:
        name = data.names[alone in a]
        raise ValueError(
            f"paired_runs=True pairs runs of one name, but {name} has no run "
            f"{str(alone)!r}; leave it out, and all runs are dealt"
        )
    u, v = (as_integers([*totals.values()], "runs") for totals in (a, b))
    return Scores([u, v], data.systems, scale=runs[0].scale * len(a))
