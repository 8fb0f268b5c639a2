"""The columns of a table: a data frame, or a mapping of names to scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from permtest._arrays import is_unordered, plain_array
from permtest.pairs import check_aligned


def columns_of(
    table: Any, systems: Sequence[str] | None, besides: Sequence[str], name: str
) -> dict[str, Any]:
    """The columns of the systems by their names."""
    if not hasattr(table, "keys") and not hasattr(table, "columns"):
        raise TypeError(
            f"{name} must be a data frame with a column for each system, or a mapping of names to "
            f"scores, not {type(table).__name__}"
        )
    there = list(table.columns if hasattr(table, "columns") else table.keys())
    if isinstance(systems, str):
        raise TypeError(f"systems={systems!r} must be a list of names")
    chosen = [x for x in there if x not in besides] if systems is None else list(systems)
    for wanted in chosen:
        if wanted not in there:
            raise ValueError(
                f"{name} has no system {wanted!r}; it has {', '.join(map(str, there))}"
            )
    if len(set(map(str, chosen))) != len(chosen) or len(set(there)) != len(there):
        raise ValueError(f"{name} has several systems of one name; names must differ")
    if len(chosen) < 2:
        raise ValueError(f"{name} has {len(chosen)} system(s), but a comparison needs two or more")
    columns = {str(x): _listed(table[x], at(name, str(x))) for x in chosen}
    first, head = next(iter(columns.items()))
    for label, column in columns.items():
        check_aligned(head, column, (at(name, first), at(name, label)))
        if len(column) != len(head):
            raise ValueError(
                f"{at(name, label)} has {len(column)} scores and {at(name, first)} {len(head)}: "
                "all systems need scores on the same items in the same order; align them first"
            )
    return columns


def labels_of(table: Any, labels: Any, key: str, name: str, head: tuple[str, Any]) -> Any:
    """Labels that were given, or the column of that name; their rows are those of the scores."""
    if isinstance(labels, str):
        there = list(table.columns if hasattr(table, "columns") else table.keys())
        if labels not in there:
            listed = ", ".join(map(str, there))
            raise ValueError(f"{key}={labels!r} is no column of {name}; it has {listed}")
        labels = table[labels]
    if isinstance(labels, Mapping):
        raise TypeError(f"{key} must be one label for each item, or a column, not a mapping")
    check_aligned(head[1], labels, (at(name, head[0]), key))
    return labels


def _listed(column: Any, label: str) -> Any:
    """What has entries that can be counted."""
    single = getattr(column, "ndim", 1) == 0 or is_unordered(column)
    if single and not isinstance(column, Mapping):
        raise TypeError(f"{label} must be a column of scores, not {type(column).__name__}")
    return column if hasattr(column, "__len__") else list(column)


def flat(column: Any, label: str) -> Any:
    """A column that could be scores."""
    array = plain_array(column, label) if hasattr(column, "dtype") else column
    if getattr(array, "ndim", 1) > 1:
        raise ValueError(
            f"{label} has shape {array.shape}, but the statistic takes one score for each item; "
            "for counts choose statistic='f1' or another of STATISTICS"
        )
    if hasattr(array, "dtype") and len(array) and _is_text(array):
        raise TypeError(
            f"{label}[0] = {array[0]!r} is no score; name the columns that are systems: "
            "systems=[...]"
        )
    return array


def _is_text(array: Any) -> bool:
    """Whether it holds text or dates."""
    return array.dtype.kind in "USMm" or isinstance(array[0], str)


def is_single(column: Any) -> bool:
    """Whether there is one number for each item."""
    if hasattr(column, "columns") or isinstance(column, Mapping):
        return False
    try:
        return np.ndim(column) == 1
    except ValueError:  # rows that differ in length
        return False


def at(name: str, system: str) -> str:
    """How messages call the scores of a system."""
    return f"{name}[{system!r}]"
