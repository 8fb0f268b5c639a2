"""The submission of 2021 that preceded Zmigrod, Vieira and Cotterell (2022)."""

from __future__ import annotations

import numpy as np

import permtest as pt
from benchmarks.data import MADE, STAND_IN, table_1
from benchmarks.published.figure import Estimate, Figure, rounded, within

#: Table 2: N, by how much the second system is weaker, mean and standard deviation of p.
TABLE_2 = (
    (250, 0.95, "0.0512, 0.1351"),
    (500, 0.96, "0.0189, 0.0656"),
    (1000, 0.97, "0.0153, 0.0534"),
    (2000, 0.98, "0.0202, 0.0536"),
    (4000, 0.985, "0.0170, 0.0538"),
    (8000, 0.99, "0.0360, 0.1146"),
)
PAIRS, RESAMPLES, SEED = 400, 20_000, 2021
#: How many p the published mean is taken to be of: the data points for each K and N.
THEIRS = 25

TITLE = "Anonymous submission (2021): Exact Paired Permutation Testing Algorithms for NLP Systems"
ABOUT = (
    "This submission preceded the paper of 2022. Its Table 2 does not say over how many pairs of "
    f"systems it takes its means. Ours are over {PAIRS} pairs, and the interval holds 95 % of such "
    f"figures from {THEIRS} pairs, the number of data points that the text has for each K and N. "
    "These intervals are wide, so agreement says little. Test sets are made as for the paper of "
    f"2022, by its Table 1. {STAND_IN}"
)


def quick() -> list[Figure]:
    """Eq. 2 counts the wrong tail, and App. A lacks a term."""
    u, v = table_1(500, np.random.default_rng(SEED), 0.96)
    result = pt.exact_perm_test(u, v)
    law = result.null_distribution
    small = float(law.pmf[np.abs(law.support) <= abs(result.statistic)].sum())
    tail = (
        "With <=, a clear winner has p near 1. The authors must have made Table 2 with >=, as in "
        "Eq. 2 of 2022."
    )
    first = {-2: 0.5, 2: 0.5}
    printed = {s + 3: p / 2 for s, p in first.items()}
    total = pt.exact_perm_test([2, 3], [0, 0]).null_distribution.pmf.sum()
    term = (
        "The step has only one of two terms, so it loses half of the probability at each sentence; "
        "the algorithm (Fig. 2) adds both."
    )
    ours = f"P(E <= o) = {small:.4f}, P(E >= o) = {result.pvalue:.4f}"
    what = f"p of 500 sentences made by Table 2, for a weaker second system ({MADE})"
    step = "sum of the law of two sentences, differences 2 and 3, by the last step of the proof"
    return [
        Figure("Eq. 2, 4, 6", what, "P(E <= o)", ours, False, tail),
        rounded("App. A, B", step, f"{sum(printed.values()):.1f}", float(total), note=term),
    ]


def slow() -> list[Figure]:
    """Table 2, with the range of such figures from 25 pairs; and what it was made for."""
    rng = np.random.default_rng(SEED)
    found = [
        np.array([pt.exact_perm_test(*table_1(n, rng, factor)).pvalue for _ in range(PAIRS)])
        for n, factor, _ in TABLE_2
    ]
    rng, rows = np.random.default_rng(SEED), []
    for (n, factor, printed), p in zip(TABLE_2, found, strict=True):
        draws = rng.choice(p, (RESAMPLES, THEIRS))
        ours = [
            Estimate(value, *np.quantile(resampled, [0.025, 0.975]).tolist())
            for value, resampled in (
                (float(p.mean()), draws.mean(axis=1)),
                (float(p.std()), draws.std(axis=1)),
            )
        ]
        what = f"mean and standard deviation of p, N = {n:,}, factor {factor:g} ({MADE})"
        rows.append(within("Table 2", what, printed, *ours))
    every = np.concatenate(found)
    share = float(np.mean((every > 0.001) & (every < 0.1)))
    text = f"{share:.0%} of the pairs; median p {np.median(every):.2g}"
    note = "A few large p dominate the means, and many p are far below .001."
    what = f"pairs whose p lies between .001 and .1 ({MADE})"
    return [*rows, Figure("Sec. 4", what, "roughly all", text, share > 0.9, note)]
