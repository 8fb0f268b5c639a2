"""Files of evaluation harnesses: what their formats are known to mislead with, and broken files."""

import json
import math
import re
import struct
import textwrap
import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from permtest.readers import ReadError, files, harnesses, read
from permtest.readers.files import File, as_score
from permtest.readers.pairing import Evaluation as ItemEvaluation
from permtest.readers.systems import joined
from tests.readers import made
from tests.readers.made import entry, instance, lines, lm_eval_row, sample, stat

FORMATS = {one.name: one for one in harnesses.FORMATS}

#: Format, maker of files, the score, and what items are called.
KINDS = {
    "lm_eval": ("lm_eval", made.lm_eval, "acc,none", "d{}"),
    "inspect_json": ("inspect_ai", made.inspect_ai, "match", "q{}"),
    "inspect_eval": ("inspect_ai", made.inspect_eval, "match", "q{}"),
    "every_eval_ever": ("every_eval_ever", made.every_eval_ever, "score", "h{}"),
    "helm": ("helm", made.helm, "exact_match,test", "id{}"),
}
OTHERS = [
    File("a.csv", b"id,a,b\nx,1,2\n"),
    File("a.jsonl", b'{"id": 1, "a": 0, "b": 1}\n{"id": 2, "a": 1, "b": 1}\n'),
    File("a.json", b'[{"id": 1, "a": {"resolved": 1}}]'),
    File("results.json", b'{"results": {"task": {"acc,none": 0.5}}, "configs": {}}'),
    *(File("a.json", data) for data in (b"", b"{}", b"[]", b"[[", b"PAR1", bytes(range(256)))),
    made.archive({"xl/workbook.xml": b"<x/>"}),
]


def load(name, data, path="x.json"):
    """The systems of a file; a tuple of objects becomes JSON lines, other values JSON."""
    if isinstance(data, tuple):
        data = lines(data)
    if not isinstance(data, File | bytes):
        data = json.dumps(data).encode()
    file = data if isinstance(data, File) else File(path, data)
    return FORMATS[name].load(file)


def paired(name, *found, **options):
    return ItemEvaluation(FORMATS[name], tuple(found)).pairs(**options)


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_recognised_by_its_own_format_alone(kind):
    own, make, *_ = KINDS[kind]
    for items in (3, 2000):
        file = make(dict.fromkeys(range(items), 1))
        assert [name for name, one in FORMATS.items() if one.recognises(file)] == [own]
    assert not [name for file in OTHERS for name, one in FORMATS.items() if one.recognises(file)]


@pytest.mark.parametrize("kind", KINDS)
def test_items_are_paired_by_id_in_whatever_order(kind):
    name, make, score, called = KINDS[kind]
    files = make({2: 1, 3: 0, 5: 1}, "one"), make({7: 1, 5: 0, 4: 1, 2: 1}, "two")
    one, other = (one for file in files for one in load(name, file))
    pairs = paired(name, one, other, score=score)
    assert (pairs.names, pairs.ids) == (("one", "two"), (called.format(2), called.format(5)))
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([1, 1], [1, 0])
    assert pairs.source["unmatched"] == [1, 2]
    for missing in (None, math.nan):
        assert load(name, make({1: 1, 2: missing, 3: 0}))[0].scores[score] == [1, None, 0]


def exact(one):
    """The scores of a system as numbers."""
    return {
        name: [None if x is None else as_score(x) for x in column]
        for name, column in one.scores.items()
    }


def test_lm_eval_filters_metrics_and_hashes():
    rows = [
        lm_eval_row(i, "True", chosen, metrics=["acc", "f1"], f1=[1, 0])
        for chosen in ("strict", "loose")
        for i in (1, 2)
    ]
    (one,) = load("lm_eval", tuple(rows), path="out/model/x.jsonl")
    assert exact(one) == {"acc,strict": [1, 1], "acc,loose": [1, 1]}
    assert (one.system, one.ids, one.place(1)) == ("model", ["d1", "d2"], "line 2")
    asked = ["What is 1?", "What is 2?"]
    assert one.agree == {"target_hash": ["t1", "t2"], "target": ["1", "2"], "question": asked}
    assert one.texts == asked
    assert "f1,strict ('[1, 0]', line 1), f1,loose" in one.notes[0]
    old = [without(row, "doc_hash", "target_hash", "filter", "metrics", "f1") for row in rows[:2]]
    assert FORMATS["lm_eval"].recognises(File("a.json", json.dumps(old).encode()))
    (one,) = load("lm_eval", old)
    assert (one.paired_by, one.ids, exact(one)) == ("doc_id", ["1", "2"], {"acc": [1, 1]})
    (one,) = load("lm_eval", (lm_eval_row(1, 1), lm_eval_row(2, 0, doc_hash="d1")))
    assert one.ids == ["d1 (1)", "d1 (2)"]


