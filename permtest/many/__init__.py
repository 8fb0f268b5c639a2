"""Many systems on the same items: all pairs, ranks, multiplicity."""

from permtest.many.board import Leaderboard, compare_many
from permtest.many.corrections import CORRECTIONS, adjusted_pvalues

__all__ = ["CORRECTIONS", "Leaderboard", "adjusted_pvalues", "compare_many"]
