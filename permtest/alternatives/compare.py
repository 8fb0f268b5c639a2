"""All tests that apply to the same pairs, side by side, and whether their assumptions hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._forms import AsFields, AsJson, aligned, grid, plain, said, together
from permtest._parallel import RNG, as_generator, progress
from permtest.alternatives import registry, resampling
from permtest.alternatives.answer import (
    AlternativeResult,
    Names,
    PairedSample,
    interval_text,
    rejects,
    spread,
)
from permtest.integers import exact_sum
from permtest.interval import PER_SQUARED_SKEWNESS, ConfidenceInterval
from permtest.pairs import Pairs
from permtest.score import counted
from permtest.statistics import Alternative, Statistic, check_alternative, lookup

#: A test of one's data, waiting to be made with `alternative=`.
Job: TypeAlias = Callable[..., AlternativeResult]

#: Arguments of tests, by what they take; see `Row`.
Data: TypeAlias = dict[str, tuple[tuple[Any, ...], dict[str, Any]]]

# ---- assumptions, held against the data ----------------------------------------------------------

#: Skewness below which differences count as roughly symmetric (Bulmer's rule of thumb).
SYMMETRIC_BELOW = 0.5

#: Correlations up to this cost next to nothing: a standard deviation too large by a twentieth.
UNCORRELATED = 0.1

#: With fewer pairs than this, that an assumption is not contradicted says nothing.
FEW = 20

#: First term of Edgeworth's series for a mean, skewness / (6 sqrt N), below which shape matters
#: little: an error of the order of 1e-3 in a p near .05.
NEGLIGIBLE = 0.01

#: What is said of an assumption that does not hold, that does, and of which scores cannot tell.
VERDICTS = {False: "not met", True: "seems to hold", None: "cannot be checked from the data"}

#: Whether an assumption holds, None where scores cannot tell; and the evidence.
Verdict: TypeAlias = tuple[bool | None, str]
UNKNOWN: Verdict = None, "scores alone cannot tell"


class Check(NamedTuple):
    """What the scores say about an assumption; `held` is None where they cannot tell."""

    assumption: registry.Assumption
    held: bool | None
    evidence: str


def verdict(assumption: registry.Assumption, sample: PairedSample, alpha: float = 0.05) -> Verdict:
    """Whether an assumption holds as far as scores can tell, by tests at the level `alpha`.

    Few pairs can contradict an assumption about a shape, but hardly speak for it.
    """
    n, g1, found = sample.n, skewness(sample.centred), UNKNOWN
    if assumption == registry.SYSTEMS:
        return _independent_systems(sample)
    if assumption == registry.VARIANCES:
        return _equal_variances(sample, alpha)
    if assumption == registry.LARGE:
        enough = n >= max(registry.MANY, PER_SQUARED_SKEWNESS * g1**2)
        return enough, f"{n} pairs, skewness {g1:.2f}"
    if assumption == registry.SYMMETRIC:
        found = abs(g1) < SYMMETRIC_BELOW, f"skewness {g1:.2f}"
    elif assumption in (registry.NORMAL, registry.NORMAL_SCORES):
        if sample.is_binary:
            return False, "scores are 0 and 1"
        of_scores = assumption == registry.NORMAL_SCORES
        found = _normal(alpha, *((sample.a, sample.b) if of_scores else (sample.centred,)))
    return None if found[0] and n < FEW else found[0], found[1]


def skewness(values: NDArray[np.float64]) -> float:
    """g1, biased as in ``scipy.stats.skew``; 0 if all values are equal, or fewer than three."""
    if values.size < 3 or np.ptp(values) == 0:
        return 0.0
    z = (values - values.mean()) / np.ptp(values)
    return float(np.mean(z**3) / np.mean(z**2) ** 1.5)


def shapiro(values: NDArray[np.float64]) -> tuple[float, float]:
    """W and p of the Shapiro-Wilk test; NaN if all values are equal, or fewer than three.

    SciPy's p is said to be accurate to 5 000 values; beyond, every 1/k-th of the sorted values is
    tested, which keeps the shape.
    """
    from scipy import stats

    if values.size < 3 or np.ptp(values) == 0:
        return nan, nan
    step = -(-values.size // 5000)
    found = stats.shapiro(np.sort(values / np.ptp(values))[step // 2 :: step])
    return float(found.statistic), float(found.pvalue)


def _normal(alpha: float, *columns: NDArray[np.float64]) -> Verdict:
    """Of the differences, or of both columns of scores."""
    p, n = [shapiro(x)[1] for x in columns], columns[0].size
    if not np.all(np.isfinite(p)):
        return None, "fewer than three, or all equal"
    text = f"Shapiro-Wilk p = {' and '.join(f'{x:.3g}' for x in p)}"
    off = abs(skewness(columns[0])) / (6 * sqrt(n))
    if len(p) == 1 and p[0] < alpha and n >= registry.MANY and off <= NEGLIGIBLE:
        text += f", which matters little with {n} pairs"
    return min(p) >= alpha, text


def _independent_systems(sample: PairedSample) -> Verdict:
    r, n = sample.correlation, sample.n
    if not isfinite(r):
        return None, "a system that always scores the same has no correlation"
    if abs(r) > 2 / sqrt(n):
        return False, f"r12 = {r:.3f}"
    return abs(r) <= UNCORRELATED or None, f"r12 = {r:.3f}, from {n} pairs"


def _equal_variances(sample: PairedSample, alpha: float) -> Verdict:
    """Brown and Forsythe's test, which is not misled by other shapes than the normal one."""
    from scipy import stats

    both = sample.a, sample.b
    text = "standard deviations {:.3g} and {:.3g}".format(*(spread(x - x.mean()) for x in both))
    if sample.n < 3:
        return None, text
    first, second = (np.abs(x - np.median(x)) for x in both)
    if np.ptp(first) == np.ptp(second) == 0:
        return bool(np.isclose(first[0], second[0])), text
    top = max(first.max(), second.max())
    p = float(stats.levene(*(x / top for x in both)).pvalue)
    return p >= alpha, f"{text}; Brown-Forsythe p = {p:.3g}"


