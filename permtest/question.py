"""From two systems and a statistic to a question: a law, what was observed, and what is extreme.

Every statistic is a function t of sums X = sum_n g(u_n, v_n), of one g (Eq. 3) or of several
(Eq. 12). Under the null hypothesis each entry adds g(u_n, v_n) or g(v_n, u_n), with probability 1/2
each, so that X has the law of a sum of two-point variables, on a lattice that is laid out as a line
of cells. The p-value is the probability of the extreme cells: those whose t is at least as extreme
as what was observed (Eq. 2). `ask` makes the question, and `methods.solve` answers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest import scores, statistics
from permtest._text import counted
from permtest.integers import IntArray, as_integers, exact_dot, exact_sum, is_unordered, unscaled
from permtest.null import distribution
from permtest.null.lattice import LatticeSum
from permtest.null.ratio_tail import Staircase
from permtest.scores import Scores

#: What h may return; NumPy's booleans are the one kind that Python does not call real.
NUMBERS = (Real, Decimal, np.bool_)

#: Two floats that a user's h returns tie if they differ by no more, relative to their size.
TIE = 1e-12
#: Differences of a measure, which lies between 0 and 1, that are this near are compared exactly.
NEAR = 1e-12
#: Points whose sums are held at a time.
AT_ONCE = 2**14


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """Two systems and a statistic t of their sums, reduced to what any test of them needs."""

    #: The null law of the sum, or of several sums, whose lattice is laid out as a line.
    law: distribution.TwoPointSum
    lattice: LatticeSum | None = None
    #: The observed sums: those of the first system, or their difference, times `scale`.
    observed_sums: tuple[int, ...]
    #: What the sums are made into: a measure, whose difference is compared, or a user's function,
    #: of which more is more extreme. Without both the sum itself is compared, or a mean.
    measure: statistics.MeanOfRatios | None = None
    h: Callable[..., Any] | None = None
    scale: int = 1
    divisor: int = 1
    #: "two-sided", "greater" or "less"; "greater" where `h` is given.
    alternative: str = "two-sided"
    #: The sums of both systems together, which no swap changes, where they have a measure.
    both_sums: tuple[int, ...] = ()
    #: By how much the distance of any sum from the observed one may be off, because scores were
    #: rounded, times `scale`; by how many cells `thresholds` are moved outward for that reason.
    tolerance: int = 0
    moved_by: int = 0
    #: The scores, each entry by itself; None of counts, and where a user's g takes entries.
    data: Scores | None = None
    #: What a result says, in words of its own: names, both numbers whose difference is tested, ...
    metric: str
    title: str = ""
    names: tuple[str, str] = ("u", "v")
    scores: tuple[float, float] | None = None
    score: str = ""
    higher_is_better: bool | None = None
    reading: str = ""
    #: How many entries there were before they were added up by cluster.
    n_entries: int | None = None

    @property
    def swapped(self) -> str:
        """What is swapped as a whole: "pairs", "clusters", or "items" with all of their runs."""
        if self.n_entries is not None:
            return "clusters"
        return "items" if self.data is not None and self.data.runs is not None else "pairs"

    @property
    def rank(self) -> int:
        """How many sums vary independently of each other."""
        return 1 if self.lattice is None else self.lattice.rank

    @property
    def parts(self) -> tuple[str, ...]:
        """What several sums are; the g by number, as in the paper."""
        if self.measure is not None:
            return self.measure.parts
        return tuple(f"g_{k + 1}" for k in range(len(self.observed_sums)))

    def others(self, sums: Iterable[int]) -> tuple[int, ...]:
        """The sums of the second system, where systems are compared by a measure."""
        return tuple(t - x for t, x in zip(self.both_sums, sums, strict=True))

    # ---- the statistic -------------------------------------------------------------------------

    @cached_property
    def statistic(self) -> Any:
        """t(u, v): the sum, a mean, the difference of the two measures, or h."""
        if self.h is None and self.measure is None:
            observed, whole = self.observed_sums[0], self.scale * self.divisor
            return observed if whole == 1 else unscaled(observed, whole)
        value = self.exact(self.observed_sums)
        return value if self.measure is None else float(value)

    @cached_property
    def least(self) -> Any:
        """The value from which on t, -t ("less") or its magnitude ("two-sided") is extreme."""
        return self.directed(self.exact(self.observed_sums))

    def directed(self, values: Any) -> Any:
        """t, -t for "less", or its magnitude for "two-sided"."""
        if self.alternative == "two-sided":
            return abs(values)
        return -values if self.alternative == "less" else values

    def exact(self, sums: Sequence[int]) -> Any:
        """t of some sums: h of them, or the difference of the measures as a fraction."""
        if self.measure is not None:
            return self.measure.exact(sums) - self.measure.exact(self.others(sums))
        assert self.h is not None, "one sum is compared by thresholds"
        arguments = sums if self.scale == 1 else [Fraction(x, self.scale) for x in sums]
        value = self.h(*arguments)
        if not isinstance(value, NUMBERS) or value != value:
            called, every = ", ".join(map(str, arguments)), "all sums that can occur"
            raise ValueError(f"h({called}) = {value!r}, but h must return a number for {every}")
        return value

    def values(self, sums: IntArray) -> NDArray[np.float64]:
        """t for sums of shape (M, m), up to rounding."""
        if self.measure is None:
            return np.array([float(self.exact(x)) for x in sums.tolist()])
        others = np.array(self.both_sums, dtype=sums.dtype) - sums
        mine, theirs = (self.measure.values(x.astype(np.float64)) for x in (sums, others))
        return np.asarray(mine - theirs)

    # ---- what is extreme -----------------------------------------------------------------------

    def is_extreme(
        self, cells: NDArray[Any], sums: Callable[[NDArray[Any]], IntArray] | None = None
    ) -> NDArray[np.bool_]:
        """Whether t is extreme in each of some attainable cells, whose sums `sums` gives."""
        if sums is None and self._direction:
            assert self.thresholds is not None
            lower, upper = self.thresholds
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        parts = np.array_split(cells, max(1, -(-cells.size // AT_ONCE)))
        return self.sums_are_extreme(map(sums or self._sums, parts))

    def sums_are_extreme(self, parts: Iterable[IntArray]) -> NDArray[np.bool_]:
        """Whether t is at least as extreme as observed, for the sums of shape (M, m) in parts."""
        if self.measure is None:  # all values at once, as ties depend on their median
            values = (self.exact(x) for part in parts for x in part.tolist())
            return at_least(values, self.statistic)
        found, least = [], float(self.least)
        for part in parts:  # floats decide where the gap is wide, exact numbers where it is not
            ahead = self.directed(self.values(part)) - least
            found.append(ahead > 0)
            for i in np.flatnonzero(np.abs(ahead) <= NEAR):
                found[-1][i] = self.directed(self.exact(part[i].tolist())) >= self.least
        return np.concatenate(found)

    def _sums(self, cells: NDArray[Any]) -> IntArray:
        """The sums in some cells, of shape (M, m)."""
        if self.lattice is not None:
            return self.lattice.sums(cells)
        return np.asarray(self.law.offset + self.law.unit * cells.astype(object))[:, None]

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law are extreme; of a user's h only those that are attainable."""
        self.law.check_size("the null distribution")
        cells = np.arange(self.law.top + 1)
        if self._direction:
            return self.is_extreme(cells)
        possible, extreme = distribution.attainable(self.law), np.zeros(cells.size, dtype=bool)
        extreme[possible] = self.is_extreme(cells[possible])
        return extreme

    @cached_property
    def thresholds(self) -> tuple[int, int] | None:
        """(lower, upper) if extreme cells are those up to `lower` and from `upper` on, or None."""
        law, top, out, turn = self.law, self.law.top, self.moved_by, 1
        t: int | None = (self.observed_sums[0] - law.offset) // law.unit
        if self.lattice is not None or self.h is not None:
            turn = self._direction
            t = self.lattice.cell(self.observed_sums) if self.lattice and turn else None
        if t is not None:
            # Two-sided means as far from the centre of the null law, about which every sum of
            # effects is symmetric. Where g(v, u) = -g(u, v) it is 0: h(x) = |x| of the paper.
            if self.alternative == "two-sided":
                return min(t, top - t) - out, max(t, top - t) + out
            upper = (self.alternative == "greater") == (turn > 0)
            return (-1, t + out) if upper else (t - out, top + 1)
        if self.rank > 1:
            return None
        possible = np.flatnonzero(distribution.attainable(self.law))
        inner = np.flatnonzero(~self.extreme[possible])
        if inner.size and inner[-1] - inner[0] >= inner.size:
            return None
        ends = possible[inner[[0, -1]]].tolist() if inner.size else (top + 1, top)
        return ends[0] - 1, ends[1] + 1

    @cached_property
    def _direction(self) -> int:
        """1 if t rises from each cell to the next, -1 if it falls, 0 if that is not known."""
        if self.lattice is None or self.measure is None or self.rank != 1:
            return int(self.lattice is None and self.h is None)
        # The sums are hits and misses in turn. A ratio that never has misses is 1, but for an end
        # without hits. If all that vary are such, t is 0 between the ends: next to one it is as
        # next to the other, where it is -t by symmetry. Any other ratio rises or falls all along.
        turns = np.sign(self.lattice.basis[0]) * np.resize([1, -1], len(self.both_sums))
        near = self.lattice.sums(np.array([int(self.law.top > 2)], dtype=object))[0].tolist()
        turn = set(turns.tolist()) - {0}
        return int(turn.pop()) if len(turn) == 1 and self.exact(near) else 0

    @cached_property
    def staircase(self) -> Staircase | None:
        """The upper part of the region of a ratio of two sums; for "less" its mirror image."""
        if self.lattice is None or self.rank != 2 or len(self.both_sums) != 2:
            return None
        hits, misses = self.both_sums
        return Staircase(self.lattice, (hits, misses), self.least)

    # ---- other questions -----------------------------------------------------------------------

    def observing(self, observed: Any) -> Question:
        """The same question, had another number of scores been observed, or several sums.

        Some labelling must have them, which is not checked.
        """
        several, both = self.lattice is not None, None
        sums = tuple(map(int, observed if several else [round(Fraction(observed) * self.scale)]))
        if self.measure is not None:
            first, second = map(self.measure.exact, (sums, self.others(sums)))
            both = float(first), float(second)
        return replace(self, observed_sums=sums, scores=both)

    @cached_property
    def wins(self) -> tuple[int, int, int] | None:
        """How many entries the first system alone has right, how many the second, and all.

        None unless both systems' scores are 0 and 1 in single pairs, as they are.
        """
        data, alone = self.data, self.n_entries in (None, self.law.n)
        if data is None or self.h is not None or not alone or not data.is_binary:
            return None
        return int(np.sum(data.u > data.v)), int(np.sum(data.u < data.v)), len(data)

    @cached_property
    def differences(self) -> Differences:
        """The differences that are shifted: of pairs, or sums of clusters."""
        data = self.data
        if self.h is not None or data is None:
            raise ValueError("a test with g or h is not about a mean difference; leave them out")
        values = data.units.differences()
        sizes = np.ones(values.size, dtype=np.int64)
        if data.clusters is not None:
            sizes = np.bincount(scores.cluster_numbers(data.clusters, len(data)))
        found = Differences.of(values, sizes)
        if exact_dot(found.values, found.counts) != self.observed_sums[0]:
            raise ValueError("the scores were changed after the test; test them again")
        return found

    def shifted(self, shift: Fraction) -> Question:
        """The test of the null that differences are symmetric about `shift`, in scores."""
        d = self.differences
        a, b = (shift * self.scale).as_integer_ratio()
        moved = b * d.values.astype(object) - a * d.sizes.astype(object)
        offset = -exact_dot(np.abs(moved), d.counts)
        widths = distribution.add_counts(2 * np.abs(moved), d.counts)
        return replace(
            self,
            law=distribution.from_widths(self.law.n, *widths, offset),
            observed_sums=(exact_dot(moved, d.counts),),
            scale=self.scale * b,
            tolerance=self.tolerance * b,
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
        parts = [cls(values[:0], sizes[:0], sizes[:0])]
        for size in np.unique(sizes).tolist():
            distinct, counts = distribution.count_values(values[sizes == size])
            parts.append(cls(distinct, np.full(distinct.size, size), counts))
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @property
    def n(self) -> int:
        """How many units there are."""
        return int(self.counts.sum())


def at_least(values: Iterable[Any], least: Any) -> NDArray[np.bool_]:
    """Which values of h are at least `least`, a float of which ties with what is off by `TIE`."""
    if not isinstance(least, float | np.floating) or np.isinf(least):
        return np.fromiter((bool(value >= least) for value in values), bool)
    found = np.fromiter(map(float, values), float)
    # Relative to the median of |h| too, as a difference that ought to be 0 seldom is; not to the
    # largest, as h may grow exponentially.
    sizes = np.abs(found[np.isfinite(found)])
    tolerance = TIE * max(abs(float(least)), float(np.median(sizes)) if sizes.size else 0.0)
    return np.asarray(found >= float(least) - tolerance)


# ---- asking ------------------------------------------------------------------------------------


def ask(
    u: Any,
    v: Any = None,
    g: Any = None,
    h: Callable[..., Any] | None = None,
    *,
    statistic: str | statistics.Statistic = "sum",
    alternative: str = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> Question:
    """Validate what all tests share, and reduce it to a question (Alg. 2, lines 2-4)."""
    known = statistics.STATISTICS.get(statistic) if isinstance(statistic, str) else None
    entry = known or statistics.lookup(statistic)  # a name that is known takes no call
    if g is not None or h is not None or alternative not in statistics.ALTERNATIVES:
        _check_options(entry, g, h, alternative)
    if clusters is not None:
        scores.check_aligned(u, clusters, ("u", "clusters"))
    how: dict[str, Any] = {"alternative": alternative if h is None else "greater", "h": h}
    if g is not None:
        return _ask_of_entries(u, v, g, names, clusters, how)
    data = Scores.of(u, v, names, counts=bool(entry.hits))
    if clusters is not None:
        data = data.clustered(clusters)
    how |= {"names": data.systems, "score": data.score}
    declared = data.higher_is_better
    how["higher_is_better"] = entry.higher_is_better if declared is None else declared
    how["n_entries"] = None if data.clusters is None else len(data)
    return _ask_of_measure(data, entry, how) if entry.hits else _ask_of_scores(data, entry, how)


def _check_options(entry: statistics.Statistic, g: Any, h: Any, alternative: str) -> None:
    """Refuse what is unknown or cannot be combined."""
    statistics.check_alternative(alternative)
    if not (h is None or callable(h)):
        raise TypeError(f"h={h!r} must be a function of the sum, or of all sums if g is a list")
    if entry.columns:
        raise ValueError(f"statistic={entry.name!r} brings a g and an h of its own; leave them out")
    if g is not None and entry.name != "sum":
        raise ValueError(f"statistic={entry.name!r} and g cannot be combined: a statistic is a g")
    if h is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} and h cannot be combined: with h the test asks how often "
            "h(S) is at least as large as observed; put the direction into h"
        )


