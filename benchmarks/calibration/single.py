"""Two systems: tests and intervals of one difference, the unfavourable kinds of data too.

Each part sets what permtest answers beside what SciPy or a textbook answers on the same data.
Scores of 0 and 1 are enumerated: all tables of wins and losses, with their probabilities. Other
data are simulated. A section fails where permtest misses what it claims by more than chance
explains; where it claims nothing, as for skewed differences, it only says how bad things are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import permtest as pt
from benchmarks.data import table_1
from benchmarks.report import Section, table

ALPHA, SEED = 0.05, 20220710

Floats = NDArray[np.float64]
Scores = NDArray[np.int64]
Generator = np.random.Generator
#: Differences of as many data sets as there are rows.
Draw = Callable[[tuple[int, int], Generator], Scores]

# ---- scores of 0 and 1, by enumeration ----------------------------------------------------------

#: Items, and the shares of them that only A, and that only B, has right.
SHARES = (
    *((10, 0.1, 0.1), (20, 0.05, 0.0), (30, 0.1, 0.03), (50, 0.02, 0.02), (50, 0.04, 0.02)),
    *((50, 0.2, 0.2), (100, 0.03, 0.0), (100, 0.01, 0.01), (100, 0.1, 0.2), (200, 0.02, 0.01)),
    # The least favourable for Tango's interval that a search found, of so many items.
    *((5, 0.95, 0.02), (10, 0.95, 0.05), (20, 0.95, 0.05), (40, 0.2, 0.0), (90, 0.07, 0.01)),
)
#: The same where B is better by just the margin.
MARGINS = (
    *((20, 0.0, 0.1, 0.1), (50, 0.02, 0.07, 0.05), (50, 0.2, 0.25, 0.05), (100, 0.0, 0.05, 0.05)),
    *((100, 0.1, 0.15, 0.05), (200, 0.02, 0.04, 0.02), (200, 0.0, 0.02, 0.02)),
    # The least favourable for Tango's test that a search found, of so many items.
    *((10, 0.15, 0.3, 0.15), (20, 0.0, 0.2, 0.2), (30, 0.45, 0.55, 0.1), (90, 0.0, 0.03, 0.03)),
)
#: How much Tango's test and interval, which are approximate, may be off from so many items on.
MOST_LEVEL, LEAST_COVERAGE, CLAIMED = 0.075, 0.92, 20
#: Tables of wins and losses below this probability are left out.
NEVER = 1e-7


def tables_of(n: int, p: float, q: float) -> Iterable[tuple[int, int, float]]:
    """Wins and losses of n items, and their probability."""
    for b in range(n + 1):
        first = stats.binom.pmf(b, n, p)
        for c in range(n - b + 1):
            chance = first * stats.binom.pmf(c, n - b, q / (1 - p))
            if chance > NEVER:
                yield b, c, float(chance)


def columns(b: int, c: int, n: int, ones: int = 1) -> tuple[list[int], list[int]]:
    """Scores with b wins and c losses; with `ones` of 3 they are other scores."""
    low = ones - 1
    return [ones] * b + [low] * (n - b), [low] * b + [ones] * c + [low] * (n - b - c)


def tango(b: int, c: int, n: int) -> tuple[float, float]:
    """The package's interval."""
    low, high = pt.exact_perm_test(*columns(b, c, n)).confidence_interval(1 - ALPHA)
    return low, high


def shifts(b: int, c: int, n: int) -> tuple[float, float]:
    """All shifts of every pair that the exact test does not reject."""
    low, high = pt.exact_perm_test(*columns(b, c, n, 3)).confidence_interval(1 - ALPHA)
    return low, high


def wald(b: int, c: int, n: int, more: float = 0.0) -> tuple[float, float]:
    """The textbook's interval; with two pseudo-items more, that of Agresti and Min (2005)."""
    b, c, n = b + more / 4, c + more / 4, n + more
    reach = stats.norm.isf(ALPHA / 2) * sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n
    return (b - c) / n - reach, (b - c) / n + reach


