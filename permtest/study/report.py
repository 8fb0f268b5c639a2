"""One document about two systems, or about a leaderboard: sections, and the files made of them."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from io import BytesIO
from math import inf, isinf
from pathlib import Path
from typing import Any

import numpy as np

from permtest._errors import check_level, check_option, optional
from permtest._text import Shown, cell, counted, html_table, interval, number, plain, said, together
from permtest.alternatives import AnswerTable, answer_of, applicable, compare_all
from permtest.alternatives.registry import as_floats
from permtest.exact import exact_perm_test
from permtest.integers import with_room
from permtest.interval import ConfidenceInterval
from permtest.many.board import Leaderboard
from permtest.result import PermutationTestResult
from permtest.scores import Scores
from permtest.statistics import Statistic, lookup
from permtest.study import power
from permtest.study.describe import describe, evaluation_units, unit_sizes
from permtest.study.effects import KINDS, effect_sizes
from permtest.study.recommend import COLUMNS, recommend

FORMATS = ("html", "md", "tex", "json")
TEMPLATES = Path(__file__).with_name("templates")

#: Items that are listed, systems whose pairs are drawn, letters of a text in a table, and the most
#: cells of a null distribution that is drawn.
MOST_ITEMS, MOST_DRAWN, LETTERS, MOST_CELLS = 10, 100, 200, 5 * 10**6

#: Tests that take long with more than `MANY` pairs, and resamples of bootstraps of up to, and of
#: more than, 3 000 pairs.
SLOW = {"permutation_median", "wilcoxon", "bootstrap_median", "bootstrap_mean", "paired_bootstrap"}
MANY, RESAMPLES = 30_000, (10_000, 1_000)

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
            return cls(**yaml.safe_load(Path(source).read_text("utf-8-sig")) or {})
        except (OSError, RecursionError, TypeError, ValueError, yaml.YAMLError) as error:
            raise ValueError(f"{source}: {' '.join(str(error).split())}") from None

    def to_dict(self) -> dict[str, Any]:
        """What was said, as plain values."""
        return {key: plain(value) for key, value in vars(self).items() if value}


# ---- sections and documents ----------------------------------------------------------------------


@dataclass(frozen=True)
class Section(Shown):
    """A part of a document: a sentence, a table of rows with the headings `titles`, a picture.

    `draw` draws the picture, in a figure that is passed as ``ax``.
    """

    key: str
    heading: str
    sentence: str = ""
    table: Sequence[Mapping[str, Any]] = ()
    titles: Mapping[str, str] = field(default_factory=lambda: {"about": "", "found": ""})
    draw: Callable[..., Any] | None = None
    code: str = ""

    def cells(self) -> list[list[str]]:
        """The table as people read it."""
        return [[legible(cell(key, row.get(key))) for key in self.titles] for row in self.table]

    def _repr_html_(self) -> str:
        return together(said(self.sentence), html_table(self.table, self.titles))


def facts(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of names and what there is to be said about them."""
    return [{"about": about, "found": value} for about, value in found.items() if value]


