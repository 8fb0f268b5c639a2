"""The exact p-values of all pairs of systems, in blocks that processors and machines share."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray
from permtest._parallel import in_parallel
from permtest.exact import exact_perm_test
from permtest.many.table import ScoreTable
from permtest.null.batch import Laws, compile_kernels
from permtest.null.grouping import TABLE
from permtest.statistics import CountStatistic, Statistic

#: Scores that are compared in a block, pairs that are in it at most, and at least.
SCORES, MOST, LEAST = 2**24, 2**11, 16
#: Pairs in a block of scores that no kernel counts, such as decimals with many digits.
FEW = 2

Ints: TypeAlias = NDArray[np.int64]


class Outcome(NamedTuple):
    """What the tests of some pairs found.

    `values` has the rows p, its decimal logarithm and its error bound.
    """

    values: NDArray[np.float64]
    n_informative: Ints
    method: NDArray[np.object_]

    @classmethod
    def joined(cls, parts: Sequence[Outcome]) -> Outcome:
        """That of all pairs."""
        values, numbers, methods = zip(*parts, strict=True)
        return cls(np.concatenate(values, axis=1), np.concatenate(numbers), np.concatenate(methods))


class Task(NamedTuple):
    """What is asked about every pair; `seed` is that of random labellings where p is sampled."""

    systems: tuple[str, ...]
    statistic: Statistic | CountStatistic
    scale: int
    alternative: str
    seed: tuple[int, ...]
    rounding: NDArray[np.float64] | None = None


def blocks(table: ScoreTable, size: int) -> list[range]:
    """The numbers of `size` pairs in blocks, which do not depend on who computes them.

    They are smaller where a pair takes longer, so that there is progress to be seen, and kept.
    """
    step = FEW
    if isinstance(table.statistic, CountStatistic):
        step = LEAST
    elif _is_counted(table):
        step = max(min(SCORES // max(table.folded.n_items, 1), MOST), LEAST)
    return [range(start, min(start + step, size)) for start in range(0, size, step)]


def _is_counted(table: ScoreTable) -> bool:
    """Whether the kernels count the differences of all pairs."""
    folded = table.folded
    return folded.scores.dtype == np.int64 and folded.rounding is None and table.spread < TABLE


def solve_blocks(
    table: ScoreTable,
    first: Ints,
    second: Ints,
    chosen: Sequence[range],
    *,
    alternative: str,
    seed: tuple[int, ...],
) -> Generator[Outcome]:
    """Test some blocks of pairs, each as soon as it is asked for.

    Parameters
    ----------
    table : ScoreTable
    first, second : ndarray of shape (P,)
        The systems of all pairs, by number.
    chosen : sequence of range
        Of `blocks`, those that are still to be done.
    alternative : {"two-sided", "greater", "less"}
    seed : tuple of int
        Starts the generators of random labellings, together with the number of the pair.

    Yields
    ------
    Outcome
        Of each block, in their order.
    """
    folded = table.folded
    task = Task(folded.systems, folded.statistic, folded.scale, alternative, seed, folded.rounding)
    if len(chosen) > 1 and _counted(folded.scores, task):
        compile_kernels(folded.scores[:0])
    yield from in_parallel(_solve_block, chosen, folded.scores, first, second, task)


def _counted(scores: IntArray, task: Task) -> bool:
    """Whether the kernels take such scores."""
    sums = not isinstance(task.statistic, CountStatistic)
    return sums and scores.dtype == np.int64 and task.rounding is None


def _solve_block(block: range, scores: IntArray, first: Ints, second: Ints, task: Task) -> Outcome:
    where = slice(block.start, block.stop)
    a, b = first[where], second[where]
    laws = Laws.of(scores, scores, a, b) if _counted(scores, task) else Laws.unknown(len(block))
    values, counted, hard = laws.solve(task.alternative)
    n_informative, method = laws.n_informative, np.full(len(block), "tilted", dtype=object)
    method[counted] = "integer"
    scores = scores.view()
    scores.flags.writeable = False  # so that the table needs no copy
    table = ScoreTable(task.systems, scores, task.statistic, task.scale, rounding=task.rounding)
    for i in np.flatnonzero(hard).tolist():
        rng = np.random.default_rng([*task.seed, block.start + i])
        options: dict[str, Any] = {"alternative": task.alternative, "rng": rng}
        pairs = table.pairs(int(a[i]), int(b[i]))
        found = exact_perm_test(pairs, statistic=table.statistic, **options)
        values[:, i] = found.pvalue, found.log10_pvalue, found.error_bound
        n_informative[i], method[i] = found.n_informative, found.method
    return Outcome(values, n_informative, method)
