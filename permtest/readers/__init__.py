"""Files that people have: which columns are what is declared, or proposed, and never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from fnmatch import fnmatchcase
from inspect import signature
from math import inf
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest.readers import annotated, tools
from permtest.readers.annotated import METRICS
from permtest.readers.tables import (
    FRAME,
    LETTERS,
    Column,
    File,
    ReadError,
    Table,
    listed,
    of_frame,
    printable,
    shown,
    some,
    table_of,
)
from permtest.scores import Runs, Scores
from permtest.statistics import STATISTICS, Statistic, lookup, score_labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["METRICS", "File", "ReadError", "read", "read_many"]

#: What can be read: a path, "-", a buffer, a `File`, a data frame, or records.
Source: TypeAlias = Any
#: What was declared, by the names of the keyword arguments of `read`.
Said: TypeAlias = dict[str, Any]

#: Names of columns that say which item a line is, beside those that end in _id. It does not grow.
IDS = ("id", "item", "index", "qid")

#: Keyword arguments that name columns.
ROLES = ("a", "b", "systems", "system", "score", "run", "clusters", "gold", "prediction")


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
    tables with an id column of the same name and one column of numbers each; a table of an id
    column and exactly two others, both of numbers; a table with columns called id, system and
    score; lines of two numbers without a header, and two files of one number a line; files of
    evaluation tools that hold one score. An id column is called id, item, index or qid, or ends in
    _id, or is the index of a frame. Anything else is a `ReadError`, which shows the columns and
    proposes a call that would do.

    Parameters
    ----------
    path : str, path-like, "-", buffer, data frame or records
        Both systems, or the first one. Tables (CSV, TSV, Excel, parquet, feather, JSON, JSON
        lines; compressed or not), or what lm-evaluation-harness, inspect_ai, HELM or Every Eval
        Ever wrote. ``"-"`` is standard input.
    path_b : the same, optional
        The second system.
    a, b : str or int, optional
        The columns of the systems in one table; the score of each of two files, where these are
        called differently; or the names of two systems in a column `system`. For counts, columns
        (``"1,2,3"``) or what their names begin with: "new" for new_tp, new_fp, new_fn.
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
    if ("a" in said) != ("b" in said):
        raise ReadError("name both systems (--a COL --b COL), or none")
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
    known = [x for x in signature(read).parameters if x not in ("path", "path_b", "a", "b")]
    if wrong := next((x for x in declared if x not in known), None):
        close = get_close_matches(wrong, known, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise TypeError(f"read_many() has no argument {wrong!r}{hint}")
    said = {x: y for x, y in {"systems": systems, **declared}.items() if y is not None}
    return _read([path, *paths], said, many=True)


def _read(paths: Sequence[Source], said: Said, *, many: bool) -> Scores:
    """Open files, and make scores of what is declared or needs no declaration."""
    if said.get("missing", "drop") not in ("drop", "zero"):
        raise ReadError(f"{shown(said['missing'])} is not known: --missing drop, or --missing zero")
    if "pos_label" in said and "gold" not in said:
        raise ReadError("a label to be found (--pos-label) needs right labels: --gold")
    sources, found = [_source(x) for x in paths], None
    try:
        tables, right, known = _opened(sources, said)
        found = _plain(tables, known, many)
        if found is None:
            raise _stop(tables, known, right, many)
        return _scores(tables, found, right)
    except ReadError as error:
        error.many = many
        if error.proposal is not None and error.proposal.items() <= said.items():
            error.proposal = None
        if error.proposal is not None and "paths" not in error.proposal:
            error.proposal, reason = _working(sources, {**said, **error.proposal}, many)
            error.problem += f". {reason}" * bool(reason)
        raise


def _working(
    sources: Sequence[Any], said: Said, many: bool
) -> tuple[Mapping[str, Any] | None, str]:
    """A proposal that was seen to work, completed where it has to be; or why there is none."""
    try:
        _read(sources, said, many=many)
    except ReadError as error:
        return error.proposal, "" if error.proposal else error.problem
    except ValueError as error:
        return None, str(error)
    paths = [getattr(x, "path", str(x)) if isinstance(x, File | Path) else FRAME for x in sources]
    return {"paths": paths, **said}, ""


# ---- opening -------------------------------------------------------------------------------------


def _opened(sources: Sequence[Any], said: Said) -> tuple[list[Table], Table | None, Said]:
    """Tables, that of the right answers if these are in a file, and what the formats declare."""
    gold, metric = said.get("gold"), said.get("statistic")
    if metric in annotated.METRICS and gold is not None:
        tables = _told_apart(annotated.load(sources, gold, metric))
        known = {x: y for x, y in said.items() if x not in ("gold", "statistic")}
        known |= {"statistic": "f1"} if metric == "spans" else {"score": metric}
        return tables, None, known
    tables = _told_apart([_table(one, said) for one in sources])
    known = {x: y for x, y in tables[0].known.items() if x in ("id", "run", "system")} | said
    number = str(gold) in map(str, range(1, len(tables[0].names) + 1))
    if gold is None or number or (isinstance(gold, str) and all(gold in x.names for x in tables)):
        return tables, None, known
    path, _, column = str(gold).rpartition(":")
    if not isinstance(gold, str) or Path(gold).is_file() or not Path(path).is_file():
        path, column = gold, ""
    if isinstance(path, str) and not Path(path).is_file():
        problem = f"--gold {printable(gold)}: no such column, and no such file"
        raise ReadError(problem, _columns(tables))
    right = _table(_source(path), {})
    return tables, replace(right, known={"gold": column} if column else {}), known


def _source(source: Source) -> Any:
    """A file, the path of a folder, or what is a table already."""
    if isinstance(source, str | PurePath) and "\0" not in str(source) and Path(source).is_dir():
        return Path(source)
    known = isinstance(source, str | PurePath) or hasattr(source, "read")
    return File.load(source) if known else source.unpacked() if isinstance(source, File) else source


def _table(source: Any, said: Said) -> Table:
    """The table of a file, of a folder that a tool wrote, or of a frame."""
    if isinstance(source, Path):
        return tools.of_folder(source)
    if not isinstance(source, File):
        return of_frame(source)
    if "records" not in said and (found := tools.load(source)) is not None:
        return found
    if not {*said} - {"gold", "statistic"} and (error := annotated.not_declared(source, said)):
        raise error
    return table_of(source, said.get("records"))


def _told_apart(tables: list[Table]) -> list[Table]:
    """Tables with names for what they are of: by the tool, by the file, or by its folder."""
    stems = [PurePath(x.path).name.partition(".")[0] or x.path for x in tables]
    folders = [PurePath(x.path).parent.name for x in tables]
    numbered = [f"{stem} ({i})" for i, stem in enumerate(stems, 1)]
    for names in ([x.called for x in tables], stems, folders, numbered):
        if all(names) and len({*names}) == len(names):
            break
    return [replace(x, called=printable(y)) for x, y in zip(tables, names, strict=True)]


# ---- what needs no declaration -------------------------------------------------------------------


def _ids(table: Table, said: Said) -> list[str]:
    """The columns that say which item a line is: as declared, or by their names."""
    if "id" in said:
        return [table.column(x, "id") for x in listed(said["id"])]
    names = [x for x in table.names if x.lower() in IDS or x.lower().endswith("_id")]
    return [x for x in names if x not in _taken(table, said)]


def _taken(table: Table, said: Said) -> set[str]:
    """The columns that are declared as something else than an id."""
    numbers = {str(i): name for i, name in enumerate(table.names, 1) if str(i) not in table.names}
    every = [str(x) for role in ROLES for x in listed(said.get(role))]
    return {numbers.get(x, x) for x in every}


def _rest(table: Table, said: Said) -> list[str]:
    """Columns that are declared as nothing yet, and are no ids."""
    out = {*_ids(table, said), *_taken(table, said)}
    return [x for x in table.names if x not in out]


def _numbers(table: Table, names: Sequence[str]) -> list[str]:
    """Those columns that may be scores: numbers that do not count, and do not say otherwise."""
    facts = table.facts
    known = [
        x for x in names if x.lower() not in ("system", "run", "clusters", "gold", "prediction")
    ]
    return [x for x in known if facts[x].numbers and not facts[x].counts]


def _entry(said: Said) -> Statistic | None:
    """The statistic, if it is made of counts."""
    entry = lookup(said["statistic"]) if "statistic" in said else None
    return entry if entry is not None and entry.columns else None


def _wanted(said: Said) -> Any:
    """The systems that are named; None if none are."""
    if "a" not in said:
        return said.get("systems")
    return [x if isinstance(x, str | int) else ",".join(x) for x in (said["a"], said["b"])]


def _plain(tables: Sequence[Table], said: Said, many: bool) -> Said | None:
    """What was declared, with what needs no declaration; None if that is not enough."""
    single = len(tables) == 1 and "system" not in said
    wanted = _wanted(said) is not None and "system" not in said
    if single:
        return said if wanted else _plain_table(tables[0], said, many)
    if "gold" in said:
        return said if "prediction" in said else None
    if "score" in said or _entry(said) is not None or wanted:
        return said
    ids = [_ids(x, said) for x in tables]
    bare = all(not x.header and len(x.names) == 1 for x in tables)
    known = "scores" in tables[0].known
    scores = [x.known.get("scores") or _numbers(x, _rest(x, said)) for x in tables]
    shared = known if "system" in said else bare or (ids[0] and all(x == ids[0] for x in ids))
    if not shared or any(len(x) != 1 for x in scores):
        return None
    names = [x[0] for x in scores]
    return said | ({"score": names[0]} if len({*names}) == 1 else {"systems": names})


def _plain_table(table: Table, said: Said, many: bool) -> Said | None:
    """One table with columns called system and score, or with two systems and nothing else."""
    ids, both = _ids(table, said), _rest(table, said)
    if {"score", "system"} <= {*table.names} and ids and not {*said} & {*ROLES}:
        return {**said, "system": "system", "score": "score"}
    plain = bool(ids) if table.header else len(table.names) == 2
    if "gold" in said or not plain or "score" in both or len(both) != 2:
        return None
    if both != _numbers(table, both):
        return None
    return said | ({"systems": both} if many else {"a": both[0], "b": both[1]})


# ---- from tables to scores -----------------------------------------------------------------------


class Part(NamedTuple):
    """A table, whose lines are of one system or of those that are named, and columns of values."""

    table: Table
    system: Any
    values: tuple[str, ...]


def _parts(tables: Sequence[Table], said: Said) -> list[Part]:
    """The systems: values of a column, columns of one table, or a table each."""
    if "system" in said:
        systems = [x.texts(x.column(said["system"], "system")).to_numpy() for x in tables]
        return [Part(x, y, _values(x, said)) for x, y in zip(tables, systems, strict=True)]
    if len(tables) == 1:
        return [Part(tables[0], x, y) for x, y in _wide(tables[0], said).items()]
    columns = listed(_wanted(said)) or [said.get("score")] * len(tables)
    how = [said if x is None else {**said, "score": x} for x in columns]
    return [Part(x, x.called, _values(x, y)) for x, y in zip(tables, how, strict=False)]


def _values(table: Table, said: Said) -> tuple[str, ...]:
    """The columns of the score, the counts or the prediction of a line."""
    if "gold" in said:
        return (table.column(said["prediction"], "prediction"),)
    entry = _entry(said)
    return _counts(table, "", entry) if entry else (table.column(said["score"], "score"),)


def _counts(table: Table, start: str, entry: Statistic) -> tuple[str, ...]:
    """The columns of the counts of a system, or those whose names begin with what it is called."""
    layouts, columns = entry.layouts, tuple(start.split(","))
    if len(columns) in map(len, layouts):
        return tuple(table.column(x, "a") for x in columns)
    for layout in layouts:
        columns = tuple(f"{start}_{x}" if start else x for x in layout)
        if {*columns} <= {*table.names}:
            return columns
    behind = f", behind {shown(start)}" if start else ""
    needed = " or ".join(map(", ".join, layouts))
    raise ReadError(f"--metric {entry.name} needs columns {needed}{behind}", _columns([table]))


def _wide(table: Table, said: Said) -> dict[str, tuple[str, ...]]:
    """The systems of a table that has columns for them, and these columns."""
    found: dict[str, tuple[str, ...]]
    wanted, entry = _wanted(said), _entry(said)
    names = wanted.split(",") if isinstance(wanted, str) else listed(wanted)
    option = "a" if "a" in said else "systems"
    if isinstance(wanted, str) and "*" in wanted:
        start, _, end = wanted.partition("*")
        names = [x for x in table.names if fnmatchcase(x, wanted)]
        found = {x[len(start) : len(x) - len(end)]: (x,) for x in names}
    elif entry is not None and "gold" not in said:
        found = {str(x): _counts(table, str(x), entry) for x in names}
    else:
        found = {x: (x,) for x in (table.column(x, option) for x in names)}
    if len(found) < max(2, len(names)):
        problem = f"--{option} {printable(wanted)} names {len(found)} columns, and has to name two"
        raise ReadError(problem, _columns([table]))
    return found


def _columns(tables: Sequence[Table]) -> dict[str, tuple[Column, ...]]:
    """What a person sees of the columns of tables; once where they are called alike."""
    alike = all(x.names == tables[0].names for x in tables)
    return {printable(x.path): x.columns() for x in (tables[:1] if alike else tables)}


def _scores(tables: Sequence[Table], said: Said, right: Table | None) -> Scores:
    """The scores of what is declared, with all that is checked."""
    parts = _parts(tables, said)
    lines, systems, names = _lines(parts, said)
    ids = _ids(parts[0].table, said)
    _check_single(lines, systems, names, parts, said)
    if right is not None:
        lines, names = _with_gold(lines, names, right, said)
    each, left = _complete(lines, systems, names, said)
    firsts = [x.drop_duplicates("item") if "run" in said else x for x in each]
    wide = len(tables) == 1 and "system" not in said
    files = [{"file": x.path, "sha256": x.file and x.file.sha256} for x in tables]
    by = "the lines of one table" if wide else some(ids) or "their order"
    how: dict[str, Any] = {"source": {"paired_by": by, "files": files} | left}
    if not wide:
        _check_agreement(parts, firsts, said)
    _check_order(parts if not wide else parts[:1], ids, said)
    if ids:
        how["ids"] = tuple(map(str, names[firsts[0]["item"]]))
    if "clusters" in said:
        how["clusters"] = tuple(_labels_of(firsts, "clusters", said))
    if "higher_is_better" in said:
        how["higher_is_better"] = said["higher_is_better"]
    if said.get("score", "score") != "score" and not str(said["score"]).isdecimal():
        how["score"] = printable(said["score"])
    if "run" not in said and "gold" not in said and _entry(said) is None and not left:
        _check_total([x[0].to_numpy() for x in each], parts[0].table, int(each[0]["row"].iloc[-1]))
    return _made(dict(zip(map(printable, systems), each, strict=True)), firsts, said, how)


def _check_order(parts: Sequence[Part], ids: Sequence[str], said: Said) -> None:
    """Stop where names do not say which column is the item, or another order of one does."""
    first = parts[0].table
    keys = [first.column(x, "system") for x in listed(said.get("system"))]
    together = all(first.frame.duplicated([x, *keys]).any() for x in ids)
    if together and len(ids) > 1 and "id" not in said and not first.known:
        problem = f"{some(ids)} are called like ids; say which tell the items apart (--id COL)"
        raise ReadError(problem, _columns([first]), {"id": ids[0]})
    for part in () if ids or not first.header else parts[1:]:
        tables = first, part.table
        for name in [x for x in _rest(first, said) if x not in part.values]:
            if all(name in x.names and x.facts[name].distinct == len(x) for x in tables):
                x, y = (table.texts(name).tolist() for table in tables)
                if x != y and {*x} == {*y}:
                    problem = f"{shown(name)} has the same values in another order; is it the item?"
                    raise ReadError(f"{problem} (--id {name})", _columns(tables), {"id": name})


def _made(
    lines: Mapping[str, pd.DataFrame], firsts: Sequence[pd.DataFrame], said: Said, how: Said
) -> Scores:
    """The scores of the lines of each system, which have the same items in the same order."""
    entry, values = _entry(said), {x: y[0].to_numpy() for x, y in lines.items()}
    if "gold" in said and "run" not in said:
        how |= {"statistic": said.get("statistic", "accuracy"), "pos_label": said.get("pos_label")}
        return score_labels(_labels_of(firsts, "gold", said).tolist(), values, **how)
    if "gold" in said:
        values = {x: (y[0] == y["gold"]).to_numpy() for x, y in lines.items()}
    elif entry is not None:
        counted = [x for x in firsts[0] if isinstance(x, int)]
        layout = next(x for x in entry.layouts if len(x) == len(counted))
        columns = {x: y[counted].T.to_numpy() for x, y in lines.items()}
        tables = {x: dict(zip(layout, y, strict=True)) for x, y in columns.items()}
        return Scores.of_counts(tables, **how)
    if "run" not in said:
        return Scores.of_columns(values, **how)
    sizes = {x: y.groupby("item", sort=False).size().to_numpy() for x, y in lines.items()}
    runs = {x: Runs(values[x], sizes[x], tuple(y["run"])) for x, y in lines.items()}
    return Scores.of_runs(runs, **how)


def _lines(parts: Sequence[Part], said: Said) -> tuple[pd.DataFrame, list[str], Any]:
    """The lines of all systems with the numbers of systems and items, and what these are called."""
    import pandas as pd

    ids, found = [_ids(x.table, said) for x in parts], []
    if any(x != ids[0] for x in ids):
        called = " and ".join({some(x) or "nothing" for x in ids})
        problem = f"items are called by {called}: name a column that all files have (--id COL)"
        raise ReadError(problem)
    for k, (table, system, values) in enumerate(parts):
        rows = np.arange(len(table), dtype=np.int32)
        columns: dict[Any, Any] = {"part": np.full(len(table), k, dtype=np.int16), "row": rows}
        names = np.broadcast_to(np.asarray(system, dtype=object), len(table))
        columns |= {"system": names, "item": _items(table, ids[k])}
        for role in {"run", "clusters", "gold"} & {*said}:
            name = said[role]
            if role == "run" or name in table.names or str(name).isdecimal():
                columns[role] = table.texts(table.column(name, role)).to_numpy()
        for i, name in enumerate(values):
            columns[i] = table.texts(name).to_numpy() if "gold" in said else table.numbers(name)
        # As they are: pandas would copy texts into strings of its own.
        found.append(pd.DataFrame({x: pd.Series(y, dtype=y.dtype) for x, y in columns.items()}))
    for i in range(len(parts[0].values)):  # whole numbers never become floats
        if len({x[i].dtype for x in found}) > 1:
            found = [x.astype({i: object}) for x in found]
    lines, systems = _chosen(pd.concat(found, ignore_index=True), said)
    sizes = np.bincount(lines["system"])
    if not ids[0] and ({"system", "run"} & {*said} or len({*sizes.tolist()}) > 1):
        each = [f"{x} has {n:,} lines" for x, n in zip(systems, sizes, strict=True)]
        problem = f"nothing says which lines are of one item (--id COL): {some(each)}"
        raise ReadError(problem, _columns([parts[0].table]))
    numbers, names = pd.factorize(lines["item"])
    return lines.assign(item=numbers), systems, np.asarray(names)


def _chosen(lines: pd.DataFrame, said: Said) -> tuple[pd.DataFrame, list[str]]:
    """The lines of those systems that are wanted, with the numbers of these."""
    import pandas as pd

    systems, wanted = list(pd.unique(lines["system"])), _wanted(said)
    if wanted is not None and "system" in said:
        wanted = wanted.split(",") if isinstance(wanted, str) else list(map(str, wanted))
        if strange := [x for x in wanted if x not in systems]:
            raise ReadError(f"no system is called {shown(strange[0])}: there are {some(systems)}")
        lines, systems = lines[lines["system"].isin(wanted)], wanted
    if len(systems) < 2:
        raise ReadError("there is one system, and a comparison needs two")
    if len(lines[["system", "part"]].drop_duplicates()) > len(systems):
        raise ReadError(f"one system is in two files ({some(systems)}); put its lines into one")
    return lines.assign(system=pd.Index(systems).get_indexer(lines["system"])), systems


def _items(table: Table, ids: Sequence[str]) -> Any:
    """What the items of lines are called; their numbers, if nothing says it."""
    found: Any = np.arange(1, len(table) + 1)
    for i, name in enumerate(ids):
        if (empty := table.missing(name)).any():
            raise table.error(int(empty.argmax()), "the id is empty", name)
        texts = table.texts(name).to_numpy()
        found = found + ", " + texts if i else texts
    return found


def _check_single(
    lines: pd.DataFrame, systems: list[str], names: Any, parts: Sequence[Part], said: Said
) -> None:
    """Refuse two lines of an item, or of a run of it; propose what tells them apart."""
    keys = ["system", "item", *["run"] * ("run" in said)]
    again = lines.duplicated(keys).to_numpy()
    if not again.any():
        return
    line = lines.iloc[int(again.argmax())]
    both = lines[(lines[keys] == line[keys]).all(axis=1)][:2]
    where = [(parts[i].table, j) for i, j in zip(both["part"], both["row"], strict=True)]
    table, name = where[1][0], names[int(line["item"])]
    ids, places = _ids(table, said), " and ".join(x.place(j) for x, j in where)
    problem = f"{printable(table.path)}: {some(ids)} {shown(name)} comes twice"
    problem += f" for {printable(systems[int(line['system'])])}" * ("system" in said)
    problem += f", in {places}; name what tells its lines apart "
    apart = _tells_apart(table, ids, _rest(table, said), said) if "run" not in said else None
    raise ReadError(f"{problem}(--run COL)", _columns([table]), {"run": apart} if apart else None)


def _with_gold(
    lines: pd.DataFrame, names: Any, right: Table, said: Said
) -> tuple[pd.DataFrame, Any]:
    """Lines with the right label of each item, and all items that have one."""
    ids = _ids(right, {x: y for x, y in said.items() if x == "id"})
    items, labels = _items(right, ids), right.texts(_gold_column(right, said))
    known = dict(zip(items, labels, strict=True))
    if len(known) < len(items):
        twice = next(i for i, x in enumerate(items) if x in items[:i])
        raise right.error(twice, f"{shown(items[twice])} comes twice")
    if set(known).isdisjoint(names) or (not ids and len(items) != len(names)):
        raise ReadError("gold has other items; name what they are called (--id COL)")
    names = np.array([*names, *(x for x in known if x not in {*names})], dtype=object)
    gold = np.array([known.get(x, "") for x in names], dtype=object)
    return lines.assign(gold=gold[lines["item"]]), names


def _gold_column(right: Table, said: Said) -> str:
    """The column of the right labels in a file of its own."""
    if "gold" in right.known:
        return right.column(right.known["gold"], "gold")
    ids = _ids(right, {x: y for x, y in said.items() if x == "id"})
    rest = [x for x in right.names if x not in ids]
    names = [x for x in rest if x == said.get("prediction")] or rest
    if len(names) != 1:
        raise ReadError("which column of the file is right? (--gold FILE:COL)", _columns([right]))
    return names[0]


def _complete(
    lines: pd.DataFrame, systems: list[str], names: Any, said: Said
) -> tuple[list[pd.DataFrame], dict[str, Any]]:
    """Each system's lines of the same items in one order, and what was left out or set to 0."""
    import pandas as pd

    values = [x for x in lines if isinstance(x, int)]
    cells = lines[[*values, *["gold"] * ("gold" in said)]]
    empty: Any = ((cells == "") | cells.isna()).any(axis=1).to_numpy()
    system, item = lines["system"].to_numpy(), lines["item"].to_numpy()
    lacks = np.ones((len(systems), len(names)), dtype=bool)
    lacks[system, item] = False
    lacks[system[empty], item[empty]] = True
    lacking: Any = lacks.any(axis=0)
    zero, left = said.get("missing") == "zero", dict[str, Any]()
    if lacking.any():
        each = zip(systems, lacks.sum(axis=1), strict=True)
        about = f"{lacking.sum():,} of {len(names):,} items lack a score: {some(names[lacking])} "
        about += f"({', '.join(f'{printable(x)} {n:,}' for x, n in each if n)})"
        if "missing" not in said:
            problem = f"{about}; say what becomes of them (--missing drop, or --missing zero)"
            raise ReadError(problem)
        if (zero and "run" in said) or (lacking.all() and not zero):
            raise ReadError(f"{about}; {'runs cannot be 0' if zero else 'no item is left'}")
        left = {"set_to_zero" if zero else "left_out": int(lacking.sum()), "lacking": about}
    if zero and left:
        every = pd.MultiIndex.from_product([range(len(systems)), range(len(names))])
        lines = lines.set_index(["system", "item"]).reindex(every, fill_value=np.nan)
        lines = lines.reset_index(names=["system", "item"])
        none = lines[values].isna() | (lines[values] == "")
        lines[values] = lines[values].mask(none, "" if "gold" in said else 0)
    elif left:
        lines = lines[~lacking[item]]
    order = np.lexsort((lines["item"], lines["system"]))  # which is stable
    return [x for _, x in lines.iloc[order].groupby("system")], left


