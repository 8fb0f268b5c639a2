"""Two systems' correct tokens per sentence, as in the paper's experiments (Table 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import truncnorm

ACCURACY = (0.9543, 0.1116)  # mean and standard deviation, Stanza on the English UD test set
LENGTH = (12.08, 10.60)

#: More sentences than this are drawn, with replacement, from so many: the laws of the scores stay
#: the same, and ten million of them come in two seconds.
DISTINCT = 500_000

Scores = NDArray[np.int64]


def table_1(n: int, rng: np.random.Generator, advantage: float = 1.0) -> tuple[Scores, Scores]:
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
    if n > DISTINCT:
        u, v = table_1(DISTINCT, rng, advantage)
        which = rng.integers(0, DISTINCT, n)
        return u[which], v[which]
    lengths = sentence_lengths(n, rng)
    mean, sd = ACCURACY
    u = np.floor(_truncated((mean, sd), 0.0, 1.0, n, rng) * lengths)
    v = np.floor(_truncated((mean * advantage, sd), 0.0, 1.0, n, rng) * lengths)
    return u.astype(np.int64), v.astype(np.int64)


def sentence_lengths(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Tokens in each of n sentences, whole numbers from 1 on."""
    return np.ceil(_truncated(LENGTH, 0.0, np.inf, n, rng))


def differences_up_to(g: int, n: int, rng: np.random.Generator) -> tuple[Scores, Scores]:
    """Draw n pairs of scores whose difference is uniform on -g..g, so that G = g.

    Parameters
    ----------
    g : int
        The largest difference, at least 1. For g well below n every width 1..g occurs.
    n : int
        Number of pairs.
    rng : numpy.random.Generator

    Returns
    -------
    u, v : ndarray of shape (n,)
    """
    v = rng.integers(0, 50, n)
    return v + rng.integers(-g, g, n, endpoint=True), v


def _truncated(
    law: tuple[float, float], low: float, high: float, n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    mean, sd = law
    return np.asarray(
        truncnorm.rvs((low - mean) / sd, (high - mean) / sd, mean, sd, n, random_state=rng)
    )
