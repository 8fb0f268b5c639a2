"""What is claimed beside p, measured: effect sizes, advice, e-processes.

Each function simulates so many data sets of each kind, and returns a section with what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

import permtest as pt
from benchmarks.report import Section, table
from permtest import study
from permtest.study.recommend import measured_rates, rate_intervals

ALPHA, SURE = 0.05, 0.95
Array = NDArray[Any]
Generator = np.random.Generator


# ---- e-processes --------------------------------------------------------------------------------

#: Numbers of items, and the mean of normal differences in standard deviations.
EFFECTS = ((100, 0.0), (100, 0.28), (200, 0.2), (400, 0.14), (100, 0.4), (100, 0.5))


def e_process_power(sets: int, kinds: Sequence[tuple[int, float]] = EFFECTS) -> Section:
    """How often an e-process and an exact test at a fixed size find the same difference."""
    lines, failures = [], []
    for n, effect in kinds:
        d = np.random.default_rng(41).normal(effect, 1, (sets, n)).round(2)
        nothing = np.zeros_like(d)
        fixed = float(np.mean(pt.exact_perm_test(d, nothing, axis=1).pvalue <= ALPHA))
        sizes = [pt.e_process(x, nothing[0]).first_below(ALPHA) for x in d]
        stopped = [x for x in sizes if x is not None]
        watched = len(stopped) / sets
        when = f"{np.median(stopped):.0f}" if effect and stopped else "-"
        lines.append([f"{n} items, effect {effect:g}", f"{fixed:.3f}", f"{watched:.3f}", when])
        if not effect and watched > binom(sets, ALPHA).ppf(0.999) / sets:
            failures.append(f"e-process: {watched:.3f} of true null hypotheses rejected")
    text = (
        f"Share of {sets:,} samples of normal differences that are rejected at {ALPHA}: by the "
        "exact test of all items, once, and by the e-process after any item; and after how many "
        "items, in the median, the e-process rejected where it did.\n\n"
    )
    head = ["differences", "exact test, once", "e-process, any item", "items it took"]
    return Section("What looking at any time costs", text + table(head, lines), failures)


# ---- effect sizes -------------------------------------------------------------------------------


class Shape(NamedTuple):
    """A law of differences, with its mean over its standard deviation."""

    name: str
    draw: Callable[[Generator, tuple[int, int]], Array]
    effect: float


#: Mean and standard deviation of the standard lognormal law.
LOGNORMAL = np.exp(0.5), np.sqrt((np.e - 1) * np.e)
SHAPES = (
    Shape("normal, d = 0", lambda rng, size: rng.normal(0, 1, size), 0.0),
    Shape("normal, d = .8", lambda rng, size: rng.normal(0.8, 1, size), 0.8),
    Shape("lognormal", lambda rng, size: rng.lognormal(0, 1, size), LOGNORMAL[0] / LOGNORMAL[1]),
    Shape("lognormal, centred", lambda rng, size: rng.lognormal(0, 1, size) - LOGNORMAL[0], 0.0),
    Shape("exponential", lambda rng, size: rng.exponential(1, size), 1.0),
    Shape("exponential, centred", lambda rng, size: rng.exponential(1, size) - 1, 0.0),
    Shape("Student's t, 5, d = .5", lambda rng, size: rng.standard_t(5, size) + 0.645, 0.5),
)
#: Normal samples that may have a warning.
MOST_WARNED = 0.03


def effect_intervals(sets: int, sizes: Sequence[int] = (20, 100, 500)) -> Section:
    """How often the interval of d holds it, and how often it has a warning."""
    lines, failures = [], []
    for shape in SHAPES:
        for n in sizes:
            rows = shape.draw(np.random.default_rng(42), (sets, n)).round(4)
            found = [study.cohen_d(d, np.zeros(n)) for d in rows]
            ends = np.array([d.confidence_interval(1 - ALPHA)[:2] for d in found])
            covered = (ends[:, 0] <= shape.effect) & (shape.effect <= ends[:, 1])
            warned = np.array([d.warning is not None for d in found])
            silent = f"{covered[~warned].mean():.3f}" if sets - warned.sum() >= 50 else "-"
            cells = [f"{covered.mean():.3f}", f"{warned.mean():.3f}", silent]
            lines.append([f"{shape.name}, N = {n}", *cells])
            most = binom(sets, MOST_WARNED).ppf(0.999) / sets
            if shape.name.startswith("normal") and warned.mean() > most:
                failures.append(f"{lines[-1][0]}: {warned.mean():.3f} of normal samples warned of")
    text = (
        f"Share of {sets:,} samples in which the 95 % interval of Cohen's d holds the true one, in "
        "which it has a warning, and coverage where there was none. Hedges' g has the same "
        "interval, multiplied.\n\n"
    )
    head = ["differences", "coverage", "warned", "covered without warning"]
    return Section("Intervals of effect sizes", text + table(head, lines), failures)


# ---- advice -------------------------------------------------------------------------------------

#: Populations of differences, how many are seen, and the tests that are measured.
POPULATIONS: tuple[tuple[str, int, Callable[[Generator, int], Array]], ...] = (
    ("normal", 20, lambda rng, n: rng.normal(0.5, 1, n)),
    ("Student's t, 5", 100, lambda rng, n: 0.8 * rng.standard_t(5, n) + 0.2),
    ("lognormal", 40, lambda rng, n: rng.lognormal(0, 1, n) - 1.2),
)
MEASURED = ("exact", "paired_t", "sign")
UNIT = 10  # differences are tenths, so that exact tests are quick


def advice(sets: int, kinds: Sequence[Any] = POPULATIONS, population: int = 20_000) -> Section:
    """How often printed intervals hold a test's level and power for the population."""
    lines, failures = [], []
    for name, n, draw in kinds:
        rng = np.random.default_rng(43)
        every = np.rint(UNIT * draw(rng, population)).astype(np.int64)
        # The true rates, of samples of n: level and power where resamples are of the population.
        truth = np.array([*true_rates(every, n).values()])
        held = np.zeros((sets, 2, len(MEASURED), 2))
        for i in range(sets):
            d = np.rint(UNIT * draw(rng, n)).astype(np.int64)
            rates = measured_rates(d, UNIT, MEASURED, samples=500)
            ends = np.array([*rate_intervals(d, UNIT, rates, samples=500).values()])
            shares = np.array([*rates.values()])
            low, high = proportion_confint(500 * shares, 500, 0.05, "beta")
            held[i] = (
                (low <= truth) & (truth <= high),
                ((ends[..., 0] <= truth) & (truth <= ends[..., 1])),
            )
        for test, share, true in zip(
            MEASURED, held.mean(axis=0).swapaxes(0, 1), truth, strict=True
        ):
            (level, power), (level_now, power_now) = share
            cells = (true[0], level, level_now, true[1], power, power_now)
            lines.append([f"{name}, N = {n}: {test}", *(f"{x:.3f}" for x in cells)])
            if name == "normal" and level_now < 0.95 - 3 * np.sqrt(0.05 * 0.95 / sets):
                failures.append(f"{lines[-1][0]}: interval of the level right in {level_now:.3f}")
    text = (
        "`study.recommend` measures level and power of tests on samples drawn from the differences "
        f"that there are. Share of {sets:,} sets of differences for which the 95 % interval holds "
        "the true level or power, that of such samples from the population: by the error of "
        "simulation alone, and as it is printed, with the spread between resamples.\n\n"
    )
    head = ["differences and test", "level", "simulation", "printed"]
    head += ["power", "simulation", "printed"]
    return Section(
        "Level and power that are measured on the data", text + table(head, lines), failures
    )


def true_rates(steps: Array, n: int, samples: int = 4000) -> dict[str, tuple[float, float]]:
    """Level and power of tests of n differences from a population."""
    rng, found = np.random.default_rng(44), []
    coins = np.sign(np.concatenate([steps, -steps]))
    for law, centred in ((steps - steps.mean(), True), (steps, False)):
        drawn = rng.choice(law, (samples, n))
        rows = np.rint(drawn).astype(np.int64)
        signs = rng.choice(coins, (samples, n)) if centred else rows
        t = np.abs(drawn.mean(axis=1)) / drawn.std(axis=1, ddof=1) * np.sqrt(n)
        wins, losses = ((side * signs > 0).sum(axis=1) for side in (1, -1))
        p = (
            pt.exact_perm_test(rows, np.zeros_like(rows), axis=1).pvalue,
            2 * student.sf(t, n - 1),
            np.minimum(2 * binom.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1),
        )
        found.append([float(np.mean(x <= ALPHA)) for x in p])
    return {test: (x, y) for test, x, y in zip(MEASURED, *found, strict=True)}
