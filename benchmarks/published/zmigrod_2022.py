"""Zmigrod, Vieira and Cotterell (2022), Exact Paired-Permutation Testing."""

from __future__ import annotations

import numpy as np

import permtest as pt
from benchmarks import paper
from benchmarks.data import LENGTH, MADE, STAND_IN, table_1
from benchmarks.published.figure import Figure, rounded
from benchmarks.published.yeh_2000 import responses
from permtest.course import load

TITLE = (
    "Zmigrod, Vieira and Cotterell (2022): Exact Paired-Permutation Testing for Structured Test "
    "Statistics"
)
ABOUT = (
    "NAACL 2022. We make test sets by its Table 1, with both normal laws cut off at possible "
    f"values, which the paper leaves open. {STAND_IN} Sentence lengths in the first row are those "
    "of the English EWT test set of the notebooks; nobody published what the tagger of Table 1 "
    "answered. Fig. 1, the times of Alg. 1, 3 and 4, is drawn again in [exactness and "
    "speed](performance.md)."
)
#: The second system's mean accuracy, as a share of the first one's: as in the authors' program.
ADVANTAGE, SEED = 0.98, 2022


def figures() -> list[Figure]:
    """Lengths, the theorems, and the formulas of the appendices."""
    length = load("ud_en_ewt_pos")["n_tokens"]
    what = "sentence length: mean, standard deviation"
    printed = "{:.2f}, {:.2f}".format(*LENGTH)
    first = rounded("Table 1", what, printed, length.mean(), length.std(ddof=0))
    return [first, agreement(), appendix_a(), *appendix_b()]


def agreement() -> Figure:
    """Alg. 3, Alg. 4, the package's methods and integers have the same p."""
    u, v = table_1(500, np.random.default_rng(SEED), ADVANTAGE)
    truth = float(pt.exact_perm_test(u, v).fraction())
    found = [paper.exact_perm_test(u, v, c) for c in (paper.convolve_dp, paper.convolve_fft)]
    found += [pt.exact_perm_test(u, v, method=m).pvalue for m in ("tilted", "dp", "fft")]
    return Figure(
        "Theorems 2 to 4",
        f"convolve_DP and convolve_FFT return the exact p (500 sentences made by Table 1: {MADE})",
        "equal",
        f"p = {truth:.10f} by both, by our three methods and in integers",
        max(abs(p / truth - 1) for p in found) < 1e-9,
    )


def appendix_a() -> Figure:
    """Eq. 11 as printed, on two entries whose effects are 1 if they stay and 0 if swapped."""
    f = {0: 0.5, 1: 0.5}
    printed = sum(f.get(2 + x, 0.0) * p for x, p in f.items())
    law = pt.exact_perm_test([1, 1], [0, 0], g=lambda u, _: u, h=lambda s: s).pvalue
    return rounded(
        "App. A, Eq. 11 as printed",
        "P(S = 2) of two entries with effects 1 and 0",
        f"{printed:.2f}",
        law,
        note="The last two sums have a plus where they need a minus. If stay and swap are mirror "
        "images, as for differences of scores, both signs give the same.",
    )


def appendix_b() -> list[Figure]:
    """Eq. 15 and 16: how many sums F1 takes, and what floats make of its ties."""
    rank = pt.exact_perm_test(*responses(), statistic="f1").rank
    u, v = [(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]
    right = pt.exact_perm_test(u, v, statistic="f1").pvalue
    counts = [np.array([(tp, bad, 0) for tp, bad in side]) for side in (u, v)]
    printed = paper.perm_test_f1(*counts)
    repaired = paper.perm_test_f1(*counts, h=paper.f1_gap_with_ties)
    note = (
        "A swap moves true positives and incorrect answers from one system to the other and keeps "
        "their totals, so two of the four follow from the others."
    )
    ties = (
        "The published column runs Alg. 5 as printed, in floats, which lose two of four ties. With "
        "integers, p is 1/2."
    )
    what = "p of (tp, incorrect) = (2,0), (1,2), (2,0) against (0,2), (0,1), (2,2)"
    return [
        rounded("Eq. 15, 16", "sums that F1 takes", "4", rank, note=note),
        rounded("Alg. 5, line 9", what, f"{printed:g}", right, note=ties),
        rounded("Alg. 5, ties kept", "the same", f"{repaired:g}", right),
    ]
