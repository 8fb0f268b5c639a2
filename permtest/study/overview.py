"""Everything about one comparison: the exact test first, then what surrounds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._integers import exact_sum
from permtest._rng import RNG, as_generator
from permtest.alternatives.compare import Answer, AnswerTable, compare_all
from permtest.alternatives.counts import score_interval
from permtest.alternatives.resampling import permutation_mean, permutation_measure
from permtest.alternatives.result import (
    OF_COUNTS,
    TITLES,
    PairedSample,
    as_threshold,
    check_magnitude,
    finite,
    rejects,
)
from permtest.exact import exact_perm_test
from permtest.interval import ConfidenceInterval
from permtest.measures import Bleu, Matthews, MeanOfRatios, Measure
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult
from permtest.statistics import Alternative, CountStatistic, Statistic, check_alternative, lookup
from permtest.study import sections
from permtest.study.document import (
    NAME,
    Document,
    Figure,
    Section,
    Table,
    how_many,
    legible,
    number,
    percent,
    span,
    strict,
)
from permtest.study.effects import EffectSize, effect_sizes
from permtest.study.plan import Outlook, outlook
from permtest.study.recommend import Recommendation, recommend

T = TypeVar("T")
Floats = NDArray[np.float64]

#: The most items that are listed.
MOST_ITEMS = 20

#: Tests that take long where more than `MANY` differences are distinct, as the interval of the
#: exact test does.
SLOW = ("permutation_median", "wilcoxon", "bootstrap_mean", "bootstrap_median", "paired_bootstrap")
MANY = 30_000

#: Resamples, and as many where more than so many distinct differences make them slow.
RESAMPLES, FEWER, CHEAP = 10_000, 1_000, 3_000

#: Measures of single items that differ by less are the same.
CLOSE = 1e-12


# ---- items -------------------------------------------------------------------------------------


class ItemDifference(NamedTuple):
    """An item, what both systems score on it (None for 0 / 0), and what that adds."""

    id: str
    a: float | None
    b: float | None
    difference: float


class Record(NamedTuple):
    """On how many items the first system scores higher, neither, the second one; by which rule."""

    wins: int
    ties: int
    losses: int
    rule: str


class ItemScores(NamedTuple):
    """Two systems item by item.

    Parameters
    ----------
    a, b : ndarray of shape (N,)
        What either system scores; NaN where a measure of counts is 0 / 0.
    worth : ndarray of shape (N,)
        By how much the first system is ahead on each item, on the scale on which their mean is the
        difference per item: ``a - b``. A measure of counts is no mean of items. There it is N / 2
        times what the difference would lose if the two systems' counts of the item were exchanged,
        and the mean is the difference but for terms of second order.
    lead : ndarray of shape (N,)
        1 where the first system scores higher, -1 where the second one does, else 0.
    rule : str
        What decides an item.
    """

    a: Floats
    b: Floats
    worth: Floats
    lead: NDArray[np.int8]
    rule: str


def item_scores(pairs: Pairs, entry: Statistic | CountStatistic) -> ItemScores:
    """Measure every item by itself."""
    if not isinstance(entry, CountStatistic):
        sample = PairedSample(pairs)
        lead = np.sign(sample.gaps).astype(np.int8)
        rule = "items are compared by their scores"
        return ItemScores(sample.a, sample.b, sample.differences, lead, rule)
    measure, *addends = entry.measure(pairs)
    first, second = (x.astype(np.float64) for x in addends)
    own = [np.where(_undefined(measure, x), np.nan, measure.values(x)) for x in (first, second)]
    totals = [np.array([exact_sum(column) for column in x.T], np.float64) for x in addends]
    moved = second - first
    swapped = measure.values(totals[0] + moved) - measure.values(totals[1] - moved)
    seen = measure.values(totals[0][None]) - measure.values(totals[1][None])
    differ = moved.any(axis=1)
    worth = np.where(differ, (seen - swapped) * len(pairs) / 2, 0.0)
    unknown = np.isnan(own[0]) | np.isnan(own[1])
    gap = np.where(unknown, worth / len(pairs), own[0] - own[1])
    lead = np.where(np.abs(gap) > CLOSE, np.sign(gap), 0).astype(np.int8)
    rule = f"items are compared by their own {entry.title}"
    if count := np.count_nonzero(unknown & differ):
        rule += (
            f"; where that is 0 / 0 ({count:,} of those that differ), by which system's "
            f"{entry.title} in all is lower once the counts of the item are exchanged"
        )
    return ItemScores(own[0], own[1], worth, lead, rule)


def _undefined(measure: Measure, addends: Floats) -> NDArray[np.bool_]:
    """Where a measure of one item is 0 / 0, or has no logarithm."""
    if isinstance(measure, MeanOfRatios):
        hits, rest = addends[:, 0::2], addends[:, 1::2]
        return np.asarray(((hits + rest if measure.whole else rest) == 0).any(axis=1))
    if isinstance(measure, Matthews):
        tp, fp, fn, tn = addends.T
        return np.asarray((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn) == 0)
    if isinstance(measure, Bleu):
        return np.asarray((addends[:, :4] == 0).any(axis=1))
    return np.zeros(len(addends), dtype=np.bool_)


# ---- the comparison ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Overview(Document):
    """What `overview` returns; every part of it is computed when it is first asked for.

    Parameters
    ----------
    pairs, statistic, alternative, alpha, seed, tests
        As in `overview`; names are made legible, and `seed` is a number.
    delta : float
        The difference under the null hypothesis, per item, or per cluster.
    K : int, optional
        Resamples of the bootstrap tests. Default: as many as take little time.
    target : float
        The power that another study is planned for.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.study import overview
    >>> overview(Pairs.of([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5], ("new", "old"))).record[:3]
    (4, 1, 1)
    """

    pairs: Pairs
    statistic: Statistic | CountStatistic
    alternative: Alternative
    alpha: float
    seed: int
    tests: tuple[str, ...] | None
    delta: float = field(default=0.0, kw_only=True)
    K: int | None = field(default=None, kw_only=True)
    target: float = field(default=0.8, kw_only=True)
    _notes: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        pairs = self.pairs
        if not pairs.columns:
            check_magnitude((pairs.u, pairs.v), pairs.scale, ("u", "v"))
        a, b = (legible(name, NAME) for name in pairs.names)
        names = (a, b) if a != b else (f"{a} (A)", f"{b} (B)")
        object.__setattr__(self, "pairs", replace(pairs, names=names))
        for test in self.tests or ():
            if test not in self.applicable:
                known = ", ".join(self.applicable)
                raise ValueError(f"tests: {test!r} does not apply here; choose among {known}")

    # ---- what is compared

    @property
    def names(self) -> tuple[str, str]:
        """What the systems are called here."""
        return self.pairs.names

    @property
    def title(self) -> str:
        """Both systems."""
        return f"{self.names[0]} against {self.names[1]}"

    @property
    def measured(self) -> str:
        """What sentences call the statistic."""
        entry = self.statistic
        if isinstance(entry, CountStatistic):
            return entry.title
        score = self.exact.score
        return f"mean {score.name}".rstrip() if entry.name == "mean" else score.unit or "points"

    @property
    def unit(self) -> str:
        """What is swapped: "items" or "clusters"."""
        return "items" if self.pairs.clusters is None else "clusters"

    @property
    def amount(self) -> str:
        """How many items there are, and in how many clusters."""
        items = how_many(len(self.pairs), "items")
        if self.unit == "items":
            return items
        return f"{items} in {how_many(len(self.units), 'clusters')}"

    @property
    def confidence_level(self) -> float:
        """Of all intervals: 1 - alpha, as decimals."""
        return round(1 - self.alpha, 12)

    @cached_property
    def units(self) -> Pairs:
        """What is swapped: the items, or the sums of clusters."""
        return self.pairs if self.pairs.clusters is None else self.pairs.by_cluster()

    @property
    def per_unit(self) -> float:
        """By what a mean over units is multiplied to be on the scale of the statistic."""
        if self.pairs.columns:
            return 1.0
        n = len(self.units)
        return n / len(self.pairs) if self.statistic.name == "mean" else float(n)

    # ---- the exact test

    @cached_property
    def exact(self) -> PermutationTestResult:
        """The exact paired-permutation test; where `delta` is not 0, of scores less that."""
        how: dict[str, Any] = {"statistic": self.statistic, "alternative": self.alternative}
        how |= {"rng": self._stream(0)}
        found: PermutationTestResult = exact_perm_test(raised(self.pairs, self.delta), **how)
        return found

    @property
    def scores(self) -> tuple[float, float]:
        """What both systems score."""
        assert self.exact.scores is not None, "a ready-made statistic has scores"
        return self.exact.scores[0], self.exact.scores[1] - self.delta * self.per_unit

    @property
    def difference(self) -> float:
        """By how much the first system scores higher."""
        return float(self.exact.statistic) + self.delta * self.per_unit

    @property
    def rejected(self) -> bool | None:
        """Whether the exact test rejects at `alpha`; None if bounds of p lie on both sides."""
        if bool(rejects(self.exact.pvalue, self.alpha)):
            return True
        bracketed = self.exact.method == "bracket"
        return None if bracketed and rejects(self.exact.pvalue_interval()[0], self.alpha) else False

    @cached_property
    def interval(self) -> ConfidenceInterval | None:
        """Of the difference; None where `problems` says why."""
        if self._of_shares is not None:
            ends = self._of_shares(self.confidence_level)
            low, high = (end * self.per_unit for end in ends)
            return ConfidenceInterval(low, high, self.confidence_level)
        answer = self._first[self._interval_test]
        if answer.interval is None:
            self._note("finding", answer.problem or "the test has no interval at this level")
            return None
        low, high = (end * self.per_unit for end in answer.interval)
        if low == -high == -inf:
            self._note("finding", f"there are too few {self.unit} to exclude any difference")
            return None
        rounded = answer.interval.resolution * self.per_unit
        warning = answer.interval.warning
        return ConfidenceInterval(low, high, self.confidence_level, rounded, warning)

    @property
    def interval_about(self) -> str:
        """Where the interval comes from."""
        if self._of_shares is not None:
            return "Tango's score interval for paired shares"
        found = self._first[self._interval_test].result
        if self.pairs.columns:
            return f"percentiles of {found.n_samples if found else 0:,} paired bootstrap resamples"
        title = found.title if found and found.test != "exact" else "exact test"
        return f"all shifts that the {title} does not reject"

    @cached_property
    def _of_shares(self) -> Callable[[float], tuple[float, float]] | None:
        return score_interval(self.pairs, self.alternative)

    # ---- items

    @cached_property
    def items(self) -> ItemScores:
        """Both systems item by item."""
        return item_scores(self.pairs, self.statistic)

    @property
    def record(self) -> Record:
        """On how many items either system is ahead."""
        lead = self.items.lead
        wins, losses = (int(np.count_nonzero(lead == side)) for side in (1, -1))
        return Record(wins, lead.size - wins - losses, losses, self.items.rule)

    @cached_property
    def most_different(self) -> tuple[ItemDifference, ...]:
        """The items on which the systems differ most."""
        items, ids = self.items, self.pairs.ids
        share = len(self.pairs) if self.pairs.columns else 1
        order = np.argsort(-np.abs(items.worth), kind="stable")[:MOST_ITEMS].tolist()
        return tuple(
            ItemDifference(
                f"item {i + 1}" if ids is None else ids[i],
                finite(float(items.a[i])),
                finite(float(items.b[i])),
                float(items.worth[i] / share),
            )
            for i in order
            if items.worth[i] != 0
        )

    # ---- around the test

    @property
    def applicable(self) -> tuple[str, ...]:
        """All tests that there are for such scores, or for such a measure."""
        if not self.units.columns:
            binary = PairedSample(self.units).is_binary and not self.delta
            return tuple(test for test in TITLES if binary or test not in OF_COUNTS)
        proportion = self.statistic.name in ("precision", "recall") and self.units.u.ndim == 2
        return ("exact", "paired_bootstrap", *(OF_COUNTS[-3:] if proportion else ()))

    @property
    def chosen(self) -> tuple[str, ...]:
        """The tests that were asked for."""
        return self.applicable if self.tests is None else self.tests

    @cached_property
    def answers(self) -> AnswerTable:
        """Other tests of the same units beside the exact one."""
        slow = SLOW if self._is_slow and self.tests is None else ()
        if slow:
            self._note(
                "answers",
                f"{', '.join(slow)} take long with more than {MANY:,} distinct differences; name "
                "them in overview(tests=...) to have them made",
            )
        order = ["exact", *(test for test in self.chosen if test not in ("exact", *slow))]
        found = dict(self._first)
        if self._is_slow:  # without its interval
            made = permutation_mean(self.units, alternative=self.alternative, delta=self.delta)
            found["exact"] = Answer("exact", made)
        elif self.exact.n_samples is not None:  # with the same random labellings
            how: dict[str, Any] = {"alternative": self.alternative, "rng": self._stream(0)}
            drawn = permutation_measure(self.units, self.statistic, **how)
            found["exact"] = Answer("exact", drawn)
        missing = [test for test in order if test not in found]
        table = self._compared(missing or [self._interval_test])
        found |= {answer.test: answer for answer in table}
        return replace(table, answers=tuple(found[test] for test in order))

    def decisions(self) -> dict[str, bool | None]:
        """Test -> whether it rejects at `alpha`; None without p, or if its bounds do not tell."""
        return {answer.test: answer.rejects(self.alpha) for answer in self.answers}

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """Which tests suit single scores like these; None for counts, and where it takes long."""
        if self.pairs.columns or self._is_slow:
            return None
        return recommend(self.units, alpha=self.alpha)

    @cached_property
    def effects(self) -> tuple[EffectSize, ...]:
        """How large the difference is, on scales that do not depend on the number of units."""
        found = () if self.pairs.columns else effect_sizes(self.units)
        if not found:
            why = "all differences are equal, or there are too few"
            if self.pairs.columns:
                why = "standardised effect sizes are for single scores; the difference in "
                why += f"{self.measured} is a size of the effect itself"
            self._note("effects", why)
        return found

    @cached_property
    def power(self) -> Outlook | None:
        """Power of such a test, and the size of another study; None where `problems` says why."""
        clustered = self.pairs.clusters is not None
        items = item_scores(self.units, self.statistic) if clustered else self.items
        how: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        how |= {"limit": self._widest(), "target": self.target, "unit": self.unit}
        found = self._tried("power", lambda: outlook(items.worth - self.delta, **how))
        if found is not None and found.problem:
            self._note("power", found.problem)
        return found

    # ---- what it says

    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and the name of the test."""
        (a, b), (x, y) = self.names, map(self.score_text, self.scores)
        interval = ""
        if self.interval is not None:
            level = f" ({percent(self.confidence_level)} interval"
            interval = f"{level} {span(self.interval)}, {self.interval_about})"
        side = self.exact.score.claim(self.alternative, (a, b))
        side = f", against the alternative that {side}" * (self.alternative != "two-sided")
        what = "; ".join(filter(None, (self.measured, self.exact.score.note)))
        finding = f"{a} scores {x} and {b} {y} ({what}), a difference of {self.difference_text}"
        if self.difference and not self.exact.score.higher_is_better:
            way = "better" if self.difference < 0 else "worse"
            by = self.difference_text.lstrip("+-")
            first, *notes = what.split("; ")
            scores = "; ".join([f"{first} {x} against {y}", *notes])
            finding = f"{a} is {by} {way} than {b} ({scores}), a difference of "
            finding += self.difference_text
        return (
            f"On {self.amount}, {finding}{interval}; the {self.test_text} {self.verdict()} "
            f"({self.p_text}{side}"
            f"; permtest {sections.computed_with()['permtest']})."
        )

    def verdict(self) -> str:
        """What the exact test says of the null hypothesis."""
        ahead, each = number(self.delta), f" per {self.unit[:-1]}" * (self.unit != "items")
        null = (
            f"that {self.names[0]} is ahead by {ahead}{each}" if self.delta else "of equal systems"
        )
        found = {True: "rejects", False: "finds no evidence against", None: "does not decide on"}
        return f"{found[self.rejected]} the hypothesis {null} at the level {number(self.alpha)}"

    def citation(self, style: str = "text") -> str:
        """What to cite, the method and the software: as "text", or as "bibtex"."""
        return sections.citation(style)

    def score_text(self, value: float | None) -> str:
        """What a system scores: whole sums as they are, ratios and means with four digits."""
        if value is None:
            return "0 / 0"
        if self.pairs.columns:
            return f"{value:.4f}"
        return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else number(value)

    @property
    def difference_text(self) -> str:
        """The difference, with its sign."""
        size = abs(self.difference)
        text = number(size) if self.pairs.columns else self.score_text(size)
        return f"{'+' * (self.difference > 0) + '-' * (self.difference < 0)}{text}"

    @property
    def p_text(self) -> str:
        """p with its relation; two bounds where only those are known."""
        exact = self.exact
        if exact.method == "bracket":
            return f"p {exact.bracket_text()}"
        return f"p {'=' if exact.n_samples is None else 'is about'} {exact.pvalue_text()}"

    @property
    def test_text(self) -> str:
        """The test as a paper names it."""
        n = self.exact.n_samples
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        drawn = "" if n is None else f" with {n:,} random labellings"
        swapped = " that swaps whole clusters" if self.unit == "clusters" else ""
        return f"{'exact ' * (n is None)}{sides} paired-permutation test{drawn}{swapped}"

    @property
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """The sections of a comparison."""
        spans = self.pairs.u.ndim == 2 and self.pairs.columns[:3] == ("tp", "fp", "fn")
        keys = [
            "finding",
            "exact_test",
            "items",
            "answers",
            *["measures"] * spans,
            "effects",
            "power",
        ]
        found = {key: partial(getattr(sections, key), self) for key in (*keys, "data", "cite")}
        return {key.removeprefix("exact_"): make for key, make in found.items()}

    @property
    def picture(self) -> Figure:
        """Scores and differences above the null distribution."""
        return Figure("plot_comparison", (self,), sections.ESTIMATION)

    @property
    def paper_tables(self) -> tuple[Table, ...]:
        """Both systems; the difference with its interval and p."""
        exact = self.exact
        caption = f"{self.title} on {self.amount}, by the {self.test_text}."
        head = ("System", self.measured[0].upper() + self.measured[1:])
        systems = zip(self.names, map(self.score_text, self.scores), strict=True)
        rest = [("Difference", self.difference_text)]
        if self.interval is not None:
            rest.append((f"{percent(self.confidence_level)} interval", span(self.interval)))
        kind = "Sampled" if exact.n_samples is not None else "Exact"
        p = exact.bracket_text() if exact.method == "bracket" else exact.pvalue_text()
        rest += [(f"{kind} p, {self.alternative}", p), (self.unit.capitalize(), f"{exact.n:,}")]
        return Table(head, tuple(systems), caption), Table(head, tuple(rest))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        plain = ("names", "alternative", "alpha", "seed", "unit", "confidence_level")
        facts = {name: strict(getattr(self, name)) for name in plain}
        facts |= {"n_items": len(self.pairs), "n_units": len(self.units)}
        return facts | super().to_dict() | {"versions": sections.computed_with("numpy", "python")}

    # ---- helpers

    def _note(self, key: str, why: str) -> None:
        """One more reason why a section lacks something."""
        self._notes[key] = f"{self._notes[key]}; {why}" if key in self._notes else why

    def _tried(self, key: str, job: Callable[[], T]) -> T | None:
        """What `job` returns; None, and a note, where the data are unfit for it."""
        try:
            return job()
        except ValueError as error:
            self._note(key, str(error))
            return None

    def problem(self, key: str) -> str:
        """That a section lacks something, and why, as far as it was computed."""
        why = self._notes.get(key)
        return f"Not everything could be computed: {why}." if why else ""

    def _widest(self) -> float:
        """The largest difference that there can be, of a measure or of the sum of a unit."""
        pairs, entry = self.pairs, self.statistic
        if isinstance(entry, CountStatistic):
            measure = entry.measure(pairs)[0]
            if isinstance(measure, MeanOfRatios) and not measure.whole:
                return inf
            return 2.0 if isinstance(measure, Matthews) else 1.0
        low, high = min(pairs.u.min(), pairs.v.min()), max(pairs.u.max(), pairs.v.max())
        return len(pairs) / len(self.units) if low >= 0 and high <= pairs.scale else inf

    @cached_property
    def _is_slow(self) -> bool:
        """Whether single scores have more than `MANY` distinct differences."""
        return not self.pairs.columns and self._distinct > MANY

    @cached_property
    def _distinct(self) -> int:
        """How many different units there are, on which the time of most tests depends."""
        if not self.units.columns:
            return int(np.unique(PairedSample(self.units).differences).size)
        both = [x.reshape(len(x), -1).astype(np.float64) for x in (self.units.u, self.units.v)]
        return len(np.unique(np.concatenate(both, axis=1), axis=0))

    @property
    def _interval_test(self) -> str:
        """The test whose interval is shown."""
        if self.pairs.columns:
            return "paired_bootstrap"
        return "paired_t" if self._is_slow else "exact"

    @cached_property
    def _first(self) -> dict[str, Answer]:
        """The test whose interval is shown."""
        return {answer.test: answer for answer in self._compared([self._interval_test])}

    def _compared(self, tests: list[str]) -> AnswerTable:
        """Some rows of the table of tests, which are the same whichever others are made."""
        return compare_all(
            self.units,
            statistic=self.statistic if self.units.columns else "mean",
            alternative=self.alternative,
            delta=self.delta,
            tests=tests,
            confidence_level=self.confidence_level,
            K=self.K or (RESAMPLES if self._distinct <= CHEAP else FEWER),
            rng=self._stream(1),
        )

    def _stream(self, index: int) -> np.random.Generator:
        """Random numbers that nothing else draws."""
        return np.random.default_rng([self.seed, index])


