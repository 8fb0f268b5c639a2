"""The command line: the same tests without a notebook."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import Any

from permtest import __version__
from permtest._errors import check_level
from permtest._text import counted, interval, number, p_value, plain, text_table

OK, FAILED, BAD, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
SIDES, RUNS = ("two-sided", "greater", "less"), ("pass@", "pass^")
WAY = {"default": None, "dest": "higher_is_better"}
FLOAT, MANY = {"type": float}, {"choices": ("holm", "bh", "max_t", "none")}

#: Option -> what follows it (None: nothing), what it is for, and more for argparse.
OPTIONS: dict[str, tuple[str | None, str, dict[str, Any]]] = {
    "file": ("FILE", "scores of both systems, or of A, with those of B in FILE_B", {}),
    "file_b": ("FILE_B", argparse.SUPPRESS, {"nargs": "?"}),
    "files": ("FILE", "scores of all systems, in one file or one each", {"nargs": "+"}),
    "--a": ("COL", "column of system A in one table; for counts also what names begin with", {}),
    "--b": ("COL", "column of system B", {}),
    "--systems": ("A,B,...", "columns of the systems, or a pattern: '*_correct'", {}),
    "--system": ("COL", "whose a line is, in a table with a line for each item and system", {}),
    "--score": ("COL", "the score of a line, or of a file", {}),
    "--id": ("COL", "which item a line is (repeat it for several columns)", {"action": "append"}),
    "--run": ("COL", "tells runs of an item apart: seeds, samples, raters", {}),
    "--clusters": ("COL", "what is swapped as a whole, such as documents", {}),
    "--gold": ("GOLD", "the right answers: COL, FILE or FILE:COL", {}),
    "--prediction": ("COL", "what systems answered; more are free to differ", {"action": "append"}),
    "--pos-label": ("LABEL", "the label that f1 and the like are of", {}),
    "--metric": ("NAME", "accuracy (default with --gold), f1, macro_f1, las, ...", {}),
    "--records": ("PATH", "where the list of records is in a JSON file", {}),
    "--missing": ("HOW", "items without a score: drop or zero", {"choices": ("drop", "zero")}),
    "--higher-is-better": (None, "the direction", WAY | {"action": "store_true"}),
    "--lower-is-better": (None, "the other direction", WAY | {"action": "store_false"}),
    "--alternative": ("SIDE", "%(choices)s", {"choices": SIDES, "default": "two-sided"}),
    "--null": ("WHAT", "with --run: %(choices)s", {"choices": ("items", "runs", "systems")}),
    "--seed": ("SEED", "of random numbers, where p is sampled", {"type": int, "default": 0}),
    "--alpha": ("P", "level; intervals have 1 - P", FLOAT | {"default": 0.05}),
    "--fail-if": ("HOW", "exit with 1: %(choices)s", {"choices": ("worse", "not-better")}),
    "--baseline": ("NAME", "compare all others only with it", {}),
    "--correction": ("HOW", "for the number of pairs: %(choices)s", MANY | {"default": "holm"}),
    "--delta": ("D", "the mean difference that matters", FLOAT),
    "--sigma": ("S", "standard deviation of the differences", FLOAT),
    "--shares": ("P", "shares of items that only A, and only B, has right", FLOAT | {"nargs": 2}),
    "--power": ("P", "default: %(default)s", FLOAT | {"default": 0.8}),
    "--config": ("YAML", "options of a study", {}),
    "-o": ("PATH", "write a report: .html, .md, .tex or .json", {"dest": "out"}),
    "--force": (None, "replace the file that -o names", {}),
    "--json": (None, "print one JSON object", {}),
    "--port": ("PORT", "default: one that is free", {"type": int, "default": 0}),
    "--no-browser": (None, "print the address only", {}),
}
COLUMNS = "--system --score --id --run --clusters --gold --prediction --pos-label --metric "
COLUMNS += "--records --missing --higher-is-better --lower-is-better "

#: Help of a hundred columns, and no options but those that are spelled out.
HELP = partial(argparse.RawDescriptionHelpFormatter, width=100, max_help_position=25)
FORM: dict[str, Any] = {"formatter_class": HELP, "allow_abbrev": False}


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
    if isinstance(sys.stdout, TextIOWrapper):  # escapes what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    try:
        code: int | None = args.command(args)
        print(end="", flush=True)  # which may break the pipe; there may be no sys.stdout
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, ImportError, MemoryError, ArithmeticError, OSError) as error:
        text = " ".join(str(error).splitlines()) or type(error).__name__
        if hasattr(error, "on_command_line"):
            text = error.on_command_line(args.prog)
        print(f"{args.prog}: {text}", file=sys.stderr)
        return BAD
    except KeyboardInterrupt as stop:  # which may say what was done
        print(f"{args.prog}: interrupted{f': {stop}' if str(stop) else ''}", file=sys.stderr)
        return INTERRUPTED
    except Exception:  # a fault of ours must not look as if --fail-if held
        traceback.print_exc()
        return BAD
    return code or OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("permtest", description="Exact paired tests.", **FORM)
    parser.add_argument("--version", action="version", version=f"permtest {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for run, names in COMMANDS.items():
        title, usage, about = (inspect.getdoc(run) or "").split("\n\n", 2)
        how: dict[str, Any] = {"help": title, "usage": usage, "description": about}
        command = commands.add_parser(run.__name__, **how | FORM)
        command.set_defaults(command=run, prog=command.prog)
        one_way = command.add_mutually_exclusive_group()
        for name in names.split():
            metavar, told, more = OPTIONS[name]
            how = {"metavar": metavar} if metavar else {"action": "store_true"}
            place = one_way if WAY.items() <= more.items() else command
            place.add_argument(name, help=told, **how | more)
        if run is report:  # whose YAML file may say them
            command.set_defaults(alternative=None, alpha=None)
    return parser


def _read(args: argparse.Namespace) -> tuple[Any, str]:
    """The scores that the arguments speak of, and the statistic that they are tested by."""
    from permtest.readers import METRICS, read, read_many

    metric = args.metric or ("accuracy" if args.gold else "mean")
    runs = metric.startswith(RUNS)
    if runs and args.command is not compare:
        raise ValueError(f"--metric {metric} is of repeated runs, for permtest compare --run")
    given = {x: y for x, y in vars(args).items() if x in inspect.signature(read).parameters}
    given["statistic"] = None if runs else args.metric
    if args.command is leaderboard:
        return read_many(*args.files, systems=args.systems, **given), METRICS.get(metric, metric)
    return read(args.file, args.file_b, **given), METRICS.get(metric, metric)


def compare(args: argparse.Namespace) -> int:
    """Test whether two systems differ.

    permtest compare FILE [FILE_B] [options]

    Is the difference between A and B on the same items more than luck? An exact paired-permutation
    test. If it is not said which columns are what, permtest shows them and may propose a command.
    With --null, --run tells repeated runs apart, and what is swapped are items, runs, or systems.
    --fail-if needs to know which direction is better.
    """
    level = round(1 - check_level(args.alpha, "--alpha"), 12)
    scores, statistic = _read(args)
    how: dict[str, Any] = {"alternative": args.alternative, "statistic": statistic}
    if args.null or statistic.startswith(RUNS):
        from permtest.runs import exact_runs_test

        how["statistic"] = statistic if statistic.startswith(RUNS) else "mean"
        result: Any = exact_runs_test(scores, null=args.null or "items", **how)
    else:
        from permtest.exact import exact_perm_test

        result = exact_perm_test(scores, rng=args.seed, **how)
    gate = _gate(result, args) if args.fail_if else {}
    facts = _facts(result, scores, level) | {"seed": args.seed} | gate
    lines = _lines(result, scores, facts) + ([gate["decision"]] if gate else [])
    _print("\n".join(lines), facts, args)
    return FAILED if gate.get("failed") else OK


def _facts(result: Any, scores: Any, level: float) -> dict[str, Any]:
    """What a script may want to know."""
    facts: dict[str, Any] = result.to_dict()
    ends: Any = None
    with suppress(ValueError, MemoryError, ArithmeticError):  # no interval
        ends = result.confidence_interval(level)
    facts |= {"confidence_interval": ends and [*ends], "interval_warning": ends and ends.warning}
    if not result.is_measured:
        facts["difference"] = float(scores.means[0] - scores.means[1])
    facts["notes"] += filter(None, [scores.source.get("lacking")])
    about = {"paired_by": scores.source["paired_by"], "source": scores.source}
    return facts | {"confidence_level": level} | about


def _print(text: str, facts: Any, args: argparse.Namespace) -> None:
    """Print the text, or with --json one object of plain values."""
    facts = plain(facts) | {"version": __version__} if args.json else None
    print(json.dumps(facts, allow_nan=False) if args.json else text)


def _lines(result: Any, scores: Any, facts: Mapping[str, Any]) -> list[str]:
    """The answer in at most eight lines; first what keeps it from being one."""
    about = [x for x in result.notes if x.startswith("The answer is about")]
    kind, ends = "measures" if result.is_measured else "means", facts["confidence_interval"]
    gap = f"difference of {kind}: {number(facts['difference'])}"
    gap += f", {100 * facts['confidence_level']:.6g}% interval {interval(*ends)}" if ends else ""
    gap += f". {warning.partition('. ')[0]}." if (warning := facts["interval_warning"]) else ""
    least = result.smallest_pvalue or 0.0
    pairs = counted(result.n, "items") if facts.get("null") == "systems" else result._pairs()
    pairs += f"; the smallest p that they could give is {p_value(least)}" * (least > 1e-300)
    paired = f"paired by {facts['paired_by']}", scores.source.get("lacking")
    lines = [x for x in result.notes if x not in about] + [result.sentence(), gap, pairs]
    lines.append(". ".join(["; ".join(filter(None, paired)), *about]))
    if result.higher_is_better is not None:
        lines.append(f"{'higher' if result.higher_is_better else 'lower'} is better")
    return lines


def _gate(result: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Whether --fail-if holds: whether A is shown to be worse, or better, at the level alpha."""
    if result.higher_is_better is None:
        problem = "needs to know the direction: add --higher-is-better or --lower-is-better"
        raise ValueError(f"--fail-if {args.fail_if} {problem}")
    worse, (a, b), (low, high) = args.fail_if == "worse", result.names, result.pvalue_interval()
    shown = result.higher == (b if worse == result.higher_is_better else a)
    if shown and low <= args.alpha < high:
        raise ValueError(f"--fail-if cannot be decided: p lies between {low:.6g} and {high:.6g}")
    shown = shown and high <= args.alpha
    text = f"{a} is {'not ' * (not shown)}significantly {'worse' if worse else 'better'} than {b}"
    text += f" (p = {result.pvalue_text()}, level {args.alpha:g})"
    return {"fail_if": args.fail_if, "failed": shown == worse, "decision": text}


