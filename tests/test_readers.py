"""Files of many shapes are read exactly, or refused with the place and the remedy."""

import csv
import hashlib
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest.readers import ReadError, read
from permtest.readers.cells import MAX_DIGITS, as_score, kind_of


@pytest.fixture
def write(tmp_path):
    """Put text or bytes into a file and return its path."""

    def write(content: str | bytes, name: str = "scores.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def columns(pairs):
    return pairs.u.tolist(), pairs.v.tolist()


# ---- what is read ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "3,2\n5,4\n0,7\n",
        "3\t2\n5\t4\n0\t7\n",
        "3;2\n5;4\n0;7\n",
        "3 2\n5 4\n0 7\n",
        "  3   2\n 5    4 \n0 \t 7\n",
        "3, 2\n5, 4\n0, 7\n",
        "3,2\r\n5,4\r\n0,7\r\n",
        "3,2\r5,4\r0,7\r",
        "3,2\n5,4\n0,7",
        "3,2\n5,4\n0,7\n\n  \n\n",
        "\ufeff3,2\n5,4\n0,7\n",
        '"3","2"\n"5","4"\n"0","7"\n',
        "3.0,2.000\n5.,4\n+0,7.0\n",
    ],
)
def test_two_columns_without_a_header(write, content):
    pairs = read(write(content))
    assert columns(pairs) == ([3, 5, 0], [2, 4, 7])
    assert pairs.names == ("A", "B")


@pytest.mark.parametrize(
    "content",
    [
        "new,old\n3,2\n5,4\n",
        "\ufeffnew,old\r\n3,2\r\n5,4\r\n",
        "new;old\n3;2\n5;4\n",
        "new\told\n3\t2\n5\t4\n",
        "new  old\n  3    2\n  5    4\n",
        '"new", old\n3,2\n5,4\n',
        "id,new,old\ns1,3,2\ns2,5,4\n",
        "new,text,old\n3,a,2\n5,b,4\n",
    ],
)
def test_the_only_two_columns_of_numbers(write, content):
    pairs = read(write(content))
    assert columns(pairs) == ([3, 5], [2, 4])
    assert pairs.names == ("new", "old")


def test_columns_by_name_in_either_order(write):
    path = write("i,a,b,c\n0,3,2,1\n1,5,4,3\n")
    assert columns(read(path, a="a", b="c")) == ([3, 5], [1, 3])
    assert columns(read(path, a="c", b="a")) == ([1, 3], [3, 5])


def test_columns_by_number(write):
    path = write("0 3 2\n1 5 4\n")
    assert columns(read(path, a=2, b=3)) == ([3, 5], [2, 4])
    assert columns(read(path, a="2", b="3")) == ([3, 5], [2, 4])
    assert columns(read(path, a=np.int64(2), b=np.int8(3))) == ([3, 5], [2, 4])
    assert columns(read(path, a=[2], b=("3",))) == ([3, 5], [2, 4])
    assert read(path, a=2, b=3).names == ("A", "B")


def test_four_numbers_a_line_need_a_choice(write):
    path = write("3 1 2 2\n5 0 4 1\n")
    assert columns(read(path, a=1, b=3)) == ([3, 5], [2, 4])


def test_a_column_without_a_name_has_a_number(write):
    pairs = read(write(",old\n3,2\n5,4\n"))
    assert pairs.names == ("column 1", "old")


def test_quoted_cells_hold_separators_quotes_and_line_breaks(write):
    path = write('text,"a, first",b\n"one, ""1""\n two;\t",3,2\nthree,5,4\n')
    pairs = read(path, a="a, first", b="b")
    assert columns(pairs) == ([3, 5], [2, 4])


def test_a_separator_inside_the_text_of_another(write):
    assert columns(read(write("a;b,x,y\np;q,3,2\nr,5,4\n"))) == ([3, 5], [2, 4])


def test_booleans(write):
    path = write("True,false\nFALSE,1\n")
    assert columns(read(path)) == ([1, 0], [0, 1])


def test_integers_of_any_size_are_exact(write):
    huge = 10 ** (MAX_DIGITS - 1) + 7
    pairs = read(write(f"{2**53 + 1},{2**64}\n{-huge},{huge}\n"))
    assert columns(pairs) == ([2**53 + 1, -huge], [2**64, huge])


