"""Pictures of a report: the same bytes every time, without a window."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._optional import optional
from permtest._progress import progress
from permtest.exact import exact_perm_test
from permtest.pairs import Pairs
from permtest.statistics import Alternative

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from permtest.alternatives.answers import AnswerTable
    from permtest.result import PermutationTestResult

#: A null distribution that has more cells is drawn for rounded differences, with about as many.
MOST_CELLS, ROUNDED_CELLS = 5 * 10**6, 10**5


def check_matplotlib() -> None:
    """Raise ImportError, which says what to install, where there is no matplotlib."""
    optional("matplotlib", needed_by="a report", extra="study")


@contextmanager
def drawing() -> Iterator[None]:
    """The project's style, and SVG that is the same every time."""
    import matplotlib as mpl

    from permtest.plots import style

    settings: Any = {"svg.hashsalt": "permtest", "svg.fonttype": "path"}
    with style(), mpl.rc_context(settings), warnings.catch_warnings():
        # A name in a script that the font has not is drawn as boxes; the text beside has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def settled(figure: Figure) -> Figure:
    """The same figure with its axes where the layout put them, but for its last digits.

    The solver of layouts meets its constraints in an order that depends on addresses in memory.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.get_axes():
        left, bottom, width, height = (round(x, 4) for x in ax.get_position().bounds)
        ax.set_position((left, bottom, width, height))
    return figure


def drawn(jobs: Mapping[str, Callable[[], Figure]]) -> dict[str, bytes]:
    """What all functions draw, as SVG, with a bar if it takes long."""
    check_matplotlib()

    def pictures() -> Iterator[tuple[str, bytes]]:
        for key, draw in jobs.items():
            with drawing():
                yield key, svg(settled(draw()))

    return dict(progress(pictures(), total=len(jobs), what="pictures"))


def svg(figure: Figure) -> bytes:
    """A figure as SVG, without a date."""
    buffer = BytesIO()
    about = {"Date": None, "Creator": None}
    figure.savefig(buffer, format="svg", metadata=about, bbox_inches="tight", pad_inches=0.1)
    return buffer.getvalue()


def png(figure: Figure) -> bytes:
    """The same as an image of points."""
    buffer = BytesIO()
    about = {"Software": None}
    figure.savefig(buffer, format="png", metadata=about, bbox_inches="tight", pad_inches=0.1)
    return buffer.getvalue()


def rounded(
    differences: NDArray[np.float64], names: tuple[str, str], alternative: Alternative
) -> PermutationTestResult:
    """The exact test of rounded differences, whose null distribution is not too long to draw.

    Parameters
    ----------
    differences : ndarray of shape (N,)
        Of what is swapped.
    names : tuple of two str
    alternative : str

    Returns
    -------
    PermutationTestResult
    """
    digits = floor(log10(ROUNDED_CELLS / float(np.abs(differences).sum())))
    cells = [int(x) for x in np.rint(differences * 10.0**digits)]
    coarse = Pairs(
        np.array([x * 10 ** max(-digits, 0) for x in cells], dtype=object),
        np.zeros(differences.size, dtype=np.int64),
        names,
        scale=10 ** max(digits, 0),
    )
    return exact_perm_test(coarse, statistic="mean", alternative=alternative)


def answers_figure(table: AnswerTable, alpha: float) -> Figure:
    """All tests side by side."""
    from permtest import plots

    def draw(axes: Any) -> None:
        plots.plot_answers(table, ax=axes, alpha=alpha)

    return on_axes((13, 2 + 0.42 * len(table)), draw, columns=2, width_ratios=(4, 7))


def on_axes(
    size: tuple[float, float], draw: Callable[[Any], Any], columns: int = 1, **options: Any
) -> Figure:
    """A figure that no window shows, with so many axes beside each other to draw on."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(1, columns, **options))
    return figure
