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

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint

import permtest as pt
from benchmarks.tables import Section, table
from permtest.many import ScoreTable
from permtest.many.corrections import max_t

ALPHA = 0.05
BOARDS = 2000
SYSTEMS = 10
#: Labellings for max-T.
K = 999
#: Boards whose p-values are computed together.
AT_ONCE = 100
OUTPUT = Path(__file__).parents[1] / "build" / "benchmarks"
CORRECTIONS = ("none", "holm", "max_t")

Floats = NDArray[np.float64]
Scores = NDArray[np.int64]
Generator = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """A kind of leaderboard.

    Parameters
    ----------
    name : str
    n : int
        Items.
    draw : callable
        ``draw(n, rng)`` returns scores of shape (systems, n).
    symmetric : bool
        Whether the differences of equal systems are jointly symmetric about 0.
    better : int
        How many systems at the end are better than the others, all by as much.
    """

    name: str
    n: int
    draw: Callable[[int, Generator], Scores]
    symmetric: bool = False
    better: int = 0


def chances(n: int, rng: Generator, mean: float, spread: float, odds: float) -> Floats:
    """Chances of all systems on items that are hard or easy; half of them have better odds."""
    gain = np.log(odds) * (np.arange(SYSTEMS)[:, None] >= SYSTEMS / 2)
    return 1 / (1 + np.exp(-rng.normal(mean, spread, n) - gain))


def answers(n: int, rng: Generator, mean: float = 1.5, odds: float = 1.0) -> Scores:
    """Right or wrong, mostly right."""
    return 1 * (rng.random((SYSTEMS, n)) < chances(n, rng, mean, 1.5, odds))


def even_answers(n: int, rng: Generator) -> Scores:
    """Right as often as wrong: who exchanges right and wrong sees the same kind of items."""
    return answers(n, rng, mean=0.0)


def better_answers(n: int, rng: Generator) -> Scores:
    """Mostly right, and half of the systems have one and a half times the odds of the others."""
    return answers(n, rng, odds=1.5)


def tokens(n: int, rng: Generator, odds: float = 1.0) -> Scores:
    """Correct tokens of sentences of some length, some of them hard."""
    lengths = rng.geometric(1 / 12, n)
    return rng.binomial(lengths, chances(n, rng, 2.0, 0.8, odds))


def better_tokens(n: int, rng: Generator) -> Scores:
    """The same, where half of the systems have a sixth more odds for each token."""
    return tokens(n, rng, odds=7 / 6)


def prizes(*points: int) -> Callable[[int, Generator], Scores]:
    """On each item the same points go to systems at random.

    Systems are exchangeable, but differences are not jointly symmetric: where one system in ten
    is right, all but one would be right if they were turned around.
    """
    return lambda n, rng: rng.permuted(np.tile(np.array(points)[:, None], n), axis=0)


def jackpots(n: int, rng: Generator) -> Scores:
    """One of ten wins, and items are worth very different numbers of points."""
    return prizes(*TEN)(n, rng) * rng.geometric(np.geomspace(1, 0.01, n))


