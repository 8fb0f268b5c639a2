"""What can be declared, what needs no declaration, and what is checked."""

import pickle

import pandas as pd
import pytest

import permtest as pt
from permtest.readers import File, ReadError

A = "id,score,note\nq1,1,x\nq2,0,y\nq3,1,z\nq4,0.5,x\n"
B = "id,score,note\nq4,1,x\nq3,0,z\nq2,0,y\nq1,0,x\n"
LONG = "name,who,seed,mark\n" + "".join(
    f"{q},{s},{r},{(i * 7 + j * 3 + r) % 4}\n"
    for i, q in enumerate("stuv")
    for j, s in enumerate(("new", "old"))
    for r in (10, 20)
)
LONG_SAID = {"id": "name", "system": "who", "score": "mark", "run": "seed"}


def read(*texts, **said):
    return pt.read(*(File(f"{'ab'[i]}.csv", x.encode()) for i, x in enumerate(texts)), **said)


def values(scores):
    return [[x / scores.scale for x in column.tolist()] for column in scores.arrays]


# ---- what needs no declaration -------------------------------------------------------------------


def test_two_tables_with_an_id_and_a_score():
    scores = read(A, B)
    assert scores.ids == ("q1", "q2", "q3", "q4")
    assert values(scores) == [[1, 0, 1, 0.5], [0, 0, 0, 1]]
    assert (scores.systems, scores.score, scores.higher_is_better) == (("a", "b"), "", None)
    assert scores.source["paired_by"] == "id"
    with pytest.raises(ReadError, match="say which columns are what"):
        read(A, B.replace("score", "points"))
    assert values(read(A, B.replace("score", "points"), score=2)) == values(scores)
    assert read(A, B, higher_is_better=False).higher_is_better is False


@pytest.mark.parametrize("name", ["id", "Item", "index", "qid", "sent_id", "QUESTION_ID"])
def test_a_table_of_an_id_and_two_scores(name):
    scores = read(f"{name},new,old\nx,3,1\ny,4,4\n")
    assert (scores.systems, scores.ids) == (("new", "old"), ("x", "y"))
    with pytest.raises(ReadError, match="say which columns are what"):
        read(f"{name}s,new,old\nx,3,1\ny,4,4\n")
    for others in ("new,old,words 3,1,2 4,4,7", "age,score 31,5 20,7", "new,note 3,x 4,y"):
        head, *rows = others.split()
        with pytest.raises(ReadError, match="say which columns are what"):
            read(f"{name},{head}\nx,{rows[0]}\ny,{rows[1]}\n")


@pytest.mark.parametrize(
    ("texts", "said", "systems", "ids", "found"),
    [
        (["id,system,score\nx,old,3\nx,new,1\ny,new,2\ny,old,2\n"], {}, "old new", ("x", "y"),
         [[3, 2], [1, 2]]),
        (["1 2\n3.5 4\n5 6.5\n"], {}, "1 2", None, [[1, 3.5, 5], [2, 4, 6.5]]),
        (["1\n0\n1\n", "0\n0\n1\n"], {}, "a b", None, [[1, 0, 1], [0, 0, 1]]),
        (["mark\n1\n2\n", "mark\n2\n2\n"], {"score": "mark"}, "a b", None, [[1, 2], [2, 2]]),
    ],
)  # fmt: skip
def test_long_tables_and_pairs_by_order(texts, said, systems, ids, found):
    scores = read(*texts, **said)
    assert (" ".join(scores.systems), scores.ids, values(scores)) == (systems, ids, found)
    by = "id" if ids else "the lines of one table" if len(texts) < 2 else "their order"
    assert scores.source["paired_by"] == by


@pytest.mark.parametrize("column", ["1\n2\n3\n4", "0\n1\n2\n3", "2\n1\n1\n2\n3\n3"])
def test_a_column_that_counts_is_no_score_unless_it_is_named(column):
    rows = [f"q{i},{x},{x}" for i, x in enumerate(column.split())]
    text = "\n".join(["id,new,trial", *rows])
    with pytest.raises(ReadError, match="counts"):
        read(text)
    assert len(read(text, a="new", b="trial")) == len(rows)
    assert len(read("id,new,old\na,1,0\nb,0,1\n")) == 2  # 0 and 1 are scores


