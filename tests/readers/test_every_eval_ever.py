"""Instances of Every Eval Ever: several evaluations, models and epochs in a file."""

import pytest

from permtest.readers import ReadError
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.every_eval_ever import FORMAT, load
from permtest.readers.files import File
from tests.readers.made import instance, lines


def of(*rows):
    return load(File("a_samples.jsonl", lines(rows)))


def test_a_sample_has_a_score_and_is_correct_or_not():
    (one,) = of(instance(1, 0.5), instance(2, 1))
    assert one.scores == {"score": [0.5, 1], "is_correct": [0, 1]}
    assert (one.system, one.paired_by, one.ids) == ("model", "sample_hash", ["h1", "h2"])
    assert one.agree == {"reference": ['["1"]', '["2"]']}
    assert one.texts == ["What is 1?", "What is 2?"]


def test_several_models_are_several_systems():
    rows = [instance(i, i % 2, model=name) for name in ("a/x", "b/y") for i in range(4)]
    found = of(*rows)
    assert [one.system for one in found] == ["a/x", "b/y"]
    pairs = ItemEvaluation(FORMAT, tuple(found)).pairs(score="score")
    assert pairs.u.tolist() == pairs.v.tolist() == [0, 1, 0, 1]
    with pytest.raises(ReadError, match="line 1001: more than 1000 models"):
        of(*(instance(1, 1, model=f"m{i}") for i in range(1001)))


def test_several_evaluations_of_a_sample_are_several_scores():
    names = ("gsm8k/strict", "gsm8k/flexible")
    (one,) = of(*(instance(i, k, evaluation_name=names[k]) for k in (0, 1) for i in (1, 2)))
    assert one.ids == ["h1", "h2"]
    assert one.scores["score,gsm8k/strict"] == [0, 0]
    assert one.scores["is_correct,gsm8k/flexible"] == [1, 1]
    assert list(one.clusters) == ["sample"]


def test_results_are_told_apart_by_their_id():
    rows = [instance(1, 0, evaluation_result_id="acc"), instance(1, 1, evaluation_result_id="f")]
    (one,) = of(*rows)
    assert one.scores["score,acc"] == [0]
    assert one.scores["score,f"] == [1]
    with pytest.raises(ReadError, match=r"line 2: the sample '1' again in the same .*\('acc'\)"):
        of(rows[0], rows[0])


def test_evaluations_of_other_samples_are_groups():
    (one,) = of(instance(1, 1, evaluation_name="law"), instance(2, 0, evaluation_name="art"))
    assert one.scores["score"] == [1, 0]
    assert one.clusters["evaluation"] == ["law", "art"]
    assert one.swapped is None


def test_epochs_are_swapped_with_their_sample():
    rows = [instance(i, 1, metadata={"epoch": e}) for e in "12" for i in (1, 2)]
    (one,) = of(*rows)
    assert one.ids == ["h1", "h2", "h1 (epoch 2)", "h2 (epoch 2)"]
    assert (one.swapped, one.clusters["sample"]) == ("sample", ["h1", "h2", "h1", "h2"])


def test_without_hashes_a_sample_is_known_by_its_id():
    (one,) = of(instance(1, 1, sample_hash=None), instance(2, 1))
    assert (one.paired_by, one.ids) == ("sample_id", ["1", "2"])
    (one,) = of(instance(1, 1), instance(2, 1, sample_hash="h1"))
    assert (one.paired_by, one.ids) == ("sample_hash", ["h1 (1)", "h1 (2)"])
    with pytest.raises(ReadError, match="line 1: 'sample_id' is null, but must be text"):
        of(instance(1, 1, sample_id=None))


def test_of_a_long_prompt_the_end_is_shown():
    (one,) = of(instance(1, 1, input={"raw": "An example. " * 100 + "What is 1?"}))
    assert one.texts[0].startswith("...")
    assert one.texts[0].endswith(" What is 1?")
    assert len(one.texts[0]) <= 300


def test_an_empty_array_holds_nothing():
    with pytest.raises(ReadError, match="holds no instance"):
        load(File("a.json", b"[]"))
