"""What holds of the readers of all evaluation harnesses alike."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import (
    ReadError,
    every_eval_ever,
    helm,
    inspect_ai,
    lm_eval,
    promptfoo,
    read,
    recognise,
    swe_bench,
)
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from tests.readers import made

#: Reader, maker of files, the score, and what items are called.
KINDS = {
    "lm_eval": (lm_eval, made.lm_eval, "acc,none", "d{}"),
    "inspect_json": (inspect_ai, made.inspect_ai, "match", "q{}"),
    "inspect_eval": (inspect_ai, made.inspect_eval, "match", "q{}"),
    "every_eval_ever": (every_eval_ever, made.every_eval_ever, "score", "h{}"),
    "helm": (helm, made.helm, "exact_match,test", "id{}"),
    "promptfoo": (promptfoo, made.promptfoo, "score", "{}"),
    "swe_bench": (swe_bench, made.swe_bench, "resolved", "repo__issue-{}"),
}
READERS = {reader.FORMAT.name: reader for reader, *_ in KINDS.values()}
OTHERS = {
    "table": File("a.csv", b"id,a,b\nx,1,2\n"),
    "records": File("a.jsonl", b'{"id": 1, "a": 0, "b": 1}\n{"id": 2, "a": 1, "b": 1}\n'),
    "list": File("a.json", b'[{"id": 1, "a": {"resolved": 1}}]'),
    "results": File("results.json", b'{"results": {"task": {"acc,none": 0.5}}, "configs": {}}'),
    "empty": File("a.json", b""),
    "object": File("a.json", b"{}"),
    "array": File("a.json", b"[]"),
    "zip": made.archive({"xl/workbook.xml": b"<x/>"}),
    "binary": File("a.eval", bytes(range(256))),
}

scores = st.dictionaries(st.integers(0, 30), st.sampled_from([0, 1, 0.5]), min_size=1)


def pairs_of(reader, files, score, **options):
    found = [one for file in files for one in reader.load(file)]
    return ItemEvaluation(reader.FORMAT, tuple(found)).pairs(score=score, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_recognised_by_its_own_reader_alone(kind):
    own, make, *_ = KINDS[kind]
    file = make({1: 1, 2: 0})
    assert [name for name, one in READERS.items() if one.recognises(file)] == [own.FORMAT.name]


@pytest.mark.parametrize("other", OTHERS)
def test_other_files_are_left_to_others(other):
    assert not [name for name, one in READERS.items() if one.recognises(OTHERS[other])]


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_file_is_recognised_by_its_beginning(kind):
    own, make, *_ = KINDS[kind]
    file = make(dict.fromkeys(range(100), 1))
    if kind != "inspect_eval":
        file = File(file.path, file.data[:1500])
    assert own.recognises(file)
    assert not [one for one in READERS.values() if one is not own and one.recognises(file)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(a=scores, b=scores, random=st.randoms(use_true_random=False))
def test_items_are_paired_by_id_in_whatever_order(kind, a, b, random):
    reader, make, score, called = KINDS[kind]
    if kind == "swe_bench":
        a, b = ({i: math.ceil(value) for i, value in one.items()} for one in (a, b))
    common = a.keys() & b.keys()
    shuffled = dict(random.sample(sorted(b.items()), len(b)))
    files = (make(a, "one"), make(shuffled, "two"))
    if not common:
        with pytest.raises(ReadError, match="in common"):
            pairs_of(reader, files, score)
        return
    pairs = pairs_of(reader, files, score)
    assert pairs.names == ("one", "two")
    found = zip(pairs.ids, pairs.u / pairs.scale, pairs.v / pairs.scale, strict=True)
    assert list(found) == [(called.format(i), a[i], b[i]) for i in a if i in common]
    assert pairs.source["matched"] == len(common)
    assert pairs.source["unmatched"] == [len(a.keys() - b), len(b.keys() - a)]
    assert pairs.source["dropped"] == 0


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"swe_bench"}))
@pytest.mark.parametrize("missing", [None, math.nan])
def test_what_is_not_scored_is_dropped_and_counted(kind, missing):
    reader, make, score, called = KINDS[kind]
    files = make({1: 1, 2: missing, 3: 0}, "one"), make({1: 0, 2: 1, 3: missing}, "two")
    pairs = pairs_of(reader, files, score)
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([1], [0])
    assert pairs.source["dropped_ids"] == [called.format(2), called.format(3)]


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_ready_for_the_exact_test(kind):
    reader, make, score, _ = KINDS[kind]
    files = make(dict.fromkeys(range(5), 1), "one"), make({i: i == 0 for i in range(5)}, "two")
    assert exact_perm_test(pairs_of(reader, files, score)).pvalue == 0.125


# ---- hostile files -----------------------------------------------------------------------------

DEEP: list = []
for _ in range(300):
    DEEP = [DEEP]
VALUES = [None, True, [], {}, [[]], {"a": []}, 1.5, -1, 10**400, math.inf, "", "\ud800", "x" * 2000]
VALUES += [["a", "a"], {"id": 1, "name": 2}, DEEP]


def places(value, path=()):
    """The paths of all values in a document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(document, path, value):
    """A copy with another value at a path, or without it where the value is `places`."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    if path[1:] or value is not places:
        copy[path[0]] = changed(copy[path[0]], path[1:], value)
    else:
        del copy[path[0]]
    return copy


def refusal(reader, file):
    """What is wrong with the file; "" if it can be read, and what was read can be written."""
    assert reader.recognises(file) in (True, False)
    try:
        found = reader.load(file)
    except ReadError as error:
        return str(error)
    for one in found:
        "".join((one.system, *(one.ids or ()), *(one.texts or ()), *one.scores)).encode()
    return ""


def check_refusal(reader, file):
    message = refusal(reader, file)
    assert not message or (message.startswith(file.path) and len(message) < 2000)


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_another_type_gets_through(kind):
    reader, make, *_ = KINDS[kind]
    file = make({1: 1, 2: 0})
    packed = kind == "inspect_eval"
    document = [made.sample(1, 1), made.sample(2, 0)] if packed else file.document
    document = json.loads(json.dumps(document, default=float))
    for path in places(document):
        for value in (*VALUES, places):
            if value is places and not path:
                continue
            data = changed(document, path, value)
            if packed:
                parts = made.eval_parts([]) | {"summaries.json": data}
                check_refusal(reader, made.archive(parts))
                continue
            check_refusal(reader, File("x.json", json.dumps(data).encode()))
            if path and file.is_lines:
                check_refusal(reader, File("x.jsonl", made.lines(data)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_breaks_off_is_refused(kind):
    reader, make, *_ = KINDS[kind]
    file = make({1: 1, 2: 0})
    for end in range(0, len(file.data), 7):
        part = File(file.path, file.data[:end])
        check_refusal(reader, part)
        if not part.data.endswith((b"}", b"\n")) or kind == "inspect_eval":
            with pytest.raises(ReadError):
                reader.load(part)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"inspect_eval"}))
def test_deep_nesting_is_refused(kind):
    reader, make, *_ = KINDS[kind]
    deep = b'{"deep": ' + b"[" * 20_000 + b"]" * 20_000 + b", "
    file = File("x.json", make({1: 1}).data.replace(b"{", deep, 1))
    check_refusal(reader, file)
    with pytest.raises(ReadError, match="nested too deeply"):
        reader.load(file)


def test_nothing_in_a_name_reaches_the_terminal():
    (one,) = lm_eval.load(made.lm_eval({1: 1}, "\x1b[2Jevil\u202e"))
    assert one.system == r"\x1b[2Jevil\u202e"
    (one,) = inspect_ai.load(made.inspect_json([made.sample("\x07", 1)], "a\nb"))
    assert (one.system, one.ids) == (r"a\nb", [r"q\x07"])


def test_too_many_scores_are_refused():
    row = made.lm_eval_row(1, 1, metrics=[f"m{i}" for i in range(10**5)])
    with pytest.raises(
        ReadError, match=r"line 1: more than 1000 scores, 'm1000,none' being one more"
    ):
        lm_eval.load(File("x.jsonl", made.lines([row])))


def of_samples(*scores):
    """Two models, each with a score of every document, written as it stands."""
    for name, column in zip(("a", "b"), scores, strict=True):
        rows = [
            f'{{"doc_id": {i}, "doc": {{}}, "filter": "none", "metrics": ["acc"], "acc": {score}}}'
            for i, score in enumerate(column)
        ]
        yield File(f"{name}/samples_x.jsonl", "\n".join(rows).encode())


def test_numbers_are_read_as_they_are_written():
    pairs = read(*of_samples(["0.12345678901234567890", "1E-5"], ["0.12345678901234567891", "0"]))
    assert Fraction(int(pairs.u[0] - pairs.v[0]), pairs.scale) == -Fraction(1, 10**20)
    assert Fraction(int(pairs.u[1]), pairs.scale) == Fraction(1, 10**5)


def test_thirds_of_one_system_are_those_of_the_other():
    pairs = read(
        *of_samples(["0.3333333333333333", "0.6666666666666666"], ["0.333333333333333", "1"])
    )
    assert (pairs.u.tolist(), pairs.v.tolist(), pairs.scale) == ([1, 2], [1, 3], 3)


@pytest.mark.parametrize(
    "number", ["1e400", "-1e99999999", "1e-99999", "1e-99999999999999999999", f"0.{'3' * 1001}"]
)
def test_numbers_beyond_all_bounds_are_named(number):
    with pytest.raises(ReadError, match=rf"the number {number[:30]}.*, line 1"):
        read(*of_samples([number], ["1"]))


def test_tiny_numbers_are_none_but_themselves():
    pairs = read(*of_samples(["1e-400", "0"], ["0", "0"]))
    table = read(File("a.csv", b"a,b\n1e-400,0\n0,0\n"))
    for one in (pairs, table):
        assert (one.u.tolist(), one.v.tolist(), one.scale) == ([1, 0], [0, 0], 10**400)


def test_scores_are_shown_as_they_are_written():
    files = [*of_samples(["0.3333333333333333", "1.0"], ["0.5", "1.0"])]
    assert recognise(*files).preview()[1][0][1] == "0.3333333333333333"
    with pytest.raises(ReadError, match=r"line 1: 0\.3333333333333333 is not a whole number"):
        read(*files, statistic="accuracy")


@settings(max_examples=100)
@given(st.lists(st.floats(-(10**15), 10**15, allow_subnormal=False), min_size=2, max_size=6))
def test_doubles_tie_however_their_digits_are_printed(values):
    full, short = ([style(x) for x in values] for style in ("{:.17g}".format, repr))
    table = "a,b\n" + "".join(f"{x},{y}\n" for x, y in zip(full, short, strict=True))
    lines = "".join(f'{{"a": {x}, "b": {y}}}\n' for x, y in zip(full, short, strict=True))
    texts = table, lines
    found = [read(File("a", text.encode()), a="a", b="b") for text in texts]
    for pairs in (*found, read(*of_samples(full, short)), read(*of_samples(short, full))):
        assert pairs.u.tolist() == pairs.v.tolist()
        assert exact_perm_test(pairs).n_informative == 0


def test_whole_numbers_keep_all_their_digits():
    numbers = ["12345678901234567", "9007199254740993", "9007199254740993.0"]
    table = "a,b\n" + "".join(f"{x},0\n" for x in numbers)
    for pairs in (read(File("a.csv", table.encode())), read(*of_samples(numbers, ["0"] * 3))):
        assert pairs.u.tolist() == [12345678901234567, 9007199254740993, 9007199254740993]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"doc_id": 1, "doc_hash": "x", "acc": 1, "acc": 0}\n', "a.json, line 1: 'acc' is twice"),
        (b'{"resolved": ["a"], "resolved": ["b"]}', "the report: 'resolved' is twice"),
        (b'[{"instance_id": 1, "stats": [{"name": "x", "sum": 1, "sum": 1}]}]', "stat 1: 'sum' is"),
    ],
)
def test_a_name_that_is_there_twice(data, problem):
    with pytest.raises(ReadError, match=problem):
        recognise(File("a.json", data), File("b.json", data))


def test_a_name_that_is_there_twice_where_nobody_reads_it():
    row = b'{"doc_id": 1, "doc_hash": "x", "doc": {"q": 0, "q": 0}, "acc": %d}\n'
    one, other = File("a/s.jsonl", row % 1), File("b/s.jsonl", row % 0)
    assert recognise(one, other).text("x") == '{"q": [0, 0]}'
    assert read(one, other).u.tolist() == [1]
