"""Everything about one comparison: the exact test first, then what surrounds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from math import inf
from typing import Any

import numpy as np

from permtest._checks import check_count, check_level
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.answers import AnswerTable
from permtest.alternatives.result import rejects
from permtest.alternatives.sample import PairedSample
from permtest.exact import exact_perm_test
from permtest.interval import ConfidenceInterval
from permtest.measures import Matthews, MeanOfRatios
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult
from permtest.statistics import Alternative, CountStatistic, Statistic, check_alternative, lookup
from permtest.study.citation import citation
from permtest.study.effect import EffectSize
from permtest.study.overview_chapters import chapters
from permtest.study.overview_items import (
    ItemDifference,
    ItemScores,
    Record,
    legible_names,
    most_different,
)
from permtest.study.overview_latex import to_latex
from permtest.study.overview_parts import MANY, SideBySide, as_dict, effect_sizes
from permtest.study.overview_words import sentence
from permtest.study.plan import Outlook, outlook
from permtest.study.provenance import computed_with
from permtest.study.sections import Chapter, Notes, Report

#: What is computed, in the order in which it is worth seeing.
STAGES = ("exact", "interval", "record", "most_different", "answers", "effects", "power")

#: The most items that are listed.
MOST_ITEMS = 1_000


@dataclass(frozen=True, eq=False)
class Overview(Report):
    """One comparison of two systems, of which every part is computed when it is first asked for.

    Made by `overview`. ``print(found)`` shows all of it as a page of text.

    Parameters
    ----------
    pairs : Pairs
        Scores or counts, with legible names.
    statistic : Statistic or CountStatistic
        What is tested.
    alternative : str
    alpha : float
        Level of the tests; the intervals have a confidence of ``1 - alpha``.
    seed : int
        Of all that is random.
    tests : tuple of str or None
        What `answers` consists of.
    size : int
        How many items `most_different` lists.
    with_power : bool
        Whether `power` is computed.

    Examples
    --------
    >>> from permtest import Pairs
    >>> from permtest.study import overview
    >>> found = overview(Pairs.of([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5], ("new", "old")))
    >>> found.exact.pvalue, found.difference, found.rejected
    (0.25, 1.0, False)
    >>> [item.difference for item in found.most_different[:2]]
    [3.0, 2.0]
    """

    pairs: Pairs
    statistic: Statistic | CountStatistic
    alternative: Alternative
    alpha: float
    seed: int
    tests: tuple[str, ...] | None
    size: int
    with_power: bool
    _notes: Notes = field(default_factory=Notes, repr=False)

    # ---- what is compared ----------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, str]:
        """What the systems are called here."""
        return self.pairs.names

    @property
    def title(self) -> str:
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
    def confidence_level(self) -> float:
        """Of all intervals: 1 - alpha, as decimals."""
        return round(1 - self.alpha, 12)

    @cached_property
    def units(self) -> Pairs:
        """What is swapped: the items, or the sums of clusters."""
        return self.pairs if self.pairs.clusters is None else self.pairs.by_cluster()

    @cached_property
    def is_binary(self) -> bool:
        """Whether all units are single scores of 0 or 1."""
        return not self.pairs.columns and PairedSample(self.units).is_binary

    @property
    def per_unit(self) -> float:
        """By what a mean over units is multiplied to be on the scale of the statistic."""
        if isinstance(self.statistic, CountStatistic):
            return 1.0
        n = len(self.units)
        return n / len(self.pairs) if self.statistic.name == "mean" else float(n)

    # ---- the exact test ------------------------------------------------------------------------

    @cached_property
    def exact(self) -> PermutationTestResult:
        """The exact paired-permutation test."""
        return exact_perm_test(
            self.pairs,
            statistic=self.statistic,
            alternative=self.alternative,
            rng=self._tests.stream(0),
        )

    @property
    def scores(self) -> tuple[float, float]:
        """What both systems score."""
        assert self.exact.scores is not None, "a ready-made statistic has scores"
        return self.exact.scores

    @property
    def difference(self) -> float:
        """By how much the first system scores higher."""
        return float(self.exact.statistic)

    @property
    def rejected(self) -> bool | None:
        """Whether the exact test rejects at `alpha`; None if bounds of p lie on both sides."""
        if bool(rejects(self.exact.pvalue, self.alpha)):
            return True
        undecided = self.exact.method == "bracket" and rejects(
            self.exact.pvalue_interval()[0], self.alpha
        )
        return None if undecided else False

    @cached_property
    def interval(self) -> ConfidenceInterval | None:
        """Of the difference; None where `problems` says why."""
        answer = self._tests.with_interval
        if answer.interval is None:
            self._notes.add("interval", answer.problem or "the test has none at this level")
            return None
        low, high = (end * self.per_unit for end in answer.interval)
        if low == -high == -inf:
            self._notes.add("interval", f"there are too few {self.unit} to exclude any difference")
            return None
        rounded = answer.interval.resolution * self.per_unit
        return ConfidenceInterval(
            low, high, self.confidence_level, rounded, answer.interval.warning
        )

    @property
    def interval_about(self) -> str:
        """Where the interval comes from."""
        found = self._tests.with_interval.result
        if self.pairs.columns:
            return f"percentiles of {found.n_samples if found else 0:,} paired bootstrap resamples"
        title = found.title if found and found.test != "exact" else "exact test"
        return f"all shifts that the {title} does not reject"

    # ---- items ---------------------------------------------------------------------------------

    @cached_property
    def items(self) -> ItemScores:
        """Both systems item by item."""
        return ItemScores.of(self.pairs, self.statistic)

    @property
    def record(self) -> Record:
        """On how many items either system is ahead."""
        return self.items.record

    @cached_property
    def most_different(self) -> tuple[ItemDifference, ...]:
        """The items on which the systems differ most."""
        return most_different(self.pairs, self.items, self.size)

    # ---- around the test -----------------------------------------------------------------------

    @cached_property
    def answers(self) -> AnswerTable:
        """Other tests of the same units beside the exact one."""
        if self._tests.left_out:
            self._notes.add(
                "answers",
                f"{', '.join(self._tests.left_out)} take long with more than {MANY:,} "
                "distinct differences; name them in overview(tests=...) to have them made",
            )
        return self._tests.table(self.exact.n_samples is not None)

    @cached_property
    def effects(self) -> tuple[EffectSize, ...]:
        """How large the difference is, on scales that do not depend on the number of units."""
        if self.pairs.columns:
            self._notes.add(
                "effects",
                "standardised effect sizes are for single scores; the difference in "
                f"{self.title} is a size of the effect itself",
            )
            return ()
        many = self._tests.distinct > MANY
        jobs = effect_sizes(self.units, binary=self.is_binary, many=many)
        found = [self._notes.tried("effects", job) for job in jobs]
        return tuple(effect for effect in found if effect is not None)

    @cached_property
    def power(self) -> Outlook | None:
        """Power of such a test, and the size of another study; None if not asked for."""
        if not self.with_power:
            self._notes.add("power", "it was not asked for")
            return None
        clustered = self.pairs.clusters is not None
        items = ItemScores.of(self.units, self.statistic) if clustered else self.items
        limit = widest(self.pairs, self.statistic)
        if not self.pairs.columns:
            limit *= len(self.pairs) / len(self.units)
        how: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        how |= {"limit": limit, "unit": self.unit}
        found = self._notes.tried("power", lambda: outlook(items.worth, **how))
        if found is not None and found.problem:
            self._notes.add("power", found.problem)
        return found

    @property
    def problems(self) -> Notes:
        """Stage -> why it has no result, or not all of it; all stages are computed for it."""
        self.complete()
        return Notes({stage: self._notes[stage] for stage in STAGES if stage in self._notes})

    def complete(self) -> Overview:
        """Compute all that has not been computed yet, with a bar if it takes long."""
        stages = (getattr(self, stage) for stage in STAGES)
        for _ in progress(stages, total=len(STAGES), what="parts of the overview"):
            pass
        return self

    # ---- what it says --------------------------------------------------------------------------

    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and the name of the test."""
        return sentence(self)

    def citation(self, style: str = "text") -> str:
        """What to cite, the method and the software: as "text", or as "bibtex"."""
        return citation(style)

    def chapters(self) -> tuple[Chapter, ...]:
        """What a report says, part by part, as text and tables."""
        return chapters(self)

    def to_latex(self) -> str:
        """A table for a paper, in ASCII, which needs no package but booktabs."""
        return to_latex(self)

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self.sentence())}</p>{self.exact._repr_html_()}</div>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        return as_dict(self)

    def versions(self) -> dict[str, str]:
        """What computed this."""
        return computed_with("numpy", "python")

    # ---- helpers -------------------------------------------------------------------------------

    @cached_property
    def _tests(self) -> SideBySide:
        question = self.units, self.statistic, self.alternative
        return SideBySide(*question, self.confidence_level, self.seed, self.tests)


