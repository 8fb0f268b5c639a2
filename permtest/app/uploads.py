"""The first step: which files, and what they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

import permtest
from permtest.app.page import ROW, heading, message, preview, problem, working
from permtest.readers import File, format_of, is_table, recognise
from permtest.readers.pairing import Evaluation
from permtest.study.document import legible

#: Megabytes of an upload, and how many files there may be.
LARGEST, MOST = 100, 20

#: The bundled example, and what is compared in it.
EXAMPLE = "own_taggers.csv"
EXAMPLE_SYSTEMS = ("crf_base", "crf_rich")

#: What is chosen where a table holds scores instead of answers.
NO_COLUMN = ("none: columns are scores", None)

#: Lines of a file that are shown, and letters of its name.
LINES, NAME = 5, 100

LIMITS = (
    f"Up to {MOST} files, at most {LARGEST} MB each. Files go to the Python of this page and to "
    "nobody else. One file may hold both systems, or each system has its own; choose several at "
    "once, or one after the other."
)

ELSEWHERE = (
    "Where JupyterLab was not started by permtest lab, uploads of more than 10 MB break the "
    "connection: name such files as ComparisonApp(['a.csv', 'b.csv'])."
)


def bundled(name: str) -> Path:
    """A file of the data that come with the notebooks, wherever these are.

    Parameters
    ----------
    name : str

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the package was installed without its notebooks.

    Examples
    --------
    >>> from permtest.app import bundled
    >>> bundled("ud_en_ewt_pos.csv").is_file()
    True
    """
    package = Path(permtest.__file__).parent
    for folder in (package.parent / "notebooks", package / "notebooks"):
        if (folder / "data" / name).is_file():
            return folder / "data" / name
    raise FileNotFoundError(f"{name} is not there; install permtest again, with its notebooks")


class FilesStep:
    """Files, uploaded or bundled, and what was recognised.

    Parameters
    ----------
    changed : callable
        Called after `evaluation` has changed.

    Attributes
    ----------
    files : list of File
    gold : File, str or None
        What would be right: a file, or the name of a column of a table.
    evaluation : Evaluation or None
        None where there is nothing to be compared yet.
    upload, gold_upload : ipywidgets.FileUpload
    gold_column : ipywidgets.Dropdown
    example, remove : ipywidgets.Button
    note : ipywidgets.HTML
        What went wrong, or what is missing.
    found : ipywidgets.HTML
        What was recognised, with the first lines.
    paired : ipywidgets.HTML
        How items were paired.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._quiet = False
        self._columns: tuple[str, ...] = ()
        self.files: list[File] = []
        self.gold: File | str | None = None
        self._own = False  # what a person chooses takes the place of what the page began with
        self.evaluation: Evaluation | None = None
        self._seen: Evaluation | None = None
        self.upload = _upload("Choose files of scores", multiple=True)
        self.gold_upload = _upload("Choose a gold file, if need be", multiple=False)
        self.gold_column = widgets.Dropdown(
            options=[NO_COLUMN],
            description="Column of right answers",
            style={"description_width": "initial"},
            layout={"display": "none", "max_width": "100%"},
        )
        self.example = widgets.Button(description="Use the example")
        self.remove = widgets.Button(description="Remove all files")
        self.note, self.found, self.paired = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.upload.observe(lambda change: self._uploaded(change["new"]), names="value")
        self.gold_upload.observe(lambda change: self._gold_uploaded(change["new"]), names="value")
        self.gold_column.observe(self._column_chosen, names="value")
        self.example.on_click(lambda _: self.use_example())
        self.remove.on_click(lambda _: self._remove())
        buttons = widgets.HBox(
            [self.upload, self.gold_upload, self.example, self.remove], layout=ROW
        )
        # Voila tells its kernels who they are; its own limit is that of the page.
        more = "" if "VOILA_KERNEL_ID" in os.environ else f" {ELSEWHERE}"
        about = widgets.HTML(f"<p>{escape(LIMITS + more)}</p>")
        parts = [about, buttons, self.note, self.found, self.gold_column, self.paired]
        self.box = widgets.VBox([heading("1. Files"), *parts])

    # ---- what a person does

    def load(self, files: Sequence[File], gold: File | str | None) -> bool:
        """Take these files in place of those that are there; not if they cannot be read.

        Parameters
        ----------
        files : sequence of File
        gold : File, str or None

        Returns
        -------
        bool
            Whether they were taken.
        """
        self.note.value = working("the files") if files else ""
        try:
            evaluation, missing = _recognised(files, gold)
            found = _description(files, gold, evaluation)
        except Exception as error:  # whatever it is: the page must go on
            self.note.value = problem(_refused(error, self.files))
            return False
        self.files, self.gold, self._seen = list(files), gold, evaluation
        self.evaluation = None if missing else evaluation
        self.note.value = problem(missing)
        self.found.value, self.paired.value = found, ""
        self._offer_columns()
        self._changed()
        return True

    def use_example(self) -> bool:
        """Take the bundled example; say whether there is one."""
        try:
            file = File(EXAMPLE, bundled(EXAMPLE).read_bytes())
        except OSError as error:
            self.note.value = problem(str(error))
            return False
        self._own = False
        return self.load([file], None)

    def _remove(self) -> None:
        self._own = True
        self.load([], None)

    def _uploaded(self, uploads: Sequence[Mapping[str, Any]]) -> None:
        if not uploads:
            return
        self._free(self.upload)
        try:
            files = self._with_new([_file(one) for one in uploads])
        except ValueError as error:
            self.note.value = problem(_refused(error, self.files))
            return
        gold = self.gold if isinstance(self.gold, File) and self._own else None
        self._own = self.load(files, gold) or self._own

    def _gold_uploaded(self, uploads: Sequence[Mapping[str, Any]]) -> None:
        if not uploads:
            return
        self._free(self.gold_upload)
        try:
            gold = _file(uploads[0])
        except ValueError as error:
            self.note.value = problem(_refused(error, self.files))
            return
        self._own = self.load(self.files if self._own else [], gold) or self._own

    def _column_chosen(self, change: Mapping[str, Any]) -> None:
        if not self._quiet and not self.load(self.files, change["new"]):
            self._choose(self.gold if isinstance(self.gold, str) else None)

    # ---- helpers

    def _with_new(self, new: list[File]) -> list[File]:
        """All files, without those that are there already, and with names that differ."""
        files = list(self.files) if self._own else []
        for one in new:
            if one.sha256 in {known.sha256 for known in files}:
                continue
            names = {known.path for known in files}
            path = Path(one.path)
            numbered = (f"{path.stem} ({k}){path.suffix}" for k in range(2, MOST + 2))
            name = next(name for name in (one.path, *numbered) if name not in names)
            files.append(File(name, one.data))
        if len(files) > MOST:
            raise ValueError(f"{len(files)} files, more than {MOST}; remove those there are first")
        return files

    def _free(self, upload: widgets.FileUpload) -> None:
        """Forget the content of an upload, so that it is not kept twice."""
        upload.value = ()

    def _offer_columns(self) -> None:
        """The columns of a table that may say what is right."""
        chosen = self.gold if isinstance(self.gold, str) else None
        if chosen is None:
            one = self._seen
            columns = one.preview(1)[0] if one and is_table(one.format) else ()
            self._columns = tuple(dict.fromkeys(columns))
        elif chosen not in self._columns:
            self._columns = (*self._columns, chosen)
        self.gold_column.layout.display = None if self._columns else "none"
        self._quiet = True
        self.gold_column.options = [NO_COLUMN, *((legible(name), name) for name in self._columns)]
        self._quiet = False
        self._choose(chosen)

    def _choose(self, column: str | None) -> None:
        self._quiet = True
        # By its number: no value would be no choice.
        self.gold_column.index = 0 if column is None else 1 + self._columns.index(column)
        self._quiet = False


