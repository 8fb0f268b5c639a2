"""The definition, in integers: how many of the 2^N labellings have T >= t0 (Eq. 4).

For N <= 24 they are listed one by one. Of T = T_1 + T_2, sums over two halves of the entries, the
2^(N/2) values of each are listed in order, and #{T <= t} is the sum over T_1 of #{T_2 <= t - T_1}
(Horowitz and Sahni 1974). All counts together are the coefficients of a polynomial,

    sum_t #{T = t} X^t = prod_k (1 + X^w_k)^c_k,

found by multiplying integers: its value at a power of ten has the coefficients as its digits
(Kronecker's substitution).
"""

from __future__ import annotations

import sys
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from permtest._errors import TooHard
from permtest.integers import IntArray, as_integers, with_room
from permtest.null.distribution import TwoPointSum

#: 2^24 labellings take 128 MiB as int64, and up to 1 GiB as Python integers.
MAX_ENTRIES = 24
#: Lists of so many sums take some hundredths of a second to make and to combine.
MAX_SUMS = 2**21
#: Entries that need no longer lists; those that need a twentieth of a second; and of Python
#: integers, which take much longer.
MAX_HALVED, QUICK, MAX_HALVED_HUGE = 42, 38, 28


def enumerate_swaps(stay: ArrayLike, swap: ArrayLike) -> NDArray[Any]:
    """The sum of local effects under each of the 2^N labellings.

    Parameters
    ----------
    stay, swap : array_like of shape (N,)
        Local effects g(u_n, v_n) and g(v_n, u_n), integers.

    Returns
    -------
    ndarray of shape (2**N,)
        Element i swaps the entries whose bits are set in i (bit 0 is entry 0), so element 0 is
        the observed labelling. int64, or Python integers where the inputs are.

    Raises
    ------
    TypeError, ValueError
        If an effect is no integer, or their numbers differ.
    MemoryError
        If N exceeds 24.

    Examples
    --------
    >>> from permtest import enumerate_swaps
    >>> enumerate_swaps([1, 2], [-1, -2]).tolist()
    [3, 1, -1, -3]
    """
    # int64 where no sum can overflow, Python integers otherwise.
    both = ((stay, "stay"), (swap, "swap"))
    stays, swaps = (with_room(as_integers(x, name), 2 * MAX_ENTRIES) for x, name in both)
    if stays.size != swaps.size:
        raise ValueError(f"stay and swap must be alike, not {stays.size} and {swaps.size} effects")
    if stays.size > MAX_ENTRIES:
        raise MemoryError(
            f"enumerating 2^{stays.size} labellings is refused above N = {MAX_ENTRIES}, and above "
            f"N = {MAX_HALVED} where p is a tail; method='auto' gives the same p-value"
        )
    kind = np.result_type(stays, swaps)
    stays, steps = stays.astype(kind), swaps.astype(kind) - stays.astype(kind)
    sums = np.empty(2**steps.size, dtype=kind)
    sums[0] = stays.sum()
    for i, step in enumerate(steps):
        sums[2**i : 2 ** (i + 1)] = sums[: 2**i] + step
    return sums


def can_halve(law: TwoPointSum, most: int = MAX_HALVED) -> bool:
    """Whether `count_tail` needs lists no longer than for `most` entries, at any threshold."""
    return law.n_informative <= (MAX_HALVED_HUGE if law.top >= 2**62 else most)


def count_tail(law: TwoPointSum, t0: int) -> int:
    """How many labellings have T >= t0: those that lack top - t0 at most, from two halves.

    O(2^(N'/2)), far less near the end; TooHard if a half has too many sums to list.
    """
    if 2 * t0 <= law.top:  # the others are fewer
        return int(2**law.n_informative) - count_tail(law, law.top - t0 + 1)
    lacking = law.top - t0
    chosen = law.widths <= lacking
    widths = np.repeat(law.widths[chosen], law.counts[chosen].astype(np.intp))
    widths = widths.astype(np.int64 if lacking < 2**62 else object)
    first, second = subset_sums(widths[::2], lacking), subset_sums(widths[1::2], lacking)
    if first.size and second.size:
        both = np.concatenate([second, (lacking - first)[::-1]])
        # Merging is quicker than searching: of what is equal, the sums of `second` come first.
        places = np.flatnonzero(both.argsort(kind="stable") >= second.size)
        return int(places.sum(dtype=np.int64)) - places.size * (places.size - 1) // 2
    raise TooHard(f"{widths.size} differing pairs have too many labellings to count")


def subset_sums(widths: IntArray, most: int) -> IntArray:
    """The sums of all subsets that are `most` or less, ascending; none if they are too many."""
    sums = np.zeros(1, dtype=widths.dtype)
    room = MAX_SUMS if widths.dtype == np.int64 else 2 ** (MAX_HALVED_HUGE // 2)
    for w in widths.tolist():
        with_w = sums[: np.searchsorted(sums, most - w, side="right")] + w
        if sums.size + with_w.size > room:
            return sums[:0]
        sums = np.sort(np.concatenate([sums, with_w]), kind="stable")  # merges what is in order
    return sums


#: Digits of the largest product that is formed; 17 million take 1.5 s.
MAX_DIGITS = 5 * 10**7


def count_labellings(law: TwoPointSum) -> list[int]:
    """How many labellings of the informative entries give T = 0, 1, ..., top; they sum to 2^N'.

    Decimals multiply in quasi-linear time, and nothing is rounded. MemoryError from N' = 14 280 on.
    """
    size = int(law.n_informative * log10(2)) + 2  # digits for the largest possible count, 2^N'
    digits = size * (law.top + 1)
    # Python converts strings of 4300 digits at most, which 2^N' has at N' = 14 280.
    if digits > MAX_DIGITS or size > (sys.get_int_max_str_digits() or MAX_DIGITS):
        raise MemoryError(
            f"integer arithmetic would need numbers of {digits:,} digits ({law.n_informative:,} "
            f"differing pairs, {law.top + 1:,} cells), more than the limit of {MAX_DIGITS:,}; "
            "method='dp' gives p in floating point with a bound on its error",
        )
    exact = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
    factors = [
        _binomial(int(count), size * int(width), size)
        for width, count in zip(law.widths, law.counts, strict=True)
    ]
    while len(factors) > 1:  # the two smallest first
        factors.sort(key=Decimal.adjusted, reverse=True)
        factors.append(exact.multiply(factors.pop(), factors.pop()))
    text = format(factors[0] if factors else Decimal(1), "f").rjust(digits, "0")
    return [int(text[i : i + size]) for i in range(0, digits, size)]


def _binomial(n: int, spacing: int, size: int) -> Decimal:
    """(1 + X)^n with X = 10^spacing; its coefficients read the same from both ends."""
    coefficient, parts = 1, ["1".rjust(size, "0")]
    for j in range(n):
        coefficient = coefficient * (n - j) // (j + 1)
        parts.append(str(coefficient).rjust(spacing, "0"))
    return Decimal("".join(parts))