def test_inspect_values_epochs_and_scorers():
    values = ["C", "I", "P", "N", 0.25, True, "0.5", "yes", math.nan, None]
    (one,) = load("inspect_ai", made.inspect_json([sample(i, x) for i, x in enumerate(values)]))
    half = Fraction(1, 2)
    assert exact(one)["match"] == [1, 0, half, 0, 0.25, 1, half, 1, None, None]
    twice = [sample(i, "C", epoch=e) for e in (1, 2) for i in (1, 2)]
    (one,) = load("inspect_ai", made.inspect_json(twice, status="cancelled"))
    assert one.ids == ["q1", "q2", "q1 (epoch 2)", "q2 (epoch 2)"]
    assert (one.swapped, one.clusters) == ("sample", {"sample": ["q1", "q2", "q1", "q2"]})
    assert one.notes[0].startswith("sums.json comes from a run that did not finish (cancelled)")
    many = {"judge": {"value": {"style": "C", "facts": 0.5}}, "match": {"value": [1]}}
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "What?"}]
    samples = [sample(1, 1, scores=many, id=1, input=messages), sample(2, 1, scores=None)]
    (one,) = load("inspect_ai", made.inspect_json(samples))
    assert one.scores == {"judge.style": [1, None], "judge.facts": [0.5, None]}
    assert (one.ids, one.texts) == (["1", "q2"], ["What?", "What is 2?"])


def test_helm_means_are_exact_and_trials_swapped_with_their_instance():
    stats = [stat("f1", 2.0, 3), stat("time", 0.3, 2), stat("none", 0, 0), stat("one", 0.1)]
    typos = {"name": "typos", "prob": 0.5}
    rows = [entry(1, 1), entry(1, 0, perturbation=typos), entry(1, 1, trial=1), entry(2, 1)]
    rows += [entry(2, 0, stats=stats), entry(2, 1)]  # the last says again what is known
    (one,) = load("helm", rows, path="runs/qa:k=5,model=x_y/s.json")
    assert one.ids == ["id1", 'id1, {"name": "typos", "prob": 0.5}', "id1 (trial 1)", "id2"]
    assert (one.swapped, one.clusters) == ("instance", {"instance": ["id1"] * 3 + ["id2"]})
    last = {name: column[-1] for name, column in one.scores.items()}
    means = {"f1": Fraction(2, 3), "time": Decimal("0.15"), "one": Decimal("0.1")}
    assert last == {"exact_match,test": 1} | {f"{name},test": x for name, x in means.items()}
    assert one.system == "x_y"
    assert one.notes[0].endswith("each item: none,test (no item has it)")


def test_every_eval_ever_evaluations():
    names = "gsm8k/strict", "gsm8k/loose"
    rows = [instance(i, k, evaluation_name=names[k]) for k in (0, 1) for i in (1, 2)]
    (one,) = load("every_eval_ever", tuple(rows))
    assert one.scores["score,gsm8k/strict"] == [0, 0]
    assert one.scores["is_correct,gsm8k/loose"] == [1, 1]
    rows = [instance(1, 0), instance(2, 0, sample_hash=None)]
    (one,) = load("every_eval_ever", tuple(rows))
    assert (one.paired_by, one.ids) == ("sample_id", ["1", "2"])
    rows = [instance(i, 1, m, metadata={"epoch": e}) for m in "ab" for e in "12" for i in (1, 2)]
    one, _ = load("every_eval_ever", tuple(rows))
    assert one.ids == ["h1", "h2", "h1 (epoch 2)", "h2 (epoch 2)"]
    assert (one.system, one.swapped) == ("a", "sample")
    rows = [instance(1, 1, metadata={"epoch": e}) for e in (0, 1)]
    assert load("every_eval_ever", tuple(rows))[0].ids == ["h1 (epoch 0)", "h1"]


