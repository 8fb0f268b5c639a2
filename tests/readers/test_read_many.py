"""Files of many systems become one table, in which every pair is what `read` makes of it."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest
from permtest import compare_many, exact_perm_test, read, read_many
from permtest.readers import File, ReadError, files, recognise
from tests.readers import made

DATA = Path(__file__).resolve().parents[2] / "notebooks" / "data"


def file(text, name="scores.csv"):
    return File(name, text.encode())


def scores(table):
    """What was read, system by system, exactly."""
    rows = table.scores.tolist()
    return {
        system: [Fraction(x, table.scale) for x in row]
        for system, row in zip(table.systems, rows, strict=True)
    }


# ---- every pair is what `read` makes of it -------------------------------------------------------


def assert_like_read(table, statistic, *paths, **options):
    """The statistic and p of every pair, to the last digit, and what each system scores."""
    board = compare_many(table, rng=0)
    for p, (i, j) in enumerate(combinations(range(len(table.systems)), 2)):
        a, b = table.systems[i], table.systems[j]
        pairs = read(*paths, a=a, b=b, statistic=statistic, **options)
        assert pairs.ids == table.ids
        assert pairs.clusters == table.clusters
        one = exact_perm_test(pairs, statistic=statistic, rng=0)
        assert board.statistic[0, p] == pytest.approx(one.statistic, rel=1e-12)
        if one.n_samples is None:
            assert board.pvalue[0, p] == pytest.approx(one.pvalue, rel=1e-11)
        assert board.n_informative[0, p] == one.n_informative


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
    few = ["crf_base_accuracy", "crf_rich_gold_loglik", "crf_base_gold_loglik"]
    systems = few if "scores" in name else None
    table = read_many(DATA / name, statistic=statistic, systems=systems, **options)
    assert table.source["files"][0]["file"] == name
    assert sum(len(one["systems"]) for one in table.source["files"]) == len(table.systems)
    assert_like_read(table, statistic, DATA / name, **options)


def test_known_values():
    table = read_many(DATA / "ud_en_ewt_pos.csv", statistic="accuracy")
    assert table.systems[0] == "crf_rich_correct"
    assert table.source["no_systems"] == ["index", "sent_id", "n_tokens"]
    assert table.scores.shape == (6, 2077)
    p = compare_many(table, correction="none").matrix("pvalue")
    assert p[0, 1] == pytest.approx(0.42904, rel=1e-5)
    assert p[0, 2] == pytest.approx(0.000907372, rel=1e-5)
    assert p[2, 3] == pytest.approx(0.00199676, rel=1e-5)


def test_the_files_of_a_harness():
    paths = [DATA / "own_gsm8k_6b.jsonl", DATA / "own_gsm8k_175b.jsonl"]
    table = read_many(*paths, score="exact_match,first-answer")
    assert_like_read(table, "mean", *paths, score="exact_match,first-answer")
    assert (table.n_items, table.source["left_out"]) == (397, 3)
    assert table.source["lacking"] == {"own_gsm8k_6b": 2, "own_gsm8k_175b": 1}
    with pytest.raises(ReadError, match=r"2 scores .* choose one as score \(--score\)"):
        read_many(*paths)


@pytest.mark.parametrize("make", [made.lm_eval, made.helm, made.every_eval_ever, made.swe_bench])
def test_the_folders_of_harnesses(make):
    found = [make({i: int(i % k == 0) for i in range(9)}, f"m{k}") for k in (2, 3, 4)]
    several = {"score": "score"} if make is made.every_eval_ever else {}
    table = read_many(*found, **several)
    assert len(set(table.systems)) == 3
    assert [sum(row) for row in table.scores.tolist()] == [5, 3, 3]
    assert table.n_items == 9
    assert len(table.source["files"]) == 3


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.integers(0, 3), st.decimals(-9, 9, places=2).map(str)
)


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=5), data=st.data())
def test_all_shapes_give_the_same_table(rows, data):
    names = ["new", "old", "base"]
    wide = [(f"i{k}", *row) for k, row in enumerate(rows)]

    def lines(cells, *header):
        return "\n".join(",".join(map(str, line)) for line in [header, *cells])

    long = data.draw(
        st.permutations([(row[0], name, row[j]) for row in wide for j, name in enumerate(names, 1)])
    )
    each = [[(row[0], row[j]) for row in wide] for j in (1, 2, 3)]
    shapes = {
        "wide": [lines(wide, "id", *names)],
        "long": [lines(long, "id", "system", "score")],
        "files": [lines(cells, "id", "score") for cells in each],
        "columns": ["\n".join(str(x) for _, x in cells) for cells in each],
        "records": [json.dumps([{"id": i, "system": s, "score": str(x)} for i, s, x in long])],
    }
    wanted = {
        name: [Fraction(str(x)) for _, x in cells] for name, cells in zip(names, each, strict=True)
    }
    for shape, texts in shapes.items():
        found = read_many(
            *(file(text, f"{names[k]}.txt") for k, text in enumerate(texts)), systems=names
        )
        exact = scores(found)
        if found.ids is not None:
            order = [found.ids.index(f"i{k}") for k in range(len(rows))]
            exact = {name: [column[k] for k in order] for name, column in exact.items()}
        assert exact == wanted, shape


def test_a_frame_is_a_table():
    frame = pd.DataFrame({"n_words": [7, 9], "a": [0.5, 1], "b": [0.25, 0], "c": [1, 1]})
    assert scores(read_many(frame, systems=["c", "a"])) == {"c": [1, 1], "a": [Fraction(1, 2), 1]}
    assert permtest.read_many(frame).systems == ("a", "b", "c")


# ---- fractions, counts, classes ------------------------------------------------------------------


def test_what_is_printed_like_a_third_is_one_for_all_systems():
    """A third is one in every column, also beside a number that is no fraction."""
    text = (
        "id,a,b,c\n1,0.123456789012345,0.333333333333333,0.333333333333333\n"
        "2,0.333333333333333,0.666666666666667,0.1\n3,0.1,0.333333333333333,0.7\n4,0.7,1,0.2\n"
    )
    table = read_many(file(text))
    third, exact = Fraction(1, 3), scores(table)
    assert exact["b"] == [third, 2 * third, third, 1]
    assert exact["a"][:2] == [Fraction(0.123456789012345), third]
    assert table.rounding.astype(bool).tolist() == [[True, False, False, False], *[[False] * 4] * 2]
    assert exact["c"][0] == third
    assert_like_read(table, "mean", file(text))


def test_thousands_of_digits_stay_exact():
    text = f"id,a,b,c\n1,{10**30},{10**30 + 1},1e-30\n2,0,0,0\n"
    assert scores(read_many(file(text))) == {
        "a": [10**30, 0],
        "b": [10**30 + 1, 0],
        "c": [Fraction(1, 10**30), 0],
    }


def test_counts_listed_by_column():
    text = "3,1,0,2,2,1,1,2,2\n4,0,1,3,1,2,4,1,1\n"
    systems = ["1,2,3", "4,5,6", "7,8,9"]
    table = read_many(file(text), statistic="f1", systems=systems)
    assert table.systems == tuple(systems)
    assert table.scores.tolist()[1] == [[2, 2, 1], [3, 1, 2]]


def test_counts_must_be_the_same():
    text = "id,a_tp,a_fp,a_fn,a_incorrect,b_tp,b_fp,b_fn,c_tp,c_incorrect\n1,1,0,0,0,1,0,1,1,1\n"
    with pytest.raises(ValueError, match=r"'a' has tp, fp, fn .* and tp, incorrect"):
        read_many(file(text), statistic="f1")


def test_classes_that_few_systems_predict():
    """Each pair has classes of its own; the table has all, and 0 for those that are not there."""
    text = "id,gold,a,b,c\n1,x,x,y,x\n2,y,y,y,z\n3,x,y,x,w\n4,y,y,x,y\n"
    table = read_many(file(text), gold="gold", statistic="macro_f1")
    assert table.scores.shape == (3, 4, 4, 3)  # w, x, y, z
    assert table.scores[:, :, 0].sum(axis=1).tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    pairs = read(file(text), gold="gold", statistic="macro_f1", a="a", b="b")
    assert table.scores[:2, :, 1:3].tolist() == [pairs.u.tolist(), pairs.v.tolist()]
    board = compare_many(table)
    wanted = exact_perm_test(pairs, statistic="macro_f1").pvalue
    assert board.pvalue[0, 0] == pytest.approx(wanted, rel=1e-12)


# ---- items that some systems lack ----------------------------------------------------------------

GAPS = """\
id,system,score,doc
i1,a,1,x
i2,a,2,x
i3,a,3,y
i4,a,,y
i5,b,5,y
i3,b,3,y
i2,b,1,x
i4,b,9,y
i2,c,2,x
i3,c,,y
i1,c,4,x
"""


def test_only_items_of_all_systems_are_compared():
    table = read_many(file(GAPS), clusters="doc")
    assert (table.ids, table.clusters) == (("i2",), ("x",))
    assert scores(table) == {"a": [2], "b": [1], "c": [2]}
    source = table.source
    assert (source["matched"], source["left_out"]) == (1, 4)
    assert source["left_out_ids"] == ["i1", "i3", "i4", "i5"]
    assert source["lacking"] == {"a": 2, "b": 1, "c": 3}
    assert source["read"] == (
        "most items are left out, so that this is a part of the data; "
        "a table with a line for each item and system: 1 item of 3 systems, paired by id; 4 left "
        "out ('i1', 'i3', 'i4', 'i5'), of which systems lack the score: a 2, b 1, c 3; items of "
        "one 'doc' are swapped together (1 cluster)."
    )
    json.dumps(source, allow_nan=False)


def test_of_two_systems_more_items_are_left():
    table = read_many(file(GAPS), systems=["b", "a"])
    assert (table.ids, table.source["left_out_ids"]) == (("i3", "i2"), ["i5", "i4", "i1"])


def test_many_names_are_cut():
    rows = [(f"i{k}", f"s{j}", k) for j in range(8) for k in range(20) if k == 0 or k % 8 != j]
    text = "id,system,score\n" + "".join(f"{i},{s},{x}\n" for i, s, x in rows)
    table = read_many(file(text))
    assert table.n_items + table.source["left_out"] == 20
    assert len(table.source["left_out_ids"]) == 5
    assert (
        "'i5', ...), of which systems lack the score: s0 2, s1 3, s2 3, s3 3, s4 2 and 3 more"
        in (table.source["read"])
    )


def test_without_ids_the_order_pairs_and_holes_are_lines():
    texts = ["1\n2\n3\n4\n", "1\n\nna\n3\n".replace("\n\n", "\nnan\n"), "4\n3\n2\n1\n"]
    table = read_many(*(file(text, f"{name}.txt") for name, text in zip("abc", texts, strict=True)))
    assert scores(table) == {"a": [1, 4], "b": [1, 3], "c": [4, 1]}
    assert table.ids is None
    assert table.source["left_out_ids"] == ["line 2", "line 3"]
    assert (table.source["paired_by"], table.source["lacking"]) == ("order", {"b": 2})


def test_lengths_without_ids_must_agree():
    short = [file("1\n2\n3\n", "a.txt"), file("1\n0\n2\n", "b.txt"), file("1\n2\n", "c.txt")]
    with pytest.raises(ReadError, match=r"^c\.txt: 2 items, but 3 of 'a', and no ids"):
        read_many(*short)
    with pytest.raises(ReadError, match="has no ids, but"):
        read_many(file("id,score\n1,2\n2,0\n3,1\n", "d.csv"), *short[:2])


def test_nothing_in_common():
    texts = ["id,score\n1,2\n2,3\n", "id,score\n2,1\n3,1\n", "id,score\n3,1\n1,1\n"]
    found = [file(text, f"{name}.csv") for name, text in zip("abc", texts, strict=True)]
    with pytest.raises(ReadError, match="no item has a score of all 3 systems; leave some out"):
        read_many(*found)
    with pytest.raises(ReadError, match=r"^e\.csv: no id in common with a\.csv"):
        read_many(found[0], file("id,score\n8,1\n9,1\n", "e.csv"))


# ---- clusters and strata -------------------------------------------------------------------------


def test_epochs_are_swapped_together_if_any_system_has_them():
    values = {"m1": (1,), "m2": (1,), "m3": (1, 2)}
    logs = [
        made.inspect_json(
            [made.sample(i, "CI"[(i + e + k) % 2], epoch=e) for e in epochs for i in range(4)], name
        )
        for k, (name, epochs) in enumerate(values.items())
    ]
    table = read_many(*logs)
    assert table.n_items == 4
    assert table.source["left_out"] == 4
    assert table.clusters == ("q0", "q1", "q2", "q3")
    assert read_many(*logs, clusters=False).clusters is None
    whole = read_many(logs[2], made.inspect_json(
        [made.sample(i, "C", epoch=e) for e in (2, 1) for i in range(4)], "m4"
    ))  # fmt: skip
    assert whole.clusters == ("q0", "q1", "q2", "q3") * 2
    assert compare_many(whole).n_informative.max() <= 4


def test_a_column_called_cluster_is_swapped_by_default():
    text = "id,cluster,a,b,c\n1,x,1,0,0\n2,x,1,0,1\n3,y,0,0,1\n"
    table = read_many(file(text))
    assert (table.systems, table.clusters) == (("a", "b", "c"), ("x", "x", "y"))
    assert "whole values of 'cluster' are swapped by default" in table.source["notes"][0]
    assert read_many(file(text), clusters=False).clusters is None


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_strata_count_alike(shape):
    rows = [(1, "x", 1, 0, 0), (2, "x", 0, 0, 1), (3, "x", 1, 0, 1), (4, "y", 1, 1, 0)]
    if shape == "wide":
        text = "id,subject,a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    else:
        text = "id,subject,system,score\n" + "".join(
            f"{i},{s},{name},{x}\n"
            for i, s, *cells in rows
            for name, x in zip("abc", cells, strict=True)
        )
    table = read_many(file(text), strata="subject")
    means = [(Fraction(2, 3) + 1) / 2, Fraction(1, 2), Fraction(1, 3)]
    assert list(table.exact_values) == means
    assert "items of one 'subject' are averaged first" in table.source["read"]
    with pytest.raises(ValueError, match="strata are averaged"):
        read_many(file(text), strata="subject", statistic="sum")
    with pytest.raises(ReadError, match=r"no column 'topic'|no 'topic' of both systems"):
        read_many(file(text), strata="topic")


def test_strata_of_all_systems_must_agree():
    text = "id,system,score,g\n"
    for system, group in (("a", "y"), ("b", "y"), ("c", "x")):
        text += "".join(f"{i},{system},1,{g}\n" for i, g in ((1, "x"), (2, group), (3, "y")))
    with pytest.raises(ReadError, match=r"belongs to g 'x', but in .* to 'y'"):
        read_many(file(text), strata="g")


EPOCHS = """\
id,category,epoch,s0,s1,s2
q0,x,1,1,0,1
q0,x,2,1,0,0
q1,y,1,1,1,1
q1,y,2,0,0,1
"""


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_lines_that_repeat_items_are_swapped_with_them(kind, tmp_path):
    path = tmp_path / "epochs.csv"
    path.write_text(EPOCHS, encoding="utf-8")
    source = path if kind == "file" else pd.read_csv(path)
    table = read_many(source, clusters="id")
    assert (table.ids, table.clusters) == (None, ("q0", "q0", "q1", "q1"))
    assert table.source["read"].endswith(
        "4 items of 3 systems, paired by row; items of one 'id' are swapped together (2 clusters). "
        "Columns taken for no systems: id, category, epoch."
    )
    pairs = read(source, a="s0", b="s1", clusters="id")
    assert (pairs.ids, pairs.clusters, pairs.source["ids"]) == (None, table.clusters, None)
    with pytest.raises(ReadError, match=r"'q0' is on .*, too; .* clusters \(--clusters id\)"):
        read_many(source)
    with pytest.raises(ReadError, match="'q0' is on"):
        read_many(source, clusters="category")


def test_lines_that_repeat_items_have_strata():
    table = read_many(file(EPOCHS), clusters="id", strata="category")
    assert list(table.exact_values) == [Fraction(3, 4), Fraction(1, 4), Fraction(3, 4)]
    with pytest.raises(ReadError, match="column 's0' holds the clusters"):
        read_many(file(EPOCHS), clusters="id", strata="s0", systems=["s0", "s1"])


def test_ids_that_are_also_clusters_stay_ids_where_none_is_repeated():
    assert read_many(file("id,a,b\n1,2,3\n2,0,1\n"), clusters="id").ids == ("1", "2")


# ---- which systems -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("epoch", "Epochs", "trial", "run", "repeat", "repetition", "seed", "fold", "partition"),
        *("SPLIT", "index", "doc", "n_x"),
    ],
)
def test_columns_that_are_no_systems_by_name(name):
    table = read_many(file(f"{name},a,b,note\n1,2,3,x\n2,0,1,\n"))
    assert table.systems == ("a", "b")
    assert table.source["no_systems"] == [name, "note"]
    assert f"Columns taken for no systems: {name}, note." in table.source["read"]
    assert read_many(file(f"{name},a\n1,2\n2,0\n"), systems=[name, "a"]).n_items == 2


def test_other_columns_beside_counts_are_named():
    text = "doc,a_errors,b_errors,length,note\nx,1,2,4,y\nz,1,0,4,y\n"
    table = read_many(file(text), statistic="wer")
    assert table.source["no_systems"] == ["doc", "note"]


def test_one_bad_cell_does_not_remove_a_system():
    lines = [f"q{i},{i % 2},{i % 3},{'yes' if i == 4 else 1},x" for i in range(9)]
    text = "\n".join(["id,a,b,c,category", *lines])
    with pytest.raises(ReadError) as error:
        read_many(file(text))
    assert str(error.value) == (
        "scores.csv, line 6, column 'c': 'yes' is not a number, but 8 of 9 cells of this column "
        "are; mend it, or name the columns of scores as systems (--systems)"
    )
    assert read_many(file(text), systems=["a", "b"]).systems == ("a", "b")
    with pytest.raises(ReadError, match=r"column 'c': 'yes' is not a number"):
        read_many(pd.DataFrame([line.split(",") for line in lines], columns=[*"iabc", "category"]))
    few = text.replace(",1,x", ",no,x", 5)
    assert read_many(file(few)).source["no_systems"] == ["id", "c", "category"]


def test_systems_by_name_and_number_in_the_order_wanted():
    text = "id,n_words,a,b,c\n1,9,1,2,3\n2,8,4,5,6\n"
    assert read_many(file(text), systems=["c", 3]).systems == ("c", "a")
    assert read_many(file(text), systems=["n_words", "a"]).systems == ("n_words", "a")
    assert scores(read_many(file("1 2 3\n4 5 6\n"))) == {"1": [1, 4], "2": [2, 5], "3": [3, 6]}
    assert scores(read_many(file("1 2 3 4\n"), systems=[4, 2])) == {"A": [4], "B": [2]}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,a\n1,2\n", {}, r"1 system \(a\), but a leaderboard is of two or more; name columns"),
        ("id,n_a,doc_id\n1,2,3\n", {}, "no system, but a leaderboard"),
        ("id,a,b\n1,2,3\n", {"systems": ["a"]}, r"1 system \(a\)"),
        ("id,a,b\n1,2,3\n", {"systems": ["a", "x"]}, "no column 'x'; its columns are"),
        ("id,a,b\n1,2,3\n", {"systems": ["a", "a"]}, "a and b are both column 'a'"),
        ("id,a,b\n1,2,3\n", {"systems": ["a", "b", 3]}, r"systems\[2\] = 3 is there before"),
        ("id,a,b\n1,2,x\n2,3,4\n", {"systems": ["a", "b"]}, "line 2, column 'b': 'x' is not"),
        ("id,a,b,c\n1,2,1,1\n1,3,4,5\n", {}, "'1' is on line 2, too"),
        ("id,a,b,c\n1,2,1,-1\n", {"statistic": "accuracy"}, "column 'c': -1"),
        ("1,2,3,4\n", {}, r"seems to hold counts of 2 systems \('A', 'B'\)"),
        ("a_tp,a_fp,a_fn,b_tp,b_fp,b_fn\n1,2,3,1,1,1\n", {}, r"\(--metric f1\)"),
        ("id,tp,fp,fn\n1,2,1,1\n", {}, r"'tp', 'fp', 'fn' seem to hold counts, .* as new_tp, or"),
        ("id,TP,incorrect\n1,2,1\n", {"statistic": "f1"}, "seem to hold counts, but of no system"),
        ("id,errors,length\n1,2,1\n", {}, "add a column 'system'"),
        ("id,gold,a,b\n1,2,2,1\n", {}, r"column 'gold' may say what is right, .* \(--gold gold\)"),
        ("id,system,score\n1,a,2\n1,a,3\n2,b,1\n1,b,1\n", {}, "'1' is the id of two items"),
        ("id,system,score\n1,a,2\n1,b,3\n", {"systems": ["a", "z"]}, "systems: no system 'z'"),
        (
            "id,system,score\n1,a,2\n1,b,3\n1,c,3\n",
            {"systems": ["a", "b", "b"]},
            r"systems\[2\] = 'b' is there before",
        ),
    ],
)
def test_what_is_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        read_many(file(text), **options)


def test_one_name_is_no_list():
    with pytest.raises(TypeError, match="must be a list of names"):
        read_many(file("id,a,b\n1,2,3\n"), systems="ab")
    with pytest.raises(ValueError, match="no file"):
        read_many()


def test_different_scores_must_be_chosen():
    text = "id,system,x,y\n1,a,1,2\n1,b,1,\n1,c,2,1\n"
    with pytest.raises(ReadError, match="2 scores"):
        read_many(file(text))
    assert scores(read_many(file(text), score="x")) == {"a": [1], "b": [1], "c": [2]}


def test_names_that_are_code_are_text():
    text = 'id,system,score\n1,<b>a</b>,2\n1,"{{7*7}},$x$",3\n1,\x1b[2J,1\n'
    table = read_many(file(text))
    assert table.systems == ("<b>a</b>", "{{7*7}},$x$", r"\x1b[2J")
    assert "<b>" not in compare_many(table)._repr_html_()


def test_notes_are_many_and_cut():
    table = read_many(*(made.lm_eval({1: 1, 2: k % 2}, f"m{k}") for k in range(3)))
    assert len(table.source["notes"]) <= 6
    assert table.source["read"].startswith("lm-evaluation-harness samples: 2 items of 3 systems")


def test_memory_is_bounded(monkeypatch):
    text = "id," + ",".join(f"s{j}" for j in range(40)) + "\n"
    text += "".join(f"{i}," + ",".join("1" for _ in range(40)) + "\n" for i in range(50))
    evaluation = recognise(file(text))
    monkeypatch.setattr(files, "MEMORY", 3 * 40 * 50 * 8 - 1)
    with pytest.raises(ReadError, match="all systems together: reading it may take"):
        permtest.readers.many.table_of(evaluation)


def test_a_hundred_systems():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 9, size=(300, 100)).astype(str)
    text = "id," + ",".join(f"s{j}" for j in range(100)) + "\n"
    text += "".join(f"i{i}," + ",".join(row) + "\n" for i, row in enumerate(cells))
    table = read_many(file(text))
    assert np.array_equal(table.scores, cells.astype(int).T)
