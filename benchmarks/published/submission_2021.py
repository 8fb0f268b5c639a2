"""The submission of 2021 that preceded Zmigrod, Vieira and Cotterell (2022)."""

from __future__ import annotations

import numpy as np

import permtest as pt
from benchmarks.data import MADE, STAND_IN, table_1
from benchmarks.published.figure import Figure, rounded

SEED = 2021

TITLE = "Anonymous submission (2021): Exact Paired Permutation Testing Algorithms for NLP Systems"
ABOUT = (
    "This submission preceded the paper of 2022. Its Table 2 has means of sampled p-values over an "
    "unstated number of pairs of systems, so we do not repeat it. Test sets are made as for the "
    f"paper of 2022, by its Table 1. {STAND_IN}"
)


def figures() -> list[Figure]:
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
