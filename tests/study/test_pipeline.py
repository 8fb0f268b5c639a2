"""A study finds what its stages find, says so, and finds it again."""

import json
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest

import permtest as pt
from permtest.alternatives.compare import compare_all
from permtest.alternatives.names import OF_COUNTS
from permtest.pairs import Pairs
from permtest.study import cohen_d, hodges_lehmann
from permtest.study.config import StudyConfig
from permtest.study.describe import describe
from permtest.study.options import TESTS
from permtest.study.pipeline import Study, run_study
from permtest.study.plan import sample_size
from permtest.study.units import evaluation_units

NEW = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9]
OLD = [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
QUICK = {"power": {"experiments": 20, "sizes": 2}, "significance": {"K": 99}}


def config(**sections: dict) -> StudyConfig:
    """A quick one, with options of some sections."""
    merged = {key: QUICK.get(key, {}) | sections.get(key, {}) for key in QUICK.keys() | sections}
    return StudyConfig.from_dict(merged)


@pytest.fixture(scope="module")
def study() -> Study:
    return run_study(NEW, OLD, config(), names=("new", "old"))


# ---- the stages --------------------------------------------------------------------------------


def test_stages_are_those_functions(study):
    assert study.exact.pvalue == pt.exact_perm_test(NEW, OLD).pvalue
    assert study.exact.fraction() == study.answers["exact"].result.pvalue
    assert study.description.difference.mean == describe(NEW, OLD).difference.mean
    assert study.effects[0].value == cohen_d(NEW, OLD).value
    assert study.effects[3].value == hodges_lehmann(NEW, OLD).value
    d = np.subtract(NEW, OLD)
    assert study.prospective == sample_size(d.mean(), d.std(ddof=1))
    assert (study.n_items, study.n, study.names) == (12, 12, ("new", "old"))
    assert study.power.sizes == (6, 12)
    assert study.problems == {}


def test_decisions_are_p_against_alpha(study):
    for answer in study.answers:
        assert study.decisions()[answer.test] == (answer.result.pvalue <= 0.05)
    at_p = config(significance={"alpha": study.exact.pvalue})
    assert run_study(NEW, OLD, at_p).decisions()["exact"] is True


def test_a_study_does_not_change(study):
    with pytest.raises(FrozenInstanceError):
        study.n_items = 3


def test_pairs_are_taken_as_they_are():
    pairs = Pairs(NEW, OLD, ("x", "y"))
    assert run_study(pairs, config=config()).names == ("x", "y")
    named = config(data={"names": ["p", "q"]})
    assert run_study(pairs, config=named).names == ("p", "q")
    assert run_study(NEW, OLD, named, names=("r", "s")).names == ("r", "s")


@pytest.mark.parametrize("metric", ["mean", "median"])
def test_units_are_tested_in_place_of_items(metric):
    chosen = config(units={"size": 5, "metric": metric, "shuffle": 4, "remainder": "drop"})
    found = run_study(NEW, OLD, chosen)
    units = evaluation_units(NEW, OLD, 5, metric=metric, rng=4, remainder="drop")
    assert found.units.left_out.tolist() == units.left_out.tolist()
    assert found.exact.pvalue == pt.exact_perm_test(units.pairs).pvalue
    assert found.description.n == 2
    assert f"2 units of 5 items, the {metric} of each; 2 items left out" in str(found)
    assert "2 evaluation units" in found.sentence()


def test_units_that_leave_items_over_are_refused():
    with pytest.raises(ValueError, match="size=5 leaves 2 of 12 items over"):
        run_study(NEW, OLD, config(units={"size": 5}))


@pytest.mark.parametrize("delta", [0.3, -0.25, 2.0])
def test_a_difference_under_the_null_hypothesis(delta):
    chosen = config(significance={"delta": delta, "alternative": "greater"})
    found = run_study(NEW, OLD, chosen, names=("new", "old"))
    shifted = [x - Fraction(str(delta)) for x in NEW]
    expected = pt.exact_perm_test(shifted, OLD, alternative="greater")
    assert found.exact.pvalue == found.answers["exact"].result.pvalue == expected.pvalue
    assert found.exact.names[1].startswith("old ")
    assert {answer.test for answer in found.answers}.isdisjoint(OF_COUNTS)
    beyond, deviation = found.planned()
    assert beyond == pytest.approx(np.subtract(NEW, OLD).mean() - delta)
    assert deviation == found.description.difference.sd


def test_tests_are_chosen_by_name_or_by_recommendation():
    some = run_study(NEW, OLD, config(significance={"tests": ["sign", "wilcoxon"]}))
    assert [answer.test for answer in some.answers] == ["exact", "sign", "wilcoxon"]
    suited = run_study(NEW, OLD, config(significance={"tests": "recommended"}))
    names = suited.recommendation.names()
    assert [answer.test for answer in suited.answers] == ["exact", *set(names) - {"exact"}]
    with pytest.raises(ValueError, match="'mcnemar' does not apply here"):
        run_study(NEW, OLD, config(significance={"tests": ["mcnemar"]}))


ANSWERS = [1, 0, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 1, 0, 1, 0]


def test_recommended_tests_of_counts_need_counts():
    recommended = {"tests": "recommended"}
    plain = run_study(*ANSWERS, config(significance=recommended))
    assert plain.decisions().keys() == {"exact", "mcnemar"}
    threshold = run_study(*ANSWERS, config(significance=recommended | {"delta": 0.1}))
    assert threshold.decisions().keys() == {"exact"}
    everything = run_study(*ANSWERS, config())
    assert everything.decisions().keys() == set(TESTS)


def test_power_can_be_asked_for_another_difference_and_law():
    options = {"sizes": [10, 40], "method": "normal", "delta": 0.0, "experiments": 400}
    chosen = config(power=options, significance={"delta": 0.5, "alternative": "less"})
    curve = run_study(NEW, OLD, chosen).power
    # the truth is 0, and the null hypothesis 0.5: "less" is right
    assert curve.sizes == (10, 40)
    assert curve.power[1] > 0.5
    assert (curve.method, curve.delta) == ("normal", -0.5)


# ---- what the data are unfit for ---------------------------------------------------------------

UNFIT = {
    "one pair": ([1], [0], {"unit_sizes", "effects", "prospective"}),
    "no difference": ([1, 1, 1], [1, 1, 1], {"effects", "prospective"}),
    "one difference": ([2, 2, 2], [1, 1, 1], {"effects", "prospective"}),
}


@pytest.mark.parametrize(("a", "b", "stages"), UNFIT.values(), ids=UNFIT)
def test_a_stage_that_cannot_be_made_says_why(a, b, stages):
    found = run_study(a, b, config())
    assert found.problems.keys() == stages
    text = " ".join(str(found).split())
    for why in found.problems.values():
        assert f"Not everything could be computed: {why}." in text
    json.loads(found.to_json(), parse_constant=pytest.fail)


def test_a_direction_that_contradicts_the_scores():
    found = run_study(NEW, OLD, config(significance={"alternative": "less"}))
    assert found.prospective is None
    assert "wrong sign for alternative='less'" in found.problems["prospective"]
    planned = config(significance={"alternative": "less"}, prospective={"delta": -1, "sigma": 2})
    assert run_study(NEW, OLD, planned).prospective == sample_size(-1, 2, alternative="less")


def test_nothing_but_tests():
    found = run_study(NEW, OLD, config(effects={"estimators": []}, power={"sizes": 0}))
    assert (found.effects, found.power, found.problems) == ((), None, {})
    assert "No power analysis was asked for." in str(found)


@pytest.mark.parametrize(("a", "b"), [([1, 2], [1]), (["x"], [1]), ([], []), ([1], None)])
def test_what_is_no_pairs_of_scores_is_refused(a, b):
    with pytest.raises((TypeError, ValueError)):
        run_study(a, b, config())


# ---- the same again ----------------------------------------------------------------------------


def test_the_same_study_again(study):
    again = run_study(NEW, OLD, config(), names=("new", "old"))
    assert again.to_json() == study.to_json()
    assert str(again) == str(study)


def test_the_seed_matters_to_samples_alone(study):
    other = run_study(NEW, OLD, replace(config(), seed=1), names=("new", "old"))
    differ = {
        answer.test
        for answer in study.answers
        if answer.result.pvalue != other.answers[answer.test].result.pvalue
    }
    assert differ
    assert all("bootstrap" in test for test in differ)


def test_stages_have_streams_of_their_own():
    """Without the bootstrap tests, the power analysis draws the same."""
    few = config(significance={"tests": ["sign"]})
    assert run_study(NEW, OLD, few).power == run_study(NEW, OLD, config()).power


def test_power_is_that_of_the_seed(study):
    table = compare_all(NEW, OLD, K=99, rng=np.random.default_rng([0, 1]))
    for test in ("bootstrap_mean", "paired_bootstrap"):
        assert study.answers[test].result.pvalue == table[test].result.pvalue


# ---- as text and as JSON -----------------------------------------------------------------------


def test_one_sentence_for_a_paper(study):
    text = study.sentence()
    assert text.count(". ") == 0
    assert text.endswith(f"permtest {pt.__version__}).")
    p = study.exact.pvalue_text()
    assert f"(p = {p}, exact two-sided paired-permutation test; Cohen's d" in text
    assert "On 12 items, the mean difference of new over old is 1.25 (95% interval 0.25 to" in text
    assert "the null hypothesis of no difference is rejected at the level 0.05" in text
    reverse = run_study(OLD, NEW, config(significance={"alternative": "greater"}))
    assert "is not rejected at the level 0.05" in reverse.sentence()
    assert "or more; higher taken as better)" in reverse.sentence()


def test_sentence_of_a_threshold():
    found = run_study(NEW, OLD, config(significance={"delta": 1}), names=("new", "old"))
    assert "the null hypothesis of no difference beyond one of 1 is" in found.sentence()


def test_text_has_all_chapters_in_order_and_fits_a_page(study):
    text = str(study)
    heads = [chapter.title.upper() for chapter in study.chapters()]
    places = [text.index(f"\n{head}\n") for head in heads]
    assert heads[0] == "DATA"
    assert heads[-1] == "HOW TO REPEAT THIS"
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 105


def test_json_has_everything_but_times(study):
    found = json.loads(study.to_json(), parse_constant=pytest.fail)
    assert found["config"] == study.config.to_dict()
    assert found["exact"]["pvalue"] == study.exact.pvalue
    assert found["answers"]["answers"][0]["rejects"] is True
    assert found["power"]["power"] == list(study.power.power)
    assert found["prospective"] == study.prospective
    assert found["provenance"]["versions"]["permtest"] == pt.__version__
    assert '"seconds"' not in study.to_json()


def test_intervals_are_of_the_level_that_was_asked_for():
    found = run_study(NEW, OLD, config(effects={"confidence_level": 0.8}))
    low, high = found.to_dict()["effects"][0]["interval"]
    assert (low, high) == tuple(cohen_d(NEW, OLD).confidence_interval(0.8))
    assert found.answers.confidence_level == 0.8
    assert "80% interval" in str(found)


def test_provenance_tells_scores_apart(study):
    other = run_study([*NEW[:-1], 8], OLD, config())
    key = "scores_sha256"
    assert other.provenance[key] != study.provenance[key]
    halves = run_study([x / 2 for x in NEW], [x / 2 for x in OLD], config())
    assert halves.provenance[key] != study.provenance[key]
    assert halves.exact.pvalue == study.exact.pvalue
