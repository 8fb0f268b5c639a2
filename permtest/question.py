"""From two systems and a statistic to a question: what was observed, of what law, what is extreme?

Every statistic is a function t of sums X = sum_n g(u_n, v_n), of one g (Eq. 3) or of several
(Eq. 12). Under the null hypothesis each entry adds g(u_n, v_n) or g(v_n, u_n), with probability 1/2
each, so that X has the law of a sum of two-point variables, on a lattice that is laid out as a line
of cells. The p-value is the probability of the extreme cells: those whose t is at least as extreme
as what was observed (Eq. 2). `ask` and `ask_of_sums` make the question, and `solve` answers it.

The four kinds of question differ in t: a difference of sums, a difference of a measure of several
sums, a user's function of several sums, and a function of predictions, which can only be sampled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Real
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import IntArray, exact_dot, exact_sum
from permtest._parallel import progress
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
from permtest.null.lattice import LatticeSum
from permtest.null.plane import Staircase
from permtest.pairs import Pairs, add_up, check_names, cluster_numbers, labels_of, local_effects
from permtest.score import Score
from permtest.statistics import (
    DIGITS,
    Exact,
    MeanOfRatios,
    Measure,
    Statistic,
    check_alternative,
    lookup,
    subtract,
)

#: What h may return; NumPy's booleans are the one kind that Python does not call real.
NUMBERS = (Real, Decimal, np.bool_)

#: Two floats that a user's h returns tie if they differ by no more, relative to their size.
TIE = 1e-12
#: Values of a measure that differ by less, relative to the largest, are compared exactly.
NEAR = 1e-12
#: Points whose sums are held at a time.
AT_ONCE = 2**15


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(ABC):
    """Two systems and a statistic, reduced to what any test of them needs."""

    #: The null law of the sums, laid out on a line of cells.
    law: TwoPointSum
    #: "two-sided", "greater" or "less"; "greater" where `h` is given.
    alternative: str = "two-sided"
    #: Name of the statistic.
    metric: str
    #: What the systems are called.
    names: tuple[str, str] = ("u", "v")
    #: A user's function of the sums, whose value is compared; None where the difference of two
    #: systems is, as `alternative` says.
    h: Callable[..., Any] | None = None
    #: How many entries there were before they were added up by cluster.
    n_entries: int | None = None
    #: What floats were taken for, where that is not the decimals that they are printed as.
    reading: str = ""
    #: By how much the distance of any sum from the observed one may be off, because scores were
    #: rounded, times `scale`; 0 of several sums.
    slack: int = 0
    #: By how many cells the thresholds of `tails` are moved outward, where ties are in doubt.
    leeway: int = 0
    #: Whether scores that are equal as read may have differed before they were rounded.
    ties_doubtful: bool = False

    @property
    @abstractmethod
    def statistic(self) -> Any:
        """t(u, v)."""

    @property
    @abstractmethod
    def score(self) -> Score:
        """What is compared: its name, its unit, and whether higher is better."""

    @property
    def title(self) -> str:
        """What sentences call the statistic."""
        return self.metric

    @property
    def rank(self) -> int:
        """How many sums vary independently of each other."""
        return 1

    @property
    def scores(self) -> tuple[float, float] | None:
        """What both systems score, where `statistic` is the difference."""
        return None

    @property
    def total_scores(self) -> tuple[float, float] | None:
        """Sums of both systems' scores, where the statistic is their difference."""
        return None

    @property
    def staircase(self) -> Staircase | None:
        """The extreme points of a ratio of two sums."""
        return None

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """(lower, upper) if the extreme cells are those up to `lower` and those from `upper` on.

        None where other cells are extreme, or the sums do not lie on one line.
        """
        possible = np.flatnonzero(attainable(self.law))
        flags = self.extreme[possible]
        if flags.all():
            return self.law.top, self.law.top + 1
        inner = np.flatnonzero(~flags)
        first, last = inner[0], inner[-1]
        if flags[first:last].any():
            return None
        return int(possible[first]) - 1, int(possible[last]) + 1

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law are extreme; t is computed for those alone that are attainable.

        Raises MemoryError if there are too many cells.
        """
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(self.law.top + 1, dtype=bool)
        extreme[possible] = self.reaches(possible)
        return extreme

    @abstractmethod
    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether t is extreme, for any array of cells, each of them attainable."""

    def around(self) -> tuple[Question, Question]:
        """The same question with thresholds as far out, and as far in, as `slack` may move them."""
        far, near = -(-self.slack // self.law.unit), self.slack // self.law.unit
        return replace(self, leeway=far, slack=0), replace(self, leeway=-near, slack=0)


# ---- one sum -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SumQuestion(Question):
    """t is a sum, or h of it."""

    #: The observed value of the sum, times `scale`.
    observed: int
    #: The scores, each entry by itself, and the statistic; None where a user's g takes entries.
    pairs: Pairs | None = None
    entry: Statistic
    #: The values of g, if entries stay and if they are swapped.
    effects: tuple[IntArray, IntArray] | None = None
    #: Sums of both systems' scores, times `scale`, where the statistic is their difference.
    totals: tuple[int, int] | None = None
    #: By what integers have to be divided to be scores.
    scale: int = 1
    #: The statistic is a sum divided by this: the number of entries if it is a mean.
    divisor: int = 1
    #: The direction, where the user states it.
    higher_is_better: bool | None = None
    #: What has been taken off every difference, in scores.
    shift: Fraction = Fraction(0)

    @property
    def statistic(self) -> Any:
        """t(u, v): h of the observed sum, the sum itself, or a mean."""
        if self.h is not None:
            return self._value(self.observed)
        return unscaled(self.observed, self.scale * self.divisor)

    @cached_property
    def score(self) -> Score:
        """What is compared: its name, its unit, and whether higher is better."""
        if self.pairs is None:
            return Score()
        pairs, columns = self.pairs, (self.pairs.u, self.pairs.v)
        found = self.entry.score(pairs.score, pairs.scale, pairs.low, *columns)
        return found.stated(self.higher_is_better)

    @property
    def scores(self) -> tuple[float, float] | None:
        """Totals of both systems, or means if the statistic is one, where it is a difference."""
        if self.totals is None:
            return None
        scale = self.scale * self.divisor
        return unscaled(self.totals[0], scale), unscaled(self.totals[1], scale)

    @property
    def total_scores(self) -> tuple[float, float] | None:
        """`totals` as sums of scores."""
        if self.totals is None:
            return None
        return unscaled(self.totals[0], self.scale), unscaled(self.totals[1], self.scale)

    def in_scores(self, total: int) -> float:
        """A sum of scores from the integer that stands for it: an int, or a float with decimals."""
        return unscaled(total, self.scale)

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """As in `Question`. Without `h` no cell has to be looked at.

        Two-sided means at least as far from the centre of the null law as what was observed; every
        sum of stay-or-swap effects is symmetric about its centre, which is 0 wherever g(v, u) =
        -g(u, v), so that this is the paper's h(x) = |x|.
        """
        if self.h is not None:
            return super().tails
        top, t, out = self.law.top, self.law.cell(self.observed), self.leeway
        if self.alternative == "greater":
            return -1, t + out
        if self.alternative == "less":
            return t - out, top + 1
        return min(t, top - t) - out, max(t, top - t) + out

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """As in `Question`; without `h` cells that cannot be attained are told apart too."""
        if self.h is not None:
            return super().extreme
        self.law.check_size("the null distribution")
        return self.reaches(np.arange(self.law.top + 1))

    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether t is extreme, for any array of cells, each of them attainable."""
        if self.h is None:
            assert self.tails is not None
            lower, upper = self.tails
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        every = map(self._value_at, cells.tolist())
        values = progress(every, total=len(cells), what="h of every sum")
        return reaching(values, self.statistic)

    def observing(self, observed: Any) -> SumQuestion:
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
                "there is no exact interval with clusters, because a shift of every pair moves "
                "clusters by different amounts; test the sums, or the means, of the clusters as "
                "scores of their own"
            )
        if self.pairs is not None:
            values, counts = count_values(self.pairs.differences())
        else:
            assert self.effects is not None
            stay, swap = self.effects
            for i in np.flatnonzero(stay != -swap)[:1]:
                raise ValueError(
                    f"g is not antisymmetric: entry {i} has g(u, v) = {stay[i]} and g(v, u) = "
                    f"{swap[i]}, so a mean difference cannot be shifted"
                )
            values, counts = count_values(stay)
        sums = exact_dot(values, counts), -exact_dot(abs(values), counts)
        if sums != (self.observed, self.law.offset):
            raise ValueError("the scores were changed after the test; test them again")
        return values, counts

    def shifted(self, shift: Fraction) -> SumQuestion:
        """The test of the null that the differences are symmetric about `shift`.

        `shift` is what the first system is ahead by on every entry, in scores. All differences
        d become d - shift before their signs are exchanged.
        """
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
        argument = total if self.scale == 1 else Fraction(total, self.scale)
        return _number_of(
            self.h, (argument,), f"h({argument})", "every value that the sum can take"
        )


def _number_of(h: Any, sums: Sequence[Any], called: str, every: str) -> Any:
    """What h returns, which must be a number."""
    value = h(*sums)
    if not isinstance(value, NUMBERS) or value != value:
        raise ValueError(f"{called} = {value!r}, but h must return a number for {every}")
    return value


def reaching(values: Iterable[Any], least: Any) -> NDArray[np.bool_]:
    """Which values of h are at least `least`.

    Where `least` is a float, it ties with values that are off by no more than `TIE` times its own
    size or the median of |h|, the larger of the two: a difference that ought to be 0 seldom is.
    The median and not the largest, as h may grow exponentially.
    """

    def compared(value: Any) -> tuple[bool, float]:
        try:
            rounded = float(value)
        except OverflowError:  # an integer that is larger than any float
            rounded = inf if value > 0 else -inf
        return bool(value >= least), rounded

    found = np.fromiter(map(compared, values), [("exactly", bool), ("rounded", float)])
    exactly: NDArray[np.bool_] = found["exactly"]
    rounded: NDArray[np.float64] = found["rounded"]
    if not (isinstance(least, float | np.floating) and abs(float(least)) < inf):
        return exactly
    sizes = np.abs(rounded)
    sizes = sizes[sizes < inf]
    slack = TIE * max(abs(float(least)), float(np.median(sizes)) if sizes.size else 0.0)
    return np.asarray(exactly | (rounded >= float(least) - slack))


# ---- several sums (App. B) ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SeveralSums(Question):
    """t is a function of m sums; cells of the line stand for points of a lattice."""

    #: The null law of the sums X; `law` is its line.
    lattice: LatticeSum
    #: Their observed values; of a function of predictions the one value that it has.
    observed_sums: tuple[Any, ...]
    score: Score = field(default=Score())

    @abstractmethod
    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """t for sums of shape (M, m), to some roundings."""

    @abstractmethod
    def beats(self, sums: IntArray) -> NDArray[np.bool_]:
        """Whether t is at least as extreme as observed, for sums of shape (M, m)."""

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """What the sums are."""

    @property
    def other_sums(self) -> tuple[int, ...] | None:
        """The observed sums of the second system, where systems are compared by a measure."""
        return None

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """As in `Question`."""
        return None if self.lattice.rank > 1 else super().tails

    @property
    def rank(self) -> int:
        """How many of the sums vary independently of each other."""
        return self.lattice.rank

    def sums_in(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The sums in some cells of the law, of shape (M, m)."""
        return self.lattice.sums(cells)

    def reaches(
        self, cells: NDArray[Any], sums: Callable[[NDArray[Any]], IntArray] | None = None
    ) -> NDArray[np.bool_]:
        """Whether t is extreme, for any cells, each attainable, that hold these `sums`.

        Sums are computed for a part of the cells at a time, with a bar.
        """
        parts = np.array_split(cells, max(1, -(-cells.size // AT_ONCE)))
        every = progress(parts, total=len(parts), what="the statistic of all sums")
        return self._beat(map(sums or self.sums_in, every))

    def _beat(self, parts: Iterable[IntArray]) -> NDArray[np.bool_]:
        """`beats` for the sums in all parts."""
        return np.concatenate([self.beats(part) for part in parts])

    def observing(self, observed: Sequence[int]) -> SeveralSums:
        """The same question, had other sums been observed; ValueError if none are like that."""
        wanted = [index(x) for x in observed]
        if len(wanted) != len(self.observed_sums) or self.lattice.cell(wanted) is None:
            raise ValueError(
                f"observed={wanted} are sums that no labelling has; the lattice of possible ones "
                f"contains {list(self.observed_sums)} and goes in steps of "
                f"{self.lattice.basis.tolist()}"
            )
        return replace(self, observed_sums=tuple(wanted))


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasureQuestion(SeveralSums):
    """t is the difference of a measure of two systems; X are the sums of the first one."""

    measure: Measure
    #: Sums of both systems together, which no swap changes.
    both_sums: tuple[int, ...]
    #: What sentences call the measure.
    called: str

    @property
    def title(self) -> str:
        """What sentences call the measure."""
        return self.called

    @property
    def parts(self) -> tuple[str, ...]:
        """The sums that the measure needs of the first system."""
        return self.measure.parts

    @property
    def other_sums(self) -> tuple[int, ...]:
        """The observed sums of the second system."""
        return tuple(t - x for t, x in zip(self.both_sums, self.observed_sums, strict=True))

    @cached_property
    def scores(self) -> tuple[float, float]:
        """The measure of the first and of the second system."""
        mine, theirs = self.observed_sums, self.other_sums
        return float(self.measure.exact(list(mine))), float(self.measure.exact(list(theirs)))

    @property
    def statistic(self) -> float:
        """The difference of the two."""
        return float(self._difference(self.observed_sums))

    @cached_property
    def least(self) -> Exact:
        """The value from which on t, -t ("less") or its magnitude ("two-sided") is extreme."""
        return self._directed(self._difference(self.observed_sums))

    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """Differences of the measures."""
        first = sums.astype(np.float64)
        second = (np.array(self.both_sums, dtype=sums.dtype) - sums).astype(np.float64)
        return self.measure.values(first) - self.measure.values(second)

    def beats(self, sums: IntArray) -> NDArray[np.bool_]:
        """Floats decide where the gap is wide, exact numbers where it is not."""
        values = self._directed(self.values(sums))
        least = float(self.least)
        sure = np.asarray(values > least, dtype=bool)
        band = NEAR * max(1.0, float(np.abs(values).max(initial=0.0)))
        for i in np.flatnonzero(np.abs(values - least) <= band):
            sure[i] = self._reaches_least(self._directed(self._difference(sums[i])))
        return sure

    @cached_property
    def staircase(self) -> Staircase | None:
        """The upper part of the region, if it is that of a ratio of two sums.

        For "less" its mirror image, which has the same probability: exchanging all labels turns
        the sign of the difference.
        """
        measure, both = self.measure, self.both_sums
        if not isinstance(measure, MeanOfRatios) or len(both) != 2 or self.rank != 2:
            return None
        least = Fraction(self.least)
        return Staircase(self.lattice, (both[0], both[1]), measure.whole, Fraction(0), least, False)

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """Found by bisection where a ratio grows, or falls, along the line of its two sums."""
        top, less = self.law.top, self.alternative == "less"
        if self.certain:
            return top, top + 1
        if self.rank != 1 or self.measure.signs is None:
            return super().tails
        steps = self.lattice.basis[0].tolist()
        along = {x * sign > 0 for x, sign in zip(steps, self.measure.signs, strict=True) if x}
        if len(along) != 1:
            return super().tails
        up = (along == {True}) != less
        first, end = 0, top + 1
        while first < end:
            middle = (first + end) // 2
            cell = np.array([middle if up else top - middle], dtype=object)
            value = self._difference(self.lattice.sums(cell)[0])
            if self._reaches_least(self._directed(value) if less else value):
                end = middle
            else:
                first = middle + 1
        if self.alternative == "two-sided":
            return top - first, first
        return (-1, first) if up else (top - first, top + 1)

    @property
    def certain(self) -> bool:
        """Whether every labelling is extreme: two-sided, the two systems being level."""
        return self.alternative == "two-sided" and self.least == 0

    def _reaches_least(self, value: Exact) -> bool:
        return bool(subtract(value, self.least) >= 0)

    def _directed(self, values: Any) -> Any:
        with localcontext(DIGITS):  # decimals would be rounded to the caller's digits
            if self.alternative == "two-sided":
                return abs(values)
            return -values if self.alternative == "less" else values

    def _difference(self, sums: Iterable[Any]) -> Exact:
        mine = [int(x) for x in sums]
        theirs = [t - x for t, x in zip(self.both_sums, mine, strict=True)]
        return subtract(self.measure.exact(mine), self.measure.exact(theirs))


@dataclass(frozen=True, eq=False, kw_only=True)
class FunctionQuestion(SeveralSums):
    """t is a user's `h` of several sums, called with m Python integers (Eq. 12)."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The g, by number as in the paper."""
        return tuple(f"g_{k + 1}" for k in range(len(self.observed_sums)))

    @cached_property
    def statistic(self) -> Any:
        """h of the observed sums."""
        return self._value(self.observed_sums)

    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """h of every vector of sums."""
        return np.array([float(self._value(x)) for x in sums.tolist()])

    def beats(self, sums: IntArray) -> NDArray[np.bool_]:
        """h is called for each vector of sums."""
        return self._beat([sums])

    def _beat(self, parts: Iterable[IntArray]) -> NDArray[np.bool_]:
        """All together, because ties are relative to the median of all values."""
        values = (self._value(x) for part in parts for x in part.tolist())
        return reaching(values, self.statistic)

    def _value(self, sums: Sequence[int]) -> Any:
        every = "all values that the sums can take together"
        return _number_of(self.h, sums, f"h{tuple(sums)}", every)


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionQuestion(SeveralSums):
    """t is the difference of a function of all predictions, which has values instead of sums.

    The lattice counts the units that stay, of those that differ; cells are numbers of samples.
    """

    #: The metric of either system, and the values that were sampled, of shape (M,).
    both: tuple[float, float]
    drawn: NDArray[np.float64]

    @property
    def rank(self) -> int:
        """0: there are no sums."""
        return 0

    @property
    def scores(self) -> tuple[float, float]:
        """The metric of either system."""
        return self.both

    @property
    def statistic(self) -> float:
        """The difference of the two."""
        return float(self.observed_sums[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """What the values are."""
        return ("{} of {} minus {}".format(self.metric, *self.names),)

    def sums_in(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The values that were sampled, of shape (M, 1)."""
        return np.asarray(self.drawn[cells]).reshape(-1, 1)

    def values(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """The same, of shape (M,)."""
        return np.asarray(sums[:, 0], dtype=np.float64)

    def beats(self, sums: NDArray[Any]) -> NDArray[np.bool_]:
        """Functions round: values that are off by `TIE`, relative to the scores, tie."""
        turn: Any = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}
        turned, slack = turn[self.alternative], TIE * max(map(abs, self.both))
        return np.asarray(turned(self.values(sums)) - turned(self.statistic) >= -slack)


# ---- asking ------------------------------------------------------------------------------------


def ask(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | None = None,
    h: Callable[[Any], Any] | None = None,
    *,
    statistic: str | Statistic = "sum",
    alternative: str = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
    rounding: float | None = None,
) -> SumQuestion | MeasureQuestion:
    """Validate what all tests share, and reduce it to a question (Alg. 2, lines 2-4)."""
    check_alternative(alternative)
    entry = lookup(statistic)
    if g is not None or h is not None or rounding is not None:
        _check_options(entry, g, h, alternative, rounding)
    clusters = labels_of(u, clusters)
    if entry.measures:
        return _ask_of_measure(entry.pairs(u, v, names), entry, alternative, names, clusters)
    how: dict[str, Any] = {"alternative": alternative if h is None else "greater", "h": h}
    if g is None:
        pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
        if rounding is not None:
            pairs = pairs.rounded_by(rounding)
            how["ties_doubtful"] = rounding > 0
        how["names"] = pairs.names if names is None else check_names(names)
        return _ask_of_pairs(pairs, entry, clusters, how)
    effects, n_entries = local_effects(u, v, g), None
    if clusters is not None:
        n_entries = len(effects[0])
        effects = _by_cluster(clusters, *effects)
    return SumQuestion(
        law=group(*effects, exact_sum(np.minimum(*effects))),
        observed=exact_sum(effects[0]),
        metric=_called(h, function_name(g, "g")),
        names=check_names(names or ("u", "v")),
        entry=entry,
        effects=effects,
        n_entries=n_entries,
        **how,
    )


def _check_options(
    entry: Statistic, g: Any, h: Any, alternative: str, rounding: float | None
) -> None:
    """Refuse what cannot be combined."""
    if entry.measures and rounding is not None:
        raise ValueError(f"rounding is for single scores, but {entry.name!r} has counts")
    if entry.measures and (g is not None or h is not None):
        raise ValueError(f"statistic={entry.name!r} brings a g and an h of its own; leave them out")
    if g is not None and entry.name != "sum":
        raise ValueError(f"statistic={entry.name!r} and g cannot be combined: a statistic is a g")
    if h is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} and h cannot be combined: with h the test asks how often "
            "h(S) is at least as large as observed; put the direction into h"
        )
    if g is not None and rounding is not None:
        raise ValueError("rounding and g cannot be combined: what g returns is exact")


def ask_of_scores(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic = "sum",
    alternative: str = "two-sided",
    names: tuple[str, str] | None = None,
) -> SumQuestion:
    """`ask` for single scores alone."""
    question = ask(u, v, statistic=statistic, alternative=alternative, names=names)
    assert isinstance(question, SumQuestion), f"{statistic} has counts"
    return question


def ask_of_sums(
    u: Any,
    v: Any,
    g: Sequence[Callable[[Any, Any], Any]],
    h: Callable[..., Any],
    *,
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> FunctionQuestion:
    """Call the user's g on every entry both ways (Alg. 5, lines 2-4)."""
    functions = list(g) if isinstance(g, Iterable) else [g]
    if not functions or not all(map(callable, (*functions, h))):
        raise TypeError("g must be functions of two entries, in a list, and h a function of sums")
    clusters = labels_of(u, clusters)
    each = [local_effects(u, v, function) for function in functions]
    stay, swap = (np.stack(columns, axis=1) for columns in zip(*each, strict=True))
    n_entries = None
    if clusters is not None:
        n_entries = len(stay)
        stay, swap = _by_cluster(clusters, stay, swap)
    lattice = LatticeSum.of(stay, swap)
    return FunctionQuestion(
        law=lattice.line,
        lattice=lattice,
        observed_sums=tuple(map(exact_sum, stay.T)),
        alternative="greater",
        metric=function_name(h, "h"),
        names=check_names(names or ("u", "v")),
        n_entries=n_entries,
        h=h,
    )


def _ask_of_pairs(
    pairs: Pairs, entry: Statistic, clusters: Any, how: dict[str, Any]
) -> SumQuestion:
    """The question about a difference of sums or means, or about h of it."""
    if pairs.columns:
        raise ValueError(
            f"statistic={entry.name!r} takes one score for each entry, but there are "
            f"{len(pairs.columns)} columns ({', '.join(pairs.columns)}); see STATISTICS"
        )
    units = pairs if clusters is None else pairs.folded(clusters)
    slack, h = units.slack, how["h"]
    if h is not None and slack:
        raise ValueError(
            "with h scores have to be exact, but these are floating-point numbers whose rounding "
            "can decide ties; round them to some decimals, or pass rounding=0 if they are exact"
        )
    law, tally = group_differences(units.u, units.v)
    if entry.minimum is not None:
        entry.check(pairs, tally.low if clusters is None else pairs.low)
    return SumQuestion(
        law=law,
        observed=tally.total_u - tally.total_v,
        metric=entry.name if h is None else _called(h, entry.name),
        pairs=pairs,
        entry=entry,
        totals=(tally.total_u, tally.total_v),
        scale=pairs.scale,
        slack=slack,
        reading=pairs.reading,
        n_entries=None if clusters is None else len(pairs.u),
        divisor=max(len(pairs.u), 1) if entry.name == "mean" else 1,
        **how,
    )


def _ask_of_measure(
    pairs: Pairs,
    entry: Statistic,
    alternative: str,
    names: tuple[str, str] | None,
    clusters: Any,
) -> MeasureQuestion:
    measure, first, second = entry.measure(pairs)
    n_entries = None
    if clusters is not None:
        n_entries = len(first)
        first, second = _by_cluster(clusters, first, second)
    if isinstance(measure, MeanOfRatios) and len(measure.hits) > 1:
        measure, first, second = measure.linear(first, second) or (measure, first, second)
    lattice = LatticeSum.of(first, second)
    mine, theirs = ([exact_sum(column) for column in x.T] for x in (first, second))
    return MeasureQuestion(
        law=lattice.line,
        lattice=lattice,
        observed_sums=tuple(mine),
        alternative=alternative,
        metric=entry.name,
        names=check_names(names or pairs.names),
        n_entries=n_entries,
        score=pairs.score.known(entry.name, "", not entry.ascending),
        measure=measure,
        both_sums=tuple(map(sum, zip(mine, theirs, strict=True))),
        called=entry.title,
    )


def _by_cluster(clusters: Any, stay: IntArray, swap: IntArray) -> tuple[IntArray, IntArray]:
    """The effects of whole clusters."""
    numbers = cluster_numbers(clusters, len(stay))
    return add_up(stay, numbers), add_up(swap, numbers)


def _called(h: Callable[..., Any] | None, metric: str) -> str:
    """The name of what is compared: of a sum, or of h of it."""
    return metric if h is None else f"{function_name(h, 'h')}({metric})"


def function_name(function: Callable[..., Any], default: str) -> str:
    """What a function is called, also that of a `functools.partial`; `default` if nothing."""
    name = getattr(getattr(function, "func", function), "__name__", "<lambda>")
    return default if name == "<lambda>" else str(name)
