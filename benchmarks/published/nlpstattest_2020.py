"""The user's manual of NLPStatTest (Zhu, Mak, Gioannini and Xia, 2020)."""

from __future__ import annotations

import csv
from itertools import count
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

import permtest as pt
from benchmarks.published.figure import Document, Figure, Holds, Printed
from permtest import alternatives as alt
from permtest import study

TAGGERS = Path(__file__).parents[2] / "notebooks" / "data" / "ud_en_ewt_pos.csv"

#: Fig. 6 and 8: the interval of the t-test, and effect sizes with their intervals.
T_INTERVAL = "0.92235, 1.17271"
EFFECTS = {
    "cohen_d": ("Cohen's d", "0.73526", "0.63647, 0.83405"),
    "hedges_g": ("Hedges' g", "0.73415", "0.64246, 0.81077"),
    "hodges_lehmann": ("Hodges-Lehmann", "1.04416", "0.9519, 1.13597"),
    "wilcoxon_r": ("Wilcoxon r", "0.6052", "0.91362, 1.17361"),
}
NO_DATA = "The manual does not print the 500 scores behind Fig. 4 to 10."
STAND_IN = "Ours is from a normal sample with the same mean and deviation."

#: Random labellings, and resamples, where the manual has some; seed.
DRAWS, SEED = 20_000, 2020

Floats = NDArray[np.float64]


def scores(*systems: str) -> list[NDArray[np.int64]]:
    """Correct tokens of taggers in each sentence, from the data of the notebooks."""
    with TAGGERS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [np.array([int(row[f"{name}_correct"]) for row in rows]) for name in systems]


# ---- Fig. 1 ------------------------------------------------------------------------------------


def prospective() -> list[Figure]:
    """The smallest sample."""
    found = study.sample_size(0.1, 0.5, power=0.8)
    before = study.power_t(found - 1, 0.1, 0.5)
    note = (
        "The picture shows delta .1, sigma .5 and alpha .05. We use the noncentral t; the "
        f"power of {found - 1} pairs is {before:.4f}."
    )
    what = "sample size for a power of .80, two-sided"
    return [Figure("Fig. 1", what, "199", found, Printed(), note)]


# ---- Fig. 6 and 8 ------------------------------------------------------------------------------


def stand_in() -> tuple[Floats, float]:
    """A sample as normal as can be with the mean, deviation and size that Fig. 6 and 8 imply."""
    low, high = (float(x) for x in T_INTERVAL.split(", "))
    mean = (low + high) / 2
    sd, reach = mean / float(EFFECTS["cohen_d"][1]), (high - low) / 2

    def excess(n: int) -> float:
        return float(student.isf(0.025, n - 1)) * sd / sqrt(n) - reach

    n = next(n for n in count(2) if excess(n + 1) < 0)
    size = n + excess(n) / (excess(n) - excess(n + 1))  # the width between two whole numbers
    x = norm.ppf((np.arange(round(size)) + 0.5) / round(size))
    return mean + sd * (x - x.mean()) / x.std(ddof=1), size


def significance() -> list[Figure]:
    """Fig. 6, as far as Fig. 8 tells what is behind it."""
    x, size = stand_in()
    found = alt.paired_t(x, np.zeros(len(x)))
    implied = "This interval and d imply mean, deviation and size; the scores are ours."
    return [
        Figure(
            "Fig. 6, 8",
            "pairs that interval and d imply",
            "500",
            round(size, 1),
            Printed(),
            "The manual does not print it. It comes out as a whole number, which supports both "
            "figures.",
        ),
        Figure(
            "Fig. 6",
            "95 % interval of the t-test",
            T_INTERVAL,
            found.confidence_interval()[:2],
            Printed(),
            implied,
        ),
        Figure(
            "Fig. 6",
            "p of the t-test",
            "0.0",
            (False, f"{found.pvalue:.2g}"),
            Holds(),
            "The manual rounds it to 0; no p is 0.",
        ),
        Figure(
            "Fig. 6",
            "decision at the level .05",
            "reject",
            (found.pvalue < 0.05, "reject"),
            Holds(),
        ),
    ]


