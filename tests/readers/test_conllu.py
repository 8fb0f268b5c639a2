"""CoNLL-U held against gold: right words counted by hand, by a library, and what is refused."""

from contextlib import suppress
from fractions import Fraction

import conllu
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers.annotated import CONLLU as FORMAT
from permtest.readers.annotated import SCORES
from permtest.readers.files import File, ReadError
from permtest.readers.pairing import Evaluation as ItemEvaluation

load, recognises = FORMAT.load, FORMAT.recognises
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def file(text: str | bytes, name: str = "gold.conllu") -> File:
    return File(name, text.encode() if isinstance(text, str) else text)


def row(number, form, lemma="l", upos="X", xpos="Y", feats="_", head="0", deprel="dep"):
    return "\t".join([str(number), form, lemma, upos, xpos, feats, str(head), deprel, "_", "_"])


def sentence(*rows: str, name: str | None = None, comments: str = "") -> str:
    id_ = f"# sent_id = {name}\n" if name is not None else ""
    return comments + id_ + "\n".join(rows) + "\n\n"


def score(gold: str, system: str, name: str = "a.conllu"):
    (found,) = load(file(system, name), file(gold))
    return found


def totals(found) -> dict[str, int]:
    return {name: sum(values) for name, values in found.scores.items()}


# ---- what is right -----------------------------------------------------------------------------

GOLD = sentence(
    row("1-2", "vámonos", "_", "_", "_", "_", "_", "_"),
    row(1, "vamos", "ir", "VERB", "V", "Mood=Ind|Number=Plur", 0, "root"),
    row(2, "nos", "_", "PRON", "P", "Case=Acc", 1, "obj"),
    row("2.1", "elided", "elide", "VERB", "V", "_", "_", "_"),
    row(3, "al", "al", "ADP", "_", "_", 4, "case"),
    row(4, "mar", "mar", "NOUN", "N", "_", 1, "obl:arg"),
    row(5, ".", ".", "PUNCT", "F", "_", 1, "punct"),
)


@pytest.mark.parametrize(
    ("number", "change", "lost"),
    [
        (1, {"upos": "AUX"}, {"upos"}),
        (1, {"upos": "_"}, {"upos"}),
        (4, {"xpos": "_"}, {"xpos"}),
        (3, {"xpos": "A"}, {"xpos"}),
        (1, {"feats": "Number=Plur|Mood=Ind"}, set()),
        (1, {"feats": "Mood=Ind"}, {"feats"}),
        (3, {"feats": "A=B"}, {"feats"}),
        (1, {"lemma": "va"}, {"lemmas"}),
        (2, {"lemma": "nosotros"}, set()),  # gold has no lemma
        (4, {"head": "3"}, {"uas", "las", "las_full"}),
        (4, {"head": "_"}, {"uas", "las", "las_full"}),
        (4, {"deprel": "obl"}, {"las_full"}),
        (4, {"deprel": "obl:tmod"}, {"las_full"}),
        (4, {"deprel": "nmod"}, {"las", "las_full"}),
        (5, {"head": "3", "deprel": "dep"}, {"uas", "las", "las_full"}),  # punctuation counts
        (1, {"head": "1"}, {"uas", "las", "las_full"}),  # a cycle is wrong, no more
    ],
)
def test_a_word_is_right_in_some_ways_and_wrong_in_others(number, change, lost):
    lines = GOLD.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{number}\t"))
    cells = lines[at].split("\t")
    for column, value in change.items():
        cells[COLUMNS.index(column)] = value
    lines[at] = "\t".join(cells)
    found = score(GOLD, "\n".join(lines))
    assert totals(found) == {name: 5 - (name in lost) for name in SCORES}
    assert all(type(value) is int for values in found.scores.values() for value in values)


def test_multiword_tokens_and_empty_nodes_need_not_be_the_same():
    plain = "\n".join(line for line in GOLD.split("\n") if "-2\t" not in line and "2.1" not in line)
    assert totals(score(GOLD, plain)) == totals(score(plain, GOLD)) == dict.fromkeys(SCORES, 5)


cells = st.builds(
    lambda head, *rest: (*rest, head),
    st.integers(0, 2),
    st.sampled_from(["_", "be", "go"]),
    st.sampled_from(["_", "NOUN", "VERB"]),
    st.sampled_from(["_", "NN"]),
    st.sampled_from(["_", "A=1", "A=1|B=2", "B=2|A=1"]),
    st.sampled_from(["_", "obj", "obl", "obl:arg", "obl:tmod"]),
)
sentences = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(cells, cells), min_size=2, max_size=4)),
    min_size=1,
    max_size=4,
)


