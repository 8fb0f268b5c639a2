"""Everything that is timed: this package's methods, the paper's algorithms, other packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks import paper_algorithms as paper
from benchmarks.timing import LIMIT

Scores = NDArray[np.int64]
Test = Callable[[Scores, Scores], Any]

SAMPLES = 20_000  # the paper's K
RESAMPLES = 9_999  # SciPy's default
ROUNDS = 10  # what of mlxtend's loop is run; its time is proportional to them


@dataclass(frozen=True)
class Contender:
    """One way to a p-value.

    Parameters
    ----------
    name : str
        Heading of its column, and its key in the record.
    run : callable
        ``run(u, v)``.
    label : str
        What the legend of a picture says.
    exact : bool
        Whether it returns, or its result's `pvalue` is, the exact p: then both are compared.
    scale : float
        Its time is multiplied by this: 1, unless only a part of the work is run.
    largest : int
        No larger N is tried.
    limit : float
        Seconds: what is expected to take longer is not run.
    """

    name: str
    run: Test
    label: str
    exact: bool = False
    scale: float = 1.0
    largest: int = 10**9
    limit: float = LIMIT

    def pvalue(self, u: Scores, v: Scores) -> float:
        """The p-value, however it is wrapped."""
        found: Any = self.run(u, v)
        return float(found.pvalue if hasattr(found, "pvalue") else found)


def ours(*methods: str) -> list[Contender]:
    """`exact_perm_test` by method."""
    label = {"tilted": "permtest (tilted, the default)"}
    return [
        Contender(
            name,
            partial(pt.exact_perm_test, method=name),
            label.get(name, f"permtest, method={name!r}"),
            exact=True,
        )
        for name in methods
    ]


def from_the_paper() -> list[Contender]:
    """Alg. 3 and 4 as printed."""
    return [
        Contender("Alg. 3", _alg3, "the paper's Alg. 3, plain NumPy", exact=True),
        Contender("Alg. 4", _alg4, "the paper's Alg. 4, plain NumPy", exact=True),
    ]


def others() -> list[Contender]:
    """Other packages, as far as they are installed."""
    return [peer for peer in _other_packages() if find_spec(peer.name.lower())]


def missing() -> list[str]:
    """Names of other packages that are not installed."""
    return [peer.name for peer in _other_packages() if not find_spec(peer.name.lower())]


def _other_packages() -> list[Contender]:
    rounds = f"mlxtend, {RESAMPLES:,} rounds (scaled up)"
    resamples = f"SciPy, {RESAMPLES:,} resamples"
    return [
        Contender("SciPy", scipy_test, resamples, largest=10**4, limit=30.0),
        Contender("mlxtend", mlxtend_test, rounds, scale=RESAMPLES / ROUNDS, largest=10**5),
    ]


def all_contenders() -> list[Contender]:
    """The columns of the table, in their order."""
    sampled = Contender("MC", monte_carlo, f"permtest.monte_carlo, K = {SAMPLES:,}")
    reading = Contender("bincount", read_only, "reading in NumPy: np.bincount(np.abs(u - v))")
    return [*ours("tilted", "dp", "fft"), sampled, *from_the_paper(), *others(), reading]


def monte_carlo(u: Scores, v: Scores) -> Any:
    """Alg. 1 as the package has it: bits are counted, not coins thrown."""
    return pt.monte_carlo(u, v, K=SAMPLES, rng=0)


def read_only(u: Scores, v: Scores) -> Any:
    """What any exact method must do at least: look at every pair once."""
    return np.bincount(np.abs(u - v))


def default_test(u: Scores, v: Scores) -> Any:
    """The difference of sums, as a user would ask for it."""
    return pt.exact_perm_test(u, v)


def f1_test(u: Scores, v: Scores) -> Any:
    """Alg. 5 as the package has it, for F1 of tables of counts."""
    return pt.exact_perm_test(u, v, statistic="f1")


def f1_monte_carlo(u: Scores, v: Scores) -> Any:
    """The same by Alg. 1."""
    return pt.monte_carlo(u, v, statistic="f1", K=SAMPLES, rng=0)


def count_moves(u: Scores, v: Scores) -> Any:
    """What any exact test of F1 must do at least: count what a swap would change."""
    tp, incorrect = u[:, 0] - v[:, 0], u[:, 1] + u[:, 2] - v[:, 1] - v[:, 2]
    low = incorrect.min()
    return np.bincount((tp - tp.min()) * (incorrect.max() - low + 1) + incorrect - low)


def coin_flips(u: Scores, v: Scores) -> float:
    """Alg. 1 as one would first write it well: a coin for every entry, in batches.

    float32 is quicker than integers here, and exact as long as all sums are below 2^24.
    """
    d, rng, batch, hits = (u - v).astype(np.float32), np.random.default_rng(0), 500, 0
    total = float(d.sum(dtype=np.float64))
    for _ in range(SAMPLES // batch):
        coins = rng.integers(0, 2, size=(batch, d.size), dtype=np.int8).astype(np.float32)
        hits += int((np.abs(2 * (coins @ d) - total) >= abs(total)).sum())
    return (hits + 1) / (SAMPLES + 1)


def scipy_test(u: Scores, v: Scores) -> Any:
    """SciPy's test, in batches that suit it best."""
    from scipy.stats import permutation_test

    return permutation_test(
        (u, v),
        _difference,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        batch=max(1, 10**7 // u.size),
        rng=0,
    )


def mlxtend_test(u: Scores, v: Scores) -> Any:
    """mlxtend's paired test, a few of its rounds."""
    from mlxtend.evaluate import permutation_test

    return permutation_test(u, v, method="approximate", num_rounds=ROUNDS, seed=0, paired=True)


def _difference(u: Scores, v: Scores, axis: int) -> Any:
    return np.sum(u - v, axis=axis)


def _alg3(u: Scores, v: Scores) -> float:
    return paper.exact_perm_test(u, v, paper.convolve_dp)


def _alg4(u: Scores, v: Scores) -> float:
    return paper.exact_perm_test(u, v, paper.convolve_fft)
