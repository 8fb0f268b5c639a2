"""What two systems' scores look like, in what units they are tested, and whether items depend."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log, nan, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_finite, check_level, check_option
from permtest._forms import AsSentence
from permtest._parallel import RNG, as_generator
from permtest._text import plain
from permtest.alternatives.registry import (
    SYMMETRIC_BELOW,
    as_floats,
    correlation,
    deviation,
    inflation,
    scores_of,
    shapiro,
)
from permtest.integers import IntArray, with_room
from permtest.pairs import Pairs
from permtest.score import counted
from permtest.study.document import InSection, Section, Table

Floats: TypeAlias = NDArray[np.float64]

#: From which skewness on differences count as highly skewed (NLPStatTest manual, C.2).
HIGHLY_SKEWED = 1.0

#: Sizes of units that are tried, units that the largest leaves, and sizes that are called stable.
LARGEST_SIZE, FEWEST_UNITS, STABLE = 100, 5, 10

#: The last part of a name such as "doc3-s12": what is before it may name a document.
LAST_PART = re.compile(r"[-_./:# ]+[A-Za-z]*\d+$")


class Summary(NamedTuple):
    """A column of scores, or of differences: sd with n - 1, quartiles as NumPy's, skewness g1."""

    mean: float
    median: float
    sd: float
    minimum: float
    lower_quartile: float
    upper_quartile: float
    maximum: float
    skewness: float
    values: Floats

    @classmethod
    def of(cls, values: Floats) -> Summary:
        """Of at least one value; sd is NaN for a single one."""
        low, lower, median, upper, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
        sd = float(np.std(values, ddof=1)) if values.size > 1 else nan
        mean = float(np.mean(values))
        return cls(mean, median, sd, low, lower, upper, high, skewness(values), values)


@dataclass(frozen=True, eq=False)
class Description(InSection):
    """Two systems' scores described.

    Parameters
    ----------
    names : tuple of two str
        The names of the two systems.
    n : int
        Number of pairs.
    a, b, difference : Summary
        Of the scores of either system, and of their differences.
    alpha : float
        Level of the test of normality.
    shapiro_w, shapiro_p : float
        Of Shapiro and Wilk's test of the differences (of more than 5 000, every k-th in order).
    correlation : float
        r12 of both systems' scores; NaN where one is constant.
    inflation : float
        How many times too large it makes the sd of the difference to take r12 for 0 (Yeh, 2.1).
    n_zeros, n_tied : int
        Pairs without a difference, and those whose difference is as large as another one, not 0.
    warning : str
        What `dependence` says of the items.

    Examples
    --------
    >>> from permtest.study import describe
    >>> found = describe([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> round(found.correlation, 3), found.difference.median, found.normal
    (0.693, 1.0, True)
    """

    names: tuple[str, str]
    n: int
    a: Summary
    b: Summary
    difference: Summary
    alpha: float
    shapiro_w: float
    shapiro_p: float
    correlation: float
    inflation: float
    n_zeros: int
    n_tied: int
    warning: str

    @property
    def symmetric(self) -> bool:
        """Whether the skewness of the differences is below 0.5."""
        return abs(self.difference.skewness) < SYMMETRIC_BELOW

    @property
    def shape(self) -> str:
        """Either "symmetric", "slightly skewed" (skewness below 1) or "highly skewed"."""
        highly = abs(self.difference.skewness) >= HIGHLY_SKEWED
        return "symmetric" if self.symmetric else f"{'highly' if highly else 'slightly'} skewed"

    @property
    def normal(self) -> bool | None:
        """Whether Shapiro and Wilk's p is at least `alpha`; None where there is none."""
        return self.shapiro_p >= self.alpha if isfinite(self.shapiro_p) else None

    @property
    def test_statistic(self) -> str:
        """What the manual would have tested: "mean" of symmetric differences, else "median"."""
        return "mean" if self.symmetric else "median"

    def section(self) -> Section:
        """The numbers of both columns and of the differences, and what they mean for a test."""
        columns = zip(Summary._fields[:-1], self.a, self.b, self.difference, strict=False)
        rows = [(key.replace("_", " "), *(f"{x:.4g}" for x in row)) for key, *row in columns]
        word = {True: "normal", False: "not normal", None: "too few to tell"}[self.normal]
        related = "not defined, because a system always scores the same"
        if isfinite(self.correlation):
            related = f"r12 = {self.correlation:.3g}"
            if isfinite(self.inflation):
                related += "; ignoring it inflates the standard deviation "
                related += f"by a factor of {self.inflation:.3g}"
        shapiro = f"(W = {self.shapiro_w:.4g}, p = {self.shapiro_p:.3g})"
        found = {
            "pairs": f"{self.n}; {self.n_zeros} without a difference, {self.n_tied} of equal size",
            "differences": f"{self.shape} (skewness {self.difference.skewness:.3g})",
            "Shapiro-Wilk": f"{word} at level {self.alpha:g} {shapiro}",
            "correlation": related,
            "test statistic": self.test_statistic,
        }
        numbers = Table(("", *self.names, "difference"), tuple(rows))
        tables = numbers, Table(("about", "what was found"), tuple(found.items()))
        text = f"{self.names[0]} against {self.names[1]}, {counted(self.n, 'pairs')}."
        more: dict[str, Any] = {"problem": self.warning, "data": self.to_dict()}
        return Section("description", "Description", text, tables, **more)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and what they mean as plain numbers, strings, lists and None."""
        meaning = ("shape", "symmetric", "normal", "test_statistic")
        shown = {key: plain(getattr(self, key)) for key in (*vars(self), *meaning)}
        for key in ("a", "b", "difference"):
            numbers = getattr(self, key)._asdict().items()
            shown[key] = {name: plain(number) for name, number in numbers if name != "values"}
        return shown | {"names": list(self.names)}


def describe(
    a: Any, b: Any = None, *, alpha: float = 0.05, names: tuple[str, str] | None = None
) -> Description:
    """Describe two systems' scores on the same items, and their differences.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems, floats as the decimals that they are printed as; or `Pairs`, None.
    alpha : float, default 0.05
        Level of the test of normality, in (0, 1).
    names : tuple of two str, optional
        The names of the two systems.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, or there are none.

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
    check_level(alpha)
    scores, _ = scores_of(a, b, names)
    gaps = scores.differences()
    sizes = np.unique(np.abs(gaps[gaps != 0]), return_counts=True)[1]
    first, second, differences = (as_floats(x, scores.scale) for x in (scores.u, scores.v, gaps))
    normality = shapiro(as_floats(gaps - gaps[0], scores.scale))
    return Description(
        names=scores.names,
        n=len(scores),
        a=Summary.of(first),
        b=Summary.of(second),
        difference=Summary.of(differences),
        alpha=alpha,
        shapiro_w=normality[0],
        shapiro_p=normality[1],
        correlation=correlation(scores),
        inflation=inflation(scores),
        n_zeros=int(np.sum(gaps == 0)),
        n_tied=int(sizes[sizes > 1].sum()),
        warning=dependence(differences, scores.ids),
    )


