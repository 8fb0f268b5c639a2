"""What is compared is what people mean: the right rows, columns and numbers (or test_refused.py).

Each case is a file of a kind that people have. It is answered right, and what is not plain is said.
"""

import io
import json
from fractions import Fraction
from functools import partial

import pytest

from permtest import read_many
from permtest.readers import File, describe, read
from tests.readers.test_refused import two
from tests.readers.texts import assert_refused, columns, exact, file, files

HALF = Fraction(1, 2)


def said(pairs):
    return describe(pairs.source, "scores")


def named(text, *names):
    """The same text under other names of columns."""
    for number, name in enumerate(names):
        text = text.replace(f"${number}", name)
    return text


def cases(*rows):
    """Parameters whose texts are one file or several."""
    return [pytest.param([r[0]] if isinstance(r[0], str) else r[0], *r[1:]) for r in rows]


# ---- what an item is -----------------------------------------------------------------------------

FIRST, SECOND = "$0,score\n3,1\n1,0\n2,1\n", "$0,score\n1,1\n2,0\n3,1\n"
SHUFFLED = {"3": (1, 1), "1": (0, 1), "2": (1, 0)}
KEYS = "question hash n line fold Frage nr x position time doc"


@pytest.mark.parametrize("name", [*KEYS.split(), "Unnamed: 0", ""])
def test_a_column_that_differs_in_every_row_pairs_two_files(name):
    both = files(named(FIRST, name), named(SECOND, name))
    assert exact(read(*both, score="score")) == SHUFFLED
    texts = (named(x, name).replace("\n", "\nw")[:-1] for x in (FIRST, SECOND))
    pairs = read(*files(*texts), score="score")
    assert exact(pairs) == {f"w{key}": both for key, both in SHUFFLED.items()}
    assert f"paired by {name or 'column 1'!r}" in pairs.source["notes"][0]


@pytest.mark.parametrize("name", ["acc", "latency_ms"])
def test_what_was_measured_is_no_key(name):
    both = files(f"{name},bleu\n7,.5\n9,.25\n", f"{name},bleu\n9,.5\n7,.75\n")
    assert read(*both, score="bleu").source["paired_by"] == "order"


DOC = ["doc,sent,score\nd,1,1\nd,2,0\ne,1,1\n", "doc,sent,score\ne,1,0\nd,1,0\nd,2,1\n"]
BOTH = ["id,question,score\n1,p,1\n2,q,0\n", "id,question,score\n2,p,1\n1,q,1\n"]
COUNTED = ["doc,TP,FP,FN\n0,1,2,3\n1,0,0,1\n", "doc,TP,FP,FN\n1,0,1,1\n0,3,2,1\n"]
JSON_LINES = ['{"nr": 0, "score": 1}\n{"nr": 1, "score": 5}\n', '{"nr": 1, "score": 2}\n']
JSON_LINES[1] += '{"nr": 0, "score": 4}\n'
NUMBERED = ["nr,gold,pred\n0,x,x\n1,y,x\n", "nr,gold,pred\n1,y,y\n0,x,x\n"]


@pytest.mark.parametrize(
    ("texts", "options", "wanted", "by"),
    [
        (COUNTED, {"statistic": "f1"}, ([[1, 2, 3], [0, 0, 1]], [[3, 2, 1], [0, 1, 1]]), "doc"),
        (JSON_LINES, {}, ([1, 5], [4, 2]), "nr"),
        (NUMBERED, {}, ([1, 0], [1, 1]), "nr"),
        ([",doc,score\n0,5,1\n1,7,0\n", ",doc,score\n0,7,1\n1,5,1\n"], {}, ([1, 0], [1, 1]), "doc"),
        (["id,score\n0.0,1\n1.0,2\n", "id,score\n1,4\n0,3\n"], {}, ([1, 2], [3, 4]), "id"),
        (["file,score\nq,1\nr,0\n", "path,score\nr,1\nq,0\n"], {}, ([1, 0], [0, 1]), "file"),
        (DOC, {"id": ["doc", 2]}, ([1, 0, 1], [0, 1, 0]), "doc and sent"),
        (BOTH, {"id": "id"}, ([1, 0], [1, 1]), "id"),
        (BOTH, {"id": 2, "score": "score"}, ([1, 0], [1, 1]), "question"),
        (BOTH, {"id": False}, ([1, 0], [1, 1]), "order"),
        (two("0,1 1,0 2,1", "1,1 2,0", "id,score"), {}, ([0, 1], [1, 0]), "id"),
        (two("1,a,1 2,b,0", "1,b,1 2,a,1", "id,answer,score"), {}, ([1, 0], [1, 1]), "id"),
    ],
)  # fmt: skip
def test_which_lines_are_the_same_item(texts, options, wanted, by):
    pairs = read(*files(*texts), **options)
    assert (columns(pairs), pairs.source["paired_by"]) == (wanted, by)


