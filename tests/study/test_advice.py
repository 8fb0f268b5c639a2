"""Advice: the manual's table as it is printed, and what is measured where the rule is "exact"."""

import json
import re
from functools import cache
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from permtest.alternatives.result import OF_COUNTS, TITLES
from permtest.pairs import Pairs
from permtest.study import measured_rates, recommend
from permtest.study.effects import win_loss

rng = np.random.default_rng(12)
NORMAL = rng.normal(size=200).round(3)
FLAT = rng.uniform(-1, 1, 200).round(3)
SKEWED = rng.exponential(size=200).round(3)
LAPLACE = np.concatenate([0.2 + SKEWED[:75], 0.2 - SKEWED[:75]]).round(3)
#: Mean 0, and skewed: 0 (70 %), 1 (25 %), -5 (5 %).
RARE = np.repeat([0, 1, -5], [70, 25, 5])
scores = st.integers(-4, 4)


def of(differences, **options):
    return cached(tuple(differences), **options)


@cache
def cached(differences, **options):
    return recommend(differences, [0] * len(differences), **options)


def where(found, test):
    return next(which for which in found.lists if test in found.names(which))


def reason(found, test):
    return next(e.reason for entries in found.lists.values() for e in entries if e.test == test)


# ---- the manual's table -------------------------------------------------------------------------

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


def test_reasons_of_the_manual_have_numbers():
    assert "Shapiro-Wilk p = " in reason(of(NORMAL, rule="manual"), "paired_t")
    assert "not normal" in reason(of(FLAT, rule="manual"), "paired_t")
    skewness = of(SKEWED, rule="manual").description.difference.skewness
    assert f"skewness {skewness:.2f}" in reason(of(SKEWED, rule="manual"), "wilcoxon")


# ---- what is measured ---------------------------------------------------------------------------


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
    expected = set(TITLES) - of_counts
    assert sorted(entry.test for entry in entries) == sorted(expected)
    assert all(entry.reason and entry.title == TITLES[entry.test] for entry in entries)
    assert where(found, "exact") == "recommended"
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


def test_the_advice_has_the_level_and_the_power_of_each_test():
    d = RARE + rng.permutation(np.repeat([0, 1], [80, 20]))
    found = of(d.tolist())
    again = measured_rates(d, ["exact"], alpha=0.05, repetitions=found.samples)["exact"]
    assert found.samples == 1000
    assert found.rates["exact"] == pytest.approx(again, abs=0.03)
    table = found.section().tables[0]
    shown = {row[0]: row[2:4] for row in table.rows}
    assert table.head == ("test", "advice", "level", "power", "reason")
    for test, rates in found.rates.items():
        assert shown[TITLES[test]] == tuple(f"{rate:.3f}" for rate in rates)
    assert "1,000 samples of 100 differences" in found.section().limits
    assert found.to_dict()["rates"]["exact"] == dict(
        zip(("level", "power"), found.rates["exact"], strict=True)
    )


