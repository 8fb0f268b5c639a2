"""What a study does, as data: everything that can be chosen, its default and what it means."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from math import isfinite
from pathlib import Path
from reprlib import Repr
from textwrap import wrap
from typing import Any, ClassVar, Literal, TypeAlias

from permtest.alternatives.names import TITLES
from permtest.statistics import ALTERNATIVES

#: A configuration is a page of text; whatever is longer is another file.
LARGEST_FILE = 2**16

#: The tests of `compare_all` that single scores may have.
TESTS = tuple(TITLES)
EFFECTS = ("cohen_d", "hedges_g", "wilcoxon_r", "hodges_lehmann")
POWER_METHODS = ("bootstrap", "normal")
RULES = ("exact", "manual")
METRICS = ("mean", "median")
REMAINDERS = ("error", "drop", "keep")
FORMATS = ("html", "md", "json")

#: A file's name, as `open` takes it.
StrPath: TypeAlias = "str | os.PathLike[str]"


# ---- what is allowed ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """What a value may be.

    Parameters
    ----------
    allowed : str
        In words, for messages and comments.
    accepts : callable
        Whether a value is.
    keep : callable, optional
        The form in which it is kept.
    """

    allowed: str
    accepts: Callable[[Any], bool]
    keep: Callable[[Any], Any] = lambda value: value

    def check(self, value: Any, key: str) -> Any:
        """The value as it is kept; ValueError if it is not allowed."""
        if not self.accepts(value):
            raise ValueError(f"{key}: {_shown(value)} is not {self.allowed}{_hint(value)}")
        return self.keep(value)

    def or_null(self, meaning: str) -> Rule:
        """Or None, which means something else."""
        return Rule(
            f"{self.allowed}, or null ({meaning})",
            lambda value: value is None or self.accepts(value),
            lambda value: None if value is None else self.keep(value),
        )

    def or_count(self, meaning: str) -> Rule:
        """Or a whole number, which means something else."""

        def accepts(value: Any) -> bool:
            return _is_whole(value, 0) or self.accepts(value)

        def keep(value: Any) -> Any:
            return value if isinstance(value, int) else self.keep(value)

        return Rule(f"{self.allowed}, or a whole number ({meaning})", accepts, keep)


def _shown(value: Any) -> str:
    short = Repr()
    short.maxstring = short.maxother = 60
    return short.repr(value)


def _hint(value: Any) -> str:
    """Numbers such as 1e-3 are text in YAML."""
    if not isinstance(value, str):
        return ""
    try:
        number = float(value)
    except ValueError:
        return ""
    return f"; it is text: without quotes, and with a decimal point, it is the number {number!r}"


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_column(value: Any) -> bool:
    return _is_whole(value, 1) or (isinstance(value, str) and value != "")


def _is_list(value: Any, accepts: Callable[[Any], bool], least: int = 1) -> bool:
    """Whether it is a list of different things."""
    if not isinstance(value, list | tuple) or len(value) < least:
        return False
    return all(map(accepts, value)) and len(set(value)) == len(value)


def _is_names(value: Any) -> bool:
    return _is_list(value, lambda name: isinstance(name, str) and name != "", 2) and len(value) == 2


def _at_least(least: int) -> Rule:
    return Rule(f"a whole number of at least {least}", partial(_is_whole, least=least))


def _one_of(choices: tuple[str, ...]) -> Rule:
    text = f"one of {', '.join(choices)}"
    return Rule(text, lambda value: isinstance(value, str) and value in choices)


def _some_of(choices: tuple[str, ...], *words: str, least: int = 1) -> Rule:
    """One of the words, or a list of choices."""
    text = " or ".join([*words, f"a list without repetition, of {', '.join(choices)}"])
    known = _one_of(choices).accepts

    def accepts(value: Any) -> bool:
        if isinstance(value, str):
            return value in words
        return _is_list(value, known, least)

    return Rule(text, accepts, lambda value: value if isinstance(value, str) else tuple(value))


LEVEL = Rule(
    "a number between 0 and 1, both excluded",
    lambda value: _is_number(value) and 0 < value < 1,
    float,
)
NUMBER = Rule("a finite number", _is_number, float)
NOT_NEGATIVE = Rule("a number of at least 0", lambda value: _is_number(value) and value >= 0, float)
POSITIVE = Rule("a number above 0", lambda value: _is_number(value) and value > 0, float)
SEED = _at_least(0)
COLUMN = Rule("the name of a column, or its number counted from 1", _is_column)
NAMES = Rule("a list of two different names", _is_names, tuple)
SIZES = Rule(
    "a list of different whole numbers of at least 1, in ascending order",
    lambda value: _is_list(value, partial(_is_whole, least=1)) and sorted(value) == list(value),
    tuple,
)


def _option(default: Any, rule: Rule, about: str) -> Any:
    """A field of a section."""
    return field(default=default, metadata={"rule": rule, "about": about})


# ---- sections ----------------------------------------------------------------------------------


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
    """

    key: ClassVar[str] = "data"
    about: ClassVar[str] = "Which columns are compared, and what they are called"

    a: str | int | None = _option(
        None, COLUMN.or_null("the file's only two columns of numbers"), "Column of system A."
    )
    b: str | int | None = _option(
        None, COLUMN.or_null("the file's only two columns of numbers"), "Column of system B."
    )
    names: tuple[str, str] | None = _option(
        None, NAMES.or_null("those of the columns"), "What the systems are called, A first."
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

    size: int = _option(1, _at_least(1), "Items in a unit; 1 leaves them as they are.")
    metric: str = _option("mean", _one_of(METRICS), "What a unit scores: this of its items.")
    shuffle: int | None = _option(
        None,
        SEED.or_null("the order of the file"),
        "Seed by which items are shuffled before they are dealt to units.",
    )
    remainder: str = _option(
        "error",
        _one_of(REMAINDERS),
        "What happens to items left over, too few for a unit: the study stops and says so, they "
        "are left out and counted, or they make a smaller unit.",
    )
    tolerance: float | None = _option(
        None,
        NOT_NEGATIVE.or_null("a hundredth of the first standard deviation"),
        "Sizes whose standard deviation differs by no more from that of the size before are "
        "listed, the first ten of them.",
    )
    sizes: tuple[int, ...] | None = _option(
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

    alpha: float = _option(0.05, LEVEL, "Level of the Shapiro-Wilk test of normality.")
    rule: str = _option(
        "exact",
        _one_of(RULES),
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

    tests: str | tuple[str, ...] = _option(
        "all",
        _some_of(TESTS, "all", "recommended"),
        "Which tests are made. The exact permutation test always is.",
    )
    alternative: Literal["two-sided", "greater", "less"] = _option(
        "two-sided", _one_of(ALTERNATIVES), "greater: A is better than B; less: A is worse."
    )
    delta: float = _option(
        0.0, NUMBER, "By how much A is ahead under the null hypothesis, per unit."
    )
    alpha: float = _option(0.05, LEVEL, "Level of significance: reject where p is at most this.")
    K: int = _option(10_000, _at_least(1), "Resamples of each bootstrap test.")


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

    estimators: tuple[str, ...] = _option(
        EFFECTS, _some_of(EFFECTS, least=0), "Which effect sizes are estimated."
    )
    confidence_level: float = _option(
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

    test: str = _option("exact", _one_of(TESTS), "The test whose power is estimated.")
    method: Literal["bootstrap", "normal"] = _option(
        "bootstrap",
        _one_of(POWER_METHODS),
        "bootstrap: units are drawn from the data with replacement; normal: differences are drawn "
        "from the normal law with their mean and standard deviation, NLPStatTest's Monte Carlo.",
    )
    sizes: int | tuple[int, ...] = _option(
        5,
        SIZES.or_count("their number, evenly spaced up to that of the data; 0: none"),
        "Numbers of units at which it is estimated.",
    )
    experiments: int = _option(1_000, _at_least(1), "Simulated experiments at each of them.")
    delta: float | None = _option(
        None,
        NUMBER.or_null("what was observed"),
        "The true mean difference in the simulated experiments, per unit.",
    )
    alpha: float | None = _option(
        None, LEVEL.or_null("that of significance"), "Level of significance of the test."
    )
    K: int = _option(1_000, _at_least(1), "Resamples of the test, if it is a bootstrap test.")


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

    delta: float | None = _option(
        None,
        NUMBER.or_null("what was observed, which is uncertain"),
        "The smallest mean difference worth finding, per unit.",
    )
    sigma: float | None = _option(
        None, POSITIVE.or_null("what was observed"), "Standard deviation of the differences."
    )
    power: float = _option(0.8, LEVEL, "With what probability it is to be found.")
    alpha: float | None = _option(
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

    formats: tuple[str, ...] = _option(
        FORMATS, _some_of(FORMATS), "Formats of the report; study.yml always comes with it."
    )


# ---- all of it ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyConfig:
    """Everything that a study lets one choose.

    Sections hold the options; ``StudyConfig().to_yaml()`` explains each.

    Parameters
    ----------
    seed : int, default 0
        Of everything random. Each stage has a stream of its own, so that leaving out one does
        not change the others.
    data, units, recommendation, significance, effects, power, prospective, report : Section
        Their options.

    Raises
    ------
    ValueError
        If a value is not allowed; the message names the option, the value and what is allowed.

    Examples
    --------
    >>> from permtest.study.config import StudyConfig
    >>> config = StudyConfig.from_dict({"units": {"size": 15}, "power": {"experiments": 200}})
    >>> config.units.size, config.units.metric, config.significance.alpha
    (15, 'mean', 0.05)
    >>> StudyConfig.from_dict({"units": {"sise": 15}})
    Traceback (most recent call last):
    ValueError: units.sise: there is no such option; did you mean units.size?
    """

    seed: int = _option(0, SEED, "Of everything random: the same seed, the same report.")
    data: DataOptions = field(default_factory=DataOptions, metadata={"kind": DataOptions})
    units: UnitOptions = field(default_factory=UnitOptions, metadata={"kind": UnitOptions})
    recommendation: NormalityOptions = field(
        default_factory=NormalityOptions, metadata={"kind": NormalityOptions}
    )
    significance: TestOptions = field(default_factory=TestOptions, metadata={"kind": TestOptions})
    effects: EffectOptions = field(default_factory=EffectOptions, metadata={"kind": EffectOptions})
    power: PowerOptions = field(default_factory=PowerOptions, metadata={"kind": PowerOptions})
    prospective: PlanOptions = field(default_factory=PlanOptions, metadata={"kind": PlanOptions})
    report: ReportOptions = field(default_factory=ReportOptions, metadata={"kind": ReportOptions})

    def __post_init__(self) -> None:
        for option in options(self):
            value = getattr(self, option.name)
            kind = option.metadata.get("kind")
            if kind is None:
                value = option.metadata["rule"].check(value, option.name)
                object.__setattr__(self, option.name, value)
            elif not isinstance(value, kind):
                raise ValueError(f"{option.name}: {_shown(value)} is no {kind.__name__}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StudyConfig:
        """The configuration of nested mappings; what they leave out has its default.

        Parameters
        ----------
        values : mapping
            Of options and sections: ``{"seed": 1, "units": {"size": 15}}``.

        Returns
        -------
        StudyConfig

        Raises
        ------
        ValueError
            If an option is unknown, or a value not allowed.
        """
        given = _options_of(cls, values, "the configuration", "")
        kinds = {option.name: option.metadata.get("kind") for option in options(cls)}
        return cls(**{key: _read(kinds[key], key, value) for key, value in given.items()})

    @classmethod
    def from_yaml(cls, path: StrPath) -> StudyConfig:
        """The configuration in a YAML file, such as `to_yaml` writes.

        Parameters
        ----------
        path : str or path-like
            UTF-8, at most 64 KiB.

        Returns
        -------
        StudyConfig

        Raises
        ------
        ImportError
            If PyYAML is missing.
        ValueError
            If the file cannot be read, is no YAML, or holds what is not allowed.
        """
        written = os.fspath(path)
        try:
            return cls.from_dict(_loaded(_text(Path(path))))
        except ValueError as error:
            raise ValueError(f"{written}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """All options as nested dicts of plain values, which `from_dict` takes back."""
        return {
            option.name: _plain(getattr(self, option.name))
            if "kind" not in option.metadata
            else {
                inner.name: _plain(getattr(getattr(self, option.name), inner.name))
                for inner in options(option.metadata["kind"])
            }
            for option in options(self)
        }

    def to_yaml(self) -> str:
        """All options as YAML, each with a comment that says what it means and may be.

        Returns
        -------
        str
            A text that `from_yaml` reads back as an equal configuration.
        """
        lines = ["# A study of two systems: permtest study FILE --config THIS_FILE"]
        for option in options(self):
            value = getattr(self, option.name)
            kind = option.metadata.get("kind")
            lines.append("")
            if kind is None:
                lines += _entry(option, value, "")
                continue
            lines += [*_comment(f"{kind.about}.", ""), f"{option.name}:"]
            for inner in options(kind):
                lines += _entry(inner, getattr(value, inner.name), "  ")
        return "\n".join(lines) + "\n"


def _options_of(kind: Any, values: Any, what: str, prefix: str) -> dict[str, Any]:
    """The values, all of whose keys are known."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what}: {_shown(values)} is no mapping of options to values")
    known = [option.name for option in options(kind)]
    for key in values:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"there are {', '.join(known)}"
            name = key if isinstance(key, str) else _shown(key)
            raise ValueError(f"{prefix}{name[:60]}: there is no such option; {hint}")
    return dict(values)


def _read(kind: type[Section] | None, key: str, value: Any) -> Any:
    if kind is None or isinstance(value, kind):
        return value
    # A section of which all options are commented out is read as None.
    return kind(**_options_of(kind, {} if value is None else value, key, f"{key}."))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# ---- YAML --------------------------------------------------------------------------------------


def _text(path: Path) -> str:
    """The content of a file, if it can be a configuration."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ValueError("there is no such file; check the name and the folder") from None
    except IsADirectoryError:
        raise ValueError("this is a folder; name one file in it") from None
    except OSError as error:
        raise ValueError(f"cannot be opened: {error.strerror or error}") from None
    if len(data) > LARGEST_FILE:
        raise ValueError(f"has more than {LARGEST_FILE} bytes, and is no configuration of a study")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save it as UTF-8") from None


def _loaded(text: str) -> Any:
    """What YAML says; repeated keys are refused, as one of them would be ignored."""
    try:
        import yaml
    except ImportError:
        raise ImportError("configurations need PyYAML: pip install 'permtest[study]'") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if key.value in seen:
                    line = key.start_mark.line + 1
                    raise ValueError(f"line {line}: {key.value!r} is there twice; remove one")
                seen.add(key.value if isinstance(key.value, str) else id(key))
            return super().construct_mapping(node, deep)

    try:
        found = yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise ValueError(f"{place}not YAML: {problem}") from None
    except RecursionError:
        raise ValueError("nested too deeply for a configuration") from None
    return {} if found is None else found


def _entry(option: Field[Any], value: Any, indent: str) -> list[str]:
    """Comment and value of an option."""
    about, rule = option.metadata["about"], option.metadata["rule"]
    return [
        *_comment(f"{about} Allowed: {rule.allowed}.", indent),
        f"{indent}{option.name}: {_scalar(value)}",
    ]


def _comment(text: str, indent: str) -> list[str]:
    prefix = f"{indent}# "
    return wrap(text, 100, initial_indent=prefix, subsequent_indent=prefix)


def _scalar(value: Any) -> str:
    """A value as YAML reads it back."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_scalar, value))}]"
    if value is None:
        return "null"
    if isinstance(value, float):
        text = repr(value)  # without a point, 1e-05 would be text
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    if isinstance(value, int):
        return str(value)
    return value if value in _SAFE else _quoted(value)


#: Words that need no quotes.
_SAFE = {"all", "recommended", *TESTS, *EFFECTS, *POWER_METHODS, *RULES, *METRICS, *REMAINDERS}
_SAFE |= {*FORMATS, "greater", "less"}


def _quoted(text: str) -> str:
    """Text in double quotes; whatever cannot be seen, by its code."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    return f"\\u{ord(one):04x}" if ord(one) < 2**16 else f"\\U{ord(one):08x}"
