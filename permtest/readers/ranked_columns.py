"""Which columns of a table are the systems of a leaderboard, and which are none."""

from __future__ import annotations

from collections.abc import Sequence

from permtest.readers.cells import is_number, kind_of, shown
from permtest.readers.counts import OF_THE_ITEM
from permtest.readers.evaluation import Evaluation
from permtest.readers.files import ReadError
from permtest.readers.headers import GOLD_NAMES, GROUP_NAMES, WORDS, systems_in
from permtest.readers.matching import NAMED
from permtest.readers.table import Table
from permtest.readers.wide import WideTable, is_of_the_item
from permtest.statistics import CountStatistic, Statistic


def chosen_systems(
    evaluation: Evaluation,
    systems: Sequence[str | int] | None,
    entry: Statistic | CountStatistic,
    besides: Sequence[object] = (),
) -> tuple[Sequence[str | int], list[str]]:
    """The systems that are meant, and the columns that are none.

    Parameters
    ----------
    evaluation : Evaluation
    systems : sequence of str or int, or None
    entry : Statistic or CountStatistic
    besides : sequence
        What other columns are called that are no systems.

    Returns
    -------
    systems : sequence of str or int
        Two or more.
    others : list of str
        All columns of a table that are left out, unless `systems` are given.

    Raises
    ------
    ReadError, TypeError
        If there are fewer than two, or it is not clear which columns are systems.
    """
    if isinstance(systems, str | int):
        raise TypeError(f"systems={systems!r} must be a list of names")
    others: list[str] = []
    found = evaluation.systems if systems is None else systems
    if systems is None and isinstance(evaluation, WideTable):
        found, others = _in_table(evaluation, entry, set(map(str, besides)))
    if len(found) > 1:
        return found, others
    number = f"{len(found)} system ({found[0]})" if found else "no system"
    problem = f"{number}, but a leaderboard is of two or more; name columns as systems (--systems)"
    problem += ", or add the files of other systems"
    if isinstance(evaluation, WideTable):
        raise evaluation.table.error(f"{problem}; {evaluation.table.columns()}")
    raise ReadError(problem)


def _in_table(
    evaluation: WideTable, entry: Statistic | CountStatistic, besides: set[str]
) -> tuple[list[str], list[str]]:
    """The systems of a table, and its other columns."""
    table, systems = evaluation.table, evaluation.systems
    keys = [str(key) for key in table.keys(range(table.width))]
    _check_not_bare(table, systems)
    if isinstance(entry, CountStatistic):
        used = _columns_of_counts(table, entry, systems)
        return list(systems), [keys[i] for i in range(table.width) if used and i not in used]
    _check_scores(table, systems)
    _check_no_gold(table, systems)
    found = [name for name in systems if not (_is_no_system(name) or name in besides)]
    others = [name for name in keys if name not in found]
    for i, name in enumerate(keys):
        if found and i not in table.numeric and not (_is_no_system(name) or name in besides):
            _check_numbers(table, i)
    return found, others


def _columns_of_counts(table: Table, entry: CountStatistic, systems: Sequence[str]) -> set[int]:
    """The columns that hold counts of systems, or of the items themselves."""
    known = systems_in(table.header)
    found = {i for name in systems for some in known.get(name, {}).values() for i in some}
    return found | set(known.get("", {}).get(OF_THE_ITEM.get(entry.name, ""), []))


def _is_no_system(name: str) -> bool:
    said = name.lower()
    return is_of_the_item(said) or said in GROUP_NAMES or said.endswith("_id")


def _check_numbers(table: Table, column: int) -> None:
    """Refuse to leave out a column of numbers, some of whose cells are none."""
    cells = [row.cells[column] for row in table.rows]
    number, text = (sum(map(check, cells)) for check in (is_number, _is_text))
    if number <= text:
        return
    row = next(row for row in table.rows if _is_text(row.cells[column]))
    problem = f"{shown(row.cells[column])} is not a number, but {number} of {len(cells)} cells of "
    problem += "this column are; mend it, or name the columns of scores as systems (--systems)"
    raise table.error(problem, row, column)


def _is_text(cell: str) -> bool:
    return kind_of(cell) == "text"


def _check_not_bare(table: Table, systems: Sequence[str]) -> None:
    """Refuse to rank counts of one system against each other."""
    bare = [name for name in systems if name.lower() in WORDS]
    if len(bare) < 2:
        return
    names = ", ".join(map(repr, bare[:NAMED])) + ", ..." * (len(bare) > NAMED)
    raise table.error(
        f"columns {names} seem to hold counts, but of no system; call them after their systems, "
        f"such as new_{bare[0]}, or add a column 'system' and one of ids; if they are systems, "
        "name them as such (--systems)",
    )


def _check_no_gold(table: Table, systems: Sequence[str]) -> None:
    """Refuse to guess which columns are scores where one says what is right."""
    for name in systems:
        if name.lower() in GOLD_NAMES:
            problem = f"column {name!r} may say what is right, and others may hold predictions: "
            problem += f"score them by gold={name!r} (--gold {name}), or name the columns of scores"
            raise table.error(f"{problem} as systems (--systems)")


def _check_scores(table: Table, systems: Sequence[str]) -> None:
    """Refuse counts where single scores are wanted."""
    if all(name in map(str, table.keys(range(table.width))) for name in systems):
        return
    names = ", ".join(map(repr, systems[:NAMED])) + ", ..." * (len(systems) > NAMED)
    remedy = "choose a statistic of counts, such as 'f1' (--metric f1)"
    problem = f"seems to hold counts of {len(systems)} systems ({names}): {remedy}"
    raise table.error(
        f"{problem}; or, if it has scores, name their columns as systems (--systems)",
    )
