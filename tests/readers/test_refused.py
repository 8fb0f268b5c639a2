"""What is not plain in a table is refused, with the place and the option that settles it."""

import pytest

from permtest import read, read_many
from permtest.readers import ReadError
from tests.readers.texts import assert_refused, file, files


def two(first, second, header):
    """A file for each system: the cells of each line, and their header."""
    return [f"{header}\n" + some.replace(" ", "\n") + "\n" for some in (first, second)]


NAMES = [f"f{i}" for i in range(6)]


def scored(names, column="filename"):
    return f"{column},score\n" + "".join(f"{x},{i % 2}\n" for i, x in enumerate(names))


I_A_B = "id,crf_rich,crf_base,hmm\ns1,3,2,1\n"
LONG = "id,system,score,cluster\n1,new,3,x\n1,old,2,x\n2,old,1,x\n2,new,5,x\n"
WIDE = "doc,place,part,a,b\nx,u,NaN,3,2\nx,,2,5,4\n"
A_B, F1, GOLD = {"a": "a", "b": "b"}, {"statistic": "f1"}, {"gold": "gold"}
COUNTS = (
    "sent,n,hmm_fn,hmm_tp,hmm_fp,crf_x_tp,crf_x_fp,crf_x_fn,old_tp,old_wrong\ns,9,1,2,3,4,5,6,7,8\n"
)
X_Y = "x_tp,x_fp,x_fn,y_tp,y_fp,y_fn\n"
TOTALS = "id,system,score\np,x,1\nq,x,1\nTotal,x,2\np,y,0\nq,y,1\nTotal,y,1\n"
FOUR = "id,latency_ms_A,latency_ms_B,errors_A,errors_B\n1,100,120,0,1\n2,130,90,1,0\n"
NO_SYSTEMS = ["step", "cost_usd", "nTokens", "seed", "latency_ms", "wordcount", "diff", "avg"]
NAMED = {"a": "A", "b": "B"}
LABELLED = [
    "1,1,1,0\n2,0,0,0\n3,1,0,1",
    "1,0,0,1\n2,2,2,1\n3,0,1,0",
    "1,no,no,no\n2,yes,yes,no\n3,yes,no,yes",
]
REPEATED = "model,item,score\nx,p,3\nx,p,4\ny,p,3\ny,p,1\n"

