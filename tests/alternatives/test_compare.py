"""All tests side by side."""

import json
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives.compare import TESTS, verdict
from permtest.alternatives.result import TITLES, PairedSample
from tests.alternatives import known

OF_SCORES = [
    "exact",
    "permutation_median",
    "paired_t",
    "normal_z",
    "wilcoxon",
    "sign",
    "bootstrap_mean",
    "bootstrap_median",
    "paired_bootstrap",
    "independent_t",
    "independent_z",
]
OF_PROPORTIONS = ["two_proportion_z", "chi_squared", "chi_squared_yates"]
MCNEMAR = ["mcnemar", "mcnemar_midp", "mcnemar_chi2"]


def test_every_title_has_a_row():
    assert list(TESTS) == list(TITLES) == [*OF_SCORES, *MCNEMAR, *OF_PROPORTIONS]


def names_of(table):
    return [answer.test for answer in table]


def test_every_row_is_the_test_itself():
    a, b = known.TIED
    table = pt.compare_all(a, b, K=500, rng=3)
    assert names_of(table) == OF_SCORES
    assert len(table) == len(OF_SCORES)
    assert table["exact"].result.pvalue == pt.exact_perm_test(a, b).pvalue
    assert table["exact"].interval == pt.exact_perm_test(a, b).confidence_interval()
    for name, test in {
        "paired_t": alt.paired_t,
        "wilcoxon": alt.wilcoxon,
        "sign": alt.sign,
        "permutation_median": alt.permutation_median,
        "independent_t": alt.independent_t,
    }.items():
        expected = test(a, b)
        assert table[name].result.pvalue == expected.pvalue, name
        assert table[name].interval == expected.confidence_interval(), name
        assert table[name].result.test == name
    again = pt.compare_all(a, b, K=500, rng=3)
    assert [x.result.pvalue for x in again] == [x.result.pvalue for x in table]


def test_answers_and_scores_of_zero_and_one():
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 2, (2, 60))
    table = pt.compare_all(u, v, alternative="greater", K=200)
    assert names_of(table) == [*OF_SCORES, *MCNEMAR, *OF_PROPORTIONS]
    assert table["mcnemar"].result.pvalue == pytest.approx(table["exact"].result.pvalue)
    assert table["sign"].result.pvalue == pytest.approx(table["exact"].result.pvalue)
    b, c = int(np.sum(u > v)), int(np.sum(v > u))
    expected = alt.mcnemar(b, c, method="midp", alternative="greater")
    assert table["mcnemar_midp"].result.pvalue == expected.pvalue
    z = alt.two_proportion_z(u.sum(), 60, v.sum(), 60, alternative="greater")
    assert table["two_proportion_z"].result.pvalue == pytest.approx(z.pvalue)
    assert all(answer.interval.high == math.inf for answer in table if answer.test == "paired_t")


def test_trials_make_scores_proportions():
    u, v, size = [5, 3, 7, 0], [4, 3, 2, 1], [7, 3, 8, 2]
    table = pt.compare_all(u, v, trials=size, K=50)
    assert names_of(table) == [*OF_SCORES, *OF_PROPORTIONS]
    expected = alt.chi_squared([[15, 5], [10, 10]])
    assert table["chi_squared"].result.pvalue == expected.pvalue
    with pytest.raises(ValueError, match=r"u\[1\] = 3 is no number of correct items among trials"):
        pt.compare_all(u, v, trials=[7, 2, 8, 2])
    with pytest.raises(ValueError, match=r"v\[1\] = 3"):
        pt.compare_all([5, 2, 7, 0], v, trials=[7, 2, 8, 2])
    with pytest.raises(ValueError, match="trials has 3 entries, but there are 4 pairs"):
        pt.compare_all(u, v, trials=[7, 3, 8])
    with pytest.raises(TypeError, match=r"trials\[2\] = 8.5 must be a whole number"):
        pt.compare_all(u, v, trials=[7, 3, 8.5, 2])


