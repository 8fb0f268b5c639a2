"""Advice on tests: one for what the claim is about, and how the others do on such scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest._checks import check_option
from permtest._text import interval as interval_text
from permtest.alternatives import registry
from permtest.alternatives.counts import mcnemar
from permtest.pairs import Pairs
from permtest.score import counted
from permtest.study.describe import Description, describe
from permtest.study.document import InSection, Section, Table

LISTS = RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"

#: Tests whose level and power are measured, of scores of 0 and 1 and of others; the most samples
#: that are drawn, and scores in all of them.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign")
SAMPLES, DRAWN = 1000, 2 * 10**6

#: A test is inappropriate if its level surely exceeds so many times alpha.
TOLERANCE = 1.1

#: What a claim may be about, and the test for it.
ESTIMANDS = {"mean": "exact", "median": "sign"}

Interval: TypeAlias = tuple[float, float]

#: A test, the list that it belongs to, and why.
Verdict = tuple[str, str, str]


class Entry(NamedTuple):
    """A test by its name in `compare_all` and its title, and why it is in its list."""

    test: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Recommendation(InSection):
    """Three lists of tests for two systems' scores.

    Parameters
    ----------
    recommended, non_preferred, inappropriate : tuple of Entry
        The test for the estimand; tests that are valid, or nearly, for this or another estimand;
        and tests whose assumptions fail.
    description : Description
        Of the scores.
    rule : str
        "exact" or "manual".
    rates : mapping of str to (float, float)
        Level and power of tests: how often they reject samples like these without, and with, the
        mean difference.
    samples : int
        How many samples they were measured on; 0 if they were not.
    intervals : mapping of str to ((float, float), (float, float))
        95% intervals of level and power for the population that the scores are a sample of.
    estimand : str
        "mean" or "median"; the manual's table does not look at it.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([3, 5, 4, 6, 2, 4, 4], [2, 3, 4, 3, 1, 5, 2])
    >>> level, power = found.rates["exact"]
    >>> "independent_t" in found.names("inappropriate"), level < 0.06 < power
    (True, True)
    """

    recommended: tuple[Entry, ...]
    non_preferred: tuple[Entry, ...]
    inappropriate: tuple[Entry, ...]
    description: Description
    rule: str
    rates: Mapping[str, tuple[float, float]]
    samples: int
    intervals: Mapping[str, tuple[Interval, Interval]]
    estimand: str = "mean"

    @property
    def lists(self) -> dict[str, tuple[Entry, ...]]:
        """The three lists by their names."""
        return {name: getattr(self, name) for name in LISTS}

    def names(self, which: str = RECOMMENDED) -> list[str]:
        """Names of the tests in one of the lists."""
        return [entry.test for entry in self.lists[which]]

    def section(self) -> Section:
        """The lists as a table, with level and power beside each test that was measured."""
        rows, columns = [], ("level", "power") if self.rates else ()
        for name, entries in self.lists.items():
            for entry in entries:
                cells: tuple[str, ...] = ("not measured",) * len(columns)
                if entry.test in self.rates:
                    both = zip(self.rates[entry.test], self.intervals[entry.test], strict=True)
                    cells = tuple(_shown(rate, ends) for rate, ends in both)
                rows.append((entry.title, name.replace("_", "-"), *cells, entry.reason))
        limits = (
            f"The recommended test is the one for the {self.estimand}, whatever the scores look "
            "like: a test that is chosen because it does well on the same scores does not keep its "
            f"level. Level and power are shares of {self.samples:,} samples of "
            f"{self.description.n} differences, drawn with replacement from these. For the power "
            "the differences stay as they are; for the level their mean is subtracted (or, for the "
            "sign test and for scores of 0 and 1, their signs are random). In brackets are 95% "
            "intervals for the population that these differences are a sample of: they allow for "
            "the number of samples drawn, and for other differences that you might have seen, as "
            "resamples of these show them. They cannot allow for anything so rare that none of "
            "these differences has it. Tests without level and power ask about medians or "
            "independent systems, or add nothing for scores like these (bootstraps of 0 and 1, "
            "ranks of differences that are skewed or often 0)."
        )
        titles = " and ".join(entry.title for entry in self.recommended)
        about = f", for a claim about the {self.estimand}" if self.rule == "exact" else ""
        return Section(
            "recommendation",
            f"Tests for {' against '.join(self.description.names)}",
            f"Recommended{about}: {titles}.",
            (Table(("test", "advice", *columns, "reason"), tuple(rows)),),
            limits=limits if columns else "",
            data=self.to_dict(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Lists, rates, description and rule as plain numbers, strings, lists and None."""
        lists = {name: [entry._asdict() for entry in found] for name, found in self.lists.items()}
        rates = {}
        for test, (level, power) in self.rates.items():
            ends = [[*interval] for interval in self.intervals[test]]
            found = {"level": level, "level_interval": ends[0]}
            rates[test] = found | {"power": power, "power_interval": ends[1]}
        measured = {"rates": rates, "samples": self.samples, "rule": self.rule}
        measured |= {"estimand": self.estimand}
        return lists | measured | {"description": self.description.to_dict()}


