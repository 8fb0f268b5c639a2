"""What is compared is what people mean: the right rows, columns and numbers, or a refusal.

Each case is a file of a kind that people have. It is answered right, and what is not plain is
said; or it is refused with the option that settles it. Nothing else will do.
"""

from fractions import Fraction
from functools import partial

import pandas as pd
import pytest

from permtest import read_many
from permtest.readers import describe, read
from tests.readers.texts import assert_refused, columns, exact, file, files


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
WORDS = FIRST.replace("\n", "\nw")[:-1], SECOND.replace("\n", "\nw")[:-1]


@pytest.mark.parametrize("name", ["question", "filename", "hash", "user_input", "input", "prompt"])
def test_a_column_that_differs_in_every_row_pairs_two_files(name):
    pairs = read(*files(*(named(text, name) for text in WORDS)))
    assert exact(pairs) == {f"w{key}": both for key, both in SHUFFLED.items()}
    assert pairs.source["paired_by"] == name
    assert f"paired by {name!r}" in pairs.source["notes"][0]


KEYS = (
    "id ID sent_id number n line image_id patient_id patient pmid hash fold participant Frage nr "
    "problem k x subject position rank batch time doc"
)


@pytest.mark.parametrize("name", [*KEYS.split(), "Unnamed: 0", ""])
def test_numbers_that_are_the_same_in_both_files_pair_them(name):
    both = files(named(FIRST, name), named(SECOND, name))
    assert exact(read(*both, score="score")) == SHUFFLED


@pytest.mark.parametrize("name", ["score", "acc", "latency_ms", "loss"])
def test_what_was_measured_is_no_key(name):
    both = files(f"{name},bleu\n7,.5\n9,.25\n", f"{name},bleu\n9,.5\n7,.75\n")
    assert read(*both, score="bleu").source["paired_by"] == "order"


COUNTED = ["doc,TP,FP,FN\n0,1,2,3\n1,0,0,1\n", "doc,TP,FP,FN\n1,0,1,1\n0,3,2,1\n"]
JSON_LINES = ['{"nr": 0, "score": 1}\n{"nr": 1, "score": 5}\n', '{"nr": 1, "score": 2}\n']
JSON_LINES[1] += '{"nr": 0, "score": 4}\n'
NUMBERED = ["nr,gold,pred\n0,x,x\n1,y,x\n", "nr,gold,pred\n1,y,y\n0,x,x\n"]
INDEXED = [",doc,score\n0,5,1\n1,7,0\n", ",doc,score\n0,7,1\n1,5,1\n"]
FLOATS = ["id,score\n0.0,1\n1.0,2\n", "id,score\n1,4\n0,3\n"]


@pytest.mark.parametrize(
    ("texts", "options", "wanted", "by"),
    [
        (COUNTED, {"statistic": "f1"}, {"0": ([1, 2, 3], [3, 2, 1]), "1": ([0, 0, 1], [0, 1, 1])},
         "doc"),
        (JSON_LINES, {}, {"0": (1, 4), "1": (5, 2)}, "nr"),
        (NUMBERED, {}, {"0": (1, 1), "1": (0, 1)}, "nr"),
        (INDEXED, {}, {"5": (1, 1), "7": (0, 1)}, "doc"),
        (FLOATS, {}, {"0": (1, 3), "1": (2, 4)}, "id"),
    ],
)  # fmt: skip
def test_whole_numbers_pair_whatever_they_stand_beside(texts, options, wanted, by):
    pairs = read(*files(*texts), **options)
    both = zip(pairs.ids, pairs.u.tolist(), pairs.v.tolist(), strict=True)
    assert ({key: (u, v) for key, u, v in both}, pairs.source["paired_by"]) == (wanted, by)
    if not options:
        table = read_many(*files(*texts))
        assert dict(zip(table.ids, zip(*table.scores.tolist(), strict=True), strict=True)) == wanted


def two(first, second, header):
    """A file for each system: the cells of each line, and their header."""
    return [f"{header}\n" + some.replace(" ", "\n") + "\n" for some in (first, second)]


NAMES = [f"f{i}" for i in range(6)]


def scored(names, column="filename"):
    return f"{column},score\n" + "".join(f"{x},{i % 2}\n" for i, x in enumerate(names))


