"""Counts of data sets against their definition and their promise; p of several against SciPy."""

import json
from fractions import Fraction
from math import comb, log10
from xml.etree import ElementTree

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permtest.many.combining import combined_pvalues, partial_conjunction, replicability_count
from permtest.many.replicability import MOST_SHOWN, Replicability, replicability
from scipy.stats import combine_pvalues

from permtest import exact_perm_test
from tests.many import naive

METHODS = ["bonferroni", "fisher"]
CASES = 2000

shares = st.builds(Fraction, st.integers(1, 64), st.just(64))
some = st.lists(shares, min_size=1, max_size=6)


def logs(p):
    return np.log10(np.asarray(p, dtype=float))


def fisher(p):
    return float(combine_pvalues([float(x) for x in p]).pvalue)


# ---- one p-value from several ------------------------------------------------------------------


@settings(max_examples=100)
@given(some)
def test_bonferroni_is_the_worst_of_all_subsets(p):
    wanted = naive.partial_conjunction(p, naive.bonferroni)
    found = 10 ** partial_conjunction(logs(p))
    np.testing.assert_allclose(found, [float(x) for x in wanted], rtol=1e-14)
    np.testing.assert_allclose(found, sorted(map(float, naive.adjusted(p, "holm"))), rtol=1e-14)


@settings(max_examples=100)
@given(some)
def test_fisher_is_the_worst_of_all_subsets(p):
    wanted = naive.partial_conjunction(p, fisher)
    found = 10 ** partial_conjunction(logs(p), method="fisher")
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@settings(max_examples=100)
@given(some, shares)
def test_the_count_is_the_number_of_levels_that_hold(p, alpha):
    if alpha == 1:
        return
    curve = naive.partial_conjunction(p, naive.bonferroni)
    count = replicability_count(logs(p), alpha=float(alpha))
    assert count == sum(x <= alpha for x in curve) == len(naive.rejected(p, "holm", alpha))


def test_levels_are_reached_in_spite_of_roundings():
    """Alpha divided by the number of data sets and multiplied again, in logarithms."""
    for size in range(1, 40):
        assert replicability_count(logs([0.05 / size] * size)) == size
        assert replicability_count(logs([0.05 / size * (1 + 1e-9)] * size)) == 0


def test_an_example_of_both_counts():
    """Fisher adds up what Bonferroni takes one by one, where many p are rather small."""
    p = [0.02, 0.03, 0.04, 0.04, 0.03]
    assert replicability_count(logs(p)) == 0
    assert replicability_count(logs(p), method="fisher") == 5
    one = [0.01, 1, 1, 1, 1]
    assert replicability_count(logs(one)) == 1
    assert replicability_count(logs(one), method="fisher") == 0


@pytest.mark.parametrize("scale", [1, 30, 500, 20_000])
@pytest.mark.parametrize("size", [1, 2, 9])
def test_logarithms_are_right_far_beyond_floats(scale, size):
    p = -scale * np.random.default_rng(size).exponential(size=(size, 3))
    for method, one in (("fisher", _fisher), ("stouffer", _stouffer), ("tippett", _tippett)):
        wanted = [float(one(column)) for column in p.T]
        np.testing.assert_allclose(combined_pvalues(p, method=method), wanted, rtol=2e-12)
    wanted = [float(_fisher(np.sort(column)[u:])) for u in range(size) for column in p.T]
    found = partial_conjunction(p, method="fisher").ravel()
    np.testing.assert_allclose(
        found, np.maximum.accumulate(np.reshape(wanted, (size, 3))).ravel(), rtol=2e-12
    )


def _fisher(column):
    x = -mpmath.fsum(mpmath.mpf(float(v)) for v in column) * mpmath.log(10)
    return mpmath.log10(mpmath.gammainc(len(column), x, regularized=True))


def _stouffer(column):
    with mpmath.workdps(40):
        z = mpmath.fsum(_quantile(float(v)) for v in column) / mpmath.sqrt(len(column))
        return mpmath.log10(mpmath.erfc(-z / mpmath.sqrt(2)) / 2)


