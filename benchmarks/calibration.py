"""How often the test errs and its interval misses: ``python -m benchmarks.calibration``.

Data are simulated from two systems that are equally good, item by item, up to a constant shift.
Then p <= 0.05 must come up in at most 5 % of the data sets, and the 95 % interval for the mean
difference must contain the shift in at least 95 % of them; scores are discrete, so that often it is
fewer and more. Both are held against two standard errors of the simulation, and the command fails
where one of them is not met.

Where differences are skewed, the interval promises nothing. How often it then contains their mean,
how often a one-sided test against the mean errs, and in how many data sets the interval has a
warning, is said in a second table.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.paper_data import table_1
from benchmarks.tables import Section, table
from permtest.interval import symmetry_warning

ALPHA = 0.05
SETS = 10_000
SEED = 20220710
OUTPUT = Path(__file__).parents[1] / "build" / "benchmarks"

Scores = NDArray[np.int64]
Generator = np.random.Generator
Draw = Callable[[tuple[int, int], Generator], tuple[Scores, Scores]]


@dataclass(frozen=True)
class Kind:
    """A kind of data.

    Parameters
    ----------
    name : str
    n : int
        Pairs in a data set.
    draw : callable
        ``draw(shape, rng)`` returns two integer arrays of that shape, a data set in each row, whose
        difference is symmetric about 0 in law for each pair.
    shift : int
        What is added to the first system's scores: the true mean difference.
    """

    name: str
    n: int
    draw: Draw
    shift: int = 0


def answers(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Right or wrong, on items of any difficulty."""
    chance = rng.random(shape)
    return 1 * (rng.random(shape) < chance), 1 * (rng.random(shape) < chance)