def effects_of_mean() -> list[Figure]:
    """Fig. 8: d and g, which follow from mean and deviation."""
    x, _ = stand_in()
    d, g = study.cohen_d(x, np.zeros(len(x))), study.hedges_g(x, np.zeros(len(x)))
    reach = norm.isf(0.025) * d.details["standard_error"]
    low, high = d.confidence_interval()
    as_there = (
        f"We use the normal law, as the manual does; the noncentral t gives {low:.5f} to "
        f"{high:.5f}."
    )
    other = g.details["g_df_n_minus_2"]
    near, (low, high) = g.details["J_approximate"], g.confidence_interval(0.9)
    wrong = (
        f"This is wrong: g is J times d, with J = {near:.4f}, and so must be its interval. The "
        f"printed interval is as narrow as one of 90 %, here {low:.5f} to {high:.5f}."
    )
    values = (d.value, g.value)
    ends = ((d.value - reach, d.value + reach), g.confidence_interval())
    notes = (
        ("We derived the deviation from this value.", as_there),
        (
            f"With n - 2 degrees of freedom, as in the program, it is {other:.5f}, which is the "
            "same.",
            wrong,
        ),
    )
    found = []
    for name, value, interval, note in zip(
        ("cohen_d", "hedges_g"), values, ends, notes, strict=True
    ):
        title, printed, printed_ends = EFFECTS[name]
        found += [
            Figure("Fig. 8, Eq. 14 to 16", title, printed, value, Printed(), note[0]),
            Figure(
                "Fig. 8", f"95 % interval of {title}", printed_ends, interval, Printed(), note[1]
            ),
        ]
    return found


def effects_of_ranks() -> list[Figure]:
    """Fig. 8: Hodges-Lehmann and r, whose intervals cannot be right whatever the scores."""
    x, _ = stand_in()
    zero, found = np.zeros(len(x)), []
    t_length = float(np.ptp(alt.paired_t(x, zero).confidence_interval()[:2]))
    for name in ("hodges_lehmann", "wilcoxon_r"):
        title, printed, printed_ends = EFFECTS[name]
        effect, (low, high) = getattr(study, name)(x, zero), map(float, printed_ends.split(", "))
        ours, length = effect.confidence_interval(), high - low
        quotient = float(np.ptp(ours)) / length
        if name == "wilcoxon_r":
            note = (
                "This cannot be an interval of r: r lies outside it and cannot exceed 1. It is "
                f"{length:.3f} long, as the interval of Hodges-Lehmann should be, so it is from "
                "the wrong row."
            )
        else:
            note = (
                f"This is too narrow: {length:.3f} long, while the interval of the t-test is "
                f"{t_length:.3f} long. The interval of our normal sample is {quotient:.2f} "
                "times as long, about the root of 2."
            )
        value = f"{effect.value:.5f}"
        found += [
            Figure("Fig. 8, Eq. 17, 18", title, printed, value, note=f"{NO_DATA} {STAND_IN}"),
            Figure("Fig. 8", f"95 % interval of {title}", printed_ends, ours, Printed(), note),
        ]
    return found


# ---- formulas and algorithms -------------------------------------------------------------------


