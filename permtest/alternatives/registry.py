"""The registry of tests: what each is called, what it estimates and assumes, and what makes it.

The function that makes a test stands in the file of its family, under ``@makes("its name")``; and
the one that power curves make it by, of arrays, under ``@makes("its name", many=True)``. Here is
also what all tests share: what they take and return, and what scores say of their assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil, inf, isfinite, isnan, log10, nan, sqrt
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from permtest._errors import check_level
from permtest._text import Shown, counted, number, p_value
from permtest.integers import IntArray, largest, with_room
from permtest.interval import PER_SQUARED_SKEWNESS, ConfidenceInterval, skewness
from permtest.null.distribution import SMALLEST, count_values
from permtest.scores import Scores
from permtest.statistics import Statistic, check_alternative

Function = TypeVar("Function", bound=Callable[..., Any])
Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
#: What the two systems are called.
Names: TypeAlias = tuple[str, str] | None
#: Both ends of an interval, by the error probability on each side that it has.
Ends: TypeAlias = Callable[[float], tuple[float, float]]

#: From how many pairs on a mean is close to normal, a sample may stand for its population, and
#: that an assumption is not contradicted says something; expected counts that are large enough.
MANY, REPRESENTATIVE_FROM, FEW, ENOUGH = 30, 100, 20, 5
#: Skewness below which differences count as roughly symmetric (Bulmer's rule of thumb; another one
#: is that standard deviations are alike if one is at most twice the other), and correlations that
#: cost next to nothing: a standard deviation too large by a twentieth.
SYMMETRIC_BELOW, UNCORRELATED = 0.5, 0.1
#: Beyond what size, or below one over it, squares of scores are no floats.
VAST = 10**150

#: What tests take for granted.
ITEMS, SYSTEMS, LABELS = "independent items", "independent systems", "exchangeable labels"
SYMMETRIC, NORMAL = "symmetric differences", "normal differences"
NORMAL_SCORES, VARIANCES = "normal scores", "equal variances"
LARGE, SAMPLE, COUNTS = "large sample", "sample large enough to resample", "large counts"
SWAPPED, DRAWN, RANKED = (LABELS, ITEMS), (ITEMS, SAMPLE), (ITEMS, SYMMETRIC)
PAIRED, UNPAIRED, APART = (ITEMS, COUNTS), (ITEMS, SYSTEMS, COUNTS), (ITEMS, SYSTEMS, NORMAL_SCORES)

MEAN, MEDIAN, PSEUDO = "mean difference", "median difference", "pseudo-median difference"
SHARES, WINS = "difference of proportions", "difference of accuracies"
EXACT, SAMPLED, T = "exact", "sampled", "t distribution"
Z, CHI2, MIDP = "normal approximation", "chi-squared approximation", "exact, mid-p"
DRAWS = SAMPLED, "resamples"


@dataclass(eq=False)
class Row:
    """A test: its title in tables, what its results share, and the functions that make it."""

    title: str
    statistic_name: str
    estimate_name: str
    assumptions: tuple[str, ...]
    method: str = EXACT
    #: What `compare_all` makes it of, if at all: "resamples" of scores; "discordant" items, right
    #: for one system alone; "shares" of right items, or a "table" of right and wrong ones.
    takes: str = "scores"
    #: Makes one test of what it takes, with ``alternative=``.
    single: Callable[..., Any] | None = field(default=None, init=False)
    #: p of many data sets, ``(a, b, axis=-1, *, alternative)``; of resamples also K and rng.
    many: Callable[..., Any] | None = field(default=None, init=False)


#: Tests by the names that `compare_all`, `recommend` and `power_curve` take, as tables order them.
TESTS = {
    "exact": Row("exact permutation test of the mean", "sum", MEAN, SWAPPED),
    "permutation_median": Row("exact permutation test of the median", "median", MEDIAN, SWAPPED),
    "paired_t": Row("paired t-test", "t", MEAN, (ITEMS, NORMAL), T),
    "normal_z": Row("z-test of the mean", "z", MEAN, (ITEMS, LARGE), Z),
    "wilcoxon": Row("Wilcoxon signed-rank test", "W+", PSEUDO, RANKED),
    "sign": Row("sign test", "wins", MEDIAN, (ITEMS,)),
    "bootstrap_mean": Row("studentised bootstrap of the mean", "t", MEAN, DRAWN, *DRAWS),
    "bootstrap_median": Row("percentile bootstrap of the median", "median", MEDIAN, DRAWN, *DRAWS),
    "paired_bootstrap": Row("paired bootstrap (Koehn)", "share won", MEAN, DRAWN, *DRAWS),
    "independent_t": Row("two-sample t-test", "t", MEAN, (*APART, VARIANCES), T),
    "mcnemar": Row("McNemar's test, exact", "wins", WINS, (ITEMS,), takes="discordant"),
    "mcnemar_midp": Row("McNemar's test, mid-p", "wins", WINS, (ITEMS,), MIDP, "discordant"),
    "mcnemar_chi2": Row("McNemar's test, chi-squared", "chi2", WINS, PAIRED, CHI2, "discordant"),
    "two_proportion_z": Row("z-test of two proportions", "z", SHARES, UNPAIRED, Z, "shares"),
    "chi_squared": Row("chi-squared test", "chi2", SHARES, UNPAIRED, CHI2, "table"),
    "welch_t": Row("Welch's two-sample t-test", "t", MEAN, APART, T, ""),
    "wilcoxon_approx": Row("approximate Wilcoxon test", "W+", PSEUDO, (*RANKED, LARGE), Z, ""),
    "mcnemar_chi2-corrected": Row("McNemar's test, corrected", "chi2", WINS, PAIRED, CHI2, ""),
    "corrected_resampled_t": Row(
        "corrected resampled t-test", "t", MEAN, ("equal folds", "correlated folds", NORMAL), T, ""
    ),
}

#: Titles of those that `compare_all` makes, and which of these are tests of scores of 0 and 1.
TITLES = {name: row.title for name, row in TESTS.items() if row.takes}
OF_COUNTS = tuple(x for x in TITLES if TESTS[x].takes not in ("scores", "resamples"))


def makes(test: str, *, many: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Enter a function, with its options, in the row of the test that it makes."""

    def entered(function: Function) -> Function:
        setattr(TESTS[test], "many" if many else "single", partial(function, **options))
        return function

    return entered


