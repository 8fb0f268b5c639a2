"""A page of the book: its HTML, its headings, and its text for the search.

One executed notebook makes one page; `markdown` is what all prose of the book goes through.
"""

from __future__ import annotations

import mimetypes
import re
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, NavigableString, Tag
from jinja2 import pass_context
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets.config import Config

from book.formulas import formula
from book.stills import freeze_widgets

ROOT = Path(__file__).resolve().parents[2]
THEME = Path(__file__).parent / "theme"
PRIORITY = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]
HEADINGS = {"h1": 1, "h2": 2, "h3": 3}
BLOCKS = {"p", "li", "pre", "td", "th", "tr", "div", "br", "figure", "summary", "caption", "title"}
#: Files (and a folder) that are pages of the book under other names.
NAMES = {
    "README.md": "index.html",
    "CHANGELOG.md": "changelog.html",
    "notebooks": "index.html",
}
#: What the keyboard can move sideways where a page is narrow.
REGION = "role='region' aria-label='Table' tabindex='0'"
SCHEME = re.compile("[a-z]+:|//|#", re.I)
# No line is to end between a formula and the comma after it.
WITH_COMMA = re.compile("(<math(?:(?!</math>).)*</math>[,.;:!?)]+)")
SENTENCE = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True)
class Section:
    """A heading, plain and in HTML, and the text below it, up to the next heading."""

    anchor: str
    level: int
    title: str
    heading: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """A page of the book, in the part of it that it belongs to, and the file that it is made of."""

    name: str
    title: str
    question: str
    body: str
    sections: tuple[Section, ...]
    part: str = "Notebooks"
    source: str = ""

    @property
    def number(self) -> str:
        """As in the name of the file of a notebook."""
        number = self.name.partition("-")[0]
        return number if number.isdigit() else ""

    @property
    def page(self) -> str:
        """Name of the HTML file."""
        return f"{self.name}.html"


class Prose(IPythonRenderer):
    """Markdown whose formulas become MathML, and whose links to files lead to pages."""

    def __init__(self, folder: Path, attachments: Any) -> None:
        super().__init__(escape=False, attachments=attachments)
        self.folder = folder

    def heading(self, text: str, level: int, **_: Any) -> str:
        plain = BeautifulSoup(text, "html.parser").get_text().lower()
        anchor = re.sub(r"\W+", "-", plain).strip("-")
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def block_math(self, body: str) -> str:
        return formula(body, block=True)

    def inline_math(self, body: str) -> str:
        return formula(body)

    def latex_environment(self, name: str, body: str) -> str:
        return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", block=True)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        path, _, anchor = url.partition("#")
        if SCHEME.match(url):
            return super().link(text, url, title)
        file = (self.folder / path).resolve()
        page = NAMES.get(file.name) or f"{file.stem}.html"
        if file.name == "README.md":  # of which the book has the beginning
            anchor = ""
        if file.suffix == ".ipynb" or file.parent == ROOT / "docs" or file.name in NAMES:
            return super().link(text, "#".join(filter(None, [page, anchor])), title)
        if file.exists() and file.is_relative_to(ROOT):  # for those who have the checkout
            return f"{text} (<code>{file.relative_to(ROOT).as_posix()}</code>)"
        return super().link(text, url, title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        file = self.folder / url
        if not SCHEME.match(url) and file.is_file():
            kind = mimetypes.guess_type(file.name)[0]
            url = f"data:{kind};base64,{b64encode(file.read_bytes()).decode()}"
        return super().image(text, url, title)

    def block_code(self, code: str, info: str | None = None) -> str:
        typed = info == "python" and code.startswith(">>> ")
        return str(super().block_code(code, "pycon" if typed else info))

    def table(self, text: str) -> str:
        return f"<div class='wide' {REGION}><table>{text}</table></div>\n"


def markdown(source: str, attachments: Any = None, folder: Path = ROOT / "notebooks") -> str:
    """HTML of a piece of Markdown that lies in a folder, as notebooks have it."""
    prose = Prose(folder, attachments)
    html = str(MarkdownWithMath(renderer=prose).render(source))
    return WITH_COMMA.sub(r"<span class='whole'>\1</span>", html)


class CellsExporter(HTMLExporter):
    """The cells of a notebook, without a page around them."""

    def __init__(self) -> None:
        whole = Config(CoalesceStreamsPreprocessor=Config(enabled=True))  # however it came in
        folders = [str(THEME.parent)]
        super().__init__(config=whole, template_name="theme", extra_template_basedirs=folders)
        self.config.NbConvertBase.display_data_priority = PRIORITY

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        return markdown(source, context.get("cell", {}).get("attachments"))


def chapter(name: str, notebook: NotebookNode) -> Chapter:
    """Make the page of an executed notebook, which is changed on the way.

    Raises ValueError, with the name of the notebook, if it cannot be shown without losses.
    """
    freeze_widgets(notebook, f"python3 dev.py lab --notebook {name[:2]}")
    notebook.cells = [cell for cell in notebook.cells if not _is_blank(cell)]
    try:
        html, _ = CellsExporter().from_notebook_node(notebook, {"metadata": {"name": name}})
    except ValueError as error:
        raise ValueError(f"notebooks/{name}.ipynb: {error}") from error
    soup = BeautifulSoup(html, "html.parser")
    question, sections = first_question(soup), tuple(outline(soup))
    if not sections:
        raise ValueError(f"notebooks/{name}.ipynb has no heading: begin it with '# Title'")
    part = "Start" if name.startswith("00") else "Notebooks"
    source = f"notebooks/{name}.ipynb"
    return Chapter(name, sections[0].title, question, html, sections, part, source)


def _is_blank(cell: NotebookNode) -> bool:
    """Room for the reader's own code, which a page has no use for."""
    lines = [line for line in cell.source.splitlines() if line.strip()]
    comments = all(line.lstrip().startswith("#") for line in lines)
    return cell.cell_type == "code" and not cell.get("outputs") and comments


def outline(soup: BeautifulSoup) -> list[Section]:
    """All headings with an anchor, and the text below each; `soup` is changed on the way."""
    headings = {tag["id"]: tag.decode_contents() for tag in soup.find_all(list(HEADINGS), id=True)}
    for raised in soup.find_all(["msup", "msub"]):
        raised.contents[1].insert_before("^" if raised.name == "msup" else "_")
    titles = {id(text) for tag in soup.find_all(list(HEADINGS)) for text in tag.descendants}
    found: list[tuple[Tag, list[str]]] = []
    for node in soup.descendants:
        if isinstance(node, Tag):
            if node.name in HEADINGS and node.get("id"):
                found.append((node, []))
            elif found and node.name in BLOCKS:
                found[-1][1].append(" ")
        elif found and type(node) is NavigableString and id(node) not in titles:
            found[-1][1].append(str(node))
    return [
        Section(
            str(tag["id"]),
            HEADINGS[tag.name],
            _plain(tag.get_text()),
            headings[tag["id"]],
            _plain("".join(text)),
        )
        for tag, text in found
    ]


def _plain(text: str) -> str:
    return " ".join(text.split())


def first_question(soup: BeautifulSoup) -> str:
    """HTML of the questions asked before the second heading, or else the first sentence."""
    opening = []
    for node in soup.find_all(["h1", "h2", "p"]):
        if node.name == "h2":
            break
        if node.name == "p":
            opening.append(node.decode_contents())
    sentences = [sentence for text in opening for sentence in SENTENCE.split(text)]
    questions = [text for text in sentences if re.sub("<[^>]*>", "", text).endswith("?")]
    return " ".join(questions) or next(iter(sentences), "")
