"""What every alternative test returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite
from typing import Any

from permtest._checks import check_level
from permtest._html import facts, together
from permtest._json import AsJson
from permtest.alternatives.assumptions import Assumption
from permtest.alternatives.names import FOLD_TITLES, TITLES
from permtest.alternatives.sample import PairedSample, within_floats
from permtest.interval import ConfidenceInterval

#: The `method` where `pvalue` is an upper bound of p, as no exact one is within reach.
UPPER_BOUND = "upper bound"

#: The `method` where `pvalue` comes from random samples.
SAMPLED = "sampled"

#: The smallest p that is reported; it stands for all that are smaller.
SMALLEST = 5e-324


@dataclass(frozen=True)
class AlternativeResult(AsJson):
    """What a test other than the exact paired-permutation test found.

    Parameters
    ----------
    test : str
        Name of the test, as in `compare_all`.
    title : str
        What sentences and tables call it.
    statistic : float
        The test statistic.
    statistic_name : str
        What it is called: "t", "z", "W+", ...
    pvalue : float
        In (0, 1]. The number 5e-324 stands for all that are smaller.
    alternative : str
        "two-sided", "greater" (the first system scores higher) or "less".
    n : int
        Number of pairs, or of items of both systems together where they are not paired.
    estimate : float
        By how much the first system scores more.
    estimate_name : str
        Of what that is the difference: "mean difference", ...
    method : str
        How p was computed: "exact", "t distribution", "normal approximation", "sampled", ...
    names : tuple of two str
        What the systems are called.
    delta : float
        The difference under the null hypothesis.
    assumptions : tuple of Assumption
        What the test takes for granted.
    details : mapping of str to number
        Whatever else was computed: degrees of freedom, zeros, correlation, ...
    n_samples : int or None
        How many samples or resamples were drawn.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> result = alt.paired_t([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> round(result.statistic, 3), result.statistic_name, round(result.pvalue, 3)
    (2.746, 't', 0.052)
    >>> result.estimate_name, result.estimate, result.details["df"]
    ('mean difference', 1.4, 4)
    >>> [assumption.name for assumption in result.assumptions]
    ['independent items', 'normal differences']
    """

    test: str
    title: str
    statistic: float
    statistic_name: str
    pvalue: float
    alternative: str
    n: int
    estimate: float
    estimate_name: str
    method: str
    names: tuple[str, str] = ("a", "b")
    delta: float = 0.0
    assumptions: tuple[Assumption, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    n_samples: int | None = None
    _interval: Callable[[float], tuple[float, float]] | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        assert self.pvalue == self.pvalue, f"p of {self.test} is NaN"
        object.__setattr__(self, "pvalue", min(max(float(self.pvalue), SMALLEST), 1.0))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for `estimate`: as a rule, of all values that the test would not reject.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            For "greater" `high` is infinite, for "less" `low` is, as far as the estimate can be.

        Raises
        ------
        ValueError
            If the test has no interval, or `confidence_level` is out of range.
        """
        check_level(confidence_level, "confidence_level")
        if self._interval is None:
            raise ValueError(f"the {self.title} has no interval for a {self.estimate_name}")
        found = self._interval(confidence_level)
        if isinstance(found, ConfidenceInterval):
            return found
        return ConfidenceInterval(float(found[0]), float(found[1]), confidence_level)

    @property
    def has_interval(self) -> bool:
        """Whether `confidence_interval` has an answer."""
        return self._interval is not None

    def pvalue_text(self, digits: int = 3) -> str:
        """p with so many significant digits; what is a bound, or sampled, is marked as such."""
        if self.pvalue <= SMALLEST:
            return "< 5e-324"
        marks = {UPPER_BOUND: "\N{LESS-THAN OR EQUAL TO} ", SAMPLED: "\N{ALMOST EQUAL TO} "}
        return f"{marks.get(self.method, '')}{self.pvalue:.{digits}g}"

    def sides_text(self) -> str:
        """How many sides the test has, and which."""
        return "two-sided" if self.alternative == "two-sided" else f"one-sided ({self.alternative})"

    def __str__(self) -> str:
        marked = self.pvalue <= SMALLEST or self.method in (UPPER_BOUND, SAMPLED)
        equals = "" if marked else "= "
        against = f" against {self.delta:g}" if self.delta else ""
        return (
            f"{self.title}: {self.estimate_name} of {self.names[0]} over {self.names[1]} "
            f"{self.estimate:.6g}{against}, {self.statistic_name} = {self.statistic:.6g}, "
            f"p {equals}{self.pvalue_text()} ({self.sides_text()}, {self.method}, n = {self.n})."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields and the 95% interval, as plain numbers, strings, lists and None.

        Numbers that are not finite are None, as JSON has none of them.
        """
        shown = {
            key: getattr(self, key) for key in self.__dataclass_fields__ if not key.startswith("_")
        }
        shown["names"] = list(self.names)
        shown["assumptions"] = [a.name for a in self.assumptions]
        shown["details"] = {key: finite(value) for key, value in self.details.items()}
        interval = self.confidence_interval() if self.has_interval else None
        shown["interval"] = interval and [finite(end) for end in interval]
        return {key: finite(value) for key, value in shown.items()}

    def _repr_html_(self) -> str:
        rows = {
            self.estimate_name: f"{self.estimate:.6g}",
            self.statistic_name: f"{self.statistic:.6g}",
            "p": f"{self.pvalue_text()} ({self.sides_text()}; {self.method})",
            "n": f"{self.n}",
        }
        if self.has_interval:
            rows["95% interval"] = interval_text(self.confidence_interval())
        rows["assumes"] = "; ".join(a.text for a in self.assumptions)
        return together(facts(rows, f"{self.title}: {self.names[0]} against {self.names[1]}"))


def result_of(sample: PairedSample, test: str, alternative: str, **found: Any) -> AlternativeResult:
    """What a test of a sample found; its title is that of tables unless there is another."""
    found = {"title": (TITLES | FOLD_TITLES)[test], "names": sample.names, **found}
    for key in ("statistic", "estimate"):
        within_floats(found[key], found[f"{key}_name"])
    delta = float(sample.delta)
    return AlternativeResult(test, alternative=alternative, n=sample.n, delta=delta, **found)


def interval_text(interval: tuple[float, float], digits: int = 4) -> str:
    """An interval as people write it."""
    low, high = interval
    return f"{low:.{digits}g} to {high:.{digits}g}"


def finite(value: Any) -> Any:
    """`value`, but None where it is a float that is not finite; NumPy's numbers become plain."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def rejects(p: Any, alpha: float) -> Any:
    """Whether p <= alpha, for one p or an array of them; roundings in p do not matter."""
    return p <= alpha * (1 + 1e-11)


def one_sided(
    alternative: str, low: float, high: float, least: float = -inf, most: float = inf
) -> tuple[float, float]:
    """The ends of an interval, those that a one-sided test leaves open moved to the limits."""
    return (least if alternative == "less" else low, most if alternative == "greater" else high)


def tail_level(alternative: str, confidence_level: float) -> float:
    """The error probability that an interval leaves on each side that it has.

    `confidence_level` stands for the decimal that it is printed as: 1 - 0.9 is 0.1, not less.
    """
    alpha = 1 - Fraction(str(float(confidence_level)))
    return float(alpha / 2 if alternative == "two-sided" else alpha)
