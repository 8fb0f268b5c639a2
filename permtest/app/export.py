"""The fourth step: the report as files, and the words for a paper."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import ipywidgets as widgets

from permtest.app.page import heading, to_copy, working
from permtest.report import report_files

if TYPE_CHECKING:
    from permtest.study.overview import Overview

#: Endings of files, with what they are, and of what type a browser takes them to be.
KINDS = {
    "html": ("a page", "text/html"),
    "md": ("Markdown", "text/markdown"),
    "tex": ("a table in LaTeX", "application/x-tex"),
    "json": ("all numbers", "application/json"),
    "png": ("the picture", "image/png"),
    "svg": ("the picture to scale", "image/svg+xml"),
    "zip": ("everything", "application/zip"),
}

STEM = "permtest-report"

#: What a zip says of when its files were made: the same report makes the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


class ExportStep:
    """Files to take away; made when they are asked for.

    Parameters
    ----------
    pressed : callable
        Called when the files are asked for.

    Attributes
    ----------
    button : ipywidgets.Button
    links, words : ipywidgets.HTML
        Files to be downloaded, and texts to be copied.
    """

    def __init__(self, pressed: Callable[[], None]) -> None:
        self.button = widgets.Button(
            description="Make the report", layout={"width": "max-content", "max_width": "100%"}
        )
        self.button.on_click(lambda _: pressed())
        self.links, self.words = widgets.HTML(), widgets.HTML()
        about = widgets.HTML(
            "<p>HTML, Markdown, LaTeX, JSON, PNG and SVG, and all of them as a zip. They are made "
            "when the button is pressed.</p>"
        )
        parts = [heading("4. Export"), self.words, about, self.button, self.links]
        self.box = widgets.VBox(parts)
        self.forget()

    def forget(self) -> None:
        """Show nothing: what was made is of another question."""
        self.links.value = self.words.value = ""
        self.box.layout.display = "none"

    def offer(self, found: Overview) -> None:
        """Show the words for a paper, and the button.

        Parameters
        ----------
        found : Overview
        """
        texts = {
            "A sentence for the paper": found.sentence(),
            "What to cite": found.citation(),
            "The same as BibTeX": found.citation("bibtex"),
        }
        self.words.value = "".join(to_copy(text, name) for name, text in texts.items())
        self.box.layout.display = None

    def begin(self) -> None:
        """Say that files are being made."""
        self.links.value = working("the report")

    def make(self, found: Overview) -> None:
        """Make the files, and a link for each.

        Parameters
        ----------
        found : Overview
        """
        files = report_files(found, [kind for kind in KINDS if kind != "zip"], stem=STEM)
        shown = {name: content for name, content in files.items() if _is_whole(name)}
        shown[f"{STEM}.zip"] = zipped(files)
        links = "".join(_link(name, content) for name, content in shown.items())
        self.links.value = f"<div role='status'><p>Ready to be downloaded:</p>{links}</div>"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """All files in one; the same files make the same bytes.

    Parameters
    ----------
    files : mapping of str to bytes

    Returns
    -------
    bytes
    """
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name, DATE), content, ZIP_DEFLATED)
    return buffer.getvalue()


def _is_whole(name: str) -> bool:
    """Whether it is a file by itself: a picture of the Markdown page goes with it in the zip."""
    return name.rpartition(".")[0] == STEM


def _link(name: str, content: bytes) -> str:
    """A link that holds the file itself, so that nobody has to be asked for it."""
    about, kind = KINDS[name.rpartition(".")[2]]
    size = f"{max(len(content) / 1000, 0.1):,.1f} kB"
    note = "; its pictures are in the zip" if name.endswith(".md") else ""
    return (
        f"<a download='{name}' href='data:{kind};base64,{b64encode(content).decode()}'>"
        f"{escape(name)}</a>({about}{note}, {size})<br>"
    )
