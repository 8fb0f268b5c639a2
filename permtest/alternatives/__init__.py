"""Other answers to the same question: parametric, rank, bootstrap, randomisation tests, and Bayes.

Every test takes the scores of two systems (or counts, or scores of folds), returns an
`AlternativeResult`, and lists what it assumes; `compare_all` makes all that apply. `bayes_test`
answers with probabilities of the hypotheses instead.
"""

from permtest.alternatives.answer import AlternativeResult
from permtest.alternatives.bayes import (
    BayesTestResult,
    DifferencePosterior,
    MetricPosterior,
    bayes_test,
    posterior,
)
from permtest.alternatives.compare import AnswerTable, compare_all
from permtest.alternatives.counts import chi_squared, mcnemar, two_proportion_z
from permtest.alternatives.folds import (
    BlockRegularizedCV,
    block_weight,
    corrected_resampled_t,
)
from permtest.alternatives.parametric import independent_t, paired_t
from permtest.alternatives.ranks import permutation_median, sign, wilcoxon
from permtest.alternatives.resampling import bootstrap, paired_bootstrap

__all__ = [
    "AlternativeResult",
    "AnswerTable",
    "BayesTestResult",
    "BlockRegularizedCV",
    "DifferencePosterior",
    "MetricPosterior",
    "bayes_test",
    "block_weight",
    "bootstrap",
    "chi_squared",
    "compare_all",
    "corrected_resampled_t",
    "independent_t",
    "mcnemar",
    "paired_bootstrap",
    "paired_t",
    "permutation_median",
    "posterior",
    "sign",
    "two_proportion_z",
    "wilcoxon",
]
