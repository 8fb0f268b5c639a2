"""Explorers for notebooks, with ipywidgets. They call the package and compute no statistics."""

try:
    import ipywidgets  # noqa: F401
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.widgets.assumptions import AssumptionsExplorer
from permtest.widgets.convolution import ConvolutionExplorer
from permtest.widgets.leaderboard import LeaderboardExplorer
from permtest.widgets.posterior import PosteriorExplorer
from permtest.widgets.power import PowerExplorer
from permtest.widgets.sampling import SamplingExplorer
from permtest.widgets.staircase import StaircaseExplorer
from permtest.widgets.tail import TailExplorer
from permtest.widgets.two_systems import TwoSystemsExplorer

__all__ = [
    "AssumptionsExplorer",
    "ConvolutionExplorer",
    "LeaderboardExplorer",
    "PosteriorExplorer",
    "PowerExplorer",
    "SamplingExplorer",
    "StaircaseExplorer",
    "TailExplorer",
    "TwoSystemsExplorer",
]
