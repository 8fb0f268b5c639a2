"""Many systems on the same items: all pairs, ranks, multiplicity, several data sets."""

from permtest.many.corrections import CORRECTIONS, adjusted_pvalues
from permtest.many.leaderboard import Leaderboard, compare_many
from permtest.many.soft_pairwise import (
    SoftPairwiseAccuracy,
    soft_pairwise_accuracy,
)
from permtest.many.table import ScoreTable

__all__ = [
    "CORRECTIONS",
    "Leaderboard",
    "ScoreTable",
    "SoftPairwiseAccuracy",
    "adjusted_pvalues",
    "compare_many",
    "soft_pairwise_accuracy",
]
