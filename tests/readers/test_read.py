"""Single scores in tables of every shape are read exactly and paired by ids, or refused."""

import hashlib
import json
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import Evaluation, File, describe, read, recognise
from permtest.readers.files import MAX_DIGITS
from permtest.readers.systems import Format, SystemScores
from tests.readers.texts import assert_refused, columns, exact, file, files

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(0, 1),
    st.decimals(-100, 100, places=3).map(lambda x: f"{x:f}"),
)
ITEMS = st.dictionaries(
    st.text("abc 1;é", min_size=1).map(str.strip).filter(bool).map("i{}".format),
    st.tuples(NUMBERS, NUMBERS),
    min_size=2,
    max_size=6,
)


@settings(max_examples=60)
@given(items=ITEMS, data=st.data())
def test_all_shapes_give_the_same_pairs(items, data):
    wanted = {name: tuple(Fraction(str(x)) for x in both) for name, both in items.items()}

    def lines(rows, *header):
        rows = [header, *data.draw(st.permutations(list(rows)))]
        return "".join(",".join(map(str, row)) + "\n" for row in rows)

    def frame(rows, *header):
        return pd.DataFrame(data.draw(st.permutations(list(rows))), columns=header, dtype=object)

    def records(rows, *header):
        rows = data.draw(st.permutations(list(rows)))
        return json.dumps([dict(zip(header, row, strict=True)) for row in rows])

    wide = [(name, a, b) for name, (a, b) in items.items()]
    news, olds = [(name, a) for name, a, _ in wide], [(name, b) for name, _, b in wide]
    long = [(name, "new", a) for name, a in news] + [(name, "old", b) for name, b in olds]
    lists = dict(zip(("id", "new", "old"), map(list, zip(*wide, strict=True)), strict=True))
    shapes = {
        "wide": [file(lines(wide, "id", "new", "old"))],
        "long": [file(lines(long, "id", "system", "score"))],
        "two": [file(lines(some, "id", "score"), f"{name}.txt")
                for some, name in ((news, "new"), (olds, "old"))],
        "records": [file(records(wide, "id", "new", "old"))],
        "long records": [file(records(long, "id", "model", "score"))],
        "lists": [file(json.dumps(lists))],
        "frame": [frame(wide, "id", "new", "old")],
        "index": [frame(wide, "id", "new", "old").set_index("id")],
        "levels": [frame(long, "id", "system", "score").set_index(["id", "system"])],
    }  # fmt: skip
    for shape, sources in shapes.items():
        pairs = read(*sources, a="new", b="old")
        assert exact(pairs) == wanted, shape
        assert pairs.names == ("new", "old")
        assert sum(pairs.source["unmatched"]) == pairs.source["dropped"] == 0
    by_order = [file("".join(f"{row[i]}\n" for row in wide), f"{i}.txt") for i in (1, 2)]
    assert list(exact(read(*by_order)).values()) == list(wanted.values())


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("3,2\n5,4\n", ("A", "B")),
        ("  3   2\n 5    4 \n\n", ("A", "B")),
        ("new;old\r\n3;2.0\r\n+5;4.\r\n", ("new", "old")),
        ("id,new,old\ns1,3,2\ns2,5,4\n", ("new", "old")),
        ("new,text,old\n3,a,2\n5,b,4\n", ("new", "old")),
        (",old\n3,2\n5,4\n", ("column 1", "old")),
        ("id,model,a,b\n1,large,3,2\n2,small,5,4\n", ("a", "b")),
    ],
)
def test_the_only_two_columns_of_numbers(content, names):
    pairs = read(file(content))
    assert (columns(pairs), pairs.names) == (([3, 5], [2, 4]), names)
    assert pairs.source["loader"] == "table"


def test_frames_are_paired_by_index():
    first, second = pd.DataFrame({"s": [1, 2]}, ["x", "y"]), pd.DataFrame({"s": [3, 4]}, ["y", "z"])
    pairs = read(first, second)
    assert (exact(pairs), pairs.source["paired_by"]) == ({"y": (2, 3)}, "index")
    assert pairs.source["unmatched_ids"] == [["x"], ["z"]]
    assert read(pd.DataFrame({"s": [1]}), pd.DataFrame({"s": [2]})).source["paired_by"] == "order"
    assert read(pd.DataFrame([[1, 2], [3, 4]])).names == ("0", "1")
    assert columns(read(pl.DataFrame({"a": [True, False], "b": [False, True]}))) == ([1, 0], [0, 1])


