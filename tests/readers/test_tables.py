"""Files of all kinds become the same table, and bad ones are refused."""

import gzip
import io
import json
import zipfile
from datetime import datetime
from shlex import split

import numpy as np
import pandas as pd
import pytest

import permtest as pt
from permtest.readers import File, ReadError, tables

ROWS = [("a 1", "0.5", "1"), ("b", "1.25", "0"), ("c", "-3", "2")]
CSV = "key,new,old\n" + "".join(f"{','.join(row)}\n" for row in ROWS)
FRAME = pd.DataFrame({"key": ["a 1", "b", "c"], "new": [0.5, 1.25, -3], "old": [1, 0, 2]})


def binary(method, **options):
    stream = io.BytesIO()
    getattr(FRAME, method)(stream, **options)
    return stream.getvalue()


def zipped(*members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


KINDS = {
    "comma": CSV.encode(),
    "semicolon": CSV.replace(",", ";").encode(),
    "decimal commas": CSV.replace(",", ";").replace(".", ",").encode(),
    "tab": CSV.replace(",", "\t").encode(),
    "blanks at ends": CSV.replace(",", "\t").replace("\n", "  \n").encode(),
    "CRLF": CSV.replace("\n", "\r\n").encode(),
    "no last line end": CSV.rstrip().encode(),
    "empty lines at the end": (CSV + "\n\n").encode(),
    "mark": CSV.encode("utf-8-sig"),
    "quoted": CSV.replace("a 1", '"a 1"').encode(),
    "gzip": gzip.compress(CSV.encode()),
    "zip": zipped(("x.csv", CSV)),
    "index of pandas": ("," + CSV[4:]).encode(),
    "Excel": binary("to_excel", index=False),
    "parquet": binary("to_parquet"),
    "feather": binary("to_feather"),
    "JSON": FRAME.to_json(orient="records").encode(),
    "JSON lines": FRAME.to_json(orient="records", lines=True).encode(),
    "nested": json.dumps(
        [{"key": k, "of": {"new": float(x), "old": int(y)}} for k, x, y in ROWS]
    ).encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_the_same_table(kind):
    key, a, b = (1 if kind == "index of pandas" else "key"), "new", "old"
    a, b = ("of.new", "of.old") if kind == "nested" else (a, b)
    scores = pt.read(File("some.file", KINDS[kind]), id=key, a=a, b=b)
    assert scores.ids == ("a 1", "b", "c")
    assert [x / scores.scale for x in scores.u.tolist()] == [0.5, 1.25, -3]
    assert [x / scores.scale for x in scores.v.tolist()] == [1, 0, 2]


def test_text_of_windows_and_standard_input(monkeypatch):
    text = "Größe;a;b\nüber;1,5;2\nkurz;3;4,5\n".encode("cp1252")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    for source in (File("x.csv", text), "-"):
        assert pt.read(source, id="Größe", a=2, b=3).ids == ("über", "kurz")


def test_a_workbook_has_one_sheet_with_the_rows_that_people_see():
    stream = io.BytesIO()
    with pd.ExcelWriter(stream) as book:
        FRAME.assign(new=["1", "good", "2"]).to_excel(book, sheet_name="Scores", index=False)
        pd.DataFrame().to_excel(book, sheet_name="Empty")
    with pytest.raises(ReadError, match="row 3, column new: 'good' is no number"):
        pt.read(File("x.xlsx", stream.getvalue()), id="key", a="new", b="old")
    with pd.ExcelWriter(stream, mode="a") as book:
        FRAME.to_excel(book, sheet_name="Second", index=False)
    with pytest.raises(ReadError, match="it has 2 sheets with cells, Scores, Second: keep one"):
        pt.read(File("x.xlsx", stream.getvalue()), id="key", a="new", b="old")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id;a;b\nx;1,5;1.234\ny;2,5;3\n", "'1.234' is no number beside decimal commas"),
        ('id,note,a,b\nx,"two\nlines",1,2\ny,o,1,no\n', "row 3, column b: 'no' is no number"),
        ('[{"id": 1, "a": "good", "b": 2}]', "row 1, column a: 'good' is no number"),
        ("", "line 1 is empty"),
        ("id,a,b\n", "it has a header and no lines"),
        ("id,a,a\nx,1,2\n", "two columns called 'a'"),
        ("id,a,b\nx,1,2\ny,1,2,3\n", "Expected 3 fields in line 3, saw 4"),
        ("id,a,b\nx,1,2\n\ny,1,2\n", "line 3 is empty"),
        ('id,a,b\nx,1,"2\n', "EOF inside string"),
        ("item,1,2\nx,0,1\ny,1,1\n", "is line 1 a header"),
        ("id,a,b\nx,\0,2\n", "it is no text"),
        ("{]", "cannot be read .JSONDecodeError"),
        ('[{"a": 1, "a": 2}]', "an object has a key twice, of a"),
        ("[" * 100_000, "cannot be read .RecursionError"),
        ("[]", "it holds no list of records"),
        ('[{"a": 1}, 2]', "cannot be read"),
        ("\x93NUMPY\1\0v\0", "it is no text .* save the table as CSV"),
        ("PK\3\4 no archive", "cannot be read .BadZipFile"),
        ("\x1f\x8b no gzip", "cannot be read .BadGzipFile"),
    ],
)
def test_bad_files_are_refused_with_a_reason(text, why):
    with pytest.raises((ReadError, ImportError), match=why):
        pt.read(File("bad.file", text.encode("latin-1")), a="a", b="b")