def counts(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Small counts with many ties."""
    return rng.poisson(3.0, shape), rng.poisson(3.0, shape)


def sentences(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Correct tokens, as in the paper (Table 1)."""
    u, v = table_1(shape[0] * shape[1], rng)
    return u.reshape(shape), v.reshape(shape)


def one_point(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Every pair differs by one point: the sign test."""
    u = rng.integers(0, 2, shape)
    return u, 1 - u


def long_tails(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Differences without a mean (Cauchy), rounded; a few are as large as all others together."""
    d = np.rint(3 * rng.standard_cauchy(shape)).clip(-3000, 3000)
    return d.astype(np.int64), np.zeros(shape, dtype=np.int64)


def unequal(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Items whose differences spread over 1 to 30 points."""
    spread = np.geomspace(1, 30, shape[1])
    d = np.rint(spread * rng.standard_normal(shape))
    return d.astype(np.int64), np.zeros(shape, dtype=np.int64)


KINDS = (
    Kind("right or wrong", 50, answers),
    Kind("small counts", 20, counts),
    Kind("small counts, shifted", 20, counts, shift=2),
    Kind("one point each", 20, one_point),
    Kind("sentences (Table 1)", 50, sentences),
    Kind("long tails, shifted", 20, long_tails, shift=-5),
    Kind("unequal items", 30, unequal),
)


def tenths(draw: Callable[..., NDArray[np.float64]], mean: float, *parameters: float) -> Draw:
    """Differences of mean 0, rounded to tenths, in tenths; `draw` makes those of another mean."""

    def rounded(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
        d = np.rint(10 * (draw(rng, *parameters, size=shape) - mean)).astype(np.int64)
        return d, np.zeros_like(d)

    return rounded


def jackpots(share: float) -> Draw:
    """One item in so many gains as much as all others lose."""

    def draw(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
        return np.where(rng.random(shape) < share, round(1 / share) - 1, -1), np.zeros(shape, int)

    return draw


def better(shape: tuple[int, int], rng: Generator) -> tuple[Scores, Scores]:
    """Right or wrong, 90 % and 85 % of the time; in hundredths, less the mean difference."""
    d = 1 * (rng.random(shape) < 0.9) - 1 * (rng.random(shape) < 0.85)
    return 100 * d - 5, np.zeros_like(d)


#: Differences of mean 0 that are not symmetric, or hardly, and two that are, for comparison.
SHAPES: dict[str, Draw] = {
    "normal": tenths(Generator.normal, 0.0, 0.0, 3.0),
    "t, 3 degrees of freedom": tenths(Generator.standard_t, 0.0, 3.0),
    "right or wrong": better,
    "lognormal, sigma 1/2": tenths(Generator.lognormal, exp(1 / 8), 0.0, 0.5),
    "exponential": tenths(Generator.exponential, 1.0),
    "lognormal": tenths(Generator.lognormal, exp(1 / 2), 0.0, 1.0),
    "+9 in 10 %, else -1": jackpots(0.1),
    "+49 in 2 %, else -1": jackpots(0.02),
}
SIZES = (10, 20, 50, 100, 300, 1000)


def skewed(name: str, n: int, sets: int, rng: Generator) -> dict[str, Any]:
    """What the interval and one-sided tests are worth for differences of one shape."""
    u, v = SHAPES[name]((sets, n), rng)
    sides = [pt.exact_perm_test(u, v, axis=1, alternative=a).pvalue for a in ("greater", "less")]
    warned = [symmetry_warning(*np.unique(d, return_counts=True)) is not None for d in u - v]
    covered = (sides[0] > ALPHA / 2) & (sides[1] > ALPHA / 2)
    return {
        "kind": name,
        "n": n,
        "coverage": float(np.mean(covered)),
        "one_sided": max(float(np.mean(p <= ALPHA)) for p in sides),
        "warned": float(np.mean(warned)),
    }


def pvalues(u: Scores, v: Scores) -> NDArray[np.float64]:
    """The p-value of each row."""
    return pt.exact_perm_test(u, v, axis=1).pvalue


def intervals(u: Scores, v: Scores) -> Iterator[tuple[float, float]]:
    """The interval for the mean difference in each row."""
    for a, b in zip(u, v, strict=True):
        low, high = pt.exact_perm_test(a, b).confidence_interval(confidence_level=1 - ALPHA)
        yield low, high


def calibrate(kind: Kind, sets: int, rng: Generator) -> dict[str, Any]:
    """Size and coverage in so many data sets of one kind."""
    u, v = kind.draw((sets, kind.n), rng)
    rejected = pvalues(u, v) <= ALPHA
    covered = [low <= kind.shift <= high for low, high in intervals(u + kind.shift, v)]
    return {
        "kind": kind.name,
        "n": kind.n,
        "size": float(np.mean(rejected)),
        "coverage": float(np.mean(covered)),
    }


def failures(row: dict[str, Any], sets: int) -> list[str]:
    """What is beyond two standard errors on the wrong side."""
    slack = 2 * sqrt(ALPHA * (1 - ALPHA) / sets)
    where = f"({row['kind']}, N = {row['n']}, {sets:,} data sets)"
    lines = []
    if not row["size"] <= ALPHA + slack:
        lines.append(f"size {row['size']:.4f}, more than {ALPHA} {where}")
    if not row["coverage"] >= 1 - ALPHA - slack:
        lines.append(f"coverage {row['coverage']:.4f}, less than {1 - ALPHA} {where}")
    return lines


def run(sets: int = SETS, kinds: Sequence[Kind] = KINDS, sizes: Sequence[int] = SIZES) -> Section:
    """All kinds, a line of progress for each; then all shapes at all sizes."""
    rng, rows, wrong = np.random.default_rng(SEED), [], []
    for kind in kinds:
        start = time.perf_counter()
        rows.append(calibrate(kind, sets, rng))
        wrong += failures(rows[-1], sets)
        print(f"{kind.name}, N = {kind.n}: {time.perf_counter() - start:.1f} s", flush=True)
    lines = [
        [row["kind"], f"{row['n']}", f"{row['size']:.4f}", f"{row['coverage']:.4f}"] for row in rows
    ]
    text = [
        f"{sets:,} simulated data sets of each kind, in which the systems are equally good up to a "
        f"shift. Share with p <= {ALPHA}, and share of {100 * (1 - ALPHA):g} % intervals that "
        "contain the shift.",
        "",
        table(["kind", "N", f"size at {ALPHA}", "coverage"], lines),
    ]
    shapes = [skewed(name, n, sets // 5, rng) for name in SHAPES for n in sizes]
    text += [
        "",
        f"{sets // 5:,} data sets of each shape of differences. Share of {100 * (1 - ALPHA):g} % "
        "intervals that contain the mean, of true null hypotheses about the mean that the worse of "
        f"two one-sided tests rejects at {ALPHA}, and of intervals with a warning.",
        "",
        table(
            ["differences", "N", "coverage", "one-sided size", "warned"],
            [
                [row["kind"], f"{row['n']}", *(f"{row[x]:.3f}" for x in list(row)[2:])]
                for row in shapes
            ],
        ),
    ]
    data = {"sets": sets, "rows": rows, "shapes": shapes}
    return Section("Calibration", "\n".join(text), data, wrong)


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Simulate, print, write; return how many requirements were not met."""
    summary = (__doc__ or "").split(":")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=summary)
    parser.add_argument("--sets", type=int, default=SETS, help="data sets of each kind")
    section = run(parser.parse_args(arguments).sets)
    output.mkdir(parents=True, exist_ok=True)
    (output / "calibration.md").write_text(str(section), encoding="utf-8")
    (output / "calibration.json").write_text(json.dumps(section.data, indent=1), encoding="utf-8")
    print(f"\n{section}")
    print("\n".join(section.failures) or "size and coverage are as they should be")
    return len(section.failures)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
