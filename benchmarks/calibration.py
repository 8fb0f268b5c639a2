"""Write docs/validation.md: ``python -m benchmarks.calibration``, some twenty minutes.

Each section is a table: a row for each kind of data, and a column for each thing that is asked of a
data set, which holds or does not; cells are the shares of data sets in which it does. What permtest
claims has a bound, and the command fails where a share is beyond it by more than chance explains.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import exp, log, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import special, stats

import permtest as pt
from benchmarks.data import STAND_IN, logistic, table_1
from benchmarks.report import DOCS, Section, table
from permtest import alternatives as alt

ALPHA, SEED = 0.05, 20220710
#: What a share is promised to be: from the first to the second.
LEVEL, COVERAGE = (0.0, ALPHA), (1 - ALPHA, 1.0)
INTRODUCTION = """\
# What was measured

`python -m benchmarks.calibration` writes this page. A test at level 0.05 should reject a true null
hypothesis in at most 5 % of data sets, and a 95 % interval should contain the truth in at least
95 %. The tables say how often they do, for permtest and for what SciPy or a textbook would answer
on the same data. Kinds of data that suit no method are in it too. A star marks shares for which
nothing is promised, as the data are not what the method assumes.
"""

Array = NDArray[Any]
Generator = np.random.Generator
Ends = tuple[float, float]
Answers = dict[str, float]
#: Data sets with their weights, as many as are asked for, or all that there are.
Draw = Callable[[int, Generator], Iterable[tuple[float, Any]]]


class Kind(NamedTuple):
    """A row: data, the true value, and the questions whose answers are promised for them."""

    name: str
    draw: Draw
    truth: float = 0.0
    promised: Sequence[str] = ()


class Part(NamedTuple):
    """A section, whose text is what the function says that asks the questions.

    It takes a data set and the true value; its answers are averaged, or NaN if they make no sense.
    """

    title: str
    head: str
    kinds: Sequence[Kind]
    questions: Callable[[Any, float], Answers]
    promises: dict[str, Ends]
    share: float = 1.0  # of the data sets


def shares(part: Part, row: int, sets: int) -> Answers:
    """How often each question is answered with yes, of one kind of data."""
    kind, found = part.kinds[row], Answers()
    for weight, data in kind.draw(sets, np.random.default_rng([SEED, row])):
        for name, answer in part.questions(data, kind.truth).items():
            found[name] = found.get(name, 0.0) + weight * float(answer)
    return found


def section(part: Part, found: Sequence[Answers], sets: int) -> Section:
    """The table, and which promises do not hold."""
    rows, wrong = [], []
    for kind, answers in zip(part.kinds, found, strict=True):
        rows.append([kind.name])
        for name, share in answers.items():
            low, high = part.promises.get(name, (0.0, 1.0))
            slack = 3 * sqrt(max(low * (1 - low), high * (1 - high)) / sets) if sets else 0.0
            promised = name in kind.promised
            star = "*" * (name in part.promises and not promised)
            rows[-1].append("" if share != share else f"{share:.3f}{star}")
            if promised and (share < low - slack or share > high + slack):
                wrong.append(f"{part.title}, {kind.name}: {name} in {share:.3f}")
    text = " ".join(str(part.questions.__doc__).split()).format(sets=f"{sets:,}", made=STAND_IN)
    return Section(part.title, f"{text}\n\n{table([part.head, *found[0]], rows)}", wrong)


def simulated(draw: Callable[[Generator], Any]) -> Draw:
    """Data sets that are drawn one by one."""
    return lambda sets, rng: ((1 / sets, draw(rng)) for _ in range(sets))


def covers(ends: Sequence[float], truth: float) -> bool:
    """Whether an interval holds the true value."""
    return ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def students(d: Array) -> Ends:
    """Student's interval for the mean."""
    reach = stats.t.isf(ALPHA / 2, d.size - 1) * d.std(ddof=1) / sqrt(d.size)
    return d.mean() - reach, d.mean() + reach


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
    *((20, 0.0, 0.1), (50, 0.02, 0.07), (50, 0.2, 0.25), (100, 0.0, 0.05), (100, 0.1, 0.15)),
    *((200, 0.02, 0.04), (200, 0.0, 0.02)),
    # The least favourable for Tango's test that a search found, of so many items.
    *((10, 0.15, 0.3), (20, 0.0, 0.2), (30, 0.45, 0.55), (90, 0.0, 0.03)),
)
#: From so many items on, how much Tango's test and interval, which are approximate, may be off.
CLAIMED, TANGO_LEVEL, TANGO_COVERAGE = 20, (0.0, 0.075), (0.92, 1.0)
NEVER = 1e-7  # the probability of tables of wins and losses that are left out
TANGO = "Tango (permtest)"


