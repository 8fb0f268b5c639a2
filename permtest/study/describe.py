"""What two systems' scores look like, and in what units they are tested."""

from __future__ import annotations

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
from permtest.scores import Scores

#: What differences are called by their skewness, below the first limit, the second, and beyond
#: (NLPStatTest manual, C.2).
SHAPES, LIMITS = ("symmetric", "slightly skewed", "highly skewed"), (registry.SYMMETRIC_BELOW, 1.0)

#: Sizes of units that are tried, units that the largest leaves, and sizes that are called stable.
LARGEST_SIZE, FEWEST_UNITS, STABLE = 100, 5, 10


@dataclass(frozen=True)
class Summary(Shown):
    """A column of scores, or of differences: sd with n - 1, quartiles as NumPy's, skewness g1."""

    mean: float
    median: float
    sd: float
    minimum: float
    lower_quartile: float
    upper_quartile: float
    maximum: float
    skewness: float


def _summary(column: IntArray, scale: int) -> Summary:
    values = registry.as_floats(column, scale)
    low, lower, median, upper, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    g1, sd = skewness(*np.unique(column, return_counts=True)), deviation(column, scale)
    return Summary(float(values.mean()), median, sd, low, lower, upper, high, g1)


def deviation(column: IntArray, scale: int) -> float:
    """The standard deviation (n - 1) of integers over a scale; NaN of a single one."""
    if column.size < 2:
        return nan
    return float(registry.as_floats(with_room(column) - int(column[0]), scale).std(ddof=1))


@dataclass(frozen=True)
class Description(Shown):
    """Two systems' scores as `describe` finds them."""

    names: tuple[str, str]
    n: int
    n_zeros: int
    n_tied: int
    a: Summary
    b: Summary
    difference: Summary
    correlation: float
    alpha: float
    shapiro_w: float
    shapiro_p: float
    normal: bool | None
    shape: str
    test_statistic: str

    def __str__(self) -> str:
        (a, b), d = self.names, self.difference
        normal = f"{'' if self.normal else 'not '}normal by Shapiro and Wilk's test (p = "
        normal += f"{self.shapiro_p:.3g})"
        normal = "too few to tell whether they are normal" if self.normal is None else normal
        spread = number(d.sd, 4) if isfinite(d.sd) else "unknown"
        related = f"r12 = {self.correlation:.3g}" if isfinite(self.correlation) else "no r12"
        return (
            f"{a} minus {b}, {counted(self.n, 'pairs')}, of which {self.n_zeros} do not differ: "
            f"mean {number(d.mean, 4)}, standard deviation {spread}; {related}. The "
            f"differences are {self.shape} (skewness {d.skewness:.2f}) and {normal}."
        )


def describe(
    a: Any, b: Any = None, *, alpha: float = 0.05, names: registry.Names = None
) -> Description:
    """Describe two systems' scores on the same items, and their differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, floats as the decimals that they are printed as; or `Scores`, None.
    alpha : float, default 0.05
        Level of the test of normality, in (0, 1).
    names : tuple of two str, optional
        The names of the two systems.

    Returns
    -------
    Description
        `n` pairs, of which `n_zeros` do not differ, and `n_tied` differ by as much as another pair;
        `a`, `b` and `difference`, each with `mean`, `median`, `sd`, `minimum`, `lower_quartile`,
        `upper_quartile`, `maximum` and `skewness`; the `correlation` r12 of both systems' scores
        (NaN where one is constant). `shapiro_w` and `shapiro_p` are of Shapiro and Wilk's test of
        the differences, of more than 5 000 of every k-th in order; `normal` says whether p is at
        least `alpha`, None if there is none. `shape` says how skewed they are, "symmetric" (below
        0.5), "slightly skewed" (below 1) or "highly skewed", and `test_statistic` what the manual
        would test for it, "mean" if they are symmetric, or "median".

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, or there are none.

    Notes
    -----
    Source: NLPStatTest manual, 3.1.2 and C.2 to C.4. O(N log N).

    Examples
    --------
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.difference.mean, found.shape, found.n_zeros, found.n_tied
    (1.4, 'symmetric', 1, 2)
    """
    check_level(alpha)
    scores = registry.scores_of(a, b, names)
    d = scores.differences()
    times = np.unique(np.abs(d[d != 0]), return_counts=True)[1]
    pairs = scores.names, len(scores), int(np.sum(d == 0)), int(times[times > 1].sum())
    first, second, gap = (_summary(x, scores.scale) for x in (scores.u, scores.v, d))
    skewed = sum(abs(gap.skewness) >= limit for limit in LIMITS)
    looks = SHAPES[skewed], "median" if skewed else "mean"
    w, p = registry.shapiro(registry.as_floats(with_room(d) - int(d[0]), scores.scale))
    normal = p >= alpha if isfinite(p) else None
    related = registry.correlation(scores)
    return Description(*pairs, first, second, gap, related, alpha, w, p, normal, *looks)