def test_texts_that_disagree_are_said_where_the_user_chose_the_pairs():
    texts = two("1,who,1 2,where,0", "1,who,1 2,why,0", "id,question,score")
    for option in ({"id": "id"}, {"id": False, "score": "score"}):
        pairs = read(*files(*texts), **option)
        assert "line 3 has another question ('why') than in a.csv ('where')" in str(pairs.source)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (two("0,7 1,8", "2,6 1,5", "id,score"), "2 has another id ('2') than in a.csv ('0')."),
        (two("0,7 1,8 2,9", "q,6 r,5 s,4", "id,score"), "the same is true of 2 more lines"),
        (two("0,x,y 1,y,y", "1,x,y 2,y,x", "id,gold,pred"), "another id ('1') than"),
        (two("p,1 p,2 q,1 q,1", "p,1 p,3 q,0 q,1", "task,score"), "Each 'task' comes 2 times;"),
        (["model,task,score\nx,p,1\nx,p,2\nx,p,3\nx,q,4\ny,p,1\ny,q,2\ny,q,3\ny,q,5\n"],
         "One 'task' comes up to 3 times; if these are repeats of an item"),
        (["id,A,B\n1,1,0\n1,0,0\n2,1,0\n2,1,1\n"], "Each 'id' comes 2 times; if"),
    ],
)  # fmt: skip
def test_ids_are_said_where_order_pairs_the_lines(texts, note):
    assert note in said(read(*files(*texts), id=False))
    assert "comes" not in said(read(*files(*texts), id=False, clusters=False))


# ---- what a system is ----------------------------------------------------------------------------

DIGITS = "id,gold,A_pred,B_pred,A_correct,B_correct\n1,3,3,1,1,0\n2,1,1,1,1,1\n3,0,0,1,1,0\n"
FOUR = "id,latency_ms_A,latency_ms_B,errors_A,errors_B\n1,100,120,0,1\n2,130,90,1,0\n"


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("id,errors_A,errors_B\n1,1,0\n2,0,0\n", {}, "errors_A errors_B"),
        ("id,A,B,n_words,step,cost_usd\n1,1,0,9,1,.1\n2,0,0,8,2,.2\n", {}, "A B"),
        (",id,A,B\n0,5,3,4\n1,7,4,5\n", {}, "A B"),
        ("id,correct_answer,A,B\n1,42,0,1\n2,7,1,1\n", {}, "A B"),
        ("step,A,B,diff\n1,1,0,1\n2,0,0,0\n", {}, "A B"),
        ("id,step,x\n1,1,0\n2,2,1\n", {"a": "step", "b": "x"}, "step x"),
        (FOUR, {"score": "errors"}, "errors_A errors_B"),
        (FOUR, {"score": "latency"}, "latency_ms_A latency_ms_B"),
        ("id,A.acc,B.acc,A.ms,B.ms\n1,1,0,9,8\n2,0,1,8,7\n", {"score": "acc"}, "A.acc B.acc"),
        ("id,cost_gpt,cost_llama,gpt,llama\n1,3,4,1,0\n2,5,6,1,1\n", {}, "gpt llama"),
        ("id,correct,correct_baseline\n1,1,0\n2,0,0\n", {}, "correct correct_baseline"),
        ("id,n_PER,A,n_LOC,B\n1,2,1,3,0\n2,1,0,2,0\n", {}, "A B"),
        ("id,n_correct_A,n_correct_B\n1,2,1\n2,1,0\n", {}, "n_correct_A n_correct_B"),
        (DIGITS, {"score": "correct"}, "A_correct B_correct"),
        (DIGITS, {"score": "pred"}, "A_pred B_pred"),
        (DIGITS, {"score": "pred", "a": "B_pred", "b": "A_pred"}, "B_pred A_pred"),
        (DIGITS, {"gold": "gold"}, "A_pred B_pred"),
        ("id,x_big,y_big,x_xl,y_xl\n1,1,0,1,1\n", {"a": "x_big", "b": "y_xl"}, "x_big y_xl"),
    ],
)
def test_columns_that_look_alike_are_the_systems(text, options, names):
    assert read(file(text), **options).names == tuple(names.split())


