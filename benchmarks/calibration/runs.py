"""How often tests of repeated runs err, by what varies.

Both systems are equally good in each of these worlds. What varies is what luck belongs to: a run of
an item, a seed, whose luck moves all items at once, or an item, on which either system may be good.
A null hypothesis of `exact_runs_test` promises p <= 0.05 in at most 5 % of the data sets only where
what varies is what it exchanges; the other shares are what its use for a claim of another kind
costs. Beside them stand Student's t over the means of runs, and a t with both variances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.report import Section, table

ALPHA, SEED = 0.05, 20220711

Generator = np.random.Generator
Scores = NDArray[np.int64]
Both = tuple[Scores, Scores]


class World(NamedTuple):
    """Runs of two systems that are equally good; which tests are valid for what is claimed."""

    name: str
    items: int
    runs: tuple[int, int]
    valid: tuple[str, ...]
    seeds: float = 0.0  # standard deviation of the luck of a seed, on the logit
    strong_points: float = 0.0  # of how good either system is at an item
    shared: bool = False  # whether run r of both systems has one seed, with half of the variance

    def draw(self, rng: Generator) -> Both:
        """Right or wrong, for each item and run of both systems."""
        ease = rng.normal(1.0, 1.5, (self.items, 1))
        common = rng.normal(0, self.seeds * 0.5**0.5, (1, max(self.runs))) * self.shared
        found = []
        for k in self.runs:
            luck = rng.normal(0, self.seeds * (0.5 if self.shared else 1.0) ** 0.5, (1, k))
            own = self.strong_points * rng.normal(size=(self.items, 1))
            logit = ease + own + luck + common[:, :k]
            found.append((rng.random((self.items, k)) < 1 / (1 + np.exp(-logit))).astype(np.int64))
        return found[0], found[1]


TESTS = ITEMS, RUNS, SYSTEMS, PAIRED, LARGER, T, PAIRED_T, BOTH = (
    "items",
    "runs",
    "systems",
    "paired",
    "larger p",
    "t",
    "paired t",
    "t, both",
)
WHOLE = (SYSTEMS, PAIRED, LARGER, T, PAIRED_T, BOTH)
NEW = (ITEMS, LARGER, BOTH)
WORLDS = (
    World("seeds", 500, (3, 3), WHOLE, seeds=0.2),
    World("seeds", 500, (5, 5), WHOLE, seeds=0.2),
    World("seeds", 500, (3, 8), WHOLE, seeds=0.2),
    World("seeds", 2000, (5, 5), WHOLE, seeds=0.2),
    World("seeds", 500, (8, 8), WHOLE, seeds=0.2),
    World("shared seeds", 500, (8, 8), WHOLE, seeds=0.2, shared=True),
    World("answers", 500, (5, 5), TESTS),
    World("items, 1", 100, (5, 5), NEW, strong_points=1.0),
    World("items, 1", 500, (5, 5), NEW, strong_points=1.0),
    World("items, 2", 500, (5, 5), NEW, strong_points=2.0),
    World("items, 2", 500, (8, 8), NEW, strong_points=2.0),
    World("both, 1", 500, (5, 5), (BOTH,), seeds=0.2, strong_points=1.0),
    World("both, 1", 2000, (5, 5), (BOTH,), seeds=0.2, strong_points=1.0),
    World("both, 2", 500, (8, 8), (BOTH,), seeds=0.2, strong_points=2.0),
)


def of_exact(null: Any) -> Callable[[Scores, Scores], float]:
    """p of a null hypothesis of `exact_runs_test`."""
    return lambda a, b: float(pt.exact_runs_test(a, b, null=null).pvalue)


def of_pairs(a: Scores, b: Scores) -> Any:
    """The test of whole runs that come in pairs."""
    return pt.exact_perm_test(a.sum(axis=0), b.sum(axis=0))


def t_pvalue(gap: float, variance: float, freedom: float) -> float:
    """Two-sided p of Student's t; 1 where nothing varies and there is no difference."""
    from scipy import stats

    if variance <= 0:
        return float(gap == 0)
    return float(2 * stats.t.sf(abs(gap) / variance**0.5, freedom))


