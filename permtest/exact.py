"""The exact paired-permutation test (Alg. 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, overload

from permtest.batch import BatchResult, exact_perm_test_batch
from permtest.comparison import compare
from permtest.result import PermutationTestResult
from permtest.solvers import check_method, solve
from permtest.statistics import Alternative

#: How to compute p.
Method: TypeAlias = Literal[
    "auto", "tilted", "dp", "fft", "cf", "enumeration", "integer", "bracket"
]


@overload
def exact_perm_test(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | None = None,
    h: Callable[[Any], Any] | None = None,
    *,
    statistic: str = "sum",
    alternative: Alternative = "two-sided",
    method: Method = "auto",
    names: tuple[str, str] | None = None,
    axis: None = None,
) -> PermutationTestResult: ...


@overload
def exact_perm_test(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | None = None,
    h: Callable[[Any], Any] | None = None,
    *,
    statistic: str = "sum",
    alternative: Alternative = "two-sided",
    method: Method = "auto",
    names: tuple[str, str] | None = None,
    axis: int,
) -> BatchResult: ...


def exact_perm_test(
    u: Any,
    v: Any = None,
    g: Callable[[Any, Any], Any] | None = None,
    h: Callable[[Any], Any] | None = None,
    *,
    statistic: str = "sum",
    alternative: Alternative = "two-sided",
    method: Method = "auto",
    names: tuple[str, str] | None = None,
    axis: int | None = None,
) -> PermutationTestResult | BatchResult:
    """Exact p-value of the paired-permutation test (Alg. 2).

    Under the null hypothesis the labels of the two systems mean nothing: each pair of entries
    stays or is swapped with probability 1/2, independently. The p-value is the share of the 2^N
    labellings whose statistic t = h(sum_n g(u_n, v_n)) is at least as extreme as the observed
    one. Ties count, and the observed labelling is one of the 2^N, so p is never 0.

    Parameters
    ----------
    u : array_like of shape (N,), or Pairs
        Scores of the first system: correct tokens per sentence, 0/1 per item, ... Integers, or
        decimals, of which a float stands for the one that it is printed as; or, with `g`,
        entries of any kind.
    v : array_like of shape (N,), optional
        Scores of the second system on the same items in the same order. Leave out if `u` is
        `Pairs`.
    g : callable, optional
        ``g(u_n, v_n)``, called with single entries, returns the integer that entry n contributes
        (Eq. 3). Default: the `statistic`.
    h : callable, optional
        Function of the sum, called with Python integers (fractions where scores have decimals);
        the test asks how often ``h(S) >= h(observed sum)``. Numbers are compared as they are
        returned: where two values that ought to be equal could differ by rounding, return
        integers or fractions. Default: as `alternative` says.
    statistic : str, default "sum"
        Ready-made g: "sum" or "accuracy", both u_n - v_n; "accuracy" refuses negative counts.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `u` is better. "two-sided": the sum is at least as far from the centre of its
        null distribution, which is 0 unless `g` says otherwise.
    method : {"auto", "tilted", "dp", "fft", "cf", "enumeration", "integer", "bracket"}
        How to compute p. All give the same p within their bounds. "tilted" computes the tail
        alone, from the characteristic function of the tilted law; "dp" (Alg. 3) and "fft"
        (Alg. 4) convolve; "cf" inverts the characteristic function on the whole lattice;
        "enumeration" lists all labellings (at most 40 differing pairs, 24 with `h`); "integer"
        counts them with integer arithmetic; "bracket" rounds differences to a lattice and gives
        two bounds that contain p. "auto", the default, takes "enumeration" where there are fewer
        labellings than values of the sum, "dp" where so few pairs differ that it rounds nothing,
        else "tilted", and others only where that would take long, "bracket" last; the result
        says which, and why.
    names : tuple of two str, optional
        What the systems are called. Default: names of the columns, if they have any.
    axis : int, optional
        Makes many tests at once, of arrays with any number of dimensions that NumPy can broadcast
        against each other: the axis along which the pairs lie, one test for each position on the
        others. Only with methods "auto" and "tilted", and without `g` and `h`. Default: a single
        test of two columns.

    Returns
    -------
    PermutationTestResult
        `statistic`, `pvalue`, `log10_pvalue`, `null_distribution`, `error_bound`, ... With `axis`
        a `BatchResult`, which has these as arrays, without the distribution.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, or an option is unknown.
    MemoryError
        If a method that needs the whole null distribution is asked for, or an `h` that needs it
        is given, and it would not fit; the message names its size.
    ArithmeticError
        If ``method="fft"`` or ``"cf"`` is asked for a p that is smaller than its noise, which can
        happen only where `h` singles out something else than tails; or ``"tilted"`` where it
        would take minutes.

    Notes
    -----
    One pass over the scores costs O(N), and with it "tilted" about O(U) for U distinct
    differences, whatever N; "dp" takes O(N' A) time and "fft" O(A log A log U), with N' pairs that
    differ and A the sum of their absolute values.
    Source: Zmigrod, Vieira and Cotterell (2022), Eq. 2, 3, 7 and Alg. 2.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> r = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> r.statistic, r.pvalue, r.fraction()
    (7, 0.125, Fraction(1, 8))
    >>> exact_perm_test([3, 5], [2, 3], lambda a, b: a - b, abs).pvalue
    0.5
    >>> exact_perm_test([[3, 5, 4], [1, 0, 1]], [2, 3, 1], axis=1).pvalue
    array([0.25, 0.5 ])
    """
    check_method(method)
    if axis is not None:
        how = {"statistic": statistic, "alternative": alternative, "method": method}
        return exact_perm_test_batch(u, v, g, h, axis=axis, names=names, **how)
    comparison = compare(u, v, g, h, statistic=statistic, alternative=alternative, names=names)
    return PermutationTestResult.of(comparison, solve(comparison, method))


def perm_test_acc(u: Any, v: Any = None) -> PermutationTestResult:
    """Exact two-sided test of a difference in accuracy: `exact_perm_test` on counts.

    The name under which the algorithm was first described (2021 submission, Fig. 2; the event
    there, "as small as observed", is a slip for "as large").

    Parameters
    ----------
    u, v : array_like of shape (N,)
        Correct answers per entry for the two systems, integers; or one `Pairs`.

    Returns
    -------
    PermutationTestResult

    Examples
    --------
    >>> from permtest import perm_test_acc
    >>> perm_test_acc([1, 1, 1, 1, 0], [0, 0, 0, 0, 0]).pvalue
    0.125
    """
    return exact_perm_test(u, v, statistic="accuracy")
