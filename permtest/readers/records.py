"""JSON objects, one for each item, or lists, one for each column: tables in another form."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain, repeat
from typing import Any, TypeAlias

from permtest.readers.cells import (
    MAX_DIGITS,
    Digits,
    TwiceCell,
    as_decimal,
    exponent,
    printable,
    shown,
    twice,
)
from permtest.readers.files import (
    DEEP,
    File,
    ReadError,
    Twice,
    check_json,
    check_memory,
    unique,
)
from permtest.readers.scores import Format
from permtest.readers.table import Record, Table

#: The keys that lead to a value.
Keys: TypeAlias = "tuple[str, ...]"

#: How many objects may be in each other, and characters of a name.
DEPTH, LONGEST = 8, 1000

#: What the place of a cell needs, in bytes.
PER_CELL = 8

BLANK = re.compile(r"[ \t\r\n]*")

REMEDY = (
    "write a list of objects, or an object a line, each of one item: in pandas "
    "frame.to_json(path, orient='records')"
)


def recognises(file: File) -> bool:
    """Whether the file is JSON."""
    return file.is_json


FORMAT = Format(
    name="records",
    title="JSON records",
    rows="an object with a name for each column; or lists, one for each column, in an object",
    pairs_on="row; id where each system has records of its own",
    example="permtest compare results.jsonl --a new --b old",
    recognises=recognises,
)


def table_of(file: File) -> Table:
    """The records of a JSON file as lines of cells.

    Parameters
    ----------
    file : File

    Returns
    -------
    Table
        Objects in objects become columns with dots in their names; lists are cells of text. Where
        the columns of numbers all end alike behind a dot, that is left out.

    Raises
    ------
    ReadError
        If it is no JSON, or no records.
    """
    check_json(file.path, file.data)
    values = _values(file)
    first, second = next(values, None), next(values, None)
    if first is None:
        raise ReadError.at(file.path, "holds no record; an item must be one")
    start = file.text.lstrip()[0]
    try:
        if start == "{" and second is None and isinstance(first[1], dict):
            return _of_document(file, first[1])
        found = chain([first], () if second is None else [second], values)
        return (_by_name if isinstance(first[1], dict) else _by_order)(file, found)
    except RecursionError:
        raise ReadError.at(file.path, DEEP) from None


def _of_document(file: File, document: dict[str, Any]) -> Table:
    """The records in one object: a list of objects, or a list for each column."""
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    objects = [x for x in lists.values() if x and all(isinstance(item, dict) for item in x)]
    if len(objects) == 1:
        return _by_name(file, ((0, record) for record in objects[0]))
    for name, value in document.items():
        if isinstance(value, Twice):
            raise ReadError.at(file.path, twice(name))
    if objects or not any(lists.values()):
        raise ReadError.at(file.path, f"one object, but not of a list for each column; {REMEDY}")
    if len({len(value) for value in lists.values()}) > 1:
        said = ", ".join(f"{shown(name)} {len(lists[name])}" for name in list(lists)[:10])
        problem = f"columns of different lengths ({said}); an item must have a value in each"
        raise ReadError.at(file.path, problem)
    size = len(next(iter(lists.values())))
    same = {name: x for name, x in document.items() if not isinstance(x, list | dict)}
    check_memory(file.path, PER_CELL * len(same) * size)
    columns: list[Iterable[str]] = [map(cell_of, value) for value in lists.values()]
    columns += [repeat(cell_of(value), size) for value in same.values()]
    rows = [Record(i, list(cells)) for i, cells in enumerate(zip(*columns, strict=True), 1)]
    header = [printable(name) for name in (*lists, *same)]
    return Table(file, "", header, rows, FORMAT.name, "record")


def _by_name(file: File, values: Iterable[tuple[int, Any]]) -> Table:
    """Records with names."""
    columns: dict[Keys, int] = {}
    lines: list[int] = []
    flat: list[dict[int, str]] = []
    for number, (line, record) in enumerate(values, 1):
        lines.append(line)
        flat.append({})
        try:
            _flatten(record, (), columns, flat[-1])
        except ValueError as error:
            raise ReadError.at(file.path, str(error), column=f"record {number}") from None
    check_memory(file.path, PER_CELL * len(columns) * len(flat))
    rows = [Record(line, [""] * len(columns)) for line in lines]
    for row in reversed(rows):
        for column, cell in flat.pop().items():
            row.cells[column] = cell
    header = [".".join(keys) for keys in columns]
    for name, count in Counter(header).items():
        if count > 1:
            problem = f"{shown(name)} is one name, and also one in another; rename one of them"
            raise ReadError.at(file.path, problem)
    table = _numbered(Table(file, "", header, rows, FORMAT.name))
    return replace(table, header=_shortened(table, list(columns)))


def _by_order(file: File, values: Iterable[tuple[int, Any]]) -> Table:
    """Numbers, or lists of the same length."""
    rows: list[Record] = []
    for number, (line, value) in enumerate(values, 1):
        cells = [cell_of(x) for x in (value if isinstance(value, list) else [value])]
        rows.append(Record(line, cells))
        if isinstance(value, dict) or len(cells) != len(rows[0].cells) or not cells:
            problem = f"{shown(cell_of(value))} is not of the same kind as the first; {REMEDY}"
            raise ReadError.at(file.path, problem, column=f"record {number}")
    return _numbered(Table(file, "", None, rows, FORMAT.name))


def _numbered(table: Table) -> Table:
    """Records called by their lines if each has one of its own, else by their numbers."""
    if len({row.line for row in table.rows}) == len(table.rows) and table.rows[0].line:
        return table
    rows = [Record(number, row.cells) for number, row in enumerate(table.rows, 1)]
    return replace(table, rows=rows, unit="record")


def _flatten(value: Any, keys: Keys, columns: dict[Keys, int], cells: dict[int, str]) -> None:
    """Put the values of an object, and of those in it, into cells by the keys that lead there."""
    if not isinstance(value, dict) or len(keys) == DEPTH:
        if not keys:
            raise ValueError(f"{shown(cell_of(value))} instead of an object; {REMEDY}")
        cells[columns.setdefault(keys, len(columns))] = cell_of(value)
        return
    for key, inner in value.items():
        if sum(map(len, keys)) + len(key) > LONGEST:
            raise ValueError(f"{shown(key)} is a name of too many characters; shorten it")
        _flatten(inner, (*keys, printable(key)), columns, cells)


def _shortened(table: Table, paths: Sequence[Keys]) -> list[str]:
    """The names of columns, without the last key that all numbers in objects have."""
    header = [".".join(keys) for keys in paths]
    inner = [i for i in table.numeric if i != table.ids and len(paths[i]) > 1]
    if len(inner) < 2 or len({paths[i][-1] for i in inner}) > 1:
        return header
    short = [".".join(keys[: -1 if i in inner else None]) for i, keys in enumerate(paths)]
    return short if len(set(short)) == len(short) else header


# ---- values ------------------------------------------------------------------------------------


def cell_of(value: Any) -> str:
    """A value as the text of a cell: numbers with all their digits, nothing where it is missing.

    Parameters
    ----------
    value : object
        Of JSON, or of a data frame.

    Returns
    -------
    str

    Examples
    --------
    >>> [cell_of(value) for value in (True, 0.1, 1e-7, 1e22, float("nan"), None, [1, "x"])]
    ['true', '0.1', '0.0000001', '10000000000000000000000', '', '', '[1, "x"]']
    """
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:
        return ""
    if isinstance(value, Twice):
        return TwiceCell(_written(value.values), value.name, cell_of(value.values[0]))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return plain(str(value))
    if isinstance(value, list | tuple | dict):
        return _written(value)
    return str(value)


def _written(value: Any) -> str:
    """JSON, with the numbers as they are in cells."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        inner = (f"{json.dumps(str(key))}: {_written(x)}" for key, x in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, str) and not isinstance(value, Digits):
        return json.dumps(value, ensure_ascii=False)
    return cell_of(value) or "null"


