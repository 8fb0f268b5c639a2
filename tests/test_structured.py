"""Tests of measures of several sums, against enumeration with fractions and integer counts."""

import json
from contextlib import nullcontext, suppress
from fractions import Fraction
from itertools import product
from math import exp
from operator import sub

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest._errors import TooHard
from permtest.methods import _says_more
from permtest.null.distribution import Probability
from permtest.statistics import _MEASURES, Statistic
from tests import naive
from tests.strategies import alternatives, count_tables

RATIOS = sorted({*naive.MEASURES, *(measure.name for measure in _MEASURES)})
EASY = ["precision", "recall", "f1", "f0.5", "jaccard"]
#: Precision is 1 of both systems, unless one of them has all hits: then the other has 0 / 0.
HITS_ALONE = [(1, 0, 0), (0, 0, 2), (3, 0, 0)], [(0, 0, 1), (2, 0, 0), (0, 0, 3)]


def agrees(result, expected: Fraction, tolerance: float = 1e-12) -> bool:
    """p is right within its own bound, and that bound keeps to the contract."""
    error = abs(Fraction(result.pvalue) - expected)
    return error <= expected * Fraction(result.error_bound) and result.error_bound <= tolerance


@pytest.mark.parametrize("name", RATIOS)
@settings(max_examples=60)
@given(both=count_tables(), alternative=alternatives)
@example(both=HITS_ALONE, alternative="two-sided")
def test_every_ratio_equals_enumeration_with_fractions(name, both, alternative):
    u, v = both
    result = pt.exact_perm_test(u, v, statistic=name, alternative=alternative)
    expected = naive.measure_pvalue(u, v, naive.MEASURES[name], alternative)
    assert result.fraction() == expected
    assert agrees(result, expected)
    mine, theirs = (naive.MEASURES[name](*naive.added(x)) for x in (u, v))
    assert result.scores == (float(mine), float(theirs))
    assert result.statistic == float(mine - theirs)


METHODS = ["tilted", "dp", "cf", "enumeration", "integer"]


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data(), name=st.sampled_from(EASY), alternative=alternatives)
def test_every_method_agrees(method, data, name, alternative):
    u, v = data.draw(count_tables())
    expected = naive.measure_pvalue(u, v, naive.MEASURES[name], alternative)
    # There are tails that no single tilt is good at.
    with suppress(TooHard) if method == "tilted" else nullcontext():
        result = pt.exact_perm_test(u, v, statistic=name, alternative=alternative, method=method)
        assert agrees(result, expected, 1e-11 if method == "cf" else 1e-12)
        assert result.method == method


@pytest.mark.parametrize("largest", [10**6, 10**10, 10**14])
def test_counts_whose_plane_has_no_room_in_64_bits(largest):
    u, v = np.random.default_rng(1).integers(0, largest, (2, 6, 3)).tolist()
    expected = naive.measure_pvalue(u, v, naive.MEASURES["f1"], "two-sided")
    assert pt.exact_perm_test(u, v, statistic="f1").fraction() == expected


# ---- known answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f1", "f2", "recall", "jaccard"])
@settings(max_examples=40)
@given(data=st.data(), alternative=alternatives)
def test_averages_over_classes_equal_enumeration(name, data, alternative):
    one, two = data.draw(count_tables(6, 6, 2))
    u, v = (np.array(x).reshape(len(x), 2, 3) for x in (one, two))
    result = pt.exact_perm_test(u, v, statistic=f"macro_{name}", alternative=alternative)

    def macro(*x):
        return sum(naive.MEASURES[name](*y) for y in (x[:3], x[3:])) / 2

    expected = naive.measure_pvalue(one, two, macro, alternative)
    assert result.fraction() == expected
    assert agrees(result, expected)