def _upload(text: str, *, multiple: bool) -> widgets.FileUpload:
    # Without the icon, which a page of Voila would ask another server for.
    return widgets.FileUpload(description=text, multiple=multiple, icon="", tooltip=text)


def _file(upload: Mapping[str, Any]) -> File:
    """An upload as a file; ValueError if it is too large."""
    name, data = legible(str(upload["name"]), NAME), upload["content"]
    size = max(int(upload.get("size", 0)), len(data))
    if size > LARGEST * 10**6:
        raise ValueError(
            f"{name}: {size / 1e6:,.0f} MB, more than {LARGEST} MB; keep the scores alone, or use "
            "permtest compare"
        )
    return File(name, bytes(data))


def _size(file: File) -> str:
    size = len(file.data)
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1000:,.0f} kB"


def _description(
    files: Sequence[File], gold: File | str | None, evaluation: Evaluation | None
) -> str:
    """What was recognised; ReadError where a cell that is shown is no number."""
    if not files and gold is None:
        return "<p>No file yet.</p>"
    sizes = [f"{legible(one.name, NAME)} ({_size(one)})" for one in files]
    if isinstance(gold, File):
        sizes.append(f"{legible(gold.name, NAME)} ({_size(gold)}) as gold")
    text = f"<p><b>Files:</b> {escape(', '.join(sizes))}</p>"
    if evaluation is None:
        return text
    names = ", ".join(legible(name) for name in evaluation.systems[:MOST]) or "none"
    more = len(evaluation.systems) - MOST
    text += (
        f"<p><b>Recognised:</b> {escape(evaluation.format.title)}; systems: {escape(names)}"
        f"{f' and {more} more' if more > 0 else ''}</p>"
    )
    return text + preview(*evaluation.preview(LINES), "The first items")


def _refused(error: Exception, there: Sequence[File]) -> str:
    kept = "; the files below are still there" if there else ""
    return f"Not taken: {message(error)}{kept}"


def _recognised(files: Sequence[File], gold: File | str | None) -> tuple[Evaluation | None, str]:
    """What files are, and what is missing for a comparison."""
    if not files:
        return None, ""
    kind = format_of(files[0])
    if kind.gold == "required" and gold is None:
        return None, f"These are {kind.title}: choose the file of what is right as the gold file."
    if is_table(kind) and isinstance(gold, File):
        raise ValueError("a table has the right answers in a column; remove the gold file")
    evaluation = recognise(*files, gold=gold)
    if len(evaluation.systems) < 2:
        if not evaluation.systems and len(files) == 1:
            return evaluation, _why(evaluation)
        count = "one system" if evaluation.systems else "no system"
        answers = ", or the column of right answers if it holds answers"
        table = answers if is_table(evaluation.format) else ""
        return evaluation, f"There is {count} so far: choose the file of another one{table}."
    return evaluation, ""


def _why(evaluation: Evaluation) -> str:
    """Why there are no two systems in a table that has none."""
    try:
        evaluation.pairs()
    except ValueError as error:
        return f"There is no system so far: {message(error)}"
    return "There is no system so far: choose the file of another one."
