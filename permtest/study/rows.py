"""Scores of many data sets, a data set in each row: validated, and as integers where they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array
from permtest._integers import SAFE, with_room
from permtest.alternatives.sample import as_floats
from permtest.decimals import in_common_units
from permtest.pairs import Pairs
from permtest.study.limits import MOST_TESTED

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
        if first.size > MOST_TESTED:
            raise ValueError(
                f"a has {len(first):,} data sets of {first.shape[1]:,} scores, more than "
                f"{MOST_TESTED:,} in all; test some rows at a time"
            )
        if any(x.dtype.kind in "Ou" for x in (first, second)):
            pairs = Pairs.of(first.ravel(), second.ravel(), labels=("a", "b"))
            u, v = (x.reshape(first.shape) for x in (pairs.u, pairs.v))
            return cls(u, v, pairs.scale, delta)
        columns = [_as_integers(x, name) for x, name in ((first, "a"), (second, "b"))]
        if any(scale == 0 for _, scale in columns):
            return cls(first.astype(np.float64), second.astype(np.float64), 0, delta)
        scale = lcm(*(scale for _, scale in columns))
        u, v = (with_room(x, scale // own) * (scale // own) for x, own in columns)
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
        gaps = with_room(self.a - self.b, shift.denominator) * shift.denominator
        if abs(shift.numerator) >= SAFE:
            gaps = gaps.astype(object)
        return np.asarray(gaps - shift.numerator)

    @cached_property
    def shifted(self) -> Floats:
        """a - b - delta as floats."""
        if self.scale == 0:
            return self.steps
        return as_floats(self.steps, self.scale * (self.delta * self.scale).denominator)

    @property
    def scores(self) -> tuple[Floats, Floats]:
        """a and b as floats."""
        scale = max(self.scale, 1)
        return as_floats(self.a, scale), as_floats(self.b, scale)

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
    first, second = plain_array(a, "a"), plain_array(b, "b")
    for name, x in (("a", first), ("b", second)):
        text = x.dtype == object and any(isinstance(score, str | bytes) for score in x.flat)
        if text or x.dtype.kind not in "biufO":
            what = "text" if text else x.dtype
            raise TypeError(f"{name} must be an array of numbers, not of {what}")
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
    found = in_common_units([x.ravel()], [name])
    return (x, 0) if found.rounding else (found.columns[0].reshape(x.shape), found.scale)
