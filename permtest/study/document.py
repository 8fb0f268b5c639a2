"""An analysis as a list of sections, which a terminal, a page, a paper and a program can show.

Makers of sections stand in `permtest.study.sections`; `permtest.report` writes documents.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from math import inf, isfinite
from textwrap import fill, wrap
from typing import Any
from unicodedata import category, normalize

from permtest import _text
from permtest._forms import AsJson, grid, said, together
from permtest.score import counted

#: Columns of a page of text, and of the last column of a table on it at least.
PAGE, NARROWEST = 100, 30

#: Letters of an id, of a name in a sentence, and of any other value.
ID, NAME, VALUE = 60, 48, 200

#: What documents are written as; a file ends like its format.
FORMATS = ("html", "md", "tex", "json", "png", "svg")


@dataclass(frozen=True)
class Table:
    """A table of text, as people read it; the first cell of a row names it."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

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
    """A picture, drawn when a page needs it by ``permtest.plots.<plot>(*arguments, **options)``."""

    plot: str
    arguments: tuple[Any, ...]
    alt: str  # what it shows: for those who do not see it, and as its caption
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One part of a document."""

    key: str  # its anchor, without blanks
    heading: str
    sentence: str
    tables: tuple[Table, ...] = ()
    figure: Figure | None = None
    limits: str = ""  # a caution
    problem: str = ""  # why there is nothing, or not all of it
    code: str = ""  # something to copy as it stands, such as BibTeX
    data: Mapping[str, Any] = field(default_factory=dict)  # the same as plain values

    def __str__(self) -> str:
        texts = map(wrapped, (self.problem, self.sentence))
        parts = [self.heading.upper(), *texts, *map(str, self.tables), wrapped(self.limits)]
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        tables = [grid(table.head, table.rows, table.caption) for table in self.tables]
        texts = map(said, (self.problem, self.sentence))
        return together(f"<h3>{escape(self.heading)}</h3>", *texts, *tables, said(self.limits))


class InSection(AsJson):
    """A result that is shown as a section."""

    @abstractmethod
    def section(self) -> Section:
        """What was found, as people read it."""

    def __str__(self) -> str:
        return str(self.section())

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()


class Document(AsJson):
    """A title, a sentence for a paper, and sections; `print` shows all of it as a page of text."""

    #: What it is written as in a folder, what else a single file may be, and what files are called.
    formats: tuple[str, ...] = FORMATS
    further_formats: tuple[str, ...] = ()
    stem: str = "report"
    source: Mapping[str, Any]  # what readers recorded

    @property
    @abstractmethod
    def title(self) -> str:
        """What the document is about, such as "new against old"."""

    @abstractmethod
    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and the name of the test."""

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Callable[[], Section]]:
        """What makes each section, by its key, in the order in which they are worth reading."""

    @property
    @abstractmethod
    def picture(self) -> Figure:
        """The picture that stands for all of it."""

    @property
    @abstractmethod
    def paper_tables(self) -> tuple[Table, ...]:
        """The table for a paper: parts with the same columns, and a rule between them."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """What there is to say, in the order in which it is worth reading."""
        return tuple(make() for make in self.parts.values())

    def __getitem__(self, key: str) -> Section:
        """The section of that key; the others are not made."""
        return self.parts[key]()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        sections = self.sections
        found: dict[str, Any] = {"title": self.title, "sentence": self.sentence()}
        for section in sections:
            found |= section.data
        found["problems"] = {part.key: part.problem for part in sections if part.problem}
        return {key: strict(value) for key, value in found.items()}

    def to_latex(self) -> str:
        """A table for a paper, which needs no package but booktabs."""
        tables = self.paper_tables
        parts = [[tables[0].head], *(table.rows for table in tables)]
        lines = ["\n".join(f"    {' & '.join(map(tex, x))} \\\\" for x in rows) for rows in parts]
        body, columns = "\n    \\midrule\n".join(lines), "l" + "r" * (len(tables[0].head) - 1)
        read = filter(None, [*self.source.get("files", ()), self.source.get("gold")])
        origin = (f"% {legible(x['file'], VALUE)}, SHA-256 {x['sha256']}\n" for x in read)
        return (
            "".join(origin) + "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n"
            f"  \\caption{{{tex(tables[0].caption)}}}\n"
            f"  \\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n    \\toprule\n{body}\n"
            "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
        )

    def __str__(self) -> str:
        return "\n\n\n".join([wrapped(self.sentence()), *map(str, self.sections)])

    def _repr_html_(self) -> str:
        return "".join([said(self.sentence()), *(part._repr_html_() for part in self.sections)])


def wrapped(text: str) -> str:
    """A paragraph of a page."""
    return fill(text, PAGE, break_long_words=False, break_on_hyphens=False)


def strict(value: Any) -> Any:
    """A value that JSON can hold; all else becomes text, and numbers that are not finite None."""
    if isinstance(value, Mapping):
        return {str(key): strict(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [strict(x) for x in value]
    plain = _text.plain(value)
    return plain if plain is None or isinstance(plain, bool | int | float | str) else str(plain)


# ---- numbers and names in words ----------------------------------------------------------------


def number(value: float) -> str:
    """Four digits, or all of a large number before the point."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def percent(level: float) -> str:
    """A confidence level."""
    return f"{100 * level:.6g}%"


