"""Data frames of pandas and polars, as the tables that they are.

Neither is imported here: a frame that was handed over brings what is needed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.decimals import in_common_units
from permtest.readers.cells import printable, shown
from permtest.readers.files import PER_VALUE, File, ReadError, check_memory
from permtest.readers.headers import ID_NAMES, SYSTEM_NAMES, column_of
from permtest.readers.records import cell_of, plain
from permtest.readers.scores import Format
from permtest.readers.table import Record, Table

#: Floats of fewer digits than Python's.
NARROW = ("float16", "float32", "halffloat[pyarrow]", "float[pyarrow]")

#: What the labels of a frame are called that have no name.
INDEX = "index"


@dataclass(frozen=True, eq=False)
class FrameFile(File):
    """A data frame in place of a file, whose bytes are its lines as comma-separated values.

    Parameters
    ----------
    path : str
        How messages call it.
    data : bytes
    header : list of str
    rows : list of Record
        Numbered from 0.
    key : int or None
        The column of the index, if this says what the items are called.
    """

    header: list[str] = field(default_factory=list)
    rows: list[Record] = field(default_factory=list)
    key: int | None = None

    @property
    def table(self) -> Table:
        """The cells."""
        return Table(self, "", self.header, self.rows, FORMAT.name, "row", self.key)


FORMAT = Format(
    name="frame",
    title="a data frame",
    rows="as in tables, of one line for each item, or for each item and system",
    pairs_on="row; a column 'id' or the index where each system has a frame of its own",
    example='permtest.read(frame, a="new", b="old")',
    recognises=lambda file: isinstance(file, FrameFile),
)


def is_frame(source: Any) -> bool:
    """Whether it is a data frame."""
    return hasattr(source, "columns") and (
        hasattr(source, "to_csv") or hasattr(source, "write_csv")
    )


def of_frame(frame: Any, number: int) -> FrameFile:
    """A frame as a file.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        Its index is an id if it is named, or is not the default one; but if a column is called
        so, only that.
    number : int
        Which one it is, from 1, for messages.

    Returns
    -------
    FrameFile
    """
    path = f"frame {number}"
    check_memory(path, PER_VALUE * frame.shape[0] * frame.shape[1])
    if hasattr(frame, "iloc"):
        names = [_name(name) for name in frame.columns]
        columns = [_of_pandas(frame.iloc[:, i]) for i in range(len(names))]
        key = None
        if (levels := _levels(frame.index, names)) is not None:
            more, key = levels
            names, columns = [*more, *names], [*more.values(), *columns]
    else:
        names, key = [_name(name) for name in frame.columns], None
        columns = [_of_polars(column) for column in frame.get_columns()]
    if not names or not frame.shape[0]:
        raise ReadError.at(path, "has no rows, or no columns; a row must be an item")
    for name, count in Counter(names).items():
        if count > 1:
            raise ReadError.at(
                path, f"{count} columns are called {shown(name)}; rename all but one"
            )
    rows = [Record(i, list(cells)) for i, cells in enumerate(zip(*columns, strict=True))]
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *(cells for _, cells in rows)])
    return FrameFile(path, text.getvalue().encode(errors="replace"), names, rows, key)


def _name(name: Any) -> str:
    """The name of a column; of several levels, what `headers` reads as system and count."""
    return printable("_".join(map(str, name)) if isinstance(name, tuple) else str(name))


def _of_pandas(column: Any) -> list[str]:
    missing = column.isna().tolist()
    if str(column.dtype).lower() in NARROW:
        values = _of_narrow(column.to_numpy(dtype=np.float32, na_value=np.nan))
    else:
        values = column.tolist()
    return ["" if hole else cell_of(x) for x, hole in zip(values, missing, strict=True)]


def _of_polars(column: Any) -> list[str]:
    if str(column.dtype).lower() in NARROW:
        return [cell_of(x) for x in _of_narrow(column.to_numpy())]
    return [cell_of(x) for x in column.to_list()]


def _of_narrow(array: NDArray[Any]) -> list[Any]:
    """Narrow floats as they are printed; those that are fractions with all digits of a float."""
    finite = np.isfinite(array)
    found = in_common_units([array[finite]], ["scores"])
    if found.rounding:
        return ["" if np.isnan(x) else plain(str(x)) for x in array]
    values = np.full(len(array), np.nan)
    values[finite] = found.columns[0] / found.scale
    return list(np.where(np.isinf(array), array, values).tolist())


def _levels(index: Any, header: Sequence[str]) -> tuple[dict[str, list[str]], int | None] | None:
    """The levels of an index as columns, and which of these says what the items are called.

    None where the index says nothing that is not in a column.
    """
    names = list(index.names)
    if names == [None]:
        counted = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
        if counted or column_of(header, ID_NAMES) is not None:
            return None
    called = [INDEX if name is None and len(names) == 1 else _name(name) for name in names]
    levels = [[cell_of(x) for x in index.get_level_values(i).tolist()] for i in range(len(names))]
    columns = dict(zip(called, levels, strict=True))
    if column_of([*called, *header], ID_NAMES) is not None:
        return columns, None
    own = [i for i, name in enumerate(called) if name.lower() not in SYSTEM_NAMES]
    if len(own) != 1:
        joined = [", ".join(labels) for labels in zip(*(levels[i] for i in own), strict=True)]
        return columns | {INDEX: joined}, len(columns)
    return columns, own[0]