CASE = {"name": "c", "input": "q", "success": True, "metricsData": [{"name": "m", "score": 0.5}]}
TEST = {"testIdx": 0, "promptIdx": 0, "score": 1, "gradingResult": {"score": 1}}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"evalId": "e", "results": {"results": [TEST]}}, r"one object, .* \(none\); write a list"),
        ((TEST, TEST | {"promptIdx": 1}), r"columns that hold the same .*a=\.\.\., b=\.\.\."),
        ({"completed_ids": ["x", "y"], "resolved_ids": ["x"]}, "not lists of the same length"),
        ({"testRunData": {"testCases": [CASE]}}, r"one object, .* \(none\); write a list"),
        ({"new": [{"src": "s", "COMET": 1}], "old": [{"src": "s"}]}, "several lists of records"),
        (({"spec": {"x": 1}}, {"sample_id": "s", "data": {"x": 1}}), "item without a name"),
        (({"model_a": "x", "winner": "tie"}, {"model_a": "y", "winner": "tie"}), "0 systems"),
    ],
)
def test_json_of_other_tools_is_refused_where_its_records_are_not_plain(data, problem):
    data = lines(data) if isinstance(data, tuple) else json.dumps(data).encode()
    with pytest.raises(ReadError, match=problem):
        read(File("x.json", data))


