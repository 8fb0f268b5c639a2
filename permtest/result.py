"""The result of a paired-permutation test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ldexp, log10, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest import _forms
from permtest._checks import TooHard, check_level
from permtest._forms import AsFields, p_text, plain
from permtest.null.convolution import dp_cells, fft_cells, log_cells
from permtest.null.distribution import (
    MAX_CELLS,
    SMALLEST,
    UNDERFLOW,
    JointDistribution,
    LatticeDistribution,
    attainable,
)
from permtest.null.lattice import box_law, box_shape
from permtest.null.sampling import sampled_distribution
from permtest.question import (
    Question,
    SeveralSums,
    Solution,
    SumQuestion,
    at_least,
    count_extreme,
    solve,
)
from permtest.score import Score, as_said, counted

if TYPE_CHECKING:  # what only their methods need, which import it
    from permtest.interval import ConfidenceInterval

#: A notebook draws a distribution of no more cells, or of points where each value of a measure is
#: computed, or a user's function called: more would take seconds, and nobody asked for them.
MOST_CELLS, MOST_POINTS, MOST_CALLS = 4_000_000, 200_000, 25_000

#: A p above this is not called small; with so many units that differ some p is below it.
ALPHA, FEW = 0.05, 12

#: Cell updates that take about a second; with fewer informative entries than the latter no
#: probability is below 2^-1000.
AFFORDABLE, NO_UNDERFLOW = 10**9, 1000


class Samples(NamedTuple):
    """What a Monte Carlo test drew: distinct cells of the null law, and how often each came up."""

    cells: NDArray[Any]
    counts: NDArray[np.int64]
    n_extreme: int

    @property
    def size(self) -> int:
        """K, the number of samples."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class PermutationTestResult(AsFields):
    """What a paired-permutation test found.

    Made by `exact_perm_test`, `monte_carlo` and `metric_test`. ``print(result)`` gives a sentence
    to paste; a notebook shows a small table and a picture.

    Parameters
    ----------
    statistic : int or float
        t(u, v): the observed sum, mean, or value of h. Positive, unless h says otherwise: the first
        system scores more.
    pvalue : float
        In (0, 1]. Where p is below 5e-324, the smallest float64, that number stands for it.
    log10_pvalue : float
        Decimal logarithm of p, accurate at any size.
    alternative : str
        "two-sided", "greater" or "less".
    n : int
        Number of units that are swapped: pairs, or clusters.
    n_informative : int
        Number of units whose swap changes the sum.
    method : str
        "tilted", "dp", "fft", "cf", "enumeration", "integer", "bracket" or "monte_carlo".
    method_reason : str
        Why that method.
    error_bound : float or None
        Bound on the relative error of `pvalue`, or of ``10**log10_pvalue`` where that is below
        1e-300. For "fft" and "cf" it is 16 standard deviations of the rounding noise. For
        "bracket", `pvalue` is the upper bound of p, and ``pvalue / (1 + error_bound)`` the lower
        one. None where p was sampled: then `pvalue_interval` says how sure it is.
    metric : str
        Name of the statistic.
    names : tuple of two str
        The names of the two systems.
    totals : tuple of two numbers, or None
        Sums of both systems' scores, where the statistic is their difference: integers, or floats
        where scores have decimals.
    n_samples, n_extreme : int or None
        K and C of a Monte Carlo test.
    n_entries : int or None
        How many pairs there are in the `n` clusters that are swapped; None without clusters.
    scores : tuple of two numbers, or None
        What both systems score: their totals, means, or measures, whose difference is `statistic`.
    reading : str
        What floating-point scores were taken for, such as "scores are multiples of 1/3000"; empty
        where that is the numbers that they are printed as.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> result.statistic, result.pvalue, result.fraction()
    (7, 0.125, Fraction(1, 8))
    >>> result.n, result.n_informative
    (5, 4)
    >>> low, high = result.confidence_interval(0.8)
    >>> low, high
    (0.5, 2.0)
    >>> result.at(5).pvalue
    0.375
    """

    statistic: Any
    pvalue: float
    log10_pvalue: float
    alternative: str
    n: int
    n_informative: int
    method: str
    method_reason: str
    error_bound: float | None
    metric: str
    names: tuple[str, str]
    totals: tuple[float, float] | None
    n_samples: int | None = None
    n_extreme: int | None = None
    n_entries: int | None = None
    scores: tuple[float, float] | None = None
    reading: str = ""
    _question: SumQuestion = field(kw_only=True, repr=False, compare=False)
    _samples: Samples | None = field(default=None, kw_only=True, repr=False, compare=False)

    @cached_property
    def null_distribution(self) -> LatticeDistribution:
        """The law of the sum S under the null hypothesis; of the samples, where p was sampled.

        Computed when first asked for, each cell accurate relative to itself, and its logarithm
        known where it is too small for a float64. Raises MemoryError if it would not fit.
        """
        law, scale = self._question.law, self._question.scale
        if self._samples is not None:
            return sampled_distribution(law, self._samples.cells, self._samples.counts, scale)
        if law.n_informative < NO_UNDERFLOW and law.dp_operations() <= AFFORDABLE:
            return law.distribution(dp_cells(law), scale=scale)
        try:
            logs, _ = log_cells(law)
        except TooHard:
            found = fft_cells(law)
            return law.distribution(np.maximum(found.cells, 0.0), found.noise, scale)
        return law.distribution(np.exp(logs), scale=scale, logs=logs)

    @property
    def extreme(self) -> NDArray[np.bool_]:
        """Which values of ``null_distribution.support`` are at least as extreme as observed."""
        return self._question.extreme

    @property
    def null_values(self) -> NDArray[np.float64]:
        """What a picture of the null distribution has on its axis, for each point of the law."""
        return np.asarray(self.null_distribution.support, dtype=np.float64)

    @property
    def observed_sum(self) -> float:
        """The observed value of S, where the picture of the null distribution is marked."""
        return self._question.in_scores(self._question.observed)

    @property
    def mirrored_sum(self) -> float | None:
        """Where the other tail of a two-sided test begins; None where that is the same value."""
        question, law = self._question, self._question.law
        mirrored = question.in_scores(2 * law.offset + law.unit * law.top - question.observed)
        other = self.alternative == "two-sided" and mirrored != self.observed_sum
        return mirrored if other else None

    @property
    def observed_cell(self) -> int:
        """The number of the cell of `null_distribution` that holds it."""
        return self._question.law.cell(self._question.observed)

    @property
    def n_cells(self) -> int:
        """How many cells the null distribution has, or would have."""
        return self._question.law.top + 1

    def _is_long(self) -> bool:
        return self.n_cells > MOST_CELLS

    @property
    def unit(self) -> str:
        """What one unit of the sum is."""
        return self.score.unit or "points"

    @property
    def score(self) -> Score:
        """What was compared: its name, its unit, and whether higher is better."""
        return self._question.score

    @property
    def difference(self) -> float | None:
        """By how much the first system scores more; None where the statistic says no such thing."""
        return None if self.scores is None or self._question.h is not None else self.statistic

    @property
    def better(self) -> str | None:
        """The name of the better system, by its scores alone; None where they tie, or have none."""
        return self.score.better(self.names, self.difference or 0)

    @cached_property
    def smallest_pvalue(self) -> float | None:
        """The p of the most extreme labelling: the smallest that these data could have shown.

        Of a sum it is 2^-n_informative, or twice that two-sided; 2^-n where the test was told by
        how much scores were rounded, as units that are equal may have differed then. Of a function
        of sums all values are looked at; None where there are too many of them.
        """
        if self._question.lattice is None and self._question.h is None:
            units = self.n if self._question.ties_doubtful else self.n_informative
            sides = 2 if self.alternative == "two-sided" and units else 1
            return max(ldexp(sides, -units), SMALLEST)
        if self._samples is not None or self.n_cells > MOST_CALLS:
            return None
        return min(self.at(sums).pvalue for sums in self._most_extreme())

    def _most_extreme(self) -> list[Any]:
        """The sums for which t is as extreme as it can be."""
        question = self._question
        cells = np.arange(question.law.top + 1)[attainable(question.law)]
        values = [question._value(question.law.offset + question.law.unit * int(c)) for c in cells]
        best = cells[at_least(values, max(values))][0]
        return [question.in_scores(question.law.offset + question.law.unit * int(best))]

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside p: that it cannot be small, or that a system does not vary."""
        found, pairs = [], getattr(self._question, "pairs", None)
        sure = self.n_samples is None and not self._question.ties_doubtful
        if self.n_informative <= FEW and sure:
            least = self.smallest_pvalue
            if least is not None and least > ALPHA and self.n_informative:
                number, p = counted(self.n_informative, self.swapped), p_text(least, log10(least))
                differ = "differs" if self.n_informative == 1 else "differ"
                found.append(f"With {number} that {differ}, p cannot be below {p}.")
        if self.swapped == "items":
            found.append("The answer is about these runs on new items, not newly trained systems.")
        if pairs is not None and len(pairs) > 1:
            for name, scores in zip(self.names, (pairs.u, pairs.v), strict=True):
                if scores.ndim == 1 and scores.min() == scores.max():
                    score = as_said(pairs.in_scores(int(scores[0])))
                    found.append(f"{name} scores {score} on every item.")
        return tuple(found)

    def at(self, observed: Any, *, method: str = "auto") -> PermutationTestResult:
        """The same test, had another sum been observed.

        The null distribution depends on the sizes of the differences alone. So any sum that some
        labelling has could have been the observed one; this is its p-value.

        Parameters
        ----------
        observed : int or float, or sequence of m int
            The sum of g; some labelling must have it. Of several sums those of the first system, in
            the order of `parts`, on the lattice of possible ones.
        method : str, default "auto"
            As in `exact_perm_test`.

        Returns
        -------
        PermutationTestResult
            Without `totals`, unless it is the sum that was observed.

        Raises
        ------
        ValueError
            If no labelling has that sum, or p was sampled.
        MemoryError
            If the lattice is too long to tell whether some labelling has it.

        Examples
        --------
        >>> from permtest import exact_perm_test
        >>> exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]).at(-5).fraction()
        Fraction(3, 8)
        """
        self._refuse_samples("at")
        return answer(self._question.observing(observed), method)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for the mean difference per pair.

        All shifts of every pair that the exact test does not reject; for scores of 0 and 1 without
        clusters, all differences that Tango's score test does not reject.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            A pair ``low, high``, in scores per pair, with `confidence_level`, `method`, `warning`
            and `resolution`: by how much the ends were rounded outward at most, 0 where they are
            exact. Two-sided tests leave half of the error probability on each side; for "greater"
            `high` is infinite (1 for scores of 0 and 1), for "less" `low` is. An end is infinite
            too where there are too few pairs for any shift to be excluded. Where the test was told
            by how much scores were rounded, both ends are moved out by as much as that can matter.

        Raises
        ------
        ValueError
            If the statistic is no sum of differences, or p was sampled.

        Notes
        -----
        Shifts assume that the differences, or those of clusters, are symmetric about a value that
        is the same for all pairs. Then the interval covers it with at least the stated probability,
        at any N. The `warning` says where differences look otherwise: skewed, or mostly 0. In
        clusters every pair is shifted, whatever their sizes. Scores of 0 and 1 have no such shift,
        and Tango's interval is approximate: from 20 items on, a 95% interval covers the difference
        in 92% of samples at least, mostly in 94 to 98% (``python -m benchmarks.calibration``).
        Cost: three to eight p-values for each end, a few milliseconds each; for scores of 0 and 1 a
        tenth of a millisecond.
        """
        from permtest.interval import interval_of

        self._refuse_samples("confidence_interval")
        if self._question.lattice is not None:
            raise ValueError(f"confidence_interval is for tests of one sum, not for {self.metric}")
        return interval_of(self._question, confidence_level)

    def _refuse_samples(self, what: str) -> None:
        if self._samples is not None:
            raise ValueError(f"{what} needs an exact p; use exact_perm_test(...).{what}")

    def fraction(self) -> Fraction:
        """The exact p-value as a fraction, in integer arithmetic.

        Returns
        -------
        fractions.Fraction
            Its denominator divides 2**n_informative.

        Raises
        ------
        MemoryError
            If the integers would not fit.
        ValueError
            If p was sampled.
        """
        self._refuse_samples("fraction")
        question: Question = self._question
        if question.slack:
            if solve(question).method == "bracket":
                raise ValueError(
                    "scores are floating-point numbers whose rounding can decide ties, so that p "
                    "is known between two bounds only; pass rounding=0 if they are exact"
                )
            question = replace(question, slack=0)
        return Fraction(count_extreme(question), 2**question.law.n_informative)

    def pvalue_interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """An interval for the exact p-value.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Only matters where p was sampled: the interval is then that of Clopper and Pearson
            for C extreme samples among K. Otherwise it comes from `error_bound`, and starts at 0
            where p is below 1e-300; for method "bracket" p is its upper end.

        Returns
        -------
        low, high : float
        """
        check_level(confidence_level, "confidence_level")
        if self.n_samples is None or self.n_extreme is None:
            bound = self.error_bound or 0.0
            low = self.pvalue / (1 + bound) if self.pvalue > UNDERFLOW else 0.0
            above = 0.0 if self.method == "bracket" else bound
            return low, min(self.pvalue * (1 + above), 1.0)
        return clopper_pearson(self.n_extreme, self.n_samples, confidence_level)

    def __str__(self) -> str:
        return " ".join([self.sentence(), *self.notes])

    def sentence(self, *, direction: bool = True) -> str:
        """What ``print(result)`` shows; it can leave out which direction is better."""
        finding = f"{self.effect_text(direction=direction)} over {self.pairs_text()}"
        if self.method == "bracket":
            test = f"{self.sides_text()} paired-permutation test"
            return f"{finding}: p lies {self.bracket_text()} by the {test}."
        if self.n_samples is None:
            test = f"the exact {self.sides_text()} paired-permutation test"
            return f"{finding}: p = {self.pvalue_text()} by {test}."
        low, high = self.pvalue_interval()
        test = f"random labellings of the {self.sides_text()} paired-permutation test"
        return (
            f"{finding}: p is about {self.pvalue_text()} by {self.n_samples} {test} "
            f"(95% interval {low:.3g} to {high:.3g})."
        )

    def effect_text(self, *, direction: bool = True) -> str:
        """Who is ahead by how much, and why that is ahead; the bare statistic if it is no lead."""
        (a, b), score, question = self.names, self.score, self._question
        several = question.lattice is not None
        if self.scores is None or question.h is not None:
            what = f"{self.metric} of the sums" if several else self.metric
            return f"{what} of {a} against {b} is {as_said(self.statistic)}"
        (x, y), note, detail = self.scores, score.note if direction else "", ""
        if several:
            found = f"{question.title or self.metric} is {x:.4f} for {a} and {y:.4f} for {b}"
            detail = f"difference {self.statistic:+.4g}"
        elif self.metric != "mean":
            found = score.lead((a, b), (x, y), abs(self.statistic))
            if x == y:
                return found
            detail = f"{as_said(x)} against {as_said(y)}"
        else:
            gap, way = abs(float(self.statistic)), "higher" if self.statistic > 0 else "lower"
            found = f"{a} and {b} tie at a {score.mean(x)}"
            if gap:
                found = f"{a} has a {score.mean(x)} against {y:.6g} for {b}, {gap:.6g} {way}"
            if not (note or score.higher_is_better):
                note = "lower is better"
        inside = "; ".join(filter(None, (detail, note)))
        return f"{found} ({inside})" if inside else found

    @property
    def swapped(self) -> str:
        """What is swapped as a whole: "pairs", "clusters", or "items" with all of their runs."""
        return self._question.swapped

    def size_text(self) -> str:
        """How many pairs, clusters or items there are."""
        text = counted(self.n, self.swapped)
        if self.swapped == "items":
            text += f", {self._question.runs_each}"
        elif self.n_entries is not None:
            inside = f" in {text}" * (self.n_entries > self.n)
            text = counted(self.n_entries, "pairs") + inside
        return text

    def pairs_text(self) -> str:
        """The same, and how many of them matter."""
        text, number = self.size_text(), self.n_informative
        if (self.n_entries or self.n) == 1:
            return f"{text}, which {'differs' if number else 'does not differ'}"
        which = (
            f"of which {number} differ{'s' * (number == 1)}" if number else "none of which differ"
        )
        return f"{text}, {which}" if self.n else text

    def sides_text(self) -> str:
        """How many sides the test has, and which."""
        if self._question.h is not None:
            return "upper-tailed"
        if self.alternative == "two-sided":
            return self.alternative
        claim = self.score.claim(self.alternative, self.names)
        meaning = "" if self.score.higher_is_better else f": {claim}"
        return f"one-sided ({self.alternative}{meaning})"

    def pvalue_text(self, digits: int = 3) -> str:
        """p with so many significant digits; more where p would look like the 1 that it is not."""
        return p_text(self.pvalue, self.log10_pvalue, digits)

    def bracket_text(self) -> str:
        """Both bounds of method "bracket"."""
        low, high = self.pvalue_interval()
        return f"between {low:.6g} and {high:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """All fields and the 95% `pvalue_interval`, as plain numbers, strings, lists and None."""
        found = {"better": self.better, "difference": plain(self.difference)}
        found |= {"pvalue_interval": list(self.pvalue_interval()), "notes": list(self.notes)}
        found["smallest_pvalue"] = self.smallest_pvalue
        return super().to_dict() | self.score.to_dict() | found

    def _repr_html_(self) -> str:
        if self.n_samples is not None:
            low, high = self.pvalue_interval()
            p = f"\N{ALMOST EQUAL TO} {self.pvalue_text()}, 95% interval {low:.3g} to {high:.3g}"
            how = f"{self.n_samples:,} random labellings"
        elif self.method == "bracket":
            p, how = self.bracket_text(), "exact bounds"
        else:
            p, how = self.pvalue_text(), f"exact, {self.method}"
        rows = {"effect": self.effect_text(), "p": f"{p} ({self.sides_text()}; {how})"}
        rows |= {"N": self.pairs_text()}
        rows |= {"reading": self.reading} if self.reading else {}
        return _forms.together(
            _forms.facts(rows), self._picture(), _forms.said(" ".join(self.notes))
        )

    def _picture(self) -> str:
        """The null distribution in bars, where that takes a moment only."""
        if self._is_long():
            return _forms.said("The null distribution is too long to draw here.")
        try:
            law, mark = self.null_distribution, float(self.observed_sum)
            values, mirrored = self.null_values, self.mirrored_sum
            return _forms.bars(
                (values, law.pmf, self.extreme),
                (mark,) if mirrored is None else (mark, mirrored),
                self._question.rank == 1,
                f"Null distribution; observed {mark:.10g}, p = {self.pvalue_text()}",
            )
        except (ArithmeticError, MemoryError, TypeError, ValueError):
            # h may not be made for floats, or for sums that are less likely than p is accurate.
            return _forms.said("The null distribution cannot be drawn here.")


@dataclass(frozen=True)
class StructuredTestResult(PermutationTestResult):
    """What a paired-permutation test of several sums found: of F1, precision, recall, ...

    A `PermutationTestResult` whose null distribution is that of the sums together.

    Parameters
    ----------
    statistic, pvalue, log10_pvalue, alternative, n, n_informative, method, method_reason
        As in `PermutationTestResult`; `statistic` is the difference of the measures, or h.
    error_bound, metric, names, totals, n_samples, n_extreme, n_entries, scores, reading
        As in `PermutationTestResult`; `totals` is None.
    parts : tuple of m str
        What the sums are.
    sums : tuple of m int
        Their observed values: of the first system where systems are compared by a measure.
    other_sums : tuple of m int, or None
        Those of the second system.
    rank : int
        How many of the sums vary independently of each other; 0 for a function of predictions,
        whose observed difference is the one value in `sums`.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> a, b = [[3, 1, 0], [2, 0, 1], [4, 0, 0]], [[2, 1, 1], [2, 1, 1], [3, 1, 1]]
    >>> result = exact_perm_test(a, b, statistic="f1")
    >>> result.parts, result.sums, result.other_sums
    (('2 tp', 'fp + fn'), (18, 2), (14, 6))
    >>> round(result.statistic, 3), result.pvalue
    (0.2, 0.25)
    """

    parts: tuple[str, ...] = ()
    sums: tuple[int, ...] = ()
    other_sums: tuple[int, ...] | None = None
    rank: int = 0
    _question: SeveralSums = field(kw_only=True, repr=False, compare=False)  # type: ignore[assignment]

    @cached_property
    def null_distribution(self) -> JointDistribution:  # type: ignore[override]
        """The joint law of the sums under the null hypothesis, of the first system's sums.

        Computed when first asked for; of the samples, where p was sampled. Raises MemoryError if it
        would not fit.
        """
        question, samples = self._question, self._samples
        law, lattice = question.law, question.lattice
        if samples is not None:
            points, shares = question.sums_in(samples.cells), samples.counts / samples.size
            return JointDistribution(points, shares, question.parts, float(0.5 / samples.size**0.5))
        if law.top < MAX_CELLS and law.dp_operations() <= AFFORDABLE:
            cells = dp_cells(law)
            some = np.flatnonzero(cells)
            return JointDistribution(lattice.sums(some), cells[some], question.parts)
        box = box_law(lattice)
        some = box.above_noise()
        points, pmf = lattice.at(box.coordinates(some)), box.cells.reshape(-1)[some]
        return JointDistribution(points, pmf, question.parts, box.noise)

    def _most_extreme(self) -> list[Any]:
        law, values = self.null_distribution, self.null_values
        directed = abs(values) if self.alternative == "two-sided" else values
        directed = -values if self.alternative == "less" else directed
        best = np.flatnonzero(directed >= directed.max() - 1e-9 * abs(directed).max())
        distinct = best[np.unique(directed[best], return_index=True)[1]]  # as p of a value is
        return [tuple(int(x) for x in sums) for sums in law.support[distinct]]

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which points of ``null_distribution.support`` are at least as extreme as observed."""
        return np.asarray(self._question.sums_are_extreme(self.null_distribution.support))

    @cached_property
    def null_values(self) -> NDArray[np.float64]:
        """The statistic at each point of ``null_distribution.support``."""
        return np.asarray(self._question.values(self.null_distribution.support))

    @property
    def n_cells(self) -> int:
        """How many points `null_distribution` has at most, or would have."""
        if self._samples is not None:
            return int(self._samples.counts.size)
        return min(super().n_cells, prod(box_shape(self._question.lattice)[1]))

    @property
    def observed_sum(self) -> Any:
        """The observed value of the statistic, where a picture of its law is marked."""
        return self.statistic

    @property
    def mirrored_sum(self) -> Any:
        """As of one sum; a difference of measures is mirrored at 0."""
        other = self.alternative == "two-sided" and self.statistic != 0
        return -self.statistic if other else None

    def _is_long(self) -> bool:
        slow = self.scores is None  # a user's function
        return self.n_cells > (MOST_CALLS if slow else MOST_POINTS)

    @property
    def unit(self) -> str:
        """What the statistic is called."""
        return self._question.title or self.metric


