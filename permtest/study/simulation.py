"""Many simulated data sets at once: the p-values of every row, and how often tests reject.

What `permtest.alternatives` does for one data set is done here for thousands, by formulas for
whole arrays. The exact test of a row needs no more than how often each difference occurs in it; so
studies of power draw those numbers directly, and never make the rows (see `law_pvalues`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from html import escape
from math import gcd, lcm, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import SAFE, largest
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest._threads import in_threads
from permtest.alternatives.result import SMALLEST
from permtest.alternatives.sample import as_threshold
from permtest.exact import exact_perm_test
from permtest.null.kernels import add_steps
from permtest.null.tail_kernels import upper_tails
from permtest.pairs import Pairs
from permtest.statistics import check_alternative

#: Differences that are no decimals are rounded to multiples of their mean magnitude over this ...
LEVELS = 16

#: ... but never finer than to a thousandth of the largest one.
FINEST = 1000

#: A p that exceeds the level by no more than this share of it counts as equal to it.
ROUNDING = 1e-11

#: Cells that dynamic programming may update for one test before the tilted tail is quicker, and
#: widths that the latter may look at: a tenth of a millisecond, a hundredth of a second.
UPDATES, WORK = 3 * 10**5, 2 * 10**6

#: Where a few widths are as large as this, the sums of all but the commonest are listed instead, if
#: there are no more than so many: midranks of scores with many ties.
WIDE, LISTED = 64, 20_000

#: Numbers that are held at a time (8 MB).
AT_ONCE = 2**20

#: Rows that share their resamples in "bootstrap_mean".
SHARED = 32

#: So many rows of untied ranks are worth the whole null distribution of their sum.
WORTH_A_LAW = 50

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: A test: its name, or ``test(a, b)`` that returns p, or a result that has it as `pvalue`.
Test: TypeAlias = "str | Callable[[Any, Any], Any]"

#: ``draw(rng, experiments, n)`` returns the scores of both systems, of shape (experiments, n).
Draw: TypeAlias = Callable[[np.random.Generator, int, int], tuple[Any, Any]]


def pvalues(
    test: Test,
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    delta: float | Fraction = 0.0,
    rng: RNG = None,
    K: int = 1000,
) -> Floats:
    """The p-value of each of many data sets.

    Parameters
    ----------
    test : str or callable
        "exact", "permutation_median", "paired_t", "independent_t", "normal_z", "independent_z",
        "sign", "wilcoxon", "bootstrap_mean", "bootstrap_median", "paired_bootstrap"; for scores
        that are 0 or 1 also "mcnemar", "mcnemar_midp", "mcnemar_chi2", "mcnemar_chi2_corrected",
        "two_proportion_z", "chi_squared", "chi_squared_yates". Or a function of two rows that
        returns p, or a result with `pvalue`; what follows is then its own business.
    a, b : array_like of shape (experiments, n)
        Scores of the two systems, a data set in each row.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `a` is better.
    delta : float or Fraction, default 0.0
        The difference under the null hypothesis.
    rng : numpy.random.Generator, int or None
        For the bootstrap tests.
    K : int, default 1000
        Number of resamples of the bootstrap tests.

    Returns
    -------
    ndarray of shape (experiments,)
        In (0, 1]. Where all differences of a row are equal, p of a test that divides by their
        spread is that of an infinite statistic, 5e-324 or 1; it is 1 where they all are `delta`.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, of other shapes, too few, or not 0 or 1 where they have to
        be, or an option is unknown.

    Notes
    -----
    "exact" takes integers, decimals of up to four digits and multiples of 1 / D, D up to 1000,
    as they are. Other scores, such as draws from a continuous law, are rounded row by row to
    multiples of a 16th of the mean magnitude of the differences, or of a thousandth of the largest,
    whichever is coarser: p is then exact for the rounded scores. The rounding does not look at
    signs, so that the level of the test holds. The others take scores as they are.

    "bootstrap_mean" is the studentised one of `alternatives`; 32 data sets at a time
    share their K resamples. "permutation_median", the two other bootstraps and functions are
    called row by row. All others take microseconds a row, "exact" some ten to a hundred.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.study.simulation import pvalues
    >>> a, b = np.array([[3, 5, 4, 6, 2], [1, 0, 1, 1, 1]]), np.array([2, 3, 4, 3, 1])
    >>> pvalues("exact", a, np.stack([b, [0, 0, 0, 0, 1]])).tolist()
    [0.125, 0.25]
    """
    check_alternative(alternative)
    if callable(test):
        return _looped(test, *_as_rows(a, b))
    if test not in TESTS:
        raise ValueError(f"test={test!r} is not known; choose one of {', '.join(TESTS)}")
    rows = _Rows.of(a, b, as_threshold(delta))
    options = _Options(test, alternative, as_generator(rng), K)
    return np.clip(TESTS[test](rows, options), SMALLEST, 1.0)


# ---- how often tests reject --------------------------------------------------------------------


@dataclass(frozen=True)
class RejectionRates:
    """How often each test rejected the null hypothesis, in the same simulated data sets.

    ``print(rates)`` lines them up; ``rates["exact"]`` is one of them.

    Parameters
    ----------
    rates : mapping of str to float
        Share of the data sets with p at most `alpha`, by test.
    intervals : mapping of str to (float, float)
        Wilson's 95% interval of what that share would be in infinitely many data sets.
    alpha : float
        Level of the tests.
    n : int
        Number of pairs in each data set.
    experiments : int
        Number of data sets.
    alternative : str
        "two-sided", "greater" or "less".
    """

    rates: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    alpha: float
    n: int
    experiments: int
    alternative: str

    def __getitem__(self, test: str) -> float:
        if test not in self.rates:
            raise KeyError(f"there is no test {test!r} here; there are {', '.join(self.rates)}")
        return self.rates[test]

    @property
    def too_often(self) -> tuple[str, ...]:
        """Tests that reject more often than `alpha`, by more than chance explains.

        Where the null hypothesis is true, those are the ones that do not hold their level.
        """
        return tuple(test for test, (low, _) in self.intervals.items() if low > self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, strings, lists and dicts."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        intervals = {test: list(ends) for test, ends in self.intervals.items()}
        return fields | {"rates": dict(self.rates), "intervals": intervals}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def heading(self) -> str:
        """What was simulated."""
        return (
            f"Share of {self.experiments} data sets of {self.n} pairs with p <= {self.alpha:g} "
            f"({self.alternative})"
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, rate and interval of each test, as people write them."""
        return [
            (test, f"{rate:.4f}", "{:.4f} to {:.4f}".format(*self.intervals[test]))
            for test, rate in self.rates.items()
        ]

    def __str__(self) -> str:
        rows = [("test", "rate", "95% interval"), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )
        return "\n".join([self.heading(), "", *lines])

    def _repr_html_(self) -> str:
        style = "style='text-align:left'"
        head = "".join(f"<th {style}>{cell}</th>" for cell in ("test", "rate", "95% interval"))
        body = "".join(
            f"<tr>{''.join(f'<td {style}>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self.rows()
        )
        caption = f"<caption {style}>{escape(self.heading())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rejection_rates(
    tests: Sequence[str] | Mapping[str, Test],
    draw: Draw,
    *,
    n: int,
    experiments: int = 2000,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    delta: float | Fraction = 0.0,
    rng: RNG = None,
    K: int = 1000,
) -> RejectionRates:
    """How often each of several tests rejects, in the same simulated data sets.

    Where `draw` makes data for which the null hypothesis is true, that is the error rate of a
    test, which ought to be at most `alpha`. Elsewhere it is its power.

    Parameters
    ----------
    tests : sequence of str, or mapping of str to test
        Tests as `pvalues` takes them; a mapping gives functions a name.
    draw : callable
        ``draw(rng, experiments, n)`` returns scores of both systems, two arrays of shape
        (experiments, n).
    n : int
        Number of pairs in each data set.
    experiments : int, default 2000
        Number of data sets.
    alpha : float, default 0.05
        Level of the tests.
    alternative : {"two-sided", "greater", "less"}
    delta : float or Fraction, default 0.0
        The difference under the null hypothesis.
    rng : numpy.random.Generator, int or None
        For `draw`, and then for the bootstrap tests.
    K : int, default 1000
        Number of resamples of the bootstrap tests.

    Returns
    -------
    RejectionRates

    Raises
    ------
    TypeError, ValueError
        If an option is unknown or out of range, or `draw` returns something else.

    Examples
    --------
    >>> from permtest.study.simulation import rejection_rates
    >>> def equals(rng, experiments, n):
    ...     return rng.poisson(4, (experiments, n)), rng.poisson(4, (experiments, n))
    >>> rates = rejection_rates(["exact", "sign"], equals, n=20, rng=0)
    >>> rates.too_often
    ()
    """
    check_level(alpha)
    size, data_sets = check_count(n, "n"), check_count(experiments, "experiments")
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    named = dict(tests) if isinstance(tests, Mapping) else {_name(test): test for test in tests}
    generator = as_generator(rng)
    rows = drawn(draw, generator, data_sets, size)
    options: dict[str, Any] = {"alternative": alternative, "delta": delta, "K": K}
    counts = {
        name: rejections(pvalues(test, *rows, rng=generator, **options), alpha)
        for name, test in progress(named.items(), total=len(named), what="tests")
    }
    intervals = {name: share_interval(count, data_sets) for name, count in counts.items()}
    rates = {name: count / data_sets for name, count in counts.items()}
    return RejectionRates(rates, intervals, alpha, size, data_sets, alternative)


