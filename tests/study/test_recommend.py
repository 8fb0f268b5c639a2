"""Advice: the manual's table as it is printed, and what is measured where the rule is "exact"."""

import json
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.alternatives.registry import OF_COUNTS, TITLES
from permtest.study import recommend
from permtest.study.recommend import measured_rates

ROOM = import_module("permtest.study.recommend")
rng = np.random.default_rng(12)
NORMAL = rng.normal(size=200).round(3)
FLAT = rng.uniform(-1, 1, 200).round(3)
SKEWED = rng.exponential(size=200).round(3)
scores = st.integers(-4, 4)


def of(differences, **options):
    return cached(tuple(differences), **options)


@cache
def cached(differences, **options):
    return recommend(differences, [0] * len(differences), **options)


def row(found, test):
    return next(row for row in found.tests if row["test"] == test)


def where(found, *tests):
    return [row(found, test)["advice"] for test in tests]


BY_MEAN = {"exact", "permutation_median", "bootstrap_mean", "bootstrap_median"}


@pytest.mark.parametrize(
    ("differences", "recommended", "fair", "bad"),
    [
        (NORMAL, {"paired_t"}, {"sign", "wilcoxon", *BY_MEAN}, set()),
        (FLAT, {"wilcoxon"}, {"sign", *BY_MEAN}, {"paired_t"}),
        (SKEWED, {"sign"}, {"permutation_median", "bootstrap_median"}, {"paired_t", "wilcoxon"}),
    ],
)
def test_the_table_of_the_manual(differences, recommended, fair, bad):
    found = of(differences, rule="manual")
    advice = "recommended", "non-preferred", "inappropriate"
    assert [set(found.names(x)) for x in advice] == [recommended, fair, bad]
    assert {(x["level"], x["power"]) for x in found.tests} == {(None, None)}


@patch.object(ROOM, "SAMPLES", 50)  # to be quick
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40), st.booleans())
def test_every_test_has_advice_and_a_reason(rows, binary):
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    if binary:
        a, b = a > 0, b > 0
    found = recommend(a, b)
    of_counts = set() if np.isin([a, b], (0, 1)).all() else set(OF_COUNTS)
    assert sorted(x["test"] for x in found.tests) == sorted(set(TITLES) - of_counts)
    assert all(x["reason"] and x["title"] == TITLES[x["test"]] for x in found.tests)
    assert found.names()[0] == found.tests[0]["test"] == "exact"
    assert "nan" not in str(found)
    for x in found.tests:
        assert (x["level"] is x["power"] is None) or (0 <= x["level"] <= 1 and 0 <= x["power"] <= 1)


@pytest.mark.parametrize("differences", [NORMAL, SKEWED - SKEWED.mean(), NORMAL[:12]])
@pytest.mark.parametrize(("estimand", "recommended"), [("mean", "exact"), ("median", "sign")])
def test_one_test_of_the_estimand_is_recommended(differences, estimand, recommended):
    found = of(np.round(differences, 3), estimand=estimand)
    assert found.names() == [recommended]
    assert f"Recommended, for a claim about the {estimand}: {TITLES[recommended]}." in str(found)
    measured = {x["test"] for x in found.tests if x["level"] is not None}
    assert measured >= {"exact", "bootstrap_mean", "paired_t", "normal_z", "sign"}
    assert "1,000 samples of" in str(found)


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
    assert "p cannot fall below 0.0625" in row(found, "exact")["reason"]
    why = row(found, "paired_t")["reason"]
    assert why == "5 pairs like these cannot show that it holds its level"


@pytest.mark.parametrize(("level", "which"), [(0.06, "non-preferred"), (0.08, "inappropriate")])
def test_a_level_that_is_clearly_above_alpha_is_too_high(level, which):
    """Of 1 000 samples, 60 could be 5.5% by chance, and 80 could not."""
    tests = ("exact", "normal_z", "bootstrap_mean", "sign", "wilcoxon", "paired_t")
    rates = dict.fromkeys(tests, (level, 0.5))
    with patch.object(ROOM, "measured_rates", return_value=rates):
        found = recommend(NORMAL, 0 * NORMAL)
    assert where(found, "paired_t", "exact") == [which, "recommended"]
    assert f"rejects {level} of samples" in row(found, "paired_t")["reason"]


def test_binary_scores():
    a = np.repeat([1, 1, 0, 0], [60, 30, 15, 40])
    b = np.repeat([1, 0, 1, 0], [60, 30, 15, 40])
    found = recommend(a, b)
    assert found.names() == ["exact"]
    levels = {x["test"]: x["level"] for x in found.tests}
    assert levels["mcnemar"] == levels["exact"] == levels["sign"]
    assert levels["exact"] <= levels["mcnemar_midp"] < 0.065
    assert where(found, "mcnemar_chi2") == ["non-preferred"]
    assert where(found, "two_proportion_z") == ["inappropriate"], "r12 is above 0.3"
    assert where(found, "permutation_median") == ["inappropriate"]


def test_differences_that_do_not_vary():
    found = recommend([7, 7, 7], [5, 5, 5])
    assert where(found, "paired_t", "normal_z") == ["inappropriate"] * 2
    assert found.samples == 0


def test_what_a_recommendation_says():
    shown = json.loads(of(NORMAL).to_json())
    assert (shown["tests"][0]["test"], shown["rule"]) == ("exact", "exact")
    for how, message in (
        ({"rule": "best"}, "rule='best' is not known"),
        ({"estimand": "mode"}, "estimand='mode' is not known"),
        ({"estimand": "median"}, "median of differences of scores of 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            recommend([1, 0], [0, 1], **how)
