"""What commands share: their options, how files become pairs, checks, and how they print."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from permtest.pairs import Pairs
from permtest.question import METHODS
from permtest.readers import describe, recognise
from permtest.readers.files import did_you_mean
from permtest.readers.pairing import MISSING, Evaluation, find_score
from permtest.score import Score
from permtest.statistics import ALTERNATIVES, STATISTICS, Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import ScoreTable
    from permtest.study.document import Document

MONTE_CARLO = "monte_carlo"
FAILED, BAD = 1, 2  # exit codes; 1 says that --fail-if holds, and nothing else
OF_RUNS = ("pass@", "pass^")  # how the statistics of exact_runs_test begin, but for the mean
OTHERWISE = "choose another name, or add --force"

#: What writes a format, and the extras that install modules; "lab" has the others.
NEEDS: dict[str, list[str]] = {"parquet": ["pyarrow"]}
NEEDS |= {kind: ["matplotlib"] for kind in ("png", "svg")}
NEEDS |= {kind: ["jinja2", "matplotlib"] for kind in ("html", "md")}
EXTRAS = {"jinja2": "study", "matplotlib": "plot", "pyarrow": "frames"}

Run: TypeAlias = Callable[[argparse.Namespace], int | None]


class Parser(argparse.ArgumentParser):
    """Help of a hundred columns, and one line for each error."""

    def __init__(self, **options: Any) -> None:
        form = partial(argparse.RawDescriptionHelpFormatter, width=100, max_help_position=25)
        super().__init__(formatter_class=form, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Leave with the exit code of bad input."""
        self.exit(BAD, f"{self.prog}: error: {message}; see {self.prog} --help\n")

    def parse_known_args(self, *args: Any, **named: Any) -> Any:
        """As `argparse`, but what a command does not know is refused by that command."""
        found, rest = super().parse_known_args(*args, **named)
        if rest:
            hint = did_you_mean(rest[0], list(self._option_string_actions))
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return found, rest


def add_command(
    commands: argparse._SubParsersAction[Parser], name: str, run: Run, arguments: str
) -> None:
    """Add a command: `run` does it, and has its help as docstring."""
    title, usage, about, examples = (inspect.getdoc(run) or "\n\n" * 3).split("\n\n", 3)
    text = {"help": title, "usage": usage, "description": about, "epilog": examples}
    parser = commands.add_parser(name, **text, add_help=False)  # type: ignore[arg-type]
    parser.set_defaults(run=run, prog=parser.prog)
    for head, names in (group.split(": ") for group in arguments.split("; ")):
        group = parser.add_argument_group(head)
        for alternatives in names.split():
            place: Any = group.add_mutually_exclusive_group() if "|" in alternatives else group
            for one in alternatives.split("|"):
                metavar, told, kind, default = (*OPTIONS[one], None, None)[:4]
                how: dict[str, Any] = {"metavar": metavar} if metavar else {"action": "store_true"}
                how |= {"choices" if isinstance(kind, tuple) else "type": kind} if kind else {}
                how |= {"default": default} if default is not None else {}
                flag = one.partition("=")[0]
                flags = [one[1:3]] * (one in ("--help", "--out")) + [flag] * (one != "pilot")
                place.add_argument(*flags, help=told, **how | MORE.get(one, {}))


def number(kind: type, wanted: str, fits: Callable[[Any], bool]) -> Callable[[str], Any]:
    """A type of argument: a number that has to fit."""

    def convert(text: str) -> Any:
        with suppress(ValueError):
            if fits(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text} is not {wanted}")

    return convert


_level = number(float, "a number between 0 and 1", lambda x: 0 < x < 1)
_share = number(float, "a number from 0 to 1", lambda x: 0 <= x <= 1)
_amount = number(float, "a number from 0 on", lambda x: 0 <= x < inf)
_positive = number(float, "a number above 0", lambda x: 0 < x < inf)
_seed = number(int, "a whole number from 0 on", lambda x: x >= 0)

CORRECTIONS = ("holm", "bh", "max-t", "none")
FAILURES = ("worse", "not-better")
HIDDEN = argparse.SUPPRESS  # the help of another option names this one

