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
from permtest.study.limits import MOST_DRAWN

#: Decimals that scores are rounded to.
DECIMALS = 4

Scores = tuple[NDArray[Any], NDArray[Any]]
Draw = Callable[[np.random.Generator, int], Scores]


@dataclass(frozen=True)
class SampleSpec:
    """Where a sample comes from, and what is true of it.

    Parameters
    ----------
    name : str
        As in `SAMPLES`.
    distribution : str
        What the scores of both systems are drawn from.
    mean_difference, median_difference : float
        Of the differences in the population.
    symmetric : bool
        Whether differences are symmetric about their centre.
    recommended : tuple of str
        What the manual's table recommends for 500 pairs, as a rule; empty where that depends on
        the sample.
    is_binary : bool
        Whether scores are 0 and 1.

    Examples
    --------
    >>> from permtest.study import SAMPLES
    >>> spec = SAMPLES["data-h1-normal"]
    >>> spec.distribution, spec.mean_difference, spec.recommended
    ('normal, correlation 0.5, shifted by 0.25', 0.25, ('paired_t',))
    """

    name: str
    distribution: str
    mean_difference: float
    median_difference: float
    symmetric: bool
    recommended: tuple[str, ...] = ()
    is_binary: bool = False
    _draw: Draw | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def h0(self) -> bool:
        """Whether the null hypothesis of equal means is true."""
        return self.mean_difference == 0

    @property
    def h0_median(self) -> bool:
        """Whether the null hypothesis that the median difference is 0 is true."""
        return self.median_difference == 0

    @property
    def exchangeable(self) -> bool:
        """Whether labels can be swapped: the null hypothesis of a permutation test."""
        return self.symmetric and self.h0

    @property
    def h1(self) -> str:
        """Which of the scores have the greater mean: "=", ">" or "<"."""
        return "=" if self.h0 else ">" if self.mean_difference > 0 else "<"


def sample_data(
    name: str, n: int = 500, *, rng: RNG = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw two systems' scores on n items from one of the `SAMPLES`.

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
        Rounded to four decimals, so that exact tests take them as they are.

    Raises
    ------
    TypeError, ValueError
        If there is no such sample, or `n` is no number of items.

    Examples
    --------
    >>> from permtest.study import SAMPLES, sample_data
    >>> a, b = sample_data("data-h1-normal", 200)
    >>> SAMPLES["data-h1-normal"].mean_difference, bool(a.mean() > b.mean())
    (0.25, True)
    """
    check_option("name", name, SAMPLES)
    size = check_count(n, "n", most=MOST_DRAWN, why="that much data takes a loop of its own")
    draw = SAMPLES[name]._draw
    assert draw is not None, "every sample can be drawn"
    a, b = draw(as_generator(rng), size)
    return _rounded(a), _rounded(b)


def _rounded(scores: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(np.round(scores.astype(np.float64), DECIMALS), dtype=np.float64)


# ---- how they are drawn --------------------------------------------------------------------------


def _beta(p: float, q: float) -> Draw:
    """Both from one distribution, independently."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        scores = rng.beta(p, q, (n, 2))
        return scores[:, 0], scores[:, 1]

    return draw


def _normal(delta: float, spreads: tuple[float, float] = (1.0, 1.0), shared: float = 1.0) -> Draw:
    """Scores that have the difficulty of an item in common."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        b, a = (spread * rng.normal(size=n) for spread in reversed(spreads))
        item = shared * rng.normal(size=n)
        return item + a + delta, item + b

    return draw


def _with_noise(delta: float, noise: Callable[[np.random.Generator, int], NDArray[Any]]) -> Draw:
    """Scores whose difference is `delta` plus a noise of its own."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        b = rng.normal(size=n)
        return b + delta + noise(rng, n), b

    return draw


def _binary(only_a: float, only_b: float, both: float) -> Draw:
    """0 and 1, from the shares of items that one system alone, or both, get right."""

    def draw(rng: np.random.Generator, n: int) -> Scores:
        u = rng.random(n)
        a = (u < only_a) | (u >= 1 - both)
        return a, ((u >= only_a) & (u < only_a + only_b)) | (u >= 1 - both)

    return draw


def _heavy(rng: np.random.Generator, n: int) -> NDArray[Any]:
    return rng.standard_t(3, n)


def _flat(rng: np.random.Generator, n: int) -> NDArray[Any]:
    return rng.uniform(-1, 1, n)


def _lognormal(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Less its median."""
    return np.exp(rng.normal(size=n)) - 1.0


def _exponential(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Less its mean."""
    return rng.exponential(size=n) - 1.0


#: Mean of a lognormal less its median, and median of an exponential less its mean.
LOGNORMAL_MEAN, EXPONENTIAL_MEDIAN = exp(0.5) - 1, log(2) - 1

# fmt: off
_TABLE = (
    SampleSpec("data-h0-equal-beta", "Beta(0.6, 0.6), both", 0.0, 0.0, True, ("wilcoxon",),
               _draw=_beta(0.6, 0.6)),
    SampleSpec("data-h0-normal", "normal, correlation 0.5", 0.0, 0.0, True, ("paired_t",),
               _draw=_normal(0.0)),
    SampleSpec("data-h1-normal", "normal, correlation 0.5, shifted by 0.25", 0.25, 0.25, True,
               ("paired_t",), _draw=_normal(0.25)),
    SampleSpec("data-h0-unequal-normal", "normal, standard deviations 2.2 and 1.1", 0.0, 0.0, True,
               ("paired_t",), _draw=_normal(0.0, (2.0, 0.5))),
    SampleSpec("data-h0-uniform", "normal, differences uniform", 0.0, 0.0, True, ("wilcoxon",),
               _draw=_with_noise(0.0, _flat)),
    SampleSpec("data-h1-uniform", "normal, differences uniform about -0.2", -0.2, -0.2, True,
               ("wilcoxon",), _draw=_with_noise(-0.2, _flat)),
    SampleSpec("data-h0-heavy", "normal, differences t with 3 degrees of freedom", 0.0, 0.0, True,
               _draw=_with_noise(0.0, _heavy)),
    SampleSpec("data-h1-heavy", "the same, shifted by 0.3", 0.3, 0.3, True,
               _draw=_with_noise(0.3, _heavy)),
    SampleSpec("data-h0-median-skewed", "normal, differences lognormal less their median",
               LOGNORMAL_MEAN, 0.0, False, ("sign",), _draw=_with_noise(0.0, _lognormal)),
    SampleSpec("data-h0-mean-skewed", "normal, differences exponential less their mean",
               0.0, EXPONENTIAL_MEDIAN, False, ("sign",), _draw=_with_noise(0.0, _exponential)),
    SampleSpec("data-h1-skewed", "the same, shifted by 0.5", 0.5, EXPONENTIAL_MEDIAN + 0.5, False,
               ("sign",), _draw=_with_noise(0.5, _exponential)),
    SampleSpec("data-h0-binary", "right or wrong; 0.15 right for either alone, 0.6 for both",
               0.0, 0.0, True, is_binary=True, _draw=_binary(0.15, 0.15, 0.6)),
    SampleSpec("data-h1-binary", "right or wrong; 0.2 and 0.1 right for one alone, 0.6 for both",
               0.1, 0.0, False, is_binary=True, _draw=_binary(0.2, 0.1, 0.6)),
)
# fmt: on

#: Samples by name. In a name, h0 says that the hypothesis of equal means (or of a median of 0) is
#: true.
SAMPLES = {spec.name: spec for spec in _TABLE}
