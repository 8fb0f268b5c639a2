"""Many systems at once: all pairs, or all against one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_level, check_option
from permtest._forms import AsFields, grid, said, together
from permtest._jit import Floats, Ints
from permtest._parallel import RNG, as_generator
from permtest.alternatives.answer import rejects
from permtest.alternatives.counts import wilson
from permtest.alternatives.plan import check_aim, observed_effect, units_at
from permtest.batch import RowTests, compare_rows
from permtest.exact import exact_perm_test
from permtest.many.corrections import CORRECTIONS, adjusted_pvalues, check_correction, max_t
from permtest.many.simultaneous import Simultaneous
from permtest.many.table import ScoreTable, table_of
from permtest.null.distribution import TABLE
from permtest.result import PermutationTestResult
from permtest.score import Score, counted
from permtest.statistics import Statistic, check_alternative

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of systems at most; each takes some hundred bytes.
MOST_TESTS = 10**7
#: Scores that are compared in a block, and pairs that are in it at most, and at least; pairs in a
#: block of scores that no kernel counts, such as decimals with many digits.
SCORES, MOST, LEAST, FEW = 2**22, 2**11, 16, 2
#: Standard errors that a sampled p-value is off by, once in a hundred times.
UNSURE = 2.6
#: Up to so many systems and items the power of tests of 0 and 1 is exact.
FEW_SYSTEMS, FEW_ITEMS = 12, 10_000
#: Systems that a sentence names, and that a table shows.
NAMED, SHOWN = 12, 50


@dataclass(frozen=True, eq=False)
class Leaderboard(AsFields):
    """All pairs of S systems, or all against one: P exact tests.

    Made by `compare_many`. ``print(board)`` says who leads and who is tied with whom;
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
    metric : str
        Name of the statistic.
    alternative, correction, alpha, baseline, K
        As in `compare_many`.
    ascending : bool
        Whether lower is better.
    seed : int
        What random labellings start from.
    sampled : bool
        Whether the adjusted p-values come from random labellings.

    Examples
    --------
    >>> from permtest import compare_many
    >>> small, big = [2, 4, 3, 4, 1, 3, 4], [3, 5, 4, 6, 2, 4, 5]
    >>> board = compare_many({"big": big, "small": small, "copy": small})
    >>> board.order(), board.tied_with_best(), board.groups()
    (['big', 'small', 'copy'], ('big',), [('small', 'copy')])
    >>> board.result("big", "small").pvalue, board.matrix()[0].tolist()
    (0.015625, [nan, 0.046875, 0.046875])
    >>> board.separating_n(power=0.9).tolist()
    [[nan, nan], [7.0, 27.0], [nan, nan]]
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
    metric: str
    alternative: str
    correction: str
    alpha: float
    baseline: str | None
    K: int
    ascending: bool
    seed: int
    sampled: bool
    _table: ScoreTable = field(kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __len__(self) -> int:
        """Number of tests."""
        return int(self.pvalue.size)

    @property
    def score(self) -> Score:
        """The score, whether higher is better, and how permtest knows."""
        return self._table.compared

    @property
    def n_clusters(self) -> int | None:
        """How many clusters are swapped; None where items are."""
        return self._table.folded.n_items if self._table.clusters is not None else None

    @property
    def unit(self) -> str:
        """What is swapped: "items", of one or several runs each, or "clusters"."""
        clustered = self.n_clusters is not None and not self._table.runs_each
        return "clusters" if clustered else "items"

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which pairs differ at level `alpha`, after correction; of shape (P,)."""
        return np.asarray(rejects(self.adjusted, self.alpha))

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
        """Numbers that are the larger the better a system is, from exact values; (S,)."""
        values = self._table.exact_values
        ranks = {value: code for code, value in enumerate(sorted(set(values)))}
        codes = [ranks[value] for value in values]
        return np.array(codes, dtype=np.int64) * (-1 if self.ascending else 1)

    @cached_property
    def _better(self) -> NDArray[np.bool_]:
        """Whether the system of a row differs from that of the column, and is better; (S, S)."""
        lead = self._codes[self.first] - self._codes[self.second]
        better = np.zeros((len(self.systems),) * 2, dtype=bool)
        better[self.first, self.second] = self.differs & (lead > 0)
        better[self.second, self.first] = self.differs & (lead < 0)
        return better

    def _check_ranked(self) -> None:
        """ValueError if systems are compared with a baseline alone, and have no ranks."""
        if self.baseline is not None:
            raise ValueError(
                f"this board compares systems only with {self.baseline!r}, which does not rank "
                "the others; compare all pairs, without a baseline"
            )

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(-self._codes, kind="stable")

    def order(self) -> list[str]:
        """The systems from the best to the worst, by their values."""
        return [self.systems[i] for i in self._order]

    def places(self) -> Ints:
        """Ranks by the values, 1 for the best; systems with equal values share the better rank."""
        self._check_ranked()
        codes = self._codes
        return np.asarray(1 + codes.size - np.searchsorted(np.sort(codes), codes, side="right"))

    @property
    def bounds_ranks(self) -> bool:
        """Whether `rank_ranges` has an answer: all pairs, and a familywise error that is kept."""
        familywise = CORRECTIONS[self.correction].controls == "familywise error"
        return self.baseline is None and familywise

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
        better = self._better
        return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)

    def rank_texts(self) -> list[str]:
        """The ranks that each system may have as text, such as "2 to 3"; its place if none do."""
        if not self.bounds_ranks:
            return [*map(str, self.places().tolist())]
        return [" to ".join(map(str, sorted({*both}))) for both in self.rank_ranges().tolist()]

    def tied_with_best(self) -> tuple[str, ...]:
        """The best system and those that do not differ from it, best first.

        Such a system may still be behind another one that it does differ from, so that the best
        rank of its range is not 1.
        """
        beaten = self._better[self.places() == 1].any(axis=0)
        return tuple(self.systems[i] for i in self._order if not beaten[i])

    def groups(self) -> list[tuple[str, ...]]:
        """Longest runs of the ranking in which no two systems differ, best first.

        A run of one system is none. Two runs may overlap: A may not differ from B, nor B from C,
        and yet A from C.
        """
        self._check_ranked()
        order = self._order
        differ = np.triu(self._better[np.ix_(order, order)], 1)
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
        for name in (a, b):
            if name not in self.systems:
                known = ", ".join(self.systems)
                raise ValueError(f"there is no system {name!r}; there are {known}")
        if a == b:
            raise ValueError(f"a and b are both {a!r}; name two systems")
        i, j = self.systems.index(a), self.systems.index(b)
        sides = np.stack([self.first, self.second])
        pair = np.flatnonzero((sides == i).any(axis=0) & (sides == j).any(axis=0))
        return _test(self._table, i, j, self.alternative, self._seed + pair.tolist())

    @property
    def _seed(self) -> list[int]:
        """What the random numbers of the tests start from, but for the pair."""
        return [self.seed, 1, 0]

    # ---- how far behind

    def _beside(self) -> tuple[Ints, Ints]:
        """Beside whom each system stands: the best, and the one before it; or the baseline."""
        order = self._order
        head = order[0] if self.baseline is None else self.systems.index(self.baseline)
        lead = np.full(order.size, head)
        before = lead.copy()
        if self.baseline is None:
            before[order[1:]] = order[:-1]
        return lead, before

    def separating_n(self, power: float = 0.8) -> Floats:
        """How many units would separate each system again from the one before it, or the baseline.

        Only where the interval of their difference excludes 0. Where it does not, the scores do not
        tell which of the two is higher, and no number of units follows from them.

        Parameters
        ----------
        power : float, default 0.8
            The probability of finding the difference: above the level of one pair, below 1.

        Returns
        -------
        ndarray of shape (S, 2)
            Items, or clusters where these are swapped, in the order of `systems`: the fewest, if
            the true difference lies at that end of its interval that is further from 0, and the
            most, if it lies at the nearer one; infinite where it is more than anybody has. NaN
            where the interval contains 0, for the best system, and for the baseline.

        Notes
        -----
        The intervals are simultaneous, as in `intervals`. The spread is taken as observed, and so
        is the share of items on which systems of 0 and 1 differ. The level is that of one pair:
        `alpha` over the number of tests, as if corrected by Bonferroni, or `alpha` itself without a
        correction. For scores of 0 and 1, numbers above 10 000, and all of more than 12 systems,
        are approximate, which is quicker: by Connor's (1987) formula for McNemar's test.
        """
        _, before = self._beside()
        level = self.alpha / (1 if self.correction == "none" else self.first.size)
        how: dict[str, Any] = {"power": power, "alpha": level, "alternative": self.alternative}
        check_aim(**how)
        how["most"] = FEW_ITEMS * (len(self.systems) <= FEW_SYSTEMS)
        found, table = np.full((len(self.systems), 2), nan), self._table
        times = 1 if table.statistic.columns or self.metric == "mean" else self.n
        for i, j in enumerate(before.tolist()):
            if i != j:
                low, high = (end / times for end in self._interval(i, j))
                if low > 0 or high < 0:
                    found[i] = units_at((low, high), observed_effect(table.effects(i, j)), **how)
        return found

    def intervals(self) -> Floats:
        """Intervals for the difference of each system from the best one, or from the baseline.

        Returns
        -------
        ndarray of shape (S, 2)
            The ends, in the order of `systems`; NaN for the best one, or the baseline. All of them
            hold together with confidence ``1 - alpha``, although the best one is chosen from the
            same scores.

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
        lead, _ = self._beside()
        found = np.full((len(self.systems), 2), nan)
        for i, j in enumerate(lead.tolist()):
            if i != j:
                found[i] = self._interval(i, j)
        return found

    @cached_property
    def _together(self) -> Simultaneous:
        return Simultaneous(self._table, self.first, self.second, self.alternative, self.alpha)

    def _interval(self, i: int, j: int) -> tuple[float, float]:
        """Of two systems as a report has it, if that is quick; else one of those that hold."""
        table, level = self._table, round(1 - self.alpha, 12)
        if self.first.size == 1 and not table.statistic.columns:
            pairs = table.pairs(i, j)
            how: dict[str, Any] = {"statistic": "mean", "alternative": self.alternative}
            with suppress(ValueError, ArithmeticError, MemoryError):  # a sampled p
                low, high = exact_perm_test(pairs, **how).confidence_interval(level)
                times = 1 if self.metric == "mean" else self.n
                return low * times, high * times
        return self._together.interval(i, j)

    def _own_intervals(self) -> Floats | None:
        """Wilson's interval of what each system scores; None unless items are right or wrong."""
        table = self._table
        if not table.is_binary or table.clusters is not None:
            return None
        times = 1 if self.metric == "mean" else self.n
        ends = [wilson(x / times, self.n, round(1 - self.alpha, 12)) for x in self.values.tolist()]
        return np.array(ends) * times

    # ---- other corrections

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
            rng = np.random.default_rng([self.seed, 2])
            how: dict[str, Any] = {"alternative": self.alternative, "K": self.K, "rng": rng}
            found = max_t(self._table, self.first, self.second, **how)
            # What was sampled could fall below p, which is exact.
            adjusted, sampled = np.maximum(found.adjusted, self.pvalue), not found.exact
        return replace(self, adjusted=adjusted, correction=correction, sampled=sampled)

    # ---- tables and sentences

    def to_frame(self) -> pd.DataFrame:
        """All tests as a pandas DataFrame, one row for each pair."""
        import pandas as pd

        names = np.array(self.systems, dtype=object)
        found = {
            "first": names[self.first],
            "second": names[self.second],
            "difference": self.statistic,
        }
        columns = "pvalue log10_pvalue adjusted differs undecided n_informative error_bound method"
        return pd.DataFrame(found | {x: getattr(self, x) for x in columns.split()})

    def standings(self) -> list[dict[str, Any]]:
        """The rows of `ranking`, the best first, as plain values."""
        return self._standings

    @cached_property
    def _standings(self) -> list[dict[str, Any]]:
        lead, before = self._beside()
        found: dict[str, Any] = {"system": np.array(self.systems, dtype=object)}
        found["value"] = self.values
        if (own := self._own_intervals()) is not None:
            found["value_low"], found["value_high"] = own.T
        if self.baseline is None:
            found["rank"] = self.places()
            if self.bounds_ranks:
                found["rank_low"], found["rank_high"] = self.rank_ranges().T
            found["tied_with_best"] = np.isin(self.systems, self.tied_with_best())
        for what, key, itself in (
            ("statistic", "difference", 0.0),
            ("pvalue", "pvalue", 1.0),
            ("adjusted", "adjusted", 1.0),
        ):
            square = self.matrix(what)
            np.fill_diagonal(square, itself)
            found[key] = square[range(lead.size), lead]
            if self.baseline is None and itself:
                found[f"{key}_before"] = square[range(lead.size), before]
        if self.baseline is not None:
            found["differs"] = rejects(found["adjusted"], self.alpha)
        found["low"], found["high"] = self.intervals().T
        found["separating_low"], found["separating_high"] = self.separating_n().T
        scores = self._table.scores.reshape(len(self.systems), self.n, -1)
        alike = [(scores[i] == scores[j]).all(axis=1) for i, j in enumerate(before)]
        found["same"] = [float(x.mean()) for x in alike]
        if self._table.is_binary:
            right = scores[:, :, 0] != 0
            found["both_right"] = [float((x & y).mean()) for x, y in zip(alike, right, strict=True)]
        columns = {key: np.asarray(x).tolist() for key, x in found.items()}
        return [{key: x[i] for key, x in columns.items()} for i in self._order.tolist()]

    def ranking(self) -> pd.DataFrame:
        """All systems as a pandas DataFrame, from the best to the worst.

        Besides values and ranks: of scores of 0 and 1 without clusters Wilson's interval of the
        value itself, from `value_low` to `value_high`; the `difference` from the best system, with
        its interval from `low` to `high` (`intervals`) and p-values; the p-values of the system
        before it, how many units would separate the two again, from `separating_low` to
        `separating_high` (`separating_n`), the share of the items on which both have the `same`
        score, and, of scores of 0 and 1, on which `both_right`. With a baseline, differences are
        from that, and there are no ranks.
        """
        import pandas as pd

        return pd.DataFrame(self._standings)

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings; None for no number."""
        return super().to_dict() | self.score.to_dict()

    def sentence(self) -> str:
        """Say who leads, how many pairs differ, and how many depend on the seed."""
        differ, total = int(self.differs.sum()), self.first.size
        s, base = "s" * (1 in (differ, total)), self.baseline
        of_all = [counted(total, x) for x in ("pairs", "systems")]
        if base is None:
            share = f"{self._lead()}. {differ} of {of_all[0]} differ{s}"
        elif self.alternative == "two-sided":
            share = f"{differ} of {of_all[0]} differ{s} from {base}"
        else:
            more = "more" if self.alternative == "greater" else "less"
            share = f"{differ} of {of_all[1]} score{s} {more} than {base}"
        over, clusters = counted(self.n, "items"), self.n_clusters
        if clusters is not None:
            runs = self._table.runs_each
            over = f"{counted(clusters, 'items')}, {runs}" if runs else over
            over += f" in {counted(clusters, 'clusters')}" * (not runs and clusters < self.n)
        close = int(self.undecided.sum())
        are = f" {counted(close, 'pairs')} {'is' if close == 1 else 'are'} too close to call"
        return (
            f"{share} at a level of {self.alpha:g} ({CORRECTIONS[self.correction].title}), "
            + f"over {over}."
            + f"{are} with K = {self.K}." * (close > 0)
        )

    def _lead(self) -> str:
        """Who leads, and who is tied with that."""
        tied, order, top = self.tied_with_best(), self.order(), self.places() == 1
        best = order[: int(top.sum())]
        rest = [x for x in tied if x not in best]
        first, others = (
            f"{len(x)} systems" if len(x) > NAMED else " and ".join([", ".join(x[:-1]), *x[-1:]])
            for x in (best, rest)
        )
        first, others = first.removeprefix(" and "), others.removeprefix(" and ")
        if not rest:
            return f"{first} lead together" if best[1:] else f"{first} leads alone"
        lead, it = ("lead together", "them") if best[1:] else ("leads", "it")
        return f"{first} {lead}; {others} {'are' if rest[1:] else 'is'} tied with {it}"

    def __str__(self) -> str:
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        head = (
            f"{counted(len(self.systems), 'systems')}, {self.metric}, by exact {sides} "
            f"paired-permutation tests. Score: {self.score.described}."
        )
        for method, what in (("monte_carlo", "sampled"), ("bracket", "given by an upper bound")):
            if number := int(np.count_nonzero(self.method == method)):
                verb = "is" if number == 1 else "are"
                head += f" Of {counted(self.method.size, 'p-values')}, {number} {verb} {what}"
                if method == "bracket":
                    most = float(self.error_bound[self.method == method].max())
                    head += f", too large by a share of at most {most:.1g}, because scores have "
                    head += "many digits; with fewer digits it is exact"
                head += "."
        return "\n".join([head, self.sentence(), *self.remarks()])

    def remarks(self) -> list[str]:
        """What the scores give reason to check: systems that score the same on every item."""
        scores, found = self._table.scores, []
        if self.n < 2:
            return []
        same = (scores == scores[:, :1]).reshape(len(scores), -1).all(axis=1)
        for i in np.flatnonzero(same).tolist():
            what = "has the same counts"
            if scores.ndim == 2:
                what = f"scores {float(Fraction(int(scores[i, 0]), self._table.scale)):g}"
            found.append(f"{self.systems[i]} {what} on every item")
        if not found:
            return []
        more = f", and {len(found) - 3} more systems are as constant" * (len(found) > 3)
        return [
            f"{'; '.join(found[:3])}{more}: check that this is what a system scored, and not a "
            "reference or a column that was filled in."
        ]

    def letters(self) -> dict[str, str]:
        """A letter for each of `groups` that a system is in; of more than three first and last.

        Systems that share a letter are not significantly different: the compact letter display.
        """

        def letter(number: int) -> str:
            return (letter(number // 26 - 1) if number > 25 else "") + chr(97 + number % 26)

        own: dict[str, list[str]] = {}
        for number, group in enumerate(self.groups()):
            for system in group:
                own.setdefault(system, []).append(letter(number))
        few = {name for name, x in own.items() if len(x) < 4 and len(x[-1]) == 1}
        return {name: "".join(x) if name in few else f"{x[0]}-{x[-1]}" for name, x in own.items()}

    def cells(self) -> list[dict[str, str]]:
        """`standings` as text: one string for each heading, "" if there is nothing to show."""
        alike = {} if self.baseline else self.letters()
        interval, found = f"{100 * (1 - self.alpha):.6g}% interval", []
        ranks = {} if self.baseline else dict(zip(self.systems, self.rank_texts(), strict=True))
        for row in self.standings():
            itself = isnan(row["low"])

            def text(key: str, form: str, row: Any = row, itself: bool = itself) -> str:
                return "" if itself or key not in row else format(row[key], form)

            cells = {"system": row["system"], self.metric: f"{row['value']:.6g}"}
            if "value_low" in row:
                own = f"{interval} of the {self.metric}"
                cells[own] = _span(row["value_low"], row["value_high"])
            if self.baseline is None:
                cells = {"rank": str(row["rank"])} | cells
                if self.bounds_ranks:
                    cells["possible ranks"] = ranks[row["system"]]
                cells["alike"] = alike.get(row["system"], "")
                cells["tied"] = "yes" * row["tied_with_best"]
            cells[f"minus {self.baseline or 'the best'}"] = text(
                "difference", "+.4g" if row.get("difference") else "z.4g"
            )
            cells[interval] = "" if itself else _span(row["low"], row["high"])
            cells["p"], cells["adjusted p"] = text("pvalue", ".3g"), text("adjusted", ".3g")
            if self.baseline is None:
                cells["p before"] = text("pvalue_before", ".3g")
                cells["adjusted before"] = text("adjusted_before", ".3g")
            else:
                cells["differs"] = "" if itself else "yes" if row["differs"] else "no"
            sizes = _sizes(row["separating_low"], row["separating_high"])
            cells[f"{self.unit} to separate"] = "" if itself else sizes
            cells["same"] = text("same", ".1%")
            if "both_right" in row:
                cells["both right"] = text("both_right", ".1%")
            found.append(cells)
        return found

    def _repr_html_(self) -> str:
        rows = self.cells()
        parts = [grid([*rows[0]], [[*row.values()] for row in rows[:SHOWN]], self.sentence())]
        parts += map(said, self.remarks())
        if len(rows) > SHOWN:
            parts.append(said(f"{len(rows) - SHOWN} more systems are in ranking()."))
        return together(*parts)


def _span(low: float, high: float) -> str:
    """An interval as text."""
    forms = {(True, True): "{:z.4g} to {:z.4g}", (False, False): "any value"}
    forms |= {(True, False): "{:z.4g} or more", (False, True): "{1:z.4g} or less"}
    return forms[isfinite(low), isfinite(high)].format(low, high)


def _sizes(few: float, many: float) -> str:
    """Numbers of units as text, NaN where the sign of a difference is not known."""
    if isnan(few):
        return "sign unknown"
    if few == many < inf:
        return f"{few:,.0f}"
    return f"{few:,.0f} to {many:,.0f}" if isfinite(many) else f"{few:,.0f} or more"


def compare_many(
    table: Any,
    *,
    statistic: str | Statistic | None = None,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    alternative: str = "two-sided",
    clusters: Any = None,
    correction: str = "holm",
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
        of counts. Or what `permtest.read_many` returns.
    statistic : str or Statistic, optional
        As in `exact_perm_test`. Default: "mean", or that of the ScoreTable.
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
    processors, or, within ``joblib.parallel_config(...)``, by the workers of that backend; results
    do not depend on their number.

    Examples
    --------
    >>> from permtest import compare_many
    >>> board = compare_many({
    ...     "old": [2, 3, 4, 3, 1, 0, 2, 3], "new": [3, 5, 4, 6, 2, 2, 3, 5],
    ...     "copy": [2, 3, 4, 3, 1, 0, 2, 3]})
    >>> board.pvalue.tolist(), board.adjusted.tolist()
    ([0.015625, 1.0, 0.015625], [0.046875, 1.0, 0.046875])
    >>> print(board.sentence())
    new leads alone. 2 of 3 pairs differ at a level of 0.05 (Holm), over 8 items.
    """
    correction = correction.replace("-", "_") if isinstance(correction, str) else correction
    check_correction(correction)
    check_level(alpha)
    check_count(K, "K", most=MOST_TESTS, why="fewer draws give p precisely enough")
    check_alternative(alternative)
    if baseline is None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} needs to know which system of a pair should be "
            "better; name a baseline, or leave alternative out"
        )
    some = table_of(table, statistic=statistic, systems=systems, clusters=clusters)
    score = Score() if some.score.basis == "assumed" else some.score
    some = replace(some, score=score.stated(None if ascending is None else not ascending))
    baseline = None if baseline is None else str(baseline)
    first, second = _pairings(some.systems, baseline)
    exact, pairs = some.exact_values, zip(first.tolist(), second.tolist(), strict=True)
    board = Leaderboard(
        systems=some.systems,
        values=np.array([float(x) for x in exact]),
        first=first,
        second=second,
        statistic=np.array([float(exact[i] - exact[j]) for i, j in pairs]),
        **cast("dict[str, Any]", dict.fromkeys(RowTests._fields, np.ones(first.size))),
        adjusted=np.ones(first.size),
        n=some.n_items,
        metric=some.statistic.name,
        alternative=alternative,
        correction="none",
        alpha=float(alpha),
        baseline=baseline,
        ascending=not some.compared.higher_is_better,
        K=K,
        seed=int(as_generator(rng).integers(2**63)),
        sampled=False,
        _table=some,
    )
    return replace(board, **_solve(board)._asdict()).corrected(correction)


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


