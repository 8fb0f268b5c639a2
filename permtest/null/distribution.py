"""Probabilities, laws on equally spaced integers, and the law of a sum of swaps.

A law gives P(S = offset + unit t) for t = 0, 1, ..., M - 1, as f(z) in the paper; of several sums
it lists the points that can be reached. `pmf` is the law of one entry under the null hypothesis:
stay or swap, each with probability 1/2 (Eq. 4).

S = sum_n Z_n where Z_n stays or swaps. Write Z_n = low_n + width_n B_n with B_n in {0, 1}: only
the multiset of the widths matters, entries of width 0 contribute a constant, and a common divisor
of the widths is only a unit of length. So N entries shrink to a handful of (width, count) groups,
and everything after this module costs nothing in N. `count_rows` counts those of many tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import exp, inf, ldexp, log, log1p, log10
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest import _jit
from permtest._jit import Floats, Ints, compiled_or, jit
from permtest.integers import IntArray, exact_dot, exact_sum, with_room

EPS = float(np.finfo(np.float64).eps)

#: Below this a sum of float64 cells may have lost some to underflow, and logarithms take over.
UNDERFLOW = 1e-300
SMALLEST = float(np.nextafter(0.0, 1.0))


class Probability(NamedTuple):
    """A probability, its natural logarithm, and a bound on the relative error of the former.

    `value` is 0 for nothing but what is impossible: what is smaller than any float64 becomes the
    smallest one. Then `log` still has the digits, and `error_bound` speaks of its exponential.
    """

    value: float
    log: float
    error_bound: float

    @classmethod
    def of(cls, value: float, error_bound: float) -> Probability:
        """From a float above `UNDERFLOW`, or 0 for what is impossible."""
        if value == 0:
            return IMPOSSIBLE
        value = min(value, 1.0)
        return cls(value, log(value), error_bound)

    @classmethod
    def of_log(cls, log_value: float, error_bound: float) -> Probability:
        """From a logarithm with few roundings, which exp magnifies."""
        return cls.of_product(log_value, 0.0, 1.0, error_bound + 2 * EPS * abs(log_value))

    @classmethod
    def of_ratio(cls, count: int, every: int) -> Probability:
        """count / every, rounded once."""
        p = count / every  # of any size
        if p > UNDERFLOW or count == 0:
            return cls.of(p, EPS / 2)
        return cls.of_log(log(count) - log(every), EPS * log(every))

    @classmethod
    def of_product(cls, high: float, low: float, factor: float, error_bound: float) -> Probability:
        """exp(high + low) * factor, where `low` is what was rounded off a logarithm `high`."""
        if high == -inf:
            return IMPOSSIBLE
        log_value = min(high + (low + log(factor)), 0.0)
        # Half of the exponent at a time: exp(high) alone could underflow.
        value = exp(high / 2) * (1 + low) * factor * exp(high / 2)
        if log_value < log(UNDERFLOW):  # all that is left is the logarithm, which exp magnifies
            error_bound += 2 * EPS * abs(log_value)
        return cls(min(max(value, SMALLEST), 1.0), log_value, error_bound + 4 * EPS)

    @property
    def log10(self) -> float:
        """The decimal logarithm; of `value` as it is printed, where that is above 1e-300."""
        return log10(self.value) if self.value > UNDERFLOW else self.log / log(10.0)

    def plus(self, other: Probability) -> Probability:
        """The probability of either of two events that exclude each other."""
        if other.value == 0:
            return self
        value, doubled = min(self.value + other.value, 1.0), self.value == other.value
        bound = max(self.error_bound, other.error_bound) + (0.0 if doubled else EPS)
        if value > 2 * UNDERFLOW:
            return Probability(value, log(value), bound)
        high, low = max(self.log, other.log), min(self.log, other.log)
        return Probability.of_log(high + log1p(exp(low - high)), bound)

    def halved(self, times: int) -> Probability:
        """p / 2^times, exactly where that is above 1e-300."""
        value, log_value = ldexp(self.value, -times), self.log - times * log(2.0)
        if times == 0 or value > UNDERFLOW:
            return Probability(value, log_value, self.error_bound)
        return Probability.of_log(log_value, self.error_bound)

    def complement(self) -> Probability:
        """1 - p, for p at most about 1/2, where nothing cancels."""
        value = 1.0 - self.value
        return Probability.of(value, self.error_bound * self.value / max(value, EPS) + EPS)


CERTAIN = Probability(1.0, 0.0, 0.0)
#: Not a p-value: of an event beyond the ends of the support.
IMPOSSIBLE = Probability(0.0, -inf, 0.0)


@dataclass(frozen=True, eq=False)
class LatticeDistribution:
    """The law of a random variable on offset, offset + unit, offset + 2 unit, ... over `scale`.

    One local entry, a partial sum and the whole null distribution all have this form, and
    ``f(z)`` reads as in the paper: the probability of z.

    Parameters
    ----------
    offset : int
        The smallest value.
    unit : int
        The distance between neighbouring values, at least 1.
    pmf : ndarray of shape (M,)
        Probabilities, float64. A cell between attainable values holds exactly 0. A probability
        below 5e-324, the smallest float64, rounds to 0 too: p-values never rely on such a cell.
    absolute_error : float, default 0
        0 if each probability is accurate relative to itself; otherwise what each may be off by.
    scale : int, default 1
        What `offset` and `unit` are divided by: 100 for the law of a sum with two decimals.
    log_cells : ndarray of shape (M,), optional
        Natural logarithms of the probabilities, where they are known better than from `pmf`.

    Examples
    --------
    >>> from permtest import pmf
    >>> f = pmf(stay=2, swap=-2)
    >>> f.support.tolist(), f.pmf.tolist(), f(2), f(0)
    ([-2, 2], [0.5, 0.5], 0.5, 0.0)
    """

    offset: int
    unit: int
    pmf: Floats
    absolute_error: float = 0.0
    scale: int = 1
    log_cells: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.unit < 1 or np.ndim(self.pmf) != 1 or np.size(self.pmf) == 0:
            raise ValueError(
                f"a LatticeDistribution needs unit >= 1 and a non-empty 1-D pmf, got "
                f"unit={self.unit} and a pmf of shape {np.shape(self.pmf)}"
            )
        frozen = np.array(self.pmf, dtype=np.float64, copy=None)
        frozen.flags.writeable = False
        object.__setattr__(self, "pmf", frozen)

    @cached_property
    def log_pmf(self) -> Floats:
        """Natural logarithms of the M probabilities, -inf where nothing can be.

        Where the law was made for it, as `null_distribution` is, they go on below 5e-324.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(self.pmf) if self.log_cells is None else self.log_cells.view()
        logs.flags.writeable = False
        return np.asarray(logs)

    @cached_property
    def support(self) -> NDArray[Any]:
        """The M values, ascending: int64 (Python integers beyond its range), or floats."""
        cells = np.arange(self.pmf.size, dtype=np.int64)
        span = self.unit * (self.pmf.size - 1)
        if max(abs(self.offset), abs(self.offset + span), span) >= 2**63:
            cells = cells.astype(object)
        values = self.offset + self.unit * cells
        return values if self.scale == 1 else np.asarray(values / self.scale, dtype=np.float64)

    def __call__(self, z: float) -> float:
        """The probability of the single value z; 0 if no labelling gives it."""
        if z != z or abs(z) == inf:
            return 0.0
        # A float stands for the decimal that it is printed as, as it does in scores.
        cell, rest = divmod(Fraction(str(z)) * self.scale - self.offset, self.unit)
        return float(self.pmf[int(cell)]) if rest == 0 and 0 <= cell < self.pmf.size else 0.0

    def mean(self) -> float:
        """The expectation, measured from the middle, where a symmetric law has it exactly."""
        middle = (self.pmf.size - 1) / 2
        shift = float((np.arange(self.pmf.size) - middle) @ self.pmf)
        return (self.offset + self.unit * middle + self.unit * shift) / self.scale

    def std(self) -> float:
        """The standard deviation."""
        cells = np.arange(self.pmf.size)
        return self.unit / self.scale * float(np.sqrt((cells - cells @ self.pmf) ** 2 @ self.pmf))


