"""Wang and Li (2019), Bayes test of precision, recall, and F1 measure."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from benchmarks.published.figure import Figure, rounded
from permtest import alternatives as alt

#: What each of six folds had to find, what the model called one, and what of that was right: by
#: task and by model, A first. Published by the authors with their program.
FOLDS = {
    "CWS": (
        ((560914, 557693, 533644), (549033, 546259, 521973), (555819, 553001, 528014),
         (554128, 551283, 527333), (552806, 550079, 525858), (557141, 553922, 529186)),
        ((560914, 558138, 534649), (549033, 546514, 522380), (555819, 553318, 528709),
         (554128, 551612, 527878), (552806, 550544, 526632), (557141, 554312, 529580)),
    ),
    "NER": (
        ((11629, 11322, 10297), (11870, 11428, 10423), (11718, 11370, 10333),
         (11781, 11402, 10347), (11684, 11264, 10276), (11815, 11494, 10424)),
        ((11629, 11329, 10326), (11870, 11440, 10429), (11718, 11357, 10354),
         (11781, 11386, 10339), (11684, 11269, 10270), (11815, 11481, 10447)),
    ),
    "ORG": (
        ((3146, 2242, 2088), (3175, 2298, 2109), (3142, 2288, 2098),
         (3179, 2250, 2085), (3143, 2261, 2069), (3178, 2245, 2068)),
        ((3146, 2226, 2075), (3175, 2289, 2114), (3142, 2255, 2080),
         (3179, 2229, 2071), (3143, 2210, 2041), (3178, 2218, 2054)),
    ),
}  # fmt: skip

#: Table 2, in per cent: intervals of A and of B.
TABLE_2 = {
    "CWS": (("95.55, 95.62", "95.60, 95.67"), ("95.04, 95.11", "95.16, 95.23"),
            ("95.30, 95.36", "95.39, 95.44")),
    "NER": (("90.59, 91.30", "90.70, 91.41"), ("87.69, 88.48", "87.78, 88.57"),
            ("89.21, 89.77", "89.32, 89.87")),
    "ORG": (("91.37, 92.86", "91.85, 93.31"), ("64.89, 67.11", "64.45, 66.68"),
            ("76.06, 77.74", "75.93, 77.61")),
}  # fmt: skip

#: Tables 3 to 5: P(H0), P(H1).
DECISIONS = {
    "CWS": ("0.024, 0.976", "0.001, 0.999", "0.001, 0.999"),
    "NER": ("0.321, 0.679", "0.372, 0.628", "0.300, 0.700"),
    "ORG": ("0.191, 0.809", "0.706, 0.294", "0.587, 0.413"),
}
METRICS = {"P": "precision", "R": "recall", "F1": "f1"}
DRAWS, WEIGHT = 1_000_000, 0.3688

TITLE = "Wang and Li (2019): Bayes Test of Precision, Recall, and F1 Measure"
ABOUT = (
    "ACL 2019. We compute the tables from the counts that the authors published with their "
    "program, by quadrature where they draw a million random values; such a share agrees if it "
    "lies in the range that chance (95 %) and rounding allow. The simulations of Sec. 2.4 are not "
    "repeated."
)


def counts(task: str) -> list[NDArray[np.float64]]:
    """Of A and of B: tp, fp, fn of each fold."""
    found = []
    for folds in FOLDS[task]:
        gold, said, tp = np.array(folds, dtype=np.float64).T
        found.append(np.column_stack((tp, said - tp, gold - tp)))
    return found


def figures() -> list[Figure]:
    """The weight, Tables 2 to 5, and what is misprinted."""
    weight = rounded("Eq. 22 to 24", "weight of summed counts", "0.3688", alt.block_weight(3))
    return [weight, *table_2(), *decisions(), *misprints()]


def table_2() -> list[Figure]:
    """Intervals from the authors' counts."""
    found = []
    cut = "One end is off by one in the last place, because it was cut off and not rounded."
    for task, printed in TABLE_2.items():
        for (name, metric), both in zip(METRICS.items(), printed, strict=True):
            laws = [alt.posterior(x, metric, weight=WEIGHT) for x in counts(task)]
            ends = [100 * end for law in laws for end in law.interval(0.95)]
            what = f"{task}: 95 % intervals of {name} of A and of B, in %"
            figure = rounded("Table 2", what, "; ".join(both), *ends)
            found.append(figure if figure.agrees else figure._replace(note=cut))
    return found


def decisions() -> list[Figure]:
    """P(H0) of each, and all verdicts; theirs are shares of a million random values."""
    found, verdicts = [], []
    note = "The .001 seems to be a bound. The verdict is the same."
    for number, (task, printed) in enumerate(DECISIONS.items(), start=3):
        for (name, metric), text in zip(METRICS.items(), printed, strict=True):
            r = alt.bayes_test(*counts(task), metric, weight=WEIGHT)
            verdicts.append("H1" if r.p_h1 > r.p_h0 else "H0")
            what = f"{task}: P(H0), P(H1) of {name}"
            figure = rounded(f"Table {number}", what, text, r.p_h0, r.p_h1, draws=DRAWS)
            found.append(figure if figure.agrees else figure._replace(note=note))
    text, published = ", ".join(verdicts), "H1, H1, H1, H1, H1, H1, H1, H0, H0"
    what = "all nine decisions"
    return [*found, Figure("Tables 3 to 5", what, published, text, text == published)]


def misprints() -> list[Figure]:
    """Formulas that are not what they should be, and what they give for Table 5."""
    tp, fp, _ = WEIGHT * counts("ORG")[0].sum(axis=0)
    area = float(np.exp(betaln(tp + 2, fp + 2) - betaln(tp + 1, fp + 1)))
    test = alt.bayes_test(*counts("ORG"), "precision", weight=WEIGHT)
    exponents = "The exponents have to be one less, TP_e + lambda - 1 and FP_e + lambda - 1."
    lines = (
        "The lines give H0 the share of nu_A <= nu_B. By Eq. 31 that is P(H1), and the tables "
        "follow Eq. 31, so the lines are the wrong way round."
    )
    slip = (
        "Lengths are proportional to one over the root of the weight. The point stands: this "
        "interval is too long."
    )
    what = "area under the posterior density of P (ORG, A)"
    older = "length of the interval of 2015, which has the weight 1/6, if that of Eq. 30 is .0854"
    return [
        rounded("Eq. 25, 26 as printed", what, "1", area, note=exponents),
        rounded("Alg. 1, lines 16 to 18", "P(H0) of P (ORG), in Table 5", "0.191", test.p_h1,
                draws=DRAWS, note=lines),
        rounded("Sec. 2.4", older, "0.117", 0.0854 * sqrt(6 * alt.block_weight(3)), note=slip),
    ]  # fmt: skip