@pytest.mark.parametrize(("n", "low", "high"), [(20, 0.12, 0.2), (100, 0.06, 0.1)])
def test_how_far_the_level_is_off_is_a_number(n, low, high):
    """Of the exact test, for differences whose mean is 0 though labels matter."""
    found = of(np.repeat([0, 1, -5], [7 * n // 10, n // 4, n // 20]).tolist())
    level, _ = found.rates["exact"]
    assert low < level < high
    assert f"it rejects {level:.3f} ± 0.0" in reason(found, "exact")
    assert "only nearly" not in str(found)
    if n == 20:
        assert "keeps its level where labels can be exchanged" in reason(found, "exact")


def test_the_studentised_bootstrap_stands_beside_the_exact_test_where_differences_are_skewed():
    found = of(RARE.tolist())
    assert found.names()[:2] == ["exact", "bootstrap_mean"]
    level, exact = (found.rates[test][0] for test in ("bootstrap_mean", "exact"))
    assert level < exact
    text = reason(found, "bootstrap_mean")
    assert f"it rejects {level:.3f} ± 0.0" in text
    assert f"of samples like these without an effect, the exact test {exact:.3f} ± 0.0" in text
    assert where(of(NORMAL), "bootstrap_mean") == "non_preferred"
    assert where(of(SKEWED[:15]), "bootstrap_mean") == "inappropriate"


def test_normal_theory_is_not_recommended_because_few_pairs_look_normal():
    found = recommend([5, 6, 7, 8, 9], [4] * 5)
    assert found.description.normal
    assert found.names() == ["exact"]
    assert where(found, "paired_t") == where(found, "normal_z") == "inappropriate"
    assert "p cannot fall below 0.0625" in reason(found, "exact")
    assert "5 pairs cannot show" in reason(found, "paired_t")
    ten = np.random.default_rng(1).choice([0, 1, -5], p=[0.7, 0.25, 0.05], size=(200, 10))
    assert not any("paired_t" in of(row.tolist()).names() for row in ten[:10])


def test_normal_theory_is_recommended_where_its_level_holds_and_only_there():
    holds = of(NORMAL)
    level, _ = holds.rates["paired_t"]
    assert 0.03 < level < 0.06
    assert f"it rejects {level:.3f} ± 0.0" in reason(holds, "paired_t")
    assert where(holds, "normal_z") == "non_preferred"
    broken = of(np.repeat([0, 1, -5], [28, 10, 2]).tolist())
    assert broken.rates["paired_t"][0] > 0.06
    assert where(broken, "paired_t") == where(broken, "normal_z") == "inappropriate"
    assert where(of(NORMAL[:12]), "paired_t") == "non_preferred"


@pytest.mark.parametrize(
    ("rejected", "which"), [(50, "recommended"), (70, "non_preferred"), (90, "inappropriate")]
)
def test_a_level_is_judged_by_its_interval_and_not_by_the_noise_of_simulation(rejected, which):
    """Above 1.1 alpha, beyond doubt: no; above alpha, beyond doubt: rather not."""
    low = binomtest(rejected, 1000).proportion_ci(0.99, "exact").low
    assert (low > 0.05, low > 0.055) == (which != "recommended", which == "inappropriate")
    rates = dict.fromkeys(("exact", "paired_t", "normal_z", "bootstrap_mean", "sign"), (0.05, 0.5))
    rates |= {"paired_t": (rejected / 1000, 0.5)}
    with patch("permtest.study.measured_rates", return_value=rates | {"wilcoxon": (0.05, 0.5)}):
        assert where(recommend(NORMAL, 0 * NORMAL), "paired_t") == which


def test_ranks_are_recommended_where_they_see_more():
    found = of(LAPLACE)
    ranks, exact = (found.rates[test][1] for test in ("wilcoxon", "exact"))
    assert ranks > exact + 0.02
    assert where(found, "wilcoxon") == "recommended"
    assert f"in {ranks:.2f} of samples, the exact test in {exact:.2f}" in reason(found, "wilcoxon")
    assert where(of(SKEWED), "wilcoxon") == "inappropriate"
    assert "leaves 2 of 14 pairs out" in reason(of([0, 0, *NORMAL[:12]]), "wilcoxon")
    assert "wilcoxon" not in of([0] * 30 + NORMAL[:30].tolist()).rates


def test_the_sign_test_says_what_it_estimates():
    """Most differences are 0: the median and its interval would be 0, whatever p is."""
    d = [0] * 548 + [1] * 259 + [-1] * 150 + [7] * 20
    found, effect = of(d), win_loss(d, [0] * len(d))
    low, high = effect.confidence_interval()
    assert f"P(a > b) - P(b > a) is {effect.value:.3g} ({low:.3g} to {high:.3g})" in (
        reason(found, "sign")
    )
    assert "548 of 977 pairs tie" in reason(found, "sign")
    assert "median" not in reason(found, "sign")


def test_medians_are_of_no_use_among_zeros():
    found = of([0] * 120 + list(NORMAL[:80]))
    for test in ("permutation_median", "bootstrap_median"):
        assert where(found, test) == "inappropriate"
        assert reason(found, test).startswith("120 of 200 differences are 0")


def test_independence_is_judged_by_the_correlation():
    rng = np.random.default_rng(3)
    item = rng.normal(size=300)
    a, b = (item + rng.normal(size=300)).round(2), (item + rng.normal(size=300)).round(2)
    paired, shuffled = recommend(a, b), recommend(a, rng.permutation(b))
    for test in ("independent_t", "independent_z"):
        assert where(paired, test) == "inappropriate"
        assert f"r12 = {paired.description.correlation:.3f}" in reason(paired, test)
        assert where(shuffled, test) == "non_preferred"


def test_binary_scores():
    a = np.repeat([1, 1, 0, 0], [60, 30, 15, 40])
    b = np.repeat([1, 0, 1, 0], [60, 30, 15, 40])
    found = recommend(a, b)
    assert found.names() == ["mcnemar", "exact"]
    assert found.rates["mcnemar"] == found.rates["exact"] == found.rates["sign"]
    assert found.rates["exact"][0] <= found.rates["mcnemar_midp"][0] < 0.065
    assert "30 items are right for one system alone, 15 for the other" in reason(found, "mcnemar")
    assert "Shapiro" not in str(found)
    assert where(found, "mcnemar_chi2") == "non_preferred"
    for test in ("two_proportion_z", "chi_squared", "chi_squared_yates"):
        assert where(found, test) == "inappropriate", "r12 is above 0.3"
    few = recommend([1, 1, 1, 0], [0, 0, 1, 1])
    assert where(few, "mcnemar_chi2") == where(few, "paired_t") == "inappropriate"


@pytest.mark.parametrize(
    ("differences", "alpha", "least"),
    [([1, 2, 4, 5], 0.05, "0.125"), ([1, 2, 3, 4, 5, 6, 7], 0.05, None), (range(1, 8), 0.001, "")],
)
def test_too_few_pairs_for_any_p(differences, alpha, least):
    text = reason(of(differences, alpha=alpha), "exact")
    assert ("cannot fall below" in text) == (least is not None)
    assert least is None or re.search(f"pairs that differ, p cannot fall below {least}", text)


@pytest.mark.parametrize("differences", [[0, 0, 0], [2, 2, 2], [2]])
def test_differences_that_do_not_vary(differences):
    found = recommend([x + 5 for x in differences], [5] * len(differences))
    assert where(found, "paired_t") == where(found, "normal_z") == "inappropriate"
    assert found.rates == {}
    if not any(differences):
        assert where(found, "wilcoxon") == "inappropriate"
        assert "p is 1" in reason(found, "sign")


# ---- how it reads -------------------------------------------------------------------------------


def test_what_a_recommendation_says():
    found = recommend(NORMAL, FLAT, names=("crf", "<hmm>"))
    assert "Recommended: exact permutation test of the mean" in str(found)
    titles = [entry.title for entry in of(LAPLACE).recommended]
    listed = f"Recommended: {', '.join(titles[:-1])} and {titles[-1]}."
    assert len(titles) > 2
    assert listed in of(LAPLACE).section().sentence
    assert of(NORMAL, rule="manual").inappropriate == ()
    assert "level" not in of(NORMAL, rule="manual").section().tables[0].head
    html = found._repr_html_()
    assert "crf against &lt;hmm&gt;" in html
    shown = json.loads(found.to_json())
    assert shown == found.to_dict()
    assert shown["recommended"][0]["test"] == "exact"
    assert shown["rule"] == "exact"
    assert recommend(Pairs.of(NORMAL, FLAT)).rates == recommend(NORMAL, FLAT).rates


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((NORMAL, FLAT), {"rule": "best"}, "rule='best' is not known"),
        (([1, 10**151], [0, 1]), {}, r"a\[1\] = 1.000e\+151 is beyond 1e\+150"),
        (([], []), {}, "0 pairs"),
    ],
)
def test_what_is_no_question(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        recommend(*arguments, **options)