def t_interval(b: int, c: int, n: int) -> tuple[float, float]:
    """`scipy.stats.ttest_rel`'s."""
    error = sqrt(max((b + c - (b - c) ** 2 / n) / (n - 1) / n, 0.0))
    reach = stats.t.isf(ALPHA / 2, n - 1) * error
    return (b - c) / n - reach, (b - c) / n + reach


INTERVALS: dict[str, Callable[[int, int, int], tuple[float, float]]] = {
    "Tango (permtest)": tango,
    "Agresti-Min": partial(wald, more=2.0),
    "Wald": wald,
    "Student's t": t_interval,
    "shift of every pair": shifts,
}


def score_margin(b: int, c: int, n: int, margin: float) -> float:
    """The p of the package's test of non-inferiority."""
    return pt.noninferiority_test(*columns(b, c, n), margin).pvalue


def wald_margin(b: int, c: int, n: int, margin: float) -> float:
    """z of the textbook's standard error; where that is 0, equal scores are taken for certain."""
    error = sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n
    return float(stats.norm.sf(((b - c) / n + margin) / error)) if error else 0.0


def shift_margin(b: int, c: int, n: int, margin: float) -> float:
    """The exact test of shifted pairs."""
    return pt.noninferiority_test(*columns(b, c, n, 3), margin).pvalue


TESTS: dict[str, Callable[[int, int, int, float], float]] = {
    "Tango (permtest)": score_margin,
    "Wald": wald_margin,
    "shift of every pair": shift_margin,
}


def right_or_wrong(_: int, shares: Sequence[tuple[int, float, float]] = SHARES) -> Section:
    """Coverage of intervals for the difference of two shares."""
    rows, wrong = [], []
    for n, p, q in shares:
        covered = dict.fromkeys(INTERVALS, 0.0)
        for b, c, chance in tables_of(n, p, q):
            for name, interval in INTERVALS.items():
                low, high = interval(b, c, n)
                covered[name] += chance * (low - 1e-9 <= p - q <= high + 1e-9)
        if n >= CLAIMED and covered["Tango (permtest)"] < LEAST_COVERAGE:
            wrong.append(f"coverage {covered['Tango (permtest)']:.3f} for shares ({n}, {p}, {q})")
        rows.append([f"{n}; {p}, {q}", *(f"{x:.3f}" for x in covered.values())])
    text = "Coverage of 95 % intervals for the difference, by enumeration of all tables. The first "
    text += "column has the items, and the shares of them that only A, and that only B, has right. "
    text += "The last rows are the least favourable ones for Tango's interval that a search found."
    grid = table(["N; A alone, B alone", *INTERVALS], rows)
    return Section("Right or wrong: intervals", f"{text}\n\n{grid}", wrong)


def within_a_margin(_: int, cells: Sequence[tuple[int, float, float, float]] = MARGINS) -> Section:
    """Level of tests of non-inferiority at the margin itself."""
    rows, wrong = [], []
    for n, p, q, margin in cells:
        level = dict.fromkeys(TESTS, 0.0)
        for b, c, chance in tables_of(n, p, q):
            for name, test in TESTS.items():
                level[name] += chance * (test(b, c, n, margin) <= ALPHA)
        if n >= CLAIMED and level["Tango (permtest)"] > MOST_LEVEL:
            wrong.append(f"level {level['Tango (permtest)']:.3f} for shares ({n}, {p}, {q})")
        rows.append([f"{n}; {p}, {q}; {margin}", *(f"{x:.3f}" for x in level.values())])
    text = "How often a test of non-inferiority at 0.05 says that A is not worse by the margin, "
    text += "where A is worse by just the margin; by enumeration. The last rows are the least "
    text += "favourable ones for Tango's test that a search found, of margins up to 0.2."
    grid = table(["N; A alone, B alone; margin", *TESTS], rows)
    return Section("Right or wrong: margins", f"{text}\n\n{grid}", wrong)


# ---- other scores, simulated --------------------------------------------------------------------


