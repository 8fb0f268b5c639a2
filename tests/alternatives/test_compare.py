"""All tests side by side, the registry that they stand in, and what is said of assumptions."""

import json
import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives import registry
from permtest.alternatives.registry import OF_COUNTS, TESTS, TITLES, verdict
from tests.alternatives import known

OF_SCORES = [name for name in TITLES if name not in OF_COUNTS]


def names_of(table):
    return [answer.test for answer in table]


def p_of(table, *names):
    return [table[name].result.pvalue for name in names or names_of(table)]


@pytest.mark.parametrize("test", [name for name, row in TESTS.items() if row.many])
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_many_tests_lie_along_any_axis_and_are_those_of_one(test, alternative):
    a, b = np.random.default_rng(2).integers(0, 2 if test in OF_COUNTS else 5, (2, 3, 4, 12))
    row = TESTS[test]

    def p(axis):
        moved = [np.moveaxis(x, -1, axis) for x in (a, b)]
        more = {"K": 20_000, "rng": np.random.default_rng(1)} if row.takes == "resamples" else {}
        return row.many(*moved, axis=axis, alternative=alternative, **more)

    assert p(-1).shape == (3, 4)
    assert p(-1).min() < p(-1).max() <= 1
    for axis in (0, 1):
        np.testing.assert_allclose(p(axis), p(-1), rtol=1e-12)
    if test in TITLES:
        one = pt.compare_all(a[1, 2], b[1, 2], tests=[test], alternative=alternative)
        near = {"abs": 0.01} if row.takes == "resamples" else {"rel": 1e-11}
        assert p(-1)[1, 2] == pytest.approx(p_of(one, test)[0], **near)


def test_the_row_in_contributing_is_all_that_a_new_test_needs(monkeypatch):
    text = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    name, row = re.search(r'^    "(\w+)": (Row\(.*\)),$', text, re.MULTILINE).groups()
    assert f'@makes("{name}")' in text
    name = f"another_{name}"
    monkeypatch.setitem(TESTS, name, eval(row, vars(registry)))
    monkeypatch.setitem(TITLES, name, TESTS[name].title)
    registry.makes(name)(alt.paired_t)
    a, b = np.random.default_rng(1).normal(size=(2, 40)).round(2)
    assert p_of(pt.compare_all(a, b, tests=[name])) == [alt.paired_t(a, b).pvalue]


def test_every_row_is_the_test_itself():
    a, b = known.TIED
    table = pt.compare_all(a, b, K=500, rng=3)
    assert names_of(table) == OF_SCORES
    tests = {"exact": pt.exact_perm_test}
    for name in ("paired_t", "wilcoxon", "sign", "permutation_median", "independent_t"):
        tests[name] = getattr(alt, name)
        assert table[name].result.test == name
    for name, test in tests.items():
        expected = test(a, b)
        assert table[name].result.pvalue == expected.pvalue, name
        if table[name].interval:
            assert table[name].interval == expected.confidence_interval(), name
    assert isinstance(table["exact"].result, pt.PermutationTestResult)
    assert p_of(pt.compare_all(a, b, K=500, rng=3)) == p_of(table)
    for name in ("bootstrap_mean", "bootstrap_median", "paired_bootstrap"):
        alone = pt.compare_all(a, b, K=500, rng=3, tests=[name])
        assert p_of(alone) == p_of(table, name), "no test depends on which others are made"


def test_scores_of_zero_and_one():
    u, v = np.random.default_rng(0).integers(0, 2, (2, 60))
    table = pt.compare_all(u, v, alternative="greater", K=200)
    assert names_of(table) == [*OF_SCORES, *OF_COUNTS]
    assert p_of(table, "mcnemar", "sign") == pytest.approx(2 * p_of(table, "exact"))
    b, c = int(np.sum(u > v)), int(np.sum(v > u))
    expected = alt.mcnemar(b, c, method="midp", alternative="greater")
    z = alt.two_proportion_z(u.sum(), 60, v.sum(), 60, alternative="greater")
    expected = pytest.approx([expected.pvalue, z.pvalue], rel=1e-12)
    assert p_of(table, "mcnemar_midp", "two_proportion_z") == expected
    assert table["paired_t"].interval.high == math.inf
    low = pt.compare_all(u[:9], v[:9], alternative="greater", K=20, confidence_level=0.5)
    assert low["mcnemar_chi2"].interval is not None
    assert low["two_proportion_z"].interval is None, "it has none"
    for answer in table:
        assert pickle.loads(pickle.dumps(answer.result)).pvalue == answer.result.pvalue


def test_counts_are_compared_by_their_measure():
    u = [(2, 0, 1), (1, 2, 2), (2, 1, 0), (3, 0, 0), (1, 1, 1)]
    v = [(0, 2, 3), (1, 1, 2), (2, 2, 0), (1, 0, 2), (2, 1, 0)]
    table, exact = pt.compare_all(u, v, statistic="f1", K=200), pt.perm_test_F1(u, v)
    assert names_of(table) == ["exact", "paired_bootstrap"]
    assert p_of(table, "exact") == [exact.pvalue]
    assert (table["exact"].estimate, table["exact"].interval) == (exact.statistic, None)
    assert table["exact"].title == "exact permutation test of F1"
    assert (table.correlation, table.inflation) == (None, None)
    few = "not met: sample large enough to resample (5 pairs)"
    assert few in table["paired_bootstrap"].assumptions_text


