"""Many systems at once: all pairs, or all against one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_level, check_option
from permtest._jit import Floats, Ints
from permtest._parallel import RNG, as_generator
from permtest._text import Shown, counted, html_table, listed, plain, said, together
from permtest.batch import RowTests, compare_rows
from permtest.exact import exact_perm_test
from permtest.integers import IntArray, exact_sum, roomy
from permtest.many.corrections import (
    CORRECTIONS,
    adjusted_pvalues,
    check_correction,
    interval_at,
    joint_tail,
    max_t,
    root_mean_square,
)
from permtest.null.distribution import TABLE
from permtest.result import PermutationTestResult
from permtest.scores import Scores, check_aligned
from permtest.statistics import (
    MeanOfRatios,
    Statistic,
    check_alternative,
    check_scores,
    lookup,
    measured,
)

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of systems at most; each takes some hundred bytes.
MOST_TESTS = 10**7
#: Scores that are compared in a block, and pairs that are in it at most, and at least; pairs in a
#: block of scores that no kernel counts, such as decimals with many digits.
SCORES, MOST, LEAST, FEW = 2**22, 2**11, 16, 2
#: Standard errors that a sampled p-value is off by, once in a hundred times.
UNSURE = 2.6
#: Systems that a sentence names, and that a table in a notebook shows.
NAMED, SHOWN = 12, 50
#: Errors in p-values that are no more than this, relative to alpha, decide nothing.
ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Leaderboard(Shown):
    """All pairs of S systems, or all against one: P exact tests.

    Made by `compare_many`. ``print(board)`` says which system is first and which are tied with it;
    ``board.result(a, b)`` is the whole result of one pair, ``board.ranking()`` has all systems and
    ``board.to_frame()`` all pairs.

    Parameters
    ----------
    systems : tuple of S str
        What they are called.
    values : ndarray of shape (S,)
        What each system scores: its mean, its F1, ...
    first, second : ndarray of shape (P,)
        Numbers of the systems of each pair.
    statistic : ndarray of shape (P,)
        By how much the first system scores more than the second.
    pvalue, log10_pvalue, error_bound, n_informative, method : ndarray of shape (P,)
        As in `PermutationTestResult`, of each test by itself.
    adjusted : ndarray of shape (P,)
        P-values that allow for the number of tests, by `correction`.
    n : int
        Number of items.
    n_clusters : int or None
        How many clusters are swapped; None where items are.
    metric : str
        Name of the statistic.
    score : str
        What the scores are called; empty if nobody says.
    higher_is_better : bool or None
        As declared, or as the metric has it. If it is None, nothing is called better.
    alternative, correction, alpha, baseline, K
        As in `compare_many`.
    seed : int
        What random labellings start from.
    sampled : bool
        Whether the adjusted p-values come from random labellings.
    scores : Scores
        What was compared.

    Examples
    --------
    >>> from permtest import compare_many
    >>> small, big = [2, 4, 3, 4, 1, 3, 4], [3, 5, 4, 6, 2, 4, 5]
    >>> board = compare_many({"big": big, "small": small, "copy": small})
    >>> board.order(), board.tied_with_best(), board.groups()
    (['big', 'small', 'copy'], ('big',), [('small', 'copy')])
    >>> board.result("big", "small").pvalue, board.matrix()[0].tolist()
    (0.015625, [nan, 0.046875, 0.046875])
    >>> board.rank_ranges().tolist()
    [[1, 1], [2, 3], [2, 3]]
    """

    systems: tuple[str, ...]
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
    n: int
    n_clusters: int | None
    metric: str
    score: str
    higher_is_better: bool | None
    alternative: str
    correction: str
    alpha: float
    baseline: str | None
    K: int
    seed: int
    sampled: bool
    scores: Scores = field(repr=False)
    _entry: Statistic = field(repr=False)
    _exact: tuple[Fraction, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __len__(self) -> int:
        """Number of tests."""
        return int(self.pvalue.size)

    @property
    def title(self) -> str:
        """What is compared: "F1", "mean", "mean acc_norm"."""
        return self._entry.title or f"{self.metric} {self.score}".strip()

    @property
    def unit(self) -> str:
        """What is swapped: "items" or "clusters"."""
        return "items" if self.n_clusters is None else "clusters"

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which pairs differ at level `alpha`, after correction; of shape (P,)."""
        return self._rejected(self.adjusted)

    def _rejected(self, p: Floats) -> NDArray[np.bool_]:
        return np.asarray(p <= self.alpha * (1 + ROUNDING))

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Pairs that other random labellings could decide differently; of shape (P,).

        Their adjusted p is sampled, and no more than 2.6 standard errors from `alpha`. A larger
        `K` decides them.
        """
        near = UNSURE * (self.alpha * (1 - self.alpha) / self.K) ** 0.5
        return np.asarray(self.sampled & (np.abs(self.adjusted - self.alpha) <= near))

    # ---- ranks

    @cached_property
    def _codes(self) -> Ints:
        """Numbers that are the larger the higher in the ranking a system is; (S,)."""
        codes = np.unique(np.array(self._exact, dtype=object), return_inverse=True)[1]
        return np.asarray(-codes if self.higher_is_better is False else codes)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(-self._codes, kind="stable")

    @property
    def _head(self) -> int:
        """Beside whom the systems stand: the baseline, or the first."""
        return int(self._order[0]) if self.baseline is None else self.systems.index(self.baseline)

    @cached_property
    def _above(self) -> NDArray[np.bool_]:
        """Whether the system of a row differs from that of the column, and is above it; (S, S)."""
        lead = self._codes[self.first] - self._codes[self.second]
        above = np.zeros((len(self.systems),) * 2, dtype=bool)
        above[self.first, self.second] = self.differs & (lead > 0)
        above[self.second, self.first] = self.differs & (lead < 0)
        return above

    def _check_ranked(self) -> None:
        """ValueError if systems are compared with a baseline alone, and have no ranks."""
        if self.baseline is not None:
            raise ValueError(
                f"this board compares systems only with {self.baseline!r}, which does not rank "
                "the others; compare all pairs, without a baseline"
            )

    def order(self) -> list[str]:
        """The systems from the best to the worst; from the highest down, if nobody said which."""
        return [self.systems[i] for i in self._order]

    def places(self) -> Ints:
        """Ranks by the values, 1 for the first; systems with equal values share the better rank."""
        self._check_ranked()
        codes = self._codes
        return np.asarray(1 + codes.size - np.searchsorted(np.sort(codes), codes, side="right"))

    @property
    def bounds_ranks(self) -> bool:
        """Whether `rank_ranges` has an answer: all pairs, and a familywise error that is kept."""
        return self.baseline is None and self.correction in ("holm", "max_t")

    def rank_ranges(self) -> Ints:
        """The best and the worst rank that each system may have, of shape (S, 2).

        Only with the corrections "holm" and "max_t", which keep the familywise error; others do not
        limit the chance that any range is wrong, and raise ValueError.

        A system is behind those that differ from it and are better, and before those that differ
        and are worse, as in Mogstad, Romano, Shaikh and Wilhelm (2024), who make ranks of one-sided
        tests. If equally good systems are exchangeable on every item, which is what the
        tests assume, and the correction controls the familywise error, then with probability
        1 - alpha at least no pair of equally good systems moves a range; errors of direction,
        where the worse of two systems comes out as the better one, are not counted in that.
        """
        self._check_ranked()
        if not self.bounds_ranks:
            raise ValueError(
                f"correction={self.correction!r} does not limit the chance that any range of ranks "
                "is wrong, as only those of the familywise error do; ask board.corrected('holm') "
                "or board.corrected('max_t')"
            )
        above = self._above
        return np.stack([1 + above.sum(axis=0), len(above) - above.sum(axis=1)], axis=1)

    def rank_texts(self) -> list[str]:
        """The ranks that each system may have as text, such as "2 to 3"; its place if none do."""
        if not self.bounds_ranks:
            return [*map(str, self.places().tolist())]
        return [" to ".join(map(str, sorted({*both}))) for both in self.rank_ranges().tolist()]

    def tied_with_best(self) -> tuple[str, ...]:
        """The first system and those that do not differ from it, in the order of the ranking.

        Such a system may still be behind another one that it does differ from, so that the best
        rank of its range is not 1.
        """
        beaten = self._above[self.places() == 1].any(axis=0)
        return tuple(self.systems[i] for i in self._order if not beaten[i])

    def groups(self) -> list[tuple[str, ...]]:
        """Longest runs of the ranking in which no two systems differ, the first ones first.

        A run of one system is none. Two runs may overlap: A may not differ from B, nor B from C,
        and yet A from C.
        """
        self._check_ranked()
        order, names, size = self._order, self.order(), len(self.systems)
        differ = np.triu(self._above[np.ix_(order, order)], 1)
        # The last one before each system that it differs from, and where runs from each one end.
        last = np.where(differ, np.arange(size)[:, None], -1).max(axis=0, initial=-1).tolist()
        ends = [next((k for k in range(i, size) if last[k] >= i), size) for i in range(size)]
        starts = (i for i in range(size) if ends[i] > max(i + 1, ends[i - 1] * (i > 0)))
        return [tuple(names[i : ends[i]]) for i in starts]

    def letters(self) -> dict[str, str]:
        """A letter for each of `groups` that a system is in; of more than three first and last.

        Systems that share a letter are not significantly different: the compact letter display.
        """
        own: dict[str, list[str]] = {}
        for number, group in enumerate(self.groups()):
            name = chr(97 + number % 26) * (1 + number // 26)
            for system in group:
                own.setdefault(system, []).append(name)
        few = {x: len(names) < 4 and len(names[-1]) == 1 for x, names in own.items()}
        return {x: "".join(y) if few[x] else f"{y[0]}-{y[-1]}" for x, y in own.items()}

    # ---- pairs

    def matrix(self, what: str = "adjusted") -> NDArray[Any]:
        """One of the arrays as a square: row i, column j is the pair of systems i and j.

        Parameters
        ----------
        what : str, default "adjusted"
            "adjusted", "pvalue", "log10_pvalue", "statistic", "n_informative" or "error_bound".

        Returns
        -------
        ndarray of shape (S, S)
            NaN where nothing was compared, as on the diagonal; "statistic" is row less column.
        """
        known = ("adjusted", "pvalue", "log10_pvalue", "statistic", "n_informative", "error_bound")
        check_option("what", what, known)
        found = np.asarray(getattr(self, what))
        square = np.full((len(self.systems),) * 2, np.nan)
        square[self.first, self.second] = found
        square[self.second, self.first] = -found if what == "statistic" else found
        return square

    def _numbers(self, a: str, b: str) -> tuple[int, int]:
        """Those of two different systems."""
        for name in (a, b):
            if name not in self.systems:
                known = ", ".join(self.systems)
                raise ValueError(f"there is no system {name!r}; there are {known}")
        if a == b:
            raise ValueError(f"a and b are both {a!r}; name two systems")
        return self.systems.index(a), self.systems.index(b)

    def result(self, a: str, b: str) -> PermutationTestResult:
        """The whole result of one pair, made anew from the scores.

        Parameters
        ----------
        a, b : str
            Two systems; "greater" means that `a` scores more.

        Returns
        -------
        PermutationTestResult
            Its p is the one in `pvalue`, to within the error bounds of both; of a sampled p the
            same, if the systems are named in the order of the pair.
        """
        i, j = self._numbers(a, b)
        first, second = self.first, self.second
        found = ((first == i) & (second == j)) | ((first == j) & (second == i))
        pair = int(found.argmax())  # which random numbers a sampled p takes
        return _test(self.scores, {pair: (i, j)}, self._entry, self.alternative, self.seed, pair)

    @cached_property
    def unit_values(self) -> Floats:
        """What each item, or cluster, adds to the value of each system, less that of the first.

        Of shape (S, N). The mean over units is the mean score, also of sums; of measures such as F1
        it is their jackknife estimate.
        """
        units, scale = self.scores.units, self.scores.scale
        measure, addends = _addends(units, self._entry)
        if measure is None:
            gaps = (roomy(addends) - roomy(addends[:1]))[:, :, 0].astype(np.float64)
            return np.asarray(gaps * (len(units) / self.n) / scale)
        found, n = [], len(units)
        for x in addends.astype(np.float64):
            whole = x.sum(axis=0)
            found.append(n * measure.values(whole[None]) - (n - 1) * measure.values(whole - x))
        return np.stack(found) - found[0]

    @cached_property
    def _tail(self) -> float:
        pairs = self.first, self.second
        return joint_tail(self.unit_values, *pairs, alternative=self.alternative, alpha=self.alpha)

    def interval(self, a: str, b: str) -> tuple[float, float]:
        """The interval for the difference of two systems, a less b.

        All such intervals hold together with confidence ``1 - alpha``: those of all pairs, or of
        all systems against the baseline.

        Notes
        -----
        Of two systems, and of one against a baseline, it is the interval of the single comparison,
        as reports have it: all shifts that the exact test does not reject, or Tango's where scores
        are 0 or 1 and items are swapped. Otherwise all are as long as the largest difference makes
        necessary, of all pairs, or of those with the baseline: Tango's, or, for other scores and
        measures such as F1, Student's t for what each item or cluster adds to the difference, which
        is approximate. The corrections of p allow for the number of tests in another way, and may
        disagree near the level. The law of the largest difference is sampled, 10 000 times (1 000
        times at least for more than 230 systems), always from the same seed. Except for Tango's,
        the ends are infinite where there are too few units for p to reach the level.
        """
        i, j = self._numbers(a, b)
        scores, of_counts = self.scores, bool(self._entry.columns)
        times = 1 if of_counts or self.metric == "mean" else self.n
        if self.first.size == 1 and not of_counts:
            with suppress(ValueError, ArithmeticError, MemoryError):  # a sampled p
                found = _test(scores, [(i, j)], "mean", self.alternative, self.seed, 0)
                low, high = found.confidence_interval(round(1 - self.alpha, 12))
                return low * times, high * times
        values = self.unit_values
        low, high = interval_at(
            self._tail,
            values[i] - values[j],
            float(self._exact[i] - self._exact[j]) / times,
            alternative=self.alternative,
            binary=scores.is_binary and scores.clusters is None,
            typical=root_mean_square(np.diff(values, axis=0)),
        )
        return low * times, high * times

    def intervals(self) -> Floats:
        """The `interval` for the difference of each system from the first one, or the baseline.

        They hold together although the best system is chosen from the same scores. Of shape (S, 2),
        in the order of `systems`; NaN for the first one, or the baseline.
        """
        found = {row["system"]: row["interval"] or (np.nan, np.nan) for row in self.rows()}
        return np.array([found[name] for name in self.systems])

    def corrected(self, correction: str) -> Leaderboard:
        """The same tests with another correction.

        Parameters
        ----------
        correction : {"holm", "bh", "max_t", "none"}

        Returns
        -------
        Leaderboard
        """
        check_correction(correction)
        if correction != "max_t":
            adjusted, sampled = adjusted_pvalues(self.pvalue, correction), False
        else:
            measure, addends = _addends(self.scores.units, self._entry)
            rng = np.random.default_rng([2, self.seed])
            how: dict[str, Any] = {"alternative": self.alternative, "K": self.K, "rng": rng}
            found = max_t(addends, self.first, self.second, measure=measure, **how)
            # What was sampled could fall below p, which is exact.
            adjusted, sampled = np.maximum(found.adjusted, self.pvalue), not found.exact
        return replace(self, adjusted=adjusted, correction=correction, sampled=sampled)

    # ---- tables and sentences

    def to_frame(self) -> pd.DataFrame:
        """All tests as a pandas DataFrame, one row for each pair."""
        import pandas as pd

        names = np.array(self.systems, dtype=object)
        found = {"first": names[self.first], "second": names[self.second]}
        found["difference"] = self.statistic
        columns = "pvalue log10_pvalue adjusted differs undecided n_informative error_bound method"
        return pd.DataFrame(found | {x: getattr(self, x) for x in columns.split()})

    def ranking(self) -> pd.DataFrame:
        """The `rows` as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """All systems from the first to the last, as plain values.

        Besides values, ranks and letters: the `difference` from the first system, with its
        `interval` and p-values; None for that one itself. With a baseline, differences are from
        that, and there are no ranks.
        """
        return self._rows

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        head, ranked, found = self._head, self.baseline is None, []
        letters, tied = (self.letters(), self.tied_with_best()) if ranked else ({}, ())
        names = {"difference": "statistic", "pvalue": "pvalue", "adjusted": "adjusted"}
        columns = {key: self.matrix(what)[:, head].tolist() for key, what in names.items()}
        for i in self._order.tolist():
            name = self.systems[i]
            row: dict[str, Any] = {"rank": int(self.places()[i])} if ranked else {}
            row |= {"system": name, "value": float(self.values[i])}
            if self.bounds_ranks:
                row["ranks"] = tuple(self.rank_ranges()[i].tolist())
            if ranked:
                row |= {"letters": letters.get(name, ""), "tied_with_best": name in tied}
            row |= {key: None if i == head else column[i] for key, column in columns.items()}
            row["interval"] = None if i == head else self.interval(name, self.systems[head])
            if not ranked:
                row["differs"] = i != head and bool(self._rejected(row["adjusted"]))
            found.append(row)
        return found

    def table(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """The `rows` as people read them, and the headings of their columns."""
        best = "the highest" if self.higher_is_better is None else "the best"
        titles = {"rank": "rank", "system": "system", "value": self.title}
        titles |= {"ranks": "possible ranks", "letters": "alike", "tied_with_best": "tied"}
        titles |= {"difference": f"minus {self.baseline or best}"}
        titles |= {"interval": f"{100 * (1 - self.alpha):.6g}% interval"}
        titles |= {"pvalue": "p", "adjusted": "adjusted p", "differs": "differs"}
        rows = self.rows()
        if self.bounds_ranks:
            texts = dict(zip(self.systems, self.rank_texts(), strict=True))
            rows = [row | {"ranks": texts[row["system"]]} for row in rows]
        return rows, {key: title for key, title in titles.items() if key in rows[0]}

    def sentence(self) -> str:
        """Say which system is first, which are tied with it, and how many pairs differ."""
        lead, verb, number = "", "differ", counted(len(self), "pairs")
        if self.baseline is None:
            lead = f"{self._lead()}. "
        else:
            verbs = {"greater": "score more than", "less": "score less than"}
            verb = f"{verbs.get(self.alternative, 'differ from')} {self.baseline}"
            number = counted(len(self), "systems")
        items = counted(self.n, "items")
        items += "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'clusters')}"
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        return (
            f"{lead}Shown to {verb}: {self.differs.sum()} of {number} (exact {sides} "
            f"paired-permutation tests over {items}, level {self.alpha:g}, "
            f"{CORRECTIONS[self.correction].title})."
        )

    def _lead(self) -> str:
        """Which system is first, and which are tied with it; of many only how many."""
        best = self.order()[: int(np.sum(self.places() == 1))]
        rest = [x for x in self.tied_with_best() if x not in best] or ["no other system"]
        both = [counted(len(x), "systems") if len(x) > NAMED else listed(x) for x in (best, rest)]
        verb = "lead together" if best[1:] else "leads"
        if self.higher_is_better is None:
            verb = f"{'share' if best[1:] else 'has'} the highest {self.title}"
        return f"{both[0]} {verb}, tied with {both[1]}"

    def remarks(self) -> list[str]:
        """What is not exact, and what the scores give reason to check."""
        numbers = {
            "Sampled, because exact ones are out of reach": self.method == "monte_carlo",
            "Upper bounds, because scores have many digits": self.method == "bracket",
            f"Too close to call with K = {self.K}": self.undecided,
        }
        of_all = f"of {counted(len(self), 'p-values')}"
        found = [f"{x}: {np.sum(some)} {of_all}." for x, some in numbers.items() if some.any()]
        columns = zip(self.systems, self.scores.arrays, strict=True)
        if same := [x for x, column in columns if self.n > 1 and (column == column[0]).all()]:
            found.append(
                f"The same score on every item: {listed(same)}. Check that this is what a system "
                "scored, and not a reference or a column that was filled in."
            )
        return found

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *self.remarks()])

    def _repr_html_(self) -> str:
        (rows, titles), rest = self.table(), len(self.systems) - SHOWN
        remarks = [*self.remarks(), f"{rest} more systems are in ranking()." * (rest > 0)]
        return together(html_table(rows[:SHOWN], titles, self.sentence()), *map(said, remarks))

    def to_dict(self) -> dict[str, Any]:
        """All fields but the scores, arrays as nested lists, and the rows; None for no number."""
        found = super().rows()[0] | {"ranking": plain(self.rows()), "sentence": self.sentence()}
        return {key: value for key, value in found.items() if key != "scores"}