def every_table(n: int, p: float, q: float) -> Kind:
    """Wins and losses of n items, with their probabilities."""

    def draw(*_: Any) -> Iterator[tuple[float, Any]]:
        for b in range(n + 1):
            losses = stats.binom.pmf(range(n - b + 1), n - b, q / (1 - p))
            chances = stats.binom.pmf(b, n, p) * losses
            yield from ((x, (b, c, n)) for c, x in enumerate(chances.tolist()) if x > NEVER)

    return Kind(f"{n}; {p}, {q}", draw, round(p - q, 9), (TANGO,) * (n >= CLAIMED))


def scores_of(b: int, c: int, n: int) -> tuple[list[int], list[int]]:
    """Scores with b wins and c losses."""
    return [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c)


def wald(b: int, c: int, n: int, alpha: float) -> Ends:
    """The textbook's interval, with alpha on either side."""
    reach = float(stats.norm.isf(alpha)) * sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n
    return (b - c) / n - reach, (b - c) / n + reach


def of_shares(counts: tuple[int, int, int], truth: float) -> Answers:
    """Coverage of 95 % intervals for the difference, by enumeration of all tables.

    The first column has the items, and the shares of them that only A, and that only B, has right.
    The last rows are the least favourable ones for Tango's interval that a search found.
    """
    tango = pt.exact_perm_test(*scores_of(*counts)).confidence_interval(1 - ALPHA)
    return {TANGO: covers(tango, truth), "Wald": covers(wald(*counts, ALPHA / 2), truth)}


def of_margins(counts: tuple[int, int, int], truth: float) -> Answers:
    """How often a test of non-inferiority at 0.05 says that A is not worse by the margin, where A
    is worse by just the margin; by enumeration. The last rows are the least favourable ones for
    Tango's test that a search found, of margins up to 0.2.
    """
    p = pt.noninferiority_test(*scores_of(*counts), -truth).pvalue
    return {TANGO: p <= ALPHA, "Wald": wald(*counts, ALPHA)[0] >= truth}


# ---- other scores, simulated --------------------------------------------------------------------


def graded() -> Iterator[Kind]:
    """Differences of many kinds; the first five are symmetric about their mean."""

    def ties(n: int, rng: Generator, better: float = 0.5) -> Array:
        points = rng.integers(1, 4, n) * np.where(rng.random(n) < better, 1, -1)
        return points * (rng.random(n) < 0.2)

    kinds: dict[str, Callable[[int, Generator], Array]] = {
        "normal": lambda n, rng: rng.normal(0, 30, n),
        "counts": lambda n, rng: rng.poisson(3, n) - rng.poisson(3, n),
        "sentences": lambda n, rng: np.subtract(*table_1(n, rng)),
        "80 % ties": ties,
        # Without a mean (Cauchy): a few are as large as all others together.
        "long tails": lambda n, rng: (3 * rng.standard_cauchy(n)).clip(-3000, 3000),
        "80 % ties, one better": partial(ties, better=0.8),
        "exponential": lambda n, rng: 10 * (rng.exponential(1.0, n) - 1),
        "lognormal": lambda n, rng: 10 * (rng.lognormal(0, 1, n) - exp(1 / 2)),
        "+49 in 2 %, else -1": lambda n, rng: np.where(rng.random(n) < 0.02, 49, -1),
    }
    for k, (name, draw) in enumerate(kinds.items()):
        for n in (10, 50, 300):
            mean = 0.24 if name.endswith("one better") else 0.0
            promised = ("level", "permtest") if k < 5 else ()
            yield Kind(f"{name}, {n}", simulated(partial(draw, n)), mean, promised)