NOT_THE_SAME = cases(
    # The same id, another text.
    (two("1,who,1 2,where,0", "1,who,1 2,why,0", "id,question,score"),
     ["b.csv: line 3", "'why'", "a.csv ('where')", "--id"]),
    *((two("1,p,1 2,q,0", "1,p,1 2,r,0", f"id,{name},score"), ["line 3", name, "'r'", "'q'"])
      for name in ("question", "prompt", "input", "reference", "target", "gold")),
    ("id,system,question,score\n1,x,who,1\n1,y,why,0\n", ["line 3", "'why'", "'who'"]),
    # Paired by order, of different texts.
    (two("q1,1 q2,0", "q3,1 q4,0", "question,score"),
     ["'question'", "0 of 2", "--id question", "--by-order"]),
    (two("q,1 q,0 r,1", "r,1 q,0 q,1", "question,score"), ["b.csv: line 2", "'r'", "'q'"]),
    ([scored("112233", "user_id"), scored("332211", "user_id")], ["user_id", "'3'", "'1'"]),
    # Nearly a key.
    (two("x,1 y,0 z,1", "y,1 w,0 x,1", "file,score"),
     ["'file'", "2 of 3 values", "--id file", "--by-order"]),
    *(([scored(a), scored(b)], ["'filename'", "--id filename", "--by-order"]) for a, b in (
        (["f0", *NAMES], [*NAMES[::-1], "f9"]),
        (NAMES, ["f0", "f1", *"abcd"]),
        (NAMES, [name.upper() for name in NAMES[::-1]]),
        ([f"new/{name}" for name in NAMES], [f"old/{name}" for name in NAMES[::-1]]))),
    (two("p,1 q,0 r,1 s,0", "s,1 r,0 q,1 t,0", "file,score"), ["3 of 4"]),
    (two("A,1 B,0", "b,1 a,0", "file,score"), ["0 of 2"]),
    (two("A,1 B,0", "b,1 a,0", "id,score"), ["no id in common", "except for case"]),
    # Two keys that disagree.
    (["x,y,score\n0,1,3\n1,0,4\n2,2,5\n", "x,y,score\n1,1,3\n0,0,4\n2,2,5\n"],
     ["'x' and 'y'", "--id"]),
    (["question,file,score\nq,x,1\nr,y,0\n", "question,file,score\nr,x,1\nq,y,0\n"],
     ["'question' and 'file'", "--id"]),
    # Ids that are not the same thing, or counted otherwise.
    (["id,score\n1,1\n2,0\n", "item,score\n1,1\n2,0\n"], ["item", "id", "one name"]),
    (two("1,1 2,0", "01,1 02,0", "id,score"),
     ["no id in common", "'01' and '1'", "--id COL", "--by-order"]),
    *((two(zeros, ones, "id,score"), ["counts from 1", "from 0", "--by-order"]) for zeros, ones in (
        ("0,1 1,0 2,1", "1,1 2,0 3,1"), ("0,1 1,0", "1,1 2,0 3,1 4,1"))),
    (two("x,1 x,0 y,1", "y,1 x,0 x,1", "file,score"), ["'y'", "'x'"]),
    (two("1,x,1 2,y,0", "1,y,1 2,x,0", "id,name,score"), ["'y'", "'x'"]),
    (two("1,x,1 2,y,0", "1,y,1 2,x,0", "id,qid,score"), ["'y'", "'x'"]),
    (["question,score\nq,1\nr,0\n", "score\n1\n0\n"], ["question"]),
    (["score\n1\n0\n", "question,score\np,1\nq,0\n", "question,score\nr,1\nz,0\n"],
     ["'question'", "--by-order"]),
    # The same item twice.
    ("id,A,B\n1,1,0\n1,1,0\n2,0,1\n", ["'1'", "line 2 and line 3", "remove one", "--repeat"]),
    ("id,task,A,B\n1,x,1,0\n1,y,1,0\n2,x,0,1\n", ["'1'", "(--id id --id COL)"]),
    ("id,system,score\n1,x,1\n1,x,0\n1,y,1\n", ["'1'", "line 2 and line 3", "--repeat"]),
    ("question,A,B\nq,1,0\nq,1,0\nr,0,1\n", ["line 3", "line 2", "--by-order"]),
    *((f"{cells.replace(' ', chr(10))}\n", ["seems to say whose a line is", "the item? (--id)"])
      for cells in ("model,idx,correct x,0,1 x,1,0 y,1,1", "model,n,x,y m,1,3,4 m,2,4,4 o,1,3,3",
                    "system,doc,tp,fp,fn x,0,1,2,3 x,1,2,1,0 y,0,1,2,3")),
)  # fmt: skip