def compare_many(
    table: Any,
    *,
    statistic: str | Statistic = "mean",
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    alternative: str = "two-sided",
    clusters: Any = None,
    correction: str = "holm",
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
    K: int = 10_000,
    rng: RNG = None,
    n_jobs: int | None = None,
) -> Leaderboard:
    """Exact paired-permutation tests of all pairs of systems, with honest ties.

    Parameters
    ----------
    table : data frame, mapping, or Scores
        A column for each system: scores of shape (N,), or counts of shape (N, c) for a statistic
        of counts. Or what `permtest.read_many` returns. A column of a frame that counts from 0 or 1
        on, each number equally often, is no score unless `systems` names it: make it the index.
    statistic : str or Statistic, default "mean"
        As in `exact_perm_test`.
    systems : sequence of str, optional
        Which columns are systems, in this order. Default: all.
    baseline : str, optional
        Compare all others with this one alone. Default: all pairs.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        One-sided only with a baseline; "greater": the others score more than it.
    clusters : str or array_like of shape (N,), optional
        What each item belongs to, such as its document, or the prompt that several epochs are of:
        whole clusters are swapped. Labels, or the name of a column.
    correction : {"holm", "bh", "max_t", "none"}, default "holm"
        How p-values allow for the number of tests. "holm" and, under conditions that `CORRECTIONS`
        names, "max_t" control the familywise error; "bh", under such conditions, the false
        discovery rate.
    alpha : float, default 0.05
        Pairs differ if their adjusted p is at most that.
    higher_is_better : bool, optional
        The direction of the scores. Default: what `Scores` or the statistic say. If nobody says it,
        systems stand from the highest score down, and none is called better.
    K : int, default 10_000
        Number of random labellings for "max_t". P-values out of reach have 100 000 of their own.
    rng : numpy.random.Generator, int or None
        For "max_t", and for p-values that are out of reach and sampled.
    n_jobs : int, optional
        How many threads compute, as in joblib. Default: one for each processor where it takes
        long, or, within ``joblib.parallel_config(...)``, the workers of that backend. Results do
        not depend on their number.

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
    round them to as many digits as matter.

    Examples
    --------
    >>> from permtest import compare_many
    >>> board = compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> board.pvalue.tolist(), board.adjusted.tolist()
    ([0.015625, 1.0, 0.015625], [0.046875, 1.0, 0.046875])
    >>> print(board)  # doctest: +NORMALIZE_WHITESPACE
    new has the highest mean, tied with no other system. Shown to differ: 2 of 3 pairs (exact
    two-sided paired-permutation tests over 8 items, level 0.05, Holm).
    """
    check_correction(correction)
    check_level(alpha)
    check_count(K, "K", most=MOST_TESTS, why="fewer draws give p precisely enough")
    check_alternative(alternative)
    if baseline is None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} needs to know which system of a pair should score "
            "higher; name a baseline, or leave alternative out"
        )
    entry = lookup(statistic)
    scores = _directed(_scores_of(table, entry, systems, clusters), entry, higher_is_better)
    exact, seed = _exact_values(scores, entry), int(as_generator(rng).integers(2**63))
    baseline = None if baseline is None else str(baseline)
    first, second = _pairings(scores.systems, baseline)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    with _workers(n_jobs):
        tests = _solve(scores, first, second, entry, alternative, seed)
        return Leaderboard(
            systems=scores.systems,
            values=np.array([float(x) for x in exact]),
            first=first,
            second=second,
            statistic=np.array([float(exact[i] - exact[j]) for i, j in pairs]),
            **tests._asdict(),
            adjusted=tests.pvalue,
            n=len(scores),
            n_clusters=None if scores.clusters is None else len(scores.units),
            metric=entry.name,
            score=scores.score,
            higher_is_better=scores.higher_is_better,
            alternative=alternative,
            correction="none",
            alpha=float(alpha),
            baseline=baseline,
            K=K,
            seed=seed,
            sampled=False,
            scores=scores,
            _entry=entry,
            _exact=exact,
        ).corrected(correction)