def pmf(stay: int, swap: int) -> LatticeDistribution:
    """The law of one entry under the null hypothesis: stay or swap, each with probability 1/2.

    Parameters
    ----------
    stay : int
        g(u_n, v_n).
    swap : int
        g(v_n, u_n).

    Returns
    -------
    LatticeDistribution
        Two values, or one where both effects are equal (Eq. 4).

    Raises
    ------
    TypeError
        If an effect is not an integer.

    Examples
    --------
    >>> from permtest import pmf
    >>> pmf(3, -1).support.tolist(), pmf(3, 3).pmf.tolist()
    ([-1, 3], [1.0])
    """
    for name, effect in (("stay", stay), ("swap", swap)):
        if not hasattr(effect, "__index__"):
            raise TypeError(f"{name} = {effect!r} must be an integer")
    low, high = sorted((index(stay), index(swap)))
    if low == high:
        return LatticeDistribution(low, 1, np.ones(1))
    return LatticeDistribution(low, high - low, np.full(2, 0.5))


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The law of m sums on the points that they can reach.

    Parameters
    ----------
    support : ndarray of shape (M, m)
        Values of the sums, integers; floats where they are differences of a user's metric.
    pmf : ndarray of shape (M,)
        Their probabilities.
    parts : tuple of m str
        What the sums are.
    absolute_error : float
        0 if each probability is accurate relative to itself; otherwise what each may be off by,
        and points that are less likely than that are left out; of samples, the standard error of
        a probability of one half, the largest of all.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> u, v = [[2, 0, 0], [1, 2, 0]], [[1, 0, 1], [1, 0, 0]]
    >>> law = exact_perm_test(u, v, statistic="f1").null_distribution
    >>> law.parts, law.support.tolist(), law.pmf.tolist()
    (('2 tp', 'fp + fn'), [[4, 1], [6, 0], [4, 3], [6, 2]], [0.25, 0.25, 0.25, 0.25])
    """

    support: IntArray
    pmf: Floats
    parts: tuple[str, ...]
    absolute_error: float = 0.0

    def __post_init__(self) -> None:
        self.support.flags.writeable = False
        self.pmf.flags.writeable = False


# ---- sums of two-point variables ---------------------------------------------------------------

#: Ask before allocating: no lattice has more cells than this, 256 MiB an array. Convolving takes
#: two arrays, logarithms of all cells take four, an FFT takes some more.
MAX_CELLS = 2**25


@dataclass(frozen=True, eq=False)
class TwoPointSum:
    """S = offset + unit * T, T = sum over k of widths[k] * (number of moves among counts[k])."""

    #: Number of entries, those of width 0 included.
    n: int
    #: The smallest value of S.
    offset: int
    #: The greatest common divisor of all widths; 1 if there are none.
    unit: int
    #: U distinct widths divided by `unit`, ascending; int64, or Python integers beyond its range.
    widths: NDArray[Any]
    #: How many entries have each width.
    counts: Ints
    #: How many entries can change S at all.
    n_informative: int
    #: The largest value of T; the lattice has ``top + 1`` cells.
    top: int
    #: Probabilities of the lower and of the upper value; 1/2 each under the null hypothesis.
    stay: Floats
    move: Floats

    @property
    def deviation(self) -> float:
        """The standard deviation of T where staying and moving are equally likely."""
        return float(np.sqrt(np.sum(self.counts * self.widths.astype(np.float64) ** 2))) / 2

    def dp_operations(self, size: int | None = None) -> float:
        """About how many cells dynamic programming updates, of the first `size`, or of all."""
        if self.top >= 2**62:
            return inf
        counts, lengths = self.counts.astype(float), (self.widths * self.counts).astype(float)
        # How many cells are occupied, on average, after an entry of a group has come in.
        middles = np.cumsum(lengths) - lengths / 2 + self.widths.astype(float) / 2
        return float(np.minimum(middles, self.top + 1.0 if size is None else size) @ counts)

    def check_size(self, what: str) -> None:
        """Refuse a lattice that would not fit in memory, with the number of cells and a way out."""
        if self.top >= MAX_CELLS:
            raise MemoryError(
                f"{what} needs {self.top + 1:,} cells, one for each step that sums of these "
                f"{self.n_informative:,} score differences may take, more than the limit of "
                f"{MAX_CELLS:,}; "
                "p does not need it (method='auto'); monte_carlo has a sampled distribution",
            )

    def distribution(
        self, cells: Floats, absolute_error: float = 0.0, scale: int = 1, logs: Floats | None = None
    ) -> LatticeDistribution:
        """The law of S / scale, given the law of T on all its cells."""
        return LatticeDistribution(self.offset, self.unit, cells, absolute_error, scale, logs)

    def only(self, chosen: NDArray[np.bool_]) -> TwoPointSum:
        """The sum over the entries of some widths alone."""
        widths, counts = _narrow(self.widths[chosen]), self.counts[chosen]
        known = int(counts.sum()), exact_dot(widths, counts), self.stay[chosen], self.move[chosen]
        return TwoPointSum(self.n, self.offset, self.unit, widths, counts, *known)

    def tilted(self, tau: float) -> TwoPointSum:
        """The exponentially tilted law, P_tau(T = t) proportional to P(T = t) exp(tau t)."""
        x = tau * self.widths.astype(np.float64)
        odds = np.exp(-np.abs(x))  # of the less likely side; never overflows
        likely, unlikely = 1 / (1 + odds), odds / (1 + odds)
        stay, move = np.where(x >= 0, (unlikely, likely), (likely, unlikely))
        return replace(self, stay=stay, move=move)


#: What the convolvers take: the local laws one by one, or already grouped.
LocalLaws: TypeAlias = "Sequence[LatticeDistribution] | TwoPointSum"


def group_differences(u: NDArray[Any], v: NDArray[Any]) -> tuple[TwoPointSum, int, int]:
    """Group the effects u_n - v_n (stay) and v_n - u_n (swap) of integers; with both sums."""
    if u.dtype == np.int64 and v.dtype == np.int64:
        rows, pair = np.stack((u, v)), np.array([[0], [1]], dtype=np.int64)
        facts, starts = np.zeros((1, 5), dtype=np.int64), np.zeros(2, dtype=np.int64)
        widths, counts = np.empty((2, min(u.size, TABLE - 1)), dtype=np.int64)
        count = count_rows if ONE_TEST + ENTRY * u.size > _jit.patience else _count_rows
        count((rows, pair[0], pair[1]), facts, (starts, widths, counts))
        total_u, total_v, unit, top, differing = facts[0].tolist()
        if unit > 0:
            k = int(starts[1])  # the kernel has left out 0, and divided by the divisor
            start, step, half = -top * unit, 2 * unit if k else 1, np.full(k, 0.5)
            known = widths[:k], counts[:k], differing, top, half, half
            return TwoPointSum(u.size, start, step, *known), total_u, total_v
    u, v = with_room(u), with_room(v)
    law = from_widths(len(u), *count_values(np.abs(u - v)))
    # An entry of difference d goes from -d to d.
    law = replace(law, offset=-law.top * law.unit, unit=2 * law.unit if law.top else 1)
    return law, exact_sum(u), exact_sum(v)


def from_widths(n: int, widths: NDArray[Any], counts: Ints, offset: int = 0) -> TwoPointSum:
    """The null law of n entries with these distinct widths, ascending."""
    if widths.size and widths[0] == 0:
        widths, counts = widths[1:], counts[1:]
    unit = int(np.gcd.reduce(widths)) if widths.size else 1
    if unit != 1:
        widths = widths // unit
    sizes, half = (int(counts.sum()), exact_dot(widths, counts)), np.full(widths.size, 0.5)
    return TwoPointSum(n, offset, unit, _narrow(widths), counts, *sizes, half, half)


def _narrow(widths: NDArray[Any]) -> NDArray[Any]:
    """Ascending widths, as int64 where that holds the largest."""
    wide = widths.dtype == object and widths.size and widths[-1] >= 2**62
    return widths if wide else widths.astype(np.int64, copy=False)


def add_counts(values: NDArray[Any], counts: Ints) -> tuple[NDArray[Any], Ints]:
    """Distinct values, ascending, with the sums of their counts."""
    distinct, where = np.unique(values, return_inverse=True)
    return distinct, np.bincount(where, counts).astype(np.int64)


def count_values(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Distinct values, ascending, and how often each occurs; integers of any sign."""
    small = values.dtype != object and values.size > 0
    low, high = (int(values.min()), int(values.max())) if small else (0, 0)
    if not small or high - low > 4 * values.size + 4096:
        distinct, counts = np.unique(values, return_counts=True)
        return distinct, counts.astype(np.int64, copy=False)
    table = np.bincount((values - low).astype(np.intp, copy=False)).astype(np.int64, copy=False)
    found = table.nonzero()[0].astype(np.int64, copy=False)
    return found + low, table[found]


