"""From a question to p: the table of methods, and the choice among them.

`METHODS` says what computes p, what it can do and what it costs. "auto" goes through `plan`, which
has methods in the order in which they pay, each with the reason that a result gives for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from math import expm1, inf, log, nextafter, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest._errors import TooHard, check_level, check_option
from permtest.null import labellings, tail
from permtest.null.bracket import tail_bracket
from permtest.null.convolution import ROUNDLESS, dp_cells, dp_rounding, fft_cells, log_cells
from permtest.null.distribution import CERTAIN, EPS, MAX_CELLS, UNDERFLOW, Probability
from permtest.null.lattice import box_law
from permtest.question import Question

#: Cell updates that take less time than what happens around them.
BRIEF = 2 * 10**5
#: Cell updates of a joint law that take some seconds.
AFFORDABLE_JOINT = 10**10
#: Bound on the relative error of p that is better than none.
ROUGH = 1e-6
#: Below this p is lost in the noise of any joint law that fits in memory.
INVISIBLE = 1e-12
#: How many random labellings stand in for an exact p that is out of reach; fewer than RARE extreme
#: ones show nothing; and bounds closer than NARROW, relative to p, always say more.
SAMPLES, RARE, NARROW = 100_000, 3, 1e-4
#: Logarithm of the widest bracket that a float holds.
MOST = 700.0

#: Why, of what is tried for tails; `attempts` has the order.
OF_TAILS = {
    "tilted": "only the tail was computed, by tilting",
    "dp": "dynamic programming is quicker than tilting here",
    "enumeration": "sums have many possible values, but few labellings had to be counted",
}

Solver: TypeAlias = Callable[[Question], Probability]


class Solution(NamedTuple):
    """A p-value, how it was computed, and why so."""

    p: Probability
    method: str
    reason: str


def solve(question: Question, method: str = "auto") -> Solution:
    """The probability of the extreme cells; "auto" takes the first method of `plan` that can."""
    if method != "auto":
        check_option("method", method, ("auto", *METHODS))
    if question.tolerance:
        return _solve_rounded(question, method)
    if method != "auto":
        return Solution(METHODS[method](question), method, "asked for")
    last: Exception = AssertionError("a plan is never empty")
    for name, reason, solver in plan(question):
        try:
            return Solution(solver(question), name, reason)
        except (TooHard, MemoryError) as error:
            last = error
    raise last


def plan(question: Question) -> Iterator[tuple[str, str, Solver]]:
    """The table that "auto" reads: the name of a method, why it is right there, and how."""
    law, n = question.law, question.law.n_informative
    halves = question.h is None and question.thresholds is not None
    few = law.top.bit_length() > n and labellings.can_halve(law, labellings.QUICK)
    if few and (halves or n <= labellings.MAX_ENTRIES):
        reason = "there are few labellings, and each was counted"
        yield "enumeration", reason, METHODS["enumeration"]
    if n <= ROUNDLESS and law.dp_operations() <= BRIEF:
        reason = "few pairs differ, and dynamic programming counts their labellings"
        yield "dp", f"{reason} without rounding", _dp
    if question.thresholds is not None:
        lower, upper = question.thresholds
        for name, way in tail.attempts(law, min(upper, law.top - lower)):
            yield name, OF_TAILS[name], partial(_by_tails, way=way)
        yield "bracket", "sums have too many possible values for an exact p", _bracket
        return
    if question.lattice is None:
        yield "tilted", "the probabilities of all sums that h calls extreme were added", _tilted
        yield "fft", "accuracy relative to each probability would take too long", _fft
        return
    if question.staircase is not None:
        yield "tilted", "only the tail of the ratio was computed, by tilting both sums", _tilted
    if law.top < MAX_CELLS and law.dp_operations() <= AFFORDABLE_JOINT:
        yield "dp", "all joint values of the sums fit in memory", _dp
    bounds = Probability(1.0, 0.0, inf)
    with suppress(ArithmeticError, MemoryError):  # of a ratio of two sums there are some
        bounds = _bracket(question)
    if bounds.value > INVISIBLE:
        yield "cf", "all joint values but those of negligible probability fit in memory", _box
    if _says_more(bounds):
        reason = "the exact p would take too long, and samples would say less than bounds"
        yield "bracket", reason, lambda _: bounds


def _says_more(bounds: Probability) -> bool:
    """Whether bounds are closer than a 95% interval from samples, or p is too small to sample."""
    p = bounds.value
    if p * SAMPLES < RARE:
        return True
    return bounds.error_bound < max(4 * sqrt((1 - p) / (p * SAMPLES)), NARROW)


def _solve_rounded(question: Question, method: str) -> Solution:
    """`solve` where scores may be off: exact if that can change no tie, else a bracket."""
    assert question.thresholds is not None, "it is a sum without h"
    law, (lower, upper) = question.law, question.thresholds
    name, solver, reason = method, METHODS.get(method, _bracket), "asked for"
    if method == "auto":
        reason = "rounding may decide ties, and there are too many labellings to check each"
        if tail.is_countable(law, min(upper, law.top - lower)):
            name, solver = "enumeration", partial(_by_tails, way=tail.tail_counted)
    if solver is not _bracket:
        outer, inner = _around(question)
        try:
            far, near = _with_observed(question, solver(outer)), solver(inner)
        except TooHard:
            if method != "auto":
                raise
        else:
            off, apart = near.error_bound + far.error_bound, max(near.log - far.log, 0.0)
            if apart <= off:
                p = near._replace(error_bound=off + apart)
                return Solution(p, name, "no tie depends on rounding")
            reason = "rounding decides whether some labellings tie"
            return Solution(_between(far, near), "bracket", reason)
    return Solution(_bracket(question), "bracket", reason)


def _around(question: Question) -> tuple[Question, Question]:
    """The same question with thresholds as far out, and in, as the tolerance may move them."""
    far, near = -(-question.tolerance // question.law.unit), question.tolerance // question.law.unit
    outer, inner = (replace(question, moved_by=by, tolerance=0) for by in (far, -near))
    return outer, inner


def _with_observed(question: Question, far: Probability) -> Probability:
    """The observed labelling is extreme however ties break, and so is its mirror image."""
    if far.value == 1:
        return far
    sides = question.alternative == "two-sided"
    return far.plus(CERTAIN.halved(question.law.n_informative - sides))


def interval_of_p(result: Any, confidence_level: float = 0.95) -> tuple[float, float]:
    """Bounds of the exact p by `error_bound`; of samples the interval of Clopper and Pearson."""
    alpha = (1 - check_level(confidence_level, "confidence_level")) / 2
    p, size = result.pvalue, getattr(result, "n_samples", None)
    if size is None:
        if not result.error_bound:
            return p, p
        # What is added makes up for the rounding of this sum, and the next float for that of the
        # end; and for that of p, where it is too small to have all digits.
        most = 1.0 + EPS + result.error_bound
        low = nextafter(p / most, 0.0) if p > UNDERFLOW else 0.0
        return low, p if result.method == "bracket" else min(nextafter(p * most, inf), 1.0)
    from scipy.special import betaincinv

    count = result.n_extreme
    low = float(betaincinv(count, size - count + 1, alpha)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, size - count, 1 - alpha)) if count < size else 1.0
    return low, high


# ---- the methods -------------------------------------------------------------------------------


def _by_tails(question: Question, way: tail.Tail) -> Probability:
    """P(T <= lower or T >= upper), both as upper tails."""
    assert question.thresholds is not None, "what needs tails is asked for where there are some"
    law, (lower, upper) = question.law, question.thresholds
    if upper - lower <= 1:
        return CERTAIN
    if lower < 0:
        return way(law, upper)
    below = way(law, law.top - lower)
    if upper > law.top:
        return below
    return below.plus(below if upper == law.top - lower else way(law, upper))


def _tilted(question: Question) -> Probability:
    """From tails of one sum or of a ratio of two, or from the logarithms of all cells."""
    if question.thresholds is not None:
        return _by_tails(question, tail.tail_tilted)
    if question.staircase is not None:
        if question.alternative != "two-sided":
            return question.staircase.tail()
        # Two pieces, alike, unless all labellings are as extreme as a tie.
        p = question.staircase.tail() if question.least else CERTAIN
        return p.plus(p)
    if question.rank > 1:
        raise ArithmeticError(
            "method='tilted' is for sums on a line and for ratios of two sums; method='auto' finds "
            "what can be done for others"
        )
    return _from_logs(question)


def _from_logs(question: Question) -> Probability:
    """From the logarithms of all cells."""
    logs, error = log_cells(question.law)
    logs = logs[question.extreme]
    log_p = float(logs.max(initial=-inf))
    if log_p > -inf:
        log_p += log(float(np.sum(np.exp(logs - log_p))))
    # A cell is off by its noise and by the rounding of its logarithm; cells below p e^-40 by less
    # than they add to it.
    return Probability.of_log(log_p, error + EPS * (264 - 5 * log_p))


def _dp(question: Question) -> Probability:
    """From all cells, or their logarithms where those are too small for floats."""
    if question.thresholds is not None:
        return _by_tails(question, tail.tail_dp)
    p = float(np.sum(dp_cells(question.law)[question.extreme]))
    rounding = dp_rounding(question.law)
    return Probability.of(p, rounding) if p > UNDERFLOW else _from_logs(question)


def _fft(question: Question) -> Probability:
    """From all cells, accurate absolutely where there are no tails."""
    if question.thresholds is not None:
        return _by_tails(question, tail.tail_fft)
    found = fft_cells(question.law)
    p, noise = found.probability(question.extreme)
    if p <= 2 * noise:
        raise ArithmeticError(
            f"p is below {2 * noise:.1g}, the absolute accuracy of method='fft' where h "
            "does not single out tails; method='auto' has relative accuracy"
        )
    return Probability.of(p, found.relative + noise / (p - noise))


def _box(question: Question) -> Probability:
    """From the joint law of several sums in a box, accurate absolutely."""
    lattice = question.lattice
    if lattice is None:
        raise ArithmeticError(
            "method='cf' is for the joint law of several sums; method='fft' transforms that of one"
        )
    if lattice.rank == 0:
        return CERTAIN
    box = box_law(lattice)
    flat, cells = box.cells.reshape(-1), np.flatnonzero(box.cells > box.noise)
    extreme = cells[question.is_extreme(cells, lambda part: lattice.at(box.coordinates(part)))]
    p = float(np.sum(flat[extreme]))
    # Cells that are lost in the noise have been left out; they hold what the others lack.
    lost = abs(1.0 - float(np.sum(flat[cells])))
    rest = lost + 2 * box.noise * float(cells.size) ** 0.5 + box.outside
    if p <= rest / ROUGH:
        raise TooHard(
            f"p is below {rest / ROUGH:.1g}, what the joint law of {lattice.rank} sums is "
            "good for on a lattice of this size; monte_carlo has bounds for it"
        )
    return Probability.of(p, rest / (p - rest) + EPS * 64)


def count(question: Question, listed: bool = False) -> int:
    """How many labellings are extreme, in integers; `listed` refuses more than can be listed."""
    law, n = question.law, question.law.n_informative
    if question.h is None and labellings.can_halve(law) and question.thresholds is not None:
        lower, upper = question.thresholds
        if upper - lower <= 1:
            return int(2**n)
        return sum(labellings.count_tail(law, t) for t in (law.top - lower, upper))  # by symmetry
    if listed or (n <= labellings.MAX_ENTRIES and 2**n <= law.top):
        widths = np.repeat(law.widths.astype(object), law.counts.astype(np.intp))
        every = labellings.enumerate_swaps(0 * widths, widths)
        sums, repeats = np.unique(every, return_counts=True)
        return int(repeats[question.is_extreme(sums)].sum())
    counts = labellings.count_labellings(law)
    return sum(counts[t] for t in np.flatnonzero(question.extreme))


def _counted(question: Question, *, listed: bool = False) -> Probability:
    return Probability.of_ratio(count(question, listed), 2**question.law.n_informative)


def _bracket(question: Question) -> Probability:
    """The upper bound; its `error_bound` reaches down to the lower one."""
    if question.staircase is not None:
        low, high = question.staircase.bracket()
        if question.alternative == "two-sided":
            low, high = low.plus(low), high.plus(high)
        return _between(low, high)
    if question.thresholds is None:
        raise ArithmeticError("method='bracket' is for tails; method='auto' has p for any h")
    outer, inner = _around(question)
    far, near = outer.moved_by, inner.moved_by
    bracket = cache(partial(tail_bracket, question.law, slack=far))
    low = _by_tails(outer, lambda _, t0: bracket(t0 - far)[0])
    high = _by_tails(inner, lambda _, t0: bracket(t0 - near)[1])
    return _between(_with_observed(question, low) if question.tolerance else low, high)


def _between(low: Probability, high: Probability) -> Probability:
    """No less than `high`, with a bound that reaches down to `low`; it covers their errors."""
    p, log_p = high.value * (1.0 + high.error_bound), min(high.log + high.error_bound, 0.0)
    # The last term is what both logarithms are rounded by.
    gap = log_p - low.log + low.error_bound + EPS * (1.0 - 2.0 * low.log)
    return Probability(min(p, 1.0), log_p, expm1(gap) if gap < MOST else inf)


METHODS: dict[str, Solver] = {
    # Tails of one sum and ratios of two, relative to p; O(U) of U distinct differences as a rule.
    "tilted": _tilted,
    # What has a lattice that fits in memory, relative to p; O(N' A), by A in all (Alg. 3).
    "dp": _dp,
    # Tails relative to p, other regions to about 1e-16 of 1; O(A log A log U) (Alg. 4).
    "fft": _fft,
    # Joint laws of several sums, to about 1e-16 of 1; O(A U).
    "cf": _box,
    # Few pairs: labellings are counted, by halves where there are two tails; O(2^(N'/2)).
    "enumeration": partial(_counted, listed=True),
    # The exact fraction, from O(N' A) operations on integers of N' bits.
    "integer": _counted,
    # Two bounds on tails that no lattice can hold, in milliseconds.
    "bracket": _bracket,
}
