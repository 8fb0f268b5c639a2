"""From two systems and a statistic to a question: a law, what was observed, and what is extreme.

Every statistic is a function t of sums X = sum_n g(u_n, v_n), of one g (Eq. 3) or of several
(Eq. 12). Under the null hypothesis each entry adds g(u_n, v_n) or g(v_n, u_n), with probability 1/2
each, so that X has the law of a sum of two-point variables, on a lattice that is laid out as a line
of cells. The p-value is the probability of the extreme cells: those whose t is at least as extreme
as what was observed (Eq. 2). `ask` makes the question, and `methods.solve` answers it.

There are two kinds of question: t of one sum, a difference of scores above all; and t of several
sums, which is a difference of measures such as F1, or a user's function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import inf
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_finite
from permtest._parallel import progress
from permtest._text import counted
from permtest.integers import (
    IntArray,
    as_integers,
    exact_dot,
    exact_sum,
    is_unordered,
    unscaled,
)
from permtest.null.distribution import (
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
from permtest.scores import (
    Scores,
    add_up,
    check_aligned,
    check_length,
    check_names,
    cluster_numbers,
)
from permtest.statistics import (
    MeanOfRatios,
    Statistic,
    check_alternative,
    lookup,
    measured,
)

#: What h may return; NumPy's booleans are the one kind that Python does not call real.
NUMBERS = (Real, Decimal, np.bool_)

#: Two floats that a user's h returns tie if they differ by no more, relative to their size.
TIE = 1e-12
#: Differences of a measure that are this near, relative to its largest value, are compared exactly.
NEAR = 1e-12
#: Points whose sums are held at a time.
AT_ONCE = 2**15


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(ABC):
    """Two systems and a statistic, reduced to what any test of them needs."""

    #: The null law of the sums, laid out on a line of cells.
    law: TwoPointSum
    #: The lattice of several sums, whose line `law` is; None of one sum.
    lattice: LatticeSum | None = None
    #: "two-sided", "greater" or "less"; "greater" where `h` is given.
    alternative: str = "two-sided"
    #: Name of the statistic, and what sentences call it.
    metric: str
    title: str = ""
    #: What the systems are called.
    names: tuple[str, str] = ("u", "v")
    #: The two numbers whose difference is `statistic`, if it is one: totals, means or measures.
    scores: tuple[float, float] | None = None
    #: Sums of both systems' scores; None of counts, predictions and a user's g.
    totals: tuple[float, float] | None = None
    #: A user's function of the sums, whose value is compared; None where the difference of two
    #: systems is, as `alternative` says.
    h: Callable[..., Any] | None = None
    #: How many entries there were before they were added up by cluster.
    n_entries: int | None = None
    #: What the scores are called; and whether higher is better, None if nobody said so.
    score: str = ""
    higher_is_better: bool | None = None
    #: Whether scores are means over repeated runs of an item.
    has_runs: bool = False
    #: What floats were taken for, where that is not the decimals that they are printed as.
    reading: str = ""
    #: By how much the distance of any sum from the observed one may be off, because scores were
    #: rounded, times `scale`; 0 of several sums.
    tolerance: int = 0
    #: By how many cells the `thresholds` are moved outward, where ties are in doubt.
    moved_by: int = 0

    @property
    def swapped(self) -> str:
        """What is swapped as a whole: "pairs", "clusters", or "items" with all of their runs."""
        return "clusters" if self.n_entries is not None else "items" if self.has_runs else "pairs"

    @property
    def rank(self) -> int:
        """How many sums vary independently of each other."""
        return 1 if self.lattice is None else self.lattice.rank

    @property
    def staircase(self) -> Staircase | None:
        """The extreme points of a ratio of two sums."""
        return None

    @cached_property
    def thresholds(self) -> tuple[int, int] | None:
        """(lower, upper) if extreme cells are those up to `lower` and from `upper` on, or None."""
        if self.rank > 1:
            return None
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
        """Which cells of the law are extreme, of those that are attainable."""
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(self.law.top + 1, dtype=bool)
        extreme[possible] = self.is_extreme(possible)
        return extreme

    @property
    @abstractmethod
    def statistic(self) -> Any:
        """t(u, v): the sum, a mean, a difference of measures, or h."""

    @abstractmethod
    def is_extreme(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether t is extreme, for any array of cells, each of them attainable."""

    @abstractmethod
    def observing(self, observed: Any) -> Question:
        """The same question, had something else been observed; ValueError if nothing can be so."""

    def around(self) -> tuple[Question, Question]:
        """The same question with thresholds as far out, and in, as the tolerance may move them."""
        far, near = -(-self.tolerance // self.law.unit), self.tolerance // self.law.unit
        return replace(self, moved_by=far, tolerance=0), replace(self, moved_by=-near, tolerance=0)


# ---- one sum -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SumQuestion(Question):
    """t is a sum, or h of it."""

    #: The observed value of the sum, times `scale`.
    observed: int
    #: The scores, each entry by itself, and the statistic; None where a user's g takes entries.
    data: Scores | None = None
    entry: Statistic
    #: By what integers have to be divided to be scores.
    scale: int = 1
    #: The statistic is a sum divided by this: the number of entries if it is a mean.
    divisor: int = 1

    @property
    def statistic(self) -> Any:
        """t(u, v): h of the observed sum, the sum itself, or a mean."""
        if self.h is not None:
            return self._value(self.observed)
        return unscaled(self.observed, self.scale * self.divisor)

    def in_scores(self, total: int) -> float:
        """A sum of scores from the integer that stands for it: an int, or a float with decimals."""
        return unscaled(total, self.scale)

    @cached_property
    def thresholds(self) -> tuple[int, int] | None:
        """As in `Question`; without `h` no cell has to be looked at."""
        if self.h is not None:
            return super().thresholds
        # Two-sided means as far from the centre of the null law, about which every sum of effects
        # is symmetric. Wherever g(v, u) = -g(u, v) it is 0, and this is the paper's h(x) = |x|.
        top, t, out = self.law.top, self.law.cell(self.observed), self.moved_by
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
        return self.is_extreme(np.arange(self.law.top + 1))

    def is_extreme(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether t is extreme, for any array of cells, each of them attainable."""
        if self.h is None:
            assert self.thresholds is not None
            lower, upper = self.thresholds
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        law = self.law
        every = (self._value(law.offset + law.unit * cell) for cell in cells.tolist())
        values = progress(every, total=len(cells), what="h of every sum")
        return at_least(values, self.statistic)

    def _value(self, total: int) -> Any:
        """h of one sum, which must be a number."""
        argument = total if self.scale == 1 else Fraction(total, self.scale)
        every = "every value that the sum can take"
        return _number_of(self.h, (argument,), f"h({argument})", every)

    def observing(self, observed: Any) -> SumQuestion:
        """The same question, had another sum of scores been observed, which must be possible."""
        law, rounded = self.law, check_finite(observed, "observed")
        if rounded == self.in_scores(self.observed):
            return self
        wanted = Fraction(str(observed)) * self.scale
        cell = round((wanted - law.offset) / law.unit)
        total = law.offset + law.unit * cell
        # A float may have fewer digits than the sum that it stands for.
        same = total == wanted or self.in_scores(total) == rounded
        if not (same and 0 <= cell <= law.top and attainable(law)[cell]):
            raise ValueError(
                f"observed={observed!r} is a sum that no labelling has; choose one that swaps can "
                f"make, from {self.in_scores(law.offset)} on in steps of {self.in_scores(law.unit)}"
            )
        return replace(self, observed=total, totals=None, scores=None)

    @cached_property
    def wins(self) -> tuple[int, int, int] | None:
        """How many entries the first system alone has right, how many the second, and all.

        None unless both systems' scores are 0 and 1 in single pairs, as they are.
        """
        data, alone = self.data, self.n_entries in (None, self.law.n)
        if data is None or self.h is not None or not alone or not data.is_binary:
            return None
        u, v = data.u, data.v
        return int(np.sum(u > v)), int(np.sum(u < v)), len(u)

    @cached_property
    def differences(self) -> Differences:
        """The differences that are shifted: of pairs, or sums of clusters."""
        data = self.data
        if self.h is not None or data is None:
            raise ValueError("a test with g or h is not about a mean difference; leave them out")
        values = data.units.differences()
        sizes = np.ones(values.size, dtype=np.int64)
        if data.clusters is not None:
            sizes = np.bincount(cluster_numbers(data.clusters, len(data)))
        found = Differences.of(values, sizes)
        if exact_dot(found.values, found.counts) != self.observed:
            raise ValueError("the scores were changed after the test; test them again")
        return found

    def shifted(self, shift: Fraction) -> SumQuestion:
        """The test of the null that differences are symmetric about `shift`, in scores."""
        d = self.differences
        a, b = (shift * self.scale).as_integer_ratio()
        moved = b * d.values.astype(object) - a * d.sizes.astype(object)
        offset = -exact_dot(np.abs(moved), d.counts)
        return replace(
            self,
            law=from_widths(self.law.n, *add_counts(2 * np.abs(moved), d.counts), offset),
            observed=exact_dot(moved, d.counts),
            scale=self.scale * b,
            tolerance=self.tolerance * b,
            totals=None,
            scores=None,
        )


class Differences(NamedTuple):
    """Distinct differences, times the scale, with how many entries each has and how often it is."""

    values: IntArray
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: IntArray, sizes: NDArray[np.int64]) -> Differences:
        """Of all units, sorted by size, then by value."""
        parts = []
        for size in np.unique(sizes).tolist():
            distinct, counts = count_values(values[sizes == size])
            parts.append((distinct, np.full(distinct.size, size), counts))
        if not parts:
            return cls(values, sizes, sizes)
        found = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        return cls(found[0], found[1], found[2])

    @property
    def n(self) -> int:
        """How many units there are."""
        return int(self.counts.sum())


def _number_of(h: Any, sums: Sequence[Any], called: str, every: str) -> Any:
    """What h returns, which must be a number."""
    value = h(*sums)
    if not isinstance(value, NUMBERS) or value != value:
        raise ValueError(f"{called} = {value!r}, but h must return a number for {every}")
    return value


def at_least(values: Iterable[Any], least: Any) -> NDArray[np.bool_]:
    """Which values of h are at least `least`, a float of which ties with what is off by `TIE`."""

    def compared(value: Any) -> tuple[bool, float]:
        try:
            rounded = float(value)
        except OverflowError:  # an integer that is larger than any float
            rounded = inf if value > 0 else -inf
        return bool(value >= least), rounded

    found = np.fromiter(map(compared, values), [("exactly", bool), ("rounded", float)])
    exactly: NDArray[np.bool_] = found["exactly"]
    if not (isinstance(least, float | np.floating) and abs(float(least)) < inf):
        return exactly
    # Relative to the median of |h| too, as a difference that ought to be 0 seldom is; not to the
    # largest, as h may grow exponentially.
    sizes = np.abs(found["rounded"])
    sizes = sizes[sizes < inf]
    slack = TIE * max(abs(float(least)), float(np.median(sizes)) if sizes.size else 0.0)
    return np.asarray(exactly | (found["rounded"] >= float(least) - slack))


# ---- several sums (App. B) ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SeveralSums(Question):
    """t is a function of m sums; cells of the line stand for points of a lattice.

    It is the difference of a measure of two systems, whose first one has the sums, or a user's h,
    which is called with m Python integers (Eq. 12).
    """

    lattice: LatticeSum
    #: The observed values of the sums.
    observed_sums: tuple[int, ...]
    #: What is compared, and the sums of both systems together, which no swap changes.
    measure: MeanOfRatios | None = None
    both_sums: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.measure is not None:
            both = self.observed_sums, self._others(self.observed_sums)
            object.__setattr__(self, "scores", tuple(float(self.measure.exact(x)) for x in both))

    @property
    def parts(self) -> tuple[str, ...]:
        """What the sums are; the g by number, as in the paper."""
        if self.measure is not None:
            return self.measure.parts
        return tuple(f"g_{k + 1}" for k in range(len(self.observed_sums)))

    @property
    def other_sums(self) -> tuple[int, ...] | None:
        """The observed sums of the second system, where systems are compared by a measure."""
        return self._others(self.observed_sums) if self.measure is not None else None

    def _others(self, sums: Iterable[int]) -> tuple[int, ...]:
        return tuple(t - x for t, x in zip(self.both_sums, sums, strict=True))

    @cached_property
    def statistic(self) -> Any:
        """The difference of the two measures, or h of the observed sums."""
        value = self.exact(self.observed_sums)
        return value if self.measure is None else float(value)

    @cached_property
    def least(self) -> Fraction:
        """The value from which on t, -t ("less") or its magnitude ("two-sided") is extreme."""
        least: Fraction = self.directed(self.exact(self.observed_sums))
        return least

    def directed(self, values: Any) -> Any:
        """t, -t for "less", or its magnitude for "two-sided"."""
        if self.alternative == "two-sided":
            return abs(values)
        return -values if self.alternative == "less" else values

    def exact(self, sums: Sequence[int]) -> Any:
        """t of m sums: h of them, or the difference of the measures as a fraction."""
        if self.measure is not None:
            return self.measure.exact(sums) - self.measure.exact(self._others(sums))
        every = "all values that the sums can take together"
        return _number_of(self.h, sums, f"h{tuple(sums)}", every)

    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """t for sums of shape (M, m), up to rounding."""
        if self.measure is None:
            return np.array([float(self.exact(x)) for x in sums.tolist()])
        mine, theirs = self._rounded(sums)
        return np.asarray(mine - theirs)

    def _rounded(self, sums: IntArray) -> NDArray[np.float64]:
        """The measure of both systems, up to rounding, if these are the sums of the first."""
        assert self.measure is not None
        both = sums, np.array(self.both_sums, dtype=sums.dtype) - sums
        return np.stack([self.measure.values(x.astype(np.float64)) for x in both])

    def sums_are_extreme(self, parts: Iterable[IntArray]) -> NDArray[np.bool_]:
        """Whether t is at least as extreme as observed, for the sums of shape (M, m) in parts."""
        if self.measure is not None:
            return np.concatenate([self._measures_are_extreme(part) for part in parts])
        # All together, because ties are relative to the median of all values.
        return at_least((self.exact(x) for part in parts for x in part.tolist()), self.statistic)

    def _measures_are_extreme(self, sums: IntArray) -> NDArray[np.bool_]:
        """Floats decide where the gap is wide, exact numbers where it is not."""
        measures, least = self._rounded(sums), float(self.least)
        values = self.directed(measures[0] - measures[1])
        extreme = np.asarray(values > least, dtype=bool)
        band = NEAR * max(1.0, float(np.abs(measures).max(initial=0.0)))
        for i in np.flatnonzero(np.abs(values - least) <= band):
            extreme[i] = self.directed(self.exact(sums[i].tolist())) >= self.least
        return extreme

    def is_extreme(
        self, cells: NDArray[Any], sums: Callable[[NDArray[Any]], IntArray] | None = None
    ) -> NDArray[np.bool_]:
        """Whether t is extreme, for any cells, each attainable, that hold these `sums`."""
        parts = np.array_split(cells, max(1, -(-cells.size // AT_ONCE)))
        every = progress(parts, total=len(parts), what="the statistic of all sums")
        return self.sums_are_extreme(map(sums or self.lattice.sums, every))

    def observing(self, observed: Sequence[int]) -> SeveralSums:
        """The same question, had other sums been observed, which must be possible."""
        wanted = [int(x) for x in observed]
        if len(wanted) != len(self.observed_sums) or self.lattice.cell(wanted) is None:
            raise ValueError(
                f"observed={wanted} are sums that no labelling has; the lattice of possible ones "
                f"contains {self.observed_sums} and goes in steps of {self.lattice.basis.tolist()}"
            )
        return replace(self, observed_sums=tuple(wanted))

    @cached_property
    def staircase(self) -> Staircase | None:
        """The upper part of the region of a ratio of two sums; for "less" its mirror image."""
        both = self.both_sums
        if self.measure is None or len(both) != 2 or self.rank != 2:
            return None
        return Staircase(self.lattice, (both[0], both[1]), True, self.least, False)

    @cached_property
    def thresholds(self) -> tuple[int, int] | None:
        """Found by bisection where a ratio grows, or falls, along the line of its two sums."""
        top, less = self.law.top, self.alternative == "less"
        if self.measure is None or self.rank != 1:
            return super().thresholds
        if self.alternative == "two-sided" and self.least == 0:
            return top, top + 1
        # The sums are hits and misses in turn.
        steps = enumerate(self.lattice.basis[0].tolist())
        along = {(x > 0) == (i % 2 == 0) for i, x in steps if x}
        if len(along) != 1:
            return super().thresholds
        rising = (along == {True}) != less  # whether t, or -t for "less", rises with the cells
        first, end = 0, top + 1
        while first < end:
            middle = (first + end) // 2
            cell = np.array([middle if rising else top - middle], dtype=object)
            value = self.exact(self.lattice.sums(cell)[0].tolist())
            if (-value if less else value) >= self.least:
                end = middle
            else:
                first = middle + 1
        if self.alternative == "two-sided":
            return top - first, first
        return (-1, first) if rising else (top - first, top + 1)


# ---- asking ------------------------------------------------------------------------------------


def ask(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | Iterable[Callable[[Any, Any], Any]] | None = None,
    h: Callable[..., Any] | None = None,
    *,
    statistic: str | Statistic = "sum",
    alternative: str = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> SumQuestion | SeveralSums:
    """Validate what all tests share, and reduce it to a question (Alg. 2, lines 2-4)."""
    check_alternative(alternative)
    entry = lookup(statistic)
    if g is not None or h is not None:
        _check_options(entry, g, h, alternative)
    if clusters is not None:
        check_aligned(u, clusters, ("u", "clusters"))
    how: dict[str, Any] = {"alternative": alternative if h is None else "greater", "h": h}
    if g is not None and not callable(g):
        return _ask_of_sums(u, v, _functions(g), h, names, clusters)
    if not (h is None or callable(h)):
        raise TypeError(f"h={h!r} must be a function of the sum")
    if g is None:
        data = _scores(u, v, entry, names).clustered(clusters)
        if entry.columns:
            return _ask_of_measure(data, entry, alternative)
        return _ask_of_scores(data, entry, how)
    if isinstance(u, Scores) and clusters is None:
        clusters = u.clusters
    effects, n_entries = _by_cluster(clusters, *local_effects(u, v, g))
    return SumQuestion(
        law=group(*effects, exact_sum(np.minimum(*effects))),
        observed=exact_sum(effects[0]),
        metric=_called(h, function_name(g, "g")),
        names=check_names(names or ("u", "v")),
        entry=entry,
        n_entries=n_entries,
        **how,
    )


def _scores(u: Any, v: Any, entry: Statistic, names: tuple[str, str] | None) -> Scores:
    """The scores of two systems, as they are given or made of two columns, or tables of counts."""
    if isinstance(u, Scores):
        if v is not None:
            raise TypeError("u is Scores, which hold both systems; leave v out")
        if len(u.systems) != 2:
            raise ValueError(
                f"u has {len(u.systems)} systems; choose two with u.pair(i, j), or use compare_many"
            )
        return u if names is None else replace(u, systems=check_names(names))
    if not entry.columns:
        return Scores.of(u, v, names)
    called = check_names(names or ("u", "v"))
    return Scores.of_counts(dict(zip(called, (u, v), strict=True)), labels=("u", "v"))


def ask_of_scores(u: Any, v: Any = None, **how: Any) -> SumQuestion:
    """`ask` for single scores alone."""
    question = ask(u, v, **how)
    assert isinstance(question, SumQuestion), "it has counts"
    return question


def _check_options(entry: Statistic, g: Any, h: Any, alternative: str) -> None:
    """Refuse what cannot be combined."""
    if entry.columns:
        raise ValueError(f"statistic={entry.name!r} brings a g and an h of its own; leave them out")
    if g is not None and entry.name != "sum":
        raise ValueError(f"statistic={entry.name!r} and g cannot be combined: a statistic is a g")
    if h is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} and h cannot be combined: with h the test asks how often "
            "h(S) is at least as large as observed; put the direction into h"
        )


def _ask_of_scores(data: Scores, entry: Statistic, how: dict[str, Any]) -> SumQuestion:
    """The question about a difference of sums or means, or about h of it."""
    if data.columns:
        raise ValueError(
            f"statistic={entry.name!r} takes one score for each entry, but there are "
            f"{len(data.columns)} columns ({', '.join(data.columns)}); see STATISTICS"
        )
    units, h = data.units, how["h"]
    tolerance = units.sum_tolerance
    if h is not None and tolerance:
        raise ValueError(
            "with h scores have to be exact, but these are floating-point numbers whose rounding "
            "can decide ties; round them to some decimals, or pass Fraction(x) of exact ones"
        )
    law, tally = group_differences(units.u, units.v)
    scale, divisor = data.scale, max(len(data), 1) if entry.name == "mean" else 1
    u, v = tally.total_u, tally.total_v
    totals, scores = ((unscaled(u, x), unscaled(v, x)) for x in (scale, scale * divisor))
    upper = data.higher_is_better
    return SumQuestion(
        law=law,
        observed=u - v,
        metric=entry.name if h is None else _called(h, entry.name),
        names=data.names,
        data=data,
        entry=entry,
        totals=totals,
        scores=scores,
        score=data.score,
        higher_is_better=entry.higher_is_better if upper is None else upper,
        scale=scale,
        tolerance=tolerance,
        reading=data.reading,
        n_entries=None if data.clusters is None else len(data),
        has_runs=data.runs is not None,
        divisor=divisor,
        **how,
    )


def _ask_of_measure(data: Scores, entry: Statistic, alternative: str) -> SeveralSums:
    measure, addends = measured(entry, data)
    (first, second), n_entries = _by_cluster(data.clusters, *addends)
    measure, first, second = measure.as_one_ratio(first, second)
    return _several(
        first,
        second,
        alternative=alternative,
        metric=entry.name,
        title=entry.title,
        names=data.names,
        score=data.score,
        higher_is_better=entry.higher_is_better,
        n_entries=n_entries,
        has_runs=data.runs is not None,
        measure=measure,
        both_sums=tuple(
            exact_sum(x) + exact_sum(y) for x, y in zip(first.T, second.T, strict=True)
        ),
    )


def _several(stay: IntArray, swap: IntArray, **known: Any) -> SeveralSums:
    """The question about sums of the columns of what entries add if they stay, or are swapped."""
    lattice, sums = LatticeSum.of(stay, swap), tuple(map(exact_sum, stay.T))
    return SeveralSums(law=lattice.line, lattice=lattice, observed_sums=sums, **known)


def local_effects(
    u: Any, v: Any, g: Callable[[Any, Any], Any], name: str = "g"
) -> tuple[IntArray, IntArray]:
    """g(u_n, v_n) if entry n stays, and g(v_n, u_n) if it is swapped (Alg. 2, lines 3-4)."""
    if isinstance(u, Scores) and v is None:
        u, v = u.u, u.v
    check_aligned(u, v)
    a, b = _entries(u, "u"), _entries(v, "v")
    check_length(a, b, ("u", "v"))
    stay = as_integers([g(x, y) for x, y in zip(a, b, strict=True)], f"{name}(u, v)")
    return stay, as_integers([g(y, x) for x, y in zip(a, b, strict=True)], f"{name}(v, u)")


def _entries(values: Any, name: str) -> list[Any]:
    """The entries as Python objects, so that the user's `g` cannot wrap around."""
    if is_unordered(values) or hasattr(values, "columns") or getattr(values, "ndim", 1) == 0:
        kind = type(values).__name__
        raise TypeError(f"{name} must be a list or an array of entries for g, not {kind}")
    if getattr(values, "ndim", 1) > 1 and values.dtype.kind in "biu":
        return list(values.astype(object if values.dtype == np.uint64 else np.int64))
    dates = np.datetime64 | np.timedelta64  # stay what they are
    return [
        x.item() if isinstance(x, np.generic) and not isinstance(x, dates) else x for x in values
    ]


def _functions(g: Any) -> list[Callable[[Any, Any], Any]]:
    """The functions of a list, every one of which must be one."""
    functions = [] if is_unordered(g) else list(g)
    if not functions or not all(map(callable, functions)):
        raise TypeError(f"g={g!r} must be a function of two entries, or a list of such functions")
    return functions


def _ask_of_sums(
    u: Any, v: Any, g: list[Any], h: Any, names: tuple[str, str] | None, clusters: Any
) -> SeveralSums:
    """Call the user's g on every entry both ways (Alg. 5, lines 2-4)."""
    if not callable(h):
        raise TypeError(
            f"h={h!r} is no function, and a list of g has no other statistic; pass an h of "
            f"{counted(len(g), 'sums')}, as in Algorithm 5"
        )
    if isinstance(u, Scores) and clusters is None:
        clusters = u.clusters
    each = [local_effects(u, v, function, f"g[{i}]") for i, function in enumerate(g)]
    columns = (np.stack(some, axis=1) for some in zip(*each, strict=True))
    (stay, swap), n_entries = _by_cluster(clusters, *columns)
    return _several(
        stay,
        swap,
        alternative="greater",
        metric=function_name(h, "h"),
        names=check_names(names or ("u", "v")),
        n_entries=n_entries,
        h=h,
    )


def _by_cluster(
    clusters: Any, stay: IntArray, swap: IntArray
) -> tuple[tuple[IntArray, IntArray], int | None]:
    """The effects of whole clusters, and how many entries they have; entries without clusters."""
    if clusters is None:
        return (stay, swap), None
    numbers = cluster_numbers(clusters, len(stay))
    return (add_up(stay, numbers), add_up(swap, numbers)), len(stay)


def _called(h: Callable[..., Any] | None, metric: str) -> str:
    """The name of what is compared: of a sum, or of h of it."""
    return metric if h is None else f"{function_name(h, 'h')}({metric})"


def function_name(function: Callable[..., Any], default: str) -> str:
    """What a function is called, also that of a `functools.partial`; `default` if nothing."""
    name = getattr(getattr(function, "func", function), "__name__", "<lambda>")
    return default if name == "<lambda>" else str(name)