def _workers(n_jobs: int | None) -> AbstractContextManager[Any]:
    """So many threads; None leaves it to the surroundings."""
    if n_jobs is None:
        return nullcontext()
    import joblib

    threads: AbstractContextManager[Any] = joblib.parallel_config("threading", n_jobs=n_jobs)
    return threads


def _scores_of(
    table: Any, entry: Statistic, systems: Sequence[str] | None, clusters: Any
) -> Scores:
    """The scores of the systems of a table, with their clusters."""
    if isinstance(table, Scores):
        if systems is not None:
            raise ValueError("table is Scores, whose systems are chosen when they are made")
        return table.clustered(clusters)
    frame = hasattr(table, "columns")
    if not frame and not hasattr(table, "keys"):
        raise TypeError(
            "table must be a data frame with a column for each system, or a mapping of names to "
            f"scores, not {type(table).__name__}"
        )
    there, named = list(table.columns if frame else table.keys()), isinstance(clusters, str)
    chosen = [x for x in there if not (named and x == clusters)]
    if frame and systems is None:
        _check_no_numbers(table, chosen)
    chosen = chosen if systems is None else list(systems)
    for name in (*chosen, clusters) if named else chosen:
        if name not in there:
            raise ValueError(f"table has no column {name!r}; it has {', '.join(map(str, there))}")
    columns = {str(name): table[name] for name in chosen}
    found = entry.counts(columns) if entry.columns else Scores.of_columns(columns)
    clusters = table[clusters] if named else clusters
    check_aligned(table[chosen[0]], clusters, ("table", "clusters"))
    return found.clustered(clusters)


