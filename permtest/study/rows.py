"""Scores of many data sets, a data set in each row: validated, and as integers where they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import SAFE, largest
from permtest.pairs import Pairs

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Scores of shape (experiments, n), as given and, where they are that, as integers.

    Parameters
    ----------
    a, b : ndarray
        Integers to be divided by `scale`, of dtype int64 or object; or floats, `scale` being 0.
    scale : int
    delta : Fraction
    """

    a: NDArray[Any]
    b: NDArray[Any]
    scale: int
    delta: Fraction

    @classmethod
    def of(cls, a: Any, b: Any, delta: Fraction) -> Rows:
        """Validate, and find out whether they are integers or decimals."""
        first, second = as_rows(a, b)
        if any(x.dtype.kind in "Ou" for x in (first, second)):
            pairs = Pairs.of(first.ravel(), second.ravel(), labels=("a", "b"))
            u, v = (x.reshape(first.shape) for x in (pairs.u, pairs.v))
            return cls(u, v, pairs.scale, delta)
        columns = [_as_integers(x, name) for x, name in ((first, "a"), (second, "b"))]
        if any(scale == 0 for _, scale in columns):
            return cls(first.astype(np.float64), second.astype(np.float64), 0, delta)
        scale = lcm(*(scale for _, scale in columns))
        u, v = (_times(x, scale // own) for x, own in columns)
        return cls(u, v, scale, delta)

    @property
    def n(self) -> int:
        """Number of pairs in each data set."""
        return int(self.a.shape[1])

    @cached_property
    def steps(self) -> NDArray[Any]:
        """a - b - delta: integers in units of their own, or floats."""
        if self.scale == 0:
            noise = 1e-12 * np.maximum(np.abs(self.a), np.abs(self.b))
            d = self.a - self.b - float(self.delta)
            return np.where(np.abs(d) <= noise, 0.0, d)
        shift = self.delta * self.scale
        gaps = _times(self.a - self.b, shift.denominator)
        if abs(shift.numerator) >= SAFE:
            gaps = gaps.astype(object)
        return np.asarray(gaps - shift.numerator)

    @cached_property
    def shifted(self) -> Floats:
        """a - b - delta as floats."""
        if self.scale == 0:
            return self.steps
        return _as_floats(self.steps, self.scale * (self.delta * self.scale).denominator)

    @property
    def scores(self) -> tuple[Floats, Floats]:
        """a and b as floats."""
        return _as_floats(self.a, self.scale), _as_floats(self.b, self.scale)

    @cached_property
    def signs(self) -> Ints:
        """1, 0 or -1 for each pair."""
        return np.where(self.steps > 0, 1, np.where(self.steps < 0, -1, 0))

    @property
    def wins(self) -> tuple[Ints, Ints]:
        """How many pairs of each row either system wins."""
        return np.sum(self.signs > 0, axis=1), np.sum(self.signs < 0, axis=1)

    def need(self, least: int, test: str) -> None:
        """Raise ValueError if there are fewer pairs."""
        if self.n < least:
            raise ValueError(f"a and b have {self.n} pairs a row, but {test} needs {least}")

    def need_answers(self, test: str) -> None:
        """Raise ValueError unless all scores are 0 or 1, and delta is 0."""
        if self.delta:
            raise ValueError(f"delta={float(self.delta)} is not for {test}, which has no threshold")
        for name, x in (("a", self.a), ("b", self.b)):
            for i, j in np.argwhere((x != 0) & (x != max(self.scale, 1)))[:1]:
                value = float(x[i, j]) / max(self.scale, 1)
                raise ValueError(f"{name}[{i}, {j}] = {value:g}, but {test} needs scores 0 or 1")


def as_rows(a: Any, b: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two arrays of numbers, of the same two dimensions."""
    first, second = np.asarray(a), np.asarray(b)
    for name, x in (("a", first), ("b", second)):
        if x.dtype.kind not in "biufO":
            raise TypeError(f"{name} must be an array of numbers, not of {x.dtype}")
        if x.ndim != 2 or x.shape[1] == 0:
            raise ValueError(f"{name} has shape {x.shape}, but a data set in each row is needed")
    if first.shape != second.shape:
        raise ValueError(f"a has shape {first.shape} and b {second.shape}; they must be alike")
    return first, second


def _as_integers(x: NDArray[Any], name: str) -> tuple[NDArray[Any], int]:
    """Integers and what to divide them by, read as `Pairs` reads floats; else 0."""
    if x.dtype.kind in "bi":
        return x.astype(np.int64, copy=False), 1
    for i, j in np.argwhere(~np.isfinite(x))[:1]:
        raise ValueError(f"{name}[{i}, {j}] = {x[i, j]} is not finite; leave such pairs out")
    size = float(np.abs(x).max(initial=0.0))
    for scale in (1, 10, 100, 1000, 10_000):
        k = np.rint(x.ravel()[:8] * scale)
        if np.array_equal(k / scale, x.ravel()[:8]) and size * scale < 1e15:
            k = np.rint(x * scale)
            if np.array_equal(k / scale, x):
                return k.astype(np.int64), scale
    return _small_fractions(x, size)


def _small_fractions(x: NDArray[Any], size: float) -> tuple[NDArray[Any], int]:
    """Scores that were computed as k / D, D up to 1000, with the rounding taken off."""
    near = 4 * np.spacing(np.abs(x))
    for scale in range(2, 1001):
        if size * scale > 1e5:
            break
        for some in (slice(0, 1), slice(None)):  # most denominators fail at once
            k = np.rint(x[some] * scale)
            if np.any(np.abs(x[some] - k / scale) > near[some]):
                break
        else:
            return k.astype(np.int64), scale
    return x, 0


def _times(x: NDArray[Any], factor: int) -> NDArray[Any]:
    """`x` times an integer, as Python integers where int64 would be too small."""
    if x.dtype != object and max(largest(x), 1) * factor >= SAFE:
        x = x.astype(object)
    return x * factor if factor != 1 else x


def _as_floats(x: NDArray[Any], scale: int) -> Floats:
    if x.dtype != object:
        return np.asarray(x / scale if scale > 1 else x, dtype=np.float64)
    flat = [float(Fraction(int(value), max(scale, 1))) for value in x.ravel()]
    return np.array(flat, dtype=np.float64).reshape(x.shape)
