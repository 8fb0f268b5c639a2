"""Files of counts are read by their headers, by lists or by their width, or refused."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import ReadError, read
from permtest.readers.headers import JOINTS, readings
from permtest.statistics import STATISTICS, CountStatistic, statistic

DATA = Path(__file__).resolve().parents[1] / "notebooks" / "data"
F1 = ("tp", "fp", "fn")
COUNTS = [entry for entry in STATISTICS.values() if isinstance(entry, CountStatistic)]
IN_FILES = [entry for entry in COUNTS if entry.average is None]


@pytest.fixture
def write(tmp_path):
    """Put text into a file and return its path."""

    def write(content: str, name: str = "counts.csv") -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


def tables(pairs):
    return pairs.u.tolist(), pairs.v.tolist()


# ---- by the header -----------------------------------------------------------------------------

TWO = ([[3, 1, 0], [2, 0, 1]], [[2, 2, 1], [2, 1, 1]])
ROWS = "3,1,0,2,2,1\n2,0,1,2,1,1\n"


@pytest.mark.parametrize(
    "header",
    [
        "new_tp,new_fp,new_fn,old_tp,old_fp,old_fn",
        "new_TP,new_FP,new_FN,old_tp,old_Fp,old_fN",
        "new.tp,new.fp,new.fn,old.tp,old.fp,old.fn",
        "new-tp,new-fp,new-fn,old/tp,old/fp,old/fn",
        "new tp,new fp,new fn,old tp,old fp,old fn",
        "tp_new,fp_new,fn_new,TP.old,FP.old,FN.old",
        "new_tp,fp-new,new fn,old_tp,old_fp,old_fn",
    ],
)
def test_the_only_two_systems_of_a_header(write, header):
    path = write(f"{header}\n{ROWS}")
    pairs = read(path, statistic="f1")
    assert tables(pairs) == TWO
    assert (pairs.names, pairs.columns) == (("new", "old"), F1)
    backward = read(path, a="old", b="new", statistic="f1")
    assert tables(backward) == TWO[::-1]
    assert backward.names == ("old", "new")


WIDE = (
    "sent,n,old_tn,hmm_fn,hmm_tp,hmm_fp,crf_x_tp,crf_x_fp,crf_x_fn,old_tp,old_wrong,crf_x_tn\n"
    "s1,9,4,1,2,3,4,5,6,7,8,9\n"
)


def test_systems_by_name_among_many_columns(write):
    pairs = read(write(WIDE), a="crf_x", b="hmm", statistic="f1")
    assert tables(pairs) == ([[4, 5, 6]], [[2, 3, 1]])
    assert pairs.source["columns"] == [
        ["crf_x_tp", "crf_x_fp", "crf_x_fn"],
        ["hmm_tp", "hmm_fp", "hmm_fn"],
    ]


def test_a_fourth_count_is_read_only_where_it_is_needed(write):
    path = write("a_tp,a_fp,a_fn,a_tn,b_tn,b_tp,b_fp,b_fn\n1,2,3,4,5,6,7,8\n")
    assert tables(read(path, statistic="f1")) == ([[1, 2, 3]], [[6, 7, 8]])
    assert tables(read(path, statistic="mcc")) == ([[1, 2, 3, 4]], [[6, 7, 8, 5]])


@pytest.mark.parametrize("word", ["incorrect", "in", "inc", "wrong", "Incorrect", "IN"])
def test_other_words_for_incorrect(write, word):
    pairs = read(write(f"a_tp,a_{word},b_tp,b_{word}\n1,2,3,4\n"), statistic="jaccard")
    assert tables(pairs) == ([[1, 2]], [[3, 4]])
    assert pairs.columns == ("tp", "incorrect")


def test_both_systems_have_the_same_counts(write):
    header = "a_tp,a_fp,a_fn,a_wrong,b_tp,b_wrong"
    pairs = read(write(f"{header}\n1,2,3,5,6,7\n"), statistic="f1")
    assert (tables(pairs), pairs.columns) == (([[1, 5]], [[6, 7]]), ("tp", "incorrect"))


def test_the_length_of_a_reference_can_be_shared(write):
    path = write("utt,a_errors,b_errors,length\nu1,1,2,9\nu2,0,1,8\n")
    expected = [[1, 9], [0, 8]], [[2, 9], [1, 8]]
    for columns in ({}, {"a": "a", "b": "b"}, {"a": [2, 4], "b": [3, 4]}):
        pairs = read(path, statistic="wer", **columns)
        assert (tables(pairs), pairs.names) == (expected, ("a", "b"))
    own = write("a_errors,b_errors,length,b_length,a_length\n1,2,9,8,7\n", "own.csv")
    assert tables(read(own, statistic="wer")) == ([[1, 7]], [[2, 8]])


def test_the_counts_of_bleu(write):
    columns = STATISTICS["bleu"].columns
    header = ["reference_length", *(f"{s}_{c}" for s in "xy" for c in columns[:-1])]
    row = [20, *range(9, 0, -1), *range(19, 10, -1)]
    path = write(f"{','.join(header)}\n{','.join(map(str, row))}\n")
    with pytest.raises(ReadError, match=r"line 2: 'x' has 9 matches among 5 n-grams of order 1"):
        read(path, statistic="bleu")
    row[1:5], row[5:9] = row[5:9], row[1:5]
    row[10:14], row[14:18] = row[14:18], row[10:14]
    path = write(f"{','.join(header)}\n{','.join(map(str, row))}\n")
    assert tables(read(path, statistic="bleu")) == ([[*row[1:10], 20]], [[*row[10:], 20]])


@given(
    rows=st.lists(st.lists(st.integers(0, 10**30), min_size=6, max_size=6), min_size=1, max_size=5),
    names=st.lists(
        st.text("ab_. ÄİK1", min_size=1).filter(lambda s: s == s.strip()),
        min_size=2,
        max_size=2,
        unique=True,
    ),
    looks=st.lists(
        st.tuples(st.sampled_from(JOINTS), st.sampled_from([str.upper, str.lower]), st.booleans()),
        min_size=6,
        max_size=6,
    ),
    order=st.permutations(range(6)),
)
def test_whatever_is_written_is_read_back(tmp_path_factory, rows, names, looks, order):
    path = tmp_path_factory.getbasetemp() / "counts_round_trip.csv"
    columns = [(name, count) for name in names for count in F1]
    header = [
        f"{case(count)}{joint}{name}" if first else f"{name}{joint}{case(count)}"
        for (joint, case, first), (name, count) in zip(looks, columns, strict=True)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([line[i] for i in order] for line in (header, *rows))
    pairs = read(path, a=names[0], b=names[1], statistic="f1")
    assert tables(pairs) == ([row[:3] for row in rows], [row[3:] for row in rows])
    assert pairs.names == tuple(names)


def test_a_name_can_be_read_in_several_ways():
    assert readings("x_reference_length") == [("x_reference", "length"), ("x", "reference_length")]
    assert readings("tp_fp") == [("fp", "tp"), ("tp", "fp")]
    assert [readings(name) for name in ("tp", "n_gold", "_tp", "tps", "")] == [
        [("", "tp")], [], [], [], []
    ]  # fmt: skip


# ---- by lists ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 2, 3], [4, 5, 6]),
        ("1,2,3", "4,5,6"),
        ("1, 2, 3", (4, 5, 6)),
        (["1", "2", "3"], range(4, 7)),
        (np.arange(1, 4), np.arange(4, 7)),
    ],
)
def test_lists_of_numbers(write, a, b):
    pairs = read(write(ROWS), a=a, b=b, statistic="f1")
    assert (tables(pairs), pairs.names) == (TWO, ("A", "B"))
    assert pairs.source["columns"] == [[1, 2, 3], [4, 5, 6]]


def test_lists_of_names(write):
    path = write("found,more,less,hits,extra,missed\n" + ROWS)
    pairs = read(path, a=["found", "more", "less"], b="hits,extra,6", statistic="f1")
    assert (tables(pairs), pairs.names) == (TWO, ("A", "B"))
    assert read(path, a=[1, 2], b=[4, 5], statistic="f1").columns == ("tp", "incorrect")


def test_a_list_has_the_name_that_its_columns_share(write):
    path = write("x_fn,x_tp,x_fp,y_tp,y_fp,rest\n0,3,1,2,2,1\n1,2,0,2,1,1\n")
    pairs = read(path, a=[2, 3, 1], b=[4, 5, 6], statistic="f1")
    assert (tables(pairs), pairs.names) == (TWO, ("x", "B"))


def test_a_list_beside_the_name_of_a_system(write):
    path = write("x_fn,x_tp,x_fp,k,l,m\n0,3,1,2,2,1\n1,2,0,2,1,1\n")
    pairs = read(path, a="x", b=["k", "l", "m"], statistic="f1")
    assert (tables(pairs), pairs.names) == (TWO, ("x", "B"))


# ---- by the width ------------------------------------------------------------------------------

LAYOUTS = [(entry.name, m.columns) for entry in IN_FILES for m in entry.measures]


@pytest.mark.parametrize(("name", "columns"), LAYOUTS)
def test_files_without_a_header(write, name, columns):
    size = len(columns)
    row = [10] * (2 * size)
    pairs = read(write(" ".join(map(str, row))), statistic=name)
    assert tables(pairs) == ([row[:size]], [row[size:]])
    assert (pairs.names, pairs.columns) == (("A", "B"), columns)


@pytest.mark.parametrize("entry", COUNTS, ids=lambda entry: entry.name)
def test_the_width_tells_the_columns(entry):
    sizes = [len(measure.columns) for measure in entry.measures]
    assert len(set(sizes)) == len(sizes)


def test_four_integers_a_line_are_f1_counts(write):
    pairs = read(write("2 0 0 2\n1 2 0 1\n2 0 2 2\n"), statistic="f1")
    assert tables(pairs) == ([[2, 0], [1, 2], [2, 0]], [[0, 2], [0, 1], [2, 2]])
    assert exact_perm_test(pairs, statistic="f1").pvalue == 0.5
    assert exact_perm_test(pairs, statistic="f1", alternative="greater").pvalue == 0.25


# ---- what is recorded, and what the numbers are ------------------------------------------------


def test_the_source_is_recorded(write):
    path = write("id\tnew_tp\tnew_fp\tnew_fn\tTP old\tFP old\tFN old\ns1\t3\t1\t0\t2\t2\t1\n")
    source = read(path, statistic="f1").source
    assert source == {
        "file": "counts.csv",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "loader": "table",
        "columns": [["new_tp", "new_fp", "new_fn"], ["TP old", "FP old", "FN old"]],
        "separator": "\t",
        "header": True,
        "rows": 1,
        "ids": "id",
        "paired_by": "row",
        "matched": 1,
        "unmatched": [0, 0],
        "unmatched_ids": [[], []],
        "dropped": 0,
        "dropped_ids": [],
        "notes": [],
    }
    assert json.loads(json.dumps(source)) == source


def test_cells_are_exact(write):
    path = write(f"a_tp,a_wrong,b_tp,b_wrong\n{10**400},3.0,+2,true\n")
    assert tables(read(path, statistic="f1")) == ([[10**400, 3]], [[2, 1]])


def test_variants_of_a_statistic(write):
    path = write("new_tp,new_fp,new_fn,old_tp,old_fp,old_fn\n" + ROWS)
    for name in ("f0.5", "f2", statistic("f_beta", beta=0.5), statistic("f1", zero_division=1)):
        assert tables(read(path, statistic=name)) == TWO


def test_clusters_are_read_with_the_counts(write):
    path = write("doc,n_tp,n_fp,n_fn,o_tp,o_fp,o_fn\nx,3,1,0,2,2,1\nx,2,0,1,2,1,1\n")
    pairs = read(path, clusters="doc", statistic="f1")
    assert (tables(pairs), pairs.clusters) == (TWO, ("x", "x"))
    with pytest.raises(ReadError, match="column 'n_fp' holds the clusters"):
        read(path, clusters="n_fp", statistic="f1")
    bare = write("3 1 7 2 3\n2 1 7 2 2\n", "bare.txt")
    pairs = read(bare, clusters=3, statistic="f1")
    assert (tables(pairs), pairs.clusters) == (([[3, 1], [2, 1]], [[2, 3], [2, 2]]), ("7", "7"))


@pytest.mark.parametrize(
    ("name", "p"), [("f1", 0.03144), ("precision", 0.6099), ("recall", 0.000648)]
)
def test_taggers_that_find_proper_nouns(name, p):
    path = DATA / "ud_en_ewt_propn.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not bundled here")
    pairs = read(path, a="crf_rich", b="crf_base", statistic=name)
    result = exact_perm_test(pairs, statistic=name)
    assert result.pvalue == pytest.approx(p, rel=5e-4)
    assert (result.n, result.names) == (2077, ("crf_rich", "crf_base"))


# ---- what is refused ---------------------------------------------------------------------------

X_Y = "x_tp,x_fp,x_fn,y_tp,y_fp,y_fn\n"
BAD_FILES = {
    "negative": (
        X_Y + "1,2,3,4,5,6\n1,-2,3,4,5,6\n",
        "f1",
        ["line 3, column 'x_fp': -2 is below 0"],
    ),
    "decimal": (
        X_Y + "1,2,3,4,0.5,6\n",
        "f1",
        ["line 2, column 'y_fp': 0.5 is not a whole number"],
    ),
    "missing": (X_Y + "1,2,3,4,5,\n", "f1", ["line 2, column 'y_fn': '' is a missing score"]),
    "text": (X_Y + "1,2,many,4,5,6\n", "f1", ["line 2, column 'x_fn': 'many' is not a number"]),
    "first bad line": (X_Y + "1,2,3,x,5,6\ny,2,3,4,5,6\n", "f1", ["line 2, column 'y_tp': 'x'"]),
    "no header": ("1 2 3 4\n5 6 -7 8\n", "f1", ["line 2, column 3: -7 is below 0"]),
    "another count": (X_Y + "1,2,3,4,5,6\n", "mcc", ["no tn of system 'x'", "4 (tp, fp, fn, tn)"]),
    "incomplete": ("x_tp,x_fp,x_fn,y_tp\n1,2,3,4\n", "f1", ["no incorrect of system 'y'"]),
    "one system": ("x_tp,x_fp,x_fn\n1,2,3\n", "f1", ["only one system, 'x'", "systems are 'x'"]),
    "no systems": ("a,b,c,d\n1,2,3,4\n", "f1", ["no system that has counts", "A_tp, A_fp, A_fn"]),
    "many systems": (WIDE, "f1", ["3 systems ('old', 'hmm', 'crf_x')", "choose two as a and b"]),
    "unlike": (
        "x_tp,x_fp,x_fn,y_tp,y_wrong\n1,2,3,4,5\n",
        "f1",
        ["tp, fp, fn of 'x' but tp, incorrect of 'y'; both need the same counts"],
    ),
    "twice": (
        "x_tp,TP.x,x_wrong,y_tp,y_wrong\n1,2,3,4,5\n",
        "f1",
        ["column 'x_tp' and column 'TP.x' both hold tp of 'x'; rename one of them"],
    ),
    "width": ("1,2,3,4,5\n", "f1", ["5 columns and no header", "2 (tp, incorrect)", "1,2,3"]),
    "width of others": ("1,2,3,4\n", "precision", ["4 columns and no header", "3 (tp, fp, fn)"]),
    "errors of nothing": (
        "x_errors,y_errors,x_length,y_length\n1,2,4,4\n0,1,2,0\n",
        "wer",
        ["line 3: 'y' has errors = 1 but length = 0", "give both systems the same"],
    ),
}


@pytest.mark.parametrize(("content", "name", "parts"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_file(write, content, name, parts):
    path = write(content)
    with pytest.raises(ReadError) as caught:
        read(path, statistic=name)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in parts:
        assert part in message.removeprefix(str(path))


BAD_CHOICES = {
    "unknown": (
        ("crf", "hmm"),
        "no columns of system 'crf' (did you mean 'crf_x'?); its systems are",
    ),
    "far": (("svm", "hmm"), "no columns of system 'svm'; its systems are 'old', 'hmm', 'crf_x'"),
    "a column": (("hmm_tp", "old"), "no columns of system 'hmm_tp' (did you mean 'hmm'?)"),
    "empty": (("", "hmm"), "no columns of system ''"),
    "only a": (("hmm", None), "a is given without b"),
    "only b": ((None, "hmm"), "b is given without a"),
    "the same": (("hmm", "hmm"), "column 'hmm_tp' is in both a and b; choose two systems"),
    "the same by number": (("hmm", [5, 6, 4]), "column 'hmm_tp' is in both a and b"),
    "unlike": (("hmm", "old"), "tp, fp, fn of 'hmm' but tp, incorrect of 'old'"),
    "one number": ((5, 7), "a lists 1 column, but 'f1' needs 3 (tp, fp, fn) or 2"),
    "one number as text": (("hmm", "7"), "b lists 1 column, but 'f1' needs"),
    "five": (("hmm", [1, 2, 3, 4, 5]), "b lists 5 columns, but 'f1' needs 3 (tp, fp, fn) or 2"),
    "no such number": (("hmm", "7,8,99"), "no column '99'; its columns are"),
    "no such name": (("hmm", ["crf_x_tp", "crf_x_fb", 9]), "(did you mean 'crf_x_fp'"),
    "a hole": (("hmm", "7,,9"), "no column ''"),
    "one twice": (([2, 2, 4], "crf_x"), "a lists column 'n' 2 times; list each once"),
    "order": (
        ([5, 4, 6], "crf_x"),
        "a lists column 'hmm_fn' where fp belongs; list the columns in the order tp, fp, fn",
    ),
    "another count": (("hmm", [7, 8, 12]), "b lists column 'crf_x_tn' where fn belongs"),
    "one kind for two": ((["hmm_tp", "hmm_fp"], "old"), "'hmm_fp' where incorrect belongs"),
}


@pytest.mark.parametrize(("choice", "part"), BAD_CHOICES.values(), ids=BAD_CHOICES.keys())
def test_bad_choice_of_columns(write, choice, part):
    path = write(WIDE)
    with pytest.raises(ReadError) as caught:
        read(path, a=choice[0], b=choice[1], statistic="f1")
    assert part in str(caught.value)


def test_systems_need_a_header(write):
    with pytest.raises(ReadError, match=r"no header names a system 'x'; .*columns 1 to 4"):
        read(write("1 2 3 4\n"), a="x", b="y", statistic="f1")


@pytest.mark.parametrize("name", ["macro_f1", "micro_recall", "macro_f2"])
def test_counts_by_class_are_for_python(write, name):
    wanted = rf"exact_perm_test\(u, v, statistic='{name}'\) takes arrays of shape \(N, classes, 3\)"
    with pytest.raises(ValueError, match=wanted):
        read(write(X_Y + "1,2,3,4,5,6\n"), statistic=name)


def test_scores_of_a_table_of_counts(write):
    with pytest.raises(ReadError, match=r"no column 'hmm' .*such as 'f1' \(--metric f1\)$"):
        read(write(WIDE), a="hmm", b="crf_x", statistic="accuracy")
