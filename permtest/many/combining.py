"""One p-value from those of several data sets: is there an effect at all, and on at least u?

All start from one-sided p-values, the data sets along axis 0, and look at any number of pairs of
systems at once. P-values are decimal logarithms here, -1.3 for 0.05: exact ones can be smaller
than any float.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level, check_option

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Ways to count data sets, and what they ask of them.
COUNTING = {
    "bonferroni": "Bonferroni, however the data sets depend on each other",
    "fisher": "Fisher, independent data sets",
}

#: Roundings of p do not decide: what is at alpha counts as at most alpha.
SLACK = 1e-11


def partial_conjunction(log10_pvalue: Any, *, method: str = "bonferroni") -> Floats:
    """Test whether effects are there on at least u of D data sets, for all u at once.

    Parameters
    ----------
    log10_pvalue : array_like of shape (D, ...)
        Decimal logarithms of one-sided p-values, the data sets along axis 0.
    method : {"bonferroni", "fisher"}, default "bonferroni"
        "bonferroni": D - u + 1 times the u-th smallest p, for data sets that may share items.
        "fisher": the D - u + 1 largest p-values combined by Fisher's method, for independent data
        sets only; it finds more where many p-values are rather small.

    Returns
    -------
    ndarray of float64 of the same shape
        In row u - 1 the decimal logarithm of p^{u/D}. Rows do not fall: effects on u data sets
        are effects on u - 1.

    Raises
    ------
    TypeError, ValueError
        If the method is unknown, or a number is no logarithm of a p-value.

    Notes
    -----
    O(D log D) by "bonferroni" and O(D^2) by "fisher" for each pair. By "bonferroni" the rows are
    Holm's adjusted p-values, sorted. Discrete p-values make both tests more cautious.

    Examples
    --------
    >>> import numpy as np
    >>> from permtest.many.combining import partial_conjunction
    >>> p = [0.0625, 0.0078125, 0.5]
    >>> (10 ** partial_conjunction(np.log10(p))).round(9).tolist()
    [0.0234375, 0.125, 0.5]
    """
    logs = as_logs(log10_pvalue, "log10_pvalue")
    check_option("method", method, COUNTING)
    ordered, size = np.sort(logs, axis=0), len(logs)
    if method == "bonferroni":
        rows = [ordered[u] + log10(size - u) for u in range(size)]
    else:
        sums = np.cumsum(ordered[::-1], axis=0)[::-1]
        rows = [_chi_squared_tail(sums[u], size - u) for u in range(size)]
    return np.maximum.accumulate(np.minimum(np.stack(rows), 0.0), axis=0)


def replicability_count(
    log10_pvalue: Any, *, alpha: float = 0.05, method: str = "bonferroni"
) -> Ints:
    """Count data sets with an effect: at least so many, with confidence 1 - alpha.

    Parameters
    ----------
    log10_pvalue : array_like of shape (D, ...)
        As in `partial_conjunction`.
    alpha : float, default 0.05
        With at most this probability the count is larger than the truth.
    method : {"bonferroni", "fisher"}, default "bonferroni"
        As in `partial_conjunction`.

    Returns
    -------
    ndarray of int64 of shape (...)
        The largest u with p^{1/D} to p^{u/D} all at most `alpha`; 0 if there is none.
    """
    check_level(alpha)
    curve = partial_conjunction(log10_pvalue, method=method)
    return np.asarray(at_most(curve, alpha).sum(axis=0), dtype=np.int64)


def combined_pvalues(greater: Any, less: Any = None, *, method: str = "fisher") -> Floats:
    """Combine the p-values of independent data sets into one that speaks of them all.

    A small one says that there is an effect on some data set, not on how many.

    Parameters
    ----------
    greater : array_like of shape (D, ...)
        Decimal logarithms of one-sided p-values, the data sets along axis 0.
    less : array_like of shape (D, ...), optional
        Those of the other side. Each side is then combined by itself, and the answer is twice the
        smaller p: two-sided p-values would let effects of opposite directions add up.
    method : {"fisher", "stouffer", "tippett", "bonferroni"}, default "fisher"
        "fisher": by the sum of the logarithms. "stouffer": by the sum of normal quantiles.
        "tippett": by the smallest p. "bonferroni": D times the smallest p, the only one that does
        without independence.

    Returns
    -------
    ndarray of float64 of shape (...)
        Decimal logarithms of the combined p-values.

    Raises
    ------
    TypeError, ValueError
        If the method is unknown, or a number is no logarithm of a p-value.

    Notes
    -----
    As `scipy.stats.combine_pvalues`, in logarithms. P-values of permutation tests are discrete,
    hence larger than the uniform ones that the methods are made for: all stay valid, and are
    cautious where data sets are small. "stouffer" is so to the extreme: a p of 1, which a data
    set without differences has, is a quantile of minus infinity, and makes the whole 1.

    Examples
    --------
    >>> from permtest.many.combining import combined_pvalues
    >>> round(float(combined_pvalues([-2.0, -1.0])), 4)
    -2.1019
    >>> round(float(combined_pvalues([-2.0, -0.004], [-0.004, -2.0])), 4)   # opposite directions
    -0.9537
    """
    check_option("method", method, _COMBINED)
    logs = as_logs(greater, "greater")
    combined = np.minimum(_COMBINED[method](logs), 0.0)
    if less is None:
        return combined
    opposite = as_logs(less, "less")
    check_sides(logs, opposite)
    opposite = _COMBINED[method](opposite)
    return np.minimum(np.minimum(combined, opposite) + log10(2), 0.0)


def _chi_squared_tail(log10_product: Any, terms: int) -> Any:
    """Fisher's p: that a product of so many uniform numbers is at most as large, log10.

    The tail of chi-squared with 2 m degrees of freedom at 2 x is e^-x times the sum of x^j / j!
    over j < m: positive terms, whose sum keeps its digits however far out.
    """
    from scipy.special import gammaln, xlogy

    x = -np.log(10) * log10_product
    total = np.zeros_like(x)
    for j in range(1, terms):
        total = np.logaddexp(total, xlogy(j, x) - gammaln(j + 1))
    return (total - x) / log(10)


def _stouffer(logs: Floats) -> Floats:
    from scipy.special import log_ndtr, ndtri_exp

    quantiles = ndtri_exp(log(10) * logs)
    return np.asarray(log_ndtr(quantiles.sum(axis=0) / sqrt(len(logs)))) / log(10)


def _tippett(logs: Floats) -> Floats:
    """1 - (1 - p)^D of the smallest p, which is D p where p is too small for a float."""
    least, size = logs.min(axis=0), len(logs)
    with np.errstate(divide="ignore"):  # p of 1, and p of 0 where it is not looked at
        near = np.log10(-np.expm1(size * np.log1p(-(10.0**least))))
    return np.asarray(np.where(least < -300, least + log10(size), near))


_COMBINED: dict[str, Callable[[Floats], Floats]] = {
    "fisher": lambda logs: np.asarray(_chi_squared_tail(logs.sum(axis=0), len(logs))),
    "stouffer": _stouffer,
    "tippett": _tippett,
    "bonferroni": lambda logs: logs.min(axis=0) + log10(len(logs)),
}


def at_most(logs: Floats, alpha: float) -> NDArray[np.bool_]:
    """Whether p is at most alpha, for each decimal logarithm of a p."""
    return logs <= log10(alpha * (1 + SLACK))


# ---- arguments ---------------------------------------------------------------------------------


def as_logs(logs: Any, name: str) -> Floats:
    """Decimal logarithms, or an error that names the first that is none of a p-value."""
    array = np.asarray(logs)
    if array.dtype.kind not in "fiu" or array.ndim == 0 or len(array) == 0:
        raise TypeError(f"{name} must be an array of numbers, with a row for each data set")
    bad = np.argwhere(~((array > -np.inf) & (array <= 0)))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"{name}[{where}] = {array[tuple(bad[0])]} is no decimal logarithm of a p-value, which "
            "is finite and at most 0; take log10_pvalue of the results, not pvalue"
        )
    return array.astype(np.float64)


def check_sides(greater: Floats, less: Floats) -> None:
    """Both tails of a test overlap: together they are 1 or more."""
    if greater.shape != less.shape:
        raise ValueError(f"greater has shape {greater.shape}, and less has {less.shape}")
    bad = np.argwhere(10**greater + 10**less < 1 - 1e-9)
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"greater[{where}] and less[{where}] are p-values that add up to less than 1, as the "
            "two sides of one test never do; give one-sided ones"
        )
