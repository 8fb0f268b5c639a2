"""Yeh (2000), More accurate tests for the statistical significance of result differences."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import permtest as pt
from benchmarks.published.figure import Figure, Z, rounded
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
TRIALS = 2**20
#: Sec. 3.3: what was tested, in which direction, and hits among the trials.
SAMPLED = (
    ("recall of I above II", "recall", "greater", 96),
    ("F of I above II", "f1", "greater", 14_794),
    ("precision of II above I", "precision", "less", 25_770),
)
TITLE = "Yeh (2000): More accurate tests for the statistical significance of result differences"
ABOUT = (
    "COLING 2000. We have only a bad scan of it; the counts add up as we read them. Nobody "
    "published the answers of the 748 relations of sec. 2.1."
)


def responses() -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """Every relation and every spurious answer as an entry of its own, for both methods."""
    one = [first for times, first, _ in RESPONSES for _ in range(times)]
    two = [second for times, _, second in RESPONSES for _ in range(times)]
    return one, two


def exact(measure: str, alternative: Any) -> float:
    """The exact p of the example."""
    one, two = responses()
    return pt.exact_perm_test(one, two, statistic=measure, alternative=alternative).pvalue


def figures() -> list[Figure]:
    """What a correlation does, the example, and its p by counts and by swaps."""
    factors = [1 / sqrt(1 - r12) for r12 in (0.38, 0.5, 0.8)]
    what = "factor on s_d if r12 = 0.38, 0.50, 0.80 is taken for 0"
    return [rounded("Sec. 2.1", what, "1.27, 1.41, 2.24", *factors), *example(), *precision(),
            *map(trials, SAMPLED)]  # fmt: skip


def example() -> list[Figure]:
    """The example before it is tested."""
    one, two = (np.array(x).sum(axis=0) for x in responses())
    recalled = [[int(x == HIT) for x in side] for side in responses()]
    relevant = sum(n for n, first, _ in RESPONSES if first in (HIT, MISS))
    r12 = float(np.corrcoef(*(side[:relevant] for side in recalled))[0, 1])
    recalls = [100 * tp / (tp + fn) for tp, _, fn in (one, two)]
    fs = [200 * tp / (2 * tp + fp + fn) for tp, fp, fn in (one, two)]
    shares = [100 * tp / (tp + fp) for tp, fp, _ in (one, two)]
    return [
        rounded("Sec. 3.3", "recall of both, in %", "45.6, 24.3", *recalls),
        rounded("Sec. 3.3", "F of both, in %", "47.5, 35.2", *fs),
        rounded("Sec. 2.2", "precision of both, in %", "49.5, 64.1", *shares),
        rounded("Sec. 2.2, 3.3", "correlation of what both recall", "0.35", r12),
    ]


def precision() -> list[Figure]:
    """Precision by a table of counts, and by swaps."""
    plain = alt.chi_squared([[47, 48], [25, 14]])
    p, two_sided = plain.pvalue, exact("precision", "two-sided")
    note = (
        "The scan is barely legible here. Swapping all answers reverses the difference, so the "
        "two-sided p is twice the one-sided p. So his 3 %, or the 2.46 % of sec. 3.3, contradicts "
        "his less than 4 %. The exact values agree with the latter."
    )
    what = "p of precision by randomisation, {}".format
    return [
        rounded("Sec. 2.2", "chi-squared of right and spurious answers", "2.38", plain.statistic),
        Figure("Sec. 2.2", "its p", "10 % to 20 %", f"{100 * p:.2f} %", 0.1 <= p <= 0.2),
        Figure("Sec. 2.2", what("two-sided"), "less than 4 %", f"{100 * two_sided:.4f} %",
               two_sided < 0.04),
        rounded("Sec. 2.2", what("one-sided, in %"), "3", 100 * exact("precision", "less"),
                note=note),
    ]  # fmt: skip


def trials(tested: tuple[str, str, str, int]) -> Figure:
    """A count of random trials beside the exact probability: one that 95 % of them have."""
    what, measure, side, hits = tested
    p = exact(measure, side)
    off = (hits / TRIALS - p) / sqrt(p * (1 - p) / TRIALS)
    ours = f"p = {p:.4g}, so {p * TRIALS:,.0f} ({off:+.1f} standard errors)"
    agrees = abs(off) <= Z
    wrong = "Fair shuffles do not give this count. The verdict at the level .05 stands."
    what = f"{what}: hits in {TRIALS:,}"
    return Figure("Sec. 3.3", what, f"{hits:,}", ours, agrees, "" if agrees else wrong)