@pytest.mark.parametrize(("texts", "parts"), NOT_THE_SAME)
def test_items_that_may_not_be_the_same_are_refused(texts, parts):
    assert_refused(lambda: (read if len(texts) < 3 else read_many)(*files(*texts)), *parts)
    if "--by-order" in parts and len(texts) == 2 and len({x.count("\n") for x in texts}) == 1:
        assert read(*files(*texts), id=False).source["paired_by"] == "order"


@pytest.mark.parametrize("names", [("Question", "question"), ("file", "path")])
def test_a_key_may_have_two_names(names):
    first, second = names
    pairs = read(*files(f"{first},score\nq,1\nr,0\n", f"{second},score\nr,1\nq,0\n"))
    assert (exact(pairs), pairs.source["paired_by"]) == ({"q": (1, 0), "r": (0, 1)}, first)


DOC = ["doc,sent,score\nd,1,1\nd,2,0\ne,1,1\n", "doc,sent,score\ne,1,0\nd,1,0\nd,2,1\n"]
BOTH = ["id,question,score\n1,p,1\n2,q,0\n", "id,question,score\n2,p,1\n1,q,1\n"]


@pytest.mark.parametrize(
    ("texts", "options", "wanted", "by"),
    [
        (DOC, {"id": ["doc", "sent"]}, ([1, 0, 1], [0, 1, 0]), "doc and sent"),
        (DOC, {"id": [1, "sent"]}, ([1, 0, 1], [0, 1, 0]), "doc and sent"),
        (BOTH, {"id": "id"}, ([1, 0], [1, 1]), "id"),
        (BOTH, {"id": "question"}, ([1, 0], [1, 1]), "question"),
        (BOTH, {"id": 2, "score": "score"}, ([1, 0], [1, 1]), "question"),
        (BOTH, {"id": False}, ([1, 0], [1, 1]), "order"),
        (two("p,1 q,0", "q,1 p,1", "question,score"), {"id": False}, ([1, 0], [1, 1]), "order"),
    ],
)
def test_the_user_says_what_an_item_is(texts, options, wanted, by):
    pairs = read(*files(*texts), **options)
    assert (columns(pairs), pairs.source["paired_by"]) == (wanted, by)


def test_texts_that_disagree_are_said_where_the_user_chose_the_pairs():
    texts = two("1,who,1 2,where,0", "1,who,1 2,why,0", "id,question,score")
    for option in ({"id": "id"}, {"id": False, "score": "score"}):
        pairs = read(*files(*texts), **option)
        assert "line 3 has another question ('why') than in a.csv ('where')" in str(pairs.source)


# ---- what a system is ----------------------------------------------------------------------------

NO_SYSTEMS = (
    "step turn time length cost cost_usd tokens nTokens seed epoch latency_ms word_count "
    "difficulty wordcount diff delta mean avg"
)


@pytest.mark.parametrize(
    "text",
    [
        "sent_id,bleu,n_words\n1,30.1,9\n2,20.5,8\n",
        "user_id,age\n1,20\n2,30\n",
        *(named("$0,acc\n1,1\n2,0\n3,1\n", name) for name in NO_SYSTEMS.split()),
        "id,bleu,chrf\n1,30,50\n2,20,40\n",
        "id,a,b\n1,1,100\n2,2,300\n",
        "id,gpt,reading_time\n1,1,.5\n2,0,1.5\n",
        "id,new_bleu,old_chrf\n1,30,50\n2,20,40\n",
        "id,A_acc,B_f1\n1,1,.5\n2,0,.25\n",
    ],
)
def test_columns_that_are_no_two_systems(text):
    assert_refused(lambda: read(file(text)), "--a", "--b", "its columns are")