def _shown(rate: float, ends: Interval) -> str:
    return "{:.3f} ({:.3f} to {:.3f})".format(rate, *ends)


def recommend(
    a: Any,
    b: Any = None,
    *,
    estimand: str = "mean",
    alpha: float = 0.05,
    rule: str = "exact",
    names: tuple[str, str] | None = None,
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
        same scores, whatever the estimand; tests that it lacks are in no list.
    names : tuple of two str, optional
        As in `describe`.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, there are none, an option is unknown, or the
        median is asked for of scores of 0 and 1.

    Notes
    -----
    A test that is chosen from the same data does not keep its level, whether it is chosen by p or
    by measured level and power, which depend on the same differences. So nothing is chosen here:
    level and power of other tests are shown for the plan of the next study. Measuring takes a
    second or two, and longer for many thousand pairs; it draws the same samples every time.

    The intervals of level and power are about the population that the scores are a sample of. To
    the error of simulation they add the spread between resamples of the differences, as a quick
    test shows it: the sign test its own, the t-test that of other tests of means and ranks, and
    McNemar's all of scores of 0 and 1. Of 200 simulated samples each of normal differences (20
    pairs), t-distributed ones (100) and lognormal ones (40), 95% intervals held the level in 94% or
    more, and the power in 90 to 97% (`python -m benchmarks.calibration`).

    A test is inappropriate if the interval of its level lies above 1.1 times `alpha`.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.names(), found.recommended[0].reason
    (['exact'], 'tests the mean, but with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, ("exact", "manual"))
    check_option("estimand", estimand, tuple(ESTIMANDS))
    scores, _ = registry.scores_of(a, b, names)
    found = describe(scores, alpha=alpha)
    if scores.is_binary and estimand == "median":
        raise ValueError(
            "the median of differences of scores of 0 and 1 is 0 nearly always; use "
            "estimand='mean', whose exact test is the sign test of such scores"
        )
    case = _Case(scores, found, estimand)
    lists: dict[str, list[Entry]] = {name: [] for name in LISTS}
    for test, which, why in _by_table(found) if rule == "manual" else case.verdicts():
        lists[which].append(Entry(test, registry.TITLES[test], why))
    good, fair, bad = (tuple(lists[name]) for name in LISTS)
    rates, ends = case.measures if rule == "exact" else ({}, {})
    measured = rates, case.samples if rates else 0, ends
    return Recommendation(good, fair, bad, found, rule, *measured, estimand)


class _Case:
    """The facts behind the advice, and the reasons given for it."""

    def __init__(self, scores: Pairs, found: Description, estimand: str) -> None:
        self.estimand = estimand
        self.scores, self.found, self.n = scores, found, found.n
        self.gaps = scores.differences()
        self.binary, self.pairs = scores.is_binary, counted(found.n, "pairs")
        self.constant = bool((self.gaps == self.gaps[0]).all())
        self.samples = min(SAMPLES, max(DRAWN // self.n, 100))
        self.shape = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"
        differing = found.n - found.n_zeros
        least, few = 0.5 ** max(differing - 1, 0), counted(differing, "pairs")
        # What is to be said where there are too few pairs for any exact test.
        reach = f", but with {few} that differ, p cannot fall below {least:.3g}"
        self.reach = reach if least > found.alpha else ""

    @cached_property
    def measures(self) -> tuple[Mapping[str, Interval], Mapping[str, tuple[Interval, Interval]]]:
        """Level and power, and their intervals; nothing where the differences do not vary."""
        from permtest.study.power import measured_rates, rate_intervals

        if self.constant:
            return {}, {}
        # Where a shift of the differences makes no ranks of zeros.
        ranked = not self.binary and 10 * self.found.n_zeros <= self.n and self.found.symmetric
        tests = [*(BINARY if self.binary else GRADED), *["wilcoxon"] * ranked]
        how: dict[str, Any] = {"alpha": self.found.alpha, "samples": self.samples}
        of = self.gaps, self.scores.scale
        rates = measured_rates(*of, tests, **how)
        ends = rate_intervals(*of, rates, **how)
        same = ("mcnemar", "sign") if self.binary else ()
        rates |= dict.fromkeys(same, rates["exact"])
        return rates, ends | dict.fromkeys(same, ends["exact"])

    def measured(self, test: str) -> tuple[str, str]:
        """Whether the level is surely too high, and the level in words."""
        rates, ends = self.measures
        shown = [
            "{:.3f} (95% interval {:.3f} to {:.3f})".format(rates[x][0], *ends[x][0])
            for x in (test, "exact")
        ]
        text = f"it rejects {shown[0]} of samples like these without an effect"
        text += f", the exact test {shown[1]}" * (test != "exact")
        high = ends[test][0][0] > TOLERANCE * self.found.alpha
        return INAPPROPRIATE if high else NON_PREFERRED, text

    def verdicts(self) -> Iterator[Verdict]:
        """On all tests; the one for the estimand is recommended, whatever the others do."""
        for test, which, why in self.judged():
            yield test, RECOMMENDED if test == ESTIMANDS[self.estimand] else which, why

    def judged(self) -> Iterator[Verdict]:
        """All tests, by their assumptions; those that count answers are for scores of 0 and 1."""
        if self.binary:
            wins, differing = int((self.gaps > 0).sum()), self.n - self.found.n_zeros
            alone = f"{wins} items are right for one system alone, {differing - wins} for the other"
            same = f"scores are 0 and 1, so it is McNemar's exact test; {alone}{self.reach}"
            yield "exact", NON_PREFERRED, same
            for test in ("mcnemar", "sign"):
                yield test, NON_PREFERRED, "it is the exact test under another name"
            for test in ("mcnemar_midp", "mcnemar_chi2"):
                yield test, *self.of_mean(test)
        else:
            yield "exact", *self.of_mean("exact")
        yield "bootstrap_mean", *self.bootstrap("bootstrap_mean")
        for test in ("paired_t", "normal_z"):
            yield test, *self.of_mean(test)
        yield "wilcoxon", *self.wilcoxon()
        if not self.binary:
            yield "sign", *self.sign()
        for test in ("permutation_median", "bootstrap_median"):
            yield test, *self.median(test)
        yield "paired_bootstrap", *self.bootstrap("paired_bootstrap")
        others = () if self.binary else registry.OF_COUNTS
        for test, row in registry.TESTS.items():
            if registry.SYSTEMS in row.assumptions and test not in others:
                yield test, *self.independent()

    def of_mean(self, test: str) -> tuple[str, str]:
        """By its level: the exact test, or one that takes the mean (or McNemar's z) for normal."""
        if test == "exact" and (self.constant or self.reach):
            return NON_PREFERRED, "tests the mean" + self.reach
        if self.constant:
            return INAPPROPRIATE, "the differences do not vary"
        if self.reach:
            return INAPPROPRIATE, f"{self.pairs} cannot show that it holds its level"
        standing, level = self.measured(test)
        if test == "exact" and standing == INAPPROPRIATE:
            kept = "tests the mean, and keeps its level if labels can be exchanged; if the mean is"
            return NON_PREFERRED, f"{kept} 0 but labels matter, {level}, as {self.shape}"
        if test == "exact":
            return NON_PREFERRED, f"tests the mean; {level}"
        if standing == NON_PREFERRED and self.n < registry.MANY and not self.binary:
            return standing, f"{self.pairs} cannot show that differences are normal; {level}"
        return standing, level

    def bootstrap(self, test: str) -> tuple[str, str]:
        graded = test == "bootstrap_mean" and not self.binary
        if self.constant or self.n < (registry.FEW if graded else registry.REPRESENTATIVE_FROM):
            return INAPPROPRIATE, f"{self.pairs} are too few, or too alike, to represent others"
        if not graded:
            return NON_PREFERRED, "p is sampled, and its level approximate"
        standing, level = self.measured(test)
        if standing == INAPPROPRIATE:
            return standing, level
        return standing, f"tests the mean without assuming symmetry, and p is sampled: {level}"

    def wilcoxon(self) -> tuple[str, str]:
        zeros = self.found.n_zeros
        if zeros == self.n:
            return INAPPROPRIATE, "no pair differs, so there are no ranks"
        if self.binary:
            return NON_PREFERRED, "all differences tie, so it is the same as the sign test"
        if not self.found.symmetric:
            return INAPPROPRIATE, f"{self.shape}, and it assumes symmetry about the median"
        out = (f"; it leaves {zeros} of {self.n} pairs out" if zeros else "") + self.reach
        return NON_PREFERRED, f"asks about ranks rather than the {self.estimand}{out}"

    def sign(self) -> tuple[str, str]:
        zeros, (a, b) = self.found.n_zeros, self.found.names
        if zeros == self.n:
            return NON_PREFERRED, "no pair differs, so p is 1"
        wins, losses = (int((side * self.gaps > 0).sum()) for side in (1, -1))
        found = mcnemar(wins, losses, n=self.n)
        ends = interval_text(found.confidence_interval(), 3)
        ties = f"; {zeros} of {self.n} pairs tie, and count for neither" if zeros else ""
        return NON_PREFERRED, (
            f"asks who wins more often, whatever the margin: P({a} > {b}) - P({b} > {a}) is "
            f"{found.estimate:.3g} ({ends}){ties}{self.reach}"
        )

    def median(self, test: str) -> tuple[str, str]:
        permuted = test == "permutation_median"
        values, counts = np.unique(
            registry.as_floats(self.gaps, self.scores.scale), return_counts=True
        )
        if 2 * (most := counts.max()) >= self.n or self.binary:
            same = f"{most} of {self.n} differences are {values[counts.argmax()]:g}"
            return INAPPROPRIATE, f"{same}, so their median says next to nothing about the others"
        if self.n < (registry.MANY if permuted else registry.REPRESENTATIVE_FROM):
            return INAPPROPRIATE, f"the median of {self.n} differences can take only a few values"
        sampled = "" if permuted else "; p is sampled, and its level approximate"
        other = " rather than the mean" * (self.estimand == "mean")
        return NON_PREFERRED, f"tests the median{other}{sampled}"

    def independent(self) -> tuple[str, str]:
        if self.constant:
            return INAPPROPRIATE, "the scores vary too little for it to be defined"
        _, held, evidence = registry.verdict(registry.SYSTEMS, self.scores, self.found.alpha)
        if held is not True:
            return INAPPROPRIATE, f"it assumes independent systems, but {evidence}"
        if self.n < registry.MANY:
            return INAPPROPRIATE, f"{self.pairs} are too few, and their pairing would be lost"
        return NON_PREFERRED, f"the pairing adds little here: {evidence}"


# ---- the manual's table -------------------------------------------------------------------------

BY_LABELS, RESAMPLED = ("exact", "permutation_median"), ("bootstrap_mean", "bootstrap_median")

#: Table 2 for symmetric and normal, symmetric only, and skewed differences: the three lists.
TABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "normal": (("paired_t",), ("sign", "wilcoxon", *BY_LABELS, *RESAMPLED), ()),
    "symmetric": (("wilcoxon",), ("sign", *BY_LABELS, *RESAMPLED), ("paired_t",)),
    "skewed": (("sign",), (BY_LABELS[1], RESAMPLED[1]), ("paired_t", "wilcoxon")),
}

#: What the manual thinks of the tests in each list.
OPINION = ("suits best", "valid, but slow or weaker", "makes assumptions that fail")


def _by_table(found: Description) -> Iterator[Verdict]:
    row = "skewed" if not found.symmetric else "normal" if found.normal else "symmetric"
    skewed = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"
    normal = f"{'' if found.normal else 'not '}normal (Shapiro-Wilk p = {found.shapiro_p:.3g})"
    for which, opinion, tests in zip(LISTS, OPINION, TABLE[row], strict=True):
        for test in tests:
            yield test, which, f"{opinion}: {skewed} and {normal}"
