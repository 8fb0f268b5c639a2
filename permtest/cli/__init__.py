"""The command line: the same tests without a notebook."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from permtest import __version__
from permtest.cli import commands, compare_files
from permtest.cli.inputs import BAD, INPUT, READING, SCORES, Parser, Run, add_command

__all__ = ["main"]

OK, INTERRUPTED, BROKEN_PIPE = 0, 130, 141

#: Name of a command -> what does it, and its arguments in groups.
COMMANDS: dict[str, tuple[Run, str]] = {
    "compare": (
        compare_files.run,
        f"{INPUT}; test: --alternative --null --paired-runs --method --seed; "
        "output: --json --fail-if --alpha --margin --help",
    ),
    "leaderboard": (
        commands.leaderboard,
        f"what is compared: files --systems {SCORES}; {READING}; "
        "tests and output: --baseline --alternative=many --correction --alpha "
        "--seed --out --json --force --help",
    ),
    "report": (
        commands.report,
        f"{INPUT}; report: --alternative=report --alpha=report --config --seed --out --json "
        "--force --help",
    ),
    "plan": (
        commands.plan,
        "plan: --delta --sigma --shares --power --alpha --alternative --json --help; "
        f"pilot: pilot file_b --a --b {SCORES}; {READING}",
    ),
    "app": (commands.app, "options: --port --no-browser --help"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `permtest`.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program. Default: those of the process.

    Returns
    -------
    int
        The exit code: 0; 1 if ``--fail-if`` holds; 2 for what could not be read, computed or
        written; 130 if interrupted; 141 if nobody reads the output.

    Raises
    ------
    SystemExit
        For usage errors, ``--help`` and ``--version``, as argparse does.
    """
    if sys.stdout is None:  # closed by whoever started this
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    if isinstance(sys.stdout, TextIOWrapper):  # escapes what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    try:
        code: int | None = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, ImportError, MemoryError, ArithmeticError, OSError) as error:
        text = " ".join(str(error).splitlines()) or type(error).__name__
        print(f"{args.prog}: error: {text}", file=sys.stderr)
        return BAD
    except KeyboardInterrupt as stop:  # which may say what was done
        print(f"{args.prog}: error: interrupted{f': {stop}' if str(stop) else ''}", file=sys.stderr)
        return INTERRUPTED
    except Exception:  # a fault of ours must not look as if --fail-if held
        traceback.print_exc()
        return BAD
    return OK if code is None else code


def _parser() -> Parser:
    parser = Parser(prog="permtest", description="Exact paired-permutation tests.")
    parser.add_argument("--version", action="version", version=f"permtest {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (run, arguments) in COMMANDS.items():
        add_command(subparsers, name, run, arguments)
    return parser
