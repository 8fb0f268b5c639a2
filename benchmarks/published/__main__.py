"""Compute published figures again into docs/reproduction.md: ``python -m benchmarks.published``."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published import (
    nlpstattest_2020,
    submission_2021,
    wang_li_2019,
    yeh_2000,
    zmigrod_2022,
)
from benchmarks.published.figure import page
from benchmarks.report import DOCS

#: Each has a title, what else is to be said of it, and figures.
DOCUMENTS = zmigrod_2022, submission_2021, yeh_2000, nlpstattest_2020, wang_li_2019


def main(output: Path = DOCS / "reproduction.md") -> None:
    """Compute, write, and say what differs."""
    found = {one: one.figures() for one in DOCUMENTS}
    output.write_text(page(found), encoding="utf-8")
    differ = [f for figures in found.values() for f in figures if not f.agrees]
    print(*(f"{f.where}: {f.what}: {f.published}, ours {f.ours}" for f in differ), sep="\n")


if __name__ == "__main__":
    main()
