"""The test of a metric of predictions: exact for those that have a name, sampled for functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite, log10, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count
from permtest._parallel import RNG, as_generator, progress
from permtest.exact import MAX_SAMPLES, exact_perm_test
from permtest.integers import is_missing, is_unordered, plain_array
from permtest.question import NUMBERS, TIE, function_name
from permtest.result import PermutationTestResult, Samples
from permtest.scores import check_aligned, check_names, cluster_numbers, names_of
from permtest.statistics import Alternative, Statistic, check_alternative, score_labels

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
        The label that "f1" and its like are of, as in `statistics.score_labels`.
    alternative, names, clusters
        As in `exact_perm_test`. "greater": the metric of `a` is greater, which for a loss is worse.

    Returns
    -------
    PermutationTestResult
        Of a name what `exact_perm_test` returns. Of a callable what `monte_carlo` returns:
        `statistic` is the difference of the two `scores`, `pvalue` is (C + 1) / (K + 1) for C
        labellings at least as extreme as what was observed, and `pvalue_interval` gives an
        interval for the exact p. Whether higher is better is not known of a callable.

    Raises
    ------
    TypeError, ValueError
        If columns differ in length or something in them is missing, if `K` is out of range, or if
        a callable returns no finite number for a labelling.

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
    >>> r.scores, r.higher
    ((0.125, 0.5), 'b')
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < metric_test(gold, a, b, "accuracy").pvalue < high
    True
    """
    check_alternative(alternative)
    for label, other in (("a", a), ("b", b), ("clusters", clusters)):
        check_aligned(gold, other, ("gold", label))
    names = check_names(names or names_of(a, b, ("a", "b")))
    right, first, second = map(_column, (gold, a, b), ("gold", "a", "b"))
    if first.shape != second.shape or len(first) != len(right):
        raise ValueError(
            f"gold has shape {right.shape}, a {first.shape} and b {second.shape}; give one "
            "prediction of each system for each item, in the same order"
        )
    if isinstance(metric, str | Statistic):
        if right.ndim + first.ndim > 2:
            raise ValueError(f"metric={metric!r} needs a label for each item; pass a function")
        predictions = dict(zip(names, (first.tolist(), second.tolist()), strict=True))
        scores = score_labels(right.tolist(), predictions, metric, pos_label).clustered(clusters)
        return exact_perm_test(scores, statistic=metric, alternative=alternative, rng=rng)
    if not callable(metric):
        raise TypeError(f"metric={metric!r} must be the name of a statistic, or a function")
    if pos_label is not None:
        raise ValueError("pos_label is for metrics with a name; pass it to your function itself")
    n, called = len(right), function_name(metric, "metric")
    units = cluster_numbers(range(n) if clusters is None else clusters, n)
    generator, size = as_generator(rng), check_count(K, "K", most=MAX_SAMPLES)
    both = np.array([first, second], dtype=np.result_type(first, second))
    value = partial(_value, metric, called, right)
    informative, observed, differences = _sampled(value, both, units, size, generator)
    turn = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    values, counts = np.unique(differences, return_counts=True)
    statistic, slack = observed[0] - observed[1], TIE * max(map(abs, observed))
    samples = Samples(values, counts, turn(values) >= turn(statistic) - slack)
    p = (samples.n_extreme + 1) / (size + 1)
    return PermutationTestResult(
        statistic=statistic,
        pvalue=p,
        log10_pvalue=log10(p),
        alternative=alternative,
        n=int(units.max(initial=-1)) + 1,
        n_informative=informative,
        method="monte_carlo",
        method_reason="any function of all predictions can only be sampled",
        error_bound=None,
        metric=called,
        names=names,
        totals=None,
        n_samples=size,
        n_extreme=samples.n_extreme,
        n_entries=None if clusters is None else n,
        scores=observed,
        rank=0,
        _question=None,
        _samples=samples,
    )


def _column(values: Any, name: str) -> NDArray[Any]:
    """Labels or numbers as an array, none of them missing."""
    if is_unordered(values) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a sequence of labels, not {type(values).__name__}")
    array = plain_array(values, name, "a sequence of labels or numbers")
    missing = np.frompyfunc(is_missing, 1, 1)(array).astype(bool)
    for place in np.argwhere(missing)[:1]:
        raise ValueError(f"{name}[{place[0]}] is missing; fill it in, or leave the item out")
    # Functions such as those of scikit-learn do not take numbers for numbers among objects.
    one_kind = array.dtype == object and len({type(x) for x in array.flat}) == 1
    return np.array(array.tolist()) if one_kind else array


def _sampled(
    value: Callable[[Any, int], float],
    both: NDArray[Any],
    units: NDArray[np.intp],
    size: int,
    rng: np.random.Generator,
) -> tuple[int, tuple[float, float], NDArray[np.float64]]:
    """On how many units predictions differ; both values; and differences of random labellings."""
    rows = np.flatnonzero((both[0] != both[1]).reshape(len(units), -1).any(axis=1))
    informative, unit = np.unique(units[rows], return_inverse=True)

    def labelled(labelling: int) -> tuple[float, float]:
        x = both.copy()
        if labelling:
            moved = rows[rng.integers(0, 2, informative.size, dtype=bool)[unit]]
            x[:, moved] = both[::-1, moved]
        return value(x[0], labelling), value(x[1], labelling)

    observed = labelled(0)
    every = progress(map(labelled, range(1, size + 1)), total=size, what="random labellings")
    return informative.size, observed, np.fromiter((x - y for x, y in every), float, size)


def _value(metric: Metric, called: str, gold: Any, said: Any, labelling: int) -> float:
    """The metric as a finite number."""
    value = metric(gold.copy(), said)
    is_number = isinstance(value, NUMBERS) or getattr(value, "ndim", None) == 0
    found = float(value) if is_number else nan
    if not isfinite(found):
        which = "predictions swapped at random" if labelling else "the observed predictions"
        raise ValueError(
            f"{called} returned {value!r} for labelling {labelling} ({which}); make it return a "
            "finite number for any mix of both systems' predictions"
        )
    return found
