"""Koehn's paired bootstrap: which of two systems wins how many resamples, by any measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from permtest._integers import exact_sum
from permtest._parallel import over_workers
from permtest._progress import progress
from permtest._rng import RNG, as_generator, seeds, stream
from permtest.alternatives.assumptions import INDEPENDENT_ITEMS, REPRESENTATIVE
from permtest.alternatives.names import TITLES
from permtest.alternatives.pivots import Pivots
from permtest.alternatives.resamples import (
    Counts,
    Differences,
    Floats,
    batches,
    check_resamples,
    resampled,
    sums,
)
from permtest.alternatives.result import AlternativeResult
from permtest.alternatives.sample import PairedSample, as_threshold, nearest, within_floats
from permtest.alternatives.systems import Systems
from permtest.comparison import TIE
from permtest.measures import subtract
from permtest.pairs import Pairs, check_names, check_unclustered
from permtest.statistics import (
    Alternative,
    CountStatistic,
    Statistic,
    check_alternative,
    lookup,
)


def paired_bootstrap(
    u: Any,
    v: Any = None,
    *,
    statistic: str | Statistic | CountStatistic | Callable[[Any], float] = "sum",
    K: int = 10_000,
    rng: RNG = None,
    alternative: Alternative = "two-sided",
    delta: float | Fraction = 0.0,
    names: tuple[str, str] | None = None,
) -> AlternativeResult:
    """Koehn's paired bootstrap: in how many resamples of the test set is the first system ahead?

    Entries are drawn with replacement, the same ones for both systems, and either system is
    measured on them.

    Parameters
    ----------
    u, v : array_like of shape (N,) or (N, columns), or sequence of length N
        Entries of the two systems: scores, counts as `exact_perm_test` takes them for the
        statistic, or, with a callable, entries of any kind; or `Pairs`, and None.
    statistic : str, Statistic, CountStatistic or callable, default "sum"
        One of `STATISTICS` ("sum", "mean", "f1", "bleu", ...), what `permtest.statistic` returns,
        or a function that takes the entries of one system and returns a number. It is handed an
        array, or a list where entries are neither numbers nor rows of numbers.
    K : int, default 10000
        Number of resamples, from 1 to 10**7.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the resamples reproducible.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the measure of the first system is greater, which for error rates is worse.
    delta : float or Fraction, default 0.0
        The difference of the measures under the null hypothesis.
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    AlternativeResult
        p is (C + 1) / (K + 1), where in C resamples the first system is not ahead by more than
        `delta`; for "less" the second one; two-sided twice the smaller of both. The statistic is
        the share of resamples in which the first system is ahead, the `details` have all three
        shares (`won`, `lost`, `tied`), and `confidence_interval` is the percentile interval of the
        difference, made of the same resamples: it leaves out `delta` if and only if p is at most
        1 - confidence_level.

    Raises
    ------
    TypeError, ValueError
        If entries are not what the statistic needs, a callable returns something else than a
        finite number, or all resamples have the same difference.

    Notes
    -----
    This is no test under a null hypothesis: nothing is resampled as if the systems were equal. It
    inverts the percentile interval, which presumes that the measure errs to both sides alike; the
    level of that can be off, to either side, and mostly exceeds what it says if there are few
    entries. `randomisation` has no such doubt.

    Time O(K U) for U distinct entries of counts or distinct differences of scores; 2 K calls of a
    callable, with a bar. Resamples are shared among the processors, or the workers of
    ``joblib.parallel_config``, with the same numbers; those of a callable among the latter alone.
    Source: Koehn (2004), Statistical Significance Tests for Machine Translation Evaluation.

    Examples
    --------
    >>> from permtest.alternatives import paired_bootstrap
    >>> a = [[3, 0, 0], [2, 1, 0], [0, 1, 1], [4, 0, 1]]           # tp, fp, fn of four sentences
    >>> b = [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]
    >>> r = paired_bootstrap(a, b, statistic="f1", rng=0, alternative="greater")
    >>> round(r.estimate, 4), r.statistic > 0.9, r.pvalue < 0.1
    (0.2727, True, True)
    """
    check_alternative(alternative)
    size, generator, threshold = check_resamples(K), as_generator(rng), as_threshold(delta)
    check_unclustered(u)
    if callable(statistic):
        systems = Systems.of(u, v, statistic, names)
        contest = _contest_of_function(systems, size, generator, threshold)
    elif isinstance(entry := lookup(statistic), Statistic):
        pairs = _scores(u, v, entry, names)
        contest = _contest_of_sums(pairs, entry, size, generator, threshold)
    else:
        contest = _contest_of_measures(u, v, entry, names, size, generator, threshold)
    pivots, shares = contest.pivots, contest.shares()
    if pivots.values[0] == pivots.values[-1] != 0:
        raise ValueError(
            "u and v have the same difference in all resamples, which says nothing about other "
            "entries; use exact_perm_test or randomisation, which need no spread"
        )
    return AlternativeResult(
        test="paired_bootstrap",
        title=TITLES["paired_bootstrap"],
        statistic=shares["won"],
        statistic_name="share won",
        pvalue=pivots.pvalue(alternative),
        alternative=alternative,
        n=contest.n,
        estimate=contest.estimate,
        estimate_name=f"{contest.title} difference",
        method="sampled",
        names=contest.names,
        delta=float(threshold),
        assumptions=(INDEPENDENT_ITEMS, REPRESENTATIVE),
        details=shares,
        n_samples=size,
        _interval=partial(pivots.interval, alternative),
    )


class _Contest(NamedTuple):
    """The difference of two systems' measures, observed and resampled."""

    estimate: float
    pivots: Pivots
    n: int
    names: tuple[str, str]
    title: str

    def shares(self) -> dict[str, Any]:
        """Of the resamples that either system wins, or neither."""
        values, tie = self.pivots.values, self.pivots.tie
        zero = float(-self.pivots.delta / self.pivots.unit)
        lost = int(np.searchsorted(values, zero - tie, "left"))
        most = int(np.searchsorted(values, zero + tie, "right"))
        counts = {"won": values.size - most, "lost": lost, "tied": most - lost}
        return {name: count / values.size for name, count in counts.items()}