def test_counts_are_compared_by_their_measure():
    u = [(2, 0, 1), (1, 2, 2), (2, 1, 0), (3, 0, 0), (1, 1, 1)]
    v = [(0, 2, 3), (1, 1, 2), (2, 2, 0), (1, 0, 2), (2, 1, 0)]
    table = pt.compare_all(u, v, statistic="f1", K=200)
    assert names_of(table) == ["exact", "paired_bootstrap"]
    assert table["exact"].result.pvalue == pt.exact_perm_test(u, v, statistic="f1").pvalue
    assert table.correlation is None
    assert table.correlation_text() == ""
    table = pt.compare_all(u, v, statistic="precision", K=200)
    assert names_of(table) == ["exact", "paired_bootstrap", *OF_PROPORTIONS]
    expected = alt.chi_squared([[9, 4], [6, 6]], correction=True)
    assert table["chi_squared_yates"].result.pvalue == expected.pvalue
    recall = pt.compare_all(u, v, statistic="recall", K=200)
    assert recall["chi_squared"].result.pvalue == alt.chi_squared([[9, 4], [6, 7]]).pvalue
    with pytest.raises(ValueError, match="delta and trials are for single scores, not for 'f1'"):
        pt.compare_all(u, v, statistic="f1", delta=1)


def test_a_threshold_moves_every_test():
    a, b = known.TIED
    table = pt.compare_all(a, b, delta=0.5, K=300)
    assert names_of(table) == OF_SCORES
    moved = pt.compare_all([2 * x - 1 for x in a], [2 * x for x in b], K=300)
    for name in ("exact", "permutation_median", "paired_t", "wilcoxon", "sign", "normal_z"):
        assert table[name].result.pvalue == pytest.approx(moved[name].result.pvalue), name
        assert table[name].result.delta == 0.5


def test_tests_that_do_not_fit_say_why():
    table = pt.compare_all([2, 3, 4], [1, 2, 3], K=50)
    assert table["exact"].result.pvalue == 0.25
    assert table["paired_t"].result is None
    assert "all 3 differences are 1" in table["paired_t"].problem
    assert table["paired_t"].held is None
    text = str(table)
    assert "all 3 differences are 1: a t-test has no standard error then" in text
    assert json.loads(table.to_json())["answers"][2]["pvalue"] is None


def test_no_test_depends_on_which_others_are_made():
    a, b = known.TIED
    table = pt.compare_all(a, b, K=300, rng=6)
    for name in ("bootstrap_mean", "bootstrap_median", "paired_bootstrap"):
        alone = pt.compare_all(a, b, K=300, rng=6, tests=[name])
        assert alone[name].result.pvalue == table[name].result.pvalue


def test_what_is_sampled_a_bound_or_contradictory_is_marked():
    a, b = known.TIED
    table = pt.compare_all(a, b, K=300)
    assert table["bootstrap_mean"].result.pvalue_text().startswith("\N{ALMOST EQUAL TO} ")
    note = "p leaves out 1 difference of 0, the interval does not"
    assert note in table["wilcoxon"].assumptions_text
    assert note in table["sign"].assumptions_text
    assert note not in table["paired_t"].assumptions_text
    rng = np.random.default_rng(0)
    hard = rng.normal(size=(2, 100))
    exact = alt.permutation_mean(*hard)
    assert exact.method == "upper bound"
    assert exact.pvalue_text().startswith("\N{LESS-THAN OR EQUAL TO} ")
    assert f"p {exact.pvalue_text()}" in str(exact)


def test_large_scores_that_differ_little_are_centred_before_they_are_rounded():
    small = [1, 2, 4, 8]
    large = [10**20 + x for x in small]
    table = pt.compare_all(large, [0] * 4, delta=Fraction(10**20), K=200)
    expected = pt.compare_all(small, [0] * 4, K=200)
    for name in ("exact", "paired_t", "normal_z", "wilcoxon", "sign", "permutation_median"):
        assert table[name].result.pvalue == pytest.approx(expected[name].result.pvalue), name
    found = alt.independent_t(large, [10**20] * 4)
    assert found.pvalue == pytest.approx(alt.independent_t(small, [0] * 4).pvalue)
    assert found.estimate == 3.75


