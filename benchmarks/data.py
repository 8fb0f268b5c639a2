"""Made-up scores of two systems on sentences as in the paper (its Table 1), and models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import truncnorm

ACCURACY = (0.9543, 0.1116)  # mean and standard deviation, Stanza on the English UD test set
LENGTH = (12.08, 10.60)

#: What `table_1` makes of them: lengths, and accuracies before whole tokens are counted.
MADE = "sentences 15.1 ± 8.7 long, accuracy .892"
STAND_IN = (
    "That makes other test sets than the paper's: sentences are 15.1 ± 8.7 tokens long and the "
    "mean accuracy is .892, where Table 1 has 12.08 ± 10.60 and .954."
)

RATE = 0.25  # spans per token of the sentences of Table 1: some three in each
FOUND, SPURIOUS = 0.9, 0.1  # share of the spans that is found, and spans found where none is

Scores = NDArray[np.int64]  # of shape (N,), or (N, 3): true and false positives, false negatives
Generator = np.random.Generator
Both = tuple[Scores, Scores]


def table_1(n: int, rng: Generator, advantage: float = 1.0) -> Both:
    """Draw n sentences and both systems' correct tokens; the second one's mean accuracy may differ.

    A normal accuracy outside [0, 1] or a length below 1 means nothing, so both normal laws are
    truncated there, which the paper leaves open; lengths are rounded up, and an accuracy a on a
    sentence of length L gives floor(a L) correct tokens. Truncated and rounded, lengths are 15.1
    +- 8.7 and accuracies .892 on average, no longer what `LENGTH` and `ACCURACY` say; of the
    tokens 86 % are correct.
    """
    lengths = sentence_lengths(n, rng)
    mean, sd = ACCURACY
    u, v = (np.floor(truncated(m, sd, 1.0, n, rng) * lengths) for m in (mean, mean * advantage))
    return u.astype(np.int64), v.astype(np.int64)


def sentence_lengths(n: int, rng: Generator) -> NDArray[np.float64]:
    """Tokens in each of n sentences, whole numbers from 1 on."""
    return np.ceil(truncated(*LENGTH, np.inf, n, rng))


def truncated(mean: float, sd: float, high: float, n: int, rng: Generator) -> NDArray[np.float64]:
    """Normal numbers from 0 to `high`."""
    return truncnorm.rvs(-mean / sd, (high - mean) / sd, mean, sd, n, random_state=rng)


def differences_up_to(g: int, n: int, rng: Generator) -> Both:
    """Draw n pairs of scores whose difference is uniform on -g..g, so that G = g."""
    v = rng.integers(0, 50, n)
    return v + rng.integers(-g, g, n, endpoint=True), v


def close_scores(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw n pairs of scores such as a learned metric gives: around .8, .003 apart on average."""
    rng = np.random.default_rng([seed, n])
    u = rng.normal(0.8, 0.1, n)
    return u, u + rng.normal(-0.003, 0.05, n)


def spans(n: int, rng: Generator) -> Both:
    """Draw the spans in n such sentences, and what both systems find: tp, fp, fn."""
    expected = RATE * sentence_lengths(n, rng)
    gold, found = rng.poisson(expected), []
    for _ in "uv":
        hits = rng.binomial(gold, FOUND)
        found.append(np.stack((hits, rng.poisson(SPURIOUS * expected), gold - hits), axis=1))
    return found[0], found[1]


def logistic(x: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Coefficients (sets, features, 1) of many data sets at once, by Newton's method."""
    w, columns = np.zeros((len(x), x.shape[2], 1)), np.swapaxes(x, 1, 2)
    for _ in range(6):
        p = expit(x @ w)
        w += np.linalg.solve(columns @ (x * p * (1 - p)), columns @ (y - p))
    return w