def _scores(u: Any, v: Any, entry: Statistic, names: tuple[str, str] | None) -> Pairs:
    pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
    pairs = replace(pairs, names=check_names(names or pairs.names))
    if pairs.columns:
        raise ValueError(
            f"statistic={entry.name!r} takes one score for each entry, but there are "
            f"{len(pairs.columns)} columns ({', '.join(pairs.columns)}); see STATISTICS"
        )
    if len(pairs):
        entry.check(pairs, min(int(pairs.u.min()), int(pairs.v.min())))
    return pairs


def _contest_of_sums(
    pairs: Pairs, entry: Statistic, size: int, rng: np.random.Generator, delta: Fraction
) -> _Contest:
    n = _enough(len(pairs))
    divisor = n if entry.name == "mean" else 1
    sample = PairedSample(pairs, delta * divisor / n)
    data = Differences.of(sample)
    estimate = Fraction(exact_sum(sample.gaps), sample.scale * divisor)
    added = partial(sums, values=data.values, exact=data.exact)
    values = resampled(added, data.counts, size, rng)
    tie = 0.0 if data.exact else TIE * float(np.abs(data.values).sum())
    pivots = Pivots(np.sort(values), data.unit / divisor, delta, tie)
    lead = within_floats(nearest(estimate), f"{entry.name} difference")
    return _Contest(lead, pivots, n, sample.names, entry.name)


def _enough(n: int) -> int:
    if n < 2:
        raise ValueError(f"u and v have {n} entries, but this test needs 2 or more")
    return n


def _contest_of_measures(
    u: Any,
    v: Any,
    entry: CountStatistic,
    names: tuple[str, str] | None,
    size: int,
    rng: np.random.Generator,
    delta: Fraction,
) -> _Contest:
    """Rows of both systems' addends side by side; a resample adds up some of them."""
    pairs = u if isinstance(u, Pairs) and v is None else entry.pairs(u, v, names)
    measure, first, second = entry.measure(pairs)
    n = _enough(len(pairs))
    observed = [measure.exact([exact_sum(column) for column in x.T]) for x in (first, second)]
    both = np.concatenate([first, second], axis=1).astype(np.float64)
    rows, counts = np.unique(both, axis=0, return_counts=True)
    exact = float(np.abs(rows).max()) * n < 2**53
    added = partial(sums, values=rows, exact=exact)
    gaps = partial(_gaps, added=added, values=measure.values, delta=float(delta))
    tie = TIE * max(1.0, *(abs(float(x)) for x in observed))
    pivots = Pivots(np.sort(resampled(gaps, counts, size, rng)), Fraction(1), delta, tie)
    names = check_names(names or pairs.names)
    return _Contest(float(subtract(*observed)), pivots, n, names, entry.title)


def _gaps(
    counts: Counts,
    added: Callable[[Counts], Floats],
    values: Callable[[Floats], Floats],
    delta: float,
) -> Floats:
    """By how much the first system is ahead by more than `delta`, in resamples of rows of both."""
    first, second = np.hsplit(added(counts), 2)
    return np.asarray(values(first) - values(second) - delta)


def _contest_of_function(
    systems: Systems, size: int, rng: np.random.Generator, delta: Fraction
) -> _Contest:
    _enough(len(systems))
    parts = batches(size)
    found = over_workers(_some_gaps, parts, systems, float(delta), seeds(rng))
    values = np.concatenate(list(progress(found, total=len(parts), what="resamples")))
    pivots = Pivots(np.sort(values), Fraction(1), delta, TIE * systems.size)
    return _Contest(systems.observed, pivots, len(systems), systems.names, systems.title)


def _some_gaps(
    part: range, systems: Systems, delta: float, origin: np.random.SeedSequence
) -> Floats:
    """The differences, less `delta`, of the resamples with these numbers."""
    rng, n = stream(origin, part.start), len(systems)
    draws = (rng.integers(n, size=n) for _ in part)
    return np.array([systems.difference(systems.u[i], systems.v[i]) - delta for i in draws])
