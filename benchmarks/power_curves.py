"""Time of a power curve of the exact test, beside one of SciPy's t-test on whole rows."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.paper_data import table_1
from benchmarks.tables import Section, table
from benchmarks.timing import duration, seconds
from permtest.study import power_curve

N = 2077  # as many as the test set that the paper's numbers are of
SIZES, EXPERIMENTS = 20, 2000
ADVANTAGE = 0.97
ALPHA = 0.05
SEED = 20220710

#: By how much the powers of both tests may differ, besides five standard errors.
NEAR = 0.03

Scores = NDArray[np.int64]


def rows(u: Scores, v: Scores, n: int, experiments: int, rng: np.random.Generator) -> Scores:
    """Differences of so many pairs drawn with replacement, a sample in each row."""
    return (u - v)[rng.integers(u.size, size=(experiments, n))]


def t_curve(u: Scores, v: Scores, sizes: tuple[int, ...], experiments: int) -> list[float]:
    """The same curve, of the t-test, by SciPy with ``axis=1``."""
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(SEED)
    samples = (rows(u, v, n, experiments, rng) for n in sizes)
    return [float(np.mean(ttest_1samp(d, 0, axis=1).pvalue <= ALPHA)) for d in samples]


def one_by_one(u: Scores, v: Scores, n: int, experiments: int) -> float:
    """Power of the exact test at one size, a call of `exact_perm_test` for each sample."""
    samples = rows(u, v, n, experiments, np.random.default_rng(SEED))
    nothing = np.zeros(n, dtype=np.int64)
    return float(np.mean([pt.exact_perm_test(d, nothing).pvalue <= ALPHA for d in samples]))


def run(n: int = N, number: int = SIZES, experiments: int = EXPERIMENTS) -> Section:
    """The times, and whether the curves are near each other."""
    u, v = table_1(n, np.random.default_rng(SEED), ADVANTAGE)
    curve = power_curve(u, v, sizes=number, experiments=experiments, rng=SEED)
    peer = t_curve(u, v, curve.sizes, experiments)
    few = max(experiments // 20, 1)
    times = {
        "exact": seconds(
            lambda: power_curve(u, v, sizes=number, experiments=experiments, rng=SEED)
        ),
        "t": seconds(lambda: t_curve(u, v, curve.sizes, experiments)),
        "one by one": seconds(lambda: one_by_one(u, v, n, few)) * number * experiments / few,
    }
    names = {
        "exact": "exact, by counts: permtest.study.power_curve",
        "t": "t, by rows: scipy.stats.ttest_1samp(axis=1)",
        "one by one": f"exact, one by one at N = {n:,}: {few} samples, multiplied",
    }
    text = [
        f"{number} sizes up to N = {n:,}, {experiments:,} samples of each, drawn from data as in "
        f"the paper's Table 1; at the largest the power is {curve.power[-1]:.3f} (exact) and "
        f"{peer[-1]:.3f} (t).",
        "",
        table(["how", "time"], [[names[key], duration(value)] for key, value in times.items()]),
    ]
    gap = float(np.max(np.abs(np.subtract(curve.power, peer))))
    near = NEAR + 5 * sqrt(0.5 / experiments)
    wrong = [f"powers of exact and t are {gap:.3f} apart"] if gap > near else []
    data = {"times": times, "sizes": curve.sizes, "power": curve.power, "t": peer}
    return Section("Power curve", "\n".join(text), data, wrong)


def ratios(section: Section, n: int = N) -> dict[str, float]:
    """For the record."""
    times = section.data["times"]
    return {f"power curve, exact / t, N = {n}": times["exact"] / times["t"]}
