"""`read`: the one door to all formats."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from permtest.pairs import Pairs
from permtest.readers.evaluation import Evaluation, ItemEvaluation
from permtest.readers.files import File, ReadError
from permtest.readers.folders import files_at
from permtest.readers.formats import format_of
from permtest.readers.frames import is_frame, of_frame
from permtest.readers.names import names_of
from permtest.readers.scores import Format, SystemScores, renamed
from permtest.readers.table import Columns
from permtest.readers.tables import BY_FILE, FORMAT, evaluation_of_tables
from permtest.statistics import CountStatistic, Statistic, lookup

#: What can be read: a path, an uploaded file, or a data frame.
Source: TypeAlias = Any  # str, path-like, File, DataFrame


def read(
    path: Source,
    path_b: Source | None = None,
    *,
    a: Columns | None = None,
    b: Columns | None = None,
    gold: Source | None = None,
    score: str | None = None,
    statistic: str | Statistic | CountStatistic = "sum",
    clusters: str | int | bool | None = None,
    higher_is_better: bool | None = None,
) -> Pairs:
    r"""Read the scores, or the counts, of two systems on the same items.

    The format is recognised by the content: tables of text (one line is one item), JSON records,
    the files of evaluation harnesses, treebanks and tagged text; `permtest formats` lists them.
    Items are paired by their ids where there are any, and by their order only where there are
    none; nothing is dropped without being counted.

    Parameters
    ----------
    path : str, path-like or data frame
        A file of both systems, or of the first; or a folder that a harness wrote for it. Or a
        pandas or polars frame.
    path_b : str, path-like or data frame, optional
        The file of the second system, in the same format.
    a, b : str or int, or a sequence of them, optional
        The first and the second system. In a table: the columns, names from the header or numbers
        counted from 1 (``2`` or ``"2"``); for a statistic of counts see Notes. Elsewhere: the
        names of the systems, or their numbers. Give both or neither: without them, the only two.
    gold : str or path-like, optional
        What would be right: a file, for formats that need one; or the column of a table that says
        it, beside columns of what systems predicted.
    score : str, optional
        Which score, where a file has several for each item, such as "acc_norm" or "las".
    statistic : str, or what `statistic` returns, default "sum"
        What the scores are for, as in `exact_perm_test`. Scores that it cannot have (below 0 for
        "accuracy") are refused here, where the line is known. Where `score` is not given, the
        score of this name is taken, if there is one.
    clusters : str or int, optional
        What each item belongs to, such as its document: a column of a table, or one of the
        groupings that the format has. In a table whose lines repeat items it may be the column of
        their ids: then items have no ids of their own. Default: those that have to be swapped as
        a whole, such as the epochs of one sample. False: none.
    higher_is_better : bool, optional
        Whether a higher score is better. Default: what its name says, such as "loss", or what the
        names of both columns have in common; if they say nothing, higher is taken as better.
        Answers say which of these it was.

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
        If the format needs an extra that is not installed; the message names it.

    Notes
    -----
    In tables, columns are separated by tabs, semicolons, commas or runs of blanks. Cells may be
    quoted as in CSV. A first line of text is a header; a first line of text and numbers could be
    one or not, and is refused. All text is UTF-8. Scores are read exactly, not by way of a float:
    integers of up to 1000 digits, also written as ``3.0``, and decimals (``0.75``, ``1e-05``);
    ``true`` and ``false`` in any case stand for 1 and 0. Large numbers in scientific notation
    (``1e3`` may have been rounded), missing values and text are refused. Where one of the scores
    has 15 digits or more, and all of them are multiples of 1 / D but for rounding, D up to 1000, as
    means of three that a program printed, they stand for those fractions, as floats do in
    `Pairs.of`; otherwise for what is written.

    A table may have a line for each item and system, if its columns say which (``id``, ``system``
    or ``model``, and one or several scores or counts); there may be a file for each system, of one
    number a line or of columns with names; JSON records and data frames are read as such tables.
    Items without a score are left out there, and counted. A column called ``cluster`` or
    ``cluster_id`` says what is swapped together. Predictions are right where they are the text that
    `gold` has (``true`` and ``false`` being 1 and 0 where its labels are these), and wrong where
    they are missing; "f1" and its like take the label ``1``, ``true`` or ``yes`` for the one to be
    found, a missing prediction for one that finds nothing, and the classes of "macro_f1" are all
    labels of either system and of `gold`. A system that shares no label with `gold` is refused.

    For a statistic of counts, such as "f1", each system has several columns of whole numbers. `a`
    and `b` are the names of the systems, those of their columns being made of it and of what they
    count: ``crf_tp``, ``crf.FP`` or ``fn-crf`` (for "incorrect" also ``in``, ``inc`` and
    ``wrong``); or they list the columns in the order of the counts (``[2, 3, 4]`` or ``"2,3,4"``
    for tp, fp, fn). Without them, the header must speak of two systems; or, if there is none, the
    first half of the columns is that of the first system. "wer" and "bleu" share the column
    ``length`` or ``reference_length`` where systems have none of their own.

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
    evaluation = recognise(*sources, gold=gold)
    pairs = evaluation.pairs(a, b, score=score, statistic=entry, clusters=clusters)
    return replace(pairs, score=pairs.score.stated(higher_is_better))


