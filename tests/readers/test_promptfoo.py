"""Results of promptfoo: systems in one file, repeated tests, and calls that failed."""

import json
from decimal import Decimal

import pytest

from permtest.readers import ReadError
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from permtest.readers.promptfoo import FORMAT, load, recognises
from tests.readers.made import lines, promptfoo, promptfoo_of, result


def of(*results):
    return load(promptfoo_of(results))


def prompt(label):
    return {"prompt": {"raw": f"{label}: {{{{n}}}}", "label": label}}


def test_two_providers_in_one_file():
    found = of(*(result(i, int(i > s), s, "ab"[s]) for i in range(3) for s in (0, 1)))
    assert [one.system for one in found] == ["a", "b"]
    pairs = ItemEvaluation(FORMAT, tuple(found)).pairs(score="success")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([0, 1, 1], [0, 0, 1])
    assert pairs.ids == ("0", "1", "2")
    assert found[0].texts == ["0", "1", "2"]


def test_two_prompts_of_one_provider_are_two_systems():
    found = of(*(result(1, 1, s, **prompt("xy"[s])) for s in (0, 1)))
    assert [one.system for one in found] == ["model (x)", "model (y)"]
    found = of(result(1, 1, 0), result(1, 0, 1))
    assert [one.system for one in found] == ["model (ask) (0)", "model (ask) (1)"]
    labelled = {"provider": {"id": "x", "label": "tuned"}}
    assert of(result(1, 1) | labelled)[0].system == "tuned"
    names = [one.system for one in of(*(result(1, 1, s, "ab"[s]) for s in (0, 1)))]
    assert names == ["a", "b"]
    odd = [result(1, 1, 0, "a (ask) (2)"), result(1, 1, 1, "a"), result(1, 1, 2, "a")]
    assert len({one.system for one in of(*odd)}) == 3


def test_a_call_that_failed_counts_as_wrong():
    failed = {"error": "timeout", "failureReason": 2, "success": False, "score": 0}
    (one,) = of(result(1, 1, namedScores={"tone": 0.5}), result(2, 0) | failed)
    assert one.scores == {"score": [1, 0], "success": [1, 0], "tone": [0.5, None]}
    assert one.notes == ("1 calls of model failed and count as wrong, as in promptfoo",)
    (one,) = of(result(1, 1), result(2, None) | failed | {"score": None})
    assert one.scores["score"] == [1, 0]


def test_named_scores_keep_out_of_the_way():
    (one,) = of(result(1, 1, namedScores={"score": 0.5, "tone": 0.1}))
    assert one.scores == {
        "score": [1],
        "success": [1],
        "namedScores.score": [0.5],
        "tone": [Decimal("0.1")],
    }


def test_repeated_tests_are_swapped_together():
    rows = [result(i, 1) | {"testCase": {"vars": {"n": i % 2}}} for i in range(4)]
    (one,) = of(*rows)
    assert one.swapped == "variables"
    assert one.clusters == {"variables": ['{"n": 0}', '{"n": 1}'] * 2}
    (one,) = of(*(row | {"testCase": {}, "vars": {}} for row in rows))  # promptfoo stripped them
    assert (one.swapped, one.clusters) == (None, {"variables": ["0", "1", "2", "3"]})


def test_long_variables_differ_in_their_ends():
    rows = [result(i, 1) | {"testCase": {"vars": {"n": "x" * 5000 + str(i)}}} for i in (1, 2)]
    (one,) = of(*rows)
    assert one.swapped is None
    assert max(map(len, one.clusters["variables"])) < 400


def test_two_evaluations_must_have_the_same_tests():
    one, other = promptfoo({1: 1, 2: 0}, "a"), promptfoo({1: 1, 2: 1}, "b")
    both = (*load(one), *load(other))
    assert len(ItemEvaluation(FORMAT, both).pairs(score="score")) == 2
    moved = of(result(1, 1, provider="b", testCase={"vars": {"n": 9}}))
    with pytest.raises(ReadError, match=r"another variables \('\{\"n\": 9\}'\) than in"):
        ItemEvaluation(FORMAT, (both[0], *moved)).pairs(score="score")


def test_what_a_system_adds_to_the_variables_does_no_harm():
    rows = [result(1, 1, s, "ab"[s], testCase={"vars": {"n": 1, "out": s}}) for s in (0, 1)]
    assert len(ItemEvaluation(FORMAT, tuple(of(*rows))).pairs(score="score")) == 1


def test_results_must_be_told_apart():
    with pytest.raises(ReadError, match=r"result 2: the test of result 1 again, with the same"):
        of(result(1, 1), result(1, 1))
    with pytest.raises(ReadError, match=r"there is no testIdx to tell .* newer promptfoo"):
        of(result(None, 1))
    with pytest.raises(ReadError, match="more than 1000 combinations"):
        of(*(result(1, 1, s) for s in range(1001)))
    with pytest.raises(ReadError, match="holds no result"):
        of()


def test_other_shapes_of_the_file():
    rows = [result(1, 1), result(2, 0)]
    for data in (lines(rows), json.dumps({"version": 3, "results": rows}).encode()):
        file = File("x", data)
        assert recognises(file)
        assert load(file)[0].scores["score"] == [1, 0]
    text = result(1, 1) | {"provider": "openai:gpt", "prompt": "Hi"}
    assert of(text)[0].system == "openai:gpt"