def skewness(values: Floats) -> float:
    """g1, biased as in ``scipy.stats.skew``; 0 if all values are equal, or fewer than three."""
    if values.size < 3 or np.ptp(values) == 0:
        return 0.0
    z = (values - values.mean()) / np.ptp(values)
    return float(np.mean(z**3) / np.mean(z**2) ** 1.5)


def dependence(differences: Any, ids: Sequence[str] | None = None) -> str:
    """Evidence against independent items: correlated neighbours, or names of several documents."""
    d, text = np.asarray(differences, dtype=np.float64), ""
    if d.size > 2 and np.ptp(d):
        centred = d - d.mean()
        # Which the correlation of neighbours exceeds in one of 40 samples by chance.
        bound, r = 2 / sqrt(d.size), float(centred[1:] @ centred[:-1] / (centred @ centred))
        if r > bound:
            far = f"(correlation {r:.2f}, beyond 2 / sqrt({d.size}) = {bound:.2f})"
            text = f"Neighbouring differences are correlated {far}. "
    documents = Counter(LAST_PART.sub("", name) for name in ids or ())
    if 1 < len(documents) < d.size / 2:
        first, size = documents.most_common(1)[0]
        text += (
            f"The names of the items point to {len(documents)} documents, such as {first!r} "
            f"with {size} items. Items of one document may resemble each other. "
        )
    remedy = "Tests that assume independent items may then reject too often; name the clusters "
    remedy += "(clusters=, --clusters)."
    return text + remedy if text else ""


# ---- units of several items ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EvaluationUnits:
    """Scores of two systems in units of several items, as `evaluation_units` makes them."""

    pairs: Pairs
    size: int
    metric: str
    left_out: NDArray[np.int64]

    def __str__(self) -> str:
        text = f"{len(self.pairs)} units of {self.size} items, the {self.metric} of each"
        if n := self.left_out.size:
            text += f"; {n} items left out: {', '.join(map(str, self.left_out[:5]))}"
            text += ", .." * (n > 5)
        return text + "."


