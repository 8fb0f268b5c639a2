"""Folds of a cross-validation: counts, what these are worth, a test of scores, and making folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p, nan
from typing import Any, ClassVar

import numpy as np

from permtest._errors import check_count, check_finite, check_option
from permtest._random import RNG, as_generator
from permtest.alternatives.means import of_mean
from permtest.alternatives.registry import AlternativeResult, Array, Floats
from permtest.scores import COUNTS
from permtest.statistics import STATISTICS, Alternative, Statistic

#: Metrics whose hits and misses are sums of columns, and the columns.
METRICS = {name: STATISTICS[name] for name in ("precision", "recall", "f1")}
METRICS["accuracy"] = Statistic("accuracy", "accuracy", hits=(1, 0, 0), misses=(0, 1, 0))
COLUMNS = dict.fromkeys(METRICS, COUNTS) | {"accuracy": ("correct", "wrong")}
#: The largest count, as tails of Beta variables lose their digits with larger ones.
LARGEST = 1e10


def as_counts(counts: Any, metric: str, name: str = "counts") -> Floats:
    """Counts of shape (folds, columns), of an array, a frame or a mapping; `name` is for errors."""
    check_option("metric", metric, METRICS)
    columns = COLUMNS[metric]
    if any(isinstance(key, str) for key in getattr(counts, "keys", tuple)()):
        counts = np.stack([np.atleast_1d(counts[column]) for column in columns], axis=-1)
    table = np.atleast_2d(np.ma.asarray(counts, dtype=np.float64).filled(nan))
    if table.ndim > 2 or not table.size or table.shape[1] != len(columns):
        needs = f"(folds, {len(columns)}: {', '.join(columns)})"
        raise ValueError(f"{name} must have shape {needs}, got {np.shape(counts)}")
    for fold, k in np.argwhere(~((table >= 0) & (table <= LARGEST)))[:1]:
        cell = f"{columns[k]} = {table[fold, k]:g}"
        raise ValueError(f"{name}[{fold}] has {cell}; counts are numbers from 0 to {LARGEST:g}")
    return np.asarray(table)


def as_weight(weight: float | None, n_folds: int) -> float:
    """A weight that was given, or that by design: 1, or `block_weight` for 2, 4, 6, ... folds."""
    if weight is None and n_folds > 1:
        if n_folds % 2:
            what = f"{n_folds} rows are not the folds of an m x 2 cross-validation"
            raise ValueError(f"{what}; pass weight=, which is 1 for rows of sentences")
        return block_weight(n_folds // 2)
    share = 1.0 if weight is None else check_finite(weight, "weight")
    if not 0 < share <= 1:
        raise ValueError(f"weight={weight} must lie in (0, 1]; 1 uses all counts in full")
    return share


def block_weight(m: int = 3, *, rho: tuple[float, float] | None = None) -> float:
    """The effective share of the summed counts of an m x 2 cross-validation, as its folds overlap.

    Parameters
    ----------
    m : int, default 3
        Number of partitions, of two folds each.
    rho : tuple of two float, optional
        Correlation of the two folds of one partition, and of folds of different partitions.
        Default: the average over 0 <= rho1 <= 1/2 and 1/4 <= rho2 <= 1/2, all equally likely.

    Notes
    -----
    It is 1 / (1 + rho1 + 2 (m - 1) rho2), or the average of that, which has a closed form. With
    rho = (1, 1) it is 1 / (2 m): all folds together are worth one. Source: Wang and Li (2019),
    Eq. 14 and 22, which print 0.3688 for m = 3; for other m their variance carried over.

    Examples
    --------
    >>> from permtest.alternatives import block_weight
    >>> round(block_weight(3), 10), round(block_weight(3, rho=(0.5, 0.5)), 4)
    (0.3688021103, 0.2857)
    """
    c = 2 * (check_count(m, "m") - 1)
    if rho is not None:
        return 1 / (1 + rho[0] + c * rho[1])

    def step(x: float) -> float:
        """h(x + 1/2) - h(x) + 1/2 for h(x) = x log x - x, without cancellation."""
        return 0.5 * log(x) + (x + 0.5) * log1p(0.5 / x)

    return 8 / c * (step(1 + c / 2) - step(1 + c / 4)) if c else 2 * log(1.5)


def corrected_resampled_t(
    a: Any, b: Any, *, alternative: Alternative = "two-sided"
) -> AlternativeResult:
    """t-test of fold scores whose variance allows for training sets that overlap.

    The variance of the mean of J differences with the sample variance s^2 is taken for
    ``(1 / J + 1 / (K - 1)) s^2``. That of `paired_t`, ``s^2 / J``, is too small for such folds.

    Parameters
    ----------
    a, b : array_like of shape (K,) or (r, K)
        Scores of K-fold cross-validation, or of r repetitions of it, one a row; J is their number.
    alternative : as in `paired_t`

    Notes
    -----
    Exact for normal differences that all correlate by 1 / K, a rule of thumb. Source: Nadeau and
    Bengio (2003); repetitions: Bouckaert and Frank (2004).

    Examples
    --------
    >>> from permtest.alternatives import corrected_resampled_t
    >>> round(corrected_resampled_t([85, 87, 84, 90, 88], [84, 85, 84, 87, 87]).pvalue, 4)
    0.1412
    """
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape or first.ndim not in (1, 2) or first.size < 2:
        shapes = f"a has shape {first.shape} and b {second.shape}"
        raise ValueError(f"{shapes}, but this takes 2 or more of the same folds, (K,) or (r, K)")
    how: dict[str, Any] = {"alternative": alternative, "ratio": 1 / max(first.shape[-1] - 1, 1)}
    return of_mean(first.ravel(), second.ravel(), "corrected_resampled_t", **how)


@dataclass(frozen=True, kw_only=True)
class BlockRegularizedCV:
    """3 x 2 block-regularised cross-validation (BCV), for scikit-learn or by itself.

    The items are cut into four blocks that look alike. Each of three partitions trains on one half
    of the blocks, S1 = B1 + B2, S2 = B1 + B3 or S3 = B2 + B3, and validates on the other, then the
    reverse: six splits. Training sets of different partitions share a quarter of the items.

    Parameters
    ----------
    balance : optional
        What blocks are to have alike: numbers (their sums: tokens, entities of each type) or
        classes (their frequencies; strings and bools), as an array of shape (n,) or (n, q), a
        mapping or a data frame of columns. By default `y` of `split` alone is balanced, where
        integers too are classes.
    rng : numpy.random.Generator, int or None
        A seed makes the same blocks at every call, as two models need that are to be compared;
        None, or a generator, makes new ones.

    Notes
    -----
    Items are dealt in rows, one to each block, about the largest first, such that the sums of the
    blocks are most even; blocks differ by at most one item. With `groups` (documents, speakers),
    each goes to the block that is emptiest for it. Source: Wang and Li (2019), Section 2.2.

    Examples
    --------
    >>> labels = ["spam"] * 10 + ["ham"] * 30
    >>> cv = BlockRegularizedCV(rng=0)
    >>> next((len(train), len(test)) for train, test in cv.split(labels, labels))
    (20, 20)
    >>> sorted(np.bincount(cv.blocks(labels, labels)[:10]).tolist())  # of those with spam
    [2, 2, 3, 3]
    """

    balance: Any = None
    rng: RNG = None

    #: The blocks that the first fold of each partition trains on.
    design: ClassVar = ((0, 1), (0, 2), (1, 2))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Six, whatever the items are."""
        return 6

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Indices of training and of validation items, of each fold, in ascending order."""
        blocks = self.blocks(X, y, groups)
        for half in self.design:
            train, rest = (np.flatnonzero(np.isin(blocks, half) == side) for side in (True, False))
            yield from ((train, rest), (rest, train))

    def blocks(self, X: Any, y: Any = None, groups: Any = None) -> Array:
        """The block of each of the items X; no group is in two blocks, and none may be missing."""
        import pandas as pd

        n = X.shape[0] if hasattr(X, "shape") else len(X)
        own = self.balance is not None
        given, name, numbers = (self.balance, "balance", "number") if own else (y, "y", "float")
        frame = pd.DataFrame(np.ones(n) if given is None else given)
        if len(frame) != n or frame.isna().to_numpy().any():
            raise ValueError(f"{name} must have {n} entries, one for each item, none missing")
        units = np.arange(n) if groups is None else pd.factorize(np.asarray(groups))[0]
        if len(units) != n or (units < 0).any():
            raise ValueError(f"groups must have a label, not missing, for each of {n} items")
        classes = list(frame.select_dtypes(exclude=numbers))  # 1 where they are, 0 elsewhere
        columns = pd.get_dummies(frame, columns=classes, dtype=float).to_numpy(dtype=float)
        table = np.stack([np.bincount(units, x) for x in (np.ones(n), *columns.T)], axis=1)
        if len(table) < 4:
            raise ValueError(f"there are {len(table)} items, or groups, for four blocks")
        return _deal(table, groups is None, as_generator(self.rng))[units]


def _deal(table: Array, in_rows: bool, rng: np.random.Generator) -> Array:
    """The block of each unit: in rows, or else one by one, where sums stay most even."""
    from scipy.optimize import linear_sum_assignment

    scaled = table - table.mean(axis=0) if in_rows else table
    scaled = scaled / np.maximum(np.sqrt((scaled**2).sum(axis=0)), 1e-300)
    sizes = (scaled**2).sum(axis=1) * rng.uniform(0.5, 1, len(table))
    order = np.lexsort((rng.random(len(table)), -sizes))
    blocks, sums = np.empty(len(table), dtype=np.intp), np.zeros((4, table.shape[1]))
    starts = [0, *range(4, len(table), 4 if in_rows else 1), len(table)]
    for start, end in pairwise(starts):
        units, places = order[start:end], rng.permutation(4)
        where, which = linear_sum_assignment(sums[places] @ scaled[units].T)
        blocks[units[which]] = places[where]
        sums[places[where]] += scaled[units[which]]
    return blocks
