"""Files of evaluation tools need no declaration, if they hold one score."""

import io
import json
import zipfile

import pytest

import permtest as pt
from permtest.readers import File, ReadError

SCORES = {"new": [1, 0, 1, 1], "old": [0, 0, 1, 0]}


def lines(records):
    return "\n".join(map(json.dumps, records)).encode()


def lm_eval(name, scores, **more):
    rows = [
        {"doc_id": i, "doc": {"q": i}, "doc_hash": f"h{i}", "target": "x", "filter": "none"}
        | {"metrics": ["acc", *more], "acc": float(x), **more}
        for i, x in enumerate(scores)
    ]
    return File(f"runs/{name}/samples_sums_2026-11-20T23-12-44.8.jsonl", lines(rows))


def inspect(name, scores, epochs=1):
    samples = [
        {"id": str(i), "epoch": e + 1, "target": "t", "scores": {"match": {"value": "IC"[x]}}}
        for e in range(epochs)
        for i, x in enumerate(scores)
    ]
    log = {"version": 2, "status": "success", "eval": {"model": name}, "samples": samples}
    return File("log.json", json.dumps(log).encode())


def archive(name, scores):
    log = json.loads(inspect(name, scores).data)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as found:
        for i, sample in enumerate(log.pop("samples")):
            found.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
        found.writestr("header.json", json.dumps(log))
    return File("log.eval", stream.getvalue())


def helm(name, scores):
    def stats(metric, x):
        return [{"name": {"name": metric, "split": "test"}, "count": 1, "sum": x, "mean": x}]

    rows = [{"instance_id": f"id{i}", "stats": stats("em", x)} for i, x in enumerate(scores)]
    data = json.dumps([*rows, *({**x, "stats": []} for x in rows)]).encode()
    return File(f"runs/{name}/per_instance_stats.json", data)


MAKERS = [lm_eval, inspect, archive, helm]


@pytest.mark.parametrize("make", MAKERS)
def test_two_files_of_a_tool(make):
    new, old = (make(name, x) for name, x in SCORES.items())
    scores = pt.read(new, old)
    assert scores.systems == ("new", "old")
    assert [x.tolist() for x in scores.arrays] == list(SCORES.values())
    assert (len(scores.ids), scores.source["paired_by"]) == (4, "id")
    with pytest.raises(ReadError, match="1 of 4 items lack a score"):
        pt.read(new, make("old", [0, 0, 1]))
    with pytest.raises(ReadError):
        pt.read(make("new", []), old)
    if make is lm_eval:
        with pytest.raises(ReadError, match="column target: 'h9', but 'h2'"):
            pt.read(new, File(old.path, old.data.replace(b'"h2"', b'"h9"')))


def test_several_scores_are_listed_and_one_is_proposed():
    files = [lm_eval(name, x, acc_norm=1.0) for name, x in SCORES.items()]
    with pytest.raises(ReadError, match="say which columns are what") as caught:
        pt.read(*files)
    assert caught.value.proposal["score"] == "acc,none"
    assert pt.read(*files, score="acc,none").score == "acc,none"
    with pytest.raises(ReadError, match="say which columns are what"):
        pt.read(files[0])
    assert pt.read(files[0], a="acc,none", b="acc_norm,none").v.tolist() == [1, 1, 1, 1]


def test_two_filters_are_two_scores_of_one_document():
    rows = [
        {"doc_id": i, "doc_hash": f"h{i}", "filter": f, "metrics": ["em"], "em": float(f == "y")}
        for i in range(3)
        for f in "xy"
    ]
    file = File("a.jsonl", lines(rows))
    assert pt.read(file, File("b.jsonl", file.data), score="em,y").u.tolist() == [1, 1, 1]
    rows.append(rows[0] | {"em": 1.0})
    with pytest.raises(ReadError, match="0 has two values of em,x"):
        pt.read(File("a.jsonl", lines(rows)), file)


def test_epochs_are_runs_and_one_file_may_have_two_models():
    logs = [inspect(name, x, epochs=3) for name, x in SCORES.items()]
    for files in (logs, [File("all.jsonl", b"\n".join(x.data for x in logs))]):
        scores = pt.read(*files)
        assert [x.sizes.tolist() for x in scores.runs] == [[3] * 4] * 2
        assert (scores.systems, scores.v.tolist()) == (("new", "old"), [0, 0, 3, 0])
