"""What power the test of an overview has, and what another study needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from permtest.alternatives.sample import near_one, rescaled, within_floats
from permtest.measures import Matthews, MeanOfRatios
from permtest.pairs import Pairs
from permtest.result import counted
from permtest.statistics import Alternative, CountStatistic, Statistic
from permtest.study.discordant_power import exact_power, exact_power_n
from permtest.study.planning import minimum_detectable_effect, power_t, sample_size

#: The power that another study is planned for.
TARGET = 0.8


Floats = np.ndarray[Any, np.dtype[np.float64]]


class Notes(dict[str, str]):
    def add(self, stage: str, why: str) -> None:
        self[stage] = f"{self[stage]}; {why}" if stage in self else why

    def tried(self, stage: str, job: Any) -> Any:
        try:
            return job()
        except ValueError as error:
            self.add(stage, str(error))
            return None


@dataclass(frozen=True)
class Outlook:
    """What power a test of such systems has, and what another study needs.

    Parameters
    ----------
    n : int
        Number of units.
    power : float
        Probability that n such units show a difference as large as the observed one; 0 where no p
        of n units is small enough.
    detectable : float or None
        The smallest difference that n units show with a power of `target`, if it can be as large.
    needed : int or None
        Units that show the observed difference with a power of `target`.
    target : float
    method : str
        What the numbers rest on.
    problem : str
        Why one is missing.
    """

    n: int
    power: float
    detectable: float | None
    needed: int | None
    target: float
    method: str
    problem: str = ""

    @classmethod
    def of(
        cls,
        worth: Floats,
        *,
        binary: bool,
        alpha: float,
        alternative: Alternative,
        limit: float = inf,
        unit: str = "items",
    ) -> Outlook:
        """Plan with the differences of all units, as `ItemScores.worth` has them.

        Parameters
        ----------
        worth : ndarray of shape (N,)
        binary : bool
            Whether they are differences of scores that are 0 or 1.
        alpha : float
        alternative : str
        limit : float, default inf
            The largest mean of `worth` that there can be.
        unit : str, default "items"
            What the differences are of.

        Returns
        -------
        Outlook

        Raises
        ------
        ValueError
            If all differences are equal.
        """
        n = worth.size
        how: dict[str, Any] = {"alpha": alpha, "alternative": alternative}
        near, shift = near_one(worth)
        sigma = float(np.std(near, ddof=1)) if n > 1 else 0.0
        if sigma == 0:
            raise ValueError("all differences are equal, so that they say nothing of others")
        mean, problems = float(near.mean()), Notes()
        least_found = minimum_detectable_effect(n, sigma, power=TARGET, **how)
        detectable: float | None = within_floats(
            rescaled(least_found, shift), "smallest detectable difference"
        )
        if binary:
            chances = float(np.mean(worth > 0)), float(np.mean(worth < 0))
            power = exact_power(*chances, n, **how)
            needed = problems.tried("power", lambda: exact_power_n(*chances, TARGET, **how))
            method = "exact, for scores of 0 and 1; the smallest difference by the paired t test"
        else:
            power = power_t(n, mean, sigma, **how)
            enough = partial(sample_size, mean, sigma, power=TARGET, **how)
            needed = problems.tried("power", enough)
            method = "paired t test of differences that are close to normal on average"
        least = fewest(alpha, alternative)
        if n < least:
            power, detectable = 0.0, None
            text = f"no p of {counted(n, unit)} is {alpha:g} or less, which takes {least}"
            problems.add("power", text)
        elif detectable is not None and abs(detectable) > limit:
            detectable = None
            text = f"no difference is so large that {counted(n, unit)} show it in {TARGET:.0%}"
            problems.add("power", f"{text} of all studies")
        needed = needed and max(int(needed), least)
        return cls(n, power, detectable, needed, TARGET, method, problems.get("power", ""))


def fewest(alpha: float, alternative: Alternative) -> int:
    """The smallest number of units of which an exact p can be as small as `alpha`.

    Parameters
    ----------
    alpha : float
    alternative : str

    Returns
    -------
    int
        n, where the smallest p is 2^-n; twice that if it has two sides.
    """
    n = sides = 2 if alternative == "two-sided" else 1
    while sides * 0.5**n > alpha:
        n += 1
    return n


def widest(pairs: Pairs, statistic: Statistic | CountStatistic) -> float:
    """The largest difference of a measure, or of the means of scores.

    Parameters
    ----------
    pairs : Pairs
    statistic : Statistic or CountStatistic

    Returns
    -------
    float
        1 for ratios and for scores that all lie between 0 and 1, 2 for a correlation, else inf.
    """
    if isinstance(statistic, CountStatistic):
        measure = statistic.measure(pairs)[0]
        if isinstance(measure, MeanOfRatios) and not measure.whole:
            return inf
        return 2.0 if isinstance(measure, Matthews) else 1.0
    low, high = min(pairs.u.min(), pairs.v.min()), max(pairs.u.max(), pairs.v.max())
    return 1.0 if low >= 0 and high <= pairs.scale else inf
