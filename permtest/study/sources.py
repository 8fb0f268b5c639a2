"""Where the samples of a power curve come from, and how those of a size are drawn and tested."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from permtest._checks import check_level, check_option
from permtest._parallel import in_parallel, over_workers
from permtest._progress import progress
from permtest._rng import seeds, stream
from permtest.alternatives.names import OF_COUNTS
from permtest.alternatives.resamples import check_resamples
from permtest.alternatives.sample import PairedSample
from permtest.null.grouping import count_values
from permtest.statistics import check_alternative
from permtest.study.cells import Cells, Signs, mean_of
from permtest.study.limits import MOST_COUNTED, MOST_DRAWN, check_experiments
from permtest.study.row_tests import TESTS
from permtest.study.simulation import Draw, Test, drawn, portions, pvalues, rejections

#: Tests that look at differences alone, and at nothing that depends on their unit.
OF_DIFFERENCES = (
    "exact",
    "permutation_median",
    "paired_t",
    "normal_z",
    "sign",
    "wilcoxon",
    "bootstrap_mean",
    "bootstrap_median",
)

#: Tests of the mean: where the true mean difference is 0, their null hypothesis is true.
OF_MEANS = (
    "exact",
    "paired_t",
    "normal_z",
    "independent_t",
    "independent_z",
    "bootstrap_mean",
    "paired_bootstrap",
)

#: Tests of scores that are 0 or 1.
OF_ANSWERS = (*OF_COUNTS, "mcnemar_chi2_corrected")

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """What is done with each sample.

    Parameters
    ----------
    test : str or callable
    experiments : int
    alpha : float
    alternative : str
    K : int
    """

    test: Test
    experiments: int
    alpha: float
    alternative: str
    K: int

    @classmethod
    def of(cls, test: Test, experiments: Any, alpha: float, alternative: str, K: Any) -> Plan:
        """Validate what all functions of power share."""
        check_level(alpha)
        check_alternative(alternative)
        if not callable(test):
            check_option("test", test, list(TESTS))
        return cls(test, check_experiments(experiments), alpha, alternative, check_resamples(K))

    @property
    def name(self) -> str:
        """Name of the test."""
        return self.test if isinstance(self.test, str) else getattr(self.test, "__name__", "test")

    @property
    def most(self) -> int:
        """How many pairs a sample can have at most."""
        return MOST_COUNTED if self.test in ("exact", "sign") else MOST_DRAWN

    def check_delta(self) -> None:
        """Raise ValueError if the true mean says nothing about what is tested."""
        if isinstance(self.test, str) and self.test not in OF_MEANS:
            raise ValueError(
                f"delta sets the mean difference, but test={self.test!r} is not about the mean: "
                "it may reject where that is 0. Leave delta out, use test='exact', or let a "
                "function as `method` draw scores for which its null hypothesis is true"
            )

    def rejected(
        self, sampler: Sampler, sizes: tuple[int, ...], rng: np.random.Generator
    ) -> list[int]:
        """How many samples of each size are rejected."""
        numbers = [list(enumerate(sampler.parts(self.experiments, n))) for n in sizes]
        parts = [(i, number, part) for i, some in enumerate(numbers) for number, part in some]
        spread = over_workers if isinstance(sampler, ByRows) else in_parallel
        found = spread(_rejected, parts, sampler, sizes, self, seeds(rng))
        counts = [0] * len(sizes)
        for i, count in progress(found, total=len(parts), what="power"):
            counts[i] += count
        return counts


def _rejected(
    part: tuple[int, int, int],
    sampler: Sampler,
    sizes: tuple[int, ...],
    plan: Plan,
    origin: np.random.SeedSequence,
) -> tuple[int, int]:
    """Which size, and how many of some of its samples are rejected."""
    i, number, experiments = part
    rng = stream(origin, i, number)
    return i, sampler.rejected(rng, experiments, sizes[i], plan.alpha, plan.alternative)


class Sampler(Protocol):
    """Draws samples and tests them."""

    def parts(self, experiments: int, n: int) -> list[int]:
        """How many samples of n pairs are drawn at a time."""

    def rejected(
        self, rng: np.random.Generator, part: int, n: int, alpha: float, alternative: str
    ) -> int:
        """How many of so many samples of n pairs are rejected."""


@dataclass(frozen=True, eq=False)
class ByRows:
    """Samples all of whose items are drawn."""

    draw: Draw
    test: Test
    K: int

    def parts(self, experiments: int, n: int) -> list[int]:
        """How many samples of n pairs are drawn at a time."""
        return portions(experiments, n, self.test)

    def rejected(
        self, rng: np.random.Generator, part: int, n: int, alpha: float, alternative: str
    ) -> int:
        """How many of so many samples of n pairs are rejected."""
        rows = drawn(self.draw, rng, part, n)
        p = pvalues(self.test, *rows, alternative=alternative, rng=rng, K=self.K)
        return rejections(p, alpha)


class Source:
    """Where samples come from."""

    name: str
    delta: float | None = None
    rounded = 0.0

    def sampler(self, plan: Plan) -> Sampler:
        """How samples are made, in the quickest way."""
        raise NotImplementedError


class Drawn(Source):
    """A user's function."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.name = draw, str(getattr(draw, "__name__", "a function"))

    def sampler(self, plan: Plan) -> Sampler:
        """By rows."""
        return ByRows(self.draw, plan.test, plan.K)