def _directed(scores: Scores, entry: Statistic, higher_is_better: bool | None) -> Scores:
    """The same, at least one item, with the direction that somebody declared."""
    if len(scores) == 0:
        raise ValueError("table has no items; a comparison needs one at least")
    known = (higher_is_better, scores.higher_is_better, entry.higher_is_better)
    return replace(scores, higher_is_better=next((x for x in known if x is not None), None))


def _check_no_numbers(table: Any, names: Sequence[Any]) -> None:
    """Refuse columns that count from 0 or 1 on, each equally often; 0 and 1 alone are scores."""
    for name in names:
        x = np.asarray(table[name])
        if x.ndim != 1 or x.dtype.kind not in "iuf" or not x.size or x.min() not in (0, 1):
            continue
        low, high = int(x.min()), x.max()
        count = low + 2 <= high < low + x.size and not (x % 1).any()
        if count and len({*np.bincount(x.astype(np.int64) - low).tolist()}) == 1:
            raise ValueError(
                f"table has a column {name!r} that only counts, and is no score; make it the "
                "index, or name the systems: systems=[...]"
            )


def _addends(scores: Scores, entry: Statistic) -> tuple[MeanOfRatios | None, IntArray]:
    """The measure, None for sums, and what is added up, of shape (S, N, m)."""
    if entry.columns:
        measure, addends = measured(entry, scores)
        return measure, np.stack(addends)
    if scores.columns:
        names = ", ".join(scores.columns)
        raise ValueError(f"table has counts of {names}; choose a statistic of them, such as 'f1'")
    return None, scores.values[:, :, None]


