"""Whatever is in a file: pairs whose counts add up, or one line that says what to do."""

import os
import re
import socket
import threading
from random import Random

import pytest

from permtest.readers import File, ReadError, files, recognise
from permtest.readers.table import Table

pytest.importorskip("resource", reason="the clock and the limits of a process are POSIX")

from fuzz.contract import Broken, check, message_fault
from fuzz.mutations import hostile, valid
from fuzz.seeds import MAKERS
from fuzz_readers import attempt, sources

#: Seconds until a reader is taken to hang; `tools/fuzz_readers.py` looks for slow ones.
HANG = 600

#: Cases that broke the contract once, by what they are, and what must be said of them.
ONCE = {
    "an exponent that is a bomb": ("a.csv", b"a,b\n1e-0533333333333333,1\n", "scientific notation"),
    "an exponent beyond decimals": ("a.csv", b"a,b\n1e-99999999999999999999,1\n", "scientific"),
    "the same in JSON": ("a.json", b'[{"a": 1e-99999999999999999999, "b": 1}]', "scientific"),
    "a huge exponent in JSON": ("a.json", b'[{"a": 1e99999999999999999999, "b": 1}]', "scientific"),
    "an endless integer": ("a.json", b'[{"a": 1' + b"0" * 5000 + b', "b": 1}]', "digits"),
    "nothing but returns": ("a.csv", b"\r" * 11 * 10**6, "GiB of memory"),
    "open brackets": ("a.json", b"[" * 10**5, "nested too deeply"),
    "open objects": ("a.json", b'{"a":' * 10**5, "nested too deeply"),
    "a header alone": ("a.csv", b"id,a,b\n", "no scores below it; "),
    "columns without end": (
        "a.csv",
        b",".join(b"x%d" % i for i in range(10_001)) + b"\n" + b"0," * 10_000 + b"0\n",
        "has 10001 columns, more than 10000",
    ),
    "systems without end": (
        "a.csv",
        b"id,system,score\n" + b"".join(b"x,s%d,1\n" % i for i in range(1001)),
        "one more system than 1000",
    ),
    "an escape sequence": ("\x1b[2J.csv", b"a,b\n1,\x1b[2J\n", r"'\x1b[2J' is not a number"),
    "half a character": ("a.json", b'[{"a": "\\ud800", "b": 1}]', r"'\ud800' is not a number"),
    "a long name": ("x" * 4000, b"a,b\n1,x\n", " ... "),
}


@pytest.mark.parametrize(("name", "data", "part"), ONCE.values(), ids=ONCE.keys())
def test_what_broke_the_contract_once(name, data, part):
    with pytest.raises(ReadError) as caught:
        recognise(File(name, data)).pairs()
    assert message_fault(str(caught.value), [name]) is None
    assert part in str(caught.value)
    check([File(name, data)], None, Random(0), HANG)


def test_a_cell_may_be_unprintable_where_nothing_depends_on_it():
    data = b"id,\x1b[2J,a,b\nx,\x07,1,2\n\xe2\x80\xaey,\x00,3,4\n".replace(b"\x00", b"\x0b")
    evaluation = recognise(File("a.csv", data))
    assert evaluation.pairs("a", "b").ids == ("x", r"\u202ey")
    head, body = evaluation.preview()
    assert (head[1], body[0][1], body[1][1]) == (r"\x1b[2J", r"\x07", "")


def test_denominators_do_not_multiply():
    stats = [
        b'{"instance_id": "%d", "stats": [{"name": "em", "count": %d, "sum": 1}]}'
        % (i, 2**61 - 2 * i - 1)
        for i in range(3000)
    ]
    file = File("per_instance_stats.json", b"[" + b",".join(stats) + b"]")
    pairs = recognise(file, file).pairs()
    assert pairs.scale < 10**40


# ---- paths that are no files -------------------------------------------------------------------


def test_paths_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SILENCE", 0.1)
    monkeypatch.setattr(files, "LARGEST", 2**20)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(2**40)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(tmp_path / "socket"))
    problems = {
        "pipe": "nothing came through this pipe for 0.1 s",
        "loop": "cannot be opened",
        "sparse": "has more than 1 MiB",
        "socket": "cannot be opened",
        "": "this is a folder",
        "none\x1b[2J\n": "there is no such file",
        "zero\0": "cannot be opened",
        "x" * 3000: "cannot be opened",
    }
    for name, problem in problems.items():
        path = f"{tmp_path}/{name}"
        with pytest.raises(ReadError, match=re.escape(problem)) as caught:
            File.load(path)
        assert message_fault(str(caught.value), [path]) is None
    with pytest.raises(ReadError, match="more than 1 MiB"):
        File.load("/dev/zero")


def test_a_pipe_is_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    data = b"a,b\n" + b"1,2\n" * 50_000
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(data))
    writer.start()
    assert File.load(tmp_path / "pipe").data == data
    writer.join()


# ---- any file ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKERS)
def test_files_as_programs_write_them_are_accepted(kind):
    pytest.importorskip("pandas" if kind == "frame" else "json")
    accepted = 0
    for number in range(10):
        rng = Random(number)
        chosen = MAKERS[kind](rng)
        outcome = check(*sources(chosen, *valid(chosen, rng), rng), rng, HANG)
        accepted += outcome.kinds["accepted"]
    assert accepted >= 9


def test_no_file_breaks_the_contract():
    for number in range(400):
        attempt(1, number, HANG)


def test_the_contract_is_held_to(monkeypatch):
    for function, problem in (
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda _: None, "AttributeError"),
        (lambda _: (print("x"), Table.of(File("a.csv", b"a,b\n1,2\n")))[1], "printed 'x"),
        (lambda _: (_ for _ in ()).throw(ReadError("a.csv: bad")), "does not say what to do"),
        (lambda _: (_ for _ in ()).throw(ReadError("b.csv: bad; mend it")), "does not begin"),
        (lambda _: (_ for _ in ()).throw(ValueError("a.csv: bad; mend it")), "ValueError"),
    ):
        monkeypatch.setattr("permtest.readers.tables.table_of", function)
        with pytest.raises(Broken, match=problem):
            check([File("a.csv", b"a,b\n1,2\n")], None, Random(0), HANG)


def test_the_same_seed_makes_the_same_files():
    for number in range(50):
        both = [hostile(MAKERS["wide"](Random(number)), Random(number)) for _ in range(2)]
        assert both[0] == both[1]
