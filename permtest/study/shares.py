"""Wilson's interval for a probability."""

from __future__ import annotations

from math import sqrt

from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import tail_level


def wilson(share: float, trials: float, confidence_level: float = 0.95) -> tuple[float, float]:
    """The probabilities that a normal test does not reject, after so many independent trials.

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
