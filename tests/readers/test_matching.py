"""Items of two systems are paired by id, and nothing is left out without being counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permtest import exact_perm_test
from permtest.readers import File, ReadError, describe, read
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.scores import ORDER, Format, SystemScores

FORMAT = Format("made", "made scores", "", "id", "", lambda file: True, lambda file: ())


def system(name, scores, ids=None, **more):
    """A system with one score, or several."""
    scores = scores if isinstance(scores, dict) else {"acc": scores}
    by = ORDER if ids is None else "id"
    return SystemScores(name, File(f"{name}.txt", name.encode()), scores, by, ids, **more)


def pairs(*systems, **options):
    return ItemEvaluation(FORMAT, systems).pairs(**options)


@given(st.data())
def test_the_order_of_a_file_does_not_matter(data):
    mine = data.draw(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9), min_size=1))
    theirs = data.draw(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9), min_size=1))
    keys = data.draw(st.permutations(list(theirs)))
    first = system("A", list(mine.values()), list(mine))
    second = system("B", [theirs[key] for key in keys], keys)
    common = [key for key in mine if key in theirs]
    if not common:
        with pytest.raises(ReadError, match="no id in common"):
            pairs(first, second)
        return
    found = pairs(first, second)
    assert found.ids == tuple(common)
    assert found.u.tolist() == [mine[key] for key in common]
    assert found.v.tolist() == [theirs[key] for key in common]
    source = found.source
    assert source["matched"] == len(common)
    assert source["unmatched"] == [len(mine) - len(common), len(theirs) - len(common)]
    assert source["unmatched_ids"][0] == [key for key in mine if key not in theirs][:5]


def test_what_is_left_out_is_said():
    first = system("A", [1, 0, None, 1], ["w", "x", "y", "z"], notes=("Tags were repaired.",))
    second = system("B", [1, 1, 1], ["z", "y", "x"])
    found = pairs(first, second)
    assert (found.u.tolist(), found.v.tolist()) == ([0, 1], [1, 1])
    assert describe(found.source, FORMAT.title) == (
        "made scores: 2 items paired by id; 1 only in A ('w'); 1 without a score ('y'). "
        "Tags were repaired."
    )


BAD = {
    "lengths": ([system("A", [1, 0]), system("B", [1])], "B.txt: 1 items, but 2 of 'A', and no"),
    "ids of one": ([system("A", [1]), system("B", [1], ["x"])], "A.txt: has no ids, but B.txt has"),
    "one system": ([system("A", [1])], "1 system (A); add the file of another"),
    "three": ([system(n, [1]) for n in "ABC"], "3 systems (A, B, C); choose two as a and b"),
    "no score": (
        [system("A", {"f": [1]}), system("B", {"g": [1]})],
        "no score in common: f of 'A' and g of 'B'",
    ),
    "scores": (
        [system(n, {"acc": [1], "acc_norm": [1]}) for n in "AB"],
        "2 scores ('acc', 'acc_norm'); choose one as score (--score)",
    ),
    "nothing scored": ([system("A", [None]), system("B", [1])], "no item has the score 'acc'"),
    "disagreement": (
        [system(n, [1], ["i"], agree={"target": [n]}) for n in "AB"],
        "'i' has another target ('B') than in A.txt ('A')",
    ),
    "clusters": (
        [system(n, [1], ["i"], clusters={"doc": [n]}, swapped="doc") for n in "AB"],
        "'i' belongs to doc 'B', but in A.txt to 'A'",
    ),
    "counts": (
        [system(n, {"spans": [(1, 0, 0)]}, counts={"spans": ("tp", "fp", "fn")}) for n in "AB"],
        "has counts (tp, fp, fn) of each item, but 'sum' takes one number; choose f1 or",
    ),
}


@pytest.mark.parametrize(("systems", "part"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_paired(systems, part):
    with pytest.raises(ReadError) as caught:
        pairs(*systems)
    assert part in str(caught.value)


def test_an_id_occurs_once():
    with pytest.raises(ReadError, match=r"A.txt: 'x' is the id of two items \(line 1 and line 3\)"):
        system("A", [1, 0, 1], ["x", "y", "x"], places=["line 1", "line 2", "line 3"])


def test_systems_and_scores_by_name_number_and_beginning():
    scores = {"acc,none": [1, 0], "acc_norm,none": [0, 0]}
    three = [system(name, scores) for name in ("old", "new", "base")]
    evaluation = ItemEvaluation(FORMAT, tuple(three))
    found = evaluation.pairs("new", 3, score="acc")
    assert (found.names, found.u.tolist()) == (("new", "base"), [1, 0])
    assert evaluation.pairs("new", "old", score="acc_norm,none").u.tolist() == [0, 0]
    for a, b, part in (
        ("nwe", "old", "no system 'nwe' (did you mean 'new'?)"),
        ("new", None, "a is given without b"),
        ("new", "new", "a and b are both 'new'"),
    ):
        with pytest.raises(ReadError) as caught:
            evaluation.pairs(a, b, score="acc")
        assert part in str(caught.value)
    with pytest.raises(ReadError, match="no score 'f1'; there are acc,none, acc_norm,none"):
        evaluation.pairs("new", "old", score="f1")


def test_groups_are_swapped_as_a_whole_unless_one_says_otherwise():
    both = [
        system(name, [1, 0, 1], ["a", "b", "c"], clusters={"doc": ["x", "x", "y"]}, swapped="doc")
        for name in "AB"
    ]
    assert pairs(*both).clusters == ("x", "x", "y")
    assert pairs(*both, clusters=False).clusters is None
    assert pairs(*both, clusters="doc").clusters == ("x", "x", "y")
    with pytest.raises(ReadError, match="no 'text' of both systems; there are doc"):
        pairs(*both, clusters="text")


def test_counts_become_a_table():
    table = {"spans": [(2, 1, 0), (0, 0, 3)]}
    both = [system(name, table, counts={"spans": ("tp", "fp", "fn")}) for name in "AB"]
    found = pairs(*both, statistic="f1")
    assert (found.u.tolist(), found.columns) == ([[2, 1, 0], [0, 0, 3]], ("tp", "fp", "fn"))
    evaluation = ItemEvaluation(FORMAT, tuple(both))
    assert evaluation.statistics("A", "B")[0] == "f1"
    with pytest.raises(ReadError, match="needs 2"):
        pairs(*both, statistic="wer")


def test_equal_cells_are_ties_whatever_else_is_in_their_columns():
    third, two = "0.3333333333333333", "0.6666666666666666"
    wide = f"id,a,b\n1,{third},{third}\n2,{two},{two}\n3,1,0.12345\n"
    files = [f"id,score\n1,{third}\n2,{two}\n3,{last}\n" for last in ("1", "0.12345")]
    for sources in (
        [File("wide.csv", wide.encode())],
        [File(f"{name}.csv", text.encode()) for name, text in zip("ab", files, strict=True)],
    ):
        result = exact_perm_test(read(*sources), statistic="mean")
        assert (result.n_informative, result.pvalue) == (1, 1.0)


def test_a_file_compared_with_itself_is_noted():
    data = b"id,score\nq1,1\nq2,0\n"
    same = "b.csv has the content of a.csv: a file is compared with itself"
    once, twice = File("a.csv", data), File("b.csv", data)
    assert read(once, twice).source["notes"] == [same]
    assert read(once, File("b.csv", data + b"q3,1\n")).source["notes"] == []
