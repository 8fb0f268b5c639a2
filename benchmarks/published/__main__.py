"""Compute published figures again, and write the page: ``python -m benchmarks.published``.

python -m benchmarks.published                  all of them, into docs/reproduction.md
python -m benchmarks.published --only yeh       one document, to the terminal
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
from benchmarks.published.figure import page

#: Each has a title, what else is to be said of it, and figures: `quick` ones, and one has `slow`
#: ones, which are timed.
DOCUMENTS = {
    "zmigrod": zmigrod_2022,
    "submission": submission_2021,
    "yeh": yeh_2000,
    "nlpstattest": nlpstattest_2020,
    "wang-li": wang_li_2019,
}
OUTPUT = Path(__file__).parents[2] / "docs" / "reproduction.md"


def main(arguments: Sequence[str] | None = None, output: Path = OUTPUT) -> int:
    """Compute, print or write, and say what differs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks.published", None, __doc__, formatter_class=raw
    )
    parser.add_argument("--only", choices=[*DOCUMENTS], nargs="+", help="these, to the terminal")
    only = parser.parse_args(arguments).only
    chosen = [DOCUMENTS[key] for key in only or DOCUMENTS]
    found = {one: one.quick() + getattr(one, "slow", list)() for one in chosen}
    if only:
        print(page(found))
    else:
        output.write_text(page(found), encoding="utf-8")
    differ = [f for figures in found.values() for f in figures if not f.agrees]
    print(*(f"{f.where}: {f.what}: {f.published}, ours {f.ours}" for f in differ), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
