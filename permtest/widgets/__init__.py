"""Explorers for notebooks, with ipywidgets. They call the package and compute no statistics."""

try:
    import ipywidgets  # noqa: F401
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    message = "explorers need ipywidgets and matplotlib: pip install 'permtest[lab]'"
    raise ImportError(message) from error

from permtest.widgets.explore_answers import AssumptionsExplorer, PosteriorExplorer, PowerExplorer
from permtest.widgets.explore_null import TailExplorer
from permtest.widgets.explore_systems import StaircaseExplorer, TwoSystemsExplorer

__all__ = [
    "AssumptionsExplorer",
    "PosteriorExplorer",
    "PowerExplorer",
    "StaircaseExplorer",
    "TailExplorer",
    "TwoSystemsExplorer",
]
