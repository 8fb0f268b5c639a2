"""Soft pairwise accuracy: how well a metric says how sure one can be of each pair of systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._arrays import plain_array, roomy
from permtest._checks import optional
from permtest._forms import AsSentence
from permtest._jit import Floats
from permtest._parallel import in_parallel, progress
from permtest.decimals import in_common_units
from permtest.null.bracket import tail_bracket
from permtest.null.distribution import EPS
from permtest.null.rows import Laws, compile_kernels
from permtest.pairs import Pairs
from permtest.question import SumQuestion, ask_of_scores, solve
from permtest.score import counted

#: Scores that are held at a time where some are missing.
CELLS = 2**21

#: How wide bounds on p may be, relative to p, where scores are floating-point numbers.
WIDTH = 1e-4


@dataclass(frozen=True, eq=False)
class SoftPairwiseAccuracy(AsSentence):
    """How well a metric agrees with people about pairs of systems.

    Parameters
    ----------
    accuracy : float
        1 less the mean over pairs of systems of ``|p_human - p_metric|``, in [0, 1].
    human_pvalues, metric_pvalues : ndarray of shape (systems, systems)
        The exact one-sided p that the system of the row is no better than that of the column;
        NaN on the diagonal. Below it p is that of the pair the other way round.
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
    few milliseconds for floating-point numbers, of whose p there are bounds 1e-4 of p apart.

    Examples
    --------
    >>> from permtest.many import soft_pairwise_accuracy
    >>> print(soft_pairwise_accuracy([[3, 4, 5], [2, 4, 3]], [[0.7, 0.8, 0.9], [0.5, 0.9, 0.8]]))
    The soft pairwise accuracy is 0.875 over 1 pair of 2 systems on 3 segments.
    """
    (people, lacking), (judged, gone) = _tables(human, metric)
    if len(people) < 2:
        raise ValueError(f"there are {len(people)} systems; a pair needs two")
    for i, j in np.argwhere(gone)[:1]:
        raise ValueError(
            f"metric[{i}, {j}] is missing; score all segments, or leave the segment out of both"
        )
    pairs = np.array(list(combinations(range(len(people)), 2)))
    found = [
        _pvalues(table, name, lacking, pairs, upward)
        for table, name, upward in (
            (people, "human", human_higher_is_better),
            (judged, "metric", metric_higher_is_better),
        )
    ]
    (p, off), (q, rest) = found
    return SoftPairwiseAccuracy(
        accuracy=1 - float(np.mean(np.abs(p[0] - q[0]))),
        human_pvalues=_square(p, pairs),
        metric_pvalues=_square(q, pairs),
        error_bound=float(np.mean(off + rest)),
        n_systems=people.shape[0],
        n_segments=people.shape[1],
        n_missing=int(np.count_nonzero(lacking)),
    )


def _square(p: Floats, pairs: NDArray[Any]) -> Floats:
    """The p of all pairs, both ways round, as a matrix."""
    size = int(pairs.max()) + 1
    square = np.full((size, size), np.nan)
    square[pairs[:, 0], pairs[:, 1]] = p[0]
    square[pairs[:, 1], pairs[:, 0]] = p[1]
    return square


def pairwise_agreement(human: Any, metric: Any) -> NDArray[np.int64]:
    """On how many pairs of systems a metric agrees with people, segment by segment.

    Two metrics' agreement with the same people can be compared by the exact test: their scores of a
    segment change places together, and the sum over segments is linear in them.

    Parameters
    ----------
    human, metric : array_like of shape (systems, segments)
        As in `soft_pairwise_accuracy`. Pairs without both human scores are left out.

    Returns
    -------
    ndarray of shape (segments,)
        The number of pairs that both put in the same order, or both call equal.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> from permtest.many import pairwise_agreement
    >>> human = [[3, 4, 5, 4], [2, 4, 3, 3], [1, 2, 2, 2]]
    >>> one = pairwise_agreement(human, [[30, 41, 52, 40], [31, 39, 30, 33], [12, 20, 20, 9]])
    >>> other = pairwise_agreement(human, [[1, 2, 1, 3], [2, 1, 2, 1], [3, 1, 1, 2]])
    >>> one.tolist(), other.tolist(), exact_perm_test(one, other).pvalue
    ([2, 2, 3, 3], [0, 1, 1, 2], 0.125)
    """
    (people, lacking), (judged, gone) = _tables(human, metric)
    lacking = lacking | gone
    first, second = (np.where(lacking, 0, x).astype(object) for x in (people, judged))
    agree = np.zeros(people.shape[1], dtype=np.int64)
    for i, j in combinations(range(len(people)), 2):
        both = ~(lacking[i] | lacking[j])
        one, other = (np.sign((x[i] - x[j]).astype(float)) for x in (first, second))
        agree += both & (one == other)
    return agree


def _tables(*scores: Any) -> list[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """The scores of people and of the metric, and where each are missing."""
    pandas, found = optional("pandas", needed_by="soft_pairwise_accuracy", extra="frames"), []
    for values, name in zip(scores, ("human", "metric"), strict=True):
        table = plain_array(values, name, "an array of shape (systems, segments)")
        if table.ndim != 2 or table.shape[1] == 0:
            raise ValueError(f"{name} has shape {table.shape}, but must be (systems, segments)")
        found.append((table, np.asarray(pandas.isna(table), dtype=bool)))
    if found[0][0].shape != found[1][0].shape:
        raise ValueError(
            f"human has shape {found[0][0].shape} and metric {found[1][0].shape}; both must score "
            "the same systems on the same segments"
        )
    return found


def _pvalues(
    table: NDArray[Any], name: str, lacking: NDArray[np.bool_], pairs: NDArray[Any], upward: bool
) -> tuple[Floats, Floats]:
    """p of each pair, and of the pair the other way round; by how much the former may be off."""
    rows = [np.where(gone, 0, row) for row, gone in zip(table, lacking, strict=True)]
    found = in_common_units(rows, [f"{name}[{i}]" for i in range(len(rows))])
    sides = ("greater", "less") if upward else ("less", "greater")
    whole = found.rounding is None and all(x.dtype == np.int64 for x in found.columns)
    p, off, much = np.empty((2, len(pairs))), np.empty(len(pairs)), np.ones(len(pairs), dtype=bool)
    compile_kernels()
    step = max(1, CELLS // table.shape[1]) if whole else len(pairs)
    for start in range(0, len(pairs) if whole else 0, step):
        part = slice(start, start + step)
        laws = _laws(found, lacking, pairs[part], name)
        both = [laws.solve(side) for side in sides]
        p[:, part], much[part] = [one.values[0] for one in both], both[0].hard | both[1].hard
        off[part] = both[0].values[0] * both[0].values[2]
    hard = np.flatnonzero(much)
    question = partial(_question, found, lacking, name)
    some = in_parallel(partial(_bounds, question, sides), pairs[hard].tolist())
    for k, values in zip(hard, progress(some, total=hard.size, what="pairs"), strict=True):
        p[0, k], p[1, k], off[k] = values
    return p, off


def _laws(found: Any, lacking: NDArray[np.bool_], pairs: NDArray[Any], name: str) -> Laws:
    """The laws of some pairs; segments that lack a score count as ties, which change nothing."""
    scores, (first, second) = np.array(found.columns), pairs.T.copy()
    if not lacking.any():
        return Laws.of(scores, scores, first, second)
    both = ~(lacking[first] | lacking[second])
    for i, j in pairs[~both.any(axis=1)][:1]:
        raise ValueError(f"{name}[{i}] and {name}[{j}] have no segment in common; leave one out")
    rows = np.arange(len(pairs))
    return Laws.of(scores[first] * both, scores[second] * both, rows, rows)


def _question(
    found: Any, lacking: NDArray[np.bool_], name: str, i: int, j: int, side: str
) -> SumQuestion:
    """The one-sided test of two systems on the segments that have both scores."""
    both = ~(lacking[i] | lacking[j])
    if not both.any():
        raise ValueError(f"{name}[{i}] and {name}[{j}] have no segment in common; leave one out")
    u, v = (roomy(found.columns[k][both]) for k in (i, j))
    off = None
    if found.rounding is not None:
        off = np.stack([found.rounding[k][both] for k in (i, j)])
    pairs = Pairs(u, v, scale=found.scale, rounding=off)
    return ask_of_scores(pairs, alternative=side, names=("first", "second"))


def _bounds(question: Any, sides: tuple[str, str], pair: list[int]) -> tuple[float, float, float]:
    """p both ways, and by how much the former may be off."""
    asked = question(*pair, sides[0])
    if not asked.slack:
        p, other = (solve(one).p for one in (asked, question(*pair, sides[1])))
        return p.value, other.value, p.value * p.error_bound
    lower, upper = asked.tails
    t0 = upper if sides[0] == "greater" else asked.law.top - lower
    cells = -(-asked.slack // asked.law.unit)
    low, high = tail_bracket(asked.law, t0, width=WIDTH, slack=cells)
    return high.value, min(1.0, (1 - low.value) * (1 + EPS)), high.value - low.value
