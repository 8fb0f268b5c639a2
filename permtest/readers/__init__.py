"""Files that people have: which columns are what is declared, or proposed, and never guessed.

What is read becomes one table of text, whether it comes from one file or from several, and from it
one long frame, a line for each item, system and run. That is checked, and scores are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from hashlib import sha256
from inspect import signature
from itertools import combinations_with_replacement, cycle
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from permtest.readers import annotated, tables, tools
from permtest.readers.annotated import METRICS
from permtest.readers.tables import FILE, GOLD, File, ReadError, Table, printable, shown, some
from permtest.scores import Runs, Scores
from permtest.statistics import STATISTICS, Statistic, lookup, score_labels

__all__ = ["METRICS", "File", "ReadError", "read", "read_many"]

#: What can be read: a path, "-" for standard input, a `File`, a data frame, or records.
Source: TypeAlias = Any
#: What is declared, by the names of the keyword arguments of `read_many`. Added are "ids", which
#: columns say what item a line is; "layouts", of what columns of counts a measure can be made; and
#: "right", the items of a file of right answers. Without "system", columns are the systems.
Said: TypeAlias = dict[str, Any]

#: Names of columns that say which item a line is, beside those that end in _id. It does not grow.
IDS = ("id", "item", "index", "qid")

#: Keyword arguments that name a column; and columns that are no scores unless they are named.
ROLES = ("score", "run", "clusters", "prediction", "system")
NO_SCORES = ("system", "run", "clusters", "gold", "prediction", "target")


def read(
    path: Source,
    path_b: Source | None = None,
    *,
    a: str | int | None = None,
    b: str | int | None = None,
    system: str | int | None = None,
    score: str | int | None = None,
    id: str | int | Sequence[str | int] | None = None,
    run: str | int | None = None,
    clusters: str | int | None = None,
    gold: Source | None = None,
    prediction: str | int | Sequence[str | int] | None = None,
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
    path : str, path-like, "-", data frame or records
        Both systems, or the first one. Tables (CSV, TSV, Excel, parquet, feather, JSON, JSON lines;
        as they are, or in gzip or zip), or what lm-evaluation-harness, inspect_ai or HELM wrote.
        ``"-"`` is standard input.
    path_b : the same, optional
        The second system.
    a, b : str or int, optional
        The columns of the systems in one table, or the names of two systems in a column `system`.
        For counts, what the names of their columns begin with: "new" for new_tp, new_fp, new_fn.
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
    prediction : str or int, or a sequence of them, optional
        What systems answered: the first is compared with `gold`, and all are free to differ.
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
    systems = [said.pop(x) for x in ("a", "b") if x in said]
    if len(systems) == 1:
        raise ReadError("name both systems (a and b), or none")
    return _read(paths, said | ({"systems": systems} if systems else {}), many=False)


def read_many(path: Source, *paths: Source, systems: Any = None, **declared: Any) -> Scores:
    r"""Read the scores of two or more systems on the same items, as `read` does.

    Parameters
    ----------
    path : str, path-like, "-", data frame or records
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
    for name in [x for x in ("path_b", "a", "b") if x in declared]:
        raise TypeError(f"read_many has no {name}; list the files, and name columns by systems")
    if isinstance(systems, str):
        systems = [x.strip() for x in systems.split(",")]
    said = {x: y for x, y in {"systems": systems, **declared}.items() if y is not None}
    return _read([path, *paths], said, many=True)


def _read(paths: Sequence[Source], said: Said, *, many: bool) -> Scores:
    """Read what is declared; an error proposes what was seen to work, if there is something."""
    for name, known in (("missing", ("drop", "zero")), ("higher_is_better", (True, False))):
        if said.get(name, known[0]) not in known:
            raise ReadError(f"{name}={said[name]!r} must be {known[0]} or {known[1]}")
    if "pos_label" in said and "gold" not in said:
        raise ReadError("a label to be found (pos_label) needs right labels (gold)")
    files = [File.load(x) for x in paths]
    try:
        return _scores(files, said, many)
    except ReadError as error:
        error.many, error.proposal = many, _working(files, said, error, many)
        raise


