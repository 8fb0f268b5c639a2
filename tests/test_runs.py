"""Repeated runs: all null hypotheses against all ways to deal the runs, level, sentences."""

import json
import pickle
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import Scores, exact_perm_test, exact_runs_test
from permtest._errors import TooHard
from permtest.null import multinomial_sum
from permtest.null.multinomial_sum import ways
from permtest.runs import NULLS
from permtest.scores import Runs
from tests import naive
from tests.strategies import alternatives

SCORE = {
    "binary": st.integers(0, 1),
    "small": st.integers(-3, 5),
    "decimal": st.integers(0, 20).map(lambda x: x / 10),
}


@st.composite
def runs(draw, kinds=tuple(SCORE)):
    """Two ragged lists of runs of the same items."""
    score, size = SCORE[draw(st.sampled_from(kinds))], draw(st.integers(1, 4))
    item = st.lists(score, min_size=1, max_size=3)
    return tuple(draw(st.lists(item, min_size=size, max_size=size)) for _ in range(2))


@st.composite
def tables(draw):
    """Two tables of runs, of one number of items but not of runs."""
    score, size = SCORE[draw(st.sampled_from(tuple(SCORE)))], draw(st.integers(1, 3))
    rows = [st.lists(score, min_size=k, max_size=k) for k in (draw(st.integers(1, 4)), 3)]
    return tuple(draw(st.lists(row, min_size=size, max_size=size)) for row in rows)


def exactly(rows):
    return [[Fraction(str(x)) for x in row] for row in rows]


# ---- against all ways to deal the runs -----------------------------------------------------------


@given(runs(), alternatives)
def test_runs_against_all_ways_to_deal_them(both, alternative):
    a, b = map(exactly, both)
    found = exact_runs_test(*both, null="runs", alternative=alternative)
    exact = naive.runs_pvalue(a, b, alternative)
    assert found.fraction() == exact
    low, high = found.pvalue_interval()
    assert low <= exact <= high <= low * (1 + 2 * found.error_bound + 2e-15)  # its ends are rounded
    first, second = (sum(sum(x) / len(x) for x in one) for one in (a, b))
    assert found.statistic == float(first - second)
    least = naive.smallest_runs_pvalue(a, b, alternative)
    assert found.smallest_pvalue == pytest.approx(float(least), rel=1e-12, abs=0)


@given(runs(("binary",)), alternatives, st.sampled_from("@^"), st.data())
def test_pass_at_k_against_all_ways_to_deal_the_runs(both, alternative, kind, data):
    a, b = both
    k = data.draw(st.integers(1, min(map(len, [*a, *b]))))

    def worth(own):
        wrong = len(own) - sum(own)
        some = Fraction(comb(wrong if kind == "@" else sum(own), k), comb(len(own), k))
        return 1 - some if kind == "@" else some

    how = {"null": "runs", "alternative": alternative}
    found = exact_runs_test(a, b, statistic=f"pass{kind}{k}", **how)
    assert found.fraction() == naive.runs_pvalue(a, b, alternative, worth)
    assert found.metric == f"pass{kind}{k}"


@given(runs(), alternatives)
def test_items_are_swapped_with_all_their_runs(both, alternative):
    means = [[sum(x) / len(x) for x in exactly(one)] for one in both]
    found = exact_runs_test(*both, alternative=alternative)
    expected = exact_perm_test(*means, alternative=alternative)
    assert found.fraction() == expected.fraction()
    assert (found.null, found.statistic) == ("items", float(expected.statistic))
    assert found.smallest_pvalue == expected.smallest_pvalue


@given(tables(), alternatives)
def test_whole_runs_against_all_ways_to_deal_them(both, alternative):
    found = exact_runs_test(*both, null="systems", alternative=alternative)
    exact = naive.whole_runs_pvalues(*map(exactly, both), alternative)
    assert (found.fraction(), found.smallest_pvalue) == (exact[0], float(exact[1]))
    assert found.pvalue == pytest.approx(float(exact[0]), rel=1e-15)
    plain = exact_runs_test(*both, alternative=alternative)
    assert (found.statistic, found.scores) == (plain.statistic, plain.scores)
    law = found.null_distribution
    assert law.pmf @ law.support == pytest.approx(0, abs=1e-9)


# ---- what goes in --------------------------------------------------------------------------------


def test_all_forms_of_the_same_runs():
    a, b = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]]), np.array([[0, 1], [0, 0], [1, 0]])
    p = exact_runs_test(a, b).pvalue
    for form in (
        (a.tolist(), b.tolist()),
        (pd.DataFrame(a), b),
        (Scores.of_runs({"x": a, "y": b}),),
    ):
        assert exact_runs_test(*form).pvalue == p
    found = exact_runs_test(Scores.of_runs({"x": a, "y": b}), names=("new", "old"))
    assert (found.names, found.null, found.higher) == (("new", "old"), "items", "new")


@pytest.mark.parametrize("numbers", [(3, 3), (4, 3)])
def test_labels_tell_which_runs_of_items_belong_together(numbers):
    """Also where they come in any order."""
    rng = np.random.default_rng(17)
    both = [rng.integers(0, 9, (6, k)) + np.arange(k) ** 2 for k in numbers]
    systems = {}
    for name, own in zip("xy", both, strict=True):
        order = np.argsort(rng.random(own.shape), axis=1)
        labels = tuple(f"seed {j}" for j in order.ravel())
        mixed = np.take_along_axis(own, order, axis=1).ravel()
        systems[name] = Runs(mixed, np.full(6, own.shape[1]), labels)
    scores = Scores.of_runs(systems, ids=tuple(f"q{i}" for i in range(6)))
    for side in ("two-sided", "greater"):
        found, expected = (
            exact_runs_test(*x, null="systems", alternative=side) for x in ((scores,), both)
        )
        assert found.fraction() == expected.fraction()
    own = systems["x"]
    systems["x"] = own._replace(labels=("seed 7", *own.labels[1:]))
    with pytest.raises(ValueError, match=r"item 'q0' has 0 runs 'seed \d' of x, not one"):
        exact_runs_test(Scores.of_runs(systems, ids=scores.ids), null="systems")


