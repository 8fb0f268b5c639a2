"""One document about two systems, or about a leaderboard: sections, and the files made of them."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from html import escape
from importlib import import_module
from io import BytesIO
from math import inf, isinf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from permtest._errors import check_level, check_option, optional
from permtest._text import Shown, cell, counted, html_table, interval, number, plain, said, together
from permtest.alternatives import Answer, AnswerTable, applicable, compare_all, registry
from permtest.exact import exact_perm_test
from permtest.integers import exact_sum, with_room
from permtest.interval import ConfidenceInterval
from permtest.many.board import Leaderboard
from permtest.result import PermutationTestResult
from permtest.scores import Scores
from permtest.statistics import Statistic, lookup, measured
from permtest.study import power
from permtest.study.describe import describe, evaluation_units, unit_sizes
from permtest.study.effects import KINDS, effect_sizes
from permtest.study.recommend import COLUMNS, recommend

FORMATS = ("html", "md", "tex", "json")
TEMPLATES = Path(__file__).with_name("templates")

#: Items that are listed, systems whose pairs are drawn, letters of a text in a table, inches of
#: the width of a picture, and the most cells of a null distribution that is drawn.
MOST_ITEMS, MOST_DRAWN, LETTERS, WIDTH, MOST_CELLS = 10, 100, 200, 6.8, 5 * 10**6

#: Tests that take long with more than `MANY` pairs, and resamples of bootstraps, fewer with more
#: than `CHEAP` pairs.
SLOW = {"permutation_median", "wilcoxon", "bootstrap_median", "bootstrap_mean", "paired_bootstrap"}
MANY, RESAMPLES, FEWER, CHEAP = 30_000, 10_000, 1_000, 3_000

#: The options of each step of a study.
OPTIONS = {
    "units": ("size", "metric", "rng"),
    "data": ("alpha", "tolerance", "rule", "estimand"),
    "test": ("alternative", "alpha", "tests", "K"),
    "effects": ("sizes", "alpha"),
    "power": ("test", "sizes", "experiments", "delta", "alpha", "target"),
}


@dataclass(frozen=True)
class StudyConfig:
    """The settings of each step of a study, as a YAML file has them.

    Parameters
    ----------
    units : mapping
        ``size`` of an evaluation unit in items (1), its ``metric`` ("mean" or "median" of them),
        and ``rng``, a seed that shuffles them first.
    data : mapping
        ``alpha`` of the test of normality (0.05), ``tolerance`` for standard deviations of sizes of
        units that are called stable, and the ``rule`` ("exact" or "manual") and ``estimand``
        ("mean" or "median") of `recommend`.
    test : mapping
        ``alternative``, ``alpha`` (0.05), the ``tests`` beside the exact one, and ``K``, the number
        of resamples of bootstrap tests.
    effects : mapping
        The ``sizes`` to report, and ``alpha``: their intervals have a confidence of 1 - alpha.
    power : mapping
        The ``test`` whose power is simulated, how many ``sizes`` (5; a list has the sizes
        themselves), ``experiments`` at each (1 000), the true difference ``delta`` if it is not
        that of the data, ``alpha``, and the power that is the ``target`` of the next study (0.8).
    seed : int
        Of what is random.

    Examples
    --------
    >>> from permtest.study import StudyConfig
    >>> StudyConfig(units={"sise": 15})
    Traceback (most recent call last):
    ValueError: units.sise: there is no such option; there are size, metric, rng
    """

    units: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] = field(default_factory=dict)
    effects: Mapping[str, Any] = field(default_factory=dict)
    power: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for step, known in OPTIONS.items():
            options = getattr(self, step)
            if not isinstance(options, Mapping):
                raise TypeError(f"{step}: {options!r} must be a mapping of options to values")
            for name in options.keys() - known:
                there = f"there is no such option; there are {', '.join(known)}"
                raise ValueError(f"{step}.{name}: {there}")

    @classmethod
    def of(cls, source: Any) -> StudyConfig:
        """Of a configuration, a mapping, None, or the path of a YAML file."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping | None):
            return cls(**source or {})
        yaml = optional("yaml", needed_by="a configuration", extra="study")
        try:
            found = yaml.safe_load(Path(source).read_text("utf-8-sig"))
            if not isinstance(found, Mapping | None):
                raise TypeError("a configuration must be a mapping of steps to options")
            return cls.of(found)
        except (OSError, RecursionError, TypeError, ValueError, yaml.YAMLError) as error:
            raise ValueError(f"{source}: {' '.join(str(error).split())}") from None

    def to_dict(self) -> dict[str, Any]:
        """What was said, as plain values."""
        return {key: plain(value) for key, value in vars(self).items() if value}


