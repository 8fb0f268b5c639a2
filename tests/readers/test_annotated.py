"""Annotated text held against gold: counts by hand and by libraries, and what is refused."""

from fractions import Fraction

import conllu
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from permtest import exact_perm_test
from permtest.readers.annotated import CONLLU, SCORES, SPANS, entities
from permtest.readers.files import File, ReadError
from permtest.readers.pairing import Evaluation


def score(gold, system, kind=CONLLU, name="a.txt"):
    """What a system has right, of texts."""
    files = (File(x, y.encode() if isinstance(y, str) else y)
             for x, y in ((name, system), ("gold.txt", gold)))  # fmt: skip
    (found,) = kind.load(*files)
    return found


def totals(found):
    return {name: sum(values) for name, values in found.scores.items()}


def row(number, form, lemma="l", upos="X", xpos="Y", feats="_", head="0", deprel="dep"):
    return "\t".join([str(number), form, lemma, upos, xpos, feats, str(head), deprel, "_", "_"])


def sentence(*rows, name=None, comments=""):
    id_ = f"# sent_id = {name}\n" if name is not None else ""
    return comments + id_ + "\n".join(rows) + "\n\n"


def tagged(tags, words="abcdefghijklmnopqrstuvwxyz"):
    return "".join(f"{word} {tag}\n" for word, tag in zip(words, tags.split(), strict=False)) + "\n"


GOLD = sentence(
    row("1-2", "vámonos", "_", "_", "_", "_", "_", "_"),
    row(1, "vamos", "ir", "VERB", "V", "Mood=Ind|Number=Plur", 0, "root"),
    row(2, "nos", "_", "PRON", "P", "Case=Acc", 1, "obj"),
    row("2.1", "elided", "elide", "VERB", "V", "_", "_", "_"),
    row(3, "al", "al", "ADP", "_", "_", 4, "case"),
    row(4, "mar", "mar", "NOUN", "N", "_", 1, "obl:arg"),
    row(5, ".", ".", "PUNCT", "F", "_", 1, "punct"),
)
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")
ARC = {"uas", "las"}


@pytest.mark.parametrize(
    ("number", "change", "lost"),
    [
        (1, {"upos": "_"}, {"upos"}),
        (4, {"xpos": "_", "lemma": "x", "feats": "A=B"}, set()),
        (4, {"head": "_"}, ARC),
        (4, {"deprel": "obl:tmod"}, set()),
        (4, {"deprel": "nmod"}, {"las"}),
        (5, {"head": "3", "deprel": "dep"}, ARC),  # punctuation counts
    ],
)
def test_a_word_is_right_in_some_ways_and_wrong_in_others(number, change, lost):
    lines = GOLD.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{number}\t"))
    cells = dict(zip(COLUMNS, lines[at].split("\t"), strict=False)) | change
    lines[at] = "\t".join([*cells.values(), "_", "_"])
    assert totals(score(GOLD, "\n".join(lines))) == {name: 5 - (name in lost) for name in SCORES}


cells = st.tuples(
    st.sampled_from(["_", "be", "go"]),
    st.sampled_from(["_", "NOUN", "VERB"]),
    st.sampled_from(["_", "NN"]),
    st.sampled_from(["_", "A=1", "A=1|B=2", "B=2|A=1"]),
    st.integers(0, 2),
    st.sampled_from(["_", "obj", "obl", "obl:arg", "obl:tmod"]),
)
words = st.lists(st.tuples(cells, cells), min_size=2, max_size=4)
KEYS = {
    "upos": ("upos", lambda t: t["upos"]),
    "uas": ("head", lambda t: t["head"]),
    "las": ("deprel", lambda t: (t["head"], t["deprel"].split(":")[0])),
}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), words), min_size=1, max_size=4))
def test_the_library_reads_the_same_words(drawn):
    ranged = row("1-2", "f1f2", "_", "_", "_", "_", "_", "_")
    texts = [
        "".join(
            sentence(*[ranged] * wide, *(row(i, f"f{i}", *x[side]) for i, x in enumerate(some, 1)))
            for wide, some in drawn
        )
        for side in (0, 1)
    ]
    sides = [[[t for t in one if isinstance(t["id"], int)] for one in conllu.parse(text)]
             for text in texts]  # fmt: skip
    right = {
        name: [
            sum(key(x) == key(y) for x, y in zip(there, here, strict=True))
            for there, here in zip(*sides, strict=True)
        ]
        for name, (column, key) in KEYS.items()
        if all(any(t[column] not in ("_", None) for one in side for t in one) for side in sides)
    }  # fmt: skip
    assert dict(score(*texts).scores) == right