def _quantile(log10_p):
    """Where log10 of the normal distribution function has this value, by Newton's method."""
    p = mpmath.mpf(10) ** mpmath.mpf(log10_p)
    z = -mpmath.sqrt(-2 * mpmath.log(p)) if log10_p < -1 else mpmath.mpf(0)
    for _ in range(40):
        below = mpmath.erfc(-z / mpmath.sqrt(2)) / 2
        z -= mpmath.log(below / p) * below / mpmath.npdf(z)
    return z


def _tippett(column):
    with mpmath.workdps(40):
        least = mpmath.mpf(10) ** mpmath.mpf(float(min(column)))
        return mpmath.log10(-mpmath.expm1(len(column) * mpmath.log1p(-least)))


@pytest.mark.parametrize("method", ["fisher", "stouffer", "tippett"])
@settings(max_examples=100)
@given(st.lists(shares, min_size=1, max_size=8))
def test_scipy_combines_the_same(method, p):
    wanted = combine_pvalues([float(x) for x in p], method=method).pvalue
    found = 10 ** combined_pvalues(logs(p), method=method)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("method", ["fisher", "stouffer", "tippett", "bonferroni"])
def test_many_pairs_are_as_good_as_one(method):
    p = -np.random.default_rng(1).exponential(size=(4, 3, 2))
    found = combined_pvalues(p, method=method)
    assert found.shape == (3, 2)
    assert found[2, 1] == combined_pvalues(p[:, 2, 1], method=method)
    single = combined_pvalues([[-0.25, -400.0]], method=method)
    np.testing.assert_allclose(single, [-0.25, -400.0], rtol=1e-14)


@pytest.mark.parametrize("method", ["fisher", "stouffer", "tippett", "bonferroni"])
def test_opposite_directions_do_not_add_up(method):
    """Ahead on one data set as far as behind on the other: two-sided p would agree."""
    greater, less = logs([1e-4, 1]), logs([1, 1e-4])
    both = 10 ** combined_pvalues(greater, less, method=method)
    assert both == pytest.approx(min(1, 2 * 10 ** combined_pvalues(greater, method=method)))
    agreeing = 10 ** combined_pvalues(logs([1e-4, 1e-4]), logs([1, 1]), method=method)
    assert agreeing <= both
    assert both == 10 ** combined_pvalues(less, greater, method=method)
    assert combined_pvalues([0, 0], [0, 0], method=method) == 0
    assert combined_pvalues([-0.01, -0.01], method=method) <= 0


def test_one_p_of_1_outweighs_all_others_by_stouffer():
    assert combined_pvalues([-1000.0, -1000.0, 0.0], method="stouffer") == 0
    assert combined_pvalues([-1000.0, -1000.0, 0.0], method="fisher") < -1990


@pytest.mark.parametrize("method", ["fisher", "stouffer", "tippett", "bonferroni"])
def test_combined_discrete_pvalues_hold_their_level(method):
    """All cases of three sign tests over four, five and six pairs, with their probabilities."""
    laws = [_tails(n) for n in (4, 5, 6)]
    p, mass = _products(laws)
    found = 10 ** combined_pvalues(logs(p), method=method)
    for alpha in np.unique(found):
        assert mass[found <= alpha * (1 + 1e-12)].sum() <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_counts_of_discrete_pvalues_are_too_large_in_alpha_of_all_cases_at_most(method):
    """Three data sets without an effect, and one with as clear an effect as can be."""
    p, mass = _products([_tails(n) for n in (4, 5, 6)])
    count = replicability_count(logs(np.vstack([p, np.full(len(mass), 1e-9)])), method=method)
    assert 0 < mass[count > 1].sum() <= 0.05


def _tails(n):
    """p of the sign test for n, n - 1, ... wins, and their probabilities."""
    masses = [Fraction(comb(n, k), 2**n) for k in range(n + 1)]
    return [(float(sum(masses[: k + 1])), float(masses[k])) for k in range(n + 1)]


def _products(laws):
    """All combinations: an array (D, cases) of p-values, and the probabilities of the cases."""
    p = np.stack(np.meshgrid(*([x for x, _ in law] for law in laws)), 0).reshape(len(laws), -1)
    mass = np.stack(np.meshgrid(*([m for _, m in law] for law in laws)), 0).reshape(len(laws), -1)
    return p, mass.prod(axis=0)


