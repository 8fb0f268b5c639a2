"""How well tests suit the scores, where the exact test is known to be quick."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TypeAlias

from permtest.alternatives.assumptions import (
    INDEPENDENT_SYSTEMS,
    MANY,
    REPRESENTATIVE_FROM,
    Diagnosis,
)
from permtest.alternatives.sample import PairedSample
from permtest.result import counted
from permtest.study.describe import Description
from permtest.symmetry import PER_SQUARED_SKEWNESS

RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"

#: From so many items on which the systems differ chi-squared is close for McNemar's test.
DISCORDANT = 25

#: A test, the list that it belongs to, and why.
Verdict: TypeAlias = tuple[str, str, str]


class Suitability:
    """How well each test suits a sample: what the reasons are made of, and the reasons.

    Parameters
    ----------
    sample : PairedSample
    found : Description
    """

    def __init__(self, sample: PairedSample, found: Description) -> None:
        self.found = found
        self.n, self.zeros = found.n, found.n_zeros
        self.differing = found.n - found.n_zeros
        self.skewness, self.p = found.difference.skewness, found.shapiro_p
        self.constant = bool((sample.gaps == sample.gaps[0]).all())
        self.wins = int((sample.gaps > 0).sum())
        systems = Diagnosis(sample, found.alpha).check(INDEPENDENT_SYSTEMS)
        self.independent, self.correlation = systems.held is True, systems.evidence

    @property
    def pairs(self) -> str:
        """How many there are."""
        return counted(self.n, "pairs")

    @property
    def shape(self) -> str:
        """Of the differences."""
        return f"differences are {self.found.shape} (skewness {self.skewness:.2f})"

    @property
    def shapiro(self) -> str:
        """What the test of normality says."""
        return f"Shapiro-Wilk p = {self.p:.3g}"

    # -- any scores --

    def of_scores(self) -> Iterator[Verdict]:
        """All tests of scores of any kind."""
        yield "exact", RECOMMENDED, self._exact()
        yield "paired_t", *self._t()
        yield "wilcoxon", *self._wilcoxon()
        yield "sign", *self._sign()
        yield "permutation_median", *self._median("exact")
        yield "bootstrap_median", *self._median("sampled")
        yield "normal_z", *self._z()
        for test in ("bootstrap_mean", "paired_bootstrap"):
            yield test, *self._bootstrap()
        for test in ("independent_t", "independent_z"):
            yield test, *self._independent()

    def _exact(self) -> str:
        text = "tests the mean, and keeps its level where labels can be exchanged"
        if not self.found.symmetric:
            text += (
                f"; {self.shape}: should the mean be 0 though labels matter, "
                "the level is kept only nearly"
            )
        return text + self._reach()

    def _reach(self) -> str:
        """What is to be said where there are too few pairs for any exact test."""
        least = 0.5 ** (self.differing - 1) if self.differing else 1.0
        if least <= self.found.alpha:
            return ""
        pairs = counted(self.differing, "pairs")
        return f"; but with {pairs} that differ, p cannot fall below {min(least, 1.0):.3g}"

    def _t(self) -> tuple[str, str]:
        if self.n < 2 or self.constant:
            return INAPPROPRIATE, "the differences do not vary, so that t is not defined"
        if self.found.normal:
            where = RECOMMENDED if self.found.symmetric else NON_PREFERRED
            text = f"differences may be normal ({self.shapiro}); it then agrees with the exact test"
            if not self.found.symmetric:
                text = f"{self.shapiro}, but {self.shape}; the exact test needs neither"
            return where, text
        return self._by_size("a t distribution")

    def _by_size(self, law: str) -> tuple[str, str]:
        """Of a test that rests on the central limit theorem."""
        needed = max(MANY, round(PER_SQUARED_SKEWNESS * self.skewness**2))
        facts = f"{self.shape}, {self.shapiro}" if isfinite(self.p) else self.shape
        if self.n >= needed:
            return NON_PREFERRED, f"{facts}, but {self.pairs} bring the mean close to {law}"
        return INAPPROPRIATE, f"{facts}, and {self.pairs} are fewer than the {needed} it takes"

    def _z(self) -> tuple[str, str]:
        if self.n < 2 or self.constant:
            return INAPPROPRIATE, "the differences do not vary, so that z is not defined"
        if self.found.normal and self.n >= MANY:
            return NON_PREFERRED, f"{self.pairs} are enough, but the t test is closer"
        if self.found.normal:
            return (
                INAPPROPRIATE,
                f"{self.pairs} are too few to take a standard deviation as known",
            )
        return self._by_size("a normal distribution")

    def _wilcoxon(self) -> tuple[str, str]:
        if not self.differing:
            return INAPPROPRIATE, "no pair differs, so that there are no ranks"
        if not self.found.symmetric:
            return INAPPROPRIATE, f"{self.shape}, and it assumes symmetry about the median"
        left_out = f"; it leaves {self.zeros} of {self.n} pairs out" if self.zeros else ""
        if self.found.normal is False and 2 * self.zeros <= self.n and not self.constant:
            text = f"{self.shape} but not normal ({self.shapiro}), where ranks often see more"
            return RECOMMENDED, text + left_out + self._reach()
        text = f"{self.shape}, but it asks about ranks rather than the mean"
        return NON_PREFERRED, text + left_out + self._reach()

    def _sign(self) -> tuple[str, str]:
        if not self.differing:
            return NON_PREFERRED, "no pair differs, so that p is 1"
        count = f"{self.wins} of {self.differing} pairs that differ are won"
        if self.found.symmetric:
            return NON_PREFERRED, f"{count}; by how much, which it does not use, tells more here"
        text = f"{count}; {self.shape}, and for the median it assumes no shape"
        return RECOMMENDED, text + self._reach()

    def _median(self, how: str) -> tuple[str, str]:
        if how == "sampled" and self.n < REPRESENTATIVE_FROM:
            return INAPPROPRIATE, self._unrepresentative()
        half = self.found.difference
        if 2 * self.zeros >= self.n or half.lower_quartile == half.upper_quartile:
            same = f"{self.zeros} of {self.n} differences are 0"
            if 2 * self.zeros < self.n:
                same = "half of the differences or more are equal"
            return INAPPROPRIATE, f"{same}: their median says next to nothing of the others"
        if self.n < MANY:
            return (
                INAPPROPRIATE,
                f"the median of {self.n} differences takes few values",
            )
        if how == "exact":
            return NON_PREFERRED, "valid for the median, but the sign test is as valid, and simpler"
        return NON_PREFERRED, f"{self.pairs} will do, but p is sampled and its level approximate"

    def _bootstrap(self) -> tuple[str, str]:
        if self.n < REPRESENTATIVE_FROM:
            return INAPPROPRIATE, self._unrepresentative()
        return NON_PREFERRED, (
            f"{self.pairs} may stand for the population, but p is sampled and its level "
            "approximate, where the exact test has neither fault"
        )

    def _unrepresentative(self) -> str:
        return f"n = {self.n} is below the {REPRESENTATIVE_FROM} that may stand for a population"

    def _independent(self) -> tuple[str, str]:
        if self.n < 2 or self.constant:
            return INAPPROPRIATE, "the scores vary too little for it to be defined"
        if not self.independent:
            return INAPPROPRIATE, f"it assumes independent systems, but {self.correlation}"
        if self.n < MANY:
            return INAPPROPRIATE, f"{self.pairs} are too few, and it makes nothing of their pairing"
        return NON_PREFERRED, f"the pairing tells little here: {self.correlation}"

    # -- 0 and 1 --

    def of_binary(self) -> Iterator[Verdict]:
        """All tests of scores of 0 and 1."""
        losses = self.differing - self.wins
        count = f"{self.wins} items are right for one system alone, {losses} for the other"
        reach = self._reach()
        yield "mcnemar", RECOMMENDED, f"scores are 0 and 1; {count}; exact at any number{reach}"
        yield "exact", RECOMMENDED, f"for scores of 0 and 1 it is McNemar's exact test{reach}"
        yield "sign", NON_PREFERRED, "the same test as McNemar's exact one, under another name"
        yield "mcnemar_midp", NON_PREFERRED, "more powerful, but its level is kept on average only"
        yield "mcnemar_chi2", *self._chi2()
        if self.differing:
            again = "all differences tie, so that it is the sign test again"
            yield "wilcoxon", NON_PREFERRED, again
        else:
            yield "wilcoxon", *self._wilcoxon()
        for test, law in (("paired_t", "a t"), ("normal_z", "a normal")):
            yield test, *self._binary_mean(law)
        for test in ("bootstrap_mean", "paired_bootstrap"):
            yield test, *self._bootstrap()
        for test in ("permutation_median", "bootstrap_median"):
            yield test, INAPPROPRIATE, "the median of differences of 0 and 1 says next to nothing"
        crossed = ("two_proportion_z", "chi_squared", "chi_squared_yates")
        for test in (*crossed, "independent_t", "independent_z"):
            yield test, *self._independent()

    def _chi2(self) -> tuple[str, str]:
        if self.differing >= DISCORDANT:
            return NON_PREFERRED, f"close with {self.differing} items that differ, but not exact"
        return INAPPROPRIATE, (
            f"{self.differing} items that differ are too few for chi-squared; "
            f"{DISCORDANT} are enough"
        )

    def _binary_mean(self, law: str) -> tuple[str, str]:
        if self.n < 2 or self.constant:
            return INAPPROPRIATE, "the differences do not vary, so that it is not defined"
        if self.differing >= DISCORDANT:
            text = f"{self.differing} items that differ bring the mean near {law} distribution"
            return NON_PREFERRED, f"{text}; scores of 0 and 1 need no test of normality"
        return (
            INAPPROPRIATE,
            f"{self.differing} items that differ are too few for {law} distribution",
        )