def _name(test: Any) -> str:
    return test if isinstance(test, str) else str(getattr(test, "__name__", test))


def drawn(draw: Draw, rng: np.random.Generator, experiments: int, n: int) -> tuple[Any, Any]:
    """What `draw` returns; ValueError if that is not two arrays of the shape asked for."""
    a, b = draw(rng, experiments, n)
    for name, scores in (("first", a), ("second", b)):
        if np.shape(scores) != (experiments, n):
            raise ValueError(
                f"draw(rng, {experiments}, {n}) returned a {name} array of shape "
                f"{np.shape(scores)}, but it must have shape {(experiments, n)}"
            )
    return a, b


def rejections(p: Floats, alpha: float) -> int:
    """How many p are at most alpha, those included that exceed it by their rounding alone."""
    return int(np.count_nonzero(p <= alpha * (1 + ROUNDING)))


def share_interval(count: int, size: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability, from `count` in `size`."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 - confidence_level) / 2)) ** 2
    centre = (count + z2 / 2) / (size + z2)
    reach = (z2 * (count * (size - count) / size + z2 / 4)) ** 0.5 / (size + z2)
    low = 0.0 if count == 0 else max(centre - reach, 0.0)
    return low, 1.0 if count == size else min(centre + reach, 1.0)


def check_level(alpha: float) -> None:
    """Raise ValueError unless `alpha` is a level."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha}")


def check_count(value: Any, name: str) -> int:
    """`value` as an int from 1 on, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} must be a whole number")
    if value < 1:
        raise ValueError(f"{name}={value} must be at least 1")
    return int(value)


