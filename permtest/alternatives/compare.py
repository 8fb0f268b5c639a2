"""All tests that apply to the same pairs, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest._integers import exact_sum
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.assumptions import (
    INDEPENDENT_SYSTEMS,
    REPRESENTATIVE,
    REPRESENTATIVE_FROM,
    Assumption,
    Check,
    Diagnosis,
)
from permtest.alternatives.bootstraps import bootstrap
from permtest.alternatives.contests import paired_bootstrap
from permtest.alternatives.medians import permutation_median
from permtest.alternatives.names import TITLES
from permtest.alternatives.parametric import independent_t, normal_z, paired_t
from permtest.alternatives.permutations import permutation_mean, randomisation
from permtest.alternatives.ranks import wilcoxon
from permtest.alternatives.resamples import check_resamples
from permtest.alternatives.result import AlternativeResult, finite, interval_text
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.signs import sign
from permtest.alternatives.tables import (
    ENOUGH,
    LARGE_COUNTS,
    chi_squared,
    count,
    mcnemar,
    two_proportion_z,
)
from permtest.exact import exact_perm_test
from permtest.interval import ConfidenceInterval
from permtest.pairs import Pairs
from permtest.statistics import Alternative, CountStatistic, Statistic, check_alternative, lookup

if TYPE_CHECKING:
    import pandas as pd

#: A test of one's data, waiting to be made.
Job = Callable[[], AlternativeResult]


@dataclass(frozen=True)
class Answer:
    """One row of `compare_all`: a test, what it found, and whether it may be believed.

    Parameters
    ----------
    test : str
        Name of the test.
    result : AlternativeResult or None
        None where the test cannot be made of these data.
    interval : ConfidenceInterval or None
        For the estimate of the test.
    checks : tuple of Check
        Its assumptions, held against the data.
    seconds : float
        What the test and its interval took, compiled code being warm.
    problem : str
        Why there is no result.
    """

    test: str
    result: AlternativeResult | None
    interval: ConfidenceInterval | None
    checks: tuple[Check, ...]
    seconds: float
    problem: str = ""

    @property
    def title(self) -> str:
        """What tables call the test."""
        return self.result.title if self.result else TITLES[self.test]

    @property
    def held(self) -> bool | None:
        """False if an assumption is violated, True if none is that scores could tell of."""
        known = [check.held for check in self.checks if check.held is not None]
        return all(known) if known else None

    @property
    def assumptions_text(self) -> str:
        """Which assumptions are violated, and by what evidence."""
        if self.result is None:
            return self.problem
        bad = [f"{c.assumption.name} ({c.evidence})" for c in self.checks if c.held is False]
        groups = {"violated": bad}
        for held, word in ((True, "seems to hold"), (None, "cannot be seen")):
            groups[word] = [c.assumption.name for c in self.checks if c.held is held]
        texts = [f"{word}: {', '.join(of)}" for word, of in groups.items() if of]
        return "; ".join(texts + [self.note] * bool(self.note))

    @property
    def note(self) -> str:
        """Why p and interval may contradict each other, where they may."""
        zeros = self.result.details.get("n_zero", 0) if self.result else 0
        if not zeros:
            return ""
        return f"p leaves out {zeros} differences of 0, the interval does not"


@dataclass(frozen=True, repr=False)
class AnswerTable:
    """What `compare_all` returns: the answers of all tests to one question.

    Iterate over it for its rows, index it with the name of a test, print it, or let a notebook
    show it.

    Parameters
    ----------
    answers : tuple of Answer
        In the order of the table, the exact paired-permutation test first.
    names : tuple of two str
        What the systems are called.
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

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, test: str) -> Answer:
        for answer in self.answers:
            if answer.test == test:
                return answer
        known = ", ".join(answer.test for answer in self.answers)
        raise KeyError(f"there is no test {test!r} here; there are {known}")

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values a test, as in `to_frame`."""
        return [_row(answer) for answer in self.answers]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        facts = {
            key: finite(getattr(self, key))
            for key in ("n", "alternative", "delta", "confidence_level", "metric")
        }
        more = {key: finite(getattr(self, key)) for key in ("correlation", "inflation")}
        answers = [{k: finite(v) for k, v in row.items()} for row in self.rows()]
        return {"names": list(self.names), **facts, **more, "answers": answers}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row a test, indexed by the names of the tests."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'permtest[frames]'") from None
        return pd.DataFrame(self.rows()).set_index("test")

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
        return (
            f"{self.names[0]} against {self.names[1]}: {self.metric}, n = {self.n}{against}{side}"
        )

    def __str__(self) -> str:
        lines = [self._cells(answer) for answer in self.answers]
        header = ("test", "p", f"{100 * self.confidence_level:.4g}% interval", "ms", "assumptions")
        widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
        body = "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (header, *lines)
        )
        return "\n\n".join(part for part in (self.heading(), body, self.correlation_text()) if part)

    __repr__ = __str__

    def _cells(self, answer: Answer) -> tuple[str, ...]:
        p = answer.result.pvalue_text() if answer.result else "-"
        interval = interval_text(answer.interval) if answer.interval else "-"
        took = "-" if answer.result is None else _milliseconds(answer.seconds)
        return answer.title, p, interval, took, answer.assumptions_text

    def _repr_html_(self) -> str:
        header = ("test", "p", f"{100 * self.confidence_level:.4g}% interval", "ms", "assumptions")
        head = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in self._cells(answer))
            + "</tr>"
            for answer in self.answers
        )
        return (
            f"<div><table><caption style='text-align:left'>{escape(self.heading())}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(self.correlation_text())}</p></div>"
        )


def _milliseconds(seconds: float) -> str:
    ms = 1000 * seconds
    return f"{ms:,.0f}" if ms >= 10 else f"{ms:.1f}"


def _row(answer: Answer) -> dict[str, Any]:
    result, interval = answer.result, answer.interval
    return {
        "test": answer.test,
        "title": answer.title,
        "pvalue": result.pvalue if result else None,
        "statistic": result.statistic if result else None,
        "estimate": result.estimate if result else None,
        "estimate_name": result.estimate_name if result else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "held": answer.held,
        "assumptions": answer.assumptions_text,
        "method": result.method if result else None,
        "seconds": answer.seconds,
    }


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
        "greater": `u` is better.
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
        One row for each test: p, interval, assumptions held or violated, seconds. Tests that
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
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level}")
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
    table = [[x1, n - x1], [x2, n - x2]]
    o = {**options, "names": sample.names}
    jobs: dict[str, Job] = {
        "two_proportion_z": lambda: two_proportion_z(x1, n, x2, n, **o),
        "chi_squared": lambda: chi_squared(table, **o),
        "chi_squared_yates": lambda: chi_squared(table, correction=True, **o),
    }
    if not sample.is_binary:
        return jobs
    b, c = int(np.sum(sample.gaps > 0)), int(np.sum(sample.gaps < 0))
    paired = {**o, "n": sample.n}
    return {
        "mcnemar": lambda: mcnemar(b, c, **paired),
        "mcnemar_midp": lambda: mcnemar(b, c, method="midp", **paired),
        "mcnemar_chi2": lambda: mcnemar(b, c, method="chi2", **paired),
        **jobs,
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
                f"{label}[{i}] = {pairs.score(int(scores[i]))} is no number of correct items "
                f"among trials[{i}] = {sizes[i]}"
            )
    return sizes


def _of_counts(
    pairs: Pairs, entry: CountStatistic, options: dict[str, Any], sampled: dict[str, Any]
) -> dict[str, Job]:
    """The tests of a measure of counts."""
    again = {**sampled, "rng": sampled["rng"]["paired_bootstrap"]}
    jobs: dict[str, Job] = {
        "exact": lambda: randomisation(pairs, statistic=entry, **options),
        "paired_bootstrap": lambda: paired_bootstrap(pairs, statistic=entry, **again),
    }
    among = {"precision": ("tp", "fp"), "recall": ("tp", "fn")}.get(entry.name)
    if among is None or not set(among) <= set(pairs.columns) or pairs.u.ndim != 2:
        return jobs
    found, rest = (pairs.columns.index(column) for column in among)
    table = [[exact_sum(x[:, found]), exact_sum(x[:, rest])] for x in (pairs.u, pairs.v)]
    (x1, y1), (x2, y2) = table
    o = {**options, "names": pairs.names}
    return jobs | {
        "two_proportion_z": lambda: two_proportion_z(x1, x1 + y1, x2, x2 + y2, **o),
        "chi_squared": lambda: chi_squared(table, **o),
        "chi_squared_yates": lambda: chi_squared(table, correction=True, **o),
    }


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
    """The first counts of both systems, such as tp: Yeh's r12 where a measure is made of them."""
    if not isinstance(entry, CountStatistic) or pairs.u.ndim != 2 or len(pairs) < 2:
        return None
    return PairedSample.of(pairs.u[:, 0], pairs.v[:, 0])


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
