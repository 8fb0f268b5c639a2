"""One published figure beside ours, and the rules by which they agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol

from scipy.stats import binomtest

#: Standard errors that chance is allowed: 95 %.
Z = 1.96

AGREES, DIFFERS = "agrees", "differs"
NOT_COMPARED, NOT_REPRODUCIBLE = "not compared", "not reproducible"
VERDICTS = (AGREES, DIFFERS, NOT_COMPARED, NOT_REPRODUCIBLE)

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+")


class Rule(Protocol):
    """When a published figure and ours agree, and how ours is shown."""

    def agree(self, published: str, ours: Any) -> bool:
        """Whether they do."""

    def show(self, published: str, ours: Any) -> str:
        """Ours as text."""


@dataclass(frozen=True)
class Printed:
    """Ours, rounded as the published one is, is the published one; both may be several numbers.

    Parameters
    ----------
    draws : int
        How many random values the published ones are shares of: they may then be as far from ours
        as 95 % of such shares are. 0: they are not random.
    """

    draws: int = 0

    def agree(self, published: str, ours: Any) -> bool:
        """Every number is within half of its last place, and of what chance may do."""
        pairs = zip(numbers(published), several(ours), strict=True)
        return all(abs(value - x) <= self._slack(x, unit) for (value, unit), x in pairs)

    def show(self, published: str, ours: Any) -> str:
        """Two more places than are printed, or one where many are."""
        units = [unit for _, unit in numbers(published)]
        pairs = zip(several(ours), units, strict=True)
        return ", ".join(places(x, unit, 2 if unit > 1e-4 else 1) for x, unit in pairs)

    def _slack(self, ours: float, unit: float) -> float:
        chance = Z * sqrt(ours * (1 - ours) / self.draws) if self.draws else 0.0
        return chance + unit / 2 * (1 + 1e-9)


@dataclass(frozen=True)
class Hits:
    """The published figure is a count of random trials; ours is the exact probability.

    Parameters
    ----------
    trials : int
    """

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


@dataclass(frozen=True)
class Estimate:
    """What a simulation found, with the interval in which 95 % of simulations of its size end.

    Parameters
    ----------
    value, low, high : float
    """

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


@dataclass(frozen=True)
class Inside:
    """The published figure lies in our interval, both rounded to its last place.

    Parameters
    ----------
    scale : float
        Ours is multiplied by it first: 100 for per cent.
    """

    scale: float = 1.0

    def agree(self, published: str, ours: Estimate) -> bool:
        """Half of the last place is allowed for rounding."""
        ((value, unit),) = numbers(published)
        low, high = self.scale * ours.low, self.scale * ours.high
        return low - unit / 2 <= value <= high + unit / 2

    def show(self, published: str, ours: Estimate) -> str:
        """Value and interval, with one more place than is printed."""
        ((_, unit),) = numbers(published)
        shown = (places(self.scale * x, unit, 1) for x in (ours.value, ours.low, ours.high))
        return "{} ({} to {})".format(*shown)


@dataclass(frozen=True)
class Holds:
    """The published figure is a statement, and ours says whether it is so."""

    def agree(self, published: str, ours: tuple[bool, str]) -> bool:  # noqa: ARG002
        """As ours says."""
        return ours[0]

    def show(self, published: str, ours: tuple[bool, str]) -> str:  # noqa: ARG002
        """What was found."""
        return ours[1]


@dataclass(frozen=True)
class Figure:
    """A published figure.

    Parameters
    ----------
    source : str
        Where it is printed: "Table 1".
    what : str
        What it is.
    published : str
        As it is printed.
    ours : object
        What we compute, in the form that the rule takes; text where there is no rule; None where
        the figure cannot be computed again.
    agrees : Rule, optional
        When both agree. None: they are not to be compared, and the note says why.
    note : str
        What a reader should know.
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
        return self.agrees.show(self.published, self.ours) if self.agrees else str(self.ours)

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        return self.source, self.what, self.published, self.shown, self.verdict, self.note


@dataclass(frozen=True)
class Part:
    """Some figures that are computed together.

    Parameters
    ----------
    compute : callable
        Returns them.
    slow : bool
        Whether that takes more than a second or so, or times anything.
    """

    compute: Callable[[], Sequence[Figure]]
    slow: bool = False


@dataclass(frozen=True)
class Document:
    """A publication and its figures.

    Parameters
    ----------
    key : str
        What the command line calls it.
    title : str
        Its heading.
    about : str
        What else is to be said of it.
    parts : tuple of Part
    """

    key: str
    title: str
    about: str
    parts: tuple[Part, ...]


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
