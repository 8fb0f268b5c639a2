"""How sure the Bayes test is of equal and of unlike models: ``python -m benchmarks.bayes``.

Data sets of two models are simulated, in which B is as good as A, or better. Where they are equal,
a calibrated P(H1) is spread evenly from 0 to 1: its standard deviation is .29, and it is above .95
in one data set of twenty, and below .05 in another. The paper takes both models for independent;
the paired answers take the correlation from what both models share, or from the rows of counts. The
command fails where shared counts call equal models unequal more often than they should.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from benchmarks.data import logistic
from benchmarks.report import Section, simulate, table
from permtest import alternatives as alt

SURE = 0.95
ANSWERS = ("the paper's", "paired, shared counts", "paired, rows")

#: Entities and sentences of a hold-out set, and how much the taggers' mistakes correlate; items of
#: a cross-validation.
ENTITIES, SENTENCES, ALIKE, ITEMS = 400, 200, 0.6, 600

Array = NDArray[Any]
#: Rows of counts of A, of B, and of what they share, and the weight; for each data set.
DataSet = tuple[Array, Array, Array, float | None]


def hold_out(sets: int, rng: np.random.Generator, gain: float) -> Iterator[DataSet]:
    """Two taggers on the same sentences: A finds four of five entities, B `gain` more of them."""
    a, b = 0.8, 0.8 + gain
    both = a * b + ALIKE * np.sqrt(a * (1 - a) * b * (1 - b))
    outcomes = [both, a - both, b - both, 1 - a - b + both]  # found by both, A alone, B alone, none
    spurious = 0.15 * ENTITIES * np.array([ALIKE, 1 - ALIKE, 1 - ALIKE])  # of both, one alone
    for _ in range(sets):
        cells = np.append(rng.multinomial(ENTITIES, outcomes), rng.poisson(spurious))
        rows = rng.multinomial(cells, np.full(SENTENCES, 1 / SENTENCES)).T
        shared = rows[:, [0, 4, 3]]
        alone = rows[:, [1, 5, 2]], rows[:, [2, 6, 1]]
        yield shared + alone[0], shared + alone[1], shared.sum(axis=0), 1.0


def cross_validation(sets: int, rng: np.random.Generator, gain: float) -> Iterator[DataSet]:
    """3 x 2 BCV of two logistic regressions on features of their own and one that they share."""
    folds = list(alt.BlockRegularizedCV(3, rng=0).partition(range(ITEMS)).splits())
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
        counts.append(np.stack([*cells.sum(axis=2), cells.all(axis=0).sum(axis=1)]))
    for a, b, shared in np.stack(counts, axis=2).transpose(1, 0, 2, 3):
        yield a, b, shared, None


#: Name, what draws the data, and by how much B is better.
KINDS: list[tuple[str, Callable[..., Iterator[DataSet]], float]] = [
    ("hold-out set, equal", hold_out, 0.0),
    ("hold-out set, B better", hold_out, 0.03),
    ("3 x 2 BCV, equal", cross_validation, 0.0),
    ("3 x 2 BCV, B better", cross_validation, 0.3),
]


def probabilities(data: DataSet) -> tuple[float, float, float]:
    """P(H1) of F1 by each answer."""
    a, b, shared, weight = data
    found = alt.bayes_test(a, b, weight=weight, paired=True)
    if len(a) > len(np.atleast_2d(shared)):  # sums will do
        a, b = a.sum(axis=0), b.sum(axis=0)
    paired = alt.bayes_test(a, b, weight=weight, paired=shared).paired
    assert paired
    assert found.paired
    return found.p_h1, paired.p_h1, found.paired.p_h1


def run(sets: int) -> list[Section]:
    """All kinds of data sets, and what is amiss."""
    rows, failures = [], []
    most = binom(sets, 1 - SURE).ppf(0.9999) / sets
    for name, draw, gain in KINDS:
        p = np.array(list(map(probabilities, draw(sets, np.random.default_rng(0), gain))))
        for answer, column in zip(ANSWERS, p.T, strict=True):
            spread, b, a = column.std(), np.mean(column > SURE), np.mean(column < 1 - SURE)
            rows.append([f"{name}: {answer}", f"{spread:.2f}", f"{b:.1%}", f"{a:.1%}"])
            if gain == 0 and answer == ANSWERS[1] and max(a, b) > most:
                failures.append(f"{name}: {answer} are sure in {max(a, b):.1%} of the data sets")
    head = ["data sets and answer", "spread", f"P(H1) > {SURE}", f"P(H1) < {1 - SURE:.2f}"]
    title = f"The Bayes test on {sets:,} data sets of each kind"
    return [Section(title, table(head, rows), failures)]


if __name__ == "__main__":
    sys.exit(simulate("bayes", __doc__, 1000, run))
