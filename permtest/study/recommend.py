"""Advice on tests: one for what the claim is about, and how others do on scores like these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from permtest._errors import check_option
from permtest._random import as_generator
from permtest._text import Shown, html_table, number, p_value, said, together
from permtest.alternatives import registry
from permtest.alternatives.counts import wilson
from permtest.integers import IntArray
from permtest.scores import Scores
from permtest.study.describe import Description, describe
from permtest.study.power import DRAWN, Resampling, fewest_units, rejection_rates

#: Tests whose level and power are measured, of scores of 0 and 1 and of others; the most samples
#: that are drawn.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign")
SAMPLES = 1000

#: The most pairs with an exact signed-rank test among those that are measured; resamples of a
#: bootstrap; and a level that is too high, in units of alpha.
MOST_RANKED, RESAMPLES, TOLERANCE = 50, 399, 1.1

#: What a claim may be about, and the test for it.
ESTIMANDS = {"mean": "exact", "median": "sign"}

#: The advice that there is, with what the manual says of it.
RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non-preferred", "inappropriate"
OPINIONS = {
    RECOMMENDED: "suits best",
    NON_PREFERRED: "valid, but slow or weaker",
    INAPPROPRIATE: "makes assumptions that fail",
}
#: Tests by advice in Table 2 of the manual: for symmetric and normal, symmetric, and skewed
#: differences.
MEANS, MEDIANS = ("exact", "bootstrap_mean"), ("permutation_median", "bootstrap_median")
NORMAL = (("paired_t",), ("sign", "wilcoxon", *MEANS, *MEDIANS), ())
SYMMETRIC = (("wilcoxon",), ("sign", *MEANS, *MEDIANS), ("paired_t",))
SKEWED = (("sign",), MEDIANS, ("paired_t", "wilcoxon"))

#: Headings of the rows as a table.
COLUMNS = {"title": "test", "advice": "advice", "level": "level", "power": "power"}
COLUMNS |= {"reason": "reason"}


@dataclass(frozen=True, eq=False)
class Recommendation(Shown):
    """Which tests suit two systems' scores, as `recommend` finds it: a row for each in `tests`."""

    tests: Sequence[dict[str, Any]]
    description: Description
    rule: str
    estimand: str
    samples: int

    def names(self, advice: str = RECOMMENDED) -> list[str]:
        """The tests that are recommended, or of which this is said."""
        return [row["test"] for row in self.tests if row["advice"] == advice]

    def __str__(self) -> str:
        titles = " and ".join(registry.TITLES[test] for test in self.names())
        about = f", for a claim about the {self.estimand}" if self.rule == "exact" else ""
        measured = (
            f" Level and power are shares of {self.samples:,} samples of {self.description.n} "
            "differences, drawn from these without their mean, and as they are."
        )
        return f"Recommended{about}: {titles}.{measured * bool(self.samples)}"

    def _repr_html_(self) -> str:
        return together(said(str(self)), html_table(self.tests, COLUMNS))