def _working(files: Sequence[Any], said: Said, error: ReadError, many: bool) -> Said | None:
    """What is declared, with what this error proposes, and the next one, until it works."""
    given, last = dict(said), error
    while more := {x: y for x, y in (last.proposal or {}).items() if x not in given}:
        given |= more
        try:
            _scores(files, given, many)
        except ValueError as other:
            last = other if isinstance(other, ReadError) else ReadError(str(other))
            continue
        if "systems" in given and not many:
            given |= dict(zip("ab", given.pop("systems"), strict=True))
        return {"paths": [getattr(x, "path", tables.FRAME) for x in files], **given}
    error.problem += f". {last.problem}" * (last is not error and not last.columns)
    return None


def _scores(files: Sequence[Any], said: Said, many: bool) -> Scores:
    """Open files as one table, say what its columns are, and check and score its lines."""
    table, said = _opened(files, said)
    said = _completed(table, _named(table, said), many)
    lines = _lines(table, said, many)
    _check_single(lines, table, said)
    _check_agreement(lines, table, said)
    each, left = _paired(lines, said)
    if not ({"run", "gold"} & said.keys() or left):
        _check_last(each, table, said)
    by = some(said["ids"]) or "their order" if "system" in said else "the lines of one table"
    sums = [x.file and sha256(x.file.data).hexdigest() for x in table.files]
    about = [{"file": x.path, "sha256": y} for x, y in zip(table.files, sums, strict=True)]
    return _made(lines, each, said, {"paired_by": by, "files": about} | left)


def _made(lines: pd.DataFrame, each: dict[str, pd.DataFrame], said: Said, source: Said) -> Scores:
    """The scores of the lines of each system, which have the same items in the same order."""
    items, score = next(iter(each.values()))["item"].unique(), said.get("score", "score")
    labels = dict[str, tuple[str, ...]]()
    for role in [x for x in ("clusters", "gold") if x in said]:
        own = lines[lines[role] != ""].drop_duplicates("item").set_index("item")[role]
        for item in items[~np.isin(items, own.index)][:1]:
            raise ReadError(f"{role}: no line says it of {shown(item)}")
        labels[role] = tuple(own[items])
    how: Said = {x: y for x, y in said.items() if x == "higher_is_better"} | {"source": source}
    how |= {"ids": tuple(items) if said["ids"] else None, "clusters": labels.get("clusters")}
    how["score"] = "" if score == "score" or score.isdecimal() else printable(score)
    if "layouts" in said:
        counts = {x: y[[z for z in y if isinstance(z, int)]].to_numpy() for x, y in each.items()}
        return Scores.of_counts(counts, **how)
    values = {x: y[0].to_numpy() for x, y in each.items()}
    if "run" in said:
        if "gold" in said:
            values = {x: (y[0] == y["gold"]).to_numpy() for x, y in each.items()}
        sizes = {x: y.groupby("item", observed=True).size().to_numpy() for x, y in each.items()}
        runs = {x: Runs(values[x], sizes[x], tuple(y["run"])) for x, y in each.items()}
        return Scores.of_runs(runs, **how)
    if "gold" in said:
        how |= {"statistic": said.get("statistic", "accuracy"), "pos_label": said.get("pos_label")}
        return score_labels(labels["gold"], values, **how)
    return Scores.of_columns(values, **how)


def _opened(files: Sequence[Any], said: Said) -> tuple[Table, Said]:
    """One table of the lines of all files, and what is declared of it."""
    metric = said.get("statistic")
    if "gold" in said and metric in METRICS:
        found = annotated.load(files, said["gold"], metric)
        said = {x: y for x, y in said.items() if x != "gold"} | {"statistic": METRICS[metric]}
        return tables.joined(found), said if metric == "spans" else said | {"score": metric}
    found = []
    for file in files:
        if not said.keys() - {"gold", "statistic"}:
            annotated.check_declared(file, said)
        tool = tools.load(file) if "records" not in said else None
        found.append(tables.table_of(file, said.get("records")) if tool is None else tool)
    return tables.joined(found, [y for x in ROLES for y in tables.listed(said.get(x))]), said


