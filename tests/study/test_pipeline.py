"""A study is an overview with a plan: it finds what its parts find, and finds it again."""

import dataclasses
import json
import re
from fractions import Fraction

import numpy as np
import pytest
import yaml

import permtest as pt
from permtest.alternatives.answer import OF_COUNTS, TITLES
from permtest.pairs import Pairs
from permtest.study import (
    Overview,
    StudyConfig,
    evaluation_units,
    overview,
    run_study,
)
from permtest.study.overview import OF_ORDER

NEW = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9]
OLD = [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
QUICK = {"power_experiments": 20, "power_sizes": 2, "K": 99}
ANSWERS = [1, 0, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 1, 0, 1, 0]


def config(**options) -> StudyConfig:
    """A quick one."""
    return StudyConfig.from_dict(QUICK | options)


@pytest.fixture(scope="module")
def study() -> Overview:
    return run_study(NEW, OLD, config(), names=("new", "old"))


# ---- what it finds -----------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [(NEW, OLD), ANSWERS])
def test_a_study_says_what_an_overview_says(pair):
    """The tests, the effects and the size of the next study come from one function."""
    names = ("new", "old")
    study, found = run_study(*pair, config(), names=names), overview(Pairs.of(*pair, names))
    shared = study.parts.keys() & found.parts.keys()
    assert shared > {"finding", "test", "items", "effects", "power"}
    for key in shared - {"answers", "data"}:
        assert str(study[key]) == str(found[key])


@pytest.mark.parametrize("metric", ["mean", "median"])
def test_units_are_tested_in_place_of_items(metric):
    chosen = config(unit_size=5, unit_metric=metric, unit_shuffle=4, unit_remainder="drop")
    found = run_study(NEW, OLD, chosen)
    units = evaluation_units(NEW, OLD, 5, metric=metric, rng=4, remainder="drop")
    assert found.made.left_out.tolist() == units.left_out.tolist()
    assert found.exact.pvalue == pt.exact_perm_test(units.pairs).pvalue
    assert found.description.n == 2
    assert f"2 units of 5 items, the {metric} of each; 2 items left out" in str(found)
    assert "2 evaluation units" in found.sentence()


@pytest.mark.parametrize("delta", [0.3, -0.25, 2.0])
def test_a_difference_under_the_null_hypothesis(delta):
    found = run_study(NEW, OLD, config(delta=delta, alternative="greater"), names=("new", "old"))
    shifted = [x - Fraction(str(delta)) for x in NEW]
    expected = pt.exact_perm_test(shifted, OLD, alternative="greater")
    assert found.exact.pvalue == found.answers["exact"].result.pvalue == expected.pvalue
    assert found.exact.names[1].startswith("old ")
    assert found.difference == pytest.approx(np.mean(NEW) - np.mean(OLD))
    assert found.scores == pytest.approx((np.mean(NEW), np.mean(OLD)))
    assert {answer.test for answer in found.answers}.isdisjoint(OF_COUNTS)
    assert f"the hypothesis that new is ahead by {delta:g}" in found.sentence()


def test_tests_are_chosen_by_name():
    some = run_study(NEW, OLD, config(tests=["sign", "wilcoxon"]))
    assert [answer.test for answer in some.answers] == ["exact", "sign", "wilcoxon"]
    with pytest.raises(ValueError, match="'mcnemar' does not apply here"):
        run_study(NEW, OLD, config(tests=["mcnemar"]))
    assert run_study(*ANSWERS, config()).decisions().keys() == set(TITLES) - set(OF_ORDER)


def test_power_can_be_asked_for_another_law_and_is_that_of_a_threshold():
    more = {"power_sizes": [10, 40], "power_method": "normal", "alternative": "less"}
    curve = run_study(NEW, OLD, config(**more, power_experiments=400, delta=2.0)).curve
    assert (curve.sizes, curve.method, curve.delta) == ((10, 40), "normal", -0.75)
    assert curve.power[1] > 0.5


def test_counts_are_studied_by_their_measure(tmp_path):
    tables = [
        [[3, 0, 0], [2, 1, 0], [0, 1, 1], [4, 0, 1]],
        [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]],
    ]
    pairs = Pairs.of_counts(*tables, [("tp", "fp", "fn")], ("new", "old"))
    found = run_study(pairs, config=config(statistic="f1", K=10_000))
    other = overview(pairs, statistic="f1")
    assert found.exact.pvalue == other.exact.pvalue
    keys = ["finding", "data", "test", "items", "answers", "measures", "power"]
    keys += ["repeat", "cite"]
    assert list(found.parts) == keys
    assert "are left out" in found["data"].sentence
    path = tmp_path / "study.yml"
    path.write_text(found.attachments["study.yml"])
    assert run_study(pairs, config=StudyConfig.from_yaml(path)).to_json() == found.to_json()
    with pytest.raises(ValueError, match="unit_size=2 must be 1: counts are compared as they are"):
        run_study(pairs, config=config(statistic="f1", unit_size=2))
    with pytest.raises(ValueError, match="statistic='f1x' is not known"):
        config(statistic="f1x")


