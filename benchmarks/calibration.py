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

import sys
from collections.abc import Callable, Sequence
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.data import table_1
from benchmarks.report import Section, simulate, table
from permtest.interval import symmetry_warning

ALPHA, SEED = 0.05, 20220710
SIZES = (10, 20, 50, 100, 300, 1000)

Scores = NDArray[np.int64]
Generator = np.random.Generator
#: Differences of as many data sets as there are rows.
Draw = Callable[[tuple[int, int], Generator], Scores]


class Kind(NamedTuple):
    """Data sets of n differences that are symmetric about 0 in law; the shift is added to them."""

    name: str
    n: int
    draw: Draw
    shift: int = 0


def sentences(shape: tuple[int, int], rng: Generator) -> Scores:
    """Correct tokens, as in the paper (Table 1)."""
    u, v = table_1(shape[0] * shape[1], rng)
    return (u - v).reshape(shape)


def whole(draw: Callable[..., NDArray[np.float64]]) -> Draw:
    """Rounded differences."""
    return lambda shape, rng: np.rint(draw(rng, shape)).astype(np.int64)


KINDS = (
    Kind("right or wrong", 50, lambda shape, rng: rng.choice((-1, 0, 1), shape, p=(0.2, 0.6, 0.2))),
    Kind(
        "counts, shifted",
        20,
        lambda shape, rng: -np.diff(rng.poisson(3, (2, *shape)), axis=0)[0],
        2,
    ),
    Kind("sentences (Table 1)", 50, sentences),
    # Without a mean (Cauchy): a few are as large as all others together.
    Kind(
        "long tails, shifted",
        20,
        whole(lambda rng, shape: (3 * rng.standard_cauchy(shape)).clip(-3000, 3000)),
        shift=-5,
    ),
)

#: Differences of mean 0 that are not symmetric, and one that is, for comparison: in tenths; "right
#: or wrong", 90 % and 85 % of the time, in hundredths.
SHAPES: dict[str, Draw] = {
    "normal": whole(lambda rng, shape: rng.normal(0, 30, shape)),
    "right or wrong": lambda shape, rng: (
        100 * ((rng.random(shape) < 0.9) - 1 * (rng.random(shape) < 0.85)) - 5
    ),
    "exponential": whole(lambda rng, shape: 10 * (rng.exponential(1.0, shape) - 1)),
    "lognormal": whole(lambda rng, shape: 10 * (rng.lognormal(0, 1, shape) - exp(1 / 2))),
    "+49 in 2 %, else -1": lambda shape, rng: np.where(rng.random(shape) < 0.02, 49, -1),
}


def intervals(d: Scores) -> NDArray[np.float64]:
    """The interval for the mean difference in each row."""
    nothing = np.zeros_like(d[0])
    level = 1 - ALPHA
    return np.array([pt.exact_perm_test(x, nothing).confidence_interval(level)[:2] for x in d])


def calibrate(kind: Kind, sets: int, rng: Generator) -> tuple[list[str], list[str]]:
    """A row: share of p at most alpha, and of intervals that hold the shift; and what is wrong."""
    d = kind.draw((sets, kind.n), rng)
    size = np.mean(pt.exact_perm_test(d, np.zeros_like(d), axis=1).pvalue <= ALPHA)
    low, high = intervals(d + kind.shift).T
    coverage = np.mean((low <= kind.shift) & (kind.shift <= high))
    where = f"({kind.name}, N = {kind.n}, {sets:,} data sets)"
    slack, wrong = 2 * sqrt(ALPHA * (1 - ALPHA) / sets), []
    if not size <= ALPHA + slack:
        wrong.append(f"size {size:.4f}, more than {ALPHA} {where}")
    if not coverage >= 1 - ALPHA - slack:
        wrong.append(f"coverage {coverage:.4f}, less than {1 - ALPHA} {where}")
    return [kind.name, f"{kind.n}", f"{size:.4f}", f"{coverage:.4f}"], wrong


def skewed(name: str, n: int, sets: int, rng: Generator) -> list[str]:
    """What the interval and one-sided tests are worth for differences of one shape."""
    d = SHAPES[name]((sets, n), rng)
    nothing = np.zeros_like(d)
    above, below = (
        pt.exact_perm_test(d, nothing, axis=1, alternative=side).pvalue
        for side in ("greater", "less")
    )
    covered = np.mean((above > ALPHA / 2) & (below > ALPHA / 2))
    one_sided = max(np.mean(above <= ALPHA), np.mean(below <= ALPHA))
    warned = np.mean([symmetry_warning(*np.unique(x, return_counts=True)) is not None for x in d])
    return [name, f"{n}", f"{covered:.3f}", f"{one_sided:.3f}", f"{warned:.3f}"]


def run(sets: int, kinds: Sequence[Kind] = KINDS, sizes: Sequence[int] = SIZES) -> list[Section]:
    """All kinds; then all shapes at all sizes."""
    rng = np.random.default_rng(SEED)
    found = [calibrate(kind, sets, rng) for kind in kinds]
    shapes = [skewed(name, n, sets // 5, rng) for name in SHAPES for n in sizes]
    text = [
        f"{sets:,} simulated data sets of each kind, in which the systems are equally good up to a "
        f"shift. Share with p <= {ALPHA}, and share of {100 * (1 - ALPHA):g} % intervals that "
        "contain the shift.",
        table(["kind", "N", f"size at {ALPHA}", "coverage"], [cells for cells, _ in found]),
        f"{sets // 5:,} data sets of each shape of differences. Share of {100 * (1 - ALPHA):g} % "
        "intervals that contain the mean, of true null hypotheses about the mean that the worse of "
        f"two one-sided tests rejects at {ALPHA}, and of intervals with a warning.",
        table(["differences", "N", "coverage", "one-sided size", "warned"], shapes),
    ]
    wrong = [line for _, lines in found for line in lines]
    return [Section("Calibration", "\n\n".join(text), wrong)]


if __name__ == "__main__":
    sys.exit(simulate("calibration", __doc__, 10_000, run))