FOUR = "id,latency_ms_A,latency_ms_B,errors_A,errors_B\n1,100,120,0,1\n2,130,90,1,0\n"
NORM = "id,acc_A,acc_B,acc_norm_A,acc_norm_B\n1,1,0,0,0\n2,0,1,0,1\n"


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("id,errors_A,errors_B\n1,1,0\n2,0,0\n", {}, "errors_A errors_B"),
        ("id,A,B,n_words,step,cost_usd\n1,1,0,9,1,.1\n2,0,0,8,2,.2\n", {}, "A B"),
        ("id,A,B,seed\n1,1,0,9\n2,0,0,9\n", {}, "A B"),
        (",id,A,B\n0,5,3,4\n1,7,4,5\n", {}, "A B"),
        ("Unnamed: 0,A,B\n1,3,4\n2,4,5\n", {}, "A B"),
        ("id,correct_answer,A,B\n1,42,0,1\n2,7,1,1\n", {}, "A B"),
        ("step,A,B\n1,1,0\n2,0,0\n", {}, "A B"),
        ("id,time_A,time_B\n1,3,4\n2,5,6\n", {}, "time_A time_B"),
        ("id,step,x\n1,1,0\n2,2,1\n", {"a": "step", "b": "x"}, "step x"),
        (FOUR, {"score": "errors"}, "errors_A errors_B"),
        (FOUR, {"score": "latency"}, "latency_ms_A latency_ms_B"),
        (FOUR, {"score": "latency_ms"}, "latency_ms_A latency_ms_B"),
        ("id,A.acc,B.acc,A.ms,B.ms\n1,1,0,9,8\n2,0,1,8,7\n", {"score": "acc"}, "A.acc B.acc"),
        (NORM, {"score": "acc"}, "acc_A acc_B"),
        (NORM, {"score": "acc_norm"}, "acc_norm_A acc_norm_B"),
        ("id,cost_gpt,cost_llama,gpt,llama\n1,3,4,1,0\n2,5,6,1,1\n", {}, "gpt llama"),
        ("id,A,B,n_tokens_A,n_tokens_B\n1,3,4,1,0\n2,5,6,0,1\n", {}, "A B"),
        ("id,correct,correct_baseline\n1,1,0\n2,0,0\n", {}, "correct correct_baseline"),
    ],
)
def test_columns_that_look_alike_are_the_systems(text, options, names):
    assert read(file(text), **options).names == tuple(names.split())


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (partial(read, file(FOUR)), ["'latency_ms', 'errors'", "--score"]),
        (partial(read, file(FOUR), score="bleu"), ["'bleu'", "'latency_ms', 'errors'"]),
        (partial(read, file("id,A,B\n1,1,0\n2,0,1\n"), score="bleu"), ["bleu"]),
        (partial(read, file("id,acc_A,acc_B\n1,1,0\n2,0,1\n"), score="f1"), ["f1"]),
        (partial(read_many, file(NORM)), ["--score"]),
    ],
)
def test_several_measures(call, parts):
    assert_refused(call, *parts)


@pytest.mark.parametrize("more", ["latency_ms", "cost_usd", "difficulty", "human_rating"])
def test_a_leaderboard_has_systems_alone(more):
    table = read_many(file(f"id,gpt,llama,{more}\n1,1,0,14\n2,0,1,15\n"))
    assert (table.systems, table.source["no_systems"]) == (("gpt", "llama"), ["id", more])
    assert f"not treated as systems: id, {more}" in table.source["read"]
    if more != "human_rating":
        pairs = read(file(f"id,gpt,llama,{more}\n1,1,0,14\n2,0,1,15\n"))
        assert said(pairs).endswith(f"Columns not treated as systems: {more}.")


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
    assert note in said(read(file(text)))
    if "derived" not in note:  # but answers may add up by accident, and copies are no means
        for cells in ("1,1,0,1\n2,0,1,1\n3,0,0,0\n", "1,2,2,2\n2,3,3,3\n3,1,1,1\n"):
            assert read_many(file(f"id,A,B,C\n{cells}")).systems == ("A", "B", "C")


LINES = "$0,$1,score\np,x,1\nq,x,0\nq,y,1\np,y,1\n"
NUMBERS = LINES.replace("x", "7").replace("y", "70")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (named(LINES, "id", "system"), {}),
        (named(LINES, "id", "model"), {}),
        (named(LINES, "id", "who"), {"system_col": "who"}),
        (named(LINES, "question", "who"), {"system_col": 2}),
        (named(LINES, "question", "system"), {"id": "question"}),
        (named(NUMBERS, "id", "size"), {"system_col": "size"}),
        (named(LINES, "question", "system"), {}),
        (named(LINES, "problem", "model").replace("p,", "0,").replace("q,", "1,"), {}),
        ("model,seed,accuracy\nx,1,1\nx,2,0\ny,2,1\ny,1,1\n", {}),
        (
            "model,item,metric,value\n"
            + "x,p,bleu,1\nx,p,ter,3\nx,q,bleu,0\nx,q,ter,4\ny,q,bleu,1\ny,q,ter,1\ny,p,bleu,1\n"
            + "y,p,ter,2\n",
            {"score": "bleu"},
        ),
    ],
)
def test_whose_a_line_is(text, options):
    pairs = read(file(text), **options)
    assert columns(pairs) == ([1, 0], [1, 1])
    assert pairs.source["loader"] == "long"


