"""The test of a metric of predictions: exact for those that have a name, sampled for functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count
from permtest._parallel import RNG, as_generator, progress
from permtest.exact import MAX_SAMPLES, exact_perm_test, from_samples
from permtest.integers import is_missing, is_unordered, plain_array
from permtest.null.lattice import LatticeSum
from permtest.pairs import check_aligned, check_names, cluster_numbers, names_of
from permtest.predictions import judged
from permtest.question import NUMBERS, TIE, SeveralSums, function_name
from permtest.readers.labels import answers_in, label_of
from permtest.result import PermutationTestResult
from permtest.score import Score, counted
from permtest.statistics import Alternative, Statistic, check_alternative, lookup

Metric = Callable[[Any, Any], Any]


def metric_test(
    gold: Any,
    a: Any,
    b: Any,
    metric: str | Statistic | Metric,
    *,
    K: int = 2_000,
    rng: RNG = None,
    pos_label: Any = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> PermutationTestResult:
    """Paired-permutation test of any metric of two systems' predictions.

    Parameters
    ----------
    gold : array_like of shape (N,)
        What is right for each item: labels or numbers.
    a, b : array_like of shape (N,)
        What the two systems predict; for a callable also of shape (N, C), such as probabilities.
    metric : str, Statistic or callable
        A statistic that labels have, such as "accuracy", "f1" or "macro_f1": its test is exact.
        Or a function ``metric(gold, predictions)`` that returns a number, as those of
        scikit-learn: its test is sampled.
    K : int, default 2000
        Number of random labellings of a callable, from 1 to 10**8.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes samples reproducible.
    pos_label : label, optional
        The label that "f1" and its like are of. Default: 1, true or yes, of two labels.
    alternative, names, clusters
        As in `exact_perm_test`. "greater": the metric of `a` is greater, which for a loss is worse.

    Returns
    -------
    PermutationTestResult
        Of a name what `exact_perm_test` returns. Of a callable what `monte_carlo` returns:
        `statistic` is the difference of the two `scores`, `pvalue` is (C + 1) / (K + 1) for C
        labellings at least as extreme as what was observed, and `pvalue_interval` gives an
        interval for the exact p. Higher is taken as better unless the name of the function says
        that it is a loss or an error.

    Raises
    ------
    TypeError, ValueError
        If columns differ in length or something in them is missing, if `K` is out of range, or if
        a callable returns no finite number, or raises, for a labelling.

    Warns
    -----
    UserWarning
        Of a named metric, if labels had to be matched, or texts stand for missing predictions.

    Notes
    -----
    Under the null hypothesis the systems' predictions for an item, or for a whole cluster, can be
    swapped; only those matter whose predictions differ. A callable is called twice for each
    labelling, each time with arrays of its own; two differences of what it returns tie if they are
    within 1e-12 times the larger of the two observed scores, since functions round.

    Examples
    --------
    >>> from permtest import metric_test
    >>> gold = [1, 0, 1, 1, 0, 0, 1, 0]
    >>> a, b = [1, 0, 1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 1, 0, 0, 0]
    >>> metric_test(gold, a, b, "f1").fraction()
    Fraction(1, 4)
    >>> def error_rate(gold, said):
    ...     return (gold != said).mean()
    >>> r = metric_test(gold, a, b, error_rate, K=500, rng=0)
    >>> r.scores, r.better
    ((0.125, 0.5), 'a')
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < metric_test(gold, a, b, "accuracy").pvalue < high
    True
    """
    check_alternative(alternative)
    for label, other in (("a", a), ("b", b), ("clusters", clusters)):
        check_aligned(gold, other, ("gold", label))
    names = check_names(names or names_of(a, b, ("a", "b")))
    columns = [_column(x, label) for label, x in (("gold", gold), ("a", a), ("b", b))]
    for label, column in zip("ab", columns[1:], strict=True):
        if len(column) != len(columns[0]):
            items, said = counted(len(columns[0]), "items"), counted(len(column), "predictions")
            raise ValueError(
                f"gold has {items} and {label} has {said}; give one prediction for each item, in "
                "the same order"
            )
    how: dict[str, Any] = {"alternative": alternative, "names": names, "clusters": clusters}
    if isinstance(metric, str | Statistic):
        scores = _scores(columns, lookup(metric), pos_label, names)
        return exact_perm_test(*scores, statistic=metric, rng=rng, **how)
    if not callable(metric):
        raise TypeError(f"metric={metric!r} must be the name of a statistic, or a function")
    if pos_label is not None:
        raise ValueError("pos_label is for metrics with a name; pass it to your function itself")
    size = check_count(K, "K", most=MAX_SAMPLES)
    return _sampled(columns, metric, size, as_generator(rng), **how)


# ---- what the systems predict --------------------------------------------------------------------


def _column(values: Any, name: str) -> NDArray[Any]:
    """Labels or numbers as an array, none of them missing."""
    if is_unordered(values) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a sequence of labels, not {type(values).__name__}")
    array = plain_array(values, name, "a sequence of labels or numbers")
    listed = array.dtype == object
    missing = np.frompyfunc(is_missing, 1, 1)(array).astype(bool) if listed else array != array
    for place in np.argwhere(missing)[:1]:
        raise ValueError(f"{name}[{place[0]}] is missing; fill it in, or leave the item out")
    # Functions such as those of scikit-learn do not take numbers for numbers among objects.
    return np.array(array.tolist()) if listed and len({type(x) for x in array.flat}) == 1 else array


def _scores(
    columns: list[NDArray[Any]], entry: Statistic, positive: Any, names: tuple[str, str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the predictions of either system score, item by item."""
    if any(column.ndim > 1 for column in columns):
        raise ValueError(f"{entry.name!r} needs single labels, one for each item; pass a function")
    right = [label_of(x) for x in columns[0].tolist()]
    if "" in right:
        raise ValueError(f"gold[{right.index('')}] is missing; fill it in, or leave the item out")
    said = [answers_in(column.tolist(), set(right)) for column in columns[1:]]
    wanted = None if positive is None else label_of(positive)
    called = ("metric", "pos_label")
    (first, second), _, facts = judged(names, right, said, entry, wanted, ValueError, called)
    for note in facts["notes"]:
        warnings.warn(note, stacklevel=3)
    return first, second