# ---- scores ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """Scores of shape (experiments, n), as given and, where they are that, as integers.

    Parameters
    ----------
    a, b : ndarray
        Integers to be divided by `scale`, of dtype int64 or object; or floats, `scale` being 0.
    scale : int
    delta : Fraction
    """

    a: NDArray[Any]
    b: NDArray[Any]
    scale: int
    delta: Fraction

    @classmethod
    def of(cls, a: Any, b: Any, delta: Fraction) -> _Rows:
        """Validate, and find out whether they are integers or decimals."""
        first, second = _as_rows(a, b)
        if any(x.dtype.kind in "Ou" for x in (first, second)):
            pairs = Pairs.of(first.ravel(), second.ravel(), labels=("a", "b"))
            u, v = (x.reshape(first.shape) for x in (pairs.u, pairs.v))
            return cls(u, v, pairs.scale, delta)
        columns = [_as_integers(x, name) for x, name in ((first, "a"), (second, "b"))]
        if any(scale == 0 for _, scale in columns):
            return cls(first.astype(np.float64), second.astype(np.float64), 0, delta)
        scale = lcm(*(scale for _, scale in columns))
        u, v = (_times(x, scale // own) for x, own in columns)
        return cls(u, v, scale, delta)

    @property
    def n(self) -> int:
        return int(self.a.shape[1])

    @cached_property
    def steps(self) -> NDArray[Any]:
        """a - b - delta: integers in units of their own, or floats."""
        if self.scale == 0:
            noise = 1e-12 * np.maximum(np.abs(self.a), np.abs(self.b))
            d = self.a - self.b - float(self.delta)
            return np.where(np.abs(d) <= noise, 0.0, d)
        shift = self.delta * self.scale
        gaps = _times(self.a - self.b, shift.denominator)
        if abs(shift.numerator) >= SAFE:
            gaps = gaps.astype(object)
        return np.asarray(gaps - shift.numerator)

    @cached_property
    def shifted(self) -> Floats:
        """a - b - delta as floats."""
        if self.scale == 0:
            return self.steps
        return _as_floats(self.steps, self.scale * (self.delta * self.scale).denominator)

    @property
    def scores(self) -> tuple[Floats, Floats]:
        """a and b as floats."""
        return _as_floats(self.a, self.scale), _as_floats(self.b, self.scale)

    @cached_property
    def signs(self) -> Ints:
        """1, 0 or -1 for each pair."""
        return np.where(self.steps > 0, 1, np.where(self.steps < 0, -1, 0))

    @property
    def wins(self) -> tuple[Ints, Ints]:
        """How many pairs of each row either system wins."""
        return np.sum(self.signs > 0, axis=1), np.sum(self.signs < 0, axis=1)

    def need(self, least: int, test: str) -> None:
        """Raise ValueError if there are fewer pairs."""
        if self.n < least:
            raise ValueError(f"a and b have {self.n} pairs a row, but {test} needs {least}")

    def need_answers(self, test: str) -> None:
        """Raise ValueError unless all scores are 0 or 1, and delta is 0."""
        if self.delta:
            raise ValueError(f"delta={float(self.delta)} is not for {test}, which has no threshold")
        for name, x in (("a", self.a), ("b", self.b)):
            for i, j in np.argwhere((x != 0) & (x != max(self.scale, 1)))[:1]:
                value = float(x[i, j]) / max(self.scale, 1)
                raise ValueError(f"{name}[{i}, {j}] = {value:g}, but {test} needs scores 0 or 1")


def _as_rows(a: Any, b: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two arrays of numbers, of the same two dimensions."""
    first, second = np.asarray(a), np.asarray(b)
    for name, x in (("a", first), ("b", second)):
        if x.dtype.kind not in "biufO":
            raise TypeError(f"{name} must be an array of numbers, not of {x.dtype}")
        if x.ndim != 2 or x.shape[1] == 0:
            raise ValueError(f"{name} has shape {x.shape}, but a data set in each row is needed")
    if first.shape != second.shape:
        raise ValueError(f"a has shape {first.shape} and b {second.shape}; they must be alike")
    return first, second


