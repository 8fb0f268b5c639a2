"""Small tests, many at once: the jitted loop that counts labellings."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

Ints: TypeAlias = NDArray[np.int64]


@jit
def count_tails(starts: Ints, widths: Ints, counts: Ints, most: Ints, hits: Ints) -> None:
    """How many labellings of law r have T <= most[r], law r being ``starts[r] : starts[r + 1]``.

    Alg. 3 in integers, over the cells of the tail alone: entries of greater width must stay. Leaves
    ``hits[r]`` as it is where ``most[r]`` is negative. For at most 62 entries; widths ascend.
    """
    longest = -1
    for r in range(most.size):
        longest = max(longest, most[r])
    cells = np.zeros(longest + 1, dtype=np.int64)
    for r in range(most.size):
        if most[r] < 0:
            continue
        cells[: most[r] + 1] = 0
        cells[0] = 1
        reach = 0
        for k in range(starts[r], starts[r + 1]):
            if widths[k] > most[r]:
                break
            for _ in range(counts[k]):
                reach = min(reach + widths[k], most[r])
                for t in range(reach, widths[k] - 1, -1):
                    cells[t] += cells[t - widths[k]]
        hits[r] = cells[: reach + 1].sum()