def raised(pairs: Pairs, delta: float) -> Pairs:
    """`delta` added to each of the second system's scores, or to one in each cluster, exactly."""
    if delta == 0:
        return pairs
    exact, (a, b) = as_threshold(delta), pairs.names
    part, shift = exact.denominator, exact.numerator * pairs.scale
    u, v = (x.astype(object) * part for x in (pairs.u, pairs.v))
    if pairs.clusters is None:
        v += shift
    else:
        v[np.unique(pairs.clusters, return_index=True)[1]] += shift
    names = (a, f"{b} {'-' if delta < 0 else '+'} {abs(delta):g}")
    return replace(pairs, u=u, v=v, names=names, source={}, scale=pairs.scale * part)


def overview(
    pairs: Pairs,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    rng: RNG = 0,
    tests: Sequence[str] | None = None,
) -> Overview:
    """Compare two systems, and find what there is to say about it.

    Parameters
    ----------
    pairs : Pairs
        Scores, or counts such as tp, fp and fn. If they have clusters, whole clusters are swapped,
        and other tests compare their sums.
    statistic : str, or what `statistic` returns, default "mean"
        One of `STATISTICS`.
    alternative : {"two-sided", "greater", "less"}
        "greater": the first system scores higher, which for error rates is worse.
    alpha : float, default 0.05
        Level of the tests; intervals have a confidence of ``1 - alpha``.
    rng : numpy.random.Generator, int or None, default 0
        For the bootstrap tests, and where an exact p is out of reach.
    tests : sequence of str, optional
        Other tests, by their names in `compare_all`. Default: all that apply and are quick.

    Returns
    -------
    Overview
        Its `exact` test has been made; the rest is computed when it is first asked for. A part
        that the data are unfit for is None or empty, and `problems` says why.

    Raises
    ------
    TypeError, ValueError
        If `pairs` is empty or does not fit the statistic, or an option is unknown.

    Notes
    -----
    Cost of all parts: about a second for thousands of items, some seconds for 200 000.

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.study import overview
    >>> pairs = pt.Pairs.of([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], ("new", "old"))
    >>> found = overview(pairs)
    >>> found.exact.pvalue, found.difference, found.rejected
    (0.0625, 1.5, False)
    >>> found.most_different[0]
    ItemDifference(id='item 6', a=9.0, b=5.0, difference=4.0)
    """
    if not isinstance(pairs, Pairs):
        raise TypeError(
            f"pairs must be Pairs, not {type(pairs).__name__}; permtest.read(...) makes them of "
            "files, Pairs.of(a, b) of two columns"
        )
    if len(pairs) == 0:
        raise ValueError("pairs is empty: there is nothing to compare")
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    chosen = None if tests is None else tuple(dict.fromkeys(tests))
    generator = as_generator(rng)
    seed = int(rng if isinstance(rng, int | np.integer) else generator.integers(2**63))
    check_alternative(alternative)
    found = Overview(pairs, lookup(statistic), alternative, check_level(alpha), seed, chosen)
    _ = found.exact
    return found
