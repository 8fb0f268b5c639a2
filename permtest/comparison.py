"""The question a test answers: which sum was observed, of what law, and what counts as extreme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.null.grouping import TwoPointSum, attainable, group
from permtest.pairs import LocalEffects, Pairs, exact_sum
from permtest.statistics import check_alternative, lookup


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two systems and a statistic, reduced to what any test of them needs.

    Parameters
    ----------
    law : TwoPointSum
        The null law of S = sum_n g.
    observed : int
        The observed value of S.
    alternative : str
        "two-sided", "greater" or "less"; "greater" where `h` is given.
    h : callable or None
        Eq. 3's h. None: S itself, compared as `alternative` says.
    metric : str
        Name of the statistic.
    unit : str
        What one unit of S is.
    names : tuple of two str
        What the systems are called.
    totals : tuple of two int, or None
        Sums of both systems' scores, where the statistic is their difference.
    """

    law: TwoPointSum
    observed: int
    alternative: str
    h: Callable[[int], Any] | None
    metric: str
    unit: str
    names: tuple[str, str]
    totals: tuple[int, int] | None

    @property
    def statistic(self) -> Any:
        """t(u, v): h of the observed sum, or the sum itself."""
        return self.observed if self.h is None else self.h(self.observed)

    @property
    def thresholds(self) -> tuple[int, int]:
        """(lower, upper): a cell t of the law is extreme if t <= lower or t >= upper.

        Only without `h`. Two-sided means at least as far from the centre of the null law as
        what was observed; every sum of stay-or-swap effects is symmetric about its centre, which
        is 0 wherever g(v, u) = -g(u, v), so that this is the paper's h(x) = |x|.
        """
        top, t = self.law.top, self.law.cell(self.observed)
        if self.alternative == "greater":
            return -1, t
        if self.alternative == "less":
            return t, top + 1
        return min(t, top - t), max(t, top - t)

    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law count as at least as extreme as what was observed.

        `h` is called with a Python integer for each attainable value of S, and only for those.
        """
        cells = np.arange(self.law.top + 1)
        if self.h is None:
            lower, upper = self.thresholds
            return (cells <= lower) | (cells >= upper)
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(cells.size, dtype=bool)
        extreme[possible] = self.reaches(possible)
        return extreme

    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for any array of cells, each of them attainable."""
        if self.h is None:
            lower, upper = self.thresholds
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        least, h = self.statistic, self.h
        offset, unit = self.law.offset, self.law.unit
        return np.array([bool(h(offset + unit * t) >= least) for t in cells.tolist()], dtype=bool)


def compare(
    u: Any,
    v: Any,
    g: Callable[[Any, Any], Any] | None,
    h: Callable[[int], Any] | None,
    *,
    statistic: str,
    alternative: str,
    names: tuple[str, str] | None,
) -> Comparison:
    """Validate the arguments that all tests share, and reduce them to a `Comparison`.

    Parameters
    ----------
    u, v, g, h, statistic, alternative, names
        As in `exact_perm_test`.

    Returns
    -------
    Comparison
    """
    check_alternative(alternative)
    if h is not None and alternative != "two-sided":
        raise ValueError(
            f"alternative={alternative!r} and h cannot be combined: with h the test asks how often "
            "h(S) is at least as large as observed; put the direction into h"
        )
    if g is None:
        pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
        entry = lookup(statistic)
        entry.check(pairs)
        effects, metric, unit = pairs.effects(entry.g), entry.name, entry.unit
        totals, names = (exact_sum(pairs.u), exact_sum(pairs.v)), names or pairs.names
    else:
        u, v = (u.u, u.v) if isinstance(u, Pairs) and v is None else (u, v)
        effects, metric, unit, totals = LocalEffects.of(u, v, g), _label(g), "points", None
    law = group(effects.stay, effects.swap, exact_sum(np.minimum(effects.stay, effects.swap)))
    return Comparison(
        law=law,
        observed=exact_sum(effects.stay),
        alternative="greater" if h is not None else alternative,
        h=h,
        metric=metric if h is None else f"{_label(h)} of {metric}",
        unit=unit,
        names=names or ("u", "v"),
        totals=totals,
    )


def _label(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "custom" if name == "<lambda>" else str(name)