def _check_agreement(parts: Sequence[Part], firsts: Sequence[pd.DataFrame], said: Said) -> None:
    """Refuse texts of the same name that differ between lines of one item."""
    tables = [parts[int(x["part"].min())].table for x in firsts]
    table, own = tables[0], {*_taken(tables[0], said), *_ids(tables[0], said)}
    names = [x for x in table.names if table.header and x not in own and not table.facts[x].numbers]
    must = [*table.known.get("agree", ()), said.get("gold"), said.get("clusters")]
    names = list(dict.fromkeys([*names, *map(str, must)]))
    for other, lines in zip(tables[1:], firsts[1:], strict=True):
        for name in [x for x in names if x in table.names and x in other.names]:
            x = table.texts(name).reindex(firsts[0]["row"]).fillna("").to_numpy()
            y = other.texts(name).reindex(lines["row"]).fillna("").to_numpy()
            for i in np.flatnonzero((x != y) & (x != "") & (y != ""))[:1]:
                there = f"{printable(table.path)}, {table.place(int(firsts[0]['row'].iloc[i]))}"
                problem = f"{shown(y[i])}, but {shown(x[i])} in the line that it is paired with "
                problem += f"({there}); check the ids, or say what the column is "
                problem += "(--system COL; or what systems answered, --prediction COL)"
                raise other.error(int(lines["row"].iloc[i]), problem, name)