def plain(number: str) -> str:
    """A number written without an exponent, unless it is huge or tiny."""
    if not 0 < len(exponent(number)) <= 6:
        return number
    exact = as_decimal(number)
    return f"{exact:f}" if abs(exact.adjusted()) < MAX_DIGITS else number


DECODER = json.JSONDecoder(
    object_pairs_hook=unique,
    parse_int=Digits,
    parse_float=lambda number: Digits(plain(number)),
    parse_constant=Digits,
)


def _values(file: File) -> Iterator[tuple[int, Any]]:
    """The values of a list, or else those that follow each other, and the line of each."""
    text, line, seen = file.text, 1, 0
    place = _after_blanks(text, 0)
    closing = "]" if text[place] == "[" else ""
    place = _after_blanks(text, place + len(closing))
    while text[place : place + 1] != closing:  # both are empty at the end
        line, seen = line + text.count("\n", seen, place), place
        try:
            value, place = DECODER.raw_decode(text, place)
        except RecursionError:
            raise ReadError.at(file.path, DEEP, line=line) from None
        except json.JSONDecodeError as error:
            raise ReadError.at(file.path, _no_json(error.msg), line=error.lineno) from None
        except ValueError as error:
            raise ReadError.at(file.path, str(error), line=line) from None
        yield line, value
        place = _after_blanks(text, place)
        if closing and text[place : place + 1] not in (",", closing):
            raise ReadError.at(file.path, _no_json("no comma behind a value"), line=line)
        if closing and text[place] == ",":
            place = _after_blanks(text, place + 1)
    if _after_blanks(text, place + len(closing)) < len(text):
        raise ReadError.at(file.path, _no_json("more text behind the list"), line=line)


def _no_json(why: str) -> str:
    return f"not JSON ({why}); write it with a program, such as Python's json"


def _after_blanks(text: str, place: int) -> int:
    match = BLANK.match(text, place)
    assert match is not None  # it matches nothing at all, too
    return match.end()
