"""How often a leaderboard claims what is not so: ``python -m benchmarks.familywise``.

Leaderboards are simulated, all pairs of systems are tested, and it is counted how often some pair
of equally good systems is called different: the familywise error, which is to be 5 % at most, with
no correction, by Holm's and by max-T. Where some systems are better, it is counted how many of the
true differences are found.

Holm holds the level wherever the tests of single pairs do. Max-T has one coin for all pairs of an
item, which is exact where the differences of an item are jointly symmetric about 0, as if an item
could as well have turned them all around. Systems that are exchangeable and no more need not be
like that, and there it is only right for many items: these kinds say how far it is off. The command
fails where a correction errs more often than it promises, and than chance can explain.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint

import permtest as pt
from benchmarks.report import Section, simulate, table
from permtest.many import ScoreTable
from permtest.many.corrections import max_t

ALPHA, SYSTEMS = 0.05, 10
PAIRS = np.triu_indices(SYSTEMS, 1)
K = 999  # labellings for max-T
AT_ONCE = 100  # boards whose p-values are computed together
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


def chances(
    n: int, rng: Generator, mean: float, spread: float, odds: float = 1.0
) -> NDArray[np.float64]:
    """Chances of all systems on items that are hard or easy; half of them have better odds."""
    gain = np.log(odds) * (np.arange(SYSTEMS)[:, None] >= SYSTEMS / 2)
    return 1 / (1 + np.exp(-rng.normal(mean, spread, n) - gain))


def answers(n: int, rng: Generator, mean: float = 1.5, odds: float = 1.0) -> Scores:
    """Right or wrong, mostly right."""
    return 1 * (rng.random((SYSTEMS, n)) < chances(n, rng, mean, 1.5, odds))


def tokens(n: int, rng: Generator) -> Scores:
    """Correct tokens of sentences of some length, some of them hard."""
    return rng.binomial(rng.geometric(1 / 12, n), chances(n, rng, 2.0, 0.8))


def one_winner(n: int, rng: Generator) -> Scores:
    """On each item one system is right.

    Systems are exchangeable, but differences are not jointly symmetric: all but one would be right
    if they were turned around.
    """
    return np.eye(SYSTEMS, dtype=np.int64)[rng.integers(SYSTEMS, size=n)].T


KINDS = (
    # Who exchanges right and wrong sees the same kind of items.
    Kind("equal, half right", 200, lambda n, rng: answers(n, rng, mean=0.0), symmetric=True),
    Kind("equal, tokens", 200, tokens),
    Kind("one winner", 200, one_winner),
    Kind("one winner", 20, one_winner),
    Kind("half better", 200, lambda n, rng: answers(n, rng, odds=1.5), better=SYSTEMS // 2),
)


def rejections(boards: Sequence[Scores], rng: Generator) -> Iterator[list[NDArray[np.bool_]]]:
    """Which pairs of each board are called different, by each correction."""
    first, second = PAIRS
    names = tuple(map(str, range(SYSTEMS)))
    u, v = (np.concatenate([scores[i] for scores in boards]) for i in (first, second))
    pvalues = pt.exact_perm_test(u, v, axis=1).pvalue.reshape(len(boards), -1)
    for scores, p in zip(boards, pvalues, strict=True):
        board = ScoreTable(names, scores, pt.STATISTICS["sum"])
        adjusted = max_t(board, first, second, K=K, rng=rng).adjusted
        yield [p <= ALPHA, holm(p), adjusted <= ALPHA]


def holm(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What Holm rejects; statsmodels says the same, but collects garbage at every call."""
    order = np.argsort(p)
    rejected = np.empty(p.size, dtype=bool)
    rejected[order] = np.logical_and.accumulate(p[order] <= ALPHA / np.arange(p.size, 0, -1))
    return rejected


def measure(kind: Kind, boards: int, rng: Generator) -> tuple[list[str], list[str], list[str]]:
    """Cells of errors and of power in so many leaderboards, and what errs for sure."""
    found = []
    for start in range(0, boards, AT_ONCE):
        some = [kind.draw(kind.n, rng) for _ in range(min(AT_ONCE, boards - start))]
        found += list(rejections(some, rng))
    good = np.arange(SYSTEMS) >= SYSTEMS - kind.better
    differ = np.not_equal(*(good[k] for k in PAIRS))
    head = [f"{kind.name}{'*' * kind.symmetric}", f"{kind.n}"]
    errors, power, wrong = head.copy(), head.copy(), []
    for name, pairs in zip(CORRECTIONS, np.array(found).swapaxes(0, 1), strict=True):
        hits = int(pairs[:, ~differ].any(axis=1).sum())
        low, high = proportion_confint(hits, boards, 0.05, "wilson")
        errors.append(f"{hits / boards:.4f} ({low:.3f}, {high:.3f})")
        if low > ALPHA and (name == "holm" or (name == "max_t" and kind.symmetric)):
            wrong.append(f"{name}: {hits / boards:.4f} > {ALPHA} ({kind.name}, N = {kind.n})")
        if kind.better:
            any_of_them = pairs[:, differ].any(axis=1).mean()
            power.append(f"{pairs[:, differ].mean():.4f}, {any_of_them:.4f}")
    return errors, power, wrong


def run(boards: int, kinds: Sequence[Kind] = KINDS) -> list[Section]:
    """All kinds, a line of progress for each."""
    lines, powers, failures = [], [], []
    for kind, stream in zip(kinds, np.random.default_rng(0).spawn(len(kinds)), strict=True):
        errors, power, wrong = measure(kind, boards, stream)
        print(*errors, flush=True)
        lines.append(errors)
        powers += [power] if kind.better else []
        failures += wrong
    head = ["kind", "N", *CORRECTIONS]
    text = [
        f"Share of {boards:,} simulated leaderboards of {SYSTEMS} systems in which some pair of "
        f"equal systems is called different at {ALPHA} (Wilson's 95 % interval); max-T with {K} "
        "labellings. * jointly symmetric: max-T promises its level.",
        table(head, lines),
        "Share of true differences found, and of boards with any.",
        table(head, powers),
    ]
    return [Section("Familywise error", "\n\n".join(text), failures)]


if __name__ == "__main__":
    sys.exit(simulate("familywise", __doc__, 2000, run))
