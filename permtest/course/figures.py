"""Figures that move without a kernel: widgets in Jupyter, the same figures in a static page.

Each is one ES module that computes all that it shows, from a small state that Python gives it: the
file named after it, with `common.js` and `figures.css` before it. Where no script runs there is a
still.
"""

from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from anywidget import AnyWidget
from matplotlib.figure import Figure
from PIL import Image
from traitlets import Enum, Int, List, Unicode

from permtest.exact import exact_perm_test
from permtest.null.convolution import convolve_dp
from permtest.null.distribution import pmf
from permtest.plots import roles, sheet

HERE = Path(__file__).parent
COLOURS, DPI = 32, 100  # of a still
ALPHA, STILL_TOSSES = 0.05, 20  # the level of those who peek; labellings in a still of `Swap`

of_state: Any = {"sync": True, "state": True}  # marks the traits of which a state is made


def _module(name: str) -> str:
    """The module of a figure, with the style and the functions that all of them share before it."""
    parts = ("figures.css", "common.js", f"{name}.js")
    style, *code = ((HERE / part).read_text("utf-8") for part in parts)
    return "\n".join([f"const STYLE = {json.dumps(style)};", *code])


class MovingFigure(AnyWidget):
    """What all figures share: their state, and a still for where no script runs.

    A subclass has a `figure`, the name of its module, traits marked as `of_state`, and `_still`,
    which draws what it shows at first and returns the alternative text.
    """

    figure: ClassVar[str]

    def state(self) -> dict[str, Any]:
        """All that the module needs; lists of numbers as text, which a notebook keeps on a line."""
        state = {name: getattr(self, name) for name in self.trait_names(state=True)}
        for name, value in state.items():
            if isinstance(value, list) and value and isinstance(value[0], int):
                state[name] = " ".join(map(str, value))
        return state

    def _still(self, picture: Figure) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None  # it is of a widget without a view
        data, metadata = bundle
        raw, file = BytesIO(), BytesIO()
        with sheet.style():
            picture = Figure(figsize=sheet.SIZE, layout="constrained")
            alt = self._still(picture)
            picture.savefig(raw, format="png", dpi=DPI)
        few = Image.open(raw).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(file, format="png", optimize=True)
        data["image/png"] = b64encode(file.getvalue()).decode()
        data["text/plain"] = alt  # and no address in memory
        metadata["image/png"] = {"alt": alt}
        metadata["permtest"] = {"figure": self.figure, "state": self.state()}
        return data, metadata


class Swap(MovingFigure):
    """Swap the scores of sentences on cards, or toss a coin for each, and see the lead fall.

    Scores are whole numbers; the sizes of their differences should add up to 100 000 at most.
    `cards` are positions of up to 8 items, by default the first six that differ, and `labels` their
    titles. It opens with the cards alone, or with "all" items in `view`, and with some labellings
    tossed. What the reader makes of the scores comes back in `u`, `v` and `view`.
    """

    figure = "swap"
    _esm = _module("swap")
    u = List(Int()).tag(**of_state)
    v = List(Int()).tag(**of_state)
    names = List(Unicode()).tag(**of_state)
    unit = Unicode("words").tag(**of_state)
    item = Unicode("sentence").tag(**of_state)
    cards = List(Int(), minlen=1, maxlen=8).tag(**of_state)
    labels = List(Unicode()).tag(**of_state)
    view = Enum(("few", "all"), "few").tag(**of_state)
    tosses = Int(0, min=0, max=10_000).tag(**of_state)
    seed = Int(1).tag(**of_state)

    def __init__(self, u: Any, v: Any, *, names: tuple[str, str], **state: Any) -> None:
        state = {"cards": np.flatnonzero(np.subtract(u, v))[:6].tolist()} | state
        state = {"labels": [f"sentence {i}" for i in state["cards"]]} | state
        u, v = (np.asarray(x).tolist() for x in (u, v))
        super().__init__(u=u, v=v, names=list(names), **state)

    def _still(self, picture: Figure) -> str:
        """What is there before a toss, after some, and after all; extreme leads are squares."""
        a, b = self.names
        shown = self.cards if self.view == "few" else range(len(self.u))
        d = np.subtract(self.u, self.v)[shown]
        law, lead = exact_perm_test(d, 0 * d).null_distribution, int(d.sum())
        coins = np.random.default_rng(self.seed).choice([-1, 1], (STILL_TOSSES, d.size))
        panels, tossed = picture.subplots(1, 3), np.sort(coins @ d)
        heights = 1 + np.arange(tossed.size) - np.searchsorted(tossed, tossed)
        for role, which in ((roles.NULL, np.less), (roles.TAIL, np.greater_equal)):
            some, every = (which(abs(x), abs(lead)) for x in (tossed, law.support))
            panels[1].plot(tossed[some], heights[some], **role.dot(panels[1], ls="none"))
            look = role.area(panels[2], width=0.9 * law.unit, linewidth=0)
            panels[2].bar(law.support[every], law.pmf[every], **look)
        panels[0].set_ylabel("how often")
        titles = "the observed lead", f"{STILL_TOSSES} tosses", "all labellings"
        for ax, title in zip(panels, titles, strict=True):
            ax.axvline(lead, **roles.OBSERVED.line())
            ax.set(title=title, yticks=[], xlim=(law.support[0] - 1, law.support[-1] + 1))
        sheet.literal(picture.supxlabel(""), f"lead of {a} ({self.unit})", 60)
        return (
            f"Three frames: {a} leads {b} by {lead:+,} {self.unit} on {len(d):,} {self.item}s; the "
            f"leads of {STILL_TOSSES} random labellings, squares if as large; the leads of all."
        )


