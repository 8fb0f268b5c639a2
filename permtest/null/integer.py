"""The null distribution in integers: how many of the 2^N labellings give each sum."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from permtest.null.grouping import TwoPointSum

#: Bits of the largest product that is formed (32 MiB); its cost grows as bits ** 1.58.
MAX_BITS = 2**28


def count_labellings(law: TwoPointSum) -> list[int]:
    """How many labellings of the informative entries give T = 0, 1, ..., top.

    The counts are the coefficients of the polynomial prod_k (1 + X^width_k)^count_k. Evaluated
    at a power of two so large that coefficients cannot overlap (Kronecker substitution), the
    product is one of Python integers, and the coefficients are read off its bytes.

    Parameters
    ----------
    law : TwoPointSum

    Returns
    -------
    list of int
        ``top + 1`` counts with sum 2**n_informative.

    Raises
    ------
    MemoryError
        If the product would exceed 2**28 bits.
    """
    size = law.n_informative // 8 + 1  # bytes for the largest possible count, 2^N'
    bits = 8 * size * (law.top + 1)
    if bits > MAX_BITS:
        raise MemoryError(
            f"integer arithmetic would need numbers of {bits:,} bits ({law.n_informative:,} "
            f"differing pairs, {law.top + 1:,} cells), more than the limit of {MAX_BITS:,}; "
            "method='dp' gives p in floating point with a bound on its error"
        )
    product = 1
    for k in range(law.widths.size):
        product *= _binomial(int(law.counts[k]), int(law.widths[k]) * size)
    raw = product.to_bytes(size * (law.top + 1), "little")
    return [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]


def exact_fraction(counts: list[int], n_informative: int) -> Fraction:
    """Sum of counts, as a fraction of all labellings."""
    return Fraction(sum(counts), 2**n_informative)


def _binomial(n: int, spacing: int) -> int:
    """(1 + X)^n with X = 256^spacing."""
    raw = bytearray(spacing * n + spacing)
    for j in range(n + 1):
        coefficient = comb(n, j)
        raw[j * spacing : j * spacing + spacing] = coefficient.to_bytes(spacing, "little")
    return int.from_bytes(raw, "little")
