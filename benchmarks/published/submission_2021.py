"""The submission of 2021 that preceded Zmigrod, Vieira and Cotterell (2022)."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.data import table_1
from benchmarks.published.figure import Document, Estimate, Figure, Holds, Inside, Printed
from benchmarks.published.zmigrod_2022 import sampled, times, yes

#: Table 2: N, by how much the second system is weaker, mean and standard deviation of p.
TABLE_2 = (
    (250, 0.95, "0.0512", "0.1351"),
    (500, 0.96, "0.0189", "0.0656"),
    (1000, 0.97, "0.0153", "0.0534"),
    (2000, 0.98, "0.0202", "0.0536"),
    (4000, 0.985, "0.0170", "0.0538"),
    (8000, 0.99, "0.0360", "0.1146"),
)
PAIRS = 400
#: How many p the published mean is taken to be of: the data points for each K and N.
THEIRS = 25
RESAMPLES = 20_000
SEED = 2021

#: Fig. 3: five runs on each of five pairs.
KS = (1000, 5000, 20_000, 80_000)
RUNS = 200

Floats = NDArray[np.float64]


@cache
def pvalues() -> dict[int, Floats]:
    """Exact p of so many pairs of systems, by N."""
    rng = np.random.default_rng(SEED)
    return {
        n: np.array([pt.exact_perm_test(*table_1(n, rng, factor)).pvalue for _ in range(PAIRS)])
        for n, factor, *_ in TABLE_2
    }


def table_2() -> list[Figure]:
    """Mean and standard deviation of p, and the range of such figures from 25 pairs."""
    rng, found = np.random.default_rng(SEED), []
    for n, factor, mean, sd in TABLE_2:
        p = pvalues()[n]
        draws = rng.choice(p, (RESAMPLES, THEIRS))
        for name, text, value, resampled in (
            ("mean", mean, p.mean(), draws.mean(axis=1)),
            ("standard deviation", sd, p.std(), draws.std(axis=1)),
        ):
            low, high = np.quantile(resampled, [0.025, 0.975])
            what = f"{name} of p, N = {n:,}, factor {factor:g}"
            ours = Estimate(float(value), float(low), float(high))
            found.append(Figure("Table 2", what, text, ours, Inside()))
    return found


def purpose() -> list[Figure]:
    """Sec. 4: the factors were chosen to give p from .001 to .1."""
    p = np.concatenate([*pvalues().values()])
    share, median = float(np.mean((p > 0.001) & (p < 0.1))), float(np.median(p))
    text = f"{share:.0%} of the pairs; median p {median:.2g}"
    note = (
        "Computed for pairs made by Table 2. A few large p dominate the mean, and many p are "
        "far below .001."
    )
    what = "pairs whose p lies between .001 and .1"
    return [Figure("Sec. 4", what, "roughly all", (share > 0.9, text), Holds(), note)]


def figure_3() -> list[Figure]:
    """The error of sampling, and where its trend is said to end."""
    errors = relative_errors()
    slope = float(np.polyfit(np.log(KS), np.log(errors), 1)[0])
    text = f"error {errors[2]:.1%} at 20,000 and {errors[3]:.1%} at 80,000, as K^{slope:.2f}"
    ends = (errors[3] > 0.9 * errors[2], text)
    fixed = (
        f"This is the mean relative error of {RUNS} runs on one pair. Fig. 3 is noisy because "
        "it draws new pairs, with other p, for each K (notebook 02)."
    )
    some = {p: float(np.sqrt((1 - p) / (p * 20_000))) for p in (0.05, 0.001)}
    enough = "standard error " + ", ".join(f"{e:.1%} of p = {p:g}" for p, e in some.items())
    depends = "How precise 20,000 samples are depends on p, by the binomial law."
    drawn = (
        "The submission prints no numbers beside them; notebook 02 draws them, and a steadier "
        "version."
    )
    what = "the trend of the error is clear up to K"
    return [
        Figure("Fig. 3", "curves of the relative error", "drawn", "drawn", note=drawn),
        Figure("Sec. 4, Fig. 3", what, "20,000", ends, Holds(), fixed),
        Figure("Sec. 4", "samples that are enough", "20,000", enough, note=depends),
    ]


def relative_errors() -> Floats:
    """Mean of |C / K - p| / p over runs on one pair with p between .001 and .1, by K."""
    rng = np.random.default_rng(SEED)
    while True:
        u, v = table_1(1000, rng, 0.97)
        p = pt.exact_perm_test(u, v).pvalue
        if 0.001 < p < 0.1:
            break
    results = [[pt.monte_carlo(u, v, K=K, rng=rng) for _ in range(RUNS)] for K in KS]
    shares = np.array(
        [[(r.n_extreme or 0) / K for r in row] for K, row in zip(KS, results, strict=True)]
    )
    return np.asarray(np.abs(shares / p - 1).mean(axis=1))


def figure_4() -> list[Figure]:
    """Time of the dynamic program beside sampling, in plain NumPy."""
    t, sizes = times()["Alg. 3"], times()["Alg. 3"].keys()
    note = (
        "We ran Alg. 3 and Alg. 1 in plain NumPy on one machine and compare only which is faster."
    )
    found = []
    for K, last in ((20_000, 6000), (40_000, 10_000)):
        holds = all(t[n] < sampled("Alg. 1", n, K) for n in sizes if n <= last)
        what = f"perm_test_acc is faster than {K:,} samples"
        text = yes(holds, f"faster up to {last:,}")
        found.append(Figure("Sec. 1, Fig. 4", what, f"up to N = {last:,}", text, Holds(), note))
    text = yes(t[10_000] < 3, "less than 3 s")
    what = "time of perm_test_acc at N = 10,000"
    return [*found, Figure("Sec. 1, Fig. 4", what, "under three seconds", text, Holds(), note)]


def wrong_tail() -> list[Figure]:
    """Eq. 2 counts labellings with an effect as small as the observed one."""
    u, v = table_1(500, np.random.default_rng(SEED), 0.96)
    result = pt.exact_perm_test(u, v)
    law = result.null_distribution
    small = float(law.pmf[np.abs(law.support) <= abs(result.statistic)].sum())
    note = (
        "This is the wrong tail: with <=, a clear winner has p near 1. The authors must have "
        "made Table 2 of the same submission with >=, as in Eq. 2 of 2022."
    )
    text = f"P(E <= o) = {small:.4f}, P(E >= o) = {result.pvalue:.4f}"
    what = "p of 500 sentences made by Table 2, for a weaker second system"
    return [Figure("Eq. 2, 4, 6; Fig. 1, 2, 5", what, "P(E <= o)", (False, text), Holds(), note)]


def proof() -> list[Figure]:
    """App. A: the inductive step, of which one term is missing."""
    first = {-2: 0.5, 2: 0.5}
    printed = {s + 3: p / 2 for s, p in first.items()}
    total = pt.exact_perm_test([2, 3], [0, 0]).null_distribution.pmf.sum()
    note = (
        "The step has only one of two terms, so it loses half of the probability at each "
        "sentence; the algorithm (Fig. 2) adds both."
    )
    what = "sum of the law of two sentences, differences 2 and 3, by the last step of the proof"
    ours = float(total)
    return [Figure("App. A, B", what, f"{sum(printed.values()):.1f}", ours, Printed(), note)]


DOCUMENT = Document(
    "submission",
    "Anonymous submission (2021): Exact Paired Permutation Testing Algorithms for NLP Systems",
    "This submission preceded the paper of 2022, and its Table 1 is the same. Table 2 does not "
    f"say over how many pairs it takes its means. Ours are over {PAIRS} pairs. The interval "
    f"holds 95 % of such figures from {THEIRS} pairs, the number of data points that the text "
    "has for each K and N. These intervals are wide, so agreement says little.",
    (wrong_tail, proof, table_2, purpose, figure_3, figure_4),
    slow=(table_2, purpose, figure_3, figure_4),
)
