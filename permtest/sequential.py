"""A test that may be looked at while the data come in: an e-process of symmetric differences."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np

from permtest._errors import check_level
from permtest._jit import Floats
from permtest._text import Shown, counted, number, p_value
from permtest.null.distribution import SMALLEST
from permtest.question import ask
from permtest.statistics import Alternative

#: Bets, as shares of the root mean square of the differences that came before.
BETS: Floats = np.exp2(np.arange(-10.0, 2.0))


@dataclass(frozen=True, eq=False)
class EProcess(Shown):
    """Evidence against the null hypothesis after each item. Made by `e_process`.

    Parameters
    ----------
    values : ndarray of shape (N,)
        E_1 ... E_N: what a fair bet against the null hypothesis has made of a stake of 1 after each
        item, or cluster. At most the largest float64.
    pvalues : ndarray of shape (N,)
        1 / max(E_1 ... E_n), at most 1: valid at whichever n one stops.
    alternative : {"two-sided", "greater", "less"}
    names : tuple of two str

    Examples
    --------
    >>> from permtest import e_process
    >>> found = e_process([1] * 30 + [0] * 5, [0] * 25 + [1] * 10)
    >>> bool(found.pvalue < 0.05), found.first_below(0.05)
    (True, 10)
    """

    values: Floats
    pvalues: Floats
    alternative: Alternative
    names: tuple[str, str]

    @property
    def n(self) -> int:
        """How many items, or clusters, there are."""
        return self.values.size

    @property
    def pvalue(self) -> float:
        """The anytime-valid p after all items; 1 of none."""
        return float(self.pvalues[-1]) if self.n else 1.0

    def first_below(self, alpha: float = 0.05) -> int | None:
        """After how many items p was at most alpha for the first time; None if never."""
        found = np.flatnonzero(self.pvalues <= check_level(alpha))
        return int(found[0]) + 1 if found.size else None

    def __str__(self) -> str:
        (a, b), first = self.names, self.first_below(0.05)
        way = {"greater": "higher", "less": "lower"}.get(self.alternative)
        claim = f"{a} scores {way} than {b}" if way else f"{a} and {b} differ"
        first_text = f"at most 0.05 for the first time after {counted(first, 'items')}"
        last = number(float(self.values[-1]) if self.n else 1.0, 4)
        return (
            f"Evidence that {claim}, after {counted(self.n, 'items')}: E = {last} (e-process). "
            f"p = {p_value(self.pvalue)}, from the largest E so far, holds whenever you stop; it "
            f"was {first_text if first else 'never at most 0.05'}. If the systems are equally "
            "good, differences are taken to be symmetric about 0."
        )

    def rows(self) -> list[dict[str, Any]]:
        """All fields, the last p and the number of items, as plain values: one row."""
        return [super().rows()[0] | {"pvalue": self.pvalue, "n": self.n}]


def e_process(
    u: Any,
    v: Any = None,
    *,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> EProcess:
    """Test a difference again after every item, at a price in power: an e-process.

    A p-value holds for a number of items that was fixed beforehand. If you look at it again and
    again, and stop when it is small, you reject a true null hypothesis far too often. The e-process
    holds at any time: under the null hypothesis, the probability that it ever reaches 1 / alpha is
    at most alpha, exactly, at any N.

    The price is power. Of normal differences with a mean of .28 standard deviations, one exact test
    of 100 items rejects in 80% of samples at the level .05, and the e-process, after any of them,
    in 31% (`python -m benchmarks.calibration`). If you can wait for all items, use
    `exact_perm_test` once.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        As in `exact_perm_test`, in the order in which the items came in.
    alternative, names
        As in `exact_perm_test`.
    clusters : array_like of shape (N,), optional
        As in `exact_perm_test`; whole clusters then come in, in the order in which they begin.

    Returns
    -------
    EProcess

    Notes
    -----
    Under the null hypothesis the sign of each difference d_n is fair, whatever came before and
    however large it is. E_N is the product of all ``exp(x_n d_n) / cosh(x_n d_n)``, where x_n is c
    over the root mean square of the differences before, those that are 0 left out, and c is mixed
    over the powers of 2 from 2^-10 to 2, of both signs if two-sided (Ville 1939; Vovk and Wang,
    arXiv 2208.08925; Koning, arXiv 2310.01153). Time and memory O(N).

    Examples
    --------
    >>> from permtest import e_process
    >>> found = e_process([3, 5, 4, 6, 2, 7], [2, 3, 4, 3, 1, 3])
    >>> found.values.round(2).tolist()
    [1.0, 1.0, 1.0, 1.23, 1.46, 2.15]
    """
    question = ask(u, v, alternative=alternative, names=names, clusters=clusters)
    assert question.data is not None
    gaps = question.data.units.differences().tolist()
    d = np.array([x / question.scale for x in gaps], dtype=np.float64)
    bets = {"two-sided": np.append(-BETS, BETS), "greater": BETS, "less": -BETS}[alternative]
    # 1 over the root mean square of the differences before each one; 0 where there are none.
    squares, some = (np.append(0.0, np.cumsum(x)[:-1])[: d.size] for x in (d**2, d != 0))
    rates = np.sqrt(some / np.where(squares > 0, squares, inf))
    # Sums of log(exp(x) / cosh(x)) = log 2 - log(1 + exp(-2 x)), and their mean over all bets.
    each = np.array([np.cumsum(log(2) - np.logaddexp(0, -2 * bet * d * rates)) for bet in bets])
    top = each.max(axis=0)
    logs = top + np.log(np.mean(np.exp(each - top), axis=0))
    running = np.maximum.accumulate(np.maximum(logs, 0.0))
    with np.errstate(over="ignore"):
        values = np.minimum(np.exp(logs), np.finfo(np.float64).max)
    pvalues = np.maximum(np.exp(-running), SMALLEST)
    return EProcess(values, pvalues, alternative, question.names)
