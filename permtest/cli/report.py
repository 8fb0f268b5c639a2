"""``permtest report``: everything about one comparison, printed or written down."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import TYPE_CHECKING

from permtest.cli.inputs import FILES, METRICS, add_input, read_input
from permtest.cli.shared import EXIT_CODES, print_text
from permtest.statistics import ALTERNATIVES, Statistic, lookup

if TYPE_CHECKING:
    from permtest.cli.shared import Commands

#: What must be installed for a format; the others need nothing.
NEEDS = {
    "html": ("jinja2", "matplotlib"),
    "md": ("jinja2", "matplotlib"),
    "png": ("matplotlib",),
    "svg": ("matplotlib",),
}

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
    parser = commands.add_parser(
        "report",
        help="compare two systems, and write all there is to say about it",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_input(parser)
    parser.add_argument(
        "--alternative",
        choices=ALTERNATIVES,
        default="two-sided",
        help="greater: A scores higher than B (of wer: has more errors); default: %(default)s",
    )
    parser.add_argument(
        "--alpha", metavar="P", type=float, default=0.05, help="level; default: %(default)s"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of everything random; default: 0"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="PATH",
        help="write a report, and print one sentence; default: print all of it",
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(run=_report)


def _report(args: argparse.Namespace) -> None:
    from permtest.study.overview import overview

    _check_options(args)
    if args.out is not None:
        _check_out(args.out, args.force)
    pairs, entry = read_input(args)
    if not _is_statistic(args.metric) and isinstance(entry, Statistic):
        entry = lookup("mean")  # on the scale of single items, as intervals are
    how = {"alternative": args.alternative, "alpha": args.alpha, "rng": args.seed}
    found = overview(pairs, statistic=entry, **how)
    if args.json:
        print_text(found.to_json())
    else:
        print_text(found.sentence() if args.out is not None else str(found))
    if args.out is None:
        return
    from permtest.report import write_overview

    written = write_overview(found, args.out, overwrite=args.force)
    if not args.json:
        print_text("\nwrote " + "\n      ".join(map(str, written)))


def _is_statistic(metric: str | None) -> bool:
    """Whether --metric says what is tested, and not which score of the files."""
    try:
        return metric is not None and bool(lookup(metric))
    except ValueError:
        return False


def _check_options(args: argparse.Namespace) -> None:
    if not 0 < args.alpha < 1:
        raise ValueError(f"--alpha {args.alpha:g}: a level lies between 0 and 1")
    if args.seed < 0:
        raise ValueError(f"--seed {args.seed}: a seed must not be negative")


def _check_out(path: str, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    from permtest.report import check_overview

    try:
        _, formats, _ = check_overview(path, overwrite=force)
    except FileExistsError as error:
        advice = "choose another name" + ("" if force else ", or add --force")
        raise ValueError(f"--out {error}; {advice}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"--out {error}") from None
    for module in sorted({module for name in formats for module in NEEDS.get(name, ())}):
        if find_spec(module) is None:
            raise ImportError(f"--out {path} needs {module}: pip install 'permtest[study]'")
