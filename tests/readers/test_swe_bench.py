"""Reports of SWE-bench: what is absent failed, and what must be known for that."""

import json

import pytest

from permtest import exact_perm_test
from permtest.readers import ReadError, read
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from permtest.readers.swe_bench import FORMAT, ids_of, load
from tests.readers.made import swe_bench

GOLD = File("ids.txt", b"instance_id\nx-1\nx-2\n\nx-3\nx-4\n")


def report(path="2026_model/results/results.json", **lists):
    return File(path, json.dumps(lists).encode())


def leaderboard(name, resolved, **lists):
    return report(f"{name}/results/results.json", no_generation=[], resolved=resolved, **lists)


def test_absent_is_failed():
    (one,) = load(leaderboard("a", ["x-3", "x-1"]), GOLD)
    assert one.ids == ["x-1", "x-2", "x-3", "x-4"]
    assert one.scores == {"resolved": [1, 0, 1, 0]}
    assert (one.system, one.notes) == ("a", ())


@pytest.mark.parametrize(
    "gold",
    [
        b'["x-1", "x-2", "x-3", "x-4"]',
        b'[{"instance_id": "x-1"}, {"instance_id": "x-2"}, "x-3", "x-4"]',
        b'{"instance_id": "x-1"}\n{"instance_id": "x-2"}\n{"instance_id": "x-3"}\n'
        b'{"instance_id": "x-4"}\n',
        b"x-1\r\nx-2\r\nx-3\r\nx-4",
    ],
)
def test_the_list_of_ids_has_several_forms(gold):
    (one,) = load(leaderboard("a", ["x-4"]), File("gold", gold))
    assert one.ids == ["x-1", "x-2", "x-3", "x-4"]


def test_a_list_of_what_was_resolved_is_not_enough():
    with pytest.raises(ReadError, match=r"and not all that was tried; give the full list .* gold"):
        load(leaderboard("a", ["x-1"]))


def test_without_a_list_all_ids_that_are_named_make_one():
    files = leaderboard("a", ["x-1", "x-2", "x-3"]), leaderboard("b", ["x-2"], no_logs=["x-4"])
    gold = ids_of(files)
    assert gold.data.decode().split() == ["x-1", "x-2", "x-3", "x-4"]
    full = File("ids", b"\n".join(b"x-%d" % i for i in range(100)))
    for ids in (gold, full):
        both = tuple(load(file, ids)[0] for file in files)
        pairs = ItemEvaluation(FORMAT, both).pairs()
        assert (pairs.u.sum(), pairs.v.sum()) == (3, 1)
        assert exact_perm_test(pairs).pvalue == 0.5


def test_the_report_of_the_harness_is_complete():
    (one,) = load(swe_bench({1: 1, 2: 0, 3: 1}, "gpt"))
    assert one.system == "gpt"
    assert one.scores == {"resolved": [1, 0, 1]}
    assert one.notes == ()
    lists = {"completed_ids": ["a", "b"], "resolved_ids": ["b"], "submitted_ids": ["a", "b", "z"]}
    (one,) = load(report("m.run.json", **lists, incomplete_ids=["c"], error_ids=["d"]))
    assert (one.ids, one.system) == (["a", "b", "d", "c"], "m.run")
    (one,) = load(report("m.run.json", **lists), File("gold", b"b\ne"))
    assert (one.ids, one.scores) == (["b", "e"], {"resolved": [1, 0]})
    assert one.notes == (
        "1 ids of m.run.json are not in the list, and left out (the first is 'a')",
    )


def test_details_of_each_id():
    details = {"x-1": {"cost": 0.5, "resolved": True}, "x-2": {"resolved": False}}
    file = report("runs/m/per_instance_details.json", **details)
    assert FORMAT.recognises(file)
    (one,) = load(file)
    assert (one.ids, one.scores, one.system) == (["x-1", "x-2"], {"resolved": [1, 0]}, "m")
    with pytest.raises(ReadError, match=r"the report, 'x-2': 'resolved' is missing, but must be"):
        load(report(**details | {"x-2": {}}))


@pytest.mark.parametrize(
    ("lists", "problem"),
    [
        ({"resolved": ["x-1", "x-1"]}, "'resolved', entry 2 is 'x-1', and so is entry 1"),
        ({"resolved": ["x-1", None]}, "'resolved', entry 2 is null, but an id is a text"),
        ({"resolved": ["y-1"]}, "resolved 'y-1', which is not in ids.txt"),
        ({"resolved": ["x-1"], "no_logs": ["x-1"]}, "'x-1' is in resolved and in no_logs"),
        ({"resolved": ["x" * 2000]}, "but an id is a text of 1 to 1000 characters"),
        ({"resolved": ["x-1"], "no_logs": {}}, "'no_logs' is an object, but must be an array"),
    ],
)
def test_ids_are_checked(lists, problem):
    with pytest.raises(ReadError, match=problem):
        load(report(**lists), GOLD)


def test_the_list_of_ids_is_checked():
    for gold, problem in [
        (b"x-1\nx-1\n", r"gold, the list of ids: line 2 is 'x-1', and so is entry 1"),
        (b"[1]", r"gold, the list of ids: entry 1 is the number 1"),
        (b'[{"id": "x"}]', r"gold, entry 1: 'instance_id' is missing"),
    ]:
        with pytest.raises(ReadError, match=problem):
            load(leaderboard("a", ["x-1"]), File("gold", gold))


def test_the_system_is_called_by_its_folder():
    assert load(report("results/results.json", resolved=[]), GOLD)[0].system == "results"
    assert load(report("results.json", resolved=[]), GOLD)[0].system == "results"


def test_a_list_of_ids_that_nobody_gave_is_owned_up_to():
    pairs = read(leaderboard("a", ["x-1", "x-2"]), leaderboard("b", ["x-3"]))
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([1, 1, 0], [0, 0, 1])
    assert "there is no list of all ids (--gold)" in pairs.source["notes"][0]
    known = read(leaderboard("a", ["x-1", "x-2"]), leaderboard("b", ["x-3"]), gold=GOLD)
    assert (len(known), known.source["notes"]) == (4, [])
    assert known.source["gold"] == {"file": GOLD.name, "sha256": GOLD.sha256}
    assert exact_perm_test(pairs).pvalue == exact_perm_test(known).pvalue
