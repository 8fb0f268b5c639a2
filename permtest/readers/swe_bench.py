"""Reports of SWE-bench: which issues a system resolved.

There are three forms of them:

- ``results.json`` of the leaderboard: ``resolved`` and other lists of ids (``no_generation``,
  ``no_logs``). An issue that was tried and not resolved is in none of them.
- The report of the harness, ``{model}.{run}.json``: ``resolved_ids``, ``unresolved_ids``,
  ``empty_patch_ids``, ``error_ids``, ``incomplete_ids``, which together are all that were asked
  for, and ``submitted_ids``, all that there were predictions for, asked or not.
- ``per_instance_details.json``: an object for each id, with ``resolved``.

What is absent failed. So the first form needs the full list of ids, as ``gold``: one a line, a
JSON array of them, or the data set itself (objects with ``instance_id``, in an array or one a
line). Where there is none, `ids_of` makes one of all ids that the files of both systems name: what
neither names, neither resolved, and the exact test of the sum is the same without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from permtest.readers.cells import printable, shown
from permtest.readers.files import File, ReadError, check_memory
from permtest.readers.outline import outline
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    LONGEST,
    PER_ITEM,
    Record,
    folder_or_stem,
    kind,
)

RESOLVED = ("resolved_ids", "resolved")

#: Lists of what was not resolved.
FAILED = (
    *("unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids"),
    *("no_generation", "no_logs", "no_apply", "install_fail", "reset_failed"),
    *("test_errored", "test_timeout"),
)
#: Lists of what was asked for, in reports that name all of it.
ASKED = ("completed_ids", "generated")

#: The name of a list of ids that nobody gave, and what one should know then.
MADE_UP = "the ids that the files name"
INCOMPLETE = (
    "there is no list of all ids (--gold): items are those that the files name, so that N, shares, "
    "intervals and other tests are of these; the exact p is what it would be with all"
)


def recognises(file: File) -> bool:
    """Whether the file begins as one of the three forms does."""
    keys = outline(file)
    lists = {path[0] for path in keys if len(path) == 2 and path[1] == "*"}
    if not lists.isdisjoint((*RESOLVED, "completed_ids")):
        return ("doc_id",) not in keys and ("eval",) not in keys
    roots = [path[0] for path in keys if len(path) == 1]
    whole = sum((root, "resolved") in keys for root in roots)
    return len(roots) > 0 and whole >= max(1, len(roots) - 1)  # the last may be cut off


def load(file: File, gold: File | None = None) -> list[SystemScores]:
    """What one system resolved, 1 or 0 for each issue.

    Parameters
    ----------
    file : File
    gold : File, optional
        The full list of ids.

    Returns
    -------
    list of one SystemScores
    """
    resolved, named, complete = _report(file)
    if gold is None and not complete:
        problem = "lists what was resolved, and not all that was tried; give the full list of ids"
        raise ReadError.at(file.path, f"{problem} as gold (--gold), one a line")
    ids = named if gold is None else _listed(gold)
    known = set(ids)
    for name in resolved:
        if name not in known:
            problem = f"resolved {shown(name)}, which is not in {gold and gold.path}"
            raise ReadError.at(file.path, f"{problem}; give the list of the same data set")
    chosen = set(resolved)
    return [
        SystemScores(
            system=_name(file),
            file=file,
            scores={"resolved": [int(name in chosen) for name in ids]},
            paired_by="instance_id",
            ids=ids,
            notes=_notes(file, gold, named, known),
        )
    ]


def ids_of(files: Sequence[File]) -> File | None:
    """The ids that any of the files names, to be given as `gold` where there is no full list.

    Parameters
    ----------
    files : sequence of File
        Reports of all systems that are compared.

    Returns
    -------
    File or None
        Made up, one id a line. None where each report says all that was tried.
    """
    reports = [_report(file) for file in files]
    if all(complete for _, _, complete in reports):
        return None
    names = dict.fromkeys(name for _, named, _ in reports for name in named)
    return File(MADE_UP, "\n".join(names).encode())


def _notes(file: File, gold: File | None, named: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """What one should know of the list of ids."""
    if gold is None:
        return ()
    return (INCOMPLETE,) if gold.path == MADE_UP else _left_out(file, named, known)


def _left_out(file: File, named: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """What one should know of ids that the full list has not."""
    others = [name for name in named if name not in known]
    if not others:
        return ()
    first = f"the first is {shown(others[0])}"
    return (f"{len(others)} ids of {file.name} are not in the list, and left out ({first})",)


def _report(file: File) -> tuple[list[str], list[str], bool]:
    """What was resolved, all ids that are named, and whether these are all that was tried."""
    report = Record.of(file, file.document, "the report")
    key = next((key for key in RESOLVED if isinstance(report.get(key), list)), None)
    if key is None:
        return _details(report)
    lists = {name: _ids(report, name) for name in (*ASKED, *FAILED, key) if name in report.values}
    resolved = set(lists[key])
    for name in FAILED:
        if both := [one for one in lists.get(name, ()) if one in resolved]:
            problem = f"{shown(both[0])} is in {key} and in {name}; it can be in one of them only"
            raise report.error(problem)
    named = dict.fromkeys(one for ids in lists.values() for one in ids)
    return lists[key], list(named), any(name in lists for name in ASKED)


def _details(report: Record) -> tuple[list[str], list[str], bool]:
    resolved = []
    for name, value in report.values.items():
        _check(report, name)
        details = Record.of(report.file, value, f"the report, {shown(name)}")
        if not isinstance(details.get("resolved"), bool):
            raise details.wrong("resolved", "true or false")
        resolved += [printable(name)] * details.values["resolved"]
    return resolved, [printable(name) for name in report.values], True


def _ids(report: Record, name: str) -> list[str]:
    return _distinct(report, report.array(name), f"{shown(name)}, entry")


def _distinct(where: Record, values: Iterable[Any], entry: str) -> list[str]:
    """Ids that are texts and all differ."""
    seen: dict[str, int] = {}
    for number, value in enumerate(values, 1):
        _check(where, value, f"{entry} {number} ")
        if value in seen:
            problem = f"{entry} {number} is {shown(value)}, and so is entry {seen[value]}"
            raise where.error(f"{problem}; list each id once")
        seen[value] = number
    return [printable(name) for name in seen]


def _check(where: Record, value: Any, entry: str = "a key ") -> None:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        problem = f"{entry}is {kind(value)}, but an id is a text of 1 to {LONGEST} characters"
        raise where.error(f"{problem}; remove it")


def _listed(gold: File) -> list[str]:
    """The ids of the full list, in its order."""
    where = Record(gold, {}, "the list of ids")
    if not gold.is_json:
        lines = [line.strip() for line in gold.lines]
        values: list[Any] = [line for line in lines if line and line != "instance_id"]
        return _distinct(where, values, "line")
    document = gold.document
    values = document if isinstance(document, list) else [document]
    check_memory(gold.path, PER_ITEM * len(values))
    ids = [
        Record(gold, value, f"entry {number}").needed("instance_id")
        if isinstance(value, dict)
        else value
        for number, value in enumerate(values, 1)
    ]
    return _distinct(where, ids, "entry")


def _name(file: File) -> str:
    """What the system is called: its folder on the leaderboard, else its file."""
    if file.stem not in ("results", "per_instance_details"):
        return printable(file.stem)[:LONGEST]
    parts = PurePath(file.path).parts[:-1]
    outer = [part for part in parts if part.strip("./\\") and part != "results"]
    return printable(outer[-1])[:LONGEST] if outer else folder_or_stem(file)


FORMAT = Format(
    name="swe_bench",
    title="SWE-bench report",
    rows="whether an issue was resolved",
    pairs_on="instance_id",
    example="permtest compare A/results/results.json B/results/results.json --gold ids.txt",
    items_of=ids_of,
    names_scores=True,
    recognises=recognises,
    load=load,
    gold="optional",
)
