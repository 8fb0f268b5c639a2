"""Which tests suit the scores, which will do, and which do not, each with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from permtest._html import grid, together
from permtest.alternatives.assumptions import (
    INDEPENDENT_SYSTEMS,
    MANY,
    REPRESENTATIVE_FROM,
    Diagnosis,
)
from permtest.alternatives.names import TITLES
from permtest.alternatives.sample import PairedSample
from permtest.result import counted
from permtest.study.describe import Description, describe_sample

RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"
LISTS = (RECOMMENDED, NON_PREFERRED, INAPPROPRIATE)

#: A t test of skewed differences needs so many times the squared skewness of pairs (Cochran's
#: rule of thumb).
PER_SQUARED_SKEWNESS = 25

#: From so many items on which the systems differ chi-squared is close for McNemar's test.
DISCORDANT = 25


@dataclass(frozen=True)
class Entry:
    """A test, and why it is in its list.

    Parameters
    ----------
    test : str
        Its name, as in `compare_all`.
    title : str
        What it is called in sentences.
    reason : str
        Why it suits these scores, or does not.
    """

    test: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Recommendation:
    """Three lists of tests for two systems' scores.

    Parameters
    ----------
    recommended, non_preferred, inappropriate : tuple of Entry
        Non-preferred tests are valid, or nearly, but no better than a recommended one.
    description : Description
        What the lists rest on.
    rule : str
        "exact" or "manual".
    """

    recommended: tuple[Entry, ...]
    non_preferred: tuple[Entry, ...]
    inappropriate: tuple[Entry, ...]
    description: Description
    rule: str

    @property
    def lists(self) -> dict[str, tuple[Entry, ...]]:
        """The three lists by their names."""
        return {name: getattr(self, name) for name in LISTS}

    def names(self, which: str = RECOMMENDED) -> list[str]:
        """Names of the tests in one of the lists."""
        return [entry.test for entry in self.lists[which]]

    def __str__(self) -> str:
        lines = []
        for name, entries in self.lists.items():
            lines.append(f"{_heading(name)}:")
            lines += [f"  {entry.title}: {entry.reason}" for entry in entries] or ["  none"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = (
            (entry.title, _heading(name), entry.reason)
            for name, entries in self.lists.items()
            for entry in entries
        )
        heading = f"Tests for {' against '.join(self.description.names)}"
        return together(grid(("test", "advice", "reason"), rows, heading))

    def to_dict(self) -> dict[str, Any]:
        """Lists, description and rule as plain numbers, strings, lists and None."""
        shown: dict[str, Any] = {
            name: [vars(entry) for entry in entries] for name, entries in self.lists.items()
        }
        return shown | {"rule": self.rule, "description": self.description.to_dict()}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)


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
        Level of the test of normality, and the one that a test has to be able to reach.
    rule : {"exact", "manual"}, default "exact"
        "exact": the exact permutation test takes milliseconds and keeps its level, so that it is
        recommended wherever a mean is of interest, and others are judged against it. "manual":
        Table 2 of the NLPStatTest manual, by symmetry and normality alone, which takes
        permutation for slow; tests that the table does not have are in no list.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    Recommendation

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, there are none, or an option is unknown.

    Notes
    -----
    Choosing among tests after looking at their p-values makes all of them wrong; choosing by this
    list looks at shape and size, not at the difference.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.names(), found.names("inappropriate")[:1]
    (['exact', 'paired_t'], ['permutation_median'])
    """
    if rule not in ("exact", "manual"):
        raise ValueError(f"rule={rule!r} is not known; choose 'exact' or 'manual'")
    sample = PairedSample.of(a, b, names=names, least=1)
    found = describe_sample(sample, alpha)
    if rule == "manual":
        verdicts = list(_by_table(found))
    else:
        case = _Case(sample, found)
        verdicts = list(case.of_binary() if found.is_binary else case.of_scores())
    lists = {
        which: tuple(Entry(test, TITLES[test], why) for test, at, why in verdicts if at == which)
        for which in LISTS
    }
    return Recommendation(**lists, description=found, rule=rule)


Verdict = tuple[str, str, str]


def _heading(which: str) -> str:
    return which.replace("_", "-").capitalize()


# ---- the manual's table -------------------------------------------------------------------------

PERMUTATIONS, BOOTSTRAPS = ("exact", "permutation_median"), ("bootstrap_mean", "bootstrap_median")

#: Table 2 for symmetric and normal, symmetric only, and skewed differences.
TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "normal": {
        RECOMMENDED: ("paired_t",),
        NON_PREFERRED: ("sign", "wilcoxon", *PERMUTATIONS, *BOOTSTRAPS),
        INAPPROPRIATE: (),
    },
    "symmetric": {
        RECOMMENDED: ("wilcoxon",),
        NON_PREFERRED: ("sign", *PERMUTATIONS, *BOOTSTRAPS),
        INAPPROPRIATE: ("paired_t",),
    },
    "skewed": {
        RECOMMENDED: ("sign",),
        NON_PREFERRED: ("permutation_median", "bootstrap_median"),
        INAPPROPRIATE: ("paired_t", "wilcoxon"),
    },
}


def _by_table(found: Description) -> Iterator[Verdict]:
    row = "skewed" if not found.symmetric else "normal" if found.normal else "symmetric"
    for which, tests in TABLE[row].items():
        for test in tests:
            yield test, which, _manual_reason(found, test, which)


def _manual_reason(found: Description, test: str, which: str) -> str:
    shape = f"differences are {found.shape} (skewness {found.difference.skewness:.2f})"
    normal = f"{'' if found.normal else 'not '}normal (Shapiro-Wilk p = {found.shapiro_p:.3g})"
    if which == INAPPROPRIATE:
        if test == "paired_t" and found.symmetric:
            return f"differences are {normal}; for large samples it will do"
        return f"{shape}, and it assumes that they are symmetric"
    if which == NON_PREFERRED:
        slow = test not in ("sign", "wilcoxon")
        return "valid, but called slow" if slow else "valid, but uses less of the data"
    if test == "sign":
        return f"{shape}, and it assumes no shape"
    return f"{shape} and {normal}"


# ---- knowing that the exact test is quick -------------------------------------------------------


class _Case:
    """The facts that reasons are made of."""

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
        return counted(self.n, "pairs")

    @property
    def shape(self) -> str:
        return f"differences are {self.found.shape} (skewness {self.skewness:.2f})"

    @property
    def shapiro(self) -> str:
        return f"Shapiro-Wilk p = {self.p:.3g}"

    # -- any scores --

    def of_scores(self) -> Iterator[Verdict]:
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
