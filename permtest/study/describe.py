"""What two systems' scores look like, and in what units they are tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np

from permtest._checks import check_count, check_finite, check_level, check_option
from permtest._parallel import RNG, as_generator
from permtest._text import Shown, counted, number
from permtest.alternatives import registry
from permtest.integers import IntArray, with_room
from permtest.interval import skewness
from permtest.scores import Scores

#: From which skewness on differences count as highly skewed (NLPStatTest manual, C.2).
HIGHLY_SKEWED = 1.0

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
    a: Summary
    b: Summary
    difference: Summary
    alpha: float
    shapiro_w: float
    shapiro_p: float
    correlation: float
    n_zeros: int
    n_tied: int

    @property
    def shape(self) -> str:
        """Either "symmetric" (skewness below 0.5), "slightly skewed" (below 1), "highly skewed"."""
        steps = np.abs(self.difference.skewness) >= (registry.SYMMETRIC_BELOW, HIGHLY_SKEWED)
        return ("symmetric", "slightly skewed", "highly skewed")[steps.sum()]

    @property
    def normal(self) -> bool | None:
        """Whether Shapiro and Wilk's p is at least `alpha`; None where there is none."""
        return self.shapiro_p >= self.alpha if isfinite(self.shapiro_p) else None

    @property
    def test_statistic(self) -> str:
        """What the manual would have tested: "mean" of symmetric differences, else "median"."""
        return "mean" if self.shape == "symmetric" else "median"

    def rows(self) -> list[dict[str, Any]]:
        """All fields and what they mean: one row."""
        meaning = ("shape", "normal", "test_statistic")
        return [super().rows()[0] | {name: getattr(self, name) for name in meaning}]

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
    a: Any, b: Any = None, *, alpha: float = 0.05, names: tuple[str, str] | None = None
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
        least `alpha`. `shape` says how skewed they are, and `test_statistic` what the manual would
        test for it, "mean" or "median".

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
    d, scale = scores.differences(), scores.scale
    sizes = np.unique(np.abs(d[d != 0]), return_counts=True)[1]
    w, p = registry.shapiro(registry.as_floats(with_room(d) - int(d[0]), scale))
    first, second, gap = (_summary(x, scale) for x in (scores.u, scores.v, d))
    ties = int(np.sum(d == 0)), int(sizes[sizes > 1].sum())
    facts = scores.names, len(scores), first, second, gap, alpha, w, p
    return Description(*facts, registry.correlation(scores), *ties)


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

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, or an option is unknown or out of range.

    Returns
    -------
    Scores
        One for each unit. Items too few for another unit are in none: their numbers are in
        ``source["left_out"]``.

    Notes
    -----
    Scores of units are exact, so units that tie still tie. Their mean difference equals the items'
    only if no item is left out. Source: NLPStatTest manual, 3.1.1.

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
    parts = 2 if metric == "median" else size  # by which integers are divided, beside their scale

    def in_units(column: IntArray) -> IntArray:
        x = with_room(column[used], parts).reshape(-1, size)
        if metric == "mean":
            return np.asarray(x.sum(axis=1))
        x = np.sort(x, axis=1)
        return x[:, (size - 1) // 2] + x[:, size // 2]

    source = {**scores.source, "unit": f"the {metric} of {size} items"}
    source["left_out"] = sorted(left_out.tolist())
    how: dict[str, Any] = {"score": scores.score, "higher_is_better": scores.higher_is_better}
    columns = [in_units(x) for x in scores.arrays]
    return Scores(columns, scores.systems, scores.scale * parts, source=source, **how)


def unit_sizes(
    a: Any,
    b: Any = None,
    sizes: Sequence[int] | None = None,
    *,
    metric: str = "mean",
    rng: RNG = None,
    tolerance: float | None = None,
) -> list[dict[str, Any]]:
    """How the standard deviation of the differences of units depends on the size of a unit.

    Parameters
    ----------
    a, b
        As in `describe`; at least 2 pairs.
    sizes : sequence of int, optional
        Sizes to try, ascending, from 1 to N / 2. Default: from 1 to 100, but to N / 5 at most.
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
    >>> for row in unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 2, 4]):
    ...     print(row["size"], row["units"], round(row["sd"], 3), row["stable"])
    1 8 3.882 False
    2 4 2.021 False
    4 2 2.121 False
    """
    scores = registry.scores_of(a, b, least=2)
    n = len(scores)
    if sizes is None:
        sizes = range(1, max(min(n // FEWEST_UNITS, LARGEST_SIZE), 1) + 1)
    why = f"there are {n} items"
    tried = [check_count(x, f"sizes[{i}]", 1, n // 2, why) for i, x in enumerate(sizes)]
    if not tried or tried != sorted(set(tried)):
        raise ValueError(f"sizes={tried} must ascend, and have one size at least")
    seed = None if rng is None else int(as_generator(rng).integers(2**63))
    units = [evaluation_units(scores, None, size, metric=metric, rng=seed) for size in tried]
    sds = [deviation(some.differences(), some.scale) for some in units]
    tolerance = 0.01 * sds[0] if tolerance is None else check_finite(tolerance, "tolerance")
    stable = np.abs(np.diff(sds, prepend=np.inf)) <= tolerance
    stable &= np.cumsum(stable) <= STABLE
    rows = zip(tried, map(len, units), sds, stable.tolist(), strict=True)
    return [dict(zip(("size", "units", "sd", "stable"), row, strict=True)) for row in rows]