def leaderboard(args: argparse.Namespace) -> None:
    """Rank many systems, and say which are tied.

    permtest leaderboard FILE ... [options]

    Compares all pairs of systems by exact tests, corrects p for their number, and says who is first
    and who is tied. A FILE has all systems, or one each.
    """
    from permtest.many import compare_many
    from permtest.study import report as document

    scores, statistic = _read(args)
    how: dict[str, Any] = {x: getattr(args, x) for x in ("baseline", "alpha", "correction")}
    board = compare_many(scores, statistic=statistic, rng=args.seed, **how)
    parts = str(board), text_table(board.rows(), board.titles), str(scores)
    text = "\n\n".join(filter(None, [*parts, scores.source.get("lacking")]))
    _finish(text, document(board), args)


def report(args: argparse.Namespace) -> None:
    """Compare two systems, and write all there is to say about it.

    permtest report FILE [FILE_B] [options]

    The exact test, the interval of the difference, the items behind it, other tests side by side,
    effect sizes, how many items the next study needs, and what to cite. With --config, a YAML file,
    it becomes a study (permtest.study.report explains its options).
    """
    from permtest.study import report as document

    scores, statistic = _read(args)
    how = {x: getattr(args, x) for x in ("alternative", "alpha", "config")}
    found = document(scores, statistic=statistic, **how)
    _finish(str(found), found, args)


