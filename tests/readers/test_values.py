"""Values from JSON: what is a number, a text, an id; and what a file begins with."""

import json
import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.readers import ReadError
from permtest.readers.files import File
from permtest.readers.names import told_apart
from permtest.readers.outline import DEPTH, HEAD, outline
from permtest.readers.values import Record, Scores, number_of, printable, short

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def keys_of(value, path=()):
    """The obvious twin of `outline`."""
    if isinstance(value, list) and len(path) < DEPTH:
        yield (*path, "*")
    if len(path) < DEPTH:
        for key in value if isinstance(value, dict) else ():
            yield (*path, key)
            yield from keys_of(value[key], (*path, key))
        for part in value if isinstance(value, list) else ():
            yield from keys_of(part, (*path, "*"))


def plain(value):
    """The same with keys that JSON writes as they are."""
    if isinstance(value, dict):
        return {f"k{len(key)}": plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


@settings(max_examples=60)
@given(JSON.map(plain), st.sampled_from([None, 1]))
def test_the_outline_of_a_whole_document(value, indent):
    data = json.dumps(value, indent=indent).encode()
    expected = set(keys_of(value)) if isinstance(value, dict | list) else set()
    assert outline(File("a.json", data)) == expected


@settings(max_examples=60)
@given(st.binary(max_size=80), st.integers(0, 80))
def test_the_outline_of_anything(data, end):
    text = b'{"a": [{"b": "' + data + b'"}], "c": {"d": 1}}'
    assert outline(File("a.json", text[:end])) is not None
    assert outline(File("a.json", b"{" + data)) is not None


@pytest.mark.parametrize("part", [b'\\"', b"[", b'{"', b'"a":', b'{"a":', b'"'])
def test_the_outline_of_what_goes_on_for_ever(part):
    """With a pattern that goes back and tries again, this would take as long."""
    assert outline(File("a.json", b'{"' + part * HEAD)) is not None


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (None, None),
        (math.nan, None),
        ("N/A", None),
        (True, 1),
        (0.1, Decimal("0.1")),
        ("0.10", Decimal("0.10")),
        ("-3", -3),
        ("1e5", Decimal("1e5")),
        (10**999, 10**999),
    ],
)
def test_numbers(value, number):
    assert number_of(value) == number
    assert type(number_of(value)) is type(number)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (math.inf, "the number inf"),
        ("1e999", "the text '1e999'"),
        ("1" * 10**6, "the text '1111"),
        (10**1000, r"the number 1000.*\.\.\."),
        ([1], "an array"),
        ({}, "an object"),
        ("C", "the text 'C'"),
    ],
)
def test_what_is_no_number(value, problem):
    with pytest.raises(ValueError, match=problem):
        number_of(value)
    assert number_of("C", {"C": 1}) == 1


def test_texts():
    assert short("a\n b" + "c" * 500) == "a b" + "c" * 294 + "..."
    assert short({"a": [1, "ü"]}) == '{"a": [1, "ü"]}'
    assert printable("\ud800\u202ex\x9b") == r"\ud800\u202ex\x9b"
    assert told_apart(["a", "a", "b"], [None, "1", "2"], ["x", "y", "z"]) == ["a", "a (1)", "b"]


def test_records():
    row = Record.of(File("f", b""), {"i": 5, "t": "a\tb", "f": 1.0, "b": True, "n": None}, "line 3")
    assert (row.label("i"), row.label("t"), row.label("n"), row.label("x")) == (
        *("5", r"a\tb", None, None),
    )
    assert (row.whole("i", 1), row.whole("n", 1), row.array("n")) == (5, 1, [])
    assert row.record("n").values == {}
    for name, call, wanted in [
        ("f", row.label, "text or a whole number"),
        ("b", row.label, "text or a whole number"),
        ("n", row.needed, "text or a whole number"),
        ("b", row.array, "an array"),
        ("t", row.record, "an object"),
        ("b", lambda name: row.whole(name, 1), "a whole number from 0 on"),
    ]:
        with pytest.raises(ReadError, match=rf"^f, line 3: '{name}' is .*, but must be {wanted};"):
            call(name)
    with pytest.raises(ReadError, match="f, line 1: an array instead of an object"):
        Record.of(File("f", b""), [], "line 1")


def test_scores():
    file = File("f", b"")
    row, scores = Record(file, {}, "line 1"), Scores(file)
    for item, name, value in [
        (1, "a", 1),
        (1, "a", 1.0),
        (2, "b", 0),
        (1, "c", None),
        (2, "d", []),
    ]:
        scores.put(item, name, value, row)
    assert scores.columns([1, 2, 3]) == {"a": [1, None, None], "b": [None, 0, None]}
    assert scores.notes == (
        "left out, being no number for each item: d (an array, line 1), c (no item has it)",
    )
    with pytest.raises(ReadError, match=r"f, line 1: two values of the score 'a' \('1' and '2'\)"):
        scores.put(1, "a", 2, row)
    with pytest.raises(ReadError, match="the name of a score has 1001 characters"):
        scores.put(1, "a" * 1001, 2, row)
