"""Power: how probable it is that a test finds a difference that is there.

Power is the true positive rate: the share of samples for which a test rejects a null hypothesis
that is false. `power_curve` simulates it from the data at hand, `power_curve_normal` from a normal
law; `exact_power` adds it up for scores that are 0 or 1, where nothing has to be simulated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from html import escape
from math import ceil, gcd, isfinite, sqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.names import TITLES
from permtest.alternatives.sample import PairedSample, as_threshold
from permtest.null.grouping import count_values
from permtest.pairs import as_scaled
from permtest.statistics import check_alternative
from permtest.study.laws import FINEST, law_pvalues
from permtest.study.simulation import (
    ROUNDING,
    TESTS,
    Draw,
    Test,
    binomial_pvalues,
    check_count,
    check_level,
    drawn,
    pvalues,
    rejections,
    share_interval,
)

if TYPE_CHECKING:
    import pandas as pd

#: Scores that must be rounded are rounded to multiples of their standard deviation over this.
PER_DEVIATION = 8

#: Scores that are drawn at a time (16 MB).
AT_ONCE = 2**21

#: Tests that look at differences alone, and at nothing that depends on their unit.
OF_DIFFERENCES = (
    "exact",
    "permutation_median",
    "paired_t",
    "normal_z",
    "sign",
    "wilcoxon",
    "bootstrap_mean",
    "bootstrap_median",
)

#: Where the samples come from.
Method: TypeAlias = "Literal['bootstrap', 'normal'] | Draw"

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class PowerCurve:
    """The power of a test against the number of pairs, simulated.

    ``print(curve)`` gives a sentence; ``curve.needed(0.8)`` says how many pairs it takes.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of pairs, ascending.
    power : tuple of float
        Share of the simulated samples of that size that were rejected.
    intervals : tuple of (float, float)
        Wilson's 95% intervals of the power, for the error of the simulation.
    test : str
        Name of the test.
    alpha : float
        Its level.
    alternative : str
        "two-sided", "greater" or "less".
    experiments : int
        Number of samples of each size.
    method : str
        "bootstrap", "normal", or the name of a function.
    delta : float or None
        The true mean difference in the samples; None if only the function knows it.
    rounded : float
        Unit of a lattice that differences were rounded to, in scores; 0 if they were not.
    """

    sizes: tuple[int, ...]
    power: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    test: str
    alpha: float
    alternative: str
    experiments: int
    method: str
    delta: float | None = None
    rounded: float = 0.0

    @cached_property
    def smoothed(self) -> tuple[float, ...]:
        """The curve nearest to `power` that never falls (isotonic regression)."""
        from scipy.optimize import isotonic_regression

        return tuple(isotonic_regression(np.array(self.power)).x.tolist())

    def needed(self, power: float = 0.8) -> int | None:
        """The smallest number of pairs that has this power.

        Parameters
        ----------
        power : float, default 0.8
            In (0, 1).

        Returns
        -------
        int or None
            Read off the smoothed curve, between two sizes by linear interpolation; the smallest
            size, if that has it already. None if no size has it: simulate larger ones.

        Raises
        ------
        ValueError
            If `power` is out of range.
        """
        if not 0 < power < 1:
            raise ValueError(f"power must lie in (0, 1), got {power}")
        curve = self.smoothed
        there = next((i for i, value in enumerate(curve) if value >= power), None)
        if there is None or there == 0:
            return None if there is None else self.sizes[0]
        (n, low), (m, high) = ((self.sizes[i], curve[i]) for i in (there - 1, there))
        return min(n + ceil((m - n) * (power - low) / (high - low) - 1e-9), m)

    def __str__(self) -> str:
        size, power, (low, high) = self.sizes[-1], self.power[-1], self.intervals[-1]
        enough = self.needed()
        reach = "No size here has a power of 80%"
        if enough is not None:
            reach = f"A power of 80% takes about {enough} pairs"
            if enough == self.sizes[0]:
                reach = f"A power of 80% takes no more than {enough} pairs"
        title = TITLES.get(self.test, self.test)
        return (
            f"With {size} pairs the power of the {title} is {power:.3f} (95% interval {low:.3f} "
            f"to {high:.3f}; alpha = {self.alpha:g}, {self.alternative}, {self.experiments} "
            f"samples by {self.method}). {reach}."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, strings and lists."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        intervals = [list(ends) for ends in self.intervals]
        return fields | {
            "sizes": list(self.sizes),
            "power": list(self.power),
            "intervals": intervals,
        }

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with columns size, power, low and high, one row for each size."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'permtest[frames]'") from None
        low, high = zip(*self.intervals, strict=True)
        return pd.DataFrame({"size": self.sizes, "power": self.power, "low": low, "high": high})

    def _repr_html_(self) -> str:
        style = "style='text-align:left'"
        head = "".join(f"<th {style}>{cell}</th>" for cell in ("pairs", "power", "95% interval"))
        body = "".join(
            f"<tr><td>{size}</td><td>{power:.3f}</td><td>{low:.3f} to {high:.3f}</td></tr>"
            for size, power, (low, high) in zip(self.sizes, self.power, self.intervals, strict=True)
        )
        caption = f"<caption {style}>{escape(str(self))}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# ---- simulated ---------------------------------------------------------------------------------


def power_curve(
    a: Any,
    b: Any = None,
    *,
    test: Test = "exact",
    sizes: int | Sequence[int] = 20,
    experiments: int = 2000,
    method: Method = "bootstrap",
    delta: float | Fraction | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    rng: RNG = None,
    K: int = 1000,
) -> PowerCurve:
    """How the power of a test grows with the number of pairs like these (Alg. 3 and 4).

    Samples of each size are made that look like the data, each is tested, and the power is the
    share of samples that are rejected. It answers how many pairs a next study takes, if systems
    are like these. It says nothing new about the data themselves: where p is small, the power at
    their own size is large.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems on the same items; or one `Pairs`, and None. Where `method` is a
        function both may be None.
    test : str or callable, default "exact"
        As in `pvalues`.
    sizes : int or sequence of int, default 20
        How many sizes, evenly spaced up to N: 5 of 100 pairs are 20, 40, 60, 80 and 100. Or the
        sizes themselves, which may exceed N.
    experiments : int, default 2000
        Number of samples of each size.
    method : {"bootstrap", "normal"} or callable
        "bootstrap" draws pairs with replacement (Alg. 4); "normal" draws differences from the
        normal law that has their mean and their standard deviation (Alg. 3). A function
        ``method(rng, experiments, n)`` returns scores of both systems, of shape (experiments, n).
    delta : float or Fraction, optional
        The true mean difference in the samples: the scores of `a` are shifted, so that the mean
        difference becomes this; 0 makes the curve that of the error rate. Default: as it is.
    alpha : float, default 0.05
        Level of the test; p <= alpha rejects.
    alternative : {"two-sided", "greater", "less"}
    rng : numpy.random.Generator, int or None
        A seed makes the curve reproducible.
    K : int, default 1000
        Number of resamples of the bootstrap tests.

    Returns
    -------
    PowerCurve

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, or an option is unknown or out of range.

    Notes
    -----
    "exact" and "sign" never draw the items of a sample, only how often each difference occurs in
    it; so the cost does not depend on the sizes. 20 sizes of 2 000 samples take about half a
    second for counts such as correct tokens. Exact tests of differences that are no integers, or
    integers above 1 000 once their common divisor is taken out, are made on a lattice: a
    difference goes to one of its two neighbours at random, such that the mean is kept. The unit of
    the lattice, `rounded`, is an eighth of the standard deviation, which adds at most a 256th to
    the variance; or a thousandth of the largest difference, if that is more. Draws from a normal
    law go to the nearest multiple of an eighth.
    Source: NLPStatTest manual, sec. 3.4 and F.2, where power is called the true negative rate by a
    slip.

    Examples
    --------
    >>> from permtest.study.power import power_curve
    >>> new = [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1]
    >>> old = [1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1]
    >>> curve = power_curve(new, old, sizes=[20, 40, 80, 160], rng=0)
    >>> curve.power[0] < 0.3 < 0.9 < curve.power[-1]
    True
    >>> 50 < curve.needed(0.8) < 110
    True
    """
    plan = _Plan.of(test, experiments, alpha, alternative, K)
    if callable(method):
        if delta is not None:
            raise ValueError("delta is for samples that are drawn from scores, not by a function")
        given = None if a is None else PairedSample.of(a, b)
        chosen = _sizes(sizes, None if given is None else given.n)
        return plan.curve(_Drawn(method), chosen, as_generator(rng))
    if method not in ("bootstrap", "normal"):
        raise ValueError(f"method={method!r} must be 'bootstrap', 'normal' or a function")
    sample = PairedSample.of(a, b)
    source: _Source = _Resampled(sample, None if delta is None else as_threshold(delta))
    if method == "normal":
        if sample.n < 2 or np.ptp(sample.differences) == 0:
            raise ValueError("the differences are all equal; a normal law needs some spread")
        mean = sample.mean if delta is None else float(delta)
        source = _Normal(mean, float(sample.differences.std(ddof=1)))
    return plan.curve(source, _sizes(sizes, sample.n), as_generator(rng))


def power_curve_normal(
    delta: float,
    sigma: float,
    n: int | None = None,
    *,
    test: Test = "exact",
    sizes: int | Sequence[int] = 20,
    experiments: int = 2000,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    rng: RNG = None,
    K: int = 1000,
) -> PowerCurve:
    """`power_curve` without any data: for normal differences of known mean and deviation (Alg. 3).

    Parameters
    ----------
    delta : float
        The true mean difference.
    sigma : float
        Standard deviation of the differences.
    n : int, optional
        The largest size; needed where `sizes` is a number.
    test, sizes, experiments, alpha, alternative, rng, K
        As in `power_curve`.

    Returns
    -------
    PowerCurve

    Raises
    ------
    TypeError, ValueError
        If an option is unknown or out of range.

    Examples
    --------
    >>> from permtest.study.power import power_curve_normal
    >>> curve = power_curve_normal(0.1, 0.5, sizes=[100, 200, 300], rng=0)
    >>> 170 < curve.needed(0.8) < 230
    True
    """
    for name, value in (("delta", delta), ("sigma", sigma)):
        if not isfinite(value):
            raise ValueError(f"{name}={value} must be finite")
    if sigma <= 0:
        raise ValueError(f"sigma={sigma} must be above 0")
    plan = _Plan.of(test, experiments, alpha, alternative, K)
    largest_size = None if n is None else check_count(n, "n")
    return plan.curve(_Normal(delta, sigma), _sizes(sizes, largest_size), as_generator(rng))


def power_at(
    differences: Any,
    n: int,
    *,
    counts: Any = None,
    delta: float | Fraction | None = None,
    experiments: int = 2000,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    rng: RNG = None,
) -> float:
    """Power of the exact test at one size: quick enough for a slider.

    Parameters
    ----------
    differences : array_like of shape (U,)
        Differences of scores, as they are, or distinct ones with `counts`.
    n : int
        Number of pairs in a sample.
    counts : array_like of shape (U,), optional
        How often each occurs. Default: once.
    delta : float or Fraction, optional
        The true mean difference; see `power_curve`.
    experiments : int, default 2000
        Number of samples.
    alpha : float, default 0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}
    rng : numpy.random.Generator, int or None

    Returns
    -------
    float
        Share of the samples, drawn with replacement, that the exact test rejects. Its standard
        error is at most ``0.5 / sqrt(experiments)``.

    Raises
    ------
    TypeError, ValueError
        If something is no number, or out of range.

    Notes
    -----
    Some 15 µs a sample, at any n.

    Examples
    --------
    >>> from permtest.study.power import power_at
    >>> 0.55 < power_at([-1, 0, 1], 500, counts=[10, 75, 15], rng=0) < 0.65
    True
    """
    plan = _Plan.of("exact", experiments, alpha, alternative, 1)
    steps, scale = as_scaled(differences, "differences")
    if steps.size == 0:
        raise ValueError("differences are empty; nothing can be drawn from them")
    times = np.ones(steps.size, dtype=np.int64)
    if counts is not None:
        times = _counts(counts, steps.size)
    shift = None if delta is None else as_threshold(delta)
    cells = _Cells.of(steps, times, scale, shift)
    size, generator = check_count(n, "n"), as_generator(rng)
    return plan.rejected(cells.draw("exact"), generator, size) / plan.experiments


def _counts(counts: Any, size: int) -> Ints:
    times, _ = as_scaled(counts, "counts")
    if times.size != size:
        raise ValueError(f"counts has {times.size} elements for {size} differences")
    for i in np.flatnonzero(times < 0)[:1]:
        raise ValueError(f"counts[{i}] = {times[i]} is below 0")
    if not times.any():
        raise ValueError("counts are all 0; nothing can be drawn")
    return times


def _sizes(sizes: int | Sequence[int], n: int | None) -> tuple[int, ...]:
    """The sizes of a curve, ascending."""
    if isinstance(sizes, Iterable):
        chosen = [check_count(size, f"sizes[{i}]") for i, size in enumerate(sizes)]
        if not chosen:
            raise ValueError("sizes is empty; name at least one")
        return tuple(sorted(set(chosen)))
    number = check_count(sizes, "sizes")
    if n is None:
        raise ValueError(f"sizes={number} needs to know the largest size; list the sizes instead")
    evenly = {n * k // number for k in range(1, number + 1)}
    # One pair says nothing about spread; where there are more, the curve begins at two.
    return tuple(sorted(size for size in evenly if size >= min(2, n)))


#: p-values of some samples of one size.
_Sampler: TypeAlias = Callable[[np.random.Generator, int, int, "_Plan"], Floats]


@dataclass(frozen=True)
class _Plan:
    """What is done with each sample."""

    test: Test
    experiments: int
    alpha: float
    alternative: str
    K: int

    @classmethod
    def of(cls, test: Test, experiments: Any, alpha: float, alternative: str, K: int) -> _Plan:
        check_level(alpha)
        check_alternative(alternative)
        if isinstance(test, str) and test not in TESTS:
            raise ValueError(f"test={test!r} is not known; choose one of {', '.join(TESTS)}")
        return cls(test, check_count(experiments, "experiments"), alpha, alternative, K)

    def curve(
        self, source: _Source, sizes: tuple[int, ...], rng: np.random.Generator
    ) -> PowerCurve:
        """The power at each size."""
        sampler = source.sampler(self.test)
        bar = progress(sizes, total=len(sizes), what="power")
        counts = [self.rejected(sampler, rng, size) for size in bar]
        name = self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "test")
        return PowerCurve(
            sizes=sizes,
            power=tuple(count / self.experiments for count in counts),
            intervals=tuple(share_interval(count, self.experiments) for count in counts),
            test=name,
            alpha=self.alpha,
            alternative=self.alternative,
            experiments=self.experiments,
            method=source.name,
            delta=source.delta,
            rounded=source.rounded if self.test == "exact" else 0.0,
        )

    def rejected(self, sampler: _Sampler, rng: np.random.Generator, n: int) -> int:
        """How many samples of n pairs are rejected."""
        return rejections(sampler(rng, self.experiments, n, self), self.alpha)

    def test_rows(self, draw: Draw, rng: np.random.Generator, experiments: int, n: int) -> Floats:
        """p of samples whose items are drawn, some of them at a time."""
        options: dict[str, Any] = {"alternative": self.alternative, "rng": rng, "K": self.K}
        each = max(AT_ONCE // n, 1)
        parts = []
        for start in range(0, experiments, each):
            rows = drawn(draw, rng, min(each, experiments - start), n)
            parts.append(pvalues(self.test, *rows, **options))
        return np.concatenate(parts)


class _Source:
    """Where samples come from."""

    name: str
    delta: float | None = None
    rounded = 0.0

    def sampler(self, test: Test) -> _Sampler:
        """How p-values of samples are made, in the quickest way."""
        raise NotImplementedError


def _by_rows(draw: Draw) -> _Sampler:
    return lambda rng, experiments, n, plan: plan.test_rows(draw, rng, experiments, n)


class _Drawn(_Source):
    """A user's function."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.name = draw, str(getattr(draw, "__name__", "a function"))

    def sampler(self, test: Test) -> _Sampler:
        del test
        return _by_rows(self.draw)