def written(drawn, side: int) -> str:
    text = ""
    for ranged, words in drawn:
        text += row("1-2", "f1f2", "_", "_", "_", "_", "_", "_") + "\n" if ranged else ""
        for i, both in enumerate(words, 1):
            lemma, upos, xpos, feats, deprel, head = both[side]
            text += row(i, f"f{i}", lemma, upos, xpos, feats, head, deprel) + "\n"
        text += "\n"
    return text


def by_the_library(gold: str, system: str) -> dict[str, list[int]]:
    """The right words by the library `conllu`, of scores whose columns both files have."""
    sides = [
        [[token for token in one if isinstance(token["id"], int)] for one in conllu.parse(text)]
        for text in (gold, system)
    ]
    keys = {
        "upos": lambda t: t["upos"],
        "xpos": lambda t: t["xpos"] or "_",
        "feats": lambda t: dict(t["feats"] or {}),
        "lemmas": lambda t: t["lemma"],
        "uas": lambda t: t["head"],
        "las": lambda t: (t["head"], t["deprel"].split(":")[0]),
        "las_full": lambda t: (t["head"], t["deprel"]),
    }
    column = {"lemmas": "lemma", "uas": "head", "las": "deprel", "las_full": "deprel"}
    offered = {
        name: key
        for name, key in keys.items()
        if all(
            any(t[column.get(name, name)] not in ("_", None) for one in side for t in one)
            for side in sides
        )
    }
    return {
        name: [
            sum(
                key(x) == key(y) or (name, x["lemma"]) == ("lemmas", "_")
                for x, y in zip(there, here, strict=True)
            )
            for there, here in zip(*sides, strict=True)
        ]
        for name, key in offered.items()
    }


@settings(max_examples=60)
@given(sentences)
def test_the_library_reads_the_same(drawn):
    gold, system = written(drawn, 0), written(drawn, 1)
    assert dict(score(gold, system).scores) == by_the_library(gold, system)


# ---- what is offered ---------------------------------------------------------------------------


def test_columns_without_values_are_not_scored():
    gold = sentence(row(1, "a", upos="N", xpos="_"), row(2, "b", upos="V", xpos="_", head=1))
    tagged = sentence(
        row(1, "a", "_", "N", "_", "_", "_", "_"), row(2, "b", "_", "N", "_", "_", "_", "_")
    )
    found = score(gold, tagged, "tagger.conllu")
    assert totals(found) == {"upos": 1}
    assert "not scored, since tagger has no value at all there: LEMMA, HEAD, DEPREL" in found.notes
    assert "words right in tagger, of 2: upos 1" in found.notes
    assert set(score(gold, gold).scores) == {"upos", "lemmas", "uas", "las", "las_full"}
    unlabelled = sentence(row(1, "a", deprel="_"), row(2, "b", head=1, deprel="_"))
    assert set(score(gold, unlabelled).scores) == {"upos", "lemmas", "uas"}


def test_files_without_a_column_in_common_are_refused():
    bare = [row(1, "a", "_", "_", "_", "_", "_", "_")]
    parsed = row(1, "a", "_", "_", "_", "_", "0", "root")
    with pytest.raises(ReadError, match=r"a\.conllu: has no column with values"):
        score(sentence(parsed), sentence(*bare))


# ---- which sentences belong together -----------------------------------------------------------

ONE, TWO, THREE = (sentence(row(1, word), name=f"s{word}") for word in "abc")


def test_sentences_are_paired_by_sent_id():
    found = score(ONE + TWO + THREE, THREE + ONE.replace("\tX\t", "\tZ\t") + TWO)
    assert (found.ids, found.paired_by) == (["sa", "sb", "sc"], "sent_id")
    assert found.scores["upos"] == [0, 1, 1]
    assert found.places == ["line 5", "line 8", "line 2"]


def test_sentences_that_a_system_lacks_are_listed():
    a, b = score(ONE + TWO + THREE, THREE + ONE), score(ONE + TWO + THREE, ONE + TWO, "b.conllu")
    assert a.ids == ["sa", "sc"]
    assert "sentences of gold that a lacks: 1 (first: 'sb')" in a.notes
    pairs = ItemEvaluation(FORMAT, (a, b)).pairs(score="upos")
    assert pairs.ids == ("sa",)
    assert pairs.source["unmatched_ids"] == [["sc"], ["sb"]]