def test_negative_scores_are_for_the_sum(write):
    path = write("-3,2\n5,-4\n")
    assert columns(read(path)) == ([-3, 5], [2, -4])


def test_the_source_is_recorded(write):
    path = write("id\tnew\told\ns1\t3\t2\ns2\t5\t4\n", "runs.tsv")
    source = read(path).source
    assert source == {
        "file": "runs.tsv",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "loader": "table",
        "columns": ["new", "old"],
        "separator": "\t",
        "header": True,
        "rows": 2,
        "ids": "id",
        "paired_by": "row",
        "matched": 2,
        "unmatched": [0, 0],
        "unmatched_ids": [[], []],
        "dropped": 0,
        "dropped_ids": [],
        "notes": [],
    }
    assert json.loads(json.dumps(source)) == source


def test_the_source_numbers_columns_without_a_header(write):
    source = read(write("1 3 2\n2 5 4\n"), a=3, b=1).source
    assert (source["columns"], source["header"], source["separator"]) == ([3, 1], False, " ")


@given(
    rows=st.lists(st.tuples(st.integers(), st.integers()), min_size=1, max_size=20),
    separator=st.sampled_from(["\t", ";", ",", " ", "   "]),
    header=st.sampled_from([None, ("x", "y"), ("system A", "b, the other"), ('"', ";")]),
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_whatever_is_written_is_read_back(tmp_path_factory, rows, separator, header, newline, mark):
    path = tmp_path_factory.getbasetemp() / "round_trip.txt"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(mark)
        style = {"delimiter": separator[0], "lineterminator": newline}
        # With blanks, a name that holds another separator would have to be guessed.
        if header and separator[0] == " ":
            header = ("x", "y")
        if header:
            csv.writer(file, quoting=csv.QUOTE_ALL, **style).writerow(header)
        file.writelines(f"{a}{separator}{b}{newline}" for a, b in rows)
    pairs = read(path)
    assert list(zip(*columns(pairs), strict=True)) == rows
    assert pairs.names == (header or ("A", "B"))


# ---- what is refused ---------------------------------------------------------------------------

BAD_FILES = {
    "comment": ("# scores\n3 2\n", ["line 1", "a comment; remove the line"]),
    "empty": ("", ["the file is empty"]),
    "only blank lines": ("\n \n\n", ["the file is empty"]),
    "only a mark": ("\ufeff", ["the file is empty"]),
    "header only": ("a,b\n", ["has a header but no scores"]),
    "one column": ("3\n4\n", ["line 1", "only one column ('3')", "both systems' scores"]),
    "longer line": ("3,2\n5,4,1\n", ["line 2: 3 columns, but line 1 has 2"]),
    "shorter line": ("a,b\n3,2\n\n5\n", ["line 3: a blank line"]),
    "shorter last line": ("a,b\n3,2\n5\n", ["line 3: 1 column, but line 1 has 2"]),
    "line longer than header": ("a b\n1 3 2\n", ["line 2: 3 columns", "line 1 has 2"]),
    "mixed separators": ("3,2\n5\t4\n", ["line 2: 1 column, but line 1 has 2"]),
    "blank line inside": ("a,b\n3,2\n\n5,4\n", ["line 3: a blank line", "write the missing item"]),
    "line of blanks inside": ("3,2\n   \n5,4\n", ["line 2: a blank line"]),
    "blank line first": ("\n3,2\n", ["line 1: a blank line"]),
    "missing at the end": ("a,b\n3,2\n5,\n", ["line 3, column 'b': '' is a missing score"]),
    "both missing at the end": ("a,b\n3,2\n,\n", ["line 3, column 'a': '' is a missing score"]),
    "tab at the end": ("3\t2\n\t\n", ["line 2, column 1: '' is a missing score"]),
    "NaN": ("a,b\n3,NaN\n", ["line 2, column 'b': 'NaN' is a missing score", "score the item"]),
    "NA": ("3,2\nNA,4\n", ["line 2, column 1: 'NA' is a missing score"]),
    "null": ("3,2\n5,null\n", ["line 2, column 2: 'null' is a missing score"]),
    "infinity": ("3,2\n5,inf\n", ["line 2, column 2: 'inf' is not a number"]),
    "text": ("a b\n3 2\n5 four\n", ["line 3, column 'b': 'four' is not a number"]),
    "the first bad line": ("a,b\n3,x\ny,2\n", ["line 2, column 'b': 'x' is not a number"]),
    "percent": ("3,2\n5,94%\n", ["line 2, column 2: '94%' is not a number", "percent signs"]),
    "thousands": ('3,2\n5,"1,234"\n', ["line 2, column 2: '1,234' is not a number"]),
    "other digits": ("3,2\n5,٣\n", ["line 2, column 2: '٣' is not a number"]),
    "decimal comma": ("3;2\n5;0,75\n", ["line 2, column 2: '0,75' is not a number"]),
    "scientific": ("3,2\n5,1e3\n", ["line 2", "'1e3' is in scientific notation", "all its digits"]),
    "too long": (f"3,2\n5,{10**MAX_DIGITS}\n", ["line 2, column 2", "more than 1000 digits"]),
    "header or item": ("s1,3,2\ns2,5,4\n", ["line 1: text ('s1') and numbers ('3')"]),
    "same names": ("a,b,a\n1,2,3\n", ["line 1: columns 1 and 3 are all called 'a'; rename"]),
    "open quote": ('a,b\n3,2\n"5,4\n6,7\n', ["line 3: not CSV", "close every quote"]),
    "stray quote": ('a,b\n"3"1,2\n', ["line 2: not CSV"]),
    "after a long cell": ('t,a,b\n"x\ny\nz",3,2\nw,NA,2\n', ["line 5, column 'a': 'NA'"]),
    "not UTF-8": (b"a,b\n3,2\n5,\xe9\n", ["line 3: byte 0xe9 is not UTF-8", "save it as UTF-8"]),
    "not UTF-8 after a mark": (b"\xef\xbb\xbfa,b\r\n\xff,1\r\n", ["line 2: byte 0xff"]),
    "UTF-16": ("a,b\n3,2\n".encode("utf-16"), ["looks like UTF-16", "save it as UTF-8"]),
    "binary": (b"PK\x03\x04\x00\x00\n", ["is a binary file", "as CSV"]),
    "F1 counts": (
        "3 1 2 2\n5 0 4 1\n",
        ["four numbers", "such as 'f1' (--metric f1)", "by number"],
    ),
    "more counts": ("x_tp,x_fp,x_fn\n1,2,3\n", ["3 columns with numbers", "if these are counts"]),
    "three systems": ("i,a,b\n1,3,2\n", ["3 columns with numbers", "columns are 'i', 'a', 'b'"]),
    "three, no header": ("1,3,2\n2,5,4\n", ["3 columns with numbers", "columns 1 to 3"]),
    "no numbers": ("i,a,b\nx,y,z\n", ["0 columns with numbers", "choose two as a and b"]),
}


@pytest.mark.parametrize(("content", "parts"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_bad_file(write, content, parts):
    path = write(content)
    with pytest.raises(ReadError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in parts:
        assert part in message.removeprefix(str(path))


BAD_CHOICES = {
    "unknown": (("crf", "hmm"), "no column 'crf'; its columns are 'id', 'crf_rich', 'crf_base',"),
    "close": (("crf_rihc", "hmm"), "no column 'crf_rihc' (did you mean 'crf_rich'"),
    "same": (("hmm", "hmm"), "a and b are both column 'hmm'; name two columns"),
    "same by number": (("hmm", 4), "a and b are both column 'hmm'"),
    "only a": (("hmm", None), "a is given without b; name both columns"),
    "only b": ((None, "hmm"), "b is given without a; name both columns"),
    "column 0": ((0, 1), "no column 0; its columns are"),
    "too far": (("2", "5"), "no column '5'; its columns are"),
    "empty": (("", "hmm"), "no column ''; its columns are"),
    "text": (("id", "hmm"), "line 2, column 'id': 's1' is not a number"),
    "a list": ((["hmm", 2], "crf_base"), "a lists 2 columns, but 'sum' takes one score of each"),
    "no list": (("hmm", ()), "b lists 0 columns, but 'sum' takes one score of each system"),
}


@pytest.mark.parametrize(("choice", "part"), BAD_CHOICES.values(), ids=BAD_CHOICES.keys())
def test_bad_choice_of_columns(write, choice, part):
    path = write("id,crf_rich,crf_base,hmm\ns1,3,2,1\n")
    with pytest.raises(ReadError) as caught:
        read(path, a=choice[0], b=choice[1])
    assert part in str(caught.value)


def test_a_long_list_of_columns_is_cut(write):
    names = ",".join(f"c{i}" for i in range(50))
    with pytest.raises(ReadError, match=r"'c29' and 20 more$"):
        read(write(f"{names}\n{','.join('1' * 50)}\n"))


def test_negative_counts_name_the_line(write):
    path = write("a,b\n3,2\n5,-4\n")
    with pytest.raises(ReadError, match="line 3, column 'b': -4 is below 0, but accuracy counts"):
        read(path, statistic="accuracy")


def test_decimals_are_read_exactly_where_they_make_sense(write):
    path = write("a,b\n0.1,.25\n-3,1e-05\n2.0,true\n")
    pairs = read(path)
    scores = [[Fraction(int(x), pairs.scale) for x in column] for column in (pairs.u, pairs.v)]
    assert scores == [[Fraction(1, 10), -3, 2], [Fraction(1, 4), Fraction(1, 10**5), 1]]
    with pytest.raises(ReadError, match=r"line 2, column 'a': 0.1 is not a whole number, but acc"):
        read(path, statistic="accuracy")


def test_unknown_statistic_is_refused_before_the_file_is_read():
    with pytest.raises(ValueError, match="statistic='f_2' is not known"):
        read("nowhere.csv", statistic="f_2")


def test_clusters_are_read_with_the_scores(write):
    path = write("doc,a,b\nx,3,2\n 7 ,5,4\nx,0,1\n")
    pairs = read(path, clusters="doc")
    assert pairs.clusters == ("x", "7", "x")
    assert columns(pairs) == ([3, 5, 0], [2, 4, 1])
    assert pairs.source == read(path, a="a", b="b").source | {"clusters": "doc"}
    assert read(path, clusters=1, a="b", b="a").clusters == pairs.clusters
    path = write("1 3 2\n2 5 4\n", "plain.txt")
    pairs = read(path, clusters=1)
    assert (pairs.clusters, pairs.source["clusters"]) == (("1", "2"), 1)
    assert columns(pairs) == ([3, 5], [2, 4])


BAD_CLUSTERS = {
    "unknown": ("dok", "no column 'dok' (did you mean 'doc'?)"),
    "missing": ("place", "line 3, column 'place': '' is a missing label; write where the item"),
    "NaN": ("part", "line 2, column 'part': 'NaN' is a missing label"),
    "a score": ("a", "column 'a' holds the clusters; choose other columns as a and b"),
    "the same by number": (5, "column 'b' holds the clusters"),
}


@pytest.mark.parametrize(("clusters", "part"), BAD_CLUSTERS.values(), ids=BAD_CLUSTERS.keys())
def test_bad_clusters(write, clusters, part):
    path = write("doc,place,part,a,b\nx,u,NaN,3,2\nx,,2,5,4\n")
    with pytest.raises(ReadError) as caught:
        read(path, clusters=clusters, a="a", b="b")
    assert part in str(caught.value)


def test_no_such_file(tmp_path):
    with pytest.raises(ReadError, match=r"nowhere\.csv: there is no such file; check"):
        read(tmp_path / "nowhere.csv")


def test_folder(tmp_path):
    with pytest.raises(ReadError, match=r"this is a folder without what .*; name one file in it"):
        read(tmp_path)


def test_other_trouble_with_opening(tmp_path):
    with pytest.raises(ReadError, match="cannot be opened: "):
        read(tmp_path / ("x" * 1000))


@given(st.text("0123456789+-.eE_, truefalsn\u0663", max_size=6))
def test_a_cell_is_an_exact_number_or_refused(text):
    if kind_of(text) in ("integer", "decimal"):
        words = {"true": 1, "false": 0}
        word = text.strip().lower()
        assert as_score(text) == (words[word] if word in words else Decimal(word))
    else:
        with pytest.raises(ValueError, match="; "):  # behind it, the remedy
            as_score(text)