def test_one_sided_tables_have_rows_at_any_level():
    table = pt.compare_all(
        [1, 1, 0, 1, 0, 1], [0, 1, 0, 0, 0, 1], alternative="greater", confidence_level=0.5
    )
    assert table["mcnemar_chi2"].interval is not None
    assert table["two_proportion_z"].result.pvalue < 0.5
    assert table["two_proportion_z"].interval is None


def test_measures_of_counts_say_what_is_known_of_their_assumptions():
    rng = np.random.default_rng(2)
    u = rng.integers(0, 5, (50, 3))
    v = u + rng.integers(0, 2, (50, 3))
    table = pt.compare_all(u, v, statistic="recall", K=100)
    text = table["chi_squared"].assumptions_text
    assert text.startswith("not met: independent systems (r12 = ")
    assert "not met: representative sample (50 pairs)" in table["paired_bootstrap"].assumptions_text


def test_yehs_point_is_made():
    """Two systems that agree mostly: tests that assume independence see nothing."""
    rng = np.random.default_rng(5)
    shared = rng.integers(0, 20, 400)
    u, v = shared + rng.integers(0, 2, 400), shared
    table = pt.compare_all(u, v, K=200)
    for name in ("independent_t", "independent_z"):
        assert table[name].held is False
        assert table[name].result.pvalue > 0.1 > 1e-6 > table["exact"].result.pvalue
    spread = np.hypot(u.std(), v.std()) / (u - v).std()
    assert table.inflation == pytest.approx(spread, rel=1e-9)
    assert f"by {spread:.3g}." in table.correlation_text()
    assert f"r12 = {np.corrcoef(u, v)[0, 1]:.3f}" in table["independent_t"].assumptions_text


def test_assumptions_are_held_against_the_data():
    rng, n = np.random.default_rng(1), 500
    normal, skewed, none = rng.normal(size=n).round(4), rng.exponential(size=n).round(4), [0] * n
    alternating, rare = ([1, 0] * 30, [0, 1] * 30), ([0, 0, 0, 0, 9] * 8, [0] * 40)
    many = rng.normal(size=12_000).round(3), np.zeros(12_000)
    for a, b, assumption, held in [
        (normal, none, "normal differences", True),
        (normal, none, "symmetric differences", True),
        (normal, none, "exchangeable labels", None),
        (normal, none, "independent systems", None),  # a constant correlates with nothing
        (skewed, normal, "independent systems", True),
        (skewed, normal, "normal scores", False),
        (3 * normal, skewed, "equal variances", False),
        (skewed, none, "symmetric differences", False),
        (skewed, none, "normal differences", False),
        (skewed, none, "large sample", True),  # 500 pairs are more than 25 times skewness squared
        (*rare, "large sample", False),
        (*many, "normal differences", True),  # Shapiro-Wilk beyond 5 000
        (*alternating, "equal variances", True),
        (
            [1, 2, 3, 4, 5],
            [2, 1, 3, 1, 4],
            "independent systems",
            None,
        ),  # r12 = 0.54, of five pairs
        ([1, 2], [1, 1], "normal differences", None),
    ]:
        found, evidence = verdict(assumption, PairedSample.of(a, b))
        assert found is held, (assumption, evidence)
    few = PairedSample.of(normal[:10], none[:10])
    for assumption in ("symmetric differences", "normal differences"):
        assert verdict(assumption, few)[0] is not True, "ten pairs cannot speak for a shape"