@pytest.mark.parametrize("header", ["row_id", "latency_ms", "n_words"])
def test_columns_of_0_and_1_beside_labels_are_compared_as_they_are(header):
    text = f"{header},gold,A,B\n700,3,1,0\n800,1,0,0\n900,0,1,1\n"
    made = file(text)
    for options in ({}, {"a": "A", "b": "B"}):
        pairs = read(made, **options)
        assert columns(pairs) == ([1, 0, 1], [0, 0, 1])
        assert "gold" in pairs.source["no_systems"]
    assert read_many(made).systems == ("A", "B")
    renamed = file(text.replace("A,B", "pred_A,pred_B"))  # which a message recommends
    assert columns(read(renamed, gold="gold")) == ([0, 0, 0], [0, 0, 0])


def test_a_leaderboard_has_systems_alone():
    table = read_many(file("id,gpt,llama,human_rating\n1,1,0,14\n2,0,1,15\n"))
    assert table.systems == ("gpt", "llama")
    assert "not treated as systems: id, human_rating" in table.source["read"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("id,A,B,diff\n1,3,1,9\n2,1,4,9\n3,2,2,9\n", "'diff' is derived"),
        ("id,A,B,both\n1,3,1,4\n2,1,4,5\n3,2,2,4\n", "'both' is the sum"),
        ("id,A,B,x\n1,3,1,2\n2,1,4,2.5\n3,2,2,2\n", "'x' is the mean"),
        ("id,A,B,x\n1,3,1,-2\n2,1,4,3\n3,2,2,0\n", "'x' is the difference"),
    ],
)
def test_derived_columns_are_no_systems(text, note):
    assert read(file(text)).names == read_many(file(text)).systems == ("A", "B")
    column = note.partition(" ")[0].strip("'")
    assert f"not treated as systems: {column}. Column {note}" in said(read(file(text)))
    if "derived" not in note:  # but answers may add up by accident, and copies are no means
        for cells in ("1,1,0,1\n2,0,1,1\n3,0,0,0\n", "1,2,2,2\n2,3,3,3\n3,1,1,1\n"):
            assert read_many(file(f"id,A,B,C\n{cells}")).systems == ("A", "B", "C")


def test_numbers_of_lines_are_no_system():
    made = file("1,7,6\n2,8,8\n3,6,5\n")
    assert columns(read(made)) == ([7, 8, 6], [6, 8, 5])
    assert "Column 1 numbers the lines." in said(read(made))
    assert columns(read(file("1,7\n2,8\n3,6\n"), a=1, b=2)) == ([1, 2, 3], [7, 8, 6])
    assert columns(read(file("1,7\n3,8\n2,6\n"))) == ([1, 3, 2], [7, 8, 6])