def test_the_source_is_recorded(tmp_path):
    path = tmp_path / "runs.tsv"
    path.write_text("id\tnew\told\ns1\t3\t2\ns2\t5\t4\n")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    source = read(path).source
    assert source == json.loads(json.dumps(source))
    assert source["files"] == [{"file": "runs.tsv", "sha256": sha256, "systems": ["new", "old"]}]
    assert (source["loader"], source["paired_by"], source["matched"]) == ("table", "row", 2)
    for name in ("unmatched", "unmatched_ids", "dropped", "left_out", "lacking", "notes"):
        assert source[name] in (0, [], {}, [0, 0], [[], []])


def test_numbers_are_exact():
    huge = 10 ** (MAX_DIGITS - 1) + 7
    assert columns(read(file(f"{2**53 + 1},{2**64}\n{-huge},{huge}\n"))) == (
        [2**53 + 1, -huge],
        [2**64, huge],
    )
    pairs = read(file("a,b\n0.1,.25\n-3,1e-05\n2.0,true\n"))
    assert list(exact(pairs).values()) == [
        (Fraction(1, 10), Fraction(1, 4)), (-3, Fraction(1, 10**5)), (2, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(("digits", "scale", "p"), [(15, 3, 8), (5, 10**5, 7)])
def test_ties_between_printed_thirds_count(digits, scale, p):
    third, two = f"{1 / 3:.{digits}f}", f"{2 / 3:.{digits}f}"
    rows = [(two, 0), (third, 0), (0, third), (0, third)]  # as much as -2/3 and 3/3
    lines = "".join(f'{{"a": {a}, "b": {b}}}\n' for a, b in rows)
    for text in ("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows), lines):
        pairs = read(file(text))
        assert pairs.scale == scale
        assert exact_perm_test(pairs, alternative="greater").fraction() == Fraction(p, 16)


def test_clusters_are_read_with_the_scores():
    path = file("doc,a,b\nx,3,2\n 7 ,5,4\nx,0,1\n")
    for options in ({"clusters": "doc"}, {"clusters": 1, "a": "2", "b": np.int64(3)}):
        pairs = read(path, **options)
        assert (pairs.clusters, columns(pairs)) == (("x", "7", "x"), ([3, 5, 0], [2, 4, 1]))
    assert read(path).clusters is None


def test_a_column_of_clusters_is_swapped_by_default_in_every_shape():
    wide = "id,cluster,new,old\n1,7,3,2\n2,7,5,1\n3,8,4,0\n"
    long = "id,cluster,system,score\n1,7,new,3\n2,7,new,5\n3,8,new,4\n"
    long += "1,7,old,2\n2,7,old,1\n3,8,old,0\n"
    two = [f"id,cluster,score\n1,7,{a}\n2,7,{b}\n3,8,{c}\n" for a, b, c in ((3, 5, 4), (2, 1, 0))]
    for pairs in (read(file(wide)), read(file(long)), read(*files(*two))):
        assert pairs.clusters == ("7", "7", "8")
        (note,) = pairs.source["notes"]
        assert "--no-clusters" in note
    assert read(file(wide), clusters=False).clusters is None
    assert read(file(wide.replace("8", "7"))).clusters is None  # one cluster is none


LONG = "id,system,score,cluster,topic\n1,new,3,x,p\n1,old,2,x,p\n2,old,1,x,q\n2,new,5,x,q\n"


def test_a_line_for_each_item_and_system():
    evaluation = recognise(file(LONG + "3,new,4,y,p\n3,old,0,y,p\n4,new,1,y,q\n"))
    assert (evaluation.format.name, evaluation.systems) == ("long", ("new", "old"))
    assert evaluation.groupings == ("cluster", "topic")
    assert evaluation.score_names("new", "old") == ("score",)
    assert evaluation.statistics("new", "old")[0] == "accuracy"
    pairs = evaluation.pairs("old", "new")
    assert exact(pairs) == {"1": (2, 3), "2": (1, 5), "3": (0, 4)}
    assert (pairs.clusters, pairs.source["loader"]) == (("x", "x", "y"), "long")
    said = describe(pairs.source, "long")
    assert said.startswith("long: 3 items paired by id; 1 only in new ('4')")
    assert evaluation.pairs(clusters=False).clusters is None
    assert evaluation.pairs(clusters="topic").clusters == ("p", "q", "p")


def test_files_without_ids_are_paired_by_order_and_that_is_said():
    pairs = read(file("1\n0.5\n", "new.txt"), file("2\n3\n", "old.txt"))
    assert (exact(pairs), pairs.names) == ({0: (1, 2), 1: (Fraction(1, 2), 3)}, ("new", "old"))
    assert describe(pairs.source, "two files") == "two files: 2 items paired by order."
    (note,) = read(*files("1\n2\n", "1\n2\n")).source["notes"]
    assert note == "b.csv has the content of a.csv: a file is compared with itself"
    assert f" {note}." in describe(read(*files("1\n2\n", "1\n2\n")).source, "two files")


def test_names_of_systems():
    rows = "id,score\n1,2\n2,3\n"
    assert read(file(rows, "x/s.csv"), file(rows, "y/s.csv")).names == ("x", "y")
    assert read(file(rows), file(rows)).names == ("scores (1)", "scores (2)")
    said = "id,model,score\n1,{0},2\n2,{0},3\n"
    assert read(file(said.format("new")), file(said.format("old"))).names == ("new", "old")
    both = file(LONG, "p.csv"), file(LONG, "q.csv")
    assert recognise(*both).systems == ("new (p)", "old (p)", "new (q)", "old (q)")
    assert recognise(both[0], file("id,score\n1,2\n", "q.csv")).systems == ("new", "old", "q")


def test_one_of_several_scores():
    first = file("id,acc,f2,doc,lang\n1,1,20,7,en\n2,0,30,7,en\n3,1,1.5,8,en\n", "n.csv")
    second = file("id,acc,f2,doc,lang\n3,1,1,8,en\n2,1,2,7,en\n1,1,3,7,en\n", "o.csv")
    assert exact(read(first, second, score="f2"))["3"] == (Fraction(3, 2), 1)
    assert read(first, second, score="acc", clusters="doc").clusters == ("7", "7", "8")


FORMAT = Format("made", "made scores")


def system(name, scores, ids, **more):
    return SystemScores(name, File(name, name.encode()), {"acc": scores}, "id", ids, **more)


def paired(*systems, **options):
    return Evaluation(FORMAT, systems).pairs(**options)


@given(st.data())
def test_the_order_of_a_file_does_not_matter(data):
    some = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 8), min_size=1)
    mine, theirs = data.draw(some), data.draw(some)
    keys = data.draw(st.permutations(list(theirs)))
    call = partial(
        paired,
        system("A", list(mine.values()), list(mine)),
        system("B", [theirs[key] for key in keys], keys),
    )
    common = [key for key in mine if key in theirs]
    if not common:
        assert_refused(call, "no id in common")
        return
    found = call()
    assert found.ids == tuple(common)
    assert columns(found) == ([mine[key] for key in common], [theirs[key] for key in common])
    source = found.source
    assert source["matched"] == len(common)
    assert source["unmatched"] == [len(mine) - len(common), len(theirs) - len(common)]
    assert source["unmatched_ids"][0] == [key for key in mine if key not in theirs][:5]


def test_what_is_left_out_is_said():
    first = system("A", [1, 0, None, 1], ["w", "x", "y", "z"], notes=("Tags were repaired.",))
    second = system("B", [1, 1, 1], ["z", "y", "x"])
    found = paired(first, second)
    assert columns(found) == ([0, 1], [1, 1])
    assert describe(found.source, FORMAT.title) == (
        "made scores: 2 items paired by id; 1 only in A ('w'); 1 without a score ('y'). "
        "Tags were repaired."
    )