def test_ties_that_floats_lose():
    u, v = [(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]
    assert pt.exact_perm_test(u, v, statistic="f1").fraction() == Fraction(1, 2)
    u, v = [(2, 0), (6, 2), (80, 25)], [(0, 4), (0, 0), (80, 25)]
    assert pt.perm_test_F1(u, v).fraction() == 1


def test_what_cannot_be_exact_is_sampled_and_says_so():
    u, v = np.random.default_rng(0).integers(0, 3, (2, 300, 9, 3))
    result = pt.exact_perm_test(u, v, statistic="macro_f1", rng=1)
    assert (result.method, result.error_bound) == ("monte_carlo", None)
    assert "out of reach" in result.method_reason
    again = pt.monte_carlo(u, v, statistic="macro_f1", K=result.n_samples, rng=1)
    assert again.pvalue == result.pvalue
    with pytest.raises((MemoryError, ArithmeticError)):
        pt.exact_perm_test(u, v, statistic="macro_f1", method="dp")


def documents(n: int, length: int, second: float):
    """Counts of two systems on whole documents, of some hundred or some ten thousand spans."""
    rng = np.random.default_rng(0)
    gold = rng.integers(length // 2, 2 * length, n)
    tables = []
    for rate in (0.1, second):
        hits = rng.binomial(gold, 1 - rate)
        tables.append(np.stack([hits, rng.poisson(rate * gold), gold - hits], axis=1))
    return tables


def test_bounds_of_large_counts_are_closer_than_samples():
    tables = documents(60, 10**5, 0.1)
    even, sampled = pt.perm_test_F1(*tables), pt.monte_carlo(*tables, statistic="f1", rng=0)
    low, high = sampled.pvalue_interval(0.999)
    clear = pt.perm_test_F1(*documents(1000, 10**4, 0.105))
    assert clear.pvalue < 1e-250 < low < even.pvalue < high
    assert max(clear.error_bound, even.error_bound) < 1e-3
    assert clear.method == even.method == "bracket"


def test_whether_bounds_say_more_than_samples():
    cases = [(0.5, 0.0126), (0.5, 0.0127), (2.9e-5, 9), (3.1e-5, 9), (1, 9e-5), (1, 2e-4)]
    assert [_says_more(Probability.of(*x)) for x in cases] == [True, False] * 3


def test_means_have_the_p_of_sums():
    u, v = [0.5, 0.25, 1, 0.75], [0, 0.5, 0.5, 0.25]
    mean, total = (pt.exact_perm_test(u, v, statistic=s) for s in ("mean", "sum"))
    assert mean.pvalue == total.pvalue
    assert mean.statistic == total.statistic / 4
    assert mean.scores == (0.625, 0.3125)
    assert "0.3125 more than v on average (0.625 against 0.3125)" in str(mean)


# ---- any function of any sums ------------------------------------------------------------------

SUMS = [lambda a, b: a[0], lambda a, b: a[1], lambda a, b: b[0], lambda a, b: b[1]]


@given(table=count_tables(2, 7), weights=st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_any_function_of_sums_equals_enumeration(table, weights):
    u, v = table

    def h(*x):
        return (sum(w * y for w, y in zip(weights, x, strict=True)) ** 2 + x[0] * x[3]) % 7

    result = pt.exact_perm_test(u, v, SUMS, h)
    values = []
    for swaps in product([False, True], repeat=len(u)):
        pairs = [(b, a) if s else (a, b) for a, b, s in zip(u, v, swaps, strict=True)]
        values.append(h(*(sum(g(a, b) for a, b in pairs) for g in SUMS)))
    assert result.fraction() == Fraction(sum(x >= values[0] for x in values), len(values))
    assert result.rank <= 2
    assert agrees(result, result.fraction())


def first(a, _):
    return a


@pytest.mark.parametrize("test", [pt.exact_perm_test, pt.monte_carlo])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"g": 3}, TypeError, "g=3 must be a function of two entries, or a list"),
        ({"g": {first}, "h": abs}, TypeError, "g={.*} must be a function of two entries, or a"),
        ({"g": [], "h": abs}, TypeError, r"g=\[\] must be a function of two entries, or a list"),
        ({"g": [first, 7], "h": max}, TypeError, "7] must be a function of two entries"),
        ({"g": [first, first]}, TypeError, "h=None is no function, .* an h of 2 sums, as in Alg"),
        ({"g": [first], "h": "f1"}, TypeError, "h='f1' must be a function of the sum, or of all"),
        ({"h": "f1"}, TypeError, "h='f1' must be a function of the sum"),
        ({"h": first}, TypeError, "missing 1 required positional argument"),
        ({"g": [first, lambda a, b: a / 2], "h": min}, ValueError, r"g\[1\]\(u, v\)\[0\] = 0.5"),
        ({"g": [first], "h": str}, ValueError, r"h\(1\) = '1', but h must return a number"),
        ({"h": lambda s: [s]}, ValueError, r"h\(-?1\) = \[-?1\], but h must return a number"),
        ({"h": lambda s: float("nan")}, ValueError, "= nan, but h must return a number"),
        ({"g": [first], "h": abs, "alternative": "less"}, ValueError, "put the direction into h"),
        ({"g": [first], "h": abs, "statistic": "mean"}, ValueError, "a statistic is a g"),
        ({"g": [first], "h": abs, "statistic": "f1"}, ValueError, "a g and an h of its own"),
    ],
)
def test_what_is_no_list_of_functions_of_sums_is_refused(test, options, error, message):
    with pytest.raises(error, match=message):
        test([1], [2], **options)


