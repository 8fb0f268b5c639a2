"""``permtest compare``: one test of two systems."""

from __future__ import annotations

import argparse
import json
import sys
from decimal import Context, Decimal
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from permtest import __version__
from permtest._integers import exact_sum
from permtest.alternatives.result import rejects
from permtest.cli import options
from permtest.cli.inputs import FILES, METRICS, add_input, known_statistic, read_input
from permtest.cli.shared import EXIT_CODES, FAILED, OK, aligned, direction, print_text
from permtest.comparison import compare
from permtest.exact import exact_perm_test
from permtest.margins import MarginTestResult
from permtest.monte_carlo import monte_carlo
from permtest.pairs import Pairs
from permtest.readers.files import printable
from permtest.result import PermutationTestResult, StructuredTestResult
from permtest.score import CORRECT
from permtest.solvers import SOLVERS
from permtest.statistics import CountStatistic, Statistic

if TYPE_CHECKING:
    from permtest.cli.shared import Commands

MONTE_CARLO = "monte_carlo"
FAILURES = ("worse", "not-better")
PICTURES = (".png", ".svg", ".pdf")

TITLE = "test whether one system is better than another"
DESCRIPTION = """\
Is system A better than system B on the same items, or could it be luck? Reads the scores of both,
or counts such as true positives, and runs the exact paired-permutation test."""

EPILOG = f"""\
{FILES}

{METRICS}

examples:
  permtest compare scores.txt
  permtest compare results.csv --a new --b old --alternative greater --plot null.png
  permtest compare entities.csv --a new --b old --metric f1 --clusters document
  permtest compare runs/new runs/old --metric acc_norm
  permtest compare --gold gold.conllu new.conllu old.conllu --metric las

{EXIT_CODES}"""


# ---- arguments ---------------------------------------------------------------------------------


def add_compare(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "compare", _compare, TITLE, DESCRIPTION, EPILOG)
    add_input(parser)
    _add_test(parser)
    _add_output(parser)


def _add_test(parser: argparse.ArgumentParser) -> None:
    options.add_alternative(parser)
    parser.add_argument(
        "--method",
        choices=("auto", *SOLVERS, MONTE_CARLO),
        default="auto",
        help="all but monte_carlo are exact and agree; default: %(default)s",
    )
    parser.add_argument(
        "--samples", metavar="K", type=int, help="of --method monte_carlo; default: 20000"
    )
    parser.add_argument("--seed", metavar="S", type=int, help="makes a sampled p reproducible")
    parser.add_argument(
        "--fail-if",
        choices=FAILURES,
        help="leave with exit code 1 if A is significantly worse than B, or unless it is "
        "significantly better",
    )
    parser.add_argument(
        "--alpha",
        metavar="P",
        type=float,
        default=0.05,
        help="level of --fail-if, and 1 minus the confidence level of --json; default: %(default)s",
    )
    parser.add_argument(
        "--margin",
        metavar="M",
        type=float,
        help="of --fail-if: worse or better by more than this, in scores per pair, or per "
        "cluster where these are swapped",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plot", metavar="OUT", help=f"draw the null distribution ({', '.join(PICTURES)})"
    )
    options.add_json_and_force(parser, "let --plot overwrite a file")


# ---- the command -------------------------------------------------------------------------------


def _compare(args: argparse.Namespace) -> int:
    _check_sampling(args)
    _check_gate(args)
    if args.plot is not None:
        _check_plot(Path(args.plot), args.force)
    pairs, entry = read_input(args)
    _check_seed(args, entry)
    result = _test(pairs, entry, args)
    failure = _failure(result, pairs, entry, args)
    try:
        print_text(_json(result, pairs, args) if args.json else _text(result, pairs, entry, args))
    finally:  # the picture was asked for, even if nobody reads all of the output
        if args.plot is not None:
            _draw(result, Path(args.plot))
    if failure:
        print(f"permtest: {printable(failure)}", file=sys.stderr)
    return FAILED if failure else OK


def _check_gate(args: argparse.Namespace) -> None:
    """Refuse what --fail-if could not be decided by."""
    options.check_alpha(args.alpha)
    if args.margin is not None and (args.fail_if is None or not 0 <= args.margin < inf):
        raise ValueError(f"--margin {args.margin:g}: it needs --fail-if, and a number from 0 on")


