"""A test that may be looked at while the data come in: an e-process of symmetric differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._forms import AsSentence
from permtest.exact import exact_perm_test
from permtest.null.distribution import SMALLEST
from permtest.pairs import Pairs, labels_of
from permtest.score import counted
from permtest.statistics import Alternative, check_alternative

Floats = NDArray[np.float64]

#: Bets, as shares of the root mean square of the differences that came before.
BETS: Floats = np.exp2(np.arange(-10.0, 2.0))


@dataclass(frozen=True, eq=False)
class EProcess(AsSentence):
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
    alternative: str
    names: tuple[str, str]
    _pairs: Pairs = field(repr=False)

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
        check_level(alpha)
        found = np.flatnonzero(self.pvalues <= alpha)
        return int(found[0]) + 1 if found.size else None

    def confidence_sequence(
        self, confidence_level: float = 0.95, at: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Intervals for the mean difference that hold at all sizes together.

        Parameters
        ----------
        confidence_level : float, default 0.95
            The probability with which all of the intervals cover it.
        at : sequence of int, optional
            Numbers of items after which to look, ascending. Default: up to 40 of them, spaced like
            powers, with the last.

        Returns
        -------
        ndarray of shape (M, 3)
            Number of items, lower and upper end; infinite while nothing is excluded, and on the
            side that a one-sided alternative leaves open.

        Notes
        -----
        Assumes that the differences are symmetric about a shift that is the same for all items. The
        shifts are kept whose process stayed below 1 / alpha; two-sided, each side has half of alpha
        for itself, so that 0 is excluded only where `pvalues` is at most alpha. Time O(N) for each
        number of items.
        """
        alpha = 1 - check_level(confidence_level, "confidence_level")
        barrier = log((1 + (self.alternative == "two-sided")) / alpha)
        d, sizes = _differences(self._pairs), self._sizes(at)
        low, high = np.full((2, sizes.size), [[-inf], [inf]])
        if self.alternative != "less":
            low = np.maximum.accumulate([_lower_end(d[:n], barrier) for n in sizes.tolist()])
        if self.alternative != "greater":
            high = -np.maximum.accumulate([_lower_end(-d[:n], barrier) for n in sizes.tolist()])
        return np.stack([sizes, low, high], axis=1)

    def exact_pvalues(self, at: Sequence[int] | None = None) -> Floats:
        """p of the exact test after some numbers of items, each valid if that number was fixed.

        Parameters
        ----------
        at : sequence of int, optional
            As in `confidence_sequence`.

        Returns
        -------
        ndarray of shape (M,)

        Examples
        --------
        >>> from permtest import e_process
        >>> e_process([3, 5, 4, 6, 2, 7], [2, 3, 4, 3, 1, 3]).exact_pvalues(at=[3, 6]).tolist()
        [0.5, 0.0625]
        """
        pairs, how = self._pairs, dict[str, Any](alternative=self.alternative)
        found, sizes = [], self._sizes(at).tolist()
        for n in sizes:
            off = None if pairs.rounding is None else pairs.rounding[:, :n]
            first = replace(pairs, u=pairs.u[:n], v=pairs.v[:n], ids=None, runs=None, rounding=off)
            found.append(exact_perm_test(first, **how).pvalue)
        return np.array(found, dtype=np.float64)

    def _sizes(self, at: Sequence[int] | None) -> NDArray[np.int64]:
        if at is None:
            return np.unique(np.geomspace(1, max(self.n, 1), 40).astype(np.int64))[: self.n]
        sizes = np.array([0, *np.ravel(at).tolist(), self.n + 1])
        if sizes.dtype.kind != "i" or (np.diff(sizes) <= 0).any():
            raise ValueError(f"at={at!r} must be ascending numbers of items from 1 to {self.n}")
        return sizes[1:-1]

    def __str__(self) -> str:
        a, b = self.names
        first = self.first_below(0.05)
        when = "never at most 0.05"
        if first is not None:
            when = f"at most 0.05 for the first time after {counted(first, 'items')}"
        side = {"two-sided": "differ", "greater": "differ, the first scoring higher,"}
        claim = side.get(self.alternative, "differ, the first scoring lower,")
        last = self.values[-1] if self.n else 1.0
        return (
            f"After {counted(self.n, 'items')} the evidence that {a} and {b} {claim} is "
            f"E = {last:.4g}. p = {self.pvalue:.3g}, from the largest E so far, is valid whenever "
            f"you stop; it was {when}. This assumes that, if the systems are equally good, their "
            "differences are symmetric about 0."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields, the last p and the number of items, as plain values."""
        return super().to_dict() | {"pvalue": self.pvalue, "n": self.n}


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
    of 100 items rejects in 78% of samples at the level .05, and the e-process, after any of them,
    in 30%; at half a standard deviation it is 100% and 93%, and where it rejects it took 44 items
    (`python -m benchmarks.calibration`). If you know how many items there will be, and can wait for
    them, use `exact_perm_test` once.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        Scores of both systems on the same items, in the order in which they came in, as
        `exact_perm_test` takes them; or one `Pairs`.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `u` scores higher.
    names : tuple of two str, optional
        What the systems are called. Default: names of the columns, if they have any.
    clusters : array_like of shape (N,), optional
        What each item belongs to. Whole clusters, in the order in which they begin, are then what
        comes in.

    Returns
    -------
    EProcess

    Raises
    ------
    TypeError, ValueError
        As in `exact_perm_test`.

    Notes
    -----
    Under the null hypothesis the sign of each difference d_n is fair, whatever came before and
    however large it is. Then ``exp(x_n d_n) / cosh(x_n d_n)`` has the expectation 1 for any x_n
    that is chosen beforehand, products of them are martingales, and so are mixtures of these (Ville
    1939; Vovk and Wang, arXiv 2208.08925; Koning, arXiv 2310.01153). Here x_n is c over the root
    mean square of the differences before, those that are 0 left out, and c is mixed over the powers
    of 2 from 2^-10 to 2, of both signs if two-sided. Time and memory O(N).

    Examples
    --------
    >>> from permtest import e_process
    >>> found = e_process([3, 5, 4, 6, 2, 7], [2, 3, 4, 3, 1, 3])
    >>> found.values.round(2).tolist()
    [1.0, 1.0, 1.0, 1.23, 1.46, 2.15]
    """
    check_alternative(alternative)
    pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
    if pairs.columns:
        raise ValueError(
            f"an e-process takes one score for each item, but there are {len(pairs.columns)} "
            f"columns ({', '.join(pairs.columns)})"
        )
    labels = labels_of(u, clusters)
    called = names or pairs.names
    pairs = pairs if labels is None else pairs.folded(labels)
    d = _differences(pairs)
    bets = {"two-sided": np.append(-BETS, BETS), "greater": BETS, "less": -BETS}[alternative]
    logs = _log_e(d * _rates(d), bets)
    running = np.maximum.accumulate(np.maximum(logs, 0.0))
    with np.errstate(over="ignore"):
        values = np.minimum(np.exp(logs), np.finfo(np.float64).max)
    pvalues = np.maximum(np.exp(-running), SMALLEST)
    return EProcess(values, pvalues, alternative, called, pairs)


def _differences(pairs: Pairs) -> Floats:
    """u - v, in scores."""
    return np.array([x / pairs.scale for x in pairs.differences().tolist()], dtype=np.float64)


def _rates(d: Floats) -> Floats:
    """1 over the root mean square of the differences before each one; 0 where there are none."""
    squares, some = np.cumsum(d**2), np.cumsum(d != 0)
    before, number = np.append(0.0, squares[:-1])[: d.size], np.append(0, some[:-1])[: d.size]
    return np.asarray(np.sqrt(number / np.where(before > 0, before, inf)), dtype=np.float64)


def _log_e(x: Floats, bets: Floats, add: Callable[[Floats], Any] = np.cumsum) -> Floats:
    """log E_n, the mean over all bets of the products; after all steps alone if `add` is np.sum."""
    # exp(x) / cosh(x) = 2 / (1 + exp(-2 x))
    logs = np.array([add(log(2) - np.logaddexp(0, -2 * bet * x)) for bet in bets])
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.mean(np.exp(logs - top), axis=0)))


def _lower_end(d: Floats, barrier: float) -> float:
    """The shift below which the process of d - shift exceeds the barrier, rounded outward.

    The bets do not depend on the shift, so that the process falls as the shift rises.
    """
    from scipy.optimize import brentq

    rates, low, high = _rates(d), float(d.min()), float(d.max())

    def beyond(shift: float) -> float:
        return float(_log_e((d - shift) * rates, BETS, np.sum)) - barrier

    if not rates.any():
        return -inf
    room = high - low + float(np.abs(d).max())
    for _ in range(8):
        if beyond(low) >= 0:
            off = 1e-12 * (high - low)
            return float(brentq(beyond, low, high, xtol=off)) - 2 * off
        low -= room
        room *= 4
    return -inf
