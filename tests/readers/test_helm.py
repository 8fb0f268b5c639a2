"""Per-instance statistics of HELM: perturbations, trials, and means that stay exact."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from permtest.readers import ReadError
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from permtest.readers.helm import FORMAT, load
from tests.readers.made import entry, helm, stat


def of(*entries, path="runs/qa:k=5,model=x_y/per_instance_stats.json"):
    return load(File(path, json.dumps(entries).encode()))[0]


def test_means_are_exact():
    stats = [
        stat("exact_match", 1),
        stat("f1", 2.0, 3),
        stat("time", 0.3, 2),
        stat("none", 0, 0),
        stat("one", 0.1),
        {"name": {"name": "mean"}, "mean": 0.25},
    ]
    one = of(entry(1, 1, stats=stats))
    assert {name: column[0] for name, column in one.scores.items()} == {
        "exact_match,test": 1,
        "f1,test": Fraction(2, 3),
        "time,test": Decimal("0.15"),
        "one,test": Decimal("0.1"),
        "mean": 0.25,
    }
    assert one.notes == ("left out, being no number for each item: none,test (no item has it)",)


def test_names_have_the_split_and_not_the_perturbation():
    changed = {"name": "typos", "prob": 0.5, "robustness": True}
    name = {"name": "em", "split": "valid", "sub_split": "toxic", "perturbation": changed}
    one = of(entry(1, 1, perturbation=changed, stats=[{"name": name, "count": 1, "sum": 1}]))
    assert list(one.scores) == ["em,valid,toxic"]
    assert one.ids == ['id1, typos {"prob": 0.5}']


def test_perturbations_and_trials_are_swapped_with_their_instance():
    typos = {"perturbation": {"name": "typos"}}
    one = of(entry(1, 1), entry(1, 0, **typos), entry(1, 1, trial=1), entry(2, 1))
    assert one.ids == ["id1", "id1, typos", "id1, trial 1", "id2"]
    assert (one.swapped, one.clusters) == ("instance", {"instance": ["id1"] * 3 + ["id2"]})
    plain = load(helm({1: 0, 2: 1}, "other"))[0]
    assert plain.swapped is None
    pairs = ItemEvaluation(FORMAT, (one, plain)).pairs()
    assert pairs.ids == pairs.clusters == ("id1", "id2")
    assert pairs.source["unmatched"] == [2, 0]


def test_entries_of_one_item_are_put_together():
    one = of(entry(1, 1), entry(2, 0), entry(1, 0, stats=[stat("bleu", 0.5)]))
    assert one.ids == ["id1", "id2"]
    assert one.scores == {"exact_match,test": [1, 0], "bleu,test": [0.5, None]}
    with pytest.raises(ReadError, match=r"entry 2, stat 1: two values of the score 'exact_match,"):
        of(entry(1, 1), entry(1, 0))


def test_the_model_is_in_the_name_of_the_folder():
    assert of(entry(1, 1)).system == "x_y"
    assert of(entry(1, 1), path="per_instance_stats.json").system == "per_instance_stats"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"count": -1}, "'count' is the number -1, but must be a whole number from 0 on"),
        ({"sum": [1]}, "'sum' is an array, but must be a number"),
        ({"name": None}, "'name' is missing, but must be text"),
        ({"name": {"name": 0.5}}, "'name' is the number 0.5"),
    ],
)
def test_stats_are_checked(more, problem):
    with pytest.raises(ReadError, match=rf"entry 1, stat 1.*: {problem}"):
        of(entry(1, 1, stats=[stat("x", 1) | more]))