#: Option -> what follows it (nothing follows a switch), what it is for, its type or its choices,
#: and its default.
OPTIONS: dict[str, Any] = {
    "file": ("FILE", "scores of both systems, or of A, with those of B in FILE_B"),
    "file_b": ("FILE_B", HIDDEN),
    "files": ("FILE", "scores of all systems, in one file or in several"),
    "pilot": ("FILE", "scores of a pilot, as permtest compare reads them"),
    "--a": ("COL", "system A, by its name or the number of its column; --b COL: system B"),
    "--b": ("COL", HIDDEN),
    "--systems": ("A,B,...", "the systems to compare, by name or number"),
    "--metric": ("NAME", "accuracy, f1, las, ..., or a score of the files"),
    "--score": ("NAME", "which score, if files have several for each item"),
    "--higher-is-better": ("", "or --lower-is-better; default: by the name, otherwise higher"),
    "--lower-is-better": ("", HIDDEN),
    "--gold": ("GOLD", "the right answers: a file, or a column of a table"),
    "--clusters": ("COL", "groups to swap as a whole, such as documents; or --no-clusters"),
    "--no-clusters": ("", HIDDEN),
    "--id": ("COL", "the column that identifies items (repeat it for several); or --by-order"),
    "--by-order": ("", HIDDEN),
    "--system-col": ("COL", "the column that names the system of a line; default: system"),
    "--repeat": ("COL", "what tells repeats of an item apart, such as seed or epoch"),
    "--missing": ("HOW", "what to do with items that lack a score: %(choices)s", MISSING),
    "--pos-label": ("LABEL", "the label to score by f1 and the like (predictions)"),
    "--alternative": ("SIDE", "%(choices)s; greater: A scores higher", ALTERNATIVES, "two-sided"),
    "--alternative=many": (
        "SIDE",
        "%(choices)s; greater: others score higher than the baseline",
        ALTERNATIVES,
        "two-sided",
    ),
    "--alternative=report": (
        "SIDE",
        "%(choices)s; greater: A scores higher; default: two-sided",
        ALTERNATIVES,
    ),
    "--method": ("HOW", "%(choices)s", ("auto", *METHODS, MONTE_CARLO), "auto"),
    "--null": (
        "WHAT",
        "repeated runs: exchange %(choices)s (--paired-runs: in pairs)",
        ("items", "runs", "systems"),
    ),
    "--paired-runs": ("", HIDDEN),
    "--baseline": ("NAME", "compare all others only with it"),
    "--correction": ("HOW", "for the number of pairs: %(choices)s", CORRECTIONS, "holm"),
    "--delta": ("D", "the mean difference per item that you want to find", float),
    "--sigma": ("S", "standard deviation of the differences (clusters: over mean size)", _positive),
    "--shares": ("P", "shares of items that only A, and that only B, has right (0/1 scores)"),
    "--power": ("P", "probability of finding the difference; default: %(default)s", _level, 0.8),
    "--alpha": ("P", "level, and 1 - confidence of intervals; default: %(default)s", _level, 0.05),
    "--alpha=report": ("P", "level, and 1 - confidence of intervals; default: 0.05", _level),
    "--seed": ("N", "seed of whatever is sampled", _seed),
    "--fail-if": ("WHAT", "exit with 1 if A is significantly worse, or not better", FAILURES),
    "--margin": ("M", "--fail-if: the difference must exceed M per item", _amount),
    "--config": ("YAML", "options of a study; those given here win over them"),
    "--out": ("OUT", "write a report: a file or a folder; --force overwrites what is there"),
    "--json": ("", "print one JSON object and nothing else"),
    "--force": ("", HIDDEN),
    "--port": ("N", "where to listen; default: any free port", _seed, 0),
    "--no-browser": ("", "only print the address"),
    "--help": ("", "show this"),
}

#: What else `argparse` is told of some.
MORE: dict[str, dict[str, Any]] = {
    "file_b": {"nargs": "?"},
    "--id": {"action": "append"},
    "files": {"nargs": "+"},
    "pilot": {"dest": "file", "nargs": "?"},
    "--by-order": {"action": "store_const", "const": False, "dest": "id"},
    "--gold": {"action": "append", "default": []},
    "--help": {"action": "help"},
    "--higher-is-better": {"action": "store_const", "const": True, "dest": "higher_is_better"},
    "--lower-is-better": {"action": "store_const", "const": False, "dest": "higher_is_better"},
    "--no-clusters": {"action": "store_const", "const": False, "dest": "clusters"},
    "--shares": {"nargs": 2, "type": _share},
}

#: Options that go together; a bar stands between those that exclude each other.
SCORES = "--metric --score --higher-is-better|--lower-is-better "
SCORES += "--clusters|--no-clusters --gold"
READING = "how files are read: --id|--by-order --system-col --repeat --missing --pos-label"
INPUT = f"what is compared: file file_b --a --b {SCORES}; {READING}"


# ---- from files to pairs -------------------------------------------------------------------------


