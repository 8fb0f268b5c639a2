"""Advice on which tests suit the scores, based on measured level and power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from permtest._checks import check_option
from permtest.alternatives.answer import (
    MANY,
    REPRESENTATIVE_FROM,
    SYSTEMS,
    TITLES,
    PairedSample,
    interval_text,
)
from permtest.alternatives.compare import FEW, verdict
from permtest.alternatives.counts import mcnemar
from permtest.result import clopper_pearson
from permtest.score import counted
from permtest.study.describe import Description, checked_sample, describe
from permtest.study.document import InSection, Section, Table

LISTS = RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"

#: Tests whose level and power are measured, of scores of 0 and 1 and of others; the most samples
#: that are drawn, and scores in all of them.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign")
SAMPLES, DRAWN = 1000, 2 * 10**6

#: A test is inappropriate if its level surely exceeds so many times alpha, and not recommended if
#: it surely exceeds alpha; and the confidence that is called sure.
TOLERANCE, SURE = 1.1, 0.99

#: How much more often than the exact test that of ranks has to find an effect.
GAIN = 0.02

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
        Non-preferred tests are valid, or nearly, but no better than a recommended one.
    description : Description
        Of the scores.
    rule : str
        "exact" or "manual".
    rates : mapping of str to (float, float)
        Level and power of tests: how often they reject samples like these without, and with, the
        mean difference.
    samples : int
        How many samples they were measured on; 0 if they were not.

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
                rates = self.rates.get(entry.test, ("not measured",) * len(columns))
                cells = (f"{x:.3f}" if isinstance(x, float) else x for x in rates)
                rows.append((entry.title, name.replace("_", "-"), *cells, entry.reason))
        limits = (
            f"Level and power are shares of {self.samples:,} samples of {self.description.n} "
            "differences, drawn with replacement from these. For the power the differences "
            "stay as they are; for the level their mean is subtracted (or, for the sign test "
            "and for scores of 0 and 1, their signs are random). The number after ± is half "
            "the width of the 99% Clopper-Pearson interval. The samples cannot show anything "
            "so rare that none of these differences has it. Tests without level and power ask "
            "about medians or independent systems, or add nothing for scores like these "
            "(bootstraps of 0 and 1, ranks of differences that are skewed or often 0)."
        )
        *others, last = (entry.title for entry in self.recommended)
        titles = f"{', '.join(others)} and {last}" if others else last
        return Section(
            "recommendation",
            f"Tests for {' against '.join(self.description.names)}",
            f"Recommended: {titles}.",
            (Table(("test", "advice", *columns, "reason"), tuple(rows)),),
            limits=limits if columns else "",
            data=self.to_dict(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Lists, rates, description and rule as plain numbers, strings, lists and None."""
        lists = {name: [entry._asdict() for entry in found] for name, found in self.lists.items()}
        rates = {test: {"level": x, "power": y} for test, (x, y) in self.rates.items()}
        measured = {"rates": rates, "samples": self.samples, "rule": self.rule}
        return lists | measured | {"description": self.description.to_dict()}


