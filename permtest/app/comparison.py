"""The page: the answer on top, then the choices, the files, and the sections of the report."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from io import BytesIO
from mimetypes import guess_type
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

try:
    import ipywidgets as widgets
except ModuleNotFoundError as error:
    message = "the app needs ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest._forms import said
from permtest.app.choices import USUAL, Choices
from permtest.app.parts import STYLE, Fold, on_page, problem, shown, working
from permtest.app.uploads import Files
from permtest.readers import File, describe
from permtest.readers.pairing import Evaluation
from permtest.report import report_files
from permtest.study import run_study
from permtest.study.document import VALUE, Table, legible, number, span
from permtest.study.overview import Overview, overview

#: What the sections of a report are called on their buttons.
TITLES = {
    "report": "the report as files to download",
    "finding": "both scores",
    "data": "the scores and where they come from",
    "units": "evaluation units",
    "recommendation": "recommended tests",
    "test": "the exact test",
    "items": "the items that differ most",
    "answers": "other tests side by side",
    "measures": "precision, recall and F1",
    "effects": "effect size",
    "curve": "power with other numbers of items",
    "power": "power, and the next study",
    "options": "the options of the study",
    "cite": "how to cite this",
}

STEM = "permtest-report"

#: Seconds between two pieces of work, in which what the person did meanwhile is heard of.
PAUSE = 0.02


class ComparisonApp(widgets.VBox):  # type: ignore[misc]
    r"""Drop in two files, and see whether one system is better.

    The exact test comes at once, then its interval and its picture; each section of the report is
    made when it is opened. Files that cannot be read leave everything as it was, with a message
    that says why.

    Parameters
    ----------
    files : path, File, or sequence of them
        What to start with, as `permtest.read` takes it.
    gold : path, File or str, optional
        What would be right: a file, or a column of a table of answers.
    a, b, score, metric : str, optional
        What is chosen at first.

    Attributes
    ----------
    files, choices
        Their controls.
    folds : dict of str to Fold
        The sections of the report by their keys, and "report": all of it as files.
    found : Overview or None
        What is shown; of the mean of single scores it is that of a study.

    Examples
    --------
    >>> from permtest.app import ComparisonApp
    >>> from permtest.readers import File
    >>> app = ComparisonApp(File("scores.csv", b"id,old,new\ns1,3,4\ns2,5,5\ns3,1,4\n"))
    >>> app.found.names, app.found.exact.pvalue
    (('old', 'new'), 0.5)
    >>> app.choices.tails.value = "less"
    >>> app.found.exact.pvalue
    0.25
    """

    def __init__(
        self,
        files: Any = (),
        *,
        gold: Any = None,
        a: str | None = None,
        b: str | None = None,
        score: str | None = None,
        metric: str | None = None,
    ) -> None:
        self.found: Overview | None = None
        self.folds: dict[str, Fold] = {}
        self._first = {"a": a, "b": b, "score": score, "metric": metric}
        self._fresh: set[str] = set()
        self._work: Iterator[None] = iter(())
        self._lock = RLock()  # JupyterLab has a thread for widgets beside that of the cells
        self.files = Files(self._other_files)
        self.choices = Choices(lambda: self._start(self._ask()))
        self.sentence, self.detail, self.picture, self.status = (widgets.HTML() for _ in range(4))
        heads = [widgets.HTML(f"<h2>{x}</h2>") for x in ("The answer", "The report")]
        answer = (heads[0], self.sentence, self.status, self.detail, self.picture)
        self._answer, self._sections = widgets.VBox(answer), widgets.VBox()
        self._report = widgets.VBox([heads[1], self._sections])
        top, below = (widgets.HTML(STYLE), self.files.top), (self.files.fold, self._report)
        super().__init__([*top, self._answer, self.choices, *below])
        self.add_class("permtest-app")
        one = isinstance(files, str | PathLike | File) or not isinstance(files, Sequence)
        listed = [files] if one else files
        if isinstance(gold, PathLike) or (isinstance(gold, str) and Path(gold).is_file()):
            gold = File.load(gold)
        self.files.load([x if isinstance(x, File) else File.load(x) for x in listed], gold)
        self._first = {}

    # ---- work, piece by piece: what a person does takes the place of what is left

    def _other_files(self) -> None:
        self.choices.offer(self.files.evaluation, **self._first)
        self._start(self._ask())

    def _start(self, work: Iterator[None]) -> None:
        """Do the first piece now, and the others when nothing else is to be done."""
        with self._lock:
            self._work = work
            self._go_on(work)

    def _go_on(self, work: Iterator[None]) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None  # all at once
        with self._lock:
            try:
                while work is self._work and next(work, self) is not self:
                    if loop is not None:
                        loop.call_later(PAUSE, self._go_on, work)
                        return
            except Exception as error:  # whatever it is: the page must go on
                self._show(problem(error, "No answer: "))

    def _ask(self) -> Iterator[None]:
        """The answer, and then the rest."""
        evaluation, asked = self.files.evaluation, self.choices
        self._fresh.clear()
        self.found = None
        if evaluation is None or asked.missing:
            self._show(problem(asked.missing) if evaluation else "")
            return
        for key, fold in self.folds.items():  # what is open follows, what is closed waits
            if key == "report" or not fold.is_open:
                fold.turn(False)
                fold.body.value = ""
        for widget in (self.detail, self.picture, *(fold.body for fold in self.folds.values())):
            widget.add_class("permtest-old")
        self.status.value = working("the exact test")
        pairs, statistic = asked.pairs(), asked.statistic.value
        how: Any = {"alternative": asked.tails.value, "alpha": asked.alpha.value}
        found: Overview
        if statistic == USUAL:
            found = run_study(pairs, config=how)
        else:  # a study is of means
            found = overview(pairs, statistic=statistic, **how)
        answer = f"<p role='status' class='permtest-verdict'>{escape(verdict(found))}</p>"
        self._show(answer, found)
        yield from self._rest()

    def _rest(self) -> Iterator[None]:
        """What is not there yet of interval, picture, and sections that are open."""
        found, evaluation = self.found, self.files.evaluation
        if found is None or evaluation is None:
            return
        jobs: dict[str, tuple[widgets.HTML, Callable[[], str]]] = {
            "the interval": (self.detail, lambda: _detail(found, evaluation)),
            "the picture": (self.picture, lambda: shown(found["finding"].figure)),
        }
        for key in ("report", *found.parts):
            if (fold := self.folds[key]).is_open:
                jobs[fold.title] = (fold.body, partial(_section, found, key, evaluation))
        for what, (widget, make) in jobs.items():
            if what not in self._fresh:
                self.status.value = working(what)
                yield
                try:
                    widget.value = make()
                except Exception as error:  # whatever it is: the answer stays
                    widget.value = problem(error)
                widget.remove_class("permtest-old")
                self._fresh.add(what)
        self.status.value = working("")

    def _show(self, answer: str, found: Overview | None = None) -> None:
        """Show the answer, or why there is none, which has nothing else with it."""
        self.found, self.sentence.value, self.status.value = found, answer, working("")
        self._answer.layout.display = None if answer else "none"
        for widget in (self.detail, self.picture, self._report):
            widget.layout.display = None if found else "none"
        keys = ("report", *found.parts) if found else ()
        for key in keys:
            if key not in self.folds:
                self.folds[key] = Fold(TITLES.get(key, key), lambda: self._start(self._rest()))
        self._sections.children = [self.folds[key] for key in keys]


def verdict(found: Overview) -> str:
    """The answer in one sentence, in which the better system comes first."""
    score, level, p = found.exact.score, number(found.alpha), found.p_text
    if found.rejected is None:
        return f"Undecided at the level {level}: it lies between the bounds of p."
    if found.rejected:
        a, b = sorted(found.names, key=lambda name: name != found.exact.better)
        claim = score.claim("greater" if score.higher_is_better else "less", (a, b))
        side = " in this direction" * (found.alternative != "two-sided")
        return (
            f"{claim} ({p}): a difference this large{side} would come up in {_share(found)} of "
            "labellings if it made no difference which system gave which answer."
        )
    claim = "{} and {} differ".format(*found.names)
    if found.alternative != "two-sided":
        claim = score.claim(found.alternative, found.names)
    unequal = "this does not show that they are equal"
    return f"No significant evidence at the level {level} that {claim} ({p}); {unequal}."


def _share(found: Overview) -> str:
    """p in per cent, of labellings."""
    bracket, share = found.exact.method == "bracket", 100 * found.exact.pvalue
    if bracket:
        share = 100 * max(found.exact.pvalue_interval())
    if share < 0.01:
        return "less than 0.01%"
    about = "at most " if bracket else "about " if found.exact.n_samples is not None else ""
    return f"{about}{share:.2g}%"


def _detail(found: Overview, evaluation: Evaluation) -> str:
    """The numbers, which systems they are of, and what was read."""
    finding, direction = found.sentence(), found.exact.score.direction
    if found.alternative != "two-sided" and found.interval is not None:
        low, high = map(number, found.interval)
        bound = f"at most {high}" if found.alternative == "less" else f"at least {low}"
        finding = finding.replace(f"interval {span(found.interval)}", f"interval {bound}")
    if direction not in finding:
        finding += f" {direction.capitalize()}."
    several, n = "", len(evaluation.systems)
    if n > 2:
        several = f"{n} systems; {found.names[0]} and {found.names[1]} are compared, unless you "
        several += "choose others below. permtest leaderboard compares all."
    read = on_page(describe(found.pairs.source, evaluation.format.title))
    return said(finding) + said(several) + said(read[:1].upper() + read[1:])


def _section(found: Overview, key: str, evaluation: Evaluation) -> str:
    """A section of the report, with its figure, its code, and the texts of items."""
    if key == "report":
        return _files(found)
    section = found[key]
    if key == "items":
        texts = [(x.id, evaluation.text(x.id)) for x in found.most_different]
        rows = tuple((legible(name), legible(text, VALUE)) for name, text in texts if text)
        tables = (Table(("item", "text"), rows, "What they are"),) * bool(rows)
        section = replace(section, tables=(*section.tables, *tables))
    code = f"<pre tabindex='0'><code>{escape(section.code)}</code></pre>" if section.code else ""
    return on_page(section._repr_html_()) + shown(section.figure) + code


def _files(found: Overview) -> str:
    """Links that hold the files themselves, so that nobody has to be asked for them."""
    files = report_files(found, stem=STEM)
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():  # without a date: the same report makes the same bytes
            archive.writestr(ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, ZIP_DEFLATED)
    alone = {name: data for name, data in files.items() if not name.startswith(f"{STEM}-")}
    links = "".join(
        f"<li><a download='{name}' href='data:{guess_type(name)[0] or 'text/plain'};base64,"
        f"{b64encode(data).decode()}'>{name}</a> ({len(data) / 1000:,.1f} kB)</li>"
        for name, data in {**alone, f"{STEM}.zip": buffer.getvalue()}.items()
    )
    return (
        f"<div role='status'><p>Ready to download; the zip has all files:</p><ul>{links}</ul></div>"
    )