class Kind(NamedTuple):
    """Differences with a mean; if the test assumes what holds, its claims are checked."""

    name: str
    draw: Draw
    mean: float = 0.0
    symmetric: bool = True
    sizes: tuple[int, ...] = (10, 20, 50, 100, 300)


def whole(draw: Callable[..., Floats]) -> Draw:
    """Rounded differences."""
    return lambda shape, rng: np.rint(draw(rng, shape)).astype(np.int64)


def sentences(shape: tuple[int, int], rng: Generator) -> Scores:
    """Correct tokens, as in the paper (Table 1, whose normal distributions are truncated here)."""
    u, v = table_1(shape[0] * shape[1], rng)
    return (u - v).reshape(shape)


def ties(shape: tuple[int, int], rng: Generator, share: float, better: float = 0.5) -> Scores:
    """1 to 3 points in a share of the items, to the first system with the chance `better`."""
    points = rng.integers(1, 4, shape) * np.where(rng.random(shape) < better, 1, -1)
    return points * (rng.random(shape) < share)


KINDS = (
    Kind("normal", whole(lambda rng, shape: rng.normal(0, 30, shape))),
    Kind("counts", lambda shape, rng: -np.diff(rng.poisson(3, (2, *shape)), axis=0)[0]),
    Kind("sentences (Table 1, see below)", sentences),
    Kind("80 % ties", partial(ties, share=0.2), sizes=(20, 50, 100, 300)),
    # Without a mean (Cauchy): a few are as large as all others together.
    Kind(
        "long tails", whole(lambda rng, shape: (3 * rng.standard_cauchy(shape)).clip(-3000, 3000))
    ),
    Kind(
        "80 % ties, one better",
        partial(ties, share=0.2, better=0.8),
        mean=0.2 * 2 * 0.6,
        symmetric=False,
        sizes=(20, 50, 100, 300),
    ),
    Kind("exponential", whole(lambda rng, shape: 10 * (rng.exponential(1.0, shape) - 1)), 0, False),
    Kind(
        "lognormal",
        whole(lambda rng, shape: 10 * (rng.lognormal(0, 1, shape) - exp(1 / 2))),
        0,
        False,
    ),
    Kind(
        "+49 in 2 %, else -1",
        lambda shape, rng: np.where(rng.random(shape) < 0.02, 49, -1),
        0,
        False,
    ),
)
#: Resamples of each percentile bootstrap.
RESAMPLES = 999


def intervals(d: Scores) -> tuple[Floats, NDArray[np.bool_], float]:
    """The package's intervals of rows, whether they have a warning, and how often p <= 0.05."""
    base = np.full(d.shape[1], 2)  # scores of 0 and 1 have another interval
    tests = [pt.exact_perm_test(x + 2, base) for x in d]
    found = [test.confidence_interval(1 - ALPHA) for test in tests]
    warned = np.array([x.warning is not None for x in found])
    level = float(np.mean([test.pvalue <= ALPHA for test in tests]))
    return np.array([tuple(x) for x in found]), warned, level


def students(d: Scores) -> Floats:
    """Student's, as of `scipy.stats.ttest_rel`."""
    n, means = d.shape[1], d.mean(axis=1)
    reach = stats.t.isf(ALPHA / 2, n - 1) * d.std(axis=1, ddof=1) / sqrt(n)
    return np.stack([means - reach, means + reach], axis=1)


def percentiles(d: Scores, rng: Generator) -> Floats:
    """Those of the bootstrap."""
    ends = []
    for row in d:
        means = rng.choice(row, (RESAMPLES, row.size)).mean(axis=1)
        ends.append(np.quantile(means, (ALPHA / 2, 1 - ALPHA / 2)))
    return np.array(ends)


def covers(ends: Floats, mean: float) -> float:
    """How often."""
    return float(np.mean((ends[:, 0] <= mean + 1e-9) & (mean - 1e-9 <= ends[:, 1])))


