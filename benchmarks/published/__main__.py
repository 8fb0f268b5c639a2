"""Compute every published figure again, and write the table: ``python -m benchmarks.published``.

    python -m benchmarks.published                  all of them, into docs/reproduction.md
    python -m benchmarks.published --only yeh       one document, to the terminal
    python -m benchmarks.published --quick          what takes seconds, to the terminal

Seconds depend on the machine: they are printed, and the document does not have them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.published import (
    nlpstattest_2020,
    submission_2021,
    wang_li_2019,
    yeh_2000,
    zmigrod_2022,
)
from benchmarks.published.figure import DIFFERS, Document, Figure, write

DOCUMENTS = tuple(
    module.DOCUMENT
    for module in (zmigrod_2022, submission_2021, yeh_2000, nlpstattest_2020, wang_li_2019)
)
OUTPUT = Path(__file__).parents[2] / "docs" / "reproduction.md"


def compute(document: Document, quick: bool) -> list[Figure]:
    """Its figures."""
    parts = [part for part in document.parts if not (quick and part in document.slow)]
    return [figure for part in parts for figure in part()]


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Compute, print what differs, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.published",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    keys = [document.key for document in DOCUMENTS]
    parser.add_argument("--only", choices=keys, nargs="+", help="these documents, not written")
    parser.add_argument("--quick", action="store_true", help="no simulations or times, not written")
    options = parser.parse_args(arguments)
    documents = [d for d in DOCUMENTS if not options.only or d.key in options.only]
    found = {document: compute(document, options.quick) for document in documents}
    if options.only or options.quick:
        print(write(found))
    else:
        output.write_text(write(found), encoding="utf-8")
    if not options.quick and {"zmigrod", "submission"} & {d.key for d in documents}:
        zmigrod_2022.show_times()
    for document, figures in found.items():
        for f in figures:
            if f.verdict == DIFFERS:
                print(f"{document.key}, {f.source}: {f.what}: {f.published}, ours {f.shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
