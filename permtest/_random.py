"""Long computations: random numbers for each part, workers for the parts, and a bar for the wait.

Only this module makes generators from `rng=`, or spreads work over threads or joblib's backend.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

import numpy as np

from permtest import _jit

RNG: TypeAlias = "np.random.Generator | int | None"

#: Seconds of work that are worth threads, which take half of it to start and to end; and after
#: which somebody who waits wants to see how far it has come.
WORTHWHILE, PATIENCE = 0.05, 1.0

T = TypeVar("T")
R = TypeVar("R")


def as_generator(rng: RNG) -> np.random.Generator:
    """A NumPy generator as it is, or a new one from a seed, or from the operating system."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        wanted = "a seed from 0 on, a numpy.random.Generator or None"
        raise type(error)(f"rng={rng!r} must be {wanted}") from None


def seeds(rng: np.random.Generator) -> np.random.SeedSequence:
    """The origin of the streams of a computation that is done in parts; advances the generator."""
    return np.random.SeedSequence(rng.integers(2**63, size=4).tolist())


def stream(origin: np.random.SeedSequence, *part: int) -> np.random.Generator:
    """The generator of one part, as `Generator.spawn` makes it, in any worker and any order."""
    key = (*origin.spawn_key, *part)
    return np.random.default_rng(np.random.SeedSequence(origin.entropy, spawn_key=key))


def in_parallel(
    function: Callable[..., R],
    chunks: Sequence[T],
    *shared: Any,
    threads: bool = True,
    what: str = "parts",
) -> Iterator[R]:
    """Yield ``function(chunk, *shared)`` for each chunk, in their order, computed side by side."""
    return progress(_side_by_side(function, chunks, shared, threads), len(chunks), what)


def progress(items: Iterable[R], total: int, what: str) -> Iterator[R]:
    """Yield the items; if that takes more than a second, show a bar that goes away at the end."""
    rest, start = iter(items), perf_counter()
    # Not tqdm's own `delay`: in a notebook it makes widgets at once, and hides them.
    for done, item in enumerate(rest, 1):
        yield item
        if done < total and perf_counter() - start > PATIENCE and find_spec("tqdm"):
            from tqdm.auto import tqdm

            seen = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
            yield from tqdm(rest, what, total, initial=done, leave=False, disable=not seen)


def _side_by_side(
    function: Callable[..., R], chunks: Sequence[T], shared: Sequence[Any], threads: bool
) -> Iterator[R]:
    # Within ``joblib.parallel_config(...)`` the workers of that backend compute. Elsewhere threads
    # do, if the first chunks show that it takes long, unless `threads` is False: functions of users
    # may not be safe in them. A chunk that comes here again gets no workers of its own. Chunks must
    # be fixed by the problem and not by the number of workers, so that this changes no result; ten
    # for each worker make up for an uneven load. Arrays may come to the function read-only.
    options = _options(threads) if len(chunks) > 1 else None
    took, done = 0.0, 0
    while done < len(chunks) and (options is None or options):
        # The first chunk may have loaded kernels, and says little unless it was long.
        long = took * (len(chunks) - done) > WORTHWHILE and (done > 1 or took > WORTHWHILE)
        if options is not None and long:
            break
        before = perf_counter()
        found = function(chunks[done], *shared)
        took, done = perf_counter() - before, done + 1
        yield found
    if done < len(chunks):
        import joblib

        workers = joblib.Parallel(return_as="generator", **options or {})
        work = joblib.delayed(partial(_like_here, not _jit.patience, function))
        every = workers(work(chunk, *shared) for chunk in chunks[done:])
        try:
            for found in every:
                yield found
        finally:
            with warnings.catch_warnings(action="ignore"):  # joblib tells what it throws away
                every.close()


def _like_here(compiled: bool, function: Callable[..., R], *arguments: Any) -> R:
    """Call a function in a worker with the kernels that this process would take."""
    if compiled:
        _jit.compile_from_now_on()
    return function(*arguments)


def _options(threads: bool) -> dict[str, Any] | None:
    """What `joblib.Parallel` needs besides what it was asked for; None if no worker is to help."""
    if (joblib := sys.modules.get("joblib")) is not None:  # else nobody can have asked
        backend, number = joblib.parallel.get_active_backend()
        if backend.nesting_level or number == 1:  # this is a worker, or to be the only one
            return None
        if number or backend.default_n_jobs != 1:  # that of Dask has many
            return {}
    alone = not threads or sys.platform == "emscripten"  # a browser has no threads
    return None if alone else {"n_jobs": -1, "backend": "threading"}