def as_two_point_sum(pmfs: LocalLaws) -> TwoPointSum:
    """Group any sequence of local laws; what is grouped already passes through.

    Raises TypeError or ValueError for the first element that is no law of at most two values.
    """
    if isinstance(pmfs, TwoPointSum):
        return pmfs
    if not hasattr(pmfs, "__len__"):
        raise TypeError(f"pmfs must be a list of laws of entries, not {type(pmfs).__name__}")
    offset, seen = 0, Counter[tuple[int, float, float]]()
    for n, f in enumerate(pmfs):
        if not isinstance(f, LatticeDistribution):
            raise TypeError(f"pmfs[{n}] = {f!r} is not the law of an entry; make one with pmf()")
        cells = np.flatnonzero(f.pmf).tolist()
        if not (1 <= len(cells) <= 2 and np.all((f.pmf >= 0) & (f.pmf <= 1))):
            raise ValueError(
                f"pmfs[{n}] has {len(cells)} values with positive probability; the law of one "
                "entry has one or two (stay, swap), of probabilities up to 1"
            )
        offset += f.offset + f.unit * cells[0]
        seen[f.unit * (cells[-1] - cells[0]), *f.pmf[[cells[0], cells[-1]]].tolist()] += 1
    laws = sorted(law for law in seen if law[0] > 0)
    counts = np.array([seen[law] for law in laws], dtype=np.int64)
    widths, stays, moves = np.array(laws, dtype=object).reshape(-1, 3).T
    found = from_widths(len(pmfs), widths, counts, offset)
    return replace(found, stay=stays.astype(np.float64), move=moves.astype(np.float64))