TEN = (*[0] * (SYSTEMS - 1), 1)
KINDS = (
    Kind("equal, half right", 200, even_answers, symmetric=True),
    Kind("equal, mostly right", 200, answers),
    Kind("equal, tokens", 200, tokens),
    Kind("one winner", 200, prizes(*TEN)),
    Kind("one winner", 20, prizes(*TEN)),
    Kind("one winner of three", 20, prizes(0, 0, 1)),
    Kind("one jackpot", 200, jackpots),
    Kind("prizes of 5 and 1 for three", 40, prizes(0, 1, 5)),
    Kind("prizes of 5 and 1 for three", 8, prizes(0, 1, 5)),
    Kind("half better, mostly right", 200, better_answers, better=SYSTEMS // 2),
    Kind("half better, tokens", 200, better_tokens, better=SYSTEMS // 2),
)


def rejections(boards: Sequence[Scores], rng: Generator) -> Iterator[dict[str, NDArray[np.bool_]]]:
    """Which pairs of each board are called different, by each correction."""
    first, second = np.triu_indices(len(boards[0]), 1)
    names = tuple(map(str, range(len(boards[0]))))
    u, v = (np.concatenate([scores[i] for scores in boards]) for i in (first, second))
    pvalues = pt.exact_perm_test(u, v, axis=1).pvalue.reshape(len(boards), -1)
    for scores, p in zip(boards, pvalues, strict=True):
        board = ScoreTable(names, scores, pt.STATISTICS["sum"])
        adjusted = max_t(board, first, second, K=K, rng=rng).adjusted
        yield {"none": p <= ALPHA, "holm": holm(p), "max_t": adjusted <= ALPHA}


def holm(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What Holm rejects; statsmodels says the same, but collects garbage at every call."""
    order = np.argsort(p)
    rejected = np.empty(p.size, dtype=bool)
    rejected[order] = np.logical_and.accumulate(p[order] <= ALPHA / np.arange(p.size, 0, -1))
    return rejected


def measure(kind: Kind, boards: int, rng: Generator) -> dict[str, Any]:
    """Familywise error and power in so many leaderboards of one kind."""
    found: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in CORRECTIONS}
    for start in range(0, boards, AT_ONCE):
        some = [kind.draw(kind.n, rng) for _ in range(min(AT_ONCE, boards - start))]
        for rejected in rejections(some, rng):
            for name in CORRECTIONS:
                found[name].append(rejected[name])
    systems = len(some[0])
    good = np.arange(systems) >= systems - kind.better
    first, second = np.triu_indices(systems, 1)
    differ = good[first] != good[second]
    row: dict[str, Any] = {"kind": kind.name, "n": kind.n, "systems": systems}
    row["symmetric"] = kind.symmetric
    for name, each in found.items():
        pairs = np.array(each)
        row[name] = {"errors": int(pairs[:, ~differ].any(axis=1).sum())}
        if kind.better:
            row[name]["found"] = float(pairs[:, differ].mean())
            row[name]["any"] = float(pairs[:, differ].any(axis=1).mean())
    return row


def interval(errors: int, boards: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability."""
    low, high = proportion_confint(errors, boards, 0.05, "wilson")
    return float(low), float(high)


def failures(row: dict[str, Any], boards: int) -> list[str]:
    """What is above the level for sure, and should not."""
    lines = []
    for name in ("holm", "max_t") if row["symmetric"] else ("holm",):
        low, _ = interval(row[name]["errors"], boards)
        if low > ALPHA:
            share = row[name]["errors"] / boards
            lines.append(f"{name}: {share:.4f} > {ALPHA} ({row['kind']}, N = {row['n']})")
    return lines


def _text(rows: Sequence[dict[str, Any]], boards: int) -> str:
    lines, power = [], []
    for row in rows:
        mark = "*" if row["symmetric"] else ""
        head = [f"{row['kind']}{mark} ({row['systems']})", f"{row['n']}"]
        cells = []
        for name in CORRECTIONS:
            low, high = interval(row[name]["errors"], boards)
            cells.append(f"{row[name]['errors'] / boards:.4f} ({low:.3f}, {high:.3f})")
        lines.append([*head, *cells])
        if "found" in row["none"]:
            cells = [f"{row[name]['found']:.4f}, {row[name]['any']:.4f}" for name in CORRECTIONS]
            power.append([*head, *cells])
    head = ["kind (systems)", "N", *CORRECTIONS]
    parts = [
        f"Share of {boards:,} simulated leaderboards in which some pair of equal systems is called "
        f"different at {ALPHA} (Wilson's 95 % interval); max-T with {K} labellings. * jointly "
        "symmetric: max-T promises its level.",
        table(head, lines),
    ]
    if power:
        parts += ["Share of true differences found, and of boards with any.", table(head, power)]
    return "\n\n".join(parts)


def run(boards: int = BOARDS, seed: int = 0, kinds: Sequence[Kind] = KINDS) -> Section:
    """All kinds, a line of progress for each."""
    rows, wrong = [], []
    for kind, stream in zip(kinds, np.random.default_rng(seed).spawn(len(kinds)), strict=True):
        start = time.perf_counter()
        rows.append(measure(kind, boards, stream))
        wrong += failures(rows[-1], boards)
        print(f"{kind.name}, N = {kind.n}: {time.perf_counter() - start:.1f} s", flush=True)
    data = {"boards": boards, "seed": seed, "rows": rows}
    return Section("Familywise error", _text(rows, boards), data, wrong)


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Simulate, print, write; return how many requirements were not met."""
    summary = (__doc__ or "").split(":")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.familywise", description=summary)
    parser.add_argument("--boards", type=int, default=BOARDS, help="leaderboards of each kind")
    parser.add_argument("--seed", type=int, default=0, help="starts the random numbers")
    options = parser.parse_args(arguments)
    section = run(options.boards, options.seed)
    output.mkdir(parents=True, exist_ok=True)
    (output / "familywise.md").write_text(str(section), encoding="utf-8")
    (output / "familywise.json").write_text(json.dumps(section.data, indent=1), encoding="utf-8")
    print(f"\n{section}")
    print("\n".join(section.failures) or "Holm and max-T err no more often than they promise")
    return len(section.failures)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