class Normal(Source):
    """Normal differences."""

    name = "normal"

    def __init__(self, mean: float, deviation: float) -> None:
        self.mean = self.delta = mean
        self.deviation = deviation
        self.cells = Cells.normal(mean, deviation)
        self.rounded = self.cells.rounded

    def sampler(self, plan: Plan) -> Sampler:
        """By counts, or by rows."""
        if plan.test in OF_ANSWERS:
            raise ValueError(
                f"test={plan.test!r} needs scores that are 0 or 1, and normal differences are not; "
                "use method='bootstrap', or exact_power"
            )
        if plan.test == "exact":
            return self.cells
        return ByRows(self.rows, plan.test, plan.K)

    def rows(self, rng: np.random.Generator, experiments: int, n: int) -> tuple[Floats, Floats]:
        """Differences, and nothing to compare them with."""
        d = rng.normal(self.mean, self.deviation, (experiments, n))
        return d, np.zeros_like(d)


class Resampled(Source):
    """Pairs drawn with replacement, perhaps shifted."""

    name = "bootstrap"

    def __init__(self, sample: PairedSample, delta: Fraction | None) -> None:
        self.sample = sample
        self.delta = sample.mean if delta is None else float(delta)
        values, counts = count_values(sample.gaps)
        self.cells = Cells.of(values, counts, sample.scale, delta)
        mean = mean_of(values, counts, sample.scale)
        self.shift = Fraction(0) if delta is None else delta - mean
        self.rounded = self.cells.rounded

    def sampler(self, plan: Plan) -> Sampler:
        """By counts, or by rows."""
        if plan.test in OF_ANSWERS:
            _need_answers(self.sample, plan.name)
        if plan.test == "exact":
            return self.cells
        if plan.test == "sign":
            signs = np.sign(self.sample.gaps).astype(np.int64)
            return Signs(np.bincount(signs + 1, minlength=3) / self.sample.n)
        draw = self.differences if plan.test in OF_DIFFERENCES else self.scores
        return ByRows(draw, plan.test, plan.K)

    def shifted(self) -> NDArray[Any]:
        """The differences, in some unit; each is rounded once at most, so that ties stay.

        As floats where they are too wide for int64: Python's integers take long to sort, with no
        chance to interrupt it.
        """
        gaps, scale = self.sample.gaps, self.sample.scale
        if self.shift == 0 and gaps.dtype != object:
            return np.asarray(gaps // (gcd(*gaps.tolist()) or 1))
        moved = [float(Fraction(int(gap), scale) + self.shift) for gap in np.unique(gaps)]
        return np.array(moved)[np.searchsorted(np.unique(gaps), gaps)]

    def differences(
        self, rng: np.random.Generator, experiments: int, n: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Differences, and nothing to compare them with."""
        d = self.shifted()[rng.integers(self.sample.n, size=(experiments, n))]
        return d, np.zeros_like(d)

    def scores(
        self, rng: np.random.Generator, experiments: int, n: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores of both systems."""
        items = rng.integers(self.sample.n, size=(experiments, n))
        if self.shift == 0 and self.sample.pairs.scale == 1:
            return self.sample.pairs.u[items], self.sample.pairs.v[items]
        return self.sample.a[items] + float(self.shift), self.sample.b[items]


def _need_answers(sample: PairedSample, test: str) -> None:
    """Raise ValueError unless all scores are 0 or 1."""
    for name, scores in (("a", sample.a), ("b", sample.b)):
        for i in np.flatnonzero((scores != 0) & (scores != 1))[:1]:
            raise ValueError(
                f"{name}[{i}] = {scores[i]:g}, but test={test!r} needs scores that are 0 or 1; "
                "use test='exact' for others"
            )
