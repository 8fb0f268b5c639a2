"""One fair coin for each item, shared by all systems: sums of differences with random signs.

Where all systems are equally good, an item may turn all of its differences around at once: d_ij
becomes -d_ij for all i and j. So the sum of every pair is R_i - R_j, with R_i the sum over the
items of a random sign times what system i has there. Only differences between systems matter, and
items that differ alike, up to the sign, need not be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, largest
from permtest._jit import Floats, Ints, jit

#: From so many on, a binomial number takes less time than a coin for each item.
MANY = 100
#: Items that are tossed at a time, and values of pairs that are held at a time.
ITEMS, CELLS = 2**16, 2**18
#: Sums below these are exact in int32 and in float64; longer integers are cut into digits.
SHORT, EXACT, DIGIT = 2**30, 2**50, 24
#: Columns whose partial sums fit the cache next to the processor.
WIDTH = 128
#: Squares of longer integers could be too large for a float.
MOST_BITS = 480


class Coins(NamedTuple):
    """How to draw the sums of a data set.

    Rows have C numbers: of each system, and digit by digit where floats are too short.

    Parameters
    ----------
    single : ndarray of shape (a multiple of 8, C)
        Rows with a coin each, int32 or float64.
    size : int
        How many they are, without those that are added to have whole bytes.
    grouped : ndarray of shape (M, C)
        Rows with many coins each,
    counts : ndarray of shape (M,)
        and with how many.
    observed : ndarray of shape (C,)
        The sums of the observed labelling.
    whole : ndarray of shape (C,)
        The sums where all coins show heads.
    """

    single: NDArray[Any]
    size: int
    grouped: Floats
    counts: Ints
    observed: Floats
    whole: Floats

    def toss(self, rng: np.random.Generator, draws: int) -> Floats:
        """Random sums, of shape (C, draws)."""
        heads = np.zeros((draws, self.whole.size), dtype=self.single.dtype)
        for start in range(0, len(self.single), ITEMS):
            rows = self.single[start : start + ITEMS]
            add_heads(rows, rng.integers(0, 256, (len(rows) // 8, draws), dtype=np.uint8), heads)
        total = heads.astype(np.float64)
        for row, count in zip(self.grouped, self.counts.tolist(), strict=True):
            total += rng.binomial(count, 0.5, draws)[:, None] * row
        return self._signed(total)

    def listed(self, numbers: Ints) -> Floats:
        """The sums of labellings by number, whose bits are the coins; none may be grouped."""
        bits = numbers >> np.arange(self.size)[:, None] & 1
        heads = np.zeros((numbers.size, self.whole.size), dtype=self.single.dtype)
        add_heads(self.single, np.packbits(bits, axis=0, bitorder="little"), heads)
        return self._signed(heads.astype(np.float64))

    def _signed(self, heads: Floats) -> Floats:
        return np.ascontiguousarray((2 * heads - self.whole).T)


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a data set that differ at all, as distinct rows of differences.

    Parameters
    ----------
    rows : ndarray of shape (G, C)
        Integers; the first one of a row that is not 0 is positive.
    counts : ndarray of shape (G,)
        How many items have that row, or its negative.
    net : ndarray of shape (G,)
        How many more have the row than its negative.
    """

    rows: IntArray
    counts: Ints
    net: Ints

    @classmethod
    def of(cls, addends: IntArray, *, scaled: bool) -> Items:
        """Differences from the first system, of addends of shape (S, N, m), so that C = S m.

        Parameters
        ----------
        addends : ndarray of shape (S, N, m)
            Integers whose differences do not overflow.
        scaled : bool
            Whether the unit of the differences does not matter.

        Returns
        -------
        Items
        """
        systems, n, m = addends.shape
        rows = (addends - addends[:1]).transpose(1, 0, 2).reshape(n, systems * m)
        rows = rows[(rows != 0).any(axis=1)]
        unit = int(np.gcd.reduce(rows, axis=None)) if scaled and rows.size else 1
        rows = rows // unit if unit > 1 else rows
        if rows.dtype == object and largest(rows) < EXACT:
            rows = rows.astype(np.int64)
        signs = np.where(rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)] > 0, 1, -1)
        return cls._distinct(rows * signs[:, None], signs)

    @classmethod
    def _distinct(cls, rows: IntArray, signs: Ints) -> Items:
        if rows.dtype == object:
            return cls(rows, np.ones(len(rows), dtype=np.int64), signs)
        rng = np.random.default_rng(0)
        while True:  # until no two rows that differ have the same key
            key = rows @ rng.integers(-(2**63), 2**63 - 1, rows.shape[1])  # modulo 2**64
            found = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
            _, where, group, counts = found
            if all(np.array_equal(column[where][group], column) for column in rows.T):
                net = np.bincount(group, signs, len(where)).astype(np.int64)
                return cls(rows[where], counts, net)

    @property
    def size(self) -> int:
        """How many items differ."""
        return int(self.counts.sum())

    @cached_property
    def reach(self) -> float:
        """What no sum of a column exceeds, whatever the signs."""
        return float((self.counts @ np.abs(self.rows.astype(np.float64))).max(initial=0.0))

    def coins(self, digits: int, *, listed: bool) -> Coins:
        """What draws the sums; `listed` if all labellings are to be listed.

        Parameters
        ----------
        digits : int
            As `digits_needed` has it.
        listed : bool

        Returns
        -------
        Coins
        """
        rows, counts = self.floats(digits), self.counts
        many = (counts >= MANY) & (not listed)
        single = np.repeat(rows[~many], counts[~many], axis=0)
        padded: NDArray[Any] = np.zeros((-(-len(single) // 8) * 8, rows.shape[1]))
        padded[: len(single)] = single
        short = digits == 1 and self.reach < SHORT
        padded = padded.astype(np.int32 if short else np.float64)
        add_heads(padded[:0], np.zeros((0, 0), dtype=np.uint8), padded[:0])  # compiles it
        parts = (rows[many], counts[many], self.net @ rows, counts @ rows)
        return Coins(padded, len(single), *parts)

    def floats(self, digits: int) -> Floats:
        """The rows exactly; of several digits the highest come first, times their place value."""
        if digits == 1:
            return self.rows.astype(np.float64)
        parts = [self.rows >> DIGIT * k & 2**DIGIT - 1 for k in range(digits - 1)]
        parts.append(self.rows >> DIGIT * (digits - 1))  # with the sign
        scaled = [x.astype(np.float64) * 2.0 ** (DIGIT * k) for k, x in enumerate(parts)]
        return np.hstack(scaled[::-1])

    def spread(self, first: Ints, second: Ints, digits: int) -> Floats:
        """The standard deviation of the sum of each pair; 0 if and only if it never differs.

        Parameters
        ----------
        first, second : ndarray of shape (P,)
            The systems of each pair, by number.
        digits : int

        Returns
        -------
        ndarray of shape (P,)
        """
        rows, counts = self.floats(digits), self.counts.astype(np.float64)
        if digits == 1 and float(np.square(rows).max(initial=0.0)) * counts.sum() < EXACT:
            products: Floats = (rows * counts[:, None]).T @ rows
            own = products.diagonal()
            return np.asarray(np.sqrt(own[first] + own[second] - 2 * products[first, second]))
        parts, step = [], max(1, CELLS // max(len(rows), 1))
        by_digit = rows.reshape(len(rows), digits, rows.shape[1] // digits).transpose(1, 2, 0)
        for start in range(0, first.size, step):
            part = slice(start, start + step)
            gaps = differences(by_digit, first[part], second[part])
            # Not by BLAS, whose sums depend on the number of its threads.
            parts.append(np.einsum("pn,pn,n->p", gaps, gaps, counts))
        return np.asarray(np.sqrt(np.concatenate(parts)))


def digits_needed(items: Sequence[Items]) -> int:
    """How many digits an integer has to be cut into so that sums are exact.

    Parameters
    ----------
    items : sequence of Items

    Returns
    -------
    int
        1 where floats hold all sums.

    Raises
    ------
    ValueError
        If even the square of a single one would be too large for a float.
    """
    bits = max(largest(x.rows) for x in items).bit_length()
    if bits > MOST_BITS:
        raise ValueError(
            f"tables: correction='max_t' cannot handle scores that differ by integers of {bits} "
            "bits; divide all of them by the same power of ten, or choose 'holm'"
        )
    return 1 if max(x.reach for x in items) < EXACT else -(-bits // DIGIT)


def differences(numbers: Floats, first: Ints, second: Ints) -> Floats:
    """Differences between numbers that are given digit by digit, right but for a few roundings.

    Parameters
    ----------
    numbers : ndarray of shape (digits, S, ...)
        As `Items.floats` or `Coins` have them. All partial sums are multiples of the place value,
        so that those that cancel are exact.
    first, second : ndarray of shape (P,)

    Returns
    -------
    ndarray of shape (P, ...)
    """
    gaps = numbers[0, first] - numbers[0, second]
    for part in numbers[1:]:
        gaps += part[first] - part[second]
    return np.asarray(gaps)


@jit
def add_heads(rows: NDArray[Any], bits: NDArray[np.uint8], sums: NDArray[Any]) -> None:
    """Add to ``sums[b]`` the rows whose coins show heads in column b of `bits`.

    The coin of row ``8 k + i`` is bit i of ``bits[k]``, and the number of rows a multiple of 8. The
    256 sums of eight rows are made once, for all columns.
    """
    table = np.zeros((256, WIDTH), dtype=rows.dtype)
    for left in range(0, rows.shape[1], WIDTH):
        width = min(WIDTH, rows.shape[1] - left)
        for k in range(bits.shape[0]):
            for i in range(8):
                row = rows[8 * k + i, left : left + width]
                for v in range(2**i):
                    without, there = table[v], table[2**i + v]
                    for x in range(width):
                        there[x] = without[x] + row[x]
            for b in range(bits.shape[1]):
                part, total = table[bits[k, b]], sums[b, left : left + width]
                for x in range(width):
                    total[x] += part[x]