LINES = "$0,$1,score\np,x,1\nq,x,0\nq,y,1\np,y,1\n"
MEASURED = "model,item,metric,value\nx,p,bleu,1\nx,p,ter,3\nx,q,bleu,0\nx,q,ter,4\n"
MEASURED += "y,q,bleu,1\ny,q,ter,1\ny,p,bleu,1\ny,p,ter,2\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (named(LINES, "id", "model"), {}),
        (named(LINES, "question", "who"), {"system_col": 2}),
        (named(LINES, "question", "system"), {"id": "question"}),
        (named(LINES.replace("x", "7").replace("y", "70"), "id", "size"), {"system_col": "size"}),
        (named(LINES, "question", "system"), {}),
        (named(LINES, "problem", "model").replace("p,", "0,").replace("q,", "1,"), {}),
        ("model,seed,accuracy\nx,1,1\nx,2,0\ny,2,1\ny,1,1\n", {}),
        (MEASURED, {"score": "bleu"}),
    ],
)
def test_whose_a_line_is(text, options):
    pairs = read(file(text), **options)
    assert (columns(pairs), pairs.source["loader"]) == (([1, 0], [1, 1]), "long")


# ---- rows, repeats, and items without scores -----------------------------------------------------


SEEDS = "id,$0,A,B\n1,s,1,0\n1,t,1,1\n2,s,0,0\n2,t,1,0\n"
LONG_SEEDS = "id,system,$0,score\n" + "".join(
    f"{i},{system},{seed},{score}\n"
    for system, scores in (("A", "1101"), ("B", "0100"))
    for (i, seed), score in zip(["1s", "1t", "2s", "2t"], scores, strict=True)
)


@pytest.mark.parametrize("text", [SEEDS, LONG_SEEDS], ids=["wide", "long"])
@pytest.mark.parametrize("name", ["seed", "turn", "rater"])
def test_repeats_are_swapped_together(text, name):
    options = {"repeat": name} if name == "rater" else {}
    pairs = read(file(named(text, name)), **options)
    assert (columns(pairs), pairs.clusters) == (([1, 1, 0, 1], [0, 1, 0, 0]), ("1", "1", "2", "2"))
    assert pairs.ids[1] == f"1 ({name} t)"
    assert f"told apart by {name!r}" in said(pairs)
    if name == "rater":
        assert_refused(lambda: read(file(named(text, name))), "'1'", "--repeat")
    apart = read(file(named(text, name)), clusters=False, **options)
    assert (apart.clusters, "swapped together" in said(apart)) == (None, False)


@pytest.mark.parametrize("name", ["question", "problem", "instance", "example", "name", "task"])
def test_an_item_is_not_each_of_its_runs(name):
    texts = two("p,1,1 p,2,1 q,1,0 q,2,1", "q,2,0 q,1,0 p,2,1 p,1,0", f"{name},seed,acc")
    pairs = read(*files(*texts))
    assert (columns(pairs), pairs.source["items"]) == (([1, 1, 0, 1], [0, 1, 0, 0]), 2)
    assert pairs.source["paired_by"] == f"{name} and seed"
    unseeded = [text.replace(",seed", "").replace(",1,", ",").replace(",2,", ",") for text in texts]
    assert_refused(lambda: read(*files(*unseeded)), "'p' occurs twice", f"(--clusters {name})")


@pytest.mark.parametrize(("header", "by"), [("task,id,acc", "id"), ("task,said,acc", "order")])
def test_a_task_of_many_items_is_no_item(header, by):
    rows = [f"{task},{task}{i}" for task in "pq" for i in range(4)]
    pairs = read(*files(*(two(*(" ".join(f"{x},{n}" for x in rows) for n in (1, 0)), header))))
    assert (pairs.source["paired_by"], pairs.source["matched"]) == (by, 8)
    assert pairs.clusters is None


