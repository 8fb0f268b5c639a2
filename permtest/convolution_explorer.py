"""Now in `permtest.widgets`, `permtest.plots` and `permtest.null.steps`."""

from permtest.null.steps import Step
from permtest.plots import plot_step
from permtest.widgets import ConvolutionExplorer

__all__ = ["ConvolutionExplorer", "Step", "plot_step"]