def _labels_of(firsts: Sequence[pd.DataFrame], role: str, said: Said) -> NDArray[Any]:
    """The cluster, or the right label, of each item, as the files say that have it."""
    found = np.full(len(firsts[0]), "", dtype=object)
    for lines in firsts:
        if role in lines:
            found = np.where(found == "", lines[role].fillna(""), found)
    if (found == "").any():
        raise ReadError(f"--{role} {printable(said[role])}: some items have no label there")
    return found


def _check_total(columns: Sequence[NDArray[Any]], table: Table, row: int) -> None:
    """Refuse a last line that is the sum or the mean of those above, as no chance makes it."""
    chances = {"sum": 1.0, "mean": 1.0}
    if len(columns[0]) < 4:
        return
    for cells in columns:
        numbers = cells.astype(np.float64)
        above, last = numbers[:-1], float(numbers[-1])
        shown_to = int(Decimal(str(cells[-1])).as_tuple().exponent)
        unit, total = 10.0 ** max(min(shown_to, 300), -300), float(above.sum())
        near = {"sum": abs(total - last), "mean": abs(total / len(above) - last)}
        wide = {"sum": abs(last), "mean": float(np.ptp(above))}
        near["sum"] += inf if abs(last) <= np.abs(above).max() else 0.0
        for kind in [x for x in chances if near[x] > 0.5000001 * unit]:
            chances.pop(kind)
        chances |= {x: chance * min(1.0, unit / (wide[x] or unit)) for x, chance in chances.items()}
    kinds = [x for x, chance in chances.items() if chance <= {"sum": 1e-2, "mean": 1e-4}[x]]
    if kinds:
        problem = f"this line has the {kinds[0]}s of the lines above, and is no item; remove it"
        raise table.error(row, problem)