def test_texts_of_a_feather_file_are_inside_it():
    good = data = binary("to_feather", compression="uncompressed")
    for kind in (np.int32, np.int64):  # where the texts end: as pandas wrote them, and now does
        ends, wrong = (np.array(x, dtype=kind).tobytes() for x in ([3, 4, 5], [2**30, 4, 5]))
        data = data.replace(ends, wrong)
    assert data != good
    with pytest.raises(ReadError, match=r"it cannot be read .ArrowInvalid"):
        pt.read(File("x.feather", data), id="key", a="new", b="old")


def test_limits_are_stated(monkeypatch):
    monkeypatch.setattr(tables, "MOST_BYTES", 1000)
    for data in (b"x" * 1001, gzip.compress(b"x" * 1001), zipped(("x.csv", "x" * 1001))):
        with pytest.raises(ReadError, match="it is too large: at most"):
            pt.read(File("x.csv", data))
    monkeypatch.setattr(tables, "MOST_CELLS", 5)
    for kind in ("comma", "JSON", "parquet"):
        with pytest.raises(ReadError, match="it is too large: at most"):
            pt.read(File("x.csv", KINDS[kind]))


def test_records_are_where_they_are_said_to_be():
    rows = [{"qid": k, "ok": {"new": x, "old": y}} for k, x, y in ROWS]
    data = json.dumps({"config": {"seed": 1}, "runs": [{"items": rows}], "all": rows[:2]}).encode()
    with pytest.raises(ReadError, match=r"say where .*\n *1 *all *2 records *qid, ok\n"):
        pt.read(File("x.json", data))
    scores = pt.read(File("x.json", data), records="runs.0.items", a="ok.new", b="ok.old")
    assert scores.ids == ("a 1", "b", "c")
    with pytest.raises(ReadError, match="say where the records are"):
        pt.read(File("x.json", data), records="runs.1.items")


def test_hostile_names_reach_no_terminal(command_line, tmp_path):
    (tmp_path / "x.csv").write_text("na\x1b[31mme,new\u202e,old\nx\x07,1,2\ny,3,4\n")
    err = command_line("compare", "x.csv")[2]
    assert err.replace("\n", "").isprintable()
    code, out, _ = command_line(*split(err.partition("For example:  permtest ")[2]))
    assert (code, out.replace("\n", "").isprintable()) == (0, True)


def test_dates_and_objects_of_frames_are_text():
    frame = pd.DataFrame({"id": [datetime(2026, 1, 2), "x"], "a": [1, 2], "b": [np.nan, 3]})
    assert pt.read(frame, missing="zero").ids == ("2026-01-02 00:00:00", "x")
    with pytest.raises(ReadError, match="the id is empty"):
        pt.read(frame.assign(id=[None, "x"]))
