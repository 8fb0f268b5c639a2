"""Data frames are read as the tables that they are, with every digit and the right ids."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permtest.readers import File, ReadError, read, recognise


def scores(pairs):
    names = pairs.ids or range(len(pairs))
    both = zip(pairs.u.tolist(), pairs.v.tolist(), strict=True)
    return {
        name: (Fraction(u, pairs.scale), Fraction(v, pairs.scale))
        for name, (u, v) in zip(names, both, strict=True)
    }


# ---- the same pairs as from arrays and files ---------------------------------------------------


@settings(max_examples=25)
@given(
    items=st.dictionaries(
        st.integers(0, 99),
        st.tuples(
            st.integers(-(2**63), 2**63 - 1), st.sampled_from([0.1, 0.25, 1 / 3, -1e-9, 7.0])
        ),
        min_size=2,
        max_size=5,
    ),
    library=st.sampled_from([pd, pl]),
    data=st.data(),
)
def test_all_shapes_of_frames_give_the_same_pairs(items, library, data):
    rows = data.draw(st.permutations(list(items)))
    news, olds = [items[i][0] for i in rows], [items[i][1] for i in items]
    wide = {"id": list(items), "new": [a for a, _ in items.values()], "old": olds}
    first, second = {"id": rows, "score": news}, {"id": list(items), "score": olds}
    long = {
        "id": rows + list(items),
        "system": ["new"] * len(rows) + ["old"] * len(rows),
        "score": pd.array(news + olds, dtype=object) if library is pd else None,
    }
    table = File("t.csv", pd.DataFrame(wide).to_csv(index=False).encode())
    wanted = scores(read(table, a="new", b="old"))
    assert scores(read(library.DataFrame(wide), a="new", b="old")) == wanted
    assert scores(read(library.DataFrame(first), library.DataFrame(second))) == wanted
    if library is pd:
        assert scores(read(pd.DataFrame(long), a="new", b="old")) == wanted
        assert scores(read(pd.DataFrame(wide).set_index("id"), a="new", b="old")) == wanted
        levels = pd.DataFrame(long).set_index(["id", "system"])
        assert scores(read(levels, a="new", b="old")) == wanted


KINDS = {
    "integers": (pd.Series([2**62 + 1, -3]), [2**62 + 1, -3]),
    "unsigned": (pd.Series(np.array([2**64 - 1, 0], dtype=np.uint64)), [2**64 - 1, 0]),
    "nullable": (pd.array([3, 2**62 + 1], dtype="Int64"), [3, 2**62 + 1]),
    "booleans": (pd.Series([True, False]), [1, 0]),
    "nullable booleans": (pd.array([True, False], dtype="boolean"), [1, 0]),
    "floats": (pd.Series([0.1, 1e-8]), [Fraction("0.1"), Fraction("1e-8")]),
    "thirds": (pd.Series([1 / 3, 2 / 3]), [Fraction(1, 3), Fraction(2, 3)]),
    "narrow": (pd.Series([0.1, 2.5], dtype="float32"), [Fraction("0.1"), Fraction("2.5")]),
    "narrow thirds": (pd.Series([1 / 3, 2 / 3], dtype="float32"), [Fraction(1, 3), Fraction(2, 3)]),
    "nullable narrow": (pd.array([0.1, 0.7], dtype="Float32"), [Fraction("0.1"), Fraction("0.7")]),
    "decimals": (pd.Series([Decimal("1E+3"), Decimal("1E-30")]), [1000, Fraction("1e-30")]),
    "categories": (pd.Categorical([2, 7]), [2, 7]),
    "large objects": (pd.Series([10**40, 1], dtype=object), [10**40, 1]),
    "narrow of polars": (pl.Series([1 / 3, 0.5], dtype=pl.Float32), [Fraction(1, 3), 0.5]),
    "some digits": (pl.Series([0.1234567, 0.5], dtype=pl.Float32), [Fraction("0.1234567"), 0.5]),
    "decimals of polars": (
        pl.Series(["0.10", "2.50"]).cast(pl.Decimal(10, 2)),
        [Fraction("0.1"), Fraction("2.5")],
    ),
    "categories of polars": (pl.Series(["2", "7"], dtype=pl.Categorical), [2, 7]),
}


@pytest.mark.parametrize(("column", "wanted"), KINDS.values(), ids=KINDS.keys())
def test_nothing_is_lost(column, wanted):
    library = pl if isinstance(column, pl.Series) else pd
    pairs = read(library.DataFrame({"a": column, "b": [0, 0]}))
    assert [a for a, _ in scores(pairs).values()] == wanted


def test_missing_values_are_refused_where_they_are_chosen():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([None, 1], dtype="Int64"), "c": [np.nan, 3]})
    for column in "bc":
        with pytest.raises(ReadError, match=f"frame 1, row 0, column '{column}': '' is a missing"):
            read(frame, a="a", b=column)
    frame = pl.DataFrame({"a": [1, 2], "b": [None, 1], "c": [float("nan"), 3.0]})
    for column in "bc":
        with pytest.raises(ReadError, match="'' is a missing score"):
            read(frame, a="a", b=column)


# ---- which column says what an item is called --------------------------------------------------

A = {"a": [3, 5], "b": [2, 4]}
INDEXES = {
    "default": (pd.DataFrame(A), None),
    "filtered": (pd.DataFrame(A | {"c": [0, 1]}).drop(columns="c").iloc[1:], ("1",)),
    "named": (pd.DataFrame(A, index=pd.RangeIndex(2, name="row")), ("0", "1")),
    "texts": (pd.DataFrame(A, index=["x", "y"]), ("x", "y")),
    "a column": (pd.DataFrame(A | {"id": ["p", "q"]}, index=["x", "y"]), ("p", "q")),
    "levels": (
        pd.DataFrame(A, index=pd.MultiIndex.from_tuples([("d", 1), ("d", 2)], names=["doc", "nr"])),
        ("d, 1", "d, 2"),
    ),
    "polars": (pl.DataFrame(A), None),
}


@pytest.mark.parametrize(("frame", "ids"), INDEXES.values(), ids=INDEXES.keys())
def test_ids(frame, ids):
    assert read(frame, a="a", b="b").ids == ids


def test_two_frames_are_paired_by_index():
    first, second = pd.DataFrame({"s": [1, 2]}, ["x", "y"]), pd.DataFrame({"s": [3, 4]}, ["y", "z"])
    pairs = read(first, second)
    assert (scores(pairs), pairs.source["paired_by"]) == ({"y": (2, 3)}, "index")
    assert pairs.source["unmatched_ids"] == [["x"], ["z"]]
    assert read(pd.DataFrame({"s": [1]}), pd.DataFrame({"s": [2]})).source["paired_by"] == "order"


def test_names_of_columns():
    pairs = read(pd.DataFrame([[1, 2], [3, 4]]))  # numbers are names, and no line is taken for one
    assert (pairs.names, len(pairs)) == (("0", "1"), 2)
    counts = [("new", "tp"), ("new", "incorrect"), ("old", "tp"), ("old", "incorrect")]
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=pd.MultiIndex.from_tuples(counts))
    pairs = read(frame, statistic="f1")
    assert (pairs.names, pairs.u.tolist()) == (("new", "old"), [[1, 2]])


def test_what_is_recorded():
    frame = pd.DataFrame(A | {"doc": ["x", "x"]})
    evaluation = recognise(frame)
    assert (evaluation.format.name, evaluation.systems) == ("frame", ("a", "b"))
    pairs = read(frame, a="b", b="a", clusters="doc")
    assert pairs.clusters == ("x", "x")
    assert (pairs.source["loader"], pairs.source["file"]) == ("frame", "frame 1")
    assert pairs.source["sha256"] == read(frame.copy()).source["sha256"]
    labels = pl.DataFrame({"y": ["c", "d"], "p": ["c", "c"], "q": ["d", "d"]})
    assert scores(read(labels, gold="y")) == {0: (1, 0), 1: (0, 1)}


BAD = {
    "no rows": (pd.DataFrame({"a": [], "b": []}), "has no rows, or no columns"),
    "no columns": (pl.DataFrame(), "has no rows, or no columns"),
    "same names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns are called 'a'"),
    "index and column": (pd.DataFrame({"id": [1]}, pd.Index([1], name="id")), "called 'id'; ren"),
    "same ids": (pd.concat([pd.DataFrame(A)] * 2), "row 2, column 'index': '0' is on row 0, too"),
    "text": (pd.DataFrame({"a": [1], "b": ["x"]}), "row 0, column 'b': 'x' is not a number"),
    "infinite": (pd.DataFrame({"a": [1.0], "b": [np.inf]}), "column 'b': 'inf' is not a number"),
}


@pytest.mark.parametrize(("frame", "part"), BAD.values(), ids=BAD.keys())
def test_bad_frame(frame, part):
    with pytest.raises(ReadError, match=part):
        read(frame)
