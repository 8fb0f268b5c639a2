"""Advice: the manual's table as it is printed, and what is measured where the rule is "exact"."""

import json
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchmarks.calibration import beside
from permtest.alternatives.registry import OF_COUNTS, TITLES
from permtest.study import recommend
from permtest.study.recommend import measured_rates

ROOM = import_module("permtest.study.recommend")
rng = np.random.default_rng(12)
NORMAL = rng.normal(size=200).round(3)
FLAT = rng.uniform(-1, 1, 200).round(3)
SKEWED = rng.exponential(size=200).round(3)
LAPLACE = np.concatenate([0.2 + SKEWED[:75], 0.2 - SKEWED[:75]]).round(3)
scores = st.integers(-4, 4)


def of(differences, **options):
    return cached(tuple(differences), **options)


@cache
def cached(differences, **options):
    return recommend(differences, [0] * len(differences), **options)


def where(found, *tests):
    return [next(which for which in found.lists if x in found.names(which)) for x in tests]


def reason(found, test):
    return next(e.reason for entries in found.lists.values() for e in entries if e.test == test)


BY_MEAN = {"exact", "permutation_median", "bootstrap_mean", "bootstrap_median"}


@pytest.mark.parametrize(
    ("differences", "recommended", "non_preferred", "inappropriate"),
    [
        (NORMAL, {"paired_t"}, {"sign", "wilcoxon", *BY_MEAN}, set()),
        (FLAT, {"wilcoxon"}, {"sign", *BY_MEAN}, {"paired_t"}),
        (SKEWED, {"sign"}, {"permutation_median", "bootstrap_median"}, {"paired_t", "wilcoxon"}),
    ],
)
def test_the_table_of_the_manual(differences, recommended, non_preferred, inappropriate):
    found = of(differences, rule="manual")
    assert set(found.names()) == recommended
    assert set(found.names("non_preferred")) == non_preferred
    assert set(found.names("inappropriate")) == inappropriate
    assert (found.rates, found.samples) == ({}, 0)
    assert {row["level"] for row in found.rows()} == {None}


@patch.object(ROOM, "SAMPLES", 50)  # to be quick
@patch.object(ROOM, "RESAMPLED", 3)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40), st.booleans())
def test_every_test_is_in_one_list_with_a_reason(rows, binary):
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    if binary:
        a, b = a > 0, b > 0
    found = recommend(a, b)
    entries = [entry for entries in found.lists.values() for entry in entries]
    of_counts = set() if np.isin([a, b], (0, 1)).all() else set(OF_COUNTS)
    assert sorted(entry.test for entry in entries) == sorted(set(TITLES) - of_counts)
    assert all(entry.reason and entry.title == TITLES[entry.test] for entry in entries)
    assert where(found, "exact") == ["recommended"]
    assert "nan" not in str(found)
    assert all(0 <= rate <= 1 for rates in found.rates.values() for rate in rates)


@pytest.mark.parametrize("differences", [NORMAL, SKEWED - SKEWED.mean(), NORMAL[:12], LAPLACE])
@pytest.mark.parametrize(("estimand", "recommended"), [("mean", "exact"), ("median", "sign")])
def test_one_test_of_the_estimand_is_recommended(differences, estimand, recommended):
    found = of(np.round(differences, 3), estimand=estimand)
    assert found.names() == [recommended]
    assert f"Recommended, for a claim about the {estimand}: {TITLES[recommended]}." in str(found)
    assert set(found.rates) >= {"exact", "bootstrap_mean", "paired_t", "normal_z", "sign"}


def test_intervals_of_rates_are_about_the_population():
    found = of(NORMAL[:30])
    for test, rates in found.rates.items():
        for rate, (low, high) in zip(rates, found.intervals[test], strict=True):
            assert 0 <= low <= rate <= high <= 1
            ends = binomtest(round(rate * found.samples), found.samples).proportion_ci(0.95)
            assert high - low > ends.high - ends.low
    rows = {row["test"]: row for row in found.rows()}
    assert rows["exact"]["power_interval"] == [*found.intervals["exact"][1]]
    assert rows["wilcoxon"]["level"] == found.rates["wilcoxon"][0]
    assert "of samples like these without an effect (95% interval " in reason(found, "exact")


