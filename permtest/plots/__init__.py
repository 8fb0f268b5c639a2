"""Pictures, with matplotlib. Everything that is drawn is read from scores or from a result.

What has a part in several pictures looks the same in all of them: `permtest.plots.roles`. Every
function takes `ax`, where to draw: axes of the caller, whose settings they keep, or an empty
figure. Without it there is a new figure in the style of the project.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pictures need matplotlib: pip install 'permtest[plot]'") from error

from permtest.plots.answers import plot_answers, plot_posteriors, plot_power
from permtest.plots.null import plot_null
from permtest.plots.sheet import STYLE, style
from permtest.plots.systems import plot_estimation, plot_ranking, plot_scores

__all__ = [
    "STYLE",
    "plot_answers",
    "plot_estimation",
    "plot_null",
    "plot_posteriors",
    "plot_power",
    "plot_ranking",
    "plot_scores",
    "style",
]
