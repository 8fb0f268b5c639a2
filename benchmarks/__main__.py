"""Accuracy and speed of this package beside others: ``python -m benchmarks``.

It takes some minutes. Absolute times depend on the machine and on its mood; `benchmarks.gate`
compares ratios with a record. The command fails if an error exceeds its stated bound.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks import accuracy, speed
from benchmarks.report import ROOT


def main(output: Path = ROOT / "build" / "benchmarks", **sizes: Any) -> int:
    """Measure, draw, write; return how many claims did not hold. Sizes are for tests."""
    output.mkdir(parents=True, exist_ok=True)
    entries = sizes.pop("entries", accuracy.ENTRIES)
    sections = [accuracy.run(output / "error.png", entries), *speed.run(output, **sizes)]
    text = "\n".join(map(str, sections))
    (output / "report.md").write_text(text, encoding="utf-8")
    print(f"\n{text}\nreport.md and three pictures are in {output}", flush=True)
    wrong = [line for section in sections for line in section.failures]
    print(*(wrong or ["every bound holds"]), sep="\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
