"""The far tail: any sum that might have been observed, and the tilted law that gives its p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest.comparison import compare
from permtest.null.cf import cf_cells
from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import TwoPointSum, attainable
from permtest.null.tail import tilt_to
from permtest.result import PermutationTestResult, counted
from permtest.solvers import solve

try:
    import ipywidgets as controls
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure
    from matplotlib.patches import StepPatch
    from matplotlib.ticker import FuncFormatter, MaxNLocator
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.captions import number, signed
from permtest.plots import style
from permtest.widgets import DPI, SIZE, Explorer, picture, png, spoken

UPPER, LOWER = (0.125, 0.5, 0.855, 0.41), (0.125, 0.16, 0.855, 0.285)  # axes in the picture
LARGEST = 20_000  # cells of a law that is drawn
STOPS = 1000  # of the slider, at most
SDS = 5.0  # how far the axis reaches to the left, in standard deviations
LOW = 1e-4  # cells of the lower picture below this share of the peak are not drawn
NICE = [1, 2, 5, 10]
TWO = "two-sided"


@dataclass(frozen=True, eq=False)
class FarTail:
    """A p-value, and the tilted law whose mass lies where the tail begins.

    Parameters
    ----------
    result : PermutationTestResult
        The test.
    null : LatticeDistribution
        The null law of the sum.
    tau : float
        The tilt: a sum larger by one unit becomes exp(tau) times as likely as it was. 0 or more.
    tilted : LatticeDistribution
        The null law times exp(tau s), divided by its sum.
    noise : float
        By how much each cell may be off if the null law is made by FFT, without a tilt.
    """

    result: PermutationTestResult
    null: LatticeDistribution
    tau: float
    tilted: LatticeDistribution
    noise: float

    @classmethod
    def of(
        cls,
        u: Any,
        v: Any = None,
        observed: Any = None,
        *,
        statistic: str = "sum",
        names: tuple[str, str] | None = None,
    ) -> FarTail:
        """What there is to be seen at one sum, some labelling's; by default the observed one.

        Other arguments are those of `exact_perm_test`.
        """
        return _Null.of(u, v, statistic, names).tail(observed)


class _Null(NamedTuple):
    """What is the same for all sums that might be observed."""

    result: PermutationTestResult
    steps: TwoPointSum
    law: LatticeDistribution
    noise: float

    @classmethod
    def of(cls, u: Any, v: Any, statistic: str, names: tuple[str, str] | None) -> _Null:
        comparison = compare(u, v, None, None, statistic=statistic, alternative=TWO, names=names)
        law = comparison.law
        if law.top >= LARGEST:
            raise ValueError(
                f"the sum has {law.top + 1:,} cells, too many to be drawn at each step; take "
                "fewer pairs, or divide all scores by the same number and round them"
            )
        result = PermutationTestResult.of(comparison, solve(comparison))
        return cls(result, law, result.null_distribution, cf_cells(law).noise)

    def tail(self, observed: Any) -> FarTail:
        """The test of one sum, and the law tilted towards it: to its mirror image if that is it."""
        result = self.result if observed is None else self.result.at(observed)
        cell, top, null = result.observed_cell, self.steps.top, self.law
        cell = max(cell, top - cell)
        tau = tilt_to(self.steps, min(cell, top - 1))  # at the very end it would be infinite
        logs = null.log_pmf + tau * (np.arange(top + 1) - cell)
        logs = logs - np.logaddexp.reduce(logs)
        tilted = replace(null, pmf=np.exp(logs), log_cells=logs)
        return FarTail(result, null, tau / float(null.step), tilted, self.noise)


def plot_tail(tail: FarTail, *, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """Draw the null law and the law tilted to the observed sum.

    Parameters
    ----------
    tail : FarTail
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw. Default: a new figure in the style of the project.

    Returns
    -------
    sequence of two matplotlib.axes.Axes
        The first one has decimal logarithms of probabilities: the null law with its extreme cells
        hatched, the tilted law as a line, and as a dotted line how far down a Fourier transform
        without a tilt can see. The second one has both laws as shares of their highest cell. Gids:
        "null", "extreme", "tilted", "noise", "observed". The limits do not depend on what was
        observed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.tail_explorer import FarTail, plot_tail
    >>> tail = FarTail.of([1] * 60, [0] * 60, 40)
    >>> upper, lower = plot_tail(tail, axes=Figure().subplots(2))
    >>> [line.get_gid() for line in upper.lines]
    ['tilted', 'noise', 'observed']
    """
    if axes is None:
        with style():
            return plot_tail(tail, axes=_new_axes())
    upper, lower = axes
    _draw_logarithms(upper, tail)
    _draw_shares(lower, tail)
    black = mpl.rcParams["text.color"]
    for ax in axes:
        seen = max(tail.result.observed_sum, _mirrored(tail))
        ax.axvline(seen, color=black, linestyle="--", linewidth=1.6, gid="observed")
        ax.set_xlim(*_in_view(tail.null))
        ax.xaxis.set_major_locator(MaxNLocator(8, steps=NICE))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: signed(float(x))))
    upper.tick_params(labelbottom=False)
    upper.set_ylabel("probability")
    lower.set_ylabel("share of\nthe peak")
    a, b = tail.result.names
    lower.set_xlabel(f"{a} minus {b} ({tail.result.unit})")
    where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.98)}
    upper.legend(ncols=4, columnspacing=1.1, handlelength=1.4, **where)
    return axes


def _draw_logarithms(ax: Axes, tail: FarTail) -> None:
    """Whole laws, down to their thinnest cell; the axis is linear in the logarithm."""
    edges, logs = _edges(tail.null), tail.null.log_pmf / np.log(10)
    reached = np.isfinite(logs)
    bottom = min(1.06 * float(logs[reached].min()), 1.2 * log10(tail.noise))
    extreme = reached & tail.result.extreme
    body: dict[str, Any] = {"facecolor": to_rgba("C0"), "gid": "null", "label": "null law"}
    hatched: dict[str, Any] = {"facecolor": to_rgba("C1"), "edgecolor": "w", "hatch": "//"}
    hatched |= {"gid": "extreme", "label": "as extreme"}
    for cells, look in ((reached & ~extreme, body), (extreme, hatched)):
        heights = np.where(cells, logs, np.nan)
        # Not ax.stairs, which would look at every cell once more to find limits.
        ax.add_artist(StepPatch(heights, edges, baseline=bottom, fill=True, linewidth=0, **look))
    shown = np.maximum(tail.tilted.log_pmf / np.log(10), 2 * bottom)
    values = tail.null.support[reached]
    ax.plot(
        values, shown[reached], color=to_rgba("C3"), linewidth=2, gid="tilted", label="tilted law"
    )
    dotted: dict[str, Any] = {"color": to_rgba("C3"), "linestyle": ":", "linewidth": 2}
    ax.axhline(log10(tail.noise), label="noise of an FFT", gid="noise", **dotted)
    ax.set_ylim(bottom, -0.06 * bottom)
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=NICE, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(_power))


def _draw_shares(ax: Axes, tail: FarTail) -> None:
    """Both laws as they are, each divided by its highest cell."""
    edges = _edges(tail.null)
    filled: dict[str, Any] = {"fill": True, "facecolor": to_rgba("C0"), "linewidth": 0}
    outline: dict[str, Any] = {"fill": False, "edgecolor": to_rgba("C3"), "linewidth": 2}
    for law, gid, look in ((tail.null, "null", filled), (tail.tilted, "tilted", outline)):
        shares = law.pmf / law.pmf.max()
        seen = np.flatnonzero(shares > LOW)
        first, last = int(seen[0]), int(seen[-1]) + 1
        ax.add_artist(StepPatch(shares[first:last], edges[first : last + 1], gid=gid, **look))
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.5, 1])


class TailExplorer(Explorer):
    """Drag the observed sum: log p and the tilted law follow at once, however small p is.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, as in `exact_perm_test`; `u` may be `Pairs`.
    observed : int or float, optional
        Where the slider stands at first. Default: at what was observed.
    statistic : str, default "sum"
        As in `exact_perm_test`.
    names : tuple of two str, optional
        What the systems are called.

    Attributes
    ----------
    lead : ipywidgets.SelectionSlider
        The observed sum, from the middle of the null law to its end. It counts for either system,
        as the test has two sides.
    picture : ipywidgets.HTML
        The picture, with an alternative text.
    sentence : ipywidgets.HTML
        Says in words what the picture shows, or what went wrong.
    box : ipywidgets.VBox
        All of them together.
    tail : FarTail
        What is shown.

    Notes
    -----
    The axes stay as they are. With more than 1000 sums to choose from, the slider has some of
    them, evenly spaced, and the observed one.

    Examples
    --------
    >>> from permtest.tail_explorer import TailExplorer
    >>> explorer = TailExplorer([1] * 90, [0] * 90, observed=10)
    >>> explorer.lead.value = 90
    >>> explorer.tail.result.pvalue_text()
    '1.62e-27'
    """

    tail: FarTail

    def __init__(
        self,
        u: Any,
        v: Any = None,
        *,
        observed: Any = None,
        statistic: str = "sum",
        names: tuple[str, str] | None = None,
    ) -> None:
        self._null = _Null.of(u, v, statistic, names)
        self._figure = Figure(figsize=SIZE, dpi=DPI)
        FigureCanvasAgg(self._figure)
        with style():
            self._axes = [self._figure.add_axes(place) for place in (UPPER, LOWER)]
        first = self._null.tail(observed)
        self._make_controls(max(first.result.observed_sum, _mirrored(first)))
        self._update()
        self.lead.observe(self._on_change, names="value")

    def _make_controls(self, first: float) -> None:
        options = [(number(value, 1.0), value) for value in _stops(self._null, first)]
        wide = {"description_width": "initial"}
        self.lead = controls.SelectionSlider(
            options=options, value=first, description="Lead", style=wide, layout={"width": "98%"}
        )
        self.picture, self.sentence = controls.HTML(), controls.HTML()
        parts = [self.lead, self.picture, self.sentence]
        self.box = controls.VBox(parts, layout={"width": "100%", "max_width": "820px"})

    def _update(self) -> None:
        self.tail = self._null.tail(self.lead.value)
        a, b = self.tail.result.names
        alt = f"Null law of {a} minus {b} and the law tilted to its tail; described below"
        self.picture.value = picture(self._draw(), alt)
        self.sentence.value = spoken(describe(self.tail))

    def _draw(self) -> bytes:
        """The picture as a PNG file."""
        with style():
            for ax in self._axes:
                ax.clear()
            plot_tail(self.tail, axes=self._axes)
            return png(self._figure)


def describe(tail: FarTail) -> str:
    """A far tail in words: p, and what the tilt does for it.

    Parameters
    ----------
    tail : FarTail

    Returns
    -------
    str
    """
    result, null, tilted = tail.result, tail.null, tail.tilted
    lead = counted(max(result.observed_sum, _mirrored(tail)), result.unit)
    start = f"A lead of {lead}, for either system, has p = {result.pvalue_text()}"
    if not null.std():
        return f"{start}: no swap changes anything."
    off = (
        "exact" if not result.error_bound else f"off by at most {result.error_bound:.0e} of itself"
    )
    far = abs(result.observed_sum - null.mean()) / null.std()
    seen = null.pmf[result.observed_cell] > tail.noise
    sight = "can still make out the cells" if seen else "sees nothing but its own noise"
    factor = f"a factor of {np.exp(tail.tau):.3g} per {result.unit.removesuffix('s')}"
    return (
        f"{start} (log10 p = {result.log10_pvalue:.4f}; p is {off}). It is {far:.3g} standard "
        f"deviations out, where an FFT without a tilt {sight}. Tilted by "
        f"{factor}, the law has its mean at {signed(tilted.mean())} and a standard deviation of "
        f"{tilted.std():.3g}."
    )


def _stops(null: _Null, first: float) -> list[float]:
    """What the slider can be set to: the upper half of what is possible, thinned out."""
    possible = np.flatnonzero(attainable(null.steps))
    upper = possible[2 * possible >= null.steps.top]
    thinned = upper[:: ceil(upper.size / STOPS)].tolist()
    return sorted({*map(null.law.value, [*thinned, int(upper[-1])]), first})


def _mirrored(tail: FarTail) -> float:
    """The sum on the other side of the middle that is as extreme as the observed one."""
    return tail.null.value(tail.null.pmf.size - 1 - tail.result.observed_cell)


def _edges(law: LatticeDistribution) -> NDArray[np.floating[Any]]:
    """Boundaries between the columns of a law."""
    return np.asarray(law.value(0) + float(law.step) * (np.arange(law.pmf.size + 1) - 0.5))


def _in_view(null: LatticeDistribution) -> tuple[float, float]:
    """Ends of the axis: all that the slider can reach, and the bell."""
    low, high = float(null.value(0)), float(null.value(null.pmf.size - 1))
    left = max(low, null.mean() - SDS * null.std())
    margin = max(0.02 * (high - left), float(null.step))
    return left - margin, high + margin


def _power(exponent: float, _: Any) -> str:
    """A power of ten as it is typed."""
    return "1" if exponent == 0 else f"1e{exponent:.0f}"


def _new_axes() -> Sequence[Axes]:
    from matplotlib import pyplot as plt

    ratios = {"height_ratios": (3, 2)}
    return list(plt.subplots(2, sharex=True, layout="constrained", gridspec_kw=ratios)[1])
