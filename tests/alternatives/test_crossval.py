"""Block-regularised cross-validation: the definition, the balance, and scikit-learn."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

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
    counts = {name: rng.poisson(rate * tokens / 12.3) for name, rate in names.items()}
    return {"n_tokens": tokens, **counts}


def spread(values, blocks):
    sums = np.bincount(blocks, values)
    return sums.max() - sums.min()


# ---- the definition ----------------------------------------------------------------------------


def test_three_partitions_are_table_1():
    partition = BlockRegularizedCV(3, rng=0).partition(range(40))
    assert partition.design == ((0, 1), (0, 2), (1, 2))
    assert (partition.m, partition.n_blocks) == (3, 4)
    b1, b2, b3, b4 = (set(np.flatnonzero(partition.blocks == b).tolist()) for b in range(4))
    table = [(b1 | b2, b3 | b4), (b1 | b3, b2 | b4), (b2 | b3, b1 | b4)]
    assert sets(partition) == [fold for s, t in table for fold in ((s, t), (t, s))]
    assert str(partition).startswith("Training sets of first folds: B1+B2, B1+B3, B2+B3.\n40 items")


@pytest.mark.parametrize("m", [*SIZES, 31])
def test_training_sets_share_a_quarter(m):
    n = 4 * SIZES.get(m, 32)
    partition = BlockRegularizedCV(m, rng=1).partition(range(n))
    assert partition.n_blocks == SIZES.get(m, 32) == 2 * len(partition.design[0])
    counted = [[len(s & t) / n for t, _ in sets(partition)] for s, _ in sets(partition)]
    assert partition.overlap.tolist() == counted
    within = np.kron(np.eye(m), np.ones((2, 2)))
    pair = np.kron(np.eye(m), np.diag([0.5, 0.5]))
    assert counted == np.where(within, pair, 0.25).tolist()


@given(ms, st.integers(0, 40), seeds, st.sampled_from(["none", "classes", "numbers", "both"]))
@settings(max_examples=50)
def test_each_item_is_validated_once_a_partition(m, extra, seed, kind):
    n = SIZES[m] + extra
    rng = np.random.default_rng(seed)
    classes, numbers = rng.choice(["x", "y", "z"], n), rng.normal(size=n)
    y = {"classes": classes, "numbers": numbers}.get(kind)
    balance = {"c": classes, "x": numbers} if kind == "both" else None
    cv = BlockRegularizedCV(m, balance=balance, rng=seed)
    partition = cv.partition(range(n), y)
    folds = sets(partition)
    assert len(folds) == cv.get_n_splits() == 2 * m
    for (s, t), (back, again) in zip(folds[::2], folds[1::2], strict=True):
        assert (s, t) == (again, back)
        assert not s & t
        assert s | t == set(range(n))
    sizes = np.bincount(partition.blocks, minlength=SIZES[m])
    assert sizes.max() - sizes.min() <= 1
    assert np.abs(partition.overlap - partition.overlap.T).max() == 0
    # Halves share a quarter but for what blocks differ by.
    others = ~np.kron(np.eye(m), np.ones((2, 2))).astype(bool)
    assert (np.abs(partition.overlap - 0.25)[others] * n <= SIZES[m] / 4).all()
    for (train, test), (s, t) in zip(cv.split(list(range(n)), y), folds, strict=True):
        assert (train.tolist(), test.tolist()) == (sorted(s), sorted(t))  # the same once more


@pytest.mark.parametrize("n", [41, 42, 43])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_halves_differ_by_one_or_two_items(n, m):
    sizes = [len(s) for s, _ in sets(BlockRegularizedCV(m, rng=n).partition(range(n)))]
    assert max(sizes) - min(sizes) == n % 2 if m < 4 else max(sizes) - min(sizes) <= 2


def test_blocks_are_random_and_reproducible():
    data = corpus(400)
    blocks = [
        BlockRegularizedCV(balance=data, rng=rng).partition(range(400)).blocks
        for rng in (0, 0, 1, None, None)
    ]
    assert (blocks[0] == blocks[1]).all()
    assert not blocks[0].flags.writeable
    for other in blocks[2:]:
        assert 0.15 < np.mean(blocks[0] == other) < 0.35  # one in four by chance
    assert (blocks[3] != blocks[4]).any()
    cv = BlockRegularizedCV(rng=np.random.default_rng(5))
    assert (cv.partition(range(99)).blocks != cv.partition(range(99)).blocks).any()


def test_every_pair_is_parted_as_often_as_it_should_be():
    same = sum(
        (p := BlockRegularizedCV(rng=seed).partition(range(8)).blocks)[0] == p[1]
        for seed in range(800)
    )
    assert abs(same / 800 - 1 / 7) < 0.05  # four standard deviations


# ---- balance -----------------------------------------------------------------------------------


def test_a_corpus_is_balanced_far_better_than_at_random():
    data = corpus()
    partition = BlockRegularizedCV(3, balance=data, rng=0).partition(range(4078))
    for name in ("LOC", "PER", "ORG"):
        assert spread(data[name], partition.blocks) <= 1
    assert spread(data["n_tokens"], partition.blocks) < 30  # of 12 500; one item has 12
    random = np.random.default_rng(1).permutation(4078) % 4
    assert spread(data["n_tokens"], random) > 10 * spread(data["n_tokens"], partition.blocks)
    report = partition.balance
    assert report.names == ("items", "n_tokens", "LOC", "PER", "ORG")
    assert (report.half_deviation < 0.005).all()
    assert (report.half_deviation[1:] < report.random_half[1:] / 10).all()


@pytest.mark.parametrize("m", [1, 3, 7, 15])
def test_skewed_classes_are_dealt_evenly(m):
    y = np.random.default_rng(m).choice(
        list("abcdef"), 3001, p=[0.9, 0.05, 0.03, 0.01, 0.005, 0.005]
    )
    report = BlockRegularizedCV(m, rng=0).partition(y, y).balance
    assert report.names == ("items", *(f"y={x}" for x in "abcdef"))
    assert np.ptp(report.totals, axis=1).max() <= 1
    assert report.totals.sum(axis=1).tolist() == [3001, *(np.sum(y == x) for x in "abcdef")]


def test_report_is_what_it_says():
    weights = np.array([5.0, -1.0, 2.5, 0.0, 4.0, 1.0, 3.0, 2.0])
    partition = BlockRegularizedCV(3, balance=weights, rng=3).partition(weights)
    report = partition.balance
    for row, values in zip(report.totals, (np.ones(8), weights), strict=True):
        assert row == pytest.approx([values[partition.blocks == b].sum() for b in range(4)])
    magnitude = np.abs(weights).sum() / 4
    mean = weights.sum() / 4
    assert report.block_deviation[1] == pytest.approx(max(abs(report.totals[1] - mean)) / magnitude)
    halves = [weights[train].sum() for train, _ in partition.splits()]
    assert report.half_deviation[1] == pytest.approx(
        max(abs(half - 2 * mean) for half in halves) / (2 * magnitude)
    )
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(weights)[:4].sum() for _ in range(4000)]
    assert report.random_half[1] == pytest.approx(np.std(drawn) / (2 * magnitude), rel=0.05)
    kept = json.loads(report.to_json())
    assert kept == report.to_dict()
    assert kept["rows"][0]["totals"] == report.totals[0].tolist()
    assert (kept["m"], kept["n_blocks"], kept["n_groups"]) == (3, 4, None)
    assert kept["worst"] == report.names[report.worst] == "balance"


def test_report_of_many_classes_shows_the_largest_and_the_worst():
    y = np.concatenate([np.repeat(np.arange(50), np.arange(101, 201, 2)), [77]])
    report = BlockRegularizedCV(3, rng=0).partition(y, y).balance
    assert "Worst half: y=77 (1 in all), off by 100%" in str(report)
    assert str(report).count("\n") == 18
    for shown in ("y=77  ", "y=49  ", "\n38 more rows, smaller and none worse"):
        assert shown in str(report)
    html = report._repr_html_()
    assert html.count("<tr") == 15
    assert "Worst half: y=77" in html
    assert "<p>38 more rows" in html
    assert repr(report) == str(report)


def test_markup_in_labels_stays_text():
    labels = ["<b>"] * 4 + ["&"] * 4
    html = BlockRegularizedCV(1, rng=0).partition(labels, labels).balance._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_numbers_far_from_zero_are_balanced_about_their_mean():
    years = 2000 + np.random.default_rng(0).normal(scale=5, size=1003)
    blocks = BlockRegularizedCV(balance=years, rng=0).partition(years).blocks
    means = [years[blocks == b].mean() for b in range(4)]
    assert np.ptp(means) < 0.01
    constant = BlockRegularizedCV(balance=np.full(9, 0.1), rng=0).partition(range(9)).balance
    assert constant.random_half.tolist() == [0, 0]


def test_large_corpora_are_balanced():
    rng = np.random.default_rng(0)
    table = rng.poisson(2, (100_000, 6))
    report = BlockRegularizedCV(balance=table, rng=0).partition(table).balance
    assert np.ptp(report.totals, axis=1).max() <= 2


# ---- groups ------------------------------------------------------------------------------------


@given(ms, st.integers(0, 30), seeds)
@settings(max_examples=40)
def test_groups_stay_whole(m, extra, seed):
    rng = np.random.default_rng(seed)
    n_groups = SIZES[m] + extra
    sizes = 1 + rng.geometric(0.2, n_groups)
    groups = rng.permutation(np.repeat([f"doc{g}" for g in range(n_groups)], sizes))
    y = rng.normal(size=groups.size) if seed % 2 else rng.choice(list("ab"), groups.size)
    partition = BlockRegularizedCV(m, rng=seed).partition(groups, y, groups)
    for train, test in partition.splits():
        assert not set(groups[train]) & set(groups[test])
    assert set(partition.blocks) == set(range(SIZES[m]))
    assert partition.balance.n_groups == n_groups
    assert (
        partition.blocks == BlockRegularizedCV(m, rng=seed).partition(y, y, groups).blocks
    ).all()


def test_documents_are_balanced_too():
    data = corpus()
    documents = np.sort(np.random.default_rng(0).zipf(1.8, 4078) % 400)
    documents[documents == 1] = np.arange(np.sum(documents == 1)) // 20 + 1000
    partition = BlockRegularizedCV(3, balance=data, rng=0).partition(range(4078), groups=documents)
    assert (partition.balance.half_deviation < 0.01).all()
    assert (partition.balance.half_deviation < partition.balance.random_half / 5).all()
    assert f" in {len(set(documents))} groups that are kept whole" in str(partition.balance)


def test_a_giant_group_is_seen():
    groups = ["giant"] * 60 + list(range(40))
    report = BlockRegularizedCV(3, rng=0).partition(groups, groups=groups).balance
    assert sorted(report.totals[0]) == [13, 13, 14, 60]
    assert report.half_deviation[0] == pytest.approx(0.48)
    assert "Worst half: items (100 in all), off by 48%" in str(report)


def test_exchanges_find_what_dealing_misses():
    sizes = [8, 7, 6, 5, 4]  # the largest first gives 8 + 5 + 4 against 7 + 6
    groups = np.repeat(range(5), sizes)
    report = BlockRegularizedCV(1, rng=0).partition(groups, groups=groups).balance
    assert report.totals[0].tolist() == [15, 15]


# ---- what may be given -------------------------------------------------------------------------

TABLE = {**corpus(200), "genre": ["news", "blog"] * 100}
FRAME = pd.DataFrame(TABLE)
COLUMNS = ["n_tokens", "genre"]
NAMES = ("items", "n_tokens", "genre=blog", "genre=news")


@pytest.mark.parametrize(
    ("balance", "X"),
    [
        (COLUMNS, FRAME),
        (tuple(COLUMNS), pl.DataFrame(TABLE)),
        ([0, 4], FRAME),
        (FRAME[COLUMNS], range(200)),
        (pl.DataFrame(TABLE)[COLUMNS], range(200)),
        ({name: FRAME[name] for name in COLUMNS}, range(200)),
        ({name: FRAME[name].tolist() for name in COLUMNS}, range(200)),
    ],
    ids=["names", "polars-names", "numbers", "frame", "polars", "mapping", "lists"],
)
def test_columns_can_be_given_in_many_ways(balance, X):
    report = BlockRegularizedCV(balance=balance, rng=0).partition(X, y="ignored").balance
    assert report.names == NAMES
    assert report.totals[2:].tolist() == [[25] * 4] * 2
    expected = BlockRegularizedCV(balance=FRAME[COLUMNS], rng=0).partition(FRAME).balance
    assert (report.totals == expected.totals).all()


def test_arrays_and_columns_of_arrays():
    table = FRAME[["n_tokens", "LOC"]].to_numpy()
    whole = BlockRegularizedCV(balance=table, rng=0).partition(range(200)).balance
    assert whole.names == ("items", "balance 0", "balance 1")
    for X in (table, sparse.csr_array(table)):
        picked = BlockRegularizedCV(balance=[0, 1], rng=0).partition(X).balance
        assert picked.names == ("items", "X 0", "X 1")
        assert (picked.totals == whole.totals).all()


def test_kinds_of_labels():
    def names(y, **options):
        return BlockRegularizedCV(1, rng=0, **options).partition(y, y).balance.names[1:]

    assert names([1, 2, 1, 2]) == ("y=1", "y=2")
    assert names(np.array([True, False, True])) == ("y=False", "y=True")
    assert names([0.5, 1.5, 2.5]) == ("y",)
    assert names([1, "1", 1, "1"]) == ("y=1", "y=1")
    assert names(pd.Series(["a", "b", "a"], dtype="category")) == ("y=a", "y=b")
    assert names(pd.DataFrame({"t": ["a", "b"]})) == ("y t=a", "y t=b")
    assert names([[0, 1], [1, 1]]) == ("y 0=0", "y 0=1", "y 1=1")
    assert names([3, 4, 3], balance=[3, 4, 3]) == ("balance",)
    assert names([3, 4, 3], balance=["3", "4", "3"]) == ("balance=3", "balance=4")


def test_labels_of_words_are_counted():
    y = [["B", "I", "O"], ["O"], [], ["O", "O"]] * 25
    report = BlockRegularizedCV(3, rng=0).partition(y, y).balance
    assert report.names == ("items", "y length", "y=B", "y=I", "y=O")
    assert report.totals.sum(axis=1).tolist() == [100, 150, 25, 25, 100]
    assert np.ptp(report.totals, axis=1).max() <= 2


HUGE = 10**200
BAD = [
    ({"m": 0}, {}, ValueError, "m=0 must be at least 1"),
    ({"m": True}, {}, TypeError, "m=True must be an integer"),
    ({"m": 2.0}, {}, TypeError, "m=2.0 must be an integer"),
    ({"rng": "x"}, {}, TypeError, "rng must be a seed"),
    ({}, {"X": 7}, TypeError, "X has no length (int); pass the items, or range(n)"),
    ({}, {"X": range(3)}, ValueError, "there are 3 items, and m=3 needs 4 at least"),
    ({"m": 8}, {}, ValueError, "there are 10 items, and m=8 needs 16 at least"),
    ({}, {"y": range(9)}, ValueError, "y has 9 entries for 10 items of X: y[9] is missing"),
    ({}, {"y": range(12)}, ValueError, "y[10] belongs to none"),
    ({}, {"y": [0.5, np.nan] * 5}, ValueError, "y[1] = nan cannot be balanced"),
    ({}, {"y": ["a", None] * 5}, ValueError, "y[1] = None is missing"),
    ({"balance": [1.0] * 9 + [np.inf]}, {}, ValueError, "balance[9] = inf"),
    ({"balance": [1] * 9 + [HUGE]}, {}, ValueError, f"balance[9] = {HUGE} cannot be balanced"),
    ({"balance": {"a": [1, np.nan] * 5}}, {}, ValueError, "balance['a'][1] = nan"),
    ({"balance": {"a": [1] * 11}}, {}, ValueError, "balance['a'] has 11 entries for 10 items"),
    ({"balance": {"a": 5}}, {}, TypeError, "balance['a']=5 must have one entry for each item"),
    ({"balance": {"a": np.ones((10, 2))}}, {}, ValueError, "balance['a'] has shape (10, 2)"),
    ({"balance": {}}, {}, ValueError, "balance has no columns; leave it out"),
    ({"balance": []}, {}, ValueError, "balance[0] is missing"),
    ({"balance": np.array(1.0)}, {}, TypeError, "must have one entry for each item"),
    ({"balance": np.ones((10, 2, 2))}, {}, ValueError, "balance has 3 dimensions"),
    ({"balance": [[1, 2]] * 9 + [[1]]}, {}, TypeError, "balance[0] = [1, 2] is no number"),
    ({"balance": "a"}, {}, TypeError, "balance='a' must have one entry for each item, or be"),
    ({"balance": {"a", "b"}}, {}, TypeError, "must have one entry for each item, or be"),
    ({"balance": ["a", "c"]}, {"X": FRAME[:10]}, ValueError, "balance[0] = 'a' is no column of X"),
    ({"balance": [0, 5]}, {"X": FRAME[:10]}, ValueError, "balance[1] = 5 is no column of X"),
    ({"balance": [0, 1, 0]}, {"X": FRAME[:10]}, ValueError, "balance[2] = 0 names a column of X"),
    ({"balance": ["a"]}, {}, ValueError, "X, which has 0 columns without names; nor are the 1"),
    ({}, {"groups": [1, 2, 3] * 3 + [3]}, ValueError, "there are 3 groups, and m=3 needs 4"),
    ({}, {"groups": [1, 2, 3]}, ValueError, "groups has 3 labels for 10 entries"),
    ({}, {"groups": [1] * 9 + [None]}, ValueError, "groups[9] = None is missing"),
]


@pytest.mark.parametrize(("options", "data", "kind", "message"), BAD)
def test_errors_say_what_is_wrong(options, data, kind, message):
    with pytest.raises(kind) as error:
        BlockRegularizedCV(**options).partition(**{"X": range(10), **data})
    assert message in str(error.value)


# ---- scikit-learn ------------------------------------------------------------------------------


def labelled(n=120):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + y[:, None], y, np.repeat(np.arange(n // 4), 4)


def test_scikit_learn_takes_it_for_one_of_its_own():
    X, y, groups = labelled()
    cv, model = BlockRegularizedCV(3, rng=0), LogisticRegression()
    scores = cross_val_score(model, X, y, cv=cv)
    by_hand = [model.fit(X[s], y[s]).score(X[t], y[t]) for s, t in cv.split(X, y)]
    assert scores.tolist() == by_hand
    found = cross_validate(model, X, y, groups=groups, cv=cv, return_indices=True)
    for train, test in zip(*found["indices"].values(), strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_grid_search_with_groups_and_columns_of_a_frame():
    X, y, groups = labelled()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    cv = BlockRegularizedCV(4, balance=["a", "c"], rng=0)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=cv, refit=False)
    search.fit(frame, y, groups=groups)
    assert search.n_splits_ == 8
    scores = cross_val_score(LogisticRegression(C=0.1), frame, y, groups=groups, cv=cv)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(scores.mean())


def test_it_shows_itself_briefly():
    assert repr(BlockRegularizedCV()) == "BlockRegularizedCV(m=3)"
    shown = repr(BlockRegularizedCV(5, balance=np.ones(99), rng=1))
    assert shown == "BlockRegularizedCV(m=5, balance=ndarray(...), rng=1)"
