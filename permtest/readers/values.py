"""Values in the JSON of evaluation tools, taken out with their types checked.

Nothing here trusts a file: a value of another type than expected is a `ReadError` that names the
place and what to do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from permtest.readers.cells import (
    MAX_DIGITS,
    Digits,
    as_score,
    bounded,
    kind_of,
    printable,
    shown,
    twice,
)
from permtest.readers.files import DEEP, File, ReadError, Twice, check_memory, for_json
from permtest.readers.names import listed

Number: TypeAlias = "int | Decimal | Fraction"

#: Characters of an id or a name, of a text for people, and of a text that may be a number.
LONGEST = 1000
TEXT = 300
NUMERAL = 100

#: Scores, or systems, that one file may have, and what an item needs in memory, in bytes.
MOST = 1000
PER_ITEM = 1000

AS_WRITTEN = "leave files as the tool writes them"
NO_WORDS: Mapping[str, Number] = MappingProxyType({})
_TOO_LARGE = 10**MAX_DIGITS

# ---- rows ----------------------------------------------------------------------------------------


def rows_of(file: File) -> Iterator[Record]:
    """The objects of JSON lines, or of an array."""
    if file.data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        yield from records_of(file, file.document, "item")
        return
    check_memory(file.path, PER_ITEM * (file.data.count(b"\n") + 1))
    for line, value in file.records():
        yield Record.of(file, value, f"line {line}")


def records_of(file: File, values: Any, name: str) -> Iterator[Record]:
    """The objects of an array; `name` is how messages call one."""
    if not isinstance(values, list):
        raise ReadError.at(file.path, f"{kind(values)} instead of an array; {AS_WRITTEN}")
    check_memory(file.path, PER_ITEM * len(values))
    for number, value in enumerate(values, 1):
        yield Record.of(file, value, f"{name} {number}")


# ---- texts -------------------------------------------------------------------------------------


def kind(value: Any) -> str:
    """What a value is, for messages, without showing more than a little of it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str) and not isinstance(value, Digits):
        return f"the text {shown(value)}"
    if isinstance(value, int | float | Decimal | Digits):
        return f"the number {shown(str(value)).strip(chr(39))}"
    return "an array" if isinstance(value, list) else "an object"


def short(value: Any, width: int = TEXT) -> str:
    """A text on one line, cut; of anything else the beginning of its JSON."""
    text = value if isinstance(value, str) else _some_json(value, 4 * width)
    text = printable(" ".join(text[: 4 * width].split()))
    return text if len(text) <= width else text[: width - 3] + "..."


def _some_json(value: Any, width: int) -> str:
    text = ""
    try:
        for part in json.JSONEncoder(ensure_ascii=False, default=for_json).iterencode(value):
            text += part
            if len(text) > width:
                break
    except RecursionError:
        pass  # the beginning is enough
    return text


def folder_or_stem(file: File) -> str:
    """What a system is called that has a folder, or a file, for itself."""
    return printable(file.folder if file.folder.strip(".") else file.stem)[:LONGEST]


# ---- objects -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object, and where it is.

    Parameters
    ----------
    file : File
    values : dict
    place : str
        Such as "line 3".
    """

    file: File
    values: dict[str, Any]
    place: str

    @classmethod
    def of(cls, file: File, value: Any, place: str) -> Record:
        """The object at a place, or ReadError if it is none."""
        if isinstance(value, Twice):
            raise ReadError.at(file.path, twice(value.name), column=place)
        if not isinstance(value, dict):
            problem = f"{kind(value)} instead of an object; {AS_WRITTEN}"
            raise ReadError.at(file.path, problem, column=place)
        return cls(file, value, place)

    def error(self, problem: str) -> ReadError:
        """The error of this place."""
        return ReadError.at(self.file.path, problem, column=self.place)

    def wrong(self, name: str, wanted: str) -> ReadError:
        """The error that a value is of another type."""
        value = kind(self.values[name]) if name in self.values else "missing"
        return self.error(f"{shown(name)} is {value}, but must be {wanted}; {AS_WRITTEN}")

    def get(self, name: str) -> Any:
        """The value, None if there is none; ReadError if there are two."""
        value = self.values.get(name)
        if isinstance(value, Twice):
            raise self.error(twice(value.name))
        return value

    def label(self, name: str) -> str | None:
        """An id or a name: text or a whole number; None where it is null or missing."""
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or isinstance(value, Digits):
            raise self.wrong(name, "text or a whole number")
        if len(value) > LONGEST:
            problem = f"{shown(name)} has {len(value)} characters, more than {LONGEST}; shorten it"
            raise self.error(problem)
        return printable(value)

    def needed(self, name: str) -> str:
        """An id or a name that must be there."""
        value = self.label(name)
        if value is None:
            raise self.wrong(name, "text or a whole number")
        return value

    def whole(self, name: str, default: int) -> int:
        """A whole number from 0 on; `default` where it is null or missing."""
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise self.wrong(name, "a whole number from 0 on")
        return value

    def array(self, name: str) -> list[Any]:
        """An array; an empty one where it is null or missing."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(name, "an array")
        return value

    def record(self, name: str) -> Record:
        """An object; an empty one where it is null or missing."""
        value = self.get(name)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return Record(self.file, value or {}, f"{self.place}, {shown(name)}")

    def json(self) -> str:
        """The JSON of the object with its keys sorted, to compare it with others."""
        try:
            return json.dumps(self.values, sort_keys=True, default=for_json)
        except RecursionError:
            raise self.error(DEEP) from None