def _as_integers(x: NDArray[Any], name: str) -> tuple[NDArray[Any], int]:
    """Integers and what to divide them by, read as `Pairs` reads floats; else 0."""
    if x.dtype.kind in "bi":
        return x.astype(np.int64, copy=False), 1
    for i, j in np.argwhere(~np.isfinite(x))[:1]:
        raise ValueError(f"{name}[{i}, {j}] = {x[i, j]} is not finite; leave such pairs out")
    size = float(np.abs(x).max(initial=0.0))
    for scale in (1, 10, 100, 1000, 10_000):
        k = np.rint(x.ravel()[:8] * scale)
        if np.array_equal(k / scale, x.ravel()[:8]) and size * scale < 1e15:
            k = np.rint(x * scale)
            if np.array_equal(k / scale, x):
                return k.astype(np.int64), scale
    return _small_fractions(x, size)


def _small_fractions(x: NDArray[Any], size: float) -> tuple[NDArray[Any], int]:
    """Scores that were computed as k / D, D up to 1000, with the rounding taken off."""
    near = 4 * np.spacing(np.abs(x))
    for scale in range(2, 1001):
        if size * scale > 1e5:
            break
        for some in (slice(0, 1), slice(None)):  # most denominators fail at once
            k = np.rint(x[some] * scale)
            if np.any(np.abs(x[some] - k / scale) > near[some]):
                break
        else:
            return k.astype(np.int64), scale
    return x, 0


def _times(x: NDArray[Any], factor: int) -> NDArray[Any]:
    """`x` times an integer, as Python integers where int64 would be too small."""
    if x.dtype != object and max(largest(x), 1) * factor >= SAFE:
        x = x.astype(object)
    return x * factor if factor != 1 else x


def _as_floats(x: NDArray[Any], scale: int) -> Floats:
    if x.dtype != object:
        return np.asarray(x / scale if scale > 1 else x, dtype=np.float64)
    flat = [float(Fraction(int(value), max(scale, 1))) for value in x.ravel()]
    return np.array(flat, dtype=np.float64).reshape(x.shape)


# ---- the exact test ----------------------------------------------------------------------------


def lattice(d: Floats) -> Ints:
    """Rows of differences rounded to integers, each in a unit of its own (see `pvalues`)."""
    size = np.abs(d)
    largest_one = size.max(axis=1, keepdims=True)
    unit = np.maximum(size.mean(axis=1, keepdims=True) / LEVELS, largest_one / FINEST)
    return np.rint(d / np.where(unit > 0, unit, 1.0)).astype(np.int64)


def _exact(rows: _Rows, options: _Options) -> Floats:
    steps = rows.steps if rows.scale else lattice(rows.steps)
    return _exact_rows(steps, options.alternative)


