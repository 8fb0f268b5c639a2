"""How sure the Bayes test is of equal and of unlike models.

Data sets of two models are simulated, in which B is as good as A, or better. Where they are equal,
a calibrated P(H1) is spread evenly from 0 to 1: its standard deviation is .29, and it is above .95
in one data set of twenty, and below .05 in another. The paper takes both models for independent,
so that models that share data are called unequal less often. The command fails where that happens
more often.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from benchmarks.data import logistic
from benchmarks.report import Section, table
from permtest import alternatives as alt

SURE = 0.95

ITEMS = 600
#: By how much B is better.
KINDS = (("equal models", 0.0), ("B better", 0.3))

Array = NDArray[Any]
#: Rows of counts of A and of B.
DataSet = tuple[Array, Array]


def cross_validation(sets: int, rng: np.random.Generator, gain: float) -> Iterator[DataSet]:
    """3 x 2 BCV of two logistic regressions on features of their own and one that they share."""
    folds = list(alt.BlockRegularizedCV(rng=0).split(range(ITEMS)))
    y = rng.integers(2, size=(sets, ITEMS, 1))
    shift = np.array([0.5, 0.5 - gain / 2, 0.5 + gain / 2])
    x = np.concatenate([y**0, rng.normal(size=(sets, ITEMS, 3)) + y * shift], axis=2)
    counts = []
    for train, test in folds:
        said = [
            (x[:, test][..., own] @ logistic(x[:, train][..., own], y[:, train]))[..., 0] > 0
            for own in ([0, 1, 2], [0, 1, 3])
        ]
        gold = y[:, test, 0] == 1
        cells = np.stack([np.stack([s & gold, s & ~gold, ~s & gold], -1) for s in said])
        counts.append(cells.sum(axis=2))
    yield from np.stack(counts, axis=2).transpose(1, 0, 2, 3)


def section(sets: int) -> Section:
    """All kinds of data sets, and what is amiss."""
    table_rows, failures = [], []
    most = binom(sets, 1 - SURE).ppf(0.9999) / sets
    for name, gain in KINDS:
        drawn = cross_validation(sets, np.random.default_rng(0), gain)
        p = np.array([alt.bayes_test(a, b).p_h1 for a, b in drawn])
        b, a = np.mean(p > SURE), np.mean(p < 1 - SURE)
        table_rows.append([name, f"{p.std():.2f}", f"{b:.1%}", f"{a:.1%}"])
        if gain == 0 and max(a, b) > most:
            failures.append(f"{name}: P(H1) is sure in {max(a, b):.1%} of the data sets")
    head = ["data sets", "spread", f"P(H1) > {SURE}", f"P(H1) < {1 - SURE:.2f}"]
    title = f"The Bayes test on {sets:,} 3 x 2 cross-validations of each kind"
    return Section(title, table(head, table_rows), failures)
