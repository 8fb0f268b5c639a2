"""Arguments that say what is compared: files, systems, metric, clusters."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from permtest.cli import options
from permtest.pairs import Pairs
from permtest.readers import describe, recognise
from permtest.readers.pairing import MISSING, Evaluation, find_score
from permtest.statistics import STATISTICS, CountStatistic, Statistic, lookup, statistic

if TYPE_CHECKING:
    from permtest.many import ScoreTable

#: How the names of metrics begin that are of classes.
BY_CLASS = ("micro_", "macro_")

FILES = """\
FILE holds one item a line: the number of points (correct tokens, 0 or 1, ...) of A and of B,
separated by tabs, semicolons, commas or blanks, with or without a header; or a table of more
columns, of which --a and --b choose two. Or there is a file for each system, FILE and FILE_B: one
number a line, tables with ids, or what an evaluation harness wrote (a file, or its folder).
Treebanks and tagged text are compared with --gold GOLD. The format is recognised by the content;
permtest formats lists them. Scores are whole numbers (3, 3.0, true, false) or decimals."""

GOLD = "what is right: a file (CoNLL-U, tagged text), or the column of the right answers"

COUNTS = """\
For a metric of counts, a line holds several whole numbers of each system:
  precision, recall, f1, f0.5, f2, ..., jaccard (or iou)   tp, fp, fn
  f1, jaccard                                              or tp, incorrect
  specificity, balanced_accuracy, mcc                      tp, fp, fn, tn
  wer                                                      errors, length
  bleu       match_1 to match_4, total_1 to total_4, length, reference_length"""

METRICS = f"""\
{COUNTS}
With a header, --a new finds new_tp, new_fp and new_fn (or new.tp, TP-new, ...), and neither option
is needed where there are two systems. Else --a 2,3,4 lists columns in the order above. Without a
header and options, a line is the counts of A, then those of B."""


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to the parser of a command.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    """
    column = "a column by name, or number from 1; of counts the system, or all columns"
    add_systems(parser, a=f"system A: {column}")
    add_metric(parser, "sum of whole numbers, or mean of others")
    options.add_direction(parser)


def add_systems(parser: argparse.ArgumentParser, a: str) -> None:
    """Add the files of two systems, and what says which these are; `a` is the help of --a."""
    parser.add_argument("file", metavar="FILE", help="scores of both systems, or of A")
    parser.add_argument(
        "file_b", metavar="FILE_B", nargs="?", help="scores of B, where FILE has those of A alone"
    )
    parser.add_argument("--a", metavar="COL", help=a)
    parser.add_argument("--b", metavar="COL", help="system B, likewise")
    parser.add_argument("--gold", metavar="GOLD", help=GOLD)


def add_score(parser: argparse.ArgumentParser) -> None:
    """Add --score."""
    parser.add_argument(
        "--score", metavar="NAME", help="which score, where the files have several for each item"
    )


def add_no_clusters(parser: argparse.ArgumentParser, instead: str) -> None:
    """Add --no-clusters; `instead` is what is done then."""
    parser.add_argument(
        "--no-clusters",
        action="store_true",
        help=f"{instead}, even if the format says which belong together",
    )


