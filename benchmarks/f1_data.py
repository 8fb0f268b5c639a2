"""Two systems' true positives, false positives and false negatives, as in tagging spans of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper_data import DISTINCT, sentence_lengths

Counts: TypeAlias = NDArray[np.int64]
Generator: TypeAlias = np.random.Generator

RATE = 0.25  # spans per token of the sentences of Table 1: some three in each
FOUND, SPURIOUS = 0.9, 0.1  # share of the spans that is found, and spans found where none is


def spans(
    n: int, rng: Generator, advantage: float = 1.0, rate: float = RATE
) -> tuple[Counts, Counts]:
    """Draw n sentences and what both systems found in them.

    Parameters
    ----------
    n : int
        Number of sentences, which are as long as those of the paper's Table 1.
    rng : numpy.random.Generator
    advantage : float
        The second system finds `FOUND` times this number of the spans.
    rate : float
        Spans per token.

    Returns
    -------
    u, v : ndarray of shape (n, 3)
        True positives, false positives, false negatives. Both have the same gold spans.
    """
    if n > DISTINCT:
        u, v = spans(DISTINCT, rng, advantage, rate)
        which = rng.integers(0, DISTINCT, n)
        return u[which], v[which]
    expected = rate * sentence_lengths(n, rng)
    gold = rng.poisson(expected)
    return (
        _tagged(gold, FOUND, SPURIOUS * expected, rng),
        _tagged(gold, FOUND * advantage, SPURIOUS * expected, rng),
    )


def _tagged(
    gold: NDArray[np.int64], found: float, spurious: NDArray[np.float64] | float, rng: Generator
) -> Counts:
    hits = rng.binomial(gold, found)
    return np.stack((hits, rng.poisson(spurious, gold.size), gold - hits), axis=1)


# ---- data sets of many kinds, small enough for integer arithmetic ------------------------------


def _classes(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """One decision for each entry, of the same truth."""
    truth = rng.random(n) < 0.5
    return _decided(truth, rng), _decided(truth, rng)


def _decided(truth: NDArray[np.bool_], rng: Generator) -> Counts:
    says = np.where(rng.random(truth.size) < 0.3, ~truth, truth)
    return np.stack((truth & says, ~truth & says, truth & ~says), axis=1).astype(np.int64)


def _large(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """Counts as large as integer arithmetic allows; gold spans differ."""
    shape, most = (n, 3), max(1, 400 // n)
    return rng.integers(0, most, shape, endpoint=True), rng.integers(0, most, shape, endpoint=True)


def _nearly_even(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """Everything is even but one entry: the characteristic function has more peaks."""
    u, v = (2 * rng.integers(0, 2, (n, 3), endpoint=True) for _ in range(2))
    u[0], v[0] = (3, 1, 0), (0, 0, 3)
    return u, v


def _giant(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """One entry as large as all the others together, roughly."""
    u, v = spans(n, rng)
    u[0], v[0] = (n // 2 + 3, 0, 2), (0, n // 3 + 1, n // 2 + 5)
    return u, v


def _bold(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """The second system finds more and errs more: both sums move in the same direction."""
    gold = rng.poisson(2.0, n)
    return _tagged(gold, 0.3, 0.1, rng), _tagged(gold, 0.95, 1.5, rng)


def _misses(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """Both find the same spans, and differ in what they find beside them."""
    u = _tagged(rng.poisson(2.0, n), 0.8, 0.5, rng)
    v = u.copy()
    v[:, 1] = rng.poisson(0.7, n)
    return u, v


def _rare(n: int, rng: Generator) -> tuple[Counts, Counts]:
    """Hardly any gold spans, so that 0/0 is not far."""
    gold = np.asarray(rng.random(n) < 0.05, dtype=np.int64)
    return _tagged(gold, 0.5, 0.3, rng), _tagged(gold, 0.5, 0.5, rng)


#: How to draw n entries, by kind.
KINDS: dict[str, Callable[[int, Generator], tuple[Counts, Counts]]] = {
    "spans": spans,
    "one decision each": _classes,
    "large counts": _large,
    "nearly even": _nearly_even,
    "one giant": _giant,
    "bold against timid": _bold,
    "misses only": _misses,
    "rare": _rare,
}

#: N of the data sets of each kind: the tails of the longest reach below 1e-100.
ENTRIES = (6, 40, 150, 400)


def data_sets(
    rng: Generator, entries: tuple[int, ...] = ENTRIES
) -> Iterator[tuple[str, Counts, Counts]]:
    """One data set for each kind and number of entries."""
    for kind, draw in KINDS.items():
        for n in entries:
            yield kind, *draw(n, rng)
