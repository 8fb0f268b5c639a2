"""The test of any metric of predictions, which can only be sampled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite, log10, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._errors import check_count
from permtest._random import RNG, as_generator, progress
from permtest.exact import MAX_SAMPLES
from permtest.integers import is_unordered
from permtest.question import NUMBERS, TIE, function_name
from permtest.result import PermutationTestResult, Samples
from permtest.scores import check_aligned, check_names, cluster_numbers, names_of
from permtest.statistics import Alternative, check_alternative

Metric = Callable[[Any, Any], Any]


def metric_test(
    gold: Any,
    a: Any,
    b: Any,
    metric: Metric,
    *,
    K: int = 2_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> PermutationTestResult:
    """Paired-permutation test of any metric of two systems' predictions, by random labellings.

    For accuracy, F1 and other measures that permtest knows, `permtest.statistics.score_labels`
    makes scores of predicted labels, of which `exact_perm_test` finds p exactly.

    Parameters
    ----------
    gold : array_like of shape (N,)
        What is right for each item: labels or numbers.
    a, b : array_like of shape (N,) or (N, C)
        What the two systems predict: labels, numbers, or several of them, such as probabilities.
    metric : callable
        A function ``metric(gold, predictions)`` that returns a number, as those of scikit-learn.
    K : int, default 2000
        Number of random labellings, from 1 to 10**8.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes samples reproducible.
    alternative, names, clusters
        As in `exact_perm_test`. "greater": the metric of `a` is greater, which for a loss is worse.

    Returns
    -------
    PermutationTestResult
        As of `monte_carlo`; `statistic` is the difference of the two `scores`, and whether higher
        is better is not known.

    Raises
    ------
    TypeError, ValueError
        If columns differ in length, if `K` is out of range, or if the metric returns no finite
        number for a labelling.

    Notes
    -----
    The metric is called twice for each labelling, each time with arrays of its own. Two differences
    of what it returns tie if they are within 1e-12 times the larger of the two observed scores,
    since functions round.

    Examples
    --------
    >>> from permtest import metric_test
    >>> gold = [1, 0, 1, 1, 0, 0, 1, 0]
    >>> a, b = [1, 0, 1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 1, 0, 0, 0]
    >>> def error_rate(gold, said):
    ...     return (gold != said).mean()
    >>> r = metric_test(gold, a, b, error_rate, K=500, rng=0)
    >>> r.scores, r.higher
    ((0.125, 0.5), 'b')
    >>> from permtest import exact_perm_test
    >>> from permtest.statistics import score_labels
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < exact_perm_test(score_labels(gold, {"a": a, "b": b})).pvalue < high
    True
    """
    check_alternative(alternative)
    if not callable(metric):
        raise TypeError(f"metric={metric!r} must be a function of right answers and predictions")
    for label, other in (("a", a), ("b", b), ("clusters", clusters)):
        check_aligned(gold, other, ("gold", label))
    names = check_names(names or names_of(a, b, ("a", "b")))
    right, both = _predictions(gold, a, b)
    n, called, rng = len(right), function_name(metric, "metric"), as_generator(rng)
    units = cluster_numbers(range(n) if clusters is None else clusters, n)
    rows = np.flatnonzero((both[0] != both[1]).reshape(n, -1).any(axis=1))
    informative, unit = np.unique(units[rows], return_inverse=True)
    size = check_count(K, "K", most=MAX_SAMPLES)
    value = partial(_scores, metric, called, right, both)
    observed = value(rows[:0])
    coins = (rng.integers(0, 2, informative.size, dtype=bool)[unit] for _ in range(size))
    every = progress((value(rows[heads]) for heads in coins), size, "random labellings")
    differences = np.fromiter((u - v for u, v in every), float, size)
    values, counts = np.unique(differences, return_counts=True)
    turn: Any = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    statistic, tolerance = observed[0] - observed[1], TIE * max(map(abs, observed))
    samples = Samples(values, counts, turn(values) >= turn(statistic) - tolerance)
    p = (samples.n_extreme + 1) / (size + 1)
    return PermutationTestResult(
        statistic=statistic,
        pvalue=p,
        log10_pvalue=log10(p),
        alternative=alternative,
        n=int(units.max(initial=-1)) + 1,
        n_informative=informative.size,
        method="monte_carlo",
        method_reason="any function of all predictions can only be sampled",
        error_bound=None,
        metric=called,
        names=names,
        n_samples=size,
        n_extreme=samples.n_extreme,
        n_entries=None if clusters is None else n,
        scores=observed,
        rank=0,
        _question=None,
        _samples=samples,
    )


def _predictions(gold: Any, a: Any, b: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """What is right, and the predictions of both systems together, as arrays of their kind."""
    columns = []
    for values, name in ((gold, "gold"), (a, "a"), (b, "b")):
        if is_unordered(values) or getattr(values, "ndim", 1) == 0:
            raise TypeError(f"{name} must be a sequence of labels, not {type(values).__name__}")
        # A list, since functions such as those of scikit-learn take no numbers among objects.
        columns.append(np.array(np.asarray(values).tolist()))
    right, first, second = columns
    if first.shape != second.shape or len(first) != len(right):
        raise ValueError(
            f"gold has shape {right.shape}, a {first.shape} and b {second.shape}; give one "
            "prediction of each system for each item, in the same order"
        )
    return right, np.array([first, second], dtype=np.result_type(first, second))


def _scores(
    metric: Metric, called: str, right: NDArray[Any], both: NDArray[Any], moved: NDArray[np.intp]
) -> tuple[float, float]:
    """The metric of both systems, with the predictions for some items swapped, as floats."""
    swapped, found = both.copy(), []
    swapped[:, moved] = both[::-1, moved]
    for said in swapped:
        value = metric(right.copy(), said)
        is_number = isinstance(value, NUMBERS) or getattr(value, "ndim", None) == 0
        found.append(float(value) if is_number else nan)
        if not isfinite(found[-1]):
            which = "predictions swapped at random" if moved.size else "the observed predictions"
            raise ValueError(
                f"{called} returned {value!r} for {which}; make it return a finite number for any "
                "mix of both systems' predictions"
            )
    return found[0], found[1]
