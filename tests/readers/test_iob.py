"""Entity tags held against gold: spans by hand and by seqeval, schemes, and what is refused."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from permtest import exact_perm_test
from permtest.readers.files import File, ReadError
from permtest.readers.annotated import SPANS as FORMAT
from permtest.readers.annotated import entities
from permtest.readers.pairing import Evaluation as ItemEvaluation


load, recognises = FORMAT.load, FORMAT.recognises


def file(text: str | bytes, name: str = "gold.txt") -> File:
    return File(name, text.encode() if isinstance(text, str) else text)


def sentence(tags: str, words: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    return "".join(f"{word} {tag}\n" for word, tag in zip(words, tags.split(), strict=False)) + "\n"


def score(gold: str, system: str, name: str = "a.txt"):
    (found,) = load(file(system, name), file(gold))
    return found


# ---- entities ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O O", []),
        ("B-X I-X O", [(0, 2, "X")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("I-X I-X O I-X", [(0, 2, "X"), (3, 4, "X")]),  # IOB1
        ("I-X B-X I-X", [(0, 1, "X"), (1, 3, "X")]),
        ("I-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("B-X I-Y I-Y", [(0, 1, "X"), (1, 3, "Y")]),
        ("S-X B-X E-X", [(0, 1, "X"), (1, 3, "X")]),  # IOBES
        ("B-X I-X E-X", [(0, 3, "X")]),
        ("U-X B-X L-X", [(0, 1, "X"), (1, 3, "X")]),  # BILOU
        ("B-X M-X E-X S-X", [(0, 3, "X"), (3, 4, "X")]),  # BMES
        ("B-X M-X E-X W-X", [(0, 3, "X"), (3, 4, "X")]),  # BMEWO
        ("E-X E-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),
        ("S-X I-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X O E-X", [(0, 1, "X"), (2, 3, "X")]),
        ("B-X S-X E-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("B-a-b I-a-b I-a", [(0, 2, "a-b"), (2, 3, "a")]),
        ("B-x I-X", [(0, 1, "x"), (1, 2, "X")]),
    ],
)
def test_entities_are_read_by_the_rule_of_conlleval(tags, expected):
    assert entities(tags.split()) == expected


tags = st.sampled_from(["O", *(f"{p}-{t}" for p in "BIES" for t in ("X", "Y"))])


@settings(max_examples=100)
@given(st.lists(st.lists(tags, min_size=1, max_size=7), min_size=1, max_size=3))
def test_seqeval_reads_the_same(drawn):
    for one in drawn:
        theirs = {(start, stop + 1, kind) for kind, start, stop in get_entities(one)}
        assert set(entities(one)) == theirs


@settings(max_examples=60)
@given(st.lists(st.tuples(st.lists(st.tuples(tags, tags), min_size=1, max_size=6)), min_size=1))
def test_counts_and_f1_are_those_of_seqeval(drawn):
    gold, system = ([[both[side] for both in one] for (one,) in drawn] for side in (0, 1))
    found = score(*("".join(sentence(" ".join(one)) for one in side) for side in (gold, system)))
    tp, fp, fn = np.sum(found.scores["spans"], axis=0)
    wanted, got = (set(get_entities(side)) for side in (gold, system))
    assert (tp, fp, fn) == (len(wanted & got), len(got - wanted), len(wanted - got))
    right = sum(
        x == y for one, two in zip(gold, system, strict=True) for x, y in zip(one, two, strict=True)
    )
    if "tags" in found.scores:
        assert sum(found.scores["tags"]) == right
    for kind in {kind for kind, *_ in wanted}:
        of_type = [{e for e in side if e[0] == kind} for side in (wanted, got)]
        hits = len(of_type[0] & of_type[1])
        total = tuple(np.sum(found.scores[f"spans.{kind}"], axis=0))
        assert total == (hits, len(of_type[1]) - hits, len(of_type[0]) - hits)


# ---- what is scored ----------------------------------------------------------------------------


def test_exact_spans_and_types_count():
    gold = sentence("B-PER I-PER O B-LOC") + sentence("O O") + sentence("B-LOC O O")
    system = sentence("B-PER O O B-LOC") + sentence("O B-ORG") + sentence("B-PER O O")
    found = score(gold, system)
    assert found.scores == {
        "spans": [(1, 1, 1), (0, 1, 0), (0, 1, 1)],
        "spans.LOC": [(1, 0, 0), (0, 0, 0), (0, 0, 1)],
        "spans.PER": [(0, 1, 1), (0, 0, 0), (0, 1, 0)],
        "tags": [3, 1, 2],
    }
    assert found.counts == dict.fromkeys(("spans", "spans.LOC", "spans.PER"), ("tp", "fp", "fn"))
    assert "tp 1, fp 3, fn 2 in a" in found.notes
    assert found.texts == ["a b c d", "a b", "a b c"]
    assert found.places == ["line 1", "line 6", "line 9"]


def test_too_many_types_have_no_scores_of_their_own(monkeypatch):
    text = sentence("B-X B-Y B-Z")
    assert len(score(text, text).scores) == 5
    monkeypatch.setattr("permtest.readers.annotated.MOST_TYPES", 2)
    assert set(score(text, text).scores) == {"spans", "tags"}


def test_tags_without_a_type_have_one_score():
    found = score("a B\nb I\nc O\n", "a B\nb O\nc B\n")
    assert found.scores == {"spans": [(0, 2, 1)], "tags": [1]}


@pytest.mark.parametrize(
    ("one", "two", "compared"),
    [
        ("B-X I-X O B-X", "B-X I-X O O", True),
        ("B-X I-X O B-X", "I-X I-X O I-X", False),
        ("B-X I-X O B-X", "B-X E-X O S-X", False),
        ("B-X L-X O U-X", "B-X E-X O S-X", False),
        ("B-X M-X E-X S-X", "B-X I-X E-X S-X", False),
        ("B-X E-X O S-X", "O O O O", True),
    ],
)
def test_tags_of_two_schemes_are_not_compared(one, two, compared):
    for gold, system in ((one, two), (two, one)):
        assert ("tags" in score(sentence(gold), sentence(system)).scores) == compared


# ---- columns -----------------------------------------------------------------------------------

PLAIN = "EU B-ORG\nrejects O\n# O\n\nPeter B-PER\n"


@pytest.mark.parametrize(
    "text",
    [
        "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n# CD O O\n\nPeter NNP B-NP B-PER\n",
        "EU\tB-ORG\nrejects\tO\n#\tO\n\nPeter\tB-PER\n",
        "EU   B-ORG \r\nrejects  O\r\n#  O\t\r\n \r\n\r\nPeter B-PER",
        "-DOCSTART- -X- O O\n\nEU B-ORG\nrejects O\n# O\n\n-DOCSTART- O\nPeter B-PER\n",
        "# sent_id = 1\n# text = my type is O\nEU B-ORG\nrejects O\n# O\n\n# about\nPeter B-PER\n",
        "1\tEU\tB-ORG\t-\tann\n2\trejects\tO\t-\tann\n3\t#\tO\t-\tann\n\n"
        "# sent_id = 2\n1\tPeter\tB-PER\t-\tann\n",
        "EU\tB-ORG \nrejects\tO\t\n#\tO\n\nPeter\tB-PER \n",
        "1\tEU\t_\tB-ORG\n2\trejects\t_\tO\n3\t#\t_\tO\n\n1\tPeter\t_\tB-PER\n",
    ],
)
def test_files_of_several_shapes_hold_the_same(text):
    assert recognises(file(text))
    expected = score(PLAIN, PLAIN).scores
    assert score(PLAIN, text).scores == score(text, PLAIN).scores == expected
    assert expected["spans"] == [(1, 0, 0), (1, 0, 0)]


def test_words_may_hold_blanks_of_other_kinds():
    spaced = "New York\tB-LOC\n10\u00a0000\tO\n\u2028\tO\n"
    assert score(spaced, spaced).texts == ["New York 10\u00a0000 \\u2028"]
    assert score("10\u00a0000 B-NUM\n", "10\u00a0000 O\n").scores["spans"] == [(0, 0, 1)]


def test_a_number_may_be_a_word():
    text = "1\tB-NUM\n2\tO\n"
    assert score(text, text).texts == ["1 2"]


def test_documents_and_ids():
    gold = "-DOCSTART- O\n\n# id = x\na O\n\n# id = y\nb B-X\n\n-DOCSTART- O\n\n# id = z\nc O\n"
    found = score(gold, "# sent_id = z\nc O\n\n# sent_id = x\na O\n")
    assert (found.ids, found.clusters) == (["x", "z"], {"document": ["1", "2"]})
    assert "sentences of gold that a lacks: 1 (first: 'y')" in found.notes
    assert score(sentence("O"), sentence("O")).clusters == {}


# ---- what is refused ---------------------------------------------------------------------------

BAD = [
    ("", "holds no sentence"),
    ("-DOCSTART- O\n\n", "holds no sentence"),
    ("word\n", "line 1: no word and its tag in 2 columns: 'word'; each line needs"),
    ("EU O\nrejects O\n# O\n\nb c O\n", "line 5: no .* in 2 columns: 'b c O'"),
    ("EU O\nrejects O\n# O\n\n O\n", "line 5"),
    ("a\tO\n\tO\n", "line 2"),
    ("a b O\n c O\n", "line 2"),
    ("a O\nb b-PER\n", "line 2"),
    ("a O\nb \u00a0\n", "line 2"),
    ("word tag\na O\n", "line 1"),
    ("1\ta\tO\n2\tb\n", "line 2"),
    ("# id = x\n\na O\n", "line 1: sentence 'x' has no words"),
    ("a,O\n", "line 1"),
    ("x" * 10**6 + " B-" + "y" * 10**6, "line 1"),
    ("a O-\n", "line 1"),
    ("a b_X\n", "line 1"),
    (b"a\0O", "binary"),
    (b"a \xff\n", "not UTF-8"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_the_first_bad_line_is_named(bad, message):
    for gold, system, name in ((PLAIN, bad, "a"), (bad, bad, "gold")):
        with pytest.raises(ReadError, match=f"^{name}.txt.*{message}") as caught:
            load(file(system, "a.txt"), file(gold))
        assert len(str(caught.value)) < 400


def test_a_bad_line_far_behind_is_found():
    good = "1\ta\tO\n2\tb\tO\n\n" * 60
    with pytest.raises(ReadError, match=r"^a\.txt, line 181: no word and its tag in 3"):
        score(good + "1\ta\tO\n", good + "1\ta\tx")


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("EU O\nrejected O\n# O\n\nPeter O\n", "line 1: word 2 of this sentence is 'rejected'"),
        (PLAIN + "\nand O\n", "number of sentences is 3, but 2 in gold.txt"),
    ],
)
def test_other_words_are_refused(system, message):
    with pytest.raises(ReadError, match=message):
        score(PLAIN, system)


@settings(max_examples=200)
@given(st.data())
def test_nothing_but_read_errors(data):
    """A good file with some characters replaced."""
    good = "-DOCSTART- O\n\n# id = a\n" + PLAIN + "\n1 O\n" * 2
    good = data.draw(st.sampled_from([good, good.replace(" ", "\t"), "1\ta\tO\n2\tb\tB-X\n"]))
    text = list(good)
    for i in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=4)):
        text[i] = data.draw(st.sampled_from([*"\t\n#=1-BO \0\r\u2028é", ""]))
    for gold, system in ((good, "".join(text)), ("".join(text), good)):
        assert recognises(file(system)) in (True, False)
        with suppress(ReadError):
            assert len(score(gold, system)) > 0


def test_a_million_blank_lines_and_one_long_sentence():
    """With steps that grow as the square of it, this would take hours."""
    assert len(score("a B-X\n", "\n" * 10**6 + "a O\n")) == 1
    long = sentence("B-X I-X " * 50_000, "w" * 100_000)
    assert score(long, long).scores["spans"] == [(50_000, 0, 0)]


# ---- the whole way -----------------------------------------------------------------------------


def test_two_systems_become_counts():
    gold = sentence("B-PER I-PER O") * 4
    found = [score(gold, gold, "new.txt"), score(gold, sentence("B-PER O O") * 4, "old.txt")]
    evaluation = ItemEvaluation(FORMAT, tuple(found))
    pairs = evaluation.pairs(score="spans", statistic="f1")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([[1, 0, 0]] * 4, [[0, 1, 1]] * 4)
    assert exact_perm_test(pairs, statistic="f1").pvalue == 2 / 2**4
    assert evaluation.score_names("new", "old") == ("spans", "spans.PER", "tags")
    assert evaluation.pairs(score="tags").u.tolist() == [3] * 4


# ---- recognising -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [PLAIN, "a B\nb O\n", "a O\nb S-X", 20_000 * PLAIN, "\ufeff" + PLAIN, PLAIN.encode("utf-16")],
)
def test_tags_are_recognised(text):
    assert recognises(file(text))


CONLLU = "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    "content",
    [
        "",
        CONLLU,
        CONLLU.replace("\t_\n", "\tSpaceAfter=No\n"),
        "a O\nb O\n",  # no entity is seen
        "grade B\n",
        "word tag\na B-X\n",
        "item,a,b\n1,2,3\n",
        "item a b\nx 1 2\n",
        "1 2\n3 4\n",
        "B-X\nO\n",
        "a,B-X\nb,O\n",
        '{"id": "B-X"}\n',
        "The cat sat on B-X\nthe mat\n",
        b"a B-X\n\0",
        "x" * 100_000 + " B-X",
        "\n" * 100_000 + PLAIN,
    ],
)
def test_nothing_else_is_taken_for_tags(content):
    assert not recognises(file(content))
