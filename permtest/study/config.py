"""The configuration of a study: what a YAML file may say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from permtest._checks import check_count, check_finite, check_level, check_option, optional
from permtest.alternatives.registry import TITLES
from permtest.statistics import Alternative, lookup
from permtest.study.power import BATCH


@dataclass(frozen=True)
class StudyConfig:
    """Everything that a study lets one choose.

    Parameters
    ----------
    seed : int
        Of everything random.
    a, b : str, int or None
        Columns of the systems, by name, or by number from 1.
    higher_is_better : bool or None
        Whether higher scores are better; None for what their name says.
    statistic : str
        What is compared: mean scores, or a measure of counts, such as f1.
    alternative : {"two-sided", "greater", "less"}
        Whether system A differs, scores higher, or scores lower.
    delta : float
        By how much A is ahead under the null hypothesis, per item.
    alpha : float
        Level of all tests; intervals have a confidence of 1 - alpha.
    tests : list of str or None
        Tests beside the exact one; None for all that apply.
    K : int
        Resamples of each bootstrap test.
    unit_size : int
        Items in an evaluation unit.
    unit_metric : {"mean", "median"}
        What a unit scores: this of its items.
    unit_shuffle : int or None
        Seed by which items are shuffled before they are dealt to units; None for their order.
    unit_remainder : {"error", "drop"}
        Whether items too few for another unit are an error, or left out.
    unit_tolerance : float or None
        By how much a standard deviation may change at sizes that are called stable.
    power_test : str
        The test whose power is simulated.
    power_method : {"bootstrap", "normal"}
        Whether samples are drawn from the data, or from the normal law (Monte Carlo).
    power_sizes : int or list of int
        Numbers of units, or how many of them up to that of the data; 0 for no simulation.
    power_experiments : int
        Simulated experiments at each of them.
    plan_power : float
        The power that the next study is planned for.

    Raises
    ------
    TypeError, ValueError
        If a value is not allowed; the message names the option, the value and what is allowed.

    Examples
    --------
    >>> from permtest.study import StudyConfig
    >>> config = StudyConfig.from_dict({"unit_size": 15, "power_experiments": 200})
    >>> config.unit_size, config.unit_metric, config.alpha
    (15, 'mean', 0.05)
    >>> StudyConfig.from_dict({"unit_sise": 15})
    Traceback (most recent call last):
    ValueError: unit_sise: there is no such option; did you mean unit_size?
    """

    seed: int = 0
    a: str | int | None = None
    b: str | int | None = None
    higher_is_better: bool | None = None
    statistic: str = "mean"
    alternative: Alternative = "two-sided"
    delta: float = 0.0
    alpha: float = 0.05
    tests: tuple[str, ...] | None = None
    K: int = 10_000
    unit_size: int = 1
    unit_metric: Literal["mean", "median"] = "mean"
    unit_shuffle: int | None = None
    unit_remainder: Literal["error", "drop"] = "error"
    unit_tolerance: float | None = None
    power_test: str = "exact"
    power_method: Literal["bootstrap", "normal"] = "bootstrap"
    power_sizes: int | tuple[int, ...] = 5
    power_experiments: int = 1_000
    plan_power: float = 0.8

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            if isinstance(value := getattr(self, name), list):
                object.__setattr__(self, name, value := tuple(value))
            if value is not None or NoneType not in get_args(kind):
                _check(value, name, kind)
        check_level(self.alpha)
        check_level(self.plan_power, "plan_power")
        lookup(self.statistic)
        check_option("power_test", self.power_test, BATCH)
        for test in self.tests or ():
            check_option("tests", test, TITLES)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StudyConfig:
        """The options that a mapping has; an unknown one is a ValueError."""
        if not isinstance(values, Mapping):
            raise ValueError("a configuration must be a mapping of options to values")
        known = [one.name for one in fields(cls)]
        for key in values:
            if key not in known:
                close = get_close_matches(str(key), known, n=1)
                more = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
                raise ValueError(f"{str(key)[:60]}: there is no such option; {more}")
        return cls(**values)

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> StudyConfig:
        """The configuration in a YAML file; a ValueError says why if there is none in it."""
        yaml = optional("yaml", needed_by="a configuration", extra="study")
        try:
            values = yaml.safe_load(Path(path).read_text("utf-8-sig"))
            return cls.from_dict({} if values is None else values)
        except FileNotFoundError:
            raise ValueError(f"{os.fspath(path)}: there is no such file") from None
        except (OSError, RecursionError, TypeError, ValueError, yaml.YAMLError) as error:
            raise ValueError(f"{os.fspath(path)}: {' '.join(str(error).split())}") from None

    def to_dict(self) -> dict[str, Any]:
        """All options as plain values, which `from_dict` takes back."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}


def _check(value: Any, name: str, kind: Any) -> None:
    """Raise an error that names the option unless a value is of the kind that it is declared as."""
    kinds = get_args(kind) or (kind,)
    if get_origin(kind) is Literal:
        check_option(name, value, kinds)
    elif bool in kinds:
        if not isinstance(value, bool):
            raise TypeError(f"{name}={value!r} must be true or false")
    elif float in kinds:
        check_finite(value, name)
    elif tuple[str, ...] in kinds and not isinstance(value, tuple):
        raise TypeError(f"{name}={value!r} must be a list of names")
    elif isinstance(value, tuple) and int in kinds:
        for size in value:
            check_count(size, name)
    elif int in kinds and str not in kinds:
        check_count(value, name, least=0)
    elif tuple[str, ...] not in kinds and not isinstance(value, (str, int)):
        raise TypeError(f"{name}={value!r} must be text")
