"""Figures that move without a kernel: widgets in Jupyter, the same figures in a static page.

Each is one ES module that computes all that it shows, from a small state that Python gives it: the
file named after it, with `common.js` and `figures.css` before it. Where no script runs there is a
still.
"""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

try:
    from anywidget import AnyWidget
    from matplotlib.figure import Figure
    from PIL import Image
except ModuleNotFoundError as error:
    message = "figures need anywidget and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error
import numpy as np
from numpy.typing import NDArray
from traitlets import Enum, Int, List, Unicode

from permtest.exact import exact_perm_test
from permtest.null.convolution import convolve_dp
from permtest.null.distribution import pmf
from permtest.plots import plot_null, roles, sheet
from permtest.scores import Scores
from permtest.sequential import e_process

HERE = Path(__file__).parent
MOST = 100_000  # what the sizes of all differences may add up to: cells of a law, for JavaScript
COLOURS, DPI = 32, 100  # of a still
COPIES = (roles.NULL._replace(hatch="\\\\"), roles.TAIL)  # moved up, moved down
PROCESS = roles.NULL._replace(dash=(0, (6, 2)))  # the e-process
ALPHA = 0.05  # the level of those who peek

#: The state of a figure is made of the traits that are marked with it.
of_state: Any = {"sync": True, "state": True}


def _shared() -> str:
    """What stands before each module: the style, and the functions that all of them call."""
    style = json.dumps((HERE / "figures.css").read_text(encoding="utf-8"))
    return f"const STYLE = {style};\n{(HERE / 'common.js').read_text(encoding='utf-8')}"


def _module(name: str) -> str:
    return (HERE / f"{name}.js").read_text(encoding="utf-8")


class MovingFigure(AnyWidget):
    """What all figures share: their state, and a still for where no script runs.

    A subclass has a `figure`, the name of its module, traits marked as `of_state`, and `_still`,
    which draws what it shows at first and returns the alternative text.
    """

    figure: ClassVar[str]

    def state(self) -> dict[str, Any]:
        """All that the module needs; lists of numbers as text, which a notebook keeps on a line."""
        state = {name: getattr(self, name) for name in self.trait_names(state=True)}
        return {
            name: " ".join(map(str, value))
            if isinstance(value, list) and value and isinstance(value[0], int)
            else value
            for name, value in state.items()
        }

    def _still(self, picture: Figure) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None  # it is of a widget without a view
        data, metadata = bundle
        with sheet.style():
            picture = Figure(figsize=sheet.SIZE, layout="constrained")
            alt = self._still(picture)
            data["image/png"] = b64encode(_png(picture)).decode()
        data["text/plain"] = alt  # and no address in memory
        metadata["image/png"] = {"alt": alt}
        metadata["permtest"] = {"figure": self.figure, "state": self.state()}
        return data, metadata


def _png(picture: Figure) -> bytes:
    """A file with few colours: such pictures need no more, and notebooks stay small."""
    raw, file = BytesIO(), BytesIO()
    picture.savefig(raw, format="png", dpi=DPI)
    few = Image.open(raw).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(file, format="png", optimize=True)
    return file.getvalue()


class Swap(MovingFigure):
    """Swap the scores of sentences on cards, or toss a coin for each, and see the lead fall.

    Scores are whole numbers, of which the sizes of all differences may add up to 100 000; `u` may
    be `Scores`. `cards` are positions of up to 8 items, by default the first six that differ, and
    `labels` their titles. It opens with the cards alone, or with "all" items in `view`, and with
    some labellings tossed. What the reader makes of the scores comes back in `u`, `v` and `view`.
    """

    figure = "swap"
    _esm = _shared() + _module("swap")
    u = List(Int()).tag(**of_state)
    v = List(Int()).tag(**of_state)
    names = List(Unicode()).tag(**of_state)
    unit = Unicode("words").tag(**of_state)
    item = Unicode("sentence").tag(**of_state)
    cards = List(Int(), minlen=1, maxlen=8).tag(**of_state)
    labels = List(Unicode()).tag(**of_state)
    view = Enum(("few", "all"), "few").tag(**of_state)
    tosses = Int(20, min=0, max=10_000).tag(**of_state)
    seed = Int(1).tag(**of_state)

    def __init__(
        self, u: Any, v: Any = None, *, names: tuple[str, str] | None = None, **state: Any
    ) -> None:
        pairs = u if isinstance(u, Scores) and v is None else Scores.of(u, v, names)
        a, b = _whole(pairs)
        state.setdefault("cards", np.flatnonzero(pairs.u - pairs.v)[:6].tolist())
        if bad := [i for i in state["cards"] if not 0 <= i < len(a)]:
            raise ValueError(f"cards: {bad[0]} is no position from 0 to {len(a) - 1}")
        titles = [pairs.ids[i] if pairs.ids else f"sentence {i}" for i in state["cards"]]
        if len(state.setdefault("labels", titles)) != len(titles):
            raise ValueError(f"labels has {len(state['labels'])} titles for {len(titles)} cards")
        super().__init__(u=a, v=b, names=list(names or pairs.names), **state)

    def _still(self, picture: Figure) -> str:
        """The exact distribution of the items in view."""
        a, b = self.names
        shown = self.cards if self.view == "few" else range(len(self.u))
        u, v = ([scores[i] for i in shown] for scores in (self.u, self.v))
        result = exact_perm_test(u, v)
        ax = plot_null(result, ax=picture.subplots())
        sheet.literal(ax.xaxis.label, f"lead of {a} ({self.unit})", ax)
        return (
            f"Null distribution of the lead of {a} over {b} on {len(shown):,} {self.item}s: the "
            f"observed lead is {result.statistic:+g} {self.unit}, p = {result.pvalue:.3g}."
        )


