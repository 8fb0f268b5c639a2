"""What two systems' scores look like, and what that means for the choice of a test."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._html import facts, grid, together
from permtest._json import AsJson
from permtest.alternatives.assumptions import SYMMETRIC_BELOW, Diagnosis
from permtest.alternatives.assumptions import skewness as g1
from permtest.alternatives.result import finite
from permtest.alternatives.sample import PairedSample, rescaled, within_floats

#: From which skewness on differences count as highly skewed (NLPStatTest manual, C.2).
HIGHLY_SKEWED = 1.0

#: Fewest and most bars of a histogram.
BARS = (5, 50)

#: What `Summary.rows` calls its numbers.
LABELS = ("mean", "median", "sd", "min", "lower quartile", "upper quartile", "max", "skewness")


@dataclass(frozen=True, eq=False)
class Summary:
    """A column of scores, or of differences, in a few numbers.

    Parameters
    ----------
    mean, median : float
    sd : float
        With n - 1; NaN for a single score.
    minimum, lower_quartile, upper_quartile, maximum : float
        Quartiles are interpolated linearly, as NumPy does by default.
    skewness : float
        g1, the third central moment over the cube of the standard deviation with n (not n - 1);
        0 where all scores are equal.
    counts : ndarray of shape (bars,)
        Histogram: how many scores lie in each bar.
    edges : ndarray of shape (bars + 1,)
        Where the bars begin and end.
    """

    mean: float
    median: float
    sd: float
    minimum: float
    lower_quartile: float
    upper_quartile: float
    maximum: float
    skewness: float
    counts: NDArray[np.int64]
    edges: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], edges: NDArray[np.float64], power: int = 0) -> Summary:
        """Of at least one value; both are over ``2**power``."""
        low, lower, median, upper, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
        sd = float(np.std(values, ddof=1)) if values.size > 1 else nan
        counts = np.histogram(values, edges)[0]
        found = (float(np.mean(values)), median, sd, low, lower, upper, high)
        mean, median, sd, low, lower, upper, high = (
            within_floats(rescaled(x, power), "range of the scores") for x in found
        )
        bars = rescaled(edges, power)
        return cls(mean, median, sd, low, lower, upper, high, g1(values), counts, bars)

    def rows(self) -> dict[str, float]:
        """The numbers by their names."""
        return dict(zip(LABELS, vars(self).values(), strict=False))

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and None."""
        shown: dict[str, Any] = {
            key.replace(" ", "_"): finite(value) for key, value in self.rows().items()
        }
        return shown | {"counts": self.counts.tolist(), "edges": self.edges.tolist()}