def test_frames_are_read_like_files():
    frame = pd.DataFrame(
        {"new": [1.5, 2], "old": [1.25, 1]}, index=pd.Index(["x", "y"], name="doc")
    )
    assert pt.read(frame, id="doc", a="new", b="old").ids == ("x", "y")
    ids = pd.DataFrame({"score": [True, False]}, index=["x", "y"])
    both = pt.read(ids, ids.iloc[::-1])
    assert (both.ids, values(both)) == (("x", "y"), [[1, 0], [1, 0]])
    assert pt.read(frame).ids == ("x", "y")  # its index has a name
    call = r"For example:  pt.read\(frame, id='doc', a='new', b='old'\)"
    with pytest.raises(ReadError, match=call):
        pt.read(frame.reset_index())
    records = [{"id": "x", "new": 1, "old": None}, {"id": "y", "new": 2, "old": 3}]
    assert pt.read(records, missing="drop").ids == ("y",)


@pytest.mark.parametrize(
    ("new", "old", "u", "scale"),
    [
        ([2**60 + 1, 2, 3, 4], [0.5, 1, 2.5, 3], 2 * (2**60 + 1), 2),
        ([True] * 4, [True, False, False, True], 1, 1),
        ([1 / 3000, 0.5, 1, 1], [2 / 3, 1, 1, 2], 1, 3000),
        (["9007199254740993", "1", "1", "2"], ["0.5", "2", "3", "3"], 2 * 9007199254740993, 2),
        (["0.1", "0.6666666666666666", "1", "1"], ["0.10", "0", "0", "2"], 3, 30),
    ],
)
def test_numbers_of_frames_stay_exact(new, old, u, scale):
    frame = pd.DataFrame({"new": new, "old": old}, index=pd.Index(list("abcd"), name="id"))
    scores = pt.read(frame, a="new", b="old")
    assert (scores.u[0], scores.scale) == (u, scale)


# ---- what is declared ----------------------------------------------------------------------------


def test_a_long_table_with_runs():
    scores = read(LONG, **LONG_SAID)
    assert [x.sizes.tolist() for x in scores.runs] == [[2] * 4] * 2
    assert scores.runs[0].labels == ("10", "20") * 4
    lines = [x.split(",") for x in LONG.splitlines()[1:]]
    mean = [sum(float(x[3]) for x in lines if x[:2] == [q, "new"]) / 2 for q in "stuv"]
    assert (values(scores)[0], scores.score) == (mean, "mark")
    assert read(LONG, **LONG_SAID, a="old", b="new").systems == ("old", "new")
    assert pt.exact_runs_test(scores).pvalue == pytest.approx(pt.exact_perm_test(scores).pvalue)


def test_gold_in_a_column_a_file_or_a_column_of_a_file(tmp_path):
    text = "id,right,a,b\n1,cat,cat,dog\n2,dog,dog,dog\n3,cat,dog,cat\n"
    assert values(read(text, gold="right", a="a", b="b")) == [[1, 1, 0], [0, 1, 1]]
    gold = tmp_path / "gold.csv"
    gold.write_text("id,label,length\n3,cat,5\n1,cat,3\n2,dog,9\n")
    a, b = "id,said\n1,cat\n2,dog\n3,dog\n", "id,said\n3,cat\n2,dog\n1,dog\n"
    scores = read(a, b, gold=f"{gold}:label", prediction="said")
    assert (values(scores), scores.higher_is_better) == ([[1, 1, 0], [0, 1, 1]], True)
    assert values(read(text, gold=f"{gold}:label", a="a", b="b")) == values(scores)
    with pytest.raises(ReadError, match="which column of the file is right"):
        read(a, b, gold=str(gold), prediction="said")
    counts = read(a, b, gold=f"{gold}:label", prediction="said", statistic="f1", pos_label="cat")
    assert counts.columns == ("tp", "fp", "fn")
    assert counts.u.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    for lines, why in (("4,dog,1\n", "1 of 4 items"), ("2,dog,9\n", "'2' comes twice")):
        gold.write_text(gold.read_text() + lines)
        with pytest.raises(ReadError, match=why):
            read(a, b, gold=f"{gold}:label", prediction="said")


