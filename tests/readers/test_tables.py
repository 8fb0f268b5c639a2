"""Tables of every shape give the same pairs, and what is ambiguous is refused."""

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import File, ReadError, describe, read, recognise


def file(text, name="scores.csv"):
    return File(name, text.encode())


def scores(pairs):
    """What was read, item by item, exactly."""
    names = pairs.ids or range(len(pairs))
    both = zip(pairs.u.tolist(), pairs.v.tolist(), strict=True)
    return {
        name: (Fraction(u, pairs.scale), Fraction(v, pairs.scale))
        for name, (u, v) in zip(names, both, strict=True)
    }


def text_of(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


# ---- one set of scores, in every shape ---------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(0, 1),
    st.decimals(-100, 100, places=3).map(lambda x: f"{x:f}"),
)
ITEMS = st.dictionaries(
    st.text("abc 1,;é", min_size=1).map(str.strip).filter(bool).map("i{}".format),
    st.tuples(NUMBERS, NUMBERS),
    min_size=2,
    max_size=6,
)


@settings(max_examples=60)
@given(items=ITEMS, data=st.data())
def test_all_shapes_give_the_same_pairs(items, data):
    wanted = {
        name: (Fraction(str(a)), Fraction(str(b))) for name, (a, b) in items.items()
    }  # the obvious way

    def some_order(rows):
        return data.draw(st.permutations(list(rows)))

    wide = [(name, a, b) for name, (a, b) in items.items()]
    columns = [list(column) for column in zip(*wide, strict=True)]
    news, olds = ([(row[0], row[i]) for row in wide] for i in (1, 2))
    long = [(name, "new", a) for name, a in news] + [(name, "old", b) for name, b in olds]
    shapes = {
        "wide": [text_of([("id", "new", "old"), *some_order(wide)])],
        "long": [text_of([("id", "system", "score"), *some_order(long)])],
        "two": [text_of([("id", "score"), *some_order(rows)]) for rows in (news, olds)],
        "records": [
            json.dumps([{"id": name, "new": a, "old": b} for name, a, b in some_order(wide)])
        ],
        "lines": [
            "\n".join(
                json.dumps({"score": x, "model": system, "id": name})
                for name, system, x in some_order(long)
            )
        ],
        "lists": [json.dumps(dict(zip(("id", "new", "old"), columns, strict=True)))],
    }
    for shape, texts in shapes.items():
        names = ["new.txt", "old.txt"] if len(texts) == 2 else ["both.txt"]
        pairs = read(
            *(file(text, name) for text, name in zip(texts, names, strict=True)), a="new", b="old"
        )
        assert scores(pairs) == wanted, shape
        assert pairs.names == ("new", "old")
        assert sum(pairs.source["unmatched"]) == pairs.source["dropped"] == 0
    by_order = [file("".join(f"{row[i]}\n" for row in wide), f"{i}.txt") for i in (1, 2)]
    assert list(scores(read(*by_order)).values()) == list(wanted.values())


# ---- long tables -------------------------------------------------------------------------------

SWAPPED = (
    "hole values of 'cluster' are swapped by default, since that column is called so "
    "(--no-clusters swaps items)"
)
LONG = "id,system,score,cluster,topic\n1,new,3,x,p\n1,old,2,x,p\n2,old,1,x,q\n2,new,5,x,q\n"


def test_a_line_for_each_item_and_system():
    evaluation = recognise(file(LONG + "3,new,4,y,p\n3,old,0,y,p\n4,new,1,y,q\n"))
    assert (evaluation.format.name, evaluation.systems) == ("long", ("new", "old"))
    assert evaluation.groupings == ("cluster", "topic")
    assert evaluation.score_names("new", "old") == ("score",)
    assert evaluation.statistics("new", "old")[0] == "accuracy"
    pairs = evaluation.pairs("old", "new")
    assert scores(pairs) == {"1": (2, 3), "2": (1, 5), "3": (0, 4)}
    assert pairs.clusters == ("x", "x", "y")
    assert pairs.source["loader"] == "long"
    said = describe(pairs.source, "long")
    assert said.startswith("long: 3 items paired by id; 1 only in B ('4')")
    assert said.endswith(f"{SWAPPED}.")
    assert evaluation.pairs(clusters=False).clusters is None
    assert evaluation.pairs(clusters="topic").clusters == ("p", "q", "p")


