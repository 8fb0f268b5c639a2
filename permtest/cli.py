"""The command line: the same test without a notebook."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from decimal import Context, Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from permtest import __version__
from permtest.exact import exact_perm_test
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.readers import read
from permtest.result import PermutationTestResult
from permtest.solvers import SOLVERS
from permtest.statistics import ALTERNATIVES, STATISTICS

#: Exit codes.
OK, NOT_COMPUTED, BAD_INPUT, BROKEN_PIPE = 0, 1, 2, 141

MONTE_CARLO = "monte_carlo"
PICTURES = (".png", ".svg", ".pdf")

DESCRIPTION = """\
Is system A better than system B on the same items, or could it be luck? Reads two columns of
scores and runs the exact paired-permutation test."""

EPILOG = f"""\
FILE holds one item a line: the number of points (correct tokens, 0 or 1, ...) of A and of B,
separated by tabs, semicolons, commas or blanks, with or without a header; or a table of more
columns, of which --a and --b choose two. Scores are whole numbers (3, 3.0, true, false), or
decimals where --metric is sum.

examples:
  permtest compare scores.txt
  permtest compare results.csv --a new --b old --alternative greater --plot null.png

exit codes:
  {OK}  the test was computed, whatever it found
  {NOT_COMPUTED}  it could not be: out of memory or range, or an output could not be written
  {BAD_INPUT}  bad input or usage; standard error says where and what to do"""


class _Parser(argparse.ArgumentParser):
    """One line for each error, the same wherever it comes from."""

    def error(self, message: str) -> NoReturn:
        self.exit(_fail(f"{message}; see {self.prog} --help", BAD_INPUT))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `permtest`.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program. Default: those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 (not computed) or 2 (bad input). Usage errors, ``--help`` and
        ``--version`` raise SystemExit, as argparse does.
    """
    args = _parser().parse_args(argv)
    try:
        _compare(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, ImportError) as error:
        return _fail(str(error), BAD_INPUT)
    except (MemoryError, ArithmeticError, OSError) as error:
        return _fail(str(error) or type(error).__name__, NOT_COMPUTED)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    return OK


def _fail(message: str, code: int) -> int:
    print(f"permtest: error: {message}", file=sys.stderr)
    return code


