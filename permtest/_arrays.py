"""Arrays made of what people pass, nothing being lost on the way.

Whatever NumPy would turn into something else, such as masked entries, dates, or integers among
floats, is refused or kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._errors import ScoreError

#: From here on not every integer is a float.
WIDE = 2**53


def plain_array(values: Any, name: str, what: str = "an array", remedy: str = "") -> NDArray[Any]:
    """What NumPy makes of an array, a list or a column, if nothing is lost on the way.

    Parameters
    ----------
    values : array_like of any shape
    name : str
        How error messages call `values`.
    what : str
        What they say it must be.
    remedy : str
        What they end with where rows differ in length.

    Returns
    -------
    ndarray
        Of Python objects where NumPy would have made floats of integers that are none, or texts of
        numbers, or has no such numbers at all.

    Raises
    ------
    ValueError
        If an entry is masked, or a date or a duration, whose ticks NumPy would count, or if rows
        differ in length.
    """
    _check_unmasked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be {what}, but its rows differ in length{remedy}") from None
    except Exception as error:  # polars has columns of 128 bits, and says so in errors of its own
        if isinstance(error, MemoryError) or not hasattr(values, "to_list"):
            raise
        array = np.array(values.to_list(), dtype=object)
    if array.dtype.kind in "mM" and array.size:
        index = (0,) * array.ndim
        raise ScoreError(name, index, f"= {array.flat[0]} is not a number", "convert it first")
    listed = not hasattr(values, "dtype")
    if listed and (array.dtype.kind in "SU" or (array.dtype.kind == "f" and _are_wide(array))):
        return np.array(values, dtype=object)
    return array


def _are_wide(array: NDArray[np.floating[Any]]) -> bool:
    """Whether some may have been integers that no float can hold."""
    return bool(np.abs(array).max(initial=0.0) >= WIDE)


def _check_unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, also those of arrays in a list, before NumPy forgets of them."""
    listed = isinstance(values, list | tuple)
    kinds = set(map(type, values)) if listed else {type(values)}
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        return
    parts: list[tuple[tuple[int, ...], Any]] = [((), values)]
    for index, part in [((i,), x) for i, x in enumerate(values)] if listed else parts:
        masked = isinstance(part, np.ma.MaskedArray)
        for bad in np.argwhere(np.ma.getmaskarray(part))[:1] if masked else ():
            remedy = "remove the pair or fill in its score"
            raise ScoreError(name, (*index, *bad), "is masked", remedy)


def is_unordered(values: Any) -> bool:
    """Whether these are no entries in an order: a number, a text, a mapping or a set."""
    text_or_set = isinstance(values, str | bytes | bytearray | dict | set | frozenset)
    return text_or_set or not hasattr(values, "__iter__")