def scores_of(
    a: Any,
    b: Any = None,
    names: Names = None,
    *,
    least: int = 1,
    labels: tuple[str, str] = ("a", "b"),
    entry: Statistic | None = None,
) -> Scores:
    """One score of each system for `least` items or more, or the counts that `entry` needs."""
    scores = Scores.of(a, b, names, counts=bool(entry and entry.hits), labels=labels)
    if scores.clusters is not None:
        raise ValueError(
            "these scores have clusters, but this test treats items separately; test scores.units, "
            "the sums of whole clusters"
        )
    if entry and entry.columns:
        return scores
    if scores.columns:
        counts = f"a and b have counts ({', '.join(scores.columns)}), but one score is needed"
        raise ValueError(f"{counts}; name a statistic of counts in exact_perm_test")
    if len(scores) < least:
        called = " and ".join(labels)
        raise ValueError(f"{called} have {len(scores)} pairs, but this needs {least} or more")
    check_size(scores.scale, scores.u, scores.v)
    return scores


def check_size(scale: int, *columns: IntArray) -> None:
    """Raise ValueError where squares of scores would overflow as floats, or all would vanish."""
    top = max(map(largest, columns))
    if top and not scale <= top * VAST <= scale * VAST**2:
        size = f"the largest score is {float(Fraction(top, scale)):.2g} or so, and its square is no"
        raise ValueError(f"{size} float; divide all scores by the same number")


def as_floats(values: IntArray, scale: int) -> Floats:
    """Integers divided by `scale`, each rounded once."""
    if values.dtype != object and scale < 2**53:
        return np.asarray(values / scale, dtype=np.float64)
    return np.array([float(Fraction(int(x), scale)) for x in values], dtype=np.float64)