def _failure(
    result: PermutationTestResult,
    pairs: Pairs,
    entry: Statistic | CountStatistic,
    args: argparse.Namespace,
) -> str:
    """Why --fail-if holds; empty if it does not.

    The claim "A is worse", or "A is better", is shown by a two-sided test at the level alpha and
    the sign of the difference; with a margin by a test against it, at half of that level.
    """
    if args.fail_if is None:
        return ""
    (a, b), worse, level = result.names, args.fail_if == "worse", args.alpha
    side = "greater" if result.score.higher_is_better != worse else "less"
    if args.alternative not in ("two-sided", side):
        raise ValueError(
            f"--fail-if {args.fail_if} asks whether {result.score.claim(side, (a, b))}, which "
            f"--alternative {args.alternative} cannot show; leave --alternative out"
        )
    p, shown = result, result.better == (b if worse else a)
    if args.margin:
        if isinstance(entry, CountStatistic):
            raise ValueError(f"--margin is for single scores, not for --metric {entry.name}")
        question = compare(pairs, None, None, None, statistic=entry, alternative=side, names=None)
        margin = Fraction(str(args.margin)) * (1 if side == "greater" else -1)
        p, shown = MarginTestResult.against(question, margin), True
        level /= 1 + (args.alternative == "two-sided")
    shown = shown and bool(rejects(p.pvalue, level))
    each = "pair" if result.n_entries is None else "cluster"
    beyond = f" by more than {args.margin:g} per {each}" if args.margin else ""
    claim = f"{a} is {'' if shown else 'not '}significantly {'worse' if worse else 'better'}"
    sides = "two-sided" if p.alternative == "two-sided" else "one-sided"
    text = f"{claim} than {b}{beyond} ({sides} p = {p.pvalue_text()}, level {level:g})"
    return text if shown == worse else ""


def _check_sampling(args: argparse.Namespace) -> None:
    """Sampling options must not be ignored in silence, nor fail after a long computation."""
    if args.samples is not None and args.method != MONTE_CARLO:
        raise ValueError(f"--samples needs --method {MONTE_CARLO}")
    if args.samples is not None and args.samples < 1:
        raise ValueError(f"--samples {args.samples}: at least 1 is needed")
    options.check_seed(args.seed)


def _check_seed(args: argparse.Namespace, entry: Statistic | CountStatistic) -> None:
    """Only measures of counts are sampled where nobody asked for it."""
    may_sample = isinstance(entry, CountStatistic) and args.method == "auto"
    if args.seed is not None and args.method != MONTE_CARLO and not may_sample:
        raise ValueError(f"--seed needs --method {MONTE_CARLO}, or a metric of counts")