def test_scores_and_counts_of_a_long_table():
    text = "item,model,tp,fp,fn,ms\ns1,a,3,1,0,9\ns1,b,2,2,1,8\ns2,a,1,1,1,\ns2,b,0,0,0,7\n"
    pairs = read(file(text), statistic="f1")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([[3, 1, 0], [1, 1, 1]], [[2, 2, 1], [0, 0, 0]])
    assert pairs.source["paired_by"] == "item"
    one = read(file(text), score="ms")
    assert (scores(one), one.source["dropped_ids"]) == ({"s1": (9, 8)}, ["s2"])
    assert scores(read(file(text))) == scores(one)  # the only one that can be summed


def test_wide_tables_are_not_mistaken():
    wide = "id,model,a,b\n1,large,3,2\n2,small,1,2\n3,large,0,0\n"
    assert recognise(file(wide)).format.name == "table"
    assert scores(read(file(wide))) == {"1": (3, 2), "2": (1, 2), "3": (0, 0)}
    assert read(file(wide), clusters="model").clusters == ("large", "small", "large")
    assert recognise(file("model,a,b\nx,1,2\ny,1,2\n")).format.name == "table"


BAD_LONG = {
    "twice": (LONG + "2,new,0,x,p\n", ["'2' is the id of two items (line 5 and line 6)"]),
    "no common": ("id,system,score\n1,a,3\n2,b,2\n", ["no id in common"]),
    "text": ("id,system,score\n1,a,3\n1,b,O\n", ["line 3, column 'score': 'O' is not a number"]),
    "no system": ("id,system,score\n1,a,3\n1,,2\n1,b,4\n", ["line 3, column 'system': '' is a mi"]),
    "no id": ("id,system,score\n1,a,3\n,b,2\n1,b,4\n", ["line 3, column 'id': '' is an item with"]),
    "no cluster": (LONG.replace("3,x", "3,"), ["line 2, column 'cluster': '' is a missing label"]),
    "clusters": (LONG.replace("2,x", "2,y"), ["line 3 belongs to cluster 'y', but in", "'x'"]),
    "one": ("id,system,score\n1,a,3\n2,a,2\n", ["1 column with numbers", "add the file of the"]),
    "no ids": (
        "system,score\na,3\nb,2\n",
        ["1 column with numbers", "call the column that says which item 'id'"],
    ),
    "no scores": ("id,system,said\n1,a,yes\n1,b,no\n", ["no column of numbers; its columns are"]),
    "half": ("id,system,tp,TP,fp,fn\n1,a,1,1,1,1\n1,b,1,1,1,1\n", ["'tp' and column 'TP' both"]),
}


@pytest.mark.parametrize(("text", "parts"), BAD_LONG.values(), ids=BAD_LONG.keys())
def test_bad_long_table(text, parts):
    with pytest.raises(ReadError) as caught:
        read(file(text))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("header", ["score,length", "tp,incorrect", "gold,pred", "new,accuracy"])
def test_one_system_alone_is_not_taken_for_two(header):
    text = f"id,{header}\n1,2,3\n2,0,1\n"
    with pytest.raises(ReadError, match="by its name no system, but something of one; add the fil"):
        read(file(text))
    first, second = header.split(",")
    assert len(read(file(text), a=first, b=second)) == 2


# ---- a file for each system --------------------------------------------------------------------


def test_files_without_ids_are_paired_by_order_and_that_is_said():
    pairs = read(file("1\n0.5\n", "new.txt"), file("2\n3\n", "old.txt"))
    assert scores(pairs) == {0: (1, 2), 1: (Fraction(1, 2), 3)}
    assert pairs.names == ("new", "old")
    assert describe(pairs.source, "two files") == "two files: 2 items paired by order."


