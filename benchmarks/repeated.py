"""Repeated runs, e-processes, bias and metrics of metrics: ``python -m benchmarks.repeated``.

Holds p against enumeration with fractions, against convolution in 60 digits, and against what
R (where Rscript is installed) and random swaps say; measures the level of both null hypotheses,
and that of an e-process under peeking. Some minutes; ``--sets N`` makes fewer cases of each kind.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import permtest as pt
from benchmarks.data import table_1
from benchmarks.report import Section, duration, seconds, simulate, table
from permtest import many
from permtest.statistics import ALTERNATIVES
from tests import naive

N, RUNS = 10_000, 8
SYSTEMS, SEGMENTS = 14, 600
ALPHA, SEED = 0.05, 2025

Scores = NDArray[Any]


# ---- how long it takes ---------------------------------------------------------------------------


def answers(n: int, k: int, rng: np.random.Generator, lead: float = 0.0) -> tuple[Scores, Scores]:
    """Right and wrong answers to items of any difficulty, the first system a little better."""
    chance = rng.random((n, 1))
    a, b = ((rng.random((n, k)) < chance + gain).astype(np.int64) for gain in (lead, 0.0))
    return a, b


def swaps(scores: Scores, draws: int = 1000) -> Scores:
    """One-sided p of all pairs of systems by random swaps, as metrics of metrics are computed.

    One matrix of float32 signs serves all pairs, and p is the share of sums at least as large.
    """
    rng = np.random.default_rng(SEED)
    signs = rng.choice(np.array([-1, 1], dtype=np.float32), (draws, scores.shape[1]))
    sums, totals = signs @ scores.T.astype(np.float32), scores.astype(np.float32).sum(axis=1)
    return np.array(
        [
            np.mean(sums[:, i] - sums[:, j] >= totals[i] - totals[j])
            for i, j in combinations(range(len(scores)), 2)
        ]
    )


def swapped_accuracy(human: Scores, metric: Scores, draws: int = 1000) -> float:
    """Soft pairwise accuracy from those."""
    return float(1 - np.mean(np.abs(swaps(human, draws) - swaps(metric, draws))))


def graded() -> tuple[Scores, Scores, Scores]:
    """People's points, a metric in whole points, and one of four decimals."""
    rng = np.random.default_rng(SEED)
    skill, ease = rng.normal(0, 2, (SYSTEMS, 1)), rng.normal(0, 12, SEGMENTS)
    human, near = (70 + skill + ease + rng.normal(0, 9, (2, SYSTEMS, SEGMENTS))).clip(0, 100)
    return human.round().astype(np.int64), near.round().astype(np.int64), (near / 100).round(4)


def times() -> Section:
    """How long each takes, and sampling in NumPy."""
    rng = np.random.default_rng(SEED)
    a, b = answers(N, RUNS, rng, 0.01)
    right, gammas = (a + b).sum(axis=1), np.linspace(1, 2, 50).tolist()
    scored = table_1(N, rng)
    result = pt.exact_perm_test(*scored)
    human, points, decimals = graded()
    jobs: dict[str, Callable[[], Any]] = {
        f"exact_runs_test, {N:,} items x {RUNS} runs, runs exchangeable": lambda: (
            pt.exact_runs_test(a, b)
        ),
        "the same, items exchangeable": lambda: pt.exact_runs_test(a, b, null="items"),
        "1,000 random deals of the runs by NumPy": lambda: rng.hypergeometric(
            right, 2 * RUNS - right, RUNS, (1000, N)
        ).sum(axis=1),
        f"e_process, N = {N:,}": lambda: pt.e_process(*scored),
        f"sensitivity at 50 values of gamma, N = {N:,}": lambda: [
            result.sensitivity(x) for x in gammas
        ],
        f"soft_pairwise_accuracy, {SYSTEMS} systems x {SEGMENTS} segments, whole points": lambda: (
            many.soft_pairwise_accuracy(human, points)
        ),
        "the same, a metric with four decimals": lambda: many.soft_pairwise_accuracy(
            human, decimals
        ),
        "the same by 1,000 random swaps": lambda: swapped_accuracy(human, decimals),
    }
    rows = [[name, duration(seconds(job))] for name, job in jobs.items()]
    return Section("Repeated runs, bias, metrics", table(["what", "time"], rows))


# ---- whether it is right -------------------------------------------------------------------------