def _named(table: Table, said: Said) -> Said:
    """What is declared, with the names of columns, and with what the kind of the files says."""
    each = {x: [table.column(y, x) for y in tables.listed(said[x])] for x in ROLES if x in said}
    said = said | {x: y if x == "prediction" else table.column(said[x], x) for x, y in each.items()}
    if len(table.files) > 1:
        if {"system", "systems"} & said.keys():
            raise ReadError("each file is a system: name the column of its scores alone (score)")
        said["system"] = FILE
    if {"score", "systems"} <= said.keys() and "system" not in said:
        raise ReadError("score names a column of files or lines of a system; leave it out here")
    if table.tool:  # which calls them so
        said = {x: x for x in ("system", "run") if x in table.names} | said
    said["ids"] = [table.column(x, "id") for x in tables.listed(said.get("id"))]
    if "id" not in said:
        ids = [x for x in _free(table, said) if x.lower() in IDS or x.lower().endswith("_id")]
        ids = ids or list(table.index)
        shared = [x for x in ids if all(x in file.names for file in table.files)]
        said["ids"] = shared or [table.column(x, "id") for x in ids]
    if "gold" in said:
        said |= _right(table, said)
    elif "statistic" in said and (entry := lookup(said["statistic"])).columns:
        said["layouts"] = entry.layouts
    return said


def _right(table: Table, said: Said) -> Said:
    """The column of right labels, which may come from a file with ids."""
    gold, ids = said["gold"], said["ids"]
    typed = isinstance(gold, str | int)
    if typed and table.named(gold) in table.names:
        return {"gold": table.column(gold, "gold")}
    path, _, column = str(gold).rpartition(":")
    if not typed or Path(str(gold)).is_file():
        path, column = gold, ""
    elif not Path(path).is_file():
        raise ReadError(f"gold {printable(gold)}: no such column, and no such file", table.shown)
    if not ids:
        raise ReadError("right labels need ids (id)", table.shown, _likely_id(table, said))
    right = tables.table_of(File.load(path))
    own = {"ids": [right.column(x, "id") for x in ids]}
    names = [right.column(column, "gold")] if column else _free(right, own)
    if len(names) != 1:
        raise ReadError("which column of the file is right? (gold: FILE:COL)", right.shown)
    items = _items(right, own)
    for row in np.flatnonzero(right.frame.duplicated(own["ids"]))[:1]:
        raise right.error(int(row), f"{some(own['ids'])} {shown(items[row])} comes twice")
    labels = dict(zip(items, right.frame[names[0]], strict=True))
    table.frame[GOLD] = np.array([labels.get(x, "") for x in _items(table, said)], dtype=object)
    return {"gold": GOLD, "right": items}


def _free(table: Table, said: Said) -> list[str]:
    """The columns that are declared as nothing."""
    wide, named = "system" not in said, isinstance(said.get("gold"), str | int)
    roles = (*ROLES, "ids", *["gold"] * named, *["systems"] * wide)
    taken = [table.named(y) for x in roles for y in tables.listed(said.get(x))]
    return [x for x in table.names if x not in taken]


def _numbers(table: Table, said: Said) -> list[str]:
    """The columns that may be scores: those of numbers that do not count, in each file."""
    names = [x for x in _free(table, said) if x.lower() not in NO_SCORES]
    facts = {x: [y.facts(x) for y in table.files if x in y.names] for x in names}
    if any(y.mixed for each in facts.values() for y in each):  # which may be the scores
        return []
    return [x for x, each in facts.items() if all(y.kind in ("numbers", "0 or 1") for y in each)]


def _completed(table: Table, said: Said, many: bool) -> Said:
    """What is declared, with what needs no declaration; the error that proposes otherwise."""
    if not ({"gold", "score"} & said.keys() or _is_enough(said)):
        said = said | _plain(table, said)
    ids, enough = said["ids"], _is_enough(said)
    if enough and ("system" not in said or "id" in said or len(ids) == 1 or table.tool):
        return said
    likely = _likely_id(table, said)
    if enough and not (ids or (table.header and likely)):  # lines are paired by their order
        return said
    sizes = [f"{printable(x.path)} has {len(x):,} lines" for x in table.files[:5]]
    more = said | {"ids": tables.listed(likely.get("id", ids))}
    proposal = likely | _likely_scores(table, more, many)
    apart = said.get("system") == FILE and not table.tool and "score" in proposal
    if apart and table.facts(proposal["score"]).kind == "0 or 1":  # which may be answers
        proposal = {}
    raise ReadError(f"say which columns are what. {', '.join(sizes)}", table.shown, proposal)


def _is_enough(said: Said) -> bool:
    """Whether it is said where the scores are, or the predictions beside right labels."""
    if "system" not in said:
        return "systems" in said
    return bool(said.get("prediction") if "gold" in said else {"score", "layouts"} & said.keys())


