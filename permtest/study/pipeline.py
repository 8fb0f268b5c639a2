"""All stages of a study, one after the other: from scores to a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from permtest._html import said
from permtest._progress import progress
from permtest.alternatives.answers import Answer, AnswerTable
from permtest.alternatives.compare import compare_all
from permtest.alternatives.names import OF_COUNTS
from permtest.alternatives.result import finite
from permtest.alternatives.sample import PairedSample, as_threshold
from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult
from permtest.study.config import StudyConfig
from permtest.study.describe import Description, describe
from permtest.study.effect import EffectSize
from permtest.study.options import ESTIMATORS
from permtest.study.overview_parts import compared
from permtest.study.plan import sample_size
from permtest.study.power import PowerCurve, power_curve
from permtest.study.provenance import provenance
from permtest.study.recommend import Recommendation, recommend
from permtest.study.sections import Chapter, Notes, Report
from permtest.study.study_chapters import chapters, sentence
from permtest.study.units import EvaluationUnits, UnitSizes, evaluation_units, unit_sizes

#: The streams of random numbers, by what needs them.
STREAMS = {"answers": 1, "power": 2}


@dataclass(frozen=True)
class Study(Report):
    """What `run_study` found. ``print(study)`` shows it as a page of text.

    Parameters
    ----------
    config : StudyConfig
        What was done.
    provenance : mapping
        Where the scores come from, and which versions made the study. No time, no place: the
        same scores and the same configuration make the same study.
    n_items : int
        Number of pairs of scores.
    units : EvaluationUnits
        What was compared.
    description : Description
    recommendation : Recommendation
    exact : PermutationTestResult
        The exact paired-permutation test of the mean. Where the null hypothesis has a difference,
        that is added to the scores of the second system.
    answers : AnswerTable
        All tests side by side.
    effects : tuple of EffectSize
    unit_sizes : UnitSizes or None
    power : PowerCurve or None
    prospective : int or None
        None, like the two before it, where `problems` says why, or it was not asked for.
    problems : mapping of str to str
        Stage -> why there is no result, or not all of it.

    Examples
    --------
    >>> from permtest.study import run_study
    >>> quick = {"power": {"sizes": 0}, "significance": {"K": 99}}
    >>> study = run_study([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], quick)
    >>> study.n, study.description.shape
    (8, 'symmetric')
    >>> study.exact.pvalue, study.decisions()["exact"]
    (0.0625, False)
    """

    config: StudyConfig
    provenance: Mapping[str, Any]
    n_items: int
    units: EvaluationUnits
    description: Description
    recommendation: Recommendation
    exact: PermutationTestResult
    answers: AnswerTable
    effects: tuple[EffectSize, ...] = ()
    unit_sizes: UnitSizes | None = None
    power: PowerCurve | None = None
    prospective: int | None = None
    problems: Notes = field(default_factory=Notes)

    @property
    def names(self) -> tuple[str, str]:
        """What the systems are called."""
        return self.units.pairs.names

    @property
    def n(self) -> int:
        """Number of units."""
        return len(self.units)

    def rejects(self, answer: Answer) -> bool | None:
        """The decision of a test at the level of significance.

        None where it has no p, or bounds of p lie on either side of the level.
        """
        return answer.rejects(self.config.significance.alpha)

    def decisions(self) -> dict[str, bool | None]:
        """Test -> whether it rejects the null hypothesis."""
        return {answer.test: self.rejects(answer) for answer in self.answers}

    def planned(self) -> tuple[float, float]:
        """Difference beyond the null hypothesis, and deviation, that another study is for."""
        return _planned(self.config, self.description)

    def chapters(self) -> tuple[Chapter, ...]:
        """What a report says, stage by stage, as text and tables."""
        return chapters(self)

    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and what was used."""
        return sentence(self)

    def _repr_html_(self) -> str:
        parts = (self.description, self.exact, self.answers)
        return said(self.sentence()) + "".join(part._repr_html_() for part in parts)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        level = self.config.effects.confidence_level
        return {
            "sentence": self.sentence(),
            "config": self.config.to_dict(),
            "provenance": dict(self.provenance),
            "names": list(self.names),
            "units": _units_dict(self.units, self.n_items),
            "unit_sizes": _sizes_dict(self.unit_sizes),
            "description": self.description.to_dict(),
            "recommendation": self.recommendation.to_dict(),
            **compared(self.exact, self.answers["exact"].interval, level, self.provenance),
            "exact": self.exact.to_dict(),
            "answers": self._answers_dict(),
            "effects": [effect.to_dict(level) for effect in self.effects],
            "power": self.power and self.power.to_dict(),
            "prospective": self.prospective,
            "problems": dict(self.problems),
        }

    def _answers_dict(self) -> dict[str, Any]:
        """The table without its times, which differ from run to run, but with the decisions."""
        table = self.answers.to_dict()
        decisions = self.decisions()
        for row in table["answers"]:
            del row["seconds"]
            row["rejects"] = decisions[row["test"]]
        return table


