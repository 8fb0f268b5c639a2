"""A shorter lattice on which T has the same order, where the widths are nearly multiples.

Thirds that were printed as decimals, counts with one giant among them, millions and ones: such
widths make long lattices with hardly anything on them. Write w = a L + r with a small remainder r.
Then T = L K + R, and where R has less room than L, T is ordered by K first and by R second. Any
other L with as much room as R needs gives the same order, hence the same tails.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from permtest.null.grouping import TwoPointSum, add_counts, from_widths

#: With more distinct widths it is not tried; it would take a second, and hardly ever succeed.
MAX_WIDTHS = 200
#: Up to so many, differences of two widths are tried as L too.
MAX_PAIRED = 40


def shorten(law: TwoPointSum, t0: int) -> tuple[TwoPointSum, int] | None:
    """A law and a threshold with the same P(T >= t0), on a shorter lattice; None if none is found.

    Widths may be of any size. Cost O(U^2), or O(U^3) for few distinct widths.
    """
    if law.widths.size > MAX_WIDTHS:
        return None
    widths, lengths = law.widths.astype(object), set(law.widths.tolist())
    if widths.size <= MAX_PAIRED:
        lengths |= {b - a for a, b in combinations(widths.tolist(), 2)}
    for length in sorted(lengths - {1}, reverse=True):
        a = (2 * widths + length - 1) // (2 * length)  # so that r is as small as can be
        r = widths - length * a
        below, room = law.counts @ np.minimum(r, 0), law.counts @ np.abs(r)
        step = int(np.gcd.reduce(r)) or 1
        shorter = room // step + 1
        if room >= length or shorter >= length:
            continue
        # T - below = L K + (R - below), and the last term is from 0 to room.
        multiple, rest = divmod(t0 - below, length)
        rest = -(-rest // step)
        if rest > room // step:
            multiple, rest = multiple + 1, 0
        threshold = multiple * shorter + rest + below // step
        new = from_widths(law.n, *add_counts(a * shorter + r // step, law.counts))
        return new, -(-threshold // new.unit)
    return None
