"""One published figure beside ours, the rules by which they agree, and the page of all."""

from __future__ import annotations

import re
from math import sqrt
from types import ModuleType
from typing import NamedTuple

#: Standard errors that chance is allowed: 95 %.
Z = 1.96
NUMBER = r"-?\d+(?:,\d{3})*(?:\.\d+)?|-?\.\d+"
INTRODUCTION = """\
# Published figures, computed again

permtest computes what five documents describe. Here are the main figures of each, as published and
as they come out here. One command makes this page:

    python -m benchmarks.published

Two figures agree if ours, rounded like the published one, equals it, or if it is one of random
draws and lies in the range that holds 95 % of them. Below each table stands what is wrong where
they differ, as far as we can tell.
"""


class Figure(NamedTuple):
    """Where a figure is printed, what it is, how it is printed, ours, and whether they agree."""

    where: str
    what: str
    published: str
    ours: str
    agrees: bool
    note: str = ""

    @property
    def row(self) -> str:
        """A line of the table."""
        return line(*self[:4], "agrees" if self.agrees else "**differs**")

    @property
    def remark(self) -> str:
        """A line below the table."""
        return f"- {self.where}: {self.note}"


def rounded(
    where: str, what: str, published: str, *ours: float, draws: int = 0, note: str = ""
) -> Figure:
    """They agree if ours, rounded as the published ones are, are the published ones.

    Published shares of random draws may also be as far from ours as 95 % of such shares are.
    """
    agrees, shown = True, []
    for printed, x in zip(re.findall(NUMBER, published), ours, strict=True):
        value, places = float(printed.replace(",", "")), len(printed.partition(".")[2])
        chance = Z * sqrt(x * (1 - x) / draws) if draws else 0.0
        agrees &= abs(value - x) <= chance + 10**-places / 2 * (1 + 1e-9)
        whole = places == 0 and abs(x - round(x)) < 1e-9
        shown.append(f"{x:,.{0 if whole else places + 2 - (places > 3)}f}")
    rest = iter(shown)
    text = re.sub(NUMBER, lambda _: next(rest), published)
    return Figure(where, what, published, text, agrees, note)


def page(found: dict[ModuleType, list[Figure]]) -> str:
    """An introduction with counts, and one table for each publication, by its module."""
    parts = [INTRODUCTION, line("document", "figures", "agree", "differ"), "|:--|--:|--:|--:|"]
    for module, figures in found.items():
        agree = sum(figure.agrees for figure in figures)
        parts.append(line(module.TITLE, str(len(figures)), str(agree), str(len(figures) - agree)))
    for module, figures in found.items():
        head = line("where", "what", "published", "ours", "")
        parts += ["", f"## {module.TITLE}", "", module.ABOUT, "", head, "|" + ":--|" * 5]
        parts += [figure.row for figure in figures]
        remarks = [figure.remark for figure in figures if figure.note]
        parts += ["", *dict.fromkeys(remarks)] if remarks else []
    return "\n".join(parts) + "\n"


def line(*cells: str) -> str:
    """Cells between bars."""
    return "| " + " | ".join(cells) + " |"
