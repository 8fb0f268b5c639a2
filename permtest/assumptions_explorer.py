"""Now in `permtest.widgets`, `permtest.plots` and `permtest.study.dependence`."""

from permtest.plots import plot_dependence
from permtest.study.dependence import Dependence, two_systems
from permtest.widgets import AssumptionsExplorer

__all__ = ["AssumptionsExplorer", "Dependence", "plot_dependence", "two_systems"]
