"""From a question to the probability of its extreme cells: the methods, and which one is taken.

`METHODS` is the table of what can be asked for by name. "auto" goes through `_plan`, which lists
methods in the order in which they pay, each with the reason that a result gives for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from math import expm1, inf, log
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import TooHard
from permtest.null.bracket import tail_bracket
from permtest.null.convolution import (
    ROUNDLESS,
    dp_cells,
    dp_operations,
    dp_rounding,
    fft_cells,
    log_cells,
)
from permtest.null.distribution import (
    CERTAIN,
    EPS,
    UNDERFLOW,
    JointDistribution,
    LatticeDistribution,
    Probability,
)
from permtest.null.enumeration import (
    MAX_ENTRIES,
    QUICK,
    can_halve,
    count_labellings,
    count_tail,
    count_tails,
    enumerate_steps,
)
from permtest.null.grouping import MAX_CELLS, TwoPointSum
from permtest.null.lattice import window
from permtest.null.tail import Tail, attempts, is_countable, tail_dp, tail_fft, tail_tilted
from permtest.question import Question, SeveralSums

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


Solver: TypeAlias = Callable[[Question], Probability]

#: What "auto" may try: the name of a method, how, and why it is right where its turn comes.
Attempt: TypeAlias = tuple[str, Solver, str]


class Solution(NamedTuple):
    """A p-value, how it was computed, and why so."""

    p: Probability
    method: str
    reason: str


def solve(question: Question, method: str = "auto") -> Solution:
    """The probability of the extreme cells; "auto" takes the first method of `_plan` that can."""
    check_method(method)
    if question.slack and question.tails is not None:
        return _solve_rounded(question, method)
    if method != "auto":
        return Solution(METHODS[method](question), method, "asked for")
    last: Exception | None = None
    for name, solver, reason in _plan(question):
        try:
            return Solution(solver(question), name, reason)
        except (TooHard, MemoryError) as error:
            last = error
    assert last is not None, "a plan is never empty"
    raise last


def check_method(method: str) -> None:
    """Raise ValueError unless `method` is "auto" or one of `METHODS`."""
    if method != "auto" and method not in METHODS:
        known = ", ".join(map(repr, ("auto", *METHODS)))
        raise ValueError(
            f"method={method!r} is not known; choose one of {known}, or call monte_carlo to sample"
        )


def _plan(question: Question) -> Iterator[Attempt]:
    """What "auto" tries, in this order."""
    law = question.law
    quick = can_halve(law, QUICK) or not can_halve(law)
    if quick and _is_countable(question) and 2**law.n_informative <= law.top:
        yield "enumeration", _enumeration, "there are few labellings, and each was counted"
    if law.n_informative <= ROUNDLESS and dp_operations(law) <= BRIEF:
        reason = (
            "few pairs differ, and dynamic programming counts their labellings without rounding"
        )
        yield "dp", _dp, reason
    if question.tails is not None:
        reasons = {
            "tilted": "only the tail was computed, by tilting",
            "dp": "dynamic programming is quicker than tilting here",
            "enumeration": "sums have many possible values, but few labellings had to be counted",
        }
        for name, tail in attempts(law, _nearest(question)):
            yield name, partial(_tails, tail=tail), reasons[name]
        yield "bracket", _bracket, "sums have too many possible values for an exact p"
    elif isinstance(question, SeveralSums):
        yield from _plan_of_several(question)
    else:
        yield "tilted", _tilted, "the probabilities of all sums that h calls extreme were added"
        yield "fft", METHODS["fft"], "accuracy relative to each probability would take too long"


def _plan_of_several(question: SeveralSums) -> Iterator[Attempt]:
    """The same for sums that do not lie on one line."""
    law, ratio, bound = question.law, question.staircase is not None, 1.0
    if ratio:
        yield "tilted", _tilted, "only the tail of the ratio was computed, by tilting both sums"
    if law.top < MAX_CELLS and dp_operations(law) <= AFFORDABLE_JOINT:
        yield "dp", _dp, "all joint values of the sums fit in memory"
    if ratio:
        with suppress(TooHard):
            bound = _bracket(question).value
    if bound > INVISIBLE:
        yield "cf", _window, "all joint values but those of negligible probability fit in memory"
    if bound < RARE:
        yield "bracket", _bracket, "the exact p would take too long, and is too small to be sampled"


def _solve_rounded(question: Question, method: str) -> Solution:
    """`solve` where scores may be off: exact if that can change no tie, else a bracket."""
    name, solver = method, METHODS.get(method, _bracket)
    if method == "auto" and is_countable(question.law, _nearest(question)):
        name, solver = "enumeration", _counted_around(question)
    reason = "rounding may decide ties, and there are too many labellings to check each"
    if method == "bracket":
        return Solution(_bracket(question), "bracket", "asked for")
    if solver is _bracket:
        return Solution(_bracket(question), "bracket", reason)
    outer, inner = question.around()
    try:
        far, near = _with_observed(question, solver(outer)), solver(inner)
    except TooHard:
        if method != "auto":
            raise
        return Solution(_bracket(question), "bracket", reason)
    off = near.error_bound + far.error_bound
    if near.log - far.log <= off:
        return Solution(near._replace(error_bound=off), name, "no tie depends on rounding")
    reason = "rounding decides whether some labellings tie"
    return Solution(_between(far, near), "bracket", reason)


def _counted_around(question: Question) -> Solver:
    """Labellings beyond both thresholds, far and near, are counted in one go."""
    law = question.law
    far, near = (min(_nearest(moved), law.top + 1) for moved in question.around())

    @cache
    def counts() -> tuple[int, int]:
        return count_tails(law, far, near)

    def tail(law: TwoPointSum, t0: int) -> Probability:
        return Probability.of_ratio(counts()[t0 < far], law.n_informative)

    return partial(_tails, tail=tail)


def _with_observed(question: Question, far: Probability) -> Probability:
    """The observed labelling is extreme however ties break, and so is its mirror image."""
    n = question.law.n if question.ties_doubtful else question.law.n_informative
    for _ in range(2 if question.alternative == "two-sided" and far.value < 1 else 1):
        far = far.plus(CERTAIN.halved(n)) if far.value < 1 else far
    return far


def _is_countable(question: Question) -> bool:
    """Whether the extreme labellings can be counted: in two halves, or all one by one."""
    law = question.law
    if question.h is None and can_halve(law) and question.tails is not None:
        return True
    return law.n_informative <= MAX_ENTRIES and 2**law.n_informative <= law.top


def _nearest(question: Question) -> int:
    """Where the larger of the two tails begins."""
    assert question.tails is not None
    lower, upper = question.tails
    return upper if upper <= question.law.top else question.law.top - lower


def null_distribution(law: TwoPointSum, scale: int = 1) -> LatticeDistribution:
    """The whole law, accurate relative to each cell unless that would take long."""
    if law.n_informative < NO_UNDERFLOW and dp_operations(law) <= AFFORDABLE:
        return law.distribution(dp_cells(law), scale=scale)
    try:
        logs, _ = log_cells(law)
    except TooHard:
        found = fft_cells(law)
        return law.distribution(found.cells, found.noise, scale)
    return law.distribution(np.exp(logs), scale=scale, logs=logs)


def joint_distribution(question: SeveralSums) -> JointDistribution:
    """The joint law of the sums; relative to each probability where that is quick."""
    law, lattice, parts = question.law, question.lattice, question.parts
    if law.top < MAX_CELLS and dp_operations(law) <= AFFORDABLE:
        cells = dp_cells(law)
        some = np.flatnonzero(cells)
        return JointDistribution(lattice.sums(some), cells[some], parts)
    box = window(lattice)
    flat = box.cells.reshape(-1)
    some = np.flatnonzero(flat > box.noise)
    points = lattice.at(box.coordinates(some))
    return JointDistribution(points, flat[some], parts, box.noise)


def exact_fraction(question: Question) -> Fraction:
    """The p-value as a fraction of all labellings, in integer arithmetic."""
    law = question.law
    if question.slack:
        if solve(question).method == "bracket":
            raise ValueError(
                "scores are floating-point numbers whose rounding can decide ties, so that p is "
                "known between two bounds only; pass rounding=0 if they are exact"
            )
        question = question.as_read()
    if _is_countable(question):
        return Fraction(_count_extreme(question), 2**law.n_informative)
    counts = count_labellings(law)
    hits = sum(counts[t] for t in np.flatnonzero(question.extreme))
    return Fraction(hits, 2**law.n_informative)


def _count_extreme(question: Question) -> int:
    """How many labellings of the informative entries are extreme."""
    law = question.law
    if question.h is None and can_halve(law) and question.tails is not None:
        lower, upper = question.tails
        if upper - lower <= 1:
            return int(2**law.n_informative)
        return count_tail(law, law.top - lower) + count_tail(law, upper)  # by symmetry
    sums, repeats = np.unique(enumerate_steps(law), return_counts=True)
    return int(repeats[question.reaches(sums)].sum())


def _enumeration(question: Question) -> Probability:
    return Probability.of_ratio(_count_extreme(question), question.law.n_informative)


def _integer(question: Question) -> Probability:
    p, n = exact_fraction(question), question.law.n_informative
    return Probability.of_ratio(int(p * 2**n), n)


def _tails(question: Question, tail: Tail) -> Probability:
    """P(T <= lower or T >= upper); the null law is symmetric, so both are upper tails."""
    assert question.tails is not None
    law, (lower, upper) = question.law, question.tails
    if upper - lower <= 1:
        return CERTAIN
    if lower < 0:
        return tail(law, upper)
    below = tail(law, law.top - lower)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else tail(law, upper))


def _tilted_cells(question: Question) -> Probability:
    """From the law of a ratio of two sums next to its tail, or the logarithms of all cells."""
    if question.staircase is not None:
        if question.certain:
            return CERTAIN
        p = question.staircase.tail()
        return p.plus(p) if question.alternative == "two-sided" else p  # two pieces, alike
    if question.rank > 1:
        raise ArithmeticError(
            "method='tilted' is for sums on a line and for ratios of two sums; method='auto' finds "
            "what can be done for others"
        )
    return _from_logs(question)


def _from_logs(question: Question) -> Probability:
    """From the logarithms of all cells."""
    logs, error = log_cells(question.law)
    log_p = _log_sum(logs[question.extreme])
    # A cell is off by its noise and by the rounding of its logarithm; cells below p e^-40 by less
    # than they add to it.
    return Probability.of_log(log_p, error + 5 * EPS * (40 - log_p) + EPS * 64)


def _dp_cells(question: Question) -> Probability:
    """From all cells, or their logarithms where those are too small for floats."""
    law, extreme = question.law, question.extreme
    p = float(np.sum(dp_cells(law)[extreme]))
    if p > UNDERFLOW:
        return Probability.of(p, dp_rounding(law))
    return _from_logs(question)


def _log_sum(logs: NDArray[np.float64]) -> float:
    """log of the sum of exp(logs), added up in pairs; -inf of nothing."""
    largest = float(logs.max(initial=-inf))
    return largest if largest == -inf else largest + log(float(np.sum(np.exp(logs - largest))))


def _fft_cells(question: Question) -> Probability:
    """From all cells, accurate absolutely."""
    found, extreme = fft_cells(question.law), question.extreme
    p, noise = float(np.sum(found.cells[extreme])), found.noise * float(extreme.sum()) ** 0.5
    if p <= 2 * noise:
        raise ArithmeticError(
            f"p is below {2 * noise:.1g}, the absolute accuracy of method='fft' where h "
            "does not single out tails; method='auto' has relative accuracy"
        )
    return Probability.of(p, found.relative + noise / (p - noise))


def _window(question: Question) -> Probability:
    """From the joint law of several sums in a box, accurate absolutely."""
    if not isinstance(question, SeveralSums):
        raise ArithmeticError(
            "method='cf' is for the joint law of several sums; method='fft' transforms that of one"
        )
    if question.rank == 0:
        return CERTAIN
    box = window(question.lattice)
    cells = np.flatnonzero(box.cells.reshape(-1) > box.noise)
    extreme = cells[question.reaches_in(box, cells)]
    p = float(np.sum(box.cells.reshape(-1)[extreme]))
    # Cells that are lost in the noise have been left out; they hold what the others lack.
    lost = abs(1.0 - float(np.sum(box.cells.reshape(-1)[cells])))
    rest = lost + 2 * box.noise * float(cells.size) ** 0.5 + box.outside
    if p <= rest / ROUGH:
        raise TooHard(
            f"p is below {rest / ROUGH:.1g}, what the joint law of {question.lattice.rank} sums "
            "is good for on a lattice of this size",
            "monte_carlo has bounds for it",
        )
    return Probability.of(p, rest / (p - rest) + EPS * 64)


def _bracket(question: Question) -> Probability:
    """The upper bound; its `error_bound` reaches down to the lower one."""
    if question.staircase is not None:
        low, high = question.staircase.bracket()
        if question.alternative == "two-sided":
            low, high = low.plus(low), high.plus(high)
        return _between(low, high)
    if question.tails is None:
        raise ArithmeticError("method='bracket' is for tails; method='auto' has p for any h")
    if question.slack:
        outer, inner = question.around()
        far, near = outer.leeway, inner.leeway
        bracket = cache(partial(tail_bracket, question.law, slack=far))
        low = _tails(outer, lambda _, t0: bracket(t0 - far)[0])
        high = _tails(inner, lambda _, t0: bracket(t0 - near)[1])
        return _between(_with_observed(question, low), high)
    bracket = cache(partial(tail_bracket, question.law))
    low = _tails(question, lambda _, t0: bracket(t0)[0])
    high = _tails(question, lambda _, t0: bracket(t0)[1])
    return _between(max(low, CERTAIN.halved(question.law.n_informative)), high)


def _between(low: Probability, high: Probability) -> Probability:
    """`high`, with a bound of its error that reaches down to `low` and covers their errors."""
    gap = high.log - low.log + high.error_bound + low.error_bound + EPS
    return high._replace(error_bound=expm1(gap) if gap < MOST else inf)


def _solver(tail: Tail, cells: Solver) -> Solver:
    """A method that knows a way to tails, and another one to what `h` singles out."""
    return lambda question: cells(question) if question.tails is None else _tails(question, tail)


_tilted, _dp = _solver(tail_tilted, _tilted_cells), _solver(tail_dp, _dp_cells)


#: What can be asked for, with what it can do and what it costs where N' pairs differ, by A in all,
#: and take U distinct differences.
METHODS: dict[str, Solver] = {
    # Tails of one sum and ratios of two, at any size, relative to p: O(U) as a rule.
    "tilted": _tilted,
    # Whatever has a lattice that fits in memory, relative to p (Alg. 3): O(N' A).
    "dp": _dp,
    # Tails relative to p, other regions to about 1e-16 of 1 (Alg. 4): O(A log A log U).
    "fft": _solver(tail_fft, _fft_cells),
    # Joint laws of several sums in the box that holds nearly all of their mass: O(A U).
    "cf": _window,
    # Few pairs: labellings are counted, by halves where there are two tails: O(2^(N'/2)).
    "enumeration": _enumeration,
    # The exact fraction, in integers: O(N' A) operations on numbers of N' bits.
    "integer": _integer,
    # Two bounds on tails that no lattice can hold: some milliseconds.
    "bracket": _bracket,
}
