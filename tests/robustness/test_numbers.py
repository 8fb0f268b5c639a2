"""Whatever scores are held in: the numbers that they stand for are compared, or it says why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import permtest as pt
from permtest import alternatives as alt
from permtest import study
from permtest._arrays import plain_array
from permtest.alternatives.folds import FoldCounts, metric_of
from permtest.decimals import as_integers, as_scaled
from tests import naive
from tests.robustness.columns import (
    FLOATS,
    HALVES,
    MEANT,
    PLAIN,
    REFUSED,
    TINY,
    VAST,
    read_only,
)
from tests.robustness.surface import SQUARED, SURFACE, TESTS, told

OTHER = [1, 0, 2, 1, 0, 1]

NAMES = ("tp", "fp", "fn")


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


def shown(values: Any) -> str:
    """All elements, to be compared with what they are afterwards; a generator is used up."""
    return "" if hasattr(values, "__next__") else str(list(values))


@pytest.mark.parametrize("column", MEANT)
def test_the_exact_test_is_that_of_the_numbers_meant(column):
    make, meant = MEANT[column]
    for alternative in ("two-sided", "greater"):
        values = make()
        before = shown(values)
        result = pt.exact_perm_test(values, OTHER, alternative=alternative)
        assert shown(values) == before
        expected = naive.pvalue(meant, OTHER, h=naive.h_of(alternative))
        assert result.fraction() == expected
        assert result.pvalue == float(expected)
        mirrored = {"greater": "less"}.get(alternative, alternative)
        assert pt.exact_perm_test(OTHER, make(), alternative=mirrored).pvalue == result.pvalue


def check_meant(name: str, column: str) -> None:
    """The answer is that of the numbers, and they are as they were."""
    make, meant = MEANT[column]
    values = make()
    before = shown(values)
    kind, said = attempt(name, values)
    assert kind == "answered", f"{column}: {said}"
    assert said == twin(name, tuple(meant)), column
    assert shown(values) == before, column


def check_refused(name: str, column: str) -> None:
    """The error has the argument, the first bad index where there is one, and is no other."""
    make, where = REFUSED[column]
    for values in ((make(), OTHER), (OTHER, make())):
        with pytest.raises((TypeError, ValueError)) as caught:
            SURFACE[name](*values)
        said = str(caught.value)
        assert re.match(r"(table\[)?'?[uvab]\b", said), f"{column}: {said}"
        assert where is None or f"[{where}]" in said, f"{column}: {said}"


@cache
def twin(name: str, meant: tuple[Any, ...]) -> str:
    """What is said of the same numbers as Python's, in an array that NumPy cannot change."""
    column = np.empty(len(meant), object)
    column[:] = meant
    return attempt(name, column)[1]


@pytest.mark.parametrize("name", SURFACE)
def test_every_function_takes_them_for_the_same_numbers(name):
    for column in MEANT:
        if not (name in SQUARED and column == "1e308"):
            check_meant(name, column)


@pytest.mark.parametrize("name", SURFACE)
def test_every_function_refuses_what_is_no_score(name):
    for column in REFUSED:
        check_refused(name, column)


BASE = [3, 1, -4, 1, 5, 9]


def close(answer: Any, other: Any) -> bool:
    """Whether what has no unit is the same."""
    names = ["pvalue"] if hasattr(answer, "pvalue") else ["value", "skewness", "inflation"]
    if hasattr(answer, "statistic_name") and answer.statistic_name in ("t", "z", "W+", "wins"):
        names.append("statistic")
    pairs = [(getattr(answer, x), getattr(other, x)) for x in names if hasattr(answer, x)]
    return bool(pairs) and all(y == pytest.approx(x, rel=1e-12) for x, y in pairs)


@pytest.mark.parametrize("size", [1e-149, 1e-100, 1e149])
@pytest.mark.parametrize(
    "name", [x for x in SURFACE if x.startswith(("sign", "wilc", "paired", "ind", "norm", "boot"))]
    + ["permutation_mean", "permutation_median"]
)  # fmt: skip
def test_squares_of_vast_and_tiny_scores_neither_overflow_nor_vanish(name, size):
    scaled, zeros = [float(f"{x}e{round(np.log10(size))}") for x in BASE], [0] * 6
    assert close(SURFACE[name](BASE, zeros), SURFACE[name](scaled, zeros))


