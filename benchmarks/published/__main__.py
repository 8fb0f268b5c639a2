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

#: Each has a title, what else is to be said of it, and figures.
DOCUMENTS = {
    "zmigrod": zmigrod_2022,
    "submission": submission_2021,
    "yeh": yeh_2000,
    "nlpstattest": nlpstattest_2020,
    "wang-li": wang_li_2019,
}
OUTPUT = Path(__file__).parents[2] / "docs" / "reproduction.md"


def main(output: Path = OUTPUT) -> None:
    """Compute, write, and say what differs."""
    found = {one: one.figures() for one in DOCUMENTS.values()}
    output.write_text(page(found), encoding="utf-8")
    differ = [f for figures in found.values() for f in figures if not f.agrees]
    print(*(f"{f.where}: {f.what}: {f.published}, ours {f.ours}" for f in differ), sep="\n")


if __name__ == "__main__":
    main()
