"""What tests take, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, hypot, inf, isfinite, log2, nan, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level
from permtest._forms import AsFields, facts, plain, together
from permtest.alternatives import registry
from permtest.integers import IntArray, exact_sum, largest, roomy, with_room
from permtest.interval import ConfidenceInterval
from permtest.pairs import Pairs, check_names, check_unclustered
from permtest.statistics import check_alternative

#: What the two systems are called.
Names: TypeAlias = tuple[str, str] | None

#: The smallest p that is reported; it stands for all that are smaller.
SMALLEST = 5e-324

#: Squares of scores beyond this overflow as floats, and those of scores below one over it vanish.
VAST = 10**150

#: What a result has of the row of its test.
SHARED = ("title", "statistic_name", "estimate_name", "method", "assumptions")


# ---- what tests take -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairedSample:
    """Scores of two systems on the same items, and the difference `delta` to test against.

    Differences are formed in integers, before anything is rounded: 0.3 - 0.1 ties with 0.2.
    """

    pairs: Pairs
    delta: Fraction = Fraction(0)

    @classmethod
    def of(
        cls,
        a: Any,
        b: Any = None,
        delta: Any = 0,
        names: Names = None,
        *,
        least: int = 1,
        labels: tuple[str, str] = ("a", "b"),
    ) -> PairedSample:
        """Validate the arguments that all paired tests share; they need `least` pairs."""
        if isinstance(a, Pairs) and b is None:
            pairs = replace(a, names=names or a.names)
        else:
            pairs = Pairs.of(a, b, names, labels=labels)
        if pairs.columns:
            raise ValueError(
                f"a and b have {len(pairs.columns)} counts for each entry "
                f"({', '.join(pairs.columns)}), but one score is needed; name a statistic of "
                "counts in exact_perm_test or paired_bootstrap"
            )
        check_unclustered(pairs)
        if len(pairs) < least:
            both = " and ".join(labels)
            raise ValueError(f"{both} have {len(pairs)} pairs, but this needs {least} or more")
        check_magnitude((pairs.u, pairs.v), pairs.scale, labels)
        return cls(pairs, as_threshold(delta))

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.pairs)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two systems."""
        return self.pairs.names

    @cached_property
    def a(self) -> NDArray[np.float64]:
        """Scores of the first system."""
        return as_floats(self.pairs.u, self.pairs.scale)

    @cached_property
    def b(self) -> NDArray[np.float64]:
        """Scores of the second system."""
        return as_floats(self.pairs.v, self.pairs.scale)

    @property
    def scale(self) -> int:
        """The divisor that turns `gaps` and `steps` into differences of scores."""
        return self.pairs.scale * self.delta.denominator

    @cached_property
    def gaps(self) -> IntArray:
        """Differences of scores times `scale`: integers."""
        return with_room(self.pairs.differences(), self.delta.denominator) * self.delta.denominator

    @cached_property
    def steps(self) -> IntArray:
        """Differences less `delta`, times `scale`: integers."""
        shift = self.delta.numerator * self.pairs.scale
        gaps = self.gaps if abs(shift) < 2**60 else self.gaps.astype(object)
        return np.asarray(roomy(gaps) - shift) if shift else gaps

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """Of the scores, each rounded once."""
        return as_floats(self.gaps, self.scale)

    @cached_property
    def centred(self) -> NDArray[np.float64]:
        """Differences minus their mean, each rounded once, however large the scores are."""
        total = exact_sum(self.gaps)
        return as_floats(with_room(self.gaps, 4 * self.n) * self.n - total, self.scale * self.n)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the differences (ddof 1); 0 only if they are all equal."""
        return float(spread(self.centred))

    @property
    def error(self) -> float:
        """Standard error of the mean difference."""
        return self.deviation / sqrt(self.n)

    @cached_property
    def mean(self) -> float:
        """Mean difference, rounded once."""
        return float(Fraction(exact_sum(self.gaps), self.scale * self.n))

    @cached_property
    def lead(self) -> float:
        """Mean difference less `delta`, rounded once."""
        return float(Fraction(exact_sum(self.steps), self.scale * self.n))

    @cached_property
    def correlation(self) -> float:
        """r12, Pearson's correlation of both systems' scores; NaN where one is constant."""
        if self.n < 2 or np.ptp(self.a) == 0 or np.ptp(self.b) == 0:
            return nan
        a, b = ((x - x.mean()) / np.ptp(x) for x in (self.a, self.b))
        return float(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))

    @cached_property
    def inflation(self) -> float:
        """The factor by which assuming independence inflates the deviation (Yeh, sec. 2.1).

        Infinite where it is 0, NaN where both systems' scores are constant.
        """
        if self.n < 2:
            return nan
        both = hypot(*(float(spread(x - x.mean())) for x in (self.a, self.b)))
        return both / self.deviation if self.deviation else inf if both else nan

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return self.pairs.is_binary

    @property
    def symmetry(self) -> registry.Assumption:
        """The assumption of a permutation test."""
        return registry.SYMMETRIC if self.delta else registry.LABELS

    def refuse_constant(self, what: str) -> None:
        """Raise ValueError if all differences are equal."""
        if np.all(self.gaps == self.gaps[0]):
            raise ValueError(
                f"all {self.n} differences are {self.differences[0]:g}, so {what} has no "
                "standard error; use exact_perm_test"
            )


def spread(
    centred: NDArray[np.float64], axis: int = -1, *, out: NDArray[np.float64] | None = None
) -> Any:
    """Standard deviation of numbers whose mean is 0; squares neither overflow nor vanish.

    `out` is overwritten, which saves memory: `centred` itself, if it is of no more use.
    """
    low, high = centred.min(axis, keepdims=True), centred.max(axis, keepdims=True)
    top = np.abs(np.maximum(high, -low))
    size = norm(np.divide(centred, np.where(top > 0, top, 1.0), out=out), axis)
    return top.squeeze(axis) * size / sqrt(max(centred.shape[axis] - 1, 1))


def norm(values: NDArray[np.float64], axis: int = -1) -> Any:
    """The root of the sum of squares, in the digits that a single row has."""
    rows = np.moveaxis(values, axis, -1)
    return np.sqrt(np.vecdot(rows, rows))


def as_floats(values: IntArray, scale: int) -> NDArray[np.float64]:
    """Integers divided by `scale`, each rounded once."""
    if values.dtype != object and scale < 2**53:
        return np.asarray(values / scale, dtype=np.float64)
    flat = [float(Fraction(int(x), scale)) for x in values.ravel()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


def as_threshold(delta: Any) -> Fraction:
    """`delta` as the number that it is printed as."""
    if isinstance(delta, bool | str) or not hasattr(delta, "__abs__"):
        raise TypeError(f"delta={delta!r} must be a number")
    if not abs(delta) <= VAST:
        raise ValueError(f"delta={delta!r} must be a finite number, and not beyond {VAST:.0e}")
    return Fraction(str(delta))


def check_magnitude(columns: Sequence[IntArray], scale: int, labels: Sequence[str]) -> None:
    """Raise ValueError where squares of scores would overflow as floats, or all would vanish."""
    top = max(map(largest, columns))
    least, problem = top, "the largest, so small that squares would vanish; multiply"
    if top > VAST * scale:
        least, problem = VAST * scale + 1, f"beyond {VAST:.0e}, and squares would overflow; divide"
    elif top == 0 or top * VAST >= scale:
        return
    for name, column in zip(labels, columns, strict=True):
        for i in np.flatnonzero(np.abs(column.astype(object)) >= least)[:1]:
            raise ValueError(
                f"{name}[{i}] = {Decimal(int(column[i])) / scale:.4g} is {problem} all scores by a "
                "power of ten, or use exact_perm_test"
            )


# ---- what they return ----------------------------------------------------------------------------


@dataclass(frozen=True)
class AlternativeResult(AsFields):
    """What a test other than the exact paired-permutation test found.

    Parameters
    ----------
    test : str
        Name of the test, as in `compare_all`.
    title : str
        The name of the test in sentences and tables.
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
        The names of the two systems.
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
    assumptions: tuple[registry.Assumption, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    n_samples: int | None = None
    _interval: Callable[[float], tuple[float, float]] | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check_alternative(self.alternative)
        check_names(self.names)
        assert self.pvalue == self.pvalue, f"p of {self.test} is NaN"
        object.__setattr__(self, "pvalue", min(max(float(self.pvalue), SMALLEST), 1.0))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """An interval for `estimate`: usually all values that the test would not reject.

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
        """p with this many significant digits, marked if it is a bound or sampled."""
        if self.pvalue <= SMALLEST:
            return "< 5e-324"
        marks = {
            registry.UPPER_BOUND: "\N{LESS-THAN OR EQUAL TO} ",
            registry.SAMPLED: "\N{ALMOST EQUAL TO} ",
        }
        return f"{marks.get(self.method, '')}{self.pvalue:.{digits}g}"

    def sides_text(self) -> str:
        """How many sides the test has, and which."""
        return "two-sided" if self.alternative == "two-sided" else f"one-sided ({self.alternative})"

    def __str__(self) -> str:
        p = self.pvalue_text()
        against = f" against {self.delta:g}" if self.delta else ""
        return (
            f"{self.title}: {self.estimate_name} of {self.names[0]} over {self.names[1]} "
            f"{self.estimate:.6g}{against}, {self.statistic_name} = {self.statistic:.6g}, "
            f"p {'= ' * p[0].isdigit()}{p} ({self.sides_text()}, {self.method}, n = {self.n})."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields and the 95% interval; numbers that are not finite become None, for JSON."""
        interval = list(self.confidence_interval()) if self.has_interval else None
        found = {"assumptions": [a.name for a in self.assumptions], "interval": plain(interval)}
        return super().to_dict() | found

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


def result_of(
    test: str,
    *,
    sample: PairedSample | None = None,
    ends: Callable[[float], tuple[float, float]] | None = None,
    limits: tuple[float, float] = (-inf, inf),
    **found: Any,
) -> AlternativeResult:
    """A result; `TESTS` and the sample fill in whatever `found` does not give, or gives as None.

    `ends` are those of the interval, by the probability of an error on each side that it has; a
    side that it does not have ends at one of the `limits` of the estimate.
    """
    shared: dict[str, Any] = {name: getattr(registry.TESTS[test], name) for name in SHARED}
    if sample:
        shared |= {"n": sample.n, "names": sample.names, "delta": float(sample.delta)}
    if ends:
        shared["_interval"] = partial(by_level, ends, found["alternative"], limits)
    given = {name: value for name, value in found.items() if value is not None}
    return AlternativeResult(test=test, **shared | given)


# ---- p and intervals, from those of either side --------------------------------------------------


def by_sides(alternative: str, greater: Any, less: Any) -> Any:
    """p by the alternative, from both one-sided p; of single numbers or arrays."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * np.minimum(greater, less))
    return greater if alternative == "greater" else less


def by_level(
    ends: Callable[[float], tuple[float, float]],
    alternative: str,
    limits: tuple[float, float],
    confidence_level: float,
) -> tuple[float, float]:
    """The interval of this level and alternative, from the ends and limits of `result_of`."""
    return one_sided(alternative, *ends(tail_level(alternative, confidence_level)), *limits)


def first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from `low` on for which it holds, as it does from there to `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


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


def fewest_units(alpha: float, alternative: str = "two-sided") -> int:
    """The smallest n for which p of the exact test can reach alpha: it is at least 2^-n a side."""
    return max(ceil(log2((2 if alternative == "two-sided" else 1) / alpha) - 1e-9), 1)


def one_sided(
    alternative: str, low: float, high: float, least: float = -inf, most: float = inf
) -> tuple[float, float]:
    """The ends of an interval; ends that a one-sided test leaves open move to the limits."""
    return (least if alternative == "less" else low, most if alternative == "greater" else high)


def tail_level(alternative: str, confidence_level: float) -> float:
    """The error probability that an interval leaves on each side that it has.

    `confidence_level` stands for the decimal that it is printed as: 1 - 0.9 is 0.1, not less.
    """
    alpha = 1 - Fraction(str(float(confidence_level)))
    return float(alpha / 2 if alternative == "two-sided" else alpha)