def _ask_of_scores(data: Scores, entry: statistics.Statistic, how: dict[str, Any]) -> Question:
    """The question about a difference of sums or means, or about h of it."""
    if data.columns:
        raise ValueError(
            f"statistic={entry.name!r} takes one score for each entry, but there are "
            f"{len(data.columns)} columns ({', '.join(data.columns)}); see STATISTICS"
        )
    h, scale = how["h"], data.scale
    arrays = data.arrays if data.clusters is None else data.units.arrays
    off = Fraction(sum(data.tolerance or ()) * (1 + 1e-12))
    tolerance = ceil(2 * off * scale)  # two sums are compared, each of which may be off
    if h is not None and tolerance:
        raise ValueError(
            "with h scores have to be exact, but these are floating-point numbers whose rounding "
            "can decide ties; round them to some decimals, or pass Fraction(x) of exact ones"
        )
    law, u, v = distribution.group_differences(*arrays)
    divisor = max(len(data), 1) if entry.name == "mean" else 1
    whole = scale * divisor
    return Question(
        law=law,
        observed_sums=(u - v,),
        data=data,
        metric=entry.name if h is None else f"{function_name(h, 'h')}({entry.name})",
        title=data.score or (entry.unit if h is None else "") or "points",
        scores=(u, v) if whole == 1 else (unscaled(u, whole), unscaled(v, whole)),
        scale=scale,
        divisor=divisor,
        tolerance=tolerance,
        reading=data.reading,
        **how,
    )


