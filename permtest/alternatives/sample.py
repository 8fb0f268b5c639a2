"""Two systems' scores and their differences, as the alternative tests need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, isinf, ldexp, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, exact_sum, largest, roomy, with_room
from permtest.pairs import Pairs, check_names, check_unclustered

#: The largest `delta`, and the largest score, and one over the least that the largest may be, of
#: what squares scores as they are: so that sums of squares neither overflow as floats nor vanish.
VAST = 10**150

#: Where the largest score is beyond two to this power, or below one over it, scores are squared in
#: a unit that makes it about that: sums of squares are floats, and so are much smaller scores.
MODERATE = 400


@dataclass(frozen=True, eq=False)
class PairedSample:
    """Scores of two systems on the same items, and a difference to test against.

    Differences are formed in integers, before anything is rounded: ``0.3 - 0.1`` ties with
    ``0.2``, as it should for ranks.

    Parameters
    ----------
    pairs : Pairs
    delta : Fraction
        The mean (or median) difference under the null hypothesis, in scores.
    power : int
        The scores are these times ``2**power``; not 0 for what `tame` returns alone.

    Examples
    --------
    >>> from permtest.alternatives import PairedSample
    >>> sample = PairedSample.of([0.3, 0.5], [0.1, 0.3], names=("new", "old"))
    >>> sample.n, sample.names, sample.differences.tolist()
    (2, ('new', 'old'), [0.2, 0.2])
    """

    pairs: Pairs
    delta: Fraction = Fraction(0)
    power: int = 0

    @classmethod
    def of(
        cls,
        a: Any,
        b: Any = None,
        delta: float | Fraction = 0.0,
        names: tuple[str, str] | None = None,
        *,
        least: int = 1,
        labels: tuple[str, str] = ("a", "b"),
    ) -> PairedSample:
        """Validate the arguments that all paired tests share.

        Parameters
        ----------
        a, b : array_like of shape (N,)
            Scores of both systems, as `Pairs.of` takes them; or `Pairs`, and None.
        delta : float or Fraction
            A float stands for the decimal that it is printed as.
        names : tuple of two str, optional
        least : int
            How many pairs are needed.
        labels : tuple of two str
            How error messages call `a` and `b`.

        Returns
        -------
        PairedSample

        Raises
        ------
        TypeError, ValueError
            If something is no score or no number, or there are too few pairs.
        """
        if isinstance(a, Pairs) and b is None:
            pairs = a if names is None else replace(a, names=check_names(names))
        else:
            pairs = Pairs.of(a, b, names, labels=labels)
        if pairs.columns:
            raise ValueError(
                f"a and b have {len(pairs.columns)} counts for each entry "
                f"({', '.join(pairs.columns)}), but this test takes one score; "
                "use randomisation or paired_bootstrap"
            )
        check_unclustered(pairs)
        if len(pairs) < least:
            first, second = labels
            raise ValueError(
                f"{first} and {second} have {len(pairs)} pairs, but this needs {least} or more"
            )
        return cls(pairs, as_threshold(delta))

    @property
    def n(self) -> int:
        """N, the number of pairs."""
        return len(self.pairs)

    @property
    def names(self) -> tuple[str, str]:
        """What the systems are called."""
        return self.pairs.names

    @cached_property
    def a(self) -> NDArray[np.float64]:
        """Scores of the first system as floats."""
        return as_floats(self.pairs.u, self.pairs.scale, "a")

    @cached_property
    def b(self) -> NDArray[np.float64]:
        """Scores of the second system as floats."""
        return as_floats(self.pairs.v, self.pairs.scale, "b")

    @cached_property
    def tame(self) -> PairedSample:
        """These scores over a power of two, so that squares neither overflow nor vanish.

        Scores of the usual sizes are taken as they are. What does not depend on the unit is that
        of this sample; all else is `rescaled` by its `power`.
        """
        pairs = self.pairs
        (u, v), scale, power = tamed((pairs.u, pairs.v), pairs.scale)
        if not power:
            return self
        delta = self.delta * Fraction(2) ** -power
        return PairedSample(replace(pairs, u=u, v=v, scale=scale), delta, power)

    @property
    def scale(self) -> int:
        """By what `gaps` and `steps` have to be divided to be differences of scores."""
        return self.pairs.scale * self.delta.denominator

    @cached_property
    def gaps(self) -> IntArray:
        """Differences of scores times `scale`: integers."""
        d = roomy(self.pairs.u) - roomy(self.pairs.v)
        return with_room(d, self.delta.denominator) * self.delta.denominator

    @cached_property
    def steps(self) -> IntArray:
        """Differences less `delta`, times `scale`: integers."""
        shift = self.delta.numerator * self.pairs.scale
        if shift == 0:
            return self.gaps
        gaps = self.gaps if abs(shift) < 2**60 else self.gaps.astype(object)
        return np.asarray(roomy(gaps) - shift)

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """a - b, each rounded once."""
        return as_floats(self.gaps, self.scale)

    @cached_property
    def shifted(self) -> NDArray[np.float64]:
        """a - b - delta, each rounded once."""
        return as_floats(self.steps, self.scale)

    @cached_property
    def centred(self) -> NDArray[np.float64]:
        """Differences less their mean, each rounded once, however large the scores are."""
        total = exact_sum(self.gaps)
        return as_floats(with_room(self.gaps, 4 * self.n) * self.n - total, self.scale * self.n)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the differences (ddof 1); 0 only if they are all equal."""
        if self.tame is not self:
            return float(rescaled(self.tame.deviation, self.tame.power))
        centred, power = near_one(self.centred)
        return ldexp(float(np.linalg.norm(centred)), power) / sqrt(self.n - 1)

    @cached_property
    def mean(self) -> float:
        """Mean of `differences`, rounded once; infinite if it is beyond all floats."""
        return nearest(Fraction(exact_sum(self.gaps), self.scale * self.n))

    @cached_property
    def correlation(self) -> float:
        """r12, Pearson's correlation of both systems' scores; NaN where one is constant."""
        a, b = self.tame.a, self.tame.b
        if self.n < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
            return float("nan")
        r = np.corrcoef(near_one(a)[0], near_one(b)[0])[0, 1]
        return float(np.clip(r, -1.0, 1.0))

    @cached_property
    def inflation(self) -> float:
        """sqrt(s1^2 + s2^2) over the standard deviation of the differences (Yeh, sec. 2.1).

        By how much that is multiplied where the two systems are taken for independent; infinite
        where it is 0, NaN where both systems' scores are constant.
        """
        if self.n < 2:
            return nan
        tame = self.tame
        both = float(np.hypot(tame.a.std(ddof=1), tame.b.std(ddof=1)))
        if tame.deviation == 0:
            return inf if both else nan
        return both / tame.deviation

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        pairs = self.pairs
        return pairs.scale == 1 and all(
            bool(np.all((x == 0) | (x == 1))) for x in (pairs.u, pairs.v)
        )