def recognise(*sources: Source, gold: Source | None = None) -> Evaluation:
    r"""Read files, without choosing two systems yet.

    Parameters
    ----------
    *sources : str, path-like or data frame
        Files of one format.
    gold : str or path-like, optional
        As in `read`.

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
    if not sources:
        raise ValueError("no file; name one that has both systems, or one for each")
    with _uncollected():
        return _recognised(_files(sources), gold)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles, which among millions of cells would take more time than all else."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _recognised(files: Sequence[File], gold: Source | None) -> Evaluation:
    """What files hold that have been opened."""
    formats = [format_of(file) for file in files]
    for file, kind in zip(files, formats, strict=True):
        both_tables = kind.name in BY_FILE and formats[0].name in BY_FILE
        if kind is not formats[0] and not both_tables:
            if kind is FORMAT:
                file.text  # noqa: B018 - what is no text at all is refused for that
            raise ReadError.at(
                file.path,
                f"{kind.title}, but {files[0].path} is {formats[0].title}; compare files of one "
                "format",
            )
    if formats[0].name in BY_FILE:
        return evaluation_of_tables(files, None if gold is None else str(gold))
    found = _load(formats[0], files, gold)
    return ItemEvaluation(formats[0], renamed(found, names_of([one.file for one in found])))


def _files(sources: Sequence[Source]) -> list[File]:
    """All of them opened; of folders, the files that a harness wrote."""
    if any(isinstance(source, File) or is_frame(source) for source in sources):
        return [
            source
            if isinstance(source, File)
            else of_frame(source, number)
            if is_frame(source)
            else File.load(source)
            for number, source in enumerate(sources, 1)
        ]
    return [File.load(path) for path in files_at(sources)]


def _load(kind: Format, files: Sequence[File], gold: Source | None) -> list[SystemScores]:
    path = files[0].path
    if kind.gold == "none" and gold is not None:
        raise ReadError.at(path, f"{kind.title} hold scores; leave gold (--gold) out")
    if kind.gold == "required" and gold is None:
        problem = f"{kind.title} hold no scores; add the file of what is right as gold (--gold)"
        raise ReadError.at(path, problem)
    if gold is None and kind.items_of is not None:
        gold = kind.items_of(files)
    if gold is None:
        return [one for file in files for one in kind.load(file)]
    reference = gold if isinstance(gold, File) else File.load(gold)
    found = [one for file in files for one in kind.load(file, reference)]
    return [replace(one, gold=reference) for one in found]
