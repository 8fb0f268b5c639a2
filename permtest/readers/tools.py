"""Files of evaluation tools: what each declares of its records, so that nobody has to.

A tool makes a row of each record: "id", "run" and "system", a "target" that must agree between
systems, and scores by their names. Rows of one item, run and system are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeAlias

from permtest.readers.tables import File, Table, documents, of_frame, printable

Rows: TypeAlias = Iterator[dict[str, Any]]
Records: TypeAlias = Iterable[Mapping[str, Any]]

_BESIDE = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
_GRADES = {"C": "1", "I": "0", "P": "0.5", "N": "0"}


def _lm_eval(records: Records) -> Rows:
    """Samples of lm-evaluation-harness: a document comes again for each filter."""
    for record in records:
        hashes = [record.get(x) for x in ("doc_hash", "target_hash", "target")]
        target = next((x for x in hashes if isinstance(x, str)), "")
        every = [x for x in record if x not in _BESIDE and not x.endswith("_hash")]
        end = f",{record['filter']}" if "filter" in record else ""
        scores = {f"{x}{end}": record.get(x) for x in record.get("metrics", every)}
        yield {"id": record["doc_id"], "target": target} | scores


def _inspect(logs: Records) -> Rows:
    """Logs of Inspect: a scorer may give several values, or a grade."""
    for log in logs:
        for sample in log["samples"]:
            row = {"id": sample["id"], "run": sample.get("epoch"), "system": log["eval"]["model"]}
            row["target"] = str(sample.get("target"))
            for scorer, score in (sample.get("scores") or {}).items():
                value = score.get("value") if isinstance(score, dict) else score
                for key, part in (value if isinstance(value, dict) else {"": value}).items():
                    row[f"{scorer}.{key}" if key else scorer] = _GRADES.get(str(part), part)
            yield row


def _helm(records: Records) -> Rows:
    """Statistics of HELM: those of an instance stand in several records."""
    for record in records:
        row = {"id": record["instance_id"], "run": record.get("train_trial_index")}
        row["id"] += f", {record['perturbation']}" if record.get("perturbation") else ""
        for stat in record["stats"]:
            named = (stat["name"].get(key) for key in ("name", "split", "sub_split"))
            value = stat.get("sum") if stat.get("count") == "1" else stat.get("mean")
            row[",".join(x for x in named if x)] = None if stat.get("count") == "0" else value
        yield row


#: What makes rows, and sets of keys of which the first record has one.
TOOLS: dict[Callable[[Records], Rows], tuple[str, ...]] = {
    _lm_eval: ("doc_id doc", "doc_id doc_hash", "doc_id resps", "doc_id filtered_resps"),
    _inspect: ("version eval samples",),
    _helm: ("instance_id stats",),
}


def load(file: Any) -> Table | None:
    """The table of a file that a tool wrote; None of other files."""
    if not isinstance(file, File) or file.kind not in ("json", "archive"):
        return None
    found = documents(file) if file.kind == "json" else _archived(file)
    records = chain.from_iterable(x if isinstance(x, list) else [x] for x in found)
    first = next(records, None)
    first = first if isinstance(first, dict) else {}
    kinds = (x for x, y in TOOLS.items() if any({*z.split()} <= first.keys() for z in y))
    if (rows := next(kinds, None)) is None:
        return None
    by_item: dict[Any, dict[str, Any]] = {}
    with file.reading():
        for row in rows(chain([first], records)):
            same = by_item.setdefault(tuple(map(row.get, ("id", "run", "system"))), row)
            if twice := [x for x in row if same.setdefault(x, row[x]) != row[x]]:
                raise file.error(f"{printable(row['id'])} has two values of {twice[0]}; keep one")
    lines = list(by_item.values())
    constant = [x for x in ("run", "system") if len({row.get(x) for row in lines}) == 1]
    folder = PurePath(file.path).parent.name  # which tools call by the model
    called = str(lines[0].get("system") or folder) if "system" in constant else ""
    kept = [{x: row[x] for x in row if x not in constant} for row in lines]
    return of_frame(kept, file.path, file=file, called=called, tool=True)


def _archived(file: File) -> Iterator[Any]:
    """The log in an archive of Inspect; nothing of other archives."""
    for head in [x for x in ("header.json", "_journal/start.json") if x in file.members][:1]:
        names = [x for x in file.members if x.startswith("samples/") and x.endswith(".json")]
        log, *samples = (next(documents(file.member(x))) for x in [head, *names])
        yield {**log, "samples": samples}
