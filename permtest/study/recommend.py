"""Advice on tests: one for what the claim is about, and how others do on scores like these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from permtest._checks import check_option
from permtest._parallel import RNG, as_generator
from permtest._text import Shown, html_table, interval, number, p_value, plain, said, together
from permtest.alternatives import registry
from permtest.integers import IntArray, exact_sum
from permtest.scores import Scores
from permtest.study.describe import Description, describe
from permtest.study.power import DRAWN, Resampling, fewest_units, rejection_rates

LISTS = RECOMMENDED, NON_PREFERRED, INAPPROPRIATE = "recommended", "non_preferred", "inappropriate"

#: Tests whose level and power are measured, of scores of 0 and 1 and of others; the most samples
#: that are drawn.
BINARY = ("exact", "mcnemar_midp", "mcnemar_chi2", "paired_t", "normal_z")
GRADED = ("exact", "bootstrap_mean", "paired_t", "normal_z", "sign")
SAMPLES = 1000

#: The most pairs with an exact signed-rank test among those that are measured; resamples of a
#: bootstrap; and a level that is too high, in units of alpha.
MOST_RANKED, RESAMPLES, TOLERANCE = 50, 399, 1.1

#: For `rate_intervals`: resamples of the differences, and whose spread is taken for that of a test,
#: if not that of the t-test.
RESAMPLED, QUICK = 25, {"sign": "sign"}

#: What a claim may be about, and the test for it.
ESTIMANDS = {"mean": "exact", "median": "sign"}

#: Table 2 of the manual for symmetric and normal, symmetric only, and skewed differences.
MEANS, MEDIANS = ("exact", "bootstrap_mean"), ("permutation_median", "bootstrap_median")
TABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "normal": (("paired_t",), ("sign", "wilcoxon", *MEANS, *MEDIANS), ()),
    "symmetric": (("wilcoxon",), ("sign", *MEANS, *MEDIANS), ("paired_t",)),
    "skewed": (("sign",), MEDIANS, ("paired_t", "wilcoxon")),
}
OPINION = ("suits best", "valid, but slow or weaker", "makes assumptions that fail")

#: Headings of the lists as a table.
COLUMNS = {"title": "test", "advice": "advice", "level": "level", "power": "power"}
COLUMNS |= {"reason": "reason"}

#: Level and power of a test, and their intervals.
Rates: TypeAlias = Mapping[str, tuple[float, float]]
Ends: TypeAlias = Mapping[str, tuple[tuple[float, float], tuple[float, float]]]


class Entry(NamedTuple):
    """A test by its name in `compare_all` and its title, and why it is in its list."""

    test: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Recommendation(Shown):
    """Three lists of tests for two systems' scores.

    Parameters
    ----------
    recommended, non_preferred, inappropriate : tuple of Entry
        The test for the estimand; tests that are valid, or nearly, for this or another estimand;
        and tests whose assumptions fail.
    description : Description
        Of the scores.
    rule : str
        "exact" or "manual".
    rates : mapping of str to (float, float)
        Level and power of tests: how often they reject samples like these without, and with, the
        mean difference.
    samples : int
        How many samples they were measured on; 0 if they were not.
    intervals : mapping of str to ((float, float), (float, float))
        95% intervals of level and power for the population that the scores are a sample of.
    estimand : str
        "mean" or "median"; the manual's table does not look at it.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([3, 5, 4, 6, 2, 4, 4], [2, 3, 4, 3, 1, 5, 2])
    >>> level, power = found.rates["exact"]
    >>> "independent_t" in found.names("inappropriate"), level < 0.06 < power
    (True, True)
    """

    recommended: tuple[Entry, ...]
    non_preferred: tuple[Entry, ...]
    inappropriate: tuple[Entry, ...]
    description: Description
    rule: str
    rates: Rates
    samples: int
    intervals: Ends
    estimand: str = "mean"

    @property
    def lists(self) -> dict[str, tuple[Entry, ...]]:
        """The three lists by their names."""
        return {name: getattr(self, name) for name in LISTS}

    def names(self, which: str = RECOMMENDED) -> list[str]:
        """Names of the tests in one of the lists."""
        return [entry.test for entry in self.lists[which]]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each test: its list, the reason, and level and power where measured."""
        found = []
        for advice, entries in self.lists.items():
            for entry in entries:
                level, power = self.rates.get(entry.test, (None, None))
                about = {"advice": advice.replace("_", "-"), "level": level, "power": power}
                ends = self.intervals.get(entry.test, (None, None))
                about |= {"level_interval": plain(ends[0]), "power_interval": plain(ends[1])}
                found.append(entry._asdict() | about)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The rows, the description, and how the rates were measured."""
        found = {name: getattr(self, name) for name in ("rule", "estimand", "samples")}
        return {"tests": self.rows(), **found, "description": self.description.to_dict()}

    def __str__(self) -> str:
        titles = " and ".join(entry.title for entry in self.recommended)
        about = f", for a claim about the {self.estimand}" if self.rule == "exact" else ""
        measured = (
            f" Level and power are shares of {self.samples:,} samples of {self.description.n} "
            "differences, drawn from these without their mean, and as they are."
        )
        return f"Recommended{about}: {titles}.{measured * bool(self.rates)}"

    def _repr_html_(self) -> str:
        return together(said(str(self)), html_table(self.rows(), COLUMNS))


def recommend(
    a: Any,
    b: Any = None,
    *,
    estimand: str = "mean",
    alpha: float = 0.05,
    rule: str = "exact",
    names: tuple[str, str] | None = None,
) -> Recommendation:
    """Recommend the test of what a claim is about, and say how others do on scores like these.

    Parameters
    ----------
    a, b
        As in `describe`.
    estimand : {"mean", "median"}, default "mean"
        What the claim is about: the mean of the differences, as a score that is reported is a mean,
        or their median, that is, which system wins more often. The test that is recommended follows
        from this alone: the exact test for the mean, the sign test for the median. State it before
        you look at the scores.
    alpha : float, default 0.05
        The level that tests have to keep, and to be able to reach; and that of the test of
        normality.
    rule : {"exact", "manual"}, default "exact"
        "manual": Table 2 of the NLPStatTest manual, which chooses by symmetry and normality of the
        same scores, whatever the estimand; tests that it lacks are in no list.
    names : tuple of two str, optional
        As in `describe`.

    Raises
    ------
    TypeError, ValueError
        If the scores are no numbers, beyond 1e150, there are none, an option is unknown, or the
        median is asked for of scores of 0 and 1.

    Notes
    -----
    A test that is chosen from the same data does not keep its level, whether it is chosen by p or
    by measured level and power, which depend on the same differences. So nothing is chosen here:
    level and power of other tests are shown for the plan of the next study. Measuring takes a
    second or two, and longer for many thousand pairs; it draws the same samples every time. For the
    level the mean of the differences is subtracted (or, for the sign test and for scores of 0 and
    1, their signs are random).

    The intervals of level and power are about the population that the scores are a sample of. To
    the error of simulation they add the spread between resamples of the differences, as a quick
    test shows it: the sign test its own, the t-test that of other tests of means and ranks, and
    McNemar's all of scores of 0 and 1. Of 200 simulated samples each of normal differences (20
    pairs), t-distributed ones (100) and lognormal ones (40), 95% intervals held the level in 94% or
    more, and the power in 90 to 97% (`python -m benchmarks.calibration`).

    A test is inappropriate if the interval of its level lies above 1.1 times `alpha`, or, where the
    level was not measured, if one of its assumptions is not met.

    Examples
    --------
    >>> from permtest.study import recommend
    >>> found = recommend([5, 6, 7, 8, 9], [4, 4, 4, 4, 4])
    >>> found.names(), found.recommended[0].reason
    (['exact'], 'with 5 pairs that differ, p cannot fall below 0.0625')
    """
    check_option("rule", rule, ("exact", "manual"))
    check_option("estimand", estimand, tuple(ESTIMANDS))
    scores = registry.scores_of(a, b, names)[0]
    found, d = describe(scores, alpha=alpha), scores.differences()
    if scores.is_binary and estimand == "median":
        raise ValueError(
            "the median of differences of scores of 0 and 1 is 0 nearly always; use "
            "estimand='mean', whose exact test is the sign test of such scores"
        )
    lists: dict[str, list[Entry]] = {name: [] for name in LISTS}
    samples, rates, ends = 0, {}, {}
    if rule == "manual":
        row = "skewed" if not found.symmetric else "normal" if found.normal else "symmetric"
        look = f"differences are {found.shape} (skewness {found.difference.skewness:.2f}) and "
        look += f"{'' if found.normal else 'not '}normal (Shapiro-Wilk p = {found.shapiro_p:.3g})"
        for which, opinion, tests in zip(LISTS, OPINION, TABLE[row], strict=True):
            lists[which] = [
                Entry(test, registry.TITLES[test], f"{opinion}: {look}") for test in tests
            ]
    else:
        if (d != d[0]).any():
            # Where a shift of the differences makes no ranks of zeros.
            ranked = not scores.is_binary and 10 * found.n_zeros <= found.n and found.symmetric
            chosen = BINARY if scores.is_binary else (*GRADED, *("wilcoxon",) * ranked)
            samples = min(SAMPLES, max(DRAWN // found.n, 100))
            how: dict[str, Any] = {"alpha": alpha, "samples": samples}
            rates = measured_rates(d, scores.scale, chosen, **how)
            ends = rate_intervals(d, scores.scale, rates, **how)
            for same in ("mcnemar", "sign") if scores.is_binary else ():
                rates[same], ends[same] = rates["exact"], ends["exact"]
        for test in registry.TITLES:
            if scores.is_binary or test not in registry.OF_COUNTS:
                which, why = _judged(test, scores, found, rates, ends)
                which = RECOMMENDED if test == ESTIMANDS[estimand] else which
                lists[which].append(Entry(test, registry.TITLES[test], why))
    good, fair, bad = (tuple(lists[name]) for name in LISTS)
    return Recommendation(good, fair, bad, found, rule, rates, samples, ends, estimand)


def _judged(
    test: str, scores: Scores, found: Description, rates: Rates, ends: Ends
) -> tuple[str, str]:
    """The list that a test belongs to, by its level if that was measured, and why."""
    row, differing = registry.TESTS[test], found.n - found.n_zeros
    few = differing < fewest_units(found.alpha)
    reach = f"with {differing} pairs that differ, p cannot fall below "
    reach += p_value(min(0.5 ** (differing - 1), 1.0))
    if few and row.method == "exact":
        return NON_PREFERRED, reach
    if (few and not row.takes.startswith("resamples")) or not rates:
        return INAPPROPRIATE, f"{found.n} pairs like these cannot show that it holds its level"
    most = int(np.unique(scores.differences(), return_counts=True)[1].max())
    if row.estimate_name == registry.MEDIAN and test not in rates and 2 * most >= found.n:
        return INAPPROPRIATE, f"{most} of {found.n} differences are equal, and so is their median"
    checks = [registry.verdict(assumption, scores, found.alpha) for assumption in row.assumptions]
    if row.takes == "resamples":
        enough = found.n >= registry.REPRESENTATIVE_FROM
        checks.append(
            registry.Check(registry.SAMPLE, enough, f"{'only ' * (not enough)}{found.n} pairs")
        )
    broken = [
        c
        for c in checks
        if c.held is False or (c.held is None and c.assumption == registry.SYSTEMS)
    ]
    why = f"tests the {row.estimate_name}"
    why += "".join(f"; {check.assumption}: {check.evidence}" for check in broken)
    if test not in rates:
        return INAPPROPRIATE if broken else NON_PREFERRED, why
    low, high = ends[test][0]
    why += f"; rejects {number(rates[test][0], 3)} of samples like these without an effect (95% "
    why += f"interval {interval(low, high, 3)})"
    # Labels may matter although the mean is 0; then the exact test is about more than the mean.
    high = low > TOLERANCE * found.alpha and test != "exact"
    return INAPPROPRIATE if high else NON_PREFERRED, why


# ---- how often tests reject samples like these ---------------------------------------------------


def measured_rates(
    d: IntArray,
    scale: int,
    tests: Sequence[str],
    *,
    alpha: float = 0.05,
    samples: int = 1000,
    rng: RNG = 0,
) -> dict[str, tuple[float, float]]:
    """Level and power of two-sided tests for differences like these, integers over `scale`."""
    n, binary = d.size, bool(np.isin(np.abs(d), (0, scale)).all())
    how: dict[str, Any] = {"alpha": alpha, "n": n, "K": RESAMPLES, "experiments": samples}
    how["rng"] = as_generator(rng)
    # The same test under another name, which sees the samples of its relatives or is quicker.
    other = {"exact": "mcnemar"} if binary else {}
    other |= {"wilcoxon": "wilcoxon_approx"} if n > MOST_RANKED else {}
    named = {test: other.get(test, test) for test in tests}
    # Without an effect differences have lost their mean, or their signs where all are -1, 0 or 1
    # and for the sign test, as a shift would leave no ties.
    swapped = {x: named.pop(x) for x in tests if binary or x == "sign"}
    coins = np.sign(np.concatenate([d, -d]))

    def rates(chosen: dict[str, str], of: Any, unit: int, delta: Any) -> Mapping[str, float]:
        draw = Resampling.of(np.maximum(of, 0), np.maximum(-of, 0), unit, delta)
        return rejection_rates(chosen, draw, **how) if chosen else {}

    level = {**rates(swapped, coins, 1, None), **rates(named, d, scale, Fraction(0))}
    power = rates(named | swapped, d, scale, None)
    return {test: (level[test], power[test]) for test in tests}


def rate_intervals(
    d: IntArray, scale: int, rates: Rates, *, alpha: float = 0.05, samples: int = 1000
) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """95% intervals of level and power, of which `measured_rates` made so many samples.

    About the population that the differences are a sample of. On the normal scale, the variance is
    that of simulation and that between resamples of the differences, of the test in `QUICK`. That
    of the power is about the lead in standard errors, which has a sign: resamples may lead the
    other way.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    binary = bool(np.isin(np.abs(d), (0, scale)).all())
    quick = {test: "exact" if binary else QUICK.get(test, "paired_t") for test in rates}
    tests, generator = sorted({*quick.values()}), as_generator(0)
    each = max(min(samples // 5, DRAWN // d.size), 20)
    found: list[list[tuple[float, float]]] = []
    ahead: list[list[int]] = []
    while len(found) < RESAMPLED:
        some = generator.choice(d, d.size)
        if (some != some[0]).any():
            again = measured_rates(some, scale, tests, alpha=alpha, samples=each, rng=generator)
            found.append([again[test] for test in tests])
            ahead.append([_lead(some, test) * _lead(d, test) for test in tests])
    critical = -ndtri(alpha / 2)

    def leads(shares: Any, size: int) -> tuple[Any, Any]:
        """Levels and powers as normal scores, those of the power above that of alpha / 2."""
        p = (np.asarray(shares) * size + 0.5) / (size + 1)
        z = ndtri(p)
        noise = p * (1 - p) / size * 2 * np.pi * np.exp(z * z)
        return np.maximum(z + np.array([0.0, critical]), [-np.inf, 0.0]), noise

    z, _ = leads(found, each)
    z[..., 1] *= np.where(np.array(ahead) < 0, -1, 1)
    between = z.var(axis=0, ddof=1)  # the error of its own simulation included, to be safe
    reach, ends = float(stdtrit(RESAMPLED - 1, 0.975)), {}
    for test, both in rates.items():
        middle, noise = leads(both, samples)
        off = reach * np.sqrt(noise + between[tests.index(quick[test])])
        low, high = middle - off, middle + off
        # A test finds a difference of 0 as often as its level, which may be far below alpha.
        least = min(ndtr(low[0]), both[1]) if low[1] < 0 else ndtr(low[1] - critical)
        most = ndtr(max(high[1], -low[1]) - critical)
        ends[test] = (float(ndtr(low[0])), float(ndtr(high[0]))), (float(least), float(most))
    return ends


def _lead(d: IntArray, test: str) -> int:
    """Which system is ahead, in the eyes of a test."""
    total = exact_sum(np.sign(d) if test == "sign" else d)
    return (total > 0) - (total < 0)