# ---- answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer(AsJson):
    """One row of `compare_all`: a test, its result, and a check of its assumptions.

    There is a `problem` instead of a result where the test cannot be made of these data.
    """

    test: str
    result: AlternativeResult | None
    interval: ConfidenceInterval | None = None
    checks: tuple[Check, ...] = ()
    problem: str = ""

    @property
    def title(self) -> str:
        """What tables call the test."""
        return self.result.title if self.result else registry.TITLES[self.test]

    def rejects(self, alpha: float) -> bool | None:
        """Whether the test rejects its null hypothesis at the level `alpha`.

        None where it has no p, or bounds of p lie on either side of the level.
        """
        if self.result is None:
            return None
        least = self.result.pvalue
        if self.result.method == registry.UPPER_BOUND:
            least /= 1 + self.result.details["error_bound"]
        high, low = (bool(rejects(p, alpha)) for p in (self.result.pvalue, least))
        return high if high == low else None

    @property
    def held(self) -> bool | None:
        """False if an assumption is not met, True if none is, None if scores cannot tell."""
        known = [check.held for check in self.checks if check.held is not None]
        return all(known) if known else None

    @property
    def assumptions_text(self) -> str:
        """Which assumptions are not met, and by what evidence; or why there is no result."""
        if self.result is None:
            return self.problem
        texts = []
        for held, word in VERDICTS.items():
            found = [check for check in self.checks if check.held is held]
            names = [c.assumption.name + f" ({c.evidence})" * (held is False) for c in found]
            texts += [f"{word}: {', '.join(names)}"] * bool(names)
        if zeros := self.result.details.get("n_zero", 0):
            rest = "which are so many that the median is 0"
            rest = "the interval does not" if self.interval else rest
            texts.append(f"p leaves out {counted(zeros, 'differences')} of 0, {rest}")
        return "; ".join(texts)

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values; None for what there is not."""
        shown = "pvalue", "statistic", "estimate", "estimate_name", "method"
        found = {key: getattr(self.result, key, None) for key in shown}
        low, high = self.interval or (None, None)
        found |= {"low": low, "high": high, "held": self.held, "assumptions": self.assumptions_text}
        return {"test": self.test, "title": self.title, **plain(found)}


@dataclass(frozen=True, repr=False)
class AnswerTable(AsFields):
    """What `compare_all` returns: the answers of all tests to one question.

    Iterate over it for its rows, index it with the name of a test, print it, or let a notebook
    show it.

    Parameters
    ----------
    answers : tuple of Answer
        In the order of the table, the exact paired-permutation test first.
    names : tuple of two str
        The names of the two systems.
    n : int
        Number of pairs.
    alternative : str
    delta : float
        The difference under the null hypothesis.
    confidence_level : float
        Of the intervals.
    metric : str
        What is compared.
    correlation : float or None
        r12 of the two systems' scores; None for counts.
    inflation : float or None
        By how much the standard deviation of the difference is multiplied where independence of
        the two systems is assumed.

    Examples
    --------
    >>> from permtest import compare_all
    >>> answers = compare_all([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], tests=["exact", "sign", "paired_t"])
    >>> answers["exact"].result.pvalue, answers["sign"].result.pvalue
    (0.125, 0.125)
    >>> [answer.test for answer in answers if answer.result.pvalue <= 0.1]
    ['paired_t']
    """

    answers: tuple[Answer, ...]
    names: tuple[str, str]
    n: int
    alternative: str
    delta: float
    confidence_level: float
    metric: str
    correlation: float | None
    inflation: float | None

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, test: str) -> Answer:
        for answer in self.answers:
            if answer.test == test:
                return answer
        known = ", ".join(answer.test for answer in self.answers)
        raise KeyError(f"there is no test {test!r} here; there are {known}")

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values for each test."""
        return [answer.to_dict() for answer in self]

    def correlation_text(self) -> str:
        """What assuming independence would do (Yeh's point); empty for counts."""
        if self.correlation is None or self.inflation is None:
            return ""
        return (
            f"The scores of the two systems have correlation r12 = {self.correlation:.3f}; tests "
            f"that assume them independent multiply the standard deviation of their difference "
            f"by {self.inflation:.3g}."
        )

    def heading(self) -> str:
        """What is compared with what."""
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        against = f", against {self.delta:g}" if self.delta else ""
        return f"{' against '.join(self.names)}: {self.metric}, n = {self.n}{against}{side}"

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, names of columns first."""
        return [
            ("test", "p", f"{100 * self.confidence_level:.4g}% interval", "assumptions"),
            *(
                (
                    answer.title,
                    answer.result.pvalue_text() if answer.result else "-",
                    interval_text(answer.interval) if answer.interval else "-",
                    answer.assumptions_text,
                )
                for answer in self.answers
            ),
        ]

    def __str__(self) -> str:
        parts = self.heading(), aligned(self.cells()), self.correlation_text()
        return "\n\n".join(filter(None, parts))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header, *rows = self.cells()
        return together(grid(header, rows, self.heading()), said(self.correlation_text()))


def compare_all(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic = "mean",
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    tests: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    K: int = 10_000,
    rng: RNG = 0,
    names: Names = None,
) -> AnswerTable:
    """Run every applicable test on the same pairs and check the assumptions of each.

    Parameters
    ----------
    u, v : array_like of shape (N,), or tables of counts
        Scores of both systems, as `exact_perm_test` takes them; or one `Pairs`.
    statistic : str or Statistic, default "mean"
        "mean" compares single scores by all tests. The name of a measure of counts, such as "f1",
        compares that by the exact test and by Koehn's bootstrap, and by the tests of Yeh's sec. 2
        where the measure is a proportion. So are scores that are all 0 or 1.
    alternative, delta : as in `alternatives.paired_t`
        Tests that have no such threshold are left out unless `delta` is 0.
    tests : sequence of str, optional
        Names of the tests to make. Default: all that apply.
    confidence_level : float, default 0.95
    K : int, default 10_000
        Number of resamples of the bootstrap tests.
    rng : numpy.random.Generator, int or None, default 0
        For the bootstrap tests.
    names : tuple of two str, optional

    Returns
    -------
    AnswerTable
        One row for each test: p, interval, assumptions met or not. Tests that these data are unfit
        for, as their differences are all equal, say so.

    Notes
    -----
    No test is better because its p is smaller. Know which assumptions a test makes, and whether
    they hold, before you look at p. Cost: at most O(K N) for the bootstrap tests,
    O(N log N) for all others.

    Examples
    --------
    >>> import permtest as pt
    >>> table = pt.compare_all([1, 1, 1, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0, 0])
    >>> table["exact"].result.pvalue, table["mcnemar"].result.pvalue
    (0.0625, 0.0625)
    """
    check_alternative(alternative)
    check_level(confidence_level, "confidence_level")
    entry, size = lookup(statistic), resampling.check_resamples(K)
    jobs: dict[str, Job] = {}
    # A stream for each, so that no test depends on which others are made.
    streams = dict(zip(registry.TITLES, as_generator(rng).spawn(len(registry.TITLES)), strict=True))
    if entry.columns:
        if delta:
            raise ValueError(f"delta is for single scores, not for {entry.name!r}")
        pairs = u if isinstance(u, Pairs) and v is None else entry.pairs(u, v, names)
        sample, data = _hits(pairs), _counted(pairs, entry)
        again: dict[str, Any] = {"statistic": entry, "K": size, "rng": streams["paired_bootstrap"]}
        jobs["exact"] = partial(resampling.randomisation, pairs, entry, rng=streams["exact"])
        jobs["paired_bootstrap"] = partial(resampling.paired_bootstrap, pairs, **again)
    else:
        sample = PairedSample.of(u, v, delta, names, labels=("u", "v"))
        pairs = sample.pairs
        entry.check(pairs, pairs.low)
        data = _scored(sample, size)
    for name in registry.TITLES:
        takes, made = registry.TESTS[name].takes, registry.TESTS[name].single
        if made and takes in data:
            args, options = data[takes]
            drawn = {"rng": streams[name]} if takes == "resamples" else {}
            jobs[name] = partial(made, *args, **options, **drawn)
    chosen = _chosen(jobs, tests).items()
    answers = (
        _answer(name, partial(job, alternative=alternative), sample, pairs, confidence_level)
        for name, job in progress(chosen, total=len(chosen), what="tests")
    )
    single = None if pairs.columns else sample
    return AnswerTable(
        answers=tuple(answers),
        names=pairs.names,
        n=len(pairs),
        alternative=alternative,
        delta=float(delta),
        confidence_level=confidence_level,
        metric=entry.name,
        correlation=plain(single.correlation) if single else None,
        inflation=plain(single.inflation) if single else None,
    )


def _scored(sample: PairedSample, size: int) -> Data:
    """Single scores; and of those of 0 and 1, how many items are right."""
    pairs, of = sample.pairs, {"delta": sample.delta}
    data: Data = {"scores": ((pairs,), of), "resamples": ((pairs,), {**of, "K": size})}
    if not sample.is_binary or sample.delta:
        return data
    alone = (int(np.sum(side * sample.gaps > 0)) for side in (1, -1))
    data["discordant"] = tuple(alone), {"n": sample.n, "names": pairs.names}
    right = exact_sum(pairs.u), exact_sum(pairs.v)
    return data | _proportions([[x, sample.n - x] for x in right], pairs.names)


def _counted(pairs: Pairs, entry: Statistic) -> Data:
    """The items that precision and recall are proportions of, nothing for other measures."""
    among = {"precision": ("tp", "fp"), "recall": ("tp", "fn")}.get(entry.name, ("",))
    if pairs.u.ndim != 2 or not set(among) <= set(pairs.columns):
        return {}
    chosen = [pairs.columns.index(column) for column in among]
    table = [[exact_sum(x[:, i]) for i in chosen] for x in (pairs.u, pairs.v)]
    return _proportions(table, pairs.names)


def _proportions(table: list[list[int]], names: Names) -> Data:
    """A row for each system, the items that count first."""
    shares = tuple(number for x, y in table for number in (x, x + y))
    return {"shares": (shares, {"names": names}), "table": ((table,), {"names": names})}


def _hits(pairs: Pairs) -> PairedSample | None:
    """The first counts of both systems, such as tp: Yeh's r12 where a measure is made of them.

    Hits are possible on items that have something to be found: tp + fn is 1 or more.
    """
    if pairs.u.ndim != 2:
        return None
    u, v = pairs.u[:, 0], pairs.v[:, 0]
    if pairs.columns[0] == "tp" and "fn" in pairs.columns:
        missed = pairs.columns.index("fn")
        gold = (u + pairs.u[:, missed] > 0) | (v + pairs.v[:, missed] > 0)
        u, v = u[gold], v[gold]
    return PairedSample.of(u, v) if u.size > 1 else None


def _chosen(jobs: dict[str, Job], tests: Sequence[str] | None) -> dict[str, Job]:
    """The tests that are asked for, in that order."""
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    names = list(jobs if tests is None else tests)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"tests={names!r} must name at least one test, and none twice")
    for name in names:
        if name not in jobs:
            raise ValueError(f"tests: {name!r} does not apply here; choose among {', '.join(jobs)}")
    return {name: jobs[name] for name in names}


def _answer(
    name: str, job: Job, sample: PairedSample | None, pairs: Pairs, confidence_level: float
) -> Answer:
    """A row; of counts, only their numbers and the correlation of hits say something."""
    try:
        result = job()
    except (ValueError, ArithmeticError) as error:  # scores that are valid do not fit this test
        return Answer(name, None, problem=str(error))
    interval, checks = None, []
    with suppress(ValueError):  # there is none at this level
        interval = result.confidence_interval(confidence_level) if result.has_interval else None
        if interval and interval[0] == interval[1] and result.details.get("n_zero"):
            interval = None  # a median of 0, whatever p says of the other differences
    for assumption in result.assumptions:
        found = UNKNOWN
        if assumption == registry.COUNTS:
            least = result.details["least_expected"]
            found = least >= registry.ENOUGH, f"smallest expected count {least:.3g}"
        elif assumption == registry.SAMPLE:
            enough = result.n >= registry.REPRESENTATIVE_FROM
            found = enough, f"{'only ' * (not enough)}{result.n} pairs"
        elif sample and (not pairs.columns or assumption == registry.SYSTEMS):
            found = verdict(assumption, sample)
        checks.append(Check(assumption, *found))
    return Answer(name, result, interval, tuple(checks))