def recommend(
    a: Any,
    b: Any = None,
    *,
    alpha: float = 0.05,
    rule: str = "exact",
    names: tuple[str, str] | None = None,
) -> Recommendation:
    """Sort tests into recommended, non-preferred and inappropriate ones, for these scores.

    Parameters
    ----------
    a, b
        As in `describe`.
    alpha : float, default 0.05
        The level that tests have to keep, and to be able to reach; and that of the test of
        normality.
    rule : {"exact", "manual"}, default "exact"
        "exact": the exact test is recommended wherever a mean is of interest, as it takes
        milliseconds; others by their level and power on samples like these. "manual": Table 2 of
        the NLPStatTest manual, by symmetry and normality; tests that it lacks are in no list.
    names : tuple of two str, optional
        As in `describe`.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, there are none, or an option is unknown.

    Notes
    -----
    Choosing among tests after looking at their p-values makes all of them wrong; choose by level
    and power, before. Measuring takes about a second (of 200 000 pairs less than twenty); it draws
    the same samples every time.

    An approximate test is inappropriate if the 99% interval of its measured level lies above 1.1
    times `alpha`. If the interval lies above `alpha`, but not above that, the t and z tests and the
    approximate forms of McNemar's test are non-preferred.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.names(), found.recommended[0].reason
    (['exact'], 'tests the mean, but with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, ("exact", "manual"))
    sample = checked_sample(a, b, names)
    found = describe(sample.pairs, alpha=alpha)
    case = _Case(sample, found)
    lists: dict[str, list[Entry]] = {name: [] for name in LISTS}
    for test, which, why in _by_table(found) if rule == "manual" else case.verdicts():
        lists[which].append(Entry(test, TITLES[test], why))
    rates = case.rates if rule == "exact" else {}
    good, fair, bad = (tuple(lists[name]) for name in LISTS)
    return Recommendation(good, fair, bad, found, rule, rates, case.samples if rates else 0)


class _Case:
    """The facts behind the advice, and the reasons given for it."""

    def __init__(self, sample: PairedSample, found: Description) -> None:
        self.sample, self.found, self.n = sample, found, found.n
        self.binary, self.pairs = sample.is_binary, counted(found.n, "pairs")
        self.constant = bool((sample.gaps == sample.gaps[0]).all())
        self.samples = min(SAMPLES, max(DRAWN // self.n, 100))
        self.shape = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"
        differing = found.n - found.n_zeros
        least, few = 0.5 ** max(differing - 1, 0), counted(differing, "pairs")
        # What is to be said where there are too few pairs for any exact test.
        reach = f", but with {few} that differ, p cannot fall below {least:.3g}"
        self.reach = reach if least > found.alpha else ""

    @cached_property
    def rates(self) -> dict[str, tuple[float, float]]:
        """Level and power; nothing where the differences do not vary."""
        from permtest.study.power import measured_rates

        if self.constant:
            return {}
        # Where a shift of the differences makes no ranks of zeros.
        ranked = not self.binary and 10 * self.found.n_zeros <= self.n and self.found.symmetric
        tests = [*(BINARY if self.binary else GRADED), *["wilcoxon"] * ranked]
        options: dict[str, Any] = {"alpha": self.found.alpha, "samples": self.samples}
        rates = measured_rates(self.sample.gaps, self.sample.scale, tests, **options)
        return rates | dict.fromkeys(("mcnemar", "sign") if self.binary else (), rates["exact"])

    def measured(self, test: str) -> tuple[str, str]:
        """The list by measured level: possibly alpha, surely above alpha, or surely too high."""
        lows, shown, alpha = [], [], self.found.alpha
        for level in (self.rates[test][0], self.rates["exact"][0]):
            # Clopper and Pearson's interval of the level, which simulation knows no better.
            low, high = clopper_pearson(round(level * self.samples), self.samples, SURE)
            lows.append(low)
            shown.append(f"{level:.3f} ± {(high - low) / 2:.3f}")
        text = f"it rejects {shown[0]} of samples like these without an effect"
        text += f", the exact test {shown[1]}" * (test != "exact")
        if lows[0] > TOLERANCE * alpha:
            return INAPPROPRIATE, text
        return RECOMMENDED if lows[0] <= alpha else NON_PREFERRED, text

    def verdicts(self) -> Iterator[Verdict]:
        """On all tests; those that count discordant answers are for scores of 0 and 1."""
        if self.binary:
            wins, differing = int((self.sample.gaps > 0).sum()), self.n - self.found.n_zeros
            alone = f"{wins} items are right for one system alone, {differing - wins} for the other"
            yield "mcnemar", RECOMMENDED, f"scores are 0 and 1; {alone}{self.reach}"
            yield "exact", RECOMMENDED, f"on 0 and 1 it is McNemar's exact test{self.reach}"
            yield "sign", NON_PREFERRED, "it is McNemar's exact test under another name"
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
        crossed = ("two_proportion_z", "chi_squared", "chi_squared_yates") if self.binary else ()
        for test in ("independent_t", "independent_z", *crossed):
            yield test, *self.independent()

    def of_mean(self, test: str) -> tuple[str, str]:
        """By its level: the exact test, or one that takes the mean (or McNemar's z) for normal."""
        if test == "exact" and (self.constant or self.reach):
            return RECOMMENDED, "tests the mean" + self.reach
        if self.constant:
            return INAPPROPRIATE, "the differences do not vary"
        if self.reach:
            return INAPPROPRIATE, f"{self.pairs} cannot show that it holds its level"
        standing, level = self.measured(test)
        if test == "exact" and standing == INAPPROPRIATE:
            kept = "tests the mean, and keeps its level if labels can be exchanged; if the mean is"
            return RECOMMENDED, f"{kept} 0 but labels matter, {level}, as {self.shape}"
        if test == "exact":
            return RECOMMENDED, f"tests the mean; {level}"
        if standing == RECOMMENDED and self.n < MANY and not self.binary:
            return NON_PREFERRED, f"{self.pairs} cannot show that differences are normal"
        if standing == RECOMMENDED and (self.binary or test != "paired_t"):
            return NON_PREFERRED, level  # t is the closer approximation
        return standing, level

    def bootstrap(self, test: str) -> tuple[str, str]:
        graded = test == "bootstrap_mean" and not self.binary
        if self.constant or self.n < (FEW if graded else REPRESENTATIVE_FROM):
            return INAPPROPRIATE, f"{self.pairs} are too few, or too alike, to represent others"
        if not graded:
            return NON_PREFERRED, "p is sampled, and its level approximate"
        standing, level = self.measured(test)
        if standing == INAPPROPRIATE:
            return standing, level
        if self.found.symmetric:
            return NON_PREFERRED, f"{level}, and p is sampled"
        if standing == RECOMMENDED or self.rates[test][0] < self.rates["exact"][0]:
            return RECOMMENDED, f"does not assume symmetry, and {self.shape}: {level}"
        return standing, f"{self.shape}, but {level}"

    def wilcoxon(self) -> tuple[str, str]:
        zeros = self.found.n_zeros
        if zeros == self.n:
            return INAPPROPRIATE, "no pair differs, so there are no ranks"
        if self.binary:
            return NON_PREFERRED, "all differences tie, so it is the same as the sign test"
        if not self.found.symmetric:
            return INAPPROPRIATE, f"{self.shape}, and it assumes symmetry about the median"
        out = (f"; it leaves {zeros} of {self.n} pairs out" if zeros else "") + self.reach
        power, other = (self.rates.get(test, (0, 0))[1] for test in ("wilcoxon", "exact"))
        if self.n >= MANY and power > other + GAIN:
            seen = f"it finds effects like this in {power:.2f} of samples, the exact test in"
            return RECOMMENDED, f"differences are symmetric, and {seen} {other:.2f}{out}"
        return NON_PREFERRED, f"asks about ranks rather than the mean{out}"

    def sign(self) -> tuple[str, str]:
        zeros, (a, b) = self.found.n_zeros, self.found.names
        if zeros == self.n:
            return NON_PREFERRED, "no pair differs, so p is 1"
        wins, losses = (int((side * self.sample.gaps > 0).sum()) for side in (1, -1))
        found = mcnemar(wins, losses, n=self.n)
        ends = interval_text(found.confidence_interval(), 3)
        ties = f"; {zeros} of {self.n} pairs tie, and count for neither" if zeros else ""
        text = (
            f"asks who wins more often, whatever the margin: P({a} > {b}) - P({b} > {a}) is "
            f"{found.estimate:.3g} ({ends}){ties}{self.reach}"
        )
        return NON_PREFERRED if self.found.symmetric else RECOMMENDED, text

    def median(self, test: str) -> tuple[str, str]:
        permuted = test == "permutation_median"
        values, counts = np.unique(self.sample.differences, return_counts=True)
        if 2 * (most := counts.max()) >= self.n or self.binary:
            same = f"{most} of {self.n} differences are {values[counts.argmax()]:g}"
            return INAPPROPRIATE, f"{same}, so their median says next to nothing about the others"
        if self.n < (MANY if permuted else REPRESENTATIVE_FROM):
            return INAPPROPRIATE, f"the median of {self.n} differences can take only a few values"
        sampled = "" if permuted else "; p is sampled, and its level approximate"
        return NON_PREFERRED, f"tests the median rather than the mean{sampled}"

    def independent(self) -> tuple[str, str]:
        if self.constant:
            return INAPPROPRIATE, "the scores vary too little for it to be defined"
        held, evidence = verdict(SYSTEMS, self.sample, self.found.alpha)
        if held is not True:
            return INAPPROPRIATE, f"it assumes independent systems, but {evidence}"
        if self.n < MANY:
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