@pytest.mark.parametrize("name", ["question", "item"])
def test_items_that_come_again_are_swapped_together_or_not(name):
    made = file(f"{name},A,B\np,1,0\nq,0,1\np,1,1\nq,1,0\n")
    assert read(made, clusters=name).clusters == ("p", "q", "p", "q")
    assert read(made, id=False).clusters is None
    both = file(f"{name},answer,A,B\np,w,1,0\np,x,0,1\nq,y,1,1\nq,z,1,0\n")
    assert_refused(lambda: read(both), f"(--id {name} --id COL)")
    assert read(both, id=[name, "answer"]).source["matched"] == 4


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_lines_of_empty_cells_are_no_items(kind):
    def book(text):
        if kind == "csv":
            return file(text)
        pandas = pytest.importorskip("pandas")
        made = io.BytesIO()
        pandas.read_csv(io.StringIO(text), skip_blank_lines=False).to_excel(made, index=False)
        return File("a.xlsx", made.getvalue())

    pairs = read(book("id,A,B\np,1,0\n,,\nq,1,1\n,,\n,,\n"))
    assert (exact(pairs), pairs.source["no_systems"]) == ({"p": (1, 0), "q": (1, 1)}, [])
    assert "1 line of empty cells is skipped." in said(pairs)
    assert "empty" not in said(read(book("id,A,B\np,1,0\nq,1,1\n,,\n")))
    unnamed = book("A,B\n1,0\n,\n1,1\n")  # where the line may be an item
    assert_refused(lambda: read(unnamed), "3", "(--missing drop, --missing zero)")


HOLES = {
    "wide": ["id,A,B\n1,1,0\n2,,1\n3,0,0\n"],
    "long": ["id,system,score\n1,A,1\n1,B,0\n2,B,1\n2,A,\n3,A,0\n3,B,0\n"],
    "two": ["id,score\n1,1\n2,NaN\n3,0\n", "id,score\n3,0\n2,1\n1,0\n"],
    "lines": ["id,score\n1,1\n3,0\n", "id,score\n3,0\n2,1\n1,0\n"],
}


@pytest.mark.parametrize("texts", HOLES.values(), ids=HOLES.keys())
def test_items_without_a_score(texts):
    call = partial(read, *files(*texts))
    dropped = call(missing="drop")
    assert (exact(dropped), dropped.source["left_out"]) == ({"1": (1, 0), "3": (0, 0)}, 1)
    assert "'2'" in said(dropped)
    zero = call(missing="zero")
    assert exact(zero) == {"1": (1, 0), "2": (0, 1), "3": (0, 0)}
    assert any("1 missing score of " in note for note in zero.source["notes"]) or len(texts) == 2
    assert_refused(partial(call, missing="error"), "--missing drop", "--missing zero")
    if texts is HOLES["wide"]:
        assert_refused(call, "line 3, column 'A'", "--missing drop")
    else:
        assert exact(call()) == exact(dropped)


# ---- numbers that are written otherwise ----------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "options", "wanted", "note"),
    cases(
        ("id,A,B\n1,1.250,3\n2,2.125,4\n", {}, ([10, 17], [24, 32]), ""),
        (two("1,95 2,80", "1,.5 2,.5", "id,score"), {}, ([190, 160], [1, 1]), ""),
        ("id,A,B\n1,1,0\n2,-999,99\n", {"a": "A", "b": "B"}, ([1, -999], [0, 99]), ""),
        ("id,A,B\n1,1.005,998\n2,998,1.2\n", {}, ([201, 199600], [199600, 240]), ""),
        ("id;A;B\n1;1,850;2\n2;1,1;1,125\n", {}, ([74, 44], [80, 45]), "decimal points"),
        ("id,A,B\n1,85%,80%\n2,90 %,91%\n", {}, ([85, 90], [80, 91]), "'85%' is read as 85"),
        ("id,A,B\n1,PASS,FAIL\n2,fail,\n", {"missing": "drop"}, ([1], [0]), "pass is read as 1"),
        (two("1,correct 2,incorrect", "2,correct 1,correct", "id,verdict"), {}, ([1, 0], [1, 1]),
         "incorrect as 0"),
        ("id,A,B\n1,yes,no\n2,no,yes\n", {}, ([1, 0], [0, 1]), "yes is read as 1, and no as 0"),
        ("id,model,correct\n1,x,yes\n1,y,no\n", {}, ([1], [0]), "yes is read as 1, and no as 0"),
        ("id,A,B\n1,TRUE,false\n2,False,true\n", {}, ([1, 0], [0, 1]), "true is read as 1"),
        ("id;A;B\n1;0,85;0,9\n2;1;0,125\n", {}, ([34, 40], [36, 5]), "decimal points"),
        ("id;A;B\n1;8,5 %;9%\n2;1%;0,5%\n", {}, ([17, 2], [18, 1]), "'8.5 %' is read as 8.5"),
    ),
)  # fmt: skip
def test_numbers_that_are_written_otherwise(texts, options, wanted, note):
    pairs = read(*files(*texts), **options)
    assert columns(pairs) == wanted
    assert note in " ".join(pairs.source["notes"])


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
def test_zeros_in_front_of_ids_are_doubted_whichever_file_comes_first(order):
    made = files(*(f"id,score\n1,1\n2,0\n{more}" for more in ("", "03,1\n", "3,1\n")))
    chosen = [made[i] for i in order]
    assert_refused(lambda: read_many(*chosen), "may be the same item as", "--missing drop")
    assert read_many(*chosen, missing="drop").n_items == 2
    assert exact(read(made[1], made[2], missing="zero")).keys() == {"1", "2", "03", "3"}


