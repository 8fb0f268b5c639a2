"""The one place that says how kernels are compiled."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: What kernels take.
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

P = ParamSpec("P")
R = TypeVar("R")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba at its first call, and keep the machine code on disk.

    Importing Numba costs more than most tests that this package runs, so it waits for the
    first call too. A kernel may call other kernels of the same file, and no others: machine code
    on disk is thrown away when the file of the kernel changes, not when that of a callee does.

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
    def compiled() -> Any:
        from numba import config, njit

        linked = _link(function)
        if vars(config).get("DISABLE_JIT"):
            return np.errstate(all="ignore")(linked)  # machine code gives no warnings either
        try:
            return njit(cache=True, nogil=True)(linked)
        except RuntimeError:  # no folder to keep machine code in: compile once a process
            return njit(nogil=True)(linked)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result: R = compiled()(*args, **kwargs)
        except SystemError as error:  # a signal came while Numba turned results into arrays
            cause: BaseException | None = error
            while isinstance(cause, SystemError):  # one from each call that it went through
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise
        return result

    vars(call)["compiled"] = compiled
    return call


def _link(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with kernels that it calls compiled, as Numba needs them."""
    assert isinstance(function, types.FunctionType)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee: Any = names.get(name)
        if hasattr(callee, "compiled"):
            assert callee.__module__ == function.__module__, f"{name} is in another file"
            names[name] = callee.compiled()
    linked = types.FunctionType(function.__code__, names, function.__name__)
    linked.__module__, linked.__qualname__ = function.__module__, function.__qualname__
    return linked