def test_lists_of_files_and_frames_by_name():
    texts = "id,score\n1,1\n2,0\n", "id,score\n2,1\n1,0\n"
    assert exact(read(files(*texts))) == {"1": (1, 0), "2": (0, 1)}
    frames = {
        name: pd.DataFrame({"id": [1, 2], "score": x})
        for name, x in {"gpt-3.5": [1, 0], "b": [0, 1]}.items()
    }
    assert read_many(frames).systems == ("gpt-3.5", "b")
    assert read_many(list(frames.values())).scores.tolist() == [[1, 0], [0, 1]]


# ---- rows, repeats, and items without scores -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ids", "last"),
    [
        ("id", "pqr", "Total,3,2"),
        ("word", "pqr", "TOTAL,3,2"),
        ("", "pqr", "mean,1,0.667"),
        ("id", "123", "mean,1,.667"),
        ("item", "123", "Total,3,2"),
        ("word", "pqr", "Average:,1,.67"),
        ("word", "pqr", "macro avg,1,.67"),
        ("word", "pqr", ",3,2"),
    ],
)
def test_totals_are_no_items(name, ids, last):
    rows = [f"{i},1,{score}" for i, score in zip(ids, (1, 0, 1), strict=True)]
    pairs = read(file("\n".join([f"{name},A,B", *rows, last])))
    assert columns(pairs) == ([1, 1, 1], [1, 0, 1])
    assert "totals" in said(pairs)


LONG_TOTALS = "id,system,score\np,x,1\nq,x,1\n$0,x,2\np,y,0\nq,y,1\n$0,y,1\n"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("id,A,B\np,1,0\nq,0,1\nr,1,1\nTotal,9,9\n", ["line 5", "'Total'", "--id"]),
        ("id,A,B\np,1,0\nq,0,1\nTotal,1,1\nMean,.5,.5\n", ["line 5", "'Mean'"]),
        ("word,A,B\nall,1,0\nsome,0,1\ntotal,0,0\n", ["line 4", "'total'", "--id word"]),
        *((named(LONG_TOTALS, name), ["line 7", f"'{name}'", "remove it", "--id id"])
          for name in ("Total", "overall")),
        ("id,A,B\nTotal,2,1\np,1,0\nq,1,1\n", ["Total"]),
        ("model,mmlu,arc\ngpt,.8,.7\nllama,.7,.75\n", ["'model'", "a system", "transpose"]),
        (",mmlu,arc\ngpt-4,.8,.7\nllama3,.7,.75\n", ["'gpt-4'", "a system", "transpose"]),
        ("new,old\n1,0\n1,1\n0,1\n1,0\n3,2\n", ["line 6", "sums", "--by-order"]),
        ("1 0\n1 1\n0 1\n1 0\n3 2\n", ["line 5", "sums", "--by-order"]),
    ],
)  # fmt: skip
def test_lines_that_are_no_items_are_refused(text, parts):
    assert_refused(lambda: read(file(text)), *parts)
    assert "--by-order" not in parts or len(read(file(text), id=False))


SEEDS = "id,$0,A,B\n1,s,1,0\n1,t,1,1\n2,s,0,0\n2,t,1,0\n"
LONG_SEEDS = "id,system,$0,score\n" + "".join(
    f"{i},{system},{seed},{score}\n"
    for system, scores in (("A", "1101"), ("B", "0100"))
    for (i, seed), score in zip(["1s", "1t", "2s", "2t"], scores, strict=True)
)


@pytest.mark.parametrize("text", [SEEDS, LONG_SEEDS], ids=["wide", "long"])
@pytest.mark.parametrize("name", ["seed", "epoch", "turn", "sample", "rater"])
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


