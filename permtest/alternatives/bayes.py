"""The Bayes test of two models: the probability that one is better, from counts of folds."""

from __future__ import annotations

from typing import Any

from permtest.alternatives.bayes_result import BayesTestResult
from permtest.alternatives.folds import FoldCounts, as_number, as_weight, metric_of
from permtest.alternatives.posteriors import as_prior
from permtest.pairs import check_names
from permtest.statistics import CountStatistic


def bayes_test(
    folds_a: Any,
    folds_b: Any,
    metric: str | CountStatistic = "f1",
    prior: float = 1.0,
    weight: float | None = None,
    *,
    rope: float = 0.0,
    threshold: float = 0.95,
    names: tuple[str, str] | None = None,
) -> BayesTestResult:
    """How probable it is that model B is better than model A, after the counts of their folds.

    Parameters
    ----------
    folds_a, folds_b : array_like of shape (folds, 3) or (3,)
        Counts of both models, those of the new one second: columns tp, fp, fn; or tp, fp, fn, tn;
        for "accuracy" also correct, wrong. A data frame or mapping that has these names will do.
        One row is a hold-out set, 2 m rows are a block-regularised m x 2 cross-validation, six the
        3 x 2 one of the paper. Only their sums matter, not their order.
    metric : str or CountStatistic, default "f1"
        "precision", "recall", "f1", "f2" and other F-scores, "jaccard", "specificity", "accuracy".
    prior : float, default 1.0
        The lambda of the symmetric Dirichlet prior of either model; 1 is flat for precision and
        recall.
    weight : float, optional
        What share of the summed counts independent items would make. Default: by design, 1 for
        one row and `block_weight(m)` for 2 m rows.
    rope : float, default 0.0
        Differences of the metric up to this are of no practical importance ("region of practical
        equivalence"); in [0, 1).
    threshold : float, default 0.95
        How probable something has to be for `decision`; in [0.5, 1).
    names : tuple of two str, optional
        What the models are called; "A" and "B" by default.

    Returns
    -------
    BayesTestResult
        With p_h0 = P(B <= A), p_h1 = P(B > A), and both posteriors.

    Raises
    ------
    ValueError
        If counts are no counts or of unlike folds, an option is out of range, or the folds are no
        m x 2 cross-validation and there is no weight.

    Notes
    -----
    The metrics of both models are taken for independent, as in the paper. Where models share data
    and mistakes that is conservative: equal models get probabilities near a half more often than a
    calibrated test would give them. Unlike in the other tests of this package the new model comes
    second: in the paper A is the established one and H1 says that B is better.

    Probabilities are quadratures, accurate to about 1e-12 (to 1e-11 beyond counts of 10^7). Small
    ones are accurate relative to themselves, too, except for F-scores other than F1, whose tails
    are mixtures cut off at 1e-13 or so; 5e-324 stands for all that are smaller than 1e-300. Cost:
    some 3 ms, and 50 ms for F-scores other than F1; a credible interval takes five times as long.

    Source: Wang and Li (2019), Eq. 25-33 and Algorithm 1, of which lines 16 to 18 have the two
    hypotheses the wrong way round: H1 is nu_B > nu_A.

    Examples
    --------
    >>> from permtest import alternatives as alt
    >>> r = alt.bayes_test([90, 10, 20], [95, 9, 15], names=("old", "new"))
    >>> round(r.p_h1, 4), r.accepted, r.decision
    (0.8086, 'H1', 'undecided')
    """
    statistic = metric_of(metric)
    first = FoldCounts.of(folds_a, statistic, "folds_a")
    second = FoldCounts.of(folds_b, statistic, "folds_b")
    if first.table.shape != second.table.shape:
        kinds = (f"{x.n_folds} folds of {', '.join(x.columns)}" for x in (first, second))
        raise ValueError("folds_a has {}, folds_b has {}; they must match".format(*kinds))
    margin, least = as_number(rope, "rope"), as_number(threshold, "threshold")
    if not 0 <= margin < 1:
        raise ValueError(f"rope={rope} must lie in [0, 1), in units of the metric")
    if not 0.5 <= least < 1:
        raise ValueError(f"threshold={threshold} must lie in [0.5, 1)")
    return BayesTestResult.of(
        first,
        second,
        prior=as_prior(prior),
        weight=as_weight(weight, first.n_folds),
        rope=margin,
        threshold=least,
        names=check_names(names or ("A", "B")),
    )
