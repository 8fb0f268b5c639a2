"""What the comparison of many systems found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._html import grid, together
from permtest.alternatives.result import rejects
from permtest.exact import exact_perm_test
from permtest.many.multiplicity import CORRECTIONS
from permtest.many.pairwise import Ints
from permtest.many.ranks import Verdicts, in_order, verdicts
from permtest.many.table import ScoreTable
from permtest.result import PermutationTestResult, counted

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Systems that a sentence or a table of text lists at most.
LISTED = 12


@dataclass(frozen=True, eq=False)
class Leaderboard:
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
        Whether less is better.
    K : int
        Random labellings of "max_t".
    seed : int
        What random labellings start from.
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
    _tables: tuple[ScoreTable, ...] = field(kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __len__(self) -> int:
        """Number of tests."""
        return int(self.pvalue.size)

    def __getitem__(self, data_set: str) -> Leaderboard:
        k = self._data_set(data_set)
        rows = {
            name: values[k : k + 1]
            for name, values in vars(self).items()
            if isinstance(values, np.ndarray) and values.ndim == 2
        }
        chosen: dict[str, Any] = rows | {"n": self.n[k : k + 1], "_tables": self._tables[k : k + 1]}
        return replace(self, data_sets=(self.data_sets[k],), **chosen)

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which pairs differ at level `alpha`, after correction; of shape (D, P)."""
        return np.asarray(rejects(self.adjusted, self.alpha))

    # ---- one data set

    @cached_property
    def _verdicts(self) -> tuple[Verdicts, ...]:
        """What each data set says about ranks."""
        if self.baseline is not None:
            raise ValueError(
                f"these are comparisons with {self.baseline!r} alone, which say nothing about the "
                "ranks of the others; compare all pairs, without a baseline"
            )
        sign = -1 if self.ascending else 1
        return tuple(
            verdicts(sign * in_order(table.exact_values), self.first, self.second, differs)
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
        and are worse. With a correction that controls the familywise error ("holm", "hochberg",
        "max_t"), the true ranks all lie in these ranges with probability 1 - alpha at least.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        return self._one(data_set).ranges

    def tied_with_best(self, data_set: str | None = None) -> tuple[str, ...]:
        """The best system and those that do not differ from it, best first.

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
        k = self._data_set(data_set)
        values = self.values[k] if self.ascending else -self.values[k]
        return [self.systems[i] for i in np.argsort(values, kind="stable")]

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
        if what not in known:
            raise ValueError(f"what={what!r} is not known; choose one of {', '.join(known)}")
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
            Its p is the one in `pvalue`, to within the error bounds of both.
        """
        i, j = (self._system(name) for name in (a, b))
        if i == j:
            raise ValueError(f"a and b are both {a!r}; name two systems")
        table = self._tables[self._data_set(data_set)]
        options: dict[str, Any] = {"alternative": self.alternative, "rng": self.seed}
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

    # ---- tables

    def to_frame(self) -> pd.DataFrame:
        """All tests as a pandas DataFrame, one row for each pair and data set."""
        pandas, size = _pandas("to_frame"), self.first.size
        names = np.array(self.systems, dtype=object)
        columns = {
            "data_set": np.repeat(np.array(self.data_sets, dtype=object), size),
            "first": np.tile(names[self.first], len(self.data_sets)),
            "second": np.tile(names[self.second], len(self.data_sets)),
            "difference": self.statistic.ravel(),
            "pvalue": self.pvalue.ravel(),
            "log10_pvalue": self.log10_pvalue.ravel(),
            "adjusted": self.adjusted.ravel(),
            "differs": self.differs.ravel(),
            "n_informative": self.n_informative.ravel(),
            "error_bound": self.error_bound.ravel(),
            "method": self.method.ravel(),
        }
        return pandas.DataFrame(columns)

    def ranking(self) -> pd.DataFrame:
        """All systems as a pandas DataFrame, those of each data set from the best to the worst.

        With a baseline: by how much each one is ahead of it, and p, instead of ranks.
        """
        pandas = _pandas("ranking")
        rows = [row for name in self.data_sets for row in self._ranking(name)]
        return pandas.DataFrame(rows)

    def _ranking(self, data_set: str) -> list[dict[str, Any]]:
        """What `ranking` says about a data set."""
        k = self._data_set(data_set)
        values = dict(zip(self.systems, self.values[k].tolist(), strict=True))
        head = [
            {"data_set": data_set, "system": name, "value": values[name]}
            for name in self.order(data_set)
        ]
        if self.baseline is not None:
            return [row | self._against(row["system"], k) for row in head]
        found, tied = self._one(data_set), set(self.tied_with_best(data_set))
        for row in head:
            i = self._system(row["system"])
            low, high = found.ranges[i].tolist()
            row |= {"rank": int(found.places[i]), "rank_low": low, "rank_high": high}
            row["tied_with_best"] = row["system"] in tied
        return head

    def _against(self, system: str, k: int) -> dict[str, Any]:
        """The comparison with the baseline; that with itself finds nothing."""
        for p in np.flatnonzero(self.first == self._system(system)).tolist():
            return {
                "difference": float(self.statistic[k, p]),
                "pvalue": float(self.pvalue[k, p]),
                "adjusted": float(self.adjusted[k, p]),
                "differs": bool(self.differs[k, p]),
            }
        return {"difference": 0.0, "pvalue": 1.0, "adjusted": 1.0, "differs": False}

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings."""
        shown = (name for name in self.__dataclass_fields__ if not name.startswith("_"))
        fields = {name: getattr(self, name) for name in shown}
        return {k: x.tolist() if isinstance(x, np.ndarray) else x for k, x in fields.items()}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    # ---- sentences

    def sentence(self, data_set: str | None = None) -> str:
        """Who leads on a data set, and how many pairs differ.

        Parameters
        ----------
        data_set : str, optional
            Needed where there are several.
        """
        k = self._data_set(data_set)
        number = int(self.differs[k].sum())
        where = f"{self.data_sets[k]}: " if self.data_sets[k] else ""
        pairs = f"{number} of {counted(self.first.size, 'pairs')} differ{'s' * (number == 1)}"
        level = f"at a level of {self.alpha:g} ({CORRECTIONS[self.correction].title})"
        items = counted(self.n[k], "items")
        if self.baseline is not None:
            return f"{where}{pairs} from {self.baseline} {level}, over {items}."
        tied = self.tied_with_best(data_set)
        best, rest = tied[0], tied[1:]
        lead = f"{best} leads alone" if not rest else f"{best} leads; {_and(rest)} tied with it"
        return f"{where}{lead}. {pairs} {level}, over {items}."

    def __str__(self) -> str:
        head = (
            f"{counted(len(self.systems), 'systems')}, {self.metric}, by exact "
            f"{'two-sided' if self.alternative == 'two-sided' else 'one-sided'} "
            "paired-permutation tests."
        )
        return "\n".join([head, *(self.sentence(name) for name in self.data_sets)])

    def _repr_html_(self) -> str:
        parts = [grid(*self._grid(name), self.sentence(name)) for name in self.data_sets]
        return together(*parts)

    def _grid(self, data_set: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The ranking, as people write it."""
        rows = self._ranking(data_set)
        if self.baseline is not None:
            head = ("system", self.metric, f"less {self.baseline}", "p", "adjusted p", "differs")
            return head, [_against_cells(row) for row in rows]
        return ("rank", "system", self.metric, "may be", "tied with the best"), [
            _rank_cells(row) for row in rows
        ]


def _against_cells(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = f"{row['value']:.6g}", f"{row['difference']:+.4g}", f"{row['pvalue']:.3g}"
    return row["system"], *numbers, f"{row['adjusted']:.3g}", "yes" if row["differs"] else "no"


def _rank_cells(row: dict[str, Any]) -> tuple[str, ...]:
    may_be, tied = _range(row["rank_low"], row["rank_high"]), "yes" if row["tied_with_best"] else ""
    return str(row["rank"]), row["system"], f"{row['value']:.6g}", may_be, tied


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _and(names: tuple[str, ...]) -> str:
    """Names with the verb that follows them; of many, how many they are."""
    if len(names) > LISTED:
        return f"{len(names)} systems are"
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"


def _pandas(method: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"{method} needs pandas: pip install 'permtest[frames]'") from None
    return pandas
