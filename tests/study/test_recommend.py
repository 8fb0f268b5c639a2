"""Recommendations: the manual's table as it is printed, and the cases of the exact rule."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.study.recommend import TITLES, recommend

BINARY_ONLY = {
    "mcnemar",
    "mcnemar_midp",
    "mcnemar_chi2",
    "two_proportion_z",
    "chi_squared",
    "chi_squared_yates",
}
rng = np.random.default_rng(12)
NORMAL = rng.normal(size=200).round(3)
FLAT = rng.uniform(-1, 1, 200).round(3)
SKEWED = rng.exponential(size=200).round(3)
WILD = np.exp(2 * NORMAL).round(3)
scores = st.integers(-4, 4)


def of(differences, **options):
    return recommend(differences, [0] * len(differences), **options)


def where(found, test):
    return next(which for which in found.lists if test in found.names(which))


def reason(found, test):
    return next(e.reason for entries in found.lists.values() for e in entries if e.test == test)


@pytest.mark.parametrize(
    ("differences", "recommended", "non_preferred", "inappropriate"),
    [
        (
            NORMAL,
            {"paired_t"},
            {
                "sign",
                "wilcoxon",
                "exact",
                "permutation_median",
                "bootstrap_mean",
                "bootstrap_median",
            },
            set(),
        ),
        (
            FLAT,
            {"wilcoxon"},
            {"sign", "exact", "permutation_median", "bootstrap_mean", "bootstrap_median"},
            {"paired_t"},
        ),
        (
            SKEWED,
            {"sign"},
            {"permutation_median", "bootstrap_median"},
            {"paired_t", "wilcoxon"},
        ),
    ],
)
def test_the_table_of_the_manual(differences, recommended, non_preferred, inappropriate):
    found = of(differences, rule="manual")
    assert set(found.names()) == recommended
    assert set(found.names("non_preferred")) == non_preferred
    assert set(found.names("inappropriate")) == inappropriate


def test_reasons_of_the_manual_have_numbers():
    assert "Shapiro-Wilk p = " in reason(of(NORMAL, rule="manual"), "paired_t")
    assert "large samples" in reason(of(FLAT, rule="manual"), "paired_t")
    skewness = of(SKEWED).description.difference.skewness
    assert f"skewness {skewness:.2f}" in reason(of(SKEWED, rule="manual"), "wilcoxon")


@settings(max_examples=150)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40), st.booleans())
def test_every_test_is_in_one_list_with_a_reason(rows, binary):
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    if binary:
        a, b = a > 0, b > 0
    found = recommend(a, b)
    entries = [entry for entries in found.lists.values() for entry in entries]
    expected = set(TITLES) if found.description.is_binary else set(TITLES) - BINARY_ONLY
    assert sorted(entry.test for entry in entries) == sorted(expected)
    assert all(entry.reason and entry.title == TITLES[entry.test] for entry in entries)
    assert where(found, "exact") == "recommended"
    assert "nan" not in str(found)


@pytest.mark.parametrize(
    ("differences", "recommended"),
    [
        (NORMAL, ["exact", "paired_t"]),
        (FLAT, ["exact", "wilcoxon"]),
        (SKEWED, ["exact", "sign"]),
        (NORMAL[:12], ["exact", "paired_t"]),
    ],
)
def test_the_exact_test_is_always_recommended(differences, recommended):
    assert of(differences).names() == recommended


def test_skewness_takes_many_pairs_for_a_t_test():
    """25 times the squared skewness."""
    few, many = of(WILD[:35]), of(np.tile(SKEWED, 5))
    assert where(few, "paired_t") == where(few, "normal_z") == "inappropriate"
    needed = round(25 * few.description.difference.skewness**2)
    assert f"35 pairs are fewer than the {needed} it takes" in reason(few, "paired_t")
    assert where(many, "paired_t") == where(many, "normal_z") == "non_preferred"


def test_a_bootstrap_takes_a_hundred_pairs():
    for test in ("bootstrap_mean", "bootstrap_median", "paired_bootstrap"):
        assert where(of(NORMAL[:99]), test) == "inappropriate"
        assert where(of(NORMAL[:100]), test) == "non_preferred"
    assert "n = 99 is below the 100" in reason(of(NORMAL[:99]), "bootstrap_mean")


def test_medians_are_of_no_use_among_zeros():
    found = of([0] * 120 + list(NORMAL[:80]))
    for test in ("permutation_median", "bootstrap_median"):
        assert where(found, test) == "inappropriate"
        assert reason(found, test).startswith("120 of 200 differences are 0")


def test_wilcoxon_leaves_zeros_out_and_says_so():
    assert "leaves 2 of 14 pairs out" in reason(of([0, 0, *NORMAL[:12]]), "wilcoxon")


def test_independence_is_judged_by_the_correlation():
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
    assert "30 items are right for one system alone, 15 for the other" in reason(found, "mcnemar")
    assert "no test of normality" in reason(found, "paired_t")
    assert "Shapiro" not in str(found)
    assert where(found, "mcnemar_chi2") == "non_preferred"
    for test in ("two_proportion_z", "chi_squared", "chi_squared_yates"):
        assert where(found, test) == "inappropriate", "r12 is above 0.3"
    few = recommend([1, 1, 1, 0], [0, 0, 1, 1])
    assert where(few, "mcnemar_chi2") == where(few, "paired_t") == "inappropriate"


def test_too_few_pairs_for_any_p():
    assert "with 4 pairs that differ, p cannot fall below 0.125" in reason(
        of([1, 2, 4, 5]), "exact"
    )
    assert "cannot fall" not in reason(of([1, 2, 3, 4, 5, 6, 7]), "exact")
    assert "cannot fall" in reason(of([1, 2, 3, 4, 5, 6, 7], alpha=0.001), "exact")


@pytest.mark.parametrize("differences", [[0, 0, 0], [2, 2, 2]])
def test_differences_that_do_not_vary(differences):
    found = recommend([x + 5 for x in differences], [5, 5, 5])
    assert where(found, "paired_t") == where(found, "normal_z") == "inappropriate"
    if not any(differences):
        assert where(found, "wilcoxon") == "inappropriate"
        assert "p is 1" in reason(found, "sign")


def test_what_a_recommendation_says():
    found = recommend(NORMAL, FLAT, names=("crf", "<hmm>"))
    text = str(found)
    assert text.startswith("Recommended:\n  exact permutation test of the mean: ")
    assert "Non-preferred:" in text
    assert of(NORMAL, rule="manual").inappropriate == ()
    assert str(of(NORMAL, rule="manual")).endswith("Inappropriate:\n  none")
    html = found._repr_html_()
    assert "crf against &lt;hmm&gt;" in html
    shown = json.loads(found.to_json())
    assert shown == found.to_dict()
    assert shown["recommended"][0]["test"] == "exact"
    assert shown["rule"] == "exact"


def test_an_unknown_rule():
    with pytest.raises(ValueError, match="rule='best' is not known"):
        of(NORMAL, rule="best")
