"""The result of a paired-permutation test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ldexp, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest import _text
from permtest._errors import TooHard
from permtest._text import Shown, counted, number, p_value, plain
from permtest.integers import unscaled
from permtest.methods import Solution, count, interval_of_p, solve
from permtest.null.convolution import dp_cells, fft_cells, log_cells
from permtest.null.distribution import MAX_CELLS, SMALLEST, JointDistribution
from permtest.null.lattice import box_law, box_shape
from permtest.question import Question

if TYPE_CHECKING:  # what only their methods need, which import it
    from permtest.interval import ConfidenceInterval

#: Values of a measure that are computed to find the smallest p; more would take seconds.
MOST_VALUES = 25_000

#: A p above this is not called small; with so many units that differ some p is below it.
ALPHA, FEW = 0.05, 12

#: What one-sided alternatives say of the first system.
ONE_SIDED = {"greater": "higher", "less": "lower"}

#: Cell updates that take about a second; with fewer informative entries than the latter no
#: probability is below 2^-1000.
AFFORDABLE, NO_UNDERFLOW = 10**9, 1000


class Samples(NamedTuple):
    """What random labellings gave: distinct points, how often each came up, and which are extreme.

    Points are cells of the law of a question, or the values of the statistic where there is none.
    """

    points: NDArray[Any]
    counts: NDArray[np.int64]
    extreme: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """K, the number of samples."""
        return int(self.counts.sum())

    @property
    def n_extreme(self) -> int:
        """C, how many are at least as extreme as what was observed."""
        return int(self.counts[self.extreme].sum())


@dataclass(frozen=True)
class PermutationTestResult(Shown):
    """What a paired-permutation test found.

    Made by `exact_perm_test`, `monte_carlo` and `metric_test`. ``print(result)`` gives a sentence
    to paste, and `permtest.plots.plot_null` a picture.

    Parameters
    ----------
    statistic : int or float
        t(u, v): the observed sum, mean, difference of measures, or value of h. Positive, unless h
        says otherwise: the first system scores higher.
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
    n_samples, n_extreme : int or None
        K and C of a Monte Carlo test.
    n_entries : int or None
        How many pairs there are in the `n` clusters that are swapped; None without clusters.
    scores : tuple of two numbers, or None
        What both systems score: their totals, means, or measures, whose difference is `statistic`.
    score : str
        What the scores are called; empty if nobody says.
    higher_is_better : bool or None
        As declared, or as the metric has it; None if nobody said so.
    reading : str
        What floating-point scores were taken for, such as "scores are multiples of 1/3000"; empty
        where that is the numbers that they are printed as.
    parts : tuple of m str
        What the sums of a measure such as F1, or of several g, are; empty for one sum.
    sums, other_sums : tuple of m int
        Their observed values, of the first system and of the second one (or None).
    rank : int
        How many of the sums vary independently of each other.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> result = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> result.statistic, result.pvalue, result.fraction()
    (7, 0.125, Fraction(1, 8))
    >>> result.n, result.n_informative
    (5, 4)
    >>> a, b = [[3, 1, 0], [2, 0, 1], [4, 0, 0]], [[2, 1, 1], [2, 1, 1], [3, 1, 1]]
    >>> result = exact_perm_test(a, b, statistic="f1")
    >>> result.parts, result.sums, result.other_sums
    (('2 tp', 'fp + fn'), (18, 2), (14, 6))
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
    n_samples: int | None = None
    n_extreme: int | None = None
    n_entries: int | None = None
    scores: tuple[float, float] | None = None
    score: str = ""
    higher_is_better: bool | None = None
    reading: str = ""
    parts: tuple[str, ...] = ()
    sums: tuple[Any, ...] = ()
    other_sums: Any = None
    rank: int = 1
    #: None where a function of predictions was sampled, which has no sums.
    _question: Question | None = field(kw_only=True, repr=False, compare=False)
    _samples: Samples | None = field(default=None, kw_only=True, repr=False, compare=False)

    # ---- which system --------------------------------------------------------------------------

    @property
    def difference(self) -> float | None:
        """By how much the first system scores higher; None where the statistic says no such."""
        user = self._question is not None and self._question.h is not None
        return None if self.scores is None or user else self.statistic

    @property
    def higher(self) -> str | None:
        """The system with the higher score; None on a tie, or where there are no two scores."""
        gap = self.difference
        return self.names[gap < 0] if gap else None

    @property
    def swapped(self) -> str:
        """What is swapped as a whole: "pairs", "clusters", or "items" with all of their runs."""
        if self._question is None:
            return "pairs" if self.n_entries is None else "clusters"
        return self._question.swapped

    # ---- the null distribution -----------------------------------------------------------------

    @cached_property
    def null_distribution(self) -> Any:
        """The law of the sum, or of the sums together, under the null hypothesis.

        A `LatticeDistribution`, or a `JointDistribution` of several sums or of sampled values.
        Computed when first asked for; of the samples, where p was sampled. Of one sum each cell is
        accurate relative to itself, and its logarithm known where it is too small for a float64.
        Raises MemoryError if it would not fit.
        """
        question, samples = self._question, self._samples
        if question is None or question.lattice is not None:
            return _joint_law(question, samples, self.metric)
        law, scale = question.law, question.scale
        if samples is not None:
            law.check_size("the sampled distribution")
            cells = np.zeros(law.top + 1)
            cells[samples.points.astype(np.int64)] = samples.counts / samples.size
            return law.distribution(cells, scale=scale)
        if law.n_informative < NO_UNDERFLOW and law.dp_operations() <= AFFORDABLE:
            return law.distribution(dp_cells(law), scale=scale)
        try:
            logs, _ = log_cells(law)
        except TooHard:
            found = fft_cells(law)
            return law.distribution(np.maximum(found.cells, 0.0), found.noise, scale)
        return law.distribution(np.exp(logs), scale=scale, logs=logs)

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which points of ``null_distribution.support`` are at least as extreme as observed."""
        question, samples = self._question, self._samples
        if question is not None and question.lattice is None:
            return question.extreme
        if samples is not None:
            return samples.extreme
        assert question is not None
        return question.sums_are_extreme([self.null_distribution.support])

    @cached_property
    def null_values(self) -> NDArray[np.float64]:
        """What a picture of the null distribution has on its axis, for each point of the law."""
        points = self.null_distribution.support
        if self._question is not None and self._question.lattice is not None:
            return self._question.values(points)
        return np.asarray(points, dtype=np.float64).reshape(len(points))

    @property
    def marks(self) -> tuple[Any, ...]:
        """What was observed and, two-sided, its mirror image if that is another value."""
        question, observed, mirrored = self._question, self.statistic, -self.statistic
        if question is not None and question.lattice is None:
            law, total = question.law, question.observed_sums[0]
            observed = unscaled(total, question.scale)
            mirrored = unscaled(2 * law.offset + law.unit * law.top - total, question.scale)
        alone = self.alternative != "two-sided" or mirrored == observed
        return (observed,) if alone else (observed, mirrored)

    @property
    def unit(self) -> str:
        """What axes call the sum: the name of the measure, of the score, or of what is counted."""
        return (self._question.title if self._question is not None else "") or self.metric

    @property
    def is_measured(self) -> bool:
        """Whether a measure is compared, and no sum or mean of scores."""
        return bool(self.parts) or self._question is None

    # ---- what the data could show --------------------------------------------------------------

    @cached_property
    def smallest_pvalue(self) -> float | None:
        """The p of the most extreme labelling: the smallest that these data could have shown.

        Of a sum it is 2^-n_informative, or twice that two-sided. Of measures such as F1 all values
        are looked at; None where there are too many of them, and of a function `h`.
        """
        question = self._question
        if question is None or question.h is not None:
            return None
        if question.lattice is None:
            sides = 2 if self.alternative == "two-sided" and self.n_informative else 1
            return max(ldexp(sides, -self.n_informative), SMALLEST)
        cells = min(question.law.top + 1, prod(box_shape(question.lattice)[1]))
        if self._samples is not None or cells > MOST_VALUES:
            return None
        values, points = question.directed(self.null_values), self.null_distribution.support
        best = points[values >= values.max() - 1e-9 * abs(values).max()].tolist()
        most = max(best, key=lambda sums: question.directed(question.exact(sums)))
        return answer(question.observing(most)).pvalue

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside p: that it cannot be small, or that a system does not vary."""
        found, data = [], getattr(self._question, "data", None)
        if self.n_informative <= FEW and self.n_samples is None:
            least, few = self.smallest_pvalue or 0.0, counted(self.n_informative, self.swapped)
            if least > ALPHA and self.n_informative:
                differ = "differs" if self.n_informative == 1 else "differ"
                found.append(f"With {few} that {differ}, p cannot be below {p_value(least)}.")
        if self.swapped == "items":
            found.append("The answer is about these runs on new items, not about new runs.")
        if data is not None and len(data) > 1:
            for name, scores in zip(self.names, data.arrays, strict=True):
                if scores.min() == scores.max():
                    score = number(unscaled(int(scores[0]), data.scale))
                    found.append(f"{name} scores {score} on every item.")
        return tuple(found)

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
            A pair ``low, high``, in scores per pair. Two-sided tests leave half of the error
            probability on each side; for "greater" `high` is infinite (1 for scores of 0 and 1),
            for "less" `low` is.

        Notes
        -----
        Shifts assume that the differences, or those of clusters, are symmetric about a value that
        is the same for all pairs. Then the interval covers it with at least the stated probability,
        at any N. The `warning` says where differences look otherwise: skewed, or mostly 0. In
        clusters every pair is shifted, whatever their sizes. Tango's interval is approximate: from
        20 items on, a 95% interval covers the difference in 92% of samples at least, mostly in 94
        to 99% (``python -m benchmarks.calibration``). Cost: three to eight p-values for each end.
        """
        from permtest.interval import interval_of

        self._refuse_samples("confidence_interval")
        if self._question is None:
            raise ValueError("confidence_interval is for tests in which items are swapped")
        if self._question.lattice is not None:
            raise ValueError(f"{self.metric} has no interval; see alternatives.paired_bootstrap")
        return interval_of(self._question, confidence_level)

    def _refuse_samples(self, what: str) -> None:
        if self._samples is not None:
            raise ValueError(f"{what} needs an exact p; use exact_perm_test(...).{what}")

    def fraction(self) -> Fraction:
        """The exact p-value, whose denominator divides 2**n_informative.

        Raises ValueError if p was sampled, and MemoryError if the integers would not fit.
        """
        self._refuse_samples("fraction")
        assert self._question is not None
        if self._question.tolerance and solve(self._question).method == "bracket":
            raise ValueError(
                "scores are floating-point numbers whose rounding can decide ties, so that p is "
                "known between two bounds only; pass Fraction(x) of exact ones"
            )
        return Fraction(count(replace(self._question, tolerance=0)), 2**self.n_informative)

    def pvalue_interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """An interval for the exact p-value: low, high.

        Where p was sampled, it is that of Clopper and Pearson for C extreme samples among K.
        Otherwise it comes from `error_bound`, and starts at 0 where p is below 1e-300; for method
        "bracket" p is its upper end.
        """
        return interval_of_p(self, confidence_level)

    # ---- how it reads ----------------------------------------------------------------------------

    def __str__(self) -> str:
        return " ".join([self.sentence(), *self.notes])

    def sentence(self) -> str:
        """What ``print(result)`` shows, without the notes."""
        found, (low, high) = f"{self._effect()} over {self._pairs()}:", self.pvalue_interval()
        p, test = self.pvalue_text(), self.test_text()
        if self.method == "bracket":
            return f"{found} p lies between {number(low)} and {number(high)} ({test})."
        if self.n_samples is None:
            return f"{found} p = {p} (exact {test})."
        sure = f"95% interval {_text.interval(low, high, 3)}"
        return f"{found} p is about {p} ({test}, by {self.n_samples} random labellings; {sure})."

    def _effect(self) -> str:
        """Which system scores higher by how much; the bare statistic if it is no difference."""
        (a, b), several = self.names, self.is_measured
        title = self.unit if self.parts else self.metric
        if self.difference is None or self.scores is None:
            what = f"{self.metric} of the sums" if several else self.metric
            return f"{what} of {a} against {b} is {number(self.statistic)}"
        what = f" in {self.score}" * bool(self.score) + " on average" * (self.metric == "mean")
        digits = 4 if several or self.swapped == "items" else 6  # means over runs are long
        more = self.difference > 0
        x, y, gap = (number(z, digits) for z in (*self.scores, abs(self.difference)))
        if not self.difference:
            return f"{a} and {b} score the same{f' {title}' if several else what} ({x})"
        both = f"({x} against {y}{'; lower is better' * (self.higher_is_better is False)})"
        if several:
            way = "higher" if more else "lower"
            return f"{title} of {a} is {gap} {way} than that of {b} {both}"
        return f"{a} scores {gap} {'more' if more else 'less'} than {b}{what} {both}"

    def _pairs(self) -> str:
        """How many pairs, clusters or items there are, and how many of them differ."""
        text, some = counted(self.n, self.swapped), self.n_informative
        if self.n_entries is not None:
            text = counted(self.n_entries, "pairs") + f" in {text}" * (self.n_entries > self.n)
        if (self.n_entries or self.n) == 1:
            return f"{text}, which {'differs' if some else 'does not differ'}"
        which = "all" if some == self.n else some or "none"
        return f"{text}, {which} of which differ{'s' * (some == 1)}" if self.n else text

    def test_text(self) -> str:
        """The test, and what a one-sided one is for; upper-tailed is that of a function `h`."""
        test = "paired-permutation test"
        if self._question is not None and self._question.h is not None:
            return f"upper-tailed {test}"
        if self.alternative == "two-sided":
            return f"two-sided {test}"
        return f"one-sided {test} that {self.names[0]} scores {ONE_SIDED[self.alternative]}"

    def pvalue_text(self, digits: int = 3) -> str:
        """p with so many significant digits; more where p would look like the 1 that it is not."""
        return p_value(self.pvalue, self.log10_pvalue, digits)

    def rows(self) -> list[dict[str, Any]]:
        """All fields, the 95% `pvalue_interval` and more properties, as plain values: one row."""
        names = ("higher", "difference", "notes", "smallest_pvalue")
        more = {name: getattr(self, name) for name in names}
        return [super().rows()[0] | plain(more | {"pvalue_interval": self.pvalue_interval()})]


def _joint_law(question: Question | None, samples: Samples | None, name: str) -> JointDistribution:
    """The joint law of several sums, those of the first system; of values where there are none."""
    if samples is not None:
        points: NDArray[Any] = samples.points[:, None]
        parts: tuple[str, ...] = (name,)
        if question is not None and question.lattice is not None:
            points, parts = question.lattice.sums(samples.points), question.parts
        shares = samples.counts / samples.size
        return JointDistribution(points, shares, parts, float(0.5 / samples.size**0.5))
    assert question is not None
    assert question.lattice is not None
    law, lattice = question.law, question.lattice
    if law.top < MAX_CELLS and law.dp_operations() <= AFFORDABLE:
        cells = dp_cells(law)
        some = np.flatnonzero(cells)
        return JointDistribution(lattice.sums(some), cells[some], question.parts)
    box = box_law(lattice)
    some = np.flatnonzero(box.cells > box.noise)
    points, pmf = lattice.at(box.coordinates(some)), box.cells.reshape(-1)[some]
    return JointDistribution(points, pmf, question.parts, box.noise)


def answer(
    question: Question,
    method: str = "auto",
    *,
    solution: Solution | None = None,
    samples: Samples | None = None,
) -> PermutationTestResult:
    """The result of a question, solved by a method or as said."""
    p, method, reason = solution or solve(question, method)
    known: dict[str, Any] = {"reading": question.reading, "score": question.score}
    for name in ("statistic", "alternative", "metric", "names", "n_entries", "scores"):
        known[name] = getattr(question, name)
    if question.lattice is not None:
        known |= {"parts": question.parts, "sums": question.observed_sums, "rank": question.rank}
        if question.measure is not None:
            known["other_sums"] = question.others(question.observed_sums)
    if samples is not None:
        known |= {"n_samples": samples.size, "n_extreme": samples.n_extreme}
    return PermutationTestResult(
        pvalue=p.value,
        log10_pvalue=p.log10,
        n=question.law.n,
        n_informative=question.law.n_informative,
        higher_is_better=question.higher_is_better,
        method=method,
        method_reason=reason,
        error_bound=p.error_bound if samples is None else None,
        _question=question,
        _samples=samples,
        **known,
    )