def test_intervals_and_means_have_the_unit_of_the_scores():
    for name in ("paired_t", "independent_t", "normal_z", "bootstrap", "sign", "wilcoxon"):
        usual = SURFACE[name](BASE, [0] * 6)
        for size in (1e-140, 1e140):
            found = SURFACE[name]([x * size for x in BASE], [0] * 6)
            assert found.estimate == pytest.approx(usual.estimate * size, rel=1e-12, abs=0)
            low, high = usual.confidence_interval(0.5)
            ends = pytest.approx([low * size, high * size], rel=1e-12, abs=0)
            assert list(found.confidence_interval(0.5))[:2] == ends
            for key in {"standard_error", "s1", "s2"} & set(usual.details):
                error = usual.details[key] * size
                assert found.details[key] == pytest.approx(error, rel=1e-12, abs=0)


def test_scores_whose_squares_are_no_floats_are_refused():
    large = r"\[0\] = 1.000e\+308 is beyond 1e\+150.*divide all scores by a power of ten, or"
    small = r"\[\d\] = .*e-3.* so small that squares would vanish"
    for name in SQUARED:
        with pytest.raises(ValueError, match=large):
            SURFACE[name](VAST, OTHER)
    for name in ("power_curve", "paired_t", "independent_t", "sign"):
        with pytest.raises(ValueError, match=small):
            SURFACE[name](TINY, [0.0] * 6)


@pytest.mark.parametrize("name", [name for name in SURFACE if name != "clusters"])
def test_few_pairs_or_none(name):
    """One pair, two, or none; all of them equal, or all of them different."""
    for size in range(3):
        for score in (1, 2):
            u, v = [score] * size, [1] * size
            kind, said = attempt(name, u, v)
            assert kind in ("answered", "refused"), said


# ---- folds, and many data sets ------------------------------------------------------------------


def masked(values: Any) -> Any:
    array = np.ma.array(values)
    array[(1,) + (0,) * (array.ndim - 1)] = np.ma.masked
    return array


FOLDS = np.array([[8, 1, 2], [9, 0, 3]])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (masked(FOLDS), r"^counts\[1, 0\] is masked"),
        ([FOLDS[0], np.ma.array(FOLDS[1], mask=[1, 0, 0])], r"^counts\[1, 0\] is masked"),
        ({"tp": masked([8, 9]), "fp": [1, 0], "fn": [2, 3]}, r"^counts\['tp'\]\[1\] is masked"),
        (FOLDS.astype("m8[ns]"), r"^counts\[0, 0\] = .* is not a number"),
        (dict.fromkeys(NAMES, FOLDS[0].astype("m8[s]")), r"^counts\['tp'\]\[0\] ="),
        (np.array([[1, np.timedelta64(2, "ns"), 3]], object), r"^counts\[0\] has fp = 2 nano"),
        ([["8", "1", "2"]], r"^counts\[0\] has tp = 8"),
        ([[1, 2, 3], [1, 2]], "^counts must be numbers, .* rows differ in length"),
    ],
)  # fmt: skip
def test_counts_of_folds_that_are_none(counts, message):
    with pytest.raises(ValueError, match=message):
        FoldCounts.of(counts, metric_of("f1"))


def test_scores_of_folds_that_are_none():
    scores, others = np.array([0.5, 0.25, 1.0]), [0.25, 0.5, 0.5]
    for a, b, place in ((masked(scores), others, "a"), (others, masked(scores), "b")):
        with pytest.raises(ValueError, match=rf"^{place}\[1\] is masked"):
            alt.kfold_t(a, b)
    for wrong in (np.array(PLAIN[:3], "m8[ns]"), np.array([1, np.timedelta64(2, "ns"), 3], object)):
        with pytest.raises((TypeError, ValueError), match=r"^a\[[01]\] = .* is not a number"):
            alt.kfold_t(wrong, others)