def test_columns_without_values_are_not_scored():
    gold = sentence(row(1, "a", upos="N", xpos="_"), row(2, "b", upos="V", xpos="_", head=1))
    bare = [row(i, x, "_", "N", "_", "_", "_", "_") for i, x in ((1, "a"), (2, "b"))]
    found = score(gold, sentence(*bare), name="tagger.conllu")
    assert totals(found) == {"upos": 1}
    assert "not scored, because tagger has no values there: HEAD, DEPREL" in found.notes
    assert "words right in tagger, of 2: upos 1" in found.notes
    assert set(score(gold, gold).scores) == SCORES.keys()


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("I-X I-X O I-X", [(0, 2, "X"), (3, 4, "X")]),  # IOB1
        ("S-X B-X E-X", [(0, 1, "X"), (1, 3, "X")]),  # IOBES
        ("U-X B-X L-X", [(0, 1, "X"), (1, 3, "X")]),  # BILOU
        ("B-X M-X E-X S-X", [(0, 3, "X"), (3, 4, "X")]),  # BMES
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("B-a-b I-a-b I-a", [(0, 2, "a-b"), (2, 3, "a")]),
    ],
)
def test_entities_are_read_by_the_rule_of_conlleval(tags, expected):
    assert entities(tags.split()) == expected


tags = st.sampled_from(["O", *(f"{p}-{t}" for p in "BIES" for t in ("X", "Y"))])


@given(st.lists(st.lists(st.tuples(tags, tags), min_size=1, max_size=6), min_size=1, max_size=4))
def test_entities_and_counts_are_those_of_seqeval(drawn):
    sides = [[[both[side] for both in one] for one in drawn] for side in (0, 1)]
    for one in (*sides[0], *sides[1]):
        assert entities(one) == sorted((x, y + 1, kind) for kind, x, y in get_entities(one))
    found = score(*("".join(tagged(" ".join(one)) for one in side) for side in sides), SPANS)
    wanted, got = (
        {(i, *x) for i, one in enumerate(side) for x in get_entities(one)} for side in sides
    )
    hits = len(wanted & got)
    counts = tuple(map(sum, zip(*found.scores["spans"], strict=True)))
    assert counts == (hits, len(got) - hits, len(wanted) - hits)


def test_exact_spans_count():
    gold = tagged("B-PER I-PER O B-LOC") + tagged("O O") + tagged("B-LOC O O")
    system = tagged("B-PER O O B-LOC") + tagged("O B-ORG") + tagged("B-PER O O")
    found = score(gold, system, SPANS)
    assert found.scores == {"spans": [(1, 1, 1), (0, 1, 0), (0, 1, 1)]}
    assert found.counts == {"spans": ("tp", "fp", "fn")}
    assert "tp 1, fp 3, fn 2 in a" in found.notes
    assert (found.texts, found.place(1)) == (["a b c d", "a b", "a b c"], "line 6")
    assert score("a B\nb I\nc O\n", "a B\nb O\nc B\n", SPANS).scores["spans"] == [(0, 2, 1)]


PLAIN = "EU B-ORG\nrejects O\n# O\n\nPeter B-PER\n"


@pytest.mark.parametrize(
    "text",
    [
        "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n# CD O O\n\nPeter NNP B-NP B-PER\n",
        "EU   B-ORG \r\nrejects  O\r\n#  O\t\r\n \r\n\r\nPeter B-PER",
        "-DOCSTART- -X- O O\n\nEU B-ORG\nrejects O\n# O\n\n-DOCSTART- O\nPeter B-PER\n",
        "# sent_id = 1\n# text = my type is O\nEU B-ORG\nrejects O\n# O\n\n# about\nPeter B-PER\n",
        "1\tEU\tB-ORG\t-\tann\n2\trejects\tO\t-\tann\n3\t#\tO\t-\tann\n\n"
        "# sent_id = 2\n1\tPeter\tB-PER\t-\tann\n",
        "1\tEU\t_\tB-ORG\n2\trejects\t_\tO\n3\t#\t_\tO\n\n1\tPeter\t_\tB-PER\n",
    ],
)
def test_columns_of_several_shapes_hold_the_same(text):
    assert SPANS.recognises(File("x", text.encode()))
    expected = score(PLAIN, PLAIN, SPANS).scores
    assert score(PLAIN, text, SPANS).scores == score(text, PLAIN, SPANS).scores == expected


ONE, TWO, THREE = (sentence(row(1, word), name=f"s{word}") for word in "abc")