def span(interval: tuple[float, float] | None) -> str:
    """An interval as people write it, open ends as such."""
    if interval is None:
        return "-"
    low, high = interval
    if low == -inf and high == inf:
        return "any value"
    if not isfinite(high):
        return f"{number(low)} or more"
    return f"{number(low)} to {number(high)}" if isfinite(low) else f"{number(high)} or less"


def how_many(n: int, plural: str) -> str:
    """A number with its noun, thousands apart: 1 item, 2,077 items."""
    return counted(n, plural).replace(str(n), f"{n:,}", 1)


def legible(text: str, width: int = ID) -> str:
    r"""A name or id from a file as one line of moderate length; what cannot be seen is U+FFFD.

    Examples
    --------
    >>> from permtest.study.document import legible
    >>> legible("two\nlines"), legible("0123456789", 7)
    ('two lines', '0123…89')
    """
    if len(text) > width:
        tail = (width - 1) // 3
        text = f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
    seen = (" " if x.isspace() or category(x)[0] == "Z" else x for x in text)
    return "".join("\ufffd" if category(x)[0] == "C" else x for x in seen).strip() or "(blank)"


def plain(value: object) -> str:
    """A value of a record, whatever is in it, as one line."""
    if isinstance(value, Mapping):
        return legible("; ".join(f"{k}: {plain(v)}" for k, v in value.items()), VALUE)
    if isinstance(value, list | tuple):
        return legible(", ".join(map(plain, value[:VALUE])), VALUE) if value else "none"
    return legible({"\t": "tab", " ": "blanks"}.get(str(value), str(value)), VALUE)


# ---- text in LaTeX -----------------------------------------------------------------------------

#: Letters that mean something to LaTeX; brackets and stars would be options after the end of a row.
LETTERS = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
LETTERS |= {"|": "\\textbar{}", "<": "\\textless{}", ">": "\\textgreater{}", "…": "\\dots{}"}
LETTERS |= {'"': "\\char34{}", "`": "\\char96{}", "–": "--", "—": "---", "−": "$-$"}
LETTERS |= {"×": "$\\times$", "≈": "$\\approx$", "≤": "$\\le$"}
LETTERS |= {x: f"\\{x}" for x in "%_&#${}"} | {x: f"{{{x}}}" for x in "[]*"}


def tex(text: str) -> str:
    r"""Text in which LaTeX takes nothing for a command; numbers have a proper minus.

    A letter that LaTeX has only with the right fonts stands as its number.

    Examples
    --------
    >>> from permtest.study.document import tex
    >>> tex("50% of a_b"), tex("é"), tex("中"), tex("1e-08")
    ('50\\% of a\\_b', 'é', '{[}U+4E2D{]}', '$1 \\times 10^{-8}$')
    """
    if match := re.fullmatch(r"([+-]?[\d.,]+)e([+-]?\d+)", text):
        return rf"${match[1]} \times 10^{{{int(match[2])}}}$"
    if re.fullmatch(r"[+-][\d.,]+", text):
        return f"${text}$"
    text = re.sub(r"([-',])(?=\1)", "\\1\0", normalize("NFC", text))  # these make ligatures
    text = re.sub(r"(?<![\w}-])-(?=\d)", "−", text)
    latin = re.compile(r"[ -}À-ž]")
    other = ((x, x if latin.match(x) else f"{{[}}U+{ord(x):04X}{{]}}") for x in text)
    return "".join({**LETTERS, "\0": "{}"}.get(x, y) for x, y in other)
