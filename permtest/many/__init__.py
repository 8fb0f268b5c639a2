"""Many systems on the same items: all pairs, ranks, multiplicity."""

from permtest.many.board import Leaderboard, compare_many
from permtest.many.corrections import CORRECTIONS

__all__ = ["CORRECTIONS", "Leaderboard", "compare_many"]