# ---- proposals -----------------------------------------------------------------------------------


def _stop(tables: Sequence[Table], said: Said, right: Table | None, many: bool) -> ReadError:
    """The error that shows the columns, and proposes what to declare."""
    table, sizes = tables[0], [f"{printable(x.path)} has {len(x):,} lines" for x in tables[:5]]
    problem = f"say which columns are what. {', '.join(sizes)}"
    proposal = _proposal(tables, said, right, many)
    column = (proposal or {}).get("score")
    values = {str(table.as_number(x)) for x in table.frame[column].unique()} if column else set()
    if column and len(tables) > 1 and not table.known and values <= {"0", "1", ""}:
        column, proposal = printable(column), None
        problem += f". {column} is 0 or 1: scores (--score {column}), or answers to be compared "
        problem += f"with right ones (--prediction {column} --gold FILE)?"
    odd = {x: str(i) for i, x in enumerate(table.names, 1) if printable(x, LETTERS) != x}
    if proposal is not None:  # what cannot be typed has a number
        proposal = {key: odd.get(str(value), value) for key, value in proposal.items()}
    return ReadError(problem, _columns(tables), proposal)


def _labels(table: Table, names: Sequence[str]) -> list[str]:
    """Columns that may name something: text, or whole numbers."""
    facts = table.facts
    return [x for x in names if facts[x].distinct and (facts[x].whole or not facts[x].numbers)]