# ---- what is computed, once ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
    """Two systems compared: what the sections of a document are made of.

    `units` are what is swapped as a whole: the scores themselves, or the sums of clusters on the
    scale of items. `contributions` are what each of them adds to the difference, times N.
    """

    units: Scores
    measure: str
    test: PermutationTestResult
    alpha: float
    interval: ConfidenceInterval | None
    answers: AnswerTable
    contributions: registry.Floats
    config: StudyConfig

    @property
    def rejected(self) -> bool | None:
        """Whether the exact test rejects; None if its bounds lie on both sides of alpha."""
        return self.answers["exact"].rejects(self.alpha)

    def rows(self) -> list[dict[str, Any]]:
        """What the exact test found, its interval and its level: one row."""
        found = {"confidence_interval": plain(self.interval), "rejected": self.rejected}
        found |= {"alpha": self.alpha, "confidence_level": round(1 - self.alpha, 12)}
        found |= {"difference": float(self.test.statistic), "config": self.config.to_dict()}
        return [self.test.to_dict() | found | {"paired_by": self.units.source.get("paired_by")}]


def _compare(
    scores: Scores, entry: Statistic, alternative: str, alpha: float, config: StudyConfig
) -> Comparison:
    """The exact test, made once, and what stands beside it."""
    units, counts, level = scores.units, bool(entry.columns), round(1 - alpha, 12)
    if scores.clusters is not None and not counts:  # whose mean is to be that of the items
        arrays = [with_room(x, len(units)) * len(units) for x in units.arrays]
        units = replace(units, arrays=arrays, scale=scores.scale * len(scores))
    how: dict[str, Any] = {"statistic": entry, "alternative": alternative, "rng": config.seed}
    test = exact_perm_test(scores, **how)
    known = [x for x in applicable(units, entry) if len(units) <= MANY or x not in SLOW]
    tests = config.test.get("tests", known)
    others = [x for x in dict.fromkeys([*tests, *["paired_bootstrap"] * counts]) if x != "exact"]
    how["K"] = config.test.get("K", RESAMPLES if len(units) <= CHEAP else FEWER)
    table = compare_all(units, tests=others, confidence_level=level, **how)
    ends = table["paired_bootstrap"].interval if counts else None
    if not counts and test.n_samples is None:
        ends = test.confidence_interval(level)
    title = f"{entry.title} difference" if counts else registry.MEAN
    assumed = () if counts else (registry.LABELS, registry.ITEMS)
    checks = tuple(registry.verdict(x, units) for x in assumed)
    exact = Answer("exact", test, float(test.statistic), title, ends, checks)
    answers = replace(table, answers=(exact, *(x for x in table if x.test in tests)))
    measure, added = entry.title or f"mean {units.score or 'score'}", _contributions(units, entry)
    return Comparison(units, measure, test, alpha, ends, answers, added, config)


def _contributions(scores: Scores, entry: Statistic) -> registry.Floats:
    """What each item adds to the difference, times N.

    A measure of counts is no mean of items: an item adds half of what the difference loses if the
    systems' counts of it are exchanged, which is right but for second-order terms.
    """
    if not entry.columns:
        return registry.as_floats(scores.differences(), scores.scale)
    measure, addends = measured(entry, scores)
    first, second = (x.astype(np.float64) for x in addends)
    totals = [np.array([exact_sum(column) for column in x.T], np.float64) for x in addends]
    moved = second - first
    swapped = measure.values(totals[0] + moved) - measure.values(totals[1] - moved)
    seen = measure.values(totals[0][None]) - measure.values(totals[1][None])
    return np.where(moved.any(axis=1), (seen - swapped) * len(scores) / 2, 0.0)