@pytest.mark.parametrize("other", ["", "# sent_id = 7\n"])
def test_without_ids_in_common_the_order_pairs_and_gold_names(other):
    system = other + sentence(row(1, "a")) + sentence(row(1, "b", upos="Z"))
    found = score(ONE + TWO, system)
    assert (found.ids, found.paired_by) == (["sa", "sb"], "sent_id")
    assert found.scores["upos"] == [1, 0]
    assert "paired with gold by the order of sentences, words checked: a" in found.notes


@pytest.mark.parametrize("comment", ["", "# sent_id =\n"])
def test_an_id_that_is_missing_in_gold_leaves_the_order(comment):
    found = score(comment + sentence(row(1, "a")) + ONE, ONE + ONE)
    assert (found.ids, found.paired_by, len(found)) == (None, "order", 2)


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (ONE + TWO, ONE + THREE, "a.conllu, line 5: no sentence of gold.conllu has the id 'sc'"),
        (ONE + ONE, ONE, "gold.conllu, line 5: 'sa' is the id of two sentences .also on line 2"),
        (ONE + TWO, ONE + ONE, "a.conllu, line 5: 'sa' is the id of two sentences"),
        (ONE + TWO, sentence(row(1, "a")), "a.conllu: the number of sentences is 1, but 2 in gold"),
        (TWO, sentence(row(1, "x")), "a.conllu, line 1: word 1 .* 'x', but 'b' in .*, line 2; run"),
        (sentence(row(1, "b"), row(2, "y")), TWO, "line 2: word 2 of this sentence is '', but 'y'"),
    ],
)
def test_sentences_that_do_not_match_are_refused(gold, system, message):
    with pytest.raises(ReadError, match=message):
        score(gold, system)


# ---- comments ----------------------------------------------------------------------------------


def test_documents_are_those_of_gold():
    gold = ONE.replace("# sent", "# newdoc id = d1\n# sent") + TWO
    gold += THREE.replace("# sent", "# newdoc\n# sent")
    found = score(gold, ONE + TWO + THREE)
    assert found.clusters == {"document": ["d1", "d1", "2"]}
    assert score(ONE + TWO, gold.rsplit("# newdoc\n")[0]).clusters == {}
    late = score(ONE + TWO.replace("# sent", "# newdoc id = d1\n# sent"), ONE + TWO)
    assert late.clusters == {"document": ["0", "d1"]}


def test_texts_are_those_of_gold_or_its_words_and_short():
    gold = "# text = A b.\n# text_en = other\n# org_sent_id = 5\n" + ONE + TWO
    gold += "# text = " + 1000 * "é" + "\n" + THREE
    found = score(gold, ONE + TWO + THREE)
    assert found.texts == ["A b.", "b", 297 * "é" + "..."]
    assert found.ids == ["sa", "sb", "sc"]


def test_comments_alone_and_blank_lines_are_no_sentences():
    text = (
        "\n\n# global.columns = ID FORM\n\n  \n"
        + ONE.replace("\n", "\r\n")
        + "\n\n \n"
        + TWO.rstrip()
    )
    assert totals(score(ONE + TWO, "\ufeff" + text))["upos"] == 2


# ---- what is refused ---------------------------------------------------------------------------

BAD = [
    ("", "holds no sentence"),
    ("\n \n", "holds no sentence"),
    ("# sent_id = x\n\n" + ONE, "line 1: sentence 'x' has no words"),
    (ONE.rstrip() + "\n" + TWO, "line 3, 1 columns: wrong in '# sent_id = sb'; each word needs"),
    ("1\ta\ta\tX\n", "line 1, 4 columns"),
    (row(1, "a") + "\t_\n", "line 1, 11 columns"),
    (sentence(row(1, "a"), "<html>"), "line 2, 1 columns"),
    (sentence(row("x", "a")), "line 1, ID"),
    (sentence(row(1, "a"), row(1, "b")), "line 2, ID"),
    (sentence(row("1-1-1", "a")), "line 1, ID"),
    (sentence(row("1-2", "a")), "line 1: no word"),
    (sentence(row(1, "")), "line 1, FORM"),
    (sentence(row(1, "a"), row(2, "b", upos="")), "line 2, UPOS"),
    (sentence(row(1, "a"), row(2, "b", deprel="")), "line 2, DEPREL"),
    (sentence(row(1, "a"), row(2, "b", head=3)), "line 2, HEAD"),
    (sentence(row("1-2", "x", head="_"), row(1, "a", head="1-2")), "line 2, HEAD"),
    (b"1\ta\0\n", "binary"),
    (b"1\ta\xff\n", "not UTF-8"),
    ("x" * 10**6, "line 1, 1 columns"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_the_first_bad_line_is_named(bad, message):
    for gold, system, name in ((ONE, bad, "a"), (bad, ONE, "gold")):
        with pytest.raises(ReadError, match=f"^{name}.conllu.*{message}") as caught:
            load(file(system, "a.conllu"), file(gold))
        assert len(str(caught.value)) < 400


@settings(max_examples=200)
@given(st.data())
def test_nothing_but_read_errors(data):
    """A good file with some characters replaced, or no file at all."""
    text = list(GOLD + ONE)
    for i in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=4)):
        text[i] = data.draw(st.sampled_from([*"\t\n#=1-._x0\r\u2028é", ""]))
    for gold, system in ((GOLD + ONE, "".join(text)), ("".join(text), GOLD + ONE)):
        assert recognises(file(system)) in (True, False)
        with suppress(ReadError):
            assert len(score(gold, system)) > 0


