"""`read`: the one door to all formats."""

from __future__ import annotations

from dataclasses import replace

from permtest.pairs import Pairs
from permtest.readers.counts import check_has_files, count_pairs
from permtest.readers.files import ReadError, StrPath
from permtest.readers.table import Column, Columns, Table, score_pairs
from permtest.statistics import CountStatistic, Statistic, lookup


def read(
    path: StrPath,
    *,
    a: Columns | None = None,
    b: Columns | None = None,
    statistic: str | Statistic | CountStatistic = "sum",
) -> Pairs:
    r"""Read the scores, or the counts, of two systems on the same items from a file.

    One line is one item; lines pair the two systems, and none is skipped or reordered. The
    columns are separated by tabs, semicolons, commas or runs of blanks. Cells may be quoted as in
    CSV. A first line of text is a header; a first line of text and numbers could be one or not,
    and is refused. The file is UTF-8.

    Parameters
    ----------
    path : str or path-like
        The file.
    a, b : str or int, or a sequence of them, optional
        The columns of the first and of the second system: names from the header, or numbers
        counted from 1 (``2`` or ``"2"``). Give both or neither: without them, the file's only two
        columns, or the only two that hold numbers. For a statistic of counts see Notes.
    statistic : str, or what `statistic` returns, default "sum"
        What the scores are for, as in `exact_perm_test`. Scores that it cannot have (below 0 for
        "accuracy") are refused here, where the line is known.

    Returns
    -------
    Pairs
        Its `names` are those of the columns, or "A" and "B" where the file has no header. Its
        `source` holds ``file``, ``sha256``, ``loader``, ``columns``, ``separator``, ``header``,
        ``rows`` and ``paired_by``; ``columns`` are a list for each system where they hold counts.

    Raises
    ------
    ReadError
        A ValueError that names the file, the line (counted from 1), the column, the value, and
        what to do.
    ValueError
        If there is no such statistic, or it is one that no file holds ("macro_f1").

    Notes
    -----
    Scores are read exactly, not by way of a float: integers of up to 1000 digits, also written as
    ``3.0``, and decimals (``0.75``, ``1e-05``); ``true`` and ``false`` in any case stand for 1 and
    0. Large numbers in scientific notation (``1e3`` may have been rounded), missing values and
    text are refused.

    For a statistic of counts, such as "f1", each system has several columns of whole numbers. `a`
    and `b` are the names of the systems, those of their columns being made of it and of what they
    count: ``crf_tp``, ``crf.FP`` or ``fn-crf`` (for "incorrect" also ``in``, ``inc`` and
    ``wrong``); or they list the columns in the order of the counts (``[2, 3, 4]`` or ``"2,3,4"``
    for tp, fp, fn). Without them, the header must speak of two systems; or, if there is none, the
    first half of the columns is that of the first system. "wer" and "bleu" share the column
    ``length`` or ``reference_length`` where systems have none of their own.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("item,old,new\ns1,3,4\ns2,5,5\n", encoding="utf-8")
    ...     pairs = read(path, a="new", b="old")
    >>> pairs.names, pairs.u.tolist(), pairs.v.tolist()
    (('new', 'old'), [4, 5], [3, 5])
    """
    entry = _entry(statistic)
    return _pairs(Table.load(path), entry, a, b, None)


def read_clustered(
    path: StrPath,
    *,
    clusters: Column,
    a: Columns | None = None,
    b: Columns | None = None,
    statistic: str | Statistic | CountStatistic = "sum",
) -> tuple[Pairs, list[str]]:
    r"""Read two systems from a file, and what each item belongs to, such as its document.

    Parameters
    ----------
    path, a, b, statistic
        As in `read`.
    clusters : str or int
        The column of the labels: its name, or its number counted from 1. None may be missing.

    Returns
    -------
    pairs : Pairs
        As from `read`; its `source` also holds ``clusters``, the column.
    labels : list of str
        One for each item, to be passed as ``clusters=``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("text,old,new\nx,3,4\nx,5,5\ny,2,3\n", encoding="utf-8")
    ...     pairs, labels = read_clustered(path, clusters="text", a="new", b="old")
    >>> labels, pairs.source["clusters"]
    (['x', 'x', 'y'], 'text')
    """
    entry = _entry(statistic)
    table = Table.load(path)
    labels = table.labels(clusters)
    column = table.find(clusters)
    (key,) = table.keys([column])
    pairs = _pairs(table, entry, a, b, column)
    chosen = pairs.source["columns"]
    if key in chosen or any(isinstance(columns, list) and key in columns for columns in chosen):
        problem = f"{table.label(column)} holds the clusters; choose other columns as a and b"
        raise ReadError.at(table.file.path, problem)
    return replace(pairs, source=pairs.source | {"clusters": key}), labels


def _entry(statistic: str | Statistic | CountStatistic) -> Statistic | CountStatistic:
    """The statistic, if there are files for it; asked before one is opened."""
    entry = lookup(statistic)
    if isinstance(entry, CountStatistic):
        check_has_files(entry)
    return entry


def _pairs(
    table: Table,
    entry: Statistic | CountStatistic,
    a: Columns | None,
    b: Columns | None,
    apart: int | None,
) -> Pairs:
    if isinstance(entry, CountStatistic):
        return count_pairs(table, entry, a, b, apart)
    return score_pairs(table, entry, a, b, apart)
