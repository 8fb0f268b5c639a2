"""The level for repeated runs and under peeking: ``python -m benchmarks.repeated``.

How often the tests of repeated runs reject where both systems are equally good, under both null
hypotheses; how often an e-process of equal systems ever has a p of at most .05; and how often its
confidence sequence holds the shift throughout. The command fails where a level is exceeded by more
than chance can explain.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.report import Section, simulate, table

ALPHA, SEED = 0.05, 2025


def most(sets: int) -> float:
    """A share that a true level of alpha does not exceed by chance."""
    return ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / sets)


def level(sets: int) -> Section:
    """Both null hypotheses, with items that differ in difficulty or in which system they suit."""
    rng, rows, failures = np.random.default_rng(SEED), [], []
    for name, ease, own in (
        ("all items alike", 0.0, 0.0),
        ("items of different difficulty", 1.0, 0.0),
        ("and each system with strong points of its own", 1.0, 1.0),
    ):
        found = []
        for _ in range(sets):
            common = ease * rng.normal(size=(1, 30, 1))
            scores = common + own * rng.normal(size=(2, 30, 1)) + rng.normal(size=(2, 30, 4)) > 0
            test = pt.exact_runs_test(*scores.astype(int))
            found.append([test.under(x).pvalue <= ALPHA for x in ("runs", "items")])
        shares = np.mean(found, axis=0)
        rows.append([name, *(f"{x:.4f}" for x in shares)])
        held = shares if not own else shares[1:]  # runs are not exchangeable then
        failures += [f"level {x:.4f} ({name})" for x in held if x > most(sets)]
    head = [f"share of p <= {ALPHA} in {sets:,} studies of 30 items x 4 runs", "runs", "items"]
    return Section("Level", table(head, rows), failures)


def peeking(sets: int) -> Section:
    """E-processes of equal systems, looked at after every item; and the coverage of sequences."""
    rng, rows, failures = np.random.default_rng(SEED), [], []
    draws: dict[str, Callable[[int], NDArray[Any]]] = {
        "1, 0 and -1": lambda n: rng.integers(-1, 2, n),
        "normal": lambda n: rng.normal(size=n).round(2),
        "t with 2 degrees of freedom": lambda n: rng.standard_t(2, n).round(2),
    }
    for name, draw in draws.items():
        alarms, missed = [], []
        for k in range(sets):
            d = draw(200)
            alarms.append(pt.e_process(d, np.zeros(200)).pvalue <= ALPHA)
            if k % 10 == 0:
                process = pt.e_process(d + 3, np.zeros(200))
                ends = process.confidence_sequence(1 - ALPHA, at=[25, 50, 100, 200])
                missed.append(bool(np.any((ends[:, 1] > 3) | (ends[:, 2] < 3))))
        alarmed, lost = float(np.mean(alarms)), float(np.mean(missed))
        rows.append([name, f"{alarmed:.4f}", f"{1 - lost:.4f}"])
        failures += [f"peeking: {x:.4f} ({name})" for x in (alarmed, lost) if x > most(sets)]
    head = [f"{sets:,} processes of 200 items", "ever p <= 0.05", "sequence holds the shift"]
    return Section("Peeking", table(head, rows), failures)


if __name__ == "__main__":
    sys.exit(simulate("repeated", __doc__, 10_000, lambda sets: [level(sets), peeking(sets)]))
