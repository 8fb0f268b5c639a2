"""Scores with all digits of a float: ``python -m benchmarks.floats``, some seconds.

What a test costs and how narrow its bracket is, for float64, float32 and the same scores rounded to
four decimals, on scores such as a learned metric gives.
"""

from __future__ import annotations

from statistics import median

import numpy as np

import permtest as pt
from benchmarks.report import duration, seconds, table

SEED = 20220710
SIZES = (25, 42, 100, 500, 2000, 10_000)
DRAWS = 7


def draw(n: int, kind: type, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two systems on n items: around .8, differing by .003 on average."""
    rng = np.random.default_rng([seed, n])
    u = rng.normal(0.8, 0.1, n)
    return u.astype(kind), (u + rng.normal(-0.003, 0.05, n)).astype(kind)


def rows() -> list[list[str]]:
    """A row for each number of items and kind of score."""
    found = []
    for n in SIZES:
        for kind in (np.float64, np.float32, "four decimals"):
            some = [draw(n, np.float64 if isinstance(kind, str) else kind, k) for k in range(DRAWS)]
            if isinstance(kind, str):
                some = [(u.round(4), v.round(4)) for u, v in some]
            results = [pt.exact_perm_test(u, v) for u, v in some]
            times = [seconds(lambda u=u, v=v: pt.exact_perm_test(u, v)) for u, v in some]
            widest = max(result.error_bound for result in results)
            least = min(result.log10_pvalue for result in results)
            methods = ", ".join(sorted({result.method for result in results}))
            name = kind if isinstance(kind, str) else kind.__name__
            width = f"{widest:.0e}"
            found.append(
                [f"{n:,}", name, methods, duration(median(times)), width, f"1e{least:.0f}"]
            )
    return found


def main() -> None:
    """Print the table."""
    print(table(["N", "scores", "method", "time", "largest error bound", "smallest p"], rows()))


if __name__ == "__main__":
    main()