# ---- sections ------------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A picture that ``permtest.plots.<plot>(*arguments, **options)`` draws, and what it shows."""

    plot: str
    arguments: tuple[Any, ...]
    shows: str
    options: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Section(Shown):
    """A part of a document: a sentence, a table of rows with the headings `titles`, a picture."""

    key: str
    heading: str
    sentence: str = ""
    table: Sequence[Mapping[str, Any]] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    picture: Picture | None = None
    code: str = ""

    @classmethod
    def of_facts(cls, key: str, heading: str, told: str, facts: Any, **more: Any) -> Section:
        """A section whose table has names and what is to be said about them."""
        rows = [{"about": about, "found": x} for about, x in facts.items() if x]
        return cls(key, heading, told, rows, {"about": "", "found": ""}, **more)

    def cells(self) -> list[list[str]]:
        """The table as people read it."""
        return [[_legible(cell(key, row.get(key))) for key in self.titles] for row in self.table]

    def _repr_html_(self) -> str:
        return together(said(self.sentence), html_table(self.table, self.titles))

    def to_html(self) -> str:
        """The section with its heading and its picture, as a part of a page."""
        return f"<h3>{escape(self.heading)}</h3>{_rendered('section.html', self)}"


def _legible(text: str, most: int = LETTERS) -> str:
    """A text with names from files as one line, not too long, of letters that can be seen."""
    line = "".join(x if x.isprintable() else "\ufffd" for x in " ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _percent(alpha: float) -> str:
    return f"{100 * (1 - alpha):.6g}% interval"


def _null(c: Comparison) -> Section:
    """p, and how it was computed."""
    test, shown = c.test, c.test.to_dict()
    keys = "pvalue", "log10_pvalue", "smallest_pvalue", "method", "method_reason", "error_bound"
    found = {key.replace("_", " "): shown[key] for key in (*keys, "reading")}
    told = "If the systems were equal, the two scores of each of the "
    told += f"{test.swapped} could just as well be exchanged. p is the share of all 2^{test.n} "
    told += "exchanges that give a difference at least as extreme as the observed one."
    shows = f"Null distribution of the test; p = {test.pvalue_text()}"
    picture = None if test.n_cells > MOST_CELLS else Picture("plot_null", (test,), shows)
    return Section.of_facts("null", "Where p comes from", told, found, picture=picture)


def _tests(c: Comparison) -> Section:
    """All tests of the same units side by side."""
    titles = {"title": "test", "p": "p", "rejects": "rejects", "interval": _percent(c.alpha)}
    titles["assumptions"] = "assumptions"
    told = (
        "Decide by the test that you chose beforehand: choosing it by its p invalidates the level."
    )
    rows = [
        answer.to_dict() | {"rejects": answer.rejects(c.alpha), "interval": answer.interval}
        for answer in c.answers
    ]
    shows = "p of all tests, and the intervals of what they estimate"
    picture = Picture("plot_answers", (c.answers,), shows, {"alpha": c.alpha})
    return Section("tests", "Other tests side by side", told, rows, titles, picture)


def _effects(c: Comparison) -> Section:
    """Effect sizes with their intervals."""
    alpha, chosen = c.config.effects.get("alpha", c.alpha), c.config.effects.get("sizes", KINDS)
    for name in chosen:
        check_option("effects.sizes", name, KINDS)
    rows, warnings = [], []
    for effect in () if c.units.columns else effect_sizes(c.units):
        if effect.name in chosen:
            ends = effect.confidence_interval(round(1 - alpha, 12))
            rows.append(effect.to_dict() | {"interval": tuple(ends)})
            warnings.append(effect.warning)
    titles = {"title": "effect size", "value": "value", "interval": _percent(alpha)}
    titles |= {"label": "in Cohen's words", "method": "interval by"}
    told = " ".join(dict.fromkeys(filter(None, warnings)))
    told = told if rows else "For such scores there is none but the difference itself."
    return Section("effects", "Effect sizes", told, rows, titles)


def _next(c: Comparison) -> Section:
    """What another study of such systems would find."""
    target, unit = c.config.power.get("target", 0.8), c.test.swapped
    alpha, side = c.config.power.get("alpha", c.alpha), c.test.alternative
    how: dict[str, Any] = {"power": target, "alpha": alpha, "alternative": side}
    gaps, n, found = c.contributions, len(c.units), {}
    told = (
        f"These {unit} do not tell in which direction the systems differ, so no number of {unit} "
        "follows from them. Decide what difference would matter, and ask permtest plan."
    )
    if n >= power.fewest_units(alpha, side) and np.ptp(gaps):
        least = abs(power.minimum_detectable_effect(n, float(gaps.std(ddof=1)), **how))
        what = f"smallest difference that {n:,} {unit} find in {target:.0%} of all studies"
        found[what] = f"{number(least, 4)} (by the t-test)"
    low, high = sorted(c.interval or (0.0, 0.0), key=abs)
    if c.rejected and np.ptp(gaps) and low * high > 0:
        few, many = (_units_at(end, gaps, **how) for end in (high, low))
        found[f"{unit} needed to find it again with a power of {target:.0%}"] = f"{few} to {many}"
        told = (
            "The numbers are those at either end of the interval of the difference. Plan for "
            "the smallest difference that matters: significant ones tend to be overestimated."
        )
    return Section.of_facts("next", "The next study", told, found)


def _units_at(end: float, gaps: registry.Floats, **how: Any) -> str:
    """The units needed for a difference whose spread is that of these `gaps`."""
    of = power.observed_effect(gaps)
    if "p_b" in of:  # on as many items as before, if so few can make that difference
        apart = max(of["p_b"] + of["p_c"], min(abs(end), 1.0))
        of = {"p_b": (apart + end) / 2, "p_c": (apart - end) / 2}
    else:
        of["delta"] = end
    try:
        least = power.fewest_units(how["alpha"], how["alternative"])
        return f"{least if isinf(end) else power.units_needed(of, **how):,}"
    except ValueError:
        return "more than anybody has"


def _items(c: Comparison) -> Section:
    """The items that make the difference."""
    d, units, (a, b) = c.contributions, c.units, c.units.names
    up, down = (int(np.sum(side * d > 0)) for side in (1, -1))
    order = np.argsort(-np.abs(d), kind="stable")[:MOST_ITEMS].tolist()
    unit, rows = c.test.swapped.removesuffix("s"), []
    for i in filter(d.__getitem__, order):
        item = f"item {i + 1}" if units.ids is None else units.ids[i]
        rows.append({"item": item, a: _score(units, 0, i), b: _score(units, 1, i)})
        rows[-1]["adds"] = d[i] / len(d)
    told = (
        f"{a} scores higher on {counted(up, f'{unit}s')}, {b} on {down}, and {d.size - up - down} "
        f"do not differ. The {len(rows)} that differ most are listed: read them before you explain "
        "the difference."
    )
    titles = {"item": unit, a: a, b: b, "adds": "adds to the difference"}
    return Section("items", "Items behind the difference", told, rows, titles)


def _score(scores: Scores, system: int, item: int) -> float | str:
    """What a system scores on an item: a number, or counts with their names."""
    found = scores.arrays[system][item]
    if not scores.columns:
        return float(Fraction(int(found), scores.scale))
    counts = zip(np.atleast_2d(found).sum(axis=0).tolist(), scores.columns, strict=True)
    return ", ".join(f"{count} {name}" for count, name in counts)


def _data(c: Comparison, scores: Scores) -> list[Section]:
    """What the data look like, in which units, and which tests suit them (manual, 3.1)."""
    options, (a, b) = c.config.data, c.units.names
    seen = describe(c.units, alpha=options.get("alpha", 0.05))
    columns = {
        "a": seen.a.to_dict(),
        "b": seen.b.to_dict(),
        "difference": seen.difference.to_dict(),
    }
    rows: list[dict[str, Any]] = [
        {"about": name.replace("_", " ")} | {key: column[name] for key, column in columns.items()}
        for name in columns["a"]
    ]
    titles = {"about": "", "a": a, "b": b, "difference": "difference"}
    picture = Picture("plot_scores", (c.units,), "The scores of both systems")
    found = [Section("data", "The data", str(seen), rows, titles, picture)]
    if len(scores) > 3 and scores.clusters is None:
        how = {key: x for key, x in c.config.units.items() if key != "size"}
        rows = unit_sizes(scores, tolerance=options.get("tolerance"), **how)
        told = "Standard deviations of the differences of units, and the sizes of units at which "
        told += "they hardly change."
        heads = {"size": "items in a unit", "units": "units", "sd": "sd", "stable": "stable"}
        found.append(Section("units", "Evaluation units", told, rows, heads))
    how = {key: options[key] for key in ("rule", "estimand") if key in options}
    advice = recommend(c.units, alpha=c.alpha, **how)
    return [*found, Section("advice", "Recommended tests", str(advice), advice.tests, COLUMNS)]


def _power(c: Comparison) -> Section:
    """Simulated power against the number of units (manual, 3.4)."""
    how = {"sizes": 5, "experiments": 1000, "alpha": c.alpha, **c.config.power}
    options, side = {"target": how.pop("target", 0.8)}, c.test.alternative
    try:
        curve = power.power_curve(c.units, alternative=side, rng=c.config.seed, **how)
    except ValueError as error:  # the scores are unfit for it
        return Section("power", "Power", f"It was not simulated: {error}.")
    lines = zip(curve.sizes, curve.power, curve.intervals, strict=True)
    rows = [{"n": n, "power": share, "interval": ends} for n, share, ends in lines]
    titles = {"n": c.test.swapped, "power": "power", "interval": "95% interval"}
    picture = Picture("plot_power", (curve,), "Simulated power and number of units", options)
    told = f"{curve} Power from the same scores as p adds nothing to p; use it to plan."
    return Section("power", "Power", told, rows, titles, picture)


def _origin(source: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> list[Section]:
    """Where the scores come from, by which settings they were compared, and what to cite."""
    found = {
        key.replace("_", " "): ", ".join(map(str, x)) if isinstance(x, list | tuple) else x
        for key, x in source.items()
        if key != "files"
    }
    found |= {f"file {x['file']}": f"SHA-256 {x['sha256']}" for x in source.get("files", ())}
    told = "" if found else "permtest received the scores from a program, not from files."
    yaml = optional("yaml", needed_by="a configuration", extra="study") if config else None
    code = yaml.safe_dump(config) if yaml else ""
    version = import_module("permtest").__version__
    bib = (TEMPLATES / "cite.bib").read_text("utf-8").replace("VERSION", version)
    cite = Section("cite", "How to cite", f"Computed with permtest {version}.", code=bib)
    return [Section.of_facts("source", "Where from", told, found, code=code), cite]


# ---- the document --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Document(Shown):
    """What `report` returns: a first page and folded sections, to be read or written to files."""

    title: str
    sentence: str
    numbers: Mapping[str, str]
    picture: Picture
    caution: Sequence[str]
    sections: Sequence[Section]
    comparison: Comparison | Leaderboard

    def __getitem__(self, key: str) -> Section:
        return {section.key: section for section in self.sections}[key]

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.caution])

    def _repr_html_(self) -> str:
        parts = (
            f"<details><summary>{part.heading}</summary>{part._repr_html_()}</details>"
            for part in self.sections
        )
        return together(*map(said, (self.sentence, *self.caution)), *parts)

    def rows(self) -> list[dict[str, Any]]:
        """Everything as plain values: one row."""
        found = {"title": self.title, "sentence": self.sentence, **self.comparison.to_dict()}
        parts = {part.key: [plain(row) for row in part.table] for part in self.sections}
        return [found | {"caution": list(self.caution), "sections": parts}]

    def to_html(self) -> str:
        """A page that needs nothing else."""
        return _rendered("report.html", self)

    def to_latex(self) -> str:
        """The tables as LaTeX, which needs no package but booktabs."""
        from pandas import DataFrame

        text = f"% {' '.join(self.sentence.split())}\n"
        for part in [Section.of_facts("", self.title, "", self.numbers), *self.sections]:
            if part.table:
                frame = DataFrame(part.cells(), columns=list(part.titles.values()))
                text += f"\n% {_legible(part.heading)}\n{frame.to_latex(index=False, escape=True)}"
        return text

    def files(self, formats: Iterable[str] = FORMATS) -> dict[str, bytes]:
        """Files in memory: name -> content, of some or all of `FORMATS`."""
        made: dict[str, Callable[[], str]] = {"html": self.to_html, "tex": self.to_latex}
        made |= {
            "md": partial(_rendered, "report.md", self),
            "json": partial(self.to_json, indent=2),
        }
        return {f"report.{kind}": made[kind]().encode("utf-8", "replace") for kind in formats}

    def write(self, place: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, ...]:
        """Write the document to a folder, or to one file, and return the paths of the files.

        `place` is a file that ends in .html (a page that needs nothing else), .md, .tex (tables)
        or .json; or a folder, which is made if there is none and gets all of these. Files that
        exist are an error, unless `overwrite` is True.
        """
        paths = destination(place, overwrite=overwrite)
        made = self.files([path.suffix[1:].lower() for path in paths])
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        for path, content in zip(paths, made.values(), strict=True):
            path.write_bytes(content)
        return paths


