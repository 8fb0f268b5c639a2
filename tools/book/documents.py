"""Pages made from Markdown files of the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bs4 import BeautifulSoup

from book.chapter import Chapter, first_question, markdown, outline

ROOT = Path(__file__).resolve().parents[2]

#: Parts of the book, in their order; what has no part of its own comes before the reference.
PARTS = (
    "Start",
    "Notebooks",
    "For teachers",
    "Reproduction",
    "More",
    "Reference",
    "Changes",
)

#: Files besides the notebooks, in the order of the book, and the part that each belongs to.
FILES = {
    "docs/guide.md": "Start",
    "docs/teaching.md": "For teachers",
    "docs/reproduction.md": "Reproduction",
    "docs/performance.md": "Reproduction",
    "docs/nlpstattest.md": "Reproduction",
    "CHANGELOG.md": "Changes",
}


def documents() -> list[Chapter]:
    """Pages of the files that are there; it is said which of `FILES` are not.

    A file of ``docs`` that `FILES` does not name comes after those that it names.
    """
    found = {f"docs/{path.name}": "More" for path in sorted((ROOT / "docs").glob("*.md"))}
    for name in FILES:
        if not (ROOT / name).exists():
            print(f"{name} is not there, and the book goes without it", flush=True)
    there = {name: part for name, part in FILES.items() if (ROOT / name).exists()}
    return [document(ROOT / name, part) for name, part in (there | found | there).items()]


def in_order(pages: Sequence[Chapter]) -> list[Chapter]:
    """Pages by the part of the book that they belong to, and otherwise as they come."""
    return sorted(pages, key=lambda page: PARTS.index(page.part))


def document(path: Path, part: str) -> Chapter:
    """The page of one file."""
    body = f"<div class='prose'>{markdown(path.read_text('utf-8'), folder=path.parent)}</div>"
    soup = BeautifulSoup(body, "html.parser")
    question, sections = first_question(soup), tuple(outline(soup))
    name = path.relative_to(ROOT).as_posix()
    if not sections:
        raise ValueError(f"{name} has no heading: begin it with '# Title'")
    return Chapter(path.stem.lower(), sections[0].title, question, body, sections, part, name)
