"""Time of the Bayes test by quadrature, beside the million draws of the paper's Algorithm 1."""

from __future__ import annotations

import numpy as np

from benchmarks.published.wang_li_2019 import counts
from benchmarks.tables import Section, table
from benchmarks.timing import duration, seconds
from permtest.alternatives import bayes_test, block_weight

#: Counts of six folds each, tp, fp and fn: the paper's for organisations.
A, B = counts("ORG")
DRAWS = 1_000_000
SEED = 2019

#: By how many standard errors of the draws both answers may differ.
NEAR = 5


def algorithm_1(draws: int = DRAWS) -> float:
    """P(F1 of B > F1 of A) as in the paper, by NumPy."""
    rng = np.random.default_rng(SEED)
    values = []
    for folds in (A, B):
        tp, fp, fn = block_weight(3) * folds.sum(axis=0)
        z = rng.beta(tp + 1, fp + fn + 2, draws)
        values.append(2 * z / (1 + z))
    return float(np.mean(values[1] > values[0]))


def run(draws: int = DRAWS) -> Section:
    """The times, and whether the answers agree."""
    exact, drawn = bayes_test(A, B).p_h1, algorithm_1(draws)
    error = float(np.sqrt(exact * (1 - exact) / draws))
    times = {
        "quadrature": seconds(lambda: bayes_test(A, B)),
        "interval": seconds(lambda: bayes_test(A, B).difference.interval()),
        "draws": seconds(lambda: algorithm_1(draws)),
    }
    names = {
        "quadrature": "quadrature: permtest.alternatives.bayes_test",
        "interval": "the same, with the credible interval of the difference",
        "draws": f"{draws:,} draws by NumPy, as in Algorithm 1",
    }
    text = [
        f"P(H1) of F1 for the paper's ORG task: {exact:.10f}, and by draws {drawn:.6f} with a "
        f"standard error of {error:.2g}.",
        "",
        table(["how", "time"], [[names[key], duration(value)] for key, value in times.items()]),
    ]
    off = abs(drawn - exact) / error
    wrong = [f"P(H1) is {off:.1f} standard errors of the draws away"] if off > NEAR else []
    return Section("Bayes test", "\n".join(text), {"times": times, "p_h1": exact}, wrong)


def ratios(section: Section) -> dict[str, float]:
    """For the record."""
    times = section.data["times"]
    return {f"Bayes test, quadrature / {DRAWS} draws": times["quadrature"] / times["draws"]}
