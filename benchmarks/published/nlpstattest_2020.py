"""The user's manual of NLPStatTest (Zhu, Mak, Gioannini and Xia, 2020)."""

from __future__ import annotations

from itertools import count
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from scipy.stats import t as student

import permtest as pt
from benchmarks.published.figure import Figure, rounded
from permtest import alternatives as alt
from permtest import study
from permtest.course import load

#: Fig. 6 and 8: the interval of the t-test, and Cohen's d.
T_INTERVAL, D = (0.92235, 1.17271), 0.73526
DRAWS, SEED = 20_000, 2020

TITLE = "Zhu, Mak, Gioannini and Xia (2020): NLPStatTest, user's manual"
ABOUT = (
    "This is the manual of 24 November 2020. It prints the results of one comparison (Fig. 6 and "
    "8) without its scores. Two of these figures imply mean, standard deviation and size, and we "
    "compute everything that follows from them on a stand-in sample, as normal as possible. If a "
    "formula or an algorithm is wrong in print, the column *published* has the result of running "
    "it as printed, and *ours* that of running it as it should be. [Feature by "
    "feature](nlpstattest.md) says which function here does each step of the program."
)


def figures() -> list[Figure]:
    """The smallest sample, effect sizes, and formulas as printed."""
    found, x = study.sample_size(0.1, 0.5, power=0.8), stand_in()[0]
    what = "sample size for delta .1, sigma .5, a power of .80, two-sided"
    smallest = rounded("Fig. 1", what, "199", found)
    return [smallest, *of_the_mean(), *of_ranks(x), *formulas()]


def stand_in() -> tuple[NDArray[np.float64], float]:
    """A sample as normal as can be with the mean, deviation and size that Fig. 6 and 8 imply."""
    low, high = T_INTERVAL
    mean, reach = (low + high) / 2, (high - low) / 2
    sd = mean / D

    def excess(n: int) -> float:
        return float(student.isf(0.025, n - 1)) * sd / sqrt(n) - reach

    n = next(n for n in count(2) if excess(n + 1) < 0)
    size = n + excess(n) / (excess(n) - excess(n + 1))  # the width between two whole numbers
    x = norm.ppf((np.arange(round(size)) + 0.5) / round(size))
    return mean + sd * (x - x.mean()) / x.std(ddof=1), size


def of_the_mean() -> list[Figure]:
    """What follows from mean and deviation."""
    x, size = stand_in()
    zero = np.zeros(len(x))
    d, g = study.cohen_d(x, zero), study.hedges_g(x, zero)
    error = sqrt(1 / len(x) + d.value**2 / (2 * len(x)))
    reach, less, shrunk = norm.isf(0.025) * error, norm.isf(0.05) * error, g.value / d.value
    wrong = (
        "The interval of g must be the one of d, in the row above, times g / d. The printed one is "
        f"as narrow as one of 90 %, {shrunk * (d.value - less):.5f} to "
        f"{shrunk * (d.value + less):.5f}. The noncentral t distribution, which hedges_g uses, "
        "gives {:.5f} to {:.5f}.".format(*g.confidence_interval())
    )
    interval = alt.paired_t(x, zero).confidence_interval()[:2]
    printed = "{}, {}".format(*T_INTERVAL)
    return [
        rounded("Fig. 6, 8", "pairs that interval and d imply", "500", round(size, 1)),
        rounded("Fig. 6", "95 % interval of the t-test", printed, *interval),
        rounded("Fig. 8", "Cohen's d", str(D), d.value),
        rounded("Fig. 8", "its 95 % interval, by the normal law", "0.63647, 0.83405",
                d.value - reach, d.value + reach),
        rounded("Fig. 8", "Hedges' g", "0.73415", g.value),
        rounded("Fig. 8", "its 95 % interval", "0.64246, 0.81077",
                shrunk * (d.value - reach), shrunk * (d.value + reach), note=wrong),
    ]  # fmt: skip


def of_ranks(x: NDArray[np.float64]) -> list[Figure]:
    """Intervals of Hodges-Lehmann and r, which cannot be right whatever the scores."""
    zero = np.zeros(len(x))
    t_length = float(np.ptp(alt.paired_t(x, zero).confidence_interval()[:2]))
    estimate = study.hodges_lehmann(x, zero).confidence_interval()
    r = study.wilcoxon_r(x, zero).confidence_interval()
    narrow = (
        f"The interval of Hodges-Lehmann is too narrow: 0.184 long, while the one of the t-test is "
        f"{t_length:.3f} long. That of our sample is {np.ptp(estimate) / 0.18407:.2f} times as "
        "long, about the root of 2."
    )
    other = (
        "This cannot be an interval of r: r = 0.6052 lies outside it and cannot exceed 1. It is "
        "0.260 long, as the interval of Hodges-Lehmann should be, so it is from the wrong row."
    )
    what = "95 % interval of {}".format
    return [
        rounded("Fig. 8", what("Hodges-Lehmann"), "0.9519, 1.13597", *estimate, note=narrow),
        rounded("Fig. 8", what("Wilcoxon r"), "0.91362, 1.17361", *r, note=other),
    ]


def formulas() -> list[Figure]:
    """Eq. 17 and 18 as printed, on eight differences with ties; and Alg. 1."""
    w = np.array([3, -1, 2, 2, -2, 5, 1, 4])
    zero, ranks, n = np.zeros_like(w), rankdata(np.abs(w)), len(w)
    tied = [k for k in np.unique(ranks) if np.sum(ranks == k) > 1]
    spread = n * (n + 1) * (2 * n + 1) / 24 - sum(t**3 - t for t in tied) / 48
    printed = float((ranks[w > 0].sum() - n * (n + 1) / 4) / np.sqrt(spread) / np.sqrt(n))
    means = np.median(np.add.outer(w, w)[np.triu_indices(n, 1)] / 2)
    data = "{} of the differences 3, -1, 2, 2, -2, 5, 1, 4".format
    tie = "T is called the set of tied ranks; t has to be the number of values in each tie."
    pairs = "It says i ≠ j; the usual definition, which R also uses, says i ≤ j."
    r, estimate = study.wilcoxon_r(w, zero).value, study.hodges_lehmann(w, zero).value
    return [
        rounded("Eq. 17 as printed", data("Wilcoxon r"), f"{printed:.4f}", r, note=tie),
        rounded("Eq. 18 as printed", data("Hodges-Lehmann"), f"{means:.4f}", estimate, note=pairs),
        algorithm_1(),
    ]


def algorithm_1() -> Figure:
    """The bootstrap, run as printed on two taggers."""
    rng, data = np.random.default_rng(SEED), load("ud_en_ewt_pos", "correct")
    u, v = data["crf_base"].to_numpy(), data["hmm"].to_numpy()
    d = (u - v).astype(np.float64)
    totals = np.concatenate([rng.choice(d, (500, d.size)).sum(axis=1) for _ in range(DRAWS // 500)])
    boot = (np.sum(totals >= d.sum()) + 1) / (DRAWS + 1)
    exact = pt.exact_perm_test(u, v, alternative="greater").pvalue
    centre = (
        "Resampling the observed differences without moving them to the null hypothesis finds the "
        "observed mean half of the time, whichever system wins."
    )
    first = "bootstrap p of a tagger far ahead, one-sided"
    return Figure("Alg. 1 as printed", first, f"{boot:.2f}", f"{exact:.2g} (exact)", False, centre)
