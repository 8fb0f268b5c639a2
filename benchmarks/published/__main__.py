"""Compute every published figure again, and write the table: ``python -m benchmarks.published``.

    python -m benchmarks.published                  all of them, into docs/reproduction.md
    python -m benchmarks.published --only yeh       one document, to the terminal
    python -m benchmarks.published --quick          what takes seconds, to the terminal

Seconds depend on the machine: they are printed, and the document does not have them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.published import (
    nlpstattest_2020,
    submission_2021,
    table,
    wang_li_2019,
    yeh_2000,
    zmigrod_2022,
)
from benchmarks.published.figure import DIFFERS, Document, Figure, Part
from permtest._progress import progress

DOCUMENTS = tuple(
    module.DOCUMENT
    for module in (zmigrod_2022, submission_2021, yeh_2000, nlpstattest_2020, wang_li_2019)
)
OUTPUT = Path(__file__).parents[2] / "docs" / "reproduction.md"


def compute(documents: Sequence[Document], quick: bool) -> dict[Document, list[Figure]]:
    """The figures of each, with a bar of progress over their parts."""
    chosen = [(d, part) for d in documents for part in d.parts if not (quick and part.slow)]
    found: dict[Document, list[Figure]] = {document: [] for document in documents}
    for document, figures in progress(_computed(chosen), total=len(chosen), what="figures"):
        found[document] += figures
    return found


def _computed(chosen: Sequence[tuple[Document, Part]]) -> Iterator[tuple[Document, list[Figure]]]:
    for document, part in chosen:
        yield document, list(part.compute())


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Compute, print what differs, write."""
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.published",
        description=summary,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    keys = [document.key for document in DOCUMENTS]
    parser.add_argument("--only", choices=keys, nargs="+", help="these documents, not written")
    parser.add_argument("--quick", action="store_true", help="no simulations or times, not written")
    options = parser.parse_args(arguments)
    documents = [d for d in DOCUMENTS if not options.only or d.key in options.only]
    start = time.perf_counter()
    found = compute(documents, options.quick)
    if options.only or options.quick:
        print(table.write(found))
    else:
        output.write_text(table.write(found), encoding="utf-8")
    if not options.quick and {"zmigrod", "submission"} & {d.key for d in documents}:
        zmigrod_2022.show_times()
    report(found, time.perf_counter() - start)
    return 0


def report(found: dict[Document, list[Figure]], seconds: float) -> None:
    """What differs, and the counts."""
    for document, figures in found.items():
        for f in figures:
            if f.verdict == DIFFERS:
                print(f"{document.key}, {f.source}: {f.what}: {f.published}, ours {f.shown}")
    total = table.tally([f for figures in found.values() for f in figures])
    words = ", ".join(f"{n} {verdict}" for verdict, n in total.items())
    print(f"{total.total()} figures in {seconds:.0f} s: {words}")


if __name__ == "__main__":
    sys.exit(main())
