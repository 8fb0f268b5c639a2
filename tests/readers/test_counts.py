"""Counts are read by their headers, by lists or by their width, or refused."""

import numpy as np
import pandas as pd
import pytest

from permtest.readers import read
from permtest.statistics import STATISTICS
from tests.readers.texts import assert_refused, columns, exact, file, files

F1 = ("tp", "fp", "fn")
COUNTS = [entry for entry in STATISTICS.values() if entry.columns]
IN_FILES = [entry for entry in COUNTS if entry.average is None]

# ---- by the header -------------------------------------------------------------------------------

TWO = ([[3, 1, 0], [2, 0, 1]], [[2, 2, 1], [2, 1, 1]])
ROWS = "3,1,0,2,2,1\n2,0,1,2,1,1\n"


@pytest.mark.parametrize(
    "header",
    [
        "new_tp,new_fp,new_fn,old_tp,old_fp,old_fn",
        "new_TP,new_FP,new_FN,old_tp,old_Fp,old_fN",
        "new-tp,new.fp,new.fn,old/tp,old/fp,old/fn",
        "tp_new,fp-new,new fn,TP.old,FP.old,FN.old",
    ],
)
@pytest.mark.parametrize("measure", ["f1", "f0.5", "f2"])
def test_the_only_two_systems_of_a_header(header, measure):
    path = file(f"{header}\n{ROWS}")
    pairs = read(path, statistic=measure)
    assert (columns(pairs), pairs.names, pairs.columns) == (TWO, ("new", "old"), F1)
    assert columns(read(path, a="old", b="new", statistic=measure)) == TWO[::-1]


WIDE = (
    "sent,n,old_tn,hmm_fn,hmm_tp,hmm_fp,crf_x_tp,crf_x_fp,crf_x_fn,old_tp,old_wrong,crf_x_tn\n"
    "s1,9,4,1,2,3,4,5,6,7,8,9\n"
)
SEVERAL = "a_tp,a_fp,a_fn,a_tn,b_tn,b_tp,b_fp,b_fn\n1,2,3,4,5,6,7,8\n"
LENGTHS = "utt,a_errors,b_errors,length\nu1,1,2,9\n"
HEADERS = {
    "by name": (WIDE, {"a": "crf_x", "b": "hmm"}, ([[4, 5, 6]], [[2, 3, 1]])),
    "three of four": (SEVERAL, {}, ([[1, 2, 3]], [[6, 7, 8]])),
    "all four": (SEVERAL, {"statistic": "mcc"}, ([[1, 2, 3, 4]], [[6, 7, 8, 5]])),
    "those of both": ("a_tp,a_fp,a_fn,a_wrong,b_tp,b_wrong\n1,2,3,5,6,7\n", {},
                      ([[1, 5]], [[6, 7]])),
    "length": (LENGTHS, {"statistic": "wer"}, ([[1, 9]], [[2, 9]])),
    "length by name": (LENGTHS, {"statistic": "wer", "a": "a", "b": "b"}, ([[1, 9]], [[2, 9]])),
    "length by list": (LENGTHS, {"statistic": "wer", "a": [2, 4], "b": [3, 4]},
                       ([[1, 9]], [[2, 9]])),
    "own lengths": ("a_errors,b_errors,length,b_length,a_length\n1,2,9,8,7\n",
                    {"statistic": "wer"}, ([[1, 7]], [[2, 8]])),
    "listed": ("3,1,0,2,2,1,1\n", {"a": [1, 2, 3], "b": [4, 5, 6]}, ([[3, 1, 0]], [[2, 2, 1]])),
    "huge": (f"a_tp,a_wrong,b_tp,b_wrong\n{10**400},3.0,+2,true\n", {}, ([[10**400, 3]], [[2, 1]])),
}  # fmt: skip


@pytest.mark.parametrize(("text", "options", "wanted"), HEADERS.values(), ids=HEADERS.keys())
def test_which_columns_are_counts(text, options, wanted):
    assert columns(read(file(text), **({"statistic": "f1"} | options))) == wanted


# ---- by lists, by the width, a line for each system, a file for each -----------------------------


@pytest.mark.parametrize(
    ("header", "a", "b", "names"),
    [
        ("", [1, 2, 3], [4, 5, 6], ("A", "B")),
        ("", "1,2,3", (4, 5, 6), ("A", "B")),
        ("", ["1", "2", "3"], range(4, 7), ("A", "B")),
        ("", np.arange(1, 4), "4, 5, 6", ("A", "B")),
        ("found,more,less,hits,extra,missed\n", ["found", "more", "less"], "4,5,6", ("A", "B")),
        ("x_tp,x_fp,x_fn,y_tp,y_fp,rest\n", [1, 2, 3], [4, 5, 6], ("A", "B")),
        ("x_tp,x_fp,x_fn,k,l,m\n", "x", ["k", "l", "m"], ("x", "B")),
    ],
)
def test_columns_listed_in_the_order_of_the_counts(header, a, b, names):
    pairs = read(file(header + ROWS), a=a, b=b, statistic="f1")
    assert (columns(pairs), pairs.names) == (TWO, names)


@pytest.mark.parametrize(("name", "counts"), [(e.name, m.columns) for e in IN_FILES
                                             for m in e.measures])  # fmt: skip
def test_files_without_a_header(name, counts):
    size = len(counts)
    pairs = read(file(" ".join(["10"] * 2 * size)), statistic=name)
    assert columns(pairs) == ([[10] * size], [[10] * size])
    assert (pairs.names, pairs.columns) == (("A", "B"), counts)