def graded(sets: int, kinds: Sequence[Kind] = KINDS) -> Section:
    """Level of the exact test, and coverage of intervals, for scores that are not 0 and 1."""
    rng, rows, wrong = np.random.default_rng(SEED), [], []
    slack = 2.5 * sqrt(ALPHA * (1 - ALPHA) / sets)
    for kind in kinds:
        for n in kind.sizes:
            d = kind.draw((sets, n), rng)
            own, warned, level = intervals(d)
            coverage = covers(own, kind.mean)
            others = [covers(students(d), kind.mean), covers(percentiles(d, rng), kind.mean)]
            shown = f"{level:.3f}" if kind.mean == 0 else ""
            cells = [f"{coverage:.3f}", f"{warned.mean():.2f}", *(f"{x:.3f}" for x in others)]
            rows.append([f"{kind.name}, {n}", shown, *cells])
            if kind.symmetric and coverage < 1 - ALPHA - slack:
                wrong.append(f"coverage {coverage:.4f}, less than 0.95 ({kind.name}, N = {n})")
            if kind.symmetric and level > ALPHA + slack:
                wrong.append(f"level {level:.4f}, more than 0.05 ({kind.name}, N = {n})")
    text = f"{sets:,} data sets in each row: the level of the exact test at 0.05 where the mean "
    text += "difference is 0, the coverage of its 95 % interval, how often that has a warning, and "
    text += "the coverage of Student's t and of the percentile bootstrap. The first kinds are "
    text += "symmetric about their mean, as the exact interval assumes; the others are not."
    head = ["differences, N", "level", "permtest", "warned", "Student's t", "percentiles"]
    stand_in = "Sentences are drawn from the normal distributions of the paper's Table 1, which "
    stand_in += "have to be truncated: they are 15.1 +- 8.7 tokens long and .892 accurate, not "
    stand_in += "12.08 +- 10.60 and .954."
    return Section("Graded scores", f"{text}\n\n{table(head, rows)}\n\n{stand_in}", wrong)


# ---- clusters -----------------------------------------------------------------------------------


def clustered(sets: int, numbers: Sequence[int] = (8, 20, 60)) -> Section:
    """Documents of one to eight sentences, whose luck their sentences share."""
    rng, rows, wrong = np.random.default_rng(SEED), [], []
    for k in numbers:
        found = {"clusters": [0, 0], "pairs": [0, 0], "t of means": [0, 0]}
        for _ in range(sets):
            sizes = rng.integers(1, 9, k)
            documents = np.repeat(np.arange(k), sizes)
            luck = rng.normal(0, 2, k)[documents]
            d = np.rint(luck + rng.normal(0, 2, documents.size)).astype(np.int64)
            base = np.full(d.size, 2)
            for name, clusters in (("clusters", documents), ("pairs", None)):
                test = pt.exact_perm_test(d + 2, base, clusters=clusters)
                low, high = test.confidence_interval(1 - ALPHA)
                found[name][0] += test.pvalue <= ALPHA
                found[name][1] += low <= 0 <= high
            means = np.bincount(documents, d) / sizes
            p = stats.ttest_1samp(means, 0).pvalue
            found["t of means"][0] += p <= ALPHA
            found["t of means"][1] += p > ALPHA
        shares = [f"{x / sets:.3f}" for pair in found.values() for x in pair]
        rows.append([f"{k}", *shares])
        most = ALPHA + 2.5 * sqrt(ALPHA * (1 - ALPHA) / sets)
        if found["clusters"][0] / sets > most:
            wrong.append(f"level {shares[0]} with {k} clusters")
        if found["clusters"][1] / sets < 1 - most:
            wrong.append(f"coverage {shares[1]} with {k} clusters")
    text = "Level at 0.05 and coverage of 95 % intervals for equal systems, where the sentences of "
    text += f"a document share their luck ({sets:,} data sets): whole documents swapped, each "
    text += "sentence swapped as if it stood alone, and Student's t of the documents' means."
    head = ["documents", *(f"{x}: {y}" for x in found for y in ("level", "coverage"))]
    return Section("Clusters", f"{text}\n\n{table(head, rows)}", wrong)
