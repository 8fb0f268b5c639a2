"""Files that people have: which columns are what is declared, or proposed, and never guessed.

What is read becomes one long frame, a line for each item, system and run, whichever way files hold
it. The checks are made on that frame, and scores are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fnmatch import fnmatchcase
from hashlib import sha256
from inspect import signature
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.readers import annotated, tools
from permtest.readers.annotated import METRICS
from permtest.readers.tables import (
    FRAME,
    File,
    ReadError,
    Table,
    columns_of,
    listed,
    of_frame,
    printable,
    shown,
    some,
    table_of,
)
from permtest.scores import COUNTS, Runs, Scores
from permtest.statistics import STATISTICS, Statistic, lookup, score_labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["METRICS", "File", "ReadError", "read", "read_many"]

#: What can be read: a path, "-", a buffer, a `File`, a data frame, or records.
Source: TypeAlias = Any
#: What was declared, by the names of the keyword arguments of `read_many`; "right", the labels of
#: items where gold is a file; and "layouts", the columns that a metric is made of.
Said: TypeAlias = dict[str, Any]

#: Names of columns that say which item a line is, beside those that end in _id. It does not grow.
IDS = ("id", "item", "index", "qid")

#: Keyword arguments that name columns.
ROLES = ("systems", "system", "score", "run", "clusters", "gold", "prediction")


def read(
    path: Source,
    path_b: Source | None = None,
    *,
    a: str | int | Sequence[str] | None = None,
    b: str | int | Sequence[str] | None = None,
    system: str | int | None = None,
    score: str | int | None = None,
    id: str | int | Sequence[str | int] | None = None,
    run: str | int | None = None,
    clusters: str | int | None = None,
    gold: Source | None = None,
    prediction: str | int | None = None,
    pos_label: str | None = None,
    statistic: str | Statistic | None = None,
    records: str | None = None,
    missing: str | None = None,
    higher_is_better: bool | None = None,
) -> Scores:
    r"""Read the scores of two systems on the same items.

    Columns are declared, by their names or their numbers from 1. These need no declaration: two
    tables with an id column and one column of numbers each, of the same names; a table of an id
    column and exactly two others, both of numbers; a table with columns called id, system and
    score; lines of two numbers without a header, and two files of one number a line; files of
    evaluation tools that hold one score. An id column is called id, item, index or qid, or ends in
    _id, or is the index of a frame. Anything else is a `ReadError`, which shows the columns and
    proposes a call that would do.

    Parameters
    ----------
    path : str, path-like, "-", buffer, data frame or records
        Both systems, or the first one. Tables (CSV, TSV, Excel, parquet, feather, JSON, JSON lines;
        as they are, or in gzip or zip), or what lm-evaluation-harness, inspect_ai or HELM wrote.
        ``"-"`` is standard input.
    path_b : the same, optional
        The second system.
    a, b : str or int, optional
        The columns of the systems in one table, or the names of two systems in a column `system`.
        For counts, columns (``"1,2,3"``) or what their names begin with: "new" for new_tp, new_fp,
        new_fn.
    system, score : str or int, optional
        Of a table with a line for each item and system: whose a line is, and its score. With two
        files `score` alone.
    id : str or int, or a sequence of them, optional
        Which item a line is.
    run : str or int, optional
        Tells runs of an item apart, such as seeds or raters. Scores are then means over runs.
    clusters : str or int, optional
        What is swapped as a whole, such as documents.
    gold : str, path-like or data frame, optional
        What is right: a column, a file, or a column of a file, as ``"gold.csv:label"``.
    prediction : str or int, optional
        What systems answered: compared with `gold`, or at least free to differ between systems.
    pos_label : str, optional
        The label that "f1" and the like are of.
    statistic : str or Statistic, optional
        What counts are read for, such as "f1", or what predictions are scored by; default
        "accuracy". Of treebanks in CoNLL-U "upos", "uas" or "las"; of tagged text "spans".
    records : str, optional
        Where the list of records is in a JSON file, such as ``"results.0.samples"``; ``"."`` is an
        object that has a record for each key.
    missing : {"drop", "zero"}, optional
        What becomes of items that lack a score of a system; an error otherwise.
    higher_is_better : bool, optional
        The direction. Unknown otherwise, unless permtest computes the scores itself.

    Returns
    -------
    Scores
        In the order of the first file. `source` says how items were paired, what was left out,
        and which files were read.

    Raises
    ------
    ReadError
        A ValueError: if columns have to be declared, or something in a file cannot be used.
    OSError, ImportError
        If there is no such file, or its kind needs a package that is missing.

    Examples
    --------
    >>> from permtest import read
    >>> from permtest.readers import File
    >>> table = File("marks.csv", b"student,before,after\n17,2.3,2.0\n4,3.7,2.3\n21,1.0,1.3\n")
    >>> read(table)
    Traceback (most recent call last):
        ...
    permtest.readers.tables.ReadError: say which columns are what. marks.csv has 3 lines:
      1  student  17, 4, 21      numbers
      2  before   2.3, 3.7, 1.0  numbers
      3  after    2.0, 2.3, 1.3  numbers
    For example:  pt.read('marks.csv', id='student', a='before', b='after')
    >>> scores = read(table, id="student", a="before", b="after")
    >>> scores.ids, scores.u.tolist(), scores.scale
    (('17', '4', '21'), [23, 37, 10], 10)
    """
    said = {name: value for name, value in locals().items() if value is not None}
    paths = [said.pop(name) for name in ("path", "path_b") if name in said]
    if (a is None) != (b is None):
        raise ReadError("name both systems (a and b), or none")
    if a is not None:
        both = (said.pop("a"), said.pop("b"))
        said["systems"] = [x if isinstance(x, str | int) else ",".join(x) for x in both]
    return _read(paths, said, many=False)


def read_many(path: Source, *paths: Source, systems: Any = None, **declared: Any) -> Scores:
    r"""Read the scores of two or more systems on the same items, as `read` does.

    Parameters
    ----------
    path : str, path-like, "-", buffer, data frame or records
        All systems, or the first one.
    *paths : the same
        The other ones, if each has a file.
    systems : str or sequence of str or int, optional
        The columns of the systems in one table, or a pattern for them: ``"*_correct"``. Or names of
        systems in a column `system`.
    **declared
        As in `read`, but for `a` and `b`.

    Returns
    -------
    Scores

    Raises
    ------
    ReadError, OSError, ImportError
        As `read`.

    Examples
    --------
    >>> from permtest import read_many
    >>> from permtest.readers import File
    >>> table = File("class.csv", b"name,ann_score,bob_score\nq1,1,0\nq2,1,1\n")
    >>> read_many(table, id="name", systems="*_score").systems
    ('ann', 'bob')
    """
    signature(read).bind(path, **declared)  # a TypeError names what is unknown
    systems = re.split(", *", systems) if isinstance(systems, str) else systems
    said = {x: y for x, y in {"systems": systems, **declared}.items() if y is not None}
    return _read([path, *paths], said, many=True)


def _read(paths: Sequence[Source], said: Said, *, many: bool) -> Scores:
    """Open files, and make scores of what is declared or needs no declaration."""
    if said.get("missing", "drop") not in ("drop", "zero"):
        raise ReadError("missing is drop or zero")
    if "pos_label" in said and "gold" not in said:
        raise ReadError("a label to be found (pos_label) needs right labels (gold)")
    sources = [File.load(x) for x in paths]
    try:
        tables, known = _opened(sources, said)
        return _scores(tables, _completed(tables, known, many))
    except ReadError as error:
        error.many, proposal = many, error.proposal or {}
        error.proposal = proposal if "paths" in proposal else None
        if proposal.items() <= said.items() or error.proposal:
            raise
        more = {**said, **proposal}
        try:  # a proposal is shown if it was seen to work, completed where it has to be
            _read(sources, more, many=many)
            if "systems" in more and not many:
                more |= dict(zip("ab", more.pop("systems"), strict=True))
            error.proposal = {"paths": [getattr(x, "path", FRAME) for x in sources], **more}
        except ValueError as other:
            error.proposal = getattr(other, "proposal", None)
            why = getattr(other, "problem", str(other)) if error.proposal is None else ""
            error.problem += f". {why}" * (why[:9] not in error.problem)
        raise


# ---- what is declared ----------------------------------------------------------------------------


def _opened(sources: Sequence[Any], said: Said) -> tuple[list[Table], Said]:
    """Tables, and what is declared: by the user, by formats, and by a file of right answers."""
    gold, metric = said.get("gold"), said.get("statistic")
    if metric in METRICS and gold is not None:
        known = {x: y for x, y in said.items() if x not in ("gold", "statistic")}
        known |= {"layouts": (COUNTS,)} if metric == "spans" else {"score": metric}
        return _told_apart(annotated.load(sources, gold, metric)), known
    tables = _told_apart([_table(one, said) for one in sources])
    known = {x: y for x, y in tables[0].known.items() if x in ("id", "run", "system")} | said
    if metric is not None and gold is None and (entry := lookup(metric)).columns:
        known["layouts"] = entry.layouts
    typed = isinstance(gold, str | int)
    if gold is None or (typed and tables[0].named(gold) in tables[0].names):
        return tables, known
    whole = not typed or Path(str(gold)).is_file()
    path, _, column = (gold, "", "") if whole else str(gold).rpartition(":")
    if not (whole or Path(path).is_file()):
        problem = f"gold {printable(gold)}: no such column, and no such file"
        raise ReadError(problem, columns_of(tables))
    return tables, {**known, "right": (_table(File.load(path), {}), column)}


def _table(source: Any, said: Said) -> Table:
    """The table of a file or of a frame."""
    if not isinstance(source, File):
        return of_frame(source)
    if "records" not in said and (found := tools.load(source)) is not None:
        return found
    if not {*said} - {"gold", "statistic"} and (error := annotated.not_declared(source, said)):
        raise error
    return table_of(source, said.get("records"))


def _told_apart(tables: list[Table]) -> list[Table]:
    """Tables with names for what they are of: by the tool, or by the file."""
    stems = [PurePath(x.path).name.partition(".")[0] or x.path for x in tables]
    numbered = [f"{stem} ({i})" for i, stem in enumerate(stems, 1)]
    choices = [x.called for x in tables], stems, numbered
    names = next(x for x in choices if all(x) and len({*x}) == len(x))
    return [replace(x, called=printable(y)) for x, y in zip(tables, names, strict=True)]


def _ids(table: Table, said: Said) -> list[str]:
    """The columns that say which item a line is: as declared, or by their names."""
    if "id" in said:
        return [table.column(x, "id") for x in listed(said["id"])]
    names = [x for x in table.names if x.lower() in IDS or x.lower().endswith("_id")]
    return [x for x in names if x in _free(table, {**said, "id": ()})]


def _free(table: Table, said: Said) -> list[str]:
    """The columns that are declared as nothing, and are no ids."""
    taken = {table.named(x) for role in ROLES for x in listed(said.get(role))}
    return [x for x in table.names if x not in {*taken, *_ids(table, said)}]


def _numbers(table: Table, said: Said) -> list[str]:
    """Columns that may be scores: of a tool, or numbers that do not count and are nothing yet."""
    other, facts = ("system", "run", "clusters", "gold", "prediction"), table.facts
    free = [x for x in _free(table, said) if facts[x].numbers and not facts[x].counts]
    return table.known.get("scores") or [x for x in free if x.lower() not in other]


def _is_wide(tables: Sequence[Table], said: Said) -> bool:
    """Whether the systems are columns of one table."""
    return len(tables) == 1 and "system" not in said


def _completed(tables: Sequence[Table], said: Said, many: bool) -> Said:
    """What is declared, with what needs no declaration; an error with a proposal otherwise."""
    table, ids, wide = tables[0], [_ids(x, said) for x in tables], _is_wide(tables, said)
    if wide and ids[0] and {"score", "system"} <= {*table.names} and not {*said} & {*ROLES}:
        return _completed(tables, {**said, "system": "system", "score": "score"}, many)
    single = all(x == ids[0] and len(x) == 1 for x in ids)
    if _is_enough(tables, said):  # unless several columns may be the item, or one that is not said
        clear = wide or single or "id" in said or bool(table.known)
        if clear or not (ids[0] or (table.header and _item(tables, said))):
            return said
    elif not {"gold", "score"} & {*said}:
        bare = all(not x.header and len(x.names) == 1 + wide for x in tables)
        scores = [_numbers(x, said) for x in tables]
        if (single or bare) and all(len(x) == 1 + wide and x == scores[0] for x in scores):
            known = bool(table.known) or "score" in scores[0]
            if wide and scores[0] == _free(table, said) and not known:
                return said | _of_systems(scores[0], many)
            if not wide and ("system" not in said or table.known):
                return said | {"score": scores[0][0]}
    raise _stop(tables, said, many)


def _is_enough(tables: Sequence[Table], said: Said) -> bool:
    """Whether it is said where the scores of the systems are."""
    if _is_wide(tables, said):
        return bool(said.get("systems"))
    return "prediction" in said if "gold" in said else bool({"score", "layouts"} & {*said})


# ---- proposals -----------------------------------------------------------------------------------


def _stop(tables: Sequence[Table], said: Said, many: bool) -> ReadError:
    """The error that shows the columns, and proposes what to declare."""
    table, sizes = tables[0], [f"{printable(x.path)} has {len(x):,} lines" for x in tables[:5]]
    problem, proposal = f"say which columns are what. {', '.join(sizes)}", _item(tables, said)
    proposal |= _systems(tables, said | proposal, many)
    proposal |= _values_proposed(tables, said | proposal, many)
    if "score" in proposal and len(tables) > 1 and not table.known:
        cells, column = table.frame[proposal["score"]], printable(proposal["score"])
        if {table.number(x) for x in cells} <= {"0", "1", ""}:
            problem += f". {column} is 0 or 1: a score, or an answer (prediction, beside gold)?"
            proposal = {}
    return ReadError(problem, columns_of(tables), proposal)


def _recurs(table: Table, said: Said, *more: str) -> bool:
    """Whether an item has several lines of a system, and of another column."""
    keys = [*_ids(table, said), *map(table.named, listed(said.get("system"))), *more]
    return bool(keys) and bool(table.frame.duplicated(keys).any())


def _item(tables: Sequence[Table], said: Said) -> Said:
    """A column that differs in every line, or of those that recur the one of most values."""
    table, ids, wide = tables[0], _ids(tables[0], said), _is_wide(tables, said)
    known = len(ids) == 1 or (bool(ids) and wide)
    known = known and all({*ids} <= {*x.names} and not _recurs(x, said) for x in tables)
    if "id" in said or known or (wide and len(table.names) == 2):
        return {}
    found: dict[str, int] = {}
    for name in [*ids, *_free(table, said)]:
        each, facts = [x for x in tables if name in x.names], table.facts[name]
        unique = all(x.facts[name].distinct == len(x) for x in each)
        again = table.header and facts.distinct > 1 and (facts.even or not facts.numbers)
        if len(each) == len(tables) and facts.whole >= facts.numbers and (unique or again):
            found[name] = sum(x.facts[name].distinct for x in each)
    likely = max(found, key=lambda x: found[x], default=None)
    return {"id": likely} if likely and [likely] != ids else {}


def _systems(tables: Sequence[Table], said: Said, many: bool) -> Said:
    """Of a table in which items recur, the column of text whose few values recur equally often."""
    table, facts = tables[0], tables[0].facts
    if not _is_wide(tables, said) or not _recurs(table, said):
        return {}
    texts = [x for x in _free(table, said) if facts[x].even and not facts[x].numbers]
    texts = [x for x in texts if 1 < facts[x].distinct <= len(table) / 4]
    if len(texts := [x for x in texts if x == "system"] or texts) != 1:
        return {}
    values = list(dict.fromkeys(table.frame[texts[0]]))
    return {"system": texts[0]} | ({"systems": values[:2]} if values[2:] and not many else {})


def _values_proposed(tables: Sequence[Table], said: Said, many: bool) -> Said:
    """What is left and holds numbers, or some of the right labels."""
    table, facts, wide = tables[0], tables[0].facts, _is_wide(tables, said)
    scores = _numbers(table, said)
    if not _ids(table, said) and not (wide and len(table.names) == 2):
        return {}
    if "gold" in said:
        right = {*_right(table, said)} - {""}
        scores = [x for x in _free(table, said) if right & {*table.frame[x]}]
    elif len(tables) > 1 and not table.known:  # what is alike says nothing
        other = tables[1].frame
        scores = [x for x in scores if x in other and sorted(table.frame[x]) != sorted(other[x])]
    if wide:
        alike = "gold" in said or len({facts[x].whole for x in scores}) == 1
        several = len(scores) == 2 or (many and len(scores) > 2)
        if {"score", "layouts"} & {*scores, *said} or not (alike and several):
            return {}
        return {} if _recurs(table, said) else _of_systems(scores, many)
    if not (len(scores) == 1 or table.known):
        scores = [x for x in scores if x == "score" or x in STATISTICS]
    good = not _is_enough(tables, said) and (len(scores) == 1 or (bool(scores) and table.known))
    return {"prediction" if "gold" in said else "score": scores[0]} if good else {}


def _of_systems(names: list[str], many: bool) -> Said:
    """The columns of systems, or a pattern for several if their names end alike."""
    ends = [f"*_{x.rpartition('_')[2]}" for x in names if "_" in x and many]
    fits = [x for x in ends if len(names) > 2 and ends.count(x) >= len(names) - 1]
    return {"systems": fits[:1] or names}


# ---- one long frame ------------------------------------------------------------------------------


def _parts(tables: Sequence[Table], said: Said) -> list[tuple[Table, Any, tuple[str, ...]]]:
    """Tables, whose lines they are, and columns of values."""
    table, names = tables[0], listed(said.get("systems"))
    if not _is_wide(tables, said):
        if len(tables) == 1:
            systems = table.frame[table.column(said["system"], "system")].to_numpy()
            return [(table, systems, _values(table, said))]
        if names or "system" in said:
            raise ReadError("systems are columns, or names in a column, of one table: join these")
        return [(x, x.called, _values(x, said)) for x in tables]
    found = dict[str, tuple[str, ...]]()
    start, star, end = str(names[0]).partition("*")
    if star:
        names = [x for x in table.names if fnmatchcase(x, start + star + end)]
    for name in names:
        values = _values(table, said, name)
        called = str(name) if len(values) > 1 else values[0]
        found[called[len(start) : len(called) - len(end)] if star else called] = values
    if len(found) < max(2, len(names)):
        problem = f"systems: {some(said['systems'])} names {len(found)} columns, not two or more"
        raise ReadError(problem, columns_of(tables))
    return [(table, x, y) for x, y in found.items()]


def _values(table: Table, said: Said, name: Any = None) -> tuple[str, ...]:
    """The columns of the score, the counts or the prediction of a line, or of a system."""
    if "layouts" not in said:
        option = "prediction" if "gold" in said else "score"
        return (table.column(said[option] if name is None else name, option),)
    columns = tuple(str(name or "").split(","))
    if len(columns) in map(len, said["layouts"]):
        return tuple(table.column(x, "a") for x in columns)
    for layout in said["layouts"]:
        columns = tuple(f"{name}_{x}" if name else x for x in layout)
        if {*columns} <= {*table.names}:
            return columns
    needed = " or ".join(map(", ".join, said["layouts"])) + f", behind {shown(name)}" * bool(name)
    raise ReadError(f"the metric needs columns {needed}", columns_of([table]))


def _lines(tables: Sequence[Table], said: Said) -> tuple[pd.DataFrame, list[str], Any]:
    """A line for each item, system and run by their numbers, and what these are called.

    Columns 0, 1, ... hold the score or the counts, or the prediction as text.
    """
    import pandas as pd

    ids, found = _ids(tables[0], said), []
    for table, system, values in _parts(tables, said):
        columns: dict[Any, Any] = {"row": np.arange(len(table), dtype=np.int32)}
        columns["system"] = np.broadcast_to(np.asarray(system, dtype=object), len(table))
        columns["item"] = _items(table, ids, said)
        for role in {"run", "clusters", *["gold"] * ("right" not in said)} & {*said}:
            columns[role] = table.frame[table.column(said[role], role)].to_numpy()
        for i, name in enumerate(values):
            columns[i] = table.frame[name].to_numpy() if "gold" in said else table.numbers(name)
        # As they are: pandas would copy texts into strings of its own.
        found.append(pd.DataFrame({x: pd.Series(y, dtype=y.dtype) for x, y in columns.items()}))
    for i in range(len(values)):  # whole numbers never become floats
        if len({x[i].dtype for x in found}) > 1:
            found = [x.astype({i: object}) for x in found]
    lines = pd.concat(found, ignore_index=True)
    every = list(pd.unique(lines["system"]))
    systems = [str(x) for x in said["systems"]] if {"system", "systems"} <= {*said} else every
    for name in [x for x in systems if x not in every][:1]:
        raise ReadError(f"no system is called {shown(name)}: there are {some(every)}")
    if len(systems) < 2:
        raise ReadError("there is one system, and a comparison needs two")
    lines = lines if systems == every else lines[lines["system"].isin(systems)]
    lines = lines.assign(system=pd.Index(systems).get_indexer(lines["system"]))
    sizes = np.bincount(lines["system"])
    if not ids and ({"system", "run", "right"} & {*said} or len({*sizes.tolist()}) > 1):
        each = [f"{x} has {n:,} lines" for x, n in zip(systems, sizes, strict=True)]
        problem = f"nothing says which lines are of one item (id): {some(each)}"
        raise ReadError(problem, columns_of(tables[:1]))
    gold = _right(tables[0], said) if "right" in said else None
    items = lines["item"] if gold is None else [*lines["item"], *gold.index]
    lines = lines if gold is None else lines.assign(gold=lines["item"].map(gold))
    numbers, names = pd.factorize(np.asarray(items, dtype=object))
    return lines.assign(item=numbers[: len(lines)]), systems, np.asarray(names)


def _right(table: Table, said: Said) -> pd.Series:
    """The right labels, by items if they are in a file of their own."""
    if "right" not in said:
        return table.frame[table.column(said["gold"], "gold")]
    right, column = said["right"]
    only = {x: y for x, y in said.items() if x == "id"}
    names = [right.column(column, "gold")] if column else _free(right, only)
    names = [x for x in names if x == said.get("prediction")] or names
    if len(names) != 1:
        raise ReadError("which column of the file is right? (gold: FILE:COL)", columns_of([right]))
    ids = _ids(table, said)
    gold = right.frame[names[0]].set_axis(_items(right, ids, said))
    for i in np.flatnonzero(gold.index.duplicated())[:1]:
        raise right.error(int(i), f"{some(ids)} {shown(gold.index[i])} comes twice")
    return gold


def _items(table: Table, ids: Sequence[str], said: Said) -> NDArray[Any]:
    """The item of each line; its number without ids."""
    if (own := _ids(table, said)) != ids:
        problem = f"items are called by {some(ids) or 'nothing'} and by {some(own) or 'nothing'}"
        raise ReadError(f"{problem}: name a column that all files have (id)")
    items: Any = np.arange(1, len(table) + 1)
    for i, name in enumerate(ids):
        texts = table.frame[name].to_numpy()
        if (empty := texts == "").any():
            raise table.error(int(empty.argmax()), "the id is empty", name)
        items = items + ", " + texts if i else texts
    return np.asarray(items)


# ---- what is checked, and scores -----------------------------------------------------------------


def _scores(tables: Sequence[Table], said: Said) -> Scores:
    """The scores of what is declared, with all that is checked."""
    wide, ids = _is_wide(tables, said), _ids(tables[0], said)
    lines, systems, names = _lines(tables, said)
    holders = tables if len(tables) > 1 else [*tables] * len(systems)
    _check_single(lines, holders, names, said)
    each, left = _complete(lines, systems, names, said)
    firsts = [x.drop_duplicates("item") if "run" in said else x for x in each]
    if not wide:
        _check_agreement(holders, firsts, said)
    values = {printable(x): y[0].to_numpy() for x, y in zip(systems, each, strict=True)}
    plain = not ({"run", "gold", "layouts"} & {*said} or left)
    if plain and (kind := _total([*values.values()])):
        problem = f"this line has the {kind}s of the lines above, and is no item; remove it"
        raise tables[0].error(int(each[0]["row"].iloc[-1]), problem)
    files = [{"file": x.path, "sha256": x.file and sha256(x.file.data).hexdigest()} for x in tables]
    by = "the lines of one table" if wide else some(ids) or "their order"
    how: dict[str, Any] = {"source": {"paired_by": by, "files": files} | left}
    how |= {x: y for x, y in said.items() if x == "higher_is_better"}
    if ids:
        how["ids"] = tuple(names[firsts[0]["item"]])
    labels = {x: _labels(lines, firsts[0]["item"], x) for x in {"clusters", "gold"} & {*lines}}
    if "clusters" in said:
        how["clusters"] = tuple(labels["clusters"])
    if said.get("score", "score") != "score" and not str(said["score"]).isdecimal():
        how["score"] = printable(said["score"])
    if "gold" in said and "run" not in said:
        how |= {"statistic": said.get("statistic", "accuracy"), "pos_label": said.get("pos_label")}
        return score_labels(labels["gold"].tolist(), values, **how)
    return _made(dict(zip(values, each, strict=True)), said, how)


def _made(each: dict[str, pd.DataFrame], said: Said, how: Said) -> Scores:
    """The scores of the lines of each system, which have the same items in the same order."""
    if "layouts" in said:
        counts = {x: y[[z for z in y if isinstance(z, int)]] for x, y in each.items()}
        return Scores.of_counts({x: y.to_numpy() for x, y in counts.items()}, **how)
    same = "gold" in said
    values = {x: (y[0] == y["gold"] if same else y[0]).to_numpy() for x, y in each.items()}
    if "run" not in said:
        return Scores.of_columns(values, **how)
    sizes = {x: y.groupby("item", sort=False).size().to_numpy() for x, y in each.items()}
    runs = {x: Runs(values[x], sizes[x], tuple(y["run"])) for x, y in each.items()}
    return Scores.of_runs(runs, **how)


def _labels(lines: pd.DataFrame, items: Any, role: str) -> pd.Series:
    """The cluster, or the right label, of each item, as the files say that have it."""
    found = lines[lines[role] != ""].drop_duplicates("item").set_index("item")[role].reindex(items)
    if found.isna().any():
        raise ReadError(f"{role}: there are items without a label")
    return found


def _check_single(lines: pd.DataFrame, tables: Sequence[Table], item: Any, said: Said) -> None:
    """Refuse two lines of an item, or of a run of it; propose what tells them apart."""
    keys = ["system", "item", *["run"] * ("run" in said)]
    again = lines.duplicated(keys).to_numpy()
    if not again.any():
        return
    line = lines.iloc[int(again.argmax())]
    first = lines[(lines[keys] == line[keys]).all(axis=1)].iloc[0]
    table = tables[int(line["system"])]
    problem = f"{some(_ids(table, said))} {shown(item[int(line['item'])])} comes twice (first in "
    problem += f"{table.place(int(first['row']))}); name what tells its lines apart (run)"
    error, single = table.error(int(line["row"]), problem), list[str]()
    if table.header and "run" not in said and not _is_wide([*{*tables}], said):
        few = [x for x in _free(table, said) if table.facts[x].distinct < len(table)]
        few = [x for x in few if table.facts[x].whole >= table.facts[x].numbers]
        single = [x for x in few if not _recurs(table, said, x)]
    error.columns, error.proposal = columns_of([table]), dict(zip(["run"], single, strict=False))
    raise error


def _complete(
    lines: pd.DataFrame, systems: list[str], names: Any, said: Said
) -> tuple[list[pd.DataFrame], dict[str, Any]]:
    """Each system's lines of the same items in one order, and what was left out or set to 0."""
    values = [x for x in lines if isinstance(x, int)]
    cells = lines[[*values, *["gold"] * ("gold" in lines)]]
    empty: Any = ((cells == "") | cells.isna()).any(axis=1).to_numpy()
    system, item = lines["system"].to_numpy(), lines["item"].to_numpy()
    lacks = np.ones((len(systems), len(names)), dtype=bool)
    lacks[system, item] = False
    lacks[system[empty], item[empty]] = True
    lacking: Any = lacks.any(axis=0)
    zero, left = said.get("missing") == "zero" and lacking.any(), dict[str, Any]()
    if lacking.any():
        numbers = zip(systems, lacks.sum(axis=1), strict=True)
        about = f"{lacking.sum():,} of {len(names):,} items lack a score: {some(names[lacking])} "
        about += f"({', '.join(f'{printable(x)} {n:,}' for x, n in numbers if n)})"
        if "missing" not in said:
            raise ReadError(f"{about}; say what becomes of them (missing: drop or zero)")
        if (zero and "run" in said) or (lacking.all() and not zero):
            raise ReadError(f"{about}; {'runs cannot be 0' if zero else 'no item is left'}")
        left = {"set_to_zero" if zero else "left_out": int(lacking.sum())}
        left["lacking"] = f"{'set to 0' if zero else 'left out'}: {about}"
        lines = lines if zero else lines[~lacking[item]]
    order = np.lexsort((lines["item"], lines["system"]))  # which is stable
    each = [x for _, x in lines.iloc[order].groupby("system")]
    if zero:
        each = [x.set_index("item").reindex(range(len(names))).reset_index() for x in each]
        for x in each:
            none = x[values].isna() | (x[values] == "")
            x[values] = x[values].mask(none, "" if "gold" in said else 0)
    return each, left


