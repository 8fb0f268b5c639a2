"""A far tail: the null law, and the law that is tilted to the observed sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log10
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from permtest.comparison import compare
from permtest.null.cf import cf_cells
from permtest.null.distribution import LatticeDistribution
from permtest.null.grouping import TwoPointSum
from permtest.null.tail import tilt_to
from permtest.plots import roles
from permtest.plots.sheet import legend_above, style
from permtest.plots.words import signed
from permtest.result import PermutationTestResult
from permtest.solvers import solve

SDS = 5.0  # how far the axis reaches to the left, in standard deviations
LOW = 1e-4  # cells of the lower picture below this share of the peak are not drawn
NICE = [1, 2, 5, 10]  # steps between ticks
LARGEST = 20_000  # cells of a law that is drawn
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

    Examples
    --------
    >>> from permtest.plots.tail import FarTail
    >>> tail = FarTail.of([1] * 90, [0] * 90, observed=60)
    >>> tail.result.pvalue_text(), round(tail.tau, 3)
    ('9.18e-11', 0.805)
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
        return FarTails.of(u, v, statistic, names).tail(observed)

    @property
    def mirrored(self) -> float:
        """The sum on the other side of the middle that is as extreme as the observed one."""
        return self.null.value(self.null.pmf.size - 1 - self.result.observed_cell)

    @property
    def lead(self) -> float:
        """The larger of both sums."""
        return max(self.result.observed_sum, self.mirrored)


class FarTails(NamedTuple):
    """What is the same for all sums that might be observed."""

    result: PermutationTestResult
    steps: TwoPointSum
    law: LatticeDistribution
    noise: float

    @classmethod
    def of(cls, u: Any, v: Any, statistic: str, names: tuple[str, str] | None) -> FarTails:
        """The law of the sum, and how well an FFT knows it; arguments as in `FarTail.of`."""
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
        hatched, the tilted law as a line, and dash-dotted how far down a Fourier transform without
        a tilt can see. The second one has both laws as shares of their highest cell. Gids:
        "null", "extreme", "tilted", "noise", "observed". The limits do not depend on what was
        observed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_tail
    >>> from permtest.plots.tail import FarTail
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
    for ax in axes:
        ax.axvline(tail.lead, gid="observed", **roles.OBSERVED.line())
        ax.set_xlim(*_in_view(tail.null))
        ax.xaxis.set_major_locator(MaxNLocator(8, steps=NICE))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: signed(float(x))))
    upper.tick_params(labelbottom=False)
    upper.set_ylabel("probability")
    lower.set_ylabel("share of\nthe peak")
    a, b = tail.result.names
    lower.set_xlabel(f"{a} minus {b} ({tail.result.unit})")
    handles = upper.get_legend_handles_labels()[0]
    legend_above(upper, handles, columnspacing=1.0, handlelength=1.4)
    return axes


def _draw_logarithms(ax: Axes, tail: FarTail) -> None:
    """Whole laws, down to their thinnest cell; the axis is linear in the logarithm."""
    edges, logs = _edges(tail.null), tail.null.log_pmf / np.log(10)
    reached = np.isfinite(logs)
    bottom = min(1.06 * float(logs[reached].min()), 1.2 * log10(tail.noise))
    extreme = reached & tail.result.extreme
    body = roles.NULL.area(ax, gid="null", label="null distribution")
    hatched = roles.TAIL.area(ax, gid="extreme", label="at least as extreme")
    for cells, look in ((reached & ~extreme, body), (extreme, hatched)):
        heights = np.where(cells, logs, np.nan)
        # Not ax.stairs, which would look at every cell once more to find limits.
        ax.add_artist(StepPatch(heights, edges, baseline=bottom, fill=True, linewidth=0, **look))
    shown = np.maximum(tail.tilted.log_pmf / np.log(10), 2 * bottom)
    values = tail.null.support[reached]
    ax.plot(values, shown[reached], gid="tilted", label="tilted law", **roles.TILTED.line())
    ax.axhline(log10(tail.noise), label="FFT noise", gid="noise", **roles.THEORY.line())
    ax.set_ylim(bottom, -0.06 * bottom)
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=NICE, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(_power))


def _draw_shares(ax: Axes, tail: FarTail) -> None:
    """Both laws as they are, each divided by its highest cell."""
    edges = _edges(tail.null)
    filled = roles.NULL.area(ax, fill=True, linewidth=0)
    outline: dict[str, Any] = {"fill": False, "edgecolor": roles.TILTED.rgba(), "linewidth": 2.2}
    for law, gid, look in ((tail.null, "null", filled), (tail.tilted, "tilted", outline)):
        shares = law.pmf / law.pmf.max()
        seen = np.flatnonzero(shares > LOW)
        first, last = int(seen[0]), int(seen[-1]) + 1
        ax.add_artist(StepPatch(shares[first:last], edges[first : last + 1], gid=gid, **look))
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.5, 1])


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
