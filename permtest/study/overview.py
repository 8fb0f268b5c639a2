"""Everything about one comparison: the exact test first, then what surrounds it.

`overview` compares items as they are; `run_study` follows a configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._parallel import RNG, as_generator
from permtest._text import plain
from permtest.alternatives import Answer, AnswerTable, applicable, compare_all
from permtest.alternatives.registry import (
    MEAN,
    as_floats,
    as_threshold,
    check_size,
    rejects,
    scores_of,
)
from permtest.exact import exact_perm_test
from permtest.integers import exact_sum
from permtest.interval import ConfidenceInterval
from permtest.pairs import Pairs, per_item
from permtest.result import PermutationTestResult
from permtest.statistics import Alternative, MeanOfRatios, Statistic, check_alternative, lookup
from permtest.study import document as doc
from permtest.study import sections
from permtest.study.config import StudyConfig
from permtest.study.describe import (
    Description,
    EvaluationUnits,
    UnitSizes,
    describe,
    evaluation_units,
    unit_sizes,
)
from permtest.study.document import Document, Figure, Section, Table, number, percent
from permtest.study.effects import EffectSize, effect_sizes
from permtest.study.plan import Outlook, observed_effect, outlook, units_at
from permtest.study.power import PowerCurve, power_curve
from permtest.study.recommend import Recommendation, recommend

T = TypeVar("T")
Floats = NDArray[np.float64]

#: The most items that are listed.
MOST_ITEMS = 20

#: Tests that take long where more than `MANY` differences are distinct, as the interval of the
#: exact test does.
SLOW = ("permutation_median", "wilcoxon", "bootstrap_mean", "bootstrap_median", "paired_bootstrap")
MANY = 30_000

#: Tests of ranks and medians.
OF_ORDER = ("permutation_median", "wilcoxon", "bootstrap_median")

#: Resamples, and as many of more units than are quickly resampled.
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
    """Two systems item by item: their scores (NaN for 0 / 0), and 1, 0 or -1 for who leads."""

    a: Floats
    b: Floats
    worth: Floats
    lead: NDArray[np.int8]
    rule: str


def item_scores(pairs: Pairs, entry: Statistic) -> ItemScores:
    """Measure every item by itself; the mean of `worth` is the difference per item."""
    what = "run" if pairs.runs_each else "item"
    if not entry.columns:
        gaps = pairs.differences()
        lead = np.sign(gaps).astype(np.int8)
        rule = f"{what}s are compared by their scores"
        columns = (as_floats(x, pairs.scale) for x in (pairs.u, pairs.v, gaps))
        return ItemScores(*columns, lead, rule)
    measure, *addends = entry.measure(pairs)
    first, second = (x.astype(np.float64) for x in addends)
    own = [np.where(_undefined(measure, x), np.nan, measure.values(x)) for x in (first, second)]
    totals = [np.array([exact_sum(column) for column in x.T], np.float64) for x in addends]
    # A measure of counts is no mean of items: an item is worth N / 2 times what the difference
    # loses if the systems' counts of it are exchanged, which is right but for second-order terms.
    moved = second - first
    swapped = measure.values(totals[0] + moved) - measure.values(totals[1] - moved)
    seen = measure.values(totals[0][None]) - measure.values(totals[1][None])
    differ = moved.any(axis=1)
    worth = np.where(differ, (seen - swapped) * len(pairs) / 2, 0.0)
    unknown = np.isnan(own[0]) | np.isnan(own[1])
    gap = np.where(unknown, worth / len(pairs), own[0] - own[1])
    lead = np.where(np.abs(gap) > CLOSE, np.sign(gap), 0).astype(np.int8)
    rule = f"{what}s are compared by their own {entry.title}"
    if count := np.count_nonzero(unknown & differ):
        rule += (
            f"; where that is 0 / 0 ({count:,} of those that differ), by which system's overall "
            f"{entry.title} falls if the counts of the {what} are exchanged"
        )
    return ItemScores(own[0], own[1], worth, lead, rule)


def _undefined(measure: MeanOfRatios, addends: Floats) -> NDArray[np.bool_]:
    """Where a measure of one item is 0 / 0."""
    hits, rest = addends[:, 0::2], addends[:, 1::2]
    return np.asarray(((hits + rest if measure.whole else rest) == 0).any(axis=1))


# ---- the comparison ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Overview(Document):
    """What `overview` or `run_study` returns; it computes each part when you first ask for it.

    Parameters
    ----------
    pairs, statistic, alternative, alpha, seed, tests
        As in `overview`; names are made legible, and `seed` is a number. In a study, the pairs are
        those of the units.
    delta : float
        The difference per item under the null hypothesis.
    K : int, optional
        Resamples of the bootstrap tests. Default: as many as take little time.
    target : float
        The power that another study is planned for.
    config : StudyConfig, optional
        What a study was asked for.
    made : EvaluationUnits, optional
        What a study compares: items, several of them, or whole clusters; None for counts.
    items_read : Pairs, optional
        The scores of the items of a study.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.study import overview
    >>> overview(Pairs.of([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5], ("new", "old"))).record[:3]
    (4, 1, 1)
    """

    pairs: Pairs
    statistic: Statistic
    alternative: Alternative
    alpha: float
    seed: int
    tests: tuple[str, ...] | None
    delta: float = field(default=0.0, kw_only=True)
    K: int | None = field(default=None, kw_only=True)
    target: float = field(default=0.8, kw_only=True)
    config: StudyConfig | None = field(default=None, kw_only=True)
    made: EvaluationUnits | None = field(default=None, kw_only=True)
    items_read: Pairs | None = field(default=None, kw_only=True)
    _notes: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        pairs = self.pairs
        if not pairs.columns:
            check_size(pairs.scale, pairs.u, pairs.v)
        a, b = (doc.legible(name, doc.NAME) for name in pairs.names)
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
        """The name of the statistic in sentences."""
        entry, score = self.statistic, self.exact.score
        if entry.columns:
            return entry.title
        return f"mean {score.name}".rstrip() if entry.name == "mean" else score.unit or "points"

    @property
    def unit(self) -> str:
        """The units that are swapped: "items", of one or several runs each, or "clusters"."""
        return "clusters" if self.clustered and not self.pairs.runs_each else "items"

    @property
    def clustered(self) -> bool:
        """Whether units consist of several entries, clusters of items or the runs of an item."""
        return self.pairs.clusters is not None

    @property
    def entry(self) -> str:
        """What one line of scores is: an "item", or a "run" of one."""
        return "run" if self.pairs.runs_each else "item"

    @property
    def amount(self) -> str:
        """How many items there are, and in how many clusters, or in how many units."""
        if self.config is not None and self.config.unit_size > 1:
            units = doc.how_many(len(self.pairs), "evaluation units")
            return f"{units} ({self.config.unit_metric}s of {self.config.unit_size} items)"
        if self.pairs.runs_each:
            return f"{doc.how_many(len(self.units), 'items')}, {self.pairs.runs_each}"
        inside = f" in {doc.how_many(len(self.units), 'clusters')}"
        whole = self.clustered and len(self.units) < len(self.pairs)
        return doc.how_many(len(self.pairs), "items") + inside * whole

    def in_units(self, text: str) -> str:
        """A text about pairs or items; about clusters, where those are swapped."""
        if not self.clustered:
            return text
        return re.sub(r"\bpairs\b|(?<=independent )items|(?<=of the )items", self.unit, text)

    @property
    def confidence_level(self) -> float:
        """Of all intervals: 1 - alpha, as decimals."""
        return round(1 - self.alpha, 12)

    @cached_property
    def units(self) -> Pairs:
        """The units that are swapped: items, or clusters on the scale of items."""
        return per_item(self.pairs)

    @property
    def per_unit(self) -> float:
        """The factor that puts a mean over units on the scale of the statistic."""
        total = not self.pairs.columns and self.statistic.name != "mean"
        return float(len(self.pairs)) if total else 1.0

    # ---- the exact test

    @cached_property
    def exact(self) -> PermutationTestResult:
        """The exact paired-permutation test; where `delta` is not 0, of scores less that."""
        found: PermutationTestResult = exact_perm_test(raised(self.pairs, self.delta), **self._how)
        return found

    @property
    def scores(self) -> tuple[float, float]:
        """What both systems score."""
        assert self.exact.scores is not None, "a ready-made statistic has scores"
        return self.exact.scores[0], self.exact.scores[1] - self.delta * self.per_unit

    @property
    def difference(self) -> float:
        """How much higher the first system scores."""
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
        """Of the difference; None where its section says why."""
        answer, times = self._first[0], self.per_unit
        found = answer.interval
        if found is None:
            self._notes["finding"] = answer.problem or "the test has no interval at this level"
            return None
        if found.low == -found.high == -inf:
            why = f"there are too few {self.unit} to exclude any difference"
            self._notes["finding"] = why
            return None
        doubts = [found.warning] if found.warning else []
        if self.pairs.columns:  # of which resampling is the only interval
            failed = [check for check in answer.checks if check.held is False]
            few = (x.evidence.removeprefix("only ") for x in failed)
            doubts += [f"{some} may be too few for the bootstrap" for some in few]
        doubt = self.in_units("; ".join(doubts).replace(" pairs may", f" {self.unit} may"))
        ends = (found.low * times, found.high * times)
        return ConfidenceInterval(*ends, self.confidence_level, found.resolution * times, doubt)

    @property
    def interval_about(self) -> str:
        """Where the interval comes from."""
        return self._first[1]

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

    @property
    def better_on(self) -> tuple[int, int]:
        """On how many items either system is the better one."""
        wins, losses = self.record.wins, self.record.losses
        return (wins, losses) if self.exact.score.higher_is_better else (losses, wins)

    @cached_property
    def most_different(self) -> tuple[ItemDifference, ...]:
        """The items on which the systems differ most."""
        items, ids = self.items, self.pairs.ids
        share = len(self.pairs) if self.pairs.columns else 1
        order = np.argsort(-np.abs(items.worth), kind="stable")[:MOST_ITEMS].tolist()
        names = {i: f"item {i + 1}" if ids is None else ids[i] for i in order}
        a, b, worth = (x.tolist() for x in (items.a, items.b, items.worth / share))
        found = [(names[i], plain(a[i]), plain(b[i]), worth[i]) for i in order if worth[i]]
        return tuple(ItemDifference(*one) for one in found)

    # ---- around the test

    @property
    def applicable(self) -> tuple[str, ...]:
        """All tests that there are for such scores, or for such a measure."""
        entry = self.statistic if self.units.columns else lookup("mean")
        return applicable(self.units, entry, self.delta)

    @cached_property
    def answers(self) -> AnswerTable:
        """Other tests of the same units beside the exact one."""
        chosen, first = self.tests, self._first[0]
        if chosen is None and self._is_slow:
            chosen = tuple(test for test in self.applicable if test not in SLOW)
            self._notes["answers"] = (
                f"{', '.join(SLOW)} take long with more than {MANY:,} distinct differences; to "
                "run them, name them in overview(tests=...)"
            )
        elif chosen is None:  # of 0 and 1 the test of ranks is the sign test, and medians are 0
            left_out = OF_ORDER if "mcnemar" in self.applicable else ()
            chosen = tuple(test for test in self.applicable if test not in left_out)
        order = ["exact", *(test for test in chosen if test != "exact")]
        found = {first.test: first}
        if self.exact.n_samples is not None or (self._is_slow and first.test != "exact"):
            # The same random labellings; or without the interval, which takes long.
            name = self.statistic.title or self.statistic.name
            what = f"{name} difference" if self.units.columns else MEAN
            found["exact"] = Answer("exact", self.exact, self.difference / self.per_unit, what)
        table = self._compared([x for x in order if x not in found] or [first.test])
        found |= {answer.test: answer for answer in table}
        return replace(table, answers=tuple(found[test] for test in order))

    def decisions(self) -> dict[str, bool | None]:
        """Whether each test rejects at `alpha`; None without p, or if its bounds do not decide."""
        return {answer.test: answer.rejects(self.alpha) for answer in self.answers}

    @cached_property
    def description(self) -> Description:
        """Both columns of scores, and their differences."""
        return describe(self.units, alpha=self.alpha)

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """Which tests suit single scores like these; None for counts, and where it takes long."""
        if self.pairs.columns or (self._is_slow and self.config is None):
            return None
        return recommend(self.units, alpha=self.alpha)

    @cached_property
    def unit_sizes(self) -> UnitSizes | None:
        """How much differences vary in units of several sizes; None where it cannot be said."""
        chosen = self.config
        if chosen is None or self.clustered:
            return None
        how: dict[str, Any] = {"metric": chosen.unit_metric, "rng": chosen.unit_shuffle}
        how["tolerance"] = chosen.unit_tolerance
        return self._tried("units", lambda: unit_sizes(self.items_read, **how))

    @cached_property
    def curve(self) -> PowerCurve | None:
        """Simulated power against the number of units; None if it is not asked for."""
        chosen = self.config
        if chosen is None or chosen.power_sizes == 0:
            return None
        how: dict[str, Any] = {"test": chosen.power_test, "sizes": chosen.power_sizes}
        how |= {"experiments": chosen.power_experiments, "method": chosen.power_method}
        how |= {"alternative": self.alternative, "alpha": self.alpha, "rng": self._stream(2)}
        units = raised(self.units, self.delta)
        return self._tried("curve", lambda: power_curve(units, **how))

    @cached_property
    def effects(self) -> tuple[EffectSize, ...]:
        """How large the difference is, on scales that do not depend on the number of units."""
        return () if self.pairs.columns else effect_sizes(self.units)

    @cached_property
    def power(self) -> Outlook | None:
        """What another study needs, and the power of this one; None where its section says why."""
        pairs, unit, limit = self.pairs, self.unit, inf  # the largest difference that there can be
        if self.statistic.columns:
            limit = 1.0 if self.statistic.measure(pairs)[0].whole else inf
        elif min(pairs.u.min(), pairs.v.min()) >= 0:
            limit = 1.0 if max(pairs.u.max(), pairs.v.max()) <= pairs.scale else inf
        items = item_scores(self.units, self.statistic) if self.clustered else self.items
        how: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        how |= {"limit": limit, "target": self.target, "unit": unit}
        found = self._tried("power", lambda: outlook(items.worth - self.delta, **how))
        if found is not None and found.needed is not None and self.needed_at_ends is None:
            why = f"the interval of the difference contains {self.delta:g}, so no number of {unit} "
            problems = filter(None, (found.problem, f"{why}follows from it"))
            found = replace(found, needed=None, problem="; ".join(problems))
        if found is not None and found.problem:
            self._notes["power"] = found.problem
        return found

    @cached_property
    def needed_at_ends(self) -> tuple[float, float] | None:
        """Units that differences at the ends of the interval need; None where it contains none."""
        shown = self.interval
        if shown is None:
            return None
        low, high = (end / self.per_unit - self.delta for end in shown)
        if low <= 0 <= high:
            return None
        items = item_scores(self.units, self.statistic) if self.clustered else self.items
        how: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        seen = observed_effect(items.worth - self.delta)
        return units_at((low, high), seen, power=self.target, **how)

    # ---- what it says

    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and the name of the test."""
        (a, b), (x, y), score = self.names, map(self.score_text, self.scores), self.exact.score
        interval = ""
        if self.interval is not None:
            shown = f"{doc.span(self.interval)}, {self.interval_about}"
            if self.pairs.columns and self.interval.warning:
                shown += f"; {self.interval.warning}"
            interval = f" ({percent(self.confidence_level)} interval {shown})"
        notes = f"; {score.note}" * bool(score.note)
        finding = f"{a} scores {x} and {b} {y} ({self.measured}{notes})"
        if self.difference and not score.higher_is_better:
            by = self.difference_text.lstrip("+-")
            finding = f"{a} is {by} {'better' if self.difference < 0 else 'worse'} than {b} "
            finding += f"({self.measured} {x} against {y}{notes})"
        side = f", against the alternative that {score.claim(self.alternative, (a, b))}"
        number = self.pairs.source.get("left_out")
        others = f" ({doc.how_many(number, 'items')} left out)" if number else ""
        return (
            f"On {self.amount}{others}, {finding}, a difference of "
            f"{self.difference_text}{interval}; the {self.test_text} {self.verdict()} "
            f"({self.p_text}{side * (self.alternative != 'two-sided')}; "
            f"permtest {sections.computed_with()['permtest']})."
        )

    def verdict(self) -> str:
        """What the exact test says of the null hypothesis."""
        ahead = f"that {self.names[0]} is ahead by {number(self.delta)}"
        each = " per item" * self.clustered
        null = ahead + each if self.delta else "of equal systems"
        found = {True: "rejects", False: "does not reject", None: "cannot decide"}
        return f"{found[self.rejected]} the hypothesis {null} at the level {number(self.alpha)}"

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
        if self.exact.method == "bracket":
            return f"p {self.exact.bracket_text()}"
        sampled = self.exact.n_samples is not None
        return f"p {'is about' if sampled else '='} {self.exact.pvalue_text()}"

    @property
    def test_text(self) -> str:
        """The test as a paper names it."""
        n = self.exact.n_samples
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        drawn = "" if n is None else f" with {n:,} random labellings"
        swapped = " that swaps whole clusters" * self.clustered
        if self.pairs.runs_each:
            swapped = " that swaps all runs of an item together"
        return f"{'exact ' * (n is None)}{sides} paired-permutation test{drawn}{swapped}"

    @property
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """The sections; those of the data and of the plan are a study's."""
        spans = self.pairs.u.ndim == 2 and self.pairs.columns[:3] == ("tp", "fp", "fn")
        answers = "answers" + " measures" * spans
        keys = f"finding test items {answers} effects power data cite"
        if self.config is not None and self.pairs.columns:
            keys = f"finding data test items {answers} power options cite"
        elif self.config is not None:
            keys = "finding data units assumptions recommendation test items answers effects "
            keys += "curve power options cite"
        return {key: partial(getattr(sections, key), self) for key in keys.split()}

    @property
    def source(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What the reader recorded of the scores."""
        return self.pairs.source

    @property
    def picture(self) -> Figure:
        """Scores and differences."""
        return Figure("plot_estimation", (self,), sections.ESTIMATION)

    @property
    def paper_tables(self) -> tuple[Table, ...]:
        """Both systems; the difference with its interval and p."""
        exact, caption = self.exact, f"{self.title} on {self.amount}, by the {self.test_text}."
        head = ("System", self.measured[0].upper() + self.measured[1:])
        systems = zip(self.names, map(self.score_text, self.scores), strict=True)
        rest = [("Difference", self.difference_text)]
        if self.interval is not None:
            rest.append((f"{percent(self.confidence_level)} interval", doc.span(self.interval)))
        kind = "Sampled" if exact.n_samples is not None else "Exact"
        p = exact.bracket_text() if exact.method == "bracket" else exact.pvalue_text()
        rest += [(f"{kind} p, {self.alternative}", p), (self.unit.capitalize(), f"{exact.n:,}")]
        return Table(head, tuple(systems), caption), Table(head, tuple(rest))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        plain = ("names", "alternative", "alpha", "seed", "unit", "confidence_level")
        facts = {name: doc.strict(getattr(self, name)) for name in plain}
        n_items = len(self.units if self.pairs.runs_each else self.pairs)
        facts |= {"n_items": n_items, "n_units": len(self.units)}
        return facts | super().to_dict() | {"versions": sections.computed_with()}

    # ---- helpers

    def _tried(self, key: str, job: Callable[[], T]) -> T | None:
        """What `job` returns; None, and a note, where the data are unfit for it."""
        try:
            return job()
        except ValueError as error:
            self._notes[key] = str(error)
            return None

    def problem(self, key: str) -> str:
        """That a section lacks something, and why, as far as it was computed."""
        why = self._notes.get(key)
        return f"Not everything could be computed: {why}." if why else ""

    @cached_property
    def _distinct(self) -> int:
        """How many different units there are, on which the time of most tests depends."""
        if not self.units.columns:
            return int(np.unique(self.units.differences()).size)
        both = [x.reshape(len(x), -1).astype(np.float64) for x in (self.units.u, self.units.v)]
        return len(np.unique(np.concatenate(both, axis=1), axis=0))

    @property
    def _is_slow(self) -> bool:
        """Whether single scores have more than `MANY` distinct differences."""
        return not self.pairs.columns and self._distinct > MANY

    @cached_property
    def _first(self) -> tuple[Answer, str]:
        """The test whose interval is shown, and where the interval comes from."""
        other = "paired_bootstrap" if self.pairs.columns else "paired_t"
        test = other if self.pairs.columns or self._is_slow else "exact"
        answer = self._compared([test])[test]
        if self.pairs.columns:
            n = answer.result.n_samples if answer.result else 0
            return answer, f"percentiles of {n or 0:,} paired bootstrap resamples"
        if test == "exact" and answer.interval is not None:  # of items, also in clusters
            exact = exact_perm_test(self.pairs, alternative=self.alternative)
            ends = exact.confidence_interval(self.confidence_level)
            answer = replace(answer, interval=ends)
            if ends.method == "score":
                return answer, "Tango's score interval for paired shares"
        title = "exact test" if test == "exact" else answer.title
        return answer, f"all shifts that the {title} does not reject"

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

    @property
    def _how(self) -> dict[str, Any]:
        """What the exact test is asked, and its random numbers."""
        how: dict[str, Any] = {"statistic": self.statistic, "alternative": self.alternative}
        return how | {"rng": self._stream(0)}

    def _stream(self, index: int) -> np.random.Generator:
        """Random numbers that nothing else draws."""
        return np.random.default_rng([self.seed, index])


def raised(pairs: Pairs, delta: float) -> Pairs:
    """`delta` per item added to the second system's scores, in one item of a cluster, exactly."""
    if delta == 0:
        return pairs
    first, exact, (a, b) = np.arange(len(pairs)), as_threshold(delta), pairs.names
    if pairs.clusters is not None:
        first = np.unique(pairs.clusters, return_index=True)[1]
        exact *= Fraction(len(pairs), first.size)
    u, v = (x.astype(object) * exact.denominator for x in (pairs.u, pairs.v))
    v[first] += exact.numerator * pairs.scale
    names = (a, f"{b} {'-' if delta < 0 else '+'} {abs(delta):g}")
    return replace(pairs, u=u, v=v, names=names, source={}, scale=pairs.scale * exact.denominator)


def overview(
    pairs: Pairs,
    *,
    statistic: str | Statistic = "mean",
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
        and other tests compare their sums, divided by their mean size.
    statistic : str or Statistic, default "mean"
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
        that the data are unfit for is None or empty, and its section says why.

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


def run_study(
    a: Any,
    b: Any = None,
    config: StudyConfig | Mapping[str, Any] | None = None,
    *,
    names: tuple[str, str] | None = None,
) -> Overview:
    """Describe two systems' scores, test them, measure the effect, and plan the next study.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems; or `Pairs`, and None. Clusters are the units where there are some.
        Counts, for a measure such as F1, come as `Pairs`.
    config : StudyConfig or mapping, optional
        What to do, or the options that are not the default ones.
    names : tuple of two str, optional
        The names of the two systems. Default: those of the `Pairs`, or a and b.

    Returns
    -------
    Overview
        Each part of it is computed when it is first asked for; one that the data are unfit for is
        left out, and its section says why.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, or units cannot be made of them.

    Examples
    --------
    >>> from permtest.study import run_study
    >>> study = run_study([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], {"K": 99})
    >>> study.exact.pvalue, study.decisions()["exact"], study.description.shape
    (0.0625, False, 'symmetric')
    """
    chosen = StudyConfig.from_dict(config) if isinstance(config, Mapping) else config
    chosen = chosen or StudyConfig()
    entry, units = lookup(chosen.statistic), None
    if isinstance(a, Pairs) and b is None and (a.columns or a.clusters is not None):
        if chosen.unit_size != 1:
            what = "the clusters are the units" if a.clusters else "counts are compared as they are"
            raise ValueError(f"unit_size={chosen.unit_size} must be 1: {what}")
        pairs = replace(a, names=names or a.names)
    else:
        pairs, _ = scores_of(a, b, names)
    pairs = replace(pairs, score=pairs.score.stated(chosen.higher_is_better))
    if not pairs.columns:
        entry = lookup("mean")
        how: dict[str, Any] = {"metric": chosen.unit_metric, "remainder": chosen.unit_remainder}
        how["rng"] = chosen.unit_shuffle
        units = evaluation_units(per_item(pairs), None, chosen.unit_size, **how)
    several = units if chosen.unit_size != 1 else None
    return Overview(
        pairs if several is None else replace(several.pairs, source=pairs.source),
        *(entry, chosen.alternative, chosen.alpha, chosen.seed, chosen.tests),
        delta=chosen.delta,
        K=chosen.K,
        target=chosen.plan_power,
        config=chosen,
        made=units,
        items_read=pairs,
    )
