"""Alg. 3 entry by entry: a picture of one step, and an explorer that plays all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution, pmf
from permtest.null.dp import convolve_dp
from permtest.null.grouping import as_two_point_sum, attainable

try:
    import ipywidgets as controls
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.plots import style
from permtest.widgets import DPI, SIZE, Explorer, picture, png, spoken

ORDERS = [("as they come", "given"), ("shortest first", "shortest")]
UPPER, LOWER = (0.125, 0.575, 0.855, 0.305), (0.125, 0.16, 0.855, 0.305)  # axes in the picture
LOOKS = [("C0", "\\\\"), ("C1", "//")]  # of the copies: colour and hatch, either tells them apart
ABOVE = 1.08  # where the axis of probabilities ends, as a multiple of a power of two
SDS = 4.2  # how much of the law is in view, in standard deviations
TINY = 1e-9  # of a power of two: rounding must not double the axis
FAINT = 1e-4  # cells lower than this share of the peak are not drawn
LARGEST = 20_000  # cells of a law that is drawn
MINUS = "\N{MINUS SIGN}"


class Copy(NamedTuple):
    """The law so far, moved by one of the effects of the incoming entry, and weighted."""

    effect: int
    weight: float
    law: LatticeDistribution


@dataclass(frozen=True)
class Step:
    """One turn of the outer loop of Alg. 3.

    Parameters
    ----------
    n : int
        How many entries are in; 0 before the first turn.
    copies : tuple of Copy
        What lines 6 to 8 add up, one for each effect, the smaller effect first; none for n = 0.
    law : LatticeDistribution
        F_n, their sum.
    n_values : int
        How many values the sum can have. (A cell of the law can be 0 because it is too small.)
    """

    n: int
    copies: tuple[Copy, ...]
    law: LatticeDistribution
    n_values: int

    @classmethod
    def of(cls, laws: Sequence[LatticeDistribution], n: int) -> Step:
        """The step that lets in entry n, counted from 1."""
        _check_n(n, len(laws))
        grouped = as_two_point_sum(laws[:n])
        after, n_values = convolve_dp(grouped), int(attainable(grouped).sum())
        if n == 0:
            return cls(0, (), after, n_values)
        before, entry = laws[: n - 1], laws[n - 1]
        effects = entry.support[entry.pmf > 0].tolist()
        copies = (Copy(z, entry(z), convolve_dp([*before, pmf(z, z)])) for z in effects)
        return cls(n, tuple(copies), after, n_values)


def plot_step(
    laws: Sequence[LatticeDistribution], n: int, *, axes: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """Draw how entry n is convolved with the law of the entries before it (Alg. 3, lines 6-8).

    Parameters
    ----------
    laws : sequence of LatticeDistribution
        The local laws f_1, ..., f_N of all entries, as `permtest.pmf` makes them.
    n : int
        Which entry comes in, from 1 to N; 0 for the law of no entry.
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw. Default: a new figure in the style of the project.

    Returns
    -------
    sequence of two matplotlib.axes.Axes
        The first one shows the law so far once for each effect of the entry: moved by the effect
        and multiplied by its probability. The second one shows them stacked, which is the new
        law; its outline has the gid "law". Cells too low to be seen are left out.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest import pmf
    >>> from permtest.convolution_explorer import plot_step
    >>> upper, lower = plot_step([pmf(1, -1), pmf(2, -2)], 2, axes=Figure().subplots(2))
    >>> len(upper.patches), len(lower.patches)
    (2, 3)
    """
    if axes is None:
        with style():
            return plot_step(laws, n, axes=_new_axes())
    _draw(Step.of(laws, n), _width(laws), axes)
    return axes


def _draw(step: Step, width: int, axes: Sequence[Axes]) -> None:
    """The copies as they are, and stacked; `width` is that of a column."""
    upper, lower = axes
    outline = _Outline.of(step.law, width)
    ground = np.zeros(outline.heights.size)
    for copy, (colour, hatch) in zip(step.copies, LOOKS, strict=False):
        own = _Outline.of(copy.law, width)
        look: dict[str, Any] = {
            "hatch": hatch,
            "edgecolor": colour,
            "facecolor": to_rgba(colour, 0.25),
        }
        name, heights = _caption(copy, step.n), copy.weight * own.heights
        upper.stairs(heights, own.edges, fill=True, linewidth=1.8, label=name, **look)
        added = ground + own.over(outline, copy.weight)
        lower.stairs(added, outline.edges, baseline=ground, fill=True, linewidth=0, **look)
        ground = added
    name = _name(step.n) + ", their sum" * (len(step.copies) > 1)
    black = mpl.rcParams["text.color"]
    lower.stairs(outline.heights, outline.edges, color=black, linewidth=1.5, label=name, gid="law")


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
    >>> from permtest.convolution_explorer import ConvolutionExplorer
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
        _check_n(n, len(laws))
        self._orders = {"given": laws, "shortest": sorted(laws, key=_spread)}
        self._in_view = {order: _in_view(laws) for order, laws in self._orders.items()}
        self._width = _width(laws)
        self._label = label
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._axes = [self._figure.add_axes(place) for place in (UPPER, LOWER)]
            self._figure.supylabel("probability", x=0.012, y=0.52, fontsize="medium")
        self._make_controls(len(laws), n)
        self._update()
        for control in (self.n, self.order):
            control.observe(self._on_change, names="value")

    def _make_controls(self, size: int, n: int) -> None:
        wide = {"description_width": "initial"}
        pause = min(1000, max(100, 15_000 // size))  # ms: a long play is quicker, not jerky
        self.play = controls.Play(n, 0, size, interval=pause, show_repeat=False)
        self.n = controls.IntSlider(
            n, 0, size, description="Entries so far", style=wide, layout={"flex": "1 1 20em"}
        )
        self._link = controls.jslink((self.play, "value"), (self.n, "value"))
        self.order = controls.RadioButtons(
            options=ORDERS, description="Order", layout={"width": "max-content"}
        )
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        # The buttons carry icons alone, and those come from a font that Voila has to fetch.
        caption = controls.Label("Play, stop")
        row = controls.HBox(
            [caption, self.play, self.n, self.order],
            layout={"flex_flow": "row wrap", "align_items": "center", "grid_gap": "0 0.5em"},
        )
        parts = [row, self.picture, self.sentence]
        self.box = controls.VBox(parts, layout={"width": "100%", "max_width": "820px"})

    def _update(self) -> None:
        laws, n = self._orders[self.order.value], self.n.value
        self.step = Step.of(laws, n)
        alt = f"Null distribution of {self._label} after {n} entries; described below"
        self.picture.value = picture(self._draw(), alt)
        self.sentence.value = spoken(describe(self.step, len(laws)))

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        top = 2.0 ** ceil(log2(self.step.law.pmf.max()) - TINY)
        with style():
            for ax in self._axes:
                ax.clear()
            _draw(self.step, self._width, self._axes)
            for ax in self._axes:
                ax.set_xlim(*self._in_view[self.order.value])
                ax.set_ylim(0, ABOVE * top)
                ax.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
                ax.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
                _add_legend(ax)
            self._axes[0].tick_params(labelbottom=False)
            self._axes[1].set_xlabel(self._label)
            return png(self._figure)


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
    effects = " or ".join(_signed(copy.effect) for copy in step.copies)
    terms = " + ".join(f"{copy.weight:g} × {_share(copy.law(mode))}" for copy in step.copies)
    sure = ", with probability 1/2 each" * all(copy.weight == 0.5 for copy in step.copies)
    values = f"{step.n_values:,} value{'s' * (step.n_values != 1)}"
    return (
        f"Entry {step.n} of {size} adds {effects}{sure}. So far {values} can occur, from "
        f"{_signed(first)} to {_signed(last)}, with a standard deviation of {law.std():.3g}. The "
        f"most likely one is {_signed(mode)}, with probability {terms} = {_share(law(mode))}."
    )


def _add_legend(ax: Axes) -> None:
    """Above the axes, where it cannot hide anything."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2, columnspacing=1.6
        )
    else:
        ax.set_title("no entry yet", fontsize="medium", fontweight="normal")