class Convolution(MovingFigure):
    """Add coins to a null distribution: two halved copies of it move apart and add up.

    Differences of two systems' scores are whole numbers, whose sizes should add up to 100 000
    at most; those that are 0 are left out. `start` of them are in when it opens.
    """

    figure = "convolution"
    _esm = _module("convolution")
    differences = List(Int()).tag(**of_state)
    label = Unicode("lead").tag(**of_state)
    unit = Unicode("words").tag(**of_state)
    item = Unicode("sentence").tag(**of_state)
    start = Int(3, min=0).tag(**of_state)

    def __init__(self, differences: Any, **state: Any) -> None:
        super().__init__(differences=[x for x in np.asarray(differences).tolist() if x], **state)

    def _still(self, picture: Figure) -> str:
        """What it shows at first, without the two copies."""
        steps = self.differences[: max(self.start, 1)]
        law, ax = convolve_dp([pmf(x, -x) for x in steps]), picture.subplots()
        ax.bar(law.support, law.pmf, float(law.unit), **roles.NULL.area(ax))
        sheet.literal(ax.xaxis.label, f"{self.label} ({self.unit})", ax)
        ax.set_ylabel("probability")
        return f"The null distribution of the {self.label} ({self.unit}) after {len(steps)} coins."


class Peeking(MovingFigure):
    """Look at p after every item of experiments in which nothing is different.

    Items come in one by one, and each speaks for either system with probability 1/2. After each,
    the figure has p of the exact test (a binomial tail) and `permtest.e_process`; then it counts
    how many of the `experiments` "find something". Items on which systems are level do not count.
    """

    figure = "peeking"
    _esm = _module("peeking")
    items = Int(200, min=10, max=1000).tag(**of_state)
    experiments = Int(20, min=1, max=5000).tag(**of_state)
    seed = Int(12).tag(**of_state)

    def _still(self, picture: Figure) -> str:
        """The p-values of one such experiment that need not be among those of the live figure."""
        from scipy.stats import binom

        n, ax = np.arange(1, self.items + 1), picture.subplots()
        signs = np.random.default_rng(self.seed).choice([-1, 1], (self.experiments, self.items))
        fewer = (n - np.abs(signs.cumsum(axis=1))) // 2
        p = np.minimum(2 * binom.cdf(fewer, n, 0.5), 1.0)
        ax.plot(n, p[p.min(axis=1).argmin()], **roles.TAIL.line())
        sheet.key(ax, [ax.axhline(ALPHA, label=f"level {ALPHA:g}", **roles.LEVEL.line())])
        ax.set(yscale="log", xlabel="items so far", ylabel="p-value")
        return (
            f"The p-value after each of {self.items} items, with a line at {ALPHA}. Of "
            f"{self.experiments} experiments without any difference, "
            f"{(p < ALPHA).any(axis=1).sum()} find something by peeking at p; here is the least p."
        )


#: What a static page has in place of a kernel: a model that keeps its traits.
PAGE = """
{
  const state = STATE, place = document.getElementById("ID"), el = document.createElement("div");
  const set = (name, value) => { state[name] = value; };
  const model = { get: (name) => state[name], set, save_changes() {}, on() {}, off() {} };
  place.append(el);
  movingFigure.render({ model, el });
  place.replaceChildren(el);
}
"""


def page_div(figure: str, state: dict[str, Any], still: str = "") -> str:
    """A figure in a static page, also from a disk: its still, and a script that replaces it."""
    name, plain = f"permtest-{figure}", json.dumps(state).replace("<", "\\u003c")
    module = _module(figure).replace("export default", "const movingFigure =")
    script = module + PAGE.replace("ID", name).replace("STATE", plain)
    return f'<div id="{name}">{still}</div><script type="module">{script}</script>'
