"""Now in `permtest.widgets`, `permtest.plots` and `permtest.far_tail`."""

from permtest.far_tail import FarTail
from permtest.plots import plot_tail
from permtest.widgets import TailExplorer

__all__ = ["FarTail", "TailExplorer", "plot_tail"]