def run_study(
    a: Any,
    b: Any = None,
    config: StudyConfig | Mapping[str, Any] | None = None,
    *,
    names: tuple[str, str] | None = None,
) -> Study:
    """Describe two systems' scores, test them, measure the effect, and plan the next study.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items, of which a float stands for the decimal that it
        is printed as; or `Pairs`, such as `permtest.read` returns, and None.
    config : StudyConfig or mapping, optional
        What to do, or the options that are not the default ones. Default: ``StudyConfig()``.
    names : tuple of two str, optional
        What the systems are called. Default: what the configuration says, else the columns.

    Returns
    -------
    Study

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, or units cannot be made of them.

    Notes
    -----
    A stage that the data are unfit for, such as the power of a test where all differences are
    equal, is left out, and `problems` says why. If the whole takes longer than a second, a bar
    shows the stages. Cost: mostly that of the power analysis.

    Examples
    --------
    >>> from permtest.study import StudyConfig, run_study
    >>> config = StudyConfig.from_dict({"power": {"sizes": 0}, "significance": {"K": 99}})
    >>> study = run_study([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6], config)
    >>> study.exact.pvalue, study.decisions()["exact"]
    (0.0625, False)
    """
    if isinstance(config, Mapping):
        config = StudyConfig.from_dict(config)
    run = _Run.of(a, b, StudyConfig() if config is None else config, names)
    for _ in progress(run.stages(), total=len(run.jobs), what="stages of the study"):
        pass
    return run.study()


