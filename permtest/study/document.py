"""An analysis as a list of sections, which a terminal, a page, a paper and a program can show.

`permtest.study.overview` makes the sections, and `permtest.report` turns a document into files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from textwrap import fill, wrap
from typing import Any

from permtest._html import grid, said, together
from permtest._json import AsJson

#: Columns of a page of text, and of the last column of a table on it at least.
PAGE, NARROWEST = 100, 30


@dataclass(frozen=True)
class Table:
    """A table of text, as people read it; numbers for programs are in `Section.data`.

    Parameters
    ----------
    head : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        The first cell of a row names it.
    caption : str
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def to_frame(self) -> Any:
        """The same as a `pandas.DataFrame` of text."""
        import pandas

        return pandas.DataFrame(list(self.rows), columns=list(self.head), dtype=object)

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        margin = sum(widths[:-1]) + 3 * len(widths[:-1])
        text = [self.caption + ":"] if self.caption else []
        for *cells, last in lines:
            start = "".join(f"{cell:{n}}   " for cell, n in zip(cells, widths, strict=False))
            room = max(PAGE - margin, NARROWEST)
            first, *rest = wrap(last, room, break_on_hyphens=False) or [""]
            text += [(start + first).rstrip(), *(" " * margin + more for more in rest)]
        return "\n".join(text)


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when a page needs it.

    Parameters
    ----------
    plot : str
        The name of a function of `permtest.plots`.
    arguments : tuple
        What the function takes first.
    options : mapping
        Its keyword arguments.
    alt : str
        What the picture shows, for those who do not see it; also its caption.
    """

    plot: str
    arguments: tuple[Any, ...]
    alt: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One part of a document.

    Parameters
    ----------
    key : str
        A short name without blanks: the anchor in a page, and the name of its data in JSON.
    heading : str
    sentence : str
        What was found, in one sentence or a few.
    tables : tuple of Table
    figure : Figure, optional
    limits : str
        What the section does not say.
    problem : str
        Why there is nothing, or not all of it.
    code : str
        Something to copy as it stands, such as BibTeX.
    data : mapping
        The same as plain numbers, strings, lists and None.
    """

    key: str
    heading: str
    sentence: str
    tables: tuple[Table, ...] = ()
    figure: Figure | None = None
    limits: str = ""
    problem: str = ""
    code: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        paragraphs = (self.problem, self.sentence)
        tables = map(str, self.tables)
        parts = [self.heading.upper(), *map(wrapped, paragraphs), *tables, wrapped(self.limits)]
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        tables = [grid(table.head, table.rows, table.caption) for table in self.tables]
        texts = map(said, (self.problem, self.sentence))
        return together(f"<h3>{escape(self.heading)}</h3>", *texts, *tables, said(self.limits))


class Document(AsJson):
    """A title, a sentence for a paper, and sections; `print` shows all of it as a page of text."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the document is about, such as "new against old"."""

    @abstractmethod
    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and the name of the test."""

    @property
    @abstractmethod
    def sections(self) -> tuple[Section, ...]:
        """What there is to say, in the order in which it is worth reading."""

    def __getitem__(self, key: str) -> Section:
        """The section of that key."""
        return {section.key: section for section in self.sections}[key]

    def __str__(self) -> str:
        return "\n\n\n".join([wrapped(self.sentence()), *map(str, self.sections)])

    def _repr_html_(self) -> str:
        return "".join([said(self.sentence()), *(part._repr_html_() for part in self.sections)])


def wrapped(text: str) -> str:
    """A paragraph of a page."""
    return fill(text, PAGE, break_long_words=False, break_on_hyphens=False)
