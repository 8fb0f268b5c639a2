"""Files of every format as programs write them, from which hostile ones are made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from tests.readers import made


@dataclass
class Case:
    """Files to be compared, and how.

    A content is bytes; or a JSON document, `Lines` of them, or the `Members` of an archive, so that
    its structure can be changed as well as its bytes.
    """

    format: str
    names: list[str]
    contents: list[Any]
    gold: str | None = None  # "file": the last of the contents; else the name of a column


class Lines(list[Any]):
    """JSON documents, one a line."""


class Members(dict[str, Any]):
    """The members of an archive, each one bytes or a JSON document."""


# ---- evaluation harnesses ----------------------------------------------------------------------


def _harness(make: Callable[..., Any], split: Callable[[bytes], Any], rng: Random) -> Case:
    values: list[Any] = rng.choice([[0, 1], [0.25, 0.5, 1.0], [0, 1, 2.5], [True, False], [1 / 3]])
    scores = {number: rng.choice(values) for number in range(rng.randint(1, 12))}
    again = {number: rng.choice([0, 1]) for number in scores}
    files = [make(one, system) for one, system in ((scores, "old"), (again, "new"))]
    names = [f"{i}/{file.name}" for i, file in enumerate(files)]
    return Case("harness", names, [split(file.data) for file in files])


def _lines(data: bytes) -> Lines:
    return Lines(json.loads(line) for line in data.splitlines())


def _archive(rng: Random) -> Case:
    parts = [
        made.eval_parts([made.sample(i, rng.choice([0, 1, 0.5])) for i in range(6)], model)
        for model in ("old", "new")
    ]
    return Case("archive", ["a.eval", "b.eval"], list(map(Members, parts)))


def _leaderboard(rng: Random) -> Case:
    ids = [f"repo__issue-{number}" for number in range(12)]
    reports = [{"resolved": rng.sample(ids, 6), "no_logs": []} for _ in range(2)]
    names = ["a/results.json", "b/results.json", "ids.txt"]
    return Case("leaderboard", names, [*reports, "\n".join(ids).encode()], "file")


def _battles(rng: Random) -> Case:
    won = ["model_1", "model_2", "tie", "error"]
    rows = [
        {"question_id": i // 2, "turn": 1 + i % 2, "model_1": "old", "model_2": "new"}
        | {"g1_winner": rng.choice(won), "g2_winner": rng.choice(won), "judge": ["j", "pair"]}
        for i in range(12)
    ]
    return Case("battles", ["pair.jsonl"], [Lines(rows)])


# ---- tables ------------------------------------------------------------------------------------


def _number(rng: Random) -> Any:
    return rng.choice([0, 1, 7, 0.25, 1e-05, "true", 0.3333333333333333, -2])


#: Separators, the head and a row of each kind of table.
TABLES: dict[str, tuple[str, str, Callable[[int, Random], list[Any]]]] = {
    "wide": (
        ",\t; ",
        "id doc old new",
        lambda i, rng: [f"s{i}", f"d{i // 3}", _number(rng), _number(rng)],
    ),
    "counts": (
        "\t",
        "cluster old_tp old_fp old_fn new_tp new_fp new_fn",
        lambda i, rng: [f"d{i // 2}", *(rng.randint(0, 4) for _ in range(6))],
    ),
    "bare": (",\t ", "", lambda _, rng: [rng.randint(0, 5), rng.randint(0, 5)]),
    "long": (
        ",",
        "id system score cluster",
        lambda i, rng: [f"s{i // 2}", ("old", "new")[i % 2], rng.choice([0, 1]), f"d{i // 4}"],
    ),
    "predictions": (
        ",",
        "id y_true pred_old pred_new",
        lambda i, rng: [f"s{i}", *(rng.choice(["cat", "dog", "eel"]) for _ in range(3))],
    ),
}


def _table(kind: str, rng: Random) -> Case:
    separators, head, row = TABLES[kind]
    rows = [head.split()] * bool(head) + [row(i, rng) for i in range(2 * rng.randint(1, 6))]
    separator = rng.choice(separators)
    text = "".join(separator.join(map(str, cells)) + "\n" for cells in rows)
    gold = rng.choice([None, "y_true"]) if kind == "predictions" else None
    return Case(kind, ["scores.csv"], [text.encode()], gold)


def _one_each(rng: Random) -> Case:
    head, cell = rng.choice(
        [("id,score\n", "s{0},{1}\n"), ("id,tp\n", "s{0},{1}\n"), ("", "{1}\n")]
    )
    data = head + "".join(cell.format(i, rng.randint(0, 3)) for i in range(8))
    return Case("one_system", ["old.csv", "new.csv"], [data.encode()] * 2)


def _records(rng: Random) -> Case:
    rows = [{"id": i, "old": {"acc": _number(rng)}, "new": {"acc": _number(rng)}} for i in range(6)]
    columns = {"old": [rng.randint(0, 3) for _ in range(6)], "new": [1] * 6}
    return Case("records", ["scores.json"], [rng.choice([rows, Lines(rows), columns])])


def _frame(rng: Random) -> Case:
    columns = {"id": [f"s{i}" for i in range(6)], "doc": ["x", "y"] * 3}
    columns |= {name: [_number(rng) for _ in range(6)] for name in ("old", "new")}
    number = rng.randint(1, 2)
    return Case("frame", ["frame"] * number, [columns] * number)


def frame_of(data: bytes, rng: Random) -> Any:
    """A frame with the columns of a JSON document, as far as it has any; else with its text."""
    import pandas as pd
    import polars as pl

    try:
        columns = json.loads(data)
        frame = pd.DataFrame(columns)
        if rng.random() < 0.3:
            return pl.DataFrame(columns, strict=False)
        return frame.set_index(list(frame.columns[:1])) if rng.random() < 0.3 else frame
    except Exception:  # each library has errors of its own
        return pd.DataFrame({"text": data.decode(errors="replace").split("\n")})


# ---- annotated text ----------------------------------------------------------------------------

TREE = (
    "# sent_id = {0}\n1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tde\tde\tADP\tE\t_\t3\tcase\t_\t_\n2\tel\tel\t{1}\tR\tGender=Masc\t{2}\tdet\t_\t_\n"
    "3\tmar\tmar\tNOUN\tS\tGender=Masc\t0\troot\t_\t_\n\n"
)


def _tree(rng: Random) -> str:
    return "".join(
        TREE.format(i, rng.choice(["DET", "PRON"]), rng.choice([3, 0])) for i in range(4)
    )


def _tagged(rng: Random) -> str:
    tags = ["O", "B-PER", "I-PER", "E-LOC", "S-LOC"]
    words = ["Ana", "Luz", "sees", "Rome", ""] * 4
    return "".join(f"{word} {rng.choice(tags)}\n" if word else "\n" for word in words)


def _annotated(suffix: str, text: Callable[[Random], str], rng: Random) -> Case:
    names = [f"{name}.{suffix}" for name in ("old", "new", "gold")]
    return Case(suffix, names, [text(rng).encode() for _ in names], "file")


#: One maker for each kind of file.
MAKERS: dict[str, Callable[[Random], Case]] = {
    "lm_eval": partial(_harness, made.lm_eval, _lines),
    "inspect json": partial(_harness, made.inspect_ai, json.loads),
    "inspect archive": _archive,
    "every_eval_ever": partial(_harness, made.every_eval_ever, _lines),
    "helm": partial(_harness, made.helm, json.loads),
    "promptfoo": partial(_harness, made.promptfoo, json.loads),
    "swe_bench": partial(_harness, made.swe_bench, json.loads),
    "leaderboard": _leaderboard,
    "openai_evals": partial(_harness, made.openai_evals, _lines),
    "deepeval": partial(_harness, made.deepeval, json.loads),
    "mt_bench": partial(_harness, made.mt_bench, _lines),
    "battles": _battles,
    **{kind: partial(_table, kind) for kind in TABLES},
    "one_system": _one_each,
    "records": _records,
    "frame": _frame,
    "conllu": partial(_annotated, "conllu", _tree),
    "spans": partial(_annotated, "iob2", _tagged),
}
