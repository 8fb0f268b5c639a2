"""Files of many systems become one table, in which every pair is what `read` makes of it."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from permtest import compare_many, exact_perm_test, read, read_many
from tests.readers import made
from tests.readers.texts import assert_refused, file

DATA = Path(__file__).resolve().parents[2] / "notebooks" / "data"


def scores(table):
    """What was read, system by system, exactly."""
    rows = [[Fraction(x, table.scale) for x in row] for row in table.scores.tolist()]
    return dict(zip(table.systems, rows, strict=True))


def assert_like_read(table, statistic, *paths, **options):
    """The statistic and p of every pair, to the last digit, and what each system scores."""
    board = compare_many(table, rng=0)
    for p, (a, b) in enumerate(combinations(table.systems, 2)):
        pairs = read(*paths, a=a, b=b, statistic=statistic, **options)
        assert (pairs.ids, pairs.clusters) == (table.ids, table.clusters)
        one = exact_perm_test(pairs, statistic=statistic, rng=0)
        assert board.statistic[p] == pytest.approx(one.statistic, rel=1e-12)
        if one.n_samples is None:
            assert board.pvalue[p] == pytest.approx(one.pvalue, rel=1e-11)
        assert board.n_informative[p] == one.n_informative


@pytest.mark.parametrize(
    ("name", "statistic", "options"),
    [
        ("ud_en_ewt_pos.csv", "accuracy", {}),
        ("ud_af_afribooms_scores.csv", "mean", {}),
        ("gsm8k_correct.csv", "mean", {}),
        ("own_long.csv", "mean", {}),
        ("own_taggers.csv", "mean", {"clusters": "document"}),
        ("uner_test_spans.csv", "f1", {}),
        ("clf_digits_predictions.csv", "accuracy", {"gold": "gold"}),
    ],
)
def test_real_tables(name, statistic, options):
    # Accuracies of nine digits would be slow, all pairs of them.
    few = ["crf_rich_gold_loglik", "crf_base_gold_loglik"]
    systems = few if "scores" in name else None
    table = read_many(DATA / name, statistic=statistic, systems=systems, **options)
    (origin,) = table.source["files"]
    assert (origin["file"], origin["systems"]) == (name, list(table.systems))
    assert_like_read(table, statistic, DATA / name, **options)


def test_the_files_of_a_harness():
    paths = [DATA / "own_gsm8k_6b.jsonl", DATA / "own_gsm8k_175b.jsonl"]
    table = read_many(*paths, score="exact_match,first-answer")
    assert_like_read(table, "mean", *paths, score="exact_match,first-answer")
    assert (table.n_items, table.source["left_out"]) == (397, 3)
    assert table.source["lacking"] == {"own_gsm8k_6b": 2, "own_gsm8k_175b": 1}
    assert_refused(lambda: read_many(*paths), "2 scores", "choose one as score (--score)")


def test_classes_that_few_systems_predict():
    """Each pair has classes of its own; the table has all, and 0 for those that are not there."""
    text = "id,gold,a,b,c\n1,x,x,y,x\n2,y,y,y,z\n3,x,y,x,w\n4,y,y,x,y\n"
    table = read_many(file(text), gold="gold", statistic="macro_f1")
    assert table.scores.shape == (3, 4, 4, 3)  # w, x, y, z
    assert table.scores[:, :, 0].sum(axis=1).tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    pairs = read(file(text), gold="gold", statistic="macro_f1", a="a", b="b")
    assert table.scores[:2, :, 1:3].tolist() == [pairs.u.tolist(), pairs.v.tolist()]
    wanted = exact_perm_test(pairs, statistic="macro_f1").pvalue
    assert compare_many(table).pvalue[0] == pytest.approx(wanted, rel=1e-12)


GAPS = "id,system,score,doc\ni1,a,1,x\ni2,a,2,x\ni3,a,3,y\ni4,a,,y\ni5,b,5,y\ni3,b,3,y\n"
GAPS += "i2,b,1,x\ni4,b,9,y\ni2,c,2,x\ni3,c,,y\ni1,c,4,x\n"


def test_only_items_of_all_systems_are_compared():
    table = read_many(file(GAPS), clusters="doc")
    assert (table.ids, table.clusters) == (("i2",), ("x",))
    assert scores(table) == {"a": [2], "b": [1], "c": [2]}
    source = table.source
    assert (source["matched"], source["left_out"]) == (1, 4)
    assert sorted(source["left_out_ids"]) == ["i1", "i3", "i4", "i5"]
    for part in ("most items are left out", "1 item of 3 systems, paired by id; 4 items left out",
                 "items of one 'doc' are swapped together (1 cluster)"):  # fmt: skip
        assert part in source["read"]
    one = read_many(file("id,system,score\nq1,a,1\nq2,a,0\nq3,a,1\nq1,b,1\nq2,b,0\n"
                         "q1,c,1\nq2,c,0\nq3,c,1\n"))  # fmt: skip
    assert "; 1 item left out ('q3'): b has no score for it." in one.source["read"]
    json.dumps(source, allow_nan=False)
    assert source["lacking"] == {"a": 2, "b": 1, "c": 3}
    two = read_many(file(GAPS), systems=["b", "a"])
    assert (two.ids, sorted(two.source["left_out_ids"])) == (("i3", "i2"), ["i1", "i4", "i5"])


def test_epochs_are_swapped_together_if_any_system_has_them():
    logs = [
        made.inspect_json(
            [made.sample(i, "CI"[(i + e + k) % 2], epoch=e) for e in epochs for i in range(4)],
            f"m{k}",
        )
        for k, epochs in enumerate([(1,), (1,), (1, 2), (2, 1)])
    ]
    table = read_many(*logs[:3])
    assert (table.ids, table.clusters) == (("q0", "q1", "q2", "q3"), None)
    assert table.scores.tolist() == [[0, 2, 0, 2], [2, 0, 2, 0], [1, 1, 1, 1]]
    assert (table.scale, table.source["left_out"]) == (2, 0)
    assert "4 of m0, 4 of m1, 8 of m2: an item scores the mean" in table.source["read"]
    pairs = read(logs[0], logs[2])
    assert compare_many(table).pvalue[2] == exact_perm_test(pairs, statistic="mean").pvalue
    assert read_many(*logs[:3], clusters=False).clusters is None
    whole = read_many(*logs[2:])
    assert whole.clusters == ("q0", "q1", "q2", "q3") * 2
    assert compare_many(whole).n_informative.max() <= 4


def test_lines_that_repeat_items_are_swapped_with_them():
    for options in ({"clusters": "id"}, {}):
        table = read_many(file(EPOCHS), **options)
        assert table.clusters == ("q0", "q0", "q1", "q1")
        assert read(file(EPOCHS), a="s0", b="s1", **options).clusters == table.clusters
        said = "2 items, 4 runs of 3 systems, paired by row; runs of one 'id' are swapped together"
        assert said in table.source["read"]
        said = table.source["read"]
        uneven = read_many(file(EPOCHS[: EPOCHS.rindex("q1")]), **options).source["read"]
        assert "2 items, 3 runs" in uneven
        assert [x.count("with more runs weigh more") for x in (said, uneven)] == [0, 1]


EPOCHS = "id,category,epoch,s0,s1,s2\nq0,x,1,1,0,1\nq0,x,2,1,0,0\nq1,y,1,1,1,1\nq1,y,2,0,0,1\n"


def test_systems_by_name_and_number_in_the_order_wanted():
    text = "id,n_words,a,b,c\n1,9,1,2,3\n2,8,4,5,6\n"
    assert read_many(file(text), systems=["c", 3]).systems == ("c", "a")
    assert read_many(file(text), systems=["n_words", "a"]).systems == ("n_words", "a")
    assert list(scores(read_many(file("1 2 3\n4 5 6\n"))).values()) == [[1, 4], [2, 5], [3, 6]]
    assert list(scores(read_many(file("1 2 3 4\n"), systems=[4, 2])).values()) == [[4], [2]]
    strange = 'id,system,score\n1,<b>a</b>,2\n1,"{{7*7}},$x$",3\n1,\x1b[2J,1\n'
    table = read_many(file(strange))
    assert table.systems == ("<b>a</b>", "{{7*7}},$x$", r"\x1b[2J")
    assert "<b>" not in compare_many(table)._repr_html_()


def test_one_name_is_no_list():
    with pytest.raises(TypeError, match="must be a list of names"):
        read_many(file("id,a,b\n1,2,3\n"), systems="ab")
    with pytest.raises(ValueError, match="no file"):
        read_many()
