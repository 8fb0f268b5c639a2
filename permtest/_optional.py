"""Packages that only a part of the users has: imported when they are needed, or asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, *, needed_by: str, extra: str) -> Any:
    """Import a package of one of the extras.

    Parameters
    ----------
    module : str
        Dotted name of what to import.
    needed_by : str
        What the error message says needs it: a method, an argument, an option.
    extra : str
        The extra of this package that brings it.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise ImportError(f"{needed_by} needs {top}: pip install 'permtest[{extra}]'") from error


def pandas(needed_by: str = "to_frame") -> Any:
    """pandas, of which results make data frames."""
    return optional("pandas", needed_by=needed_by, extra="frames")
