"""Parts of an overview: which tests are affordable, and all of it as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest.alternatives.answers import Answer, AnswerTable
from permtest.alternatives.compare import compare_all
from permtest.alternatives.names import OF_COUNTS, TITLES
from permtest.alternatives.permutations import permutation_mean, randomisation
from permtest.alternatives.result import finite
from permtest.alternatives.sample import PairedSample
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult
from permtest.statistics import Alternative, CountStatistic, Statistic
from permtest.study.effects import (
    EffectSize,
    cohen_h,
    hedges_g,
    hodges_lehmann,
    odds_ratio,
    risk_difference,
    wilcoxon_r,
)

if TYPE_CHECKING:
    from permtest.study.overview import Overview

#: Tests that take long where there are more than `MANY` distinct differences, as the interval of
#: the exact one does.
SLOW = ("permutation_median", "wilcoxon", "bootstrap_mean", "bootstrap_median", "paired_bootstrap")
MANY = 30_000

#: Resamples, and as many where more than so many distinct differences make them slow.
RESAMPLES, FEWER, CHEAP = 10_000, 1_000, 3_000


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The tests of the same units, of which those that take long are left to be asked for.

    Parameters
    ----------
    units : Pairs
        What is swapped.
    statistic : Statistic or CountStatistic
    alternative : str
    confidence_level : float
    seed : int
    asked : tuple of str or None
        Names of tests.
    """

    units: Pairs
    statistic: Statistic | CountStatistic
    alternative: Alternative
    confidence_level: float
    seed: int
    asked: tuple[str, ...] | None

    @cached_property
    def distinct(self) -> int:
        """How many different units there are, on which the time of most tests depends."""
        if not self.units.columns:
            return int(np.unique(PairedSample(self.units).differences).size)
        both = [x.reshape(len(x), -1).astype(np.float64) for x in (self.units.u, self.units.v)]
        return len(np.unique(np.concatenate(both, axis=1), axis=0))

    @property
    def applicable(self) -> tuple[str, ...]:
        """All tests that there are for such scores, or for such a measure."""
        if not self.units.columns:
            binary = PairedSample(self.units).is_binary
            return tuple(test for test in TITLES if binary or test not in OF_COUNTS)
        proportion = self.statistic.name in ("precision", "recall") and self.units.u.ndim == 2
        return ("exact", "paired_bootstrap", *(OF_COUNTS[-3:] if proportion else ()))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Slow tests that nobody asked for."""
        if self.asked is not None or self.units.columns or self.distinct <= MANY:
            return ()
        return SLOW

    def check(self, names: tuple[str, ...]) -> None:
        """Raise ValueError for a name of no test that applies."""
        for name in names:
            if name not in self.applicable:
                known = ", ".join(self.applicable)
                raise ValueError(f"tests: {name!r} does not apply here; choose among {known}")

    @cached_property
    def first(self) -> dict[str, Answer]:
        """The exact test, and the test whose interval is shown, if that is another one."""
        if self.units.columns:
            return self.rows(["paired_bootstrap"])
        if self.distinct <= MANY:
            return self.rows(["exact"])
        test = permutation_mean(self.units, alternative=self.alternative)
        return {"exact": Answer("exact", test, None, (), 0.0)} | self.rows(["paired_t"])

    @property
    def with_interval(self) -> Answer:
        """The test whose interval is shown: the last one of `first`."""
        return list(self.first.values())[-1]

    def table(self, sampled: bool) -> AnswerTable:
        """All rows, the exact one first.

        `sampled`: p is out of reach, and is sampled with the seed.
        """
        asked = self.applicable if self.asked is None else self.asked
        order = ["exact", *(x for x in asked if x not in ("exact", *self.left_out))]
        found = dict(self.first)
        if sampled:
            test = randomisation(
                self.units,
                statistic=self.statistic,
                alternative=self.alternative,
                rng=self.stream(0),
            )
            found["exact"] = Answer("exact", test, None, (), 0.0)
        missing = [test for test in order if test not in found]
        table = self.compared(missing or [self.applicable[-1]])
        found |= {answer.test: answer for answer in table}
        return replace(table, answers=tuple(found[test] for test in order))

    def rows(self, tests: list[str]) -> dict[str, Answer]:
        """Answers by the names of their tests."""
        return {answer.test: answer for answer in self.compared(tests)}

    def compared(self, tests: list[str]) -> AnswerTable:
        """Some rows, which are the same whichever others are made."""
        return compare_all(
            self.units,
            statistic=self.statistic if self.units.columns else "mean",
            alternative=self.alternative,
            tests=tests,
            confidence_level=self.confidence_level,
            K=RESAMPLES if self.distinct <= CHEAP else FEWER,
            rng=self.stream(1),
        )

    def stream(self, number: int) -> np.random.Generator:
        """Random numbers that nothing else draws."""
        return np.random.default_rng([self.seed, number])


def effect_sizes(units: Pairs, *, binary: bool, many: bool) -> Iterator[Callable[[], EffectSize]]:
    """The effect sizes that fit single scores, to be computed.

    Parameters
    ----------
    units : Pairs
    binary : bool
        Whether scores are 0 or 1.
    many : bool
        Whether there are so many distinct differences that ranks take long.

    Yields
    ------
    callable
    """
    yield lambda: hedges_g(units)
    if binary:
        yield lambda: risk_difference(units)
        yield lambda: odds_ratio(units)
        yield lambda: cohen_h(units)
    elif not many:
        yield lambda: wilcoxon_r(units)
        yield lambda: hodges_lehmann(units)


# ---- as plain values ---------------------------------------------------------------------------


def as_dict(found: Overview) -> dict[str, Any]:
    """The dict of `Overview.to_dict`."""
    facts = {"statistic": found.statistic.name, "n_items": len(found.pairs)}
    facts |= {"n_units": len(found.units), "problems": found.problems}
    plain = ("names", "alternative", "alpha", "seed", "unit", "scores", "difference")
    parts = {
        "sentence": found.sentence(),
        **{name: getattr(found, name) for name in (*plain, "rejected", "interval_about")},
        **facts,
        "interval": found.interval and found.interval._asdict() | vars(found.interval),
        **compared(found.exact, found.interval, found.confidence_level, found.pairs.source),
        "exact": found.exact.to_dict(),
        "record": vars(found.record),
        "most_different": [vars(item) for item in found.most_different],
        "answers": [_without(row, "seconds") for row in found.answers.rows()],
        "effects": [effect.to_dict(found.confidence_level) for effect in found.effects],
        "power": found.power and vars(found.power),
        "source": found.pairs.source,
        "versions": found.versions(),
        "citation": found.citation(),
    }
    return {key: _strict(value) for key, value in parts.items()}


def compared(
    exact: PermutationTestResult,
    interval: tuple[float, float] | None,
    confidence_level: float,
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """What every JSON object says of two systems that are compared."""
    return exact.score.to_dict() | {
        "better": exact.better,
        "difference": exact.difference,
        "confidence_interval": None if interval is None else [finite(end) for end in interval],
        "confidence_level": confidence_level,
        "paired_by": source.get("paired_by"),
    }


def _without(row: dict[str, Any], key: str) -> dict[str, Any]:
    """All but what differs from run to run."""
    return {name: value for name, value in row.items() if name != key}


def _strict(value: Any) -> Any:
    """What JSON has a form for; anything else as text, and no number that is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _strict(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(x) for x in value]
    plain = finite(value)
    return plain if plain is None or isinstance(plain, bool | int | float | str) else str(plain)
