"""The joint characteristic function of several sums on a grid: the jitted loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from permtest._jit import jit

#: Values below exp(-SMALL) stay 0.
SMALL = 60.0


@jit
def fair_product(
    shape: NDArray[np.int64],
    steps: NDArray[np.int64],
    counts: NDArray[np.int64],
    values: NDArray[np.float64],
) -> float:
    """Fill `values` with E cos(theta (T - E T)) at theta = 2 pi j / shape, row after row.

    Of the last axis only the first half, as for a real transform. The law is symmetric, so that
    this is all there is: prod_k cos(pi x_k)^c_k with x = steps * j / shape. Returns the sum of
    squared rounding errors.
    """
    rank = shape.size
    half = shape[rank - 1] // 2 + 1
    index = np.zeros(rank, dtype=np.int64)
    squares = 0.0
    for flat in range(values.size):
        rest = flat // half
        index[rank - 1] = flat % half
        for axis in range(rank - 2, -1, -1):
            index[axis] = rest % shape[axis]
            rest //= shape[axis]
        log_size, odd, rough = 0.0, 0, 0.0
        for k in range(counts.size):
            x = 0.0
            for axis in range(rank):
                x += ((steps[k, axis] * index[axis]) % shape[axis]) / shape[axis]
                # Whole turns of one angle turn half of it, which changes the sign.
                odd ^= counts[k] & ((steps[k, axis] * index[axis]) // shape[axis]) & 1
            turns = int(np.rint(x))
            odd ^= counts[k] & turns & 1
            x -= turns
            sine, cosine = np.sin(np.pi * x), np.cos(np.pi * x)
            far = abs(cosine) < 0.7  # from 1, so that its logarithm has all digits
            log_size += counts[k] * (np.log(abs(cosine)) if far else 0.5 * np.log1p(-sine * sine))
            rough += counts[k] * abs(sine) / max(abs(cosine), 1e-300)
            if log_size < -SMALL:
                break
        if log_size >= -SMALL:
            size = np.exp(log_size)
            values[flat] = -size if odd else size
            squares += (size * (10.0 - log_size + rank * rough) * 2.0**-52) ** 2
    return squares