# ---- what the count promises -------------------------------------------------------------------


def _simulated(k, size, rng, correlation=0.0):
    """log10 p of normal scores on data sets of which k have a clear effect."""
    from scipy.special import log_ndtr

    common = rng.normal(size=CASES)
    z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(size, CASES))
    return log_ndtr(z - 40 * (np.arange(size) < k)[:, None]) / np.log(10)


@pytest.mark.parametrize("k", [0, 1, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_the_count_exceeds_the_truth_in_alpha_of_all_cases_at_most(method, k):
    """With k clear effects the bound is sharp: some cases have to exceed it."""
    count = replicability_count(_simulated(k, 6, np.random.default_rng(7 + k)), method=method)
    share, error = np.mean(count > k), (0.05 * 0.95 / CASES) ** 0.5
    assert share <= 0.05 + 3 * error
    assert share >= 0.05 - 4 * error
    assert np.all(count >= k)


def test_dependent_data_sets_are_for_bonferroni():
    p = _simulated(1, 6, np.random.default_rng(3), correlation=0.9)
    assert np.mean(replicability_count(p) > 1) <= 0.05
    assert np.mean(replicability_count(p, method="fisher") > 1) > 0.08


@pytest.mark.parametrize("method", METHODS)
def test_both_directions_share_alpha(method):
    """Better on one data set, worse on one, equal on four: too much is said in 5% at most."""
    rng = np.random.default_rng(11)
    greater, less = _simulated(0, 6, rng), np.empty((6, CASES))
    less = np.log10(-np.expm1(greater * np.log(10)))
    for ahead, behind, row in ((greater, less, 0), (less, greater, 1)):
        ahead[row], behind[row] = -9.0, 0.0
    pairs = np.zeros(CASES, dtype=int)
    found = replicability(
        ["a", "b"], list("uvwxyz"), pairs, pairs + 1, greater, less, method=method
    )
    wrong = (found.first_better > 1) | (found.second_better > 1)
    assert 0.01 < np.mean(wrong) <= 0.05 + 2 * (0.05 * 0.95 / CASES) ** 0.5
    named = np.any(found.better[2:] != 0, axis=0)
    assert np.mean(named) <= 0.05
    assert np.all(found.better[0] == 1)
    assert np.all(found.better[1] == -1)


# ---- both directions of many pairs -------------------------------------------------------------

SYSTEMS, DATA_SETS = ["new", "old", "<b>base</b>"], ["ewt", "gum", "pud", "tweets"]
FIRST, SECOND = [0, 0, 1], [1, 2, 2]
GREATER = [[1e-9, 1, 0.5], [1e-4, 1, 0.6], [0.004, 1e-5, 0.3], [0.3, 1e-12, 0.02]]
LESS = [[1, 1e-4, 0.6], [1, 2e-3, 0.5], [1, 1, 0.8], [0.8, 1, 1]]


def example(**options) -> Replicability:
    return replicability(SYSTEMS, DATA_SETS, FIRST, SECOND, logs(GREATER), logs(LESS), **options)


def test_an_example():
    found = example()
    assert found.first_better.tolist() == [3, 2, 0]
    assert found.second_better.tolist() == [0, 2, 0]
    assert found.better.T.tolist() == [[1, 1, 1, 0], [-1, -1, 1, 1], [0, 0, 0, 0]]
    assert [found.named(1, sign) for sign in (1, -1)] == [("pud", "tweets"), ("ewt", "gum")]
    assert len(found) == 3
    assert str(found).splitlines() == [
        "Of 4 data sets, on how many one system is better than the other: at least so many, with "
        "an error probability of 0.05 for each pair (Bonferroni, however the data sets depend on "
        "each other), and which ones by Holm's correction.",
        "",
        "first  second       first is better on  second is better on",
        "new    old          3 (ewt, gum, pud)   0",
        "new    <b>base</b>  2 (pud, tweets)     2 (ewt, gum)",
        "old    <b>base</b>  0                   0",
    ]


@settings(max_examples=100)
@given(st.lists(st.tuples(shares, shares, shares), min_size=2, max_size=5), shares)
def test_counts_and_names_by_their_definitions(greater, alpha):
    """Half of alpha for each direction; by Bonferroni, as many are named as are counted."""
    if alpha == 1:
        return
    less = [[1 - p + Fraction(1, 64) for p in row] for row in greater]
    names = [f"d{d}" for d in range(len(greater))]
    about = (SYSTEMS, names, FIRST, SECOND)
    found = replicability(*about, logs(greater), logs(less), alpha=float(alpha))
    for pair in range(3):
        for side, sign, count in (
            (greater, 1, found.first_better),
            (less, -1, found.second_better),
        ):
            wanted = naive.rejected([row[pair] for row in side], "holm", alpha / 2)
            assert set(np.flatnonzero(found.better[:, pair] == sign)) == wanted
            assert count[pair] == len(wanted)


def test_fisher_counts_with_half_of_alpha():
    found = example(method="fisher", alpha=0.1)
    wanted = [
        replicability_count(logs(side), alpha=0.05, method="fisher") for side in (GREATER, LESS)
    ]
    assert [found.first_better.tolist(), found.second_better.tolist()] == [
        w.tolist() for w in wanted
    ]
    assert "probability of 0.1 for" in str(found)
    assert "independent data sets" in str(found)
    assert "probability of 0.00111 for" in str(example(alpha=0.05 / 45))


def test_it_goes_with_exact_tests():
    """Three small data sets: seven wins of seven give 1/128, and four of four 1/16."""
    data = {"x": [1] * 7, "y": [1] * 7, "z": [1, 1, 1, 1, 0]}
    sides = [
        [[exact_perm_test(u, [0] * len(u), alternative=side).log10_pvalue] for u in data.values()]
        for side in ("greater", "less")
    ]
    found = replicability(["u", "v"], list(data), [0], [1], *sides)
    assert found.first_better.tolist() == [2]
    assert found.named(0, 1) == ("x", "y")
    wanted = [log10(3 / 128), log10(2 / 128), log10(1 / 16)]
    np.testing.assert_allclose(partial_conjunction(sides[0]).ravel(), np.maximum.accumulate(wanted))


def test_one_pair_either_way_round():
    found = example()
    one = found["new", "<b>base</b>"]
    assert (one.first_better.tolist(), one.second_better.tolist()) == ([2], [2])
    assert (one.named(0, 1), one.named(0, -1)) == (("pud", "tweets"), ("ewt", "gum"))
    turned = found["old", "new"]
    assert next(turned.rows()) == ("old", "new", "0", "3 (ewt, gum, pud)")
    assert turned.systems == found.systems
    with pytest.raises(KeyError, match="are not two of the systems, which are new, old"):
        found["new", "other"]
    with pytest.raises(KeyError, match="are not two of the systems"):
        found["new"]
    with pytest.raises(KeyError, match="have not been compared"):
        found["new", "new"]


def test_only_the_first_pairs_are_shown_and_the_rest_is_counted():
    number = MOST_SHOWN + 2
    p = np.zeros((2, number))
    found = replicability(["a", "b"], ["x", "y"], [0] * number, [1] * number, p, p)
    assert str(found).splitlines()[-1] == "and 2 more pairs, all in to_frame()"
    assert len(str(found).splitlines()) == MOST_SHOWN + 4
    assert found._repr_html_().count("<tr>") == MOST_SHOWN + 1
    assert "and 2 more pairs" in found._repr_html_()
    assert len(found.to_frame()) == number


def test_html_is_well_formed_and_harmless():
    html = example()._repr_html_()
    ElementTree.fromstring(html)
    assert "<b>" not in html
    assert html.count("<tr>") == 4
    assert "3 (ewt, gum, pud)" in html


def test_dict_json_and_frame():
    found = example()
    plain = json.loads(found.to_json())
    assert plain == found.to_dict()
    assert plain["better"] == found.better.tolist()
    assert (plain["systems"], plain["data_sets"]) == (SYSTEMS, DATA_SETS)
    assert (plain["alpha"], plain["method"]) == (0.05, "bonferroni")
    frame = found.to_frame()
    assert frame["first_better"].tolist() == [3, 2, 0]
    assert frame["second_better_on"].tolist() == ["", "ewt, gum", ""]
    assert frame.loc[1, ["first", "second", "first_better_on"]].tolist() == [
        "new",
        "<b>base</b>",
        "pud, tweets",
    ]


def test_a_result_does_not_change():
    first = np.array(FIRST)
    found = replicability(SYSTEMS, DATA_SETS, first, SECOND, logs(GREATER), logs(LESS))
    first[0] = 2
    assert found.first.tolist() == FIRST
    with pytest.raises(ValueError, match="read-only"):
        found.better[0, 0] = 0
    with pytest.raises(AttributeError):
        found.alpha = 0.1


def test_without_pairs_there_is_nothing_to_say():
    found = replicability(SYSTEMS, DATA_SETS, [], [], np.empty((4, 0)), np.empty((4, 0)))
    assert len(found) == len(found.to_frame()) == 0
    assert str(found).endswith("second is better on")


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.25, -np.inf, np.nan])
def test_what_is_no_logarithm_is_named(bad):
    p = [[-1.0, -2.0], [-1.0, bad]]
    words = rf"\[1, 1\] = {bad} is no decimal logarithm of a p-value"
    for call in (partial_conjunction, replicability_count):
        with pytest.raises(ValueError, match="^log10_pvalue" + words):
            call(p)
    with pytest.raises(ValueError, match="^greater" + words):
        combined_pvalues(p)
    with pytest.raises(ValueError, match="^less" + words):
        combined_pvalues([[0.0, 0.0]] * 2, p)