def test_sentences_are_paired_by_sent_id():
    found = score(ONE + TWO + THREE, THREE + ONE.replace("\tX\t", "\tZ\t") + TWO)
    assert (found.ids, found.paired_by) == (["sa", "sb", "sc"], "sent_id")
    assert found.scores["upos"] == [0, 1, 1]
    assert list(map(found.place, range(3))) == ["line 5", "line 8", "line 2"]
    gold = File("gold", (ONE + TWO).encode())
    for name in "ab":  # gold is the same for the next system
        (found,) = CONLLU.load(File(name, (TWO + ONE).encode()), gold)
        assert (found.system, found.ids, found.scores["upos"]) == (name, ["sa", "sb"], [1, 1])


def test_sentences_that_a_system_lacks_are_listed():
    every = ONE + TWO + THREE
    a, b = score(every, THREE + ONE), score(every, ONE + TWO, name="b.txt")
    assert "sentences of gold that a lacks: 1 (first: 'sb')" in a.notes
    pairs = Evaluation(CONLLU, (a, b)).pairs(score="upos")
    assert (a.ids, pairs.ids) == (["sa", "sc"], ("sa",))
    assert pairs.source["unmatched_ids"] == [["sc"], ["sb"]]


def test_without_ids_in_common_the_order_pairs_and_gold_names():
    for other in ("", "# sent_id = 7\n"):
        found = score(ONE + TWO, other + sentence(row(1, "a")) + sentence(row(1, "b", upos="Z")))
        assert (found.ids, found.paired_by) == (["sa", "sb"], "sent_id")
        assert found.scores["upos"] == [1, 0]
        assert "paired with gold by the order of sentences, words checked: a" in found.notes
    found = score("# sent_id =\n" + sentence(row(1, "a")) + ONE, ONE + ONE)
    assert (found.ids, found.paired_by, len(found)) == (None, "order", 2)


def test_documents_texts_and_comments_are_those_of_gold():
    gold = ONE.replace("# sent", "# newdoc id = d1\n# sent") + TWO
    gold += THREE.replace("# sent", "# newdoc\n# text_en = x\n# org_sent_id = 5\n# sent")
    assert score(gold, ONE + TWO + THREE).clusters == {"document": ["d1", "d1", "2"]}
    assert score(ONE + TWO + THREE, gold).clusters == {}
    gold = f"# text = A b.\n{ONE}{TWO}# text = {1000 * 'é'}\n{THREE}"
    assert score(gold, ONE + TWO + THREE).texts == ["A b.", "b", 297 * "é" + "..."]
    bare = "\ufeff\n\n# global.columns = ID FORM\n\n  \n" + ONE.replace("\n", "\r\n")
    assert totals(score(ONE + TWO, bare + "\n\n \n" + TWO.rstrip()))["upos"] == 2
    gold = "-DOCSTART- O\n\n# id = x\na O\n\n# id = y\nb B-X\n\n-DOCSTART- O\n\n# id = z\nc O\n"
    found = score(gold, "# sent_id = z\nc O\n\n# sent_id = x\na O\n", SPANS)
    assert (found.ids, found.clusters) == (["x", "z"], {"document": ["1", "2"]})


APART = [
    (ONE + TWO, ONE + THREE, "a.txt, line 5: no sentence of gold.txt has the id 'sc'"),
    (ONE + ONE, ONE, "gold.txt, line 5: 'sa' is the id of two sentences .also on line 2"),
    (ONE + TWO, sentence(row(1, "a")), "a.txt: the number of sentences is 1, but 2 in gold"),
    (TWO, sentence(row(1, "x")), "a.txt, line 1: word 1 .* 'x', but 'b' in .*, line 2; run"),
    (sentence(row(1, "b"), row(2, "y")), TWO, "line 2: word 2 of this sentence is '', but 'y'"),
    (ONE, sentence(row(1, "a", upos="_", head="_")), "a.txt: has no column with values"),
]
BAD = {
    "": "holds no sentence",
    "# sent_id = x\n\n" + ONE: "line 1: sentence 'x' has no words",
    "1\ta\0\n": "binary",
    ONE.rstrip() + "\n" + TWO: "line 3, 1 columns: wrong in '# sent_id = sb'; each word",
    row(1, "a") + "\t_\n": "line 1, 11 columns",
    sentence(row("x", "a")): "line 1, ID",
    sentence(row(1, "a"), row(1, "b")): "line 2, ID",
    sentence(row("1-2", "a")): "line 1: no word",
    sentence(row(1, "")): "line 1, FORM",
    sentence(row(1, "a"), row(2, "b", upos="")): "line 2, UPOS",
    sentence(row(1, "a"), row(2, "b", deprel="")): "line 2, DEPREL",
    sentence(row("1-2", "x", head="_"), row(1, "a", head="1-2")): "line 2, HEAD",
}
BAD_TAGS = {
    "-DOCSTART- O\n\n": "holds no sentence",
    "word\n": "line 1: no word and its tag in 2 columns: 'word'; each line needs",
    "EU O\nrejects O\n# O\n\nb c O\n": "line 5: no .* in 2 columns: 'b c O'",
    "a\tO\n\tO\n": "line 2",
    "a O\nb b-PER\n": "line 2",
    "1\ta\tO\n2\tb\n": "line 2",
    "x" * 10**6 + " B-" + "y" * 10**6: "line 1",
    "a O-\n": "line 1",
}


