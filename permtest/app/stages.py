"""Slow work in pieces, which gives way to whoever moves a control."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import RLock

#: Seconds between two pieces, in which what the person did meanwhile is heard of.
PAUSE = 0.02


class Stages:
    """Runs the pieces of one piece of work; new work takes the place of what is left.

    Controls may be heard of in several threads (JupyterLab has one for widgets beside that of the
    cells), so that only one piece is done at a time.

    Parameters
    ----------
    failed : callable
        Is told of an exception.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._work: Iterator[object] = iter(())
        self._lock = RLock()

    def start(self, work: Iterator[object], *, at_once: bool = False) -> None:
        """Do the first piece now, and the others when nothing else is to be done.

        Parameters
        ----------
        work : iterator
            Does a piece each time it is asked for something.
        at_once : bool, default False
            Do all of it now, as where there is no event loop.
        """
        with self._lock:
            self._work = work
            self._go(work, at_once)

    def _go(self, work: Iterator[object], at_once: bool = False) -> None:
        loop = None if at_once else _loop()
        with self._lock:
            if work is not self._work:
                return  # it has been replaced
            try:
                for _ in work:
                    if loop is not None:
                        loop.call_later(PAUSE, self._go, work)
                        return
            except Exception as error:
                self._failed(error)


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
