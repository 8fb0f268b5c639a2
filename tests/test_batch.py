"""Many tests at once against one test at a time, and against what p-values are for."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import permtest as pt
from permtest import batch, exact_perm_test
from permtest.batch import BatchResult
from tests.strategies import alternatives

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int64", "uint64", "float32", "float64"]
FIELDS = ("statistic", "pvalue", "log10_pvalue", "error_bound", "n_informative", "method")


def assert_same(many: BatchResult, u, v, axis: int, **options) -> None:
    """Each test is the one that is made of its scores alone."""
    u, v = np.broadcast_arrays(u, v)
    rows_u, rows_v = np.moveaxis(u, axis, -1), np.moveaxis(v, axis, -1)
    assert all(getattr(many, name).shape == rows_u.shape[:-1] for name in FIELDS)
    for i in np.ndindex(many.pvalue.shape):
        one = exact_perm_test(rows_u[i], rows_v[i], **options)
        assert many.statistic[i] == one.statistic
        assert (many.n, many.n_informative[i]) == (one.n, one.n_informative)
        bound = Fraction(many.error_bound[i]) + Fraction(one.error_bound)
        p = Fraction(one.pvalue)
        assert abs(Fraction(many.pvalue[i]) - p) <= bound * p
        assert np.isclose(many.log10_pvalue[i], one.log10_pvalue, rtol=1e-12, atol=1e-14)


@st.composite
def stacks(draw, most: int = 8):
    """(u, v, axis): small scores of some dtype, in up to three dimensions."""
    batch_shape = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    axis = draw(st.integers(0, len(batch_shape)))
    shape = (*batch_shape[:axis], draw(st.integers(0, most)), *batch_shape[axis:])

    def scores(shape: tuple[int, ...]) -> np.ndarray:
        dtype = np.dtype(draw(st.sampled_from(DTYPES)))
        low, high = {"b": (0, 1), "u": (0, 9)}.get(dtype.kind, (-9, 9))
        unit = draw(st.sampled_from([1, 1, 3, 13])) if dtype.kind != "b" else 1
        return (draw(hnp.arrays(np.int64, shape, elements=st.integers(low, high))) * unit).astype(
            dtype
        )

    return scores(shape), scores(shape), axis - draw(st.sampled_from([0, len(shape)]))


@given(stack=stacks(), alternative=alternatives)
def test_each_test_equals_the_single_one(stack, alternative):
    u, v, axis = stack
    many = exact_perm_test(u, v, axis=axis, alternative=alternative)
    assert_same(many, u, v, axis, alternative=alternative)
    assert set(many.method.flat) <= {"integer"}


# ---- what the kernels cannot do ------------------------------------------------------------------

ODD: dict[str, Callable] = {
    "wide": lambda rng, shape: rng.integers(0, 100_000, shape),
    "huge": lambda rng, shape: rng.integers(-3, 4, shape).astype(object) * 10**30,
    "near the end": lambda rng, shape: rng.integers(-3, 4, shape) + (2**63 - 9),
    "decimals": lambda rng, shape: rng.integers(0, 100, shape) / 100,
    "many decimals": lambda rng, shape: rng.integers(0, 100, shape) / 10**6,
    "fractions": lambda rng, shape: rng.integers(0, 9, shape).astype(object) * Fraction(1, 7),
    "mixed": lambda rng, shape: np.where(rng.random(shape) < 0.05, 2**61, 1) * np.ones(shape, int),
}


@pytest.mark.parametrize("kind", ODD)
@settings(max_examples=20)
@given(alternative=alternatives, seed=st.integers(0, 2**32))
def test_scores_that_the_kernels_are_not_made_for(kind, alternative, seed):
    rng = np.random.default_rng(seed)
    u, v = ODD[kind](rng, (5, 9)), ODD[kind](rng, (5, 9))
    many = exact_perm_test(u, v, axis=1, alternative=alternative)
    assert_same(many, u, v, 1, alternative=alternative)


def test_sums_that_no_float_holds_stay_as_they_are():
    u = np.array([[2**60 + 1, 2**60], [Decimal("0.5"), 0]], dtype=object)
    for rows, dtype, sums in (
        (u, np.float64, [2.0**61, 0.5]),
        (u[:1], object, [2**61 + 1]),
        (10 * u[:1], object, [10 * (2**61 + 1)]),
        ([[1.0, 2.0], [0.5, 2.0]], np.float64, [3.0, 2.5]),
    ):
        found = exact_perm_test(rows, [0, 0], axis=1).statistic
        assert (found.dtype, found.tolist()) == (dtype, sums)


def test_too_much_work_for_the_kernel_is_left_to_the_solvers(monkeypatch):
    monkeypatch.setattr("permtest.null.tail.LOOKS", 1)
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 30, (2, 4, 80))
    many = exact_perm_test(u, v, axis=1)
    assert_same(many, u, v, 1)


# ---- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape_u", "shape_v", "axis", "shape"),
    [
        ((4, 7), (7,), 1, (4,)),
        ((7,), (4, 7), -1, (4,)),
        ((7, 4), (7, 1), 0, (4,)),
        ((3, 1, 7), (4, 7), 2, (3, 4)),
        ((7,), (7,), 0, ()),
        ((0, 7), (7,), 1, (0,)),
        ((3, 0), (3, 0), 1, (3,)),
        ((1, 4), (4,), 0, (4,)),
    ],
)
def test_one_system_against_many(shape_u, shape_v, axis, shape):
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, 5, shape_u), rng.integers(0, 5, shape_v)
    many = exact_perm_test(u, v, axis=axis)
    assert many.pvalue.shape == shape
    assert_same(many, u, v, axis)


@settings(max_examples=30)
@given(size=st.integers(1, 70), scores=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_blocks_do_not_matter(size, scores, seed):
    u, v = np.random.default_rng(seed).integers(0, 3, (2, size, 3))
    whole = exact_perm_test(u, v, axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "SCORES", scores)
        patch.setattr(batch, "TESTS", 1)
        parts = exact_perm_test(u, v, axis=1)
    for name in FIELDS:
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


def test_views_and_lists_and_frames():
    pd = pytest.importorskip("pandas")
    u, v = np.random.default_rng(2).integers(0, 9, (2, 12, 10))
    expected = exact_perm_test(u[::2, ::-1], v[::2, ::-1], axis=1).pvalue.tolist()
    for make in (np.asfortranarray, np.ndarray.tolist, pd.DataFrame):
        many = exact_perm_test(make(u[::2, ::-1]), make(v[::2, ::-1]), axis=1)
        assert many.pvalue.tolist() == expected


# ---- the result ----------------------------------------------------------------------------------


def test_sentence():
    u = np.array([[3, 5, 4, 6, 2, 1], [1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2.5]])
    many = exact_perm_test(u, np.ones(6), axis=1, alternative="greater", names=("a", "b"))
    assert str(many) == ("3 exact paired-permutation tests of 6 pairs each: 2 with p <= 0.05.")
    assert json.loads(many.to_json())["pvalue"] == many.pvalue.tolist()
    one = exact_perm_test([[1]], [[0]], axis=0)
    assert "1 exact paired-permutation test of 1 pair each: 0 with" in str(one)


# ---- arguments -----------------------------------------------------------------------------------


def scores(**bad) -> np.ndarray:
    u = np.ones((4, 8), dtype=float)
    for place, value in bad.items():
        u[tuple(map(int, place.lstrip("i").split("_")))] = value
    return u


@pytest.mark.parametrize(
    ("u", "v", "axis", "message"),
    [
        (scores(i3_7=np.nan), scores(), 1, r"u\[3, 7\] = nan is missing"),
        (scores(i3_7=np.nan).T, scores().T, 0, r"u\[7, 3\] = nan is missing"),
        (scores(), scores(i0_5=np.inf)[0], 1, r"v\[0, 5\] = inf is not finite"),
        (scores(i3_1=np.nan, i2_6=np.nan), scores(), 1, r"u\[2, 6\] = nan is missing"),
        (scores(i0_1=10**6, i0_3=-np.inf, i2_2=np.nan), scores(), 1, r"u\[0, 3\] = -inf is not"),
    ],
)
def test_bad_scores_are_named_by_their_whole_index(u, v, axis, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        exact_perm_test(u, v, axis=axis, statistic="accuracy")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((scores(), scores(), max), {}, ValueError, "g and axis cannot be combined"),
        ((scores(), scores(), None, abs), {}, ValueError, "h and axis cannot be combined"),
        ((pt.Scores.of([1], [2]),), {}, ValueError, "Scores and axis cannot be combined"),
        ((scores(),), {}, TypeError, "v is missing"),
        ((scores(), scores()), {"clusters": [1]}, ValueError, "clusters and axis cannot be"),
        ((scores(), scores()), {"method": "dp"}, ValueError, "method and axis cannot"),
        ((scores(), scores()), {"names": ("a", "a")}, ValueError, "that differ"),
        ((scores(), scores()), {"axis": 2}, ValueError, r"u of shape \(4, 8\) .* axis=2: .*bounds"),
        ((scores(), scores()), {"axis": 0.0}, TypeError, "integer"),
        ((1, 2), {"axis": 0}, ValueError, r"axis=0: .*out of bounds"),
        ((scores(), scores()[:, :7]), {}, ValueError, r"v of shape \(4, 7\) cannot be paired"),
        ((scores(), scores()[:, :1]), {}, ValueError, "along axis=1: they need the same items"),
        (([[1, 2], [3]], scores()), {}, ValueError, "u must be an array .* rows differ in length"),
        (([["a", 1]], [[1, 2]]), {}, ValueError, r"u\[0, 0\] = 'a' is not a number"),
    ],
)
def test_arguments_that_cannot_be(arguments, options, error, message):
    with pytest.raises(error, match=message):
        exact_perm_test(*arguments, **({"axis": 1} | options))


def test_masked_scores_and_frames_of_other_items():
    pd = pytest.importorskip("pandas")
    masked = np.ma.masked_equal([[1, 2], [3, 4]], 3)
    frame, holes = pd.DataFrame([[1, 2], [3, 4]]), pd.DataFrame([[1, 2], [3, pd.NA]])
    for u, v, message in (
        (frame.to_numpy(), masked, r"v\[1, 0\] is masked"),
        (frame, frame.set_axis([5, 6], axis=0), "u and v .*index"),
        (frame, frame.set_axis(["x", "y"], axis=1), "u and v .*index"),
        (holes, frame, r"u\[1, 1\] = .* is missing"),
    ):
        with pytest.raises(ValueError, match=message):
            exact_perm_test(u, v, axis=1)
    assert exact_perm_test([[1, 2]], np.ma.array([[0, 0]]), axis=1).pvalue.tolist() == [0.5]
