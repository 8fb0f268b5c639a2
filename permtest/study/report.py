"""One document about two systems, or about a leaderboard: sections, and the files made of them."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from permtest.study.describe import describe, evaluation_units
from permtest.study.effects import KINDS, effect_sizes
from permtest.study.recommend import COLUMNS, recommend

FORMATS = ("html", "md", "tex", "json")
TEMPLATES = Path(__file__).with_name("templates")

#: Items that are listed, letters of a text in a table, cells of a null distribution that is drawn.
MOST_ITEMS, LETTERS, MOST_CELLS = 10, 200, 5 * 10**6

#: Tests that take long with more than `MANY` pairs, and resamples of bootstraps of up to, and of
#: more than, 3 000 pairs.
SLOW = {"permutation_median", "wilcoxon", "bootstrap_median", "bootstrap_mean", "paired_bootstrap"}
MANY, RESAMPLES = 30_000, (10_000, 1_000)

#: The settings of each step of a study; None stands for what depends on the scores or on another.
SETTINGS: dict[str, Any] = {
    "units": {"size": 1, "metric": "mean", "rng": None},
    "data": {"alpha": 0.05, "rule": "exact", "estimand": "mean"},
    "test": {"alternative": "two-sided", "alpha": 0.05, "tests": None, "K": None},
    "effects": {"sizes": [*KINDS], "alpha": None},
    "power": {"test": "exact", "sizes": None, "experiments": 1000, "delta": None}
    | {"alpha": None, "target": 0.8},
    "seed": 0,
}


def settings(source: Any) -> dict[str, Any]:
    """All settings, with those of a mapping, or of the YAML file with this path; None has none."""
    if isinstance(source, Mapping | None):
        return _completed(source or {}, SETTINGS)
    yaml = optional("yaml", needed_by="a configuration", extra="study")
    try:
        return _completed(yaml.safe_load(Path(source).read_text("utf-8-sig")) or {}, SETTINGS)
    except (OSError, RecursionError, TypeError, ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{source}: {' '.join(str(error).split())}") from None


def _completed(given: Any, usual: Mapping[str, Any], name: str = "config") -> dict[str, Any]:
    """What is given, and for the rest the usual values, in mappings within them too."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name}: {given!r} must be a mapping of options to values")
    for option in [option for option in given if option not in usual]:
        raise ValueError(f"{name}.{option}: there is no such option; there are {', '.join(usual)}")
    steps = [x for x in given if isinstance(usual[x], dict)]
    own = {x: _completed(given[x], usual[x], f"{name}.{x}") for x in steps}
    return {**usual, **given, **own}


@dataclass(frozen=True)
class Section(Shown):
    """A part of a document; `titles` head its table, and `draw` draws in the figure ``ax``."""

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


