"""A numpydoc docstring as HTML, with links to the public names that it mentions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer

from book.chapter import markdown

Link = Callable[[str], str | None]  # the address of a name, if it has one

CODE = re.compile(r"``(.+?)``|`([^`]+)`", re.S)
WORD = re.compile(r"[A-Za-z_][\w.]*")
SPECIAL = re.compile(r"([\\*_$\[\]<>#])")
BULLET = re.compile(r"^( *)\\([*]) ", re.M)
LISTS = ("Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes")
NOT_MARKDOWN = {ord(letter): f"&#{ord(letter)};" for letter in "\\*_$[]`"}
FORMATTER = HtmlFormatter(cssclass="highlight code")


def parsed(thing: Any) -> NumpyDocString:
    """The docstring in its sections; ValueError if it has one that numpydoc does not know."""
    return NumpyDocString(inspect.getdoc(thing) or "")


def code(name: str, link: Link) -> str:
    """A name or an expression in a sentence, linked if it is that of something public."""
    target = link(name.removesuffix("()"))
    html = f"<code>{escape(name).translate(NOT_MARKDOWN)}</code>"
    return f'<a href="{target}">{html}</a>' if target else html


def prose(lines: Sequence[str], link: Link) -> str:
    """Paragraphs and lists, as HTML."""
    parts, end, text = [], 0, "\n".join(lines)
    for found in CODE.finditer(text):
        parts += [plain(text[end : found.start()]), literal(found, link)]
        end = found.end()
    return markdown("".join([*parts, plain(text[end:])])).strip()


def literal(found: re.Match[str], link: Link) -> str:
    """Code in a sentence; words between single backticks are names."""
    text = " ".join((found[1] or found[2]).split())
    return code(text, link if found[2] else lambda _: None)


def plain(text: str) -> str:
    """Text in which nothing but bullets means anything to Markdown."""
    return BULLET.sub(r"\1\2 ", SPECIAL.sub(r"\\\1", text))


def kind_of(text: str, link: Link) -> str:
    """What is accepted or returned, public classes in it linked."""
    pieces, end = [], 0
    for word in WORD.finditer(text):
        name = word[0].rstrip(".")
        target = link(name) if re.search("[A-Z]", name) else None
        if target and text[word.start() - 1 : word.start()] not in ('"', "'"):
            pieces += [escape(text[end : word.start()]), f'<a href="{target}">{name}</a>']
            end = word.start() + len(name)
    return "".join([*pieces, escape(text[end:])]).replace("`", "")


def definitions(title: str, entries: Sequence[Parameter], link: Link) -> str:
    """A list of parameters, of what is returned, or of errors."""
    rows = []
    for entry in entries:
        kind = kind_of(entry.type, link)
        if title in ("Raises", "Warns") or not entry.name:
            head = f"<span class='kind'>{kind or escape(entry.name)}</span>"
        else:
            head = f"<code>{escape(entry.name)}</code>"
            head += f" <span class='kind'>{kind}</span>" if kind else ""
        rows.append(f"<dt>{head}</dt><dd>{prose(entry.desc, link)}</dd>")
    return f"<dl>{''.join(rows)}</dl>"


def examples(lines: Sequence[str]) -> str:
    """Examples, what is typed and what is answered in the colours of code."""
    html: str = highlight("\n".join(lines) + "\n", PythonConsoleLexer(), FORMATTER)
    return html.replace("<pre>", "<pre tabindex='0'>")  # for those who scroll by keyboard


def sections(document: NumpyDocString, link: Link, called: dict[str, str]) -> str:
    """All that follows the summary; `called` has other names for sections."""
    parts = [prose(document["Extended Summary"], link)]
    for title in document.sections:
        content = document[title]
        if title in ("Signature", "Summary", "Extended Summary", "index") or not content:
            continue
        parts.append(f"<p class='rubric'>{called.get(title, title)}</p>")
        if title in LISTS:
            parts.append(definitions(title, content, link))
        else:
            parts.append(examples(content) if title == "Examples" else prose(content, link))
    return "\n".join(parts)


def documented_names(document: NumpyDocString) -> set[str]:
    """Names that the docstring itself explains, which are no links."""
    entries = [*document["Parameters"], *document["Attributes"], *document["Returns"]]
    return {name.strip().lstrip("*") for entry in entries for name in entry.name.split(",")}
