"""Block-regularised cross-validation: m two-fold cross-validations of evenly overlapping halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

import numpy as np

from permtest._html import grid, said, together
from permtest._json import AsJson
from permtest._rng import RNG, as_generator
from permtest.alternatives.blocks import (
    FloatArray,
    IndexArray,
    Traits,
    columns_of,
    deal_groups,
    deal_items,
    summed,
    totals,
)
from permtest.pairs import cluster_numbers

#: Rows of a printed report: the first, the worst, and the largest.
ROWS, WORST = 14, 5

Split: TypeAlias = tuple[IndexArray, IndexArray]
HEADER = ("", "total", "in a block", "block off by", "half off by", "random half")


@dataclass(frozen=True, eq=False)
class BalanceReport(AsJson):
    """How evenly blocks and halves share what they were to have alike.

    Parameters
    ----------
    names : tuple of str
        What is counted; the first is "items".
    totals : ndarray of shape (len(names), B)
        Sums over the items of each block.
    block_deviation, half_deviation, random_half : ndarray of shape (len(names),)
        By how much the block furthest from the mean block is off, and the training set furthest
        from half the total, and the standard deviation of half the items (or groups) drawn at
        random; all relative to that mean or half, of magnitudes where numbers have both signs.
    m : int
        Number of partitions.
    n_groups : int or None
        How many groups were kept whole.

    Examples
    --------
    >>> from permtest.alternatives import BlockRegularizedCV
    >>> labels = ["spam"] * 10 + ["ham"] * 30
    >>> balance = BlockRegularizedCV(3, rng=0).partition(labels, labels).balance
    >>> balance.names[balance.worst], balance.m
    ('y=spam', 3)
    """

    names: tuple[str, ...]
    totals: FloatArray
    block_deviation: FloatArray
    half_deviation: FloatArray
    random_half: FloatArray
    m: int
    n_groups: int | None = None

    @property
    def worst(self) -> int:
        """The number of the row whose training sets are furthest from one half."""
        return int(np.argmax(self.half_deviation))

    def heading(self) -> str:
        """What was made of how many items, and what is worst."""
        sizes, k = self.totals[0], self.worst
        whole = "" if self.n_groups is None else f" in {self.n_groups} groups that are kept whole"
        return (
            f"{sizes.sum():.0f} items{whole}, {sizes.size} blocks of {_range(sizes)}, "
            f"m = {self.m}.\nWorst half: {self.names[k]} ({self.totals[k].sum():.6g} in all), off "
            f"by {_percent(self.half_deviation[k])}; a random one by "
            f"{_percent(self.random_half[k])} (standard deviation)."
        )

    def _shown(self) -> list[int]:
        """Numbers of the rows to print."""
        if len(self.names) <= ROWS:
            return list(range(len(self.names)))
        worst = np.argsort(-self.half_deviation[1:], kind="stable")[:WORST] + 1
        large = np.argsort(-np.abs(self.totals[1:]).sum(axis=1), kind="stable") + 1
        return sorted(list(dict.fromkeys([0, *worst.tolist(), *large.tolist()]))[:ROWS])

    def _cells(self, k: int) -> tuple[str, ...]:
        row = self.totals[k]
        shares = (self.block_deviation[k], self.half_deviation[k], self.random_half[k])
        return self.names[k], f"{row.sum():.6g}", _range(row), *map(_percent, shares)

    def _remark(self) -> list[str]:
        more = len(self.names) - len(self._shown())
        return [f"{more} more rows, smaller and none worse, are in to_dict()."] if more else []

    def __str__(self) -> str:
        lines = [HEADER, *map(self._cells, self._shown())]
        first, *rest = (max(map(len, column)) for column in zip(*lines, strict=True))
        table = ["  ".join([row[0].ljust(first), *map(str.rjust, row[1:], rest)]) for row in lines]
        return "\n".join([self.heading(), "", *table, *self._remark()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = map(self._cells, self._shown())
        table = grid(HEADER, rows, self.heading(), align="right")
        return together(table, said("".join(self._remark())))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None, a dict for each row."""
        shares = ("block_deviation", "half_deviation", "random_half")
        rows = [
            {"name": self.names[k], "totals": [int(x) if x.is_integer() else x for x in row]}
            | {key: float(getattr(self, key)[k]) for key in shares}
            for k, row in enumerate(self.totals.tolist())
        ]
        size = {"m": self.m, "n_blocks": self.totals.shape[1], "n_groups": self.n_groups}
        return size | {"worst": self.names[self.worst], "rows": rows}