def differences(a: Array, b: Any) -> Array:
    """a - b, of floats to twelve digits of the largest, so that decimals that tie do."""
    x, y = (np.asarray(z, np.int64 if z.dtype.kind in "bi" else np.float64) for z in (a, b))
    d = x - y
    if d.dtype == np.int64:
        return d
    top = max(float(abs(end)) for z in (x, y) for end in (z.min(), z.max()))
    return np.round(d, 12 - ceil(log10(top)), out=d) if top else d


def correlation(scores: Scores) -> float:
    """r12, Pearson's correlation of both systems' scores; NaN where one is constant."""
    a, b = (from_first(x, scores.scale) for x in (scores.u, scores.v))
    if not (np.ptp(a) and np.ptp(b)):
        return nan
    return float(np.clip(np.corrcoef(a / np.ptp(a), b / np.ptp(b))[0, 1], -1, 1))


def inflation(scores: Scores) -> float:
    """The factor by which assuming independence inflates the deviation (Yeh, sec. 2.1)."""
    columns = scores.u, scores.v, scores.differences()
    a, b, d = (float(from_first(x, scores.scale).var()) for x in columns)
    return sqrt((a + b) / d) if d else inf if a + b else nan


def from_first(values: IntArray, scale: int) -> Floats:
    """Floats less the first one, as scores may be large and their differences small."""
    if largest(values) > scale * VAST:
        check_size(scale, values)
    values = with_room(values, 2)
    return as_floats(values - values[0], scale)


@dataclass(frozen=True)
class AlternativeResult(Shown):
    """What a test other than the exact paired-permutation test found.

    Parameters
    ----------
    test : str
        Name of the test, as in `compare_all`, of which `title`, `statistic_name` ("t", "W+", ...),
        `assumptions` and `method` ("exact", "t distribution", "sampled", ...) follow.
    statistic, pvalue : float
        The test statistic; and p in (0, 1], where 5e-324 stands for all that are smaller.
    alternative : str
        "two-sided", "greater" (the first system scores higher) or "less".
    n : int
        Number of pairs, or of items of both systems together where they are not paired.
    estimate : float
        By how much the first system scores more.
    names : tuple of two str
        The names of the two systems.
    details : mapping of str to number
        Whatever else was computed: degrees of freedom, the standard error, ...
    estimate_name : str
        Of what `estimate` is the difference: "mean difference", ...

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> result = alt.paired_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> result.statistic_name, round(result.statistic, 3), result.details["df"], result.assumptions
    ('t', 2.746, 4, ('independent items', 'normal differences'))
    """

    test: str
    statistic: float
    pvalue: float
    alternative: str
    n: int
    estimate: float
    names: tuple[str, str] = ("a", "b")
    details: Mapping[str, Any] = field(default_factory=dict)
    estimate_name: str = ""
    title: str = field(init=False, compare=False)
    statistic_name: str = field(init=False, compare=False)
    method: str = field(init=False, compare=False)
    assumptions: tuple[str, ...] = field(init=False, compare=False)
    _ends: Ends | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_alternative(self.alternative)
        row, p = TESTS[self.test], float(self.pvalue)
        if not isfinite(p):
            raise ValueError(f"the {row.title} has no p for these numbers: they are too large")
        for x in ("title", "statistic_name", "method", "assumptions"):
            vars(self)[x] = getattr(row, x)
        vars(self)["estimate_name"] = self.estimate_name or row.estimate_name
        vars(self)["pvalue"] = min(max(p, SMALLEST), 1.0)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for `estimate`: usually all values that the test would not reject.

        One-sided tests leave one end open. Tests without an interval raise ValueError.
        """
        check_level(confidence_level, "confidence_level")
        if self._ends is None:
            raise ValueError(f"the {self.title} has no interval")
        low, high = self._ends(tail_level(self.alternative, confidence_level))
        most = 1.0 if TESTS[self.test].estimate_name == WINS else inf
        low = -most if self.alternative == "less" else float(low)
        high = most if self.alternative == "greater" else float(high)
        return ConfidenceInterval(low, high, confidence_level, method=self.test)

    def pvalue_text(self) -> str:
        """p with three significant digits, marked if it is sampled."""
        about = "\N{ALMOST EQUAL TO} " * (self.method == SAMPLED)
        return about + p_value(self.pvalue) if self.pvalue > SMALLEST else f"< {SMALLEST}"

    def __str__(self) -> str:
        (a, b), p = self.names if self.estimate >= 0 else self.names[::-1], self.pvalue_text()
        lead = f"{a} scores {number(abs(self.estimate))} more than {b}"
        side = "two-sided" if self.alternative == "two-sided" else f"one-sided ({self.alternative})"
        return (
            f"{lead if self.estimate else f'{a} and {b} tie'} ({self.estimate_name}) over "
            f"{counted(self.n, 'items')}: {self.statistic_name} = {number(self.statistic)}, "
            f"p {'= ' * p[0].isdigit()}{p} ({side} {self.title})."
        )


def by_sides(alternative: str, greater: Any, less: Any) -> Any:
    """p by the alternative, from both one-sided p; of single numbers or arrays."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * np.minimum(greater, less))
    return greater if alternative == "greater" else less


