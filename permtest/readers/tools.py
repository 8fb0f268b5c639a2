"""Files of evaluation tools: what each declares of its records, so that nobody has to.

A tool is a name, the keys that its records begin with, and a function that makes a flat record of
each: "id", "run", "system", what must "agree" between systems, and scores by their names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeAlias

from permtest.readers.tables import (
    ARROW,
    OLE,
    ZIP,
    File,
    ReadError,
    Table,
    documents,
    of_records,
    parsed,
    printable,
)

Record: TypeAlias = Mapping[str, Any]

#: Columns of flat records that are no scores.
NO_SCORES = ("id", "run", "system", "target")


class Tool(NamedTuple):
    """What the files of a tool are known by, and what their records say."""

    name: str
    first: tuple[frozenset[str], ...]  # sets of keys, one of which the first record has
    flat: Callable[[File, Iterable[Record]], Iterator[dict[str, Any]]]


def _at(record: Any, path: str) -> Any:
    """The value at a path of keys; None if there is none."""
    for key in path.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _need(file: File, record: Record, path: str) -> str:
    value = _at(record, path)
    if not isinstance(value, str) or not value:
        raise file.error(f"a record has no {path}; leave files as the tool writes them")
    return value


def _model(file: File) -> str:
    """The model that the path of a file names: its folder, or what stands there behind model=."""
    folders = [x for x in PurePath(file.path).parts[:-1] if not re.match(r"\d{4}-\d\d-\d\dT", x)]
    found = re.search(r"\bmodel=([^,]+)", folders[-1]) if folders else None
    return found[1] if found else folders[-1] if folders else ""


# ---- lm-evaluation-harness: a document comes again for each filter; corpus metrics are lists ------


_BESIDE = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


def _lm_eval(file: File, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        name = _need(file, record, "doc_id")
        where = _model(file) if PurePath(file.path).name.startswith("samples_") else ""
        row = found.setdefault(name, {"id": name, "target": "", "system": where})
        hashes = [record.get(x) for x in ("doc_hash", "target_hash", "target")]
        row["target"] = next((x for x in hashes if isinstance(x, str)), "")
        names = record.get("metrics")
        if not isinstance(names, list):
            names = [x for x in record if x not in _BESIDE and not x.endswith("_hash")]
        end = f",{record['filter']}" if "filter" in record else ""
        for metric in names:
            if row.setdefault(f"{metric}{end}", record.get(metric)) != record.get(metric):
                raise file.error(f"doc_id {name} has two values of {metric}; keep one run")
    yield from found.values()


# ---- Inspect: 1 and "1" are one id; a scorer may give several values ------------------------------

_GRADES = {"C": "1", "I": "0", "P": "0.5", "N": "0"}


def _inspect(file: File, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    log = next(iter(records))
    for sample in log.get("samples") or ():
        row = {"id": _need(file, sample, "id"), "run": str(sample.get("epoch") or 1)}
        row |= {"system": _need(file, log, "eval.model"), "target": str(sample.get("target"))}
        for scorer, score in (sample.get("scores") or {}).items():
            value = score.get("value") if isinstance(score, dict) else score
            for key, part in (value if isinstance(value, dict) else {"": value}).items():
                row[f"{scorer}.{key}" if key else scorer] = _GRADES.get(str(part), part)
        yield row


def _unpacked(file: File) -> dict[str, Any] | None:
    """The log in an archive of Inspect; None if the file is none."""
    if not file.data.startswith(b"PK\x03\x04") or b"samples/" not in file.data:
        return None
    names = file.members()
    head = next((x for x in ("header.json", "_journal/start.json") if x in names), None)
    if head is None:
        return None

    def part(name: str) -> Any:
        return parsed(file, file.member(name).decode("utf-8", "replace"), name)

    every = [x for x in names if x.startswith("samples/") and x.endswith(".json")]
    samples = part("summaries.json") if "summaries.json" in names else ()
    whole = isinstance(samples, list) and len(samples) == len(every)
    return part(head) | {"samples": samples if whole else [part(x) for x in every]}


# ---- HELM: metrics of an instance stand in several entries; the second trial is number 1 ----------


def _helm(file: File, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        name, run = _need(file, record, "instance_id"), str(record.get("train_trial_index") or 0)
        if record.get("perturbation"):
            name += f", {json.dumps(record['perturbation'], sort_keys=True)}"
        row = found.setdefault((name, run), {"id": name, "run": run, "system": _model(file)})
        for stat in record.get("stats") or ():
            keys = [_at(stat, f"name.{key}") for key in ("name", "split", "sub_split")]
            metric = ",".join(x for x in keys if isinstance(x, str))
            value = None
            if stat.get("count") not in ("0", None):
                value = stat.get("sum") if stat["count"] == "1" else stat.get("mean")
            if row.setdefault(metric, value) != value:
                raise file.error(f"instance {name} has two values of {metric}; keep one run")
    yield from found.values()


# ---- Every Eval Ever: a line for each sample and evaluation --------------------------------------


def _every_eval_ever(file: File, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    kept = list(records)
    several = len({str(x.get("evaluation_name")) for x in kept}) > 1
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in kept:
        name, system = _need(file, record, "sample_id"), _need(file, record, "model_id")
        run = str(_at(record, "metadata.epoch") or 1)
        row = {"id": name, "run": run, "system": system, "target": _at(record, "sample_hash") or ""}
        row = found.setdefault((name, run, system), row)
        end = f",{record.get('evaluation_name')}" if several else ""
        for key in ("score", "is_correct"):
            value = _at(record, f"evaluation.{key}")
            if row.setdefault(key + end, value) != value:
                raise file.error(f"sample {name} has two values of {key}; keep one run")
    yield from found.values()


def _keys(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(x.split()) for x in sets)


LM_EVAL = Tool(
    "lm-evaluation-harness",
    _keys("doc_id doc", "doc_id doc_hash", "doc_id resps", "doc_id filtered_resps"),
    _lm_eval,
)
TOOLS = (
    LM_EVAL,
    Tool("Inspect", _keys("version eval samples"), _inspect),
    Tool("HELM", _keys("instance_id stats"), _helm),
    Tool("Every Eval Ever", _keys("model_id sample_id evaluation"), _every_eval_ever),
)


def load(file: File) -> Table | None:
    """The table of a file that a tool wrote; None of other files."""
    log = _unpacked(file)
    if log is None and (
        file.data.startswith((ZIP, OLE, *ARROW)) or file.text.lstrip()[:1] not in "{["
    ):
        return None
    first, records = (log, None) if log is not None else documents(file)
    if records is None:
        records = iter(first if isinstance(first, list) else [first])
        first = first[0] if isinstance(first, list) and first else first
    keys = {*first} if isinstance(first, dict) else set()
    tool = next((x for x in TOOLS if any(known <= keys for known in x.first)), None)
    if tool is None:
        return None
    try:
        flat = list(tool.flat(file, records))
    except (AttributeError, TypeError, KeyError) as bad:
        raise file.error(f"it is not as {tool.name} writes it ({printable(bad)})") from None
    if not flat:
        raise file.error("it has no records; were samples logged?")
    runs, systems = ({x.get(key) for x in flat} for key in ("run", "system"))
    constant = [key for key, values in (("run", runs), ("system", systems)) if len(values) == 1]
    called = str(max(systems, key=str) or "") if len(systems) == 1 else ""
    flat = [{k: x for k, x in row.items() if k not in constant} for row in flat]
    table = of_records(file, flat)
    known: dict[str, Any] = {x: x for x in ("id", "run", "system") if x in table.names}
    known["scores"] = [x for x in table.names if x not in NO_SCORES and table.facts[x].numbers]
    if not known["scores"]:
        raise file.error("it holds no score that is a number for each item; log such a score")
    return replace(table, called=called, known=known | {"agree": ["target"]})


def of_folder(folder: Path) -> Table:
    """The tables that lm-evaluation-harness wrote into the folder of one model, in one."""
    import pandas as pd

    paths = sorted(folder.glob("samples_*.jsonl")) or sorted(folder.glob("*/samples_*.jsonl"))
    if not paths:
        raise ReadError(
            f"{printable(folder)}: this is a folder without samples_*.jsonl of "
            "lm-evaluation-harness; name one file in it"
        )
    tables = {}
    for path in paths:
        task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT[\d.:+-]*$", "", path.stem)
        if task in tables:
            raise ReadError(f"{printable(folder)}: two runs of the task {task}; name one file")
        if (table := load(File.load(path))) is None:
            raise ReadError(f"{printable(path)}: this is no file of lm-evaluation-harness")
        tables[task] = table
    frames = [x.frame.assign(id=task + " " + x.frame["id"]) for task, x in tables.items()]
    first = next(iter(tables.values()))
    scores = list(dict.fromkeys(name for x in tables.values() for name in x.known["scores"]))
    frame = pd.concat(frames, ignore_index=True).fillna("")
    known = {"id": "id", "scores": scores, "agree": ["target"]}
    return Table(str(folder), frame, known=known, called=folder.name, file=first.file)
