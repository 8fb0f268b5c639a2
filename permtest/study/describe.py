"""What two systems' scores look like, in what units they are tested, and whether items depend."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_count, check_finite, check_option
from permtest._html import said
from permtest._integers import IntArray, with_room
from permtest._json import AsJson
from permtest._rng import RNG, as_generator
from permtest.alternatives.assumptions import SYMMETRIC_BELOW, Diagnosis, skewness
from permtest.alternatives.result import finite
from permtest.alternatives.sample import PairedSample, check_magnitude
from permtest.pairs import Pairs
from permtest.result import counted
from permtest.study.document import Section, Table

#: From which skewness on differences count as highly skewed (NLPStatTest manual, C.2).
HIGHLY_SKEWED = 1.0

METRICS, REMAINDERS = ("mean", "median"), ("error", "drop", "keep")

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
    values: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Summary:
        """Of at least one value; sd is NaN for a single one."""
        low, lower, median, upper, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
        sd = float(np.std(values, ddof=1)) if values.size > 1 else nan
        mean = float(np.mean(values))
        return cls(mean, median, sd, low, lower, upper, high, skewness(values), values)


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
    shapiro_w, shapiro_p : float
        Shapiro and Wilk's test of the differences; NaN for fewer than three, or equal ones. Of
        more than 5 000 those are tested that are evenly spread among them in order, as p is not
        known for more.
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
    warning : str
        What `dependence` says of the items; empty if nothing.

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
    shapiro_w: float
    shapiro_p: float
    correlation: float
    inflation: float
    n_zeros: int
    n_tied: int
    is_binary: bool
    warning: str

    @property
    def symmetric(self) -> bool:
        """Whether the skewness of the differences is below 0.5."""
        return abs(self.difference.skewness) < SYMMETRIC_BELOW

    @property
    def shape(self) -> str:
        """One of "symmetric", "slightly skewed" and "highly skewed": below 0.5, below 1, or not."""
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
        columns = (*zip(self.names, (self.a, self.b), strict=True), ("difference", self.difference))
        rows = [
            (name.replace("_", " "), *(f"{getattr(summary, name):.4g}" for _, summary in columns))
            for name in Summary._fields[:-1]
        ]
        word = {True: "normal", False: "not normal", None: "too few to tell"}[self.normal]
        correlation = "not defined, as a system always scores the same"
        if isfinite(self.correlation):
            correlation = f"r12 = {self.correlation:.3g}"
            if isfinite(self.inflation):
                times = f"the standard deviation {self.inflation:.3g} times as large"
                correlation += f"; taken to be 0, it makes {times}"
        shapiro = f"(W = {self.shapiro_w:.4g}, p = {self.shapiro_p:.3g})"
        facts = {
            "pairs": f"{self.n}; {self.n_zeros} without a difference, {self.n_tied} of equal size",
            "differences": f"{self.shape} (skewness {self.difference.skewness:.3g})",
            "Shapiro-Wilk": f"{word} at level {self.alpha:g} {shapiro}",
            "correlation": correlation,
            "test statistic": self.test_statistic,
        }
        return Section(
            "description",
            "Description",
            f"{self.names[0]} against {self.names[1]}, {counted(self.n, 'pairs')}.",
            (
                Table(("", *(name for name, _ in columns)), tuple(rows)),
                Table(("about", "what was found"), tuple(facts.items())),
            ),
            problem=self.warning,
            data=self.to_dict(),
        )

    def __str__(self) -> str:
        return str(self.section())

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """All numbers and what they mean as plain numbers, strings, lists and None."""
        meaning = ("shape", "symmetric", "normal", "test_statistic")
        shown = {key: finite(getattr(self, key)) for key in (*vars(self), *meaning)}
        for key in ("a", "b", "difference"):
            numbers = getattr(self, key)._asdict().items()
            shown[key] = {name: finite(number) for name, number in numbers if name != "values"}
        return shown | {"names": list(self.names)}


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
    sample = checked_sample(a, b, names)
    found = Diagnosis(sample, alpha)
    sizes = np.unique(np.abs(sample.gaps[sample.gaps != 0]), return_counts=True)[1]
    return Description(
        names=sample.names,
        n=sample.n,
        a=Summary.of(sample.a),
        b=Summary.of(sample.b),
        difference=Summary.of(sample.differences),
        alpha=alpha,
        shapiro_w=found.shapiro[0],
        shapiro_p=found.shapiro[1],
        correlation=sample.correlation,
        inflation=sample.inflation,
        n_zeros=int(np.sum(sample.gaps == 0)),
        n_tied=int(sizes[sizes > 1].sum()),
        is_binary=sample.is_binary,
        warning=dependence(sample.differences, sample.pairs.ids),
    )


def checked_sample(
    a: Any, b: Any = None, names: tuple[str, str] | None = None, least: int = 1
) -> PairedSample:
    """The scores of both systems, whose squares are floats."""
    sample = PairedSample.of(a, b, names=names, least=least)
    check_magnitude((sample.pairs.u, sample.pairs.v), sample.pairs.scale, ("a", "b"))
    return sample


def dependence(differences: Any, ids: Sequence[str] | None = None) -> str:
    """What speaks against independent items: neighbours that resemble each other, or documents.

    Parameters
    ----------
    differences : array_like of shape (N,)
        Of the scores, in the order of the items.
    ids : sequence of N str, optional
        What the items are called. Names such as "doc3-s12" tell documents.

    Returns
    -------
    str
        A sentence or two; empty where nothing speaks against it. Neighbours resemble each other
        where their correlation exceeds 2 / sqrt(N), as it does in one of 40 samples by chance.

    Examples
    --------
    >>> from permtest.study import dependence
    >>> print(dependence([1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]).split(". ")[0])
    Neighbouring differences resemble each other (correlation 0.56, beyond 2 / sqrt(16) = 0.50)
    """
    d = np.asarray(differences, dtype=np.float64)
    text = ""
    if d.size > 2 and np.ptp(d):
        centred = d - d.mean()
        r, bound = float(centred[1:] @ centred[:-1] / (centred @ centred)), 2 / sqrt(d.size)
        if r > bound:
            far = f"(correlation {r:.2f}, beyond 2 / sqrt({d.size}) = {bound:.2f})"
            text = f"Neighbouring differences resemble each other {far}."
    documents = Counter(LAST_PART.sub("", name) for name in ids or ())
    if 1 < len(documents) < d.size / 2:
        first, size = documents.most_common(1)[0]
        text += (
            f" The names of the items tell {len(documents)} documents, such as {first!r} with "
            f"{size} items. Items of one document may resemble each other."
        )
    remedy = " Tests that take items for independent then reject too easily: pass `clusters`."
    return (text + remedy).strip() if text else ""


# ---- units of several items ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EvaluationUnits:
    """Scores of two systems in units of several items.

    Parameters
    ----------
    pairs : Pairs
        One pair for each unit, exact: what tests and `describe` take.
    size : int
        Items in a unit; the last has fewer where the remainder is kept.
    metric : str
        "mean" or "median": what stands for a unit.
    order : ndarray of shape (N,)
        The items in the order in which they were dealt to units, those left out at the end.
    n_left_out : int
        How many items are in no unit.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0, 1], [0, 0, 1, 1, 0, 0], 2)
    >>> print(units)
    3 units of 2 items, the mean of each.
    >>> [str(x) for x in units.a]
    ['1/2', '1', '1/2']
    """

    pairs: Pairs
    size: int
    metric: str
    order: NDArray[np.int64]
    n_left_out: int

    @property
    def a(self) -> list[Fraction]:
        """Scores of the first system, one for each unit."""
        return [Fraction(int(x), self.pairs.scale) for x in self.pairs.u]

    @property
    def b(self) -> list[Fraction]:
        """Scores of the second system, one for each unit."""
        return [Fraction(int(x), self.pairs.scale) for x in self.pairs.v]

    @property
    def left_out(self) -> NDArray[np.int64]:
        """The items that are in no unit."""
        return np.sort(self.order[self.order.size - self.n_left_out :])

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        text = f"{len(self)} units of {self.size} items, the {self.metric} of each"
        rest = self.order.size - self.n_left_out - self.size * (len(self) - 1)
        if rest != self.size and len(self):
            text += f"; the last one has {rest}"
        if self.n_left_out:
            some = ", ".join(map(str, self.left_out[:5])) + ", .." * (self.n_left_out > 5)
            text += f"; {self.n_left_out} items left out: {some}"
        return text + "."

    def _repr_html_(self) -> str:
        return said(str(self))


def evaluation_units(
    a: Any,
    b: Any,
    size: int,
    *,
    metric: str = "mean",
    rng: RNG = None,
    remainder: str = "error",
    names: tuple[str, str] | None = None,
) -> EvaluationUnits:
    """Put so many items after each other into a unit, and one score in place of theirs.

    Parameters
    ----------
    a, b : array_like of shape (N,)
        Scores of both systems; or `Pairs`, and None.
    size : int
        Items in a unit, from 1 to N.
    metric : {"mean", "median"}, default "mean"
        Of the scores of each system in the unit.
    rng : numpy.random.Generator, int or None
        Shuffles the items first, those of both systems alike. None, the default, leaves them in
        their order.
    remainder : {"error", "drop", "keep"}, default "error"
        What happens where `size` does not divide N: nothing is made, the items left over are in
        no unit (and are named), or they make a smaller unit.
    names : tuple of two str, optional
        What the systems are called.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, an option is unknown, or items are left over.

    Notes
    -----
    Scores of units are fractions, so that units which tie still do. Source: NLPStatTest manual,
    3.1.1. A test of units asks about units: their mean difference is that of the items only where
    all have one size and none is left out.

    Examples
    --------
    >>> from permtest.study import evaluation_units
    >>> units = evaluation_units([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], 2, remainder="drop")
    >>> len(units), units.left_out.tolist()
    (2, [4])
    """
    sample = PairedSample.of(a, b, names=names)
    pairs, n = sample.pairs, sample.n
    size = check_count(size, "size", most=n, why=f"there are {n} items")
    check_option("metric", metric, METRICS)
    check_option("remainder", remainder, REMAINDERS)
    rest = n % size
    if rest and remainder == "error":
        raise ValueError(
            f"size={size} leaves {rest} of {n} items over; choose a size that divides {n}, "
            "remainder='drop' to leave them out, or 'keep' for a smaller last unit"
        )
    order = np.arange(n) if rng is None else as_generator(rng).permutation(n)
    left_out = rest if remainder == "drop" else 0
    # By what the integers of units have to be divided, beyond the scale of the scores.
    common = 2 if metric == "median" else int(np.lcm(size, rest if rest and not left_out else size))
    u, v = (_in_units(x[order], size, metric, common, n - left_out) for x in (pairs.u, pairs.v))
    units = Pairs(u, v, pairs.names, pairs.source, pairs.scale * common, score=pairs.score)
    return EvaluationUnits(units, size, metric, order, left_out)


def _in_units(scores: IntArray, size: int, metric: str, common: int, used: int) -> IntArray:
    """One integer for each unit of consecutive scores, `common` times too large."""
    whole = used // size * size
    found = []
    for rows in (scores[:whole].reshape(-1, size), scores[None, whole:used]):
        n = rows.shape[1]
        if n and metric == "mean":
            found.append(with_room(rows, n * common).sum(axis=1) * (common // n))
        elif n:
            ordered = np.sort(with_room(rows, 2), axis=1)
            found.append(ordered[:, (n - 1) // 2] + ordered[:, n // 2])
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class UnitSizes:
    """How much differences of units vary, for units of several sizes.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        Items in a unit.
    sds : ndarray of shape (k,)
        Standard deviations (with n - 1) of the differences of units.
    n_units : ndarray of shape (k,)
        How many units there were; items that were left over are in none.
    stable : tuple of int
        The first sizes, ten at most, at which the standard deviation is within `tolerance` of
        that of the size before.
    tolerance : float
    metric : str

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> found = unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 2, 4])
    >>> found.n_units, found.sds.round(3)
    (array([8, 4, 2]), array([3.882, 2.021, 2.121]))
    """

    sizes: NDArray[np.int64]
    sds: NDArray[np.float64]
    n_units: NDArray[np.int64]
    stable: tuple[int, ...]
    tolerance: float
    metric: str

    def __str__(self) -> str:
        found = ", ".join(map(str, self.stable)) or "none of those tried"
        return (
            f"Standard deviation of units of {self.sizes[0]} to {self.sizes[-1]} items: "
            f"{self.sds[0]:.4g} to {self.sds[-1]:.4g}; first sizes that change it by no more than "
            f"{self.tolerance:.3g}: {found}."
        )

    def _repr_html_(self) -> str:
        return said(str(self))


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
    a, b : array_like of shape (N,)
        Scores of both systems; or `Pairs`, and None. At least 2.
    sizes : sequence of int, optional
        Sizes to try, ascending, each leaving two units at least. Default: from 1 to 100, as long
        as there are five units.
    metric : {"mean", "median"}, default "mean"
        As in `evaluation_units`.
    rng : numpy.random.Generator, int or None
        As in `evaluation_units`; the items are shuffled once for all sizes.
    tolerance : float, optional
        By how much the standard deviation may change from one size to the next. Default: a
        hundredth of that of the first size.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, or a size is out of range.

    Notes
    -----
    Source: NLPStatTest manual, C.1, the rule read as one about the standard deviation. Means of m
    independent items vary less by the root of m, for ever: what is stable depends on the
    tolerance, and on no property of the scores. Cost O(N) for each size.

    Examples
    --------
    >>> from permtest.study import unit_sizes
    >>> unit_sizes([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]).sizes
    array([1])
    """
    n = checked_sample(a, b, least=2).n
    tried = _sizes(n, sizes)
    seed = None if rng is None else as_generator(rng).integers(2**63)
    how: dict[str, Any] = {"metric": metric, "rng": seed, "remainder": "drop"}
    units = [evaluation_units(a, b, size, **how).pairs for size in tried]
    sds = np.array([PairedSample(pairs).deviation for pairs in units])
    if tolerance is None:
        tolerance = 0.01 * float(sds[0])
    if check_finite(tolerance, "tolerance") < 0:
        raise ValueError(f"tolerance={tolerance} must not be negative")
    stable = np.array(tried[1:])[np.abs(np.diff(sds)) <= tolerance][:STABLE].tolist()
    numbers = np.array([len(pairs) for pairs in units])
    return UnitSizes(np.array(tried), sds, numbers, tuple(stable), float(tolerance), metric)


def _sizes(n: int, sizes: Sequence[int] | None) -> list[int]:
    if sizes is None:
        return list(range(1, max(min(n // FEWEST_UNITS, LARGEST_SIZE), 1) + 1))
    if not isinstance(sizes, Iterable):
        raise TypeError(f"sizes={sizes!r} must be a sequence of whole numbers")
    why = f"there are {n} items"
    tried = [check_count(x, f"sizes[{i}]", 1, n // 2, why) for i, x in enumerate(sizes)]
    if not tried:
        raise ValueError("sizes is empty; give at least one")
    for i, (x, y) in enumerate(pairwise(tried), start=1):
        if y <= x:
            raise ValueError(f"sizes[{i}] = {y} does not exceed the one before; sort them")
    return tried