# ---- any function --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionQuestion(SeveralSums):
    """t is the difference of a function of all predictions, which has values instead of sums.

    The lattice counts the units that stay, of those that differ; cells are numbers of samples.
    """

    scores: tuple[float, float]
    #: The values that were sampled, of shape (M,).
    drawn: NDArray[np.float64]

    @property
    def rank(self) -> int:
        """0: there are no sums."""
        return 0

    @property
    def statistic(self) -> float:
        """The difference of the two."""
        return float(self.observed_sums[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """What the values are."""
        return ("{} of {} minus {}".format(self.metric, *self.names),)

    def sums_in(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The values that were sampled, of shape (M, 1)."""
        return np.asarray(self.drawn[cells]).reshape(-1, 1)

    def values(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """The same, of shape (M,)."""
        return np.asarray(sums[:, 0], dtype=np.float64)

    def sums_are_extreme(self, sums: NDArray[Any]) -> NDArray[np.bool_]:
        """Functions round: values that are off by `TIE`, relative to the scores, tie."""
        slack = TIE * max(map(abs, self.scores))
        return np.asarray(self._directed(sums[:, 0]) >= self._directed(self.statistic) - slack)


def _sampled(
    columns: list[NDArray[Any]],
    metric: Metric,
    size: int,
    rng: np.random.Generator,
    *,
    alternative: str,
    names: tuple[str, str],
    clusters: Any,
) -> PermutationTestResult:
    """The p-value from random labellings of the units on which predictions differ."""
    gold, first, second = columns[0], *_alike(*columns[1:])
    called = function_name(metric, "metric")
    value = partial(_value, metric, called, gold)
    units = cluster_numbers(range(len(gold)) if clusters is None else clusters, len(gold))
    differ = np.asarray(first != second)
    rows = np.flatnonzero(differ.any(axis=tuple(range(1, differ.ndim))))
    informative, unit = np.unique(units[rows], return_inverse=True)

    def both(labelling: int) -> tuple[float, float]:
        x, y = first.copy(), second.copy()
        if labelling:
            moved = rows[rng.integers(0, 2, informative.size, dtype=bool)[unit]]
            x[moved], y[moved] = second[moved], first[moved]
        return value(x, labelling), value(y, labelling)

    observed = both(0)
    every = progress(map(both, range(1, size + 1)), total=size, what="random labellings")
    gaps = np.fromiter((x - y for x, y in every), np.float64, size)
    drawn, counts = np.unique(gaps, return_counts=True)
    stay = np.isin(np.arange(units.max(initial=-1) + 1), informative).astype(np.int64)[:, None]
    lattice = LatticeSum.of(stay, 0 * stay)
    question = PredictionQuestion(
        law=lattice.line,
        lattice=lattice,
        observed_sums=(observed[0] - observed[1],),
        alternative=alternative,
        metric=called,
        names=names,
        n_entries=None if clusters is None else len(gold),
        score=Score.of(called),
        scores=observed,
        drawn=drawn,
    )
    reason = "this metric is not a ratio of sums over items, so labellings were sampled"
    return from_samples(question, np.arange(drawn.size), counts, reason)


def _alike(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both columns in a type that holds the entries of either as they are."""
    if first.shape != second.shape:
        raise ValueError(f"a has the shape {first.shape}, but b {second.shape}; give both alike")
    texts = {column.dtype.kind in "SUT" for column in (first, second)}
    kind = object if len(texts) > 1 else np.result_type(first, second)
    return first.astype(kind), second.astype(kind)


def _value(metric: Metric, called: str, gold: Any, said: Any, labelling: int) -> float:
    """The metric as a finite number."""
    which = "predictions swapped at random" if labelling else "the observed predictions"
    remedy = "make it return a finite number for any mix of both systems' predictions"
    where = f"labelling {labelling} ({which}); {remedy}"
    try:
        value = metric(gold.copy(), said)
        is_number = isinstance(value, NUMBERS) or getattr(value, "ndim", None) == 0
        found = float(value) if is_number else nan
    except Exception as error:
        problem = f"{called} raised {type(error).__name__} ({error}) for {where}"
        raise ValueError(problem) from error
    if not isfinite(found):
        raise ValueError(f"{called} returned {value!r} for {where}")
    return found