def _check_plot(path: Path, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot {path}: the name must end in {' or '.join(PICTURES)}")
    options.check_file("--plot", path, force)
    options.check_installed(["matplotlib"], "--plot", "plot")


def _test(
    pairs: Pairs, entry: Statistic | CountStatistic, args: argparse.Namespace
) -> PermutationTestResult:
    options = {"statistic": entry, "alternative": args.alternative}
    if args.method != MONTE_CARLO:
        return exact_perm_test(pairs, method=args.method, rng=args.seed, axis=None, **options)
    size = {} if args.samples is None else {"K": args.samples}
    return monte_carlo(pairs, rng=args.seed, **size, **options)


def _is_plane(result: StructuredTestResult) -> bool:
    """Whether there is an exact law of two sums; samples are drawn as values of the metric."""
    return result.n_samples is None and result.rank == len(result.parts) == 2


def _draw(result: PermutationTestResult, path: Path) -> None:
    from matplotlib.figure import Figure  # not pyplot: no window is needed, nor a display

    from permtest.plots import plot_null, plot_plane, style

    with style():
        figure = Figure(layout="constrained")
        ax = figure.subplots()
        if isinstance(result, StructuredTestResult) and _is_plane(result):
            plot_plane(result, ax=ax)
        else:
            plot_null(result, ax=ax)
        figure.savefig(path)


# ---- what is printed ---------------------------------------------------------------------------


def _json(result: PermutationTestResult, pairs: Pairs, args: argparse.Namespace) -> str:
    level = round(1 - args.alpha, 12)
    more = {"seed": args.seed, "zero_division": args.zero_division}
    more |= {"confidence_interval": _interval(result, level), "confidence_level": level}
    more |= {"paired_by": pairs.source.get("paired_by")}
    more |= {"source": pairs.source, "version": __version__}
    if known_statistic(args.metric) is None and result.metric == "sum" and result.unit == CORRECT:
        more["metric"] = "accuracy"
    return json.dumps(result.to_dict() | more, allow_nan=False)


def _interval(result: PermutationTestResult, level: float) -> list[float | None] | None:
    """The exact interval of the difference, None for an open end; None if there is no such."""
    try:
        ends = result.confidence_interval(level)
    except (ValueError, MemoryError, ArithmeticError):
        return None
    times = result.n / (result.n_entries or result.n) if result.metric == "mean" else result.n
    return [end * times if isfinite(end) else None for end in ends]


def _text(
    result: PermutationTestResult,
    pairs: Pairs,
    entry: Statistic | CountStatistic,
    args: argparse.Namespace,
) -> str:
    """A sentence, both systems, and how p was computed."""
    metric = result.metric
    if isinstance(entry, CountStatistic):
        systems = _counts(result, pairs, entry)
        metric += f" ({entry.about}{_zero(args.zero_division)})"
    else:
        systems = _totals(result)
        metric += f" of {result.unit}" * (metric == "sum")
    facts = [("data", pairs.source["read"]), *_facts(result, metric), *_doubts(pairs)]
    finding = result.sentence(direction=False)
    return f"{finding}\n\n{aligned(systems)}\n\n{aligned(facts)}"


def _doubts(pairs: Pairs) -> list[tuple[str, str]]:
    """What there was to be found differs between the systems: they may not be the same items."""
    from permtest.study.sections import gold_doubt  # a study is more than a comparison has to load

    text = gold_doubt(pairs)
    return [("doubt", text)] if text else []


def _zero(value: float | None) -> str:
    return "" if value is None else f"; 0 / 0 is {value:g}"


def _totals(result: PermutationTestResult) -> list[tuple[str, ...]]:
    a, b = result.totals or (0, 0)
    scores = zip((*result.names, "difference"), (a, b, result.observed_sum), strict=True)
    size = result.n_entries or result.n
    rows = [(name, str(total), _mean(total, size)) for name, total in scores]
    return [("system", "total", "mean per pair"), *rows]


def _counts(
    result: PermutationTestResult, pairs: Pairs, entry: CountStatistic
) -> list[tuple[str, ...]]:
    """The sums of all columns, and the measure."""
    width = len(pairs.columns)  # of classes, too, all are added up
    sides = (counts.reshape(-1, width) for counts in (pairs.u, pairs.v))
    first, second = ([exact_sum(column) for column in counts.T] for counts in sides)
    gaps = [x - y for x, y in zip(first, second, strict=True)]
    values = (*(result.scores or (0, 0)), result.statistic)
    rows = zip((*result.names, "difference"), (first, second, gaps), values, strict=True)
    body = [(name, *map(str, sums), f"{value:.6g}") for name, sums, value in rows]
    return [("system", *pairs.columns, entry.title), *body]


def _facts(result: PermutationTestResult, metric: str) -> list[tuple[str, str]]:
    digits = 10 if result.n_samples is None else 4
    bracket = result.method == "bracket"
    clusters = result.n_entries is not None
    claim = f" ({result.score.claim(result.alternative, result.names)})"
    return [
        ("p", result.bracket_text() if bracket else result.pvalue_text(digits)),
        ("log10 p", f"{result.log10_pvalue:.10g}"),
        ("N", f"{result.n} (clusters of {result.n_entries} pairs)" if clusters else f"{result.n}"),
        (
            "informative",
            f"{result.n_informative} ({'clusters' if clusters else 'pairs'} that differ)",
        ),
        *([("score", direction(result.score))] if result.score.note else []),
        ("metric", metric),
        *([("reading", result.reading)] if result.reading else []),
        ("alternative", result.alternative + claim * (result.alternative != "two-sided")),
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
