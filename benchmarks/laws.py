"""Null laws of many kinds: what makes one method or another go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper_data import table_1
from permtest.null.grouping import TwoPointSum, group

Widths = NDArray[np.int64]
Generator = np.random.Generator


def law_of(widths: Widths) -> TwoPointSum:
    """The law of the sum of entries that are 0 or their width."""
    return group(np.zeros_like(widths), widths, 0)


def _paper(n: int, rng: Generator) -> Widths:
    u, v = table_1(3 * n, rng)
    return np.asarray(np.abs(u - v)[u != v][:n])


def _nearly_even(n: int, rng: Generator) -> Widths:
    """All widths but one are even: odd sums come from one entry, and a second peak at pi."""
    return np.append(2 * rng.integers(1, 8, n - 1), 1 + 2 * rng.integers(0, 8))


def _nearly_thirds(n: int, rng: Generator) -> Widths:
    return np.append(3 * rng.integers(1, 6, max(n - 2, 0)), rng.integers(1, 9, min(n, 2)))


def _giant(n: int, rng: Generator) -> Widths:
    """One difference as large as all the others together, roughly."""
    small = rng.integers(1, 4, n - 1)
    return np.append(small, int(small.sum() * rng.uniform(0.3, 3)) + 1)


def _two_widths(n: int, rng: Generator) -> Widths:
    return np.asarray(rng.choice(rng.choice(np.arange(1, 40), 2, replace=False), n))


def _spread(n: int, rng: Generator) -> Widths:
    """A few large ones, many small ones, over two orders of magnitude."""
    return np.ceil(np.exp(rng.exponential(1.2, n).clip(0, 4.6))).astype(np.int64)


#: How to draw n widths, by kind. Sums stay below some 60 000, so that integers are quick.
KINDS: dict[str, Callable[[int, Generator], Widths]] = {
    "the paper's (Table 1)": _paper,
    "all equal": lambda n, _rng: np.ones(n, dtype=np.int64),
    "two widths": _two_widths,
    "few widths": lambda n, rng: rng.integers(1, 6, n),
    "many widths": lambda n, rng: rng.integers(1, max(2, min(3000, 60_000 // n)), n),
    "nearly even": _nearly_even,
    "nearly all thirds": _nearly_thirds,
    "one giant": _giant,
    "long-tailed": _spread,
    "powers of two": lambda n, _rng: 2 ** np.arange(min(n, 14)),
    "one pair": lambda _n, rng: rng.integers(1, 9, 1),
}

#: N' of the laws of each kind: the tails of the longest reach below 1e-450.
ENTRIES = (7, 60, 350, 1100, 1500)


def random_laws(
    rng: Generator, entries: tuple[int, ...] = ENTRIES
) -> Iterator[tuple[str, TwoPointSum]]:
    """One law for each kind and number of entries."""
    for kind, draw in KINDS.items():
        for n in entries:
            yield kind, law_of(draw(n, rng))
