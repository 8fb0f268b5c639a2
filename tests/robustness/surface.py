"""Every function that takes two columns of scores, called in the same way."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import permtest as pt
from permtest import alternatives as alt
from permtest import study
from permtest.alternatives.registry import TESTS

Test = Callable[[Any, Any], Any]

LEAST = {"K": 19, "rng": 0}
DRAWN = {"sizes": [3, 6], "experiments": 10, "rng": 0}


def exact(method: str) -> Test:
    return lambda u, v: pt.exact_perm_test(u, v, method=method)


#: With one p, by which they can be told apart; those that sample do so from the same seed.
TESTS: dict[str, Test] = {
    "auto": pt.exact_perm_test,
    "enumeration": exact("enumeration"),
    "integer": exact("integer"),
    "mean": lambda u, v: pt.exact_perm_test(u, v, statistic="mean", alternative="greater"),
    "h": lambda u, v: pt.exact_perm_test(u, v, h=abs),
    "clusters": lambda u, v: pt.exact_perm_test(u, v, clusters=[1, 1, 2, 2, 3, 4]),
    "monte_carlo": lambda u, v: pt.monte_carlo(u, v, **LEAST),
    "noninferiority": lambda u, v: pt.noninferiority_test(u, v, margin=1),
    "equivalence": lambda u, v: pt.equivalence_test(u, v, margin=1),
    "compare_many": lambda u, v: pt.compare_many({"u": u, "v": v}),
    "permutation_median": alt.permutation_median,
    "sign": alt.sign,
    "wilcoxon": alt.wilcoxon,
    "paired_t": alt.paired_t,
    "independent_t": alt.independent_t,
    "normal_z": partial(TESTS["normal_z"].single, alternative="two-sided"),
    "bootstrap": lambda u, v: alt.bootstrap(u, v, **LEAST),
    "bootstrap, median": lambda u, v: alt.bootstrap(u, v, statistic="median", **LEAST),
    "paired_bootstrap": lambda u, v: alt.paired_bootstrap(u, v, **LEAST),
}

#: That answer with something else.
OTHERS: dict[str, Test] = {
    "compare_all": lambda u, v: pt.compare_all(u, v, **LEAST),
    "cohen_d": study.cohen_d,
    "hedges_g": study.hedges_g,
    "hodges_lehmann": study.hodges_lehmann,
    "wilcoxon_r": study.wilcoxon_r,
    "describe": study.describe,
    "recommend": study.recommend,
    "evaluation_units": lambda u, v: study.evaluation_units(u, v, 2, rng=0),
    "unit_sizes": lambda u, v: str(study.unit_sizes(u, v, rng=0)),
    "power_curve": lambda u, v: study.power_curve(u, v, **DRAWN),
    "report": study.report,
}

SURFACE = TESTS | OTHERS


def told(answer: Any) -> str:
    """What an answer says, but for how a p was computed."""
    numbers = {}
    for name in ("statistic", "pvalue", "value", "n", "n_informative"):
        if hasattr(answer, name):
            value = getattr(answer, name)
            numbers[name] = (
                float(value) if isinstance(value, Fraction) else np.asarray(value).tolist()
            )
    if set(numbers) - {"n"}:
        return repr(numbers)
    if hasattr(answer, "__iter__") and not isinstance(answer, str):
        return repr([told(getattr(row, "result", row)) for row in answer])
    return str(answer)