def destination(place: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, ...]:
    """The files that `Document.write` makes; an error if they cannot be there."""
    path = Path(place)
    paths = tuple(path / f"report.{name}" for name in FORMATS)
    if path.suffix and not path.is_dir():
        check_option("format", path.suffix[1:].lower(), FORMATS)
        paths = (path,)
    for one in (path,) if path.is_file() else paths:
        if one.exists() and not overwrite:
            raise FileExistsError(f"{one}: the file exists")
    return paths


#: What Markdown, or the HTML in it, would take for a mark.
MARKS = {ord(mark): f"\\{mark}" for mark in "\\`*_[]|#~$@"} | {ord("<"): "&lt;", ord("&"): "&amp;"}


def _rendered(template: str, part: Any) -> str:
    """Something by its template; in HTML what comes from data is escaped."""
    jinja2 = optional("jinja2", needed_by="a report", extra="study")
    how = {"autoescape": template.endswith("html"), "undefined": jinja2.StrictUndefined}
    how |= {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), **how)
    environment.filters |= {"drawn": _drawn, "unmarked": lambda text: text.translate(MARKS)}
    return str(environment.get_template(template).render(document=part, part=part))


def _drawn(picture: Picture) -> str:
    """A picture as the address of an SVG image."""
    optional("matplotlib", needed_by="a report", extra="study")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    plots, file, figure = import_module("permtest.plots"), BytesIO(), Figure((WIDTH, 1))
    with plots.style(), rc_context({"svg.hashsalt": "permtest", "svg.fonttype": "path"}):
        getattr(plots, picture.plot)(*picture.arguments, ax=figure, **picture.options)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"


