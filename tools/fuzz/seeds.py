"""Files of every format as programs write them, from which hostile ones are made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
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


def case(rng: Random) -> Case:
    """Files of a format that is drawn, of some items each."""
    name = rng.choice(list(MAKERS))
    return MAKERS[name](rng)


def _scores(rng: Random) -> dict[int, Any]:
    values: list[Any] = rng.choice([[0, 1], [0.25, 0.5, 1.0], [0, 1, 2.5], [True, False], [1 / 3]])
    return {number: rng.choice(values) for number in range(rng.randint(1, 12))}


# ---- evaluation harnesses ----------------------------------------------------------------------


def _harness(name: str, make: Callable[..., Any], split: Callable[[bytes], Any]) -> Any:
    def of(rng: Random) -> Case:
        scores = _scores(rng)
        again = {number: rng.choice([0, 1]) for number in scores}
        files = [make(one, system) for one, system in ((scores, "old"), (again, "new"))]
        names = [f"{i}/{file.name}" for i, file in enumerate(files)]
        return Case(name, names, [split(file.data) for file in files])

    return of


def _lines(data: bytes) -> Lines:
    return Lines(json.loads(line) for line in data.splitlines())


def _archive(rng: Random) -> Case:
    scores = _scores(rng)
    parts = [made.eval_parts([made.sample(i, x) for i, x in one.items()], model)
             for one, model in ((scores, "old"), (dict.fromkeys(scores, 1), "new"))]  # fmt: skip
    return Case("inspect_ai", ["a.eval", "b.eval"], list(map(Members, parts)))


def _promptfoo(rng: Random) -> Case:
    results = [
        made.result(i, rng.choice([0, 1, 0.5]), k, f"model-{k}") for i in range(6) for k in range(3)
    ]
    return Case("promptfoo", ["results.json"], [json.loads(made.promptfoo_of(results).data)])


def _leaderboard(rng: Random) -> Case:
    ids = [f"repo__issue-{number}" for number in range(12)]
    reports = [{"resolved": rng.sample(ids, 6), "no_logs": []} for _ in range(2)]
    names = ["a/results.json", "b/results.json", "ids.txt"]
    return Case("swe_bench", names, [*reports, "\n".join(ids).encode()], "file")


def _battles(rng: Random) -> Case:
    won = ["model_1", "model_2", "tie", "error"]
    rows = [
        {"question_id": i // 2, "turn": 1 + i % 2, "model_1": "old", "model_2": "new"}
        | {"g1_winner": rng.choice(won), "g2_winner": rng.choice(won), "judge": ["j", "pair"]}
        for i in range(12)
    ]
    return Case("battles", ["pair.jsonl"], [Lines(rows)])


# ---- tables ------------------------------------------------------------------------------------


def _text(rows: list[list[Any]], separator: str = ",") -> bytes:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def _number(rng: Random) -> Any:
    return rng.choice([0, 1, 7, 0.25, 1e-05, "true", 0.3333333333333333, -2])


def _wide(rng: Random) -> Case:
    header = ["id", "doc", "old", "new"]
    rows = [[f"s{i}", f"d{i // 3}", _number(rng), _number(rng)] for i in range(rng.randint(1, 9))]
    separator = rng.choice([",", "\t", ";", " "])
    return Case("table", ["scores.csv"], [_text([header, *rows], separator)])


def _counts(rng: Random) -> Case:
    names = rng.choice([["tp", "fp", "fn"], ["errors", "length"]])
    header = ["cluster", *(f"{system}_{name}" for system in ("old", "new") for name in names)]
    rows = [[f"d{i // 2}", *(rng.randint(0, 4) for _ in header[1:])] for i in range(6)]
    return Case("table", ["counts.tsv"], [_text([header, *rows], "\t")])


def _bare(rng: Random) -> Case:
    rows = [[rng.randint(0, 5) for _ in range(rng.choice([2, 4, 6]))]]
    rows += [[rng.randint(0, 5) for _ in rows[0]] for _ in range(5)]
    return Case("table", ["scores.txt"], [_text(rows, rng.choice([",", "\t", " "]))])


def _one_each(rng: Random) -> Case:
    rows = [[f"s{i}", rng.randint(0, 3)] for i in range(8)]
    header = rng.choice([["id", "score"], ["id", "tp"]])
    single = "\n".join(str(number) for _, number in rows).encode()
    data = rng.choice([_text([header, *rows]), single])
    return Case("one_system", ["old.csv", "new.csv"], [data, data])


def _long(rng: Random) -> Case:
    header = ["id", "system", "score", "cluster"]
    rows = [[f"s{i % 5}", ("old", "new", "base")[i // 5], rng.choice([0, 1]), f"d{i % 5 % 2}"]
            for i in range(15)]  # fmt: skip
    return Case("long", ["scores.csv"], [_text([header, *rows])])


def _predictions(rng: Random) -> Case:
    labels = rng.choice([["cat", "dog", "eel"], ["0", "1"], ["true", "false"]])
    rows = [[f"s{i}", *(rng.choice(labels) for _ in range(3))] for i in range(8)]
    header = ["id", "y_true", "pred_old", "pred_new"]
    return Case("predictions", ["p.csv"], [_text([header, *rows])], rng.choice([None, "y_true"]))


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


def _conllu(rng: Random) -> Case:
    def text() -> bytes:
        some = (TREE.format(i, rng.choice(["DET", "PRON"]), rng.choice([3, 0])) for i in "abcd")
        return "".join(some).encode()

    names = ["old.conllu", "new.conllu", "gold.conllu"]
    return Case("conllu", names, [text() for _ in names], "file")


def _spans(rng: Random) -> Case:
    def text() -> bytes:
        tags = ["O", "B-PER", "I-PER", "E-LOC", "S-LOC"]
        words = ["Ana", "Luz", "sees", "Rome", ""] * 4
        return "".join(f"{word} {rng.choice(tags)}\n" if word else "\n" for word in words).encode()

    names = ["old.iob2", "new.iob2", "gold.iob2"]
    return Case("spans", names, [text() for _ in names], "file")


#: One maker for each kind of file.
MAKERS: dict[str, Callable[[Random], Case]] = {
    "lm_eval": _harness("lm_eval", made.lm_eval, _lines),
    "inspect json": _harness("inspect_ai", made.inspect_ai, json.loads),
    "inspect archive": _archive,
    "every_eval_ever": _harness("every_eval_ever", made.every_eval_ever, _lines),
    "helm": _harness("helm", made.helm, json.loads),
    "promptfoo": _promptfoo,
    "swe_bench": _harness("swe_bench", made.swe_bench, json.loads),
    "leaderboard": _leaderboard,
    "openai_evals": _harness("openai_evals", made.openai_evals, _lines),
    "deepeval": _harness("deepeval", made.deepeval, json.loads),
    "mt_bench": _harness("mt_bench", made.mt_bench, _lines),
    "battles": _battles,
    "wide": _wide,
    "counts": _counts,
    "bare": _bare,
    "one_system": _one_each,
    "long": _long,
    "predictions": _predictions,
    "records": _records,
    "frame": _frame,
    "conllu": _conllu,
    "spans": _spans,
}