def overview(
    pairs: Pairs,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    rng: RNG = 0,
    tests: Sequence[str] | None = None,
    most_different: int = 20,
    power: bool = True,
) -> Overview:
    """Compare two systems, and find what there is to say about it.

    Parameters
    ----------
    pairs : Pairs
        Single scores, or counts such as tp, fp and fn, as `permtest.read` returns them. If they
        have clusters, whole clusters are swapped, and other tests compare their sums.
    statistic : str, or what `statistic` returns, default "mean"
        One of `STATISTICS`; of counts "f1", "precision", ...
    alternative : {"two-sided", "greater", "less"}
        "greater": the first system scores higher, which for error rates is worse.
    alpha : float, default 0.05
        Level of the tests; intervals have a confidence of ``1 - alpha``.
    rng : numpy.random.Generator, int or None, default 0
        For the bootstrap tests, and where an exact p is out of reach.
    tests : sequence of str, optional
        Other tests to make, by their names in `compare_all`. Default: all that apply and do not
        take long.
    most_different : int, default 20
        How many items to list on which the systems differ most, up to 1000.
    power : bool, default True
        Whether to compute the power of the test, and what another study needs.

    Returns
    -------
    Overview
        Its `exact` test has been made; everything else is computed when it is first asked for.

    Raises
    ------
    TypeError, ValueError
        If `pairs` is empty or does not fit the statistic, or an option is unknown.

    Notes
    -----
    A part that the data are unfit for is None or empty, and `problems` says why. Cost of all
    parts: a fraction of a second for thousands of items, some seconds for 200 000.

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.study import overview
    >>> pairs = pt.Pairs.of([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], ("new", "old"))
    >>> found = overview(pairs)
    >>> found.exact.pvalue, found.difference, found.rejected
    (0.0625, 1.5, False)
    >>> found.record.wins, found.record.ties, found.record.losses
    (5, 2, 1)
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
    check_alternative(alternative)
    size = check_count(most_different, "most_different", least=0, most=MOST_ITEMS)
    chosen = None if tests is None else _names_of_tests(tests)
    seed = rng if isinstance(rng, int | np.integer) else as_generator(rng).integers(2**63)
    as_generator(rng)
    question = lookup(statistic), alternative, check_level(alpha), int(seed)
    legible = replace(pairs, names=legible_names(pairs.names))
    found = Overview(legible, *question, chosen, size, bool(power))
    if found.exact and chosen is not None:
        found._tests.check(chosen)
    return found


def _names_of_tests(tests: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tests, str):
        raise TypeError(f"tests={tests!r} must be a list of names")
    return tuple(dict.fromkeys(tests))


def widest(pairs: Pairs, statistic: Statistic | CountStatistic) -> float:
    """The largest difference of a measure, or of the means of scores.

    Parameters
    ----------
    pairs : Pairs
    statistic : Statistic or CountStatistic

    Returns
    -------
    float
        1 for ratios and for scores that all lie between 0 and 1, 2 for a correlation, else inf.
    """
    if isinstance(statistic, CountStatistic):
        measure = statistic.measure(pairs)[0]
        if isinstance(measure, MeanOfRatios) and not measure.whole:
            return inf
        return 2.0 if isinstance(measure, Matthews) else 1.0
    low, high = min(pairs.u.min(), pairs.v.min()), max(pairs.u.max(), pairs.v.max())
    return 1.0 if low >= 0 and high <= pairs.scale else inf