def test_what_is_sampled_a_bound_or_contradictory_is_marked():
    table = pt.compare_all(*known.TIED, K=300)
    assert table["bootstrap_mean"].pvalue_text.startswith("\N{ALMOST EQUAL TO} ")
    noise = np.random.default_rng(0).normal(size=(2, 100))
    exact = pt.compare_all(*noise, tests=["exact"])["exact"]
    low, high = exact.result.pvalue_interval()
    assert exact.pvalue_text.startswith("\N{LESS-THAN OR EQUAL TO} ")
    assert [exact.rejects(p) for p in (low / 2, (low + high) / 2, high)] == [False, None, True]
    a, b = np.random.default_rng(0).integers(0, 40, size=(2, 25, 4, 3))
    drawn = alt.compare_all(a, b, statistic="macro_f1", tests=["exact"], rng=0)["exact"]
    assert drawn.pvalue_text.startswith("\N{ALMOST EQUAL TO} ")
    assert drawn.title == "permutation test of macro F1"
    table = pt.compare_all([2, 3, 4], [1, 2, 3], K=50)
    assert (table["exact"].result.pvalue, table["paired_t"].result) == (0.25, None)
    assert (table["paired_t"].held, table["paired_t"].rejects(0.05)) == (None, None)
    assert "all 3 differences are 1, so they have no standard error" in str(table)
    assert json.loads(table.to_json())["answers"][2]["pvalue"] is None


def test_yehs_point_is_made():
    """Two systems that agree mostly: tests that assume independence see nothing."""
    rng = np.random.default_rng(5)
    shared = rng.integers(0, 20, 400)
    u, v = shared + rng.integers(0, 2, 400), shared
    table = pt.compare_all(u, v, K=200)
    assert table["independent_t"].held is False
    assert table["independent_t"].result.pvalue > 0.1 > 1e-6 > table["exact"].result.pvalue
    spread = np.hypot(u.std(), v.std()) / (u - v).std()
    assert table.inflation == pytest.approx(spread, rel=1e-9)
    assert f"r12 = {np.corrcoef(u, v)[0, 1]:.3f}" in table["independent_t"].assumptions_text


RNG = np.random.default_rng(1)
BELL, SKEWED, NONE = RNG.normal(size=500).round(4), RNG.exponential(size=500).round(4), [0] * 500


@pytest.mark.parametrize(
    ("a", "b", "assumption", "held"),
    [
        (BELL, NONE, "normal differences", True),
        (BELL, NONE, "symmetric differences", True),
        (BELL, NONE, "independent systems", None),  # a constant correlates with nothing
        (SKEWED, BELL, "normal scores", False),
        (3 * BELL, SKEWED, "equal variances", False),
        (SKEWED, NONE, "normal differences", False),
        (SKEWED, NONE, "large sample", True),  # 500 pairs are more than 25 times skewness squared
        ([0, 0, 0, 0, 9] * 8, [0] * 40, "large sample", False),
        (RNG.normal(size=12_000).round(3), np.zeros(12_000), "normal differences", True),
        ([1, 0] * 30, [0, 1] * 30, "equal variances", True),
        ([1, 2, 3, 4, 5], [2, 1, 3, 1, 4], "independent systems", None),  # r12 = 0.54, five pairs
        ([1, 2, 3, 4, 5], [2, 1, 3, 1, 4], "equal variances", None),
        ([1, 2], [1, 1], "normal differences", None),
        (range(10), NONE[:10], "symmetric differences", None),  # ten cannot speak for a shape
    ],
)
def test_assumptions_are_held_against_the_data(a, b, assumption, held):
    _, found, evidence = verdict(assumption, pt.Scores.of(a, b))
    assert found is held, evidence


def test_forms_of_the_table():
    a, b = known.PLAIN
    table = pt.compare_all(a, b, K=100, names=("<new>", "old"), confidence_level=0.9)
    assert str(table).startswith("<new> against old: mean, n = 12")
    assert "90% interval" in table._repr_html_()
    assert "<new>" not in table._repr_html_()
    record = json.loads(table.to_json())
    assert record["names"] == ["<new>", "old"]
    assert record["answers"] == [answer.to_dict() for answer in table]
    result = table["paired_t"].result
    lead = "<new> scores 0.00858333 more than old (mean difference) over 12 items: t = 1.04668"
    assert str(result) == f"{lead}, p = 0.318 (two-sided paired t-test)."
    assert json.loads(result.to_json())["statistic"] == result.statistic
    assert names_of(pt.compare_all(a, b, tests=["sign", "exact"])) == ["sign", "exact"]


SCORES = [5, 3, 7, 0], [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (SCORES, {"tests": ["mcnemar"]}, "'mcnemar' does not apply here; choose among exact"),
        (SCORES, {"confidence_level": 95}, "confidence_level must lie in"),
        (SCORES, {"K": 0}, "K=0 must be at least 1"),
        (([], []), {}, "u and v have 0 pairs"),
    ],
)
def test_bad_arguments_are_named(pairs, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pt.compare_all(*pairs, **options)
