"""Pictures, with matplotlib. Everything that is drawn is read from a result.

What has a part in several pictures looks the same in all of them: `permtest.plots.roles`. Every
function takes `ax` (or `axes`): where to draw, with the settings of the caller. Without it there is
a new figure in the style of the project.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pictures need matplotlib: pip install 'permtest[plot]'") from error

from permtest.plots.answers import (
    plot_answers,
    plot_difference,
    plot_effects,
    plot_posteriors,
    plot_power,
)
from permtest.plots.boards import plot_pairs, plot_ranking
from permtest.plots.null import plot_null, plot_plane
from permtest.plots.sheet import STYLE, style
from permtest.plots.two_systems import plot_estimation, plot_histograms, plot_unit_sizes

__all__ = [
    "STYLE",
    "plot_answers",
    "plot_difference",
    "plot_effects",
    "plot_estimation",
    "plot_histograms",
    "plot_null",
    "plot_pairs",
    "plot_plane",
    "plot_posteriors",
    "plot_power",
    "plot_ranking",
    "plot_unit_sizes",
    "style",
]
