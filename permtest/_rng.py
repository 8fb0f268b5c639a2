"""The one place that turns `rng=` into a generator."""

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
            raise ValueError(f"rng={rng} must not be negative; any seed from 0 on will do")
        return np.random.default_rng(rng)
    raise TypeError(
        f"rng must be a seed (int), a numpy.random.Generator or None, not {type(rng).__name__}; "
        "for reproducible samples pass rng=0"
    )
