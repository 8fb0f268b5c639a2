"""Pages of a report, in which whatever comes from data is text and nothing else."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

from permtest._optional import optional

if TYPE_CHECKING:
    from jinja2 import Environment

    from permtest.study.sections import Chapter

TEMPLATES = Path(__file__).parents[1] / "templates"


class Shown(NamedTuple):
    """A picture on a page."""

    source: str
    alt: str
    broad: bool


class Paged(Protocol):
    """What can be a page."""

    @property
    def names(self) -> Sequence[str]:
        """What is compared."""

    def sentence(self) -> str:
        """What was found."""

    def chapters(self) -> Sequence[Chapter]:
        """All of it."""


def page(kind: str, found: Paged, pictures: Mapping[str, Shown], title: str | None = None) -> str:
    """The chapters of a study, of an overview or of a leaderboard on one page.

    Parameters
    ----------
    kind : {"html", "md"}
    found : Study, Overview, or what is like them
    pictures : mapping of str to Shown
        By their keys in the chapters.
    title : str, optional
        Default: the names of both systems.

    Returns
    -------
    str
    """
    content = {
        "study": found,
        "title": title or f"{found.names[0]} against {found.names[1]}",
        "chapters": found.chapters(),
        "pictures": pictures,
    }
    return _environment(kind).get_template(f"report.{kind}").render(content)


def check_jinja2() -> None:
    """Raise ImportError, which says what to install, where there is no jinja2."""
    optional("jinja2", needed_by="a report", extra="study")


def _environment(kind: str) -> Environment:
    check_jinja2()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=kind == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=None if kind == "html" else _markdown,
    )
    environment.filters["code"] = _Verbatim
    return environment


class _Verbatim(str):
    """Text in a block of code, where nothing needs escaping."""

    __slots__ = ()


#: What Markdown, or the HTML in it, would take for a mark.
MARKS = {ord(mark): f"\\{mark}" for mark in "\\`*_[]|#~$"}
MARKS |= {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;", ord("\n"): " "}


def _markdown(value: Any) -> Any:
    """Text in which no character is a mark, and nothing becomes a link by itself."""
    if isinstance(value, _Verbatim) or not isinstance(value, str):
        return value
    text = re.sub(r":(?=//)|(?<=www)\.", r"\\\g<0>", value.translate(MARKS), flags=re.IGNORECASE)
    return text.replace("@", "@<!-- -->")  # addresses are looked for when escapes are gone


def data_uri(svg: bytes) -> str:
    """A picture as the address of itself."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def on_page(
    kind: str,
    pictures: Mapping[str, bytes],
    caption: Callable[[str], str],
    broad: Sequence[str],
    stem: str = "",
) -> dict[str, Shown]:
    """The SVG pictures of a page: on it, or for Markdown beside it, in files with that stem."""
    return {
        key: Shown(
            data_uri(picture) if kind == "html" else f"{quote(stem)}{key}.svg",
            caption(key),
            key in broad,
        )
        for key, picture in pictures.items()
    }
