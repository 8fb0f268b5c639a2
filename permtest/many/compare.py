"""Many systems at once: all pairs, or all against one, on one or several data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._rng import RNG, as_generator
from permtest.alternatives.resamples import check_resamples
from permtest.many.adjustment import Adjustment, check_adjustment
from permtest.many.data_sets import tables_of
from permtest.many.leaderboard import Leaderboard
from permtest.many.pairings import Pairings
from permtest.many.pairwise import Ints, Outcome
from permtest.many.table import ScoreTable
from permtest.measures import Exact, subtract
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, check_alternative


def compare_many(
    table: Any,
    *,
    statistic: str | Statistic | CountStatistic | None = None,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    alternative: str = "two-sided",
    clusters: Any = None,
    strata: Any = None,
    correction: str = "holm",
    family: str = "each",
    alpha: float = 0.05,
    ascending: bool | None = None,
    K: int = 10_000,
    rng: RNG = None,
    store: Any = None,
) -> Leaderboard:
    """Exact paired-permutation tests of all pairs of systems, with honest ties.

    Parameters
    ----------
    table : data frame, mapping, or ScoreTable
        A column for each system: scores of shape (N,), or counts of shape (N, c) for a statistic
        of counts. Or a mapping of data sets to such tables, of the same systems; or what
        `permtest.read_many` returns.
    statistic : str, or what `statistic` returns, optional
        As in `exact_perm_test`. Default: "mean", or that of the ScoreTable.
    systems : sequence of str, optional
        Which columns are systems, in this order. Default: all.
    baseline : str, optional
        Compare all others with this one alone. Default: all pairs.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        One-sided only with a baseline; "greater": the others score more than it.
    clusters : str or array_like of shape (N,), optional
        What each item belongs to, such as its document, or the prompt that several epochs are of:
        whole clusters are swapped. The name of a column, or labels; for several data sets a name,
        or a mapping of data sets to labels.
    strata : str or array_like of shape (N,), optional
        Groups of items that count alike, however many items they have, as in a mean over subjects
        or languages. Given as `clusters` are; only for "mean".
    correction : {"holm", "hochberg", "bh", "by", "max_t", "none"}, default "holm"
        How p-values allow for the number of tests. "holm" and, under conditions that
        `CORRECTIONS` names, "hochberg" and "max_t" control the familywise error; "by" and, under
        such conditions, "bh" the false discovery rate.
    family : {"each", "all"}, default "each"
        Whether each data set is corrected by itself, or all tests together.
    alpha : float, default 0.05
        Pairs differ if their adjusted p is at most that.
    ascending : bool, optional
        Whether lower is better. Default: for "wer", and where the names of the columns or of the
        score say so, as "loss" does; ``print(board)`` says what it was, and why.
    K : int, default 10_000
        Number of random labellings for "max_t". P-values out of reach have 100 000 of their own.
    rng : numpy.random.Generator, int or None
        For "max_t", and for p-values that are out of reach and sampled.
    store : str or path-like, optional
        A folder that keeps the p-values as Parquet files while they are computed. A run that was
        stopped goes on from there: no pair is lost, none computed twice, and the numbers are the
        same to the last bit.

    Returns
    -------
    Leaderboard

    Raises
    ------
    TypeError, ValueError
        If scores are missing, or not numbers of equal number, or an option is unknown.
    ImportError
        If the correction needs statsmodels, or the store pyarrow, and it is not installed.
    MemoryError
        If there are more than ten million tests.

    Notes
    -----
    Every system is read and checked once. A pair of N scores takes O(N) time where they differ by
    integers below 1024, as counts and scores of few decimals do: some 50 us for 10 000 counts of
    correct tokens; 100 systems have 4 950 pairs. Ratios of counts such as F1 take milliseconds a
    pair, and scores of many decimals, whose p has bounds only (`method` "bracket"), up to seconds:
    round them to as many digits as matter. Pairs are computed by all
    processors, or, within ``joblib.parallel_config(...)``, by the workers of that backend, such as
    a dask cluster; results do not depend on their number.

    Examples
    --------
    >>> from permtest import compare_many
    >>> board = compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> board.pvalue.tolist(), board.adjusted.tolist()
    ([[0.015625, 1.0, 0.015625]], [[0.046875, 1.0, 0.046875]])
    >>> print(board.sentence())
    new leads alone. 2 of 3 pairs differ at a level of 0.05 (Holm), over 8 items.
    """
    check_alternative(alternative)
    correction = correction.replace("-", "_") if isinstance(correction, str) else correction
    check_adjustment(correction, family)
    check_level(alpha)
    check_resamples(K)
    baseline = None if baseline is None else str(baseline)
    if baseline is None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} asks whether one system is better than another, which "
            "all pairs cannot share; name a baseline, or leave alternative out"
        )
    tables = tables_of(
        table, statistic=statistic, systems=systems, clusters=clusters, strata=strata
    )
    score = next((x.score for x in tables.values() if x.score.basis != "assumed"), Score())
    score = score.stated(None if ascending is None else not ascending)
    tables = {name: replace(one, score=score) for name, one in tables.items()}
    pairings = Pairings.of(tables, baseline, alternative, int(as_generator(rng).integers(2**63)))
    kept = None
    if store is not None:
        kept = pairings.opened(store, rng is not None)
        pairings = pairings._replace(seed=kept.seed)
    chosen = Adjustment(correction, family, K)
    return _board(pairings, pairings.outcomes(kept), chosen, float(alpha), baseline)


def _board(
    pairings: Pairings,
    found: Sequence[Outcome],
    chosen: Adjustment,
    alpha: float,
    baseline: str | None,
) -> Leaderboard:
    """All that was found, with p-values adjusted."""
    some = tuple(pairings.tables.values())
    values, statistics = zip(
        *(_values(table, pairings.first, pairings.second) for table in some), strict=True
    )
    pvalue, log10_pvalue, error_bound = np.stack([one.values for one in found], axis=1)
    adjusted = chosen.adjusted(pairings, pvalue)
    return Leaderboard(
        systems=some[0].systems,
        data_sets=tuple(pairings.tables),
        values=np.stack(values),
        first=pairings.first,
        second=pairings.second,
        statistic=np.stack(statistics),
        pvalue=pvalue,
        log10_pvalue=log10_pvalue,
        error_bound=error_bound,
        n_informative=np.stack([one.n_informative for one in found]),
        method=np.stack([one.method for one in found]),
        adjusted=adjusted.pvalue,
        n=tuple(table.n_items for table in some),
        metric=some[0].statistic.name,
        alternative=pairings.alternative,
        correction=chosen.correction,
        family=chosen.family,
        alpha=alpha,
        baseline=baseline,
        ascending=not some[0].compared.higher_is_better,
        K=chosen.K,
        seed=pairings.seed,
        sampled=adjusted.sampled,
        _tables=some,
        _numbers=pairings.numbers,
    )


def _values(
    table: ScoreTable, first: Ints, second: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each system scores, and the difference of each pair, rounded once."""
    exact = table.exact_values
    values = np.array([float(x) for x in exact])
    return values, _differences(exact, first, second)


def _differences(exact: Sequence[Exact], first: Ints, second: Ints) -> NDArray[np.float64]:
    if all(isinstance(x, Fraction) for x in exact):
        common = lcm(*(x.denominator for x in exact))
        wholes = [int(x * common) for x in exact]
        if max(map(abs, wholes)) < 2**52 and common < 2**53:
            numbers = np.array(wholes, dtype=np.int64)
            return np.asarray((numbers[first] - numbers[second]) / common)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([float(subtract(exact[i], exact[j])) for i, j in pairs])