@pytest.mark.parametrize("bad", [[], -1.0, ["a"], [True]])
def test_what_is_no_array_of_numbers_is_refused(bad):
    with pytest.raises(TypeError, match="log10_pvalue must be an array of numbers"):
        partial_conjunction(bad)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, float("nan")])
def test_alpha_is_a_level(alpha):
    for call in (lambda: replicability_count([-1.0], alpha=alpha), lambda: example(alpha=alpha)):
        with pytest.raises(ValueError, match=r"alpha must lie in \(0, 1\), got"):
            call()


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="method='holm' is not known; choose one of 'bonferroni'"):
        example(method="holm")
    with pytest.raises(ValueError, match="choose one of 'fisher', 'stouffer', 'tippett', 'bonf"):
        combined_pvalues([-1.0], method="mean")


def test_the_sides_have_to_be_those_of_one_test():
    with pytest.raises(ValueError, match=r"greater\[1, 0\] and less\[1, 0\] are p-values that add"):
        replicability(["a", "b"], ["x", "y"], [0], [1], [[0.0], [-1.0]], [[0.0], [-1.0]])
    with pytest.raises(ValueError, match=r"greater\[0\] and less\[0\]"):
        combined_pvalues([-1.0], [-1.0])
    with pytest.raises(ValueError, match=r"greater has shape \(1,\), and less has \(2,\)"):
        combined_pvalues([0.0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"systems": "ab"}, "systems='ab' must be a list of names"),
        ({"systems": [1, 2]}, "must be a list of names"),
        ({"systems": ["a", "a"]}, "must be two names or more, all different"),
        ({"data_sets": ["x"]}, "data_sets=.* must be two names or more"),
        ({"data_sets": ["x", "y", "z"]}, r"greater has shape \(2, 1\), but there are 3 data sets"),
        ({"first": [0, 1]}, "first and second name 2 and 1 systems"),
        ({"first": [2]}, "first has entries outside of 0 to 1"),
        ({"second": [-1]}, "second has entries outside of 0 to 1"),
        ({"second": [0.5]}, "second must be a list of integers"),
        ({"second": 0}, "second must be a list of integers"),
        ({"less": [[0.0]]}, r"less has shape \(1, 1\)"),
    ],
)
def test_what_does_not_fit_is_named(changed, words):
    fine = {
        "systems": ["a", "b"],
        "data_sets": ["x", "y"],
        "first": [0],
        "second": [1],
        "greater": [[-1.0], [-1.0]],
        "less": [[0.0], [0.0]],
    }
    with pytest.raises((TypeError, ValueError), match=words):
        replicability(**(fine | changed))