def attainable(law: TwoPointSum) -> NDArray[np.bool_]:
    """Which of the ``top + 1`` cells of T some labelling reaches, decided in integers."""
    law.check_size("the null distribution")
    reached = 1  # bit t is set if T = t can happen
    for width, left in zip(law.widths.tolist(), law.counts.tolist(), strict=True):
        block = 1  # shifting by 1, 2, 4, ... widths at once covers every multiple up to count
        while left > 0:
            block = min(block, left)
            reached |= reached << (width * block)
            left, block = left - block, 2 * block
    raw = reached.to_bytes(law.top // 8 + 1, "little")
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    return bits[: law.top + 1].astype(bool)


#: Where the laws of many tests start in arrays of widths and counts, and those arrays.
ManyLaws: TypeAlias = tuple[Ints, Ints, Ints]
#: Differences below this are counted in tables that stay in the fastest cache.
TABLE = 1024
#: What a test takes in NumPy, and each of its entries, in additions.
ONE_TEST, ENTRY = 40_000.0, 10


def _count_rows(tests: tuple[Ints, Ints, Ints], facts: Ints, laws: ManyLaws) -> None:
    """`count_rows` in NumPy."""
    (rows, first, second), (starts, widths, counts) = tests, laws
    end = 0
    for r in range(first.size):
        starts[r], a, b = end, rows[first[r]], rows[second[r]]
        low, high = min(a.min(initial=0), b.min(initial=0)), max(a.max(initial=0), b.max(initial=0))
        facts[r] = 0
        if max(int(high), -int(low)) * max(a.size, 2) >= 2**61:
            continue
        table = np.bincount(np.minimum(np.abs(a - b), TABLE).astype(np.intp, copy=False))
        if table.size > TABLE:
            continue
        found = table[1:].nonzero()[0].astype(np.int64, copy=False) + 1
        unit = max(int(np.gcd.reduce(found)), 1)
        part, times = slice(end, end := end + found.size), table[found].astype(np.int64)
        widths[part], counts[part] = found // unit, times
        facts[r] = a.sum(), b.sum(), unit, widths[part] @ times, times.sum()
    starts[-1] = end


@jit
def count_differences(u: Ints, v: Ints, tables: Ints) -> tuple[int, int, int]:
    """Count |u_i - v_i|; both sums, and the cells in use of each table; 0 if they do not fit.

    Each row of `tables` counts every fourth entry: equal neighbours do not wait for each other.
    """
    total_u, total_v, n = np.int64(0), np.int64(0), u.size
    low = high = u[0] if n > 0 else np.int64(0)
    for i in range(n):
        x, y = u[i], v[i]
        total_u += x
        total_v += y
        low, high = min(low, min(x, y)), max(high, max(x, y))
        d = abs(x - y)
        if not 0 <= d < TABLE:
            return 0, 0, 0
        tables[i & 3, d] += 1
    # Or else sums, and differences of scores beyond 2^60, may have wrapped around.
    fits = max(-float(low), float(high)) * max(n, 2) < 2.0**61
    return int(total_u), int(total_v), int(min(TABLE, high - low + 1)) if fits else 0


@compiled_or(_count_rows, lambda tests, *_: tests[1].size * (ONE_TEST + ENTRY * tests[0].shape[1]))
def count_rows(tests: tuple[Ints, Ints, Ints], facts: Ints, laws: ManyLaws) -> None:
    """Count the differences of many tests, and describe their scores.

    Test r is of rows ``first[r]`` and ``second[r]``. Its law is ``starts[r] : starts[r + 1]`` of
    widths and counts, divided by a divisor; ``facts[r]`` has both sums, the divisor (0: it does
    not fit), the sum of the divided differences, and how many are not 0.
    """
    (rows, first, second), (starts, widths, counts) = tests, laws
    tables, end = np.zeros((4, TABLE), dtype=np.int64), np.int64(0)
    for r in range(first.size):
        begin = starts[r] = end
        total_u, total_v, used = count_differences(rows[first[r]], rows[second[r]], tables)
        if used == 0:
            facts[r] = 0
            tables[:] = 0
            continue
        unit, top, differing = np.int64(0), np.int64(0), np.int64(0)
        for w in range(1, used):
            count = tables[0, w] + tables[1, w] + tables[2, w] + tables[3, w]
            if count > 0:
                widths[end], counts[end] = w, count
                end += 1
                differing += count
                top += w * count
                unit, rest = np.int64(w), unit
                while rest > 0:
                    unit, rest = rest, unit % rest
        tables[:, :used] = 0
        unit = max(unit, np.int64(1))
        for k in range(begin, end):
            widths[k] //= unit
        facts[r, 0], facts[r, 1], facts[r, 2] = total_u, total_v, unit
        facts[r, 3], facts[r, 4] = top // unit, differing
    starts[-1] = end
