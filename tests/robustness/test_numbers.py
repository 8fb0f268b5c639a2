"""Whatever scores are held in: the numbers that they stand for are compared, or it says why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import permtest as pt
from permtest.integers import in_common_units
from tests import naive
from tests.robustness.columns import MEANT, PLAIN, REFUSED, read_only
from tests.robustness.surface import SURFACE, TESTS, told

OTHER = [1, 0, 2, 1, 0, 1]


def attempt(name: str, u: Any, v: Any = OTHER) -> tuple[str, str]:
    """The answer, or the error, of a function for these scores."""
    try:
        answer = SURFACE[name](u, v)
    except (TypeError, ValueError) as error:
        return "refused", str(error)
    if name in TESTS:
        p = np.asarray(answer.pvalue, dtype=float)
        assert np.all((p > 0) & (p <= 1)), f"p = {p}"
    return "answered", told(answer)


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch):
    monkeypatch.setattr(import_module("permtest.study.recommend"), "SAMPLES", 50)


@cache
def twin(name: str, meant: tuple[Any, ...]) -> str:
    """What is said of the same numbers as Python's, in an array that NumPy cannot change."""
    column = np.empty(len(meant), object)
    column[:] = meant
    return attempt(name, column)[1]


@pytest.mark.parametrize("name", SURFACE)
def test_every_function_takes_them_for_the_same_numbers(name):
    """The answer is that of the numbers, and they are as they were."""
    for column, (make, meant) in MEANT.items():
        values = make()
        before, found = str(list(values)), attempt(name, values)
        if column == "1e308" and found[0] == "refused":  # by what squares scores
            assert "its square is no float" in found[1], found[1]
        else:
            assert found == ("answered", twin(name, tuple(meant))), column
        assert str(list(values)) == before, column


@pytest.mark.parametrize("name", SURFACE)
def test_every_function_refuses_what_is_no_score(name):
    """The error has the argument, and the first bad index where there is one."""
    for column, (make, where) in REFUSED.items():
        for values in ((make(), OTHER), (OTHER, make())):
            with pytest.raises((TypeError, ValueError)) as caught:
                SURFACE[name](*values)
            said = str(caught.value)
            assert re.match(r"(scores\[)?'?[uvab]\b", said), f"{column}: {said}"
            assert where is None or f"[{where}]" in said, f"{column}: {said}"


# ---- any number of any size ---------------------------------------------------------------------

SHARP = [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**60 - 1, 2**60, 2**62, 2**63 - 1, -(2**63)]
INTEGERS = st.sampled_from(SHARP) | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


DTYPES = st.sampled_from(["i1", "u1", "i2", "u4", "i8", "i8", "u8", "?"])


@given(
    st.lists(st.tuples(INTEGERS, INTEGERS), max_size=8),
    st.sampled_from(["two-sided", "less"]),
    DTYPES,
)
def test_integers_of_any_size(rows, alternative, dtype):
    one, other = np.array(rows, np.int64).reshape(-1, 2).T.astype(dtype)
    u, v = (list(map(int, x)) for x in (one, other))
    expected = naive.pvalue(u, v, h=naive.h_of(alternative))
    found = pt.exact_perm_test(one, other, alternative=alternative)
    assert (found.fraction(), found.statistic) == (expected, sum(u) - sum(v))
    both = pt.exact_perm_test([one, other], [other, one], axis=1, alternative=alternative)
    assert both.pvalue[0] == pytest.approx(float(expected), rel=1e-12)
    assert both.statistic.tolist() == [sum(u) - sum(v), sum(v) - sum(u)]


