"""The question of a test whose statistic is made of several sums (App. B)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import localcontext
from fractions import Fraction
from functools import cached_property
from math import inf
from operator import index
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_sum
from permtest._progress import progress
from permtest.comparison import NUMBERS, TIE, as_tails, function_name, reaching
from permtest.measures import DIGITS, Exact, MeanOfRatios, Measure, subtract
from permtest.null.grouping import TwoPointSum, attainable
from permtest.null.lattice import LatticeSum, Window
from permtest.null.plane import Staircase
from permtest.pairs import LocalEffects, Pairs, check_names, labels_of
from permtest.score import Score
from permtest.statistics import CountStatistic, check_alternative

#: Values of a measure that differ by less, relative to the largest, are compared exactly.
NEAR = 1e-12
#: Points whose sums are held at a time.
AT_ONCE = 2**15


@dataclass(frozen=True, eq=False)
class StructuredComparison(ABC):
    """Two systems and a statistic of several sums, reduced to what any test of them needs.

    It has what a `Comparison` has; the cells of its `law` are the cells of a lattice of sums.

    Parameters
    ----------
    lattice : LatticeSum
        The null law of the sums X.
    observed_sums : tuple of m int
        Their observed values; of a function of predictions the one value that it has.
    alternative : str
        "two-sided", "greater" or "less"; "greater" where the user gave `h`.
    metric : str
        Name of the statistic.
    names : tuple of two str
        What the systems are called.
    strict : bool
        Whether ties with the observed value do not count; they do in every p-value.
    n_entries : int or None
        How many entries there were before they were added up by cluster.
    score : Score
        What the measure is called, and whether higher is better.
    """

    lattice: LatticeSum
    observed_sums: tuple[Any, ...]
    alternative: str
    metric: str
    names: tuple[str, str]
    strict: bool = False
    n_entries: int | None = None
    score: Score = field(default=Score())
    reading: ClassVar[str] = ""

    @property
    def h(self) -> Callable[..., Any] | None:
        """What a user compares; None where it is the difference of a measure."""
        return None

    @property
    def law(self) -> TwoPointSum:
        """The null law, laid out on a line."""
        return self.lattice.line

    @property
    @abstractmethod
    def statistic(self) -> Any:
        """t(u, v)."""

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

    def _possible(self, sums: Sequence[int]) -> bool:
        """Whether sums are no nonsense; not all that are on the lattice need to be attainable."""
        del sums
        return True

    @property
    def scores(self) -> tuple[float, float] | None:
        """What both systems score, where the statistic is the difference."""
        return None

    @property
    def title(self) -> str:
        """What sentences call the statistic."""
        return self.metric

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """As in `Comparison`: thresholds on the line, where the sums all lie on one."""
        if self.lattice.rank > 1:
            return None
        return as_tails(np.flatnonzero(attainable(self.law)), self.extreme)

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law count as at least as extreme as what was observed."""
        self.law.check_size("the null distribution of all sums")
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(self.law.top + 1, dtype=bool)
        extreme[possible] = self.reaches(possible)
        return extreme

    @property
    def rank(self) -> int:
        """How many of the sums vary independently of each other."""
        return self.lattice.rank

    def sums_in(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The sums in some cells of the law, of shape (M, m)."""
        return self.lattice.sums(cells)

    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for any array of cells, each of them attainable."""
        return self._by_parts(cells, self.sums_in)

    def reaches_in(self, box: Window, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The same for cells of a window."""
        return self._by_parts(cells, lambda part: self.lattice.at(box.coordinates(part)))

    def _by_parts(
        self, cells: NDArray[Any], sums: Callable[[NDArray[Any]], IntArray]
    ) -> NDArray[np.bool_]:
        """`beats` for the sums in all cells, a part of them at a time, with a bar."""
        parts = np.array_split(cells, max(1, -(-cells.size // AT_ONCE)))
        every = progress(parts, total=len(parts), what="the statistic of all sums")
        return np.concatenate([self.beats(sums(part)) for part in every])

    def without_ties(self) -> StructuredComparison:
        """The same question about values that are more extreme than what was observed."""
        return replace(self, strict=True)

    def observing(self, sums: Sequence[int]) -> StructuredComparison:
        """The same question, had other sums been observed; ValueError if none are like that."""
        try:
            wanted = [index(x) for x in sums]
        except TypeError:
            raise TypeError(f"observed={sums!r} must be whole numbers, one for each sum") from None
        if len(wanted) != len(self.observed_sums):
            raise ValueError(f"observed={wanted} must be {len(self.observed_sums)} sums")
        if self.lattice.cell(wanted) is None or not self._possible(wanted):
            raise ValueError(
                f"observed={wanted} are sums that no labelling has; the lattice of possible ones "
                f"contains {list(self.observed_sums)} and goes in steps of "
                f"{self.lattice.basis.tolist()}"
            )
        return replace(self, observed_sums=tuple(wanted))


@dataclass(frozen=True, eq=False)
class MeasureComparison(StructuredComparison):
    """The difference of a measure of two systems; X are the sums of the first one.

    Parameters
    ----------
    lattice, observed_sums, alternative, metric, names, strict, n_entries
        As in `StructuredComparison`.
    measure : Measure
    totals : tuple of m int
        Sums of both systems together, which no swap changes.
    called : str
        What sentences call the measure.
    """

    measure: Measure = field(kw_only=True)
    totals: tuple[int, ...] = field(kw_only=True)
    called: str = field(kw_only=True)

    @property
    def title(self) -> str:
        """What sentences call the measure."""
        return self.called

    @property
    def parts(self) -> tuple[str, ...]:
        """The sums that the measure needs of the first system."""
        return self.measure.parts

    @cached_property
    def scores(self) -> tuple[float, float]:
        """The measure of the first and of the second system."""
        mine, theirs = self.observed_sums, self.other_sums
        return float(self.measure.exact(list(mine))), float(self.measure.exact(list(theirs)))

    @property
    def statistic(self) -> float:
        """The difference of the two."""
        return float(self.observed)

    @cached_property
    def observed(self) -> Exact:
        """The same as an exact number."""
        return self._difference(self.observed_sums)

    @cached_property
    def least(self) -> Exact:
        """The value from which on t, -t ("less") or its magnitude ("two-sided") is extreme."""
        return self._directed(self.observed)

    @property
    def other_sums(self) -> tuple[int, ...]:
        """The observed sums of the second system."""
        return tuple(t - x for t, x in zip(self.totals, self.observed_sums, strict=True))

    def _possible(self, sums: Sequence[int]) -> bool:
        return all(0 <= x <= t for x, t in zip(sums, self.totals, strict=True))

    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """Differences of the measures."""
        first = sums.astype(np.float64)
        second = (np.array(self.totals, dtype=sums.dtype) - sums).astype(np.float64)
        return self.measure.values(first) - self.measure.values(second)

    def beats(self, sums: IntArray) -> NDArray[np.bool_]:
        """Floats decide where the gap is wide, exact numbers where it is not."""
        values = self._directed(self.values(sums))
        least = float(self.least)
        sure = np.asarray(values > least, dtype=bool)
        band = NEAR * max(1.0, float(np.abs(values).max(initial=0.0)))
        for i in np.flatnonzero(np.abs(values - least) <= band):
            sure[i] = self._exactly([int(x) for x in sums[i]])
        return sure

    def _exactly(self, sums: list[int]) -> bool:
        """`beats` for one vector of sums, in exact arithmetic."""
        return self._reaches_least(self._directed(self._difference(sums)))

    @cached_property
    def staircase(self) -> Staircase | None:
        """The upper part of the region, if it is that of a ratio of two sums.

        For "less" its mirror image, which has the same probability: exchanging all labels turns
        the sign of the difference.
        """
        measure, totals = self.measure, self.totals
        if not isinstance(measure, MeanOfRatios) or measure.size > 1 or self.lattice.rank != 2:
            return None
        return Staircase(
            self.lattice,
            (totals[0], totals[1]),
            measure.whole,
            measure.zero_division,
            Fraction(self.least),
            self.strict,
        )

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """Found by bisection where a ratio grows, or falls, along the line of its two sums."""
        top = self.law.top
        if self.certain:
            return top, top + 1
        if self.lattice.rank != 1 or self.measure.signs is None:
            return super().tails
        along = {
            (x > 0) - (x < 0) if sign > 0 else (x < 0) - (x > 0)
            for x, sign in zip(self.lattice.basis[0].tolist(), self.measure.signs, strict=True)
        } - {0}
        if len(along) != 1:
            return super().tails
        up = (along == {1}) != (self.alternative == "less")
        first, end = 0, top + 1
        while first < end:
            middle = (first + end) // 2
            if self.is_upper(self._at(middle if up else top - middle)):
                end = middle
            else:
                first = middle + 1
        if self.alternative == "two-sided":
            return top - first, first
        return (-1, first) if up else (top - first, top + 1)

    @property
    def certain(self) -> bool:
        """Whether every labelling is extreme: two-sided, the two systems being level."""
        return self.alternative == "two-sided" and self.least == 0 and not self.strict

    def is_upper(self, sums: Sequence[int]) -> bool:
        """Whether t, or -t for "less", reaches `least`, in exact arithmetic."""
        value = self._difference(sums)
        return self._reaches_least(self._directed(value) if self.alternative == "less" else value)

    def _reaches_least(self, value: Exact) -> bool:
        gap = subtract(value, self.least)
        return bool(gap > 0 if self.strict else gap >= 0)

    def _at(self, cell: int) -> list[int]:
        cells = np.array([cell], dtype=object if self.law.top >= 2**62 else np.int64)
        return [int(x) for x in self.lattice.sums(cells)[0]]

    def _directed(self, values: Any) -> Any:
        with localcontext(DIGITS):  # decimals would be rounded to the caller's digits
            if self.alternative == "two-sided":
                return abs(values)
            return -values if self.alternative == "less" else values

    def _difference(self, sums: Sequence[int]) -> Exact:
        rest = [t - x for t, x in zip(self.totals, sums, strict=True)]
        return subtract(self.measure.exact(list(sums)), self.measure.exact(rest))


@dataclass(frozen=True, eq=False)
class FunctionComparison(StructuredComparison):
    """A user's function of several sums; X are the sums of the g (Eq. 12).

    Parameters
    ----------
    lattice, observed_sums, alternative, metric, names, strict, n_entries
        As in `StructuredComparison`.
    function : callable
        Takes m Python integers and returns a number.
    tolerance : float
        By how much floats may differ and still tie; see `reaching`.
    """

    function: Callable[..., Any] = field(kw_only=True)
    tolerance: float = field(kw_only=True)

    @property
    def h(self) -> Callable[..., Any]:
        """The function."""
        return self.function

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
        reaches = reaching(self.statistic, self.strict, self.tolerance)
        return np.fromiter((reaches(self._value(x)) for x in sums.tolist()), bool, len(sums))

    def _value(self, sums: Sequence[int]) -> Any:
        value = self.h(*sums)
        if not isinstance(value, NUMBERS) or value != value:
            raise ValueError(
                f"h{tuple(sums)} = {value!r}, but h must return a number for all values that the "
                "sums can take together"
            )
        return value


@dataclass(frozen=True, eq=False)
class MetricComparison(StructuredComparison):
    """The difference of a function of all predictions, which has values instead of sums.

    Parameters
    ----------
    lattice, observed_sums, alternative, metric, names, strict, n_entries, score
        As in `StructuredComparison`; the lattice counts the units that stay, of those that differ.
    both : tuple of two float
        The metric of either system.
    drawn : ndarray of shape (M,)
        The values that were sampled; cells are their numbers.
    """

    both: tuple[float, float] = field(kw_only=True)
    drawn: NDArray[np.float64] = field(kw_only=True)

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
        found: NDArray[np.bool_] = turned(self.values(sums)) >= turned(self.statistic) - slack
        return found


def compare_measures(
    u: Any,
    v: Any,
    entry: CountStatistic,
    *,
    alternative: str,
    names: tuple[str, str] | None,
    clusters: Any = None,
) -> MeasureComparison:
    """Validate two tables of counts, and reduce them to a comparison of measures.

    Parameters
    ----------
    u, v, alternative, names, clusters
        As in `exact_perm_test`.
    entry : CountStatistic

    Returns
    -------
    MeasureComparison
    """
    check_alternative(alternative)
    given = isinstance(u, Pairs) and v is None
    pairs = u if given else entry.pairs(u, v, names)
    measure, first, second = entry.measure(pairs)
    clusters = labels_of(u, clusters)
    n_entries = None if clusters is None else len(pairs)
    if clusters is not None:
        effects = LocalEffects(first, second).folded(clusters)
        first, second = effects.stay, effects.swap
    ratios = measure if isinstance(measure, MeanOfRatios) and measure.size > 1 else None
    if ratios and (found := ratios.linear(first, second)) is not None:
        measure, first, second = found
    mine, theirs = _sums(first), _sums(second)
    return MeasureComparison(
        LatticeSum.of(first, second),
        mine,
        alternative,
        entry.name,
        check_names(names or pairs.names),
        n_entries=n_entries,
        score=pairs.score.known(entry.name, "", not entry.ascending),
        measure=measure,
        totals=tuple(a + b for a, b in zip(mine, theirs, strict=True)),
        called=entry.title,
    )


def compare_functions(
    u: Any,
    v: Any,
    g: Sequence[Callable[[Any, Any], Any]],
    h: Callable[..., Any],
    *,
    names: tuple[str, str] | None,
    clusters: Any = None,
    tolerance: float = TIE,
) -> FunctionComparison:
    """Call the user's g on every entry both ways (Alg. 5, lines 2-4).

    Parameters
    ----------
    u, v, g, h, names, clusters, tolerance
        As in `exact_perm_test_m`.

    Returns
    -------
    FunctionComparison
    """
    if not 0 <= tolerance < inf:
        raise ValueError(f"tolerance={tolerance} must be a number from 0 on")
    functions = list(g) if isinstance(g, Iterable) else [g]
    if not functions or not all(map(callable, (*functions, h))):
        raise TypeError("g must be functions of two entries, in a list, and h a function of sums")
    clusters = labels_of(u, clusters)
    u, v = (u.u, u.v) if isinstance(u, Pairs) and v is None else (u, v)
    each = [LocalEffects.of(u, v, function) for function in functions]
    effects = LocalEffects(
        np.stack([e.stay for e in each], axis=1), np.stack([e.swap for e in each], axis=1)
    )
    n_entries = None if clusters is None else len(effects.stay)
    if clusters is not None:
        effects = effects.folded(clusters)
    return FunctionComparison(
        LatticeSum.of(effects.stay, effects.swap),
        _sums(effects.stay),
        "greater",
        function_name(h, "h"),
        check_names(names or ("u", "v")),
        n_entries=n_entries,
        function=h,
        tolerance=tolerance,
    )


def _sums(rows: IntArray) -> tuple[int, ...]:
    return tuple(exact_sum(column) for column in rows.T)
