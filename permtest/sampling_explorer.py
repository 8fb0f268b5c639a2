"""Now in `permtest.widgets` and `permtest.plots`."""

from permtest.plots import plot_estimates
from permtest.widgets import SamplingExplorer

__all__ = ["SamplingExplorer", "plot_estimates"]