def _ask_of_measure(data: Scores, entry: statistics.Statistic, how: dict[str, Any]) -> Question:
    """The question about the difference of a measure of counts."""
    measure, (first, second) = statistics.measured(entry, data.units)
    measure, first, second = measure.as_one_ratio(first, second)
    lattice, sums = LatticeSum.of(first, second), tuple(map(exact_sum, first.T))
    others = tuple(map(exact_sum, second.T))
    return Question(
        law=lattice.line,
        lattice=lattice,
        observed_sums=sums,
        measure=measure,
        both_sums=tuple(x + y for x, y in zip(sums, others, strict=True)),
        metric=entry.name,
        title=entry.title,
        scores=(float(measure.exact(sums)), float(measure.exact(others))),
        **how,
    )


def _ask_of_entries(
    u: Any, v: Any, g: Any, names: tuple[str, str] | None, clusters: Any, how: dict[str, Any]
) -> Question:
    """Call the user's g, or every one of a list, on every entry both ways (Alg. 5, lines 2-4)."""
    functions, h = [g] if callable(g) else [] if is_unordered(g) else list(g), how["h"]
    if not functions or not all(map(callable, functions)):
        raise TypeError(f"g={g!r} must be a function of two entries, or a list of such functions")
    if h is None and not callable(g):
        sums = counted(len(functions), "sums")
        raise TypeError(
            f"h=None is no function, but a list of g needs an h of {sums}, as in Algorithm 5"
        )
    if isinstance(u, Scores):
        u = Scores.of(u, v)
        if u.scale != 1:
            raise ValueError(f"g takes integers, but the scores are multiples of 1/{u.scale}")
        names = names or u.names
        clusters = u.clusters if clusters is None else clusters
    labels = ["g"] if callable(g) else [f"g[{i}]" for i in range(len(functions))]
    each = [local_effects(u, v, f, label) for f, label in zip(functions, labels, strict=True)]
    stay, swap = (np.stack(some, axis=1) for some in zip(*each, strict=True))
    n_entries, metric, lattice = None, function_name(h, "h"), None
    if clusters is not None:
        numbers, n_entries = scores.cluster_numbers(clusters, len(stay)), len(stay)
        stay, swap = scores.add_up(stay, numbers), scores.add_up(swap, numbers)
    if not callable(g):
        lattice = LatticeSum.of(stay, swap)
        law = lattice.line
    else:
        sizes = distribution.count_values(np.abs(stay - swap)[:, 0])
        law = distribution.from_widths(len(stay), *sizes, exact_sum(np.minimum(stay, swap)[:, 0]))
        metric = f"{metric}({function_name(g, 'g')})" if h is not None else function_name(g, "g")
    return Question(
        law=law,
        lattice=lattice,
        observed_sums=tuple(map(exact_sum, stay.T)),
        metric=metric,
        title="" if lattice is not None else "points",
        names=scores.check_names(names or ("u", "v")),
        n_entries=n_entries,
        **how,
    )