def test_words_that_an_option_does_not_know():
    with pytest.raises(ValueError, match="missing='skip' must be one of"):
        read(file("id,A,B\n1,1,0\n"), missing="skip")


# ---- predictions ---------------------------------------------------------------------


def test_labels_that_differ_in_case_or_blanks():
    wide = "gold,pred A,pred B\nYes,yes,Yes \nNo,no,yes\nYes,no ,Yes\n"
    both = [f"id,gold,pred\n1,Yes,{a}\n2,No,{b}\n3,Yes,{c}\n" for a, b, c in
            (("yes", "no", "no "), ("Yes ", "yes", "Yes"))]  # fmt: skip
    for sources in ([file(wide)], files(*both)):
        pairs = read(*sources)
        assert columns(pairs) == ([1, 1, 0], [1, 0, 1])
        assert "'yes' is 'Yes'" in said(pairs)
    strict = read(file("gold,A,B\nUS,us,US\nus,us,US\n"), gold="gold")  # two labels of gold
    assert columns(strict) == ([0, 1], [1, 0])


def test_the_label_that_is_to_be_found():
    made = file("gold,pred A,pred B\nspam,spam,ham\nham,ham,ham\nspam,ham,spam\n")
    for label, wanted in (("spam", [1, 0, 0, 0]), ("ham", [0, 0, 0, 1])):
        assert read(made, statistic="f1", pos_label=label).u.tolist()[0] == wanted


@pytest.mark.parametrize("name", ["confidence", "latency_ms"])
def test_predictions_go_before_what_is_beside_them(name):
    both = two("1,x,x,.9 2,y,x,.8", "1,x,y,.7 2,y,y,.6", f"id,gold,pred,{name}")
    assert columns(read(*files(*both))) == ([1, 0], [0, 1])
    text = f"id,y_true,y_pred_a,y_pred_b,{name}_a,{name}_b\n1,x,x,y,.9,.8\n2,y,y,y,.7,.6\n"
    assert columns(read(file(text))) == ([1, 1], [0, 1])
    beside = two("1,42,1 2,7,0", "1,42,1 2,8,1", "id,prediction,score")  # a score goes before both
    assert columns(read(*files(*beside))) == ([1, 0], [1, 1])