def test_a_missing_prediction_is_wrong_where_that_is_said():
    text = "item,who,said,right\n1,a,x,x\n1,b,y,x\n2,b,y,y\n3,a,x,y\n3,b,y,y\n"
    said = {"system": "who", "prediction": "said", "gold": "right"}
    with pytest.raises(ReadError, match=r"1 of 3 items lack a score: 2 \(a 1\)"):
        read(text, **said)
    assert values(read(text, **said, missing="zero")) == [[1, 0, 0], [0, 1, 1]]
    with pytest.raises(ReadError, match="column right: 'y', but 'x'"):
        read(text.replace("3,a,x,y", "3,a,x,x"), **said | {"gold": 4}, missing="drop")


def test_counts_by_their_common_beginning():
    head = "sent_id,new_tp,new_fp,new_fn,old_tp,old_fp,old_fn\n"
    scores = read(head + "1,1,0,2,0,1,3\n2,4,1,0,5,0,0\n", statistic="f1", a="new", b="old")
    assert (scores.columns, scores.u.tolist()) == (("tp", "fp", "fn"), [[1, 0, 2], [4, 1, 0]])


def test_clusters_and_ids_of_several_columns():
    text = "doc,line_id,new,old\nd1,1,3,2\nd1,2,1,1\nd2,1,0,4\n"
    scores = read(text, id=["doc", "line_id"], a="new", b="old", clusters="doc")
    assert scores.ids == ("d1, 1", "d1, 2", "d2, 1")
    assert scores.clusters == ("d1", "d1", "d2")
    assert scores.units.u.tolist() == [4, 0]


def test_many_systems():
    text = "item,a_ok,b_ok,c_ok,words\nx,1,0,1,5\ny,0,0,1,9\n"
    file = File("all.csv", text.encode())
    assert pt.read_many(file, systems="*_ok").systems == ("a", "b", "c")
    assert pt.read_many(file, systems="c_ok,2").systems == ("c_ok", "a_ok")
    with pytest.raises(ReadError, match=r"csv', systems=\['a_ok', 'b_ok', 'c_ok'\]\)"):
        pt.read_many(File("all.csv", b"item,a_ok,b_ok,c_ok\nx,1,0,1\ny,0,0,1\n"))
    each = [File(f"{x}.csv", f"id,ok\nx,{x}\ny,0\n".encode()) for x in range(3)]
    assert values(pt.read_many(*each)) == [[0, 0], [1, 0], [2, 0]]
    with pytest.raises(ReadError, match="each file is a system: name the column of its scores"):
        pt.read_many(*each, systems="new,old")
    with pytest.raises(TypeError, match="unexpected keyword argument 'cluster'"):
        pt.read_many(*each, cluster="x")


# ---- what is checked -----------------------------------------------------------------------------

WIDE = "id,new,old\n7,1,2\n7,3,5\n"
COUNTED = "doc,tp,fp,fn\n7,1,0,0\n3,0,1,1\n"
RATERS = "item_id,rater_id,system,score\n" + "".join(
    f"{i},{r},{s},{x}\n"
    for i, r, s, x in zip("11112222", "11221122", "ab" * 4, "23131322", strict=True)
)


