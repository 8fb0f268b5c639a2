"""What the Bayes test finds: probabilities, posteriors and decisions, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from permtest._html import facts, said, together
from permtest._json import AsJson
from permtest._rng import RNG, as_generator
from permtest.alternatives.differences import DifferencePosterior, exceeds, reaches
from permtest.alternatives.folds import FoldCounts, block_weight
from permtest.alternatives.log_odds import Floats
from permtest.alternatives.metric_posterior import MetricPosterior
from permtest.alternatives.posteriors import of_totals
from permtest.alternatives.result import SMALLEST, finite, interval_text

Decision = Literal["a better", "equivalent", "b better", "undecided"]

#: Random values that are drawn at a time.
CHUNK = 10**6


class Drawn(NamedTuple):
    """Probabilities estimated from random draws (Algorithm 1), as a check of the quadrature.

    Parameters
    ----------
    p_h0, p_h1 : float
        Shares of the draws where B is not better, and where it is.
    p_a_better, p_equivalent, p_b_better : float
        Shares with the region of practical equivalence.
    standard_error : float
        Of `p_h1`: the root of p (1 - p) / draws.
    draws : int
        How many pairs of values were drawn.
    """

    p_h0: float
    p_h1: float
    p_a_better: float
    p_equivalent: float
    p_b_better: float
    standard_error: float
    draws: int


@dataclass(frozen=True)
class BayesTestResult(AsJson):
    """What `bayes_test` found. Model A is the one that model B is held against.

    Parameters
    ----------
    metric : str
        Name of the metric.
    p_h0 : float
        P(metric of B <= metric of A): A is better, or both are equal.
    p_h1 : float
        P(metric of B > metric of A): B is better.
    posterior_a, posterior_b : MetricPosterior
        What is known of the metric of each model.
    p_a_better, p_equivalent, p_b_better : float
        P(A ahead by more than `rope`), P(neither is), P(B ahead by more than `rope`).
    counts_a, counts_b : FoldCounts
    prior : float
    weight : float
        What share of the summed counts independent items would make.
    rope : float
        Half the width of the region of practical equivalence, in units of the metric.
    threshold : float
        How probable something has to be for `decision`.
    names : tuple of two str
        What the models are called, A first.

    Examples
    --------
    >>> from permtest.alternatives import bayes_test
    >>> old, new = [[60, 22, 18], [58, 20, 20]], [[70, 15, 12], [69, 14, 11]]
    >>> result = bayes_test(old, new, metric="f1", names=("old", "new"))
    >>> round(result.p_h0, 3), round(result.p_h1, 3)
    (0.007, 0.993)
    >>> round(result.posterior_b.mean(), 3)
    0.837
    """

    metric: str
    p_h0: float
    p_h1: float
    posterior_a: MetricPosterior = field(repr=False, compare=False)
    posterior_b: MetricPosterior = field(repr=False, compare=False)
    p_a_better: float
    p_equivalent: float
    p_b_better: float
    counts_a: FoldCounts = field(repr=False, compare=False)
    counts_b: FoldCounts = field(repr=False, compare=False)
    prior: float
    weight: float
    rope: float
    threshold: float
    names: tuple[str, str] = ("A", "B")

    @classmethod
    def of(
        cls, first: FoldCounts, second: FoldCounts, *, weight: float, **options: Any
    ) -> BayesTestResult:
        """Test validated counts; `options` are prior, rope, threshold and names."""
        prior, rope = options["prior"], options["rope"]
        a, b = (of_totals(counts, prior, weight) for counts in (first, second))
        margins = np.array([0.0, rope])
        (p_h1, b_better), (p_h0, a_better) = (
            map(float, np.maximum(exceeds(*pair, margins), SMALLEST)) for pair in ((b, a), (a, b))
        )
        upper, lower, ahead = (b, a, b_better) if b_better < a_better else (a, b, a_better)
        near = float(reaches(upper, lower, margins[1:])[0]) - ahead  # of tails that are both small
        return cls(
            metric=first.metric.name,
            p_h0=p_h0,
            p_h1=p_h1,
            posterior_a=a,
            posterior_b=b,
            p_a_better=a_better,
            p_equivalent=max(near, SMALLEST) if rope else 0.0,
            p_b_better=b_better,
            counts_a=first,
            counts_b=second,
            weight=weight,
            **options,
        )

    @property
    def title(self) -> str:
        """What sentences call the metric."""
        return self.counts_a.metric.title

    @property
    def accepted(self) -> Literal["H0", "H1"]:
        """The paper's rule: "H1" (B is better) if it is the more probable one, else "H0".

        For equal models that is the toss of a coin; `decision` asks for more.
        """
        return "H0" if self.p_h0 >= self.p_h1 else "H1"

    @property
    def decision(self) -> Decision:
        """What is at least as probable as `threshold`; "undecided" if nothing is."""
        sides: dict[Decision, float] = {
            "a better": self.p_a_better,
            "b better": self.p_b_better,
            "equivalent": self.p_equivalent,
        }
        best = max(sides, key=lambda side: sides[side])
        return best if sides[best] >= self.threshold else "undecided"

    @cached_property
    def difference(self) -> DifferencePosterior:
        """The posterior of the metric of B less that of A."""
        return DifferencePosterior(self.posterior_b, self.posterior_a)

    @property
    def n_folds(self) -> int:
        """Number of folds of either model."""
        return self.counts_a.n_folds

    @cached_property
    def conservative(self) -> BayesTestResult:
        """The same with all folds together worth one (correlations of 1): wider posteriors."""
        return BayesTestResult.of(
            self.counts_a,
            self.counts_b,
            weight=min(self.weight, 1 / self.n_folds),
            prior=self.prior,
            rope=self.rope,
            threshold=self.threshold,
            names=self.names,
        )

    def sampled(self, draws: int = 1_000_000, *, rng: RNG = None) -> Drawn:
        """The same probabilities from random draws, as in the paper's Algorithm 1.

        Parameters
        ----------
        draws : int, default 1_000_000
            At least 1.
        rng : numpy.random.Generator, int or None

        Returns
        -------
        Drawn

        Raises
        ------
        ValueError
            If `draws` is no whole number above 0.

        Notes
        -----
        Memory for a million draws at a time, whatever their number.
        """
        if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
            raise ValueError(f"draws={draws!r} must be a whole number above 0")
        generator, seen = as_generator(rng), np.zeros(3, dtype=np.int64)
        for start in range(0, int(draws), CHUNK):
            gaps = self.difference.rvs(min(CHUNK, int(draws) - start), rng=generator)
            seen += [(gaps > 0).sum(), (gaps > self.rope).sum(), (gaps < -self.rope).sum()]
        p_h1, b_better, a_better = (float(count) / draws for count in seen)
        error = sqrt(p_h1 * (1 - p_h1) / draws)
        equivalent = max(0.0, 1 - a_better - b_better) if self.rope else 0.0
        shares = (a_better if self.rope else 1 - p_h1, equivalent, b_better)
        return Drawn(1 - p_h1, p_h1, *shares, error, int(draws))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What speaks against taking the probabilities at face value, seen in the counts."""
        golds, found = (self.counts_a.gold(), self.counts_b.gold()), []
        for fold in np.flatnonzero(golds[0] != golds[1])[:1]:
            where = f"in fold {fold} " if self.n_folds > 1 else ""
            found.append(
                f"{where}there were {golds[0][fold]:g} to be found for {self.names[0]} and "
                f"{golds[1][fold]:g} for {self.names[1]}; were both judged on the same items?"
            )
        strange = [x for x, gold in zip(self.names, golds, strict=True) if not _are_paired(gold)]
        if strange and self._by_design:
            found.append(
                f"the folds of {strange[0]} do not pair up to the same corpus; if this is no m x 2 "
                "cross-validation, pass its weight="
            )
        return tuple(found)

    @property
    def _by_design(self) -> bool:
        """Whether folds are weighted as those of an m x 2 cross-validation."""
        m, rest = divmod(self.n_folds, 2)
        return rest == 0 and self.weight == block_weight(m)

    def chances(self, digits: int = 4) -> dict[str, str]:
        """The probabilities of B, of neither (if there is a `rope`) and of A, as text."""
        shares = {"b": self.p_b_better, "neither": self.p_equivalent, "a": self.p_a_better}
        mixed = self.posterior_a.shifts.size > 1
        least = 1e-12 if mixed else 1e-300  # to which they are exact
        texts = {
            who: chance_text(
                p, sum(q for k, q in shares.items() if k != who), least=least, digits=digits
            )
            for who, p in shares.items()
        }
        return texts if self.rope else {"b": texts["b"], "a": texts["a"]}

    def __str__(self) -> str:
        a, b = self.names
        gap, chances = self.difference, self.chances()
        values = _observed(self.counts_a), _observed(self.counts_b)
        title = self.title[:1].upper() + self.title[1:]
        lead = f"{title} is {values[0]} for {a} and {values[1]} for {b}"
        lead += f": P({b} better than {a}) {_stated(chances['b'])}"
        if self.rope:
            lead += f", P(within {self.rope:g} of each other) {_stated(chances['neither'])}"
        lead += f", P({a} better{'' if self.rope else ' or equal'}) {_stated(chances['a'])}"
        return (
            f"{lead}; {b} less {a}: {gap.mean():.4g}, 95% credible "
            f"{interval_text(gap.interval())}. {self.verdict()} "
            f"({self._folds_text()}, prior {self.prior:g})."
            + "".join(f" Note: {note}" for note in self.notes)
        )

    def verdict(self) -> str:
        """The decision in words."""
        a, b = self.names
        words = {
            "a better": f"{a} is better",
            "b better": f"{b} is better",
            "equivalent": "Practically equivalent",
            "undecided": "Undecided",
        }
        return f"{words[self.decision]} at a threshold of {self.threshold:g}"

    def _folds_text(self) -> str:
        what = f"{self.n_folds} folds"
        if self.n_folds == 1:
            what = "one hold-out set" if self.weight == 1 else "counts added up"
        elif self._by_design:
            what += f" of {self.n_folds // 2} x 2 cross-validation"
        return f"{what}, weight {self.weight:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Probabilities, decisions, options, counts and intervals, as plain numbers and strings."""
        models = zip(
            self.names,
            (self.counts_a, self.counts_b),
            (self.posterior_a, self.posterior_b),
            strict=True,
        )
        described = [
            {
                "name": name,
                "counts": dict(zip(counts.columns, map(float, counts.totals), strict=True)),
                "observed": finite(counts.value),
                "mode": finite(law.mode()),
                "mean": law.mean(),
                "interval": list(law.interval()),
            }
            for name, counts, law in models
        ]
        plain = ("metric", "p_h0", "p_h1", "p_a_better", "p_equivalent", "p_b_better", "prior")
        return {key: getattr(self, key) for key in (*plain, "weight", "rope", "threshold")} | {
            "n_folds": self.n_folds,
            "accepted": self.accepted,
            "decision": self.decision,
            "difference": {
                "mean": self.difference.mean(),
                "interval": list(self.difference.interval()),
            },
            "models": described,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        title, gap = self.title, self.difference
        a, b = self.names
        laws: dict[str, MetricPosterior | DifferencePosterior] = {
            f"{title} of {a}": self.posterior_a,
            f"{title} of {b}": self.posterior_b,
            f"{b} less {a}": gap,
        }
        observed = f"{_observed(self.counts_a)} for {a}, {_observed(self.counts_b)} for {b}"
        rows = {f"observed {title}": observed}
        rows |= {
            f"{what}, mean": f"{law.mean():.4g} (95% credible: {interval_text(law.interval())})"
            for what, law in laws.items()
        }
        chances = self.chances()
        rows[f"P({b} better)"] = chances["b"]
        if self.rope:
            rows[f"P(within {self.rope:g})"] = chances["neither"]
        rows[f"P({a} better{'' if self.rope else ' or equal'})"] = chances["a"]
        rows["decision"] = self.verdict()
        rows["from"] = f"{self._folds_text()}, prior {self.prior:g}"
        return together(facts(rows, "Bayes test"), *map(said, self.notes))


def chance_text(p: float, rest: float, *, least: float = 1e-300, digits: int = 4) -> str:
    """A probability as people write it; the ones next to 0 and 1 keep their digits.

    Parameters
    ----------
    p, rest : float
        The probability, and that of everything else.
    least : float, default 1e-300
        What is smaller is not told apart.
    digits : int, default 4
        Decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> chance_text(0.25, 0.75, digits=2), chance_text(1.0, 2e-61), chance_text(0.0, 1.0)
    ('0.25', '1 - 2e-61', '< 1e-300')
    """
    if p < least:
        return f"< {least:g}"
    edge = 0.5 * 10.0**-digits
    if p > 1 - edge:
        return f"1 - {rest:.1g}" if rest >= least else "1"
    return f"{p:.{digits}f}" if p >= edge else f"{p:.1g}"


def _are_paired(gold: Floats) -> bool:
    """Whether folds pair up to the same sum, as neighbours, or the first and the second halves."""
    m, rest = divmod(gold.size, 2)
    if rest:
        return False
    pairs = (gold[0::2] + gold[1::2], gold[:m] + gold[m:])
    return any(bool(np.allclose(sums, sums[0], rtol=1e-9)) for sums in pairs)


def _observed(counts: FoldCounts) -> str:
    return f"{counts.value:.4g}" if counts.value == counts.value else "undefined"


def _stated(chance: str) -> str:
    return chance if chance.startswith("<") else f"= {chance}"
