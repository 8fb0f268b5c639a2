"""Everything that a study lets one choose, and how that is read from a file and written to one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

from permtest.study.describe import METRICS, REMAINDERS
from permtest.study.options import (
    EFFECTS,
    FORMATS,
    TESTS,
    DataOptions,
    EffectOptions,
    NormalityOptions,
    PlanOptions,
    PowerOptions,
    ReportOptions,
    Section,
    TestOptions,
    UnitOptions,
    options,
)
from permtest.study.power import METHODS
from permtest.study.recommend import RULES
from permtest.study.rules import SEED, choice, shown

#: A configuration is a page of text; whatever is longer is another file.
LARGEST_FILE = 2**16

#: A file's name, as `open` takes it.
StrPath: TypeAlias = "str | os.PathLike[str]"


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

    seed: int = choice(0, SEED, "Of everything random: the same seed, the same report.")
    data: DataOptions = field(default_factory=DataOptions)
    units: UnitOptions = field(default_factory=UnitOptions)
    recommendation: NormalityOptions = field(default_factory=NormalityOptions)
    significance: TestOptions = field(default_factory=TestOptions)
    effects: EffectOptions = field(default_factory=EffectOptions)
    power: PowerOptions = field(default_factory=PowerOptions)
    prospective: PlanOptions = field(default_factory=PlanOptions)
    report: ReportOptions = field(default_factory=ReportOptions)

    def __post_init__(self) -> None:
        for option in options(self):
            value = getattr(self, option.name)
            kind = _kind(option)
            if kind is None:
                value = option.metadata["rule"].check(value, option.name)
                object.__setattr__(self, option.name, value)
            elif not isinstance(value, kind):
                raise ValueError(f"{option.name}: {shown(value)} is no {kind.__name__}")

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
        kinds = {option.name: _kind(option) for option in options(cls)}
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
        return {option.name: _plain(getattr(self, option.name)) for option in options(self)}

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
            kind = _kind(option)
            lines.append("")
            if kind is None:
                lines += _entry(option, value, "")
                continue
            lines += [*_comment(f"{kind.about}.", ""), f"{option.name}:"]
            for inner in options(kind):
                lines += _entry(inner, getattr(value, inner.name), "  ")
        return "\n".join(lines) + "\n"


def _kind(option: Field[Any]) -> type[Section] | None:
    """The class of a section; None for an option that belongs to none."""
    kind: Any = option.default_factory
    return None if kind is MISSING else kind


def _options_of(kind: Any, values: Any, what: str, prefix: str) -> dict[str, Any]:
    """The values, all of whose keys are known."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what}: {shown(values)} is no mapping of options to values")
    known = [option.name for option in options(kind)]
    for key in values:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"there are {', '.join(known)}"
            name = key if isinstance(key, str) else shown(key)
            raise ValueError(f"{prefix}{name[:60]}: there is no such option; {hint}")
    return dict(values)


def _read(kind: type[Section] | None, key: str, value: Any) -> Any:
    if kind is None or isinstance(value, kind):
        return value
    # A section of which all options are commented out is read as None.
    return kind(**_options_of(kind, {} if value is None else value, key, f"{key}."))


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return {inner.name: _plain(getattr(value, inner.name)) for inner in options(value)}
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
                line = key.start_mark.line + 1
                if not isinstance(key.value, str):
                    raise ValueError(f"line {line}: the name of an option must be a word")
                if key.value in seen:
                    raise ValueError(f"line {line}: {key.value!r} is there twice; remove one")
                seen.add(key.value)
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
_SAFE = {"all", "recommended", *TESTS, *EFFECTS, *METHODS, *RULES, *METRICS, *REMAINDERS}
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
