"""What tests assume, as data, and what can be said from the scores about whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest.alternatives.sample import PairedSample, near_one, rescaled
from permtest.symmetry import PER_SQUARED_SKEWNESS

#: Skewness below which differences count as roughly symmetric (Bulmer's rule of thumb).
SYMMETRIC_BELOW = 0.5

#: Correlations up to this cost next to nothing: a standard deviation too large by a twentieth.
UNCORRELATED = 0.1

#: From how many pairs on a mean is close enough to normal for a z or t test, as a rule of thumb.
MANY = 30

#: With fewer pairs than this, that an assumption is not contradicted says nothing.
FEW = 20

#: First term of Edgeworth's series for a mean, skewness / (6 sqrt N), below which shape matters
#: little: an error of the order of 1e-3 in a p near .05.
NEGLIGIBLE = 0.01

#: From how many pairs on a sample may stand for its population in a bootstrap.
REPRESENTATIVE_FROM = 100

#: What is said of an assumption that holds, that does not, and of which the scores cannot tell.
VERDICTS = {False: "not met", True: "seems to hold", None: "cannot be checked from the data"}


@dataclass(frozen=True)
class Assumption:
    """One thing that a test takes for granted.

    Parameters
    ----------
    name : str
        A short name.
    text : str
        What is assumed.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> [assumption.name for assumption in alt.sign([3, 5, 4], [2, 3, 5]).assumptions]
    ['independent items']
    """

    name: str
    text: str


@dataclass(frozen=True)
class Check:
    """What the scores say about an assumption.

    Parameters
    ----------
    assumption : Assumption
    held : bool or None
        None where scores cannot tell.
    evidence : str
        Why.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> test = alt.independent_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> diagnosis = alt.Diagnosis(alt.PairedSample.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1]))
    >>> for check in map(diagnosis.check, test.assumptions):
    ...     print(check.assumption.name, "-", check.verdict)
    independent items - cannot be checked from the data
    independent systems - cannot be checked from the data
    normal scores - cannot be checked from the data
    equal variances - seems to hold
    """

    assumption: Assumption
    held: bool | None
    evidence: str

    @property
    def verdict(self) -> str:
        """In words: seems to hold, not met, or cannot be checked from the data."""
        return VERDICTS[self.held]


INDEPENDENT_ITEMS = Assumption("independent items", "items do not depend on each other")
EXCHANGEABLE = Assumption(
    "exchangeable labels",
    "where the null hypothesis is true, both systems are equally likely to have made either output",
)
INDEPENDENT_SYSTEMS = Assumption(
    "independent systems", "what one system scores on an item tells nothing about the other"
)
NORMAL_DIFFERENCES = Assumption("normal differences", "differences are normally distributed")
NORMAL_SCORES = Assumption("normal scores", "scores of either system are normally distributed")
EQUAL_VARIANCES = Assumption("equal variances", "scores of both systems vary equally")
SYMMETRIC = Assumption("symmetric differences", "differences are symmetric about their centre")
LARGE_SAMPLE = Assumption(
    "large sample",
    f"there are so many pairs that a mean is normal ({MANY}, or {PER_SQUARED_SKEWNESS} times the "
    "squared skewness)",
)
REPRESENTATIVE = Assumption(
    "representative sample",
    f"the sample is so large ({REPRESENTATIVE_FROM}) that it stands for its population",
)


class Diagnosis:
    """The facts about a paired sample that assumptions are held against, computed once.

    Parameters
    ----------
    sample : PairedSample
    alpha : float, default 0.05
        Level of the tests of normality, of correlation and of equal variances.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> sample = alt.PairedSample.of([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> diagnosis = alt.Diagnosis(sample)
    >>> round(diagnosis.correlation, 3), round(diagnosis.skewness, 3)
    (0.693, 0.272)
    """

    def __init__(self, sample: PairedSample, alpha: float = 0.05) -> None:
        check_level(alpha)
        self.sample, self.alpha = sample, alpha
        self.tame = sample.tame  # for all that does not depend on the unit

    def check(self, assumption: Assumption) -> Check:
        """Whether one assumption holds, as far as the scores can tell."""
        find = _CHECKS.get(assumption.name)
        if find is None:
            return Check(assumption, None, "scores alone cannot tell")
        return Check(assumption, *find(self))

    @cached_property
    def correlation(self) -> float:
        """r12, Pearson's correlation of both systems' scores; NaN if one of them is constant."""
        return self.sample.correlation

    @cached_property
    def skewness(self) -> float:
        """g1 of the differences."""
        return skewness(self.tame.centred)

    @cached_property
    def normality(self) -> float:
        """Shapiro and Wilk's p of the differences."""
        return self.shapiro[1]

    @cached_property
    def shapiro(self) -> tuple[float, float]:
        """W and p of the Shapiro-Wilk test of the differences."""
        return shapiro(self.tame.centred)


def skewness(values: NDArray[np.float64]) -> float:
    """g1, biased as in ``scipy.stats.skew``; 0 if all values are equal, or fewer than three."""
    from scipy import stats

    return 0.0 if values.size < 3 or np.ptp(values) == 0 else float(stats.skew(near_one(values)[0]))


def shapiro(values: NDArray[np.float64]) -> tuple[float, float]:
    """W and p of the Shapiro-Wilk test; NaN if all values are equal, or fewer than three.

    SciPy's p is said to be accurate to 5 000 values; beyond, every 1/k-th of the sorted values is
    tested, which keeps the shape.
    """
    from scipy import stats

    if values.size < 3 or np.ptp(values) == 0:
        return float("nan"), float("nan")
    step = -(-values.size // 5000)
    found = stats.shapiro(near_one(np.sort(values))[0][step // 2 :: step])
    return float(found.statistic), float(found.pvalue)


def _independent_systems(found: Diagnosis) -> tuple[bool | None, str]:
    r, n = found.correlation, found.sample.n
    if not np.isfinite(r):
        return None, "a system that always scores the same correlates with nothing"
    if abs(r) > 2 / sqrt(n):
        return False, f"r12 = {r:.3f}"
    return (True if abs(r) <= UNCORRELATED else None), f"r12 = {r:.3f}, from {n} pairs"


def _normal_differences(found: Diagnosis) -> tuple[bool | None, str]:
    p = found.normality
    if not np.isfinite(p):
        return None, "fewer than three differences, or all equal"
    text, off = f"Shapiro-Wilk p = {p:.3g}", abs(found.skewness) / (6 * sqrt(found.sample.n))
    if p < found.alpha and found.sample.n >= MANY and off <= NEGLIGIBLE:
        text += f", which matters little with {found.sample.n} pairs"
    return _unless_few(p >= found.alpha, found.sample.n), text


def _normal_scores(found: Diagnosis) -> tuple[bool | None, str]:
    both = [shapiro(scores)[1] for scores in (found.tame.a, found.tame.b)]
    if not np.all(np.isfinite(both)):
        return None, "fewer than three scores, or all equal"
    text = f"Shapiro-Wilk p = {both[0]:.3g} and {both[1]:.3g}"
    return _unless_few(min(both) >= found.alpha, found.sample.n), text


def _equal_variances(found: Diagnosis) -> tuple[bool | None, str]:
    """Brown and Forsythe's test, which is not misled by other shapes than the normal one."""
    from scipy import stats

    sample = found.tame
    sds = [rescaled(x.std(ddof=1), sample.power) for x in (sample.a, sample.b)]
    text = f"standard deviations {sds[0]:.3g} and {sds[1]:.3g}"
    spreads = [np.abs(x - np.median(x)) for x in (sample.a, sample.b)]
    if sample.n < 3:
        return None, text
    if not any(np.ptp(x) for x in spreads):
        same = bool(np.isclose(spreads[0][0], spreads[1][0]))
        return _unless_few(same, sample.n), text
    p = float(stats.f_oneway(*spreads).pvalue)
    return p >= found.alpha, f"{text}; Brown-Forsythe p = {p:.3g}"


def _symmetric(found: Diagnosis) -> tuple[bool | None, str]:
    holds, n = abs(found.skewness) < SYMMETRIC_BELOW, found.sample.n
    return _unless_few(holds, n), f"skewness {found.skewness:.2f}"


def _unless_few(holds: bool, n: int) -> bool | None:
    """Few pairs can contradict an assumption, but hardly speak for it."""
    return None if holds and n < FEW else holds


def _many_pairs(found: Diagnosis) -> tuple[bool | None, str]:
    least = max(MANY, PER_SQUARED_SKEWNESS * found.skewness**2)
    return found.sample.n >= least, f"{found.sample.n} pairs, skewness {found.skewness:.2f}"


def _representative(found: Diagnosis) -> tuple[bool | None, str]:
    return found.sample.n >= REPRESENTATIVE_FROM, f"{found.sample.n} pairs"


_CHECKS: dict[str, Callable[[Diagnosis], tuple[bool | None, str]]] = {
    INDEPENDENT_SYSTEMS.name: _independent_systems,
    NORMAL_DIFFERENCES.name: _normal_differences,
    NORMAL_SCORES.name: _normal_scores,
    EQUAL_VARIANCES.name: _equal_variances,
    SYMMETRIC.name: _symmetric,
    LARGE_SAMPLE.name: _many_pairs,
    REPRESENTATIVE.name: _representative,
}


def inflation(correlation: float) -> float:
    """How much too large a standard deviation gets by assuming independence (Yeh, sec. 2.1).

    Parameters
    ----------
    correlation : float
        r12 of two systems whose standard deviations are equal; below 1.

    Returns
    -------
    float
        ``1 / sqrt(1 - r12)``.

    Raises
    ------
    ValueError
        If `correlation` is not in [-1, 1).

    Examples
    --------
    >>> from permtest.alternatives import inflation
    >>> [round(inflation(r), 2) for r in (0.38, 0.5, 0.8)]
    [1.27, 1.41, 2.24]
    """
    if not -1 <= correlation < 1:
        raise ValueError(f"correlation must lie in [-1, 1), got {correlation}")
    return 1 / sqrt(1 - correlation)
