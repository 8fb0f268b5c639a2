"""Block-regularised cross-validation: the definition, the balance, and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from permtest.alternatives.crossval import BlockRegularizedCV

SIZES = {1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 8, 7: 8, 8: 16, 15: 16}  # blocks by m

ms = st.sampled_from(list(SIZES))
seeds = st.integers(0, 2**32)


def sets(partition):
    return [(set(train.tolist()), set(test.tolist())) for train, test in partition.splits()]


def corpus(n=4078, seed=7):
    """Sentences of a newswire: lengths, and names of persons, places and organisations."""
    rng = np.random.default_rng(seed)
    tokens = rng.geometric(1 / 12.3, n)
    names = {"LOC": 0.18, "PER": 0.19, "ORG": 0.13}
    return {"n_tokens": tokens} | {
        x: rng.poisson(rate * tokens / 12.3) for x, rate in names.items()
    }


def halves_off(partition, values):
    """How far training sets are from half of the sum, as a share of it."""
    return max(abs(2 * values[train].sum() / values.sum() - 1) for train, _ in partition.splits())


def test_three_partitions_are_table_1():
    partition = BlockRegularizedCV(3, rng=0).partition(range(40))
    b1, b2, b3, b4 = (set(np.flatnonzero(partition.blocks == b).tolist()) for b in range(4))
    table = [(b1 | b2, b3 | b4), (b1 | b3, b2 | b4), (b2 | b3, b1 | b4)]
    assert sets(partition) == [fold for s, t in table for fold in ((s, t), (t, s))]


@pytest.mark.parametrize("m", [*SIZES, 31])
def test_training_sets_share_a_quarter(m):
    n = 4 * SIZES.get(m, 32)
    partition = BlockRegularizedCV(m, rng=1).partition(range(n))
    assert 2 * len(partition.design[0]) == SIZES.get(m, 32)
    counted = [[len(s & t) / n for t, _ in sets(partition)] for s, _ in sets(partition)]
    assert partition.overlap.tolist() == counted
    pairs, same = np.kron(np.eye(m), np.ones((2, 2))), np.eye(2 * m) / 2
    assert counted == np.where(pairs, same, 0.25).tolist()


@given(ms, st.integers(0, 40), seeds, st.sampled_from(["none", "classes", "numbers", "both"]))
@settings(max_examples=50)
def test_each_item_is_validated_once_a_partition(m, extra, seed, kind):
    n, rng = SIZES[m] + extra, np.random.default_rng(seed)
    classes, numbers = rng.choice(["x", "y", "z"], n), rng.normal(size=n)
    y = {"classes": classes, "numbers": numbers}.get(kind)
    balance = {"c": classes, "x": numbers} if kind == "both" else None
    cv = BlockRegularizedCV(m, balance=balance, rng=seed)
    partition = cv.partition(range(n), y)
    folds = sets(partition)
    assert len(folds) == cv.get_n_splits() == 2 * m
    for (s, t), (back, again) in zip(folds[::2], folds[1::2], strict=True):
        assert (s, t, s & t, s | t) == (again, back, set(), set(range(n)))
    assert np.ptp(np.bincount(partition.blocks, minlength=SIZES[m])) <= 1
    again = [(set(s.tolist()), set(t.tolist())) for s, t in cv.split(list(range(n)), y)]
    assert again == folds, "a seed makes the same ones"


def test_blocks_are_random_and_reproducible():
    data, seeds = corpus(400), (0, 0, 1, None, None)
    blocks = [BlockRegularizedCV(balance=data, rng=x).partition(range(400)).blocks for x in seeds]
    assert (blocks[0] == blocks[1]).all()
    assert not blocks[0].flags.writeable
    for other in blocks[2:]:
        pairs = [x[:200] == x[200:] for x in (blocks[0], other)]
        assert np.mean(pairs[0] == pairs[1]) < 0.8, "other items are together"
    assert (blocks[3] != blocks[4]).any()


@pytest.mark.parametrize("groups", [False, True])
def test_a_corpus_is_balanced_far_better_than_at_random(groups):
    data = corpus()
    documents = np.arange(4078) // 10 if groups else None
    partition = BlockRegularizedCV(balance=data, rng=0).partition(range(4078), groups=documents)
    plain = BlockRegularizedCV(rng=0).partition(range(4078), groups=documents)
    for name, values in data.items():
        assert halves_off(partition, values) < (0.008 if groups else 0.004)
        assert halves_off(partition, values) <= halves_off(plain, values)
        assert partition.balance[name].tolist() == np.bincount(partition.blocks, values).tolist()
        assert f"{halves_off(partition, values):.2%}" in str(partition)
    if groups:
        together = pd.Series(partition.blocks).groupby(documents).nunique()
        assert (together == 1).all()


@pytest.mark.parametrize("m", [1, 3, 7])
def test_classes_are_dealt_evenly(m):
    labels = np.repeat(["a", "b", "c"], [700, 90, 10])
    balance = BlockRegularizedCV(m, rng=m).partition(labels, labels).balance
    assert list(balance) == ["items", "y=a", "y=b", "y=c"]
    assert all(np.ptp(sums) <= 2 for sums in balance.values())
    numbers = np.random.default_rng(0).integers(0, 3, 200)
    counted = BlockRegularizedCV(balance=numbers, rng=0).partition(numbers)
    assert list(counted.balance) == ["items", "balance"], "integers are counts there"
    assert list(BlockRegularizedCV(rng=0).partition(numbers, numbers).balance)[1:] == [
        *("y=0", "y=1", "y=2")
    ]


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_several_columns_are_balanced(make):
    data = make({"label": ["x", "y"] * 100, "length": list(range(200)), "long": [True] * 200})
    balance = BlockRegularizedCV(balance=data, rng=0).partition(range(200)).balance
    assert list(balance) == ["items", "length", "label=x", "label=y", "long=True"]
    table = np.arange(400).reshape(200, 2)
    assert list(BlockRegularizedCV(balance=table, rng=0).partition(table).balance) == [
        *("items", "0", "1")
    ]


def test_errors_say_what_is_wrong():
    cases = [
        ("m=0 must be a whole number", {"m": 0}, (range(9),)),
        ("m=True must be a whole number", {"m": True}, (range(9),)),
        ("m=8 needs 16 items, or groups", {"m": 8}, (range(10),)),
        ("there are 3", {}, (range(9), None, [1, 2, 3] * 3)),
        ("y has 9 entries for 10 items", {}, (range(10), [1] * 9)),
        ("y, row 1: nan cannot be balanced", {}, (range(9), [1.0, np.nan] + [1.0] * 7)),
        ("y, row 1: (None|nan) cannot be balanced", {}, (range(9), ["a", None] + ["b"] * 7)),
        ("balance, row 8: inf cannot be", {"balance": [1] * 8 + [np.inf]}, (range(9),)),
    ]
    for message, options, data in cases:
        with pytest.raises(ValueError, match=message):
            BlockRegularizedCV(**options).partition(*data)


def test_scikit_learn_takes_it_for_one_of_its_own():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    cv = BlockRegularizedCV(3, rng=0)
    assert len(cross_validate(LogisticRegression(), X, y, cv=cv)["test_score"]) == 6
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=cv)
    assert search.fit(X, y, groups=np.arange(120) // 4).n_splits_ == 6
