"""One step of Alg. 3: an entry is convolved with the law of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from permtest.null.distribution import LatticeDistribution
from permtest.null.dp import Copy, Step, spacing
from permtest.plots import roles
from permtest.plots.sheet import style
from permtest.plots.words import signed

# Of the copies: colour and hatch, either tells them apart.
COPIES = (roles.NULL._replace(hatch="\\\\"), roles.TAIL)
FAINT = 1e-4  # cells lower than this share of the peak are not drawn


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
    >>> from permtest.plots import plot_step
    >>> upper, lower = plot_step([pmf(1, -1), pmf(2, -2)], 2, axes=Figure().subplots(2))
    >>> len(upper.patches), len(lower.patches)
    (2, 3)
    """
    if axes is None:
        with style():
            return plot_step(laws, n, axes=_new_axes())
    draw_step(Step.of(laws, n), spacing(laws), axes)
    return axes


def draw_step(step: Step, width: int, axes: Sequence[Axes]) -> None:
    """The copies as they are, and stacked; `width` is that of a column."""
    upper, lower = axes
    outline = _Outline.of(step.law, width)
    ground = np.zeros(outline.heights.size)
    for copy, role in zip(step.copies, COPIES, strict=False):
        own = _Outline.of(copy.law, width)
        look = role.area(upper, edgecolor=role.rgba(), facecolor=role.rgba(0.25))
        name, heights = _caption(copy, step.n), copy.weight * own.heights
        upper.stairs(heights, own.edges, fill=True, linewidth=1.8, label=name, **look)
        added = ground + own.over(outline, copy.weight)
        lower.stairs(added, outline.edges, baseline=ground, fill=True, linewidth=0, **look)
        ground = added
    name = name_of(step.n) + ", their sum" * (len(step.copies) > 1)
    thin: dict[str, Any] = {"color": roles.ink(), "linewidth": 1.5}
    lower.stairs(outline.heights, outline.edges, label=name, gid="law", **thin)


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


def _new_axes() -> Sequence[Axes]:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, sharex=True, sharey=True, layout="constrained")
    figure.supylabel("probability")
    return list(axes)


def _caption(copy: Copy, n: int) -> str:
    """What a copy is, in the paper's symbols."""
    weight = {0.5: "½ ", 1.0: ""}.get(copy.weight, f"{copy.weight:g} ")
    return f"{weight}{name_of(n - 1)} moved by {signed(copy.effect)}"


def name_of(n: int) -> str:
    """F with n as an index."""
    return "F" + str(n).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
