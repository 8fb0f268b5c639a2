"""The one place that turns `rng=` into generators."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

RNG: TypeAlias = "np.random.Generator | int | None"


def as_generator(rng: RNG) -> np.random.Generator:
    """A NumPy generator as it is, or a new one from a seed, or from the operating system."""
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
    """The origin of the streams of a computation that is done in parts; advances the generator."""
    return np.random.SeedSequence(rng.integers(2**63, size=4).tolist())


def stream(origin: np.random.SeedSequence, *part: int) -> np.random.Generator:
    """The generator of one part, which a number or several single out.

    As ``Generator.spawn`` makes them, but for any part alone: it depends on nothing else, so that
    parts may be done by whom, and in what order, it may be.
    """
    key = (*origin.spawn_key, *part)
    return np.random.default_rng(np.random.SeedSequence(origin.entropy, spawn_key=key))
