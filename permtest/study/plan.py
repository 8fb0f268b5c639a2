"""What so many pairs can show: power, the interval to expect, and what can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from permtest.alternatives.result import one_sided, tail_level
from permtest.study.planning import SampleSize, minimum_detectable_effect, power_t, sample_size

TARGET = 0.8  # the power that is wanted


@dataclass(frozen=True)
class Plan:
    """What so many pairs can show, if differences have this mean and this standard deviation.

    Parameters
    ----------
    lead : float
        The true mean difference, in scores.
    sd : float
        The standard deviation of the differences; above 0.
    n : int
        Number of pairs, at least 2.
    alpha : float
        Level of the test.
    alternative : str
        "two-sided", "greater" or "less".
    target : float
        The power that is wanted.
    power : float
        Of the paired t-test.
    needed : SampleSize or None
        How many pairs have the power that is wanted; None where there is nothing to find.
    detectable : float
        The mean difference that n pairs find with the power that is wanted.
    expected : tuple of two float
        An interval of the confidence level 1 - alpha, were the observed mean and standard deviation
        the true ones.

    Examples
    --------
    >>> from permtest.study.plan import Plan
    >>> plan = Plan.of(0.1, 0.5, 100)
    >>> round(plan.power, 3), round(plan.detectable, 3)
    (0.508, 0.141)
    >>> [round(power, 2) for power in plan.curve([50, 200, 400])]
    [0.28, 0.8, 0.98]
    """

    lead: float
    sd: float
    n: int
    alpha: float
    alternative: str
    target: float
    power: float
    needed: SampleSize | None
    detectable: float
    expected: tuple[float, float]

    @classmethod
    def of(
        cls,
        lead: float,
        sd: float,
        n: int,
        *,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        target: float = TARGET,
    ) -> Plan:
        """Everything there is to know; arguments as they are named above."""
        from scipy.special import stdtrit

        level: dict[str, Any] = {"alpha": alpha, "alternative": alternative}
        power = power_t(n, lead, sd, **level)
        detectable = minimum_detectable_effect(n, sd, power=target, **level)
        needed = sample_size(lead, sd, power=target, **level) if lead else None
        reach = -float(stdtrit(n - 1, tail_level(alternative, 1 - alpha))) * sd / sqrt(n)
        expected = one_sided(alternative, lead - reach, lead + reach)
        return cls(lead, sd, n, alpha, alternative, target, power, needed, detectable, expected)

    def curve(self, sizes: Sequence[int]) -> list[float]:
        """The power of the paired t-test with other numbers of pairs."""
        level: dict[str, Any] = {"alpha": self.alpha, "alternative": self.alternative}
        return [power_t(n, self.lead, self.sd, **level) for n in sizes]