def against_enumeration(cases: int) -> Section:
    """Small random cases of runs, as a fraction and as a float, and of biased signs."""
    rng, wrong, off = np.random.default_rng(SEED), 0, 0.0
    values = [("0", "1"), ("0", "1", "2", "5"), ("0.5", "0.1", "0.2", "1"), ("-2", "-1", "3")]
    for case in range(cases):
        size, side = int(rng.integers(1, 5)), ALTERNATIVES[case % 3]
        a, b = (
            [
                [Fraction(x) for x in rng.choice(values[case % len(values)], rng.integers(1, 4))]
                for _ in range(size)
            ]
            for _ in "ab"
        )
        exact, found = naive.runs_pvalue(a, b, side), pt.exact_runs_test(a, b, alternative=side)
        wrong += found.fraction() != exact
        off = max(off, float(abs(Fraction(found.pvalue) / exact - 1)))
        d, gamma = rng.integers(-4, 5, rng.integers(1, 8)).tolist(), rng.integers(10, 40) / 10
        towards = {"greater": sum(d), "less": -sum(d), "two-sided": abs(sum(d))}[side]
        odds = Fraction(str(gamma))
        exact = naive.biased_tail([abs(x) for x in d if x], towards, odds)
        if side == "two-sided":
            exact = min(Fraction(1), 2 * exact) if sum(d) else Fraction(1)
        test = pt.exact_perm_test(d, [0] * len(d), alternative=side)
        off = max(off, float(abs(Fraction(test.sensitivity(gamma).pvalue) / exact - 1)))
    text = (
        f"{cases:,} cases of runs and as many of biased signs: {wrong} fractions differ, and the "
        f"largest relative error of p is {off:.1e}."
    )
    return Section("Against enumeration", text, [text] if wrong or off > 1e-12 else [])