def _range(row: FloatArray) -> str:
    low, high = f"{row.min():.6g}", f"{row.max():.6g}"
    return low if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.2g}%" if share < 1 else f"{100 * share:.0f}%"


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """Items in blocks, and blocks in training sets.

    Parameters
    ----------
    blocks : ndarray of shape (n,)
        The block of each item, from 0 to B - 1.
    design : tuple of tuple of int
        For each partition, the blocks that its first fold trains on, and its second validates on.
    balance : BalanceReport
        What the blocks have alike, and how nearly.

    Examples
    --------
    >>> partition = BlockRegularizedCV(3, rng=0).partition(range(8))
    >>> partition.design
    ((0, 1), (0, 2), (1, 2))
    >>> partition.overlap[::2, ::2]
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    blocks: IndexArray
    design: tuple[tuple[int, ...], ...]
    balance: BalanceReport

    @property
    def m(self) -> int:
        """Number of partitions, each of two folds."""
        return len(self.design)

    @property
    def n_blocks(self) -> int:
        """Number of blocks: a power of two."""
        return 2 * len(self.design[0])

    @property
    def overlap(self) -> FloatArray:
        """Items that two training sets share, as a share of all, (2m, 2m), in order of `splits`."""
        first = np.array([np.isin(range(self.n_blocks), blocks) for blocks in self.design])
        sets = np.stack([first, ~first], axis=1).reshape(-1, self.n_blocks).astype(np.float64)
        sizes = np.bincount(self.blocks, minlength=self.n_blocks)
        shared: FloatArray = (sets * sizes) @ sets.T / self.blocks.size
        return shared

    def splits(self) -> Iterator[Split]:
        """Training and validation items of both folds of each partition, in ascending order."""
        for blocks in self.design:
            inside = np.isin(self.blocks, blocks)
            train, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
            yield train, rest
            yield rest, train

    def __str__(self) -> str:
        return f"{self._design_text()}\n{self.balance}"

    def _design_text(self) -> str:
        halves = ", ".join("+".join(f"B{b + 1}" for b in s) for s in self.design)
        return f"Training sets of first folds: {halves}."

    def _repr_html_(self) -> str:
        return said(self._design_text()) + self.balance._repr_html_()


@dataclass(frozen=True, eq=False)
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
        of columns, or a list of names or numbers of columns of X. Strings and bools are classes.
        By default `y` of `split` is balanced, where integers too are classes. Labels in lists, one
        for each word of a sentence, are counted. If `balance` is given, `y` is not looked at;
        ``balance={"label": y, "length": lengths}`` takes both (strings for classes).
    rng : numpy.random.Generator, int or None
        A seed makes the same blocks at every call, as two models need that are to be compared;
        None, or a generator, makes new ones.

    Notes
    -----
    Items are sorted by their columns, and each row, an item for each block, is dealt in random
    order; then pairs are exchanged as long as that evens out the sums. Blocks differ by at
    most one item. With `groups` (documents, speakers), the largest is dealt first, each to the
    block that is emptiest for it; exchanges and moves follow. `BlockPartition.balance` has what
    remains uneven. Training sets are columns of a Hadamard matrix of order 2^k, ordered so that
    m = 3 is Table 1. A million items take some seconds.

    Source: Wang and Li (2019), Section 2.2; general m as in Wang, Wang, Li, Yang and Yang (2017).

    Examples
    --------
    >>> labels = ["spam"] * 10 + ["ham"] * 30
    >>> cv = BlockRegularizedCV(3, rng=0)
    >>> [(len(train), len(test)) for train, test in cv.split(labels, labels)][:3]
    [(20, 20), (20, 20), (20, 20)]
    >>> print(cv.partition(labels, labels).balance)
    40 items, 4 blocks of 10, m = 3.
    Worst half: y=spam (10 in all), off by 20%; a random one by 28% (standard deviation).
    <BLANKLINE>
            total  in a block  block off by  half off by  random half
    items      40          10             0            0            0
    y=ham      30      7 to 8          6.7%         6.7%         9.2%
    y=spam     10      2 to 3           20%          20%          28%
    """

    m: int = 3
    _: KW_ONLY
    balance: Any = None
    rng: RNG = None

    def __post_init__(self) -> None:
        if isinstance(self.m, bool) or not isinstance(self.m, int | np.integer):
            raise TypeError(f"m={self.m!r} must be an integer, the number of partitions")
        if self.m < 1:
            raise ValueError(f"m={self.m} must be at least 1, the number of partitions")
        as_generator(self.rng)

    def __repr__(self) -> str:
        given = "" if self.balance is None else f", balance={type(self.balance).__name__}(...)"
        seed = "" if self.rng is None else f", rng={self.rng}"
        return f"BlockRegularizedCV(m={self.m}{given}{seed})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """2m, whatever the items are."""
        return 2 * int(self.m)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """``partition(X, y, groups).splits()``: indices of training and of validation items."""
        return self.partition(X, y, groups).splits()

    def partition(self, X: Any, y: Any = None, groups: Any = None) -> BlockPartition:
        """Cut the items into blocks, no group into two.

        Parameters
        ----------
        X : sequence, array or data frame of n items
            Only its length matters, unless `balance` names columns.
        y : array_like of shape (n,), optional
            Balanced if `balance` is None.
        groups : array_like of shape (n,), optional
            A label for each item; items with the same one stay together.

        Returns
        -------
        BlockPartition

        Raises
        ------
        TypeError, ValueError
            If lengths differ, a number is not finite, a column is unknown, or there are fewer
            items, or groups, than blocks.
        """
        n, signs = _length(X), _signs(int(self.m))
        _check_enough(n, "items", signs)
        given, name = (y, "y") if self.balance is None else (self.balance, "balance")
        traits = Traits.of([] if given is None else columns_of(given, name, X, n), n)
        rng, table, n_groups = as_generator(self.rng), traits.table, None
        if groups is None:
            blocks = deal_items(traits, signs, rng)
        else:
            codes = cluster_numbers(groups, n, "groups")
            n_groups = int(codes.max()) + 1
            _check_enough(n_groups, "groups", signs)
            table = summed(table, codes, n_groups)
            blocks = deal_groups(table, signs.shape[1], rng)[codes]
        blocks.flags.writeable = False
        design = tuple(tuple(np.flatnonzero(row > 0).tolist()) for row in signs)
        return BlockPartition(blocks, design, _report(traits, blocks, table, signs, n_groups))


def _length(X: Any) -> int:
    """The number of items."""
    try:
        return int(X.shape[0]) if getattr(X, "shape", ()) else len(X)
    except TypeError:
        raise TypeError(
            f"X has no length ({type(X).__name__}); pass the items, or range(n) for n of them"
        ) from None


def _check_enough(n: int, what: str, signs: IndexArray) -> None:
    if n < signs.shape[1]:
        raise ValueError(
            f"there are {n} {what}, and m={len(signs)} needs {signs.shape[1]} at least, one for "
            f"each block; take a smaller m or more {what}"
        )


def _signs(m: int) -> IndexArray:
    """(m, B): 1 where a block is in the training set of a first fold, -1 where it is not."""
    bits = m.bit_length()
    last = 2**bits - 1
    masks = [int(f"{j:0{bits}b}"[::-1], 2) for j in range(1, m + 1)]
    odd = [[(mask & (last - b)).bit_count() % 2 for b in range(last + 1)] for mask in masks]
    return 2 * np.array(odd, dtype=np.int64) - 1


def _report(
    traits: Traits, blocks: IndexArray, units: Any, signs: IndexArray, n_groups: int | None
) -> BalanceReport:
    """Deviations of blocks and halves; `units` are what is drawn at random: items or groups."""
    n, n_blocks = units.shape[0], signs.shape[1]
    sums = totals(traits.table, blocks, n_blocks).T
    magnitude = np.asarray(abs(traits.table).sum(axis=0)) / n_blocks
    scale = np.where(magnitude > 0, magnitude, 1.0)
    square = (units * units).sum(axis=0)
    around = square - units.sum(axis=0) ** 2 / n
    around[around <= 1e-12 * square] = 0  # all equal, but for rounding
    return BalanceReport(
        names=tuple(traits.names),
        totals=sums,
        block_deviation=np.abs(sums - sums.mean(axis=1, keepdims=True)).max(axis=1) / scale,
        half_deviation=np.abs(sums @ signs.T).max(axis=1) / (scale * n_blocks),
        random_half=np.sqrt(around * n / (n - 1)) / (scale * n_blocks),
        m=len(signs),
        n_groups=n_groups,
    )