def drawing(plot: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
    """What draws one of `permtest.plots`, which is not imported before."""
    return lambda ax: getattr(import_module("permtest.plots"), plot)(*arguments, ax=ax, **options)


def legible(text: str, most: int = LETTERS) -> str:
    """A text with names from files as one line, not too long, of letters that can be seen."""
    line = "".join(x if x.isprintable() else "\ufffd" for x in " ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


@dataclass(frozen=True, eq=False)
class Document(Shown):
    """What `report` returns: sections, and the comparison or the board that they are made of.

    The first two are the finding and what it does not say; the others are folded.
    """

    sections: Sequence[Section]
    comparison: Comparison | Leaderboard

    @property
    def sentence(self) -> str:
        """What was found."""
        return self.sections[0].sentence

    def __getitem__(self, key: str) -> Section:
        return {section.key: section for section in self.sections}[key]

    def __str__(self) -> str:
        return "\n".join(section.sentence for section in self.sections[:2])

    def rows(self) -> list[dict[str, Any]]:
        """Everything as plain values: one row."""
        found = {"title": self.sections[0].heading, "sentence": self.sentence}
        found |= self.comparison.to_dict() | {"caution": self["caution"].sentence}
        return [found | {"sections": {x.key: plain([*x.table]) for x in self.sections}}]

    def files(self, formats: Iterable[str] = FORMATS) -> dict[str, bytes]:
        """Files in memory: name -> content, of some or all of `FORMATS`."""
        made: dict[str, Callable[[], str]] = {
            "html": lambda: rendered("report.html", self.sections),
            "md": lambda: rendered("report.md", self.sections),
            "tex": self._latex,
            "json": lambda: self.to_json(indent=2),
        }
        return {f"report.{kind}": made[kind]().encode("utf-8", "replace") for kind in formats}

    def _latex(self) -> str:
        """The tables, which need no package but booktabs."""
        from pandas import DataFrame

        text = f"% {legible(self.sentence, 10**4)}\n"
        for part in filter(lambda part: part.table, self.sections):
            frame = DataFrame(part.cells(), columns=[*part.titles.values()])
            text += f"\n% {legible(part.heading)}\n{frame.to_latex(index=False, escape=True)}"
        return text

    def write(self, place: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, ...]:
        """Write the document to a folder, or to one file, and return the paths of the files.

        `place` is a file that ends in .html (a page that needs nothing else), .md, .tex (tables)
        or .json; or a folder, which is made if there is none and gets all of these. Files that
        exist are an error, unless `overwrite` is True.
        """
        path = Path(place)
        paths = {kind: path / f"report.{kind}" for kind in FORMATS}
        if path.suffix and not path.is_dir():
            kind = path.suffix[1:].lower()
            check_option("format", kind, FORMATS)
            paths = {kind: path}
        for one in paths.values():
            if one.exists() and not overwrite:
                raise FileExistsError(f"{one}: the file exists")
        for one, content in zip(paths.values(), self.files(paths).values(), strict=True):
            one.parent.mkdir(parents=True, exist_ok=True)
            one.write_bytes(content)
        return tuple(paths.values())


#: What Markdown, or the HTML in it, would take for a mark.
MARKS = {ord(mark): f"\\{mark}" for mark in "\\`*_[]|#~$@"} | {ord("<"): "&lt;", ord("&"): "&amp;"}


def rendered(template: str, sections: Sequence[Section]) -> str:
    """Sections by a template; in HTML what comes from data is escaped."""
    jinja2 = optional("jinja2", needed_by="a report", extra="study")
    how = {"autoescape": template.endswith("html"), "undefined": jinja2.StrictUndefined}
    how |= {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), **how)
    environment.filters |= {"drawn": _drawn, "unmarked": lambda text: text.translate(MARKS)}
    return str(environment.get_template(template).render(sections=sections, part=sections[0]))


def _drawn(draw: Callable[..., Any]) -> str:
    """A picture as the address of an SVG image."""
    optional("matplotlib", needed_by="a report", extra="study")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file, figure = BytesIO(), Figure((6.8, 1))
    with (
        import_module("permtest.plots").style(),
        rc_context({"svg.hashsalt": "permtest", "svg.fonttype": "path"}),
    ):
        draw(ax=figure)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"


# ---- two systems ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two systems compared, once: what the sections of a document are made of.

    `units` are what is swapped as a whole: the scores themselves, or the sums of clusters on the
    scale of items.
    """

    units: Scores
    test: PermutationTestResult
    alpha: float
    interval: ConfidenceInterval | None
    answers: AnswerTable
    config: StudyConfig

    @property
    def rejected(self) -> bool | None:
        """Whether the exact test rejects; None if its bounds lie on both sides of alpha."""
        return self.answers["exact"].rejects(self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """What the exact test found, its interval and its level, as plain values."""
        found: dict[str, Any] = {"confidence_level": self.answers.confidence_level}
        found |= {"confidence_interval": plain(self.interval), "rejected": self.rejected}
        found |= {"config": self.config.to_dict(), "paired_by": self.units.source.get("paired_by")}
        found |= {"alpha": self.alpha, "difference": float(self.test.statistic)}
        return self.test.to_dict() | found


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
    exact = answer_of("exact", test, units, entry, level)
    known = [x for x in applicable(units, entry) if len(units) <= MANY or x not in SLOW]
    tests = config.test.get("tests", known)
    others = [x for x in dict.fromkeys([*tests, *["paired_bootstrap"] * counts]) if x != "exact"]
    how["K"] = config.test.get("K", RESAMPLES[len(units) > 3_000])
    table = compare_all(units, tests=others, confidence_level=level, **how)
    ends = table["paired_bootstrap"].interval if counts else exact.interval
    exact, found = replace(exact, interval=ends), (x for x in table if x.test in tests)
    answers = replace(table, answers=(exact, *found))
    return Comparison(units, test, alpha, ends, answers, config)


def _percent(alpha: float) -> str:
    return f"{100 * (1 - alpha):.6g}% interval"


def _finding(c: Comparison) -> Section:
    test, units, level, ends = c.test, c.units, _percent(c.alpha), ""
    if c.interval is not None and c.interval != (-inf, inf):
        ends = interval(*c.interval)
    seen, asked = c.answers["exact"].estimate_name, f"p, {test.test_text()}"
    asked = asked if test.n_samples else f"p, exact {test.test_text()}"
    found = {
        f"{seen}; {level} {ends or 'unknown'}": f"{float(test.statistic):+.4g}",
        asked: test.pvalue_text(),
        f"{test.swapped}, {test.n_informative:,} differ": f"{test.n:,}",
    }
    draw = drawing("plot_estimation", units, c.interval)
    draw = drawing("plot_null", test) if units.columns else draw
    told = test.sentence() + f" The difference has a {level} of {ends}." * bool(ends)
    return Section("finding", " against ".join(units.names), told, facts(found), draw=draw)


def _caution(c: Comparison) -> Section:
    equal = "This does not show that the systems are equal."
    large = "p does not say how large the difference is, or how probable it is that there is none."
    unsaid = "Nobody said whether higher is better, so neither system is called better."
    valid = "It holds for these two systems on items like these, not for newly trained ones; and "
    valid += f"only if the {c.test.swapped} do not depend on each other."
    told = [equal if c.rejected is False else large, valid, *c.test.notes]
    told[1:1] = [unsaid] * (c.test.higher_is_better is None)
    told += [c.interval.warning] if c.interval and c.interval.warning else []
    return Section("caution", "What this does not say", "\n".join(told))


def _null(c: Comparison) -> Section:
    shown, drawn = c.test.to_dict(), c.test.n_cells <= MOST_CELLS and not c.units.columns
    keys = "pvalue log10_pvalue smallest_pvalue method method_reason error_bound reading"
    found = facts({key.replace("_", " "): shown[key] for key in keys.split()})
    told = f"If the systems were equal, the two scores of each of the {c.test.swapped} could just "
    told += f"as well be exchanged. p is the share of all 2^{c.test.n} exchanges that give a "
    told += "difference at least as extreme as the observed one."
    draw = drawing("plot_null", c.test) if drawn else None
    return Section("null", "Where p comes from", told, found, draw=draw)


def _tests(c: Comparison) -> Section:
    told = (
        "Decide by the test that you chose beforehand: choosing it by its p invalidates the level."
    )
    rows = [
        x.to_dict() | {"rejects": x.rejects(c.alpha), "interval": x.interval} for x in c.answers
    ]
    titles = {"title": "test", "p": "p", "rejects": "rejects", "interval": _percent(c.alpha)}
    titles["assumptions"] = "assumptions"
    draw = drawing("plot_answers", c.answers, alpha=c.alpha)
    return Section("tests", "Other tests side by side", told, rows, titles, draw)


def _effects(c: Comparison) -> Section:
    alpha, chosen = c.config.effects.get("alpha", c.alpha), c.config.effects.get("sizes", KINDS)
    for name in chosen:
        check_option("effects.sizes", name, KINDS)
    found, level = [x for x in effect_sizes(c.units) if x.name in chosen], round(1 - alpha, 12)
    rows = [x.to_dict() | {"interval": tuple(x.confidence_interval(level))} for x in found]
    titles = {"title": "effect size", "value": "value", "interval": _percent(alpha)}
    titles |= {"label": "in Cohen's words", "method": "interval by"}
    return Section("effects", "Effect sizes", "", rows, titles)


def _next(c: Comparison) -> Section:
    options: dict[str, Any] = {"target": 0.8, "alpha": c.alpha, **c.config.power}
    side = {"alpha": options["alpha"], "alternative": c.test.alternative}
    how, share = {"power": options["target"], **side}, f"{options['target']:.0%}"
    unit, gaps = c.test.swapped, as_floats(c.units.differences(), c.units.scale)
    least, found = power.fewest_units(**side), {}

    def needed(end: float) -> str:
        of = {"delta": end, "sigma": float(gaps.std(ddof=1))}
        if np.isin(gaps, (-1, 0, 1)).all():  # on as many items as before, if so few can make that
            apart = max(float(np.mean(gaps != 0)), min(abs(end), 1.0))
            of = {"p_b": (apart + end) / 2, "p_c": (apart - end) / 2}
        try:
            return f"{least if isinf(end) else power.units_needed(of, **how):,}"
        except ValueError:
            return "more than anybody has"

    told = f"These {unit} do not tell in which direction the systems differ, so no number of "
    told += f"{unit} follows from them. Decide what difference would matter, and ask permtest plan."
    if gaps.size >= least and np.ptp(gaps):
        delta = power.minimum_detectable_effect(gaps.size, float(gaps.std(ddof=1)), **how)
        what = f"smallest difference that {gaps.size:,} {unit} find in {share} of all studies"
        found[what] = f"{number(abs(delta), 4)} (by the t-test)"
    low, high = sorted(c.interval or (0.0, 0.0), key=abs)
    if c.rejected and np.ptp(gaps) and low * high > 0:
        what = f"{unit} needed to find it again with a power of {share}"
        found[what] = f"{needed(high)} to {needed(low)}"
        told = "The numbers are those at either end of the interval of the difference. Plan for "
        told += "the smallest difference that matters: significant ones tend to be overestimated."
    return Section("next", "The next study", told, facts(found))


def _items(c: Comparison) -> Section:
    units, (a, b), rows = c.units, c.units.names, []
    d = as_floats(units.differences(), units.scale)
    for i in np.argsort(-np.abs(d), kind="stable")[:MOST_ITEMS].tolist():
        if d[i]:
            item = f"item {i + 1}" if units.ids is None else units.ids[i]
            first, second = (float(Fraction(int(x[i]), units.scale)) for x in units.arrays)
            rows.append({"item": item, a: first, b: second, "adds": d[i] / len(d)})
    up, down = int(np.sum(d > 0)), int(np.sum(d < 0))
    told = (
        f"{a} scores higher on {counted(up, c.test.swapped)}, {b} on {down}, and "
        f"{d.size - up - down} do not differ. The {len(rows)} that differ most are listed: read "
        "them before you explain the difference."
    )
    titles = {
        "item": c.test.swapped.removesuffix("s"),
        a: a,
        b: b,
        "adds": "adds to the difference",
    }
    return Section("items", "Items behind the difference", told, rows, titles)


def _data(c: Comparison, scores: Scores) -> list[Section]:
    """What the data look like, in which units, and which tests suit them (manual, 3.1)."""
    options, (a, b) = {"alpha": 0.05, "tolerance": None, **c.config.data}, c.units.names
    seen, tolerance = describe(c.units, alpha=options.pop("alpha")), options.pop("tolerance")
    shown = {"a": seen.a, "b": seen.b, "difference": seen.difference}
    rows: list[dict[str, Any]] = [
        {"about": about.replace("_", " ")} | {name: column[about] for name, column in shown.items()}
        for about in shown["a"]
    ]
    titles = {"about": "", "a": a, "b": b, "difference": "difference"}
    draw = drawing("plot_scores", c.units)
    found = [Section("data", "The data", str(seen), rows, titles, draw)]
    if len(scores) > 3 and scores.clusters is None:
        how = {key: x for key, x in c.config.units.items() if key != "size"}
        told = "Standard deviations of the differences of units, and the sizes of units at which "
        told += "they hardly change."
        heads = {"size": "items in a unit", "units": "units", "sd": "sd", "stable": "stable"}
        sizes = unit_sizes(scores, tolerance=tolerance, **how)
        found.append(Section("units", "Evaluation units", told, sizes, heads))
    advice = recommend(c.units, alpha=c.alpha, **options)
    return [*found, Section("advice", "Recommended tests", str(advice), advice.tests, COLUMNS)]


def _power(c: Comparison) -> Section:
    how = {"sizes": 5, "experiments": 1000, "alpha": c.alpha, **c.config.power}
    target, side = how.pop("target", 0.8), c.test.alternative
    try:
        curve = power.power_curve(c.units, alternative=side, rng=c.config.seed, **how)
    except ValueError as error:  # the scores are unfit for it
        return Section("power", "Power", f"It was not simulated: {error}.")
    draw = drawing("plot_power", curve, target=target)
    lines = zip(curve.sizes, curve.power, curve.intervals, strict=True)
    rows = [{"n": n, "power": share, "interval": ends} for n, share, ends in lines]
    titles = {"n": c.test.swapped, "power": "power", "interval": "95% interval"}
    told = f"{curve} Power from the same scores as p adds nothing to p; use it to plan."
    return Section("power", "Power", told, rows, titles, draw)


def _origin(source: Mapping[str, Any], config: Mapping[str, Any]) -> list[Section]:
    """Where the scores come from, by which settings they were compared, and what to cite."""
    found = {f"file {x['file']}": f"SHA-256 {x['sha256']}" for x in source.get("files", ())}
    for key in [key for key in source if key != "files"]:
        texts = source[key] if isinstance(source[key], list | tuple) else [source[key]]
        found[key.replace("_", " ")] = ", ".join(map(str, texts))
    told = "" if found else "permtest received the scores from a program, not from files."
    yaml = optional("yaml", needed_by="a configuration", extra="study") if config else None
    code, version = yaml.safe_dump(config) if yaml else "", import_module("permtest").__version__
    bib = (TEMPLATES / "cite.bib").read_text("utf-8").replace("VERSION", version)
    cite = Section("cite", "How to cite", f"Computed with permtest {version}.", code=bib)
    return [Section("source", "Where from", told, facts(found), code=code), cite]


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
    statistic, alternative
        As in `exact_perm_test`, "mean" and "two-sided" by default; sums are reported as means.
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
        Its `sentence`; its `sections`, such as ``document["tests"]``, with a sentence and a
        `table`; and the `comparison` that all of it is made of: `test`, `interval` and `answers`,
        or the board. ``document.write(place)`` makes files.

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
    >>> document = report(pt.Scores.of([1, 1, 1, 0], [0, 1, 0, 0], ("new", "old")))
    >>> document["finding"].table[2]
    {'about': 'pairs, 2 differ', 'found': '4'}
    """
    if isinstance(scores, Leaderboard):
        return _of_board(scores)
    chosen = StudyConfig.of(config)
    entry = lookup("mean" if statistic in (None, "sum") else statistic)
    if not isinstance(scores, Scores) or v is not None:
        scores = Scores.of(scores, v, names)
    scores = units = replace(scores, systems=tuple(map(legible, names or scores.systems)))
    if chosen.units.get("size", 1) != 1:
        units = evaluation_units(scores, None, **chosen.units)
    side = alternative or chosen.test.get("alternative", "two-sided")
    level = check_level(chosen.test.get("alpha", 0.05) if alpha is None else alpha)
    c = _compare(units, entry, side, level, chosen)
    first, last = [_finding(c), _caution(c)], _origin(units.source, chosen.to_dict())
    if entry.columns:
        return Document([*first, _null(c), _tests(c), *last], c)
    data, simulated = ([], []) if config is None else (_data(c, scores), [_power(c)])
    middle = [_null(c), _tests(c), _effects(c), *simulated, _next(c), _items(c)]
    return Document([*first, *data, *middle, *last], c)


def _of_board(board: Leaderboard) -> Document:
    """The ranking of a leaderboard, and what stands behind it."""
    several, size = board.baseline is None, counted(len(board.systems), "systems")
    numbers = {"systems": f"{len(board.systems):,}", "items": f"{board.n:,}"}
    numbers[f"of {len(board):,} comparisons show a difference"] = f"{board.differs.sum():,}"
    told = "Systems that share a letter are not shown to differ. " * several
    told += f"All intervals of differences hold together with a confidence of {1 - board.alpha:g}."
    small = "Systems that are not shown to differ may still differ, by less than these "
    caution = "\n".join([f"{small}{board.unit} can show.", *map(legible, board.remarks())])
    draw = drawing("plot_ranking", board)
    title, sentence = f"Leaderboard of {size}", legible(board.sentence(), 10**4)
    sections = [
        Section("finding", title, sentence, facts(numbers), draw=draw),
        Section("caution", "What this does not say", caution),
        Section("ranking", "Ranking", told, board.rows(), board.titles),
    ]
    if several and len(board.systems) <= MOST_DRAWN:
        sections.append(Section("pairs", "All pairs", draw=drawing("plot_pairs", board)))
    return Document([*sections, *_origin(board.scores.source, {})], board)
