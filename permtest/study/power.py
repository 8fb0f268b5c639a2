"""Power: how probable it is that a test finds a difference that is there.

Power is the true positive rate: the share of samples for which a test rejects a null hypothesis
that is false. `power_curve` simulates it from the data at hand, `power_curve_normal` from a normal
law; `exact_power` adds it up for scores that are 0 or 1, where nothing has to be simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_above_zero, check_count, check_finite, check_level
from permtest._html import grid, said, together
from permtest._json import AsJson
from permtest._optional import pandas
from permtest._rng import RNG, as_generator
from permtest.alternatives.names import TITLES
from permtest.alternatives.sample import PairedSample, as_threshold, check_magnitude
from permtest.decimals import as_scaled
from permtest.study.cells import Cells
from permtest.study.limits import MOST_SIZES
from permtest.study.simulation import Draw, Test, share_interval
from permtest.study.sources import Drawn, Normal, Plan, Resampled, Source

if TYPE_CHECKING:
    import pandas as pd

#: Where the samples come from.
METHODS = ("bootstrap", "normal")
Method: TypeAlias = "Literal['bootstrap', 'normal'] | Draw"

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class PowerCurve(AsJson):
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

    Examples
    --------
    >>> from permtest.study import power_curve
    >>> new = [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1]
    >>> old = [1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1]
    >>> curve = power_curve(new, old, test="sign", sizes=[20, 80], experiments=500, rng=0)
    >>> curve.sizes, curve.power[0] < 0.5 < curve.power[1]
    ((20, 80), True)
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
        check_level(power, "power")
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

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with columns size, power, low and high, one row for each size."""
        low, high = zip(*self.intervals, strict=True)
        return pandas().DataFrame(
            {"size": self.sizes, "power": self.power, "low": low, "high": high}
        )

    def _repr_html_(self) -> str:
        rows = (
            (str(size), f"{power:.3f}", f"{low:.3f} to {high:.3f}")
            for size, power, (low, high) in zip(self.sizes, self.power, self.intervals, strict=True)
        )
        return together(said(str(self)), grid(("pairs", "power", "95% interval"), rows))


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
        sizes themselves, which may exceed N: up to ten million, or 10^9 for "exact" and "sign".
    experiments : int, default 2000
        Number of samples of each size, up to a million.
    method : {"bootstrap", "normal"} or callable
        "bootstrap" draws pairs with replacement (Alg. 4); "normal" draws differences from the
        normal law that has their mean and their standard deviation (Alg. 3). A function
        ``method(rng, experiments, n)`` returns scores of both systems, of shape (experiments, n).
    delta : float or Fraction, optional
        The true mean difference in the samples: the scores of `a` are shifted, so that the mean
        difference becomes this; 0 makes the curve that of the error rate. Only for tests of the
        mean, and functions. Default: as it is.
    alpha : float, default 0.05
        Level of the test; p <= alpha rejects.
    alternative : {"two-sided", "greater", "less"}
    rng : numpy.random.Generator, int or None
        A seed makes the curve reproducible, whatever the number of workers.
    K : int, default 1000
        Number of resamples of the bootstrap tests.

    Returns
    -------
    PowerCurve

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, an option is unknown or out of range, or
        `delta` is given to a test of something else than the mean.

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

    Samples are drawn and tested in parts, each with random numbers of its own, by threads, or by
    the workers of ``joblib.parallel_config``: the curve is the same. Functions of yours are called
    one after the other unless joblib has workers.

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
    plan = Plan.of(test, experiments, alpha, alternative, K)
    if delta is not None:
        plan.check_delta()
    if callable(method):
        if delta is not None:
            raise ValueError("delta is for samples that are drawn from scores, not by a function")
        given = None if a is None else PairedSample.of(a, b)
        chosen = _sizes(sizes, None if given is None else given.n, plan.most)
        return _curve(plan, Drawn(method), chosen, as_generator(rng))
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be 'bootstrap', 'normal' or a function")
    sample = PairedSample.of(a, b)
    check_magnitude((sample.pairs.u, sample.pairs.v), sample.pairs.scale, "ab")
    true = None if delta is None else as_threshold(delta)
    chosen = _sizes(sizes, sample.n, plan.most)
    source = Resampled(sample, true) if method == "bootstrap" else _normal(sample, true)
    return _curve(plan, source, chosen, as_generator(rng))


