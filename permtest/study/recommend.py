"""Which tests suit the scores, which will do, and which do not, each with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from permtest._checks import check_option
from permtest._html import grid, together
from permtest._json import AsJson
from permtest.alternatives.names import TITLES
from permtest.alternatives.sample import PairedSample
from permtest.study.describe import Description, describe_sample
from permtest.study.suitability import (
    INAPPROPRIATE,
    NON_PREFERRED,
    RECOMMENDED,
    Suitability,
    Verdict,
)

LISTS = (RECOMMENDED, NON_PREFERRED, INAPPROPRIATE)

#: By what tests are recommended.
RULES = ("exact", "manual")


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
class Recommendation(AsJson):
    """Three lists of tests for two systems' scores.

    Parameters
    ----------
    recommended, non_preferred, inappropriate : tuple of Entry
        Non-preferred tests are valid, or nearly, but no better than a recommended one.
    description : Description
        What the lists rest on.
    rule : str
        "exact" or "manual".

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.names(), "independent_t" in found.names("inappropriate")
    (['exact', 'paired_t'], True)
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
    check_option("rule", rule, RULES)
    sample = PairedSample.of(a, b, names=names, least=1)
    found = describe_sample(sample, alpha)
    if rule == "manual":
        verdicts = list(_by_table(found))
    else:
        case = Suitability(sample, found)
        verdicts = list(case.of_binary() if found.is_binary else case.of_scores())
    lists = {
        which: tuple(Entry(test, TITLES[test], why) for test, at, why in verdicts if at == which)
        for which in LISTS
    }
    return Recommendation(**lists, description=found, rule=rule)


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
