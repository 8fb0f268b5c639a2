"""One published figure beside ours, the rules by which they agree, and the document of all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, Protocol

from scipy.stats import binomtest

#: Standard errors that chance is allowed: 95 %.
Z = 1.96

AGREES, DIFFERS = "agrees", "differs"
NOT_COMPARED, NOT_REPRODUCIBLE = "not compared", "not reproducible"
VERDICTS = (AGREES, DIFFERS, NOT_COMPARED, NOT_REPRODUCIBLE)

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+")


# ---- rules ---------------------------------------------------------------------------------------


class Rule(Protocol):
    """When a published figure and ours agree, and how ours is shown."""

    def agree(self, published: str, ours: Any) -> bool:
        """Whether they do."""

    def show(self, published: str, ours: Any) -> str:
        """Ours as text."""


class Printed(NamedTuple):
    """Ours, rounded as the published one is, is the published one; both may be several numbers.

    If the published ones are shares of random draws, they may also be as far from ours as 95 % of
    such shares are.
    """

    draws: int = 0

    def agree(self, published: str, ours: Any) -> bool:
        """Every number is within half of its last place, and of what chance may do."""
        for (value, unit), x in zip(numbers(published), several(ours), strict=True):
            chance = Z * sqrt(x * (1 - x) / self.draws) if self.draws else 0.0
            if abs(value - x) > chance + unit / 2 * (1 + 1e-9):
                return False
        return True

    def show(self, published: str, ours: Any) -> str:
        """Two more places than are printed, or one where many are."""
        units = [unit for _, unit in numbers(published)]
        pairs = zip(several(ours), units, strict=True)
        return ", ".join(places(x, unit, 2 if unit > 1e-4 else 1) for x, unit in pairs)


class Hits(NamedTuple):
    """The published figure is a count of random trials; ours is the exact probability."""

    trials: int

    def agree(self, published: str, ours: float) -> bool:
        """The count is one that 95 % of such experiments have."""
        return abs(self.errors(published, ours)) <= Z

    def show(self, published: str, ours: float) -> str:
        """The probability, the count to expect, and how far off the published one is."""
        off = self.errors(published, ours)
        return f"p = {ours:.4g}, so {ours * self.trials:,.0f} ({off:+.1f} standard errors)"

    def errors(self, published: str, ours: float) -> float:
        """The published count less the one to expect, in standard errors."""
        ((hits, _),) = numbers(published)
        return (hits / self.trials - ours) / sqrt(ours * (1 - ours) / self.trials)


class Estimate(NamedTuple):
    """What a simulation found, with the interval in which 95 % of simulations of its size end."""

    value: float
    low: float
    high: float

    @classmethod
    def share(cls, share: float, n: int) -> Estimate:
        """A share of n trials, with Wilson's interval."""
        ends = binomtest(round(share * n), n).proportion_ci(method="wilson")
        return cls(share, ends.low, ends.high)

    @classmethod
    def mean(cls, mean: float, sd: float, n: int) -> Estimate:
        """A mean of n values of that standard deviation."""
        reach = Z * sd / sqrt(n)
        return cls(mean, mean - reach, mean + reach)


class Inside(NamedTuple):
    """The published figure lies in our interval, both rounded to its last place.

    Ours is multiplied by the scale first: 100 for per cent.
    """

    scale: float = 1.0

    def agree(self, published: str, ours: Estimate) -> bool:
        """Half of the last place is allowed for rounding."""
        ((value, unit),) = numbers(published)
        return self.scale * ours.low - unit / 2 <= value <= self.scale * ours.high + unit / 2

    def show(self, published: str, ours: Estimate) -> str:
        """Value and interval, with one more place than is printed."""
        ((_, unit),) = numbers(published)
        return "{} ({} to {})".format(*(places(self.scale * x, unit, 1) for x in ours))


class Holds(NamedTuple):
    """The published figure is a statement, and ours says whether it is so."""

    def agree(self, published: str, ours: tuple[bool, str]) -> bool:  # noqa: ARG002
        """As ours says."""
        return ours[0]

    def show(self, published: str, ours: tuple[bool, str]) -> str:  # noqa: ARG002
        """What was found."""
        return ours[1]


def numbers(text: str) -> list[tuple[float, float]]:
    """The numbers in a text, each with the size of its last place."""
    found = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return [(float(x), 10.0 ** -len(x.partition(".")[2])) for x in found]


def several(ours: Any) -> Sequence[float]:
    """A number, or a few of them."""
    return ours if isinstance(ours, tuple) else (ours,)


def places(value: float, unit: float, more: int = 2) -> str:
    """Rounded to `more` places beyond `unit`; what would be nothing but zeros, to two digits."""
    if unit >= 1 and abs(value - round(value)) < 1e-9:
        return f"{round(value):,}"
    digits = more + max(0, len(f"{unit:.12f}".rstrip("0").partition(".")[2]))
    text = f"{value:,.{digits}f}"
    return text if value == 0 or float(text.replace(",", "")) else f"{value:.2g}"


# ---- figures and documents -----------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A published figure: where it is printed, what it is, and how it is printed.

    `ours` has the form that the rule takes; it is text where there is no rule, since both are not
    to be compared, and None where the figure cannot be computed again. The note says why.
    """

    source: str
    what: str
    published: str
    ours: Any = None
    agrees: Rule | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.ours is None:
            return NOT_REPRODUCIBLE
        if self.agrees is None:
            return NOT_COMPARED
        return AGREES if self.agrees.agree(self.published, self.ours) else DIFFERS

    @property
    def shown(self) -> str:
        """Our figure as text."""
        if self.ours is None:
            return "–"
        if self.agrees is None:
            return str(self.ours)
        return self.agrees.show(self.published, self.ours)

    @property
    def row(self) -> str:
        """A line of the table; what differs is set in bold."""
        bold = f"**{self.verdict}**" if self.verdict == DIFFERS else self.verdict
        return line(self.source, self.what, self.published, self.shown, bold, self.note)


Part = Callable[[], Sequence[Figure]]


@dataclass(frozen=True)
class Document:
    """A publication: what the command line calls it, its heading, what else is to be said of it.

    Slow parts take more than a second or so, or time anything.
    """

    key: str
    title: str
    about: str
    parts: tuple[Part, ...]
    slow: tuple[Part, ...] = ()


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
  answers of another tagger, a picture without numbers.
- **not reproducible**: nobody published the data behind the figure, or we may not pass them on.
"""


def write(found: Mapping[Document, Sequence[Figure]]) -> str:
    """The whole document: an introduction with counts, and one table for each publication."""
    rows = [(document.title, figures) for document, figures in found.items()]
    rows.append(("all", [figure for figures in found.values() for figure in figures]))
    lines = [line("document", "figures", *VERDICTS), "|:--|" + "--:|" * (len(VERDICTS) + 1)]
    for title, figures in rows:
        tally = Counter(figure.verdict for figure in figures)
        lines.append(line(title, str(len(figures)), *(str(tally[v]) for v in VERDICTS)))
    parts = [INTRODUCTION, *lines, ""]
    for document, figures in found.items():
        head = line("where", "what", "published", "ours", "verdict", "note")
        parts += [f"## {document.title}", "", document.about, "", head, "|" + ":--|" * 6]
        parts += [*(figure.row for figure in figures), ""]
    return "\n".join(parts)


def line(*cells: str) -> str:
    """Cells between bars."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
