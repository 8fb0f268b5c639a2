"""Data frames of pandas and polars, as the tables that they would be written as."""

from __future__ import annotations

from typing import Any

from permtest.readers.files import File


def is_frame(source: Any) -> bool:
    """Whether it is a data frame."""
    return hasattr(source, "columns") and (
        hasattr(source, "to_csv") or hasattr(source, "write_csv")
    )


def of_frame(frame: Any, number: int) -> File:
    """A frame as a file of comma-separated values."""
    raise NotImplementedError