class _Run:
    """The stages of a study, and what they have found so far."""

    def __init__(self, items: PairedSample, config: StudyConfig) -> None:
        self.items, self.config = items, config
        self.found: dict[str, Any] = {}
        self.problems = Notes()
        self.jobs: dict[str, Callable[[], Any]] = {
            "units": self.units,
            "unit_sizes": self.unit_sizes,
            "description": self.description,
            "recommendation": self.recommendation,
            "exact": self.exact,
            "answers": self.answers,
            "effects": self.effects,
            "power": self.power,
            "prospective": self.prospective,
        }

    @classmethod
    def of(cls, a: Any, b: Any, config: StudyConfig, names: tuple[str, str] | None) -> _Run:
        """Validate the scores, and give the systems their names."""
        items = PairedSample.of(a, b, names=names, least=1)
        wanted = names or config.data.names
        if wanted is not None:
            items = PairedSample(replace(items.pairs, names=wanted))
        if config.data.higher_is_better is not None:
            score = items.pairs.score.stated(config.data.higher_is_better)
            items = PairedSample(replace(items.pairs, score=score))
        return cls(items, config)

    def stages(self) -> Iterator[str]:
        """Make each stage when it is asked for."""
        for stage, job in self.jobs.items():
            self.found[stage] = job()
            yield stage

    def study(self) -> Study:
        """What all of them found."""
        return Study(
            config=self.config,
            provenance=provenance(self.items.pairs),
            n_items=self.items.n,
            problems=self.problems,
            **self.found,
        )

    @property
    def pairs(self) -> Pairs:
        """The scores of the units."""
        pairs: Pairs = self.found["units"].pairs
        return pairs

    def rng(self, stage: str) -> np.random.Generator:
        """A stream of random numbers that no other stage draws from."""
        return np.random.default_rng([self.config.seed, STREAMS[stage]])

    # ---- stages --------------------------------------------------------------------------------

    def units(self) -> EvaluationUnits:
        chosen = self.config.units
        how: dict[str, Any] = {"metric": chosen.metric, "rng": chosen.shuffle}
        how |= {"remainder": chosen.remainder}
        try:
            return evaluation_units(self.items.pairs, None, chosen.size, **how)
        except ValueError as error:
            raise ValueError(f"units (size, remainder): {error}") from None

    def unit_sizes(self) -> UnitSizes | None:
        chosen = self.config.units
        options: dict[str, Any] = {"metric": chosen.metric, "rng": chosen.shuffle}
        options |= {"tolerance": chosen.tolerance}
        return self.problems.tried(
            "unit_sizes", lambda: unit_sizes(self.items.pairs, None, chosen.sizes, **options)
        )

    def description(self) -> Description:
        return describe(self.pairs, alpha=self.config.recommendation.alpha)

    def recommendation(self) -> Recommendation:
        chosen = self.config.recommendation
        return recommend(self.pairs, alpha=chosen.alpha, rule=chosen.rule)

    def exact(self) -> PermutationTestResult:
        chosen = self.config.significance
        pairs = _raised(self.pairs, chosen.delta)
        return exact_perm_test(pairs, statistic="mean", alternative=chosen.alternative)

    def answers(self) -> AnswerTable:
        chosen = self.config.significance
        return compare_all(
            self.pairs,
            alternative=chosen.alternative,
            delta=chosen.delta,
            tests=self._tests(),
            confidence_level=self.config.effects.confidence_level,
            K=chosen.K,
            rng=self.rng("answers"),
        )

    def effects(self) -> tuple[EffectSize, ...]:
        found = (
            self.problems.tried("effects", partial(ESTIMATORS[name], self.pairs), f"{name}: ")
            for name in self.config.effects.estimators
        )
        return tuple(effect for effect in found if effect is not None)

    def power(self) -> PowerCurve | None:
        chosen, significance = self.config.power, self.config.significance
        if chosen.sizes == 0:
            return None
        true = None if chosen.delta is None else as_threshold(chosen.delta)
        return self.problems.tried(
            "power",
            lambda: power_curve(
                _raised(self.pairs, significance.delta),
                test=chosen.test,
                sizes=chosen.sizes,
                experiments=chosen.experiments,
                method=chosen.method,
                delta=None if true is None else true - as_threshold(significance.delta),
                alpha=chosen.alpha or significance.alpha,
                alternative=significance.alternative,
                rng=self.rng("power"),
                K=chosen.K,
            ),
        )

    def prospective(self) -> int | None:
        significance = self.config.significance
        delta, sigma = _planned(self.config, self.found["description"])
        return self.problems.tried(
            "prospective",
            lambda: sample_size(
                delta,
                sigma,
                power=self.config.prospective.power,
                alpha=self.config.prospective.alpha or significance.alpha,
                alternative=significance.alternative,
            ),
        )

    def _tests(self) -> list[str] | None:
        """The exact test, and those that were asked for; None for all."""
        chosen, found = self.config.significance.tests, self.found["recommendation"]
        if chosen == "all":
            return None
        if chosen == "recommended":
            fits = self.items.is_binary and len(self.pairs) == self.items.n
            of_counts = () if fits and not self.config.significance.delta else OF_COUNTS
            chosen = tuple(test for test in found.names() if test not in of_counts)
        return ["exact", *(test for test in chosen if test != "exact")]


def _planned(config: StudyConfig, description: Description) -> tuple[float, float]:
    """The difference beyond the null hypothesis, and the standard deviation, to plan for."""
    chosen, seen = config.prospective, description.difference
    delta = seen.mean if chosen.delta is None else chosen.delta
    return delta - config.significance.delta, seen.sd if chosen.sigma is None else chosen.sigma


def _raised(pairs: Pairs, delta: float) -> Pairs:
    """`delta` added to the scores of the second system, exactly."""
    if delta == 0:
        return pairs
    exact, (a, b) = as_threshold(delta), pairs.names
    part, shift = exact.denominator, exact.numerator * pairs.scale
    u, v = np.empty(len(pairs), dtype=object), np.empty(len(pairs), dtype=object)
    u[:] = [int(x) * part for x in pairs.u]
    v[:] = [int(x) * part + shift for x in pairs.v]
    names = (a, f"{b} {'-' if delta < 0 else '+'} {abs(delta):g}")
    return Pairs(u, v, names, {}, pairs.scale * part, score=pairs.score)


# ---- as plain values ---------------------------------------------------------------------------


def _units_dict(units: EvaluationUnits, n_items: int) -> dict[str, Any]:
    return {
        "n_items": n_items,
        "n_units": len(units),
        "size": units.size,
        "metric": units.metric,
        "last_size": int(units.sizes[-1]),
        "left_out": units.left_out.tolist(),
    }


def _sizes_dict(found: UnitSizes | None) -> dict[str, Any] | None:
    if found is None:
        return None
    columns = {
        key: [finite(x) for x in getattr(found, key)]
        for key in ("sizes", "sds", "n_units", "n_left_out")
    }
    return {**columns, "stable": list(found.stable), "tolerance": found.tolerance}