def _plain(table: Table, said: Said) -> Said:
    """What no file of these kinds needs to have declared, and no others: `read` lists them."""
    ids, wide, scores = said["ids"], "system" not in said, _numbers(table, said)
    if said.get("system") == FILE or (table.tool and not wide):
        # Tables of an id column and one column of numbers each; files of a tool with one score.
        if len(ids) == len(scores) == 1 and all(scores[0] in x.names for x in table.files):
            return {"score": scores[0]}
    elif wide and ids and {"system", "score"} <= {*table.names}:
        return {"system": "system", "score": "score"}
    elif wide and not table.tool and len(ids) == 1 and len(scores) == 2:
        return {"systems": scores} if scores == _free(table, said) and "score" not in scores else {}
    if not table.header and scores == table.names and len(scores) == 1 + wide:
        # Lines of two numbers without a header, and files of one number a line.
        return {"systems": scores} if wide else {"score": scores[0]}
    return {}


def _recurs(table: Table, said: Said, *more: str) -> bool:
    """Whether a system has several lines of one item, and of one value of more columns."""
    keys = [*said["ids"], *tables.listed(said.get("system")), *more]
    return bool(keys) and bool(table.frame.duplicated(keys).any())


def _likely_id(table: Table, said: Said) -> Said:
    """A column that differs in every line, or of those that recur the one of most values."""
    ids, wide, found = said["ids"], "system" not in said, dict[str, int]()
    known = ids and (wide or len(ids) == 1) and not _recurs(table, said)
    if "id" in said or known or (wide and len(table.names) == 2):
        return {}
    for name in [x for x in [*ids, *_free(table, said)] if all(x in y.names for y in table.files)]:
        facts = table.files[0].facts(name)
        again = table.header and facts.distinct > 1 and (facts.even or facts.text)
        if not facts.fractions and (again or not _recurs(table, said | {"ids": [name]})):
            found[name] = facts.distinct
    likely = max(found, key=lambda x: found[x], default=None)
    return {"id": likely} if likely and [likely] != ids else {}


def _likely_scores(table: Table, said: Said, many: bool) -> Said:
    """The columns of numbers that are left; if items recur, what names systems equally often."""
    found, wide = Said(), "system" not in said
    if wide and _recurs(table, said):
        each = {x: table.facts(x) for x in _free(table, said)}
        few = [x for x, y in each.items() if y.even and y.text and 1 < y.distinct <= len(table) / 4]
        few = [x for x in few if x == "system"] or few
        if len(few) != 1:
            return {}
        found, wide = {"system": few[0]}, False
    said = said | found
    if "gold" in said or _is_enough(said) or not (said["ids"] or (wide and len(table.names) == 2)):
        return found
    scores = _numbers(table, said)
    if wide:
        alike = len({table.facts(x).fractions for x in scores}) == 1
        several = len(scores) == 2 or (many and len(scores) > 2)
        odd = {"score", "layouts"} & {*scores, *said}
        return {"systems": scores} if alike and several and not odd else {}
    known = [x for x in scores if x == "score" or x in STATISTICS or len(scores) == 1]
    likely = scores[:1] if table.tool else known
    return found | ({"score": likely[0]} if len(likely) == 1 else {})


def _lines(table: Table, said: Said, many: bool) -> pd.DataFrame:
    """A line for each item, system and run: its row, and as 0, 1, ... its score, counts or text."""
    # All items and systems are categories, whether they have lines or not.
    right = np.array(said.get("right", []), dtype=object)
    numbers, names = pd.factorize(np.concatenate([_items(table, said), right]))
    # Without dtype pandas would copy the texts into strings of its own.
    item = pd.Categorical.from_codes(numbers[: len(table)], pd.Index(names, dtype=object))
    base: dict[Any, Any] = {"row": np.arange(len(table), dtype=np.int32), "item": item}
    base |= {x: table.frame[said[x]] for x in ("run", "clusters", "gold") if x in said}
    columns, each = _columns(table, said), list[Any]()
    systems = [*columns]
    if "system" in said:
        every = table.frame[said["system"]].unique().tolist()
        systems = [str(x) for x in said.get("systems", every)]
        for name in [x for x in systems if x not in every][:1]:
            raise ReadError(f"no system is called {shown(name)}: there are {some(every)}")
        if len(systems) < 2 or (systems[2:] and not many):
            problem = f"a comparison is of two systems (a and b), and there are {len(systems):,}: "
            known = {x: said[x] for x in ("system", "score") if x in said}
            raise ReadError(problem + some(systems), proposal=known | {"systems": systems[:2]})
        codes = pd.Index(systems).get_indexer(table.frame[said["system"]])
        base["system"] = pd.Categorical.from_codes(codes, systems)
    values = table.frame.get if "gold" in said else table.numbers
    for name, own in columns.items():
        if "system" not in said:
            base["system"] = pd.Categorical([name], systems).repeat(len(table))
        each.append(pd.DataFrame(base | {i: values(x) for i, x in enumerate(own)}))
    return pd.concat(each, ignore_index=True).dropna(subset="system")


