"""Many systems on the same items: all pairs, ranks, multiplicity, several data sets."""

from permtest.many.compare import compare_many
from permtest.many.leaderboard import Leaderboard
from permtest.many.multiplicity import CORRECTIONS, adjusted_pvalues
from permtest.many.table import ScoreTable

__all__ = ["CORRECTIONS", "Leaderboard", "ScoreTable", "adjusted_pvalues", "compare_many"]