def test_names_of_systems():
    rows = "id,score\n1,2\n2,3\n"
    assert read(file(rows, "x/s.csv"), file(rows, "y/s.csv")).names == ("x", "y")
    assert read(file(rows), file(rows)).names == ("scores (1)", "scores (2)")
    said = "id,model,score\n1,{0},2\n2,{0},3\n"
    assert read(file(said.format("new")), file(said.format("old"))).names == ("new", "old")
    files = file(LONG, "p.csv"), file(LONG, "q.csv")
    assert recognise(*files).systems == ("new (p)", "old (p)", "new (q)", "old (q)")
    assert recognise(*files).format.name == "long"
    assert recognise(files[0], file("id,score\n1,2\n", "q.csv")).systems == ("new", "old", "q")


def test_the_only_score_of_each_file_may_be_called_differently():
    news, olds = "id,new\n1,2\n2,3\n", "id,old\n2,5\n1,4\n"
    pairs = read(file(news, "New.csv"), file(olds, "old.csv"))
    assert scores(pairs) == {"1": (2, 4), "2": (3, 5)}
    assert "Scores of old.csv are its column 'old'" in pairs.source["notes"]
    measures = news.replace("new", "accuracy"), olds.replace("old", "score")
    assert scores(read(*(file(text, f"q{len(text)}.csv") for text in measures))) == scores(pairs)


def test_two_measures_are_not_compared():
    files = [file(f"id,{name}\n1,2\n2,3\n", f"q{i}.csv")
             for i, name in enumerate(("accuracy", "latency_ms"), 1)]  # fmt: skip
    with pytest.raises(ReadError) as caught:
        read(*files)
    assert str(caught.value) == (
        "q2.csv: its only score is column 'latency_ms', but that of q1.csv is 'accuracy'; if "
        "these are the same measure, give both columns the same name"
    )


def test_one_of_several_scores():
    first = file("id,acc,ms,doc,lang\n1,1,20,7,en\n2,0,30,7,en\n3,1,1.5,8,en\n", "n.csv")
    second = file("id,acc,ms,doc,lang\n3,1,1,8,en\n2,1,2,7,en\n1,1,3,7,en\n", "o.csv")
    assert scores(read(first, second, score="ms"))["3"] == (Fraction(3, 2), 1)
    assert read(first, second, score="acc", clusters="doc").clusters == ("7", "7", "8")
    with pytest.raises(ReadError, match="2 scores"):
        read(first, second)


def test_numbers_of_documents_are_no_scores():
    files = [
        f"id,document,score\n1,7,{a}\n2,7,{b}\n3,8,{c}\n" for a, b, c in ((1, 2, 3), (3, 2, 0))
    ]
    rows = [text.splitlines()[1:] for text in files]
    long = "".join(f"{row},{name}\n" for name, some in zip("ab", rows, strict=True) for row in some)
    for found in (
        [file(text, name) for text, name in zip(files, "ab", strict=True)],
        [file(f"id,document,score,system\n{long}")],
    ):
        assert read(*found, clusters="document").clusters == ("7", "7", "8")
        assert scores(read(*found))["1"] == (1, 3)
        assert read(*found).clusters is None


def test_texts_of_items():
    rows = "id,question,score\n1,Who?,2\n2,Where?,3\n"
    assert recognise(file(rows), file(rows)).text("2") == "Where?"
    wide = recognise(file("id,question,a,b\n1,Who?,2,3\n"))
    assert (wide.text("1"), wide.text("9")) == ("Who?", "")


