"""The one place that says how kernels are run: compiled, or in Python while that is short.

Loading Numba and machine code takes most of a second. So a process runs some kernels in Python, or
does the same with NumPy, until that has taken about a quarter of a second in all, and compiles them
from then on. Without Numba nothing is compiled: kernels that would then be slow are replaced by
NumPy code, or by another method, and tests compare the results with those of compiled code.
"""

from __future__ import annotations

import functools
import math
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
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

#: Turns of loops that this process has left, some microseconds each, before it compiles kernels;
#: without Numba there is no limit.
_budget = [50_000 if NUMBA else math.inf]

#: Seconds that loops have taken in Python without Numba, and how many are worth a warning.
_spent, LONG = [0.0], 3.0


def spend(turns: int) -> None:
    """Take turns off the budget; raise TimeoutError if there are too few."""
    if turns > _budget[0]:
        raise TimeoutError
    _budget[0] -= turns


def compile_from_now_on() -> None:
    """Run no more kernels in Python, because much work follows."""
    if _budget[0] < math.inf:
        _budget[0] = 0


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba at its first call, and keep the machine code on disk."""
    # A kernel takes numbers and arrays, and calls kernels of its own file only: machine code on
    # disk is thrown away when the file of the kernel changes, not when that of a callee does.

    @functools.cache
    def compiled() -> Any:
        if NUMBA:
            from numba import config, njit
        if not NUMBA or vars(config).get("DISABLE_JIT"):
            return _in_python(function, {})
        linked = _link(function, {}, lambda kernel: kernel.compiled())
        try:
            return njit(cache=True, nogil=True)(linked)
        except RuntimeError:  # no folder to keep machine code in: compile once a process
            return njit(nogil=True)(linked)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        result: R
        try:
            result = compiled()(*args, **kwargs)
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


def python_first(function: Callable[P, R]) -> Callable[P, R]:
    """`jit` for a kernel that runs in Python while there are turns left, one for each of a loop."""
    # It may be stopped and started again, so what it writes must be the same again.
    linked = functools.cache(lambda: _in_python(function, METERED))
    return _first(lambda *args, **kwargs: linked()(*args, **kwargs), function)


def numpy_first(plain: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`jit` for a kernel instead of which NumPy does the same, in turns that it says by `spend`."""
    return functools.partial(_first, plain)


def compiled_or(plain: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`jit` for a kernel instead of which `plain`, the same in NumPy, runs without Numba."""
    return jit if NUMBA else lambda _: plain


def _first(other: Callable[P, R], function: Callable[P, R]) -> Callable[P, R]:
    """The other way to the same result where it is short, else the kernel, compiled."""
    kernel = jit(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if _budget[0] > 0:
            # Where Python raises an error machine code may have a number, such as infinity.
            with suppress(TimeoutError, ArithmeticError, ValueError):
                return other(*args, **kwargs)
        return kernel(*args, **kwargs)

    vars(call)["compiled"] = vars(kernel)["compiled"]
    return call


def _unboxed(result: Any) -> Any:
    """Python's numbers for those of NumPy, as machine code returns them."""
    if isinstance(result, tuple):
        parts = map(_unboxed, result)
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.item() if isinstance(result, np.generic) else result


def _counted(*limits: int) -> Iterator[int]:
    """`range`, each turn of which is taken off the budget."""
    for i in range(*limits):
        spend(1)
        yield i


#: Functions of the C library, as machine code calls them: NumPy's differ in the last digit.
_C = (math.cos, math.exp, math.expm1, math.log, math.log1p, math.sin, math.sqrt, math.tanh)
_SCALAR = vars(np) | {f.__name__: f for f in _C} | {"arctan2": math.atan2}
#: What kernels find under these names while their turns are counted.
METERED = {"np": types.SimpleNamespace(**_SCALAR), "range": _counted if NUMBA else range}


def _in_python(function: Callable[..., Any], names: dict[str, Any]) -> Callable[..., Any]:
    """The kernel and those that it calls, not compiled, without the warnings of NumPy."""

    def linked(kernel: Any) -> Callable[..., Any]:
        return _link(kernel.__wrapped__, names, linked)

    kernel = np.errstate(all="ignore")(_link(function, names, linked))

    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = kernel(*args, **kwargs)
        before, _spent[0] = _spent[0], _spent[0] + time.perf_counter() - start
        browser = sys.platform == "emscripten"  # which has no Numba to install
        if not (NUMBA or browser) and before <= LONG < _spent[0]:
            warnings.warn(
                "Numba is not installed, so long loops run in Python, about a hundred times "
                "slower, and permtest turns to bounds or samples sooner. If Numba supports "
                "this Python, `pip install numba` makes them fast",
                RuntimeWarning,
                stacklevel=3,
            )
        return _unboxed(result)

    return call


def _link(
    function: Callable[..., Any], names: dict[str, Any], version: Callable[[Any], Any]
) -> Callable[..., Any]:
    """The same function with other names, and this version of each kernel that it calls."""
    assert isinstance(function, types.FunctionType)
    names = function.__globals__ | names
    for name in function.__code__.co_names:
        callee: Any = names.get(name)
        if hasattr(callee, "compiled"):
            assert callee.__module__ == function.__module__, f"{name} is in another file"
            names[name] = version(callee)
    linked = types.FunctionType(function.__code__, names, function.__name__)
    linked.__module__, linked.__qualname__ = function.__module__, function.__qualname__
    return linked
