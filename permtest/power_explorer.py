"""Now in `permtest.widgets`, `permtest.plots` and `permtest.study.plan`."""

from permtest.plots import plot_plan
from permtest.study.plan import Plan
from permtest.widgets import PowerExplorer

__all__ = ["Plan", "PowerExplorer", "plot_plan"]
