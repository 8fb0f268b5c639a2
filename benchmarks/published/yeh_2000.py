"""Yeh (2000), More accurate tests for the statistical significance of result differences."""

from __future__ import annotations

from typing import Any

import numpy as np

import permtest as pt
from benchmarks.published.figure import Document, Figure, Hits, Holds, Printed
from permtest import alternatives as alt

HIT, SPURIOUS, MISS, NOTHING = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)

#: How many responses, and what each is to method I and to method II: tp, fp, fn.
RESPONSES = (
    (19, HIT, HIT),
    (28, HIT, MISS),
    (6, MISS, HIT),
    (50, MISS, MISS),
    (5, SPURIOUS, SPURIOUS),
    (43, SPURIOUS, NOTHING),
    (9, NOTHING, SPURIOUS),
)
TRIALS, SEED = 2**20, 2000

#: Sec. 3.3: what was tested, in which direction, hits among the trials, and their p.
SAMPLED = (
    ("recall of I above II", "recall", "greater", "96", "0.00009"),
    ("F of I above II", "f1", "greater", "14,794", "0.014"),
    ("precision of II above I", "precision", "less", "25,770", "0.025"),
)

Entries = list[tuple[int, int, int]]


def responses() -> tuple[Entries, Entries]:
    """Every relation and every spurious answer as an entry of its own, for both methods."""
    one = [first for times, first, _ in RESPONSES for _ in range(times)]
    two = [second for times, _, second in RESPONSES for _ in range(times)]
    return one, two


def exact(measure: str, alternative: Any) -> float:
    """The exact p of the example."""
    one, two = responses()
    return pt.exact_perm_test(one, two, statistic=measure, alternative=alternative).pvalue


def inflation() -> list[Figure]:
    """Sec. 2.1: what a correlation does to the standard deviation of a difference."""
    rows = [("0.38", "1.27", "0.787"), ("0.50", "1.41", ""), ("0.80", "2.24", "0.447")]
    found = []
    for r12, factor, inverse in rows:
        ours = alt.inflation(float(r12))
        what = f"factor on s_d if r12 = {r12} is taken for 0"
        found.append(Figure("Sec. 2.1, table", what, factor, ours, Printed()))
        if inverse:
            what = f"s_d in units of the one for r12 = 0, at r12 = {r12}"
            found.append(Figure("Sec. 2.1, table", what, inverse, 1 / ours, Printed()))
    percent = 100 * (alt.inflation(0.5) - 1)
    what = "by how much larger d has to be at r12 = 0.50"
    return [*found, Figure("Sec. 2.1", what, "41 %", percent, Printed())]


def experiments() -> list[Figure]:
    """Sec. 2.1: what cannot be measured again."""
    note = "Nobody published the 748 relations or the systems' answers."
    return [
        Figure("Sec. 2.1", what, published, note=note)
        for what, published in (
            ("median r12 of ten comparisons of two methods", "0.38"),
            ("r12 of the ten: smallest, and range of the others", "-0.05; 0.29 to 0.53"),
            (
                "r12 of 40 comparisons of variants of one method",
                "3 in .20-.30, 24 in .50-.79, 13 in .80-1",
            ),
        )
    ]


