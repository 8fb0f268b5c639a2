"""The files that are compared, and what was recognised in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

import permtest
from permtest._html import grid, said, together
from permtest._jupyter import FILE_LIMIT
from permtest.app.parts import Fold, problem, working
from permtest.readers import File, format_of, is_table, recognise
from permtest.readers.pairing import Evaluation
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


class Files:
    """Files, and the `evaluation` that they are; None where there is nothing to be compared yet."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._quiet = changed, False
        self._own = False  # what a person chooses takes the place of what the page began with
        self.files: list[File] = []
        self.gold: File | str | None = None  # what would be right: a file, or a column of a table
        self.evaluation: Evaluation | None = None
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
        self.top = widgets.VBox([self.about, self.upload, self.note])
        inside = (self.gold_upload, self.gold_column, self.remove)
        self.fold = Fold("the files and what was recognised", lambda: None, *inside)

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
        self.evaluation = None if missing else evaluation
        self.note.value = problem(missing) if missing else ""
        drop = "drop them on this page, or " if "VOILA_KERNEL_ID" in os.environ else ""
        names = escape(", ".join(legible(one.name) for one in files) or "none yet")
        self.about.value = (
            f"<p><b>Files:</b> {names}</p><p>To compare your own, {drop}choose them: one file of "
            f"both systems, or one of each; at most {MOST} of {FILE_LIMIT // 10**6} MB.</p>"
        )
        columns: list[tuple[str, str | None]] = [NO_COLUMN]
        if evaluation is not None and is_table(evaluation.format):
            known = (recognise(*files) if gold else evaluation).preview(1)[0]
            columns += [(legible(name), name) for name in dict.fromkeys(known)]
        self._choose(columns, gold)
        self.fold.turn(self.fold.is_open or bool(missing))
        self._changed()
        return True

    def _uploaded(
        self, new: Sequence[Mapping[str, Any]], gold: Sequence[Mapping[str, Any]]
    ) -> None:
        """A person has chosen files; what is there already counts once."""
        if not (new or gold):
            return
        files, right = (self.files, self.gold) if self._own else ([], None)
        every = {one.sha256: one for one in (*files, *map(_file, new))}
        right = _file(gold[0]) if gold else right if isinstance(right, File) else None
        if len(every) > MOST:
            self.note.value = problem(f"Not taken: {len(every)} files are more than {MOST}")
        elif self.load(list(every.values()), right, own=True):
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
    text = said(f"{evaluation.format.title}; systems: {names}")
    return text + together(grid(cells[0], cells[1:], "The first items"))


def _recognised(files: Sequence[File], gold: File | str | None) -> tuple[Evaluation | None, str]:
    """What files are, and what is missing for a comparison."""
    if not files:
        return None, ""
    kind = format_of(files[0])
    if kind.gold == "required" and gold is None:
        return None, f"These are {kind.title}: choose the file of right answers."
    if is_table(kind) and isinstance(gold, File):
        raise ValueError("a table has the right answers in a column, not in a file")
    evaluation = recognise(*files, gold=gold)
    if len(evaluation.systems) > 1:
        return evaluation, ""
    count = "one system" if evaluation.systems else "no system"
    column = ", or the column of right answers if it has answers" * is_table(evaluation.format)
    return evaluation, f"There is {count} so far: choose the file of another one{column}."
