"""Small files in the formats of evaluation harnesses, made from the scores of items."""

import io
import json
import sys
import zipfile
from collections.abc import Mapping
from importlib import import_module

from permtest.readers.files import File

ZSTANDARD = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def lm_eval_row(number, value, chosen="none", **more):
    return {
        "doc_id": number,
        "doc": {"question": f"What is {number}?", "answer": str(number)},
        "target": str(number),
        "arguments": {"gen_args_0": {"arg_0": f"Q: What is {number}?", "arg_1": {"until": ["\n"]}}},
        "resps": [["-1.5", "False"]],
        "filtered_resps": ["x"],
        "filter": chosen,
        "metrics": ["acc"],
        "doc_hash": f"d{number}",
        "prompt_hash": f"p{number}",
        "target_hash": f"t{number}",
        "acc": value,
    } | more


def lm_eval(scores: Mapping[int, object], name="model") -> File:
    rows = [lm_eval_row(number, value) for number, value in scores.items()]
    return File(f"out/{name}/samples_task_2026-01-02T03-04-05.000000.jsonl", lines(rows))


def sample(number, value, epoch=1, **more):
    return {
        "id": f"q{number}",
        "epoch": epoch,
        "input": f"What is {number}?",
        "target": str(number),
        "scores": {"match": {"value": value, "answer": "x"}},
    } | more


def header(name="model", status="success"):
    spec = {"task": "sums", "run_id": "r", "model": name, "dataset": {"samples": 3}}
    return {"version": 2, "status": status, "eval": spec, "plan": {}}


def inspect_json(samples, name="model", status="success") -> File:
    log = header(name, status) | {"results": {"scores": []}, "samples": list(samples)}
    return File("logs/sums.json", json.dumps(log).encode())


def inspect_ai(scores: Mapping[int, object], name="model") -> File:
    return inspect_json([sample(number, value) for number, value in scores.items()], name)


def archive(parts: Mapping[str, object], method=zipfile.ZIP_DEFLATED) -> File:
    """A zip archive, with method 93 as of Inspect; what is not yet bytes becomes JSON."""
    module = import_module(ZSTANDARD) if method == 93 else zipfile
    stream = io.BytesIO()
    with module.ZipFile(stream, "w", method) as made:
        for name, part in parts.items():
            made.writestr(name, part if isinstance(part, bytes) else json.dumps(part).encode())
    return File("logs/sums.eval", stream.getvalue())


def eval_parts(samples, name="model", status="success"):
    samples = list(samples)
    return {
        "_journal/start.json": header(name, "started"),
        **{f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples},
        "_journal/summaries/1.json": samples,
        "summaries.json": samples,
        "header.json": header(name, status),
    }


def inspect_eval(scores: Mapping[int, object], name="model") -> File:
    return archive(eval_parts([sample(i, value) for i, value in scores.items()], name))


def instance(number, value, model="model", **more):
    return {
        "schema_version": "0.2.2",
        "evaluation_id": f"run/{model}",
        "model_id": model,
        "evaluation_name": "sums",
        "sample_id": str(number),
        "sample_hash": f"h{number}",
        "interaction_type": "single_turn",
        "input": {"raw": f"What is {number}?", "reference": [str(number)]},
        "output": {"raw": ["x"]},
        "answer_attribution": [],
        "evaluation": {"score": value, "is_correct": value == 1},
        "metadata": None,
    } | more


def every_eval_ever(scores: Mapping[int, object], name="model") -> File:
    rows = [instance(number, value, name) for number, value in scores.items()]
    return File(f"data/{name}_samples.jsonl", lines(rows))


def stat(name, total, count=1, split="test", **more):
    found = {"name": {"name": name, "split": split}, "count": count, "sum": total}
    return found | ({"mean": total / count} if count and total is not None else {}) | more


def entry(number, value, trial=0, **more):
    return {
        "instance_id": f"id{number}",
        "train_trial_index": trial,
        "stats": [stat("exact_match", value)],
    } | more


def helm(scores: Mapping[int, object], name="model") -> File:
    rows = [entry(number, value) for number, value in scores.items()]
    path = f"runs/v1/sums:subject=add,model={name}/per_instance_stats.json"
    return File(path, json.dumps(rows, indent=2).encode())
