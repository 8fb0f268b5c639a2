"""Scores with known answers, to try the steps of a comparison on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_option
from permtest._rng import RNG, as_generator

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class SampleSpec:
    """Where a sample comes from, and what is true of it.

    Parameters
    ----------
    name, distribution : str
        A key of `SAMPLES`, and what the scores of both systems are drawn from.
    mean_difference, median_difference : float
        Of the differences in the population.
    symmetric : bool
        Whether differences are symmetric about their centre.

    Examples
    --------
    >>> from permtest.study import SAMPLES
    >>> SAMPLES["data-h1-normal"].mean_difference
    0.25
    """

    name: str
    distribution: str
    mean_difference: float
    median_difference: float
    symmetric: bool
    _draw: Draw = field(repr=False, compare=False)


def sample_data(name: str, n: int = 500, *, rng: RNG = 0) -> tuple[Floats, Floats]:
    """Draw two systems' scores on n items, to four decimals, from one of the `SAMPLES`.

    Parameters
    ----------
    name : str
        A key of `SAMPLES`.
    n : int, default 500
        Number of items, from 1 to ten million.
    rng : numpy.random.Generator, int or None, default 0

    Returns
    -------
    a, b : ndarray of shape (n,)

    Examples
    --------
    >>> from permtest.study import sample_data
    >>> a, b = sample_data("data-h1-normal", 200)
    >>> bool(a.mean() > b.mean())
    True
    """
    check_option("name", name, SAMPLES)
    size = check_count(n, "n", most=10**7, why="that much data takes a loop of its own")
    a, b = SAMPLES[name]._draw(as_generator(rng), size)
    return np.round(a, 4), np.round(b, 4)


def _normal(delta: float, a: float = 1.0, b: float = 1.0) -> Draw:
    """Noise with standard deviations `a` and `b` on a difficulty that items have in common."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        second, first, item = (spread * rng.normal(size=n) for spread in (b, a, 1.0))
        return item + first + delta, item + second

    return draw


def _beside(delta: float, law: str, *parameters: float) -> Draw:
    """Normal scores, and others that differ from them by `delta` and a law of NumPy's generator."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        b = rng.normal(size=n)
        return b + delta + getattr(rng, law)(*parameters, size=n), b

    return draw


def _answers(a: float, b: float) -> Draw:
    """0 and 1; so many right for either system alone, and 0.6 for both."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        u = rng.random(n)
        either, second = u >= 0.4, (u >= a) & (u < a + b)
        return ((u < a) | either) * np.float64(1), (second | either) * np.float64(1)

    return draw


# fmt: off
_LAWS: dict[str, tuple[str, float, float, bool, Draw]] = {
    "h0-equal-beta": ("Beta(0.6, 0.6), both", 0.0, 0.0, True,
                      lambda rng, n: rng.beta(0.6, 0.6, (n, 2)).T),
    "h0-normal": ("normal, correlation 0.5", 0.0, 0.0, True, _normal(0.0)),
    "h1-normal": ("the same, shifted by 0.25", 0.25, 0.25, True, _normal(0.25)),
    "h0-unequal-normal": ("normal, standard deviations 2.2 and 1.1", 0.0, 0.0, True,
                          _normal(0.0, 2.0, 0.5)),
    "h0-uniform": ("normal, differences uniform", 0.0, 0.0, True, _beside(0.0, "uniform", -1, 1)),
    "h1-uniform": ("the same, shifted by -0.2", -0.2, -0.2, True, _beside(-0.2, "uniform", -1, 1)),
    "h0-heavy": ("normal, differences t with 3 degrees of freedom", 0.0, 0.0, True,
                 _beside(0.0, "standard_t", 3)),
    "h1-heavy": ("the same, shifted by 0.3", 0.3, 0.3, True, _beside(0.3, "standard_t", 3)),
    "h0-median-skewed": ("normal, differences lognormal less their median", exp(0.5) - 1, 0.0,
                         False, _beside(-1.0, "lognormal")),
    "h0-mean-skewed": ("normal, differences exponential less their mean", 0.0, log(2) - 1, False,
                       _beside(-1.0, "exponential")),
    "h1-skewed": ("the same, shifted by 0.5", 0.5, log(2) - 0.5, False,
                  _beside(-0.5, "exponential")),
    "h0-binary": ("right or wrong, 0.15 for either alone", 0.0, 0.0, True, _answers(0.15, 0.15)),
    "h1-binary": ("right or wrong, 0.2 and 0.1 alone", 0.1, 0.0, False, _answers(0.2, 0.1)),
}
# fmt: on

#: Samples by name: h0 says that means are equal, or that the median of the differences is 0.
SAMPLES = {f"data-{name}": SampleSpec(f"data-{name}", *law) for name, law in _LAWS.items()}
