"""Which columns of a table are predicted labels, and which says what is right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from permtest.readers.cells import kind_of
from permtest.readers.columns import swapped_column
from permtest.readers.files import ReadError
from permtest.readers.headers import GOLD_NAMES, SYSTEM_NAMES, column_of
from permtest.readers.long import is_long, rows_by_system
from permtest.readers.table import Record, Table

#: How labels are written that mean the same, where all right ones are of one kind.
ALIKE = (
    ({"0", "1", ""}, {"false": "0", "true": "1"}),
    ({"false", "true", ""}, {"0": "false", "1": "true"}),
)


def gold_of(table: Table, *, alone: bool) -> int | None:
    """The column of what is right, if a table is one of predictions and nothing else.

    Parameters
    ----------
    table : Table
    alone : bool
        Whether the table is to have the predictions of two systems.

    Returns
    -------
    int or None
        Counted from 0. None unless one column is called so, others hold labels too (as text, or
        under a name with "pred" in it), and no scores could be compared instead.
    """
    found = [i for i, name in enumerate(table.header or ()) if name.lower() in GOLD_NAMES]
    if len(found) != 1:
        return None
    below = not alone or is_long(table)
    answers = [
        i
        for i in (_answers if below else _all_answers)(table, table.rows, found[0])
        if i not in table.numeric or _says_predicted(table, i)
    ]
    scores = [i for i in table.numeric if i not in (*answers, *found, table.ids)]
    return found[0] if len(answers) > (not below) and len(scores) < 2 - below else None


class Part(NamedTuple):
    """Some rows of a table, and the columns of what systems predicted in them."""

    table: Table
    rows: list[Record]
    gold: int
    columns: dict[str, int]
    others: dict[str, int]


def parts_of(table: Table, gold: str | None, *, alone: bool) -> list[Part]:
    """Who predicted what, according to a table.

    Parameters
    ----------
    table : Table
    gold : str or None
        The column of what is right; None if it is recognised.
    alone : bool
        Whether there is no other table.

    Returns
    -------
    list of Part
        One for each system, or one for all where they have columns.
    """
    right = gold_of(table, alone=alone) if gold is None else _named(table, gold)
    assert right is not None
    if alone and not is_long(table):
        columns = {table.name(i, f"column {i + 1}"): i for i in range(table.width)}
        answers = _all_answers(table, table.rows, right)
        rest = [i for i in candidates(table, right) if i not in (*answers, *table.numeric)]
        found = {name: i for name, i in columns.items() if i in answers}
        others = {name: i for name, i in columns.items() if i in rest}
        return [Part(table, table.rows, right, found, others)]
    rows = rows_by_system(table) if is_long(table) else {table.file.stem: table.rows}
    return [
        Part(table, some, right, {system: _only_answer(table, some, right)}, {})
        for system, some in rows.items()
    ]


def _named(table: Table, gold: str) -> int:
    try:
        return table.find(gold)
    except ReadError as error:
        problem = f"{error}; of a table, gold (--gold) is the column that says what is right"
        raise ReadError(problem) from None


def _only_answer(table: Table, rows: Sequence[Record], gold: int) -> int:
    columns = _answers(table, rows, gold)
    if len(columns) != 1:
        names = ", ".join(table.label(i) for i in columns) or "none"
        raise table.error(
            f"one column must hold what the system predicted, but there are {len(columns)} with "
            f"labels of {table.label(gold)} ({names}); keep one, or call it 'prediction'"
        )
    return columns[0]


def _answers(table: Table, rows: Sequence[Record], gold: int) -> list[int]:
    """The columns of predictions: called so, or else with labels that occur in gold."""
    columns = candidates(table, gold)
    if called := [i for i in columns if _says_predicted(table, i)]:
        return called
    right = {label_of(row.cells[gold]) for row in rows} - {""}
    words = words_of(right)

    def fits(column: int) -> bool:
        shared = sum(label_of(row.cells[column], words) in right for row in rows)
        return 2 * shared >= len(rows) if column in table.numeric else shared > 0

    return [i for i in columns if fits(i)]


def _all_answers(table: Table, rows: Sequence[Record], gold: int) -> list[int]:
    """The columns of predictions of several systems: of two texts one may never be right."""
    found = _answers(table, rows, gold)
    texts = [i for i in candidates(table, gold) if i not in table.numeric]
    return texts if len(found) == 1 and len(texts) == 2 and found[0] in texts else found


def candidates(table: Table, gold: int) -> list[int]:
    """The columns that are not known to hold anything else."""
    system = column_of(table.header, SYSTEM_NAMES)
    return table.besides([gold, table.ids, system, swapped_column(table)])


def _says_predicted(table: Table, column: int) -> bool:
    return "pred" in table.name(column, "").lower()


def gold_beside(table: Table, columns: Collection[int]) -> int | None:
    """The column of what may be right, if `columns` hold labels that occur in it."""
    gold = column_of(table.header, GOLD_NAMES)
    if gold is None or gold in columns:
        return None
    return gold if set(columns) <= set(_answers(table, table.rows, gold)) else None


def words_of(right: Collection[str]) -> Mapping[str, str]:
    """How predictions are rewritten: true as 1 if right labels are 1 and 0, or the reverse."""
    return next((words for labels, words in ALIKE if labels.issuperset(right)), {})


def label_of(cell: str, words: Mapping[str, str] = MappingProxyType({})) -> str:
    """A label as it is compared: 1.0 is 1, True is true, and "" is none.

    Parameters
    ----------
    cell : str
    words : mapping of str to str
        What `words_of` says for predictions.

    Returns
    -------
    str

    Examples
    --------
    >>> [label_of(cell) for cell in ("1.0", "True", "nan", "Paris", "01")]
    ['1', 'true', '', 'Paris', '01']
    """
    label = cell
    if cell.lower() in ("nan", "true", "false"):
        label = cell.lower().removeprefix("nan")
    elif "." in cell and kind_of(cell) == "integer":
        label = cell.partition(".")[0]
    return words.get(label, label)
