"""The registry of tests: what each is called, what it assumes, what it takes, and what makes it.

A row of `TESTS` says all that there is to say about a test. The function that makes it stands in
the file of its family, under ``@registry.makes("its name")``. Where power curves and advice can
make the test, a function of arrays, which gives p for every data set along an axis, stands there
too, under ``@registry.makes("its name", batch=True)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from permtest.interval import PER_SQUARED_SKEWNESS

Function = TypeVar("Function", bound=Callable[..., Any])

#: From how many pairs on a mean is close to normal, and a sample may stand for its population.
MANY, REPRESENTATIVE_FROM = 30, 100

#: Expected counts from which on a chi-squared law fits well enough, by Cochran's rule.
ENOUGH = 5

#: Where `pvalue` is an upper bound of an exact p out of reach; and where random samples gave it.
UPPER_BOUND, SAMPLED = "upper bound", "sampled"


class Assumption(NamedTuple):
    """What a test takes for granted: what that is called, and what it says."""

    name: str
    text: str


ITEMS = Assumption("independent items", "items do not depend on each other")
SYSTEMS = Assumption(
    "independent systems", "one system's score on an item says nothing about the other's"
)
LABELS = Assumption(
    "exchangeable labels",
    "if the null hypothesis is true, either system could equally well have produced either output",
)
SYMMETRIC = Assumption("symmetric differences", "differences are symmetric about their centre")
NORMAL = Assumption("normal differences", "differences are normally distributed")
NORMAL_SCORES = Assumption("normal scores", "the scores of each system are normally distributed")
VARIANCES = Assumption("equal variances", "the scores of both systems have equal variances")
LARGE = Assumption(
    "large sample",
    f"there are enough pairs for a mean to be normal ({MANY}, or {PER_SQUARED_SKEWNESS} times the "
    "squared skewness)",
)
SAMPLE = Assumption(
    "sample large enough to resample",
    f"there are enough pairs ({REPRESENTATIVE_FROM}) to stand for all that there could be",
)
COUNTS = Assumption("large counts", f"all expected counts are at least {ENOUGH}")
EQUAL_FOLDS = Assumption("equal folds", "differences of all folds have one mean and one variance")
CORRELATED_FOLDS = Assumption("correlated folds", "folds correlate as the test assumes")


@dataclass(eq=False)
class Row:
    """A test: its title in tables, what its results share, and the functions that make it.

    `takes` is what `compare_all` makes it of: "scores"; "resamples" of them; "discordant" items,
    right for one system alone; "shares", how many items are right of how many; or a "table" of
    these. It is "" if `compare_all` does not make it.
    """

    title: str
    statistic_name: str
    estimate_name: str
    method: str
    assumptions: tuple[Assumption, ...]
    takes: str = "scores"
    #: Makes one test of what it takes, with ``alternative=``.
    single: Callable[..., Any] | None = field(default=None, init=False)
    #: p of many tests with ``axis=`` and ``alternative=``: of differences, or of both systems'
    #: scores where it assumes that these are independent.
    batch: Callable[..., Any] | None = field(default=None, init=False)

    @property
    def effect(self) -> str:
        """The effect size that belongs to the test."""
        return EFFECTS[self.estimate_name]


MEAN, MEDIAN, PSEUDO = "mean difference", "median difference", "pseudo-median difference"
PROPORTIONS, WINS = "difference of proportions", "difference of accuracies"
T, Z, CHI2 = "t distribution", "normal approximation", "chi-squared approximation"
DRAWN, PAIRED, UNPAIRED = (ITEMS, SAMPLE), (ITEMS, COUNTS), (ITEMS, SYSTEMS, COUNTS)

#: The effect size that belongs to an estimate.
EFFECTS = {MEAN: "cohen_d", MEDIAN: "hodges_lehmann", PSEUDO: "wilcoxon_r"}
EFFECTS |= dict.fromkeys((PROPORTIONS, WINS), "risk_difference")

#: Tests by the names that `compare_all`, `recommend` and `power_curve` take, in the order of
#: tables. Those that do not take scores or resamples have no threshold.
TESTS = {
    "exact": Row("exact permutation test of the mean", "sum", MEAN, "exact", ()),
    "permutation_median": Row(
        "exact permutation test of the median", "median", MEDIAN, "exact", ()
    ),
    "paired_t": Row("paired t-test", "t", MEAN, T, (ITEMS, NORMAL)),
    "normal_z": Row("z-test, systems correlated", "z", MEAN, Z, (ITEMS, LARGE)),
    "wilcoxon": Row("Wilcoxon signed-rank test", "W+", PSEUDO, "exact", (ITEMS, SYMMETRIC)),
    "sign": Row("sign test", "wins", MEDIAN, "exact", (ITEMS,)),
    "bootstrap_mean": Row("bootstrap of the mean", "mean", MEAN, SAMPLED, DRAWN, "resamples"),
    "bootstrap_median": Row(
        "bootstrap of the median", "median", MEDIAN, SAMPLED, DRAWN, "resamples"
    ),
    "paired_bootstrap": Row(
        "paired bootstrap (Koehn)", "share won", MEAN, SAMPLED, DRAWN, "resamples"
    ),
    "independent_t": Row(
        "two-sample t-test", "t", MEAN, T, (ITEMS, SYSTEMS, NORMAL_SCORES, VARIANCES)
    ),
    "independent_z": Row("z-test, systems independent", "z", MEAN, Z, (ITEMS, SYSTEMS, LARGE)),
    "mcnemar": Row("McNemar's test, exact", "wins", WINS, "exact", (ITEMS,), "discordant"),
    "mcnemar_midp": Row(
        "McNemar's test, mid-p", "wins", WINS, "exact, mid-p", (ITEMS,), "discordant"
    ),
    "mcnemar_chi2": Row("McNemar's test, chi-squared", "chi2", WINS, CHI2, PAIRED, "discordant"),
    "two_proportion_z": Row("z-test of two proportions", "z", PROPORTIONS, Z, UNPAIRED, "shares"),
    "chi_squared": Row("chi-squared test", "chi2", PROPORTIONS, CHI2, UNPAIRED, "table"),
    "chi_squared_yates": Row(
        "chi-squared test with Yates", "chi2", PROPORTIONS, CHI2, UNPAIRED, "table"
    ),
    "wilcoxon_approx": Row(
        "Wilcoxon signed-rank test, approximate", "W+", PSEUDO, Z, (ITEMS, SYMMETRIC, LARGE), ""
    ),
    "mcnemar_chi2-corrected": Row("McNemar's test, corrected", "chi2", WINS, CHI2, PAIRED, ""),
    "corrected_resampled_t": Row(
        "corrected resampled t-test", "t", MEAN, T, (CORRELATED_FOLDS, EQUAL_FOLDS, NORMAL), ""
    ),
}

#: Titles of those that `compare_all` makes, and which of these are tests of two proportions, and
#: tests of scores of 0 and 1.
TITLES = {name: row.title for name, row in TESTS.items() if row.takes}
OF_PROPORTIONS = tuple(name for name in TITLES if TESTS[name].takes in ("shares", "table"))
OF_COUNTS = tuple(x for x in TITLES if TESTS[x].takes not in ("scores", "resamples"))


def makes(test: str, *, batch: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Enter a function, with its options, in the row of the test that it makes."""

    def entered(function: Function) -> Function:
        setattr(TESTS[test], "batch" if batch else "single", partial(function, **options))
        return function

    return entered