@pytest.mark.parametrize(("gold", "system", "message"), APART)
def test_sentences_that_do_not_match_are_refused(gold, system, message):
    with pytest.raises(ReadError, match=message):
        score(gold, system)


@pytest.mark.parametrize(
    ("kind", "good", "bad", "message"),
    [(CONLLU, ONE, *x) for x in BAD.items()] + [(SPANS, PLAIN, *x) for x in BAD_TAGS.items()],
)
def test_the_first_bad_line_is_named(kind, good, bad, message):
    for gold, system, name in ((good, bad, "a"), (bad, good, "gold")):
        with pytest.raises(ReadError, match=f"^{name}.txt.*{message}") as caught:
            score(gold, system, kind)
        assert len(str(caught.value)) < 400


def test_two_systems_become_pairs():
    gold = "".join(
        sentence(row(1, "a"), row(2, "b", head=1), name=str(i), comments="# newdoc\n" * (i == 2))
        for i in range(4)
    )
    worse = gold.replace(row(2, "b", head=1), row(2, "b", head=2))
    both = Evaluation(CONLLU, (score(gold, gold, name="new"), score(gold, worse, name="old")))
    pairs = both.pairs(score="las", statistic="accuracy")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([2, 2, 2, 2], [1, 1, 1, 1])
    assert (pairs.names, pairs.ids) == (("new", "old"), ("0", "1", "2", "3"))
    assert exact_perm_test(pairs).fraction() == Fraction(1, 8)
    assert both.pairs(score="las", clusters="document").clusters == ("0", "0", "1", "1")
    gold, worse = tagged("B-PER I-PER O") * 4, tagged("B-PER O O") * 4
    found = score(gold, gold, SPANS, "new"), score(gold, worse, SPANS, "old")
    pairs = Evaluation(SPANS, found).pairs(score="spans", statistic="f1")
    assert exact_perm_test(pairs, statistic="f1").pvalue == 2 / 2**4


FIRST = sentence(row("0.1", "e", "_", "_", "_", "_", "_", "_"), row(1, "a"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [(CONLLU, x) for x in ("# a comment\n\n" + ONE, "\ufeff" + GOLD.replace("\n", "\r\n"),
                           3000 * GOLD, FIRST, row(1, "a") + "\nx\n", ONE.encode("utf-16"))]
    + [(SPANS, x) for x in ("a B\nb O\n", "a O\nb S-X", 20_000 * PLAIN, "\ufeff" + PLAIN,
                            PLAIN.encode("utf-16"))],
)  # fmt: skip
def test_annotated_text_is_recognised(kind, text):
    file = File("x", text.encode() if isinstance(text, str) else text)
    assert [x for x in (CONLLU, SPANS) if x.recognises(file)] == [kind]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# only a comment\n",
        "\t".join("abcdefghij") + "\n" + "\t".join("1234567890") + "\n",
        "\t".join(["1", "a", "b", "c", "d", "0.25", "3", "e", "1", "2"]) + "\n",
        row(1, "a")[:-2] + "\n",
        "EU NNP B-NP B-ORG x\n",
        "a O\nb O\n",  # no entity is seen
        "word tag\na B-X\n",
        "a,B-X\nb,O\n",
        '{"id": "B-X"}\n',
        "The cat sat on B-X\nthe mat\n",
        b"a B-X\n\0",
        "\n" * 100_000 + PLAIN,
        *("\t".join([*"1abcd", x * 60_000, *"3e1"]) + "\n" for x in ("=", "\t", "a=", "-1", " ")),
    ],
)
def test_nothing_else_is_taken_for_it(content):
    file = File("x", content.encode() if isinstance(content, str) else content)
    assert not CONLLU.recognises(file)
    assert not SPANS.recognises(file)