def _normal(sample: PairedSample, delta: Fraction | None) -> Source:
    """The normal law that has the mean and the standard deviation of the differences."""
    if sample.n < 2 or sample.deviation == 0:
        raise ValueError("the differences are all equal; a normal law needs some spread")
    return Normal(sample.mean if delta is None else float(delta), sample.deviation)


def _curve(
    plan: Plan, source: Source, sizes: tuple[int, ...], rng: np.random.Generator
) -> PowerCurve:
    """The power at each size."""
    counts = plan.rejected(source.sampler(plan), sizes, rng)
    return PowerCurve(
        sizes=sizes,
        power=tuple(count / plan.experiments for count in counts),
        intervals=tuple(share_interval(count, plan.experiments) for count in counts),
        test=plan.name,
        alpha=plan.alpha,
        alternative=plan.alternative,
        experiments=plan.experiments,
        method=source.name,
        delta=source.delta,
        rounded=source.rounded if plan.test == "exact" else 0.0,
    )


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
    source = Normal(check_finite(delta, "delta"), check_above_zero(sigma, "sigma"))
    plan = Plan.of(test, experiments, alpha, alternative, K)
    largest_size = None if n is None else check_count(n, "n")
    return _curve(plan, source, _sizes(sizes, largest_size, plan.most), as_generator(rng))


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
        Number of pairs in a sample, up to 10^9.
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
    plan = Plan.of("exact", experiments, alpha, alternative, 1)
    size = _size(n, "n", plan.most)
    steps, scale = as_scaled(differences, "differences")
    if steps.size == 0:
        raise ValueError("differences are empty; nothing can be drawn from them")
    times = np.ones(steps.size, dtype=np.int64)
    if counts is not None:
        times = _counts(counts, steps.size)
    shift = None if delta is None else as_threshold(delta)
    cells = Cells.of(steps, times, scale, shift)
    return sum(plan.rejected(cells, (size,), as_generator(rng))) / plan.experiments


def _counts(counts: Any, size: int) -> Ints:
    times, _ = as_scaled(counts, "counts")
    if times.size != size:
        raise ValueError(f"counts has {times.size} elements for {size} differences")
    for i in np.flatnonzero(times < 0)[:1]:
        raise ValueError(f"counts[{i}] = {times[i]} is below 0")
    if not times.any():
        raise ValueError("counts are all 0; nothing can be drawn")
    return times


def _sizes(sizes: int | Sequence[int], n: int | None, most: int) -> tuple[int, ...]:
    """The sizes of a curve, ascending."""
    if isinstance(sizes, Iterable):
        listed = list(sizes)
        if not listed:
            raise ValueError("sizes is empty; name at least one")
        if len(listed) > MOST_SIZES:
            raise ValueError(
                f"sizes has {len(listed)} elements, more than {MOST_SIZES:,}; name fewer"
            )
        return tuple(sorted({_size(x, f"sizes[{i}]", most) for i, x in enumerate(listed)}))
    number = check_count(sizes, "sizes", most=MOST_SIZES, why="list the size that you mean, [n]")
    if n is None:
        raise ValueError(f"sizes={number} needs to know the largest size; list the sizes instead")
    evenly = {_size(n, "n", most) * k // number for k in range(1, number + 1)}
    # One pair says nothing about spread; where there are more, the curve begins at two.
    return tuple(sorted(size for size in evenly if size >= min(2, n)))


def _size(value: Any, name: str, most: int) -> int:
    """A number of pairs in a sample."""
    why = "a simulation takes no larger samples; power_t and exact_power have formulas"
    return check_count(value, name, most=most, why=why)
