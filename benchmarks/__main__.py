"""Accuracy and speed of this package beside others: ``python -m benchmarks``.

    python -m benchmarks            everything, in some minutes
    python -m benchmarks --check    also fail if a method is slower than the record
    python -m benchmarks --record   make this run the record
    python -m benchmarks --quick    a taste of it, in seconds

Absolute times depend on the machine and on its mood. So the record in ``record.json`` holds ratios
of times measured in the same run, to the paper's Alg. 3 or Alg. 5 in plain NumPy, or to reading
the data. The command fails, whatever it was asked for, if an error exceeds its stated bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import accuracy, speed
from benchmarks.report import OUTPUT, Section

RECORD = Path(__file__).with_name("record.json")
TOLERANCE = 1.5  # what noise on a shared machine has been seen to do to a ratio

#: Sizes of `accuracy.run` and of `speed.run` for a taste.
QUICK: tuple[dict[str, Any], dict[str, Any]] = (
    {"entries": (7, 60)},
    {"sizes": (100, 1000), "gaps": (1, 10), "f1_sizes": (30, 1000), "n": 1000},
)


def compare(found: dict[str, float], record: dict[str, float]) -> list[str]:
    """Ratios that are larger than on record by more than the tolerance, or not on both sides."""
    lines = [
        f"{name}: {found[name]:.4g}, on record {record[name]:.4g}"
        for name in found.keys() & record.keys()
        if found[name] > TOLERANCE * record[name]
    ]
    unknown = found.keys() ^ record.keys()
    return sorted(lines + [f"{name}: make a new record with --record" for name in unknown])


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Measure, draw, write; return how many claims did not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="fail if slower than the record")
    parser.add_argument("--record", action="store_true", help="make this run the record")
    parser.add_argument("--quick", action="store_true", help="small sizes, few cases")
    options = parser.parse_args(arguments)
    if options.quick and (options.check or options.record):
        parser.error("the record is of a full run: leave out --quick")
    start = time.perf_counter()
    output.mkdir(parents=True, exist_ok=True)
    of_errors, of_times = QUICK if options.quick else ({}, {})
    sections = [accuracy.run(output / "error.png", **of_errors), *speed.run(output, **of_times)]
    ratios = {name: ratio for section in sections for name, ratio in section.ratios.items()}
    words = "\n".join(f"- {name}: {ratio:.3g}" for name, ratio in ratios.items())
    text = "\n".join(map(str, [*sections, Section("Ratios", words)]))
    (output / "report.md").write_text(text, encoding="utf-8")
    print(f"\n{text}\nreport.md and three pictures are in {output}", flush=True)
    wrong = [line for section in sections for line in section.failures]
    if options.record:
        RECORD.write_text(json.dumps(ratios, indent=1) + "\n", encoding="utf-8")
    if options.check:
        wrong += compare(ratios, json.loads(RECORD.read_text(encoding="utf-8")))
    verdict = "\n".join(wrong) or "every bound holds" + " and none is slower" * options.check
    print(f"{verdict} ({time.perf_counter() - start:.0f} s)")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
