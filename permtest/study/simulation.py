"""Many simulated data sets: the p-value of each, and how often tests reject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level, check_option
from permtest._html import grid, together
from permtest._json import AsJson
from permtest._parallel import over_workers
from permtest._progress import progress
from permtest._rng import RNG, as_generator, seeds, stream
from permtest.alternatives.answers import lined_up
from permtest.alternatives.counts import wilson
from permtest.alternatives.result import SMALLEST, rejects
from permtest.alternatives.sample import as_threshold
from permtest.statistics import check_alternative
from permtest.study.limits import check_drawn, check_experiments
from permtest.study.row_tests import TESTS, Options, looped, one_by_one
from permtest.study.rows import Rows, as_rows

#: Scores that are drawn at a time (16 MB for each system), data sets, and those that are tested
#: one by one.
AT_ONCE, PART, SLOW = 2**21, 1000, 100

Floats: TypeAlias = NDArray[np.float64]

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
        "greater": `a` scores higher.
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
        return looped(test, *as_rows(a, b))
    check_option("test", test, TESTS)
    rows = Rows.of(a, b, as_threshold(delta))
    options = Options(test, alternative, as_generator(rng), K)
    return np.clip(TESTS[test](rows, options), SMALLEST, 1.0)


# ---- how often tests reject --------------------------------------------------------------------


@dataclass(frozen=True)
class RejectionRates(AsJson):
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

    Examples
    --------
    >>> from permtest.study import rejection_rates
    >>> def equals(rng, experiments, n):
    ...     return rng.poisson(4, (experiments, n)), rng.poisson(4, (experiments, n))
    >>> rates = rejection_rates(["sign", "paired_t"], equals, n=20, experiments=400, rng=0)
    >>> low, high = rates.intervals["sign"]
    >>> low < rates["sign"] < high, rates["paired_t"] < 0.1
    (True, True)
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
        table = lined_up([("test", "rate", "95% interval"), *self.rows()])
        return f"{self.heading()}\n\n{table}"

    def _repr_html_(self) -> str:
        return together(grid(("test", "rate", "95% interval"), self.rows(), self.heading()))


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
        Number of pairs in each data set, up to ten million.
    experiments : int, default 2000
        Number of data sets, up to a million. They are drawn a thousand at a time, or fewer where
        those would have more than two million scores, or are tested one by one.
    alpha : float, default 0.05
        Level of the tests.
    alternative : {"two-sided", "greater", "less"}
    delta : float or Fraction, default 0.0
        The difference under the null hypothesis.
    rng : numpy.random.Generator, int or None
        For `draw`, and then for the bootstrap tests; each part has a stream of its own.
    K : int, default 1000
        Number of resamples of the bootstrap tests.

    Returns
    -------
    RejectionRates

    Raises
    ------
    TypeError, ValueError
        If an option is unknown or out of range, or `draw` returns something else.

    Notes
    -----
    Within ``joblib.parallel_config``, its workers draw and test the parts, with the same rates.

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
    check_alternative(alternative)
    size, data_sets = check_drawn(n, "n"), check_experiments(experiments)
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    named = dict(tests) if isinstance(tests, Mapping) else {_name(test): test for test in tests}
    options: dict[str, Any] = {"alternative": alternative, "delta": delta, "K": K}
    parts = list(enumerate(portions(data_sets, size, *named.values())))
    found = over_workers(
        _rejected, parts, named, draw, size, alpha, options, seeds(as_generator(rng))
    )
    counts = dict.fromkeys(named, 0)
    for some in progress(found, total=len(parts), what="tests"):
        for name, number in some.items():
            counts[name] += number
    intervals = {name: share_interval(count, data_sets) for name, count in counts.items()}
    rates = {name: count / data_sets for name, count in counts.items()}
    return RejectionRates(rates, intervals, alpha, size, data_sets, alternative)


def measured_rates(
    differences: Any,
    tests: Sequence[str],
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    repetitions: int = 2000,
    rng: RNG = 0,
) -> dict[str, tuple[float, float]]:
    """Level and power of tests for data like these, by resampling the differences.

    Parameters
    ----------
    differences : array_like of shape (N,)
    tests : sequence of str
    alpha, alternative, repetitions, rng

    Examples
    --------
    >>> from permtest.study import measured_rates
    >>> level, power = measured_rates([1, 2, 3, -1, 2, 4], ["sign"])["sign"]
    >>> level < 0.05
    True
    """
    d, generator = np.asarray(differences, dtype=np.float64), as_generator(rng)
    binary = bool(np.isin(np.abs(d), (0, 1)).all())
    rows = d[generator.integers(d.size, size=(repetitions, d.size))]
    signs = generator.choice([-1.0, 1.0], size=rows.shape)

    def share(test: str, null: bool) -> float:
        found = rows
        if null:
            found = rows * signs if binary or test == "sign" else rows - d.mean()
        if test == "wilcoxon" and d.size > 50:
            from scipy import stats

            p = stats.wilcoxon(found, axis=1, method="asymptotic").pvalue
            return rejections(np.asarray(p), alpha) / repetitions
        a, b = found, np.zeros_like(found)
        if test.startswith("mcnemar"):
            a, b = found > 0, found < 0
        p = pvalues(test, a, b, alternative=alternative, rng=generator, K=500)
        return rejections(p, alpha) / repetitions

    return {test: (share(test, True), share(test, False)) for test in tests}


def _rejected(
    part: tuple[int, int],
    tests: Mapping[str, Test],
    draw: Draw,
    n: int,
    alpha: float,
    options: Mapping[str, Any],
    origin: np.random.SeedSequence,
) -> dict[str, int]:
    """How many of some data sets each test rejects."""
    number, experiments = part
    rng = stream(origin, number)
    rows = drawn(draw, rng, experiments, n)
    p = {name: pvalues(test, *rows, **options, rng=rng) for name, test in tests.items()}
    return {name: rejections(found, alpha) for name, found in p.items()}


def portions(experiments: int, n: int, *tests: Test) -> list[int]:
    """How many data sets of n numbers each are drawn at a time, which adds up to all of them."""
    each = max(min(AT_ONCE // n, SLOW if any(map(one_by_one, tests)) else PART), 1)
    whole, rest = divmod(experiments, each)
    return [each] * whole + ([rest] if rest else [])


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
    return int(np.count_nonzero(rejects(p, alpha)))


def share_interval(count: int, size: int) -> tuple[float, float]:
    """Wilson's 95% interval for a probability, from `count` in `size`."""
    return wilson(count / size, size)
