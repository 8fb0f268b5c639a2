"""Which column says what an item is, where none is called an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from permtest.readers.shape import Sheet

#: A table, and its rows of one system.
Part: TypeAlias = "tuple[Sheet, Sequence[int]]"


def keyed(parts: Sequence[Part]) -> list[Part]:
    """The same with a column as ids that differs in every row and is the same in all parts.

    Raises ReadError where several columns pair the items differently, where one nearly does, and
    where some parts have such a column and others have nothing like it.
    """
    head = parts[0][0]
    known = any(sheet.ids or sheet.table.index is not None for sheet, _ in parts)
    bare = any(sheet.table.names is None for sheet, _ in parts)
    if known or bare or head.how.id is False:
        return list(parts)
    columns = [
        {
            i: [sheet.texts(i)[row] for row in rows]
            for i in range(sheet.width)
            if sheet.may_be_key(i)
        }
        for sheet, rows in parts
    ]
    values = [{i: frozenset(c) for i, c in own.items()} for own in columns]
    unique = [
        {i: some for i, some in own.items() if len(some) == len(columns[k][i])}
        for k, own in enumerate(values)
    ]
    sheets = [sheet for sheet, _ in parts]
    found = [used for i in unique[0] if (used := _same_values(i, sheets, unique)) is not None]
    if not found:
        _check_no_key(sheets, values, unique)
        for own, (sheet, _) in zip(unique, parts, strict=True):
            texts = [i for i in own if i not in sheet.numeric]
            if texts and not all(columns):
                problem = (
                    f"{sheet.label(texts[0])} may say which item a line is, but not all files "
                )
                raise sheet.error(f"{problem}have one; pair lines by their order (--by-order)")
        return list(parts)
    _check_agreement(head, columns, found)
    name = head.name(found[0][0])
    where = "for all systems" if len({id(sheet) for sheet, _ in parts}) == 1 else "in all files"
    note = f"items are paired by {name!r}, which differs in every row and is the same {where}"
    return [
        (Sheet(sheet.table, replace(sheet.how, id=i + 1), (*sheet.notes, note), name), rows)
        for (sheet, rows), i in zip(parts, found[0], strict=True)
    ]


def _same_values(
    i: int, sheets: Sequence[Sheet], unique: Sequence[Mapping[int, frozenset[str]]]
) -> list[int] | None:
    """The columns that have the values of the first table's one, of the same name if possible."""
    own, name = unique[0][i], sheets[0].name(i).lower()
    used = [i]
    for sheet, columns in zip(sheets[1:], unique[1:], strict=True):
        same = [k for k, some in columns.items() if some == own]
        if not same:
            return None
        used.append(next((k for k in same if sheet.name(k).lower() == name), same[0]))
    return used


def _check_no_key(
    sheets: Sequence[Sheet],
    values: Sequence[Mapping[int, frozenset[str]]],
    unique: Sequence[Mapping[int, frozenset[str]]],
) -> None:
    """Refuse columns of one name that are nearly a key, before order pairs the items."""
    head = sheets[0]
    for i, own in values[0].items():
        for sheet, some, alone in zip(sheets[1:], values[1:], unique[1:], strict=True):
            k = next((k for k in some if sheet.name(k).lower() == head.name(i).lower()), None)
            if k is None or (i not in unique[0] and k not in alone):
                continue
            shared = len(own & some[k])
            alike = {_rough(x) for x in own} == {_rough(x) for x in some[k]}
            if shared or alike:
                problem = f"{head.label(i)} may say which item a line is: {shared} of {len(own)} "
                problem += f"values are in {sheet.table.file.path} too, some twice or written "
                problem += "differently; make them agree, pair by it all the same "
                raise head.error(f"{problem}(--id {head.name(i)}), or by order (--by-order)")


def _rough(value: str) -> str:
    """A name without its folder, in small letters."""
    return value.replace("\\", "/").rpartition("/")[2].casefold().strip()


def _check_agreement(
    head: Sheet, columns: Sequence[Mapping[int, list[str]]], found: Sequence[Sequence[int]]
) -> None:
    """Refuse several keys that pair the items differently."""
    first, *others = found
    for other in others:
        both = [
            dict(zip(own[i], own[k], strict=True))
            for own, i, k in zip(columns, first, other, strict=True)
        ]
        if any(one != both[0] for one in both[1:]):
            names = f"{head.name(first[0])!r} and {head.name(other[0])!r}"
            problem = f"columns {names} could both say which item a line is, and pair the items "
            raise head.error(f"{problem}differently; choose one (--id)")
