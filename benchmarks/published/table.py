"""The document: an introduction with counts, and one table for each publication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.published.figure import VERDICTS, Document, Figure

HEAD = ("where", "what", "published", "ours", "verdict", "note")

INTRODUCTION = """\
# Published figures, computed again

This package computes what five documents describe. Here is every figure in them that can be
computed again: as it was published, as it comes out here, and whether both agree. What cannot be
computed again is listed too, with the reason, and where a figure or a formula is wrong in print the
note says how. One command makes this file, in some minutes, and makes it the same each time:

    python -m benchmarks.published

- **agrees**: ours, rounded as the published figure is, is the published figure. Where it was drawn
  at random, or simulated, it agrees if it lies where 95 % of such draws or simulations end; that
  interval is given. A statement agrees if what it says is so.
- **differs**: it does not. The note says what is wrong, as far as it can be known.
- **not compared**: there is something to show, and no reason why it should be the same: seconds of
  another machine, another corpus, a picture without numbers.
- **not reproducible**: the data behind it were not published, or may not be passed on.
"""


def write(found: Mapping[Document, Sequence[Figure]]) -> str:
    """The whole document."""
    parts = [INTRODUCTION, counts(found), *(section(*item) for item in found.items())]
    return "\n".join(parts)


def counts(found: Mapping[Document, Sequence[Figure]]) -> str:
    """How many figures have which verdict."""
    rows = [(document.title, tally(figures)) for document, figures in found.items()]
    total = ("all", tally([f for figures in found.values() for f in figures]))
    lines = [line(("document", "figures", *VERDICTS)), "|:--|" + "--:|" * (len(VERDICTS) + 1)]
    for title, row in (*rows, total):
        cells = (title, str(sum(row.values())), *(str(row[v]) for v in VERDICTS))
        lines.append(line(cells))
    return "\n".join(lines) + "\n"


def tally(figures: Sequence[Figure]) -> Counter[str]:
    """Figures by verdict."""
    return Counter(f.verdict for f in figures)


def section(document: Document, figures: Sequence[Figure]) -> str:
    """One publication."""
    rows = [line(HEAD), "|" + ":--|" * len(HEAD), *map(row, figures)]
    return f"## {document.title}\n\n{document.about}\n\n" + "\n".join(rows) + "\n"


def row(figure: Figure) -> str:
    """A line of its table; what differs is set in bold."""
    where, what, published, ours, verdict, note = figure.cells
    bold = f"**{verdict}**" if verdict == "differs" else verdict
    return line((where, what, published, ours, bold, note))


def line(cells: Sequence[str]) -> str:
    """Cells between bars."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
