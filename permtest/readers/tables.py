"""Tables: of a line for each item, of a line for each item and system, or one for each system."""

from __future__ import annotations

from collections.abc import Sequence

from permtest.readers import frames, long, one_system, records
from permtest.readers.answers import gold_of
from permtest.readers.evaluation import Evaluation, ItemEvaluation
from permtest.readers.files import File
from permtest.readers.predictions import predictions
from permtest.readers.scores import Format, SystemScores
from permtest.readers.table import Table
from permtest.readers.tools import from_tools, segments
from permtest.readers.wide import WideTable

FORMAT = Format(
    name="table",
    title="a table",
    rows="the scores of both systems in columns: CSV, TSV, or numbers apart",
    pairs_on="row",
    example="permtest compare results.csv --a new --b old",
    recognises=lambda file: True,  # noqa: ARG005
)

#: The formats that become tables, and that are recognised by file.
BY_FILE = {kind.name: kind for kind in (frames.FORMAT, records.FORMAT, FORMAT)}


def table_of(file: File) -> Table:
    """The cells of a file, or of a data frame."""
    if isinstance(file, frames.FrameFile):
        return from_tools(file.table)
    if records.recognises(file):
        return from_tools(records.table_of(file))
    return segments(file) or from_tools(Table.of(file))


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
    tables = [table_of(file) for file in files]
    alone = len(tables) == 1
    if gold is not None or all(gold_of(table, alone=alone) is not None for table in tables):
        return predictions(tables, gold)
    several = [long.is_long(table) for table in tables]
    if alone and not several[0]:
        return WideTable(BY_FILE[tables[0].kind], tables[0])
    found: list[SystemScores] = []
    for table, is_long in zip(tables, several, strict=True):
        found += long.systems_of(table) if is_long else [one_system.system_of(table)]
    kind = long.FORMAT if len(found) > len(files) else one_system.FORMAT
    return ItemEvaluation(kind, one_system.side_by_side(found))
