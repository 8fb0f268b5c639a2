"""The one place that turns `rng=` into generators."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

RNG: TypeAlias = "np.random.Generator | int | None"


def as_generator(rng: RNG) -> np.random.Generator:
    """Return a NumPy generator for a seed, a generator or None.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        A generator is used as it is (and advanced); an int seeds a new one; None seeds a
        new one from the operating system.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    TypeError
        If `rng` is anything else. Legacy ``numpy.random.RandomState`` is not accepted.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (isinstance(rng, int | np.integer) and not isinstance(rng, bool)):
        if rng is not None and rng < 0:
            raise ValueError(f"rng={rng} must not be negative; use any seed from 0 on")
        return np.random.default_rng(rng)
    raise TypeError(
        f"rng must be a seed (int), a numpy.random.Generator or None, not {type(rng).__name__}; "
        "for reproducible samples pass rng=0"
    )


def seeds(rng: np.random.Generator) -> np.random.SeedSequence:
    """Return the origin of the streams of a computation that is done in parts.

    Parameters
    ----------
    rng : numpy.random.Generator
        Is advanced, so that what follows is independent of the streams.

    Returns
    -------
    numpy.random.SeedSequence
        Small, and all that a worker elsewhere needs: see `stream`.
    """
    return np.random.SeedSequence(rng.integers(2**63, size=4).tolist())


def stream(origin: np.random.SeedSequence, *part: int) -> np.random.Generator:
    """Return the generator of one part, independent of those of all others.

    As ``Generator.spawn`` makes them, but for any part alone: it depends on nothing else, so that
    parts may be done by whom, and in what order, it may be.

    Parameters
    ----------
    origin : numpy.random.SeedSequence
        From `seeds`.
    *part : int
        The number of the part, or numbers that single it out.

    Returns
    -------
    numpy.random.Generator
    """
    key = (*origin.spawn_key, *part)
    return np.random.default_rng(np.random.SeedSequence(origin.entropy, spawn_key=key))
