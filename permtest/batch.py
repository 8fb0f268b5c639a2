"""Many exact tests at once, as studies of power and calibration need them.

Every test goes the way of a single one (scores, grouped differences, tilted tail), but the loops
over tests are compiled too. The few that this is not made for, of large differences above all,
are handed to `ask_of_scores` and `solve` one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import ScoreError
from permtest._parallel import in_parallel, progress
from permtest._text import Shown, counted
from permtest.integers import plain_array, unscaled
from permtest.methods import check_method
from permtest.null.tail import Laws, compile_kernels
from permtest.question import ask_of_scores
from permtest.result import PermutationTestResult, answer
from permtest.scores import Scores, check_names
from permtest.statistics import Statistic, check_alternative, check_scores, lookup

#: How many scores of a system are handled at a time, and how many tests at least, if they fit.
SCORES, TESTS = 2**18, 16

COMPILED = ("auto", "tilted")

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BatchResult(Shown):
    """What many paired-permutation tests found, in arrays with one element for each test.

    Made by ``exact_perm_test(u, v, axis=...)``. The shape of all arrays is that of the scores
    without the axis of the pairs.

    Parameters
    ----------
    statistic : ndarray
        Observed differences of sums: int64, or float64 where scores have decimals, or Python
        numbers where those would be rounded.
    pvalue, log10_pvalue : ndarray of float64
        As in `PermutationTestResult`: never 0, and the logarithm accurate at any size.
    error_bound : ndarray of float64
        Bounds on the relative errors of the p-values.
    n_informative : ndarray of int64
        How many pairs of each test differ.
    method : ndarray of str
        How each p-value was computed.
    n : int
        Number of pairs of each test.
    alternative : str
        "two-sided", "greater" or "less".
    metric : str
        Name of the statistic.

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
    alternative: str
    metric: str

    def __str__(self) -> str:
        sides = self.alternative if self.alternative == "two-sided" else "one-sided"
        detail = "" if self.alternative == "two-sided" else f" ({self.alternative})"
        tests = counted(self.pvalue.size, f"exact {sides} paired-permutation tests")
        small = int(np.count_nonzero(self.pvalue <= 0.05))
        return f"{tests}{detail} of {counted(self.n, 'pairs')} each: {small} with p <= 0.05."


