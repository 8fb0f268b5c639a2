"""Time of reading files, beside the least that a reader has to do: cutting lines, parsing JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np

from benchmarks.tables import Section, table
from benchmarks.timing import duration, seconds
from permtest import Pairs, exact_perm_test, read
from permtest.readers import File

ROWS = 200_000
SEED = 9


def wide(rows: int) -> bytes:
    """A table with ids and two systems of 0/1 scores."""
    scores = np.random.default_rng(SEED).integers(0, 2, (rows, 2)).tolist()
    return "\n".join(["id,new,old", *(f"q{i},{u},{v}" for i, (u, v) in enumerate(scores))]).encode()


def _samples(rows: int, system: int) -> bytes:
    """What lm-evaluation-harness would write of one system, in any order."""
    rng = np.random.default_rng([SEED, system])
    order, scores = rng.permutation(rows).tolist(), rng.integers(0, 2, rows).tolist()
    lines = (
        {"doc_id": i, "doc": {"question": "?" * 200}, "target": "7", "filter": "none"}
        | {"metrics": ["acc"], "doc_hash": f"{i:064x}", "acc": float(scores[i])}
        for i in order
    )
    return "\n".join(map(json.dumps, lines)).encode()


def run(rows: int = ROWS) -> Section:
    """The times, and whether all items are paired."""
    lines = wide(rows)
    sides = [_samples(rows // 2, system) for system in range(2)]

    def from_table() -> Pairs:
        return read(File("scores.csv", lines))

    def from_samples() -> Pairs:
        return read(*(File(f"{i}/samples.jsonl", data) for i, data in enumerate(sides)))

    pairs = from_table()
    jobs: dict[str, tuple[str, Callable[[], Any]]] = {
        "csv": ("cutting the table alone, by csv", lambda: list(csv.reader(_lines(lines)))),
        "table": (f"table of {rows:,} lines, with ids", from_table),
        "json": ("parsing the samples alone, by json", lambda: [_parsed(data) for data in sides]),
        "samples": (f"lm-evaluation-harness, 2 x {rows // 2:,} samples", from_samples),
        "test": (f"the exact test of {rows:,} pairs", lambda: exact_perm_test(pairs)),
    }
    times = {key: seconds(call) for key, (_, call) in jobs.items()}
    paired = [len(pairs), len(from_samples())]
    wrong = [] if paired == [rows, rows // 2] else [f"{paired} items are paired"]
    body = [[title, duration(times[key])] for key, (title, _) in jobs.items()]
    return Section("Reading", table(["what", "time"], body), {"times": times}, wrong)


def _lines(data: bytes) -> StringIO:
    return StringIO(data.decode())


def _parsed(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def ratios(section: Section) -> dict[str, float]:
    """For the record."""
    times = section.data["times"]
    return {
        "read table / csv": times["table"] / times["csv"],
        "read samples / json": times["samples"] / times["json"],
    }
