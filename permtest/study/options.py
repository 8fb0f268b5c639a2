"""The options of a study, in sections, with their defaults and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Literal

from permtest.alternatives.names import TITLES
from permtest.statistics import ALTERNATIVES
from permtest.study.describe import METRICS, REMAINDERS
from permtest.study.effects import (
    EffectSize,
    cohen_d,
    hedges_g,
    hodges_lehmann,
    wilcoxon_r,
)
from permtest.study.power import METHODS
from permtest.study.recommend import RULES
from permtest.study.rules import (
    COLUMN,
    LEVEL,
    NAMES,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    SEED,
    SIZES,
    YES_OR_NO,
    at_least,
    choice,
    one_of,
    some_of,
)

#: The tests of `compare_all` that single scores may have.
TESTS = tuple(TITLES)

#: What estimates effect sizes, by name.
ESTIMATORS: dict[str, Callable[..., EffectSize]] = {
    estimate.__name__: estimate for estimate in (cohen_d, hedges_g, wilcoxon_r, hodges_lehmann)
}
EFFECTS = tuple(ESTIMATORS)
FORMATS = ("html", "md", "json")


class Section:
    """A group of options, each checked when it is set."""

    key: ClassVar[str]
    about: ClassVar[str]

    def __post_init__(self) -> None:
        for option in options(self):
            value = option.metadata["rule"].check(getattr(self, option.name), self.path(option))
            object.__setattr__(self, option.name, value)

    @classmethod
    def path(cls, option: Field[Any]) -> str:
        """How messages call an option."""
        return f"{cls.key}.{option.name}"


def options(section: Any) -> tuple[Field[Any], ...]:
    """The fields of a section, or the sections of a configuration."""
    return fields(section)


@dataclass(frozen=True)
class DataOptions(Section):
    """Which columns are compared.

    Parameters
    ----------
    a, b : str, int or None
        Columns of a file.
    names : tuple of two str, or None
        What the systems are called.
    higher_is_better : bool or None
        None for what the name of the scores says.
    """

    key: ClassVar[str] = "data"
    about: ClassVar[str] = "Which columns are compared, and what they are called"

    a: str | int | None = choice(
        None, COLUMN.or_null("the file's only two columns of numbers"), "Column of system A."
    )
    b: str | int | None = choice(
        None, COLUMN.or_null("the file's only two columns of numbers"), "Column of system B."
    )
    names: tuple[str, str] | None = choice(
        None, NAMES.or_null("those of the columns"), "What the systems are called, A first."
    )
    higher_is_better: bool | None = choice(
        None,
        YES_OR_NO.or_null("what their name says, else true"),
        "Whether higher scores are better.",
    )


@dataclass(frozen=True)
class UnitOptions(Section):
    """How items become evaluation units.

    Parameters
    ----------
    size : int
        Items in a unit.
    metric : {"mean", "median"}
        What a unit scores.
    shuffle : int or None
        Seed of the order in which items are dealt to units.
    remainder : {"error", "drop", "keep"}
        What happens to the items that fill no unit.
    tolerance : float or None
        Of the differences between standard deviations, where sizes of units are compared.
    sizes : tuple of int, or None
        Which sizes are compared.
    """

    key: ClassVar[str] = "units"
    about: ClassVar[str] = "Evaluation units: how many items are scored together"

    size: int = choice(1, at_least(1), "Items in a unit; 1 leaves them as they are.")
    metric: str = choice("mean", one_of(METRICS), "What a unit scores: this of its items.")
    shuffle: int | None = choice(
        None,
        SEED.or_null("the order of the file"),
        "Seed by which items are shuffled before they are dealt to units.",
    )
    remainder: str = choice(
        "error",
        one_of(REMAINDERS),
        "What happens to items left over, too few for a unit: the study stops and says so, they "
        "are left out and counted, or they make a smaller unit.",
    )
    tolerance: float | None = choice(
        None,
        NOT_NEGATIVE.or_null("a hundredth of the first standard deviation"),
        "Sizes whose standard deviation differs by no more from that of the size before are "
        "listed, the first ten of them.",
    )
    sizes: tuple[int, ...] | None = choice(
        None, SIZES.or_null("a range that fits the data"), "Sizes of units to compare."
    )


@dataclass(frozen=True)
class NormalityOptions(Section):
    """How tests are recommended.

    Parameters
    ----------
    alpha : float
        Level of the test of normality.
    rule : {"exact", "manual"}
        By which rule tests are recommended.
    """

    key: ClassVar[str] = "recommendation"
    about: ClassVar[str] = "Which tests are recommended, from the shape of the differences"

    alpha: float = choice(0.05, LEVEL, "Level of the Shapiro-Wilk test of normality.")
    rule: str = choice(
        "exact",
        one_of(RULES),
        "exact: the exact permutation test comes first, as it assumes least; manual: the table "
        "in the manual of NLPStatTest.",
    )


@dataclass(frozen=True)
class TestOptions(Section):
    """Which tests are made.

    Parameters
    ----------
    tests : str or tuple of str
        "all", "recommended", or names.
    alternative : {"two-sided", "greater", "less"}
    delta : float
        Difference under the null hypothesis.
    alpha : float
        Level of significance.
    K : int
        Resamples of the bootstrap tests.
    """

    __test__: ClassVar[bool] = False  # no tests for pytest
    key: ClassVar[str] = "significance"
    about: ClassVar[str] = "Tests of significance"

    tests: str | tuple[str, ...] = choice(
        "all",
        some_of(TESTS, "all", "recommended"),
        "Which tests are made. The exact permutation test always is.",
    )
    alternative: Literal["two-sided", "greater", "less"] = choice(
        "two-sided", one_of(ALTERNATIVES), "greater: A scores higher than B; less: lower."
    )
    delta: float = choice(
        0.0, NUMBER, "By how much A is ahead under the null hypothesis, per unit."
    )
    alpha: float = choice(0.05, LEVEL, "Level of significance: reject where p is at most this.")
    K: int = choice(10_000, at_least(1), "Resamples of each bootstrap test.")


@dataclass(frozen=True)
class EffectOptions(Section):
    """Which effect sizes are estimated.

    Parameters
    ----------
    estimators : tuple of str
    confidence_level : float
        Of all intervals of the study.
    """

    key: ClassVar[str] = "effects"
    about: ClassVar[str] = "How large the difference is"

    estimators: tuple[str, ...] = choice(
        EFFECTS, some_of(EFFECTS, least=0), "Which effect sizes are estimated."
    )
    confidence_level: float = choice(
        0.95, LEVEL, "Of all intervals in the report: effect sizes, tests and power."
    )


@dataclass(frozen=True)
class PowerOptions(Section):
    """Of what the power is estimated, and how.

    Parameters
    ----------
    test : str
    method : {"bootstrap", "normal"}
    sizes : int or tuple of int
        How many numbers of units, or which; 0 for no power analysis.
    experiments : int
        Simulated data sets of each.
    delta : float or None
        The true difference; None for what was observed.
    alpha : float or None
        Level of the test; None for that of the tests of significance.
    K : int
        Resamples of a bootstrap test.
    """

    key: ClassVar[str] = "power"
    about: ClassVar[str] = "Power of a test at several numbers of units, by simulation"

    test: str = choice("exact", one_of(TESTS), "The test whose power is estimated.")
    method: Literal["bootstrap", "normal"] = choice(
        "bootstrap",
        one_of(METHODS),
        "bootstrap: units are drawn from the data with replacement; normal: differences are drawn "
        "from the normal law with their mean and standard deviation, NLPStatTest's Monte Carlo.",
    )
    sizes: int | tuple[int, ...] = choice(
        5,
        SIZES.or_count("their number, evenly spaced up to that of the data; 0: none"),
        "Numbers of units at which it is estimated.",
    )
    experiments: int = choice(1_000, at_least(1), "Simulated experiments at each of them.")
    delta: float | None = choice(
        None,
        NUMBER.or_null("what was observed"),
        "The true mean difference in the simulated experiments, per unit.",
    )
    alpha: float | None = choice(
        None, LEVEL.or_null("that of significance"), "Level of significance of the test."
    )
    K: int = choice(1_000, at_least(1), "Resamples of the test, if it is a bootstrap test.")


@dataclass(frozen=True)
class PlanOptions(Section):
    """How large a next study has to be.

    Parameters
    ----------
    delta, sigma : float or None
        True mean and standard deviation of the differences; None for what was observed.
    power : float
    alpha : float or None
        None for the level of the tests of significance.
    """

    key: ClassVar[str] = "prospective"
    about: ClassVar[str] = "How many units another study needs"

    delta: float | None = choice(
        None,
        NUMBER.or_null("what was observed, which is uncertain"),
        "The smallest mean difference worth finding, per unit.",
    )
    sigma: float | None = choice(
        None, POSITIVE.or_null("what was observed"), "Standard deviation of the differences."
    )
    power: float = choice(0.8, LEVEL, "With what probability it is to be found.")
    alpha: float | None = choice(
        None, LEVEL.or_null("that of significance"), "Level of significance."
    )


@dataclass(frozen=True)
class ReportOptions(Section):
    """What is written.

    Parameters
    ----------
    formats : tuple of str
        Some of "html", "md" and "json".
    """

    key: ClassVar[str] = "report"
    about: ClassVar[str] = "What is written"

    formats: tuple[str, ...] = choice(
        FORMATS, some_of(FORMATS), "Formats of the report; study.yml always comes with it."
    )
