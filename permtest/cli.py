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
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from io import TextIOWrapper
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from permtest import __version__
from permtest._text import counted, interval, number, p_value, plain, text_table

OK, FAILED, BAD, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
SIDES, RUNS = ("two-sided", "greater", "less"), ("pass@", "pass^")

#: Scores that are not 0 or 1 have an interval at once up to so many items; JSON always has it.
QUICK = 500


def bounded(kind: type, low: float, high: float, text: str) -> Callable[[str], Any]:
    """A type of argument: a number between two others."""

    def convert(value: str) -> Any:
        with suppress(ValueError):
            if low < kind(value) < high:
                return kind(value)
        raise argparse.ArgumentTypeError(f"{value} is not {text}")

    return convert


LEVEL = bounded(float, 0, 1, "a number between 0 and 1")
POSITIVE = bounded(float, 0, inf, "a number above 0")
PORT = bounded(int, 0, 2**16, "a port, a number from 1 to 65535")
SEED = bounded(int, -1, inf, "a whole number from 0 on")
SHARE = {"type": bounded(float, -1e-300, 1 + 1e-12, "a number from 0 to 1")}
WAY = {"default": None, "dest": "higher_is_better"}
MANY = {"choices": ("holm", "bh", "max_t", "none")}

#: Option -> what follows it (None: nothing), what it is for, and more for argparse.
OPTIONS: dict[str, tuple[str | None, str, dict[str, Any]]] = {
    "file": ("FILE", "scores of both systems, or of A, with those of B in FILE_B", {}),
    "file_b": ("FILE_B", argparse.SUPPRESS, {"nargs": "?"}),
    "files": ("FILE", "scores of all systems, in one file or one each", {"nargs": "+"}),
    "pilot": ("FILE", "scores of a pilot", {"nargs": "*"}),
    "--a": ("COL", "column of system A in one table; for counts also what names begin with", {}),
    "--b": ("COL", "column of system B", {}),
    "--systems": ("A,B,...", "columns of the systems, or a pattern: '*_correct'", {}),
    "--system": ("COL", "whose a line is, in a table with a line for each item and system", {}),
    "--score": ("COL", "the score of a line, or of a file", {}),
    "--id": ("COL", "which item a line is (repeat it for several columns)", {"action": "append"}),
    "--run": ("COL", "tells runs of an item apart: seeds, samples, raters", {}),
    "--clusters": ("COL", "what is swapped as a whole, such as documents", {}),
    "--gold": ("GOLD", "the right answers: COL, FILE or FILE:COL", {}),
    "--prediction": ("COL", "what the systems answered", {}),
    "--pos-label": ("LABEL", "the label that f1 and the like are of", {}),
    "--metric": ("NAME", "accuracy (default with --gold), f1, macro_f1, las, ...", {}),
    "--records": ("PATH", "where the list of records is in a JSON file", {}),
    "--missing": ("HOW", "items without a score: drop or zero", {"choices": ("drop", "zero")}),
    "--higher-is-better": (None, "the direction", WAY | {"action": "store_true"}),
    "--lower-is-better": (None, "the other direction", WAY | {"action": "store_false"}),
    "--alternative": ("SIDE", "%(choices)s", {"choices": SIDES, "default": "two-sided"}),
    "--null": ("WHAT", "with --run: %(choices)s", {"choices": ("items", "runs", "systems")}),
    "--seed": ("SEED", "of random numbers, where p is sampled", {"type": SEED, "default": 0}),
    "--alpha": ("P", "level; intervals have 1 - P", {"type": LEVEL, "default": 0.05}),
    "--fail-if": ("HOW", "exit with 1: %(choices)s", {"choices": ("worse", "not-better")}),
    "--margin": ("M", "of --fail-if: by more than M an item", {"type": POSITIVE}),
    "--baseline": ("NAME", "compare all others only with it", {}),
    "--correction": ("HOW", "for the number of pairs: %(choices)s", MANY | {"default": "holm"}),
    "--delta": ("D", "the mean difference that matters", {"type": float}),
    "--sigma": ("S", "standard deviation of the differences", {"type": POSITIVE}),
    "--shares": ("P", "shares of items that only A, and only B, has right", SHARE | {"nargs": 2}),
    "--power": ("P", "default: %(default)s", {"type": LEVEL, "default": 0.8}),
    "--config": ("YAML", "options of a study", {}),
    "--out": ("PATH", "write a report: .html, .md, .tex, .json, or a folder", {}),
    "--force": (None, "replace files that exist", {}),
    "--json": (None, "print one JSON object", {}),
    "--port": ("PORT", "default: one that is free", {"type": PORT, "default": 0}),
    "--no-browser": (None, "print the address only", {}),
}
DECLARED = "system score id run clusters gold prediction pos_label records missing higher_is_better"
COLUMNS = "--system --score --id --run --clusters --gold --prediction --pos-label --metric "
COLUMNS += "--records --missing --higher-is-better --lower-is-better "


