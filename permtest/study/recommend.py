"""Which tests suit the scores, which will do, and which do not: advice that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from permtest._checks import check_option
from permtest._json import AsJson
from permtest.alternatives.assumptions import (
    FEW,
    INDEPENDENT_SYSTEMS,
    MANY,
    REPRESENTATIVE_FROM,
    Diagnosis,
)
from permtest.alternatives.names import TITLES
from permtest.alternatives.result import interval_text
from permtest.alternatives.sample import PairedSample
from permtest.result import counted
from permtest.study.describe import Description, checked_sample, describe
from permtest.study.document import Section, Table
from permtest.study.effects import win_loss

LISTS = RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"

#: By what tests are recommended.
RULES = ("exact", "manual")

#: Tests whose level and power are measured, of scores of 0 and 1 and of others; samples that are
#: drawn at most, and scores in all of them.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign")
SAMPLES, DRAWN = 2000, 2 * 10**6

#: How many times alpha a level may be that is called kept.
TOLERANCE = 1.1

#: A test, the list that it belongs to, and why.
Verdict = tuple[str, str, str]


@dataclass(frozen=True)
class Entry:
    """A test by its name in `compare_all` and its title, and why it is in its list."""

    test: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Recommendation(AsJson):
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
        Level and power of tests, as `measured_rates` finds them.
    samples : int
        How many samples they were measured on; 0 if they were not.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([3, 5, 4, 6, 2, 4, 4], [2, 3, 4, 3, 1, 5, 2])
    >>> found.names(), "independent_t" in found.names("inappropriate")
    (['exact'], True)
    >>> level, power = found.rates["exact"]
    >>> level < 0.06 < power
    True
    """

    recommended: tuple[Entry, ...]
    non_preferred: tuple[Entry, ...]
    inappropriate: tuple[Entry, ...]
    description: Description
    rule: str
    rates: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    samples: int = 0

    @property
    def lists(self) -> dict[str, tuple[Entry, ...]]:
        """The three lists by their names."""
        return {name: getattr(self, name) for name in LISTS}

    def names(self, which: str = RECOMMENDED) -> list[str]:
        """Names of the tests in one of the lists."""
        return [entry.test for entry in self.lists[which]]

    def section(self) -> Section:
        """The lists as a table, with level and power beside each test that was measured."""
        rows, measured = [], bool(self.rates)
        for name, entries in self.lists.items():
            for entry in entries:
                rates = self.rates.get(entry.test, ())
                shown = tuple(f"{rate:.3f}" for rate in rates) or ("", "")
                advice = name.replace("_", "-")
                rows.append((entry.title, advice, *shown[: 2 * measured], entry.reason))
        head = ("test", "advice", *("level", "power")[: 2 * measured], "reason")
        tests = " and ".join(entry.title for entry in self.recommended)
        limits = (
            f"Level and power are shares of {self.samples:,} samples of {self.description.n} "
            "differences, drawn with replacement from these: for the level less their mean (with "
            "random signs for the sign test, and for scores of 0 and 1), for the power as they "
            "are. What is so rare that none of these differences shows it was not measured."
        )
        return Section(
            "recommendation",
            f"Tests for {' against '.join(self.description.names)}",
            f"Recommended: {tests}.",
            (Table(head, tuple(rows)),),
            limits=limits if measured else "",
            data=self.to_dict(),
        )

    def __str__(self) -> str:
        return str(self.section())

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Lists, rates, description and rule as plain numbers, strings, lists and None."""
        lists = {name: [vars(entry) for entry in found] for name, found in self.lists.items()}
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
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None. At least 1.
    alpha : float, default 0.05
        The level that tests have to keep, and to be able to reach; and that of the test of
        normality.
    rule : {"exact", "manual"}, default "exact"
        "exact": the exact permutation test takes milliseconds and is recommended wherever a mean
        is of interest; others are judged by their level and power, measured on samples like these.
        "manual": Table 2 of the NLPStatTest manual, by symmetry and normality alone, which takes
        permutation for slow; tests that the table does not have are in no list.
    names : tuple of two str, optional
        What the systems are called.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, there are none, or an option is unknown.

    Notes
    -----
    Choosing among tests after looking at their p-values makes all of them wrong; choose by level
    and power, before. Measuring takes about a second; it draws the same samples every time.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.names(), found.recommended[0].reason
    (['exact'], 'tests the mean; but with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, RULES)
    sample = checked_sample(a, b, names)
    found = describe(sample.pairs, alpha=alpha)
    case = _Case(sample, found)
    if rule == "manual":
        verdicts, rates, samples = _by_table(found), {}, 0
    else:
        verdicts = case.of_binary() if found.is_binary else case.of_scores()
        rates, samples = case.rates, case.samples if case.rates else 0
    sorted_ = {which: [] for which in LISTS}
    for test, which, why in verdicts:
        sorted_[which].append(Entry(test, TITLES[test], why))
    lists = {which: tuple(entries) for which, entries in sorted_.items()}
    return Recommendation(**lists, description=found, rule=rule, rates=rates, samples=samples)


class _Case:
    """What the reasons are made of, and the reasons."""

    def __init__(self, sample: PairedSample, found: Description) -> None:
        self.sample, self.found, self.alpha, self.n = sample, found, found.alpha, found.n
        self.differing = found.n - found.n_zeros
        self.wins = int((sample.gaps > 0).sum())
        self.constant = bool((sample.gaps == sample.gaps[0]).all())
        self.samples = min(SAMPLES, max(DRAWN // self.n, 100))
        # Where a shift of the differences makes no ranks of zeros.
        few_zeros = not found.is_binary and 10 * found.n_zeros <= self.n
        self.ranked = few_zeros and found.symmetric
        self.shape = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"

    @cached_property
    def rates(self) -> dict[str, tuple[float, float]]:
        """Level and power; nothing where the differences do not vary."""
        from permtest.study import measured_rates

        if self.constant:
            return {}
        tests = BINARY if self.found.is_binary else GRADED
        if self.ranked:
            tests += ("wilcoxon",)
        options: dict[str, Any] = {"alpha": self.alpha, "repetitions": self.samples}
        rates = measured_rates(self.sample.differences, tests, **options)
        again = ("mcnemar", "sign") if self.found.is_binary else ()
        return rates | dict.fromkeys(again, rates["exact"])

    def holds(self, test: str) -> bool:
        """Whether the level may be alpha, or a tenth more, by Clopper and Pearson's interval."""
        from scipy.stats import beta

        rejected = round(self.rates[test][0] * self.samples)
        low = beta.ppf(0.025, rejected, self.samples - rejected + 1) if rejected else 0.0
        return bool(low <= TOLERANCE * self.alpha)

    def level(self, test: str) -> str:
        """How often a test rejects where there is nothing to find."""
        return f"it rejects {self.rates[test][0]:.3f} of samples like these without an effect"

    # ---- any scores ----

    def of_scores(self) -> Iterator[Verdict]:
        """All tests of scores of any kind."""
        yield "exact", RECOMMENDED, self.exact()
        yield "bootstrap_mean", *self.bootstrap()
        yield "paired_t", *self.normal_theory("paired_t")
        yield "wilcoxon", *self.wilcoxon()
        yield "sign", *self.sign()
        for test in ("permutation_median", "bootstrap_median"):
            yield test, *self.median(test)
        yield "normal_z", *self.normal_theory("normal_z")
        yield "paired_bootstrap", *self.koehn()
        for test in ("independent_t", "independent_z"):
            yield test, *self.independent()

    def reach(self) -> str:
        """What is to be said where there are too few pairs for any exact test."""
        least = 0.5 ** max(self.differing - 1, 0)
        if least <= self.alpha:
            return ""
        pairs = counted(self.differing, "pairs")
        return f"; but with {pairs} that differ, p cannot fall below {least:.3g}"

    def exact(self) -> str:
        if self.constant or self.reach():
            return "tests the mean" + self.reach()
        if self.holds("exact"):
            return "tests the mean, and keeps its level"
        return (
            f"tests the mean, and keeps its level where labels can be exchanged; should the mean "
            f"be 0 though labels matter, {self.level('exact')}, as {self.shape}"
        )

    def normal_theory(self, test: str) -> tuple[str, str]:
        law = "t" if test == "paired_t" else "normal"
        if self.constant:
            return INAPPROPRIATE, f"the differences do not vary, so that {law[0]} is not defined"
        if self.reach():
            return INAPPROPRIATE, (
                f"takes differences for normal, which {counted(self.n, 'pairs')} cannot show; an "
                "exact test cannot reject with so few, whatever they are"
            )
        if not self.holds(test):
            return INAPPROPRIATE, f"{self.level(test)}, as the mean is far from a {law} law"
        if self.n < MANY:
            return NON_PREFERRED, (
                f"{counted(self.n, 'pairs')} cannot show that differences are normal; where they "
                "are, it agrees with the exact test"
            )
        if test == "normal_z":
            return NON_PREFERRED, f"{self.level(test)}; the t test is the closer approximation"
        return RECOMMENDED, f"{self.level(test)}, which is close enough to {self.alpha:g}"

    def bootstrap(self) -> tuple[str, str]:
        if self.constant or self.n < FEW:
            return INAPPROPRIATE, f"{counted(self.n, 'pairs')} are too few to stand for others"
        both = f"{self.level('bootstrap_mean')}, the exact test {self.rates['exact'][0]:.3f}"
        level, other = (self.rates[test][0] for test in ("bootstrap_mean", "exact"))
        if self.found.symmetric:
            return NON_PREFERRED, f"{both}, and p is sampled"
        if self.holds("bootstrap_mean") or level < other:
            return RECOMMENDED, f"does not assume symmetry, and {self.shape}: {both}"
        return NON_PREFERRED, f"{self.shape}, but {both}"

    def wilcoxon(self) -> tuple[str, str]:
        if not self.differing:
            return INAPPROPRIATE, "no pair differs, so that there are no ranks"
        if not self.found.symmetric:
            return INAPPROPRIATE, f"{self.shape}, and it assumes symmetry about the median"
        zeros = self.found.n_zeros
        out = f"; it leaves {zeros} of {self.n} pairs out" if zeros else ""
        out += self.reach()
        if self.ranked and self.n >= MANY and not self.constant:
            power, other = (self.rates[test][1] for test in ("wilcoxon", "exact"))
            if power > other + 0.02:
                seen = f"it finds effects like this in {power:.2f} of samples, the exact test in"
                return RECOMMENDED, f"differences are symmetric, and {seen} {other:.2f}{out}"
        return NON_PREFERRED, f"asks about ranks rather than the mean{out}"

    def sign(self) -> tuple[str, str]:
        if not self.differing:
            return NON_PREFERRED, "no pair differs, so that p is 1"
        effect, a_b = win_loss(self.sample.pairs), "P({0} > {1}) - P({1} > {0})"
        ends = interval_text(effect.confidence_interval(), 3)
        zeros = self.found.n_zeros
        ties = f"; {zeros} of {self.n} pairs tie, and count for neither" if zeros else ""
        text = (
            f"asks who wins more often, whatever the margin: {a_b.format(*self.found.names)} is "
            f"{effect.value:.3g} ({ends}){ties}"
        )
        return NON_PREFERRED if self.found.symmetric else RECOMMENDED, text + self.reach()

    def median(self, test: str) -> tuple[str, str]:
        zeros, half = self.found.n_zeros, self.found.difference
        if 2 * zeros >= self.n:
            same = f"{zeros} of {self.n} differences are 0"
            return INAPPROPRIATE, f"{same}: their median says next to nothing of the others"
        if half.lower_quartile == half.upper_quartile:
            return INAPPROPRIATE, "half of the differences or more are equal, their median too"
        if self.n < (MANY if test == "permutation_median" else REPRESENTATIVE_FROM):
            return INAPPROPRIATE, f"the median of {self.n} differences takes few values"
        if test == "permutation_median":
            return NON_PREFERRED, "tests the median rather than the mean"
        return NON_PREFERRED, "tests the median; p is sampled, and its level approximate"

    def koehn(self) -> tuple[str, str]:
        if self.n < REPRESENTATIVE_FROM:
            return INAPPROPRIATE, f"{counted(self.n, 'pairs')} are too few to stand for others"
        return NON_PREFERRED, "p is sampled, and its level approximate"

    def independent(self) -> tuple[str, str]:
        if self.n < 2 or self.constant:
            return INAPPROPRIATE, "the scores vary too little for it to be defined"
        systems = Diagnosis(self.sample, self.alpha).check(INDEPENDENT_SYSTEMS)
        if systems.held is not True:
            return INAPPROPRIATE, f"it assumes independent systems, but {systems.evidence}"
        if self.n < MANY:
            few = counted(self.n, "pairs")
            return INAPPROPRIATE, f"{few} are too few, and it makes nothing of their pairing"
        return NON_PREFERRED, f"the pairing tells little here: {systems.evidence}"

    # ---- 0 and 1 ----

    def of_binary(self) -> Iterator[Verdict]:
        """All tests of scores of 0 and 1."""
        losses = self.differing - self.wins
        count = f"{self.wins} items are right for one system alone, {losses} for the other"
        reach = self.reach()
        yield "mcnemar", RECOMMENDED, f"scores are 0 and 1; {count}; exact at any number{reach}"
        yield "exact", RECOMMENDED, f"for scores of 0 and 1 it is McNemar's exact test{reach}"
        yield "sign", NON_PREFERRED, "the same test as McNemar's exact one, under another name"
        for test in ("mcnemar_midp", "mcnemar_chi2"):
            yield test, *self.approximate(test)
        again = "all differences tie, so that it is the sign test again"
        yield "wilcoxon", *((NON_PREFERRED, again) if self.differing else self.wilcoxon())
        for test in ("paired_t", "normal_z"):
            yield test, *self.approximate(test)
        for test in ("bootstrap_mean", "paired_bootstrap"):
            yield test, *self.koehn()
        for test in ("permutation_median", "bootstrap_median"):
            yield test, INAPPROPRIATE, "the median of differences of 0 and 1 says next to nothing"
        crossed = ("two_proportion_z", "chi_squared", "chi_squared_yates")
        for test in (*crossed, "independent_t", "independent_z"):
            yield test, *self.independent()

    def approximate(self, test: str) -> tuple[str, str]:
        """Of tests that are nearly McNemar's."""
        if self.constant:
            return INAPPROPRIATE, "the differences do not vary"
        if self.reach():
            return INAPPROPRIATE, f"may reject where the exact test cannot{self.reach()}"
        where = NON_PREFERRED if self.holds(test) else INAPPROPRIATE
        return where, f"{self.level(test)}, the exact test {self.rates['exact'][0]:.3f}"


