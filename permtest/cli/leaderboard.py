"""``permtest leaderboard``: all pairs of many systems, with honest ties."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from permtest.cli import options
from permtest.cli.inputs import COUNTS, GOLD, add_metric, read_table
from permtest.cli.rankings import as_json, as_text
from permtest.cli.shared import EXIT_CODES, print_text, print_written
from permtest.readers import ReadError, recognise
from permtest.readers.files import printable
from permtest.statistics import CountStatistic

if TYPE_CHECKING:
    from permtest.cli.shared import Commands
    from permtest.many import Leaderboard, ScoreTable

CORRECTIONS = ("holm", "hochberg", "bh", "by", "max-t", "none")

#: What must be installed for an output, and the extra that brings it.
NEEDS = {
    "html": (("jinja2", "study"), ("matplotlib", "study")),
    "png": (("matplotlib", "plot"),),
    "svg": (("matplotlib", "plot"),),
    "parquet": (("pyarrow", "many"),),
}

TITLE = "rank many systems, and say which are tied"
DESCRIPTION = """\
Compares all pairs of systems on the same items by exact tests, corrects p for their number, and
says who leads, who is tied with the best, and which ranks each system may have."""

EPILOG = f"""\
FILE is a table with a column for each system (columns called like an id, a group, a repetition or
a size of the items, such as epoch or n_tokens, are no systems), or with a line for each item and
system; or there is a FILE for each system, as for permtest compare, or a folder that a harness
wrote. Compared are the items that all systems have; others are counted and named. Several data
sets, with the same systems, are named by --data-set; then there is a ranking of all of them
together, and on how many one system is better than another.

{COUNTS}
With a header, systems are those of columns such as new_tp, new_fp and new_fn. Else list the columns
of each in the order above: --system 1,2,3 --system 4,5,6 --system 7,8,9.

The name of the output says what it is: .html is a page that needs nothing else, .csv and .parquet
are all pairs, .json is for programs, .png and .svg are the ranking as a picture; a folder gets
all but .parquet.

