"""Block-regularised cross-validation: m two-fold cross-validations of evenly overlapping halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._rng import RNG, as_generator
from permtest.pairs import cluster_numbers

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """Items in blocks, and blocks in training sets.

    Parameters
    ----------
    blocks : ndarray of shape (n,)
        The block of each item, from 0 to B - 1.
    design : tuple of tuple of int
        For each partition, the blocks that its first fold trains on, and its second validates on.
    balance : dict of str to ndarray of shape (B,)
        How much of what was to be alike is in each block; the first are "items".

    Examples
    --------
    >>> partition = BlockRegularizedCV(3, rng=0).partition(range(8))
    >>> partition.design, partition.overlap[0].tolist()
    (((0, 1), (0, 2), (1, 2)), [0.5, 0.0, 0.25, 0.25, 0.25, 0.25])
    """

    blocks: Array
    design: tuple[tuple[int, ...], ...]
    balance: dict[str, Array]

    @property
    def overlap(self) -> Array:
        """Items that two training sets share, as a share of all, (2m, 2m), in order of `splits`."""
        sets = np.array([np.isin(range(self.blocks.size), train) for train, _ in self.splits()])
        return np.asarray(sets @ sets.T.astype(float) / self.blocks.size)

    def splits(self) -> Iterator[tuple[Array, Array]]:
        """Training and validation items of both folds of each partition, in ascending order."""
        for blocks in self.design:
            inside = np.isin(self.blocks, blocks)
            train, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
            yield from ((train, rest), (rest, train))

    def __str__(self) -> str:
        lines = [f"{'':20}{'total':>10}  {'in a block':>20}  worst half off by"]
        for name, sums in self.balance.items():
            total, halves = sums.sum(), [sums[list(blocks)].sum() for blocks in self.design]
            off = max(abs(2 * half / total - 1) for half in halves) if total else 0.0
            ends = f"{sums.min():.6g} to {sums.max():.6g}"
            lines.append(f"{name:20}{total:10.6g}  {ends:>20}{off:>19.2%}")
        return "\n".join(lines)


@dataclass(frozen=True)
class BlockRegularizedCV:
    """m x 2 block-regularised cross-validation (BCV), for scikit-learn or by itself.

    The items are cut into 2^k > m blocks that look alike. Each of m partitions trains on one half
    of the blocks and validates on the other, then the reverse: 2m splits. Training sets of
    different partitions share a quarter of the items.

    Parameters
    ----------
    m : int, default 3
        Number of partitions. 3 is Table 1 of Wang and Li (2019): four blocks, S1 = B1 + B2,
        S2 = B1 + B3, S3 = B2 + B3. 1 is a single two-fold cross-validation.
    balance : optional
        What blocks are to have alike: numbers (their sums: tokens, entities of each type) or
        classes (their frequencies), as an array of shape (n,) or (n, q), a mapping or a data frame
        of columns. Strings and bools are classes. By default `y` of `split` is balanced, where
        integers too are classes. If `balance` is given, `y` is not looked at;
        ``balance={"label": y, "length": lengths}`` takes both (strings for classes).
    rng : numpy.random.Generator, int or None
        A seed makes the same blocks at every call, as two models need that are to be compared;
        None, or a generator, makes new ones.

    Notes
    -----
    Items are dealt in rows, one to each block, about the largest first, in the way that leaves the
    sums of the blocks most even; blocks differ by at most one item. With `groups` (documents,
    speakers), each goes to the block that is emptiest for it. A million items take ten seconds.
    Source: Wang and Li (2019), Section 2.2; for other m Wang, Wang, Li, Yang and Yang (2017), by
    columns of a Hadamard matrix of order 2^k, ordered so that m = 3 is Table 1.

    Examples
    --------
    >>> labels = ["spam"] * 10 + ["ham"] * 30
    >>> cv = BlockRegularizedCV(3, rng=0)
    >>> next((len(train), len(test)) for train, test in cv.split(labels, labels))
    (20, 20)
    >>> sorted(cv.partition(labels, labels).balance["y=spam"].tolist())
    [2.0, 2.0, 3.0, 3.0]
    """

    m: int = 3
    _: KW_ONLY
    balance: Any = None
    rng: RNG = None

    def __post_init__(self) -> None:
        if isinstance(self.m, bool) or not isinstance(self.m, int | np.integer) or self.m < 1:
            raise ValueError(f"m={self.m!r} must be a whole number of partitions, 1 or more")
        as_generator(self.rng)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """2m, whatever the items are."""
        return 2 * int(self.m)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """``partition(X, y, groups).splits()``: indices of training and of validation items."""
        return self.partition(X, y, groups).splits()

    def partition(self, X: Any, y: Any = None, groups: Any = None) -> BlockPartition:
        """Cut the items X into blocks, no group of items with the same label into two.

        Raises ValueError if lengths differ, a number is not finite, or there are fewer items, or
        groups, than blocks.
        """
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        n_blocks, bits = 2 ** int(self.m).bit_length(), int(self.m).bit_length()
        balance = {"items": np.ones(n)} | self._columns(y, n)
        units = np.arange(n) if groups is None else cluster_numbers(groups, n, "groups")
        table = np.stack([np.bincount(units, column) for column in balance.values()], axis=1)
        if len(table) < n_blocks:
            what = f"{n_blocks} items, or groups, or more, one for each block"
            raise ValueError(f"m={self.m} needs {what}; there are {len(table)}")
        blocks = _deal(table, n_blocks, groups is None, as_generator(self.rng))[units]
        blocks.flags.writeable = False
        masks = [int(f"{j:0{bits}b}"[::-1], 2) for j in range(1, int(self.m) + 1)]
        odd = ((b for b in range(n_blocks) if (mask & ~b).bit_count() % 2) for mask in masks)
        sums = {name: np.bincount(blocks, column) for name, column in balance.items()}
        return BlockPartition(blocks, tuple(map(tuple, odd)), sums)

    def _columns(self, y: Any, n: int) -> dict[str, Array]:
        """Numbers as they are, and of each class 1 where it is and 0 elsewhere."""
        import pandas as pd

        given, name = (y, "y") if self.balance is None else (self.balance, "balance")
        if given is None:
            return {}
        plain = getattr(given, "ndim", 1) == 1 and not isinstance(given, dict)
        frame = pd.DataFrame({name: given} if plain else given)
        if len(frame) != n:
            raise ValueError(f"{name} has {len(frame)} entries for {n} items")
        numeric = frame.select_dtypes("float" if name == "y" else "number")
        bad = frame.isna() | (numeric.abs() >= 1e100).reindex(
            columns=frame.columns, fill_value=False
        )
        for row, column in np.argwhere(bad.to_numpy())[:1]:
            entry = frame.iloc[row, column]
            raise ValueError(f"{name}, row {row}: {entry} cannot be balanced; remove or replace it")
        kinds = [column for column in frame if column not in numeric]
        table = pd.get_dummies(frame, columns=kinds, prefix_sep="=", dtype=float)
        return {str(column): table[column].to_numpy(dtype=float) for column in table}


def _deal(table: Array, n_blocks: int, in_rows: bool, rng: np.random.Generator) -> Array:
    """The block of each unit: in rows, or else one by one, where sums stay most even."""
    from scipy.optimize import linear_sum_assignment

    scaled = table - table.mean(axis=0) if in_rows else table
    scaled = scaled / np.maximum(np.sqrt((scaled**2).sum(axis=0)), 1e-300)
    sizes = (scaled**2).sum(axis=1) * rng.uniform(0.5, 1, len(table))
    order = np.lexsort((rng.random(len(table)), -sizes))
    blocks, sums = np.empty(len(table), dtype=np.int64), np.zeros((n_blocks, table.shape[1]))
    starts = [0, *range(n_blocks, len(table), n_blocks if in_rows else 1), len(table)]
    for start, end in pairwise(starts):
        units, places = order[start:end], rng.permutation(n_blocks)
        where, which = linear_sum_assignment(sums[places] @ scaled[units].T)
        blocks[units[which]] = places[where]
        sums[places[where]] += scaled[units[which]]
    return blocks
