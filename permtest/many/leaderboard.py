"""Many systems at once: all pairs, or all against one, on one or several data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level, check_option
from permtest._jit import Floats, Ints
from permtest._json import AsJson
from permtest._parallel import in_parallel
from permtest._progress import progress
from permtest._rng import RNG, as_generator
from permtest.alternatives.resampling import check_resamples
from permtest.alternatives.result import rejects
from permtest.exact import exact_perm_test
from permtest.many import wording
from permtest.many.corrections import adjusted_pvalues, check_correction, max_t
from permtest.many.data_sets import Replicability, combined_pvalues
from permtest.many.table import ScoreTable, tables_of
from permtest.measures import Exact, subtract
from permtest.null.batch import Laws, compile_kernels
from permtest.null.grouping import TABLE
from permtest.result import PermutationTestResult
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, check_alternative

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of systems, times data sets, at most; each takes some hundred bytes.
MOST_TESTS = 10**7
#: Scores that are compared in a block, and pairs that are in it at most, and at least.
SCORES, MOST, LEAST = 2**24, 2**11, 16
#: Pairs in a block of scores that no kernel counts, such as decimals with many digits.
FEW = 2
#: Standard errors that a sampled p-value is off by, once in a hundred times.
UNSURE = 2.6


@dataclass(frozen=True, eq=False)
class Leaderboard(AsJson):
    """All pairs of S systems, or all against one, on D data sets: P exact tests each.

    Made by `compare_many`. ``print(board)`` says who leads and who is tied with whom;
    ``board["news"]`` is the board of one data set, ``board.result(a, b)`` the whole result of one
    pair, ``board.to_frame()`` has all pairs and ``board.ranking()`` all systems. Methods that
    speak of one data set take its name as `data_set`, and need it where there are several.

    Parameters
    ----------
    systems : tuple of S str
        What they are called.
    data_sets : tuple of D str
        What the data sets are called; "" where there is one without a name.
    values : ndarray of shape (D, S)
        What each system scores: its mean, its F1, ...
    first, second : ndarray of shape (P,)
        Numbers of the systems of each pair.
    statistic : ndarray of shape (D, P)
        By how much the first system scores more than the second.
    pvalue, log10_pvalue : ndarray of shape (D, P)
        As in `PermutationTestResult`, of each test by itself.
    error_bound : ndarray of shape (D, P)
        Bounds on the relative errors of the p-values.
    n_informative : ndarray of shape (D, P), int64
        How many items of each test differ; clusters, if whole clusters are swapped.
    method : ndarray of shape (D, P) of str
        How each p-value was computed.
    adjusted : ndarray of shape (D, P)
        P-values that allow for the number of tests, by `correction`.
    n : tuple of D int
        Numbers of items.
    metric : str
        Name of the statistic.
    alternative, correction, family, alpha, baseline, K
        As in `compare_many`.
    ascending : bool
        Whether lower is better.
    seed : int
        What random labellings start from.
    sampled : tuple of D bool
        Whether the adjusted p-values of a data set come from random labellings.

    Examples
    --------
    >>> from permtest import compare_many
    >>> small, big = [2, 4, 3, 4, 1, 3, 4], [3, 5, 4, 6, 2, 4, 5]
    >>> board = compare_many({"big": big, "small": small, "copy": small})
    >>> board.order(), board.tied_with_best(), board.groups()
    (['big', 'small', 'copy'], ('big',), [('small', 'copy')])
    >>> board.result("big", "small").pvalue, board.matrix()[0].tolist()
    (0.015625, [nan, 0.046875, 0.046875])
    """

    systems: tuple[str, ...]
    data_sets: tuple[str, ...]
    values: Floats
    first: Ints
    second: Ints
    statistic: Floats
    pvalue: Floats
    log10_pvalue: Floats
    error_bound: Floats
    n_informative: Ints
    method: NDArray[np.object_]
    adjusted: Floats
    n: tuple[int, ...]
    metric: str
    alternative: str
    correction: str
    family: str
    alpha: float
    baseline: str | None
    K: int
    ascending: bool
    seed: int
    sampled: tuple[bool, ...]
    _tables: tuple[ScoreTable, ...] = field(kw_only=True, repr=False)
    _numbers: tuple[int, ...] = field(kw_only=True, repr=False)
    _is_part: bool = field(default=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __len__(self) -> int:
        """Number of tests."""
        return int(self.pvalue.size)

    def __getitem__(self, data_set: str) -> Leaderboard:
        k = self._data_set(data_set)
        parts: dict[str, Any] = {
            name: getattr(self, name)[k : k + 1]
            for name in self.__dataclass_fields__
            if getattr(getattr(self, name), "ndim", 0) == 2
        }
        for name in ("_tables", "_numbers", "n", "sampled"):
            parts[name] = getattr(self, name)[k : k + 1]
        parts["_is_part"] = self._is_part or len(self.data_sets) > 1
        return replace(self, data_sets=(self.data_sets[k],), **parts)

    @property
    def score(self) -> Score:
        """What is compared, and whether higher is better, with how that is known."""
        return self._tables[0].compared

    @property
    def n_clusters(self) -> tuple[int | None, ...]:
        """How many clusters are swapped on each data set; None where items are."""
        return tuple(
            None if table.clusters is None else table.folded.n_items for table in self._tables
        )

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which pairs differ at level `alpha`, after correction; of shape (D, P)."""
        return np.asarray(rejects(self.adjusted, self.alpha))

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Which pairs other random labellings could decide otherwise; of shape (D, P).

        Their adjusted p is sampled, and no more than 2.6 standard errors from `alpha`. A larger
        `K` decides them.
        """
        near = UNSURE * (self.alpha * (1 - self.alpha) / self.K) ** 0.5
        sampled = np.array(self.sampled, dtype=bool)[:, np.newaxis]
        return np.asarray(sampled & (np.abs(self.adjusted - self.alpha) <= near))

    # ---- one data set

    @cached_property
    def _codes(self) -> Ints:
        """Numbers that are the larger the better a system is, from exact values; (D, S)."""
        codes = []
        for table in self._tables:
            ranks = {value: code for code, value in enumerate(sorted(set(table.exact_values)))}
            codes.append([ranks[value] for value in table.exact_values])
        return np.array(codes, dtype=np.int64) * (-1 if self.ascending else 1)

    def _check_all_pairs(self) -> None:
        if self.baseline is not None:
            raise ValueError(
                f"these are comparisons with {self.baseline!r} alone, which say nothing about the "
                "ranks of the others; compare all pairs, without a baseline"
            )

    @cached_property
    def _better(self) -> NDArray[np.bool_]:
        """Whether the system of a row differs from that of the column, and is better; (D, S, S)."""
        self._check_all_pairs()
        lead = self._codes[:, self.first] - self._codes[:, self.second]
        better = np.zeros((len(self.data_sets), *(len(self.systems),) * 2), dtype=bool)
        better[:, self.first, self.second] = self.differs & (lead > 0)
        better[:, self.second, self.first] = self.differs & (lead < 0)
        return better

    def _order(self, data_set: str | None) -> Ints:
        return np.argsort(-self._codes[self._data_set(data_set)], kind="stable")

    def order(self, data_set: str | None = None) -> list[str]:
        """The systems from the best to the worst, by their values."""
        return [self.systems[i] for i in self._order(data_set)]

    def places(self, data_set: str | None = None) -> Ints:
        """Ranks by the values, 1 for the best; systems with equal values share the better rank."""
        codes = self._codes[self._data_set(data_set)]
        self._check_all_pairs()
        places = 1 + codes.size - np.searchsorted(np.sort(codes), codes, side="right")
        return np.asarray(places, dtype=np.int64)

    def rank_ranges(self, data_set: str | None = None) -> Ints:
        """The best and the worst rank that each system may have, of shape (S, 2).

        A system is behind those that differ from it and are better, and before those that differ
        and are worse, as in Mogstad, Romano, Shaikh and Wilhelm (2024), who make ranks of one-sided
        tests. If equally good systems are exchangeable on every item, which is what the
        tests assume, and the correction controls the familywise error, then with probability
        1 - alpha at least no pair of equally good systems moves a range; errors of direction,
        where the worse of two systems comes out as the better one, are not counted in that.
        """
        better = self._better[self._data_set(data_set)]
        return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)

    def tied_with_best(self, data_set: str | None = None) -> tuple[str, ...]:
        """The best system and those that do not differ from it, best first.

        Such a system may still be behind another one that it does differ from, so that the best
        rank of its range is not 1.
        """
        best = self.places(data_set) == 1
        beaten = self._better[self._data_set(data_set)][best].any(axis=0)
        return tuple(self.systems[i] for i in self._order(data_set) if not beaten[i])

    def groups(self, data_set: str | None = None) -> list[tuple[str, ...]]:
        """Longest runs of the ranking in which no two systems differ, best first.

        A run of one system is none. Two runs may overlap: A may not differ from B, nor B from C,
        and yet A from C.
        """
        order = self._order(data_set)
        differ = np.triu(self._better[self._data_set(data_set)][np.ix_(order, order)], 1)
        # The last one before each system that it differs from; -1 if there is none.
        last = np.where(differ, np.arange(order.size)[:, None], -1).max(axis=0, initial=-1)
        runs, stop = [], 0
        for start in range(order.size):
            before = stop
            while stop < order.size and last[stop] < start:
                stop += 1
            if stop > max(before, start + 1):
                runs.append(tuple(self.systems[i] for i in order[start:stop]))
        return runs

    def matrix(self, what: str = "adjusted", data_set: str | None = None) -> NDArray[Any]:
        """One of the arrays as a square: row i, column j is the pair of systems i and j.

        Parameters
        ----------
        what : str, default "adjusted"
            "adjusted", "pvalue", "log10_pvalue", "statistic", "n_informative" or "error_bound".
        data_set : str, optional

        Returns
        -------
        ndarray of shape (S, S)
            NaN where nothing was compared, as on the diagonal; "statistic" is row less column.
        """
        known = ("adjusted", "pvalue", "log10_pvalue", "statistic", "n_informative", "error_bound")
        check_option("what", what, known)
        found = np.asarray(getattr(self, what))[self._data_set(data_set)]
        square = np.full((len(self.systems),) * 2, np.nan)
        square[self.first, self.second] = found
        square[self.second, self.first] = -found if what == "statistic" else found
        return square

    def result(self, a: str, b: str, data_set: str | None = None) -> PermutationTestResult:
        """The whole result of one pair, made anew from the scores.

        Parameters
        ----------
        a, b : str
            Two systems; "greater" means that `a` scores more.
        data_set : str, optional

        Returns
        -------
        PermutationTestResult
            Its p is the one in `pvalue`, to within the error bounds of both; of a sampled p the
            same, if the systems are named in the order of the pair.
        """
        i, j = (self._system(name) for name in (a, b))
        if i == j:
            raise ValueError(f"a and b are both {a!r}; name two systems")
        k = self._data_set(data_set)
        pair = np.flatnonzero(
            ((self.first == i) & (self.second == j)) | ((self.first == j) & (self.second == i))
        )
        seed = [self.seed, 1, self._numbers[k], *pair.tolist()]  # that of `pvalue`
        rng, table = np.random.default_rng(seed), self._tables[k]
        options: dict[str, Any] = {"alternative": self.alternative, "rng": rng}
        found: PermutationTestResult = exact_perm_test(
            table.pairs(i, j), statistic=table.statistic, **options
        )
        return found

    def _data_set(self, name: str | None) -> int:
        if name is None and len(self.data_sets) == 1:
            return 0
        if name is None or name not in self.data_sets:
            choice = ", ".join(map(repr, self.data_sets))
            raise ValueError(f"data_set={name!r} must be one of {choice}")
        return self.data_sets.index(name)

    def _system(self, name: str) -> int:
        if name not in self.systems:
            raise ValueError(f"there is no system {name!r}; there are {', '.join(self.systems)}")
        return self.systems.index(name)

    # ---- other corrections, several data sets

    def corrected(self, correction: str, family: str | None = None) -> Leaderboard:
        """The same tests with another correction.

        Parameters
        ----------
        correction : {"holm", "hochberg", "bh", "by", "max_t", "none"}
        family : {"each", "all"}, optional
            Default: as it is.

        Returns
        -------
        Leaderboard
        """
        check_correction(correction)
        family = family or self.family
        if family == "all" and self._is_part:
            raise ValueError(
                "family='all' needs all data sets, but this is a part of a board; correct the "
                "whole, or use family='each'"
            )
        numbers = list(range(len(self.data_sets)))
        adjusted, sampled = np.empty_like(self.pvalue), np.zeros(len(numbers), dtype=bool)
        for some in [numbers] if family == "all" else [[k] for k in numbers]:
            p = self.pvalue[some]
            if correction != "max_t":
                adjusted[some] = adjusted_pvalues(p, correction)
                continue
            rng = np.random.default_rng([self.seed, 2, self._numbers[some[0]]])
            tables, pairs = [self._tables[k] for k in some], (self.first, self.second)
            found = max_t(tables, *pairs, alternative=self.alternative, K=self.K, rng=rng)
            # What was sampled could fall below p, which is exact.
            adjusted[some], sampled[some] = np.maximum(found.adjusted, p), not found.exact
        return replace(
            self,
            adjusted=adjusted,
            correction=correction,
            family=family,
            sampled=tuple(sampled.tolist()),
        )

    def overall(self) -> Leaderboard:
        """The board of all data sets together, by exact tests as well.

        For "mean", the statistic is the mean over the data sets of their means: each counts alike,
        however many items it has. Sums and measures of counts are of all items together.

        Returns
        -------
        Leaderboard
            Of one data set, called "all data sets".
        """
        joined = {"all data sets": ScoreTable.joined(self._tables)}
        return compare_many(
            joined,
            baseline=self.baseline,
            alternative=self.alternative,
            correction=self.correction,
            alpha=self.alpha,
            K=self.K,
            rng=self.seed,
        )

    def replicability(
        self, *, alpha: float | None = None, method: str = "bonferroni"
    ) -> Replicability:
        """On how many data sets, and on which, one system of each pair is better than the other.

        Parameters
        ----------
        alpha : float, optional
            Level for each pair by itself. Default: that of the board over the number of pairs,
            so that all statements hold together.
        method : {"bonferroni", "fisher"}, default "bonferroni"
            "fisher" takes data sets to be independent.

        Returns
        -------
        Replicability
        """
        if len(self.data_sets) < 2:
            raise ValueError("replicability is about two data sets or more, but this is one")
        level = self.alpha / self.first.size if alpha is None else alpha
        pairs = self.first, self.second
        how: dict[str, Any] = {"alpha": level, "method": method}
        return Replicability.of(self.systems, self.data_sets, *pairs, *self._one_sided(), **how)

    def combined(self, method: str = "fisher") -> NDArray[np.float64]:
        """P-values of each pair that combine those of independent data sets.

        Parameters
        ----------
        method : {"fisher", "stouffer", "tippett", "bonferroni"}, default "fisher"
            As `scipy.stats.combine_pvalues` has them, each side combined by itself and the smaller
            p doubled; "bonferroni", the smallest p times D, needs no independence. `overall`
            instead has an exact test of the mean.

        Returns
        -------
        ndarray of shape (P,)
            In (0, 1], without a correction for the number of pairs.
        """
        return combined_pvalues(*self._one_sided(), method)

    def _one_sided(self) -> tuple[Floats, Floats]:
        """P-values for "the first is better", and for the second; (D, P) each."""
        sides = ("less", "greater") if self.ascending else ("greater", "less")
        how = self.seed, self._numbers
        better, worse = (_solve(self._tables, self.first, self.second, x, *how) for x in sides)
        return better.pvalue, worse.pvalue

    # ---- tables and sentences

    def to_frame(self) -> pd.DataFrame:
        """All tests as a pandas DataFrame, one row for each pair and data set."""
        import pandas as pd

        size, number = self.first.size, len(self.data_sets)
        names = np.array(self.systems, dtype=object)
        found = {
            "data_set": np.repeat(np.array(self.data_sets, dtype=object), size),
            "first": np.tile(names[self.first], number),
            "second": np.tile(names[self.second], number),
            "difference": self.statistic.ravel(),
        }
        columns = "pvalue log10_pvalue adjusted differs undecided n_informative error_bound method"
        return pd.DataFrame(found | {x: getattr(self, x).ravel() for x in columns.split()})

    def ranking(self) -> pd.DataFrame:
        """All systems as a pandas DataFrame, those of each data set from the best to the worst.

        With a baseline: by how much each one is ahead of it, and p, instead of ranks.
        """
        import pandas as pd

        return pd.concat([self._ranking(name) for name in self.data_sets], ignore_index=True)

    def _ranking(self, name: str) -> pd.DataFrame:
        import pandas as pd

        k, order, names = self._data_set(name), self._order(name), self.order(name)
        frame = pd.DataFrame({"data_set": name, "system": names, "value": self.values[k, order]})
        if self.baseline is None:
            low, high = self.rank_ranges(name)[order].T
            ranks = {"rank": self.places(name)[order], "rank_low": low, "rank_high": high}
            return frame.assign(
                **ranks, tied_with_best=frame.system.isin(self.tied_with_best(name))
            )
        own = {"first": [self.baseline], "difference": 0.0, "pvalue": 1.0, "adjusted": 1.0}
        nothing = pd.DataFrame(own | {"differs": False})  # what it differs by from itself
        beside = pd.concat([self[name].to_frame()[[*nothing]], nothing])
        return frame.join(beside.set_index("first"), on="system")

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings; None for no number."""
        shown = (name for name in self.__dataclass_fields__ if not name.startswith("_"))
        return {name: _plain(getattr(self, name)) for name in shown} | self.score.to_dict()

    def sentence(self, data_set: str | None = None) -> str:
        """Who leads on a data set, and how many pairs differ."""
        return wording.sentence(self, self.data_sets[self._data_set(data_set)])

    def __str__(self) -> str:
        return wording.text(self)

    def _repr_html_(self) -> str:
        return wording.html(self)