def _proposal(tables: Sequence[Table], said: Said, right: Table | None, many: bool) -> Said | None:
    """What might be declared, at best; None where nothing is likely."""
    table = tables[0]
    names = [x for x in _rest(table, said) if all(x in y.names for y in tables)]
    single = len(tables) == 1 and "system" not in said
    if single and len(table.names) == 2 == len(_numbers(table, names)):
        return {"systems": names} if many else {"a": names[0], "b": names[1]}
    found = {} if "id" in said else _propose_item(tables, names, said)
    if not (ids := _ids(table, said | found)):
        return None
    if single and table.frame.duplicated(ids).any():
        systems = _propose_systems(table, [x for x in names if x not in ids], many)
        if not systems:
            return None
        found, single = found | systems, False
    names = [x for x in _rest(table, said | found) if x in names]
    if not single and "run" not in said:
        run = _tells_apart(table, ids, names, said | found)
        found |= {"run": run} if run else {}
    scores = _numbers(table, [x for x in names if x != found.get("run")])
    if "gold" in said:
        scores = _like_gold(table, names, said, right)
    elif len(tables) > 1 and not table.known:  # what all files have alike says nothing
        scores = [x for x in scores if sorted(table.texts(x)) != sorted(tables[1].texts(x))]
    if single:
        chosen = _propose_wide(table, names, scores, said, many)
    elif {"score", "prediction"} & {*said} or _entry(said) is not None:
        return found
    else:
        called = [x for x in scores if x == "score" or x in STATISTICS]
        one = table.known.get("scores", scores if len(scores) == 1 else called)[:2]
        key = "prediction" if "gold" in said else "score"
        chosen = {key: one[0]} if len(one) == 1 or "scores" in table.known else {}
    return found | chosen if chosen else None


