"""The one place that shows how far a long computation has come."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

#: Seconds before there is anything to see.
PATIENCE = 1.0


def progress(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    """Yield the items; if that takes longer than a second, show a bar that goes away at the end.

    There is no bar where tqdm is missing, or where nobody would see it move: when errors are
    printed neither to a terminal nor to a notebook.
    """
    rest, start = iter(items), monotonic()
    # Not tqdm's own `delay`: in a notebook it makes widgets at once, and hides them.
    for done, item in enumerate(rest, start=1):
        yield item
        if done < total and monotonic() - start > PATIENCE:
            yield from _with_bar(rest, done, total, what)


def _with_bar(rest: Iterator[T], done: int, total: int, what: str) -> Iterator[T]:
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (terminal or _in_notebook()):
        return rest
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns where ipywidgets is missing, and does without
        try:
            from tqdm.auto import tqdm
        except ModuleNotFoundError:
            return rest
    bar: Iterator[T] = iter(tqdm(rest, what, total, initial=done, leave=False))
    return bar


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return "IPKernelApp" in getattr(running, "config", {})