class Parser(argparse.ArgumentParser):
    """Help of a hundred columns, and one line for each error."""

    def __init__(self, **options: Any) -> None:
        form = partial(argparse.RawDescriptionHelpFormatter, width=100, max_help_position=25)
        super().__init__(formatter_class=form, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Leave with the exit code of bad input."""
        self.exit(BAD, f"{self.prog}: error: {message}; see {self.prog} --help\n")


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
        code: int | None = args.command(args)
        sys.stdout.flush()
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
    return OK if code is None else code


def _parser() -> Parser:
    parser = Parser(prog="permtest", description="Exact paired-permutation tests.")
    parser.add_argument("--version", action="version", version=f"permtest {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for run, names in COMMANDS.items():
        title, usage, about = (inspect.getdoc(run) or "").split("\n\n", 2)
        command = commands.add_parser(run.__name__, help=title, usage=usage, description=about)
        command.set_defaults(command=run, prog=command.prog)
        for name in names.split():
            metavar, told, more = OPTIONS[name.rstrip("=")]
            more = more if name[-1] != "=" else more | {"default": None}  # the YAML file may say it
            how: dict[str, Any] = {"metavar": metavar} if metavar else {"action": "store_true"}
            command.add_argument(
                *["-o"] * (name == "--out"), name.rstrip("="), help=told, **how | more
            )
    return parser


def _read(args: argparse.Namespace, *, many: bool = False) -> Any:
    """The scores that the arguments speak of, and the statistic that they are tested by."""
    from permtest.readers import METRICS, read, read_many

    given: dict[str, Any] = {name: getattr(args, name) for name in DECLARED.split()}
    of_runs = (args.metric or "").startswith(RUNS)
    if of_runs and args.command is not compare:
        raise ValueError(f"--metric {args.metric} is of repeated runs, for permtest compare --run")
    metric = None if of_runs else args.metric
    given["statistic"] = metric
    if many:
        scores = read_many(*args.files, systems=args.systems, **given)
    else:
        scores = read(args.file, args.file_b, a=args.a, b=args.b, **given)
    return scores, METRICS.get(metric or "", metric) or ("accuracy" if args.gold else "mean")


def compare(args: argparse.Namespace) -> int:
    """Test whether two systems differ.

    permtest compare FILE [FILE_B] [options]

    Is the difference between A and B on the same items more than luck? An exact paired-permutation
    test. If it is not clear which columns are what, permtest shows them and proposes a command.
    With --null, --run tells repeated runs apart, and what is swapped are items, runs, or systems.
    --fail-if needs to know which direction is better.
    """
    if args.margin is not None and args.fail_if is None:
        raise ValueError("--margin needs --fail-if")
    scores, statistic = _read(args)
    how: dict[str, Any] = {"alternative": args.alternative}
    if args.null or (args.metric or "").startswith(RUNS):
        from permtest.runs import exact_runs_test

        metric = args.metric if (args.metric or "").startswith(RUNS) else "mean"
        result: Any = exact_runs_test(scores, null=args.null or "items", statistic=metric, **how)
    else:
        from permtest.exact import exact_perm_test

        result = exact_perm_test(scores, statistic=statistic, rng=args.seed, **how)
    level = round(1 - args.alpha, 12)
    gate = _gate(result, scores, args) if args.fail_if else {}
    if args.json:
        print(json.dumps(plain(_facts(result, scores, level, args) | gate), allow_nan=False))
    else:
        print("\n".join([*_lines(result, scores, level), *filter(None, [gate.get("decision")])]))
    if not gate.get("failed"):
        return OK
    print(f"{args.prog}: {gate['decision']}", file=sys.stderr)
    return FAILED


def _interval(result: Any, level: float) -> tuple[Any, str | None]:
    """The interval of the difference of means, or why there is none."""
    try:
        return list(result.confidence_interval(level)), None
    except (ValueError, MemoryError, ArithmeticError) as error:
        return None, str(error)


def _difference(result: Any) -> Any:
    """The difference of means, or of measures."""
    single = result.totals is not None and result.metric != "mean"
    size = result.n_entries or result.n or 1
    return result.difference / size if single else result.difference


def _facts(result: Any, scores: Any, level: float, args: argparse.Namespace) -> dict[str, Any]:
    """What a script may want to know."""
    ends, reason = _interval(result, level)
    facts = {"score": scores.score, "higher_is_better": scores.higher_is_better, "notes": []}
    facts |= result.to_dict() | {"difference": _difference(result)}
    facts |= {"confidence_interval": ends, "confidence_interval_reason": reason}
    facts |= {"confidence_level": level, "paired_by": scores.source["paired_by"]}
    facts["notes"] = [*facts["notes"], *_left_out(scores.source)]
    return facts | {"seed": args.seed, "source": scores.source, "version": __version__}


def _left_out(source: Mapping[str, Any]) -> list[str]:
    """What was left out or set to 0."""
    what = "left out" if "left_out" in source else "set to 0"
    return [f"{what}: {source['lacking']}"] if "lacking" in source else []


def _lines(result: Any, scores: Any, level: float) -> list[str]:
    """The answer in at most eight lines; first what keeps it from being one."""
    about = [x for x in result.notes if x.startswith("The answer is about")]
    lines = [*(x for x in result.notes if x not in about), result.sentence()]
    quick = scores.is_binary or len(scores) <= QUICK
    ends = _interval(result, level)[0] if quick and not scores.columns else None
    if (gap := _difference(result)) is not None:
        kind = "measures" if scores.columns else "means"
        text = f"difference of {kind}: {number(float(gap))}"
        lines.append(f"{text}, {100 * level:.6g}% interval {interval(*ends)}" if ends else text)
    text = f"{counted(result.n, result.swapped)}, {result.n_informative} of "
    text += "which differ" if result.n_informative != 1 else "which differs"
    least = result.smallest_pvalue
    lines.append(
        f"{text}; the smallest p that they could give is {p_value(least)}" if least else text
    )
    paired = "; ".join([f"paired by {scores.source['paired_by']}", *_left_out(scores.source)])
    lines.append(". ".join([paired, *about]))
    if scores.higher_is_better is not None:
        lines.append(f"{'higher' if scores.higher_is_better else 'lower'} is better")
    return lines


def _gate(result: Any, scores: Any, args: argparse.Namespace) -> dict[str, Any]:
    """What --fail-if decides: whether A is shown to be worse, or better, at the level alpha."""
    from permtest.interval import against
    from permtest.question import ask

    known = result.higher_is_better
    if known is None:
        problem = "needs to know the direction: add --higher-is-better or --lower-is-better"
        raise ValueError(f"--fail-if {args.fail_if} {problem}")
    worse, test, level = args.fail_if == "worse", result, args.alpha
    a, b = result.names
    shown, beyond = result.better == (b if worse else a), ""
    if args.margin is not None:  # one-sided, at half of the level
        bound = Fraction(str(args.margin))
        below = worse == known
        test = against(ask(scores), *((-inf, -bound) if below else (bound, inf)))
        shown, level, beyond = True, level / 2, f" by more than {args.margin:g} an item"
    low, high = test.pvalue_interval()
    if shown and low <= level < high:
        raise ValueError(f"--fail-if cannot be decided: p lies between {low:.6g} and {high:.6g}")
    shown = shown and high <= level
    claim = f"{a} is {'' if shown else 'not '}significantly {'worse' if worse else 'better'}"
    p = p_value(test.pvalue, test.log10_pvalue)
    return {
        "fail_if": args.fail_if,
        "failed": shown == worse,
        "decision": f"{claim} than {b}{beyond} (p = {p}, level {level:g})",
    }


def leaderboard(args: argparse.Namespace) -> None:
    """Rank many systems, and say which are tied.

    permtest leaderboard FILE ... [options]

    Compares all pairs of systems by exact tests, corrects p for their number, and says who is first
    and who is tied. A FILE has all systems, or one each.
    """
    from permtest.many import compare_many
    from permtest.study import report as document

    _check_place(args)
    scores, statistic = _read(args, many=True)
    names = "baseline", "alpha", "correction"
    how: dict[str, Any] = {name: getattr(args, name) for name in names}
    board = compare_many(scores, statistic=statistic, rng=args.seed, **how)
    paired = "; ".join([f"paired by {scores.source['paired_by']}", *_left_out(scores.source)])
    _finish(
        f"{board}\n\n{text_table(board.rows(), board.titles)}\n\n{paired}", document(board), args
    )


def report(args: argparse.Namespace) -> None:
    """Compare two systems, and write all there is to say about it.

    permtest report FILE [FILE_B] [options]

    The exact test, the interval of the difference, the items behind it, other tests side by side,
    effect sizes, how many items the next study needs, and what to cite. With --config, a YAML file,
    it becomes a study (permtest.study.StudyConfig explains its options).
    """
    from permtest.study import report as document

    _check_place(args)
    scores, statistic = _read(args)
    names = "alternative", "alpha", "config"
    found = document(scores, statistic=statistic, **{name: getattr(args, name) for name in names})
    _finish(str(found), found, args)


def _check_place(args: argparse.Namespace) -> None:
    """Refuse, before anything is read, a place where no document can be written."""
    from permtest.study.report import destination

    if args.out is not None:
        try:
            destination(args.out, overwrite=args.force)
        except FileExistsError as error:
            raise ValueError(f"--out {error}; choose another name, or add --force") from None
        except (OSError, ValueError) as error:
            raise ValueError(f"--out {error}") from None


def _finish(text: str, document: Any, args: argparse.Namespace) -> None:
    """Print the text, or the JSON object; write the document, where --out says so."""
    written = [] if args.out is None else document.write(args.out, overwrite=args.force)
    print(document.to_json() if args.json else text)
    if written and not args.json:
        print("\nwrote", *written)


def plan(args: argparse.Namespace) -> None:
    """Say how many items a comparison needs.

    permtest plan [FILE [FILE_B]] [options]

    State the difference to find and the standard deviation of the differences, or the shares of
    items that one system alone has right; or name the files of a pilot, which says the rest.
    """
    from permtest.study.power import power_with, units_needed

    of, unit = _effect(args)
    how: dict[str, Any] = {"alpha": args.alpha, "alternative": args.alternative}
    needed = units_needed(of, power=args.power, **how)
    sizes = sorted({max(2, round(needed * part / 4)) for part in (1, 2, 3, 4, 6, 8)} | {needed})
    rows = [{"n": n, "power": power_with(n, of, **how)} for n in sizes]
    if args.json:
        facts = {"n": needed, "wanted": args.power, "unit": unit, "curve": rows, **of, **how}
        print(json.dumps(plain(facts | {"version": __version__})))
        return
    given = "the systems differ by {delta:.6g} on average, with a standard deviation of {sigma:.6g}"
    if "p_b" in of:
        given = "A alone is right on {p_b:.4g} of the items, and B alone on {p_c:.4g}"
    test = f"A {'two' if args.alternative == 'two-sided' else 'one'}-sided test at the level "
    test += f"{args.alpha:g} needs {counted(needed, unit)} for a power of {args.power:g} if "
    print(f"{test}{given.format(**of)}.\n\n{text_table(rows, {'n': unit, 'power': 'power'})}")


def _effect(args: argparse.Namespace) -> tuple[dict[str, float], str]:
    """The difference to find, and what is counted."""
    if args.shares is not None:
        found, unit = dict(zip(("p_b", "p_c"), args.shares, strict=True)), "items"
    elif not args.pilot:
        found, unit = {"delta": args.delta, "sigma": args.sigma}, "items"
        if None in found.values():
            raise ValueError("name --delta and --sigma, or --shares, or the files of a pilot")
    else:
        from permtest.study.power import observed_effect

        args.file, args.file_b = (*args.pilot, None)[:2]
        scores, _ = _read(args)
        if scores.columns:
            raise ValueError("a plan needs single scores, and these are counts")
        per = len(scores) / len(scores.units) * scores.scale
        differences = scores.units.differences().astype(float) / per
        found, unit = observed_effect(differences), "items"
        unit = unit if scores.clusters is None else "clusters"
        stated = {"delta": args.delta, "sigma": args.sigma}
        if stated := {name: x for name, x in stated.items() if x is not None}:
            found = {"delta": differences.mean(), "sigma": differences.std(ddof=1)} | stated
        if args.delta is None:
            from permtest.exact import exact_perm_test

            test = exact_perm_test(scores, alternative=args.alternative)
            if test.pvalue > args.alpha:
                problem = (
                    f"the pilot does not tell which system is higher (p = {test.pvalue_text()})"
                )
                raise ValueError(f"{problem}; name the smallest difference that matters (--delta)")
    if not (found["delta"] if "delta" in found else found["p_b"] - found["p_c"]):
        raise ValueError(
            "no number of items finds a difference of 0; name one that matters, --delta"
        )
    return found, unit


def app(args: argparse.Namespace) -> None:
    """Compare two systems on a web page of this machine.

    permtest app [options]

    Choose the files of two systems on the page. Who has the address that is
    printed can see the page, and nothing leaves this machine. Needs pip install 'permtest[lab]'.
    """
    for module in ("voila", "ipywidgets", "matplotlib", "jinja2"):
        if find_spec(module) is None:
            raise ImportError(f"permtest app needs {module}: pip install 'permtest[lab]'")
    from permtest.app import serve

    print("starting the page", flush=True)  # Jupyter takes some seconds
    serve(port=args.port, browser=not args.no_browser)


INPUT, OUTPUT = f"file file_b --a --b {COLUMNS}", "--out --force --json"
COMMANDS: dict[Callable[[argparse.Namespace], int | None], str] = {
    compare: f"{INPUT} --alternative --null --seed --alpha --fail-if --margin --json",
    leaderboard: f"files --systems {COLUMNS} --baseline --correction --alpha --seed " + OUTPUT,
    report: f"{INPUT} --alternative= --alpha= --config {OUTPUT}",
    plan: f"pilot --a --b {COLUMNS} --delta --sigma --shares --power --alpha --alternative --json",
    app: "--port --no-browser",
}
