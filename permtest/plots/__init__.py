"""Pictures, with matplotlib. Everything that is drawn is read from a result.

What has a part in several pictures looks the same in all of them: `permtest.plots.roles`.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pictures need matplotlib: pip install 'permtest[plot]'") from error

from permtest.plots.answers import plot_answers
from permtest.plots.bayes import plot_difference, plot_posteriors
from permtest.plots.dependence import Dependence, plot_dependence
from permtest.plots.differences import plot_comparison, plot_estimation, plot_test
from permtest.plots.effects import plot_effects
from permtest.plots.estimates import plot_estimates
from permtest.plots.leaderboard import plot_ranking, plot_rankings
from permtest.plots.matrices import plot_pairs, plot_replicability
from permtest.plots.null import plot_null, plot_values
from permtest.plots.plan import plot_plan
from permtest.plots.plane import plot_plane
from permtest.plots.power import plot_power
from permtest.plots.rejections import plot_rejections
from permtest.plots.scores import plot_histograms, plot_quantiles, plot_unit_sizes
from permtest.plots.sheet import STYLE, style
from permtest.plots.steps import plot_step
from permtest.plots.tail import plot_tail

__all__ = [
    "STYLE",
    "Dependence",
    "plot_answers",
    "plot_comparison",
    "plot_dependence",
    "plot_difference",
    "plot_effects",
    "plot_estimates",
    "plot_estimation",
    "plot_histograms",
    "plot_null",
    "plot_pairs",
    "plot_plan",
    "plot_plane",
    "plot_posteriors",
    "plot_power",
    "plot_quantiles",
    "plot_ranking",
    "plot_rankings",
    "plot_rejections",
    "plot_replicability",
    "plot_step",
    "plot_tail",
    "plot_test",
    "plot_unit_sizes",
    "plot_values",
    "style",
]
