"""Many exact tests at once, as studies of power and calibration need them, and boards of systems.

Every test goes the way of a single one (scores, grouped differences, tilted tail), but the loops
over tests are compiled too. The few that this is not made for, of large differences above all,
are solved one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._errors import ScoreError
from permtest._jit import Ints
from permtest._random import in_parallel
from permtest._text import Shown, counted
from permtest.integers import plain_array, unscaled, with_room
from permtest.null.tail import Laws, compile_kernels
from permtest.question import ask
from permtest.result import PermutationTestResult, answer
from permtest.scores import Scores, check_aligned, check_names
from permtest.statistics import Statistic, check_alternative, lookup

#: How many scores of a system are handled at a time, and how many tests at least, if they fit.
SCORES, TESTS = 2**18, 16
#: The test with some number as the single one does it.
Alone: TypeAlias = Callable[[int], PermutationTestResult]


@dataclass(frozen=True, eq=False)
class BatchResult(Shown):
    """What many paired-permutation tests found, in arrays with one element for each test.

    Made by ``exact_perm_test(u, v, axis=...)``. The shape of all arrays is that of the scores
    without the axis of the pairs.

    Parameters
    ----------
    statistic : ndarray
        Observed differences of sums: integers, of Python where they may not fit an int64, or
        float64 where scores have decimals.
    pvalue, log10_pvalue, error_bound, n_informative, method : ndarray
        As in `PermutationTestResult`.
    n : int
        Number of pairs of each test.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> found = exact_perm_test([[3, 5, 4], [1, 0, 1]], [2, 3, 1], axis=1)
    >>> found.statistic.tolist(), found.pvalue
    ([6, -4], array([0.25, 0.5 ]))
    """

    statistic: NDArray[Any]
    pvalue: NDArray[np.float64]
    log10_pvalue: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    n_informative: NDArray[np.int64]
    method: NDArray[np.object_]
    n: int

    def __str__(self) -> str:
        tests = counted(self.pvalue.size, "exact paired-permutation tests")
        small = int(np.count_nonzero(self.pvalue <= 0.05))
        return f"{tests} of {counted(self.n, 'pairs')} each: {small} with p <= 0.05."


def exact_perm_test_batch(
    u: Any,
    v: Any,
    *,
    axis: int,
    statistic: str | Statistic = "sum",
    alternative: str = "two-sided",
    names: tuple[str, str] | None = None,
    **others: Any,
) -> BatchResult:
    """Test the pairs along `axis`, in blocks of some thousand scores; `others` must be None."""
    given = [name for name, value in others.items() if value is not None]
    given += ["Scores"] * (isinstance(u, Scores) or isinstance(v, Scores))
    for name in given[:1]:
        raise ValueError(
            f"{name} and axis cannot be combined, because compiled code runs many tests at once; "
            "call exact_perm_test once for each test"
        )
    if v is None:
        raise TypeError("v is missing: pass the scores of both systems, two arrays")
    check_alternative(alternative)
    entry = lookup(statistic)
    if entry.columns or entry.name == "mean":
        raise ValueError(f"axis works for sums, not for {entry.name!r}; run one test at a time")
    check_names(names or ("u", "v"))
    a, b, where = _aligned(u, v, axis)
    (*shape, n), size = a.shape, prod(a.shape[:-1])
    try:
        data = Scores.of(a.ravel(), b.ravel())
    except ScoreError as error:
        place = [int(i) for i in np.unravel_index(error.index[0], a.shape)]
        raise error.at((*place[:where], place[-1], *place[where:-1])) from None
    rows = np.concatenate([x.reshape(size, n) for x in (data.u, data.v)])
    u, v = a.reshape(size, n), b.reshape(size, n)
    tests = compare_rows(
        rows if rows.dtype == np.int64 and data.tolerance is None else None,
        np.arange(size),
        size + np.arange(size),
        alternative=alternative,
        alone=lambda i: answer(ask(u[i], v[i], alternative=alternative)),
        step=max(min(SCORES // max(n, 1), max(size // 20, TESTS)), 1),
    )
    sums = with_room(rows, n).sum(axis=1)
    lead: Any = sums[:size] - sums[size:]
    if data.scale != 1:
        lead = np.array([unscaled(x, data.scale) for x in lead.tolist()], dtype=np.float64)
    found = {name: x.reshape(shape) for name, x in tests.items()}
    return BatchResult(lead.reshape(shape), n=n, **found)


def _aligned(u: Any, v: Any, axis: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Both as arrays of one shape, the pairs last; and where they were."""
    check_aligned(u, v)
    check_aligned(getattr(u, "T", u), getattr(v, "T", v))
    remedy = "; call exact_perm_test once for each test"
    both = [plain_array(x, name, "an array of scores", remedy) for x, name in ((u, "u"), (v, "v"))]
    axis = index(axis)
    try:
        a, b = (np.moveaxis(x, axis, -1) for x in np.broadcast_arrays(*both))
        after = a.ndim - axis % a.ndim  # counted from the end, where shapes are aligned
        if {x.shape[-after] if x.ndim >= after else 1 for x in both} != {a.shape[-1]}:
            raise ValueError("they need the same items there")
    except ValueError as error:
        shapes = f"u of shape {both[0].shape} and v of shape {both[1].shape}"
        raise ValueError(f"{shapes} cannot be paired along axis={axis}: {error}") from None
    return a, b, axis % a.ndim


# ---- pairs of rows -----------------------------------------------------------------------------


def compare_rows(
    rows: Ints | None, first: Ints, second: Ints, *, alternative: str, alone: Alone, step: int
) -> dict[str, NDArray[Any]]:
    """Test row ``first[i]`` against ``second[i]`` for all i; what kernels cannot do by `alone`.

    Arrays by their names in `BatchResult`, with one element for each pair.
    """
    if rows is not None and first.size > step:
        compile_kernels(rows[:0])
    blocks = [range(i, min(i + step, first.size)) for i in range(0, max(first.size, 1), step)]
    found = [*in_parallel(_test_block, blocks, rows, first, second, alternative, alone)]
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


def _test_block(
    block: range, rows: Ints | None, first: Ints, second: Ints, alternative: str, alone: Alone
) -> dict[str, NDArray[Any]]:
    laws = Laws.of(rows, first[block.start : block.stop], second[block.start : block.stop])
    values, whole, hard = laws.solve(alternative)
    n_informative, method = laws.n_informative, np.where(whole, "integer", "tilted").astype(object)
    for i in np.flatnonzero(hard).tolist():
        one = alone(block[i])
        values[:, i] = one.pvalue, one.log10_pvalue, one.error_bound
        n_informative[i], method[i] = one.n_informative, one.method
    found = dict(zip(("pvalue", "log10_pvalue", "error_bound"), values, strict=True))
    return {**found, "n_informative": n_informative, "method": method}
