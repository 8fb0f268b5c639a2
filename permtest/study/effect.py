"""What every effect size returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from permtest._checks import check_level
from permtest._html import facts, together
from permtest._json import AsJson
from permtest.alternatives.result import finite, interval_text
from permtest.interval import ConfidenceInterval

#: From which magnitude on Cohen calls an effect small, medium and large.
STANDARDISED, CORRELATION = (0.2, 0.5, 0.8), (0.1, 0.3, 0.5)
WORDS = ("less than small", "small", "medium", "large")
CAUTION = "in Cohen's words, made for the behavioural sciences and not for comparing systems"

Interval = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class EffectSize(AsJson):
    """How large a difference is.

    Parameters
    ----------
    name : str
        Of the function that computed it: "cohen_d", ...
    title : str
        What sentences and tables call it.
    value : float
        Above 0 where the first system is better.
    n : int
        Number of pairs, or of items of both systems together where they are not paired.
    method : str
        How the interval is made.
    names : tuple of two str
        What the systems are called.
    details : mapping of str to number
        What else was computed, the same effect by other definitions included.
    thresholds : tuple of three float, or empty
        From where on it is called small, medium and large; empty where it has a unit.

    Examples
    --------
    >>> from permtest.study import cohen_d
    >>> effect = cohen_d([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> low, high = effect.confidence_interval(0.9)
    >>> round(effect.value, 3), effect.label, round(low, 3), round(high, 3)
    (1.228, 'large', 0.17, 2.185)
    """

    name: str
    title: str
    value: float
    n: int
    method: str
    names: tuple[str, str] = ("a", "b")
    details: Mapping[str, float] = field(default_factory=dict)
    thresholds: tuple[float, ...] = ()
    _interval: Interval | None = field(default=None, kw_only=True, repr=False, compare=False)

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for the effect in the population.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Two-sided, each end missing the effect with half of the error probability.

        Raises
        ------
        TypeError, ValueError
            If `confidence_level` is no number or out of range.
        """
        check_level(confidence_level, "confidence_level")
        assert self._interval is not None, "every effect has an interval"
        low, high = self._interval(confidence_level)
        return ConfidenceInterval(float(low), float(high), confidence_level)

    @property
    def label(self) -> str:
        """Cohen's word for the magnitude; empty for an effect in units of the scores."""
        if not self.thresholds:
            return ""
        return WORDS[sum(abs(self.value) >= x for x in self.thresholds)]

    @property
    def interpretation(self) -> str:
        """The word, and what to think of it."""
        return f"{self.label} {CAUTION}" if self.label else "in units of the scores"

    def __str__(self) -> str:
        word = f"{self.label}; " if self.label else ""
        return (
            f"{self.title} of {self.names[0]} over {self.names[1]} {self.value:.4g}, "
            f"95% interval {interval_text(self.confidence_interval())} ({word}n = {self.n})."
        )

    def to_dict(self, confidence_level: float = 0.95) -> dict[str, Any]:
        """All fields, the interval and the interpretation, ready for JSON.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Of the interval.

        Returns
        -------
        dict
            Numbers that are not finite are None.
        """
        return {
            "name": self.name,
            "title": self.title,
            "value": finite(self.value),
            "interval": [finite(end) for end in self.confidence_interval(confidence_level)],
            "n": self.n,
            "method": self.method,
            "names": list(self.names),
            "interpretation": self.interpretation,
            "details": {key: finite(value) for key, value in self.details.items()},
        }

    def _repr_html_(self) -> str:
        rows = {
            self.title: f"{self.value:.6g}",
            "95% interval": f"{interval_text(self.confidence_interval())} ({self.method})",
            "n": f"{self.n}",
            "size": self.interpretation,
        }
        return together(facts(rows, f"{self.title}: {self.names[0]} against {self.names[1]}"))
