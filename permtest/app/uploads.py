"""The files that are compared, and what was recognised in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from permtest._forms import grid, said, together
from permtest._jupyter import FILE_LIMIT, notebooks_folder
from permtest.app.parts import Fold, problem, working
from permtest.readers import File, ReadError, format_of, is_table, recognise
from permtest.readers.names import WORDS
from permtest.readers.pairing import Evaluation
from permtest.readers.shape import How, Sheet
from permtest.readers.tables import table_of
from permtest.study.document import legible

#: How many files there may be; lines and columns of them that are shown.
MOST, LINES, COLUMNS = 20, 5, 12

#: What is chosen where a table holds scores instead of answers.
NO_COLUMN = ("none", None)


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
        If the package has no such file.

    Examples
    --------
    >>> from permtest.app import bundled
    >>> bundled("ud_en_ewt_pos.csv").is_file()
    True
    """
    path = notebooks_folder() / "data" / name
    if not path.is_file():
        raise FileNotFoundError(f"{name} is missing; install permtest again")
    return path


class Files:
    """Files, and the `evaluation` that they are; None where there is nothing to be compared yet."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._quiet = changed, False
        self._own = False  # what a person chooses takes the place of what the page began with
        self.files: list[File] = []
        self.gold: File | str | None = None  # what would be right: a file, or a column of a table
        self.evaluation: Evaluation | None = None
        self._missing = ""  # what these files wait for
        # Without the icon, which a page of Voila would ask another server for.
        self.upload = widgets.FileUpload(description="Choose files", multiple=True, icon="")
        self.gold_upload = widgets.FileUpload(description="Choose a file of right answers", icon="")
        self.gold_column = widgets.Dropdown(
            options=[NO_COLUMN],
            description="Column of right answers",
            style={"description_width": "initial"},
        )
        self.remove = widgets.Button(description="Remove all files")
        self.about, self.note = widgets.HTML(), widgets.HTML()
        self.upload.observe(lambda change: self._uploaded(change["new"], ()), names="value")
        self.gold_upload.observe(lambda change: self._uploaded((), change["new"]), names="value")
        self.gold_column.observe(self._column_chosen, names="value")
        self.remove.on_click(lambda _: self.load([], None, own=True))
        buttons = widgets.HBox([self.upload, self.remove], layout={"flex_flow": "row wrap"})
        self.top = widgets.VBox([self.about, buttons, self.note])
        inside = (self.gold_upload, self.gold_column)
        self.fold = Fold("the files and what permtest recognised", lambda: None, *inside)

    def load(self, files: Sequence[File], gold: File | str | None, *, own: bool = False) -> bool:
        """Take these files in place of those that are there; not if they cannot be read."""
        self.note.value = working("the files") if files else ""
        try:
            evaluation, missing = _recognised(files, gold)
            self.fold.body.value = _description(evaluation)
        except Exception as error:  # whatever it is: the page must go on
            self.note.value = problem(error, "Not taken: ")
            return False
        self.files, self.gold, self._own = list(files), gold, own
        self.evaluation, self._missing = None if missing else evaluation, missing
        self.note.value = problem(missing) if missing else ""
        drop = "drop them on this page, or " if "VOILA_KERNEL_ID" in os.environ else ""
        names = ", ".join(legible(one.name) for one in files) or "none yet"
        if isinstance(gold, File):
            names += f"; right answers: {legible(gold.name)}"
        self.about.value = (
            f"<p><b>Files:</b> {escape(names)}</p><p>To compare your own, {drop}choose them: "
            f"one file for both systems, or one for each; at most {MOST} files of up to "
            f"{FILE_LIMIT // 10**6} MB each.</p>"
        )
        columns: list[tuple[str, str | None]] = [NO_COLUMN]
        table = evaluation is not None and is_table(evaluation.format)
        if evaluation is not None and table and not isinstance(gold, File):
            columns += [(legible(name), name) for name in evaluation.preview(1)[0]]
        self._choose(columns, gold)
        if not files:  # the same ones may be chosen again
            self.upload.value = ()
        if not isinstance(gold, File):
            self.gold_upload.value = ()
        self.fold.turn(self.fold.is_open or bool(missing))
        self._changed()
        return True

    def _uploaded(
        self, new: Sequence[Mapping[str, Any]], gold: Sequence[Mapping[str, Any]]
    ) -> None:
        """A person has chosen files: they join those that wait for others, or replace them."""
        if not (new or gold):
            return
        was, added = (self.files if self._own else []), [_file(one) for one in new]
        right = _file(gold[0]) if gold else self.gold if self._own else None
        right = right if isinstance(right, File) else None
        files = was
        if added and not self._missing:  # another comparison
            again = {one.sha256 for one in added}
            files, right = [one for one in was if one.sha256 in again], None
        every = {one.sha256: one for one in (*files, *added)}
        if right is not None:  # it may have been taken for a system
            every.pop(right.sha256, None)
        if len(every) > MOST:
            self.note.value = problem(f"Not taken: {len(every)} files are more than {MOST}")
        elif self.load(list(every.values()), right, own=True):
            gone = ", ".join(legible(one.name) for one in was if one not in files)
            if gone:
                self.note.value += said(f"The new files replace {gone}.")
            return
        self.upload.value = self.gold_upload.value = ()  # the same file may be chosen again

    def _column_chosen(self, change: Mapping[str, Any]) -> None:
        if not self._quiet and not self.load(self.files, change["new"], own=self._own):
            self._choose(self.gold_column.options, self.gold)

    def _choose(self, columns: Sequence[tuple[str, Any]], chosen: Any) -> None:
        """Offer columns of right answers, of which one may be chosen."""
        self._quiet = True
        self.gold_column.options = columns
        names = [name for _, name in columns]
        self.gold_column.index = names.index(chosen) if chosen in names else 0
        self.gold_column.layout.display = None if columns[1:] else "none"
        self._quiet = False


def _file(upload: Mapping[str, Any]) -> File:
    return File(legible(upload["name"]), bytes(upload["content"]))


def _description(evaluation: Evaluation | None) -> str:
    """What was recognised; ReadError where a cell that is shown is no number."""
    if evaluation is None:
        return ""
    names = ", ".join(map(legible, evaluation.systems[:MOST])) or "none"
    head, rows = evaluation.preview(LINES)
    cells = [[legible(str(cell)) for cell in line[:COLUMNS]] for line in (head, *rows)]
    title = evaluation.format.title
    text = said(f"{title[:1].upper()}{title[1:]}; systems: {names}")
    return text + together(grid(cells[0], cells[1:], "The first items"))


def _recognised(files: Sequence[File], gold: File | str | None) -> tuple[Evaluation | None, str]:
    """What files are, and what is missing for a comparison."""
    if not files:
        chosen = "These are the right answers: choose the files of the systems."
        return None, chosen if isinstance(gold, File) else ""
    kind = format_of(files[0])
    if kind.gold == "required" and gold is None:
        return None, f"These are {kind.title}: choose the file of right answers."
    try:
        evaluation = recognise(*files, gold=gold)
    except ReadError as error:
        if gold is not None or not all(map(_has_only_texts, files)):
            raise
        names = ", ".join(legible(one.name) for one in files)
        wanted = (
            f"No scores in {names}: if these are answers, choose the file of right answers below."
        )
        return None, f"{wanted} permtest cannot read them as scores: {error}."
    bare = evaluation.usual == () and {x.lower() for x in evaluation.systems} <= {*WORDS}
    if len(evaluation.systems) > 1 and not bare:
        return evaluation, ""
    count = "one system" if evaluation.systems else "no system"
    column = ""
    if is_table(evaluation.format) and not isinstance(gold, File):
        column = ", or the column or file of right answers if it has answers"
    return evaluation, f"There is {count} so far: choose the file of another system{column}."


def _has_only_texts(file: File) -> bool:
    """Whether a file is a table of ids and texts, which may be answers."""
    if not is_table(format_of(file)):
        return False
    sheet = Sheet.of(table_of(file), How())
    return bool(sheet.ids) and len(sheet) > 1 and not {*sheet.numeric} - {*sheet.ids}