def _exact_rows(steps: NDArray[Any], alternative: str) -> Floats:
    """p of the exact test of each row of integers."""
    if steps.dtype == object:
        unit = gcd(*steps.ravel().tolist()) or 1
        steps = steps // unit
        if largest(steps) * steps.shape[1] >= SAFE:
            return _one_by_one(steps, alternative)
        steps = steps.astype(np.int64)
    size, n = steps.shape
    each = max(min(AT_ONCE // max(n, 1), -(-size // 16)), 1)
    blocks = [steps[i : i + each] for i in range(0, size, each)]
    _compile()
    found = in_threads(partial(_exact_block, alternative=alternative), blocks)
    return np.concatenate([np.empty(0), *progress(found, total=len(blocks), what="exact tests")])


def _one_by_one(steps: NDArray[Any], alternative: str) -> Floats:
    """The same for integers of any size."""
    options: Any = {"axis": 1, "alternative": alternative}
    found: Floats = exact_perm_test(steps, np.zeros_like(steps), **options).pvalue
    return found.copy()


def _exact_block(steps: Ints, *, alternative: str) -> Floats:
    """Count how often each difference occurs in each row, and look at its law."""
    low, high = int(steps.min()), int(steps.max())
    cells = high - low + 1
    if cells <= 4 * steps.shape[1] + 4096:
        values, codes = np.arange(low, high + 1), steps - low
    else:
        values, codes = np.unique(steps, return_inverse=True)
        codes, cells = codes.reshape(steps.shape), values.size
    p = np.empty(steps.shape[0])
    each = max(AT_ONCE // cells, 1)
    for start in range(0, steps.shape[0], each):
        some = codes[start : start + each]
        flat = (some + cells * np.arange(some.shape[0])[:, None]).ravel()
        counts = np.bincount(flat, minlength=cells * some.shape[0]).reshape(-1, cells)
        p[start : start + each] = _law_block(values, counts, alternative)
    return p


def law_pvalues(values: Ints, counts: Ints, alternative: str = "two-sided") -> Floats:
    """p of the exact test for data sets that are known by how often each difference occurs.

    Parameters
    ----------
    values : ndarray of shape (U,), int64
        Differences, distinct.
    counts : ndarray of shape (experiments, U), int64
        How often each occurs.
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    ndarray of shape (experiments,)

    Notes
    -----
    Few entries are convolved (Alg. 3), others have their tail summed under a tilted law, whatever
    takes less time; the cost does not depend on how many pairs there are. Relative error below
    1e-11.
    """
    _compile()
    each = max(min(AT_ONCE // max(values.size, 1), -(-counts.shape[0] // 8)), 1)
    blocks = [counts[i : i + each] for i in range(0, counts.shape[0], each)]
    found = in_threads(lambda block: _law_block(values, block, alternative), blocks)
    return np.concatenate([np.empty(0), *found])


def _law_block(values: Ints, counts: Ints, alternative: str) -> Floats:
    widths, where = np.unique(np.abs(values), return_inverse=True)
    folded = np.zeros((counts.shape[0], widths.size), dtype=np.int64)
    for k in range(values.size):  # at most two values fall together
        folded[:, where[k]] += counts[:, k]
    if widths.size and widths[0] == 0:
        widths, folded = widths[1:], folded[:, 1:]
    laws = _Laws.of(widths, folded, counts @ values)
    p = laws.pvalues(alternative)
    for i in np.flatnonzero(np.isnan(p)):
        row = np.repeat(values, counts[i])
        p[i] = _one_by_one(row[None, :], alternative)[0]
    return p


def _compile() -> None:
    """Call the kernels once before several threads do."""
    none, floats = np.zeros(1, dtype=np.int64), np.zeros(1)
    upper_tails(none, none[1:], none[1:], none[1:], none[1:], WORK, np.zeros((0, 5)))
    add_steps(none[1:], none[1:], floats[1:], floats[1:], 1, floats, floats.copy())


@dataclass(frozen=True, eq=False)
class _Laws:
    """Null laws of many sums; law i is ``starts[i] : starts[i + 1]`` of `widths` and `counts`.

    `widths` of a law ascend and have no common divisor; `top` is their sum, and `lead` the
    observed sum, in units of that divisor.
    """

    starts: Ints
    widths: Ints
    counts: Ints
    lead: Ints
    top: Ints
    entries: Ints

    @classmethod
    def of(cls, widths: Ints, counts: Ints, lead: Ints) -> _Laws:
        """From one row of counts for each law; widths ascend."""
        there = counts > 0
        unit = np.gcd.reduce(np.where(there, widths, 0), axis=1)
        unit = np.maximum(unit, 1)
        rows, columns = np.nonzero(there)
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))])
        return cls(
            starts.astype(np.int64),
            widths[columns] // unit[rows],
            counts[there],
            lead // unit,
            (counts @ widths) // unit,
            counts.sum(axis=1),
        )

    def pvalues(self, alternative: str) -> Floats:
        """p of each; NaN where that takes more than it may here."""
        t = (self.lead + self.top) // 2
        if alternative == "greater":
            return self.tails(t)
        if alternative == "less":
            return self.tails(self.top - t)
        upper = np.maximum(t, self.top - t)
        meet = 2 * upper - self.top <= 1
        return np.where(meet, 1.0, 2 * self.tails(np.where(meet, 0, upper)))

    def tails(self, t0: Ints) -> Floats:
        """P(T >= t0)."""
        low = 2 * t0 <= self.top
        beyond = np.where(low, self.top - t0 + 1, t0)
        p = np.zeros(t0.size)
        cells = self.top - beyond + 1  # as many as P(T <= top - beyond) has, which is the same
        quick = cells * self.entries <= UPDATES
        for i in np.flatnonzero((cells > 0) & quick):
            p[i] = self.convolved(int(i), int(cells[i]))
        for i in np.flatnonzero((cells > 0) & ~quick & self.few()):
            p[i] = self.listed(int(i), int(beyond[i]))
            quick[i] = True
        self.tilt(np.where(quick, 0, beyond), p)
        return np.where(low, 1.0 - p, p)

    def convolved(self, i: int, cells: int) -> float:
        """P(T < cells) by dynamic programming on these cells alone."""
        some = slice(self.starts[i], self.starts[i + 1])
        table, spare = np.zeros(cells), np.zeros(cells)
        table[0] = 1.0
        halves = np.full(self.starts[i + 1] - self.starts[i], 0.5)
        widths, counts = self.widths[some], self.counts[some]
        flipped, _ = add_steps(widths, counts, halves, halves, 1, table, spare)
        return float((spare if flipped else table).sum())

    def few(self) -> NDArray[np.bool_]:
        """Which laws have so few sums of all but the commonest width that they can be listed."""
        found = np.zeros(self.top.size, dtype=bool)
        for i in np.flatnonzero(np.diff(self.starts) <= 14):
            some = slice(self.starts[i], self.starts[i + 1])
            counts = sorted(self.counts[some].tolist())
            wide = counts and self.widths[some.stop - 1] >= WIDE
            found[i] = wide and prod(c + 1 for c in counts[:-1]) <= LISTED
        return found

    def listed(self, i: int, t0: int) -> float:
        """P(T >= t0) from all sums of the other widths, and the tail of the commonest one."""
        some = slice(self.starts[i], self.starts[i + 1])
        groups = sorted(zip(self.counts[some].tolist(), self.widths[some].tolist(), strict=True))
        sums, shares = np.zeros(1, dtype=np.int64), np.ones(1)
        for count, width in groups[:-1]:
            sums = np.add.outer(sums, width * np.arange(count + 1)).ravel()
            shares = np.multiply.outer(shares, _fair_coins(count)[0]).ravel()
        count, width = groups[-1]
        least = np.clip(-((sums - t0) // width), 0, count + 1)
        return float(shares @ _fair_coins(count)[1][least])

    def tilt(self, t0: Ints, p: Floats) -> None:
        """Set p = P(T >= t0) where t0 > 0; NaN where that is too hard."""
        asked = t0 > 0
        width = np.zeros(t0.size)
        width[self.entries > 0] = self.widths[self.starts[1:][self.entries > 0] - 1]
        points = np.minimum(self.top + 1.0, 11.0 * width * np.sqrt(self.entries))
        fits = (self.top < 2.0**53) & (width * points <= 2.0**62)
        end = t0 >= self.top
        found = np.ones((t0.size, 5))
        where = np.where(asked & fits & ~end, t0, 0)
        upper_tails(self.starts, self.widths, self.counts, self.top, where, WORK, found)
        high, low, factor, _, left = found.T
        with np.errstate(under="ignore"):
            tails = np.exp(high / 2) * (1 + low) * factor * np.exp(high / 2)
            tails = np.where(end, 0.5**self.entries, tails)
        p[asked] = np.where((fits & (left > 0)) | end, tails, np.nan)[asked]


@lru_cache(maxsize=2048)
def _fair_coins(n: int) -> tuple[Floats, Floats]:
    """P(k heads in n throws) for k = 0, ..., n, and P(at least k) for k = 0, ..., n + 1."""
    shares = _exactly(np.arange(n + 1), np.int64(n))
    return shares, np.append(np.cumsum(shares[::-1])[::-1], 0.0)


# ---- ranks and signs ---------------------------------------------------------------------------


def _wilcoxon(rows: _Rows, options: _Options) -> Floats:
    """The exact test of twice the midranks, zeros left out."""
    from scipy.stats import rankdata

    _, codes = np.unique(np.abs(rows.steps), return_inverse=True)
    zeros = np.sum(rows.signs == 0, axis=1)
    ranks = rankdata(codes.reshape(rows.steps.shape), axis=1) - zeros[:, None]
    doubled = rows.signs * np.rint(2 * ranks).astype(np.int64)
    left = rows.n - zeros
    untied = 3 * np.sum(doubled**2, axis=1) == 2 * left * (left + 1) * (2 * left + 1)
    p = np.empty(rows.steps.shape[0])
    rest = np.ones(p.size, dtype=bool)
    for n in np.unique(left[untied]):
        some = untied & (left == n)
        if np.count_nonzero(some) >= WORTH_A_LAW and n > 1:
            p[some] = _rank_pvalues(int(n), doubled[some].sum(axis=1), options.alternative)
            rest &= ~some
    if rest.any():
        p[rest] = _exact_rows(doubled[rest], options.alternative)
    return p


def _rank_pvalues(n: int, lead: Ints, alternative: str) -> Floats:
    """p of many sums of n untied doubled ranks, from the whole null distribution."""
    ranks = np.arange(1, n + 1)
    below = np.cumsum(exact_perm_test(ranks, 0 * ranks).null_distribution.pmf)
    top = below.size - 1
    t = (lead // 2 + top) // 2
    if alternative == "greater":
        return np.asarray(below[top - t])
    if alternative == "less":
        return np.asarray(below[t])
    return np.asarray(np.where(2 * t == top, 1.0, 2 * below[np.minimum(t, top - t)]))


def _sign(rows: _Rows, options: _Options) -> Floats:
    return binomial_pvalues(*rows.wins, options.alternative)


def binomial_pvalues(wins: Ints, losses: Ints, alternative: str) -> Floats:
    """Exact p of so many heads and tails of a fair coin; 1 where there are none."""
    n = wins + losses
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * _at_most(np.minimum(wins, losses), n))
    return _at_most(losses if alternative == "greater" else wins, n)


def _at_most(k: Ints, n: Ints) -> Floats:
    """P(at most k heads in n throws)."""
    from scipy.special import betainc

    p = np.asarray(betainc(np.maximum(n - k, 1), k + 1, 0.5))
    return np.where(k >= n, 1.0, p)


def _exactly(k: Ints, n: Ints | np.int64) -> Floats:
    """P(k heads in n throws)."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(k, n, 0.5))


# ---- means -------------------------------------------------------------------------------------


def _moments(d: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each row; a variance of 0 where all are equal, whatever is rounded."""
    mean = d.mean(axis=1)
    return mean, np.where(np.ptp(d, axis=1) == 0, 0.0, d.var(axis=1, ddof=1))


def _ratio(gap: Floats, error: Floats) -> Floats:
    """gap / error, and its limit where the error is 0."""
    safe = np.where(error > 0, error, 1.0)
    return np.where(error > 0, gap / safe, np.where(gap == 0, 0.0, np.copysign(np.inf, gap)))


def _paired_t(rows: _Rows, options: _Options) -> Floats:
    rows.need(2, "paired_t")
    mean, variance = _moments(rows.shifted)
    return _t_pvalues(_ratio(mean, np.sqrt(variance / rows.n)), rows.n - 1, options.alternative)


def _normal_z(rows: _Rows, options: _Options) -> Floats:
    """Yeh's Eq. 1 and 2: with r12 of the scores, s_d is that of the differences."""
    rows.need(2, "normal_z")
    mean, variance = _moments(rows.shifted)
    return normal_pvalues(_ratio(mean, np.sqrt(variance / rows.n)), options.alternative)


def _independent(rows: _Rows, test: str) -> Floats:
    """The mean difference over its standard error with r12 = 0."""
    rows.need(2, test)
    variances = [_moments(x)[1] for x in rows.scores]
    return _ratio(rows.shifted.mean(axis=1), np.sqrt((variances[0] + variances[1]) / rows.n))


def _independent_t(rows: _Rows, options: _Options) -> Floats:
    statistic = _independent(rows, "independent_t")
    return _t_pvalues(statistic, 2 * rows.n - 2, options.alternative)


def _independent_z(rows: _Rows, options: _Options) -> Floats:
    return normal_pvalues(_independent(rows, "independent_z"), options.alternative)


def _t_pvalues(t: Floats, df: int, alternative: str) -> Floats:
    from scipy.special import stdtr

    return _symmetric(partial(stdtr, df), t, alternative)


def normal_pvalues(z: Floats, alternative: str) -> Floats:
    """p of standard normal test statistics."""
    from scipy.special import ndtr

    return _symmetric(ndtr, z, alternative)


def _symmetric(below: Callable[[Floats], Floats], x: Floats, alternative: str) -> Floats:
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * below(-np.abs(x)))
    return below(-x if alternative == "greater" else x)


def _bootstrap_mean(rows: _Rows, options: _Options) -> Floats:
    """Studentised: t* = (resampled mean - mean) / its standard error, against t."""
    rows.need(2, "bootstrap_mean")
    size = check_count(options.K, "K")
    mean, variance = _moments(rows.shifted)
    t = _ratio(mean, np.sqrt(variance / rows.n))
    p = np.empty(mean.size)
    starts = range(0, mean.size, SHARED)
    for start in progress(starts, total=len(starts), what="bootstrap tests"):
        some = slice(start, start + SHARED)
        centred = rows.shifted[some] - mean[some, None]
        centred[variance[some] == 0] = 0.0
        above, below = _extreme_resamples(centred, t[some], size, options.rng)
        p[some] = _sampled_pvalues(above, below, options)
    return p


def _extreme_resamples(
    centred: Floats, t: Floats, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """In how many resamples t* >= t, and in how many t* <= t."""
    n = centred.shape[1]
    above, below = np.zeros((2, t.size), dtype=np.int64)
    spread = centred.std(axis=1)[:, None]
    scaled = centred / np.where(spread > 0, spread, 1.0)
    finite = np.where(np.isfinite(t), t, np.sign(t) * 1e300)[:, None]
    each = max(AT_ONCE // n, 1)
    for start in range(0, size, each):
        number = min(each, size - start)
        items = rng.integers(n, size=(number, n)) + n * np.arange(number)[:, None]
        times = np.bincount(items.ravel(), minlength=n * number).reshape(number, n).T
        weights = times.astype(np.float64) / n
        gap = scaled @ weights
        error = np.sqrt(np.maximum(scaled**2 @ weights - gap**2, 0.0) / (n - 1))
        # Where a resample has one value only, its t* is infinite.
        gap, error = (np.where(np.abs(x) < 1e-7, 0.0, x) for x in (gap, error))
        star, slack = _ratio(gap, error), 1e-9 * (1 + np.abs(finite))
        above += np.count_nonzero(star >= finite - slack, axis=1)
        below += np.count_nonzero(star <= finite + slack, axis=1)
    return above, below


# ---- right or wrong ----------------------------------------------------------------------------


def mcnemar_pvalues(b: Ints, c: Ints, test: str, alternative: str) -> Floats:
    """p of one of McNemar's tests, for b items that only the first system has right, and c."""
    n = b + c
    if test in ("exact", "sign", "mcnemar"):
        return binomial_pvalues(b, c, alternative)
    if test == "mcnemar_midp":
        half, there = _exactly(b, n) / 2, n > 0
        if alternative == "two-sided":
            p = np.minimum(1.0, 2 * (_at_most(np.minimum(b, c), n) - half))
        else:
            p = binomial_pvalues(b, c, alternative) - half
        return np.where(there, p, 1.0)
    correction = 1.0 if test == "mcnemar_chi2_corrected" else 0.0
    root = _corrected((b - c).astype(np.float64), correction, alternative)
    z = root / np.sqrt(np.maximum(n, 1))
    return np.where(n > 0, normal_pvalues(z, alternative), 1.0)


def _corrected(gap: Floats, correction: float, alternative: str) -> Floats:
    """`gap` moved towards 0, not beyond it if both sides count; by its sign one-sided."""
    if alternative == "two-sided":
        return np.sign(gap) * np.maximum(np.abs(gap) - correction, 0.0)
    return gap + (correction if alternative == "less" else -correction)


def _mcnemar(rows: _Rows, options: _Options) -> Floats:
    rows.need_answers(options.test)
    return mcnemar_pvalues(*rows.wins, options.test, options.alternative)


def _proportions(rows: _Rows, options: _Options) -> Floats:
    """The pooled z, which is the signed root of chi-squared, with Yates' correction or without."""
    rows.need_answers(options.test)
    x, y = (np.sum(scores != 0, axis=1).astype(np.float64) for scores in (rows.a, rows.b))
    correction = 1.0 if options.test == "chi_squared_yates" else 0.0
    gap = _corrected(x - y, correction, options.alternative)
    share = (x + y) / (2 * rows.n)
    spread = 2 * rows.n * share * (1 - share)
    # Where all answers are right, or all wrong, there is nothing to see.
    z = np.where(spread > 0, gap / np.sqrt(np.where(spread > 0, spread, 1.0)), 0.0)
    return normal_pvalues(z, options.alternative)


# ---- one by one --------------------------------------------------------------------------------


def _looped(test: Callable[[Any, Any], Any], a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """p of each row by a function of two rows."""
    found = progress(map(test, a, b), total=a.shape[0], what="tests")
    return np.fromiter(_plain_pvalues(found), np.float64, a.shape[0])


def _plain_pvalues(found: Iterator[Any]) -> Iterator[float]:
    for i, result in enumerate(found):
        p = float(getattr(result, "pvalue", result))
        if not 0 <= p <= 1:
            raise ValueError(f"the test returned {p} for data set {i}, which is no p-value")
        yield p


def _single(rows: _Rows, options: _Options) -> Floats:
    """The tests that are made row by row; 1 where all differences are `delta`."""
    from permtest.alternatives.bootstraps import bootstrap
    from permtest.alternatives.contests import paired_bootstrap
    from permtest.alternatives.medians import permutation_median

    common: dict[str, Any] = {"alternative": options.alternative, "delta": rows.delta}
    sampled = {**common, "K": options.K, "rng": options.rng}
    tests: dict[str, Callable[[Any, Any], Any]] = {
        "permutation_median": lambda a, b: permutation_median(a, b, **common),
        "bootstrap_median": lambda a, b: bootstrap(a, b, statistic="median", **sampled),
        "paired_bootstrap": lambda a, b: paired_bootstrap(a, b, statistic="mean", **sampled),
    }
    test, p = tests[options.test], np.ones(rows.a.shape[0])
    a, b = rows.scores
    constant = np.all(rows.steps == rows.steps[:, :1], axis=1)
    if options.test == "bootstrap_median" and constant.any():
        p[constant] = _constant_pvalues(rows.signs[constant, 0], options)
    else:
        constant = np.zeros_like(constant)
    p[~constant] = _looped(test, a[~constant], b[~constant])
    return p


def _constant_pvalues(signs: Ints, options: _Options) -> Floats:
    """p of K resamples that all have the sign of the only difference that there is."""
    above, below = np.where(signs <= 0, options.K, 0), np.where(signs >= 0, options.K, 0)
    return _sampled_pvalues(above, below, options)


def _sampled_pvalues(above: Ints, below: Ints, options: _Options) -> Floats:
    """p of so many resamples among K on either side; two-sided, twice the smaller one."""
    greater, less = (above + 1) / (options.K + 1), (below + 1) / (options.K + 1)
    both = np.minimum(1.0, 2 * np.minimum(greater, less))
    return np.asarray({"greater": greater, "less": less}.get(options.alternative, both))


@dataclass(frozen=True)
class _Options:
    """What else a test is told."""

    test: str
    alternative: str
    rng: np.random.Generator
    K: int


#: What computes the p-values of all rows, by the name of the test.
TESTS: dict[str, Callable[[_Rows, _Options], Floats]] = {
    "exact": _exact,
    "permutation_median": _single,
    "paired_t": _paired_t,
    "independent_t": _independent_t,
    "normal_z": _normal_z,
    "independent_z": _independent_z,
    "sign": _sign,
    "wilcoxon": _wilcoxon,
    "bootstrap_mean": _bootstrap_mean,
    "bootstrap_median": _single,
    "paired_bootstrap": _single,
    "mcnemar": _mcnemar,
    "mcnemar_midp": _mcnemar,
    "mcnemar_chi2": _mcnemar,
    "mcnemar_chi2_corrected": _mcnemar,
    "two_proportion_z": _proportions,
    "chi_squared": _proportions,
    "chi_squared_yates": _proportions,
}
