"""What the comparison of many systems found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_option
from permtest._json import AsJson
from permtest._optional import pandas
from permtest.alternatives.result import SMALLEST, rejects
from permtest.exact import exact_perm_test
from permtest.many import rows, wording
from permtest.many.adjustment import Adjustment, check_adjustment
from permtest.many.combining import combined_pvalues
from permtest.many.pairings import Pairings
from permtest.many.pairwise import Ints
from permtest.many.ranks import Verdicts, in_order, verdicts
from permtest.many.replicability import Replicability, replicability
from permtest.many.table import ScoreTable
from permtest.result import PermutationTestResult
from permtest.score import Score

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


#: Standard errors that a sampled p-value is off by, once in a hundred times.
UNSURE = 2.6


@dataclass(frozen=True, eq=False)
class Leaderboard(AsJson):
    """All pairs of S systems, or all against one, on D data sets: P exact tests each.

    Made by `compare_many`. ``print(board)`` says who leads and who is tied with whom;
    ``board["news"]`` is the board of one data set, ``board.result(a, b)`` the whole result of one
    pair, ``board.to_frame()`` has all pairs and ``board.ranking()`` all systems.

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
    alternative : str
        "two-sided"; against a baseline also "greater" or "less".
    correction : str
        One of `CORRECTIONS`.
    family : str
        "each" if every data set is corrected by itself, "all" if all tests together are.
    alpha : float
        Level; a pair differs if its adjusted p is at most that.
    baseline : str or None
        The system that all others are compared with, if it is one.
    ascending : bool
        Whether lower is better.
    K : int
        Random labellings of "max_t".
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
    ascending: bool
    K: int
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
            name: values[k : k + 1]
            for name, values in vars(self).items()
            if isinstance(values, np.ndarray) and values.ndim == 2
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
    def _verdicts(self) -> tuple[Verdicts, ...]:
        """What each data set says about ranks."""
        if self.baseline is not None:
            raise ValueError(
                f"these are comparisons with {self.baseline!r} alone, which say nothing about the "
                "ranks of the others; compare all pairs, without a baseline"
            )
        return tuple(
            verdicts(self._codes(table), self.first, self.second, differs)
            for table, differs in zip(self._tables, self.differs, strict=True)
        )

    def places(self, data_set: str | None = None) -> Ints:
        """Ranks by the values, 1 for the best; systems with equal values share the better rank.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.

        Returns
        -------
        ndarray of shape (S,)
        """
        return self._one(data_set).places

    def rank_ranges(self, data_set: str | None = None) -> Ints:
        """The best and the worst rank that each system may have, of shape (S, 2).

        A system is behind those that differ from it and are better, and before those that differ
        and are worse. If equally good systems are exchangeable on every item, which is what the
        tests assume, and the correction controls the familywise error, then with probability
        1 - alpha at least no pair of equally good systems moves a range; errors of direction,
        where the worse of two systems comes out as the better one, are not counted in that.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        return self._one(data_set).ranges

    def tied_with_best(self, data_set: str | None = None) -> tuple[str, ...]:
        """The best system and those that do not differ from it, best first.

        Such a system may still be behind another one that it does differ from, so that the best
        rank of its range is not 1.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        return tuple(self.systems[i] for i in self._one(data_set).tied_with_best)

    def groups(self, data_set: str | None = None) -> list[tuple[str, ...]]:
        """Longest runs of the ranking in which no two systems differ, best first.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        return [tuple(self.systems[i] for i in run) for run in self._one(data_set).groups]

    def order(self, data_set: str | None = None) -> list[str]:
        """The systems from the best to the worst, by their values.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        codes = self._codes(self._tables[self._data_set(data_set)])
        return [self.systems[i] for i in np.argsort(-codes, kind="stable")]

    def _codes(self, table: ScoreTable) -> Ints:
        """Numbers that are the larger the better a system is, from exact values."""
        codes = in_order(table.exact_values)
        return -codes if self.ascending else codes

    def matrix(self, what: str = "adjusted", data_set: str | None = None) -> NDArray[Any]:
        """One of the arrays as a square: row i, column j is the pair of systems i and j.

        Parameters
        ----------
        what : str, default "adjusted"
            "adjusted", "pvalue", "log10_pvalue", "statistic", "n_informative" or "error_bound".
        data_set : str, optional
            Needed where there are several.

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
            Needed where there are several.

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

    def _one(self, data_set: str | None) -> Verdicts:
        return self._verdicts[self._data_set(data_set)]

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
        chosen = Adjustment(correction, family or self.family, self.K)
        check_adjustment(*chosen[:2])
        if chosen.family == "all" and self._is_part:
            raise ValueError(
                "family='all' needs all data sets, but this is a part of a board; correct the "
                "whole, or use family='each'"
            )
        adjusted = chosen.adjusted(self._pairings(self.alternative), self.pvalue)
        return replace(
            self,
            adjusted=adjusted.pvalue,
            sampled=adjusted.sampled,
            correction=correction,
            family=chosen.family,
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
        from permtest.many.compare import compare_many  # which makes boards

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
        better, worse = self._one_sided()
        return replicability(
            self.systems,
            self.data_sets,
            self.first,
            self.second,
            better,
            worse,
            alpha=level,
            method=method,
        )

    def combined(self, method: str = "fisher") -> NDArray[np.float64]:
        """P-values of each pair that combine those of independent data sets.

        Parameters
        ----------
        method : {"fisher", "stouffer", "tippett", "bonferroni"}, default "fisher"
            As in `combined_pvalues`; both sides are combined by themselves. `overall` instead has
            an exact test of the mean.

        Returns
        -------
        ndarray of shape (P,)
            In (0, 1], without a correction for the number of pairs.
        """
        logs = combined_pvalues(*self._one_sided(), method=method)
        return np.maximum(10.0**logs, SMALLEST)

    def _one_sided(self) -> tuple[Floats, Floats]:
        """Decimal logarithms of p for "the first is better", and for the second; (D, P) each."""
        sides = ("less", "greater") if self.ascending else ("greater", "less")
        better, worse = (
            np.stack([one.values[1] for one in self._pairings(side).outcomes()]) for side in sides
        )
        return better, worse

    def _pairings(self, alternative: str) -> Pairings:
        tables = dict(zip(self.data_sets, self._tables, strict=True))
        return Pairings(tables, self.first, self.second, alternative, self.seed, self._numbers)

    # ---- tables and sentences

    def to_frame(self) -> pd.DataFrame:
        """All tests as a pandas DataFrame, one row for each pair and data set."""
        return pandas().DataFrame(rows.of_pairs(self))

    def ranking(self) -> pd.DataFrame:
        """All systems as a pandas DataFrame, those of each data set from the best to the worst.

        With a baseline: by how much each one is ahead of it, and p, instead of ranks.
        """
        every = [row for name in self.data_sets for row in rows.of_systems(self, name)]
        return pandas("ranking").DataFrame(every)

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings."""
        shown = (name for name in self.__dataclass_fields__ if not name.startswith("_"))
        fields = {name: getattr(self, name) for name in shown}
        plain = {k: rows.plain(x) if isinstance(x, np.ndarray) else x for k, x in fields.items()}
        return plain | self.score.to_dict()

    def sentence(self, data_set: str | None = None) -> str:
        """Who leads on a data set, and how many pairs differ.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        return wording.sentence(self, self.data_sets[self._data_set(data_set)])

    def __str__(self) -> str:
        return wording.text(self)

    def _repr_html_(self) -> str:
        return wording.html(self)
