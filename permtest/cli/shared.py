"""What all commands share: exit codes, one line for each error, tables of text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from permtest.score import Score

#: Exit codes.
OK, NOT_COMPUTED, FAILED, BAD_INPUT, BROKEN_PIPE = 0, 1, 1, 2, 141

EXIT_CODES = f"""\
exit codes:
  {OK}  the test was computed, whatever it found
  {NOT_COMPUTED}  it could not be: out of memory or range, or an output could not be written; or it
     was computed, and --fail-if holds, as standard error says
  {BAD_INPUT}  bad input or usage; standard error says where and what to do"""

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction["Parser"]


class Parser(argparse.ArgumentParser):
    """One line for each error, the same wherever it comes from."""

    def error(self, message: str) -> NoReturn:
        """Leave with the exit code of a usage error."""
        self.exit(fail(f"{message}; see {self.prog} --help", BAD_INPUT))


def fail(message: str, code: int) -> int:
    """Say what went wrong, and hand back the exit code."""
    print(f"permtest: error: {message}", file=sys.stderr)
    return code


def direction(score: Score) -> str:
    """What was compared, which direction is better, and how to say otherwise."""
    if score.basis in ("stated", "known"):
        return score.described
    other = "lower" if score.higher_is_better else "higher"
    return f"{score.described}; --{other}-is-better says otherwise"


def print_written(paths: Sequence[object]) -> None:
    """Say which files were written."""
    print_text("\nwrote " + "\n      ".join(map(str, paths)))


def print_text(text: str) -> None:
    """Print `text`; characters that the terminal cannot show are escaped, not fatal."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks; the first to the left, numbers of a longer row to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "   ".join(
            cell.rjust(width) if i and len(row) > 2 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