def chi_squared() -> list[Figure]:
    """Sec. 2.2: precision by a table of counts, and by swaps."""
    table = [[47, 48], [25, 14]]
    plain, yates = (alt.chi_squared(table, correction=c) for c in (False, True))
    two_sided, one_sided = exact("precision", "two-sided"), exact("precision", "less")
    return [
        Figure(
            "Sec. 2.2, table",
            "precision of both, in %",
            "49.5, 64.1",
            (4700 / 95, 2500 / 39),
            Printed(),
        ),
        Figure(
            "Sec. 2.2",
            "chi-squared of relevant and spurious answers",
            "2.38",
            plain.statistic,
            Printed(),
        ),
        Figure(
            "Sec. 2.2",
            "its p",
            "10 % to 20 %",
            (0.1 <= plain.pvalue <= 0.2, f"{plain.pvalue:.4f}"),
            Holds(),
        ),
        Figure(
            "Sec. 2.2, note 3",
            "Yates' correction makes p larger",
            "worse",
            (yates.pvalue > plain.pvalue, f"{yates.pvalue:.4f}"),
            Holds(),
        ),
        Figure(
            "Sec. 2.2",
            "p of precision by randomisation, two-sided",
            "less than 4 %",
            (two_sided < 0.04, f"{two_sided:.6f}"),
            Holds(),
            "Our p is exact, and the bound holds by a hair.",
        ),
        Figure(
            "Sec. 2.2",
            "p of precision by randomisation, one-sided",
            "3 %",
            100 * one_sided,
            Printed(),
            "The scan is barely legible here. Swapping all answers reverses the difference, so "
            "the two-sided p is twice the one-sided p. So his 3 %, or the 2.46 % of sec. 3.3, "
            "contradicts his less than 4 %. The exact values agree with the latter.",
        ),
    ]


def counts() -> list[Figure]:
    """Sec. 3.3: the example before it is tested."""
    one, two = (np.array(x).sum(axis=0) for x in responses())
    recalled = [[int(x == HIT) for x in side] for side in responses()]
    relevant = sum(n for n, first, _ in RESPONSES if first in (HIT, MISS))
    r12 = float(np.corrcoef(*(side[:relevant] for side in recalled))[0, 1])
    to_swap = sum(n for n, first, second in RESPONSES if first != second)
    recalls = tuple(100 * tp / (tp + fn) for tp, _, fn in (one, two))
    fs = tuple(200 * tp / (2 * tp + fp + fn) for tp, fp, fn in (one, two))
    return [
        Figure("Sec. 3.3", "recall of both, in %", "45.6, 24.3", recalls, Printed()),
        Figure("Sec. 3.3, table", "F of both, in %", "47.5, 35.2", fs, Printed()),
        Figure("Sec. 2.2, 3.3", "correlation of what both recall", "0.35", r12, Printed()),
        Figure("Sec. 3.3", "answers that only one method gives", "86", to_swap, Printed()),
        Figure("Sec. 3.3", "shuffles that twenty answers allow", "1,048,576", TRIALS, Printed()),
        Figure("Sec. 4", "five coins on one given side, as 1 in", "32", 1 / 0.5**5, Printed()),
    ]


def trials() -> list[Figure]:
    """Sec. 3.3: p by a million shuffles, beside the exact one."""
    right = "A million fair shuffles could well give this count."
    wrong = (
        "This is not sampling error: fair shuffles do not give this count. The verdict at the "
        "level .05 stands."
    )
    found = []
    for what, measure, side, hits, p in SAMPLED:
        note = right if measure == "recall" else wrong
        ours, rule = exact(measure, side), Hits(TRIALS)
        found.append(Figure("Sec. 3.3", f"{what}: hits in {TRIALS:,}", hits, ours, rule, note))
        most = (int(hits.replace(",", "")) + 1) / (TRIALS + 1)
        what = f"{what}: (hits + 1) / (trials + 1)"
        found.append(Figure("Sec. 3.3", what, p, most, Printed(), "This is his count, divided."))
    one, two = (np.array([int(x == HIT) for x in side]) for side in responses())
    sign = alt.sign(one, two, alternative="greater").pvalue
    same = abs(sign / exact("recall", "greater") - 1) < 1e-9
    text = f"{sign:.4g}, the exact p of recall"
    what = "the sign test of recall gives the same"
    return [*found, Figure("Sec. 3.3", what, "similar", (same, text), Holds())]


DOCUMENT = Document(
    "yeh",
    "Yeh (2000): More accurate tests for the statistical significance of result differences",
    "COLING 2000. We have only a bad scan of it; the counts add up as we read them.",
    (inflation, experiments, chi_squared, counts, trials),
)
