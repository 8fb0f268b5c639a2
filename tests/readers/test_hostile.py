"""Whatever is in a file: pairs, or one line that names the file and says what to do."""

import os
import re

import fuzz_readers
import pytest

from permtest.readers import File, ReadError, files, recognise

#: What terminals obey, what ends a line, and what no encoding can hold.
BAD = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def message(error):
    """What an error says, which must be one short line that says what to do."""
    said = str(error.value if hasattr(error, "value") else error)
    assert len(said) <= 1000
    assert BAD.search(said) is None
    assert ";" in said
    return said


@pytest.mark.parametrize("kind", fuzz_readers.KINDS)
def test_no_file_breaks_a_reader(kind, capsys):
    outcomes = {fuzz_readers.attempt(f"{kind}:{number}", kind) for number in range(60)}
    assert outcomes == {"read", "refused"}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", fuzz_readers.KINDS)
def test_files_as_programs_write_them_are_taken(kind):
    pairs = fuzz_readers.pairs_of(fuzz_readers.KINDS[kind]([("1", "0"), ("0", "1"), ("1", "1")]))
    assert len(pairs) == 3
    same = (pairs.u == pairs.v).reshape(3, -1).all(axis=1)
    assert same.tolist() == [False, False, True]


def test_the_search_finds_tracebacks_and_silent_errors(monkeypatch):
    cells = [("1", "0"), ("0", "1")]

    def swapped(cells):
        (name, data), *_ = fuzz_readers.KINDS["commas"](cells)
        return [(name, data.replace(b",7,", b",8,"))]

    assert fuzz_readers.is_silent(swapped, cells, 0, "7")
    assert not fuzz_readers.is_silent(swapped, cells, 0, "6")
    monkeypatch.setattr(fuzz_readers, "recognise", lambda *_, **__: 1 / 0)
    assert fuzz_readers.attempt("0", "bare").startswith("TRACEBACK 0\n")


ONCE = {
    "an exponent that is a bomb": ("a.csv", b"a,b\n1e-0533333333333333,1\n", "scientific notation"),
    "the same in JSON": ("a.json", b'[{"a": 1e-99999999999999999999, "b": 1}]', "scientific"),
    "an endless integer": ("a.json", b'[{"a": 1' + b"0" * 5000 + b', "b": 1}]', "digits"),
    "nothing but returns": ("a.csv", b"\r" * 11 * 10**6, "the file is empty; "),
    "nothing but commas": ("a.csv", b",\n" * 6 * 10**6, "GiB of memory"),
    "closed brackets": ("a.json", b"[" * 900 + b"]" * 900, "; "),
    "systems without end": (
        "a.csv",
        b"id,system,score\n" + b"".join(b"x,s%d,1\n" % i for i in range(1001)),
        "more than 1000 systems",
    ),
    "an escape sequence": ("\x1b[2J.csv", b"a,b\n1,\x1b[2J\n", r"'\x1b[2J' is not a number"),
    "half a character": ("a.json", b'[{"a": "\\ud800", "b": 1}]', r"'\ud800' is not a number"),
    "a long name": ("x" * 4000, b"a,b\n1,x\n", " ... "),
}


@pytest.mark.parametrize(("name", "data", "part"), ONCE.values(), ids=ONCE.keys())
def test_what_broke_a_reader_once(name, data, part):
    with pytest.raises(ReadError) as caught:
        recognise(File(name, data)).pairs("a", "b")
    assert part in message(caught)


def test_paths_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 2**20)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(2**40)
    problems = {
        "loop": "cannot be opened",
        "sparse": "has more than 1 MiB",
        "": "this is a folder",
        "none\x1b[2J\n": "there is no such file",
        "zero\0": "cannot be opened",
        "x" * 3000: "cannot be opened",
        "/dev/zero": "has more than 1 MiB",
    }
    for name, problem in problems.items():
        with pytest.raises(ReadError, match=problem) as caught:
            File.load(os.path.join(tmp_path, name))
        message(caught)
