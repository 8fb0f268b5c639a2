"""Time and memory of all pairs of many systems, beside SciPy's t-test on the same rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks import fresh
from benchmarks.tables import Section, table
from benchmarks.timing import duration, seconds

N, SYSTEMS, MANY = 10_000, 100, 1000
SEED = 8
MEMORY_LIMIT = 10**9  # all that the process holds
PAIRS_AT_ONCE = 64

PEAK = """
import numpy as np
from benchmarks import fresh, leaderboards
table = leaderboards.scores({systems}, {n})
leaderboards.board(table)
print(fresh.high_water())
"""

Scores = dict[str, NDArray[np.int64]]


def scores(systems: int, n: int) -> Scores:
    """Correct tokens in sentences of 3 to 39, of systems from 88 to 95 percent."""
    rng = np.random.default_rng(SEED)
    tokens, skills = rng.integers(3, 40, n), rng.uniform(0.88, 0.95, systems)
    return {f"system {i}": rng.binomial(tokens, skill) for i, skill in enumerate(skills)}


def board(scored: Scores) -> pt.Leaderboard:
    """All pairs, by Holm."""
    return pt.compare_many(scored)


def t_tests(scored: Scores) -> NDArray[np.float64]:
    """P-values of the paired t-test of all pairs, some rows at a time."""
    from scipy.stats import ttest_rel

    every = np.stack(list(scored.values())).astype(np.float64)
    first, second = np.triu_indices(len(every), 1)
    parts = np.array_split(np.arange(first.size), -(-first.size // PAIRS_AT_ONCE))
    found = [ttest_rel(every[first[k]], every[second[k]], axis=1).pvalue for k in parts]
    return np.concatenate(found)


def run(n: int = N, systems: int = SYSTEMS, many: int = MANY) -> Section:
    """The times, the memory, and whether the p-values are near those of the t-test."""
    scored, more = scores(systems, n), scores(many, n)
    found, peer = board(scored), t_tests(scored)
    few = dict(list(scored.items())[:10])
    times = {
        "board": seconds(lambda: board(scored)),
        "t": seconds(lambda: t_tests(scored)),
        "one by one": seconds(lambda: _one_by_one(few)) / 45 * len(found),
        "max_t": seconds(lambda: found.corrected("max_t")),
        "many": seconds(lambda: board(more)),
    }
    pairs = many * (many - 1) // 2
    names = {
        "board": f"exact, all {len(found):,} pairs of {systems} systems: compare_many",
        "t": "paired t, the same rows: scipy.stats.ttest_rel(axis=1)",
        "one by one": "exact, 45 pairs by exact_perm_test, multiplied",
        "max_t": "max-T of the same board, 10 000 random labellings",
        "many": f"exact, all {pairs:,} pairs of {many:,} systems",
    }
    peaks = {size: fresh.run(PEAK.format(systems=size, n=n))[0] for size in (systems, many)}
    body = [[names[key], duration(value)] for key, value in times.items()]
    memory = ", ".join(f"{x / fresh.MEGABYTE:.0f} MB with {k:,}" for k, x in peaks.items())
    text = [
        f"N = {n:,} sentences. A process that compares all pairs holds {memory} systems.",
        "",
        table(["what", "time"], body),
        "",
        f"{pairs / times['many']:,.0f} pairs a second.",
    ]
    # Where both are far from 0 they are close, so that neither is of something else.
    gap = float(np.max(np.abs(found.pvalue[0] - peer)))
    wrong = [f"p-values of exact and t are {gap:.3f} apart"] if gap > 0.05 else []
    wrong += [f"{k} systems take {x:.3g} bytes" for k, x in peaks.items() if x > MEMORY_LIMIT]
    return Section("Many systems", "\n".join(text), {"times": times, "memory": peaks}, wrong)


def _one_by_one(scored: Scores) -> list[float]:
    every = list(scored.values())
    first, second = np.triu_indices(len(every), 1)
    tests = zip(first.tolist(), second.tolist(), strict=True)
    return [pt.exact_perm_test(every[i], every[j], statistic="mean").pvalue for i, j in tests]


def ratios(section: Section) -> dict[str, float]:
    """For the record."""
    times = section.data["times"]
    return {"all pairs, exact / t": times["board"] / times["t"]}
