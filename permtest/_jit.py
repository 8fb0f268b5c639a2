"""The one place that says how kernels are run: compiled by Numba at their first use, or as NumPy.

Loading Numba and machine code takes about as long as some hundred million steps of NumPy. So a
single test runs in NumPy while that is short and nothing has been compiled yet, and long work is
compiled at once. Without Numba all of it runs, and tests compare the results of both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial, wraps
from importlib.util import find_spec
from math import inf
from threading import current_thread, main_thread
from types import FunctionType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

#: What kernels take.
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Steps: TypeAlias = Callable[..., float]

#: Whether Numba is installed. It is an accelerator: without it all runs, in Python and NumPy.
NUMBA = find_spec("numba") is not None
#: Additions of arrays that take as long in NumPy as Numba takes to be loaded.
LONG = 1e8

#: Work of more steps goes to a kernel: all, where compiled code is loaded or much work follows.
patience = LONG if NUMBA else inf


def compile_from_now_on() -> None:
    """Take kernels for short work too, because much of it follows."""
    global patience
    patience = 0.0 if NUMBA else inf


def _undisturbed(work: Callable[..., Any], *args: Any) -> Any:
    """Do it in a thread: LLVM calls Python back, and the process dies if a signal stops that."""
    if current_thread() is not main_thread():
        return work(*args)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *args).result()


def compiled_or(plain: Any, steps: Steps = lambda *_: inf) -> Callable[[Kernel], Kernel]:
    """`jit` for a kernel in whose place `plain`, the same in NumPy, runs without Numba.

    Where `steps` says how many it takes in NumPy, also while those are within `patience`.
    """
    return lambda function: jit(function, plain, steps)


def jit(function: Kernel, plain: Any = None, steps: Steps = lambda *_: inf) -> Kernel:
    """Compile `function` with Numba at its first call, and keep the machine code on disk."""
    # A kernel takes numbers and arrays, and calls kernels of its own file only: machine code on
    # disk is thrown away when the file of the kernel changes, not when that of a callee does. None
    # that Python calls returns a named tuple: a signal while Numba makes one ends the process.

    @cache
    def compiled() -> Any:
        if not NUMBA or "NUMBA_DISABLE_JIT" in os.environ:
            return np.errstate(all="ignore")(function)
        from numba import njit

        compile_from_now_on()
        # Compiled callees go into a copy of its globals: Python's calls still go through `call`.
        names = dict(function.__globals__)
        called = [n for n in function.__code__.co_names if hasattr(names.get(n), "compiled")]
        names |= {name: names[name].compiled() for name in called}
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        try:
            kernel = njit(cache=True, nogil=True)(copy)
        except RuntimeError:  # no folder to keep machine code in: compile once a process
            kernel = njit(nogil=True)(copy)
        vars(kernel)["compile"] = partial(_undisturbed, kernel.compile)
        return kernel

    @wraps(function)
    def call(*args: Any) -> Any:
        if plain is not None and steps(*args) <= patience:
            return plain(*args)
        try:
            return compiled()(*args)
        except SystemError as error:  # a signal may have come while Numba made arrays of results
            while isinstance(error.__cause__, SystemError):
                error = error.__cause__
            raise error.__cause__ or error from None

    vars(call)["compiled"] = compiled
    return cast(Kernel, call)