class _Outline(NamedTuple):
    """The cells of a law that can be seen, in columns of one width without gaps."""

    heights: NDArray[np.float64]
    edges: NDArray[np.floating[Any]]
    first: int
    width: int

    @classmethod
    def of(cls, law: LatticeDistribution, width: int) -> _Outline:
        """Every unit of `law` must be a multiple of `width`."""
        seen = np.flatnonzero(law.pmf > FAINT * law.pmf.max())
        cells = law.pmf[seen[0] : seen[-1] + 1]
        ratio = law.unit // width if cells.size > 1 else 1
        heights = np.zeros((cells.size - 1) * ratio + 1)
        heights[::ratio] = cells
        first = int(law.support[seen[0]])
        edges = first + width * (np.arange(heights.size + 1) - 0.5)
        return cls(heights, edges, first, width)

    def over(self, other: _Outline, weight: float) -> NDArray[np.float64]:
        """The heights times `weight`, on the columns of `other`."""
        found = np.zeros(other.heights.size)
        place = (self.first - other.first) // self.width + np.arange(self.heights.size)
        inside = (place >= 0) & (place < found.size)
        found[place[inside]] = weight * self.heights[inside]
        return found


def _check_n(n: int, size: int) -> None:
    if not 0 <= n <= size:
        raise ValueError(f"n={n} must lie between 0 and the number of laws, {size}")


