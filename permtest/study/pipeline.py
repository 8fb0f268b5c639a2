"""A study: a question with its plan, from scores to a report that can be repeated."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from shlex import join
from textwrap import wrap
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from permtest._checks import check_count, check_finite, check_level, check_option, optional
from permtest.alternatives.answer import TITLES, PairedSample
from permtest.pairs import Pairs
from permtest.statistics import Alternative, lookup
from permtest.study import document as doc
from permtest.study import sections
from permtest.study.describe import (
    Description,
    EvaluationUnits,
    UnitSizes,
    describe,
    evaluation_units,
    unit_sizes,
)
from permtest.study.document import Figure, Section, Table, number, span
from permtest.study.overview import Overview, per_item, raised
from permtest.study.power import TESTS, PowerCurve, power_curve
from permtest.study.recommend import Recommendation, recommend

#: Rows of the table of sizes of units; the figure has all sizes.
ROWS = 12


# ---- the plan ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyConfig:
    """Everything that a study lets one choose.

    Parameters
    ----------
    seed : int
        Of everything random: the same seed, the same report.
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
        check_option("power_test", self.power_test, TESTS)
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
        """The configuration in a YAML file such as `to_yaml` writes; else a ValueError says why."""
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

    def to_yaml(self) -> str:
        """All options as YAML, each with a comment, which `from_yaml` reads back."""
        yaml = optional("yaml", needed_by="a configuration", extra="study")
        about = re.findall(r"^ {4}([\w, ]+) : (.*)\n {8}(.*)$", str(self.__doc__), re.MULTILINE)
        values = self.to_dict()
        lines = ["# A study of two systems: permtest study FILE --config THIS_FILE"]
        for names, kind, text in about:
            known = {"tests": TITLES, "power_test": TESTS}.get(names, ())
            text += f" One of: {', '.join(known)}." * bool(known)
            comment = re.sub(r'[{}"]', "", f"{text} ({kind})").replace("None", "null")
            lines += ["", *wrap(comment, 99, initial_indent="# ", subsequent_indent="# ")]
            for name in names.split(", "):
                how = {"allow_unicode": str(values[name]).isprintable(), "width": 1e9}
                entry = yaml.safe_dump([values[name]], default_flow_style=True, **how)
                lines.append(f"{name}: {entry.strip()[1:-1]}")
        return "\n".join(lines) + "\n"


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


