"""How often all that a board says is right.

Boards are simulated whose true values are known. It is counted how often all intervals for the
differences from the best system are right, which is chosen from the same scores, and all of those
from a named baseline; beside them the intervals of single comparisons, as if each was the only one,
and those of Tukey and of Dunnett (as SciPy's `tukey_hsd` and `dunnett` have them), which take the
scores of systems on the same items to be independent. Then how often all ranges of ranks are right,
with each correction. The command fails where an answer that promises 95 % is right less often, and
than chance can explain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import dunnett, studentized_range, t
from statsmodels.stats.proportion import proportion_confint

import permtest as pt
from benchmarks.report import Section, table
from permtest.interval import score_ends
from permtest.many.corrections import interval_at, joint_tail, root_mean_square

ALPHA, LEAST = 0.05, 0.94
CELLS = (6, 100), (12, 50), (12, 100), (20, 500)
ANSWERS = ("board", "single", "Tukey", "board, baseline", "single, baseline", "Dunnett")

Scores = NDArray[Any]
Generator = np.random.Generator


class Kind(NamedTuple):
    """Boards; `draw(systems, n, rng)` returns scores, and by how much the first system leads."""

    name: str
    draw: Callable[[int, int, Generator], tuple[Scores, float]]


def answers(mean: float, gain: float = 0.0) -> Callable[..., tuple[Scores, float]]:
    """Right or wrong, on items that are hard or easy; the first system may be better."""
    ease = mean + 1.5 * np.random.default_rng(1).standard_normal(200_000)
    lead = float((1 / (1 + np.exp(-ease - gain)) - 1 / (1 + np.exp(-ease))).mean())

    def draw(systems: int, n: int, rng: Generator) -> tuple[Scores, float]:
        gains = gain * (np.arange(systems)[:, None] == 0)
        chances = 1 / (1 + np.exp(-rng.normal(mean, 1.5, n) - gains))
        return 1 * (rng.random((systems, n)) < chances), lead

    return draw


def nearly_alike(share: float, lead: bool) -> Callable[..., tuple[Scores, float]]:
    """Systems that answer a share of the items unlike one of them; all right, but for those."""

    def draw(systems: int, n: int, rng: Generator) -> tuple[Scores, float]:
        wrong = rng.random((systems, n)) < share
        wrong[0] &= not lead
        return 1 - wrong, share * lead

    return draw


def graded(kind: str, gain: float = 0.0) -> Callable[..., tuple[Scores, float]]:
    """Scores that are no zeros and ones: normal, of five grades, skewed, or mostly equal."""

    def draw(systems: int, n: int, rng: Generator) -> tuple[Scores, float]:
        item = rng.normal(size=n)
        own = rng.normal(size=(systems, n))
        if kind == "five grades":
            scores, lead = np.clip(np.rint(3 + item + own / 2), 1, 5), 0.0
        elif kind == "lognormal":
            scores, lead = np.exp(item / 2 + own), 0.0
        elif kind == "losses of 3 %":
            less = rng.integers(1, 4, own.shape) * (rng.random(own.shape) < 0.03)
            less[0] *= not gain
            scores, lead = np.rint(item) - less, 0.06 if gain else 0.0
        else:
            scores, lead = item + own, gain
            scores[0] += gain
        return np.rint(1000 * scores).astype(np.int64), 1000 * lead

    return draw


KINDS = (
    Kind("0/1, half right", answers(0.0)),
    Kind("0/1, mostly right", answers(1.5)),
    Kind("0/1, a clear leader", answers(1.5, 1.0)),
    Kind("0/1, 3 % wrong", nearly_alike(0.03, lead=False)),
    Kind("0/1, 3 % wrong, leader never", nearly_alike(0.03, lead=True)),
    Kind("normal", graded("normal")),
    Kind("normal, a clear leader", graded("normal", 1.0)),
    Kind("five grades", graded("five grades")),
    Kind("lognormal", graded("lognormal")),
    Kind("losses of 3 %", graded("losses of 3 %")),
    Kind("losses of 3 %, leader never", graded("losses of 3 %", 1.0)),
)


@cache
def unpaired(systems: int, n: int) -> tuple[float, float]:
    """By how many pooled standard deviations Tukey's and Dunnett's intervals reach, of n items."""
    df = systems * (n - 1)
    tukey = studentized_range.ppf(1 - ALPHA, systems, df) / np.sqrt(n)
    some = np.random.default_rng(0).normal(size=(systems, n))
    found = dunnett(*some[1:], control=some[0], rng=np.random.default_rng(0))
    ends = found.confidence_interval(1 - ALPHA)
    reach = float((ends.high[0] - ends.low[0]) / 2)
    return float(tukey), reach / float(np.sqrt(some.var(axis=1, ddof=1).mean()))


def single(gaps: Scores, binary: bool) -> tuple[float, float]:
    """The interval of one comparison: Tango's, or Student's."""
    n = gaps.size
    if binary:
        return score_ends(int((gaps > 0).sum()), int((gaps < 0).sum()), n, ALPHA / 2)
    reach = float(t.isf(ALPHA / 2, n - 1)) * float(gaps.std(ddof=1)) / np.sqrt(n)
    return float(gaps.mean() - reach), float(gaps.mean() + reach)


def all_right(scores: Scores, lead: float) -> list[bool]:
    """Whether all intervals hold the true differences, for each of `ANSWERS`."""
    size, n = scores.shape
    values, binary = scores.astype(np.float64), bool(np.isin(scores, (0, 1)).all())
    typical = root_mean_square(np.diff(values, axis=0))
    true, means = lead * (np.arange(size) == 0), scores.mean(axis=1)
    pooled, reaches = np.sqrt(scores.var(axis=1, ddof=1).mean()), unpaired(size, n)
    best, found = int(means.argmax()), []
    others = np.delete(np.arange(size), size - 1)
    families = ((best, np.triu_indices(size, 1)), (size - 1, (others, np.full(size - 1, size - 1))))
    for (beside, pairs), reach in zip(families, reaches, strict=True):
        tail = joint_tail(values, *pairs, ALPHA)
        right = np.ones(3, dtype=bool)
        for i in range(size):
            if i != beside:
                gap, width = means[i] - means[beside], reach * pooled
                gaps = values[i] - values[beside]
                ends = [interval_at(tail, typical, gaps, gap, binary)]
                ends += [single(scores[i] - scores[beside], binary)]
                ends += [(gap - width, gap + width)]
                off = true[i] - true[beside]
                right &= [low - 1e-9 <= off <= high + 1e-9 for low, high in ends]
        found += right.tolist()
    return found


def coverage(sets: int, kinds: tuple[Kind, ...], cells: tuple[tuple[int, int], ...]) -> Section:
    """All intervals of a board, each of which promises 95 %."""
    rows, wrong = [], []
    for number, kind in enumerate(kinds):
        for systems, n in cells:
            rng = np.random.default_rng([number, systems, n])
            boards = [all_right(*kind.draw(systems, n, rng)) for _ in range(sets)]
            hits = np.sum(boards, axis=0)
            rows.append([kind.name, str(systems), str(n), *(f"{x / sets:.3f}" for x in hits)])
            for what in (0, 3):
                high = proportion_confint(int(hits[what]), sets, 0.01, "wilson")[1]
                if high < LEAST:
                    wrong.append(f"{ANSWERS[what]}: {hits[what] / sets:.3f} < {LEAST} ({rows[-1]})")
    text = (
        f"Share of {sets:,} simulated boards on which all intervals of differences at 0.95 are "
        "right: from the best system of the same scores, and from a named baseline.\n\n"
    )
    lines = table(["scores", "systems", "N", *ANSWERS], rows)
    return Section("All intervals of a board", text + lines, wrong)


def ranges(sets: int, systems: int = 12, n: int = 200) -> Section:
    """Ranges of ranks of equal systems, and of systems half of which are better."""
    rows, wrong = [], []
    for name, gain in (("equal", 0.0), ("half are better", 0.5)):
        rng, hits = np.random.default_rng(systems), dict.fromkeys(pt.many.CORRECTIONS, 0)
        good = np.arange(systems) < systems / 2
        first = np.where(good & (gain > 0), 1, 1 + (gain > 0) * (systems // 2))
        last = np.where(good & (gain > 0), systems // 2, systems)
        for _ in range(sets):
            chances = 1 / (1 + np.exp(-rng.normal(1.0, 1.5, n) - gain * good[:, None]))
            scores = 1 * (rng.random((systems, n)) < chances)
            board = pt.compare_many(dict(zip(map(str, range(systems)), scores, strict=True)), rng=0)
            for correction in hits:
                adjusted = board.corrected(correction)
                # What `rank_ranges` would say of any correction.
                better = np.zeros((systems, systems), dtype=bool)
                ahead = adjusted.differs & (board.statistic > 0)
                behind = adjusted.differs & (board.statistic < 0)
                better[board.first[ahead], board.second[ahead]] = True
                better[board.second[behind], board.first[behind]] = True
                low, high = 1 + better.sum(axis=0), systems - better.sum(axis=1)
                hits[correction] += int((low <= first).all() and (high >= last).all())
        rows.append([name, *(f"{x / sets:.3f}" for x in hits.values())])
        for correction in ("holm", "max_t"):
            if proportion_confint(hits[correction], sets, 0.01, "wilson")[1] < LEAST:
                wrong.append(f"ranges of ranks, {correction}: {hits[correction] / sets:.3f}")
    text = (
        f"Share of {sets:,} simulated boards of {systems} systems and {n} items, right or wrong, "
        "on which all ranges of ranks hold the true ones. Those of bh and none, which make no such "
        "promise, are not printed.\n\n"
    )
    lines = table(["systems", *pt.many.CORRECTIONS], rows)
    return Section("Ranges of ranks", text + lines, wrong)


def section(
    sets: int, kinds: tuple[Kind, ...] = KINDS, cells: tuple[tuple[int, int], ...] = CELLS
) -> Section:
    """Intervals and ranks."""
    parts = [coverage(sets, kinds, cells), ranges(sets)]
    text = "\n\n".join(part.text for part in parts)
    return Section("Boards of many systems", text, [x for part in parts for x in part.failures])
