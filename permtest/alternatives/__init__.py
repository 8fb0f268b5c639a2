"""Other answers to the same question: parametric, rank, bootstrap, randomisation tests, and Bayes.

Every test takes the scores of two systems (or counts, or scores of folds), returns an
`AlternativeResult`, and lists what it assumes; `compare_all` makes all that apply. `bayes_test`
answers with probabilities of the hypotheses instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import nan
from typing import Any

from permtest._errors import check_count, check_level
from permtest._random import RNG, as_generator, seeds, stream
from permtest._text import Shown, html_table, plain, text_table, together
from permtest.alternatives import registry
from permtest.alternatives.bayes import bayes_test, posterior
from permtest.alternatives.counts import chi_squared, mcnemar, two_proportion_z
from permtest.alternatives.folds import BlockRegularizedCV, block_weight, corrected_resampled_t
from permtest.alternatives.means import independent_t, paired_t
from permtest.alternatives.ranks import permutation_median, sign, wilcoxon
from permtest.alternatives.registry import TITLES, AlternativeResult, Check, Names
from permtest.alternatives.resampling import MAX_RESAMPLES, bootstrap, paired_bootstrap
from permtest.exact import exact_perm_test
from permtest.interval import ConfidenceInterval
from permtest.result import PermutationTestResult
from permtest.scores import Scores
from permtest.statistics import Alternative, Statistic, check_alternative, lookup

__all__ = ["AlternativeResult", "bayes_test", "compare_all", "posterior"]
__all__ += ["BlockRegularizedCV", "block_weight", "corrected_resampled_t"]
__all__ += ["independent_t", "paired_t", "permutation_median", "sign", "wilcoxon"]
__all__ += ["bootstrap", "chi_squared", "mcnemar", "paired_bootstrap", "two_proportion_z"]

#: What is said of an assumption that does not hold, that does, and of which scores cannot tell.
VERDICTS = {False: "not met", True: "seems to hold", None: "cannot be checked from the data"}
#: How a p is marked that is a bound, or sampled.
MARKS = {"bracket": "\N{LESS-THAN OR EQUAL TO} ", "monte_carlo": "\N{ALMOST EQUAL TO} "}


@dataclass(frozen=True)
class Answer(Shown):
    """One row of `compare_all`: a test, its result or the problem with it, and its assumptions."""

    test: str
    result: AlternativeResult | PermutationTestResult | None
    estimate: float = nan
    estimate_name: str = ""
    interval: ConfidenceInterval | None = None
    checks: tuple[Check, ...] = ()
    problem: str = ""

    @property
    def title(self) -> str:
        """What tables call the test."""
        name = self.estimate_name.removesuffix(" difference")
        if not isinstance(self.result, PermutationTestResult) or name in ("", "mean"):
            return TITLES[self.test]
        return f"{'exact ' * (self.result.n_samples is None)}permutation test of {name}"

    @property
    def pvalue_text(self) -> str:
        """p, marked if it is sampled, or an upper bound; "-" if there is none."""
        mark = MARKS.get(getattr(self.result, "method", ""), "")
        return mark + self.result.pvalue_text() if self.result else "-"

    def rejects(self, alpha: float) -> bool | None:
        """Whether p <= alpha; None if there is no p, or bounds of p lie on either side of alpha."""
        if self.result is None:
            return None
        ends: tuple[float, ...] = (self.result.pvalue,)
        if isinstance(self.result, PermutationTestResult) and self.result.method == "bracket":
            ends = self.result.pvalue_interval()
        found = {bool(registry.rejects(p, alpha)) for p in ends}
        return found.pop() if len(found) == 1 else None

    @property
    def held(self) -> bool | None:
        """False if an assumption is not met, True if none is, None if scores cannot tell."""
        known = [check.held for check in self.checks if check.held is not None]
        return all(known) if known else None

    @property
    def assumptions_text(self) -> str:
        """Which assumptions are not met, and by what evidence; or why there is no result."""
        texts = [self.problem] if self.problem else []
        for held, word in VERDICTS.items():
            found = [check for check in self.checks if check.held is held]
            names = [name + f" ({evidence})" * (held is False) for name, _, evidence in found]
            texts += [f"{word}: {', '.join(names)}"] * bool(names)
        return "; ".join(texts)

    def rows(self) -> list[dict[str, Any]]:
        """The row as plain values; None for what there is not."""
        own = "test", "title", "estimate", "estimate_name", "interval", "held"
        shown = {x: getattr(self, x) for x in own}
        shown |= {x: getattr(self.result, x, None) for x in ("pvalue", "statistic", "method")}
        return [plain(shown | {"p": self.pvalue_text, "assumptions": self.assumptions_text})]


@dataclass(frozen=True, repr=False)
class AnswerTable(Shown):
    """What `compare_all` returns: the answers of all tests to one question, the exact one first.

    Iterate over it for its rows, index it with the name of a test, print it, or let a notebook
    show it. A row has `test` and `title`, the `result`, an `interval` and `assumptions_text`.
    """

    answers: tuple[Answer, ...]
    names: tuple[str, str]
    n: int
    alternative: str
    confidence_level: float
    metric: str
    correlation: float | None
    inflation: float | None

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, test: str) -> Answer:
        return {answer.test: answer for answer in self.answers}[test]

    def __str__(self) -> str:
        rows, titles, head = self._shown()
        return f"{head}\n\n{text_table(rows, titles)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return together(html_table(*self._shown()))

    def _shown(self) -> tuple[list[dict[str, Any]], dict[str, str], str]:
        """Rows and columns of the table, and a heading."""
        ends = f"{100 * self.confidence_level:.4g}% interval"
        heads = {"title": "test", "p": f"p ({self.alternative})", "interval": ends}
        head = f"{' against '.join(self.names)}: {self.metric}, n = {self.n}"
        rows = [answer.to_dict() | {"interval": answer.interval} for answer in self]
        return rows, heads | {"assumptions": "assumptions"}, head


def compare_all(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic = "mean",
    alternative: Alternative = "two-sided",
    tests: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    K: int = 10_000,
    rng: RNG = 0,
    names: Names = None,
) -> AnswerTable:
    """Run every applicable test on the same pairs and check the assumptions of each.

    No test is better because its p is smaller: look at its assumptions first, and then at p.

    Parameters
    ----------
    u, v : array_like of shape (N,), or tables of counts
        Scores of both systems, as `exact_perm_test` takes them; or one `Scores`.
    statistic : str or Statistic, default "mean"
        "mean" compares single scores by all tests, and scores that are all 0 or 1 also by tests of
        counts; a measure of counts, such as "f1", is compared by the exact test and Koehn's.
    alternative : as in `alternatives.paired_t`
    tests : sequence of str, optional
        Names of the tests to make. Default: all that apply.
    confidence_level : float, default 0.95
    K, rng : as in `alternatives.bootstrap`
        For the bootstrap tests.
    names : tuple of two str, optional

    Returns
    -------
    AnswerTable
        One row for each test: p, an interval if the test has one, assumptions met or not. Tests
        that these data are unfit for, as their differences are all equal, say so. Its `correlation`
        is r12 of the two systems' scores, and `inflation` what assuming independence of the systems
        multiplies the standard deviation of the difference by; None for counts.

    Examples
    --------
    >>> import permtest as pt
    >>> table = pt.compare_all([1, 1, 1, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0, 0])
    >>> table["exact"].result.pvalue, table["mcnemar"].result.pvalue
    (0.0625, 0.0625)
    """
    check_alternative(alternative)
    check_level(confidence_level, "confidence_level")
    check_count(K, "K", most=MAX_RESAMPLES)
    entry = lookup(statistic)
    scores = registry.scores_of(u, v, names, labels=("u", "v"), entry=entry)
    known = applicable(scores, entry)
    for name in set(tests or ()).difference(known):
        raise ValueError(f"tests: {name!r} does not apply here; choose among {', '.join(known)}")
    origin = seeds(as_generator(rng))
    answers = tuple(
        _answer(name, scores, entry, confidence_level, alternative, K, origin)
        for name in (known if tests is None else tests)
    )
    functions = () if entry.columns else (registry.correlation, registry.inflation)
    of_pair = [plain(function(scores)) for function in functions] or (None, None)
    shown = scores.names, len(scores), alternative, confidence_level, entry.name
    return AnswerTable(answers, *shown, *of_pair)


def applicable(scores: Scores, entry: Statistic) -> tuple[str, ...]:
    """The tests that there are for such scores, or for such a measure of counts."""
    if entry.columns:
        return "exact", "paired_bootstrap"
    return tuple(x for x in TITLES if scores.is_binary or x not in registry.OF_COUNTS)


def _answer(
    name: str, scores: Scores, entry: Statistic, level: float, side: Any, K: int, origin: Any
) -> Answer:
    """The row of a test, made of what it takes; scores that are valid may not fit it."""
    row, n = registry.TESTS[name], len(scores)
    taken: dict[str, tuple[Any, ...]] = {"scores": (scores,), "resamples": (scores,)}
    how: dict[str, Any] = {"alternative": side} | ({"statistic": entry} if entry.columns else {})
    if name == "exact" or row.takes == "resamples":
        # A stream by its name, so that no test depends on which others there are.
        how["rng"] = stream(origin, *name.encode())
    how |= {"resamples": {"K": K}, "discordant": {"n": n}}.get(row.takes, {})
    if name in registry.OF_COUNTS:
        (first, second), both = (int(mean * n) for mean in scores.means), scores.u * scores.v > 0
        taken["discordant"] = first - int(both.sum()), second - int(both.sum())
        taken["shares"] = first, n, second, n
        taken["table"] = ([[first, n - first], [second, n - second]],)
    try:
        result = (row.single or exact_perm_test)(*taken[row.takes], **how)
    except (ValueError, ArithmeticError) as error:
        return Answer(name, None, problem=str(error))
    if name in registry.OF_COUNTS:
        result = replace(result, names=scores.names)
    return answer_of(name, result, scores, entry, level)


def answer_of(name: str, result: Any, scores: Scores, entry: Statistic, level: float) -> Answer:
    """The row of a test that was made."""
    if isinstance(result, AlternativeResult):
        seen = result.estimate, result.estimate_name
    elif entry.columns:
        seen = float(result.statistic), f"{entry.title or entry.name} difference"
    else:
        seen = float(scores.means[0] - scores.means[1]), registry.MEAN
    interval = None
    with suppress(ValueError):  # there is none, or none at this level
        interval = result.confidence_interval(level)
    least = getattr(result, "details", {}).get("least_expected", nan)
    large = Check(registry.COUNTS, least >= registry.ENOUGH, f"smallest expected count {least:.3g}")
    assumed = registry.TESTS[name].assumptions
    checks = tuple(large if x == registry.COUNTS else registry.verdict(x, scores) for x in assumed)
    return Answer(name, result, *seen, interval, checks)
