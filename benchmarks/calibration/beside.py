"""What is claimed beside p, measured: effect sizes and e-processes.

Each function simulates so many data sets of each kind, and returns a section with what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import permtest as pt
from benchmarks.report import Section, table
from permtest import study

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