def test_pvalues_are_those_of_the_integers_in_the_rows():
    rows = [[2**53 + 1, 2**53 + 2, 3, 0.5], [2**53 + 1, 2**53, 1, 0.5]]
    zeros = [[2**53, 2**53, 1, 0.5]] * 2
    assert study.pvalues("exact", rows, zeros).tolist() == [0.25, 1.0]
    with pytest.raises(ValueError, match=r"^a\[1, 0\] is masked"):
        study.pvalues("exact", masked([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"^b\[0, 0\] = .* is not a number"):
        study.pvalues("sign", [[1, 2]], np.array([[1, 2]], "m8[ns]"))


@pytest.mark.parametrize("K", [0, 10**12, 2.5])
def test_the_number_of_samples_is_checked_where_none_are_drawn(K):
    with pytest.raises((TypeError, ValueError), match=r"^K\b"):
        alt.bootstrap(PLAIN, OTHER, K=K)


# ---- any number of any size ---------------------------------------------------------------------

SHARP = [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**60 - 1, 2**60, 2**62, 2**63 - 1, -(2**63)]
INTEGERS = st.sampled_from(SHARP) | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@given(st.lists(st.tuples(INTEGERS, INTEGERS), max_size=8), st.sampled_from(["two-sided", "less"]))
def test_int64_of_any_size(rows, alternative):
    u, v = [a for a, _ in rows], [b for _, b in rows]
    expected = naive.pvalue(u, v, h=naive.h_of(alternative))
    found = pt.exact_perm_test(
        np.array(u, np.int64), np.array(v, np.int64), alternative=alternative
    )
    assert (found.fraction(), found.statistic) == (expected, sum(u) - sum(v))
    both = pt.exact_perm_test(
        np.array([u, v], np.int64), np.array([v, u], np.int64), axis=1, alternative=alternative
    )
    assert both.pvalue[0] == pytest.approx(float(expected), rel=1e-12)
    assert both.statistic.tolist() == [sum(u) - sum(v), sum(v) - sum(u)]


@example([2.0**-149])
@example([2.0**-126])
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=7))
def test_floats_of_any_size_are_what_is_printed_or_fractions_nearby(u):
    integers, scale = as_scaled(np.array(u, dtype=float), "u")
    for x, number in zip(u, integers.tolist(), strict=True):
        meant = Fraction(number, scale)
        assert (meant == 0) == (x == 0)
        as_it_is = meant in (Fraction(str(x)), Fraction(x))
        assert as_it_is or abs(meant - Fraction(x)) <= 4 * Fraction(np.spacing(abs(x)))


@given(st.lists(st.sampled_from([0.0, 5e-324, 1e-323, 2e-308, 1.0]), min_size=1, max_size=7))
def test_the_smallest_floats_are_no_zeros(u):
    zeros = [0] * len(u)
    found = pt.exact_perm_test(np.array(u), zeros, alternative="greater")
    assert found.n_informative == np.count_nonzero(u)
    assert found.fraction() == naive.pvalue([Fraction(str(x)) for x in u], zeros, h=lambda s: s)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f2", ">f2"])
def test_narrow_floats_are_the_decimals_that_they_print_as(dtype):
    values = np.array([0.12345, 3.0, 0.7], dtype)
    integers, scale = as_scaled(values, "u")
    printed = [Fraction(str(x)) for x in values.astype(dtype[1:])]
    assert [Fraction(x, scale) for x in integers.tolist()] == printed


# ---- counts --------------------------------------------------------------------------------------

COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 1, 1], [4, 0, 1]])
OTHERS = [[2, 1, 1], [2, 0, 0], [0, 2, 1], [2, 2, 3]]


COLUMNS = dict(zip(NAMES, COUNTS.T, strict=True))