examples:
  permtest leaderboard taggers.csv --metric accuracy
  permtest leaderboard runs/* --score acc_norm --baseline gpt2 --alternative greater
  permtest leaderboard entities.csv --metric f1 --systems crf,hmm,svm --correction max-t --pairs
  permtest leaderboard --data-set news=news.csv --data-set web=web.csv -o leaderboard.html
  permtest leaderboard --gold gold.conllu crf.conllu hmm.conllu svm.conllu --metric las --json

{EXIT_CODES}"""


# ---- arguments ---------------------------------------------------------------------------------


def add_leaderboard(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = options.add_command(commands, "leaderboard", _leaderboard, TITLE, DESCRIPTION, EPILOG)
    _add_data(parser)
    _add_tests(parser)
    _add_output(parser)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="scores of the systems")
    parser.add_argument(
        "--data-set",
        metavar=("NAME=FILE", "FILE"),
        nargs="+",
        action="append",
        default=[],
        help="the file of one data set, or its files; repeat it for others",
    )
    parser.add_argument("--systems", metavar="A,B,...", help="which systems; default: all")
    parser.add_argument(
        "--system",
        metavar="NAME",
        action="append",
        help="one of the systems, where a name has a comma, or a list of columns; repeat it",
    )
    parser.add_argument(
        "--gold",
        metavar="GOLD",
        action="append",
        default=[],
        help=f"{GOLD}; of one data set as NAME=GOLD",
    )
    add_metric(parser, "mean, or f1 or the like of what the files count")
    parser.add_argument(
        "--strata",
        metavar="COL",
        help="groups of items that count alike however large they are, such as subjects",
    )


def _add_tests(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--baseline", metavar="NAME", help="compare all others with it alone")
    options.add_alternative(parser, "with --baseline; greater: the others score more than it")
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default="holm",
        help="for the number of pairs; holm, hochberg and max-t: of the familywise error; bh and "
        "by: of the false discovery rate; default: %(default)s",
    )
    parser.add_argument(
        "--family",
        choices=("each", "all"),
        default="each",
        help="correct each data set by itself, or all tests together; default: %(default)s",
    )
    options.add_level_and_seed(parser)
    parser.add_argument(
        "--k", metavar="K", type=int, default=10_000, help="samples of max-t; default: %(default)s"
    )
    options.add_direction(parser, "--ascending")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", action="store_true", help="print all pairs, too")
    parser.add_argument("-o", "--out", metavar="OUT", help="write a page, pairs or a picture")
    options.add_json_and_force(parser)


# ---- the command -------------------------------------------------------------------------------


def _leaderboard(args: argparse.Namespace) -> None:
    _check_options(args)
    if args.out is not None:
        _check_out(args.out, args.force)
    tables = _tables(args)
    board = _board(args, tables)
    sources = {name: table.source for name, table in tables.items()}
    overall = board.overall() if _can_be_joined(tables) else None
    boards = [board] if overall is None else [board, overall]
    print_text(as_json(boards, sources) if args.json else as_text(boards, sources, args.pairs))
    if args.out is None:
        return
    from permtest.report import write_report
    from permtest.study import board_document

    found = board_document(board, overall=overall, sources=sources, seed=args.seed)
    written = write_report(found, args.out, overwrite=args.force)
    if not args.json:
        print_written(written)


def _board(args: argparse.Namespace, tables: Mapping[str, ScoreTable]) -> Leaderboard:
    """All pairs, or all systems against the baseline."""
    from permtest.many import compare_many  # which other commands do not need

    return compare_many(
        tables,
        baseline=args.baseline,
        alternative=args.alternative,
        correction=args.correction.replace("-", "_"),
        family=args.family,
        alpha=args.alpha,
        K=args.k,
        rng=args.seed,
    )


def _can_be_joined(tables: Mapping[str, ScoreTable]) -> bool:
    """Whether there is something to join, and no classes that may be others elsewhere."""
    entry = next(iter(tables.values())).statistic
    by_class = isinstance(entry, CountStatistic) and entry.average is not None
    return len(tables) > 1 and not by_class


def _check_options(args: argparse.Namespace) -> None:
    """Refuse before reading what could not be computed after it."""
    if args.systems is not None and args.system is not None:
        raise ValueError("--systems and --system exclude each other; leave one out")
    if args.alternative != "two-sided" and args.baseline is None:
        raise ValueError(f"--alternative {args.alternative} needs --baseline")
    options.check_alpha(args.alpha)
    if args.k < 1:
        raise ValueError(f"--k {args.k}: at least 1 is needed")
    options.check_seed(args.seed)


def _check_out(path: str, force: bool) -> None:
    from permtest.report import check_report
    from permtest.study.board import BoardDocument

    with options.checking_out(force):
        _, formats, _ = check_report(path, overwrite=force, kind=BoardDocument)
    chosen = BoardDocument.formats if formats is None else formats
    for module, extra in sorted({need for name in chosen for need in NEEDS.get(name, ())}):
        options.check_installed([module], f"--out {path}", extra)


# ---- data sets ---------------------------------------------------------------------------------


def _tables(args: argparse.Namespace) -> dict[str, ScoreTable]:
    """The scores on each data set, the systems in the order of the first one."""
    files = _files(args)
    gold = _gold(args.gold, files)
    systems = args.system if args.systems is None else [x.strip() for x in args.systems.split(",")]
    found: dict[str, ScoreTable] = {}
    for name, some in files.items():
        try:
            table = read_table(args, some, gold[name], systems)
        except ReadError as error:
            raise ReadError(f"{error}{_advice(some)}") from None
        found[name] = _as_first(found, name, table) if found else table
    return found


def _files(args: argparse.Namespace) -> dict[str, list[str]]:
    """Data set -> its files; "" where there is one without a name."""
    if bool(args.files) == bool(args.data_set):
        problem = f"{args.files[0]}: no data set is named for it" if args.files else "no file"
        raise ValueError(f"{problem}; name files, or all data sets as --data-set NAME=FILE")
    found: dict[str, list[str]] = {"": args.files} if args.files else {}
    for head, *more in args.data_set:
        name, _, file = printable(head).partition("=")
        if not name or not file:
            raise ValueError(f"--data-set {head}: write NAME=FILE, and further files after it")
        if name in found:
            raise ValueError(f"--data-set {name} is there twice; list its files after each other")
        found[name] = [head.partition("=")[2], *more]
    return found


def _advice(files: Sequence[str]) -> str:
    """What to do if the files that could not be one data set seem to be one each."""
    try:
        read = [recognise(file) for file in files] if len(files) > 1 else []
    except (ValueError, OSError):
        return ""
    if not read or not all(one.sheet is not None for one in read):
        return ""
    systems = {frozenset(one.systems) for one in read}
    if len(systems) > 1 or len(read[0].systems) < 2:
        return ""
    return "; if each file has all systems, give each file as a data set: --data-set NAME=FILE"


def _gold(given: Sequence[str], data_sets: Mapping[str, object]) -> dict[str, str | None]:
    """What is right on each data set: its own, or the one for all."""
    own: dict[str, str] = {}
    for text in given:
        name, mark, file = text.partition("=")
        name, file = (name, file) if mark and name and name in data_sets else ("", text)
        if name in own:
            raise ValueError(f"--gold {text}: there is one already; a data set has one")
        own[name] = file
    return {name: own.get(name, own.get("")) for name in data_sets}


def _as_first(found: Mapping[str, ScoreTable], name: str, table: ScoreTable) -> ScoreTable:
    """A table with its systems in the order of the first data set."""
    first, head = next(iter(found.items()))
    if table.statistic.name != head.statistic.name:
        metrics = f"is of {table.statistic.name}, but {first!r} of {head.statistic.name}"
        raise ValueError(f"data set {name!r} {metrics}; choose one as --metric")
    for one, other, where in ((head, table, name), (table, head, first)):
        for system in one.systems:
            if system not in other.systems:
                remedy = "choose those that all data sets have as --systems"
                raise ValueError(f"data set {where!r} has no system {system!r}; {remedy}")
    order = [table.systems.index(system) for system in head.systems]
    return replace(table, systems=head.systems, scores=table.scores[order])
