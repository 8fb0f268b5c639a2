"""Counts are read by their headers, by lists or by their width, or refused."""

import numpy as np
import pandas as pd
import pytest

from permtest.readers import read
from permtest.statistics import STATISTICS
from tests.readers.texts import columns, exact, file, files

F1 = ("tp", "fp", "fn")
COUNTS = [entry for entry in STATISTICS.values() if entry.columns]
IN_FILES = [entry for entry in COUNTS if entry.average is None]

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
    "all four": (SEVERAL, {"statistic": "balanced_accuracy"}, ([[1, 2, 3, 4]], [[6, 7, 8, 5]])),
    "those of both": ("a_tp,a_fp,a_fn,a_wrong,b_tp,b_wrong\n1,2,3,5,6,7\n", {},
                      ([[1, 5]], [[6, 7]])),
    "length": (LENGTHS, {"statistic": "wer"}, ([[1, 9]], [[2, 9]])),
    "length by name": (LENGTHS, {"statistic": "wer", "a": "a", "b": "b"}, ([[1, 9]], [[2, 9]])),
    "own lengths": ("a_errors,b_errors,length,b_length,a_length\n1,2,9,8,7\n",
                    {"statistic": "wer"}, ([[1, 7]], [[2, 8]])),
    "clusters": ("3 1 7 2 3\n", {"clusters": 3}, ([[3, 1]], [[2, 3]])),
    "huge": (f"a_tp,a_wrong,b_tp,b_wrong\n{10**400},3.0,+2,true\n", {}, ([[10**400, 3]], [[2, 1]])),
}  # fmt: skip


@pytest.mark.parametrize(("text", "options", "wanted"), HEADERS.values(), ids=HEADERS.keys())
def test_which_columns_are_counts(text, options, wanted):
    assert columns(read(file(text), **({"statistic": "f1"} | options))) == wanted


@pytest.mark.parametrize(
    ("header", "a", "b", "names"),
    [
        ("", [1, 2, 3], [4, 5, 6], ("A", "B")),
        ("", "1,2,3", (4, 5, 6), ("A", "B")),
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


@pytest.mark.parametrize("name", ["macro_f1", "micro_recall"])
def test_counts_by_class_are_for_python(name):
    wanted = rf"exact_perm_test\(u, v, statistic='{name}'\) takes arrays of shape \(N, classes, 3\)"
    with pytest.raises(ValueError, match=wanted):
        read(file("x_tp,x_fp,x_fn,y_tp,y_fp,y_fn\n1,2,3,4,5,6\n"), statistic=name)