def _exact_values(scores: Scores, entry: Statistic) -> tuple[Fraction, ...]:
    """The statistic of each system."""
    measure, addends = _addends(scores, entry)
    if measure is not None:
        return tuple(measure.exact([exact_sum(column) for column in x.T]) for x in addends)
    check_scores(entry, scores)
    times = 1 if entry.name == "mean" else len(scores)
    return tuple(times * mean for mean in scores.means)


def _pairings(systems: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints]:
    """Numbers of the systems of all pairs, or of all against one; MemoryError if too many."""
    size = len(systems)
    number = size * (size - 1) // 2 if baseline is None else size - 1
    if number > MOST_TESTS:
        raise MemoryError(
            f"{number:,} tests are more than {MOST_TESTS:,}; compare all systems with a "
            "baseline, or the best ones with each other: systems=[...]"
        )
    if baseline is None:
        first, second = np.triu_indices(size, 1)
        return first.astype(np.int64), second.astype(np.int64)
    if baseline not in systems:
        raise ValueError(f"baseline={baseline!r} is not a system; there are {', '.join(systems)}")
    where = systems.index(baseline)
    return np.delete(np.arange(size), where), np.full(size - 1, where)


def _solve(
    scores: Scores, first: Ints, second: Ints, entry: Statistic, alternative: str, seed: int
) -> RowTests:
    """The tests of all pairs, of shape (P,)."""
    units = replace(scores.units, ids=None, source={})  # what workers need
    counted = not entry.columns and units.values.dtype == np.int64 and units.tolerance is None
    # The blocks do not depend on who computes them. They are smaller where a pair takes longer.
    step = LEAST if entry.columns else FEW
    if counted and np.ptp(units.values, axis=0).max() < TABLE:
        step = max(min(SCORES // len(units), MOST), LEAST)
    alone = partial(_test, units, np.stack([first, second], axis=1), entry, alternative, seed)
    how: dict[str, Any] = {"alternative": alternative, "alone": alone, "step": step}
    return compare_rows(units.values if counted else None, first, second, **how)


def _test(
    scores: Scores, pairs: Any, statistic: Any, side: Any, seed: int, pair: int
) -> PermutationTestResult:
    """One pair of systems, by its number."""
    i, j = map(int, pairs[pair])
    rng = np.random.default_rng([1, seed, pair])
    return exact_perm_test(scores.pair(i, j), statistic=statistic, alternative=side, rng=rng)