CASES = {
    "cells": [
        ("a,b\n3,2\n5,\n", {}, "line 3, column 'b': '' is a missing score", "--missing"),
        ("3,2\nNA,4\n", {}, "line 2, column 1: 'NA' is a missing score"),
        ("a b\n3 2\n5 four\n", {}, "line 3, column 'b': 'four' is not a number"),
        ("a,b\n3,x\ny,2\n", {}, "line 2, column 'b': 'x' is not a number"),
        ("3,2\n5,1e3\n", {}, "line 2", "'1e3' is in scientific notation"),
        ('t,a,b\n"x\ny\nz",3,2\nw,NA,2\nv,1,1\n', {}, "line 5, column 'a': 'NA'"),
        ("a,b\n3,2\n5,-4\n", {"statistic": "accuracy"}, "line 3, column 'b': -4 is"),
        ("a,b\n0.1,1\n", {"statistic": "accuracy"}, "line 2, column 'a': 0.1 is not a wh"),
        ('id,A,B\n1,"1,005",998\n2,998,"1,200"\n', {}, "line 2, column 'A'", "'1,005' is not a",
         "without separators of thousands"),
        (two("1,998 2,1005", '1,998 2,"1,005"', "id,score"), {}, "b.csv, line 3", "'1,005'"),
        ("id\tA\tB\n1\t1,5\t2\n2\t3\t4,25\n", {}, "line 2, column 'A'", "'1,5' is not a number"),
        ("id,A,B\n1,.5,.7\n2,timeout,.3\n3,.1,.2\n", {}, "line 3, column 'A': 'timeout' is not",
         "leave the cell empty (null in JSON)", "(--missing drop, --missing zero)"),
        *((f"id;A;B\nx;{cell};{cell}\n", {}, f"{cell!r} is not a number; write digits without ")
          for cell in ("7/10", "[7, 1]", "0,5.1", "1 700", "1.700,5", "1,700.5", "1.700.500")),
        ("id,A,B\n1,85ms,3ms\n", {}, "0 systems", "'85ms' is not a number; write digits"),
        ("id,A,B\n1,85%,.80\n", NAMED, "line 2, column 'A'", "'85%' stands beside '.80'"),
        ("id,A,B\n1,PASS,1\n2,FAIL,0\n", NAMED, "'PASS' stands beside '1'"),
        ("id,A,B\n1,PASS,FAIL\n2,PASS,PASS\n3,ERROR,PASS\n", {}, "line 4, column 'A': 'ERROR'"),
        (two("1,85% 2,100%", "2,85% 1,.9", "id,score"), {}, "b.csv, line 3", "'.9' stands"),
        ("id,A,B\n1,\N{MINUS SIGN}7,1\n2,3,4\n", {}, "line 2, column 'A'", "- as minus"),
    ],
    "systems": [
        ("3\n4\n", {}, "1 system", "add the file of another system; it has one column"),
        *((text, {}, "1 system ('column 2')", "if column 1 does not number the lines, name both")
          for text in ("1,7\n2,8\n3,6\n", "0,1\n1,1\n2,0\n")),
        ("3\n-4\n", {}, "if these are differences, add a column of zeros"),
        ("who,score\nx,3\ny,4\n", {}, "the column that says whose a line is (--system-col)"),
        ("3 1 2 2\n5 0 4 1\n", {}, "--a, --b", "such as 'f1' (--metric f1)"),
        ("i,a,b\n1,3,2\n", {}, "3 systems", "--a, --b", "columns are 'i', 'a', 'b'"),
        ("i,a,b\nx,y,z\n", {}, "0 systems", "columns are 'i', 'a', 'b'"),
        (",".join(f"c{i}" for i in range(50)) + "\n" + "1," * 49 + "1\n", {}, "and 20 more"),
        (I_A_B, {"a": "crf_rihc", "b": "hmm"}, "no column 'crf_rihc' (did you mean 'crf"),
        (I_A_B, {"a": "hmm", "b": "hmm"}, "a and b are both column 'hmm'; name two"),
        (I_A_B, {"a": "hmm"}, "a is given without b; name both columns"),
        (I_A_B, {"a": 0, "b": 1}, "no column 0; its columns are"),
        (I_A_B, {"a": "id", "b": "hmm"}, "line 2, column 'id': 's1' is not a number"),
        (I_A_B, {"a": ["hmm", 2], "b": 3}, "a lists 2 columns, but 'sum' takes one score"),
        *((f"id,{name},acc\n1,1,1\n2,2,0\n3,4,1\n", {}, "--a", "--b", "its columns")
          for name in NO_SYSTEMS),
        ("id,bleu,chrf\n1,30,50\n2,20,40\n", {}, "0 systems", "--a, --b"),
        ("id,a,b\n1,1,100\n2,2,300\n", {}, "do not look alike", "--a, --b"),
        ("id,new_bleu,old_chrf\n1,30,50\n2,20,40\n", {}, "--a, --b"),
        (FOUR, {}, "'latency_ms', 'errors'", "--score"),
        (FOUR, {"score": "bleu"}, "'bleu'", "'latency_ms', 'errors'"),
        ("id,A,B\n1,1,0\n2,0,1\n", {"score": "bleu"}, "bleu"),
        ("id,x_acc,y_acc,x_loss,y_loss\n1,1,0,.1,2\n", {"a": "x_acc", "b": "y_loss"}, "measures",
         "(acc and loss)", "'x_acc' with 'y_acc', or 'x_loss' with 'y_loss'"),
        *((f"id,{name}\n1,3,4\n", {}, "0 systems") for name in ("n_PER,n_LOC", "n_per,n_loc")),
        ("id,metric,A,B\n1,ter,1,3\n2,ter,4,5\n1,wer,4,5\n", {}, "'ter', 'wer'", "--score ter"),
        ("model,mmlu,arc\ngpt,.8,.7\nllama,.7,.75\n", {}, "'model'", "a system", "transpose"),
        (",mmlu,arc\ngpt-4,.8,.7\nllama3,.7,.75\n", {}, "'gpt-4'", "a system", "transpose"),
        ("id,system,score\n1,a,3\n2,a,2\n", {}, "1 system ('score')", "the file"),
        ("id,system,score\n1,a,3\n1,,2\n1,b,4\n", {}, "line 3, column 'system': '' is a mi"),
        ("id,system,said\n1,a,yes\n1,b,no\n", {}, "no column of numbers; its columns are"),
        ("id,doc,A,B\n1,d,1,0\n2,d,0,1\n", {"system_col": "doc"}, "'doc'", "--system-col"),
        (("1 2\n2 3\n", "1 2\n2 3\n"), {}, "line 1: 2 columns and no header", "'id'"),
        (("id,p,q\n1,2,3\n", "id,r,s\n1,2,3\n"), {}, "no score in common", "give those of one"),
        (two("1,1,20", "1,1,30", "id,acc,f2"), {}, "2 scores ('acc', 'f2'); choose one", "--score"),
        ("id,A,B\n1,.9,90\n2,.5,40\n", {}, "do not look alike", "--a, --b"),
        (two("1,1,20", "1,1,30", "id,acc,f2"), {"score": "acd"}, "'acd' (did you mean 'acc'?)"),
    ],
    "items": [
        ("id,a,b\n1,2,3\n1,4,5\n", {}, "'1'", "line 2 and line 3", "(--id id --id COL)"),
        ("id,a,b\n1,2,3\n,4,5\n", {}, "line 3, column 'id': '' is an item without a name"),
        (LONG + "2,new,0,x\n", {}, "'2' occurs twice as id (line 5 and line 6)"),
        ("id,system,score\n1,a,3\n2,b,2\n", {}, "no id in common"),
        ("id,system,score\n1,a,3\n,b,2\n1,b,4\n", {}, "line 3, column 'id': '' is an item with"),
        ("system,score\na,3\nb,2\n", {}, "no column says which item", "--id", "--by-order"),
        # The same id, another text.
        (two("1,who,1 2,where,0", "1,who,1 2,why,0", "id,question,score"), {}, "b.csv: line 3",
         "'why'", "a.csv ('where')", "--id"),
        *((two("1,p,1 2,q,0", "1,p,1 2,r,0", f"id,{name},score"), {}, "line 3", name, "'r'", "'q'")
          for name in ("prompt", "reference", "gold")),
        ("id,system,question,score\n1,x,who,1\n1,y,why,0\n", {}, "line 3", "'why'", "'who'"),
        (two("1,x,1 2,y,0", "1,y,1 2,x,0", "id,name,score"), {}, "'y'", "'x'"),
        # Paired by order, of different texts.
        (two("q1,1 q2,0", "q3,1 q4,0", "question,score"), {}, "'question'", "0 of 2",
         "--id question", "--by-order"),
        (two("q,1 q,0 r,1", "r,1 q,0 q,1", "question,score"), {}, "b.csv: line 2", "'r'", "'q'"),
        ([scored("112233", "user_id"), scored("332211", "user_id")], {}, "user_id", "'3'", "'1'"),
        # Nearly a key.
        (two("x,1 y,0 z,1", "y,1 w,0 x,1", "file,score"), {}, "'file'", "2 of 3", "--id file",
         "--by-order"),
        *(([scored(a), scored(b)], {}, "'filename'", "--id filename", "--by-order") for a, b in (
            (["f0", *NAMES], [*NAMES[::-1], "f9"]),
            (NAMES, [name.upper() for name in NAMES[::-1]]),
            ([f"new/{name}" for name in NAMES], [f"old/{name}" for name in NAMES[::-1]]))),
        (two("A,1 B,0", "b,1 c,0", "id,score"), {}, "no id in common", "except for case",
         "1 of 2 ids agree"),
        # Two keys that disagree.
        (["x,y,score\n0,1,3\n1,0,4\n2,2,5\n", "x,y,score\n1,1,3\n0,0,4\n2,2,5\n"], {},
         "'x' and 'y'", "--id"),
        # Ids that are not the same thing, or counted otherwise.
        (["id,score\n1,1\n2,0\n", "item,score\n1,1\n2,0\n"], {}, "item", "id", "one name"),
        (two("1,1 2,0", "01,1 02,0", "id,score"), {}, "no id in common", "'01' and '1'",
         "--id COL", "--by-order"),
        (two("9,1 10,0", "09,1 10,0", "id,score"), {}, "line 2: '09'", "'9' of", "--missing drop"),
        *((two(f"{a},1 {b},0 {c},1", f"{b},1 {c},0 {d},1", "id,score"), {}, "counts from 1",
           "--by-order") for a, b, c, d in ("0123", ("000", "001", "002", "003"),
                                            ("q-0", "q-1", "q-2", "q-3"))),
        (two("q0,1 q1,0 q2,1 q3,0", "q1,1 q2,0 q3,1 q4,0 q5,1", "id,score"), {}, "--missing drop"),
        (two("000,1 001,0 002,1", "1,1 2,0 3,1", "id,score"), {}, "counts from 1", "--by-order"),
        *(([f"model,{name},score\nx,p,3\nx,q,4\ny,p,4\n"], {}, "1 of 2 values",
           "of 'x' are of 'y' too", f"(--id {name})") for name in ("question", "task")),
        (["question,score\nq,1\nr,0\n", "score\n1\n0\n"], {}, "question"),
        # The same item twice, rows that are no items, and whose a line is.
        ("question,A,B\nq,1,0\nq,1,0\nr,0,1\n", {}, "line 3", "line 2", "--by-order"),
        ("id,A,B\np,1,0\nq,0,1\nr,1,1\nTotal,9,9\n", {}, "line 5", "'Total'", "--id"),
        ("id,A,B\np,1,0\nq,0,1\nTotal,1,1\nMean,.5,.5\n", {}, "line 5", "'Mean'"),
        ("word,A,B\nall,1,0\nsome,0,1\ntotal,0,0\n", {}, "line 4", "'total'", "--id word"),
        (TOTALS, {}, "line 7", "'Total'", "remove it", "--id id"),
        ("id,A,B\nTotal,2,1\np,1,0\nq,1,1\n", {}, "Total"),
        *((f"model,{name},score\nx,p,3\nx,q,4\ny,p,4\ny,q,1\nx,total,7\ny,total,5\n", {}, "line 7",
           f"'total' may not be an item; remove it; if it really is one, say so (--id {name})")
          for name in ("question", "task", "prompt", "item")),
        *((f"{name},A,B\np,1,0\nq,1,1\nr,0,0\ns,1,1\nz,{last}\n", {}, "line 6", "sums or the means",
           f"(--id {name})") for name in ("id", "question") for last in ("3,2", ".75,.5")),
        ("id,A,B\np,1,0\nq,1,1\nr,0,0\n,.667,.333\n", {}, "line 5", "no name", "--id id"),
        ("id,A,B\np,.1,.7\nq,.2,.1\nr,.4,.2\n,.7,1\n", {}, "line 5", "no name", "remove it"),
        ("id,A,B\np,5,0\nq,2,1\nr,4,2\n,11,3\n", {"id": False}, "line 5", "no name"),
        ("word,A,B\np,1,1\nq,1,0\nr,1,1\nmacro avg,1,.67\n", {}, "line 5", "'macro avg'"),
        *((f"new,old\n1,0\n1,1\n0,1\n1,0\n{last}\n", {}, "line 6", "sums or the means",
           "remove it; if it really is an item", "--by-order") for last in ("3,2", "0.75,0.5")),
        ("model,idx,correct\nx,0,1\nx,1,0\ny,1,1\n", {}, "seems to say whose", "the item? (--id)"),
        # Repeats and clusters.
        *((f"{name},A,B\np,1,0\nq,0,1\np,1,1\nq,1,0\n", {}, "'p' occurs twice", "(--repeat)",
           f"(--clusters {name})") for name in ("question", "item")),
        ("seed,A,B\n1,1,0\n2,0,1\n1,1,1\n", {"repeat": "seed"}, "'seed'", "--id"),
        *((f"x,{name},A,B\np,1,1,0\np,2,0,1\nq,1,0,1\nq,2,0,0\n", NAMED, f"column {name!r}: tells",
           "no column says which item", "(--id COL)", "--by-order")
          for name in ("seed", "run", "epoch", "repeat", "sample", "trial")),
        (two("p,1 p,0 q,1 q,1", "p,0 p,0 q,1 q,0", "x,acc"), {}, "column 'x': each value comes 2",
         "(--clusters x)", "--by-order"),
        (LONG.replace("3,x", "3,"), {}, "line 2, column 'cluster': '' is a missing label"),
        (REPEATED, {"repeat": "item"}, "column 'item'", "name another", "(--repeat)"),
        (WIDE, A_B | {"clusters": "dok"}, "no column 'dok' (did you mean 'doc'?)"),
        (WIDE, A_B | {"clusters": "place"}, "line 3, column 'place': '' is a missing label"),
        (WIDE, A_B | {"clusters": "part"}, "line 2, column 'part': 'NaN' is a missing label"),
        (WIDE, A_B | {"clusters": 5}, "column 'b' holds the clusters; choose other columns"),
    ],
    "counts": [
        (X_Y + "1,2,3,4,5,6\n1,-2,3,4,5,6\n", F1, "line 3, column 'x_fp': -2 is below 0"),
        (X_Y + "1,2,3,4,0.5,6\n", F1, "line 2, column 'y_fp': 0.5 is not a whole number"),
        (X_Y + "1,2,many,4,5,6\n", F1, "line 2, column 'x_fn': 'many' is not a number"),
        (X_Y + "1,2,3,4,5,6\n", {"statistic": "specificity"}, "the counts that specificity needs"),
        (X_Y + "1,2,3,4,5,6\n", {}, "such as 'f1' (--metric f1)"),
        ("a,b,c,d\n1,2,3,4\n", F1, "the counts that F1 needs", "--a, --b"),
        ("x_tp,x_fp,x_fn,y_tp,y_wrong\n1,2,3,4,5\n", F1, "tp, fp, fn of 'x' and tp, incorrect of"),
        ("x_tp,TP.x,x_wrong,y_tp,y_wrong\n1,2,3,4,5\n", F1, "and column 'TP.x' both hold tp"),
        ("1,2,3,4,5\n", F1, "5 columns and no header", "2 (tp, incorrect)", "a and b"),
        ("x_errors,y_errors,x_length,y_length\n1,2,4,4\n0,1,2,0\n", {"statistic": "wer"},
         "line 3: 'y' has errors = 1 but length = 0"),
        (COUNTS, {"a": "hmm", "b": "crf_x"}, "counts (tp, fp, fn) of each item, but 'sum'"),
        (COUNTS, F1 | {"a": "crf", "b": "hmm"}, "no columns of system 'crf' (did you mean "),
        (COUNTS, F1 | {"a": "hmm", "b": "old"}, "tp, fp, fn of 'hmm' and tp, incorrect"),
        (COUNTS, F1 | {"a": 5, "b": 7}, "a lists 1 column, but 'f1' needs 3 (tp, fp, fn)"),
        (COUNTS, F1 | {"a": [2, 2, 4], "b": "crf_x"}, "a lists column 'n' more than once"),
        (COUNTS, F1 | {"a": [4, 3, 5], "b": "crf_x"}, "column 'hmm_fn' where fp belongs"),
        ("1,2,3,4,5,6\n", F1 | {"a": [1, 2, 3], "b": [3, 4, 5]}, "column 3 is in both a and b"),
        ("1 2 3 4\n", F1 | {"a": "x", "b": "y"}, "'x'", "columns 1 to 4"),
        ("d,n_tp,n_fp,n_fn,o_tp,o_fp,o_fn\nx,3,1,0,2,2,1\n", F1 | {"clusters": "n_fp"},
         "column 'n_fp' holds the clusters"),
    ],
    "predictions": [
        ("gold,svm,knn\nx,x,y\n", {"gold": "svm"}, "1 system ('knn')", "--gold gold", "--a, --b"),
        ("gold,a,b\nx,x,y\n", {"gold": "truth"}, "no column 'truth'", "(--gold)"),
        ("gold,a,b\nx,x,y\n,x,y\n", GOLD, "line 3, column 'gold': the right label is miss"),
        ("gold,a,b\nx,x,y\ny,z,y\n", GOLD | F1, "are 3 ('x', 'y', 'z')", "mac"),
        ("gold,a,b\nx,x,y\ny,x,y\n", GOLD | F1, "2 ('x', 'y')", "with pos_label (--pos-label)"),
        ("gold,a,b\nx,x,y\ny,x,y\n", GOLD | F1 | {"pos_label": "z"}, "'z' is not"),
        ("gold,a,b\nx,x,y\ny,x,y\n", GOLD | {"pos_label": "x"}, "needs", "f1, p"),
        ("gold,a,b\nx,x,x\n", GOLD | {"pos_label": "x", "statistic": "macro_f1"}, "f1, p"),
        ("gold,a,b\nx,x,y\ny,x,y\n", GOLD | {"statistic": "wer"}, "wrong, but 'wer' needs 2"),
        ("gold,a,b\nx,x,y\n", GOLD | {"score": "acc"}, "choose a statistic (--metric)"),
        ("gold,a\nx,x\n", GOLD, "1 system ('a'); add the file of another"),
        ("gold,n\nx,1\n", GOLD, "no column of predictions beside 'gold'"),
        ("gold,a,b\nx,x,y\n", GOLD | {"a": "a", "b": "c"}, "b: no system 'c'"),
        ("gold,a,b\n1,Yes,1\n0,no,0\n", GOLD | A_B, "a' predicts 'Yes', 'no', but gold has"),
        ("label,a,b\nx,x,y\ny,x,y\n", {}, "(--gold label), or, if", "(--score correct)"),
        *((f"id,{gold},A,B\n{cells}\n", NAMED, f"column {gold!r} may hold",
           f"(--gold {gold}), or, if they are scores, say so (--score correct)")
          for gold in ("answer", "y_true", "label") for cells in LABELLED),
        ("gold,a,b\n1,1,2\n2,1,2\n", {}, "by it (--gold gold)"),
        *((f"id,{name},A,B\n1,4,4,5\n2,7,7,7\n", {}, f"--gold {name}")
          for name in ("answer", "correct_option", "true_rating", "gold_score")),
        ("id,label,A,B\n1,0,.25,.5\n2,1,.75,.9\n", {}, "these are probabilities", "Brier"),
        *(("id,y_true,A,B\n1,7.5,7,7.2\n2,8.5,8.1,8\n3,2.5,2,2.9\n", {**options}, "metric_test",
           "write a column of each system's errors", *parts) for options, parts in (
          (NAMED, ["(--score correct)"]), ({}, ["(--score correct), and say which two"]),
          ({"gold": "y_true"}, ["column 'A'"]))),
        (two("1,7.5,7.1 2,2.5,3.5", "1,7.5,7.4 2,2.5,2.4", "id,y_true,pred"), {}, "metric_test"),
        ("id,y_true,A,B,A_mae,B_mae\n1,7.5,7.1,7,.4,.5\n2,1.5,1.2,2,.3,.5\n", {}, "(--score mae);"),
        ("id,accuracy_A,errors_B\n1,3,1\n2,4,2\n", {"a": "accuracy_A", "b": "errors_B"},
         "higher is better in one of", "(--higher-is-better, --lower-is-better)"),
        (two("1,0,.2 2,1,.7", "1,0,.1 2,1,.9", "id,gold,prob"), {}, "these are probabilities",
         "or the Brier score"),
        ("id,answer_A,answer_B\n1,yes,no\n2,no,no\n", {}, "0 systems", "holds labels", "--gold"),
        ("id,A,B\n1,spam,ham\n", NAMED, "line 2, column 'A'", "predicted labels", "(--gold)"),
        *((f"id,gold,{x},{y}\n1,3,1,0\n2,{gold},0,1\n", GOLD | {"a": x, "b": y},
           f"column {x!r} looks", "such as '3'", "leave gold (--gold) out", "add pred")
          for x, y, gold in (("A", "B", 1), ("A_correct", "B_correct", 4))),
        *((f"id,gold,{x},{y},A_acc\n1,3,3,1,1\n2,1,1,2,1\n", {"a": x, "b": y},
           f"column {x!r} may hold", "(--gold gold)", f"(--score {word})") for x, y, word in (
          ("A_pred", "B_pred", "pred"), ("predicted1", "predicted2", "predicted"),
          ("A_label", "B_label", "label"))),
        ("id,pred_A,pred_B\n1,1,0\n", {}, "column 'pred_A'", "--gold FILE", "--score pred"),
        *((two("1,3 2,4", "1,3 2,5", f"id,{name}"), {}, f"column {name!r}", f"(--score {name})",
           "--gold FILE") for name in ("pred", "prediction", "label", "y_pred")),
        ("id,A,B\n1,1,0\n2,0,1\n", {"pos_label": "x"}, "pos_label", "--gold"),
        (two("1,x,x 2,y,x", "1,x,x 2,x,x", "id,gold,pred"), {}, "b.csv: line 3 has another gold"),
        (["id,gold,pred\n1,x,x\n", "id,gold,pred1,pred2\n1,x,x,y\n"], GOLD, "are 2 with labels"),
        (two("1,pos 2,neg 3,pos", "1,pos 2,neg 3,neg", "id,answer"), {}, "'answer'", "holds",
         "right answers (--gold)"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "options", "parts"),
    [(texts, options, parts) for some in CASES.values() for texts, options, *parts in some],
)
def test_what_is_not_plain_is_refused(texts, options, parts):
    sources = files(*([texts] if isinstance(texts, str) else texts))
    assert_refused(lambda: read(*sources, **options), *parts)
    if "higher is better in one of" in parts:
        assert read(*sources, **options, higher_is_better=True).u.tolist() == [3, 4]
    if "or the Brier score" in parts:  # unless the user says that they are scores
        assert read(*sources, score="prob").u.tolist() == [2, 7]
    if "--by-order" in parts and len({one.data.count(b"\n") for one in sources}) == 1:
        assert read(*sources, **options | {"id": False}).source["matched"] > 0


SOME = ("id,score\n1,2\n2,3\n", "id,score\n2,1\n3,1\n")


@pytest.mark.parametrize(
    ("texts", "options", "parts"),
    [
        (("1\n2\n3\n", "1\n0\n2\n", "1\n2\n"), {}, ["c.csv: 2 items, but 3 of 'a', and no ids"]),
        (("id,score\n1,2\n2,0\n", "1\n2\n"), {}, ["b.csv: has no ids, but a.csv has"]),
        ((*SOME, "id,score\n3,1\n1,1\n"), {}, ["of all 3 systems; leave some", "--a 'a' --b 'b'"]),
        ((SOME[0], "id,score\n8,1\n9,1\n"), {}, ["b.csv: no id in common with a.csv"]),
        (["id,a\n1,2\n"], {}, ["1 system ('a'); add the file of another system; its"]),
        (["id,doc_id\n1,3\n"], {}, ["0 systems"]),
        (["id,a,b\n1,2,3\n"], {"systems": ["a"]}, ["1 system ('a')"]),
        (["id,a,b\n1,2,3\n"], {"systems": ["a", "x"]}, ["no column 'x'; its columns are"]),
        (["id,a,b\n1,2,3\n"], {"systems": ["a", "b", 3]}, ["systems[2] = 'b' is a repeat"]),
        (["id,tp,fp,fn\n1,2,1,1\n"], {"statistic": "f1"}, ["the counts that F1 needs"]),
        (["id,a1_acc,b1_acc,a1_f1,b1_f1\n1,1,0,0,0\n2,0,1,0,1\n"], {}, ["--score"]),
        (["id,run0,run1\n1,1,0\n2,1,1\n", "id,run0,run1\n1,0,0\n2,1,0\n"], {}, ["exact_runs_test"]),
    ],
)  # fmt: skip
def test_what_is_refused_of_many(texts, options, parts):
    assert_refused(lambda: read_many(*files(*texts), **options), *parts)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("i,a,b\n1,3,2\n", {}, "say which two to compare (a=..., b=...)"),
        ("id,A,B\n1,1,0\n2,,1\n", {}, "such items (missing='drop', missing='zero')"),
        ("id,score\n1,1\n1,0\n", {}, "of the key (id=['id', 'COL'])"),
    ],
)
def test_callers_from_python_are_told_arguments(text, options, said):
    with pytest.raises(ReadError) as caught:
        read(file(text), **options)
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("made", [read, read_many])
def test_unknown_arguments_are_named(made):
    with pytest.raises(TypeError) as caught:
        made("x.csv", mising="drop")
    said = f"{made.__name__}() has no argument 'mising' (did you mean 'missing'?)"
    assert str(caught.value) == said
