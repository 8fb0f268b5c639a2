"""Alg. 5 of the paper, for statistics of several sums, as it is printed, in plain NumPy.

Each of the m sums has an axis of its own, though two of the four that F1 takes (Eq. 16) follow from
the other two; equal entries are not grouped, and nothing is dropped. Only the cells that the sums
can reach are kept, which is less than the paper asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft


class Pmf(NamedTuple):
    """Probabilities of the points from `lows` on, in m dimensions."""

    lows: tuple[int, ...]
    cells: NDArray[np.float64]


Convolve = Callable[[Sequence[Pmf]], Pmf]


def local_pmf(stay: Sequence[int], swap: Sequence[int]) -> Pmf:
    """Line 5: two points of probability 1/2, or one of probability 1."""
    lows = tuple(map(min, stay, swap))
    cells = np.zeros([abs(x - y) + 1 for x, y in zip(stay, swap, strict=True)])
    for point in (stay, swap):
        cells[tuple(x - low for x, low in zip(point, lows, strict=True))] += 0.5
    return Pmf(lows, cells)


def convolve_dp(pmfs: Sequence[Pmf]) -> Pmf:
    """Alg. 3 in m dimensions: one shift for each of the one or two points of an entry."""
    total = pmfs[0]
    for f in pmfs[1:]:
        longer = np.zeros(_sizes(total, f))
        for shift in np.argwhere(f.cells):
            at = tuple(slice(x, x + k) for x, k in zip(shift, total.cells.shape, strict=True))
            longer[at] += f.cells[tuple(shift)] * total.cells
        total = Pmf(_lows(total, f), longer)
    return total


def convolve_fft(pmfs: Sequence[Pmf]) -> Pmf:
    """Alg. 4 in m dimensions: convolve the first half with the second half (Theorem 5)."""
    if len(pmfs) == 1:
        return pmfs[0]
    middle = len(pmfs) // 2
    return convolve_two(convolve_fft(pmfs[:middle]), convolve_fft(pmfs[middle:]))


def convolve_two(f: Pmf, g: Pmf) -> Pmf:
    """Through the Fourier transform, at lengths at which nothing wraps around."""
    sizes = _sizes(f, g)
    m = [fft.next_fast_len(size, real=True) for size in sizes]
    product = fft.rfftn(f.cells, m)
    product *= fft.rfftn(g.cells, m)
    return Pmf(_lows(f, g), fft.irfftn(product, m)[tuple(map(slice, sizes))])


def exact_perm_test_m(
    u: Sequence[Any],
    v: Sequence[Any],
    g: Sequence[Callable[[Any, Any], int]],
    h: Callable[..., Any],
    convolve: Convolve,
) -> float:
    """Alg. 5; each g takes two entries, h takes m arrays that broadcast against each other."""
    stay = [[int(each(a, b)) for each in g] for a, b in zip(u, v, strict=True)]
    swap = [[int(each(b, a)) for each in g] for a, b in zip(u, v, strict=True)]
    total = convolve([local_pmf(x, y) for x, y in zip(stay, swap, strict=True)])
    observed = h(*np.array(stay).sum(axis=0))
    spans = zip(total.lows, total.cells.shape, strict=True)
    first, *others = (low + np.arange(size) for low, size in spans)
    grid = np.ix_(*others)
    # One value of the first sum at a time: h of all cells at once would not fit.
    return sum(
        float(cells[h(x, *grid) >= observed].sum())
        for x, cells in zip(first.tolist(), total.cells, strict=True)
    )


#: Eq. 16; an entry is its true positives and its incorrect predictions.
F1_SUMS: tuple[Callable[[Any, Any], int], ...] = (
    lambda a, _: a[0],
    lambda a, _: a[1],
    lambda _, b: b[0],
    lambda _, b: b[1],
)


def f1_gap(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    """Eq. 16 with an absolute value around it, in floats as it is printed; 0/0 is 0."""
    return np.abs(_f1(x1, x2) - _f1(x3, x4))


def f1_gap_with_ties(*sums: Any) -> Any:
    """The same to thirteen digits: values that ought to be equal are."""
    return np.round(f1_gap(*sums), 13)


def _f1(tp: Any, incorrect: Any) -> Any:
    below = tp + incorrect / 2
    return np.where(below > 0, tp / np.where(below > 0, below, 1.0), 0.0)


def perm_test_f1(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    convolve: Convolve = convolve_fft,
    h: Callable[..., Any] = f1_gap,
) -> float:
    """The two-sided test of F1, from true positives, false positives and false negatives."""
    entries = [np.column_stack((x[:, 0], x[:, 1] + x[:, 2])).tolist() for x in (u, v)]
    return exact_perm_test_m(*entries, F1_SUMS, h, convolve)


def _sizes(f: Pmf, g: Pmf) -> list[int]:
    return [a + b - 1 for a, b in zip(f.cells.shape, g.cells.shape, strict=True)]


def _lows(f: Pmf, g: Pmf) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(f.lows, g.lows, strict=True))