def _finish(text: str, document: Any, args: argparse.Namespace) -> None:
    """Print the text, or the JSON object; write the document, where -o says so."""
    _print(text, document, args)
    if args.out is not None:
        print("wrote", document.write(args.out, overwrite=args.force), file=sys.stderr)


def plan(args: argparse.Namespace) -> None:
    """Say how many items a comparison needs.

    permtest plan --delta D --sigma S [options]

    State the difference to find and the standard deviation of the differences, or the shares of
    items that one system alone has right. permtest report finds them in the files of a pilot.
    """
    from permtest.study.power import units_needed

    of = {"delta": args.delta, "sigma": args.sigma}
    given = "the systems differ by {delta:.6g} on average, with a standard deviation of {sigma:.6g}"
    if args.shares is not None:
        of = dict(zip(("p_b", "p_c"), args.shares, strict=True))
        given = "A alone is right on {p_b:.4g} of the items, and B alone on {p_c:.4g}"
    if None in of.values() or (args.shares and (args.delta, args.sigma) != (None, None)):
        raise ValueError("name --delta and --sigma, or --shares, not both")
    how: dict[str, Any] = {"alpha": args.alpha, "alternative": args.alternative}
    needed = units_needed(of, power=args.power, **how)
    facts = {"n": needed, "wanted": args.power, "unit": "items", **of, **how}
    test = f"A {'two' if args.alternative == 'two-sided' else 'one'}-sided test at the level "
    test += f"{args.alpha:g} needs {counted(needed, 'items')} for a power of {args.power:g} if "
    _print(f"{test}{given.format(**of)}.", facts, args)


def app(args: argparse.Namespace) -> None:
    """Compare two systems on a web page of this machine.

    permtest app [options]

    Choose the files of two systems on the page. Who has the address that is
    printed can see the page, and nothing leaves this machine. Needs pip install 'permtest[lab]'.
    """
    from permtest.app import serve

    print("starting the page", flush=True)  # Jupyter takes some seconds
    serve(port=args.port, browser=not args.no_browser)


INPUT, OUTPUT = f"file file_b --a --b {COLUMNS}", "-o --force --json"
COMMANDS: dict[Callable[[argparse.Namespace], int | None], str] = {
    compare: f"{INPUT} --alternative --null --seed --alpha --fail-if --json",
    leaderboard: f"files --systems {COLUMNS} --baseline --correction --alpha --seed {OUTPUT}",
    report: f"{INPUT} --alternative --alpha --config {OUTPUT}",
    plan: "--delta --sigma --shares --power --alpha --alternative --json",
    app: "--port --no-browser",
}