def of_graded(d: Array, truth: float) -> Answers:
    """{sets} data sets in each row: the level of the exact test at 0.05 where the mean difference
    is 0, the coverage of its 95 % interval, how often that has a warning, and the coverage of
    Student's t. Sentences are drawn from the normal distributions of the paper's Table 1, which
    have to be truncated. {made}
    """
    d = np.rint(d).astype(np.int64)
    test = pt.exact_perm_test(d + 2, np.full(d.size, 2))  # scores of 0 and 1 have another interval
    own = test.confidence_interval(1 - ALPHA)
    return {
        "level": nan if truth else test.pvalue <= ALPHA,
        "permtest": covers(own, truth),
        "warned": own.warning is not None,
        "Student's t": covers(students(d), truth),
    }


# ---- repeated runs -------------------------------------------------------------------------------

WHOLE = "systems", "paired", "t"
EVERY_RUN = "items", "runs", *WHOLE


def world(
    name: str,
    items: int,
    runs: tuple[int, int],
    promised: Sequence[str],
    *,
    seeds: float = 0.0,
    strong_points: float = 0.0,
    shared: bool = False,
) -> Kind:
    """Runs of two systems that are equally good; right or wrong, for each item and run.

    `seeds` is the standard deviation of the luck of a seed, on the logit, `strong_points` that of
    how good either system is at an item; with `shared` run r of both systems has one seed, with
    half of the variance.
    """

    def draw(rng: Generator) -> list[Array]:
        ease = rng.normal(1.0, 1.5, (items, 1))
        part = sqrt(0.5) if shared else 1.0
        common = rng.normal(0, seeds * sqrt(0.5), (1, max(runs))) * shared
        found = []
        for k in runs:
            own = strong_points * rng.normal(size=(items, 1)) + rng.normal(0, seeds * part, (1, k))
            found.append(1 * (rng.random((items, k)) < special.expit(ease + own + common[:, :k])))
        return found

    return Kind(f"{name}; {items} x {runs[0]} + {runs[1]}", simulated(draw), 0.0, promised)


WORLDS = (
    world("seeds", 500, (3, 3), WHOLE, seeds=0.2),
    world("seeds", 500, (5, 5), WHOLE, seeds=0.2),
    world("seeds", 500, (3, 8), WHOLE, seeds=0.2),
    world("seeds", 2000, (5, 5), WHOLE, seeds=0.2),
    world("shared seeds", 500, (8, 8), WHOLE, seeds=0.2, shared=True),
    world("answers", 500, (5, 5), EVERY_RUN),
    world("items, 1", 100, (5, 5), ("items",), strong_points=1.0),
    world("items, 2", 500, (8, 8), ("items",), strong_points=2.0),
    world("both, 1", 500, (5, 5), (), seeds=0.2, strong_points=1.0),
)


def of_runs(data: tuple[Array, Array], _: float) -> Answers:
    """Share with p <= 0.05 in {sets} data sets of two equally good systems, right or wrong; items x
    runs of each. Seeds: each run is a trained system, whose luck moves all items at once (standard
    deviation 0.2 on the logit); shared seeds have half of that variance in common. Answers: runs of
    an item are independent. Items: the systems are good at different items (standard deviation 1 or
    2), and items are new. Both: items and seeds are new. "paired" swaps pairs of whole runs; "t" is
    that over the means of runs.
    """
    a, b = data
    p = {null: pt.exact_runs_test(a, b, null=null).pvalue for null in ("items", "runs", "systems")}
    whole = a.sum(axis=0), b.sum(axis=0)
    p["paired"] = pt.exact_perm_test(*whole).pvalue if a.shape == b.shape else nan
    p["t"] = float(stats.ttest_ind(a.mean(axis=0), b.mean(axis=0)).pvalue)
    return {name: x if x != x else x <= ALPHA for name, x in p.items()}


# ---- many systems --------------------------------------------------------------------------------


def answers(size: int, n: int, rng: Generator, mean: float = 1.5, gain: float = 0.0) -> Array:
    """Right or wrong, on items that are hard or easy; the first half may be better."""
    better = gain * (np.arange(size)[:, None] < size / 2)
    chances = special.expit(rng.normal(mean, 1.5, n) + better)
    return np.asarray(rng.random((size, n)) < chances).astype(np.int64)


def one_winner(size: int, n: int, rng: Generator) -> Array:
    """On each item one system is right.

    Systems are exchangeable, but differences are not jointly symmetric: all but one would be right
    if they were turned around.
    """
    return np.eye(size, dtype=np.int64)[rng.integers(size, size=n)].T