def formulas() -> list[Figure]:
    """Eq. 17 and 18 as printed, on eight differences with ties."""
    w = np.array([3, -1, 2, 2, -2, 5, 1, 4])
    a, b = w, np.zeros_like(w)
    r, hl = study.wilcoxon_r(a, b), study.hodges_lehmann(a, b)
    order = np.abs(w)
    ranks = np.array([(np.sum(order < k) + 1 + np.sum(order <= k)) / 2 for k in order])
    tied = [k for k in np.unique(ranks) if np.sum(ranks == k) > 1]
    n = len(w)
    spread = n * (n + 1) * (2 * n + 1) / 24 - sum(t**3 - t for t in tied) / 48
    printed = float((ranks[w > 0].sum() - n * (n + 1) / 4) / np.sqrt(spread) / np.sqrt(n))
    means = np.add.outer(w, w)[np.triu_indices(n, 1)] / 2
    data = "Computed for the differences 3, -1, 2, 2, -2, 5, 1, 4."
    tie = (
        f"{data} The manual calls T the set of tied ranks; t has to be the number of values in "
        "each tie."
    )
    return [
        Figure("Eq. 17 as printed", "Wilcoxon r", f"{printed:.4f}", r.value, Printed(), tie),
        Figure(
            "Eq. 18 as printed",
            "Hodges-Lehmann estimate",
            f"{np.median(means):.4f}",
            hl.value,
            Printed(),
            f"{data} Eq. 18 says i ≠ j; the usual definition, which R also uses, says i ≤ j.",
        ),
        Figure(
            "3.4",
            "achieved power is called",
            "true negative rate",
            (False, "true positive rate"),
            Holds(),
            "Power is the share of tests that reject H0 if H1 is true, as the same sentence "
            "then says.",
        ),
    ]


def rules() -> list[Figure]:
    """Tables 1 to 3 and C.2, which are rules."""
    labels = [study.cohen_d(*pair).label for pair in map(with_d, (0.2, 0.5, 0.8))]
    rows = {name: study.recommend(*study.sample_data(name), rule="manual") for name in SHAPES}
    first = [", ".join(rows[name].names("recommended")) for name in SHAPES]
    sizes = study.power_curve(
        *study.sample_data("data-h1-normal", 100), sizes=5, experiments=10, rng=0
    ).sizes
    edges = [study.describe(*skewed(s)).symmetric for s in (0.49, 0.51)]
    shapes = ", ".join("symmetric" if is_so else "skewed" for is_so in edges)
    return [
        Figure(
            "Table 1",
            "what d = 0.20, 0.50, 0.80 are called",
            "small, medium, large",
            (labels == ["small", "medium", "large"], ", ".join(labels)),
            Holds(),
        ),
        Figure(
            "Table 2",
            "recommended: symmetric and normal; symmetric; skewed",
            "t, Wilcoxon, sign",
            (first == ["paired_t", "wilcoxon", "sign"], ", ".join(first)),
            Holds(),
            '`study.recommend(rule="manual")` on samples of 500 pairs.',
        ),
        Figure(
            "Table 2, 3",
            "what Wilcoxon's test is about",
            "mean; median",
            (False, "the centre of symmetry"),
            Holds(),
            "Table 2 says the mean, Table 3 the median; if differences are symmetric, the two "
            "are the same.",
        ),
        Figure(
            "C.2",
            "skewness of .49 and of .51",
            "symmetric, skewed",
            (edges == [True, False], shapes),
            Holds(),
        ),
        Figure(
            "Fig. 9",
            "sizes of 5 power measurements of 100 units",
            "20, 40, 60, 80, 100",
            tuple(map(float, sizes)),
            Printed(),
        ),
    ]


#: One sample for each row of Table 2.
SHAPES = ("data-h1-normal", "data-h1-uniform", "data-h1-skewed")


def with_d(d: float) -> tuple[Floats, Floats]:
    """Scores of that Cohen's d, and a little more."""
    x = np.array([-1.0, 1.0] * 50)
    return x / x.std(ddof=1) + d + 1e-9, np.zeros(100)


def skewed(skewness: float) -> tuple[Floats, Floats]:
    """Scores whose differences have about that skewness: 0 and 1, in shares that give it."""
    n = 100_000
    q = 0.5 * (1 - skewness / sqrt(skewness**2 + 4))
    return (np.arange(n) < round(q * n)).astype(float), np.zeros(n)


def sample() -> list[Figure]:
    """Table 4."""
    a, b = study.sample_data("data-h0-equal-beta")
    p = alt.wilcoxon(a, b).pvalue
    curve = study.power_curve(a, b, sizes=[len(a)], delta=0.0, experiments=1000, rng=SEED)
    power = curve.power[0]
    note = "The manual does not give the names and laws of the other samples. We drew a new sample."
    return [
        Figure("Table 4", "data-h0-equal-beta: p", "high", (p > 0.05, f"{p:.2f}"), Holds(), note),
        Figure(
            "Table 4",
            "data-h0-equal-beta: power",
            "low",
            (power < 0.1, f"{power:.3f} at a difference of 0"),
            Holds(),
            note,
        ),
    ]