# A is right four times, and B three times, but B is surer of itself.
SURE = ["1,x,x,.5 2,y,y,.7 3,x,x,.5 4,y,y,.7", "1,x,x,.6 2,x,y,.7 3,x,x,.6 4,y,y,.7"]
BARE = [x.replace(",x,.", ",.").replace(",y,.", ",.") for x in SURE]
JSON = [x.split() for x in BARE]
JSON = [[dict(zip(("id", "label", "score"), x.split(","), strict=True)) for x in y] for y in JSON]
JSON = ["".join(json.dumps(x | {"score": float(x["score"])}) + "\n" for x in y) for y in JSON]
LONG = "".join(f"{m},{x}\n" for m, y in zip("ab", SURE, strict=True) for x in y.split())
SIDE = "1,x,x,.5,x,.6\n2,y,y,.7,x,.7\n3,x,x,.5,x,.6\n4,y,y,.7,y,.7\n"
WIDE = f"id,gold,pred_a,score_a,pred_b,score_b\n{SIDE}"
DIGIT = str.maketrans("xy", "10")


@pytest.mark.parametrize(
    ("texts", "gold", "score"),
    cases(
        *((two(*SURE, f"id,{pred},{gold},{sure}"), gold, sure) for pred, gold, sure in (
            ("pred", "gold", "score"), ("pred", "label", "score"), ("y_pred", "answer", "logprob"))
          ),
        (two(*(x.translate(DIGIT) for x in SURE), "id,pred,label,score"), "label", "score"),
        *((two(*BARE, f"id,{pred},{score}"), None, score) for pred in ("prediction", "label")
          for score in ("score", "confidence", "probability")),
        (JSON, None, "score"),
        (f"model,id,prediction,gold,score\n{LONG}", "gold", "score"),
        (WIDE, "gold", "score"),
        ("\n".join([WIDE.partition("\n")[0], SIDE.translate(DIGIT)]), "gold", "score"),
        (WIDE.replace("gold", "text").replace("score", "conf"), None, "conf"),
    ),
)  # fmt: skip
def test_how_sure_a_system_was_is_no_score_unless_the_user_says_so(texts, gold, score):
    made = files(*texts)
    refused = f"(--gold {gold or 'FILE'})", f"(--score {score})"
    assert_refused(lambda: read(*made), *refused)
    assert columns(read(*made, score=score)) == ([5, 7, 5, 7], [6, 7, 6, 7])
    right = gold or file("id,gold\n1,x\n2,y\n3,x\n4,y\n", "gold.csv")
    assert columns(read(*made, gold=right)) == ([1, 1, 1, 1], [1, 0, 1, 1])


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        ("id,output,score", "1,yes,.$ 2,yes,.5"),
        ("id,prediction,score", "1,yes,$ 2,yes,1"),
        ("id,prediction,f1_score", "1,yes,.$ 2,yes,.5"),
        ("question,answer,prediction,score", "p,a1,said-a,.$ q,a2,said-b,.5"),
    ],
)
def test_scores_of_what_was_written_are_compared(names, cells):
    both = files(*two(cells.replace("$", "0"), cells.replace("$", "1"), names))
    assert read(*both).source["matched"] == 2


@pytest.mark.parametrize("missing", [None, "drop", "zero", "error"])
def test_predictions_that_are_missing(missing):
    both = files("id,gold,pred\n1,x,x\n2,y,\n", "id,gold,pred\n1,x,x\n2,y,y\n3,x,x\n")
    call = partial(read, *both, missing=missing)
    if missing == "error":
        assert_refused(call, "a.csv", "'3'", "--missing drop")
        return
    pairs = call()
    wanted = {None: {"2": (0, 1)}, "drop": {}, "zero": {"2": (0, 1), "3": (0, 1)}}[missing]
    assert exact(pairs) == {"1": (1, 1)} | wanted
    if missing == "zero":
        assert "2 predictions of 'a' are missing, and count as wrong" in said(pairs)


@pytest.mark.parametrize("name", ["document", "question_id", "question"])
def test_a_column_of_documents_or_questions_is_mentioned(name):
    made = file(f"id,{name},A,B\n1,x,1,0\n2,x,1,0\n3,y,1,1\n4,y,0,0\n")
    assert f"swap them together (--clusters {name})" in said(read(made))
    assert f"--clusters {name}" not in said(read(made, clusters=name))