def add_metric(parser: argparse.ArgumentParser, default: str) -> None:
    """Add what says which scores are read, and which of them belong together.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    default : str
        The metric where none is named.
    """
    parser.add_argument(
        "--metric",
        help="accuracy: counts of correct answers, never negative; sum or mean: any numbers; "
        "exact_match, upos, uas, las, spans; f1 and other metrics of counts: see below; or a score "
        f"that the files have, such as acc_norm; default: {default}",
    )
    add_score(parser)
    parser.add_argument(
        "--zero-division", metavar="X", type=float, help="what 0 / 0 is in a ratio; default: 0"
    )
    parser.add_argument(
        "--clusters",
        metavar="COL",
        help="what an item belongs to, such as its document: a column, or a grouping of the "
        "format; whole clusters are swapped",
    )
    add_no_clusters(parser, "swap items by themselves")
    add_rows(parser)


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Add what says how the rows of a table are to be read."""
    group = parser.add_argument_group("tables")
    items = group.add_mutually_exclusive_group()
    items.add_argument(
        "--id",
        metavar="COL",
        action="append",
        help="the column that says which item a line is; repeat it for a key of several columns",
    )
    items.add_argument(
        "--by-order", action="store_true", help="pair lines by their order, whatever their ids"
    )
    group.add_argument(
        "--system-col", metavar="COL", help="the column that says whose a line is; default: system"
    )
    group.add_argument(
        "--repeat", metavar="COL", help="what tells repeats of an item apart, such as seed or epoch"
    )
    group.add_argument(
        "--missing",
        choices=MISSING,
        help="what becomes of items without a score of every system; default: drop them and say "
        "so, or error where systems are columns of one table",
    )
    group.add_argument(
        "--pos-label", metavar="LABEL", help="the label that f1 and its like are of (predictions)"
    )
    group.add_argument(
        "--thousands",
        choices=(".", ",", "none"),
        help="what separates thousands in numbers; none: a point is a decimal point",
    )
    group.add_argument(
        "--same-scale",
        action="store_true",
        help="scores up to 1 and up to 100 are on one scale all the same",
    )


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """What the arguments say of how files are read, as `permtest.readers.recognise` takes it.

    Parameters
    ----------
    args : argparse.Namespace
        With the arguments of `add_rows`, ``score``, ``clusters`` and ``higher_is_better``.
    """
    names = ("system_col", "repeat", "missing", "pos_label", "thousands", "same_scale")
    return {
        "id": False if args.by_order else args.id,
        "clusters": False if args.no_clusters else getattr(args, "clusters", None),
        "score": args.score,
        "higher_is_better": args.higher_is_better,
        **{name: getattr(args, name) for name in names},
    }


def read_input(args: argparse.Namespace) -> tuple[Pairs, Statistic | CountStatistic]:
    """The pairs that the arguments speak of, and what is to be tested of them.

    Parameters
    ----------
    args : argparse.Namespace
        With the arguments of `add_input`.

    Returns
    -------
    pairs : Pairs
        Its `source` also has ``read``: what was read, in a sentence.
    statistic : Statistic or CountStatistic

    Raises
    ------
    ValueError, ImportError
        As for `permtest.read`.
    """
    entry = known_metric(args)
    sources = [args.file] if args.file_b is None else [args.file, args.file_b]
    evaluation = recognise(*sources, gold=args.gold, **reading(args))
    systems = _systems(evaluation, args)
    chosen, score = metric_of(args, entry, evaluation, systems)
    clusters = False if args.no_clusters else args.clusters
    pairs = evaluation.pairs(args.a, args.b, score=score, statistic=chosen, clusters=clusters)
    if entry is None and isinstance(chosen, Statistic):
        counts = pairs.scale == 1 and min(pairs.u.min(), pairs.v.min()) >= 0
        chosen = lookup("sum" if counts else "mean")
    if entry is None:
        chosen = _with_zero(chosen, chosen.name, args.zero_division)
    pairs.source["read"] = describe(pairs.source, evaluation.format.title)
    return pairs, chosen


def read_table(
    args: argparse.Namespace, files: Sequence[str], gold: str | None, systems: Sequence[str] | None
) -> ScoreTable:
    """The scores of many systems on one data set.

    Parameters
    ----------
    args : argparse.Namespace
        With the arguments of `add_metric`, and ``strata``.
    files : sequence of str
    gold : str or None
    systems : sequence of str or None
        Default: all.

    Returns
    -------
    ScoreTable
        Of the mean where no metric is named, or of the first measure of what the files count.

    Raises
    ------
    ValueError, ImportError
        As for `permtest.read_many`.
    """
    entry = known_metric(args)
    evaluation = recognise(*files, gold=gold, **reading(args))
    two = tuple(evaluation.systems if systems is None else systems)[:2]
    known = len(two) == 2 and set(two) <= set(evaluation.systems)
    chosen, score = metric_of(args, entry, evaluation, (two[0], two[1]) if known else None)
    if entry is None:
        chosen = chosen if isinstance(chosen, CountStatistic) else lookup("mean")
        chosen = _with_zero(chosen, chosen.name, args.zero_division)
    clusters = False if args.no_clusters else args.clusters
    how = {"systems": systems, "clusters": clusters, "strata": args.strata}
    return evaluation.table(score=score, statistic=chosen, **how)


def known_metric(args: argparse.Namespace) -> Statistic | CountStatistic | None:
    """The statistic that --metric names, None if it has to be a score; before a file is opened."""
    if args.no_clusters and args.clusters is not None:
        raise ValueError("--clusters and --no-clusters exclude each other; leave one out")
    entry = known_statistic(args.metric)
    return None if entry is None else _with_zero(entry, args.metric, args.zero_division)


def metric_of(
    args: argparse.Namespace,
    entry: Statistic | CountStatistic | None,
    evaluation: Evaluation,
    systems: tuple[str, str] | None,
) -> tuple[Statistic | CountStatistic, str | None]:
    """What is tested, and the score that is named by either option.

    Parameters
    ----------
    args : argparse.Namespace
    entry : Statistic, CountStatistic or None
        What `known_metric` says.
    evaluation : Evaluation
    systems : tuple of two str, or None
        Two systems, where it is clear which they are.

    Returns
    -------
    statistic : Statistic or CountStatistic
        "sum" stands for whatever takes single scores.
    score : str or None
    """
    score = args.score
    if args.metric is not None and entry is None:
        score = _score_of(args, evaluation, systems)
    return entry or _fitting(evaluation, systems, score), score


def known_statistic(name: str | None) -> Statistic | CountStatistic | None:
    """The statistic of that name, if there is one."""
    try:
        return None if name is None else lookup(name)
    except ValueError:
        return None


def _with_zero(
    entry: Statistic | CountStatistic, name: str, value: float | None
) -> Statistic | CountStatistic:
    if value is None:
        return entry
    if not isinstance(entry, CountStatistic):
        raise ValueError(f"--zero-division is for ratios of counts, not for --metric {name}")
    try:
        return statistic(name, zero_division=value)
    except ValueError as error:
        raise ValueError(f"--zero-division {value:g}: {error}") from None


def _systems(evaluation: Evaluation, args: argparse.Namespace) -> tuple[str, str] | None:
    """The two systems, where it is clear which they are."""
    names = evaluation.systems
    if args.a is None and args.b is None:
        return (names[0], names[1]) if len(names) == 2 else None
    numbers = {str(number): name for number, name in enumerate(names, 1)} | {x: x for x in names}
    a, b = numbers.get(args.a), numbers.get(args.b)
    return None if a is None or b is None else (a, b)


def _score_of(
    args: argparse.Namespace, evaluation: Evaluation, systems: tuple[str, str] | None
) -> str:
    """The score that --metric names; ValueError if it is neither that nor a statistic."""
    scores = evaluation.score_names(*(systems or (evaluation.systems[0],) * 2))
    found = find_score(args.metric, scores)
    if found is not None and args.score is None:
        return found
    if found is not None:
        problem = f"--metric {args.metric} and --score {args.score} both choose a score"
        raise ValueError(
            f"{problem}; leave one out, or choose a statistic as --metric, such as mean"
        )
    names = [known for known in STATISTICS if not known.startswith(BY_CLASS)]
    close = get_close_matches(args.metric.lower(), [*names, *scores], n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    more = f"; or one of the scores in the file: {', '.join(scores)}" if scores else ""
    raise ValueError(
        f"--metric {args.metric}: not known{hint}; choose one of {', '.join(names)}, or f with a "
        f"beta up to 1000, such as f0.5 or f2{more}"
    )


def _fitting(
    evaluation: Evaluation, systems: tuple[str, str] | None, score: str | None
) -> Statistic | CountStatistic:
    """What fits the score where --metric is no statistic; "sum" stands for all single scores."""
    scores = evaluation.score_names(*systems) if systems else ()
    if systems is None or not scores or (score is None and len(scores) > 1):
        return lookup("sum")  # what is not clear is refused when the pairs are made
    best = lookup(evaluation.statistics(*systems, score)[0])
    return best if isinstance(best, CountStatistic) else lookup("sum")