@example([2.0**-149])
@example([2.0**-126])
@example([2.0**-24])
@example([2.225073858507203e-309])
@example([6.576125829727525e161])
@example([2.0**52, 8589934592.257812])  # off by what the larger one may be off, which is said
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=7))
def test_floats_of_any_size_are_what_is_printed_or_fractions_nearby(u):
    (integers,), scale, tolerance, _ = in_common_units([np.array(u, dtype=float)], ["u"])
    off = [0.0] * len(u) if tolerance is None else tolerance[0].tolist()
    for x, number, said in zip(u, integers.tolist(), off, strict=True):
        meant = Fraction(number, scale)
        assert (meant == 0) == (x == 0)
        as_it_is = meant in (Fraction(str(x)), Fraction(x))
        with np.errstate(over="ignore"):
            single = np.float32(x)
        if float(single) == x:  # then a float32 is what was printed
            as_it_is |= meant == Fraction(str(single))
        off_by = abs(meant - Fraction(x))
        assert as_it_is or off_by <= said or off_by <= 4 * Fraction(np.spacing(abs(x)))


# ---- counts --------------------------------------------------------------------------------------

COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 1, 1], [4, 0, 1]])
OTHERS = [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]
COLUMNS = dict(zip(("tp", "fp", "fn"), COUNTS.T, strict=True))

TABLES: dict[str, Callable[[], Any]] = {
    "list": COUNTS.tolist,
    "Fortran": lambda: np.asfortranarray(COUNTS),
    "backwards": lambda: np.ascontiguousarray(COUNTS[::-1])[::-1],
    "read-only": lambda: read_only(COUNTS),
    "uint8": lambda: COUNTS.astype(np.uint8),
    "floats": lambda: COUNTS.astype(float),
    "pandas": lambda: pd.DataFrame(COLUMNS)[["fn", "tp", "fp"]],
    "pandas Int64": lambda: pd.DataFrame(COLUMNS, dtype="Int64"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "dict": lambda: COLUMNS,
    "dict of kinds": lambda: COLUMNS | {"tp": COUNTS[:, 0].astype("u8"), "fp": [0, 1.0, 1, 0]},
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())
def test_tables_of_counts_are_what_they_hold(make):
    expected = naive.measure_pvalue(COUNTS.tolist(), OTHERS, naive.MEASURES["f1"])
    found = pt.exact_perm_test(make(), OTHERS, statistic="f1")
    assert found.fraction() == expected
    assert found.pvalue == pt.exact_perm_test(OTHERS, make(), statistic="f1").pvalue


MASKED = np.ma.array(COUNTS, mask=np.arange(12).reshape(4, 3) == 4)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (MASKED, r"u\[1, 1\] is masked"),
        (COLUMNS | {"tp": MASKED[:, 1]}, r"u\['tp'\]\[1\] is masked"),
        (COUNTS.astype("M8[ns]"), r"u\[0, 0\] = .* is not a number"),
        (COLUMNS | {"tp": [1, 2]}, "must have the same shape"),
        (COUNTS - 1, r"u\[0, 1\] = -1 is below 0"),
        (COUNTS + 0.5, r"u\[0, 0\] = 3.5 is not a whole number"),
        (np.where(COUNTS > 3, np.inf, COUNTS), r"u\[3, 0\] = inf is not finite"),
        ([[1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3]], "u must be a table, but its rows differ"),
        ("123", "u must be a table of counts, not str"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(table, message):
    for statistic in ("f1", "precision"):
        with pytest.raises((TypeError, ValueError), match=message):
            pt.exact_perm_test(table, OTHERS, statistic=statistic)


# ---- entries of any kind, labels ----------------------------------------------------------


@pytest.mark.parametrize("values", [5, "123456", {1: 2}, np.array(3)])
def test_what_has_no_entries_is_named(values):
    with pytest.raises(TypeError, match="u must be a list or an array of entries for g, not"):
        pt.exact_perm_test(values, OTHER, max)


def test_labels_that_are_none():
    nested, missing = [[1], [1], [2], [2], [3], [4]], [1, 1, None, 2, 3, 4]
    for labels in (5, "abcdef", np.zeros((6, 2)), missing, nested, [1, 2, 3]):
        with pytest.raises((TypeError, ValueError), match=r"^clusters\b"):
            pt.exact_perm_test(PLAIN, OTHER, clusters=labels)
