"""What is compared, by what, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from permtest.pairs import Pairs
from permtest.readers.pairing import Evaluation
from permtest.statistics import lookup
from permtest.study.document import NAME, legible

LEVELS = (0.1, 0.05, 0.01, 0.005, 0.001)

TAILS = (
    ("two tails: do A and B differ?", "two-sided"),
    ("one tail: does A score higher?", "greater"),
    ("one tail: does B score higher?", "less"),
)

#: What is taken first where it can be had: what tables print.
USUAL = "mean"

WIDE = {"description_width": "initial"}
ROW = {"flex_flow": "row wrap", "grid_gap": "0.4em 1.2em", "align_items": "flex-start"}


class Choices(widgets.VBox):  # type: ignore[misc]
    """Controls for a question; those that an evaluation has no use for are not shown."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._quiet = changed, False
        self._evaluation: Evaluation | None = None
        self._called: dict[str, str] = {}  # what a person calls the systems of the files
        self._read: tuple[Any, Pairs] | None = None
        self.a, self.b = _dropdown("System A"), _dropdown("System B")
        self.called_a, self.called_b = (
            widgets.Text(description=f"{x} is called", continuous_update=False, style=WIDE)
            for x in "AB"
        )
        self.score, self.way = _dropdown("Score"), _dropdown("Better is")
        self.statistic, self.unit = _dropdown("Metric"), _dropdown("What is swapped")
        self.tails = _dropdown("Question", TAILS)
        self.alpha = _dropdown("Level", [(f"{level:g}", level) for level in LEVELS])
        self.alpha.value = 0.05
        rows = (
            (self.a, self.called_a, self.b, self.called_b),
            (self.score, self.way, self.statistic, self.unit),
            (self.tails, self.alpha),
        )
        for control in (control for row in rows for control in row):
            control.observe(self._moved, names="value")
        boxes = [widgets.HBox(row, layout=ROW) for row in rows]
        super().__init__([widgets.HTML("<h2>Choices</h2>"), *boxes])

    def offer(self, evaluation: Evaluation | None, **first: Any) -> None:
        """Show what can be asked of an evaluation, and `first` by the names of the controls."""
        self._evaluation, self._read = evaluation, None
        self.layout.display = "none" if evaluation is None else None
        if evaluation is None:
            return
        units: list[tuple[str, Any]] = [("each item", False)]
        units += [(f"whole groups: {legible(name)}", name) for name in evaluation.groupings]
        systems = [(legible(name), name) for name in evaluation.systems]
        self._fill(self.a, systems, first.get("a"))
        self._fill(self.b, systems, first.get("b"))
        if self.a.value == self.b.value:
            self._fill(self.b, systems, evaluation.systems[self.a.index == 0])
        usual = next((one.swapped for one in evaluation.found if one.swapped), False)
        self._fill(self.unit, units, usual)
        self._fill(self.way, [("higher", None)], None)  # until the scores are read
        self._offer_scores(first.get("score"), first.get("metric"))

    @property
    def missing(self) -> str:
        """What has to be chosen before there is an answer."""
        several = len(self.score.options) > 1 and self.score.value is None
        return "The files have several scores: choose one." if several else ""

    def pairs(self) -> Pairs:
        """The scores that are asked for, which are read once, under the names they have here."""
        assert self._evaluation is not None
        a, b, how = self.a.value, self.b.value, {"clusters": self.unit.value}
        how |= {"score": self.score.value, "statistic": self.statistic.value}
        key = (a, b, *how.values())
        if self._read is None or self._read[0] != key:
            self._read = key, self._evaluation.pairs(a, b, **how)
        pairs = self._read[1]
        way = "higher" if pairs.score.higher_is_better else "lower"
        known = f"{way}, as the files say"
        if pairs.score.basis == "assumed":
            known = "unknown: choose (permtest assumes higher)"
        self._fill(self.way, [(known, None), ("higher", True), ("lower", False)], self.way.value)
        names = self._called.get(a, pairs.names[0]), self._called.get(b, pairs.names[1])
        return replace(pairs, names=names, score=pairs.score.stated(self.way.value))

    def _offer_scores(self, score: Any = None, metric: Any = None) -> None:
        """What the two systems are called, and what they have been scored by."""
        assert self._evaluation is not None
        a, b = self.a.value, self.b.value
        names = self._evaluation.score_names(a, b)
        fitting: tuple[str, ...] = (USUAL,)
        several = [(legible(name), name) for name in names] if len(names) > 1 else []
        self._fill(self.score, [("choose one", None), *several], score or self.score.value)
        self.score.layout.display = None if several else "none"
        # What is wrong with a column is said where the pairs are read.
        with suppress(ValueError):
            fitting = self._evaluation.statistics(a, b, self.score.value)
        wanted = metric or self.statistic.value
        wanted = wanted if wanted in fitting or USUAL not in fitting else USUAL
        self._fill(self.statistic, [(f"{x}: {lookup(x).about}", x) for x in fitting], wanted)
        self._quiet = True
        self.called_a.value, self.called_b.value = (
            self._called.get(name, legible(name, NAME)) for name in (a, b)
        )
        self._quiet = False

    def _moved(self, change: Mapping[str, Any]) -> None:
        """A person has changed a control; other systems and scores may have other statistics."""
        control = change["owner"]
        if self._quiet:
            return
        if control in (self.called_a, self.called_b):
            system = (self.a if control is self.called_a else self.b).value
            self._called[system] = legible(control.value or system, NAME)
        elif control in (self.a, self.b, self.score):
            self._offer_scores()
        self._changed()

    def _fill(self, control: widgets.Dropdown, options: Sequence[Any], wanted: Any) -> None:
        """New options, of which `wanted` is chosen if it is one; the first one otherwise."""
        self._quiet = True
        if tuple(control.options) != tuple(options):
            control.options = options
        values = [value for _, value in options]
        control.index = values.index(wanted) if wanted in values else 0
        self._quiet = False


def _dropdown(text: str, options: Sequence[tuple[str, Any]] = ()) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, description=text, style=WIDE)