def test_repeats_need_items():
    text = "question,seed,A,B\np,s,1,0\np,t,1,1\nq,s,0,0\nq,t,1,0\n"
    assert_refused(lambda: read(file(text), repeat="seed"), "'seed'", "--id")
    assert read(file(text), id="question", repeat="seed").clusters == ("p", "p", "q", "q")
    text = "seed,A,B\n1,1,0\n2,0,1\n1,1,1\n"
    assert_refused(lambda: read(file(text), repeat="seed"), "'seed'", "--id")


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
    assert exact(dropped) == {"1": (1, 0), "3": (0, 0)}
    assert dropped.source["left_out"] == 1
    assert "'2'" in said(dropped)
    zero = call(missing="zero")
    assert exact(zero) == {"1": (1, 0), "2": (0, 1), "3": (0, 0)}
    assert zero.source["left_out"] == 0
    assert any("1 missing score of " in note for note in zero.source["notes"]) or len(texts) == 2
    assert_refused(partial(call, missing="error"), "--missing drop", "--missing zero")
    if texts is HOLES["wide"]:
        assert_refused(call, "line 3, column 'A'", "--missing drop")
    else:
        assert exact(call()) == exact(dropped)
    with pytest.raises(ValueError, match=r"missing='skip' must be one of 'drop', 'zero', 'error'"):
        call(missing="skip")


# ---- scales and numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        two("1,95 2,80", "1,.9 2,.8", "id,score"),
        two("1,.9 2,.8", "1,95 2,80.5", "id,score"),
        ["id,system,score\n1,x,95\n1,y,.9\n2,x,80\n2,y,1\n"],
        two("1,12 2,8", "1,.12 2,.08", "id,wer"),
    ],
)
def test_hundredths_beside_ones_are_refused(texts):
    assert_refused(lambda: read(*files(*texts)), "one scale", "--same-scale")
    assert read(*files(*texts), same_scale=True).source["matched"] == 2


GERMAN = "id,A,B\n1,1.005,998\n2,998,1.200\n"
ENGLISH = 'id,A,B\n1,"1,005",998\n2,998,"1,200"\n'
POINT, NAMED = ["1.005'", "--thousands"], {"a": "A", "b": "B"}


@pytest.mark.parametrize(
    ("texts", "options", "wanted"),
    cases(
        (GERMAN, {}, ["line 2, column 'A'", "'1.005'", "998", "--thousands"]),
        (GERMAN, {"thousands": "."}, ([1005, 998], [998, 1200])),
        (ENGLISH, {}, ["line 2, column 'A'", "'1,005'", "--thousands ,"]),
        (ENGLISH, {"thousands": ","}, ([1005, 998], [998, 1200])),
        ("id,A,B\n1,1.005,998\n2,1.200,990\n", NAMED, POINT),
        (two("1,1.005 2,1.100", "1,998 2,990", "id,score"), {}, POINT),
        ("id,A,B\n1,-1.005,998\n2,998,1\n", {}, POINT),
        ("id,A,B\n1,0.125,2.000\n2,1.005,3.000\n", {"thousands": "."}, ["line 2", "'0.125'"]),
        ("id;A;B\n1;1.234,5;2.000,5\n2;998,5;12\n", {"thousands": "."}, ([2469, 1997], [4001, 24])),
        ("id,A,B\n1,1.250,3\n2,2.125,4\n", {}, ([10, 17], [24, 32])),
        ("id;A;B\n1;1,850;1,900\n2;1,100;1,125\n", {}, ["0 systems", "'1,850' is not a number"]),
        ('id,A,B\n1,"0,5","0,9"\n', {}, ["0 systems", "line 2, column 'A': '0,5' is not a number"]),
        ("id,A,B\n1,85ms,3ms\n", {}, ["0 systems", "'85ms' is not a number; write digits"]),
        (
            "id,A,B\n1,85%,.80\n",
            {"a": "A", "b": "B"},
            ["line 2, column 'A'", "'85%' stands beside '.80'"],
        ),
        ("id,A,B\n1,PASS,1\n2,FAIL,0\n", NAMED, ["'PASS' stands beside '1'"]),
        ("id,A,B\n1,PASS,FAIL\n2,PASS,PASS\n3,ERROR,PASS\n", {}, ["line 4, column 'A': 'ERROR'"]),
        (two("1,85% 2,100%", "2,85% 1,.9", "id,score"), {}, ["b.csv, line 3", "'.9' stands"]),
        ("id,A,B\n1,\N{MINUS SIGN}7,1\n2,3,4\n", {}, ["line 2, column 'A'", "- as minus"]),
        ("id,metric,A,B\n1,ter,1,3\n2,ter,4,5\n1,wer,4,5\n", {}, ["'ter', 'wer'", "--score ter"]),
        ("id,A,B\n1,yes,no\n2,no,no\n", {}, ["0 systems", "holds labels", "--gold"]),
    ),
)
def test_numbers_that_may_be_read_in_two_ways(texts, options, wanted):
    call = partial(read, *files(*texts), **options)
    if isinstance(wanted, list):
        assert_refused(call, *wanted)
    else:
        assert columns(call()) == wanted
    with pytest.raises(ValueError, match="thousands=' ' must be one of"):
        call(thousands=" ")


