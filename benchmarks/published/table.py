"""The document: an introduction with counts, and one table for each publication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.published.figure import VERDICTS, Document, Figure

HEAD = ("where", "what", "published", "ours", "verdict", "note")

INTRODUCTION = """\
# Published figures, computed again

This package computes what five documents describe. Here is every figure in them that we can
compute again: as published, as it comes out here, and whether the two agree. If we cannot compute
a figure again, the table gives the reason, and if a figure or a formula is wrong in print, the
note says how. One command makes this file in a few minutes, and it makes the same file each time:

    python -m benchmarks.published

- **agrees**: our figure, rounded like the published one, equals it. If the authors drew or
  simulated the figure, it agrees if it lies in the interval that holds 95 % of such draws or
  simulations; the table gives that interval. A statement agrees if it is true.
- **differs**: the two figures do not agree. The note says what is wrong, as far as we can tell.
- **not compared**: we show a figure, but it need not be the same: seconds of another machine,
  another corpus, a picture without numbers.
- **not reproducible**: nobody published the data behind the figure, or we may not pass them on.
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