# ---- units of several items ---------------------------------------------------------------------


def evaluation_units(a: Any, b: Any, size: int, *, metric: str = "mean", rng: RNG = None) -> Scores:
    """Combine so many successive items into a unit with a single score.

    Parameters
    ----------
    a, b
        As in `describe`.
    size : int
        Items in a unit, from 1 to N.
    metric : {"mean", "median"}, default "mean"
        Of the scores of each system in the unit.
    rng : numpy.random.Generator, int or None, default None
        Shuffles the items first, those of both systems alike; None leaves them in their order.

    Returns
    -------
    Scores
        One for each unit, exact, so units that tie still tie. Items too few for another unit are in
        none: their numbers are in ``source["left_out"]``. Only if there are none is the mean
        difference of the units that of the items.

    Notes
    -----
    Source: NLPStatTest manual, 3.1.1.

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
    source = {**scores.source, "unit": f"the {metric} of {size} items"}
    source["left_out"] = sorted(left_out.tolist())
    sums = [x[:, middle].sum(axis=1) for x in ordered]
    scale = scores.scale * parts
    return replace(
        scores, arrays=sums, scale=scale, source=source, ids=None, tolerance=None, runs=None
    )


def unit_sizes(
    a: Any,
    b: Any = None,
    *,
    metric: str = "mean",
    rng: RNG = None,
    tolerance: float | None = None,
) -> list[dict[str, Any]]:
    """How the standard deviation of the differences of units depends on the size of a unit.

    Sizes from 1 to 100 are tried, but to N / 5 at most.

    Parameters
    ----------
    a, b
        As in `describe`; at least 2 pairs.
    metric, rng
        As in `evaluation_units`; the items are shuffled once for all sizes.
    tolerance : float, optional
        How far apart the deviations of a size and the next may be. Default: 1% of the first one.

    Returns
    -------
    list of dict
        A row for each size: "size", "units" (their number), "sd" (the standard deviation of the
        differences of units, with n - 1), and "stable", whether that is within `tolerance` of the
        one before; of stable sizes the first ten are marked.

    Notes
    -----
    Source: NLPStatTest manual, C.1. The deviation of means of m independent items always falls with
    the root of m, so the tolerance alone decides which size is stable.

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> for row in unit_sizes([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8]):
    ...     print(row["size"], row["units"], round(row["sd"], 3), row["stable"])
    1 10 3.91 False
    2 5 1.754 False
    """
    scores = registry.scores_of(a, b, least=2)
    seed = None if rng is None else int(as_generator(rng).integers(2**63))
    rows: list[dict[str, Any]] = []
    for size in range(1, max(min(len(scores) // FEWEST_UNITS, LARGEST_SIZE), 1) + 1):
        units = evaluation_units(scores, None, size, metric=metric, rng=seed)
        sd = deviation(units.differences(), units.scale)
        rows.append({"size": size, "units": len(units), "sd": sd, "stable": False})
    sds = [row["sd"] for row in rows]
    tolerance = 0.01 * sds[0] if tolerance is None else check_finite(tolerance, "tolerance")
    for i in np.flatnonzero(np.abs(np.diff(sds)) <= tolerance)[:STABLE].tolist():
        rows[i + 1]["stable"] = True
    return rows