# ---- scores ------------------------------------------------------------------------------------


def number_of(value: Any, words: Mapping[str, Number] = NO_WORDS) -> Number | None:
    """The number that a score is.

    Parameters
    ----------
    value : object
        A number or a numeral; true and false are 1 and 0.
    words : mapping of str to number
        What other texts stand for.

    Returns
    -------
    number or None
        None where it is null, NaN, or a text such as "N/A".

    Raises
    ------
    ValueError
        That says what it is instead.
    """
    if value is None or isinstance(value, Decimal | Fraction):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and -_TOO_LARGE < value < _TOO_LARGE:
        return value
    if isinstance(value, float) and not math.isinf(value):
        return None if math.isnan(value) else Decimal(str(value))
    if isinstance(value, str) and len(value) <= NUMERAL:
        if value in words:
            return words[value]
        match kind_of(value):
            case "missing":
                return None
            case "integer" | "decimal":
                return as_score(value)
            case "scientific" if (number := bounded(value)) is not None:
                return number
    raise ValueError(kind(value))


@dataclass
class Scores:
    """Scores of items, put in one by one.

    Parameters
    ----------
    file : File
    words : mapping of str to number
        As in `number_of`.
    """

    file: File
    words: Mapping[str, Number] = field(default_factory=dict)
    found: dict[str, dict[Hashable, Number | None]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def put(self, item: Hashable, name: str, value: Any, record: Record) -> None:
        """Keep a score of an item; what is no number disqualifies the score of that name."""
        if isinstance(value, Twice):
            raise record.error(twice(value.name))
        if len(name) > LONGEST:
            problem = f"the name of a score has {len(name)} characters, more than {LONGEST}"
            raise record.error(f"{problem}; shorten it")
        column = self.found.setdefault(printable(name), {})
        if len(self.found) > MOST:
            problem = f"more than {MOST} scores, {shown(name)} being one more"
            raise record.error(f"{problem}; keep those that you want to compare")
        try:
            number = number_of(value, self.words)
        except ValueError as error:
            self.refused.setdefault(printable(name), f"{error}, {record.place}")
            return
        if column.setdefault(item, number) != number:
            both = f"{shown(str(column[item]))} and {shown(str(number))}"
            raise record.error(f"two values of the score {shown(name)} ({both}); keep one of them")

    def columns(self, items: Sequence[Hashable]) -> dict[str, list[Number | None]]:
        """The values of each score for all of the items, None where there is none."""
        out = self.refused | self.empty
        names = [name for name in self.found if name not in out]
        if not names:
            why = "; ".join(self.notes) or "there are no scores"
            problem = f"holds no score that is one number for each item ({why}); a paired test"
            raise ReadError.at(self.file.path, f"{problem} needs such a score of both systems")
        check_memory(self.file.path, 8 * len(names) * len(items))
        return {name: self._column(name, items) for name in names}

    def _column(self, name: str, items: Sequence[Hashable]) -> list[Number | None]:
        """The values of a score."""
        return [self.found[name].get(item) for item in items]

    @property
    def empty(self) -> dict[str, str]:
        """The scores that no item has."""
        return {
            name: "no item has it"
            for name, column in self.found.items()
            if name not in self.refused and all(value is None for value in column.values())
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Which scores were left out, and why."""
        out = self.refused | self.empty
        if not out:
            return ()
        why = listed([f"{name} ({why})" for name, why in out.items()], 5)
        return (f"left out, being no number for each item: {why}",)
