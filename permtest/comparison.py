"""The question a test answers: which sum was observed, of what law, and what counts as extreme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest.null.grouping import TwoPointSum, attainable, group
from permtest.pairs import LocalEffects, Pairs, check_names, exact_sum
from permtest.statistics import check_alternative, lookup

#: What h may return; NumPy's booleans are the one kind that Python does not call real.
NUMBERS = (Real, Decimal, np.bool_)


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
        return self._value(self.observed)

    @cached_property
    def tails(self) -> tuple[int, int] | None:
        """(lower, upper) if the extreme cells are those with t <= lower or t >= upper.

        None where `h` singles out other cells. Without `h`, two-sided means at least as far from
        the centre of the null law as what was observed; every sum of stay-or-swap effects is
        symmetric about its centre, which is 0 wherever g(v, u) = -g(u, v), so that this is the
        paper's h(x) = |x|.
        """
        if self.h is not None:
            return _as_tails(np.flatnonzero(attainable(self.law)), self.extreme)
        top, t = self.law.top, self.law.cell(self.observed)
        if self.alternative == "greater":
            return -1, t
        if self.alternative == "less":
            return t, top + 1
        return min(t, top - t), max(t, top - t)

    @cached_property
    def extreme(self) -> NDArray[np.bool_]:
        """Which cells of the law count as at least as extreme as what was observed.

        `h` is called with a Python integer for each attainable value of S, and only for those.
        Raises MemoryError if there are too many cells.
        """
        if self.h is None:
            self.law.check_size("the null distribution")
            return self.reaches(np.arange(self.law.top + 1))
        possible = np.flatnonzero(attainable(self.law))
        extreme = np.zeros(self.law.top + 1, dtype=bool)
        extreme[possible] = self.reaches(possible)
        return extreme

    def reaches(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for any array of cells, each of them attainable."""
        if self.h is None:
            lower, upper = self.tails or (-1, -1)
            return np.asarray((cells <= lower) | (cells >= upper), dtype=bool)
        least, offset, unit = self.statistic, self.law.offset, self.law.unit
        values = (self._value(offset + unit * t) for t in cells.tolist())
        return np.fromiter((bool(value >= least) for value in values), bool, len(cells))

    def _value(self, total: int) -> Any:
        """h of one sum, which must be a number."""
        value = self.h(total) if self.h is not None else total
        if not isinstance(value, NUMBERS) or value != value:
            raise ValueError(
                f"h({total}) = {value!r}, but h must return a number for every value that the sum "
                "can take"
            )
        return value


def _as_tails(possible: NDArray[np.int64], extreme: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The thresholds beyond which all attainable cells are extreme, if no others are."""
    flags = extreme[possible]
    if flags.all():
        return int(possible[-1]), int(possible[-1]) + 1
    inner = np.flatnonzero(~flags)
    first, last = inner[0], inner[-1]
    if flags[first : last + 1].any():
        return None
    return int(possible[first]) - 1, int(possible[last]) + 1


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
    entry = lookup(statistic)
    if g is None:
        pairs = u if isinstance(u, Pairs) and v is None else Pairs.of(u, v, names)
        entry.check(pairs)
        effects, metric, unit = pairs.effects(entry.g), entry.name, entry.unit
        totals, names = (exact_sum(pairs.u), exact_sum(pairs.v)), names or pairs.names
    elif statistic != "sum":
        raise ValueError(f"statistic={statistic!r} and g cannot be combined: a statistic is a g")
    else:
        u, v = (u.u, u.v) if isinstance(u, Pairs) and v is None else (u, v)
        effects, metric, unit, totals = LocalEffects.of(u, v, g), _label(g, "g"), "points", None
    law = group(effects.stay, effects.swap, exact_sum(np.minimum(effects.stay, effects.swap)))
    return Comparison(
        law=law,
        observed=exact_sum(effects.stay),
        alternative="greater" if h is not None else alternative,
        h=h,
        metric=metric if h is None else f"{_label(h, 'h')}({metric})",
        unit=unit,
        names=check_names(names or ("u", "v")),
        totals=totals,
    )


def _label(function: Callable[..., Any], default: str) -> str:
    name = getattr(function, "__name__", "<lambda>")
    return default if name == "<lambda>" else str(name)
