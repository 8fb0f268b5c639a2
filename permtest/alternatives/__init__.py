"""Other answers to the same question: parametric, rank, bootstrap and randomisation tests.

Every test takes the scores of two systems (or counts), returns an `AlternativeResult`, and lists
what it assumes. `compare_all` makes all that apply.
"""

from permtest.alternatives.assumptions import Assumption, Check, Diagnosis, inflation
from permtest.alternatives.parametric import independent_t, normal_z, paired_t
from permtest.alternatives.ranks import wilcoxon
from permtest.alternatives.result import AlternativeResult
from permtest.alternatives.sample import PairedSample
from permtest.alternatives.signs import sign
from permtest.alternatives.tables import chi_squared, fisher_exact, mcnemar, two_proportion_z

__all__ = [
    "AlternativeResult",
    "Assumption",
    "Check",
    "Diagnosis",
    "PairedSample",
    "chi_squared",
    "fisher_exact",
    "independent_t",
    "inflation",
    "mcnemar",
    "normal_z",
    "paired_t",
    "sign",
    "two_proportion_z",
    "wilcoxon",
]