def _propose_item(tables: Sequence[Table], names: list[str], said: Said) -> Said:
    """A column that differs in every line, or of those that recur the one of most values."""
    ids, facts = _ids(tables[0], said), tables[0].facts
    if ids and all({*ids} <= {*x.names} and not x.frame.duplicated(ids).any() for x in tables):
        return {}
    shared = [x for x in [*ids, *names] if all(x in y.names for y in tables)]
    labels = _labels(tables[0], shared)
    unique = [x for x in labels if all(y.facts[x].distinct == len(y) for y in tables)]
    again = [x for x in labels if facts[x].even or not facts[x].numbers]
    again = [x for x in again if 1 < facts[x].distinct < len(tables[0]) and tables[0].header]
    likely = unique[:1] or sorted(again, key=lambda x: -facts[x].distinct)[:1]
    return {"id": likely[0]} if likely and likely != ids else {}


def _propose_systems(table: Table, names: Sequence[str], many: bool) -> Said:
    """The one column of text whose few values recur equally often, or that is called system."""
    facts = table.facts
    texts = [x for x in names if not facts[x].numbers and facts[x].even]
    texts = [x for x in texts if 1 < facts[x].distinct <= len(table) / 4]
    systems = texts if len(texts) == 1 else [x for x in texts if x == "system"]
    values = list(dict.fromkeys(table.texts(systems[0]))) if systems else []
    found: Said = {"system": systems[0]} if systems else {}
    return found | ({"a": values[0], "b": values[1]} if len(values) > 2 and not many else {})