def test_clusters_are_the_units():
    """A study of clustered items is one of the sums of clusters, on the scale of items."""
    clusters = tuple("aabbccddeeff")
    items = dataclasses.replace(Pairs.of(NEW, OLD), clusters=clusters, ids=tuple("abcdefghijkl"))
    found, sums = run_study(items, config=config()), items.by_cluster()
    assert found.exact.pvalue == pt.exact_perm_test(sums).pvalue
    assert found.exact.pvalue == found.answers["exact"].result.pvalue
    assert found.interval == overview(items).interval
    assert (found.description.n, found.power.n, found.curve.sizes[-1]) == (6, 6, 6)
    assert found.difference == pytest.approx(np.mean(NEW) - np.mean(OLD))
    assert found.most_different[0].id == "f"
    assert "12 items in 6 clusters" in found["units"].sentence
    for key in ("data", "assumptions", "recommendation"):  # which speak of what was compared
        assert "pairs" not in str(found[key]).replace("of pairs", "")
    assert found.to_dict()["problems"] == {}
    alone = run_study(Pairs.of(NEW, OLD), config=config())
    digests = [one["repeat"].data["provenance"]["scores_sha256"] for one in (found, alone)]
    assert digests[0] != digests[1]
    threshold = run_study(items, config=config(delta=0.5))
    shifted = [x - 1 for x in np.add.reduceat(NEW, range(0, 12, 2)).tolist()]
    expected = pt.exact_perm_test(shifted, np.add.reduceat(OLD, range(0, 12, 2)).tolist())
    assert threshold.exact.pvalue == expected.pvalue
    assert threshold.exact.pvalue == threshold.answers["exact"].result.pvalue
    assert threshold.difference == pytest.approx(found.difference)
    assert threshold.interval == found.interval
    with pytest.raises(ValueError, match="unit_size=2 must be 1: the clusters are the units"):
        run_study(items, config=config(unit_size=2))


# ---- what the data are unfit for ---------------------------------------------------------------

UNFIT = {
    "one pair": ([2], [0], {"finding", "units", "power"}),
    "no difference": ([2, 2, 2], [2, 2, 2], {"finding", "power"}),
    "one difference": ([2, 2, 2], [1, 1, 1], {"finding", "power"}),
}


@pytest.mark.parametrize(("a", "b", "keys"), UNFIT.values(), ids=UNFIT)
def test_a_part_that_cannot_be_made_says_why(a, b, keys):
    found = run_study(a, b, config())
    problems = found.to_dict()["problems"]
    assert problems.keys() == keys
    text = " ".join(str(found).split())
    for why in problems.values():
        assert why.startswith("Not everything could be computed: ")
        assert why in text
    json.loads(found.to_json(), parse_constant=pytest.fail)


# ---- the same again ----------------------------------------------------------------------------


# ---- the configuration -------------------------------------------------------------------------

OTHER = {
    "seed": 7,
    "a": "new: <x>",
    "b": 2,
    "higher_is_better": False,
    "statistic": "f1",
    "alternative": "greater",
    "delta": -0.5,
    "alpha": 1e-05,
    "tests": ["sign", "wilcoxon"],
    "K": 99,
    "unit_size": 15,
    "unit_metric": "median",
    "unit_shuffle": 3,
    "unit_remainder": "drop",
    "unit_tolerance": 1e-05,
    "power_test": "paired_t",
    "power_method": "normal",
    "power_sizes": [20, 40],
    "power_experiments": 10,
    "plan_power": 0.9,
}


@pytest.mark.parametrize("values", [{}, OTHER], ids=["defaults", "others"])
def test_every_value_comes_back(tmp_path, values):
    chosen = StudyConfig.from_dict(values)
    assert StudyConfig.from_dict(chosen.to_dict()) == chosen
    path = tmp_path / "study.yml"
    path.write_text(chosen.to_yaml(), "utf-8")
    assert StudyConfig.from_yaml(path) == chosen
    assert not values or all(vars(chosen)[k] != vars(StudyConfig())[k] for k in vars(chosen))
    comment, _, rest = chosen.to_yaml().partition("\n\n")
    assert max(map(len, comment.splitlines())) <= 100
    assert all(name in comment for name in OTHER)  # each option is explained
    assert list(yaml.safe_load(rest)) == list(vars(chosen))
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.seed = 3


WRONG = [
    ({"sead": 3}, "sead: there is no such option; did you mean seed?"),
    ({"xyz": 3}, "xyz: there is no such option; there are seed, a, b"),
    ({"unit_size": "ten"}, "unit_size = 'ten' must be a whole number"),
    ({"seed": -1}, "seed = -1 is below 0"),
    ({"unit_metric": "mode"}, "unit_metric='mode' is not known; choose one of 'mean', 'median'"),
    ({"alpha": "5e-2"}, "alpha='5e-2' must be a number"),
    ({"tests": ["sgin"]}, "tests='sgin' is not known; choose one of 'exact'"),
    ({"tests": "sign"}, "tests='sign' must be a list of names"),
    ({"power_test": "sgin"}, "power_test='sgin' is not known"),
    ({"higher_is_better": "yes"}, "higher_is_better='yes' must be true or false"),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[text[:30] for _, text in WRONG])
def test_errors_name_the_option_and_what_is_allowed(values, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        StudyConfig.from_dict(values)


FILES = {
    "not a mapping": ("- seed\n", "must be a mapping"),
    "no YAML": ("seed: [1\n", "line 2"),
    "an object": ("seed: !!python/object/apply:os.getcwd []\n", "could not determine"),
    "an unknown option": ("units:\n  size: 15\n", "units: there is no such option"),
}


@pytest.mark.parametrize(("text", "message"), FILES.values(), ids=FILES)
def test_a_file_that_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "study.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        StudyConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_empty(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        StudyConfig.from_yaml(tmp_path / "none.yml")
    (tmp_path / "a.yml").write_bytes(b"\xef\xbb\xbf# nothing\n")
    assert StudyConfig.from_yaml(tmp_path / "a.yml") == StudyConfig()