NAMED = Scores.of_runs({"u": [[1, 1], [2]], "v": [[0, 1], [1]]}, ids=("q1", "q2"))
RAGGED = [[1, 0], [1]]
SYSTEMS = {"null": "systems"}
BAD = {
    "missing": (([[1, None]], [[1]]), {}, r"a\[0, 1\] = None"),
    "items": (([[1]], [[1], [2]]), {}, "a has 1 entries and b has 2"),
    "no b": (([[1]],), {}, "pass the runs of both"),
    "both": ((NAMED, NAMED), {}, "Scores alone, which hold"),
    "no runs": ((Scores.of([1, 2], [1, 1]),), {}, r"with their runs.*--run"),
    "clusters": ((NAMED.clustered([*"xy"]),), {}, "without clusters"),
    "statistic": (([[1]], [[1]]), {"statistic": "median"}, "pass@5"),
    "few runs": (([[1]], [[1]]), {"statistic": "pass@2"}, "item 1 has 1 run of a, fewer"),
    "scores": ((NAMED,), {"statistic": "pass@1"}, "some runs of u score otherwise"),
    "null": (([[1]], [[1]]), {"null": "both"}, "null='both'"),
    "not whole": ((RAGGED, RAGGED), SYSTEMS, "item 2 has 0 runs '2' of a, not one"),
    "no items": (([], []), SYSTEMS, "there are no items"),
    "whole pass@k": (([[1]], [[1]]), {**SYSTEMS, "statistic": "pass@1"}, "use statistic='m"),
    "floats": ((np.random.default_rng(0).random((5, 3)), np.eye(5)), {}, "round them"),
}


@pytest.mark.parametrize(("both", "options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_runs(both, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        exact_runs_test(*both, **options)


# ---- out of reach --------------------------------------------------------------------------------


def test_what_is_out_of_reach_is_refused_soon(monkeypatch):
    """Scores that many runs share take as many additions as there are runs, not as scores."""
    tried = []
    monkeypatch.setattr(multinomial_sum, "comb", lambda n, k: tried.append(n) or comb(n, k))
    monkeypatch.setattr(multinomial_sum, "MOST_WAYS", 10_000)
    with pytest.raises(TooHard, match="too many ways to deal the runs; round"):
        ways([total for total in range(20) for _ in range(60)], 600)
    assert len(tried) <= 10_000


def test_ways_to_deal_are_counted_score_by_score():
    for pool in np.random.default_rng(0).integers(-3, 4, (9, 9)).tolist():
        assert ways(pool, 4) == Counter(map(sum, combinations(pool, 4)))


@pytest.mark.parametrize("begun", [True, False])
def test_what_would_take_long_is_refused(begun, monkeypatch):
    """As the message says, fewer digits can do, and swapping items does."""
    a, b = np.random.default_rng(0).random((2, 8, 30))
    coarse, a, b = [x.round(0) for x in (a, b)], a.round(3), b.round(3)
    assert exact_runs_test(a, b, null="runs").error_bound < 1e-13
    monkeypatch.setattr(multinomial_sum, "MOST_WORK", 10**6 if begun else 10**5)
    assert exact_runs_test(*coarse, null="runs").pvalue > 0 < exact_runs_test(a, b).pvalue
    monkeypatch.setattr(multinomial_sum, "_log_phi" if begun else "_tilt_to", None)
    message = "likely sums take too long" if begun else "runs .* are too many"
    with pytest.raises(TooHard, match=f"{message}; round scores .* test null='items'"):
        exact_runs_test(a, b, null="runs")


# ---- whom the answer is about --------------------------------------------------------------------


@pytest.mark.parametrize("null", NULLS)
def test_sentences_say_whom_they_are_about_and_what_p_could_be(null):
    a, b = [[3, 4, 5], [6, 7, 9]], [[1, 2, 2], [5, 6, 6]]
    found = exact_runs_test(a, b, null=null, names=("new", "old"))
    where = "3 runs and 3 runs over all items" if null == "systems" else "6 runs and 6 runs"
    text = str(found)
    assert text.startswith(
        f"new scores 2 more than old on average (5.667 against 3.667) over 2 items, {where}: "
        f"p = {found.pvalue:.3g} (exact two-sided test of whether {NULLS[null]}). "
    )
    assert text.endswith(f" The answer is about {found.about}.")
    assert ("p cannot be below" in text) == (found.smallest_pvalue > 0.05)
    facts = json.loads(found.to_json())
    assert (facts["about"], facts["higher"]) == (found.about, "new")
    assert facts["smallest_pvalue"] == found.smallest_pvalue
    again = pickle.loads(pickle.dumps(found))
    assert (again.fraction(), str(again)) == (found.fraction(), text)
    same = exact_runs_test(a, a, null=null, alternative="less", names=("x", "y"))
    assert str(same).startswith("x and y score the same on average (5.667) over")


@pytest.mark.parametrize(("size", "k"), [(1, 3), (1, 4), (10**18, 3)])
def test_three_runs_of_each_cannot_reach_a_usual_level(size, k):
    a, b = (size * np.arange(2 * k)).astype(object).reshape(2, 1, k)[::-1]
    found = exact_runs_test(a, b, null="systems")
    assert found.pvalue == found.smallest_pvalue == 2 / comb(2 * k, k)
    assert ("p cannot be below 0.1 here" in str(found)) == (k == 3)
