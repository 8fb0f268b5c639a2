"""All tests that apply to the same pairs, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np

from permtest._checks import check_level, count
from permtest._integers import exact_sum
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.answers import Answer, AnswerTable
from permtest.alternatives.assumptions import (
    INDEPENDENT_SYSTEMS,
    REPRESENTATIVE,
    REPRESENTATIVE_FROM,
    Assumption,
    Check,
    Diagnosis,
)
from permtest.alternatives.bootstraps import bootstrap
from permtest.alternatives.counts import ENOUGH, LARGE_COUNTS
from permtest.alternatives.discordant import mcnemar
from permtest.alternatives.koehn import paired_bootstrap
from permtest.alternatives.medians import permutation_median
from permtest.alternatives.names import TITLES
from permtest.alternatives.parametric import independent_t, normal_z, paired_t
from permtest.alternatives.permutations import permutation_mean, randomisation
from permtest.alternatives.proportions import chi_squared, two_proportion_z
from permtest.alternatives.ranks import wilcoxon
from permtest.alternatives.resamples import check_resamples
from permtest.alternatives.result import AlternativeResult, finite
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.signs import sign
from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.statistics import Alternative, CountStatistic, Statistic, check_alternative, lookup

#: A test of one's data, waiting to be made.
Job = Callable[[], AlternativeResult]


def compare_all(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
    alternative: Alternative = "two-sided",
    delta: float = 0.0,
    trials: Any = None,
    tests: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    K: int = 10_000,
    rng: RNG = 0,
    names: tuple[str, str] | None = None,
) -> AnswerTable:
    """Make every test that applies to the same pairs, and say which may be believed.

    Parameters
    ----------
    u, v : array_like of shape (N,), or tables of counts
        Scores of both systems, as `exact_perm_test` takes them; or one `Pairs`.
    statistic : str, or what `statistic` returns, default "mean"
        "mean" compares single scores by all tests. The name of a measure of counts, such as "f1",
        compares that by the exact test and by Koehn's bootstrap, and by the tests of Yeh's sec. 2
        where the measure is a proportion.
    alternative : {"two-sided", "greater", "less"}
        "greater": `u` scores higher.
    delta : float, default 0.0
        The difference per pair under the null hypothesis; tests that have no such threshold are
        left out unless it is 0.
    trials : array_like of shape (N,), optional
        How many items each score counts the correct ones of, such as tokens in a sentence. With
        it, and for scores that are all 0 or 1 without it, the tests of proportions apply.
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
        One row for each test: p, interval, assumptions met or not, seconds. Tests that
        these data are unfit for, as their differences are all equal, say so.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, or an option is unknown.

    Notes
    -----
    No test is better because its p is smaller. Which assumptions a test makes, and whether they
    are met, is to be known before p is. Cost: the bootstrap tests take O(K N) at most, all others
    O(N log N).

    Examples
    --------
    >>> import permtest as pt
    >>> table = pt.compare_all([1, 1, 1, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0, 0])
    >>> table["exact"].result.pvalue, table["mcnemar"].result.pvalue
    (0.0625, 0.0625)
    """
    check_alternative(alternative)
    check_level(confidence_level, "confidence_level")
    entry, size = lookup(statistic), check_resamples(K)
    # A stream for each, so that no test depends on which others are made.
    streams = dict(zip(TITLES, as_generator(rng).spawn(len(TITLES)), strict=True))
    options: dict[str, Any] = {"alternative": alternative}
    sampled = {**options, "K": size, "rng": streams}
    sample: PairedSample | None = None
    if isinstance(entry, CountStatistic):
        if delta or trials is not None:
            raise ValueError(f"delta and trials are for single scores, not for {entry.name!r}")
        pairs = u if isinstance(u, Pairs) and v is None else entry.pairs(u, v, names)
        jobs = _of_counts(pairs, entry, options, sampled)
    else:
        sample = PairedSample.of(u, v, delta, names, labels=("u", "v"))
        pairs = sample.pairs
        entry.check(pairs, min(int(pairs.u.min()), int(pairs.v.min())))
        jobs = _of_scores(sample, options, sampled)
        jobs |= {} if delta else _of_trials(sample, trials, options)
    both = None if sample is not None else _correlation(pairs, entry)
    answers = _make(_chosen(jobs, tests), sample, confidence_level, both)
    return AnswerTable(
        answers=tuple(answers),
        names=pairs.names,
        n=len(pairs),
        alternative=alternative,
        delta=float(delta),
        confidence_level=confidence_level,
        metric=entry.name,
        correlation=finite(sample.correlation) if sample else None,
        inflation=finite(sample.inflation) if sample else None,
    )


def _of_scores(
    sample: PairedSample, options: dict[str, Any], sampled: dict[str, Any]
) -> dict[str, Job]:
    """The tests of single scores."""
    pairs, delta = sample.pairs, sample.delta
    o = {**options, "delta": delta}

    def s(test: str) -> dict[str, Any]:
        return {**sampled, "rng": sampled["rng"][test], "delta": delta}

    two = {**o, "names": pairs.names}
    return {
        "exact": lambda: permutation_mean(pairs, **o),
        "permutation_median": lambda: permutation_median(pairs, **o),
        "paired_t": lambda: paired_t(pairs, **o),
        "normal_z": lambda: normal_z(pairs, **o),
        "wilcoxon": lambda: wilcoxon(pairs, **o),
        "sign": lambda: sign(pairs, **o),
        "bootstrap_mean": lambda: bootstrap(pairs, **s("bootstrap_mean")),
        "bootstrap_median": lambda: bootstrap(pairs, statistic="median", **s("bootstrap_median")),
        "paired_bootstrap": lambda: paired_bootstrap(
            pairs, statistic="mean", **s("paired_bootstrap")
        ),
        "independent_t": lambda: independent_t(sample.a, sample.b, **two),
        "independent_z": lambda: normal_z(pairs, correlation=0.0, **o),
    }


def _of_trials(sample: PairedSample, trials: Any, options: dict[str, Any]) -> dict[str, Job]:
    """The tests of proportions, where scores count correct ones among known numbers of items."""
    if trials is None and not sample.is_binary:
        return {}
    sizes = _check_trials(sample, trials)
    n = exact_sum(sizes)
    x1, x2 = exact_sum(sample.pairs.u), exact_sum(sample.pairs.v)
    jobs = _of_proportions([[x1, n - x1], [x2, n - x2]], sample.names, options)
    if not sample.is_binary:
        return jobs
    b, c = int(np.sum(sample.gaps > 0)), int(np.sum(sample.gaps < 0))
    paired = {**options, "names": sample.names, "n": sample.n}
    return {
        "mcnemar": lambda: mcnemar(b, c, **paired),
        "mcnemar_midp": lambda: mcnemar(b, c, method="midp", **paired),
        "mcnemar_chi2": lambda: mcnemar(b, c, method="chi2", **paired),
        **jobs,
    }


def _of_proportions(
    table: list[list[int]], names: tuple[str, str], options: dict[str, Any]
) -> dict[str, Job]:
    """The tests of two proportions: a row for each system, the items that count first."""
    (x1, y1), (x2, y2) = table
    o = {**options, "names": names}
    return {
        "two_proportion_z": lambda: two_proportion_z(x1, x1 + y1, x2, x2 + y2, **o),
        "chi_squared": lambda: chi_squared(table, **o),
        "chi_squared_yates": lambda: chi_squared(table, correction=True, **o),
    }


def _check_trials(sample: PairedSample, trials: Any) -> np.ndarray[Any, Any]:
    """How many items each score is of; 1 for scores that are 0 or 1."""
    if trials is None:
        return np.ones(sample.n, dtype=np.int64)
    if isinstance(trials, str) or not hasattr(trials, "__iter__"):
        raise TypeError(f"trials={trials!r} must have one number of items for each pair")
    sizes = np.array([count(x, f"trials[{i}]") for i, x in enumerate(trials)], dtype=object)
    if sizes.size != sample.n:
        raise ValueError(f"trials has {sizes.size} entries, but there are {sample.n} pairs")
    pairs = sample.pairs
    for label, scores in (("u", pairs.u), ("v", pairs.v)):
        for i in np.flatnonzero((scores < 0) | (scores % pairs.scale != 0) | (scores > sizes))[:1]:
            raise ValueError(
                f"{label}[{i}] = {pairs.in_scores(int(scores[i]))} is no number of correct items "
                f"among trials[{i}] = {sizes[i]}"
            )
    return sizes


def _of_counts(
    pairs: Pairs, entry: CountStatistic, options: dict[str, Any], sampled: dict[str, Any]
) -> dict[str, Job]:
    """The tests of a measure of counts."""
    streams = sampled["rng"]
    again = {**sampled, "rng": streams["paired_bootstrap"]}
    one = {**options, "rng": streams["exact"]}
    jobs: dict[str, Job] = {
        "exact": lambda: randomisation(pairs, statistic=entry, **one),
        "paired_bootstrap": lambda: paired_bootstrap(pairs, statistic=entry, **again),
    }
    among = {"precision": ("tp", "fp"), "recall": ("tp", "fn")}.get(entry.name)
    if among is None or not set(among) <= set(pairs.columns) or pairs.u.ndim != 2:
        return jobs
    found, rest = (pairs.columns.index(column) for column in among)
    table = [[exact_sum(x[:, found]), exact_sum(x[:, rest])] for x in (pairs.u, pairs.v)]
    return jobs | _of_proportions(table, pairs.names, options)


def _chosen(jobs: dict[str, Job], tests: Sequence[str] | None) -> dict[str, Job]:
    if tests is None:
        return jobs
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    if not tests or len(set(tests)) < len(tests):
        raise ValueError(f"tests={list(tests)!r} must name at least one test, and none twice")
    for name in tests:
        if name not in jobs:
            raise ValueError(f"tests: {name!r} does not apply here; choose among {', '.join(jobs)}")
    return {name: jobs[name] for name in tests}


def _make(
    jobs: dict[str, Job],
    sample: PairedSample | None,
    confidence_level: float,
    counts: PairedSample | None,
) -> Iterator[Answer]:
    """The rows, one after the other."""
    import scipy.stats  # noqa: F401  (loading libraries and compiled code is not timed)

    exact_perm_test([1, 2, 3], [0, 0, 1], method="tilted").confidence_interval()
    if sample is None:
        tiny = [[3, 0, 0], [2, 1, 0], [0, 1, 1]]
        exact_perm_test(tiny, tiny[::-1], statistic="f1", method="tilted")
    found = None if sample is None else Diagnosis(sample)
    hits = None if counts is None else Diagnosis(counts)
    for name, job in progress(jobs.items(), total=len(jobs), what="tests"):
        yield _answer(name, job, found, confidence_level, hits)


def _answer(
    name: str,
    job: Job,
    found: Diagnosis | None,
    confidence_level: float,
    hits: Diagnosis | None,
) -> Answer:
    start = perf_counter()
    try:
        result = job()
    except (ValueError, ArithmeticError) as error:  # scores that are valid do not fit this test
        return Answer(name, None, None, (), perf_counter() - start, str(error))
    interval = None
    with suppress(ValueError):  # there is none at this level
        interval = result.confidence_interval(confidence_level) if result.has_interval else None
    seconds = perf_counter() - start
    return Answer(name, result, interval, _checks(result, found, hits), seconds)


def _correlation(pairs: Pairs, entry: Statistic | CountStatistic) -> PairedSample | None:
    """The first counts of both systems, such as tp: Yeh's r12 where a measure is made of them.

    Hits are possible on items that have something to be found: tp + fn is 1 or more.
    """
    if not isinstance(entry, CountStatistic) or pairs.u.ndim != 2:
        return None
    u, v = pairs.u[:, 0], pairs.v[:, 0]
    if pairs.columns[0] == "tp" and "fn" in pairs.columns:
        missed = pairs.columns.index("fn")
        gold = (u + pairs.u[:, missed] > 0) | (v + pairs.v[:, missed] > 0)
        u, v = u[gold], v[gold]
    return PairedSample.of(u, v) if u.size > 1 else None


def _checks(
    result: AlternativeResult, found: Diagnosis | None, hits: Diagnosis | None
) -> tuple[Check, ...]:
    return tuple(_check(assumption, result, found, hits) for assumption in result.assumptions)


def _check(
    assumption: Assumption,
    result: AlternativeResult,
    found: Diagnosis | None,
    hits: Diagnosis | None,
) -> Check:
    """Of single scores all that a `Diagnosis` can tell; of counts what their numbers can."""
    if assumption == LARGE_COUNTS and "least_expected" in result.details:
        least = result.details["least_expected"]
        return Check(assumption, least >= ENOUGH, f"smallest expected count {least:.3g}")
    if found is not None:
        return found.check(assumption)
    if assumption == INDEPENDENT_SYSTEMS and hits is not None:
        return hits.check(assumption)
    if assumption == REPRESENTATIVE:
        return Check(assumption, result.n >= REPRESENTATIVE_FROM, f"{result.n} pairs")
    return Check(assumption, None, "scores alone cannot tell")