@pytest.mark.parametrize(
    ("texts", "said", "why", "proposed"),
    [
        ([WIDE], {}, "line 3: id '7' comes twice .first in line 2", None),
        ([LONG], {x: LONG_SAID[x] for x in ("id", "system", "score")},
         "line 3: name 's' comes twice .first in line 2", {"run": "seed"}),
        ([LONG + LONG.splitlines()[1]], LONG_SAID, "comes twice", None),
        ([LONG], {**LONG_SAID, "a": "newest", "b": "old"},
         "no system is called 'newest': there are new, old", None),
        ([A, B], {"score": "scor"}, "score scor: no such column in a.csv", None),
        (["x,new_tp,old_tp\ny,1,2\n"], {"a": "new", "b": "old"}, "counts need a metric", None),
        (["id,system,score\nx,new,3\ny,new,4\n"], {}, "of two systems .* there are 1: new", None),
        (["id,system,score\nx,new,3\nx,old,4\nx,z,4\n"], {}, "are 3: new, old, z", {"a": "new"}),
        ([WIDE], {"a": "new"}, "name both systems", None),
        ([WIDE], {"a": "2", "b": "new"}, "two columns or more, and 2, new names 1", None),
        ([WIDE[:-6]], {"a": "new", "b": "old", "clusters": "doc"}, "clusters doc: no such", None),
        (["1\n0\n1\n", "0\n0\n"], {}, "a.csv has 3 lines, b.csv has 2 lines", None),
        ([A, B.replace("q", "p")], {"missing": "drop"}, "no item is left", None),
        ([A, B.replace("q3,0,z", "q3,0,other")], {},
         "b.csv, line 3, column note: 'other', but 'z'", None),
        ([WIDE], {"statistic": "f2", "a": "new", "b": "old"},
         "needs columns new_tp, new_fp, new_fn", None),
        ([COUNTED, "doc,tp,fp,fn\n3,0,1,1\n7,1,0,1\n"], {"statistic": "f1"}, "say which",
         {"id": "doc"}),
        (["question,score\n12,.5\n11,.3\n", "question,score\n11,.2\n12,.6\n"],
         {"score": "score"}, "say which", {"id": "question"}),
        ([RATERS], {}, "say which", {"id": "item_id", "run": "rater_id"}),
        (["doc_id,sent_id,x\na,1,0\na,2,5\nb,3,1\n"] * 2, {}, "say which", {"id": "sent_id"}),
        (["doc_id,sent_id,x,y\na,1,0,1\na,2,1,1\nb,1,1,0\n"], {}, "say which", {"a": "x"}),
        (["mark\n1\n2\n2\n5\n", "mark\n1\n2\n2\n4\n"], {}, "say which columns are what", None),
    ],
)  # fmt: skip
def test_stops(texts, said, why, proposed):
    with pytest.raises(ReadError, match=why) as caught:
        read(*texts, **said)
    found = caught.value.proposal
    assert (found is None) == (proposed is None)
    assert (proposed or {}).items() <= (found or {}).items()
    if found:
        assert found.pop("paths") == ["a.csv", "b.csv"][: len(texts)]
        assert len(read(*texts, **found)) > 0
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_missing_items_are_counted_and_need_a_word():
    b = B.replace("q2,0", "q2,").replace("q1", "q9")
    with pytest.raises(ReadError, match=r"3 of 5 items lack a score: q1, q2, q9 \(a 1, b 2\)") as e:
        read(A, b)
    assert "missing: drop or zero" in str(e.value)
    assert e.value.proposal is None
    dropped = read(A, b, missing="drop")
    assert (dropped.ids, dropped.source["lacking"][:15]) == (("q3", "q4"), "left out: 3 of ")
    assert values(read(A, b, missing="zero")) == [[1, 0, 1, 0.5, 0], [0, 0, 0, 1, 0]]
    other = B.replace("q3,0,z", "q3,0,other")  # texts may differ if they are declared, or empty
    assert len(read(A, other, prediction="note", score="score")) == 4
    assert len(read(A, other.replace("other", ""))) == 4


GOOD, BAD = "1 -.5 1e-3 true FALSE +2.", "NA nan inf 1,234 85% yes 0x1f 1_000 ٣ 1;2"


@pytest.mark.parametrize("cell", [*GOOD.split(), *BAD.split()])
def test_what_a_number_is(cell):
    text = f'id,a,b\nx,1,2\ny,"{cell}",3\n'
    if cell in GOOD.split():
        assert len(read(text)) == 2
        return
    for said, why in (({}, "say which"), ({"a": 2, "b": 3}, "line 3, column a: .* is no number")):
        with pytest.raises(ReadError, match=why):
            read(text, **said)


