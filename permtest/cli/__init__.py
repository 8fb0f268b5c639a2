"""The command line: the same tests without a notebook."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from permtest import __version__
from permtest.cli.compare import add_compare
from permtest.cli.completion import add_completion
from permtest.cli.formats import add_formats
from permtest.cli.leaderboard import add_leaderboard
from permtest.cli.notebooks import add_app, add_lab
from permtest.cli.report import add_report
from permtest.cli.shared import BAD_INPUT, BROKEN_PIPE, NOT_COMPUTED, OK, Parser, fail
from permtest.cli.study import add_study

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `permtest`.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program. Default: those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 (not computed, or ``--fail-if`` holds) or 2 (bad input). Usage errors,
        ``--help`` and ``--version`` raise SystemExit, as argparse does.
    """
    if sys.stdout is None:  # closed by whoever started this
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    args = _parser().parse_args(argv)
    try:
        code: int | None = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, ImportError) as error:
        return fail(str(error), BAD_INPUT)
    except (MemoryError, ArithmeticError, OSError) as error:
        return fail(str(error) or type(error).__name__, NOT_COMPUTED)
    except KeyboardInterrupt:
        return fail("interrupted", 130)
    return OK if code is None else code


def _parser() -> Parser:
    parser = Parser(
        prog="permtest", description="Exact paired-permutation tests.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"permtest {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (
        *(add_compare, add_leaderboard, add_report, add_study, add_formats),
        *(add_app, add_lab, add_completion),
    ):
        add(commands)
    return parser