class Convolution(MovingFigure):
    """Add coins to a null distribution: two halved copies of it move apart and add up.

    Differences of two systems' scores are whole numbers, whose sizes may add up to 100 000; those
    that are 0 are left out. `start` of them are in when it opens.
    """

    figure = "convolution"
    _esm = _shared() + _module("convolution")
    differences = List(Int()).tag(**of_state)
    label = Unicode("lead").tag(**of_state)
    unit = Unicode("words").tag(**of_state)
    item = Unicode("sentence").tag(**of_state)
    start = Int(3, min=0).tag(**of_state)

    def __init__(self, differences: Any, **state: Any) -> None:
        given = np.asarray(differences)
        labels = ("differences", "zeros")
        pairs = Scores.of(given, np.zeros(given.shape), labels=labels)
        steps = [x for x in _whole(pairs, "differences")[0] if x]
        if state.get("start", 3) > len(steps) or not steps:
            raise ValueError(f"differences other than 0 are {len(steps)}, too few to start with")
        super().__init__(differences=steps, **state)

    def _still(self, picture: Figure) -> str:
        """The two copies on top of each other, and their outline, the sum."""
        steps = self.differences[: max(self.start, 1)]
        before = convolve_dp([pmf(x, -x) for x in steps[:-1]])
        law = convolve_dp([pmf(x, -x) for x in steps])
        ax, width = picture.subplots(), float(law.unit)
        ground: dict[int, float] = {}
        for move, role in zip((abs(steps[-1]), -abs(steps[-1])), COPIES, strict=True):
            values, heights = (before.support + move).tolist(), before.pmf / 2
            feet = [ground.get(value, 0.0) for value in values]
            look = role.area(ax, edgecolor=role.rgba(), facecolor=role.rgba(0.25))
            label = f"half of it, moved by {sheet.signed(move)}"
            ax.bar(values, heights, width, feet, label=label, **look)
            ground |= dict(zip(values, heights, strict=True))
        edge = {"fill": False, "edgecolor": roles.ink(), "linewidth": 1.5}
        ax.bar(law.support, law.pmf, width, label="their sum", **edge)
        sheet.literal(ax.xaxis.label, f"{self.label} ({self.unit})", ax)
        ax.set_ylabel("probability")
        sheet.key(ax, ax.containers)
        low, high = (sheet.signed(float(x)) for x in law.support[[0, -1]])
        return (
            f"The distribution of the {self.label} after {len(steps)} coins, from {low} to "
            f"{high} {self.unit}: two copies of the previous distribution, each half as high, "
            "one moved up and one moved down, are stacked."
        )


