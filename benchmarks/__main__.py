"""Accuracy, speed, memory and start of this package beside others: ``python -m benchmarks``.

    python -m benchmarks            everything, in some seven minutes
    python -m benchmarks --check    also fail if a method is slower than the record
    python -m benchmarks --record   make this run the record
    python -m benchmarks --quick    a taste of it, in seconds

Absolute times depend on the machine and on its mood. So the record in ``record.json`` holds ratios
of times measured in the same run, to the paper's Alg. 3 or Alg. 5 in plain NumPy, or to reading
the data. The command fails, whatever it was asked for, if an error exceeds its stated bound or
memory its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import (
    accuracy,
    bayes_tests,
    f1_accuracy,
    f1_large,
    f1_speed,
    fresh,
    large,
    leaderboards,
    peers,
    power_curves,
    reading,
    repeated,
    speed,
)
from benchmarks.f1_data import ENTRIES as F1_ENTRIES
from benchmarks.laws import ENTRIES
from benchmarks.tables import Section

RECORD = Path(__file__).with_name("record.json")
OUTPUT = Path(__file__).parents[1] / "build" / "benchmarks"
TOLERANCE = 1.5  # what noise on a shared machine has been seen to do to a ratio


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Parameters
    ----------
    sizes, gaps : tuple of int
        Values of N and of G.
    reference : int
        The N of the ratios and of the time against G.
    entries : tuple of int
        N' of the laws on which errors are measured.
    large : tuple of int
        Values of N for the accuracy of the default method alone.
    memory : int
        N for the memory.
    f1_sizes, f1_entries, f1_large : tuple of int
        N for the time of F1, for its errors against integers, and against decimals.
    rows : int
        Lines of the files that are read.
    boards : tuple of int
        N, and two numbers of systems of which all pairs are compared.
    runs : int
        N of repeated runs and of sensitivity curves.
    power : tuple of int
        The largest size of a power curve, the number of sizes, and of samples of each.
    """

    sizes: tuple[int, ...] = speed.SIZES
    gaps: tuple[int, ...] = speed.GAPS
    reference: int = speed.REFERENCE
    entries: tuple[int, ...] = ENTRIES
    large: tuple[int, ...] = large.SIZES
    memory: int = fresh.LARGEST
    f1_sizes: tuple[int, ...] = f1_speed.SIZES
    f1_entries: tuple[int, ...] = F1_ENTRIES
    f1_large: tuple[int, ...] = f1_large.SIZES
    rows: int = reading.ROWS
    boards: tuple[int, int, int] = (leaderboards.N, leaderboards.SYSTEMS, leaderboards.MANY)
    runs: int = repeated.N
    power: tuple[int, int, int] = (power_curves.N, power_curves.SIZES, power_curves.EXPERIMENTS)


FULL = Extent()
QUICK = Extent(
    (100, 1000),
    (1, 10),
    reference=1000,
    entries=(7, 60),
    large=(10**4,),
    memory=10**5,
    f1_sizes=(30, 1000),
    f1_entries=(6, 40),
    f1_large=(10**4,),
    rows=2_000,
    boards=(200, 10, 20),
    runs=200,
    power=(400, 4, 200),
)


def measure(extent: Extent, output: Path) -> tuple[list[Section], dict[str, float]]:
    """All sections of the report, its pictures drawn, and the ratios for the record."""
    curves, by_n = speed.time_by_n(extent.sizes)
    _, by_g = speed.time_by_g(extent.gaps, extent.reference)
    speed.draw_times(curves, output / "time.png", peers.all_contenders())
    cases, errors = accuracy.run(extent.entries)
    far = large.run(extent.large)
    accuracy.draw_errors(cases, output / "error.png")
    f1_curves, of_f1 = measure_f1(extent, output)
    print("coins, memory, fresh processes", flush=True)
    rest = [speed.coins(extent.reference), fresh.memory(extent.memory), fresh.startup()]
    ratios = speed.ratios(curves, extent.reference)
    yardstick = curves[speed.YARDSTICK].times[extent.reference]
    ratios |= f1_speed.ratios(f1_curves, yardstick, extent.reference)
    power = power_curves.run(*extent.power)
    ratios |= power_curves.ratios(power, extent.power[0])
    bayes, files = bayes_tests.run(), reading.run(extent.rows)
    boards, runs = leaderboards.run(*extent.boards), repeated.run(extent.runs)
    ratios |= bayes_tests.ratios(bayes) | reading.ratios(files) | leaderboards.ratios(boards)
    ratios |= repeated.ratios(runs)
    words = "\n".join(f"- {name}: {ratio:.3g}" for name, ratio in ratios.items())
    last = Section("Ratios", words, ratios)
    return [errors, far, by_n, by_g, *of_f1, power, bayes, files, boards, runs, *rest, last], ratios


def measure_f1(extent: Extent, output: Path) -> tuple[speed.Curves, list[Section]]:
    """The same for F1: times, and sections of the report."""
    curves, by_n = f1_speed.time_by_n(extent.f1_sizes)
    title = "Time for one p-value of a difference in F1"
    speed.draw_times(curves, output / "time-f1.png", f1_speed.contenders(), title)
    return curves, [
        f1_accuracy.run(extent.f1_entries),
        f1_large.run(extent.f1_large),
        by_n,
        f1_speed.time_by_rate(n=extent.reference),
        f1_speed.memory(extent.f1_sizes),
    ]


def compare(found: dict[str, float], record: dict[str, float]) -> list[str]:
    """Ratios that are larger than on record by more than the tolerance, or not on both sides."""
    lines = [
        f"{name}: {found[name]:.4g}, on record {record[name]:.4g}"
        for name in found.keys() & record.keys()
        if found[name] > TOLERANCE * record[name]
    ]
    unknown = found.keys() ^ record.keys()
    return sorted(lines + [f"{name}: make a new record with --record" for name in unknown])


def write(sections: Sequence[Section], output: Path) -> None:
    """The report, for people and for programs."""
    text = "\n".join(map(str, sections))
    (output / "report.md").write_text(text, encoding="utf-8")
    data = {section.title: section.data for section in sections}
    (output / "report.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    print(f"\n{text}\nreport.md, report.json and three pictures are in {output}", flush=True)


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Measure, draw, write; return how many claims did not hold."""
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=summary,
        epilog=rest,
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
    sections, ratios = measure(QUICK if options.quick else FULL, output)
    write(sections, output)
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