# ---- arguments ---------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="permtest", description="Exact paired-permutation tests.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"permtest {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    compare = commands.add_parser(
        "compare",
        help="test whether one system is better than another",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_input(compare)
    _add_test(compare)
    _add_output(compare)
    return parser


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="scores of both systems, UTF-8 text")
    parser.add_argument("--a", metavar="COL", help="column of system A: its name, or number from 1")
    parser.add_argument("--b", metavar="COL", help="column of system B")


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        choices=tuple(STATISTICS),
        default="accuracy",
        help="accuracy: counts of correct answers, never negative (default); sum: any numbers",
    )
    parser.add_argument(
        "--alternative",
        choices=ALTERNATIVES,
        default="two-sided",
        help="greater: A is better than B; less: A is worse than B; default: %(default)s",
    )
    parser.add_argument(
        "--method",
        choices=("auto", *SOLVERS, MONTE_CARLO),
        default="auto",
        help="all but monte_carlo are exact and agree; default: %(default)s",
    )
    parser.add_argument(
        "--samples", metavar="K", type=int, help="of --method monte_carlo; default: 20000"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, help="of --method monte_carlo; makes p reproducible"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument(
        "--plot", metavar="OUT", help=f"draw the null distribution ({', '.join(PICTURES)})"
    )
    parser.add_argument("--force", action="store_true", help="let --plot overwrite a file")


# ---- the command -------------------------------------------------------------------------------


def _compare(args: argparse.Namespace) -> None:
    _check_sampling(args)
    if args.plot is not None:
        _check_plot(Path(args.plot), args.force)
    pairs = read(args.file, a=args.a, b=args.b, statistic=args.metric)
    result = _test(pairs, args)
    try:
        _print(_json(result, pairs, args.seed) if args.json else f"{result}\n\n{_table(result)}")
    finally:  # the picture was asked for, even if nobody reads all of the output
        if args.plot is not None:
            _draw(result, Path(args.plot))


def _check_sampling(args: argparse.Namespace) -> None:
    """Sampling options must not be ignored in silence, nor fail after a long computation."""
    for option in ("samples", "seed"):
        value = getattr(args, option)
        if value is not None and args.method != MONTE_CARLO:
            raise ValueError(f"--{option} needs --method {MONTE_CARLO}")
    if args.samples is not None and args.samples < 1:
        raise ValueError(f"--samples {args.samples}: at least 1 is needed")
    if args.seed is not None and args.seed < 0:
        raise ValueError(f"--seed {args.seed}: a seed must not be negative")


def _check_plot(path: Path, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot {path}: the name must end in {' or '.join(PICTURES)}")
    if path.is_dir():
        raise ValueError(f"--plot {path}: this is a folder; name a file")
    if not path.parent.is_dir():
        raise ValueError(f"--plot {path}: there is no folder {path.parent}; create it first")
    if path.exists() and not force:
        raise ValueError(f"--plot {path}: the file exists; choose another name, or add --force")
    if find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'permtest[plot]'")


def _test(pairs: Pairs, args: argparse.Namespace) -> PermutationTestResult:
    options = {"statistic": args.metric, "alternative": args.alternative}
    if args.method != MONTE_CARLO:
        return exact_perm_test(pairs, method=args.method, axis=None, **options)
    size = {} if args.samples is None else {"K": args.samples}
    return monte_carlo(pairs, rng=args.seed, **size, **options)


def _draw(result: PermutationTestResult, path: Path) -> None:
    from matplotlib.figure import Figure  # not pyplot: no window is needed, nor a display

    from permtest.plots import plot_null, style

    with style():
        figure = Figure(layout="constrained")
        plot_null(result, ax=figure.subplots())
        figure.savefig(path)


# ---- what is printed ---------------------------------------------------------------------------


def _print(text: str) -> None:
    """Print `text`; characters that the terminal cannot show are escaped, not fatal."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def _json(result: PermutationTestResult, pairs: Pairs, seed: int | None) -> str:
    more = {"seed": seed, "source": pairs.source, "version": __version__}
    return json.dumps(result.to_dict() | more, allow_nan=False)


def _table(result: PermutationTestResult) -> str:
    a, b = result.totals or (0, 0)
    head = ("system", "total", "mean per pair")
    scores = zip((*result.names, "difference"), (a, b, result.statistic), strict=True)
    rows = [(name, str(total), _mean(total, result.n)) for name, total in scores]
    return f"{_aligned([head, *rows])}\n\n{_aligned(_facts(result))}"


def _facts(result: PermutationTestResult) -> list[tuple[str, str]]:
    digits = 10 if result.n_samples is None else 4
    bracket = result.method == "bracket"
    return [
        ("p", result.bracket_text() if bracket else result.pvalue_text(digits)),
        ("log10 p", f"{result.log10_pvalue:.10g}"),
        ("N", str(result.n)),
        ("informative", f"{result.n_informative} (pairs that differ)"),
        ("metric", result.metric),
        ("alternative", result.alternative),
        ("method", f"{result.method} ({result.method_reason})"),
        _certainty(result),
    ]


def _certainty(result: PermutationTestResult) -> tuple[str, str]:
    if result.n_samples is None:
        return "error bound", f"{result.error_bound:.2g} (of p, relative)"
    low, high = result.pvalue_interval()
    return "95% interval", f"{low:.4g} to {high:.4g} ({result.n_samples} samples)"


def _mean(total: float, n: int) -> str:
    """`total` / `n` with six digits, also where no float holds it."""
    return f"{Context(prec=6).divide(Decimal(total), Decimal(n)):g}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks; the first to the left, numbers of a longer row to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "   ".join(
            cell.rjust(width) if i and len(row) > 2 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