def of_t(a: Scores, b: Scores, *, paired: bool) -> float:
    """p of Student's t over the means of whole runs."""
    x, y = a.mean(axis=0), b.mean(axis=0)
    if paired:
        return t_pvalue(np.mean(x - y), (x - y).var(ddof=1) / x.size, x.size - 1)
    freedom = x.size + y.size - 2
    pooled = (x.var() * x.size + y.var() * y.size) / freedom
    return t_pvalue(x.mean() - y.mean(), pooled * (1 / x.size + 1 / y.size), freedom)


def of_both(a: Scores, b: Scores) -> float:
    """p of a t whose variance is that over items and that over runs (Satterthwaite).

    Both have the noise of single answers, which is counted twice: the test errs on the safe side.
    """
    gaps = a.mean(axis=1) - b.mean(axis=1)
    parts = [(gaps.var(ddof=1) / gaps.size, gaps.size - 1)]
    parts += [(x.mean(axis=0).var(ddof=1) / x.shape[1], x.shape[1] - 1) for x in (a, b)]
    variance = sum(v for v, _ in parts)
    freedom = variance**2 / max(sum(v**2 / df for v, df in parts), 1e-300)
    return t_pvalue(gaps.mean(), variance, freedom)


PVALUES: dict[str, Callable[[Scores, Scores], float]] = {
    ITEMS: of_exact("items"),
    RUNS: of_exact("runs"),
    SYSTEMS: of_exact("systems"),
    PAIRED: lambda a, b: float(of_pairs(a, b).pvalue),
    BOTH: of_both,
    T: lambda a, b: of_t(a, b, paired=False),
    PAIRED_T: lambda a, b: of_t(a, b, paired=True),
}


def rejected(world: World, sets: int, rng: Generator) -> dict[str, float]:
    """How often each test has p <= 0.05."""
    equal = world.runs[0] == world.runs[1]
    tests = [name for name in TESTS if equal or name not in (PAIRED, PAIRED_T)]
    found = dict.fromkeys(tests, 0)
    for _ in range(sets):
        both = world.draw(rng)
        p = {name: PVALUES[name](*both) for name in tests if name != LARGER}
        p[LARGER] = max(p[ITEMS], p[SYSTEMS])
        for name in tests:
            found[name] += p[name] <= ALPHA
    return {name: count / sets for name, count in found.items()}


def least(world: World) -> str:
    """The smallest p that whole runs allow, dealt or paired."""
    a, b = (np.arange(k)[None] + 100 * j for j, k in enumerate(world.runs))
    plain = pt.exact_runs_test(a, b, null="systems")
    if world.runs[0] != world.runs[1]:
        return f"{plain.smallest_pvalue:.2g}"
    return f"{plain.smallest_pvalue:.2g}; {of_pairs(a, b).smallest_pvalue:.2g}"


def section(sets: int, worlds: tuple[World, ...] = WORLDS) -> Section:
    """The level of every test in every world; those that are not valid there are marked."""
    rng, rows, wrong = np.random.default_rng(SEED), [], []
    slack = 3 * (ALPHA * (1 - ALPHA) / sets) ** 0.5
    for world in worlds:
        shares = rejected(world, sets, rng)
        cells = []
        for name in TESTS:
            share, holds = shares.get(name), name in world.valid
            cells.append("" if share is None else f"{share:.3f}{'' if holds else '*'}")
            if share is not None and holds and share > ALPHA + slack:
                wrong.append(f"level {share:.4f} of {name}, more than {ALPHA}, where {world}")
        size = f"{world.items} x {world.runs[0]} + {world.runs[1]}"
        rows.append([world.name, size, *cells, least(world)])
    text = (
        f"Share with p <= {ALPHA} in {sets:,} data sets of two equally good systems, right or "
        "wrong; items x runs of each. A star marks what promises nothing there, as the test is not "
        "about what varies. Seeds: each run is a trained system, whose luck moves all items at "
        "once (standard deviation 0.2 on the logit); shared seeds have half of that variance in "
        "common. Answers: runs of an item are independent. Items: the systems are good at "
        "different items (standard deviation 1 or 2), and items are new. Both: items and seeds are "
        'new. "paired" swaps pairs of whole runs; "larger p" is the larger one of "items" '
        'and "systems"; "t" that over the means of runs; "t, both" has the variance over items and '
        "that over runs. The last column has the smallest two-sided p of whole runs, dealt or in "
        "pairs."
    )
    head = ["what varies", "data", *TESTS, "smallest p"]
    return Section("What a run is", f"{text}\n\n{table(head, rows)}", wrong)
