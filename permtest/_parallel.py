"""The one place that spreads work: over the processors, or over whatever joblib was told to use."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

#: Chunks that a worker of a cluster has waiting for it.
AHEAD = 4

T = TypeVar("T")
R = TypeVar("R")

#: What only the thread that asks can see: whether it computes a chunk.
_here = threading.local()


def in_parallel(function: Callable[..., R], chunks: Sequence[T], *shared: Any) -> Iterator[R]:
    """Yield ``function(chunk, *shared)`` for each chunk, in their order, computed side by side.

    In threads of this process; or, within ``joblib.parallel_config(...)``, by the workers of that
    backend: processes, or the machines of a dask cluster, where others do the chunks of a worker
    that dies. A chunk that comes here again gets no workers of its own. Where the caller stops
    early, by an error or Ctrl-C, no further chunk is begun.

    Parameters
    ----------
    function : callable
        Gains from threads as far as it works in kernels, which let others run meanwhile. Must
        not depend on what the other chunks do, and be one that can be pickled. A kernel that it
        calls should have been called once before, or several threads compile it at the same time.
    chunks : sequence
        What to call it with: fixed by the problem, not by the number of workers, so that this
        changes no result. Ten chunks a worker make up for an uneven load; one is not worth a
        worker, and gets none.
    *shared : object
        What all calls have in common. Large arrays may come to a worker read-only.

    Yields
    ------
    object
        What `function` returned. An error that it raised is raised here.
    """
    if len(chunks) > 1 and workers_asked():
        yield from _by_joblib(function, chunks, shared)
    elif (workers := min(usable_processors(), len(chunks))) > 1 and not is_worker():
        yield from _by_threads(function, chunks, shared, workers)
    else:
        for chunk in chunks:
            yield function(chunk, *shared)


def over_workers(function: Callable[..., R], chunks: Sequence[T], *shared: Any) -> Iterator[R]:
    """Yield the same, but one after the other where joblib was not asked for workers.

    For chunks that are quickest if each has all processors, and for functions of users, which may
    not be safe in threads that nobody asked for.

    Parameters
    ----------
    function, chunks, *shared
        As in `in_parallel`.

    Yields
    ------
    object
        What `function` returned.
    """
    if workers_asked():
        yield from in_parallel(function, chunks, *shared)
    else:
        for chunk in chunks:
            yield function(chunk, *shared)


def workers_asked() -> bool:
    """Whether ``joblib.parallel_config`` asks for several workers here, and this is none of them.

    Returns
    -------
    bool
    """
    if "joblib" not in sys.modules or is_worker():
        return False  # who has not imported it asks for nothing
    backend, number = sys.modules["joblib"].parallel.get_active_backend()
    return bool((backend.default_n_jobs if number is None else number) != 1)


def is_worker() -> bool:
    """Whether this is a worker already, of this module or of somebody's `joblib.Parallel`.

    Returns
    -------
    bool
        Then nothing here is done side by side, and there is no need of small chunks.
    """
    if getattr(_here, "busy", False):
        return True
    joblib = sys.modules.get("joblib")
    return joblib is not None and bool(joblib.parallel.get_active_backend()[0].nesting_level)


def usable_processors() -> int:
    """How many processors this process may run on, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _call(function: Callable[..., R], chunk: T, shared: tuple[Any, ...]) -> R:
    """One chunk, in a worker."""
    before, _here.busy = getattr(_here, "busy", False), True
    try:
        return function(chunk, *shared)
    finally:
        _here.busy = before


def _by_threads(
    function: Callable[..., R], chunks: Sequence[T], shared: tuple[Any, ...], workers: int
) -> Iterator[R]:
    """In threads that live no longer than this: a pool that is kept would hang after a fork.

    This thread holds no lock that the others wait for. In `concurrent.futures` it would, for every
    chunk, and a Ctrl-C at that moment would leave the lock closed and all of them hanging.
    """
    numbers, turn, stopped = iter(range(len(chunks))), threading.Lock(), False
    outcomes: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        nonlocal stopped
        while not stopped:
            with turn:
                number = next(numbers, None)
            if number is None:
                return
            try:
                outcomes.put((number, _call(function, chunks[number], shared), None))
            except BaseException as error:
                stopped = True
                outcomes.put((number, None, error))

    threads = [threading.Thread(target=work) for _ in range(workers)]
    try:
        for thread in threads:
            thread.start()
        yield from _in_order(outcomes, len(chunks))
    finally:
        stopped = True
        for thread in threads:
            if thread.ident is not None:  # it has been started
                thread.join()


def _in_order(
    outcomes: SimpleQueue[tuple[int, Any, BaseException | None]], size: int
) -> Iterator[Any]:
    """Yield the results of chunks 0, 1, 2 ..., and raise the error of the first that has one."""
    early: dict[int, tuple[Any, BaseException | None]] = {}
    for number in range(size):
        while number not in early:
            found, result, error = outcomes.get()
            early[found] = result, error
        result, error = early.pop(number)
        if error is not None:
            raise error
        yield result


def _by_joblib(
    function: Callable[..., R], chunks: Sequence[T], shared: tuple[Any, ...]
) -> Iterator[R]:
    """By the workers of the active backend."""
    joblib = sys.modules["joblib"]
    backend, _ = joblib.parallel.get_active_backend()
    distributed = sys.modules.get("distributed")
    if distributed and isinstance(getattr(backend, "client", None), distributed.Client):
        with backend.retrieval_context():
            yield from _by_dask(backend, function, chunks, shared)
        return
    how = "generator" if backend.supports_return_generator else "list"
    calls = (joblib.delayed(_call)(function, chunk, shared) for chunk in chunks)
    found = joblib.Parallel(return_as=how)(calls)
    try:
        for result in found:  # noqa: UP028 - with `yield from` it would be closed inside
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib tells what it has to throw away
            if how == "generator":
                found.close()


def _by_dask(
    backend: Any, function: Callable[..., R], chunks: Sequence[T], shared: tuple[Any, ...]
) -> Iterator[R]:
    """By the workers of a cluster, of whom some may die.

    Not by `joblib.Parallel`: it leaves arrays with one worker alone, so that they are lost with it,
    and waits for ever for a chunk that was given up. Here, what is shared is the result of a task
    too, which the scheduler repeats where that is lost.
    """
    most, begun = AHEAD * backend.effective_n_jobs(-1), deque[Any]()
    common = _submitted(backend.client, partial(_common, function, shared))
    try:
        for chunk in chunks:
            begun.append(_submitted(backend.client, partial(_call_common, chunk), common))
            if len(begun) == most:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:  # an error would hold on to them, and the cluster would go on
        begun.clear()
        common.release()


def _submitted(client: Any, task: Callable[..., Any], *args: Any) -> Any:
    """The future of a task: a partial, into whose chunk dask does not look."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        return client.submit(task, *args, pure=False)


def _common(function: Callable[..., R], shared: tuple[Any, ...]) -> tuple[Any, ...]:
    return function, shared


def _call_common(chunk: T, common: tuple[Callable[..., R], tuple[Any, ...]]) -> R:
    return _call(common[0], chunk, common[1])
