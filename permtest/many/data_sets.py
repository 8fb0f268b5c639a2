"""The tables of one or several data sets, all of the same systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from permtest.many.table import ScoreTable
from permtest.statistics import CountStatistic, lookup


def tables_of(table: Any, *, statistic: Any, **options: Any) -> dict[str, ScoreTable]:
    """The table of each data set; "" is the name of one that comes without.

    Parameters
    ----------
    table, statistic, **options
        As in `compare_many`; `options` are systems, clusters and strata.

    Returns
    -------
    dict of str to ScoreTable

    Raises
    ------
    TypeError, ValueError
        If a table is none, or data sets do not go together.
    """
    columns = _columns_of(statistic)

    def is_table(value: Any) -> bool:
        return _is_table(value) and not _is_counts(value, columns)

    several = isinstance(table, Mapping) and any(map(is_table, table.values()))
    if not several:
        if any(isinstance(labels, Mapping) for labels in options.values()):
            raise TypeError("clusters and strata are mappings, but there is one data set only")
        return {"": _table(table, statistic, options, "table")}
    names = [str(name) for name in table]
    if len(set(names)) != len(names):
        raise ValueError(f"data sets have the same name: {', '.join(names)}; names must differ")
    for key in ("clusters", "strata"):
        labels = options[key]
        if isinstance(labels, Mapping) and set(labels) != set(table):
            raise ValueError(
                f"{key} is for the data sets {', '.join(map(str, labels))}, but there are "
                f"{', '.join(names)}; give labels for each, and for no others"
            )
    found = {}
    for name, one in table.items():
        if not is_table(one):
            raise TypeError(
                f"table[{name!r}] must be a table, as others are, not {type(one).__name__}"
            )
        own = {
            key: value[name] if isinstance(value, Mapping) else value
            for key, value in options.items()
        }
        found[str(name)] = _table(one, statistic, own, f"table[{name!r}]")
    _check_alike(found)
    return found


def _table(table: Any, statistic: Any, options: dict[str, Any], name: str) -> ScoreTable:
    if not isinstance(table, ScoreTable):
        return ScoreTable.of(table, statistic=statistic or "mean", name=name, **options)
    given = [key for key, value in options.items() if value is not None]
    if statistic is not None and repr(lookup(statistic)) != repr(table.statistic):
        given.append("statistic")
    if given:
        raise ValueError(
            f"{name} is a ScoreTable, which has {' and '.join(given)} of its own; leave them out, "
            "or give them when the table is made"
        )
    return table


def _check_alike(tables: Mapping[str, ScoreTable]) -> None:
    """Raise ValueError unless systems and statistics are the same."""
    first, head = next(iter(tables.items()))
    for name, one in tables.items():
        if one.systems != head.systems:
            raise ValueError(
                f"data set {name!r} has the systems {', '.join(one.systems)}, but {first!r} "
                f"{', '.join(head.systems)}; all data sets need the same systems in the same "
                "order: choose them with systems=[...]"
            )
        if repr(one.statistic) != repr(head.statistic):
            raise ValueError(
                f"data set {name!r} is compared by {one.statistic.name!r}, but {first!r} by "
                f"{head.statistic.name!r} or a variant of it; make all tables with one statistic"
            )


def _columns_of(statistic: Any) -> list[set[str]]:
    """The sets of counts that a statistic takes; none for single scores."""
    entry = None if statistic is None else lookup(statistic)
    measures = entry.measures if isinstance(entry, CountStatistic) else ()
    return [set(measure.columns) for measure in measures]


def _is_counts(value: Any, columns: list[set[str]]) -> bool:
    """Whether a frame has the counts of one system, and is no data set of several."""
    if not hasattr(value, "columns") and not isinstance(value, Mapping):
        return False
    names = {str(x).lower() for x in (value.columns if hasattr(value, "columns") else value)}
    return any(wanted <= names for wanted in columns)


def _is_table(value: Any) -> bool:
    """Whether it is the table of a data set, and not the column of a system."""
    frame = hasattr(value, "columns") and getattr(value, "ndim", 2) == 2
    return frame or isinstance(value, ScoreTable | Mapping)