# ---- the study ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Study(Overview):
    """What `run_study` returns: an `Overview` of evaluation units, and the plan that made it.

    Parameters
    ----------
    pairs, statistic, alternative, alpha, seed, tests, delta, K, target
        As of an `Overview`; the pairs are those of the units.
    config : StudyConfig
        What was done.
    evaluation_units : EvaluationUnits or None
        What is compared: items, several of them, or whole clusters; None for counts.
    items_read : Pairs
        The scores of the items.

    Examples
    --------
    >>> from permtest.study import run_study
    >>> run_study([9, 7, 8, 6, 5, 9, 4, 8], [7, 7, 5, 6, 3, 5, 5, 6]).description.shape
    'symmetric'
    """

    config: StudyConfig = field(kw_only=True)
    evaluation_units: EvaluationUnits | None = field(kw_only=True)
    items_read: Pairs = field(kw_only=True)

    @property
    def amount(self) -> str:
        """How many units there are, and of how many items."""
        size, units = self.config.unit_size, doc.how_many(len(self.pairs), "evaluation units")
        several = f"{units} ({self.config.unit_metric}s of {size} items)"
        return super().amount if size == 1 else several

    @cached_property
    def description(self) -> Description:
        """Both columns of scores, and their differences."""
        return describe(self.units, alpha=self.alpha)

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """Which tests suit these scores; None for counts."""
        return None if self.pairs.columns else recommend(self.units, alpha=self.alpha)

    @cached_property
    def unit_sizes(self) -> UnitSizes | None:
        """How much differences vary in units of several sizes; None where it cannot be said."""
        if self.unit == "clusters":
            return None
        chosen, items = self.config, self.items_read
        how: dict[str, Any] = {"metric": chosen.unit_metric, "rng": chosen.unit_shuffle}
        how["tolerance"] = chosen.unit_tolerance
        return self._tried("units", lambda: unit_sizes(items, **how))

    @cached_property
    def curve(self) -> PowerCurve | None:
        """Simulated power against the number of units; None if it is not asked for."""
        chosen = self.config
        if chosen.power_sizes == 0:
            return None
        how: dict[str, Any] = {"test": chosen.power_test, "sizes": chosen.power_sizes}
        how |= {"experiments": chosen.power_experiments, "method": chosen.power_method}
        how |= {"alternative": self.alternative, "alpha": self.alpha, "rng": self._stream(2)}
        units = raised(self.units, chosen.delta)
        return self._tried("curve", lambda: power_curve(units, **how))

    @property
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """The sections of a study: those of the data and of the plan around those of the test."""
        keys = "finding data units assumptions recommendation test items answers measures effects "
        keys += "curve power repeat cite"
        makers = (_data, _units, _assumptions, _recommendation, _curve, _repeat)
        found = dict(super().parts)
        found |= {make.__name__[1:]: partial(make, self) for make in makers}
        unfit = "units assumptions recommendation effects curve" * bool(self.pairs.columns)
        return {x: found[x] for x in keys.split() if x in found and x not in unfit.split()}

    @property
    def attachments(self) -> Mapping[str, str]:
        """The configuration that repeats the study."""
        return {"study.yml": self.config.to_yaml()}


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
        Scores of both systems; or `Pairs`, and None. Clusters are the units where there are some.
        Counts, for a measure such as F1, come as `Pairs`.
    config : StudyConfig or mapping, optional
        What to do, or the options that are not the default ones.
    names : tuple of two str, optional
        The names of the two systems. Default: those of the `Pairs`, or a and b.

    Returns
    -------
    Study
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
    entry, one, units = lookup(chosen.statistic), chosen.unit_size == 1, None
    if isinstance(a, Pairs) and b is None and (a.columns or a.clusters is not None):
        if not one:
            what = "the clusters are the units" if a.clusters else "counts are compared as they are"
            raise ValueError(f"unit_size={chosen.unit_size} must be 1: {what}")
        pairs = replace(a, names=names or a.names)
    else:
        pairs = PairedSample.of(a, b, names=names).pairs
    pairs = replace(pairs, score=pairs.score.stated(chosen.higher_is_better))
    if not pairs.columns:
        entry = lookup("mean")
        how: dict[str, Any] = {"metric": chosen.unit_metric, "remainder": chosen.unit_remainder}
        how["rng"] = chosen.unit_shuffle
        units = evaluation_units(per_item(pairs), None, chosen.unit_size, **how)
    return Study(
        pairs if one or units is None else replace(units.pairs, source=pairs.source),
        entry,
        chosen.alternative,
        chosen.alpha,
        chosen.seed,
        chosen.tests,
        delta=chosen.delta,
        K=chosen.K,
        target=chosen.plan_power,
        config=chosen,
        evaluation_units=units,
        items_read=pairs,
    )


# ---- its own sections --------------------------------------------------------------------------


def _data(study: Study) -> Section:
    source = sections.data(study)
    if study.pairs.columns:
        text = f"Counts of {study.amount}, compared by {study.measured}. The sections that "
        text += (
            "need single scores (description, evaluation units, assumptions, recommended tests, "
        )
        text += "standardised effects, simulated power) are left out. "
        return replace(source, heading="Data", sentence=text + source.sentence)
    found = _of_units(study, study.description.section())
    per_cluster = " The score of a cluster is its sum, divided by the mean size of a cluster."
    alt = "Histograms of the scores of both systems and of their differences"
    return replace(
        source,
        heading="Data",
        sentence=f"{found.sentence}{per_cluster * (study.unit == 'clusters')} {source.sentence}",
        tables=(*found.tables, *source.tables),
        figure=Figure("plot_histograms", (study.description,), alt),
        data={**source.data, "description": found.data},
    )


def _of_units(study: Study, found: Section) -> Section:
    """What is said of pairs, where those are clusters."""
    rows = (tuple(tuple(map(study.in_units, row)) for row in table.rows) for table in found.tables)
    tables = (replace(old, rows=new) for old, new in zip(found.tables, rows, strict=True))
    return replace(found, sentence=study.in_units(found.sentence), tables=tuple(tables))