def test_intervals_of_rates_hold_those_of_the_population_more_often_than_simulation_alone():
    section = beside.advice(12, beside.POPULATIONS[:1], 2000)
    for row in section.text.splitlines()[-3:]:
        _, simulated, printed, _, alone, wide = map(float, row.split("|")[2:8])
        assert printed >= max(simulated, 0.75)
        assert alone < 0.6 < wide


@pytest.mark.parametrize(("n", "level"), [(20, 0.163), (100, 0.075)])
def test_the_level_of_the_exact_test_depends_on_skewness_and_size(n, level):
    """Differences 0 (70 %), 1 (25 %) and -5 (5 %): their mean is 0."""
    d = np.repeat([0, 1, -5], [n * 7 // 10, n // 4, n // 20])
    found = measured_rates(d, 1, ["exact", "bootstrap_mean", "paired_t"], samples=4000)
    error = 4 * (level * (1 - level) / 4000) ** 0.5
    assert found["exact"][0] == pytest.approx(level, abs=error)
    if n == 100:
        assert found["bootstrap_mean"][0] < 0.058 < found["exact"][0]


def test_few_pairs_do_not_speak_for_normal_theory():
    found = recommend([5, 6, 7, 8, 9], [4] * 5)
    assert found.description.normal
    assert found.names() == ["exact"]
    assert where(found, "paired_t", "normal_z") == ["inappropriate"] * 2
    assert "p cannot fall below 0.0625" in reason(found, "exact")
    assert "5 pairs like these cannot show that it holds its level" in reason(found, "paired_t")


@pytest.mark.parametrize(("low", "which"), [(0.054, "non_preferred"), (0.056, "inappropriate")])
def test_a_level_is_judged_by_its_interval(low, which):
    """Above 1.1 alpha, beyond doubt."""
    tests = ("exact", "normal_z", "bootstrap_mean", "sign", "wilcoxon", "paired_t")
    rates = dict.fromkeys(tests, (0.07, 0.5))
    ends = dict.fromkeys(tests, ((0.04, 0.09), (0.3, 0.7))) | {"paired_t": ((low, 0.1), (0.3, 0.7))}
    with (
        patch.object(ROOM, "measured_rates", return_value=rates),
        patch.object(ROOM, "rate_intervals", return_value=ends),
    ):
        assert where(recommend(NORMAL, 0 * NORMAL), "paired_t") == [which]


def test_binary_scores():
    a = np.repeat([1, 1, 0, 0], [60, 30, 15, 40])
    b = np.repeat([1, 0, 1, 0], [60, 30, 15, 40])
    found = recommend(a, b)
    assert found.names() == ["exact"]
    assert found.rates["mcnemar"] == found.rates["exact"] == found.rates["sign"]
    assert found.rates["exact"][0] <= found.rates["mcnemar_midp"][0] < 0.065
    assert where(found, "mcnemar_chi2") == ["non_preferred"]
    unpaired = "two_proportion_z", "chi_squared", "chi_squared_yates"
    assert where(found, *unpaired) == ["inappropriate"] * 3, "r12 is above 0.3"
    assert where(found, "permutation_median") == ["inappropriate"]
    few = recommend([1, 1, 1, 0], [0, 0, 1, 1])
    assert where(few, "mcnemar_chi2", "paired_t") == ["inappropriate"] * 2


@pytest.mark.parametrize("differences", [[0, 0, 0], [2, 2, 2], [2]])
def test_differences_that_do_not_vary(differences):
    found = recommend([x + 5 for x in differences], [5] * len(differences))
    assert where(found, "paired_t", "normal_z") == ["inappropriate"] * 2
    assert found.rates == {}


def test_what_a_recommendation_says():
    found = recommend(NORMAL, FLAT, names=("crf", "<hmm>"))
    shown = json.loads(found.to_json())
    assert (shown["tests"][0]["test"], shown["rule"]) == ("exact", "exact")
    with pytest.raises(ValueError, match="rule='best' is not known"):
        recommend(NORMAL, FLAT, rule="best")
    with pytest.raises(ValueError, match="estimand='mode' is not known"):
        recommend(NORMAL, FLAT, estimand="mode")
    with pytest.raises(ValueError, match="median of differences of scores of 0 and 1"):
        recommend([1, 0], [0, 1], estimand="median")