def _solve(board: Leaderboard) -> RowTests:
    """The tests of all pairs, of shape (P,)."""
    table = replace(board._table.folded, ids=None, source={})  # what workers need
    scores, sums = table.scores, not table.statistic.columns
    counted = sums and scores.dtype == np.int64 and table.rounding is None
    # The blocks do not depend on who computes them. They are smaller where a pair takes longer.
    step = FEW if sums else LEAST
    if counted and np.ptp(scores, axis=0).max() < TABLE:
        step = max(min(SCORES // scores.shape[1], MOST), LEAST)
    pairs = board.first, board.second
    alone = partial(_test_number, table, *pairs, board.alternative, board._seed)
    how: dict[str, Any] = {"alternative": board.alternative, "alone": alone, "step": step}
    return compare_rows(scores if counted else None, *pairs, **how)


def _test(
    table: ScoreTable, i: int, j: int, alternative: str, seed: list[int]
) -> PermutationTestResult:
    how: dict[str, Any] = {"alternative": alternative, "rng": np.random.default_rng(seed)}
    pairs, statistic = table.pairs(i, j), table.statistic
    found: PermutationTestResult = exact_perm_test(pairs, statistic=statistic, **how)
    return found


def _test_number(
    table: ScoreTable, first: Ints, second: Ints, alternative: str, seed: list[int], pair: int
) -> PermutationTestResult:
    return _test(table, int(first[pair]), int(second[pair]), alternative, [*seed, pair])