def test_a_million_blank_lines_and_one_long_sentence():
    """With steps that grow as the square of it, this would take hours."""
    assert len(score(ONE, "\n" * 10**6 + ONE)) == 1
    long = sentence(*(row(i, "w") for i in range(1, 100_001)))
    assert totals(score(long, long))["uas"] == 100_000


def test_gold_is_the_same_for_the_next_system():
    gold = file(ONE + TWO)
    for name in "ab":
        (found,) = load(file(TWO + ONE, name), gold)
        assert (found.system, found.ids, found.scores["upos"]) == (name, ["sa", "sb"], [1, 1])


def test_memory_is_asked_for_before_it_is_used(monkeypatch):
    monkeypatch.setattr("permtest.readers.files.MEMORY", 100_000)
    with pytest.raises(ReadError, match="memory"):
        score(ONE, sentence(row(1, "a")) * 100)


# ---- the whole way -----------------------------------------------------------------------------


def test_two_systems_become_pairs():
    gold = "".join(
        sentence(row(1, "a"), row(2, "b", head=1), name=str(i), comments="# newdoc\n" * (i == 2))
        for i in range(4)
    )
    worse = gold.replace(row(2, "b", head=1), row(2, "b", head=2))
    found = [score(gold, gold, "new.conllu"), score(gold, worse, "old.conllu")]
    pairs = ItemEvaluation(FORMAT, tuple(found)).pairs(score="las", statistic="accuracy")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([2, 2, 2, 2], [1, 1, 1, 1])
    assert (pairs.names, pairs.ids) == (("new", "old"), ("0", "1", "2", "3"))
    assert exact_perm_test(pairs).fraction() == Fraction(1, 8)
    clustered = ItemEvaluation(FORMAT, tuple(found)).pairs(score="las", clusters="document")
    assert clustered.clusters == ("0", "0", "1", "1")
    assert (pairs.source["loader"], pairs.source["paired_by"]) == ("conllu", "sent_id")


# ---- recognising -------------------------------------------------------------------------------


NODE_FIRST = sentence(row("0.1", "e", "_", "_", "_", "_", "_", "_"), row(1, "a"))


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n\n" + ONE,
        "\ufeff" + GOLD.replace("\n", "\r\n"),
        3000 * GOLD,
        NODE_FIRST,
        row(1, "a") + "\nx\n",  # so that the error is that of a treebank
        ONE.encode("utf-16"),  # files make UTF-8 of it
    ],
)
def test_conllu_is_recognised(text):
    assert recognises(file(text))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# only a comment\n",
        "\t".join("abcdefghij") + "\n" + "\t".join("1234567890") + "\n",
        "\t".join("1234567890") + "\n",
        "\t".join(["1", "a", "b", "0.5", "c", "_", "3", "0.7", "1", "2"]) + "\n",
        "\t".join(["1", "a", "b", "c", "d", "0.25", "3", "e", "1", "2"]) + "\n",
        row(2, "a") + "\n",
        row(1, "a")[:-2] + "\n",
        "EU NNP B-NP B-ORG\n",
        '{"id": 1}\n',
        b"1\0\t",
        b"\xff" * 10,
        *("\t".join([*"1abcd", x * 60_000, *"3e1"]) + "\n" for x in ("=", "\t", "a=", "-1", " ")),
    ],
)
def test_nothing_else_is_taken_for_it(content):
    assert not recognises(file(content))
