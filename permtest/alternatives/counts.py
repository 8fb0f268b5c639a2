"""What all tests of counts share."""

from __future__ import annotations

from math import sqrt

from permtest.alternatives.assumptions import Assumption
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import tail_level

#: Expected counts from which on a chi-squared law fits well enough, by Cochran's rule.
ENOUGH = 5
LARGE_COUNTS = Assumption("large counts", f"all expected counts are at least {ENOUGH}")


def two_sided_level(tail: float) -> float:
    """The level of a two-sided interval that leaves so much on each side."""
    if tail >= 0.5:
        raise ValueError(f"confidence_level={1 - tail:g} is too low for a one-sided interval")
    return 1 - 2 * tail


def wilson(share: float, trials: float, confidence_level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval: the probabilities that a normal test does not reject.

    Parameters
    ----------
    share : float
        Of the trials, those that succeeded; in [0, 1].
    trials : float
        Above 0; not necessarily whole.
    confidence_level : float, default 0.95

    Returns
    -------
    (float, float)
        Within [0, 1]; exactly 0 and 1 where the share is.
    """
    z2 = normal_quantile(tail_level("two-sided", confidence_level)) ** 2
    centre, unit = share + z2 / (2 * trials), 1 + z2 / trials
    reach = sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials * trials)))
    low = 0.0 if share <= 0 else max((centre - reach) / unit, 0.0)
    return low, 1.0 if share >= 1 else min((centre + reach) / unit, 1.0)
