"""What is tested: additive scores g and, for each, what its columns must look like.

The test statistic is t(u, v) = h(sum_n g(u_n, v_n)) (Eq. 3). This table holds the ready-made g;
`alternative=` supplies the usual h, and any other h is passed to the test itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from permtest.pairs import Pairs

#: What the alternative hypothesis says of the first system's statistic.
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[str, ...] = get_args(Alternative)


@dataclass(frozen=True)
class Statistic:
    """One ready-made additive statistic.

    Parameters
    ----------
    name : str
        Its name in ``statistic=`` and ``--metric``.
    unit : str
        What one unit of the score is, for axes and sentences.
    g : callable
        ``g(u_n, v_n)``, on single entries and on whole arrays.
    minimum : int or None
        The smallest score that makes sense, if there is one.
    """

    name: str
    unit: str
    g: Callable[[Any, Any], Any]
    minimum: int | None = None

    def problem(self, score: int) -> str | None:
        """What is wrong with one score and what to do about it; None if it can be tested."""
        if self.minimum is None or score >= self.minimum:
            return None
        return (
            f"{score} is below {self.minimum}, but {self.name} counts {self.unit}; "
            "scores that may be negative need the metric 'sum'"
        )

    def check(self, pairs: Pairs) -> None:
        """Raise ValueError at the first score of `pairs` that cannot be tested."""
        if self.minimum is None:
            return
        for label, scores in (("u", pairs.u), ("v", pairs.v)):
            for i in np.flatnonzero(scores < self.minimum)[:1]:
                raise ValueError(f"{label}[{i}] = {self.problem(int(scores[i]))}")


def difference(u_n: Any, v_n: Any) -> Any:
    """g of accuracy: by how many points the first system is ahead on an entry."""
    return u_n - v_n


#: The table of statistics.
STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic("sum", "points", difference),
        Statistic("accuracy", "correct answers", difference, minimum=0),
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