# ---- the manual's table -------------------------------------------------------------------------

BY_LABELS, RESAMPLED = ("exact", "permutation_median"), ("bootstrap_mean", "bootstrap_median")

#: Table 2 for symmetric and normal, symmetric only, and skewed differences: the three lists.
TABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "normal": (("paired_t",), ("sign", "wilcoxon", *BY_LABELS, *RESAMPLED), ()),
    "symmetric": (("wilcoxon",), ("sign", *BY_LABELS, *RESAMPLED), ("paired_t",)),
    "skewed": (("sign",), (BY_LABELS[1], RESAMPLED[1]), ("paired_t", "wilcoxon")),
}


def _by_table(found: Description) -> Iterator[Verdict]:
    row = "skewed" if not found.symmetric else "normal" if found.normal else "symmetric"
    shape = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"
    normal = f"{'' if found.normal else 'not '}normal (Shapiro-Wilk p = {found.shapiro_p:.3g})"
    for which, tests in zip(LISTS, TABLE[row], strict=True):
        for test in tests:
            quick = "uses less of the data" if test in ("sign", "wilcoxon") else "called slow"
            why = f"valid, but {quick}"
            if which == INAPPROPRIATE:
                why = f"{shape}, and it assumes that they are symmetric"
                if row == "symmetric":
                    why = f"differences are {normal}; for large samples it will do"
            elif which == RECOMMENDED:
                why = f"{shape}, " + ("no shape is assumed" if test == "sign" else f"and {normal}")
            yield test, which, why
