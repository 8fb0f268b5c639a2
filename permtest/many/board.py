"""Many systems at once: all pairs, or all against one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._errors import check_count, check_level, check_option
from permtest._jit import Floats, Ints
from permtest._random import RNG, as_generator
from permtest._text import Shown, counted, html_table, listed, plain, said, together
from permtest.batch import compare_rows
from permtest.exact import exact_perm_test
from permtest.integers import exact_sum, with_room
from permtest.many.corrections import CORRECTIONS, adjusted_pvalues, interval_at, joint_tail, max_t
from permtest.null.distribution import TABLE
from permtest.result import PermutationTestResult
from permtest.scores import Scores, check_aligned
from permtest.statistics import Statistic, lookup, measured

#: Pairs of systems at most; each takes some hundred bytes.
MOST_TESTS = 10**7
#: Scores that are compared in a block, and pairs that are in it at most; pairs in a block of what
#: no kernel counts, such as decimals with many digits.
SCORES, MOST, FEW = 2**22, 2**11, 2
#: Systems that a sentence names, and that a table in a notebook shows.
NAMED, SHOWN = 12, 50
#: Errors in p-values that are no more than this, relative to alpha, decide nothing.
ROUNDING = 1e-11
#: Methods whose p is not exact, and why not.
INEXACT = {
    "monte_carlo": "Sampled, because exact ones are out of reach",
    "bracket": "Upper bounds, because scores have many digits",
}
#: Corrections that limit the chance of any error, as ranges of ranks need.
FAMILYWISE = "holm", "max_t"


@dataclass(frozen=True, eq=False)
class Leaderboard(Shown):
    """All pairs of S systems, or all against one: P exact tests.

    Made by `compare_many`. ``print(board)`` says which system is first and which are tied with it.

    Parameters
    ----------
    systems : tuple of S str
        What they are called.
    values : ndarray of shape (S,)
        What each system scores: its mean, its F1, ...
    places : ndarray of shape (S,)
        Ranks by the values, 1 for the first; systems with equal values share the better rank.
    first, second : ndarray of shape (P,)
        Numbers of the systems of each pair.
    statistic : ndarray of shape (P,)
        By how much the first system scores more than the second.
    pvalue, log10_pvalue, error_bound, n_informative, method : ndarray of shape (P,)
        As in `PermutationTestResult`, of each test by itself.
    adjusted : ndarray of shape (P,)
        P-values that allow for the number of tests, by `correction`.
    n, metric, higher_is_better
        As in `PermutationTestResult`. Where no direction is known, nothing is called better.
    correction, alpha, baseline, K
        As in `compare_many`.
    seed, scores : int, Scores
        What random labellings start from, and what was compared.

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
    places: Ints
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
    metric: str
    higher_is_better: bool | None
    correction: str
    alpha: float
    baseline: str | None
    K: int
    seed: int
    scores: Scores = field(repr=False)
    _entry: Statistic = field(repr=False)
    _exact: list[Fraction] = field(repr=False)

    def __len__(self) -> int:
        return int(self.pvalue.size)

    @property
    def title(self) -> str:
        """What is compared: "F1", "mean", "mean acc_norm"."""
        return self._entry.title or f"{self.metric} {self.scores.score}".strip()

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which pairs differ at level `alpha`, after correction; of shape (P,)."""
        return np.asarray(self.adjusted <= self.alpha * (1 + ROUNDING))

    @cached_property
    def _above(self) -> NDArray[np.bool_]:
        """Whether the system of a row differs from that of the column, and is above it; (S, S)."""
        if self.baseline is not None:
            raise ValueError(
                f"this board compares systems only with {self.baseline!r}, which does not rank "
                "the others; compare all pairs, without a baseline"
            )
        lead = np.where(self.differs, self.places[self.second] - self.places[self.first], 0)
        above = np.zeros((len(self.systems),) * 2, dtype=bool)
        above[self.first, self.second], above[self.second, self.first] = lead > 0, lead < 0
        return above

    def order(self) -> list[str]:
        """The systems from the best to the worst; from the highest down, if nobody said which."""
        return [self.systems[i] for i in np.argsort(self.places, kind="stable")]

    def rank_ranges(self) -> Ints:
        """The best and the worst rank that each system may have, of shape (S, 2).

        Only with the corrections "holm" and "max_t", which keep the familywise error. A system is
        behind those that differ from it and are better, and before those that differ and are worse,
        as in Mogstad, Romano, Shaikh and Wilhelm (2024), who make ranks of one-sided tests. If
        equally good systems are exchangeable on every item, as the tests assume, then with
        probability 1 - alpha at least no pair of them moves a range; errors of direction are not
        counted in that.
        """
        above = self._above
        if self.correction not in FAMILYWISE:
            raise ValueError(
                f"correction={self.correction!r} does not limit the chance that any range of ranks "
                "is wrong; ask board.corrected('holm') or board.corrected('max_t')"
            )
        return np.stack([1 + above.sum(axis=0), len(above) - above.sum(axis=1)], axis=1)

    def tied_with_best(self) -> tuple[str, ...]:
        """The first system and those that do not differ from it, in the order of the ranking."""
        beaten = dict(zip(self.systems, self._above[self.places == 1].any(axis=0), strict=True))
        return tuple(name for name in self.order() if not beaten[name])

    def groups(self) -> list[tuple[str, ...]]:
        """Longest runs of the ranking in which no two systems differ; they may overlap.

        A run has two systems at least.
        """
        order, size = np.argsort(self.places, kind="stable"), len(self.systems)
        differ = np.triu(self._above[np.ix_(order, order)], 1)
        # The last one before each system that it differs from, and where runs from each one end.
        last = np.where(differ, np.arange(size)[:, None], -1).max(axis=0, initial=-1)
        ends = np.searchsorted(np.maximum.accumulate(last), np.arange(size)).tolist()
        starts = (i for i in range(size) if ends[i] > max(i + 1, ends[i - 1] * (i > 0)))
        return [tuple(self.systems[k] for k in order[i : ends[i]]) for i in starts]

    def matrix(self, what: str = "adjusted") -> NDArray[Any]:
        """One of the arrays as a square of shape (S, S): row i, column j is their pair.

        `what` is the name of any array of shape (P,), such as "pvalue" or "statistic", which is row
        less column. NaN where nothing was compared, as on the diagonal.
        """
        found, square = getattr(self, what), np.full((len(self.systems),) * 2, np.nan)
        square[self.first, self.second] = found
        square[self.second, self.first] = 0 - found if what == "statistic" else found
        return square

    def result(self, a: str, b: str) -> PermutationTestResult:
        """The whole result of one pair, made anew from the scores.

        Its p is the one in `pvalue`, to within the error bounds of both; of a sampled p the same,
        if the systems are named in the order of the pair.
        """
        return _test(self.scores, [_numbers(self.systems, a=a, b=b)], self._entry, self.seed, 0)

    @cached_property
    def _unit_values(self) -> Floats:
        """What each item, or cluster, adds to the value of each system, less that of the first.

        Of shape (S, N). Its mean is the mean score, or the jackknife estimate of a measure.
        """
        units = self.scores.units
        n = len(units)
        if not self._entry.columns:
            gaps = with_room(units.values) - with_room(units.values[:1])
            return np.asarray(gaps.astype(np.float64) * (n / self.n) / units.scale)
        measure, addends = measured(self._entry, units)
        found = []
        for x in np.stack(addends).astype(np.float64):
            whole = x.sum(axis=0)
            found.append(n * measure.values(whole[None]) - (n - 1) * measure.values(whole - x))
        return np.stack(found) - found[0]

    @cached_property
    def _tail(self) -> float:
        """The error on each side of each interval."""
        return joint_tail(self._unit_values, self.first, self.second, self.alpha)

    def interval(self, a: str, b: str) -> tuple[float, float]:
        """The interval for the difference of two systems, a less b.

        All such intervals hold together with confidence ``1 - alpha``: those of all pairs, or of
        all systems against the baseline. So do the ones in `rows`, although the best system is
        chosen from the same scores. They are as long as the largest difference makes necessary;
        `permtest.many.corrections` says how. That of the only pair is the one of its `result`. Near
        the level they and adjusted p may disagree. Except for items that are 0 or 1, the ends are
        infinite where there are too few units for p to reach it.
        """
        i, j = _numbers(self.systems, a=a, b=b)
        of_counts = bool(self._entry.columns)
        times = 1 if of_counts or self.metric == "mean" else self.n
        if self.first.size == 1 and not of_counts:
            with suppress(ValueError, ArithmeticError, MemoryError):  # a sampled p
                alone = _test(self.scores, [(i, j)], "mean", self.seed, 0)
                low, high = alone.confidence_interval(round(1 - self.alpha, 12))
                return low * times, high * times
        low, high = interval_at(
            self._tail,
            self._unit_values,
            (i, j),
            float(self._exact[i] - self._exact[j]) / times,
            self.scores.is_binary and self.scores.clusters is None,
        )
        return low * times, high * times

    def corrected(self, correction: str) -> Leaderboard:
        """The same tests with another of the corrections that `compare_many` lists."""
        check_option("correction", correction, CORRECTIONS)
        if correction != "max_t":
            adjusted = adjusted_pvalues(self.pvalue, correction)
        elif self._entry.columns:
            raise ValueError(f"'max_t' is for sums of scores, not for {self.metric}; choose 'holm'")
        else:
            rng = np.random.default_rng([2, self.seed])
            found = max_t(self.scores.units.values, self.first, self.second, K=self.K, rng=rng)
            adjusted = np.maximum(found, self.pvalue)  # what is sampled could fall below p
        return replace(self, adjusted=adjusted, correction=correction)

    def rows(self) -> list[dict[str, Any]]:
        """All systems from the first to the last, as plain values.

        Besides values, possible ranks, and the letters of the `groups` that a system is in: the
        `difference` from the first system, or the baseline, with its `interval` and p-values.
        """
        order, ranked, found = self.order(), self.baseline is None, []
        head, titles = self.baseline or order[0], self.titles
        columns = {"difference": "statistic", "pvalue": "pvalue", "adjusted": "adjusted"}
        beside = {key: self.matrix(x)[:, self.systems.index(head)] for key, x in columns.items()}
        groups, tied = (self.groups(), self.tied_with_best()) if ranked else ([], ())
        ranges = self.rank_ranges() if "ranks" in titles else np.stack([self.places] * 2, axis=1)
        for name in order:
            i, alone = self.systems.index(name), name == head
            # Groups that follow each other, by the letters of the first and the last.
            own = [chr(97 + k % 26) * (1 + k // 26) for k, x in enumerate(groups) if name in x]
            row = {
                "rank": int(self.places[i]),
                "system": name,
                "value": float(self.values[i]),
                "ranks": " to ".join(dict.fromkeys(map(str, ranges[i]))),
                "letters": "-".join(dict.fromkeys(own[:1] + own[-1:])),
                "tied_with_best": name in tied,
                **{key: None if alone else float(x[i]) for key, x in beside.items()},
                "interval": None if alone else self.interval(name, head),
                "differs": bool(self.differs[self.first == i].any()),
            }
            found.append({key: row[key] for key in titles})
        return found

    @property
    def titles(self) -> dict[str, str]:
        """The headings of the columns of `rows`."""
        other = "the highest" if self.higher_is_better is None else "the best"
        level = f"{100 * (1 - self.alpha):.6g}%"
        unit = "" if self._entry.columns else self._entry.unit
        system = {"system": "system", "value": self.title if unit in ("", "points") else unit}
        pair = {"difference": f"minus {self.baseline or other}", "interval": f"{level} interval"}
        pair |= {"pvalue": "p", "adjusted": "adjusted p"}
        if self.baseline is not None:
            return system | pair | {"differs": "differs"}
        ranks = {"ranks": "possible ranks"} if self.correction in FAMILYWISE else {}
        ranks |= {"letters": "alike", "tied_with_best": "tied"}
        return {"rank": "rank"} | system | ranks | pair

    def sentence(self) -> str:
        """Say which system is first, which are tied with it, and how many pairs differ."""
        if self.baseline is None:
            shown, number = f"{self._lead()}. Shown to differ", counted(len(self), "pairs")
        else:
            shown, number = f"Shown to differ from {self.baseline}", counted(len(self), "systems")
        items = counted(self.n, "items")
        if self.scores.clusters is not None:
            items += f" in {counted(len(self.scores.units), 'clusters')}"
        return (
            f"{shown}: {self.differs.sum()} of {number} (exact two-sided paired-permutation tests "
            f"over {items}, level {self.alpha:g}, {CORRECTIONS[self.correction]})."
        )

    def _lead(self) -> str:
        """Which system is first, and which are tied with it; of many only how many."""
        best = self.order()[: int(np.sum(self.places == 1))]
        rest = [x for x in self.tied_with_best() if x not in best] or ["no other system"]
        both = [counted(len(x), "systems") if len(x) > NAMED else listed(x) for x in (best, rest)]
        verb = "lead together" if best[1:] else "leads"
        if self.higher_is_better is None:
            verb = f"{'share' if best[1:] else 'has'} the highest {self.title}"
        return f"{both[0]} {verb}, tied with {both[1]}"

    def remarks(self) -> list[str]:
        """What is not exact."""
        found, of_all = [*self.method], f"of {counted(len(self), 'p-values')}"
        return [f"{why}: {found.count(x)} {of_all}." for x, why in INEXACT.items() if x in found]

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *self.remarks()])

    def _repr_html_(self) -> str:
        rest = len(self.systems) - SHOWN
        remarks = [*self.remarks(), f"{rest} more systems are in rows()." * (rest > 0)]
        table = html_table(self.rows()[:SHOWN], self.titles, self.sentence())
        return together(table, *map(said, remarks))

    def to_dict(self) -> dict[str, Any]:
        """All fields but the scores, and the rows."""
        found = super().rows()[0] | {"ranking": plain(self.rows()), "sentence": self.sentence()}
        return {key: value for key, value in found.items() if key != "scores"}


def _numbers(known: tuple[str, ...], **systems: str) -> list[int]:
    """Those of some systems."""
    for name, system in systems.items():
        check_option(name, system, known)
    return [known.index(system) for system in systems.values()]


def compare_many(
    table: Any,
    *,
    statistic: str | Statistic = "mean",
    baseline: str | None = None,
    clusters: Any = None,
    correction: str = "holm",
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
    K: int = 10_000,
    rng: RNG = None,
) -> Leaderboard:
    """Exact paired-permutation tests of all pairs of systems, with honest ties.

    Parameters
    ----------
    table : data frame, mapping, or Scores
        A column for each system: scores of shape (N,), or counts of shape (N, c) for a statistic
        of counts. Or what `permtest.read_many` returns. A column of a frame that counts from 0 or 1
        on, each number equally often, is no score: make it the index.
    statistic : str or Statistic, default "mean"
        As in `exact_perm_test`.
    baseline : str, optional
        Compare all others with this one alone. Default: all pairs.
    clusters : array_like of shape (N,), optional
        What each item belongs to, such as its document, or the prompt that several epochs are of:
        whole clusters are swapped.
    correction : {"holm", "bh", "max_t", "none"}, default "holm"
        How p-values allow for the number of tests. "holm" controls the familywise error, whatever
        the dependence of the tests; so does Westfall and Young's "max_t", for sums and means of
        scores, if differences are jointly symmetric, and nearly so if there are many items. "bh",
        of Benjamini and Hochberg, controls the false discovery rate of tests that are independent
        or depend positively.
    alpha : float, default 0.05
        Pairs differ if their adjusted p is at most that.
    higher_is_better : bool, optional
        The direction of the scores. Default: what `Scores` or the statistic say. If nobody says it,
        systems stand from the highest score down, and none is called better.
    K : int, default 10_000
        Number of random labellings for "max_t"; sampled p-values have 100 000 of their own.
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
    A pair of N scores takes O(N) time where they differ by integers below 1024, as counts and
    scores of few decimals do: some 50 us for 10 000 counts of correct tokens; 100 systems have
    4 950 pairs. Ratios of counts such as F1 take milliseconds a pair, and scores of many decimals,
    whose p has bounds only (`method` "bracket"), up to seconds: round them to as many digits as
    matter.

    Examples
    --------
    >>> from permtest import compare_many
    >>> old, new = [2, 3, 4, 3, 1, 0, 2, 3], [3, 5, 4, 6, 2, 2, 3, 5]
    >>> print(compare_many({"old": old, "new": new, "copy": old}))  # doctest: +NORMALIZE_WHITESPACE
    new has the highest mean, tied with no other system. Shown to differ: 2 of 3 pairs (exact
    two-sided paired-permutation tests over 8 items, level 0.05, Holm).
    """
    check_option("correction", correction, CORRECTIONS)
    check_level(alpha)
    check_count(K, "K", most=MOST_TESTS, why="fewer draws give p precisely enough")
    entry = lookup(statistic)
    scores = _scores_of(table, entry, clusters, higher_is_better)
    exact, seed = _exact_values(scores, entry), int(as_generator(rng).integers(2**63))
    baseline = None if baseline is None else str(baseline)
    first, second = _pairings(scores.systems, baseline)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    tests = _solve(scores, first, second, entry, seed)
    ascending = np.unique(np.array(exact, dtype=object), return_inverse=True)[1]
    worse = ascending if scores.higher_is_better is False else -ascending
    return Leaderboard(
        systems=scores.systems,
        values=np.array([float(x) for x in exact]),
        places=np.asarray(1 + np.searchsorted(np.sort(worse), worse)),
        first=first,
        second=second,
        statistic=np.array([float(exact[i] - exact[j]) for i, j in pairs]),
        **tests,
        adjusted=tests["pvalue"],
        n=len(scores),
        metric=entry.name,
        higher_is_better=scores.higher_is_better,
        correction="none",
        alpha=float(alpha),
        baseline=baseline,
        K=K,
        seed=seed,
        scores=scores,
        _entry=entry,
        _exact=exact,
    ).corrected(correction)


def _scores_of(
    table: Any, entry: Statistic, clusters: Any, higher_is_better: bool | None
) -> Scores:
    """The scores of the systems of a table, with their clusters and their direction."""
    scores: Scores = table
    names = getattr(table, "columns", None)  # of a frame
    if not isinstance(table, Scores):
        if names is None and not hasattr(table, "keys"):
            raise TypeError(
                "table must be a data frame with a column for each system, or a mapping of names "
                f"to scores, not {type(table).__name__}"
            )
        columns = {str(name): table[name] for name in (table if names is None else names)}
        for name, column in columns.items():
            check_aligned(column, clusters, ("table", "clusters"))
            if names is not None:
                _check_no_numbers(column, name)
        scores = (Scores.of_counts if entry.columns else Scores.of_columns)(columns)
    if len(scores) == 0:
        raise ValueError("table has no items; a comparison needs one at least")
    known = (higher_is_better, scores.higher_is_better, entry.higher_is_better)
    direction = next((x for x in known if x is not None), None)
    return replace(scores.clustered(clusters), higher_is_better=direction)


def _check_no_numbers(column: Any, name: str) -> None:
    """Refuse a column that counts from 0 or 1 on, each equally often; 0 and 1 alone are scores."""
    x = np.asarray(column)
    found, often = np.unique(x if x.dtype.kind in "iu" else [], return_counts=True)
    if found.size > 2 and found[0] in (0, 1) and np.ptp(found) < found.size and not np.ptp(often):
        raise ValueError(
            f"table has a column {name!r} that only counts, and is no score; make it the index, "
            "or pass a mapping of names to scores"
        )


def _exact_values(scores: Scores, entry: Statistic) -> list[Fraction]:
    """The statistic of each system."""
    if entry.columns:
        measure, addends = measured(entry, scores)
        return [measure.exact([exact_sum(column) for column in x.T]) for x in addends]
    if scores.columns:
        names = ", ".join(scores.columns)
        raise ValueError(f"table has counts of {names}; choose a statistic of them, such as 'f1'")
    times = 1 if entry.name == "mean" else len(scores)
    return [times * mean for mean in scores.means]


def _pairings(systems: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints]:
    """Numbers of the systems of all pairs, or of all against one; MemoryError if too many."""
    size = len(systems)
    if baseline is not None:
        (where,) = _numbers(systems, baseline=baseline)
        return np.delete(np.arange(size), where), np.full(size - 1, where)
    if size * (size - 1) // 2 > MOST_TESTS:
        raise MemoryError(
            f"{size * (size - 1) // 2:,} tests are more than {MOST_TESTS:,}; compare all systems "
            "with a baseline, or only the best ones with each other"
        )
    first, second = np.triu_indices(size, 1)
    return first.astype(np.int64), second.astype(np.int64)


def _solve(
    scores: Scores, first: Ints, second: Ints, entry: Statistic, seed: int
) -> dict[str, Any]:
    """The tests of all pairs, of shape (P,)."""
    units = replace(scores.units, ids=None, source={})  # what workers need
    counted = not entry.columns and units.values.dtype == np.int64 and units.tolerance is None
    # The blocks do not depend on who computes them. They are smaller where a pair takes longer.
    quick = counted and np.ptp(units.values, axis=0).max() < TABLE
    step = max(min(SCORES // len(units), MOST), FEW) if quick else FEW
    entry = entry if entry.columns else lookup("sum")  # sums of clusters are no single scores
    alone = partial(_test, units, np.stack([first, second], axis=1), entry, seed)
    rows = units.values if counted else None
    return compare_rows(rows, first, second, alternative="two-sided", alone=alone, step=step)


def _test(
    scores: Scores, pairs: Any, statistic: Any, seed: int, pair: int
) -> PermutationTestResult:
    """One pair of systems, by its number."""
    i, j = map(int, pairs[pair])
    rng = np.random.default_rng([1, seed, i, j])
    return exact_perm_test(scores.pair(i, j), statistic=statistic, rng=rng)
