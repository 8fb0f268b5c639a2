"""The one place that says how kernels are compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba at its first call, and keep the machine code on disk.

    Importing Numba costs more than most tests that this package runs, so it waits for the
    first call too. A function decorated here can be called from Python only, not from
    another kernel.

    Parameters
    ----------
    function : callable
        A kernel: numbers and arrays in, numbers out.

    Returns
    -------
    callable
        Same signature.
    """

    @functools.cache
    def compiled() -> Callable[P, R]:
        from numba import njit

        try:
            kernel: Callable[P, R] = njit(cache=True, nogil=True)(function)
        except RuntimeError:  # no folder to keep machine code in: compile once a process
            kernel = njit(nogil=True)(function)
        return kernel

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return compiled()(*args, **kwargs)

    return call
