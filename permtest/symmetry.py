"""Whether differences are symmetric, as intervals for a shift and tests against a margin assume."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A mean of skewed differences needs so many times the squared skewness of pairs (Cochran's rule
#: of thumb).
PER_SQUARED_SKEWNESS = 25
#: Skewness within so many of its standard errors in normal samples may be chance.
CHANCE = 2.5


def symmetry_warning(values: NDArray[Any], counts: NDArray[np.int64]) -> str | None:
    """What is to be said where few differences look skewed; None where nothing is.

    Parameters
    ----------
    values : ndarray of shape (U,)
        Distinct differences, ascending; integers of any size.
    counts : ndarray of shape (U,)
        How often each occurs.

    Returns
    -------
    str or None
        None where the pairs are 25 g1^2 or more, and where normal samples might have that g1.
        ``python -m benchmarks.calibration`` has the coverage of intervals on either side of the
        rule. What is rare enough to be missing from a sample is not seen.
    """
    n, g1 = int(counts.sum()), _skewness(values, counts)
    needed = PER_SQUARED_SKEWNESS * g1**2
    if n < 3 or n >= needed:
        return None
    chance = sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))  # standard error of g1
    if abs(g1) <= CHANCE * chance:
        return None
    return (
        f"The differences look skewed: g1 = {g1:.2g}, for which the rule of thumb 25 g1^2 asks for "
        f"{needed:,.0f} pairs, and there are {n:,}. Intervals for the mean difference and tests "
        "against a margin assume that differences are symmetric about it. Where they are not, they "
        "err more often than they should: of 20 lognormal differences, a 95% interval covers the "
        "mean in 87% of samples. The studentised bootstrap, alternatives.bootstrap, does not "
        "assume symmetry."
    )


def _skewness(values: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """g1 = m3 / m2^(3/2); 0 if all values are equal."""
    if values.size < 2:
        return 0.0
    low, room = int(values[0]), int(values[-1]) - int(values[0])
    shares, weights = np.array([(int(d) - low) / room for d in values]), counts / counts.sum()
    centred = shares - shares @ weights
    return float(centred**3 @ weights / (centred**2 @ weights) ** 1.5)