def test_a_last_line_of_sums_is_refused_and_ordinary_ones_are_not():
    rows = [(3, 1), (4, 4), (0, 2), (5, 4)]
    text = "id,a,b\n" + "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(rows))
    assert len(read(text)) == 4
    with pytest.raises(ReadError, match="line 6: this line has the sums"):
        read(text + "all,12,11\n")
    assert len(read(text + "all,12,12\n")) == 5
    assert len(read("id,a,b\n1,1,1\n2,1,1\n3,1,1\n4,1,1\n5,1,1\n")) == 5


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ({"a": "new"}, TypeError, "read_many has no a; "),
        ({"missing": "no"}, ReadError, "missing='no' must be drop or zero"),
        ({"higher_is_better": "no"}, ReadError, "higher_is_better='no' must be True or False"),
        ({"systems": "new,old", "score": "new"}, ReadError, "leave it out here"),
    ],
)
def test_what_has_no_meaning_is_refused(said, error, message):
    table = File("t.csv", b"id,new,old\nx,1,2\ny,2,1\n")
    with pytest.raises(error, match=message):
        pt.read_many(table, **said)


def test_a_column_of_numbers_and_a_text_may_be_the_score():
    table = File("t.csv", b"id,age,before,after\nx,40,1,2\ny,51,NA,1\nz,33,2,2\n")
    with pytest.raises(ReadError, match="numbers, and 'NA'") as caught:
        pt.read(table)
    assert caught.value.proposal is None
    alone = [File(f"{x}.csv", f"id,words,{x}\np,3,1\nq,5,2\nr,4,N/A\n".encode()) for x in "ab"]
    with pytest.raises(ReadError, match="say which columns are what"):
        pt.read(*alone)


def test_ids_that_are_not_written_alike_are_not_missing_scores():
    new, old = (
        File("new.csv", b"id,points\n001,3\n002,5\n"),
        File("old.csv", b"id,points\n1,3\n2,5\n"),
    )
    for said in ({}, {"missing": "zero"}):
        with pytest.raises(ReadError, match="no item is left; check that ids are right and alike"):
            pt.read(new, old, **said)


def test_a_pattern_that_is_a_name_leaves_names_whole():
    table = File("t.csv", b"id,c4,c4_cut\nx,1,2\ny,2,1\n")
    assert pt.read_many(table, systems="c4*").systems == ("c4", "c4_cut")
    with pytest.raises(ReadError, match=r"column c4\*: no such column"):  # beside other names
        pt.read(table, a="c4*", b="c4_cut")


def test_a_total_of_counts_is_no_item():
    a, b = "id,tp,fp,fn\n1,4,0,3\n2,3,4,0\n3,2,0,1\n", "id,tp,fp,fn\n1,5,1,2\n2,1,0,2\n3,2,0,1\n"
    with pytest.raises(ReadError, match="line 5: this line has the sums of the first 3 lines"):
        read(a + "all,9,4,4\n", b + "all,8,1,5\n", statistic="f1")
    assert len(read(a + "4,9,4,4\n", b + "4,8,1,6\n", statistic="f1")) == 4
    errors = "id,a,b\n" + "".join(f"{i},{x},{x}\n" for i, x in enumerate([0, 0, 20, 0, 20]))
    assert len(read(errors)) == 5
    grades = "id,a,b\n1,0.5000,1.0000\n2,1.0000,0.0000\n3,0.0000,0.5000\n4,0.5000,0.5000\n"
    assert len(read(grades)) == 4  # the mean is a grade too


def test_text_that_differs_may_be_named_more_than_once():
    a, b = (f"id,log,key,x\n1,{s}1,{s}3,5\n2,{s}2,{s}4,{s == 'u'}\n" for s in "uv")
    with pytest.raises(ReadError, match=r"column key: 'v3', but 'u3'.*let it differ .prediction"):
        read(a, b, score="x", prediction="log")
    assert len(read(a, b, score="x", prediction=["log", "key"])) == 2
    for said in ({"score": ["x", "key"]}, {"score": "x", "run": ["log", "key"]}):
        with pytest.raises(ReadError, match="no such column"):
            read(a, b, **said)
