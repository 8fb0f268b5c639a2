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

from permtest.alternatives.answer import OF_COUNTS, TITLES
from permtest.study import recommend

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
    assert "level" not in found.section().tables[0].head


@patch.object(import_module("permtest.study.recommend"), "SAMPLES", 50)  # to be quick
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


@pytest.mark.parametrize(
    ("differences", "recommended"),
    [
        (NORMAL, ["exact", "paired_t"]),
        (SKEWED - SKEWED.mean(), ["exact", "bootstrap_mean", "sign"]),
        (NORMAL[:12], ["exact"]),
        (LAPLACE, ["exact", "wilcoxon"]),
    ],
)
def test_what_is_recommended(differences, recommended):
    judged = {"exact", "bootstrap_mean", "sign", *recommended}  # t may hold its level as well
    assert [test for test in of(np.round(differences, 3)).names() if test in judged] == recommended


def test_normal_theory_is_not_recommended_because_few_pairs_look_normal():
    found = recommend([5, 6, 7, 8, 9], [4] * 5)
    assert found.description.normal
    assert found.names() == ["exact"]
    assert where(found, "paired_t", "normal_z") == ["inappropriate"] * 2
    assert "p cannot fall below 0.0625" in reason(found, "exact")
    assert "5 pairs cannot show" in reason(found, "paired_t")


@pytest.mark.parametrize(
    ("rejected", "which"), [(50, "recommended"), (70, "non_preferred"), (90, "inappropriate")]
)
def test_a_level_is_judged_by_its_interval_and_not_by_the_noise_of_simulation(rejected, which):
    """Above 1.1 alpha, beyond doubt: no; above alpha, beyond doubt: rather not."""
    low = binomtest(rejected, 1000).proportion_ci(0.99, "exact").low
    assert (low > 0.05, low > 0.055) == (which != "recommended", which == "inappropriate")
    tests = ("exact", "normal_z", "bootstrap_mean", "sign", "wilcoxon")
    rates = dict.fromkeys(tests, (0.05, 0.5)) | {"paired_t": (rejected / 1000, 0.5)}
    with patch("permtest.study.power.measured_rates", return_value=rates):
        assert where(recommend(NORMAL, 0 * NORMAL), "paired_t") == [which]


def test_binary_scores():
    a = np.repeat([1, 1, 0, 0], [60, 30, 15, 40])
    b = np.repeat([1, 0, 1, 0], [60, 30, 15, 40])
    found = recommend(a, b)
    assert found.names() == ["mcnemar", "exact"]
    assert found.rates["mcnemar"] == found.rates["exact"] == found.rates["sign"]
    assert found.rates["exact"][0] <= found.rates["mcnemar_midp"][0] < 0.065
    assert "30 items are right for one system alone, 15 for the other" in reason(found, "mcnemar")
    assert where(found, "mcnemar_chi2") == ["non_preferred"]
    unpaired = "two_proportion_z", "chi_squared", "chi_squared_yates"
    assert where(found, *unpaired) == ["inappropriate"] * 3, "r12 is above 0.3"
    few = recommend([1, 1, 1, 0], [0, 0, 1, 1])
    assert where(few, "mcnemar_chi2", "paired_t") == ["inappropriate"] * 2


@pytest.mark.parametrize("differences", [[0, 0, 0], [2, 2, 2], [2]])
def test_differences_that_do_not_vary(differences):
    found = recommend([x + 5 for x in differences], [5] * len(differences))
    assert where(found, "paired_t", "normal_z") == ["inappropriate"] * 2
    assert found.rates == {}
    if not any(differences):
        assert where(found, "wilcoxon") == ["inappropriate"]
        assert "p is 1" in reason(found, "sign")


def test_what_a_recommendation_says():
    found = recommend(NORMAL, FLAT, names=("crf", "<hmm>"))
    assert "Recommended: exact permutation test of the mean" in str(found)
    shown = json.loads(found.to_json())
    assert (shown["recommended"][0]["test"], shown["rule"]) == ("exact", "exact")
    with pytest.raises(ValueError, match="rule='best' is not known"):
        recommend(NORMAL, FLAT, rule="best")
    with pytest.raises(ValueError, match=r"a\[1\] = 1.000e\+151 is beyond 1e\+150"):
        recommend([1, 10**151], [0, 1])