def in_digits(counts: list[int], k: int, t0: int, points: int = 4096) -> Any:
    """P(T >= t0) in 60 digits: `counts` items have 0, 1, ... 2 k right runs, k of them are dealt.

    A tilt makes T = t0 likely; then the product of all generating functions at so many roots of
    unity is the law in a window of as many cells, beyond which there is less than 1e-60.
    """
    from mpmath import exp, log, mp, mpf

    kinds = [
        (n, [comb(m, x) * comb(2 * k - m, k - x) for x in range(k + 1)])
        for m, n in enumerate(counts)
        if n
    ]

    def tilted(tau: float) -> tuple[float, list[Any]]:
        laws = [np.array(w, float) * np.exp(tau * np.arange(k + 1)) for _, w in kinds]
        means = (law @ np.arange(k + 1) / law.sum() for law in laws)
        return sum(n * mean for (n, _), mean in zip(kinds, means, strict=True)), laws

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tilted(middle)[0] < t0 else (low, middle)
    tau = mpf(max(low, 0.01))
    weights = [(n, [mpf(x) * exp(tau * i) for i, x in enumerate(w)]) for n, w in kinds]
    height = sum(n * (log(sum(w)) - log(comb(2 * k, k))) for n, w in weights) - tau * t0
    total = mpf(0)
    for j in range(points // 2 + 1):
        z = mp.expjpi(mpf(2 * j) / points)
        phi = mp.expjpi(-mpf(2 * (j * t0 % points)) / points)
        for n, w in weights:
            phi *= (sum(x * z**i for i, x in enumerate(w)) / sum(w)) ** n
        ratio = exp(-tau) / z
        phi *= (1 - ratio ** (points // 2)) / (1 - ratio)
        total += phi.real * (1 if j in (0, points // 2) else 2)
    return exp(height) * total / points


def against_digits(n: int = N, k: int = RUNS) -> Section:
    """Hypergeometric laws of thousands of items, in 60 digits."""
    from mpmath import mp, mpf

    rng = np.random.default_rng(SEED)
    rows, worst = [], 0.0
    a, b = answers(n, k, rng)
    counts = np.bincount((a + b).sum(axis=1), minlength=2 * k + 1).tolist()
    with mp.workdps(60):
        for share in (0.0, 0.02, 0.06, 0.1, 0.14, 0.2, 0.3):
            u, v = dealt_to_the_first(a, b, share, rng)
            found = pt.exact_runs_test(u, v, alternative="greater")
            exact = in_digits(counts, k, int(u.sum()))
            error = float(abs(mpf(found.pvalue) / exact - 1))
            if exact < mpf("1e-300"):
                error = float(abs(mpf(found.log10_pvalue) / mp.log10(exact) - 1))
            worst = max(worst, error)
            rows.append(
                [f"{float(mp.log10(exact)):.3f}", f"{error:.1e}", f"{found.error_bound:.1e}"]
            )
    text = "Below 1e-300 the error is that of log10 p.\n\n"
    text += table(["log10 p", "relative error", "bound"], rows)
    failures = [f"error {worst:.1e} against 60 digits"] if worst > 1e-12 else []
    return Section(f"{n:,} items x {k} runs in 60 digits", text, failures)


def dealt_to_the_first(
    a: Scores, b: Scores, share: float, rng: np.random.Generator
) -> tuple[Scores, Scores]:
    """The same right answers to each item; those of some items are dealt to the first system."""
    both = rng.permuted(np.concatenate([a, b], axis=1), axis=1)
    some = rng.random(len(both)) < share
    both[some] = np.sort(both[some], axis=1)[:, ::-1]
    return both[:, : a.shape[1]], both[:, a.shape[1] :]


# ---- level and coverage --------------------------------------------------------------------------


def level(cases: int) -> Section:
    """Both null hypotheses, with items that differ in difficulty or in which system they suit."""
    rng, rows, failures = np.random.default_rng(SEED), [], []
    for name, ease, own in (
        ("all items alike", 0.0, 0.0),
        ("items of different difficulty", 1.0, 0.0),
        ("and each system with strong points of its own", 1.0, 1.0),
    ):
        found = []
        for _ in range(cases):
            common = ease * rng.normal(size=(1, 30, 1))
            scores = common + own * rng.normal(size=(2, 30, 1)) + rng.normal(size=(2, 30, 4)) > 0
            test = pt.exact_runs_test(*scores.astype(int))
            found.append([test.under(x).pvalue <= ALPHA for x in ("runs", "items")])
        shares = np.mean(found, axis=0)
        rows.append([name, *(f"{x:.4f}" for x in shares)])
        most = ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / cases)
        held = shares if not own else shares[1:]
        failures += [f"level {x:.4f} ({name})" for x in held if x > most]
    head = [f"share of p <= {ALPHA} in {cases:,} studies of 30 items x 4 runs", "runs", "items"]
    return Section("Level", table(head, rows), failures)


def peeking(cases: int) -> Section:
    """E-processes of equal systems, looked at after every item."""
    rng, rows, failures = np.random.default_rng(SEED), [], []
    most = ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / cases)
    draws: dict[str, Callable[[int], Scores]] = {
        "1, 0 and -1": lambda n: rng.integers(-1, 2, n),
        "normal": lambda n: rng.normal(size=n).round(2),
        "t with 2 degrees of freedom": lambda n: rng.standard_t(2, n).round(2),
    }
    for name, draw in draws.items():
        processes = (pt.e_process(draw(200), np.zeros(200)) for _ in range(cases))
        alarms = sum(process.pvalue <= ALPHA for process in processes)
        rows.append([name, f"{alarms / cases:.4f}"])
        failures += [f"peeking: {alarms / cases:.4f} ({name})"] if alarms / cases > most else []
    head = [f"{cases:,} processes of 200 items", "ever p <= 0.05"]
    return Section("Peeking", table(head, rows), failures)


# ---- others --------------------------------------------------------------------------------------


def beside_r(cases: int = 20) -> Section:
    """R's exact test of Cochran, Mantel and Haenszel, of right and wrong answers."""
    if not shutil.which("Rscript"):
        return Section("Beside R", "Rscript is not installed.")
    rng, ours, calls = np.random.default_rng(SEED), [], []
    for _ in range(cases):
        n_a, n_b = rng.integers(3, 9, 2)
        a, b = answers(40, int(n_a), rng, 0.1)[0], answers(40, int(n_b), rng)[0]
        won, lost = (np.stack([x.sum(axis=1), (1 - x).sum(axis=1)]) for x in (a, b))
        tables = np.stack([won, lost]).transpose(2, 0, 1)  # item, system, right or wrong
        kept = tables[(tables.sum(axis=1) > 0).all(axis=1)]
        ours.append(pt.exact_runs_test(a, b, alternative="greater").pvalue)
        cells = ",".join(map(str, kept.transpose(0, 2, 1).ravel().tolist()))
        shape = f"array(c({cells}), dim = c(2, 2, {len(kept)}))"
        calls.append(f"mantelhaen.test({shape}, exact = TRUE, alternative = 'greater')$p.value")
    script = "\n".join(f"cat(sprintf('%.17g\\n', {call}))" for call in calls)
    said = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    off = float(np.max(np.abs(np.array(said.stdout.split(), float) / ours - 1)))
    text = f"{cases} studies of 40 items with 3 to 8 runs of each system: off by {off:.1e} of p."
    return Section("Beside R", text, [text] if off > 1e-6 else [])


def metrics() -> Section:
    """Soft pairwise accuracy by more and more random swaps."""
    human, points, _ = graded()
    exact, rows = many.soft_pairwise_accuracy(human, points), []
    for draws in (1000, 10_000, 100_000):
        found = swapped_accuracy(human, points, draws)
        rows.append([f"{draws:,}", f"{found:.6f}", f"{found - exact.accuracy:+.6f}"])
    off = abs(found - exact.accuracy)
    text = f"Exact: {exact.accuracy:.9f}, within {exact.error_bound:.1g}.\n\n"
    text += table(["random swaps", "accuracy", "less the exact one"], rows)
    failures = [f"soft pairwise accuracy is {off:.2g} off"] if off > 2e-3 else []
    return Section("Soft pairwise accuracy", text, failures)


def run(cases: int) -> list[Section]:
    """All sections."""
    right = [against_enumeration(cases), against_digits(), level(cases), peeking(cases)]
    return [times(), *right, beside_r(), metrics()]


if __name__ == "__main__":
    sys.exit(simulate("repeated", __doc__, 10_000, run))
