"""Two systems' correct tokens per sentence, as in the paper's experiments (Table 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import truncnorm

ACCURACY = (0.9543, 0.1116)  # mean and standard deviation, Stanza on the English UD test set
LENGTH = (12.08, 10.60)


def table_1(
    n: int, rng: np.random.Generator, advantage: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw n sentences and both systems' correct tokens in them.

    A normal accuracy outside [0, 1] or a length below 1 means nothing, so both normal laws are
    truncated there, which the paper leaves open; lengths are rounded up, and an accuracy a on a
    sentence of length L gives floor(a L) correct tokens.

    Parameters
    ----------
    n : int
        Number of sentences.
    rng : numpy.random.Generator
    advantage : float
        The second system's mean accuracy is the table's times this number.

    Returns
    -------
    u, v : ndarray of shape (n,)
    """
    lengths = np.ceil(_truncated(LENGTH, 0.0, np.inf, n, rng))
    mean, sd = ACCURACY
    u = np.floor(_truncated((mean, sd), 0.0, 1.0, n, rng) * lengths)
    v = np.floor(_truncated((mean * advantage, sd), 0.0, 1.0, n, rng) * lengths)
    return u.astype(np.int64), v.astype(np.int64)


def _truncated(
    law: tuple[float, float], low: float, high: float, n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    mean, sd = law
    return np.asarray(
        truncnorm.rvs((low - mean) / sd, (high - mean) / sd, mean, sd, n, random_state=rng)
    )
