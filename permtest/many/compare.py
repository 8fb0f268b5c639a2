"""Many systems at once: all pairs, or all against one, on one or several data sets."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.many.leaderboard import Leaderboard
from permtest.many.multiplicity import adjusted_pvalues, check_correction
from permtest.many.pairwise import Ints, Outcome, blocks, solve_blocks
from permtest.many.store import Store, fingerprint, pair_names
from permtest.many.table import ScoreTable
from permtest.measures import Exact, subtract
from permtest.statistics import CountStatistic, Statistic, check_alternative

#: Pairs of systems, times data sets, at most; each takes some hundred bytes.
MOST_TESTS = 10**7

#: What belongs to a family of tests.
FAMILIES = ("each", "all")


def compare_many(
    table: Any,
    *,
    statistic: str | Statistic | CountStatistic = "mean",
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
    statistic : str, or what `statistic` returns, default "mean"
        As in `exact_perm_test`.
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
        How p-values allow for the number of tests. "holm", "hochberg" and "max_t" control the
        familywise error, "bh" and "by" the false discovery rate.
    family : {"each", "all"}, default "each"
        Whether each data set is corrected by itself, or all tests together.
    alpha : float, default 0.05
        Pairs differ if their adjusted p is at most that.
    ascending : bool, optional
        Whether less is better. Default: only for "wer".
    K : int, default 10_000
        Number of random labellings for "max_t".
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
    Every system is read and checked once. A pair of N scores takes O(N) time, some 50 us for
    10 000 counts of correct tokens; 100 systems have 4 950 pairs. Pairs are computed by all
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
    check_correction(correction)
    if family not in FAMILIES:
        raise ValueError(f"family={family!r} must be 'each' or 'all'")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha} must lie between 0 and 1")
    if baseline is None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} asks whether one system is better than another, which "
            "all pairs cannot share; name a baseline, or leave alternative out"
        )
    options: dict[str, Any] = {"statistic": statistic, "systems": systems}
    tables = _tables(table, clusters, strata, options)
    names, some = tuple(tables), list(tables.values())
    first, second = _pairs_of(some[0].systems, baseline)
    _check_size(first.size * len(some))
    seed = int(as_generator(rng).integers(2**63))
    entry = some[0].statistic
    if store is not None:
        store = _opened(store, tables, first, second, alternative, seed, rng is not None)
        seed = store.seed
    found = _outcomes(tables, first, second, alternative, seed, store)
    values, statistics = zip(*(_values(one, first, second) for one in some), strict=True)
    pvalues = np.stack([one.values[0] for one in found])
    how = (correction, family, alternative, K, seed)
    return Leaderboard(
        systems=some[0].systems,
        data_sets=names,
        values=np.stack(values),
        first=first,
        second=second,
        statistic=np.stack(statistics),
        pvalue=pvalues,
        log10_pvalue=np.stack([one.values[1] for one in found]),
        error_bound=np.stack([one.values[2] for one in found]),
        n_informative=np.stack([one.n_informative for one in found]),
        method=np.stack([one.method for one in found]),
        adjusted=adjusted(some, first, second, pvalues, *how),
        n=tuple(one.n_items for one in some),
        metric=entry.name,
        alternative=alternative,
        correction=correction,
        family=family,
        alpha=float(alpha),
        baseline=baseline,
        ascending=getattr(entry, "ascending", False) if ascending is None else bool(ascending),
        K=K,
        seed=seed,
        _tables=tuple(some),
    )


def adjusted(
    tables: Sequence[ScoreTable],
    first: Ints,
    second: Ints,
    pvalue: NDArray[np.float64],
    correction: str,
    family: str,
    alternative: str,
    K: int,
    seed: int,
) -> NDArray[np.float64]:
    """Adjusted p-values of all tests, of shape (D, P), family by family."""
    groups = [list(range(len(tables)))] if family == "all" else [[k] for k in range(len(tables))]
    if correction != "max_t":
        parts = [adjusted_pvalues(pvalue[group], correction) for group in groups]
        return np.concatenate(parts)
    from permtest.many.max_t import max_t

    parts = []
    for group in groups:
        chosen = [tables[k] for k in group]
        rng = np.random.default_rng([seed, 2, group[0]])
        found = max_t(chosen, first, second, alternative=alternative, K=K, rng=rng)
        parts.append(np.maximum(found.adjusted, pvalue[group]))
    return np.concatenate(parts)


def _tables(
    table: Any, clusters: Any, strata: Any, options: dict[str, Any]
) -> dict[str, ScoreTable]:
    """The table of each data set; "" where there is one without a name."""
    if isinstance(table, ScoreTable):
        if clusters is not None or strata is not None or options["systems"] is not None:
            raise ValueError(
                "a ScoreTable has systems, clusters and strata of its own; leave them out"
            )
        return {"": table}
    several = isinstance(table, Mapping) and table and all(map(_is_table, table.values()))
    if not several:
        return {"": ScoreTable.of(table, clusters=clusters, strata=strata, **options)}
    found: dict[str, ScoreTable] = {}
    for name, one in table.items():
        if isinstance(one, ScoreTable):
            found[str(name)] = one
            continue
        labels = {
            key: value[name] if isinstance(value, Mapping) else value
            for key, value in (("clusters", clusters), ("strata", strata))
        }
        found[str(name)] = ScoreTable.of(one, **options, **labels, name=f"table[{name!r}]")
    head_name, head = next(iter(found.items()))
    for name, one in found.items():
        if one.systems != head.systems or one.statistic.name != head.statistic.name:
            raise ValueError(
                f"data set {name!r} has the systems {', '.join(one.systems)}, but {head_name!r} "
                f"{', '.join(head.systems)}; all data sets need the same systems in the same "
                "order: choose them with systems=[...]"
            )
    return found


def _is_table(value: Any) -> bool:
    """Whether it is the table of a data set, and not the column of a system."""
    frame = hasattr(value, "columns") and getattr(value, "ndim", 2) == 2
    return frame or isinstance(value, ScoreTable | Mapping)


def _pairs_of(systems: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints]:
    """The numbers of the systems of each pair."""
    size = len(systems)
    if baseline is None:
        first, second = np.triu_indices(size, 1)
        return first.astype(np.int64), second.astype(np.int64)
    if baseline not in systems:
        raise ValueError(f"baseline={baseline!r} is no system; there are {', '.join(systems)}")
    where = systems.index(baseline)
    others = np.array([i for i in range(size) if i != where], dtype=np.int64)
    return others, np.full(size - 1, where, dtype=np.int64)


def _check_size(tests: int) -> None:
    if tests > MOST_TESTS:
        raise MemoryError(
            f"{tests:,} tests are more than {MOST_TESTS:,}; compare all systems with a baseline, "
            "or the best ones with each other: systems=[...]"
        )


def _opened(
    path: Any,
    tables: Mapping[str, ScoreTable],
    first: Ints,
    second: Ints,
    alternative: str,
    seed: int,
    seeded: bool,
) -> Store:
    some = list(tables.values())
    parts = [(k, block) for k, one in enumerate(some) for block in blocks(one, first.size)]
    about = {
        "systems": list(some[0].systems),
        "data_sets": list(tables),
        "metric": some[0].statistic.name,
        "alternative": alternative,
        "files": len(parts),
    }
    digest = fingerprint(
        some, parts, pairs=[first.tolist(), second.tolist()], entry=repr(some[0].statistic), **about
    )
    return Store.open(path, about | {"fingerprint": digest}, seed, seeded)


def _outcomes(
    tables: Mapping[str, ScoreTable],
    first: Ints,
    second: Ints,
    alternative: str,
    seed: int,
    store: Store | None,
) -> list[Outcome]:
    """What was found on each data set."""
    total = sum(len(blocks(one, first.size)) for one in tables.values())
    every = progress(
        _parts(tables, first, second, alternative, seed, store), total=total, what="exact tests"
    )
    parts: dict[int, list[Outcome]] = {k: [] for k in range(len(tables))}
    for k, outcome in every:
        parts[k].append(outcome)
    return [Outcome.joined(some) for some in parts.values()]


def _parts(
    tables: Mapping[str, ScoreTable],
    first: Ints,
    second: Ints,
    alternative: str,
    seed: int,
    store: Store | None,
) -> Iterator[tuple[int, Outcome]]:
    """The number of the data set, and what was found about a block of pairs."""
    for k, (name, table) in enumerate(tables.items()):
        every = blocks(table, first.size)
        todo = [block for block in every if store is None or not store.has((k, block))]
        found: Generator[Outcome] = solve_blocks(
            table, first, second, todo, alternative=alternative, seed=(seed, 1, k)
        )
        missing = set(todo)
        with closing(found):
            for block in every:
                if store is not None and block not in missing:
                    yield k, store.load((k, block))
                    continue
                outcome = next(found)
                if store is not None:
                    where = slice(block.start, block.stop)
                    names = pair_names(table.systems, first[where], second[where])
                    store.save((k, block), outcome, {"data_set": [name] * len(block)} | names)
                yield k, outcome


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
