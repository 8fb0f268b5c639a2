"""What the commands share: sections of a report, tables, seconds of a call, simulations."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

OUTPUT = Path(__file__).parents[1] / "build" / "benchmarks"
PATIENCE = 0.3  # seconds: how long to go on repeating a quick call
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


@dataclass(frozen=True)
class Section:
    """What one part of a benchmark found: Markdown, what is not as claimed, what is recorded."""

    title: str
    text: str
    failures: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)

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
    """Median of 3 to 25 calls after one that warms up; the shorter of two that are long."""
    times: list[float] = []
    while len(times) < 4 or (sum(times) < PATIENCE and len(times) < 26):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if len(times) == 2 and times[0] > 1:  # the first may have been long for what it loaded
            return min(times)
    return median(times[1:])


def duration(value: float, digits: int = 3) -> str:
    """Seconds, rounded, in the unit that suits them."""
    unit, size = next((u for u in UNITS if value >= u[1]), UNITS[-1])
    return f"{float(f'{value / size:.{digits}g}'):g} {unit}"


def simulate(name: str, doc: str | None, sets: int, run: Callable[[int], Sequence[Section]]) -> int:
    """The command of a simulation: print and write what it finds; return how much is amiss."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{name}", None, doc, formatter_class=raw)
    parser.add_argument("--sets", type=int, default=sets, help="simulated data sets of each kind")
    start = time.perf_counter()
    sections = run(parser.parse_args().sets)
    text = "\n".join(map(str, sections))
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / f"{name}.md").write_text(text, encoding="utf-8")
    wrong = [line for section in sections for line in section.failures]
    print(text, *(wrong or ["everything is as it should be"]), sep="\n")
    print(f"{time.perf_counter() - start:.0f} s")
    return min(len(wrong), 1)