def _units(study: Study) -> Section:
    made, sizes, chosen = study.evaluation_units, study.unit_sizes, study.config
    assert made is not None, "counts have no evaluation units"
    sentence = f"Every item is a unit: {doc.how_many(len(made.pairs), 'units')}."
    if study.unit == "clusters":
        sentence = f"Every cluster is a unit: {study.amount}, whose scores are added up."
    sentence = sentence if chosen.unit_size == 1 else str(made)
    tables: tuple[Table, ...] = ()
    figure = None
    if sizes is not None:
        step = -(-len(sizes.sizes) // ROWS)
        columns = [*zip(sizes.sizes, sizes.n_units, sizes.sds, strict=True)][::step]
        rows = tuple((str(n), str(k), number(sd)) for n, k, sd in columns)
        every = "" if step == 1 else f"Every {step}th size; the figure has all"
        tables = (Table(("items in a unit", "units", "standard deviation"), rows, every),)
        alt = "Standard deviation of the difference against the size of an evaluation unit"
        sentence, figure = f"{sentence} {sizes}", Figure("plot_unit_sizes", (sizes,), alt)
    facts = {"size": chosen.unit_size, "metric": chosen.unit_metric}
    return Section(
        key="units",
        heading="Evaluation units",
        sentence=sentence,
        tables=tables,
        figure=figure,
        limits="Means of more items always vary less, so the tolerance decides which size counts "
        "as stable. Larger units are fewer, so the test gains nothing from them unless the "
        "metric makes no sense for a single item.",
        problem=study.problem("units"),
        data={"units": facts | {"left_out": made.left_out.tolist()}},
    )


def _assumptions(study: Study) -> Section:
    seen = study.description
    normal = {True: "look normal", False: "do not look normal", None: "are too few to tell"}
    alt = "Quantiles of the differences against those of a normal law (Q-Q plot)"
    return Section(
        key="assumptions",
        heading="Assumptions",
        sentence=f"The differences {normal[seen.normal]} (Shapiro-Wilk p = {seen.shapiro_p:.3g}) "
        f"and are {seen.shape} (skewness {seen.difference.skewness:.3g}). The exact test needs "
        "neither; t tests need nearly normal means, and intervals of shifts nearly symmetric "
        "differences.",
        figure=Figure("plot_quantiles", (study.units,), alt),
        limits="A test of normality misses departures in few units and finds any departure in "
        f"many; the figure says more. No table can show that the {study.unit} are "
        "independent of each other.",
    )


def _recommendation(study: Study) -> Section:
    assert study.recommendation is not None, "counts have no recommended tests"
    found = _of_units(study, study.recommendation.section())
    limits = "Choosing a test by its p-value invalidates the significance level."
    limits, data = f"{found.limits} {limits}".lstrip(), {"recommendation": found.data}
    return replace(found, heading="Recommended tests", limits=limits, data=data)


def _curve(study: Study) -> Section:
    curve, heading, problem = study.curve, "Power of other sizes", study.problem("curve")
    if curve is None:
        why = "" if study.config.power_sizes else "No simulation was asked for."
        return Section("curve", heading, why, problem=problem, data={"power_curve": None})
    lines = zip(curve.sizes, curve.power, curve.intervals, strict=True)
    rows = tuple((f"{n:,}", f"{share:.3f}", span(ends)) for n, share, ends in lines)
    alt = f"Power against the number of {study.unit}, with an interval at each size"
    return Section(
        key="curve",
        heading=heading,
        sentence=str(curve),
        tables=(Table(("units", "power", "95% interval"), rows),),
        figure=Figure("plot_power", (curve,), alt, {"target": study.config.plan_power}),
        limits="The intervals show only the error of the simulation.",
        data={"power_curve": curve.to_dict()},
    )


def _repeat(study: Study) -> Section:
    made, pairs = sections.computed_with("python", "numpy", "scipy", "numba"), study.items_read
    config = study.config.to_dict()
    options = tuple((k, "null" if x is None else doc.plain(x)) for k, x in config.items())
    scores = pairs.scale, pairs.u.tolist(), pairs.v.tolist(), pairs.clusters
    digest = hashlib.sha256(repr(scores).encode()).hexdigest()
    source = pairs.source
    words = [one["file"] for one in source.get("files", ())] or [source.get("file", "FILE")]
    words += ["--clusters", source["clusters"]] if source.get("clusters") else []
    provenance = {**source, "scores_sha256": digest, "versions": made}
    return Section(
        key="repeat",
        heading="How to repeat this",
        sentence="The same scores, options and versions give the same report, byte for byte. Save "
        "these options as study.yml:",
        tables=(
            Table(("", "value"), (*made.items(), ("scores, SHA-256", digest)), "What computed"),
            Table(("option", "value"), options, "Options"),
        ),
        code=f"permtest study {join(map(str, words))} --config study.yml --out report",
        data={"config": config, "provenance": provenance},
    )
