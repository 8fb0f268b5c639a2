"""The null distribution in integers: how many of the 2^N labellings give each sum."""

from __future__ import annotations

import sys
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import log10

from permtest.null.grouping import TwoPointSum

#: Digits of the largest product that is formed; 17 million take 1.5 s.
MAX_DIGITS = 5 * 10**7


def count_labellings(law: TwoPointSum) -> list[int]:
    """How many labellings of the informative entries give T = 0, 1, ..., top.

    The counts are the coefficients of the polynomial prod_k (1 + X^width_k)^count_k. Evaluated
    at a power of ten so large that coefficients cannot overlap (Kronecker substitution), the
    product is one of integers, and the coefficients are read off its digits. Decimals serve as
    the integers because they multiply in quasi-linear time; nothing is ever rounded.

    Returns ``top + 1`` counts with sum 2**n_informative; raises MemoryError if there are too many
    digits, about N' > 14 000 informative entries.
    """
    size = int(law.n_informative * log10(2)) + 2  # digits for the largest possible count, 2^N'
    digits = size * (law.top + 1)
    # Python converts strings of 4300 digits at most, which 2^N' has at N' = 14 280.
    if digits > MAX_DIGITS or size > (sys.get_int_max_str_digits() or MAX_DIGITS):
        raise MemoryError(
            f"integer arithmetic would need numbers of {digits:,} digits ({law.n_informative:,} "
            f"differing pairs, {law.top + 1:,} cells), more than the limit of {MAX_DIGITS:,}; "
            "method='dp' gives p in floating point with a bound on its error"
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
