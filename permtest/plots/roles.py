"""The look of each role, the same in all pictures: colour, dash, mark and hatch, any one enough.

Colours are named by their place in the cycle of the settings in force, and looked up when
something is drawn: the style sheet's within ``with style():``, else those of the caller.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba


class Look(NamedTuple):
    """How something looks that a picture shows beside other things of its kind."""

    colour: str = ""  # of the settings in force, as "C0"; if empty, that of letters
    dash: Any = "-"  # of lines
    mark: str = "o"  # of single values
    hatch: str = ""  # of areas
    hollow: bool = False  # whether marks are empty
    width: float | None = None  # of lines, in points, if it is not that of the settings

    def rgba(self, alpha: float | None = None) -> Any:
        """The colour in the settings in force."""
        return to_rgba(self.colour or ink(), alpha)

    def line(self, **more: Any) -> dict[str, Any]:
        """Options of a line, for `Axes.plot` and its relatives, with `more` of them."""
        width = {} if self.width is None else {"linewidth": self.width}
        return {"color": self.rgba(), "linestyle": self.dash} | width | more

    def dot(self, ax: Axes, **more: Any) -> dict[str, Any]:
        """Options of a mark on `ax`, and of the interval round it."""
        face = ax.get_facecolor() if self.hollow else self.rgba()
        look = {"color": self.rgba(), "marker": self.mark, "markerfacecolor": face}
        return look | {"markersize": 9, "markeredgewidth": 2} | more

    def area(self, ax: Axes, **more: Any) -> dict[str, Any]:
        """Options of an area on `ax`: bars, columns, what lies below a curve."""
        look = {"facecolor": self.rgba(), "edgecolor": ax.get_facecolor()}
        return look | ({"hatch": self.hatch} if self.hatch else {}) | more


def ink() -> Any:
    """The colour of letters, and of all that belongs to no side."""
    return mpl.rcParams["text.color"]


# What luck alone would do, and the part of it that is at least as extreme as what was observed.
NULL, TAIL = Look("C0"), Look("C1", mark="s", hatch="//")

# The two systems; and items on which they are equal, or what belongs to neither.
A, B = Look("C4"), Look("C5", dash=(0, (5, 2)), mark="D", hatch="//")
NEITHER = Look("0.72")

# A curve, or a cloud of items, that has the picture to itself.
CURVE = Look("C0")

# The law tilted to its tail, beside the null distribution.
TILTED = Look("C3")

# What is as it ought to be, and what is not: an assumption, a level, an interval that misses.
HOLDS, BROKEN = Look("C0"), Look("C1", mark="s", hollow=True)

# What was observed and its mirror image; no difference; what no data decide: a level that was
# chosen, as alpha is, and what a theory, a formula or a bound says.
OBSERVED, MIRRORED = Look(dash="--", width=2.2), Look(dash=":", width=1.4)
EQUAL, LEVEL = Look(width=1.2), Look(dash="-.", width=1.6)

BAND = "0.9"  # a grey ground behind a row, or where chance would put things