# ---- the two kinds of documents ------------------------------------------------------------------


def report(
    scores: Any,
    v: Any = None,
    *,
    statistic: str | Statistic | None = None,
    alternative: str | None = None,
    alpha: float | None = None,
    names: tuple[str, str] | None = None,
    config: Any = None,
) -> Document:
    """Compare two systems, and say all there is to say about it; or show a leaderboard.

    Parameters
    ----------
    scores : Scores, array_like of shape (N,), or Leaderboard
        Scores of two systems, with clusters or repeated runs if there are such, or counts; those of
        the first system; or what `compare_many` returns, which takes no options.
    v : array_like of shape (N,), optional
        Scores of the second system.
    statistic : str or Statistic, default "mean"
        One of `STATISTICS`; sums are reported as means, whose p is the same.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
    alpha : float, default 0.05
        Level of the tests; intervals have a confidence of ``1 - alpha``.
    names : tuple of two str, optional
        The names of the two systems.
    config : StudyConfig, mapping or path, optional
        The settings of each step (a path is that of a YAML file); what is passed beside it wins.
        With it the document also describes the data, compares sizes of units, recommends tests and
        simulates their power, if there is a single score for each item.

    Returns
    -------
    Document
        Its `sentence`, the three `numbers` and the `caution` of the first page; `sections`, such as
        ``document["tests"]``, with a sentence and a `table`; and the `comparison` that all of it is
        made of: `test`, `interval`, `answers`, `contributions` of items, or the board.
        ``document.write(place)`` makes files.

    Raises
    ------
    TypeError, ValueError
        If the scores do not fit the statistic, or an option is unknown or not allowed.

    Notes
    -----
    Each number is computed once. Cost: a second for thousands of items, half a minute for 200 000.

    Examples
    --------
    >>> import permtest as pt
    >>> from permtest.study import report
    >>> report(pt.Scores.of([1, 1, 1, 0], [0, 1, 0, 0], ("new", "old"))).numbers["pairs, 2 differ"]
    '4'
    """
    if isinstance(scores, Leaderboard):
        return _of_board(scores)
    chosen, entry = StudyConfig.of(config), lookup(statistic or "mean")
    entry = lookup("mean") if entry.name == "sum" else entry
    if not isinstance(scores, Scores) or v is not None:
        scores = Scores.of(scores, v, names)
    scores = units = replace(scores, systems=tuple(map(_legible, names or scores.systems)))
    if chosen.units.get("size", 1) != 1:
        if entry.columns or scores.clusters is not None:
            raise ValueError("units.size must be 1, as clusters or counts are the units")
        units = evaluation_units(scores, None, **chosen.units)
    side = alternative or chosen.test.get("alternative", "two-sided")
    level = check_level(chosen.test.get("alpha", 0.05) if alpha is None else alpha)
    c = _compare(units, entry, side, level, chosen)
    sections = [_null(c), _tests(c), _effects(c), _next(c), _items(c)]
    if config is not None and not entry.columns:
        sections = [*_data(c, scores), *sections[:3], _power(c), *sections[3:]]
    return _of_two(c, [*sections, *_origin(units.source, chosen.to_dict())])