class Peeking(MovingFigure):
    """Look at p after every item of experiments in which nothing is different.

    Items come in one by one, and each speaks for either system with probability 1/2. After each,
    the figure has p of the exact test (a binomial tail) and `permtest.e_process`; then it counts
    how many experiments "find something".

    It opens with so many `experiments`; items on which the systems are level do not count.
    """

    figure = "peeking"
    _esm = _shared() + _module("peeking")
    items = Int(200, min=10, max=1000).tag(**of_state)
    experiments = Int(20, min=1, max=5000).tag(**of_state)
    seed = Int(12).tag(**of_state)

    def _still(self, picture: Figure) -> str:
        """The paths of the last experiment, p on the left and E on the right."""
        p, e = _paths(_coins(self.seed, self.experiments * self.items).reshape(-1, self.items))
        n = np.arange(1, self.items + 1)
        looks = (roles.TAIL, "p-value", p, ALPHA), (PROCESS, "e-process", e, 1 / ALPHA)
        for ax, (role, name, paths, level) in zip(picture.subplots(1, 2), looks, strict=True):
            ax.plot(n, paths[-1], **role.line())
            label = f"level {level:g}" if level < 1 else f"1 / {ALPHA} = {level:g}"
            sheet.key(ax, [ax.axhline(level, label=label, **roles.LEVEL.line())])
            ax.set(yscale="log", xlabel="items so far", ylabel=name)
        peeked, seen = int((p < ALPHA).any(axis=1).sum()), int((e >= 1 / ALPHA).any(axis=1).sum())
        return (
            "The p-value and the e-process of an experiment without any difference, after each "
            f"of {self.items} items, with lines at {ALPHA} and {1 / ALPHA:g}. Of "
            f"{self.experiments} such experiments, {peeked} find something by peeking at p and "
            f"{seen} by the e-process."
        )


def _coins(seed: int, number: int) -> NDArray[np.int64]:
    """Fair signs, the same as those of the figures: mulberry32, whose first bit is the sign."""
    found, mask, state = [], 0xFFFFFFFF, seed & 0xFFFFFFFF
    for _ in range(number):
        state = (state + 0x6D2B79F5) & mask
        t = ((state ^ (state >> 15)) * (state | 1)) & mask
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & mask)) & mask
        found.append(-1 if (t ^ (t >> 14)) >> 31 else 1)
    return np.array(found, dtype=np.int64)


def _paths(signs: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """p of the exact test and the e-process after each item; a row is an experiment."""
    from scipy.stats import binom

    n = np.arange(1, signs.shape[1] + 1)
    fewer = (n - np.abs(signs.cumsum(axis=1))) // 2
    p = np.minimum(2 * binom.cdf(fewer, n, 0.5), 1.0)
    e = np.array([e_process(row, np.zeros_like(row)).values for row in signs])
    return p, e


def _whole(pairs: Scores, what: str = "u and v") -> tuple[list[int], list[int]]:
    """Scores that JavaScript can add up without rounding, or an error."""
    if pairs.columns:
        raise ValueError(f"{what} must hold one score for each item")
    if pairs.scale != 1:
        raise ValueError(
            f"{what} must be whole numbers; multiply them by {pairs.scale}, and name the unit"
        )
    total = sum(abs(int(x)) for x in pairs.u - pairs.v)
    if total > MOST:
        raise ValueError(
            f"the sizes of all differences add up to {total:,}, which is more than {MOST:,}; "
            "use fewer items or larger units"
        )
    return [int(x) for x in pairs.u], [int(x) for x in pairs.v]


#: All that a static page may hold.
FIGURES = (Swap, Convolution, Peeking)

# ---- static pages --------------------------------------------------------------------------------

#: A model without a kernel: it keeps its traits, and tells those who listen.
PAGE = """
function stub(state) {
  const heard = {};
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      for (const hear of heard[`change:${name}`] ?? []) hear();
    },
    save_changes() {},
    on: (event, hear) => (heard[event] ??= new Set()).add(hear),
    off: (event, hear) => heard[event]?.delete(hear),
  };
}

function start() {
  for (const place of document.querySelectorAll("div.permtest-figure[data-figure]")) {
    const state = place.querySelector('script[type="application/json"]');
    if (!state) continue;
    const el = document.createElement("div");
    const still = [...place.childNodes];
    place.append(el);
    try {
      figures[place.dataset.figure].render({ model: stub(JSON.parse(state.textContent)), el });
      still.forEach((node) => node.remove());
    } catch (error) {
      el.remove();
      console.error(error);
    }
  }
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
"""


def page_script() -> str:
    """One classic script that brings the figures of a static page to life, also from a disk.

    It looks for what `page_div` makes and puts the live figure in the still's place; where it
    fails, the still stays.
    """
    figures = ["const figures = {};"]
    for kind in FIGURES:
        module = _module(kind.figure).replace("export default", "return")
        figures.append(f"figures.{kind.figure} = (() => {{\n{module}}})();")
    parts = ["(() => {", '"use strict";', _shared(), *figures, PAGE, "})();\n"]
    return "\n".join(parts)


def page_div(figure: str, state: dict[str, Any], still: str = "") -> str:
    """The place of a figure in a static page that has `page_script`, with its state and still."""
    plain = json.dumps(state).replace("<", "\\u003c")
    return (
        f'<div class="permtest-figure" data-figure="{escape(figure)}">{still}'
        f'<script type="application/json">{plain}</script></div>'
    )
