"""The second step: what is compared, by what, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from permtest.app.page import ROW, heading
from permtest.readers.pairing import Evaluation
from permtest.statistics import lookup
from permtest.study.document import legible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from permtest.statistics import Alternative

LEVELS = (0.1, 0.05, 0.01, 0.005, 0.001)

TAILS = (
    ("two tails: do A and B differ?", "two-sided"),
    ("one tail: does A score higher?", "greater"),
    ("one tail: does B score higher?", "less"),
)

#: What is taken first where it can be had: what tables print.
USUAL = "mean"


@dataclass(frozen=True)
class Question:
    """What a person wants to know of an evaluation.

    Parameters
    ----------
    a, b : str
        The systems.
    score : str or None
        Which score, where there are several.
    statistic : str
    clusters : str, bool or None
        As in `permtest.read`.
    alternative : str
    alpha : float
    """

    a: str
    b: str
    score: str | None
    statistic: str
    clusters: str | bool | None
    alternative: Alternative
    alpha: float


class ChoicesStep:
    """Controls for a question; those that an evaluation has no use for are not shown.

    Parameters
    ----------
    changed : callable
        Called after a person has changed a control.

    Attributes
    ----------
    a, b, score, statistic, unit, tails, alpha : ipywidgets.Dropdown
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._evaluation: Evaluation | None = None
        self._quiet = 0
        self.a, self.b = _dropdown("System A"), _dropdown("System B")
        self.score, self.statistic = _dropdown("Score"), _dropdown("Metric")
        self.unit = _dropdown("What is swapped")
        self.tails = _dropdown("Question", TAILS)
        self.alpha = _dropdown("Level", [(f"{level:g}", level) for level in LEVELS])
        self.alpha.value = 0.05
        for control in (self.a, self.b, self.score):
            control.observe(self._other_scores, names="value")
        for control in (self.statistic, self.unit, self.tails, self.alpha):
            control.observe(self._other, names="value")
        systems = widgets.HBox([self.a, self.b], layout=ROW)
        what = widgets.HBox([self.score, self.statistic, self.unit], layout=ROW)
        how = widgets.HBox([self.tails, self.alpha], layout=ROW)
        self.box = widgets.VBox([heading("2. Choices"), systems, what, how])
        self.box.layout.display = "none"

    @property
    def question(self) -> Question:
        """What is asked now."""
        return Question(
            self.a.value,
            self.b.value,
            self.score.value,
            self.statistic.value,
            self.unit.value,
            self.tails.value,
            self.alpha.value,
        )

    def offer(self, evaluation: Evaluation | None, **first: Any) -> None:
        """Show what can be asked of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation or None
            None hides the controls.
        **first
            What is chosen at first, by the names of the controls; what is None or not to be had
            is left to the evaluation.
        """
        self._evaluation = evaluation
        self.box.layout.display = "none" if evaluation is None else None
        if evaluation is None:
            return
        wanted = {name: value for name, value in first.items() if value is not None}
        systems = [(legible(name), name) for name in evaluation.systems]
        with self._silence():
            _fill(self.a, systems, wanted.get("a"))
            _fill(self.b, systems, wanted.get("b"))
            if self.a.value == self.b.value and len(systems) > 1:
                self.b.index = 1 if self.a.index == 0 else 0
            _fill(self.unit, _units(evaluation), wanted.get("unit"))
            self._offer_scores(wanted.get("score"), wanted.get("statistic"))

    def _offer_scores(self, score: Any = None, statistic: Any = None) -> None:
        assert self._evaluation is not None
        a, b = self.a.value, self.b.value
        if a == b:
            return  # on the way from one pair to another
        names = self._evaluation.score_names(a, b)
        several = [(legible(name), name) for name in names] if len(names) > 1 else []
        _fill(self.score, several or [("the only one", None)], score or self.score.value)
        self.score.layout.display = None if several else "none"
        self._offer_statistics(statistic or self.statistic.value)

    def _offer_statistics(self, wanted: Any) -> None:
        assert self._evaluation is not None
        names: tuple[str, ...] = (USUAL,)
        # What is wrong with a column is said where the pairs are read.
        with suppress(ValueError):
            names = self._evaluation.statistics(self.a.value, self.b.value, self.score.value)
        if wanted not in names:
            wanted = USUAL if USUAL in names else names[0]
        _fill(self.statistic, [(f"{name}: {lookup(name).about}", name) for name in names], wanted)

    def _other_scores(self, _: Any) -> None:
        """Another system or score may have other statistics."""
        if self._quiet:
            return
        with self._silence():
            self._offer_scores()
        self._changed()

    def _other(self, _: Any) -> None:
        if not self._quiet:
            self._changed()

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """Controls change each other here, and nobody is told."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1


def _units(evaluation: Evaluation) -> list[tuple[str, Any]]:
    """What may be swapped, what is usual for such files first."""
    usual = next((one.swapped for one in getattr(evaluation, "found", ()) if one.swapped), None)
    groups = [(f"whole groups: {legible(name)}", name) for name in evaluation.groupings]
    if usual is None:
        return [("each item", None), *groups]
    return [(f"whole groups: {legible(usual)} (usual here)", None), ("each item", False), *groups]


def _dropdown(text: str, options: Sequence[tuple[str, Any]] = ()) -> widgets.Dropdown:
    layout = {"width": "auto", "flex": "0 1 auto"}
    style = {"description_width": "initial"}
    return widgets.Dropdown(options=options, description=text, style=style, layout=layout)


def _fill(control: widgets.Dropdown, options: Sequence[tuple[str, Any]], wanted: Any) -> None:
    """New options, of which `wanted` is chosen if it is one; the first one otherwise."""
    if tuple(control.options) != tuple(options):
        control.options = options
    values = [value for _, value in options]
    control.index = values.index(wanted) if wanted in values else 0