def test_json_lines_of_other_tools_are_records():
    def graded(model):
        return [
            {"question_id": i, "model": model, "score": i, "turn": t}
            for i in (1, 2)
            for t in (1, 2)
        ]

    pairs = read(File("a.jsonl", lines(graded("x"))), File("b.jsonl", lines(graded("y"))))
    assert (pairs.names, pairs.u.tolist()) == (("x", "y"), [1, 1, 2, 2])
    segments = File(
        "a.json", "\n".join(f'{{"name": "chrF2",\n "score": {x}}}' for x in (2, 3)).encode()
    )
    assert read(segments, File("b.json", segments.data)).u.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("lm_eval", (lm_eval_row(1, 1), lm_eval_row(1, 1)), "line 2: the .* repeats line 1"),
        ("lm_eval", (lm_eval_row(1, 1), lm_eval_row(None, 1, doc_hash=None)), "2: 'doc_id' is"),
        ("lm_eval", (lm_eval_row(1, 1, doc_hash=None), lm_eval_row(None, 1)), "not every record"),
        ("lm_eval", (lm_eval_row(1, [1, 0]),), r"no score that is one number for each item \(acc,"),
        ("inspect_ai", made.inspect_json([sample(1, 1, id=1), sample(1, 1, id="1")]), "record 2: "),
        ("inspect_ai", made.header(), "holds no record with a score"),
        ("helm", [entry(1, 1), entry(1, 0)], "record 2: the score 'exact_match,test' repeats"),
        ("helm", [entry(1, 1, stats=[stat("x", 1) | {"count": "y"}])], "stats, record 1: 'count'"),
        ("helm", b'[{"instance_id": 1, "stats": [], "stats": []}]', "line 1: 'stats' is twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(name, data, problem):
    with pytest.raises(ReadError, match=problem):
        load(name, data)


def test_a_folder_of_tasks_is_one_evaluation(tmp_path):
    for task, scores in (("law", {1: 1, 2: 0}), ("art", {1: 1})):
        path = tmp_path / f"samples_{task}_2026-11-20T23-12-38.762840.jsonl"
        path.write_bytes(made.lm_eval(scores).data)
    path = "2026-11-20T23-14-34-00-00_af-nextword_7mZp3DEZtEAmHubdvWLfuW.eval"
    assert harnesses.task_of(harnesses.Path(path)) == "af-nextword"
    path = "runs/mmlu:subject=law,model=x_y/per_instance_stats.json"
    assert harnesses.task_of(harnesses.Path(path)) == "mmlu:subject=law"
    found = harnesses.files_of(tmp_path)
    assert [harnesses.task_of(path) for path in found] == ["art", "law"]
    tasks = {harnesses.task_of(x): load("lm_eval", File.load(x))[0] for x in found}
    one = joined(tasks, tmp_path)
    assert one.ids == ["art: d1", "law: d1", "law: d2"]
    assert (one.scores, one.swapped) == ({"acc,none": [1, 1, 0]}, None)
    assert (one.clusters["task"], one.agree["target"]) == (["art", "law", "law"], ["1", "1", "2"])
    assert one.place(1) == f"{found[1].name}, line 1"
    (tmp_path / "samples_law_2025-11-20T23-12-38.762840.jsonl").touch()
    with pytest.raises(ReadError, match=r"2 runs of the task 'law' \(samples_law_2025"):
        harnesses.files_of(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match="this is a folder without output of an evaluation"):
        harnesses.files_of(tmp_path / "empty")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
@pytest.mark.parametrize("summaries", [4, 3, 0])
def test_an_archive_holds_what_the_json_does(method, summaries):
    samples = [sample(i, "CIPN"[i]) for i in (3, 0, 2, 1)]
    parts = made.eval_parts(samples) | {"summaries.json": samples[:summaries]}
    (one,) = load("inspect_ai", made.archive(parts, method))
    (other,) = load("inspect_ai", made.inspect_json(samples))
    for name in ("system", "scores", "ids", "clusters", "agree", "texts", "notes"):
        assert getattr(one, name) == getattr(other, name)
    del parts["header.json"]  # as of a log that broke off
    (one,) = load("inspect_ai", made.archive(parts, method))
    assert "did not finish (started)" in one.notes[0]


HEADER = {"header.json": made.header(), "samples/x": b""}
PARTS = made.eval_parts([sample(1, 1)])


@pytest.mark.parametrize(
    ("problem", "parts", "method", "change"),
    [
        ("without header.json", {"old/header.json": b"{}", "samples/x": b""}, 0, bytes),
        ("holds no record", HEADER, 93, bytes),
        ("is a damaged archive", PARTS, 93, lambda data: data[:-30]),
        ("header.json: is damaged .*Recursion", HEADER | {"header.json": b"[" * 10**5}, 93, bytes),
        ("header.json: is damaged .*CRC", PARTS, 0, lambda data: data.replace(b"sums", b"sumx")),
        ("compressed with method 12", HEADER, zipfile.ZIP_BZIP2, bytes),
    ],
)
def test_damaged_archives_are_refused(problem, parts, method, change):
    with pytest.raises(ReadError, match=problem):
        load("inspect_ai", change(made.archive(parts, method).data), path="a.eval")


def test_bombs_are_refused(monkeypatch):
    parts = HEADER | {"summaries.json": b"[" + b" " * 10**7 + b"]"}
    monkeypatch.setattr(files, "MEMORY", 10**7)
    for method in (8, 93):
        data = made.archive(parts, method).data
        with pytest.raises(ReadError, match=r"summaries.json: reading it may take"):
            load("inspect_ai", data, path="a.eval")
        at = data.rindex(struct.pack("<I", 10**7 + 2))  # in the list of the members
        data = data[:at] + struct.pack("<I", 1000) + data[at + 4 :]
        with pytest.raises(ReadError, match=r"summaries.json: is damaged"):
            load("inspect_ai", data, path="a.eval")


def test_the_format_that_contributing_describes_reads_a_file():
    text = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    names = vars(harnesses) | {"MYKIT": None}
    exec(textwrap.dedent(re.search(r" +MYKIT = Harness\(.*?\n    \)\n", text, re.DOTALL)[0]), names)
    cases = [{"case": f"c{i}", "passed": i > 0, "score": i / 2} for i in range(3)]
    log = {"mykit": {"version": 1, "model": "new"}, "cases": cases}
    file = File("new.json", json.dumps(log).encode())
    assert names["MYKIT"].recognises(file)
    (found,) = names["MYKIT"].load(file)
    assert (found.system, list(found.ids)) == ("new", ["c0", "c1", "c2"])
    assert {name: list(map(float, x)) for name, x in found.scores.items()} == {
        "passed": [0, 1, 1],
        "score": [0, 0.5, 1],
    }