def recommend(
    a: Any,
    b: Any = None,
    *,
    estimand: str = "mean",
    alpha: float = 0.05,
    rule: str = "exact",
    names: registry.Names = None,
) -> Recommendation:
    """Recommend the test of what a claim is about, and say how others do on scores like these.

    Parameters
    ----------
    a, b
        As in `describe`.
    estimand : {"mean", "median"}, default "mean"
        What the claim is about: the mean of the differences, as a score that is reported is a mean,
        or their median, that is, which system wins more often. The test that is recommended follows
        from this alone: the exact test for the mean, the sign test for the median. State it before
        you look at the scores.
    alpha : float, default 0.05
        The level that tests have to keep, and to be able to reach; and that of the test of
        normality.
    rule : {"exact", "manual"}, default "exact"
        "manual": Table 2 of the NLPStatTest manual, which chooses by symmetry and normality of the
        same scores, whatever the estimand; tests that it lacks are left out.
    names : tuple of two str, optional
        As in `describe`.

    Returns
    -------
    Recommendation
        Of `tests` a row each, the best advice first: "test" and "title", "advice" ("recommended",
        "non-preferred" for what is valid, or nearly, for this or another estimand, and
        "inappropriate"), the "reason", and where they were measured "level" and "power": how often
        the test rejects `samples` samples like these without, and with, the mean difference.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, there are none, an option is unknown, or the
        median is asked for of scores of 0 and 1.

    Notes
    -----
    A test that is chosen from the same data does not keep its level, whether it is chosen by p or
    by measured level and power, which depend on the same differences. So nothing is chosen here:
    level and power of other tests are shown for the plan of the next study. They are those of
    samples from the differences that there are; from twenty pairs they may be far from those of the
    population. Measuring takes a second or two, and longer for many thousand pairs; it draws the
    same samples every time. For the level the mean of the differences is subtracted (or, for the
    sign test and for scores of 0 and 1, their signs are random).

    A test is inappropriate if it rejects such samples without an effect in clearly more than 1.1
    times `alpha` of cases, or, where the level was not measured, if an assumption is not met.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.names(), found.tests[0]["reason"]
    (['exact'], 'with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, ("exact", "manual"))
    check_option("estimand", estimand, tuple(ESTIMANDS))
    scores = registry.scores_of(a, b, names)
    found, d, samples, rates = describe(scores, alpha=alpha), scores.differences(), 0, {}
    if scores.is_binary and estimand == "median":
        raise ValueError(
            "the median of differences of scores of 0 and 1 is 0 nearly always; use "
            "estimand='mean', whose exact test is the sign test of such scores"
        )
    if rule == "exact" and (d != d[0]).any():
        # Where a shift of the differences makes no ranks of zeros.
        ranked = 10 * found.n_zeros <= found.n and found.test_statistic == "mean"
        chosen = BINARY if scores.is_binary else (*GRADED, *("wilcoxon",) * ranked)
        samples = min(SAMPLES, max(DRAWN // found.n, 100))
        rates = measured_rates(d, scores.scale, chosen, alpha=alpha, samples=samples)
        if scores.is_binary:
            rates |= dict.fromkeys(("mcnemar", "sign"), rates["exact"])
    if rule == "manual":
        told = _by_the_manual(found)
    else:
        tests = [x for x in registry.TITLES if scores.is_binary or x not in registry.OF_COUNTS]
        told = {test: _judged(test, scores, found, rates.get(test), samples) for test in tests}
        told[ESTIMANDS[estimand]] = RECOMMENDED, told[ESTIMANDS[estimand]][1]
    rows: list[dict[str, Any]] = []
    for test, (advice, why) in sorted(told.items(), key=lambda x: [*OPINIONS].index(x[1][0])):
        level, power = rates.get(test, (None, None))
        rows.append({"test": test, "title": registry.TITLES[test], "advice": advice})
        rows[-1] |= {"level": level, "power": power, "reason": why}
    return Recommendation(rows, found, rule, estimand, samples)


def _by_the_manual(found: Description) -> dict[str, tuple[str, str]]:
    """Tests with the advice of its Table 2, and why."""
    lists = SKEWED if found.test_statistic == "median" else NORMAL if found.normal else SYMMETRIC
    look = f"differences are {found.shape} (skewness {found.difference.skewness:.2f}) and "
    look += f"{'' if found.normal else 'not '}normal (Shapiro-Wilk p = {found.shapiro_p:.3g})"
    advice = zip(OPINIONS.items(), lists, strict=True)
    return {test: (word, f"{why}: {look}") for (word, why), tests in advice for test in tests}


def _judged(
    test: str, scores: Scores, found: Description, rates: tuple[float, float] | None, samples: int
) -> tuple[str, str]:
    """Advice on a test, by its level if that was measured, and why."""
    row, differing = registry.TESTS[test], found.n - found.n_zeros
    few = differing < fewest_units(found.alpha)
    if few and row.method == "exact":
        least = p_value(min(0.5 ** (differing - 1), 1.0))
        return NON_PREFERRED, f"with {differing} pairs that differ, p cannot fall below {least}"
    if (few and row.takes != "resamples") or not samples:
        return INAPPROPRIATE, f"{found.n} pairs like these cannot show that it holds its level"
    most = int(np.unique(scores.differences(), return_counts=True)[1].max())
    if row.estimate_name == registry.MEDIAN and rates is None and 2 * most >= found.n:
        return INAPPROPRIATE, f"{most} of {found.n} differences are equal, and so is their median"
    checks = [registry.verdict(assumption, scores, found.alpha) for assumption in row.assumptions]
    unsafe = [x for x in checks if x.held is False or (x.held, x[0]) == (None, registry.SYSTEMS)]
    broken = [f"{check.assumption}: {check.evidence}" for check in unsafe]
    why = "; ".join([f"tests the {row.estimate_name}", *broken])
    if rates is None:
        return INAPPROPRIATE if broken else NON_PREFERRED, why
    # Labels may matter although the mean is 0; then the exact test is about more than the mean.
    high = wilson(rates[0], samples)[0] > TOLERANCE * found.alpha and test != "exact"
    why += f"; rejects {number(rates[0], 3)} of samples like these without an effect"
    return INAPPROPRIATE if high else NON_PREFERRED, why


def measured_rates(
    d: IntArray, scale: int, tests: Sequence[str], *, alpha: float = 0.05, samples: int = 1000
) -> dict[str, tuple[float, float]]:
    """Level and power of two-sided tests for differences like these, integers over `scale`."""
    n, binary, rng = d.size, bool(np.isin(np.abs(d), (0, scale)).all()), as_generator(0)
    # The same test under another name, which sees the samples of its relatives or is quicker.
    other = {"exact": "mcnemar"} if binary else {}
    other |= {"wilcoxon": "wilcoxon_approx"} if n > MOST_RANKED else {}
    # Without an effect differences have lost their mean, or their signs where all are -1, 0 or 1
    # and for the sign test, as a shift would leave no ties.
    swapped = [test for test in tests if binary or test == "sign"]
    shifted = [test for test in tests if test not in swapped]
    coins = np.sign(np.concatenate([d, -d]))

    def rates(chosen: list[str], of: Any, unit: int, delta: Any) -> dict[str, float]:
        law = Resampling.of(np.maximum(of, 0), np.maximum(-of, 0), unit, delta)
        how: dict[str, Any] = {"n": n, "experiments": samples, "alpha": alpha, "K": RESAMPLES}
        found = rejection_rates([other.get(test, test) for test in chosen], law, rng=rng, **how)
        return dict(zip(chosen, found, strict=True))

    level = rates(swapped, coins, 1, None) if swapped else {}
    level |= rates(shifted, d, scale, Fraction(0)) if shifted else {}
    power = rates(shifted + swapped, d, scale, None)
    return {test: (level[test], power[test]) for test in tests}
