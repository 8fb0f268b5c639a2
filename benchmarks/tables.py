"""Markdown tables, and a section of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """What one part of the benchmark found.

    Parameters
    ----------
    title : str
    text : str
        Markdown.
    data : dict
        The same for programs.
    failures : list of str
        What is not as it is claimed to be.
    """

    title: str
    text: str
    data: dict[str, Any]
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"## {self.title}\n\n{self.text}\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up; the first is text, the others are numbers."""
    widths = [max(3, *(len(row[i]) for row in (head, *rows))) for i in range(len(head))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        parts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return "| " + " | ".join(parts) + " |"

    return "\n".join([line(head), line(rule), *map(line, rows)])
