"""metric_test: names against the exact test of their counts, functions against all labellings."""

import math
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from permtest import exact_perm_test, metric_test

GOLD = [1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
A = [1, 0, 1, 1, 0, 1, 1, 1, 1, 0]
B = [1, 1, 0, 1, 1, 0, 0, 1, 1, 1]
SCORES = [0.9, 0.2, 0.6, 0.8, 0.3, 0.4, 0.7, 0.5, 0.6, 0.1]
OTHERS = [0.8, 0.6, 0.3, 0.8, 0.5, 0.4, 0.2, 0.5, 0.9, 0.3]
TEXTS, X, Y = list("abcabcabca"), list("abcabcaacb"), list("abbbaccaca")
DOCUMENTS = list("ppqqrrsstt")


def auc(gold, said):
    wins = said[gold == 1][:, None] - said[gold == 0]
    return ((wins > 0) + 0.5 * (wins == 0)).mean()


def kappa(gold, said):
    labels = set(gold) | set(said)
    chance = sum((gold == x).mean() * (said == x).mean() for x in labels)
    return ((gold == said).mean() - chance) / (1 - chance)


def error(gold, said):
    return np.float32((gold != said).mean())


def exact(gold, a, b, metric, alternative="two-sided", clusters=None):
    """The share of all labellings of all units, in fractions of them."""
    gold, a, b = map(np.array, (gold, a, b))
    units = np.array(range(len(gold)) if clusters is None else clusters)
    names = np.unique(units)

    def gap(coins):
        swap = np.isin(units, names[np.array(coins, dtype=bool)])
        return metric(gold, np.where(swap, b, a)) - metric(gold, np.where(swap, a, b))

    turn = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    least = turn(gap([0] * len(names))) - 1e-9
    return np.mean([turn(gap(coins)) >= least for coins in product((0, 1), repeat=len(names))])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("clusters", [None, DOCUMENTS])
@pytest.mark.parametrize(
    ("gold", "a", "b", "metric"),
    [(GOLD, SCORES, OTHERS, auc), (GOLD, A, B, kappa), (TEXTS, X, Y, kappa), (TEXTS, X, Y, error)],
)
def test_the_interval_holds_the_share_of_all_labellings(gold, a, b, metric, alternative, clusters):
    how = {"alternative": alternative, "clusters": clusters}
    result = metric_test(gold, a, b, metric, K=1000, rng=0, **how)
    p = exact(gold, a, b, metric, **how)
    low, high = result.pvalue_interval(1 - 1e-6)
    assert low <= p <= high
    assert result.pvalue == (result.n_extreme + 1) / 1001 == pytest.approx(p, abs=0.06)
    both = [metric(np.array(gold), np.array(said)) for said in (a, b)]
    assert result.scores == pytest.approx(both)
    assert result.statistic == pytest.approx(both[0] - both[1])
    differ = np.array(a) != np.array(b)
    units = np.arange(10) if clusters is None else np.array(clusters)
    assert result.n_informative == len(set(units[differ]))
    assert (result.n, result.n_entries) == ((10, None) if clusters is None else (5, 10))


def test_ties_count_though_functions_round():
    """Sums in another order differ in the last place, and the test is that of counts."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 40))

    def thirds(_, said):
        return float(sum(rng.permutation(said / 3)))

    got = metric_test(a, a, b, thirds, K=4000, rng=1)
    low, high = got.pvalue_interval(1 - 1e-6)
    assert low <= exact_perm_test(a, b).pvalue <= high
    assert metric_test(a, a, b[::-1], lambda _, said: 5.0, K=50).pvalue == 1


def test_a_result_is_like_other_sampled_ones():
    result = metric_test(GOLD, SCORES, OTHERS, auc, K=300, rng=0, names=("new", "old"))
    assert (result.method, result.metric, result.n_samples) == ("monte_carlo", "auc", 300)
    assert (result.higher_is_better, result.higher) == (None, "new")
    assert str(result).startswith("auc of new is 0.38 higher than that of old (1 against 0.62) ov")
    assert result.to_dict()["scores"] == [1.0, 0.62]
    law = result.null_distribution
    assert law.pmf.sum() == pytest.approx(1)
    assert law.pmf[result.extreme].sum() == pytest.approx(result.n_extreme / 300)
    assert set(law.support[:, 0]) == set(result.null_values)


def spoils(gold, said):
    found = kappa(gold, said)
    gold[:], said[:] = 0, 1
    return found


def test_what_is_compared():
    """Columns with names, several columns a label, and arrays that a function may change."""
    how = {"K": 200, "rng": 2}
    changed, kept = (metric_test(GOLD, A, B, metric, **how).pvalue for metric in (spoils, kappa))
    assert changed == kept
    shares = [np.column_stack((1 - np.array(s), s)) for s in (SCORES, OTHERS)]
    wide = metric_test(GOLD, *shares, lambda gold, said: auc(gold, said[:, 1]), K=300, rng=5)
    plain = metric_test(GOLD, SCORES, OTHERS, auc, K=300, rng=np.random.default_rng(5))
    assert (wide.metric, wide.n_extreme) == ("metric", plain.n_extreme)
    assert metric_test(GOLD, SCORES, OTHERS, partial(auc), K=300, rng=5) == plain
    columns = [pd.Series(x, name=name) for x, name in ((GOLD, "gold"), (A, "new"), (B, "old"))]
    assert metric_test(*columns, kappa, K=9).names == ("new", "old")
    halves = metric_test([1, 0], [1, 0], [0.5, 0], lambda _, said: said[0], K=99, rng=0)
    assert (halves.scores, halves.null_values.tolist()) == ((1, 0.5), [-0.5, 0.5])


def breaks(_, said):
    return 0.5 if list(said) in (A, B) else math.inf


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((GOLD, A[1:], B, kappa), {}, ValueError, r"gold has shape \(10,\), a \(9,\)"),
        ((GOLD, A, "text", kappa), {}, TypeError, "b must be a sequence of labels, not str"),
        ((GOLD, A, B, lambda g, s: np.nan), {}, ValueError, "returned nan for the observed pred"),
        ((GOLD, A, B, lambda g, s: "0.5"), {}, ValueError, "returned '0.5' .* finite number"),
        ((GOLD, A, B, breaks), {"rng": 0}, ValueError, "returned inf for predictions swapped"),
        ((GOLD, A, B, kappa), {"K": 0}, ValueError, "K=0 must be at least 1"),
        ((GOLD, A, B, kappa), {"clusters": [1]}, ValueError, "clusters has 1 labels for 10"),
        ((GOLD, A, B, kappa), {"clusters": {1}}, TypeError, "clusters must be one label for each"),
        ((GOLD, A, B, kappa), {"alternative": "more"}, ValueError, "alternative='more'"),
        ((GOLD, A, B, "f1"), {}, TypeError, "metric='f1' must be a function"),
        ((GOLD, np.eye(10), np.ones((10, 2)), auc), {}, ValueError, "one prediction"),
    ],
)
def test_errors_say_where_and_what_to_do(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        metric_test(*arguments, **options)
