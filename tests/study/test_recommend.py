"""Advice: the manual's table as it is printed, and what is measured where the rule is "exact"."""

import json
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import Scores
from permtest.alternatives.registry import TITLES
from permtest.study import recommend
from permtest.study.recommend import BINARY, GRADED, measured_rates

ROOM = import_module("permtest.study.recommend")
rng = np.random.default_rng(12)
NORMAL = rng.normal(size=200).round(3)
FLAT = rng.uniform(-1, 1, 200).round(3)
SKEWED = rng.exponential(size=200).round(3)
scores = st.integers(-4, 4)


@cache
def cached(differences, **options):
    return recommend(differences, [0] * len(differences), **options)


def advised(found, *advice):
    return [{row["test"] for row in found.tests if row["advice"] == x} for x in advice]


def row(found, test):
    return next(row for row in found.tests if row["test"] == test)


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
    found = cached(tuple(differences), rule="manual")
    lists = advised(found, "recommended", "non-preferred", "inappropriate")
    assert lists == [recommended, fair, bad]
    assert {(x["level"], x["power"]) for x in found.tests} == {(None, None)}


@patch.object(ROOM, "SAMPLES", 50)  # to be quick
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40), st.booleans())
def test_every_test_has_advice_and_a_reason(rows, binary):
    a, b = np.transpose(rows) > 0 if binary else np.transpose(rows)
    found = recommend(a, b)
    expected = BINARY if np.isin([a, b], (0, 1)).all() else GRADED
    assert sorted(x["test"] for x in found.tests) == sorted(expected)
    assert (found.tests[0]["test"], found.tests[0]["advice"]) == ("exact", "recommended")
    assert "nan" not in str(found)
    for x in found.tests:
        assert x["reason"]
        assert x["title"] == TITLES[x["test"]]
        assert (x["level"] is x["power"] is None) or min(x["level"], x["power"]) >= 0


@pytest.mark.parametrize("differences", [NORMAL, SKEWED - SKEWED.mean(), NORMAL[:12]])
@pytest.mark.parametrize(("estimand", "recommended"), [("mean", "exact"), ("median", "sign")])
def test_one_test_of_the_estimand_is_recommended(differences, estimand, recommended):
    found = cached(tuple(np.round(differences, 3)), estimand=estimand)
    assert advised(found, "recommended") == [{recommended}]
    assert f"Recommended, for a claim about the {estimand}: {TITLES[recommended]}." in str(found)
    assert {x["test"] for x in found.tests if x["level"] is not None} == set(GRADED)
    assert "Level and power are how often a test rejects" in str(found)


@pytest.mark.parametrize(("n", "level"), [(20, 0.163), (100, 0.075)])
def test_the_level_of_the_exact_test_depends_on_skewness_and_size(n, level):
    """Differences 0 (70 %), 1 (25 %) and -5 (5 %): their mean is 0."""
    d = np.repeat([0, 1, -5], [n * 7 // 10, n // 4, n // 20])
    tests = ["exact", "bootstrap_mean", "sign", "wilcoxon"]
    found = measured_rates(Scores.of(d, 0 * d), tests, samples=4000)
    error = 4 * (level * (1 - level) / 4000) ** 0.5
    assert found["exact"][0] == pytest.approx(level, abs=error)
    assert found["sign"][0] < 0.06 > found["wilcoxon"][0], "by random signs"
    if n == 100:
        assert found["bootstrap_mean"][0] < 0.058 < found["exact"][0]


@pytest.mark.parametrize(("a", "least"), [([5, 6, 7, 8, 9], 0.0625), ([7, 7, 7], 0.25)])
def test_few_or_equal_differences_cannot_be_measured(a, least):
    found = recommend(a, [4] * len(a))
    assert advised(found, "recommended") == [{"exact"}]
    assert str(found).endswith(f"{TITLES['exact']}."), "nothing was measured"
    assert f"p cannot fall below {least}" in row(found, "exact")["reason"]
    why = f"{len(a)} pairs like these cannot show that it holds its level"
    for test in ("paired_t", "normal_z"):
        assert (row(found, test)["advice"], row(found, test)["reason"]) == ("inappropriate", why)


@pytest.mark.parametrize(("level", "which"), [(0.06, "non-preferred"), (0.08, "inappropriate")])
def test_a_level_that_is_clearly_above_alpha_is_too_high(level, which):
    """Of 1 000 samples, 60 could be 5.5% by chance, and 80 could not."""
    rates = dict.fromkeys(GRADED, (level, 0.5))
    with patch.object(ROOM, "measured_rates", return_value=rates):
        found = recommend(NORMAL, 0 * NORMAL)
    assert [row(found, x)["advice"] for x in ("paired_t", "exact")] == [which, "recommended"]
    assert f"rejects {level} of samples" in row(found, "paired_t")["reason"]


@pytest.mark.parametrize("estimand", ["mean", "median"])
def test_binary_scores(estimand):
    a, b = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [60, 30, 15, 40], axis=0).T
    found = recommend(a, b, estimand=estimand)
    assert advised(found, "recommended") == [{"exact"}]
    assert row(found, "exact")["level"] <= row(found, "mcnemar_midp")["level"] < 0.065
    assert row(found, "mcnemar_chi2")["advice"] == "non-preferred"


def test_what_a_recommendation_says():
    shown = json.loads(cached(tuple(NORMAL)).to_json())
    assert (shown["tests"][0]["test"], shown["estimand"]) == ("exact", "mean")
    for how in ({"rule": "best"}, {"estimand": "mode"}):
        with pytest.raises(ValueError, match=r"='(best|mode)' is not known"):
            recommend([1, 0], [0, 1], **how)
