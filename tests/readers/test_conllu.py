"""CoNLL-U held against gold: right words counted by hand, by a library, and what is refused."""

from contextlib import suppress
from fractions import Fraction

import conllu
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers.conllu import FORMAT, SCORES, load, recognises
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File, ReadError

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


def by_the_library(text: str) -> list[list[dict]]:
    found = conllu.parse(text)
    return [[token for token in one if isinstance(token["id"], int)] for one in found]


@settings(max_examples=60)
@given(sentences)
def test_the_library_reads_the_same(drawn):
    gold, system = written(drawn, 0), written(drawn, 1)
    right: dict[str, list[int]] = {name: [] for name in SCORES}
    filled = {name: set() for name in SCORES}
    for there, here in zip(by_the_library(gold), by_the_library(system), strict=True):
        relations = [[(t["head"], t["deprel"]) for t in side] for side in (there, here)]
        universal = [[(head, name.split(":")[0]) for head, name in side] for side in relations]
        values = {
            "upos": [[t["upos"] for t in side] for side in (there, here)],
            "xpos": [[t["xpos"] or "_" for t in side] for side in (there, here)],
            "feats": [[dict(t["feats"] or {}) for t in side] for side in (there, here)],
            "uas": [[t["head"] for t in side] for side in (there, here)],
            "las": universal,
            "las_full": relations,
        }
        values["lemmas"] = [[t["lemma"] for t in side] for side in (there, here)]
        values["lemmas"][1] = [
            "_" if want == "_" else got for want, got in zip(*values["lemmas"], strict=True)
        ]
        for name, (want, got) in values.items():
            right[name].append(sum(x == y for x, y in zip(want, got, strict=True)))
        for side, tokens in enumerate((there, here)):
            for name, column in zip(SCORES, ("upos", "xpos", "feats", "lemma"), strict=False):
                filled[name] |= {side for t in tokens if t[column] not in ("_", None)}
            for name in ("las", "las_full"):
                filled[name] |= {side for t in tokens if t["deprel"] != "_"}
    offered = {name: right[name] for name in SCORES if name == "uas" or filled[name] == {0, 1}}
    assert dict(score(gold, system).scores) == offered


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
    with pytest.raises(
        ReadError, match=r"a\.conllu: has no annotation in common with gold\.conllu"
    ):
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


@pytest.mark.parametrize(
    "gold", [sentence(row(1, "a")) + TWO, "# sent_id =\n" + sentence(row(1, "a")) + TWO]
)
def test_an_id_that_is_missing_in_gold_leaves_the_order(gold):
    found = score(gold, ONE + TWO)
    assert (found.ids, found.paired_by, len(found)) == (None, "order", 2)


