"""Many simulated data sets at once: the p-values of every row, and how often tests reject.

What `permtest.alternatives` does for one data set is done here for thousands, by formulas for
whole arrays. The exact test of a row needs no more than how often each difference occurs in it; so
studies of power draw those numbers directly, and never make the rows (see `laws.law_pvalues`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from html import escape
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.result import SMALLEST
from permtest.alternatives.sample import as_threshold
from permtest.exact import exact_perm_test
from permtest.statistics import check_alternative
from permtest.study.laws import AT_ONCE, exact_rows, lattice
from permtest.study.rows import Rows, as_rows

#: A p that exceeds the level by no more than this share of it counts as equal to it.
ROUNDING = 1e-11

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
        return _looped(test, *as_rows(a, b))
    if test not in TESTS:
        raise ValueError(f"test={test!r} is not known; choose one of {', '.join(TESTS)}")
    rows = Rows.of(a, b, as_threshold(delta))
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


# ---- sums, ranks and signs -----------------------------------------------------------------------


def _exact(rows: Rows, options: _Options) -> Floats:
    steps = rows.steps if rows.scale else lattice(rows.steps)
    return exact_rows(steps, options.alternative)


def _wilcoxon(rows: Rows, options: _Options) -> Floats:
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
        p[rest] = exact_rows(doubled[rest], options.alternative)
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


def _sign(rows: Rows, options: _Options) -> Floats:
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


def _exactly(k: Ints, n: Ints) -> Floats:
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


def _paired_t(rows: Rows, options: _Options) -> Floats:
    rows.need(2, "paired_t")
    mean, variance = _moments(rows.shifted)
    return _t_pvalues(_ratio(mean, np.sqrt(variance / rows.n)), rows.n - 1, options.alternative)


def _normal_z(rows: Rows, options: _Options) -> Floats:
    """Yeh's Eq. 1 and 2: with r12 of the scores, s_d is that of the differences."""
    rows.need(2, "normal_z")
    mean, variance = _moments(rows.shifted)
    return normal_pvalues(_ratio(mean, np.sqrt(variance / rows.n)), options.alternative)


def _independent(rows: Rows, test: str) -> Floats:
    """The mean difference over its standard error with r12 = 0."""
    rows.need(2, test)
    variances = [_moments(x)[1] for x in rows.scores]
    return _ratio(rows.shifted.mean(axis=1), np.sqrt((variances[0] + variances[1]) / rows.n))


def _independent_t(rows: Rows, options: _Options) -> Floats:
    statistic = _independent(rows, "independent_t")
    return _t_pvalues(statistic, 2 * rows.n - 2, options.alternative)


def _independent_z(rows: Rows, options: _Options) -> Floats:
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


def _bootstrap_mean(rows: Rows, options: _Options) -> Floats:
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


def _mcnemar(rows: Rows, options: _Options) -> Floats:
    rows.need_answers(options.test)
    return mcnemar_pvalues(*rows.wins, options.test, options.alternative)


def _proportions(rows: Rows, options: _Options) -> Floats:
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


def _single(rows: Rows, options: _Options) -> Floats:
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
TESTS: dict[str, Callable[[Rows, _Options], Floats]] = {
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