def tail_level(alternative: str, confidence_level: float) -> float:
    """The error probability on each side of an interval; of 0.9 as printed: 0.1, not less."""
    alpha = 1 - Fraction(str(float(confidence_level)))
    return float(alpha / 2 if alternative == "two-sided" else alpha)


def rejects(p: Any, alpha: float) -> Any:
    """Whether p <= alpha, for one p or an array of them; roundings in p do not matter."""
    return p <= alpha * (1 + 1e-11)


def first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from `low` on for which it holds, as it does from there to `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


class Check(NamedTuple):
    """What the scores say about an assumption; `held` is None where they cannot tell."""

    assumption: str
    held: bool | None
    evidence: str


def verdict(assumption: str, scores: Scores) -> Check:
    """Whether an assumption holds as far as scores can tell, by tests at the level 0.05."""
    n, held, evidence = len(scores), None, "scores alone cannot tell"
    if assumption == SAMPLE:
        return Check(SAMPLE, n >= REPRESENTATIVE_FROM, f"{n} pairs")
    if scores.columns:
        return Check(assumption, None, "counts cannot tell")
    g1, r12 = skewness(*count_values(scores.differences())), correlation(scores)
    u, v, d = (from_first(x, scores.scale) for x in (scores.u, scores.v, scores.differences()))
    if assumption == LARGE:
        enough = n >= max(MANY, PER_SQUARED_SKEWNESS * g1**2)
        return Check(LARGE, enough, f"{n} pairs, skewness {g1:.2f}")
    if assumption == SYSTEMS:  # of which Yeh warns; NaN where one system's scores are all equal
        held = False if abs(r12) > 2 / sqrt(n) else abs(r12) <= UNCORRELATED or None
        return Check(SYSTEMS, held, f"r12 = {r12:.3f}")
    if assumption == SYMMETRIC:
        held, evidence = abs(g1) < SYMMETRIC_BELOW, f"skewness {g1:.2f}"
    elif assumption in (NORMAL, NORMAL_SCORES):
        if scores.is_binary:
            return Check(assumption, False, "scores are 0 and 1")
        p = float(np.min([shapiro(x) for x in ((d,) if assumption == NORMAL else (u, v))]))
        if not isnan(p):
            held, evidence = p >= 0.05, f"Shapiro-Wilk p = {p:.3g}"
    elif assumption == VARIANCES and n >= FEW:  # a ratio of few pairs says nothing either way
        a, b = float(u.std(ddof=1)), float(v.std(ddof=1))
        held, evidence = max(a, b) <= 2 * min(a, b), f"standard deviations {a:.3g} and {b:.3g}"
    # Few pairs can contradict an assumption about a shape, but hardly speak for it.
    return Check(assumption, None if held and n < FEW else held, evidence)


def shapiro(values: Floats) -> float:
    """p of the Shapiro-Wilk test; NaN if all values are equal, or fewer than three."""
    from scipy import stats

    if values.size < 3 or np.ptp(values) == 0:
        return nan
    step = -(-values.size // 5000)  # p is said to be accurate for no more; every k-th will do
    return float(stats.shapiro(np.sort(values / np.ptp(values))[step // 2 :: step])[1])
