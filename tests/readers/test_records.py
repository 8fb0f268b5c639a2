"""JSON becomes a table in which nothing is rounded, lost or guessed."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.readers import File, ReadError, read, recognise
from permtest.readers.files import MEMORY, check_memory
from permtest.readers.records import cell_of, table_of


def file(text, name="scores.json"):
    return File(name, (text if isinstance(text, str) else json.dumps(text)).encode())


def columns(pairs):
    return pairs.u.tolist(), pairs.v.tolist()


# ---- what is read ------------------------------------------------------------------------------

ROWS = [{"id": "x", "a": 3, "b": 2}, {"id": "y", "a": 5, "b": 4}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\ufeff" + json.dumps(ROWS),
        "\n".join(map(json.dumps, ROWS)),
        "\r\n".join(map(json.dumps, ROWS)) + "\r\n\r\n",
        "\n".join(json.dumps(row, indent=1) for row in ROWS),
        json.dumps({"id": ["x", "y"], "a": [3, 5], "b": [2, 4]}),
        json.dumps({"task": "t", "config": {"k": 1}, "results": ROWS}),
    ],
)
def test_ways_to_write_records(text):
    evaluation = recognise(file(text))
    assert (evaluation.format.name, evaluation.systems) == ("records", ("a", "b"))
    pairs = evaluation.pairs()
    assert (columns(pairs), pairs.ids) == (([3, 5], [2, 4]), ("x", "y"))
    assert pairs.source["loader"] == "records"


def test_lists_are_lines_without_a_header():
    assert columns(read(file([[3, 2], [5, 4]]))) == ([3, 5], [2, 4])
    assert columns(read(file([3, 5], "a"), file([2, 4], "b"))) == ([3, 5], [2, 4])


def test_booleans_nulls_and_missing_keys():
    rows = [{"a": True, "b": False, "c": None}, {"b": True, "a": False, "c": 1}, {"a": 1, "b": 0}]
    assert columns(read(file(rows), a="a", b="b")) == ([1, 0, 1], [0, 1, 0])
    with pytest.raises(ReadError, match="record 1, column 'c': '' is a missing score"):
        read(file(rows), a="a", b="c")
    with pytest.raises(ReadError, match="line 3, column 'c': '' is a missing score"):
        read(file("\n".join(map(json.dumps, [rows[1], rows[1], rows[2]]))), a="a", b="c")


def test_systems_are_objects_with_the_same_score():
    rows = [
        {"question": "?", "n": 3, "v1.5": {"correct": i, "said": "x"}, "v2.5": {"correct": False}}
        for i in (True, False)
    ]
    evaluation = recognise(file(rows))
    assert evaluation.systems == ("n", "v1.5", "v2.5")
    assert columns(evaluation.pairs("v1.5", "v2.5")) == ([1, 0], [0, 0])
    counts = [{"new": {"tp": 1, "fp": 2, "fn": 3}, "old": {"tp": 4, "fp": 5, "fn": 6}}]
    assert columns(read(file(counts), statistic="f1")) == ([[1, 2, 3]], [[4, 5, 6]])
    two = [{"a": {"acc": 1, "ms": 2}, "b": {"acc": 0, "ms": 3}}]
    assert recognise(file(two)).systems == ("a.acc", "a.ms", "b.acc", "b.ms")


def test_a_shorter_name_is_not_that_of_another_column():
    rows = [{"a": {"s": 1}, "b": {"s": 2}, "c": {"s": 3}}, {"a": 5}]
    assert recognise(file(rows)).systems == ("a.s", "b.s", "c.s", "a")


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.booleans(), st.integers(-5, 5), st.floats(-1, 1)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_numbers_are_read_as_they_are_printed(rows):
    table = table_of(file([{"a": a, "b": b} for a, b in rows]))
    for (_, cells), numbers in zip(table.rows, rows, strict=True):
        for cell, number in zip(cells, numbers, strict=True):
            if isinstance(number, bool):
                assert cell == str(number).lower()
            else:
                assert "e" not in cell
                assert Fraction(cell) == Fraction(str(number))


def test_digits_beyond_a_float_are_kept():
    text = '[{"a": 0.10000000000000000000001, "b": 12345678901234567890123}, {"a": 1, "b": 2}]'
    pairs = read(file(text))
    assert Fraction(int(pairs.u[0]), pairs.scale) == Fraction("0.10000000000000000000001")
    assert Fraction(int(pairs.v[0]), pairs.scale) == 12345678901234567890123


def test_what_is_no_number_is_text():
    rows = [{"a": 1, "b": 2, "logs": [-1.5, {"x": 1e-7}], "t": "é\nü"}]
    assert table_of(file(rows)).rows[0].cells[2:] == ['[-1.5, {"x": 0.0000001}]', "é\nü"]
    assert (cell_of([1, None, True, "x"]), cell_of({"k": 0.5})) == (
        '[1, null, true, "x"]',
        '{"k": 0.5}',
    )


# ---- what is refused ---------------------------------------------------------------------------

BAD = {
    "broken": ('[{"a": 1, "b": 2},\n{"a": 1, "b": tru}]', ["line 2: not JSON (Expecting value)"]),
    "cut off": ('[{"a": 1, "b": 2},\n{"a": 1', ["line 2: not JSON"]),
    "no comma": ('[{"a": 1, "b": 2}\n{"a": 1, "b": 3}]', ["line 1: not JSON (no comma behind"]),
    "behind": ('[{"a": 1, "b": 2}] x', ["not JSON (more text behind the list)"]),
    "line": ('{"a": 1, "b": 2}\n{"a": 1,, "b": 3}\n', ["line 2: not JSON"]),
    "twice": (
        '[{"a": 1, "b": 2},\n{"a": 1,\n "a": 2, "b": 3}]',
        ["line 2, column 'a': 'a' is twice in one object; remove one"],
    ),
    "twice below": (
        '[{"x": {"a": 1, "a": 1, "b": 2}}]',
        ["line 1, column 'x.a': 'a' is twice in one object; remove one"],
    ),
    "an id twice": (
        '[{"id": 1, "id": 2, "a": 1, "b": 3}]',
        ["column 'id': 'id' is twice in one object; remove one"],
    ),
    "a label twice": (
        '[{"gold": "x", "pred_a": "x", "pred_b": "y", "pred_b": "x"}]',
        ["column 'pred_b': 'pred_b' is twice in one object; remove one"],
    ),
    "a list twice": ('{"a": [1, 2], "a": [1, 2]}', ["'a' is twice in one object; remove one"]),
    "both ways": ('[{"a": {"b": 1}, "a.b": 2}]', ["'a.b' is one name, and also one in another"]),
    "one object": (
        '{"s1": 0.5, "s2": 0.7}',
        ["one object, but not of a list for each", "orient='"],
    ),
    "two lists": ('{"x": [{"a": 1}], "y": [{"a": 2}]}', ["one object, but not of a list"]),
    "lengths": ('{"a": [1, 2], "b": [1]}', ["columns of different lengths ('a' 2, 'b' 1)"]),
    "a number": ('[{"a": 1, "b": 2}, 3]', ["record 2: '3' instead of an object; write a list"]),
    "an object": ('[[1, 2], {"a": 1}]', ["record 2: '{\"a\": 1}' is not of the same kind"]),
    "rows": ("[[1, 2], [1]]", ["record 2: '[1]' is not of the same kind as the first"]),
    "nothing": ("[]", ["holds no record"]),
    "no numbers": ('[{"a": "x", "b": "y"}]', ["line 1, column 'a': 'x' is not"]),
    "infinite": ('[{"a": Infinity, "b": 1}]', ["column 'a': 'Infinity' is not a number"]),
    "deep": ("[" * 10**4 + "]" * 10**4, ["nested too deeply"]),
    "deep objects": ('{"a":' * 10**4 + "1" + "}" * 10**4, ["nested too deeply"]),
    "long name": (f'[{{"{"x" * 2000}": {{"y": 1}}}}]', ["a name of too many characters"]),
    "huge": ('[{"a": 1e5000, "b": 1}]', ["'1e5000' is in scientific notation"]),
}


def test_what_nobody_reads_may_be_there_twice():
    plain = [{"doc": {"q": "x"}, "a": i, "b": 2} for i in (3, 4)]
    text = json.dumps(plain).replace('"q": "x"', '"q": "x", "q": "y", "r": [{"k": 1, "k": 2}]')
    assert text.count('"k"') == 4
    pairs = read(file(text), a="a", b="b")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([3, 4], [2, 2])
    assert table_of(file(text)).rows[0].cells[:2] == ['["x", "y"]', '[{"k": [1, 2]}]']


@pytest.mark.parametrize(("text", "parts"), BAD.values(), ids=BAD.keys())
def test_bad_records(text, parts):
    with pytest.raises(ReadError) as caught:
        read(file(text))
    for part in parts:
        assert part in str(caught.value)


def test_records_of_different_keys_are_bounded():
    number = int((MEMORY / 8) ** 0.5) + 10
    with pytest.raises(ReadError, match="GiB of memory"):
        read(file("\n".join(f'{{"k{i}": 1}}' for i in range(number))))
    with pytest.raises(ReadError, match="GiB of memory"):
        check_memory("x", MEMORY + 1)