BAD_PAIRS = {
    "lengths": (("1\n2\n3\n", "1\n2\n"), ["2 items, but 3 of 'a'", "same order"]),
    "no header": (("1 2\n2 3\n", "1 2\n2 3\n"), ["line 1: 2 columns and no header", "'id' and 's"]),
    "ids of one": (("id,score\n1,2\n", "2\n"), ["has no ids, but a.csv has"]),
    "other ids": (("id,s\n1,2\n", "item,s\n1,2\n"), ["its ids are in column 'item'", "one name"]),
    "two systems": (("model,s\nx,1\ny,2\n", "1\n2\n"), ["column 'model': 2 systems and no ids"]),
    "no scores": (("id,said\n1,yes\n", "id,said\n1,no\n"), ["no column of numbers"]),
    "text": (("id,s\n1,2\n2,3\n", "id,s\n1,2\n2,x\n"), ["b.csv", "no column of numbers"]),
    "slip": (("id,score\n1,2\n2,3\n", "id,score\n1,2\n2,x\n"), ["b.csv, line 3, column 'score'"]),
    "no common score": (("id,p,q\n1,2,3\n", "id,r,s\n1,2,3\n"), ["no score in common"]),
    "lengths of references": (
        ("id,errors,length\n1,2,9\n", "id,errors,length\n1,2,8\n"),
        ["line 2 has another length ('8') than in a.csv ('9')"],
    ),
}


@pytest.mark.parametrize(("texts", "parts"), BAD_PAIRS.values(), ids=BAD_PAIRS.keys())
def test_bad_pair_of_files(texts, parts):
    counts = "wer" if "length" in texts[0] else "sum"
    with pytest.raises(ReadError) as caught:
        read(file(texts[0], "a.csv"), file(texts[1], "b.csv"), statistic=counts)
    for part in parts:
        assert part in str(caught.value)


# ---- clusters ----------------------------------------------------------------------------------


def test_a_column_of_clusters_is_swapped_by_default_in_every_shape():
    wide = "id,cluster,new,old\n1,7,3,2\n2,7,5,1\n3,8,4,0\n"
    long = "id,cluster,system,score\n1,7,new,3\n2,7,new,5\n3,8,new,4\n"
    long += "1,7,old,2\n2,7,old,1\n3,8,old,0\n"
    two = [f"id,cluster,score\n1,7,{a}\n2,7,{b}\n3,8,{c}\n" for a, b, c in ((3, 5, 4), (2, 1, 0))]
    found = [
        read(file(wide)),
        read(file(long)),
        read(file(two[0], "new.csv"), file(two[1], "old.csv")),
    ]
    for pairs in found:
        assert pairs.clusters == ("7", "7", "8")
        assert exact_perm_test(pairs).fraction() == Fraction(1, 2)
        assert [note[1:] for note in pairs.source["notes"]] == [SWAPPED]
    assert read(file(wide), clusters=False).clusters is None
    assert read(file(wide), clusters=False).source["notes"] == []
    assert read(file(wide), clusters="cluster").source["notes"] == []
    assert read(file(wide.replace("cluster", "group")), a="new", b="old").clusters is None
    assert recognise(file(wide)).groupings == ("cluster",)
    assert read(file(wide.replace("8", "7"))).clusters is None  # one cluster is none


# ---- decimals that programs print --------------------------------------------------------------


@settings(max_examples=200)
@given(
    denominator=st.integers(2, 1000),
    numerators=st.lists(st.integers(-3000, 3000), min_size=1, max_size=8),
    style=st.sampled_from([repr, "{:.15g}".format, "{:.16g}".format, "{:.17g}".format]),
)
def test_fractions_are_recognised_however_they_are_printed(denominator, numerators, style):
    """Where fewer than 15 digits are printed, they are what is meant."""
    texts = [style(k / denominator) for k in numerators]
    table = "a,b\n" + "".join(f"{text},0\n" for text in texts)
    pairs = read(File("a.csv", table.encode()))
    found = [Fraction(int(x), pairs.scale) for x in pairs.u]
    for number, k, text in zip(found, numerators, texts, strict=True):
        short = len(Decimal(text).as_tuple().digits) < 15
        assert number == (Fraction(text) if short else Fraction(k, denominator))
    assert pairs.rounding is None