def local_effects(
    u: Any, v: Any, g: Callable[[Any, Any], Any], name: str = "g"
) -> tuple[IntArray, IntArray]:
    """g(u_n, v_n) if entry n stays, and g(v_n, u_n) if it is swapped (Alg. 2, lines 3-4)."""
    if isinstance(u, Scores) and v is None:
        u, v = u.u, u.v
    scores.check_aligned(u, v)
    a, b = _entries(u, "u"), _entries(v, "v")
    scores.check_length(a, b, ("u", "v"))
    stay = as_integers([g(x, y) for x, y in zip(a, b, strict=True)], f"{name}(u, v)")
    return stay, as_integers([g(y, x) for x, y in zip(a, b, strict=True)], f"{name}(v, u)")


def _entries(values: Any, name: str) -> list[Any]:
    """The entries as Python objects, so that the user's `g` cannot wrap around."""
    if is_unordered(values) or hasattr(values, "columns") or getattr(values, "ndim", 1) == 0:
        kind = type(values).__name__
        raise TypeError(f"{name} must be a list or an array of entries for g, not {kind}")
    if getattr(values, "ndim", 1) > 1 and values.dtype.kind in "biu":
        return list(values.astype(object if values.dtype == np.uint64 else np.int64))
    return [x.item() if isinstance(x, np.generic) else x for x in values]


def function_name(function: Callable[..., Any], default: str) -> str:
    """What a function is called, also that of a `functools.partial`; `default` if nothing."""
    name = getattr(getattr(function, "func", function), "__name__", "<lambda>")
    return default if name == "<lambda>" else str(name)
