"""Tables of every source are the same cells, or are refused with the place and the remedy."""

import csv
import gzip
import io
import json
import pickle
import sys
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from permtest.readers import files
from permtest.readers.files import (
    MAX_DIGITS,
    File,
    ReadError,
    as_score,
    kind_of,
)
from permtest.readers.tables import load, table_of


def table(content, name="scores.csv"):
    return table_of(File(name, content.encode() if isinstance(content, str) else content))


def cells(found):
    return found.names, found.columns


def saved(write, *arguments, **options):
    """The bytes that a function writes into a file."""
    out = io.BytesIO()
    write(*arguments, out, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        "x,y\n3,2\n5,4\n0,7\n",
        "x\ty\n3\t2\n5\t4\n0\t7\n",
        "x|y\n3|2\n5|4\n0|7\n",
        "  x y\n  3   2\n 5    4 \n0 \t 7\n",
        'x, "y"\r\n3, 2\r\n5,4\r\n0,7\r\n',
        "x,y\n3,2\n5,4\n0,7".encode("utf-16"),
        "x,y\n3,2\n5,4\n0,7\n\n  \n\n",
        "\ufeffx,y\n3,2\n5,4\n0,7",
        "sep=;\nx;y\n3;2\n5;4\n0;7\n",
        '"sep=\t"\r\nx\ty\r\n3\t2\r\n5\t4\r\n0\t7',
    ],
)
def test_text_in_columns(content):
    found, above = table(content), "sep=" in str(content)
    assert cells(found) == (["x", "y"], [["3", "5", "0"], ["2", "4", "7"]])
    assert [found.place(i) for i in range(3)] == [f"line {i + above}" for i in (2, 3, 4)]


@given(
    rows=st.lists(st.tuples(*[st.text("ab \"',;|\t\né1.") for _ in range(3)]), min_size=1),
    separator=st.sampled_from("\t;,|"),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_is_written_is_read_back(rows, separator, newline):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=newline, quoting=csv.QUOTE_ALL)
    writer.writerows([("p", "q", "r"), *rows])
    last = max((i for i, row in enumerate(rows) if any(map(str.strip, row))), default=-1)
    assume(last >= 0)
    found, rows = table(out.getvalue()), rows[: last + 1]  # without lines of empty cells at the end
    lines = [2 + sum(map(str.count, sum(rows[:i], ()), "\n" * 3 * i)) + i for i in range(len(rows))]
    assert list(zip(*found.columns, strict=True)) == [tuple(map(str.strip, row)) for row in rows]
    assert [found.place(i) for i in range(len(rows))] == [f"line {line}" for line in lines]


BAD_TEXT = {
    "comment": ("# scores\n3 2\n", "line 1: a comment; remove the line"),
    "comments": ("# scores\n# of May\nid,new,old\nx,1,0\n", "line 1: a comment; remove the line"),
    "comment, with commas": ("# of May, two\nid,new,old\nx,1,0\n", "line 1: a comment"),
    "separator": ("sep=;\nid;new\nx,3\n", "line 3: 1 column, but line 2 has 2"),
    "empty": ("\ufeff\n \n", "the file is empty"),
    "longer line": ("3,2\n5,4,1\n", "line 2: 3 columns, but line 1 has 2"),
    "blank line inside": ("a,b\n3,2\n\n5,4\n", "line 3: a blank line; write the missing"),
    "header or item": ("s1,3,2\ns2,5,4\n", r"line 1: text \('s1'\) and numbers \('3'\)"),
    "same names": ("a,b,a\n1,2,3\n", "2 columns are called 'a'; rename all but one"),
    "open quote": ('a,b\n3,2\n"5,4\n6,7\n', "line 3: not CSV .*close every quote"),
    "not UTF-8": (b"a,b\n3,2\n5,\xe9\n", "line 3: byte 0xe9 is not UTF-8.*save it as UTF-8"),
    "columns": ("0," * 10_000 + "0\n", "has 10001 columns, more than 10000; keep"),
}