def _plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        bad = ~np.isfinite(value)
        value = value.astype(object)
        value[bad] = None
    return value.tolist()


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

    Returns
    -------
    Leaderboard

    Raises
    ------
    TypeError, ValueError
        If scores are missing, or not numbers of equal number, or an option is unknown.
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
    correction = correction.replace("-", "_") if isinstance(correction, str) else correction
    check_correction(correction)
    check_level(alpha)
    check_resamples(K)
    _check_question(baseline, alternative, family)
    tables = tables_of(
        table, statistic=statistic, systems=systems, clusters=clusters, strata=strata
    )
    score = next((x.score for x in tables.values() if x.score.basis != "assumed"), Score())
    score = score.stated(None if ascending is None else not ascending)
    some = tuple(replace(one, score=score) for one in tables.values())
    baseline = None if baseline is None else str(baseline)
    first, second = _pairings(some[0].systems, baseline, len(some))
    seed, numbers = int(as_generator(rng).integers(2**63)), tuple(range(len(some)))
    found = _solve(some, first, second, alternative, seed, numbers)
    exact = [table.exact_values for table in some]
    board = Leaderboard(
        systems=some[0].systems,
        data_sets=tuple(tables),
        values=np.array([[float(x) for x in one] for one in exact]),
        first=first,
        second=second,
        statistic=np.stack([_differences(one, first, second) for one in exact]),
        **found._asdict(),
        adjusted=found.pvalue,
        n=tuple(table.n_items for table in some),
        metric=some[0].statistic.name,
        alternative=alternative,
        correction="none",
        family=family,
        alpha=float(alpha),
        baseline=baseline,
        ascending=not some[0].compared.higher_is_better,
        K=K,
        seed=seed,
        sampled=(False,) * len(some),
        _tables=some,
        _numbers=numbers,
    )
    return board.corrected(correction)


