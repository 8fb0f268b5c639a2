"""``permtest report``: everything about one comparison, printed or written down."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from permtest.cli import options
from permtest.cli.inputs import FILES, METRICS, add_input, known_statistic, read_input
from permtest.cli.shared import EXIT_CODES, print_text, print_written
from permtest.statistics import Statistic, lookup

if TYPE_CHECKING:
    from permtest.cli.shared import Commands

#: What must be installed for a format; the others need nothing.
NEEDS = {
    "html": ("jinja2", "matplotlib"),
    "md": ("jinja2", "matplotlib"),
    "png": ("matplotlib",),
    "svg": ("matplotlib",),
}

TITLE = "compare two systems, and write all there is to say about it"
DESCRIPTION = """\
Compares two systems by the exact test, and says what there is to say about the difference: its
interval, the items behind it, other tests side by side, effect size, power, and what to cite."""

EPILOG = f"""\
{FILES}

{METRICS}

The name of the report says what it is: .html is a page that needs nothing else, .md has its
pictures beside it, .tex is a table for a paper, .json is for programs, .png and .svg are one
picture; a folder gets all of them. The same input makes the same bytes.

examples:
  permtest report results.csv --a new --b old -o report.html
  permtest report entities.csv --a new --b old --metric f1 --clusters document -o table.tex
  permtest report runs/new runs/old --metric acc_norm -o report/

{EXIT_CODES}"""


def add_report(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "report", _report, TITLE, DESCRIPTION, EPILOG)
    add_input(parser)
    options.add_alternative(parser)
    options.add_level_and_seed(parser)
    parser.add_argument(
        "-o",
        "--out",
        metavar="PATH",
        help="write a report, and print one sentence; default: print all of it",
    )
    options.add_json_and_force(parser)


def _report(args: argparse.Namespace) -> None:
    from permtest.study.overview import overview

    options.check_alpha(args.alpha)
    options.check_seed(args.seed)
    if args.out is not None:
        _check_out(args.out, args.force)
    pairs, entry = read_input(args)
    if known_statistic(args.metric) is None and isinstance(entry, Statistic):
        entry = lookup("mean")  # on the scale of single items, as intervals are
    how = {"alternative": args.alternative, "alpha": args.alpha, "rng": args.seed}
    found = overview(pairs, statistic=entry, **how)
    if args.json:
        print_text(found.to_json())
    else:
        print_text(found.sentence() if args.out is not None else str(found))
    if args.out is None:
        return
    from permtest.report import write_report

    written = write_report(found, args.out, overwrite=args.force)
    if not args.json:
        print_written(written)


def _check_out(path: str, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    from permtest.report import check_report

    with options.checking_out(force):
        _, formats, _ = check_report(path, overwrite=force)
    modules = sorted({module for name in formats or NEEDS for module in NEEDS.get(name, ())})
    options.check_installed(modules, f"--out {path}", "study")