def test_long_tables_and_files_of_one_system():
    text = "item,model,tp,fp,fn,ms\ns1,a,3,1,0,9\ns1,b,2,2,1,8\ns2,a,2,0,1,\ns2,b,2,1,1,7\n"
    two = ["id,tp,fp,fn\ns1,3,1,0\ns2,2,0,1\n", "id,tp,fp,fn\ns2,2,1,1\ns1,2,2,1\n"]
    for sources in ([file(text)], files(*two)):
        pairs = read(*sources, statistic="f1")
        assert (columns(pairs), pairs.source["score"]) == (TWO, "tp, fp, fn")
    assert exact(read(file(text), score="ms")) == {"s1": (9, 8)}
    counts = [("new", "tp"), ("new", "incorrect"), ("old", "tp"), ("old", "incorrect")]
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=pd.MultiIndex.from_tuples(counts))
    assert read(frame, statistic="f1").names == ("new", "old")


def test_clusters_are_read_with_the_counts():
    path = file("doc,n_tp,n_fp,n_fn,o_tp,o_fp,o_fn\nx,3,1,0,2,2,1\nx,2,0,1,2,1,1\n")
    pairs = read(path, clusters="doc", statistic="f1")
    assert (columns(pairs), pairs.clusters) == (TWO, ("x", "x"))
    assert_refused(
        lambda: read(path, clusters="n_fp", statistic="f1"), "column 'n_fp' holds the clusters"
    )
    pairs = read(file("3 1 7 2 3\n2 1 7 2 2\n"), clusters=3, statistic="f1")
    assert (columns(pairs), pairs.clusters) == (([[3, 1], [2, 1]], [[2, 3], [2, 2]]), ("7", "7"))


# ---- what is refused -----------------------------------------------------------------------------

X_Y = "x_tp,x_fp,x_fn,y_tp,y_fp,y_fn\n"
WER = {"statistic": "wer"}
BAD = {
    "negative": (X_Y + "1,2,3,4,5,6\n1,-2,3,4,5,6\n", {}, ["line 3, column 'x_fp': -2 is below 0"]),
    "decimal": (X_Y + "1,2,3,4,0.5,6\n", {}, ["line 2, column 'y_fp': 0.5 is not a whole number"]),
    "text": (X_Y + "1,2,many,4,5,6\n", {}, ["line 2, column 'x_fn': 'many' is not a number"]),
    "another count": (X_Y + "1,2,3,4,5,6\n", {"statistic": "mcc"}, ["no system has 4"]),
    "no systems": ("a,b,c,d\n1,2,3,4\n", {}, ["no system has 3", "--a, --b"]),
    "unlike": ("x_tp,x_fp,x_fn,y_tp,y_wrong\n1,2,3,4,5\n", {},
               ["tp, fp, fn of 'x' and tp, incorrect of 'y'"]),
    "twice": ("x_tp,TP.x,x_wrong,y_tp,y_wrong\n1,2,3,4,5\n", {},
              ["column 'x_tp' and column 'TP.x' both hold tp", "rename one of them"]),
    "width": ("1,2,3,4,5\n", {}, ["5 columns and no header", "2 (tp, incorrect)", "a and b"]),
    "errors of nothing": ("x_errors,y_errors,x_length,y_length\n1,2,4,4\n0,1,2,0\n", WER,
                          ["line 3: 'y' has errors = 1 but length = 0"]),
    "a sum": (X_Y + "1,2,3,4,5,6\n", {"statistic": "sum"}, ["such as 'f1' (--metric f1)"]),
    "a sum by name": (WIDE, {"statistic": "sum", "a": "hmm", "b": "crf_x"},
                      ["counts (tp, fp, fn) of each item, but 'sum'", "(--metric)"]),
    "unknown": (WIDE, {"a": "crf", "b": "hmm"}, ["no columns of system 'crf' (did you mean "]),
    "other counts": (WIDE, {"a": "hmm", "b": "old"}, ["tp, fp, fn of 'hmm' and tp, incorrect"]),
    "one number": (WIDE, {"a": 5, "b": 7}, ["a lists 1 column, but 'f1' needs 3 (tp, fp, fn)"]),
    "no such name": (WIDE, {"a": "hmm", "b": ["crf_x_tp", "crf_x_fb", 9]}, ["did you mean"]),
    "one twice": (WIDE, {"a": [2, 2, 4], "b": "crf_x"}, ["a lists column 'n' 2 times"]),
    "order": (WIDE, {"a": [5, 4, 6], "b": "crf_x"}, ["column 'hmm_fn' where fp belongs"]),
    "shared": ("1,2,3,4,5,6\n", {"a": [1, 2, 3], "b": [3, 4, 5]}, ["column 3 is in both a and b"]),
    "bare names": ("1 2 3 4\n", {"a": "x", "b": "y"}, ["'x'", "columns 1 to 4"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "options", "parts"), BAD.values(), ids=BAD.keys())
def test_bad_counts(text, options, parts):
    options = {"statistic": "f1"} | options
    assert_refused(lambda: read(file(text), **options), *parts, start="scores.csv")


@pytest.mark.parametrize("name", ["macro_f1", "micro_recall", "macro_f2"])
def test_counts_by_class_are_for_python(name):
    wanted = rf"exact_perm_test\(u, v, statistic='{name}'\) takes arrays of shape \(N, classes, 3\)"
    with pytest.raises(ValueError, match=wanted):
        read(file(X_Y + "1,2,3,4,5,6\n"), statistic=name)