def evaluation_units(
    a: Any,
    b: Any,
    size: int,
    *,
    metric: str = "mean",
    rng: RNG = None,
    remainder: str = "error",
) -> EvaluationUnits:
    """Combine so many successive items into a unit with a single score.

    Parameters
    ----------
    a, b
        As in `describe`.
    size : int
        Items in a unit, from 1 to N.
    metric : {"mean", "median"}, default "mean"
        Of the scores of each system in the unit.
    rng : numpy.random.Generator, int or None, default None
        Shuffles the items first, those of both systems alike; None leaves them in their order.
    remainder : {"error", "drop"}, default "error"
        Whether items too few for another unit are an error, or in none of the units.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, an option is unknown, or items are left over.

    Returns
    -------
    EvaluationUnits
        `pairs`, one for each unit, is what tests and `describe` take; `left_out` are the items that
        are in no unit.

    Notes
    -----
    Scores of units are exact, so units that tie still tie. Their mean difference equals the items'
    only if no item is left out. Source: NLPStatTest manual, 3.1.1.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], 2, remainder="drop")
    >>> (units.pairs.u / units.pairs.scale).tolist(), units.left_out.tolist()
    ([0.5, 1.0], [4])
    """
    pairs, _ = scores_of(a, b)
    n = len(pairs)
    size = check_count(size, "size", most=n, why=f"there are {n} items")
    check_option("metric", metric, ("mean", "median"))
    check_option("remainder", remainder, ("error", "drop"))
    if (rest := n % size) and remainder == "error":
        raise ValueError(
            f"size={size} leaves {rest} of {n} items over; choose a size that divides {n}, "
            "or remainder='drop' to leave them out"
        )
    order = np.arange(n) if rng is None else as_generator(rng).permutation(n)
    parts = 2 if metric == "median" else size  # by which integers are divided, beside their scale

    def in_units(scores: IntArray) -> IntArray:
        x = with_room(scores[order[: n - rest]], parts).reshape(-1, size)
        if metric == "mean":
            return np.asarray(x.sum(axis=1))
        x = np.sort(x, axis=1)
        return x[:, (size - 1) // 2] + x[:, size // 2]

    u, v = in_units(pairs.u), in_units(pairs.v)
    units = Pairs(u, v, pairs.names, pairs.source, pairs.scale * parts, score=pairs.score)
    return EvaluationUnits(units, size, metric, np.sort(order[n - rest :]))


@dataclass(frozen=True, eq=False)
class UnitSizes(AsSentence):
    """How much differences of units vary, as `unit_sizes` finds it."""

    sizes: NDArray[np.int64]
    n_units: NDArray[np.int64]
    sds: Floats
    stable: tuple[int, ...]
    tolerance: float
    metric: str

    def __str__(self) -> str:
        by = f"{self.tolerance:.3g}"
        stable = f"no size that was tried changes it by less than {by}"
        if self.stable:
            sizes = ", ".join(map(str, self.stable))
            stable = f"first sizes that change it by no more than {by}: {sizes}"
        return (
            f"Standard deviation of units of {self.sizes[0]} to {self.sizes[-1]} items: "
            f"{self.sds[0]:.4g} to {self.sds[-1]:.4g}; {stable}."
        )


def unit_sizes(
    a: Any,
    b: Any = None,
    sizes: Sequence[int] | None = None,
    *,
    metric: str = "mean",
    rng: RNG = None,
    tolerance: float | None = None,
) -> UnitSizes:
    """How the standard deviation of the differences of units depends on the size of a unit.

    Parameters
    ----------
    a, b
        As in `describe`; at least 2 pairs.
    sizes : sequence of int, optional
        Sizes to try, ascending, from 1 to N / 2. Default: from 1 to 100, but to N / 5 at most.
    metric, rng
        As in `evaluation_units`; the items are shuffled once for all sizes.
    tolerance : float, optional
        How far apart the deviations of a size and the next may be. Default: 1% of the first one.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, or a size is out of range.

    Returns
    -------
    UnitSizes
        `sizes`, `n_units`, and the standard deviations `sds` (with n - 1) of the differences of
        units; `stable` are the first ten sizes at which it is within `tolerance` of that of the
        size before.

    Notes
    -----
    Source: NLPStatTest manual, C.1. The deviation of means of m independent items always falls with
    the root of m, so the tolerance alone decides which size is stable.

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> found = unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 2, 4])
    >>> found.n_units.tolist(), found.sds.round(3)
    ([8, 4, 2], array([3.882, 2.021, 2.121]))
    """
    pairs, _ = scores_of(a, b, least=2)
    n = len(pairs)
    if sizes is None:
        sizes = range(1, max(min(n // FEWEST_UNITS, LARGEST_SIZE), 1) + 1)
    why = f"there are {n} items"
    tried = [check_count(x, f"sizes[{i}]", 1, n // 2, why) for i, x in enumerate(sizes)]
    if not tried or tried != sorted(set(tried)):
        raise ValueError(f"sizes={tried} must ascend, and have one size at least")
    seed = None if rng is None else as_generator(rng).integers(2**63)
    how: dict[str, Any] = {"metric": metric, "rng": seed, "remainder": "drop"}
    units = (evaluation_units(pairs, None, size, **how).pairs for size in tried)
    sds = np.array([deviation(some) for some in units])
    tolerance = 0.01 * float(sds[0]) if tolerance is None else check_finite(tolerance, "tolerance")
    if tolerance < 0:
        raise ValueError(f"tolerance={tolerance:g} must not be negative")
    stable = np.array(tried[1:])[np.abs(np.diff(sds)) <= tolerance][:STABLE].tolist()
    return UnitSizes(np.array(tried), n // np.array(tried), sds, tuple(stable), tolerance, metric)


# ---- scores with known answers -------------------------------------------------------------------


class SampleSpec(NamedTuple):
    """The law of the scores, and the true differences in the population."""

    distribution: str
    mean_difference: float
    median_difference: float
    draw: Callable[[np.random.Generator, int], Any]


def sample_data(name: str, n: int = 500, *, rng: RNG = 0) -> tuple[Floats, Floats]:
    """Draw two systems' scores on n items, to four decimals, from one of the `SAMPLES`.

    Parameters
    ----------
    name : str
        A key of `SAMPLES`.
    n : int, default 500
        Number of items, from 1 to ten million.
    rng : numpy.random.Generator, int or None, default 0

    Returns
    -------
    a, b : ndarray of shape (n,)

    Examples
    --------
    >>> from permtest.study import sample_data
    >>> a, b = sample_data("data-h1-normal", 200)
    >>> bool(a.mean() > b.mean())
    True
    """
    check_option("name", name, SAMPLES)
    size = check_count(n, "n", most=10**7, why="that much data takes a loop of its own")
    a, b = SAMPLES[name].draw(as_generator(rng), size)
    return np.round(a, 4), np.round(b, 4)


def _normal(about: str, delta: float, a: float = 1.0, b: float = 1.0) -> SampleSpec:
    """Noise with standard deviations `a` and `b` on a difficulty that items have in common."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        second, first, item = (spread * rng.normal(size=n) for spread in (b, a, 1.0))
        return item + first + delta, item + second

    return SampleSpec(about, delta, delta, draw)


def _beside(about: str, delta: float, law: str, mean: float, median: float, *of: Any) -> SampleSpec:
    """Normal scores, and others that differ from them by `delta` and a law of NumPy's generator."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        b = rng.normal(size=n)
        return b + delta + getattr(rng, law)(*of, size=n), b

    return SampleSpec(about, delta + mean, delta + median, draw)


def _answers(about: str, a: float, b: float) -> SampleSpec:
    """0 and 1; so many right for either system alone, and 0.6 for both."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        u = rng.random(n)
        either, second = u >= 0.4, (u >= a) & (u < a + b)
        return ((u < a) | either) * np.float64(1), (second | either) * np.float64(1)

    return SampleSpec(about, a - b, 0.0, draw)


HEAVY = "normal, differences t with 3 degrees of freedom"
MEDIAN = "normal, differences lognormal less their median"
MEAN = "normal, differences exponential less their mean"
UNEQUAL = "normal, standard deviations 2.2 and 1.1"
BETA = SampleSpec("Beta(0.6, 0.6), both", 0.0, 0.0, lambda rng, n: rng.beta(0.6, 0.6, (n, 2)).T)

#: Samples by name: h0 says that means are equal, or that the median of the differences is 0.
SAMPLES = {
    "data-h0-equal-beta": BETA,
    "data-h0-normal": _normal("normal, correlation 0.5", 0.0),
    "data-h1-normal": _normal("the same, shifted by 0.25", 0.25),
    "data-h0-unequal-normal": _normal(UNEQUAL, 0.0, 2.0, 0.5),
    "data-h0-uniform": _beside("normal, differences uniform", 0.0, "uniform", 0, 0, -1, 1),
    "data-h1-uniform": _beside("the same, shifted by -0.2", -0.2, "uniform", 0, 0, -1, 1),
    "data-h0-heavy": _beside(HEAVY, 0.0, "standard_t", 0, 0, 3),
    "data-h1-heavy": _beside("the same, shifted by 0.3", 0.3, "standard_t", 0, 0, 3),
    "data-h0-median-skewed": _beside(MEDIAN, -1.0, "lognormal", exp(0.5), 1.0),
    "data-h0-mean-skewed": _beside(MEAN, -1.0, "exponential", 1.0, log(2)),
    "data-h1-skewed": _beside("the same, shifted by 0.5", -0.5, "exponential", 1.0, log(2)),
    "data-h0-binary": _answers("right or wrong, 0.15 for either alone", 0.15, 0.15),
    "data-h1-binary": _answers("right or wrong, 0.2 and 0.1 alone", 0.2, 0.1),
}
