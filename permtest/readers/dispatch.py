"""`read`: the one door to all formats."""

from __future__ import annotations

from permtest.pairs import Pairs
from permtest.readers.files import StrPath
from permtest.readers.table import Column, read_table


def read(
    path: StrPath,
    *,
    a: Column | None = None,
    b: Column | None = None,
    statistic: str = "sum",
) -> Pairs:
    r"""Read the scores of two systems on the same items from a file.

    One line is one item; lines pair the two systems, and none is skipped or reordered. The
    columns are separated by tabs, semicolons, commas or runs of blanks. Cells may be quoted as in
    CSV. A first line of text is a header; a first line of text and numbers could be one or not,
    and is refused. The file is UTF-8.

    Parameters
    ----------
    path : str or path-like
        The file.
    a, b : str or int, optional
        The columns of the first and of the second system: names from the header, or numbers
        counted from 1 (``2`` or ``"2"``). Give both or neither: without them, the file's only two
        columns, or the only two that hold numbers.
    statistic : str, default "sum"
        What the scores are for, as in `exact_perm_test`. Scores that it cannot have (below 0 for
        "accuracy") are refused here, where the line is known.

    Returns
    -------
    Pairs
        Its `names` are those of the columns, or "A" and "B" where the file has no header. Its
        `source` holds ``file``, ``sha256``, ``loader``, ``columns``, ``separator``, ``header``,
        ``rows`` and ``paired_by``.

    Raises
    ------
    ReadError
        A ValueError that names the file, the line (counted from 1), the column, the value, and
        what to do.

    Notes
    -----
    Scores are read exactly, not by way of a float: integers of up to 1000 digits, also written as
    ``3.0``, and decimals (``0.75``, ``1e-05``); ``true`` and ``false`` in any case stand for 1 and
    0. Large numbers in scientific notation (``1e3`` may have been rounded), missing values and
    text are refused.

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
    return read_table(path, a=a, b=b, statistic=statistic)
