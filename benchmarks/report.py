"""What the commands share: sections of a report, tables, pictures, seconds of a call."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PATIENCE = 0.5  # seconds: how long to go on repeating a quick call
#: What a fresh process is timed with.
FIRST = "import permtest; permtest.exact_perm_test([3, 2, 4], [1, 2, 3])"
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


class Section(NamedTuple):
    """What one part of a benchmark found: Markdown, what is not as claimed."""

    title: str
    text: str
    failures: Sequence[str] = ()

    def __str__(self) -> str:
        return f"## {self.title}\n\n{self.text}\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up; the first is text, the others are numbers."""
    widths = [max(3, *(len(row[i]) for row in (head, *rows))) for i in range(len(head))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in (head, *rows)
    ]
    lines.insert(1, rule)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def seconds(call: Callable[[], Any]) -> float:
    """Processor time of the shortest of 2 to 50 calls, which a busy machine hardly changes."""
    times: list[float] = []
    while len(times) < 2 or (sum(times) < PATIENCE and len(times) < 50):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def cold(code: str) -> float:
    """Processor time that a fresh process needs for `code`, the start of Python not counted."""
    timed = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
    command = [sys.executable, "-c", timed]
    return float(subprocess.check_output(command, text=True, cwd=ROOT))


def duration(value: float, digits: int = 3) -> str:
    """Seconds, rounded, in the unit that suits them."""
    unit, size = next((u for u in UNITS if value >= u[1]), UNITS[-1])
    return f"{float(f'{value / size:.{digits}g}'):g} {unit}"


@contextmanager
def drawn(path: Path, title: str, x: str, y: str) -> Iterator[Any]:
    """Axes to draw on, saved as a picture with a key beside them."""
    from matplotlib import pyplot as plt

    from permtest.plots import style

    with style():
        figure, axes = plt.subplots(figsize=(12, 6), layout="constrained")
        yield axes
        axes.set(xlabel=x, ylabel=y, title=title)
        figure.legend(loc="outside right upper", fontsize=11, handlelength=3.5)
        figure.savefig(path)
        plt.close(figure)
