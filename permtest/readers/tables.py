"""Tables of text: a line for each item, for each item and system, or a file for each system."""

from __future__ import annotations

from collections.abc import Sequence

from permtest.readers.evaluation import Evaluation
from permtest.readers.files import File
from permtest.readers.scores import Format
from permtest.readers.table import Table
from permtest.readers.wide import WideTable

FORMAT = Format(
    name="table",
    title="a table",
    rows="the scores of both systems in columns: CSV, TSV, or numbers apart",
    pairs_on="row",
    example="permtest compare results.csv --a new --b old",
    recognises=lambda file: True,
    load=lambda file: (),
)


def evaluation_of_tables(files: Sequence[File], gold: str | None) -> Evaluation:
    """What one or several tables hold.

    Parameters
    ----------
    files : sequence of File
    gold : str or None
        The column of what is right.

    Returns
    -------
    Evaluation
    """
    del gold
    return WideTable(FORMAT, Table.of(files[0]))