def answer(
    question: Question,
    method: str = "auto",
    *,
    solution: Solution | None = None,
    samples: Samples | None = None,
    kind: type[PermutationTestResult] = PermutationTestResult,
    **more: Any,
) -> PermutationTestResult:
    """The result of a question, solved by a method or as said; `more` are fields of its `kind`."""
    p, method, reason = solution or solve(question, method)
    if isinstance(question, SeveralSums):
        kind = StructuredTestResult
        more |= {"parts": question.parts, "sums": question.observed_sums, "rank": question.rank}
        more["other_sums"] = question.other_sums
    found = {
        "statistic": question.statistic,
        "pvalue": p.value,
        "log10_pvalue": p.log10,
        "alternative": question.alternative,
        "n": question.law.n,
        "n_informative": question.law.n_informative,
        "method": method,
        "method_reason": reason,
        "error_bound": p.error_bound if samples is None else None,
        "metric": question.metric,
        "names": question.names,
        "totals": question.totals,
        "n_samples": samples.size if samples else None,
        "n_extreme": samples.n_extreme if samples else None,
        "n_entries": question.n_entries,
        "scores": question.scores,
        "reading": question.reading,
        "_question": question,
        "_samples": samples,
    }
    return kind(**found | more)


def clopper_pearson(count: int, size: int, confidence_level: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a probability, from `count` events in `size`."""
    from scipy.special import betaincinv

    alpha = (1 - confidence_level) / 2
    low = float(betaincinv(count, size - count + 1, alpha)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, size - count, 1 - alpha)) if count < size else 1.0
    return low, high
