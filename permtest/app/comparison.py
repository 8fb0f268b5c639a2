"""The app: files, choices, answer and export below each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from os import PathLike
from typing import Any

try:
    import ipywidgets as widgets
except ModuleNotFoundError as error:
    message = "the app needs ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.app import page
from permtest.app.answer import AnswerStep
from permtest.app.choices import ChoicesStep, Question
from permtest.app.export import ExportStep
from permtest.app.stages import Stages
from permtest.app.uploads import EXAMPLE_SYSTEMS, FilesStep
from permtest.pairs import Pairs
from permtest.readers import File, describe
from permtest.study.overview import Overview, overview


class ComparisonApp:
    r"""Drop in two files, and see whether one system is better.

    Four steps below each other: the files, what is to be compared, the answer, and the report to
    take away. The exact test and its picture come at once, everything else after them.

    Parameters
    ----------
    files : path, File, or sequence of them, optional
        What to start with, as `permtest.read` takes it.
    gold : path, File or str, optional
        What would be right: a file, or a column of a table of answers.
    example : bool, default True
        Whether to start with the bundled example where no files are given.
    a, b, score, metric : str, optional
        What is chosen at first.

    Attributes
    ----------
    files : FilesStep
    choices : ChoicesStep
    answer : AnswerStep
    export : ExportStep
    status : ipywidgets.HTML
        What is being worked on.
    box : ipywidgets.VBox
        All of them together.
    found : Overview or None
        What is shown.

    Notes
    -----
    Files that are uploaded stay in the memory of the session. Those that cannot be read leave
    everything as it was, with a message that says why.

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
        files: Any = None,
        *,
        gold: Any = None,
        example: bool = True,
        a: str | None = None,
        b: str | None = None,
        score: str | None = None,
        metric: str | None = None,
    ) -> None:
        self.found: Overview | None = None
        self._pairs: tuple[Any, Pairs] | None = None
        self._first = {"a": a, "b": b, "score": score, "statistic": metric}
        self._at_once = True
        self._stages = Stages(self._failed)
        self.files = FilesStep(self._other_files)
        self.choices = ChoicesStep(self._other_question)
        self.answer = AnswerStep(self._more)
        self.export = ExportStep(self._make_report)
        self.status = widgets.HTML(page.working(""))
        steps = (self.files.box, self.choices.box, self.status, self.answer.box, self.export.box)
        self.box = widgets.VBox([widgets.HTML(page.STYLE), *steps], layout={"width": "100%"})
        self.box.add_class("permtest-app")
        self._start(files, gold, example)
        self._at_once, self._first = False, {}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _start(self, files: Any, gold: Any, example: bool) -> None:
        if files is not None:
            listed = [files] if _is_one(files) else files
            opened = [one if isinstance(one, File) else File.load(one) for one in listed]
            self.files.load(opened, gold)
        elif example:
            self._first |= dict(zip("ab", EXAMPLE_SYSTEMS, strict=True))
            self.files.use_example()

    # ---- what a person does

    def _other_files(self) -> None:
        self._stages.start(self._take_files(), at_once=self._at_once)

    def _other_question(self) -> None:
        self._stages.start(self._ask(), at_once=self._at_once)

    def _more(self) -> None:
        """A part was opened."""
        if self.found is not None:
            self._stages.start(self._rest(), at_once=self._at_once)

    def _make_report(self) -> None:
        if self.found is not None:
            self._stages.start(self._report(), at_once=self._at_once)

    # ---- work, piece by piece

    def _take_files(self) -> Iterator[None]:
        self._pairs = None
        self._work_on("the files")
        self.choices.offer(self.files.evaluation, **self._first)
        yield from self._ask()

    def _ask(self) -> Iterator[None]:
        self.found = None
        self.export.forget()
        evaluation = self.files.evaluation
        if evaluation is None:
            self.answer.hide()
            self._work_on("")
            return
        question = self.choices.question
        self._work_on("the scores of both systems")
        pairs = self._read(question)
        self._work_on(f"the exact test of {len(pairs):,} items")
        found = overview(
            pairs,
            statistic=question.statistic,
            alternative=question.alternative,
            alpha=question.alpha,
        )
        self.answer.begin(found)
        self.found = found
        yield
        yield from self._rest()

    def _rest(self) -> Iterator[None]:
        assert self.found is not None
        assert self.files.evaluation is not None
        for what in self.answer.rest(self.found, self.files.evaluation):
            self._work_on(what)
            yield
        self.export.offer(self.found)
        self._work_on("")

    def _report(self) -> Iterator[None]:
        assert self.found is not None
        self._work_on("the report")
        self.export.begin()
        yield
        self.export.make(self.found)
        yield from self._rest()

    def _read(self, question: Question) -> Pairs:
        """The pairs of a question, which are read once."""
        key = question.a, question.b, question.score, question.statistic, question.clusters
        if self._pairs is None or self._pairs[0] != key:
            evaluation = self.files.evaluation
            assert evaluation is not None
            pairs = evaluation.pairs(
                question.a,
                question.b,
                score=question.score,
                statistic=question.statistic,
                clusters=question.clusters,
            )
            self._pairs = key, pairs
            text = describe(pairs.source, evaluation.format.title)
            self.files.paired.value = f"<p><b>Read:</b> {escape(text)}</p>"
        return self._pairs[1]

    def _work_on(self, what: str) -> None:
        self.status.value = page.working(what)

    def _failed(self, error: Exception) -> None:
        """Say what went wrong, where the answer would be."""
        self._work_on("")
        self.found = None
        self.export.forget()
        self.answer.fail(page.message(error))


def _is_one(files: Any) -> bool:
    return isinstance(files, str | PathLike | File) or not isinstance(files, Sequence)