def test_ids_of_the_system_do_not_matter_where_gold_has_none():
    assert len(score(sentence(row(1, "a")) * 2, ONE + ONE)) == 2


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (ONE + TWO, ONE + THREE, r"a\.conllu, line 5: no sentence of gold\.conllu has the id 'sc'"),
        (ONE + ONE, ONE, r"gold\.conllu, line 5: 'sa' is the id of two sentences, .* line 2"),
        (ONE + TWO, ONE + ONE, r"a\.conllu, line 5: 'sa' is the id of two sentences"),
        (
            ONE + TWO,
            sentence(row(1, "a")),
            r"a\.conllu: the number of sentences is 1, but 2 in gold",
        ),
        (
            sentence(row(1, "a")),
            ONE + TWO,
            r"a\.conllu: the number of sentences is 2, but 1 in gold",
        ),
        (
            sentence(row(1, "x"), row(2, "cannot")),
            sentence(row(1, "x"), row(2, "can"), row(3, "not")),
            r"a\.conllu, line 1: word 2 of this sentence is 'can', but 'cannot' in that of "
            r"gold\.conllu, line 1; .*tokens are not aligned",
        ),
        (
            TWO + sentence(row(1, "x"), row(2, "y")),
            sentence(row(1, "b")) + sentence(row(1, "x")),
            r"a\.conllu, line 3: this sentence ends after word 1, but that of gold\.conllu, "
            "line 4, after word 2",
        ),
        (sentence(row(1, "é")), sentence(row(1, "e\u0301")), "composed otherwise in Unicode"),
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
    ("# sent_id = x\n" + ONE, "line 2: a second sent_id; a blank line must end each sentence"),
    (ONE.rstrip() + "\n" + TWO, "line 3: a comment between words"),
    ("1\ta\ta\tX\n", r"line 1: 4 columns \('1\\ta\\ta\\tX'\); CoNLL-U has ten, with a tab"),
    (row(1, "a") + "\t_\n", "line 1: 11 columns"),
    (row(1, "a").replace("\t", "  "), "line 1: 1 column "),
    (sentence(row(1, "a"), "<html>"), "line 2: 1 column "),
    (sentence(row("x", "a")), "line 1, ID: 'x' where word 1 of the sentence is due"),
    (sentence(row(1, "a"), row(1, "b")), "line 2, ID: '1' where word 2 of the sentence is due"),
    (sentence(row(1, "a"), row(3, "b")), "line 2, ID: '3' where word 2"),
    (sentence(row("01", "a")), "line 1, ID: '01' where word 1"),
    (sentence(row("", "a")), "line 1, ID: '' where word 1"),
    (sentence(row("1-1-1", "a")), "line 1, ID: '1-1-1' where word 1"),
    (sentence(row("1-2", "a")), "line 1: a sentence without words"),
    (sentence(row(1, "")), "line 1, FORM: nothing in the column; write _"),
    (sentence(row(1, "a"), row(2, "b", upos="")), "line 2, UPOS: nothing in the column"),
    (sentence(row(1, "a", head="root")), "line 1, HEAD: 'root' is no word of this sentence"),
    (sentence(row(1, "a"), row(2, "b", head=3)), r"line 2, HEAD: '3' is no .* \(1 to 2\), 0 for"),
    (sentence(row(1, "a", head="-1")), "line 1, HEAD: '-1'"),
    (sentence(row("1-2", "x", head="_"), row(1, "a", head="1-2")), "line 2, HEAD: '1-2'"),
    ("\t" * 9 + "\n", "line 1, ID: ''"),
    (b"1\ta\0\n", "binary"),
    (b"1\ta\xff\n", "not UTF-8"),
    ("x" * 10**6, "line 1: 1 column "),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_bad_files_are_refused_with_their_line(bad, message):
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
        GOLD,
        "# a comment\n\n" + ONE,
        GOLD.replace("\n", "\r\n"),
        "\ufeff" + ONE,
        3000 * GOLD,
        NODE_FIRST,
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
        ",".join("1234567890") + "\n",
        "\t".join(["1", "a", "b", "0.5", "c", "_", "3", "0.7", "1", "2"]) + "\n",
        "\t".join(["1", "a", "b", "c", "d", "0.25", "3", "e", "1", "2"]) + "\n",
        "\t".join(["1", "a", "b", "c", "d", "_", "3", "0.7", "1", "2"]) + "\n",
        row(2, "a") + "\n",
        row(1, "a") + "\nx\n",
        row(1, "a")[:-2] + "\n",
        "EU NNP B-NP B-ORG\n",
        '{"id": 1}\n',
        ONE.encode("utf-16"),
        b"\xff\xfe\0\0",
        b"1\0\t",
        b"\xff" * 10,
        "x" * 100_000,
        "\n" * 100_000 + ONE,
    ],
)
def test_nothing_else_is_taken_for_it(content):
    assert not recognises(file(content))


@pytest.mark.parametrize("filler", ["=", "\t", "1", "a=", "_\t", "-1", " ", "# "])
def test_long_lines_are_not_taken_for_it(filler):
    """With a pattern that goes back and tries again, this would take for ever."""
    line = "\t".join(["1", "a", "b", "c", "d", filler * 6000, "3", "e", "1"])
    assert not recognises(file(line + "\n" + filler * 60_000 + "\n"))
