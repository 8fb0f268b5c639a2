"""P-values of many comparisons, adjusted so that their number does not mislead.

An adjusted p-value is the smallest level at which the correction rejects the hypothesis: compare
it with alpha, whatever the number of tests. Exact p-values of permutation tests are discrete,
which makes every correction here more cautious, never less.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._optional import optional


class Correction(NamedTuple):
    """A correction: its title for sentences, what it keeps below alpha, and for which tests."""

    title: str
    controls: str
    holds: str


_ANY, _POSITIVE = "whatever the dependence", "if tests are independent or depend positively"
_SYMMETRIC = "if differences are jointly symmetric, and nearly so if there are many items"
_FAMILYWISE, _FALSE_DISCOVERIES = "familywise error", "false discovery rate"

#: Corrections for the number of tests by name: what each controls, and when.
CORRECTIONS = {
    "holm": Correction("Holm", _FAMILYWISE, _ANY),
    "hochberg": Correction("Hochberg", _FAMILYWISE, _POSITIVE),
    "bh": Correction("Benjamini-Hochberg", _FALSE_DISCOVERIES, _POSITIVE),
    "by": Correction("Benjamini-Yekutieli", _FALSE_DISCOVERIES, _ANY),
    "max_t": Correction("Westfall-Young max-T", _FAMILYWISE, _SYMMETRIC),
    "none": Correction("no correction", "error of each test by itself", _ANY),
}

#: What statsmodels calls those that need nothing but p-values.
_METHODS = {"holm": "holm", "hochberg": "simes-hochberg", "bh": "fdr_bh", "by": "fdr_by"}


def check_correction(name: str) -> None:
    """Raise ValueError unless `name` is one of `CORRECTIONS`."""
    if not isinstance(name, str) or name not in CORRECTIONS:
        known = ", ".join(map(repr, CORRECTIONS))
        hint = "; 'holm' holds as much, and finds more" if name == "bonferroni" else ""
        raise ValueError(f"correction={name!r} is not known; choose one of {known}{hint}")
    if name in _METHODS:
        _multipletests(name)  # what is missing is missed before there is work to lose


def adjusted_pvalues(pvalue: Any, correction: str = "holm") -> NDArray[np.float64]:
    """Adjust the p-values of one family of tests.

    Parameters
    ----------
    pvalue : array_like of float
        Of any shape, in (0, 1]; all of them are one family.
    correction : {"holm", "hochberg", "bh", "by", "none"}, default "holm"
        As in `CORRECTIONS`; "max_t" needs the scores and is not made here.

    Returns
    -------
    ndarray of float64
        Of the same shape, in (0, 1]; no p-value becomes smaller, and their order stays.

    Raises
    ------
    ImportError
        Without statsmodels, unless `correction` is "none".
    TypeError, ValueError
        If the correction is unknown, or a p-value is none; the message says which.

    Notes
    -----
    Made by statsmodels, in O(m log m) for m tests. Where p stands at the smallest float, 5e-324,
    for something smaller, what is returned is an upper bound.

    References
    ----------
    Holm (1979); Hochberg (1988); Benjamini & Hochberg (1995); Benjamini & Yekutieli (2001).

    Examples
    --------
    >>> from permtest.many.multiplicity import adjusted_pvalues
    >>> adjusted_pvalues([0.03125, 0.5, 0.0078125]).tolist()
    [0.0625, 0.5, 0.0234375]
    """
    check_correction(correction)
    p = _as_pvalues(pvalue)
    if correction == "max_t":
        raise ValueError(
            "correction='max_t' samples swaps of the scores, which p-values do not have; ask "
            "compare_many(table, correction='max_t') for it"
        )
    if correction == "none" or p.size == 0:
        return p
    multipletests = _multipletests(correction)
    with _nothing_to_collect():
        _, adjusted, *_ = multipletests(p.ravel(), method=_METHODS[correction])
    return np.asarray(adjusted, dtype=np.float64).reshape(p.shape)


def _multipletests(correction: str) -> Any:
    needed_by = f"correction={correction!r}"
    return optional("statsmodels.stats.multitest", needed_by=needed_by, extra="many").multipletests


@contextmanager
def _nothing_to_collect() -> Iterator[None]:
    """For Holm, statsmodels collects garbage, which takes half a second among many objects."""
    idle = gc.get_freeze_count() == 0  # nobody else keeps objects from the collector
    if idle:
        gc.freeze()
    try:
        yield
    finally:
        if idle:
            gc.unfreeze()


def _as_pvalues(pvalue: Any) -> NDArray[np.float64]:
    """A copy, or an error that names the first that is no p-value of an exact test."""
    given = np.asarray(pvalue)
    if given.size and given.dtype.kind not in "fiu":
        raise TypeError(f"pvalue holds {given.dtype.name}, but p-values are numbers")
    p = np.array(given, dtype=np.float64)
    bad = np.argwhere(~((p > 0) & (p <= 1)))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"pvalue[{where}] = {p[tuple(bad[0])]} must lie in (0, 1]: a permutation test has no "
            "p of 0, and a test without p has to be left out"
        )
    return p
