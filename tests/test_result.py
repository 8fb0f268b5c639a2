"""The result: sentence, HTML, dictionary, JSON, frame; frozen, picklable, never at odds with p."""

import json
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

from permtest import Scores, exact_perm_test, monte_carlo
from tests import naive
from tests.strategies import alternatives, count_tables, pairs

U, V = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]


@pytest.fixture
def result():
    return exact_perm_test(U, V, names=("new", "old"))


def test_sentence(result):
    assert str(result) == (
        "new scores 7 more than old (20 against 13) over 5 pairs, 4 of which differ: p = 0.125 "
        "(exact two-sided paired-permutation test). With 4 pairs that differ, p cannot be below "
        "0.125."
    )


MEANS = {"statistic": "mean", "names": ("b (1)", "b (2)")}
LOSS = Scores.of(U, V, score="loss", higher_is_better=False)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (exact_perm_test(V, U), "u scores 7 less than v"),
        (exact_perm_test(U, U), "the same (20) over 5 pairs, none of which differ:"),
        (exact_perm_test(U, V, alternative="greater"), "exact one-sided paired-permutation test"),
        (exact_perm_test(U, V, alternative="greater"), "that u scores higher)"),
        (exact_perm_test([1], [0]), "over 1 pair, which differs:"),
        (exact_perm_test([1], [1]), "over 1 pair, which does not differ:"),
        (exact_perm_test(U, V, h=abs), "abs(sum) of u against v is 7 over 5 pairs, 4 of which"),
        (exact_perm_test(U, V, h=abs), "(exact upper-tailed paired-permutation test)."),
        (exact_perm_test(U, V, g=lambda a, b: a - b), "g of u against v is 7"),
        (exact_perm_test([1, 0], [0, 1], **MEANS), "b (1) and b (2) score the same on average"),
        (exact_perm_test(LOSS), "7 more than v in loss (20 against 13; lower is better)"),
        (monte_carlo(U, V, K=500, rng=0), "by 500 random labellings; 95% interval 0.1"),
    ],
)
def test_sentences_of_other_cases(result, text):
    assert text in str(result)


def test_the_higher_system(result):
    assert (result.higher, result.difference) == ("new", 7)
    assert exact_perm_test(LOSS).higher == "u"
    assert exact_perm_test(U, U, statistic="accuracy").higher is None


@given(columns=pairs(max_size=8), alternative=alternatives)
def test_the_smallest_p_is_that_of_the_most_extreme_labelling(columns, alternative):
    every = naive.labellings(*columns)
    h = naive.h_of(alternative)
    most = max(map(h, every))
    smallest = sum(h(s) == most for s in every) / len(every)
    assert exact_perm_test(*columns, alternative=alternative).smallest_pvalue == smallest


@given(rows=count_tables(max_size=6, largest=3), alternative=alternatives)
def test_the_smallest_p_of_a_measure_is_that_of_the_most_extreme_labelling(rows, alternative):
    result = exact_perm_test(*rows, statistic="f1", alternative=alternative)
    values = naive.measure_values(*rows, naive.MEASURES["f1"], alternative)
    smallest = values.count(max(values)) / len(values)
    assert result.smallest_pvalue == smallest


def test_what_cannot_be_small_or_does_not_vary_is_said():
    text = str(exact_perm_test([1] * 7, [0] * 7, names=("new", "old")))
    assert text.endswith("test). new scores 1 on every item. old scores 0 on every item.")
    assert exact_perm_test(U, V).to_dict()["notes"] == [
        "With 4 pairs that differ, p cannot be below 0.125."
    ]
    one = exact_perm_test([1, 1, 0], [0, 1, 0], alternative="greater")
    assert one.notes == ("With 1 pair that differs, p cannot be below 0.5.",)
    assert exact_perm_test(U, U).notes == ()
    assert exact_perm_test(range(6), [7, 0, 0, 0, 0, 0]).notes == ()
    assert exact_perm_test([2.5] * 9, range(9)).notes == ("u scores 2.5 on every item.",)
    assert monte_carlo([3] * 4, V[:4], K=99, rng=0).notes == ("u scores 3 on every item.",)


@given(columns=pairs(max_size=10), alternative=alternatives)
def test_the_distribution_and_the_region_give_p_back(columns, alternative):
    result = exact_perm_test(*columns, alternative=alternative)
    try:
        law = result.null_distribution
    except MemoryError:
        return
    assert law.pmf[result.extreme].sum() == pytest.approx(result.pvalue, rel=1e-12)
    assert law(result.marks[0]) > 0
    assert result.extreme[law.support == result.marks[0]].all()
    assert str(result)
    ElementTree.fromstring(result._repr_html_())


def test_dictionary_and_json(result):
    record = result.to_dict()
    assert json.loads(result.to_json(indent=1)) == record
    known = {"pvalue": 0.125, "names": ["new", "old"], "statistic": 7, "n": 5}
    known |= {"n_informative": 4, "alternative": "two-sided", "metric": "sum", "higher": "new"}
    assert known.items() <= record.items()
    assert {"log10_pvalue", "method", "error_bound", "pvalue_interval"} <= record.keys()
    for h, statistic in ((np.int64, 7), (lambda s: Fraction(s, 2), 3.5)):
        assert json.loads(exact_perm_test(U, V, h=h).to_json())["statistic"] == statistic


def test_frozen_comparable_and_picklable(result):
    with pytest.raises(FrozenInstanceError):
        result.pvalue = 0.01
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.null_distribution.pmf.tolist() == result.null_distribution.pmf.tolist()


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "1"), (10, "0.00195"), (100, "1.58e-30"), (1100, "1.47e-331"), (3323, "9.51e-1001")],
)
def test_digits_of_p_at_any_size(n, text):
    assert exact_perm_test([1] * n, [0] * n).pvalue_text() == text
    lost = exact_perm_test([0] * 14 + [1], [1] * 14 + [0], alternative="greater")
    assert lost.pvalue_text() == "0.99997"  # and not the 1 that it is not


def test_a_function_of_two_sums_has_parts_and_no_tilted_tail():
    u, v = [(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]
    question = u, v, [lambda a, b: a[0], lambda a, b: a[1]], lambda x, y: x * x + y
    assert exact_perm_test(*question).parts == ("g_1", "g_2")
    with pytest.raises(ArithmeticError, match="sums on a line"):
        exact_perm_test(*question, method="tilted")