def board_kinds() -> Iterator[Kind]:
    """Boards of equal systems."""
    kinds: dict[str, Callable[..., Array]] = {
        "0/1, half right": partial(answers, mean=0.0),
        "0/1, 3 % wrong": lambda size, n, rng: 1 - (rng.random((size, n)) < 0.03),
        "normal": lambda size, n, rng: np.rint(
            100 * (rng.normal(size=n) + rng.normal(size=(size, n)))
        ).astype(np.int64),
    }
    for name, draw in kinds.items():
        for size in (6, 12):
            how = simulated(partial(draw, size, 100))
            yield Kind(f"{name}; {size}, 100", how, 0.0, ("board", "board, baseline"))


def single(d: Array) -> Sequence[float]:
    """The interval of one comparison: Tango's, or Student's."""
    if np.abs(d).max() > 1:
        return students(d)
    return pt.exact_perm_test(np.maximum(d, 0), np.maximum(-d, 0)).confidence_interval(1 - ALPHA)


def named(scores: Array) -> dict[str, Array]:
    """A table for `compare_many`."""
    return {f"{i}": row for i, row in enumerate(scores)}


def of_boards(scores: Array, _: float) -> Answers:
    """Share of {sets} simulated boards on which all intervals of differences at 0.95 are right:
    from the best system of the same scores, and from a named baseline; beside them the intervals of
    single comparisons, as if each was the only one.
    """
    found = Answers()
    for label, baseline in (("", None), (", baseline", f"{len(scores) - 1}")):
        board = pt.compare_many(named(scores), correction="none", baseline=baseline)
        head = int(baseline or board.order()[0])
        others = [i for i in range(len(scores)) if i != head]
        joint = (covers(board.interval(f"{i}", f"{head}"), 0.0) for i in others)
        alone = (covers(single(scores[i] - scores[head]), 0.0) for i in others)
        found |= {f"board{label}": all(joint), f"single{label}": all(alone)}
    return found


HOLM = "Holm", "ranks, Holm"
FAMILIES = (
    # Who exchanges right and wrong sees the same kind of items: jointly symmetric.
    Kind("equal, half right; 200", simulated(partial(answers, 10, 200, mean=0.0)), 0.0,
         (*HOLM, "max-T", "ranks, max-T")),
    Kind("equal, mostly right; 200", simulated(partial(answers, 10, 200)), 0.0, HOLM),
    Kind("one winner; 200", simulated(partial(one_winner, 10, 200)), 0.0, HOLM),
    Kind("one winner; 20", simulated(partial(one_winner, 10, 20)), 0.0, HOLM),
    Kind("half better; 200", simulated(partial(answers, 10, 200, gain=log(1.5))), 1.0, HOLM),
)  # fmt: skip