def _of_two(c: Comparison, sections: Sequence[Section]) -> Document:
    """The first page of a comparison."""
    test, level, gap, ends = c.test, _percent(c.alpha), float(c.test.statistic), ""
    if c.interval is not None and c.interval != (-inf, inf):
        ends = interval(*c.interval)
    numbers = {
        f"difference in {c.measure}; {level} {ends or 'unknown'}": f"{gap:+.4g}",
        f"p, {'exact ' * (test.n_samples is None)}{test.test_text()}": test.pvalue_text(),
        f"{test.swapped}, {test.n_informative:,} differ": f"{test.n:,}",
    }
    shows = "The difference on each item, and the overall difference with its interval"
    options = {"contributions": c.contributions, "difference": gap, "measure": c.measure}
    picture = Picture("plot_estimation", (c.units, c.interval), shows)
    caution = [
        "p does not say how large the difference is, or how probable it is that there is none.",
        "Nobody said whether higher is better, so neither system is called better.",
        "It holds for these two systems on items like these, not for newly trained ones; and only "
        f"if the {test.swapped} do not depend on each other.",
        c.interval.warning if c.interval else None,
        *test.notes,
    ]
    if c.rejected is False:
        caution[0] = "This does not show that the systems are equal."
    if test.higher_is_better is not None:
        caution[1] = None
    return Document(
        title=" against ".join(c.units.names),
        sentence=test.sentence() + f" The difference has a {level} of {ends}." * bool(ends),
        numbers=numbers,
        picture=picture._replace(options=options) if c.units.columns else picture,
        caution=[text for text in caution if text],
        sections=sections,
        comparison=c,
    )


