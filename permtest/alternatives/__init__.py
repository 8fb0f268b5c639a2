"""Other answers to the same question: parametric, rank, bootstrap, randomisation tests, and Bayes.

Every test takes the scores of two systems (or counts, or scores of folds), returns an
`AlternativeResult`, and lists what it assumes; `compare_all` makes all that apply. `bayes_test`
answers with probabilities of the hypotheses instead.
"""

from permtest.alternatives.answers import Answer, AnswerTable
from permtest.alternatives.assumptions import Assumption, Check, Diagnosis, inflation
from permtest.alternatives.bayes import (
    BayesTestResult,
    DifferencePosterior,
    MetricPosterior,
    bayes_test,
    posterior,
)
from permtest.alternatives.bootstraps import bootstrap
from permtest.alternatives.compare import compare_all
from permtest.alternatives.crossval import BlockPartition, BlockRegularizedCV
from permtest.alternatives.discordant import mcnemar
from permtest.alternatives.folds import (
    FoldCounts,
    block_3x2_t,
    block_weight,
    corrected_resampled_t,
    five_by_two_f,
    five_by_two_t,
    kfold_t,
)
from permtest.alternatives.koehn import paired_bootstrap
from permtest.alternatives.medians import permutation_median
from permtest.alternatives.parametric import independent_t, normal_z, paired_t
from permtest.alternatives.permutations import permutation_mean, randomisation
from permtest.alternatives.proportions import chi_squared, fisher_exact, two_proportion_z
from permtest.alternatives.ranks import wilcoxon
from permtest.alternatives.result import AlternativeResult
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.signs import sign

__all__ = [
    "AlternativeResult",
    "Answer",
    "AnswerTable",
    "Assumption",
    "BayesTestResult",
    "BlockPartition",
    "BlockRegularizedCV",
    "Check",
    "Diagnosis",
    "DifferencePosterior",
    "FoldCounts",
    "MetricPosterior",
    "PairedSample",
    "bayes_test",
    "block_3x2_t",
    "block_weight",
    "bootstrap",
    "chi_squared",
    "compare_all",
    "corrected_resampled_t",
    "fisher_exact",
    "five_by_two_f",
    "five_by_two_t",
    "independent_t",
    "inflation",
    "kfold_t",
    "mcnemar",
    "normal_z",
    "paired_bootstrap",
    "paired_t",
    "permutation_mean",
    "permutation_median",
    "posterior",
    "randomisation",
    "sign",
    "two_proportion_z",
    "wilcoxon",
]
