"""Write docs/validation.md: ``python -m benchmarks.calibration``, some twenty minutes.

A test at level 0.05 should reject a true null hypothesis in at most 5 % of data sets, and a 95 %
interval should contain the truth in at least 95 %. The command fails where permtest misses what it
claims by more than chance explains.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.calibration import beside, boards, familywise, folds, runs, single
from benchmarks.report import Section

DOCUMENT = Path(__file__).parents[2] / "docs" / "validation.md"
INTRODUCTION = """\
# What was measured

`python -m benchmarks.calibration` writes this page. A test at level 0.05 should reject a true null
hypothesis in at most 5 % of data sets, and a 95 % interval should contain the truth in at least
95 %. The tables say how often they do, for permtest and for what SciPy or a textbook would answer
on the same data. Kinds of data that suit no method are in it too.
"""

#: What makes a section from a number of simulated data sets, and what share of them it gets.
PARTS: tuple[tuple[Callable[[int], Section], float], ...] = (
    (single.right_or_wrong, 0.0),
    (single.within_a_margin, 0.0),
    (single.graded, 0.5),
    (single.clustered, 0.5),
    (runs.section, 0.5),
    (boards.section, 0.25),
    (familywise.section, 0.5),
    (folds.section, 0.25),
    (beside.effect_intervals, 0.5),
    (beside.advice, 0.1),
    (beside.e_process_power, 0.5),
)


def measure(sets: int) -> list[Section]:
    """All sections, a process for each processor."""
    jobs = (delayed(part)(round(share * sets)) for part, share in PARTS)
    return list(Parallel(n_jobs=-1)(jobs))


def main() -> int:
    """Write the page; return how much is amiss."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.calibration", None, __doc__)
    parser.formatter_class = raw
    parser.add_argument("--sets", type=int, default=2_000, help="data sets, more or less")
    sections = measure(parser.parse_args().sets)
    DOCUMENT.write_text("\n".join([INTRODUCTION, *map(str, sections)]), encoding="utf-8")
    wrong = [line for section in sections for line in section.failures]
    print(*(wrong or ["everything is as it should be"]), sep="\n")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