def _of_board(board: Leaderboard) -> Document:
    """The ranking of a leaderboard, and what stands behind it."""
    several, size = board.baseline is None, counted(len(board.systems), "systems")
    told = "Systems that share a letter are not shown to differ. " * several
    told += f"All intervals of differences hold together with a confidence of {1 - board.alpha:g}."
    sections = [Section("ranking", "Ranking", told, board.rows(), board.titles)]
    if several and len(board.systems) <= MOST_DRAWN:
        shows = f"Differences and adjusted p of all pairs of {size}"
        picture = Picture("plot_pairs", (board,), shows)
        sections.append(Section("pairs", "All pairs", picture=picture))
    numbers = {"systems": f"{len(board.systems):,}", "items": f"{board.n:,}"}
    numbers[f"of {len(board):,} comparisons show a difference"] = f"{board.differs.sum():,}"
    caution = "Systems that are not shown to differ may still differ, by less than these "
    return Document(
        title=f"Leaderboard of {size}",
        sentence=_legible(board.sentence(), 10**4),
        numbers=numbers,
        picture=Picture("plot_ranking", (board,), f"What {size} score"),
        caution=[f"{caution}{board.unit} can show.", *map(_legible, board.remarks())],
        sections=[*sections, *_origin(board.scores.source)],
        comparison=board,
    )
