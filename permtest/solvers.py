"""From a comparison to the probability of its extreme cells: the methods, and which is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import expm1, inf, log
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.comparison import Comparison
from permtest.null.bracket import tail_bracket
from permtest.null.cf import cf_cells, log_cells
from permtest.null.distribution import JointDistribution, LatticeDistribution
from permtest.null.dp import ROUNDLESS, dp_cells, dp_log_cells, dp_operations, dp_rounding
from permtest.null.enumeration import (
    MAX_ENTRIES,
    QUICK,
    can_halve,
    count_labellings,
    count_tail,
    count_tails,
    enumerate_steps,
)
from permtest.null.fft import Rounded, fft_cells
from permtest.null.grouping import MAX_CELLS, TwoPointSum
from permtest.null.lattice import window
from permtest.null.probability import CERTAIN, EPS, UNDERFLOW, Probability, TooHard
from permtest.null.tail import Tail, attempts, is_countable, tail_cf, tail_dp, tail_fft, tail_tilted
from permtest.structured import MeasureComparison, StructuredComparison

#: Cell updates that take less time than what happens around them.
BRIEF = 2 * 10**5
#: Cell updates that take about a second.
AFFORDABLE = 10**9
#: The same for joint laws: some seconds, with a bar that shows progress.
AFFORDABLE_JOINT = 10**10
#: Bound on the relative error of p that is better than none.
ROUGH = 1e-6
#: Below this p is lost in the noise of any joint law that fits in memory; below that, in samples.
INVISIBLE, RARE = 1e-12, 1e-5
#: Logarithm of the widest bracket that a float holds.
MOST = 700.0
#: With fewer informative entries no probability is below 2^-1000.
NO_UNDERFLOW = 1000


#: What a test asks.
Question: TypeAlias = "Comparison | StructuredComparison"

Solver: TypeAlias = Callable[[Question], Probability]

#: What "auto" may try: the name of a method, how, and why it is right where its turn comes.
Attempt: TypeAlias = tuple[str, Solver, str]


class Solution(NamedTuple):
    """A p-value, how it was computed, and why so."""

    p: Probability
    method: str
    reason: str


def solve(comparison: Question, method: str = "auto") -> Solution:
    """The probability of the extreme cells; "auto" takes the first method of `_plan` that can."""
    check_method(method)
    if isinstance(comparison, Comparison) and comparison.slack and comparison.tails is not None:
        return _solve_rounded(comparison, method)
    if method != "auto":
        return Solution(SOLVERS[method](comparison), method, "asked for")
    last: Exception | None = None
    for name, solver, reason in _plan(comparison):
        try:
            return Solution(solver(comparison), name, reason)
        except (TooHard, MemoryError) as error:
            last = error
    assert last is not None, "a plan is never empty"
    raise last


def check_method(method: str) -> None:
    """Raise ValueError unless `method` is "auto" or one of `SOLVERS`."""
    if method != "auto" and method not in SOLVERS:
        known = ", ".join(map(repr, ("auto", *SOLVERS)))
        raise ValueError(
            f"method={method!r} is not known; choose one of {known}, or call monte_carlo to sample"
        )


def _plan(comparison: Question) -> Iterator[Attempt]:
    """What "auto" tries, in this order."""
    law = comparison.law
    quick = can_halve(law, QUICK) or not can_halve(law)
    if quick and _is_countable(comparison) and 2**law.n_informative <= law.top:
        yield "enumeration", _enumeration, "there are few labellings, and each was counted"
    if law.n_informative <= ROUNDLESS and dp_operations(law) <= BRIEF:
        yield (
            "dp",
            _dp,
            "few pairs differ, and dynamic programming counts their labellings without rounding",
        )
    if comparison.tails is not None:
        reasons = {
            "tilted": "only the tail was computed, by tilting",
            "dp": "the differences are too uneven for tilting to be quick",
            "enumeration": "sums have many possible values, but few labellings had to be counted",
        }
        for name, tail in attempts(law, _nearest(comparison)):
            yield name, partial(_tails, tail=tail), reasons[name]
        yield "bracket", _bracket, "sums have too many possible values for an exact p"
    elif isinstance(comparison, StructuredComparison):
        yield from _plan_of_several(comparison)
    else:
        yield "tilted", _tilted, "the probabilities of all sums that h calls extreme were added"
        yield "cf", _cf, "accuracy relative to each probability would take too long"


def _plan_of_several(comparison: StructuredComparison) -> Iterator[Attempt]:
    """The same for sums that do not lie on one line."""
    law, bound = comparison.law, 1.0
    ratio = isinstance(comparison, MeasureComparison) and comparison.staircase is not None
    if ratio:
        yield "tilted", _tilted, "only the tail of the ratio was computed, by tilting both sums"
    if law.top < MAX_CELLS and dp_operations(law) <= AFFORDABLE_JOINT:
        yield "dp", _dp, "all joint values of the sums fit in memory"
    if ratio:
        with suppress(TooHard):
            bound = _bracket(comparison).value
    if bound > INVISIBLE:
        yield "cf", _window, "all joint values but those of negligible probability fit in memory"
    if bound < RARE:
        yield "bracket", _bracket, "the exact p would take too long, and is too small to be sampled"


def _solve_rounded(comparison: Comparison, method: str) -> Solution:
    """`solve` where scores may be off: exact if that can change no tie, else a bracket."""
    name, solver = method, SOLVERS.get(method, _bracket)
    if method == "auto" and is_countable(comparison.law, _nearest(comparison)):
        name, solver = "enumeration", _counted_around(comparison)
    reason = "rounding may decide ties, and there are too many labellings to check each"
    if solver is _bracket:
        return Solution(_bracket(comparison), "bracket", reason)
    outer, inner = comparison.around()
    try:
        far, near = _with_observed(comparison, solver(outer)), solver(inner)
    except TooHard:
        if method != "auto":
            raise
        return Solution(_bracket(comparison), "bracket", reason)
    off = near.error_bound + far.error_bound
    if near.log - far.log <= off:
        return Solution(near._replace(error_bound=off), name, "no tie depends on rounding")
    reason = "rounding decides whether some labellings tie"
    return Solution(_between(far, near), "bracket", reason)


def _counted_around(comparison: Comparison) -> Solver:
    """Labellings beyond both thresholds, far and near, are counted in one go."""
    law = comparison.law
    far, near = (min(_nearest(moved), law.top + 1) for moved in comparison.around())

    @cache
    def counts() -> tuple[int, int]:
        return count_tails(law, far, near)

    def tail(law: TwoPointSum, t0: int) -> Probability:
        return Probability.of_ratio(counts()[t0 < far], law.n_informative)

    return partial(_tails, tail=tail)


def _with_observed(comparison: Comparison, far: Probability) -> Probability:
    """The observed labelling is extreme however ties break, and so is its mirror image."""
    n = comparison.law.n if comparison.ties_doubtful else comparison.law.n_informative
    for _ in range(2 if comparison.alternative == "two-sided" and far.value < 1 else 1):
        far = far.plus(CERTAIN.halved(n)) if far.value < 1 else far
    return far


def _is_countable(comparison: Question) -> bool:
    """Whether the extreme labellings can be counted: in two halves, or all one by one."""
    law = comparison.law
    if comparison.h is None and can_halve(law) and comparison.tails is not None:
        return True
    return law.n_informative <= MAX_ENTRIES and 2**law.n_informative <= law.top


def _nearest(comparison: Question) -> int:
    """Where the larger of the two tails begins."""
    assert comparison.tails is not None
    lower, upper = comparison.tails
    return upper if upper <= comparison.law.top else comparison.law.top - lower


def null_distribution(law: TwoPointSum, scale: int = 1) -> LatticeDistribution:
    """The whole law, accurate relative to each cell unless that would take long."""
    if law.n_informative < NO_UNDERFLOW and dp_operations(law) <= AFFORDABLE:
        return law.distribution(dp_cells(law), scale=scale)
    try:
        logs, _ = log_cells(law)
    except TooHard:
        found = cf_cells(law)
        return law.distribution(found.cells, found.noise, scale)
    return law.distribution(np.exp(logs), scale=scale, logs=logs)


def joint_distribution(comparison: StructuredComparison) -> JointDistribution:
    """The joint law of the sums; relative to each probability where that is quick."""
    law, lattice, parts = comparison.law, comparison.lattice, comparison.parts
    if law.top < MAX_CELLS and dp_operations(law) <= AFFORDABLE:
        cells = dp_cells(law)
        some = np.flatnonzero(cells)
        return JointDistribution(lattice.sums(some), cells[some], parts)
    box = window(lattice)
    flat = box.cells.reshape(-1)
    some = np.flatnonzero(flat > box.noise)
    points = lattice.at(box.coordinates(some))
    return JointDistribution(points, flat[some], parts, box.noise)


def exact_fraction(comparison: Question) -> Fraction:
    """The p-value as a fraction of all labellings, in integer arithmetic."""
    law = comparison.law
    if isinstance(comparison, Comparison) and comparison.slack:
        method = solve(comparison).method
        if method == "bracket":
            raise ValueError(
                "scores are floating-point numbers whose rounding can decide ties, so that p is "
                "known between two bounds only; pass rounding=0 if they are exact"
            )
        comparison = replace(comparison, slack=0)
    if _is_countable(comparison):
        return Fraction(_count_extreme(comparison), 2**law.n_informative)
    counts = count_labellings(law)
    hits = sum(counts[t] for t in np.flatnonzero(comparison.extreme))
    return Fraction(hits, 2**law.n_informative)


def _count_extreme(comparison: Question) -> int:
    """How many labellings of the informative entries are extreme."""
    law = comparison.law
    if comparison.h is None and can_halve(law) and comparison.tails is not None:
        lower, upper = comparison.tails
        if upper - lower <= 1:
            return int(2**law.n_informative)
        return count_tail(law, law.top - lower) + count_tail(law, upper)  # by symmetry
    sums, repeats = np.unique(enumerate_steps(law), return_counts=True)
    return int(repeats[comparison.reaches(sums)].sum())


def _enumeration(comparison: Question) -> Probability:
    return Probability.of_ratio(_count_extreme(comparison), comparison.law.n_informative)


def _integer(comparison: Question) -> Probability:
    p, n = exact_fraction(comparison), comparison.law.n_informative
    return Probability.of_ratio(int(p * 2**n), n)


def _tails(comparison: Question, tail: Tail) -> Probability:
    """P(T <= lower or T >= upper); the null law is symmetric, so both are upper tails."""
    assert comparison.tails is not None
    law, (lower, upper) = comparison.law, comparison.tails
    if upper - lower <= 1:
        return CERTAIN
    if lower < 0:
        return tail(law, upper)
    below = tail(law, law.top - lower)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else tail(law, upper))


def _tilted_cells(comparison: Question) -> Probability:
    """From the logarithms of all cells, or the law of a ratio of two sums next to its tail."""
    if isinstance(comparison, MeasureComparison) and comparison.staircase is not None:
        if comparison.certain:
            return CERTAIN
        p = comparison.staircase.tail()
        return p.plus(p) if comparison.alternative == "two-sided" else p  # two pieces, alike
    if isinstance(comparison, StructuredComparison):
        raise ArithmeticError(
            "method='tilted' is for sums on a line and for ratios of two sums; method='auto' finds "
            "what can be done for others"
        )
    logs, error = log_cells(comparison.law)
    log_p = _log_sum(logs[comparison.extreme])
    # A cell is off by its noise and by the rounding of its logarithm; cells below p e^-40 by less
    # than they add to it.
    return Probability.of_log(log_p, error + 5 * EPS * (40 - log_p) + EPS * 64)


def _dp_cells(comparison: Question) -> Probability:
    """From all cells, or their logarithms where those are too small for floats."""
    law, extreme = comparison.law, comparison.extreme
    p = float(np.sum(dp_cells(law)[extreme]))
    if p > UNDERFLOW:
        return Probability.of(p, dp_rounding(law))
    return Probability.of_log(_log_sum(dp_log_cells(law)[extreme]), 2 * dp_rounding(law))


def _log_sum(logs: NDArray[np.float64]) -> float:
    """log of the sum of exp(logs), added up in pairs; -inf of nothing."""
    largest = float(logs.max(initial=-inf))
    return largest if largest == -inf else largest + log(float(np.sum(np.exp(logs - largest))))


def _absolute_cells(
    comparison: Question, convolve: Callable[[TwoPointSum], Rounded], name: str
) -> Probability:
    """From all cells, accurate absolutely; of several sums those in a box, where "cf" can."""
    if isinstance(comparison, StructuredComparison) and name == "cf":
        return _window(comparison)
    found, extreme = convolve(comparison.law), comparison.extreme
    p, noise = float(np.sum(found.cells[extreme])), found.noise * float(extreme.sum()) ** 0.5
    if p <= 2 * noise:
        raise ArithmeticError(
            f"p is below {2 * noise:.1g}, the absolute accuracy of method={name!r} where h "
            "does not single out tails; method='auto' has relative accuracy"
        )
    return Probability.of(p, found.relative + noise / (p - noise))


def _window(comparison: Question) -> Probability:
    """From the joint law in a box, accurate absolutely."""
    assert isinstance(comparison, StructuredComparison)
    box = window(comparison.lattice)
    cells = np.flatnonzero(box.cells.reshape(-1) > box.noise)
    extreme = cells[comparison.reaches_in(box, cells)]
    p = float(np.sum(box.cells.reshape(-1)[extreme]))
    # Cells that are lost in the noise have been left out; they hold what the others lack.
    lost = abs(1.0 - float(np.sum(box.cells.reshape(-1)[cells])))
    rest = lost + 2 * box.noise * float(cells.size) ** 0.5 + box.outside
    if p <= rest / ROUGH:
        raise TooHard(
            f"p is below {rest / ROUGH:.1g}, what the joint law of {comparison.lattice.rank} sums "
            "is good for on a lattice of this size; monte_carlo has bounds for it"
        )
    return Probability.of(p, rest / (p - rest) + EPS * 64)


def _bracket(comparison: Question) -> Probability:
    """The upper bound; its `error_bound` reaches down to the lower one."""
    if isinstance(comparison, MeasureComparison) and comparison.staircase is not None:
        low, high = comparison.staircase.bracket()
        if comparison.alternative == "two-sided":
            low, high = low.plus(low), high.plus(high)
        return _between(low, high)
    if comparison.tails is None:
        raise ArithmeticError("method='bracket' is for tails; method='auto' has p for any h")
    outer, inner, far, near = comparison, comparison, 0, 0
    rounded = isinstance(comparison, Comparison) and comparison.slack > 0
    if isinstance(comparison, Comparison) and rounded:
        outer, inner = comparison.around()
        far, near = outer.leeway, inner.leeway
    bracket = cache(partial(tail_bracket, comparison.law, slack=far))
    low = _tails(outer, lambda _, t0: bracket(t0 - far)[0])
    high = _tails(inner, lambda _, t0: bracket(t0 - near)[1])
    if isinstance(comparison, Comparison) and rounded:
        return _between(_with_observed(comparison, low), high)
    return _between(max(low, CERTAIN.halved(comparison.law.n_informative)), high)


def _between(low: Probability, high: Probability) -> Probability:
    """`high`, with a bound of its error that reaches down to `low` and covers their errors."""
    gap = high.log - low.log + high.error_bound + low.error_bound + EPS
    return high._replace(error_bound=expm1(gap) if gap < MOST else inf)


def _solver(tail: Tail, cells: Solver) -> Solver:
    """A method that knows a way to tails, and another one to what `h` singles out."""
    return lambda question: cells(question) if question.tails is None else _tails(question, tail)


_tilted, _dp = _solver(tail_tilted, _tilted_cells), _solver(tail_dp, _dp_cells)
_fft = _solver(tail_fft, partial(_absolute_cells, convolve=fft_cells, name="fft"))
_cf = _solver(tail_cf, partial(_absolute_cells, convolve=cf_cells, name="cf"))

#: How to solve, by the name of the method.
SOLVERS: dict[str, Solver] = {
    "tilted": _tilted,
    "dp": _dp,
    "fft": _fft,
    "cf": _cf,
    "enumeration": _enumeration,
    "integer": _integer,
    "bracket": _bracket,
}