def check_magnitude(columns: Sequence[IntArray], scale: int, labels: Iterable[str]) -> None:
    """Raise ValueError where squares of scores would overflow as floats, or all would vanish."""
    top, most = max(map(largest, columns)), VAST * scale
    if top > most:
        least, why = most + 1, f"beyond {VAST:.0e}, and squares would overflow; divide"
    elif 0 < top * VAST < scale:
        least, why = top, "the largest, so small that squares would vanish; multiply"
    else:
        return
    for name, column in zip(labels, columns, strict=True):
        for i in np.flatnonzero(np.abs(column.astype(object)) >= least)[:1]:
            score = Decimal(int(column[i])) / scale
            raise ValueError(
                f"{name}[{i}] = {score:.4g} is {why} all scores by a power of ten, or use "
                "exact_perm_test"
            )


def tamed(columns: Sequence[IntArray], scale: int) -> tuple[list[IntArray], int, int]:
    """Scores over a power of two, what these have to be divided by, and the power; see `tame`."""
    top = max(map(largest, columns))
    size = top.bit_length() - scale.bit_length()
    if top == 0 or abs(size) < MODERATE:
        return list(columns), scale, 0
    power = size - MODERATE + 8  # so that these are tame
    times = 2 ** max(-power, 0)
    return [x.astype(object) * times for x in columns], scale * 2 ** max(power, 0), power


def rescaled(values: Any, power: int) -> Any:
    """Floats times ``2**power``; infinite where that is beyond all floats."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(values, power)
    return found if isinstance(values, np.ndarray) else float(found)


def nearest(number: Fraction) -> float:
    """A number rounded once; infinite if it is beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def within_floats(value: float, what: str) -> float:
    """`value`, or ValueError if it is infinite, which `nearest` and `rescaled` may make it."""
    if isinf(value):
        raise ValueError(
            f"the {what} is beyond all floats; divide all scores by a power of ten, or use "
            "exact_perm_test"
        )
    return value


def near_one(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """`values` over a power of two, and its exponent: the largest is from 1/2 to 1, or all are 0.

    Powers of these neither overflow nor vanish, and nothing is rounded otherwise.
    """
    power = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -power), power


def as_threshold(delta: float | Fraction) -> Fraction:
    """`delta` as the number that it is printed as."""
    try:
        finite = isfinite(delta) and not isinstance(delta, bool)
    except OverflowError:
        raise ValueError(f"delta is beyond {VAST:.0e}; divide it and all scores") from None
    except TypeError:
        raise TypeError(f"delta={delta!r} must be a number") from None
    if not finite:
        raise ValueError(f"delta={delta!r} must be a finite number")
    threshold = Fraction(str(delta))
    if abs(threshold) > VAST:
        raise ValueError(f"delta={delta!r} is beyond {VAST:.0e}; divide it and all scores")
    return threshold


def as_floats(values: IntArray, scale: int, name: str = "(a - b)") -> NDArray[np.float64]:
    """Integers divided by `scale`, each rounded once; ValueError where that is beyond floats."""
    if values.dtype != object and scale < 2**53:
        return np.asarray(values / scale, dtype=np.float64)
    flat = np.array([nearest(Fraction(int(x), scale)) for x in values.ravel()], dtype=np.float64)
    for i in np.flatnonzero(np.isinf(flat))[:1]:
        number = Decimal(int(values.ravel()[i])) / scale
        within_floats(flat[i], f"number {name}[{i}] = {number:.3e}")
    return flat.reshape(values.shape)
