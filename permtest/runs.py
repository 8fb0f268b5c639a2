"""Exact tests of repeated runs: the same items, each asked several times of both systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, reduce
from math import comb, lcm
from operator import neg, pos
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import check_option
from permtest._text import counted, p_value
from permtest.integers import as_integers, exact_sum, unscaled
from permtest.methods import Solution, solve
from permtest.null.distribution import Probability
from permtest.null.multinomial_sum import Draw, MultinomialSum, ways
from permtest.question import ask
from permtest.result import ALPHA, PermutationTestResult
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

#: What rises as the sum becomes more extreme.
EXTREMITY: dict[str, Callable[[int], int]] = {"greater": pos, "less": neg, "two-sided": abs}

#: What an item is worth whose n runs have this total.
Value: TypeAlias = Callable[[int, int], int]


@dataclass(frozen=True)
class RunsTestResult(PermutationTestResult):
    """What an exact test of repeated runs found. Made by `exact_runs_test`.

    A `PermutationTestResult` in which `n` counts items, `metric` is "mean", "pass@3" or the like,
    and `scores` are the means over items; an interval there is where items are swapped.

    Parameters
    ----------
    statistic : int or float
        The sum over items of the difference of what both systems score on the item.
    n_informative : int
        Number of what can change the sum at all: items, or all whole runs together.
    null : {"items", "runs", "systems"}
        What is exchangeable under the null hypothesis.
    n_runs : tuple of two int
        How many runs there are of either system, over all items.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> a = [[1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> b = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]
    >>> result = exact_runs_test(a, b)
    >>> result.statistic, result.fraction(), result.about
    (1.3333333333333333, Fraction(1, 4), 'these runs on new items')
    >>> [exact_runs_test(a, b, null=null).fraction() for null in ("runs", "systems")]
    [Fraction(22, 125), Fraction(1, 10)]
    """

    null: Null = field(kw_only=True)
    n_runs: tuple[int, int] = field(kw_only=True)
    #: None where items are swapped, of which the question knows all.
    _deal: _Deal | None = field(kw_only=True, repr=False, compare=False)

    @property
    def difference(self) -> float:
        """By how much the first system scores more, per item."""
        return float(self.statistic) / max(self.n, 1)

    @property
    def swapped(self) -> str:
        """What is counted: "items"."""
        return "items"

    @property
    def is_measured(self) -> bool:
        """Whether items have a measure of their runs, and not their mean."""
        return self.metric != "mean"

    @property
    def about(self) -> str:
        """Whom the answer is about: which items, and which runs or systems."""
        return ABOUT[self.null]

    @cached_property
    def null_distribution(self) -> Any:
        """The law of the sum under the null hypothesis; MemoryError where it would not fit."""
        if self._deal is None:
            return super().null_distribution
        return MultinomialSum.of(self._deal.draws).distribution(self._deal.scale)

    @cached_property
    def smallest_pvalue(self) -> float | None:
        """The p of the most extreme labelling: no data with these scores could have a smaller."""
        if self._deal is None:
            return super().smallest_pvalue
        sums = (sum(one.ends[i] * one.times for one in self._deal.draws) for i in (0, 1))
        most = max(sums, key=EXTREMITY[self.alternative])
        return replace(self._deal, observed=most).solve().p.value

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction; MemoryError if its integers would not fit."""
        return self._deal.fraction() if self._deal else super().fraction()

    @property
    def notes(self) -> tuple[str, ...]:
        """That p cannot be small, and whom the answer is about."""
        least, found = self.smallest_pvalue or 0.0, [f"The answer is about {self.about}."]
        if least > ALPHA and self.n_informative > 0:
            found.insert(0, f"p cannot be below {p_value(least)} here.")
        return tuple(found)

    def sentence(self) -> str:
        """What ``print(result)`` shows, without the notes."""
        whole = self.null == "systems"
        runs = " and ".join(counted(k // (self.n if whole else 1), "runs") for k in self.n_runs)
        size = f"{counted(self.n, 'items')}, {runs}" + " over all items" * whole
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        test = f"exact {sides} test of whether {NULLS[self.null]}"
        return f"{self._effect()} over {size}: p = {self.pvalue_text()} ({test})."

    def rows(self) -> list[dict[str, Any]]:
        """As of `PermutationTestResult`, and `about`."""
        return [super().rows()[0] | {"about": self.about}]


def exact_runs_test(
    a: Any,
    b: Any = None,
    *,
    null: Null = "items",
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
    items. Both other tests reject far too often if seeds differ like that. No exact test covers new
    items and new seeds together.

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
    statistic : str, default "mean"
        What an item is worth: "mean" of its runs; "pass@3", the probability that one of three runs
        drawn from them succeeds; or "pass^3", that all three do; with any number. The latter two
        need scores of 0 and 1, and are not for "systems".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        As in `exact_perm_test`; the centre is 0 under each null hypothesis.
    names : tuple of two str, optional
        What the systems are called. Default: "a" and "b", or those of the `Scores`.

    Returns
    -------
    RunsTestResult

    Raises
    ------
    TypeError, ValueError
        If scores or options are not as above.
    ArithmeticError
        If there are too many ways to deal the runs, as of scores with many digits.

    Notes
    -----
    For "runs", the sum of K_a of the K_a + K_b scores of an item is that of a draw without
    replacement; of 0 and 1 it is hypergeometric, and the test of the mean is the exact
    Cochran-Mantel-Haenszel test with the items as strata; 10 000 items take some milliseconds.
    "items" is `exact_perm_test` of the items' values; where an item has more runs of one system
    than of the other, the test is exact as far as their difference is symmetric about 0.

    "systems" adds up each run over all items and counts the ways to deal the K_a + K_b totals: p is
    at least 1 / C(K_a + K_b, K_a), and two-sided twice that if K_a = K_b. With 3 + 3 runs this is
    0.1, and with 4 + 4 it is 0.029. If run r of both systems shares a seed or the like, swap these
    pairs instead: ``exact_perm_test(a.sum(axis=0), b.sum(axis=0))``, where six reach 0.031.

    Examples
    --------
    >>> from permtest import exact_runs_test
    >>> a, b = [[1, 1], [0, 1, 1]], [[0, 1, 0], [0, 0]]
    >>> round(exact_runs_test(a, b, null="runs").pvalue, 6)
    0.1
    """
    check_option("null", null, NULLS)
    check_alternative(alternative)
    found = re.fullmatch(r"mean|(pass[@^])([1-9]\d{0,8})", str(statistic))
    if not found:
        known = "choose 'mean', or 'pass@5' or 'pass^5' with any number"
        raise ValueError(f"statistic={statistic!r} is not known; {known}")
    if null == "systems" and statistic != "mean":
        raise ValueError(
            f"{statistic} is of the runs of one item, but null='systems' exchanges whole runs; use "
            "statistic='mean', or null='items' or 'runs'"
        )
    data = _checked(a, b, names)
    data, value = _means(data) if statistic == "mean" else _passed(data, found[1], int(found[2]))
    total, (first, second) = exact_sum(data.differences()), data.runs or ()
    question = deal = None
    if null == "items":
        question = ask(data, alternative=alternative)
        (p, method, reason), informative = solve(question), question.law.n_informative
    else:
        mine, theirs = _whole(data) if null == "systems" else (first, second)
        even = bool(np.all(mine.sizes == theirs.sizes))
        deal = _Deal(_draws(mine, theirs, value), even, alternative, total, data.scale)
        p, method, reason = deal.solve()
        informative = sum(one.times for one in deal.draws if len(set(one.steps)) > 1)
    return RunsTestResult(
        statistic=unscaled(total, data.scale),
        pvalue=p.value,
        log10_pvalue=p.log10,
        alternative=alternative,
        n=len(data),
        n_informative=informative,
        method=method,
        method_reason=reason,
        error_bound=p.error_bound,
        metric=statistic,
        names=data.names,
        scores=(float(data.means[0]), float(data.means[1])),
        score=data.score,
        higher_is_better=data.higher_is_better,
        null=null,
        n_runs=(int(first.sizes.sum()), int(second.sizes.sum())),
        _question=question,
        _deal=deal,
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
            "make them with Scores.of_runs, or name the column of the runs (--run, run=)"
        )
    return a if names is None else replace(a, systems=check_names(names))


def _called(data: Scores, i: int) -> str:
    """What an item is called, by its id if it has one."""
    return f"item {i + 1}" if data.ids is None else f"item {data.ids[i]!r}"


# ---- what an item is worth -----------------------------------------------------------------------


def _means(data: Scores) -> tuple[Scores, Value]:
    """The scores as they are, and the mean of n runs times their scale."""
    assert data.runs is not None
    factor = data.scale // data.runs[0].scale
    return data, lambda total, n: total * (factor // n)


def _passed(data: Scores, measure: str, k: int) -> tuple[Scores, Value]:
    """Scores of items by pass@k or pass^k, without bias; ValueError unless runs score 0 or 1."""
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

    @cache
    def value(total: int, n: int) -> int:
        one = whole // comb(n, k)
        return whole - comb(n - total, k) * one if measure == "pass@" else comb(total, k) * one

    columns = (map(value, one.totals.tolist(), one.sizes.tolist()) for one in found)
    arrays = [as_integers([*column], "a") for column in columns]
    return replace(data, arrays=arrays, scale=whole, runs=tuple(found)), value


def _whole(data: Scores) -> list[Runs]:
    """Each run added up over all items, as runs of one item; ValueError if some are not of all."""
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
        found.append(Runs(add_up(one.scores, runs), np.array([names.size])))
    return found


# ---- runs that are dealt -------------------------------------------------------------------------


def _draws(a: Runs, b: Runs, value: Value) -> list[Draw]:
    """What the items add to the sum, if their runs are dealt."""
    kinds: Counter[tuple[tuple[int, ...], int]] = Counter()  # all runs of an item, and n of `a`
    for n_a, n_b in set(zip(a.sizes.tolist(), b.sizes.tolist(), strict=True)):
        some, sizes = np.flatnonzero((a.sizes == n_a) & (b.sizes == n_b)), ((a, n_a), (b, n_b))
        places = [(np.cumsum(one.sizes) - n)[some, None] + np.arange(n) for one, n in sizes]
        both = [one.scores[x] for one, x in zip((a, b), places, strict=True)]
        pooled = np.sort(np.concatenate(both, axis=1), axis=1)
        kinds.update((row, n_a) for row in map(tuple, pooled.tolist()))
    found = []
    for (pool, n), times in kinds.items():
        total, rest = sum(pool), len(pool) - n
        if len(set(pool)) <= 2:  # 0 and 1, as a rule: few sums
            added: Counter[int] = Counter()
            for x, number in ways(pool, n).items():
                added[value(x, n) - value(total - x, rest)] += number
            sums, weights = zip(*sorted(added.items()), strict=True)
            found.append(Draw(sums, 1, times, weights=weights))
        else:  # a mean: what is not 0 or 1 has no other value
            base, slope = -value(total, rest), value(1, n) + value(1, rest)
            found.append(Draw([slope * x for x in pool], n, times, base))
    return found


@dataclass(frozen=True)
class _Deal:
    """The sum over items whose runs are dealt anew, and what was observed."""

    draws: list[Draw]
    #: Whether both systems have as many runs of each item: what one gains the other does.
    is_symmetric: bool
    alternative: str
    observed: int
    scale: int

    def solve(self) -> Solution:
        """p, accurate relative to itself; of one item all ways to deal its runs are counted."""
        if not self._counts():
            tail = cache(MultinomialSum.tail)
            p = reduce(Probability.plus, (tail(one, t0) for one, t0 in self._tails()))
            reason = "only the tail was computed, by tilting the law of each item's runs"
            return Solution(p, "tilted", reason)
        share, every = self.fraction(), sum(self.draws[0].table().values())
        p = Probability.of_ratio(share.numerator, share.denominator)
        reason = f"each of the {every:,} ways to deal the runs was counted"
        return Solution(p, "enumeration", reason)

    def fraction(self) -> Fraction:
        """The exact p."""
        if not self._counts():
            return sum((one.tail_fraction(t0) for one, t0 in self._tails()), Fraction(0))
        table, side = self.draws[0].table(), EXTREMITY[self.alternative]
        extreme = sum(w for x, w in table.items() if side(x) >= side(self.observed))
        return Fraction(extreme, sum(table.values()))

    def _counts(self) -> bool:
        return len(self.draws) == 1 and self.draws[0].times == 1

    def _tails(self) -> list[tuple[MultinomialSum, int]]:
        """Laws and the cells from which on their upper tails are what is as extreme."""
        law, two_sided = MultinomialSum.of(self.draws), self.alternative == "two-sided"
        high = abs(self.observed) if two_sided else self.observed
        low = -high if two_sided else high
        above = -((law.offset - high) // law.unit)
        below = law.top - (low - law.offset) // law.unit
        if two_sided and above + below <= law.top + 1:
            return [(law, 0)]
        if two_sided and self.is_symmetric:
            return [(law, above)] * 2
        sides = {"greater": (law, above), "less": (law.mirrored(), below)}
        chosen = sides.values() if two_sided else [sides[self.alternative]]
        return [(one, t0) for one, t0 in chosen if t0 <= law.top]