@pytest.mark.parametrize(
    ("texts", "options", "wanted", "note"),
    cases(
        ("id,A,B\n1,85%,80%\n2,90 %,91%\n", {}, ([85, 90], [80, 91]), "'85%' is read as 85"),
        ("id,A,B\n1,PASS,FAIL\n2,fail,\n", {"missing": "drop"}, ([1], [0]), "pass is read as 1"),
        (two("1,correct 2,incorrect", "2,correct 1,correct", "id,verdict"), {}, ([1, 0], [1, 1]),
         "incorrect as 0"),
        ("id,model,correct\n1,x,yes\n1,y,no\n", {}, ([1], [0]), "yes is read as 1, and no as 0"),
        ("id,ok,A,B\n1,3,yes,no\n2,3,no,no\n", NAMED, ([1, 0], [0, 0]), "no as 0"),
        ("id,A,B\n1,TRUE,false\n2,False,true\n", {}, ([1, 0], [0, 1]), "true is read as 1"),
        ("id;A;B\n1;0,85;0,9\n2;1;0,125\n", {}, ([34, 40], [36, 5]), "decimal points"),
        ("id;A;B\n1;8,5 %;9%\n2;1%;0,5%\n", {}, ([17, 2], [18, 1]), "'8.5 %' is read as 8.5"),
    ),
)  # fmt: skip
def test_numbers_that_are_written_otherwise(texts, options, wanted, note):
    pairs = read(*files(*texts), **options)
    assert columns(pairs) == wanted
    assert note in " ".join(pairs.source["notes"])


# ---- predictions, judgements ---------------------------------------------------------------------


def test_labels_that_differ_in_case_or_blanks():
    wide = "gold,pred A,pred B\nYes,yes,Yes \nNo,no,yes\nYes,no ,Yes\n"
    both = [f"id,gold,pred\n1,Yes,{a}\n2,No,{b}\n3,Yes,{c}\n" for a, b, c in
            (("yes", "no", "no "), ("Yes ", "yes", "Yes"))]  # fmt: skip
    for sources in ([file(wide)], files(*both)):
        pairs = read(*sources)
        assert columns(pairs) == ([1, 1, 0], [1, 0, 1])
        assert "of labels are ignored" in said(pairs)
        assert "'yes' is 'Yes'" in said(pairs)
    strict = read(
        file("gold,A,B\nUS,us,US\nus,us,US\n"), gold="gold"
    )  # two labels of the right ones
    assert columns(strict) == ([0, 1], [1, 0])


@pytest.mark.parametrize(
    ("label", "wanted"),
    [("spam", [1, 0, 0, 0]), ("ham", [0, 0, 0, 1]), ("Spam", None), (None, None)],
)
def test_the_label_that_is_to_be_found(label, wanted):
    made = file("gold,pred A,pred B\nspam,spam,ham\nham,ham,ham\nspam,ham,spam\n")
    call = partial(read, made, statistic="f1", pos_label=label)
    if wanted is None:
        assert_refused(call, "'ham', 'spam'", "--pos-label")
    else:
        assert call().u.tolist()[0] == wanted