def units() -> list[Figure]:
    """C.1: where the standard deviation of evaluation units is said to settle."""
    u, v = scores("crf_rich", "crf_base")
    found = study.unit_sizes(u, v, sizes=[15, 30])
    ratio = float(found.sds[1] / found.sds[0])
    note = (
        "Means of m independent items have a deviation of s / root of m, which never settles. "
        "Ours is from two taggers of the notebooks."
    )
    text = f"units of 30: {ratio:.2f} of that of units of 15"
    what = "deviation of evaluation units of 15 and more"
    return [Figure("C.1", what, "tends to be stable", (ratio > 0.95, text), Holds(), note)]


def algorithms() -> list[Figure]:
    """Alg. 1 and 2, run as printed."""
    rng = np.random.default_rng(SEED)
    u, v = scores("crf_base", "hmm")
    d = (u - v).astype(np.float64)
    totals = np.concatenate([rng.choice(d, (500, d.size)).sum(axis=1) for _ in range(DRAWS // 500)])
    boot = (np.sum(totals >= d.sum()) + 1) / (DRAWS + 1)
    exact = pt.exact_perm_test(u, v, alternative="greater").pvalue
    u, v = scores("crf_rich", "svm_window")
    sampled = pt.monte_carlo(u, v, K=DRAWS, alternative="greater", rng=SEED)
    p = pt.exact_perm_test(u, v, alternative="greater").pvalue
    low, high = sampled.pvalue_interval()
    centre = (
        "Resampling the observed differences without moving them to the null hypothesis finds "
        "the observed mean half of the time, whichever system wins. Ours is from two taggers, "
        "the first far ahead."
    )
    return [
        Figure(
            "Alg. 1 as printed",
            "bootstrap p of a clear winner, one-sided",
            f"{boot:.2f}",
            (False, f"{exact:.2g} (exact)"),
            Holds(),
            centre,
        ),
        Figure(
            "Alg. 2",
            f"permutation p, one-sided, B = {DRAWS:,}",
            f"{sampled.pvalue:.4f}",
            (low <= p <= high, f"{p:.4f} (exact)"),
            Holds(),
            "The printed algorithm, with >= and (C + 1) / (B + 1), is right. Ours is from two "
            "taggers.",
        ),
    ]


def missing() -> list[Figure]:
    """What is on pictures without numbers, or made from scores that are not there."""
    return [
        Figure(
            "3",
            "five of the pairs of a sample file",
            "1.1373 -0.4661 ...",
            note="These are five pairs of a larger file; the manual computes nothing from them.",
        ),
        Figure("Fig. 4", "summary statistics, lists of tests", "a picture", note=NO_DATA),
        Figure("Fig. 10", "power curve", "a picture", note=NO_DATA),
        Figure("Table 4", "the other sample files", "-", note="The table gives only one of them."),
    ]


DOCUMENT = Document(
    "nlpstattest",
    "Zhu, Mak, Gioannini and Xia (2020): NLPStatTest, user's manual",
    "This is the manual of 24 November 2020. It prints the results of one comparison (Fig. 6 "
    "and 8) without its scores. Two of these figures imply mean, standard deviation and size, "
    "and we compute everything that follows from them on a stand-in sample, as normal as "
    "possible. If a formula or an algorithm is wrong in print, the column *published* has the "
    "result of running it as printed, and *ours* that of running it as it should be. [Feature "
    "by feature](nlpstattest.md) says which function here does each step of the program.",
    (
        prospective,
        significance,
        effects_of_mean,
        effects_of_ranks,
        formulas,
        rules,
        units,
        algorithms,
        sample,
        missing,
    ),
    slow=(algorithms, sample),
)