def test_forms_of_the_table():
    a, b = known.PLAIN
    table = pt.compare_all(a, b, K=100, names=("<new>", "old"), confidence_level=0.9)
    assert str(table).startswith("<new> against old: mean, n = 12")
    html = table._repr_html_()
    assert "&lt;new&gt; against old" in html
    assert "<new>" not in html
    assert "90% interval" in html
    frame = table.to_frame()
    assert list(frame.index) == OF_SCORES
    assert frame.loc["paired_t", "pvalue"] == pytest.approx(known.PAIRED_T["plain"][1])
    record = json.loads(table.to_json())
    assert record["names"] == ["<new>", "old"]
    assert len(record["answers"]) == len(OF_SCORES)
    result = table["paired_t"].result
    assert re.search(r"paired t-test: mean difference of <new> over old 0\.0085833", str(result))
    assert "&lt;new&gt;" in result._repr_html_()
    assert json.loads(result.to_json())["interval"] == pytest.approx(known.PAIRED_T["plain"][3])


def test_results_can_be_sent_to_other_processes():
    for answer in pt.compare_all([1, 1, 0, 1, 1, 0, 1, 1], [0, 1, 0, 0, 0, 1, 0, 0], K=50):
        again = pickle.loads(pickle.dumps(answer.result))
        assert again == answer.result
        assert again.confidence_interval() == answer.interval


def test_chosen_tests_and_bad_options():
    a, b = known.TIED
    assert names_of(pt.compare_all(a, b, tests=["sign", "exact"])) == ["sign", "exact"]
    with pytest.raises(ValueError, match="'mcnemar' does not apply here; choose among exact"):
        pt.compare_all(a, b, tests=["mcnemar"])
    for bad in ([], ["sign", "sign"]):
        with pytest.raises(ValueError, match="at least one test, and none twice"):
            pt.compare_all(a, b, tests=bad)
    with pytest.raises(TypeError, match="tests='sign' must be a list of names"):
        pt.compare_all(a, b, tests="sign")
    with pytest.raises(ValueError, match="confidence_level must lie in"):
        pt.compare_all(a, b, confidence_level=95)
    with pytest.raises(KeyError, match="there is no test 't' here"):
        pt.compare_all(a, b, K=20)["t"]
    with pytest.raises(ValueError, match=r"u\[0\] = nan is missing"):
        pt.compare_all([math.nan], [1])
    with pytest.raises(ValueError, match="K = 0 samples"):
        pt.compare_all(a, b, K=0)
    with pytest.raises(TypeError, match="trials=3 must have one number"):
        pt.compare_all(a, b, trials=3)
    with pytest.raises(ValueError, match=r"u\[2\] = -1 is below 0"):
        pt.compare_all([1, 2, -1], [1, 0, 2], statistic="accuracy")
    with pytest.raises(ValueError, match="rng=-1 must not be negative"):
        pt.compare_all(a, b, rng=-1)
    with pytest.raises(ValueError, match="u and v have 0 pairs"):
        pt.compare_all([], [])


def test_a_tiny_threshold_overflows_nothing():
    table = pt.compare_all([1, 1, 0], [1, 1, 0], delta=1e-25, K=20, alternative="less")
    assert table["exact"].result.pvalue == 0.125
    assert table["wilcoxon"].result.pvalue == 0.125


def test_r12_of_hits_is_that_of_what_can_be_hit():
    """Yeh (2000), sec. 3.3: 0.35, of the relations; spurious answers are none."""
    hit, spurious, miss, nothing = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)
    rows = [(hit, hit, 19), (hit, miss, 28), (miss, hit, 6), (miss, miss, 50)]
    rows += [(spurious, spurious, 5), (spurious, nothing, 43), (nothing, spurious, 9)]
    u, v = ([row[i] for row in rows for _ in range(row[2])] for i in (0, 1))
    table = pt.compare_all(u, v, statistic="recall", tests=["two_proportion_z"])
    assert "r12 = 0.345" in table["two_proportion_z"].assumptions_text
    found = pt.compare_all(u[:1], v[:1], statistic="recall", tests=["chi_squared"])
    assert "r12" not in found["chi_squared"].assumptions_text