@pytest.mark.parametrize("name", ["confidence", "proba", "latency_ms", "n_tokens"])
def test_predictions_go_before_what_is_beside_them(name):
    both = two("1,x,x,.9 2,y,x,.8", "1,x,y,.7 2,y,y,.6", f"id,gold,pred,{name}")
    assert columns(read(*files(*both))) == ([1, 0], [0, 1])
    text = f"id,y_true,y_pred_a,y_pred_b,{name}_a,{name}_b\n1,x,x,y,.9,.8\n2,y,y,y,.7,.6\n"
    assert columns(read(file(text))) == ([1, 1], [0, 1])
    beside = two("1,42,1 2,7,0", "1,42,1 2,8,1", "id,prediction,score")  # a score goes before both
    assert columns(read(*files(*beside))) == ([1, 0], [1, 1])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "id,answer,A,B\n1,4,4,5\n2,7,7,7\n",
            ["'answer' may hold the right labels", "--gold answer"],
        ),
        (
            "id,gold,pred_A,pred_B\n1,x,x,z\n2,,y,y\n",
            ["line 3, column 'gold'", "the right label is missing"],
        ),
        ("gold,A,B\n1,Yes,1\n0,no,0\n", ["--gold gold"]),
        *(
            (f"id,{name},A,B\n1,4,4,5\n2,7,7,7\n", [f"--gold {name}"])
            for name in ("correct_option", "correct_idx", "true_rating", "gold_score")
        ),
        ("id,label,A,B\n1,0,.25,.5\n2,1,.75,.9\n", ["these are probabilities", "Brier"]),
    ],
)
def test_doubtful_predictions_are_refused(text, parts):
    assert_refused(lambda: read(file(text)), *parts)


@pytest.mark.parametrize("missing", [None, "drop", "zero", "error"])
def test_predictions_that_are_missing(missing):
    both = files("id,gold,pred\n1,x,x\n2,y,\n", "id,gold,pred\n1,x,x\n2,y,y\n3,x,x\n")
    call = partial(read, *both, missing=missing)
    if missing == "error":
        assert_refused(call, "a.csv", "'3'", "--missing drop")
        wide = file("gold,A,B\nx,x,y\ny,,y\n")
        assert_refused(lambda: read(wide, gold="gold", missing="error"), "line 3", "'A'")
        return
    pairs = call()
    wanted = {None: {"2": (0, 1)}, "drop": {}, "zero": {"2": (0, 1), "3": (0, 1)}}[missing]
    assert exact(pairs) == {"1": (1, 1)} | wanted
    if missing != "drop":
        number = 1 + (missing == "zero")
        some = ("prediction of 'a' is", "predictions of 'a' are")[number > 1]
        assert f"{number} {some} missing, and count{'s' * (number == 1)} as wrong" in said(pairs)


@pytest.mark.parametrize("option", [{"pos_label": "x"}, {"system_col": "doc"}])
def test_options_that_mean_nothing_are_refused(option):
    assert_refused(lambda: read(file("id,doc,A,B\n1,d,1,0\n2,d,0,1\n"), **option), *option)


def test_what_systems_answer_may_differ():
    for name in ("answer", "output", "prediction", "response"):
        both = two("1,a,1 2,b,0", "1,b,1 2,a,1", f"id,{name},score")
        assert columns(read(*files(*both))) == ([1, 0], [1, 1])


def test_a_table_of_battles_is_of_the_models():
    arena = "question_id,model_a,model_b,winner,turn,tstamp\n81,gpt,llama,model_a,1,168.5\n"
    pairs = read(file(arena + "82,llama,gpt,tie,2,169.25\n"))
    assert pairs.source["loader"] == "battles"
    assert set(pairs.names) == {"gpt", "llama"}
    assert exact(pairs)["82 (turn 2)"] == (Fraction(1, 2), Fraction(1, 2))
    header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    lmsys = read(file(header + "1,gpt,llama,0,1,0\n2,llama,gpt,0,1,0\n3,gpt,llama,0,0,1\n"))
    half = Fraction(1, 2)
    assert exact(lmsys) == {"1": (0, 1), "2": (1, 0), "3": (half, half)}
    assert_refused(lambda: read(file(header + "1,gpt,llama,1,1,0\n")), "line 2", "the winner is")


def test_a_column_of_documents_is_mentioned():
    text = "item,document,A,B\n1,x,1,0\n2,x,1,0\n3,y,1,1\n4,y,0,0\n"
    assert "swap them together (--clusters document)" in said(read(file(text)))
    assert "--clusters document" not in said(read(file(text), clusters="document"))


def test_the_first_item_may_be_missing_in_a_file():
    pairs = read(*files(*two("0,1 1,0 2,1", "1,1 2,0", "id,score")))
    assert exact(pairs) == {"1": (0, 1), "2": (1, 0)}
    assert f"1 only in {pairs.names[0]} ('0')" in said(pairs)
