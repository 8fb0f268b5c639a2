"""exact_perm_test against enumeration, integer counting, known answers and SciPy."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import permtest as pt
from permtest import exact_perm_test, perm_test_acc, question
from permtest.methods import METHODS as SOLVERS
from permtest.methods import solve
from permtest.null.distribution import Probability
from permtest.result import answer
from tests import known, naive
from tests.strategies import alternatives, pairs

EXACT = [name for name in SOLVERS if name not in ("bracket", "cf")]
METHODS = pytest.mark.parametrize("method", ["auto", *EXACT])


def close(result, expected: Fraction, tolerance: float = 1e-12) -> bool:
    return abs(Fraction(result.pvalue) - expected) <= expected * Fraction(tolerance)


@METHODS
@given(columns=pairs(("binary", "small", "signed", "even")), alternative=alternatives)
def test_every_method_equals_enumeration(method, columns, alternative):
    u, v = columns
    result = exact_perm_test(u, v, alternative=alternative, method=method)
    expected = naive.pvalue(u, v, h=naive.h_of(alternative))
    assert close(result, expected)
    assert result.fraction() == expected
    assert abs(Fraction(result.pvalue) - expected) <= expected * Fraction(
        result.error_bound + 2**-52
    )
    assert 0 < result.pvalue <= 1
    assert (result.n, result.statistic) == (len(u), sum(u) - sum(v))
    assert result.n_informative == sum(a != b for a, b in zip(u, v, strict=True))


G = {
    "difference": lambda a, b: a - b,
    "wins": lambda a, b: int(a > b),
    "lopsided": lambda a, b: 2 * a - b + 1,
    "product": lambda a, b: a * (b + 3),
}
H = {
    "identity": lambda s: s,
    "absolute": abs,
    "square": lambda s: s**20,
    "window": lambda s: 2 <= s < 9,
    "modulus": lambda s: s % 3,
    "fraction": lambda s: Fraction(abs(s), 7),
    "lopsided": lambda s: 2 * s if s > 0 else -s,
}


@METHODS
@pytest.mark.parametrize("h", H)
@settings(max_examples=15)
@given(columns=pairs(("small", "signed"), max_size=8), g=st.sampled_from(sorted(G)))
def test_any_g_and_any_h(method, columns, h, g):
    u, v = columns
    expected = naive.pvalue(u, v, G[g], H[h])
    result = exact_perm_test(u, v, G[g], H[h], method=method)
    assert close(result, expected)
    assert result.fraction() == expected


@given(
    columns=pairs(("small", "signed"), max_size=8),
    g=st.sampled_from(sorted(G)),
    alternative=alternatives,
)
def test_alternatives_of_any_g(columns, g, alternative):
    """Two-sided: at least as far from the centre of the null law, exactly decided."""
    u, v = columns
    sums = naive.labellings(u, v, G[g])
    h = naive.h_of(alternative, Fraction(sum(sums), len(sums)))
    assert exact_perm_test(u, v, G[g], alternative=alternative).fraction() == naive.pvalue(
        u, v, G[g], h
    )


def unit_gaps(n, ahead):
    """n pairs that differ by one point, the first system ahead in `ahead` of them."""
    return [1] * ahead + [0] * (n - ahead), [0] * ahead + [1] * (n - ahead)


@pytest.mark.parametrize("method", ["tilted", "dp", "fft", "integer"])
@pytest.mark.parametrize("case", known.KNOWN, ids=lambda case: f"p={float(case[1]):.0e}")
def test_known_answers_at_size(case, method):
    """From 60 to 2 500 differing pairs, p down to 3e-648."""
    differences, *answers = case
    d = np.repeat(list(differences), list(differences.values()))
    for alternative, exact in zip(["two-sided", "greater", "less"], answers, strict=True):
        result = exact_perm_test(d, np.zeros_like(d), alternative=alternative, method=method)
        expected = Decimal(exact)
        if expected > Decimal("1e-300"):
            assert close(result, Fraction(expected))
        else:
            assert result.log10_pvalue == pytest.approx(float(expected.log10()), rel=1e-12)


@pytest.mark.parametrize(
    ("u", "v", "p"),
    [
        ([], [], Fraction(1)),
        ([1] * 28, [0] * 28, Fraction(1, 2**27)),
        ([5, 5, 5], [5, 5, 5], Fraction(1)),
        (np.array([3], np.uint8), np.array([1], np.uint8), Fraction(1)),
        ([10**6, 1, 1], [0, 0, 0], Fraction(1, 4)),
        ([10**8, 3, 8], [0, 1, 0], Fraction(1, 4)),
    ],
)
def test_what_other_code_gets_wrong(u, v, p):
    assert exact_perm_test(u, v).fraction() == p


def test_p_far_below_the_smallest_float_or_next_to_1():
    n = 5000
    result = exact_perm_test(*unit_gaps(n, n))
    assert result.pvalue == np.nextafter(0, 1)
    assert result.log10_pvalue == pytest.approx((1 - n) * np.log10(2), rel=1e-14)
    assert result.fraction() == Fraction(1, 2 ** (n - 1))
    assert "e-1505" in str(result)
    with_h = exact_perm_test(*unit_gaps(n, n), h=abs)
    assert with_h.log10_pvalue == pytest.approx(result.log10_pvalue, rel=1e-13)
    rounded = exact_perm_test(*unit_gaps(1082, 1))  # to few digits, downwards
    assert rounded.pvalue < rounded.fraction() < rounded.pvalue_interval()[1]
    nearly = exact_perm_test(*unit_gaps(61, 1), alternative="greater")
    assert nearly.fraction() < nearly.pvalue == nearly.pvalue_interval()[1] == 1


def test_a_lattice_that_would_not_fit_is_refused_with_its_size_and_p_works():
    u, v = [(10**9 + n**5) * (-1) ** n for n in range(60)], [0] * 60
    result, sampled = exact_perm_test(u, v), pt.monte_carlo(u, v, K=10**5, rng=0)
    (low, high), (first, last) = result.pvalue_interval(), sampled.pvalue_interval(0.999)
    assert low <= last
    assert high >= first
    assert 0 < high - low < 0.01 * high
    assert "p lies between" in str(result)
    for refused in (
        lambda: exact_perm_test(u, v, method="dp"),
        lambda: exact_perm_test(u, v, h=abs),
        lambda: result.null_distribution,
        lambda: sampled.extreme,
    ):
        with pytest.raises(MemoryError, match=r"needs [\d,]+ cells.*method='auto'"):
            refused()


def test_cells_far_below_the_smallest_float_that_are_no_tails():
    """The giant moves and no other does, or the other way round: p = 2 / 2^1101."""
    u, v = [0] * 1100 + [3000], [1] * 1100 + [0]

    def h(s):
        return s in (3000 - 1100, 1100 + 3000)

    result = exact_perm_test(u, v, h=h)
    assert result.log10_pvalue == pytest.approx(-1100 * np.log10(2), rel=1e-13)
    assert result.fraction() == Fraction(1, 2**1100)
    assert result.pvalue_interval() == (0.0, np.nextafter(result.pvalue, 1))
    with pytest.raises(ArithmeticError, match="absolute accuracy of method='fft'"):
        exact_perm_test(u, v, h=h, method="fft")


@pytest.mark.parametrize("lead", [0, 100, 140, 160])
def test_the_bound_of_one_sum_by_fft_covers_its_error(lead):
    """A single sum, of probability 3e-2 to 6e-13, where other sums hide it in their noise."""
    u = [1] * 140 + [2] * 100
    result = exact_perm_test(u, [0] * 240, h=lambda s: -abs(s - lead), method="dp")
    question = result._question.observing(lead)
    exact, found = answer(question).fraction(), answer(question, "fft")
    assert abs(Fraction(found.pvalue) / exact - 1) <= found.error_bound < 1e-14 / exact


@pytest.mark.parametrize("method", ["auto", "fft"])
def test_the_bound_keeps_the_contract_at_the_papers_size(method):
    counts = np.random.default_rng(3).binomial(12, 0.95, (2, 10_000))
    for columns in (counts, unit_gaps(10_000, 5200), unit_gaps(8000, 4300)):
        assert exact_perm_test(*columns, method=method).error_bound <= 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alternative": "bigger"}, "alternative='bigger' is not known; choose one of 'two-sided'"),
        ({"method": "magic"}, "method='magic' is not known; choose one of 'auto', 'tilted'"),
        ({"statistic": "chrf"}, "statistic='chrf' is not known; choose one of 'sum'"),
        ({"names": ("a",)}, r"names=\('a',\) must be two strings"),
        ({"names": "ab"}, "names='ab' must be two strings"),
        ({"names": ("a", "a")}, "that differ"),
    ],
)
def test_unknown_options_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        exact_perm_test([1, 2], [0, 1], **arguments)


def test_auto_takes_the_method_that_fits_and_says_why():
    rng = np.random.default_rng(0)
    narrow, (some, huge) = (
        unit_gaps(500, 260),
        (rng.integers(0, m, (2, 60)) for m in (10**4, 10**15)),
    )
    window = {"h": lambda s: 2 <= s < 30}
    for columns, how, method, reason in (
        (([10**15, 3, 8], [1, 2, 3]), {}, "enumeration", "few labellings, and each was counted"),
        (narrow, {}, "tilted", "tail"),
        (some, {}, "dp", "quicker"),
        (huge, {}, "bracket", "too many"),
        (narrow, window, "tilted", "were added"),
    ):
        found = exact_perm_test(*columns, **how)
        assert (found.method, reason in found.method_reason) == (method, True)


@pytest.mark.parametrize(("apart", "method"), [(1.9e-3, "tilted"), (2.1e-3, "bracket")])
def test_rounding_decides_nothing_where_both_ends_agree_within_their_bounds(
    apart, method, monkeypatch
):
    u = np.random.default_rng(1).random(200)
    asked = question.ask(u, np.zeros(200))
    ends = iter([Probability.of_log(-10.0, 1e-3), Probability.of_log(apart - 10.0, 1e-3)])
    monkeypatch.setitem(SOLVERS, "tilted", lambda _: next(ends))
    found = solve(asked, "tilted")
    assert found.method == method
    if method == "tilted":
        assert 3e-3 <= found.p.error_bound <= 6e-3  # both bounds, and how far apart both ends are


def test_the_paper_s_names_are_the_same_test():
    u, v = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]
    assert perm_test_acc(pt.Scores.of(u, v)).pvalue == exact_perm_test(u, v).pvalue == 0.125
    rows = [(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]
    assert pt.perm_test_F1(*rows) == exact_perm_test(*rows, statistic="f1")


def test_scores_that_change_after_the_test_are_noticed():
    u, v = np.array([3, 5, 4, 8]), np.array([2, 3, 1, 6])
    result = pt.exact_perm_test(u, v)
    u[:] = 0
    with pytest.raises(ValueError, match="changed after the test"):
        result.confidence_interval()


def test_any_h_on_a_long_lattice_keeps_its_bound():
    """Cells are added up as exactly as they are known; math.fsum says how far off the sum is."""
    rng = np.random.default_rng(1)
    d = rng.integers(1, 60, 3000)
    d[rng.random(3000) < 0.3] *= -1
    result = pt.exact_perm_test(d, 0 * d, h=lambda s: abs(s) if s % 4 else 0)
    logs = result.null_distribution.log_pmf[result.extreme]
    top = logs.max()
    exact = top + math.log(math.fsum(np.exp(logs - top).tolist()))
    assert abs(result.log10_pvalue * math.log(10) - exact) <= 2e-14 * abs(exact)
    assert result.error_bound <= 1.5e-12
