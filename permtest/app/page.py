"""What all steps of the app are made of: headings, notes, tables, in the colours of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import ipywidgets as widgets

from permtest._html import facts, grid, said, together
from permtest.study.document import legible

if TYPE_CHECKING:
    from permtest.study.document import Section

#: Letters of a cell, and columns of a table, that are shown.
CELL, COLUMNS = 60, 12

STYLE = """<style>
.permtest-app { --jp-widgets-font-size: 16px; --jp-widgets-inline-height: 36px; font-size: 16px;
  overflow: visible; }
.permtest-app .widget-html, .permtest-app .widget-html-content { height: auto; min-width: 0; }
.permtest-app .widget-html-content { font-size: 16px; line-height: 1.45; }
.permtest-app h3 { margin: 0.9em 0 0.3em; font-size: 1.25em; border-bottom: 2px solid; }
.permtest-app p { margin: 0.3em 0; max-width: 50em; overflow-wrap: anywhere; }
.permtest-app table { font-size: 0.92em; overflow-wrap: normal; }
.permtest-app thead th { white-space: nowrap; }
.permtest-app tbody th { min-width: 9em; overflow-wrap: anywhere; }
.permtest-app tbody tr { border-top: 1px solid rgb(128 128 128 / 45%); }
.permtest-app .permtest-problem { border-left: 5px solid; padding: 0.3em 0.7em; font-weight: 600; }
.permtest-app .permtest-work:not(:empty) { padding: 0.2em 0.7em; border-left: 5px dotted; }
.permtest-app .permtest-old { opacity: 0.45; }
.permtest-app .widget-dropdown { max-width: calc(100% - 4px); }
.permtest-app select { min-width: 6em; }
.permtest-app textarea { width: 100%; box-sizing: border-box; font: 14px/1.4 monospace;
  field-sizing: content; max-height: 24em;
  color: inherit; background: transparent; border: 1px solid; }
.permtest-app a[download] { display: inline-block; margin: 0.2em 1.2em 0.2em 0; padding: 0.3em 0;
  color: inherit; text-decoration: underline; }
.permtest-app .jupyter-button { width: auto; min-height: 36px; padding: 0 1em; }
.permtest-app :focus-visible { outline: 3px solid; outline-offset: 2px; }
.permtest-app img { height: auto; max-width: 100%; }
</style>"""

ROW = {"flex_flow": "row wrap", "grid_gap": "0.4em 1.2em", "align_items": "flex-start"}


def heading(text: str) -> widgets.HTML:
    """The head of a step."""
    return widgets.HTML(f"<h3>{escape(text)}</h3>")


def problem(text: str) -> str:
    """What went wrong, where the person looks who did it."""
    return f"<div role='alert' class='permtest-problem'>{escape(text)}</div>" if text else ""


def working(text: str) -> str:
    """What is being done."""
    said = f"Working on {escape(text)} …" if text else ""
    return f"<div role='status' class='permtest-work'>{said}</div>"


def message(error: Exception) -> str:
    """What an exception says to a person: of those that are meant for one, the message alone."""
    if isinstance(error, ValueError | ImportError) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"


def preview(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Some lines of a file as a table."""
    shown = [_short(head), *map(_short, rows)]
    more = f", {len(head) - COLUMNS} more columns" if len(head) > COLUMNS else ""
    return scrolled(grid(shown[0], shown[1:], caption + more), caption)


def _short(cells: Sequence[str]) -> list[str]:
    return [legible(str(cell), CELL) for cell in cells[:COLUMNS]]


def scrolled(table: str, name: str) -> str:
    """A table that may be too wide for the page, and can be scrolled by keyboard then."""
    return (
        f"<div tabindex='0' role='region' aria-label='{escape(name, quote=True)}' "
        f"style='overflow-x:auto'>{table}</div>"
    )


def section(found: Section) -> str:
    """A section of a report without its figure."""
    tables = [
        facts({row[0]: row[1] for row in one.rows}, one.caption)
        if len(one.head) == 2
        else grid(one.head, one.rows, one.caption)
        for one in found.tables
    ]
    inside = "".join(scrolled(table, found.heading) for table in tables)
    texts = said(found.problem), said(found.sentence), inside, said(found.limits)
    return together(f"<p><b>{escape(found.heading)}</b></p>", *texts)


def to_copy(text: str, name: str) -> str:
    """A box of text to be copied."""
    rows = min(2 + len(text) // 80 + text.count("\n"), 16)
    return (
        f"<label>{escape(name)}<textarea readonly rows='{rows}' spellcheck='false'>"
        f"{escape(text)}</textarea></label>"
    )
