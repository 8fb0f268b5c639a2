"""How large a study may be."""

from __future__ import annotations

from typing import Any

from permtest._checks import check_count

#: The most experiments that are simulated: shares are then known to 0.0005, one standard error.
MOST_EXPERIMENTS = 10**6

#: The most pairs of a sample whose items are drawn, some 100 MB each.
MOST_DRAWN = 10**7

#: The most pairs of a sample of which only the number of each difference is drawn.
MOST_COUNTED = 10**9

#: The most scores of a system whose data sets are tested at once, some 400 MB for each copy.
MOST_TESTED = 5 * 10**7

#: The most sizes of a curve.
MOST_SIZES = 1000


def check_experiments(experiments: Any) -> int:
    """A number of simulated data sets."""
    why = "their shares are as good as exact by then; ask for fewer"
    return check_count(experiments, "experiments", most=MOST_EXPERIMENTS, why=why)


def check_drawn(n: Any, name: str) -> int:
    """A number of pairs of which every one is drawn."""
    why = "all pairs of a sample are drawn at once; tests 'exact' and 'sign' of power_curve are not"
    return check_count(n, name, most=MOST_DRAWN, why=why)