def read_input(args: argparse.Namespace) -> tuple[Pairs, Statistic]:
    """The pairs that the arguments speak of, and what is to be tested of them."""
    files = [args.file] if args.file_b is None else [args.file, args.file_b]
    named = None if args.a is None or args.b is None else [args.a, args.b]
    evaluation, entry, score = _recognised(args, files, named)
    how = {"score": score, "statistic": entry or "sum", "clusters": args.clusters}
    pairs = evaluation.pairs(args.a, args.b, **how)
    if entry is None:
        whole = pairs.scale == 1 and min(pairs.u.min(), pairs.v.min()) >= 0
        entry = lookup("sum" if whole else "mean")
    pairs.source["read"] = describe(pairs.source, evaluation.format.title)
    return pairs, entry


def read_table(args: argparse.Namespace) -> ScoreTable:
    """The scores of many systems."""
    systems: Sequence[str] | None = None
    if args.systems is not None:
        systems = [x.strip() for x in args.systems.split(",")]
    evaluation, entry, score = _recognised(args, args.files, systems)
    how = {"systems": systems, "clusters": args.clusters, "score": score}
    return evaluation.table(statistic=entry or "mean", **how)


def named_statistic(name: str | None) -> Statistic | None:
    """The statistic of that name, if there is one."""
    with suppress(ValueError):
        return None if name is None else lookup(name)
    return None


def _recognised(
    args: argparse.Namespace, files: Sequence[str], named: Sequence[str] | None
) -> tuple[Evaluation, Statistic | None, str | None]:
    """What files say, what is to be tested (None: whatever fits single scores), of which score."""
    options = "id system_col repeat missing pos_label clusters score"
    how = {name: getattr(args, name) for name in options.split()}
    if len(args.gold) > 1:
        raise ValueError(f"--gold {args.gold[1]}: there is one already")
    gold = (*args.gold, None)[0]
    evaluation = recognise(*files, gold=gold, higher_is_better=args.higher_is_better, **how)
    entry, score, names = named_statistic(args.metric), args.score, evaluation.systems
    two = tuple(names if named is None else named)[:2]
    scores = evaluation.score_names(*(two if len(two) == 2 else names[:1] * 2))
    if args.metric is not None and entry is None:
        score = _score_named(args, scores)
    if entry is None and len(two) == 2 and scores and (score is not None or len(scores) == 1):
        best = lookup(evaluation.statistics(two[0], two[1], score)[0])
        entry = best if best.columns else None
    return evaluation, entry, score


def _score_named(args: argparse.Namespace, scores: Sequence[str]) -> str:
    """The score that --metric names; ValueError if there is none."""
    found = find_score(args.metric, scores)
    if found is None and args.metric.startswith(OF_RUNS):
        problem = f"--metric {args.metric} is a summary of repeated runs; use permtest compare"
        raise ValueError(f"{problem} --metric {args.metric} with --null runs or --null items")
    if found is None:
        hint = did_you_mean(args.metric.lower().replace("-", "_"), [*STATISTICS, *scores])
        more = f"; or one of the scores in the file: {', '.join(scores)}" if scores else ""
        raise ValueError(
            f"--metric {args.metric}: not known{hint}; choose one of {', '.join(STATISTICS)}, or f "
            f"with a beta up to 1000, such as f0.5 or f2{more}"
        )
    if args.score is not None:
        problem = f"--metric {args.metric} and --score {args.score} both choose a score"
        raise ValueError(f"{problem}; leave one out, or name a statistic, such as --metric mean")
    return found


def check_out(args: argparse.Namespace, document: type[Document]) -> None:
    """Refuse, before anything is read, a place where no such document can be written."""
    if args.out is None:
        return
    from permtest.report import destination

    try:
        *_, kinds = destination(document, args.out, overwrite=args.force)
    except FileExistsError as error:
        raise ValueError(f"--out {error}; {OTHERWISE}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"--out {error}") from None
    check_installed([x for kind in kinds for x in NEEDS.get(kind, ())], f"--out {args.out}")


def check_installed(modules: Sequence[str], what: str) -> None:
    """Refuse what needs modules that are missing."""
    for module in modules:
        if find_spec(module) is None:
            extra = EXTRAS.get(module, "lab")
            raise ImportError(f"{what} needs {module}: pip install 'permtest[{extra}]'")


def finish(text: str, found: Document, args: argparse.Namespace) -> None:
    """Print the text, or the JSON object; write what was found, where --out says so."""
    print(found.to_json() if args.json else text)
    if args.out is not None:
        from permtest.report import write_report

        written = write_report(found, args.out, overwrite=args.force)
        if not args.json:
            print("\nwrote " + "\n      ".join(map(str, written)))


def direction(score: Score) -> str:
    """What was compared, which direction is better, and how to say otherwise."""
    if score.basis in ("stated", "known"):
        return score.described
    other = "lower" if score.higher_is_better else "higher"
    return f"{score.described}; --{other}-is-better says otherwise"