def filled(options: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """Options, with others in place of None."""
    return {name: others.get(name) if x is None else x for name, x in options.items()}


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
    """What `report` returns; its first `sections` are the finding, and what that does not say."""

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
        """Files in memory, of some or all of `FORMATS`; LaTeX has the tests, or ranking, alone."""
        found = {}
        for kind in formats:
            check_option("format", kind, FORMATS)
            if kind == "tex":
                part = self["ranking" if isinstance(self.comparison, Leaderboard) else "tests"]
                pandas = optional("pandas", needed_by="a table in LaTeX", extra="study")
                frame = pandas.DataFrame(part.cells(), columns=[*part.titles.values()])
                text = frame.to_latex(index=False, escape=True)
            else:
                page = kind != "json"
                text = rendered(f"report.{kind}", self.sections) if page else self.to_json(indent=2)
            found[f"report.{kind}"] = str(text).encode("utf-8", "replace")
        return found

    def write(self, place: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the document to a new file, or over one if `overwrite`, and return its path.

        `place` ends in .html (a page that needs nothing else), .md, .tex (a table) or .json.
        """
        path = Path(place)
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; choose another name or --force (overwrite=True)")
        (content,) = self.files([path.suffix[1:].lower()]).values()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


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
    figure = import_module("matplotlib.figure").Figure((6.8, 1))
    with import_module("permtest.plots").style():
        draw(ax=figure)
        file = BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two systems, compared once; `units` are scores, or sums of clusters on the scale of items."""

    units: Scores
    test: PermutationTestResult
    alpha: float
    answers: AnswerTable
    config: Mapping[str, Any]

    @property
    def interval(self) -> ConfidenceInterval | None:
        """That of the difference, if there is one; of a ratio that of the paired bootstrap."""
        return self.answers["paired_bootstrap" if self.units.columns else "exact"].interval

    def to_dict(self) -> dict[str, Any]:
        """What the exact test found, its interval and its level, as plain values."""
        found: dict[str, Any] = {"confidence_level": self.answers.confidence_level}
        found |= {"rejected": self.answers["exact"].rejects(self.alpha)}
        found |= {"confidence_interval": plain(self.interval), "config": plain(self.config)}
        found |= {"paired_by": self.units.source.get("paired_by"), "alpha": self.alpha}
        return self.test.to_dict() | found | {"difference": float(self.test.statistic)}


def _compare(scores: Scores, entry: Statistic, config: Mapping[str, Any]) -> Comparison:
    """The exact test, made once, and what stands beside it."""
    units, counts, options = scores.units, bool(entry.columns), config["test"]
    if scores.clusters is not None and not counts:  # whose mean is to be that of the items
        arrays = [with_room(x, len(units)) * len(units) for x in units.arrays]
        units = replace(units, arrays=arrays, scale=scores.scale * len(scores))
    alpha, side = check_level(options["alpha"]), options["alternative"]
    how: dict[str, Any] = {"statistic": entry, "alternative": side, "rng": config["seed"]}
    test, level = exact_perm_test(scores, **how), round(1 - alpha, 12)
    known = [x for x in applicable(units, entry) if len(units) <= MANY or x not in SLOW]
    options = filled(options, tests=known, K=RESAMPLES[len(units) > 3_000])
    asked = dict.fromkeys([*options["tests"], *["paired_bootstrap"] * counts])
    others = [x for x in asked if x != "exact"]
    table = compare_all(units, tests=others, confidence_level=level, K=options["K"], **how)
    exact = answer_of("exact", test, units, entry, level)
    return Comparison(units, test, alpha, replace(table, answers=(exact, *table)), config)


def _percent(alpha: float) -> str:
    return f"{100 * (1 - alpha):.6g}% interval"


def _finding(c: Comparison) -> Section:
    test, units, level = c.test, c.units, _percent(c.alpha)
    way = " (paired bootstrap, approximate)" * bool(units.columns)
    ends = interval(*c.interval) + way if c.interval and c.interval != (-inf, inf) else ""
    seen = c.answers["exact"].estimate_name
    found = {
        f"{seen}; {level} {ends or 'unknown'}": f"{float(test.statistic):+.4g}",
        f"p, {'exact ' * (not test.n_samples)}{test.test_text()}": test.pvalue_text(),
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
    told = [equal if c.answers["exact"].rejects(c.alpha) is False else large]
    told += [unsaid] * (c.test.higher_is_better is None) + [valid, *c.test.notes]
    told += filter(None, [c.interval and c.interval.warning, c.units.source.get("lacking")])
    return Section("caution", "What this does not say", "\n".join(told))


def _null(c: Comparison) -> Section:
    shown, question = c.test.to_dict(), c.test._question
    drawn = question and question.lattice is None and question.law.top < MOST_CELLS
    keys = "pvalue log10_pvalue smallest_pvalue method method_reason error_bound reading"
    found = facts({key.replace("_", " "): shown[key] for key in keys.split()})
    told = f"If the systems were equal, the two scores of each of the {c.test.swapped} could just "
    told += f"as well be exchanged. p is the share of all 2^{c.test.n} exchanges that give a "
    told += "difference at least as extreme as the observed one."
    draw = drawing("plot_null", c.test) if drawn else None
    return Section("null", "Where p comes from", told, found, draw=draw)


def _tests(c: Comparison) -> Section:
    told = "Decide by the test that you chose beforehand: choosing it by its p invalidates the "
    told += "level."
    own = ({"rejects": x.rejects(c.alpha), "interval": x.interval} for x in c.answers)
    rows = [x.to_dict() | of for x, of in zip(c.answers, own, strict=True)]
    titles = {"title": "test", "p": "p", "rejects": "rejects", "interval": _percent(c.alpha)}
    titles["assumptions"] = "assumptions"
    draw = drawing("plot_answers", c.answers, alpha=c.alpha)
    return Section("tests", "Other tests side by side", told, rows, titles, draw)


def _effects(c: Comparison) -> Section:
    chosen, alpha = filled(c.config["effects"], alpha=c.alpha).values()
    for name in chosen:
        check_option("effects.sizes", name, KINDS)
    found, level = [x for x in effect_sizes(c.units) if x.name in chosen], round(1 - alpha, 12)
    rows = [x.to_dict() | {"interval": tuple(x.confidence_interval(level))} for x in found]
    titles = {"title": "effect size", "value": "value", "interval": _percent(alpha)}
    titles |= {"label": "in Cohen's words", "method": "interval by"}
    return Section("effects", "Effect sizes", "", rows, titles)


def _next(c: Comparison) -> Section:
    options, unit = filled(c.config["power"], alpha=c.alpha), c.test.swapped
    target, alpha, side = options["target"], options["alpha"], c.test.alternative
    found: dict[str, str] = {}
    how: dict[str, Any] = {"power": target, "alpha": alpha, "alternative": side}
    gaps, least = as_floats(c.units.differences(), c.units.scale), power.fewest_units(alpha, side)

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
        what = f"smallest difference that {gaps.size:,} {unit} find in {target:.0%} of all studies"
        found[what] = f"{number(abs(delta), 4)} (by the t-test)"
    low, high = sorted(c.interval or (0.0, 0.0), key=abs)
    if c.answers["exact"].rejects(c.alpha) and np.ptp(gaps) and low * high > 0:
        what = f"{unit} needed to find it again with a power of {target:.0%}"
        found[what] = f"{needed(high)} to {needed(low)}"
        told = "The numbers are those at either end of the interval of the difference. Plan for "
        told += "the smallest difference that matters: significant ones tend to be overestimated."
    return Section("next", "The next study", told, facts(found))


def _items(c: Comparison) -> Section:
    units, unit = c.units, c.test.swapped
    u, v, d = (as_floats(x, units.scale) for x in (*units.arrays, units.differences()))
    (a, b), most = units.names, min(MOST_ITEMS, np.count_nonzero(d))
    rows = [
        {"item": units.ids[i] if units.ids else f"item {i + 1}", a: u[i], b: v[i]}
        | {"adds": d[i] / len(d)}
        for i in np.argsort(-np.abs(d), kind="stable")[:most]
    ]
    up, down = int(np.sum(d > 0)), int(np.sum(d < 0))
    told = f"{a} scores higher on {counted(up, unit)}, {b} on {down}, and {d.size - up - down} do "
    told += f"not differ. The {len(rows)} that differ most are listed: read them before you "
    told += "explain the difference."
    titles = {"item": unit.removesuffix("s"), a: a, b: b, "adds": "adds to the difference"}
    return Section("items", "Items behind the difference", told, rows, titles)


def _data(c: Comparison) -> list[Section]:
    """What the data look like, and which tests suit them (manual, 3.1)."""
    options, (a, b) = {**c.config["data"]}, c.units.names
    seen = describe(c.units, alpha=options.pop("alpha"))
    titles = {"a": a, "b": b, "difference": "difference"}
    rows = [
        {"about": about.replace("_", " ")} | {name: getattr(seen, name)[about] for name in titles}
        for about in seen.difference
    ]
    draw, advice = drawing("plot_scores", c.units), recommend(c.units, alpha=c.alpha, **options)
    data = Section("data", "The data", str(seen), rows, {"about": ""} | titles, draw)
    return [data, Section("advice", "Recommended tests", str(advice), advice.tests, COLUMNS)]


def _power(c: Comparison) -> Section:
    how, side = filled(c.config["power"], alpha=c.alpha, sizes=5), c.test.alternative
    target = how.pop("target")
    curve = power.power_curve(c.units, alternative=side, rng=c.config["seed"], **how)
    titles = {"n": c.test.swapped, "power": "power", "interval": "95% interval"}
    lines = zip(curve.sizes, curve.power, curve.intervals, strict=True)
    rows = [dict(zip(titles, line, strict=True)) for line in lines]
    told = f"{curve.sentence(target)} Power from these scores adds nothing to p; use it to plan."
    draw = drawing("plot_power", curve, target=target)
    return Section("power", "Power", told, rows, titles, draw)


def _origin(source: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> list[Section]:
    """Where the scores come from, by which settings they were compared, and what to cite."""
    found = {f"file {x['file']}": f"SHA-256 {x['sha256']}" for x in source.get("files", ())}
    for key in [key for key in source if key != "files"]:
        texts = source[key] if isinstance(source[key], list | tuple) else [source[key]]
        found[key.replace("_", " ")] = ", ".join(map(str, texts))
    told = "" if found else "permtest received the scores from a program, not from files."
    steps = plain(config).items() if config else ()
    code = "".join(f"{step}: {json.dumps(options)}\n" for step, options in steps)  # also YAML
    version = import_module("permtest").__version__
    bib = (TEMPLATES / "cite.bib").read_text("utf-8").replace("VERSION", version)
    cite = Section("cite", "How to cite", f"Computed with permtest {version}.", code=bib)
    return [Section("source", "Where from", told, facts(found), code=code), cite]


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

    It takes a second for thousands of items, and half a minute for 200 000.

    Parameters
    ----------
    scores, v : as in `exact_perm_test`, or Leaderboard
        Scores of two systems, with clusters or repeated runs if there are such, or counts; or what
        `compare_many` returns, which takes no options.
    statistic, alternative
        As in `exact_perm_test`, "mean" and "two-sided" by default; sums are reported as means.
    alpha : float, default 0.05
        Level of the tests; intervals have a confidence of ``1 - alpha``.
    names : tuple of two str, optional
        The names of the two systems.
    config : mapping or path, optional
        The settings of a study, or the path of a YAML file that has them; what is passed beside it
        wins. With it the document also describes the data, recommends tests and simulates their
        power, if there is a single score for each item. Each step has a mapping of its own:

        - ``units``: the ``size`` of an evaluation unit in items (1), its ``metric`` ("mean" or
          "median" of them), and ``rng``, a seed that shuffles them first;
        - ``data``: ``alpha`` of the test of normality (0.05), and the ``rule`` ("exact" or
          "manual") and ``estimand`` ("mean" or "median") of `recommend`;
        - ``test``: ``alternative``, ``alpha`` (0.05), the ``tests`` beside the exact one, and
          ``K``, the number of resamples of bootstrap tests;
        - ``effects``: the ``sizes`` to report, and ``alpha``; intervals have 1 - alpha;
        - ``power``: ``test``, ``sizes`` (5), ``experiments`` (1 000), ``delta`` and ``alpha`` of
          `power_curve`, and the power that is the ``target`` of the next study (0.8);
        - ``seed``: an integer, of what is random.

    Returns
    -------
    Document
        Its `sentence`; its `sections`, such as ``document["tests"]``, with a sentence and a
        `table`; and the `comparison` that all of it is made of: `test`, `interval` and `answers`,
        or the board. ``document.write(place)`` makes files.

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
    chosen, given = settings(config), {"alternative": alternative, "alpha": alpha}
    test = chosen["test"] | filled(given, **chosen["test"])
    entry = lookup("mean" if statistic in (None, "sum") else statistic)
    scores = Scores.of(scores, v, names, counts=bool(entry.hits))
    scores = units = replace(scores, systems=tuple(map(legible, scores.systems)))
    if chosen["units"]["size"] != 1:
        units = evaluation_units(scores, None, **chosen["units"])
    c = _compare(units, entry, chosen | {"test": test})
    first, last = [_finding(c), _caution(c)], _origin(units.source, c.config if config else None)
    if entry.columns:
        return Document([*first, _null(c), _tests(c), *last], c)
    data, simulated = ([], []) if config is None else (_data(c), [_power(c)])
    middle = [_null(c), _tests(c), _effects(c), *simulated, _next(c), _items(c)]
    return Document([*first, *data, *middle, *last], c)


def _of_board(board: Leaderboard) -> Document:
    """The ranking of a leaderboard, and what stands behind it."""
    size = counted(len(board.systems), "systems")
    numbers = {"systems": f"{len(board.systems):,}", "items": f"{board.n:,}"}
    numbers[f"of {len(board):,} comparisons show a difference"] = f"{board.differs.sum():,}"
    told = "Systems that share a letter are not shown to differ. " * (board.baseline is None)
    told += f"All intervals of differences hold together with a confidence of {1 - board.alpha:g}."
    small = "Systems that are not shown to differ may still differ, by less than these "
    remarks = [*board.remarks(), board.scores.source.get("lacking", "")]
    small += "items can show." if board.scores.clusters is None else "clusters can show."
    caution = "\n".join([small, *map(legible, filter(None, remarks))])
    draw = drawing("plot_ranking", board)
    title, sentence = f"Leaderboard of {size}", legible(board.sentence(), 10**4)
    sections = [
        Section("finding", title, sentence, facts(numbers), draw=draw),
        Section("caution", "What this does not say", caution),
        Section("ranking", "Ranking", told, board.rows(), board.titles),
    ]
    return Document([*sections, *_origin(board.scores.source)], board)
