"""Files that people have: every format becomes a long table, and one piece of code pairs it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from permtest.pairs import Pairs
from permtest.readers import annotated, harnesses, labels
from permtest.readers.files import File, ReadError, as_arguments, did_you_mean
from permtest.readers.pairing import MISSING, Evaluation, describe, keyed
from permtest.readers.shape import Column, Columns, How, Sheet
from permtest.readers.systems import Format, SystemScores, joined, names_of, told_apart
from permtest.readers.tables import Table, load, table_of
from permtest.statistics import Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import ScoreTable

__all__ = [
    "FORMATS",
    "File",
    "ReadError",
    "describe",
    "read",
    "read_many",
    "recognise",
]

#: What can be read: a path, "-", a buffer, an uploaded file, a frame, records, arrays.
Source: TypeAlias = Any

_P = ParamSpec("_P")
_T = TypeVar("_T")

TABLE = Format("table", "a table")
LONG = Format("long", "a table with a line for each item and system")
ONE_SYSTEM = Format("one_system", "a file for each system")
PREDICTIONS = Format("predictions", "predictions beside the right labels", "optional")

#: What a file is recognised as by its content, in the order of trying; a table is what remains.
BY_CONTENT: tuple[Format, ...] = (*harnesses.FORMATS, annotated.CONLLU, annotated.SPANS)

TABLES = (TABLE, LONG, ONE_SYSTEM, PREDICTIONS)

#: Every format by its name: tables first, for people to read.
FORMATS: dict[str, Format] = {kind.name: kind for kind in (*TABLES, *BY_CONTENT)}


def _in_python(made: Callable[_P, _T]) -> Callable[_P, _T]:
    """The same, whose errors name arguments where those of the command line name options."""

    @wraps(made)
    def call(*args: _P.args, **options: _P.kwargs) -> _T:
        known = [*signature(made).parameters, *signature(recognise).parameters]
        if wrong := next((name for name in options if name not in known), None):
            hint = did_you_mean(wrong, list(dict.fromkeys(known)))
            raise TypeError(f"{made.__name__}() has no argument {wrong!r}{hint}")
        try:
            return made(*args, **options)
        except ReadError as error:
            error.args = (as_arguments(str(error)),)
            raise

    return call


@_in_python
def read(
    path: Source,
    path_b: Source | None = None,
    *,
    a: Columns | None = None,
    b: Columns | None = None,
    gold: Source | None = None,
    score: str | None = None,
    statistic: str | Statistic = "sum",
    clusters: Column | bool | None = None,
    **options: Any,
) -> Pairs:
    r"""Read the scores, or the counts, of two systems on the same items.

    The format is recognised by the content: tables of every kind, the files of evaluation
    harnesses, treebanks and tagged text; `FORMATS` has them all. Items are paired by ids, and by
    their order only where nothing could be an id; nothing is dropped without being counted.

    Parameters
    ----------
    path : str, path-like, "-", buffer, data frame, records or array
        Both systems, or the first; or a folder that a harness wrote for it. ``"-"`` is standard
        input. Files of gzip and zip, Excel, parquet, feather and ``.npy`` are read as they are.
    path_b : the same, optional
        The second system, in the same format.
    a, b : str or int, or a sequence of them, optional
        The first and the second system. In a table: the columns, names from the header or numbers
        counted from 1; for a statistic of counts see Notes. Elsewhere: the names of the systems, or
        their numbers. Give both or neither: without them, the only two.
    gold : str or path-like, optional
        What would be right: a file, or the column of a table that says it, beside columns of what
        systems predicted. A table of its own has a column of ids, as those of the systems do.
    score : str, optional
        Which score, where a file has several for each item, such as "acc_norm" or "las"; "pred"
        says that numbers in columns with such names are scores, not predicted labels.
    statistic : str or Statistic, default "sum"
        What the scores are for, as in `exact_perm_test`.
    clusters : str or int, optional
        What each item belongs to, such as its document: a column, or a grouping of the format.
        Default: those that have to be swapped as a whole, such as the epochs of one sample.
        False: none.
    **options
        What `recognise` takes: ``id``, ``system_col``, ``repeat``, ``missing``, ``pos_label``,
        ``higher_is_better``.

    Returns
    -------
    Pairs
        Its `names` are those of the systems, its `ids` those of the items, its `clusters` what
        they belong to. Its `source` says where they come from: ``loader``, the files with their
        ``sha256``, what items are ``paired_by``, how many are ``matched``, ``unmatched`` (only in
        the first, only in the second) and ``dropped`` (without a score), and ``notes`` of what
        the reader did.

    Raises
    ------
    ReadError
        A ValueError that names the file, the line (counted from 1) or the item, the value, and
        what to do.
    ValueError
        If there is no such statistic, or it is one of counts by class ("macro_f1") and the file
        is no table of predictions.
    ImportError
        If the format needs a package that is not installed; the message names it.

    Notes
    -----
    Scores are read exactly, not by way of a float: integers of up to 1000 digits and decimals;
    ``true`` and ``false`` stand for 1 and 0. Decimals of 15 to 17 digits stand for the double that
    they print, and may be fractions, as `Pairs.of` says.

    Of several columns of numbers those are systems that look alike: their names share a measure
    (``errors_A``, ``errors_B``), or their ranges are alike and no name speaks of something else
    (``n_words``, ``step``, ``latency_ms``). Predictions are right where they are the text that
    `gold` has. For a statistic of counts, such as "f1", each system has several columns:
    ``crf_tp``, ``crf.FP`` or ``fn-crf``; or `a` and `b` list them in the order of the counts
    (``[2, 3, 4]`` or ``"2,3,4"`` for tp, fp, fn).

    Files are data: their size and the memory they need are bounded, nothing in them is executed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("item,old,new\ns1,3,4\ns2,5,5\n", encoding="utf-8")
    ...     pairs = read(path, a="new", b="old")
    >>> pairs.names, pairs.u.tolist(), pairs.v.tolist(), pairs.ids
    (('new', 'old'), [4, 5], [3, 5], ('s1', 's2'))
    """
    entry = lookup(statistic)  # asked before a file is opened
    sources = [path] if path_b is None else [path, path_b]
    evaluation = recognise(*sources, gold=gold, clusters=clusters, score=score, **options)
    return evaluation.pairs(a, b, score=score, statistic=entry, clusters=clusters)


@_in_python
def read_many(
    *paths: Source,
    systems: Sequence[str | int] | None = None,
    gold: Source | None = None,
    score: str | None = None,
    statistic: str | Statistic = "mean",
    clusters: Column | bool | None = None,
    **options: Any,
) -> ScoreTable:
    r"""Read the scores, or the counts, of many systems on the same items.

    The formats are those of `read`, and so are the ways in which items are paired.

    Parameters
    ----------
    *paths : str, path-like, buffer, data frame or records
        All systems, or files of one system or several each, of one format; or the folders that a
        harness wrote.
    systems : sequence of str or int, optional
        Two systems or more, by name or number, in the order wanted. Default: all; of a table with
        columns for systems those that look alike, as `read` says.
    gold, score
        As in `read`.
    statistic : str or Statistic, default "mean"
        What the scores are for, as in `compare_many`.
    clusters : str or int, optional
        As in `read`.
    **options
        As in `read`.

    Returns
    -------
    ScoreTable
        The items that have a score of every system, in the order of the first. Its ``source``
        has the files with their ``sha256``, how many items are ``matched``, how many are
        ``left_out`` since they are not (``left_out_ids`` are the first of them), how many each
        system is ``lacking``, all columns that were taken to be ``no_systems``, ``notes`` of what
        the reader did, and all of that as a sentence, ``read``.

    Raises
    ------
    ReadError, ValueError, ImportError
        As for `read`; also where there are fewer than two systems.

    Notes
    -----
    Takes some microseconds for each score: 100 systems on 10 000 items in a few seconds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("item,n_words,old,new,base\ns1,7,3,4,1\ns2,9,5,5,2\n")
    ...     table = read_many(path)
    >>> table.systems, table.scores.tolist(), table.ids
    (('old', 'new', 'base'), [[3, 5], [4, 5], [1, 2]], ('s1', 's2'))
    >>> print(table.source["read"])
    a table: 2 items of 3 systems, paired by row. Columns not treated as systems: item, n_words.
    """
    entry = lookup(statistic)
    evaluation = recognise(*paths, gold=gold, clusters=clusters, score=score, **options)
    return evaluation.table(systems, score=score, statistic=entry, clusters=clusters)


def recognise(
    *sources: Source,
    gold: Source | None = None,
    id: Columns | bool | None = None,
    system_col: Column | None = None,
    repeat: Column | None = None,
    clusters: Column | bool | None = None,
    score: str | None = None,
    missing: str | None = None,
    pos_label: str | None = None,
    higher_is_better: bool | None = None,
) -> Evaluation:
    r"""Read files, without choosing two systems yet.

    Parameters
    ----------
    *sources : str, path-like, buffer, data frame, records or array
        Files of one format.
    gold : str or path-like, optional
        As in `read`.
    id : str, int, sequence of them, or False, optional
        The columns of a table that say which item a line is. False: items are paired by order.
        Default: a column that is called so (``id``, ``sent_id``, ...); else one that differs in
        every row and is the same for all systems.
    system_col : str or int, optional
        The column of a long table that says whose a line is. Default: ``system`` or ``model``.
    repeat : str or int, optional
        The column that tells repeats of one item apart, such as ``seed``; these are swapped
        together. If two systems have other repeats of an item, its score is the mean of them.
    clusters, score
        As in `read`.
    missing : {"drop", "zero", "error"}, optional
        What becomes of items without a score of every system. Default: "error" where systems are
        columns of one table, or where repeats are paired one by one (``clusters=False``), else
        "drop", which is counted and said.
    pos_label : str, optional
        The label that "f1" and its like are of, where there are predictions; other statistics
        refuse it.
    higher_is_better : bool, optional
        Whether a higher score is better. Default: what its name says, such as "loss", or what the
        names of the columns have in common; if they say nothing, higher is taken as better. Answers
        say which of these it was.

    Returns
    -------
    Evaluation
        Its ``format`` says what was recognised, its ``systems`` which there are.

    Raises
    ------
    ReadError, ImportError
        As for `read`.

    Examples
    --------
    >>> from permtest.readers import File, recognise
    >>> found = recognise(File("scores.csv", b"item,old,new,best\ns1,3,4,4\ns2,5,5,6\n"))
    >>> found.format.name, found.systems
    ('table', ('old', 'new', 'best'))
    """
    if missing not in (None, *MISSING):
        raise ValueError(f"missing={missing!r} must be one of {', '.join(map(repr, MISSING))}")
    how = How(
        None if id is True else id,
        system_col,
        repeat,
        None if clusters is True else clusters,
        None if isinstance(gold, File) else gold,
        score,
        missing,
        None if pos_label is None else labels.label_of(pos_label),
        higher_is_better,
    )
    collected = gc.isenabled()
    gc.disable()  # to look for cycles among millions of cells would take more time than all else
    try:
        return replace(_recognised(_opened(sources), gold, how), how=how)
    finally:
        if collected:
            gc.enable()


def is_table(kind: Format) -> bool:
    """Whether a format is a table, so that permtest has to work out its columns."""
    return kind in TABLES


def format_of(file: File) -> Format:
    """Recognise the format of a file by its content; a table if it is nothing else."""
    return next((kind for kind in BY_CONTENT if kind.recognises(file)), TABLE)


def _opened(sources: Sequence[Source]) -> dict[str, list[File]]:
    """The files of each source; of folders, those of the tasks that all of them have."""
    if not sources:
        raise ValueError("no file; name one that has both systems, or one for each")
    found, folders = dict[str, list[File]](), dict[str, dict[str, Path]]()
    for number, source in enumerate(sources, 1):
        folder = False
        with suppress(TypeError, OSError, ValueError):
            folder = Path(source).is_dir()
        if folder:
            some = {harnesses.task_of(path): path for path in harnesses.files_of(source)}
            folders[str(source)] = some
        found[str(source) if folder else f"{number}"] = [] if folder else [load(source, number)]
    for name, tasks in folders.items():
        shared = [task for task in tasks if all(task in other for other in folders.values())]
        if not shared:
            problem = f"the folders have no task in common (here: {', '.join(tasks)}); name files"
            raise ReadError.at(name, problem)
        found[name] = [File.load(tasks[task]) for task in shared]
    return found


def _recognised(opened: Mapping[str, list[File]], gold: Source | None, how: How) -> Evaluation:
    files = [file for some in opened.values() for file in some]
    kinds = [format_of(file) for file in files]
    kind = kinds[0]
    for file, other in zip(files, kinds, strict=True):
        if other is not kind:
            broken = file if other is TABLE else files[0]
            _ = broken.is_json and broken.document  # which says itself what is wrong with it
            problem = f"{other.title}, but {files[0].path} is {kind.title}; compare files of one"
            raise ReadError.at(file.path, f"{problem} format")
    if kind is TABLE:
        return _of_tables(list(map(table_of, files)), gold, how)
    if (kind.gold == "none" and gold is not None) or (kind.gold == "required" and gold is None):
        problem = f"{kind.title} hold no scores; add the file of right answers as gold (--gold)"
        scored = f"{kind.title} hold scores; leave gold (--gold) out"
        raise ReadError.at(files[0].path, problem if gold is None else scored)
    right = None if gold is None else load(gold)
    found = []
    for folder, some in opened.items():
        parts = [replace(one, gold=right) for file in some for one in kind.load(file, right)]
        if len(some) > 1:
            tasks = [harnesses.task_of(Path(file.path)) for file in some]
            parts = [joined(dict(zip(tasks, parts, strict=True)), folder)]
        found += parts
    if len({one.system for one in found}) < len(found):
        names = names_of([one.file for one in found])
        found = [replace(one, system=name) for one, name in zip(found, names, strict=True)]
    return Evaluation(kind, tuple(found))


def _of_tables(tables: Sequence[Table], gold: Source | None, how: How) -> Evaluation:
    """What tables hold: labels beside what is right, or scores."""
    known = [set(table.names or ()) for table in tables]
    column = gold is None or isinstance(gold, int) or any(gold in names for names in known)
    if column or (isinstance(gold, str) and not Path(gold.partition("#")[0]).is_file()):
        return _of_sheets([Sheet.of(table, how) for table in tables])
    reference = load(gold)
    evaluation = _of_sheets(labels.beside_gold(tables, table_of(reference), how))
    systems = tuple(replace(x, gold=reference) for x in evaluation.found)
    return replace(evaluation, found=systems)


def _of_sheets(sheets: Sequence[Sheet]) -> Evaluation:
    head, gold, alone = sheets[0], sheets[0].how.gold, len(sheets) == 1
    if gold is not None or all(labels.gold_of(sheet, alone=alone) is not None for sheet in sheets):
        if not alone:
            sheets = [sheet for sheet, _ in keyed([(one, range(len(one))) for one in sheets])]
        found, usual = labels.predictions(sheets, gold)
        meant = tuple(usual) if alone else None
        return Evaluation(PREDICTIONS, _side_by_side(found), meant, first=head)
    if alone and not head.is_long:
        if head.how.system is not None:
            problem = "a column with only one system; name that of several (--system-col)"
            raise head.error(problem, None, head.system)
        return Evaluation(TABLE, tuple(head.wide()), tuple(head.usual[0]), head, head)
    own = [(name, sheet, rows) for sheet in sheets for name, rows in sheet.rows_by_system().items()]
    parts, systems = keyed([(sheet, rows) for _, sheet, rows in own]), []
    for (name, *_), (sheet, rows) in zip(own, parts, strict=True):
        if not sheet.ids and sheet.how.id is not False and len(rows) < len(sheet):
            problem = "a line is an item of one system, but no column says which item"
            raise sheet.error(problem, settle="id")
        systems.append(sheet.of_system(name, rows))
    kind = LONG if any(sheet.is_long for sheet in sheets) else ONE_SYSTEM
    return Evaluation(kind, _side_by_side(systems), first=head)


def _side_by_side(found: Sequence[SystemScores]) -> tuple[SystemScores, ...]:
    """The systems of several files, all under different names."""
    names = [one.system for one in found]
    if len(set(names)) < len(names):
        files = list(dict.fromkeys(one.file for one in found))
        called = dict(zip(files, names_of(files), strict=True))
        own = [one.system == one.file.stem for one in found]  # called by the file already
        by_file = [called[one.file] for one in found]
        names = told_apart(
            [x if known else name for x, name, known in zip(by_file, names, own, strict=True)],
            [None if known else x for x, known in zip(by_file, own, strict=True)],
        )
    return tuple(replace(one, system=name) for one, name in zip(found, names, strict=True))
