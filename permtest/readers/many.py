"""Files of many systems as one table: the items that all of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from permtest._integers import IntArray, with_room
from permtest.pairs import Pairs
from permtest.readers.cells import shown
from permtest.readers.dispatch import Source, recognise
from permtest.readers.evaluation import Evaluation, ItemEvaluation
from permtest.readers.files import check_memory
from permtest.readers.matching import NAMED, sentences, some
from permtest.readers.ranked_columns import chosen_systems
from permtest.readers.wide import WideTable
from permtest.score import Score
from permtest.statistics import CountStatistic, Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import ScoreTable


def read_many(
    *paths: Source,
    systems: Sequence[str | int] | None = None,
    gold: Source | None = None,
    score: str | None = None,
    statistic: str | Statistic | CountStatistic = "mean",
    clusters: str | int | bool | None = None,
    strata: str | int | None = None,
    higher_is_better: bool | None = None,
) -> ScoreTable:
    r"""Read the scores, or the counts, of many systems on the items of one data set.

    The formats are those of `read`, and so are the ways in which items are paired. Several data
    sets are several calls: ``compare_many({"news": read_many(...), "web": read_many(...)})``.

    Parameters
    ----------
    *paths : str, path-like or data frame
        A file of all systems, or files of one system or several each, of one format; or the
        folders that a harness wrote.
    systems : sequence of str or int, optional
        Two systems or more, by name or number, in the order wanted. Default: all; of a table with
        columns for systems all columns of numbers, but those that are called like an id, a group
        of items, a repetition (``epoch``, ``seed``), or the size of an item (``n_tokens``).
    gold, score
        As in `read`.
    statistic : str, or what `statistic` returns, default "mean"
        What the scores are for, as in `compare_many`.
    clusters : str or int, optional
        As in `read`; by default those that have to be swapped as a whole. False: none. In a table
        whose lines repeat items, the column of their ids: then items have no ids of their own.
    strata : str or int, optional
        Groups of items that count alike, however many items they have, named as `clusters` are.
    higher_is_better : bool, optional
        As in `read`.

    Returns
    -------
    ScoreTable
        The items that have a score of every system, in the order of the first. Its ``source``
        has the files with their ``sha256``, how many items are ``matched``, how many are
        ``left_out`` since they are not (``left_out_ids`` are the first of them), how many each
        system is ``lacking``, all columns that were taken to be ``no_systems``, ``notes`` of what
        the reader did, and all of that as a sentence, ``read``.

    Raises
    ------
    ReadError, ValueError, ImportError
        As for `read`; also where there are fewer than two systems, where most cells of a column
        are numbers, but not all, and it is not said which columns are systems, and where columns
        hold the counts of nobody (``tp``, ``fp``).

    Notes
    -----
    Every system is paired with the first, so that whatever `read` refuses is refused here. Takes
    some microseconds for each score: 100 systems on 10 000 items in a few seconds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("item,n_words,old,new,base\ns1,7,3,4,1\ns2,9,5,5,2\n")
    ...     table = read_many(path)
    >>> table.systems, table.scores.tolist(), table.ids
    (('old', 'new', 'base'), [[3, 5], [4, 5], [1, 2]], ('s1', 's2'))
    >>> print(table.source["read"])
    a table: 2 items of 3 systems, paired by row. Columns taken for no systems: item, n_words.
    """
    entry = lookup(statistic)  # asked before a file is opened
    evaluation = recognise(*paths, gold=gold)
    how: dict[str, Any] = {"score": score, "statistic": entry, "clusters": clusters}
    table = table_of(evaluation, systems=systems, strata=strata, **how)
    return replace(table, score=table.score.stated(higher_is_better))


def table_of(
    evaluation: Evaluation,
    *,
    systems: Sequence[str | int] | None = None,
    score: str | None = None,
    statistic: str | Statistic | CountStatistic = "mean",
    clusters: str | int | bool | None = None,
    strata: str | int | None = None,
) -> ScoreTable:
    """Put the scores of many systems together.

    Parameters
    ----------
    evaluation : Evaluation
        What `recognise` returns.
    systems, score, statistic, clusters, strata
        As in `read_many`.

    Returns
    -------
    ScoreTable
    """
    from permtest.many.table import ScoreTable  # more than two systems have to load

    entry = lookup(statistic)
    wanted, others = chosen_systems(evaluation, systems, entry, (clusters, strata))
    facts: dict[str, Any] = {"left_out": 0, "left_out_ids": [], "lacking": {}}
    if isinstance(evaluation, ItemEvaluation):
        evaluation, facts = evaluation.in_all(wanted, score=score, statistic=entry)
        wanted = evaluation.systems
    how: dict[str, Any] = {"score": score, "statistic": entry}
    pairs = _with_first(evaluation, wanted, clusters, how)
    names = _names(wanted, pairs)
    labels = pairs[0].clusters
    facts |= {"strata": strata, "no_systems": others}
    facts["n_clusters"] = None if labels is None else len(set(labels))
    source = _source(pairs, names, facts)
    source["read"] = _describe(source, evaluation.format.title, len(names))
    scores, scale = _stacked(pairs)
    off = _rounding(pairs)
    reading = "; ".join(dict.fromkeys(one.reading for one in pairs if one.reading))
    kinds = {one.score for one in pairs}
    own = kinds.pop() if len(kinds) == 1 else Score()
    table = ScoreTable(names, scores, entry, scale, labels, pairs[0].ids, source, off, reading, own)
    if strata is None:
        return table
    if isinstance(evaluation, WideTable):  # all pairs have the same labels
        return table.stratified(evaluation.grouped(pairs[0], strata).clusters)
    return table.stratified(_with_first(evaluation, wanted, strata, how)[0].clusters)


def _with_first(
    evaluation: Evaluation, systems: Sequence[Any], clusters: Any, how: dict[str, Any]
) -> list[Pairs]:
    """The first system beside each of the others."""
    first, *others = systems
    found: list[Pairs] = []
    for other in others:
        pairs = evaluation.pairs(first, other, clusters=clusters, **how)
        grouping = pairs.source.get("clusters")
        if found and clusters is None and grouping is not None and found[0].clusters is None:
            return _with_first(evaluation, systems, grouping, how)  # only some have epochs
        check_memory("all systems together", 3 * len(systems) * pairs.u.nbytes)
        found.append(pairs)
    return found


def _names(systems: Sequence[Any], pairs: Sequence[Pairs]) -> tuple[str, ...]:
    """What the systems are called: as they were asked for, where their columns have no names."""
    names = [pairs[0].names[0], *(one.names[1] for one in pairs)]
    columns = [pairs[0].source.get("columns"), *(one.source.get("columns") for one in pairs)]
    used = [str(both[i > 0]) if both else names[i] for i, both in enumerate(columns)]
    for i, one in enumerate(used):
        if one in used[:i]:
            raise ValueError(f"systems[{i}] = {systems[i]!r} is there before; list it once")
    return tuple(names if len(set(names)) == len(names) else map(str, systems))


# ---- scores --------------------------------------------------------------------------------------


def _stacked(pairs: Sequence[Pairs]) -> tuple[IntArray, int]:
    """The scores of all systems as integers, and what to divide them by."""
    if pairs[0].columns:
        return _counts(pairs), 1
    every = [(pairs[0].u, pairs[0].scale), *((one.v, one.scale) for one in pairs)]
    scale = lcm(*(own for _, own in every))
    scores = np.stack([with_room(x, scale // own) * (scale // own) for x, own in every])
    shared = gcd(scale, int(np.gcd.reduce(scores.ravel())))
    return scores // shared, scale // shared


def _rounding(pairs: Sequence[Pairs]) -> NDArray[np.float64] | None:
    """By how much each score of each system may be off, in scores."""
    if all(one.rounding is None for one in pairs):
        return None
    none = np.zeros((2, len(pairs[0])))
    both = [none if one.rounding is None else one.rounding for one in pairs]
    return np.stack([np.max([first for first, _ in both], axis=0), *(second for _, second in both)])


def _counts(pairs: Sequence[Pairs]) -> IntArray:
    """The counts of all systems; of classes those that occur in any pair, and 0 elsewhere."""
    head = pairs[0]
    for one in pairs:
        if one.columns != head.columns:
            said = [f"{', '.join(x.columns)} (beside {x.names[1]!r})" for x in (head, one)]
            problem = f"{head.names[0]!r} has {' and '.join(said)}"
            raise ValueError(f"{problem}; all systems need the same counts")
    if "classes" not in head.source:
        return np.stack([head.u, *(one.v for one in pairs)])
    classes = sorted({name for one in pairs for name in one.source["classes"]})
    check_memory("all systems together", 24 * len(classes) * len(head) * (len(pairs) + 1))
    scores = np.zeros((len(pairs) + 1, len(head), len(classes), len(head.columns)), dtype=np.int64)
    for i, one in enumerate([head, *pairs]):
        where = [classes.index(name) for name in one.source["classes"]]
        scores[i][:, where] = one.v if i else one.u
    return scores


# ---- where they come from ------------------------------------------------------------------------


def _source(pairs: Sequence[Pairs], names: Sequence[str], facts: dict[str, Any]) -> dict[str, Any]:
    """Where the scores come from, and what was left out."""
    sources = [pairs[0].source, *(one.source for one in pairs)]
    files: dict[tuple[str, str], list[str]] = {}
    for i, (name, one) in enumerate(zip(names, sources, strict=True)):
        file = one["files"][i > 0] if "files" in one else one
        files.setdefault((file["file"], file["sha256"]), []).append(name)
    notes = list(dict.fromkeys(note for one in sources for note in one["notes"]))
    more = [f"{len(notes) - NAMED} more notes are left out here"] if len(notes) > NAMED else []
    first = sources[0]
    return {
        "loader": first["loader"],
        "files": [{"file": k[0], "sha256": k[1], "systems": own} for k, own in files.items()],
        **{key: first.get(key) for key in ("gold", "score", "clusters")},
        "paired_by": first["paired_by"],
        "matched": len(pairs[0]),
        **facts,
        "notes": [*notes[:NAMED], *more],
    }


def _describe(source: Mapping[str, Any], title: str, systems: int) -> str:
    """What was read, in a sentence or some."""
    number, left_out, lacking = source["matched"], source["left_out"], source["lacking"]
    items = f"{number} item{'s' * (number != 1)}"
    few = "most items are left out, so that this is a part of the data; " * (number < left_out)
    text = f"{few}{title}: {items} of {systems} systems, paired by {source['paired_by']}"
    if left_out:
        which = ", ".join(f"{name} {count}" for name, count in list(lacking.items())[:NAMED])
        more = f" and {len(lacking) - NAMED} more systems some" if len(lacking) > NAMED else ""
        text += f"; {left_out} left out ({some(source['left_out_ids'], left_out)}), of which "
        text += f"systems lack the score: {which}{more}"
    clusters = source["n_clusters"]
    swapped = f"swapped together ({clusters} cluster{'s' * (clusters != 1)})"
    for key, what in (("clusters", swapped), ("strata", "averaged first")):
        if source[key] is not None:
            text += f"; items of one {shown(str(source[key]))} are {what}"
    columns = ", ".join(source["no_systems"])
    notes = [f"columns taken for no systems: {columns}"] if columns else []
    return sentences(text, [*notes, *source["notes"]])