ROWS = [{"id": "x", "a": 3, "b": 2}, {"id": "y", "a": 5, "b": 4}]
WIDE = (["id", "a", "b"], [["x", "y"], [3, 5], [2, 4]])
WAYS = {
    "list": (json.dumps(ROWS), "record 2"),
    "lines": ("\r\n".join(map(json.dumps, ROWS)) + "\r\n\r\n", "line 2"),
    "indented objects": ("\n".join(json.dumps(row, indent=1) for row in ROWS), "line 6"),
    "columns": (json.dumps({"id": ["x", "y"], "a": [3, 5], "b": [2, 4]}), "record 2"),
    "results": (json.dumps({"task": "t", "config": {"k": 1}, "results": ROWS}), "record 2"),
    "split": (json.dumps({"columns": WIDE[0], "data": [["x", 3, 2], ["y", 5, 4]]}), "record 2"),
}


@pytest.mark.parametrize(("text", "place"), WAYS.values(), ids=WAYS.keys())
def test_ways_to_write_records(text, place):
    found = table(text, "scores.json")
    assert (cells(found), found.place(1)) == (WIDE, place)


def test_json_keeps_what_is_written():
    text = '[{"a": 0.10, "b": 12345678901234567890123, "n": {"x": {"y": true}, "l": [1, {}]}},'
    found = table(text + '\n{"a": NaN, "b": 1e5000, "t": " é "}, {"a": 1e-7}]')
    assert found.names == ["a", "b", "n.x.y", "n.l", "t"]
    assert found.columns[1:] == [
        [12345678901234567890123, "1e5000", None],
        [True, None, None],
        [[1, {}], None, None],
        [None, "é", None],
    ]
    first, second, third = found.columns[0]
    assert (str(first), second, str(third)) == ("0.10", None, "1E-7")
    assert table("[[3, 2], [5, 4]]").columns == [[3, 5], [2, 4]]
    assert table("[3, 5]").columns == [[3, 5]]
    assert table('{"a": [1, 2], "model": "x"}').columns == [[1, 2], ["x", "x"]]


BAD_JSON = {
    "broken": ('[{"a": 1, "b": 2},\n{"a": 1, "b": tru}]', r"line 2: not JSON \(Expecting value\)"),
    "never closed": ('{"a": 1}\n{"a": 2\n{"a": 3}\n', r"line 2: not JSON"),
    "a list twice": (
        '{"a": [1, 2], "a": [1, 2]}',
        "line 1: 'a' is twice in one object; remove one",
    ),
    "one object": ('{"s1": 0.5}', "one object, but its columns are not lists .*orient='records'"),
    "lengths": ('{"a": [1, 2], "b": [1]}', r"of the same length \('a' 2, 'b' 1\)"),
    "a number": ('[{"a": 1}, 3]', "record 2: '3' is not of the same kind as the first; write a"),
    "deep": ("[" * 10**5, "nested too deeply"),
}


@pytest.mark.parametrize(("content", "part"), [*BAD_TEXT.values(), *BAD_JSON.values()])
def test_what_is_no_table(content, part):
    with pytest.raises(ReadError, match=rf"(?s)^scores\.csv.*{part}"):
        table(content)


@given(st.text("0123456789+-.eE_, truefalsn\u0663", max_size=6))
def test_a_cell_is_an_exact_number_or_refused(text):
    if kind_of(text) in ("integer", "decimal"):
        words = {"true": 1, "false": 0}
        word = text.strip().lower()
        assert as_score(text) == (words[word] if word in words else Decimal(word))
    else:
        with pytest.raises(ValueError, match="; "):  # behind it, the remedy
            as_score(text)
    for cell in ("NaN", None, "-", "inf", "1,234", "1e-99999999999999999999", 10**MAX_DIGITS):
        with pytest.raises(ValueError, match="; "):
            as_score(cell)


A = {"a": [3, 5], "b": [2, 4]}
TYPED = {
    "integers": (pd.Series([2**62 + 1, -3]), [2**62 + 1, -3]),
    "booleans": (pd.Series([True, None], dtype="boolean"), [True, None]),
    "floats": (pd.Series([0.1, np.nan]), [0.1, None]),
    "thirds": (pd.Series([1 / 3, np.nan], dtype="float32"), [1 / 3, None]),
    "decimals": (pd.Series([Decimal("1E+3"), None]), [Decimal(1000), None]),
    "categories": (pd.Series(["x", "y "], dtype="category"), ["x", "y"]),
    "dates": (pd.Series([pd.Timestamp(2020, 1, 2), pd.NaT]), ["2020-01-02 00:00:00", None]),
    "polars": (pl.Series("0", [1 / 3, None], dtype=pl.Float32), [1 / 3, None]),
    "an array": (np.array([0.1, 7], dtype=np.float32), [0.1, 7.0]),
    "Arrow": (pa.table({"0": pa.array([2**62 + 1, None])}), [2**62 + 1, None]),
    "narrow of Arrow": (pa.table({"0": pa.array([1 / 3, 0], pa.float32())}), [1 / 3, 0.0]),
}


