"""Soft pairwise accuracy: how well a metric says how sure one can be of each pair of systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._forms import AsSentence
from permtest._jit import Floats, Ints
from permtest.batch import compare_rows
from permtest.exact import exact_perm_test
from permtest.integers import in_common_units, plain_array
from permtest.pairs import Pairs
from permtest.result import PermutationTestResult
from permtest.score import counted

#: Scores of pairs of systems that are held at a time, and pairs that a processor tests at a time.
CELLS, BLOCK = 2**21, 16


@dataclass(frozen=True, eq=False)
class SoftPairwiseAccuracy(AsSentence):
    """How well a metric agrees with people about pairs of systems.

    Parameters
    ----------
    accuracy : float
        1 less the mean over pairs of systems of ``|p_human - p_metric|``, in [0, 1].
    human_pvalues, metric_pvalues : ndarray of shape (systems, systems)
        The exact one-sided p that the system of the row is no better than that of the column, for
        each pair once: NaN on and below the diagonal.
    error_bound : float
        By how much `accuracy` may be off: 0 but for roundings where p are exact, more where scores
        are floating-point numbers, of whose p there are bounds.
    n_systems, n_segments : int
    n_missing : int
        Human scores that are missing. Both p of a pair are of the segments that have both.

    Examples
    --------
    >>> from permtest.many import soft_pairwise_accuracy
    >>> human = [[3, 4, 5, 4], [2, 4, 3, 3], [1, 2, 2, 2]]
    >>> found = soft_pairwise_accuracy(human, [[30, 41, 52, 40], [31, 39, 30, 43], [12, 20, 20, 9]])
    >>> found.accuracy, found.human_pvalues[0].tolist()
    (0.9166666666666666, [nan, 0.125, 0.0625])
    """

    accuracy: float
    human_pvalues: Floats
    metric_pvalues: Floats
    error_bound: float
    n_systems: int
    n_segments: int
    n_missing: int

    def __str__(self) -> str:
        missing = ""
        if self.n_missing:
            missing = f"; {counted(self.n_missing, 'human scores')} missing, and pairs of systems "
            missing += "were tested on the segments that have both"
        pairs = self.n_systems * (self.n_systems - 1) // 2
        return (
            f"The soft pairwise accuracy is {self.accuracy:.6g} over {counted(pairs, 'pairs')} of "
            f"{counted(self.n_systems, 'systems')} on {counted(self.n_segments, 'segments')}"
            f"{missing}."
        )


def soft_pairwise_accuracy(
    human: Any,
    metric: Any,
    *,
    human_higher_is_better: bool = True,
    metric_higher_is_better: bool = True,
) -> SoftPairwiseAccuracy:
    """Soft pairwise accuracy of a metric, from exact p-values.

    For each pair of systems, people's scores and the metric's scores each give a p-value of the
    one-sided paired-permutation test over segments. The metric is good where these are alike: where
    it is as sure as people are, and as unsure.

    Parameters
    ----------
    human, metric : array_like of shape (systems, segments)
        Scores of the same systems on the same segments. Human scores may be missing (NaN or None).
    human_higher_is_better, metric_higher_is_better : bool, default True
        False for error scores.

    Returns
    -------
    SoftPairwiseAccuracy

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two systems, if shapes differ, if a score of the metric is missing,
        or if two systems have no segment in common.

    Notes
    -----
    Source: Thompson, Mathur, Deutsch and Khayrallah (2024), arXiv 2409.09598, who draw 1 000 random
    swaps. Cost: some microseconds for each pair of systems whose scores are integers or decimals; a
    few milliseconds for floating-point numbers, of whose p there are bounds, as in
    `exact_perm_test`.

    Examples
    --------
    >>> from permtest.many import soft_pairwise_accuracy
    >>> print(soft_pairwise_accuracy([[3, 4, 5], [2, 4, 3]], [[0.7, 0.8, 0.9], [0.5, 0.9, 0.8]]))
    The soft pairwise accuracy is 0.875 over 1 pair of 2 systems on 3 segments.
    """
    (people, lacking), (judged, gone) = (_table(human, "human"), _table(metric, "metric"))
    if people.shape != judged.shape:
        raise ValueError(
            f"human has shape {people.shape} and metric {judged.shape}; both must score the same "
            "systems on the same segments"
        )
    if len(people) < 2:
        raise ValueError(f"there are {len(people)} systems; a pair needs two")
    for i, j in np.argwhere(gone)[:1]:
        raise ValueError(
            f"metric[{i}, {j}] is missing; score all segments, or leave the segment out of both"
        )
    sides = [
        "greater" if up else "less" for up in (human_higher_is_better, metric_higher_is_better)
    ]
    p, p_error = _pvalues(people, "human", lacking, sides[0])
    q, q_error = _pvalues(judged, "metric", lacking, sides[1])
    above = np.triu_indices(len(people), 1)
    return SoftPairwiseAccuracy(
        accuracy=1 - float(np.mean(np.abs(p - q)[above])),
        human_pvalues=p,
        metric_pvalues=q,
        error_bound=float(np.mean((p_error + q_error)[above])),
        n_systems=people.shape[0],
        n_segments=people.shape[1],
        n_missing=int(np.count_nonzero(lacking)),
    )


def _table(scores: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The scores, and which are missing."""
    from pandas import isna

    table = plain_array(scores, name, "an array of shape (systems, segments)")
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"{name} has shape {table.shape}, but must be (systems, segments)")
    return table, np.asarray(isna(table), dtype=bool)


def _pvalues(
    table: NDArray[Any], name: str, lacking: NDArray[np.bool_], side: str
) -> tuple[Floats, Floats]:
    """p of each pair, and by how much it may be off; segments that lack a score are left out."""
    labels = [f"{name}[{i}]" for i in range(len(table))]
    found = in_common_units(
        [np.where(gone, 0, row) for row, gone in zip(table, lacking, strict=True)], labels
    )
    whole = found.rounding is None and all(x.dtype == np.int64 for x in found.columns)
    p, off = np.full((2, len(table), len(table)), np.nan)
    first, second = np.triu_indices(len(table), 1)
    step = max(1, CELLS // table.shape[1])
    for start in range(0, first.size, step):
        i, j = (x[start : start + step] for x in (first, second))
        both = ~(lacking[i] | lacking[j])
        for k in np.flatnonzero(~both.any(axis=1))[:1]:
            raise ValueError(
                f"{labels[i[k]]} and {labels[j[k]]} have no segment in common; leave one out"
            )
        rows = None
        if whole:  # two zeros tie, which changes nothing
            scores = np.array(found.columns)
            rows = np.concatenate([scores[i] * both, scores[j] * both])
        pairs = np.arange(i.size), np.arange(i.size) + i.size
        alone = partial(_alone, found, i, j, both, side)
        tests = compare_rows(rows, *pairs, alternative=side, alone=alone, step=BLOCK)
        p[i, j], off[i, j] = tests.pvalue, tests.pvalue * tests.error_bound
    return p, off


def _alone(
    found: Any, first: Ints, second: Ints, both: NDArray[np.bool_], side: Any, pair: int
) -> PermutationTestResult:
    """The test of one pair, of scores that kernels cannot do."""
    i, j, there = first[pair], second[pair], both[pair]
    off = None if found.rounding is None else np.stack([found.rounding[x][there] for x in (i, j)])
    u, v = (found.columns[x][there] for x in (i, j))
    return exact_perm_test(Pairs(u, v, scale=found.scale, rounding=off), alternative=side)