@dataclass(frozen=True, eq=False)
class Description(AsJson):
    """Two systems' scores described.

    Parameters
    ----------
    names : tuple of two str
        What the systems are called.
    n : int
        Number of pairs.
    a, b, difference : Summary
        Of the scores of either system, and of their differences.
    alpha : float
        Level of the test of normality.
    shape : str
        "symmetric", "slightly skewed" or "highly skewed": the skewness of the differences is
        below 0.5, below 1, or not.
    shapiro_w, shapiro_p : float
        Shapiro and Wilk's test of the differences; NaN for fewer than three, or equal ones. Of
        more than 5 000 those are tested that are evenly spread among them in order, as p is not
        known for more.
    symmetric : bool
        Whether the skewness is below 0.5.
    normal : bool or None
        Whether p is at least `alpha`; None where there is none.
    test_statistic : str
        "mean" for symmetric differences, else "median": what the manual would have tested.
    correlation : float
        r12 of both systems' scores; NaN where one is constant.
    inflation : float
        How many times too large the standard deviation of the difference gets if r12 is taken to
        be 0 (Yeh, sec. 2.1).
    n_zeros : int
        Pairs without a difference.
    n_tied : int
        Pairs whose difference is not 0, but as large as another one, whatever their signs.
    is_binary : bool
        Whether all scores are 0 or 1.

    Examples
    --------
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.difference.mean, found.shape, found.test_statistic
    (1.4, 'symmetric', 'mean')
    >>> round(found.correlation, 3), found.n_zeros, found.n_tied
    (0.693, 1, 2)
    """

    names: tuple[str, str]
    n: int
    a: Summary
    b: Summary
    difference: Summary
    alpha: float
    shape: str
    shapiro_w: float
    shapiro_p: float
    symmetric: bool
    normal: bool | None
    test_statistic: str
    correlation: float
    inflation: float
    n_zeros: int
    n_tied: int
    is_binary: bool

    @property
    def columns(self) -> list[tuple[str, Summary]]:
        """The three summaries with the names of their columns."""
        return [*zip(self.names, (self.a, self.b), strict=True), ("difference", self.difference)]

    def facts(self) -> dict[str, str]:
        """What else there is to say, by name."""
        word = {True: "normal", False: "not normal", None: "too few to tell"}[self.normal]
        skewed = f"{self.shape} (skewness {self.difference.skewness:.3g})"
        shapiro = f"W = {self.shapiro_w:.4g}, p = {self.shapiro_p:.3g}"
        return {
            "pairs": f"{self.n}; {self.n_zeros} without a difference, {self.n_tied} of equal size",
            "differences": skewed,
            "Shapiro-Wilk": f"{word} at level {self.alpha:g} ({shapiro})",
            "correlation": _correlation_text(self.correlation, self.inflation),
            "test statistic": self.test_statistic,
        }

    def __str__(self) -> str:
        columns = [[name, *_cells(summary)] for name, summary in self.columns]
        padded = [[cell.rjust(max(map(len, cells))) for cell in cells] for cells in columns]
        margin = max(map(len, LABELS))
        labels = [label.ljust(margin) for label in ("", *LABELS)]
        table = ["  ".join(row) for row in zip(labels, *padded, strict=True)]
        return "\n".join(table + [f"{key}: {text}" for key, text in self.facts().items()])

    def _repr_html_(self) -> str:
        header = ("", *(name for name, _ in self.columns))
        rows = zip(LABELS, *(_cells(summary) for _, summary in self.columns), strict=True)
        heading = f"{self.names[0]} against {self.names[1]}"
        return together(grid(header, rows, heading, align="right"), facts(self.facts()))

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, strings, lists and None."""
        shown = {key: finite(getattr(self, key)) for key in self.__dataclass_fields__}
        shown["names"] = list(self.names)
        for key in ("a", "b", "difference"):
            shown[key] = getattr(self, key).to_dict()
        return shown


def describe(
    a: Any, b: Any = None, *, alpha: float = 0.05, names: tuple[str, str] | None = None
) -> Description:
    """Describe two systems' scores on the same items, and their differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, of which a float stands for the decimal that it is printed as; or
        `Pairs`, and None. At least 1.
    alpha : float, default 0.05
        Level of the test of normality, in (0, 1).
    names : tuple of two str, optional
        What the systems are called.

    Returns
    -------
    Description

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers, or there are none.

    Notes
    -----
    Source: NLPStatTest manual, 3.1.2 and C.2 to C.4. O(N log N).

    Examples
    --------
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> found.difference.mean, found.shape, found.n_zeros, found.n_tied
    (1.4, 'symmetric', 1, 2)
    """
    return describe_sample(PairedSample.of(a, b, names=names, least=1), alpha)


def describe_sample(sample: PairedSample, alpha: float = 0.05) -> Description:
    """`describe` for a sample."""
    found = Diagnosis(sample, alpha)
    tame, power = sample.tame, sample.tame.power
    both = _edges(np.concatenate((tame.a, tame.b)))  # the same bars, to be compared
    symmetric = abs(found.skewness) < SYMMETRIC_BELOW
    skewed = "highly skewed" if abs(found.skewness) >= HIGHLY_SKEWED else "slightly skewed"
    return Description(
        names=sample.names,
        n=sample.n,
        a=Summary.of(tame.a, both, power),
        b=Summary.of(tame.b, both, power),
        difference=Summary.of(tame.differences, _edges(tame.differences), power),
        alpha=alpha,
        shape="symmetric" if symmetric else skewed,
        shapiro_w=found.shapiro[0],
        shapiro_p=found.shapiro[1],
        symmetric=symmetric,
        normal=found.normality >= alpha if isfinite(found.normality) else None,
        test_statistic="mean" if symmetric else "median",
        correlation=found.correlation,
        inflation=sample.inflation,
        n_zeros=int(np.sum(sample.gaps == 0)),
        n_tied=_n_tied(sample),
        is_binary=sample.is_binary,
    )


def _n_tied(sample: PairedSample) -> int:
    counts = np.unique(np.abs(sample.gaps[sample.gaps != 0]), return_counts=True)[1]
    return int(counts[counts > 1].sum())


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bars of Freedman and Diaconis's width, between 5 and 50; one for values all equal."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.array([low - 0.5, low + 0.5])
    lower, upper = np.quantile(values, [0.25, 0.75]).tolist()
    width = 2 * (upper - lower) / values.size ** (1 / 3)
    wanted = (high - low) / width if width > 0 else inf
    return np.linspace(low, high, int(min(max(wanted, BARS[0]), BARS[1])) + 1)


def _cells(summary: Summary) -> list[str]:
    return [f"{value:.4g}" for value in summary.rows().values()]


def _correlation_text(r: float, factor: float) -> str:
    if not isfinite(r):
        return "not defined, as a system always scores the same"
    if not isfinite(factor):
        return f"r12 = {r:.3g}"
    return (
        f"r12 = {r:.3g}; taken to be 0, it makes the standard deviation {factor:.3g} times as large"
    )
