"""Alg. 3 played entry by entry: the null distribution grows."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

import ipywidgets as controls
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution
from permtest.null.dp import Step, check_n, spacing
from permtest.null.grouping import as_two_point_sum
from permtest.plots import roles, sheet
from permtest.widgets.frame import Explorer, beside

ORDERS = [("as they come", "given"), ("shortest first", "shortest")]
UPPER, LOWER = (0.125, 0.575, 0.855, 0.305), (0.125, 0.16, 0.855, 0.305)  # axes in the picture
ABOVE = 1.08  # where the axis of probabilities ends, as a multiple of a power of two
SDS = 4.2  # how much of the law is in view, in standard deviations
TINY = 1e-9  # of a power of two: rounding must not double the axis
LARGEST = 20_000  # cells of a law that is drawn
FAINT = 1e-4  # cells below this share of the peak cannot be seen


class ConvolutionExplorer(Explorer):
    """Watch the null distribution grow: each entry adds two moved copies of what was there.

    Parameters
    ----------
    laws : sequence of LatticeDistribution
        The local laws f_1, ..., f_N, as `permtest.pmf` makes them. At least one.
    n : int, default 0
        How many entries are in at first.
    label : str, default "sum"
        What the sum is, for the name of the horizontal axis.

    Attributes
    ----------
    n : ipywidgets.IntSlider
        How many entries are in.
    play : ipywidgets.Play
        Moves the slider.
    order : ipywidgets.RadioButtons
        In which order the entries come in.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    step : Step
        What is shown.

    Notes
    -----
    The horizontal axis stays as it is: it holds what can be seen of the law at every step. The
    axis of probabilities ends a little above 1, 1/2, 1/4, ..., the lowest that holds the law; as no
    entry makes a law higher, it changes in one direction only, and seldom.

    Examples
    --------
    >>> from permtest import pmf
    >>> from permtest.widgets import ConvolutionExplorer
    >>> explorer = ConvolutionExplorer([pmf(1, -1), pmf(2, -2)])
    >>> explorer.n.value = 2
    >>> explorer.step.law.pmf.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    step: Step

    def __init__(
        self, laws: Sequence[LatticeDistribution], *, n: int = 0, label: str = "sum"
    ) -> None:
        laws = list(laws)
        _check_laws(laws)
        check_n(n, len(laws))
        self._orders = {"given": laws, "shortest": sorted(laws, key=_spread)}
        self._in_view = {order: _in_view(laws) for order, laws in self._orders.items()}
        self._width = spacing(laws)
        self._label = label
        self._make_picture(UPPER, LOWER)
        with sheet.style():
            self._figure.supylabel("probability", x=0.012, y=0.52, fontsize="medium")
        self._make_controls(len(laws), n)
        self._follow(self.n, self.order)

    def _make_controls(self, size: int, n: int) -> None:
        pause = min(1000, max(100, 15_000 // size))  # ms: a long play is quicker, not jerky
        self.play = controls.Play(n, 0, size, interval=pause, show_repeat=False)
        label = {"style": {"description_width": "initial"}, "layout": {"flex": "1 1 20em"}}
        self.n = controls.IntSlider(n, 0, size, description="Entries so far", **label)
        self._link = controls.jslink((self.play, "value"), (self.n, "value"))
        self.order = controls.RadioButtons(
            options=ORDERS, description="Order", layout={"width": "max-content"}
        )
        # The buttons carry icons alone, and those come from a font that Voila has to fetch.
        parts = beside(controls.Label("Play, stop"), self.play, self.n, self.order, gap="0 0.5em")
        parts.layout.align_items = "center"
        self._stack(parts)

    def _update(self) -> None:
        laws, n = self._orders[self.order.value], self.n.value
        self.step = Step.of(laws, n)
        alt = f"Null distribution of {self._label} after {n} entries"
        self._show(alt, describe(self.step, len(laws)))

    def _paint(self) -> None:
        top = 2.0 ** ceil(log2(self.step.law.pmf.max()) - TINY)
        draw_step(self.step, self._width, self._axes)
        for ax in self._axes:
            ax.set_xlim(*self._in_view[self.order.value])
            ax.set_ylim(0, ABOVE * top)
            sheet.ticks(ax.yaxis, 3)
            sheet.counts(ax.xaxis, 8)
            _add_legend(ax)
        self._axes[0].tick_params(labelbottom=False)
        self._axes[1].set_xlabel(self._label)


def describe(step: Step, size: int) -> str:
    """One step in words, with the sum of Alg. 3, line 8, at the most likely value.

    Parameters
    ----------
    step : Step
    size : int
        N, how many entries there are.

    Returns
    -------
    str
    """
    if step.n == 0:
        return "No entry is in yet: the sum is 0 with certainty."
    law = step.law
    first, last = int(law.support[0]), int(law.support[-1])
    mode = int(law.support[np.argmax(law.pmf)])
    effects = " or ".join(sheet.signed(copy.effect) for copy in step.copies)
    terms = " + ".join(f"{copy.weight:g} × {_share(copy.law(mode))}" for copy in step.copies)
    sure = ", with probability 1/2 each" * all(copy.weight == 0.5 for copy in step.copies)
    values = f"{step.n_values:,} value{'s' * (step.n_values != 1)}"
    return (
        f"Entry {step.n} of {size} adds {effects}{sure}. So far {values} can occur, from "
        f"{sheet.signed(first)} to {sheet.signed(last)}, with a standard deviation of "
        f"{law.std():.3g}. The most likely one is {sheet.signed(mode)}, with probability {terms} = "
        f"{_share(law(mode))}."
    )


def draw_step(step: Step, width: int, axes: Sequence[Axes]) -> None:
    """The copies as they are, and stacked; `width` is that of a column."""
    upper, lower = axes
    seen = step.law.support[step.law.pmf > FAINT * step.law.pmf.max()]
    values = np.arange(int(seen[0]), int(seen[-1]) + 1, width)
    edges = values[0] + width * (np.arange(values.size + 1) - 0.5)
    ground = np.zeros(values.size)
    for copy, role in zip(
        step.copies, (roles.NULL._replace(hatch="\\\\"), roles.TAIL), strict=False
    ):
        weight = {0.5: "½ ", 1.0: ""}.get(copy.weight, f"{copy.weight:g} ")
        name = f"{weight}{name_of(step.n - 1)} moved by {sheet.signed(copy.effect)}"
        look: dict[str, Any] = role.area(upper, edgecolor=role.rgba(), facecolor=role.rgba(0.25))
        heights = copy.weight * _probabilities(copy.law, values)
        own = np.flatnonzero(heights > copy.weight * FAINT * copy.law.pmf.max())
        part = slice(own[0], own[-1] + 1) if own.size else slice(0, 0)
        rim = edges[part.start : part.stop + 1]
        upper.stairs(heights[part], rim, fill=True, linewidth=1.8, gid="copy", label=name, **look)
        more: dict[str, Any] = {"baseline": ground, "fill": True, "linewidth": 0, "gid": "copy"}
        lower.stairs(ground + heights, edges, **more, **look)
        ground = ground + heights
    name = name_of(step.n) + ", their sum" * (len(step.copies) > 1)
    look = {"color": roles.ink(), "linewidth": 1.5, "label": name, "gid": "law"}
    lower.stairs(_probabilities(step.law, values), edges, **look)


def _probabilities(law: LatticeDistribution, values: NDArray[Any]) -> NDArray[np.float64]:
    """Of each value, 0 where the law has none."""
    cells, rest = np.divmod(values - int(law.offset), law.unit)
    known = (rest == 0) & (cells >= 0) & (cells < law.pmf.size)
    return np.where(known, law.pmf[np.where(known, cells, 0)], 0.0)


def name_of(n: int) -> str:
    """F with n as an index."""
    return "F" + str(n).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _add_legend(ax: Axes) -> None:
    """Above the axes, where it cannot hide anything."""
    handles = ax.get_legend_handles_labels()[0]
    if handles:
        sheet.key(ax, handles, columns=2)
    else:
        ax.set_title("no entry yet", fontsize="medium", fontweight="normal")


def _check_laws(laws: Sequence[LatticeDistribution]) -> None:
    if not laws:
        raise ValueError("laws must hold the law of at least one entry")
    cells = as_two_point_sum(laws).top + 1
    if cells > LARGEST:
        raise ValueError(
            f"the sum of the laws has {cells:,} cells, too many to be drawn at each step; show "
            "fewer entries, or divide all scores by the same number and round them"
        )


def _spread(law: LatticeDistribution) -> int:
    return int(law.support[-1]) - int(law.support[0])


def _in_view(laws: Sequence[LatticeDistribution]) -> tuple[float, float]:
    """Ends of an axis that holds what can be seen of the law at every step."""
    means, sds = (np.array([0.0, *parts]) for parts in zip(*map(_moments, laws), strict=True))
    ends = np.array([(0, 0), *((f.support[0], f.support[-1]) for f in laws)]).cumsum(axis=0)
    middles, reach = means.cumsum(), SDS * np.sqrt((sds**2).cumsum())
    low = np.maximum(middles - reach, ends[:, 0]).min()
    high = np.minimum(middles + reach, ends[:, 1]).max()
    return float(low - spacing(laws)), float(high + spacing(laws))


def _moments(law: LatticeDistribution) -> tuple[float, float]:
    return law.mean(), law.std()


def _share(probability: float) -> str:
    return f"{probability:.4g}"
