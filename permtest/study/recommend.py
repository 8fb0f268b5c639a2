"""Advice on tests: one for what the claim is about, and how others do on scores like these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from permtest._errors import check_option
from permtest._text import Shown, html_table, number, p_value, said, together
from permtest.alternatives import registry
from permtest.alternatives.counts import wilson
from permtest.scores import Scores
from permtest.study.describe import Description, describe
from permtest.study.power import DRAWN, fewest_units, population, rejection_rate

#: Tests whose level and power are measured, of scores of 0 and 1 and of others.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign", "wilcoxon")
#: How many samples are drawn at most; a level that is too high, in units of alpha; the most pairs
#: whose exact signed-rank test is measured, as its approximation is of more; resamples.
SAMPLES, TOLERANCE, MOST_RANKED, RESAMPLES = 1000, 1.1, 50, 399
#: What a claim may be about, and the test for it.
ESTIMANDS = {"mean": "exact", "median": "sign"}
#: The advice that there is, with what the manual says of it.
OPINIONS = {
    "recommended": "suits best",
    "non-preferred": "valid, but slow or weaker",
    "inappropriate": "makes assumptions that fail",
}
#: Tests by advice in Table 2 of the manual, for three kinds of differences.
MEANS, MEDIANS = ("exact", "bootstrap_mean"), ("permutation_median", "bootstrap_median")
NORMAL = (("paired_t",), ("sign", "wilcoxon", *MEANS, *MEDIANS), ())
SYMMETRIC = (("wilcoxon",), ("sign", *MEANS, *MEDIANS), ("paired_t",))
SKEWED = (("sign",), MEDIANS, ("paired_t", "wilcoxon"))
#: What rows have beside a title, and their headings as a table.
KEYS = ("test", "advice", "level", "power", "reason")
COLUMNS = {"title": "test"} | {x: x for x in KEYS[1:]}


@dataclass(frozen=True, eq=False)
class Recommendation(Shown):
    """What `recommend` finds: a row for each of some `tests`, and what the claim is about.

    The best advice is first. A row has "test", "title", "advice" ("recommended", "non-preferred" or
    "inappropriate"), the "reason", and where the test was measured "level" and "power": how often
    it rejects samples like these, 1 000 as a rule, without an effect and with theirs.
    """

    tests: Sequence[dict[str, Any]]
    estimand: str | None

    def __str__(self) -> str:
        titles = " and ".join(x["title"] for x in self.tests if x["advice"] == "recommended")
        about = f", for a claim about the {self.estimand}" if self.estimand else ""
        told = " Level and power are how often a test rejects samples of this size, drawn from "
        told += "these differences without their effect, and with it."
        return f"Recommended{about}: {titles}." + told * (self.tests[0]["level"] is not None)

    def _repr_html_(self) -> str:
        return together(said(str(self)), html_table(self.tests, COLUMNS))


def recommend(
    a: Any, b: Any = None, *, estimand: str = "mean", alpha: float = 0.05, rule: str = "exact"
) -> Recommendation:
    """Recommend the test of what a claim is about, and say how others do on scores like these.

    A test that is chosen from the same data does not keep its level. So nothing is chosen here:
    other tests are shown for the plan of the next study. Their rates are those of samples from
    these differences; from twenty pairs they may be far from those of the population. Without an
    effect the mean is subtracted or, for scores of 0 and 1 and for tests that are not about the
    mean, signs are random. Inappropriate is what then rejects in clearly more than 1.1 times
    `alpha` of cases, or cannot be measured, but for exact tests. It takes a second or two.

    Parameters
    ----------
    a, b : as in `describe`
    estimand : {"mean", "median"}, default "mean"
        What the claim is about: the mean of the differences, or their median, that is, which system
        wins more often (of scores of 0 and 1 both are one). The test that is recommended follows
        from this alone: the exact test or the sign test. State it before you look at the scores.
    alpha : float, default 0.05
        The level that tests have to keep, and that of the test of normality.
    rule : {"exact", "manual"}, default "exact"
        "manual": Table 2 of the NLPStatTest manual, which chooses by symmetry and normality of the
        same scores, whatever the estimand; tests that it lacks are left out.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.tests[0]["test"], found.tests[0]["reason"]
    ('exact', 'with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, ("exact", "manual"))
    check_option("estimand", estimand, ESTIMANDS)
    scores = registry.scores_of(a, b)
    seen = describe(scores, alpha=alpha)
    best = "exact" if scores.is_binary else ESTIMANDS[estimand]
    exact = rule == "exact"
    found = _measured(scores, seen, alpha, best) if exact else _by_the_manual(seen)
    rows = [{"title": registry.TITLES[x[0]], **dict(zip(KEYS, x, strict=True))} for x in found]
    rows.sort(key=lambda row: [*OPINIONS].index(row["advice"]))
    return Recommendation(rows, estimand if exact else None)


def _by_the_manual(found: Description) -> Iterator[Any]:
    lists = SKEWED if found.test_statistic == "median" else NORMAL if found.normal else SYMMETRIC
    for (advice, why), tests in zip(OPINIONS.items(), lists, strict=True):
        yield from ((x, advice, None, None, f"{why}: differences are {found.look}") for x in tests)


def _measured(scores: Scores, found: Description, alpha: float, best: str) -> Iterator[Any]:
    tests = BINARY if scores.is_binary else GRADED
    differing, samples = found.n - found.n_zeros, min(SAMPLES, max(DRAWN // found.n, 100))
    few = differing < fewest_units(alpha) or not found.difference["sd"]
    rates = {} if few else measured_rates(scores, tests, alpha=alpha, samples=samples)
    for test in tests:
        row, (level, power) = registry.TESTS[test], rates.get(test, (None, None))
        exact, why = row.method == registry.EXACT, f"tests the {row.estimate_name}; rejects "
        if level is not None:
            why += f"{number(level, 3)} of samples like these without an effect"
        elif exact:
            least = p_value(min(0.5 ** (differing - 1), 1.0))
            why = f"with {differing} pairs that differ, p cannot fall below {least}"
        else:
            why = f"{found.n} pairs like these cannot show that it holds its level"
        # Labels may matter although the mean is 0; then the exact test is about more than the mean.
        high = not exact and (level is None or wilson(level, samples)[0] > TOLERANCE * alpha)
        advice = "recommended" if test == best else "inappropriate" if high else "non-preferred"
        yield test, advice, level, power, why


def measured_rates(
    scores: Scores, tests: Sequence[str], *, alpha: float = 0.05, samples: int = 1000
) -> dict[str, tuple[float, float]]:
    """Level and power of two-sided tests for scores like these."""
    (u, v), n, found = scores.arrays, len(scores), {}
    columns = [np.concatenate(x) for x in ((u, v), (v, u))]
    both = replace(scores, arrays=columns, ids=None, runs=None)
    real, shifted, swapped = population(scores), population(scores, 0), population(both)
    for test in tests:
        about_mean = registry.TESTS[test].estimate_name == registry.MEAN and not scores.is_binary
        made = "wilcoxon_approx" if test == "wilcoxon" and n > MOST_RANKED else test
        laws, how = (shifted if about_mean else swapped, real), (n, samples, 0, RESAMPLES)
        side: dict[str, Any] = {"alpha": alpha, "alternative": "two-sided"}
        level, power = (rejection_rate(made, x, *how, **side) for x in laws)
        found[test] = level, power
    return found
