"""Slow work in pieces, which gives way to whoever moves a control."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

#: Seconds between two pieces, in which what the person did meanwhile is heard of.
PAUSE = 0.02


class Stages:
    """Runs the pieces of one piece of work; new work takes the place of what is left.

    Parameters
    ----------
    failed : callable
        Is told of an exception.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._work: Iterator[object] = iter(())
        self._timer: asyncio.TimerHandle | None = None

    def start(self, work: Iterator[object], *, at_once: bool = False) -> None:
        """Do the first piece now, and the others when nothing else is to be done.

        Parameters
        ----------
        work : iterator
            Does a piece each time it is asked for something.
        at_once : bool, default False
            Do all of it now, as where there is no event loop.
        """
        self.stop()
        self._work = work
        self._go(at_once)

    def stop(self) -> None:
        """Leave what has not been done."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._work = None, iter(())

    def _go(self, at_once: bool = False) -> None:
        loop = None if at_once else _loop()
        try:
            for _ in self._work:
                if loop is not None:
                    self._timer = loop.call_later(PAUSE, self._go)
                    return
        except Exception as error:
            self.stop()
            self._failed(error)


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
