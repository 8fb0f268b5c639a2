"""The one place that says how kernels are run: compiled by Numba at their first use, or as NumPy.

Loading Numba and machine code takes about as long as some hundred million steps of NumPy. So a
single test runs in NumPy while that is short and nothing has been compiled yet, and long work is
compiled at once. Without Numba all of it runs, and tests compare the results of both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: What kernels take.
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

P = ParamSpec("P")
R = TypeVar("R")

#: Whether Numba is installed. It is an accelerator: without it all runs, in Python and NumPy.
NUMBA = find_spec("numba") is not None

#: Additions of arrays that take as long in NumPy as Numba takes to be loaded.
LONG = 10**8

_loaded = [False]


def worth_compiling(steps: float) -> bool:
    """Whether so many steps go to a kernel: compiled code is loaded, or worth being loaded."""
    return NUMBA and (_loaded[0] or steps > LONG)


def compile_from_now_on() -> None:
    """Take kernels for short work too, because much of it follows."""
    _loaded[0] = NUMBA


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba at its first call, and keep the machine code on disk."""
    # A kernel takes numbers and arrays, and calls kernels of its own file only: machine code on
    # disk is thrown away when the file of the kernel changes, not when that of a callee does.

    @functools.cache
    def compiled() -> Any:
        if NUMBA:
            from numba import config, njit
        if not NUMBA or vars(config).get("DISABLE_JIT"):
            return np.errstate(all="ignore")(function)
        _loaded[0] = True
        names = function.__globals__
        for name in function.__code__.co_names:
            if hasattr(names.get(name), "compiled"):  # a kernel that this one calls
                names[name] = names[name].compiled()
        try:
            return njit(cache=True, nogil=True)(function)
        except RuntimeError:  # no folder to keep machine code in: compile once a process
            return njit(nogil=True)(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result: R = compiled()(*args, **kwargs)
        except SystemError as error:
            if _was_interrupted(error):
                raise KeyboardInterrupt from None
            raise
        return result

    vars(call)["compiled"] = compiled
    return call


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether a signal came while Numba turned results into arrays, in a call or one within it."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def compiled_or(
    plain: Callable[P, R], steps: Callable[..., float] = lambda *_, **__: inf
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`jit` for a kernel instead of which `plain`, the same in NumPy, runs without Numba.

    Where `steps` says how many it takes in NumPy, that is preferred while it is not
    `worth_compiling`.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        kernel = jit(function)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            long = worth_compiling(steps(*args, **kwargs))
            return (kernel if long else plain)(*args, **kwargs)

        vars(call)["compiled"] = vars(kernel)["compiled"]
        return call

    return decorated
