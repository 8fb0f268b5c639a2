"""What is tested: ready-made statistics and, for each, what its columns must look like.

The test statistic is t(u, v) = h(sum_n g(u_n, v_n)) (Eq. 3). The g of all of these is the
difference u_n - v_n; `alternative=` supplies the usual h, and any other g or h is passed to the
test itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

import numpy as np

from permtest.pairs import Pairs

#: What the alternative hypothesis says of the first system's statistic.
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[str, ...] = get_args(Alternative)


@dataclass(frozen=True)
class Statistic:
    """One ready-made additive statistic, a difference of sums.

    Parameters
    ----------
    name : str
        Its name in ``statistic=`` and ``--metric``.
    unit : str
        What one unit of the score is, for axes and sentences.
    minimum : int or None
        The smallest score that makes sense, if there is one.
    """

    name: str
    unit: str
    minimum: int | None = None

    def problem(self, score: float | Decimal) -> str | None:
        """What is wrong with one score and what to do about it; None if it can be tested."""
        if self.minimum is None:
            return None
        if score != int(score):
            return (
                f"{score} is not a whole number, but {self.name} counts {self.unit}; means and "
                f"other decimals need 'sum' in place of {self.name!r}"
            )
        if score >= self.minimum:
            return None
        return (
            f"{score} is below {self.minimum}, but {self.name} counts {self.unit}; "
            f"scores that may be negative need 'sum' in place of {self.name!r}"
        )

    def check(self, pairs: Pairs, low: int) -> None:
        """Raise ValueError at the first score of `pairs`, the smallest being `low`, that is bad."""
        if self.minimum is None or (low >= self.minimum and pairs.scale == 1):
            return
        for label, scores in (("u", pairs.u), ("v", pairs.v)):
            bad = (scores % pairs.scale != 0) | (scores < self.minimum * pairs.scale)
            for i in np.flatnonzero(bad)[:1]:
                score = pairs.score(int(scores[i]))
                raise ValueError(f"{label}[{i}] = {self.problem(score)}")


#: The table of statistics.
STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic("sum", "points"),
        Statistic("accuracy", "correct answers", minimum=0),
    )
}


def lookup(name: str) -> Statistic:
    """The entry called `name`; ValueError lists what there is."""
    try:
        return STATISTICS[name]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, STATISTICS))
        raise ValueError(f"statistic={name!r} is not known; choose one of {known}") from None


def check_alternative(alternative: str) -> None:
    """Raise ValueError unless `alternative` is one of scipy's three."""
    if alternative not in ALTERNATIVES:
        known = ", ".join(map(repr, ALTERNATIVES))
        raise ValueError(f"alternative={alternative!r} is not known; choose one of {known}")