TABLES: dict[str, Callable[[], Any]] = {
    "list": COUNTS.tolist,
    "rows": lambda: list(COUNTS),
    "generator": lambda: (row for row in COUNTS),
    "Fortran": lambda: np.asfortranarray(COUNTS),
    "transposed": lambda: np.ascontiguousarray(COUNTS.T).T,
    "backwards": lambda: np.ascontiguousarray(COUNTS[::-1])[::-1],
    "read-only": lambda: read_only(COUNTS),
    "big-endian": lambda: COUNTS.astype(">i8"),
    "uint8": lambda: COUNTS.astype(np.uint8),
    "floats": lambda: COUNTS.astype(float),
    "float16": lambda: COUNTS.astype(np.float16),
    "objects": lambda: COUNTS.astype(object),
    "unmasked": lambda: np.ma.array(COUNTS),
    "pandas": lambda: pd.DataFrame(COLUMNS)[["fn", "tp", "fp"]],
    "pandas Int64": lambda: pd.DataFrame(COLUMNS, dtype="Int64"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "dict": lambda: COLUMNS,
    "dict of kinds": lambda: COLUMNS | {"tp": COUNTS[:, 0].astype("u8"), "fp": [0, 1.0, 1, 0]},
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())
def test_tables_of_counts_are_what_they_hold(make):
    expected = naive.measure_pvalue(COUNTS.tolist(), OTHERS, naive.MEASURES["f1"], zero=Fraction(0))
    found = pt.exact_perm_test(make(), OTHERS, statistic="f1")
    assert found.fraction() == expected
    assert found.pvalue == pt.exact_perm_test(OTHERS, make(), statistic="f1").pvalue


def test_columns_of_different_kinds_lose_no_digits():
    u = {"tp": np.array([2**53 + 1]), "fp": np.array([0.0]), "fn": np.array([0], np.uint64)}
    v = {"tp": np.array([2**53]), "fp": np.array([0.0]), "fn": np.array([1], np.uint64)}
    pairs = pt.Pairs.of_counts(u, v, [NAMES])
    assert (int(pairs.u[0, 0]), int(pairs.v[0, 0])) == (2**53 + 1, 2**53)


MASKED = np.ma.array(COUNTS, mask=np.arange(12).reshape(4, 3) == 4)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (MASKED, r"u\[1, 1\] is masked"),
        (list(MASKED), r"u\[1, 1\] is masked"),
        (COLUMNS | {"tp": MASKED[:, 1]}, r"u\['tp'\]\[1\] is masked"),
        (COUNTS.astype("M8[ns]"), r"u\[0, 0\] = .* is not a number"),
        (COUNTS.astype("m8[ns]"), r"u\[0, 0\] = .* is not a number"),
        (COLUMNS | {"tp": [1, 2]}, r"u has columns of the shapes \(2,\), \(4,\)"),
        (COUNTS - 1, r"u\[0, 1\] = -1 is below 0"),
        (COUNTS + 0.5, r"u\[0, 0\] = 3.5 is not a whole number"),
        (np.where(COUNTS > 3, np.inf, COUNTS), r"u\[3, 0\] = inf is not finite"),
        ([[1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3]], "u must be a table, but its rows differ"),
        ("123", "u must be a table of counts, not str"),
        (bytearray(b"123"), "u must be a table of counts, not bytearray"),
        ({(1, 2, 3)}, "u must be a table of counts, not set"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(table, message):
    for statistic in ("f1", "precision"):
        with pytest.raises((TypeError, ValueError), match=message):
            pt.exact_perm_test(table, OTHERS, statistic=statistic)


def test_a_column_that_occurs_twice_is_named():
    frame = pd.DataFrame(np.c_[COUNTS, COUNTS[:, 0]], columns=[*NAMES, "tp"])
    with pytest.raises(ValueError, match=r"u has columns of the shapes .*each column once"):
        pt.exact_perm_test(frame, OTHERS, statistic="f1")


# ---- entries of any kind, labels, laws ----------------------------------------------------------


def better(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


@pytest.mark.parametrize("column", [c for c in MEANT if c != "longdouble"])
def test_g_is_called_with_the_numbers(column):
    make, meant = MEANT[column]
    found = pt.exact_perm_test(make(), OTHER, better, abs)
    assert found.fraction() == naive.pvalue(meant, OTHER, better)


@pytest.mark.parametrize("values", [5, None, "123456", {1, 2}, {1: 2}, np.array(3)])
def test_what_has_no_entries_is_named(values):
    for call in (
        lambda: pt.exact_perm_test(values, OTHER, better),
        lambda: pt.exact_perm_test_m(values, OTHER, [better], abs),
    ):
        with pytest.raises(TypeError, match="u must be a sequence of entries for g, not"):
            call()


def test_masked_entries_and_frames_are_none_for_g():
    with pytest.raises(ValueError, match=r"u\[1\] is masked"):
        pt.exact_perm_test(np.ma.array(PLAIN, mask=[0, 1, 0, 0, 0, 0]), OTHER, better)
    frame = pd.DataFrame(dict.fromkeys("abcdef", PLAIN))
    with pytest.raises(TypeError, match=r"not DataFrame.*to_numpy"):
        pt.exact_perm_test(frame, OTHER, better)
    dates = np.array(["2020-01-01"] * 6, "M8[ns]")
    with pytest.raises(ValueError, match=r"u\[0\] = 2020"):
        pt.exact_perm_test(dates, OTHER, lambda a, b: a - b)


@pytest.mark.parametrize(
    "labels",
    [
        5,
        "abcdef",
        np.array(5),
        np.zeros((6, 2)),
        {1, 2},
        [1, 1, None, 2, 3, 4],
        [1, 1, float("nan"), 2, 3, 4],
        np.ma.array(PLAIN, mask=[0, 0, 1, 0, 0, 0]),
        [[1], [1], [2], [2], [3], [4]],
        [1, 2, 3],
    ],
    ids=str,
)
def test_labels_that_are_none(labels):
    with pytest.raises((TypeError, ValueError), match=r"^clusters\b"):
        pt.exact_perm_test(PLAIN, OTHER, clusters=labels)


@pytest.mark.parametrize("column", ["NaN", "None", "text", "durations, ns", "masked", "a number"])
def test_effects_that_are_none(column):
    make, where = REFUSED[column]
    for call, name in (
        (lambda x: pt.enumerate_swaps(x, OTHER), "stay"),
        (lambda x: pt.enumerate_swaps(OTHER, x), "swap"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^{name}\b") as caught:
            call(make())
        assert where is None or f"[{where}]" in str(caught.value)


@pytest.mark.parametrize(
    "column", [c for c, (_, m) in MEANT.items() if all(x == int(x) for x in m)]
)
def test_effects_of_any_size(column):
    make, meant = MEANT[column]
    sums = pt.enumerate_swaps(make(), OTHER).tolist()
    assert sums == naive.labellings(meant, OTHER, lambda a, _: a)[:1] + sums[1:]
    assert sorted(sums) == sorted(
        sum(b if swap else a for a, b, swap in zip(meant, OTHER, bits, strict=True))
        for bits in product([False, True], repeat=6)
    )


@pytest.mark.parametrize("bad", [0.5, None, "1", float("nan"), 1j])
def test_a_law_is_of_integers(bad):
    with pytest.raises(TypeError, match=r"stay = .* must be an integer"):
        pt.pmf(bad, 1)
    with pytest.raises(TypeError, match=r"swap = .* must be an integer"):
        pt.pmf(1, bad)


@pytest.mark.parametrize("convolve", [pt.convolve_dp, pt.convolve_fft, pt.convolve_cf])
def test_laws_that_are_none(convolve):
    law = pt.pmf(1, -1)
    for pmfs in (5, None, (f for f in [law])):
        with pytest.raises(TypeError, match="pmfs must be a list of laws"):
            convolve(pmfs)
    for shares in ([0.5, float("nan")], [0.5, -0.5], [1.5, 0.5]):
        wrong = pt.LatticeDistribution(0, 1, np.array(shares))
        with pytest.raises(ValueError, match=r"pmfs\[1\] has the probabilities"):
            convolve([law, wrong])
    with pytest.raises(TypeError, match=r"pmfs\[1\] = 0.5 is not the law"):
        convolve([law, 0.5])


def test_arrays_and_lists_are_the_same_numbers():
    assert as_integers(np.array(FLOATS[2:]), "u").tolist() == [2, 1, 0, 3]
    assert plain_array([2**63, 0.5], "u").tolist() == [2**63, 0.5]
    assert plain_array([[2**64 - 1, 1.0]], "u")[0, 0] == 2**64 - 1
    assert as_scaled(np.array(FLOATS), "u")[0].tolist() == [int(10 * x) for x in HALVES]