def of_families(scores: Array, better: float) -> Answers:
    """Share of {sets} simulated boards of 10 systems in which some pair of equal systems is called
    different at 0.05, with no correction, by Holm's and by max-T (999 labellings), and share of
    boards on which all ranges of ranks are right. Max-T promises its level where the differences of
    equal systems are jointly symmetric, as in the first row.
    """
    size = len(scores)
    board = pt.compare_many(named(scores), correction="none", K=999, rng=0)
    good = (np.arange(size) < size / 2) & (better > 0)
    best = np.where(good | (better == 0), 1, size // 2 + 1)
    worst = np.where(good, size // 2, size)
    equal = good[board.first] == good[board.second]
    by = {"none": board, "Holm": board.corrected("holm"), "max-T": board.corrected("max_t")}
    found: Answers = {name: one.differs[equal].any() for name, one in by.items()}
    for name in ("Holm", "max-T"):
        low, high = by[name].rank_ranges().T
        found[f"ranks, {name}"] = (low <= best).all() and (high >= worst).all()
    return found


# ---- Bayes, e-processes -------------------------------------------------------------------------

SURE = "P(H1) > 0.95", "P(H1) < 0.05"
ONCE, ANY = "exact test, once", "e-process, any item"


def cross_validations(gain: float, sets: int, rng: Generator) -> Iterator[tuple[float, Any]]:
    """3 x 2 BCV of two logistic regressions on features of their own and one that they share."""
    folds = list(alt.BlockRegularizedCV(rng=0).split(range(600)))
    y = rng.integers(2, size=(sets, 600, 1))
    shift = np.array([0.5, 0.5 - gain / 2, 0.5 + gain / 2])
    x = np.concatenate([y**0, rng.normal(size=(sets, 600, 3)) + y * shift], axis=2)
    counts = []
    for train, test in folds:
        gold, cells = y[:, test, 0] == 1, []
        for own in ([0, 1, 2], [0, 1, 3]):
            s = (x[:, test][..., own] @ logistic(x[:, train][..., own], y[:, train]))[..., 0] > 0
            cells.append(np.stack([s & gold, s & ~gold, ~s & gold], -1).sum(axis=1))
        counts.append(cells)
    for both in np.array(counts).transpose(2, 1, 0, 3):
        yield 1 / sets, both


MODELS = (
    Kind("equal", partial(cross_validations, 0.0), 0.0, SURE),
    Kind("B better", partial(cross_validations, 0.3)),
)


def of_models(both: Array, _: float) -> Answers:
    """How sure it is of {sets} 3 x 2 cross-validations of each kind. It takes both models for
    independent, so that models that share data are called unequal less often.
    """
    p = alt.bayes_test(*both).p_h1
    return dict(zip(SURE, (p > 0.95, p < 0.05), strict=True))


def of_looks(d: Array, _: float) -> Answers:
    """Share of {sets} samples of normal differences that are rejected at 0.05: by the exact test of
    all items, once, and by the e-process after any item.
    """
    scores = d.round(2), np.zeros(d.size)
    size = pt.e_process(*scores).first_below(ALPHA)
    once = pt.exact_perm_test(*scores).pvalue <= ALPHA
    return {ONCE: once, ANY: size is not None}


LOOKS = [
    Kind(
        f"{n} items, effect {effect:g}",
        simulated(lambda rng, n=n, effect=effect: rng.normal(effect, 1, n)),
        promised=() if effect else (ONCE, ANY),
    )
    for n, effect in ((100, 0.0), (100, 0.28), (200, 0.2), (400, 0.14), (100, 0.4), (100, 0.5))
]


PARTS = (
    Part("Right or wrong: intervals", "N; A alone, B alone", [every_table(*x) for x in SHARES],
         of_shares, {TANGO: TANGO_COVERAGE}, 0.0),
    Part("Right or wrong: margins", "N; A alone, B alone", [every_table(*x) for x in MARGINS],
         of_margins, {TANGO: TANGO_LEVEL}, 0.0),
    Part("Graded scores", "differences, N", [*graded()], of_graded,
         {"permtest": COVERAGE, "level": LEVEL}, 0.25),
    Part("What a run is", "what varies; data", WORLDS, of_runs, dict.fromkeys(EVERY_RUN, LEVEL)),
    Part("Intervals of boards", "scores; systems, N", [*board_kinds()], of_boards,
         {"board": COVERAGE, "board, baseline": COVERAGE}, 0.15),
    Part("Corrections and ranks of boards", "scores; N", FAMILIES, of_families,
         {"Holm": LEVEL, "max-T": LEVEL, "ranks, Holm": COVERAGE, "ranks, max-T": COVERAGE}),
    Part("The Bayes test", "models", MODELS, of_models, dict.fromkeys(SURE, LEVEL)),
    Part("What looking at any time costs", "differences", LOOKS, of_looks,
         {ONCE: LEVEL, ANY: LEVEL}),
)  # fmt: skip


def measure(sets: int) -> list[Section]:
    """All sections, a process for each processor."""
    sizes = {part.title: round(part.share * sets) for part in PARTS}
    rows = ((part, row, sizes[part.title]) for part in PARTS for row in range(len(part.kinds)))
    found = iter(Parallel(n_jobs=-1)(delayed(shares)(*row) for row in rows))
    return [section(part, [next(found) for _ in part.kinds], sizes[part.title]) for part in PARTS]


def main() -> int:
    """Write the page; return whether something is amiss."""
    parser = argparse.ArgumentParser("python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--sets", type=int, default=2_000, help="data sets, more or less")
    parser.add_argument(
        "--output", type=Path, default=DOCS / "validation.md", help="where the page goes"
    )
    options = parser.parse_args()
    sections = measure(options.sets)
    options.output.write_text("\n".join([INTRODUCTION, *map(str, sections)]), encoding="utf-8")
    wrong = [line for section in sections for line in section.failures]
    print(*(wrong or ["everything is as it should be"]), sep="\n")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