def _check_agreement(tables: Sequence[Table], firsts: Sequence[pd.DataFrame], said: Said) -> None:
    """Refuse texts of the same name that differ between lines of one item."""
    table, free = tables[0], _free(tables[0], said)
    names = [x for x in free if table.header and not table.facts[x].numbers]
    names += [
        *table.known.get("agree", ()),
        *(table.named(said.get(x)) for x in ("gold", "clusters")),
    ]
    pairs = zip(tables[1:], firsts[1:], strict=True)
    for other, lines, name in ((x, y, z) for x, y in pairs for z in dict.fromkeys(names)):
        if name not in table.names or name not in other.names:
            continue
        x = table.frame[name].reindex(firsts[0]["row"]).fillna("").to_numpy()
        y = other.frame[name].reindex(lines["row"]).fillna("").to_numpy()
        for i in np.flatnonzero((x != y) & (x != "") & (y != ""))[:1]:
            problem = f"{shown(y[i])}, but {shown(x[i])} in the line that it is paired with "
            problem += f"({printable(table.path)}, {table.place(int(firsts[0]['row'].iloc[i]))}); "
            problem += "check the ids, or say what the column is (system, or prediction)"
            raise other.error(int(lines["row"].iloc[i]), problem, name)


def _total(columns: Sequence[NDArray[Any]]) -> str:
    """What the last line is of those above, "sum" or "mean", where no chance makes it."""
    texts = [x if isinstance(x, str) else f"{x:.15g}" for x in (column[-1] for column in columns)]
    unit = 10.0 ** np.clip([int(Decimal(x).as_tuple().exponent) for x in texts], -300, 300)
    numbers = np.array([x.astype(np.float64) for x in columns])
    above, last, n = numbers[:, :-1], numbers[:, -1], numbers.shape[1] - 1
    if n < 3:
        return ""
    sums, most = above.sum(axis=1), abs(above).max(axis=1)
    kinds = [("sum", sums, abs(last), 1e-2)] * bool(((abs(last) > most) | (most == 0)).all())
    for kind, total, wide, level in [*kinds, ("mean", sums / n, np.ptp(above, axis=1), 1e-4)]:
        same = (abs(total - last) <= 0.5000001 * unit).all()
        if same and np.where(wide > 0, unit / np.maximum(wide, unit), 1).prod() <= level:
            return kind
    return ""
