"""Predicted labels are scored as if by hand, in every shape of file."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import read, recognise
from tests.readers.texts import assert_refused, file, files


def table(gold, a, b, header="y_true,y_pred_a,y_pred_b"):
    rows = zip(gold, a, b, strict=True)
    return file(f"{header}\n" + "".join(f"{','.join(row)}\n" for row in rows))


LABELS = st.sampled_from(["cat", "dog", "cow"])
MADE = st.lists(
    st.tuples(LABELS, st.sampled_from(["cat", "dog", "cow", "emu", ""]), LABELS),
    min_size=2,
    max_size=8,
).filter(lambda rows: all({row[0] for row in rows} & {row[i] for row in rows} for i in (1, 2)))


def by_hand(gold, answers, labels):
    """Counts of each label, item by item."""
    return [
        [
            [int(g == p == label), int(p == label != g), int(g == label != p)]
            for label in labels
        ]
        for g, p in zip(gold, answers, strict=True)
    ]  # fmt: skip


@settings(max_examples=40)
@given(MADE)
def test_labels_are_scored_as_by_hand(rows):
    gold, a, b = ([*column] for column in zip(*rows, strict=True))
    made = table(gold, a, b)
    pairs = read(made, statistic="accuracy")
    assert pairs.u.tolist() == [int(x == y) for x, y in zip(gold, a, strict=True)]
    assert pairs.v.tolist() == [int(x == y) for x, y in zip(gold, b, strict=True)]
    assert (pairs.names, pairs.source["loader"]) == (("y_pred_a", "y_pred_b"), "predictions")
    said = [x for x in pairs.source["notes"] if "of 'y_pred_a'" in x and "missing" in x]
    assert [x.split()[0] for x in said] == [str(a.count(""))] * ("" in a)
    labels = sorted({*gold, *a, *b} - {""})
    pairs = read(made, statistic="macro_f1")
    assert pairs.u.tolist() == by_hand(gold, a, labels)
    assert pairs.v.tolist() == by_hand(gold, b, labels)
    assert pairs.columns == ("tp", "fp", "fn")
    exact_perm_test(pairs, statistic="micro_f1")


@settings(max_examples=30)
@given(rows=MADE, data=st.data())
def test_all_shapes_give_the_same_pairs(rows, data):
    gold, a, b = ([*column] for column in zip(*rows, strict=True))
    names = [f"i{n}" for n in range(len(rows))]

    def lines(*columns):
        return data.draw(st.permutations(list(zip(names, gold, *columns, strict=True))))

    wide = "".join(f"{','.join(row)}\n" for row in lines(a, b))
    firsts = "".join(f"{','.join(row)}\n" for row in lines(a))
    seconds = "".join(f"{','.join(row)}\n" for row in lines(b))
    long = [(i, g, system, x) for system, some in (("a", a), ("b", b)) for i, g, x in lines(some)]
    below = "".join(f"{','.join(row)}\n" for row in long)
    keys = ("id", "gold", "model", "prediction")
    shapes = [
        [file("id,gold,pred a,pred b\n" + wide)],
        [file("id,gold,pred\n" + firsts, "a"), file("id,gold,pred\n" + seconds, "b")],
        [file("id,gold,model,pred\n" + below)],
        [file(json.dumps([dict(zip(keys, row, strict=True)) for row in long]))],
    ]
    wanted = {i: (int(g == x), int(g == y)) for i, (g, x, y) in zip(names, rows, strict=True)}
    for sources in shapes:
        for options in ({}, {"gold": "gold"}):
            pairs = read(*sources, **options, statistic="accuracy")
            found = zip(pairs.u.tolist(), pairs.v.tolist(), strict=True)
            assert dict(zip(pairs.ids, found, strict=True)) == wanted


def test_true_and_false_are_one_and_zero_where_the_right_labels_are():
    truth, a, b = (column.split() for column in ("1 0 0", "True False True", "1 0 1"))
    for gold, said in ((truth, a), (["1.0", "0.0", "0.0"], a), (["TRUE", "false", "False"], b)):
        for header, more in (("y_true,y_pred_a,y_pred_b", {}), ("id2,p,q", {"gold": "id2"})):
            pairs = read(table(gold, said, b, header), **more, statistic="accuracy")
            assert pairs.u.tolist() == pairs.v.tolist() == [1, 1, 0]
            pairs = read(table(gold, said, b, header), **more, statistic="f1")
            assert pairs.u.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_no_answer_finds_nothing():
    made = table("1100", ["", "1", "", "0"], "1010")
    pairs = read(made, statistic="f1")
    assert pairs.u.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    said = "2 predictions of 'y_pred_a' are missing, and count as finding nothing (fn where gold is"
    assert pairs.source["notes"] == [f"{said} positive, else tn)"]
    assert "and count as wrong" in read(made, statistic="accuracy").source["notes"][0]


def test_what_is_recognised_without_being_told():
    assert recognise(file("gold,pred_a,pred_b\n1,1,2\n2,1,2\n")).format.name == "predictions"
    # Numbers can be scores, and whatever else could be compared comes first.
    assert recognise(file("gold,a,b\n1,1,2\n2,1,2\n")).format.name == "table"
    scored = "gold,pred_a,pred_b,right_a,right_b\n1,1,2,1,0\n2,1,2,0,1\n"
    assert recognise(file(scored)).format.name == "table"
    assert read(file(scored), a="right_a", b="right_b").u.tolist() == [1, 0]
    assert recognise(file("gold,target,a,b\nx,x,x,y\n")).format.name == "table"


GOLD = "id,label\n1,cat\n2,dog\n3,cow\n4,cat\n"
MINE = "id,prediction\n4,cat\n2,dog\n1,dog\n3,cow\n"
BASE = "id,prediction\n1,cat\n2,cow\n3,cow\n4,dog\n"


def test_a_file_of_what_is_right_joins_by_its_ids():
    pairs = read(*files(MINE, BASE), gold=file(GOLD), statistic="accuracy")
    found = dict(zip(pairs.ids, zip(pairs.u.tolist(), pairs.v.tolist(), strict=True), strict=True))
    assert found == {"4": (1, 0), "2": (1, 0), "1": (0, 1), "3": (1, 1)}
    fewer = read(*files(MINE, BASE.replace("2,cow\n", "")), gold=file(GOLD), statistic="accuracy")
    assert "1 of 4 items" in " ".join(fewer.source["notes"])
    assert len(fewer) == 3


def test_a_file_of_what_is_right_joins_by_order_if_asked():
    bare = [text.replace("id,", "n,") for text in (GOLD, BASE, BASE)]
    pairs = read(*files(*bare[1:]), gold=file(bare[0]), statistic="accuracy", id=False)
    assert pairs.u.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("gold", "mine", "parts"),
    [
        (GOLD, MINE + "9,cat\n", ("line 6", "'9' is not in", "remove the line")),
        (GOLD + "2,cat\n", MINE, ("line 3 and line 6", "'2' occurs twice as id")),
        (GOLD.replace("label", "a").replace("\n", ",z\n"), MINE, ("call one 'gold'",)),
        (GOLD, MINE.replace("prediction", "gold"), ("a 'gold' of its own",)),
        ("label\ncat\ndog\n", MINE, ("no column says which item", "--by-order")),
    ],
)
def test_files_of_what_is_right_that_cannot_be_joined(gold, mine, parts):
    assert_refused(lambda: read(*files(mine, BASE), gold=file(gold)), *parts)