def _check_laws(laws: Sequence[LatticeDistribution]) -> None:
    if not laws:
        raise ValueError("laws must hold the law of at least one entry")
    cells = as_two_point_sum(laws).top + 1
    if cells > LARGEST:
        raise ValueError(
            f"the sum of the laws has {cells:,} cells, too many to be drawn at each step; show "
            "fewer entries, or divide all scores by the same number and round them"
        )


def _width(laws: Sequence[LatticeDistribution]) -> int:
    """The distance of neighbouring values of the sum of all entries."""
    law = as_two_point_sum(laws)
    return law.unit if law.n_informative else 1


def _spread(law: LatticeDistribution) -> int:
    return int(law.support[-1]) - int(law.support[0])


def _in_view(laws: Sequence[LatticeDistribution]) -> tuple[float, float]:
    """Ends of an axis that holds what can be seen of the law at every step."""
    means, sds = (np.array([0.0, *parts]) for parts in zip(*map(_moments, laws), strict=True))
    ends = np.array([(0, 0), *((f.support[0], f.support[-1]) for f in laws)]).cumsum(axis=0)
    middles, reach = means.cumsum(), SDS * np.sqrt((sds**2).cumsum())
    low = np.maximum(middles - reach, ends[:, 0]).min()
    high = np.minimum(middles + reach, ends[:, 1]).max()
    return float(low - _width(laws)), float(high + _width(laws))


def _moments(law: LatticeDistribution) -> tuple[float, float]:
    return law.mean(), law.std()


def _new_axes() -> Sequence[Axes]:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, sharex=True, sharey=True, layout="constrained")
    figure.supylabel("probability")
    return list(axes)


def _caption(copy: Copy, n: int) -> str:
    """What a copy is, in the paper's symbols."""
    weight = {0.5: "½ ", 1.0: ""}.get(copy.weight, f"{copy.weight:g} ")
    return f"{weight}{_name(n - 1)} moved by {_signed(copy.effect)}"


def _name(n: int) -> str:
    """F with n as an index."""
    return "F" + str(n).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _signed(value: int) -> str:
    return f"{value:+,}".replace("-", MINUS) if value else "0"


def _share(probability: float) -> str:
    return f"{probability:.4g}"