def _check_question(baseline: str | None, alternative: str, family: str) -> None:
    check_alternative(alternative)
    if baseline is None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} asks whether one system is better than another, which "
            "all pairs cannot share; name a baseline, or leave alternative out"
        )
    if family not in ("each", "all"):
        raise ValueError(f"family={family!r} must be 'each' or 'all'")


# ---- the tests ---------------------------------------------------------------------------------


def _pairings(systems: tuple[str, ...], baseline: str | None, data_sets: int) -> tuple[Ints, Ints]:
    """Numbers of the systems of all pairs, or of all against one; MemoryError if too many."""
    size = len(systems)
    number = (size * (size - 1) // 2 if baseline is None else size - 1) * data_sets
    if number > MOST_TESTS:
        raise MemoryError(
            f"{number:,} tests are more than {MOST_TESTS:,}; compare all systems with a "
            "baseline, or the best ones with each other: systems=[...]"
        )
    if baseline is None:
        first, second = np.triu_indices(size, 1)
        return first.astype(np.int64), second.astype(np.int64)
    if baseline not in systems:
        raise ValueError(f"baseline={baseline!r} is no system; there are {', '.join(systems)}")
    where = systems.index(baseline)
    return np.delete(np.arange(size), where), np.full(size - 1, where)


def _differences(exact: Sequence[Exact], first: Ints, second: Ints) -> Floats:
    """The difference of each pair, rounded once."""
    if all(isinstance(x, Fraction) for x in exact):
        common = lcm(*(x.denominator for x in exact))
        wholes = [int(x * common) for x in exact]
        if max(map(abs, wholes)) < 2**52 and common < 2**53:  # without an object for each pair
            numbers = np.array(wholes, dtype=np.int64)
            return np.asarray((numbers[first] - numbers[second]) / common)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([float(subtract(exact[i], exact[j])) for i, j in pairs])


class _Tests(NamedTuple):
    """What tests found, in fields of a `Leaderboard`."""

    pvalue: Floats
    log10_pvalue: Floats
    error_bound: Floats
    n_informative: Ints
    method: NDArray[np.object_]


def _solve(
    tables: Sequence[ScoreTable],
    first: Ints,
    second: Ints,
    alternative: str,
    seed: int,
    numbers: Sequence[int],
) -> _Tests:
    """The tests of all pairs on all data sets, of shape (D, P); `numbers` are those for seeds."""
    blocks = [_blocks(table, first.size) for table in tables]

    def each() -> Iterator[_Tests]:
        for table, some, number in zip(tables, blocks, numbers, strict=True):
            folded = replace(table.folded, ids=None, source={})  # what workers need
            if len(some) > 1 and _is_counted(folded):
                compile_kernels(folded.scores[:0])
            yield from in_parallel(
                _solve_block, some, folded, first, second, alternative, (seed, 1, number)
            )

    found = progress(each(), total=sum(map(len, blocks)), what="exact tests")
    shape = len(tables), first.size
    return _Tests(*(np.concatenate(x).reshape(shape) for x in zip(*found, strict=True)))


def _blocks(table: ScoreTable, size: int) -> list[range]:
    """The numbers of `size` pairs in blocks, which do not depend on who computes them.

    They are smaller where a pair takes longer, so that there is progress to be seen.
    """
    step, scores = FEW, table.folded.scores
    if isinstance(table.statistic, CountStatistic):
        step = LEAST
    elif _is_counted(table) and np.ptp(scores, axis=0).max() < TABLE:
        step = max(min(SCORES // scores.shape[1], MOST), LEAST)
    return [range(start, min(start + step, size)) for start in range(0, size, step)]


def _is_counted(table: ScoreTable) -> bool:
    """Whether kernels count the differences of all pairs."""
    sums = isinstance(table.statistic, Statistic)
    return sums and table.folded.scores.dtype == np.int64 and table.rounding is None


def _solve_block(
    block: range, table: ScoreTable, first: Ints, second: Ints, alternative: str, seed: Any
) -> _Tests:
    a, b = (x[block.start : block.stop] for x in (first, second))
    counted = _is_counted(table)
    laws = Laws.of(table.scores, table.scores, a, b) if counted else Laws.unknown(len(block))
    values, whole, hard = laws.solve(alternative)
    n_informative, method = laws.n_informative, np.full(len(block), "tilted", dtype=object)
    method[whole] = "integer"
    for i in np.flatnonzero(hard).tolist():
        pairs = table.pairs(int(a[i]), int(b[i]))
        rng = np.random.default_rng([*seed, block[i]])
        how: dict[str, Any] = {"alternative": alternative, "rng": rng}
        found = exact_perm_test(pairs, statistic=table.statistic, **how)
        values[:, i] = found.pvalue, found.log10_pvalue, found.error_bound
        n_informative[i], method[i] = found.n_informative, found.method
    return _Tests(values[0], values[1], values[2], n_informative, method)