def test_a_list_of_g_has_all_options_of_entries():
    def gap(x, y):
        return abs(x - y)

    pairs, docs = pt.Scores.of([3, 5, 4, 6], [2, 5, 1, 7]), ["a", "a", "b", "b"]
    how = {"clusters": docs, "g": (g for g in (first, lambda a, b: b)), "h": gap}
    result = pt.exact_perm_test(pairs, names=("new", "old"), method="integer", **how)
    assert (result.method, result.names, result.n) == ("integer", ("new", "old"), 2)
    assert result.pvalue == pt.exact_perm_test(pairs, clusters=docs).pvalue
    how["g"] = np.array([first, lambda a, b: b])
    sampled = pt.monte_carlo(pairs, K=4000, rng=0, **how)
    assert (sampled.sums, sampled.rank) == (result.sums, result.rank) == ((18, 15), 1)
    assert sampled.pvalue == pytest.approx(result.pvalue, abs=0.05)


@pytest.mark.parametrize("size", [1e-15, 1.0, 1e15])
def test_ties_of_floats_are_relative_to_the_values(size):
    """The same for one sum as for several, whatever the unit of h."""
    u, v = [1, 2, 4], [0, 0, 0]

    def h(x):  # 7 and 5 are 1e-13 of the largest value apart, 7 and 3 are 1e-6
        return size * {7: 1.0, 5: 1.0 - 1e-13, 3: 1.0 - 1e-6}.get(x, 0.0)

    def nothing(x):  # what ought to be 0 is 0 beside the other values
        return size * (1e-17 if x == 7 else float(x < 0))

    assert pt.exact_perm_test(u, v, h=h).pvalue == 0.25
    assert pt.exact_perm_test(u, v, [lambda a, b: a - b], h).pvalue == 0.25
    assert pt.monte_carlo(u, v, h=h, K=4000, rng=0).pvalue == pytest.approx(0.25, abs=0.05)
    assert pt.exact_perm_test(u, v, h=nothing).pvalue == 1


def test_values_that_are_huge_tie_with_none_but_their_equals():
    u, v = [1] * 24 + [0] * 16, [0] * 24 + [1] * 16
    plain = pt.exact_perm_test(u, v, alternative="greater").pvalue
    assert pt.exact_perm_test(u, v, h=lambda s: exp(4.0 * s)).pvalue == plain < 0.3
    assert pt.exact_perm_test([1, 2, 4], [0, 0, 0], h=lambda x: 10**400 + x).pvalue == 0.125


def test_a_large_joint_law_has_a_window():
    u, v = documents(5_000, 6, 0.101)
    columns = [lambda a, b: int(a[0]), lambda a, b: int(a[1] + a[2])]
    columns += [lambda a, b: int(b[0]), lambda a, b: int(b[1] + b[2])]

    def gap(a, b, c, d):
        return abs(2 * a / (2 * a + b) - 2 * c / (2 * c + d))

    result = pt.exact_perm_test(u, v, columns, gap)
    exact = pt.exact_perm_test(u, v, statistic="f1")
    assert result.method == "cf"
    assert result.pvalue == pytest.approx(exact.pvalue, rel=max(result.error_bound, 1e-15) * 1.01)
    assert result.error_bound < 1e-9


def test_sums_that_do_not_fit_are_refused_with_their_size():
    rng = np.random.default_rng(0)
    u, v = (rng.integers(0, 100, (400, 5)).tolist() for _ in range(2))
    g = [lambda a, b, k=k: a[k] for k in range(5)]
    with pytest.raises(MemoryError, match=r"5 independent sums needs .* cells.*monte_carlo"):
        pt.exact_perm_test(u, v, g, lambda *x: x[0] * x[1] - x[2])


# ---- clusters ----------------------------------------------------------------------------------


