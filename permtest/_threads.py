"""The one place that spreads work over the processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], chunks: Sequence[T]) -> Iterator[R]:
    """Yield ``function(chunk)`` for each chunk, in their order, computed side by side.

    The threads live no longer than the call: a pool that is kept would hang in a forked process.
    If the caller stops early, by an error or Ctrl-C, no further chunk is begun.

    Parameters
    ----------
    function : callable
        Gains from threads as far as it works in kernels, which let others run meanwhile. Must
        not depend on what the other chunks do. A kernel that it calls should have been called
        once before, or several threads compile it at the same time.
    chunks : sequence
        What to call it with. Ten chunks a processor make up for an uneven load; one is not
        worth a thread, and gets none.

    Yields
    ------
    object
        What `function` returned. An error that it raised is raised here.
    """
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    workers = min(usable_processors(), len(chunks))
    if workers < 2:
        yield from map(function, chunks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(function, chunks)


def usable_processors() -> int:
    """How many processors this process may run on, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
