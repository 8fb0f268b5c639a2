"""Treebanks and tagged text, held against gold."""

from itertools import pairwise

import pytest
from conllu import parse
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

import permtest as pt
from permtest.readers import File, ReadError
from permtest.readers.annotated import entities

WORDS = [("the", "DET", 2, "det"), ("cat", "NOUN", 3, "nsubj"), ("sat", "VERB", 0, "root")]


def treebank(path, *sentences, ids=True):
    found = ""
    for i, rows in enumerate(sentences):
        found += f"# sent_id = s{i}\n" * ids + f"# text = sentence {i}\n"
        for n, (form, tag, head, relation) in enumerate(rows, 1):
            found += f"{n}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
        found += "\n"
    return File(path, found.encode())


def changed(place, **cells):
    rows = [list(x) for x in WORDS]
    for column, value in cells.items():
        rows[place][["form", "tag", "head", "relation"].index(column)] = value
    return rows


GOLD = treebank("gold", WORDS, WORDS)


def write(tmp_path, file):
    (tmp_path / file.path).write_bytes(file.data)
    return tmp_path / file.path


@pytest.mark.parametrize(
    ("metric", "right"),
    [("upos", [[2, 3], [3, 3]]), ("uas", [[3, 3], [3, 2]]), ("las", [[3, 3], [2, 2]])],
)
@pytest.mark.parametrize("ids", [True, False])
def test_words_that_are_right(tmp_path, metric, right, ids):
    gold = write(tmp_path, treebank("gold", WORDS, WORDS, ids=ids))
    a = treebank("a", changed(1, tag="VERB"), changed(0, relation="det:poss"), ids=ids)
    b = treebank("b", changed(1, relation="obj"), changed(2, head=1), ids=ids)
    scores = pt.read(a, b, gold=gold, statistic=metric)
    assert [x.tolist() for x in scores.arrays] == right
    assert scores.ids == (("s0", "s1") if ids else None)
    assert sum(len(x) for x in parse(gold.read_text())) == 6


def test_what_is_not_declared_is_proposed(tmp_path, command_line):
    for file in (GOLD, treebank("a", WORDS, changed(0, tag="X")), treebank("b", WORDS, WORDS)):
        write(tmp_path, file)
    err = command_line("compare", "a", "b")[2]
    assert "a is a treebank, or text with tags: name what is right (gold" in err
    assert "For example" not in err
    err = command_line("compare", "a", "b", "--gold", "gold")[2]
    assert err.endswith("For example:  permtest compare a b --gold gold --metric las\n")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (treebank("b", WORDS, changed(0, form="The")), "'The', but 'the' in gold"),
        (treebank("b", WORDS), "1 sentences, and gold 2"),
        (File("b", GOLD.data.replace(b"\t_\t_\n", b"\t_\n")), "not a word in ten columns"),
    ],
)
def test_bad_treebanks_are_refused(tmp_path, other, why):
    gold = write(tmp_path, GOLD)
    with pytest.raises(ReadError, match=why):
        pt.read(GOLD, other, gold=gold, statistic="upos")


TAGGED = (
    "EU NNP B-ORG {}\nrejects VBZ O {}\nGerman JJ B-MISC {}\n\nPeter NNP B-PER {}\nB NNP I-PER {}\n"
)
A = TAGGED.format("B-ORG", "O", "O", "B-PER", "I-PER")
B = TAGGED.format("B-ORG", "B-ORG", "B-MISC", "B-PER", "O")


def test_entities_beside_a_column_of_gold_or_a_file(tmp_path):
    files = File("a", A.encode()), File("b", B.encode())
    scores = pt.read(*files, gold=3, statistic="spans")
    assert scores.columns == ("tp", "fp", "fn")
    assert [x.tolist() for x in scores.arrays] == [[[1, 0, 1], [1, 0, 0]], [[2, 1, 0], [0, 1, 1]]]
    gold = tmp_path / "gold.txt"
    gold.write_text("\n".join(line.rpartition(" ")[0] for line in A.split("\n")))
    assert (pt.read(*files, gold=str(gold), statistic="spans").values == scores.values).all()
    other = File("b", B.replace("B-MISC B", "B-LOC B").encode())
    bad = (files[1], 9, "9 is"), (File("", b""), 3, "0 sent"), (other, 3, "column gold")
    for file, column, why in bad:
        with pytest.raises(ReadError, match=why):
            pt.read(files[0], file, gold=column, statistic="spans")


@given(st.lists(st.sampled_from(["O", *(f"{x}-{y}" for x in "BIES" for y in ("PER", "LOC"))])))
def test_entities_are_those_of_seqeval(tags):
    own = entities(tags)
    assert own == {(start, end + 1, kind) for kind, start, end in get_entities(tags)}
    for (_, end, _), (start, _, _) in pairwise(sorted(own)):
        assert end <= start
