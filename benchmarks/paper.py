"""Alg. 1 to 5 of the paper as they are printed, in plain NumPy, to hold the package against.

Laws have an axis for each of the m sums that a statistic takes: one for a difference of sums, four
for F1 (Eq. 16), though two of those four follow from the others. Every entry is an entry of its
own, equal ones are not grouped, and nothing is dropped (the published code drops cells below 1e-8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Scores = NDArray[np.int64]
AT_ONCE = 2**16  # cells of which h is computed together: all of them would not fit


Law = tuple[tuple[int, ...], NDArray[np.float64]]  # the lowest point, and probabilities from it on
Convolve = Callable[[Sequence[Law]], Law]


def local_pmf(stay: Sequence[int], swap: Sequence[int]) -> Law:
    """Eq. 4: two points of probability 1/2, or one of probability 1."""
    lows = tuple(map(min, stay, swap))
    cells = np.zeros([abs(x - y) + 1 for x, y in zip(stay, swap, strict=True)])
    for point in (stay, swap):
        cells[tuple(x - low for x, low in zip(point, lows, strict=True))] += 0.5
    return lows, cells


def convolve_dp(laws: Sequence[Law]) -> Law:
    """Alg. 3: F_n from F_{n-1}, by one shift for each of the one or two points of entry n."""
    total = np.ones([1] * len(laws[0][0]))  # F_0
    for _, f in laws:
        shape = total.shape
        longer = np.zeros([a + b - 1 for a, b in zip(shape, f.shape, strict=True)])
        for shift in zip(*(places.tolist() for places in f.nonzero()), strict=True):
            at = tuple([slice(x, x + k) for x, k in zip(shift, shape, strict=True)])
            longer[at] += f[shift] * total
        total = longer
    return _lowest(laws), total


def convolve_fft(laws: Sequence[Law]) -> Law:
    """Alg. 4: convolve the first half with the second half, and each of them likewise."""
    return _lowest(laws), _convolve_halves([cells for _, cells in laws])


def _convolve_halves(laws: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Eq. 8 through the Fourier transform, at lengths at which nothing wraps around."""
    if len(laws) == 1:
        return laws[0]
    middle = len(laws) // 2
    f, g = _convolve_halves(laws[:middle]), _convolve_halves(laws[middle:])
    sizes = [a + b - 1 for a, b in zip(f.shape, g.shape, strict=True)]
    m = [fft.next_fast_len(size, real=True) for size in sizes]
    if len(m) == 1:
        return fft.irfft(fft.rfft(f, m[0]) * fft.rfft(g, m[0]), m[0])[: sizes[0]]
    product = fft.rfftn(f, m)
    product *= fft.rfftn(g, m)
    return fft.irfftn(product, m)[tuple(map(slice, sizes))]


def _lowest(laws: Sequence[Law]) -> tuple[int, ...]:
    return tuple(np.sum([lows for lows, _ in laws], axis=0).tolist())


def perm_test(stay: Scores, swap: Scores, h: Callable[..., Any], convolve: Convolve) -> float:
    """Alg. 2 and 5: `stay` and `swap` have the local effects of N entries on m sums, as (N, m)."""
    lows, total = convolve(
        [local_pmf(x, y) for x, y in zip(stay.tolist(), swap.tolist(), strict=True)]
    )
    observed, p = h(*stay.sum(axis=0)), 0.0
    spans = zip(lows, total.shape, strict=True)
    first, *others = (low + np.arange(size) for low, size in spans)
    step = max(1, AT_ONCE // total[0].size)
    for k in range(0, len(first), step):
        values = h(*np.ix_(first[k : k + step], *others))
        p += float(total[k : k + step][values >= observed].sum())
    return p


def exact_perm_test(
    u: Scores, v: Scores, convolve: Convolve, h: Callable[[Any], Any] = np.abs
) -> float:
    """The test of a difference of sums."""
    return perm_test((u - v)[:, None], (v - u)[:, None], h, convolve)


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
    u: Scores, v: Scores, convolve: Convolve = convolve_fft, h: Callable[..., Any] = f1_gap
) -> float:
    """The two-sided test of F1, from true positives, false positives and false negatives."""
    a, b = (np.column_stack((x[:, 0], x[:, 1] + x[:, 2])) for x in (u, v))
    return perm_test(np.hstack((a, b)), np.hstack((b, a)), h, convolve)


def coin_flips(u: Scores, v: Scores, samples: int) -> float:
    """Alg. 1 as one would first write it well: a coin for every entry, in batches.

    float32 is quicker than integers here, and exact as long as all sums are below 2^24.
    """
    d, rng, batch, hits = (u - v).astype(np.float32), np.random.default_rng(0), 500, 0
    total = float(d.sum(dtype=np.float64))
    for _ in range(samples // batch):
        coins = rng.integers(0, 2, size=(batch, d.size), dtype=np.int8).astype(np.float32)
        hits += int((np.abs(2 * (coins @ d) - total) >= abs(total)).sum())
    return (hits + 1) / (samples + 1)