class _Normal(_Source):
    """Normal differences."""

    name = "normal"

    def __init__(self, mean: float, deviation: float) -> None:
        self.mean = self.delta = mean
        self.deviation = deviation
        self.rounded = deviation / PER_DEVIATION

    def sampler(self, test: Test) -> _Sampler:
        if test == "exact":
            return self.cells().draw("exact")
        return _by_rows(self.rows)

    def rows(self, rng: np.random.Generator, experiments: int, n: int) -> tuple[Floats, Floats]:
        d = rng.normal(self.mean, self.deviation, (experiments, n))
        return d, np.zeros_like(d)

    def cells(self) -> _Cells:
        """The law of a draw that is rounded to its nearest cell."""
        from scipy.special import ndtr

        middle = self.mean / self.rounded
        low, high = (round(middle + side * 10 * PER_DEVIATION) for side in (-1, 1))
        values = np.arange(low, high + 1)
        z = (values[:, None] + [-0.5, 0.5] - middle) / PER_DEVIATION
        below = ndtr(z)
        above = ndtr(-z)
        shares = np.where(z[:, 0] < 0, below[:, 1] - below[:, 0], above[:, 0] - above[:, 1])
        return _Cells(values, shares / shares.sum(), self.rounded)


class _Resampled(_Source):
    """Pairs drawn with replacement, perhaps shifted."""

    name = "bootstrap"

    def __init__(self, sample: PairedSample, delta: Fraction | None) -> None:
        self.sample = sample
        self.delta = sample.mean if delta is None else float(delta)
        values, counts = count_values(sample.gaps)
        self.cells = _Cells.of(values, counts, sample.scale, delta)
        mean = _mean(values, counts, sample.scale)
        self.shift = Fraction(0) if delta is None else delta - mean
        self.rounded = self.cells.rounded

    def sampler(self, test: Test) -> _Sampler:
        if test == "exact":
            return self.cells.draw("exact")
        if test == "sign":
            return self.signs().draw("sign")
        return _by_rows(self.differences if test in OF_DIFFERENCES else self.scores)

    def signs(self) -> _Cells:
        moved = self.shifted()
        shares = np.array([np.mean(moved < 0), np.mean(moved == 0), np.mean(moved > 0)])
        return _Cells(np.array([-1, 0, 1]), shares, 0.0)

    def shifted(self) -> NDArray[Any]:
        """The differences, in some unit; each is rounded once at most, so that ties stay."""
        gaps, scale = self.sample.gaps, self.sample.scale
        if self.shift == 0:
            return np.asarray(gaps // (gcd(*gaps.tolist()) or 1))
        moved = [float(Fraction(int(gap), scale) + self.shift) for gap in np.unique(gaps)]
        return np.array(moved)[np.searchsorted(np.unique(gaps), gaps)]

    def differences(
        self, rng: np.random.Generator, experiments: int, n: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        d = self.shifted()[rng.integers(self.sample.n, size=(experiments, n))]
        return d, np.zeros_like(d)

    def scores(
        self, rng: np.random.Generator, experiments: int, n: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        items = rng.integers(self.sample.n, size=(experiments, n))
        if self.shift == 0 and self.sample.pairs.scale == 1:
            return self.sample.pairs.u[items], self.sample.pairs.v[items]
        return self.sample.a[items] + float(self.shift), self.sample.b[items]


def _mean(steps: NDArray[Any], counts: Ints, scale: int) -> Fraction:
    pairs = zip(steps.tolist(), counts.tolist(), strict=True)
    return Fraction(sum(d * c for d, c in pairs), scale * int(counts.sum()))


@dataclass(frozen=True, eq=False)
class _Cells:
    """A law of differences: integers, and how probable each is.

    `rounded` is the unit that they are rounded to, in scores; 0 where they are not.
    """

    values: Ints
    shares: Floats
    rounded: float

    @classmethod
    def of(cls, steps: NDArray[Any], counts: Ints, scale: int, delta: Fraction | None) -> _Cells:
        """The law of one of `steps` / `scale`, of which there are `counts`, shifted to `delta`."""
        steps, counts = steps[counts > 0], counts[counts > 0]
        shift = Fraction(0) if delta is None else delta - _mean(steps, counts, scale)
        whole = [int(d) * shift.denominator + int(shift.numerator * scale) for d in steps]
        unit = gcd(*whole) or 1
        shares = counts / int(counts.sum())
        if max(map(abs, whole)) <= FINEST * unit:
            return cls._merged(np.array([d // unit for d in whole]), shares, 0.0)
        total = scale * shift.denominator
        x = np.array([float(Fraction(d, total)) for d in whole])
        spread = sqrt(float(shares @ (x - shares @ x) ** 2))
        step = max(spread / PER_DEVIATION, float(np.abs(x).max()) / FINEST)
        low = np.floor(x / step)
        upper = x / step - low
        values = np.concatenate([low, low + 1]).astype(np.int64)
        return cls._merged(values, np.concatenate([shares * (1 - upper), shares * upper]), step)

    @classmethod
    def _merged(cls, values: Ints, shares: Floats, rounded: float) -> _Cells:
        """Equal values are added up, and those without mass left out."""
        distinct, where = np.unique(values, return_inverse=True)
        total = np.bincount(where.ravel(), shares)
        there = total > 0
        return cls(distinct[there], total[there] / total.sum(), rounded)

    def draw(self, test: str) -> _Sampler:
        """p-values of samples that are known by how often each value occurs."""
        return partial(self._pvalues, test)

    def _pvalues(
        self, test: str, rng: np.random.Generator, experiments: int, n: int, plan: _Plan
    ) -> Floats:
        counts = rng.multinomial(n, self.shares, size=experiments)
        if test == "sign":
            return binomial_pvalues(counts[:, 2], counts[:, 0], plan.alternative)
        p, open_ones = self._bounds(counts, plan)
        p[open_ones] = law_pvalues(self.values, counts[open_ones], plan.alternative)
        return p

    def _bounds(self, counts: Ints, plan: _Plan) -> tuple[Floats, NDArray[np.bool_]]:
        """Bounds of p that are on one side of alpha as p is, and for which samples there are none.

        With z^2 the square of the sum over the sum of squares, the tail of a sum with random signs
        is at most exp(-z^2 / 2) (Hoeffding), and both tails are at least (1 - z^2)^2 / 3 for z < 1
        (Paley and Zygmund, as the fourth moment is at most three times the squared variance).
        """
        lead, squares = counts @ self.values, counts @ self.values**2
        z2 = lead.astype(np.float64) ** 2 / np.maximum(squares, 1)
        two = plan.alternative == "two-sided"
        along = lead > 0 if plan.alternative == "greater" else lead < 0
        small = np.where(along | two, (2 if two else 1) * np.exp(-np.minimum(z2, 700.0) / 2), 1.0)
        large = np.maximum(1.0 - z2, 0.0) ** 2 / (3 if two else 6)
        large = np.where(along | two, large, 0.5)
        below, above = small <= plan.alpha, large > plan.alpha * (1 + 2 * ROUNDING)
        return np.where(below, small, large), ~(below | above)