def _items(table: Table, said: Said) -> NDArray[Any]:
    """The item of each line: by its ids, or by its place in its file."""
    for name in said["ids"]:
        for row in np.flatnonzero(table.frame[name] == "")[:1]:
            raise table.error(int(row), "the id is empty", name)
    if ids := [table.frame[x].to_numpy() for x in said["ids"]]:
        return np.asarray(reduce(lambda x, y: x + ", " + y, ids))
    sizes = [len(x) for x in table.files]
    if said.get("system", FILE) != FILE or "run" in said or len({*sizes}) > 1:
        each = [f"{x.path} has {len(x):,} lines" for x in table.files]
        raise ReadError(f"nothing says which lines are one item (id): {some(each)}", table.shown)
    return np.tile(np.arange(1, sizes[0] + 1), len(sizes))


def _columns(table: Table, said: Said) -> dict[str, list[str]]:
    """The columns of the score, the prediction or the counts of each system; or of lines, as ""."""
    wide, found = "system" not in said, dict[str, list[str]]()
    names = tables.listed(said["systems"]) if wide else [""]
    start, star, end = ("" if names[1:] else str(names[0])).partition("*")
    if star:
        names = [x for x in table.names if x.startswith(start) and x[len(start) :].endswith(end)]
    cut = star and all(len(x) > len(start + end) for x in names)
    for name in names:
        if layouts := [[f"{name}_{y}" if wide else y for y in x] for x in said.get("layouts", ())]:
            called, fits = str(name), [x for x in layouts if {*x} <= {*table.names}]
            if not fits:
                needed = " or ".join(", ".join(x) for x in layouts)
                raise ReadError(f"the metric needs columns {needed}", table.shown)
        else:
            own = name if wide else said["prediction"][0] if "gold" in said else said["score"]
            fits = [[table.column(own, "column")]]
            called = fits[0][0] if wide else ""
        found[called[len(start) : len(called) - len(end)] if cut else called] = fits[0]
    if len(found) < max(1 + wide, len(names)):
        problem = f"a comparison needs two columns or more, and {some(said['systems'])} "
        raise ReadError(f"{problem}names {len(found)}", table.shown)
    return found


def _check_single(lines: pd.DataFrame, table: Table, said: Said) -> None:
    """Refuse two lines of an item, or of a run of it; propose what tells them apart."""
    keys = ["system", "item", *["run"] * ("run" in said)]
    for i in np.flatnonzero(lines.duplicated(keys))[:1]:
        line = lines.iloc[i]
        first = table.place(int(lines[(lines[keys] == line[keys]).all(axis=1)]["row"].iloc[0]))[1]
        problem = f"{some(said['ids'])} {shown(line['item'])} comes twice (first in {first}); "
        problem += "name what tells its lines apart (run), more of its id (id), or keep one of them"
        error = table.error(int(line["row"]), problem)
        error.columns = table.shown
        if table.header and "system" in said and "run" not in said:
            facts = {x: table.facts(x) for x in _free(table, said) if not _recurs(table, said, x)}
            few = [x for x, y in facts.items() if y.distinct < len(table) and not y.fractions]
            error.proposal = {"run": few[0]} if few else None
        raise error


def _check_agreement(lines: pd.DataFrame, table: Table, said: Said) -> None:
    """Refuse texts that differ between the lines of one item."""
    if "system" not in said:
        return
    firsts = lines.drop_duplicates(["system", "item"])
    names = [x for x in _free(table, said) if x == "target" or table.facts(x).text]
    for name in [*names * table.header, *(said[x] for x in ("gold", "clusters") if x in said)]:
        texts = firsts.assign(text=table.frame[name].to_numpy()[firsts["row"]])
        texts = texts[texts["text"] != ""]
        first = texts.groupby("item", observed=True)["text"].transform("first")
        for i in np.flatnonzero(texts["text"] != first)[:1]:
            line, item = texts.iloc[i], shown(texts["item"].iloc[i])
            problem = (
                f"{shown(line['text'])}, but {shown(first.iloc[i])} in another line of {item}; "
            )
            problem += "check the ids" + ", or let it differ (prediction)" * (name in names)
            raise table.error(int(line["row"]), problem, name)


