"""Files, before two systems are chosen, and how they become pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from permtest.pairs import Pairs
from permtest.readers.cells import brief, printable, shown
from permtest.readers.files import ReadError
from permtest.readers.matching import NAMED, Match
from permtest.readers.names import (
    check_both,
    count_statistics,
    did_you_mean,
    find_score,
    listed,
    place_of,
    single_statistics,
)
from permtest.readers.scores import Format, SystemScores
from permtest.readers.wide import WideTable
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, lookup

#: What one or several files say, before two systems are chosen.
Evaluation: TypeAlias = "ItemEvaluation | WideTable"

#: The statistics that say which score they are of.
SCORES = ("exact_match", "uas", "las")


@dataclass(frozen=True, eq=False)
class ItemEvaluation:
    """The scores of one or several systems, item by item.

    Parameters
    ----------
    format : Format
    found : tuple of SystemScores
        The names of the systems all differ.
    """

    format: Format
    found: tuple[SystemScores, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, those of the first file first."""
        return tuple(one.system for one in self.found)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Names of what items may belong to."""
        return tuple(dict.fromkeys(name for one in self.found for name in one.clusters))

    def score_names(self, a: str, b: str) -> tuple[str, ...]:
        """Names of the scores that two systems have, in the order of the first."""
        first, second = self._system(a, "a"), self._system(b, "b")
        return tuple(name for name in first.scores if name in second.scores)

    def statistics(self, a: str, b: str, score: str | None = None) -> tuple[str, ...]:
        """What can be tested of two systems, the most fitting first."""
        first, second = self._system(a, "a"), self._system(b, "b")
        name = self._score(first, second, score, None)
        if name in first.counts:
            return count_statistics([first.counts[name]])
        return single_statistics(value for one in (first, second) for value in one.scores[name])

    def text(self, name: str) -> str:
        """What an item is, for people to read; "" where the files do not say."""
        for one in self.found:
            if one.texts is not None and name in one.positions:
                return printable(one.texts[one.positions[name]])
        return ""

    def preview(self, rows: int = 8) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Ids and scores of the first items of the first system."""
        one = self.found[0]
        head = (one.paired_by if one.ids is not None else "item", *one.scores, *one.clusters)
        columns = [*one.scores.values(), *one.clusters.values()]
        body = [
            (one.ids[i] if one.ids is not None else str(i + 1), *(str(c[i]) for c in columns))
            for i in range(min(rows, len(one)))
        ]
        return tuple(map(brief, head)), [tuple(map(brief, cells)) for cells in body]

    def pairs(
        self,
        a: Any = None,
        b: Any = None,
        *,
        score: str | None = None,
        statistic: str | Statistic | CountStatistic = "sum",
        clusters: Any = None,
    ) -> Pairs:
        """Two systems, paired by id, or by order where there are none."""
        first, second = self._two(a, b)
        entry = lookup(statistic)
        name = self._score(first, second, score, entry)
        match = Match.of(first, second, name)
        grouping = self._grouping(first, second, clusters)
        pairs = match.pairs(entry, grouping)
        source = {"loader": self.format.name, **match.source(grouping)}
        return replace(pairs, source=source, score=Score.of(name))

    def in_all(
        self,
        systems: Sequence[Any],
        *,
        score: str | None = None,
        statistic: str | Statistic | CountStatistic = "sum",
    ) -> tuple[Self, dict[str, Any]]:
        """Some systems, and the items that have a score of every one of them.

        Parameters
        ----------
        systems : sequence
            Two or more, by name or number.
        score, statistic
            As in `permtest.read`.

        Returns
        -------
        ItemEvaluation
            Of these systems; all have the same items, in the order of the first.
        dict
            How many items are ``left_out``, with some of them, and how many each system lacks.
        """
        some = [self._system(name, "systems") for name in systems]
        first, *others = some
        names = {self._score(first, one, score, lookup(statistic)) for one in others}
        if len(names) > 1:
            problem = (
                f"not all systems have the same scores ({', '.join(sorted(names))} are shared "
            )
            raise ReadError.at(first.file.path, f"{problem}by some); choose one as score (--score)")
        (name,) = names
        scored = [one.scored(name) for one in some]
        common = set(scored[0]).intersection(*scored[1:])
        alike = {len(one) if one.ids is None else "ids" for one in some}
        if not common or len(alike) > 1:
            for one in others:
                Match.of(first, one, name)  # says of which two it is so
            fewest = some[min(range(len(some)), key=lambda i: len(scored[i]))]
            problem = f"no item has a score of all {len(some)} systems; leave some out"
            raise ReadError.at(fewest.file.path, f"{problem}, such as {fewest.system!r}")
        rows = [[there[key] for key in scored[0] if key in common] for there in scored]
        kept = [one.only(name, chosen) for one, chosen in zip(some, rows, strict=True)]
        return replace(self, found=tuple(kept)), _left_out(some, scored, common)

    # ---- choices

    def _system(self, wanted: Any, option: str) -> SystemScores:
        for one in self.found:
            if one.system == wanted:
                return one
        place = place_of(wanted, len(self.found))
        if place is None:
            problem = f"{option}: no system {wanted!r}{did_you_mean(wanted, self.systems)}"
            raise ReadError.at(self.found[0].file.path, f"{problem}; {self._known()}")
        return self.found[place]

    def _known(self) -> str:
        return f"the systems are {listed([repr(name) for name in self.systems])}"

    def _two(self, a: Any, b: Any) -> tuple[SystemScores, SystemScores]:
        path = self.found[0].file.path
        check_both(path, a, b, "systems", self._known())
        if a is None:
            if len(self.found) != 2:
                number = f"{len(self.found)} system{'s' * (len(self.found) != 1)}"
                remedy = "choose two as a and b" if self.found[2:] else "add the file of another"
                raise ReadError.at(path, f"{number} ({', '.join(self.systems)}); {remedy}")
            return self.found[0], self.found[1]
        first, second = self._system(a, "a"), self._system(b, "b")
        if first is second:
            raise ReadError.at(path, f"a and b are both {first.system!r}; {self._known()}")
        return first, second

    def _score(
        self,
        a: SystemScores,
        b: SystemScores,
        wanted: str | None,
        entry: Statistic | CountStatistic | None,
    ) -> str:
        names = [name for name in a.scores if name in b.scores]
        if not names:
            both = (f"{', '.join(one.scores)} of {one.system!r}" for one in (a, b))
            problem = f"no score in common: {' and '.join(both)}; score both alike"
            raise ReadError.at(b.file.path, problem)
        meant = entry.name if entry is not None else names[0]
        if wanted is None and self.format.names_scores and meant in SCORES:
            wanted = meant
        if wanted is None and entry is not None:
            names = _of_kind(entry, names, a) or names
        if wanted is None and len(whole := _whole(names)) == 1:
            return whole[0]
        if wanted is None and meant in ("sum", "mean"):  # which say nothing of a score
            meant = ""
        chosen = find_score(meant if wanted is None else wanted, names)
        if chosen is not None:
            return chosen
        if wanted is None:
            choice = ", ".join(map(shown, names))
            problem = f"{len(names)} scores ({choice}); choose one as score (--score)"
        else:
            problem = f"no score {wanted!r}{did_you_mean(wanted, names)}; there are "
            problem += "; ".join([", ".join(names), *dict.fromkeys(a.notes + b.notes)])
        raise ReadError.at(a.file.path, problem)

    def _grouping(self, a: SystemScores, b: SystemScores, wanted: Any) -> str | None:
        """The grouping whose groups are swapped as a whole, if any."""
        if wanted is False:
            return None
        name = wanted if wanted is not None else a.swapped or b.swapped
        if name is None or (name in a.clusters and name in b.clusters):
            return None if name is None else str(name)
        known = [name for name in a.clusters if name in b.clusters]
        there = f"there are {', '.join(known)}" if known else "these files have no groups"
        raise ReadError.at(a.file.path, f"clusters: no {name!r} of both systems; {there}")


def _left_out(
    some: Sequence[SystemScores], scored: Sequence[dict[Any, int]], common: set[Any]
) -> dict[str, Any]:
    """The items that some systems lack, or have no score of, and which systems these are."""
    every = dict.fromkeys(key for one in some for key in one.keys)
    names = [
        key if isinstance(key, str) else some[0].place(key) for key in every if key not in common
    ]
    lacking = {one.system: len(every) - len(own) for one, own in zip(some, scored, strict=True)}
    return {
        "left_out": len(names),
        "left_out_ids": names[:NAMED],
        "lacking": {name: number for name, number in lacking.items() if number},
    }


def _whole(names: list[str]) -> list[str]:
    """Without those that are parts of others, as "spans.PER" is of "spans"."""
    return [name for name in names if name.rpartition(".")[0] not in names]


def _of_kind(
    entry: Statistic | CountStatistic, names: list[str], system: SystemScores
) -> list[str]:
    """The scores that a statistic could be of: those with counts, or those without."""
    counts = isinstance(entry, CountStatistic)
    return [name for name in names if (name in system.counts) == counts]
