"""How often a leaderboard claims what is not so.

Leaderboards are simulated, all pairs of systems are tested, and it is counted how often some pair
of equally good systems is called different: the familywise error, which is to be 5 % at most, with
no correction, by Holm's and by max-T. Where some systems are better, it is counted how many of the
true differences are found.

Holm holds the level wherever the tests of single pairs do. Max-T has one coin for all pairs of an
item, which is exact where the differences of an item are jointly symmetric about 0. Systems that
are exchangeable and no more need not be like that, and there it is only right for many items. The
command fails where a correction errs more often than it promises, and than chance can explain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint

import permtest as pt
from benchmarks.report import Section, table
from permtest.many.corrections import max_t

ALPHA, SYSTEMS = 0.05, 10
FIRST, SECOND = np.triu_indices(SYSTEMS, 1)
K = 999  # labellings for max-T
CORRECTIONS = ("none", "holm", "max_t")

Scores = NDArray[np.int64]
Generator = np.random.Generator


class Kind(NamedTuple):
    """Leaderboards of n items; `draw(n, rng)` returns scores of shape (systems, n)."""

    name: str
    n: int
    draw: Callable[[int, Generator], Scores]
    symmetric: bool = False  # jointly, the differences of equal systems
    better: int = 0  # systems at the end are better than the others, all by as much


def answers(n: int, rng: Generator, mean: float = 1.5, odds: float = 1.0) -> Scores:
    """Right or wrong, on items that are hard or easy; half of the systems have better odds."""
    gain = np.log(odds) * (np.arange(SYSTEMS)[:, None] >= SYSTEMS / 2)
    chances = 1 / (1 + np.exp(-rng.normal(mean, 1.5, n) - gain))
    return 1 * (rng.random((SYSTEMS, n)) < chances)


def one_winner(n: int, rng: Generator) -> Scores:
    """On each item one system is right.

    Systems are exchangeable, but differences are not jointly symmetric: all but one would be right
    if they were turned around.
    """
    return np.eye(SYSTEMS, dtype=np.int64)[rng.integers(SYSTEMS, size=n)].T


KINDS = (
    # Who exchanges right and wrong sees the same kind of items.
    Kind("equal, half right", 200, lambda n, rng: answers(n, rng, mean=0.0), symmetric=True),
    Kind("equal, mostly right", 200, answers),
    Kind("one winner", 200, one_winner),
    Kind("one winner", 20, one_winner),
    Kind("half better", 200, lambda n, rng: answers(n, rng, odds=1.5), better=SYSTEMS // 2),
)


def rejections(scores: Scores, rng: Generator) -> list[NDArray[np.bool_]]:
    """Which pairs of a board are called different, by each correction."""
    p = pt.exact_perm_test(scores[FIRST], scores[SECOND], axis=1).pvalue
    return [p <= ALPHA, holm(p), max_t(scores, FIRST, SECOND, K=K, rng=rng)[0] <= ALPHA]


def holm(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What Holm rejects; statsmodels says the same, but collects garbage at every call."""
    order = np.argsort(p)
    rejected = np.empty(p.size, dtype=bool)
    rejected[order] = np.logical_and.accumulate(p[order] <= ALPHA / np.arange(p.size, 0, -1))
    return rejected


def measure(kind: Kind, boards: int, rng: Generator) -> tuple[list[str], list[str]]:
    """Cells of errors and of power in so many leaderboards, and what errs for sure."""
    found = np.array([rejections(kind.draw(kind.n, rng), rng) for _ in range(boards)])
    good = np.arange(SYSTEMS) >= SYSTEMS - kind.better
    differ = good[FIRST] != good[SECOND]
    cells, wrong = [f"{kind.name}{'*' * kind.symmetric}", f"{kind.n}"], []
    for name, pairs in zip(CORRECTIONS, found.swapaxes(0, 1), strict=True):
        hits = int(pairs[:, ~differ].any(axis=1).sum())
        low, high = proportion_confint(hits, boards, 0.05, "wilson")
        power = f"; {pairs[:, differ].mean():.4f}" if kind.better else ""
        cells.append(f"{hits / boards:.4f} ({low:.3f}, {high:.3f}){power}")
        if low > ALPHA and (name == "holm" or (name == "max_t" and kind.symmetric)):
            wrong.append(f"{name}: {hits / boards:.4f} > {ALPHA} ({kind.name}, N = {kind.n})")
    return cells, wrong


def section(boards: int, kinds: tuple[Kind, ...] = KINDS) -> Section:
    """All kinds."""
    streams = np.random.default_rng(0).spawn(len(kinds))
    found = [measure(kind, boards, rng) for kind, rng in zip(kinds, streams, strict=True)]
    text = (
        f"Share of {boards:,} simulated leaderboards of {SYSTEMS} systems in which some pair of "
        f"equal systems is called different at {ALPHA} (Wilson's 95 % interval), and share of true "
        f"differences found; max-T with {K} labellings. * jointly symmetric: max-T promises its "
        "level.\n\n"
    )
    lines = table(["kind", "N", *CORRECTIONS], [cells for cells, _ in found])
    return Section("Familywise error", text + lines, [x for _, wrong in found for x in wrong])