def _paired(lines: pd.DataFrame, said: Said) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Each system's lines of the same items in one order, and what was left out or set to 0."""
    systems, items = (lines[x].cat.categories for x in ("system", "item"))
    system, item = (lines[x].cat.codes.to_numpy() for x in ("system", "item"))
    values = [x for x in lines if isinstance(x, int)]
    cells = lines[[*values, *["gold"] * ("gold" in lines)]]
    full: Any = ((cells != "") & cells.notna()).all(axis=1).to_numpy()
    lacks = np.ones((len(systems), len(items)), dtype=bool)
    lacks[system, item] = False
    lacks[system[~full], item[~full]] = True
    lacking: Any = lacks.any(axis=0)
    left: dict[str, Any] = {}
    if lacking.any():
        numbers = zip(systems, lacks.sum(axis=1), strict=True)
        about = f"{lacking.sum():,} of {len(items):,} items lack a score: {some(items[lacking])} "
        about += f"({', '.join(f'{printable(x)} {n:,}' for x, n in numbers if n)})"
        if lacking.all():
            raise ReadError(f"{about}, so no item is left; check that ids are right and alike (id)")
        if "missing" not in said:
            raise ReadError(f"{about}; say what becomes of them (missing: drop or zero)")
        zero = said["missing"] == "zero"
        if zero and "run" in said:
            raise ReadError(f"{about}; runs cannot be 0")
        left = {"set_to_zero" if zero else "left_out": int(lacking.sum())}
        left |= {"lacking": f"{'set to 0' if zero else 'left out'}: {about}"}
        lines = lines[full] if zero else lines[~lacking[item]]
        if zero:
            zeros: dict[Any, Any] = dict.fromkeys(values, "" if "gold" in said else 0)
            for name, codes in zip(("system", "item"), lacks.nonzero(), strict=True):
                zeros[name] = pd.Categorical.from_codes(codes, lines[name].cat.categories)
            lines = pd.concat([lines, pd.DataFrame(zeros)])
    lines = lines.sort_values("item", kind="stable")
    return {printable(x): lines[lines["system"] == x] for x in systems}, left


def _check_last(each: dict[str, pd.DataFrame], table: Table, said: Said) -> None:
    """Refuse one of the last five lines with sums or means of the first, to the digits shown."""
    names = [x for x in next(iter(each.values())) if isinstance(x, int)]
    numbers = np.array([x[y] for x in each.values() for y in names], dtype=float)
    rows = np.repeat([x["row"] for x in each.values()], len(names), axis=0)
    size = numbers.shape[1] * (abs(numbers).max(initial=0) < 1e300)
    columns = [table.frame[y].to_numpy() for x in _columns(table, said).values() for y in x]
    for n, i in combinations_with_replacement(range(max(3, size - 5), size), 2):
        first, last, level = numbers[:, :n], numbers[:, i], 1e-4 if n == size - 1 else 1e-5
        cells = [x[row] for x, row in zip(cycle(columns), rows[:, i], strict=False)]
        digits = [Decimal(str(table.number(x))).as_tuple().exponent for x in cells]
        unit = 10.0 ** np.clip([*map(int, digits)], -300, 0)
        beyond = np.sign(abs(last) - abs(first).max(axis=1))
        sums = 100 * (beyond.min() >= 0 and beyond.max() > 0), first.sum(axis=1), abs(last)
        means = 1, first.mean(axis=1), np.ptp(first, axis=1) * (last != first.T).all(axis=0)
        for kind, (times, total, wide) in (("sum", sums), ("mean", means)):
            rare = (unit / np.maximum(wide, unit)).prod() <= times * level * (1 + 1e-9)
            if rare and (abs(total - last) <= 0.5000001 * unit).all():
                problem = f"this line has the {kind}s of the first {n:,} lines; remove it, and "
                raise table.error(int(rows[0, i]), f"{problem}what else is no item, or move it up")