@given(table=count_tables(3, 9), data=st.data(), alternative=alternatives)
def test_clusters_are_swapped_as_a_whole(table, data, alternative):
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=len(table[0]), max_size=99))
    labels = labels[: len(table[0])]
    how = {"alternative": alternative, "clusters": labels}
    folded = [
        [naive.added([r for r, c in zip(x, labels, strict=True) if c == k]) for k in set(labels)]
        for x in table
    ]
    result = pt.exact_perm_test(*table, statistic="f1", **how)
    expected = naive.measure_pvalue(*folded, naive.MEASURES["f1"], alternative)
    assert result.fraction() == expected
    assert (result.n, result.n_entries) == (len(set(labels)), len(labels))
    one = pt.exact_perm_test(*([row[0] for row in x] for x in table), **how)
    sums = [[row[0] for row in x] for x in folded]
    assert one.fraction() == naive.pvalue(*sums, h=naive.h_of(alternative))


# ---- input and output --------------------------------------------------------------------------


PAIRS = pt.Scores.of_counts({"u": [[1, 2]], "v": [[0, 2]]})


@pytest.mark.parametrize(("hits", "misses"), [
    ((1, 0, 0), ()), ((), (0, 1, 0)), ((1,), (1,)), ((0, 0, 0), (0, 1, 0)),
    ((1, 0, 0), (0, -1, 0)), ((0.5, 0, 0), (0, 1, 0)),
])  # fmt: skip
def test_weights_of_a_ratio_are_checked(hits, misses):
    with pytest.raises(ValueError, match="must each be three integers"):
        Statistic("x", hits=hits, misses=misses)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[1, 0]], {"statistic": "precision"}, r"u has shape \(1, 2\) and columns tp, incorrect"),
        ([[3, 1]], {"statistic": Statistic("x", hits=(0, 1, 0), misses=(1, 0, 0))}, "tp, fp, fn"),
        ([1, 0], {"statistic": "f1"}, r"u has shape \(2,\), but counts have shape"),
        ([[1, 0, 1]], {"statistic": "macro_f1"}, r"\(N, classes, columns\)"),
        ([[1, 0, 1]], {}, "u must be one-dimensional"),
        (pd.DataFrame({"tp": [1]}), {"statistic": "f1"}, "u has the columns"),
        ([1], {"statistic": "f0"}, "beta=0 must be above 0"),
        ([1], {"statistic": "f1", "h": abs}, "leave them out"),
        ([[1]], {"statistic": "mean", "axis": 1}, "axis works for sums"),
        (PAIRS, {"statistic": "recall"}, "needs, for each system, counts"),
        (PAIRS, {}, "one score for each entry"),
        (PAIRS, {"statistic": "f1", "clusters": [1, 2]}, "clusters has 2 labels for 1 entries"),
    ],
)
def test_what_no_measure_takes_is_refused(scores, options, message):
    with pytest.raises(ValueError, match=message):
        pt.exact_perm_test(scores, None if scores is PAIRS else scores, **options)


def test_a_result_says_what_it_knows():
    u, v = [[3, 1, 0], [2, 0, 1], [1, 1, 1]], [[1, 0, 2], [2, 2, 1], [1, 0, 1]]
    result = pt.exact_perm_test(u, v, statistic="f1", names=("new", "old"))
    assert str(result).startswith(
        "F1 of new is 0.1786 higher than that of old (0.75 against 0.5714)"
    )
    assert result.parts == ("2 tp", "fp + fn")
    assert (result.sums, result.other_sums) == ((12, 4), (8, 6))
    fields = json.loads(result.to_json())
    assert (fields["sums"], fields["scores"]) == ([12, 4], pytest.approx([0.75, 4 / 7]))
    law = result.null_distribution
    assert law.pmf[(law.support == result.sums).all(axis=1)].sum() == 0.125
    assert law.pmf[result.extreme].sum() == pytest.approx(result.pvalue)
    assert ((abs(result.null_values) >= result.statistic - 1e-12) == result.extreme).all()


def test_scores_keep_their_direction_and_their_names_and_g_takes_whole_ones():
    both = {"a": [(2, 0, 1)], "b": [(0, 2, 3)]}
    counts = pt.Scores.of_counts(both, higher_is_better=False)
    assert pt.exact_perm_test(counts, statistic="f1").higher_is_better is False
    assert pt.exact_perm_test(pt.Scores.of([3], [1], ("x", "y")), g=sub).names == ("x", "y")
    three = pt.Scores.of_columns({"a": [1], "b": [2], "c": [3]})
    for scores, message in ((three, "3 systems"), (pt.Scores.of([0.5], [1]), "multiples of 1/10")):
        with pytest.raises(ValueError, match=message):
            pt.exact_perm_test(scores, g=sub)