@pytest.mark.parametrize(("source", "wanted"), TYPED.values(), ids=TYPED.keys())
def test_nothing_is_lost(source, wanted):
    found = table_of(load(source))
    (column,) = found.columns
    assert (column, found.names) == (wanted, None if isinstance(source, np.ndarray) else ["0"])
    assert list(map(type, column)) == list(map(type, wanted))
    if isinstance(source, np.ndarray):
        files = {"a.npy": saved(lambda array, out: np.save(out, array), source)}
    else:
        series = isinstance(source, pd.Series | pl.Series)
        frame = source.rename("0").to_frame() if series else source
        frame = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
        frame = pa.Table.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame
        writers = {"a.parquet": parquet.write_table, "a.feather": feather.write_feather}
        files = {name: saved(write, frame) for name, write in writers.items()}
    for name, data in files.items():
        assert cells(table(data, name)) == cells(found), name


LEVELS = pd.MultiIndex.from_tuples([("d", 1), ("d", 2)], names=["doc", None])
INDEXES = [
    (pd.DataFrame(A), {}),
    (pd.DataFrame(A | {"c": [0, 1]}).iloc[1:], {"index": [1]}),
    (pd.DataFrame(A, index=pd.RangeIndex(2, name="row")), {"row": [0, 1]}),
    (pd.DataFrame(A, index=LEVELS), {"doc": ["d", "d"], "level 1": [1, 2]}),
]


@pytest.mark.parametrize(("frame", "index"), INDEXES)
def test_the_index_of_a_frame(frame, index):
    found = table_of(load(frame, 2))
    assert dict(zip(found.names, found.columns[: len(index)], strict=False)) == index
    assert found.index == tuple(range(len(index)))
    assert (found.place(0), found.file.path) == ("row 0", "frame 2")
    assert found.file.sha256 == load(frame.copy()).sha256
    assert table(saved(frame.to_parquet), "a.parquet").names == found.names


def test_names_and_nested_columns():
    counts = pd.MultiIndex.from_tuples([("new", "tp"), ("old", "tp")])
    assert table_of(load(pd.DataFrame([[1, 2]], columns=counts))).names == ["new_tp", "old_tp"]
    nested = {"m": [{"acc": 1, "f": [1]}, {"acc": 0, "f": []}], "k": ["x", "y"]}
    for frame in (pd.DataFrame(nested), pl.DataFrame(nested), pa.table(nested)):
        found = table_of(load(frame))
        assert cells(found) == (["m.acc", "m.f", "k"], [[1, 0], [[1], []], ["x", "y"]])


BAD_SOURCES = [
    (pd.DataFrame({"a": [], "b": []}), "^frame 1: has no rows or no columns"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns are called 'a'; rename"),
    (np.zeros((2, 2, 2)), "^array 1: cannot be made a table .*; pass"),
    ([{(1, 2): 3}], "^records 1: cannot be written as JSON .*; pass"),
]


@pytest.mark.parametrize(("source", "part"), BAD_SOURCES)
def test_bad_source(source, part):
    with pytest.raises(ReadError, match=part):
        table_of(load(source))


SOURCES = {
    "a buffer": (io.StringIO("a,b\n1,2\n"), ["a", "b"], [["1"], ["2"]]),
    "records": ([{"a": {"b": np.float32(1)}}, {"a": 1}], ["a.b", "a"], [["1.0", None], [None, 1]]),
    "columns": ({"a": np.array([1]), "b": pd.Series([0.5])}, ["a", "b"], [["1"], ["0.5"]]),
    "rows": ([(1, 2), (3, 4)], None, [[1, 3], [2, 4]]),
    "an array": (np.array([[1, 2], [3, 4]]), None, [[1, 3], [2, 4]]),
    "a batch": (pa.RecordBatch.from_pydict(A), ["a", "b"], list(A.values())),
}  # fmt: skip


@pytest.mark.parametrize(("source", "names", "columns"), SOURCES.values(), ids=SOURCES.keys())
def test_what_can_be_handed_over(source, names, columns):
    assert cells(table_of(load(source))) == (names, columns)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    assert cells(table_of(load("-"))) == (["a", "b"], [["1"], ["2"]])


TEXT = b"a,b\n1,2\n"


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(x=data)], ids=["gz", "zip"])
def test_compressed(pack, monkeypatch, tmp_path):
    (tmp_path / "scores.csv.gz").write_bytes(pack(TEXT))
    file = load(tmp_path / "scores.csv.gz")
    assert (cells(table_of(file)), file.stem) == ((["a", "b"], [["1"], ["2"]]), "scores")
    assert file.sha256 == File("x", pack(TEXT)).sha256 != File("x", TEXT).sha256
    assert File("x.json", pack(b'[{"a": 1}]')).document == [{"a": 1}]
    with pytest.raises(ReadError, match=r"^x: .*; (save|unpack)"):
        table(pack(TEXT)[:-12], "x")
    monkeypatch.setattr(files, "LARGEST", 10**4)
    with pytest.raises(ReadError, match=r"has more than .*, compressed or not; keep"):
        File("bomb", pack(b"0" * 10**5))