def test_ties_between_printed_thirds_count():
    for digits, scale, p in ((15, 3, Fraction(8, 16)), (5, 10**5, Fraction(7, 16))):
        third, two = f"{1 / 3:.{digits}f}", f"{2 / 3:.{digits}f}"
        rows = [(two, 0), (third, 0), (0, third), (0, third)]  # as much as -2/3 and 3/3
        table = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
        lines = "".join(f'{{"a": {a}, "b": {b}}}\n' for a, b in rows)
        for text in (table, lines):
            pairs = read(file(text))
            assert pairs.scale == scale
            assert exact_perm_test(pairs, alternative="greater").fraction() == p


# ---- tools of translation and of speech --------------------------------------------------------


def test_segment_scores_as_sacrebleu_prints_them():
    line = (
        "BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = {} 9.0/7.0 (BP = 1)\n"
    )
    new, old = ("".join(line.format(x) for x in some) for some in ((57.9, 35.4), (50.1, 40.0)))
    pairs = read(file(new, "new.txt"), file(old, "old.txt"))
    assert scores(pairs) == {
        0: (Fraction("57.9"), Fraction("50.1")),
        1: (Fraction("35.4"), Fraction(40)),
    }
    with pytest.raises(ReadError, match="line 3: 'TER = 3' is no BLEU as on line 1"):
        read(file(new + "TER = 3\n"), file(old))


def bleu(matches, totals, length, reference):
    return {"score": 1.5, "counts": matches, "totals": totals, "sys_len": length,
            "ref_len": reference, "prec_str": "1/2"}  # fmt: skip


def test_the_statistics_of_sacrebleu():
    new = [bleu([5, 3, 2, 1], [5, 4, 3, 2], 5, 6), bleu([3, 1, 0, 0], [4, 3, 2, 1], 4, 4)]
    old = [bleu([4, 3, 2, 1], [5, 4, 3, 2], 5, 6), bleu([4, 3, 2, 1], [4, 3, 2, 1], 4, 4)]
    pairs = read(file(json.dumps(new), "n"), file(json.dumps(old), "o"), statistic="bleu")
    assert pairs.u.tolist() == [[5, 3, 2, 1, 5, 4, 3, 2, 5, 6], [3, 1, 0, 0, 4, 3, 2, 1, 4, 4]]
    assert pairs.columns[0] == "match_1"
    assert scores(read(file(json.dumps(new)), file(json.dumps(old)), score="score"))[0] == (
        1.5,
        1.5,
    )
    wide = [{"new": a, "old": b} for a, b in zip(new, old, strict=True)]
    assert read(file(json.dumps(wide)), statistic="bleu").v.tolist() == pairs.v.tolist()
    new[1]["counts"] = [3, 1]
    with pytest.raises(ReadError, match=r"record 2, column 'counts': '\[3, 1\]' is no list"):
        read(file(json.dumps(new)), file(json.dumps(old)))


def test_the_words_of_jiwer():
    header = "id,wer,hits,substitutions,deletions,insertions\n"
    new, old = file(header + "1,.2,8,1,1,0\n", "n"), file(header + "1,.5,6,3,1,1\n", "o")
    pairs = read(new, old, statistic="wer")
    assert (pairs.u.tolist(), pairs.v.tolist()) == ([[2, 10]], [[5, 10]])
    wide = "id,n_hits,n_substitutions,n_deletions,n_insertions,hits.o,substitutions.o,deletions.o,"
    text = file(f"{wide}insertions.o\n1,8,1,1,0,6,3,1,1\n")
    assert read(text, statistic="wer").v.tolist() == [[5, 10]]
    assert scores(read(new, old, score="wer, each item")) == {"1": (Fraction(1, 5), Fraction(1, 2))}
    with pytest.raises(ReadError, match=r"line 2, column 'deletions': 1.5 is not a whole number"):
        read(file(header + "1,.2,8,1,1.5,0\n"), old, statistic="wer")
