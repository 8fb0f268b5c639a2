"""Many systems on the same items: all pairs, ranks, multiplicity."""

from permtest.many.corrections import CORRECTIONS, adjusted_pvalues
from permtest.many.leaderboard import Leaderboard, compare_many
from permtest.many.table import ScoreTable

__all__ = [
    "CORRECTIONS",
    "Leaderboard",
    "ScoreTable",
    "adjusted_pvalues",
    "compare_many",
]