def test_archives():
    assert table(zipped(**{"x.csv": TEXT, "__MACOSX/._x.csv": b"\0"})).columns == [["1"], ["2"]]
    with pytest.raises(ReadError, match="an archive of 2 files and not a workbook; unpack it"):
        table(zipped(x=TEXT, y=TEXT))
    arrays = saved(lambda out: np.savez(out, a=[1, 2], b=[0.5, np.nan]))
    assert cells(table(arrays)) == (["a", "b"], [[1, 2], [0.5, None]])
    assert table(saved(lambda out: np.savez(out, x=[[1, 2]]))).columns == [[1], [2]]
    with pytest.raises(ReadError, match=r"no table.*; save one array"):
        table(saved(lambda out: np.savez(out, x=[1], y=[1, 2])))


class Danger:
    def __reduce__(self):
        return pytest.fail, ("executed",)


BAD_DATA = {
    "objects": (saved(lambda out: np.save(out, np.array([Danger()]))), "objects, which could run"),
    "pickle": (pickle.dumps([Danger()]), "a pickle, which could run"),
    "old": (b"\xd0\xcf\x11\xe0x", "in the old format; save"),
    "unknown": (b"ab\x00\x00\n", "is a binary file"),
    "parquet": (b"PAR1x", "is a damaged"),
    "array": (b"\x93NUMPYx", "is damaged"),
    "archive": (b"PK\x03\x04x", "damaged"),
}


@pytest.mark.parametrize(("data", "part"), BAD_DATA.values(), ids=BAD_DATA.keys())
def test_nothing_is_executed_and_nothing_crashes(data, part):
    with pytest.raises(ReadError, match=f"^x: .*{part}"):
        table(data, "x")


def test_workbooks():
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame(
        {"id": ["x", "y"], "new": [3, 0.5], "old": [True, None], "day": pd.Timestamp(0)}
    )

    def book(**sheets):
        out = io.BytesIO()
        with pd.ExcelWriter(out) as writer:
            for name, one in sheets.items():
                one.to_excel(writer, sheet_name=name, index=False, header=name != "bare")
        return out.getvalue()

    one, two = book(dev=frame, empty=pd.DataFrame()), book(dev=frame, test=frame[:1])
    found = table(one, "r.xlsx")
    assert found.columns[:3] == [["x", "y"], [3, 0.5], [True, ""]]
    assert (found.names[0], found.place(1)) == ("id", "row 3 of sheet 'dev'")
    assert table(two, "r.xlsx#test").columns[0] == ["x"]
    assert File("r.xlsx#test", two).stem == "test"
    assert table(book(bare=frame[["new", "old"]])).names is None
    for name in ("r.xlsx", "r.xlsx#prod"):
        with pytest.raises(ReadError, match=r"sheets 'dev', 'test'; name one .* as r\.xlsx#dev"):
            table(two, name)
    gap = book(dev=pd.DataFrame({"a": [1, None, 2]}))
    with pytest.raises(ReadError, match="row 3 of sheet 'dev': is blank; remove it"):
        table(gap, "r.xlsx")
