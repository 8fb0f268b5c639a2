"""What two systems' scores look like, and in what units they are tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from permtest._errors import check_count, check_finite, check_level, check_option
from permtest._random import RNG, as_generator
from permtest._text import Shown, counted, number
from permtest.alternatives import registry
from permtest.integers import IntArray, with_room
from permtest.interval import skewness
from permtest.null.distribution import count_values
from permtest.scores import Scores

#: What differences are called by their skewness, below each limit and beyond (manual, C.2).
SHAPES, LIMITS = ("symmetric", "slightly skewed", "highly skewed"), (registry.SYMMETRIC_BELOW, 1.0)
QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
#: Sizes of units that are tried, units that the largest leaves, and sizes that are called stable.
LARGEST_SIZE, FEWEST_UNITS, STABLE = 100, 5, 10


@dataclass(frozen=True)
class Description(Shown):
    """Two systems' scores as `describe` finds them.

    `n` pairs, of which `n_zeros` do not differ; `a`, `b` and `difference`, each with "mean", "sd"
    (with n - 1), "minimum", "lower_quartile", "median", "upper_quartile", "maximum" and "skewness"
    (g1); the `correlation` r12 (NaN where a system's scores are constant). `shapiro_p` is of
    Shapiro and Wilk's test of the differences, of more than 5 000 of every k-th in order; `normal`
    says whether it is at least `alpha`, None if there is none. `shape` is "symmetric" (skewness
    below 0.5), "slightly skewed" (below 1) or "highly skewed", and `test_statistic` what the manual
    then tests, "mean" if symmetric, or "median".
    """

    names: tuple[str, str]
    n: int
    n_zeros: int
    a: Mapping[str, float]
    b: Mapping[str, float]
    difference: Mapping[str, float]
    correlation: float
    shapiro_p: float
    normal: bool | None
    shape: str
    test_statistic: str

    @property
    def look(self) -> str:
        """What the differences look like, by skewness and a test of normality."""
        normal = f"{'' if self.normal else 'not '}normal (Shapiro-Wilk p = {self.shapiro_p:.3g})"
        if self.normal is None:
            normal = "too few to tell whether they are normal"
        return f"{self.shape} (skewness {self.difference['skewness']:.2f}) and {normal}"

    def __str__(self) -> str:
        d = self.difference
        found = {"mean": d["mean"], "standard deviation": d["sd"], "r12": self.correlation}
        known = ", ".join(f"{what} {number(x, 4)}" for what, x in found.items() if isfinite(x))
        return (
            f"{' minus '.join(self.names)}, {counted(self.n, 'pairs')}, of which {self.n_zeros} do "
            f"not differ: {known}. The differences are {self.look}."
        )


def describe(
    a: Any, b: Any = None, *, alpha: float = 0.05, names: registry.Names = None
) -> Description:
    """Describe two systems' scores and their differences (NLPStatTest manual, 3.1.2, C.2 to C.4).

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, floats as the decimals that they are printed as; or `Scores`, None.
    alpha : float, default 0.05
        Level of the test of normality, in (0, 1).
    names : tuple of two str, optional
        The names of the two systems.

    Examples
    --------
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.difference["mean"], found.shape, found.n_zeros
    (1.4, 'symmetric', 1)
    """
    check_level(alpha)
    scores = registry.scores_of(a, b, names)
    d = scores.differences()
    first, second, gap = (_summary(x, scores.scale) for x in (scores.u, scores.v, d))
    skewed = sum(abs(gap["skewness"]) >= limit for limit in LIMITS)
    shape, statistic = SHAPES[skewed], "median" if skewed else "mean"
    p = registry.shapiro(registry.from_first(d, scores.scale))
    normal, related = p >= alpha if isfinite(p) else None, registry.correlation(scores)
    pairs = scores.names, len(scores), int(np.sum(d == 0)), first, second, gap
    return Description(*pairs, related, p, normal, shape, statistic)


def _summary(column: IntArray, scale: int) -> dict[str, float]:
    values = registry.as_floats(column, scale)
    quartiles = zip(QUARTILES, np.quantile(values, np.arange(5) / 4).tolist(), strict=True)
    found = {"mean": float(values.mean()), "sd": deviation(column, scale), **dict(quartiles)}
    return found | {"skewness": skewness(*count_values(column))}


def deviation(column: IntArray, scale: int) -> float:
    """The standard deviation (n - 1) of integers over a scale; NaN of a single one."""
    return float(registry.from_first(column, scale).std(ddof=1)) if column.size > 1 else nan


def evaluation_units(a: Any, b: Any, size: int, *, metric: str = "mean", rng: RNG = None) -> Scores:
    """Combine so many successive items into a unit with a single score (NLPStatTest manual, 3.1.1).

    The `Scores` of units are exact, so those that tie still tie. ``source["left_out"]`` has the
    items that are too few for another unit.

    Parameters
    ----------
    a, b : as in `describe`
    size : int
        Items in a unit, from 1 to N. The mean difference is that of items if none is left out.
    metric : {"mean", "median"}, default "mean"
        Of the scores of each system in the unit.
    rng : numpy.random.Generator, int or None, default None
        Shuffles the items first, those of both systems alike; None leaves them in their order.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], 2)
    >>> (units.u / units.scale).tolist(), units.source["left_out"]
    ([0.5, 1.0], [4])
    """
    scores = registry.scores_of(a, b)
    n = len(scores)
    size = check_count(size, "size", most=n, why=f"there are {n} items")
    check_option("metric", metric, ("mean", "median"))
    order = np.arange(n) if rng is None else as_generator(rng).permutation(n)
    used, left_out = np.split(order, [n - n % size])
    middle = [(size - 1) // 2, size // 2] if metric == "median" else slice(None)
    parts = 2 if metric == "median" else size  # which are added, and not yet divided by
    ordered = [np.sort(with_room(x[used], parts).reshape(-1, size)) for x in scores.arrays]
    sums, left = [x[:, middle].sum(axis=1) for x in ordered], sorted(left_out.tolist())
    source = {**scores.source, "unit": f"the {metric} of {size} items", "left_out": left}
    new: dict[str, Any] = {"ids": None, "tolerance": None, "runs": None, "source": source}
    return replace(scores, arrays=sums, scale=scores.scale * parts, **new)


def unit_sizes(
    a: Any, b: Any = None, *, metric: str = "mean", rng: RNG = None, tolerance: float | None = None
) -> list[dict[str, Any]]:
    """The standard deviation of differences by the size of units, from 1 to 100 items, or N / 5.

    A row for each size has the "size", "units" (their number), "sd" (of their differences), and
    "stable", whether that is within `tolerance` of the one before, of the first ten such sizes
    (NLPStatTest manual, C.1). The deviation of means of m independent items falls with the root of
    m, so the tolerance alone decides which size is stable.

    Parameters
    ----------
    a, b : as in `describe`, at least 2 pairs
    metric, rng : as in `evaluation_units`
        The items are shuffled once for all sizes.
    tolerance : float, optional
        How far apart the deviations of a size and the next may be. Default: 1% of the first one.

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> rows = unit_sizes([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8])
    >>> [(row["size"], row["units"], round(row["sd"], 3), row["stable"]) for row in rows]
    [(1, 10, 3.91, False), (2, 5, 1.754, False)]
    """
    scores = registry.scores_of(a, b, least=2)
    seed = None if rng is None else int(as_generator(rng).integers(2**63))
    sizes = range(1, max(min(len(scores) // FEWEST_UNITS, LARGEST_SIZE), 1) + 1)
    units = [evaluation_units(scores, None, size, metric=metric, rng=seed) for size in sizes]
    sds = [deviation(x.differences(), x.scale) for x in units]
    tolerance = 0.01 * sds[0] if tolerance is None else check_finite(tolerance, "tolerance")
    stable = np.flatnonzero(np.abs(np.diff(sds)) <= tolerance)[:STABLE] + 2
    return [
        {"size": size, "units": len(x), "sd": sd, "stable": size in stable}
        for size, x, sd in zip(sizes, units, sds, strict=True)
    ]
