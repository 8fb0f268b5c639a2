"""One executed notebook as one page: its HTML, its headings, and its text for the search."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, NavigableString, Tag
from jinja2 import pass_context
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from book.formulas import formula
from book.stills import freeze_widgets

THEME = Path(__file__).parent / "theme"
PRIORITY = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]
HEADINGS = {"h1": 1, "h2": 2, "h3": 3}
BLOCKS = {"p", "li", "pre", "td", "th", "tr", "div", "br", "figure", "summary", "caption", "title"}
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
    """A page of the book."""

    name: str
    title: str
    question: str
    body: str
    sections: tuple[Section, ...]

    @property
    def number(self) -> str:
        """As in the name of the file."""
        return self.name.partition("-")[0]

    @property
    def page(self) -> str:
        """Name of the HTML file."""
        return f"{self.name}.html"


class Prose(IPythonRenderer):
    """Markdown whose formulas become MathML, and whose links to notebooks lead to pages."""

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
        return super().link(text, re.sub(r"^([\w.-]+)\.ipynb(?=#|$)", r"\1.html", url), title)


def markdown(source: str, attachments: Any = None) -> str:
    """HTML of a piece of Markdown, as notebooks have it."""
    prose = Prose(escape=False, attachments=attachments)
    html = str(MarkdownWithMath(renderer=prose).render(source))
    return WITH_COMMA.sub(r"<span class='whole'>\1</span>", html)


class CellsExporter(HTMLExporter):
    """The cells of a notebook, without a page around them."""

    def __init__(self) -> None:
        super().__init__(template_name="theme", extra_template_basedirs=[str(THEME.parent)])
        self.config.NbConvertBase.display_data_priority = PRIORITY

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        return markdown(source, context.get("cell", {}).get("attachments"))


def chapter(name: str, notebook: NotebookNode) -> Chapter:
    """Make the page of an executed notebook, which is changed on the way.

    Raises ValueError, with the name of the notebook, if it cannot be shown without losses.
    """
    freeze_widgets(notebook, f"python3 dev.py lab notebooks/{name}.ipynb")
    notebook.cells = [cell for cell in notebook.cells if not _is_blank(cell)]
    try:
        html, _ = CellsExporter().from_notebook_node(notebook, {"metadata": {"name": name}})
    except ValueError as error:
        raise ValueError(f"notebooks/{name}.ipynb: {error}") from error
    soup = BeautifulSoup(html, "html.parser")
    question, sections = _question(soup), tuple(outline(soup))
    if not sections:
        raise ValueError(f"notebooks/{name}.ipynb has no heading: begin it with '# Title'")
    return Chapter(name, sections[0].title, question, html, sections)


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
    found: list[tuple[Tag, list[str]]] = []
    for node in soup.descendants:
        if isinstance(node, Tag):
            if node.name in HEADINGS and node.get("id"):
                found.append((node, []))
            elif found and node.name in BLOCKS:
                found[-1][1].append(" ")
        elif found and type(node) is NavigableString and not node.find_parent(list(HEADINGS)):
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


def _question(soup: BeautifulSoup) -> str:
    """HTML of the questions asked before the second heading, or else of the first paragraph."""
    opening = []
    for node in soup.find_all(["h1", "h2", "p"]):
        if node.name == "h2":
            break
        if node.name == "p":
            opening.append(node.decode_contents())
    sentences = [sentence for text in opening for sentence in SENTENCE.split(text)]
    questions = [text for text in sentences if re.sub("<[^>]*>", "", text).endswith("?")]
    return " ".join(questions) or next(iter(opening), "")
