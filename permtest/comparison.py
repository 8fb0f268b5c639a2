"""The question a test answers: which sum was observed, of what law, and what counts as extreme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_dot, exact_sum, roomy
from permtest._progress import progress
from permtest.decimals import unscaled
from permtest.null.enumeration import can_halve, count_tail
from permtest.null.grouping import (
    TwoPointSum,
    add_counts,
    attainable,
    count_values,
    from_widths,
    group,
    group_differences,
)
from permtest.pairs import LocalEffects, Pairs, check_names, labels_of
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, check_alternative, lookup

#: What h may return; NumPy's booleans are the one kind that Python does not call real.
NUMBERS = (Real, Decimal, np.bool_)

#: Two floats that a user's h of several sums returns tie if they differ by less, or by less
#: relative to what was observed if that is above 1.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two systems and a statistic, reduced to what any test of them needs.

    Parameters
    ----------
    law : TwoPointSum
        The null law of S = sum_n g, times `scale`.
    observed : int
        The observed value of S, times `scale`.
    alternative : str
        "two-sided", "greater" or "less"; "greater" where `h` is given.
    h : callable or None
        Eq. 3's h. None: S itself, compared as `alternative` says.
    metric : str
        Name of the statistic.
    score : Score
        What is compared: its name, its unit, and whether higher is better.
    names : tuple of two str
        What the systems are called.
    effects : Pairs or LocalEffects
        What `law` was made of.
    totals : tuple of two int, or None
        Sums of both systems' scores, times `scale`, where the statistic is their difference.
    scale : int
        By what integers have to be divided to be scores.
    shift : Fraction
        What has been taken off every difference, in scores.
    strict : bool
        Whether ties with the observed value do not count; they do in every p-value.
    n_entries : int or None
        How many entries there were before they were added up by cluster.
    divisor : int
        The statistic is a sum divided by this: the number of entries if it is a mean.
    slack : int
        By how much S may differ from what it would be if no score had been rounded, relative to
        the observed sum, times `scale`.
    leeway : int
        By how many cells the thresholds of `tails` are moved outward, where ties are in doubt.
    reading : str
        What floats were taken for, where that is not the decimals that they are printed as.
    ties_doubtful : bool
        Whether scores that are equal as read may have differed before they were rounded.
    """

    law: TwoPointSum
    observed: int
    alternative: str
    h: Callable[[Any], Any] | None
    metric: str
    score: Score
    names: tuple[str, str]
    effects: Pairs | LocalEffects
    totals: tuple[int, int] | None = None
    scale: int = 1
    shift: Fraction = Fraction(0)
    strict: bool = False
    n_entries: int | None = None
    divisor: int = 1
    slack: int = 0
    leeway: int = 0
    reading: str = ""
    ties_doubtful: bool = False

    @property
    def statistic(self) -> Any:
        """t(u, v): h of the observed sum, the sum itself, or a mean."""
        if self.h is not None:
            return self._value(self.observed)
        return unscaled(self.observed, self.scale * self.divisor)

    @property
    def scores(self) -> tuple[float, float] | None:
        """Totals of both systems, or means if the statistic is one, where it is a difference."""
        if self.totals is None:
            return None
        first, second = (unscaled(total, self.scale * self.divisor) for total in self.totals)
        return first, second

    @property
    def total_scores(self) -> tuple[float, float] | None:
        """`totals` as sums of scores."""
        return self.totals and (self.in_scores(self.totals[0]), self.in_scores(self.totals[1]))

    def in_scores(self, total: int) -> float:
        """A sum of scores from the integer that stands for it: an int, or a float with decimals."""
        return unscaled(total, self.scale)

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """(lower, upper) if the extreme cells are those with t <= lower or t >= upper.

        None where `h` singles out other cells. Without `h`, two-sided means at least as far from
        the centre of the null law as what was observed; every sum of stay-or-swap effects is
        symmetric about its centre, which is 0 wherever g(v, u) = -g(u, v), so that this is the
        paper's h(x) = |x|.
        """
        if self.h is not None:
            return as_tails(np.flatnonzero(attainable(self.law)), self.extreme)
        top, t, ties = self.law.top, self.law.cell(self.observed), int(self.strict) + self.leeway
        if self.alternative == "greater":
            return -1, t + ties
        if self.alternative == "less":
            return t - ties, top + 1
        return min(t, top - t) - ties, max(t, top - t) + ties

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law count as at least as extreme as what was observed.

        `h` is called for each attainable value of S, and only for those. Raises MemoryError if
        there are too many cells.
        """
        self.law.check_size("the null distribution")
        if self.h is None:
            return self.reaches(np.arange(self.law.top + 1))
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(self.law.top + 1, dtype=bool)
        extreme[possible] = self.reaches(possible)
        return extreme

    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for any array of cells, each of them attainable."""
        if self.h is None:
            assert self.tails is not None
            lower, upper = self.tails
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        every = map(self._value_at, cells.tolist())
        values = progress(every, total=len(cells), what="h of every sum")
        reaches = reaching(self.statistic, self.strict)
        return np.fromiter(map(reaches, values), bool, len(cells))

    def without_ties(self) -> Comparison:
        """The same question about values that are more extreme than what was observed."""
        return replace(self, strict=True)

    def around(self) -> tuple[Comparison, Comparison]:
        """The same question with thresholds as far out, and as far in, as `slack` may move them."""
        far, near = -(-self.slack // self.law.unit), self.slack // self.law.unit
        return replace(self, leeway=far, slack=0), replace(self, leeway=-near, slack=0)

    def at_its_best(self) -> Comparison:
        """The same question, had the most extreme of all values been observed."""
        ends = {"greater": self.law.top, "less": 0, "two-sided": self.law.top}
        best = ends[self.alternative]
        if self.h is not None:
            best = max(np.flatnonzero(attainable(self.law)).tolist(), key=self._value_at)
        return replace(self, observed=self.law.offset + self.law.unit * best)

    def observing(self, observed: Any) -> Comparison:
        """The same question, had another sum of scores been observed.

        Raises ValueError if no labelling has that sum.
        """
        if not isinstance(observed, NUMBERS) or observed != observed:
            raise ValueError(f"observed={observed!r} is not a number; give a sum of scores")
        if observed == self.in_scores(self.observed):
            return self
        law = self.law
        far = law.offset - law.unit  # where no sum is
        value = Fraction(far, self.scale) if abs(observed) == inf else Fraction(str(observed))
        wanted = value * self.scale - law.offset
        cell = round(wanted / law.unit)
        total = law.offset + law.unit * cell
        # A float may have fewer digits than the sum that it stands for.
        same = wanted == law.unit * cell or self.in_scores(total) == observed
        if not (same and 0 <= cell <= law.top and self._can_be(cell)):
            ends = (law.offset, law.offset + law.unit * law.top, law.unit)
            low, high, step = map(self.in_scores, ends)
            raise ValueError(
                f"observed={observed!r} is a sum that no labelling has; choose one that swaps can "
                f"make, from {low} to {high} in steps of {step}"
            )
        return replace(self, observed=total, totals=None)

    def _can_be(self, cell: int) -> bool:
        """Whether some labelling has T = `cell`."""
        if can_halve(self.law):
            return count_tail(self.law, cell) > count_tail(self.law, cell + 1)
        return bool(attainable(self.law)[cell])

    @cached_property
    def differences(self) -> tuple[IntArray, NDArray[np.int64]]:
        """Distinct values of g(u_n, v_n), ascending, times `scale`, and how often each occurs.

        Raises ValueError where swapping does not turn the sign of g, so that there is nothing
        whose mean could be shifted.
        """
        if self.h is not None:
            raise ValueError("with h the test is not about a mean difference; leave h out")
        if self.n_entries is not None:
            raise ValueError(
                "with clusters the shift of a pair is not that of a unit that is swapped; test "
                "the sums, or the means, of the clusters as scores of their own"
            )
        if isinstance(self.effects, Pairs):
            found = count_values(roomy(self.effects.u) - roomy(self.effects.v))
            if (exact_dot(*found), -exact_dot(abs(found[0]), found[1])) != (
                self.observed,
                self.law.offset,
            ):
                raise ValueError("the scores were changed after the test; test them again")
            return found
        for i in np.flatnonzero(self.effects.stay != -self.effects.swap)[:1]:
            raise ValueError(
                f"g is not antisymmetric: entry {i} has g(u, v) = {self.effects.stay[i]} and "
                f"g(v, u) = {self.effects.swap[i]}, so that no mean difference can be shifted"
            )
        return count_values(self.effects.stay)

    def shifted(self, shift: Fraction) -> Comparison:
        """The test of the null that the differences are symmetric about `shift`.

        `shift` is what the first system is ahead by on every entry, in scores. All differences
        d become d - shift before their signs are exchanged.
        """
        assert self.shift == 0, "the effects that differences are taken from are not shifted"
        values, counts = self.differences
        a, b = (shift * self.scale).as_integer_ratio()
        moved = np.array([b * int(d) - a for d in values], dtype=object)
        offset = -exact_dot(np.abs(moved), counts)
        return replace(
            self,
            law=from_widths(self.law.n, *add_counts(2 * np.abs(moved), counts), offset),
            observed=exact_dot(moved, counts),
            scale=self.scale * b,
            slack=self.slack * b,
            shift=shift,
            totals=None,
        )

    def _value_at(self, cell: int) -> Any:
        return self._value(self.law.offset + self.law.unit * cell)

    def _value(self, total: int) -> Any:
        """h of one sum, which must be a number."""
        assert self.h is not None
        argument = total if self.scale == 1 else Fraction(total, self.scale)
        value = self.h(argument)
        if not isinstance(value, NUMBERS) or value != value:
            raise ValueError(
                f"h({argument}) = {value!r}, but h must return a number for every value that the "
                "sum can take"
            )
        return value


def reaching(least: Any, strict: bool, tolerance: float = 0.0) -> Callable[[Any], bool]:
    """The function that says whether a value of h is at least, or if `strict` above, `least`.

    Where `least` is a float, values that are off by `tolerance` times max(1, |least|) tie with it.
    """
    bound: Any = least
    if isinstance(least, float | np.floating) and abs(float(least)) < inf:
        slack = tolerance * max(1.0, abs(float(least)))
        bound = float(least) + (slack if strict else -slack)
    if strict:
        return lambda value: bool(value > bound)
    return lambda value: bool(value >= bound)


def as_tails(possible: NDArray[np.int64], extreme: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The thresholds beyond which all attainable cells are extreme, if no others are."""
    flags = extreme[possible]
    if flags.all():
        return int(possible[-1]), int(possible[-1]) + 1
    inner = np.flatnonzero(~flags)
    first, last = inner[0], inner[-1]
    if flags[first : last + 1].any():
        return None
    return int(possible[first]) - 1, int(possible[last]) + 1


def compare(
    u: Any,
    v: Any,
    g: Callable[[Any, Any], Any] | None,
    h: Callable[[Any], Any] | None,
    *,
    statistic: str | Statistic | CountStatistic,
    alternative: str,
    names: tuple[str, str] | None,
    clusters: Any = None,
    rounding: float | None = None,
) -> Comparison:
    """Validate the arguments that all tests share, and reduce them to a `Comparison`.

    Parameters
    ----------
    u, v, g, h, statistic, alternative, names, clusters, rounding
        As in `exact_perm_test`.

    Returns
    -------
    Comparison
    """
    check_question(h, alternative)
    entry = lookup(statistic)
    if g is not None and entry.name != "sum":
        raise ValueError(f"statistic={entry.name!r} and g cannot be combined: a statistic is a g")
    clusters = labels_of(u, clusters)
    if g is None:
        assert isinstance(entry, Statistic), "measures of counts are compared elsewhere"
        pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
        if rounding is not None:
            pairs = pairs.rounded_by(rounding)
        found = _of_differences(pairs, entry, clusters)
    else:
        if rounding is not None:
            raise ValueError("rounding and g cannot be combined: what g returns is exact")
        u, v = (u.u, u.v) if isinstance(u, Pairs) and v is None else (u, v)
        effects = LocalEffects.of(u, v, g)
        found = _of_effects(effects, function_name(g, "g"), clusters)
    if h is not None and found.slack:
        raise ValueError(
            "with h scores have to be exact, but these are floating-point numbers whose rounding "
            "can decide ties; round them to some decimals, or pass rounding=0 if they are exact"
        )
    return replace(
        found,
        ties_doubtful=bool(rounding),
        alternative="greater" if h is not None else alternative,
        h=h,
        metric=found.metric if h is None else f"{function_name(h, 'h')}({found.metric})",
        names=check_names(names or found.names),
    )


def check_question(h: Callable[..., Any] | None, alternative: str) -> None:
    """Raise ValueError unless `alternative` is known, and left alone where there is an h."""
    check_alternative(alternative)
    if h is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} and h cannot be combined: with h the test asks how often "
            "h(S) is at least as large as observed; put the direction into h"
        )


def _of_differences(pairs: Pairs, entry: Statistic, clusters: Any) -> Comparison:
    if pairs.columns:
        raise ValueError(
            f"statistic={entry.name!r} takes one score for each entry, but there are "
            f"{len(pairs.columns)} columns ({', '.join(pairs.columns)}); see STATISTICS"
        )
    law, tally = group_differences(pairs.u, pairs.v)
    entry.check(pairs, tally.low)
    score = entry.score(pairs.score, pairs.scale, tally.low, pairs.u, pairs.v)
    n_entries = None if clusters is None else len(pairs)
    if clusters is not None:
        pairs = pairs.folded(clusters)
        law, tally = group_differences(pairs.u, pairs.v)
    return Comparison(
        law=law,
        observed=tally.total_u - tally.total_v,
        alternative="two-sided",
        h=None,
        metric=entry.name,
        score=score,
        names=pairs.names,
        effects=pairs,
        totals=(tally.total_u, tally.total_v),
        scale=pairs.scale,
        slack=pairs.slack,
        reading=pairs.reading,
        n_entries=n_entries,
        divisor=max(n_entries or len(pairs), 1) if entry.name == "mean" else 1,
    )


def _of_effects(effects: LocalEffects, metric: str, clusters: Any) -> Comparison:
    n_entries = None if clusters is None else len(effects.stay)
    if clusters is not None:
        effects = effects.folded(clusters)
    offset = exact_sum(np.minimum(effects.stay, effects.swap))
    return Comparison(
        law=group(effects.stay, effects.swap, offset),
        observed=exact_sum(effects.stay),
        alternative="two-sided",
        h=None,
        metric=metric,
        score=Score(),
        names=("u", "v"),
        effects=effects,
        n_entries=n_entries,
    )


def function_name(function: Callable[..., Any], default: str) -> str:
    """What a function is called, also that of a `functools.partial`; `default` if nothing."""
    name = getattr(getattr(function, "func", function), "__name__", "<lambda>")
    return default if name == "<lambda>" else str(name)