def exact_perm_test_batch(
    u: Any,
    v: Any,
    *,
    axis: int,
    statistic: str | Statistic = "sum",
    alternative: str = "two-sided",
    method: str = "auto",
    names: tuple[str, str] | None = None,
    **others: Any,
) -> BatchResult:
    """Test the pairs along `axis`, in blocks of some thousand scores; no `others` can be given."""
    given = [name for name, value in others.items() if value is not None]
    given += ["Scores"] * (isinstance(u, Scores) or isinstance(v, Scores))
    check_method(method)
    given += [f"method={method!r}"] * (method not in COMPILED)
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
    a, b, where = _aligned(_as_array(u, "u"), _as_array(v, "v"), axis)
    _check_labels(u, v)
    tests, (*shape, n) = _Tests(a, b, where, entry, alternative, method), a.shape
    size = prod(shape)
    step = max(min(SCORES // max(n, 1), max(size // 20, TESTS)), 1)
    if size > step:
        compile_kernels()
    parts = [part.reshape(shape) for part in _in_blocks(tests.solve, size, step)]
    statistics, p, log10_p, error_bound, n_informative, how = parts
    about = (n_informative, how, n, alternative, entry.name)
    return BatchResult(statistics, p, log10_p, error_bound, *about)


@dataclass(frozen=True, eq=False)
class _Tests:
    """The scores of all tests, of shape (..., N), and what is asked of each; numbered from 0."""

    u: NDArray[Any]
    v: NDArray[Any]
    axis: int
    statistic: Statistic
    alternative: str
    method: str

    def rows(self, block: range) -> tuple[NDArray[Any], NDArray[Any]]:
        """Copies of the scores of some tests, one row for each."""
        where = np.unravel_index(np.arange(block.start, block.stop), (1, *self.u.shape[:-1]))
        return self.u[np.newaxis][where], self.v[np.newaxis][where]

    def alone(self, i: int) -> PermutationTestResult:
        """One test as the single one does it; errors name the score by its whole index."""
        (u,), (v,) = self.rows(range(i, i + 1))
        how = {"statistic": self.statistic, "alternative": self.alternative}
        try:
            question = ask_of_scores(u, v, **how)
        except ScoreError as error:
            index = list(np.unravel_index(i, (1, *self.u.shape[:-1]))[1:])
            index.insert(self.axis, np.intp(error.index[0]))
            raise error.at(tuple(map(int, index))) from None
        return answer(question, self.method)

    def solve(self, block: range) -> tuple[NDArray[Any], ...]:
        """The arrays of a `BatchResult` for some tests."""
        u, v = self.rows(block)
        try:
            data = Scores.of(u.ravel(), v.ravel())
            if data.tolerance is not None or not data.u.dtype == data.v.dtype == np.int64:
                laws = Laws.unknown(len(block))
            else:
                rows = np.arange(len(block))
                laws = Laws.of(data.u.reshape(u.shape), data.v.reshape(u.shape), rows, rows)
            known = block and laws.unit.all()
            check_scores(self.statistic, data, int(laws.low.min()) if known else None)
        except ValueError:
            for i in block:
                self.alone(i)  # names the first bad score
            raise
        found, others = _solved(laws, block, self.alternative, self.alone, self.method == "auto")
        if data.scale == 1 and not others:
            return laws.lead, *found
        statistic = [unscaled(x, data.scale) for x in laws.lead.tolist()]
        for i, one in others.items():
            statistic[i] = one.statistic
        return _packed(statistic), *found


# ---- all pairs of some rows --------------------------------------------------------------------


class RowTests(NamedTuple):
    """What tests of pairs of rows found, in arrays with one element for each pair."""

    pvalue: NDArray[np.float64]
    log10_pvalue: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    n_informative: Ints
    method: NDArray[np.object_]


def compare_rows(
    rows: Ints | None,
    first: Ints,
    second: Ints,
    *,
    alternative: str,
    alone: Callable[[int], PermutationTestResult],
    step: int,
) -> RowTests:
    """Test row ``first[i]`` against ``second[i]`` for all i; what kernels cannot do by `alone`."""
    if rows is not None and first.size > step:
        compile_kernels(rows[:0])
    how = (rows, first, second, alternative, alone)
    return RowTests(*_in_blocks(_test_block, first.size, step, *how))


def _test_block(
    block: range,
    rows: Ints | None,
    first: Ints,
    second: Ints,
    alternative: str,
    alone: Callable[[int], PermutationTestResult],
) -> RowTests:
    pairs = (x[block.start : block.stop] for x in (first, second))
    laws = Laws.unknown(len(block)) if rows is None else Laws.of(rows, rows, *pairs)
    return _solved(laws, block, alternative, alone)[0]


def _solved(
    laws: Laws,
    block: range,
    alternative: str,
    alone: Callable[[int], PermutationTestResult],
    count: bool = True,
) -> tuple[RowTests, dict[int, PermutationTestResult]]:
    """What was found of the laws of a block, and the results that were made one by one."""
    values, whole, hard = laws.solve(alternative, count=count)
    n_informative, method = laws.n_informative, np.where(whole, "integer", "tilted").astype(object)
    others = {i: alone(block[i]) for i in np.flatnonzero(hard).tolist()}
    for i, found in others.items():
        values[:, i] = found.pvalue, found.log10_pvalue, found.error_bound
        n_informative[i], method[i] = found.n_informative, found.method
    return RowTests(values[0], values[1], values[2], n_informative, method), others


def _packed(values: list[Any]) -> NDArray[Any]:
    """Numbers as int64, else as float64 if that rounds none, else as they are."""
    if all(isinstance(x, int) and -(2**63) <= x < 2**63 for x in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(x, float) or abs(x) <= 2**53 for x in values):
        return np.array(values, dtype=np.float64)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _in_blocks(
    solve: Callable[..., tuple[NDArray[Any], ...]], size: int, step: int, *shared: Any
) -> Iterator[NDArray[Any]]:
    """The arrays of all blocks, each put together."""
    blocks = [range(i, min(i + step, size)) for i in range(0, max(size, 1), step)]
    found = progress(in_parallel(solve, blocks, *shared), total=len(blocks), what="exact tests")
    return map(np.concatenate, zip(*found, strict=True))


# ---- arguments ---------------------------------------------------------------------------------


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """The scores as they are; lists become arrays."""
    remedy = "; call exact_perm_test once for each test"
    return plain_array(values, name, "an array of scores", remedy)


def _aligned(u: NDArray[Any], v: NDArray[Any], axis: int) -> tuple[Any, Any, int]:
    """Both arrays in one shape, without a copy, the pairs last; and where they were."""
    ndim, shapes = max(u.ndim, v.ndim), f"u of shape {u.shape} and v of shape {v.shape}"
    if not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
        raise ValueError(f"axis={axis!r} is not an axis of {shapes}; the last one is axis=-1")
    where = int(axis) % ndim
    a, b = (np.moveaxis(x.reshape((1,) * (ndim - x.ndim) + x.shape), where, -1) for x in (u, v))
    try:
        if a.shape[-1] != b.shape[-1]:
            raise ValueError
        shape = (*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), a.shape[-1])
    except ValueError:
        raise ValueError(
            f"{shapes} do not fit together: they need the same items along axis={axis}, and apart "
            "from that shapes must be equal, or 1 where one system is compared with many"
        ) from None
    return np.broadcast_to(a, shape), np.broadcast_to(b, shape), where


def _check_labels(u: Any, v: Any) -> None:
    """Refuse two pandas frames whose labels say that their entries are different items."""
    for name in ("index", "columns"):
        first: Any = getattr(u, name, None)
        second: Any = getattr(v, name, None)
        if hasattr(first, "equals") and hasattr(second, "equals") and not first.equals(second):
            raise ValueError(
                f"u and v differ in their {name}, so their entries are not the same items; "
                "align them, or pass u.to_numpy() and v.to_numpy() to pair by order"
            )
