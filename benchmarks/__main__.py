"""Accuracy and speed of this package beside others: ``python -m benchmarks``.

    python -m benchmarks            everything, in some minutes
    python -m benchmarks --quick    a taste of it, in seconds

Absolute times depend on the machine and on its mood; `benchmarks.gate` compares ratios with a
record. The command fails if an error exceeds its stated bound.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import accuracy, speed
from benchmarks.report import ROOT

OUTPUT = ROOT / "build" / "benchmarks"
#: Sizes of `accuracy.run` and of `speed.run` for a taste.
QUICK: tuple[dict[str, Any], dict[str, Any]] = (
    {"entries": 60},
    {"sizes": (100, 1000), "gaps": (1, 10), "f1_sizes": (30, 1000), "n": 1000},
)


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Measure, draw, write; return how many claims did not hold."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks", None, __doc__, formatter_class=raw)
    parser.add_argument("--quick", action="store_true", help="small sizes, few cases")
    of_errors, of_times = QUICK if parser.parse_args(arguments).quick else ({}, {})
    output.mkdir(parents=True, exist_ok=True)
    sections = [accuracy.run(output / "error.png", **of_errors), *speed.run(output, **of_times)]
    text = "\n".join(map(str, sections))
    (output / "report.md").write_text(text, encoding="utf-8")
    print(f"\n{text}\nreport.md and three pictures are in {output}", flush=True)
    wrong = [line for section in sections for line in section.failures]
    print(*(wrong or ["every bound holds"]), sep="\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