def _propose_wide(
    table: Table, names: list[str], scores: list[str], said: Said, many: bool
) -> dict[str, Any]:
    """The systems that are columns of one table."""
    entry = _entry(said)
    if entry is not None and "gold" not in said:
        end = f"_{entry.columns[0]}"
        scores = [x.removesuffix(end) for x in names if x.endswith(end)]
    elif len({table.facts[x].whole for x in scores}) > 1 and "gold" not in said:
        return {}
    if len(scores) < 2 or (len(scores) > 2 and not many) or "score" in scores:
        return {}
    ends = [f"*_{x.rpartition('_')[2]}" for x in scores if "_" in x]
    fits = [x for x in ends if ends.count(x) > max(1, len(scores) - 2)]
    if many:
        return {"systems": fits[0] if fits else scores}
    return {"a": scores[0], "b": scores[1]}


def _tells_apart(table: Table, ids: list[str], names: Sequence[str], said: Said) -> str | None:
    """The column that tells the lines of one item and system apart, if that is needed."""
    keys = [*ids, *(table.column(x, "system") for x in listed(said.get("system")))]
    if not table.header or not table.frame.duplicated(keys).any():
        return None
    labels = [x for x in _labels(table, names) if table.facts[x].distinct < len(table)]
    return next((x for x in labels if not table.frame.duplicated([*keys, x]).any()), None)


def _like_gold(table: Table, names: Sequence[str], said: Said, right: Table | None) -> list[str]:
    """Columns that hold some of the right labels."""
    if right is not None and "gold" not in right.known:
        return [x for x in names if x in right.names] or list(names)
    column = _gold_column(right, said) if right else table.column(said["gold"], "gold")
    labels = {*(right or table).texts(column)} - {""}
    return [x for x in names if labels & {*table.texts(x)} and x != column]
