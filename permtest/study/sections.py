"""What reports are made of: chapters with tables, and what all of them say in the same words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isfinite
from textwrap import fill, wrap
from typing import TYPE_CHECKING, TypeVar

from permtest._json import AsJson
from permtest.alternatives.answers import Answer
from permtest.result import PermutationTestResult
from permtest.study.effects import EffectSize

T = TypeVar("T")

#: Columns of a page of text, and of the last column of a table on it at least.
PAGE, NARROWEST = 100, 30

#: What Cohen's words are worth.
COHEN = (
    "The words are Cohen's for the behavioural sciences; what a large difference between systems "
    "is, their use decides."
)


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Parameters
    ----------
    head : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        The first cell of each says what it is about.
    caption : str
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        margin = sum(widths[:-1]) + 3 * len(widths[:-1])
        room = max(PAGE - margin, NARROWEST)
        return "\n".join(text for line in lines for text in _row(line, widths, margin, room))


def _row(cells: tuple[str, ...], widths: list[int], margin: int, room: int) -> list[str]:
    """A row of text; what does not fit into the last column goes on below."""
    start = "".join(f"{cell.ljust(n)}   " for cell, n in zip(cells[:-1], widths, strict=False))
    first, *rest = wrap(cells[-1], room, break_on_hyphens=False) or [""]
    return [(start + first).rstrip(), *(" " * margin + text for text in rest)]


@dataclass(frozen=True)
class Chapter:
    """One part of a report.

    Parameters
    ----------
    key : str
        A short name without blanks; pictures are called after it.
    title : str
    done : str
        What was done.
    grids : tuple of Grid
        What was found.
    meaning : str
        What that says.
    limits : str
        What it does not say.
    problem : str
        Why there is nothing, where there is nothing.
    pictures : tuple of str
        Keys of its pictures.
    code : str
        Something to be copied as it stands, too long for a page of text.
    """

    key: str
    title: str
    done: str
    grids: tuple[Grid, ...] = ()
    meaning: str = ""
    limits: str = ""
    problem: str = ""
    pictures: tuple[str, ...] = ()
    code: str = ""

    def __str__(self) -> str:
        parts = [self.title.upper(), wrapped(self.done)]
        for grid in self.grids:
            parts += [grid.caption and f"{grid.caption}:", str(grid)]
        parts += [wrapped(text) for text in (self.problem, self.meaning, self.limits)]
        return "\n\n".join(part for part in parts if part)


def wrapped(text: str) -> str:
    """A paragraph of a page."""
    return fill(text, PAGE, break_long_words=False, break_on_hyphens=False)


class Report(AsJson):
    """What has a sentence for a paper, and chapters."""

    if TYPE_CHECKING:

        @property
        def exact(self) -> PermutationTestResult:
            """The exact test."""

    @abstractmethod
    def sentence(self) -> str:
        """One sentence for a paper, with the numbers and what was used."""

    @abstractmethod
    def chapters(self) -> tuple[Chapter, ...]:
        """What a report says, part by part, as text and tables."""

    def __str__(self) -> str:
        return "\n\n\n".join([wrapped(self.sentence()), *map(str, self.chapters())])


class Notes(dict[str, str]):
    """Stage -> why there is no result, or not all of it."""

    def add(self, stage: str, why: str) -> None:
        """One more reason."""
        self[stage] = f"{self[stage]}; {why}" if stage in self else why

    def tried(self, stage: str, job: Callable[[], T], what: str = "") -> T | None:
        """What `job` returns; None, and a note, where the data are unfit for it."""
        try:
            return job()
        except ValueError as error:
            self.add(stage, f"{what}{error}")
            return None

    def text(self, stage: str) -> str:
        """That something of a stage is missing, and why; nothing if nothing is."""
        return f"Not everything could be computed: {self[stage]}." if stage in self else ""


# ---- numbers in words --------------------------------------------------------------------------


def number(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"


def percent(level: float) -> str:
    """A confidence level."""
    return f"{100 * level:.6g}%"


def span(interval: tuple[float, float] | None) -> str:
    """An interval as people write it, open ends as such."""
    if interval is None:
        return "none"
    low, high = interval
    if isfinite(low) and isfinite(high):
        return f"{number(low)} to {number(high)}"
    if low == -inf and high == inf:
        return "any value"
    return f"{number(low)} or more" if isfinite(low) else f"{number(high)} or less"


def p_text(found: Report) -> str:
    """p with its relation; two bounds where only those are known."""
    exact = found.exact
    if exact.method == "bracket":
        return f"p {exact.bracket_text()}"
    return f"p {'=' if exact.n_samples is None else 'is about'} {exact.pvalue_text()}"


# ---- tests and effects -------------------------------------------------------------------------


def decision(answer: Answer, alpha: float) -> str:
    """Whether a test rejects, as a cell of a table."""
    return {True: "yes", False: "no", None: "-"}[answer.rejects(alpha)]


def agreement(decisions: Iterable[bool | None]) -> str:
    """Whether tests decide alike; nothing for a single one."""
    made = [reject for reject in decisions if reject is not None]
    if len(set(made)) < 2:
        return f"All {len(made)} tests decide alike." if len(made) > 1 else ""
    return (
        f"{sum(made)} of {len(made)} tests reject: they ask different questions, or rest on "
        "assumptions that do not hold."
    )


def effect_grids(effects: tuple[EffectSize, ...], level: float, per: str = "") -> tuple[Grid, ...]:
    """The table of effect sizes, if there are any; `per` says what their unit is of."""
    head = ("effect size", "value", f"{percent(level)} interval", "magnitude", "interval from")
    rows = tuple(
        (
            effect.title,
            number(effect.value),
            span(effect.confidence_interval(level)),
            effect.label or f"in units of the scores{per}",
            effect.method,
        )
        for effect in effects
    )
    return (Grid(head, rows),) if rows else ()
