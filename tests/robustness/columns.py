"""Columns of six scores in every form in which people and programs hold them.

`MEANT` are columns that stand for numbers, with these as Python's; `REFUSED` are those that stand
for none, with what the error has to say. Everything is made anew by calling it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

PLAIN = [3, 1, 4, 1, 5, 9]
HALVES = [Fraction(1, 2), Fraction(1, 10), 2, 1, 0, 3]
FLOATS = [0.5, 0.1, 2.0, 1.0, 0.0, 3.0]
FLAGS = [True, False, True, True, True, False]
ENDS = [2**63 - 1, -(2**63), 2**63 - 2, 0, 1, -1]
BEYOND = [2**64 - 1, 2**63, 2**63 + 1, 0, 1, 2]
ODD = [2**53, 2**53 + 1, 2**53 + 2, 0, 1, -1]
LONG = [2**200, 1 - 2**200, 2**199, 3, 1, 0]
TINY = [5e-324, 0.0, 5e-324, 1e-323, 0.0, 5e-324]
VAST = [1e308, -1e308, 1e308, 0.0, 1.0, 1.7e308]


def read_only(values: Any) -> Any:
    values = np.array(values)
    values.flags.writeable = False
    return values


def unaligned(values: list[int]) -> Any:
    data = b"x" + np.array(values, np.int64).tobytes()
    return np.frombuffer(data, np.uint8)[1:].view(np.int64)


def exactly(values: list[Any]) -> list[Any]:
    return [Fraction(str(x)) for x in values]


#: How to make a column, and the numbers that it stands for.
MEANT: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "list": (lambda: list(PLAIN), PLAIN),
    "memoryview": (lambda: memoryview(np.array(PLAIN)), PLAIN),
    "int64": (lambda: np.array(PLAIN), PLAIN),
    "beyond floats": (lambda: np.array(ODD), ODD),
    "ends of int64": (lambda: np.array(ENDS), ENDS),
    "uint64": (lambda: np.array(BEYOND, np.uint64), BEYOND),
    "200 bits": (lambda: list(LONG), LONG),
    "denormal": (lambda: np.array(TINY), exactly(TINY)),
    "1e308": (lambda: list(VAST), exactly(VAST)),
    "0.1 + 0.2": (
        lambda: [0.1 + 0.2, 0.3, 0.1, 0.7, 0.1 * 3, 0.5],
        exactly(["0.3", "0.3", "0.1", "0.7", "0.3", "0.5"]),
    ),
    "float16": (lambda: np.array(FLOATS, np.float16), HALVES),
    "float32": (lambda: np.array(FLOATS, np.float32), HALVES),
    "bool array": (lambda: np.array(FLAGS), [1, 0, 1, 1, 1, 0]),
    "decimals": (
        lambda: np.array([Decimal("0.1"), Decimal("1E+2"), 1, 0, 1, 2], object),
        [Fraction(1, 10), 100, 1, 0, 1, 2],
    ),
    "texts": (
        lambda: ["3", "0.5", " 1e-1", "1/4", "true", "+2."],
        [3, Fraction(1, 2), Fraction(1, 10), Fraction(1, 4), 1, 2],
    ),
    "text array": (lambda: np.array(list(map(str, PLAIN))), PLAIN),
    "mixed": (
        lambda: np.array(
            [True, 2.5, Decimal(3), Fraction(7, 2), np.int8(1), np.float32(0.1)], object
        ),
        [1, Fraction(5, 2), 3, Fraction(7, 2), 1, Fraction(1, 10)],
    ),
    "read-only": (lambda: read_only(PLAIN), PLAIN),
    "column, Fortran": (lambda: np.asfortranarray([[9, x] for x in PLAIN])[:, 1], PLAIN),
    "one number, broadcast": (lambda: np.broadcast_to(np.int64(2), 6), [2] * 6),
    "big-endian": (lambda: np.array(PLAIN, ">i8"), PLAIN),
    "unaligned": (lambda: unaligned(PLAIN), PLAIN),
    "pandas": (lambda: pd.Series(PLAIN, index=range(9, 3, -1)), PLAIN),
    "pandas Int64": (lambda: pd.Series(PLAIN, dtype="Int64"), PLAIN),
    "pandas Float64": (lambda: pd.Series(FLOATS, dtype="Float64"), HALVES),
    "pandas boolean": (lambda: pd.Series(FLAGS, dtype="boolean"), [1, 0, 1, 1, 1, 0]),
    "pandas arrow": (lambda: pd.Series(PLAIN, dtype="int64[pyarrow]"), PLAIN),
    "pandas sparse": (lambda: pd.Series(pd.arrays.SparseArray(PLAIN)), PLAIN),
    "polars": (lambda: pl.Series(PLAIN), PLAIN),
    "longdouble": (lambda: np.array(FLOATS[:1] * 6, np.longdouble), [Fraction(1, 2)] * 6),
    "polars decimals": (lambda: pl.Series([Decimal(str(x)) for x in FLOATS]), HALVES),
}

NAN, INF = float("nan"), float("inf")

#: How to make a column, and where what is wrong with it is; None: with the column as a whole.
REFUSED: dict[str, tuple[Callable[[], Any], int | None]] = {
    "NaN": (lambda: [1, NAN, 2, 3, 4, 5], 1),
    "infinity": (lambda: [1, INF, 2, 3, 4, 5], 1),
    "None": (lambda: [1, None, 2, 3, 4, 5], 1),
    "text": (lambda: [1, "two", 2, 3, 4, 5], 1),
    "text array": (lambda: np.array(list("1x3456")), 1),
    "complex": (lambda: np.array([1, 2j, 2, 3, 4, 5]), 0),
    "dates": (lambda: np.array(["2020-01-01"] * 6, "M8[D]"), 0),
    "durations, ns": (lambda: np.array(PLAIN, "m8[ns]"), 0),
    "a duration": (lambda: np.array([1, np.timedelta64(2, "ns"), 2, 3, 4, 5], object), 1),
    "pandas dates": (lambda: pd.Series(pd.date_range("2020", periods=6)), 0),
    "masked": (lambda: np.ma.array(PLAIN, mask=[0, 1, 0, 0, 0, 0]), 1),
    "Int64 with NA": (lambda: pd.Series([1, None, 2, 3, 4, 5], dtype="Int64"), 1),
    "arrow with NA": (lambda: pd.Series([1, None, 2, 3, 4, 5], dtype="int64[pyarrow]"), 1),
    "polars null": (lambda: pl.Series([1, None, 2, 3, 4, 5]), 1),
    "polars NaN": (lambda: pl.Series([1.0, NAN, 2.0, 3.0, 4.0, 5.0]), 1),
    "NaT": (lambda: [1, pd.NaT, 2, 3, 4, 5], 1),
    "NA": (lambda: [1, pd.NA, 2, 3, 4, 5], 1),
    "Decimal sNaN": (lambda: [1, Decimal("sNaN"), 2, 3, 4, 5], 1),
    "records": (lambda: np.zeros(6, [("a", "i4")]), 0),
    "an array in a cell": (lambda: np.array([1, np.ones(2), 2, 3, 4, 5], object), 1),
    "ragged": (lambda: [[1], [1, 2], 3, 4, 5, 6], None),
    "three dimensions": (lambda: np.zeros((6, 2, 2)), None),
    "a table": (lambda: np.zeros((6, 2)), None),
    "a number": (lambda: 5, None),
    "nothing": (lambda: None, None),
    "a dict": (lambda: dict.fromkeys(range(6), 1), None),
}
