"""The third step: the sentence, p and its picture at once, then all that surrounds them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import ipywidgets as widgets

from permtest._html import facts, grid
from permtest.app.page import ROW, heading, problem, scrolled, section, working
from permtest.report.pages import picture
from permtest.study.document import Figure, legible, number, percent, span
from permtest.widgets.frame import spoken

if TYPE_CHECKING:
    from permtest.readers.pairing import Evaluation
    from permtest.study.overview import Overview

#: Letters of what an item is.
TEXT = 160

NO_INTERVAL = "none; the report says why"

#: What a tail is called.
SIDES = {"two-sided": "two tails", "greater": "A higher", "less": "B higher"}

#: Pixels per inch of the pictures, and from how many on they can be moved sideways.
DPI, BROAD = 100, 1000

#: What takes longest, and is computed when it is asked for.
LATER = {
    "answers": ("other tests side by side", "all other tests of the same items"),
    "power": ("effect size, power, sample size", "effect size, power and sample size"),
}


class Later:
    """A part that is computed when its button is pressed for the first time."""

    def __init__(self, title: str, opened: Callable[[], None]) -> None:
        self._title, self._opened = title, opened
        self.button = widgets.Button(layout={"width": "max-content", "max_width": "100%"})
        self.body = widgets.HTML()
        self.box = widgets.VBox([self.button, self.body])
        self.button.on_click(lambda _: self.turn())
        self.open = False
        self._name()

    def turn(self) -> None:
        """Open it, or close it."""
        self.open = not self.open
        self._name()
        if self.open and not self.body.value:
            self.body.value = working(self._title)
        self.body.layout.display = None if self.open else "none"
        if self.open:
            self._opened()

    def _name(self) -> None:
        self.button.description = f"{'Hide' if self.open else 'Show'} {self._title}"


class AnswerStep:
    """What is found, part by part.

    Parameters
    ----------
    opened : callable
        Called when a part is opened that has to be computed.

    Attributes
    ----------
    sentence, facts, null, estimation, items : ipywidgets.HTML
    later : dict of str to Later
        "answers" and "power".
    """

    def __init__(self, opened: Callable[[], None]) -> None:
        self.sentence, self.estimation, self.items = (widgets.HTML() for _ in range(3))
        self.facts = widgets.HTML(layout={"flex": "1 1 340px"})
        self.null = widgets.HTML(layout={"flex": "2 1 320px", "max_width": "800px"})
        self.later = {key: Later(title, opened) for key, (title, _) in LATER.items()}
        top = widgets.HBox([self.facts, self.null], layout=ROW)
        self._rest = (self.estimation, self.items)
        self.parts = widgets.VBox([top, *self._rest, *(later.box for later in self.later.values())])
        self.box = widgets.VBox([heading("3. The answer"), self.sentence, self.parts])
        self._done: list[widgets.HTML] = []
        self.hide()

    def hide(self) -> None:
        """Show nothing."""
        self.sentence.value = ""
        self._show(False)

    def fail(self, text: str) -> None:
        """Show why there is no answer."""
        self.sentence.value = problem(f"No answer: {text}")
        self._show(False)

    def _show(self, visible: bool) -> None:
        self.parts.layout.display = None if visible else "none"
        self.box.layout.display = None if visible or self.sentence.value else "none"

    def begin(self, found: Overview) -> None:
        """Show the exact test, which has been made.

        Parameters
        ----------
        found : Overview
        """
        self._done.clear()
        for widget in (*self._rest, *(later.body for later in self.later.values())):
            widget.add_class("permtest-old")
        self.sentence.value = spoken(f"{verdict(found)} {found.exact}")
        self.facts.value = _facts(found)
        self.null.value = _picture(found["test"].figure)
        self._show(True)

    def rest(self, found: Overview, evaluation: Evaluation) -> Iterator[str]:
        """Everything else, part by part.

        Parameters
        ----------
        found : Overview
        evaluation : Evaluation
            Says what an item is.

        Yields
        ------
        str
            What comes next.
        """
        jobs: list[tuple[str, widgets.HTML, Callable[[], str]]] = [
            (
                "the interval",
                self.facts,
                lambda: _facts(found, span(found.interval) if found.interval else NO_INTERVAL),
            ),
            ("single items", self.items, lambda: _items(found, evaluation)),
            ("their differences", self.estimation, lambda: _picture(found["finding"].figure)),
        ]
        for key, later in self.later.items():
            if later.open:
                jobs.append((LATER[key][1], later.body, partial(_later, found, key)))
        for what, widget, make in jobs:
            if widget not in self._done:
                yield what
                widget.value = make()
                widget.remove_class("permtest-old")
                self._done.append(widget)


# ---- words -------------------------------------------------------------------------------------


def verdict(found: Overview) -> str:
    """The answer in one sentence, in which the better system comes first.

    Parameters
    ----------
    found : Overview

    Returns
    -------
    str
    """
    score, (a, b) = found.exact.score, found.names
    level, upward = number(found.alpha), "greater" if score.higher_is_better else "less"
    if found.rejected is None:
        return f"Undecided at the level {level}: bounds of p lie on either side."
    if found.rejected:
        names = (a, b) if found.exact.better == a else (b, a)
        return f"{score.claim(upward, names)}, by more than luck explains."
    claim = f"{a} and {b} differ"
    if found.alternative != "two-sided" and found.difference != 0:
        claim = score.claim(upward, (a, b) if found.alternative == upward else (b, a))
    return (
        f"No evidence at the level {level} that {claim}; which does not show that they are equal."
    )


def _facts(found: Overview, interval: str = "…") -> str:
    """The numbers; those of the interval when they are there."""
    (a, b), record, exact = found.names, found.record, found.exact
    swapped = f"{exact.n:,} {found.unit}, {exact.n_informative:,} of which differ"
    rows = {
        f"A: {a}": found.score_text(found.scores[0]),
        f"B: {b}": found.score_text(found.scores[1]),
        f"A minus B ({found.measured})": found.difference_text,
        f"{percent(found.confidence_level)} interval": interval,
        f"p, {SIDES[found.alternative]}": found.p_text.removeprefix("p ").removeprefix("= "),
        "p is": _kind(found),
        "swapped": swapped,
        "A higher": f"{record.wins:,} items",
        "tie": f"{record.ties:,} items",
        "B higher": f"{record.losses:,} items",
    }
    return scrolled(facts(rows, "What was found"), "What was found")


def _kind(found: Overview) -> str:
    if found.exact.n_samples is not None:
        return f"sampled, with {found.exact.n_samples:,} random labellings"
    return "known within bounds" if found.exact.method == "bracket" else "exact"


def _items(found: Overview, evaluation: Evaluation) -> str:
    """The items on which the systems differ most, with what they are."""
    items = found.most_different
    if not items:
        return "<p>The systems do not differ on any item.</p>"
    head = ["item", "A", "B", "adds" if found.pairs.columns else "A minus B"]
    texts = [legible(evaluation.text(item.id), TEXT) for item in items]
    said = any(text != legible("") for text in texts)
    rows = [
        [
            legible(item.id),
            found.score_text(item.a),
            found.score_text(item.b),
            f"{item.difference:+.4g}",
            *([text] if said else []),
        ]
        for item, text in zip(items, texts, strict=True)
    ]
    caption = f"The {len(rows)} items on which the systems differ most" if rows[1:] else "The item"
    return scrolled(grid([*head, *(["text"] if said else [])], rows, caption), caption)


def _later(found: Overview, key: str) -> str:
    """A part that was asked for: its sections of the report, with their figures."""
    parts = [found[one] for one in {"answers": ("answers",), "power": ("effects", "power")}[key]]
    return "".join(section(part) + (_picture(part.figure) if part.figure else "") for part in parts)


# ---- pictures ----------------------------------------------------------------------------------


def _picture(figure: Figure | None) -> str:
    """A figure of the report that needs no second request; a broad one can be moved sideways."""
    assert figure is not None
    image = picture(figure, "png", dpi=DPI, bbox_inches=None, pil_kwargs={"compress_level": 1})
    width, height = (int.from_bytes(image[i : i + 4], "big") for i in (16, 20))
    broad = width > BROAD
    shown = (
        f"<img alt='{escape(figure.alt, quote=True)}' width='{width}' height='{height}' "
        f"decoding='sync' style='min-width:{width * 2 // 3 if broad else 0}px' "
        f"src='data:image/png;base64,{b64encode(image).decode()}'>"
    )
    return scrolled(shown, figure.alt) if broad else shown
